//! The options of the attribute, one after the other: the functions that each writes, their shapes
//! and their numbers, against differences of lower derivatives on inputs of a size that the macro
//! has not seen. Every type is spelt out, so that this file compiles only if it is the promised
//! one.

#![forbid(unsafe_code)]
#![deny(warnings, missing_docs, clippy::all, clippy::pedantic)]
#![allow(
    clippy::type_complexity,
    clippy::unreadable_literal,
    clippy::float_cmp,
    clippy::needless_range_loop,
    clippy::many_single_char_names,
    reason = "types are spelt out, numbers are exact, indices are shown"
)]
// Parameters of every kind, by value and by reference, are tested.
#![allow(clippy::needless_pass_by_value, clippy::trivially_copy_pass_by_ref)]

use ad::prelude::*;

#[track_caller]
fn near(found: f64, expected: f64) {
    let error = (found - expected).abs();
    assert!(error <= 1e-7 * (1.0 + expected.abs()), "{found} instead of {expected}");
}

/// Columns of central differences of a function of a vector: entry `[i, j]` is the derivative of
/// component i along coordinate j.
fn differences(x: &[f64], f: impl Fn(&[f64]) -> Vec<f64>) -> Vec<Vec<f64>> {
    let h = 1e-5;
    let columns: Vec<Vec<f64>> = (0..x.len())
        .map(|j| {
            let moved = |d: f64| {
                let mut x = x.to_vec();
                x[j] += d;
                f(&x)
            };
            moved(h).iter().zip(moved(-h)).map(|(a, b)| (a - b) / (2.0 * h)).collect()
        })
        .collect();
    let rows = columns.first().map_or(0, Vec::len);
    (0..rows).map(|i| columns.iter().map(|c| c[i]).collect()).collect()
}

#[track_caller]
fn agree(found: impl IntoIterator<Item = f64>, expected: &[Vec<f64>]) {
    let found: Vec<f64> = found.into_iter().collect();
    let expected = expected.concat();
    assert_eq!(found.len(), expected.len());
    for (a, b) in found.iter().zip(&expected) {
        near(*a, *b);
    }
}

fn wave(n: usize) -> Array1<f64> {
    Array1::from_shape_fn(n, |i| (f64::from(u32::try_from(i).unwrap_or(0)) * 0.7 + 0.3).sin())
}

/// Couples neighbours, with products, a power and a decision.
#[differentiate(grad, hvp, hessian, jacobian, jvp)]
fn energy(x: &Array1<f64>) -> f64 {
    let n = x.len();
    let pairs = build1(n - 1, |i| (x[i] * x[i + 1]).sin() + x[i].powi(3));
    let far = if x[0] > 0.0 { x.dot(x) * x[n - 1] } else { x.mapv(f64::exp).sum() };
    pairs.sum() + far
}

#[test]
fn hessian_of_a_vector() {
    for n in [2, 5, 9] {
        for sign in [1.0, -1.0] {
            let x = wave(n) * sign;
            let h: Array2<f64> = energy_hessian(&x);
            let gradient = |x: &[f64]| energy_grad(&Array1::from(x.to_vec())).to_vec();
            agree(h.iter().copied(), &differences(x.as_slice().unwrap(), gradient));
            let v = wave(n + 1).into_iter().skip(1).collect::<Array1<f64>>();
            let hv: Array1<f64> = energy_hvp(&x, &v);
            for (a, b) in hv.iter().zip(&h.dot(&v)) {
                near(*a, *b);
            }
            let largest = h.iter().fold(0.0, |m: f64, v| m.max(v.abs()));
            for i in 0..n {
                for j in 0..n {
                    assert!((h[[i, j]] - h[[j, i]]).abs() <= 1e-14 * largest);
                }
            }
            let j: Array1<f64> = energy_jacobian(&x);
            assert_eq!(j, energy_grad(&x));
            let (value, again): (f64, Array1<f64>) = energy_value_and_jacobian(&x);
            assert_eq!((value, again), energy_value_and_grad(&x));
        }
    }
}

