//! The fourth set, series of data. Its author knew neither the
//! compiler's mechanisms nor the other sets' programs. It shows where the compiler is slow.

use ad::ndarray::{Array2, Array3};
use ad::prelude::*;

use super::{Data, Table};

/// Wavelet shrinkage (Haar) with a limit for each level.
#[differentiate(wrt(noisy, limits))]
fn shrink(noisy: &[f64], limits: &[f64], clean: &[f64]) -> f64 {
    let r = 0.5_f64.sqrt();
    let mut c = noisy.to_vec();
    let mut half = noisy.len();
    for level in 0..limits.len() {
        half /= 2;
        let mut next = c.clone();
        for i in 0..half {
            next[i] = r * (c[2 * i] + c[2 * i + 1]);
            let d = r * (c[2 * i] - c[2 * i + 1]);
            next[half + i] = if d > limits[level] {
                d - limits[level]
            } else if d < -limits[level] {
                d + limits[level]
            } else {
                0.0
            };
        }
        c = next;
    }
    for _ in 0..limits.len() {
        let mut next = c.clone();
        for i in 0..half {
            next[2 * i] = r * (c[i] + c[half + i]);
            next[2 * i + 1] = r * (c[i] - c[half + i]);
        }
        c = next;
        half *= 2;
    }
    c.iter().zip(clean).map(|(a, b)| (a - b).powi(2)).sum()
}

fn shrink_by_hand(noisy: &[f64], limits: &[f64], clean: &[f64]) -> (f64, (Vec<f64>, Vec<f64>)) {
    let r = 0.5_f64.sqrt();
    let n = noisy.len();
    let mut c = noisy.to_vec();
    let mut next = vec![0.0; n];
    let mut sign = vec![0_i8; n];
    let forward = |c: &mut [f64], next: &mut [f64], half: usize| {
        for i in 0..half {
            next[i] = r * (c[2 * i] + c[2 * i + 1]);
            next[half + i] = r * (c[2 * i] - c[2 * i + 1]);
        }
        c[..2 * half].copy_from_slice(&next[..2 * half]);
    };
    let back = |c: &mut [f64], next: &mut [f64], half: usize| {
        for i in 0..half {
            next[2 * i] = r * (c[i] + c[half + i]);
            next[2 * i + 1] = r * (c[i] - c[half + i]);
        }
        c[..2 * half].copy_from_slice(&next[..2 * half]);
    };
    let mut half = n;
    for &limit in limits {
        half /= 2;
        forward(&mut c, &mut next, half);
        for i in half..2 * half {
            let d = c[i];
            (c[i], sign[i]) = if d > limit {
                (d - limit, 1)
            } else if d < -limit {
                (d + limit, -1)
            } else {
                (0.0, 0)
            };
        }
    }
    for _ in limits {
        back(&mut c, &mut next, half);
        half *= 2;
    }
    let mut loss = 0.0;
    for i in 0..n {
        let d = c[i] - clean[i];
        loss += d * d;
        c[i] = 2.0 * d;
    }
    let mut g = vec![0.0; limits.len()];
    for l in 0..limits.len() {
        half /= 2;
        forward(&mut c, &mut next, half);
        for i in half..2 * half {
            g[l] -= f64::from(sign[i]) * c[i];
            if sign[i] == 0 {
                c[i] = 0.0;
            }
        }
    }
    for _ in limits {
        back(&mut c, &mut next, half);
        half *= 2;
    }
    (loss, (c, g))
}

