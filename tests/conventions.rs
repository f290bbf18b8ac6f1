//! The derivative where a function has none, or several: each convention of the guide, through the
//! macro.

use ad::prelude::*;

const INF: f64 = f64::INFINITY;
const NAN: f64 = f64::NAN;

#[differentiate]
fn max2(a: f64, b: f64) -> f64 {
    a.max(b)
}

#[differentiate]
fn min2(a: f64, b: f64) -> f64 {
    a.min(b)
}

#[test]
fn max_and_min_of_equals_go_to_the_first_and_nan_gets_none() {
    assert_eq!(max2_grad(2.0, 2.0), (1.0, 0.0));
    assert_eq!(min2_grad(2.0, 2.0), (1.0, 0.0));
    assert_eq!(max2_grad(0.0, -0.0), (1.0, 0.0));
    assert_eq!(max2_grad(-0.0, 0.0), (1.0, 0.0));
    assert_eq!(max2_grad(NAN, 1.0), (0.0, 1.0));
    assert_eq!(max2_grad(1.0, NAN), (1.0, 0.0));
    assert_eq!(min2_grad(NAN, 1.0), (0.0, 1.0));
    assert_eq!(min2_grad(1.0, NAN), (1.0, 0.0));
    assert_eq!(max2_grad(NAN, NAN), (0.0, 0.0));
}

#[differentiate]
fn highest(x: &Array1<f64>) -> f64 {
    maximum(x)
}

#[differentiate]
fn lowest(x: &Array1<f64>) -> f64 {
    minimum(x)
}

#[differentiate]
fn highest_of_matrix(x: &Array2<f64>) -> f64 {
    maximum(x)
}

#[test]
fn an_extremum_of_an_array_goes_to_the_first_index() {
    assert_eq!(highest_grad(&array![1.0, 3.0, 3.0]), array![0.0, 1.0, 0.0]);
    assert_eq!(lowest_grad(&array![1.0, 3.0, 1.0]), array![1.0, 0.0, 0.0]);
    assert_eq!(highest_of_matrix_grad(&array![[1.0, 3.0], [3.0, 0.0]]), array![[0.0, 1.0], [0.0, 0.0]]);
    for x in [array![NAN, 1.0, 2.0], array![1.0, NAN, 2.0], array![2.0, 1.0, NAN], array![NAN, NAN, NAN]] {
        let (value, gradient) = highest_value_and_grad(&x);
        assert_eq!(value.to_bits(), highest(&x).to_bits(), "{x}");
        let (low, _) = lowest_value_and_grad(&x);
        assert_eq!(low.to_bits(), lowest(&x).to_bits(), "{x}");
        assert!(gradient.iter().all(|g| *g == 0.0 || *g == 1.0), "{x} {gradient}");
    }
    assert_eq!(highest_grad(&array![-INF, -INF]), array![1.0, 0.0]);
}

#[differentiate]
fn absolute(x: f64) -> f64 {
    x.abs()
}

#[differentiate]
fn hypotenuse(x: f64, y: f64) -> f64 {
    x.hypot(y)
}

#[differentiate]
fn angle(y: f64, x: f64) -> f64 {
    y.atan2(x)
}

#[test]
fn kinks_at_zero_have_derivative_zero() {
    for zero in [0.0, -0.0] {
        assert_eq!(absolute_grad(zero), 0.0);
        assert_eq!(hypotenuse_grad(zero, 0.0), (0.0, 0.0));
        assert_eq!(angle_grad(zero, 0.0), (0.0, 0.0));
        assert_eq!(angle_grad(0.0, zero), (0.0, 0.0));
    }
    assert_eq!(hypotenuse_grad(3.0, 4.0), (0.6, 0.8));
}

#[test]
fn derivatives_far_from_one_do_not_vanish() {
    for scale in [1e-200, 1.0, 1e200] {
        let near = |a: f64, b: f64| (a - b).abs() <= 1e-14 * b.abs();
        let (dx, dy) = hypotenuse_grad(3.0 * scale, 4.0 * scale);
        assert!(near(dx, 0.6) && near(dy, 0.8), "{dx} {dy}");
        let (dy, dx) = angle_grad(3.0 * scale, 4.0 * scale);
        assert!(near(dy * scale, 0.16) && near(dx * scale, -0.12), "{dy} {dx}");
    }
}

