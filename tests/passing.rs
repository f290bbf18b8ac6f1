//! The promises to users about how tangents, cotangents and directions are passed, and about the
//! type of gradients, sentence by sentence. Tuples and structs are not accepted yet
//! (`tests/ui/signature`).

// Types are spelt out, since they are tested.
#![allow(clippy::type_complexity, clippy::ptr_arg)]

use ad::ndarray::{ArrayRef, Ix1, Ix2};
use ad::prelude::*;

#[differentiate(grad, vjp, jvp)]
fn scaled(a: f64, b: &f32, n: usize) -> f64 {
    a * (*b as f64) * n as f64
}

#[differentiate(vjp, jvp)]
fn turned(p: [f64; 2], m: &[[f64; 2]; 2]) -> [f64; 2] {
    [m[0][0] * p[0] + m[0][1] * p[1], m[1][0] * p[0] + m[1][1] * p[1]]
}

/// "tangents, cotangents and directions: scalars, `[F; N]` and tuples of these by value": also
/// where the parameter is a reference.
#[test]
fn scalars_and_static_arrays_are_passed_by_value() {
    let jvp: fn(f64, &f32, usize, f64, f32) -> (f64, f64) = scaled_jvp;
    assert_eq!(jvp(2.0, &3.0, 2, 1.0, 0.5), (12.0, 8.0));
    let vjp: fn(f64, &f32, usize, f64) -> (f64, (f64, f32)) = scaled_vjp;
    assert_eq!(vjp(2.0, &3.0, 2, 0.5), (12.0, (3.0, 2.0)));
    type Matrix = [[f64; 2]; 2];
    let jvp: fn([f64; 2], &Matrix, [f64; 2], Matrix) -> ([f64; 2], [f64; 2]) = turned_jvp;
    let m = [[0.0, -1.0], [1.0, 0.0]];
    assert_eq!(jvp([2.0, 3.0], &m, [1.0, 0.0], [[0.0; 2]; 2]), ([-3.0, 2.0], [0.0, 1.0]));
    let vjp: fn([f64; 2], &Matrix, [f64; 2]) -> ([f64; 2], ([f64; 2], Matrix)) = turned_vjp;
    assert_eq!(vjp([2.0, 3.0], &m, [1.0, 0.0]).1, ([0.0, -1.0], [[2.0, 3.0], [0.0, 0.0]]));
}

#[differentiate(vjp, jvp)]
fn product(a: &Array2<f64>, b: ArrayView1<'_, f64>) -> Array1<f64> {
    a.dot(&b)
}

