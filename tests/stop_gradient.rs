//! `stop_gradient`: the value is the function's own, and its derivative of every order is zero.

use ad::prelude::*;

#[differentiate(grad, jvp, hvp, hessian, jacobian, wrt(v))]
fn half_stopped(v: [f64; 2]) -> f64 {
    stop_gradient(v[0] * v[0]) * v[1] * v[1]
}

#[test]
fn every_derivative_of_a_number() {
    let v = [3.0, 2.0];
    assert_eq!(half_stopped_value_and_grad(v), (36.0, [0.0, 36.0]));
    assert_eq!(half_stopped_jvp(v, [1.0, 1.0]), (36.0, 36.0));
    assert_eq!(half_stopped_jacobian(v), [0.0, 36.0]);
    assert_eq!(half_stopped_hvp(v, [1.0, 1.0]), [0.0, 18.0]);
    assert_eq!(half_stopped_hessian(v), [[0.0, 0.0], [0.0, 18.0]]);
}

/// Rounding with the derivative of the identity.
#[differentiate]
fn straight_through(x: &Array1<f64>) -> f64 {
    let rounded = x.mapv(f64::round);
    let through = x + stop_gradient(&rounded - x);
    (&through * &through).sum()
}

#[test]
fn a_straight_through_estimator() {
    let x = array![0.4, 1.6, -2.3];
    let (value, gradient) = straight_through_value_and_grad(&x);
    assert_eq!(value, straight_through(&x));
    assert_eq!(gradient, array![0.0, 4.0, -4.0]);
}

#[differentiate]
fn of_views_and_lists(x: &Array2<f64>, rows: &[f64]) -> f64 {
    let (a, n) = stop_gradient((x.t(), x.len()));
    let [p, q] = stop_gradient([rows[0], rows[1]]);
    let last = stop_gradient(rows.last());
    (&a * &x.t()).sum() * n as f64 + p * q * rows[2] + last.copied().unwrap() * rows[0]
}

#[test]
fn tuples_arrays_options_and_integers() {
    let x = array![[1.0, 2.0, 3.0], [4.0, 5.0, 6.0]];
    for x in [x.clone(), x.reversed_axes().as_standard_layout().to_owned().reversed_axes()] {
        let (value, (dx, drows)) = of_views_and_lists_value_and_grad(&x, &[2.0, 3.0, 5.0]);
        assert_eq!(value, of_views_and_lists(&x, &[2.0, 3.0, 5.0]));
        assert_eq!(dx, &x * 6.0);
        assert_eq!(drows, [5.0, 0.0, 6.0]);
    }
}

#[differentiate]
fn in_builds_and_loops(x: &Array1<f64>, w: f64) -> f64 {
    let scaled = build1(x.len(), |i| stop_gradient(x[i] * w) * x[i]);
    let mut state = w;
    for i in 0..x.len() {
        state = stop_gradient(state) + scaled[i] * w;
    }
    state
}

#[test]
fn in_a_build_and_in_what_a_loop_carries() {
    let (x, w) = (array![1.0, 2.0, 3.0], 0.5);
    let (value, (dx, dw)) = in_builds_and_loops_value_and_grad(&x, w);
    assert_eq!(value, in_builds_and_loops(&x, w));
    // The gradient is that of the last step only, and not through `x[i] * w` there.
    assert_eq!(dx, array![0.0, 0.0, 3.0 * 0.5 * 0.5]);
    assert_eq!(dw, 3.0 * 0.5 * 3.0);
}

/// Decisions depend on the function's own values: a view keeps its order of summation.
#[differentiate]
fn decided_by_a_stopped_view(x: &Array2<f64>, bound: f64) -> f64 {
    if stop_gradient(x.t()).sum() > bound { x.sum() } else { -x.sum() }
}

#[test]
fn a_decision_by_a_stopped_value_is_the_functions_own() {
    let x = Array2::from_shape_fn((7, 5), |(i, j)| ((i * 5 + j) as f64 * 0.7).sin() * 1e3 + 1e-9);
    for bound in [x.sum(), x.t().sum(), x.sum() - 1e-9, x.sum() + 1e-9] {
        assert_eq!(
            decided_by_a_stopped_view_value_and_grad(&x, bound).0.signum(),
            decided_by_a_stopped_view(&x, bound).signum()
        );
    }
}

#[differentiate]
fn of_parts(x: &Array1<f64>) -> f64 {
    let mut total = 0.0;
    for i in 1..x.len() {
        total += stop_gradient(x.slice(s![..i])).dot(&x.slice(s![1..i + 1]));
    }
    total
}

#[test]
fn parts_whose_length_a_loop_decides() {
    let x = array![1.0, 2.0, 3.0, 4.0];
    let (value, gradient) = of_parts_value_and_grad(&x);
    assert_eq!(value, of_parts(&x));
    // x[k] is multiplied by the stopped x[k - 1] in the steps i >= k.
    assert_eq!(gradient, array![0.0, 3.0 * 1.0, 2.0 * 2.0, 3.0]);
}
