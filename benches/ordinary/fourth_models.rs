//! The fourth set, models of statistics. Its author knew neither the
//! compiler's mechanisms nor the other sets' programs. It shows where the compiler is slow.

use ad::ndarray::{Array1, Array2};
use ad::prelude::*;

use super::{Data, Table};

/// The likelihood of a tree of species (pruning).
#[differentiate(wrt(length, frequency))]
fn tree(length: &[f64], frequency: [f64; 4], left: &[usize], right: &[usize], tips: &Array2<usize>) -> f64 {
    let (species, sites) = tips.dim();
    let nodes = species + left.len();
    let mut total = 0.0;
    for site in 0..sites {
        let mut partial = Array2::<f64>::zeros((nodes, 4));
        for tip in 0..species {
            partial[[tip, tips[[tip, site]]]] = 1.0;
        }
        for k in 0..left.len() {
            let (l, r) = (left[k], right[k]);
            let (el, er) = ((-4.0 / 3.0 * length[l]).exp(), (-4.0 / 3.0 * length[r]).exp());
            let (sl, sr) = (partial.row(l).sum(), partial.row(r).sum());
            for s in 0..4 {
                let a = 0.25 * (1.0 - el) * sl + el * partial[[l, s]];
                let b = 0.25 * (1.0 - er) * sr + er * partial[[r, s]];
                partial[[species + k, s]] = a * b;
            }
        }
        let mut p = 0.0;
        for s in 0..4 {
            p += frequency[s] * partial[[nodes - 1, s]];
        }
        total -= p.ln();
    }
    total
}

fn tree_by_hand(
    length: &[f64],
    frequency: [f64; 4],
    left: &[usize],
    right: &[usize],
    tips: &Array2<usize>,
) -> (f64, (Vec<f64>, [f64; 4])) {
    let (species, sites) = tips.dim();
    let nodes = species + left.len();
    let decay: Vec<f64> = length.iter().map(|l| (-4.0 / 3.0 * l).exp()).collect();
    let mut gdecay = vec![0.0; nodes];
    let mut gf = [0.0; 4];
    let mut partial = vec![[0.0; 4]; nodes];
    let mut g = vec![[0.0; 4]; nodes];
    let mut total = 0.0;
    let pass = |v: [f64; 4], e: f64| {
        let base = 0.25 * (1.0 - e) * (v[0] + v[1] + v[2] + v[3]);
        v.map(|x| base + e * x)
    };
    for site in 0..sites {
        for tip in 0..species {
            partial[tip] = [0.0; 4];
            partial[tip][tips[[tip, site]]] = 1.0;
        }
        for k in 0..left.len() {
            let (l, r) = (left[k], right[k]);
            let (a, b) = (pass(partial[l], decay[l]), pass(partial[r], decay[r]));
            partial[species + k] = std::array::from_fn(|s| a[s] * b[s]);
        }
        let root = partial[nodes - 1];
        let p: f64 = (0..4).map(|s| frequency[s] * root[s]).sum();
        total -= p.ln();
        let gp = -1.0 / p;
        for s in 0..4 {
            gf[s] += gp * root[s];
            g[nodes - 1][s] = gp * frequency[s];
        }
        for k in (0..left.len()).rev() {
            let (l, r) = (left[k], right[k]);
            let here = g[species + k];
            let (a, b) = (pass(partial[l], decay[l]), pass(partial[r], decay[r]));
            for (child, other) in [(l, b), (r, a)] {
                let (v, e) = (partial[child], decay[child]);
                let ga: [f64; 4] = std::array::from_fn(|s| here[s] * other[s]);
                let sum = ga[0] + ga[1] + ga[2] + ga[3];
                let all = v[0] + v[1] + v[2] + v[3];
                gdecay[child] += ga[0] * v[0] + ga[1] * v[1] + ga[2] * v[2] + ga[3] * v[3] - 0.25 * sum * all;
                if child >= species {
                    let base = 0.25 * (1.0 - e) * sum;
                    g[child] = ga.map(|x| base + e * x);
                }
            }
        }
    }
    let gl = (0..length.len()).map(|i| -4.0 / 3.0 * decay[i] * gdecay[i]).collect();
    (total, (gl, gf))
}

