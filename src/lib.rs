#![doc = include_str!("../README.md")]
//!
//! # This crate
//!
//! This crate is a facade: the attribute is in `ad-macro` (and the compiler behind it in
//! `ad-core`), the DSL's functions and the kernels in `ad-runtime`. It must never hold code of its
//! own, only names.
//!
//! Where the attribute assumes that a name is the DSL's, generated code proves it. So this does not
//! compile, since the program has a function of its own with that name:
//!
//! ```compile_fail
//! use ad::prelude::differentiate;
//!
//! fn sigmoid(x: f64) -> f64 {
//!     x * x
//! }
//!
//! #[differentiate]
//! fn f(x: f64) -> f64 {
//!     sigmoid(x) + 1.0
//! }
//! ```

#![no_std]
#![forbid(unsafe_code)]

#[doc(hidden)]
pub use ad_macro::__resume;
pub use ad_macro::{Differentiable, check_grad, constant, custom_jvp, custom_vjp, differentiable, differentiate};

#[doc(hidden)]
pub use ad_runtime as runtime;
/// The methods of real numbers, such as `exp`: those of a `T: Real`, and without std also those of
/// `f64` and `f32`.
///
/// ```
/// use ad::Float;
///
/// fn length<T: Float>(x: T, y: T) -> T {
///     (x * x + y * y).sqrt()
/// }
/// assert_eq!(length(3.0_f32, 4.0), 5.0);
/// ```
pub use ad_runtime::Float;
/// Memory for derivatives with the options `into` and `workspace`.
///
/// ```
/// use ad::Workspace;
/// use ad::prelude::*;
///
/// #[differentiate(into, workspace)]
/// fn energy(x: &Array1<f64>) -> f64 {
///     let y = x.mapv(|v| v * v);
///     y.dot(&y)
/// }
///
/// let (x, mut gradient, mut memory) = (array![1.0, 2.0], Array1::zeros(2), Workspace::new());
/// for _ in 0..3 {
///     assert_eq!(energy_value_and_grad_into(&x, &mut gradient, &mut memory), 17.0);
/// }
/// assert_eq!(gradient, array![4.0, 32.0]);
/// ```
///
pub use ad_runtime::Workspace;
pub use ad_runtime::implicit::{Unknown, fixed_point, root, try_fixed_point, try_root};
#[cfg(feature = "rayon")]
pub use ad_runtime::parallel;
pub use ad_runtime::{Csr, Differentiable, Real, dsl};
pub use ndarray;

/// The hidden macro of each function of the DSL. An expansion asks a function that is called by its
/// bare name for its definition, as it asks a marked function. This macro answers with an empty
/// one: the front end knows the function.
#[doc(hidden)]
#[macro_export]
macro_rules! __ad_is_known {
    ({ $($callback:tt)* } $($rest:tt)*) => { $($callback)* ! { {} $($rest)* } };
}

/// Linear algebra: factorisations, systems of equations, determinants, functions of matrices. See
/// `ad::runtime::linalg`, whose functions these are.
///
/// ```
/// use ad::linalg::{Uplo, cholesky, solve_triangular};
/// use ad::prelude::*;
///
/// /// The logarithm of the density of `x` under a normal distribution, but for a constant.
/// #[differentiate]
/// fn log_density(covariance: &Array2<f64>, x: &Array1<f64>) -> f64 {
///     let l = cholesky(covariance);
///     let z = solve_triangular(&l, x, Uplo::Lower);
///     -0.5 * z.dot(&z) - l.diag().mapv(f64::ln).sum()
/// }
///
/// let covariance = array![[4.0, 0.0], [0.0, 1.0]];
/// let (by_covariance, by_x) = log_density_grad(&covariance, &array![2.0, 1.0]);
/// assert_eq!(by_x, array![-0.5, -1.0]);
/// assert_eq!(by_covariance[[0, 1]], by_covariance[[1, 0]]);
/// ```
#[cfg(feature = "linalg")]
pub mod linalg {
    pub use ad_runtime::linalg::*;

    #[doc(hidden)]
    pub use __ad_is_known as cholesky;
    #[doc(hidden)]
    pub use __ad_is_known as det;
    #[doc(hidden)]
    pub use __ad_is_known as eigh;
    #[doc(hidden)]
    pub use __ad_is_known as expm;
    #[doc(hidden)]
    pub use __ad_is_known as inv;
    #[doc(hidden)]
    pub use __ad_is_known as lstsq;
    #[doc(hidden)]
    pub use __ad_is_known as lu;
    #[doc(hidden)]
    pub use __ad_is_known as matrix_power;
    #[doc(hidden)]
    pub use __ad_is_known as qr;
    #[doc(hidden)]
    pub use __ad_is_known as slogdet;
    #[doc(hidden)]
    pub use __ad_is_known as solve;
    #[doc(hidden)]
    pub use __ad_is_known as solve_triangular;
    #[doc(hidden)]
    pub use __ad_is_known as svd;
    #[doc(hidden)]
    pub use __ad_is_known as try_cholesky;
    #[doc(hidden)]
    pub use __ad_is_known as try_inv;
    #[doc(hidden)]
    pub use __ad_is_known as try_solve;
}

