//! Loops that update elements of an array and read more elements than they write. Their gradients
//! are compared with difference quotients, and their second derivatives are tested. The derivative
//! restores the former states that it needs, or reads them in place.

#![allow(
    clippy::assign_op_pattern,
    clippy::needless_range_loop,
    reason = "arms and loops that read and write elements by their index are what is tested"
)]

use ad::prelude::*;

#[differentiate(hvp)]
fn three_arms(x: &Array1<f64>) -> f64 {
    let mut a = x.clone();
    for i in 0..a.len() - 1 {
        match i % 3 {
            0 => a[i] = a[i + 1].sin(),
            1 => a[i + 1] = a[i] * a[i + 1],
            _ => a[i] *= 0.3,
        }
    }
    let mut s = 0.0;
    for i in 0..a.len() {
        s += a[i] * a[i] * (1.0 + i as f64);
    }
    s
}

#[differentiate(wrt(x))]
fn machine(x: &Array1<f64>, op: &[usize]) -> f64 {
    let mut a: Array1<f64> = Array1::zeros(op.len() + 2);
    let mut top = 2;
    a[0] = 1.0;
    a[1] = 1.5;
    for i in 0..op.len() {
        match op[i] {
            0 => {
                a[top] = x[i];
                top += 1;
            }
            1 => {
                let t = a[top - 1];
                a[top - 1] = a[top - 2];
                a[top - 2] = t * 0.9;
            }
            2 => a[top - 1] = a[top - 1].tanh(),
            _ => {
                if top > 2 {
                    a[top - 2] = (a[top - 1] * a[top - 2]).sin();
                    top -= 1;
                }
            }
        }
    }
    a.sum() + a[top - 1]
}

#[differentiate(hvp)]
fn cholesky(a: &Array2<f64>) -> f64 {
    let n = a.nrows();
    let mut l: Array2<f64> = Array2::zeros((n, n));
    for i in 0..n {
        for j in 0..=i {
            let mut s = a[[i, j]];
            for k in 0..j {
                s -= l[[i, k]] * l[[j, k]];
            }
            if i == j {
                l[[i, j]] = s.sqrt();
            } else {
                l[[i, j]] = s / l[[j, j]];
            }
        }
    }
    let mut d = 0.0;
    for i in 0..n {
        d += l[[i, i]].ln() + l[[i, 0]];
    }
    d
}

/// Elements are written repeatedly, under a condition, and rows are read before and after that.
#[differentiate]
fn relaxed(x: &Array1<f64>) -> f64 {
    let n = x.len();
    let mut a: Array2<f64> = Array2::zeros((n, n));
    let mut s = 0.0;
    for step in 0..7 {
        let p = step % n;
        let before = a.row(p).sum();
        if before < 1.0 {
            a[[p, (step + 1) % n]] = x[p] + before.sin();
        } else {
            a[[p, p]] *= 0.5;
            a[[0, p]] += before;
        }
        s += a.row(p).dot(x) * a.row(0).sum();
    }
    s + a.sum()
}

#[differentiate]
fn intervals(p: &Array1<f64>) -> f64 {
    let n = p.len() - 1;
    let mut c: Array2<f64> = Array2::zeros((n, n));
    for len in 1..n {
        for i in 0..n - len {
            let j = i + len;
            let mut best = f64::INFINITY;
            for k in i..j {
                let v = c[[i, k]] + c[[k + 1, j]] + p[i] * p[k + 1] * p[j + 1];
                if v < best {
                    best = v;
                }
            }
            c[[i, j]] = best;
        }
    }
    c[[0, n - 1]]
}

