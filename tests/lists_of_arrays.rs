//! Lists of arrays, `&[Array2<f64>]` and `Vec<Vec<f64>>`, alone and in the fields of structs; and
//! static arrays of structs, `[Body; 3]`: every derivative against finite differences.

#![forbid(unsafe_code)]
#![deny(warnings, missing_docs, clippy::all, clippy::pedantic)]
#![allow(
    clippy::cast_precision_loss,
    clippy::float_cmp,
    clippy::needless_pass_by_value,
    clippy::needless_range_loop,
    clippy::ptr_arg,
    reason = "types are spelt out, and formulas are written with indices"
)]

use ad::prelude::*;

/// The weights of layers.
#[differentiate(grad, jvp, hvp, pullback, jacobian)]
fn network(weights: &[Array2<f64>], biases: &[Array1<f64>], x: &Array1<f64>) -> f64 {
    let mut h = x.clone();
    for (w, b) in weights.iter().zip(biases) {
        h = (w.dot(&h) + b).mapv(f64::tanh);
    }
    h.sum()
}

fn weights() -> (Vec<Array2<f64>>, Vec<Array1<f64>>) {
    let w = |k: f64| Array2::from_shape_fn((2, 2), |(i, j)| 0.3 + k * 0.1 - 0.2 * (i + 2 * j) as f64);
    (vec![w(1.0), w(2.0), w(-1.0)], vec![array![0.1, 0.2], array![-0.1, 0.3], array![0.0, 0.5]])
}

#[test]
fn weights_are_a_list_of_matrices() {
    let ((w, b), x) = (weights(), array![0.4, -0.6]);
    let (dw, db, dx): (Vec<Array2<f64>>, Vec<Array1<f64>>, Array1<f64>) = network_grad(&w, &b, &x);
    assert_eq!((dw.len(), db.len(), dx.len()), (3, 3, 2));
    let (value, tangent) = network_jvp(&w, &b, &x, &dw, &db, &dx);
    let squares: f64 = dw.iter().map(|d| d.mapv(|v| v * v).sum()).sum();
    let squares = squares + db.iter().map(|d| d.dot(d)).sum::<f64>() + dx.dot(&dx);
    assert!((tangent - squares).abs() < 1e-13, "{value} {tangent} {squares}");
    ad::check_grad!(network(&w, &b, &x));
    assert_eq!(network_value_and_grad(&[], &[], &x), (x.sum(), (vec![], vec![], array![1.0, 1.0])));
}

/// The panic message of a call.
fn message<R>(call: impl FnOnce() -> R) -> String {
    let panic = std::panic::catch_unwind(std::panic::AssertUnwindSafe(call)).err().expect("no panic");
    let text = panic.downcast_ref::<String>().cloned();
    text.or_else(|| panic.downcast_ref::<&str>().map(ToString::to_string)).unwrap_or_default()
}

#[test]
fn jacobians_refuse_arrays_of_several_shapes_by_name() {
    let ((mut w, b), x) = (weights(), array![0.4, -0.6]);
    w[1] = Array2::zeros((2, 3));
    let said = message(|| network_grad(&w, &b, &x));
    assert!(said.contains("the two vectors of a product have different lengths: `w.dot(&h)`"), "{said}");
    let said = message(|| network_jacobian(&w, &b, &x));
    assert!(said.contains("`weights`: the arrays of a list have to be of one shape"), "{said}");
    assert!(said.contains("array 1 is of shape [2, 3] instead of [2, 2]"), "{said}");
}

/// The layers of a network, whose accumulator changes its size. `network` is the loop that the
/// message names.
#[differentiate]
fn folded(weights: &[Array2<f64>], x: &Array1<f64>) -> f64 {
    weights.iter().fold(x.clone(), |h, w| w.dot(&h).mapv(f64::tanh)).sum()
}

