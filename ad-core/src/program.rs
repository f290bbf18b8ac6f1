//! What passes between the front end and the emitter beside terms: signatures and places as tokens
//! that nobody in between looks at, the function as core terms, and the routines to be written.
//! Neither `syn` nor any term is interpreted here.

use std::collections::{BTreeMap, BTreeSet, HashSet};
use std::rc::Rc;

use proc_macro2::{Ident, TokenStream};

use crate::diag::SrcRange;
use crate::ir::{Elem, Graph, Loc, RealTy, Term};
use crate::modes::Mode;

/// A place in the user's source, for messages at run time and for the spans of emitted code.
#[derive(Clone, Debug)]
pub struct Place {
    /// The tokens.
    pub range: SrcRange,
    /// The expression as text, shortened.
    pub text: String,
}

/// The table behind [`Loc`]; entry 0 is the function itself.
#[derive(Clone, Debug, Default)]
pub struct Places(pub Vec<Place>);

impl Places {
    /// The place of `loc`, or the function's.
    #[must_use]
    pub fn get(&self, loc: Loc) -> Option<&Place> {
        self.0.get(loc.0 as usize).or_else(|| self.0.first())
    }
}

/// How a value is passed or returned in Rust.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Container {
    /// `f64`, `usize`, `bool`, ...
    Scalar,
    /// `&f64` and the like.
    ScalarRef,
    /// `ArrayN<F>`, `ArrayViewN<F>`, `ArrayRefN<F>` by value or reference: anything that derefs to
    /// `ArrayRefN` when borrowed.
    NdArray,
    /// `&[F]`, `Vec<F>`, `&Vec<F>`: anything that derefs to a slice. Gradients and results are
    /// `Vec<F>`.
    Slice,
    /// `[F; N]`, `[[F; N]; M]` and references to them: never on the heap.
    Static,
}

impl Container {
    /// How a result of this kind is returned: never a reference.
    #[must_use]
    pub fn owned(self) -> Self {
        if self == Container::ScalarRef { Container::Scalar } else { self }
    }

    /// How a tangent or a cotangent of this kind is passed: numbers and arrays of static size by
    /// value.
    #[must_use]
    pub fn passing(self) -> Passing {
        match self {
            Container::Scalar | Container::ScalarRef => Passing::value(Owner::Any),
            Container::Static => Passing::value(Owner::Static),
            Container::NdArray => Passing::reference(Owner::Shared),
            Container::Slice => Passing::reference(Owner::Slice),
        }
    }

    /// Scalars and arrays of static size: what is never on the heap.
    #[must_use]
    pub fn is_static(self) -> bool {
        matches!(self, Container::Scalar | Container::ScalarRef | Container::Static)
    }
}

/// The block of a Jacobian for a result and a parameter, each given with the sizes of its static
/// type: the result's indices first, static if both are, otherwise an ndarray (the contract's
/// section "Jacobians").
#[must_use]
pub fn pair(result: (Container, &[TokenStream]), param: (Container, &[TokenStream])) -> (Container, Vec<TokenStream>) {
    if !result.0.is_static() || !param.0.is_static() {
        return (Container::NdArray, Vec::new());
    }
    let lens = [result.1, param.1].concat();
    (if lens.is_empty() { Container::Scalar } else { Container::Static }, lens)
}

/// How the type of a parameter is written, as far as the code has to know that passes an argument
/// on.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Passing {
    /// References in front.
    pub references: usize,
    /// What they refer to.
    pub owner: Owner,
    /// Whether a lifetime in it is `'static`.
    pub is_static: bool,
}

impl Passing {
    /// By value.
    #[must_use]
    pub fn value(owner: Owner) -> Self {
        Passing { references: 0, owner, is_static: false }
    }

    /// By reference.
    #[must_use]
    pub fn reference(owner: Owner) -> Self {
        Passing { references: 1, ..Passing::value(owner) }
    }
}

