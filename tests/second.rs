//! Second derivatives and blocks with known answers: the cases of `data/gradients.json` for
//! derivatives of derivatives, GradBench's k-means (the Hessian's diagonal by one product), and
//! bundle adjustment (2 x 15 blocks in registers).

#![forbid(unsafe_code)]
#![deny(warnings, missing_docs, clippy::all)]
// Types are spelt out, since they are tested.
#![allow(clippy::type_complexity)]

#[path = "../gradbench/src/programs/kmeans.rs"]
mod kmeans;
mod reference;
#[path = "programs/reprojection.rs"]
mod reprojection;

use ad::prelude::*;
use kmeans::{kmeans_grad, kmeans_hessian, kmeans_hvp};
use reference::{matrix, numbers, parsed};
use reprojection::reprojection_value_and_jacobian;
use serde_json::Value;

fn case(id: &str) -> Value {
    let all = parsed("gradients");
    all.as_array().expect("a list").iter().find(|c| c["id"] == id).expect("the case").clone()
}

fn number(json: &Value) -> f64 {
    numbers(json)[0]
}

#[track_caller]
fn near(found: f64, expected: f64, tolerance: f64) {
    assert!((found - expected).abs() <= tolerance * expected.abs().max(1.0), "{found} instead of {expected}");
}

#[differentiate(grad, hessian, hvp, jvp)]
fn sine(x: f64) -> f64 {
    x.sin()
}

/// A first derivative written by hand, so that its Hessian is the third derivative of the sine.
#[differentiate(grad, hessian)]
fn slope_of_sine(x: f64) -> f64 {
    x.cos()
}

#[test]
fn derivatives_of_the_sine() {
    let second = case("horde-sin-second");
    let x = number(&second["inputs"]["x"]["data"]);
    near(sine_hessian(x), number(&second["expected"]["x"]["data"]), 1e-15);
    near(sine_hvp(x, 1.0), number(&second["expected"]["x"]["data"]), 1e-15);
    let third = case("horde-sin-third");
    near(slope_of_sine_hessian(x), number(&third["expected"]["x"]["data"]), 1e-15);
}

#[differentiate(grad)]
fn composed(x: f64) -> f64 {
    let slope = |x: f64| x.cos();
    slope(slope(x))
}

#[test]
fn a_derivative_of_a_derivative_inside() {
    let c = case("horde-grad-composed");
    let (value, gradient) = composed_value_and_grad(number(&c["inputs"]["x"]["data"]));
    near(value, number(&c["expected_value"]), 1e-15);
    near(gradient, number(&c["expected"]["x"]["data"]), 1e-14);
}

#[differentiate(grad, hessian, hvp)]
fn summed_fold(a: f64) -> f64 {
    let all = fold(Array2::from_elem((2, 5), 2.0 * a), &array![a, a, a], |acc: Array2<f64>, e: f64| {
        let sums = acc.mapv(f64::sin).sum_axis(Axis(1));
        build([2, 5], |[i, _]| sums[i].atan2((7.0 * e).sin()))
    });
    all.sum()
}

#[test]
fn second_derivative_of_a_fold() {
    let c = case("horde-fold8-second");
    let (a, expected) = (number(&c["inputs"]["a"]["data"]), number(&c["expected"]["a"]["data"]));
    near(summed_fold_hessian(a), expected, 1e-11);
    near(summed_fold_hvp(a, 1.0), expected, 1e-11);
    ad::check_grad!(summed_fold(a));
}

#[differentiate(grad, jvp, hvp, hessian)]
fn digammas(x: &Array1<f64>) -> f64 {
    x.iter().map(|&x| digamma(x) * x).sum::<f64>() + ln_gamma(x[0] * x[1])
}

