//! Derivatives that are called in differentiated functions: types, options, and the places of the
//! definitions.

use ad::check_grad;
use ad::prelude::*;

fn close(a: f64, b: f64) {
    assert!((a - b).abs() <= 1e-9 * b.abs().max(1.0), "{a} is not {b}");
}

/// Types and options.
mod kinds {
    use super::*;

    #[derive(Clone, Debug, Differentiable)]
    struct Params {
        w: Array1<f64>,
        b: f64,
        size: usize,
    }

    #[differentiate(grad, jvp, hvp)]
    fn loss(p: &Params, x: &Array1<f64>) -> f64 {
        let y = p.w.dot(x) + p.b;
        y * y * y * p.size as f64
    }

    #[differentiate]
    fn adapted(p: &Params, x: &Array1<f64>) -> f64 {
        let (gradient, _) = loss_grad(p, x);
        let next = Params { w: &p.w - &(0.1 * &gradient.w), b: p.b - 0.1 * gradient.b, size: gradient.size };
        loss(&next, x)
    }

    #[test]
    fn structs() {
        let p = Params { w: array![0.3, -0.2], b: 0.1, size: 2 };
        check_grad!(adapted(&p, &array![0.5, 0.9]));
    }

    #[differentiate]
    fn generic<T: Real>(x: &Array1<T>, k: T) -> T {
        x.iter().fold(k, |s, &v| s * k + v * v * v)
    }

    #[differentiate]
    fn of_generic<T: Real>(x: &Array1<T>, k: T) -> T {
        let (dx, dk) = generic_grad(x, k);
        dx[0] * dk + k
    }

    #[differentiate]
    fn at_doubles(x: &Array1<f64>) -> f64 {
        generic_grad(x, x[0]).1
    }

    #[test]
    fn type_parameters() {
        check_grad!(of_generic(&array![0.3, 0.5, -0.2], 0.7));
        check_grad!(at_doubles(&array![0.3, 0.5, -0.2]));
        let single = of_generic_value_and_grad(&array![0.3_f32, 0.5, -0.2], 0.7).0;
        close(f64::from(single), f64::from(of_generic(&array![0.3_f32, 0.5, -0.2], 0.7_f32)) + 0.0 * 1e-6);
    }

    #[differentiate]
    fn sized<const N: usize>(x: &[f64; N]) -> f64 {
        let mut total = 1.0;
        for v in x {
            total *= v.sin() + N as f64;
        }
        total
    }

    #[differentiate]
    fn of_sized(x: &[f64; 3]) -> f64 {
        let d = sized_grad(x);
        d[0] * d[2] + sized_grad(&[x[0], x[1]])[0]
    }

    #[differentiate]
    fn of_sizes<const M: usize>(x: &[f64; M]) -> f64 {
        sized_grad(x).iter().sum::<f64>()
    }

    #[test]
    fn const_parameters() {
        check_grad!(of_sized(&[0.3, 0.8, 1.2]));
        check_grad!(of_sizes(&[0.3, 0.8, 1.2]));
    }

    #[differentiate(grad, aux)]
    fn with_extra(x: f64, y: f64) -> (f64, (f64, usize)) {
        (x * x * y, (x + y, 3))
    }

    #[differentiate]
    fn of_extra(x: f64) -> f64 {
        let ((loss, (extra, count)), (dx, _)) = with_extra_value_and_grad(x, 2.0);
        loss + extra * count as f64 + dx
    }

    #[differentiate(grad, wrt(x))]
    #[differentiate(grad, wrt(y), suffix = "y")]
    fn twice(x: f64, y: f64) -> f64 {
        x * y * y
    }

    #[differentiate]
    fn of_twice(x: f64, y: f64) -> f64 {
        twice_grad(x, y) * twice_y_grad(x, y)
    }

    #[test]
    fn options() {
        check_grad!(of_extra(0.7));
        close(of_extra_grad(0.7), 4.0 * 0.7 + 3.0 + 4.0);
        check_grad!(of_twice(0.7, 0.4));
        close(of_twice(0.7, 0.4), 0.16 * 2.0 * 0.7 * 0.4);
    }
}

/// Definitions in other modules and crates, and in marked modules.
mod modules {
    use super::*;

    mod library {
        use ad::prelude::*;

        const GAIN: f64 = 1.5;

        #[differentiable]
        fn scaled(x: f64) -> f64 {
            GAIN * x
        }

        #[differentiate(grad, hvp)]
        pub fn wave(x: f64) -> f64 {
            scaled(x).sin() * x
        }

        #[differentiate]
        pub fn slope(x: f64) -> f64 {
            wave_grad(scaled(x))
        }
    }

    use library::wave_grad as slope_of_wave;

    #[differentiate]
    fn by_path_and_import(x: f64) -> f64 {
        library::wave_grad(x) + slope_of_wave(2.0 * x) + library::wave_hvp(x, x) + library::slope_grad(x)
    }

    #[differentiate]
    fn of_a_crate(x: &Array1<f64>, k: f64) -> f64 {
        let (dx, dk) = ad_test_model::energy_grad(x, k);
        dx.dot(x) + dk
    }

    /// It has the name of a derivative of another module.
    mod globbed {
        pub use super::library::*;
    }

    mod user {
        use super::globbed::*;
        use ad::prelude::*;

        #[differentiate]
        pub fn of_glob(x: f64) -> f64 {
            wave_grad(x) * x
        }
    }

    #[test]
    fn paths_imports_and_crates() {
        check_grad!(by_path_and_import(0.4));
        check_grad!(of_a_crate(&array![0.3, -0.9], 0.8));
        check_grad!(user::of_glob(0.4));
    }

    #[differentiate]
    mod marked {
        use ad::prelude::*;

        const GAIN: f64 = 0.5;

        fn scaled(x: f64) -> f64 {
            GAIN * x
        }

        #[differentiate(grad, hvp)]
        pub fn wave(x: f64) -> f64 {
            scaled(x).sin() * x
        }

        fn helper(x: f64) -> f64 {
            inner::cube_grad(x) + wave_grad(x)
        }

        #[differentiate]
        pub fn slope(x: f64) -> f64 {
            helper(x) * wave_hvp(x, 1.0)
        }

        mod inner {
            use ad::prelude::*;

            #[differentiate]
            pub fn cube(x: f64) -> f64 {
                x.powi(3) + super::scaled(x)
            }
        }
    }

    #[differentiate]
    fn of_marked(x: f64) -> f64 {
        marked::wave_grad(x) + marked::slope(x) + marked::slope_grad(x)
    }

    #[test]
    fn marked_modules() {
        check_grad!(marked::slope(0.7));
        check_grad!(of_marked(0.7));
    }
}

#[test]
fn functions_of_a_body() {
    #[differentiate]
    fn inside(x: f64) -> f64 {
        x * x * x
    }
    #[differentiate]
    fn outside(x: f64) -> f64 {
        inside_grad(x) * x
    }
    check_grad!(outside(0.7));
}
