//! Linear algebra: values are the function's own, derivatives those of central differences and of
//! the identities that the literature gives, forwards as in reverse, and once more.

#![allow(clippy::all, clippy::pedantic, reason = "programs as people write them")]

use ad::linalg::{
    self, Uplo, cholesky, det, eigh, expm, inv, lstsq, lu, matrix_power, qr, slogdet, solve, solve_triangular, svd,
};
use ad::ndarray::s;
use ad::prelude::*;

#[differentiate(grad, jvp, hvp, hessian)]
fn of_factor(a: &Array2<f64>) -> f64 {
    let l = cholesky(a);
    l.iter().enumerate().map(|(k, x)| (k as f64 * 0.3 + 1.0) * x * x * x).sum::<f64>()
}

#[differentiate(grad, hvp)]
fn log_det(a: &Array2<f64>) -> f64 {
    2.0 * cholesky(a).diag().mapv(f64::ln).sum()
}

/// The evidence of a Gaussian process: kernel, factor, a triangular system, a determinant.
#[differentiate(grad, hessian, wrt(p))]
fn evidence(p: &Array1<f64>, x: &Array1<f64>, y: &Array1<f64>) -> f64 {
    let n = x.len();
    let k = build([n, n], |[i, j]| {
        let d = (x[i] - x[j]) / p[0].exp();
        (-0.5 * d * d).exp() + if i == j { p[1].exp() } else { 0.0 }
    });
    let l = cholesky(&k);
    let z = solve_triangular(&l, y, Uplo::Lower);
    0.5 * z.dot(&z) + l.diag().mapv(f64::ln).sum()
}

#[differentiate(vjp, jvp, jacobian)]
fn triangles(t: &Array2<f64>, b: &Array2<f64>) -> Array2<f64> {
    let x = solve_triangular(t, b, Uplo::Lower);
    solve_triangular(t, &x, Uplo::Upper) + linalg::solve_triangular(&t.t(), b, linalg::Uplo::Upper)
}

#[differentiate(grad, jvp, hvp)]
fn solved(a: &Array2<f64>, b: &Array1<f64>) -> f64 {
    let x = solve(a, b);
    x.dot(&x) + x[0]
}

#[differentiate(vjp, jvp, jacobian)]
fn several(a: &Array2<f64>, b: &Array2<f64>) -> Array2<f64> {
    solve(&a.t(), b)
}

#[differentiate(grad, hvp)]
fn inverse(a: &Array2<f64>) -> f64 {
    let b = inv(a);
    b[[0, 1]] * b[[1, 0]] + b.sum()
}

#[differentiate(grad, hvp, hessian)]
fn determinant(a: &Array2<f64>) -> f64 {
    det(a)
}

#[differentiate(grad, hvp)]
fn signed(a: &Array2<f64>) -> f64 {
    let (sign, ln) = slogdet(a);
    sign * ln
}

#[differentiate(grad, hvp)]
fn triangular_factors(a: &Array2<f64>) -> f64 {
    let (p, l, u) = lu(a);
    p.dot(&l).iter().enumerate().map(|(k, x)| (k as f64 + 1.0) * x * x).sum::<f64>() + (&u * &u).sum() * u[[0, 1]]
}

#[differentiate(grad, hvp)]
fn orthogonal_factors(a: &Array2<f64>) -> f64 {
    let (q, r) = qr(a);
    q.iter().enumerate().map(|(k, x)| (k as f64 + 1.0) * x * x * x).sum::<f64>() + (&r * &r * &r).sum()
}

#[differentiate(grad, jvp, hvp)]
fn least_squares(a: &Array2<f64>, b: &Array1<f64>) -> f64 {
    let x = lstsq(a, b);
    let e = a.dot(&x) - b;
    e.dot(&e) + x.mapv(f64::sin).sum()
}

#[differentiate(vjp)]
fn several_least_squares(a: &Array2<f64>, b: &Array2<f64>) -> Array2<f64> {
    lstsq(a, b)
}

