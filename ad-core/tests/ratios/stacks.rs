//! Explicit stacks in a `while`: the steps that are taken decide the cost, and each step has an
//! inner loop with an arm that pushes.

use quote::quote;

use super::programs::{Program, programs};

/// Numbers of elements of matrices with one more row each: minors are as many as permutations.
const MINORS: &[usize] = &[16, 25, 36, 49];

programs! {
    tight: false;
    determinant_by_a_stack MINORS x {
        let n = (x.len() as f64).sqrt() as usize;
        let a = Array2::from_shape_fn((n, n), |(i, j)| x[i * n + j]);
        let mut masks: Array1<usize> = Array1::zeros(n * n + 1);
        let mut factors: Array1<f64> = Array1::zeros(n * n + 1);
        factors[0] = 1.0;
        let mut top = 1;
        let mut d = 0.0;
        while top > 0 {
            top -= 1;
            let mask = masks[top];
            let f = factors[top];
            let mut r = 0;
            for c in 0..n {
                if mask & (1 << c) != 0 { r += 1; }
            }
            if r == n {
                d += f;
            } else {
                let mut sign = 1.0;
                for c in 0..n {
                    if mask & (1 << c) == 0 {
                        masks[top] = mask | (1 << c);
                        factors[top] = f * sign * a[[r, c]];
                        top += 1;
                        sign = -sign;
                    }
                }
            }
        }
        d
    }
    determinant_by_popping MINORS x {
        let n = (x.len() as f64).sqrt() as usize;
        let mut rows: Vec<(usize, usize, f64)> = Vec::with_capacity(n * n + 1);
        rows.push((0, 0, 1.0));
        let mut d = 0.0;
        while let Some((mask, r, f)) = rows.pop() {
            if r == n {
                d += f;
            } else {
                let mut sign = 1.0;
                for c in 0..n {
                    if mask & (1 << c) == 0 {
                        rows.push((mask | (1 << c), r + 1, f * sign * x[r * n + c]));
                        sign = -sign;
                    }
                }
            }
        }
        d
    }
}
