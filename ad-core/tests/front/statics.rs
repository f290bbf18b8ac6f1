//! Arrays of static size and constants outside of the function: their meaning, and the errors for
//! those that are not supported.

use expect_test::expect;
use quote::quote;

use super::{array, checks, errors, program, run, scalar, sizes, vector};

#[test]
fn arrays_of_numbers() {
    let p =
        program(quote!(), quote! { fn f(x: [f64; 3], y: &[f64; 3]) -> f64 { x[0] * y[2] + x[1] * x.len() as f64 } });
    assert_eq!(run(&p, &[vector(&[2.0, 3.0, 5.0]), vector(&[7.0, 11.0, 13.0])]), [35.0]);
    let p = program(quote!(), quote! { fn f(x: [f64; 3]) -> [f64; 3] { let [a, b, c] = x; [c, a * b, 1.0] } });
    assert_eq!(run(&p, &[vector(&[2.0, 3.0, 5.0])]), [5.0, 6.0, 1.0]);
    let p = program(quote!(), quote! { fn f(x: [f64; 3]) -> [f64; 3] { x.map(|v| v * x[1]) } });
    assert_eq!(run(&p, &[vector(&[2.0, 3.0, 5.0])]), [6.0, 9.0, 15.0]);
    let p =
        program(quote!(), quote! { fn f(x: [f64; 3], k: usize) -> f64 { x[k] + x.iter().rev().take(2).sum::<f64>() } });
    assert_eq!(run(&p, &[vector(&[2.0, 3.0, 5.0]), sizes(&[], &[1])]), [11.0]);
    assert_eq!(checks(&p), "entry: index out of range in `x[k]` (length of `x`, index)");
    let p = program(
        quote!(),
        quote! { fn f(x: [f64; 2 + 2], keep: [bool; 4]) -> f64 { if keep[3] { sum(&x[1..3]) } else { x[0] } } },
    );
    assert_eq!(p.checks.len(), 0);
}

#[test]
fn arrays_of_arrays() {
    let m = array(&[2, 3], &[1.0, 2.0, 3.0, 4.0, 5.0, 6.0]);
    let eval = |item| run(&program(quote!(), item), std::slice::from_ref(&m));
    assert_eq!(eval(quote! { fn f(x: [[f64; 3]; 2]) -> f64 { x[1][0] * x.len() as f64 + x[0].len() as f64 } }), [11.0]);
    assert_eq!(eval(quote! { fn f(x: &[[f64; 3]; 2]) -> [f64; 3] { x[1] } }), [4.0, 5.0, 6.0]);
    assert_eq!(eval(quote! { fn f(x: &[[f64; 3]; 2]) -> [f64; 2] { x.map(|row| row[0] * row[2]) } }), [3.0, 24.0]);
    assert_eq!(
        eval(
            quote! { fn f(x: &[[f64; 3]; 2]) -> [[f64; 2]; 3] { std::array::from_fn(|i| std::array::from_fn(|j| x[j][i])) } }
        ),
        [1.0, 4.0, 2.0, 5.0, 3.0, 6.0]
    );
    assert_eq!(eval(quote! { fn f(x: &[[f64; 3]; 2]) -> f64 { x.iter().map(|row| row[0]).sum::<f64>() } }), [5.0]);
    assert_eq!(
        eval(
            quote! { fn f(x: &[[f64; 3]; 2]) -> f64 { x.iter().enumerate().map(|(i, &[a, _, c])| (a + c) * i as f64).sum::<f64>() } }
        ),
        [10.0]
    );
    assert_eq!(
        eval(quote! { fn f(x: [[f64; 3]; 2]) -> [[f64; 3]; 2] { let [a, b] = x; [b, [a[0], 0.0, 1.0]] } }),
        [4.0, 5.0, 6.0, 1.0, 0.0, 1.0]
    );
    // The length shows which of the two types a literal has.
    assert_eq!(
        eval(quote! { fn f(x: [[f64; 3]; 2]) -> f64 { x[0][0] * [[1.0, 2.0], [3.0, 4.0]].len() as f64 } }),
        [2.0]
    );
    assert_eq!(
        eval(quote! { fn f(x: [[f64; 3]; 2]) -> f64 { x[0][0] * array![[1.0, 2.0], [3.0, 4.0]].len() as f64 } }),
        [4.0]
    );
    assert_eq!(eval(quote! { fn f(x: [[f64; 3]; 2]) -> f64 { x[0][0] * [[0.0; 3]; 2].len() as f64 } }), [2.0]);
    assert_eq!(
        eval(quote! { fn f(x: [[f64; 3]; 2]) -> f64 { (if x[0][0] > 0.0 { x } else { [x[1], x[0]] }).len() as f64 } }),
        [2.0]
    );
}

