//! Programs whose gradients once cost much more than the law of `ratios.rs` allows: each at three
//! sizes that double, value and gradient, compared with the function. `ad-core/tests/ratios.rs`
//! counts similar programs; this table has times.
//!
//! ```text
//! cargo bench --bench cliffs [-- gauss fft]
//! ```
//!
//! The least time of several turns, and the peak memory of a call. `AD_DOCS=1` writes the table
//! into `docs/performance.md`.

#[path = "measure/turns.rs"]
mod measure;
#[path = "measure/memory.rs"]
mod memory;
#[path = "cliffs/programs.rs"]
mod programs;

use ad::ndarray::{Array1, Array2, Array3, s};
use measure::entries::{Entries, assert_close};
use measure::{Timed, docs, least, micros};
use programs::*;

struct Table {
    wanted: Vec<String>,
    text: String,
}

impl Table {
    fn row<X>(&mut self, name: &str, sizes: [usize; 3], make: impl Fn(usize) -> X, f: impl Fn(&X), g: impl Fn(&X)) {
        if !self.wanted.is_empty() && !self.wanted.iter().any(|w| name.starts_with(w.as_str())) {
            return;
        }
        let mut row = format!("| {name} |");
        let mut end = String::new();
        for n in sizes {
            let x = make(n);
            let (function, ours) = (|| f(&x), || g(&x));
            let times = least(&[Timed::new(&function), Timed::new(&ours)]);
            let ((), bytes) = memory::peak(ours);
            row += &format!(" {n}: {:.1} |", times[1] / times[0]);
            end = format!(" {} | {:.2} MB |\n", micros(times[1]), bytes as f64 / 1e6);
        }
        row += &end;
        print!("{row}");
        self.text += &row;
    }
}

/// A row: the sizes, the data for a size, and the arguments made from the data.
macro_rules! row {
    ($table:ident, $sizes:expr, $make:expr, |$x:ident| $f:ident, $g:ident ($($arg:expr),*)) => {
        $table.row(
            stringify!($f),
            $sizes,
            $make,
            |$x| _ = std::hint::black_box($f($($arg),*)),
            |$x| _ = std::hint::black_box($g($($arg),*)),
        )
    };
}

fn main() {
    let wanted = std::env::args().skip(1).filter(|a| !a.starts_with("--")).collect();
    let head = "| program | ours / function | | | the last, ours | memory |\n| --- | --- | --- | --- | --- | --- |\n";
    let mut table = Table { wanted, text: String::from(head) };
    print!("{head}");
    let long = [1000, 2000, 4000];
    row!(table, long, vector, |x| arms2, arms2_value_and_grad(x));
    row!(table, long, vector, |x| arms3, arms3_value_and_grad(x));
    let codes = |n| (vector(n), Array1::from_shape_fn(n, |i| (i * 7 / 3) % 3));
    row!(table, [500, 1000, 2000], codes, |x| machine, machine_value_and_grad(&x.0, &x.1));
    row!(table, [50, 100, 200], definite, |x| cholesky, cholesky_value_and_grad(x));
    row!(table, [50, 100, 200], |n| (definite(n), vector(n)), |x| gauss, gauss_value_and_grad(&x.0, &x.1));
    row!(table, [50, 100, 200], |n| vector(n + 1), |x| chain, chain_value_and_grad(x));
    row!(table, long, vector, |x| moving, moving_value_and_grad(x));
    row!(table, [256, 512, 1024], vector, |x| merge_sort, merge_sort_value_and_grad(x));
    row!(table, [256, 512, 1024], vector, |x| fft, fft_value_and_grad(x));
    row!(table, [250, 500, 1000], sparse, |x| csr_for, csr_for_value_and_grad(&x.0, &x.2, &x.3));
    row!(table, [250, 500, 1000], sparse, |x| csr_iter, csr_iter_value_and_grad(&x.0, &x.2, &x.3));
    row!(table, [250, 500, 1000], sparse, |x| csr_zip, csr_zip_value_and_grad(&x.0, &x.1, &x.2, &x.3));
    row!(table, long, vector, |x| arma, arma_value_and_grad(x, &[0.3, 0.2, 0.1, 0.05]));
    row!(table, [20, 40, 80], definite, |x| jacobi, jacobi_value_and_grad(x));
    row!(table, [30, 60, 120], vector, |x| breaks, breaks_value_and_grad(x, 0.1));
    row!(table, [32, 64, 128], |n| heads([n, 8, 32]), |x| heads_mid, heads_mid_value_and_grad(x, x));
    row!(table, [32, 64, 128], |n| heads([8, n, 32]), |x| heads_first, heads_first_value_and_grad(x, x));
    row!(table, [250, 500, 1000], vector, |x| stack, stack_value_and_grad(x));
    row!(table, long, vector, |x| movsum, movsum_value_and_grad(x));
    let tall = |n: usize| definite(n).slice(s![.., ..n * 4 / 5]).to_owned();
    row!(table, [25, 50, 100], tall, |x| householder, householder_value_and_grad(x));
    row!(table, [100, 200, 400], vector, |x| stencil, stencil_value_and_grad(x));
    row!(table, [6, 7, 8], definite, |x| minors, minors_value_and_grad(x));
    let labels = |n| (Array2::from_shape_fn((50, 100), |(i, j)| (i + 2 * j) as f64 / 100.0), vector(100), vector(n));
    row!(table, [5000, 10_000, 20_000], labels, |x| left_out, left_out_value_and_grad(&x.0, &x.1, &x.2));
    let by_columns = jacobian(&table.wanted);
    docs::write(
        "cliffs",
        &format!("On {}: the least of several turns.\n\n{}{by_columns}", docs::machine(), table.text),
    );
}

