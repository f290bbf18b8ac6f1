//! Chains of helpers or closures, each of which calls the next one twice: each is compiled once.

use ad::ndarray::{Array2, array};
use ad::{Real, check_grad, differentiable, differentiate};

#[differentiate]
fn of_chain(x: f64) -> f64 {
    fn h0(x: f64) -> f64 {
        if x > 5.0 { h1(x - 1.0) } else { h1(x * 0.999 + 0.001).sin() }
    }
    fn h1(x: f64) -> f64 {
        if x > 5.0 { h2(x - 1.0) } else { h2(x * 0.999 + 0.001).sin() }
    }
    fn h2(x: f64) -> f64 {
        if x > 5.0 { h3(x - 1.0) } else { h3(x * 0.999 + 0.001).sin() }
    }
    fn h3(x: f64) -> f64 {
        if x > 5.0 { h4(x - 1.0) } else { h4(x * 0.999 + 0.001).sin() }
    }
    fn h4(x: f64) -> f64 {
        if x > 5.0 { h5(x - 1.0) } else { h5(x * 0.999 + 0.001).sin() }
    }
    fn h5(x: f64) -> f64 {
        if x > 5.0 { h6(x - 1.0) } else { h6(x * 0.999 + 0.001).sin() }
    }
    fn h6(x: f64) -> f64 {
        if x > 5.0 { h7(x - 1.0) } else { h7(x * 0.999 + 0.001).sin() }
    }
    fn h7(x: f64) -> f64 {
        if x > 5.0 { h8(x - 1.0) } else { h8(x * 0.999 + 0.001).sin() }
    }
    fn h8(x: f64) -> f64 {
        if x > 5.0 { h9(x - 1.0) } else { h9(x * 0.999 + 0.001).sin() }
    }
    fn h9(x: f64) -> f64 {
        if x > 5.0 { h10(x - 1.0) } else { h10(x * 0.999 + 0.001).sin() }
    }
    fn h10(x: f64) -> f64 {
        if x > 5.0 { h11(x - 1.0) } else { h11(x * 0.999 + 0.001).sin() }
    }
    fn h11(x: f64) -> f64 {
        if x > 5.0 { h12(x - 1.0) } else { h12(x * 0.999 + 0.001).sin() }
    }
    fn h12(x: f64) -> f64 {
        if x > 5.0 { h13(x - 1.0) } else { h13(x * 0.999 + 0.001).sin() }
    }
    fn h13(x: f64) -> f64 {
        if x > 5.0 { h14(x - 1.0) } else { h14(x * 0.999 + 0.001).sin() }
    }
    fn h14(x: f64) -> f64 {
        if x > 5.0 { h15(x - 1.0) } else { h15(x * 0.999 + 0.001).sin() }
    }
    fn h15(x: f64) -> f64 {
        if x > 5.0 { h16(x - 1.0) } else { h16(x * 0.999 + 0.001).sin() }
    }
    fn h16(x: f64) -> f64 {
        if x > 5.0 { h17(x - 1.0) } else { h17(x * 0.999 + 0.001).sin() }
    }
    fn h17(x: f64) -> f64 {
        if x > 5.0 { h18(x - 1.0) } else { h18(x * 0.999 + 0.001).sin() }
    }
    fn h18(x: f64) -> f64 {
        if x > 5.0 { h19(x - 1.0) } else { h19(x * 0.999 + 0.001).sin() }
    }
    fn h19(x: f64) -> f64 {
        if x > 5.0 { h20(x - 1.0) } else { h20(x * 0.999 + 0.001).sin() }
    }
    fn h20(x: f64) -> f64 {
        if x > 5.0 { h21(x - 1.0) } else { h21(x * 0.999 + 0.001).sin() }
    }
    fn h21(x: f64) -> f64 {
        if x > 5.0 { h22(x - 1.0) } else { h22(x * 0.999 + 0.001).sin() }
    }
    fn h22(x: f64) -> f64 {
        if x > 5.0 { h23(x - 1.0) } else { h23(x * 0.999 + 0.001).sin() }
    }
    fn h23(x: f64) -> f64 {
        if x > 5.0 { h24(x - 1.0) } else { h24(x * 0.999 + 0.001).sin() }
    }
    fn h24(x: f64) -> f64 {
        if x > 5.0 { h25(x - 1.0) } else { h25(x * 0.999 + 0.001).sin() }
    }
    fn h25(x: f64) -> f64 {
        if x > 5.0 { h26(x - 1.0) } else { h26(x * 0.999 + 0.001).sin() }
    }
    fn h26(x: f64) -> f64 {
        if x > 5.0 { h27(x - 1.0) } else { h27(x * 0.999 + 0.001).sin() }
    }
    fn h27(x: f64) -> f64 {
        if x > 5.0 { h28(x - 1.0) } else { h28(x * 0.999 + 0.001).sin() }
    }
    fn h28(x: f64) -> f64 {
        if x > 5.0 { h29(x - 1.0) } else { h29(x * 0.999 + 0.001).sin() }
    }
    fn h29(x: f64) -> f64 {
        if x > 5.0 { h30(x - 1.0) } else { h30(x * 0.999 + 0.001).sin() }
    }
    fn h30(x: f64) -> f64 {
        x * x
    }
    h0(x)
}

