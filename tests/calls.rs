//! Calls of marked functions: from the same module, from others, through imports and renames, and
//! from the bodies of functions.

#![deny(warnings, missing_docs, clippy::all)]

use ad::check_grad;
use ad::prelude::*;

#[differentiate]
fn before(x: f64) -> f64 {
    square(x) + 1.0
}

#[differentiable]
fn square(x: f64) -> f64 {
    x * x
}

#[test]
fn a_helper_may_stand_after_its_use() {
    assert_eq!(before_value_and_grad(3.0), (10.0, 6.0));
}

/// Private items of a module, which its public items use.
mod physics {
    use ad::prelude::*;

    const STIFFNESS: f64 = 2.5;
    const STEPS: usize = 4;
    const WEIGHTS: [f64; STEPS] = [0.5, 1.0, 1.5, 2.0];

    #[differentiable]
    fn half(x: f64) -> f64 {
        0.5 * x
    }

    #[differentiable]
    pub(super) fn energy(x: f64) -> f64 {
        STIFFNESS * half(x * x)
    }

    #[differentiable]
    pub fn weighted(x: [f64; STEPS]) -> f64 {
        let weights: [f64; STEPS] = WEIGHTS;
        let mut total = 0.0;
        for k in 0..STEPS {
            total += weights[k] * x[k].sin();
        }
        total / STEPS as f64
    }

    pub mod deep {
        use ad::prelude::*;

        #[differentiable]
        pub fn smooth(xs: &Array1<f64>) -> f64 {
            xs.iter().map(|x| sigmoid(*x)).sum::<f64>() + super::energy(xs[0])
        }
    }
}

use physics::deep::smooth as blurred;
use physics::weighted;

#[differentiate]
fn through_paths(x: &Array1<f64>) -> f64 {
    physics::energy(x[1]) + self::physics::deep::smooth(x) + blurred(x) * weighted([x[0], x[1], 0.5, x[0] * x[1]])
}

#[test]
fn constants_and_helpers_of_another_module_are_those_of_that_module() {
    let x = array![0.3, -0.8, 1.2];
    check_grad!(through_paths(&x));
}

mod user {
    use super::*;

    /// It has the name of a constant of the module whose function is called.
    const STIFFNESS: f64 = 100.0;

    #[differentiate]
    pub fn of_glob(x: f64) -> f64 {
        physics::energy(x) * STIFFNESS + square(x)
    }
}

#[test]
fn a_constant_of_the_same_name_is_another() {
    assert_eq!(user::of_glob(2.0), 504.0);
    assert_eq!(user::of_glob_value_and_grad(2.0), (504.0, 504.0));
}

#[test]
fn functions_in_a_body_call_each_other() {
    #[differentiate]
    fn f(x: f64, y: f64) -> f64 {
        times(x, y) + before(x)
    }

    #[differentiable]
    fn times(x: f64, y: f64) -> f64 {
        x * y
    }

    assert_eq!(f_grad(3.0, 5.0), (11.0, 3.0));
}

/// A function may have the name of a macro that is used in the same body.
#[differentiate]
fn array(x: &Array1<f64>) -> f64 {
    dot(&x.to_vec(), &[1.0, 2.0])
}

#[test]
fn a_function_hides_no_macro() {
    assert_eq!(array_grad(&array![3.0, 4.0]), array![1.0, 2.0]);
}

#[differentiable]
fn dot(a: &[f64], b: &[f64]) -> f64 {
    let mut total = 0.0;
    for k in 0..a.len() {
        total += a[k] * b[k];
    }
    total
}

#[differentiable]
fn polar(p: (f64, f64)) -> (f64, f64) {
    (p.0 * p.1.cos(), p.0 * p.1.sin())
}

#[differentiable]
fn first_above(xs: &Array1<f64>, bound: f64) -> usize {
    let mut at = 0;
    while at + 1 < xs.len() && xs[at] <= bound {
        at += 1;
    }
    at
}

