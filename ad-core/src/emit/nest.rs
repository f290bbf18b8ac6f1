//! One loop nest as one small function of slices: what is computed at which loop, in which arm, and from which rows.
//! References that are parameters are known not to alias, and rows cut to their length once need no bounds checks inside
//! (`speed.md`: a factor of two each). Must never compute a node twice in one iteration, nor in an outer loop than its index
//! allows, nor a dear node outside the arm that alone uses it.

mod columns;
mod extrema;
mod function;
mod isa;
mod loops;
mod phases;
mod place;
mod rows;

use std::cell::RefCell;
use std::collections::{BTreeMap, BTreeSet, HashMap};

use proc_macro2::{Ident, Span, TokenStream};
use quote::quote;

use super::kernel::{Id, Kernel, Op};
use super::known::Known;
use super::rust::{Expr, Names, Style, prec, typed};
pub(super) use extrema::Extremum;
use loops::{lanes, rest_of};

use crate::ir::{Elem, Graph, Lit, Node, Put, Term};
use crate::prim::{Prim, Reduce};

/// How the values of an item meet.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Fold {
    Sum,
    /// A sum from -0, or from 0, one element after the other.
    InOrder,
    All,
    Any,
}

/// What a nest does with a value at each index.
#[derive(Clone, Debug)]
pub(super) enum Item {
    /// Stores it; `None` where it is only used by the other items.
    Store { out: Option<Term>, value: Id },
    /// Folds it over the loops marked; `added`: together with what is there, which is at the loops that are left, or at this index of `out`
    /// (what falls outside is dropped).
    Fold { out: Term, fold: Fold, reduced: Vec<bool>, value: Id, added: bool, at: Option<Vec<Id>> },
    /// Adds it (or puts it) at an index of `out`; what falls outside is dropped.
    Scatter { out: Term, put: Put, ix: Vec<Id>, value: Id },
    /// Adds it (or puts it) at a shifted index of `out`; the whole block is in range, but for the rows that are `tested`.
    Block { out: Term, put: Put, ix: Vec<Id>, value: Id, tested: bool },
}

/// An argument of the function of a nest.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Arg {
    /// `&mut [F]`
    Out(Term),
    /// `&[F]`
    Buffer(Term),
    /// By value.
    Scalar(Term),
    /// The number of elements in the interior of a loop that is split.
    Length,
}

/// Which elements of the innermost loop: all, or one of the parts of `split`, of which the interior begins here.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Part {
    Whole,
    /// As many of the first ones as the caller says.
    Prefix,
    Interior(i128),
    Ends(i128),
}

/// A finished function.
pub(super) struct Function {
    pub(super) item: TokenStream,
    pub(super) args: Vec<Arg>,
    /// Scalars returned, in order.
    pub(super) returns: Vec<Term>,
    /// `::<T>`, where no argument says what the type parameter is.
    pub(super) turbofish: TokenStream,
    /// Results whose sums it begins: their memory need not be filled.
    pub(super) begun: Vec<Term>,
    /// Whether it is generic over the number that the user's function is generic over.
    pub(super) generic: bool,
}

/// Expressions longer than this get a name.
const LONG: u32 = 9;

/// The loop variant that an inner body is written for.
#[derive(Clone, PartialEq, Eq)]
enum Variant {
    Plain,
    Lane,
    Rest,
}

/// A row of a stored array: contiguous over the innermost loop.
#[derive(Clone, PartialEq, Eq, Hash, PartialOrd, Ord)]
struct RowKey {
    buf: Term,
    sizes: Vec<Term>,
    outer: Vec<Id>,
    base: Option<Id>,
}

struct Row {
    name: Ident,
    chunks: Ident,
    rest: Ident,
    out: bool,
    /// Where it is cut: inside of so many loops.
    level: usize,
}

/// An arm of a lazy choice; 0 is "no arm".
struct Arm {
    parent: usize,
    depth: u32,
    level: usize,
    choice: Id,
}

