//! Real problems: the generated gradient beside one written by hand and the function itself, in one run.
//!
//! ```text
//! cargo bench --bench workloads [-- a b d]
//! AD_MINIMA=1 cargo bench --bench workloads [-- gmm]
//! ```
//!
//! Both gradients return owned arrays, and are held against each other before they are timed; a block of a Jacobian is
//! compared in the same way. The table at the end has the medians. A second one has products with the Hessian beside the gradients
//! that they are derived from.
//!
//! On a machine with other work medians say little: with `AD_MINIMA` all that are compared are run in turns, without criterion,
//! and the tables have the least time of each.

mod annotated;
mod by_hand;

use std::collections::HashMap;
use std::hint::black_box;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant, SystemTime};

use ad::ndarray::{Array, Array1, Array2, Dimension};
use criterion::Criterion;

/// Agreement of two gradients, relative to the largest entry.
const TOLERANCE: f64 = 1e-10;

fn main() {
    let mut bench = Bench::new();
    let mut rng = fastrand::Rng::with_seed(1);
    let mut vector = |n: usize| Array1::from_shape_simple_fn(n, || rng.f64() - 0.5);

    for (name, n) in [("a dot, 1e3", 1_000), ("a dot, 1e6", 1_000_000)] {
        let (x, y) = (vector(n), vector(n));
        bench.compare(
            name,
            || by_hand::dot(black_box(&x), black_box(&y)),
            || annotated::dot_value_and_grad(black_box(&x), black_box(&y)),
            || annotated::dot(black_box(&x), black_box(&y)),
        );
    }
    {
        let (a, x) = (matrix(vector(300 * 300), 300), vector(300));
        bench.compare(
            "b sum(A x), 300",
            || by_hand::sum_of_product(black_box(&a), black_box(&x)),
            || annotated::sum_of_product_value_and_grad(black_box(&a), black_box(&x)),
            || annotated::sum_of_product(black_box(&a), black_box(&x)),
        );
    }
    {
        let (q, v, u) = ([0.5, -0.1, 0.7, 0.3], [1.0, -2.0, 0.5], [0.3, 1.0, -0.8]);
        bench.compare(
            "c rotation by a quaternion",
            || by_hand::rotate(black_box(q), black_box(v), black_box(u)),
            || annotated::rotate_vjp(black_box(q), black_box(v), black_box(u)),
            || annotated::rotate(black_box(q), black_box(v)),
        );
    }
    {
        let (n, d) = (10_000, 100);
        let (w, x, y) = (vector(d), matrix(vector(n * d), d), vector(n).mapv(f64::signum));
        bench.compare(
            "d logistic regression, 10000 x 100",
            || by_hand::logistic(black_box(&w), black_box(&x), black_box(&y)),
            || annotated::logistic_value_and_grad(black_box(&w), black_box(&x), black_box(&y)),
            || annotated::logistic(black_box(&w), black_box(&x), black_box(&y)),
        );
    }
    {
        let (pixels, hidden, classes, batch) = (784, 128, 10, 64);
        let (w1, b1) = (matrix(vector(pixels * hidden) * 0.2, hidden), vector(hidden));
        let (w2, b2) = (matrix(vector(hidden * classes), classes), vector(classes));
        let images = matrix(vector(batch * pixels), pixels);
        let labels = Array1::from_shape_fn(batch, |i| i * 7 % classes);
        let net = || (black_box(&w1), black_box(&b1), black_box(&w2), black_box(&b2));
        let data = || (black_box(&images), black_box(&labels));
        bench.compare(
            "e perceptron 784-128-10, batch 64",
            || {
                let ((w1, b1, w2, b2), (images, labels)) = (net(), data());
                by_hand::perceptron(w1, b1, w2, b2, images, labels)
            },
            || {
                let ((w1, b1, w2, b2), (images, labels)) = (net(), data());
                annotated::perceptron_value_and_grad(w1, b1, w2, b2, images, labels)
            },
            || {
                let ((w1, b1, w2, b2), (images, labels)) = (net(), data());
                annotated::perceptron(w1, b1, w2, b2, images, labels)
            },
        );
        let (d1, e1) = (matrix(vector(pixels * hidden), hidden), vector(hidden));
        let (d2, e2) = (matrix(vector(hidden * classes), classes), vector(classes));
        let gradient_at = |step: f64| {
            let (w1, b1, w2, b2) = (&w1 + step * &d1, &b1 + step * &e1, &w2 + step * &d2, &b2 + step * &e2);
            annotated::perceptron_grad(&w1, &b1, &w2, &b2, &images, &labels)
        };
        bench.product(
            "e perceptron, Hessian x direction",
            gradient_at,
            || {
                let ((w1, b1, w2, b2), (images, labels)) = (net(), data());
                annotated::perceptron_value_and_grad(w1, b1, w2, b2, images, labels).1
            },
            || {
                let ((w1, b1, w2, b2), (images, labels)) = (net(), data());
                annotated::perceptron_hvp(w1, b1, w2, b2, images, labels, &d1, &e1, &d2, &e2)
            },
        );
    }
    {
        let x = vector(1_000);
        bench.compare(
            "f Rosenbrock, 1000",
            || by_hand::rosenbrock(black_box(&x)),
            || annotated::rosenbrock_value_and_grad(black_box(&x)),
            || annotated::rosenbrock(black_box(&x)),
        );
    }
    {
        let x = vector(100_000) * 8.0;
        bench.compare(
            "g log-sum-exp, 1e5",
            || by_hand::logsumexp(black_box(&x)),
            || annotated::log_sum_exp_value_and_grad(black_box(&x)),
            || annotated::log_sum_exp(black_box(&x)),
        );
    }
    {
        let camera = [-0.7585, -1.1428, -0.8224, 31.48, 37.87, 48.54, 421.7, 6.65, -8.1, 0.0824, 0.002_87];
        let (point, weight, feature) = ([8.562, -1.546, 3.883], 1.128, [285.8, 844.6]);
        let at = || (black_box(&camera), black_box(&point), black_box(weight), black_box(feature));
        bench.compare(
            "h bundle adjustment, 2 x 15 block",
            || {
                let (camera, point, weight, feature) = at();
                by_hand::reprojection(camera, point, weight, feature)
            },
            || {
                let (camera, point, weight, feature) = at();
                annotated::reprojection_value_and_jacobian(camera, point, weight, feature)
            },
            || {
                let (camera, point, weight, feature) = at();
                annotated::reprojection(camera, point, weight, feature)
            },
        );
    }
    {
        let (inputs, hidden, outputs) = (50, 100, 20);
        let (a, b, x) =
            (matrix(vector(hidden * inputs), inputs), matrix(vector(outputs * hidden), hidden), vector(inputs));
        bench.compare(
            "j Jacobian of two layers, 50-100-20",
            || by_hand::layers(black_box(&a), black_box(&b), black_box(&x)),
            || annotated::layers_value_and_jacobian(black_box(&a), black_box(&b), black_box(&x)),
            || annotated::layers(black_box(&a), black_box(&b), black_box(&x)),
        );
    }
    {
        let x = vector(500);
        bench.compare(
            "k Jacobian with two bands, 499 x 500",
            || by_hand::neighbours(black_box(&x)),
            || annotated::neighbours_value_and_jacobian(black_box(&x)),
            || annotated::neighbours(black_box(&x)),
        );
    }
    {
        let (n, d, k) = (1_000, 10, 5);
        let below = d * (d - 1) / 2;
        let x = matrix(vector(n * d), d);
        let (alpha, mu) = (vector(k), matrix(vector(k * d), d));
        let (q, l) = (matrix(vector(k * d), d), matrix(vector(k * below), below));
        let (d_alpha, d_mu) = (vector(k), matrix(vector(k * d), d));
        let (d_q, d_l) = (matrix(vector(k * d), d), matrix(vector(k * below), below));
        let gradient_at = |s: f64| {
            let (alpha, mu, q, l) = (&alpha + s * &d_alpha, &mu + s * &d_mu, &q + s * &d_q, &l + s * &d_l);
            annotated::gmm_grad(&x, &alpha, &mu, &q, &l, 0, 1.0)
        };
        bench.product(
            "i gmm 1000 x 10, 5, Hessian x direction",
            gradient_at,
            || {
                let (x, alpha, mu) = (black_box(&x), black_box(&alpha), black_box(&mu));
                annotated::gmm_value_and_grad(x, alpha, mu, black_box(&q), black_box(&l), 0, 1.0).1
            },
            || {
                let (x, alpha, mu) = (black_box(&x), black_box(&alpha), black_box(&mu));
                annotated::gmm_hvp(x, alpha, mu, black_box(&q), black_box(&l), 0, 1.0, &d_alpha, &d_mu, &d_q, &d_l)
            },
        );
    }
    loops(&mut bench, &mut vector);
    bench.table();
}

