//! Programs as people write them, through the generated code: names that only the body imports,
//! `cfg`, functions that change their arguments, closures that change captured variables.

#![allow(clippy::needless_range_loop, reason = "loops over indices are what people write")]

use ad::ndarray::{self, Ix1};
use ad::prelude::*;

/// The paths of a body's imports occur in the derivatives and in the proofs of names.
#[differentiate]
fn imports(x: f64, n: usize) -> f64 {
    use std::f64::consts::{self, PI};
    use std::iter::repeat_n;
    type Pair = [f64; 2];
    static WEIGHTS: Pair = [0.5, consts::E];
    let weights: Pair = WEIGHTS;
    weights[1] * (x * PI).sin() + repeat_n(x, n).sum::<f64>()
}

/// A trait that only the body imports has a method of a name that is assumed. The type's own method
/// comes first, as in Rust.
mod elsewhere {
    pub trait Longer {
        fn sqrt(&self) -> f64;
    }
    impl Longer for f64 {
        fn sqrt(&self) -> f64 {
            2.0 * *self
        }
    }
}

#[differentiate]
fn imports_a_trait(x: f64) -> f64 {
    #[allow(unused_imports, reason = "it is there to be in scope")]
    use elsewhere::Longer as _;
    x.sqrt() * x
}

#[differentiate]
fn configured(x: f64) -> f64 {
    let tests = if cfg!(test) { x * x } else { x };
    if cfg!(not(test)) { 0.0 } else { tests * 3.0 }
}

/// The matrix of a layer and its bias are cut off the front of the parameters.
#[differentiate]
fn layers(theta: &[f64], x: &[f64]) -> f64 {
    fn shift(v: &mut [f64], by: f64) {
        for e in v.iter_mut() {
            *e += by;
        }
    }
    let mut at = 0;
    let mut next = || {
        at += 1;
        theta[at - 1]
    };
    let shapes: [fn(f64) -> f64; 2] = [f64::tanh, |t| t];
    let mut now = x.to_vec();
    for shape in shapes {
        let mut out = vec![0.0; now.len()];
        for k in 0..now.len() {
            for j in 0..now.len() {
                out[k] += next() * now[j];
            }
        }
        shift(&mut out, next());
        now = out.iter().map(|v| shape(*v)).collect();
    }
    now.iter().map(|v| v * v).sum()
}

/// The dimension of an array as an argument of its type; a flat vector that is cut in pieces.
#[differentiate]
fn dimensions(w: &ndarray::Array<f64, ndarray::Ix2>, v: ndarray::ArrayView<'_, f64, Ix1>, theta: &[f64]) -> f64 {
    let n = theta.len() / 2;
    let m = ndarray::ArrayView2::from_shape((n, 2), &theta[..2 * n]).unwrap();
    let folded: ndarray::Array<f64, Ix1> = m.fold_axis(Axis(0), 0.0, |a, b| a + b * b);
    w.dot(&v).sum() * folded.sum()
}

#[differentiate]
fn parts(x: &[f64], k: usize) -> f64 {
    let mut rest = x.iter();
    let first: f64 = rest.by_ref().take(k).sum();
    let (above, below): (Vec<f64>, Vec<f64>) = rest.partition(|v| **v > 0.5);
    let mut v = x.to_vec();
    let (a, b) = v.split_at_mut(k);
    a[0] += b[0];
    v.dedup();
    let taken: f64 = v.drain(..k).sum();
    let at = x.partition_point(|v| *v < 0.5) + x.iter().rposition(|v| *v < 0.5).unwrap_or(0);
    first * above.iter().sum::<f64>() * below.len() as f64 + taken * v[0] * at as f64
}

#[test]
fn bodies_as_people_write_them() {
    ad::check_grad!(imports(0.4, 3));
    ad::check_grad!(imports_a_trait(0.4));
    assert_eq!((elsewhere::Longer::sqrt(&4.0), imports_a_trait(4.0)), (8.0, 8.0));
    ad::check_grad!(configured(0.7));
    assert_eq!((configured(0.7), configured_grad(0.7)), (0.7 * 0.7 * 3.0, 0.7 * 6.0));
    let x = [0.1, 0.3, 0.4, 0.7, 0.9, 0.2];
    ad::check_grad!(parts(&x, 2));
    let (w, v) = (array![[0.4, 0.9], [0.2, -0.3]], array![0.7, 0.1]);
    ad::check_grad!(dimensions(&w, v.view(), &x));
    let theta: Vec<f64> = (0..10).map(|k| 0.3 - 0.1 * f64::from(k)).collect();
    ad::check_grad!(layers(&theta, &[0.4, 0.9]));
}

/// A view may leave out the last elements of a slice.
#[differentiate(wrt(theta))]
fn beginning(theta: &[f64], n: usize, skip: bool) -> f64 {
    let few = skip || ndarray::ArrayView2::from_shape((n, 2), theta).unwrap().sum() < 1.0;
    let w = ndarray::ArrayView1::from_shape(3, theta).unwrap();
    w.mapv(f64::sin).sum() * if few { 1.0 } else { theta[0] }
}

#[test]
fn views_of_the_first_elements() {
    for n in 0..4 {
        ad::check_grad!(beginning(&[0.3, 0.9, -0.4, 1.2, 0.7, 0.1, 2.0], n, false));
    }
    ad::check_grad!(beginning(&[0.3, 0.9, -0.4, 1.2], 7, true));
    assert!(std::panic::catch_unwind(|| beginning_grad(&[0.3, 0.9, -0.4, 1.2], 3, false)).is_err());
    assert!(std::panic::catch_unwind(|| beginning_grad(&[0.3, 0.9], 1, false)).is_err());
}

#[differentiate]
fn from_booleans(x: &[f64]) -> f64 {
    x.iter().map(|&v| f64::from(v > 0.0) * v * v + f64::from(v <= 0.0) * v.sin()).sum()
}

#[test]
fn booleans_as_numbers() {
    ad::check_grad!(from_booleans(&[0.3, -0.4, 0.7]));
}
