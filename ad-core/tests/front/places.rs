//! Assignments to elements and parts of arrays.

use super::native::{self, Arg::*, agrees, ty};
use super::*;
use quote::quote;

#[test]
fn elements() {
    agrees! { fn f(x: slice) { let mut v = x.to_vec(); v[0] = v[1] * v[2]; v[2] += v[0]; v[1] *= 3.0; v[0] * v[1] + v[2] } [V(vec![0.3, 0.9, -0.4])] [V(vec![0.3])] }
    agrees! { fn f(x: slice, n: int) { let mut v = vec![0.5; x.len()]; v[n] = x[n] * x[n]; v[n] -= v[0]; v.swap(0, n); let s: f64 = v.iter().sum(); s * v[0] } [V(vec![0.3, 0.9, -0.4]), N(2)] [V(vec![0.3, 0.9, -0.4]), N(0)] [V(vec![0.3, 0.9, -0.4]), N(3)] }
    agrees! { fn f(x: real, n: int) { let mut m = [[x, 1.0], [2.0, x * x]]; m[n][1] += m[0][0]; m[1][n] = x; m[0] = m[1]; m[0][0] * m[0][1] + m[1][0] * m[1][1] } [R(0.7), N(0)] [R(0.7), N(1)] }
    agrees! { fn f(x: real) { let mut a = [x, 2.0, x]; a[1] = a[0] * a[2]; (a[0], a[2]) = (a[2] * 3.0, a[0]); a[0] + a[1] * a[2] } [R(0.7)] }
    agrees! { fn f(x: slice) { let mut v = x.to_vec(); if v[0] > 0.0 { v[1] = v[0]; } else { v[0] = 2.0; return v[0] * v[1]; } v[0] * v[1] } [V(vec![0.3, 0.9])] [V(vec![-0.3, 0.9])] }
    agrees! { fn f(x: real) { let mut t = ([x, 1.0], 2.0); t.0[1] = x * x; t.1 += t.0[1]; t.0[0] * t.0[1] * t.1 } [R(0.7)] }
}

#[test]
fn vectors_grow() {
    agrees! { fn f(x: real) { let mut v = Vec::new(); v.push(x); v.push(x * x); v.push(1.0); v[2] += v[1]; v.iter().map(|a| a * a).sum::<f64>() } [R(0.7)] }
    agrees! { fn f(x: slice) { let mut v = x.to_vec(); v.push(x[0]); v[1] *= 2.0; let n = v.len(); v.iter().sum::<f64>() * v[n - 1] } [V(vec![0.3, 0.9])] [V(vec![])] }
}

#[test]
fn taken_vectors_keep_their_type() {
    agrees! { fn f(x: slice) { let mut b = x.to_vec(); let a = std::mem::take(&mut b); a.iter().sum::<f64>() + b.len() as f64 + b.iter().sum::<f64>() } [V(vec![0.3, 0.9])] [V(vec![])] }
    agrees! { fn f(x: slice) { let mut b = x.to_vec(); let a = std::mem::take(&mut b); b.push(a[0] * a[1]); b.push(2.0); b[0] * b[1] + b.len() as f64 } [V(vec![0.3, 0.9])] }
    agrees! { fn f(x: slice) { let mut b = x.to_vec(); let a = std::mem::take(&mut b); for v in &a { b.push(v * v); } b.iter().sum::<f64>() * b.len() as f64 } [V(vec![0.3, 0.9])] [V(vec![])] }
}

#[test]
fn elements_in_closures() {
    agrees! { fn f(x: slice) { x.iter().map(|v| { let mut a = [*v, 1.0]; a[1] += a[0] * a[0]; a[0] = a[1]; a[0] * a[1] }).sum::<f64>() } [V(vec![0.3, 0.9])] }
    agrees! { fn f(x: slice) { (0..x.len()).map(|i| { let mut a = x.to_vec(); a[i] = 1.0; a[0] * a[1] * a[2] }).sum::<f64>() } [V(vec![0.3, 0.9, -0.4])] }
}

#[track_caller]
fn means(item: TokenStream, inputs: &[Value], expected: &[f64]) {
    assert_eq!(run(&program(quote!(), item), inputs), expected);
}

#[test]
fn assignments_to_parts() {
    let x = array(&[2, 3], &[1.0, 2.0, 3.0, 4.0, 5.0, 6.0]);
    let one = std::slice::from_ref(&x);
    means(
        quote! { fn f(x: &Array2<f64>) -> Array2<f64> { let mut y = x.to_owned(); y.row_mut(0).assign(&x.row(1)); y.column_mut(2).fill(0.5); y[[1, 0]] = -1.0; y } },
        one,
        &[4.0, 5.0, 0.5, -1.0, 5.0, 0.5],
    );
    means(
        quote! { fn f(x: &Array2<f64>) -> Array2<f64> { let mut y = x.clone(); y.slice_mut(s![.., ..;2]).assign(&array![[10.0, 20.0]]); y.slice_mut(s![1, 1..]).mapv_inplace(|v| -v); y } },
        one,
        &[10.0, 2.0, 20.0, 10.0, -5.0, -20.0],
    );
    means(
        quote! { fn f(x: &Array2<f64>) -> Array2<f64> { let mut y = Array2::zeros((2, 3)); y.slice_mut(s![0, ..;-1]).assign(&x.row(0)); y.slice_mut(s![1, ..]).slice_mut(s![1..]).assign(&x.slice(s![0, 1..])); y } },
        one,
        &[3.0, 2.0, 1.0, 0.0, 2.0, 3.0],
    );
    means(
        quote! { fn f(mut x: Array2<f64>) -> Array2<f64> { { let mut r = x.row_mut(1); r[0] = 7.0; r += &array![1.0, 2.0, 3.0]; r.swap(0, 2); } x.index_axis_mut(Axis(1), 1).fill(0.0); x *= 2.0; x -= &array![[1.0], [2.0]]; x } },
        one,
        &[1.0, -1.0, 5.0, 16.0, -2.0, 14.0],
    );
    means(
        quote! { fn f(x: &Array2<f64>) -> Array1<f64> { build1(2, |i| { let mut y = x.to_owned(); y[[i, i]] = 0.0; y.row_mut(i).mapv_inplace(|v| v * 10.0); y.sum() }) } },
        one,
        &[65.0, 106.0],
    );
    means(
        quote! { fn f(x: f64, n: usize) -> f64 { let mut k = vec![1_usize, 2, 3]; k[n] += 5; x * k[n] as f64 } },
        &[scalar(2.0), sizes(&[], &[1])],
        &[14.0],
    );
}

