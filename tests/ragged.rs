//! Lists of arrays of several shapes: every derivative against finite differences.

#![deny(unsafe_code)]
#![deny(warnings, missing_docs, clippy::all, clippy::pedantic)]
#![allow(
    clippy::cast_possible_truncation,
    clippy::cast_precision_loss,
    clippy::float_cmp,
    clippy::needless_pass_by_value,
    clippy::needless_range_loop,
    clippy::ptr_arg,
    reason = "types are spelt out, and formulas are written with indices"
)]

use ad::ndarray;
use ad::prelude::*;

/// Rows of several lengths.
#[differentiate(grad, vjp, jvp, hvp, pullback, into)]
fn rows(rows: &[Vec<f64>]) -> f64 {
    let mut s = 0.0;
    for row in rows {
        s += row.iter().map(|v| v * v * v).sum::<f64>();
    }
    s
}

#[test]
fn rows_of_several_lengths() {
    let rs = vec![vec![1.0, 2.0], vec![], vec![3.0, 0.5, 0.1], vec![0.7]];
    assert_eq!(rows_grad(&rs), rs.iter().map(|r| r.iter().map(|v| 3.0 * (v * v)).collect()).collect::<Vec<Vec<f64>>>());
    ad::check_grad!(rows(&rs));
    ad::check_grad!(rows(&[]));
    ad::check_grad!(rows(&[vec![], vec![]]));
    ad::check_grad!(rows(&[vec![1.0, 2.0], vec![3.0, 4.0]]));
}

/// Elements by index, and a length.
#[differentiate(grad, jvp, hvp)]
fn indexed(rows: &Vec<Vec<f64>>, at: &[Vec<usize>]) -> f64 {
    let mut s = 0.0;
    for i in 0..rows.len() {
        for j in 0..rows[i].len() {
            s += rows[i][j].sin() * (i + 2 * j) as f64;
        }
        for &k in &at[i] {
            s += rows[k][0] * rows[i].len() as f64;
        }
    }
    s
}

#[test]
fn elements_of_rows() {
    let rs = vec![vec![1.0, 2.0], vec![0.2], vec![3.0, 0.5, 0.1], vec![0.7]];
    let at = vec![vec![1, 2], vec![], vec![0], vec![3, 3, 1]];
    ad::check_grad!(indexed(&rs, &at));
}

/// Graph: neighbours are constants.
#[differentiate(grad, hvp)]
fn graph(x: &[f64], neighbours: &[Vec<usize>]) -> f64 {
    let mut energy = 0.0;
    for (i, row) in neighbours.iter().enumerate() {
        for &j in row {
            energy += (x[i] - x[j]).powi(2) * x[i].cos();
        }
    }
    energy
}

#[test]
fn neighbours_of_nodes() {
    let x = [0.5, 1.5, -0.3, 0.9];
    let near = vec![vec![1, 2, 3], vec![0], vec![], vec![0, 1]];
    ad::check_grad!(graph(&x, &near));
}

/// Matrices that are summed.
#[differentiate(grad, vjp, jvp, hvp, pullback, into)]
fn norms(list: &[Array2<f64>], biases: &Vec<Array1<f64>>) -> f64 {
    let mut s = 0.0;
    for (w, b) in list.iter().zip(biases) {
        s += w.mapv(|v| v * v).sum() * b.sum() + w[[0, 0]];
    }
    s
}

#[test]
fn matrices_of_several_shapes() {
    let m = |r: usize, c: usize| Array2::from_shape_fn((r, c), |(i, j)| 0.3 + 0.1 * i as f64 - 0.2 * j as f64);
    let list = [m(2, 3), m(1, 1), m(4, 2)];
    let biases = vec![array![0.1, 0.4], array![1.0], Array1::zeros(0)];
    let (g, _) = norms_grad(&list, &biases);
    assert_eq!(g[2].dim(), (4, 2));
    ad::check_grad!(norms(&list, &biases));
}

/// A layer.
#[derive(Clone, Debug, PartialEq, Differentiable)]
struct Layer {
    w: Array2<f64>,
    b: Array1<f64>,
}

