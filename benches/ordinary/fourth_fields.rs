//! The fourth set, models over fields and time. Its author knew neither the
//! compiler's mechanisms nor the other sets' programs. It shows where the compiler is slow.

use ad::ndarray::{Array2, Array3};
use ad::prelude::*;

use super::{Data, Table};

/// Reflectance of a stack of thin films at many wavelengths.
#[differentiate(wrt(thick))]
fn film(thick: &[f64], index: &[f64], waves: &[f64], target: &[f64], substrate: f64) -> f64 {
    let mut loss = 0.0;
    for (w, t) in waves.iter().zip(target) {
        let (mut a, mut b, mut c, mut d) = (1.0, 0.0, 0.0, 1.0);
        for (h, n) in thick.iter().zip(index) {
            let delta = 2.0 * std::f64::consts::PI * n * h / w;
            let (s, co) = delta.sin_cos();
            (a, b, c, d) = (a * co - b * n * s, a * s / n + b * co, c * co + d * n * s, d * co - c * s / n);
        }
        let (br, bi, cr, ci) = (a, b * substrate, d * substrate, c);
        let num = (br - cr).powi(2) + (bi - ci).powi(2);
        let den = (br + cr).powi(2) + (bi + ci).powi(2);
        loss += (num / den - t).powi(2);
    }
    loss / waves.len() as f64
}

fn film_by_hand(thick: &[f64], index: &[f64], waves: &[f64], target: &[f64], sub: f64) -> (f64, Vec<f64>) {
    let layers = thick.len();
    let mut g = vec![0.0; layers];
    let mut saved = vec![[0.0; 6]; layers];
    let inverse: Vec<f64> = index.iter().map(|n| 1.0 / n).collect();
    let scale = 1.0 / waves.len() as f64;
    let mut loss = 0.0;
    for (w, t) in waves.iter().zip(target) {
        let turn = 2.0 * std::f64::consts::PI / w;
        let (mut a, mut b, mut c, mut d) = (1.0, 0.0, 0.0, 1.0);
        for l in 0..layers {
            let (n, r) = (index[l], inverse[l]);
            let (s, co) = (turn * n * thick[l]).sin_cos();
            saved[l] = [a, b, c, d, s, co];
            let (ns, sn) = (n * s, s * r);
            (a, b, c, d) = (a * co - b * ns, a * sn + b * co, c * co + d * ns, d * co - c * sn);
        }
        let (m, p) = (a - d * sub, a + d * sub);
        let (q, o) = (b * sub - c, b * sub + c);
        let den = p * p + o * o;
        let r = (m * m + q * q) / den;
        loss += (r - t) * (r - t);
        let gn = 2.0 * (r - t) * scale / den;
        let gd = -gn * r;
        let (gm, gq, gp, go) = (2.0 * gn * m, 2.0 * gn * q, 2.0 * gd * p, 2.0 * gd * o);
        let (mut ga, mut gb, mut gc, mut gdd) = (gm + gp, (gq + go) * sub, go - gq, (gp - gm) * sub);
        for l in (0..layers).rev() {
            let (n, r) = (index[l], inverse[l]);
            let [a, b, c, d, s, co] = saved[l];
            let gco = ga * a + gb * b + gc * c + gdd * d;
            let gs = n * (gc * d - ga * b) + r * (gb * a - gdd * c);
            g[l] += (gs * co - gco * s) * turn * n;
            let (ns, sn) = (n * s, s * r);
            (ga, gb, gc, gdd) = (ga * co + gb * sn, gb * co - ga * ns, gc * co - gdd * sn, gc * ns + gdd * co);
        }
    }
    (loss * scale, g)
}

