//! Graphs: ranks by links, means of neighbours, and embeddings of relations.

use ad::ndarray::{Array1, Array2};
use ad::prelude::*;

use super::{Data, Table};

/// Ten steps of rank along weighted links: how far the ranks are from wanted ones.
#[differentiate(wrt(weights))]
fn ranks(weights: &[f64], source: &[usize], target: &[usize], wanted: &[f64]) -> f64 {
    let n = wanted.len();
    let mut rank = vec![1.0 / n as f64; n];
    for _ in 0..10 {
        let mut next = vec![0.15 / n as f64; n];
        for e in 0..weights.len() {
            next[target[e]] += 0.85 * weights[e] * rank[source[e]];
        }
        rank = next;
    }
    rank.iter().zip(wanted).map(|(r, w)| (r - w).powi(2)).sum()
}

fn ranks_by_hand(weights: &[f64], source: &[usize], target: &[usize], wanted: &[f64]) -> (f64, Vec<f64>) {
    let n = wanted.len();
    let mut all = vec![vec![1.0 / n as f64; n]];
    for t in 0..10 {
        let mut next = vec![0.15 / n as f64; n];
        for ((w, &s), &r) in weights.iter().zip(source).zip(target) {
            next[r] += 0.85 * w * all[t][s];
        }
        all.push(next);
    }
    let (mut total, mut d) = (0.0, vec![0.0; n]);
    for ((d, r), w) in d.iter_mut().zip(&all[10]).zip(wanted) {
        total += (r - w) * (r - w);
        *d = 2.0 * (r - w);
    }
    let mut dw = vec![0.0; weights.len()];
    for t in (0..10).rev() {
        let mut before = vec![0.0; n];
        for e in 0..weights.len() {
            let g = 0.85 * d[target[e]];
            dw[e] += g * all[t][source[e]];
            before[source[e]] += g * weights[e];
        }
        d = before;
    }
    (total, dw)
}

/// One layer of a graph network: the mean of the neighbours' rows, a product, and a tanh.
#[differentiate(wrt(w))]
fn neighbours(w: &Array2<f64>, x: &Array2<f64>, start: &[usize], neighbour: &[usize], wanted: &Array2<f64>) -> f64 {
    let mut means = Array2::zeros(x.raw_dim());
    for i in 0..x.nrows() {
        for &j in &neighbour[start[i]..start[i + 1]] {
            means.row_mut(i).scaled_add(1.0 / (start[i + 1] - start[i]) as f64, &x.row(j));
        }
    }
    let out = means.dot(w).mapv(f64::tanh);
    (out - wanted).mapv(|d| d * d).sum()
}

fn neighbours_by_hand(
    w: &Array2<f64>,
    x: &Array2<f64>,
    start: &[usize],
    neighbour: &[usize],
    wanted: &Array2<f64>,
) -> (f64, Array2<f64>) {
    let (n, d) = x.dim();
    let xs = x.as_slice().unwrap();
    let mut means = vec![0.0; n * d];
    for i in 0..n {
        let mean = &mut means[i * d..(i + 1) * d];
        let scale = 1.0 / (start[i + 1] - start[i]) as f64;
        for &j in &neighbour[start[i]..start[i + 1]] {
            for (m, x) in mean.iter_mut().zip(&xs[j * d..(j + 1) * d]) {
                *m += scale * x;
            }
        }
    }
    let means = Array2::from_shape_vec((n, d), means).unwrap();
    let mut out = means.dot(w);
    let mut total = 0.0;
    out.zip_mut_with(wanted, |o, w| {
        let y = o.tanh();
        total += (y - w) * (y - w);
        *o = 2.0 * (y - w) * (1.0 - y * y);
    });
    (total, means.t().dot(&out))
}

/// Embeddings of relations: true triples should be nearer than false ones by a margin.
#[differentiate(wrt(entity, relation))]
fn relations(entity: &Array2<f64>, relation: &Array2<f64>, facts: &[[usize; 4]]) -> f64 {
    let mut loss = 0.0;
    for &[head, kind, tail, wrong] in facts {
        let from = &entity.row(head) + &relation.row(kind);
        let near = (&from - &entity.row(tail)).mapv(|d| d * d).sum();
        let far = (&from - &entity.row(wrong)).mapv(|d| d * d).sum();
        loss += (1.0 + near - far).max(0.0);
    }
    loss
}