/// Static: registers only.
#[differentiate(hessian, hvp, grad)]
fn small(x: [f64; 3]) -> f64 {
    x[0] * x[1] * x[2] + x[0].exp() * x[2]
}

/// Static, of a size that the macro does not know.
#[differentiate(hessian, grad)]
fn named<const N: usize>(x: &[f64; N]) -> f64 {
    x.iter().map(|v| v * v * v).sum::<f64>() * x[0]
}

#[differentiate(hessian, grad, jacobian)]
fn nested(x: &[[f64; 2]; 2]) -> f64 {
    (x[0][0] * x[1][1] - x[0][1] * x[1][0]).powi(2)
}

#[differentiate(hessian, grad, wrt(x))]
fn scalar(x: &f64, y: f64) -> f64 {
    x.sin() * y
}

#[differentiate(hessian, grad)]
fn list(x: Vec<f64>) -> f64 {
    x.iter().map(|v| v.sin()).sum::<f64>() * x[0]
}

#[differentiate(hessian, grad)]
fn listed(x: &[f64]) -> f64 {
    x.iter().map(|v| v.sin()).sum::<f64>() * x[1]
}

#[differentiate(hessian, grad)]
fn square(x: &Array2<f64>) -> f64 {
    let y = x.dot(x);
    y.mapv(|v| v * v).sum()
}

#[test]
fn hessians_of_all_containers() {
    let x = [0.3, -0.8, 1.7];
    let h: [[f64; 3]; 3] = small_hessian(x);
    let d = differences(&x, |x| small_grad([x[0], x[1], x[2]]).to_vec());
    agree(h.concat(), &d);
    agree(small_hvp(x, [0.0, 1.0, 0.0]), &[d.iter().map(|r| r[1]).collect()]);
    let h: [[f64; 3]; 3] = named_hessian(&x);
    agree(h.concat(), &differences(&x, |x| named_grad(&[x[0], x[1], x[2]]).to_vec()));
    let h: [[[[f64; 2]; 2]; 2]; 2] = nested_hessian(&[[0.3, 0.4], [-1.0, 2.0]]);
    let flat = h.as_flattened().as_flattened().as_flattened().to_vec();
    let d = differences(&[0.3, 0.4, -1.0, 2.0], |x| nested_grad(&[[x[0], x[1]], [x[2], x[3]]]).concat());
    agree(flat, &d);
    let j: [[f64; 2]; 2] = nested_jacobian(&[[0.3, 0.4], [-1.0, 2.0]]);
    assert_eq!(j, nested_grad(&[[0.3, 0.4], [-1.0, 2.0]]));
    let h: f64 = scalar_hessian(&0.5, 2.0);
    near(h, -2.0 * 0.5_f64.sin());
    let h: Array2<f64> = list_hessian(x.to_vec());
    agree(h, &differences(&x, |x| list_grad(x.to_vec())));
    let h: Array2<f64> = listed_hessian(&x);
    agree(h, &differences(&x, listed_grad));
    let a = array![[0.3, 0.4], [-1.0, 2.0]];
    let h: Array4<f64> = square_hessian(&a);
    assert_eq!(h.dim(), (2, 2, 2, 2));
    let of = |x: &[f64]| square_grad(&array![[x[0], x[1]], [x[2], x[3]]]).into_iter().collect();
    agree(h, &differences(a.as_slice().unwrap(), of));
}

/// The example of the guide's chapter on derivatives.
#[differentiate(jacobian, jvp, vjp, pullback)]
fn polar(p: [f64; 2]) -> [f64; 2] {
    [p[0] * p[1].cos(), p[0] * p[1].sin()]
}

/// More results than parameters, and fewer; numbers among them.
#[differentiate(jacobian, vjp)]
fn tall(a: f64, p: [f64; 2]) -> [f64; 4] {
    [a * p[0], a.sin(), p[1] * p[1], p[0] / p[1]]
}

#[differentiate(jacobian, vjp)]
fn wide(a: &f64, p: &[[f64; 3]; 3]) -> [f64; 2] {
    [a * p[0][1] * p[2][2], p[1][1].exp() * p[0][0]]
}

