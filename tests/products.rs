//! Parameters and results that are tuples: every derivative by every kind of structure, with known
//! numbers and against finite differences.

#![forbid(unsafe_code)]
#![deny(warnings, missing_docs, clippy::all, clippy::pedantic)]
// Functions of every kind of tuple, by value and by reference, with names as in formulas.
#![allow(
    clippy::float_cmp,
    clippy::many_single_char_names,
    clippy::needless_pass_by_value,
    clippy::trivially_copy_pass_by_ref,
    clippy::type_complexity
)]

use ad::prelude::*;

#[differentiate(vjp, jvp, jacobian, pullback)]
fn polar(p: (f64, f64)) -> [f64; 2] {
    let (r, t) = p;
    [r * t.cos(), r * t.sin()]
}

#[test]
fn a_tuple_of_numbers_has_blocks_in_a_tuple() {
    let p = (2.0, 0.5);
    let (s, c) = 0.5_f64.sin_cos();
    let (by_r, by_t): ([f64; 2], [f64; 2]) = polar_jacobian(p);
    assert_eq!(by_r, [c, s]);
    assert_eq!(by_t, [-2.0 * s, 2.0 * c]);
    let (value, (r, t)): ([f64; 2], (f64, f64)) = polar_vjp(p, [1.0, 10.0]);
    assert_eq!(value, [2.0 * c, 2.0 * s]);
    assert!((r - (c + 10.0 * s)).abs() < 1e-15 && (t - (20.0 * c - 2.0 * s)).abs() < 1e-14);
    let (_, tangent): ([f64; 2], [f64; 2]) = polar_jvp(p, (1.0, 0.0));
    assert_eq!(tangent, [c, s]);
    let (_, back) = polar_pullback(p);
    let (r, _): (f64, f64) = back([1.0, 0.0]);
    assert_eq!(r, c);
    ad::check_grad!(polar(p));
}

#[differentiate(vjp, jvp, jacobian, pullback)]
fn shared(x: f64) -> ((f64, f64), f64) {
    let y = 2.0 * x;
    let z = x * y;
    ((y, z), z.cos())
}

#[test]
fn a_result_of_nested_tuples_takes_a_nested_cotangent() {
    let (value, gradient): (((f64, f64), f64), f64) = shared_vjp(0.7, ((1.5, -2.0), 0.25));
    assert_eq!(value, ((1.4, 2.0 * 0.7 * 0.7), (2.0 * 0.7_f64 * 0.7).cos()));
    assert!((gradient - (3.0 - 8.0 * 0.7 - 0.25 * 4.0 * 0.7 * (0.98_f64).sin())).abs() < 1e-14);
    let ((y, z), w): ((f64, f64), f64) = shared_jacobian(0.7);
    assert!((y - 2.0).abs() < 1e-15 && (z - 2.8).abs() < 1e-14 && (w + 2.8 * 0.98_f64.sin()).abs() < 1e-14);
    let (_, ((y, _), _)): (_, ((f64, f64), f64)) = shared_jvp(0.7, 3.0);
    assert!((y - 6.0).abs() < 1e-15);
    ad::check_grad!(shared(0.7));
}

/// Arrays in a tuple, with their directions and destinations.
#[differentiate(grad, vjp, jvp, jacobian, hvp, pullback, into, wrt(p))]
fn of_arrays(p: &(f64, [f64; 3], Array1<f64>, Vec<f64>), scale: f64) -> f64 {
    let (a, q, v, u) = p;
    let s = q[0] * q[1] - q[2];
    a * v.dot(v) * scale + u.iter().map(|x| (x * s).sin()).sum::<f64>() * p.0
}

#[test]
fn a_tuple_of_arrays_has_a_gradient_of_its_type() {
    let p = (0.7, [0.3, -1.1, 0.4], array![1.0, 2.0], vec![0.5, -0.2, 0.9]);
    let (value, (a, q, v, u)): (f64, (f64, [f64; 3], Array1<f64>, Vec<f64>)) = of_arrays_value_and_grad(&p, 2.0);
    assert!((value - of_arrays(&p, 2.0)).abs() < 1e-14);
    assert_eq!(v, array![2.0 * 0.7 * 2.0, 2.0 * 0.7 * 2.0 * 2.0]);
    assert_eq!((q.len(), u.len()), (3, 3));
    assert!((a - value / 0.7).abs() < 1e-14);
    let mut into = (0.0, [0.0; 3], Array1::zeros(2), vec![0.0; 3]);
    let same = of_arrays_value_and_grad_into(&p, 2.0, &mut into);
    assert_eq!(same, value);
    assert_eq!(into, (a, q, v.clone(), u.clone()));
    let (_, along): (f64, f64) = of_arrays_jvp(&p, 2.0, (0.0, [0.0; 3], &v, &u));
    assert!((along - v.dot(&v) - u.iter().map(|x| x * x).sum::<f64>()).abs() < 1e-13);
    ad::check_grad!(of_arrays(&p, 2.0));
}

