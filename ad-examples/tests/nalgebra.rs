//! Vectors and matrices of nalgebra as arguments of differentiated functions, without copies; and
//! functions that compute with nalgebra, with `mode = "dual_numbers"`.

use ad::ndarray::ShapeBuilder;
use ad::prelude::*;
use nalgebra::{Cholesky, ComplexField, DMatrix, DVector, Matrix2, Point3, RealField, Rotation3, Vector3};

/// The squared error of a linear model; gradients go to memory of the caller.
#[differentiate(into, wrt(w))]
fn loss(x: ArrayView2<'_, f64>, w: &[f64], y: &[f64]) -> f64 {
    let error = |i: usize| (0..w.len()).map(|k| x[[i, k]] * w[k]).sum::<f64>() - y[i];
    (0..y.len()).map(|i| error(i) * error(i)).sum()
}

/// The sum of the weighted squares of a matrix.
#[differentiate(wrt(a))]
fn squares(a: ArrayView2<'_, f64>, weights: &[f64]) -> f64 {
    (0..a.nrows()).map(|i| weights[i] * a.row(i).dot(&a.row(i))).sum()
}

/// A matrix of nalgebra as a view. Its columns are contiguous, which ndarray says by `f`.
fn view(m: &DMatrix<f64>) -> ArrayView2<'_, f64> {
    ArrayView2::from_shape(m.shape().f(), m.as_slice()).expect("as many elements as the shape says")
}

#[test]
fn vectors_are_slices_in_both_directions() {
    let x = DMatrix::from_fn(5, 3, |i, k| ((i * 3 + k) as f64).sin());
    let (w, y) = (DVector::from_vec(vec![0.5, -1.0, 2.0]), DVector::from_fn(5, |i, _| i as f64));
    let mut gradient = DVector::zeros(3);
    let value = loss_value_and_grad_into(view(&x), w.as_slice(), y.as_slice(), gradient.as_mut_slice());
    let error = &x * &w - &y;
    assert!((value - error.norm_squared()).abs() < 1e-12);
    assert!((gradient - 2.0 * x.transpose() * error).norm() < 1e-12);
}

#[test]
fn matrices_are_views() {
    let a = DMatrix::from_fn(2, 3, |i, k| (i as f64) - 0.5 * k as f64);
    let (value, gradient) = squares_value_and_grad(view(&a), &[1.0, 3.0]);
    // A gradient is in standard layout: its rows are contiguous.
    let gradient = DMatrix::from_row_iterator(2, 3, gradient);
    let weights = DMatrix::from_diagonal(&DVector::from_vec(vec![1.0, 3.0]));
    assert!((value - (a.transpose() * &weights * &a).trace()).abs() < 1e-12);
    assert!((gradient - 2.0 * weights * a).norm() < 1e-12);
}

// ---- functions that compute with nalgebra

/// A function of any code with numbers of nalgebra: it knows nothing of `ad`.
fn log_density<T: RealField>(covariance: &DMatrix<T>, x: &DVector<T>) -> T {
    let factor = Cholesky::new(covariance.clone()).expect("a positive definite matrix");
    let half = nalgebra::convert::<f64, T>(0.5);
    -(x.dot(&factor.solve(x)) + factor.ln_determinant()) * half
}

#[differentiate(grad, hvp, jvp, mode = "dual_numbers")]
fn density<T: Real + RealField>(covariance: &DMatrix<T>, x: &DVector<T>) -> T {
    log_density(covariance, x)
}

/// The parameters of a line by a QR factorisation, and the norm of what is left.
#[differentiate(grad, vjp, mode = "dual_numbers")]
fn least_squares<T: Real + RealField>(a: &DMatrix<T>, b: &DVector<T>) -> T {
    let qr = a.clone().qr();
    let x = qr.r().solve_upper_triangular(&(qr.q().transpose() * b)).expect("independent columns");
    (a * &x - b).norm() + x.lp_norm(3) + a.norm() * x.amax()
}

/// A moved point, by angles and a vector: sines, quaternions and static sizes.
#[differentiate(grad, hessian, mode = "dual_numbers")]
fn reached<T: Real + RealField>(angles: [T; 3]) -> T {
    let turn = Rotation3::from_euler_angles(angles[0], angles[1], angles[2]);
    let quaternion = nalgebra::UnitQuaternion::from_rotation_matrix(&turn);
    let moved = quaternion * Point3::new(T::lit(1.0), T::lit(2.0), T::lit(3.0)) + Vector3::x();
    moved.coords.dot(&Vector3::new(T::lit(0.3), T::lit(-0.5), T::lit(0.7))) + ComplexField::exp(quaternion.i)
}

#[differentiate(vjp, mode = "dual_numbers")]
fn solved<T: Real + RealField>(m: &Matrix2<T>, p: &[Point3<T>]) -> DVector<T> {
    let inverse = m.try_inverse().expect("regular");
    DVector::from_iterator(p.len(), p.iter().map(|p| (inverse * p.coords.xy()).norm_squared() + m.determinant()))
}

#[derive(Clone, Debug, PartialEq, Differentiable)]
struct Model<T: Real> {
    weights: DMatrix<T>,
    shift: Vector3<T>,
}

#[differentiate(mode = "dual_numbers")]
fn of_a_model<T: Real + RealField>(model: &Model<T>) -> T {
    (&model.weights * model.shift).map(|v| v.squashed()).sum()
}

/// A trait of one's own on all numbers of nalgebra.
trait Squash {
    fn squashed(self) -> Self;
}
impl<T: RealField> Squash for T {
    fn squashed(self) -> T {
        self.tanh()
    }
}

