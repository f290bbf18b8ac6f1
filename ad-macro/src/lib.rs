//! The macros of `ad`. Each passes its tokens to the compiler (`ad-core`) and returns the
//! compiler's output. This crate must never decide anything itself.

#![forbid(unsafe_code)]

use proc_macro::TokenStream;

/// Writes derivatives of a function, as further functions next to it.
///
/// The function itself does not change. If the result is a real number, `f_grad` and
/// `f_value_and_grad` are added; if it is an array, `f_vjp`. They have the visibility of the
/// function. Options choose other derivatives, and the parameters with respect to which they are
/// taken: `#[differentiate(grad, jvp, wrt(w, b))]`. Naming a derivative replaces the default, so
/// `#[differentiate(jvp)]` writes no gradient.
///
/// - Derivatives: `grad`, `vjp`, `jvp`, `jacobian`, `jacobian(sparse)`, `hvp`, `hessian`,
///   `laplacian`, `pullback`, `into`, `per_example(x, y)`.
/// - What they are of, and how: `wrt(a, b)`, `aux`, `workspace`, `suffix = ".."`,
///   `checkpoint = "sqrt"`, `mode = ".."`, `crate = "path"`.
///
/// The guide lists the signatures that each of them writes. What the body of the function cannot
/// say is a compile error at its place, with what to write instead. A derivative panics where the
/// function does, and where the shapes of arguments do not fit.
///
/// ```
/// use ad::prelude::*;
///
/// #[differentiate]
/// fn loss(w: &Array1<f64>, x: &Array2<f64>, y: &Array1<f64>) -> f64 {
///     let e = x.dot(w) - y;
///     e.mapv(|v| v * v).sum()
/// }
///
/// let (w, x, y) = (array![1.0, -1.0], array![[1.0, 2.0]], array![0.5]);
/// let (value, (dw, dx, dy)) = loss_value_and_grad(&w, &x, &y);
/// assert_eq!((value, dw), (2.25, array![-3.0, -6.0]));
/// assert_eq!((dx, dy), (array![[-3.0, 3.0]], array![3.0]));
/// ```
#[proc_macro_attribute]
pub fn differentiate(attr: TokenStream, item: TokenStream) -> TokenStream {
    let place = format!("{:?}", proc_macro::Span::call_site());
    ad_core::choice::set_threads(cfg!(feature = "rayon"));
    ad_core::travel::differentiate(attr.into(), item.into(), &place).tokens.into()
}

/// Lets differentiated functions call a function, from wherever Rust can name it: the same module,
/// another one, or another crate.
///
/// The function itself does not change, and no derivatives of it are written. Its body may contain
/// everything that `#[differentiate]` understands, calls of other marked functions among it. A
/// function with `#[differentiate]` can be called without this mark.
///
/// ```
/// use ad::prelude::*;
///
/// #[differentiable]
/// pub fn energy(x: f64) -> f64 {
///     0.5 * x * x
/// }
///
/// #[differentiate]
/// fn total(x: &[f64]) -> f64 {
///     x.iter().map(|&x| energy(x)).sum()
/// }
///
/// assert_eq!(total_grad(&[1.0, 2.0]), [1.0, 2.0]);
/// ```
#[proc_macro_attribute]
pub fn differentiable(attr: TokenStream, item: TokenStream) -> TokenStream {
    let place = format!("{:?}", proc_macro::Span::call_site());
    ad_core::choice::set_threads(cfg!(feature = "rayon"));
    ad_core::travel::differentiable(attr.into(), item.into(), &place).tokens.into()
}

/// Gives a function a rule for reverse mode. Its body is not read, and may contain anything.
///
/// Differentiated functions can call it. `rule` is a function with the signature that `f_vjp` would
/// have: the parameters of `f`, and a cotangent of its result. It returns the result, and the
/// gradient. A derivative calls `f` once for each call of its function, and `rule` once on the way
/// back. `check_grad!(f(args))` compares the rule with difference quotients.
///
/// ```
/// use ad::prelude::*;
///
/// #[custom_vjp(sine_rule)]
/// fn sine(x: f64) -> f64 {
///     x.to_string().parse().map_or(f64::NAN, f64::sin)
/// }
///
/// fn sine_rule(x: f64, cotangent: f64) -> (f64, f64) {
///     (sine(x), cotangent * x.cos())
/// }
///
/// #[differentiate]
/// fn wave(x: f64) -> f64 {
///     2.0 * sine(x)
/// }
///
/// assert_eq!(wave_grad(0.0), 2.0);
/// ```
#[proc_macro_attribute]
pub fn custom_vjp(attr: TokenStream, item: TokenStream) -> TokenStream {
    ruled("custom_vjp", attr, item)
}

/// Gives a function a rule for forward mode. Its body is not read, and may contain anything.
///
/// `rule` is a function with the signature that `f_jvp` would have: the parameters of `f`, and a
/// tangent of each real one. It returns the result, and its tangent. Otherwise all is as for
/// [`custom_vjp`], and a function may have both.
///
/// ```
/// use ad::prelude::*;
///
/// #[custom_jvp(sine_rule)]
/// fn sine(x: f64) -> f64 {
///     x.to_string().parse().map_or(f64::NAN, f64::sin)
/// }
///
/// fn sine_rule(x: f64, tangent: f64) -> (f64, f64) {
///     (sine(x), tangent * x.cos())
/// }
///
/// #[differentiate(jvp)]
/// fn wave(x: f64) -> f64 {
///     2.0 * sine(x)
/// }
///
/// assert_eq!(wave_jvp(0.0, 3.0), (0.0, 6.0));
/// ```
#[proc_macro_attribute]
pub fn custom_jvp(attr: TokenStream, item: TokenStream) -> TokenStream {
    ruled("custom_jvp", attr, item)
}

