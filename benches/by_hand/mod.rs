//! The gradients that a person would write: value and gradient in as few passes over memory as the
//! problem needs, with plain loops over slices. The generated gradients are measured against them,
//! so they may use whatever makes them fast; `wide` explains the vectorisation. The letters are
//! those of the rows in `docs/performance.md`.

mod blocks;
mod bundle;
mod convolution;
mod inside;
mod mixture;
mod perceptron;
mod recurrent;
mod rotation;
pub mod wide;

use ad::ndarray::{Array1, Array2};

pub use blocks::{layers, neighbours};
pub use bundle::reprojection;
pub use convolution::convolution;
pub use inside::{evidence, filter, particle, saddle};
pub use mixture::{diagonal, gmm};
pub use perceptron::perceptron;
pub use recurrent::{kmeans, llsq, lstm, ode, recurrent};
pub use rotation::rotate;
use wide::{Kernel, LANES, axpy, axpy4, dot as lanes_dot, madd, total};

fn slice(x: &Array1<f64>) -> &[f64] {
    x.as_slice().expect("standard layout")
}

fn rows(x: &Array2<f64>) -> &[f64] {
    x.as_slice().expect("standard layout")
}

/// Row a: the gradients are copies, made while the inputs are in the cache.
pub fn dot(x: &Array1<f64>, y: &Array1<f64>) -> (f64, (Array1<f64>, Array1<f64>)) {
    let (mut dx, mut dy) = (Vec::with_capacity(x.len()), Vec::with_capacity(x.len()));
    let value = dot_with(slice(x), slice(y), CHUNK, |x, y| {
        dx.extend_from_slice(y);
        dy.extend_from_slice(x);
    });
    (value, (dx.into(), dy.into()))
}

/// Row a: the gradients in memory of the caller.
pub fn dot_into(x: &Array1<f64>, y: &Array1<f64>, dx: &mut Array1<f64>, dy: &mut Array1<f64>) -> f64 {
    let (dx, dy) = (dx.as_slice_mut().expect("standard layout"), dy.as_slice_mut().expect("standard layout"));
    let (x, y) = (slice(x), slice(y));
    // Chunks that begin with a line of the cache are overwritten without being read.
    let (ahead, n) = (dx.as_ptr().align_offset(64).min(dx.len()), x.len());
    let ((x0, x1), (y0, y1)) = (x.split_at(ahead), y.split_at(ahead));
    let ((dx0, dx1), (dy0, dy1)) = (dx.split_at_mut(ahead), dy.split_at_mut(ahead));
    assert_eq!((n, n), (y.len(), dy0.len() + dy1.len()));
    dx0.copy_from_slice(y0);
    dy0.copy_from_slice(x0);
    let (mut dx, mut dy) = (dx1.chunks_mut(PIECE), dy1.chunks_mut(PIECE));
    let before: f64 = x0.iter().zip(y0).map(|(x, y)| x * y).sum();
    before
        + dot_with(x1, y1, PIECE, |x, y| {
            dx.next().expect("as many chunks").copy_from_slice(y);
            dy.next().expect("as many chunks").copy_from_slice(x);
        })
}

/// Numbers that stay in the cache of the core with those of the other arrays.
const CHUNK: usize = 8192;

/// Enough numbers that `memcpy` does not read the memory that it overwrites. The best length
/// depends on the machine (512 on a Zen 4, 8192 on a Zen 5).
const PIECE: usize = 4096;

/// The product, and a function that is applied to each chunk while it is in the cache.
fn dot_with(x: &[f64], y: &[f64], chunk: usize, then: impl FnMut(&[f64], &[f64])) -> f64 {
    struct Run<'a, T>(&'a [f64], &'a [f64], usize, T);
    impl<T: FnMut(&[f64], &[f64])> Kernel for Run<'_, T> {
        type Out = f64;
        #[inline(always)]
        fn run<const FMA: bool>(self) -> f64 {
            let Self(x, y, chunk, mut then) = self;
            let mut value = 0.0;
            for (x, y) in x.chunks(chunk).zip(y.chunks(chunk)) {
                value += lanes_dot::<FMA>(x, y);
                then(x, y);
            }
            value
        }
    }
    assert_eq!(x.len(), y.len());
    wide::run(Run(x, y, chunk, then))
}

