//! The kernels against std, ndarray and the obvious loops, in nanoseconds an element: `cargo bench -p ad-runtime`.

use std::hint::black_box;
use std::time::Duration;

use ad_runtime::Real;
use ad_runtime::kernel::{self, Body, Isa, dispatch};
use criterion::{Criterion, Throughput, criterion_group, criterion_main};

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

fn fast() -> Criterion {
    Criterion::default()
        .warm_up_time(Duration::from_millis(100))
        .measurement_time(Duration::from_millis(400))
        .sample_size(20)
}

criterion_group! { name = all; config = fast(); targets = transcendental }
criterion_main!(all);
