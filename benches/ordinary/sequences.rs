//! Sequences: hidden states, gated cells, chains of labels, and soft alignment.

use ad::ndarray::{Array1, Array2};
use ad::prelude::*;

use super::{Data, Table};

/// A hidden Markov model by the scaled forward algorithm: tables of logits, a softmax by row.
#[differentiate(wrt(transition, emission))]
fn hidden_states(transition: &Array2<f64>, emission: &Array2<f64>, symbols: &[usize]) -> f64 {
    let k = transition.nrows();
    let mut a = Array2::zeros((k, k));
    let mut b = Array2::zeros(emission.raw_dim());
    for i in 0..k {
        a.row_mut(i).assign(&softmax(&transition.row(i)));
        b.row_mut(i).assign(&softmax(&emission.row(i)));
    }
    let mut state = Array1::from_elem(k, 1.0 / k as f64);
    let mut total = 0.0;
    for &symbol in symbols {
        let next = a.t().dot(&state) * b.column(symbol);
        let sum = next.sum();
        total -= sum.ln();
        state = next / sum;
    }
    total
}

fn hidden_states_by_hand(
    transition: &Array2<f64>,
    emission: &Array2<f64>,
    symbols: &[usize],
) -> (f64, (Array2<f64>, Array2<f64>)) {
    fn softmax_rows(logits: &Array2<f64>) -> Vec<f64> {
        let mut p = logits.as_slice().unwrap().to_vec();
        for row in p.chunks_exact_mut(logits.ncols()) {
            let greatest = row.iter().copied().fold(f64::NEG_INFINITY, f64::max);
            row.iter_mut().for_each(|x| *x = (*x - greatest).exp());
            let scale = 1.0 / row.iter().sum::<f64>();
            row.iter_mut().for_each(|x| *x *= scale);
        }
        p
    }
    fn pulled_back(p: &[f64], mut d: Vec<f64>, columns: usize) -> Array2<f64> {
        for (d, p) in d.chunks_exact_mut(columns).zip(p.chunks_exact(columns)) {
            let mean: f64 = d.iter().zip(p).map(|(d, p)| d * p).sum();
            d.iter_mut().zip(p).for_each(|(d, p)| *d = p * (*d - mean));
        }
        Array2::from_shape_vec((d.len() / columns, columns), d).unwrap()
    }
    let (k, m) = emission.dim();
    let (a, b) = (softmax_rows(transition), softmax_rows(emission));
    let n = symbols.len();
    let mut states = vec![0.0; (n + 1) * k];
    states[..k].fill(1.0 / k as f64);
    let (mut moved, mut sums) = (vec![0.0; n * k], vec![0.0; n]);
    let mut total = 0.0;
    for (t, &symbol) in symbols.iter().enumerate() {
        let (before, after) = states.split_at_mut((t + 1) * k);
        let (state, moved) = (&before[t * k..], &mut moved[t * k..(t + 1) * k]);
        for i in 0..k {
            for (m, a) in moved.iter_mut().zip(&a[i * k..(i + 1) * k]) {
                *m += state[i] * a;
            }
        }
        let mut sum = 0.0;
        for j in 0..k {
            after[j] = moved[j] * b[j * m + symbol];
            sum += after[j];
        }
        total -= sum.ln();
        sums[t] = 1.0 / sum;
        after[..k].iter_mut().for_each(|x| *x *= sums[t]);
    }
    let (mut da, mut db) = (vec![0.0; k * k], vec![0.0; k * m]);
    let (mut ds, mut dm) = (vec![0.0; k], vec![0.0; k]);
    for (t, &symbol) in symbols.iter().enumerate().rev() {
        let (state, after) = (&states[t * k..(t + 1) * k], &states[(t + 1) * k..(t + 2) * k]);
        let mean: f64 = ds.iter().zip(after).map(|(d, s)| d * s).sum();
        for j in 0..k {
            let g = (ds[j] - mean - 1.0) * sums[t];
            db[j * m + symbol] += g * moved[t * k + j];
            dm[j] = g * b[j * m + symbol];
        }
        for i in 0..k {
            ds[i] = a[i * k..(i + 1) * k].iter().zip(&dm).map(|(a, d)| a * d).sum();
            for (da, d) in da[i * k..(i + 1) * k].iter_mut().zip(&dm) {
                *da += state[i] * d;
            }
        }
    }
    (total, (pulled_back(&a, da, k), pulled_back(&b, db, m)))
}