#[differentiate(grad, hvp)]
fn spectrum(a: &Array2<f64>) -> f64 {
    let (w, v) = eigh(a);
    w.iter().enumerate().map(|(k, x)| (k as f64 + 1.0) * x * x).sum::<f64>()
        + v.iter().enumerate().map(|(k, x)| (k as f64 * 0.5 + 1.0) * x * x * x).sum::<f64>()
}

/// It does not depend on the choice of the eigenvectors.
#[differentiate(grad, hvp)]
fn by_spectrum(a: &Array2<f64>) -> f64 {
    let (w, v) = eigh(a);
    let root = (&v * &w.mapv(f64::exp)).dot(&v.t());
    root[[0, 1]] + root[[0, 0]] * root[[0, 0]]
}

#[differentiate(grad, hvp)]
fn singular_values(a: &Array2<f64>) -> f64 {
    svd(a).iter().enumerate().map(|(k, x)| (k as f64 + 1.0) * x * x * x).sum::<f64>()
}

#[differentiate(grad, hvp)]
fn exponential(a: &Array2<f64>) -> f64 {
    let e = expm(a);
    e[[0, 0]] * e[[1, 0]] + e.sum()
}

#[differentiate(grad)]
fn power(a: &Array2<f64>, k: usize) -> f64 {
    matrix_power(a, k).iter().enumerate().map(|(k, x)| (k as f64 + 1.0) * x).sum::<f64>()
}

/// A system in each step of a loop: a filter.
#[differentiate(grad, hvp)]
fn filtered(a: &Array2<f64>, y: &Array1<f64>) -> f64 {
    let mut x = Array1::<f64>::ones(a.nrows());
    let mut s = 0.0;
    for k in 0..y.len() {
        x = solve(&(a + y[k]), &x) * 2.0;
        s += x[0] * y[k];
    }
    s
}

/// A factor for each element of a build.
#[differentiate(grad, hvp)]
fn batched(a: &Array2<f64>, b: &Array1<f64>) -> f64 {
    let all = build1(b.len(), |i| solve_triangular(&cholesky(&(a + b[i])), b, Uplo::Lower));
    let one = build1(b.len(), |i| solve(a, &(b * b[i])));
    let factors = build1(b.len(), |i| det(&(a + b[i])));
    (&all * &all).sum() + (&one * &one * &one).sum() + factors.sum()
}

/// No NaN comes back from the arms that are not taken.
#[differentiate]
fn guarded(a: &Array2<f64>, c: &Array1<f64>) -> f64 {
    build1(c.len(), |i| if c[i] > 0.0 { cholesky(&(a * c[i]))[[1, 0]] + solve(&(a * c[i]), c)[0] } else { c[i] }).sum()
}

#[differentiate]
fn single(a: &Array2<f32>, b: &Array1<f32>) -> f32 {
    let z = solve_triangular(&cholesky(a), b, Uplo::Lower);
    z.dot(&z) + slogdet(a).1 + solve(a, b).sum()
}

#[differentiate]
fn of_any_real<T: Real>(a: &Array2<T>, b: &Array1<T>) -> T {
    let z = solve_triangular(&cholesky(a), b, Uplo::Lower);
    z.dot(&z) + slogdet(a).1 + solve(a, b).sum()
}

#[differentiate]
fn or_zero(a: &Array2<f64>, b: &Array1<f64>) -> f64 {
    let x = match linalg::try_solve(a, b) {
        Some(x) => x.sum(),
        None => 0.0,
    };
    let l = if let Some(l) = linalg::try_cholesky(a) { l[[0, 0]] } else { -1.0 };
    x + l + linalg::try_inv(a).map_or(0.0, |i| i[[0, 1]])
}

#[differentiable]
fn helper(a: &Array2<f64>) -> Array2<f64> {
    inv(a)
}

#[differentiate]
fn through_a_helper(a: &Array2<f64>) -> f64 {
    helper(a).sum() + linalg::det(&helper(a))
}

