//! A walk through small annotated functions. Each gradient is printed next to its central
//! difference quotient.
//!
//! ```text
//! cargo run --release --example tour
//! ```

mod rows;

use ad::ndarray::{Array, Dimension, array, concatenate};
use ad::prelude::*;

/// Scalars.
#[differentiate]
fn wave(x: f64, y: f64) -> f64 {
    let phase = x * y;
    phase.sin() * phase + x / y
}

/// Only the arm that is taken counts.
#[differentiate(wrt(x))]
fn huber(x: f64, limit: f64) -> f64 {
    let size = x.abs();
    if size < limit { 0.5 * x * x } else { limit * (size - 0.5 * limit) }
}

/// A closure, used twice.
#[differentiate]
fn gate(x: f64) -> f64 {
    let logistic = |v: f64| 1.0 / (1.0 + (-v).exp());
    logistic(x) * logistic(2.0 * x)
}

/// An array, element by element.
#[differentiate]
fn roughness(x: &Array1<f64>) -> f64 {
    let steps = build1(x.len() - 1, |i| x[i + 1] - x[i]);
    sum(&steps.mapv(|step| step * step))
}

/// A matrix, element by element.
#[differentiate]
fn affinity(x: &Array1<f64>) -> f64 {
    let pairs = build([x.len(), x.len()], |[i, j]| (-(x[i] - x[j]).powi(2)).exp());
    pairs.sum()
}

/// An array of integers says which rows are read; a row that is read twice counts twice.
#[differentiate]
fn lookup(table: &Array2<f64>, words: &[usize]) -> f64 {
    build1(words.len(), |i| table[[words[i], 0]] * table[[words[i], 1]]).sum()
}

/// Reads through a function of the index.
#[differentiate]
fn dealt(x: &Array1<f64>, y: &Array1<f64>) -> f64 {
    let half = x.len() / 2;
    let cards = gather([x.len()], x, |[i]| [i / 2 + i % 2 * half]);
    cards.dot(y)
}

/// Adds through a function of the index.
#[differentiate]
fn imbalance(x: &Array1<f64>, group: &Array1<usize>) -> f64 {
    let totals = scatter([2], x, |[i]| [group[i]]);
    (totals[0] - totals[1]).powi(2)
}

/// Products of matrices and vectors.
#[differentiate]
fn quadratic_form(a: &Array2<f64>, x: &Array1<f64>) -> f64 {
    x.dot(&a.t().dot(&a.dot(x)))
}

/// A matrix with a row, and with a scalar.
#[differentiate]
fn moved_and_scaled(m: &Array2<f64>, origin: &Array1<f64>, scale: f64) -> f64 {
    (scale * (m - origin)).mapv(f64::tanh).sum()
}

/// Reductions along an axis and of the whole.
#[differentiate]
fn variance(m: &Array2<f64>) -> f64 {
    let means = m.sum_axis(Axis(0)) / m.nrows() as f64;
    (m - &means).mapv(|v| v * v).mean().unwrap()
}

/// The difference between the soft maximum and the hard one.
#[differentiate]
fn softness(x: &Array1<f64>) -> f64 {
    logsumexp(x) - maximum(x)
}

/// An iterator over a slice.
#[differentiate]
fn length(x: &[f64]) -> f64 {
    x.iter().map(|v| v * v).sum::<f64>().sqrt()
}

/// A result that is an array: its Jacobian, from the left (`vjp`) and from the right (`jvp`).
#[differentiate(vjp, jvp, jacobian, pullback)]
fn probabilities(scores: &Array1<f64>) -> Array1<f64> {
    let total = logsumexp(scores);
    scores.mapv(|s| (s - total).exp())
}

/// Second derivatives, and a gradient into the caller's memory.
#[differentiate(grad, hvp, hessian, into)]
fn spring(x: &Array1<f64>) -> f64 {
    build1(x.len() - 1, |i| (x[i + 1] - x[i]).cosh()).sum() + x.dot(x) * x[0]
}

