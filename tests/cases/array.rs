//! Whole arrays: elementwise functions, reductions, products, every form of array
//! that a parameter can have.

use ad::prelude::*;

use super::{Case, differentiate};

#[differentiate]
fn phi_sum(x: &Array2<f64>, y: &Array2<f64>, z: &Array2<f64>) -> f64 {
    let w = x * &y.mapv(f64::sin);
    let angles = build([x.nrows(), x.ncols()], |[i, j]| z[[i, j]].atan2(w[[i, j]]));
    (angles + z * &w).sum()
}

#[test]
fn elementwise() {
    Case::in_every_layout("horde-foo-matrix2x2", |case| {
        let (value, (x, y, z)) = phi_sum_value_and_grad(&case.input("x"), &case.input("y"), &case.input("z"));
        case.check(&value, &[("x", &x), ("y", &y), ("z", &z)]);
    });
}

#[differentiate]
fn phi_each(x: ArrayView2<'_, f64>, y: ArrayView2<'_, f64>, z: ArrayView2<'_, f64>) -> Array2<f64> {
    build([x.nrows(), x.ncols()], |[i, j]| {
        let w = x[[i, j]] * y[[i, j]].sin();
        z[[i, j]].atan2(w) + z[[i, j]] * w
    })
}

#[test]
fn elementwise_with_a_cotangent() {
    Case::in_every_layout("horde-foo-vjp-ones", |case| {
        let x: Array2<f64> = case.input("x");
        let y: Array2<f64> = case.input("y");
        let z: Array2<f64> = case.input("z");
        let cotangent: Array2<f64> = case.cotangent();
        let (value, (x, y, z)) = phi_each_vjp(x.view(), y.view(), z.view(), &cotangent);
        case.check(&value, &[("x", &x), ("y", &y), ("z", &z)]);
    });
}

/// In double precision, rounded to single precision before the sum.
#[differentiate]
fn phi_rounded(x: &Array3<f64>, y: &Array3<f64>, z: &Array3<f64>) -> f32 {
    let shape = [x.shape()[0], x.shape()[1], x.shape()[2]];
    let rounded = build(shape, |[i, j, k]| {
        let w = x[[i, j, k]] * y[[i, j, k]].sin();
        (z[[i, j, k]].atan2(w) + z[[i, j, k]] * w) as f32
    });
    rounded.sum()
}

#[test]
fn mixed_precision() {
    Case::in_every_layout("horde-foo-cast-f64-to-f32", |case| {
        let (value, (x, y, z)) = phi_rounded_value_and_grad(&case.input("x"), &case.input("y"), &case.input("z"));
        case.check(&value, &[("x", &x), ("y", &y), ("z", &z)]);
    });
}

#[differentiate]
fn relu(x: &Array2<f64>) -> Array2<f64> {
    x.mapv(|x| if x <= 0.0 { 0.0 } else { x })
}

#[test]
fn kink() {
    Case::in_every_layout("horde-relu-3x4", |case| {
        let (value, x) = relu_vjp(&case.input("x"), &case.ones::<Array2<f64>>());
        case.check(&value, &[("x", &x)]);
    });
}

/// At a tie the derivative goes to the first argument, here a constant.
#[differentiate]
fn scaled_relu(t: &ArrayRef2<f64>, r: f64) -> f64 {
    (t * r).mapv(|u| 0_f64.max(u)).sum()
}

#[test]
fn maximum_with_a_constant() {
    Case::in_every_layout("horde-relu-max", |case| {
        let (value, (t, r)) = scaled_relu_value_and_grad(&case.input::<Array2<f64>>("t"), case.input("r"));
        case.check(&value, &[("t", &t), ("r", &r)]);
    });
}

#[differentiate(jvp)]
fn psi_relu(x: ArrayView3<'_, f64>) -> Array3<f64> {
    let relu = |x: f64| 0_f64.max(x);
    let phi = |x: f64, y: f64, z: f64| {
        let w = x * y.sin();
        z.atan2(w) + z * w
    };
    let psi = |x: f64, y: f64| {
        let w = phi(x, y, x) * y.sin();
        x.atan2(w) + y * w
    };
    x.mapv(|x| relu(psi(x, relu(x))))
}