fn wave(m: usize, n: usize) -> Array2<f64> {
    Array2::from_shape_fn((m, n), |(i, j)| (1.3 + i as f64 * 1.7 + (j * j) as f64 * 0.9 + (i * j) as f64 * 0.6).sin())
}

/// A symmetric positive definite matrix.
fn definite(n: usize) -> Array2<f64> {
    let x = wave(n, n);
    x.dot(&x.t()) + Array2::<f64>::eye(n) * (1.0 + 0.1 * n as f64)
}

/// A matrix without symmetries and far from singular, whose rows have to change places.
fn general(n: usize) -> Array2<f64> {
    let mut a = wave(n, n) + Array2::<f64>::eye(n) * 3.0;
    if n > 1 {
        let (first, second) = (a.row(0).to_owned(), a.row(1).to_owned());
        a.row_mut(0).assign(&second);
        a.row_mut(1).assign(&first);
    }
    a
}

fn vector(n: usize) -> Array1<f64> {
    Array1::from_shape_fn(n, |i| 0.4 + (i as f64 * 1.1).cos())
}

fn close(a: &Array2<f64>, b: &Array2<f64>, tolerance: f64) {
    assert_eq!(a.dim(), b.dim());
    for (x, y) in a.iter().zip(b) {
        assert!((x - y).abs() <= tolerance * (1.0 + y.abs()), "{x} and {y}");
    }
}

#[test]
fn derivatives_of_cholesky_and_of_triangular_systems_are_those_of_differences() {
    for n in [1, 2, 3, 5] {
        let (a, b) = (definite(n), vector(n));
        ad::check_grad!(of_factor(&a));
        ad::check_grad!(log_det(&a));
        ad::check_grad!(triangles(&general(n).t().to_owned(), &wave(n, 2)));
        let x = Array1::linspace(0.0, 1.0, n);
        ad::check_grad!(evidence(&array![-0.3, -1.0], &x, &b));
    }
}

#[test]
fn derivatives_of_systems_and_determinants_are_those_of_differences() {
    for n in [1, 2, 3, 5] {
        let (a, b) = (general(n), vector(n));
        ad::check_grad!(solved(&a, &b));
        ad::check_grad!(several(&a, &wave(n, 3)));
        ad::check_grad!(determinant(&a));
        ad::check_grad!(signed(&a));
        if n > 1 {
            ad::check_grad!(inverse(&a));
            ad::check_grad!(triangular_factors(&a));
            ad::check_grad!(through_a_helper(&a));
        }
    }
}

#[test]
fn derivatives_of_orthogonal_factors_are_those_of_differences() {
    for (m, n) in [(1, 1), (2, 2), (4, 2), (5, 3)] {
        let a = wave(m, n) + Array2::<f64>::from_shape_fn((m, n), |(i, j)| if i == j { 2.0 } else { 0.0 });
        ad::check_grad!(orthogonal_factors(&a));
        ad::check_grad!(least_squares(&a, &vector(m)));
        ad::check_grad!(several_least_squares(&a, &wave(m, 2)));
        ad::check_grad!(singular_values(&a));
        ad::check_grad!(singular_values(&a.t().to_owned()));
    }
    for n in [2, 3, 5] {
        ad::check_grad!(spectrum(&definite(n)));
        ad::check_grad!(by_spectrum(&definite(n)));
    }
}

#[test]
fn derivatives_of_functions_of_a_matrix_are_those_of_differences() {
    for n in [2, 3] {
        ad::check_grad!(exponential(&(wave(n, n) * 0.5)));
        ad::check_grad!(exponential(&(wave(n, n) * 4.0)));
        for k in [0, 1, 2, 5] {
            ad::check_grad!(power(&wave(n, n), k));
        }
    }
}