/// Rows are exchanged, so that the pivot is the greatest of its column; the elements below a pivot
/// are not written again. Then the triangle is solved backwards.
#[differentiate(grad, hvp)]
fn solved(m: &Array2<f64>, b: &Array1<f64>) -> f64 {
    let n = b.len();
    let mut a = m.clone();
    let mut y = b.clone();
    for k in 0..n {
        let mut p = k;
        for i in k + 1..n {
            if a[[i, k]].abs() > a[[p, k]].abs() {
                p = i;
            }
        }
        for j in 0..n {
            let t = a[[k, j]];
            a[[k, j]] = a[[p, j]];
            a[[p, j]] = t;
        }
        let t = y[k];
        y[k] = y[p];
        y[p] = t;
        for i in k + 1..n {
            let f = a[[i, k]] / a[[k, k]];
            for j in k..n {
                a[[i, j]] -= f * a[[k, j]];
            }
            y[i] -= f * y[k];
        }
    }
    for i in (0..n).rev() {
        for j in i + 1..n {
            y[i] -= a[[i, j]] * y[j];
        }
        y[i] /= a[[i, i]];
    }
    y.dot(b)
}

/// Reflections: inner loops read columns before other inner loops overwrite them, and the elements
/// that these overwrite differ from those that their own derivatives read.
#[differentiate(grad, hvp)]
fn reflected(m: &Array2<f64>) -> f64 {
    let (r, c) = m.dim();
    let mut a = m.clone();
    for k in 0..c {
        let mut norm = 0.0;
        for i in k..r {
            norm += a[[i, k]] * a[[i, k]];
        }
        let alpha = if a[[k, k]] > 0.0 { -norm.sqrt() } else { norm.sqrt() };
        let mut v: Array1<f64> = Array1::zeros(r);
        for i in k..r {
            v[i] = a[[i, k]];
        }
        v[k] -= alpha;
        let mut vv = 0.0;
        for i in k..r {
            vv += v[i] * v[i];
        }
        for j in k..c {
            let mut d = 0.0;
            for i in k..r {
                d += v[i] * a[[i, j]];
            }
            let f = 2.0 * d / vv;
            for i in k..r {
                a[[i, j]] -= f * v[i];
            }
        }
    }
    let mut s = 0.0;
    for k in 0..c {
        s += a[[k, k]].abs().ln() + a[[0, k]];
    }
    s
}

/// Both factors in one matrix, by elements: rows and columns of it are read.
#[differentiate(grad, hvp)]
fn factors(m: &Array2<f64>) -> f64 {
    let n = m.nrows();
    let mut a: Array2<f64> = Array2::zeros((n, n));
    for i in 0..n {
        for j in 0..n {
            let mut s = m[[i, j]];
            for k in 0..i.min(j) {
                s -= a[[i, k]] * a[[k, j]];
            }
            a[[i, j]] = if j < i { s / a[[j, j]] } else { s };
        }
    }
    let mut d = 0.0;
    for i in 0..n {
        d += a[[i, i]].abs().ln() + a[[i, 0]];
    }
    d
}

/// All rows but that of the pivot are changed in a step, so rows above it are written again.
#[differentiate]
fn all_rows(m: &Array2<f64>) -> f64 {
    let n = m.nrows();
    let mut a = m.clone();
    let mut s = 0.0;
    for k in 0..n {
        for i in 0..n {
            if i != k {
                let f = a[[i, k]] / a[[k, k]];
                for j in k..n {
                    a[[i, j]] -= f * a[[k, j]];
                }
            }
        }
        s += a[[0, n - 1]] * a[[k, k]];
    }
    s
}

/// A table by rows: each row is written once, from rows before it, some of which are written again.
#[differentiate(hvp)]
fn table(x: &Array1<f64>, back: usize) -> f64 {
    let n = x.len();
    let mut t: Array2<f64> = Array2::zeros((n, n));
    let mut s = 0.0;
    for i in 0..n {
        for j in 0..n {
            let mut v = x[i] * x[j];
            for k in 0..i {
                v += t[[k, j]] * t[[k, (j + k) % n]] * 0.1;
            }
            t[[i, j]] = v.sin();
        }
        if i >= back {
            t[[i - back, 0]] *= 0.5;
        }
        s += t[[i, 0]];
    }
    s + t.sum()
}

