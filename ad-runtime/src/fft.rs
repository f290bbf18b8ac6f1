//! Discrete Fourier transforms as ordinary functions, which a differentiated function may call.
//!
//! A complex vector is two vectors of `f64` or `f32`: its real and its imaginary parts. The
//! conventions are those of `numpy.fft`: the exponent of the transform is negative, and the inverse
//! divides by the number of elements.
//!
//! | | |
//! | --- | --- |
//! | of complex vectors | [`fft`], [`ifft`] |
//! | of real vectors | [`rfft`], [`irfft`] |
//!
//! All of them are linear, and the derivative of a transform is a transform. This module must never
//! have an algorithm of its own: `kernel::fourier` has one.

use alloc::vec;
use alloc::vec::Vec;

use ndarray::{Array1, Ix1};

use crate::Real;
use crate::dsl::Elements;
use crate::kernel;

/// A pair of rows, the real and the imaginary parts.
#[track_caller]
fn pair<F: Real, A, B>(name: &str, re: &A, im: &B) -> Vec<F>
where
    A: Elements<Elem = F, Rank = Ix1> + ?Sized,
    B: Elements<Elem = F, Rank = Ix1> + ?Sized,
{
    let (re, im) = (re.contiguous(), im.contiguous());
    assert!(re.len() == im.len(), "{name}: {} real parts and {} imaginary parts", re.len(), im.len());
    [re, im].concat()
}

fn transform<F: Real>(rows: &[F], back: bool) -> Vec<F> {
    let (mut out, n) = (vec![F::zero(); rows.len()], rows.len() / 2);
    if back {
        kernel::fourier_back(&mut out, rows, n)
    } else {
        kernel::fourier(&mut out, rows, n)
    }
    out
}

/// The first `len` real and imaginary parts, multiplied by a number.
fn parts<F: Real>(rows: &[F], len: usize, scale: F) -> (Array1<F>, Array1<F>) {
    let (re, im) = rows.split_at(rows.len() / 2);
    let part = |row: &[F]| row[..len].iter().map(|&x| x / scale).collect();
    (part(re), part(im))
}

fn real<F: Real>(n: usize) -> F {
    #[allow(clippy::cast_precision_loss, reason = "the number of elements is far below 2^53")]
    F::lit(n as f64)
}

/// The discrete Fourier transform `y_k = sum_j x_j exp(-2 pi i j k / n)` of the complex vector with
/// these real and imaginary parts: the real and the imaginary parts of y.
///
/// Shape: all have n elements, for any n. Derivative: the transform is linear, and its transpose is
/// n times [`ifft`].
///
/// # Panics
///
/// If there are not as many real as imaginary parts.
///
/// ```
/// use ad_runtime::fft::fft;
/// use ndarray::array;
/// let (re, im) = fft(&array![1.0, 2.0, 0.0, -1.0], &array![0.0, 1.0, 0.0, 0.0]);
/// assert_eq!(re, array![2.0, 2.0, 0.0, 0.0]);
/// assert_eq!(im, array![1.0, -3.0, -1.0, 3.0]);
/// ```
#[must_use]
#[track_caller]
pub fn fft<F: Real, A, B>(re: &A, im: &B) -> (Array1<F>, Array1<F>)
where
    A: Elements<Elem = F, Rank = Ix1> + ?Sized,
    B: Elements<Elem = F, Rank = Ix1> + ?Sized,
{
    let rows = transform(&pair("fft", re, im), false);
    parts(&rows, rows.len() / 2, F::one())
}

/// The inverse of [`fft`]: `x_j = 1/n sum_k y_k exp(2 pi i j k / n)`.
///
/// Shape: all have n elements, for any n. Derivative: that of a linear map whose transpose is
/// [`fft`] divided by n.
///
/// # Panics
///
/// If there are not as many real as imaginary parts.
///
/// ```
/// use ad_runtime::fft::ifft;
/// use ndarray::array;
/// let (re, im) = ifft(&array![2.0, 2.0, 0.0, 0.0], &array![1.0, -3.0, -1.0, 3.0]);
/// assert_eq!(re, array![1.0, 2.0, 0.0, -1.0]);
/// assert_eq!(im, array![0.0, 1.0, 0.0, 0.0]);
/// ```
#[must_use]
#[track_caller]
pub fn ifft<F: Real, A, B>(re: &A, im: &B) -> (Array1<F>, Array1<F>)
where
    A: Elements<Elem = F, Rank = Ix1> + ?Sized,
    B: Elements<Elem = F, Rank = Ix1> + ?Sized,
{
    let rows = transform(&pair("ifft", re, im), true);
    let n = rows.len() / 2;
    parts(&rows, n, real(n))
}

/// The first half of the [`fft`] of a real vector: its elements 0 to n / 2. The others are the
/// conjugates of these.
///
/// Shape: `x` has n elements, and the real and the imaginary parts have n / 2 + 1.
///
/// # Panics
///
/// If the vector is empty.
///
/// ```
/// use ad_runtime::fft::rfft;
/// use ndarray::array;
/// let (re, im) = rfft(&array![1.0, 2.0, 0.0, -1.0]);
/// assert_eq!((re, im), (array![2.0, 1.0, 0.0], array![0.0, -3.0, 0.0]));
/// ```
#[must_use]
#[track_caller]
pub fn rfft<F: Real, A: Elements<Elem = F, Rank = Ix1> + ?Sized>(x: &A) -> (Array1<F>, Array1<F>) {
    let mut rows = x.contiguous().into_owned();
    let n = rows.len();
    assert!(n > 0, "rfft of an empty array");
    rows.resize(2 * n, F::zero());
    parts(&transform(&rows, false), n / 2 + 1, F::one())
}

/// The inverse of [`rfft`]: the real vector of `n` elements with this first half of a transform.
///
/// The imaginary part of the first element does not count, nor does that of the last if `n` is
/// even: they are zero in the transform of a real vector.
///
/// Shape: `re` and `im` have n / 2 + 1 elements, and the result has n.
///
/// # Panics
///
/// If `n` is zero, or if there are not n / 2 + 1 real and imaginary parts.
///
/// ```
/// use ad_runtime::fft::irfft;
/// use ndarray::array;
/// let (re, im) = (array![2.0, 1.0, 0.0], array![0.0, -3.0, 0.0]);
/// assert_eq!(irfft(&re, &im, 4), array![1.0, 2.0, 0.0, -1.0]);
/// ```
#[must_use]
#[track_caller]
pub fn irfft<F: Real, A, B>(re: &A, im: &B, n: usize) -> Array1<F>
where
    A: Elements<Elem = F, Rank = Ix1> + ?Sized,
    B: Elements<Elem = F, Rank = Ix1> + ?Sized,
{
    let half = pair("irfft", re, im);
    assert!(n > 0, "irfft of an empty array");
    let len = half.len() / 2;
    assert!(len == n / 2 + 1, "irfft: {len} elements do not determine {n}");
    let mut rows = vec![F::zero(); 2 * n];
    let (re, im) = rows.split_at_mut(n);
    for (k, (x, y)) in half[..len].iter().zip(&half[len..]).enumerate() {
        // The conjugate has the same real part in each sum. An element without one counts once.
        let weight = if k == 0 || 2 * k == n { F::one() } else { F::lit(2.0) };
        (re[k], im[k]) = (*x * weight, *y * weight);
    }
    parts(&transform(&rows, true), n, real(n)).0
}
