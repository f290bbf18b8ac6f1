//! Functions with rules of their own: values, derivatives, and the number and order of the calls.

use std::cell::RefCell;

use ad::prelude::*;

thread_local! {
    /// The calls that were made, in order.
    static CALLS: RefCell<Vec<String>> = const { RefCell::new(Vec::new()) };
}

fn note(call: impl Into<String>) {
    CALLS.with(|calls| calls.borrow_mut().push(call.into()));
}

/// The calls since the last time.
fn calls() -> Vec<String> {
    CALLS.with(RefCell::take)
}

/// The calls that a function makes.
fn calls_of<R>(f: impl FnOnce() -> R) -> (R, Vec<String>) {
    calls();
    let result = f();
    (result, calls())
}

/// The number of calls with this name.
fn count(calls: &[String], name: &str) -> usize {
    calls.iter().filter(|call| call.split(' ').next() == Some(name)).count()
}

/// A sine that `ad` could not read.
#[custom_vjp(sine_back)]
#[custom_jvp(sine_along)]
fn sine(x: f64) -> f64 {
    note(format!("sine {x}"));
    let text = format!("{:e}", x.sin());
    text.parse().unwrap()
}

fn sine_back(x: f64, cotangent: f64) -> (f64, f64) {
    note(format!("back {x}"));
    (x.sin(), cotangent * x.cos())
}

fn sine_along(x: f64, tangent: f64) -> (f64, f64) {
    note(format!("along {x}"));
    (x.sin(), tangent * x.cos())
}

#[differentiate(grad, jvp)]
fn twice(x: f64, y: f64) -> f64 {
    sine(x * y) * sine(y) + x
}

#[test]
fn a_gradient_calls_the_function_and_then_the_rule() {
    let ((value, (dx, dy)), made) = calls_of(|| twice_value_and_grad(2.0, 0.5));
    let (s, c, t, d) = (1.0_f64.sin(), 1.0_f64.cos(), 0.5_f64.sin(), 0.5_f64.cos());
    assert!((value - (s * t + 2.0)).abs() < 1e-14, "{value}");
    assert!((dx - (c * 0.5 * t + 1.0)).abs() < 1e-14, "{dx}");
    assert!((dy - (c * 2.0 * t + s * d)).abs() < 1e-14, "{dy}");
    assert_eq!(made[..2], ["sine 1", "sine 0.5"], "{made:?}");
    assert_eq!((made.len(), count(&made, "back")), (4, 2), "{made:?}");
}

#[test]
fn forward_mode_calls_the_other_rule() {
    let ((value, along), made) = calls_of(|| twice_jvp(2.0, 0.5, 1.0, 0.0));
    assert!((value - (1.0_f64.sin() * 0.5_f64.sin() + 2.0)).abs() < 1e-14);
    assert!((along - (1.0_f64.cos() * 0.5 * 0.5_f64.sin() + 1.0)).abs() < 1e-14);
    assert_eq!((count(&made, "sine"), count(&made, "along"), count(&made, "back")), (2, 2, 0), "{made:?}");
}

#[test]
fn rules_are_checked() {
    ad::check_grad!(sine(0.7));
    ad::check_grad!(twice(0.7, 1.3));
}

/// A wrong rule.
#[custom_vjp(wrong_back)]
fn wrong(x: f64) -> f64 {
    x * x
}

fn wrong_back(x: f64, cotangent: f64) -> (f64, f64) {
    (x * x, cotangent * x)
}

#[test]
#[should_panic(expected = "wrong")]
fn a_wrong_rule_is_found() {
    ad::check_grad!(wrong(0.7));
}

/// The same call twice is two calls.
#[differentiate]
fn again(x: f64) -> f64 {
    sine(x) + sine(x)
}

/// Calls in an arm, in a loop, and in a loop inside of an arm.
#[differentiate]
fn in_arms(x: f64, n: usize) -> f64 {
    let mut y = if x > 0.0 { sine(x) } else { x };
    for i in 0..n {
        if i % 2 == 1 {
            y += sine(y * i as f64);
        }
    }
    y
}