/// Four sections of an equaliser, one after the other, sample by sample.
#[differentiate(wrt(freq, q, gain))]
fn equaliser(freq: [f64; 4], q: [f64; 4], gain: [f64; 4], x: &[f64], wanted: &[f64]) -> f64 {
    let mut coef = [[0.0; 5]; 4];
    for s in 0..4 {
        let a = 10.0_f64.powf(gain[s] / 40.0);
        let alpha = freq[s].sin() / (2.0 * q[s]);
        let a0 = 1.0 + alpha / a;
        let c = -2.0 * freq[s].cos();
        coef[s] = [(1.0 + alpha * a) / a0, c / a0, (1.0 - alpha * a) / a0, c / a0, (1.0 - alpha / a) / a0];
    }
    let mut state = [[0.0; 2]; 4];
    let mut loss = 0.0;
    for (input, want) in x.iter().zip(wanted) {
        let mut v = *input;
        for s in 0..4 {
            let [b0, b1, b2, a1, a2] = coef[s];
            let y = b0 * v + state[s][0];
            state[s][0] = b1 * v - a1 * y + state[s][1];
            state[s][1] = b2 * v - a2 * y;
            v = y;
        }
        loss += (v - want).powi(2);
    }
    loss / x.len() as f64
}

type Bands = ([f64; 4], [f64; 4], [f64; 4]);

fn equaliser_by_hand(freq: [f64; 4], q: [f64; 4], gain: [f64; 4], x: &[f64], wanted: &[f64]) -> (f64, Bands) {
    let n = x.len();
    let mut coef = [[0.0; 5]; 4];
    for s in 0..4 {
        let a = 10.0_f64.powf(gain[s] / 40.0);
        let alpha = freq[s].sin() / (2.0 * q[s]);
        let r = 1.0 / (1.0 + alpha / a);
        let c = -2.0 * freq[s].cos();
        coef[s] = [(1.0 + alpha * a) * r, c * r, (1.0 - alpha * a) * r, c * r, (1.0 - alpha / a) * r];
    }
    let mut state = [[0.0; 2]; 4];
    let mut path = Vec::with_capacity(n);
    let mut loss = 0.0;
    for (input, want) in x.iter().zip(wanted) {
        let mut v = *input;
        let mut line = [v, 0.0, 0.0, 0.0, 0.0];
        for s in 0..4 {
            let [b0, b1, b2, a1, a2] = coef[s];
            let y = b0 * v + state[s][0];
            state[s][0] = b1 * v - a1 * y + state[s][1];
            state[s][1] = b2 * v - a2 * y;
            v = y;
            line[s + 1] = v;
        }
        path.push(line);
        loss += (v - want) * (v - want);
    }
    let scale = 1.0 / n as f64;
    let mut gc = [[0.0; 5]; 4];
    let mut gs = [[0.0; 2]; 4];
    for (line, want) in path.iter().zip(wanted).rev() {
        let mut g = 2.0 * scale * (line[4] - want);
        for s in (0..4).rev() {
            let [b0, b1, b2, a1, a2] = coef[s];
            let [g0, g1] = gs[s];
            let (v, y) = (line[s], line[s + 1]);
            // y = b0 v + z0; z0' = b1 v - a1 y + z1; z1' = b2 v - a2 y.
            let gy = g - a1 * g0 - a2 * g1;
            gc[s][0] += gy * v;
            gc[s][1] += g0 * v;
            gc[s][2] += g1 * v;
            gc[s][3] -= g0 * y;
            gc[s][4] -= g1 * y;
            g = b0 * gy + b1 * g0 + b2 * g1;
            gs[s] = [gy, g0];
        }
    }
    let (mut gf, mut gq, mut gg) = ([0.0; 4], [0.0; 4], [0.0; 4]);
    for s in 0..4 {
        let a = 10.0_f64.powf(gain[s] / 40.0);
        let sin = freq[s].sin();
        let alpha = sin / (2.0 * q[s]);
        let r = 1.0 / (1.0 + alpha / a);
        let g = gc[s];
        let ga0 = -r * (0..5).map(|k| g[k] * coef[s][k]).sum::<f64>();
        let galpha = r * (a * (g[0] - g[2]) - g[4] / a) + ga0 / a;
        let ga = r * (alpha * (g[0] - g[2]) + g[4] * alpha / (a * a)) - ga0 * alpha / (a * a);
        gf[s] = galpha * freq[s].cos() / (2.0 * q[s]) + 2.0 * sin * r * (g[1] + g[3]);
        gq[s] = -galpha * alpha / q[s];
        gg[s] = ga * a * std::f64::consts::LN_10 / 40.0;
    }
    (loss * scale, (gf, gq, gg))
}

