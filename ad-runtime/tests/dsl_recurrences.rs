//! Folds and scans over every kind of sequence.

mod common;

use ad_runtime::Real;
use ad_runtime::dsl::{fold, reduce, scan, scanl, scanr};
use common::{array1, array2, array3, layouts};
use ndarray::{Array1, Array2, Array3, ArrayRef1, ArrayRef2, ArrayView1, Axis, array, s};
use proptest::prelude::*;

/// A step that neither commutes nor associates, so that a wrong order shows.
fn step(acc: f64, x: f64) -> f64 {
    0.5 * acc - x * x + 1.0
}

proptest! {
    #[test]
    fn folds_over_elements(x in array1(12), init in -1.0..1.0_f64) {
        let expected = x.iter().fold(init, |a, &v| step(a, v));
        for (layout, y) in layouts(&x) {
            prop_assert_eq!(fold(init, &y, step), expected, "{}", layout);
            prop_assert_eq!(fold(init, &y.view(), step), expected, "{}", layout);
            prop_assert_eq!(reduce(init, &y, step), expected, "{}", layout);
        }
        prop_assert_eq!(fold(init, &x.to_vec(), step), expected);
        prop_assert_eq!(fold(init, &x.to_vec()[..], step), expected);
    }

    /// The three scans by their definitions in terms of folds of parts of the sequence.
    #[test]
    fn scans_are_folds_of_parts(x in array1(12), init in -1.0..1.0_f64) {
        let n = x.len();
        let (after, from_left, from_right) = (scan(init, &x, step), scanl(init, &x, step), scanr(init, &x, step));
        prop_assert_eq!((after.len(), from_left.len(), from_right.len()), (n, n + 1, n + 1));
        for i in 0..n {
            prop_assert_eq!(after[i], fold(init, &x.slice(s![..=i]), step));
        }
        for i in 0..=n {
            prop_assert_eq!(from_left[i], fold(init, &x.slice(s![..i]), step));
            prop_assert_eq!(from_right[i], fold(init, &x.slice(s![i..;-1]), step));
        }
    }

    #[test]
    fn rows_of_matrices(x in array2(5)) {
        let init = Array1::<f64>::ones(x.ncols());
        let f = |a: Array1<f64>, row: ArrayView1<f64>| a * 0.5 + row;
        let mut acc = init.clone();
        let mut rows = vec![init.clone()];
        for row in x.rows() {
            acc = f(acc, row);
            rows.push(acc.clone());
        }
        for (layout, y) in layouts(&x) {
            prop_assert_eq!(&fold(init.clone(), &y, f), &acc, "{}", layout);
            let states = scanl(init.clone(), &y, f);
            prop_assert_eq!(states.shape(), [x.nrows() + 1, x.ncols()]);
            for (state, expected) in states.rows().into_iter().zip(&rows) {
                prop_assert_eq!(state, expected);
            }
            prop_assert_eq!(&scan(init.clone(), &y, f), &states.slice(s![1.., ..]), "{}", layout);
        }
        // From the right, the accumulators are those of the reversed rows, in the opposite order.
        let reversed = scanl(init.clone(), &x.slice(s![..;-1, ..]), f);
        prop_assert_eq!(scanr(init, &x, f), reversed.slice(s![..;-1, ..]));
    }

    #[test]
    fn matrices_of_rank_3(x in array3(4)) {
        let expected: f64 = x.outer_iter().fold(1.0, |a, m| 0.5 * a + m.sum());
        for (layout, y) in layouts(&x) {
            let got = fold(1.0, &y, |a, m| 0.5 * a + m.sum());
            prop_assert!((got - expected).abs() < 1e-12, "{}", layout);
        }
    }
}

