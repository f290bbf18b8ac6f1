//! Linear algebra as ordinary functions, which a differentiated function may call.
//!
//! Matrices are arrays of rank 2 of `f32` or `f64`, in any memory layout, and right-hand sides have
//! rank 1 or 2. Each function can be differentiated any number of times, in loops and in builds.
//!
//! | | |
//! | --- | --- |
//! | systems of equations | [`solve`], [`solve_triangular`], [`lstsq`], [`inv`] |
//! | determinants | [`det`], [`slogdet`] |
//! | factorisations | [`cholesky`], [`lu`], [`qr`], [`eigh`], [`svd`] |
//! | functions of a matrix | [`matrix_power`], [`expm`] |
//! | with an `Option` as the result | [`try_cholesky`], [`try_solve`], [`try_inv`] |
//!
//! # Panics
//!
//! A function panics if its result does not exist (a singular matrix has no inverse), and so do the
//! derivatives of a function that calls it. If a matrix is singular up to rounding, this may depend
//! on the last bits of its elements, which may differ between a function and its derivative.
//!
//! This module must never have an algorithm of its own where a kernel has one.

mod functions;

use alloc::format;
use alloc::vec;
use alloc::vec::Vec;

pub use functions::{expm, matrix_power};

use ndarray::{Array1, Array2, Dimension, Ix1, Ix2, s};

use crate::Real;
use crate::dsl::{Elements, Rank};
use crate::kernel;

/// Which triangle a matrix is. The elements outside of it are not read.
///
/// ```
/// use ad_runtime::linalg::{Uplo, solve_triangular};
/// use ndarray::array;
/// let a = array![[2.0, 7.0], [1.0, 4.0]];
/// assert_eq!(solve_triangular(&a, &array![2.0, 9.0], Uplo::Lower), array![1.0, 2.0]);
/// assert_eq!(solve_triangular(&a, &array![9.0, 4.0], Uplo::Upper), array![1.0, 1.0]);
/// ```
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Uplo {
    /// The diagonal and what is below it.
    Lower,
    /// The diagonal and what is above it.
    Upper,
}

/// The rank of a right-hand side: 1 for one, 2 for several as columns.
///
/// ```
/// use ad_runtime::linalg::solve;
/// use ndarray::array;
///
/// let a = array![[2.0, 0.0], [0.0, 4.0]];
/// assert_eq!(solve(&a, &array![2.0, 4.0]), array![1.0, 1.0]);
/// assert_eq!(solve(&a, &array![[2.0], [8.0]]), array![[1.0], [2.0]]);
/// ```
#[diagnostic::on_unimplemented(
    message = "a right-hand side has rank 1 or 2",
    label = "expected an array of rank 1 or 2"
)]
pub trait Columns: Rank {
    /// The solution's type.
    type Solution<F>;

    /// The solution of `n` rows with these elements, for a right-hand side of this shape.
    fn solution<F>(&self, n: usize, data: Vec<F>) -> Self::Solution<F>;
}

impl Columns for Ix1 {
    type Solution<F> = Array1<F>;

    fn solution<F>(&self, _: usize, data: Vec<F>) -> Array1<F> {
        Array1::from_vec(data)
    }
}

impl Columns for Ix2 {
    type Solution<F> = Array2<F>;

    fn solution<F>(&self, n: usize, data: Vec<F>) -> Array2<F> {
        of_shape([n, self[1]], data)
    }
}

#[track_caller]
fn of_shape<F>([rows, columns]: [usize; 2], data: Vec<F>) -> Array2<F> {
    Array2::from_shape_vec((rows, columns), data).expect("as many elements as the shape says")
}

/// The number of rows of a matrix with as many columns.
#[track_caller]
fn square<A: Elements<Rank = Ix2> + ?Sized>(name: &str, a: &A) -> usize {
    let dims = a.dims();
    assert!(dims[0] == dims[1], "{name}: the matrix has {} rows and {} columns", dims[0], dims[1]);
    dims[0]
}

