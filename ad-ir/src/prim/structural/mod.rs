//! The structural primitives: those whose result at an index depends on more than the arguments'
//! elements at that index. Each family is one file. It has everything that the stages need for its
//! primitives: typing, batching, the derivative as a linear map with its transpose, the element
//! rule, the elements that an element depends on, the cost, storage, and examples.
//!
//! Three parts are deliberately elsewhere. The reference interpreter (`ad-oracle`) computes the
//! value; it checks all of this and so shares no code with it. Laws are in `passes::simplify`,
//! since they are about two primitives. The generated code for a guarded or a divided index is in
//! `emit::kernel` (`Slice`, `Pad`, `Reshape`, `Recast`, `Iota`), since it depends on the enclosing
//! loops. A primitive that is computed by one kernel names the kernel here
//! ([`Structural::kernel`]).
//!
//! This module does not depend on a pass, a mode or the emitter. They implement the interfaces of
//! `prim::build`.

mod call;
mod contract;
mod cumsum;
mod iota;
mod layout;
mod part;
mod reduce;
mod replicate;
mod stack;

pub use call::{Callee, Half, Returns};
pub use part::quotient;

use super::Prim;
use super::build::{Build, Typed, Types};
use crate::term::Term;

/// A primitive in the body of a build, to be applied to all values of the index at once.
pub struct Batch<'a> {
    /// The size of the build, which is the first axis of the arguments that vary.
    pub size: Term,
    /// The arguments as in the body.
    pub args: &'a [Term],
    /// The data arguments for all values of the index.
    pub lifted: &'a [Term],
    /// Whether each of the arguments depends on the index.
    pub varies: &'a [bool],
}

impl Batch<'_> {
    /// The sizes and starts. They do not depend on the index.
    #[must_use]
    pub fn rest(&self) -> &[Term] {
        &self.args[self.lifted.len()..]
    }
}

/// A primitive as a function of its first argument. The other arguments are given.
#[derive(Clone, Debug)]
pub struct Applied {
    /// The primitive.
    pub prim: Prim,
    /// Its further arguments.
    pub rest: Vec<Term>,
}

impl Applied {
    /// The result for an argument.
    pub fn at(&self, g: &mut dyn Build, x: Term) -> Term {
        let args: Vec<Term> = std::iter::once(x).chain(self.rest.iter().copied()).collect();
        g.make(&self.prim, &args)
    }
}

/// The derivative of a primitive by one of its arguments: a linear map and its transpose. Both are
/// primitives.
#[derive(Clone, Debug)]
pub struct LinearMap {
    /// The map from the argument's tangent to the result's.
    pub forward: Applied,
    /// The map from the result's cotangent to the argument's.
    pub backward: Applied,
    /// Whether an element of the argument may have no effect on the result. Its cotangent is zero
    /// then.
    pub unread: bool,
}

/// An element of an argument on which an element of the result depends.
#[derive(Clone, Debug)]
pub struct ElementRead {
    /// The number of the argument.
    pub arg: usize,
    /// The index of the element.
    pub at: Vec<Term>,
    /// The condition under which it is read. It always is if there is none.
    pub under: Option<Term>,
    /// Variables of the index, and the number of values of each: the element is read for all of
    /// them.
    pub over: Vec<(Term, Term)>,
}

impl ElementRead {
    /// One element of an argument.
    fn of(arg: usize, at: Vec<Term>) -> Self {
        ElementRead { arg, at, under: None, over: Vec::new() }
    }
}

/// A variable of an index that has as many values as the size says.
fn summed(g: &mut dyn Build, size: Term, over: &mut Vec<(Term, Term)>) -> Term {
    let var = g.variable();
    over.push((var, size));
    var
}

/// An example: the primitive with its data arguments, sizes and starts, and the result computed by
/// hand.
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

/// The interface of a structural primitive.
pub trait Structural {
    /// The name in printed terms.
    fn name(&self) -> String;