/// Ratings that each game changes.
#[differentiate(wrt(start, k, home))]
fn elo(start: &[f64], k: f64, home: f64, games: &[[usize; 2]], won: &[bool]) -> f64 {
    let mut r = start.to_vec();
    let mut loss = 0.0;
    for (&[a, b], &won) in games.iter().zip(won) {
        let p = 1.0 / (1.0 + (r[b] - r[a] - home).exp());
        let s = if won { 1.0 } else { 0.0 };
        loss -= if won { p.ln() } else { (1.0 - p).ln() };
        r[a] += k * (s - p);
        r[b] -= k * (s - p);
    }
    loss
}

fn elo_by_hand(start: &[f64], k: f64, home: f64, games: &[[usize; 2]], won: &[bool]) -> (f64, (Vec<f64>, f64, f64)) {
    let mut r = start.to_vec();
    let mut ps = Vec::with_capacity(games.len());
    let mut loss = 0.0;
    for (&[a, b], &won) in games.iter().zip(won) {
        let p = 1.0 / (1.0 + (r[b] - r[a] - home).exp());
        loss -= if won { p.ln() } else { (1.0 - p).ln() };
        let up = k * (f64::from(u8::from(won)) - p);
        r[a] += up;
        r[b] -= up;
        ps.push(p);
    }
    let mut g = vec![0.0; start.len()];
    let (mut gk, mut gh) = (0.0, 0.0);
    for ((&[a, b], &won), &p) in games.iter().zip(won).zip(&ps).rev() {
        let miss = f64::from(u8::from(won)) - p;
        let gup = g[a] - g[b];
        gk += gup * miss;
        let gd = -k * gup * p * (1.0 - p) - miss;
        g[a] += gd;
        g[b] -= gd;
        gh += gd;
    }
    (loss, (g, gk, gh))
}

/// Segments of any state and length (semi-Markov).
#[differentiate(wrt(emit, duration, transition))]
fn segments(emit: &Array2<f64>, duration: &Array2<f64>, transition: &Array2<f64>) -> f64 {
    let (n, k) = emit.dim();
    let longest = duration.ncols();
    let mut cum = Array2::<f64>::zeros((n + 1, k));
    for t in 0..n {
        for s in 0..k {
            cum[[t + 1, s]] = cum[[t, s]] + emit[[t, s]];
        }
    }
    let mut enter = Array2::<f64>::zeros((n + 1, k));
    let mut alpha = Array2::<f64>::zeros((n + 1, k));
    for t in 1..=n {
        for s in 0..k {
            let score = |d: usize| enter[[t - d, s]] + cum[[t, s]] - cum[[t - d, s]] + duration[[s, d - 1]];
            let mut top = f64::NEG_INFINITY;
            for d in 1..=longest.min(t) {
                top = top.max(score(d));
            }
            let mut sum = 0.0;
            for d in 1..=longest.min(t) {
                sum += (score(d) - top).exp();
            }
            alpha[[t, s]] = top + sum.ln();
        }
        for s in 0..k {
            let top = alpha[[t, 0]];
            let mut sum = 0.0;
            for r in 0..k {
                sum += (alpha[[t, r]] - top + transition[[r, s]]).exp();
            }
            enter[[t, s]] = top + sum.ln();
        }
    }
    let last = alpha.row(n);
    -last.mapv(f64::exp).sum().ln()
}

type Scores = (Array2<f64>, Array2<f64>, Array2<f64>);