#[differentiable]
fn last<const N: usize>(x: [f64; N]) -> f64 {
    x[N - 1]
}

#[differentiate]
fn of_shapes(xs: &Array1<f64>, r: f64) -> f64 {
    let (a, b) = polar((r, xs[0]));
    let row = [a, b, r];
    dot(&row, &[xs[0], xs[1], xs[2]]) + xs[first_above(xs, 0.5)] + last(row) * last::<2>([a, b])
}

#[test]
fn helpers_take_and_return_slices_tuples_and_integers() {
    check_grad!(of_shapes(&array![0.2, 0.9, 1.4], 0.7));
}

#[differentiate]
fn as_values(xs: &Array1<f64>) -> f64 {
    xs.mapv(square).sum() + build1(xs.len(), |i| physics::energy(xs[i])).sum() + fold(0.0, xs, add)
}

#[differentiable]
fn add(a: f64, b: f64) -> f64 {
    a + b
}

#[test]
fn a_helper_is_a_value() {
    check_grad!(as_values(&array![0.2, 0.9, 1.4]));
}

/// Functions with derivatives call everything here.
#[differentiate]
fn loss(w: &Array1<f64>, x: &Array1<f64>) -> f64 {
    let e = w - x;
    e.mapv(square).sum()
}

#[differentiate]
fn regularised(w: &Array1<f64>, x: &Array1<f64>, l: f64) -> f64 {
    loss(w, x) + l * loss(w, w) + l * before(w[0])
}

#[test]
fn a_function_with_derivatives_is_called_like_a_helper() {
    check_grad!(regularised(&array![0.2, 0.9], &array![0.5, -0.3], 0.1));
}

#[differentiable]
fn slope(x: f64) -> f64 {
    x * x
}

/// The variable is not in scope in its own value.
#[differentiate]
fn a_variable_of_the_same_name(x: f64) -> f64 {
    let slope = slope(x) + 1.0;
    slope * x
}

#[test]
fn a_variable_may_have_the_name_of_the_function_that_gives_it() {
    assert_eq!(a_variable_of_the_same_name_value_and_grad(2.0), (10.0, 13.0));
}

/// A function hides a marked one of its name that is imported with `*`, but not its definition.
mod hidden {
    use ad::prelude::*;

    mod other {
        use ad::prelude::*;

        #[differentiable]
        pub(super) fn gain<T: Real, const N: usize>(x: [T; N]) -> T {
            x[0] * x[1]
        }

        #[differentiable]
        pub(super) fn offset(x: f64) -> f64 {
            x + 1.0
        }
    }

    #[allow(unused_imports, reason = "the local function hides the other one")]
    use other::*;

    fn gain<T: Real, const N: usize>(x: [T; N]) -> T {
        x[0] + x[1]
    }

    #[differentiate]
    fn called(x: f64) -> f64 {
        gain([x, x])
    }

    #[differentiable]
    fn between(x: f64) -> f64 {
        gain([x, x])
    }

    #[differentiate(grad, pullback)]
    fn called_by_a_helper(x: f64) -> f64 {
        offset(between(x))
    }

    #[differentiate]
    fn not_hidden(x: f64) -> f64 {
        offset(x) * x
    }

    #[test]
    #[should_panic(expected = "called: `gain` is another function here than the marked one")]
    fn a_hidden_function_has_no_derivative() {
        let _ = called_grad(called(1.0));
    }

    #[test]
    #[should_panic(expected = "called_by_a_helper: `between` is another function here")]
    fn a_caller_of_a_hidden_function_has_no_derivative() {
        let _ = called_by_a_helper_pullback(called_by_a_helper(1.0)).1(1.0);
    }

    #[test]
    fn a_function_beside_a_hidden_one_has_a_derivative() {
        assert_eq!(not_hidden_value_and_grad(2.0), (6.0, 5.0));
    }
}

/// Helpers that take functions: their closures see the place where they are written.
mod functions {
    use ad::check_grad;
    use ad::prelude::*;

    mod solvers {
        use ad::prelude::*;