/// Lattice Boltzmann (D2Q9), periodic.
#[differentiate(wrt(start, omega))]
fn lattice(start: &Array3<f64>, omega: f64, steps: usize, wanted: &Array2<f64>) -> f64 {
    let (h, w) = wanted.dim();
    let ex = [0.0, 1.0, 0.0, -1.0, 0.0, 1.0, -1.0, -1.0, 1.0];
    let ey = [0.0, 0.0, 1.0, 0.0, -1.0, 1.0, 1.0, -1.0, -1.0];
    let sx = [0, 1, 0, w - 1, 0, 1, w - 1, w - 1, 1];
    let sy = [0, 0, 1, 0, h - 1, 1, 1, h - 1, h - 1];
    let (o, d) = (1.0 / 9.0, 1.0 / 36.0);
    let weight = [4.0 / 9.0, o, o, o, o, d, d, d, d];
    let mut f = start.clone();
    for _ in 0..steps {
        let mut next = Array3::zeros((9, h, w));
        for y in 0..h {
            for x in 0..w {
                let mut rho = 0.0;
                let mut ux = 0.0;
                let mut uy = 0.0;
                for k in 0..9 {
                    rho += f[[k, y, x]];
                    ux += ex[k] * f[[k, y, x]];
                    uy += ey[k] * f[[k, y, x]];
                }
                ux /= rho;
                uy /= rho;
                let u2 = ux * ux + uy * uy;
                for k in 0..9 {
                    let eu = ex[k] * ux + ey[k] * uy;
                    let eq = weight[k] * rho * (1.0 + 3.0 * eu + 4.5 * eu * eu - 1.5 * u2);
                    next[[k, (y + sy[k]) % h, (x + sx[k]) % w]] = f[[k, y, x]] + omega * (eq - f[[k, y, x]]);
                }
            }
        }
        f = next;
    }
    let rho = f.sum_axis(Axis(0));
    (&rho - wanted).mapv(|d| d * d).sum()
}

fn lattice_by_hand(start: &Array3<f64>, omega: f64, steps: usize, wanted: &Array2<f64>) -> (f64, (Array3<f64>, f64)) {
    const EX: [f64; 9] = [0.0, 1.0, 0.0, -1.0, 0.0, 1.0, -1.0, -1.0, 1.0];
    const EY: [f64; 9] = [0.0, 0.0, 1.0, 0.0, -1.0, 1.0, 1.0, -1.0, -1.0];
    const O: f64 = 1.0 / 9.0;
    const D: f64 = 1.0 / 36.0;
    const WT: [f64; 9] = [4.0 / 9.0, O, O, O, O, D, D, D, D];
    let (h, w) = wanted.dim();
    let n = h * w;
    let to = |k: usize, y: usize, x: usize| {
        let step = |p: usize, e: f64, n: usize| {
            if e > 0.0 {
                if p + 1 == n { 0 } else { p + 1 }
            } else if e < 0.0 {
                if p == 0 { n - 1 } else { p - 1 }
            } else {
                p
            }
        };
        k * n + step(y, EY[k], h) * w + step(x, EX[k], w)
    };
    let mut all = vec![0.0; (steps + 1) * 9 * n];
    all[..9 * n].copy_from_slice(start.as_slice().unwrap());
    for s in 0..steps {
        let (f, next) = all[s * 9 * n..(s + 2) * 9 * n].split_at_mut(9 * n);
        for y in 0..h {
            for x in 0..w {
                let v: [f64; 9] = std::array::from_fn(|k| f[k * n + y * w + x]);
                let (mut rho, mut ux, mut uy) = (0.0, 0.0, 0.0);
                for k in 0..9 {
                    rho += v[k];
                    ux += EX[k] * v[k];
                    uy += EY[k] * v[k];
                }
                let r = 1.0 / rho;
                ux *= r;
                uy *= r;
                let u2 = ux * ux + uy * uy;
                for k in 0..9 {
                    let eu = EX[k] * ux + EY[k] * uy;
                    let eq = WT[k] * rho * (1.0 + 3.0 * eu + 4.5 * eu * eu - 1.5 * u2);
                    next[to(k, y, x)] = v[k] + omega * (eq - v[k]);
                }
            }
        }
    }
    let last = &all[steps * 9 * n..];
    let mut loss = 0.0;
    let mut g = vec![0.0; 9 * n];
    for (p, want) in wanted.iter().enumerate() {
        let d = (0..9).map(|k| last[k * n + p]).sum::<f64>() - want;
        loss += d * d;
        for k in 0..9 {
            g[k * n + p] = 2.0 * d;
        }
    }
    let mut gomega = 0.0;
    let mut before = vec![0.0; 9 * n];
    for s in (0..steps).rev() {
        let f = &all[s * 9 * n..(s + 1) * 9 * n];
        for y in 0..h {
            for x in 0..w {
                let v: [f64; 9] = std::array::from_fn(|k| f[k * n + y * w + x]);
                let (mut rho, mut ux, mut uy) = (0.0, 0.0, 0.0);
                for k in 0..9 {
                    rho += v[k];
                    ux += EX[k] * v[k];
                    uy += EY[k] * v[k];
                }
                let r = 1.0 / rho;
                ux *= r;
                uy *= r;
                let u2 = ux * ux + uy * uy;
                let gv: [f64; 9] = std::array::from_fn(|k| g[to(k, y, x)]);
                let (mut grho, mut gux, mut guy, mut gu2) = (0.0, 0.0, 0.0, 0.0);
                for k in 0..9 {
                    let eu = EX[k] * ux + EY[k] * uy;
                    let poly = WT[k] * (1.0 + 3.0 * eu + 4.5 * eu * eu - 1.5 * u2);
                    gomega += gv[k] * (poly * rho - v[k]);
                    let geq = omega * gv[k];
                    grho += geq * poly;
                    let geu = geq * WT[k] * rho * (3.0 + 9.0 * eu);
                    gu2 -= 1.5 * geq * WT[k] * rho;
                    gux += geu * EX[k];
                    guy += geu * EY[k];
                }
                gux += 2.0 * ux * gu2;
                guy += 2.0 * uy * gu2;
                grho -= (gux * ux + guy * uy) * r;
                let (gmx, gmy) = (gux * r, guy * r);
                for k in 0..9 {
                    before[k * n + y * w + x] = (1.0 - omega) * gv[k] + grho + gmx * EX[k] + gmy * EY[k];
                }
            }
        }
        std::mem::swap(&mut g, &mut before);
    }
    (loss, (Array3::from_shape_vec((9, h, w), g).unwrap(), gomega))
}