/// A network.
#[derive(Clone, Debug, PartialEq, Differentiable)]
struct Network {
    layers: Vec<Layer>,
    scale: f64,
}

fn layer(r: usize, c: usize) -> Layer {
    Layer {
        w: Array2::from_shape_fn((r, c), |(i, j)| 0.3 - 0.1 * (i as f64 + 0.5).sin() * (1.0 + j as f64)),
        b: Array1::from_shape_fn(r, |i| 0.1 * i as f64 - 0.1),
    }
}

/// A forward pass.
#[differentiate(grad, vjp, jvp, hvp, pullback, into)]
fn forward(net: &Network, x: &Array1<f64>) -> f64 {
    let mut h = x.clone();
    for layer in &net.layers {
        h = (layer.w.dot(&h) + &layer.b).mapv(f64::tanh);
    }
    h.sum() * net.scale
}

#[test]
fn a_network_of_layers_of_several_sizes() {
    let x = array![0.5, -0.3, 0.8, 0.1];
    let net = Network { layers: vec![layer(3, 4), layer(5, 3), layer(2, 5)], scale: 1.3 };
    let (g, _) = forward_grad(&net, &x);
    assert_eq!(g.layers.iter().map(|l| l.w.dim()).collect::<Vec<_>>(), [(3, 4), (5, 3), (2, 5)]);
    ad::check_grad!(forward(&net, &x));
    ad::check_grad!(forward(&Network { layers: vec![], scale: 2.0 }, &x));
    ad::check_grad!(forward(&Network { layers: vec![layer(4, 4), layer(4, 4)], scale: 2.0 }, &x));
}

/// A forward pass of many examples.
#[differentiate(grad, vjp, jvp, hvp, pullback, into)]
fn batched(net: &Network, x: &Array2<f64>) -> f64 {
    let mut h = x.clone();
    for layer in &net.layers {
        h = (h.dot(&layer.w.t()) + &layer.b).mapv(f64::tanh);
    }
    h.mapv(|v| v * v).sum() * net.scale
}

#[test]
fn a_network_of_many_examples() {
    let x = array![[0.5, -0.3, 0.8, 0.1], [0.1, 0.2, 0.3, 0.4], [0.0, -1.0, 1.0, 0.5]];
    let net = Network { layers: vec![layer(3, 4), layer(5, 3), layer(2, 5)], scale: 1.3 };
    ad::check_grad!(batched(&net, &x));
}

/// A layer of one of several kinds.
#[derive(Clone, Debug, PartialEq, Differentiable)]
enum Kind {
    /// A matrix.
    Dense(Array2<f64>, Array1<f64>),
    /// A factor for each element.
    Scale(Array1<f64>),
    /// A function.
    Tanh,
}

/// A network of kinds.
#[differentiate(grad, jvp, hvp)]
fn kinds(layers: &[Kind], x: &Array1<f64>) -> f64 {
    let mut h = x.clone();
    for layer in layers {
        h = match layer {
            Kind::Dense(w, b) => w.dot(&h) + b,
            Kind::Scale(s) => &h * s,
            Kind::Tanh => h.mapv(f64::tanh),
        };
    }
    h.sum()
}

#[test]
fn an_enum_of_layers() {
    let x = array![0.5, -0.3, 0.8, 0.1];
    let dense = |r, c| Kind::Dense(layer(r, c).w, layer(r, c).b);
    let layers =
        [dense(3, 4), Kind::Tanh, Kind::Scale(array![0.5, 1.5, 2.0]), dense(2, 3), Kind::Scale(array![0.5, 1.5])];
    ad::check_grad!(kinds(&layers, &x));
}

fn several() -> Network {
    Network { layers: vec![layer(3, 4), layer(5, 3), layer(2, 5)], scale: 1.3 }
}

fn input() -> Array1<f64> {
    array![0.5, -0.3, 0.8, 0.1]
}

