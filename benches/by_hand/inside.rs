//! Functions that contain linear algebra or derivatives of other functions.

use ad::ndarray::{Array1, Array2};

use super::wide::{self, Kernel, axpy, dot, madd};
use super::{rows, slice};

/// The evidence of a Gaussian process: the covariance is factored and inverted in rows, and the
/// gradient is half the trace of (K^-1 - a a') dK with a = K^-1 y.
pub fn evidence(p: [f64; 3], x: &Array1<f64>, y: &Array1<f64>) -> (f64, [f64; 3]) {
    struct Run<'a>([f64; 3], &'a [f64], &'a [f64]);
    impl Kernel for Run<'_> {
        type Out = (f64, [f64; 3]);
        #[inline(always)]
        fn run<const FMA: bool>(self) -> Self::Out {
            let Self(p, x, y) = self;
            let n = x.len();
            let [variance, length, noise] = [(2.0 * p[0]).exp(), p[1].exp(), (2.0 * p[2]).exp()];
            // The lower triangles of the covariance without noise, and of its factor.
            let (mut k, mut l) = (vec![0.0; n * n], vec![0.0; n * n]);
            for i in 0..n {
                for (k, x_j) in k[i * n..=i * n + i].iter_mut().zip(x) {
                    let d = (x[i] - x_j) / length;
                    *k = variance * wide::exp::<FMA>(-0.5 * d * d);
                }
            }
            let mut logs = 0.0;
            for i in 0..n {
                let (above, row) = l.split_at_mut(i * n);
                for j in 0..i {
                    let s = k[i * n + j] - dot::<FMA>(&row[..j], &above[j * n..][..j]);
                    row[j] = s / above[j * n + j];
                }
                row[i] = (k[i * n + i] + noise - dot::<FMA>(&row[..i], &row[..i])).sqrt();
                logs += row[i].ln();
            }
            // The inverse of the factor, and z = L^-1 y.
            let (mut inverse, mut z) = (vec![0.0; n * n], vec![0.0; n]);
            for i in 0..n {
                let (above, row) = inverse.split_at_mut(i * n);
                for j in 0..i {
                    axpy::<FMA>(&mut row[..=j], -l[i * n + j], &above[j * n..=j * n + j]);
                }
                row[i] = 1.0;
                let scale = 1.0 / l[i * n + i];
                row[..=i].iter_mut().for_each(|r| *r *= scale);
                z[i] = dot::<FMA>(&row[..=i], &y[..=i]);
            }
            // The lower triangle of K^-1 = L^-T L^-1, and a = L^-T z.
            let (mut whole, mut a) = (l, vec![0.0; n]);
            whole.fill(0.0);
            for r in 0..n {
                let row = &inverse[r * n..=r * n + r];
                axpy::<FMA>(&mut a[..=r], z[r], row);
                for (i, &s) in row.iter().enumerate() {
                    axpy::<FMA>(&mut whole[i * n..=i * n + i], s, row);
                }
            }
            let (mut by_variance, mut by_length, mut by_noise) = (0.0, 0.0, 0.0);
            for i in 0..n {
                by_noise += whole[i * n + i] - a[i] * a[i];
                for j in 0..=i {
                    let weight = if i == j { 1.0 } else { 2.0 };
                    let d = (x[i] - x[j]) / length;
                    let t = weight * (whole[i * n + j] - a[i] * a[j]) * k[i * n + j];
                    by_variance += t;
                    by_length = madd::<FMA>(t * d, d, by_length);
                }
            }
            (0.5 * dot::<FMA>(&z, &z) + logs, [by_variance, 0.5 * by_length, by_noise * noise])
        }
    }
    wide::run(Run(p, slice(x), slice(y)))
}

const D: usize = 4;
type Matrix = [[f64; D]; D];

/// `a b`.
fn product(a: &Matrix, b: &Matrix) -> Matrix {
    let mut c = [[0.0; D]; D];
    for i in 0..D {
        for k in 0..D {
            for j in 0..D {
                c[i][j] += a[i][k] * b[k][j];
            }
        }
    }
    c
}

fn transposed(a: &Matrix) -> Matrix {
    std::array::from_fn(|i| std::array::from_fn(|j| a[j][i]))
}

