//! Values are those of the function.

use ad::prelude::*;

/// The distance in units in the last place, for numbers that may be special.
fn ulps(a: f64, b: f64) -> f64 {
    if a.to_bits() == b.to_bits() || (a.is_nan() && b.is_nan()) {
        return 0.0;
    }
    let ulp = f64::from_bits(b.abs().to_bits() + 1) - b.abs();
    ((a - b) / ulp).abs()
}

/// One function of numbers, elementwise in a loop that may be vectorised, and as a scalar.
macro_rules! value_of {
    ($($name:ident $in_arrays:ident $alone:ident $one:ident: |$x:ident| $body:expr, $low:expr, $high:expr;)*) => {
        $(
            #[differentiate(vjp)]
            fn $name(x: &Array1<f64>) -> Array1<f64> {
                x.mapv(|$x| $body)
            }

            #[differentiate]
            fn $one($x: f64) -> f64 {
                $body
            }
        )*

        /// "`f_value_and_grad(p).0` equals `f(p)` up to reassociation of sums and contractions,
        /// fused multiply-add, and 2.5 ulp a function."
        #[test]
        fn values_are_within_ulps_of_the_functions() {
            $(
                let (low, high): (f64, f64) = ($low, $high);
                let x = Array1::from_iter((0..1001).map(|k| low + (high - low) * f64::from(k) / 1000.0));
                let expected = $name(&x);
                let (found, _) = $in_arrays(&x, &Array1::ones(x.len()));
                for ((&x, a), &b) in x.iter().zip(&found).zip(&expected) {
                    assert!(ulps(*a, b) <= 2.5, "{} of {x}: {a} instead of {b}", stringify!($name));
                    let (a, b) = ($alone(x).0, $one(x));
                    assert!(ulps(a, b) <= 2.5, "{} of {x}: {a} instead of {b}", stringify!($one));
                }
            )*
        }
    };
}

value_of! {
    exps exps_vjp exp_value_and_grad exp: |x| x.exp(), -700.0, 700.0;
    lns lns_vjp ln_value_and_grad ln: |x| x.ln(), 1e-3, 50.0;
    tanhs tanhs_vjp tanh_value_and_grad tanh: |x| x.tanh(), -5.0, 5.0;
    sines sines_vjp sin_value_and_grad sin: |x| x.sin(), -20.0, 20.0;
    cosines cosines_vjp cos_value_and_grad cos: |x| x.cos(), -20.0, 20.0;
    logistics logistics_vjp logistic_value_and_grad logistic: |x| sigmoid(x), -30.0, 30.0;
    pluses pluses_vjp plus_value_and_grad plus: |x| softplus(x), -30.0, 30.0;
    errors errors_vjp error_value_and_grad error: |x| erf(x), -4.0, 4.0;
    roots roots_vjp root_value_and_grad root: |x| x.sqrt(), 0.0, 100.0;
    cubes cubes_vjp cube_value_and_grad cube: |x| x.cbrt(), -8.0, 8.0;
    squares squares_vjp square_value_and_grad square: |x| x.exp2(), -20.0, 20.0;
    logs logs_vjp log_value_and_grad log: |x| x.log2(), 0.1, 20.0;
    ones ones_vjp one_value_and_grad one: |x| x.exp_m1(), -1.0, 1.0;
    gammas gammas_vjp gamma_value_and_grad gamma: |x| ln_gamma(x), 0.6, 30.0;
}

mod elsewhere {
    pub mod again {
        pub use ad::*;
    }
}

#[differentiate(crate = "elsewhere::again")]
fn by_path(x: &Array1<f64>) -> f64 {
    (x * x).sum()
}

#[test]
fn the_crate_can_be_reached_by_another_path() {
    assert_eq!(by_path_grad(&array![1.0, 2.0]), array![2.0, 4.0]);
}