#[test]
fn loops_and_builds_are_differentiated() {
    let (a, y) = (definite(3), vector(3) * 0.3);
    ad::check_grad!(filtered(&a, &y));
    ad::check_grad!(batched(&a, &y));
    let (value, gradient) = guarded_value_and_grad(&definite(2), &array![0.5, -1.0, 2.0].slice(s![..2]).to_owned());
    assert!(value.is_finite() && gradient.0.iter().chain(&gradient.1).all(|x| x.is_finite()));
    ad::check_grad!(guarded(&definite(2), &array![0.5, -1.0]));
}

#[test]
fn the_derivative_of_a_logarithm_of_a_determinant_is_the_inverse() {
    let a = general(6);
    let sign = slogdet(&a).0;
    close(&signed_grad(&a), &(inv(&a).t().to_owned() * sign), 1e-12);
    close(&determinant_grad(&a), &(inv(&a).t().to_owned() * det(&a)), 1e-12);
    let a = definite(40);
    close(&log_det_grad(&a), &inv(&a), 1e-11);
    assert!((log_det(&a) - slogdet(&a).1).abs() < 1e-11);
}

#[test]
fn the_cotangent_of_a_symmetric_matrix_is_symmetric() {
    let a = definite(4);
    for gradient in [of_factor_grad(&a), spectrum_grad(&a)] {
        close(&gradient, &gradient.t().to_owned(), 0.0);
    }
    // Both triangles count: the function is that of the symmetric part.
    let mut lopsided = a.clone();
    lopsided[[0, 2]] += 0.25;
    lopsided[[2, 0]] -= 0.25;
    close(&cholesky(&lopsided), &cholesky(&a), 1e-15);
    close(&of_factor_grad(&lopsided), &of_factor_grad(&a), 1e-13);
}

#[test]
fn elements_that_a_triangular_system_does_not_read_have_derivative_zero() {
    let (t, b) = (general(4), wave(4, 2));
    let (_, (by_t, _)) = {
        let l = t.clone();
        lower_only_vjp(&l, &b, &Array2::ones((4, 2)))
    };
    for ((i, j), x) in by_t.indexed_iter() {
        assert_eq!(*x == 0.0, i < j, "({i}, {j})");
    }
}

#[differentiate]
fn lower_only(t: &Array2<f64>, b: &Array2<f64>) -> Array2<f64> {
    solve_triangular(t, b, Uplo::Lower)
}

#[test]
fn forwards_as_in_reverse() {
    let (a, b) = (general(5), vector(5));
    let (da, db) = (wave(5, 5) * 0.7, vector(5) * 0.2);
    let along = |g: &(Array2<f64>, Array1<f64>)| (&g.0 * &da).sum() + g.1.dot(&db);
    for (tangent, gradient) in [
        (solved_jvp(&a, &b, &da, &db).1, solved_grad(&a, &b)),
        (least_squares_jvp(&a, &b, &da, &db).1, least_squares_grad(&a, &b)),
    ] {
        assert!((tangent - along(&gradient)).abs() < 1e-11 * (1.0 + tangent.abs()));
    }
    let spd = definite(5);
    let (_, tangent) = of_factor_jvp(&spd, &da);
    assert!((tangent - (&of_factor_grad(&spd) * &da).sum()).abs() < 1e-11 * tangent.abs());
}