#[differentiate]
fn rectified(x: f64) -> f64 {
    relu(x)
}

#[differentiate]
fn steps(x: f64) -> f64 {
    x.signum() + x.floor() + x.ceil() + x.round() + x.trunc() + (x as i64) as f64 + if x > 0.0 { 1.0 } else { 2.0 }
}

#[differentiate]
fn fraction(x: f64) -> f64 {
    x.fract()
}

#[differentiate]
fn clamped(x: f64) -> f64 {
    x.clamp(-1.0, 2.0)
}

#[test]
fn steps_have_derivative_zero_and_clamp_one_at_its_bounds() {
    assert_eq!(rectified_grad(0.0), 0.0);
    assert_eq!(rectified_grad(-0.0), 0.0);
    for x in [-1.5, -1.0, 0.0, 0.5, 2.0] {
        assert_eq!(steps_grad(x), 0.0);
        assert_eq!(steps_value_and_grad(x).0, steps(x));
        assert_eq!(fraction_grad(x), 1.0);
    }
    assert_eq!([-1.5, -1.0, 0.0, 2.0, 2.5].map(clamped_grad), [0.0, 1.0, 1.0, 1.0, 0.0]);
}

#[differentiate(grad, vjp, jvp)]
fn root(x: f64) -> f64 {
    x.sqrt()
}

#[differentiate(grad, vjp, jvp)]
fn cube_root(x: f64) -> f64 {
    x.cbrt()
}

#[differentiate]
fn root_times(x: f64, k: f64) -> f64 {
    x.sqrt() * k
}

#[differentiate]
fn roots(x: &Array1<f64>, k: &Array1<f64>) -> f64 {
    (x.sqrt() * k).sum()
}

#[differentiate(jvp)]
fn roots_forward(x: &Array1<f64>) -> Array1<f64> {
    x.sqrt()
}

#[test]
fn roots_at_zero_are_infinite_unless_the_cotangent_is_zero() {
    assert_eq!(root_grad(0.0), INF);
    assert_eq!(cube_root_grad(0.0), INF);
    assert_eq!(root_vjp(0.0, 0.0).1, 0.0);
    assert_eq!(cube_root_vjp(0.0, 0.0).1, 0.0);
    assert_eq!(root_jvp(0.0, 0.0).1, 0.0);
    assert_eq!(cube_root_jvp(0.0, 0.0).1, 0.0);
    assert_eq!(root_times_grad(0.0, 0.0), (0.0, 0.0));
    let (dx, _) = roots_grad(&array![0.0, 0.0, 4.0], &array![0.0, 1.0, 4.0]);
    assert_eq!(dx, array![0.0, INF, 1.0]);
    let (_, t) = roots_forward_jvp(&array![0.0, 0.0, 4.0], &array![0.0, 1.0, 4.0]);
    assert_eq!(t, array![0.0, INF, 1.0]);
}

#[differentiate]
fn distance(x: &Array1<f64>) -> f64 {
    let n = (x * x).sum();
    if n > 0.0 { n.sqrt() } else { 0.0 }
}

#[differentiate]
fn guarded(x: &Array1<f64>) -> f64 {
    build1(x.len(), |i| if x[i] > 0.0 { x[i].ln() + x[i].sqrt() / x[i] } else { 0.0 }).sum()
}

#[differentiate]
fn chosen(x: &Array1<f64>) -> f64 {
    build1(x.len(), |i| select(x[i] > 0.0, x[i].sqrt() + 1.0 / x[i], x[i])).sum()
}

#[differentiate]
fn guarded_sum(x: &Array1<f64>) -> f64 {
    let s = build1(x.len(), |i| if x[i] > 0.0 { (x / x[i]).sum().sqrt() } else { x[i] });
    s.sum()
}