/// A cloth of springs that hangs from its first row.
#[differentiate(wrt(start, stiffness, damping))]
fn cloth(
    start: &[[f64; 3]],
    stiffness: f64,
    damping: f64,
    n: usize,
    steps: usize,
    dt: f64,
    wanted: &[[f64; 3]],
) -> f64 {
    fn pull(pos: &[[f64; 3]], force: &mut [[f64; 3]], a: usize, b: usize, stiffness: f64) {
        let d = [pos[b][0] - pos[a][0], pos[b][1] - pos[a][1], pos[b][2] - pos[a][2]];
        let len = (d[0] * d[0] + d[1] * d[1] + d[2] * d[2]).sqrt();
        for k in 0..3 {
            let f = stiffness * (len - 1.0) * d[k] / len;
            force[a][k] += f;
            force[b][k] -= f;
        }
    }
    let mut pos = start.to_vec();
    let mut vel = vec![[0.0; 3]; n * n];
    for _ in 0..steps {
        let mut force = vec![[0.0, 0.0, -0.1]; n * n];
        for i in 0..n {
            for j in 0..n {
                if j + 1 < n {
                    pull(&pos, &mut force, i * n + j, i * n + j + 1, stiffness);
                }
                if i + 1 < n {
                    pull(&pos, &mut force, i * n + j, (i + 1) * n + j, stiffness);
                }
            }
        }
        for p in n..n * n {
            for k in 0..3 {
                vel[p][k] += dt * (force[p][k] - damping * vel[p][k]);
                pos[p][k] += dt * vel[p][k];
            }
        }
    }
    let mut loss = 0.0;
    for (p, w) in pos.iter().zip(wanted) {
        for k in 0..3 {
            loss += (p[k] - w[k]).powi(2);
        }
    }
    loss
}

