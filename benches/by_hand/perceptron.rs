//! Row e: a perceptron with one hidden layer; tanh, softmax cross entropy, the mean over a batch.
//!
//! The two large products go to ndarray's matrix product. Those with ten columns would waste it, so
//! W2 is transposed once and they become loops of the hidden layer's length.

use ad::ndarray::linalg::general_mat_mul;
use ad::ndarray::{Array1, Array2};

use super::wide::{self, Kernel, axpy, dot, madd};
use super::{exponentials, maximum};

/// The gradients of w1, b1, w2, b2.
pub type Gradient = (Array2<f64>, Array1<f64>, Array2<f64>, Array1<f64>);

/// Value and gradients.
pub fn perceptron(
    w1: &Array2<f64>,
    b1: &Array1<f64>,
    w2: &Array2<f64>,
    b2: &Array1<f64>,
    images: &Array2<f64>,
    labels: &Array1<usize>,
) -> (f64, Gradient) {
    let mut hidden = b1.broadcast((labels.len(), b1.len())).expect("a row for each image").to_owned();
    general_mat_mul(1.0, images, w1, 1.0, &mut hidden);

    let mut w2_t = w2.t().as_standard_layout().into_owned();
    let mut db2 = Array1::zeros(b2.len());
    let mut db1 = Array1::zeros(b1.len());
    let mut dw2_t = Array2::zeros(w2_t.raw_dim());
    let value = wide::run(Output {
        hidden: hidden.as_slice_mut().expect("standard layout"),
        w2_t: w2_t.as_slice_mut().expect("standard layout"),
        b2: b2.as_slice().expect("standard layout"),
        labels: labels.as_slice().expect("standard layout"),
        dw2_t: dw2_t.as_slice_mut().expect("standard layout"),
        db1: db1.as_slice_mut().expect("standard layout"),
        db2: db2.as_slice_mut().expect("standard layout"),
    });

    // `hidden` now holds the cotangent of the argument of tanh.
    let mut dw1 = Array2::zeros(w1.raw_dim());
    general_mat_mul(1.0, &images.t(), &hidden, 0.0, &mut dw1);
    (value, (dw1, db1, dw2_t.t().as_standard_layout().into_owned(), db2))
}

/// Everything between the two large products, one image after the other.
struct Output<'a> {
    /// The argument of tanh on entry, its cotangent on exit.
    hidden: &'a mut [f64],
    w2_t: &'a [f64],
    b2: &'a [f64],
    labels: &'a [usize],
    dw2_t: &'a mut [f64],
    db1: &'a mut [f64],
    db2: &'a mut [f64],
}

impl Kernel for Output<'_> {
    type Out = f64;

    #[inline(always)]
    fn run<const FMA: bool>(self) -> f64 {
        let Self { hidden, w2_t, b2, labels, dw2_t, db1, db2 } = self;
        let size = db1.len();
        let scale = 1.0 / labels.len() as f64;
        let mut scores = vec![0.0; b2.len()];
        let mut slopes = vec![0.0; b2.len()];
        let mut cotangent = vec![0.0; size];
        let mut value = 0.0;
        for (hidden, &label) in hidden.chunks_exact_mut(size).zip(labels) {
            for h in hidden.iter_mut() {
                *h = wide::tanh::<FMA>(*h);
            }
            for ((score, w), b) in scores.iter_mut().zip(w2_t.chunks_exact(size)).zip(b2) {
                *score = dot::<FMA>(hidden, w) + b;
            }
            let max = maximum(&scores);
            let sum = exponentials::<FMA>(&mut slopes, &scores, max);
            value += sum.ln() + max - scores[label];
            for slope in slopes.iter_mut() {
                *slope *= scale / sum;
            }
            slopes[label] -= scale;

            cotangent.fill(0.0);
            let parts =
                slopes.iter().zip(w2_t.chunks_exact(size)).zip(dw2_t.chunks_exact_mut(size)).zip(db2.iter_mut());
            for (((slope, w), dw), db) in parts {
                axpy::<FMA>(&mut cotangent, *slope, w);
                axpy::<FMA>(dw, *slope, hidden);
                *db += slope;
            }
            through_tanh::<FMA>(hidden, &cotangent, db1);
        }
        value * scale
    }
}

/// Replaces the result of tanh by the cotangent of its argument, and adds that to the bias's
/// gradient.
#[inline(always)]
fn through_tanh<const FMA: bool>(hidden: &mut [f64], cotangent: &[f64], db: &mut [f64]) {
    for ((h, c), db) in hidden.iter_mut().zip(cotangent).zip(db) {
        *h = c * madd::<FMA>(-*h, *h, 1.0);
        *db += *h;
    }
}
