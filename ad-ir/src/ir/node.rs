//! The forms of the core language. Binding and control forms are variants here and known to every
//! pass; everything else is a [`Prim`] and described by its own table. This file alone knows where
//! children and binders are.

use crate::prim::Prim;
use crate::term::{Lit, Term, Type};

/// A bound index variable, always a `usize` scalar. Numbers below 2^31 are canonical (1 + the
/// highest binder inside the scope, so that alpha-equal terms are one handle); the others are fresh
/// ones of opened scopes.
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Debug)]
pub struct Var(pub(crate) u32);

impl Var {
    pub(crate) const FRESH: u32 = 1 << 31;

    /// Whether the variable belongs to an opened scope.
    #[must_use]
    pub fn is_fresh(self) -> bool {
        self.0 >= Self::FRESH
    }
}

/// A place in the user's source: an index into the front end's table, and whether the term there is
/// of the function or of its derivative. 0 means no particular place.
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Debug, Default)]
pub struct Loc(pub u32);

impl Loc {
    /// The bit that derivatives of the term at a place have in its number.
    const DERIVATIVE: u32 = 1 << 31;

    /// The place of a derivative of the term here.
    #[must_use]
    pub fn of_derivative(self) -> Loc {
        Loc(self.0 | Self::DERIVATIVE)
    }

    /// Whether it is the place of a derivative.
    #[must_use]
    pub fn is_of_derivative(self) -> bool {
        self.0 & Self::DERIVATIVE != 0
    }

    /// The index in the front end's table.
    #[must_use]
    pub fn index(self) -> usize {
        (self.0 & !Self::DERIVATIVE) as usize
    }
}

/// Parameters from this number on belong to no body. They are the emitter's leaves, which represent
/// the values of opened loops.
pub const LEAF: u32 = 1 << 30;

/// A closed function body: its parameters are [`Node::Param`], canonical by position and type, and
/// nothing else is free in it.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub struct Body {
    /// Types of the parameters.
    pub params: Box<[Type]>,
    /// The results.
    pub results: Box<[Term]>,
}

/// The one loop form: `count` steps, forwards or in reverse.
///
/// Parameters of the body, in order: the carried values, the captures (the same at each step), one
/// row of each of `xs`. Results of the body, in order: the new carried values, then one row for
/// each array produced. The term is a tuple: the last carried values, then the arrays produced (row
/// k from the step with index k, in either direction).
///
/// With `stop`, a loop may end before `count` steps: before each step it ends if the carried
/// boolean of that number holds. Rows of steps that did not run are unspecified. If no array is
/// consumed or produced, `count` may be larger than any possible number of steps (`usize::MAX`).
/// Such a loop may run for ever, so it is evaluated only where the program evaluates it.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub struct Scan {
    /// Number of steps; the outer size of every array in `xs`.
    pub count: Term,
    /// Whether step `count - 1` comes first.
    pub reverse: bool,
    /// The carried boolean that ends the loop, by its number.
    pub stop: Option<usize>,
    /// Carried values before the first step.
    pub init: Box<[Term]>,
    /// Values that do not change.
    pub captures: Box<[Term]>,
    /// Arrays that are consumed: each step reads one outer row.
    pub xs: Box<[Term]>,
    /// One step.
    pub body: Body,
}

/// How a scatter changes the elements that it writes to.
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Debug)]
pub enum Put {
    /// It adds to them. Several elements may be added at one index.
    Add,
    /// It replaces them. The code that makes the term guarantees that no two elements have the same
    /// index in range, and the derivative relies on that. If two have the same index, the last one
    /// in row-major order of the variables remains.
    Set,
}

/// One term of the core language.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub enum Node {
    /// An input of the function, by number. Its type is in the graph's table.
    Input(u32),
    /// The size of an axis of an input; `usize`.
    Size(u32, u8),
    /// A bound index variable; `usize`.
    Var(Var),
    /// A parameter of the innermost closed body.
    Param(u32, Type),
    /// A scalar constant.
    Lit(Lit),
    /// A tuple.
    Tuple(Box<[Term]>),
    /// A component of a tuple.
    Proj(Term, u32),
    /// `build1 size (\var. body)`: an array with one more outer axis (BOT Fig. 7).
    Build {
        /// The outer size.
        size: Term,
        /// The index.
        var: Var,
        /// An element; its shape does not mention `var`.
        body: Term,
    },
    /// Lazy conditional: only the taken arm is computed. The condition is a scalar.
    Cond {
        /// A boolean scalar.
        cond: Term,
        /// The value where the condition holds.
        then: Term,
        /// The value otherwise; of the same type.
        other: Term,
    },
    /// The loop form.
    Scan(Box<Scan>),
    /// `gather sizes src (\vars. index)`: element `vars` is `src[index]`; with no vars it is BOT's
    /// `index`. An index may be shorter than the rank of `src`: trailing axes stay whole. Out of
    /// range the value is unspecified (and no error: see `check`).
    Gather {
        /// The array read.
        src: Term,
        /// One size for each variable: the leading axes of the result.
        sizes: Box<[Term]>,
        /// The variables bound in `index`.
        vars: Box<[Var]>,
        /// A scalar `usize` for each leading axis of `src`.
        index: Box<[Term]>,
    },
    /// `dst` with `src[vars]` added (or put) at `index`, for all `vars` over the leading axes of
    /// `src`. Trailing axes are added as rows. An element out of range is dropped. The transpose is
    /// a gather, whose value out of range is unspecified. So an element that may be dropped is a
    /// masked zero, or a `check` has failed. With [`Put::Set`] it is an update, `dst[index] =
    /// src[vars]`, of elements of any type.
    Scatter {
        /// Whether elements are added or replaced.
        put: Put,
        /// The array added to; the result has its shape.
        dst: Term,
        /// The array whose elements (or rows) are added.
        src: Term,
        /// The variables bound in `index`, one for each leading axis of `src`.
        vars: Box<[Var]>,
        /// A scalar `usize` for each leading axis of `dst`.
        index: Box<[Term]>,
    },
    /// A primitive applied to its arguments.
    Prim(Prim, Box<[Term]>),
}