/// Entropic transport between clouds of points (Sinkhorn).
#[differentiate(wrt(x))]
fn transport(x: &Array2<f64>, y: &Array2<f64>, epsilon: f64, steps: usize) -> f64 {
    let (n, m) = (x.nrows(), y.nrows());
    let cost = build([n, m], |[i, j]| (x[[i, 0]] - y[[j, 0]]).powi(2) + (x[[i, 1]] - y[[j, 1]]).powi(2));
    let k = cost.mapv(|c| (-c / epsilon).exp());
    let mut u = Array1::<f64>::ones(n);
    let mut v = Array1::<f64>::ones(m);
    for _ in 0..steps {
        u = (1.0 / n as f64) / k.dot(&v);
        v = (1.0 / m as f64) / k.t().dot(&u);
    }
    u.dot(&(&k * &cost).dot(&v))
}

fn transport_by_hand(x: &Array2<f64>, y: &Array2<f64>, epsilon: f64, steps: usize) -> (f64, Array2<f64>) {
    let (n, m) = (x.nrows(), y.nrows());
    let (an, am) = (1.0 / n as f64, 1.0 / m as f64);
    let cost =
        Array2::from_shape_fn((n, m), |(i, j)| (x[[i, 0]] - y[[j, 0]]).powi(2) + (x[[i, 1]] - y[[j, 1]]).powi(2));
    let k = cost.mapv(|c| (-c / epsilon).exp());
    let mut us = Array2::zeros((steps, n));
    let mut vs = Array2::ones((steps + 1, m));
    for s in 0..steps {
        let u = k.dot(&vs.row(s)).mapv(|d| an / d);
        vs.row_mut(s + 1).assign(&k.t().dot(&u).mapv(|d| am / d));
        us.row_mut(s).assign(&u);
    }
    let (u, v) = (us.row(steps - 1).to_owned(), vs.row(steps).to_owned());
    let kc = &k * &cost;
    let kcv = kc.dot(&v);
    let total = u.dot(&kcv);
    let mut gu = kcv;
    let mut gv = kc.t().dot(&u);
    // The outer products as rows of two matrices, for one product of matrices at the end.
    let mut left = Array2::zeros((2 * steps, n));
    let mut right = Array2::zeros((2 * steps, m));
    for s in (0..steps).rev() {
        let (u, v) = (us.row(s), vs.row(s + 1));
        let gden: Array1<f64> = gv.iter().zip(v).map(|(g, v)| -g * v * v / am).collect();
        gu += &k.dot(&gden);
        left.row_mut(2 * s).assign(&u);
        right.row_mut(2 * s).assign(&gden);
        let gden: Array1<f64> = gu.iter().zip(u).map(|(g, u)| -g * u * u / an).collect();
        left.row_mut(2 * s + 1).assign(&gden);
        right.row_mut(2 * s + 1).assign(&vs.row(s));
        gv = k.t().dot(&gden);
        gu.fill(0.0);
    }
    let gk = left.t().dot(&right);
    let mut gx = Array2::zeros((n, 2));
    for i in 0..n {
        for j in 0..m {
            let uv = u[i] * v[j];
            let g = uv * k[[i, j]] - (gk[[i, j]] + uv * cost[[i, j]]) * k[[i, j]] / epsilon;
            gx[[i, 0]] += 2.0 * g * (x[[i, 0]] - y[[j, 0]]);
            gx[[i, 1]] += 2.0 * g * (x[[i, 1]] - y[[j, 1]]);
        }
    }
    (total, gx)
}

/// Charges in a periodic box: waves, and pairs at the nearest image.
#[differentiate(wrt(pos))]
fn ewald(pos: &[[f64; 3]], charge: &[f64], waves: &[[f64; 3]], alpha: f64) -> f64 {
    let mut energy = 0.0;
    for k in waves {
        let (mut c, mut s) = (0.0, 0.0);
        for (p, q) in pos.iter().zip(charge) {
            let phase = k[0] * p[0] + k[1] * p[1] + k[2] * p[2];
            c += q * phase.cos();
            s += q * phase.sin();
        }
        let k2 = k[0] * k[0] + k[1] * k[1] + k[2] * k[2];
        energy += 2.0 * std::f64::consts::PI * (-k2 / (4.0 * alpha * alpha)).exp() / k2 * (c * c + s * s);
    }
    for i in 0..pos.len() {
        for j in 0..i {
            let mut r2 = 0.0;
            for a in 0..3 {
                let mut d = pos[i][a] - pos[j][a];
                d -= d.round();
                r2 += d * d;
            }
            if r2 < 0.25 {
                let r = r2.sqrt();
                energy += charge[i] * charge[j] * erfc(alpha * r) / r;
            }
        }
    }
    energy
}

