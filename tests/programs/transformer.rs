//! A small transformer for the next symbol: embeddings, blocks of attention with several heads and
//! of a perceptron, normalised rows, cross entropy. The parameters are one vector.

use ad::check_grad;
use ad::prelude::*;

#[derive(Clone, Copy)]
struct Sizes {
    symbols: usize,
    width: usize,
    heads: usize,
    hidden: usize,
    blocks: usize,
    longest: usize,
}

impl Sizes {
    fn numbers(&self) -> usize {
        let Sizes { symbols, width, hidden, blocks, longest, .. } = *self;
        (symbols + longest) * width + blocks * (4 * width * width + 2 * width * hidden) + width * symbols
    }
}

/// Rows with mean 0 and variance 1.
#[differentiable]
fn normalised(x: &Array2<f64>) -> Array2<f64> {
    let mean = x.mean_axis(Axis(1)).unwrap().insert_axis(Axis(1));
    let centred = x - &mean;
    let variance = centred.mapv(|v| v * v).mean_axis(Axis(1)).unwrap().insert_axis(Axis(1));
    &centred / &variance.mapv(|v| (v + 1e-5).sqrt())
}

/// Attention to the earlier symbols, with several heads.
#[differentiable]
fn attention(x: &Array2<f64>, wq: &Array2<f64>, wk: &Array2<f64>, wv: &Array2<f64>, heads: usize) -> Array2<f64> {
    let (length, width) = x.dim();
    let size = width / heads;
    let (q, k, v) = (x.dot(wq), x.dot(wk), x.dot(wv));
    let mut mixed = Array2::zeros((length, width));
    for head in 0..heads {
        let part = s![.., head * size..(head + 1) * size];
        let (q, k, v) = (q.slice(part), k.slice(part), v.slice(part));
        let scores = q.dot(&k.t()) / (size as f64).sqrt();
        let masked =
            Array2::from_shape_fn((length, length), |(i, j)| if j <= i { scores[[i, j]] } else { f64::NEG_INFINITY });
        mixed.slice_mut(part).assign(&softmax(&masked).dot(&v));
    }
    mixed
}

#[differentiable]
fn gelu(x: f64) -> f64 {
    0.5 * x * (1.0 + ((2.0 / std::f64::consts::PI).sqrt() * (x + 0.044715 * x.powi(3))).tanh())
}

/// The mean cross entropy of the next symbols.
#[differentiate(wrt(theta))]
fn loss(
    theta: &[f64],
    text: &[usize],
    symbols: usize,
    width: usize,
    heads: usize,
    hidden: usize,
    blocks: usize,
    longest: usize,
) -> f64 {
    let mut at = 0;
    let mut take = |rows: usize, columns: usize| {
        let part = ArrayView2::from_shape((rows, columns), &theta[at..at + rows * columns]).unwrap().to_owned();
        at += rows * columns;
        part
    };
    let embedding = take(symbols, width);
    let positions = take(longest, width);
    let length = text.len() - 1;
    let mut x = Array2::from_shape_fn((length, width), |(i, j)| embedding[[text[i], j]] + positions[[i, j]]);
    for _ in 0..blocks {
        let (wq, wk, wv, wo) = (take(width, width), take(width, width), take(width, width), take(width, width));
        let (w1, w2) = (take(width, hidden), take(hidden, width));
        x = &x + &attention(&normalised(&x), &wq, &wk, &wv, heads).dot(&wo);
        x = &x + &normalised(&x).dot(&w1).mapv(gelu).dot(&w2);
    }
    let logits = normalised(&x).dot(&take(width, symbols));
    let mut total = 0.0;
    for (row, &next) in logits.rows().into_iter().zip(&text[1..]) {
        total += logsumexp(&row) - row[next];
    }
    total / length as f64
}

const SIZES: Sizes = Sizes { symbols: 5, width: 4, heads: 2, hidden: 6, blocks: 2, longest: 8 };

fn parameters(sizes: &Sizes) -> Vec<f64> {
    let mut rng = fastrand::Rng::with_seed(3);
    (0..sizes.numbers()).map(|_| rng.f64() - 0.5).collect()
}

/// Without the last matrix all symbols are equally likely. The gradient of that matrix is the
/// product of the normalised rows with the errors of the probabilities.
#[test]
fn without_a_last_matrix_the_loss_is_known() {
    let Sizes { symbols, width, heads, hidden, blocks, longest } = SIZES;
    let text = [0, 3, 1, 4, 2, 2, 0];
    let mut theta = parameters(&SIZES);
    let last = theta.len() - width * symbols;
    theta[last..].fill(0.0);
    let (value, gradient) = loss_value_and_grad(&theta, &text, symbols, width, heads, hidden, blocks, longest);
    assert!((value - 5.0_f64.ln()).abs() < 1e-14);
    assert!(gradient[..last].iter().all(|g| *g == 0.0));
    // Each row of the gradient sums to zero over the symbols, and over the width, as normalised
    // rows do.
    let gradient = Array2::from_shape_vec((width, symbols), gradient[last..].to_vec()).unwrap();
    assert!(gradient.sum_axis(Axis(1)).iter().chain(&gradient.sum_axis(Axis(0))).all(|x| x.abs() < 1e-14));
    assert!(gradient.iter().any(|g| g.abs() > 1e-3));
}

/// Later symbols have no effect: the loss of a longer text differs by its last term only.
#[test]
fn future_tokens_have_no_effect() {
    let Sizes { symbols, width, heads, hidden, blocks, longest } = SIZES;
    let theta = parameters(&SIZES);
    let of =
        |text: &[usize]| (text.len() - 1) as f64 * loss(&theta, text, symbols, width, heads, hidden, blocks, longest);
    let (a, b) = (of(&[0, 3, 1, 4, 2]) - of(&[0, 3, 1, 4]), of(&[0, 3, 1, 4, 0]) - of(&[0, 3, 1, 4]));
    // Probabilities of the fifth symbol sum to one.
    let sum: f64 = (0..5).map(|s| (of(&[0, 3, 1, 4]) - of(&[0, 3, 1, 4, s])).exp()).sum();
    assert!((sum - 1.0).abs() < 1e-12 && a != b);
}

#[test]
fn differences_agree() {
    let Sizes { symbols, width, heads, hidden, blocks, longest } = SIZES;
    check_grad!(loss(&parameters(&SIZES), &[0, 3, 1, 4, 2, 2], symbols, width, heads, hidden, blocks, longest));
}