#[differentiate(jacobian, vjp)]
fn named_sizes<const N: usize>(p: [f64; N], s: f64) -> [f64; N] {
    p.map(|v| (v * s).sin())
}

#[differentiate(jacobian, jvp, vjp, pullback)]
fn softened(x: &Array1<f64>, w: &Array2<f64>, t: f64) -> Array1<f64> {
    softmax(&(w.dot(x) * t))
}

#[differentiate(jacobian, vjp)]
fn lists(x: &[f64], y: Vec<f64>, k: usize) -> Vec<f64> {
    x.iter().zip(&y).map(|(a, b)| a * b * y[k]).collect()
}

#[differentiate(jacobian, vjp)]
fn mixed(x: &[f64], p: [f64; 2]) -> [f64; 2] {
    [x.iter().sum::<f64>() * p[0], x[0] * p[1]]
}

#[differentiate(jacobian)]
fn generic<T: Real, const N: usize>(x: &Array1<T>, p: [T; N]) -> Array1<T> {
    x.mapv(|v| v * v) * p[0]
}

/// A recurrence, forwards.
#[differentiate(jacobian, vjp, pullback)]
fn orbit(x: &Array1<f64>, k: f64) -> Array1<f64> {
    scan(k, x, |a: f64, v: f64| (a * v).sin() + k)
}

#[test]
fn jacobians_of_all_containers() {
    let j: [[f64; 2]; 2] = polar_jacobian([2.0, 0.5]);
    agree(j.concat(), &differences(&[2.0, 0.5], |p| polar([p[0], p[1]]).to_vec()));
    let (value, again): ([f64; 2], [[f64; 2]; 2]) = polar_value_and_jacobian([2.0, 0.5]);
    assert_eq!((value, again), (polar([2.0, 0.5]), j));

    let (ja, jp): ([f64; 4], [[f64; 2]; 4]) = tall_jacobian(0.7, [1.5, -0.4]);
    agree(ja, &differences(&[0.7], |a| tall(a[0], [1.5, -0.4]).to_vec()));
    agree(jp.concat(), &differences(&[1.5, -0.4], |p| tall(0.7, [p[0], p[1]]).to_vec()));

    let p = [[0.1, 0.2, 0.3], [0.4, 0.5, 0.6], [0.7, 0.8, 0.9]];
    let (ja, jp): ([f64; 2], [[[f64; 3]; 3]; 2]) = wide_jacobian(&0.7, &p);
    agree(ja, &differences(&[0.7], |a| wide(&a[0], &p).to_vec()));
    let of = |p: &[f64]| wide(&0.7, &[[p[0], p[1], p[2]], [p[3], p[4], p[5]], [p[6], p[7], p[8]]]).to_vec();
    agree(jp.as_flattened().as_flattened().to_vec(), &differences(&p.concat(), of));

    let (jp, js): ([[f64; 3]; 3], [f64; 3]) = named_sizes_jacobian([0.3, 0.6, -1.0], 1.5);
    agree(jp.concat(), &differences(&[0.3, 0.6, -1.0], |p| named_sizes([p[0], p[1], p[2]], 1.5).to_vec()));
    agree(js, &differences(&[1.5], |s| named_sizes([0.3, 0.6, -1.0], s[0]).to_vec()));

    let (x, w) = (wave(3), Array2::from_shape_fn((4, 3), |(i, j)| if i > j { 0.5 } else { -0.3 } + wave(9)[i + j]));
    let (jx, jw, jt): (Array2<f64>, Array3<f64>, Array1<f64>) = softened_jacobian(&x, &w, 1.3);
    agree(jx, &differences(x.as_slice().unwrap(), |v| softened(&Array1::from(v.to_vec()), &w, 1.3).to_vec()));
    let of = |v: &[f64]| softened(&x, &Array2::from_shape_vec((4, 3), v.to_vec()).unwrap(), 1.3).to_vec();
    assert_eq!(jw.dim(), (4, 4, 3));
    agree(jw, &differences(w.as_slice().unwrap(), of));
    agree(jt, &differences(&[1.3], |t| softened(&x, &w, t[0]).to_vec()));

    let (x, y) = ([0.3, 0.4, 0.5], vec![1.0, -2.0, 0.7]);
    let (jx, jy): (Array2<f64>, Array2<f64>) = lists_jacobian(&x, y.clone(), 1);
    agree(jx, &differences(&x, |x| lists(x, y.clone(), 1)));
    agree(jy, &differences(&y, |y| lists(&x, y.to_vec(), 1)));

    let (jx, jp): (Array2<f64>, [[f64; 2]; 2]) = mixed_jacobian(&x, [0.5, 0.6]);
    agree(jx, &differences(&x, |x| mixed(x, [0.5, 0.6]).to_vec()));
    agree(jp.concat(), &differences(&[0.5, 0.6], |p| mixed(&x, [p[0], p[1]]).to_vec()));

    let (jx, jp): (Array2<f32>, Array2<f32>) = generic_jacobian(&array![1.0_f32, 2.0], [3.0_f32, 4.0]);
    assert_eq!((jx, jp), (array![[6.0, 0.0], [0.0, 12.0]], array![[1.0, 0.0], [4.0, 0.0]]));

    let x = wave(5);
    let (jx, jk): (Array2<f64>, Array1<f64>) = orbit_jacobian(&x, 0.8);
    agree(jx, &differences(x.as_slice().unwrap(), |v| orbit(&Array1::from(v.to_vec()), 0.8).to_vec()));
    agree(jk, &differences(&[0.8], |k| orbit(&x, k[0]).to_vec()));
}

