//! The state of a nest that is being written, and the types that its submodules share: arguments,
//! rows, branches, products that are fused with sums. This module writes no loop.

use ad_ir::sorted::{SortedMap, SortedSet};
use std::cell::RefCell;
use std::collections::HashMap;

use proc_macro2::{Ident, Span, TokenStream};
use quote::quote;

use super::super::in_range::InRange;
use super::super::items::Item;
use super::super::kernel::{Id, Kernel, Op, operands};
use super::super::notes::NestSummary;
use super::super::rust::{Expr, Names, Style};
use ad_ir::ir::{Graph, Node, Term};

/// An argument of the function of a nest.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Arg {
    /// `&mut [F]`
    Out(Term),
    /// `&[F]`
    Buffer(Term),
    /// By value.
    Scalar(Term),
    /// The number of elements in the interior of a loop that is split.
    Length,
}

/// The elements that the innermost loop visits: all, or one of the ranges of `split`. The number is
/// where the interior begins.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum NestRange {
    Whole,
    /// The first elements; the caller passes their number. If a limit is given, it is at most that.
    Prefix(Option<Term>),
    /// The first elements, up to an index that depends on enclosing loops.
    Ragged(Id),
    Interior(i128),
    Ends(i128),
}

/// A finished function.
pub(crate) struct NestFunction {
    pub(crate) item: TokenStream,
    pub(crate) args: Vec<Arg>,
    /// The scalars that it returns, in order.
    pub(crate) returns: Vec<Term>,
    /// `::<T>`, if no argument determines the type parameter.
    pub(crate) turbofish: TokenStream,
    /// Results whose sums it initialises: their memory need not be filled.
    pub(crate) begun: Vec<Term>,
    /// Its summary.
    pub(crate) summary: NestSummary,
    /// Whether it is generic over the real type of the user's function.
    pub(crate) generic: bool,
}

/// Expressions longer than this get a name.
pub(super) const MAX_UNNAMED_SIZE: u32 = 9;

/// The loop variant that an inner body is written for.
#[derive(Clone, PartialEq, Eq)]
pub(super) enum LoopVariant {
    Plain,
    Lane,
    Rest,
}

/// A row of a stored array: contiguous over the innermost loop. If axes of constant sizes follow,
/// its elements are arrays of `width` numbers.
#[derive(Clone, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(super) struct RowKey {
    pub(super) buf: Term,
    pub(super) sizes: Vec<Term>,
    pub(super) outer: Vec<Id>,
    pub(super) base: Option<Id>,
    pub(super) width: usize,
    /// The index is `base - (i + distance)`, so the row is read from its last element on.
    pub(super) reversed: Option<i128>,
}

/// A part of an axis: the number of loops around it, its start, its length, and the size of the
/// axis.
pub(super) type Part = (usize, Option<Id>, Option<Term>, Term);

/// The row that a load reads, and which number of an element of the row if these are arrays.
pub(super) struct RowLoad {
    pub(super) key: RowKey,
    pub(super) column: Option<Id>,
}

pub(super) struct SlicedRow {
    pub(super) name: Ident,
    pub(super) chunks: Ident,
    pub(super) rest: Ident,
    pub(super) out: bool,
    /// The number of loops around the position where it is sliced.
    pub(super) level: usize,
    pub(super) reversed: bool,
}

