//! Derivatives that are called in differentiated functions: the types of parameters, the
//! derivatives of the caller, and the bodies of functions that are differentiated inside.

use ad::check_grad;
use ad::prelude::*;

fn close(a: f64, b: f64) {
    assert!((a - b).abs() <= 1e-9 * b.abs().max(1.0), "{a} is not {b}");
}

/// Values of a type that contains itself.
mod trees {
    use super::*;

    #[derive(Clone, Debug, PartialEq, Differentiable)]
    enum Expr {
        Number(f64),
        Sum(Vec<Expr>),
    }

    #[differentiate(grad, wrt(x))]
    fn top(e: &Expr, x: f64) -> f64 {
        match e {
            Expr::Number(c) => *c * x * x,
            Expr::Sum(_) => x,
        }
    }

    #[differentiate(grad)]
    fn both(e: &Expr, x: f64) -> f64 {
        match e {
            Expr::Number(c) => *c * x * x,
            Expr::Sum(_) => x,
        }
    }

    #[differentiate(grad, wrt(x))]
    fn of_top(e: &Expr, x: f64) -> f64 {
        top_grad(e, x) * x
    }

    #[differentiate(grad, wrt(x))]
    fn of_both(e: &Expr, x: f64) -> f64 {
        both_grad(e, x).1 * x
    }

    #[test]
    fn a_tree_as_an_inactive_argument() {
        close(of_top_grad(&Expr::Number(3.0), 2.0), 24.0);
        close(of_both_grad(&Expr::Number(3.0), 2.0), 24.0);
    }
}

/// Enums, options and lists of tuples.
mod sums {
    use super::*;

    #[derive(Clone, Debug, PartialEq, Differentiable)]
    enum Shape {
        Circle(f64),
        Square { side: f64, at: [f64; 2] },
    }

    #[differentiate]
    fn area(s: &Shape, k: f64) -> f64 {
        match s {
            Shape::Circle(r) => 3.0 * r * r * k,
            Shape::Square { side, at } => side * side * at[0] * k,
        }
    }

    #[differentiate]
    fn of_area(s: &Shape, k: f64) -> f64 {
        let (d, dk) = area_grad(s, k);
        dk + match d {
            Shape::Circle(r) => r * k,
            Shape::Square { side, at } => side * at[0],
        }
    }

    #[differentiate]
    fn optional(x: Option<f64>, y: f64) -> f64 {
        match x {
            Some(x) => x * x * y,
            None => y * y,
        }
    }

    #[differentiate]
    fn of_optional(x: Option<f64>, y: f64) -> f64 {
        let (dx, dy) = optional_grad(x, y);
        dx.unwrap_or(1.0) * dy
    }

    #[differentiate]
    fn of_list(xs: &[(f64, f64)], k: f64) -> f64 {
        xs.iter().map(|(a, b)| a * a * b * k).sum::<f64>()
    }

    #[differentiate]
    fn use_list(xs: &[(f64, f64)], k: f64) -> f64 {
        let (d, dk) = of_list_grad(xs, k);
        d.iter().map(|(a, b)| a * b).sum::<f64>() + dk
    }

    #[test]
    fn products_and_sums() {
        check_grad!(of_area(&Shape::Circle(0.7), 1.3));
        check_grad!(of_area(&Shape::Square { side: 0.7, at: [0.3, 0.4] }, 1.3));
        check_grad!(of_optional(Some(0.3), 0.4));
        check_grad!(of_optional(None, 0.4));
        check_grad!(use_list(&[(0.3, 0.4), (0.5, -0.6)], 0.4));
    }
}

/// Each derivative of a function that calls derivatives.
mod callers {
    use super::*;

    #[differentiate(grad, hvp, jvp)]
    fn g(w: &Array1<f64>, x: f64) -> f64 {
        w.mapv(|v| (v * x).sin()).sum() * x
    }

