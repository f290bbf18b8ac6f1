//! Patterns, `match`, `Option`, closures and items: their meaning, and code that is not evaluated.

use super::meaning::means;
use super::*;
use quote::quote;

fn int(k: i128) -> Value {
    Value::ints(IntTy::I32, &[], &[k])
}

#[test]
fn match_on_integers() {
    let f = quote! {
        fn f(x: f64, k: i32) -> f64 {
            match k { 0 => x, 1 | 2 => x * x, -5..=-3 => -x, n @ 7..10 => x * n as f64, n if n % 2 == 0 => x + 1.0, 11.. => 0.5, _ => x.sin() }
        }
    };
    let s = 3.0_f64.sin();
    for (k, y) in [
        (0, 3.0),
        (1, 9.0),
        (2, 9.0),
        (-5, -3.0),
        (-3, -3.0),
        (-2, 4.0),
        (7, 21.0),
        (9, 27.0),
        (10, 4.0),
        (11, 0.5),
        (5, s),
        (-1, s),
    ] {
        means(f.clone(), &[scalar(3.0), int(k)], &[y]);
    }
    means(
        quote! { fn f(x: f64, k: i32) -> f64 { const LAST: i32 = 4; match k { i32::MIN => 0.0, LAST => x, other => x * other as f64 } } },
        &[scalar(3.0), int(4)],
        &[3.0],
    );
}

#[test]
fn match_on_tuples_and_booleans() {
    let f = quote! {
        fn f(x: f64, k: i32, c: bool) -> f64 {
            match (k, c, x > 0.0) { (0, true, _) => x, (n, false, true) => x * n as f64, (_, _, positive) => if positive { 1.0 } else { 2.0 } }
        }
    };
    let b = |c: bool| Value::bools(&[], &[c]);
    for (x, k, c, y) in [(3.0, 0, true, 3.0), (3.0, 4, false, 12.0), (3.0, 4, true, 1.0), (-3.0, 4, false, 2.0)] {
        means(f.clone(), &[scalar(x), int(k), b(c)], &[y]);
    }
    means(
        quote! { fn f(x: f64, k: i32) -> f64 { let (a, b) = match k { 0 => (x, 1.0), _ => (1.0, x) }; if matches!(k, 0 | 3 if x > 0.0) { a } else { b } } },
        &[scalar(5.0), int(3)],
        &[1.0],
    );
}

#[test]
fn arms_are_lazy() {
    let p = program(
        quote!(),
        quote! { fn f(x: &Array1<f64>, i: usize) -> f64 { match i { 0..3 => x[i], 3 if x[i] > 0.0 => x[i + 1], _ => 0.0 } } },
    );
    let x = vector(&[1.0, 2.0, 3.0, 4.0, 5.0]);
    for (i, y) in [(1, 2.0), (3, 5.0), (9, 0.0)] {
        assert_eq!(run(&p, &[x.clone(), sizes(&[], &[i])]), [y]);
    }
    let short = vector(&[1.0]);
    assert_eq!(failed(&p, &[short.clone(), sizes(&[], &[1])]).len(), 1);
    assert!(!failed(&p, &[short.clone(), sizes(&[], &[3])]).is_empty());
    assert!(failed(&p, &[short, sizes(&[], &[4])]).is_empty());
}

#[test]
fn patterns_of_arrays() {
    means(
        quote! { fn f(x: f64) -> f64 { let [(a, _), .., (_, b)] = [(x, 1.0), (2.0 * x, 0.0), (5.0, x)]; let [h, rest @ ..] = [x, 7.0, x + 1.0]; let (p, .., q) = (1.0, x, 3.0); a + 2.0 * b + rest[1] * h + p * q } },
        &[scalar(2.0)],
        &[2.0 + 4.0 + 6.0 + 3.0],
    );
    let f = quote! {
        fn f(x: &[f64]) -> f64 { match x { [] => 0.0, [a] => *a, [a, .., b] if a > b => a - b, [a, rest @ ..] => a * rest.iter().sum::<f64>() } }
    };
    for (x, y) in [(&[][..], 0.0), (&[3.0][..], 3.0), (&[3.0, 5.0, 1.0][..], 2.0), (&[2.0, 3.0, 4.0][..], 14.0)] {
        means(f.clone(), &[vector(x)], &[y]);
    }
}