#[track_caller]
fn rows_fit<B: Elements + ?Sized>(name: &str, n: usize, b: &B) {
    let rows = b.dims().slice()[0];
    assert!(n == rows, "{name}: the matrix has {n} rows and the right-hand side {rows}");
}

/// A factorisation, if there is one.
fn factored<F: Real>(len: usize, f: impl FnOnce(&mut [F])) -> Option<Vec<F>> {
    let mut packed = vec![F::zero(); len];
    f(&mut packed);
    packed.first().is_none_or(|x| *x < F::infinity()).then_some(packed)
}

/// The lower triangular matrix l with positive diagonal and `l l' = a`, for a symmetric positive
/// definite matrix a.
///
/// It is the factor of the symmetric part `(a + a') / 2`. So both triangles of `a` have an effect,
/// and the derivative with respect to a is a symmetric matrix.
///
/// Shape: that of `a`, (n, n). Derivative: Murray, "Differentiation of the Cholesky decomposition"
/// (2016).
///
/// # Panics
///
/// If the matrix is not positive definite, or not square.
///
/// ```
/// use ad_runtime::linalg::cholesky;
/// use ndarray::array;
/// assert_eq!(cholesky(&array![[4.0, 2.0], [2.0, 10.0]]), array![[2.0, 0.0], [1.0, 3.0]]);
/// ```
#[must_use]
#[track_caller]
pub fn cholesky<F: Real, A: Elements<Elem = F, Rank = Ix2> + ?Sized>(a: &A) -> Array2<F> {
    factor_of_definite("cholesky", a).expect_or("cholesky: the matrix is not positive definite")
}

/// [`cholesky`], or `None` if the matrix is not positive definite.
///
/// # Panics
///
/// If the matrix is not square.
///
/// ```
/// use ad_runtime::linalg::try_cholesky;
/// assert!(try_cholesky(&ndarray::array![[1.0, 2.0], [2.0, 1.0]]).is_none());
/// ```
#[must_use]
#[track_caller]
pub fn try_cholesky<F: Real, A: Elements<Elem = F, Rank = Ix2> + ?Sized>(a: &A) -> Option<Array2<F>> {
    factor_of_definite("try_cholesky", a)
}

#[track_caller]
fn factor_of_definite<F: Real, A: Elements<Elem = F, Rank = Ix2> + ?Sized>(name: &str, a: &A) -> Option<Array2<F>> {
    let n = square(name, a);
    let packed = factored(n * n, |out| kernel::cholesky(out, &a.contiguous(), n))?;
    Some(of_shape([n, n], packed))
}

/// An `Option` that has to be there, with a message that begins with the name of the function.
trait Expected<T> {
    fn expect_or(self, message: &str) -> T;
}

impl<T> Expected<T> for Option<T> {
    #[track_caller]
    fn expect_or(self, message: &str) -> T {
        match self {
            Some(x) => x,
            None => panic!("{message}"),
        }
    }
}

/// x with `t x = b`, for the triangle of `t` that `uplo` names. The other elements of `t` are not
/// read, and have derivative zero.
///
/// Shape: that of `b`, (n) or (n, k), for t (n, n). Derivative: Giles, "Collected matrix derivative
/// results" (2008), section 2.3.
///
/// # Panics
///
/// If an element of the diagonal is zero, if the matrix is not square, or if the numbers of rows
/// differ.
///
/// ```
/// use ad_runtime::linalg::{Uplo, solve_triangular};
/// use ndarray::array;
/// let l = array![[2.0, 0.0], [1.0, 4.0]];
/// assert_eq!(solve_triangular(&l, &array![2.0, 9.0], Uplo::Lower), array![1.0, 2.0]);
/// assert_eq!(solve_triangular(&l.t(), &array![4.0, 8.0], Uplo::Upper), array![1.0, 2.0]);
/// ```
#[must_use]
#[track_caller]
pub fn solve_triangular<F, A, B>(t: &A, b: &B, uplo: Uplo) -> <B::Rank as Columns>::Solution<F>
where
    F: Real,
    A: Elements<Elem = F, Rank = Ix2> + ?Sized,
    B: Elements<Elem = F, Rank: Columns> + ?Sized,
{
    let n = square("solve_triangular", t);
    rows_fit("solve_triangular", n, b);
    let (matrix, given) = (t.contiguous(), b.contiguous());
    let regular = (0..n).all(|k| matrix[k * n + k] != F::zero());
    assert!(regular, "solve_triangular: the matrix is singular");
    let mut x = vec![F::zero(); given.len()];
    match uplo {
        Uplo::Lower => kernel::solve_lower(&mut x, &given, &matrix, n),
        Uplo::Upper => kernel::solve_upper(&mut x, &given, &matrix, n),
    }
    b.dims().solution(n, x)
}