#[test]
fn const_parameters() {
    let item = quote! { fn f<const N: usize>(x: [f64; N], y: &[f64]) -> [f64; N] { std::array::from_fn(|i| x[i] * y[N - 1 - i]) } };
    let p = program(quote!(), item);
    // A constant is an input before the parameters.
    let inputs = [sizes(&[], &[3]), vector(&[1.0, 2.0, 3.0]), vector(&[5.0, 7.0, 11.0])];
    assert_eq!(run(&p, &inputs), [11.0, 14.0, 15.0]);
    assert_eq!(checks(&p), "entry: index out of range in `y[N - 1 - i]` (length of `y`)");
    let p = program(
        quote!(),
        quote! { fn f<T: Real, const N: usize, const M: usize>(x: [[T; N]; M]) -> T { x[M - 1][N - 1] } },
    );
    assert_eq!(p.params[0].lens.iter().map(ToString::to_string).collect::<Vec<_>>(), ["M", "N"]);
    let p = program(quote!(), quote! { fn f<const N: usize>(x: f64) -> f64 { build1(N, |i| x * i as f64).sum() } });
    assert_eq!(run(&p, &[scalar(2.0), sizes(&[], &[4])]), [12.0]);
    let p = program(quote!(), quote! { fn f(x: [f64; dims::K]) -> f64 { let [a, b] = x; a * b + dims::K as f64 } });
    assert_eq!(checks(&p), "entry: shapes differ in `f` (the array, the pattern)");
}