/// Layers by index, the last one without a function, and sums of squares.
#[differentiate(grad, jvp)]
fn by_index(net: &Network, x: &Array1<f64>, decay: f64) -> f64 {
    let mut h = x.to_owned();
    let n = net.layers.len();
    for i in 0..n {
        let layer = &net.layers[i];
        let z = layer.w.dot(&h) + &layer.b;
        h = if i + 1 < n { z.mapv(|v| v.max(0.1 * v)) } else { z };
    }
    let mut penalty = 0.0;
    for layer in &net.layers {
        penalty += layer.w.iter().map(|v| v * v).sum::<f64>() / layer.w.len() as f64;
    }
    logsumexp(&h) + decay * penalty
}

#[test]
fn layers_by_index() {
    ad::check_grad!(by_index(&several(), &input(), 0.1));
}

/// Element by element.
#[differentiate(grad, jvp)]
fn elementwise(weights: &[Array2<f64>], x: &[f64]) -> f64 {
    let mut h = x.to_vec();
    for w in weights {
        let mut out = vec![0.0; w.nrows()];
        for i in 0..w.nrows() {
            for j in 0..w.ncols() {
                out[i] += w[[i, j]] * h[j];
            }
        }
        h = out.iter().map(|v| v.tanh()).collect();
    }
    h.iter().sum()
}

#[test]
fn products_element_by_element() {
    let weights: Vec<Array2<f64>> = several().layers.into_iter().map(|l| l.w).collect();
    ad::check_grad!(elementwise(&weights, &[0.5, -0.3, 0.8, 0.1]));
}

/// Steps around the layers.
#[differentiate(grad, jvp)]
fn steps(net: &Network, x: &Array1<f64>) -> f64 {
    let mut total = 0.0;
    for k in 0..3 {
        let mut h = x * f64::from(k);
        for layer in &net.layers {
            h = (layer.w.dot(&h) + &layer.b).mapv(f64::sin);
        }
        total += h.dot(&h);
    }
    total
}

#[test]
fn layers_in_an_inner_loop() {
    ad::check_grad!(steps(&several(), &input()));
}

/// A fixed layer first, and rows of matrices.
#[differentiate(grad, jvp)]
fn parts_of_matrices(weights: &[Array2<f64>], x: &Array1<f64>) -> f64 {
    let first = weights[0].dot(x);
    let mut s = first.sum();
    for w in weights {
        for row in w.rows() {
            s += row.sum().sin();
        }
        s += w.row(0).dot(&w.row(w.nrows() - 1)) + w.t().dot(w).sum() + w.sum_axis(Axis(0)).product();
    }
    for (w, v) in weights.iter().zip(weights.iter().skip(1)) {
        s += v.dot(w).sum();
    }
    s
}

#[test]
fn parts_and_products_of_matrices() {
    let weights: Vec<Array2<f64>> = several().layers.into_iter().map(|l| l.w).collect();
    ad::check_grad!(parts_of_matrices(&weights, &input()));
}

/// The panic message of a call.
fn message<R>(call: impl FnOnce() -> R) -> String {
    let panic = std::panic::catch_unwind(std::panic::AssertUnwindSafe(call)).err().expect("no panic");
    let text = panic.downcast_ref::<String>().cloned();
    text.or_else(|| panic.downcast_ref::<&str>().map(ToString::to_string)).unwrap_or_default()
}

#[test]
fn tangents_have_the_shapes_of_the_arguments() {
    let rs = [vec![1.0, 2.0], vec![3.0]];
    let said = message(|| rows_jvp(&rs, &[vec![1.0], vec![2.0, 3.0]]));
    assert!(said.contains("do not have the shapes of those of `rows`"), "{said}");
    let said = message(|| rows_jvp(&rs, &[vec![1.0, 1.0], vec![2.0, 3.0]]));
    assert!(said.contains("`rows`"), "{said}");
}

#[test]
fn layers_that_do_not_fit_panic() {
    let net = Network { layers: vec![layer(3, 4), layer(5, 2)], scale: 1.3 };
    let said = message(|| forward_grad(&net, &input()));
    assert!(said.contains("layer.w.dot(&h)"), "{said}");
}