/// Rows whose ends depend on the loop.
#[differentiate(wrt(w, data))]
fn sparse(w: &Array1<f64>, data: &[f64], indptr: &[usize], indices: &[usize]) -> f64 {
    let mut t = 0.0;
    for i in 0..indptr.len() - 1 {
        let mut s = 0.1;
        for (&j, &v) in indices[indptr[i]..indptr[i + 1]].iter().zip(&data[indptr[i]..indptr[i + 1]]) {
            s += v * w[j];
        }
        t += s.sin();
    }
    t
}

/// An inner loop whose bounds are carried values.
#[differentiate(jvp, hvp)]
fn moving(x: &Array1<f64>) -> f64 {
    let n = x.len();
    let mut a = x.clone();
    let (mut lo, mut more) = (0, 2);
    while lo < n {
        for k in lo..(lo + more).min(n) {
            a[k] = (a[k] * a[lo]).sin();
        }
        lo += more;
        more = 5 - more;
    }
    a.dot(&a)
}

/// Loops in loops in loops, none of which has a known number of steps.
#[differentiate(jvp, hvp)]
fn merge_sort(x: &Array1<f64>) -> f64 {
    let n = x.len();
    let mut a = x.clone();
    let mut b = x.clone();
    let mut width = 1;
    while width < n {
        let mut lo = 0;
        while lo < n {
            let mid = (lo + width).min(n);
            let hi = (lo + 2 * width).min(n);
            let (mut i, mut j) = (lo, mid);
            for k in lo..hi {
                if i < mid && (j >= hi || a[i] <= a[j]) {
                    b[k] = a[i] * a[i];
                    i += 1;
                } else {
                    b[k] = a[j];
                    j += 1;
                }
            }
            lo += 2 * width;
        }
        for k in 0..n {
            a[k] = b[k];
        }
        width *= 2;
    }
    let mut s = 0.0;
    for k in 0..n {
        s += a[k] * (1.0 + k as f64);
    }
    s
}

#[differentiate(jvp, hvp)]
fn butterflies(x: &Array1<f64>) -> f64 {
    let n = x.len();
    let mut a = x.clone();
    let mut len = 2;
    while len <= n {
        let mut i = 0;
        while i + len <= n {
            for k in 0..len / 2 {
                let (p, q) = (i + k, i + k + len / 2);
                let t = a[q] * (k as f64).cos();
                a[q] = a[p] - t;
                a[p] = (a[p] + t).sin();
            }
            i += len;
        }
        len *= 2;
    }
    a.dot(&a)
}

/// The inner loop is not always run. It ends early, and sometimes it takes no step.
#[differentiate(jvp, hvp)]
fn now_and_then(x: &Array1<f64>, ends: &[usize]) -> f64 {
    let mut a = x.clone();
    let mut s: f64 = 0.0;
    for i in 0..ends.len() {
        if i % 3 != 1 {
            let mut m = 1.0;
            for k in i.min(ends[i])..ends[i] {
                m *= a[k].cos();
                a[k] = m + s.sin();
                if m < 0.2 {
                    break;
                }
            }
            s += m;
        }
        s *= a[i % a.len()];
    }
    s + a.sum()
}

/// Parts whose bounds a loop decides, from behind.
#[differentiate(jvp, hvp)]
fn backwards(x: &Array1<f64>, ends: &[usize]) -> f64 {
    let mut a = x.clone();
    let (mut s, mut lo) = (0.5, 0);
    for i in 0..ends.len() {
        for k in (lo..ends[i]).rev() {
            s = (s + a[k]).sin();
            a[k] *= s;
        }
        lo = ends[i];
    }
    s + a.sum()
}

