//! The structural primitives: those whose result at an index is not computed from the arguments'
//! elements at that index alone. A family is a file. It has all that the stages ask about its
//! primitives: typing, batching, the derivative as a linear map with its transpose, the element
//! rule, the cost, storage, and examples.
//!
//! Three things are deliberately elsewhere. The value is in the reference interpreter
//! (`ad-oracle`), which checks all of this and so must share no code with it. Laws are in
//! `passes::simplify`, since they are about two primitives. How the emitter writes a guarded or a
//! divided index is in `emit::kernel` (`Slice`, `Pad`, `Reshape`, `Recast`, `Iota`), since that
//! depends on the loops around it. A primitive that is computed as a whole names its kernel here
//! ([`Structural::kernel`]).
//!
//! Must never depend on a pass, a mode or the emitter: those implement the interfaces of
//! `prim::build`.

mod contract;
mod cumsum;
mod iota;
mod layout;
mod part;
mod reduce;
mod replicate;
mod stack;

use super::Prim;
use super::build::{Build, Typed, Types};
use crate::term::Term;

/// A primitive of a build's body, to be applied to all values of the index at once.
pub struct Batch<'a> {
    /// The size of the build: the first axis of what varies.
    pub size: Term,
    /// The arguments as they stand in the body.
    pub args: &'a [Term],
    /// Those that are data, for all values of the index.
    pub lifted: &'a [Term],
    /// Whether each of the arguments depends on the index.
    pub varies: &'a [bool],
}

impl Batch<'_> {
    /// Sizes and starts: the same for all values of the index.
    #[must_use]
    pub fn rest(&self) -> &[Term] {
        &self.args[self.lifted.len()..]
    }
}

/// A primitive in its first argument, the others being given.
#[derive(Clone, Debug)]
pub struct Applied {
    /// The primitive.
    pub prim: Prim,
    /// Its further arguments.
    pub rest: Vec<Term>,
}

impl Applied {
    /// The result at an argument.
    pub fn at(&self, g: &mut dyn Build, x: Term) -> Term {
        let args: Vec<Term> = std::iter::once(x).chain(self.rest.iter().copied()).collect();
        g.make(&self.prim, &args)
    }
}

/// The derivative of a primitive by one of its arguments: a linear map and its transpose, each a
/// primitive as well.
#[derive(Clone, Debug)]
pub struct Linear {
    /// From the argument's tangent to the result's.
    pub forward: Applied,
    /// From the result's cotangent to the argument's.
    pub backward: Applied,
    /// Whether the argument may have elements that no element of the result reads: its cotangent is
    /// zero there.
    pub unread: bool,
}

/// An example: the primitive with its data arguments, sizes and starts, and the result worked out
/// by hand.
#[derive(Clone, Debug)]
pub struct Example {
    /// The primitive.
    pub prim: Prim,
    /// Its arguments.
    pub args: Vec<Sample>,
    /// The result.
    pub result: Sample,
}

/// A value in an example.
#[derive(Clone, Debug)]
pub enum Sample {
    /// Reals of this shape.
    Reals(&'static [usize], &'static [f64]),
    /// Booleans of this shape.
    Bools(&'static [usize], &'static [bool]),
    /// A `usize` array of this shape.
    Indices(&'static [usize], &'static [usize]),
    /// A size or a start.
    Size(usize),
}

/// What a family says of a primitive.
pub trait Structural {
    /// The name in printed terms.
    fn name(&self) -> String;

    /// How many leading arguments are data; the rest are sizes and starts (closed or index-free
    /// `usize` scalars).
    fn data_args(&self, args: usize) -> usize {
        args
    }

    /// The type of the result.
    ///
    /// # Errors
    /// If the arguments do not fit.
    fn infer(&self, g: &dyn Types, args: &[Term]) -> Typed;

