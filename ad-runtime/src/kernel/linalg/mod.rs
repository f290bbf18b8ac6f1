//! Factorisations of matrices, and solutions of systems of equations, for a batch of row-major
//! matrices. A matrix without a factorisation has one that is NaN everywhere.
//!
//! The algorithms are those of Golub and Van Loan, "Matrix Computations". Large matrices are cut
//! into blocks, and most of the work is products of blocks by `matrixmultiply`.
//!
//! These kernels may allocate. None may read elements that its matrix is said not to have.

mod change;
mod cholesky;
mod eigh;
mod few;
mod lu;
mod qr;
mod triangular;

pub use change::{cholesky_change, cholesky_change_t};
pub use cholesky::cholesky;
pub use eigh::eigh;
pub(super) use few::{lu_of_rows, lu_solve_of_rows};
pub use lu::{log_det, lu, lu_solve, lu_solve_t};
pub use qr::qr;
pub use triangular::{solve_lower, solve_lower_t, solve_upper, solve_upper_t};

use crate::Real;

// Why these kernels do not call a library: a build of faer takes about 100 seconds of a core, and
// one of nalgebra about 20. These kernels add no dependency, and since they are generic they are
// compiled only where they are called. Measured on one thread of a machine that had other work,
// f64, the least time of several runs in microseconds (ours, nalgebra 0.34, faer 0.24):
//
// | | n = 4 | 32 | 256 | 1024 |
// | --- | --- | --- | --- | --- |
// | Cholesky | 0.13, 0.08, 0.19 | 2.8, 2.3, 1.5 | 402, 548, 176 | 23 100, 67 400, 9 560 |
// | one system | 0.24, 0.11, 0.43 | 4.2, 4.4, 5.0 | 500, 1 340, 426 | 36 300, 143 000, 44 300 |
// | inverse | 0.34, 0.08, 0.80 | 10, 22, 12 | 2 790, 5 270, 2 030 | 106 000, 639 000, 108 000 |
// | QR | 0.48, 0.31, 0.79 | 28, 16, 22 | 5 020, 4 820, 2 670 | 441 000, 502 000, 132 000 |
// | `eigh` | 1.2, 0.75, 1.6 | 58, 48, 63 | 9 210, 15 100, 5 510 | 1 320 000, -, 305 000 |
//
// The kernels for two to six rows (`few`) are newer than the table: at n = 4 they halve the time of
// a factorisation, and a solution takes a quarter. The most important missing optimisation is
// blocks in the QR factorisation and in the reduction to tridiagonal form.

/// The number of rows and columns of a block. With 32, the loops inside of blocks do about a tenth
/// of the work at n = 256, and `matrixmultiply` is near its full speed.
const BLOCK: usize = 32;

/// The number of matrices of `size` elements in an array of this length.
#[track_caller]
fn batch(len: usize, size: usize) -> usize {
    let count = quotient(len, size);
    assert!(len == count * size, "{len} elements are not matrices of {size}");
    count
}

/// `a / b`, and 0 if b is 0. A batch of one small matrix does not wait for a division.
fn quotient(a: usize, b: usize) -> usize {
    match b {
        0 => 0,
        1 => a,
        _ if a == b => 1,
        _ => a / b,
    }
}

/// Calls `f` with each matrix of `[rows, n]` and the place of its factorisation. A factorisation
/// that fails becomes NaN.
#[track_caller]
fn each_matrix<F: Real>(out: &mut [F], a: &[F], [rows, n]: [usize; 2], f: impl Fn(&mut [F], &[F]) -> bool) {
    let count = batch(a.len(), rows * n);
    let size = quotient(out.len(), count);
    assert!(size * count == out.len(), "{} elements for {count} factorisations", out.len());
    for k in 0..count {
        let own = &mut out[k * size..][..size];
        if !f(own, &a[k * rows * n..][..rows * n]) {
            own.fill(F::nan());
        }
    }
}

/// Writes the symmetric part of a matrix of n rows.
fn symmetric_part<F: Real>(out: &mut [F], a: &[F], n: usize) {
    let half = F::lit(0.5);
    for i in 0..n {
        out[i * n + i] = a[i * n + i];
        for j in 0..i {
            let mean = half * (a[i * n + j] + a[j * n + i]);
            (out[i * n + j], out[j * n + i]) = (mean, mean);
        }
    }
}

/// Two rows of a matrix of n columns, `i < j`.
fn two_rows<F>(a: &mut [F], n: usize, i: usize, j: usize) -> (&mut [F], &mut [F]) {
    let (above, below) = a.split_at_mut(j * n);
    (&mut above[i * n..][..n], &mut below[..n])
}
