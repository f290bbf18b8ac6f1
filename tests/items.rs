//! Sums over many items that look rows up in tables, in more than one block of items: the gradient
//! of all items is the sum of the gradients of their parts, and agrees with difference quotients.

#![allow(clippy::needless_range_loop, reason = "users write loops over indices")]

use ad::prelude::*;

/// Numbers that look random, between -1 and 1.
fn number(k: usize) -> f64 {
    let bits = (k as u64 + 1).wrapping_mul(0x9E37_79B9_7F4A_7C15);
    (bits >> 11) as f64 / (1_u64 << 52) as f64 - 1.0
}

fn numbers(n: usize, first: usize) -> Vec<f64> {
    (0..n).map(|k| number(k + first)).collect()
}

fn below(n: usize, bound: usize, first: usize) -> Vec<usize> {
    (0..n).map(|k| (number(k + first).abs() * 1e6) as usize % bound).collect()
}

fn assert_close(a: &[f64], b: &[f64]) {
    assert_eq!(a.len(), b.len());
    for (a, b) in a.iter().zip(b) {
        assert!((a - b).abs() <= 1e-10 * (1.0 + b.abs()), "{a} and {b}");
    }
}

/// Numbers of items around the number of lanes, and more than those of one block.
const COUNTS: [usize; 7] = [0, 1, 15, 16, 17, 2049, 5000];

#[differentiate(wrt(effects, scale))]
fn effects_of_groups(effects: &[f64], scale: f64, group: &[usize], y: &[f64]) -> f64 {
    let mut total = 0.0;
    for (&g, y) in group.iter().zip(y) {
        let r = (y - effects[g]) / scale;
        total += r * r + r.sin();
    }
    total
}

#[test]
fn looked_up_numbers() {
    let effects = numbers(7, 0);
    for n in COUNTS {
        let (group, y) = (below(n, 7, 100), numbers(n, 10_000));
        let (value, (de, ds)) = effects_of_groups_value_and_grad(&effects, 0.7, &group, &y);
        let half = n / 3;
        let (v1, (e1, s1)) = effects_of_groups_value_and_grad(&effects, 0.7, &group[..half], &y[..half]);
        let (v2, (e2, s2)) = effects_of_groups_value_and_grad(&effects, 0.7, &group[half..], &y[half..]);
        assert_close(&[value, ds], &[v1 + v2, s1 + s2]);
        assert_close(&de, &e1.iter().zip(&e2).map(|(a, b)| a + b).collect::<Vec<_>>());
        assert_close(&[value], &[effects_of_groups(&effects, 0.7, &group, &y)]);
    }
    // More labels than measurements: the rest of them is not read.
    let (group, y) = (below(40, 7, 5), numbers(30, 3));
    ad::check_grad!(effects_of_groups(&effects, 0.7, &group, &y));
}

#[test]
#[should_panic(expected = "index out of range: `effects[g]`")]
fn a_label_that_is_not_there() {
    let (mut group, y) = (below(3000, 7, 100), numbers(3000, 10_000));
    group[2999] = 7;
    effects_of_groups_value_and_grad(&numbers(7, 0), 0.7, &group, &y);
}

#[differentiate(wrt(points))]
fn springs(points: &Array2<f64>, ends: &[[usize; 2]], lengths: &[f64]) -> f64 {
    let mut energy = 0.0;
    for (e, &[a, b]) in ends.iter().enumerate() {
        let dx = points[[a, 0]] - points[[b, 0]];
        let dy = points[[a, 1]] - points[[b, 1]];
        let stretch = (dx * dx + dy * dy + 0.01).sqrt() - lengths[e];
        energy += 0.5 * stretch * stretch;
    }
    energy
}

#[test]
fn several_scatters_of_one_item() {
    let points = Array2::from_shape_fn((9, 3), |(i, j)| number(3 * i + j));
    for n in COUNTS {
        let (a, b) = (below(n, 9, 0), below(n, 9, 7000));
        let ends: Vec<[usize; 2]> = a.into_iter().zip(b).map(|(a, b)| [a, b]).collect();
        let lengths = numbers(n, 200);
        let (value, g) = springs_value_and_grad(&points, &ends, &lengths);
        let half = n / 2;
        let (v1, g1) = springs_value_and_grad(&points, &ends[..half], &lengths[..half]);
        let (v2, g2) = springs_value_and_grad(&points, &ends[half..], &lengths[half..]);
        assert_close(&[value], &[v1 + v2]);
        assert_close(&g.into_raw_vec_and_offset().0, &(g1 + g2).into_raw_vec_and_offset().0);
        if n < 20 {
            ad::check_grad!(springs(&points, &ends, &lengths));
        }
    }
}

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