/// A length that is known when the macro runs selects an arm, whatever the lengths of the other
/// arms are.
#[test]
fn patterns_whose_length_does_not_match() {
    means(
        quote! {
            fn f(x: [f64; 3], y: f64) -> f64 {
                fn g(v: &[f64]) -> f64 {
                    match v {
                        [] => 100.0,
                        [a] => a.sin(),
                        [a, b] => a * b,
                        [a, between @ .., b] => a * b + between.iter().sum::<f64>(),
                    }
                }
                let three = if y > 0.0 { x } else { [y; 3] };
                g(&three) + 2.0 * g(&[y, 3.0]) + g(&x[..0]) + if let [a, ..] = &x[1..1] { *a } else { 7.0 }
            }
        },
        &[vector(&[2.0, 4.0, 5.0]), scalar(1.5)],
        &[14.0 + 9.0 + 100.0 + 7.0],
    );
}

#[test]
fn options() {
    let f = quote! {
        fn f(x: &Array1<f64>, i: usize) -> f64 {
            let a = if let Some(v) = x.get(i) { *v } else { 10.0 };
            let b = match x.get(i + 1) { Some(v) if *v > 2.0 => v * 2.0, Some(_) => 0.0, None => -1.0 };
            let c = x.get(i).map_or(5.0, |v| v + 1.0) + x.get(i).copied().unwrap_or(0.5) + x.get(i).map(|v| v * v).unwrap_or_default();
            let d = (i > 0).then(|| x[i - 1]).unwrap_or_else(|| x[0]);
            let e = if x.get(i).is_some() && !x.get(i).is_none() && x.get(i).is_some_and(|v| *v < 9.0) && x.get(i + 1).is_none_or(|v| *v > 2.5) { 100.0 } else { 0.0 };
            let h = if i > 1 { Some(x[i - 2]) } else { None };
            a + b + c + d + e + h.unwrap_or(0.0)
        }
    };
    let x = [1.0, 2.0, 3.0];
    for i in 0..5_usize {
        let get = |i: usize| x.get(i).copied();
        let a = get(i).unwrap_or(10.0);
        let b = match get(i + 1) {
            Some(v) if v > 2.0 => v * 2.0,
            Some(_) => 0.0,
            None => -1.0,
        };
        let c = get(i).map_or(5.0, |v| v + 1.0) + get(i).unwrap_or(0.5) + get(i).map(|v| v * v).unwrap_or_default();
        let d = if i > 0 { get(i - 1) } else { get(0) };
        let e = if get(i).is_some() && get(i + 1).is_none_or(|v| v > 2.5) { 100.0 } else { 0.0 };
        let h = if i > 1 { get(i - 2) } else { Some(0.0) };
        let p = program(quote!(), f.clone());
        let inputs = [vector(&x), sizes(&[], &[i])];
        match (d, h) {
            (Some(d), Some(h)) => assert_eq!(run(&p, &inputs), [a + b + c + d + e + h]),
            _ => assert_eq!(failed(&p, &inputs).len(), 1),
        }
    }
}