/// Inputs without elements have results without elements, of the right shapes. For wide and tall
/// Jacobians of the same functions, these agree: the Jacobian, its rows by `vjp` of unit
/// cotangents, and its columns by `jvp` of unit tangents.
#[test]
fn jacobians_by_rows_by_columns_and_by_differences() {
    for (rows, columns) in [(2, 5), (5, 2)] {
        let (x, w) = (wave(columns), Array2::from_shape_vec((rows, columns), wave(rows * columns).to_vec()).unwrap());
        let unit = |n: usize, k: usize| Array1::from_shape_fn(n, |i| f64::from(u8::from(i == k)));
        let (whole, ..) = softened_jacobian(&x, &w, 0.8);
        agree(
            whole.iter().copied(),
            &differences(x.as_slice().unwrap(), |x| softened(&Array1::from(x.to_vec()), &w, 0.8).to_vec()),
        );
        for i in 0..rows {
            let (_, (row, ..)) = softened_vjp(&x, &w, 0.8, &unit(rows, i));
            agree(row, &[whole.row(i).to_vec()]);
        }
        for j in 0..columns {
            let (_, column) = softened_jvp(&x, &w, 0.8, &unit(columns, j), &Array2::zeros((rows, columns)), 0.0);
            agree(column, &[whole.column(j).to_vec()]);
        }
    }
}

#[test]
fn empty_jacobians() {
    let (jx, jk) = orbit_jacobian(&Array1::zeros(0), 0.8);
    assert_eq!((jx.dim(), jk.len()), ((0, 0), 0));
    let (jx, jw, jt) = softened_jacobian(&Array1::zeros(0), &Array2::zeros((3, 0)), 1.0);
    assert_eq!((jx.dim(), jw.dim(), jt.dim()), ((3, 0), (3, 3, 0), 3));
}

#[test]
fn pullbacks_are_linear_and_agree_with_vjp() {
    let (value, back) = polar_pullback([2.0, 0.5]);
    for c in [[1.0, 0.0], [0.0, 1.0], [0.3, -0.7]] {
        assert_eq!((value, back(c)), polar_vjp([2.0, 0.5], c));
    }
    let back = {
        // The closure outlives the arguments.
        let (x, w) = (wave(3), Array2::from_elem((4, 3), 0.2));
        let (value, back) = softened_pullback(&x, &w, 1.3);
        assert_eq!(value, softened(&x, &w, 1.3));
        back
    };
    for k in 0..4 {
        let c = Array1::from_shape_fn(4, |i| if i == k { 1.0 } else { 0.25 });
        let (_, expected) = softened_vjp(&wave(3), &Array2::from_elem((4, 3), 0.2), 1.3, &c);
        let found: (Array1<f64>, Array2<f64>, f64) = back(&c);
        assert_eq!(found, expected);
    }
    let (x, c) = (wave(5), wave(6).into_iter().skip(1).collect::<Array1<f64>>());
    let (value, back) = orbit_pullback(&x, 0.8);
    assert_eq!((value, back(&c)), orbit_vjp(&x, 0.8, &c));
    assert_eq!(back(&(&c * 2.0)).0, back(&c).0 * 2.0);
}