/// Asserts that a gradient agrees with differences of a function of the same numbers.
fn agrees(gradient: &[f64], x: &[f64], f: impl Fn(&[f64]) -> f64) {
    assert_eq!(gradient.len(), x.len());
    for k in 0..x.len() {
        let moved = |h: f64| {
            let mut x = x.to_vec();
            x[k] += h;
            f(&x)
        };
        let difference = (moved(1e-6) - moved(-1e-6)) / 2e-6;
        assert!((gradient[k] - difference).abs() < 1e-7 * (1.0 + difference.abs()), "{k}: {gradient:?}, {difference}");
    }
}

fn sample() -> (DMatrix<f64>, DVector<f64>) {
    let a = DMatrix::from_fn(4, 3, |i, k| ((i * 3 + k) as f64).sin() + f64::from(u8::from(i == k)));
    (a, DVector::from_fn(4, |i, _| 1.0 + 0.5 * i as f64))
}

#[test]
fn a_cholesky_factorisation_is_differentiated() {
    let (a, x) = (sample().0, DVector::from_vec(vec![0.5, -1.0, 2.0]));
    let covariance = a.transpose() * &a + DMatrix::identity(3, 3);
    let (value, (by_covariance, by_x)) = density_value_and_grad(&covariance, &x);
    assert_eq!(value.to_bits(), log_density(&covariance, &x).to_bits());
    agrees(by_x.as_slice(), x.as_slice(), |x| log_density(&covariance, &DVector::from_column_slice(x)));
    agrees(by_covariance.as_slice(), covariance.as_slice(), |c| log_density(&DMatrix::from_column_slice(3, 3, c), &x));
    // Forward mode, and forward over reverse mode.
    let (dc, dx) = (DMatrix::from_element(3, 3, 0.1), DVector::from_vec(vec![1.0, 0.0, -1.0]));
    let (_, tangent) = density_jvp(&covariance, &x, &dc, &dx);
    assert!((tangent - by_covariance.dot(&dc) - by_x.dot(&dx)).abs() < 1e-12);
    let (second, _) = density_hvp(&covariance, &x, &dc, &dx);
    let moved = |h: f64| density_grad(&(&covariance + &dc * h), &(&x + &dx * h)).0;
    let difference = (moved(1e-6) - moved(-1e-6)) / 2e-6;
    assert!((second - difference).amax() < 1e-6);
}

#[test]
fn a_least_squares_problem_is_differentiated() {
    let (a, b) = sample();
    let (by_a, by_b) = least_squares_grad(&a, &b);
    agrees(by_b.as_slice(), b.as_slice(), |b| least_squares(&a, &DVector::from_column_slice(b)));
    agrees(by_a.as_slice(), a.as_slice(), |a| least_squares(&DMatrix::from_column_slice(4, 3, a), &b));
}

#[test]
fn rotations_points_and_static_matrices_are_differentiated() {
    let angles = [0.3, -0.4, 1.1];
    agrees(&reached_grad(angles), &angles, |x| reached([x[0], x[1], x[2]]));
    for (k, row) in reached_hessian(angles).iter().enumerate() {
        agrees(row, &angles, |x| reached_grad([x[0], x[1], x[2]])[k]);
    }
    let (m, p) = (Matrix2::new(2.0, 0.5, -1.0, 3.0), [Point3::new(1.0, 2.0, 3.0), Point3::new(0.5, -1.0, 0.0)]);
    let weights = DVector::from_vec(vec![1.0, -2.0]);
    let (value, (by_m, by_p)) = solved_vjp(&m, &p, &weights);
    assert_eq!(value, solved(&m, &p));
    agrees(by_m.as_slice(), m.as_slice(), |m| solved(&Matrix2::from_column_slice(m), &p).dot(&weights));
    for k in 0..2 {
        agrees(by_p[k].coords.as_slice(), p[k].coords.as_slice(), |x| {
            let mut p = p;
            p[k] = Point3::from_slice(x);
            solved(&m, &p).dot(&weights)
        });
    }
}

#[test]
fn a_model_has_matrices_as_parts() {
    let model = Model { weights: sample().0, shift: Vector3::new(0.3, -0.2, 0.5) };
    agrees(&of_a_model_grad(&model).to_flat(), &model.to_flat(), |flat| of_a_model(&model.from_flat(flat)));
}

#[test]
fn numbers_agree_with_floats_in_what_is_read() {
    use nalgebra::SimdPartialOrd;

    /// What does not depend on derivatives, by the function itself.
    #[differentiate(mode = "dual_numbers", aux)]
    fn read<T: Real + RealField>(x: T) -> (T, Vec<T>) {
        let near = x * (T::lit(1.0) + T::lit(f64::EPSILON) * T::lit(2.0));
        let flags = [
            approx(&x, &near),
            x.ulps_eq(&near, T::lit(0.0), 1),
            x.relative_eq(&near, T::lit(0.0), T::lit(1e-15)),
            x.simd_lt(near),
            RealField::is_sign_negative(&x),
            ComplexField::try_sqrt(-x).is_some(),
        ];
        let constants =
            [T::two_pi(), RealField::max_value().unwrap_or(x), ComplexField::argument(-x), ComplexField::signum(x)];
        let flags = flags.map(|flag| if flag { T::lit(1.0) } else { T::lit(0.0) });
        (x.powc(T::lit(2.0)) + x.modulus_squared() + x.to_exp().0, flags.into_iter().chain(constants).collect())
    }

    fn approx<T: RealField>(a: &T, b: &T) -> bool {
        a.abs_diff_eq(b, T::default_epsilon())
    }

    for x in [1.5, -0.3, 1e8] {
        let ((value, flags), gradient) = read_value_and_grad(x);
        assert_eq!((value, flags), read(x));
        assert!((gradient - (4.0 * x + x.signum())).abs() < 1e-6);
    }
}