#[differentiable]
fn m0(x: f64) -> f64 {
    if x > 5.0 { m1(x - 1.0) } else { m1(x * 0.999 + 0.001).sin() }
}

#[differentiable]
fn m1(x: f64) -> f64 {
    if x > 5.0 { m2(x - 1.0) } else { m2(x * 0.999 + 0.001).sin() }
}

#[differentiable]
fn m2(x: f64) -> f64 {
    if x > 5.0 { m3(x - 1.0) } else { m3(x * 0.999 + 0.001).sin() }
}

#[differentiable]
fn m3(x: f64) -> f64 {
    if x > 5.0 { m4(x - 1.0) } else { m4(x * 0.999 + 0.001).sin() }
}

#[differentiable]
fn m4(x: f64) -> f64 {
    if x > 5.0 { m5(x - 1.0) } else { m5(x * 0.999 + 0.001).sin() }
}

#[differentiable]
fn m5(x: f64) -> f64 {
    if x > 5.0 { m6(x - 1.0) } else { m6(x * 0.999 + 0.001).sin() }
}

#[differentiable]
fn m6(x: f64) -> f64 {
    if x > 5.0 { m7(x - 1.0) } else { m7(x * 0.999 + 0.001).sin() }
}

#[differentiable]
fn m7(x: f64) -> f64 {
    if x > 5.0 { m8(x - 1.0) } else { m8(x * 0.999 + 0.001).sin() }
}

#[differentiable]
fn m8(x: f64) -> f64 {
    if x > 5.0 { m9(x - 1.0) } else { m9(x * 0.999 + 0.001).sin() }
}

#[differentiable]
fn m9(x: f64) -> f64 {
    if x > 5.0 { m10(x - 1.0) } else { m10(x * 0.999 + 0.001).sin() }
}

#[differentiable]
fn m10(x: f64) -> f64 {
    if x > 5.0 { m11(x - 1.0) } else { m11(x * 0.999 + 0.001).sin() }
}

#[differentiable]
fn m11(x: f64) -> f64 {
    if x > 5.0 { m12(x - 1.0) } else { m12(x * 0.999 + 0.001).sin() }
}

#[differentiable]
fn m12(x: f64) -> f64 {
    if x > 5.0 { m13(x - 1.0) } else { m13(x * 0.999 + 0.001).sin() }
}

#[differentiable]
fn m13(x: f64) -> f64 {
    if x > 5.0 { m14(x - 1.0) } else { m14(x * 0.999 + 0.001).sin() }
}

#[differentiable]
fn m14(x: f64) -> f64 {
    if x > 5.0 { m15(x - 1.0) } else { m15(x * 0.999 + 0.001).sin() }
}

#[differentiable]
fn m15(x: f64) -> f64 {
    if x > 5.0 { m16(x - 1.0) } else { m16(x * 0.999 + 0.001).sin() }
}

#[differentiable]
fn m16(x: f64) -> f64 {
    if x > 5.0 { m17(x - 1.0) } else { m17(x * 0.999 + 0.001).sin() }
}

#[differentiable]
fn m17(x: f64) -> f64 {
    if x > 5.0 { m18(x - 1.0) } else { m18(x * 0.999 + 0.001).sin() }
}