#[test]
fn parts_of_arrays() {
    means(
        quote! {
            fn f(x: &[f64], k: usize) -> f64 {
                let (a, b) = x.split_at(k);
                let (h, t) = x.split_first().unwrap();
                let (l, _) = x.split_last().unwrap();
                a.iter().sum::<f64>() * b.len() as f64 + x.first().unwrap() * 10.0 + *x.last().unwrap() * 100.0 + h * t[0] + l + x.first().map_or(0.0, |v| *v)
            }
        },
        &[vector(&[1.0, 2.0, 3.0]), sizes(&[], &[2])],
        &[3.0 + 10.0 + 300.0 + 2.0 + 3.0 + 1.0],
    );
    means(
        quote! { fn f(x: &Array2<f64>, ids: &[i32]) -> f64 { let (a, b) = x.view().split_at(Axis(1), 1); a.sum() + b[[0, 1]] * 10.0 + x.get((1, 0)).unwrap() + x[(0, 1)] + x.get([5, 0]).copied().unwrap_or(0.5) + x[[ids[0] as usize, 0]] + x.last().unwrap() } },
        &[array(&[2, 3], &[1.0, 2.0, 3.0, 4.0, 5.0, 6.0]), Value::ints(IntTy::I32, &[1], &[1])],
        &[5.0 + 30.0 + 4.0 + 2.0 + 0.5 + 4.0 + 6.0],
    );
    let p = program(
        quote!(),
        quote! { fn f(x: &[f64], k: usize) -> f64 { let (a, b) = x.split_at(k); a.len() as f64 + b.iter().sum::<f64>() } },
    );
    assert_eq!(failed(&p, &[vector(&[1.0]), sizes(&[], &[2])]).len(), 1);
    let p = program(quote!(), quote! { fn f(x: &[f64]) -> f64 { *x.first().unwrap() } });
    assert_eq!(checks(&p), "entry: unwrap of `None` in `x.first().unwrap()` ()");
}

#[test]
fn orderings() {
    let f = quote! {
        fn f(a: f64, b: f64, i: i32, j: i32) -> f64 {
            let first = match i.cmp(&j).then_with(|| j.cmp(&3)) { Ordering::Less => 1.0, Ordering::Equal => 2.0, std::cmp::Ordering::Greater => 3.0 };
            let second = if a.total_cmp(&b).is_lt() { 10.0 } else { 20.0 };
            let third = a.partial_cmp(&b).map_or(300.0, |o| if o.reverse().is_ge() { 100.0 } else { 200.0 });
            first + second + third
        }
    };
    let nan = f64::NAN;
    for (a, b, i, j, y) in [
        (1.0, 2.0, 1, 2, 111.0),
        (2.0, 1.0, 2, 1, 223.0),
        (-0.0, 0.0, 3, 3, 112.0),
        (nan, 1.0, 4, 4, 323.0),
        (0.0, -nan, 1, 1, 321.0),
    ] {
        means(f.clone(), &[scalar(a), scalar(b), int(i), int(j)], &[y]);
    }
}

#[test]
fn closures() {
    means(
        quote! {
            fn f(x: f64) -> f64 {
                const H: f64 = 0.5;
                const N: usize = 3;
                fn square(v: f64) -> f64 { v * v * H }
                fn fourth(v: f64) -> f64 { square(square(v)) }
                let scale = |v: f64, by: f64| -> f64 { v * by };
                let apply = |f, v| f(v, 2.0);
                let make = { let k = 3.0; |v| v + k };
                let pair = |(a, b): (f64, f64), [i, j]: [usize; 2]| a * i as f64 - b * j as f64;
                fourth(x) + apply(scale, x) + make(x) + pair((x, 1.0), [N, 2]) + 0.0 * f64::max(x, H)
            }
        },
        &[scalar(2.0)],
        &[0.5 * 4.0 + 4.0 + 5.0 + 4.0],
    );
    means(
        quote! { fn f(v: &Array1<f64>, k: &Array1<i32>) -> f64 { v.iter().copied().map(relu).map(f64::sqrt).sum::<f64>() + k.iter().copied().map(f64::from).sum::<f64>() } },
        &[vector(&[4.0, -1.0, 9.0]), Value::ints(IntTy::I32, &[2], &[1, 2])],
        &[8.0],
    );
    means(
        quote! { fn f(v: &Array1<f64>) -> Array1<f64> { v.mapv(ad::prelude::sigmoid).mapv(f64::recip) } },
        &[vector(&[0.0])],
        &[2.0],
    );
}

