//! Loops within groups, which are parts of an array between bounds that the function reads from
//! another array. A group is far smaller than the array, and only its own elements may be computed.

use quote::quote;

use super::programs::{Program, programs};

const LINEAR: &[usize] = &[64, 128, 256, 512];

programs! {
    tight: false;
    pairs_in_groups LINEAR x {
        let n = x.len();
        let mut starts = vec![0; n / 4 + 1];
        for i in 0..n / 4 { starts[i + 1] = starts[i] + 4; }
        let mut t = 0.0;
        for q in 0..starts.len() - 1 {
            for i in starts[q]..starts[q + 1] {
                for j in starts[q]..starts[q + 1] {
                    if i % 4 > j % 3 { t += (x[i] - x[j]).tanh() * (i % 4) as f64; }
                }
            }
        }
        t
    }
    pairs_in_uneven_groups LINEAR x {
        let n = x.len();
        let mut starts = vec![0; n / 4 + 1];
        for i in 0..n / 4 { starts[i + 1] = starts[i] + i % 5 + 1; }
        let mut t = 0.0;
        for q in 0..n / 5 {
            for i in starts[q]..starts[q + 1] {
                for j in i + 1..starts[q + 1] { t += (x[i] * x[j]).sin() + (x[i] - x[j]).powi(2); }
            }
        }
        t
    }
    pairs_of_slices LINEAR x {
        let n = x.len();
        let mut starts = vec![0; n / 4 + 1];
        for i in 0..n / 4 { starts[i + 1] = starts[i] + i % 4 + 2; }
        let mut t = 0.0;
        for q in 0..n / 8 {
            let group = &x[starts[q]..starts[q + 1]];
            for u in group {
                for v in group { t += (u - 0.5 * v).tanh(); }
            }
        }
        t
    }
    probabilities_in_groups LINEAR x {
        let n = x.len();
        let mut starts = vec![0; n / 4 + 1];
        for i in 0..n / 4 { starts[i + 1] = starts[i] + 4; }
        let mut t = 0.0;
        for q in 0..n / 4 {
            let mut m = f64::NEG_INFINITY;
            for p in starts[q]..starts[q + 1] { if x[p] > m { m = x[p]; } }
            let mut z = 0.0;
            for p in starts[q]..starts[q + 1] { z += (x[p] - m).exp(); }
            t += x[starts[q]] - m - z.ln();
        }
        t
    }
    updates_in_groups LINEAR x {
        let n = x.len();
        let mut starts = vec![0; n / 4 + 1];
        for i in 0..n / 4 { starts[i + 1] = starts[i] + 4; }
        let mut a = x.to_vec();
        for q in 0..n / 4 {
            for i in starts[q]..starts[q + 1] {
                for j in starts[q]..starts[q + 1] { a[i] += 0.1 * a[j] * x[i]; }
            }
        }
        a.iter().map(|v| v * v).sum()
    }
    means_weighted_in_groups LINEAR x {
        let n = x.len();
        let mut starts = vec![0; n / 4 + 1];
        for i in 0..n / 4 { starts[i + 1] = starts[i] + 4; }
        let mut t = 0.0;
        for q in 0..n / 4 {
            for i in starts[q]..starts[q + 1] {
                let mut z = 0.0;
                let mut y = 0.0;
                for j in starts[q]..starts[q + 1] {
                    let e = (x[i] * x[j]).exp();
                    z += e;
                    y += e * x[j];
                }
                t += (y / z).powi(2);
            }
        }
        t
    }
    triples_in_groups LINEAR x {
        let n = x.len();
        let mut starts = vec![0; n / 4 + 1];
        for i in 0..n / 4 { starts[i + 1] = starts[i] + 4; }
        let mut t = 0.0;
        for q in 0..n / 4 {
            for i in starts[q]..starts[q + 1] {
                for j in i + 1..starts[q + 1] {
                    for k in j + 1..starts[q + 1] { t += (x[i] - x[j]) * (x[j] - x[k]).cos() * x[k]; }
                }
            }
        }
        t
    }
    ranks_in_groups LINEAR x {
        let n = x.len();
        let mut starts = vec![0; n / 4 + 1];
        for i in 0..n / 4 { starts[i + 1] = starts[i] + 4; }
        let mut t = 0.0;
        for q in 0..n / 4 {
            let group = &x[starts[q]..starts[q + 1]];
            for (i, u) in group.iter().enumerate() {
                let mut r = 0.5;
                for v in group { r += 1.0 / (1.0 + (u - v).exp()); }
                t += r.ln() * (i as f64 + 1.0);
            }
        }
        t
    }
    ranks_with_a_long_group LINEAR x {
        let n = x.len();
        let mut starts = vec![0; n / 4 + 1];
        for i in 0..n / 4 { starts[i + 1] = (starts[i] + if i == 3 { n / 16 } else { 3 }).min(n); }
        let mut t = 0.0;
        for q in 0..n / 4 {
            let group = &x[starts[q]..starts[q + 1]];
            for u in group {
                let mut r = 0.5;
                for v in group { r += 1.0 / (1.0 + (u - v).exp()); }
                t += r.ln();
            }
        }
        t
    }
    windows_of_bounds LINEAR x {
        let n = x.len();
        let mut starts = vec![0; n / 4 + 1];
        for i in 0..n / 4 { starts[i + 1] = starts[i] + 4; }
        starts.windows(2).map(|w| {
            let group = &x[w[0]..w[1]];
            group.iter().map(|u| group.iter().map(|v| (u - 0.5 * v).tanh()).sum::<f64>()).sum::<f64>()
        }).sum()
    }
    nodes_on_a_stack LINEAR x {
        let n = x.len();
        let mut st = Vec::with_capacity(n);
        st.push(0);
        let mut t = 0.0;
        while let Some(i) = st.pop() {
            let mut s = x[i];
            for &a in st.iter() { s += x[a] * 0.3; }
            t += s * s;
            if 2 * i + 1 < n { st.push(2 * i + 1); }
            if 2 * i + 2 < n { st.push(2 * i + 2); }
        }
        t
    }
    greatest_of_windows LINEAR x {
        let n = x.len();
        let k = 3 + n / 1000;
        let mut t = 0.0;
        for i in 0..n - k {
            let mut best = i;
            let mut m = 0.0;
            for j in i..i + k { m += x[j]; if x[j] > x[best] { best = j; } }
            t += (x[best] - m / k as f64) * best as f64;
        }
        t
    }
    greatest_of_slices LINEAR x {
        let n = x.len();
        let k = 3 + n / 1000;
        let mut t = 0.0;
        for w in x.windows(k) {
            let mut best = 0;
            for j in 1..k { if w[j] > w[best] { best = j; } }
            let m = w.iter().sum::<f64>() / k as f64;
            t += (w[best] - m) * (best as f64 + 1.0);
        }
        t
    }
    lengths_of_cycles LINEAR x {
        let n = x.len();
        let mut next = vec![0; n];
        for i in 0..n { next[i] = if i % 4 == 3 { i - 3 } else { (i + 1) % n }; }
        let mut seen = vec![false; n];
        let mut t = 0.0;
        for i in 0..n {
            if seen[i] { continue; }
            let mut s = 1.0;
            let mut k = i;
            while !seen[k] {
                seen[k] = true;
                if k != i { s *= x[k] - x[i]; }
                k = next[k];
            }
            t += s;
        }
        t
    }
    cycles LINEAR x {
        let n = x.len();
        let mut next = vec![0; n];
        for i in 0..n { next[i] = if i % 4 == 3 { i - 3 } else { (i + 1) % n }; }
        let mut seen = vec![false; n];
        let mut t = 0.0;
        for i in 0..n {
            if seen[i] { continue; }
            let mut s = 0.0;
            let mut k = i;
            loop {
                seen[k] = true;
                if k != i { s += x[k] * x[i]; }
                k = next[k];
                if k == i { break; }
            }
            t += s.sin();
        }
        t
    }
    nearest_by_insertion LINEAR x {
        let n = x.len();
        let mut t = 0.0;
        for i in 0..n {
            let mut near = vec![f64::INFINITY; 3];
            for j in 0..16 {
                let d = (x[i] - x[(i + j + 1) % n]).powi(2);
                if d < near[2] {
                    let mut p = 2;
                    while p > 0 && near[p - 1] > d { near[p] = near[p - 1]; p -= 1; }
                    near[p] = d;
                }
            }
            t += near.iter().map(|v| v.sqrt()).sum::<f64>();
        }
        t
    }
    medians_of_groups LINEAR x {
        let n = x.len();
        let mut starts = vec![0; n / 8 + 1];
        for i in 0..n / 8 { starts[i + 1] = starts[i] + 5 + i % 3; }
        let mut t = 0.0;
        for g in 0..n / 8 {
            let mut v = x[starts[g]..starts[g + 1]].to_vec();
            v.sort_by(|a, b| a.partial_cmp(b).unwrap());
            t += v[v.len() / 2] * v[0];
        }
        t
    }
    medians_by_insertion LINEAR x {
        let n = x.len();
        let mut starts = vec![0; n / 8 + 1];
        for i in 0..n / 8 { starts[i + 1] = starts[i] + 5 + i % 3; }
        let mut t = 0.0;
        for g in 0..n / 8 {
            let mut v = x[starts[g]..starts[g + 1]].to_vec();
            for i in 1..v.len() {
                let mut k = i;
                while k > 0 && v[k - 1] > v[k] { v.swap(k - 1, k); k -= 1; }
            }
            t += v[v.len() / 2] * v[0];
        }
        t
    }
    arrays_of_groups LINEAR x {
        let n = x.len();
        let mut starts = vec![0; n / 8 + 1];
        for i in 0..n / 8 { starts[i + 1] = starts[i] + 5 + i % 3; }
        let mut t = 0.0;
        for g in 0..n / 8 {
            let at: Vec<usize> = (starts[g]..starts[g + 1]).collect();
            let mut z = vec![0.0; starts[g + 1] - starts[g]];
            for k in 0..at.len() { z[k] = x[at[k]] * x[g]; }
            for k in 0..z.len() { t += z[k] * z[z.len() - 1 - k]; }
        }
        t
    }
    sorted_by_levels LINEAR x {
        let n = x.len();
        let mut degree = vec![0; n];
        for i in 1..n { degree[i] = 1; }
        let mut queue = Vec::with_capacity(n);
        for i in 0..n { if degree[i] == 0 { queue.push(i); } }
        let mut d = x.to_vec();
        let mut head = 0;
        while head < queue.len() {
            let u = queue[head];
            head += 1;
            for v in 2 * u + 1..(2 * u + 3).min(n) {
                d[v] += (d[u] * x[v]).sin();
                degree[v] -= 1;
                if degree[v] == 0 { queue.push(v); }
            }
        }
        d.iter().sum()
    }
    steps_of_items LINEAR x {
        let n = x.len();
        let mut size = vec![0; n];
        for i in 0..n { size[i] = if i % 16 == 0 { 16 } else { 1 }; }
        let out: Vec<f64> = (0..n).map(|i| {
            let mut v = x[i];
            for _ in 0..size[i] { v = (v * x[i]).sin(); }
            v
        }).collect();
        out.iter().sum()
    }
}