fn ewald_by_hand(pos: &[[f64; 3]], charge: &[f64], waves: &[[f64; 3]], alpha: f64) -> (f64, Vec<[f64; 3]>) {
    let n = pos.len();
    let mut g = vec![[0.0; 3]; n];
    let mut parts = vec![(0.0, 0.0); n];
    let mut energy = 0.0;
    for k in waves {
        let (mut c, mut s) = (0.0, 0.0);
        for i in 0..n {
            let p = pos[i];
            let (sin, cos) = (k[0] * p[0] + k[1] * p[1] + k[2] * p[2]).sin_cos();
            parts[i] = (charge[i] * sin, charge[i] * cos);
            s += parts[i].0;
            c += parts[i].1;
        }
        let k2 = k[0] * k[0] + k[1] * k[1] + k[2] * k[2];
        let w = 2.0 * std::f64::consts::PI * (-k2 / (4.0 * alpha * alpha)).exp() / k2;
        energy += w * (c * c + s * s);
        for i in 0..n {
            let gp = 2.0 * w * (s * parts[i].1 - c * parts[i].0);
            for a in 0..3 {
                g[i][a] += gp * k[a];
            }
        }
    }
    let slope = 2.0 * alpha / std::f64::consts::PI.sqrt();
    for i in 0..n {
        for j in 0..i {
            let d: [f64; 3] = std::array::from_fn(|a| {
                let d = pos[i][a] - pos[j][a];
                d - d.round()
            });
            let r2 = d[0] * d[0] + d[1] * d[1] + d[2] * d[2];
            if r2 < 0.25 {
                let r = r2.sqrt();
                let inverse = 1.0 / r;
                let qq = charge[i] * charge[j] * inverse;
                let e = erfc(alpha * r);
                energy += qq * e;
                let gr = -qq * (e * inverse + slope * (-alpha * alpha * r2).exp()) * inverse;
                for a in 0..3 {
                    g[i][a] += gr * d[a];
                    g[j][a] -= gr * d[a];
                }
            }
        }
    }
    (energy, g)
}

/// A soft decision tree whose inner nodes are gates.
#[differentiate(wrt(gates, leaves))]
fn soft_tree(gates: &Array2<f64>, leaves: &[f64], x: &Array2<f64>, y: &[f64]) -> f64 {
    let inner = leaves.len();
    let mut loss = 0.0;
    for (row, y) in x.rows().into_iter().zip(y) {
        let mut p = vec![1.0; 2 * inner];
        for node in 1..inner {
            let gate = sigmoid(gates.row(node).dot(&row));
            p[2 * node] = p[node] * gate;
            p[2 * node + 1] = p[node] * (1.0 - gate);
        }
        let mut out = 0.0;
        for (l, leaf) in leaves.iter().enumerate() {
            out += p[inner + l] * leaf;
        }
        loss += (out - y).powi(2);
    }
    loss
}

fn soft_tree_by_hand(
    gates: &Array2<f64>,
    leaves: &[f64],
    x: &Array2<f64>,
    y: &[f64],
) -> (f64, (Array2<f64>, Vec<f64>)) {
    let inner = leaves.len();
    let d = gates.ncols();
    let weights = gates.as_slice().unwrap();
    let mut gw = vec![0.0; weights.len()];
    let mut gl = vec![0.0; inner];
    let mut p = vec![1.0; 2 * inner];
    let mut below = vec![0.0; 2 * inner];
    let mut gate = vec![0.0; inner];
    below[inner..].copy_from_slice(leaves);
    let mut loss = 0.0;
    for (row, y) in x.rows().into_iter().zip(y) {
        let row = row.to_slice().unwrap();
        for node in 1..inner {
            let z: f64 = weights[node * d..][..d].iter().zip(row).map(|(a, b)| a * b).sum();
            let s = 1.0 / (1.0 + (-z).exp());
            gate[node] = s;
            p[2 * node] = p[node] * s;
            p[2 * node + 1] = p[node] * (1.0 - s);
        }
        for node in (1..inner).rev() {
            below[node] = gate[node] * below[2 * node] + (1.0 - gate[node]) * below[2 * node + 1];
        }
        let miss = below[1] - y;
        loss += miss * miss;
        let g = 2.0 * miss;
        for l in 0..inner {
            gl[l] += g * p[inner + l];
        }
        for node in 1..inner {
            let s = gate[node];
            let gz = g * p[node] * (below[2 * node] - below[2 * node + 1]) * s * (1.0 - s);
            for (w, x) in gw[node * d..][..d].iter_mut().zip(row) {
                *w += gz * x;
            }
        }
    }
    (loss, (Array2::from_shape_vec(gates.dim(), gw).unwrap(), gl))
}