    #[differentiate(grad, jvp, hvp, pullback, into, per_example(x), wrt(w))]
    fn f(w: &Array1<f64>, x: f64) -> f64 {
        g_grad(w, x).0.dot(w) + g_grad(w, x).1
    }

    #[differentiate(vjp, jacobian, jvp)]
    fn v(w: &Array1<f64>, x: f64) -> Array1<f64> {
        g_hvp(w, x, w, 1.0).0
    }

    #[differentiate(grad, hessian, laplacian, wrt(w))]
    fn h(w: &Array1<f64>, x: f64) -> f64 {
        g_jvp(w, x, &w.mapv(|a| a * a), 0.5).1
    }

    #[differentiate(jacobian(sparse))]
    fn s(w: &Array1<f64>) -> Array1<f64> {
        build1(w.len(), |i| one_grad(w[i]))
    }

    #[differentiate]
    fn one(x: f64) -> f64 {
        x.powi(4)
    }

    #[test]
    fn derivatives_of_the_caller() {
        let w = array![0.3, -0.7, 0.5];
        check_grad!(v(&w, 0.7));
        check_grad!(h(&w, 0.7));
        check_grad!(s(&w));
        let (vals, grads) = f_value_and_grad_each(&w, &array![0.7, 0.2]);
        close(vals[0], f(&w, 0.7));
        let (val, grad) = f_value_and_grad(&w, 0.2);
        close(vals[1], val);
        for k in 0..3 {
            close(grads[[1, k]], grad[k]);
        }
        let empty = Array1::<f64>::zeros(0);
        close(f_value_and_grad(&empty, 0.2).0, 0.0);
    }
}

mod bodies {
    use super::*;

    #[differentiate]
    fn collects(x: &[f64], k: f64) -> f64 {
        let mut v = Vec::new();
        for a in x {
            if *a > 0.0 {
                v.push(a * k);
            }
        }
        v.iter().map(|a| a * a).sum::<f64>()
    }

    #[differentiate]
    fn of_collects(x: &[f64], k: f64) -> f64 {
        let (dx, dk) = collects_grad(x, k);
        dx.iter().sum::<f64>() * dk
    }

    #[differentiate]
    fn sorted(x: &[f64]) -> f64 {
        let mut v = x.to_vec();
        v.sort_by(|a, b| a.partial_cmp(b).unwrap());
        v.iter().enumerate().map(|(i, a)| a * a * i as f64).sum::<f64>()
    }

    #[differentiate]
    fn of_sorted(x: &[f64]) -> f64 {
        sorted_grad(x).iter().map(|a| a * a).sum::<f64>()
    }

    #[differentiate]
    fn lu(a: &Array2<f64>) -> f64 {
        let n = a.nrows();
        let mut m = a.clone();
        let mut det = 1.0;
        for k in 0..n {
            det *= m[[k, k]];
            for i in k + 1..n {
                let f = m[[i, k]] / m[[k, k]];
                for j in k..n {
                    m[[i, j]] -= f * m[[k, j]];
                }
            }
        }
        det
    }

    #[differentiate]
    fn of_lu(a: &Array2<f64>) -> f64 {
        lu_grad(a).mapv(|v| v * v).sum()
    }

    #[differentiate]
    fn grown(x: f64, n: usize) -> f64 {
        let mut v = vec![x];
        for i in 0..n {
            v.push(x * i as f64);
        }
        let d = collects_grad(&v, x).0;
        d[0] + d[1]
    }

    #[differentiate]
    fn limited(x: f64, limit: usize) -> f64 {
        let mut s = x;
        for _ in 0..limit {
            if s > 10.0 {
                break;
            }
            s *= 1.5 + 0.1 * x;
        }
        s
    }

    #[differentiate]
    fn of_limited(x: &Array1<f64>, limit: usize) -> f64 {
        let mut total = 0.0;
        for i in 0..x.len() {
            total += limited_grad(x[i], limit) * x[i];
        }
        total + build1(x.len(), |i| limited_grad(x[i] * x[i], limit)).sum()
    }

