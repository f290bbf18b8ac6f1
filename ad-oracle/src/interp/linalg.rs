//! The meaning of linear algebra on dual numbers, by textbook algorithms without blocks: the
//! tangents are those of the operations. This module shares no code and no algorithm with
//! `ad-runtime`.

use super::scalar;
use super::value::Dual;
use ad_core::prim::structural::{Factorisation, Triangle};
use ad_core::prim::{Binary, Unary};

/// A matrix of dual numbers.
#[derive(Clone)]
struct Matrix {
    rows: usize,
    columns: usize,
    data: Vec<Dual>,
}

impl Matrix {
    fn of(rows: usize, columns: usize, f: impl Fn(usize, usize) -> Dual) -> Self {
        let data = (0..rows * columns).map(|k| f(k / columns, k % columns)).collect();
        Matrix { rows, columns, data }
    }

    fn at(&self, i: usize, j: usize) -> Dual {
        self.data[i * self.columns + j]
    }

    fn set(&mut self, i: usize, j: usize, x: Dual) {
        self.data[i * self.columns + j] = x;
    }

    fn symmetric(&self) -> Self {
        Matrix::of(self.rows, self.rows, |i, j| mul(constant(0.5), add(self.at(i, j), self.at(j, i))))
    }

    fn transposed(&self) -> Self {
        Matrix::of(self.columns, self.rows, |i, j| self.at(j, i))
    }
}

fn constant(x: f64) -> Dual {
    Dual::constant(x)
}

fn add(a: Dual, b: Dual) -> Dual {
    scalar::binary(Binary::Add, a, b)
}

fn sub(a: Dual, b: Dual) -> Dual {
    scalar::binary(Binary::Sub, a, b)
}

fn mul(a: Dual, b: Dual) -> Dual {
    scalar::binary(Binary::Mul, a, b)
}

fn div(a: Dual, b: Dual) -> Dual {
    scalar::binary(Binary::Div, a, b)
}

fn sum(terms: impl Iterator<Item = Dual>) -> Dual {
    terms.fold(constant(0.0), add)
}

/// Factorisations of the matrices in `data`, each of this shape.
pub(super) fn factor(kind: Factorisation, data: &[Dual], [m, n]: [usize; 2], rows: usize) -> Vec<Dual> {
    let mut out = Vec::new();
    for k in 0..data.len().checked_div(m * n).unwrap_or(0) {
        let a = Matrix { rows: m, columns: n, data: data[k * m * n..][..m * n].to_vec() };
        let made = match kind {
            Factorisation::Cholesky => cholesky(&a.symmetric()),
            Factorisation::Lu => lu(a),
            Factorisation::Qr => qr(&a),
            Factorisation::Eigh => Some(eigh(a.symmetric())),
        };
        let made = made.filter(|made| made.iter().all(|x| x.v.is_finite()));
        out.extend(made.unwrap_or_else(|| vec![constant(f64::NAN); rows * n]));
    }
    out
}

/// The logarithms of the absolute values of the determinants of the matrices in `data`.
pub(super) fn log_det(data: &[Dual], n: usize) -> Vec<Dual> {
    let matrices = data.chunks_exact((n * n).max(1));
    let made = matrices.map(|data| lu(Matrix { rows: n, columns: n, data: data.to_vec() }));
    made.map(|made| {
        let Some(packed) = made.filter(|made| made.iter().all(|x| x.v.is_finite())) else { return constant(f64::NAN) };
        let size = |k: usize| scalar::unary(Unary::Abs, packed[k * n + k]);
        sum((0..n).map(|k| scalar::unary(Unary::Ln, size(k))))
    })
    .collect()
}

/// The derivative of Cholesky's factorisation, or the transposed map.
pub(super) fn cholesky_change(back: bool, data: &[Dual], factors: &[Dual], n: usize) -> Vec<Dual> {
    systems(data, factors, n, |l, x| {
        let l = Matrix::of(n, n, |i, j| if i >= j { l.at(i, j) } else { constant(0.0) });
        let product =
            |a: &Matrix, b: &Matrix| Matrix::of(n, n, |i, j| sum((0..n).map(|k| mul(a.at(i, k), b.at(k, j)))));
        let phi = |a: &Matrix| {
            Matrix::of(n, n, |i, j| {
                let factor = if i == j { 0.5 } else { f64::from(u8::from(i > j)) };
                mul(constant(factor), a.at(i, j))
            })
        };
        let by = if back { Triangle::LOWER.transpose() } else { Triangle::LOWER };
        let solved = |b: &Matrix| Matrix { rows: n, columns: n, data: triangular(by, &b.data, &l.data, n) };
        if back {
            let x = Matrix::of(n, n, |i, j| if i >= j { x.at(i, j) } else { constant(0.0) });
            let p = phi(&product(&l.transposed(), &x));
            solved(&solved(&p).transposed()).symmetric()
        } else {
            product(&l, &phi(&solved(&solved(&x.symmetric()).transposed())))
        }
    })
}