fn apply(a: &Matrix, x: &[f64; D]) -> [f64; D] {
    std::array::from_fn(|i| (0..D).map(|j| a[i][j] * x[j]).sum())
}

fn add(a: &mut Matrix, scale: f64, b: &Matrix) {
    for (a, b) in a.as_flattened_mut().iter_mut().zip(b.as_flattened()) {
        *a += scale * b;
    }
}

/// `a += scale x y'`.
fn add_outer(a: &mut Matrix, scale: f64, x: &[f64; D], y: &[f64; D]) {
    for (row, x) in a.iter_mut().zip(x) {
        for (a, y) in row.iter_mut().zip(y) {
            *a += scale * x * y;
        }
    }
}

/// The inverse of a symmetric positive definite matrix, and the logarithm of its determinant.
#[allow(clippy::needless_range_loop, reason = "rows are read and changed by their number")]
fn inverse(mut a: Matrix) -> (Matrix, f64) {
    let mut determinant = 1.0;
    for k in 0..D {
        let pivot = a[k][k];
        determinant *= pivot;
        let scale = 1.0 / pivot;
        let row: [f64; D] = std::array::from_fn(|j| if j == k { scale } else { a[k][j] * scale });
        for i in 0..D {
            if i != k {
                let factor = a[i][k];
                a[i][k] = 0.0;
                for j in 0..D {
                    a[i][j] -= factor * row[j];
                }
            }
        }
        a[k] = row;
    }
    (a, determinant.ln())
}

/// The values of a step that the reverse pass of the filter needs: mean and covariance before it,
/// the covariance that is predicted, the inverse of the observation's, and the error and its
/// weighted form.
struct Step {
    m: [f64; D],
    p: Matrix,
    q: Matrix,
    inverse: Matrix,
    e: [f64; D],
    weighted: [f64; D],
}

/// The filter on static matrices, and then backwards.
pub fn filter(f: &Array2<f64>, y: &Array2<f64>) -> (f64, Array2<f64>) {
    let f: Matrix = std::array::from_fn(|i| std::array::from_fn(|j| f[[i, j]]));
    let f_t = transposed(&f);
    let (mut m, mut p) = ([0.0; D], [[0.0; D]; D]);
    for (k, row) in p.iter_mut().enumerate() {
        row[k] = 1.0;
    }
    let mut total = 0.0;
    let mut steps = Vec::with_capacity(y.nrows());
    for y in rows(y).as_chunks::<D>().0 {
        let next = apply(&f, &m);
        let mut q = product(&product(&f, &p), &f_t);
        let mut s = q;
        for k in 0..D {
            q[k][k] += 0.1;
            s[k][k] += 0.6;
        }
        let (inverse, log) = inverse(s);
        let e: [f64; D] = std::array::from_fn(|k| y[k] - next[k]);
        let weighted = apply(&inverse, &e);
        total += e.iter().zip(&weighted).map(|(a, b)| a * b).sum::<f64>() + log;
        steps.push(Step { m, p, q, inverse, e, weighted });
        let change = apply(&q, &weighted);
        m = std::array::from_fn(|k| next[k] + change[k]);
        let seen = product(&q, &product(&inverse, &q));
        p = q;
        add(&mut p, -1.0, &seen);
    }
    let (mut df, mut dm, mut dp) = ([[0.0; D]; D], [0.0; D], [[0.0; D]; D]);
    for step in steps.iter().rev() {
        let Step { m, p, q, inverse, e, weighted } = step;
        let inverse_t = transposed(inverse);
        let q_t = transposed(q);
        // p = q - q k with k = inverse q
        let k = product(inverse, q);
        let mut dq = dp;
        add(&mut dq, -1.0, &product(&dp, &transposed(&k)));
        let dk = product(&q_t, &dp);
        let ds_q = product(&inverse_t, &dk);
        add(&mut dq, -1.0, &ds_q);
        let mut ds = inverse_t;
        add(&mut ds, 1.0, &product(&ds_q, &transposed(&k)));
        // m = next + q weighted, weighted = inverse e
        add_outer(&mut dq, 1.0, &dm, weighted);
        let mut d_weighted = apply(&q_t, &dm);
        for k in 0..D {
            d_weighted[k] += e[k];
        }
        let through = apply(&inverse_t, &d_weighted);
        add_outer(&mut ds, -1.0, &through, weighted);
        add(&mut dq, 1.0, &ds);
        let d_next: [f64; D] = std::array::from_fn(|k| dm[k] - through[k] - weighted[k]);
        // q = (f p) f', next = f m
        let fp = product(&f, p);
        let d_fp = product(&dq, &f);
        add(&mut df, 1.0, &product(&transposed(&dq), &fp));
        add(&mut df, 1.0, &product(&d_fp, &transposed(p)));
        add_outer(&mut df, 1.0, &d_next, m);
        dp = product(&f_t, &d_fp);
        dm = apply(&f_t, &d_next);
    }
    (total, Array2::from_shape_fn((D, D), |(i, j)| df[i][j]))
}