#[test]
fn annotations() {
    means(
        quote! { fn f(x: f64) -> f64 { let (n, y): (usize, f64) = (3, 2.0); let v: [f64; 2] = [1.0, y]; let w: Vec<f64> = vec![x, 2.0]; let k: i64 = 7; x * n as f64 + v[1] + w[0] + k as f64 } },
        &[scalar(2.0)],
        &[6.0 + 2.0 + 2.0 + 7.0],
    );
    let single = Value::of(ad_core::ir::RealTy::F32, &[], vec![Dual::constant(2.0)]);
    let p = program(quote!(), quote! { fn f(x: f32) -> f64 { f32::sqrt(2.0) as f64 + x as f64 } });
    assert_eq!(run(&p, &[single]), [f64::from(2.0_f32.sqrt()) + 2.0]);
}

#[test]
fn constants() {
    means(
        quote! { fn f(x: f64) -> f64 { x * PI + consts::E + core::f64::consts::SQRT_2 + f64::consts::LN_2 + b'a' as f64 } },
        &[scalar(1.0)],
        &[std::f64::consts::PI + std::f64::consts::E + std::f64::consts::SQRT_2 + std::f64::consts::LN_2 + 97.0],
    );
    let p = program(quote!(), quote! { fn f(x: f64) -> f64 { x * PI + consts::E + PI } });
    assert_eq!(p.consts.len(), 2);
    means(
        quote! { fn f(x: f64) -> f64 { let (y, z) = (x.rem_euclid(3.0), x.div_euclid(3.0)); y + 10.0 * z + if x.is_sign_negative() { 100.0 } else { 0.0 } } },
        &[scalar(-7.0)],
        &[2.0 - 30.0 + 100.0],
    );
    means(quote! { fn f(x: f64) -> f64 { x % 3.0 + 7.0 % x } }, &[scalar(-4.0)], &[2.0]);
}

#[test]
fn errors_of_patterns() {
    let error = |item: TokenStream, text: &str| {
        let found = errors(quote!(), item);
        assert!(found.contains(text), "{found}");
    };
    error(
        quote! { fn f(x: f64, n: usize) -> f64 { match n { Limit => x, _ => 0.0 } } },
        "the constant `Limit` cannot be seen",
    );
    error(quote! { fn f(x: f64) -> f64 { match x { 0.0 => x, _ => 0.0 } } }, "a real number in a pattern");
    error(quote! { fn f(x: f64) -> f64 { let y: i32 = x; y as f64 } }, "expected `i32`, found `f64`");
    error(quote! { fn f(x: &Array1<f64>) -> f64 { let y: f64 = x; y } }, "expected `f64`, found an array of rank 1");
    error(quote! { fn f(x: f64) -> f64 { unsafe fn g(x: f64) -> f64 { x } g(x) } }, "an `async` or `unsafe` function");
    error(
        quote! { fn f(x: f64) -> f64 { let g = |v: f64| -> usize { v }; g(x) as f64 } },
        "expected `usize`, found `f64`",
    );
}

#[test]
fn names_in_patterns_that_are_constants_in_rust() {
    let lower =
        quote! { fn f(x: f64, k: i32) -> f64 { const two: i32 = 2; match (k, x > 0.0) { (two, _) => x, _ => x * x } } };
    means(lower.clone(), &[scalar(3.0), int(2)], &[3.0]);
    means(lower, &[scalar(3.0), int(4)], &[9.0]);
    // A variable in upper case is not a constant: its name in a pattern is a new binding.
    let parameter =
        quote! { fn f(x: f64, K: i32) -> f64 { match K + 1 { K if K > 3 => x * K as f64, K => x + K as f64 } } };
    means(parameter.clone(), &[scalar(3.0), int(3)], &[12.0]);
    means(parameter, &[scalar(3.0), int(1)], &[5.0]);
    let bound = quote! {
        fn f(x: f64, k: i32) -> f64 {
            let K = k + 1;
            let g = |A: f64, (B, _): (f64, f64)| A * B - K as f64;
            match k { K => g(x, (x, x)) }
        }
    };
    means(bound, &[scalar(3.0), int(1)], &[7.0]);
}