#[test]
fn scatters_of_rows_that_continue_each_other() {
    let entity = Array2::from_shape_fn((11, 5), |(i, j)| number(5 * i + j));
    let relation = Array2::from_shape_fn((3, 5), |(i, j)| number(500 + 5 * i + j));
    for n in COUNTS {
        let at = |k: usize, bound| below(n, bound, 1000 * k);
        let (head, kind, tail, wrong) = (at(0, 11), at(1, 3), at(2, 11), at(3, 11));
        let facts: Vec<[usize; 4]> = (0..n).map(|i| [head[i], kind[i], tail[i], wrong[i]]).collect();
        let (value, (de, dr)) = relations_value_and_grad(&entity, &relation, &facts);
        let half = n / 2;
        let (v1, (e1, r1)) = relations_value_and_grad(&entity, &relation, &facts[..half]);
        let (v2, (e2, r2)) = relations_value_and_grad(&entity, &relation, &facts[half..]);
        assert_close(&[value], &[v1 + v2]);
        assert_close(de.as_slice().unwrap(), (e1 + e2).as_slice().unwrap());
        assert_close(dr.as_slice().unwrap(), (r1 + r2).as_slice().unwrap());
        if n < 20 {
            ad::check_grad!(relations(&entity, &relation, &facts));
        }
    }
}

#[differentiate(wrt(w, x))]
fn means_of_neighbours(w: &Array2<f64>, x: &Array2<f64>, start: &[usize], neighbour: &[usize]) -> f64 {
    let mut means = Array2::zeros(x.raw_dim());
    for i in 0..x.nrows() {
        for &j in &neighbour[start[i]..start[i + 1]] {
            means.row_mut(i).scaled_add(0.5, &x.row(j));
        }
    }
    means.dot(w).mapv(f64::tanh).sum()
}

#[test]
fn rows_of_neighbours() {
    let x = Array2::from_shape_fn((6, 3), |(i, j)| number(3 * i + j));
    let w = Array2::from_shape_fn((3, 2), |(i, j)| number(40 + 2 * i + j));
    let (start, neighbour) = ([0, 2, 2, 3, 7, 8, 8], [1, 5, 0, 3, 4, 2, 3, 1]);
    ad::check_grad!(means_of_neighbours(&w, &x, &start, &neighbour));
}

/// A number and one before it: a row of an array, and elements at a computed index.
#[differentiate]
fn delayed(x: &[f64]) -> f64 {
    let mut s = 0.0;
    for i in 0..x.len() {
        s += x[i] * x[i.saturating_sub(2)];
    }
    s
}

#[test]
fn rows_and_gathers_of_one_array() {
    for n in [0, 1, 2, 3, 15, 16, 17, 33] {
        let x = numbers(n, 7);
        let value: f64 = (0..n).map(|i| x[i] * x[i.max(2) - 2]).sum();
        let gradient: Vec<f64> = (0..n)
            .map(|k| {
                let own = x[k.max(2) - 2];
                let later = if k + 2 < n { x[k + 2] } else { 0.0 };
                let first = if k == 0 { x[..n.min(2)].iter().sum() } else { 0.0 };
                own + later + first
            })
            .collect();
        let (found, g) = delayed_value_and_grad(&x);
        assert_close(&[found], &[value]);
        assert_close(&g, &gradient);
    }
}

/// The energy of pairs of points, by loops over the coordinates and written out.
#[differentiate]
fn pairs(p: &[[f64; 3]]) -> f64 {
    let mut energy = 0.0;
    for i in 0..p.len() {
        for j in 0..i {
            let mut r2 = 0.1;
            for c in 0..3 {
                let d = p[i][c] - p[j][c];
                r2 += d * d;
            }
            energy += 1.0 / (r2 * r2) - 1.0 / r2;
        }
    }
    energy
}

#[differentiate]
fn pairs_written_out(p: &[[f64; 3]]) -> f64 {
    let mut energy = 0.0;
    for i in 0..p.len() {
        for j in 0..i {
            let (dx, dy, dz) = (p[i][0] - p[j][0], p[i][1] - p[j][1], p[i][2] - p[j][2]);
            let r2 = 0.1 + dx * dx + dy * dy + dz * dz;
            energy += 1.0 / (r2 * r2) - 1.0 / r2;
        }
    }
    energy
}

#[test]
fn triangles_of_pairs() {
    for n in [0, 1, 2, 3, 16, 17, 18, 33, 40] {
        let p: Vec<[f64; 3]> = (0..n).map(|i| [number(3 * i), number(3 * i + 1), number(3 * i + 2)]).collect();
        let (value, g) = pairs_value_and_grad(&p);
        let (v2, g2) = pairs_written_out_value_and_grad(&p);
        assert_close(&[value], &[v2]);
        assert_close(g.as_flattened(), g2.as_flattened());
        if (1..10).contains(&n) {
            ad::check_grad!(pairs(&p));
        }
    }
}

/// A short loop over small arrays, in a long one.
#[differentiate]
fn steps(rates: [f64; 2], start: [f64; 2], seen: &[[f64; 2]]) -> f64 {
    let mut s = start;
    let mut total = 0.0;
    for y in seen {
        let k = [rates[0] * s[1] - s[0], rates[1] * s[0] * s[1]];
        for c in 0..2 {
            s[c] += 0.1 * k[c];
            total += (s[c] - y[c]).powi(2);
        }
    }
    total
}

#[test]
fn short_loops_of_scalars() {
    let seen: Vec<[f64; 2]> = (0..9).map(|i| [number(i), number(50 + i)]).collect();
    ad::check_grad!(steps([0.3, -0.4], [0.5, 0.8], &seen));
}