/// A parameter of a routine.
#[derive(Clone, Debug)]
pub struct Param {
    /// Its name.
    pub name: Ident,
    /// Its type as the user wrote it, or as the contract has it for tangents and cotangents.
    pub ty: TokenStream,
    /// How that type is written.
    pub passing: Passing,
    /// The type `ty` stands for.
    pub container: Container,
    /// Element type of the leaf.
    pub elem: Elem,
    /// Rank of the leaf.
    pub rank: u8,
    /// The sizes that the type of a `Static` names, outermost first; empty for everything else.
    pub lens: Vec<TokenStream>,
    /// Number of the graph's input that it is; `None` for one that no term mentions (still in the
    /// signature).
    pub input: Option<u32>,
}

/// A scalar or array that is known when the function is compiled and not when the macro runs: a
/// const parameter, a constant outside of the function. An input of the graph that is no parameter;
/// what it is called where rustc knows its value.
#[derive(Clone, Debug)]
pub struct Constant {
    /// Number of the graph's input that it is.
    pub input: u32,
    /// The path (or an expression of such paths).
    pub path: TokenStream,
    /// Its type, which the emitted code states; of an array that of its elements.
    pub elem: Elem,
    /// The sizes of an array, outermost first: constants too.
    pub lens: Vec<TokenStream>,
}

/// A result leaf of a routine.
#[derive(Clone, Debug)]
pub struct Output {
    /// The value: an array term.
    pub term: Term,
    /// How it is returned: never `ScalarRef`.
    pub container: Container,
    /// The sizes that the type of a `Static` names, outermost first; empty for everything else.
    pub lens: Vec<TokenStream>,
}

/// The structure of a routine's result: what the contract calls R, G and pairs of them.
#[derive(Clone, Debug)]
pub enum OutputTree {
    /// One value.
    Leaf(Output),
    /// A tuple.
    Tuple(Vec<OutputTree>),
}

impl OutputTree {
    /// The leaves, in order.
    #[must_use]
    pub fn leaves(&self) -> Vec<&Output> {
        match self {
            OutputTree::Leaf(out) => vec![out],
            OutputTree::Tuple(parts) => parts.iter().flat_map(OutputTree::leaves).collect(),
        }
    }

    /// The terms of the leaves, in order.
    #[must_use]
    pub fn terms(&self) -> Vec<Term> {
        match self {
            OutputTree::Leaf(out) => vec![out.term],
            OutputTree::Tuple(parts) => parts.iter().flat_map(OutputTree::terms).collect(),
        }
    }

    /// The same structure over other terms, taken in order.
    #[must_use]
    pub fn with_terms(&self, terms: &mut impl Iterator<Item = Term>) -> OutputTree {
        match self {
            OutputTree::Leaf(out) => OutputTree::Leaf(Output { term: terms.next().unwrap_or(out.term), ..out.clone() }),
            OutputTree::Tuple(parts) => OutputTree::Tuple(parts.iter().map(|p| p.with_terms(terms)).collect()),
        }
    }
}

/// When a check is made.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Phase {
    /// Unconditional and about sizes only: before anything is computed.
    Entry,
    /// Where the function itself would fail: before results are returned.
    Reached,
}

/// Something that must hold, or the derivative panics as the function does. Terms are total (out of
/// range is an unspecified value, an overflow the nearest value), so that no pass has to keep a
/// panic in place; what could fail is said here instead, under the conditions under which the
/// function would get there.
#[derive(Clone, Debug)]
pub struct Check {
    /// A boolean scalar, closed.
    pub ok: Term,
    /// What to say if it does not hold: without place, which the panic itself has.
    pub message: String,
    /// The same as a format string, where it is the user's own: then it says all, and the
    /// expression is not shown behind it. Its holes are filled by those of `shown` that have no
    /// name.
    pub format: Option<String>,
    /// Sizes to show behind the message, as (name in the user's words, `usize` scalar).
    pub shown: Vec<(String, Term)>,
    /// The expression that fails.
    pub loc: Loc,
    /// When it is made.
    pub phase: Phase,
    /// Whether it is made only where debug assertions are: `debug_assert!`.
    pub debug: bool,
}

