//! The data that the front end and the emitter exchange in addition to terms: signatures and source
//! locations as tokens, the function in core terms, and the routines to be generated.
//!
//! This module interprets neither `syn` nor terms.

mod check;
mod fallible;
mod known;
mod locations;
mod method;
mod tree;

use crate::sorted::{SortedMap, SortedSet};
use std::collections::HashSet;
use std::rc::Rc;

use proc_macro2::{Ident, TokenStream};

use crate::ir::{Elem, Graph, RealTy, Term};
use crate::mode::{Mode, Saving};

pub use check::{Check, Phase};
pub use fallible::{Fallible, FallibleKind};
pub use known::KnownType;
pub use locations::{SourceLocation, SourceLocations};
pub use method::Within;
pub use tree::{
    Declared, DefinedType, FieldLeaf, ListType, Output, OutputTree, ParamTree, RaggedArray, RaggedPart, Role, Tree,
    element_of,
};

/// The form in which a value is passed or returned in Rust.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Container {
    /// `f64`, `usize`, `bool`, ...
    Scalar,
    /// `&f64` and similar types.
    ScalarRef,
    /// `ArrayN<F>`, `ArrayViewN<F>`, `ArrayRefN<F>` by value or reference: any type that
    /// dereferences to `ArrayRefN` when borrowed.
    NdArray,
    /// `&[F]`, `Vec<F>`, `&Vec<F>`: any type that dereferences to a slice. Gradients and results
    /// are `Vec<F>`. `F` is a number, or an array of static size.
    Slice,
    /// `[F; N]`, `[[F; N]; M]` and references to them. They are never on the heap.
    Static,
}

impl Container {
    /// The container in which a result of this kind is returned. It is never a reference.
    #[must_use]
    pub fn owned(self) -> Self {
        if self == Container::ScalarRef { Container::Scalar } else { self }
    }

    /// The form in which a tangent or cotangent of this kind is passed. Static ones are by value.
    #[must_use]
    pub fn passing(self) -> Passing {
        match self {
            Container::Scalar | Container::ScalarRef => Passing::value(Owner::Any),
            Container::Static => Passing::value(Owner::Static),
            Container::NdArray => Passing::reference(Owner::Shared),
            Container::Slice => Passing::reference(Owner::Slice),
        }
    }

    /// How a leaf is passed where a value is taken apart: static ones are copied, others are views.
    #[must_use]
    pub fn taken(self) -> Passing {
        if self == Container::NdArray { Passing::value(Owner::View) } else { self.passing() }
    }

    /// How often a value is flattened to be a slice of numbers, by the number of sizes of its type.
    #[must_use]
    pub fn nested(self, lens: usize) -> usize {
        match self {
            Container::Static => lens.saturating_sub(1),
            Container::Slice => lens,
            _ => 0,
        }
    }

    /// Whether a value is never on the heap: a scalar or an array of static size.
    #[must_use]
    pub fn is_static(self) -> bool {
        matches!(self, Container::Scalar | Container::ScalarRef | Container::Static)
    }
}

/// The container of a Jacobian's block for a result and a parameter, each given with the sizes of
/// its static type. The result's indices come first. The block is static if both are, and an
/// ndarray otherwise.
#[must_use]
pub fn pair(result: (Container, &[TokenStream]), param: (Container, &[TokenStream])) -> (Container, Vec<TokenStream>) {
    if !result.0.is_static() || !param.0.is_static() {
        return (Container::NdArray, Vec::new());
    }
    let lens = [result.1, param.1].concat();
    (if lens.is_empty() { Container::Scalar } else { Container::Static }, lens)
}

/// The form of a parameter's type, as far as code that passes the argument on depends on it.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Passing {
    /// The number of references.
    pub references: usize,
    /// The referent.
    pub owner: Owner,
    /// Whether it contains the lifetime `'static`.
    pub is_static: bool,
}

impl Passing {
    /// A value of this type.
    #[must_use]
    pub fn value(owner: Owner) -> Self {
        Passing { references: 0, owner, is_static: false }
    }

    /// Whether a second use of an argument needs a copy.
    #[must_use]
    pub fn is_moved(self) -> bool {
        self.references == 0 && matches!(self.owner, Owner::Array | Owner::Vector)
    }

    /// A reference to this type.
    #[must_use]
    pub fn reference(owner: Owner) -> Self {
        Passing { references: 1, ..Passing::value(owner) }
    }
}

