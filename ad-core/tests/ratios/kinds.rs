//! More loop programs, by kind: sparse and ragged rows, triangles, ring buffers, windows, stacks,
//! elimination, dynamic programming, filtered and sorted elements. Each is counted at four sizes
//! that double. The law of `ratios.rs` holds for all, without exceptions.

use quote::quote;

use super::programs::{Program, programs};

/// Sizes for loops over all elements.
const LINEAR: &[usize] = &[64, 128, 256, 512];
/// Sizes for loops over all pairs.
const PAIRS: &[usize] = &[32, 64, 128, 256];
/// Numbers of elements of matrices whose sides double.
const SQUARE: &[usize] = &[64, 256, 1024, 4096];

programs! {
    tight: false;
    ring_buffer LINEAR x {
        let mut buf = vec![0.0; 8];
        let mut s = 0.0;
        for t in 0..x.len() {
            let old = buf[t % 8];
            let v = x[t] - 0.5 * old;
            buf[t % 8] = v;
            s += v * v;
        }
        s
    }
    delayed LINEAR x {
        let n = x.len();
        let mut y = vec![0.0; n];
        for t in 0..n {
            let before = if t >= 5 { y[t - 5] } else { 0.0 };
            y[t] = x[t] + 0.3 * before * before;
        }
        let mut s = 0.0;
        for t in 0..n { s += y[t]; }
        s
    }
    triangle PAIRS x {
        let mut s = 0.0;
        for i in 0..x.len() {
            for j in 0..i { s += (x[i] - x[j]) * (x[i] - x[j]) * x[j]; }
        }
        s
    }
    energy PAIRS x {
        let mut e = 0.0;
        for i in 0..x.len() {
            for j in i + 1..x.len() {
                let d = x[i] - x[j];
                e += 1.0 / (1.0 + d * d).sqrt();
            }
        }
        e
    }
    window_sums LINEAR x {
        let n = x.len();
        let mut s = 0.0;
        for t in 0..n - 6 {
            let mut m = 0.0;
            for k in 0..6 { m += x[t + k]; }
            s += (m / 6.0).sin();
        }
        s
    }
    running_sum LINEAR x {
        let mut m = 0.0;
        let mut s = 0.0;
        for t in 0..x.len() {
            m += x[t];
            if t >= 8 { m -= x[t - 8]; }
            s += m * m;
        }
        s
    }
    smoothing LINEAR x {
        let (mut level, mut trend, mut e) = (x[0], 0.1, 0.0);
        for t in 1..x.len() {
            let error = x[t] - level - trend;
            let next = level + trend + 0.4 * error;
            trend += 0.1 * error;
            level = next;
            e += error * error;
        }
        e
    }
    filtered LINEAR x {
        let mut kept = Vec::new();
        for &v in x {
            if v > 0.61 { kept.push(v.sin() * v); }
        }
        let mut s = 0.0;
        for i in 1..kept.len() { s += kept[i] * kept[i - 1]; }
        s
    }
    run_lengths LINEAR x {
        let (mut s, mut run, mut n) = (0.0, 0.0, 0usize);
        for &v in x {
            if v > 0.5 {
                run += v.exp();
                n += 1;
            } else {
                s += run * run / (1.0 + n as f64);
                run = 0.0;
                n = 0;
            }
        }
        s + run
    }
    selection_sort PAIRS x {
        let mut a = x.to_vec();
        let n = a.len();
        for i in 0..n {
            let mut least = i;
            for j in i + 1..n {
                if a[j] < a[least] { least = j; }
            }
            a.swap(i, least);
        }
        let mut s = 0.0;
        for i in 0..n { s += a[i] * a[i] * i as f64; }
        s
    }
    edit_distance PAIRS x {
        let n = x.len();
        let mut before = vec![0.0; n + 1];
        for j in 0..n { before[j + 1] = before[j] + 0.4; }
        for i in 0..n {
            let mut row = vec![0.0; n + 1];
            row[0] = 0.4 * (i as f64 + 1.0);
            for j in 0..n {
                let d = x[i] - x[n - 1 - j];
                let change = before[j] + d * d;
                let best = if before[j + 1] < row[j] { before[j + 1] + 0.4 } else { row[j] + 0.4 };
                row[j + 1] = if change < best { change } else { best };
            }
            before = row;
        }
        before[n]
    }
    time_warping PAIRS x {
        let n = x.len();
        let mut d: Array2<f64> = Array2::zeros((n, n));
        for i in 0..n {
            for j in 0..n {
                let c = (x[i] - 0.9 * x[j]) * (x[i] - 0.9 * x[j]);
                let mut best = 0.0;
                if i > 0 && j > 0 {
                    best = d[[i - 1, j - 1]];
                    if d[[i - 1, j]] < best { best = d[[i - 1, j]]; }
                    if d[[i, j - 1]] < best { best = d[[i, j - 1]]; }
                } else if i > 0 {
                    best = d[[i - 1, j]];
                } else if j > 0 {
                    best = d[[i, j - 1]];
                }
                d[[i, j]] = c + best;
            }
        }
        d[[n - 1, n - 1]]
    }
    knapsack PAIRS x {
        let n = x.len();
        let mut best = vec![0.0; n];
        for i in 0..n {
            let w = i % 5 + 1;
            for r in 0..n - w {
                let k = n - 1 - r;
                let v = best[k - w] + x[i];
                if v > best[k] { best[k] = v; }
            }
        }
        best[n - 1]
    }
    forward_algorithm LINEAR x {
        let mut a = [0.5, 0.3, 0.2];
        let mut l = 0.0;
        for t in 0..x.len() {
            let mut next = [0.0; 3];
            let mut total = 0.0;
            for j in 0..3 {
                let mut s = 0.0;
                for i in 0..3 { s += a[i] * (0.2 + 0.1 * (i + 2 * j) as f64); }
                next[j] = s * (-(x[t] - j as f64) * (x[t] - j as f64)).exp();
                total += next[j];
            }
            for j in 0..3 { a[j] = next[j] / total; }
            l += total.ln();
        }
        l
    }
    viterbi LINEAR x {
        let mut a = vec![0.0; 4];
        for t in 0..x.len() {
            let mut next = vec![0.0; 4];
            for j in 0..4 {
                let mut best = a[0] - 0.1 * j as f64;
                for i in 1..4 {
                    let v = a[i] - 0.1 * (i as f64 - j as f64).abs();
                    if v > best { best = v; }
                }
                next[j] = best - (x[t] - 0.3 * j as f64) * (x[t] - 0.3 * j as f64);
            }
            a = next;
        }
        a[0] + a[3]
    }
    horner LINEAR x {
        let mut s = 0.0;
        for k in 0..x.len() { s = s * 0.7 + x[k] * x[k]; }
        s
    }
    bisection LINEAR x {
        let mut s = 0.0;
        for &v in x {
            let (mut lo, mut hi) = (0.0, 2.0);
            for _ in 0..20 {
                let mid = 0.5 * (lo + hi);
                if mid * mid * mid < v { lo = mid; } else { hi = mid; }
            }
            s += lo - (lo * lo * lo - v) / (3.0 * lo * lo);
        }
        s
    }
    binary_search LINEAR x {
        let n = x.len();
        let mut c = vec![0.0; n];
        let mut sum = 0.0;
        for i in 0..n { sum += x[i]; c[i] = sum; }
        let mut s = 0.0;
        for i in 0..n {
            let v = sum * (i as f64 + 0.5) / n as f64;
            let (mut lo, mut hi) = (0, n - 1);
            while lo < hi {
                let mid = (lo + hi) / 2;
                if c[mid] < v { lo = mid + 1; } else { hi = mid; }
            }
            s += c[lo] * c[lo];
        }
        s
    }
    two_pointers LINEAR x {
        let n = x.len();
        let (mut i, mut j, mut s) = (0, n - 1, 0.0);
        while i < j {
            s += x[i] * x[j];
            if x[i] < x[j] { i += 1; } else { j -= 1; }
        }
        s
    }
    gauss_elimination SQUARE x {
        let n = (x.len() as f64).sqrt() as usize;
        let mut a: Array2<f64> = Array2::zeros((n, n));
        for i in 0..n {
            for j in 0..n { a[[i, j]] = x[i * n + j] + if i == j { 4.0 } else { 0.0 }; }
        }
        for k in 0..n {
            for i in k + 1..n {
                let f = a[[i, k]] / a[[k, k]];
                for j in k..n { a[[i, j]] -= f * a[[k, j]]; }
            }
        }
        let mut s = 0.0;
        for k in 0..n { s += a[[k, k]].abs().ln(); }
        s
    }
    removed_anywhere PAIRS x {
        let mut a = x.to_vec();
        let mut s = 0.0;
        for t in 0..x.len() / 2 {
            let v = a.remove((t * 7) % a.len());
            s = (s + v).sin();
        }
        s
    }
    factors SQUARE x {
        let n = (x.len() as f64).sqrt() as usize;
        let mut a: Array2<f64> = Array2::zeros((n, n));
        for i in 0..n {
            for j in 0..n {
                let mut s = x[i * n + j] + if i == j { 4.0 } else { 0.0 };
                for k in 0..i.min(j) { s -= a[[i, k]] * a[[k, j]]; }
                a[[i, j]] = if j < i { s / a[[j, j]] } else { s };
            }
        }
        let mut d = 0.0;
        for i in 0..n { d += a[[i, i]].abs().ln(); }
        d
    }
    parts_from_behind LINEAR x {
        let n = x.len();
        let mut a = x.to_vec();
        let (mut s, mut lo) = (0.5, 0);
        while lo < n {
            let hi = (lo + 3).min(n);
            for k in (lo..hi).rev() {
                s = (s + a[k]).sin();
                a[k] *= s;
            }
            lo = hi;
        }
        s
    }
    reflections SQUARE x {
        let n = (x.len() as f64).sqrt() as usize;
        let mut a: Array2<f64> = Array2::zeros((n, n));
        for i in 0..n {
            for j in 0..n { a[[i, j]] = x[i * n + j] + if i == j { 4.0 } else { 0.0 }; }
        }
        for k in 0..n {
            let mut v: Array1<f64> = Array1::zeros(n);
            let mut norm = 0.0;
            for i in k..n {
                v[i] = a[[i, k]];
                norm += v[i] * v[i];
            }
            v[k] += norm.sqrt();
            for j in k..n {
                let mut d = 0.0;
                for i in k..n { d += v[i] * a[[i, j]]; }
                let f = d / (norm + a[[k, k]].abs());
                for i in k..n { a[[i, j]] -= f * v[i]; }
            }
        }
        let mut s = 0.0;
        for k in 0..n { s += (1.0 + a[[k, k]] * a[[k, k]]).ln(); }
        s
    }
    rotations SQUARE x {
        let n = (x.len() as f64).sqrt() as usize;
        let mut a: Array2<f64> = Array2::zeros((n, n));
        for i in 0..n {
            for j in 0..n { a[[i, j]] = x[i * n + j]; }
        }
        for p in 0..n - 1 {
            let r = (a[[p, p]] * a[[p, p]] + a[[p + 1, p]] * a[[p + 1, p]]).sqrt();
            let (c, s) = (a[[p, p]] / r, a[[p + 1, p]] / r);
            for k in 0..n {
                let (u, v) = (a[[p, k]], a[[p + 1, k]]);
                a[[p, k]] = c * u + s * v;
                a[[p + 1, k]] = c * v - s * u;
            }
        }
        let mut s = 0.0;
        for k in 0..n { s += a[[k, k]] * a[[k, n - 1]]; }
        s
    }
    stencil_2d SQUARE x {
        let n = (x.len() as f64).sqrt() as usize;
        let mut u = x.to_vec();
        for _ in 0..3 {
            let mut next = u.clone();
            for i in 1..n - 1 {
                for j in 1..n - 1 {
                    let d = u[(i - 1) * n + j] + u[(i + 1) * n + j] + u[i * n + j - 1] + u[i * n + j + 1];
                    next[i * n + j] = u[i * n + j] + 0.1 * (d - 4.0 * u[i * n + j]);
                }
            }
            u = next;
        }
        let mut s = 0.0;
        for i in 0..u.len() { s += u[i] * u[i] * u[i]; }
        s
    }
    shortest_paths SQUARE x {
        let n = (x.len() as f64).sqrt() as usize;
        let mut d = vec![100.0; n];
        d[0] = 0.0;
        for _ in 0..4 {
            for i in 0..n {
                for j in 0..n {
                    let v = d[i] + x[i * n + j];
                    if v < d[j] { d[j] = v; }
                }
            }
        }
        let mut s = 0.0;
        for i in 0..n { s += d[i] * d[i]; }
        s
    }
    sparse_rows LINEAR x {
        let n = x.len();
        let mut starts = vec![0; n / 4 + 1];
        for i in 0..n / 4 { starts[i + 1] = starts[i] + i % 3 + 1; }
        let mut t = 0.0;
        for i in 0..n / 4 {
            let mut s = 0.0;
            for p in starts[i]..starts[i + 1] { s += x[p] * x[(p * 7) % n]; }
            t += s.sin();
        }
        t
    }
    ragged_recurrences LINEAR x {
        let n = x.len();
        let mut starts = vec![0; n / 4 + 1];
        for i in 0..n / 4 { starts[i + 1] = starts[i] + i % 3 + 1; }
        let mut total = 0.0;
        for i in 0..n / 4 {
            let mut s = x[i];
            for &v in &x[starts[i]..starts[i + 1]] { s = (s * v).tanh(); }
            total += s;
        }
        total
    }
    butterflies_between_bounds LINEAR x {
        let n = x.len();
        let mut a = x.to_vec();
        let mut len = 2;
        while len <= n {
            let mut j = 0;
            while j + len <= n {
                for k in j..j + len / 2 {
                    let (u, v) = (a[k], a[k + len / 2]);
                    a[k] = u + 0.9 * v;
                    a[k + len / 2] = u - 0.7 * v * u;
                }
                j += len;
            }
            len *= 2;
        }
        a[0] + a[1]
    }
    scattered LINEAR x {
        let n = x.len();
        let mut h = vec![0.0; n / 4];
        for i in 0..n { h[(i * 5) % (n / 4)] += x[i] * x[i]; }
        let mut s = 0.0;
        for k in 0..h.len() { s += h[k].sqrt(); }
        s
    }
    permuted_in_place LINEAR x {
        let mut a = x.to_vec();
        let n = a.len();
        for i in 0..n - 1 {
            let j = i + (i * 7) % (n - i);
            a.swap(i, j);
            a[i] = a[i].sin() + 0.1 * a[j];
        }
        let mut s = 0.0;
        for i in 0..n { s += a[i] * a[i]; }
        s
    }
    reversed_in_place LINEAR x {
        let mut a = x.to_vec();
        let n = a.len();
        for i in 0..n / 2 { a.swap(i, n - 1 - i); }
        let mut s = 0.0;
        for i in 1..n { s += a[i] * a[i - 1].cos(); }
        s
    }
    multigrid LINEAR x {
        let mut a = x.to_vec();
        let mut n = a.len();
        while n > 4 {
            for i in 0..n / 2 { a[i] = 0.5 * (a[2 * i] + a[2 * i + 1]).sin(); }
            n /= 2;
        }
        a[0] * a[1] + a[2]
    }
    pushed_and_popped LINEAR x {
        let mut stack = vec![0.5];
        let mut s = 0.0;
        for &v in x {
            if v > 0.61 {
                stack.push(v * v);
            } else if stack.len() > 1 {
                let top = stack.pop().unwrap_or(0.0);
                s += top * v;
            }
        }
        s
    }
    best_subarray LINEAR x {
        let (mut best, mut here) = (0.0, 0.0);
        for &v in x {
            let w = v - 0.5;
            here = if here + w > w { here + w } else { w };
            if here > best { best = here; }
        }
        best
    }
    early_end LINEAR x {
        let mut s = 0.0;
        for i in 0..x.len() * x.len() {
            s += x[i % x.len()].sin();
            if s > 6.0 { break; }
        }
        s
    }
    newton_system LINEAR x {
        let mut t = 0.0;
        for i in 0..x.len() / 2 {
            let (mut u, mut v) = (x[2 * i], x[2 * i + 1]);
            for _ in 0..5 {
                let (f, g) = (u * u + v - 1.0, u - v * v);
                let det = -4.0 * u * v - 1.0;
                let (du, dv) = ((-2.0 * v * f - g) / det, (2.0 * u * g - f) / det);
                u -= du;
                v -= dv;
            }
            t += u * v;
        }
        t
    }
    queue LINEAR x {
        let mut q = Vec::new();
        let mut s: f64 = 0.5;
        for &v in x {
            q.push(v * s.sin());
            if v > 0.61 && q.len() > 1 {
                let first = q.remove(0);
                s += first * v;
            }
            if q.len() > 2 { s += 0.01 * q[1] * q[q.len() - 2]; }
        }
        s
    }
    stack_machine LINEAR x {
        let n = x.len();
        let mut a: Vec<f64> = vec![0.0; n + 2];
        let mut top = 2;
        a[0] = 1.0;
        a[1] = 1.5;
        for i in 0..n {
            match i * 7 / 3 % 4 {
                0 => { a[top] = x[i]; top += 1; }
                1 => {
                    let t = a[top - 1];
                    a[top - 1] = a[top - 2];
                    a[top - 2] = t;
                }
                2 => { a[top - 1] = a[top - 1].tanh() + x[i]; }
                _ => {
                    if top > 2 {
                        let t = a[top - 1] * a[top - 2];
                        a[top - 2] = t.sin();
                        top -= 1;
                    }
                }
            }
        }
        let mut s = 0.0;
        for i in 0..top { s += a[i] * a[i]; }
        s
    }
    merge_sort LINEAR x {
        let n = x.len();
        let mut a = x.to_vec();
        let mut b = x.to_vec();
        let mut width = 1;
        while width < n {
            let mut lo = 0;
            while lo < n {
                let mid = (lo + width).min(n);
                let hi = (lo + 2 * width).min(n);
                let (mut i, mut j) = (lo, mid);
                for k in lo..hi {
                    if i < mid && (j >= hi || a[i] <= a[j]) {
                        b[k] = a[i];
                        i += 1;
                    } else {
                        b[k] = a[j];
                        j += 1;
                    }
                }
                lo += 2 * width;
            }
            for k in 0..n { a[k] = b[k]; }
            width *= 2;
        }
        let mut s = 0.0;
        for k in 0..n { s += a[k] * a[k] * k as f64; }
        s
    }
    moving_window LINEAR x {
        let mut eps = vec![0.1; 5];
        let mut s = 0.0;
        for t in 0..x.len() {
            let mut m = 0.0;
            for k in 0..5 { m += 0.1 * x[k] * eps[4 - k]; }
            let e = x[t] - m;
            eps.remove(0);
            eps.push(e);
            s += e * e;
        }
        s
    }
}