/// `particle`: the force is the closed form of the potential's gradient, and the way back uses the
/// potential's Hessian.
pub fn particle(w: f64) -> (f64, f64) {
    const DT: f64 = 0.1;
    let charges = [[10.0, 10.0 - w], [10.0, 0.0]];
    let (mut x, mut v) = ([0.0, 8.0], [0.75, 0.0]);
    let mut path = Vec::with_capacity(64);
    loop {
        let next = [x[0] + DT * v[0], x[1] + DT * v[1]];
        if next[1] <= 0.0 {
            break;
        }
        path.push(x);
        let mut slope = [0.0; 2];
        for c in charges {
            let d = [x[0] - c[0], x[1] - c[1]];
            let square = d[0] * d[0] + d[1] * d[1];
            let cube = 1.0 / (square * square.sqrt());
            slope = [slope[0] - d[0] * cube, slope[1] - d[1] * cube];
        }
        x = next;
        v = [v[0] - DT * slope[0], v[1] - DT * slope[1]];
    }
    let rest = -x[1] / v[1];
    let end = x[0] + rest * v[0];
    let d_end = 2.0 * end;
    let d_rest = d_end * v[0];
    let mut dx = [d_end, -d_rest / v[1]];
    let mut dv = [d_end * rest, -d_rest * rest / v[1]];
    let mut dw = 0.0;
    for x in path.iter().rev() {
        let mut back = [0.0; 2];
        for (k, c) in charges.iter().enumerate() {
            let d = [x[0] - c[0], x[1] - c[1]];
            let square = d[0] * d[0] + d[1] * d[1];
            let cube = 1.0 / (square * square.sqrt());
            // The Hessian of 1 / |d| is 3 d d' / |d|^5 - 1 / |d|^3.
            let along = 3.0 * (d[0] * dv[0] + d[1] * dv[1]) * cube / square;
            let product = [along * d[0] - dv[0] * cube, along * d[1] - dv[1] * cube];
            back = [back[0] - DT * product[0], back[1] - DT * product[1]];
            if k == 0 {
                // d = x - c, and c falls by w.
                dw -= DT * product[1];
            }
        }
        dv = [dv[0] + DT * dx[0], dv[1] + DT * dx[1]];
        dx = [dx[0] + back[0], dx[1] + back[1]];
    }
    (end * end, dw)
}

/// `saddle`: the search does not depend on `p`, so its gradient is that of the height at its end.
pub fn saddle(p: &[f64; 2]) -> (f64, [f64; 2]) {
    let height = |q: &[f64; 2]| p[0] * p[0] + p[1] * p[1] - q[0] * q[0] - q[1] * q[1];
    let mut q = [1.0, 1.0];
    let mut value = -height(&q);
    let (mut eta, mut successes) = (1e-5, 0);
    let length = |d: [f64; 2]| (d[0] * d[0] + d[1] * d[1]).sqrt();
    loop {
        let down = [2.0 * q[0], 2.0 * q[1]];
        if length(down) <= 1e-5 {
            break;
        }
        if successes == 10 {
            eta *= 2.0;
            successes = 0;
            continue;
        }
        let next = [q[0] - eta * down[0], q[1] - eta * down[1]];
        if length([next[0] - q[0], next[1] - q[1]]) <= 1e-5 {
            break;
        }
        let lower = -height(&next);
        if lower < value {
            q = next;
            value = lower;
            successes += 1;
        } else {
            eta /= 2.0;
            successes = 0;
        }
    }
    (height(&q), [2.0 * p[0], 2.0 * p[1]])
}