/// A Jacobian of 26 columns, compared with as many products.
fn jacobian(wanted: &[String]) -> String {
    if !wanted.is_empty() && !wanted.iter().any(|w| "hand".starts_with(w.as_str())) {
        return String::new();
    }
    let x = vector(26);
    let columns = || {
        let unit = |k: usize| Array1::from_shape_fn(26, |i| f64::from(u8::from(i == k)));
        (0..26).map(|k| hand_jvp(&x, &unit(k))).collect::<Vec<_>>()
    };
    let whole = || hand_jacobian(&x);
    for (k, column) in columns().iter().enumerate() {
        let found = whole().column(k).to_vec();
        assert_close("hand", &column.entries()[1], &found, 1e-12);
    }
    let times = least(&[Timed::new(&columns), Timed::new(&whole)]);
    let text =
        format!("\nA Jacobian of 26 columns: {}, and {} for 26 calls of `jvp`.\n", micros(times[1]), micros(times[0]));
    print!("{text}");
    text
}

fn random(seed: &mut u64) -> f64 {
    *seed = seed.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
    ((*seed >> 33) as f64) / (1_u64 << 31) as f64
}

fn vector(n: usize) -> Array1<f64> {
    let mut seed = 7;
    Array1::from_shape_simple_fn(n, || random(&mut seed) + 0.5)
}

/// A symmetric matrix with a large diagonal.
fn definite(n: usize) -> Array2<f64> {
    let mut seed = 7;
    let a = Array2::from_shape_simple_fn((n, n), || random(&mut seed));
    (&a + &a.t()) * 0.5 + Array2::<f64>::eye(n) * n as f64
}

fn heads(shape: [usize; 3]) -> Array3<f64> {
    Array3::from_shape_fn(shape, |(i, j, k)| ((i * 3 + j * 5 + k) % 7) as f64 * 0.1)
}

/// Weights, and a sparse matrix of rows of twelve: elements, where rows begin, columns.
fn sparse(n: usize) -> (Array1<f64>, Vec<f64>, Vec<usize>, Vec<usize>) {
    let mut seed = 3;
    let starts = (0..=n).map(|i| i * 12).collect();
    let columns = (0..n * 12).map(|_| (random(&mut seed) * n as f64) as usize).collect();
    (vector(n), vector(n * 12).to_vec(), starts, columns)
}