fn segments_by_hand(emit: &Array2<f64>, duration: &Array2<f64>, transition: &Array2<f64>) -> (f64, Scores) {
    let (n, k) = emit.dim();
    let longest = duration.ncols();
    let mut cum = vec![0.0; (n + 1) * k];
    for t in 0..n {
        for s in 0..k {
            cum[(t + 1) * k + s] = cum[t * k + s] + emit[[t, s]];
        }
    }
    // The best of a segment's scores without the part of its end.
    let mut enter = vec![0.0; (n + 1) * k];
    let mut alpha = vec![0.0; (n + 1) * k];
    let mut buffer = vec![0.0; longest];
    for t in 1..=n {
        for s in 0..k {
            let reach = longest.min(t);
            let mut top = f64::NEG_INFINITY;
            for d in 1..=reach {
                let p = (t - d) * k + s;
                let score = enter[p] - cum[p] + duration[[s, d - 1]];
                buffer[d - 1] = score;
                top = top.max(score);
            }
            let sum: f64 = buffer[..reach].iter().map(|b| (b - top).exp()).sum();
            alpha[t * k + s] = cum[t * k + s] + top + sum.ln();
        }
        for s in 0..k {
            let top = alpha[t * k];
            let mut sum = 0.0;
            for r in 0..k {
                sum += (alpha[t * k + r] - top + transition[[r, s]]).exp();
            }
            enter[t * k + s] = top + sum.ln();
        }
    }
    let total = alpha[n * k..].iter().map(|a| a.exp()).sum::<f64>().ln();
    let mut gcum = vec![0.0; (n + 1) * k];
    let mut genter = vec![0.0; (n + 1) * k];
    let mut ga = vec![0.0; k];
    let (mut gd, mut gt) = (Array2::zeros(duration.dim()), Array2::zeros(transition.dim()));
    for t in (1..=n).rev() {
        for r in 0..k {
            let a = alpha[t * k + r];
            ga[r] = if t == n { -(a - total).exp() } else { 0.0 };
            for s in 0..k {
                let through = genter[t * k + s];
                let g = through * (a + transition[[r, s]] - enter[t * k + s]).exp();
                ga[r] += g;
                gt[[r, s]] += g;
            }
        }
        for s in 0..k {
            let shift = cum[t * k + s] - alpha[t * k + s];
            gcum[t * k + s] += ga[s];
            for d in 1..=longest.min(t) {
                let p = (t - d) * k + s;
                let g = ga[s] * (enter[p] - cum[p] + duration[[s, d - 1]] + shift).exp();
                genter[p] += g;
                gcum[p] -= g;
                gd[[s, d - 1]] += g;
            }
        }
    }
    let mut ge = Array2::zeros((n, k));
    for s in 0..k {
        let mut g = 0.0;
        for t in (0..n).rev() {
            g += gcum[(t + 1) * k + s];
            ge[[t, s]] = g;
        }
    }
    (-total, (ge, gd, gt))
}

/// All parses of a sentence (inside algorithm).
#[differentiate(wrt(weight, lexical))]
fn parses(weight: &[f64], rules: &[[usize; 3]], lexical: &Array2<f64>, words: &[usize]) -> f64 {
    let (n, m) = (words.len(), lexical.nrows());
    let mut chart = Array3::<f64>::zeros((n, n, m));
    for i in 0..n {
        for a in 0..m {
            chart[[i, i, a]] = lexical[[a, words[i]]];
        }
    }
    for span in 2..=n {
        for i in 0..=n - span {
            let j = i + span - 1;
            for k in i..j {
                for (r, &[a, b, c]) in rules.iter().enumerate() {
                    chart[[i, j, a]] += weight[r] * chart[[i, k, b]] * chart[[k + 1, j, c]];
                }
            }
        }
    }
    -chart[[0, n - 1, 0]].ln()
}