/// The net and GradBench's problems in plain loops.
fn loops(bench: &mut Bench, vector: &mut impl FnMut(usize) -> Array1<f64>) {
    {
        let (n, d, k) = (1_000, 10, 25);
        let (x, w, m) = (matrix(vector(n * d) * 4.0, d), vector(k), matrix(vector(k * d), d));
        let s = matrix(vector(k * d) + 1.5, d);
        bench.compare(
            "h diagonal mixture, 1000 x 10, 25",
            || by_hand::diagonal(black_box(&x), black_box(&w), black_box(&m), black_box(&s)),
            || annotated::loops::diagonal_value_and_grad(black_box(&x), black_box(&w), black_box(&m), black_box(&s)),
            || annotated::loops::diagonal(black_box(&x), black_box(&w), black_box(&m), black_box(&s)),
        );
    }
    {
        let (steps, batch, hidden) = (100, 32, 64);
        let (w, u) = (matrix(vector(hidden * hidden) * 0.4, hidden), matrix(vector(hidden * hidden) * 0.4, hidden));
        let (b, inputs) = (vector(hidden), vector(steps * batch * hidden));
        let inputs = inputs.into_shape_with_order((steps, batch, hidden)).expect("as many entries");
        bench.compare(
            "i recurrent net, 100 steps of 32 x 64",
            || by_hand::recurrent(black_box(&w), black_box(&u), black_box(&b), black_box(&inputs)),
            || {
                annotated::loops::recurrent_value_and_grad(
                    black_box(&w),
                    black_box(&u),
                    black_box(&b),
                    black_box(&inputs),
                )
            },
            || annotated::loops::recurrent(black_box(&w), black_box(&u), black_box(&b), black_box(&inputs)),
        );
    }
    {
        let x = vector(10_000) * 8.0;
        bench.compare(
            "lse, 10000",
            || by_hand::logsumexp(black_box(&x)),
            || annotated::loops::lse_value_and_grad(black_box(&x)),
            || annotated::loops::lse(black_box(&x)),
        );
    }
    {
        let (x, n) = (vector(128), 1_024);
        bench.compare(
            "llsq, 1024 x 128",
            || by_hand::llsq(black_box(&x), black_box(n)),
            || annotated::loops::llsq_value_and_grad(black_box(&x), black_box(n)),
            || annotated::loops::llsq(black_box(&x), black_box(n)),
        );
    }
    {
        let (n, d, k) = (1_000, 10, 25);
        let (x, alpha) = (matrix(vector(n * d) * 4.0, d), vector(k));
        let (mu, q, l) =
            (matrix(vector(k * d), d), matrix(vector(k * d), d), matrix(vector(k * d * (d - 1) / 2), d * (d - 1) / 2));
        let data = || (black_box(&x), black_box(&alpha), black_box(&mu), black_box(&q), black_box(&l));
        bench.compare(
            "gmm, in loops, 1000 x 10, 25",
            || {
                let (x, alpha, mu, q, l) = data();
                by_hand::gmm(x, alpha, mu, q, l, 1, 0.9)
            },
            || {
                let (x, alpha, mu, q, l) = data();
                annotated::loops::gmm_value_and_grad(x, alpha, mu, q, l, 1, 0.9)
            },
            || {
                let (x, alpha, mu, q, l) = data();
                annotated::loops::gmm(x, alpha, mu, q, l, 1, 0.9)
            },
        );
    }
    {
        let (points, centroids) = (matrix(vector(10_000 * 8), 8), matrix(vector(100 * 8), 8));
        bench.compare(
            "kmeans, 10000 x 8, 100",
            || by_hand::kmeans(black_box(&points), black_box(&centroids)),
            || annotated::loops::kmeans_value_and_grad(black_box(&points), black_box(&centroids)),
            || annotated::loops::kmeans(black_box(&points), black_box(&centroids)),
        );
    }
    {
        let (b, c, l) = (14, 1_024, 2);
        let (main, extra) = (matrix(vector(2 * l * 4 * b), 4 * b), matrix(vector(3 * b), b));
        let (state, sequence) = (matrix(vector(2 * l * b), b), matrix(vector(c * b), b));
        let data = || (black_box(&main), black_box(&extra), black_box(&state), black_box(&sequence));
        bench.compare(
            "lstm, 2 layers, 1024 steps of 14",
            || {
                let (main, extra, state, sequence) = data();
                by_hand::lstm(main, extra, state, sequence)
            },
            || {
                let (main, extra, state, sequence) = data();
                annotated::loops::lstm_value_and_grad(main, extra, state, sequence)
            },
            || {
                let (main, extra, state, sequence) = data();
                annotated::loops::lstm(main, extra, state, sequence)
            },
        );
    }
    {
        let (x, steps) = (vector(100) + 0.6, 100);
        let last = Array1::from_shape_fn(x.len(), |i| f64::from(u8::from(i + 1 == 100)));
        bench.compare(
            "ode, 100 equations, 100 steps",
            || by_hand::ode(black_box(&x), black_box(steps), black_box(&last)),
            || annotated::loops::ode_vjp(black_box(&x), black_box(steps), black_box(&last)),
            || annotated::loops::ode(black_box(&x), black_box(steps)),
        );
    }
}