/// The number of rows of the LU factorisation of a matrix of n rows (`kernel::lu`).
const LU_ROWS: usize = 3;

/// The LU factorisation of a matrix of n rows.
#[track_caller]
fn lu_of<F: Real>(a: &[F], n: usize) -> Option<Vec<F>> {
    factored((n + LU_ROWS) * n, |out| kernel::lu(out, a, n))
}

/// x with `a x = b`, by the LU factorisation with partial pivoting.
///
/// Shape: that of `b`, (n) or (n, k), for a (n, n). Derivative: Giles (2008), section 2.3. The
/// factorisation is computed once for the value and the derivative.
///
/// # Panics
///
/// If the matrix is singular (a pivot is zero, or not finite), if it is not square, or if the
/// numbers of rows differ.
///
/// ```
/// use ad_runtime::linalg::solve;
/// use ndarray::array;
/// assert_eq!(solve(&array![[1.0, 3.0], [2.0, 4.0]], &array![5.0, 8.0]), array![2.0, 1.0]);
/// ```
#[must_use]
#[track_caller]
pub fn solve<F, A, B>(a: &A, b: &B) -> <B::Rank as Columns>::Solution<F>
where
    F: Real,
    A: Elements<Elem = F, Rank = Ix2> + ?Sized,
    B: Elements<Elem = F, Rank: Columns> + ?Sized,
{
    solved("solve", a, b).expect_or("solve: the matrix is singular")
}

/// [`solve`], or `None` if the matrix is singular.
///
/// # Panics
///
/// If the matrix is not square, or if the numbers of rows differ.
///
/// ```
/// use ad_runtime::linalg::try_solve;
/// use ndarray::array;
/// assert!(try_solve(&array![[1.0, 2.0], [2.0, 4.0]], &array![1.0, 1.0]).is_none());
/// ```
#[must_use]
#[track_caller]
pub fn try_solve<F, A, B>(a: &A, b: &B) -> Option<<B::Rank as Columns>::Solution<F>>
where
    F: Real,
    A: Elements<Elem = F, Rank = Ix2> + ?Sized,
    B: Elements<Elem = F, Rank: Columns> + ?Sized,
{
    solved("try_solve", a, b)
}

#[track_caller]
fn solved<F, A, B>(name: &str, a: &A, b: &B) -> Option<<B::Rank as Columns>::Solution<F>>
where
    F: Real,
    A: Elements<Elem = F, Rank = Ix2> + ?Sized,
    B: Elements<Elem = F, Rank: Columns> + ?Sized,
{
    let n = square(name, a);
    rows_fit(name, n, b);
    let (matrix, given) = (a.contiguous(), b.contiguous());
    let packed = lu_of(&matrix, n)?;
    let mut x = vec![F::zero(); given.len()];
    kernel::lu_solve(&mut x, &given, &matrix, &packed, n);
    Some(b.dims().solution(n, x))
}