#[test]
fn rank_three_forwards() {
    Case::in_every_layout("horde-barReluMax3-jvp", |case| {
        let x: Array3<f64> = case.input("x");
        let (value, tangent) = psi_relu_jvp(x.view(), &case.tangent::<Array3<f64>>("x"));
        case.check_jvp(&value, &tangent);
    });
}

#[differentiate]
fn quadratic(v: Array1<f64>) -> Array1<f64> {
    let c = 2.5;
    c * &v + &v * &v
}

#[test]
fn by_value() {
    Case::in_every_layout("chad-map-quadratic", |case| {
        let (value, v) = quadratic_vjp(case.input("v"), &case.cotangent::<Array1<f64>>());
        case.check(&value, &[("v", &v)]);
    });
}

#[differentiate]
fn captured_twice(x: f64) -> Array1<f64> {
    let f = |z: f64| x * z + 1.0;
    build1(5, |_| x).mapv(f)
}

#[test]
fn closure_over_a_replicated_scalar() {
    Case::in_every_layout("chad-paper-ex3", |case| {
        let (value, x) = captured_twice_vjp(case.input("x"), &case.cotangent::<Array1<f64>>());
        case.check(&value, &[("x", &x)]);
    });
}

#[differentiate]
fn squares(t: &Array2<f64>) -> Array2<f64> {
    t.mapv(|x| x * x)
}

#[test]
fn map_of_a_square() {
    Case::in_every_layout("ksc-map-squares", |case| {
        let (value, t) = squares_vjp(&case.input("t"), &case.ones::<Array2<f64>>());
        case.check(&value, &[("t", &t)]);
    });
}

#[differentiate]
fn smooth_relu(v: &Array1<f64>) -> Array1<f64> {
    v.mapv(|x| {
        if x < 0.0 {
            0.0
        } else if x < 1.0 {
            x * x * x / 3.0
        } else {
            x - 2.0 / 3.0
        }
    })
}

#[test]
fn nested_conditionals() {
    Case::in_every_layout("ksc-relu3", |case| {
        let (value, v) = smooth_relu_vjp(&case.input("v"), &case.ones::<Array1<f64>>());
        case.check(&value, &[("v", &v)]);
    });
}

#[differentiate]
fn logistic_twice(x: &Array3<f64>) -> Array3<f64> {
    let logistic = |x: f64| 1.0 / (1.0 + (-x).exp());
    x.mapv(logistic).mapv(logistic)
}

/// The case has rank 5. Here its two outer axes are merged, and the axis of size 1 is dropped.
#[test]
fn logistic() {
    Case::in_every_layout("horde-logistic2-rank5", |case| {
        let shape = [4, 2, 2];
        let x: Array3<f64> = case.reshaped("x", shape);
        let (value, x) = logistic_twice_vjp(&x, &case.ones_like::<Array3<f64>>(&shape));
        case.check(&value, &[("x", &x)]);
    });
}

#[differentiate]
fn floor_times(r: &Array1<f64>) -> Array2<f64> {
    build1(r.len(), |i| r[i].floor() * r)
}

#[test]
fn floor() {
    Case::in_every_layout("horde-concatBuild-floor", |case| {
        let (value, r) = floor_times_vjp(&case.input("r"), &case.ones::<Array2<f64>>());
        case.check(&value, &[("r", &r)]);
    });
}

#[differentiate]
fn dot_by_elements(a: &[f64], b: &[f64]) -> f64 {
    sum(&build1(a.len(), |i| a[i] * b[i]))
}

#[differentiate]
fn dot(a: &Array1<f64>, b: &Array1<f64>) -> f64 {
    a.dot(b)
}

#[test]
fn dot_product() {
    Case::in_every_layout("dualrev-dotprod", |case| {
        let (value, (a, b)) = dot_value_and_grad(&case.input("a"), &case.input("b"));
        case.check(&value, &[("a", &a), ("b", &b)]);

        let a: Vec<f64> = case.input("a");
        let b: Vec<f64> = case.input("b");
        let (value, (a, b)) = dot_by_elements_value_and_grad(&a, &b);
        case.check(&value, &[("a", &a), ("b", &b)]);
    });
}