/// Discrete Fourier transforms. See `ad::runtime::fft`, whose functions these are.
///
/// ```
/// use ad::fft::rfft;
/// use ad::prelude::*;
///
/// /// The power of a signal at the frequencies from `k` on.
/// #[differentiate]
/// fn noise(x: &Array1<f64>, k: usize) -> f64 {
///     let (re, im) = rfft(x);
///     (k..re.len()).map(|i| re[i] * re[i] + im[i] * im[i]).sum()
/// }
///
/// let x = array![1.0, -1.0, 1.0, -1.0];
/// assert_eq!(noise(&x, 2), 16.0);
/// assert_eq!(noise_grad(&x, 2), array![8.0, -8.0, 8.0, -8.0]);
/// ```
#[cfg(feature = "fft")]
pub mod fft {
    pub use ad_runtime::fft::*;

    #[doc(hidden)]
    pub use __ad_is_known as fft;
    #[doc(hidden)]
    pub use __ad_is_known as ifft;
    #[doc(hidden)]
    pub use __ad_is_known as irfft;
    #[doc(hidden)]
    pub use __ad_is_known as rfft;
}

/// Everything that a program written with `ad` names: `use ad::prelude::*;`.
///
/// - the attributes `differentiate`, `differentiable`, `custom_vjp`, `custom_jvp` and `constant`,
///   the derive [`Differentiable`](derive@Differentiable), and the traits
///   [`Differentiable`](trait@Differentiable) and [`Real`];
/// - the functions of the array DSL (listed at `ad::dsl`), and those that solve equations
///   ([`fixed_point`], [`root`]);
/// - ndarray's arrays, views and references of rank 0 to 6, `Axis`, `Zip`, `s!` and `array!`.
///
/// ```
/// use ad::prelude::*;
///
/// fn loss<T: Real>(w: &Array1<T>, x: ArrayView2<'_, T>, y: &ArrayRef1<T>) -> T {
///     let e = x.dot(w) - y;
///     T::lit(0.5) * sum(&build1(e.len(), |i| e[i] * e[i])) + maximum(&x.slice(s![.., 0]))
/// }
///
/// let x = array![[1.0, 2.0], [3.0, 4.0]];
/// assert_eq!(loss(&array![1.0, 1.0], x.view(), &array![1.0, 5.0]), 7.0);
/// assert_eq!(Zip::from(&x).and(&softmax(&x.t())).map_collect(|a, p| a * p).len_of(Axis(0)), 2);
/// ```
pub mod prelude {
    pub use ad_macro::{Differentiable, constant, custom_jvp, custom_vjp, differentiable, differentiate};

    pub use ad_runtime::dsl::functions::*;
    pub use ad_runtime::implicit::{fixed_point, root, try_fixed_point, try_root};
    pub use ad_runtime::{Differentiable, Real};
    pub use ndarray::{
        Array0, Array1, Array2, Array3, Array4, Array5, Array6, ArrayRef0, ArrayRef1, ArrayRef2, ArrayRef3, ArrayRef4,
        ArrayRef5, ArrayRef6, ArrayView0, ArrayView1, ArrayView2, ArrayView3, ArrayView4, ArrayView5, ArrayView6, Axis,
        Zip, array, s,
    };
}

/// The chapters of the guide, so that `cargo test` compiles and runs their blocks.
#[cfg(doctest)]
mod guide {
    macro_rules! chapters {
        ($($(#[$cfg:meta])? $name:ident $file:literal;)*) => {
            $($(#[$cfg])? #[doc = include_str!(concat!("../docs/guide/src/", $file))] mod $name {})*
        };
    }

    chapters! {
        getting_started "getting-started.md";
        language "language.md";
        loops "loops.md";
        derivatives "derivatives.md";
        second "second.md";
        programs "programs.md";
        modes "modes.md";
        memory "memory.md";
        threads "threads.md";
        costs "costs.md";
        debugging "debugging.md";
        errors "errors.md";
        explain "explain.md";
        calls "calls.md";
        linear_algebra "linear-algebra.md";
        #[cfg(feature = "fft")] fourier "fourier.md";
        implicit "implicit.md";
        rules "rules.md";
        dual_numbers "dual-numbers.md";
        parameters "parameters.md";
        promises "promises.md";
        conventions "conventions.md";
        shapes "shapes.md";
        coming_from "coming-from.md";
        other_crates "other-crates.md";
        comparison "comparison.md";
        targets "targets.md";
        limits "limits.md";
        tables "tables.md";
    }
}
