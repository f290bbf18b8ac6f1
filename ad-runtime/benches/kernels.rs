//! The kernels against std, ndarray and the obvious loops, in nanoseconds an element: `cargo bench
//! -p ad-runtime`.

use std::hint::black_box;
use std::time::Duration;

use ad_runtime::Real;
use ad_runtime::kernel::{self, Body, Isa, Operand, dispatch};
use criterion::{Criterion, Throughput, criterion_group, criterion_main};
use ndarray::{ArrayView1, ArrayView2, ArrayViewMut2, Axis, linalg::general_mat_mul};

fn numbers<F: Real>(n: usize, low: f64, high: f64) -> Vec<F> {
    (0..n).map(|i| F::lit(low + (high - low) * ((i * 7919 % 1009) as f64 / 1009.0))).collect()
}

macro_rules! loops {
    ($($body:ident($i:ident, $x:ident) $e:expr;)*) => {$(
        struct $body<'a, F>(&'a mut [F], &'a [F]);
        impl<F: Real> Body for $body<'_, F> {
            type Out = ();
            #[inline(always)]
            fn run<$i: Isa>(self) {
                #[inline(always)]
                fn each<$i: Isa, F: Real>(out: &mut [F], x: &[F]) {
                    for (out, &$x) in out.iter_mut().zip(x) {
                        *out = $e;
                    }
                }
                each::<$i, F>(self.0, self.1);
            }
        }
    )*};
}
loops! {
    Exp(I, x) I::exp(x);
    ExpM1(I, x) I::exp_m1(x);
    Ln(I, x) I::ln(x);
    Ln1p(I, x) I::ln_1p(x);
    Tanh(I, x) I::tanh(x);
    Sigmoid(I, x) I::sigmoid(x);
    Softplus(I, x) I::softplus(x);
    Pow(I, x) I::powf(x, F::lit(1.7));
    SinBySin(I, x) I::sin(x);
    MulAdd(I, x) I::mul_add(x, x, F::one());
}

/// A block at a time, as generated code would.
macro_rules! blocks {
    ($($body:ident: $f:ident, $one:ident;)*) => {$(
        struct $body<'a, F>(&'a mut [F], &'a [F]);
        impl<F: Real> Body for $body<'_, F> {
            type Out = ();
            #[inline(always)]
            fn run<I: Isa>(self) {
                let (out, rest) = self.0.as_chunks_mut::<16>();
                let (x, x_rest) = self.1.as_chunks::<16>();
                for (out, x) in out.iter_mut().zip(x) {
                    *out = I::$f(*x);
                }
                for (out, &x) in rest.iter_mut().zip(x_rest) {
                    *out = I::$one(x);
                }
            }
        }
    )*};
}
blocks! { Sin: sin_lanes, sin; Cos: cos_lanes, cos; }

fn transcendental(c: &mut Criterion) {
    macro_rules! rows {
        ($f:ident; $($name:literal $body:ident $low:literal $high:literal $std:expr;)*) => {$({
            let x: Vec<$f> = numbers(1000, $low, $high);
            let mut out = vec![0.0; 1000];
            let mut group = c.benchmark_group(concat!(stringify!($f), " ", $name));
            group.throughput(Throughput::Elements(1000));
            group.bench_function("std", |b| b.iter(|| {
                let f: fn($f) -> $f = $std;
                for (out, &x) in out.iter_mut().zip(black_box(&x)) {
                    *out = f(x);
                }
            }));
            group.bench_function("ours", |b| b.iter(|| dispatch($body(black_box(&mut out), black_box(&x)))));
        })*};
    }
    macro_rules! precision {
        ($f:ident) => {
            rows! { $f;
                "exp" Exp -10.0 10.0 $f::exp;
                "exp_m1" ExpM1 -10.0 10.0 $f::exp_m1;
                "ln" Ln 0.001 100.0 $f::ln;
                "ln_1p" Ln1p -0.5 100.0 $f::ln_1p;
                "tanh" Tanh -3.0 3.0 $f::tanh;
                "sigmoid" Sigmoid -10.0 10.0 kernel::sigmoid;
                "softplus" Softplus -10.0 10.0 kernel::softplus;
                "powf 1.7" Pow 0.001 100.0 |x| x.powf(1.7);
                "sin" Sin -10.0 10.0 $f::sin;
                "sin, one by one" SinBySin -10.0 10.0 $f::sin;
                "cos" Cos -1000.0 1000.0 $f::cos;
                "x * x + 1" MulAdd -1000.0 1000.0 |x| x * x + 1.0;
            }
        };
    }
    precision!(f64);
    precision!(f32);
}