/// The inverse. `solve(&a, &b)` is faster and more accurate than `inv(&a).dot(&b)`.
///
/// Shape: that of `a`, (n, n). Derivative: Giles (2008), section 2.2.3.
///
/// # Panics
///
/// If the matrix is singular, or not square.
///
/// ```
/// use ad_runtime::linalg::inv;
/// use ndarray::array;
/// assert_eq!(inv(&array![[1.0, 3.0], [2.0, 4.0]]), array![[-2.0, 1.5], [1.0, -0.5]]);
/// ```
#[must_use]
#[track_caller]
pub fn inv<F: Real, A: Elements<Elem = F, Rank = Ix2> + ?Sized>(a: &A) -> Array2<F> {
    let n = square("inv", a);
    solved("inv", a, &Array2::eye(n)).expect_or("inv: the matrix is singular")
}

/// [`inv`], or `None` if the matrix is singular.
///
/// # Panics
///
/// If the matrix is not square.
///
/// ```
/// use ad_runtime::linalg::try_inv;
/// assert!(try_inv(&ndarray::array![[1.0, 2.0], [2.0, 4.0]]).is_none());
/// ```
#[must_use]
#[track_caller]
pub fn try_inv<F: Real, A: Elements<Elem = F, Rank = Ix2> + ?Sized>(a: &A) -> Option<Array2<F>> {
    let n = square("try_inv", a);
    solved("try_inv", a, &Array2::eye(n))
}

/// The factorisation of a matrix of n rows, and n.
#[track_caller]
fn regular<F: Real, A: Elements<Elem = F, Rank = Ix2> + ?Sized>(name: &str, a: &A) -> (Vec<F>, usize) {
    let n = square(name, a);
    (lu_of(&a.contiguous(), n).expect_or(&format!("{name}: the matrix is singular")), n)
}

/// The sign of the permutation of a factorisation.
fn parity<F: Real>(packed: &[F], n: usize) -> F {
    packed[(n + 2) * n..].iter().copied().product()
}

/// The determinant, by the LU factorisation. The determinant of a matrix without rows is 1.
///
/// Derivative: Giles (2008), section 2.2.4, by the factorisation. It needs the inverse, so a
/// singular matrix panics, although its determinant is 0.
///
/// # Panics
///
/// If the matrix is singular, or not square.
///
/// ```
/// use ad_runtime::linalg::det;
/// assert_eq!(det(&ndarray::array![[1.0, 3.0], [2.0, 4.0]]), -2.0);
/// ```
#[must_use]
#[track_caller]
pub fn det<F: Real, A: Elements<Elem = F, Rank = Ix2> + ?Sized>(a: &A) -> F {
    let (packed, n) = regular("det", a);
    (0..n).map(|k| packed[k * n + k]).product::<F>() * parity(&packed, n)
}

/// The sign of the determinant (1 or -1), and the natural logarithm of its absolute value, which
/// does not overflow.
///
/// Derivative: Giles (2008), section 2.2.4: `d ln |det a| = tr(a^-1 da)`, and 0 of the sign.
///
/// # Panics
///
/// If the matrix is singular, or not square.
///
/// ```
/// use ad_runtime::linalg::slogdet;
/// let (sign, ln) = slogdet(&ndarray::array![[1.0, 3.0], [2.0, 4.0]]);
/// assert!(sign == -1.0 && (ln - 2.0_f64.ln()).abs() < 1e-15);
/// ```
#[must_use]
#[track_caller]
pub fn slogdet<F: Real, A: Elements<Elem = F, Rank = Ix2> + ?Sized>(a: &A) -> (F, F) {
    let (packed, n) = regular("slogdet", a);
    let mut ln = [F::zero()];
    kernel::log_det(&mut ln, &[], &packed, n);
    let signs = packed[(n + 1) * n..][..n].iter().copied();
    (signs.product::<F>() * parity(&packed, n), ln[0])
}