#[test]
fn arrays_may_have_any_memory_layout() {
    let m = Array2::from_shape_fn((3, 4), |(i, j)| 0.3 + (i * j) as f64);
    let (list, biases) =
        ([m.clone().reversed_axes(), m.slice(s![1.., ..;2]).to_owned()], vec![array![1.0], array![2.0]]);
    let standard = list.clone().map(|a| a.as_standard_layout().into_owned());
    assert_eq!(norms_value_and_grad(&list, &biases), norms_value_and_grad(&standard, &biases));
}

/// A model with methods.
#[derive(Clone, Debug, PartialEq, Differentiable)]
struct Model {
    weights: Vec<Array2<f64>>,
    gains: Vec<Vec<f64>>,
}

#[differentiate]
impl Model {
    fn run(&self, x: &Array1<f64>) -> Array1<f64> {
        let mut h = x.clone();
        for (w, gain) in self.weights.iter().zip(&self.gains) {
            h = w.dot(&h).mapv(f64::tanh);
            let mut all = 1.0;
            for g in gain {
                all *= *g;
            }
            h *= all;
        }
        h
    }

    /// The loss.
    #[differentiate(grad, jvp, pullback)]
    fn loss(&self, x: &Array1<f64>) -> f64 {
        self.run(x).sum()
    }
}

#[test]
fn methods() {
    let weights = several().layers.into_iter().map(|l| l.w).collect();
    let model = Model { weights, gains: vec![vec![0.5, 2.0], vec![], vec![3.0]] };
    ad::check_grad!(model.loss(&input()));
}

/// A function that is generic over the number type.
#[differentiate(grad, jvp)]
fn generic<T: Real>(weights: &[Array2<T>], x: &Array1<T>) -> T {
    let mut h = x.clone();
    for w in weights {
        h = w.dot(&h).mapv(T::tanh);
    }
    h.sum()
}

#[test]
fn any_number_type() {
    let weights: Vec<Array2<f64>> = several().layers.into_iter().map(|l| l.w).collect();
    ad::check_grad!(generic(&weights, &input()));
    let small: Vec<Array2<f32>> = weights.iter().map(|w| w.mapv(|v| v as f32)).collect();
    assert_eq!(generic_grad(&small, &input().mapv(|v| v as f32)).0[1].dim(), (5, 3));
}

/// The trace of the Hessian.
#[differentiate(laplacian)]
fn quartic(rows: &[Vec<f64>]) -> f64 {
    let mut s = 0.0;
    for row in rows {
        s += row.iter().map(|v| v * v).sum::<f64>().powi(2);
    }
    s
}

#[test]
fn laplacians_of_rows() {
    // Of |r|^4 in n dimensions: (4 n + 8) |r|^2.
    assert!((quartic_laplacian(&[vec![1.0, 2.0], vec![3.0]]) - (16.0 * 5.0 + 12.0 * 9.0)).abs() < 1e-10);
}

/// Messages along the edges of a graph, in rounds. There may be more lists than nodes.
#[differentiate(grad, jvp, hvp)]
fn rounds(x: &[f64], neighbours: &[Vec<usize>]) -> f64 {
    let mut h = x.to_vec();
    for _ in 0..3 {
        let mut next = vec![0.0; h.len()];
        for i in 0..h.len() {
            for &j in &neighbours[i] {
                next[i] += (h[i] * h[j]).tanh();
            }
        }
        h = next;
    }
    h.iter().map(|v| v * v).sum()
}

#[test]
fn messages_between_neighbours() {
    let x = [0.5, 1.5, -0.3, 0.9];
    let near = vec![vec![1, 2, 3], vec![0], vec![], vec![0, 1], vec![0, 1, 2, 3, 0, 1]];
    ad::check_grad!(rounds(&x, &near));
    ad::check_grad!(rounds(&x[..2], &near[1..4].iter().map(|_| vec![1, 0, 0]).collect::<Vec<_>>()));
}