impl SlicedRow {
    /// The elements of the row for so many iterations from `start` on.
    pub(super) fn block(&self, start: &Ident, count: &TokenStream) -> TokenStream {
        let name = &self.name;
        let borrow = if self.out { quote!(&mut) } else { quote!(&) };
        if self.reversed {
            quote!(let #name = #borrow #name[#name.len() - #count - #start..][..#count];)
        } else {
            quote!(let #name = #borrow #name[#start..][..#count];)
        }
    }
}

/// A branch that is computed lazily. Index 0 means "no branch".
pub(super) struct Arm {
    pub(super) parent: usize,
    pub(super) depth: u32,
    pub(super) level: usize,
    pub(super) choice: Id,
}

pub(crate) struct Nest<'a, 'k> {
    pub(super) g: &'a Graph,
    pub(super) style: &'a Style,
    pub(super) driver: &'a HashMap<Term, Ident>,
    pub(super) known: &'a InRange<'a>,
    pub(super) k: &'k Kernel<'a>,
    pub(super) items: &'k [Item],
    /// Arrays whose memory a result takes over. Each element is read before it is overwritten.
    pub(super) reused: &'k HashMap<Term, Term>,
    /// The range of the innermost loop, and the name of the number of elements in the interior.
    pub(super) part: &'k NestRange,
    /// The condition under which the innermost loop runs.
    pub(super) mask: Option<Id>,
    /// An outer loop that ends at this index, since the condition is false from there on.
    pub(super) shortened: Option<(usize, Id)>,
    /// Whether the innermost loop is over the items of a block.
    pub(super) in_block: bool,
    /// The sum whose extremum the nest takes instead of storing the sum.
    pub(super) extremum: Option<Extremum>,
    /// Whether the nest is part of a larger function that is generic over the instruction set: with
    /// sixteen elements (`inlined`), or unchanged (`within`).
    pub(super) inlined: bool,
    pub(super) within: bool,
    pub(super) length: Ident,
    /// The number of loops, and whether they are one loop over the whole domain.
    pub(super) depth: usize,
    pub(super) flat: bool,
    /// Sums of `f32` with a single accumulator, which is an `f64`: one in `f32` loses a digit for
    /// every ten thousand elements.
    pub(super) wide: SortedSet<Term>,
    pub(super) names: Names,
    pub(super) vars: Vec<Ident>,
    pub(super) used_vars: Vec<bool>,
    pub(super) args: Vec<Arg>,
    pub(super) arg_names: HashMap<Term, Ident>,
    /// Scalars that the code mentions: the others do not become parameters.
    pub(super) named: RefCell<SortedSet<Term>>,
    /// What is known of indices: whether a part that begins at an index fits into an axis, inside
    /// of so many loops.
    pub(super) bounded: RefCell<HashMap<Part, bool>>,
    pub(super) rows: SortedMap<RowKey, usize>,
    pub(super) out_rows: HashMap<Term, usize>,
    /// Slices along loops that are not the innermost one.
    pub(super) outer_rows: SortedMap<(usize, RowKey), Ident>,
    /// Indices of a block that are tested for each row, and the slices that are taken under the
    /// test.
    pub(super) tested: Vec<(Id, Term)>,
    pub(super) under_test: TokenStream,
    pub(super) row_list: Vec<SlicedRow>,
    pub(super) uses: Vec<u32>,
    pub(super) reader_level: Vec<usize>,
    pub(super) place: Vec<usize>,
    pub(super) arms: Vec<Arm>,
    pub(super) arm_of: HashMap<(Id, bool), usize>,
    pub(super) exprs: Vec<Option<Expr>>,
    pub(super) code: SortedMap<(usize, usize), TokenStream>,
    pub(super) post: Vec<TokenStream>,
    pub(super) variant: LoopVariant,
    pub(super) lane: Ident,
    /// Whether the variant that is being written mentions the lane.
    pub(super) lane_used: bool,
    /// Whether the body is generic over the instruction set, by the type parameter of this name.
    pub(super) isa: bool,
    pub(super) isa_name: Ident,
    /// Sums with a fused product, and whether a node is such a product.
    pub(super) fused: Vec<Option<Fused>>,
    pub(super) absorbed: Vec<bool>,
    /// FMA port balancing: the difference that half of the lanes compute by a fused multiply-add
    /// with -1, and the name of that -1.
    pub(super) balanced: Option<(Id, Ident)>,
    /// Functions that are computed for a whole block, and the lanes of their results.
    pub(super) laned: SortedMap<Id, Ident>,
    /// The summary of the nest, for `AD_DUMP`.
    pub(super) summary: NestSummary,
    /// Lanes that are summed as soon as their loop has ended, and the accumulator that continues
    /// with the remaining elements.
    pub(super) closing: Vec<(Ident, Ident)>,
}

/// A product that can be fused with a sum.
#[derive(Clone, Copy)]
pub(super) struct FusibleProduct {
    pub(super) factors: [Id; 2],
    /// Whether it is 0 if its first factor is 0, whatever the other one is.
    pub(super) absorbing: bool,
}

/// `p * q + r`, with one rounding if the processor has the instruction: the product, the addend,
/// and which of them are negated.
#[derive(Clone, Copy)]
pub(super) struct Fused {
    pub(super) product: FusibleProduct,
    pub(super) negative: bool,
    pub(super) addend: Id,
    pub(super) subtracted: bool,
}

/// Extrema of a sum, along the last of its axes.
#[derive(Clone, Debug)]
pub(crate) struct Extremum {
    pub(crate) sum: Term,
    pub(crate) greatest: bool,
    /// For each item, the index of the first best sum, and that sum.
    pub(crate) place: Option<Term>,
    pub(crate) best: Option<Term>,
}

impl Extremum {
    pub(crate) fn results(&self) -> impl Iterator<Item = Term> {
        self.place.into_iter().chain(self.best)
    }
}

impl<'a, 'k> Nest<'a, 'k> {
    pub(crate) fn new(
        g: &'a Graph,
        style: &'a Style,
        driver: &'a HashMap<Term, Ident>,
        known: &'a InRange<'a>,
        k: &'k Kernel<'a>,
        items: &'k [Item],
        (reused, part, mask): (&'k HashMap<Term, Term>, &'k NestRange, Option<Id>),
    ) -> Self {
        let flat = *part == NestRange::Whole && is_flat(k, items);
        let depth = if flat { 1 } else { k.loops.len() };
        let mut nest = Nest {
            g,
            style,
            driver,
            known,
            k,
            items,
            reused,
            part,
            mask,
            shortened: None,
            in_block: false,
            extremum: None,
            inlined: false,
            within: false,
            length: Ident::new("inside_", Span::mixed_site()),
            depth,
            flat,
            wide: SortedSet::new(),
            names: Names::of_locals(style),
            vars: Vec::new(),
            used_vars: vec![false; depth],
            args: Vec::new(),
            arg_names: HashMap::new(),
            named: RefCell::default(),
            bounded: RefCell::default(),
            rows: SortedMap::new(),
            out_rows: HashMap::new(),
            outer_rows: SortedMap::new(),
            tested: Vec::new(),
            under_test: TokenStream::new(),
            row_list: Vec::new(),
            uses: vec![0; k.nodes.len()],
            reader_level: vec![0; k.nodes.len()],
            place: vec![0; k.nodes.len()],
            arms: vec![Arm { parent: 0, depth: 0, level: 0, choice: 0 }],
            arm_of: HashMap::new(),
            exprs: vec![None; k.nodes.len()],
            code: SortedMap::new(),
            post: vec![TokenStream::new(); depth + 1],
            variant: LoopVariant::Plain,
            lane: Ident::new("l_", Span::mixed_site()),
            lane_used: false,
            isa: false,
            isa_name: Ident::new("I", Span::mixed_site()),
            fused: vec![None; k.nodes.len()],
            absorbed: vec![false; k.nodes.len()],
            balanced: None,
            laned: SortedMap::new(),
            closing: Vec::new(),
            summary: NestSummary::default(),
        };
        nest.isa_name = style.isa_name();
        nest.tested = nest.to_be_tested();
        nest.collect_args();
        if *part != NestRange::Whole {
            nest.length = nest.names.fresh("inside");
            if !matches!(part, NestRange::Ragged(_)) {
                nest.args.push(Arg::Length);
            }
        }
        for v in 0..depth {
            let name = ["i", "j", "k", "p", "q", "r"].get(v).copied().unwrap_or("i");
            let name = nest.names.fresh(name);
            nest.vars.push(name);
        }
        nest.lane = nest.names.fresh("l");
        nest.place_nodes();
        nest
    }

    /// The nest over the items of a block.
    pub(crate) fn in_block(mut self) -> Self {
        self.in_block = true;
        self
    }

    /// The nest as part of a function that is generic over the instruction set: with as many
    /// elements as there are lanes; the caller passes how many of them are valid.
    pub(crate) fn inlined(mut self) -> Self {
        self.inlined = true;
        if self.items.iter().any(|i| matches!(i, Item::Fold { .. })) {
            self.length = self.names.fresh("there");
            self.args.push(Arg::Length);
        }
        self
    }

    /// The nest as part of an outlined loop's function, which is generic over the instruction set,
    /// if `within`.
    pub(crate) fn within(mut self, within: bool) -> Self {
        self.within = within;
        self
    }

    pub(super) fn arg(&self, t: Term) -> Expr {
        match self.g.node(t) {
            Node::Lit(lit) => self.style.lit(*lit),
            _ => {
                self.named.borrow_mut().insert(t);
                let name = &self.arg_names[&t];
                Expr::atom(quote!(#name))
            }
        }
    }

    pub(super) fn var(&mut self, v: usize) -> Expr {
        self.used_vars[v] = true;
        let name = &self.vars[v];
        Expr::atom(quote!(#name))
    }

    pub(super) fn push(&mut self, level: usize, arm: usize, tokens: &TokenStream) {
        self.code.entry((level, arm)).or_default().extend(tokens.clone());
    }
}

/// Whether a node reads an array of the whole domain at the indices of the loops.
pub(super) fn is_pointwise(k: &Kernel<'_>, op: &Op) -> bool {
    matches!(op, Op::Load { sizes, ix, .. } if **ix == *k.identity() && **sizes == *k.loops)
}

/// Whether all indices are used only together, as the position in arrays of the whole domain: then
/// the nest is one loop. Other arrays are read at computed places only.
fn is_flat(k: &Kernel<'_>, items: &[Item]) -> bool {
    if k.loops.len() < 2 {
        return false;
    }
    let whole = |item: &Item| match item {
        Item::Store { .. } => true,
        Item::Fold { reduced, .. } => reduced.iter().all(|r| *r),
        Item::Scatter { .. } | Item::Block { .. } => false,
    };
    let mut any = false;
    for node in &k.nodes {
        let pointwise = is_pointwise(k, &node.op);
        any |= pointwise;
        let index = |id: &Id| matches!(k.node(*id).op, Op::Var(_));
        if !pointwise && operands(&node.op).iter().any(index) {
            return false;
        }
    }
    let index = |item: &Item| {
        let (Item::Store { value, .. }
        | Item::Fold { value, .. }
        | Item::Scatter { value, .. }
        | Item::Block { value, .. }) = item;
        matches!(k.node(*value).op, Op::Var(_))
    };
    any && items.iter().all(whole) && !items.iter().any(index)
}