#[test]
fn an_arm_that_is_not_taken_gives_no_nan() {
    assert_eq!(distance_grad(&array![0.0, 0.0]), array![0.0, 0.0]);
    assert_eq!(guarded_grad(&array![0.0, -1.0, 1.0]), array![0.0, 0.0, 0.5]);
    assert_eq!(chosen_grad(&array![0.0, -1.0, 1.0]), array![1.0, 1.0, -0.5]);
    assert!(guarded_sum_grad(&array![0.0, -1.0, 2.0]).iter().all(|g| g.is_finite()));
}

#[differentiate]
fn power_zero(x: f64) -> f64 {
    x.powi(0)
}

#[differentiate]
fn powers(x: f64, n: i32) -> f64 {
    x.powi(n)
}

#[differentiate]
fn power(x: f64, y: f64) -> f64 {
    x.powf(y)
}

#[test]
fn powers_at_zero() {
    for x in [0.0, 1.0, INF, NAN] {
        assert_eq!(power_zero_grad(x), 0.0, "{x}");
        assert_eq!(powers_grad(x, 0), 0.0, "{x}");
    }
    assert_eq!(powers_grad(0.0, 1), 1.0);
    assert_eq!(powers_grad(0.0, 2), 0.0);
    assert_eq!(powers_grad(2.0, -1), -0.25);
    assert_eq!(powers_grad(2.0, i32::MIN), 0.0);
    assert_eq!(power_grad(0.0, 2.0), (0.0, 0.0));
    assert_eq!(power_grad(0.0, 1.0), (1.0, 0.0));
    assert_eq!(power_grad(0.0, 0.5), (INF, 0.0));
    assert_eq!(power_grad(0.0, 0.0).0, 0.0);
    assert_eq!(power_grad(-2.0, 2.0).0, -4.0);
}

#[differentiate]
fn root_by_power(x: f64, k: f64) -> f64 {
    x.powf(0.5) * k
}

#[test]
fn a_power_absorbs_a_cotangent_of_zero_as_sqrt_does() {
    assert_eq!(root_by_power_grad(0.0, 0.0), (0.0, 0.0));
    assert_eq!(root_by_power_grad(0.0, 1.0), (INF, 0.0));
}

#[differentiate(hessian)]
fn power_of_both(v: [f64; 2]) -> f64 {
    v[0].powf(v[1])
}

#[differentiate(hessian)]
fn length_of_both(v: [f64; 2]) -> f64 {
    v[0].hypot(v[1])
}

#[differentiate(hessian)]
fn angle_of_both(v: [f64; 2]) -> f64 {
    v[0].atan2(v[1])
}

#[differentiate(hessian)]
fn product_of_three(v: [f64; 3]) -> f64 {
    product(&v)
}

/// A convention for a kink may not reach points where the function is smooth: second derivatives
/// are right there.
#[test]
fn conventions_keep_second_derivatives_where_the_function_is_smooth() {
    let ln_2 = 2.0_f64.ln();
    assert_eq!(power_of_both_hessian([2.0, 0.0]), [[0.0, 0.5], [0.5, ln_2 * ln_2]]);
    assert_eq!(power_of_both_hessian([0.0, 2.0]), [[2.0, 0.0], [0.0, 0.0]]);
    assert_eq!(power_of_both_hessian([0.0, 3.0]), [[0.0, 0.0], [0.0, 0.0]]);
    assert_eq!(length_of_both_hessian([0.0, 2.0]), [[0.5, 0.0], [0.0, 0.0]]);
    assert_eq!(angle_of_both_hessian([0.0, 2.0]), [[0.0, -0.25], [-0.25, 0.0]]);
    assert_eq!(angle_of_both_hessian([2.0, 0.0]), [[0.0, 0.25], [0.25, 0.0]]);
    assert_eq!(product_of_three_hessian([0.0, 2.0, 3.0]), [[0.0, 3.0, 2.0], [3.0, 0.0, 0.0], [2.0, 0.0, 0.0]]);
    assert_eq!(product_of_three_hessian([0.0, 0.0, 3.0]), [[0.0, 3.0, 0.0], [3.0, 0.0, 0.0], [0.0, 0.0, 0.0]]);
}

