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