fn parses_by_hand(
    weight: &[f64],
    rules: &[[usize; 3]],
    lexical: &Array2<f64>,
    words: &[usize],
) -> (f64, (Vec<f64>, Array2<f64>)) {
    let (n, m) = (words.len(), lexical.nrows());
    let mut chart = vec![0.0; n * n * m];
    for i in 0..n {
        for a in 0..m {
            chart[(i * n + i) * m + a] = lexical[[a, words[i]]];
        }
    }
    let mut sums = vec![0.0; m];
    for span in 2..=n {
        for i in 0..=n - span {
            let j = i + span - 1;
            sums.fill(0.0);
            for k in i..j {
                let left = &chart[(i * n + k) * m..][..m];
                let right = &chart[((k + 1) * n + j) * m..][..m];
                for (&[a, b, c], w) in rules.iter().zip(weight) {
                    sums[a] += w * left[b] * right[c];
                }
            }
            chart[(i * n + j) * m..][..m].copy_from_slice(&sums);
        }
    }
    let top = chart[(n - 1) * m];
    let mut g = vec![0.0; n * n * m];
    g[(n - 1) * m] = -1.0 / top;
    let mut gw = vec![0.0; weight.len()];
    for span in (2..=n).rev() {
        for i in 0..=n - span {
            let j = i + span - 1;
            sums.copy_from_slice(&g[(i * n + j) * m..][..m]);
            for k in i..j {
                let (at, to) = ((i * n + k) * m, ((k + 1) * n + j) * m);
                for (r, &[a, b, c]) in rules.iter().enumerate() {
                    let (s, left, right) = (sums[a], chart[at + b], chart[to + c]);
                    gw[r] += s * left * right;
                    let sw = s * weight[r];
                    g[at + b] += sw * right;
                    g[to + c] += sw * left;
                }
            }
        }
    }
    let mut gl = Array2::zeros(lexical.dim());
    for i in 0..n {
        for a in 0..m {
            gl[[a, words[i]]] += g[(i * n + i) * m + a];
        }
    }
    (-top.ln(), (gw, gl))
}

pub(super) fn rows(table: &mut Table) {
    let mut data = Data::new(102);
    let (noisy, clean) = (data.numbers(16384), data.numbers(16384));
    let limits = [0.1, 0.12, 0.2, 0.15, 0.11, 0.3, 0.25, 0.21];
    table.row(
        "wavelet shrinkage",
        || shrink_by_hand(&noisy, &limits, &clean),
        || shrink_value_and_grad(&noisy, &limits, &clean),
        || shrink(&noisy, &limits, &clean),
    );
    let (x, wanted) = (data.numbers(5000), data.numbers(5000));
    let (freq, q, gain) = ([0.1, 0.4, 0.9, 1.7], [0.7, 1.1, 2.0, 0.9], [3.0, -4.0, 2.0, 6.0]);
    table.row(
        "equaliser",
        || equaliser_by_hand(freq, q, gain, &x, &wanted),
        || equaliser_value_and_grad(freq, q, gain, &x, &wanted),
        || equaliser(freq, q, gain, &x, &wanted),
    );
    let start = data.numbers(200);
    let games: Vec<[usize; 2]> = (0..10000)
        .map(|_| {
            let a = data.0.usize(..200);
            [a, (a + 1 + data.0.usize(..199)) % 200]
        })
        .collect();
    let won: Vec<bool> = (0..10000).map(|_| data.0.bool()).collect();
    table.row(
        "elo",
        || elo_by_hand(&start, 0.1, 0.2, &games, &won),
        || elo_value_and_grad(&start, 0.1, 0.2, &games, &won),
        || elo(&start, 0.1, 0.2, &games, &won),
    );
    let (emit, duration, transition) = (data.matrix(150, 5), data.matrix(5, 12), data.matrix(5, 5));
    table.row(
        "segments",
        || segments_by_hand(&emit, &duration, &transition),
        || segments_value_and_grad(&emit, &duration, &transition),
        || segments(&emit, &duration, &transition),
    );
    let rules: Vec<[usize; 3]> = (0..40).map(|r| [r % 8, data.0.usize(..8), data.0.usize(..8)]).collect();
    let weight = data.positive(40);
    let lexical = Array2::from_shape_vec((8, 30), data.positive(240)).unwrap();
    let words = data.below(18, 30);
    table.row(
        "parses",
        || parses_by_hand(&weight, &rules, &lexical, &words),
        || parses_value_and_grad(&weight, &rules, &lexical, &words),
        || parses(&weight, &rules, &lexical, &words),
    );
}
