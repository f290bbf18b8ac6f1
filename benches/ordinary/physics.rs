//! Physics: particles, waves, springs, energies of fields, and an ordinary differential equation.

use ad::ndarray::{Array1, Array2};
use ad::prelude::*;

use super::{Data, Table};

/// The Lennard-Jones energy of particles in the plane of three dimensions.
#[differentiate]
fn lennard_jones(p: &[[f64; 3]]) -> f64 {
    let mut energy = 0.0;
    for i in 0..p.len() {
        for j in 0..i {
            let mut r2 = 0.0;
            for c in 0..3 {
                let d = p[i][c] - p[j][c];
                r2 += d * d;
            }
            let s = 1.0 / (r2 * r2 * r2);
            energy += 4.0 * (s * s - s);
        }
    }
    energy
}

fn lennard_jones_by_hand(p: &[[f64; 3]]) -> (f64, Vec<[f64; 3]>) {
    let (mut energy, mut dp) = (0.0, vec![[0.0; 3]; p.len()]);
    for i in 0..p.len() {
        let mut sum = [0.0; 3];
        for j in 0..i {
            let d = [p[i][0] - p[j][0], p[i][1] - p[j][1], p[i][2] - p[j][2]];
            let inverse = 1.0 / (d[0] * d[0] + d[1] * d[1] + d[2] * d[2]);
            let s = inverse * inverse * inverse;
            energy += 4.0 * (s * s - s);
            let g = -24.0 * (2.0 * s * s - s) * inverse;
            for c in 0..3 {
                sum[c] += g * d[c];
                dp[j][c] -= g * d[c];
            }
        }
        for c in 0..3 {
            dp[i][c] += sum[c];
        }
    }
    (energy, dp)
}

/// A wave on a string with a speed at each place: how far it is at the end from what was measured.
#[differentiate(wrt(speed))]
fn wave(speed: &Array1<f64>, start: &Array1<f64>, measured: &Array1<f64>, steps: usize) -> f64 {
    let n = start.len();
    let mut before = start.clone();
    let mut now = start.clone();
    for _ in 0..steps {
        let mut next = Array1::zeros(n);
        for i in 1..n - 1 {
            let bend = now[i + 1] - 2.0 * now[i] + now[i - 1];
            next[i] = 2.0 * now[i] - before[i] + speed[i] * speed[i] * bend;
        }
        before = now;
        now = next;
    }
    (&now - measured).mapv(|d| d * d).sum()
}

fn wave_by_hand(speed: &Array1<f64>, start: &Array1<f64>, measured: &Array1<f64>, steps: usize) -> (f64, Array1<f64>) {
    let n = start.len();
    let squares: Vec<f64> = speed.iter().map(|c| c * c).collect();
    // Row t + 1 is the state after t steps, and row 0 the one before.
    let mut u = vec![0.0; (steps + 2) * n];
    u[..n].copy_from_slice(start.as_slice().unwrap());
    u[n..2 * n].copy_from_slice(start.as_slice().unwrap());
    for t in 2..steps + 2 {
        let (past, next) = u.split_at_mut(t * n);
        let (before, now) = past[(t - 2) * n..].split_at(n);
        for i in 1..n - 1 {
            next[i] = 2.0 * now[i] - before[i] + squares[i] * (now[i + 1] - 2.0 * now[i] + now[i - 1]);
        }
    }
    let mut total = 0.0;
    let mut d_next = vec![0.0; n];
    for i in 0..n {
        let r = u[(steps + 1) * n + i] - measured[i];
        total += r * r;
        d_next[i] = 2.0 * r;
    }
    // The cotangents of a step's result, of the state before it, and of the one before that.
    let (mut d_now, mut d_before) = (vec![0.0; n], vec![0.0; n]);
    let mut ds = vec![0.0; n];
    for t in (2..steps + 2).rev() {
        let now = &u[(t - 1) * n..t * n];
        for i in 1..n - 1 {
            let g = d_next[i];
            let bend = now[i + 1] - 2.0 * now[i] + now[i - 1];
            ds[i] += g * bend;
            let b = g * squares[i];
            d_now[i] += 2.0 * (g - b);
            d_now[i - 1] += b;
            d_now[i + 1] += b;
            d_before[i] -= g;
        }
        std::mem::swap(&mut d_next, &mut d_now);
        std::mem::swap(&mut d_now, &mut d_before);
        d_before.fill(0.0);
    }
    (total, ds.iter().zip(speed).map(|(g, c)| 2.0 * g * c).collect())
}

/// The energy of a field on a grid: differences of neighbours, and a double well at each place.
#[differentiate(wrt(field))]
fn field_energy(field: &Array2<f64>, stiffness: f64) -> f64 {
    let (h, w) = field.dim();
    let mut energy = 0.0;
    for i in 0..h {
        for j in 0..w {
            let f = field[[i, j]];
            energy += (f * f - 1.0).powi(2);
            if i + 1 < h {
                let d = field[[i + 1, j]] - f;
                energy += stiffness * d * d;
            }
            if j + 1 < w {
                let d = field[[i, j + 1]] - f;
                energy += stiffness * d * d;
            }
        }
    }
    energy
}

