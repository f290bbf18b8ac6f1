//! Loops that change an element of one array, read it again, and change an element of another one.

use quote::quote;

use super::programs::{Program, programs};

const LINEAR: &[usize] = &[64, 128, 256, 512];

programs! {
    tight: false;
    damped LINEAR x {
        let n = x.len();
        let mut pos = x.to_vec();
        let mut vel = vec![0.0; n];
        for _ in 0..5 {
            for p in 0..n {
                vel[p] += 0.1 * (-x[0] * pos[p] - 0.2 * vel[p]);
                pos[p] += 0.1 * vel[p];
            }
        }
        pos.iter().map(|p| p * p).sum()
    }
    damped_rows LINEAR x {
        let n = x.len();
        let mut pos: Vec<[f64; 3]> = x.iter().map(|&v| [v, v.sin(), v * v]).collect();
        let mut vel = vec![[0.0; 3]; n];
        for _ in 0..5 {
            for p in 0..n {
                for k in 0..3 {
                    vel[p][k] += 0.1 * (-x[0] * pos[p][k] - 0.2 * vel[p][k]);
                    pos[p][k] += 0.1 * vel[p][k];
                }
            }
        }
        let mut loss = 0.0;
        for p in &pos { loss += p[0] * p[0] + p[1] * p[2]; }
        loss
    }
    damped_from_a_row LINEAR x {
        let n = x.len();
        let mut pos: Vec<[f64; 3]> = x.iter().map(|&v| [v, v.sin(), v * v]).collect();
        let mut vel = vec![[0.0; 3]; n];
        for _ in 0..5 {
            let mut force = vec![[0.0, 0.0, -0.1]; n];
            for p in 0..n {
                for k in 0..3 { force[p][k] -= x[1] * pos[p][k]; }
            }
            for p in 2..n {
                for k in 0..3 {
                    vel[p][k] += 0.1 * (force[p][k] - x[0] * vel[p][k]);
                    pos[p][k] += 0.1 * vel[p][k];
                }
            }
        }
        let mut loss = 0.0;
        for p in &pos { loss += p[0] * p[0] + p[1] * p[2]; }
        loss
    }
    coupled_neighbours LINEAR x {
        let n = x.len();
        let mut a = x.to_vec();
        let mut b = vec![0.0; n];
        for i in 1..n {
            b[i] += 0.5 * (a[i] - 0.1 * b[i]) * b[i - 1];
            a[i] += b[i] * a[i - 1];
            b[i - 1] -= a[i].sin() * b[i];
        }
        a[n - 1] + b[n - 1] * b[n / 2]
    }
    zipped_changes LINEAR x {
        let mut pos = x.to_vec();
        let mut vel = vec![0.0; x.len()];
        for _ in 0..5 {
            for (p, v) in pos.iter_mut().zip(vel.iter_mut()) {
                *v += 0.1 * (-x[0] * *p - 0.2 * *v);
                *p += 0.1 * *v;
            }
        }
        pos.iter().map(|p| p * p).sum()
    }
}
