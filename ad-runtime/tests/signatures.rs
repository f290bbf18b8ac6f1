//! The signatures of the DSL accept every rank, both precisions and every kind of sequence.

use ad_runtime::Real;
use ad_runtime::dsl::{
    argmax, argmin, build, build1, checkpoint, fold, gather, iota, logsumexp, map2, maximum, minimum, norm, one_hot,
    product, reduce, relu, replicate, scan, scanl, scanr, scatter, select, sigmoid, softmax, softplus, stop_gradient,
    sum, sum_outer,
};
use ndarray::{
    Array, Array1, Array2, Array3, Array4, Array5, Array6, ArrayD, ArrayRef, Axis, Dimension, Ix1, Ix2, Ix3, Ix4, Ix5,
    Ix6, array,
};

/// 1 to n in the shape [2, 1, 2, ..].
fn sample<F: Real, D: Dimension>() -> Array<F, D> {
    let shape: Vec<usize> = (0..D::NDIM.expect("a fixed rank")).map(|k| 2 - k % 2).collect();
    let n = shape.iter().product::<usize>();
    let x = ArrayD::from_shape_vec(shape, (1..=n).map(|k| F::lit(k as f64)).collect()).expect("as many");
    x.into_dimensionality().expect("the rank")
}

macro_rules! every_rank {
    ($f:ty: $($d:ty, $n:literal;)*) => {$({
        let x: Array<$f, $d> = sample();
        let r: &ArrayRef<$f, $d> = &x;
        let v = x.view();
        let mut shape = [0; $n];
        shape.copy_from_slice(x.shape());
        let n = x.len() as f64;
        assert_eq!(f64::from(sum(&x)), n * (n + 1.0) / 2.0);
        assert_eq!((sum(r), sum(&v)), (sum(&x), sum(&x)));
        assert_eq!((f64::from(maximum(r)), f64::from(minimum(&v))), (n, 1.0));
        assert!(product(r) >= 1.0 && norm(&v) <= sum(&x) && logsumexp(r) >= maximum(&x));
        assert_eq!(sum(&softmax(r)).round(), (n as $f / x.len_of(Axis($n - 1)) as $f).round());
        let built: Array<$f, $d> = build(shape, |ix| x[ix]);
        let gathered: Array<$f, $d> = gather(shape, r, |ix: [usize; $n]| ix);
        let scattered: Array<$f, $d> = scatter(shape, r, |ix: [usize; $n]| ix);
        let mapped: Array<$f, $d> = map2(r, &x, |a, _| a);
        let chosen: Array<$f, $d> = select(true, stop_gradient(x.clone()), checkpoint(|| x.clone()));
        let relued: Array<$f, $d> = relu(r);
        assert!(built == x && gathered == x && scattered == x && mapped == x && chosen == x && relued == x);
        assert!(sigmoid(&v).iter().all(|&p| p > 0.5) && softplus(&v).iter().all(|&p| p > 0.0));
        // The outer rows are the items of a sequence, from a reference and from a view.
        let total: $f = fold(0.0, r, |total, row| total + sum(&row.to_owned_or_itself()));
        let again: $f = reduce(0.0, &v, |total, row| total + sum(&row.to_owned_or_itself()));
        assert_eq!((total, again), (sum(&x), sum(&x)));
    })*};
}

/// An item of a sequence as an array: the number itself for rank 1.
trait Item {
    type Array;
    fn to_owned_or_itself(&self) -> Self::Array;
}

impl Item for f64 {
    type Array = [f64; 1];
    fn to_owned_or_itself(&self) -> [f64; 1] {
        [*self]
    }
}

impl Item for f32 {
    type Array = [f32; 1];
    fn to_owned_or_itself(&self) -> [f32; 1] {
        [*self]
    }
}

impl<A: Clone, D: Dimension> Item for ndarray::ArrayView<'_, A, D> {
    type Array = Array<A, D>;
    fn to_owned_or_itself(&self) -> Array<A, D> {
        self.to_owned()
    }
}

#[test]
fn arrays_of_rank_one_to_six() {
    every_rank! { f64: Ix1, 1; Ix2, 2; Ix3, 3; Ix4, 4; Ix5, 5; Ix6, 6; }
    every_rank! { f32: Ix1, 1; Ix2, 2; Ix3, 3; Ix4, 4; Ix5, 5; Ix6, 6; }
}

#[test]
fn elements_of_rank_zero_to_five() {
    let x0: Array1<f64> = build1(2, |i| i as f64);
    let x1: Array2<f64> = build1(2, |_| x0.clone());
    let x2: Array3<f64> = build1(2, |_| x1.clone());
    let x3: Array4<f64> = build1(2, |_| x2.clone());
    let x4: Array5<f64> = build1(2, |_| x3.clone());
    let x5: Array6<f64> = build1(2, |_| x4.clone());
    assert_eq!(x5, replicate(2, &x4));
    assert_eq!(x5.sum(), 32.0);
    let (scanned, from, back): (Array6<f64>, Array6<f64>, Array6<f64>) = (
        scan(x4.clone(), 0..2, |acc: Array5<f64>, i| acc + i as f64),
        scanl(x4.clone(), 0..1, |acc: Array5<f64>, _| acc),
        scanr(x4.clone(), 0..1, |acc: Array5<f64>, _| acc),
    );
    assert_eq!((scanned.index_axis(Axis(0), 0).sum(), from.sum(), back.sum()), (16.0, 32.0, 32.0));
    let outer: Array5<f64> = sum_outer(&x5);
    assert_eq!(outer, &x4 * 2.0);
    assert_eq!(sum_outer(&x0), 1.0);
    let flags: Array1<bool> = build1(2, |i| i > 0);
    let counts: Array2<i64> = build1(2, |i| array![i as i64, 1]);
    assert!(flags[1] && counts[[1, 0]] == 1);
    assert_eq!(iota(3), array![0_usize, 1, 2]);
    assert_eq!(one_hot::<f32>(2, 1), array![0.0_f32, 1.0]);
}

#[test]
fn every_kind_of_sequence() {
    let (slice, vec, array): (&[f64], Vec<f64>, Array1<f64>) = (&[1.0, 2.0], vec![1.0, 2.0], array![1.0, 2.0]);
    let reference: &ArrayRef<f64, Ix1> = &array;
    let sums = [
        fold(0.0, slice, |a, x| a + x),
        fold(0.0, &vec, |a, x| a + x),
        fold(0.0, &array, |a, x| a + x),
        fold(0.0, reference, |a, x| a + x),
        fold(0.0, &array.view(), |a, x| a + x),
        fold(0.0, 1..3, |a, i: i32| a + f64::from(i)),
        fold(0.0, 1..=2, |a, i: u8| a + f64::from(i)),
        fold(0.0, 1_usize..3, |a, i| a + i as f64),
    ];
    assert_eq!(sums, [3.0; 8]);
    let (pair, n) = fold((0.0, 0_usize), &array, |(s, n), x| (s + x, n + 1));
    assert_eq!((pair, n, argmax(slice), argmin(&vec), argmax(&array.view())), (3.0, 2, 1, 0, 1));
}