fn relations_by_hand(
    entity: &Array2<f64>,
    relation: &Array2<f64>,
    facts: &[[usize; 4]],
) -> (f64, (Array2<f64>, Array2<f64>)) {
    let d = entity.ncols();
    let (e, r) = (entity.as_slice().unwrap(), relation.as_slice().unwrap());
    let (mut de, mut dr) = (vec![0.0; e.len()], vec![0.0; r.len()]);
    let mut loss = 0.0;
    for &[head, kind, tail, wrong] in facts {
        let (h, k) = (&e[head * d..(head + 1) * d], &r[kind * d..(kind + 1) * d]);
        let (t, w) = (&e[tail * d..(tail + 1) * d], &e[wrong * d..(wrong + 1) * d]);
        let mut margin = 1.0;
        for c in 0..d {
            let from = h[c] + k[c];
            margin += (from - t[c]) * (from - t[c]) - (from - w[c]) * (from - w[c]);
        }
        if margin > 0.0 {
            loss += margin;
            for c in 0..d {
                let from = h[c] + k[c];
                let (near, far) = (2.0 * (from - t[c]), 2.0 * (from - w[c]));
                de[head * d + c] += near - far;
                dr[kind * d + c] += near - far;
                de[tail * d + c] -= near;
                de[wrong * d + c] += far;
            }
        }
    }
    let de = Array2::from_shape_vec(entity.raw_dim(), de).unwrap();
    (loss, (de, Array2::from_shape_vec(relation.raw_dim(), dr).unwrap()))
}

/// Two-way elections (Bradley and Terry): the strengths of players by who won.
#[differentiate]
fn strengths(strength: &Array1<f64>, winner: &[usize], loser: &[usize]) -> f64 {
    let mut total = 0.0;
    for (&w, &l) in winner.iter().zip(loser) {
        total += softplus(strength[l] - strength[w]);
    }
    total + 0.5 * strength.dot(strength)
}

fn strengths_by_hand(strength: &Array1<f64>, winner: &[usize], loser: &[usize]) -> (f64, Array1<f64>) {
    let s = strength.as_slice().unwrap();
    let mut d = s.to_vec();
    let mut total = 0.5 * s.iter().map(|x| x * x).sum::<f64>();
    for (&w, &l) in winner.iter().zip(loser) {
        let z = s[l] - s[w];
        let e = (-z.abs()).exp();
        total += z.max(0.0) + e.ln_1p();
        let g = if z > 0.0 { 1.0 } else { e } / (1.0 + e);
        d[l] += g;
        d[w] -= g;
    }
    (total, Array1::from(d))
}

pub fn rows(table: &mut Table) {
    let mut data = Data::new(5);
    {
        let (source, target) = (data.below(5000, 800), data.below(5000, 800));
        let (weights, wanted) = (data.positive(5000), data.numbers(800));
        table.row(
            "ranks, 5000 links, 10 steps",
            || ranks_by_hand(&weights, &source, &target, &wanted),
            || ranks_value_and_grad(&weights, &source, &target, &wanted),
            || ranks(&weights, &source, &target, &wanted),
        );
    }
    {
        let (w, x, wanted) = (data.matrix(16, 8), data.matrix(1000, 16), data.matrix(1000, 8));
        let mut start = vec![0];
        for k in data.below(1000, 9) {
            start.push(start[start.len() - 1] + k + 1);
        }
        let neighbour = data.below(start[1000], 1000);
        table.row(
            "means of neighbours, 1000 nodes",
            || neighbours_by_hand(&w, &x, &start, &neighbour, &wanted),
            || neighbours_value_and_grad(&w, &x, &start, &neighbour, &wanted),
            || neighbours(&w, &x, &start, &neighbour, &wanted),
        );
    }
    {
        let (entity, relation) = (data.matrix(500, 20), data.matrix(10, 20));
        let facts: Vec<[usize; 4]> = (0..2000)
            .map(|_| {
                let k = data.below(4, 500);
                [k[0], k[1] % 10, k[2], k[3]]
            })
            .collect();
        table.row(
            "relations, 2000 facts, 20 numbers",
            || relations_by_hand(&entity, &relation, &facts),
            || relations_value_and_grad(&entity, &relation, &facts),
            || relations(&entity, &relation, &facts),
        );
    }
    {
        let (strength, winner, loser) = (data.vector(100), data.below(5000, 100), data.below(5000, 100));
        table.row(
            "strengths of 100, 5000 games",
            || strengths_by_hand(&strength, &winner, &loser),
            || strengths_value_and_grad(&strength, &winner, &loser),
            || strengths(&strength, &winner, &loser),
        );
    }
}
