//! Loops that push rows to a `Vec` and read the rows of earlier steps.

use quote::quote;

use super::programs::{Program, programs};

const SQUARE: &[usize] = &[64, 256, 1024, 4096];

programs! {
    tight: false;
    gram_schmidt SQUARE x {
        let n = (x.len() as f64).sqrt() as usize;
        let a = Array2::from_shape_fn((n, n), |(i, j)| x[i * n + j] + if i == j { 3.0 } else { 0.0 });
        let mut basis: Vec<Array1<f64>> = Vec::new();
        for i in 0..n {
            let mut v = a.row(i).to_owned();
            for b in &basis {
                let d = b.dot(&v);
                v.scaled_add(-d, b);
            }
            let norm = v.dot(&v).sqrt();
            basis.push(v / norm);
        }
        (0..n).map(|i| basis[i][i].sin()).sum()
    }
    gram_schmidt_of_vecs SQUARE x {
        let n = (x.len() as f64).sqrt() as usize;
        let mut basis: Vec<Vec<f64>> = Vec::new();
        for i in 0..n {
            let mut v = x[i * n..(i + 1) * n].to_vec();
            v[i] += 3.0;
            for b in &basis {
                let d: f64 = b.iter().zip(&v).map(|(p, q)| p * q).sum();
                for k in 0..n { v[k] -= d * b[k]; }
            }
            let norm = v.iter().map(|p| p * p).sum::<f64>().sqrt();
            for p in v.iter_mut() { *p /= norm; }
            basis.push(v);
        }
        (0..n).map(|i| basis[i][i].sin()).sum()
    }
    cholesky_of_rows SQUARE x {
        let n = (x.len() as f64).sqrt() as usize;
        let mut l: Vec<Vec<f64>> = Vec::with_capacity(n);
        for i in 0..n {
            let mut row = vec![0.0; n];
            for j in 0..=i {
                let mut s = x[i * n + j] + if i == j { 9.0 } else { 0.0 };
                for k in 0..j {
                    s -= row[k] * if i == j { row[k] } else { l[j][k] };
                }
                row[j] = if i == j { s.sqrt() } else { s / l[j][j] };
            }
            l.push(row);
        }
        (0..n).map(|i| l[i][i].ln()).sum()
    }
    hidden_states SQUARE x {
        let n = (x.len() as f64).sqrt() as usize;
        let mut states: Vec<Vec<f64>> = Vec::new();
        for t in 0..n {
            let mut h = vec![0.0; n];
            for k in 0..n {
                h[k] = x[t * n + k];
                if t > 0 { h[k] += 0.5 * states[t - 1][k]; }
                h[k] = h[k].tanh();
            }
            states.push(h);
        }
        states.iter().map(|s| s.iter().sum::<f64>().sin()).sum()
    }
}