#[differentiable]
fn m18(x: f64) -> f64 {
    if x > 5.0 { m19(x - 1.0) } else { m19(x * 0.999 + 0.001).sin() }
}

#[differentiable]
fn m19(x: f64) -> f64 {
    if x > 5.0 { m20(x - 1.0) } else { m20(x * 0.999 + 0.001).sin() }
}

#[differentiable]
fn m20(x: f64) -> f64 {
    if x > 5.0 { m21(x - 1.0) } else { m21(x * 0.999 + 0.001).sin() }
}

#[differentiable]
fn m21(x: f64) -> f64 {
    if x > 5.0 { m22(x - 1.0) } else { m22(x * 0.999 + 0.001).sin() }
}

#[differentiable]
fn m22(x: f64) -> f64 {
    if x > 5.0 { m23(x - 1.0) } else { m23(x * 0.999 + 0.001).sin() }
}

#[differentiable]
fn m23(x: f64) -> f64 {
    if x > 5.0 { m24(x - 1.0) } else { m24(x * 0.999 + 0.001).sin() }
}

#[differentiable]
fn m24(x: f64) -> f64 {
    if x > 5.0 { m25(x - 1.0) } else { m25(x * 0.999 + 0.001).sin() }
}

#[differentiable]
fn m25(x: f64) -> f64 {
    if x > 5.0 { m26(x - 1.0) } else { m26(x * 0.999 + 0.001).sin() }
}

#[differentiable]
fn m26(x: f64) -> f64 {
    if x > 5.0 { m27(x - 1.0) } else { m27(x * 0.999 + 0.001).sin() }
}

#[differentiable]
fn m27(x: f64) -> f64 {
    if x > 5.0 { m28(x - 1.0) } else { m28(x * 0.999 + 0.001).sin() }
}

#[differentiable]
fn m28(x: f64) -> f64 {
    if x > 5.0 { m29(x - 1.0) } else { m29(x * 0.999 + 0.001).sin() }
}

#[differentiable]
fn m29(x: f64) -> f64 {
    if x > 5.0 { m30(x - 1.0) } else { m30(x * 0.999 + 0.001).sin() }
}

#[differentiable]
fn m30(x: f64) -> f64 {
    x * x
}

#[differentiate(grad, jvp)]
fn of_marked(x: f64) -> f64 {
    m0(x)
}