/// Row by row, by inner products.
fn cholesky(a: &Matrix) -> Option<Vec<Dual>> {
    let n = a.rows;
    let mut l = Matrix::of(n, n, |_, _| constant(0.0));
    for i in 0..n {
        for j in 0..=i {
            let rest = sub(a.at(i, j), sum((0..j).map(|k| mul(l.at(i, k), l.at(j, k)))));
            if i == j && rest.v.partial_cmp(&0.0) != Some(std::cmp::Ordering::Greater) {
                return None;
            }
            l.set(i, j, if i == j { scalar::unary(Unary::Sqrt, rest) } else { div(rest, l.at(j, j)) });
        }
    }
    Some(l.data)
}

/// Crout's method with rows exchanged: the largest candidate of each column is its pivot.
fn lu(mut a: Matrix) -> Option<Vec<Dual>> {
    let n = a.rows;
    let mut order: Vec<usize> = (0..n).collect();
    let mut odd = false;
    for k in 0..n {
        for i in k..n {
            let x = sub(a.at(i, k), sum((0..k).map(|l| mul(a.at(i, l), a.at(l, k)))));
            a.set(i, k, x);
        }
        let size = |i: usize| a.at(i, k).v.abs();
        let pivot = (k..n).reduce(|p, i| if size(i) > size(p) { i } else { p })?;
        if size(pivot) == 0.0 {
            return None;
        }
        if pivot != k {
            odd = !odd;
            order.swap(pivot, k);
            for j in 0..n {
                let (x, y) = (a.at(k, j), a.at(pivot, j));
                a.set(k, j, y);
                a.set(pivot, j, x);
            }
        }
        for i in k + 1..n {
            a.set(i, k, div(a.at(i, k), a.at(k, k)));
        }
        for j in k + 1..n {
            let x = sub(a.at(k, j), sum((0..k).map(|l| mul(a.at(k, l), a.at(l, j)))));
            a.set(k, j, x);
        }
    }
    #[allow(clippy::cast_precision_loss, reason = "small numbers of rows")]
    let numbers = order.iter().map(|&row| constant(row as f64));
    let signs = (0..n).map(|k| constant(a.at(k, k).v.signum()));
    let parity = (0..n).map(|k| constant(if odd && k == 0 { -1.0 } else { 1.0 }));
    let mut out = a.data.clone();
    out.extend(numbers);
    out.extend(signs);
    out.extend(parity);
    Some(out)
}

/// Gram and Schmidt's method, column by column.
fn qr(a: &Matrix) -> Option<Vec<Dual>> {
    let (m, n) = (a.rows, a.columns);
    if m < n {
        return None;
    }
    let mut q = a.clone();
    let mut r = Matrix::of(n, n, |_, _| constant(0.0));
    for j in 0..n {
        // Twice, since one pass loses orthogonality.
        for _ in 0..2 {
            for k in 0..j {
                let along = sum((0..m).map(|i| mul(q.at(i, k), q.at(i, j))));
                r.set(k, j, add(r.at(k, j), along));
                for i in 0..m {
                    q.set(i, j, sub(q.at(i, j), mul(along, q.at(i, k))));
                }
            }
        }
        let norm = scalar::unary(Unary::Sqrt, sum((0..m).map(|i| mul(q.at(i, j), q.at(i, j)))));
        r.set(j, j, norm);
        for i in 0..m {
            q.set(i, j, div(q.at(i, j), norm));
        }
    }
    q.data.extend(r.data);
    Some(q.data)
}