fn reductions(c: &mut Criterion) {
    for n in [10, 1000, 1_000_000] {
        let (x, y): (Vec<f64>, Vec<f64>) = (numbers(n, -1.0, 1.0), numbers(n, 0.0, 1.0));
        let (vx, vy) = (ArrayView1::from(&x), ArrayView1::from(&y));
        let mut z = y.clone();
        macro_rules! row {
            ($name:literal: $($which:literal $e:expr),*) => {{
                let mut group = c.benchmark_group(format!("{} {n}", $name));
                group.throughput(Throughput::Elements(n as u64));
                $( group.bench_function($which, |b| b.iter(|| black_box($e))); )*
            }};
        }
        row!("sum": "iterator" black_box(&x).iter().sum::<f64>(), "ndarray" black_box(&vx).sum(), "ours" kernel::sum(black_box(&x)));
        row!("dot": "ndarray" black_box(&vx).dot(&vy), "ours" kernel::dot(black_box(&x), &y));
        row!("maximum": "fold" black_box(&x).iter().copied().fold(f64::NEG_INFINITY, f64::max), "ours" kernel::maximum(black_box(&x)));
        row!("argmax": "ours" kernel::argmax(black_box(&x)));
        row!("axpy": "loop" z.iter_mut().zip(black_box(&x)).for_each(|(z, x)| *z += 0.5 * x), "ours" kernel::axpy(black_box(&mut z), 0.5, &x));
    }
}

fn vectors(c: &mut Criterion) {
    for (m, n) in [(8, 8), (100, 100), (300, 300), (1000, 10), (10, 1000)] {
        let (a, x, w): (Vec<f64>, Vec<f64>, Vec<f64>) =
            (numbers(m * n, -1.0, 1.0), numbers(n, -1.0, 1.0), numbers(m, -1.0, 1.0));
        let view = ArrayView2::from_shape((m, n), &a).unwrap();
        let (vx, vw) = (ArrayView1::from(&x), ArrayView1::from(&w));
        let (mut y, mut z, mut g) = (vec![0.0; m], vec![0.0; n], vec![0.0; m * n]);
        macro_rules! row {
            ($name:literal: $($which:literal $e:expr),*) => {{
                let mut group = c.benchmark_group(format!("{} {m} x {n}", $name));
                group.throughput(Throughput::Elements((m * n) as u64));
                $( group.bench_function($which, |b| b.iter(|| black_box($e))); )*
            }};
        }
        row!("A x": "ndarray" view.dot(black_box(&vx)), "ours" kernel::gemv(black_box(&mut y), &a, &x, false));
        row!("A' x": "ndarray" view.t().dot(black_box(&vw)), "ours" kernel::gemv_t(black_box(&mut z), &a, &w, false));
        row!("x y'": "ours" kernel::ger(black_box(&mut g), &w, &x, false));
        row!("column sums": "ndarray" view.sum_axis(Axis(0)), "ours" kernel::column_sums(black_box(&mut z), &a, false));
    }
}

/// The table in `kernel/matrix.rs`: our loops, whether or not `gemm` would choose them, and
/// `matrixmultiply`.
fn products(c: &mut Criterion) {
    let shapes = [[4, 4, 4], [8, 8, 8], [12, 12, 12], [16, 16, 16], [32, 32, 32], [64, 64, 64], [64, 784, 10]];
    let more = [[784, 64, 10], [10, 64, 784], [4, 1000, 100], [1000, 100, 4], [8, 1000, 8], [16, 256, 16]];
    for [m, k, n] in shapes.into_iter().chain(more) {
        let (a, b): (Vec<f64>, Vec<f64>) = (numbers(m * k, -1.0, 1.0), numbers(k * n, -1.0, 1.0));
        let mut out = vec![0.0; m * n];
        for (name, ta, tb) in [("NN", false, false), ("TN", true, false), ("NT", false, true)] {
            let operand = |x, t| if t { Operand::Transposed(x) } else { Operand::Plain(x) };
            fn stored(x: &[f64], rows: usize, columns: usize, t: bool) -> ArrayView2<'_, f64> {
                let shape = if t { (columns, rows) } else { (rows, columns) };
                let view = ArrayView2::from_shape(shape, x).unwrap();
                if t { view.reversed_axes() } else { view }
            }
            let (va, vb) = (stored(&a, m, k, ta), stored(&b, k, n, tb));
            let mut group = c.benchmark_group(format!("{m} {k} {n} {name}"));
            group.throughput(Throughput::Elements((m * k * n) as u64));
            group.bench_function("matrixmultiply", |bench| {
                bench.iter(|| {
                    let mut view = ArrayViewMut2::from_shape((m, n), black_box(&mut out)).unwrap();
                    general_mat_mul(1.0, &va, &vb, 0.0, &mut view);
                });
            });
            group.bench_function("loops", |bench| {
                bench
                    .iter(|| kernel::by_loops(black_box(&mut out), operand(&a, ta), operand(&b, tb), [m, k, n], false));
            });
        }
    }
}

fn fast() -> Criterion {
    Criterion::default()
        .warm_up_time(Duration::from_millis(50))
        .measurement_time(Duration::from_millis(200))
        .sample_size(20)
}

criterion_group! { name = all; config = fast(); targets = transcendental, reductions, vectors, products }
criterion_main!(all);