/// The second derivative of digamma has its known values: -2 zeta(3) at 1, -14 zeta(3) at 1/2.
#[test]
fn second_derivative_of_digamma() {
    const APERY: f64 = 1.202_056_903_159_594_3;
    let at = |x: f64| 2.0 * trigamma(x) + x * tetragamma(x);
    fn trigamma(x: f64) -> f64 {
        std::f64::consts::PI.powi(2) / if x == 1.0 { 6.0 } else { 2.0 }
    }
    fn tetragamma(x: f64) -> f64 {
        if x == 1.0 { -2.0 * APERY } else { -14.0 * APERY }
    }
    let (x, y) = (0.5, 1.0);
    let hessian = digammas_hessian(&array![x, y]);
    // ln_gamma of the product: digamma(1/2) = -gamma - 2 ln 2.
    let (d, t) = (-0.577_215_664_901_532_9 - 2.0 * std::f64::consts::LN_2, trigamma(0.5));
    near(hessian[[0, 0]], at(x) + t * y * y, 1e-13);
    near(hessian[[1, 1]], at(y) + t * x * x, 1e-13);
    near(hessian[[0, 1]], d + t * x * y, 1e-13);
    near(hessian[[1, 0]], d + t * x * y, 1e-13);
    let product = digammas_hvp(&array![x, y], &array![1.0, -2.0]);
    near(product[0], hessian[[0, 0]] - 2.0 * hessian[[0, 1]], 1e-12);
    near(product[1], hessian[[1, 0]] - 2.0 * hessian[[1, 1]], 1e-12);
    ad::check_grad!(digammas(&array![0.7, 2.5]));
}

#[differentiate(grad, hvp)]
fn both(x: f64, y: f64) -> f64 {
    let z = x * y;
    z * x + z * y
}

/// The gradient of one component of the gradient is a row of the Hessian.
#[test]
fn one_component_of_a_derivative() {
    let c = case("ksc-derivative-selection");
    let (x, y) = (number(&c["inputs"]["x"]["data"]), number(&c["inputs"]["y"]["data"]));
    near(both_grad(x, y).0, number(&c["expected_value"]), 1e-15);
    let (dx, dy) = both_hvp(x, y, 1.0, 0.0);
    near(dx, number(&c["expected"]["x"]["data"]), 1e-15);
    near(dy, number(&c["expected"]["y"]["data"]), 1e-14);
}

#[test]
fn k_means_by_newton() {
    for file in ["gradbench/kmeans_n20_d2_k3", "gradbench/kmeans_n200_d5_k10"] {
        let case = parsed(file);
        let (points, centroids) = (matrix(&case["input"]["points"]), matrix(&case["input"]["centroids"]));
        let gradient = kmeans_grad(&points, &centroids);
        // The Hessian is diagonal, so its product with ones is its diagonal.
        let diagonal = kmeans_hvp(&points, &centroids, &Array2::ones(centroids.raw_dim()));
        assert_eq!(diagonal, matrix(&case["hessian_diagonal"]));
        for (found, expected) in (gradient / &diagonal).iter().zip(&matrix(&case["dir"])) {
            near(*found, *expected, 1e-12);
        }
        if centroids.len() < 10 {
            let whole: Array4<f64> = kmeans_hessian(&points, &centroids);
            for ((i, j, k, l), &h) in whole.indexed_iter() {
                assert_eq!(h, if (i, j) == (k, l) { diagonal[[i, j]] } else { 0.0 });
            }
        }
    }
}

#[differentiate(grad)]
fn weight_error(w: f64) -> f64 {
    1.0 - w * w
}

