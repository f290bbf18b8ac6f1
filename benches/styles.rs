//! One algorithm, four styles: six algorithms as scalar loops, as iterators over rows, as
//! operations on arrays and with vectors that grow, each compared with the function and with a
//! gradient written by hand.
//!
//! ```text
//! cargo bench --bench styles [-- kalman]
//! ```
//!
//! All that are compared run in turns, and the table has the least time of each. The gradients of
//! the styles are held against each other and against by hand before they are timed. `AD_DOCS=1`
//! writes the table into `docs/performance.md`.

#![allow(clippy::needless_range_loop, reason = "loops over indices are one of the styles")]

#[path = "styles/attention.rs"]
mod attention;
#[path = "styles/cholesky.rs"]
mod cholesky;
#[path = "styles/kalman.rs"]
mod kalman;
#[path = "styles/kmeans.rs"]
mod kmeans;
#[path = "measure/turns.rs"]
mod measure;
#[path = "styles/mixture.rs"]
mod mixture;
#[path = "styles/sparse.rs"]
mod sparse;

use std::hint::black_box;

use ad::ndarray::{Array1, Array2};
use measure::entries::{Entries, assert_close};
use measure::{Timed, docs, least, micros};

/// The names of the styles, in the order of the columns.
const STYLES: [&str; 4] = ["loops", "iterators", "arrays", "vectors"];

/// A call of a style and its results (`None` if the call is only timed).
type Call<'a> = Box<dyn Fn() -> Option<Vec<Vec<f64>>> + 'a>;

struct Table {
    wanted: Vec<String>,
    text: String,
}

impl Table {
    /// By hand, then the function and the value and gradient of each style.
    fn row(&mut self, name: &str, by_hand: Call, styles: [[Call; 2]; 4]) {
        if !self.wanted.is_empty() && !self.wanted.iter().any(|w| name.starts_with(w.as_str())) {
            return;
        }
        let expected = by_hand().expect("a value and a gradient");
        for ([f, g], style) in styles.iter().zip(STYLES) {
            let (value, found) = (f().expect("a value"), g().expect("a value and a gradient"));
            for (expected, found) in expected.iter().zip(value.iter().chain(&found[1..])) {
                assert_close(&format!("{name}, {style}"), expected, found, 1e-9);
            }
            assert_close(&format!("{name}, {style}"), &expected[0], &found[0], 1e-9);
        }
        let calls: Vec<Timed> = std::iter::once(&by_hand).chain(styles.iter().flatten()).map(Timed::new).collect();
        let times = least(&calls);
        let (hand, pairs) = (times[0], times[1..].as_chunks::<2>().0);
        let gradients: Vec<f64> = pairs.iter().map(|p| p[1]).collect();
        let most = gradients.iter().copied().fold(0.0, f64::max);
        let fewest = gradients.iter().copied().fold(f64::INFINITY, f64::min);
        for ([f, g], style) in pairs.iter().zip(STYLES) {
            let mark = |x: f64, bound: f64| if x > bound { " !" } else { "" };
            let row = format!(
                "| {name} | {style} | {} | {} | {} | {:.2} | {:.2}{} | {:.2}{} |\n",
                micros(*f),
                micros(*g),
                micros(hand),
                g / f,
                g / hand,
                mark(g / hand, 1.5),
                g / fewest,
                mark(g / fewest, 1.5),
            );
            print!("{row}");
            self.text.push_str(&row);
        }
        println!("{name}: the styles differ by {:.2}", most / fewest);
    }
}

/// The calls of a style: its function and its value and gradient.
macro_rules! style {
    ($f:path, $g:path; $($x:expr),*) => {{
        let f: Call = Box::new(|| Some($f($(black_box($x)),*).entries()));
        let g: Call = Box::new(|| Some($g($(black_box($x)),*).entries()));
        [f, g]
    }};
}