#[test]
fn constants_outside() {
    let p = program(quote!(), quote! { fn f(x: f64) -> f64 { let k: f64 = RATE; (x + EPS) * k * 2.0 } });
    assert_eq!(p.constants.iter().map(|c| c.path.to_string()).collect::<Vec<_>>(), ["RATE", "EPS"]);
    assert_eq!(run(&p, &[scalar(1.0), scalar(3.0), scalar(0.5)]), [9.0]);
    let p =
        program(quote!(), quote! { fn f(x: &[f64]) -> f64 { x[FIRST] * (1..COUNT).map(|k| k as f64).sum::<f64>() } });
    assert_eq!(run(&p, &[vector(&[1.0, 2.0]), sizes(&[], &[1]), sizes(&[], &[4])]), [12.0]);
    let p = program(quote!(), quote! { fn f(x: f64) -> f64 { x * COUNT as f64 } });
    assert_eq!(p.constants[0].path.to_string(), "COUNT as f64");
    let text = errors(
        quote!(),
        quote! { fn f(x: f64) -> f64 { let y = build1(2, |i| WEIGHTS[i]); x * RATE.sqrt() + y[0] + x * sum(&WEIGHTS) } },
    );
    expect![[r#"
        the type of the constant `WEIGHTS` cannot be seen from here
        = help: write its type where it is used: `let weights: [f64; 3] = WEIGHTS;`
        = note: the attribute sees this function only

        the type of the constant `RATE` cannot be seen from here
        = help: write its type where it is used: `let rate: f64 = RATE;`
        = note: the attribute sees this function only

        the type of the constant `WEIGHTS` cannot be seen from here
        = help: write its type where it is used: `let weights: f64 = WEIGHTS;`, or of an array `let weights: [f64; 3] = WEIGHTS;`
        = note: the attribute sees this function only"#]]
    .assert_eq(&text);
}

/// Arrays outside of the function: an element takes the type of the other operand, and a `let`
/// states the type of the whole array.
#[test]
fn constant_arrays_outside() {
    let paths =
        |p: &super::Program| p.constants.iter().map(|c| c.path.to_string().replace(' ', "")).collect::<Vec<_>>();
    let run = |p: &super::Program, params: &[super::Value], constants: &[(&str, &super::Value)]| {
        let input = |k: u32| match p.constants.iter().position(|c| c.input == k) {
            Some(k) => constants.iter().find(|c| c.0 == paths(p)[k]).expect("the constant").1.clone(),
            None => params[p.params.iter().position(|p| p.input == Some(k)).expect("a parameter")].clone(),
        };
        let count = u32::try_from(p.graph.inputs().len()).expect("few inputs");
        super::run(p, &(0..count).map(input).collect::<Vec<_>>())
    };
    let (w, three, two) = (vector(&[2.0, 3.0, 5.0]), sizes(&[], &[3]), sizes(&[], &[2]));
    let constants = [("W.len()", &three), ("W", &w)];
    let p = program(quote!(), quote! { fn f(x: f64) -> f64 { x * W[0] + W[2] } });
    assert_eq!(run(&p, &[scalar(7.0)], &constants), [19.0]);
    let first = "entry: index out of range in `W[0]` (length of `W`)";
    assert_eq!(checks(&p), [first, &first.replace("[0]", "[2]")].join("\n"));
    let p = program(quote!(), quote! { fn f(x: &[f64]) -> f64 { x.iter().zip(&W).map(|(a, b)| a * b).sum() } });
    assert_eq!(run(&p, std::slice::from_ref(&w), &constants), [38.0]);
    let p = program(
        quote!(),
        quote! { fn f(x: f64) -> f64 { let mut s = x; for (i, v) in W.iter().enumerate() { s += x * v * W[W.len() - 1 - i]; } s } },
    );
    assert_eq!(run(&p, &[scalar(1.0)], &constants), [30.0]);
    // Constants as indices, and in rows.
    let p = program(quote!(), quote! { fn f(x: &[f64]) -> f64 { IDS.iter().map(|&i| x[i]).sum::<f64>() * x[IDS[0]] } });
    let ids = sizes(&[2], &[2, 0]);
    assert_eq!(run(&p, std::slice::from_ref(&w), &[("IDS.len()", &two), ("IDS", &ids)]), [35.0]);
    let p = program(
        quote!(),
        quote! { fn f(x: f64) -> f64 { let mut s = 0.0; for r in M { for v in r { s += x * v; } } s * M[1][0] } },
    );
    let m = array(&[2, 2], &[1.0, 2.0, 3.0, 4.0]);
    assert_eq!(run(&p, &[scalar(2.0)], &[("M.len()", &two), ("M[0].len()", &two), ("M", &m)]), [60.0]);
    // A `let` with a type: the type is known then.
    let p = program(
        quote!(),
        quote! { fn f(x: f64) -> f64 { let w: [f64; 3] = W; let [a, _, c] = w; x * a + c * sum(&w) } },
    );
    assert_eq!((paths(&p), checks(&p)), (vec!["W".to_string()], String::new()));
    assert_eq!(run(&p, &[scalar(7.0)], &constants), [64.0]);
    let p = program(quote!(), quote! { fn f(x: f64) -> f64 { let w: &[f64] = &tables::W; x * w.iter().sum::<f64>() } });
    assert_eq!(run(&p, &[scalar(2.0)], &[("tables::W.len()", &three), ("tables::W", &w)]), [20.0]);
}

#[test]
fn signatures_that_are_refused() {
    let text = errors(
        quote!(),
        quote! { fn f<T: Real, U: Real, const B: bool>(x: [T; 2], y: U, z: [Array1<f64>; 2], w: [[[[[[[f64; 1]; 1]; 1]; 1]; 1]; 1]; 1]) -> T { x[0] } },
    );
    expect![[r#"
        `U` is a second type parameter
        = help: use one type `T: Real` for all real numbers of the function

        the const parameter `B` is not a size
        = help: write `const B: usize`, or take it as an ordinary parameter

        the type `[Array1<f64>; 2]` is not accepted
        = help: arrays of static size hold numbers, or such arrays: `[f64; 3]`, `[[f64; 3]; 2]`

        `[[[[[[[f64; 1]; 1]; 1]; 1]; 1]; 1]; 1]`: arrays of rank over 6 are not supported yet
        = help: reshape to rank 6 in the function that calls this one"#]]
    .assert_eq(&text);
}

/// The closure for an element of one axis may return an array. The elements are rows then.
#[test]
fn rows_returned_by_a_closure() {
    let x = vector(&[2.0, 3.0, 5.0]);
    let eval = |item| run(&program(quote!(), item), std::slice::from_ref(&x));
    assert_eq!(
        eval(quote! { fn f(x: [f64; 3]) -> [[f64; 2]; 3] { x.map(|v| [v, v * v]) } }),
        [2.0, 4.0, 3.0, 9.0, 5.0, 25.0]
    );
    assert_eq!(
        eval(quote! { fn f(x: [f64; 3]) -> f64 { let r = x.map(|v| [v, 1.0, v]); r[2][0] * r.len() as f64 } }),
        [15.0]
    );
    assert_eq!(
        eval(quote! { fn f(x: [f64; 3]) -> f64 { x.map(|v| [v, v * v]).iter().map(|[a, b]| a * b).sum::<f64>() } }),
        [160.0]
    );
    assert_eq!(
        eval(
            quote! { fn f(x: [f64; 3]) -> f64 { x.map(|v| [[v, 1.0], [0.0, v]]).map(|m| m[0][0] * m[1][1] - m[0][1])[1] } }
        ),
        [8.0]
    );
}

/// The numbers of a type parameter.
#[test]
fn zeros_and_ones_of_a_type_parameter() {
    let p = program(
        quote!(),
        quote! { fn f<T: Real>(x: &[T]) -> T { x.iter().fold(T::one(), |a, &v| a * v) + T::zero() * x[0] } },
    );
    assert_eq!(run(&p, &[vector(&[2.0, 3.0, 5.0])]), [30.0]);
}