/// ndarray's own vocabulary: parts joined, and several arrays element by element.
#[differentiate]
fn joined(m: &Array2<f64>, w: &Array1<f64>) -> f64 {
    let wide = concatenate![Axis(1), m.view(), m.slice(s![..;-1, ..1])];
    let soft = Zip::from(&softmax(&wide)).and(&wide.tanh()).map_collect(|p, t| p * t);
    soft.dot(w).std(1.0) + norm(&wide.diag()) + wide.var_axis(Axis(0), 0.0).sum()
}

fn main() {
    let mut table = Table::new();

    let (x, y) = (1.1, 2.2);
    let (dx, dy) = wave_grad(x, y);
    table.row("wave", "x", &[dx], &[slope(x, |x| wave(x, y))]);
    table.row("", "y", &[dy], &[slope(y, |y| wave(x, y))]);

    for x in [0.3, -2.5] {
        let name = format!("huber({x})");
        table.row(&name, "x", &[huber_grad(x, 1.0)], &[slope(x, |x| huber(x, 1.0))]);
    }

    table.row("gate", "x", &[gate_grad(0.4)], &[slope(0.4, gate)]);

    let x = array![0.5, -1.0, 2.0, 1.5];
    table.arrays("roughness", "x", &roughness_grad(&x), &slopes(&x, roughness));
    table.arrays("affinity", "x", &affinity_grad(&x), &slopes(&x, affinity));

    let m = array![[1.0, 2.0], [3.0, -1.0]];
    let words = [1, 0, 1];
    table.arrays("lookup", "table", &lookup_grad(&m, &words), &slopes(&m, |m| lookup(m, &words)));

    let y = array![1.0, 2.0, 3.0, 4.0];
    let (dx, dy) = dealt_grad(&x, &y);
    table.arrays("dealt", "x", &dx, &slopes(&x, |x| dealt(x, &y)));
    table.arrays("", "y", &dy, &slopes(&y, |y| dealt(&x, y)));

    let group = array![0, 1, 1, 0];
    table.arrays("imbalance", "x", &imbalance_grad(&x, &group), &slopes(&x, |x| imbalance(x, &group)));

    let v = array![0.7, -0.2];
    let (da, dv) = quadratic_form_grad(&m, &v);
    table.arrays("quadratic_form", "a", &da, &slopes(&m, |m| quadratic_form(m, &v)));
    table.arrays("", "x", &dv, &slopes(&v, |v| quadratic_form(&m, v)));

    let (dm, dorigin, dscale) = moved_and_scaled_grad(&m, &v, 0.6);
    table.arrays("moved_and_scaled", "m", &dm, &slopes(&m, |m| moved_and_scaled(m, &v, 0.6)));
    table.arrays("", "origin", &dorigin, &slopes(&v, |v| moved_and_scaled(&m, v, 0.6)));
    table.row("", "scale", &[dscale], &[slope(0.6, |s| moved_and_scaled(&m, &v, s))]);

    table.arrays("variance", "m", &variance_grad(&m), &slopes(&m, variance));
    table.arrays("softness", "x", &softness_grad(&x), &slopes(&x, softness));

    let slice = x.to_vec();
    let quotients = slopes(&x, |x| length(&x.to_vec()));
    table.row("length", "x", &length_grad(&slice), &quotients.to_vec());

    let cotangent = array![1.0, 0.0, -2.0, 0.5];
    let (_, dx) = probabilities_vjp(&x, &cotangent);
    table.arrays("probabilities_vjp", "scores", &dx, &slopes(&x, |x| probabilities(x).dot(&cotangent)));
    let tangent = array![0.1, 0.2, -0.3, 0.4];
    let (_, moved) = probabilities_jvp(&x, &tangent);
    let quotient = (probabilities(&(&x + STEP * &tangent)) - probabilities(&(&x - STEP * &tangent))) / (2.0 * STEP);
    table.arrays("probabilities_jvp", "", &moved, &quotient);

    let jacobian = probabilities_jacobian(&x);
    table.arrays("probabilities_jacobian", "row 0", &jacobian.row(0).to_owned(), &slopes(&x, |x| probabilities(x)[0]));
    let (_, back) = probabilities_pullback(&x);
    table.arrays("probabilities_pullback", "", &back(&cotangent), &dx);

    let hessian = spring_hessian(&x);
    table.arrays("spring_hessian", "row 0", &hessian.row(0).to_owned(), &slopes(&x, |x| spring_grad(x)[0]));
    let product = spring_hvp(&x, &tangent);
    table.arrays("spring_hvp", "", &product, &slopes(&x, |x| spring_grad(x).dot(&tangent)));
    let mut place = Array1::zeros(4);
    spring_value_and_grad_into(&x, &mut place);
    table.arrays("spring, into", "x", &place, &slopes(&x, spring));
    ad::check_grad!(spring(&x));

    let w = array![0.5, -0.5, 2.0];
    let (dm, dw) = joined_grad(&m, &w);
    table.arrays("joined", "m", &dm, &slopes(&m, |m| joined(m, &w)));
    table.arrays("", "w", &dw, &slopes(&w, |w| joined(&m, w)));

    rows::show(&mut table);
    table.finish();
}

