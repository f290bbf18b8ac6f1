//! Ordinary programs: models that were written first as their users would, then by hand in safe
//! Rust, and before anything in the compiler was tuned for them.
//!
//! ```text
//! cargo bench --bench ordinary [-- wave poisson]
//! ```
//!
//! The gradient by hand, ours and the function run in turns, and the table has the least time of
//! each, and the most memory that each gradient has at once. The gradients are held against each
//! other before they are timed. `AD_DOCS=1` writes the table into `docs/performance.md`.

#![allow(clippy::needless_range_loop, reason = "users write loops over indices")]
#![allow(clippy::cast_precision_loss, clippy::cast_possible_truncation, reason = "data that is made up")]

#[path = "ordinary/finance.rs"]
mod finance;
#[path = "ordinary/fourth_extra.rs"]
mod fourth_extra;
#[path = "ordinary/fourth_fields.rs"]
mod fourth_fields;
#[path = "ordinary/fourth_models.rs"]
mod fourth_models;
#[path = "ordinary/fourth_scenes.rs"]
mod fourth_scenes;
#[path = "ordinary/fourth_series.rs"]
mod fourth_series;
#[path = "ordinary/graphs.rs"]
mod graphs;
#[path = "measure/turns.rs"]
mod measure;
#[path = "measure/memory.rs"]
mod memory;
#[path = "ordinary/physics.rs"]
mod physics;
#[path = "ordinary/second_models.rs"]
mod second_models;
#[path = "ordinary/second_points.rs"]
mod second_points;
#[path = "ordinary/sequences.rs"]
mod sequences;
#[path = "ordinary/signals.rs"]
mod signals;
#[path = "ordinary/statistics.rs"]
mod statistics;
#[path = "ordinary/third_models.rs"]
mod third_models;
#[path = "ordinary/third_points.rs"]
mod third_points;
#[path = "ordinary/third_steps.rs"]
mod third_steps;
#[path = "ordinary/vision.rs"]
mod vision;

use std::fmt::Write as _;

use ad::ndarray::{Array1, Array2};
use measure::entries::{Entries, assert_close};
use measure::{Timed, docs, least, micros};

/// The targets: of by hand for each row, of the function, and of by hand in the geometric mean.
const BY_HAND: f64 = 1.25;
const FUNCTION: f64 = 3.0;

/// Numbers from a seed.
struct Data(fastrand::Rng);

impl Data {
    fn new(seed: u64) -> Self {
        Self(fastrand::Rng::with_seed(seed))
    }

    /// Between -0.5 and 0.5.
    fn numbers(&mut self, n: usize) -> Vec<f64> {
        (0..n).map(|_| self.0.f64() - 0.5).collect()
    }

    fn vector(&mut self, n: usize) -> Array1<f64> {
        Array1::from(self.numbers(n))
    }

    fn matrix(&mut self, rows: usize, columns: usize) -> Array2<f64> {
        Array2::from_shape_simple_fn((rows, columns), || self.0.f64() - 0.5)
    }

    /// Between 0.5 and 1.5.
    fn positive(&mut self, n: usize) -> Vec<f64> {
        (0..n).map(|_| self.0.f64() + 0.5).collect()
    }

    fn points<const N: usize>(&mut self, n: usize) -> Vec<[f64; N]> {
        (0..n).map(|_| [(); N].map(|()| self.0.f64() - 0.5)).collect()
    }

    fn below(&mut self, n: usize, bound: usize) -> Vec<usize> {
        (0..n).map(|_| self.0.usize(..bound)).collect()
    }
}

#[derive(Default)]
struct Table {
    wanted: Vec<String>,
    text: String,
    /// The logarithms of ours by by hand.
    logarithms: Vec<f64>,
}

impl Table {
    /// Compares the gradients, then times them and the function.
    fn row<H: Entries, O: Entries, R>(
        &mut self,
        name: &str,
        by_hand: impl Fn() -> H,
        ours: impl Fn() -> O,
        function: impl Fn() -> R,
    ) {
        if !self.wanted.is_empty() && !self.wanted.iter().any(|w| name.contains(w.as_str())) {
            return;
        }
        let (hand, bytes_by_hand) = memory::peak(&by_hand);
        let (found, bytes) = memory::peak(&ours);
        let tolerance = if name.contains("f32") { 1e-4 } else { 1e-9 };
        let (hand, found) = (hand.entries(), found.entries());
        assert_eq!(hand.len(), found.len(), "{name}");
        for (expected, found) in hand.iter().zip(&found) {
            assert_close(name, expected, found, tolerance);
        }
        let times = least(&[Timed::new(&by_hand), Timed::new(&ours), Timed::new(&function)]);
        let (by_hand, ours, function) = (times[0], times[1], times[2]);
        self.logarithms.push((ours / by_hand).ln());
        let mark = |x: f64, bound: f64| if x > bound { " !" } else { "" };
        let row = format!(
            "| {name} | {} | {} | {} | {:.2}{} | {:.2}{} | {:.1} | {:.1} |\n",
            micros(by_hand),
            micros(ours),
            micros(function),
            ours / by_hand,
            mark(ours / by_hand, BY_HAND),
            ours / function,
            mark(ours / function, FUNCTION),
            bytes_by_hand as f64 / 1e3,
            bytes as f64 / 1e3,
        );
        print!("{row}");
        self.text.push_str(&row);
    }
}

fn main() {
    let wanted: Vec<String> = std::env::args().skip(1).filter(|a| !a.starts_with("--")).collect();
    let mut table = Table { wanted, ..Table::default() };
    let heads = "| program | by hand | ours | function | ours / by hand | ours / function | kB by hand | kB ours |\n\
        | --- | --- | --- | --- | --- | --- | --- | --- |\n";
    print!("{heads}");
    statistics::rows(&mut table);
    physics::rows(&mut table);
    signals::rows(&mut table);
    finance::rows(&mut table);
    graphs::rows(&mut table);
    sequences::rows(&mut table);
    vision::rows(&mut table);
    second_points::rows(&mut table);
    second_models::rows(&mut table);
    third_points::rows(&mut table);
    third_models::rows(&mut table);
    third_steps::rows(&mut table);
    fourth_fields::rows(&mut table);
    fourth_series::rows(&mut table);
    fourth_scenes::rows(&mut table);
    fourth_models::rows(&mut table);
    fourth_extra::rows(&mut table);
    let count = table.logarithms.len();
    let mean = (table.logarithms.iter().sum::<f64>() / count.max(1) as f64).exp();
    let mut end = String::new();
    let _ = writeln!(end, "\nGeometric mean of ours / by hand over {count} programs: {mean:.2}. {}.", docs::machine());
    print!("{end}");
    docs::write("ordinary", &format!("\n{heads}{}{end}\n", table.text));
}
