//! One product, written in several styles: heads of attention on any axis or as groups of columns,
//! sums of outer products, dot products of rows. Values and gradients agree with the style whose
//! operands are contiguous, and with differences.

use ad::check_grad;
use ad::prelude::*;

/// Softmax attention of one head, as its outputs' squares.
#[differentiate]
fn heads_first(q: &Array3<f64>, k: &Array3<f64>, v: &Array3<f64>) -> f64 {
    let mut t = 0.0;
    for h in 0..q.len_of(Axis(0)) {
        let e = q.index_axis(Axis(0), h).dot(&k.index_axis(Axis(0), h).t()).mapv(|x| x.exp());
        let z = e.sum_axis(Axis(1)).insert_axis(Axis(1));
        let o = (&e / &z).dot(&v.index_axis(Axis(0), h));
        t += o.mapv(|x| x * x).sum();
    }
    t
}

#[differentiate]
fn heads_in_the_middle(q: &Array3<f64>, k: &Array3<f64>, v: &Array3<f64>) -> f64 {
    let mut t = 0.0;
    for h in 0..q.len_of(Axis(1)) {
        let e = q.slice(s![.., h, ..]).dot(&k.slice(s![.., h, ..]).t()).mapv(|x| x.exp());
        let z = e.sum_axis(Axis(1)).insert_axis(Axis(1));
        let o = (&e / &z).dot(&v.slice(s![.., h, ..]));
        t += o.mapv(|x| x * x).sum();
    }
    t
}

#[differentiate]
fn heads_last(q: &Array3<f64>, k: &Array3<f64>, v: &Array3<f64>) -> f64 {
    let mut t = 0.0;
    for h in 0..q.len_of(Axis(2)) {
        let e = q.index_axis(Axis(2), h).dot(&k.index_axis(Axis(2), h).t()).mapv(|x| x.exp());
        let z = e.sum_axis(Axis(1)).insert_axis(Axis(1));
        let o = (&e / &z).dot(&v.index_axis(Axis(2), h));
        t += o.mapv(|x| x * x).sum();
    }
    t
}

#[differentiate(wrt(q, k, v))]
fn heads_as_columns(q: &Array2<f64>, k: &Array2<f64>, v: &Array2<f64>, heads: usize) -> f64 {
    let mut t = 0.0;
    let w = q.ncols() / heads;
    for h in 0..heads {
        let e = q.slice(s![.., h * w..(h + 1) * w]).dot(&k.slice(s![.., h * w..(h + 1) * w]).t()).mapv(|x| x.exp());
        let z = e.sum_axis(Axis(1)).insert_axis(Axis(1));
        let o = (&e / &z).dot(&v.slice(s![.., h * w..(h + 1) * w]));
        t += o.mapv(|x| x * x).sum();
    }
    t
}

/// Pseudo-random numbers.
fn numbers(shape: [usize; 3], salt: u64) -> Array3<f64> {
    let mut seed = salt;
    Array3::from_shape_simple_fn(shape, || {
        seed = seed.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        ((seed >> 33) as f64) / (1_u64 << 31) as f64 - 0.5
    })
}

fn near<D: ad::ndarray::Dimension>(a: &ad::ndarray::Array<f64, D>, b: &ad::ndarray::Array<f64, D>) {
    assert_eq!(a.shape(), b.shape());
    assert!(a.iter().zip(b).all(|(x, y)| (x - y).abs() <= 1e-12 * (1.0 + x.abs())), "{a} instead of {b}");
}

/// An array of (heads, tokens, width) with its axes in another order.
fn ordered(x: &Array3<f64>, axes: [usize; 3]) -> Array3<f64> {
    x.view().permuted_axes(axes).as_standard_layout().into_owned()
}

#[test]
fn the_axis_of_the_heads_does_not_matter() {
    // One head of the keys and values is not used.
    for [heads, tokens, width] in [[3, 5, 4], [1, 1, 1], [2, 20, 17], [2, 1, 5], [3, 4, 1]] {
        let more = heads + 1;
        let q = numbers([heads, tokens, width], 1);
        let (k, v) = (numbers([more, tokens + 2, width], 2), numbers([more, tokens + 2, width], 3));
        let (value, (dq, dk, dv)) = heads_first_value_and_grad(&q, &k, &v);
        let middle = |x: &Array3<f64>| ordered(x, [1, 0, 2]);
        let (found, (eq, ek, ev)) = heads_in_the_middle_value_and_grad(&middle(&q), &middle(&k), &middle(&v));
        assert!((found - value).abs() < 1e-12);
        [(eq, &dq), (ek, &dk), (ev, &dv)].into_iter().for_each(|(e, d)| near(&e, &middle(d)));
        let last = |x: &Array3<f64>| ordered(x, [1, 2, 0]);
        let (found, (eq, ek, ev)) = heads_last_value_and_grad(&last(&q), &last(&k), &last(&v));
        assert!((found - value).abs() < 1e-12);
        [(eq, &dq), (ek, &dk), (ev, &dv)].into_iter().for_each(|(e, d)| near(&e, &last(d)));
        let columns = |x: &Array3<f64>| {
            let (h, n, w) = x.dim();
            middle(x).into_shape_with_order((n, h * w)).expect("heads side by side")
        };
        let (found, (eq, ek, ev)) = heads_as_columns_value_and_grad(&columns(&q), &columns(&k), &columns(&v), heads);
        assert!((found - value).abs() < 1e-12);
        [(eq, &dq), (ek, &dk), (ev, &dv)].into_iter().for_each(|(e, d)| near(&e, &columns(d)));
        check_grad!(heads_in_the_middle(&middle(&q), &middle(&k), &middle(&v)));
    }
}

#[test]
fn no_heads_no_tokens() {
    for shape in [[0, 3, 2], [2, 0, 3], [2, 3, 0]] {
        let x = numbers(shape, 5);
        let (value, (dq, ..)) = heads_first_value_and_grad(&x, &x, &x);
        let y = ordered(&x, [1, 0, 2]);
        let (found, (eq, ..)) = heads_in_the_middle_value_and_grad(&y, &y, &y);
        assert_eq!(found.to_bits(), value.to_bits());
        near(&eq, &ordered(&dq, [1, 0, 2]));
    }
}

/// Fewer heads than the function looks at.
#[test]
#[should_panic(expected = "index out of range")]
fn a_missing_head_panics() {
    let (q, k) = (numbers([3, 4, 2], 1), numbers([3, 3, 2], 2));
    let _ = heads_in_the_middle_grad(&q, &k, &k);
}

#[differentiate]
fn kronecker(x: &Array2<f64>, y: &Array2<f64>) -> f64 {
    ad::ndarray::linalg::kron(x, y).mapv(f64::sin).sum()
}

#[test]
fn the_second_matrix_of_kron_has_elements() {
    let (some, none) = (array![[1.0, 2.0]], Array2::zeros((0, 2)));
    assert_eq!(kronecker_value_and_grad(&none, &some).0, 0.0);
    ad::check_grad!(kronecker(&some, &array![[3.0], [0.5]]));
    assert!(std::panic::catch_unwind(|| kronecker(&some, &none)).is_err());
    let panic = std::panic::catch_unwind(|| kronecker_grad(&some, &none)).expect_err("the function panics");
    let message = panic.downcast::<&str>().expect("a message");
    assert!(message.contains("parts of no elements: `ad::ndarray::linalg::kron(x, y)`"), "{message}");
}