/// The permutation matrix p, the lower triangular matrix l with ones on its diagonal, and the upper
/// triangular matrix u with `a = p l u`.
///
/// Derivative: Giles (2008), section 2.3, and de Hoog, Anderssen and Lukas, "Differentiation of
/// matrix functionals using triangular factorization" (2011). p is a constant.
///
/// # Panics
///
/// If the matrix is singular, or not square.
///
/// ```
/// use ad_runtime::linalg::lu;
/// use ndarray::array;
/// let (p, l, u) = lu(&array![[1.0, 3.0], [2.0, 4.0]]);
/// assert_eq!(p, array![[0.0, 1.0], [1.0, 0.0]]);
/// assert_eq!(l, array![[1.0, 0.0], [0.5, 1.0]]);
/// assert_eq!(u, array![[2.0, 4.0], [0.0, 1.0]]);
/// ```
#[must_use]
#[track_caller]
pub fn lu<F: Real, A: Elements<Elem = F, Rank = Ix2> + ?Sized>(a: &A) -> (Array2<F>, Array2<F>, Array2<F>) {
    let n = square("lu", a);
    let packed = lu_of(&a.contiguous(), n).expect_or("lu: the matrix is singular");
    let at = |i: usize, j: usize| packed[i * n + j];
    let unit = |here: bool| if here { F::one() } else { F::zero() };
    let order: Vec<Option<usize>> = (0..n).map(|k| at(n, k).to_usize()).collect();
    let p = Array2::from_shape_fn((n, n), |(i, k)| unit(order[k] == Some(i)));
    let l = Array2::from_shape_fn((n, n), |(i, j)| if i > j { at(i, j) } else { unit(i == j) });
    let u = Array2::from_shape_fn((n, n), |(i, j)| if i <= j { at(i, j) } else { F::zero() });
    (p, l, u)
}

/// The factors of a matrix of m rows and n columns, for a function of this name.
#[track_caller]
fn factors<F: Real, A: Elements<Elem = F, Rank = Ix2> + ?Sized>(name: &str, a: &A) -> (Array2<F>, Array2<F>) {
    let dims = a.dims();
    let (m, n) = (dims[0], dims[1]);
    assert!(n <= m, "{name}: the matrix has more columns than rows");
    let packed = factored((m + n) * n, |out| kernel::qr(out, &a.contiguous(), n));
    let packed = packed.expect_or(&format!("{name}: the columns of the matrix are linearly dependent"));
    let all = of_shape([m + n, n], packed);
    (all.slice(s![..m, ..]).to_owned(), all.slice(s![m.., ..]).to_owned())
}

/// The matrix q with orthonormal columns, and the upper triangular matrix r with positive diagonal,
/// with `a = q r` (the thin factorisation).
///
/// Shape: q (m, n) and r (n, n), for a (m, n) with `n <= m`. Derivative: Walter and Lehmann,
/// "Algorithmic differentiation of linear algebra functions" (2012); Roberts and Roberts, "QR and
/// LQ decomposition matrix backpropagation algorithms" (2020).
///
/// # Panics
///
/// If the columns are linearly dependent (up to rounding), or if there are more of them than rows.
///
/// ```
/// use ad_runtime::linalg::qr;
/// use ndarray::array;
/// let a = array![[3.0, 1.0], [4.0, 2.0], [0.0, 2.0]];
/// let (q, r) = qr(&a);
/// assert!((q.dot(&r) - &a).iter().all(|x: &f64| x.abs() < 1e-15));
/// assert!((r[[0, 0]] - 5.0).abs() < 1e-15 && r[[1, 0]] == 0.0);
/// ```
#[must_use]
#[track_caller]
pub fn qr<F: Real, A: Elements<Elem = F, Rank = Ix2> + ?Sized>(a: &A) -> (Array2<F>, Array2<F>) {
    factors("qr", a)
}

