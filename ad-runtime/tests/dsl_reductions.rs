//! The DSL's reductions over arrays, views, slices and static arrays.

mod common;

use ad_runtime::Real;
use ad_runtime::dsl::{argmax, argmin, logsumexp, maximum, minimum, norm, product, softmax, sum, sum_outer};
use common::{array1, array2, array3, close, layouts};
use ndarray::{Array, Array1, Array2, Array3, ArrayRef2, ArrayView1, Axis, Dimension, arr0, array, s};
use proptest::prelude::*;

const INF: f64 = f64::INFINITY;

/// What every reduction must satisfy: the value of the naive loop, and the same bits for every
/// layout.
fn check<D: Dimension + ad_runtime::dsl::Rank>(x: &Array<f64, D>) {
    let n = x.len();
    let scale = x.iter().map(|v| v.abs()).sum::<f64>();
    assert!(close(sum(x), x.iter().sum(), n, scale));
    assert_eq!(product(x).to_bits(), x.iter().fold(1.0, |p, v| p * v).to_bits());
    let squares: f64 = x.iter().map(|v| v * v).sum();
    assert!(close(norm(x), squares.sqrt(), n, squares.sqrt()));
    let naive = x.iter().map(|v| v.exp()).sum::<f64>().ln();
    assert!(naive == logsumexp(x) || (naive - logsumexp(x)).abs() < 1e-13);
    for (layout, y) in layouts(x) {
        assert_eq!(sum(&y).to_bits(), sum(x).to_bits(), "{layout}");
        assert_eq!(sum(&y.view()).to_bits(), sum(x).to_bits(), "{layout}");
        assert_eq!(norm(&y).to_bits(), norm(x).to_bits(), "{layout}");
        assert_eq!(logsumexp(&y).to_bits(), logsumexp(x).to_bits(), "{layout}");
        if n > 0 {
            assert_eq!(maximum(&y), x.iter().copied().fold(-INF, f64::max), "{layout}");
            assert_eq!(minimum(&y), x.iter().copied().fold(INF, f64::min), "{layout}");
        }
    }
}

proptest! {
    #[test]
    fn rank_1(x in array1(40)) {
        check(&x);
        for (layout, y) in layouts(&x) {
            if !x.is_empty() {
                let best = (0..x.len()).fold(0, |b, i| if x[i] > x[b] { i } else { b });
                prop_assert_eq!(argmax(&y), best, "{}", layout);
                let best = (0..x.len()).fold(0, |b, i| if x[i] < x[b] { i } else { b });
                prop_assert_eq!(argmin(&y), best, "{}", layout);
            }
            prop_assert_eq!(sum_outer(&y), sum(&x));
        }
    }

    #[test]
    fn rank_2(x in array2(7)) {
        check(&x);
        let rows = x.sum_axis(Axis(0));
        for (layout, y) in layouts(&x) {
            prop_assert!(sum_outer(&y).abs_diff_eq(&rows, 1e-12), "{}", layout);
            prop_assert_eq!(sum_outer(&y), sum_outer(&x), "{}", layout);
        }
    }

    #[test]
    fn rank_3(x in array3(5)) {
        check(&x);
        prop_assert!(sum_outer(&x).abs_diff_eq(&x.sum_axis(Axis(0)), 1e-12));
    }

    #[test]
    fn softmax_of_matrices(x in array2(6)) {
        let p = softmax(&x);
        prop_assert_eq!(p.shape(), x.shape());
        prop_assert!(p.is_standard_layout());
        for (p, x) in p.rows().into_iter().zip(x.rows()) {
            let total: f64 = x.iter().map(|v| v.exp()).sum();
            for (p, x) in p.iter().zip(x) {
                prop_assert!((p - x.exp() / total).abs() < 1e-14);
            }
        }
        for (layout, y) in layouts(&x) {
            prop_assert_eq!(&softmax(&y), &p, "{}", layout);
        }
    }

    #[test]
    fn softmax_of_rank_3_is_softmax_of_its_matrices(x in array3(4)) {
        let p = softmax(&x);
        for i in 0..x.dim().0 {
            prop_assert_eq!(p.index_axis(Axis(0), i), softmax(&x.index_axis(Axis(0), i)));
        }
    }

    /// Shifting all elements shifts the result, far beyond where exp overflows.
    #[test]
    fn logsumexp_and_softmax_are_shift_invariant(x in array1(10), shift in -1e4..1e4_f64) {
        prop_assume!(!x.is_empty());
        let moved = &x + shift;
        prop_assert!((logsumexp(&moved) - logsumexp(&x) - shift).abs() < 1e-10);
        prop_assert!(softmax(&moved).abs_diff_eq(&softmax(&x), 1e-10));
    }
}

/// `abs_diff_eq` of ndarray needs another crate; this is what the tests need of it.
trait AbsDiffEq {
    fn abs_diff_eq(&self, other: &Self, bound: f64) -> bool;
}

impl<D: Dimension> AbsDiffEq for Array<f64, D> {
    fn abs_diff_eq(&self, other: &Self, bound: f64) -> bool {
        self.shape() == other.shape() && self.iter().zip(other).all(|(a, b)| (a - b).abs() < bound)
    }
}

