//! Scalars: arithmetic, sharing, closures, conditionals, single precision, jvp.

use ad::prelude::*;

use super::{Case, differentiate};

#[differentiate]
fn phi(x: f64, y: f64, z: f64) -> f64 {
    let w = x * y.sin();
    z.atan2(w) + z * w
}

#[test]
fn shared_subexpression() {
    Case::in_every_layout("horde-foo-scalar", |case| {
        let (value, (x, y, z)) = phi_value_and_grad(case.input("x"), case.input("y"), case.input("z"));
        case.check(&value, &[("x", &x), ("y", &y), ("z", &z)]);
        let gradient = phi_grad(case.input("x"), case.input("y"), case.input("z"));
        assert_eq!(gradient, (x, y, z), "the two ways to call it agree");
    });
}

#[differentiate]
fn phi_single(x: f32, y: f32, z: f32) -> f32 {
    let w = x * y.sin();
    z.atan2(w) + z * w
}

#[test]
fn single_precision() {
    Case::in_every_layout("horde-foo-f32", |case| {
        let (value, (x, y, z)) = phi_single_value_and_grad(case.input("x"), case.input("y"), case.input("z"));
        case.check(&value, &[("x", &x), ("y", &y), ("z", &z)]);
    });
}

#[differentiate]
#[expect(unused_variables, reason = "the case is about a parameter that is not used")]
fn theta(x: f64, y: f64, z: f64) -> f64 {
    let phi = |x: f64, y: f64, z: f64| {
        let w = x * y.sin();
        z.atan2(w) + z * w
    };
    let psi = |x: f64, y: f64, z: f64| {
        let w = phi(x, y, z) * y.sin();
        z.atan2(w) + z * w
    };
    let w = phi(7.0, 8.0, 9.0) * psi(y, y, z) * y.sin();
    z.atan2(w) + z * w
}

#[test]
fn unused_parameter() {
    Case::in_every_layout("horde-baz-unused-arg", |case| {
        let (value, (x, y, z)) = theta_value_and_grad(case.input("x"), case.input("y"), case.input("z"));
        case.check(&value, &[("x", &x), ("y", &y), ("z", &z)]);
    });
}

#[differentiate(jvp)]
fn psi(x: f64, y: f64) -> f64 {
    let phi = |x: f64, y: f64, z: f64| {
        let w = x * y.sin();
        z.atan2(w) + z * w
    };
    let w = phi(x, y, x) * y.sin();
    x.atan2(w) + y * w
}

#[test]
fn forwards() {
    Case::in_every_layout("horde-bar-jvp", |case| {
        let (value, tangent) = psi_jvp(case.input("x"), case.input("y"), case.tangent("x"), case.tangent("y"));
        case.check_jvp(&value, &tangent);
    });
}

#[differentiate]
fn psi_relu(x: &f64) -> f64 {
    let relu = |x: f64| if x > 0.0 { x } else { 0.0 };
    let phi = |x: f64, y: f64, z: f64| {
        let w = x * y.sin();
        z.atan2(w) + z * w
    };
    let psi = |x: f64, y: f64| {
        let w = phi(x, y, x) * y.sin();
        x.atan2(w) + y * w
    };
    relu(psi(*x, relu(*x)))
}

#[test]
fn relu_of_a_scalar() {
    Case::in_every_layout("horde-barRelu", |case| {
        let (value, x) = psi_relu_value_and_grad(&case.input("x"));
        case.check(&value, &[("x", &x)]);
    });
}

#[differentiate]
fn product_and_sine(x1: f64, x2: f64, x3: f64, x4: f64) -> f64 {
    let y = x1 * x4 + 2.0 * x2;
    let z = y * x3;
    let w = z + x4;
    w.sin()
}

#[test]
fn four_parameters() {
    Case::in_every_layout("chad-paper-ex2", |case| {
        let (value, (x1, x2, x3, x4)) =
            product_and_sine_value_and_grad(case.input("x1"), case.input("x2"), case.input("x3"), case.input("x4"));
        case.check(&value, &[("x1", &x1), ("x2", &x2), ("x3", &x3), ("x4", &x4)]);
    });
}

