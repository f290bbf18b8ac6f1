//! Discrete Fourier transforms, on `rustfft`. Transforms of `f32` are computed in `f64`. Numbers
//! with derivatives are transformed by the definition.
//!
//! The algorithm depends on the number of elements and the processor alone, so the same elements
//! give the same bits. This module must never divide by the number of elements.

use alloc::vec;
use core::cell::RefCell;

use rustfft::num_complex::Complex;
use rustfft::{FftDirection, FftPlanner};

use crate::Real;

std::thread_local! {
    // A planner keeps the algorithm of each length that it has seen.
    static PLANNER: RefCell<FftPlanner<f64>> = RefCell::new(FftPlanner::new());
}

/// The transform `y_k = sum_j x_j exp(-2 pi i j k / n)` of each pair of rows of `n` elements. A
/// pair is the real and the imaginary parts.
///
/// # Panics
///
/// If the lengths differ, or if they are not a whole number of pairs.
#[track_caller]
pub fn fourier<F: Real>(out: &mut [F], x: &[F], n: usize) {
    transform(out, x, n, FftDirection::Forward);
}

/// [`fourier`] with the other sign of the exponent. It is the transpose of [`fourier`] as a linear
/// map of real numbers.
///
/// # Panics
///
/// As [`fourier`].
#[track_caller]
pub fn fourier_back<F: Real>(out: &mut [F], x: &[F], n: usize) {
    transform(out, x, n, FftDirection::Inverse);
}

#[track_caller]
fn transform<F: Real>(out: &mut [F], x: &[F], n: usize, direction: FftDirection) {
    let pair = 2 * n.max(1);
    assert!(out.len() == x.len() && x.len().is_multiple_of(pair), "the rows of a transform do not fit");
    if n == 0 {
        return;
    }
    if !F::IS_MACHINE {
        out.chunks_exact_mut(pair).zip(x.chunks_exact(pair)).for_each(|(out, x)| by_definition(out, x, direction));
        return;
    }
    let algorithm = PLANNER.with_borrow_mut(|planner| planner.plan_fft(n, direction));
    let mut scratch = vec![Complex::default(); algorithm.get_inplace_scratch_len()];
    let mut buffer = vec![Complex::default(); n];
    for (out, x) in out.chunks_exact_mut(pair).zip(x.chunks_exact(pair)) {
        for (c, (re, im)) in buffer.iter_mut().zip(x[..n].iter().zip(&x[n..])) {
            *c = Complex::new(re.as_f64(), im.as_f64());
        }
        algorithm.process_with_scratch(&mut buffer, &mut scratch);
        let (re, im) = out.split_at_mut(n);
        for (c, (re, im)) in buffer.iter().zip(re.iter_mut().zip(im)) {
            (*re, *im) = (F::lit(c.re), F::lit(c.im));
        }
    }
}

/// One transform in quadratic time: for numbers that `rustfft` does not know.
fn by_definition<F: Real>(out: &mut [F], x: &[F], direction: FftDirection) {
    let n = x.len() / 2;
    let ((re, im), (out_re, out_im)) = (x.split_at(n), out.split_at_mut(n));
    for (k, (out_re, out_im)) in out_re.iter_mut().zip(out_im).enumerate() {
        let (mut a, mut b) = (F::zero(), F::zero());
        for (j, (&re, &im)) in re.iter().zip(im).enumerate() {
            #[allow(clippy::cast_precision_loss, reason = "the number of elements is far below 2^53")]
            let angle = core::f64::consts::TAU * ((j * k) % n) as f64 / n as f64;
            let (cos, sin) = (F::lit(angle.cos()), F::lit(angle.sin()));
            let sin = if direction == FftDirection::Forward { sin } else { -sin };
            a += re * cos + im * sin;
            b += im * cos - re * sin;
        }
        (*out_re, *out_im) = (a, b);
    }
}