/// An annotated function after the front end.
#[derive(Debug)]
pub struct Program {
    /// All terms.
    pub graph: Graph,
    /// The function's name.
    pub name: Ident,
    /// Visibility as written.
    pub vis: TokenStream,
    /// `#[cfg(..)]` attributes as written.
    pub cfgs: TokenStream,
    /// Generic parameters as written, with their angle brackets and bounds (lifetimes, `T: Real`);
    /// empty if there are none.
    pub generics: TokenStream,
    /// The where clause as written.
    pub where_clause: TokenStream,
    /// `::<T, N>` where there are type or const parameters.
    pub turbofish: TokenStream,
    /// The names of type and const parameters: what a closure that is returned may mention.
    pub captured: Vec<Ident>,
    /// Parameters in order.
    pub params: Vec<Param>,
    /// Constants that the function names.
    pub constants: Vec<Constant>,
    /// Indices into `params` of the active ones, ascending.
    pub active: Vec<usize>,
    /// The algorithm that differentiates it.
    pub mode: Mode,
    /// The result's type as written.
    pub result_ty: TokenStream,
    /// The result.
    pub result: OutputTree,
    /// What must hold.
    pub checks: Vec<Check>,
    /// Names that terms have in the source, for readable output.
    pub hints: BTreeMap<Term, String>,
    /// Places.
    pub places: Places,
    /// The path of the crate `ad`: `::ad` unless `crate = "..."` says otherwise.
    pub krate: TokenStream,
    /// The type parameter with `T: Real`, if there is one: what [`crate::ir::RealTy::Param`] is
    /// called.
    pub real_param: Option<Ident>,
    /// What names were taken for: to be proved by the code that is emitted.
    pub assumed: Vec<Assumed>,
    /// Names in patterns that were taken to be bound there, and not to be constants: likewise.
    pub bound: Vec<Ident>,
    /// All names that the function binds in patterns: no constant in scope has one of them.
    pub locals: Rc<BTreeSet<String>>,
    /// Names that were taken to be constants of `std::f64::consts`: likewise.
    pub consts: Vec<AssumedConst>,
}

/// What a name was taken for. Only rustc knows what it resolves to.
#[derive(Clone, Debug)]
pub enum Assumed {
    /// A function or type of the DSL, of ndarray or of std.
    Path {
        /// As the user wrote it, without generic arguments.
        path: TokenStream,
        /// Its last segment.
        name: Ident,
        /// The function that it was taken for; of a type nothing but its name has to be known.
        called: Option<Called>,
    },
    /// A function of a type of numbers: `f64::exp`.
    OfNumber {
        /// As the user wrote it.
        path: TokenStream,
        /// The type.
        elem: Elem,
        /// The function.
        name: Ident,
    },
    /// A macro of ndarray or std.
    Macro {
        /// As the user wrote it.
        path: TokenStream,
        /// Its last segment.
        name: Ident,
        /// Delimited arguments that it can be called with, as [`Called`] has them.
        arguments: &'static str,
    },
    /// A method of `Option` or `Ordering`.
    OfStd {
        /// Its name.
        name: Ident,
        /// The type.
        ty: TokenStream,
        /// Whether the type has it by reference; otherwise by value.
        by_reference: bool,
    },
    /// A method of ndarray's arrays, of vectors or of numbers, and of no trait of the user's.
    Method {
        /// Its name.
        name: Ident,
        /// How the type has it.
        found: Found,
        /// The element type of what it is called on.
        elem: Elem,
        /// The rank of what it is called on; 0 for numbers.
        rank: usize,
        /// Whether it is a method of arrays.
        array: bool,
        /// The sizes of what it is called on, where they are literals: it may be an array of static
        /// size.
        sizes: Vec<usize>,
        /// What it is called on, as far as Rust's method look-up goes, if that is certain.
        receiver: Option<Receiver>,
    },
}

/// How a type has a method.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Takes {
    /// By value.
    Value,
    /// By reference.
    Reference,
    /// By mutable reference.
    Mutable,
    /// On what it derefs to.
    Deref,
}

/// Whether vectors and slices have a method of arrays.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Vectors {
    /// Only ndarray's arrays.
    No,
    /// Both.
    Too,
    /// Only vectors, slices and arrays of static size.
    Only,
}

