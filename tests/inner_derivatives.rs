//! Derivatives that are called in differentiated functions, and differentiated again.

use ad::check_grad;
use ad::prelude::*;

fn close(a: f64, b: f64) {
    assert!((a - b).abs() <= 1e-9 * b.abs().max(1.0), "{a} is not {b}");
}

mod scalars {
    use super::*;

    #[differentiate(grad, hvp, jvp, vjp, pullback, jacobian, hessian, laplacian)]
    fn cubic(x: f64) -> f64 {
        x * x * x
    }

    /// 3 x^2 + x.
    #[differentiate]
    fn slope(x: f64) -> f64 {
        cubic_grad(x) + x
    }

    #[test]
    fn a_gradient_of_a_gradient() {
        close(slope(2.0), 14.0);
        let (value, derivative) = slope_value_and_grad(2.0);
        close(value, 14.0);
        close(derivative, 13.0);
    }

    /// Every derivative of the first and second order.
    #[differentiate(grad, jvp, hvp)]
    fn all_kinds(x: f64, v: f64) -> f64 {
        let (value, gradient) = cubic_value_and_grad(x);
        let (_, tangent) = cubic_jvp(x, v);
        let (_, cotangent) = cubic_vjp(2.0 * x, v);
        let (_, back) = cubic_pullback(x);
        let (_, jacobian) = cubic_value_and_jacobian(x);
        value
            + 2.0 * gradient
            + 3.0 * tangent
            + 5.0 * cotangent
            + 7.0 * back(v) * back(1.0)
            + 11.0 * jacobian
            + 13.0 * cubic_hvp(x, v)
            + 17.0 * cubic_hessian(x)
            + 19.0 * cubic_laplacian(x)
    }

    #[test]
    fn each_derivative_can_be_called() {
        check_grad!(all_kinds(0.7, -1.3));
        let (x, v) = (0.7, -1.3);
        let gradient: f64 = 3.0 * x * x;
        let expected = x * x * x
            + 2.0 * gradient
            + 3.0 * gradient * v
            + 5.0 * 4.0 * gradient * v
            + 7.0 * gradient * gradient * v
            + 11.0 * gradient
            + 13.0 * 6.0 * x * v
            + 36.0 * 6.0 * x;
        close(all_kinds_value_and_grad(x, v).0, expected);
    }

    #[differentiate]
    fn curvature(x: f64) -> f64 {
        slope_grad(x) * x
    }

    #[differentiate(grad, hvp)]
    fn third(x: f64) -> f64 {
        curvature_grad(x * x)
    }

    /// The derivative of slope is 6 x + 1, that of curvature is 12 x + 1.
    #[test]
    fn derivatives_of_derivatives_of_derivatives() {
        check_grad!(third(0.4));
        close(third(0.4), 12.0 * 0.16 + 1.0);
        close(third_grad(0.4), 24.0 * 0.4);
        close(third_hvp(0.4, 1.0), 24.0);
    }
}

/// Derivatives with respect to variables that depend on each other.
mod confusion {
    use super::*;

    #[differentiate(grad, jvp, wrt(y))]
    fn sum_of(x: f64, y: f64) -> f64 {
        x + y
    }

    #[differentiate(grad, jvp, wrt(y))]
    fn product_of(x: f64, y: f64) -> f64 {
        x * y
    }

    #[differentiate(grad, jvp)]
    fn of_sum(x: f64) -> f64 {
        x * sum_of_grad(x, 1.0)
    }

    #[differentiate(grad, jvp)]
    fn of_sum_forwards(x: f64) -> f64 {
        x * sum_of_jvp(x, 1.0, 1.0).1
    }

    #[differentiate(grad, jvp)]
    fn of_product(x: f64) -> f64 {
        product_of_grad(x, x)
    }

    #[differentiate(grad, jvp)]
    fn of_direction(x: f64) -> f64 {
        product_of_jvp(2.0, x, x).1
    }

    #[test]
    fn a_derivative_is_with_respect_to_its_own_variable() {
        for x in [0.3, 1.0, -2.0] {
            close(of_sum_grad(x), 1.0);
            close(of_sum_jvp(x, 1.0).1, 1.0);
            close(of_sum_forwards_grad(x), 1.0);
            close(of_sum_forwards_jvp(x, 1.0).1, 1.0);
            close(of_product_grad(x), 1.0);
            close(of_product_jvp(x, 1.0).1, 1.0);
            close(of_direction_grad(x), 2.0);
        }
    }

    #[differentiate(grad, wrt(y))]
    fn nested(x: f64, y: f64) -> f64 {
        x * x * y * y * y
    }

    #[differentiate(grad, wrt(x))]
    fn middle(x: f64, z: f64) -> f64 {
        nested_grad(x, x * z) * z
    }