type Cloth = (Vec<[f64; 3]>, f64, f64);

fn cloth_by_hand(
    start: &[[f64; 3]],
    stiffness: f64,
    damping: f64,
    n: usize,
    steps: usize,
    dt: f64,
    wanted: &[[f64; 3]],
) -> (f64, Cloth) {
    let count = n * n;
    let mut springs = Vec::with_capacity(2 * count);
    for i in 0..n {
        for j in 0..n {
            if j + 1 < n {
                springs.push((i * n + j, i * n + j + 1));
            }
            if i + 1 < n {
                springs.push((i * n + j, (i + 1) * n + j));
            }
        }
    }
    let mut pos = start.to_vec();
    let mut vel = vec![[0.0; 3]; count];
    let mut history = Vec::with_capacity(steps * count);
    let mut force = vec![[0.0; 3]; count];
    for _ in 0..steps {
        history.extend(pos.iter().copied().zip(vel.iter().copied()));
        force.fill([0.0, 0.0, -0.1]);
        for &(a, b) in &springs {
            let (pa, pb) = (pos[a], pos[b]);
            let d = [pb[0] - pa[0], pb[1] - pa[1], pb[2] - pa[2]];
            let len = (d[0] * d[0] + d[1] * d[1] + d[2] * d[2]).sqrt();
            let f = stiffness * (1.0 - 1.0 / len);
            for k in 0..3 {
                force[a][k] += f * d[k];
                force[b][k] -= f * d[k];
            }
        }
        for p in n..count {
            for k in 0..3 {
                vel[p][k] += dt * (force[p][k] - damping * vel[p][k]);
                pos[p][k] += dt * vel[p][k];
            }
        }
    }
    let mut loss = 0.0;
    let mut gpos = vec![[0.0; 3]; count];
    for p in 0..count {
        for k in 0..3 {
            let d = pos[p][k] - wanted[p][k];
            loss += d * d;
            gpos[p][k] = 2.0 * d;
        }
    }
    let mut gvel = vec![[0.0; 3]; count];
    let (mut gs, mut gd) = (0.0, 0.0);
    let gforce = &mut force;
    gforce.fill([0.0; 3]);
    for s in (0..steps).rev() {
        let at = &history[s * count..(s + 1) * count];
        for p in n..count {
            for k in 0..3 {
                let g = gvel[p][k] + dt * gpos[p][k];
                gforce[p][k] = dt * g;
                gd -= dt * at[p].1[k] * g;
                gvel[p][k] = (1.0 - dt * damping) * g;
            }
        }
        for &(a, b) in &springs {
            let (pa, pb) = (at[a].0, at[b].0);
            let d = [pb[0] - pa[0], pb[1] - pa[1], pb[2] - pa[2]];
            let (fa, fb) = (gforce[a], gforce[b]);
            let g = [fa[0] - fb[0], fa[1] - fb[1], fa[2] - fb[2]];
            let square = d[0] * d[0] + d[1] * d[1] + d[2] * d[2];
            let inverse = 1.0 / square.sqrt();
            let along = g[0] * d[0] + g[1] * d[1] + g[2] * d[2];
            gs += (1.0 - inverse) * along;
            let (f, t) = (stiffness * (1.0 - inverse), stiffness * along * inverse * inverse * inverse);
            for k in 0..3 {
                let x = f * g[k] + t * d[k];
                gpos[b][k] += x;
                gpos[a][k] -= x;
            }
        }
    }
    (loss, (gpos, gs, gd))
}