/// Row b: the gradient of x is the vector of the column sums, and the value is computed from it.
pub fn sum_of_product(a: &Array2<f64>, x: &Array1<f64>) -> (f64, (Array2<f64>, Array1<f64>)) {
    struct Run<'a>(&'a [f64], &'a [f64]);
    impl Kernel for Run<'_> {
        type Out = (f64, (Vec<f64>, Vec<f64>));
        #[inline(always)]
        fn run<const FMA: bool>(self) -> Self::Out {
            let Self(a, x) = self;
            let n = x.len();
            let mut da = Vec::with_capacity(a.len());
            let mut dx = vec![0.0; n];
            let four = a.chunks_exact(4 * n);
            for row in four.remainder().chunks_exact(n) {
                axpy::<FMA>(&mut dx, 1.0, row);
            }
            for rows in four {
                let (a, b) = rows.split_at(2 * n);
                let ((r0, r1), (r2, r3)) = (a.split_at(n), b.split_at(n));
                axpy4::<FMA>(&mut dx, [1.0; 4], [r0, r1, r2, r3]);
            }
            for _ in 0..a.len() / n {
                da.extend_from_slice(x);
            }
            (lanes_dot::<FMA>(&dx, x), (da, dx))
        }
    }
    let (value, (da, dx)) = wide::run(Run(rows(a), slice(x)));
    (value, (Array2::from_shape_vec(a.raw_dim(), da).expect("as many entries as a"), dx.into()))
}

/// Rows of the logistic regression that are done together: their exponentials and logarithms fill
/// the lanes.
const BLOCK: usize = 16;

/// Row d: one pass; the gradient of a block of rows is added while they are in the cache.
pub fn logistic(w: &Array1<f64>, x: &Array2<f64>, y: &Array1<f64>) -> (f64, Array1<f64>) {
    struct Run<'a> {
        w: &'a [f64],
        x: &'a [f64],
        y: &'a [f64],
    }
    impl Kernel for Run<'_> {
        type Out = (f64, Vec<f64>);
        #[inline(always)]
        fn run<const FMA: bool>(self) -> Self::Out {
            let Self { w, x, y } = self;
            let mut dw = vec![0.0; w.len()];
            let mut loss = [0.0; BLOCK];
            let scale = 1.0 / y.len() as f64;
            for (x, y) in x.chunks(BLOCK * w.len()).zip(y.chunks(BLOCK)) {
                logistic_block::<FMA>(w, x, y, scale, &mut dw, &mut loss);
            }
            (total(loss) * scale, dw)
        }
    }
    assert_eq!(x.dim(), (y.len(), w.len()));
    let (value, dw) = wide::run(Run { w: slice(w), x: rows(x), y: slice(y) });
    (value, dw.into())
}

#[inline(always)]
fn logistic_block<const FMA: bool>(
    w: &[f64],
    x: &[f64],
    y: &[f64],
    scale: f64,
    dw: &mut [f64],
    loss: &mut [f64; BLOCK],
) {
    let n = w.len();
    let mut margin = [0.0; BLOCK];
    for ((margin, row), y) in margin.iter_mut().zip(x.chunks_exact(n)).zip(y) {
        *margin = -y * lanes_dot::<FMA>(row, w);
    }
    let mut slope = [0.0; BLOCK];
    let mut term = [0.0; BLOCK];
    for k in 0..BLOCK {
        let e = wide::exp::<FMA>(margin[k]);
        slope[k] = e / (1.0 + e) * scale;
        term[k] = wide::ln::<FMA>(1.0 + e);
    }
    for k in 0..y.len() {
        loss[k] += term[k];
        slope[k] *= -y[k];
    }
    let four = x.chunks_exact(4 * n);
    let done = y.len() / 4 * 4;
    for (row, slope) in four.remainder().chunks_exact(n).zip(&slope[done..]) {
        axpy::<FMA>(dw, *slope, row);
    }
    for (rows, slope) in four.zip(slope.as_chunks::<4>().0) {
        let (a, b) = rows.split_at(2 * n);
        let ((r0, r1), (r2, r3)) = (a.split_at(n), b.split_at(n));
        axpy4::<FMA>(dw, *slope, [r0, r1, r2, r3]);
    }
}

