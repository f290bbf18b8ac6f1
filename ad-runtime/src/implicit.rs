//! Solutions of equations as ordinary functions, which a differentiated function may call.
//!
//! | | |
//! | --- | --- |
//! | x with `f(x) = x` | [`fixed_point`], [`try_fixed_point`] |
//! | x with `g(x) = 0` | [`root`], [`try_root`] |
//!
//! x is a number, an array of rank 1 or a `Vec` or static array of numbers ([`Unknown`]). The
//! derivative of x with respect to the values that the closure captures is that of the implicit
//! function theorem: one linear system at the solution, whatever number of steps has led there. It
//! is exact to the order of the tolerance.
//!
//! The compiler has the same iterations in its own language (`ad-front/src/implicit.rs`). This
//! module must never compute something in another order than there.

use alloc::vec;
use alloc::vec::Vec;

use ndarray::{Array1, Array2};

use crate::Real;
use crate::linalg::try_solve;

/// The step of difference quotients relative to an element, or to 1 if that is larger: `2^-13`.
const DIFFERENCE: f64 = 0.000_122_070_312_5;

/// The unknown of an equation: `f32`, `f64`, or a vector of these (`Array1`, `Vec`, an array of
/// static size).
///
/// ```
/// use ad_runtime::implicit::fixed_point;
/// let [a, b] = fixed_point(|[a, b]: [f64; 2]| [0.5 * b, 0.5 * a + 1.0], [0.0; 2], 1e-12, 100);
/// assert!((a - 2.0 / 3.0).abs() < 1e-11 && (b - 4.0 / 3.0).abs() < 1e-11);
/// ```
#[diagnostic::on_unimplemented(
    message = "an equation cannot be solved for a value of type `{Self}`",
    label = "expected a real number or an array of rank 1"
)]
pub trait Unknown: Clone {
    /// The type of a number.
    type Number: Real;

    /// Whether no element differs from that of `other` by more than `tolerance`.
    #[doc(hidden)]
    fn is_near(&self, other: &Self, tolerance: Self::Number) -> bool;

    /// The result of a step of Newton's method from here, with difference quotients.
    #[doc(hidden)]
    fn newton(&self, g: &dyn Fn(Self) -> Self) -> Self;
}

/// x plus the step of its difference quotient.
fn shifted<F: Real>(x: F) -> F {
    x + x.abs().max(F::one()) * F::lit(DIFFERENCE)
}

impl<F: Real> Unknown for F {
    type Number = F;

    fn is_near(&self, other: &F, tolerance: F) -> bool {
        (*self - *other).abs() <= tolerance
    }

    #[track_caller]
    fn newton(&self, g: &dyn Fn(F) -> F) -> F {
        let value = g(*self);
        let there = shifted(*self);
        *self - value / ((g(there) - value) / (there - *self))
    }
}

#[track_caller]
fn newton_of_vector<F: Real>(x: &[F], g: &dyn Fn(Vec<F>) -> Vec<F>) -> Vec<F> {
    let n = x.len();
    let of_same_length = |x: Vec<F>| {
        let value = g(x);
        assert!(value.len() == n, "root: g(x) has another length than x");
        value
    };
    let value = of_same_length(x.to_vec());
    let mut jacobian = Array2::zeros((n, n));
    for j in 0..n {
        let mut there = x.to_vec();
        there[j] = shifted(x[j]);
        let by = there[j] - x[j];
        for (i, there) in of_same_length(there).into_iter().enumerate() {
            jacobian[[i, j]] = (there - value[i]) / by;
        }
    }
    let step = match try_solve(&jacobian, &value) {
        Some(step) => step.to_vec(),
        None => vec![F::nan(); n],
    };
    x.iter().zip(step).map(|(&x, step)| x - step).collect()
}

macro_rules! vectors {
    ($([$($g:tt)*] $t:ty, $from:expr;)*) => {$(
        impl<F: Real, $($g)*> Unknown for $t {
            type Number = F;

            #[track_caller]
            fn is_near(&self, other: &Self, tolerance: F) -> bool {
                assert!(self.len() == other.len(), "fixed_point: f(x) has another length than x");
                self.iter().zip(other.iter()).all(|(x, other)| x.is_near(other, tolerance))
            }

            #[track_caller]
            fn newton(&self, g: &dyn Fn(Self) -> Self) -> Self {
                let from: fn(Vec<F>) -> Self = $from;
                let x: Vec<F> = self.iter().copied().collect();
                from(newton_of_vector(&x, &|x| g(from(x)).iter().copied().collect()))
            }
        }
    )*};
}
vectors! {
    [] Array1<F>, Array1::from_vec;
    [] Vec<F>, |x| x;
    [const N: usize] [F; N], |x| x.try_into().expect("as many elements");
}