/// A local array or view changes its axes; the original array does not.
#[test]
fn local_arrays_with_changed_axes() {
    let x = array(&[2, 3], &[1.0, 2.0, 3.0, 4.0, 5.0, 6.0]);
    let one = std::slice::from_ref(&x);
    means(
        quote! { fn f(x: &Array2<f64>) -> Array2<f64> { let mut y = x.view(); y.swap_axes(0, 1); y.invert_axis(Axis(0)); &y + &x.t() } },
        one,
        &[4.0, 10.0, 4.0, 10.0, 4.0, 10.0],
    );
    means(
        quote! { fn f(x: &Array2<f64>) -> Array2<f64> { let mut y = x.clone(); y.invert_axis(Axis(1)); y.reverse_axes(); y.view_mut().row_mut(0).fill(0.5); y } },
        one,
        &[0.5, 0.5, 2.0, 5.0, 1.0, 4.0],
    );
    means(
        quote! { fn f(x: &Array2<f64>) -> Array2<f64> { let mut y = x.clone(); { let z = &mut y; z.invert_axis(Axis(0)); } y } },
        one,
        &[4.0, 5.0, 6.0, 1.0, 2.0, 3.0],
    );
    means(
        quote! { fn f(x: &Array2<f64>) -> Array1<f64> { let mut y = x.slice(s![..0, ..]); y.invert_axis(Axis(0)); y.sum_axis(Axis(0)) } },
        one,
        &[0.0; 3],
    );
    for change in [quote!(y.view_mut().invert_axis(Axis(0))), quote!(y.row_mut(0).invert_axis(Axis(0)))] {
        let item = quote! { fn f(x: &Array2<f64>) -> f64 { let mut y = x.clone(); #change; y[[0, 0]] } };
        assert!(errors(quote!(), item).contains("a change of the axes of a view of a part that is changed"));
    }
}

#[test]
fn consecutive_parts() {
    let x = array(&[3, 4], &[1.0, 2.0, 3.0, 4.0, 5.0, 6.0, 7.0, 8.0, 9.0, 10.0, 11.0, 12.0]);
    let one = std::slice::from_ref(&x);
    means(
        quote! { fn f(x: &Array2<f64>) -> Array2<f64> { let mut y = x.clone(); let mut k = 0.0; for mut p in y.exact_chunks_mut((2, 2)) { k += 100.0; p[[1, 0]] += k; p *= 2.0; } y } },
        one,
        &[2.0, 4.0, 6.0, 8.0, 210.0, 12.0, 414.0, 16.0, 9.0, 10.0, 11.0, 12.0],
    );
    means(
        quote! { fn f(x: &Array2<f64>) -> Array2<f64> { let mut y = x.clone(); for mut p in y.exact_chunks_mut([1, 3]) { let s = p.sum(); p.fill(s); } y } },
        one,
        &[6.0, 6.0, 6.0, 4.0, 18.0, 18.0, 18.0, 8.0, 30.0, 30.0, 30.0, 12.0],
    );
    let said = errors(
        quote!(),
        quote! { fn f(x: &Array2<f64>) -> f64 { let mut y = x.clone(); for mut p in y.exact_chunks_mut(2) { p *= 2.0; } y.sum() } },
    );
    assert_eq!(
        said,
        "a part of an array of rank 2 has a size for each axis, here they are 1\n= help: write `(n0, n1)`"
    );
}

/// The ends of a slice may be signed. Negative ones count from the end.
#[test]
fn signed_bounds_of_slices() {
    let x = array(&[4], &[1.0, 2.0, 3.0, 4.0]);
    let p = program(
        quote!(),
        quote! { fn f(x: &Array1<f64>, a: isize, b: i32) -> f64 { x.slice(s![a..]).sum() + 100.0 * x.slice(s![..b]).sum() + 10000.0 * x[0] } },
    );
    let of = |a: i128, b: i128| {
        [x.clone(), Value::ints(ad_core::ir::IntTy::Isize, &[], &[a]), Value::ints(ad_core::ir::IntTy::I32, &[], &[b])]
    };
    assert_eq!(run(&p, &of(-1, 2)), [10304.0]);
    assert_eq!(run(&p, &of(3, -1)), [10604.0]);
    assert_eq!(run(&p, &of(0, 0)), [10010.0]);
    assert_eq!(failed(&p, &of(-4, 4)), Vec::<String>::new());
    for (a, b) in [(-5, 0), (5, 0), (0, -5), (0, 5)] {
        assert!(!failed(&p, &of(a, b)).is_empty(), "{a} {b}");
    }
}