#[differentiate]
fn hypotenuse(x: f64) -> f64 {
    (x * x + 1.0).sqrt()
}

#[test]
fn square_root() {
    Case::in_every_layout("dualrev-sqrt", |case| {
        let (value, x) = hypotenuse_value_and_grad(case.input("x"));
        case.check(&value, &[("x", &x)]);
    });
}

#[differentiate]
fn chained_lets(x: f64) -> f64 {
    let x1 = 2.0 * x;
    let x2 = x1 * (x + x1);
    let x3 = x1 + x2 - 1.0;
    x * x3 - x2
}

#[test]
fn lets() {
    Case::in_every_layout("dualrev-let-order1", |case| {
        let (value, x) = chained_lets_value_and_grad(case.input("x"));
        case.check(&value, &[("x", &x)]);
    });
}

#[differentiate]
fn local_functions(x: f64) -> f64 {
    let f = |a: f64| a + 1.0;
    let g = |a: f64| 2.0 * f(a);
    let x1 = f(g(x));
    let x2 = g(x1) + 1.0;
    x1 + x2
}

#[test]
fn closures_that_call_closures() {
    Case::in_every_layout("dualrev-let-order5", |case| {
        let (value, x) = local_functions_value_and_grad(case.input("x"));
        case.check(&value, &[("x", &x)]);
    });
}

#[differentiate]
fn compositions(x: f64, y: f64) -> f64 {
    let p = |z: f64| z * z;
    let q = |z: f64| 2.0 * (x - z) + y;
    let h = |z: f64| q(p(z));
    h(y) + p(q(x))
}

#[test]
fn closures_that_capture_parameters() {
    Case::in_every_layout("dualrev-composition", |case| {
        let (value, (x, y)) = compositions_value_and_grad(case.input("x"), case.input("y"));
        case.check(&value, &[("x", &x), ("y", &y)]);
    });
}

#[differentiate]
fn fibonacci(x: f64, y: f64) -> f64 {
    let x1 = x + y;
    let x2 = x1 + x;
    let x3 = x2 + x1;
    let x4 = x3 + x2;
    let x5 = x4 + x3;
    let x6 = x5 + x4;
    let x7 = x6 + x5;
    let x8 = x7 + x6;
    let x9 = x8 + x7;
    let x10 = x9 + x8;
    x10 * x10
}

#[test]
fn sharing_along_a_chain() {
    Case::in_every_layout("dualrev-fibonacci-sharing", |case| {
        let (value, (x, y)) = fibonacci_value_and_grad(case.input("x"), case.input("y"));
        case.check(&value, &[("x", &x), ("y", &y)]);
    });
}

#[differentiate]
fn self_additions(v: &Array1<f64>) -> f64 {
    let half = |y: f64| 0.499_999_985 * (y + y);
    half(half(half(half(half(half(half(v[0] / v[1])))))))
}

#[test]
fn exponential_where_it_is_not_shared() {
    Case::in_every_layout("horde-blowup7", |case| {
        let (value, v) = self_additions_value_and_grad(&case.input("v"));
        case.check(&value, &[("v", &v)]);
    });
}

#[differentiate]
fn self_multiplications(v: &[f64]) -> f64 {
    let step = |y: f64| {
        let s = y + y * y / (y - 1e-9);
        (0.499_999_985 * 0.499_999_985 * s * s).sqrt()
    };
    step(step(step(v[0] * v[1])))
}

#[test]
fn sharing_of_products() {
    Case::in_every_layout("horde-blowupMult3", |case| {
        let v: Vec<f64> = case.input("v");
        let (value, v) = self_multiplications_value_and_grad(&v);
        case.check(&value, &[("v", &v)]);
    });
}

#[differentiate]
fn right_fold(a: f64, b: f64, c: f64, d: f64) -> f64 {
    let op = |x: f64, y: f64| 2.0 * x + 3.0 * y;
    op(a, op(b, op(c, d)))
}

#[test]
fn closure_used_three_times() {
    Case::in_every_layout("horde-foldr1-2x3y", |case| {
        let (value, (a, b, c, d)) =
            right_fold_value_and_grad(case.input("a"), case.input("b"), case.input("c"), case.input("d"));
        case.check(&value, &[("a", &a), ("b", &b), ("c", &c), ("d", &d)]);
    });
}