/// A number or array among the parameters of a routine: a declared parameter, or a part of one.
#[derive(Clone, Debug)]
pub struct Param {
    /// Its name in the body: the name of the declared parameter, unless it is only a part of it.
    pub name: Ident,
    /// Its name in messages: `p.1`.
    pub label: String,
    /// The form of its type: as the user wrote it, or that of the tangent or cotangent.
    pub passing: Passing,
    /// The container of the type.
    pub container: Container,
    /// Element type of the leaf.
    pub elem: Elem,
    /// Rank of the leaf.
    pub rank: u8,
    /// The sizes in the type of a `Static`, the outermost first. Empty for other containers.
    pub lens: Vec<TokenStream>,
    /// Its index among the graph's inputs. `None` if no term refers to it.
    pub input: Option<u32>,
    /// The role of the parameter.
    pub role: Role,
}

impl Param {
    /// Whether derivatives may be taken with respect to it.
    #[must_use]
    pub fn is_active(&self) -> bool {
        self.elem.is_real() && self.role == Role::Data
    }
}

/// A scalar or array that is known when the function is compiled, but not when the macro runs: a
/// const parameter, or a constant outside of the function. It is an input of the graph that is not
/// a parameter. Its path is the expression whose value rustc knows.
#[derive(Clone, Debug)]
pub struct Constant {
    /// Its index among the graph's inputs.
    pub input: u32,
    /// The path, or an expression of such paths.
    pub path: TokenStream,
    /// Its type, which the generated code states. For an array, the type of its elements.
    pub elem: Elem,
    /// The sizes of an array, the outermost first. They are constants, too.
    pub lens: Vec<TokenStream>,
}

/// An annotated function after the front end.
#[derive(Debug)]
pub struct Program {
    /// All terms.
    pub graph: Graph,
    /// The function's name.
    pub name: Ident,
    /// The beginning of the names of its derivatives: its name, and the option `suffix`.
    pub stem: Ident,
    /// Visibility as written.
    pub vis: TokenStream,
    /// `#[cfg(..)]` attributes as written.
    pub cfgs: TokenStream,
    /// Generic parameters as written, with their angle brackets and bounds (lifetimes, `T: Real`).
    /// Empty if there are none.
    pub generics: TokenStream,
    /// The where clause as written.
    pub where_clause: TokenStream,
    /// `::<T, N>` if there are type or const parameters.
    pub turbofish: TokenStream,
    /// The `impl` block that contains the function. The generic parameters above are those of the
    /// block and its own.
    pub within: Option<Within>,
    /// The names of type and const parameters, which the type of a returned closure may mention.
    pub captured: Vec<Ident>,
    /// Parameters as declared, in order.
    pub declared: Vec<Declared>,
    /// Their numbers and arrays, in order.
    pub params: Vec<Param>,
    /// Constants that the function names.
    pub constants: Vec<Constant>,
    /// The indices of the active parameters in `declared`, ascending.
    pub wrt: Vec<usize>,
    /// The indices in `params` of the real numbers and arrays of these, ascending.
    pub active: Vec<usize>,
    /// The indices in `params` of the parameters that belong to one example of many, ascending.
    pub examples: Vec<usize>,
    /// If `per_example` differentiates this function: the input that is the index of the example.
    /// The result is the result for that example. The parameters of `examples` have an additional
    /// first axis.
    pub example: Option<u32>,
    /// Whether a derivative that writes to destinations takes the memory that it works in.
    pub workspace: bool,
    /// The algorithm that differentiates it.
    pub mode: Mode,
    /// The values that derivatives of loops save.
    pub saving: Saving,
    /// The result's type as written; for an `Option` or `Result`, the type of its value.
    pub result_ty: TokenStream,
    /// The result.
    pub result: OutputTree,
    /// Whether the result is a pair whose first part alone is differentiated.
    pub aux: bool,
    /// The `Option` or `Result` around the result, if there is one.
    pub fallible: Option<Fallible>,
    /// The checks.
    pub checks: Vec<Check>,
    /// The functions that calls in the terms name, by their numbers. The list of the annotated
    /// function also has the functions that these functions call.
    pub functions: Vec<Program>,
    /// The generic arguments of each of these.
    pub turbofishes: Rc<[TokenStream]>,
    /// The functions with rules of their own that calls in the terms name, by their numbers.
    pub rules: Rc<[RuleFunction]>,
    /// The names of terms in the source, for readable output.
    pub hints: SortedMap<Term, String>,
    /// Source locations.
    pub places: SourceLocations,
    /// The path of the crate `ad`: `::ad`, unless `crate = "..."` sets another one.
    pub krate: TokenStream,
    /// The type parameter with `T: Real`, if there is one: the name of
    /// [`crate::ir::RealTy::Param`].
    pub real_param: Option<Ident>,
    /// Assumptions about names. The generated code asserts them.
    pub assumed: Vec<Assumed>,
    /// Statements at the start of each derivative: each called function is the one that was read.
    pub identities: TokenStream,
    /// The paths that the body imports with `use`. A trait among them may have methods.
    pub imports: Vec<TokenStream>,
    /// Names in patterns that are assumed to be bindings and not constants. The generated code
    /// asserts this.
    pub bound: Vec<Ident>,
    /// All names that the function binds in patterns. No constant in scope has one of these names.
    pub locals: Rc<SortedSet<String>>,
    /// Names that are assumed to be constants of `std::f64::consts`. The generated code asserts
    /// this.
    pub consts: Vec<AssumedConst>,
}