#[test]
#[should_panic(expected = "`tangent_p.2` does not have the shape of `p.2` (axis 0)")]
fn a_part_of_a_direction_has_the_shape_of_its_part() {
    let p = (0.7, [0.3, -1.1, 0.4], array![1.0, 2.0], vec![0.5, -0.2, 0.9]);
    let _ = of_arrays_jvp(&p, 2.0, (0.0, [0.0; 3], &array![1.0], &[1.0, 1.0, 1.0]));
}

#[differentiate(hessian, laplacian, hvp)]
fn quadratic(p: (f64, [f64; 2])) -> f64 {
    p.0 * p.0 * p.1[0] + p.1[0] * p.1[1] * p.0
}

#[test]
fn a_hessian_has_the_structure_twice() {
    let p = (2.0, [3.0, 5.0]);
    let ((aa, qa), (aq, qq)): ((f64, [f64; 2]), ([f64; 2], [[f64; 2]; 2])) = quadratic_hessian(p);
    assert_eq!(aa, 6.0);
    assert_eq!(qa, [4.0 + 5.0, 3.0]);
    assert_eq!(aq, qa);
    assert_eq!(qq, [[0.0, 2.0], [2.0, 0.0]]);
    assert_eq!(quadratic_laplacian(p), 6.0);
    assert_eq!(quadratic_hvp(p, (1.0, [0.0, 0.0])), (6.0, [9.0, 3.0]));
    ad::check_grad!(quadratic(p));
}

/// Discrete parts have no gradient, and are copied.
#[differentiate(grad, jvp, jacobian, hvp, hessian, into)]
fn mixed(p: &(f64, usize, Vec<usize>, &[f64]), on: bool) -> f64 {
    let (a, k, order, x) = p;
    if on { a * x[*k] * x[order[0]] } else { a * a }
}

#[test]
fn discrete_parts_are_copied() {
    let x = [2.0, 3.0, 5.0];
    let p = (7.0, 1, vec![2, 0], &x[..]);
    let gradient: (f64, usize, Vec<usize>, Vec<f64>) = mixed_grad(&p, true);
    assert_eq!(gradient, (15.0, 1, vec![2, 0], vec![0.0, 35.0, 21.0]));
    let mut into = (0.0, 0, vec![9, 9], vec![1.0; 3]);
    assert_eq!(mixed_value_and_grad_into(&p, true, &mut into), 105.0);
    assert_eq!(into, gradient);
    assert_eq!(mixed_jvp(&p, true, (1.0, 0, &[], &[0.0, 1.0, 0.0])).1, 15.0 + 35.0);
    ad::check_grad!(mixed(&p, true));
    ad::check_grad!(mixed(&p, false));
}

/// Patterns, references at every level, and several parameters.
#[differentiate(vjp, jvp, jacobian, pullback)]
fn taken_apart(
    (a, b): (f64, f64),
    &((c, ref_d), [e, f]): &((f64, &f64), [f64; 2]),
    mut g: (f64, [f64; 2]),
    [h, i]: [f64; 2],
) -> (f64, Array1<f64>) {
    g.0 *= a;
    g.1[1] += b;
    (a * b + c * ref_d * e, array![e * f * g.0, g.1[0] * g.1[1], h * i * c])
}

#[test]
fn patterns_take_parameters_apart() {
    let d = 0.9;
    let nested = ((0.4, &d), [1.5, -0.3]);
    let (value, ((a, b), ((c, d_), [e, f]), (g, _), [h, _])) =
        taken_apart_vjp((2.0, 3.0), &nested, (0.5, [1.0, 2.0]), [7.0, 11.0], (1.0, &array![0.0, 0.0, 0.0]));
    assert_eq!(value.0, 6.0 + 0.4 * 0.9 * 1.5);
    assert_eq!((a, b), (3.0, 2.0));
    assert!((c - 0.9 * 1.5).abs() < 1e-15 && (d_ - 0.4 * 1.5).abs() < 1e-15 && (e - 0.36).abs() < 1e-15);
    assert_eq!((f, g, h), (0.0, 0.0, 0.0));
    ad::check_grad!(taken_apart((2.0, 3.0), &nested, (0.5, [1.0, 2.0]), [7.0, 11.0]));
}

