//! Programs whose functions call derivatives: GradBench's `particle`, `saddle` and `kmeans`,
//! learning to learn, a loss with derivatives in space, and Newton's method. They are compared with
//! GradBench's results, with formulas and with difference quotients.

#[path = "../gradbench/src/programs/descent.rs"]
mod descent;
#[path = "../gradbench/src/programs/particle.rs"]
mod flight;
#[path = "../gradbench/src/programs/kmeans.rs"]
mod kmeans;
mod layouts;
mod reference;
#[path = "../gradbench/src/programs/saddle.rs"]
mod search;

use ad::check_grad;
use ad::prelude::*;
use descent::argmin;
use reference::{agree, matrix, numbers, read};

/// A particle flies in the field of two charges until it reaches the ground. The height of one
/// charge is chosen so that it comes down at the origin.
mod particle {
    use super::*;
    use crate::flight::*;

    /// The outer derivative first, in reverse (`r`) or forwards (`f`).
    #[test]
    fn all_combinations() {
        let case = read("particle");
        let rr = |w: f64| reverse_value_and_grad(w);
        let rf = |w: f64| forward_value_and_grad(w);
        let fr = |w: f64| reverse_jvp(w, 1.0);
        let ff = |w: f64| forward_jvp(w, 1.0);
        for derivative in [&rr as &dyn Fn(f64) -> (f64, f64), &rf, &fr, &ff] {
            for point in case["curve"].as_array().expect("points") {
                let number = |name: &str| point[name].as_f64().expect("a number");
                let (value, slope) = derivative(number("w"));
                let expected = number("objective");
                assert!((value - expected).abs() <= 1e-8 * expected.max(1e-3), "{value} instead of {expected}");
                let expected = number("derivative");
                assert!((slope - expected).abs() <= 1e-7 * expected.abs().max(1.0), "{slope} instead of {expected}");
            }
            let found = argmin(|[w]| derivative(w).0, |[w]| [derivative(w).1], [0.0]);
            let expected = case["output"].as_f64().expect("a number");
            assert!((found[0] - expected).abs() < 1e-6, "{} instead of {expected}", found[0]);
        }
    }
}

/// The saddle point of x1^2 + y1^2 - x2^2 - y2^2: the minimum of maximum values. The maximum is
/// found by a search that takes gradients, and its own gradient goes through all steps of it.
mod saddle {
    use super::*;
    use crate::search::*;

    #[test]
    fn all_combinations() {
        let expected = numbers(&read("saddle")["output"]);
        let start = [1.0, 1.0];
        for inner in [false, true] {
            let reverse = |p: [f64; 2]| greatest_grad(&p, &start, inner);
            let forward = |p: [f64; 2]| [[1.0, 0.0], [0.0, 1.0]].map(|to| greatest_jvp(&p, &start, inner, to).1);
            for outer in [&reverse as &dyn Fn([f64; 2]) -> [f64; 2], &forward] {
                let p = argmin(|p| greatest(&p, &start, inner), outer, start);
                for (k, p) in p.iter().enumerate() {
                    assert!((p - expected[k]).abs() < 1e-9, "{p} instead of {}", expected[k]);
                }
            }
        }
    }
}

/// A step of k-means by Newton's method: the gradient divided by the diagonal of the Hessian, which
/// is the Hessian's product with ones.
mod clusters {
    use super::*;
    use crate::kmeans::{kmeans_grad, kmeans_hvp};

    #[differentiate(vjp, wrt(centroids))]
    fn direction(points: &Array2<f64>, centroids: &Array2<f64>) -> Array2<f64> {
        let ones = Array2::<f64>::ones((centroids.nrows(), centroids.ncols()));
        kmeans_grad(points, centroids) / kmeans_hvp(points, centroids, &ones)
    }

    #[test]
    fn a_step() {
        for file in ["kmeans_n20_d2_k3", "kmeans_n200_d5_k10"] {
            let case = read(file);
            let (points, centroids) = (matrix(&case["input"]["points"]), matrix(&case["input"]["centroids"]));
            agree(&direction(&points, &centroids), &matrix(&case["dir"]));
            let cotangent = centroids.mapv(|v| v - 0.3);
            let (value, gradient) = direction_vjp(&points, &centroids, &cotangent);
            agree(&value, &matrix(&case["dir"]));
            // The Hessian does not change near the centroids.
            agree(&gradient, &cotangent);
        }
    }
}

/// Learning to learn: the start of ten steps of descent, for the loss after them.
mod meta {
    use super::*;

    #[differentiate(grad, wrt(w))]
    fn task(w: &Array1<f64>, x: &Array2<f64>, y: &Array1<f64>) -> f64 {
        let e = x.dot(w).mapv(f64::tanh) - y;
        e.dot(&e) / y.len() as f64
    }

    #[differentiate(grad, wrt(start, rate))]
    fn after_ten_steps(start: &Array1<f64>, rate: f64, x: &Array2<f64>, y: &Array1<f64>) -> f64 {
        let mut w = start.clone();
        for _ in 0..10 {
            w = &w - &(rate * &task_grad(&w, x, y));
        }
        task(&w, x, y)
    }

