//! Chains of helpers, each of which calls the next one twice: each helper is compiled once.

use ad::{check_grad, differentiable, differentiate};

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

#[test]
fn a_chain_of_helpers_that_are_called_twice() {
    check_grad!(of_chain(0.7));
    check_grad!(of_chain(6.2));
    check_grad!(of_marked(0.7));
}