/// Row f: entry i gathers from i - 1, i and i + 1; a scatter would wait for its own stores.
pub fn rosenbrock(x: &Array1<f64>) -> (f64, Array1<f64>) {
    struct Run<'a>(&'a [f64]);
    impl Kernel for Run<'_> {
        type Out = (f64, Vec<f64>);
        #[inline(always)]
        fn run<const FMA: bool>(self) -> Self::Out {
            let x = self.0;
            let n = x.len();
            let mut dx = vec![0.0; n];
            if n < 2 {
                return (0.0, dx);
            }
            let (value, gradient) = terms::<FMA>(x[0], x[1]);
            dx[0] = gradient;
            let value = value + rosenbrock_inside::<FMA>(&mut dx[1..n - 1], &x[..n - 2], &x[1..n - 1], &x[2..]);
            dx[n - 1] = 200.0 * (x[n - 1] - x[n - 2] * x[n - 2]);
            (value, dx)
        }
    }
    /// Value of term i, and its derivative with respect to `x[i]`.
    #[inline(always)]
    fn terms<const FMA: bool>(x: f64, next: f64) -> (f64, f64) {
        let t = madd::<FMA>(-x, x, next);
        let u = 1.0 - x;
        (madd::<FMA>(100.0 * t, t, u * u), madd::<FMA>(-400.0 * t, x, -2.0 * u))
    }
    #[inline(always)]
    fn rosenbrock_inside<const FMA: bool>(dx: &mut [f64], before: &[f64], x: &[f64], next: &[f64]) -> f64 {
        let n = dx.len();
        let (dx, dx_rest) = dx.as_chunks_mut::<LANES>();
        let (before, before_rest) = before[..n].as_chunks::<LANES>();
        let (x, x_rest) = x[..n].as_chunks::<LANES>();
        let (next, next_rest) = next[..n].as_chunks::<LANES>();
        let one = |before: f64, x: f64, next: f64| {
            let (value, gradient) = terms::<FMA>(x, next);
            (value, madd::<FMA>(200.0, madd::<FMA>(-before, before, x), gradient))
        };
        let mut lanes = [0.0; LANES];
        for (((dx, before), x), next) in dx.iter_mut().zip(before).zip(x).zip(next) {
            for k in 0..LANES {
                let (value, gradient) = one(before[k], x[k], next[k]);
                lanes[k] += value;
                dx[k] = gradient;
            }
        }
        let mut rest = 0.0;
        for (((dx, before), x), next) in dx_rest.iter_mut().zip(before_rest).zip(x_rest).zip(next_rest) {
            let (value, gradient) = one(*before, *x, *next);
            rest += value;
            *dx = gradient;
        }
        total(lanes) + rest
    }
    let (value, dx) = wide::run(Run(slice(x)));
    (value, dx.into())
}

/// Row g: the exponentials are the gradient, up to a factor.
pub fn logsumexp(x: &Array1<f64>) -> (f64, Array1<f64>) {
    struct Run<'a>(&'a [f64]);
    impl Kernel for Run<'_> {
        type Out = (f64, Vec<f64>);
        #[inline(always)]
        fn run<const FMA: bool>(self) -> Self::Out {
            let x = self.0;
            let max = maximum(x);
            let mut dx = vec![0.0; x.len()];
            let sum = exponentials::<FMA>(&mut dx, x, max);
            let scale = 1.0 / sum;
            for dx in &mut dx {
                *dx *= scale;
            }
            (sum.ln() + max, dx)
        }
    }
    let (value, dx) = wide::run(Run(slice(x)));
    (value, dx.into())
}

#[inline(always)]
pub fn maximum(x: &[f64]) -> f64 {
    let (blocks, rest) = x.as_chunks::<LANES>();
    let larger = |a: f64, b: f64| if a < b { b } else { a };
    let mut lanes = [f64::NEG_INFINITY; LANES];
    for x in blocks {
        for k in 0..LANES {
            lanes[k] = larger(lanes[k], x[k]);
        }
    }
    rest.iter().copied().fold(lanes.into_iter().fold(f64::NEG_INFINITY, larger), larger)
}

/// Stores `exp(x - shift)`, returns the sum.
#[inline(always)]
pub fn exponentials<const FMA: bool>(out: &mut [f64], x: &[f64], shift: f64) -> f64 {
    let (x_blocks, x_rest) = x[..out.len()].as_chunks::<LANES>();
    let (out_blocks, out_rest) = out.as_chunks_mut::<LANES>();
    let mut lanes = [0.0; LANES];
    for (out, x) in out_blocks.iter_mut().zip(x_blocks) {
        for k in 0..LANES {
            out[k] = wide::exp::<FMA>(x[k] - shift);
            lanes[k] += out[k];
        }
    }
    let mut rest = 0.0;
    for (out, x) in out_rest.iter_mut().zip(x_rest) {
        *out = wide::exp::<FMA>(x - shift);
        rest += *out;
    }
    total(lanes) + rest
}