    #[differentiate]
    fn triangle(x: &Array1<f64>) -> f64 {
        let mut total = 0.0;
        for i in 0..x.len() {
            for j in 0..i {
                total += pair_grad(x[i], x[j]).0 * pair_grad(x[j], x[i]).1;
            }
        }
        total
    }

    #[differentiate]
    fn pair(a: f64, b: f64) -> f64 {
        (a * a * b).sin()
    }

    #[differentiate]
    fn recursive(x: f64, n: usize) -> f64 {
        if n == 0 { x } else { pair_grad(x, 0.5).0 * 0.3 + 0.2 * recursive(x * 0.9, n - 1) }
    }

    #[differentiate(grad, jvp)]
    fn stopped(x: f64) -> f64 {
        stop_gradient(x) * x * x
    }

    #[differentiate]
    fn of_stopped(x: f64) -> f64 {
        stopped_grad(x) + stop_gradient(stopped_grad(x)) * x
    }

    #[differentiate]
    fn normed(x: &Array1<f64>) -> f64 {
        norm(x) + maximum(x) * softmax(x)[0] + logsumexp(x)
    }

    #[differentiate]
    fn of_normed(x: &Array1<f64>) -> f64 {
        normed_grad(x).dot(x) + normed_grad(x)[0]
    }

    #[differentiate]
    fn decide(x: &Array2<f64>) -> f64 {
        let s = x.t().sum();
        if s > 1.0 { s * s * x[[0, 0]] } else { x.product() }
    }

    #[differentiate]
    fn of_decide(x: &Array2<f64>) -> f64 {
        decide_grad(&x.t().to_owned()).sum() + decide_grad(x)[[0, 1]]
    }

    #[differentiate]
    fn fused(x: f32, y: f64) -> f64 {
        f64::from(x) * y * y
    }

    #[differentiate]
    fn of_fused(x: f32) -> f32 {
        let (dx, dy) = fused_grad(x, 2.0);
        dx * dy as f32
    }

    #[test]
    fn constructs_in_a_function_that_is_differentiated_inside() {
        check_grad!(of_collects(&[0.3, -0.2, 0.7], 0.5));
        check_grad!(of_sorted(&[0.3, -0.2, 0.7]));
        check_grad!(of_lu(&array![[2.0, 0.3, 0.1], [0.2, 1.5, 0.4], [0.5, 0.1, 3.0]]));
        check_grad!(grown(0.6, 4));
        check_grad!(of_limited(&array![0.3, 0.9, 2.0], 12));
        check_grad!(triangle(&array![0.3, 0.9, 2.0, 0.1]));
        check_grad!(recursive(0.6, 4));
        close(of_stopped_grad(0.6), 2.0 * 0.6 + 2.0 * 0.36);
        check_grad!(of_normed(&array![0.3, 0.9, 2.0]));
        check_grad!(of_decide(&array![[0.3, 0.9], [2.0, 0.1]]));
        check_grad!(of_decide(&array![[0.3, 0.1], [0.2, 0.1]]));
        close(f64::from(of_fused_grad(0.5)), 32.0 * 0.5);
        close(of_normed_value_and_grad(&array![0.3, 0.9, 2.0]).0, of_normed(&array![0.3, 0.9, 2.0]));
        close(of_limited_value_and_grad(&array![0.3, 0.9, 2.0], 12).0, of_limited(&array![0.3, 0.9, 2.0], 12));
    }

    #[test]
    #[should_panic(expected = "`w`")]
    fn a_tangent_of_another_shape() {
        let _ = along_grad(&array![0.1, 0.2], &array![0.1]);
    }

    #[differentiate(jvp)]
    fn base(w: &Array1<f64>) -> f64 {
        w.dot(w)
    }

    #[differentiate]
    fn along(w: &Array1<f64>, v: &Array1<f64>) -> f64 {
        base_jvp(w, v).1
    }
}