#[test]
fn second_derivatives_are_differences_of_first_ones() {
    let direction = |n: usize| wave(n, n).t().to_owned() * 0.8;
    let check = |name: &str, a: &Array2<f64>, grad: &dyn Fn(&Array2<f64>) -> Array2<f64>, hvp: Array2<f64>| {
        let (h, v) = (1e-4, direction(a.nrows()));
        let at = |k: f64| grad(&(a + &v * (k * h)));
        let difference = (at(-2.0) - at(2.0) + (at(1.0) - at(-1.0)) * 8.0) / (12.0 * h);
        for (x, y) in hvp.iter().zip(&difference) {
            assert!((x - y).abs() < 1e-7 * (1.0 + y.abs()), "{name}: {x} and {y}");
        }
    };
    let (n, b) = (4, vector(4));
    let (spd, any, v) = (definite(n), general(n), direction(n));
    check("of_factor", &spd, &of_factor_grad, of_factor_hvp(&spd, &v));
    check("log_det", &spd, &log_det_grad, log_det_hvp(&spd, &v));
    check("inverse", &any, &inverse_grad, inverse_hvp(&any, &v));
    check("determinant", &any, &determinant_grad, determinant_hvp(&any, &v));
    check("signed", &any, &signed_grad, signed_hvp(&any, &v));
    check("triangular_factors", &any, &triangular_factors_grad, triangular_factors_hvp(&any, &v));
    check("orthogonal_factors", &any, &orthogonal_factors_grad, orthogonal_factors_hvp(&any, &v));
    check("spectrum", &spd, &spectrum_grad, spectrum_hvp(&spd, &v));
    check("by_spectrum", &spd, &by_spectrum_grad, by_spectrum_hvp(&spd, &v));
    check("singular_values", &any, &singular_values_grad, singular_values_hvp(&any, &v));
    check("exponential", &any, &exponential_grad, exponential_hvp(&any, &v));
    let none = Array1::<f64>::zeros(n);
    check("solved", &any, &|a| solved_grad(a, &b).0, solved_hvp(&any, &b, &v, &none).0);
    check("least_squares", &any, &|a| least_squares_grad(a, &b).0, least_squares_hvp(&any, &b, &v, &none).0);
    let b = b.mapv(f64::abs);
    check("batched", &spd, &|a| batched_grad(a, &b).0, batched_hvp(&spd, &b, &v, &none).0);
    let y = vector(n) * 0.2;
    check("filtered", &spd, &|a| filtered_grad(a, &y).0, filtered_hvp(&spd, &y, &v, &none).0);
}

#[test]
fn a_hessian_has_the_products_as_columns() {
    let a = definite(3);
    let h = of_factor_hessian(&a);
    let v = wave(3, 3);
    let hv = of_factor_hvp(&a, &v);
    for i in 0..3 {
        for j in 0..3 {
            let along = (&h.slice(s![i, j, .., ..]) * &v).sum();
            assert!((along - hv[[i, j]]).abs() < 1e-10 * (1.0 + along.abs()));
        }
    }
    // The determinant of a matrix of two rows: a d - b c.
    let h = determinant_hessian(&array![[2.0, 3.0], [5.0, 11.0]]);
    for ((i, j, k, l), x) in h.indexed_iter() {
        let expected = if i == k || j == l {
            0.0
        } else if i == j {
            1.0
        } else {
            -1.0
        };
        assert!((x - expected).abs() < 1e-12, "{i} {j} {k} {l}");
    }
    assert!(evidence_hessian(&array![0.1, -1.0], &vector(6), &vector(6)).iter().all(|x| x.is_finite()));
}

#[test]
fn large_matrices_are_cut_into_blocks() {
    for n in [31, 32, 33, 70, 130] {
        let (spd, any) = (definite(n), general(n));
        let l = cholesky(&spd);
        close(&l.dot(&l.t()), &spd, 1e-12);
        let (p, l, u) = lu(&any);
        close(&p.dot(&l).dot(&u), &any, 1e-12);
        close(&any.dot(&inv(&any)), &Array2::eye(n), 1e-10);
        let x = solve(&any, &vector(n));
        assert!((any.dot(&x) - vector(n)).iter().all(|x| x.abs() < 1e-10));
        let (q, r) = qr(&any);
        close(&q.dot(&r), &any, 1e-12);
        close(&q.t().dot(&q), &Array2::eye(n), 1e-12);
        let (w, v) = eigh(&spd);
        close(&(&v * &w).dot(&v.t()), &spd, 1e-11);
        for (upper, columns) in [(false, 1), (true, 1), (false, 5), (true, 40)] {
            let kept = |(i, j): (usize, usize)| if upper { i <= j } else { i >= j };
            let t = Array2::from_shape_fn((n, n), |ij| {
                if kept(ij) { any[[ij.0, ij.1]] / 8.0 + if ij.0 == ij.1 { 4.0 } else { 0.0 } } else { 0.0 }
            });
            let b = wave(n, columns);
            close(&t.dot(&solve_triangular(&t, &b, if upper { Uplo::Upper } else { Uplo::Lower })), &b, 1e-9);
        }
        close(&log_det_grad(&spd), &inv(&spd), 1e-10);
        let (gradient, change) = (of_factor_grad(&spd), wave(n, n));
        close(&gradient, &gradient.t().to_owned(), 0.0);
        let (along, by_tangent) = ((&gradient * &change).sum(), of_factor_jvp(&spd, &change).1);
        assert!((along - by_tangent).abs() < 1e-10 * by_tangent.abs(), "{n}: {along} and {by_tangent}");
        let (up, down) = (of_factor(&(&spd + &(&change * 1e-5))), of_factor(&(&spd - &(&change * 1e-5))));
        assert!((by_tangent - (up - down) / 2e-5).abs() < 1e-6 * by_tangent.abs(), "{n}: {by_tangent}");
    }
}