/// The mean of the worst twentieth of losses.
#[differentiate(wrt(w))]
fn shortfall(w: &Array1<f64>, returns: &Array2<f64>, penalty: f64) -> f64 {
    let mut losses: Vec<f64> = returns.outer_iter().map(|r| -r.dot(w)).collect();
    losses.sort_by(|a, b| b.partial_cmp(a).unwrap());
    let worst = losses.len() / 20;
    losses.iter().take(worst).sum::<f64>() / worst as f64 + penalty * w.dot(w)
}

fn shortfall_by_hand(w: &Array1<f64>, returns: &Array2<f64>, penalty: f64) -> (f64, Array1<f64>) {
    let losses: Vec<f64> = returns.outer_iter().map(|r| -r.dot(w)).collect();
    let worst = losses.len() / 20;
    let mut order: Vec<usize> = (0..losses.len()).collect();
    order.select_nth_unstable_by(worst, |&a, &b| losses[b].partial_cmp(&losses[a]).unwrap());
    let mut sum = 0.0;
    let mut g = w * (2.0 * penalty);
    for &i in &order[..worst] {
        sum += losses[i];
        g.scaled_add(-1.0 / worst as f64, &returns.row(i));
    }
    (sum / worst as f64 + penalty * w.dot(w), g)
}

/// A bank of Gabor filters, fitted to an energy.
#[differentiate(wrt(freq, sigma, angle))]
fn gabor(freq: &[f64], sigma: &[f64], angle: &[f64], image: &Array2<f64>, wanted: &[f64], half: usize) -> f64 {
    let size = 2 * half + 1;
    let (h, w) = image.dim();
    let mut loss = 0.0;
    for k in 0..freq.len() {
        let kernel = Array2::from_shape_fn((size, size), |(i, j)| {
            let (y, x) = (i as f64 - half as f64, j as f64 - half as f64);
            let along = x * angle[k].cos() + y * angle[k].sin();
            (-(x * x + y * y) / (2.0 * sigma[k] * sigma[k])).exp() * (freq[k] * along).cos()
        });
        let mut energy = 0.0;
        for y in 0..h - size + 1 {
            for x in 0..w - size + 1 {
                let window = image.slice(s![y..y + size, x..x + size]);
                let response = (&window * &kernel).sum();
                energy += response * response;
            }
        }
        loss += (energy.ln() - wanted[k]).powi(2);
    }
    loss
}

type Gabor = (Vec<f64>, Vec<f64>, Vec<f64>);