/// Elements are removed at any index.
#[differentiate(wrt(x), jvp, hvp)]
fn removed(x: &[f64], at: &[usize]) -> f64 {
    let mut a = x.to_vec();
    let mut s = 0.0;
    for i in 0..at.len() {
        let v = a.remove(at[i] % a.len());
        s = (s + v).sin() * a[0];
    }
    for i in 0..a.len() {
        s += a[i] * (1.0 + i as f64);
    }
    s
}

/// Pairs are inserted at any index.
#[differentiate(wrt(x), jvp, hvp)]
fn inserted(x: &[f64], at: &[usize]) -> f64 {
    let mut a: Vec<(f64, f64)> = Vec::new();
    let mut s = 0.3;
    for i in 0..x.len() {
        a.insert(at[i] % (a.len() + 1), (x[i] * s, x[i].sin()));
    }
    for i in 0..a.len() {
        s = (s + a[i].0).sin() * (1.0 + a[i].1);
    }
    s
}

fn numbers(n: usize) -> Array1<f64> {
    Array1::from_shape_fn(n, |i| 0.4 + 0.37 * ((i * 7 + 3) % 11) as f64 / 3.0)
}

fn matrix(n: usize) -> Array2<f64> {
    let b = Array2::from_shape_fn((n, n), |(i, j)| 0.3 * ((i * 5 + j * 3) % 7) as f64);
    b.dot(&b.t()) + Array2::<f64>::eye(n) * 2.0
}

#[test]
fn gradients_of_updates_are_difference_quotients() {
    for n in [1, 2, 3, 8] {
        let x = numbers(n);
        ad::check_grad!(three_arms(&x));
        ad::check_grad!(relaxed(&x));
    }
    for op in [&[][..], &[0], &[0, 0, 3, 1, 2, 0, 3, 3, 3, 1, 0, 2, 1]] {
        ad::check_grad!(machine(&numbers(op.len()), op));
    }
    for n in [1, 2, 5] {
        ad::check_grad!(cholesky(&matrix(n)));
    }
    for n in [3, 4, 7] {
        ad::check_grad!(intervals(&numbers(n)));
    }
}

#[test]
fn elements_that_are_written_once_have_their_gradient() {
    for n in [1, 2, 3, 6, 17] {
        let (m, x) =
            (matrix(n) + Array2::from_shape_fn((n, n), |(i, j)| ((i * 3 + j * 5) % 7) as f64 * 0.61), numbers(n));
        ad::check_grad!(solved(&m, &x));
        ad::check_grad!(all_rows(&matrix(n)));
        ad::check_grad!(factors(&matrix(n)));
        ad::check_grad!(reflected(&m));
        ad::check_grad!(reflected(&m.slice(s![.., ..n.div_ceil(2)]).to_owned()));
        for back in 0..3 {
            ad::check_grad!(table(&x, back));
        }
    }
    // The gradient with respect to the right-hand side is that of `b' A^-1 b`.
    let m = array![[0.0, 2.0], [1.0, 1.0]];
    let (value, (_, db)) = solved_value_and_grad(&m, &array![2.0, 3.0]);
    assert_eq!(value, 7.0);
    assert!((&db - &array![2.5, 3.0]).iter().all(|e| e.abs() < 1e-12), "{db}");
}

#[test]
fn inner_loops_of_any_length_have_their_gradient() {
    for n in [1, 2, 3, 5, 8, 13] {
        let x = numbers(n);
        ad::check_grad!(moving(&x));
        // No two elements are equal, since the order is not smooth there.
        let apart = Array1::from_shape_fn(n, |i| x[i] + 0.013 * i as f64);
        ad::check_grad!(merge_sort(&apart));
        ad::check_grad!(butterflies(&x));
        let ends: Vec<usize> = (0..2 * n).map(|i| i * i % (n + 1)).collect();
        ad::check_grad!(now_and_then(&x, &ends));
    }
    ad::check_grad!(now_and_then(&numbers(4), &[]));
}