/// A function with a rule of its own, as a call names it. Its body is not read.
#[derive(Clone, Debug)]
pub struct RuleFunction {
    /// The number of its definition. Hidden functions beside the definition call it.
    pub id: u128,
    /// Its name, for messages.
    pub name: String,
    /// The type of real numbers at the calls.
    pub real: Elem,
    /// The element types and ranks of the numbers and arrays among its parameters.
    pub params: Vec<(Elem, u8)>,
    /// The element types and ranks of the numbers and arrays of its result.
    pub results: Vec<(Elem, u8)>,
    /// Whether there is a rule for reverse mode.
    pub vjp: bool,
    /// Whether there is a rule for forward mode.
    pub jvp: bool,
}

impl Program {
    /// The part of the result that is differentiated.
    #[must_use]
    pub fn differentiated(&self) -> &OutputTree {
        match &self.result {
            OutputTree::Tuple(parts) if self.aux => parts.first().unwrap_or(&self.result),
            whole => whole,
        }
    }
}

/// An assumption about the meaning of a name. Only rustc can resolve the name.
#[derive(Clone, Debug)]
pub enum Assumed {
    /// A function of the DSL, of ndarray or of std.
    Function {
        /// The path as the user wrote it, without generic arguments.
        path: TokenStream,
        /// Its last segment.
        name: Ident,
        /// The assumed function.
        called: AssumedFunction,
    },
    /// A type of ndarray or std.
    Type {
        /// The path as the user wrote it, without generic arguments.
        path: TokenStream,
        /// The assumed type.
        ty: KnownType,
    },
    /// `Option::None`.
    NoneValue {
        /// The path as the user wrote it.
        path: TokenStream,
    },
    /// A function of a number type, such as `f64::exp`.
    OfNumber {
        /// The path as the user wrote it.
        path: TokenStream,
        /// The type.
        elem: Elem,
        /// The function.
        name: Ident,
        /// Whether it is the conversion `From::from`. There are several of these for one type.
        conversion: bool,
    },
    /// A macro of ndarray or std.
    Macro {
        /// The path as the user wrote it.
        path: TokenStream,
        /// Its last segment.
        name: Ident,
        /// Delimited arguments for a valid call, in the form of [`AssumedFunction`].
        arguments: &'static str,
    },
    /// A method of `Option` or `Ordering`.
    OfStd {
        /// Its name.
        name: Ident,
        /// The type.
        ty: TokenStream,
        /// Whether the type has it by reference. Otherwise it has it by value.
        by_reference: bool,
    },
    /// A method of ndarray's arrays, of vectors or of numbers, and not of a trait of the user's.
    Method {
        /// Its name.
        name: Ident,
        /// How rustc finds the method.
        found: MethodLookup,
        /// The element type of the receiver.
        elem: Elem,
        /// The rank of the receiver. It is 0 for numbers.
        rank: usize,
        /// Whether it is a method of arrays.
        array: bool,
        /// The sizes of the receiver, if they are literals: it may be an array of static size.
        sizes: Vec<usize>,
        /// The type of the receiver as method look-up sees it, if it is certain.
        receiver: Option<Receiver>,
    },
}

/// How a method takes its receiver.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Takes {
    /// The method takes `self`.
    Value,
    /// The method takes `&self`.
    Reference,
    /// The method takes `&mut self`.
    Mutable,
    /// The method is one of the type to which the receiver dereferences, by value or by reference.
    Deref,
}

/// Whether vectors and slices have a method of arrays.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Vectors {
    /// Only ndarray's arrays have it.
    No,
    /// Both have it.
    Too,
    /// Only vectors, slices and arrays of static size have it.
    Only,
    /// Only `VecDeque` has it.
    Queues,
}

/// How rustc finds a method that is assumed to be one of ndarray's arrays, of vectors or of
/// numbers.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct MethodLookup {
    /// How ndarray's arrays, or numbers, take the receiver.
    pub takes: Takes,
    /// Whether vectors have the method.
    pub vectors: Vectors,
    /// Whether `ArrayRefN` has it only through the type to which it dereferences.
    pub of_layout: bool,
}

