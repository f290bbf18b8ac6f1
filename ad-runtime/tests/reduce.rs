//! Reductions of slices against plain loops, and their order.

mod common;

use ad_runtime::kernel::{
    argmax, argmin, copied, copied_slice, dot, dot_with_copies, exact_product, maximum, minimum, product, sum,
    sum_in_order, sum_of_squared_distances, sum_of_squares,
};
use common::{close, numbers};
use proptest::prelude::*;

const NAN: f64 = f64::NAN;
const INF: f64 = f64::INFINITY;

/// Numbers among which NaN, zeros of both signs, infinities and ties are common.
fn difficult() -> impl Strategy<Value = Vec<f64>> {
    let number = prop_oneof![Just(NAN), Just(0.0), Just(-0.0), Just(INF), Just(-INF), Just(1.0), Just(-1.0), -2.0..2.0];
    proptest::collection::vec(number, 1..60)
}

/// Two numbers of the same kind: equal, or both NaN. Zeros of different signs are not the same.
fn same(a: f64, b: f64) -> bool {
    (a.is_nan() && b.is_nan()) || (a == b && a.is_sign_negative() == b.is_sign_negative())
}

/// The definition: the first element that is not beaten by any other; NaN beats nothing.
fn first_best(x: &[f64], better: impl Fn(f64, f64) -> bool) -> usize {
    let mut best = None;
    for (i, &v) in x.iter().enumerate() {
        if !v.is_nan() && best.is_none_or(|b: usize| better(v, x[b])) {
            best = Some(i);
        }
    }
    best.unwrap_or(0)
}

/// The copies change no bit of the product, whatever the length and wherever they go.
#[test]
fn products_while_their_operands_are_copied() {
    for n in [0, 1, 15, 16, 100, 511, 2047, 2048, 2049, 2064, 4096, 8192, 8193, 20_003] {
        let x: Vec<f64> = (0..n).map(|k| (k as f64 * 0.37).sin()).collect();
        let y: Vec<f64> = (0..n).map(|k| (k as f64 * 0.11).cos() + 0.1).collect();
        let mut to = vec![f64::NAN; n];
        let mut turned = ndarray::Array1::from_elem(n, f64::NAN);
        turned.invert_axis(ndarray::Axis(0));
        let copies = &mut [copied_slice(&mut to, &y), copied(&mut turned, &x)];
        assert_eq!(dot_with_copies(&x, &y, copies).to_bits(), dot(&x, &y).to_bits(), "{n}");
        assert_eq!((to, turned.to_vec()), (y.clone(), x.clone()), "{n}");
        // Wherever in a line of the cache the copy begins.
        for first in 0..9.min(n) {
            let mut to = vec![f64::NAN; n];
            let copies = &mut [copied_slice(&mut to[first..], &y[first..])];
            let found = dot_with_copies(&x[first..], &y[first..], copies);
            assert_eq!(found.to_bits(), dot(&x[first..], &y[first..]).to_bits(), "{n}");
            assert_eq!(to[first..], y[first..], "{n}");
        }
        let single = [&x, &y].map(|v| v.iter().map(|&v| v as f32).collect::<Vec<f32>>());
        let mut to = vec![f32::NAN; n];
        let found = dot_with_copies(&single[0], &single[1], &mut [copied_slice(&mut to, &single[0])]);
        assert_eq!(found.to_bits(), dot(&single[0], &single[1]).to_bits(), "{n}");
        assert_eq!(to, single[0], "{n}");
    }
}