fn gabor_by_hand(
    freq: &[f64],
    sigma: &[f64],
    angle: &[f64],
    image: &Array2<f64>,
    wanted: &[f64],
    half: usize,
) -> (f64, Gabor) {
    let size = 2 * half + 1;
    let (h, w) = image.dim();
    let pixels = image.as_slice().unwrap();
    let (oh, ow) = (h - size + 1, w - size + 1);
    let (mut gf, mut gs, mut ga) = (vec![0.0; freq.len()], vec![0.0; freq.len()], vec![0.0; freq.len()]);
    let mut loss = 0.0;
    let mut kernel = vec![0.0; size * size];
    let mut gk = vec![0.0; size * size];
    for k in 0..freq.len() {
        let (sin, cos) = angle[k].sin_cos();
        let scale = -0.5 / (sigma[k] * sigma[k]);
        let place = |p: usize| ((p / size) as f64 - half as f64, (p % size) as f64 - half as f64);
        for p in 0..size * size {
            let (y, x) = place(p);
            kernel[p] = (scale * (x * x + y * y)).exp() * (freq[k] * (x * cos + y * sin)).cos();
        }
        gk.fill(0.0);
        let mut energy = 0.0;
        let mut out = vec![0.0; ow];
        for y in 0..oh {
            out.fill(0.0);
            for i in 0..size {
                let row = &pixels[(y + i) * w..][..w];
                for j in 0..size {
                    let c = kernel[i * size + j];
                    for (o, r) in out.iter_mut().zip(&row[j..]) {
                        *o += c * r;
                    }
                }
            }
            energy += out.iter().map(|o| o * o).sum::<f64>();
            for i in 0..size {
                let row = &pixels[(y + i) * w..][..w];
                for j in 0..size {
                    gk[i * size + j] += out.iter().zip(&row[j..]).map(|(o, r)| o * r).sum::<f64>();
                }
            }
        }
        let miss = energy.ln() - wanted[k];
        loss += miss * miss;
        let ge = 4.0 * miss / energy;
        for p in 0..size * size {
            let (y, x) = place(p);
            let r2 = x * x + y * y;
            let along = x * cos + y * sin;
            let e = (scale * r2).exp();
            let (s, c) = (freq[k] * along).sin_cos();
            let g = ge * gk[p];
            gs[k] += g * e * c * r2 / (sigma[k] * sigma[k] * sigma[k]);
            gf[k] -= g * e * s * along;
            ga[k] -= g * e * s * freq[k] * (y * cos - x * sin);
        }
    }
    (loss, (gf, gs, ga))
}

pub(super) fn rows(table: &mut Table) {
    let mut data = Data::new(104);
    let species = 16;
    let (mut left, mut right) = (Vec::new(), Vec::new());
    let mut open: Vec<usize> = (0..species).collect();
    while open.len() > 1 {
        let a = open.swap_remove(data.0.usize(..open.len()));
        let b = open.swap_remove(data.0.usize(..open.len()));
        open.push(species + left.len());
        left.push(a);
        right.push(b);
    }
    let length = data.positive(2 * species - 2);
    let tips = Array2::from_shape_vec((species, 300), data.below(species * 300, 4)).unwrap();
    table.row(
        "tree of species",
        || tree_by_hand(&length, [0.3, 0.2, 0.1, 0.4], &left, &right, &tips),
        || tree_value_and_grad(&length, [0.3, 0.2, 0.1, 0.4], &left, &right, &tips),
        || tree(&length, [0.3, 0.2, 0.1, 0.4], &left, &right, &tips),
    );
    let (x, y) = (data.matrix(80, 2), data.matrix(90, 2));
    table.row(
        "transport",
        || transport_by_hand(&x, &y, 0.1, 30),
        || transport_value_and_grad(&x, &y, 0.1, 30),
        || transport(&x, &y, 0.1, 30),
    );
    let pos = data.points::<3>(80);
    let charge = data.numbers(80);
    let waves: Vec<[f64; 3]> =
        data.points::<3>(120).iter().map(|k| k.map(|k| 6.3 * (12.0 * k + 0.1).round() + 0.01)).collect();
    table.row(
        "ewald",
        || ewald_by_hand(&pos, &charge, &waves, 5.0),
        || ewald_value_and_grad(&pos, &charge, &waves, 5.0),
        || ewald(&pos, &charge, &waves, 5.0),
    );
    let (gates, leaves, x, y) = (data.matrix(64, 8), data.numbers(64), data.matrix(300, 8), data.numbers(300));
    table.row(
        "soft tree",
        || soft_tree_by_hand(&gates, &leaves, &x, &y),
        || soft_tree_value_and_grad(&gates, &leaves, &x, &y),
        || soft_tree(&gates, &leaves, &x, &y),
    );
    let (w, returns) = (data.vector(30), data.matrix(4000, 30));
    table.row(
        "shortfall",
        || shortfall_by_hand(&w, &returns, 0.1),
        || shortfall_value_and_grad(&w, &returns, 0.1),
        || shortfall(&w, &returns, 0.1),
    );
    let image = data.matrix(40, 40);
    let (freq, sigma, angle, wanted) = (data.positive(5), data.positive(5), data.numbers(5), data.numbers(5));
    table.row(
        "gabor",
        || gabor_by_hand(&freq, &sigma, &angle, &image, &wanted, 4),
        || gabor_value_and_grad(&freq, &sigma, &angle, &image, &wanted, 4),
        || gabor(&freq, &sigma, &angle, &image, &wanted, 4),
    );
}