#[test]
#[should_panic(expected = "`cotangent` does not have the shape of the result")]
fn a_pullback_checks_its_cotangent() {
    let (_, back) = orbit_pullback(&wave(5), 0.8);
    let _ = back(&wave(4));
}

/// Every kind of parameter that a closure may have to own, with lifetimes, a type and a const
/// parameter.
#[differentiate(pullback, vjp)]
fn owned<'a, T: Real, const N: usize>(
    x: ArrayView2<'a, T>,
    y: &'a [T],
    z: Vec<T>,
    p: &[T; N],
    a: &T,
    keep: &Array1<bool>,
    k: usize,
) -> T {
    let rows = x.sum_axis(Axis(1));
    let chosen = build1(y.len(), |i| if keep[i] { (y[i] * rows[k]).exp() } else { z[i] * z[i] });
    chosen.sum() * *a + p.iter().map(|v| v.sin()).sum::<T>()
}

#[test]
fn pullbacks_own_what_they_need() {
    let x = Array2::from_shape_fn((2, 3), |(i, j)| wave(6)[i * 3 + j]);
    let (y, z, keep) = ([0.3, -0.2, 0.5], vec![1.0, 2.0, 3.0], array![true, false, true]);
    let (value, back) = owned_pullback(x.t().reversed_axes(), &y, z.clone(), &[0.1, 0.2], &0.7, &keep, 1);
    let expected = owned_vjp(x.view(), &y, z, &[0.1, 0.2], &0.7, &keep, 1, 1.5);
    drop(x);
    assert_eq!((value, back(1.5)), expected);
}

#[differentiate(into, grad)]
fn pour(a: f64, b: &f64, x: &Array2<f64>, y: &[f64], p: [f64; 3], q: [[f64; 2]; 2], z: ArrayView1<'_, f64>) -> f64 {
    let e = x.dot(&z).mapv(f64::tanh);
    a * e.sum() + b * y.iter().map(|v| v * v).sum::<f64>() + p[0] * p[1] * q[1][0] + p[2].sin() * a
}

#[test]
fn gradients_into_buffers() {
    let x = Array2::from_shape_fn((3, 2), |(i, j)| wave(6)[i * 2 + j]);
    let (y, z) = ([0.3, 0.4, 0.5, 0.6], wave(2));
    let (p, q) = ([0.1, 0.2, 0.3], [[0.4, 0.5], [0.6, 0.7]]);
    let (value, expected) = pour_value_and_grad(0.5, &1.5, &x, &y, p, q, z.view());
    // The destination holds other numbers before, and the matrix has another layout.
    for reversed in [false, true] {
        let (mut da, mut db): (f64, f64) = (7.0, f64::NAN);
        let mut dx: Array2<f64> = Array2::from_elem((3, 2), f64::NAN);
        if reversed {
            dx = Array2::from_elem((2, 3), 5.0).reversed_axes();
        }
        let mut dy = [9.0; 4];
        let (mut dp, mut dq) = ([1.0; 3], [[1.0; 2]; 2]);
        let mut dz = Array1::from_elem(4, 3.0);
        if reversed {
            dz.invert_axis(Axis(0));
            dz.slice_each_axis_inplace(|_| ad::ndarray::Slice::new(0, None, 2));
        } else {
            dz = Array1::zeros(2);
        }
        let found = pour_value_and_grad_into(
            0.5,
            &1.5,
            &x,
            &y,
            p,
            q,
            z.view(),
            &mut da,
            &mut db,
            &mut dx,
            &mut dy,
            &mut dp,
            &mut dq,
            &mut dz,
        );
        assert_eq!(found, value);
        assert_eq!((da, db, dx, dy.to_vec(), dp, dq, dz), expected);
    }
}

