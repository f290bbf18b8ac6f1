//! The memory of arrays: owned by the routine or by the caller, on the heap or on the stack, inside
//! or outside of loops. This module defines the state and its types, and writes no code.

use std::collections::{HashMap, HashSet};

use proc_macro2::{Ident, Literal, TokenStream};
use quote::{ToTokens, quote};

use ad_ir::ir::{Graph, Term};
use ad_ir::program::{Container, Output, OutputTree, Param};

/// The memory of stored arrays.
#[derive(Default)]
pub(super) struct Memory {
    pub(super) hold: HashMap<Term, Storage>,
    /// Arrays that others borrow from until the end.
    pub(super) lent: HashSet<Term>,
    /// Arrays whose memory a later one has taken over.
    pub(super) reused: HashSet<Term>,
    /// The sizes of owned arrays of static size.
    pub(super) storage: HashMap<Term, Vec<StaticLen>>,
    /// The arrays that may have static size.
    pub(super) budget: Budget,
    /// Memory that is declared before the outermost loop, so that no iteration allocates: the term,
    /// the code, and the terms that it names.
    pub(super) hoisted: Vec<(Term, TokenStream, Vec<Term>)>,
    /// Arrays whose memory is declared before the outermost loop.
    pub(super) outside: HashSet<Term>,
    /// Rows of loops whose memory is newly allocated. It is zero where no iteration has written,
    /// and each element is written at most once.
    pub(super) fresh: HashSet<Term>,
    /// Arrays that the routine allocates in every call, whose sizes are those of arguments.
    pub(super) allocated: Vec<Term>,
}

/// The kind of memory of a stored array.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Storage {
    /// A `Vec` of the routine.
    Owned,
    /// An array of static size of the routine, with this depth of nesting: see `stack`.
    Stack(usize),
    /// A `Cow` of the elements of a parameter, or of an array with other size terms.
    Contiguous,
    /// A parameter that is a slice or a `Vec`; `true`: already a reference.
    Parameter(bool),
    /// A slice of one of two other arrays.
    Borrowed,
    /// A row that an iteration of a loop writes: `&mut [F]`.
    Row,
    /// The caller's memory for a result.
    Lent,
}

/// The maximum number of elements of a local array of literal shape, if the signature has no larger
/// one.
const MAX_STACK_ELEMENTS: i128 = 4096;
/// The maximum number of sizes unknown to the macro in a local array, if the signature has no array
/// with more.
const MAX_NAMED_SIZES: usize = 2;

/// The size of an axis of an array of static size.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(super) enum StaticLen {
    Number(i128),
    Named(Named),
}

/// A constant as the user writes it.
#[derive(Clone, Debug)]
pub(super) struct Named {
    path: TokenStream,
    words: String,
}

impl PartialEq for Named {
    fn eq(&self, other: &Self) -> bool {
        self.words == other.words
    }
}

impl Eq for Named {}

impl StaticLen {
    /// A size as a signature declares it.
    pub(super) fn declared(len: &TokenStream) -> StaticLen {
        let words = len.to_string();
        match words.parse() {
            Ok(n) => StaticLen::Number(n),
            Err(_) => StaticLen::Named(Named { path: len.clone(), words }),
        }
    }
}

impl ToTokens for StaticLen {
    fn to_tokens(&self, tokens: &mut TokenStream) {
        match self {
            StaticLen::Number(n) => Literal::i128_unsuffixed(*n).to_tokens(tokens),
            StaticLen::Named(Named { path, .. }) => path.to_tokens(tokens),
        }
    }
}

/// The limits for arrays on the stack.
#[derive(Default)]
pub(super) struct Budget {
    pub(super) elements: i128,
    pub(super) named: usize,
    /// Results that are returned as a `Vec` or an ndarray: they are computed as such.
    pub(super) heap: HashSet<Term>,
}

impl Budget {
    pub(super) fn of(g: &Graph, params: &[Param], result: &OutputTree) -> Self {
        let mut budget = Budget { elements: MAX_STACK_ELEMENTS, named: MAX_NAMED_SIZES, heap: HashSet::new() };
        let params = params.iter().map(|p| (p.container, &p.lens));
        for (container, lens) in params.chain(result.leaves().iter().map(|out| (out.container, &out.lens))) {
            if container == Container::Static {
                let (mut elements, mut named) = (1_i128, 0);
                for len in lens {
                    match StaticLen::declared(len) {
                        StaticLen::Number(n) => elements = elements.saturating_mul(n),
                        StaticLen::Named(_) => named += 1,
                    }
                }
                budget.elements = budget.elements.max(elements);
                budget.named = budget.named.max(named);
            }
        }
        for out in result.leaves() {
            if out.container != Container::Static && g.rank(out.term) > 0 {
                budget.heap.insert(out.term);
            }
        }
        budget
    }
}

/// An array of arrays as one slice.
pub(super) fn flat(name: &TokenStream, depth: usize, mutable: bool) -> TokenStream {
    let step = if mutable { quote!(.as_flattened_mut()) } else { quote!(.as_flattened()) };
    let steps = (1..depth).map(|_| step.clone());
    quote!(#name #(#steps)*)
}

/// The destinations of results.
#[derive(Default)]
pub(super) struct Destinations {
    /// The results to write, with their destinations.
    pub(super) leaves: Vec<(Output, Ident)>,
    /// Arrays that may be computed in the memory of a destination.
    pub(super) memory: HashMap<Term, (Ident, Output)>,
    /// The arrays that are computed there, with the destination.
    pub(super) lent: HashMap<Term, Ident>,
    /// Destinations that were written while a kernel read the array.
    pub(super) copied: HashSet<Ident>,
}

impl Destinations {
    /// `destinations` are the places of the leaves of the second result. Those that are `replaced`
    /// are parts of a value that is assigned as a whole.
    pub(super) fn of(
        g: &Graph,
        params: &[Param],
        result: &OutputTree,
        (destinations, replaced): (&[Ident], impl Fn(&Ident) -> bool),
    ) -> Self {
        let mut into = Destinations::default();
        let OutputTree::Tuple(parts) = result else { return into };
        let [_, second] = &**parts else { return into };
        for (out, name) in second.leaves().into_iter().zip(destinations).filter(|(_, name)| !replaced(name)) {
            let fits = params.iter().any(|p| p.name == *name) && g.rank(out.term) > 0;
            if fits && matches!(out.container, Container::NdArray | Container::Slice) {
                into.memory.entry(out.term).or_insert_with(|| (name.clone(), out.clone()));
            }
            into.leaves.push((out.clone(), name.clone()));
        }
        into
    }
}