/// The first of at most `steps` iterates that differs from the one before by at most `tolerance`.
#[track_caller]
fn iterated<X: Unknown>(next: impl Fn(&X) -> X, x0: X, tolerance: X::Number, steps: usize) -> Option<X> {
    let mut x = x0;
    for _ in 0..steps {
        let after = next(&x);
        if after.is_near(&x, tolerance) {
            return Some(after);
        }
        x = after;
    }
    None
}

/// The fixed point of `f`: x with `f(x) = x`, by the iteration `x = f(x)` from `x0`.
///
/// It stops when no element of x changes by more than `tolerance`, after at most `steps` calls of
/// `f`. So `f` has to be a contraction near the solution: a step multiplies the error by less than
/// one.
///
/// Shape: x, `x0` and `f(x)` have one shape. Derivative: with respect to the values that `f`
/// captures, from the linear system `(1 - df/dx) dx = df`; with respect to `x0` and `tolerance` it
/// is zero. Christianson, "Reverse accumulation and attractive fixed points" (1994); Griewank and
/// Walther, "Evaluating Derivatives" (2008), chapter 15. If `1 - df/dx` is singular at the
/// solution, the derivative is infinite or NaN.
///
/// # Panics
///
/// If `steps` calls do not suffice, if `f(x)` has another length than x, or if `f` panics.
///
/// ```
/// use ad_runtime::implicit::fixed_point;
/// let x = fixed_point(|x: f64| x.cos(), 1.0, 1e-12, 100);
/// assert!((x - 0.739_085_133_215_161).abs() < 1e-11);
/// ```
#[must_use]
#[track_caller]
pub fn fixed_point<X: Unknown>(f: impl Fn(X) -> X, x0: X, tolerance: X::Number, steps: usize) -> X {
    match try_fixed_point(f, x0, tolerance, steps) {
        Some(x) => x,
        None => panic!("fixed_point: no convergence within the given number of steps"),
    }
}

/// [`fixed_point`], or `None` if the given number of steps does not suffice.
///
/// # Panics
///
/// If `f(x)` has another length than x, or if `f` panics.
///
/// ```
/// use ad_runtime::implicit::try_fixed_point;
/// assert_eq!(try_fixed_point(|x: f64| 2.0 * x, 1.0, 1e-12, 100), None);
/// ```
#[must_use]
#[track_caller]
pub fn try_fixed_point<X: Unknown>(f: impl Fn(X) -> X, x0: X, tolerance: X::Number, steps: usize) -> Option<X> {
    iterated(|x| f(x.clone()), x0, tolerance, steps)
}

/// The root of `g`: x with `g(x) = 0`, by Newton's method from `x0`.
///
/// The derivatives of the method are difference quotients, so a step calls `g` once more than x has
/// elements. It stops when no element of x changes by more than `tolerance`, after at most `steps`
/// steps. There is no search along a line: `x0` has to be near the solution.
///
/// Shape: x, `x0` and `g(x)` have one shape. Derivative: with respect to the values that `g`
/// captures, from the linear system `dg/dx dx = -dg` of the implicit function theorem; with respect
/// to `x0` and `tolerance` it is zero. Blondel et al., "Efficient and modular implicit
/// differentiation" (2022). If `dg/dx` is singular at the solution, the derivative is infinite or
/// NaN.
///
/// # Panics
///
/// If `steps` steps do not suffice, if `g(x)` has another length than x, or if `g` panics.
///
/// ```
/// use ad_runtime::implicit::root;
/// use ndarray::{Array1, array};
/// assert!((root(|x: f64| x * x - 2.0, 1.0, 1e-12, 20) - 2.0_f64.sqrt()).abs() < 1e-12);
/// let circle_and_line = |x: Array1<f64>| array![x[0] * x[0] + x[1] * x[1] - 2.0, x[0] - x[1]];
/// let x = root(circle_and_line, array![2.0, 0.5], 1e-12, 20);
/// assert!((x - 1.0).iter().all(|e| e.abs() < 1e-12));
/// ```
#[must_use]
#[track_caller]
pub fn root<X: Unknown>(g: impl Fn(X) -> X, x0: X, tolerance: X::Number, steps: usize) -> X {
    match try_root(g, x0, tolerance, steps) {
        Some(x) => x,
        None => panic!("root: no convergence within the given number of steps"),
    }
}

/// [`root`], or `None` if the given number of steps does not suffice.
///
/// # Panics
///
/// If `g(x)` has another length than x, or if `g` panics.
///
/// ```
/// use ad_runtime::implicit::try_root;
/// assert_eq!(try_root(|x: f64| x * x + 1.0, 1.0, 1e-12, 20), None);
/// ```
#[must_use]
#[track_caller]
pub fn try_root<X: Unknown>(g: impl Fn(X) -> X, x0: X, tolerance: X::Number, steps: usize) -> Option<X> {
    iterated(|x| x.newton(&g), x0, tolerance, steps)
}