impl Node {
    /// Calls `f` on every child, in a fixed order. The results of a closed body are not children:
    /// bodies are their own scope.
    pub fn for_each_child(&self, mut f: impl FnMut(Term)) {
        match self {
            Node::Input(_) | Node::Size(..) | Node::Var(_) | Node::Param(..) | Node::Lit(_) => {}
            Node::Tuple(parts) => parts.iter().copied().for_each(f),
            Node::Proj(tuple, _) => f(*tuple),
            Node::Build { size, var: _, body } => {
                f(*size);
                f(*body);
            }
            Node::Cond { cond, then, other } => {
                f(*cond);
                f(*then);
                f(*other);
            }
            Node::Scan(scan) => {
                f(scan.count);
                scan.init.iter().copied().for_each(&mut f);
                scan.captures.iter().copied().for_each(&mut f);
                scan.xs.iter().copied().for_each(f);
            }
            Node::Prim(_, args) => args.iter().copied().for_each(f),
            Node::Gather { src, sizes, vars: _, index } => {
                f(*src);
                sizes.iter().copied().for_each(&mut f);
                index.iter().copied().for_each(f);
            }
            Node::Scatter { put: _, dst, src, vars: _, index } => {
                f(*dst);
                f(*src);
                index.iter().copied().for_each(f);
            }
        }
    }

    /// The same form with every child replaced by `f` of it. Binders do not change.
    #[must_use]
    pub fn map_children(&self, mut f: impl FnMut(Term) -> Term) -> Node {
        let mut all = |ts: &[Term]| -> Box<[Term]> { ts.iter().map(|&t| f(t)).collect() };
        match self {
            Node::Input(_) | Node::Size(..) | Node::Var(_) | Node::Param(..) | Node::Lit(_) => self.clone(),
            Node::Tuple(parts) => Node::Tuple(all(parts)),
            Node::Proj(tuple, k) => Node::Proj(f(*tuple), *k),
            Node::Build { size, var, body } => Node::Build { size: f(*size), var: *var, body: f(*body) },
            Node::Cond { cond, then, other } => Node::Cond { cond: f(*cond), then: f(*then), other: f(*other) },
            Node::Scan(scan) => Node::Scan(Box::new(Scan {
                init: all(&scan.init),
                captures: all(&scan.captures),
                xs: all(&scan.xs),
                count: f(scan.count),
                reverse: scan.reverse,
                stop: scan.stop,
                body: scan.body.clone(),
            })),
            Node::Prim(prim, args) => Node::Prim(prim.clone(), all(args)),
            Node::Gather { src, sizes, vars, index } => {
                Node::Gather { sizes: all(sizes), index: all(index), src: f(*src), vars: vars.clone() }
            }
            Node::Scatter { put, dst, src, vars, index } => {
                Node::Scatter { put: *put, index: all(index), dst: f(*dst), src: f(*src), vars: vars.clone() }
            }
        }
    }

    /// The variables that this form binds.
    #[must_use]
    pub fn binders(&self) -> &[Var] {
        match self {
            Node::Build { var, .. } => std::slice::from_ref(var),
            Node::Gather { vars, .. } | Node::Scatter { vars, .. } => vars,
            _ => &[],
        }
    }

    /// Calls `f` on every child, as [`Node::for_each_child`] does, and says whether the child is in
    /// the scope of this form's binders. In a gather or scatter only the index is in the scope;
    /// sizes and arrays are outside.
    pub fn for_each_scoped_child(&self, mut f: impl FnMut(Term, bool)) {
        match self {
            Node::Build { size, var: _, body } => {
                f(*size, false);
                f(*body, true);
            }
            Node::Gather { src, sizes, vars: _, index } => {
                f(*src, false);
                sizes.iter().for_each(|&t| f(t, false));
                index.iter().for_each(|&t| f(t, true));
            }
            Node::Scatter { put: _, dst, src, vars: _, index } => {
                f(*dst, false);
                f(*src, false);
                index.iter().for_each(|&t| f(t, true));
            }
            _ => self.for_each_child(|t| f(t, false)),
        }
    }
}