#[test]
fn a_fold_over_layers_of_several_shapes_says_what_to_write() {
    let (mut w, x) = (weights().0, array![0.4, -0.6]);
    ad::check_grad!(folded(&w, &x));
    w[1] = Array2::from_elem((3, 2), 0.5);
    w[2] = Array2::from_elem((1, 3), 0.5);
    let said = message(|| folded_grad(&w, &x));
    assert!(said.contains("`weights`: the arrays of a list have to be of one shape"), "{said}");
    assert!(said.contains("go over the list with a `for` loop"), "{said}");
    let b = [array![0.0, 0.0], array![0.0, 0.0, 0.0], array![0.0]];
    ad::check_grad!(network(&w, &b, &x), grad);
}

/// Indices of one element as an array of static size, as ndarray takes them.
#[differentiate]
fn at(x: &Array2<f64>, first: [usize; 2], all: &[[usize; 2]]) -> f64 {
    let middle = [1, 0];
    x[first] * x[middle] + all.iter().map(|&at| x[at] * x[at]).sum::<f64>()
}

#[test]
fn arrays_of_indices() {
    let x = array![[1.0, 2.0], [3.0, 4.0]];
    assert_eq!(at_grad(&x, [0, 1], &[[1, 1], [0, 0]]), array![[2.0, 3.0], [2.0, 8.0]]);
    ad::check_grad!(at(&x, [0, 1], &[[1, 1], [0, 0], [0, 0]]));
    let said = message(|| at_grad(&x, [0, 2], &[]));
    assert!(said.contains("index out of range"), "{said}");
}

/// Rows of different origins, and indices.
#[differentiate(grad, vjp, jvp, hvp)]
fn rows(points: &Vec<Vec<f64>>, more: &[Vec<f64>], at: &[Vec<usize>]) -> f64 {
    let mut total = 0.0;
    for p in points {
        total += p[0].sin() * p[1];
        for v in p {
            total += v * v * v;
        }
    }
    for (i, row) in more.iter().enumerate() {
        total += row.iter().map(|v| v * i as f64).sum::<f64>() * points[at[i][0]][at[i][1]];
    }
    total + points.len() as f64 * points[0].len() as f64 * more[0][0]
}

#[test]
fn a_list_of_vectors_is_a_matrix() {
    let points = vec![vec![0.5, 1.5], vec![-0.5, 0.25], vec![0.75, 2.0]];
    let more = [vec![0.1, 0.2, 0.3], vec![0.4, 0.5, 0.6]];
    let at = [vec![0, 1], vec![2, 0]];
    let (gradient, _): (Vec<Vec<f64>>, Vec<Vec<f64>>) = rows_grad(&points, &more, &at);
    assert_eq!(gradient[1][1], (-0.5_f64).sin() + 3.0 * 0.25 * 0.25);
    ad::check_grad!(rows(&points, &more, &at));
}

/// A result.
#[differentiate(vjp, jvp, pullback)]
fn scaled(list: Vec<Array1<f64>>, by: f64) -> Vec<Array1<f64>> {
    list.iter().map(|a| a * by).collect()
}

#[test]
fn a_list_of_arrays_is_a_result() {
    let list = vec![array![1.0, 2.0], array![3.0, 4.0]];
    let (value, (back, by)) = scaled_vjp(list.clone(), 2.0, &list);
    assert_eq!(value, scaled(list.clone(), 2.0));
    assert_eq!((back, by), (value, 30.0));
    ad::check_grad!(scaled(list, 1.5));
}

/// A layer of a network.
#[derive(Clone, Debug, PartialEq, Differentiable)]
struct Layer {
    w: Array2<f64>,
    b: Array1<f64>,
    slopes: Vec<f64>,
    skips: bool,
}

/// A network.
#[derive(Clone, Debug, PartialEq, Differentiable)]
struct Network {
    layers: Vec<Layer>,
    scales: Vec<Array1<f64>>,
    table: Vec<Vec<f64>>,
}