/// A gated recurrent unit along one sequence, and a squared error of its last state.
#[differentiate(wrt(wx, wh))]
fn gated(wx: &Array2<f64>, wh: &Array2<f64>, xs: &Array2<f64>, wanted: &Array1<f64>) -> f64 {
    let n = wanted.len();
    let mut h = Array1::zeros(n);
    for x in xs.rows() {
        let input = wx.dot(&x);
        let state = wh.dot(&h);
        let gates: Array1<f64> = sigmoid(&(&input.slice(s![..2 * n]) + &state.slice(s![..2 * n])));
        let reset = gates.slice(s![..n]);
        let keep = gates.slice(s![n..]);
        let new = (&input.slice(s![2 * n..]) + &(&reset * &state.slice(s![2 * n..]))).mapv(f64::tanh);
        h = &keep * &h + (1.0 - &keep) * &new;
    }
    (&h - wanted).mapv(|d| d * d).sum()
}

fn gated_by_hand(
    wx: &Array2<f64>,
    wh: &Array2<f64>,
    xs: &Array2<f64>,
    wanted: &Array1<f64>,
) -> (f64, (Array2<f64>, Array2<f64>)) {
    let (steps, n) = (xs.nrows(), wanted.len());
    let inputs = xs.dot(&wx.t());
    let mut hs = Array2::zeros((steps + 1, n));
    // Reset, keep, new and the state's part of the new one, for each step.
    let mut saved = Array2::zeros((steps, 4 * n));
    let sigmoid = |z: f64| 1.0 / (1.0 + (-z).exp());
    for t in 0..steps {
        let state = wh.dot(&hs.row(t));
        for i in 0..n {
            let reset = sigmoid(inputs[[t, i]] + state[i]);
            let keep = sigmoid(inputs[[t, n + i]] + state[n + i]);
            let new = (inputs[[t, 2 * n + i]] + reset * state[2 * n + i]).tanh();
            hs[[t + 1, i]] = keep * hs[[t, i]] + (1.0 - keep) * new;
            saved[[t, i]] = reset;
            saved[[t, n + i]] = keep;
            saved[[t, 2 * n + i]] = new;
            saved[[t, 3 * n + i]] = state[2 * n + i];
        }
    }
    let error = &hs.row(steps) - wanted;
    let mut dh = 2.0 * &error;
    let (mut dinputs, mut dstates) = (Array2::zeros((steps, 3 * n)), Array2::zeros((steps, 3 * n)));
    for t in (0..steps).rev() {
        let mut before = Array1::zeros(n);
        for i in 0..n {
            let [reset, keep, new, part] = [0, 1, 2, 3].map(|c| saved[[t, c * n + i]]);
            let g = dh[i];
            let dkeep = g * (hs[[t, i]] - new) * keep * (1.0 - keep);
            let dnew = g * (1.0 - keep) * (1.0 - new * new);
            let dreset = dnew * part * reset * (1.0 - reset);
            before[i] = g * keep;
            dinputs[[t, i]] = dreset;
            dinputs[[t, n + i]] = dkeep;
            dinputs[[t, 2 * n + i]] = dnew;
            dstates[[t, i]] = dreset;
            dstates[[t, n + i]] = dkeep;
            dstates[[t, 2 * n + i]] = dnew * reset;
        }
        dh = before + wh.t().dot(&dstates.row(t));
    }
    let total = error.dot(&error);
    (total, (dinputs.t().dot(xs), dstates.t().dot(&hs.slice(s![..steps, ..]))))
}

/// A chain of labels (a conditional random field): the negative log-likelihood of a labelling.
#[differentiate(wrt(score, pair))]
fn labels(score: &Array2<f64>, pair: &Array2<f64>, gold: &[usize]) -> f64 {
    let (n, k) = score.dim();
    let mut alpha = score.row(0).to_owned();
    let mut path = score[[0, gold[0]]];
    for t in 1..n {
        alpha = build1(k, |j| score[[t, j]] + logsumexp(&build1(k, |i| alpha[i] + pair[[i, j]])));
        path += score[[t, gold[t]]] + pair[[gold[t - 1], gold[t]]];
    }
    logsumexp(&alpha) - path
}