/// "ndarray types as `&ArrayRefN<F>` (so that `&ArrayN` and views work)".
#[test]
fn arrays_are_passed_as_references_to_array_refs() {
    let (a, b) = (array![[1.0, 2.0], [3.0, 4.0]], array![5.0, 6.0]);
    // The types themselves.
    let _: fn(
        &Array2<f64>,
        ArrayView1<'_, f64>,
        &ArrayRef<f64, Ix2>,
        &ArrayRef<f64, Ix1>,
    ) -> (Array1<f64>, Array1<f64>) = product_jvp;
    let _: fn(&Array2<f64>, ArrayView1<'_, f64>, &ArrayRef1<f64>) -> (Array1<f64>, (Array2<f64>, Array1<f64>)) =
        product_vjp;
    // `&ArrayN`.
    let (value, tangent) = product_jvp(&a, b.view(), &a, &b);
    assert_eq!(tangent, 2.0 * &value);
    // Views: transposed, reversed, every other one, a row of a matrix, broadcast.
    let rows = array![[1.0, 9.0, 0.0, 9.0], [5.0, 6.0, 7.0, 8.0]];
    for (view, c) in [
        (rows.slice(s![0, ..;2]), [1.0, 0.0]),
        (rows.slice(s![1, ..2]), [5.0, 6.0]),
        (rows.slice(s![1, 2..;-1]), [8.0, 7.0]),
        (rows.column(0), [1.0, 5.0]),
        (ad::ndarray::aview0(&3.0).broadcast(2).unwrap(), [3.0, 3.0]),
    ] {
        let (_, (da, db)) = product_vjp(&a, b.view(), &view);
        assert_eq!(da, array![[5.0 * c[0], 6.0 * c[0]], [5.0 * c[1], 6.0 * c[1]]]);
        assert_eq!(db, array![c[0] + 3.0 * c[1], 2.0 * c[0] + 4.0 * c[1]]);
        let (_, tangent) = product_jvp(&a, b.view(), &a.t(), &view);
        assert_eq!(tangent, a.t().dot(&b) + a.dot(&view));
    }
    // An `&ArrayRefN` that a caller has been given.
    let given: &ArrayRef1<f64> = &b;
    assert_eq!(product_vjp(&a, b.view(), given).1, product_vjp(&a, b.view(), &b).1);
}

#[differentiate(vjp, jvp)]
fn doubled(a: &[f64], b: &Vec<f64>, c: Vec<f64>) -> Vec<f64> {
    (0..a.len()).map(|i| 2.0 * a[i] + b[i] * c[i]).collect()
}

/// "slices and `Vec` as `&[F]`".
#[test]
fn slices_and_vectors_are_passed_as_slices() {
    let vjp: fn(&[f64], &Vec<f64>, Vec<f64>, &[f64]) -> (Vec<f64>, (Vec<f64>, Vec<f64>, Vec<f64>)) = doubled_vjp;
    let (b, c) = (vec![3.0, 4.0], vec![5.0, 6.0]);
    let (value, (da, db, dc)) = vjp(&[1.0, 2.0], &b, c.clone(), &[1.0, 10.0]);
    assert_eq!((value, da), (vec![17.0, 28.0], vec![2.0, 20.0]));
    assert_eq!((db, dc), (vec![5.0, 60.0], vec![3.0, 40.0]));
    let jvp: fn(&[f64], &Vec<f64>, Vec<f64>, &[f64], &[f64], &[f64]) -> (Vec<f64>, Vec<f64>) = doubled_jvp;
    assert_eq!(jvp(&[1.0, 2.0], &b, c, &b, &[1.0, 0.0], &[0.0; 2]).1, [11.0, 8.0]);
}

#[differentiate(grad, vjp, jvp)]
fn all(a: ArrayView2<f64>, b: &ArrayRef1<f64>, c: &[f64], d: &f64, e: &[f64; 2]) -> f64 {
    a.dot(b).sum() * c[0] + d * e[1]
}

/// "**Gradients** are owned and in standard layout": whatever was passed, and for a gradient that
/// is a transposed or reversed value too.
#[test]
fn gradients_are_owned_and_in_standard_layout() {
    type Gradient = (Array2<f64>, Array1<f64>, Vec<f64>, f64, [f64; 2]);
    let a = array![[1.0, 2.0, 3.0], [4.0, 5.0, 6.0]];
    let wide = array![1.0, 0.0, 2.0];
    let gradient: Gradient = all_grad(a.t(), &wide.slice(s![..;2]), &[2.0], &3.0, &[4.0, 5.0]);
    assert!(gradient.0.is_standard_layout() && gradient.1.is_standard_layout());
    assert_eq!(gradient.0, array![[2.0, 4.0], [2.0, 4.0], [2.0, 4.0]]);
    assert_eq!((gradient.1, gradient.3, gradient.4), (array![12.0, 30.0], 5.0, [0.0, 3.0]));
    let (_, gradient): (f64, Gradient) =
        all_vjp(a.slice(s![.., ..;-2]), &wide.slice(s![..;-2]), &[2.0], &3.0, &[4.0, 5.0], 1.0);
    assert!(gradient.0.is_standard_layout() && gradient.1.is_standard_layout());
    let (_, gradient): (f64, Array2<f64>) = transposed_value_and_grad(&a, &a.t().to_owned());
    assert!(gradient.is_standard_layout());
    assert_eq!(gradient, a);
    let (value, gradient) = transpose_vjp(&a, &a.t().to_owned());
    assert!(value.is_standard_layout() && gradient.is_standard_layout());
    assert_eq!(gradient, a);
    assert!(transpose_jvp(&a, &a).1.is_standard_layout());
}

#[differentiate(wrt(x))]
fn transposed(x: &Array2<f64>, w: &Array2<f64>) -> f64 {
    (&x.t() * w).sum()
}

#[differentiate(vjp, jvp)]
fn transpose(x: &Array2<f64>) -> Array2<f64> {
    x.t().to_owned()
}