    /// The parameters of all three have the same number.
    #[differentiate]
    fn outermost(x: f64) -> f64 {
        middle_grad(x, x)
    }

    /// nested_grad = 3 x^2 y^2, middle = 3 x^4 z^3, its derivative is 12 x^3 z^3.
    #[test]
    fn three_levels_at_one_number() {
        close(outermost(0.9), 12.0 * 0.9_f64.powi(6));
        close(outermost_grad(0.9), 72.0 * 0.9_f64.powi(5));
        check_grad!(outermost(0.9));
    }
}

mod arrays {
    use super::*;

    #[differentiate(grad, hvp, jvp, jacobian)]
    fn energy(x: &Array1<f64>, k: f64) -> f64 {
        let mut total = k * x[0].sin();
        for i in 1..x.len() {
            total += (x[i] - x[i - 1]).powi(4) * k + x[i] * x[i - 1];
        }
        total
    }

    #[differentiate(grad, jvp)]
    fn force(x: &Array1<f64>, k: f64) -> f64 {
        let (dx, dk) = energy_grad(x, k);
        dx.dot(&dx) + dk * x[1]
    }

    #[differentiate(vjp, jvp)]
    fn forces(x: &Array1<f64>, k: f64) -> Array1<f64> {
        -energy_grad(x, k * k).0
    }

    #[differentiate]
    fn along(x: &Array1<f64>, v: &Array1<f64>) -> f64 {
        let product = energy_hvp(x, 0.5, v, 0.0).0;
        let (_, tangent) = energy_jvp(x, 0.5, v, 0.1);
        product.dot(v) * tangent
    }

    #[test]
    fn gradients_of_arrays() {
        let (x, v) = (array![0.3, -0.8, 1.1, 0.4], array![1.0, 0.2, -0.5, 0.7]);
        check_grad!(force(&x, 0.6));
        check_grad!(forces(&x, 0.6));
        check_grad!(along(&x, &v));
        let expected = {
            let (dx, dk) = energy_grad(&x, 0.6);
            dx.dot(&dx) + dk * x[1]
        };
        close(force_value_and_grad(&x, 0.6).0, expected);
    }

    #[differentiate(grad, hessian, jacobian, laplacian, wrt(x))]
    fn bowl(x: &Array1<f64>, a: &Array2<f64>) -> f64 {
        0.5 * x.dot(&a.dot(x)) + x.mapv(|v| v.powi(4)).sum()
    }

    #[differentiate(grad)]
    fn of_hessian(x: &Array1<f64>, a: &Array2<f64>) -> f64 {
        let h = bowl_hessian(x, a);
        h.mapv(|v| v * v).sum() + bowl_laplacian(x, a) + bowl_jacobian(x, a)[1]
    }

    #[test]
    fn hessians_of_arrays() {
        let (x, a) = (array![0.3, -0.8, 1.1], array![[1.0, 0.2, 0.1], [0.3, 2.0, 0.4], [0.0, 0.5, 3.0]]);
        check_grad!(of_hessian(&x, &a));
        let h = bowl_hessian(&x, &a);
        let expected = h.mapv(|v| v * v).sum() + bowl_laplacian(&x, &a) + bowl_jacobian(&x, &a)[1];
        close(of_hessian_value_and_grad(&x, &a).0, expected);
    }

    #[differentiate(vjp, jacobian)]
    fn polar(p: &[f64; 2]) -> [f64; 3] {
        [p[0] * p[1].cos(), p[0] * p[1].sin(), p[0] * p[0] * p[1]]
    }

    #[differentiate]
    fn area(p: &[f64; 2]) -> f64 {
        let j = polar_jacobian(p);
        let (_, back) = polar_vjp(p, [1.0, p[0], 0.5]);
        j[0][0] * j[1][1] - j[0][1] * j[1][0] + j[2][0] * back[1]
    }

    #[test]
    fn jacobians_of_static_arrays() {
        let p = [1.3, 0.4];
        check_grad!(area(&p));
        let back = polar_vjp(&p, [1.0, p[0], 0.5]).1;
        close(area_value_and_grad(&p).0, p[0] + 2.0 * p[0] * p[1] * back[1]);
    }

    #[differentiate]
    fn of_slice(x: &[f64], y: f64) -> f64 {
        x.iter().map(|v| v.sin() * y).sum::<f64>() * x[0]
    }

    #[differentiate]
    fn of_vec(x: &[f64], y: f64) -> f64 {
        let (dx, dy) = of_slice_grad(x, y);
        dx.iter().map(|v| v * v).sum::<f64>() + dy
    }

    #[differentiate]
    fn weighted(p: (f64, f64), q: f32) -> f64 {
        p.0 * p.1 * p.1 * f64::from(q)
    }