/// The eigenvalues alone have a derivative where two are equal, and the vectors have none: it is
/// never a number there.
#[test]
fn equal_eigenvalues() {
    let a = Array2::<f64>::eye(3) * 0.5;
    close(&eigenvalues_grad(&a), &(Array2::eye(3) * 0.5_f64.exp()), 1e-15);
    assert!(by_spectrum_grad(&a).iter().any(|x| x.is_nan()));
}

#[differentiate]
fn eigenvalues(a: &Array2<f64>) -> f64 {
    eigh(a).0.mapv(f64::exp).sum()
}

#[test]
fn single_precision_and_type_parameters() {
    let (a, b) = (definite(4), vector(4));
    let (narrow_a, narrow_b) = (a.mapv(|x| x as f32), b.mapv(|x| x as f32));
    let (x, y, z) =
        (single_grad(&narrow_a, &narrow_b), of_any_real_grad(&narrow_a, &narrow_b), of_any_real_grad(&a, &b));
    assert_eq!(x, y);
    assert!(x.0.iter().zip(&z.0).chain(x.1.iter().zip(&z.1)).all(|(x, z)| (f64::from(*x) - z).abs() < 1e-4));
}

#[test]
fn empty_matrices_and_views() {
    let none = Array2::<f64>::zeros((0, 0));
    assert_eq!((det(&none), slogdet(&none)), (1.0, (1.0, 0.0)));
    assert_eq!(determinant_value_and_grad(&none), (1.0, none.clone()));
    assert_eq!(of_factor_grad(&none), none);
    let (a, b) = (general(4), vector(4));
    let turned = a.t();
    let mut copy = Array2::zeros((4, 4));
    copy.assign(&turned);
    assert_eq!(solve(&turned, &b.slice(s![..;-1])), solve(&copy, &b.iter().rev().copied().collect::<Array1<f64>>()));
    assert_eq!(solved_grad(&a.t().to_owned(), &b), solved_grad(&copy, &b));
}

#[test]
fn options_of_results() {
    let a = definite(2);
    let b = vector(2);
    let (value, (by_a, _)) = or_zero_value_and_grad(&a, &b);
    assert!((value - or_zero(&a, &b)).abs() < 1e-13 && by_a.iter().all(|x| x.is_finite()));
    ad::check_grad!(or_zero(&a, &b));
    let singular = array![[1.0, 2.0], [2.0, 4.0]];
    assert_eq!(or_zero(&singular, &b), -1.0);
    let (value, (by_a, by_b)) = or_zero_value_and_grad(&singular, &b);
    assert_eq!(value, -1.0);
    assert!(by_a.iter().chain(&by_b).all(|x| *x == 0.0));
}

