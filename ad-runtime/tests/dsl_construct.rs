//! `build1`, `build`, `iota`, `replicate`, `one_hot`, `gather`, `scatter`.

mod common;

use ad_runtime::Real;
use ad_runtime::dsl::{build, build1, gather, iota, one_hot, replicate, scatter};
use common::{array2, array3, layouts};
use ndarray::{Array0, Array1, Array2, Array3, Array6, Axis, arr0, array, s};
use proptest::prelude::*;

proptest! {
    #[test]
    fn build_is_from_shape_fn(n in 0..5_usize, m in 0..5_usize, k in 0..4_usize) {
        let f = |i: usize, j: usize, l: usize| 100 * i + 10 * j + l;
        prop_assert_eq!(build([n, m, k], |[i, j, l]| f(i, j, l)), Array3::from_shape_fn((n, m, k), |(i, j, l)| f(i, j, l)));
        prop_assert_eq!(build([n], |[i]| f(i, 0, 0)), Array1::from_shape_fn(n, |i| f(i, 0, 0)));
    }

    #[test]
    fn nested_build1_is_build(n in 1..5_usize, m in 0..5_usize) {
        let nested = build1(n, |i| build1(m, |j| (i * m + j) as f64));
        prop_assert_eq!(&nested, &build([n, m], |[i, j]| (i * m + j) as f64));
        prop_assert!(nested.is_standard_layout());
    }

    /// Elements of any layout are put side by side in logical order.
    #[test]
    fn build1_of_arrays_of_any_layout(x in array2(5), n in 1..4_usize) {
        let expected = x.broadcast((n, x.nrows(), x.ncols())).unwrap().to_owned();
        for (layout, y) in layouts(&x) {
            prop_assert_eq!(&build1(n, |_| y.clone()), &expected, "{}", layout);
            prop_assert_eq!(&build1(n, |_| y.view()), &expected, "{}", layout);
            prop_assert_eq!(&replicate(n, &y), &expected, "{}", layout);
            prop_assert_eq!(&replicate(n, y), &expected);
        }
    }

    #[test]
    fn gathers_of_any_layout(x in array3(4)) {
        let (a, b, c) = x.dim();
        let expected = Array2::from_shape_fn((c, a * b), |(k, r)| x[[r / b, r % b, k]]);
        for (layout, y) in layouts(&x) {
            prop_assert_eq!(&gather([c, a * b], &y, |[k, r]| [r / b, r % b, k]), &expected, "{}", layout);
        }
    }

    #[test]
    fn scatters_of_any_layout(x in array2(6), m in 1..4_usize) {
        let mut expected = Array2::<f64>::zeros((m, 2));
        for ((i, j), &v) in x.indexed_iter() {
            expected[[(i + j) % m, i % 2]] += v;
        }
        for (layout, y) in layouts(&x) {
            // Exactly equal: the order of the additions is that of the indices, not of memory.
            prop_assert_eq!(&scatter([m, 2], &y, |[i, j]| [(i + j) % m, i % 2]), &expected, "{}", layout);
        }
    }

    /// `<gather x, y> = <x, scatter y>`: they are each other's transposes.
    #[test]
    fn gather_and_scatter_are_adjoint(x in array2(5), n in 0..6_usize, p in 0..7_usize) {
        prop_assume!(!x.is_empty());
        let (rows, columns) = x.dim();
        let f = |[i]: [usize; 1]| [(i * p) % rows, (i + p) % columns];
        let y = Array1::from_shape_fn(n, |i| 1.5 * i as f64 - 2.0);
        let left = gather([n], &x, f).dot(&y);
        let right = (&x * &scatter([rows, columns], &y, f)).sum();
        prop_assert!((left - right).abs() < 1e-12);
    }
}

#[test]
fn ranks_zero_and_six() {
    assert_eq!(build([], |[]| 2.5), arr0(2.5));
    let x: Array6<usize> = build([2, 1, 2, 1, 2, 1], |[a, _, c, _, e, _]| 4 * a + 2 * c + e);
    assert_eq!(x.into_raw_vec_and_offset().0, (0..8).collect::<Vec<_>>());
    let five = build([1, 1, 1, 1, 2], |[.., i]| i);
    let six: Array6<usize> = build1(3, |_| five.clone());
    assert_eq!(six.shape(), [3, 1, 1, 1, 1, 2]);
    let one: Array1<f64> = build1(2, |_| arr0(1.0));
    assert_eq!(one, array![1.0, 1.0]);
    let total: Array0<f64> = scatter([], &array![1.0, 2.0, 3.0], |_| []);
    assert_eq!(total, arr0(6.0));
    assert_eq!(gather([2], &arr0(4.0), |_| []), array![4.0, 4.0]);
}

