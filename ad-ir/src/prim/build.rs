//! The interfaces through which primitives use the graph: one reads types, and one creates terms.
//! `ir::Graph` implements both. A mode may implement [`Build`], too, with sums that use more
//! knowledge about the summands (`modes::one_hot`).
//!
//! They are traits, so that the primitives do not depend on the core language, which is built from
//! them.

use super::{Binary, Cmp, IntOp, Prim, Unary};
use crate::term::{Contraction, Elem, Term, Type};

/// The reason why a form has no type. The front end checks before it creates terms, so a user never
/// sees one: it is an internal error.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct TypeError(pub String);

impl std::fmt::Display for TypeError {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(&self.0)
    }
}

impl std::error::Error for TypeError {}

/// A type, or the reason why there is none.
pub type Typed = Result<Type, TypeError>;

/// An error with this reason.
///
/// # Errors
///
/// Always.
pub fn bad<T>(message: impl Into<String>) -> Result<T, TypeError> {
    Err(TypeError(message.into()))
}

/// Returns an error with the given reason, unless the condition holds.
macro_rules! ensure {
    ($cond:expr, $($message:tt)*) => {
        if !$cond {
            return $crate::prim::build::bad(format!($($message)*));
        }
    };
}
pub(crate) use ensure;

/// The types of terms.
pub trait Types {
    /// The type of a term.
    fn ty(&self, t: Term) -> &Type;

    /// The kind of variable on which a term depends, if any: indices, or steps of a loop.
    fn depends_on(&self, t: Term) -> Option<&'static str>;

    /// The value of an integer literal.
    fn int_value(&self, t: Term) -> Option<i128>;

    /// The literal n, if it exists already.
    fn find_usize(&self, n: usize) -> Option<Term>;

    /// The element type and the shape of an array.
    ///
    /// # Errors
    ///
    /// If it is a tuple.
    fn array(&self, t: Term) -> Result<(Elem, &[Term]), TypeError> {
        match self.ty(t) {
            Type::Array(elem, shape) => Ok((*elem, shape)),
            Type::Tuple(_) => bad("an array is expected, and there is a tuple"),
        }
    }

    /// The shape of an array.
    fn shape(&self, t: Term) -> &[Term] {
        self.ty(t).as_array().map_or(&[], |(_, shape)| shape)
    }

    /// Checks that a term is a size: a `usize` scalar without bound variables.
    ///
    /// # Errors
    ///
    /// If the term is not a size.
    fn check_size(&self, t: Term) -> Result<(), TypeError> {
        ensure!(*self.ty(t) == Type::scalar(Elem::USIZE), "a size is a usize scalar, not {:?}", self.ty(t));
        match self.depends_on(t) {
            Some(what) => bad(format!("a size depends on {what}")),
            None => Ok(()),
        }
    }
}

/// Creates terms from primitives, and folds trivial cases.
pub trait Build: Types {
    /// A primitive applied to its arguments, without folding.
    fn raw(&mut self, prim: Prim, args: &[Term]) -> Term;

    /// A primitive applied to its arguments. Identities are removed, and constants are folded.
    fn make(&mut self, prim: &Prim, args: &[Term]) -> Term;

    /// `build1 size (\\i -> prim(args))` as a loop over the rows of those arguments that vary.
    /// `lifted` has these arguments for all i.
    fn row_by_row(&mut self, prim: &Prim, args: &[Term], lifted: &[Term], varies: &[bool], size: Term) -> Term;

    /// A new variable of an index.
    fn variable(&mut self) -> Term;

    /// A `usize` constant.
    fn lit_usize(&mut self, n: usize) -> Term;

    /// The real constant x with the element type and shape of `t`.
    fn lit_like(&mut self, t: Term, x: f64) -> Term;

    /// A real function of one argument, elementwise.
    fn unary(&mut self, f: Unary, x: Term) -> Term {
        self.raw(Prim::Unary(f), &[x])
    }

    /// A real function of two arguments of one shape, elementwise.
    fn binary(&mut self, f: Binary, a: Term, b: Term) -> Term {
        self.raw(Prim::Binary(f), &[a, b])
    }

    /// `a + b`, real.
    fn add(&mut self, a: Term, b: Term) -> Term {
        self.binary(Binary::Add, a, b)
    }

    /// `a - b`, real.
    fn sub(&mut self, a: Term, b: Term) -> Term {
        self.binary(Binary::Sub, a, b)
    }

    /// `a * b`, real.
    fn mul(&mut self, a: Term, b: Term) -> Term {
        self.binary(Binary::Mul, a, b)
    }

    /// `a / b`, real.
    fn div(&mut self, a: Term, b: Term) -> Term {
        self.binary(Binary::Div, a, b)
    }

    /// `-x`, real.
    fn neg(&mut self, x: Term) -> Term {
        self.unary(Unary::Neg, x)
    }

    /// `1 / x`.
    fn recip(&mut self, x: Term) -> Term {
        self.unary(Unary::Recip, x)
    }

    /// A comparison, elementwise.
    fn compare(&mut self, op: Cmp, a: Term, b: Term) -> Term {
        self.make(&Prim::Compare(op), &[a, b])
    }

    /// An operation on integers, elementwise.
    fn int(&mut self, op: IntOp, a: Term, b: Term) -> Term {
        self.make(&Prim::Int(op), &[a, b])
    }

    /// `a && b`, elementwise.
    fn and(&mut self, a: Term, b: Term) -> Term {
        self.make(&Prim::And, &[a, b])
    }

    /// `a || b`, elementwise.
    fn or(&mut self, a: Term, b: Term) -> Term {
        self.make(&Prim::Or, &[a, b])
    }

    /// Elementwise selection by a mask.
    fn select(&mut self, mask: Term, a: Term, b: Term) -> Term {
        self.make(&Prim::Select, &[mask, a, b])
    }

    /// Adds axes of these sizes at these positions of the result.
    fn replicate_axes(&mut self, t: Term, axes: &[u8], sizes: &[Term]) -> Term {
        let args: Vec<Term> = std::iter::once(t).chain(sizes.iter().copied()).collect();
        self.make(&Prim::Replicate(axes.into()), &args)
    }

    /// Axis k of the result is axis `perm[k]` of t.
    fn transpose(&mut self, t: Term, perm: &[u8]) -> Term {
        self.make(&Prim::Transpose(perm.into()), &[t])
    }

    /// A sum of products by labelled axes.
    fn contract(&mut self, a: Term, b: Term, spec: Contraction) -> Term {
        self.make(&Prim::Contract(spec), &[a, b])
    }
}