/// Lets differentiated functions call a function through which no derivative goes. Its body is not
/// read, and may contain anything.
///
/// ```
/// use ad::prelude::*;
///
/// #[constant]
/// fn measured(index: usize) -> f64 {
///     "0.5 1.5".split(' ').nth(index).and_then(|t| t.parse().ok()).expect("a measurement")
/// }
///
/// #[differentiate]
/// fn misfit(x: f64) -> f64 {
///     (x - measured(1)).powi(2)
/// }
///
/// assert_eq!(misfit_grad(2.0), 1.0);
/// ```
#[proc_macro_attribute]
pub fn constant(attr: TokenStream, item: TokenStream) -> TokenStream {
    ruled("constant", attr, item)
}

fn ruled(mark: &str, attr: TokenStream, item: TokenStream) -> TokenStream {
    let place = format!("{:?}", proc_macro::Span::call_site());
    ad_core::choice::set_threads(cfg!(feature = "rayon"));
    ad_core::travel::ruled(mark, &attr.into(), item.into(), &place).tokens.into()
}

/// Continues an expansion that has asked for a definition. Only generated code calls it.
#[doc(hidden)]
#[proc_macro]
pub fn __resume(tokens: TokenStream) -> TokenStream {
    ad_core::choice::set_threads(cfg!(feature = "rayon"));
    ad_core::travel::resume(tokens.into()).into()
}

/// Checks the derivatives that `#[differentiate]` wrote for a function against central differences
/// at a point.
///
/// `check_grad!(f(args))` checks all derivatives of `f` that were written: `f_value_and_grad`,
/// `f_vjp`, `f_pullback`, `f_value_and_grad_into`, `f_value_and_jacobian` and `f_jvp` against
/// differences of `f`, by every entry of every active parameter; `f_hvp`, `f_hessian` and
/// `f_laplacian` against differences of the gradient, or of `f` if there is no `f_grad`. If there
/// are forward and reverse derivatives, it also checks them against each other. These arguments may
/// follow the call:
///
/// - the names of options, so that only these derivatives are checked: `grad`, `vjp`, `jvp`,
///   `jacobian`, `jacobian(sparse)`, `hvp`, `hessian`, `laplacian`, `pullback`, `into`,
///   `per_example`;
/// - `tolerance = 1e-4`: the largest error that is allowed, relative to the largest number
///   compared, or to 1 if that is larger. The default is 1e-6, or 2e-3 if `f32` occurs. Forward and
///   reverse derivatives may differ from each other by a hundredth of that.
///
/// The attribute writes a hidden function `__f_marked_differentiate` next to `f`, and the macro
/// looks for it at the path of `f`. From another module, write `check_grad!(model::f(args))`, or
/// import with `use model::*;`. The error "cannot find function `__f_marked_differentiate`" means
/// that `f` has no `#[differentiate]`, or is not at this path.
///
/// If a parameter has more than 256 entries, 256 of them are compared, evenly spread. The function
/// should be smooth near the point: at a kink, differences do not approximate the derivative.
///
/// # Panics
/// If a derivative differs from the central differences by more than the tolerance; the message has
/// the parameter and the entry with the largest error, and both numbers. If a derivative is named
/// that was not written.
///
/// ```
/// use ad::prelude::*;
///
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

/// Implements `Differentiable` for a struct or an enum: its real numbers as a vector.
///
/// The trait has `to_flat`, `from_flat`, `flat_len`, `axpy`, `dot` and `zeros_like`, which
/// optimisers need. Fields are numbers, ndarray's arrays, static arrays, tuples, `Vec`s, `Option`s
/// and `Box`es of them, and types that derive `Differentiable`. The real numbers of a type are all
/// `f64`, all `f32`, or all of one type parameter that is bounded by `Real`. A field that is marked
/// `#[constant]` has no real numbers, whatever its type is, which has to be `Clone`. Integers,
/// booleans and strings need no mark.
///
/// Values of the type can be parameters and results of differentiated functions. The definition
/// travels like that of a marked function: it is imported with the type.
///
/// ```
/// use ad::prelude::*;
///
/// #[derive(Clone, Differentiable)]
/// struct Layer<T: Real> {
///     weights: Array2<T>,
///     bias: Array1<T>,
///     #[constant]
///     made: std::time::Duration,
/// }
///
/// let mut layer = Layer { weights: array![[1.0]], bias: array![0.0], made: Default::default() };
/// let gradient = Layer { weights: array![[2.0]], bias: array![1.0], made: Default::default() };
/// layer.axpy(-0.5, &gradient);
/// assert_eq!((layer.weights, layer.bias), (array![[0.0]], array![-0.5]));
/// ```
#[proc_macro_derive(Differentiable, attributes(constant))]
pub fn derive_differentiable(item: TokenStream) -> TokenStream {
    let place = format!("{:?}", proc_macro::Span::call_site());
    ad_core::travel::derive(&item.into(), &place).0.into()
}