/// Attitude from rates of rotation with an unknown bias.
#[differentiate(wrt(bias, start))]
fn attitude(bias: [f64; 3], start: [f64; 4], rates: &[[f64; 3]], seen: &[[f64; 3]], dt: f64) -> f64 {
    #[derive(Clone, Copy)]
    struct Quat {
        w: f64,
        v: [f64; 3],
    }
    impl std::ops::Mul for Quat {
        type Output = Quat;
        fn mul(self, o: Quat) -> Quat {
            let (a, b) = (self.v, o.v);
            Quat {
                w: self.w * o.w - a[0] * b[0] - a[1] * b[1] - a[2] * b[2],
                v: [
                    self.w * b[0] + a[0] * o.w + a[1] * b[2] - a[2] * b[1],
                    self.w * b[1] - a[0] * b[2] + a[1] * o.w + a[2] * b[0],
                    self.w * b[2] + a[0] * b[1] - a[1] * b[0] + a[2] * o.w,
                ],
            }
        }
    }
    impl Quat {
        fn unit(self) -> Quat {
            let v = self.v;
            let n = (self.w * self.w + v[0] * v[0] + v[1] * v[1] + v[2] * v[2]).sqrt();
            Quat { w: self.w / n, v: [v[0] / n, v[1] / n, v[2] / n] }
        }
        fn down(&self) -> [f64; 3] {
            let (w, [x, y, z]) = (self.w, self.v);
            [2.0 * (x * z - w * y), 2.0 * (w * x + y * z), w * w - x * x - y * y + z * z]
        }
    }
    let mut q = Quat { w: start[0], v: [start[1], start[2], start[3]] };
    let mut loss = 0.0;
    for (r, s) in rates.iter().zip(seen) {
        let w = [r[0] - bias[0], r[1] - bias[1], r[2] - bias[2]];
        let speed = (w[0] * w[0] + w[1] * w[1] + w[2] * w[2]).sqrt();
        let half = 0.5 * dt * speed;
        let k = half.sin() / speed;
        q = (q * Quat { w: half.cos(), v: [k * w[0], k * w[1], k * w[2]] }).unit();
        let g = q.down();
        loss += (g[0] - s[0]).powi(2) + (g[1] - s[1]).powi(2) + (g[2] - s[2]).powi(2);
    }
    loss
}

fn quat_mul(a: [f64; 4], b: [f64; 4]) -> [f64; 4] {
    [
        a[0] * b[0] - a[1] * b[1] - a[2] * b[2] - a[3] * b[3],
        a[0] * b[1] + a[1] * b[0] + a[2] * b[3] - a[3] * b[2],
        a[0] * b[2] - a[1] * b[3] + a[2] * b[0] + a[3] * b[1],
        a[0] * b[3] + a[1] * b[2] - a[2] * b[1] + a[3] * b[0],
    ]
}