#[test]
#[should_panic(expected = "`grad_x` does not have the shape of `x` (axis 1)")]
fn a_destination_has_the_right_shape() {
    let (x, z) = (Array2::zeros((3, 2)), wave(2));
    let (mut a, mut b, mut p, mut q) = (0.0, 0.0, [0.0; 3], [[0.0; 2]; 2]);
    let (mut dx, mut dz) = (Array2::zeros((3, 3)), Array1::zeros(2));
    let _ = pour_value_and_grad_into(
        0.5,
        &1.5,
        &x,
        &[],
        p,
        q,
        z.view(),
        &mut a,
        &mut b,
        &mut dx,
        &mut [],
        &mut p,
        &mut q,
        &mut dz,
    );
}

/// One gradient for two destinations.
#[differentiate(into, grad)]
fn twins(x: &Array1<f64>, y: &Array1<f64>, z: &[f64]) -> f64 {
    (x + y).mapv(f64::sin).sum() + z.iter().sum::<f64>()
}

/// Gradients that are computed in branches, and gradients that are zero.
#[differentiate(into, grad)]
fn forked(x: &Array1<f64>, y: &Array1<f64>, s: f64) -> f64 {
    if s > 0.0 { x.dot(x) * s } else { x.sum() + y.mapv(f64::exp).sum() }
}

#[test]
fn gradients_into_buffers_of_all_kinds() {
    let (x, y, z) = (wave(4), wave(4) * 2.0, [0.5; 3]);
    let (mut dx, mut dy, mut dz) = (Array1::zeros(4), Array1::zeros(4), [9.0; 3]);
    let value = twins_value_and_grad_into(&x, &y, &z, &mut dx, &mut dy, &mut dz);
    assert_eq!(twins_value_and_grad(&x, &y, &z), (value, (dx, dy, dz.to_vec())));
    for s in [0.5, -0.5] {
        let (mut dx, mut dy, mut ds) = (Array1::from_elem(4, 3.0), Array1::from_elem(4, 3.0), 0.0);
        let value = forked_value_and_grad_into(&x, &y, s, &mut dx, &mut dy, &mut ds);
        assert_eq!(forked_value_and_grad(&x, &y, s), (value, (dx, dy, ds)));
    }
}

/// Gradients that are copies of arguments. They are computed while the products read the arguments.
#[differentiate(into, grad)]
fn met(x: &Array2<f64>, y: &Array2<f64>, z: &[f64], w: ArrayView1<'_, f64>) -> f64 {
    (x * y).sum() * 2.0 - w.dot(&w) / 2.0
        + z.iter().zip(w).map(|(a, b)| a * b).sum::<f64>()
        + x.iter().zip(y).map(|(a, b)| a * b).sum::<f64>()
}

#[differentiate(into, grad)]
fn product(x: &Array2<f64>, y: &[f64], z: ArrayView1<'_, f64>) -> f64 {
    (x * x).sum() / 2.0 + z.iter().zip(y).map(|(a, b)| a * b).sum::<f64>()
}

