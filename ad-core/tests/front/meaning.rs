//! The meaning of functions: their values by the reference interpreter, compared with values
//! computed by hand or by std.

use super::*;
use quote::quote;

#[track_caller]
pub(crate) fn means(item: TokenStream, inputs: &[Value], expected: &[f64]) {
    let found = run(&program(quote!(), item), inputs);
    let near = |(a, b): (&f64, &f64)| a == b || (a.is_nan() && b.is_nan()) || (a - b).abs() <= 1e-12 * b.abs().max(1.0);
    assert!(found.len() == expected.len() && found.iter().zip(expected).all(near), "{found:?} is not {expected:?}");
}

#[test]
fn scalars() {
    means(
        quote! { fn f(x: f64, y: &f64) -> f64 { let w = x * y.sin(); 2.0 * w - x.powi(2) / (y + 1.0).max(0.5) } },
        &[scalar(1.5), scalar(0.4)],
        &[2.0 * 1.5 * 0.4_f64.sin() - 2.25 / 1.4],
    );
    means(
        quote! { fn f(x: f64) -> f64 { f64::exp(x) + f64::max(x, 2.0) + 0_f64.max(x) } },
        &[scalar(0.5)],
        &[0.5_f64.exp() + 2.5],
    );
    means(
        quote! { fn f(x: f64) -> f64 { x.clamp(0.0, 1.0) + x.mul_add(2.0, 1.0) + x.log(2.0) } },
        &[scalar(4.0)],
        &[1.0 + 9.0 + 2.0],
    );
    means(quote! { fn f(x: f64) -> f64 { let (s, c) = x.sin_cos(); s * s + c * c } }, &[scalar(4.0)], &[1.0]);
    means(
        quote! { fn f(x: f64) -> f64 { x * std::f64::consts::PI + f64::EPSILON } },
        &[scalar(2.0)],
        &[std::f64::consts::TAU + f64::EPSILON],
    );
    means(
        quote! { fn f(x: f64, n: usize, k: i32) -> f64 { x * ((n * 3 - 1) / 2 % 4) as f64 + (k - 5) as f64 } },
        &[scalar(2.0), sizes(&[], &[3]), int(2)],
        &[-3.0],
    );
    means(
        quote! { fn f(x: f64, k: i32) -> f64 { x * k.abs().min(7).rem_euclid(4) as f64 } },
        &[scalar(2.0), int(-6)],
        &[4.0],
    );
}

fn int(k: i128) -> Value {
    Value::Array(Array { elem: Elem::Int(IntTy::I32), shape: vec![], data: Data::Int(vec![k]) })
}

#[test]
fn conditionals_are_lazy_and_select_is_not() {
    let f = quote! { fn f(x: f64) -> f64 { if x > 0.0 && x < 9.0 { x.ln() } else if x == 0.0 { 7.0 } else { -x } } };
    for (x, y) in [(2.0, 2.0_f64.ln()), (0.0, 7.0), (-3.0, 3.0), (9.0, -9.0)] {
        means(f.clone(), &[scalar(x)], &[y]);
    }
    means(quote! { fn f(x: f64) -> f64 { select(x > 0.0, 1.0, x) } }, &[scalar(-2.0)], &[-2.0]);
    means(
        quote! { fn f(x: f64) -> f64 { let (a, b) = if x > 0.0 { (x, 1.0) } else { (1.0, x) }; a - b } },
        &[scalar(3.0)],
        &[2.0],
    );
    means(
        quote! { fn f(x: f64) -> f64 { let k = if x > 0.0 { 1 } else { 0 }; [5.0, 6.0][k] * x } },
        &[scalar(3.0)],
        &[18.0],
    );
}