#[test]
fn elements_of_every_kind() {
    assert_eq!(build1(3, |i| i % 2 == 0), array![true, false, true]);
    assert_eq!(build1(2, |i| i as i32 - 1), array![-1, 0]);
    assert_eq!(build([2], |[i]| (i, "any type")), array![(0, "any type"), (1, "any type")]);
    assert_eq!(gather([1], &array!["a".to_string(), "b".to_string()], |_| [1]), array!["b".to_string()]);
    assert_eq!(replicate(2, 3_u8), array![3, 3]);
}

#[test]
fn builds_without_elements() {
    let f = |_: usize| -> f64 { panic!("no element is computed") };
    assert_eq!(build1(0, f).len(), 0);
    assert_eq!(build([3, 0, 2], |_| 1.0).shape(), [3, 0, 2]);
    assert_eq!(build1(0, |_| array![1.0, 2.0]).shape(), [0, 0]);
    assert_eq!(replicate(0, array![1.0, 2.0]).shape(), [0, 2]);
    assert_eq!(iota(0).len(), 0);
    assert_eq!(gather([0], &Array1::<f64>::zeros(0), |[i]| [i]).len(), 0);
    assert_eq!(scatter([3], &Array1::<f64>::zeros(0), |[i]| [i]), array![0.0, 0.0, 0.0]);
}

#[test]
fn iota_and_one_hot() {
    assert_eq!(iota(4), array![0, 1, 2, 3]);
    assert_eq!(one_hot::<f32>(4, 2), array![0.0, 0.0, 1.0, 0.0]);
    assert_eq!(replicate(3, one_hot::<f64>(2, 0)).sum_axis(Axis(0)), array![3.0, 0.0]);
}

/// Type parameters, parameters that are references, views passed where a reference is expected.
#[test]
fn generic_programs() {
    fn squares<T: Real>(x: &Array1<T>) -> Array2<T> {
        let twice = build1(x.len(), |i| T::lit(2.0) * x[i]);
        replicate(2, gather([x.len()], x, |[i]| [i]) * &twice)
    }
    assert_eq!(squares(&array![1.0_f32, 2.0]), array![[2.0, 8.0], [2.0, 8.0]]);
    let m = array![[1.0, 2.0], [3.0, 4.0]];
    assert_eq!(gather([2], &m.column(1), |[i]| [1 - i]), array![4.0, 2.0]);
    assert_eq!(scatter([2], &m.slice(s![.., ..;-1]), |[i, _]| [i]), array![3.0, 7.0]);
}

#[test]
#[should_panic(expected = "element 1 has the shape [2], the others have [1]")]
fn ragged_elements() {
    let _ = build1(2, |i| Array1::<f64>::zeros(i + 1));
}

#[test]
#[should_panic(expected = "gather: element [2] is read at [3, 0], out of range for an array of shape [3, 2]")]
fn gather_out_of_range() {
    let _ = gather([3], &Array2::<f64>::zeros((3, 2)), |[i]| [i + 1, 0]);
}

#[test]
#[should_panic(expected = "scatter: element [1] is added at [2], out of range for an array of shape [2]")]
fn scatter_out_of_range() {
    let _ = scatter([2], &array![1.0, 2.0], |[i]| [2 * i]);
}

#[test]
#[should_panic(expected = "one_hot: the index 3 is out of range for 3 elements")]
fn one_hot_out_of_range() {
    let _ = one_hot::<f64>(3, 3);
}

#[test]
#[should_panic(expected = "has too many elements")]
fn too_large_a_shape() {
    let _ = build([usize::MAX, 2], |_| 0_u8);
}

#[test]
#[should_panic(expected = "has too many elements")]
fn too_large_an_empty_shape() {
    let _ = build([0, usize::MAX, 2], |_| 0_u8);
}