#[test]
fn gradients_that_are_copies_have_the_same_bits() {
    for (n, m) in [(0, 3), (3, 5), (9, 1000), (41, 1003)] {
        let x = wave(n * m).into_shape_with_order((n, m)).unwrap();
        let (y, mut every) = (x.mapv(|v| v * v - 0.3), wave(2 * n * m).mapv(|v| v + 0.2));
        every.slice_each_axis_inplace(|_| ad::ndarray::Slice::new(0, None, 2));
        let turned = y.t().as_standard_layout().reversed_axes().into_owned();
        let flat = y.iter().copied().collect::<Vec<f64>>();
        let expected = product_value_and_grad(&x, &flat, every.view());
        let (mut dx, mut dy) = (Array2::from_elem((m, n), f64::NAN).reversed_axes(), vec![f64::NAN; n * m]);
        let mut dz = Array1::from_elem(n * m, f64::NAN);
        let value = product_value_and_grad_into(&x, &flat, every.view(), &mut dx, &mut dy, &mut dz);
        assert_eq!(value.to_bits(), expected.0.to_bits());
        assert_eq!((&dx, &dy, &dz), (&expected.1.0, &expected.1.1, &expected.1.2));
        assert_eq!((dx, dy, dz), (x.clone(), every.to_vec(), flat.clone().into()));
        let expected = met_value_and_grad(&x, &turned, &flat, every.view());
        let (mut dx, mut dy) = (Array2::from_elem((n, m), f64::NAN), Array2::from_elem((n, m), f64::NAN));
        let (mut dz, mut dw) = (vec![f64::NAN; n * m], Array1::from_elem(n * m, f64::NAN));
        let value = met_value_and_grad_into(&x, &turned, &flat, every.view(), &mut dx, &mut dy, &mut dz, &mut dw);
        assert_eq!(value.to_bits(), expected.0.to_bits());
        assert_eq!((dx, dy, dz, dw), expected.1);
    }
}

/// Maps whose derivatives are partly linear: the known structure of their seeds is used
/// (`modes::one_hot`).
mod linear {
    use ad::prelude::*;

    #[differentiate(jacobian, jvp, vjp, pullback)]
    pub fn layer(a: &Array2<f64>, b: &Array2<f64>, x: &Array1<f64>) -> Array1<f64> {
        b.dot(&a.dot(x).mapv(f64::tanh))
    }

    #[differentiate(jacobian, jvp)]
    pub fn normalised(x: &Array1<f64>) -> Array1<f64> {
        let y = x - x.mapv(f64::exp).sum().ln();
        y * x.dot(x)
    }

    #[differentiate(jacobian)]
    pub fn product(a: &Array2<f64>, b: &Array2<f64>) -> Array2<f64> {
        a.dot(b) + b.t().dot(&a.t()).t()
    }

    #[differentiate(grad, hessian, hvp, wrt(x))]
    pub fn quadratic(a: &Array2<f64>, x: &Array1<f64>) -> f64 {
        x.dot(&a.dot(x)) * x.sum()
    }

    #[differentiate(jacobian)]
    pub fn narrow(b: &Array2<f64>, x: &Array2<f64>, v: &Array1<f64>) -> Array1<f64> {
        b.dot(&(x.dot(v) * x.sum_axis(Axis(1))))
    }

    #[differentiate(jacobian, wrt(x))]
    pub fn summed(x: &Array2<f64>, w: &Array1<f64>) -> Array1<f64> {
        x.sum_axis(Axis(0)) * w + x.t().dot(&x.column(0)) + x.sum()
    }

    #[differentiate(jacobian, wrt(x))]
    pub fn plain(a: &Array2<f64>, x: &Array1<f64>) -> Array1<f64> {
        a.dot(x)
    }
}

#[test]
fn seeds_that_are_unit_vectors() {
    let matrix = |m: usize, n: usize| {
        let all = wave(m * n).into_raw_vec_and_offset().0;
        Array2::from_shape_vec((m, n), all).unwrap()
    };
    // Square matrices too, for which axes could be confused.
    for (k, m, n) in [(2, 3, 4), (3, 3, 3), (1, 4, 2), (1, 1, 1), (2, 0, 3), (2, 3, 0), (0, 2, 2)] {
        ad::check_grad!(linear::layer(&matrix(m, n), &matrix(k, m), &wave(n)));
        ad::check_grad!(linear::product(&matrix(k, m), &matrix(m, n)));
        ad::check_grad!(linear::narrow(&matrix(k, m), &matrix(m, n), &wave(n)));
        ad::check_grad!(linear::normalised(&wave(n)));
        ad::check_grad!(linear::quadratic(&matrix(n, n), &wave(n)));
        if n > 0 {
            ad::check_grad!(linear::summed(&matrix(m, n), &wave(n)));
        }
    }
    let a = matrix(3, 4);
    assert_eq!(linear::plain_jacobian(&a, &wave(4)), a, "the same bits");
    // An element that a seed does not reach contributes nothing.
    let mut far = a.clone();
    far[[1, 2]] = f64::INFINITY;
    assert_eq!(linear::plain_jacobian(&far, &wave(4)), far);
}