fn matrix(entries: Array1<f64>, columns: usize) -> Array2<f64> {
    let rows = entries.len() / columns;
    entries.into_shape_with_order((rows, columns)).expect("whole rows")
}

/// The least times so far, by workload: of by hand, ours and the function, or of the gradient and the product.
type Minima = HashMap<&'static str, [f64; 3]>;

/// Criterion, where it leaves its estimates, and the workloads so far.
struct Bench {
    criterion: Criterion,
    directory: PathBuf,
    started: SystemTime,
    names: Vec<&'static str>,
    products: Vec<&'static str>,
    /// With `AD_MINIMA`: which workloads are wanted, and the least times so far.
    minima: Option<(Vec<String>, Minima)>,
}

const BY_HAND: &str = "by hand";
const OURS: &str = "ours";
const FUNCTION: &str = "function";
const GRADIENT: &str = "gradient";
const PRODUCT: &str = "product";

impl Bench {
    fn new() -> Self {
        let directory = Path::new(env!("CARGO_TARGET_TMPDIR")).join("workloads");
        if std::env::var_os("AD_MINIMA").is_some() {
            let wanted = std::env::args().skip(1).filter(|a| !a.starts_with("--")).collect();
            let (criterion, started) = (Criterion::default(), SystemTime::now());
            return Self {
                criterion,
                directory,
                started,
                names: Vec::new(),
                products: Vec::new(),
                minima: Some((wanted, HashMap::new())),
            };
        }
        let criterion = Criterion::default()
            .warm_up_time(Duration::from_millis(500))
            .measurement_time(Duration::from_secs(2))
            .output_directory(&directory)
            .configure_from_args();
        Self { criterion, directory, started: SystemTime::now(), names: Vec::new(), products: Vec::new(), minima: None }
    }