/// The x for which the sum of the squares of `a x - b` is smallest, by the QR factorisation.
///
/// Shape: (n) or (n, k), for a (m, n) with `n <= m` and b (m) or (m, k). Derivative: that of `qr`.
///
/// # Panics
///
/// If the columns of `a` are linearly dependent (up to rounding), if there are more of them than
/// rows, or if the numbers of rows differ.
///
/// ```
/// use ad_runtime::linalg::lstsq;
/// use ndarray::array;
/// let x = lstsq(&array![[1.0, 0.0], [1.0, 1.0], [1.0, 2.0]], &array![1.0, 3.0, 5.0]);
/// assert!((x - array![1.0, 2.0]).iter().all(|x: &f64| x.abs() < 1e-14));
/// ```
#[must_use]
#[track_caller]
pub fn lstsq<F, A, B>(a: &A, b: &B) -> <B::Rank as Columns>::Solution<F>
where
    F: Real,
    A: Elements<Elem = F, Rank = Ix2> + ?Sized,
    B: Elements<Elem = F, Rank: Columns> + ?Sized,
{
    let (q, r) = factors("lstsq", a);
    let (m, n) = q.dim();
    rows_fit("lstsq", m, b);
    let given = b.contiguous();
    let columns: usize = b.dims().slice()[1..].iter().product();
    let along = q.t().dot(&of_shape([m, columns], given.into_owned()));
    let mut x = vec![F::zero(); n * columns];
    kernel::solve_upper(&mut x, &kernel::contiguous(&along), &kernel::contiguous(&r), n);
    b.dims().solution(n, x)
}

/// The eigenvalues in ascending order, and the matrix whose columns are the eigenvectors, for a
/// symmetric matrix.
///
/// They are those of the symmetric part `(a + a') / 2`. So both triangles of `a` have an effect,
/// and the derivative with respect to a is a symmetric matrix. The vectors have length 1, and the
/// element of each whose absolute value is largest is positive.
///
/// Shape: (n) and (n, n), for a (n, n). Derivative: Giles (2008), section 3.1. The vectors of an
/// eigenvalue that occurs more than once are not determined, and their derivative is NaN where a
/// function needs it.
///
/// # Panics
///
/// If an element is not finite, or if the matrix is not square.
///
/// ```
/// use ad_runtime::linalg::eigh;
/// let (w, v) = eigh(&ndarray::array![[2.0, 2.0], [2.0, 5.0]]);
/// assert!((w[0] - 1.0_f64).abs() < 1e-15 && (w[1] - 6.0).abs() < 1e-14);
/// assert!((v[[1, 1]] - 2.0 / 5.0_f64.sqrt()).abs() < 1e-15);
/// ```
#[must_use]
#[track_caller]
pub fn eigh<F: Real, A: Elements<Elem = F, Rank = Ix2> + ?Sized>(a: &A) -> (Array1<F>, Array2<F>) {
    let n = square("eigh", a);
    let packed = factored((n + 1) * n, |out| kernel::eigh(out, &a.contiguous(), n));
    let packed = packed.expect_or("eigh: the matrix has an element that is not finite");
    (Array1::from_vec(packed[..n].to_vec()), of_shape([n, n], packed[n..].to_vec()))
}

/// The singular values, from the largest on.
///
/// Shape: (min(m, n)), for a (m, n). Derivative: that of [`eigh`] for the symmetric matrix `[[0,
/// a], [a', 0]]`, whose largest eigenvalues they are.
///
/// # Panics
///
/// If an element is not finite.
///
/// ```
/// use ad_runtime::linalg::svd;
/// let s = svd(&ndarray::array![[3.0, 0.0], [4.0, 0.0], [0.0, 2.0]]);
/// assert!((s - ndarray::array![5.0, 2.0]).iter().all(|x: &f64| x.abs() < 1e-14));
/// ```
#[must_use]
#[track_caller]
pub fn svd<F: Real, A: Elements<Elem = F, Rank = Ix2> + ?Sized>(a: &A) -> Array1<F> {
    let dims = a.dims();
    let (m, n, size) = (dims[0], dims[1], dims[0] + dims[1]);
    let mut both = vec![F::zero(); size * size];
    for (k, &x) in a.contiguous().iter().enumerate() {
        let (i, j) = (k / n, m + k % n);
        (both[i * size + j], both[j * size + i]) = (x, x);
    }
    let packed = factored((size + 1) * size, |out| kernel::eigh(out, &both, size));
    let packed = packed.expect_or("svd: the matrix has an element that is not finite");
    (0..m.min(n)).map(|k| packed[size - 1 - k]).collect()
}