#[differentiate]
fn total(x: &Array2<f64>) -> f64 {
    sum(x)
}

#[differentiate]
fn average(x: &Array1<f64>) -> f64 {
    x.mean().unwrap()
}

#[differentiate]
fn soft(x: &Array1<f64>) -> f64 {
    logsumexp(x)
}

#[test]
fn empty_arrays() {
    assert_eq!(total_value_and_grad(&Array2::zeros((0, 3))), (0.0, Array2::zeros((0, 3))));
    assert_eq!(total_value_and_grad(&Array2::zeros((3, 0))), (0.0, Array2::zeros((3, 0))));
    let none = Array1::zeros(0);
    assert!(std::panic::catch_unwind(|| average(&Array1::zeros(0))).is_err());
    assert!(std::panic::catch_unwind(|| average_grad(&Array1::zeros(0))).is_err());
    assert!(std::panic::catch_unwind(|| highest(&Array1::zeros(0))).is_err());
    assert!(std::panic::catch_unwind(|| highest_grad(&Array1::zeros(0))).is_err());
    assert_eq!(soft_value_and_grad(&none), (soft(&none), none));
}

#[differentiate]
fn multiplied(x: &Array1<f64>, y: f64) -> f64 {
    y * product(x) + y * y * x.product() * x.iter().product::<f64>()
}

#[differentiate]
fn chosen_by(x: &Array1<f64>, y: f64) -> f64 {
    y * argmax(x) as f64
}

#[differentiate]
fn chosen_from_below(x: &Array1<f64>, y: f64) -> f64 {
    y * argmin(x) as f64
}

#[differentiate]
fn mean_or(x: &Array1<f64>, y: f64) -> f64 {
    match x.mean() {
        Some(mean) => mean * y,
        None => y * y,
    }
}

#[test]
fn the_product_of_no_elements_is_one_and_there_is_no_mean_or_extremum() {
    let none = Array1::<f64>::zeros(0);
    assert_eq!(multiplied_value_and_grad(&none, 3.0), (12.0, (none.clone(), 7.0)));
    assert_eq!(mean_or_value_and_grad(&none, 3.0), (9.0, (none.clone(), 6.0)));
    assert_eq!(mean_or_value_and_grad(&array![1.0, 3.0], 3.0), (6.0, (array![1.5, 1.5], 2.0)));
    assert_eq!(chosen_by_value_and_grad(&array![1.0, 3.0, 3.0], 2.0), (2.0, (Array1::zeros(3), 1.0)));
    assert_eq!(chosen_from_below_value_and_grad(&array![1.0, 3.0, 1.0], 2.0), (0.0, (Array1::zeros(3), 0.0)));
    type Chosen = fn(&Array1<f64>, f64) -> (Array1<f64>, f64);
    for (f, gradient) in [
        (chosen_by as fn(&Array1<f64>, f64) -> f64, chosen_by_grad as Chosen),
        (chosen_from_below, chosen_from_below_grad),
    ] {
        assert!(std::panic::catch_unwind(|| f(&Array1::zeros(0), 1.0)).is_err());
        assert!(std::panic::catch_unwind(|| gradient(&Array1::zeros(0), 1.0)).is_err());
    }
}

#[test]
fn logsumexp_of_infinities() {
    assert_eq!(soft(&array![-INF, -INF]), -INF);
    let (value, gradient) = soft_value_and_grad(&array![-INF, -INF]);
    assert_eq!(value, -INF);
    assert_eq!(gradient, array![0.0, 0.0]);
    assert_eq!(soft_value_and_grad(&array![-INF, 1.0]), (1.0, array![0.0, 1.0]));
    let x = array![INF, 1.0];
    assert_eq!(soft_value_and_grad(&x).0.to_bits(), soft(&x).to_bits());
    let x = array![1e300, 1e300];
    assert_eq!(soft_grad(&x), array![0.5, 0.5]);
}
