//! Programs of arrays: heads of attention on any axis, one algorithm in several styles, mixtures by
//! `.dot`, parts of rows, batches, rotations, elements that are filtered and sorted. Products and
//! ndarray's calls are counted as the loops that they are. Each is counted at four sizes that
//! double.

use quote::quote;

use super::programs::{Program, programs};

/// Sizes for rows of 32 numbers.
const HEADS: &[usize] = &[256, 512, 1024, 2048];
/// Sizes for rows of 4 numbers, and loops over all pairs of them.
const ROWS: &[usize] = &[64, 128, 256, 512];
/// Numbers of elements of matrices whose sides double.
const SQUARE: &[usize] = &[64, 256, 1024, 4096];

programs! {
    tight: false;
    heads_middle HEADS x {
        let q = Array3::from_shape_fn((x.len() / 32, 8, 4), |(i, h, k)| x[(i * 8 + h) * 4 + k]);
        let mut t = 0.0;
        for h in 0..8 {
            let s = q.index_axis(Axis(1), h).dot(&q.index_axis(Axis(1), h).t());
            t += s.mapv(|v| v * v).sum();
        }
        t
    }
    heads_first HEADS x {
        let n = x.len() / 32;
        let q = Array3::from_shape_fn((8, n, 4), |(h, i, k)| x[(h * n + i) * 4 + k]);
        let mut t = 0.0;
        for h in 0..8 {
            let s = q.index_axis(Axis(0), h).dot(&q.index_axis(Axis(0), h).t());
            t += s.mapv(|v| v * v).sum();
        }
        t
    }
    means_of_neighbours ROWS x {
        let n = x.len() / 4;
        let rows = Array2::from_shape_fn((n, 4), |(i, k)| x[i * 4 + k]);
        let mut means = Array2::zeros((n, 4));
        for i in 0..n {
            for j in i..(i + i % 4).min(n) { means.row_mut(i).scaled_add(0.5, &rows.row(j)); }
        }
        means.mapv(|v| v.sin()).sum()
    }
    whole_heads HEADS x {
        let q = Array3::from_shape_fn((x.len() / 32, 8, 4), |(i, h, k)| x[(i * 8 + h) * 4 + k]);
        let mut t = 0.0;
        for h in 0..8 {
            let rows = q.index_axis(Axis(1), h);
            let e = rows.dot(&rows.t()).mapv(|v| (0.5 * v).exp());
            let z = e.sum_axis(Axis(1)).insert_axis(Axis(1));
            let y = (&e / &z).dot(&rows);
            t += (&y * &y).sum();
        }
        t
    }
    attention_by_elements ROWS x {
        let n = x.len() / 4;
        let mut t = 0.0;
        for i in 0..n {
            let mut e = vec![0.0; n];
            let mut z = 0.0;
            for j in 0..n {
                let mut s = 0.0;
                for k in 0..4 { s += x[i * 4 + k] * x[j * 4 + k]; }
                e[j] = (0.5 * s).exp();
                z += e[j];
            }
            for k in 0..4 {
                let mut y = 0.0;
                for j in 0..n { y += e[j] * x[j * 4 + k]; }
                t += (y / z) * (y / z);
            }
        }
        t
    }
    attention_by_iterators ROWS x {
        let n = x.len() / 4;
        let mut t = 0.0;
        for i in 0..n {
            let q = &x[i * 4..i * 4 + 4];
            let mut z = 0.0;
            let mut y = [0.0; 4];
            for r in x.chunks_exact(4) {
                let s: f64 = q.iter().zip(r).map(|(a, b)| a * b).sum();
                let e = (0.5 * s).exp();
                z += e;
                for k in 0..4 { y[k] += e * r[k]; }
            }
            for k in 0..4 { t += (y[k] / z) * (y[k] / z); }
        }
        t
    }
    attention_by_arrays ROWS x {
        let q = Array2::from_shape_fn((x.len() / 4, 4), |(i, k)| x[i * 4 + k]);
        let e = q.dot(&q.t()).mapv(|v| (0.5 * v).exp());
        let z = e.sum_axis(Axis(1)).insert_axis(Axis(1));
        let y = (&e / &z).dot(&q);
        (&y * &y).sum()
    }
    attention_by_rows ROWS x {
        let q = Array2::from_shape_fn((x.len() / 4, 4), |(i, k)| x[i * 4 + k]);
        let mut t = 0.0;
        for i in 0..q.nrows() {
            let e = q.dot(&q.row(i)).mapv(|v| (0.5 * v).exp());
            let y = e.dot(&q) / e.sum();
            t += y.dot(&y);
        }
        t
    }
    attention_by_vectors ROWS x {
        let n = x.len() / 4;
        let mut t = 0.0;
        for i in 0..n {
            let mut e = Vec::new();
            for j in 0..n {
                let mut s = 0.0;
                for k in 0..4 { s += x[i * 4 + k] * x[j * 4 + k]; }
                e.push((0.5 * s).exp());
            }
            let z: f64 = e.iter().sum();
            for k in 0..4 {
                let mut y = 0.0;
                for j in 0..n { y += e[j] * x[j * 4 + k]; }
                t += (y / z) * (y / z);
            }
        }
        t
    }
    mixture_by_dot HEADS x {
        let x2 = Array2::from_shape_fn((x.len() / 4, 4), |(i, k)| x[i * 4 + k]);
        let q = Array2::from_shape_fn((4, 4), |(i, k)| x[(i + k) * 3] + 0.2 * i as f64);
        let mut t = 0.0;
        for i in 0..x2.nrows() {
            let mut s = 0.0;
            for k in 0..3 {
                let d = q.dot(&(&x2.row(i) - &x2.row(k)));
                s += (-0.5 * d.dot(&d)).exp();
            }
            t += s.ln();
        }
        t
    }
    mixture_by_elements HEADS x {
        let mut t = 0.0;
        for i in 0..x.len() / 4 {
            let mut s = 0.0;
            for k in 0..3 {
                let mut e = 0.0;
                for j in 0..4 {
                    let mut d = 0.0;
                    for l in 0..4 { d += (x[(j + l) * 3] + 0.2 * j as f64) * (x[i * 4 + l] - x[k * 4 + l]); }
                    e += d * d;
                }
                s += (-0.5 * e).exp();
            }
            t += s.ln();
        }
        t
    }
    parts_of_rows SQUARE x {
        let n = (x.len() as f64).sqrt() as usize;
        let a = Array2::from_shape_fn((n, n), |(i, k)| x[i * n + k]);
        let mut t = 0.0;
        for i in 1..n { t += a.slice(s![i, ..i]).dot(&a.slice(s![i - 1, ..i])).sin(); }
        t
    }
    solved_by_rows SQUARE x {
        let n = (x.len() as f64).sqrt() as usize;
        let mut y: Array1<f64> = Array1::zeros(n);
        let a = Array2::from_shape_fn((n, n), |(i, k)| x[i * n + k]);
        for i in 0..n {
            let s = a.slice(s![i, ..i]).dot(&y.slice(s![..i]));
            y[i] = (1.0 - s / n as f64) / (2.0 + a[[i, i]]);
        }
        y.dot(&y)
    }
    power_iteration SQUARE x {
        let n = (x.len() as f64).sqrt() as usize;
        let a = Array2::from_shape_fn((n, n), |(i, k)| x[i * n + k]);
        let mut v = Array1::from_elem(n, 1.0);
        for _ in 0..6 {
            let w = a.dot(&v);
            v = &w / w.dot(&w).sqrt();
        }
        v.dot(&a.dot(&v))
    }
    layers HEADS x {
        let n = x.len() / 32;
        let a = Array2::from_shape_fn((n, 16), |(i, k)| x[i * 16 + k]);
        let b = Array2::from_shape_fn((16, n), |(k, i)| x[(n + i) * 16 + k]);
        let h = a.dot(&b).mapv(|v| (0.1 * v).tanh());
        let y = h.dot(&a);
        (&y * &y).sum_axis(Axis(0)).mapv(|v| v.sqrt()).sum()
    }
    if_there_is_a_row ROWS x {
        let a = Array2::from_shape_fn((4, 8), |(i, k)| x[i * 8 + k]);
        let w = Array1::from_shape_fn(8, |k| x[32 + k]);
        let mut t = 0.0;
        for i in 0..x.len() {
            if i < a.nrows() { t += a.row(i).dot(&w).sin(); } else { t += x[i]; }
        }
        t
    }
    if_there_are_elements ROWS x {
        let a = Array2::from_shape_fn((4, 8), |(i, k)| x[i * 8 + k]);
        let mut t = 0.0;
        for i in 0..x.len() {
            if i < a.nrows() {
                let mut u = -x[i];
                for j in 0..8 { u += a[[i, j]] * x[32 + j]; }
                t += u * u;
            }
        }
        t
    }
    the_last_rows ROWS x {
        let n = x.len();
        let a = Array2::from_shape_fn((4, 8), |(i, k)| x[i * 8 + k]);
        let w = Array1::from_shape_fn(8, |k| x[32 + k]);
        let mut t = 0.0;
        for i in 0..n {
            if i >= n - 4 && x[i] < 0.9 { t += (a.row(i + 4 - n).dot(&w) * x[i]).tanh(); }
        }
        t
    }
    rows_or_a_constant ROWS x {
        let a = Array2::from_shape_fn((4, 8), |(i, k)| x[i * 8 + k]);
        let w = Array1::from_shape_fn(8, |k| x[32 + k]);
        let mut t = 0.0;
        for i in 0..x.len() {
            let z = if i < 4 { a.row(i).dot(&w) } else { 0.5 };
            t += (z - x[i]) * (z - x[i]);
        }
        t
    }
    sum_of_rows_that_are_there ROWS x {
        let a = Array2::from_shape_fn((4, 8), |(i, k)| x[i * 8 + k]);
        let mut t: Array1<f64> = Array1::zeros(8);
        for i in 0..x.len() {
            if i < a.nrows() { t += &(&a.row(i) * x[i]); }
        }
        t.dot(&t)
    }
    seldom_a_product ROWS x {
        let m = Array2::from_shape_fn((6, 8), |(i, k)| x[i * 8 + k]);
        let mut t = 0.0;
        for i in 0..x.len() {
            if i % 32 == 0 { t += m.dot(&Array1::from_shape_fn(8, |k| x[(i + k) % 64])).mapv(f64::tanh).sum(); }
        }
        t
    }
    seldom_all_others ROWS x {
        let n = x.len();
        let mut t = 0.0;
        for i in 0..n {
            if i % (n / 4) == 1 { for j in 0..n { t += (x[i] - x[j]).sin(); } }
        }
        t
    }
    seldom_into_a_vector ROWS x {
        let n = x.len();
        let m = Array2::from_shape_fn((8, 8), |(i, k)| x[i * 8 + k]);
        let mut t: Array1<f64> = Array1::zeros(8);
        for i in 0..n {
            if i % (n / 4) == 1 { t += &m.dot(&(&m.row(i % 8) * x[i])); }
        }
        t.dot(&t)
    }
    seldom_or_else ROWS x {
        let n = x.len();
        let m = Array2::from_shape_fn((8, 8), |(i, k)| x[i * 8 + k]);
        let mut t = 0.0;
        for i in 0..n {
            let z = if i % (n / 4) == 1 { m.dot(&m.row(i % 8)).sum() } else { x[i] };
            t += z.sin();
        }
        t
    }
    retained ROWS x {
        let mut kept = x.to_vec();
        kept.retain(|&v| v > 0.61);
        let mut s = 0.0;
        for i in 1..kept.len() { s += kept[i] * kept[i - 1].sin(); }
        s
    }
    filtered_by_iterators ROWS x {
        x.iter().filter(|v| **v > 0.61).map(|v| v.sin() * v).sum()
    }
    sorted_by_value ROWS x {
        let n = x.len();
        let mut order: Vec<usize> = (0..n).collect();
        for i in 1..n {
            let mut j = i;
            while j > 0 && x[order[j - 1]] > x[order[j]] {
                order.swap(j - 1, j);
                j -= 1;
            }
        }
        let mut s = 0.0;
        for i in 0..n { s += x[order[i]] * x[order[i]] * i as f64; }
        s
    }
    ranks ROWS x {
        let mut t = 0.0;
        for i in 0..x.len() {
            let below = x.iter().filter(|v| **v < x[i]).count();
            t += x[i] * x[i] * below as f64;
        }
        t
    }
    queue_of_both_ends ROWS x {
        let mut q = VecDeque::new();
        let mut s = 0.0;
        for &v in x {
            q.push_back(v * v);
            if q.len() > 4 { s += q.pop_front().unwrap_or(0.0) * v; }
        }
        s
    }
    moving_sums ROWS x {
        let y = Array1::from_vec(x.to_vec());
        let mut t = 0.0;
        for i in 0..y.len() - 16 {
            let s = y.slice(s![i..i + 16]).sum();
            t += s * s;
        }
        t
    }
    by_windows ROWS x {
        let mut t = 0.0;
        for w in x.windows(5) { t += w.iter().map(|v| v * v).sum::<f64>().sqrt(); }
        t
    }
    rows_and_columns SQUARE x {
        let n = (x.len() as f64).sqrt() as usize;
        let a = Array2::from_shape_fn((n, n), |(i, k)| x[i * n + k]);
        let mut t = 0.0;
        for (r, c) in a.outer_iter().zip(a.columns()) { t += r.dot(&c) / (1.0 + r.sum()); }
        t
    }
    standardised SQUARE x {
        let n = (x.len() as f64).sqrt() as usize;
        let a = Array2::from_shape_fn((n, n), |(i, k)| x[i * n + k]);
        let m = a.mean_axis(Axis(0)).unwrap();
        let d = &a - &m;
        let v = (&d * &d).sum_axis(Axis(0)).mapv(|v| (v + 0.1).sqrt());
        (&d / &v).mapv(|v| v * v * v).sum()
    }
    gram SQUARE x {
        let n = (x.len() as f64).sqrt() as usize;
        let a = Array2::from_shape_fn((n, n), |(i, k)| x[i * n + k]);
        let mut t = 0.0;
        for i in 0..n {
            for j in 0..=i { t += a.row(i).dot(&a.row(j)).tanh(); }
        }
        t
    }
    rows_of_pascal ROWS x {
        let mut row = vec![x[0]];
        for _ in 0..x.len() {
            let mut next = vec![x[0]];
            for w in row.windows(2) { next.push(0.5 * (w[0] + w[1])); }
            next.push(x[1]);
            row = next;
        }
        row.iter().map(|a| a * a).sum()
    }
    halved_in_another ROWS x {
        let (mut v, mut w) = (x.to_vec(), vec![0.0; x.len()]);
        let (mut n, mut s) = (x.len(), 0.0);
        while n > 1 {
            n /= 2;
            for i in 0..n { w[i] = v[2 * i] * v[2 * i + 1] + 0.1; }
            for i in 0..n { v[i] = w[i]; }
            s += v[0];
        }
        s
    }
    two_pushes_a_step ROWS x {
        let mut s = 0.0;
        for k in 0..3 {
            let mut w = Vec::new();
            for a in x {
                w.push(a * 0.5 + k as f64);
                if *a > 0.7 { w.push(a * a); }
            }
            s += w.iter().map(|a| a * a).sum::<f64>();
        }
        s
    }
    changed_in_parts ROWS x {
        let mut a = x.to_vec();
        for i in 0..a.len() {
            for v in &mut a[i..] { *v *= 0.9 + 0.1 * x[0]; }
            a[..i].fill(x[0]);
            if i > 1 { a[1..i].reverse(); }
        }
        a.iter().sum::<f64>() * a[3]
    }
    jacobi_rotations SQUARE x {
        let n = (x.len() as f64).sqrt() as usize;
        let mut a = Array2::from_shape_fn((n, n), |(i, k)| x[i * n + k] + x[k * n + i]);
        for p in 0..n - 1 {
            let q = p + 1;
            let t = a[[p, q]] / (a[[p, p]] + 3.0);
            let c = 1.0 / (1.0 + t * t).sqrt();
            let s = t * c;
            for k in 0..n {
                let (u, v) = (a[[p, k]], a[[q, k]]);
                a[[p, k]] = c * u - s * v;
                a[[q, k]] = s * u + c * v;
            }
            for k in 0..n {
                let (u, v) = (a[[k, p]], a[[k, q]]);
                a[[k, p]] = c * u - s * v;
                a[[k, q]] = s * u + c * v;
            }
        }
        let mut s = 0.0;
        for k in 0..n { s += a[[k, k]] * a[[k, k]] * k as f64; }
        s
    }
    returns_all_that_is_there ROWS x {
        let (mut v, mut s) = (Vec::new(), x[0]);
        for a in x {
            for b in x {
                if *b * s > 50.0 { return s * b + v.iter().sum::<f64>(); }
                if b > a { v.push(a * b); }
            }
            s += a * 0.3;
        }
        s + v.iter().sum::<f64>()
    }
    breaks_out_of_two ROWS x {
        let (mut v, mut s) = (Vec::new(), x[0]);
        'all: for a in x {
            for b in x {
                if *b * s > 5.0 { break 'all; }
                v.push(a * b);
                if b > a { v.push(a.sin()); }
            }
            s += a * 0.3;
        }
        s + v.iter().map(|a| a * a).sum::<f64>()
    }
    halved_by_collect ROWS x {
        let (mut v, mut s) = (x.to_vec(), 0.0);
        while v.len() > 1 {
            v = v.chunks_exact(2).map(|c| c[0] * c[1] + 0.1).collect();
            s += v[0];
        }
        s
    }
}