/// Both panic with this sentence, and the derivative names the function and the expression.
fn panics<T, U>(what: &str, of: &str, function: impl FnOnce() -> T, derivative: impl FnOnce() -> U) {
    fn said<T>(f: impl FnOnce() -> T) -> String {
        let error = std::panic::catch_unwind(std::panic::AssertUnwindSafe(f)).err().expect("a panic");
        match error.downcast::<String>() {
            Ok(text) => *text,
            Err(error) => error.downcast::<&str>().map_or_else(|_| String::new(), |text| text.to_string()),
        }
    }
    assert_eq!(said(function), what);
    let derivative = said(derivative);
    assert!(derivative.starts_with(&format!("{of}: {what}: `")), "{derivative}");
}

#[test]
fn failed_factorisations_panic_in_the_function_and_in_the_derivative() {
    let (indefinite, singular, b) = (array![[1.0, 2.0], [2.0, 1.0]], array![[1.0, 2.0], [2.0, 4.0]], array![1.0, 2.0]);
    let (a, s, zero) = (&indefinite, &singular, &(&singular * 0.0));
    let not_finite = &(definite(2) * f64::NAN);
    let definite = "cholesky: the matrix is not positive definite";
    panics(definite, "of_factor", || of_factor(a), || of_factor_grad(a));
    panics(definite, "of_factor", || of_factor(a), || of_factor_jvp(a, a));
    panics(definite, "log_det", || log_det(not_finite), || log_det_grad(not_finite));
    panics(definite, "batched", || batched(a, &b), || batched_grad(a, &b));
    panics("solve: the matrix is singular", "solved", || solved(s, &b), || solved_grad(s, &b));
    panics(
        "solve: the matrix is singular",
        "filtered",
        || filtered(zero, &(&b * 0.0)),
        || filtered_grad(zero, &(&b * 0.0)),
    );
    panics("inv: the matrix is singular", "inverse", || inverse(s), || inverse_grad(s));
    panics("det: the matrix is singular", "determinant", || determinant(s), || determinant_grad(s));
    panics("slogdet: the matrix is singular", "signed", || signed(s), || signed_grad(s));
    panics("lu: the matrix is singular", "triangular_factors", || triangular_factors(s), || triangular_factors_grad(s));
    let dependent = "lstsq: the columns of the matrix are linearly dependent";
    panics(dependent, "least_squares", || least_squares(s, &b), || least_squares_grad(s, &b));
    let wide = array![[1.0, 2.0, 3.0]];
    panics(
        "qr: the matrix has more columns than rows",
        "orthogonal_factors",
        || orthogonal_factors(&wide),
        || orthogonal_factors_grad(&wide),
    );
    panics(
        "solve_triangular: the matrix is singular",
        "triangles",
        || triangles(zero, s),
        || triangles_vjp(zero, s, s),
    );
    let finite = "the matrix has an element that is not finite";
    panics(&format!("eigh: {finite}"), "spectrum", || spectrum(not_finite), || spectrum_grad(not_finite));
    panics(
        &format!("svd: {finite}"),
        "singular_values",
        || singular_values(not_finite),
        || singular_values_grad(not_finite),
    );
    panics(&format!("expm: {finite}"), "exponential", || exponential(not_finite), || exponential_grad(not_finite));
}

#[differentiate]
mod marked {
    use ad::linalg::{cholesky, inv};
    use ad::prelude::*;

    #[differentiate]
    pub fn f(a: &Array2<f64>) -> f64 {
        cholesky(a).sum() + g(a) * ad::linalg::det(a)
    }

    fn g(a: &Array2<f64>) -> f64 {
        inv(a).sum()
    }
}

/// Functions of one's own with the names of those of `ad::linalg`.
mod own {
    use ad::prelude::*;

    #[differentiable]
    pub fn solve(x: f64) -> f64 {
        x * x
    }

    #[differentiate]
    pub fn squared(x: f64) -> f64 {
        fn det(x: f64) -> f64 {
            x * 3.0
        }
        let inv = |x: f64| x + 1.0;
        solve(x) + det(x) + inv(x)
    }
}

#[test]
fn users_functions_of_the_same_names_are_called() {
    ad::check_grad!(marked::f(&definite(3)));
    assert_eq!(own::squared_grad(2.0), 8.0);
}