fn field_energy_by_hand(field: &Array2<f64>, stiffness: f64) -> (f64, Array2<f64>) {
    let (h, w) = field.dim();
    let f = field.as_slice().unwrap();
    let (mut energy, mut d) = (0.0, vec![0.0; h * w]);
    for i in 0..h {
        for j in 0..w {
            let k = i * w + j;
            let well = f[k] * f[k] - 1.0;
            energy += well * well;
            d[k] += 4.0 * well * f[k];
            if i + 1 < h {
                let s = f[k + w] - f[k];
                energy += stiffness * s * s;
                d[k + w] += 2.0 * stiffness * s;
                d[k] -= 2.0 * stiffness * s;
            }
            if j + 1 < w {
                let s = f[k + 1] - f[k];
                energy += stiffness * s * s;
                d[k + 1] += 2.0 * stiffness * s;
                d[k] -= 2.0 * stiffness * s;
            }
        }
    }
    (energy, Array2::from_shape_vec((h, w), d).unwrap())
}

/// A net of springs between points of the plane.
#[differentiate(wrt(points))]
fn springs(points: &Array2<f64>, ends: &[[usize; 2]], lengths: &[f64]) -> f64 {
    let mut energy = 0.0;
    for (e, &[a, b]) in ends.iter().enumerate() {
        let dx = points[[a, 0]] - points[[b, 0]];
        let dy = points[[a, 1]] - points[[b, 1]];
        let stretch = (dx * dx + dy * dy).sqrt() - lengths[e];
        energy += 0.5 * stretch * stretch;
    }
    energy
}

fn springs_by_hand(points: &Array2<f64>, ends: &[[usize; 2]], lengths: &[f64]) -> (f64, Array2<f64>) {
    let p = points.as_slice().unwrap();
    let (mut energy, mut d) = (0.0, vec![0.0; p.len()]);
    for (&[a, b], length) in ends.iter().zip(lengths) {
        let (dx, dy) = (p[2 * a] - p[2 * b], p[2 * a + 1] - p[2 * b + 1]);
        let r = (dx * dx + dy * dy).sqrt();
        let stretch = r - length;
        energy += 0.5 * stretch * stretch;
        // At distance 0 the derivative of the root is taken to be 0.
        let g = if r > 0.0 { stretch / r } else { 0.0 };
        d[2 * a] += g * dx;
        d[2 * a + 1] += g * dy;
        d[2 * b] -= g * dx;
        d[2 * b + 1] -= g * dy;
    }
    (energy, Array2::from_shape_vec(points.raw_dim(), d).unwrap())
}

/// Foxes and hares by the classical Runge-Kutta method: squared errors of all steps.
#[differentiate(wrt(rates, start))]
fn foxes(rates: [f64; 4], start: [f64; 2], seen: &[[f64; 2]]) -> f64 {
    let change = |s: [f64; 2]| [rates[0] * s[0] - rates[1] * s[0] * s[1], rates[2] * s[0] * s[1] - rates[3] * s[1]];
    let ahead = |s: [f64; 2], h: f64, k: [f64; 2]| [s[0] + h * k[0], s[1] + h * k[1]];
    let h = 0.01;
    let mut s = start;
    let mut total = 0.0;
    for y in seen {
        let k1 = change(s);
        let k2 = change(ahead(s, h / 2.0, k1));
        let k3 = change(ahead(s, h / 2.0, k2));
        let k4 = change(ahead(s, h, k3));
        for c in 0..2 {
            s[c] += h / 6.0 * (k1[c] + 2.0 * k2[c] + 2.0 * k3[c] + k4[c]);
            total += (s[c] - y[c]).powi(2);
        }
    }
    total
}

fn foxes_by_hand(rates: [f64; 4], start: [f64; 2], seen: &[[f64; 2]]) -> (f64, ([f64; 4], [f64; 2])) {
    let h = 0.01;
    let [a, b, c, d] = rates;
    let change = |s: [f64; 2]| [a * s[0] - b * s[0] * s[1], c * s[0] * s[1] - d * s[1]];
    let ahead = |s: [f64; 2], h: f64, k: [f64; 2]| [s[0] + h * k[0], s[1] + h * k[1]];
    let stages = |s: [f64; 2]| {
        let k1 = change(s);
        let s2 = ahead(s, h / 2.0, k1);
        let k2 = change(s2);
        let s3 = ahead(s, h / 2.0, k2);
        let k3 = change(s3);
        let s4 = ahead(s, h, k3);
        ([s, s2, s3, s4], [k1, k2, k3, change(s4)])
    };
    let mut states = Vec::with_capacity(seen.len() + 1);
    states.push(start);
    let (mut s, mut total) = (start, 0.0);
    for y in seen {
        let (_, k) = stages(s);
        for c in 0..2 {
            s[c] += h / 6.0 * (k[0][c] + 2.0 * k[1][c] + 2.0 * k[2][c] + k[3][c]);
            total += (s[c] - y[c]).powi(2);
        }
        states.push(s);
    }
    let (mut ds, mut dr) = ([0.0; 2], [0.0; 4]);
    for t in (0..seen.len()).rev() {
        for c in 0..2 {
            ds[c] += 2.0 * (states[t + 1][c] - seen[t][c]);
        }
        let (points, _) = stages(states[t]);
        // The cotangents of a stage's point and of its slope, from the last stage to the first.
        let weights = [h / 6.0, h / 3.0, h / 3.0, h / 6.0];
        let steps = [0.0, h / 2.0, h / 2.0, h];
        let mut next = [0.0; 2];
        let mut sum = ds;
        for stage in (0..4).rev() {
            let step = if stage < 3 { steps[stage + 1] } else { 0.0 };
            let dk = [weights[stage] * ds[0] + step * next[0], weights[stage] * ds[1] + step * next[1]];
            let [x, y] = points[stage];
            dr[0] += dk[0] * x;
            dr[1] -= dk[0] * x * y;
            dr[2] += dk[1] * x * y;
            dr[3] -= dk[1] * y;
            next = [dk[0] * (a - b * y) + dk[1] * c * y, -dk[0] * b * x + dk[1] * (c * x - d)];
            sum = [sum[0] + next[0], sum[1] + next[1]];
        }
        ds = sum;
    }
    (total, (dr, ds))
}