/// Jacobi's rotations. An element that has become zero still has a tangent, and a rotation by the
/// angle zero removes it.
fn eigh(mut a: Matrix) -> Vec<Dual> {
    let n = a.rows;
    let mut v = Matrix::of(n, n, |i, j| constant(f64::from(u8::from(i == j))));
    for _ in 0..30 {
        for p in 0..n {
            for q in p + 1..n {
                let (x, y) = (mul(constant(2.0), a.at(p, q)), sub(a.at(p, p), a.at(q, q)));
                // An angle below a quarter of a turn, so that the axes do not change places.
                let flip = y.v < 0.0;
                let [x, y] = if flip { [sub(constant(0.0), x), sub(constant(0.0), y)] } else { [x, y] };
                if x.v == 0.0 && y.v == 0.0 {
                    continue;
                }
                let angle = mul(constant(0.5), scalar::binary(Binary::Atan2, x, y));
                let (c, s) = (scalar::unary(Unary::Cos, angle), scalar::unary(Unary::Sin, angle));
                let turn = |m: &mut Matrix, by_rows: bool| {
                    for k in 0..n {
                        let at = |m: &Matrix, l: usize| if by_rows { m.at(l, k) } else { m.at(k, l) };
                        let (x, y) = (at(m, p), at(m, q));
                        let (x, y) = (add(mul(c, x), mul(s, y)), sub(mul(c, y), mul(s, x)));
                        for (l, x) in [(p, x), (q, y)] {
                            if by_rows { m.set(l, k, x) } else { m.set(k, l, x) }
                        }
                    }
                };
                turn(&mut a, true);
                turn(&mut a, false);
                turn(&mut v, false);
            }
        }
    }
    let mut order: Vec<usize> = (0..n).collect();
    order.sort_by(|&i, &j| a.at(i, i).v.total_cmp(&a.at(j, j).v));
    let mut out: Vec<Dual> = order.iter().map(|&k| a.at(k, k)).collect();
    let sign = |k: usize| {
        let largest = (0..n).map(|i| v.at(i, k).v).reduce(|x, y| if y.abs() > x.abs() { y } else { x });
        constant(largest.map_or(1.0, f64::signum))
    };
    let signs: Vec<Dual> = order.iter().map(|&k| sign(k)).collect();
    out.extend(
        (0..n)
            .flat_map(|i| order.iter().zip(&signs).map(move |(&k, &s)| (i, k, s)))
            .map(|(i, k, s)| mul(s, v.at(i, k))),
    );
    out
}

/// Solutions of systems whose matrices are in `t`, n rows each.
pub(super) fn triangular(by: Triangle, b: &[Dual], t: &[Dual], n: usize) -> Vec<Dual> {
    systems(b, t, n, |t, b| {
        let kept = |i: usize, j: usize| if by.upper { i <= j } else { i >= j };
        let t = Matrix::of(n, n, |i, j| if kept(i, j) { t.at(i, j) } else { constant(0.0) });
        let t = if by.transposed { t.transposed() } else { t };
        let backwards = by.upper != by.transposed;
        let mut x = b.clone();
        for step in 0..n {
            let i = if backwards { n - 1 - step } else { step };
            for c in 0..b.columns {
                let others =
                    sum((0..n).filter(|&j| if backwards { j > i } else { j < i }).map(|j| mul(t.at(i, j), x.at(j, c))));
                x.set(i, c, div(sub(b.at(i, c), others), t.at(i, i)));
            }
        }
        x
    })
}

/// Solutions of systems of any matrices, by Gauss and Jordan's elimination.
pub(super) fn general(transposed: bool, b: &[Dual], a: &[Dual], n: usize) -> Vec<Dual> {
    systems(b, a, n, |a, b| {
        let mut a = if transposed { a.transposed() } else { a.clone() };
        let mut x = b.clone();
        for k in 0..n {
            let size = |i: usize| a.at(i, k).v.abs();
            let pivot = (k..n).reduce(|p, i| if size(i) > size(p) { i } else { p }).unwrap_or(k);
            for m in [&mut a, &mut x] {
                for j in 0..m.columns {
                    let (upper, lower) = (m.at(k, j), m.at(pivot, j));
                    m.set(k, j, lower);
                    m.set(pivot, j, upper);
                }
            }
            for i in (0..n).filter(|&i| i != k) {
                let factor = div(a.at(i, k), a.at(k, k));
                for m in [&mut a, &mut x] {
                    for j in 0..m.columns {
                        m.set(i, j, sub(m.at(i, j), mul(factor, m.at(k, j))));
                    }
                }
            }
        }
        Matrix::of(n, x.columns, |i, c| div(x.at(i, c), a.at(i, i)))
    })
}

/// Each system of a batch. A right-hand side of zeros has the solution zero.
fn systems(b: &[Dual], matrices: &[Dual], n: usize, solve: impl Fn(&Matrix, &Matrix) -> Matrix) -> Vec<Dual> {
    let batch = matrices.len().checked_div(n * n).unwrap_or(0);
    let size = b.len().checked_div(batch).unwrap_or(0);
    let mut out = Vec::new();
    for k in 0..batch {
        let own = &b[k * size..][..size];
        if own.iter().all(|x| *x == Dual::default()) {
            out.extend(own);
            continue;
        }
        let matrix = Matrix { rows: n, columns: n, data: matrices[k * n * n..][..n * n].to_vec() };
        out.extend(solve(&matrix, &Matrix { rows: n, columns: size / n, data: own.to_vec() }).data);
    }
    out
}