/// A chain of closures, each of which calls the one before twice.
#[differentiate(grad, jvp)]
fn of_closures(x: f64) -> f64 {
    let f0 = |x: f64| x * x;
    let f1 = |x: f64| if x > 5.0 { f0(x - 1.0) } else { f0(x * 0.999 + 0.001).sin() };
    let f2 = |x: f64| if x > 5.0 { f1(x - 1.0) } else { f1(x * 0.999 + 0.001).sin() };
    let f3 = |x: f64| if x > 5.0 { f2(x - 1.0) } else { f2(x * 0.999 + 0.001).sin() };
    let f4 = |x: f64| if x > 5.0 { f3(x - 1.0) } else { f3(x * 0.999 + 0.001).sin() };
    let f5 = |x: f64| if x > 5.0 { f4(x - 1.0) } else { f4(x * 0.999 + 0.001).sin() };
    let f6 = |x: f64| if x > 5.0 { f5(x - 1.0) } else { f5(x * 0.999 + 0.001).sin() };
    let f7 = |x: f64| if x > 5.0 { f6(x - 1.0) } else { f6(x * 0.999 + 0.001).sin() };
    let f8 = |x: f64| if x > 5.0 { f7(x - 1.0) } else { f7(x * 0.999 + 0.001).sin() };
    let f9 = |x: f64| if x > 5.0 { f8(x - 1.0) } else { f8(x * 0.999 + 0.001).sin() };
    let f10 = |x: f64| if x > 5.0 { f9(x - 1.0) } else { f9(x * 0.999 + 0.001).sin() };
    let f11 = |x: f64| if x > 5.0 { f10(x - 1.0) } else { f10(x * 0.999 + 0.001).sin() };
    let f12 = |x: f64| if x > 5.0 { f11(x - 1.0) } else { f11(x * 0.999 + 0.001).sin() };
    let f13 = |x: f64| if x > 5.0 { f12(x - 1.0) } else { f12(x * 0.999 + 0.001).sin() };
    let f14 = |x: f64| if x > 5.0 { f13(x - 1.0) } else { f13(x * 0.999 + 0.001).sin() };
    let f15 = |x: f64| if x > 5.0 { f14(x - 1.0) } else { f14(x * 0.999 + 0.001).sin() };
    let f16 = |x: f64| if x > 5.0 { f15(x - 1.0) } else { f15(x * 0.999 + 0.001).sin() };
    let f17 = |x: f64| if x > 5.0 { f16(x - 1.0) } else { f16(x * 0.999 + 0.001).sin() };
    let f18 = |x: f64| if x > 5.0 { f17(x - 1.0) } else { f17(x * 0.999 + 0.001).sin() };
    let f19 = |x: f64| if x > 5.0 { f18(x - 1.0) } else { f18(x * 0.999 + 0.001).sin() };
    let f20 = |x: f64| if x > 5.0 { f19(x - 1.0) } else { f19(x * 0.999 + 0.001).sin() };
    let f21 = |x: f64| if x > 5.0 { f20(x - 1.0) } else { f20(x * 0.999 + 0.001).sin() };
    let f22 = |x: f64| if x > 5.0 { f21(x - 1.0) } else { f21(x * 0.999 + 0.001).sin() };
    let f23 = |x: f64| if x > 5.0 { f22(x - 1.0) } else { f22(x * 0.999 + 0.001).sin() };
    let f24 = |x: f64| if x > 5.0 { f23(x - 1.0) } else { f23(x * 0.999 + 0.001).sin() };
    let f25 = |x: f64| if x > 5.0 { f24(x - 1.0) } else { f24(x * 0.999 + 0.001).sin() };
    let f26 = |x: f64| if x > 5.0 { f25(x - 1.0) } else { f25(x * 0.999 + 0.001).sin() };
    let f27 = |x: f64| if x > 5.0 { f26(x - 1.0) } else { f26(x * 0.999 + 0.001).sin() };
    let f28 = |x: f64| if x > 5.0 { f27(x - 1.0) } else { f27(x * 0.999 + 0.001).sin() };
    let f29 = |x: f64| if x > 5.0 { f28(x - 1.0) } else { f28(x * 0.999 + 0.001).sin() };
    f29(x)
}

/// Closures that capture numbers, an array, a variable that changes between their calls, and each
/// other in two ways, called in a loop.
#[differentiate]
fn of_captures(x: f64, c: f64, a: &[f64; 3], steps: usize) -> f64 {
    let half = c * 0.5;
    let mut shift = 0.1;
    let f0 = |x: f64, k: usize| (x * half).sin() * a[k] + 1.5;
    let f1 = |x: f64, k: usize| f0(f0(x, k), k) + f0(x, 0) * 0.1;
    let f2 = |y: f64, k| if y > c { f1(y - a[0], k) } else { f1(f1(y, 1), k) * 0.9 + 2.0 * half };
    let f3 = |x: f64, k: usize| f2(f1(x, k), k) + f2(x, 0) * 0.1;
    let f4 = |y: f64, k| if y > c { f3(y - a[0], k) } else { f3(f3(y, 1), k) * 0.9 + 4.0 * half };
    let f5 = |x: f64, k: usize| f4(f3(x, k), k) + f4(x, 0) * 0.1;
    let f6 = |y: f64, k| if y > c { f5(y - a[0], k) } else { f5(f5(y, 1), k) * 0.9 + 6.0 * half };
    let f7 = |x: f64, k: usize| f6(f5(x, k), k) + f6(x, 0) * 0.1;
    let f8 = |y: f64, k| if y > c { f7(y - a[0], k) } else { f7(f7(y, 1), k) * 0.9 + 8.0 * half };
    let mut s = 0.0;
    for k in 0..steps {
        s += f8(x + shift, k % 2) * a[k % a.len()];
        shift *= 0.5;
    }
    s + f7(s, 0)
}

