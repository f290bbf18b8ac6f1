//! Real problems: the generated gradient, compared with one written by hand and with the function
//! itself, in one run.
//!
//! ```text
//! cargo bench --bench workloads [-- a b d]
//! AD_MINIMA=1 cargo bench --bench workloads [-- gmm]
//! ```
//!
//! Both gradients return owned arrays, or write into the caller's, and are held against each other
//! before they are timed; a block of a Jacobian is compared in the same way. The table at the end
//! has the medians, the most memory that each gradient has at once, and the targets. A second one
//! compares products with the Hessian and the gradients that they are derived from.
//! `docs/performance.md` explains them.
//!
//! Medians are not reliable on a machine with other work: with `AD_MINIMA` the compared functions
//! run in turns, without criterion, and the tables have the least time of each. `AD_MARKDOWN=1`
//! prints them as Markdown, `AD_DOCS=1` writes them into `docs/performance.md`.

mod annotated;
mod by_hand;
mod measure;

use std::cell::RefCell;
use std::hint::black_box;

use ad::ndarray::{Array1, Array2};
use measure::{Bench, Row};

fn main() {
    let mut bench = Bench::new();
    let mut rng = fastrand::Rng::with_seed(1);
    let mut vector = |n: usize| Array1::from_shape_simple_fn(n, || rng.f64() - 0.5);

    let arrays = |row: Row, bench: &mut Bench, x: &Array1<f64>, y: &Array1<f64>| {
        bench.compare(
            row,
            || by_hand::dot(black_box(x), black_box(y)),
            || annotated::dot_value_and_grad(black_box(x), black_box(y)),
            || annotated::dot(black_box(x), black_box(y)),
        );
    };
    arrays(Row::kernel("a dot, 1e3", 1_000), &mut bench, &vector(1_000), &vector(1_000));
    {
        let n = 1_000_000;
        let (x, y) = (vector(n), vector(n));
        let [hand, ours] = [(); 2].map(|()| RefCell::new((Array1::zeros(n), Array1::zeros(n))));
        bench.compare(
            Row::kernel("a dot, 1e6, into the caller's memory", n),
            || {
                let (dx, dy) = &mut *hand.borrow_mut();
                (by_hand::dot_into(black_box(&x), black_box(&y), dx, dy), &hand)
            },
            || {
                let (dx, dy) = &mut *ours.borrow_mut();
                (annotated::dot_value_and_grad_into(black_box(&x), black_box(&y), dx, dy), &ours)
            },
            || annotated::dot(black_box(&x), black_box(&y)),
        );
        arrays(Row::beside("a dot, 1e6, into fresh memory", n), &mut bench, &x, &y);
    }
    {
        let (a, x) = (matrix(vector(300 * 300), 300), vector(300));
        bench.compare(
            Row::kernel("b sum(A x), 300", a.len()),
            || by_hand::sum_of_product(black_box(&a), black_box(&x)),
            || annotated::sum_of_product_value_and_grad(black_box(&a), black_box(&x)),
            || annotated::sum_of_product(black_box(&a), black_box(&x)),
        );
    }
    {
        let (q, v, u) = ([0.5, -0.1, 0.7, 0.3], [1.0, -2.0, 0.5], [0.3, 1.0, -0.8]);
        bench.compare(
            Row::kernel("c rotation by a quaternion", 4),
            || by_hand::rotate(black_box(q), black_box(v), black_box(u)),
            || annotated::rotate_vjp(black_box(q), black_box(v), black_box(u)),
            || annotated::rotate(black_box(q), black_box(v)),
        );
    }
    {
        let (n, d) = (10_000, 100);
        let (w, x, y) = (vector(d), matrix(vector(n * d), d), vector(n).mapv(f64::signum));
        bench.compare(
            Row::kernel("d logistic regression, 10000 x 100", x.len()),
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
            Row::kernel("e perceptron 784-128-10, batch 64", w1.len()),
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
            Row::kernel("f Rosenbrock, 1000", x.len()),
            || by_hand::rosenbrock(black_box(&x)),
            || annotated::rosenbrock_value_and_grad(black_box(&x)),
            || annotated::rosenbrock(black_box(&x)),
        );
    }
    {
        let x = vector(100_000) * 8.0;
        bench.compare(
            Row::kernel("g log-sum-exp, 1e5", x.len()),
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
            Row::problem("ba, 2 x 15 block", 3.5, 30),
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
            Row::beside("Jacobian of two layers, 50-100-20", a.len()),
            || by_hand::layers(black_box(&a), black_box(&b), black_box(&x)),
            || annotated::layers_value_and_jacobian(black_box(&a), black_box(&b), black_box(&x)),
            || annotated::layers(black_box(&a), black_box(&b), black_box(&x)),
        );
    }
    {
        let x = vector(500);
        bench.compare(
            Row::beside("Jacobian with two bands, 499 x 500", 499 * 500),
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
            "gmm 1000 x 10, 5, Hessian x direction",
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
            Row::kernel("h diagonal mixture, 1000 x 10, 25", x.len()),
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
            Row::kernel("i recurrent net, 100 steps of 32 x 64", inputs.len()),
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
        let (channels, outputs, size) = (8, 8, 256);
        let x = vector(channels * size * size).into_shape_with_order((channels, size, size)).expect("as many entries");
        let w = vector(outputs * channels * 9);
        let w = w.into_shape_with_order((outputs, channels, 3, 3)).expect("as many entries");
        bench.compare(
            Row::kernel("j convolution, 3 x 3 on 256 x 256, 8 to 8", x.len()),
            || by_hand::convolution(black_box(&x), black_box(&w)),
            || annotated::loops::convolution_value_and_grad(black_box(&x), black_box(&w)),
            || annotated::loops::convolution(black_box(&x), black_box(&w)),
        );
    }
    {
        let x = vector(10_000) * 8.0;
        bench.compare(
            Row::problem("lse, 10000", 1.3, x.len()),
            || by_hand::logsumexp(black_box(&x)),
            || annotated::loops::lse_value_and_grad(black_box(&x)),
            || annotated::loops::lse(black_box(&x)),
        );
    }
    {
        let (x, n) = (vector(128), 1_024);
        bench.compare(
            Row::problem("llsq, 1024 x 128", 2.0, x.len()),
            || by_hand::llsq(black_box(&x), black_box(n)),
            || annotated::loops::llsq_value_and_grad(black_box(&x), black_box(n)),
            || annotated::loops::llsq(black_box(&x), black_box(n)),
        );
    }
    for (name, d, k) in
        [("gmm, 1000 x 10, 25", 10, 25), ("gmm, 1000 x 20, 50", 20, 50), ("gmm, 1000 x 64, 100", 64, 100)]
    {
        let n = 1_000;
        let (x, alpha) = (matrix(vector(n * d) * 4.0, d), vector(k));
        let (mu, q, l) =
            (matrix(vector(k * d), d), matrix(vector(k * d), d), matrix(vector(k * d * (d - 1) / 2), d * (d - 1) / 2));
        let data = || (black_box(&x), black_box(&alpha), black_box(&mu), black_box(&q), black_box(&l));
        bench.compare(
            Row::problem(name, 2.0, x.len().max(l.len())),
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
            Row::problem("kmeans, 10000 x 8, 100", 1.3, points.len()),
            || by_hand::kmeans(black_box(&points), black_box(&centroids)),
            || annotated::loops::kmeans_value_and_grad(black_box(&points), black_box(&centroids)),
            || annotated::loops::kmeans(black_box(&points), black_box(&centroids)),
        );
    }
    for (name, l) in [("lstm, 2 layers, 1024 steps of 14", 2), ("lstm, 4 layers, 1024 steps of 14", 4)] {
        let (b, c) = (14, 1_024);
        let (main, extra) = (matrix(vector(2 * l * 4 * b), 4 * b), matrix(vector(3 * b), b));
        let (state, sequence) = (matrix(vector(2 * l * b), b), matrix(vector(c * b), b));
        let data = || (black_box(&main), black_box(&extra), black_box(&state), black_box(&sequence));
        bench.compare(
            Row::problem(name, 1.5, sequence.len()),
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
            Row::problem("ode, 100 equations, 100 steps", 3.0, x.len()),
            || by_hand::ode(black_box(&x), black_box(steps), black_box(&last)),
            || annotated::loops::ode_vjp(black_box(&x), black_box(steps), black_box(&last)),
            || annotated::loops::ode(black_box(&x), black_box(steps)),
        );
    }
    {
        let (x, y) = (vector(200) * 20.0, vector(200));
        let p = [0.3, -0.2, -1.0];
        bench.compare(
            Row::problem("gp, evidence of 200 points", 3.0, 200 * 200),
            || by_hand::evidence(black_box(p), black_box(&x), black_box(&y)),
            || annotated::inside::evidence_value_and_grad(black_box(p), black_box(&x), black_box(&y)),
            || annotated::inside::evidence(black_box(p), black_box(&x), black_box(&y)),
        );
    }
    {
        let (f, y) = (matrix(vector(16), 4), matrix(vector(4_000), 4));
        bench.compare(
            Row::problem("kalman, 1000 steps of 4 states", 4.0, y.len()),
            || by_hand::filter(black_box(&f), black_box(&y)),
            || annotated::inside::filter_value_and_grad(black_box(&f), black_box(&y)),
            || annotated::inside::filter(black_box(&f), black_box(&y)),
        );
    }
    bench.compare(
        Row::problem("particle, reverse of reverse", 4.0, 1),
        || by_hand::particle(black_box(0.3)),
        || annotated::inside::reverse_value_and_grad(black_box(0.3)),
        || annotated::inside::reverse(black_box(0.3)),
    );
    {
        let p = [0.7, -0.4];
        bench.compare(
            Row::problem("saddle, reverse of reverse", 2.0, 2),
            || by_hand::saddle(black_box(&p)),
            || annotated::inside::greatest_value_and_grad(black_box(&p), &[1.0; 2], false),
            || annotated::inside::greatest(black_box(&p), &[1.0; 2], false),
        );
    }
}

fn matrix(entries: Array1<f64>, columns: usize) -> Array2<f64> {
    let rows = entries.len() / columns;
    entries.into_shape_with_order((rows, columns)).expect("whole rows")
}
