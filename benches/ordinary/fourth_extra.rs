//! The fourth set, bodies, circuits and rotations. Its author knew neither the
//! compiler's mechanisms nor the other sets' programs. It shows where the compiler is slow.

use ad::ndarray::{Array1, Array2};
use ad::prelude::*;

use super::{Data, Table};

/// Skinning: vertices move with four bones each.
#[differentiate(wrt(bones))]
fn skin(bones: &Array2<f64>, rest: &[[f64; 3]], bone: &[[usize; 4]], weight: &[[f64; 4]], target: &[[f64; 3]]) -> f64 {
    let mut loss = 0.0;
    for (((p, b), w), t) in rest.iter().zip(bone).zip(weight).zip(target) {
        let mut moved = [0.0; 3];
        for k in 0..4 {
            for c in 0..3 {
                let row = bones.row(b[k]);
                moved[c] += w[k] * (row[4 * c] * p[0] + row[4 * c + 1] * p[1] + row[4 * c + 2] * p[2] + row[4 * c + 3]);
            }
        }
        for c in 0..3 {
            loss += (moved[c] - t[c]).powi(2);
        }
    }
    loss
}

fn skin_by_hand(
    bones: &Array2<f64>,
    rest: &[[f64; 3]],
    bone: &[[usize; 4]],
    weight: &[[f64; 4]],
    target: &[[f64; 3]],
) -> (f64, Array2<f64>) {
    let table = bones.as_slice().unwrap().as_chunks::<12>().0;
    let mut g = vec![[0.0; 12]; table.len()];
    let mut loss = 0.0;
    for (((p, b), w), t) in rest.iter().zip(bone).zip(weight).zip(target) {
        // The bones are blended first, then applied once.
        let mut blend = [0.0; 12];
        for k in 0..4 {
            for (s, v) in blend.iter_mut().zip(&table[b[k]]) {
                *s += w[k] * v;
            }
        }
        let mut gb = [0.0; 12];
        for c in 0..3 {
            let moved = blend[4 * c] * p[0] + blend[4 * c + 1] * p[1] + blend[4 * c + 2] * p[2] + blend[4 * c + 3];
            let d = moved - t[c];
            loss += d * d;
            for k in 0..3 {
                gb[4 * c + k] = 2.0 * d * p[k];
            }
            gb[4 * c + 3] = 2.0 * d;
        }
        for k in 0..4 {
            for (s, v) in g[b[k]].iter_mut().zip(&gb) {
                *s += w[k] * v;
            }
        }
    }
    (loss, Array2::from_shape_vec(bones.dim(), g.into_flattened()).unwrap())
}

/// A quantum circuit: amplitudes as pairs, gates on bits.
#[differentiate(wrt(angle))]
fn circuit(angle: &[f64], qubits: usize) -> f64 {
    let n = 1 << qubits;
    let mut re = vec![0.0; n];
    let mut im = vec![0.0; n];
    re[0] = 1.0;
    for (k, a) in angle.iter().enumerate() {
        let bit = 1 << (k % qubits);
        let (s, c) = (0.5 * a).sin_cos();
        for i in 0..n {
            if i & bit == 0 {
                let j = i | bit;
                let (r0, i0, r1, i1) = (re[i], im[i], re[j], im[j]);
                re[i] = c * r0 + s * i1;
                im[i] = c * i0 - s * r1;
                re[j] = c * r1 + s * i0;
                im[j] = c * i1 - s * r0;
            }
        }
    }
    let mut total = 0.0;
    for i in 0..n {
        total += (i.count_ones() as f64) * (re[i] * re[i] + im[i] * im[i]);
    }
    total
}

