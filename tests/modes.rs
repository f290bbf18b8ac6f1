//! The modes of differentiation through generated code: each function is annotated once for every
//! mode, and all derivatives that the attribute writes agree.

use ad::prelude::*;

/// A function in each mode, with these derivatives.
macro_rules! in_each {
    (($($option:tt)*) fn $name:ident($($args:tt)*) -> $result:ty $body:block) => {
        mod $name {
            pub mod dual_arrays {
                use ad::prelude::*;

                #[differentiate(mode = "dual_arrays", $($option)*)]
                pub fn $name($($args)*) -> $result $body
            }
            pub mod unf {
                use ad::prelude::*;

                #[differentiate(mode = "unf", $($option)*)]
                pub fn $name($($args)*) -> $result $body
            }
            pub mod chad {
                use ad::prelude::*;

                #[differentiate(mode = "chad", $($option)*)]
                pub fn $name($($args)*) -> $result $body
            }
        }
    };
}

in_each! {
    (grad, jvp, hvp, hessian, pullback, into, wrt(x))
    fn energy(x: &Array1<f64>, w: &Array2<f64>) -> f64 {
        let y = build1(w.nrows(), |i| build1(x.len(), |j| w[[i, j]] * x[j]).sum().tanh());
        let mut s = 0.0;
        for v in &y {
            s = (s + v).sin();
        }
        s + y.dot(&y)
    }
}

in_each! {
    (vjp, jvp, jacobian)
    fn running(x: &Array1<f64>) -> Array1<f64> {
        let mut y = x.clone();
        for i in 1..y.len() {
            y[i] = if x[i] > 0.0 { y[i - 1] * x[i].ln() } else { y[i] + y[i - 1] };
        }
        y
    }
}

fn near(a: &Array1<f64>, b: &Array1<f64>) -> bool {
    a.len() == b.len() && a.iter().zip(b).all(|(a, b)| (a - b).abs() < 1e-10)
}

/// Each derivative of a number is that of the default mode.
macro_rules! of_number {
    ($test:ident, $mode:ident) => {
        #[test]
        fn $test() {
            use energy::{dual_arrays as a, $mode as b};
            let x = array![0.3, -0.7, 1.1];
            let w = Array2::from_shape_fn((4, 3), |(i, j)| ((i * 3 + j) as f64).sin());
            let d = array![1.0, 0.5, -2.0];
            let ((v, g), (other, same)) = (a::energy_value_and_grad(&x, &w), b::energy_value_and_grad(&x, &w));
            assert!((v - other).abs() < 1e-12 && near(&g, &same));
            assert!((b::energy_jvp(&x, &w, &d).1 - g.dot(&d)).abs() < 1e-10);
            assert!(near(&a::energy_hvp(&x, &w, &d), &b::energy_hvp(&x, &w, &d)));
            let (h, same) = (a::energy_hessian(&x, &w), b::energy_hessian(&x, &w));
            assert!((&h - &same).iter().all(|d| d.abs() < 1e-9));
            assert!(near(&h.dot(&d), &b::energy_hvp(&x, &w, &d)));
            let (value, pullback) = b::energy_pullback(&x, &w);
            assert!((value - v).abs() < 1e-12 && near(&pullback(2.0), &(&g * 2.0)));
            let mut into = Array1::zeros(3);
            let value = b::energy_value_and_grad_into(&x, &w, &mut into);
            assert!((value - v).abs() < 1e-12 && near(&into, &g));
        }
    };
}

of_number!(each_derivative_of_a_number_in_unf, unf);
of_number!(each_derivative_of_a_number_in_chad, chad);

/// Each derivative of an array is that of the default mode.
macro_rules! of_array {
    ($test:ident, $mode:ident) => {
        #[test]
        fn $test() {
            use running::{dual_arrays as a, $mode as b};
            let x = array![0.5, 1.5, -0.4, 2.0, 0.0];
            let ct = array![1.0, -1.0, 0.5, 2.0, 0.25];
            assert!(near(&a::running_vjp(&x, &ct).1, &b::running_vjp(&x, &ct).1));
            assert!(near(&a::running_jvp(&x, &ct).1, &b::running_jvp(&x, &ct).1));
            let (j, same) = (a::running_jacobian(&x), b::running_jacobian(&x));
            assert!((&j - &same).iter().all(|d| d.abs() < 1e-10), "{j} {same}");
            assert!(near(&j.t().dot(&ct), &b::running_vjp(&x, &ct).1));
        }
    };
}

of_array!(each_derivative_of_an_array_in_unf, unf);
of_array!(each_derivative_of_an_array_in_chad, chad);