/// How rustc finds a method that was taken for one of ndarray's arrays, of vectors or of numbers.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Found {
    /// How ndarray's arrays, or numbers, have it.
    pub takes: Takes,
    /// Whether vectors have it.
    pub vectors: Vectors,
    /// Whether `ArrayRefN` has it on what it derefs to only.
    pub of_layout: bool,
}

/// Where a function is that a name was taken for.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Home {
    /// `ad::prelude`.
    Prelude,
    /// `ndarray`.
    Ndarray,
    /// `ndarray::linalg`.
    Linalg,
    /// `std::iter`.
    Iter,
    /// `std::mem`.
    Mem,
    /// `std::array`.
    StaticArray,
    /// `Option`.
    Option,
}

/// A function that a name was taken for, with a call that says of which types it is.
#[derive(Clone, Copy, Debug)]
pub struct Called {
    /// Where it is.
    pub home: Home,
    /// The arguments of the call as Rust: `$crate` is the path to `ad`, `x_` an array of one axis.
    pub arguments: &'static str,
    /// The type of the result, where the arguments do not say it.
    pub result: Option<&'static str>,
}

/// What has the elements of a receiver.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub enum Owner {
    /// A number, or something of ndarray or std that nothing says more of.
    Any,
    /// `ArrayN`.
    Array,
    /// `ArrayViewN`.
    View,
    /// `ArrayRefN`.
    Shared,
    /// `Vec`.
    Vector,
    /// A slice.
    Slice,
    /// `[F; N]`.
    Static,
}

/// A receiver: how many references to what.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub struct Receiver {
    /// References around it.
    pub refs: u8,
    /// What they refer to.
    pub owner: Owner,
}

impl Assumed {
    /// Whether the proof of the one is that of the other.
    #[must_use]
    pub fn same(&self, other: &Assumed) -> bool {
        match (self, other) {
            (Assumed::Path { path: a, .. }, Assumed::Path { path: b, .. })
            | (Assumed::OfNumber { path: a, .. }, Assumed::OfNumber { path: b, .. })
            | (Assumed::Macro { path: a, .. }, Assumed::Macro { path: b, .. }) => a.to_string() == b.to_string(),
            (
                Assumed::Method { name: a, elem: e, rank: m, array: x, sizes: s, receiver: p, .. },
                Assumed::Method { name: b, elem: f, rank: n, array: y, sizes: t, receiver: q, .. },
            ) => (a, e, m, x, s, p) == (b, f, n, y, t, q),
            (Assumed::OfStd { name: a, ty: x, .. }, Assumed::OfStd { name: b, ty: y, .. }) => {
                a == b && x.to_string() == y.to_string()
            }
            _ => false,
        }
    }
}

/// A name that was taken to be a constant of std.
#[derive(Clone, Debug)]
pub struct AssumedConst {
    /// As the user wrote it.
    pub path: TokenStream,
    /// Its type.
    pub ty: RealTy,
    /// Its value.
    pub value: f64,
}

/// One function to be written by the emitter. All terms are build-free.
#[derive(Debug)]
pub struct Routine {
    /// Its name.
    pub name: Ident,
    /// Its documentation, one line an entry.
    pub docs: Vec<String>,
    /// Parameters in order: the user's, then tangents or the cotangent.
    pub params: Vec<Param>,
    /// The result's type.
    pub result_ty: TokenStream,
    /// The result.
    pub result: OutputTree,
    /// What must hold.
    pub checks: Vec<Check>,
    /// Parameters that the second part of the result is written to, leaf by leaf, instead of being
    /// returned.
    pub destinations: Vec<Ident>,
    /// The exact terms: what the decisions of the user's function depend on, if that is known.
    /// Masks of the derivative are none of these decisions.
    pub exact: Option<HashSet<Term>>,
}

/// A function that returns a closure: `first` computes the value and what the closure keeps,
/// `second` is the closure, given that.
#[derive(Debug)]
pub struct Staged {
    /// Its name.
    pub name: Ident,
    /// Its documentation, one line an entry.
    pub docs: Vec<String>,
    /// Results: the value, then what is kept.
    pub first: Routine,
    /// Parameters: what is kept, then the closure's own.
    pub second: Routine,
}