    /// `build1 size (\i -> self(args))`, given the arguments for all i (batching).
    fn batch(&self, g: &mut dyn Build, b: &Batch<'_>) -> Term;

    /// The derivative by data argument k, if the primitive is linear in it. `None`: the derivative
    /// is zero, or is no linear map of this form.
    fn linear(&self, _g: &dyn Types, _args: &[Term], _k: usize) -> Option<Linear> {
        None
    }

    /// The element rule, if the element at `ix` is that of the first argument at `[ix[a] for a in
    /// axes]`: these axes.
    fn selects(&self, _rank: usize) -> Option<Vec<usize>> {
        None
    }

    /// The elements of a small result as scalars, of which those of the first argument are `x`, for
    /// what is computed as a whole otherwise. In the order in which the kernel computes, as a
    /// decision may depend on it.
    fn scalars(&self, _g: &mut dyn Build, _x: &[Term], _shape: &[usize]) -> Option<Vec<Term>> {
        None
    }

    /// The work of one element beside that of its arguments; `None`: it is computed as a whole and
    /// is in memory.
    fn cost(&self) -> Option<u32>;

    /// The kernel of `ad-runtime` that computes it as a whole, from arrays in memory, row by row
    /// along the last axis.
    fn kernel(&self) -> Option<&'static str> {
        None
    }

    /// Examples, at least one of each primitive of the family. Implementations are `#[inline]`:
    /// then only the tests that call them have code of them.
    fn examples() -> Vec<Example>
    where
        Self: Sized;
}

/// The list of the families: the dispatch, and all examples.
macro_rules! families {
    ($($pattern:pat => $($family:ident)::+ $(($($field:expr),*))?;)*) => {
        impl Prim {
            /// The primitive as one of its family, if it is structural.
            pub(crate) fn structural<R>(&self, f: impl FnOnce(&dyn Structural) -> R) -> Option<R> {
                Some(match self {
                    $($pattern => f(&$($family)::+ $(($($field),*))?),)*
                    Prim::Unary(_)
                    | Prim::Binary(_)
                    | Prim::PowI
                    | Prim::Compare(_)
                    | Prim::Int(_)
                    | Prim::IntNeg
                    | Prim::TotalOrder
                    | Prim::Not
                    | Prim::And
                    | Prim::Or
                    | Prim::Select
                    | Prim::Cast(_)
                    | Prim::StopGradient
                    | Prim::Fused
                    | Prim::RelaxedExact
                    | Prim::UnknownOrder => return None,
                })
            }
        }

        /// The examples of every family. Tests walk them: value, derivatives, batching, code.
        #[must_use]
        #[inline]
        pub fn examples() -> Vec<Example> {
            [$($($family)::+::examples()),*].concat()
        }
    };
}

families! {
    Prim::Replicate(axes) => replicate::Replicate(axes);
    Prim::Sum(axes) => reduce::Sum(axes);
    Prim::Reduce(op, rank) => reduce::Reduction(*op, *rank);
    Prim::Transpose(perm) => layout::Transpose(perm);
    Prim::Reshape => layout::Reshape;
    Prim::Recast => layout::Recast;
    Prim::Slice(steps) => part::Slice(steps);
    Prim::Pad(steps) => part::Pad(steps);
    Prim::Iota => iota::Iota;
    Prim::Stack => stack::Stack;
    Prim::Contract(spec) => contract::Contract(spec);
    Prim::CumSum(back) => cumsum::CumSum(*back);
}

/// Axes behind a new first one.
fn behind_first(axes: &[u8]) -> Vec<u8> {
    axes.iter().map(|a| a + 1).collect()
}

/// No type unless there are so many arguments.
fn arity(name: &str, args: &[Term], n: usize) -> Result<(), super::TypeError> {
    if args.len() == n { Ok(()) } else { super::build::bad(format!("{name} takes {n} arguments, not {}", args.len())) }
}

/// An array of this element type and shape.
fn shaped(elem: crate::term::Elem, shape: impl IntoIterator<Item = Term>) -> Typed {
    Ok(crate::term::Type::Array(elem, shape.into_iter().collect()))
}

/// The names of numbers in brackets.
fn list<T: std::fmt::Display>(items: &[T]) -> String {
    let parts: Vec<String> = items.iter().map(ToString::to_string).collect();
    format!("[{}]", parts.join(","))
}