#[test]
fn calls_are_not_merged_or_made_in_other_arms() {
    let (g, made) = calls_of(|| again_grad(0.4));
    assert!((g - 2.0 * 0.4_f64.cos()).abs() < 1e-14);
    assert_eq!((count(&made, "sine"), count(&made, "back")), (2, 2), "{made:?}");
    let (_, made) = calls_of(|| in_arms_grad(-0.5, 1));
    assert!(made.is_empty(), "{made:?}");
    for (x, n) in [(0.5, 0), (0.5, 1), (0.5, 4), (-0.5, 5)] {
        let (value, own) = calls_of(|| in_arms(x, n));
        let ((found, _), made) = calls_of(|| in_arms_value_and_grad(x, n));
        assert!((value - found).abs() < 1e-14);
        assert_eq!(made[..own.len()], own[..], "in the order of the function");
        assert_eq!(count(&made, "back"), own.len(), "{made:?}");
        ad::check_grad!(in_arms(x, n));
    }
}

/// One call for each element.
#[differentiate]
fn of_each(x: &Array1<f64>) -> f64 {
    let a = build1(x.len(), |i| sine(x[i]) * 2.0);
    let b = x.mapv(sine);
    (&a * &b).sum() + a[0]
}

/// Calls in a fold, a scan and a nested build.
#[differentiate]
fn folded(x: &Array1<f64>) -> f64 {
    let sum = fold(0.0, x, |sum, v| sine(sum + v));
    let all = scan(1.0, x, |a, v| a * sine(v));
    let table = build([2, 3], |[i, j]| sine(x[0] * i as f64 + j as f64));
    sum + all.sum() + table.sum()
}

/// A loop whose number of steps depends on the calls.
#[differentiate]
fn until(x: f64) -> f64 {
    let mut y = x;
    let mut steps = 0;
    while y > 0.3 {
        y = sine(y) * 0.9;
        steps += 1;
        if steps > 50 {
            break;
        }
    }
    y
}

#[test]
fn there_is_one_call_for_each_element() {
    let x = array![0.3, 0.1, -0.7, 1.9];
    let (value, own) = calls_of(|| of_each(&x));
    let ((found, g), made) = calls_of(|| of_each_value_and_grad(&x));
    assert!((value - found).abs() < 1e-13);
    assert_eq!((own.len(), count(&made, "sine"), count(&made, "back")), (8, 8, 8), "{made:?}");
    assert_eq!(made[..8], own[..], "in the order of the function");
    assert!((g[1] - 4.0 * 0.1_f64.sin() * 0.1_f64.cos()).abs() < 1e-13);
    ad::check_grad!(of_each(&x));
    let (_, own) = calls_of(|| folded(&x));
    let (_, made) = calls_of(|| folded_grad(&x));
    assert_eq!((own.len(), count(&made, "sine")), (14, 14), "{made:?}");
    ad::check_grad!(folded(&x));
    let (_, own) = calls_of(|| until(1.2));
    let (_, made) = calls_of(|| until_grad(1.2));
    assert_eq!((count(&made, "sine"), count(&made, "back")), (own.len(), own.len()), "{made:?}");
    ad::check_grad!(until(1.2));
}

/// Arguments and results of many types.
#[derive(Clone, Debug, PartialEq, Differentiable)]
struct Pair {
    scale: f64,
    shift: Vec<f64>,
    #[constant]
    kept: f64,
}

type Several = (f64, Array2<f64>);

#[custom_vjp(mixed_back)]
#[custom_jvp(mixed_along)]
fn mixed(p: &Pair, m: ArrayView2<'_, f64>, v: &[f64], t: ([f64; 2], usize), scale: f32) -> (f64, Array2<f64>) {
    let shift: f64 = p.shift.iter().sum();
    let sum: f64 = v.iter().sum();
    let m = m.mapv(|x| x * p.scale * sum + shift * t.0[1]);
    (t.0[0] * t.1 as f64 * f64::from(scale), m)
}

type MixedGradient = (Pair, Array2<f64>, Vec<f64>, ([f64; 2], usize), f32);

fn mixed_back(
    p: &Pair,
    m: ArrayView2<'_, f64>,
    v: &[f64],
    t: ([f64; 2], usize),
    scale: f32,
    (first, second): (f64, &ArrayRef2<f64>),
) -> (Several, MixedGradient) {
    let shift: f64 = p.shift.iter().sum();
    let sum: f64 = v.iter().sum();
    let all = second.sum();
    let along: f64 = second.iter().zip(&m).map(|(c, x)| c * x).sum();
    let gradient = (
        Pair { scale: along * sum, shift: vec![all * t.0[1]; p.shift.len()], kept: p.kept },
        second.mapv(|c| c * p.scale * sum),
        vec![along * p.scale; v.len()],
        ([first * t.1 as f64 * f64::from(scale), all * shift], t.1),
        (first * t.0[0] * t.1 as f64) as f32,
    );
    (mixed(p, m, v, t, scale), gradient)
}

