//! Functions of a matrix: powers and the exponential.
//!
//! This module must never take a decision that a derivative does not take: the compiler composes
//! the same operations (`ad-front/src/linalg.rs`), with the same constants.

use ndarray::{Array2, Ix2};

use super::{Expected, of_shape, solved, square};
use crate::Real;
use crate::dsl::Elements;

/// The product of k factors `a`, by repeated squaring. That of none is the unit matrix.
///
/// Shape: that of `a`, (n, n).
///
/// # Panics
///
/// If the matrix is not square.
///
/// ```
/// use ad_runtime::linalg::matrix_power;
/// use ndarray::array;
/// let a = array![[1.0, 1.0], [1.0, 0.0]];
/// assert_eq!(matrix_power(&a, 10), array![[89.0, 55.0], [55.0, 34.0]]);
/// ```
#[must_use]
#[track_caller]
pub fn matrix_power<F: Real, A: Elements<Elem = F, Rank = Ix2> + ?Sized>(a: &A, k: usize) -> Array2<F> {
    let n = square("matrix_power", a);
    let mut square = of_shape([n, n], a.contiguous().into_owned());
    let mut power = Array2::eye(n);
    let mut left = k;
    while left > 0 {
        if left % 2 == 1 {
            power = power.dot(&square);
        }
        left /= 2;
        if left > 0 {
            square = square.dot(&square);
        }
    }
    power
}

/// The coefficients of the Pade quotient of degree 13, by the first (Higham 2005, equation 2.3).
/// `ad-front` has them too: neither crate depends on the other, and `tidy` holds them equal.
const PADE: [f64; 14] = [
    1.0,
    0.5,
    0.12,
    0.018_333_333_333_333_333,
    0.001_992_753_623_188_405_7,
    0.000_163_043_478_260_869_58,
    1.035_196_687_370_600_3e-5,
    5.175_983_436_853_002e-7,
    2.043_151_356_652_500_8e-8,
    6.306_022_705_717_595e-10,
    1.483_770_048_404_14e-11,
    2.529_153_491_597_966e-13,
    2.810_170_546_219_962_3e-15,
    1.544_049_750_670_308_8e-17,
];

/// The largest norm for which the quotient is exact in double precision (Higham 2005, table 2.3).
const MAX_NORM: f64 = 5.371_920_351_148_152;

/// The exponential of a matrix: the sum of `a^k / k!`.
///
/// Shape: that of `a`, (n, n). It is computed by scaling and squaring with a Pade quotient (Higham,
/// "The scaling and squaring method for the matrix exponential revisited", 2005), and the
/// derivative is that of these operations.
///
/// # Panics
///
/// If an element is not finite, or if the matrix is not square.
///
/// ```
/// use ad_runtime::linalg::expm;
/// use ndarray::array;
/// let turned = expm(&array![[0.0, -1.0], [1.0, 0.0]]);
/// let expected = array![[1.0_f64.cos(), -1.0_f64.sin()], [1.0_f64.sin(), 1.0_f64.cos()]];
/// assert!((turned - expected).iter().all(|x| x.abs() < 1e-15));
/// ```
#[must_use]
#[track_caller]
pub fn expm<F: Real, A: Elements<Elem = F, Rank = Ix2> + ?Sized>(a: &A) -> Array2<F> {
    let n = square("expm", a);
    let a = of_shape([n, n], a.contiguous().into_owned());
    let columns = a.columns().into_iter().map(|c| c.iter().fold(F::zero(), |sum, x| sum + x.abs()));
    let mut left = columns.fold(F::neg_infinity(), |m, x| m.max(x));
    let mut halvings = 0_i32;
    while left > F::lit(MAX_NORM) && halvings < 1024 {
        left *= F::lit(0.5);
        halvings += 1;
    }
    let a = a * F::lit(0.5).powi(halvings);
    let two = a.dot(&a);
    let four = two.dot(&two);
    let six = four.dot(&two);
    let unit: Array2<F> = Array2::eye(n);
    let c = PADE.map(F::lit);
    let inner = six.dot(&(&six * c[13] + &four * c[11] + &two * c[9]));
    let odd = a.dot(&(inner + &six * c[7] + &four * c[5] + &two * c[3] + &unit * c[1]));
    let inner = six.dot(&(&six * c[12] + &four * c[10] + &two * c[8]));
    let even = inner + &six * c[6] + &four * c[4] + &two * c[2] + unit;
    let quotient = solved("expm", &(&even - &odd), &(&even + &odd));
    let mut power = quotient.expect_or("expm: the matrix has an element that is not finite");
    for _ in 0..halvings {
        power = power.dot(&power);
    }
    power
}