    /// Whether a workload is to be run: criterion sees to that itself.
    fn wanted(&self, name: &str) -> bool {
        let Some((wanted, _)) = &self.minima else { return true };
        wanted.is_empty() || wanted.iter().any(|w| name.starts_with(w.as_str()))
    }

    /// Checks that the three agree, then times them.
    fn compare<V: Entries, G: Entries>(
        &mut self,
        name: &'static str,
        by_hand: impl Fn() -> (V, G),
        ours: impl Fn() -> (V, G),
        function: impl Fn() -> V,
    ) {
        if !self.wanted(name) {
            return;
        }
        let (hand_value, hand_gradient) = by_hand();
        let (our_value, our_gradient) = ours();
        let pairs = [
            (hand_value.entries(), our_value.entries()),
            (function().entries(), our_value.entries()),
            (hand_gradient.entries(), our_gradient.entries()),
        ];
        for (hand, ours) in pairs.iter().flat_map(|(hand, ours)| hand.iter().zip(ours)) {
            assert_close(name, hand, ours, TOLERANCE);
        }
        self.names.push(name);
        if let Some((_, minima)) = &mut self.minima {
            let mut least = [f64::INFINITY; 3];
            let mut calls = [1; 3];
            let begin = Instant::now();
            while least[0].is_infinite() || begin.elapsed() < Duration::from_secs(2) {
                let times =
                    [batch(&by_hand, &mut calls[0]), batch(&ours, &mut calls[1]), batch(&function, &mut calls[2])];
                least.iter_mut().zip(times).for_each(|(a, b)| *a = a.min(b));
            }
            minima.insert(name, least);
            return;
        }
        let mut group = self.criterion.benchmark_group(name);
        group.bench_function(BY_HAND, |b| b.iter(&by_hand));
        group.bench_function(OURS, |b| b.iter(&ours));
        group.bench_function(FUNCTION, |b| b.iter(&function));
        group.finish();
    }