#[allow(clippy::too_many_arguments)]
fn mixed_along(
    p: &Pair,
    m: ArrayView2<'_, f64>,
    v: &[f64],
    t: ([f64; 2], usize),
    scale: f32,
    dp: &Pair,
    dm: &ArrayRef2<f64>,
    dv: &[f64],
    dt: ([f64; 2], usize),
    dscale: f32,
) -> (Several, Several) {
    let (shift, dshift): (f64, f64) = (p.shift.iter().sum(), dp.shift.iter().sum());
    let (sum, dsum): (f64, f64) = (v.iter().sum(), dv.iter().sum());
    let mut along = m.mapv(|x| x * (dp.scale * sum + p.scale * dsum) + dshift * t.0[1] + shift * dt.0[1]);
    along.scaled_add(p.scale * sum, dm);
    let first = t.1 as f64 * (dt.0[0] * f64::from(scale) + t.0[0] * f64::from(dscale));
    (mixed(p, m, v, t, scale), (first, along))
}

#[differentiate(grad, jvp)]
fn of_mixed(p: &Pair, m: &Array2<f64>, v: &[f64], t: [f64; 2], scale: f32) -> f64 {
    let (first, second) = mixed(p, m.t(), v, (t, 3), scale);
    first * 2.0 + (&second * &second).sum() + second.len_of(Axis(0)) as f64
}

#[test]
fn arguments_and_results_have_many_types() {
    let p = Pair { scale: 1.5, shift: vec![0.5, -0.25, 1.0], kept: 3.0 };
    let (m, v, t) = (array![[1.0, 2.0, -1.0], [0.5, 0.25, 3.0]], [0.4, 0.3], [0.7, -1.1]);
    assert!((of_mixed(&p, &m, &v, t, 0.5) - of_mixed_value_and_grad(&p, &m, &v, t, 0.5).0).abs() < 1e-12);
    ad::check_grad!(of_mixed(&p, &m, &v, t, 0.5));
    ad::check_grad!(mixed(&p, m.view(), &v, (t, 3), 0.5), tolerance = 2e-3);
}

/// A type parameter.
#[custom_vjp(cube_back)]
fn cube<T: Real>(x: &Array1<T>) -> Array1<T> {
    x.mapv(|v| v.powi(3))
}

fn cube_back<T: Real>(x: &Array1<T>, cotangent: &ArrayRef1<T>) -> (Array1<T>, Array1<T>) {
    (cube(x), x.mapv(|v| T::lit(3.0) * v * v) * cotangent)
}

#[differentiate]
fn cubes<T: Real>(x: &Array1<T>) -> T {
    cube(x).sum()
}

#[differentiate]
fn cubes_f32(x: &Array1<f32>) -> f32 {
    let y = cube(&(x * 2.0));
    y.dot(x)
}

#[test]
fn a_type_parameter_is_that_of_the_call() {
    assert_eq!(cubes_grad(&array![1.0_f32, 2.0]), array![3.0, 12.0]);
    assert_eq!(cubes_grad(&array![1.0_f64, 2.0]), array![3.0, 12.0]);
    assert_eq!(cubes_f32_grad(&array![1.0, 2.0]), array![32.0, 256.0]);
}

/// Functions that no derivative goes through.
#[constant]
fn looked_up(i: usize, scale: f64) -> f64 {
    note(format!("looked_up {i}"));
    [0.5, 2.0, 8.0][i % 3] * scale
}

#[constant]
fn sizes(x: &Array1<f64>) -> (usize, Vec<f64>) {
    (x.len(), x.to_vec())
}

#[differentiate(grad, jvp, hvp, hessian, laplacian, jacobian, pullback)]
fn with_constants(x: &Array1<f64>) -> f64 {
    let (n, copy) = sizes(x);
    let mut sum = 0.0;
    for i in 0..n {
        sum += looked_up(i, x[i]) * x[i] * x[i] * copy[i];
    }
    sum
}

