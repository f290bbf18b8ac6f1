//! `laplacian`: the trace of the Hessian, for parameters of every kind. If no tangent has to be
//! stored as a whole, no memory of the size of a Hessian is allocated.

#![deny(warnings, clippy::all)]

mod allocator;

use ad::ndarray::arr0;
use ad::prelude::*;
use allocator::counted;

#[track_caller]
fn near(found: f64, expected: f64, tolerance: f64) {
    assert!((found - expected).abs() <= tolerance * expected.abs().max(1.0), "{found} instead of {expected}");
}

#[differentiate(grad, hessian, laplacian)]
fn number(x: f64) -> f64 {
    x.sin() * x.exp()
}

#[differentiate(hessian, laplacian)]
fn alone(x: &f64) -> f64 {
    x.powi(3)
}

#[test]
fn of_a_number_it_is_the_second_derivative() {
    for x in [-0.5, 0.0, 1.3] {
        assert_eq!(number_laplacian(x), number_hessian(x));
        near(number_laplacian(x), 2.0 * x.cos() * x.exp(), 1e-14);
        assert_eq!(alone_laplacian(&x), 6.0 * x);
    }
    ad::check_grad!(number(0.7));
    ad::check_grad!(alone(&0.7), laplacian);
}

#[differentiate(grad, hessian, laplacian)]
fn pair(p: [f64; 2]) -> f64 {
    (p[0] * p[1]).exp() + p[0].powi(4)
}

#[differentiate(hessian, laplacian, wrt(p))]
fn matrix(p: &[[f64; 3]; 2], c: f64) -> f64 {
    p[0][0] * p[1][2].powi(3) * c + (p[0][1] * p[1][1]).sin()
}

#[differentiate(hessian, laplacian, wrt(x))]
fn generic<T: Real, const N: usize>(x: &[T; N], scale: T) -> T {
    x.iter().map(|x| x.sin()).sum::<T>() * scale + x[0] * x[N - 1] * x[0]
}

#[test]
fn static_arrays() {
    let h = pair_hessian([0.3, -0.7]);
    near(pair_laplacian([0.3, -0.7]), h[0][0] + h[1][1], 1e-14);
    ad::check_grad!(pair([0.3, -0.7]));
    let p = [[0.1, 0.2, 0.3], [0.4, 0.5, 0.6]];
    let h = matrix_hessian(&p, 2.0);
    let trace: f64 = (0..2).flat_map(|i| (0..3).map(move |j| (i, j))).map(|(i, j)| h[i][j][i][j]).sum();
    near(matrix_laplacian(&p, 2.0), trace, 1e-14);
    ad::check_grad!(matrix(&p, 2.0), laplacian);
    let x = [0.2, 0.4, 0.5];
    let h = generic_hessian(&x, 1.5);
    near(generic_laplacian(&x, 1.5), (0..3).map(|i| h[i][i]).sum(), 1e-14);
    let h = generic_hessian(&[0.2_f32, 0.4], 1.5);
    assert!((generic_laplacian(&[0.2_f32, 0.4], 1.5) - (h[0][0] + h[1][1])).abs() < 1e-5);
    ad::check_grad!(generic::<f32, 2>(&[0.2, 0.4], 1.5));
}

/// Rosenbrock's function: shifted reads.
#[differentiate(grad, hessian, laplacian)]
fn valley(x: &Array1<f64>) -> f64 {
    (1..x.len()).map(|i| 100.0 * (x[i] - x[i - 1] * x[i - 1]).powi(2) + (1.0 - x[i - 1]).powi(2)).sum()
}

/// A network of one hidden layer.
#[differentiate(grad, hessian, laplacian, wrt(x))]
fn net(w: &Array2<f64>, v: &Array1<f64>, x: &Array1<f64>) -> f64 {
    v.dot(&w.dot(x).mapv(f64::tanh))
}

/// A quadratic form.
#[differentiate(grad, hessian, laplacian, wrt(x))]
fn form(a: &Array2<f64>, x: ArrayView1<'_, f64>) -> f64 {
    x.dot(&a.dot(&x))
}

/// A carried number.
#[differentiate(grad, hessian, laplacian)]
fn chain(x: &[f64]) -> f64 {
    let mut s = 0.5;
    for &v in x {
        s = (s * v).sin() + v * v;
    }
    s
}

#[differentiate(hessian, laplacian)]
fn softened(x: Vec<f64>) -> f64 {
    logsumexp(&x) + norm(&x)
}

#[differentiate(grad, hessian, laplacian)]
fn single(x: &Array1<f32>) -> f32 {
    x.mapv(f32::tanh).sum() * x[0]
}

fn trace(h: &Array2<f64>) -> f64 {
    assert_eq!(h.nrows(), h.ncols());
    h.diag().sum()
}

fn some(n: usize) -> Array1<f64> {
    Array1::from_shape_fn(n, |i| 0.3 + 0.1 * (i as f64 * 1.7).sin())
}

