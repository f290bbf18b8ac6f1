//! The structural primitives: those whose result at an index depends on more than the arguments'
//! elements at that index. Each family is one file with everything that the stages need: typing,
//! batching, the derivative as a linear map with its transpose, the element rule, the elements that
//! an element depends on, the cost, storage, and examples.
//!
//! Deliberately elsewhere are the value (`ad-oracle` checks all of this, so it shares no code with
//! it), laws about two primitives (`passes::simplify`), and code that depends on the enclosing
//! loops (`emit::kernel`). This module must never depend on a pass, a mode or the emitter.

mod call;
mod contract;
mod cumsum;
mod derived;
mod fourier;
mod iota;
mod layout;
mod linalg;
mod part;
mod reduce;
mod replicate;
mod rows;
mod sort;
mod stack;

pub use call::{ByRule, Callee, Extent, Half, Returns};
pub use derived::{Derivation, DerivedPart};
pub use linalg::{Factorisation, Triangle};
pub use part::quotient;

use std::rc::Rc;

use super::build::{Build, Typed, Types};
use super::watch::Watch;
use super::{Binary, Cmp, IntOp, Reduce, Scaling, Unary};
use crate::term::{Contraction, Elem, Term};

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

/// The derivative of a primitive with respect to one of its arguments: a linear map and its
/// transpose. Both are primitives.
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

/// A tangent in a derivative that is being made.
#[derive(Clone, Copy, Debug)]
pub struct LinearTerm(pub u32);

/// The linear operations that the derivative of a primitive is made of. The mode transposes each of
/// them.
pub trait Linear {
    /// Creates terms of the primal program.
    fn build(&mut self) -> &mut dyn Build;

    /// The image under a linear map.
    fn apply(&mut self, map: LinearMap, x: LinearTerm) -> LinearTerm;

    /// The elementwise product with a term of the same shape.
    fn scale(&mut self, f: Term, scaling: Scaling, x: LinearTerm) -> LinearTerm;

    /// A sum.
    fn add(&mut self, a: LinearTerm, b: LinearTerm) -> LinearTerm;
}

/// An element of an argument on which an element of the result depends.
#[derive(Clone, Debug)]
pub struct ElementRead {
    /// The index of the argument.
    pub arg: usize,
    /// The index of the element.
    pub at: Vec<Term>,
    /// The condition under which it is read. `None` if it is always read.
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

    /// The derivative with respect to data argument k, if the primitive is linear in it. `None` if
    /// the derivative is zero, or is not a linear map of this form.
    fn linear(&self, _g: &dyn Types, _args: &[Term], _k: usize) -> Option<LinearMap> {
        None
    }

    /// The tangent of the result by data argument k, whose tangent is `x`. A primitive that is not
    /// linear makes it of linear operations. `None` if the derivative is zero.
    fn derivative(
        &self,
        d: &mut dyn Linear,
        args: &[Term],
        _result: Term,
        k: usize,
        x: LinearTerm,
    ) -> Option<LinearTerm> {
        let map = self.linear(d.build(), args, k)?;
        Some(d.apply(map, x))
    }

    /// The element rule. If the element at `ix` is the first argument's element at `[ix[a] for a in
    /// axes]`: these axes.
    fn selects(&self, _rank: usize) -> Option<Vec<usize>> {
        None
    }

    /// The elements of the data arguments on which the element at an index of the result depends.
    /// `shape` is that of the result. Returns `None` if they are not known. The list must be
    /// complete, since a sparse Jacobian lacks every element that is not in it.
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

    /// Whether storing the result is cheaper than computing it twice, although a kernel computes
    /// it.
    fn is_expensive(&self) -> bool {
        false
    }

    /// The kernel of `ad-runtime` that computes all elements from arrays in memory. Its arguments
    /// are the result, the data arguments, and the size of the last axis of the last of these.
    fn kernel(&self) -> Option<&'static str> {
        None
    }

    /// Examples, at least one of each primitive of the family. Implementations are `#[inline]`, so
    /// that only the tests that call them contain their code.
    fn examples() -> Vec<Example>
    where
        Self: Sized;
}