fn main() {
    let wanted = std::env::args().skip(1).filter(|a| !a.starts_with("--")).collect();
    let head = "| value and gradient | style | function | ours | by hand | ours / function | ours / by hand \
                | ours / the fastest style |\n| --- | --- | --- | --- | --- | --- | --- | --- |\n";
    let mut table = Table { wanted, text: String::from(head) };
    print!("{head}");
    let mut rng = fastrand::Rng::with_seed(1);
    let mut vector = |n: usize| Array1::from_shape_simple_fn(n, || rng.f64() - 0.5);
    let mut matrix = |n: usize, d: usize| vector(n * d).into_shape_with_order((n, d)).expect("as many entries");
    {
        let (x, m, s) = (matrix(500, 8), matrix(10, 8), matrix(10, 8) + 1.5);
        let by_hand: Call = Box::new(|| Some(mixture::by_hand(black_box(&x), black_box(&m), black_box(&s)).entries()));
        table.row(
            "mixture, 500 x 8, 10",
            by_hand,
            [
                style!(mixture::loops, mixture::loops_value_and_grad; &x, &m, &s),
                style!(mixture::iterators, mixture::iterators_value_and_grad; &x, &m, &s),
                style!(mixture::arrays, mixture::arrays_value_and_grad; &x, &m, &s),
                style!(mixture::vectors, mixture::vectors_value_and_grad; &x, &m, &s),
            ],
        );
    }
    {
        let (q, k, v) = (matrix(64, 16), matrix(64, 16), matrix(64, 16));
        let by_hand: Call =
            Box::new(|| Some(attention::by_hand(black_box(&q), black_box(&k), black_box(&v)).entries()));
        table.row(
            "attention, 64 x 16",
            by_hand,
            [
                style!(attention::loops, attention::loops_value_and_grad; &q, &k, &v),
                style!(attention::iterators, attention::iterators_value_and_grad; &q, &k, &v),
                style!(attention::arrays, attention::arrays_value_and_grad; &q, &k, &v),
                style!(attention::vectors, attention::vectors_value_and_grad; &q, &k, &v),
            ],
        );
    }
    {
        let (x, m) = (matrix(2000, 8), matrix(16, 8));
        let by_hand: Call = Box::new(|| Some(kmeans::by_hand(black_box(&x), black_box(&m)).entries()));
        table.row(
            "k-means, 2000 x 8, 16",
            by_hand,
            [
                style!(kmeans::loops, kmeans::loops_value_and_grad; &x, &m),
                style!(kmeans::iterators, kmeans::iterators_value_and_grad; &x, &m),
                style!(kmeans::arrays, kmeans::arrays_value_and_grad; &x, &m),
                style!(kmeans::vectors, kmeans::vectors_value_and_grad; &x, &m),
            ],
        );
    }
    {
        let a = matrix(64, 64);
        let a = &a + &a.t() + Array2::<f64>::eye(64) * 64.0;
        let by_hand: Call = Box::new(|| Some(cholesky::by_hand(black_box(&a)).entries()));
        table.row(
            "Cholesky, 64",
            by_hand,
            [
                style!(cholesky::loops, cholesky::loops_value_and_grad; &a),
                style!(cholesky::iterators, cholesky::iterators_value_and_grad; &a),
                style!(cholesky::arrays, cholesky::arrays_value_and_grad; &a),
                style!(cholesky::vectors, cholesky::vectors_value_and_grad; &a),
            ],
        );
    }
    {
        let (rows, each, width) = (1000, 12, 1000);
        let (w, y) = (matrix(1, width).row(0).to_owned(), matrix(1, rows).row(0).to_owned());
        let data = matrix(1, rows * each).row(0).to_owned();
        let columns = Array1::from_shape_fn(rows * each, |p| p * 7919 % width);
        let starts: Vec<usize> = (0..=rows).map(|i| i * each).collect();
        let (flat, at) = (data.to_vec(), columns.to_vec());
        let by_hand: Call = Box::new(|| {
            let (w, data, columns) = (black_box(&w), black_box(&flat), black_box(&at));
            Some(sparse::by_hand(w, data, columns, black_box(&starts), black_box(&y)).entries())
        });
        table.row(
            "sparse regression, 1000 rows of 12",
            by_hand,
            [
                style!(sparse::loops, sparse::loops_value_and_grad; &w, &data, &columns, &starts, &y),
                style!(sparse::iterators, sparse::iterators_value_and_grad; &w, &flat, &at, &starts, &y),
                style!(sparse::arrays, sparse::arrays_value_and_grad; &w, &data, &columns, &starts, &y),
                style!(sparse::vectors, sparse::vectors_value_and_grad; &w, &data, &columns, &starts, &y),
            ],
        );
    }
    {
        let (f, y) = (matrix(6, 6) * 0.3 + Array2::<f64>::eye(6) * 0.8, matrix(1, 200).row(0).to_owned());
        let by_hand: Call = Box::new(|| Some(kalman::by_hand(black_box(&f), black_box(&y)).entries()));
        table.row(
            "Kalman, 6 states, 200 steps",
            by_hand,
            [
                style!(kalman::loops, kalman::loops_value_and_grad; &f, &y),
                style!(kalman::iterators, kalman::iterators_value_and_grad; &f, &y),
                style!(kalman::arrays, kalman::arrays_value_and_grad; &f, &y),
                style!(kalman::vectors, kalman::vectors_value_and_grad; &f, &y),
            ],
        );
    }
    docs::write("styles", &format!("On {}: the least of several turns.\n\n{}", docs::machine(), table.text));
}