    #[differentiate]
    fn of_tuple(x: f64) -> f64 {
        let ((a, b), c) = weighted_grad((x, 2.0 * x), 0.5);
        a * b + f64::from(c)
    }

    #[test]
    fn slices_and_tuples() {
        check_grad!(of_vec(&[0.3, 0.8, -0.2], 0.7));
        close(of_tuple_value_and_grad(0.8).0, of_tuple(0.8));
        check_grad!(of_tuple(0.8), tolerance = 1e-4);
    }
}

/// Derivatives in builds, loops, conditions, closures and helpers.
mod places {
    use super::*;

    #[differentiate(grad, jvp, hvp)]
    fn wave(x: f64, k: f64) -> f64 {
        (k * x).sin() * x
    }

    #[differentiate]
    fn in_a_build(x: &Array1<f64>, k: f64) -> f64 {
        let slopes = build1(x.len(), |i| wave_grad(x[i], k).0 * x[i]);
        slopes.dot(x)
    }

    #[differentiate]
    fn in_a_loop(x: f64, k: f64, n: usize) -> f64 {
        let mut at = x;
        for i in 0..n {
            if at > 0.5 {
                at -= 0.1 * wave_grad(at, k).0;
            } else {
                at += 0.05 * wave_hvp(at, k, 1.0, 0.0).0 * i as f64;
            }
        }
        at
    }

    #[differentiate]
    fn until(x: f64, k: f64) -> f64 {
        let mut at = x;
        while wave_grad(at, k).0 > 0.2 {
            at += 0.1 * wave_grad(at, k).0;
        }
        at * k
    }

    #[differentiable]
    fn helper(x: f64, k: f64) -> f64 {
        let slope = |at: f64| wave_jvp(at, k, 1.0, 0.0).1;
        slope(x) + slope(2.0 * x)
    }

    #[differentiate]
    fn through_a_helper(x: &Array1<f64>, k: f64) -> f64 {
        x.iter().map(|&v| helper(v, k)).sum::<f64>()
    }

    #[test]
    fn derivatives_stand_anywhere() {
        let x = array![0.3, 0.8, -1.2];
        check_grad!(in_a_build(&x, 1.7));
        check_grad!(in_a_loop(0.9, 1.7, 12));
        check_grad!(until(0.3, 0.4));
        check_grad!(through_a_helper(&x, 1.7));
        close(in_a_loop_value_and_grad(0.9, 1.7, 12).0, in_a_loop(0.9, 1.7, 12));
        close(until_value_and_grad(0.3, 0.4).0, until(0.3, 0.4));
    }

    #[differentiate]
    fn safe(x: f64, i: usize, table: &[f64]) -> f64 {
        if x > 0.0 { x.ln() * table[i] } else { 0.0 }
    }

    #[differentiate(grad, wrt(x))]
    fn of_safe(x: f64, i: usize, table: &[f64]) -> f64 {
        safe_grad(x, i, table).0 + x
    }

    #[test]
    fn an_arm_that_is_not_taken_has_no_part() {
        let table = [1.0, 2.0];
        close(of_safe_grad(0.0, 7, &table), 1.0);
        close(of_safe_grad(2.0, 1, &table), 1.0 - 2.0 / 4.0);
    }

    #[test]
    #[should_panic(expected = "index")]
    fn an_index_out_of_range_panics() {
        of_safe_grad(2.0, 7, &[1.0, 2.0]);
    }

    /// A derivative takes the decisions of the function that it differentiates.
    #[differentiate]
    fn kinked(x: &Array1<f64>) -> f64 {
        let k = argmax(x);
        if x[k] > 1.0 { x[k] * x[k] * x[0] } else { x.sum().powi(3) }
    }

    #[differentiate]
    fn of_kinked(x: &Array1<f64>) -> f64 {
        kinked_grad(&(x * 2.0)).dot(x)
    }

    #[test]
    fn branches_inside() {
        check_grad!(of_kinked(&array![0.2, 0.1, 0.3]));
        check_grad!(of_kinked(&array![0.2, 0.9, 0.3]));
    }

    #[differentiate]
    fn long(x: f64, n: usize) -> f64 {
        let mut s = x;
        let mut count = 0;
        while s < 10.0 && count < n {
            s = s * 1.3 + x * x;
            count += 1;
        }
        s
    }

    #[differentiate]
    fn of_long(x: f64, n: usize) -> f64 {
        long_grad(x, n) * x
    }

    #[test]
    fn loops_that_stop_early_inside() {
        check_grad!(of_long(0.7, 30));
        close(of_long_value_and_grad(0.7, 30).0, of_long(0.7, 30));
    }
}