/// The list of all primitives. It generates the enum, the dispatch to the families, and the list of
/// all examples.
macro_rules! primitives {
    (
        elementwise { $($(#[$own:meta])* $plain:ident $(($($plain_ty:ty),*))?;)* }
        structural { $($(#[$doc:meta])* $variant:ident $(($($ty:ty),*) as ($($bound:ident),*))?
            => $($family:ident)::+ $(($($field:expr),*))?;)* }
    ) => {
        /// A primitive. Arguments are listed in brackets. "Elementwise" means that all arguments
        /// and the result have the same shape.
        #[derive(Clone, PartialEq, Eq, Hash, Debug)]
        pub enum Prim {
            $($(#[$own])* $plain $(($($plain_ty),*))?,)*
            $($(#[$doc])* $variant $(($($ty),*))?,)*
        }

        impl Prim {
            /// Calls `f` with the structural primitive, if it is one.
            pub fn structural<R>(&self, f: impl FnOnce(&dyn Structural) -> R) -> Option<R> {
                Some(match self {
                    $(Prim::$variant $(($($bound),*))? => f(&$($family)::+ $(($($field),*))?),)*
                    $(Prim::$plain { .. } => return None,)*
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

primitives! {
    elementwise {
        /// `[x]`, real, elementwise.
        Unary(Unary);
        /// `[a, b]`, real, elementwise.
        Binary(Binary);
        /// `[x, n]`, real and `i32`, elementwise: `x.powi(n)`.
        PowI;
        /// `[a, b]` of one element type, elementwise, boolean result.
        Compare(Cmp);
        /// `[a, b]`, integers of one type, elementwise.
        Int(IntOp);
        /// `[a]`, integer, elementwise.
        IntNeg;
        /// `[x]`, real, elementwise: an `i64` for each number, in the order of `total_cmp`.
        TotalOrder;
        /// `[a]`, boolean, elementwise.
        Not;
        /// `[a, b]`, boolean, elementwise, strict.
        And;
        /// `[a, b]`, boolean, elementwise, strict.
        Or;
        /// `[mask, a, b]`, elementwise. Both branches are computed, and a NaN of one does not reach
        /// the other.
        Select;
        /// `[x]`, elementwise: Rust's `as`.
        Cast(Elem);
        /// `[x]`: the value, with derivative zero.
        StopGradient;
        /// `[a, b, c]`, real, elementwise: `a * b + c`, rounded once. It has no derivative: it is
        /// the exact value of a `RelaxedExact` pair.
        Fused;
        /// `[relaxed, exact]`, real, elementwise: one number, computed in two ways. `exact` has the
        /// last bits of the user's function, by its operations in their order. It is read where a
        /// decision depends on the number. `relaxed` is equal by the laws of real numbers and has
        /// the derivative. Where no decision depends on the number, `relaxed` alone remains.
        RelaxedExact;
        /// `[x]`, elementwise: x, a sum whose order in the user's function is not known at
        /// expansion. No decision may depend on it; the front end refuses a function that has such
        /// a decision.
        UnknownOrder;
        /// `[x]`, elementwise: true, once the calls that x is made of have returned. It is a
        /// check's condition: where it is computed, a panic of the called function is not lost,
        /// although nothing else may read the call's result.
        Finished;
        /// `[n]`, a `usize`: n, the number of steps of a loop each of whose steps is a checkpoint.
        /// A derivative of such a loop saves the carried values before each step and nothing that a
        /// step computes; it computes a step again. No pass takes anything out of such a step, so
        /// what a derivative computes again is never one term with what the function computes.
        /// Loops that are made from this loop have the same number of steps, and so the same mark.
        Checkpoint;
        /// `[x, operand..., index...]`, elementwise: x, a real, whose numbers are tested when the
        /// code runs. The operands are real numbers that x was computed from, and the indices,
        /// `usize`, are those of its element; a message shows both. Only generated code for
        /// `AD_DEBUG_NAN` has such terms, after all other passes, so they are never differentiated.
        Watched(Rc<Watch>);
    }
    structural {
        /// `[x, size...]`: new axes of these sizes at these positions of the result (ascending).
        /// The `replicate` of the bulk transform is position 0.
        Replicate(Box<[u8]>) as (axes) => replicate::Replicate(axes);
        /// `[x]`: sum over these axes (ascending), real. The `sumOuter` of the bulk transform is
        /// axis 0.
        Sum(Box<[u8]>) as (axes) => reduce::Sum(axes);
        /// `[x]`: reduction over the last `n` axes. `[x, len]`: reduction over the first `len`
        /// elements of the last axis, for the reductions of [`Reduce::of_first`].
        Reduce(Reduce, u8) as (op, rank) => reduce::Reduction(*op, *rank);
        /// `[x]`: axis k of the result is axis `perm[k]` of x. It is the `tr` of the bulk
        /// transform.
        Transpose(Box<[u8]>) as (perm) => layout::Transpose(perm);
        /// `[x, size...]`: the elements in row-major order in another shape with the same number of
        /// elements.
        Reshape => layout::Reshape;
        /// `[x, size...]`: x with these terms for its sizes. A `check` ensures that they are equal
        /// at run time.
        Recast => layout::Recast;
        /// `[x, start_0, .., len_0, ..]`: element i of axis k is that of x at `start_k + step_k *
        /// i`.
        Slice(Box<[i64]>) as (steps) => part::Slice(steps);
        /// `[x, start_0, .., size_0, ..]`: zeros of these sizes, with element i of x at `start_k +
        /// step_k * i`. It is the transpose of `Slice`.
        Pad(Box<[i64]>) as (steps) => part::Pad(steps);
        /// `[n]`: 0, 1, .., n - 1 as `usize`.
        Iota => iota::Iota;
        /// `[x_0, .., x_(n-1)]`: arrays of one type along a new outer axis, whose size is the
        /// literal n.
        Stack => stack::Stack;
        /// `[a, b]`, real: a sum of products.
        Contract(Contraction) as (spec) => contract::Contract(spec);
        /// `[a, rows]`, real: a factorisation of the matrix in the last two axes, in that many
        /// rows.
        Factor(Factorisation) as (kind) => linalg::Factor(*kind);
        /// `[b, t]`, real: the solution of the system of a triangular matrix.
        TriangularSolve(Triangle) as (triangle) => linalg::TriangularSolve(*triangle);
        /// `[b, a, packed]`, real: the solution of the system of a, or (`true`) of its transpose.
        /// `packed` is the LU factorisation of a.
        LuSolve(bool) as (transposed) => linalg::LuSolve(*transposed);
        /// `[a, packed, 1]`, real: the logarithm of the absolute value of the determinant of a, a
        /// vector of one element. `packed` is the LU factorisation of a.
        LogDet => linalg::LogDet;
        /// `[x, l]`, real: the change of Cholesky's factor l, if the matrix changes by x; or
        /// (`true`) the transposed map.
        CholeskyChange(bool) as (back) => linalg::CholeskyChange(*back);
        /// `[x]`, real: the partial sums along the last axis, one after the other, from the first
        /// element or (`true`) from the last.
        CumSum(bool) as (back) => cumsum::CumSum(*back);
        /// `[x]`, real: the discrete Fourier transform along the last axis, not divided by its
        /// size. The axis before it has the real and the imaginary parts. The sign of the exponent
        /// is negative, or (`true`) positive.
        Fourier(bool) as (back) => fourier::Fourier(*back);
        /// `[lens, total]`, integer: rows of these lengths are concatenated in a vector of `total`
        /// elements. For each element the number of its row, or (`true`) its place in it.
        RowIndex(bool) as (place) => rows::RowIndex(*place);
        /// `[lens, x]`, integer: the positions of the elements along the last axis in ascending or
        /// (`true`) descending order. Equal elements keep their order. Only the first elements of
        /// each row are sorted, as many as `lens` says, whose last axis has the size 1.
        Argsort(bool) as (descending) => sort::Argsort(*descending);
        /// `[reached, argument...]`: a call of a function that is compiled on its own. The value is
        /// its only result, or the number of the record that has its results.
        Call(Rc<Callee>) as (callee) => call::Call(callee);
        /// `[reached, argument..., x]`: x plus the cotangent that a reverse half sends to this one
        /// of its active arguments. The half adds to an array in its memory. If the flag is set:
        /// `[reached, argument..., start, len, x]`, and the argument is `x[start..][..len]`.
        Onto(Rc<Callee>, u32, bool) as (callee, k, part) => call::Onto(callee, *k, *part);
        /// `[record, size...]`: this result of a call, of this element type.
        Returned(u32, Elem) as (k, elem) => call::Returned(*k, *elem);
        /// `[row..., seed..., size...]`: an array of the derivative of the function that is the
        /// body of the loop with these rows.
        Derived(Rc<DerivedPart>) as (part) => derived::Derived(part);
    }
}

/// These axes after a new first one.
fn behind_first(axes: &[u8]) -> Vec<u8> {
    axes.iter().map(|a| a + 1).collect()
}

/// An error, unless there are `n` arguments.
fn arity(name: &str, args: &[Term], n: usize) -> Result<(), super::TypeError> {
    if args.len() == n { Ok(()) } else { super::build::bad(format!("{name} takes {n} arguments, not {}", args.len())) }
}

/// An array type with this element type and shape.
fn shaped(elem: Elem, shape: impl IntoIterator<Item = Term>) -> Typed {
    Ok(crate::term::Type::Array(elem, shape.into_iter().collect()))
}

/// Numbers in brackets, for the name of a primitive.
fn list<T: std::fmt::Display>(items: &[T]) -> String {
    let parts: Vec<String> = items.iter().map(ToString::to_string).collect();
    format!("[{}]", parts.join(","))
}