/// A softmax of each row, and the first two elements of each row.
#[differentiate(grad, jvp, hvp, pullback)]
fn shares(rows: &[Vec<f64>], y: &[f64]) -> f64 {
    let mut s = 0.0;
    for (i, row) in rows.iter().enumerate() {
        let total = row.iter().map(|v| v.exp()).sum::<f64>();
        s += row.iter().enumerate().map(|(k, v)| v.exp() / total * y[k]).sum::<f64>();
        s += row.iter().take(2).map(|v| (v * y[i]).sin()).sum::<f64>();
    }
    s
}

#[test]
fn a_softmax_of_each_row() {
    let rs = vec![vec![1.0, 2.0], vec![0.2], vec![3.0, 0.5, 0.1, -0.4], vec![], vec![0.7, -0.2, 0.1]];
    ad::check_grad!(shares(&rs, &[0.3, 0.9, -0.5, 1.2, 0.8]));
}

/// Vectors of the neighbours of a node.
#[differentiate(grad, jvp)]
fn distances(x: &Array2<f64>, neighbours: &[Vec<usize>]) -> f64 {
    let mut s = 0.0;
    for (i, row) in neighbours.iter().enumerate() {
        for &j in row {
            s += x.row(i).dot(&x.row(j)).tanh();
        }
    }
    s
}

#[test]
fn vectors_of_neighbours() {
    let x = Array2::from_shape_fn((4, 3), |(i, j)| ((3 * i + j) as f64 * 0.7).sin());
    ad::check_grad!(distances(&x, &[vec![1, 2, 3], vec![0], vec![], vec![0, 1, 3]]));
}

/// Rows between offsets, as in a sparse matrix.
#[differentiate(grad, jvp, hvp, wrt(x))]
fn between(x: &[f64], offsets: &[usize], columns: &[usize]) -> f64 {
    let mut s = 0.0;
    for i in 0..offsets.len() - 1 {
        let mut t = 0.0;
        for p in offsets[i]..offsets[i + 1] {
            t += (x[columns[p]] * x[i]).exp();
        }
        s += t.ln_1p();
    }
    s
}

#[test]
fn rows_between_offsets() {
    ad::check_grad!(between(&[0.5, 1.5, -0.3, 0.9], &[0, 2, 2, 6, 7], &[1, 2, 0, 3, 3, 1, 0]));
    // A row whose end is before its start has no elements.
    let value = between_grad(&[0.5, 1.5, -0.3], &[2, 0, 3], &[1, 2, 0]);
    assert_eq!(value, between_grad(&[0.5, 1.5, -0.3], &[0, 0, 3], &[1, 2, 0]));
}

/// Elements that do not exist have no effect, whatever the other factors of the product are.
/// The mean of rows that offsets say.
#[differentiate(grad, jvp, hvp)]
fn means(x: &Array2<f64>, offsets: &[usize], rows: &[usize]) -> f64 {
    let mut s = 0.0;
    for i in 0..offsets.len() - 1 {
        let mut mean = Array1::<f64>::zeros(x.ncols());
        for p in offsets[i]..offsets[i + 1] {
            mean += &x.row(rows[p]);
        }
        mean /= (offsets[i + 1] - offsets[i]) as f64 + 0.5;
        s += mean.mapv(f64::sin).sum() * (i + 1) as f64;
    }
    s
}

/// The same sums by elements of a flat table, whose rows may be empty.
#[differentiate(grad, jvp, hvp)]
fn flat_means(x: &[f64], columns: usize, offsets: &[usize], rows: &[usize]) -> f64 {
    let mut s = 0.0;
    for i in 0..offsets.len() - 1 {
        let mut mean = vec![0.0; columns];
        for p in offsets[i]..offsets[i + 1] {
            for k in 0..columns {
                mean[k] += x[rows[p] * columns + k];
            }
        }
        for m in &mean {
            s += (m / ((offsets[i + 1] - offsets[i]) as f64 + 0.5)).sin() * (i + 1) as f64;
        }
    }
    s
}