pub(super) struct Nest<'a, 'k> {
    g: &'a Graph,
    style: &'a Style,
    driver: &'a HashMap<Term, Ident>,
    known: &'a Known<'a>,
    k: &'k Kernel<'a>,
    items: &'k [Item],
    /// Arrays whose memory a result takes, element by element: read, then written.
    reused: &'k HashMap<Term, Term>,
    /// Which part of the innermost loop it is, and the name of the number of elements in the interior.
    part: &'k Part,
    /// The condition under which the innermost loop is run.
    mask: Option<Id>,
    /// A loop that ends at this index already, since the condition does not hold from there on.
    shortened: Option<(usize, Id)>,
    /// Whether the innermost loop is over the items of a block.
    in_block: bool,
    /// Of which sum it takes the extremum instead of storing it.
    extremum: Option<Extremum>,
    /// Whether it is a part of a larger function, which knows the instructions: of sixteen elements, or as it is.
    inlined: bool,
    within: bool,
    length: Ident,
    /// Loops that remain, and whether they are the whole domain walked as one.
    depth: usize,
    flat: bool,
    /// Sums of `f32` with one accumulator, which is an `f64`: one in `f32` loses a digit for every ten thousand elements.
    wide: BTreeSet<Term>,
    names: Names,
    vars: Vec<Ident>,
    used_vars: Vec<bool>,
    args: Vec<Arg>,
    arg_names: HashMap<Term, Ident>,
    /// Scalars that the code has named: the others are no parameters.
    named: RefCell<BTreeSet<Term>>,
    rows: BTreeMap<RowKey, usize>,
    out_rows: HashMap<Term, usize>,
    /// Rows along loops that are not the innermost.
    outer_rows: BTreeMap<(usize, RowKey), Ident>,
    /// Indices of a block that are in range under a test, row by row, and what is cut under it.
    tested: Vec<(Id, Term)>,
    under_test: TokenStream,
    row_list: Vec<Row>,
    uses: Vec<u32>,
    reader_level: Vec<usize>,
    place: Vec<usize>,
    arms: Vec<Arm>,
    arm_of: HashMap<(Id, bool), usize>,
    exprs: Vec<Option<Expr>>,
    code: BTreeMap<(usize, usize), TokenStream>,
    post: Vec<TokenStream>,
    variant: Variant,
    lane: Ident,
    /// Whether the variant being written names the lane.
    lane_used: bool,
    /// Whether the body is generic over the instructions, by the type parameter of this name.
    isa: bool,
    isa_name: Ident,
    /// Sums that take a product in, and the products.
    fused: Vec<Option<isa::Fused>>,
    absorbed: Vec<bool>,
    /// The difference that half of the lanes take by the multipliers, and the name of the -1 that they multiply by.
    balanced: Option<(Id, Ident)>,
    /// Functions that are computed for a block at once, and the lanes of their results.
    laned: BTreeMap<Id, Ident>,
    /// Lanes that are added up as soon as their loop has ended, and the sum that goes on with what is left over.
    closing: Vec<(Ident, Ident)>,
}