/// A result of arrays and numbers, of loops and conditions.
#[differentiate(vjp, jvp, jacobian, pullback)]
fn moments(x: &Array1<f64>, shift: f64) -> (f64, (Array1<f64>, [f64; 2]), usize) {
    let mut sum = 0.0;
    let mut squares = 0.0;
    for &v in x {
        sum += v;
        squares += v * v;
    }
    if shift > 10.0 {
        return (squares, (x * shift, [0.0, sum]), 1);
    }
    (sum, (x.mapv(|v| (v - shift).exp()), [sum * squares, shift]), x.len())
}

#[test]
fn a_result_of_arrays_and_a_count() {
    let x = array![0.3, -0.8, 1.2];
    let (value, (gx, gs)) = moments_vjp(&x, 0.5, (1.0, (&array![0.0, 0.0, 0.0], [0.0, 2.0]), 0));
    assert_eq!(value.2, 3);
    assert_eq!((gx, gs), (array![1.0, 1.0, 1.0], 2.0));
    let (_, tangent) = moments_jvp(&x, 0.5, &array![0.0, 0.0, 0.0], 1.0);
    assert_eq!((tangent.0, tangent.1.1, tangent.2), (0.0, [0.0, 1.0], 3));
    let (by_x, by_s): ((Array1<f64>, (Array2<f64>, Array2<f64>), usize), (f64, (Array1<f64>, [f64; 2]), usize)) =
        moments_jacobian(&x, 0.5);
    assert_eq!(by_x.0, array![1.0, 1.0, 1.0]);
    assert_eq!((by_x.1.0.dim(), by_x.1.1.dim()), ((3, 3), (2, 3)));
    assert_eq!((by_s.0, by_s.1.1), (0.0, [0.0, 1.0]));
    ad::check_grad!(moments(&x, 0.5));
    ad::check_grad!(moments(&x, 11.0));
}

/// Only the loss is differentiated; the rest is returned as it is.
#[differentiate(grad, vjp, jvp, jacobian, hvp, hessian, pullback, into, aux, wrt(w))]
fn with_extra(w: &Array1<f64>, x: &Array2<f64>) -> (f64, (Array1<f64>, usize)) {
    let z = x.dot(w).mapv(f64::tanh);
    let mut steps = 0;
    let mut t = z[0] * z[0] + 2.0;
    while t > 1.0 {
        t *= 0.5;
        steps += 1;
    }
    (z.dot(&z), (z, steps))
}

#[test]
fn extra_values_are_returned_beside_the_loss() {
    let (w, x) = (array![0.2, -0.4], array![[1.0, 2.0], [0.5, -1.5], [3.0, 0.1]]);
    let ((loss, (z, steps)), g): ((f64, (Array1<f64>, usize)), Array1<f64>) = with_extra_value_and_grad(&w, &x);
    assert!((loss - with_extra(&w, &x).0).abs() < 1e-15 && steps == 2);
    assert_eq!(z.len(), 3);
    assert_eq!(with_extra_grad(&w, &x), g);
    let ((again, _), tangent): ((f64, _), f64) = with_extra_jvp(&w, &x, &g);
    assert!((again - loss).abs() < 1e-15);
    assert!((tangent - g.dot(&g)).abs() < 1e-12);
    let ((_, (_, two)), doubled) = with_extra_vjp(&w, &x, 2.0);
    assert_eq!(two, 2);
    assert!((doubled[0] - 2.0 * g[0]).abs() < 1e-14);
    let mut into = Array1::zeros(2);
    assert_eq!(with_extra_value_and_grad_into(&w, &x, &mut into).1.1, 2);
    assert_eq!(into, g);
    ad::check_grad!(with_extra(&w, &x));
}

/// A function that is generic, with sizes in the types of parts.
#[differentiate(grad, vjp, jvp, jacobian, hvp, into)]
fn generic<T: Real, const N: usize>(p: &(T, [T; N]), scale: T) -> T {
    let mut sum = p.0;
    for x in &p.1 {
        sum += *x * *x * scale;
    }
    sum * p.0
}

#[test]
fn generic_parts() {
    let p = (2.0_f32, [1.0, -0.5, 0.25]);
    let ((a, q), s): ((f32, [f32; 3]), f32) = generic_grad(&p, 3.0);
    assert_eq!((a, q, s), (4.0 + 3.0 * 1.3125, [12.0, -6.0, 3.0], 2.0 * 1.3125));
    ad::check_grad!(generic(&(2.0, [1.0, -0.5, 0.25]), 3.0));
}

