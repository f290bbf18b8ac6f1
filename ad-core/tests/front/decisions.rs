//! Decisions are those of the function, to the last bit: a comparison has as its bound the number
//! that Rust computes from a vector, or the next smaller number. (`tests/decisions.rs` runs the
//! generated code.)

use super::*;
use ad_core::descriptor::GRAD;
use ad_core::pipeline::{derive, prepare};
use quote::quote;

/// `s > c` for these vectors, at `c = s` and at the next smaller number, in the function and in its
/// derivative.
#[track_caller]
fn decides(body: &TokenStream, s: fn(&[f64]) -> f64) {
    let item = quote!(fn f(x: &[f64], c: f64) -> f64 { let s = { #body }; if s > c { 2.0 * c } else { 3.0 * c } });
    let source = program(quote!(), item.clone());
    let mut bulk = prepare(program(quote!(), item), None);
    let routine = derive(&mut bulk, &GRAD, None);
    let mut state = 11_u64;
    let mut next = || {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (state >> 11) as f64 / (1_u64 << 53) as f64 * 1.7 - 0.4
    };
    for n in (0..40).chain([63, 64, 65, 100]) {
        let x: Vec<f64> = (0..n).map(|_| next()).collect();
        let s = s(&x);
        if s.is_nan() {
            continue;
        }
        for (c, arm) in [(s, 3.0), (s.next_down(), 2.0)] {
            // There is no number below minus infinity.
            let arm = if c == s { 3.0 } else { arm };
            let inputs = [vector(&x), scalar(c)];
            assert_eq!(run(&source, &inputs)[0].to_bits(), (arm * c).to_bits(), "{body}, {n}");
            let roots = routine.result.terms();
            let mut interp = Interp::new(&bulk.program.graph, &inputs);
            let found: Vec<Vec<f64>> = roots.iter().map(|&t| interp.eval(t).unwrap().values()).collect();
            assert_eq!(found[0][0].to_bits(), (arm * c).to_bits(), "{body}, {n}, derived");
            assert_eq!(found[2], [arm], "{body}, {n}, derived");
        }
    }
}

macro_rules! decides {
    (|$x:ident| $($body:tt)*) => {{
        #[allow(clippy::all, reason = "programs as people write them")]
        fn s($x: &[f64]) -> f64 { $($body)* }
        decides(&quote!($($body)*), s);
    }};
}

#[test]
fn sums_in_order() {
    decides!(|x| x.iter().sum::<f64>());
    decides!(|x| x.iter().map(|v| v * v).sum::<f64>());
    decides!(|x| x.iter().filter(|&&v| v > 0.3).sum::<f64>());
    decides!(|x| x.iter().filter(|&&v| v > 9.0).sum::<f64>().recip());
    decides!(|x| x.iter().zip(x.iter().skip(2)).map(|(a, b)| a * b).sum::<f64>());
    decides!(|x| x.iter().rev().take(20).sum::<f64>());
    decides!(|x| x.windows(3).map(|w| w.iter().sum::<f64>() * w[0]).sum::<f64>());
    decides!(|x| x.iter().fold(0.0, |a, v| a + v));
    decides!(|x| {
        let mut s = 0.25;
        for i in 0..x.len() {
            s += x[i];
        }
        s
    });
    decides!(|x| {
        let mut s = 0.0;
        for v in x {
            if *v > 0.0 {
                s += v * v;
            } else {
                s -= v;
            }
        }
        s
    });
}

/// A sum over nested loops.
#[test]
fn sums_through_nested_loops() {
    decides!(|x| {
        let n = x.len() / 3;
        let mut s = 0.0;
        for i in 0..3 {
            for j in 0..n {
                s += x[i * n + j] * x[j];
            }
        }
        s
    });
    decides!(|x| {
        let n = x.len() / 4;
        let mut s = 0.0;
        for i in 0..n {
            for p in 0..2 {
                for q in 0..3 {
                    s = x[i + p + q] * x[q] + s;
                }
            }
        }
        s
    });
    decides!(|x| {
        let mut s = 0.0;
        for i in 0..x.len() {
            for j in 0..i {
                s += x[i] * x[j];
            }
        }
        s
    });
    decides!(|x| {
        let mut s = 0.0;
        for i in 0..x.len() {
            s += x[i];
            for j in (0..3).rev() {
                s -= x[i] * 0.3 + j as f64;
            }
        }
        s
    });
    decides!(|x| {
        let mut s = 0.0;
        for i in 0..x.len() {
            let mut t = 0.1;
            for j in 0..2 {
                for v in x {
                    t += v * x[i];
                    s += t * x[i] + j as f64;
                }
            }
        }
        s
    });
    decides!(|x| {
        let mut s = 0.0;
        for i in (0..x.len()).rev() {
            for j in 0..3 {
                for k in (0..2).rev() {
                    s += x[i] * (j as f64 + 0.7) / (k as f64 + 1.3);
                }
            }
        }
        s
    });
    decides!(|x| {
        let mut s = 0.0;
        for i in 0..x.len() {
            for j in 0..3 {
                if x[i] > 0.2 {
                    s += x[i] * (j as f64 + 0.7);
                }
            }
        }
        s
    });
    decides!(|x| {
        let mut s = 0.0;
        for i in 0..2 {
            for j in 0..0 {
                s += x[i + j];
            }
        }
        s
    });
}

#[test]
fn products_and_fused_sums() {
    decides!(|x| x.iter().product::<f64>());
    decides!(|x| {
        let mut s = 0.0_f64;
        for v in x.iter() {
            s = v.mul_add(*v, s);
        }
        s
    });
}

/// The second differences of a matrix are written over a part of a copy of it, so their order of
/// summation is unknown. Those of a vector are in order.
#[test]
fn sums_of_repeated_differences() {
    let text = errors(
        quote! {},
        quote! { fn f(x: &Array2<f64>) -> f64 { if x.diff(2, Axis(0)).sum() > 1.0 { 1.0 } else { x.sum() } } },
    );
    assert!(text.contains("order"), "{text}");
    let _ = program(
        quote! {},
        quote! { fn f(x: &Array2<f64>) -> f64 { if x.diff(1, Axis(0)).sum() > 1.0 { 1.0 } else { x.sum() } } },
    );
    let _ = program(
        quote! {},
        quote! { fn f(x: &Array1<f64>) -> f64 { if x.diff(2, Axis(0)).sum() > 1.0 { 1.0 } else { x.sum() } } },
    );
}