/// With a type parameter, and pairs as results.
#[differentiate]
fn of_pairs<F: Real>(x: F, c: F) -> F {
    let f0 = |(a, b): (F, F)| (a * b, a + b * c);
    let f1 = |p: (F, F)| {
        let q = f0(p);
        f0((q.0.sin() * c, q.1.cos() * c))
    };
    let f2 = |p: (F, F)| {
        let q = f1(p);
        f1((q.0.sin() * c, q.1.cos() * c))
    };
    let f3 = |p: (F, F)| {
        let q = f2(p);
        f2((q.0.sin() * c, q.1.cos() * c))
    };
    let f4 = |p: (F, F)| {
        let q = f3(p);
        f3((q.0.sin() * c, q.1.cos() * c))
    };
    let f5 = |p: (F, F)| {
        let q = f4(p);
        f4((q.0.sin() * c, q.1.cos() * c))
    };
    let f6 = |p: (F, F)| {
        let q = f5(p);
        f5((q.0.sin() * c, q.1.cos() * c))
    };
    let f7 = |p: (F, F)| {
        let q = f6(p);
        f6((q.0.sin() * c, q.1.cos() * c))
    };
    let f8 = |p: (F, F)| {
        let q = f7(p);
        f7((q.0.sin() * c, q.1.cos() * c))
    };
    let (a, b) = f8((x, c));
    a + b
}

/// One name for several closures, and a closure that changes a variable.
#[differentiate]
fn of_shadows(x: f64) -> f64 {
    let mut calls = 0.0;
    let f = |x: f64| x.sin() * 0.9 + 0.05;
    let f = |x: f64| f(f(x)) + 0.1 * x;
    let f = |x: f64| f(f(x)) + 0.1 * x;
    let f = |x: f64| f(f(x)) + 0.1 * x;
    let f = |x: f64| f(f(x)) + 0.1 * x;
    let f = |x: f64| f(f(x)) + 0.1 * x;
    let f = |x: f64| f(f(x)) + 0.1 * x;
    let mut counted = |x: f64| {
        calls += f(x);
        f(x)
    };
    let y = counted(x) * counted(2.0 * x);
    y + calls
}

/// Closures that capture a slice and a matrix, called in a loop.
#[differentiate(grad, jvp)]
fn of_arrays(xs: &[f64], p: &[f64], w: &Array2<f64>) -> f64 {
    let f0 = |x: f64| x * x + 0.1 * p[0];
    let f1 = |x: f64| if x > 5.0 { f0(x - p[1]) } else { f0(x * w[[1, 0]] + 0.01).sin() };
    let f2 = |x| if x > 5.0 { f1(x - p[2]) } else { f1(x * w[[0, 0]] + 0.01).sin() };
    let f3 = |x: f64| if x > 5.0 { f2(x - p[0]) } else { f2(x * w[[1, 0]] + 0.01).sin() };
    let f4 = |x| if x > 5.0 { f3(x - p[1]) } else { f3(x * w[[0, 0]] + 0.01).sin() };
    let f5 = |x: f64| if x > 5.0 { f4(x - p[2]) } else { f4(x * w[[1, 0]] + 0.01).sin() };
    let f6 = |x| if x > 5.0 { f5(x - p[0]) } else { f5(x * w[[0, 0]] + 0.01).sin() };
    let f7 = |x: f64| if x > 5.0 { f6(x - p[1]) } else { f6(x * w[[1, 0]] + 0.01).sin() };
    xs.iter().map(|&x| f7(x)).sum()
}

#[test]
fn a_chain_of_helpers_that_are_called_twice() {
    check_grad!(of_chain(0.7));
    check_grad!(of_chain(6.2));
    check_grad!(of_marked(0.7));
}

#[test]
fn a_chain_of_closures_that_are_called_twice() {
    check_grad!(of_closures(0.7));
    check_grad!(of_closures(6.2));
    for (x, c) in [(0.7, 1.3), (-0.4, 2.1)] {
        check_grad!(of_captures(x, c, &[0.3, 0.8, -0.2], 5));
        check_grad!(of_pairs(x, 0.3));
        check_grad!(of_shadows(x));
        check_grad!(of_arrays(&[x, 6.0, c], &[0.9, 0.8, 1.1], &array![[0.9, 0.1], [1.1, 0.2]]));
    }
}