#[differentiate]
fn doubles(x: f64, y: f64) -> f64 {
    let double = |t: f64| t + t;
    double(x) * double(y)
}

#[test]
fn function_call() {
    Case::in_every_layout("ksc-muld", |case| {
        let (value, (x, y)) = doubles_value_and_grad(case.input("x"), case.input("y"));
        case.check(&value, &[("x", &x), ("y", &y)]);
    });
}

#[differentiate]
fn two_halves(x: f64, y: f64) -> f64 {
    let first = x * y * x;
    let second = y + y + x;
    first + second
}

#[test]
fn independent_halves() {
    Case::in_every_layout("dualrev-parallel-small", |case| {
        let (value, (x, y)) = two_halves_value_and_grad(case.input("x"), case.input("y"));
        case.check(&value, &[("x", &x), ("y", &y)]);
    });
}

#[differentiate]
fn triple(x: f64) -> f64 {
    let y = 2.0 * x;
    x + y
}

#[test]
fn let_and_reuse() {
    Case::in_every_layout("ksc-ex0-f", |case| {
        let (value, x) = triple_value_and_grad(case.input("x"));
        case.check(&value, &[("x", &x)]);
    });
}

#[differentiate]
fn products_and_reciprocal(x: f64, y: f64) -> f64 {
    let p = 7.0 * x;
    let r = y.recip();
    let q = p * (5.0 * x);
    2.0 * (p * q) + 3.0 * r
}

#[test]
fn reciprocal() {
    Case::in_every_layout("ksc-ex4-f5", |case| {
        let (value, (x, y)) = products_and_reciprocal_value_and_grad(case.input("x"), case.input("y"));
        case.check(&value, &[("x", &x), ("y", &y)]);
    });
}

#[differentiate]
fn piecewise_linear(x: f64) -> f64 {
    if x > 0.0 { 2.0 * x } else { 5.0 * x }
}

#[test]
fn conditional_with_linear_arms() {
    Case::in_every_layout("horde-piecewise-linear-pos", |case| {
        let (value, x) = piecewise_linear_value_and_grad(case.input("x"));
        case.check(&value, &[("x", &x)]);
    });
}

#[differentiate]
fn absolute(x: f64) -> f64 {
    let negative = x < 0.0;
    if negative { 0.0 - x } else { x }
}

#[test]
fn conditional_on_a_boolean() {
    Case::in_every_layout("chad-abs-case-pos", |case| {
        let (value, x) = absolute_value_and_grad(case.input("x"));
        case.check(&value, &[("x", &x)]);
    });
}

#[differentiate]
fn product_or_sum(x: f64, y: f64) -> f64 {
    if x > y { x * y } else { x + y }
}

#[test]
fn conditional_on_the_inputs() {
    Case::in_every_layout("dualrev-conditional-gt", |case| {
        let (value, (x, y)) = product_or_sum_value_and_grad(case.input("x"), case.input("y"));
        case.check(&value, &[("x", &x), ("y", &y)]);
    });
}

#[differentiate]
fn gelu(x: f64) -> f64 {
    0.5 * x * (1.0 + erf(x / 2_f64.sqrt()))
}

#[test]
fn error_function() {
    Case::in_every_layout("ksc-gelu", |case| {
        let (value, x) = gelu_value_and_grad(case.input("x"));
        case.check(&value, &[("x", &x)]);
    });
}

#[differentiate]
fn listed(x: f64) -> Array1<f64> {
    array![2.0 * x, 3.0 * x, x, x + 1.0]
}

#[test]
fn a_list_of_scalars() {
    Case::in_every_layout("dualrev-list-constr", |case| {
        let (value, x) = listed_vjp(case.input("x"), &case.cotangent::<Array1<f64>>());
        case.check(&value, &[("x", &x)]);
    });
}

#[differentiate]
fn stopped(x: f64) -> f64 {
    stop_gradient(x)
}

#[test]
fn a_constant_on_request() {
    Case::in_every_layout("horde-stop-gradient", |case| {
        let (value, x) = stopped_value_and_grad(case.input("x"));
        case.check(&value, &[("x", &x)]);
    });
}