#[test]
fn bundle_adjustment() {
    let case = parsed("gradbench/ba_small");
    let input = &case["input"];
    let [cameras, points, weights, features, pairs] =
        ["cams", "X", "w", "feats", "obs"].map(|key| numbers(&input[key]));
    let errors = numbers(&case["objective"]["reproj_err"]);
    let blocks = numbers(&case["jacobian_blocks"]);
    let largest = blocks.iter().fold(0.0, |m: f64, x| m.max(x.abs()));
    for k in 0..weights.len() {
        let [c, p] = [pairs[2 * k] as usize, pairs[2 * k + 1] as usize];
        let camera: [f64; 11] = cameras[11 * c..][..11].try_into().expect("a camera");
        let point: [f64; 3] = points[3 * p..][..3].try_into().expect("a point");
        let feature = [features[2 * k], features[2 * k + 1]];
        let (found, (jc, jp, jw)): ([f64; 2], ([[f64; 11]; 2], [[f64; 3]; 2], [f64; 2])) =
            reprojection_value_and_jacobian(&camera, &point, weights[k], feature);
        for i in 0..2 {
            near(found[i], errors[2 * k + i], 1e-12);
        }
        // Row by row: 11 of the camera, 3 of the point, 1 of the weight.
        let rows = (0..2).flat_map(|i| jc[i].into_iter().chain(jp[i]).chain([jw[i]]));
        for (found, expected) in rows.zip(&blocks[30 * k..]) {
            assert!((found - expected).abs() <= 1e-13 * largest, "{found} instead of {expected}");
        }
        near(weight_error(weights[k]), numbers(&case["objective"]["w_err"])[k], 1e-14);
        near(weight_error_grad(weights[k]), -2.0 * weights[k], 1e-15);
    }
    let camera: [f64; 11] = cameras[..11].try_into().expect("a camera");
    ad::check_grad!(reprojection::reprojection(&camera, &[1.0, 2.0, 3.0], 0.5, [10.0, 20.0]), tolerance = 1e-5);
}

/// A potential, whose derivatives are products of powers of the reciprocal distance.
#[differentiate(grad, hvp, hessian, wrt(x))]
fn potential(x: &[f64; 2], charge: f64) -> f64 {
    charge / (x[0] * x[0] + x[1] * x[1]).sqrt()
}

/// The force of a unit charge, differentiated again.
#[differentiate(vjp)]
fn force(x: &[f64; 2]) -> [f64; 2] {
    potential_grad(x, 1.0)
}

#[test]
fn derivatives_of_a_potential_at_every_distance() {
    for scale in [1e-40, 1e-9, 0.3, 1.0, 25.0, 1e20, 1e50] {
        let x = [0.6 * scale, -0.8 * scale];
        // The Hessian of 1 / r is 3 x x' / r^5 - 1 / r^3.
        let cube = (1.0 / scale) * (1.0 / scale) * (1.0 / scale);
        let wanted = |i: usize, j: usize| {
            let unit = [0.6, -0.8];
            (3.0 * unit[i] * unit[j] - if i == j { 1.0 } else { 0.0 }) * cube
        };
        let close = |found: f64, i: usize, j: usize| {
            let wanted = wanted(i, j);
            assert!((found - wanted).abs() <= 1e-12 * wanted.abs(), "{scale}: {found} instead of {wanted}");
        };
        let (hessian, of_force) = (potential_hessian(&x, 1.0), force_vjp(&x, [1.0, 0.0]).1);
        let twice = potential_hvp(&x, 2.0, [0.0, 1.0]);
        for i in 0..2 {
            close(of_force[i], 0, i);
            close(0.5 * twice[i], i, 1);
            hessian[i].iter().enumerate().for_each(|(j, &found)| close(found, i, j));
        }
    }
}

/// The sum of some forces. All of them are computed.
#[differentiate]
fn some_forces(points: &[[f64; 2]], keep: &[bool]) -> f64 {
    let mut forces = Vec::new();
    for x in points {
        forces.push(potential_grad(x, 1.0));
    }
    let mut total = 0.0;
    for (force, &keep) in forces.iter().zip(keep) {
        if keep {
            total += force[0] - force[1] * force[0];
        }
    }
    total
}

#[test]
fn forces_that_are_left_out_have_no_derivative() {
    let gradient = some_forces_grad(&[[0.0, 0.0], [0.5, 0.5], [0.0, 0.0]], &[false, true, false]);
    assert_eq!((gradient[0], gradient[2]), ([0.0, 0.0], [0.0, 0.0]));
    assert!(gradient[1].iter().all(|g| g.is_finite() && *g != 0.0), "{gradient:?}");
    ad::check_grad!(some_forces(&[[0.1, 0.2], [0.5, 0.5]], &[false, true]));
}