fn circuit_by_hand(angle: &[f64], qubits: usize) -> (f64, Vec<f64>) {
    let n = 1 << qubits;
    let mut state = vec![(0.0, 0.0); n];
    state[0] = (1.0, 0.0);
    let turn = |state: &mut [(f64, f64)], bit: usize, (s, c): (f64, f64)| {
        for half in state.chunks_exact_mut(2 * bit) {
            let (zero, one) = half.split_at_mut(bit);
            for (a, b) in zero.iter_mut().zip(one) {
                let ((r0, i0), (r1, i1)) = (*a, *b);
                *a = (c * r0 + s * i1, c * i0 - s * r1);
                *b = (c * r1 + s * i0, c * i1 - s * r0);
            }
        }
    };
    for (k, a) in angle.iter().enumerate() {
        turn(&mut state, 1 << (k % qubits), (0.5 * a).sin_cos());
    }
    let mut total = 0.0;
    let mut g: Vec<(f64, f64)> = Vec::with_capacity(n);
    for (i, (r, m)) in state.iter().enumerate() {
        let ones = i.count_ones() as f64;
        total += ones * (r * r + m * m);
        g.push((2.0 * ones * r, 2.0 * ones * m));
    }
    // A gate is a rotation: its inverse takes the state and the adjoint back.
    let mut ga = vec![0.0; angle.len()];
    for (k, a) in angle.iter().enumerate().rev() {
        let bit = 1 << (k % qubits);
        let (s, c) = (0.5 * a).sin_cos();
        turn(&mut state, bit, (-s, c));
        let mut sum = 0.0;
        for (half, gs) in state.chunks_exact(2 * bit).zip(g.chunks_exact(2 * bit)) {
            for i in 0..bit {
                let ((r0, i0), (r1, i1)) = (half[i], half[i + bit]);
                let ((a, b), (x, y)) = (gs[i], gs[i + bit]);
                sum += a * (c * i1 - s * r0) - b * (s * i0 + c * r1) + x * (c * i0 - s * r1) - y * (s * i1 + c * r0);
            }
        }
        ga[k] = 0.5 * sum;
        turn(&mut g, bit, (-s, c));
    }
    (total, ga)
}

/// Momentum descent on a quadratic, unrolled: fitted step and momentum.
#[differentiate(wrt(rate, momentum, start))]
fn descent(rate: f64, momentum: f64, start: &[f64], h: &[f64], steps: usize) -> f64 {
    let mut x = start.to_vec();
    let mut v = vec![0.0; x.len()];
    for _ in 0..steps {
        for i in 0..x.len() {
            v[i] = momentum * v[i] - rate * h[i] * x[i];
            x[i] += v[i];
        }
    }
    x.iter().zip(h).map(|(x, h)| 0.5 * h * x * x).sum()
}

fn descent_by_hand(rate: f64, momentum: f64, start: &[f64], h: &[f64], steps: usize) -> (f64, (f64, f64, Vec<f64>)) {
    let n = start.len();
    let mut path = Vec::with_capacity((steps + 1) * n);
    let mut speed = Vec::with_capacity((steps + 1) * n);
    path.extend_from_slice(start);
    speed.resize(n, 0.0);
    for t in 0..steps {
        for i in 0..n {
            let v = momentum * speed[t * n + i] - rate * h[i] * path[t * n + i];
            speed.push(v);
            path.push(path[t * n + i] + v);
        }
    }
    let last = &path[steps * n..];
    let mut total = 0.0;
    let mut gx = vec![0.0; n];
    for i in 0..n {
        total += 0.5 * h[i] * last[i] * last[i];
        gx[i] = h[i] * last[i];
    }
    let mut gv = vec![0.0; n];
    let (mut gr, mut gm) = (0.0, 0.0);
    for t in (0..steps).rev() {
        let (x, v) = (&path[t * n..][..n], &speed[t * n..][..n]);
        for i in 0..n {
            let g = gv[i] + gx[i];
            gm += g * v[i];
            gr -= g * h[i] * x[i];
            gx[i] -= g * rate * h[i];
            gv[i] = momentum * g;
        }
    }
    (total, (gr, gm, gx))
}

/// A finite element bar: element matrices added to places, energy of a displacement.
#[differentiate(wrt(u, modulus))]
fn elements(u: &[f64], modulus: &[f64], nodes: &[[usize; 3]], load: &[f64]) -> f64 {
    let mut energy = 0.0;
    for (e, n) in modulus.iter().zip(nodes) {
        let k = [[7.0, -8.0, 1.0], [-8.0, 16.0, -8.0], [1.0, -8.0, 7.0]];
        let mut q = 0.0;
        for i in 0..3 {
            for j in 0..3 {
                q += u[n[i]] * k[i][j] * u[n[j]];
            }
        }
        energy += 0.5 * e * q / 3.0;
    }
    for (a, b) in u.iter().zip(load) {
        energy -= a * b;
    }
    energy
}