/// A message with values of a loop calls the function once more.
#[differentiate]
fn positive(p: (Array1<f64>, f64)) -> f64 {
    let mut s = 0.0;
    for i in 0..p.0.len() {
        assert!(p.0[i] > 0.0, "number {i} is {}", p.0[i]);
        s += p.0[i].ln() * p.1;
    }
    s
}

#[test]
#[should_panic(expected = "number 1 is -2")]
fn a_message_of_a_loop_has_its_values() {
    let _ = positive_grad((array![1.0, -2.0], 1.0));
}

#[test]
fn a_tuple_by_value() {
    let gradient: (Array1<f64>, f64) = positive_grad((array![1.0, 2.0], 3.0));
    assert_eq!(gradient, (array![3.0, 1.5], 2.0_f64.ln()));
    ad::check_grad!(positive((array![1.0, 2.0], 3.0)));
}

/// A list of pairs, read by index, in a loop and by an iterator.
#[differentiate(grad, vjp, jvp, jacobian, hvp, hessian, pullback, laplacian)]
fn of_pairs(p: &[(f64, f64)]) -> f64 {
    let mut s = p[0].1;
    for (a, b) in p {
        s += a * b.sin();
    }
    s + p.iter().map(|(a, b)| a * a * b).sum::<f64>() + p[p.len() - 1].0
}

#[test]
fn a_list_of_pairs() {
    let p = [(1.0, 0.5), (-2.0, 0.25), (0.5, 1.5)];
    let gradient: Vec<(f64, f64)> = of_pairs_grad(&p);
    assert!((gradient[1].0 - (0.25_f64.sin() - 1.0)).abs() < 1e-15);
    assert!((gradient[2].1 - (0.5 * 1.5_f64.cos() + 0.25)).abs() < 1e-15);
    let (by_a, by_b): (Array1<f64>, Array1<f64>) = of_pairs_jacobian(&p);
    assert_eq!((by_a[1], by_b[2]), gradient.iter().fold((0.0, 0.0), |_, _| (gradient[1].0, gradient[2].1)));
    assert_eq!(of_pairs_grad(&p[..1]).len(), 1);
    ad::check_grad!(of_pairs(&p));
}

/// Lists inside of tuples, with arrays and integers in them, as parameters and results.
#[differentiate(vjp, jvp, jacobian, pullback)]
fn edges(graph: &(f64, Vec<(usize, f64, [f64; 2])>), x: &[f64]) -> (Vec<(f64, [f64; 2])>, f64) {
    let (scale, edges) = graph;
    let mut total = 0.0;
    for (k, w, _) in edges {
        total += w * x[*k];
    }
    let all = edges.iter().map(|(k, w, v)| (w * x[*k] * scale, [v[0] * w, v[1]])).collect();
    (all, total)
}

#[test]
fn lists_in_tuples() {
    let graph = (2.0, vec![(1, 0.5, [1.0, 2.0]), (0, -1.5, [0.5, 0.1])]);
    let x = [3.0, 5.0, 7.0];
    let cotangent = [(1.0, [0.0, 0.0]), (0.0, [0.0, 1.0])];
    let ((list, total), ((scale, rows), gx)) = edges_vjp(&graph, &x, (&cotangent, 0.0));
    assert_eq!((list, total), (vec![(5.0, [0.5, 2.0]), (-9.0, [-0.75, 0.1])], -2.0));
    assert_eq!((scale, gx), (2.5, vec![0.0, 1.0, 0.0]));
    assert_eq!(rows, vec![(1, 10.0, [0.0, 0.0]), (0, 0.0, [0.0, 1.0])]);
    ad::check_grad!(edges(&graph, &x));
}

/// A list that the function owns.
#[differentiate]
fn owned(p: Vec<(f64, (f64, u8))>) -> f64 {
    p.iter().map(|(a, (b, _))| a * b).sum()
}

#[test]
fn an_owned_list() {
    assert_eq!(owned_grad(vec![(1.0, (2.0, 7)), (3.0, (4.0, 8))]), [(2.0, (1.0, 7)), (4.0, (3.0, 8))]);
    assert_eq!(owned_grad(Vec::new()), []);
    ad::check_grad!(owned(vec![(1.0, (2.0, 7)), (3.0, (4.0, 8))]));
}
