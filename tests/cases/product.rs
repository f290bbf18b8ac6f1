//! Parameters and results that are tuples, structs and enums.

use ad::prelude::*;

use super::{Case, differentiate};

#[differentiate]
fn product(p: (f64, f64)) -> f64 {
    let (x, y) = p;
    x * y
}

#[test]
fn product_of_a_pair() {
    Case::in_every_layout("chad-prod-tuple", |case| {
        let (value, (x, y)) = product_value_and_grad((case.input("x"), case.input("y")));
        case.check(&value, &[("x", &x), ("y", &y)]);
    });
}

#[differentiate]
fn shared_outputs(x: f64) -> ((f64, f64), f64) {
    let y = 2.0 * x;
    let z = x * y;
    let w = z.cos();
    ((y, z), w)
}

#[test]
fn nested_pairs_as_result() {
    Case::in_every_layout("chad-paper-ex1", |case| {
        let cotangent: Vec<f64> = case.cotangent();
        let (((y, z), w), x) = shared_outputs_vjp(case.input("x"), ((cotangent[0], cotangent[1]), cotangent[2]));
        case.check(&vec![y, z, w], &[("x", &x)]);
    });
}

#[differentiate]
fn twice_the_same(v: &Array2<f64>) -> (Array2<f64>, Array2<f64>) {
    let phi = |x: f64, y: f64, z: f64| {
        let w = x * y.sin();
        z.atan2(w) + z * w
    };
    let psi = |x: f64, y: f64| {
        let w = phi(x, y, x) * y.sin();
        x.atan2(w) + y * w
    };
    let r = sum_outer(v);
    let m = minimum(v);
    let one = build([2, r.len()], |[i, j]| r[j] * phi(3.0, 5.0 * r[j], r[j] * m) + psi(r[j], v[[(i + 1).min(1), j]]));
    (one.clone(), one)
}

/// The case has rank 5: two parts of 8 numbers.
#[test]
fn one_result_twice() {
    Case::in_every_layout("horde-fooBuild5-pair-vjp", |case| {
        let v: Array2<f64> = case.reshaped("v", [2, 8]);
        let cotangent: Vec<f64> = case.cotangent();
        let part = |k: usize| Array2::from_shape_fn((2, 8), |(i, j)| cotangent[16 * k + 8 * i + j]);
        let ((first, second), v) = twice_the_same_vjp(&v, (&part(0), &part(1)));
        let value: Vec<f64> = first.iter().chain(&second).copied().collect();
        case.check(&value, &[("v", &v)]);
    });
}

#[derive(Clone, Debug, Differentiable)]
struct Vec3 {
    x: f64,
    y: f64,
    z: f64,
}

#[differentiate]
fn turned(v: &Vec3) -> Vec3 {
    Vec3 { x: v.x + v.y, y: v.y + v.z, z: v.z + v.x }
}

#[test]
fn struct_in_and_out() {
    Case::in_every_layout("dualrev-vec3-struct", |case| {
        let c: Vec<f64> = case.cotangent();
        let v = Vec3 { x: case.input("x"), y: case.input("y"), z: case.input("z") };
        let (value, grad) = turned_vjp(&v, &Vec3 { x: c[0], y: c[1], z: c[2] });
        case.check(&value.to_flat(), &[("x", &grad.x), ("y", &grad.y), ("z", &grad.z)]);
    });
}

#[derive(Clone, Debug, Differentiable)]
enum Weird {
    One(f64, usize, f64),
    Two { pair: (usize, f64) },
}

#[differentiate]
fn weird(w: Weird) -> f64 {
    match w {
        Weird::One(x, i, y) => i as f64 * x * y,
        Weird::Two { pair: (i, x) } => i as f64 + x,
    }
}

#[test]
fn sum_of_products() {
    Case::in_every_layout("dualrev-weirdsum-one", |case| {
        let (value, gradient) = weird_value_and_grad(Weird::One(case.input("x"), 3, case.input("y")));
        let Weird::One(x, 3, y) = gradient else { panic!("{gradient:?}") };
        case.check(&value, &[("x", &x), ("y", &y)]);
    });
    let Weird::Two { pair } = weird_grad(Weird::Two { pair: (3, 0.5) }) else { panic!("another variant") };
    assert!(pair == (3, 1.0));
}