    /// The number of leading arguments that are data. The rest are sizes and starts (closed or
    /// index-free `usize` scalars).
    fn data_args(&self, args: usize) -> usize {
        args
    }

    /// The type of the result.
    ///
    /// # Errors
    ///
    /// If the arguments do not fit.
    fn infer(&self, g: &dyn Types, args: &[Term]) -> Typed;

    /// Batching: `build1 size (\i -> self(args))`, given the arguments for all i.
    fn batch(&self, g: &mut dyn Build, b: &Batch<'_>) -> Term;

    /// The derivative by data argument k, if the primitive is linear in it. `None` if the
    /// derivative is zero, or is not a linear map of this form.
    fn linear(&self, _g: &dyn Types, _args: &[Term], _k: usize) -> Option<LinearMap> {
        None
    }

    /// The element rule: if the element at `ix` is that of the first argument at `[ix[a] for a in
    /// axes]`, these axes.
    fn selects(&self, _rank: usize) -> Option<Vec<usize>> {
        None
    }

    /// The elements of the data arguments on which the element at an index of the result depends.
    /// `shape` is that of the result. `None` if they are not known. None that the element depends
    /// on may be left out, since a sparse Jacobian would lack it.
    fn reads(&self, _g: &mut dyn Build, _args: &[Term], _shape: &[Term], at: &[Term]) -> Option<Vec<ElementRead>> {
        let axes = self.selects(at.len())?;
        Some(vec![ElementRead::of(0, axes.iter().map(|&a| at[a]).collect())])
    }

    /// The elements of a small result as scalars, for a primitive that a kernel would compute
    /// otherwise. `x` are the elements of the first argument. They are computed in the order of the
    /// kernel, since a decision may depend on it.
    fn scalars(&self, _g: &mut dyn Build, _x: &[Term], _shape: &[usize]) -> Option<Vec<Term>> {
        None
    }

    /// The work of one element, without that of its arguments. `None` if a kernel computes all
    /// elements and stores them.
    fn cost(&self) -> Option<u32>;

    /// The kernel of `ad-runtime` that computes all elements from arrays in memory, row by row
    /// along the last axis.
    fn kernel(&self) -> Option<&'static str> {
        None
    }

    /// Examples, at least one of each primitive of the family. Implementations are `#[inline]`, so
    /// that only the tests that call them contain their code.
    fn examples() -> Vec<Example>
    where
        Self: Sized;
}

/// The list of the families. It generates the dispatch and the list of all examples.
macro_rules! families {
    ($($pattern:pat => $($family:ident)::+ $(($($field:expr),*))?;)*) => {
        impl Prim {
            /// Calls `f` with the structural primitive, if it is one.
            pub fn structural<R>(&self, f: impl FnOnce(&dyn Structural) -> R) -> Option<R> {
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
                    | Prim::UnknownOrder
                    | Prim::Finished => return None,
                })
            }
        }

        /// The examples of every family. Tests use them for values, derivatives, batching and
        /// generated code.
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
    Prim::Call(callee) => call::Call(callee);
    Prim::Onto(callee) => call::Onto(callee);
    Prim::Returned(k, elem) => call::Returned(*k, *elem);
}

/// The same axes after a new first one.
fn behind_first(axes: &[u8]) -> Vec<u8> {
    axes.iter().map(|a| a + 1).collect()
}

/// An error, unless there are `n` arguments.
fn arity(name: &str, args: &[Term], n: usize) -> Result<(), super::TypeError> {
    if args.len() == n { Ok(()) } else { super::build::bad(format!("{name} takes {n} arguments, not {}", args.len())) }
}

/// An array type with this element type and shape.
fn shaped(elem: crate::term::Elem, shape: impl IntoIterator<Item = Term>) -> Typed {
    Ok(crate::term::Type::Array(elem, shape.into_iter().collect()))
}

/// Numbers in brackets, for the name of a primitive.
fn list<T: std::fmt::Display>(items: &[T]) -> String {
    let parts: Vec<String> = items.iter().map(ToString::to_string).collect();
    format!("[{}]", parts.join(","))
}