fn labels_by_hand(score: &Array2<f64>, pair: &Array2<f64>, gold: &[usize]) -> (f64, (Array2<f64>, Array2<f64>)) {
    let (n, k) = score.dim();
    let logsumexp = |x: &mut [f64]| {
        let greatest = x.iter().copied().fold(f64::NEG_INFINITY, f64::max);
        x.iter_mut().for_each(|x| *x = (*x - greatest).exp());
        let sum: f64 = x.iter().sum();
        x.iter_mut().for_each(|x| *x /= sum);
        greatest + sum.ln()
    };
    // How much the score of label j at t has from label i before it.
    let mut shares = vec![0.0; n * k * k];
    let mut alpha = score.row(0).to_vec();
    let mut path = score[[0, gold[0]]];
    for t in 1..n {
        let mut next = vec![0.0; k];
        for j in 0..k {
            let row = &mut shares[(t * k + j) * k..][..k];
            for i in 0..k {
                row[i] = alpha[i] + pair[[i, j]];
            }
            next[j] = score[[t, j]] + logsumexp(row);
        }
        alpha = next;
        path += score[[t, gold[t]]] + pair[[gold[t - 1], gold[t]]];
    }
    let total = logsumexp(&mut alpha);
    let mut d = alpha;
    let (mut ds, mut dp) = (Array2::zeros((n, k)), Array2::zeros((k, k)));
    for t in (1..n).rev() {
        let mut before = vec![0.0; k];
        for j in 0..k {
            ds[[t, j]] = d[j];
            for (i, share) in shares[(t * k + j) * k..][..k].iter().enumerate() {
                let g = d[j] * share;
                before[i] += g;
                dp[[i, j]] += g;
            }
        }
        ds[[t, gold[t]]] -= 1.0;
        dp[[gold[t - 1], gold[t]]] -= 1.0;
        d = before;
    }
    for (ds, d) in ds.row_mut(0).iter_mut().zip(&d) {
        *ds = *d;
    }
    ds[[0, gold[0]]] -= 1.0;
    (total - path, (ds, dp))
}

/// The soft alignment of two series (dynamic time warping with a soft minimum).
#[differentiate(wrt(x))]
fn alignment(x: &[f64], y: &[f64]) -> f64 {
    let (n, m) = (x.len(), y.len());
    let mut r: Array2<f64> = Array2::from_elem((n + 1, m + 1), 1e6);
    r[[0, 0]] = 0.0;
    for i in 0..n {
        for j in 0..m {
            let (a, b, c) = (r[[i, j]], r[[i, j + 1]], r[[i + 1, j]]);
            let least = a.min(b).min(c);
            let sum = (least - a).exp() + (least - b).exp() + (least - c).exp();
            r[[i + 1, j + 1]] = (x[i] - y[j]).powi(2) + least - sum.ln();
        }
    }
    r[[n, m]]
}

fn alignment_by_hand(x: &[f64], y: &[f64]) -> (f64, Vec<f64>) {
    let (n, m) = (x.len(), y.len());
    let w = m + 1;
    let mut r = vec![1e6_f64; (n + 1) * w];
    r[0] = 0.0;
    for i in 0..n {
        for j in 0..m {
            let (a, b, c) = (r[i * w + j], r[i * w + j + 1], r[(i + 1) * w + j]);
            let least = a.min(b).min(c);
            let sum = (least - a).exp() + (least - b).exp() + (least - c).exp();
            r[(i + 1) * w + j + 1] = (x[i] - y[j]).powi(2) + least - sum.ln();
        }
    }
    let mut d = vec![0.0; (n + 1) * w];
    let mut dx = vec![0.0; n];
    d[n * w + m] = 1.0;
    for i in (0..n).rev() {
        for j in (0..m).rev() {
            let g = d[(i + 1) * w + j + 1];
            let e = x[i] - y[j];
            dx[i] += 2.0 * g * e;
            let soft = r[(i + 1) * w + j + 1] - e * e;
            for k in [i * w + j, i * w + j + 1, (i + 1) * w + j] {
                d[k] += g * (soft - r[k]).exp();
            }
        }
    }
    (r[n * w + m], dx)
}

pub fn rows(table: &mut Table) {
    let mut data = Data::new(6);
    {
        let (transition, emission, symbols) = (data.matrix(8, 8), data.matrix(8, 50), data.below(500, 50));
        table.row(
            "hidden states, 8 of 50 symbols, 500 steps",
            || hidden_states_by_hand(&transition, &emission, &symbols),
            || hidden_states_value_and_grad(&transition, &emission, &symbols),
            || hidden_states(&transition, &emission, &symbols),
        );
    }
    {
        let (wx, wh) = (data.matrix(96, 16), data.matrix(96, 32));
        let (xs, wanted) = (data.matrix(50, 16), data.vector(32));
        table.row(
            "gated unit of 32, 50 steps",
            || gated_by_hand(&wx, &wh, &xs, &wanted),
            || gated_value_and_grad(&wx, &wh, &xs, &wanted),
            || gated(&wx, &wh, &xs, &wanted),
        );
    }
    {
        let (score, pair, gold) = (data.matrix(200, 10), data.matrix(10, 10), data.below(200, 10));
        table.row(
            "labels, 10 for each of 200",
            || labels_by_hand(&score, &pair, &gold),
            || labels_value_and_grad(&score, &pair, &gold),
            || labels(&score, &pair, &gold),
        );
    }
    {
        let (x, y) = (data.numbers(100), data.numbers(100));
        table.row(
            "soft alignment, 100 x 100",
            || alignment_by_hand(&x, &y),
            || alignment_value_and_grad(&x, &y),
            || alignment(&x, &y),
        );
    }
}
