//! Functions of arrays of static size do not use the heap, and neither do gradients into the
//! caller's buffers. The allocator counts this.

mod allocator;
#[path = "programs/reprojection.rs"]
mod reprojection;

use ad::prelude::*;
use allocator::counted;

#[track_caller]
fn without_heap<R>(f: impl FnOnce() -> R) -> R {
    let (result, used) = counted(f);
    assert_eq!(used.times, 0, "allocations");
    result
}

/// Straight-line code.
#[differentiate(vjp, jvp)]
fn rotate(q: [f64; 4], v: [f64; 3]) -> [f64; 3] {
    let [w, x, y, z] = q;
    let t = [2.0 * (y * v[2] - z * v[1]), 2.0 * (z * v[0] - x * v[2]), 2.0 * (x * v[1] - y * v[0])];
    [
        v[0] + w * t[0] + (y * t[2] - z * t[1]),
        v[1] + w * t[1] + (z * t[0] - x * t[2]),
        v[2] + w * t[2] + (x * t[1] - y * t[0]),
    ]
}

/// Loops over const parameters.
#[differentiate(grad, vjp, jvp)]
fn energy<const N: usize, const M: usize>(a: &[[f64; N]; M], x: &[f64; N]) -> f64 {
    let y: [f64; M] = std::array::from_fn(|i| (0..N).map(|j| a[i][j] * x[j]).sum::<f64>().tanh());
    y.iter().map(|v| v * v).sum()
}

/// Loops over literal sizes, a selection, an index that is computed.
#[differentiate(grad, vjp, jvp)]
fn chosen(x: [f32; 40], w: &[[f32; 3]; 40], k: usize) -> f32 {
    let scores = w.map(|row| row[0] * row[1] + row[2]);
    if x[k] > 0.0 { (0..40).map(|i| x[i] * scores[i]).sum::<f32>() } else { scores[k] * x[0] }
}

/// Products of matrices that are too large to be unrolled, alone and in a stack.
#[differentiate(grad)]
fn products(a: &[[f64; 20]; 20], b: &[[f64; 20]; 20], c: &[[[f64; 9]; 9]; 2]) -> f64 {
    let p = build([20, 20], |[i, j]| (0..20).map(|k| a[i][k] * b[k][j]).sum::<f64>());
    let q = build([2, 9, 9], |[s, i, j]| (0..9).map(|k| c[s][i][k] * c[s][k][j]).sum::<f64>());
    p.mapv(|v| v * v).sum() + q.mapv(|v| v * v).sum()
}

#[test]
fn arrays_of_static_size_allocate_nothing() {
    let (a, b, c) = ([[0.1; 20]; 20], [[0.2; 20]; 20], [[[0.3; 9]; 9]; 2]);
    without_heap(|| products_value_and_grad(&a, &b, &c));
    let q = [0.5, 0.5, -0.5, 0.1];
    without_heap(|| rotate_vjp(q, [1.0, 2.0, 3.0], [1.0; 3]));
    without_heap(|| rotate_jvp(q, [1.0, 2.0, 3.0], q, [1.0; 3]));
    let (a, x) = ([[0.1; 7]; 5], [0.3; 7]);
    let one = without_heap(|| energy_value_and_grad(&a, &x));
    assert_eq!(without_heap(|| energy_vjp(&a, &x, 1.0)), one);
    without_heap(|| energy_jvp(&a, &x, a, x));
    let large = [[0.1; 50]; 50];
    without_heap(|| energy_value_and_grad(&large, &[0.3; 50]));
    let w = [[0.5; 3]; 40];
    for x in [[1.0; 40], [-1.0; 40]] {
        let value = without_heap(|| chosen_value_and_grad(x, &w, 3));
        assert_eq!(without_heap(|| chosen_vjp(x, &w, 3, 1.0)), value);
        without_heap(|| chosen_jvp(x, &w, 3, x, w));
    }
}

/// All temporaries are numbers or static: with the caller's buffers nothing is allocated, whatever
/// the parameters are.
#[differentiate(into, grad)]
fn sums(x: &Array2<f64>, y: &[f64], s: f64, p: [f64; 3]) -> f64 {
    let squares = x.mapv(|v| (v * s).sin() * v).sum();
    squares + y.iter().map(|v| v * v * p[1]).sum::<f64>() * p[0]
}

#[differentiate(into, grad)]
fn dot(x: &Array1<f64>, y: ArrayView1<'_, f64>) -> f64 {
    x.dot(&y)
}

#[differentiate(jacobian, pullback, wrt(a))]
fn scaled(a: [f64; 2], v: [f64; 3]) -> [f64; 3] {
    v.map(|x| (x * a[0]).sin() + a[1])
}

#[differentiate(hessian, hvp)]
fn bowl(a: [f64; 4]) -> f64 {
    (a[0] * a[1] - a[2]).exp() * a[3]
}

#[test]
fn buffers_small_jacobians_and_pullbacks_allocate_nothing() {
    let (x, y, p) = (Array2::from_elem((30, 20), 0.3), [0.5; 7], [0.1, 0.2, 0.3]);
    let (mut dx, mut dy, mut ds, mut dp) = (Array2::zeros((30, 20)), [0.0; 7], 0.0, [0.0; 3]);
    let value = without_heap(|| sums_value_and_grad_into(&x, &y, 0.7, p, &mut dx, &mut dy, &mut ds, &mut dp));
    assert_eq!(sums_value_and_grad(&x, &y, 0.7, p), (value, (dx, dy.to_vec(), ds, dp)));
    let (a, b) = (Array1::from_elem(9, 0.5), Array1::from_elem(9, 2.0));
    let (mut da, mut db) = (Array1::zeros(9), Array1::zeros(9));
    let value = without_heap(|| dot_value_and_grad_into(&a, b.view(), &mut da, &mut db));
    assert_eq!((value, da, db), (9.0, b.clone(), a.clone()));
    let v = [1.0, 2.0, 3.0];
    without_heap(|| scaled_value_and_jacobian([0.5, 0.1], v));
    without_heap(|| {
        let (_, back) = scaled_pullback([0.5, 0.1], v);
        (back([1.0, 0.0, 0.0]), back([0.0, 1.0, 0.0]))
    });
    // The 2 x 15 block of bundle adjustment.
    without_heap(|| reprojection::reprojection_value_and_jacobian(&[0.1; 11], &[1.0, 2.0, 3.0], 0.5, [1.0, 2.0]));
    without_heap(|| (bowl_hessian([0.1, 0.2, 0.3, 0.4]), bowl_hvp([0.1, 0.2, 0.3, 0.4], [1.0; 4])));
}

/// The count works: the allocation of a function with a vector is counted.
#[test]
fn allocations_are_counted() {
    let (vector, used) = counted(|| std::hint::black_box(vec![1.0; 3]));
    assert_eq!((vector.len(), used.times, used.bytes), (3, 1, 24));
}