    /// Checks that a product with the Hessian is how the gradient changes along the direction, then times it beside the gradient.
    fn product<G: Entries>(
        &mut self,
        name: &'static str,
        gradient_at: impl Fn(f64) -> G,
        gradient: impl Fn() -> G,
        product: impl Fn() -> G,
    ) {
        if !self.wanted(name) {
            return;
        }
        let step = 1e-5;
        let (after, before) = (gradient_at(step).entries(), gradient_at(-step).entries());
        for ((after, before), found) in after.iter().zip(&before).zip(&product().entries()) {
            let slope: Vec<f64> = after.iter().zip(before).map(|(a, b)| (a - b) / (2.0 * step)).collect();
            assert_close(name, &slope, found, 1e-6);
        }
        self.products.push(name);
        if let Some((_, minima)) = &mut self.minima {
            let (mut least, mut calls) = ([f64::INFINITY; 3], [1; 2]);
            let begin = Instant::now();
            while least[0].is_infinite() || begin.elapsed() < Duration::from_secs(2) {
                let times = [batch(&gradient, &mut calls[0]), batch(&product, &mut calls[1])];
                least.iter_mut().zip(times).for_each(|(a, b)| *a = a.min(b));
            }
            minima.insert(name, least);
            return;
        }
        let mut group = self.criterion.benchmark_group(name);
        group.bench_function(GRADIENT, |b| b.iter(&gradient));
        group.bench_function(PRODUCT, |b| b.iter(&product));
        group.finish();
    }

    /// What was measured in this run.
    fn table(self) {
        if self.minima.is_none() {
            self.criterion.final_summary();
        }
        println!("{:36} {:>12} {:>12} {:>14} {:>14}", FUNCTION, BY_HAND, OURS, "ours/by hand", "ours/function");
        for name in &self.names {
            let median = |which| self.median(name, which);
            if let (Some(hand), Some(ours), Some(function)) = (median(BY_HAND), median(OURS), median(FUNCTION)) {
                println!(
                    "{name:36} {:>12} {:>12} {:>14.2} {:>14.2}",
                    time(hand),
                    time(ours),
                    ours / hand,
                    ours / function
                );
            }
        }
        self.table_of_products();
    }

    /// The same of products with Hessians.
    fn table_of_products(&self) {
        println!("{:40} {:>12} {:>12} {:>18}", "hvp", GRADIENT, PRODUCT, "product/gradient");
        for name in &self.products {
            if let (Some(gradient), Some(product)) = (self.median(name, GRADIENT), self.median(name, PRODUCT)) {
                println!("{name:40} {:>12} {:>12} {:>18.2}", time(gradient), time(product), product / gradient);
            }
        }
    }