/// A robot's arm in the plane: how far its hand is from a target, by the angles of its joints.
#[differentiate(wrt(angles))]
fn arm(angles: [f64; 6], lengths: [f64; 6], target: [f64; 2]) -> f64 {
    let (mut x, mut y, mut heading) = (0.0, 0.0, 0.0);
    for (a, l) in angles.iter().zip(&lengths) {
        heading += a;
        x += l * heading.cos();
        y += l * heading.sin();
    }
    (x - target[0]).powi(2) + (y - target[1]).powi(2)
}

fn arm_by_hand(angles: [f64; 6], lengths: [f64; 6], target: [f64; 2]) -> (f64, [f64; 6]) {
    let (mut x, mut y, mut heading) = (0.0, 0.0, 0.0);
    let (mut sines, mut cosines) = ([0.0; 6], [0.0; 6]);
    for i in 0..6 {
        heading += angles[i];
        let (s, c) = heading.sin_cos();
        (sines[i], cosines[i]) = (lengths[i] * s, lengths[i] * c);
        x += cosines[i];
        y += sines[i];
    }
    let (ex, ey) = (x - target[0], y - target[1]);
    let mut sum = 0.0;
    let mut d = [0.0; 6];
    for i in (0..6).rev() {
        sum += 2.0 * (ey * cosines[i] - ex * sines[i]);
        d[i] = sum;
    }
    (ex * ex + ey * ey, d)
}

pub fn rows(table: &mut Table) {
    let mut data = Data::new(2);
    {
        let mut p = data.points::<3>(216);
        for (k, p) in p.iter_mut().enumerate() {
            *p = [p[0] * 0.3 + (k % 6) as f64, p[1] * 0.3 + (k / 6 % 6) as f64, p[2] * 0.3 + (k / 36) as f64];
        }
        table.row(
            "lennard-jones, 216 particles",
            || lennard_jones_by_hand(&p),
            || lennard_jones_value_and_grad(&p),
            || lennard_jones(&p),
        );
    }
    {
        let (speed, start, measured) = (data.vector(400), data.vector(400), data.vector(400));
        table.row(
            "wave, 400 places, 200 steps",
            || wave_by_hand(&speed, &start, &measured, 200),
            || wave_value_and_grad(&speed, &start, &measured, 200),
            || wave(&speed, &start, &measured, 200),
        );
    }
    {
        let field = data.matrix(200, 200);
        table.row(
            "energy of a field, 200 x 200",
            || field_energy_by_hand(&field, 0.7),
            || field_energy_value_and_grad(&field, 0.7),
            || field_energy(&field, 0.7),
        );
    }
    {
        let points = data.matrix(1000, 2);
        let ends: Vec<[usize; 2]> = data.below(5000, 1000).into_iter().map(|a| [a, (a * 7 + 3) % 1000]).collect();
        let lengths = data.positive(5000);
        table.row(
            "springs, 5000 between 1000 points",
            || springs_by_hand(&points, &ends, &lengths),
            || springs_value_and_grad(&points, &ends, &lengths),
            || springs(&points, &ends, &lengths),
        );
    }
    {
        let seen = data.points::<2>(1000);
        let (rates, start) = ([1.1, 0.4, 0.1, 0.4], [10.0, 5.0]);
        table.row(
            "foxes and hares, 1000 steps",
            || foxes_by_hand(rates, start, &seen),
            || foxes_value_and_grad(rates, start, &seen),
            || foxes(rates, start, &seen),
        );
    }
    {
        let (angles, lengths) = ([0.1, 0.2, -0.3, 0.4, 0.1, -0.2], [1.0, 0.8, 0.6, 0.5, 0.3, 0.2]);
        table.row(
            "a robot's arm, 6 joints",
            || arm_by_hand(angles, lengths, [1.0, 2.0]),
            || arm_value_and_grad(angles, lengths, [1.0, 2.0]),
            || arm(angles, lengths, [1.0, 2.0]),
        );
    }
}