impl<'a, 'k> Nest<'a, 'k> {
    pub(super) fn new(
        g: &'a Graph,
        style: &'a Style,
        driver: &'a HashMap<Term, Ident>,
        known: &'a Known<'a>,
        k: &'k Kernel<'a>,
        items: &'k [Item],
        (reused, part, mask): (&'k HashMap<Term, Term>, &'k Part, Option<Id>),
    ) -> Self {
        let flat = *part == Part::Whole && is_flat(k, items);
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
            wide: BTreeSet::new(),
            names: Names::of_locals(style),
            vars: Vec::new(),
            used_vars: vec![false; depth],
            args: Vec::new(),
            arg_names: HashMap::new(),
            named: RefCell::default(),
            rows: BTreeMap::new(),
            out_rows: HashMap::new(),
            outer_rows: BTreeMap::new(),
            tested: Vec::new(),
            under_test: TokenStream::new(),
            row_list: Vec::new(),
            uses: vec![0; k.nodes.len()],
            reader_level: vec![0; k.nodes.len()],
            place: vec![0; k.nodes.len()],
            arms: vec![Arm { parent: 0, depth: 0, level: 0, choice: 0 }],
            arm_of: HashMap::new(),
            exprs: vec![None; k.nodes.len()],
            code: BTreeMap::new(),
            post: vec![TokenStream::new(); depth + 1],
            variant: Variant::Plain,
            lane: Ident::new("l_", Span::mixed_site()),
            lane_used: false,
            isa: false,
            isa_name: Ident::new("I", Span::mixed_site()),
            fused: vec![None; k.nodes.len()],
            absorbed: vec![false; k.nodes.len()],
            balanced: None,
            laned: BTreeMap::new(),
            closing: Vec::new(),
        };
        nest.isa_name = isa_name(style);
        nest.tested = nest.to_be_tested();
        nest.collect_args();
        if *part != Part::Whole {
            nest.length = nest.names.fresh("inside");
            nest.args.push(Arg::Length);
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

    /// Of the items of a block.
    pub(super) fn in_block(mut self) -> Self {
        self.in_block = true;
        self
    }

    /// As a part of a function that is generic over the instructions itself: of as many elements as there are lanes, of which so many are there
    /// as the caller says.
    pub(super) fn inlined(mut self) -> Self {
        self.inlined = true;
        if self.items.iter().any(|i| matches!(i, Item::Fold { .. })) {
            self.length = self.names.fresh("there");
            self.args.push(Arg::Length);
        }
        self
    }

    /// As a part of a loop's function, which is generic over the instructions, if it is to be one.
    pub(super) fn within(mut self, within: bool) -> Self {
        self.within = within;
        self
    }

    fn arg(&self, t: Term) -> Expr {
        match self.g.node(t) {
            crate::ir::Node::Lit(lit) => self.style.lit(*lit),
            _ => {
                self.named.borrow_mut().insert(t);
                let name = &self.arg_names[&t];
                Expr::atom(quote!(#name))
            }
        }
    }

    fn var(&mut self, v: usize) -> Expr {
        self.used_vars[v] = true;
        let name = &self.vars[v];
        Expr::atom(quote!(#name))
    }

    fn push(&mut self, level: usize, arm: usize, tokens: &TokenStream) {
        self.code.entry((level, arm)).or_default().extend(tokens.clone());
    }

    /// The expression of a node whose operands have been written.
    fn value(&mut self, id: Id) -> Result<Expr, String> {
        match &self.k.node(id).op {
            Op::Var(v) => {
                let v = usize::from(*v);
                self.lane_used |= self.variant != Variant::Plain && v == self.depth - 1;
                Ok(self.var(v))
            }
            Op::Lit(lit) => Ok(self.style.lit(*lit)),
            Op::Scalar(t) => Ok(self.arg(*t)),
            _ => match &self.exprs[id as usize] {
                Some(e) => Ok(e.clone()),
                None => Err(format!("node {id} is used before it is written")),
            },
        }
    }

    /// Writes every node of these levels, oldest first.
    fn write_nodes(&mut self, levels: std::ops::RangeInclusive<usize>) -> Result<(), String> {
        self.write_some_nodes(levels, &|_| true)
    }

    fn write_some_nodes(
        &mut self,
        levels: std::ops::RangeInclusive<usize>,
        which: &dyn Fn(Id) -> bool,
    ) -> Result<(), String> {
        for id in 0..self.k.nodes.len() {
            let this = u32::try_from(id).unwrap_or(0);
            if !which(this) {
                continue;
            }
            if self.uses[id] == 0 || self.absorbed[id] || !levels.contains(&self.level(this)) {
                continue;
            }
            if matches!(self.k.nodes[id].op, Op::Var(_) | Op::Lit(_) | Op::Scalar(_)) {
                continue;
            }
            let e = self.expression(this)?;
            let level = self.level(this);
            let row = matches!(self.k.nodes[id].op, Op::Load { .. }) && level == self.depth && e.size == 0;
            let again = self.uses[id] > 1 || self.reader_level[id] > level || e.size > LONG || e.prec == prec::IF;
            // What stands in an arm must have its name there, before the choice.
            // What an item overwrites is read before.
            let reused = matches!(&self.k.nodes[id].op, Op::Load { buf, .. } if self.reused.contains_key(buf));
            let e = if (again && !row) || reused {
                let name = match &self.k.nodes[id].hint {
                    Some(hint) => self.names.fresh(hint),
                    None => self.names.numbered("t"),
                };
                let tokens = &e.tokens;
                self.push(level, self.place[id], &quote!(let #name = #tokens;));
                Expr::atom(quote!(#name))
            } else {
                e
            };
            self.exprs[id] = Some(e);
        }
        Ok(())
    }

    fn expression(&mut self, id: Id) -> Result<Expr, String> {
        if let Some(special) = self.special(id)? {
            return Ok(special);
        }
        let node = self.k.node(id);
        let k = self.k;
        match &node.op {
            Op::Prim(prim, args) => {
                let values: Vec<Expr> = args.iter().map(|&c| self.value(c)).collect::<Result<_, _>>()?;
                let refs: Vec<&Expr> = values.iter().collect();
                let second = args.get(1).and_then(|&c| match k.node(c).op {
                    Op::Lit(Lit::Int(_, n)) => Some(n),
                    _ => None,
                });
                self.style.prim(prim, &refs, k.node(args[0]).elem, second)
            }
            Op::If(c, a, b) => {
                let (c, a, b) = (self.value(*c)?, self.value(*a)?, self.value(*b)?);
                let level = self.level(id);
                let arm = |nest: &mut Self, which: bool| {
                    let arm = nest.arm_of.get(&(id, which)).copied().unwrap_or(0);
                    nest.code.remove(&(level, arm)).filter(|_| arm != 0).unwrap_or_default()
                };
                let (yes, no) = (arm(self, true), arm(self, false));
                let size = 2 + c.size + a.size + b.size;
                let size = if yes.is_empty() && no.is_empty() { size } else { LONG + 1 };
                let first = typed(&[&a, &b]).unwrap_or_else(|| a.tokens.clone());
                let (c, a, b) = (c.tokens, first, b.tokens);
                Ok(Expr::new(quote!(if #c { #yes #a } else { #no #b }), prec::IF, size))
            }
            Op::Load { buf, sizes, ix } => {
                if self.level(id) == self.depth
                    && let Some(key) = self.row_key(id)
                {
                    let row = self.row(key)?;
                    return Ok(Expr::atom(self.row_element(row)));
                }
                if let Some(element) = self.outer_row_element(id)? {
                    return Ok(element);
                }
                let exact = (0..ix.len()).all(|k| self.proven(ix[k], sizes[k]));
                let ix: Vec<Expr> = ix.iter().map(|&i| self.value(i)).collect::<Result<_, _>>()?;
                let at = self.linear(&ix, sizes, exact);
                let name = &self.arg_names[buf];
                let first = at.is(0);
                let at = at.tokens;
                Ok(if exact {
                    Expr::new(quote!(#name[#at]), prec::ATOM, 1)
                } else if first {
                    let zero = self.style.zero(node.elem);
                    Expr::new(quote!(#name.first().copied().unwrap_or(#zero)), prec::ATOM, 2)
                } else {
                    let zero = self.style.zero(node.elem);
                    Expr::new(quote!(#name.get(#at).copied().unwrap_or(#zero)), prec::ATOM, 2)
                })
            }
            _ => self.value(id),
        }
    }

    fn write_items(&mut self, accumulators: &HashMap<Term, Ident>) -> Result<(), String> {
        let d = self.depth;
        for item in self.items {
            let tokens = match item {
                Item::Store { out: None, .. } => continue,
                Item::Store { out: Some(t), value } => {
                    let value = self.value(*value)?.tokens;
                    let loops: Vec<usize> = (0..d).collect();
                    let row = self.out_row(*t, &loops);
                    let place = self.row_element(row);
                    quote!(#place = #value;)
                }
                Item::Fold { out, fold, reduced, value, .. } => {
                    let real = *fold == Fold::Sum && self.g.elem(*out).is_real();
                    let place = if self.extremum.as_ref().is_some_and(|e| e.sum == *out) {
                        let (sum, lane) = (&self.arg_names[out], &self.lane);
                        if self.variant == Variant::Lane { quote!(#sum[#lane]) } else { quote!(#sum) }
                    } else if let Some(acc) = accumulators.get(out) {
                        if real && self.variant == Variant::Lane {
                            let lane = &self.lane;
                            quote!(#acc[#lane])
                        } else if real && self.variant == Variant::Rest {
                            let acc = rest_of(acc);
                            quote!(#acc)
                        } else {
                            quote!(#acc)
                        }
                    } else {
                        let loops: Vec<usize> = (0..d).filter(|&v| !reduced[v]).collect();
                        let row = self.out_row(*out, &loops);
                        self.row_element(row)
                    };
                    if self.wide.contains(out) && self.variant != Variant::Lane && accumulators.contains_key(out) {
                        let value = self.factors_or_value(*value)?;
                        quote!(#place += f64::from(#value);)
                    } else if self.inlined {
                        let value = self.factors_or_value(*value)?;
                        let (lane, there, zero) = (&self.lane, &self.length, self.style.zero(self.g.elem(*out)));
                        quote!(#place = if #lane < #there { #value } else { #zero };)
                    } else if real {
                        self.add_to(&place, *value)?
                    } else {
                        let value = self.value(*value)?;
                        self.accumulate(*fold, self.g.elem(*out), &place, &value)
                    }
                }
                Item::Block { out, put, ix, value, .. } => {
                    let row = self.block_row(*out, ix)?;
                    let place = self.row_element(row);
                    match put {
                        Put::Add => self.add_to(&place, *value)?,
                        Put::Set => {
                            let value = self.value(*value)?.tokens;
                            quote!(#place = #value;)
                        }
                    }
                }
                Item::Scatter { out, put, ix, value } => {
                    let value = self.value(*value)?.tokens;
                    self.put_at(*out, *put, ix, &value)?
                }
            };
            self.push(d, 0, &tokens);
        }
        Ok(())
    }

    fn accumulate(&self, fold: Fold, elem: Elem, place: &TokenStream, value: &Expr) -> TokenStream {
        let tokens = &value.tokens;
        match (fold, elem) {
            (Fold::Sum | Fold::InOrder, Elem::Real(_)) => quote!(#place += #tokens;),
            (Fold::Sum | Fold::InOrder, _) => quote!(#place = #place.wrapping_add(#tokens);),
            (Fold::All, _) => quote!(#place &= #tokens;),
            (Fold::Any, _) => quote!(#place |= #tokens;),
        }
    }

    /// A nest without loops, for the driver: statements, and the value of its only item; the terms that they name.
    pub(super) fn inline(mut self, value: Id) -> Result<(TokenStream, Expr, Vec<Term>), String> {
        self.write_nodes(0..=0)?;
        let value = self.value(value)?;
        let mut named: Vec<Term> = self.named.take().into_iter().collect();
        named.extend(self.args.iter().filter_map(|arg| match arg {
            Arg::Buffer(t) => Some(*t),
            _ => None,
        }));
        Ok((self.code.remove(&(0, 0)).unwrap_or_default(), value, named))
    }

    /// The function of the nest.
    pub(super) fn function(mut self, name: &Ident, doc: &str) -> Result<Function, String> {
        let d = self.depth;
        self.isa = self.inlined || self.within || self.pays();
        self.fuse();
        self.shorten();
        let (lanes, lane_count) = (self.in_lanes(), lanes());
        let mut returns = Vec::new();
        let mut return_values = Vec::new();
        let mut accumulators: HashMap<Term, Ident> = HashMap::new();
        if d > 0 {
            self.write_nodes(0..=d - 1)?;
        }
        for item in self.items {
            let Item::Fold { out, fold, reduced, added, at, .. } = item else { continue };
            let reduced: Vec<bool> = if self.flat { vec![true] } else { reduced.clone() };
            let suffix = reduced.iter().rev().take_while(|r| **r).count();
            if suffix == 0 && self.g.rank(*out) > 0 {
                continue;
            }
            let start = d - suffix;
            let elem = self.g.elem(*out);
            let zero = if *fold == Fold::All { quote!(true) } else { self.zero_of(*out) };
            let ty = self.style.ty(elem);
            let total = if lanes && *fold == Fold::Sum && elem.is_real() {
                let base = self.driver[out].to_string();
                let acc = self.names.fresh(&format!("{base}_lanes"));
                let rest = rest_of(&acc);
                self.names.reserve(&rest.to_string());
                self.push(start, 0, &quote!(let mut #acc = [#zero; #lane_count];));
                accumulators.insert(*out, acc.clone());
                if suffix == 1 {
                    // One row: the order of `kernel::sum`.
                    self.closing.push((acc, rest.clone()));
                    quote!(#rest)
                } else if elem == SINGLE {
                    self.wide.insert(*out);
                    self.push(start, 0, &quote!(let mut #rest: f64 = 0.0;));
                    let lanes = self.style.kernel("lanes");
                    quote!((f64::from(#lanes(#acc)) + #rest) as f32)
                } else {
                    self.push(start, 0, &quote!(let mut #rest = #zero;));
                    let total = self.style.kernel("total");
                    quote!(#total(#acc, #rest))
                }
            } else if *fold == Fold::Sum && elem == SINGLE {
                self.wide.insert(*out);
                let acc = self.names.fresh(&format!("{}_sum", self.driver[out]));
                self.push(start, 0, &quote!(let mut #acc: f64 = 0.0;));
                accumulators.insert(*out, acc.clone());
                quote!(#acc as f32)
            } else {
                let base = self.driver[out].to_string();
                let acc = self.names.fresh(&format!("{base}_sum"));
                self.push(start, 0, &quote!(let mut #acc: #ty = #zero;));
                accumulators.insert(*out, acc.clone());
                quote!(#acc)
            };
            if self.g.rank(*out) == 0 {
                returns.push(*out);
                if start == 0 {
                    return_values.push(total);
                }
                continue;
            }
            if let Some(at) = at {
                let put = self.put_at(*out, Put::Add, at, &total)?;
                self.post[start].extend(put);
                continue;
            }
            let loops: Vec<usize> = (0..d).filter(|&v| !reduced[v]).collect();
            let ix: Vec<Expr> = loops.iter().map(|&v| self.var(v)).collect();
            let sizes: Vec<Term> = loops.iter().map(|&v| self.k.loops[v]).collect();
            let at = self.linear(&ix, &sizes, true).tokens;
            let of = &self.arg_names[out];
            let place = quote!(#of[#at]);
            let again = *added || reduced[..start].iter().any(|r| *r);
            let post =
                if again { self.accumulate(*fold, elem, &place, &Expr::atom(total)) } else { quote!(#place = #total;) };
            self.post[start].extend(post);
        }
        let begun = if lanes { None } else { self.columns() }.map_or_else(Vec::new, |first| self.begun(first));
        let body = self.body(lanes, &accumulators)?;
        Ok(self.finished((name, doc), &body, (returns, &return_values), begun))
    }

    /// What a sum begins with.
    fn zero_of(&self, t: Term) -> TokenStream {
        let zero = self.style.zero(self.g.elem(t));
        let negative = matches!(self.g.node(t), Node::Prim(Prim::Reduce(Reduce::InOrder, _), _));
        if negative { quote!(-#zero) } else { zero }
    }
}

/// The name of the type parameter that the instructions are.
pub(super) fn isa_name(style: &Style) -> Ident {
    Ident::new(if style.param == "I" { "Isa" } else { "I" }, Span::mixed_site())
}

pub(super) const SINGLE: Elem = Elem::Real(crate::ir::RealTy::F32);

/// The nodes that a node reads.
pub(super) fn operands(op: &Op) -> Vec<Id> {
    match op {
        Op::Lit(_) | Op::Scalar(_) | Op::Var(_) => Vec::new(),
        Op::Load { ix, .. } => ix.to_vec(),
        Op::Prim(_, args) => args.to_vec(),
        Op::If(c, a, b) => vec![*c, *a, *b],
    }
}

/// Whether all indices are only used together, as the position in arrays of the whole domain: then it is one loop.
fn is_flat(k: &Kernel<'_>, items: &[Item]) -> bool {
    let identity = k.identity();
    if k.loops.len() < 2 {
        return false;
    }
    let whole = |item: &Item| match item {
        Item::Store { .. } => true,
        Item::Fold { reduced, .. } => reduced.iter().all(|r| *r),
        Item::Scatter { .. } | Item::Block { .. } => false,
    };
    let pointwise = |op: &Op| match op {
        Op::Load { sizes, ix, .. } => **ix == *identity && **sizes == *k.loops,
        _ => false,
    };
    let mut any = false;
    for node in &k.nodes {
        let pointwise = pointwise(&node.op);
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