    #[test]
    fn ten_steps_of_descent() {
        let (x, y) = (array![[0.3, -1.2], [0.8, 0.4], [-0.5, 0.9]], array![0.2, -0.4, 0.7]);
        check_grad!(after_ten_steps(&array![0.1, -0.3], 0.4, &x, &y));
        let (mut w, start) = (array![0.1, -0.3], array![0.1, -0.3]);
        for _ in 0..10 {
            w = &w - &(0.4 * &task_grad(&w, &x, &y));
        }
        let (value, _) = after_ten_steps_value_and_grad(&start, 0.4, &x, &y);
        assert!((value - task(&w, &x, &y)).abs() < 1e-12, "{value}");
    }
}

/// A heat equation u_t = u_xx in the loss of a network of one hidden layer.
mod physics {
    use super::*;

    #[derive(Clone, Debug, Differentiable)]
    struct Network {
        first: Array2<f64>,
        bias: Array1<f64>,
        last: Array1<f64>,
    }

    #[differentiate(grad, jvp, wrt(t, x))]
    fn u(net: &Network, t: f64, x: f64) -> f64 {
        let hidden = build1(net.bias.len(), |k| (net.first[[k, 0]] * t + net.first[[k, 1]] * x + net.bias[k]).tanh());
        hidden.dot(&net.last)
    }

    #[differentiate(grad, jvp, hvp, hessian, wrt(x))]
    fn along(net: &Network, t: f64, x: f64) -> f64 {
        u(net, t, x)
    }

    #[differentiate(grad, wrt(net))]
    fn in_a_loop(net: &Network, points: &Array2<f64>) -> f64 {
        let mut total = 0.0;
        for i in 0..points.nrows() {
            let (t, x) = (points[[i, 0]], points[[i, 1]]);
            let (u_t, _) = u_grad(net, t, x);
            let residual = u_t - along_hvp(net, t, x, 1.0);
            total += residual * residual;
        }
        total / points.nrows() as f64
    }

    #[differentiate(grad, wrt(net))]
    fn in_a_build(net: &Network, points: &Array2<f64>) -> f64 {
        let residuals = build1(points.nrows(), |i| {
            let (t, x) = (points[[i, 0]], points[[i, 1]]);
            let (_, u_t) = u_jvp(net, t, x, 1.0, 0.0);
            u_t - along_hessian(net, t, x)
        });
        residuals.mapv(|r| r * r).mean().unwrap()
    }

    #[test]
    fn second_derivatives_in_space() {
        let net = Network {
            first: array![[0.3, 1.1], [-0.7, 0.4], [0.9, -1.3]],
            bias: array![0.1, -0.2, 0.3],
            last: array![0.5, -1.0, 0.8],
        };
        let points = array![[0.1, 0.2], [0.5, -0.4], [0.9, 0.7], [0.3, 0.0]];
        check_grad!(in_a_loop(&net, &points));
        check_grad!(in_a_build(&net, &points));
        let (a, da) = in_a_loop_value_and_grad(&net, &points);
        let (b, db) = in_a_build_value_and_grad(&net, &points);
        assert!((a - b).abs() < 1e-12 && (a - in_a_loop(&net, &points)).abs() < 1e-12, "{a} {b}");
        for (x, y) in da.to_flat().iter().zip(db.to_flat()) {
            assert!((x - y).abs() < 1e-12, "{x} {y}");
        }
    }
}

/// Newton's method in two dimensions.
mod newton {
    use super::*;

    #[differentiate(grad, hessian, wrt(x))]
    fn valley(x: &[f64; 2], a: f64) -> f64 {
        (1.0 - x[0]).powi(2) + a * (x[1] - x[0] * x[0]).powi(2)
    }

    #[differentiable]
    fn solved(h: &[[f64; 2]; 2], g: &[f64; 2]) -> [f64; 2] {
        let det = h[0][0] * h[1][1] - h[0][1] * h[1][0];
        [(h[1][1] * g[0] - h[0][1] * g[1]) / det, (h[0][0] * g[1] - h[1][0] * g[0]) / det]
    }

    #[differentiate(vjp, jacobian)]
    fn step(x: &[f64; 2], a: f64) -> [f64; 2] {
        let by = solved(&valley_hessian(x, a), &valley_grad(x, a));
        [x[0] - by[0], x[1] - by[1]]
    }

    #[differentiate]
    fn after_three(x: &[f64; 2], a: f64) -> f64 {
        let mut x = *x;
        for _ in 0..3 {
            x = step(&x, a);
        }
        valley(&x, a)
    }

    #[test]
    fn newtons_method() {
        check_grad!(step(&[-0.4, 0.3], 2.0));
        check_grad!(after_three(&[0.4, 0.3], 2.0));
        // A step from the minimum stays there, whatever `a` is.
        let (dx, da) = step_jacobian(&[1.0, 1.0], 5.0);
        assert!(dx.as_flattened().iter().chain(&da).all(|d| d.abs() < 1e-12), "{dx:?} {da:?}");
    }
}