fn elements_by_hand(u: &[f64], modulus: &[f64], nodes: &[[usize; 3]], load: &[f64]) -> (f64, (Vec<f64>, Vec<f64>)) {
    const K: [[f64; 3]; 3] = [[7.0, -8.0, 1.0], [-8.0, 16.0, -8.0], [1.0, -8.0, 7.0]];
    let mut gu: Vec<f64> = load.iter().map(|l| -l).collect();
    let mut energy = -u.iter().zip(load).map(|(a, b)| a * b).sum::<f64>();
    let mut ge = Vec::with_capacity(modulus.len());
    for (e, n) in modulus.iter().zip(nodes) {
        let v = n.map(|i| u[i]);
        let ku: [f64; 3] = std::array::from_fn(|i| K[i][0] * v[0] + K[i][1] * v[1] + K[i][2] * v[2]);
        let q = (v[0] * ku[0] + v[1] * ku[1] + v[2] * ku[2]) / 6.0;
        energy += e * q;
        ge.push(q);
        for i in 0..3 {
            gu[n[i]] += e / 3.0 * ku[i];
        }
    }
    (energy, (gu, ge))
}

/// Rotations of pairs (Givens), one after the other, in place.
#[differentiate(wrt(angle))]
fn givens(angle: &[f64], pairs: &[[usize; 2]], x: &Array1<f64>, y: &Array1<f64>) -> f64 {
    let mut v = x.clone();
    for (a, p) in angle.iter().zip(pairs) {
        let (s, c) = a.sin_cos();
        let (u, w) = (v[p[0]], v[p[1]]);
        v[p[0]] = c * u - s * w;
        v[p[1]] = s * u + c * w;
    }
    (&v - y).mapv(|d| d * d).sum()
}

fn givens_by_hand(angle: &[f64], pairs: &[[usize; 2]], x: &Array1<f64>, y: &Array1<f64>) -> (f64, Vec<f64>) {
    let mut v = x.to_vec();
    let mut saved = Vec::with_capacity(angle.len());
    for (a, p) in angle.iter().zip(pairs) {
        let (s, c) = a.sin_cos();
        let (u, w) = (v[p[0]], v[p[1]]);
        v[p[0]] = c * u - s * w;
        v[p[1]] = s * u + c * w;
        saved.push((s, c, v[p[0]], v[p[1]]));
    }
    let mut loss = 0.0;
    let mut g: Vec<f64> = v
        .iter()
        .zip(y)
        .map(|(v, y)| {
            loss += (v - y) * (v - y);
            2.0 * (v - y)
        })
        .collect();
    let mut ga = vec![0.0; angle.len()];
    for (k, p) in pairs.iter().enumerate().rev() {
        let (s, c, u, w) = saved[k];
        let (a, b) = (g[p[0]], g[p[1]]);
        ga[k] = b * u - a * w;
        g[p[0]] = c * a + s * b;
        g[p[1]] = c * b - s * a;
    }
    (loss, ga)
}

/// Magnetisation by sweeps over a grid, in place.
#[differentiate(wrt(field, beta, coupling))]
fn mean_field(field: &Array2<f64>, beta: f64, coupling: f64, sweeps: usize, seen: &Array2<f64>) -> f64 {
    let (h, w) = field.dim();
    let mut m = Array2::<f64>::zeros((h, w));
    for _ in 0..sweeps {
        for i in 0..h {
            for j in 0..w {
                let mut around = 0.0;
                if i > 0 {
                    around += m[[i - 1, j]];
                }
                if i + 1 < h {
                    around += m[[i + 1, j]];
                }
                if j > 0 {
                    around += m[[i, j - 1]];
                }
                if j + 1 < w {
                    around += m[[i, j + 1]];
                }
                m[[i, j]] = (beta * (coupling * around + field[[i, j]])).tanh();
            }
        }
    }
    (&m - seen).mapv(|d| d * d).sum()
}