const STEP: f64 = 3e-4;
const TOLERANCE: f64 = 1e-8;

/// The central difference quotient of a function of a number, from two steps, so that the error is
/// of the fourth power of the step.
fn slope(x: f64, f: impl Fn(f64) -> f64) -> f64 {
    let quotient = |step: f64| (f(x + step) - f(x - step)) / (2.0 * step);
    (4.0 * quotient(STEP) - quotient(2.0 * STEP)) / 3.0
}

/// The same for every entry of an array.
fn slopes<D: Dimension>(x: &Array<f64, D>, f: impl Fn(&Array<f64, D>) -> f64) -> Array<f64, D> {
    let mut out = x.clone();
    for (k, out) in out.iter_mut().enumerate() {
        *out = slope(*out, |entry| {
            let mut moved = x.clone();
            moved.iter_mut().skip(k).take(1).for_each(|place| *place = entry);
            f(&moved)
        });
    }
    out
}

/// Prints gradients next to difference quotients, and remembers the largest difference.
struct Table {
    worst: f64,
}

impl Table {
    fn new() -> Self {
        println!("{:18} {:8} {:29} {:29} difference", "function", "wrt", "gradient", "difference quotient");
        Self { worst: 0.0 }
    }

    fn arrays<D: Dimension>(&mut self, name: &str, wrt: &str, gradient: &Array<f64, D>, quotient: &Array<f64, D>) {
        assert_eq!(gradient.shape(), quotient.shape());
        let flat = |x: &Array<f64, D>| x.iter().copied().collect::<Vec<_>>();
        self.row(name, wrt, &flat(gradient), &flat(quotient));
    }

    fn row(&mut self, name: &str, wrt: &str, gradient: &[f64], quotient: &[f64]) {
        // More numbers would not fit on a line of 100 columns. All of them are compared.
        let text = |x: &[f64]| {
            let first: Vec<String> = x.iter().take(3).map(|v| format!("{v:8.4}")).collect();
            first.join(" ") + if x.len() > 3 { " .." } else { "" }
        };
        let differences = gradient.iter().zip(quotient).map(|(g, q)| (g - q).abs());
        // `f64::max` would lose a NaN.
        let largest = |a: f64, b: f64| if b <= a { a } else { b };
        let difference = differences.fold(0.0, largest);
        self.worst = largest(self.worst, difference);
        println!("{name:18} {wrt:8} {:29} {:29} {difference:.0e}", text(gradient), text(quotient));
    }

    fn finish(self) {
        println!("\nlargest difference: {:.1e}", self.worst);
        assert!(self.worst <= TOLERANCE, "a gradient is not its difference quotient");
    }
}