/// Loops, branches and updates with every option.
mod programs {
    use ad::prelude::*;

    #[differentiate(grad, jvp, vjp, hvp, pullback, into, jacobian)]
    pub fn cell(x: [f64; 3], w: [[f64; 3]; 3], n: usize) -> f64 {
        let mut h = x;
        for _ in 0..n {
            let mut new = [0.0; 3];
            for i in 0..3 {
                let mut s = 0.0;
                for j in 0..3 {
                    s += w[i][j] * h[j];
                }
                new[i] = s.tanh();
            }
            h = new;
        }
        h[0] * h[1] + h[2]
    }

    #[differentiate(grad, hvp, hessian, jvp, into, vjp, pullback, wrt(x))]
    pub fn path(x: &Array1<f64>, order: &[usize]) -> f64 {
        let s = scan(1.0, x, |acc, e| acc * 0.5 + (e * acc).cos());
        order.iter().map(|&k| s[k] * x[k]).sum()
    }

    #[differentiate(grad, jvp, hvp, vjp, into, pullback)]
    pub fn log_determinant(a: &Array2<f64>) -> f64 {
        let n = a.nrows();
        let mut l = a.clone();
        let mut s = 0.0;
        for k in 0..n {
            s += l[[k, k]].ln();
            for i in k + 1..n {
                let f = l[[i, k]] / l[[k, k]];
                for j in k..n {
                    let v = l[[k, j]];
                    l[[i, j]] -= f * v;
                }
            }
        }
        s
    }

    #[differentiate(vjp, jvp, jacobian, pullback, wrt(q, k))]
    pub fn attention(q: &Array2<f64>, k: &Array2<f64>, v: ArrayView2<'_, f64>) -> Array2<f64> {
        softmax(&q.dot(&k.t())).dot(&v)
    }

    #[differentiate(vjp, jvp, jacobian, pullback)]
    pub fn gates(x: &[f32], t: f32, mask: &[bool]) -> Vec<f32> {
        let gate = |a: f32, m: bool| {
            if m {
                (a * t).sin()
            } else if a > 0.5 {
                a * a * t
            } else {
                t.exp() - a
            }
        };
        x.iter().zip(mask).map(|(&a, &m)| gate(a, m)).collect()
    }
}

#[test]
fn programs_through_every_option() {
    let matrix = |m: usize, n: usize| Array2::from_shape_vec((m, n), wave(m * n).to_vec()).unwrap();
    let weights = [[0.1, 0.2, -0.3], [0.4, -0.5, 0.6], [0.7, 0.8, 0.9]];
    for n in 0..4 {
        ad::check_grad!(programs::cell([0.3, -0.4, 0.5], weights, n));
        ad::check_grad!(programs::log_determinant(&(matrix(n, n) * 0.2 + Array2::<f64>::eye(n) * 2.0)));
        ad::check_grad!(programs::attention(&matrix(n, 2), &matrix(4, 2), matrix(4, 5).view()));
    }
    ad::check_grad!(programs::path(&wave(5), &[4, 0, 2, 2]));
    ad::check_grad!(programs::path(&wave(0), &[]));
    ad::check_grad!(programs::gates(&[0.2, 0.7, 0.3, 0.9], 0.4, &[true, false, false, true]));
    ad::check_grad!(programs::gates(&[], 0.4, &[]));
}

#[differentiate(jacobian)]
fn by_nothing(a: f64, p: [f64; 0]) -> [f64; 2] {
    let _ = p;
    [a * a, 3.0 * a]
}

#[differentiate(jacobian)]
fn of_nothing(a: f64, p: [f64; 3]) -> [f64; 0] {
    let _ = a * p[0];
    []
}

/// Jacobians without rows or columns.
#[test]
fn jacobians_without_elements() {
    assert_eq!(by_nothing_jacobian(2.0, []), ([4.0, 3.0], [[], []]));
    assert_eq!(of_nothing_jacobian(2.0, [1.0, 2.0, 3.0]), ([], []));
}