/// Forces between neighbours in space, and an array that several rows add to.
#[differentiate(grad, jvp, hvp)]
fn forces(x: &[[f64; 3]], offsets: &[usize], neighbours: &[usize]) -> f64 {
    let mut all = vec![0.0; x.len()];
    let mut s = 0.0;
    for i in 0..offsets.len() - 1 {
        let mut f = [0.0; 3];
        for p in offsets[i]..offsets[i + 1] {
            let q = x[neighbours[p]];
            for c in 0..3 {
                f[c] -= (q[c] - x[i][c]).tanh();
            }
            all[neighbours[p]] += q[0] * f[1];
        }
        s += f[0] * f[1] + f[2];
    }
    s + all.iter().map(|a| a.sin()).sum::<f64>()
}

#[test]
fn arrays_are_sums_over_offsets() {
    let x = Array2::from_shape_fn((5, 3), |(i, k)| 0.3 * i as f64 - 0.2 * k as f64 + 0.1);
    let flat: Vec<f64> = x.iter().copied().collect();
    let (offsets, rows) = ([0, 2, 2, 5, 6], [4, 1, 0, 0, 3, 2]);
    ad::check_grad!(means(&x, &offsets, &rows));
    ad::check_grad!(flat_means(&flat, 3, &offsets, &rows));
    assert!((means(&x, &offsets, &rows) - flat_means(&flat, 3, &offsets, &rows)).abs() < 1e-12);
    let (a, b) = (means_grad(&x, &offsets, &rows), flat_means_grad(&flat, 3, &offsets, &rows));
    assert!(a.iter().zip(&b).all(|(a, b)| (a - b).abs() < 1e-12));
    // Without columns nothing is read: neither the table nor its rows.
    assert_eq!(flat_means_grad(&[], 0, &[0, 3, 9], &[]), Vec::<f64>::new());
    let points: Vec<[f64; 3]> = x.rows().into_iter().map(|r| [r[0], r[1], r[2]]).collect();
    ad::check_grad!(forces(&points, &offsets, &rows));
}

#[test]
fn offsets_behind_the_rows_panic_as_in_the_function() {
    let x = Array2::<f64>::ones((2, 3));
    let text = message(|| means_grad(&x, &[0, 3], &[0, 1]));
    assert!(text.contains("`rows[p]`"), "{text}");
    let text = message(|| between_grad(&[0.5, 0.1, 0.2], &[0, 3], &[1, 2]));
    assert!(text.contains("`columns[p]`"), "{text}");
    let text = message(|| flat_means_grad(&[0.0; 6], 3, &[0, 1, 2], &[0, 2]));
    assert!(text.contains("`x[rows[p] * columns + k]`"), "{text}");
}

#[test]
fn infinite_numbers_stay_in_their_layer() {
    let mut net = several();
    let x = ndarray::stack![Axis(0), input(), input()];
    let finite = batched_grad(&net, &x);
    let last = net.layers.len() - 1;
    net.layers[last].b.fill(f64::INFINITY);
    let infinite = batched_grad(&net, &x);
    assert_eq!(finite.0.layers[0].w.dim(), infinite.0.layers[0].w.dim());
    assert!(infinite.0.layers.iter().all(|layer| layer.w.iter().all(|v| v.is_finite())));
}

/// Networks of random sizes.
#[test]
fn networks_of_random_sizes() {
    let mut rng = fastrand::Rng::with_seed(7);
    for _ in 0..20 {
        let sizes: Vec<usize> = (0..rng.usize(1..6)).map(|_| rng.usize(0..6)).collect();
        let mut random = |n: usize| Array1::from_shape_fn(n, |_| rng.f64() - 0.5);
        let x = random(sizes[0]);
        let layers = sizes.windows(2).map(|n| Layer {
            w: random(n[1] * n[0]).into_shape_with_order((n[1], n[0])).expect("a matrix"),
            b: random(n[1]),
        });
        let net = Network { layers: layers.collect(), scale: 1.5 };
        ad::check_grad!(forward(&net, &x));
        let both = ndarray::stack![Axis(0), x, x.mapv(|v| v * v)];
        ad::check_grad!(batched(&net, &both));
    }
}
