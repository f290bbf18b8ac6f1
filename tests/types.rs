//! The types that parameters and results may have, and the types of gradient, tangent and cotangent
//! that belong to each. Every type is spelt out, so that this file compiles only if it is the
//! promised one.

#![forbid(unsafe_code)]
#![deny(warnings, missing_docs)]
#![deny(clippy::all)]
#![allow(clippy::type_complexity, clippy::ptr_arg, clippy::too_many_arguments, reason = "types are spelt out")]

use ad::ndarray::{Array, Dimension};
use ad::prelude::*;

/// 1, 2, 3, .. in this shape.
fn counted<D: Dimension>(shape: impl ad::ndarray::ShapeBuilder<Dim = D>) -> Array<f64, D> {
    let mut k = 0.0;
    Array::from_shape_simple_fn(shape, || {
        k += 1.0;
        k
    })
}

// `f64`, `f32`, `&f64`, `&f32`: `F`.

#[differentiate(grad, vjp, jvp)]
fn scalars(a: f64, b: &f64) -> f64 {
    a * b + a
}

#[differentiate(grad, vjp, jvp)]
fn singles(a: f32, b: &f32) -> f32 {
    a * b + a
}

#[test]
fn scalar_parameters() {
    let (value, (da, db)): (f64, (f64, f64)) = scalars_value_and_grad(2.0, &3.0);
    assert_eq!((value, da, db), (8.0, 4.0, 2.0));
    let pair: (f64, f64) = scalars_grad(2.0, &3.0);
    assert_eq!(pair, (4.0, 2.0));
    let (_, pair): (f64, (f64, f64)) = scalars_vjp(2.0, &3.0, 0.5_f64);
    assert_eq!(pair, (2.0, 1.0));
    let (_, tangent): (f64, f64) = scalars_jvp(2.0, &3.0, 1.0_f64, 10.0_f64);
    assert_eq!(tangent, 24.0);
    let pair: (f32, f32) = singles_grad(2.0, &3.0);
    assert_eq!(pair, (4.0, 2.0));
    let (_, pair): (f32, (f32, f32)) = singles_vjp(2.0, &3.0, 0.5_f32);
    assert_eq!(pair, (2.0, 1.0));
    let (_, tangent): (f32, f32) = singles_jvp(2.0, &3.0, 1.0_f32, 10.0_f32);
    assert_eq!(tangent, 24.0);
}

// `T` with `T: Real`: `T`; constants as `T::lit(0.5)`.

#[differentiate(grad, vjp, jvp)]
fn generic<T: Real>(a: T, x: &Array1<T>, y: &[T], z: [T; 2]) -> T {
    a * x[0] * T::lit(0.5) + y[1] * z[1]
}

#[differentiate(grad)]
fn bounded<T>(a: T) -> T
where
    T: Real,
{
    a * a
}

#[test]
fn type_parameters() {
    let x = array![4.0_f64, 1.0];
    let gradient: (f64, Array1<f64>, Vec<f64>, [f64; 2]) = generic_grad(2.0, &x, &[1.0, 3.0], [5.0, 7.0]);
    assert_eq!(gradient, (2.0, array![1.0, 0.0], vec![0.0, 7.0], [0.0, 3.0]));
    let x = array![4.0_f32, 1.0];
    let gradient: (f32, Array1<f32>, Vec<f32>, [f32; 2]) = generic_grad(2.0, &x, &[1.0, 3.0], [5.0, 7.0]);
    assert_eq!(gradient, (2.0, array![1.0, 0.0], vec![0.0, 7.0], [0.0, 3.0]));
    let tangent: (f32, f32) = generic_jvp(2.0, &x, &[1.0, 3.0], [5.0, 7.0], 1.0, &x, &[0.0, 1.0], [0.0, 1.0]);
    assert_eq!(tangent, (25.0, 16.0));
    let whole: (f32, (f32, Array1<f32>, Vec<f32>, [f32; 2])) = generic_vjp(2.0, &x, &[1.0, 3.0], [5.0, 7.0], 1.0);
    assert_eq!(whole, (25.0, gradient));
    assert_eq!((bounded_grad(3.0_f32), bounded_grad(3.0_f64)), (6.0, 6.0));
}