#[test]
fn broadcasting() {
    let x = array(&[2, 3], &[1.0, 2.0, 3.0, 4.0, 5.0, 6.0]);
    means(
        quote! { fn f(x: &Array2<f64>, r: &Array1<f64>) -> Array2<f64> { 2.0 * x + r - 1.0 } },
        &[x.clone(), vector(&[1.0, 0.0, -1.0])],
        &[2.0, 3.0, 4.0, 8.0, 9.0, 10.0],
    );
    means(
        quote! { fn f(x: ArrayView2<'_, f64>) -> Array2<f64> { &x * &array![[10.0], [1.0]] } },
        std::slice::from_ref(&x),
        &[10.0, 20.0, 30.0, 4.0, 5.0, 6.0],
    );
    means(
        quote! { fn f(x: &ArrayRef2<f64>) -> Array2<f64> { x / array![2.0] } },
        &[x],
        &[0.5, 1.0, 1.5, 2.0, 2.5, 3.0],
    );
}

#[test]
fn builds_and_indices() {
    means(
        quote! { fn f(x: &Array1<f64>) -> Array1<f64> { build1(x.len() - 1, |i| x[i + 1] - x[i]) } },
        &[vector(&[1.0, 4.0, 9.0])],
        &[3.0, 5.0],
    );
    means(
        quote! { fn f(x: &[f64]) -> Vec<f64> { build1(x.len(), |i| x[i] * i as f64).to_vec() } },
        &[vector(&[1.0, 4.0, 9.0])],
        &[0.0, 4.0, 18.0],
    );
    means(
        quote! { fn f(x: &Array2<f64>) -> Array2<f64> { build([x.ncols(), x.nrows()], |[i, j]| x[[j, i]]) } },
        &[array(&[1, 2], &[1.0, 2.0])],
        &[1.0, 2.0],
    );
    means(
        quote! { fn f(x: &Array2<f64>, rows: &Array1<usize>) -> Array2<f64> { build1(rows.len(), |i| x.row(rows[i]).to_owned()) } },
        &[array(&[2, 2], &[1.0, 2.0, 3.0, 4.0]), sizes(&[3], &[1, 0, 1])],
        &[3.0, 4.0, 1.0, 2.0, 3.0, 4.0],
    );
    means(
        quote! { fn f(x: &Array1<f64>) -> Array1<f64> { gather([2], x, |[i]| [2 * i]) } },
        &[vector(&[1.0, 4.0, 9.0])],
        &[1.0, 9.0],
    );
    means(
        quote! { fn f(x: &Array1<f64>) -> Array1<f64> { scatter([2], x, |[i]| [i % 2]) } },
        &[vector(&[1.0, 4.0, 9.0])],
        &[10.0, 4.0],
    );
    means(quote! { fn f(x: f64) -> Array1<f64> { one_hot(3, 1) * x } }, &[scalar(5.0)], &[0.0, 5.0, 0.0]);
    means(
        quote! { fn f(x: f64) -> Array2<f64> { replicate(2, array![x, 1.0]) } },
        &[scalar(5.0)],
        &[5.0, 1.0, 5.0, 1.0],
    );
}

#[test]
fn views_of_parts() {
    let x = array(&[2, 3], &[1.0, 2.0, 3.0, 4.0, 5.0, 6.0]);
    means(
        quote! { fn f(x: &Array2<f64>) -> Array1<f64> { x.column(1).to_owned() } },
        std::slice::from_ref(&x),
        &[2.0, 5.0],
    );
    means(
        quote! { fn f(x: &Array2<f64>) -> Array1<f64> { x.index_axis(Axis(0), 1).to_owned() } },
        std::slice::from_ref(&x),
        &[4.0, 5.0, 6.0],
    );
    means(
        quote! { fn f(x: &Array2<f64>) -> Array2<f64> { x.slice(s![.., 1..]).to_owned() } },
        std::slice::from_ref(&x),
        &[2.0, 3.0, 5.0, 6.0],
    );
    means(
        quote! { fn f(x: &Array2<f64>) -> Array1<f64> { x.slice(s![-1, ..;-1]).to_owned() } },
        std::slice::from_ref(&x),
        &[6.0, 5.0, 4.0],
    );
    means(
        quote! { fn f(x: &Array2<f64>) -> Array2<f64> { build1(2, |i| x.slice(s![0, i..i + 2]).to_owned()) } },
        std::slice::from_ref(&x),
        &[1.0, 2.0, 2.0, 3.0],
    );
    means(
        quote! { fn f(x: &Array2<f64>) -> Array2<f64> { x.slice(s![.., ..;2]).to_owned() } },
        &[x],
        &[1.0, 3.0, 4.0, 6.0],
    );
    means(quote! { fn f(x: &[f64]) -> f64 { x[1..3].iter().sum::<f64>() } }, &[vector(&[1.0, 2.0, 3.0, 4.0])], &[5.0]);
}

#[test]
fn reductions() {
    let x = array(&[2, 3], &[1.0, 2.0, 3.0, 4.0, 5.0, 6.0]);
    means(
        quote! { fn f(x: &Array2<f64>) -> Array1<f64> { x.sum_axis(Axis(0)) - x.mean_axis(Axis(0)).unwrap() } },
        std::slice::from_ref(&x),
        &[2.5, 3.5, 4.5],
    );
    means(
        quote! { fn f(x: &Array2<f64>) -> f64 { x.sum() / x.mean().unwrap() + maximum(x) + minimum(x) } },
        std::slice::from_ref(&x),
        &[13.0],
    );
    means(
        quote! { fn f(x: &Array2<f64>, v: &Array1<f64>) -> f64 { x.dot(v).dot(&x.t().t().column(0)) } },
        &[x.clone(), vector(&[1.0, 0.0, -1.0])],
        &[-10.0],
    );
    means(
        quote! { fn f(x: &Array2<f64>) -> Array2<f64> { x.dot(&x.t()) } },
        std::slice::from_ref(&x),
        &[14.0, 32.0, 32.0, 77.0],
    );
    means(quote! { fn f(x: &Array2<f64>) -> Array1<f64> { sum_outer(x) } }, &[x], &[5.0, 7.0, 9.0]);
    let f = quote! { fn f(x: &Array1<f64>) -> f64 { logsumexp(x) } };
    let (inf, minus) = (f64::INFINITY, f64::NEG_INFINITY);
    for (x, y) in [
        (vec![1.0, 1.0], 1.0 + 2.0_f64.ln()),
        (vec![1000.0, 0.0], 1000.0),
        (vec![], minus),
        (vec![minus, minus], minus),
        (vec![inf, 0.0], inf),
        (vec![minus, 2.0], 2.0),
        (vec![f64::NAN, 2.0], f64::NAN),
    ] {
        means(f.clone(), &[vector(&x)], &[y]);
    }
}

#[test]
fn elementwise() {
    means(
        quote! { fn f(x: &Array1<f64>) -> Array1<f64> { sigmoid(x) + x.mapv(f64::exp) + x.mapv(|v| if v > 0.0 { v } else { 0.0 }) + relu(x) } },
        &[vector(&[0.0, 1.0])],
        &[1.5, 1.0 / (1.0 + (-1.0_f64).exp()) + 1.0_f64.exp() + 2.0],
    );
    means(
        quote! { fn f(x: &Array1<f64>) -> Array1<f64> { x.exp() * x.powi(2) - x.map(|&v| v).powf(2.0) } },
        &[vector(&[0.0, 1.0])],
        &[0.0, 1.0_f64.exp() - 1.0],
    );
}

#[test]
fn iterators() {
    let xy = [vector(&[1.0, 2.0, 3.0]), vector(&[4.0, 5.0])];
    means(
        quote! { fn f(x: &[f64], y: &[f64]) -> f64 { x.iter().zip(y.iter()).map(|(a, b)| a * b).sum() } },
        &xy,
        &[14.0],
    );
    means(
        quote! { fn f(x: &[f64], y: &[f64]) -> f64 { x.iter().rev().skip(1).take(5).enumerate().map(|(i, &a)| a * i as f64).sum::<f64>() + y[0] } },
        &xy,
        &[5.0],
    );
    means(
        quote! { fn f(x: &Array2<f64>) -> f64 { x.iter().map(|v| v * v).sum() } },
        &[array(&[2, 2], &[1.0, 2.0, 3.0, 4.0])],
        &[30.0],
    );
    means(
        quote! { fn f(x: f64, n: usize) -> f64 { (1..=n).map(|k| x / k as f64).sum::<f64>() } },
        &[scalar(6.0), sizes(&[], &[3])],
        &[11.0],
    );
    means(
        quote! { fn f(x: &Array1<f64>) -> f64 { if x.iter().all(|&v| v > 0.0) { x.sum() } else { 0.0 } } },
        &[vector(&[1.0, 2.0])],
        &[3.0],
    );
    means(
        quote! { fn f(x: &Array1<f64>) -> Vec<f64> { x.iter().map(|v| v + 1.0).collect() } },
        &[vector(&[1.0, 2.0])],
        &[2.0, 3.0],
    );
    means(quote! { fn f(x: f64) -> f64 { (3..1).map(|i| x * i as f64).sum::<f64>() } }, &[scalar(6.0)], &[0.0]);
}

#[test]
fn closures_and_shadowing() {
    means(
        quote! { fn f(x: f64) -> f64 { let relu = |v: f64| v + 1.0; let twice = |v| relu(relu(v)); let x = twice(x); let y = { let x = 0.0 * x; x }; y + x } },
        &[scalar(1.0)],
        &[3.0],
    );
    means(
        quote! { fn f(v: &Array1<f64>) -> Array1<f64> { let g = |k: usize, by: f64| v[k] * by; build1(v.len(), |k| g(k, 2.0)) } },
        &[vector(&[1.0, 2.0])],
        &[2.0, 4.0],
    );
}

#[test]
fn items_of_the_function_stand_in_any_order() {
    let forwards = quote! {
        fn f(x: f64) -> f64 {
            fn twice(x: f64) -> f64 { SCALE * half(x) }
            const SCALE: f64 = 2.0 * UNIT;
            fn half(x: f64) -> f64 { 0.5 * own(x) }
            const UNIT: f64 = 3.0;
            fn own(x: f64) -> f64 { x * x }
            twice(x)
        }
    };
    means(forwards, &[scalar(2.0)], &[12.0]);
    // A name that is also a function's is not a recursion if it has another kind.
    let shadowed = quote! {
        fn f(x: f64) -> f64 {
            fn first(second: f64) -> f64 { let x = second; x + 1.0 }
            fn second(x: f64) -> f64 { first(x) * 2.0 }
            second(x)
        }
    };
    means(shadowed, &[scalar(2.0)], &[6.0]);
}

#[test]
fn several_elements_assigned_in_one_loop() {
    let f = quote! {
        fn f(x: &Array1<f64>, y: &Array1<f64>) -> f64 {
            let mut z = Array1::zeros(x.len());
            let mut count = 0;
            azip!((z in &mut z, &x in x, y in y) { *z = x * y; count += 1; });
            Zip::from(&mut z).and(x).for_each(|z, x| *z += x);
            z.zip_mut_with(y, |z, &y| if y > 2.0 { *z = 0.0; });
            z.scaled_add(10.0, x);
            z[0] + 100.0 * z[1] + 10_000.0 * count as f64
        }
    };
    means(f, &[vector(&[1.0, 2.0]), vector(&[2.0, 3.0])], &[13.0 + 2_000.0 + 20_000.0]);
    let f = quote! {
        fn f(x: &Array1<f64>, y: &Array1<f64>) -> f64 {
            let mut z = x.clone();
            Zip::from(&mut z).and(y).for_each(|z, y| *z += y);
            z.sum()
        }
    };
    let p = program(quote!(), f);
    assert_eq!(failed(&p, &[vector(&[1.0, 2.0]), vector(&[2.0])]).len(), 1);
}

#[test]
fn first_and_last_of_arrays_are_rows() {
    let f = quote! {
        fn f(x: &[f64]) -> f64 {
            let rows = vec![vec![x[0], x[1]], vec![x[1], 2.0]];
            let first = if let Some((h, t)) = rows.split_first() { h[0] * t[0][0] } else { 0.0 };
            rows.last().unwrap()[0] + 10.0 * rows.first().unwrap()[1] + rows.get(1).unwrap().iter().sum::<f64>() + 100.0 * first
        }
    };
    means(f, &[vector(&[3.0, 5.0])], &[5.0 + 50.0 + 7.0 + 1500.0]);
}

#[test]
fn paths_of_types_in_brackets() {
    let f = quote! {
        fn f<T: Real>(x: T, n: i32) -> T {
            let w = <Array1<T>>::from_elem(3, x);
            w.mapv(<T>::sin).sum() * <T>::lit(2.0) + <T>::abs(x) * T::from(<i32>::pow(n, 2)).unwrap()
        }
    };
    means(f, &[scalar(-2.0), int(3)], &[6.0 * (-2.0_f64).sin() + 18.0]);
    means(quote! { fn f(x: f64) -> f64 { <f64>::max(x, <f64>::EPSILON) } }, &[scalar(0.5)], &[0.5]);
}

#[test]
fn literals_take_the_type_of_the_other_operand() {
    let p = program(quote!(), quote! { fn f(x: f32) -> f32 { let c = 0.1 + 0.2; c * x } });
    let single = Value::Array(Array {
        elem: Elem::Real(ad_core::ir::RealTy::F32),
        shape: vec![],
        data: Data::Real(vec![Dual::constant(1.0)]),
    });
    assert_eq!(run(&p, &[single]), [f64::from(0.1_f32 + 0.2_f32)]);
    let p = program(quote!(), quote! { fn f<T: Real>(x: T) -> T { x * T::lit(0.5) + x.exp() } });
    assert_eq!(p.graph.elem(p.result.terms()[0]), Elem::Real(ad_core::ir::RealTy::Param));
}

#[test]
fn two_thousand_statements_are_a_few_terms_each() {
    let lines: TokenStream = (0_usize..2000)
        .map(|k| {
            let (a, b) = (quote::format_ident!("x{k}"), quote::format_ident!("x{}", k + 1));
            quote! { let #b = (#a * 0.5).sin() + #a; }
        })
        .collect();
    let p = program(quote!(), quote! { fn f(x0: f64) -> f64 { #lines x2000 } });
    assert!((4000..8000).contains(&p.graph.len()), "{} terms", p.graph.len());
    let sum = (1..400).fold(quote!(x), |sum, k| {
        let k = f64::from(k);
        quote!(#sum + #k)
    });
    program(quote!(), quote! { fn f(x: f64) -> f64 { #sum } });
}