#[differentiate(grad, jvp, hvp)]
fn forward(net: &Network, x: &Array1<f64>) -> f64 {
    let mut h = x.clone();
    for layer in &net.layers {
        let z = layer.w.dot(&h) + &layer.b;
        let out = z.mapv(f64::tanh) * layer.slopes[0];
        h = if layer.skips { out + &h } else { out };
    }
    for scale in &net.scales {
        h *= scale;
    }
    h.sum() + net.table[1][0].sin()
}

#[test]
fn a_network_is_a_struct_of_layers() {
    let (w, b) = weights();
    let skips = [true, false, true];
    let layers = w.into_iter().zip(b).zip(skips);
    let layers = layers.map(|((w, b), skips)| Layer { w, b, slopes: vec![0.9, 2.0], skips }).collect();
    let net = Network { layers, scales: vec![array![0.5, 2.0]; 2], table: vec![vec![0.1], vec![0.7]] };
    let x = array![0.4, -0.6];
    let (gradient, _): (Network, Array1<f64>) = forward_grad(&net, &x);
    assert_eq!(gradient.table, [[0.0], [0.7_f64.cos()]]);
    assert!(gradient.layers.iter().zip(&net.layers).all(|(d, l)| d.skips == l.skips && d.slopes[1] == 0.0));
    ad::check_grad!(forward(&net, &x));
}

/// A body.
#[derive(Clone, Copy, Debug, PartialEq, Differentiable)]
struct Body {
    mass: f64,
    at: [f64; 2],
    fixed: bool,
}

#[differentiate(grad, jvp, hvp, pullback)]
fn energy(bodies: &[Body; 3], pairs: [(f64, usize); 2]) -> f64 {
    let mut total = 0.0;
    for i in 0..3 {
        for j in 0..i {
            let d = [bodies[i].at[0] - bodies[j].at[0], bodies[i].at[1] - bodies[j].at[1]];
            total -= bodies[i].mass * bodies[j].mass / (d[0] * d[0] + d[1] * d[1]).sqrt();
        }
    }
    for (weight, k) in pairs {
        total += weight * bodies[k].mass;
    }
    total
}

/// A system of a size that its type says.
#[derive(Clone, Debug, PartialEq, Differentiable)]
struct System<const N: usize> {
    bodies: [Body; N],
    pairs: [(f64, usize); 2],
}

#[differentiate(grad, jvp)]
fn weight<const N: usize>(system: &System<N>) -> f64 {
    let mut total = 0.0;
    for body in &system.bodies {
        total += if body.fixed { body.mass } else { body.mass * body.at[0] * body.at[1] };
    }
    total + system.pairs[0].0 * system.bodies[1].mass
}

#[differentiate(vjp, jvp, pullback)]
fn moved(bodies: [Body; 2], by: f64) -> [Body; 2] {
    bodies.map(|b| Body { at: [b.at[0] + by, b.at[1] * by], ..b })
}

#[test]
fn static_arrays_of_structs() {
    let body = |k: f64| Body { mass: 1.0 + k, at: [k, 0.5 - k * k], fixed: k > 1.0 };
    let bodies = [body(0.0), body(1.0), body(2.0)];
    let pairs = [(0.5, 1), (1.5, 0)];
    let (gradient, of_pairs) = energy_grad(&bodies, pairs);
    assert_eq!(of_pairs, [(2.0, 1), (1.0, 0)]);
    assert!(gradient[2].fixed && !gradient[0].fixed);
    ad::check_grad!(energy(&bodies, pairs));
    let system = System { bodies, pairs };
    assert_eq!(weight_grad(&system).pairs, [(2.0, 1), (0.0, 0)]);
    ad::check_grad!(weight(&system));
    let two = [bodies[0], bodies[1]];
    assert_eq!(moved_vjp(two, 2.0, two).0, moved(two, 2.0));
    ad::check_grad!(moved(two, 1.5));
}
