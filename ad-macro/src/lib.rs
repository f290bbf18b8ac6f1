//! The attribute macro of `ad`: tokens in, one call into the compiler, tokens out. Nothing is decided here.

use proc_macro::TokenStream;

/// Writes the derivatives of a function beside it.
///
/// The function stays what it was; `f_grad` and `f_value_and_grad` are added where the result is a real number, `f_vjp` where it is an
/// array, each with the same visibility. Options choose others and say with respect to which parameters:
/// `#[differentiate(grad, jvp, wrt(w, b))]`.
///
/// ```ignore
/// use ad::prelude::*;
///
/// #[differentiate]
/// fn loss(w: &Array1<f64>, x: &Array2<f64>, y: &Array1<f64>) -> f64 {
///     let e = x.dot(w) - y;
///     e.mapv(|v| v * v).sum()
/// }
///
/// let (value, (dw, dx, dy)) = loss_value_and_grad(&w, &x, &y);
/// ```
#[proc_macro_attribute]
pub fn differentiate(attr: TokenStream, item: TokenStream) -> TokenStream {
    ad_core::expand(attr.into(), item.into()).into()
}

/// Checks what `#[differentiate]` wrote for a function, at a point, against central differences; panics with the worst entry.
///
/// - `check_grad!(f(args))` checks `f_value_and_grad`. Others by name: `grad`, `vjp`, `jvp`, `jacobian`, `hvp`, `hessian` (the last two against
///   differences of `f_grad`, which has to be there). With `jvp` beside `grad` or `vjp`, forwards is held against reverse as well.
///   Of a function without `f_value_and_grad` say what it has: `check_grad!(f(args), vjp)`. A derivative that the attribute did not write is rustc's error
///   "cannot find function `f_value_and_grad`".
/// - `wrt(0, 2)`: the positions of the active arguments. Needed where the attribute has `wrt`, and for `jvp` and `hvp` where some
///   arguments are not of real type; otherwise it is all arguments of real type.
/// - `crate = "path::to::ad"`, as for the attribute.
/// - `tolerance = 1e-4`: what is allowed, relative to the largest number compared and at least 1. By default 1e-6, with `f32` anywhere 2e-3.
///
/// Arguments may be all that a differentiated function takes; for `jvp` and `hvp`, a slice of an array has to look like one (`&x[..]`). Of arguments with more than 256 entries, 256 are compared, evenly spread.
/// The function should be smooth near the point: at a kink, differences say something else.
///
/// # Panics
/// If a derivative is not what differences say; the message has the argument, the entry and both numbers.
///
/// ```ignore
/// #[differentiate(grad, jvp)]
/// fn f(x: &Array1<f64>, n: usize) -> f64 {
///     x.mapv(f64::sin).sum() * n as f64
/// }
///
/// ad::check_grad!(f(&array![0.1, 0.2], 3));
/// ad::check_grad!(f(&array![0.1, 0.2], 3), grad, jvp, wrt(0), tolerance = 1e-8);
/// ```
#[proc_macro]
pub fn check_grad(tokens: TokenStream) -> TokenStream {
    ad_core::check_grad::expand(tokens.into()).0.into()
}
