//! Iterators: each source, adapter and consumer, alone and combined, compared with Rust's own.

#![allow(clippy::all, unused_variables, reason = "every way to write a chain, not the shortest")]

use super::meaning::means;
use super::*;
use quote::quote;

const X: [f64; 5] = [3.0, -1.0, 4.0, -1.0, 5.0];

/// `f` of a slice, and the same function in Rust.
#[track_caller]
fn slice(body: TokenStream, expected: impl Fn(&[f64]) -> f64) {
    let p = program(quote!(), quote! { fn f(x: &[f64]) -> f64 { #body } });
    for n in [5, 4, 3, 2, 1, 0] {
        let x = &X[..n];
        let (found, expected) = (run(&p, &[vector(x)])[0], expected(x));
        assert!(found == expected || (found - expected).abs() < 1e-12, "{found} is not {expected} for {x:?}");
    }
}

macro_rules! same {
    ($x:ident => $($body:expr),* $(,)?) => {{
        // All programs run, so that the report shows every failure.
        let mut bad = Vec::new();
        $(
            let one = || slice(quote!($body), |$x: &[f64]| $body);
            if std::panic::catch_unwind(one).is_err() {
                bad.push(stringify!($body));
            }
        )*
        assert!(bad.is_empty(), "{}", bad.join("\n"));
    }};
}

#[test]
fn adapters() {
    same!(x =>
        x.iter().step_by(2).sum::<f64>(),
        x.iter().skip(1).step_by(3).map(|v| v * 2.0).sum::<f64>(),
        x.iter().rev().step_by(2).sum::<f64>(),
        x.iter().chain(x.iter().rev().take(2)).enumerate().map(|(i, v)| i as f64 * v).sum::<f64>(),
        x.iter().copied().chain(std::iter::once(7.0)).map(|v| v * v).sum::<f64>(),
        x.iter().zip(1..).map(|(v, k)| v * k as f64).sum::<f64>(),
        x.iter().zip(x.iter().skip(1)).map(|(a, b)| a * b).sum::<f64>(),
        x.iter().zip(std::iter::repeat(2.0)).map(|(a, b)| a * b).sum::<f64>(),
        std::iter::repeat(1.5).take(x.len()).sum::<f64>(),
        std::iter::repeat_n(1.5, 3).sum::<f64>() + x.len() as f64,
        x.iter().filter(|v| **v > 0.0).sum::<f64>(),
        x.iter().filter(|v| **v > 0.0).count() as f64,
        x.iter().enumerate().filter(|(i, _)| i % 2 == 1).map(|(_, v)| v * v).sum::<f64>(),
        x.iter().filter(|&&v| v > 0.0).filter(|&&v| v < 4.5).rev().map(|v| 10.0 / v).sum::<f64>(),
        x.iter().filter_map(|&v| if v > 0.0 { Some(v.sqrt()) } else { None }).sum::<f64>(),
        x.windows(2).map(|w| w[0] * w[1]).sum::<f64>(),
        x.windows(3).map(|w| w.iter().sum::<f64>() * w[2]).sum::<f64>(),
        x.chunks_exact(2).map(|c| c[0] - c[1]).sum::<f64>(),
        (0..x.len()).flat_map(|i| (0..3).map(move |k| x[i] * k as f64)).sum::<f64>(),
        (0..x.len()).flat_map(|i| (0..i).map(move |k| x[i] * x[k])).sum::<f64>(),
        x.iter().flat_map(|a| x.iter().map(move |b| a * b)).sum::<f64>(),
        x.iter().enumerate().rev().skip(1).map(|(i, v)| v * i as f64).sum::<f64>(),
        x.iter().map(|v| v * 2.0).collect::<Vec<f64>>().iter().rev().take(2).sum::<f64>(),
        [1.0, 2.0].iter().zip(x).map(|(a, b)| a * b).sum::<f64>(),
        [(1.0, 2), (3.0, 4)].iter().map(|&(a, k)| a * k as f64).sum::<f64>(),
        (1_u8..=3).rev().map(|k| 1.0 / k as f64).sum::<f64>() + x.len() as f64,
        (-2_i32..2).map(|k| k as f64).sum::<f64>() + x.len() as f64,
        (0..10).step_by(4).map(|k| k as f64).sum::<f64>() + x.len() as f64,
        (0..10).rev().step_by(3).map(|k| k as f64).sum::<f64>() + x.len() as f64,
    );
}

#[test]
fn take_while_and_its_kin() {
    same!(x =>
        x.iter().take_while(|v| **v != 4.0).map(|v| v * v).sum::<f64>(),
        x.iter().copied().take_while(|&v| v > 9.0).sum::<f64>(),
        x.iter().take_while(|v| **v < 9.0).count() as f64,
        x.iter().skip_while(|v| **v != 4.0).map(|v| v * v).sum::<f64>(),
        x.iter().skip_while(|v| **v < 9.0).count() as f64,
        x.iter().enumerate().skip_while(|(_, v)| **v > 0.0).map(|(i, v)| v * i as f64).sum::<f64>(),
        x.iter().map_while(|v| if *v != 5.0 { Some(v * 3.0) } else { None }).sum::<f64>(),
        x.iter().zip(0..).take_while(|(_, k)| k * k < 5).map(|(v, k)| v * k as f64).sum::<f64>(),
        x.iter().filter(|v| **v > 0.0).take_while(|v| **v < 4.5).sum::<f64>(),
        x.iter().rev().take_while(|v| **v > 0.0).enumerate().map(|(i, v)| v * (i + 1) as f64).sum::<f64>(),
        x.iter().skip_while(|v| **v > 0.0).take_while(|v| **v < 4.5).fold(1.0, |a, v| a * 2.0 + v),
        x.iter().take_while(|v| **v < 4.5).collect::<Vec<_>>().len() as f64,
        (0..x.len()).map(|i| x.iter().take_while(|v| **v != x[i]).sum::<f64>() * x[i]).sum::<f64>(),
        (0..x.len()).map(|i| x.iter().skip_while(|v| **v != x[i]).map(|v| v * v).sum::<f64>() * x[i]).sum::<f64>(),
        { let mut s = 0.0; for v in x.iter().take_while(|v| **v != 4.0) { s = s * 2.0 + v; } s },
        (0..9).take_while(|&i| i < x.len()).map(|i| x[i]).sum::<f64>(),
    );
}

#[test]
fn scans_with_state() {
    same!(x =>
        x.iter().scan(0.0, |s, v| { *s += v; Some(*s) }).sum::<f64>(),
        x.iter().scan(1.0, |s, &v| { *s *= v; Some(*s) }).map(|v| v * v).sum::<f64>(),
        x.iter().scan(0.0, |s, v| { let old = *s; *s = 0.5 * *s + v; Some(old) }).enumerate().map(|(i, v)| v * i as f64).sum::<f64>(),
        x.iter().scan((0.0, 1), |s, v| { s.0 += v; s.1 += 1; Some(s.0 / s.1 as f64) }).sum::<f64>(),
        x.iter().scan(0.0, |s, v| { *s += v; if *s < 5.5 { Some(*s) } else { None } }).sum::<f64>(),
        x.iter().scan(0.0, |s, v| { *s += v; (*s < 5.5).then(|| *s * v) }).collect::<Vec<f64>>().len() as f64,
        x.iter().scan(0.0, |s, v| { *s += v; Some(*s) }).last().unwrap_or(0.25),
        x.iter().scan(0.0, |s, v| { *s += v; Some(*s) }).take(3).sum::<f64>(),
        x.iter().scan(0.0, |s, v| { *s += v; Some(*s) }).take_while(|v| *v < 5.5).sum::<f64>(),
        x.iter().scan(0.0, |s, v| { *s += v; Some(*s) }).zip(x).map(|(a, b)| a * b).sum::<f64>(),
        x.iter().scan(0.0, |s, v| { *s += v; Some(*s) }).fold(0.0, |a, v| a.max(v)),
        (0..x.len()).scan(1.0, |s, i| { *s = x[i] - *s; Some(*s) }).sum::<f64>(),
        x.iter().filter(|v| **v > 0.0).scan(0.0, |s, v| { *s += v; Some(*s) }).sum::<f64>(),
        (0..x.len()).map(|i| x[..i].iter().scan(0.0, |s, v| { *s += v; Some(*s) }).sum::<f64>() * x[i]).sum::<f64>(),
        { let v: Vec<f64> = x.iter().scan(0.0, |s, v| { *s += v; Some(*s) }).collect(); v.iter().product::<f64>() },
    );
}

/// Items that are only counted or skipped are evaluated, and fail as in Rust.
#[test]
fn skipped_items_are_evaluated() {
    let of = |body: TokenStream, n: usize| {
        let p = program(quote!(), quote! { fn f(x: &[f64]) -> f64 { #body } });
        !failed(&p, &[vector(&X[..n])]).is_empty()
    };
    for (n, fails) in [(3, false), (2, true)] {
        assert_eq!(of(quote!((0..3).map(|i| x[i]).count() as f64 * x[0]), n), fails);
        assert_eq!(of(quote!((0..4).map(|i| x[3 - i.max(1)]).nth(2).unwrap() * x[0]), n), fails);
        assert_eq!(of(quote!((0..3).map(|i| x[2 - i]).nth(1).unwrap() * x[0]), n), fails);
        assert_eq!(of(quote!((0..3).map(|i| x[i]).take_while(|v| *v < 9.0).count() as f64 * x[0]), n), fails);
        assert_eq!(of(quote!((0..3).map(|i| x[i]).skip_while(|v| *v > -9.0).count() as f64 * x[0]), n), fails);
    }
    // `len` evaluates no item, and items after the end are not evaluated.
    assert!(!of(quote!((0..3).map(|i| x[i]).len() as f64 * x[0]), 1));
    assert!(!of(quote!((0..3).map(|i| x[i]).take_while(|v| *v > 0.0).count() as f64 * x[0]), 2));
    assert!(!of(quote!((0..3).map(|i| x[i]).nth(0).unwrap() * x[0]), 1));
}

#[test]
fn triangles() {
    same!(x =>
        (0..x.len()).map(|i| (0..i).map(|j| x[i] * x[j]).sum::<f64>()).sum::<f64>(),
        (0..x.len()).map(|i| (i + 1..x.len()).map(|j| x[i] / x[j]).sum::<f64>()).sum::<f64>(),
        (0..x.len()).map(|i| (0..=i).rev().map(|j| x[j] * (i - j) as f64).sum::<f64>()).sum::<f64>(),
        (0..x.len()).map(|i| x.iter().take(i).sum::<f64>() * x[i]).sum::<f64>(),
        (0..x.len()).map(|i| x.iter().skip(i + 1).sum::<f64>() * x[i]).sum::<f64>(),
        (0..x.len()).map(|i| x.iter().skip(i).zip(x).map(|(a, b)| a * b).sum::<f64>()).sum::<f64>(),
        (0..x.len()).filter(|&i| (0..i).all(|j| x[j] != x[i])).count() as f64,
        (0..x.len()).map(|i| if (0..i).any(|j| x[j] > x[i]) { 1.0 } else { 2.0 }).sum::<f64>(),
        (0..x.len()).map(|i| (0..i).map(|j| x[j]).max_by(|a, b| a.total_cmp(b)).unwrap_or(0.5)).sum::<f64>(),
        (0..x.len()).map(|i| (i..x.len()).step_by(2).map(|j| x[j]).sum::<f64>()).sum::<f64>(),
        (0..x.len()).map(|i| (0..i).map(|j| (0..j).map(|k| x[k] * x[j]).sum::<f64>() * x[i]).sum::<f64>()).sum::<f64>(),
        (0..x.len()).map(|i| (0..i / 2 + 1).count() as f64).sum::<f64>(),
    );
}

#[test]
fn folds_over_filtered_items() {
    same!(x =>
        x.iter().filter(|v| **v > 0.0).fold(0.5, |a, v| a * 2.0 + v),
        x.iter().filter(|v| **v > 0.0).product::<f64>(),
        (0..x.len()).map(|i| (0..i).fold(1.0, |a, j| a * x[j] + 1.0)).sum::<f64>(),
        x.iter().rev().step_by(2).fold(0.0, |a, v| a * 0.5 + v),
    );
}

#[test]
fn extremes() {
    same!(x =>
        x.iter().copied().max_by(|a, b| a.total_cmp(b)).unwrap_or(0.5),
        x.iter().copied().min_by(|a, b| a.partial_cmp(b).unwrap()).unwrap_or(0.5),
        x.iter().copied().max_by(f64::total_cmp).map_or(-9.0, |v| v * 2.0),
        x.iter().enumerate().min_by(|a, b| a.1.total_cmp(b.1)).map_or(9, |(i, _)| i) as f64,
        x.iter().enumerate().min_by(|(_, a), (_, b)| b.partial_cmp(a).unwrap()).map_or(9, |(i, _)| i) as f64,
        x.iter().enumerate().max_by(|(_, a), (_, b)| b.partial_cmp(a).unwrap()).map_or(9, |(i, _)| i) as f64,
        (0..x.len()).max_by(|&i, &j| (x[i] * x[i]).total_cmp(&(x[j] * x[j]))).unwrap_or(7) as f64,
        x.iter().enumerate().max_by(|a, b| a.1.abs().total_cmp(&b.1.abs()).then(b.0.cmp(&a.0))).map_or(9, |(i, _)| i) as f64,
        x.iter().filter(|v| **v < 4.5).max_by(|a, b| a.total_cmp(b)).copied().unwrap_or(0.5),
        x.iter().enumerate().filter(|(_, v)| **v < 0.0).min_by(|a, b| a.1.total_cmp(b.1)).map_or(9, |(i, _)| i) as f64,
        x.iter().enumerate().filter(|(_, v)| **v < 0.0).max_by(|a, b| a.1.total_cmp(b.1)).map_or(9, |(i, _)| i) as f64,
        x.iter().map(|v| *v as i32).max().unwrap_or(0) as f64,
        x.iter().map(|v| *v as i32).min().unwrap_or(0) as f64,
        x.iter().max_by_key(|v| (**v as i32).abs()).copied().unwrap_or(0.0),
        x.iter().enumerate().min_by_key(|(i, v)| (**v as i32, -(*i as i32))).map_or(9, |(i, _)| i) as f64,
        x.iter().position(|&v| v < 0.0).unwrap_or(9) as f64,
        x.iter().rev().position(|&v| v < 0.0).map_or(9.0, |k| k as f64),
        x.iter().find(|v| **v < 0.0).copied().unwrap_or(2.5),
        x.iter().last().copied().unwrap_or(2.5),
        x.iter().nth(2).copied().unwrap_or(2.5),
        x.iter().filter(|v| **v < 0.0).last().copied().unwrap_or(2.5),
    );
}

#[test]
fn extremes_at_the_edges() {
    let f =
        quote! { fn f(x: &[f64]) -> f64 { x.iter().enumerate().max_by(|a, b| a.1.total_cmp(b.1)).unwrap().0 as f64 } };
    let g =
        quote! { fn f(x: &[f64]) -> f64 { x.iter().enumerate().min_by(|a, b| a.1.total_cmp(b.1)).unwrap().0 as f64 } };
    let nan = f64::NAN;
    for x in
        [&[0.0, -0.0, 0.0, -0.0][..], &[-0.0, -0.0], &[1.0, nan, 2.0], &[-nan, 1.0, f64::NEG_INFINITY], &[nan, nan]]
    {
        let largest = x.iter().enumerate().max_by(|a, b| a.1.total_cmp(b.1)).unwrap().0;
        let smallest = x.iter().enumerate().min_by(|a, b| a.1.total_cmp(b.1)).unwrap().0;
        means(f.clone(), &[vector(x)], &[largest as f64]);
        means(g.clone(), &[vector(x)], &[smallest as f64]);
    }
    // A single NaN is not compared.
    let p = program(
        quote!(),
        quote! { fn f(x: &[f64]) -> f64 { *x.iter().max_by(|a, b| a.partial_cmp(b).unwrap()).unwrap() } },
    );
    assert_eq!(failed(&p, &[vector(&[])]).len(), 1);
    assert_eq!(failed(&p, &[vector(&[nan])]).len(), 0);
    assert_eq!(failed(&p, &[vector(&[1.0, nan])]).len(), 1);
    assert_eq!(failed(&p, &[vector(&[1.0, 2.0])]).len(), 0);
}

#[test]
fn all_and_any_stop_at_the_item_that_decides() {
    let p = program(
        quote!(),
        quote! { fn f(x: &[f64], k: &[usize]) -> f64 { if k.iter().all(|&i| x[i] > 0.0) { 1.0 } else { 2.0 } } },
    );
    let x = vector(&[1.0, -1.0]);
    let all = |k: &[usize]| failed(&p, &[x.clone(), sizes(&[k.len()], k)]).len();
    assert_eq!((all(&[0, 0]), all(&[0, 1, 7]), all(&[0, 7, 1]), all(&[])), (0, 0, 1, 0));
    let p = program(
        quote!(),
        quote! { fn f(x: &[f64], k: &[usize]) -> f64 { k.iter().position(|&i| x[i] < 0.0).unwrap_or(5) as f64 } },
    );
    let at = |k: &[usize]| failed(&p, &[x.clone(), sizes(&[k.len()], k)]).len();
    assert_eq!((at(&[0, 0]), at(&[0, 1, 7]), at(&[0, 7, 1]), at(&[])), (0, 0, 1, 0));
    assert_eq!(run(&p, &[x, sizes(&[3], &[0, 1, 7])]), [1.0]);
}

#[test]
fn filtered_items_are_not_mapped() {
    let p = program(
        quote!(),
        quote! { fn f(x: &[f64], k: &[usize]) -> f64 { k.iter().filter(|&&i| i < 2).map(|&i| x[i]).sum::<f64>() } },
    );
    assert_eq!(failed(&p, &[vector(&[1.0, 2.0]), sizes(&[3], &[0, 9, 1])]).len(), 0);
    assert_eq!(run(&p, &[vector(&[1.0, 2.0]), sizes(&[3], &[0, 9, 1])]), [3.0]);
    assert_eq!(failed(&p, &[vector(&[1.0]), sizes(&[3], &[0, 9, 1])]).len(), 1);
    // The loop reads only the elements below the diagonal, and the prover shows that.
    let p = program(
        quote!(),
        quote! { fn f(x: &Array1<f64>) -> f64 { (0..x.len()).map(|i| (0..i).map(|j| x[j] * x[i - j]).sum::<f64>()).sum() } },
    );
    assert_eq!(checks(&p), "");
}

#[test]
fn arrays_as_sources() {
    let x = array(&[2, 3], &[1.0, 2.0, 3.0, 4.0, 5.0, 6.0]);
    let of = |body: TokenStream, y: f64| {
        means(quote! { fn f(x: &Array2<f64>) -> f64 { #body } }, std::slice::from_ref(&x), &[y])
    };
    of(quote!(x.outer_iter().map(|r| r[0] * r[2]).sum::<f64>()), 3.0 + 24.0);
    of(quote!(x.rows().into_iter().map(|r| r.dot(&r)).sum::<f64>()), 91.0);
    of(quote!(x.columns().into_iter().map(|c| c[0] * c[1]).sum::<f64>()), 4.0 + 10.0 + 18.0);
    of(quote!(x.axis_iter(Axis(1)).enumerate().map(|(j, c)| c.sum() * j as f64).sum::<f64>()), 7.0 + 18.0);
    of(quote!(x.lanes(Axis(0)).into_iter().map(|c| c[1]).sum::<f64>()), 15.0);
    of(
        quote!(x.indexed_iter().map(|((i, j), v)| v * (10 * i + j) as f64).sum::<f64>()),
        2.0 + 6.0 + 40.0 + 55.0 + 72.0,
    );
    of(quote!(x.iter().enumerate().filter(|(k, _)| k % 2 == 0).map(|(_, v)| v).sum::<f64>()), 9.0);
    of(quote!(x.outer_iter().map(|r| r.iter().copied().max_by(|a, b| a.total_cmp(b)).unwrap()).sum::<f64>()), 9.0);
    of(quote!(x.outer_iter().max_by(|a, b| a.sum().total_cmp(&b.sum())).unwrap()[1]), 5.0);
    of(
        quote!({
            let rows: Vec<Vec<f64>> = x.outer_iter().map(|r| r.iter().map(|v| v * 2.0).collect::<Vec<f64>>()).collect();
            rows[1][2]
        }),
        12.0,
    );
    of(
        quote!({
            let (a, b): (Vec<f64>, Vec<f64>) = x.outer_iter().map(|r| (r[0], r[1])).unzip();
            a[1] * b[0]
        }),
        8.0,
    );
    of(
        quote!({
            let (a, b): (Vec<f64>, Vec<f64>) =
                x.outer_iter().flat_map(|r| r.iter().copied()).map(|v| (v, v * v)).unzip();
            a[5] + b[1] + a.len() as f64
        }),
        6.0 + 4.0 + 6.0,
    );
    of(quote!(x.row(1).iter().zip(x.row(0)).map(|(a, b)| a * b).sum::<f64>()), 32.0);
    of(quote!(Array1::from_iter(x.iter().map(|v| v + 1.0)).sum()), 27.0);
}

#[test]
fn integer_items() {
    let p = program(
        quote!(),
        quote! { fn f(x: f64, k: &[u8]) -> f64 { x * k.iter().filter(|&&v| v > 1).sum::<u8>() as f64 } },
    );
    let k = |xs: &[i128]| Value::ints(IntTy::U8, &[xs.len()], xs);
    assert_eq!(run(&p, &[scalar(1.0), k(&[1, 200, 55])]), [255.0]);
    assert_eq!(failed(&p, &[scalar(1.0), k(&[2, 200, 55])]).len(), 1);
    means(
        quote! { fn f(x: f64, k: &[u8]) -> f64 { x * k.iter().map(|&v| v as usize).filter(|v| v % 2 == 0).map(|v| v * v).sum::<usize>() as f64 } },
        &[scalar(1.0), k(&[1, 2, 4])],
        &[20.0],
    );
}

#[test]
fn errors_of_iterators() {
    let error = |body: TokenStream, text: &str| {
        let found = errors(quote!(), quote! { fn f(x: &[f64]) -> f64 { #body } });
        assert!(found.contains(text), "{found}");
    };
    error(
        quote!(x.iter().filter(|v| **v > 0.0).enumerate().map(|(i, v)| v * i as f64).sum::<f64>()),
        "`enumerate` after `filter`",
    );
    error(quote!(*x.iter().max_by(|a, b| (**a - **b).total_cmp(&0.0)).unwrap()), "this comparison of items");
    error(quote!((0..).map(|i| i as f64).sum::<f64>()), "this range has no end");
    error(quote!((0..).take_while(|&i| i < x.len()).map(|i| x[i]).sum::<f64>()), "this range has no end");
    // A closure is checked for errors even if its items are only counted.
    error(
        quote!({
            let mut s = 0.0;
            x.iter().map(|v| s += v).count() as f64 + s
        }),
        "this closure changes `s`",
    );
    error(
        quote!({
            let mut s = 0.0;
            x.iter()
                .scan(0.0, |a, v| {
                    s += v;
                    *a += v;
                    Some(*a)
                })
                .sum::<f64>()
                + s
        }),
        "this closure changes `s`",
    );
    error(
        quote!(
            (0..9)
                .scan(0.0, |a, i| {
                    *a += x[i];
                    Some(*a)
                })
                .take(2)
                .sum::<f64>()
        ),
        "`take` after a `scan`, `take_while` or `map_while`",
    );
    error(
        quote!((0..9).map(|i| x[i]).take_while(|v| *v > 0.0).map(|v| v * v).find(|v| *v > 1.0).unwrap_or(0.0)),
        "`find` after a `scan`, `take_while` or `map_while`",
    );
    error(
        quote!(
            x.iter()
                .scan(0.0, |a, v| {
                    *a += v;
                    *a
                })
                .sum::<f64>()
        ),
        "expected an `Option`, found `f64`",
    );
}

#[test]
fn a_product_has_the_type_of_its_items() {
    let f = quote! {
        fn f(x: &Array1<f64>) -> f64 {
            let p: f64 = x.iter().product();
            let q: f64 = (0..x.len()).flat_map(|i| (0..i).map(move |j| (i, j))).map(|(i, j)| x[i] - x[j]).product();
            let r: f64 = x.iter().filter(|v| **v > 1.5).product();
            let n: usize = (1..=x.len()).product();
            p + 10.0 * q + 100.0 * r + 1000.0 * n as f64
        }
    };
    means(f.clone(), &[vector(&[1.0, 2.0, 4.0])], &[8.0 + 10.0 * 6.0 + 100.0 * 8.0 + 6000.0]);
    means(f, &[vector(&[])], &[1.0 + 10.0 + 100.0 + 1000.0]);
}

/// An iterator as a value has items and no position. A method that would change the position is
/// refused, so no item is visited twice.
#[test]
fn methods_that_would_advance_an_iterator_are_refused() {
    for body in [
        quote! { let mut it = x.iter(); let a: f64 = it.by_ref().skip(1).sum(); let b: f64 = it.sum(); a * 10.0 + b },
        quote! { let mut it = x.iter(); let a = *it.nth(0).unwrap(); let b = *it.nth(0).unwrap(); a - b },
        quote! { let mut it = x.iter(); let some = it.any(|v| *v > 0.0); let b: f64 = it.sum(); if some { b } else { 1.0 } },
        quote! { let mut it = x.iter(); let all = it.all(|v| *v > 0.0); let b: f64 = it.sum(); if all { b } else { 1.0 } },
        quote! { let mut it = x.iter(); let k = it.position(|v| *v > 0.0).unwrap_or(0); let b: f64 = it.sum(); b + x[k] },
        quote! { let mut it = x.iter(); let a = it.find(|v| **v > 0.0).unwrap_or(&x[0]); let b: f64 = it.sum(); b + a },
        quote! { let mut it = x.iter().filter(|v| **v > 0.0); let a = it.next().unwrap(); let b: f64 = it.sum(); b + a },
        quote! { let mut it = x.iter(); let mut s = 0.0; for v in it.by_ref() { s += v; if s > 1.0 { break; } } let b: f64 = it.sum(); b + s },
        quote! { let mut it = (x.iter(), 1.0); let a = it.0.nth(0).unwrap(); let b: f64 = it.0.sum(); b + a },
        quote! { let mut it = 0..3; let a = it.nth(0).unwrap(); let b: usize = it.sum(); x[a + b] },
        quote! { let mut it = x.iter(); let a: f64 = x.iter().zip(it.by_ref()).map(|(a, b)| a * b).sum(); let b: f64 = it.sum(); a + b },
    ] {
        let said = errors(quote!(), quote! { fn f(x: &[f64]) -> f64 { #body } });
        assert!(said.contains("of an iterator that is used again"), "{body}: {said}");
    }
    for body in [
        quote! { let mut it = x.iter(); let mut s = 0.0; for v in &mut it { s += v; if s > 1.0 { break; } } let b: f64 = it.sum(); b + s },
        quote! { let mut it = (x.iter(), 1.0); let a = (&mut it.0).nth(0).unwrap(); let b: f64 = it.0.sum(); b + a },
        quote! { let mut it = x.iter(); let a: f64 = (&mut it).take(1).sum(); let b: f64 = it.sum(); a * 10.0 + b },
        quote! { let mut it = x.iter(); let a: f64 = x.iter().zip(&mut it).map(|(a, b)| a * b).sum(); let b: f64 = it.sum(); a + b },
    ] {
        errors(quote!(), quote! { fn f(x: &[f64]) -> f64 { #body } });
    }
    same!(x =>
        x.iter().by_ref().take(1).sum::<f64>(),
        { let it = x.iter(); let a: f64 = it.clone().take(1).sum(); let b: f64 = it.sum(); a * 10.0 + b },
        { let it = x.iter(); let some = it.clone().any(|v| *v > 3.5); let b: f64 = it.sum(); if some { b } else { 1.0 } },
    );
}

#[test]
fn windows_of_any_rank() {
    let x = array(&[3, 3], &[1.0, 2.0, 3.0, 4.0, 5.0, 6.0, 7.0, 8.0, 9.0]);
    means(
        quote! { fn f(x: &Array2<f64>) -> f64 { x.windows((2, 2)).into_iter().map(|w| w[[0, 1]] * w[[1, 0]]).sum() } },
        std::slice::from_ref(&x),
        &[2.0 * 4.0 + 3.0 * 5.0 + 5.0 * 7.0 + 6.0 * 8.0],
    );
    means(
        quote! { fn f(x: &Array2<f64>) -> f64 { let mut s = 0.0; for w in x.exact_chunks((1, 2)) { s = 2.0 * s + w.sum(); } s } },
        std::slice::from_ref(&x),
        &[4.0 * 3.0 + 2.0 * 9.0 + 15.0],
    );
    means(
        quote! { fn f(x: &Array2<f64>) -> f64 { x.windows([1, 4]).into_iter().map(|w| w.sum()).sum() } },
        &[x],
        &[0.0],
    );
}