fn attitude_by_hand(
    bias: [f64; 3],
    start: [f64; 4],
    rates: &[[f64; 3]],
    seen: &[[f64; 3]],
    dt: f64,
) -> (f64, ([f64; 3], [f64; 4])) {
    let conj = |q: [f64; 4]| [q[0], -q[1], -q[2], -q[3]];
    struct Step {
        q: [f64; 4],
        turn: [f64; 4],
        after: [f64; 4],
        inverse: f64,
        miss: [f64; 3],
    }
    let mut q = start;
    let mut loss = 0.0;
    let mut steps = Vec::with_capacity(rates.len());
    for (r, s) in rates.iter().zip(seen) {
        let w = [r[0] - bias[0], r[1] - bias[1], r[2] - bias[2]];
        let speed = (w[0] * w[0] + w[1] * w[1] + w[2] * w[2]).sqrt();
        let (sin, cos) = (0.5 * dt * speed).sin_cos();
        let k = sin / speed;
        let turn = [cos, k * w[0], k * w[1], k * w[2]];
        let p = quat_mul(q, turn);
        let inverse = 1.0 / (p[0] * p[0] + p[1] * p[1] + p[2] * p[2] + p[3] * p[3]).sqrt();
        let after = p.map(|x| x * inverse);
        let [a, x, y, z] = after;
        let miss = [2.0 * (x * z - a * y) - s[0], 2.0 * (a * x + y * z) - s[1], a * a - x * x - y * y + z * z - s[2]];
        loss += miss[0] * miss[0] + miss[1] * miss[1] + miss[2] * miss[2];
        steps.push(Step { q, turn, after, inverse, miss });
        q = after;
    }
    let (mut gb, mut g) = ([0.0; 3], [0.0; 4]);
    for (s, r) in steps.iter().zip(rates).rev() {
        let d = s.miss.map(|m| 2.0 * m);
        let [a, x, y, z] = s.after;
        g[0] += 2.0 * (-y * d[0] + x * d[1] + a * d[2]);
        g[1] += 2.0 * (z * d[0] + a * d[1] - x * d[2]);
        g[2] += 2.0 * (-a * d[0] + z * d[1] - y * d[2]);
        g[3] += 2.0 * (x * d[0] + y * d[1] + z * d[2]);
        let along = g[0] * a + g[1] * x + g[2] * y + g[3] * z;
        let gp: [f64; 4] = std::array::from_fn(|i| (g[i] - s.after[i] * along) * s.inverse);
        g = quat_mul(gp, conj(s.turn));
        let gt = quat_mul(conj(s.q), gp);
        let w = [r[0] - bias[0], r[1] - bias[1], r[2] - bias[2]];
        let square = w[0] * w[0] + w[1] * w[1] + w[2] * w[2];
        let speed = square.sqrt();
        let inverse = 1.0 / speed;
        let k = (s.turn[1] * w[0] + s.turn[2] * w[1] + s.turn[3] * w[2]) / square;
        let gk = gt[1] * w[0] + gt[2] * w[1] + gt[3] * w[2];
        let gm = -gt[0] * k * speed * 0.5 * dt + gk * (s.turn[0] * 0.5 * dt - k) * inverse;
        for i in 0..3 {
            gb[i] -= k * gt[i + 1] + gm * w[i] * inverse;
        }
    }
    (loss, (gb, g))
}

pub(super) fn rows(table: &mut Table) {
    let mut data = Data::new(101);
    let (thick, index, waves, target) = (data.positive(20), data.positive(20), data.positive(300), data.numbers(300));
    let index: Vec<f64> = index.iter().map(|n| n + 1.0).collect();
    table.row(
        "thin films",
        || film_by_hand(&thick, &index, &waves, &target, 1.5),
        || film_value_and_grad(&thick, &index, &waves, &target, 1.5),
        || film(&thick, &index, &waves, &target, 1.5),
    );
    let start = Array3::from_shape_vec((9, 24, 24), data.positive(9 * 576)).unwrap();
    let wanted = data.matrix(24, 24) + 9.0;
    table.row(
        "lattice boltzmann",
        || lattice_by_hand(&start, 0.8, 20, &wanted),
        || lattice_value_and_grad(&start, 0.8, 20, &wanted),
        || lattice(&start, 0.8, 20, &wanted),
    );
    let n = 14;
    let start: Vec<[f64; 3]> = data
        .points::<3>(n * n)
        .iter()
        .enumerate()
        .map(|(i, p)| [(i % n) as f64 + 0.3 * p[0], (i / n) as f64 + 0.3 * p[1], p[2]])
        .collect();
    let wanted = data.points::<3>(n * n);
    table.row(
        "cloth",
        || cloth_by_hand(&start, 2.0, 0.1, n, 40, 0.05, &wanted),
        || cloth_value_and_grad(&start, 2.0, 0.1, n, 40, 0.05, &wanted),
        || cloth(&start, 2.0, 0.1, n, 40, 0.05, &wanted),
    );
    let (rates, seen) = (data.points::<3>(2000), data.points::<3>(2000));
    table.row(
        "attitude",
        || attitude_by_hand([0.01, 0.02, -0.01], [0.9, 0.1, 0.2, -0.3], &rates, &seen, 0.05),
        || attitude_value_and_grad([0.01, 0.02, -0.01], [0.9, 0.1, 0.2, -0.3], &rates, &seen, 0.05),
        || attitude([0.01, 0.02, -0.01], [0.9, 0.1, 0.2, -0.3], &rates, &seen, 0.05),
    );
}