#[differentiate]
fn matrix_times_vector(m: &Array2<f64>, v: &Array1<f64>) -> f64 {
    m.dot(v).sum()
}

#[test]
fn matrix_vector_product() {
    Case::in_every_layout("dualrev-summatvec", |case| {
        let (value, (m, v)) = matrix_times_vector_value_and_grad(&case.input("M"), &case.input("v"));
        case.check(&value, &[("M", &m), ("v", &v)]);
    });
}

#[differentiate]
fn matrix_times_row(a: &Array2<f64>, b: &Array2<f64>) -> Array2<f64> {
    build1(a.nrows(), |i| b.t().dot(&a.row(i)))
}

#[test]
fn matrix_product_by_rows() {
    Case::in_every_layout("horde-matvec-list", |case| {
        let cotangent: Array2<f64> = case.cotangent();
        let (value, (a, b)) = matrix_times_row_vjp(&case.input("A"), &case.input("B"), &cotangent);
        case.check(&value, &[("A", &a), ("B", &b)]);
    });
}

#[differentiate]
fn log_sum_exp(v: &Array1<f64>) -> f64 {
    let m = maximum(v);
    (v - m).mapv(f64::exp).sum().ln() + m
}

#[differentiate]
fn log_sum_exp_at_once(v: &Array1<f64>) -> f64 {
    logsumexp(v)
}

#[test]
fn logsumexp_both_ways() {
    Case::in_every_layout("ksc-logsumexp", |case| {
        let (value, v) = log_sum_exp_value_and_grad(&case.input("v"));
        case.check(&value, &[("v", &v)]);
        let (value, v) = log_sum_exp_at_once_value_and_grad(&case.input("v"));
        case.check(&value, &[("v", &v)]);
    });
}

#[differentiate(wrt(d))]
fn cross_entropy(d: &Array1<f64>, t: &Array1<f64>) -> f64 {
    logsumexp(d) * t.sum() - d.dot(t)
}

#[test]
fn softmax_cross_entropy() {
    Case::in_every_layout("horde-softmax-xent", |case| {
        let (value, d) = cross_entropy_value_and_grad(&case.input("d"), &case.input("t"));
        case.check(&value, &[("d", &d)]);
    });
}

#[differentiate]
fn decided_by_the_mean(x: &Array1<f64>) -> f64 {
    let y = x.mean().unwrap();
    let t = if y < 0.0 { -0.125 * x } else { 0.5 * x * x };
    (t.mapv(f64::sin) * t).mean().unwrap()
}

#[test]
fn conditional_on_a_reduction() {
    Case::in_every_layout("ksc-sqrl-pos", |case| {
        let (value, x) = decided_by_the_mean_value_and_grad(&case.input("x"));
        case.check(&value, &[("x", &x)]);
    });
}

#[differentiate]
fn sizes_and_sums(w: &[f64], counts: &Array1<i64>) -> f64 {
    let integers = build1(7, |i| counts[i]).sum();
    integers as f64 + build1(w.len(), |_| sum(w)).sum()
}

#[test]
fn integers_among_reals() {
    Case::in_every_layout("ksc-test0-mixed-integers", |case| {
        let counts = Array1::from_iter(0..7);
        let (value, w) = sizes_and_sums_value_and_grad(&case.input::<Vec<f64>>("w"), &counts);
        case.check(&value, &[("w", &w)]);
    });
}

/// The first step copies, since `into_shape_with_order` refuses an array of another memory layout.
#[differentiate]
fn reshaped(t: &Array2<f64>) -> Array2<f64> {
    let t = t.clone().into_shape_clone((2, 2, 3)).unwrap();
    let t = t.into_shape_with_order((3, 1, 1, 4)).unwrap();
    let t = t.into_shape_with_order((1, 12, 1)).unwrap();
    let t = t.into_shape_with_order((3, 1, 2, 1, 1, 2)).unwrap();
    t.into_shape_with_order((2, 6)).unwrap()
}

#[test]
fn reshaped_again_and_again() {
    Case::in_every_layout("horde-reshape-chain", |case| {
        let (value, t) = reshaped_vjp(&case.input("t"), &case.ones::<Array2<f64>>());
        case.check(&value, &[("t", &t)]);
    });
}