#[test]
fn arrays_of_rank_one() {
    for n in [1, 2, 5, 17] {
        let x = some(n);
        let w = Array2::from_shape_fn((n + 2, n), |(i, j)| (i as f64 - 0.7 * j as f64).cos());
        let v = some(n + 2);
        let a = Array2::from_shape_fn((n, n), |(i, j)| (i as f64 + 1.3 * j as f64).sin());
        near(valley_laplacian(&x), trace(&valley_hessian(&x)), 1e-12);
        near(net_laplacian(&w, &v, &x), trace(&net_hessian(&w, &v, &x)), 1e-12);
        near(form_laplacian(&a, x.view()), 2.0 * trace(&a), 1e-12);
        let x = x.to_vec();
        near(chain_laplacian(&x), trace(&chain_hessian(&x)), 1e-12);
        near(softened_laplacian(x.clone()), trace(&softened_hessian(x)), 1e-12);
        let x = some(n).mapv(|x| x as f32);
        let whole = single_hessian(&x).diag().sum();
        assert!((single_laplacian(&x) - whole).abs() < 1e-5, "{} is not {whole}", single_laplacian(&x));
        ad::check_grad!(single(&x));
    }
    let x = some(4);
    let (w, v) = (Array2::from_shape_fn((3, 4), |(i, j)| (i as f64 - 0.7 * j as f64).cos()), some(3));
    ad::check_grad!(valley(&x));
    ad::check_grad!(net(&w, &v, &x));
    ad::check_grad!(form(&w.dot(&w.t()), some(3).view()));
    ad::check_grad!(chain(&x.to_vec()));
    ad::check_grad!(softened(x.to_vec()), laplacian);
}

/// Views that are reversed, or every other element.
#[test]
fn views() {
    let (a, x) = (Array2::from_shape_fn((3, 3), |(i, j)| (i * 3 + j) as f64), some(6));
    near(form_laplacian(&a, x.slice(s![..;-2])), 2.0 * trace(&a), 1e-12);
}

#[differentiate(grad, hessian, laplacian)]
fn cells(x: &Array2<f64>) -> f64 {
    x.mapv(|x| x.powi(3)).sum() + x.sum_axis(Axis(0)).mapv(f64::exp).sum()
}

#[differentiate(grad, laplacian)]
fn cube(x: &Array3<f64>) -> f64 {
    x.mapv(|x| x.powi(4)).sum()
}

#[differentiate(grad, laplacian)]
fn point(x: &Array0<f64>) -> f64 {
    x.mapv(|x| x.powi(4)).sum()
}

#[test]
fn arrays_of_every_rank() {
    let x = Array2::from_shape_fn((3, 4), |(i, j)| 0.1 * (i + 2 * j) as f64);
    let h = cells_hessian(&x);
    let whole: f64 = x.indexed_iter().map(|((i, j), _)| h[[i, j, i, j]]).sum();
    near(cells_laplacian(&x), whole, 1e-12);
    ad::check_grad!(cells(&x));
    let x = Array3::from_shape_fn((2, 3, 2), |(i, j, k)| 0.1 * (i + j + k) as f64);
    near(cube_laplacian(&x), x.iter().map(|x| 12.0 * x * x).sum(), 1e-12);
    ad::check_grad!(cube(&x));
    near(point_laplacian(&arr0(0.5)), 3.0, 1e-15);
}

/// The Laplacian of a function of an empty array is 0.
#[test]
fn no_elements() {
    assert_eq!(cells_laplacian(&Array2::zeros((0, 3))), 0.0);
    assert_eq!(cells_laplacian(&Array2::zeros((3, 0))), 0.0);
    assert_eq!(valley_laplacian(&Array1::zeros(0)), 0.0);
    assert_eq!(chain_laplacian(&[]), 0.0);
    assert_eq!(form_laplacian(&Array2::zeros((0, 0)), Array1::zeros(0).view()), 0.0);
}

/// No array of n times n numbers is allocated, although each of the n directions is taken: for
/// functions of neighbours, products with matrices, and sums over an axis. (A function that needs
/// whole tangents, such as `logsumexp`, needs them for all directions.)
#[test]
fn no_hessian_is_stored() {
    const N: usize = 300;
    let few = |bytes: usize| assert!(bytes < N * N * 8 / 4, "{bytes} bytes, and a Hessian has {}", N * N * 8);
    let x = some(N);
    let (found, used) = counted(|| valley_laplacian(&x));
    near(found, trace(&valley_hessian(&x)), 1e-11);
    few(used.bytes);
    let (w, v) = (Array2::from_shape_fn((10, N), |(i, j)| (i as f64 - 0.7 * j as f64).cos()), some(10));
    let (found, used) = counted(|| net_laplacian(&w, &v, &x));
    near(found, trace(&net_hessian(&w, &v, &x)), 1e-11);
    few(used.bytes);
    let a = Array2::from_shape_fn((N, N), |(i, j)| (i as f64 + 1.3 * j as f64).sin());
    let (found, used) = counted(|| form_laplacian(&a, x.view()));
    near(found, 2.0 * trace(&a), 1e-11);
    few(used.bytes);
    let square = Array2::from_shape_fn((18, 18), |(i, j)| 0.01 * (i + j) as f64);
    let (_, used) = counted(|| cells_laplacian(&square));
    few(used.bytes);
}