        const HALF: f64 = 0.5;

        #[differentiable]
        fn slope(f: &impl Fn(f64) -> f64, x: f64) -> f64 {
            (f(x + HALF) - f(x - HALF)) * square(1.0)
        }

        #[differentiable]
        fn square(x: f64) -> f64 {
            x * x
        }

        #[differentiable]
        pub fn newton<F: Fn(f64) -> f64>(f: F, start: f64, steps: usize) -> f64 {
            let mut x = start;
            for _ in 0..steps {
                x -= f(x) / slope(&f, x);
            }
            x
        }

        #[differentiable]
        pub fn stepped<T: Real, K, const N: usize>(f: &K, h: T, y: [T; N]) -> [T; N]
        where
            K: Fn(T, &[T; N]) -> [T; N],
        {
            let (k, mut next) = (f(h, &y), y);
            for i in 0..N {
                next[i] = y[i] + h * k[i];
            }
            next
        }

        #[differentiable]
        pub fn each(x: &[f64], mut f: impl FnMut(f64)) {
            for &x in x {
                f(square(x));
            }
        }

        #[differentiable]
        pub fn chosen(f: &dyn Fn(f64, (f64, usize)) -> (f64, f64), x: f64) -> f64 {
            let (a, b) = f(x, (2.0 * x, 3));
            a * b
        }
    }

    const HALF: f64 = 3.0;

    /// A function with the name of a solver, which is not the solver.
    #[differentiable]
    fn square(x: f64) -> f64 {
        HALF * x * x
    }

    #[differentiate]
    fn root(a: f64) -> f64 {
        solvers::newton(|x| square(x) - a, 1.0, 20)
    }

    #[differentiate]
    fn oscillator(stiffness: f64, start: [f64; 2]) -> f64 {
        let rhs = |h: f64, y: &[f64; 2]| [y[1], -stiffness * y[0] + square(h)];
        let mut y = start;
        for _ in 0..5 {
            y = solvers::stepped(&rhs, 0.1, y);
        }
        y[0]
    }

    #[differentiate]
    fn accumulated(x: &[f64], power: i32) -> f64 {
        let (mut total, mut last) = (0.0, 1.0);
        solvers::each(x, |v| {
            total += v.powi(power) * last;
            last = square(v);
        });
        total
    }

    #[differentiate]
    fn by_reference(x: f64) -> f64 {
        solvers::chosen(&|a, (b, n)| (a * b, square(b) * n as f64), x)
    }

    #[test]
    fn closures_are_arguments_of_helpers() {
        assert!((root_value_and_grad(12.0).0 - 2.0).abs() < 1e-12);
        assert!((root_value_and_grad(12.0).1 - 1.0 / 12.0).abs() < 1e-12);
        check_grad!(oscillator(1.7, [0.4, -0.3]));
        check_grad!(accumulated(&[0.5, -0.7, 1.1], 2));
        assert_eq!(by_reference_value_and_grad(0.5), (9.0 * 8.0 * 0.0625, 9.0 * 8.0 * 4.0 * 0.125));
    }

    /// A function hides a marked one also if it takes functions.
    mod hidden {
        use ad::prelude::*;

        mod other {
            use ad::prelude::*;

            #[differentiable]
            pub(super) fn twice(f: impl Fn(&[f64; 2], f64) -> f64, x: f64) -> f64 {
                2.0 * f(&[x, x], x)
            }
        }

        #[allow(unused_imports, reason = "the local function hides the other one")]
        use other::*;

        fn twice(f: impl Fn(&[f64; 2], f64) -> f64, x: f64) -> f64 {
            3.0 * f(&[x, x], x)
        }

        #[differentiate]
        fn called(x: f64) -> f64 {
            twice(|a, b| a[0] * b, x)
        }

        #[test]
        #[should_panic(expected = "called: `twice` is another function here than the marked one")]
        fn a_hidden_function_has_no_derivative() {
            let _ = called_grad(called(1.0));
        }
    }
}