#[test]
fn nothing_flows_through_a_constant_function() {
    let x = array![1.0, 2.0, -1.5, 0.25];
    let weights = array![0.5 * 1.0 * 1.0, 2.0 * 2.0 * 2.0, 8.0 * 1.5 * 1.5, 0.5 * 0.25 * 0.25];
    let (g, made) = calls_of(|| with_constants_grad(&x));
    assert_eq!(g, &weights * &x * 2.0);
    assert_eq!(made, ["looked_up 0", "looked_up 1", "looked_up 2", "looked_up 3"]);
    let (h, made) = calls_of(|| with_constants_hvp(&x, &array![1.0, 0.0, 0.0, 1.0]));
    assert_eq!((h, made.len()), (&weights * &array![2.0, 0.0, 0.0, 2.0], 4));
    assert_eq!(with_constants_hessian(&x).diag(), &weights * 2.0);
    assert_eq!(with_constants_laplacian(&x), weights.sum() * 2.0);
    assert_eq!(with_constants_jacobian(&x), &weights * &x * 2.0);
}

/// The Jacobian calls the function once.
#[differentiate(jacobian, vjp, pullback)]
fn of_three(x: &Array1<f64>) -> [f64; 3] {
    [sine(x[0] * x[1]), sine(x[1]), x[0] * x[1]]
}

#[test]
fn jacobians_and_pullbacks_call_rules() {
    let x = array![0.5, 0.7];
    let (j, made) = calls_of(|| of_three_jacobian(&x));
    assert!((j[[0, 0]] - 0.35_f64.cos() * 0.7).abs() < 1e-14 && (j[[1, 1]] - 0.7_f64.cos()).abs() < 1e-14);
    assert_eq!(count(&made, "sine"), 2, "{made:?}");
    let ((_, back), made) = calls_of(|| of_three_pullback(&x));
    assert_eq!(made.len(), 2);
    assert!((back([0.0, 2.0, 0.0])[1] - 2.0 * 0.7_f64.cos()).abs() < 1e-14);
    assert_eq!(count(&calls(), "sine"), 0);
    ad::check_grad!(of_three(&x));
}

/// Only a rule for reverse mode, in helpers and closures.
#[custom_vjp(root_back)]
fn root(a: f64) -> f64 {
    let mut x = a;
    while (x * x - a).abs() > 1e-14 * a {
        x = 0.5 * (x + a / x);
    }
    x
}

fn root_back(a: f64, cotangent: f64) -> (f64, f64) {
    let x = root(a);
    (x, cotangent / (2.0 * x))
}

#[differentiable]
fn length(v: &Array1<f64>) -> f64 {
    root(v.dot(v))
}

#[differentiate]
fn lengths(v: &Array1<f64>, w: &Array1<f64>) -> f64 {
    let weighted = |s: f64| root(s) * length(w);
    let moved = move |s: f64| root(s) + 1.0;
    let mut sum = 0.0;
    for i in 0..2 {
        sum += moved(v[i] * v[i]) * weighted(v[i] + 3.0);
    }
    length(v) * sum + v.iter().map(|&x| root(x * x + 1.0)).sum::<f64>()
}

#[test]
fn helpers_and_closures_call_them() {
    ad::check_grad!(lengths(&array![0.3, -0.4, 1.2], &array![1.0, 2.0]));
}

/// Rules in a marked module.
#[differentiate]
mod inside {
    use ad::prelude::*;

    #[custom_vjp(half_back)]
    pub fn half(x: f64) -> f64 {
        x / 2.0
    }

    fn half_back(x: f64, cotangent: f64) -> (f64, f64) {
        (x / 2.0, cotangent * 10.0)
    }

    #[constant]
    pub fn nothing(x: f64) -> f64 {
        x
    }

    #[differentiate]
    pub fn through(x: f64) -> f64 {
        half(x) + nothing(x) + 1.0
    }
}

#[differentiate]
fn from_outside(x: f64) -> f64 {
    inside::half(x) * 2.0 + inside::nothing(x)
}

#[test]
fn a_marked_module_may_have_them() {
    assert_eq!(inside::through_grad(1.0), 10.0);
    assert_eq!(from_outside_grad(1.0), 20.0);
}

/// A rule whose gradient has another shape.
#[custom_vjp(short_back)]
fn short(x: &Array1<f64>) -> f64 {
    x.sum()
}

fn short_back(x: &Array1<f64>, cotangent: f64) -> (f64, Array1<f64>) {
    (x.sum(), Array1::from_elem(1, cotangent))
}

#[differentiate]
fn of_short(x: &Array1<f64>) -> f64 {
    short(x)
}

#[test]
#[should_panic(expected = "the rule `short_back` gives a derivative of shape [1] for `x`, which has the shape [3]")]
fn a_gradient_has_the_shape_of_its_argument() {
    let _ = of_short_grad(&array![1.0, 2.0, 3.0]);
}
