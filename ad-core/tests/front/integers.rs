//! Integers of every type: values are those of the declared type, and an overflow that the function
//! reaches is a check that fails.

use super::meaning::means;
use super::*;
use quote::quote;

fn one(ty: IntTy, n: i128) -> Value {
    Value::ints(ty, &[], &[n])
}

/// `f` of one integer gives `y`, or panics if `y` is `None`.
#[track_caller]
fn integer(ty: IntTy, body: TokenStream, cases: &[(i128, Option<i128>)]) {
    let name = quote::format_ident!("{}", ty.name());
    let p = program(quote!(), quote! { fn f(x: f64, n: #name) -> f64 { x * (#body) as f64 } });
    for &(n, y) in cases {
        let inputs = [scalar(1.0), one(ty, n)];
        let failed = failed(&p, &inputs);
        match y {
            Some(y) => assert_eq!((run(&p, &inputs), failed.len()), (vec![y as f64], 0), "of {n}"),
            None => assert_eq!(failed.len(), 1, "of {n}"),
        }
    }
}

#[test]
fn arithmetic() {
    integer(IntTy::I32, quote!(n.pow(3)), &[(2, Some(8)), (-3, Some(-27)), (1291, None), (0, Some(0))]);
    integer(IntTy::U8, quote!(n.pow(2)), &[(15, Some(225)), (16, None)]);
    integer(
        IntTy::U32,
        quote!((-2_i64).pow(n)),
        &[(0, Some(1)), (63, Some(i64::MIN.into())), (64, None), (3, Some(-8))],
    );
    integer(IntTy::U32, quote!((-1_i32).pow(n)), &[(u32::MAX.into(), Some(-1)), (u32::MAX as i128 - 1, Some(1))]);
    integer(IntTy::I32, quote!(n.div_euclid(4)), &[(-7, Some(-2)), (7, Some(1)), (-8, Some(-2))]);
    integer(IntTy::I32, quote!(7_i32.div_euclid(n)), &[(-4, Some(-1)), (0, None)]);
    integer(IntTy::I32, quote!((-7_i32).div_euclid(n)), &[(-4, Some(2)), (4, Some(-2))]);
    integer(IntTy::I64, quote!(n.rem_euclid(-4)), &[(-7, Some(1)), (7, Some(3))]);
    integer(
        IntTy::I64,
        quote!(n.abs_diff(i64::MIN)),
        &[(i64::MAX.into(), Some(u64::MAX.into())), (i64::MIN.into(), Some(0))],
    );
    integer(IntTy::I32, quote!(n.abs_diff(5)), &[(-7, Some(12)), (7, Some(2)), (i32::MIN.into(), Some(2147483653))]);
    integer(IntTy::I32, quote!(n.unsigned_abs()), &[(i32::MIN.into(), Some(1 << 31)), (-3, Some(3))]);
    integer(IntTy::I32, quote!(n.abs()), &[(i32::MIN.into(), None), (-3, Some(3))]);
    integer(IntTy::I32, quote!(n.signum()), &[(-9, Some(-1)), (0, Some(0)), (4, Some(1))]);
    integer(IntTy::I32, quote!(n.clamp(-2, 2)), &[(-9, Some(-2)), (1, Some(1)), (4, Some(2))]);
    integer(IntTy::I32, quote!(n % 3 - n / 3), &[(-7, Some(1)), (8, Some(0))]);
    integer(IntTy::I32, quote!(5 / n), &[(0, None), (-2, Some(-2))]);
    integer(IntTy::I32, quote!(n / -1), &[(i32::MIN.into(), None), (-2, Some(2))]);
    integer(IntTy::U8, quote!(n + 1), &[(255, None), (3, Some(4))]);
    integer(IntTy::U8, quote!(if n < 255 { n + 1 } else { 0 }), &[(255, Some(0)), (3, Some(4))]);
    integer(
        IntTy::Usize,
        quote!(n.div_ceil(4)),
        &[(0, Some(0)), (8, Some(2)), (9, Some(3)), (u64::MAX.into(), Some(1 << 62))],
    );
    integer(IntTy::U8, quote!(7_u8.div_ceil(n)), &[(0, None), (7, Some(1)), (2, Some(4))]);
    integer(IntTy::U64, quote!(if n.is_power_of_two() { 1 } else { 0 }), &[(0, Some(0)), (8, Some(1)), (12, Some(0))]);
    integer(IntTy::I64, quote!(if n.is_positive() || n.is_negative() { 1 } else { 0 }), &[(0, Some(0)), (8, Some(1))]);
    integer(IntTy::Usize, quote!(usize::MAX - n), &[(0, Some(u64::MAX.into()))]);
    integer(IntTy::I32, quote!(i32::max(n, 3) + i32::pow(n, 2)), &[(2, Some(7))]);
}

#[test]
fn methods_that_do_not_panic() {
    integer(
        IntTy::I32,
        quote!(n.saturating_add(i32::MAX)),
        &[(1, Some(i32::MAX.into())), (-1, Some(i128::from(i32::MAX) - 1))],
    );
    integer(IntTy::I32, quote!(n.saturating_mul(n)), &[(1 << 20, Some(i32::MAX.into()))]);
    integer(IntTy::I32, quote!(n.saturating_pow(31)), &[(-3, Some(i32::MIN.into()))]);
    integer(IntTy::Usize, quote!(n.saturating_sub(3)), &[(1, Some(0)), (5, Some(2))]);
    integer(IntTy::I32, quote!(n.wrapping_add(i32::MAX)), &[(1, Some(i32::MIN.into()))]);
    integer(IntTy::U8, quote!(n.wrapping_sub(3)), &[(1, Some(254))]);
    integer(
        IntTy::U64,
        quote!((n + u64::MAX / 3).wrapping_mul(6_364_136_223_846_793_005)),
        &[(1, Some(i128::from((1 + u64::MAX / 3).wrapping_mul(6_364_136_223_846_793_005))))],
    );
    integer(IntTy::U64, quote!(n.wrapping_sub(u64::MAX).wrapping_add(u64::MAX)), &[(7, Some(7))]);
    integer(IntTy::U64, quote!(n.wrapping_sub(5)), &[(3, Some(i128::from(u64::MAX) - 1))]);
    integer(
        IntTy::I64,
        quote!(n.wrapping_mul(i64::MAX).wrapping_add(i64::MIN).wrapping_sub(1)),
        &[(-5, Some(i128::from((-5_i64).wrapping_mul(i64::MAX).wrapping_add(i64::MIN).wrapping_sub(1))))],
    );
    integer(IntTy::U32, quote!(n.wrapping_mul(n)), &[((1 << 16) + 1, Some((1 << 17) + 1))]);
    integer(IntTy::U8, quote!(n.checked_add(3).unwrap_or(9)), &[(255, Some(9)), (2, Some(5))]);
    integer(IntTy::I32, quote!(7_i32.checked_div(n).map_or(0, |q| q + 1)), &[(0, Some(0)), (2, Some(4))]);
    integer(IntTy::U8, quote!(if n.checked_pow(3).is_none() { 1 } else { 0 }), &[(7, Some(1)), (2, Some(0))]);
}

#[test]
fn bits_and_shifts() {
    integer(IntTy::I32, quote!((n & 6) | (n ^ 3)), &[(5, Some(6)), (-1, Some(-2)), (0, Some(3))]);
    integer(IntTy::U8, quote!(!n), &[(5, Some(250))]);
    integer(IntTy::I64, quote!(!n), &[(5, Some(-6))]);
    integer(IntTy::U8, quote!(n << 4), &[(0x1f, Some(0xf0))]);
    integer(IntTy::I32, quote!(n >> 1), &[(-5, Some(-3)), (5, Some(2))]);
    integer(IntTy::U32, quote!(1_u64 << n), &[(40, Some(1 << 40)), (64, None)]);
    integer(IntTy::I32, quote!(1_usize >> n), &[(0, Some(1)), (-1, None), (63, Some(0)), (64, None)]);
    integer(IntTy::Usize, quote!(n & (1 << 3)), &[(12, Some(8))]);
    integer(IntTy::Usize, quote!(n & !1), &[(13, Some(12))]);
    // A mask keeps the index in range, so it needs no check.
    let p = program(
        quote!(),
        quote! { fn f(x: &Array1<f64>, n: usize) -> f64 { if x.len() == 4 { x[n & 3] } else { 0.0 } } },
    );
    assert_eq!(checks(&p), "");
    assert_eq!(run(&p, &[vector(&[1.0, 2.0, 3.0, 4.0]), sizes(&[], &[6])]), [3.0]);
}

#[test]
fn arrays_of_integers() {
    means(
        quote! { fn f(x: &Array1<f64>, k: &Array1<usize>) -> Array1<f64> { let k = (k + 1) & 3; build1(x.len(), |i| x[i] * k[i] as f64) } },
        &[vector(&[1.0, 2.0]), sizes(&[2], &[2, 3])],
        &[3.0, 0.0],
    );
    means(
        quote! { fn f(x: &Array1<f64>, k: &Array1<usize>) -> Array1<f64> { let k = (k << 1) ^ k; build1(x.len(), |i| x[i] * k[i] as f64) } },
        &[vector(&[1.0, 2.0]), sizes(&[2], &[2, 3])],
        &[6.0, 10.0],
    );
    let p = program(
        quote!(),
        quote! { fn f(x: &Array1<f64>, k: &Array1<u8>) -> f64 { let k = k * 2; x[0] * k[0] as f64 } },
    );
    let k = |xs: &[i128]| Value::ints(IntTy::U8, &[xs.len()], xs);
    assert_eq!(run(&p, &[vector(&[1.0]), k(&[100, 127])]), [200.0]);
    assert_eq!(failed(&p, &[vector(&[1.0]), k(&[100, 128])]).len(), 1);
}

/// The dummy for a value that does not exist has the type of that value.
#[test]
fn alternatives_of_an_option_that_is_known_have_its_type() {
    integer(
        IntTy::Usize,
        quote!(if 0_usize.checked_sub(2).unwrap_or(4).is_power_of_two() { n } else { 0 }),
        &[(3, Some(3))],
    );
    integer(IntTy::Usize, quote!(0_u8.checked_sub(2).unwrap_or(250).wrapping_add(9) as usize + n), &[(0, Some(3))]);
    integer(IntTy::Usize, quote!(0_u8.checked_sub(2).map_or(n, |k| k as usize)), &[(3, Some(3))]);
    integer(
        IntTy::Usize,
        quote!(0_u8.checked_sub(2).unwrap_or_else(|| 250).wrapping_add(9) as usize + n),
        &[(0, Some(3))],
    );
}