fn mean_field_by_hand(
    field: &Array2<f64>,
    beta: f64,
    coupling: f64,
    sweeps: usize,
    seen: &Array2<f64>,
) -> (f64, (Array2<f64>, f64, f64)) {
    let (h, w) = field.dim();
    let field = field.as_slice().unwrap();
    let mut m = vec![0.0; h * w];
    let mut saved = vec![(0.0, 0.0); sweeps * h * w];
    for s in 0..sweeps {
        let saved = &mut saved[s * h * w..(s + 1) * h * w];
        for i in 0..h {
            for j in 0..w {
                let p = i * w + j;
                let mut around = 0.0;
                if i > 0 {
                    around += m[p - w];
                }
                if i + 1 < h {
                    around += m[p + w];
                }
                if j > 0 {
                    around += m[p - 1];
                }
                if j + 1 < w {
                    around += m[p + 1];
                }
                m[p] = f64::tanh(beta * (coupling * around + field[p]));
                saved[p] = (around, m[p]);
            }
        }
    }
    let mut loss = 0.0;
    let mut g: Vec<f64> = m
        .iter()
        .zip(seen)
        .map(|(m, s)| {
            loss += (m - s) * (m - s);
            2.0 * (m - s)
        })
        .collect();
    let mut gfield = vec![0.0; h * w];
    let (mut gbeta, mut gcoupling) = (0.0, 0.0);
    for s in (0..sweeps).rev() {
        let saved = &saved[s * h * w..(s + 1) * h * w];
        for i in (0..h).rev() {
            for j in (0..w).rev() {
                let p = i * w + j;
                let (around, m) = saved[p];
                let ga = std::mem::take(&mut g[p]) * (1.0 - m * m);
                gbeta += ga * (coupling * around + field[p]);
                gcoupling += ga * beta * around;
                gfield[p] += ga * beta;
                let to = ga * beta * coupling;
                if i > 0 {
                    g[p - w] += to;
                }
                if i + 1 < h {
                    g[p + w] += to;
                }
                if j > 0 {
                    g[p - 1] += to;
                }
                if j + 1 < w {
                    g[p + 1] += to;
                }
            }
        }
    }
    (loss, (Array2::from_shape_vec((h, w), gfield).unwrap(), gbeta, gcoupling))
}

pub(super) fn rows(table: &mut Table) {
    let mut data = Data::new(105);
    let n = 2000;
    let bones = data.matrix(20, 12);
    let (rest, target) = (data.points::<3>(n), data.points::<3>(n));
    let weight = data.points::<4>(n);
    let bone: Vec<[usize; 4]> = (0..n).map(|_| [(); 4].map(|()| data.0.usize(..20))).collect();
    table.row(
        "skin",
        || skin_by_hand(&bones, &rest, &bone, &weight, &target),
        || skin_value_and_grad(&bones, &rest, &bone, &weight, &target),
        || skin(&bones, &rest, &bone, &weight, &target),
    );
    let angle = data.numbers(36);
    table.row("circuit", || circuit_by_hand(&angle, 9), || circuit_value_and_grad(&angle, 9), || circuit(&angle, 9));
    let (x, h) = (data.numbers(1000), data.positive(1000));
    table.row(
        "descent",
        || descent_by_hand(0.1, 0.9, &x, &h, 50),
        || descent_value_and_grad(0.1, 0.9, &x, &h, 50),
        || descent(0.1, 0.9, &x, &h, 50),
    );
    let n = 10000;
    let (u, load, modulus) = (data.numbers(2 * n + 1), data.numbers(2 * n + 1), data.positive(n));
    let nodes: Vec<[usize; 3]> = (0..n).map(|i| [2 * i, 2 * i + 1, 2 * i + 2]).collect();
    table.row(
        "finite elements",
        || elements_by_hand(&u, &modulus, &nodes, &load),
        || elements_value_and_grad(&u, &modulus, &nodes, &load),
        || elements(&u, &modulus, &nodes, &load),
    );
    let angle = data.numbers(5000);
    let pairs: Vec<[usize; 2]> = (0..5000)
        .map(|_| {
            let a = data.0.usize(..99);
            [a, a + 1]
        })
        .collect();
    let (x, y) = (data.vector(100), data.vector(100));
    table.row(
        "givens",
        || givens_by_hand(&angle, &pairs, &x, &y),
        || givens_value_and_grad(&angle, &pairs, &x, &y),
        || givens(&angle, &pairs, &x, &y),
    );
    let (field, seen) = (data.matrix(32, 32), data.matrix(32, 32));
    table.row(
        "mean field by sweeps",
        || mean_field_by_hand(&field, 0.6, 0.5, 10, &seen),
        || mean_field_value_and_grad(&field, 0.6, 0.5, 10, &seen),
        || mean_field(&field, 0.6, 0.5, 10, &seen),
    );
}