    /// The median in nanoseconds, if it is of this run: criterion keeps those of earlier ones.
    fn median(&self, name: &str, which: &str) -> Option<f64> {
        if let Some((_, minima)) = &self.minima {
            let at = |these: &[&str]| these.iter().position(|w| *w == which);
            let at = at(&[BY_HAND, OURS, FUNCTION]).or_else(|| at(&[GRADIENT, PRODUCT]))?;
            return Some(minima.get(name)?[at]);
        }
        let path = self.directory.join(name).join(which).join("new/estimates.json");
        if path.metadata().ok()?.modified().ok()? < self.started {
            return None;
        }
        let estimates: serde_json::Value = serde_json::from_slice(&std::fs::read(path).ok()?).ok()?;
        estimates["median"]["point_estimate"].as_f64()
    }
}

/// Nanoseconds of a call: in a batch of about half a millisecond, which is short enough to be without an interruption now and then.
/// `calls` are as many as that takes, known from the first batch: reading the clock between them would count.
/// A call that takes long is always interrupted: it is timed by what the processor has spent on this thread, where that is known.
fn batch<R>(f: &impl Fn() -> R, calls: &mut u32) -> f64 {
    let (before, start) = (spent(), Instant::now());
    for _ in 0..*calls {
        black_box(f());
    }
    let mut time = start.elapsed().as_nanos() as f64;
    if let (true, Some(before), Some(after)) = (time > LONG, before, spent()) {
        time = after - before;
    }
    time /= f64::from(*calls);
    *calls = (5e5 / time).clamp(1.0, 1e5) as u32;
    time
}

/// A batch of so many nanoseconds is interrupted, if there is other work.
const LONG: f64 = 1e6;

/// Nanoseconds that this thread has run. Linux knows them as of the last time that it looked at the thread, so the thread yields.
fn spent() -> Option<f64> {
    std::thread::yield_now();
    let text = std::fs::read_to_string("/proc/thread-self/schedstat").ok()?;
    text.split(' ').next()?.parse().ok()
}

fn time(nanoseconds: f64) -> String {
    match nanoseconds {
        t if t < 1e3 => format!("{t:.0} ns"),
        t if t < 1e6 => format!("{:.2} us", t / 1e3),
        t => format!("{:.2} ms", t / 1e6),
    }
}

fn assert_close(name: &str, a: &[f64], b: &[f64], tolerance: f64) {
    assert_eq!(a.len(), b.len(), "{name}");
    let largest = a.iter().fold(0.0, |largest: f64, x| largest.max(x.abs()));
    for (k, (a, b)) in a.iter().zip(b).enumerate() {
        assert!((a - b).abs() <= tolerance * largest, "{name}, number {k}: {a} expected, {b} found");
    }
}

/// The entries of a gradient, one list for each parameter.
trait Entries {
    fn entries(&self) -> Vec<Vec<f64>>;
}

impl<D: Dimension> Entries for Array<f64, D> {
    fn entries(&self) -> Vec<Vec<f64>> {
        vec![self.iter().copied().collect()]
    }
}

impl Entries for f64 {
    fn entries(&self) -> Vec<Vec<f64>> {
        vec![vec![*self]]
    }
}

impl<const N: usize> Entries for [f64; N] {
    fn entries(&self) -> Vec<Vec<f64>> {
        vec![self.to_vec()]
    }
}

impl<const N: usize, const M: usize> Entries for [[f64; N]; M] {
    fn entries(&self) -> Vec<Vec<f64>> {
        vec![self.as_flattened().to_vec()]
    }
}

impl<A: Entries, B: Entries, C: Entries> Entries for (A, B, C) {
    fn entries(&self) -> Vec<Vec<f64>> {
        [self.0.entries(), self.1.entries(), self.2.entries()].concat()
    }
}

impl<A: Entries, B: Entries> Entries for (A, B) {
    fn entries(&self) -> Vec<Vec<f64>> {
        [self.0.entries(), self.1.entries()].concat()
    }
}

impl<A: Entries, B: Entries, C: Entries, D: Entries> Entries for (A, B, C, D) {
    fn entries(&self) -> Vec<Vec<f64>> {
        [self.0.entries(), self.1.entries(), self.2.entries(), self.3.entries()].concat()
    }
}