#[test]
fn ranges() {
    let x = array![1.0, 2.0, 4.0];
    assert_eq!(fold(0.0, 0..x.len(), |a, i| a * 10.0 + x[i]), 124.0);
    assert_eq!(fold(0.0, 0..3, |a, i| a * 10.0 + x[i]), 124.0);
    assert_eq!(fold(0, 1..=4_i64, |a, i| a * 10 + i), 1234);
    assert_eq!(scan(0, 0..4_u8, |a, i| a + i), array![0, 1, 3, 6]);
    assert_eq!(scanr(0, 1..4, |a, i| a * 10 + i), array![321, 32, 3, 0]);
    let (from, to) = (3, 1);
    assert_eq!(fold(5, from..to, |_, i| i), 5);
}

#[test]
fn every_kind_of_sequence() {
    let x = array![1.0, 2.0];
    let (reference, array_ref): (&Array1<f64>, &ArrayRef1<f64>) = (&x, &x);
    let reference_to_it = &reference;
    let add = |a: f64, v: f64| a + v;
    assert_eq!([fold(0.0, reference, add), fold(0.0, reference_to_it, add), fold(0.0, array_ref, add)], [3.0; 3]);
    let m = array![[1.0, 2.0], [3.0, 4.0]];
    let array_ref: &ArrayRef2<f64> = &m;
    assert_eq!(fold(0.0, array_ref, |a, row| a * 10.0 + row[1]), 24.0);
    assert_eq!(fold(0.0, &m.column(0), add) + fold(0.0, &m.row(1), add) + fold(0.0, &m.t(), |a, c| a + c[0]), 14.0);
    assert_eq!(fold(0.0, &[1.0, 2.0], add), 3.0);
    assert_eq!(fold(0, &[true, false, true], |n, b| n + usize::from(b)), 2);
    let text = fold(String::new(), &['a', 'b'], |s, c| format!("{s}{c}"));
    assert_eq!(text, "ab");
    let pairs = fold((0.0, 1.0), &x, |(s, p), v| (s + v, p * v));
    assert_eq!(pairs, (3.0, 2.0));
}

#[test]
fn arrays_as_accumulators_of_higher_rank() {
    let x = Array3::from_shape_fn((3, 2, 2), |(i, j, k)| (4 * i + 2 * j + k) as f64);
    let states = scan(Array2::zeros((2, 2)), &x, |a: Array2<f64>, m| a + m);
    assert_eq!(states.index_axis(Axis(0), 2), x.sum_axis(Axis(0)));
    let states = scanr(Array2::zeros((2, 2)), &x, |a: Array2<f64>, m| a + m);
    assert_eq!(states.shape(), [4, 2, 2]);
    assert_eq!(states.index_axis(Axis(0), 0), x.sum_axis(Axis(0)));
    assert_eq!(states.index_axis(Axis(0), 2), x.index_axis(Axis(0), 2));
}

#[test]
fn empty_sequences() {
    let none = Array1::<f64>::zeros(0);
    assert_eq!(fold(7.0, &none, step), 7.0);
    assert_eq!(scan(7.0, &none, step).len(), 0);
    assert_eq!((scanl(7.0, &none, step), scanr(7.0, &none, step)), (array![7.0], array![7.0]));
    // The accumulator tells the shape of the missing elements.
    assert_eq!(scan(array![1.0, 2.0], 0..0, |a, _| a).shape(), [0, 2]);
    // Rows without elements are still steps.
    assert_eq!(fold(0, &Array2::<f64>::zeros((3, 0)), |n, row| n + 1 + row.len()), 3);
    let wide = scanr(Array1::<f64>::zeros(0), 0..3, |a, _| a);
    assert_eq!(wide.shape(), [4, 0]);
}

#[test]
fn generic_over_the_number_type() {
    fn decay<T: Real>(x: &Array1<T>) -> Array1<T> {
        scanl(T::lit(1.0), x, |a, v| T::lit(0.5) * a + v)
    }
    assert_eq!(decay(&array![1.0_f32, 2.0]), array![1.0, 1.5, 2.75]);
}

#[test]
#[should_panic(expected = "element 0 has the shape [3], the others have [2]")]
fn scan_with_a_growing_accumulator() {
    let _ = scan(array![1.0, 2.0], 0..2, |a, i| Array1::from_elem(a.len() + 1, i as f64));
}
