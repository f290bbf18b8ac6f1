//! The attribute macro of `ad`: tokens in, one call into the compiler, tokens out. Nothing is
//! decided here.

#![forbid(unsafe_code)]

use proc_macro::TokenStream;

/// Writes the derivatives of a function beside it.
///
/// The function stays what it was; `f_grad` and `f_value_and_grad` are added where the result is a
/// real number, `f_vjp` where it is an array, each with the same visibility. Options choose others
/// and say with respect to which parameters: `#[differentiate(grad, jvp, wrt(w, b))]`.
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

/// Checks what `#[differentiate]` wrote for a function, at a point, against central differences;
/// panics with the worst entry.
///
/// `check_grad!(f(args))` checks all derivatives that there are of `f`: `f_value_and_grad`,
/// `f_vjp`, `f_pullback`, `f_value_and_grad_into`, `f_value_and_jacobian` and `f_jvp` against
/// differences of `f`, every entry of every active parameter; `f_hvp`, `f_hessian` and
/// `f_laplacian` against differences of the gradient, or of `f` where there is no `f_grad`; and
/// forward derivatives against reverse ones, where there are both. Behind the call may stand
///
/// - the names of options, so that only these are checked: `grad`, `vjp`, `jvp`, `jacobian`, `hvp`,
///   `hessian`, `laplacian`, `pullback`, `into`;
/// - `tolerance = 1e-4`: what is allowed, relative to the largest number compared and at least 1.
///   By default 1e-6, with `f32` anywhere 2e-3; forwards and backwards may differ by a hundredth of
///   that.
///
/// The attribute writes a hidden function beside `f`, which is found by the path of `f`: from
/// another module, `check_grad!(model::f(args))` or `use model::*;`. "Cannot find function
/// `__ad_check_f`" says that there is none there.
///
/// Of parameters with more than 256 entries, 256 are compared, evenly spread. The function should
/// be smooth near the point: at a kink, differences say something else.
///
/// # Panics
/// If a derivative is not what differences say; the message has the parameter, the entry and both
/// numbers. If a derivative that is named was not written.
///
/// ```ignore
/// #[differentiate(grad, jvp)]
/// fn f(x: &Array1<f64>, n: usize) -> f64 {
///     x.mapv(f64::sin).sum() * n as f64
/// }
///
/// ad::check_grad!(f(&array![0.1, 0.2], 3));
/// ad::check_grad!(f(&array![0.1, 0.2], 3), jvp, tolerance = 1e-8);
/// ```
#[proc_macro]
pub fn check_grad(tokens: TokenStream) -> TokenStream {
    ad_core::check_grad::expand(tokens.into()).0.into()
}