// `Array0<F>` .. `Array6<F>`, views, references: `ArrayN<F>`.

#[differentiate(grad, vjp, jvp)]
fn owned(a: Array0<f64>, b: Array1<f64>, c: Array2<f64>, d: Array3<f64>) -> f64 {
    a[()] * b.sum() + c.sum() * d[[0, 0, 1]]
}

#[differentiate(grad, vjp, jvp)]
fn high(a: &Array4<f64>, b: &Array5<f64>, c: &Array6<f64>) -> f64 {
    a.sum() * b[[0, 1, 0, 1, 0]] + (c * c).sum()
}

#[differentiate(grad)]
fn viewed(a: ArrayView0<f64>, b: ArrayView1<'_, f64>, c: &ArrayView2<'_, f64>, d: ArrayView3<f64>) -> f64 {
    a[()] * b.sum() + c.sum() * d[[0, 0, 1]]
}

#[differentiate(grad)]
fn viewed_high(a: ArrayView4<f64>, b: ArrayView5<'_, f64>, c: ArrayView6<f64>) -> f64 {
    a.sum() * b[[0, 1, 0, 1, 0]] + (&c * &c).sum()
}

#[differentiate(grad)]
fn referred(a: &ArrayRef0<f64>, b: &ArrayRef1<f64>, c: &ArrayRef2<f64>, d: &ArrayRef3<f64>) -> f64 {
    a[()] * b.sum() + c.sum() * d[[0, 0, 1]]
}

#[differentiate(grad)]
fn referred_high(a: &ArrayRef4<f64>, b: &ArrayRef5<f64>, c: &ArrayRef6<f64>) -> f64 {
    a.sum() * b[[0, 1, 0, 1, 0]] + (c * c).sum()
}

#[test]
fn arrays() {
    let (a, b, c, d) = (ad::ndarray::arr0(2.0), counted(2), counted((2, 2)), counted((1, 2, 2)));
    let expected: (Array0<f64>, Array1<f64>, Array2<f64>, Array3<f64>) =
        (ad::ndarray::arr0(3.0), array![2.0, 2.0], Array2::from_elem((2, 2), 2.0), array![[[0.0, 10.0], [0.0, 0.0]]]);
    assert_eq!(owned_grad(a.clone(), b.clone(), c.clone(), d.clone()), expected);
    assert_eq!(owned_vjp(a.clone(), b.clone(), c.clone(), d.clone(), 1.0), (26.0, expected.clone()));
    // Tangents as references to types that dereference to `ArrayRefN`.
    let tangent = owned_jvp(a.clone(), b.clone(), c.clone(), d.clone(), &a, &b.view(), &c, &d.view());
    assert_eq!(tangent, (26.0, 2.0 * 3.0 + 2.0 * 3.0 + 10.0 * 2.0 + 10.0 * 2.0));
    assert_eq!(viewed_grad(a.view(), b.view(), &c.view(), d.view()), expected);
    assert_eq!(referred_grad(&a, &b, &c, &d.view()), expected);
}

#[test]
fn arrays_of_high_rank() {
    let (a, b, c) = (counted((1, 2, 1, 2)), counted((1, 2, 1, 2, 1)), counted((1, 2, 1, 1, 2, 1)));
    let mut db = Array5::zeros((1, 2, 1, 2, 1));
    db[[0, 1, 0, 1, 0]] = 10.0;
    let expected: (Array4<f64>, Array5<f64>, Array6<f64>) = (Array4::from_elem((1, 2, 1, 2), 4.0), db, 2.0 * &c);
    assert_eq!(high_grad(&a, &b, &c), expected);
    assert_eq!(high_vjp(&a, &b, &c, 1.0), (70.0, expected.clone()));
    assert_eq!(high_jvp(&a, &b, &c, &a, &b, &c).1, 40.0 + 40.0 + 60.0);
    assert_eq!(viewed_high_grad(a.view(), b.view(), c.view()), expected);
    assert_eq!(referred_high_grad(&a, &b, &c.view()), expected);
}

// `&[F]`, `&Vec<F>`, `Vec<F>`: `Vec<F>`.