proptest! {
    #[test]
    fn sums(x in (0..200_usize).prop_flat_map(numbers)) {
        let scale = x.iter().map(|v| v.abs()).sum::<f64>();
        prop_assert!(close(sum(&x), x.iter().sum(), x.len(), scale));
        let squares: f64 = x.iter().map(|v| v * v).sum();
        prop_assert!(close(sum_of_squares(&x), squares, x.len(), squares));
        let single: Vec<f32> = x.iter().map(|&v| v as f32).collect();
        prop_assert!((f64::from(sum(&single)) - sum(&x)).abs() <= 1e-5 * scale + 1e-5);
    }

    #[test]
    fn dots(xy in (0..200_usize).prop_flat_map(|n| (numbers(n), numbers(n)))) {
        let (x, y) = xy;
        let naive: f64 = x.iter().zip(&y).map(|(a, b)| a * b).sum();
        prop_assert!(close(dot(&x, &y), naive, x.len(), 16.0 * x.len() as f64));
    }

    /// Integers in floating point are exact in any order, so that a lost or doubled element shows.
    #[test]
    fn exact_sums(x in proptest::collection::vec(-1000..1000_i32, 0..150)) {
        let real: Vec<f64> = x.iter().map(|&v| f64::from(v)).collect();
        prop_assert_eq!(sum(&real), f64::from(x.iter().sum::<i32>()));
        prop_assert_eq!(dot(&real, &real), x.iter().map(|&v| f64::from(v) * f64::from(v)).sum::<f64>());
    }

    /// The order is a function of the length: where in memory the slice starts does not matter.
    #[test]
    fn bits_do_not_depend_on_alignment(x in (1..120_usize).prop_flat_map(numbers), pad in 0..4_usize) {
        let mut moved = vec![9.0; pad];
        moved.extend(&x);
        prop_assert_eq!(sum(&x).to_bits(), sum(&moved[pad..]).to_bits());
        prop_assert_eq!(sum_of_squares(&x).to_bits(), sum_of_squares(&moved[pad..]).to_bits());
    }

    #[test]
    fn products_go_from_left_to_right(x in (0..40_usize).prop_flat_map(numbers)) {
        prop_assert_eq!(product(&x).to_bits(), x.iter().fold(1.0, |p, v| p * v).to_bits());
    }

    #[test]
    fn extremes(x in difficult()) {
        prop_assert_eq!(argmax(&x), first_best(&x, |a, b| a > b));
        prop_assert_eq!(argmin(&x), first_best(&x, |a, b| a < b));
        prop_assert!(same(maximum(&x), x[argmax(&x)]), "{} {:?}", maximum(&x), x);
        prop_assert!(same(minimum(&x), x[argmin(&x)]), "{} {:?}", minimum(&x), x);
        // The chain that the documentation compares them with, which leaves the sign of zero open.
        let chained = x.iter().copied().fold(NAN, f64::max);
        prop_assert!(chained == maximum(&x) || (chained.is_nan() && maximum(&x).is_nan()));
        let chained = x.iter().copied().fold(NAN, f64::min);
        prop_assert!(chained == minimum(&x) || (chained.is_nan() && minimum(&x).is_nan()));
    }
}

#[test]
fn empty_slices() {
    assert_eq!(
        (sum::<f64>(&[]), dot::<f64>(&[], &[]), sum_of_squares::<f64>(&[]), product::<f64>(&[])),
        (0.0, 0.0, 0.0, 1.0)
    );
}

#[test]
fn nan_and_infinities() {
    assert_eq!(maximum(&[NAN, 1.0, NAN]), 1.0);
    assert!(maximum(&[NAN; 20]).is_nan() && minimum(&[NAN; 3]).is_nan());
    assert_eq!((argmax(&[NAN; 20]), argmin(&[NAN, NAN, 2.0])), (0, 2));
    assert_eq!((maximum(&[-INF; 9]), minimum(&[INF; 9])), (-INF, INF));
    assert_eq!((maximum(&[NAN, -INF]), argmax(&[NAN, -INF])), (-INF, 1));
    assert!(sum(&[1.0, NAN]).is_nan() && sum(&[INF, -INF]).is_nan());
    assert_eq!(argmax(&[1.0_f32, 7.0, 7.0]), 1);
}

/// The first of -0 and +0, also where it is in a later lane than the second.
#[test]
fn zeros_of_both_signs() {
    for (first, second) in [(0.0, -0.0), (-0.0, 0.0)] {
        let mut x = [-1.0; 20];
        (x[1], x[8]) = (first, second);
        assert!(same(maximum(&x), first) && argmax(&x) == 1, "{first} before {second}");
        let x = x.map(|v| -v);
        assert!(same(minimum(&x), -first) && argmin(&x) == 1, "{first} before {second}");
    }
}

#[test]
#[should_panic(expected = "maximum of an empty array")]
fn maximum_of_an_empty_slice() {
    let _ = maximum::<f64>(&[]);
}

#[test]
#[should_panic(expected = "argmin of an empty array")]
fn argmin_of_an_empty_slice() {
    let _ = argmin::<f64>(&[]);
}

#[test]
#[should_panic(expected = "dot of 2 and 3 elements")]
fn dot_of_different_lengths() {
    let _ = dot(&[1.0, 2.0], &[1.0, 2.0, 3.0]);
}

#[test]
fn orders_of_the_function_itself() {
    for n in 0..70 {
        let x: Vec<f64> = (0..n).map(|i| (f64::from(i) * 0.37).sin() + 0.6).collect();
        let whole = ndarray::ArrayView1::from(&x);
        assert_eq!(sum_in_order(&x).to_bits(), x.iter().sum::<f64>().to_bits());
        assert_eq!(exact_product(&x).to_bits(), whole.product().to_bits());
        if n > 0 {
            let variance = sum_of_squared_distances(&x) / f64::from(n);
            assert_eq!(variance.to_bits(), whole.var(0.0).to_bits());
        }
    }
}