/// Some steps replace the array, others change an element.
#[differentiate(hvp)]
fn replaced(x: &[f64], every: usize) -> f64 {
    let mut a = x.to_vec();
    let n = a.len();
    for i in 0..3 * n {
        a[(3 * i) % n] *= 0.9;
        if i % every == 2 {
            a[0] += a[1] * a[2];
            a = a.iter().map(|v| v.sin() + 0.1).collect();
            a[1] *= a[2];
        } else if i % 3 == 1 {
            a[i % n] = a[(7 * i) % n] * a[i % n];
        }
    }
    a.iter().sum()
}

/// In a nested loop, by a condition on the data.
#[differentiate]
fn normalized(x: &[f64], most: f64) -> f64 {
    let n = x.len();
    let mut h = x.to_vec();
    let mut c = 0.3;
    for i in 0..n {
        for j in 0..n {
            if h[j] > most {
                let v: Vec<f64> = h.iter().map(|v| (v * c).exp()).collect();
                let m: f64 = v.iter().sum();
                c = m.sin();
                h = v.iter().map(|v| v / m).collect();
            } else {
                c = (c * 1.01).min(0.8);
                h[i] += 0.1 * c * h[j];
            }
        }
    }
    c + h.iter().map(|v| v * v).sum::<f64>()
}

/// An inner loop in an arm.
#[differentiate(hvp)]
fn looped(x: &[f64], most: f64) -> f64 {
    let n = x.len();
    let mut a = x.to_vec();
    let mut s = 0.1;
    for i in 0..2 * n {
        if a[i % n] > most {
            for k in 0..n {
                s = (s * 0.5 + a[k]).sin();
                a[(k * 3) % n] *= 0.99;
            }
        } else {
            s *= 0.9;
            a[i % n] += 0.1 * s;
        }
    }
    s + a.iter().map(|v| v * v).sum::<f64>()
}

#[test]
fn arrays_that_few_steps_replace_have_their_gradient() {
    let x: Vec<f64> = (0..7).map(|k| 0.3 + 0.1 * f64::from(k)).collect();
    for every in [3, 5, 7, 100] {
        ad::check_grad!(replaced(&x, every));
    }
    for most in [0.05, 0.62, 0.85, 5.0] {
        ad::check_grad!(normalized(&x, most));
        ad::check_grad!(looped(&x, most));
    }
    ad::check_grad!(normalized(&[], 0.5));
}

#[test]
fn parts_from_behind_have_their_gradient() {
    for ends in [&[][..], &[0], &[3], &[1, 1, 2, 5, 5, 7]] {
        ad::check_grad!(backwards(&numbers(7), ends));
    }
}

#[test]
fn vectors_that_are_edited_anywhere_have_their_gradient() {
    let x = numbers(6).to_vec();
    for at in [&[][..], &[0], &[5], &[2, 4, 0, 7], &[5, 4, 3, 2, 1]] {
        ad::check_grad!(removed(&x, at));
    }
    for at in [[0; 6], [0, 1, 2, 3, 4, 5], [0, 1, 1, 0, 2, 5]] {
        ad::check_grad!(inserted(&x, &at));
    }
    ad::check_grad!(inserted(&[], &[]));
}

#[test]
fn rows_of_any_length_have_their_gradient() {
    let (w, data) = (numbers(5), numbers(7).to_vec());
    ad::check_grad!(sparse(&w, &data, &[0, 2, 2, 6, 7], &[4, 0, 1, 1, 3, 0, 2]));
    ad::check_grad!(sparse(&w, &data, &[0], &[4, 0, 1, 1, 3, 0, 2]));
    // Computed by hand: a row without elements adds the sine of 0.1 only.
    let (value, (dw, ddata)) = sparse_value_and_grad(&w, &data, &[3, 3], &[4, 0, 1, 1, 3, 0, 2]);
    assert_eq!(value, 0.1_f64.sin());
    assert_eq!((dw.sum(), ddata.iter().sum::<f64>()), (0.0, 0.0));
}