#[test]
fn every_kind_of_argument() {
    let owned = array![[1.0, 2.0], [3.0, 4.0]];
    let reference: &Array2<f64> = &owned;
    let array_ref: &ArrayRef2<f64> = &owned;
    let static_array = [[1.0, 2.0], [3.0, 4.0]];
    assert_eq!([sum(&owned), sum(reference), sum(&reference), sum(array_ref), sum(&owned.view())], [10.0; 5]);
    assert_eq!([sum(&static_array), sum(&owned.t()), sum(&owned.row(0)), sum(&[1.0, 2.0])], [10.0, 10.0, 3.0, 3.0]);
    let vector: Vec<f64> = vec![3.0, 4.0];
    let slice: &[f64] = &vector;
    assert_eq!([norm(&vector), norm(slice), norm(&slice), norm(&vector[..])], [5.0; 4]);
    assert_eq!((sum(&arr0(2.0)), maximum(&arr0(2.0))), (2.0, 2.0));
    assert_eq!(sum(&(&owned * 2.0)), 20.0);
    assert_eq!(maximum(&owned.slice(s![.., 0])), 3.0);
    assert_eq!(argmax(&ArrayView1::from(slice)), 1);
    assert_eq!((argmax(slice), argmin(&vector), argmax(&[1.0, 5.0])), (1, 0, 1));
    assert_eq!(softmax(slice).len(), 2);
    assert_eq!(softmax(&[[0.0_f64, 0.0]]), [[0.5, 0.5]]);
    assert_eq!(sum_outer(&static_array), array![4.0, 6.0]);
    assert_eq!((sum_outer(slice), sum_outer(&[1.0, 2.0])), (7.0, 3.0));
}

#[test]
fn generic_over_the_number_type() {
    fn spread<T: Real>(x: &Array1<T>) -> T {
        maximum(x) - minimum(x) + T::lit(0.5) * sum(&softmax(x)) + logsumexp(x) - logsumexp(&x.view())
    }
    assert!((spread(&array![1.0_f32, 3.0]) - 2.5).abs() < 1e-6);
    assert!((spread(&array![1.0_f64, 3.0]) - 2.5).abs() < 1e-14);
}

#[test]
fn empty_arrays() {
    let none = Array3::<f64>::zeros((2, 0, 3));
    assert_eq!((sum(&none), product(&none), norm(&none), logsumexp(&none)), (0.0, 1.0, 0.0, -INF));
    assert_eq!(sum_outer(&none).shape(), [0, 3]);
    assert_eq!(sum_outer(&Array2::<f64>::zeros((0, 3))), array![0.0, 0.0, 0.0]);
    assert_eq!(sum_outer(&Array2::<f64>::zeros((3, 0))).len(), 0);
    assert_eq!(sum_outer(&Array2::<f64>::zeros((0, 1))), array![0.0]);
    assert_eq!(sum_outer(&Vec::<f64>::new()), 0.0);
    assert_eq!(softmax(&none).shape(), [2, 0, 3]);
    assert_eq!(softmax(&Array2::<f64>::zeros((3, 0))).shape(), [3, 0]);
    assert_eq!(sum(&[[0.0_f64; 0]; 3]), 0.0);
}

#[test]
fn infinities_and_nan() {
    assert_eq!(logsumexp(&[-INF, -INF]), -INF);
    assert_eq!(logsumexp(&[-INF, 1.0]), 1.0);
    assert_eq!(logsumexp(&[INF, 1.0, -INF]), INF);
    assert!(logsumexp(&[f64::NAN, -INF]).is_nan() && logsumexp(&[f64::NAN, INF]).is_nan());
    let p = softmax(&array![[-INF, -INF], [-INF, 3.0], [f64::NAN, 0.0], [f64::NAN, -INF]]);
    assert_eq!(p.slice(s![..2, ..]), array![[0.0, 0.0], [0.0, 1.0]]);
    assert!(p.slice(s![2.., ..]).iter().all(|v| v.is_nan()));
    assert_eq!(softmax(&[800.0, 800.0 - 1e-300, 0.0]), [0.5, 0.5, 0.0]);
    assert_eq!(maximum(&array![[f64::NAN, -1.0], [-2.0, f64::NAN]]), -1.0);
}

#[test]
fn broadcast_and_strided_views() {
    let row = array![1.0, 2.0, 3.0];
    let many = row.broadcast((50, 3)).unwrap();
    assert_eq!((sum(&many), maximum(&many)), (300.0, 3.0));
    assert_eq!(sum_outer(&many), array![50.0, 100.0, 150.0]);
    let x = Array1::from_iter((0..100).map(f64::from));
    assert_eq!(sum(&x.slice(s![..;3])), (0..100).step_by(3).map(f64::from).sum::<f64>());
    assert_eq!(argmax(&x.slice(s![..;-1])), 0);
    assert_eq!(argmin(&row.broadcast(3).unwrap().slice(s![..;-1])), 2);
}

#[test]
#[should_panic(expected = "maximum of an empty array")]
fn maximum_of_an_empty_array() {
    let _ = maximum(&Array2::<f64>::zeros((0, 2)));
}

#[test]
#[should_panic(expected = "minimum of an empty array")]
fn minimum_of_an_empty_array() {
    let _ = minimum(&Vec::<f32>::new());
}

#[test]
#[should_panic(expected = "argmax of an empty array")]
fn argmax_of_an_empty_array() {
    let _ = argmax(&Array1::<f64>::zeros(0));
}