/// The module or type in which an assumed function is.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Home {
    /// `ad::prelude`.
    Prelude,
    /// `ndarray`.
    Ndarray,
    /// `ndarray::linalg`.
    NdarrayLinalg,
    /// `ad::linalg`.
    Linalg,
    /// `ad::fft`.
    Fft,
    /// `std::iter`.
    Iter,
    /// `std::mem`.
    Mem,
    /// `std::array`.
    StaticArray,
    /// `Option`.
    Option,
    /// `Result`.
    Result,
}

/// An assumed function, with a call that determines its types.
#[derive(Clone, Copy, Debug)]
pub struct AssumedFunction {
    /// The module or type that has it.
    pub home: Home,
    /// The arguments of the call as Rust code: `$crate` is the path of `ad`, and `x_` is an array
    /// of one axis.
    pub arguments: &'static str,
    /// The type of the result, if the arguments do not determine it.
    pub result: Option<&'static str>,
}

/// The container type of a receiver.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub enum Owner {
    /// A number, or an unknown type of ndarray or std.
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

/// The type of a receiver: a number of references to a container.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub struct Receiver {
    /// The number of references.
    pub refs: u8,
    /// The container.
    pub owner: Owner,
}

impl Assumed {
    /// Whether both assumptions have the same proof.
    #[must_use]
    pub fn same(&self, other: &Assumed) -> bool {
        match (self, other) {
            (Assumed::Function { path: a, .. }, Assumed::Function { path: b, .. })
            | (Assumed::Type { path: a, .. }, Assumed::Type { path: b, .. })
            | (Assumed::NoneValue { path: a }, Assumed::NoneValue { path: b })
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

/// A name that is assumed to be a constant of std.
#[derive(Clone, Debug)]
pub struct AssumedConst {
    /// The path as the user wrote it.
    pub path: TokenStream,
    /// Its type.
    pub ty: RealTy,
    /// Its value.
    pub value: f64,
}

/// A function that the emitter generates. Its terms contain no builds.
#[derive(Debug)]
pub struct Routine {
    /// Its name.
    pub name: Ident,
    /// Its documentation, one line per entry.
    pub docs: Vec<String>,
    /// The parameters in order: the user's, then tangents or the cotangent.
    pub declared: Vec<Declared>,
    /// Their numbers and arrays, in order.
    pub params: Vec<Param>,
    /// The result's type.
    pub result_ty: TokenStream,
    /// The result.
    pub result: OutputTree,
    /// The `Option` or `Result` around the result, if there is one.
    pub fallible: Option<Fallible>,
    /// The checks.
    pub checks: Vec<Check>,
    /// Parameters that receive the second part of the result, leaf by leaf, instead of its being
    /// returned.
    pub destinations: Vec<Ident>,
    /// Whether the caller passes the memory that it works in, as the last parameter.
    pub workspace: bool,
    /// The exact terms: those on which decisions of the user's function depend. `None` if they are
    /// not known. A mask of the derivative is not such a decision.
    pub exact: Option<HashSet<Term>>,
    /// The inputs to which the results that are arrays have been added, in their order. These
    /// results are left in the memory of the inputs, which is the caller's. The other results are
    /// numbers, which are returned.
    pub onto: Vec<u32>,
    /// The values and checks of the user's function, for documents and pages. Empty if the routine
    /// does not compute the values.
    pub of_function: Vec<Term>,
}

impl Routine {
    /// The results that are numbers, of a routine that adds to arrays of its caller.
    #[must_use]
    pub fn numbers(&self, g: &Graph) -> OutputTree {
        let leaves = self.result.leaves().into_iter().filter(|out| g.rank(out.term) == 0);
        OutputTree::of_several(leaves.map(|out| OutputTree::Leaf(out.clone())).collect())
    }

    /// The results, and the conditions and shown values of the checks.
    #[must_use]
    pub fn roots(&self) -> Vec<Term> {
        let checks = self.checks.iter().flat_map(|c| std::iter::once(c.ok).chain(c.shown.iter().map(|s| s.1)));
        self.result.terms().into_iter().chain(checks).collect()
    }
}

/// A function that returns a closure. `first` computes the value and the data that the closure
/// keeps. `second` is the closure, with that data as parameters.
#[derive(Debug)]
pub struct Staged {
    /// Its name.
    pub name: Ident,
    /// Its documentation, one line per entry.
    pub docs: Vec<String>,
    /// Its results are the value and the kept data.
    pub first: Routine,
    /// Its parameters are the kept data, then those of the closure.
    pub second: Routine,
}

/// A function that returns a Jacobian in compressed sparse rows.
#[derive(Debug)]
pub struct Compressed {
    /// Its name.
    pub name: Ident,
    /// The function's value, and for each row ranges of columns: two vectors for each range.
    pub pattern: Routine,
    /// The Jacobian, applied to a tangent.
    pub by_columns: Routine,
    /// The transposed Jacobian, applied to a cotangent.
    pub by_rows: Routine,
}