#[differentiate(grad, vjp, jvp)]
fn vectors(a: &[f64], b: &Vec<f64>, c: Vec<f64>, d: &[f32]) -> f64 {
    a[0] * b[1] + c[0] * d.len() as f64
}

#[test]
fn slices_and_vectors() {
    let (b, c) = (vec![3.0, 4.0], vec![5.0]);
    let gradient: (Vec<f64>, Vec<f64>, Vec<f64>, Vec<f32>) = vectors_grad(&[2.0], &b, c.clone(), &[1.0, 1.0]);
    assert_eq!(gradient, (vec![4.0], vec![0.0, 2.0], vec![2.0], vec![0.0, 0.0]));
    assert_eq!(vectors_vjp(&[2.0], &b, c.clone(), &[1.0, 1.0], 1.0), (18.0, gradient));
    let tangent: (f64, f64) = vectors_jvp(&[2.0], &b, c, &[1.0, 1.0], &[1.0], &[0.0, 1.0], &[1.0], &[1.0, 1.0]);
    assert_eq!(tangent.1, 4.0 + 2.0 + 2.0);
}

// `[F; N]`, `[[F; N]; M]` and references: the same array type.

const ROWS: usize = 2;

#[differentiate(grad, vjp, jvp)]
fn statics<const N: usize>(a: [f64; 2], b: &[[f64; 1]; ROWS], c: [[[f64; N]; 1]; 2], d: &[f64; N]) -> f64 {
    a[0] * b[1][0] + c[1][0][0] * d[N - 1]
}

#[differentiate(grad)]
fn rank_six(a: [[[[[[f64; 2]; 1]; 2]; 1]; 1]; 2]) -> f64 {
    a[1][0][0][1][0][0] * a[0][0][0][1][0][1]
}

#[test]
fn static_arrays() {
    let (a, b, c, d) = ([2.0, 0.0], [[1.0], [3.0]], [[[4.0, 5.0]], [[6.0, 7.0]]], [8.0, 9.0]);
    let gradient: ([f64; 2], [[f64; 1]; 2], [[[f64; 2]; 1]; 2], [f64; 2]) = statics_grad(a, &b, c, &d);
    assert_eq!(gradient, ([3.0, 0.0], [[0.0], [2.0]], [[[0.0, 0.0]], [[9.0, 0.0]]], [0.0, 6.0]));
    assert_eq!(statics_vjp(a, &b, c, &d, 2.0).0, 60.0);
    // Static arrays by value.
    assert_eq!(statics_jvp(a, &b, c, &d, a, b, c, d).1, 2.0 * 60.0);
    let mut six = [[[[[[1.0; 2]; 1]; 2]; 1]; 1]; 2];
    six[1][0][0][1][0][0] = 5.0;
    let gradient: [[[[[[f64; 2]; 1]; 2]; 1]; 1]; 2] = rank_six_grad(six);
    assert_eq!((gradient[1][0][0][1][0][0], gradient[0][0][0][1][0][1], gradient[0][0][0][0][0][0]), (1.0, 5.0, 0.0));
}

// Integers and booleans, arrays and slices of them: inactive.

#[differentiate(grad)]
fn discrete(
    x: &[f64],
    a: usize,
    b: i32,
    c: &[u8],
    d: &Array1<i64>,
    e: [u32; 2],
    f: bool,
    g: &[bool],
    h: &Array2<bool>,
    i: &[[bool; 2]; 1],
    j: isize,
    k: u64,
) -> f64 {
    let scale = (b as f64) + (c[0] as f64) + (d[0] as f64) + (e[1] as f64) + (j as f64) + (k as f64);
    if f && g[0] && h[[0, 0]] && i[0][1] { x[a] * scale } else { 0.0 }
}

#[test]
fn discrete_parameters() {
    let yes = array![[true]];
    let gradient: Vec<f64> =
        discrete_grad(&[1.0, 2.0], 1, 2, &[3], &array![4], [0, 5], true, &[true], &yes, &[[false, true]], -1, 7);
    assert_eq!(gradient, [0.0, 20.0]);
}

// Results are owned: scalars are above.

#[differentiate(vjp, jvp)]
fn result0(x: &[f64]) -> Array0<f64> {
    Array0::from_elem((), x[0] * x[1])
}

