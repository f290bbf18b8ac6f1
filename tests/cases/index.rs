//! Indices: arithmetic on them, gather, scatter, arrays of integers.

use ad::prelude::*;

use super::{Case, differentiate};

#[differentiate]
fn wrapped_around(v: &Array1<f64>) -> f64 {
    build1(50, |i| v[i % 28]).sum()
}

#[test]
fn modulo() {
    Case::in_every_layout("horde-overleaf-mod", |case| {
        let (value, v) = wrapped_around_value_and_grad(&case.input("v"));
        case.check(&value, &[("v", &v)]);
    });
}

#[differentiate]
fn through_integers(v: &Array1<f64>) -> f64 {
    let whole = v.mapv(|x| x.floor() as i64);
    let wrapped = gather([50], &whole, |[i]| [i % 28]);
    wrapped.sum() as f64
}

#[test]
fn integers_carry_no_derivative() {
    Case::in_every_layout("horde-overleaf-through-int", |case| {
        let (value, v) = through_integers_value_and_grad(&case.input("v"));
        case.check(&value, &[("v", &v)]);
    });
}

#[differentiate]
fn looked_up(g: f64, table: &Array1<usize>) -> f64 {
    let q = build1(2 * table.len(), |i| g * table[i / 3] as f64);
    q.iter().map(|x| x * x).sum()
}

#[test]
fn quotient_into_integers() {
    Case::in_every_layout("ksc-test3-g", |case| {
        let (value, g) = looked_up_value_and_grad(case.input("g"), &Array1::from_vec(vec![0, 1, 2]));
        case.check(&value, &[("g", &g)]);
    });
}

#[differentiate]
fn first_twelve(v: &Array1<f64>) -> Array1<f64> {
    build1(12, |i| v[i])
}

#[test]
fn prefix() {
    Case::in_every_layout("horde-take12", |case| {
        let (value, v) = first_twelve_vjp(&case.input("v"), &case.ones::<Array1<f64>>());
        case.check(&value, &[("v", &v)]);
    });
}

#[differentiate]
fn with_its_reverse(a: &Array1<f64>) -> f64 {
    let n = a.len();
    build1(n, |i| a[i] * a[n - 1 - i]).sum()
}

#[test]
fn reversed_index() {
    Case::in_every_layout("report-self-convolution", |case| {
        let (value, a) = with_its_reverse_value_and_grad(&case.input("a"));
        case.check(&value, &[("a", &a)]);
    });
}

#[differentiate]
fn one_element(r: f64) -> Array1<f64> {
    let one = build1(1, |_| r);
    let a = gather([5], &one, |[i]| [1 / (4 + i)]);
    gather([10], &a, |[i]| [i % 5])
}

#[test]
fn gather_of_one_element() {
    Case::in_every_layout("horde-concatBuild4", |case| {
        let (value, r) = one_element_vjp(case.input("r"), &case.ones::<Array1<f64>>());
        case.check(&value, &[("r", &r)]);
    });
}

#[differentiate]
fn strides(t: &Array1<f64>) -> Array1<f64> {
    let u = gather([2], t, |[k]| [2 * k]);
    gather([1], &u, |[i]| [3 * i])
}

#[test]
fn gather_of_a_gather() {
    Case::in_every_layout("horde-gatherNested02", |case| {
        let (value, t) = strides_vjp(&case.input("t"), &case.ones::<Array1<f64>>());
        case.check(&value, &[("t", &t)]);
    });
}

#[differentiate]
fn diagonals(t: &Array2<f64>) -> Array2<f64> {
    let u = gather([2, 3, 4], t, |[a, b, c]| [a + b + c, a]);
    gather([2, 4], &u, |[i, j]| [i, 2 * i, j])
}

#[test]
fn gather_of_a_higher_rank() {
    Case::in_every_layout("horde-gatherNested12", |case| {
        let (value, t) = diagonals_vjp(&case.input("t"), &case.ones::<Array2<f64>>());
        case.check(&value, &[("t", &t)]);
    });
}

#[differentiate]
fn conditional_place(v: &Array3<f64>) -> Array2<f64> {
    gather([2, 2], v, |[i, j]| {
        let outer = if i == 1 { 0 } else { j };
        [outer, 2 * i, i]
    })
}

#[test]
fn gather_from_a_conditional_place() {
    Case::in_every_layout("horde-gatherCond5-oob-free", |case| {
        let (value, v) = conditional_place_vjp(&case.input("v"), &case.ones::<Array2<f64>>());
        case.check(&value, &[("v", &v)]);
    });
}

#[differentiate]
fn into_two(t: &Array2<f64>) -> Array1<f64> {
    scatter([2], t, |[i, j]| [(j + 2 * i).min(1)])
}

#[test]
fn scatter_that_adds() {
    Case::in_every_layout("horde-scatter1", |case| {
        let (value, t) = into_two_vjp(&case.input("t"), &case.ones::<Array1<f64>>());
        case.check(&value, &[("t", &t)]);
    });
}

#[differentiate]
fn scatters(t: &Array2<f64>) -> Array3<f64> {
    build1(4, |k| {
        let scaled = t * k as f64;
        scatter([2, 3], &scaled, |[i, j]| [(2 * i + 2 * j).min(1), i.min(2)])
    })
}

#[test]
fn scatter_in_a_build() {
    Case::in_every_layout("horde-scatterBuild2", |case| {
        let (value, t) = scatters_vjp(&case.input("t"), &case.ones::<Array3<f64>>());
        case.check(&value, &[("t", &t)]);
    });
}

/// Windows of three, two apart; the first of equal elements gets the derivative.
#[differentiate]
fn pooled(x: &Array1<f64>) -> Array1<f64> {
    build1(4, |j| maximum(&build1(3, |k| x[2 * j + k])))
}

#[test]
fn overlapping_windows() {
    Case::in_every_layout("horde-maxpool1", |case| {
        let (value, x) = pooled_vjp(&case.input("x"), &case.cotangent::<Array1<f64>>());
        case.check(&value, &[("x", &x)]);
    });
}