#[differentiate(vjp, jvp)]
fn result1(x: &[f64]) -> Array1<f64> {
    build1(x.len(), |i| x[i] * x[i])
}

#[differentiate(vjp, jvp)]
fn result_vec(x: &[f64]) -> Vec<f64> {
    x.iter().map(|v| v * v).collect()
}

#[differentiate(vjp, jvp)]
fn result2(x: &Array2<f64>) -> Array2<f64> {
    x * 2.0
}

#[differentiate(vjp, jvp)]
fn result6(x: &Array6<f64>) -> Array6<f64> {
    x * x
}

#[differentiate(vjp, jvp)]
fn result_static(x: &[f64]) -> [[f64; 2]; 2] {
    [[x[0], x[1]], [x[0] * x[1], 1.0]]
}

#[differentiate(vjp, jvp)]
fn result_single(x: [f32; 2]) -> [f32; 2] {
    x.map(|v| v * v)
}

#[test]
fn results() {
    let x = [2.0, 3.0];
    let (value, gradient): (Array0<f64>, Vec<f64>) = result0_vjp(&x, &ad::ndarray::arr0(2.0));
    assert_eq!((value[()], gradient), (6.0, vec![6.0, 4.0]));
    let (_, tangent): (Array0<f64>, Array0<f64>) = result0_jvp(&x, &[1.0, 0.0]);
    assert_eq!(tangent[()], 3.0);
    let (value, gradient): (Array1<f64>, Vec<f64>) = result1_vjp(&x, &array![1.0, 2.0]);
    assert_eq!((value, gradient), (array![4.0, 9.0], vec![4.0, 12.0]));
    assert_eq!(result1_jvp(&x, &[1.0, 1.0]).1, array![4.0, 6.0]);
    let (value, gradient): (Vec<f64>, Vec<f64>) = result_vec_vjp(&x, &[1.0, 2.0]);
    assert_eq!((value, gradient), (vec![4.0, 9.0], vec![4.0, 12.0]));
    assert_eq!(result_vec_jvp(&x, &[1.0, 1.0]).1, vec![4.0, 6.0]);
    let m = counted((2, 3));
    let (value, gradient): (Array2<f64>, Array2<f64>) = result2_vjp(&m, &m.view());
    assert_eq!((&value, &gradient), (&(2.0 * &m), &(2.0 * &m)));
    assert_eq!(result2_jvp(&m, &m).1, value);
    let six = counted((1, 2, 1, 1, 2, 1));
    let (value, gradient): (Array6<f64>, Array6<f64>) = result6_vjp(&six, &six);
    assert_eq!((value, gradient), (&six * &six, 2.0 * &six * &six));
    assert_eq!(result6_jvp(&six, &six).1, 2.0 * &six * &six);
    let (value, gradient): ([[f64; 2]; 2], Vec<f64>) = result_static_vjp(&x, [[1.0, 0.0], [1.0, 5.0]]);
    assert_eq!((value, gradient), ([[2.0, 3.0], [6.0, 1.0]], vec![4.0, 2.0]));
    assert_eq!(result_static_jvp(&x, &[1.0, 0.0]).1, [[1.0, 0.0], [3.0, 0.0]]);
    let (value, gradient): ([f32; 2], [f32; 2]) = result_single_vjp([1.0, 2.0], [1.0, 1.0]);
    assert_eq!((value, gradient), ([1.0, 4.0], [2.0, 4.0]));
    assert_eq!(result_single_jvp([1.0, 2.0], [1.0, 1.0]).1, [2.0, 4.0]);
}

// num-traits' own constants of a type parameter.

#[differentiate]
fn mean_square<T: Real>(x: &Array1<T>) -> T {
    let half = T::from(0.5).unwrap();
    let n = T::from(x.len()).unwrap_or(T::one());
    x.mapv(|v| v * v).sum() * half / n
}

#[test]
fn constants_of_a_type_parameter_by_num_traits() {
    let x = array![1.0, 2.0, 3.0, 4.0];
    assert_eq!(mean_square_value_and_grad(&x), (mean_square(&x), &x / 4.0));
    let x = array![1.0_f32, 2.0];
    assert_eq!(mean_square_grad(&x), array![0.5, 1.0]);
}
