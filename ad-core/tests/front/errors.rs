//! The messages for errors.

use super::*;
use expect_test::{Expect, expect};
use quote::quote;

#[track_caller]
fn says(item: TokenStream, expected: Expect) {
    expected.assert_eq(&errors(quote!(), item));
}

#[track_caller]
fn attr_says(attr: TokenStream, expected: Expect) {
    expected.assert_eq(&errors(attr, quote! { fn f(x: f64, n: usize) -> f64 { x * n as f64 } }));
}

#[test]
fn attribute() {
    attr_says(
        quote!(gard),
        expect![[r#"
        `differentiate` has no option `gard`
        = help: did you mean `grad`?"#]],
    );
    attr_says(
        quote!(aux, mode = "reverse"),
        expect![[r#"
            there is no mode `reverse`
            = help: remove the mode, or write `mode = "dual_arrays"`

            `aux` requires a function that returns a pair of one real number and further values, not `f64`
            = help: return `(loss, extra)`: only `loss` is differentiated"#]],
    );
    attr_says(
        quote!(grad, grad, vjp = 3, mode = "dual_array"),
        expect![[r#"
        the option `grad` is given twice
        = help: remove one of them

        the option `vjp` takes no arguments
        = help: write `vjp`

        there is no mode `dual_array`
        = help: did you mean `dual_arrays`?"#]],
    );
    attr_says(
        quote!(wrt(y, n, x, x)),
        expect![[r#"
        `wrt` names `y`, which is not a parameter
        = help: the parameters are `x`, `n`

        `n` is of type `usize`: no gradient flows through it
        = help: remove `n` from `wrt(..)`

        `wrt` names `x` twice
        = help: remove one of them"#]],
    );
    attr_says(
        quote!(wrt()),
        expect![[r#"
        the option `wrt` cannot be read
        = help: write `wrt(w, b)`"#]],
    );
    attr_says(
        quote!(crate = 3),
        expect![[r#"
        the option `crate` cannot be read
        = help: write `crate = "path::to::ad"`"#]],
    );
    attr_says(
        quote!(1 + 1),
        expect![[r#"
        the arguments of `differentiate` cannot be read: expected identifier
        = help: write options with commas: `#[differentiate(grad, jvp, wrt(w, b))]`"#]],
    );
}

#[test]
fn signature() {
    says(
        quote! { fn f(x: &ArrayD<f64>, y: Aray1<f64>, z: Array4<f64>, w: &mut f64) -> f64 { 0.0 } },
        expect![[r#"
            the type `ArrayD` is not accepted
            = help: write the rank: `Array1` to `Array6`; ranks are fixed when the macro runs

            the type `Aray1` is not known here
            = help: did you mean `Array1`?

            a differentiated function cannot take `&mut`
            = help: take `&`, and return the new value"#]],
    );
    says(
        quote! { async unsafe fn f<const N: usize, T>(x: [f64; N], (a, b): (f64, f64), t: T) -> (f64, f64) { (a, b) } },
        expect![[r#"
            a function that is `async` cannot be differentiated
            = help: differentiate the part that computes, in a separate function

            a function that is `unsafe` cannot be differentiated
            = help: leave out `unsafe`

            the type parameter `T` is not a real number
            = help: write `T: Real`, for `f32` and `f64`"#]],
    );
    says(
        quote! { fn f(x: f64) { } },
        expect![[r#"
        `f` returns nothing, so there is nothing to differentiate
        = help: return a real number or an array: `-> f64`"#]],
    );
    says(
        quote! { fn f(n: usize) -> f64 { 0.0 } },
        expect![[r#"
        `f` has no parameter of real type, so there is nothing to differentiate with respect to
        = help: take a parameter of type `f64`, `&Array1<f64>` or the like"#]],
    );
    says(
        quote! { fn f(x: &Array1<f64>) -> &Array1<f64> { x } },
        expect![[r#"
        the result `&Array1<f64>` is borrowed
        = help: return an owned value, for example `Array1<f64>` or `Vec<f64>`"#]],
    );
    says(
        quote! { fn f(x: f64) -> usize { 1 } },
        expect![[r#"
        the result `usize` is not a real number, so it has no derivative
        = help: return `f64`, `f32`, or an array of these"#]],
    );
    says(
        quote! { fn f(&self, x: impl Fn(f64) -> f64) -> f64 { 1.0 } },
        expect![[r#"
            a method is differentiated in a marked `impl` block
            = help: write `#[differentiate]` on the `impl` block too; its type has `#[derive(Differentiable)]`

            the type `impl Fn(f64) -> f64` is not accepted
            = help: write a concrete type: `f64`, `&Array1<f64>`, `&[f64]`. A helper may take functions: `#[differentiable] fn helper(f: impl Fn(f64) -> f64, ..)`. With `mode = "dual_numbers"`, trait objects are passed on"#]],
    );
    says(
        quote! { struct S; },
        expect![[r#"
        `differentiate` goes on a function, an `impl` block or a module, not on a struct
        = help: put it on the function to differentiate: `#[differentiate] fn loss(x: f64) -> f64 { .. }`"#]],
    );
    expect![[r#"
        `grad` requires a function that returns one real number; this one returns an array
        = help: write `vjp`: the gradient of the result weighted by a cotangent"#]]
    .assert_eq(&errors(quote!(grad), quote! { fn f(x: &Array1<f64>) -> Array1<f64> { x.clone() } }));
}

#[test]
fn constructs() {
    says(
        quote! {
            fn f(x: &Array1<f64>) -> f64 {
                let mut total = 0.0;
                for i in 0..x.len() { total += x[i]; }
                while total > 1.0 { total = total / 2.0; }
                println!("{total}");
                match x.len() { 0 => return 0.0, _ => {} }
                total
            }
        },
        expect![[r#"
            `println!` cannot be used in a differentiated function yet
            = help: print in the function that calls this one"#]],
    );
    says(
        quote! { fn f(x: &Array1<f64>) -> f64 { x.fill(0.0); let p = Point { x: 1.0 }; x.cumprod(Axis(0)).sum() } },
        expect![[r#"
            `x` is a parameter, and a differentiated function does not change its arguments
            = help: change a copy of it: `let mut x = x.clone();`, or for a view `.to_owned()`

            struct values of this type cannot be used in a differentiated function yet
            = help: use a type of your own with `#[derive(Differentiable)]`

            `.cumprod()` is not supported yet
            = help: write `cumprod(&x)`, along the last axis"#]],
    );
    says(
        quote! { fn f(x: f64) -> f64 { fn g() {} const C: f64 = 1.0; if x > 0.0 { x } } },
        expect![[r#"
            expected a number or an array, found `()`
            = help: remove the `;` after the value; an `if` with a value has an `else`"#]],
    );
}

#[test]
fn names() {
    says(
        quote! { fn f(xs: &Array1<f64>) -> f64 { sim(xs) + helper(1.0) + xz.sum() + RATE } },
        expect![[r#"
            the function `sim` cannot be seen from here
            = help: did you mean `sum`?
            = note: a function of your own with `#[differentiable]` has to be called by a path here: `self::sim(..)`

            the function `helper` cannot be seen from here
            = help: write it inside of this function: `fn helper(..) -> f64 { .. }`, or as a closure `let helper = |x: f64| ..;`
            = note: a function of your own with `#[differentiable]` has to be called by a path here: `self::helper(..)`

            `xz` is not known inside the function
            = help: did you mean `xs`?
            = note: the attribute sees this function only"#]],
    );
    says(
        quote! { fn f(xs: &Array1<f64>) -> f64 { xs.summ() } },
        expect![[r#"
        no method `summ` of an array of rank 1 of `f64` is understood
        = help: did you mean `sum` (sum of all elements)?"#]],
    );
    says(
        quote! { fn f(xs: &Array1<f64>) -> f64 { xs.logsumexp() } },
        expect![[r#"
            no method `logsumexp` of an array of rank 1 of `f64` is understood
            = help: it is a function: `logsumexp(&x)`"#]],
    );
    says(
        quote! { fn f(x: f64) -> f64 { x.frobnicate() } },
        expect![[r#"
        no method `frobnicate` of `f64` is understood
        = help: write it with operators, the methods that the guide lists, and the functions of `ad::prelude`"#]],
    );
    says(
        quote! { fn f(x: f64) -> f64 { x.powi(2, 3) + sum() } },
        expect![[r#"
            (left to rustc) `powi` takes 1 argument, not 2

            (left to rustc) `sum` takes 1 argument, not 0"#]],
    );
}

#[test]
fn types() {
    says(
        quote! { fn f(x: f64, n: usize) -> f64 { x * n } },
        expect![[r#"
            the types differ: `f64` and `usize`
            = help: write `x * n as f64`"#]],
    );
    says(
        quote! { fn f(x: f64) -> f64 { x + 1 } },
        expect![[r#"
            expected `f64`, found an integer literal
            = help: write `1.0`"#]],
    );
    says(
        quote! { fn f(x: &Array2<f64>) -> f64 { x[0] } },
        expect![[r#"
        1 index for an array of rank 2
        = help: write `x[[i, j]]`, or `x.row(i)`"#]],
    );
    says(
        quote! { fn f(x: &Array2<f64>) -> f64 { x.sum_axis(Axis(2)).sum() } },
        expect![[r#"
        axis 2 is out of range for an array of rank 2
        = help: axes are counted from 0"#]],
    );
    says(
        quote! { fn f(x: &Array2<f64>) -> f64 { x.clone() } },
        expect!["(left to rustc) the function's value is an array of rank 2 of `f64`, its result is declared as `f64`"],
    );
    says(
        quote! { fn f(x: &Array1<f64>) -> f64 { x.mean() } },
        expect![[r#"
        expected a number or an array, found an `Option`
        = help: write `.unwrap()` after it"#]],
    );
    says(
        quote! { fn f(x: f64) -> f64 { (array![x, x] + array![x, x, x]).sum() } },
        expect!["shapes differ: the length of `array![x, x]` is 2, the length of `array![x, x, x]` is 3"],
    );
    says(
        quote! { fn f(x: &Array1<f64>) -> f64 { build1(3, |i| build1(i, |j| x[j])).sum() } },
        expect![[r#"
            a size depends on the step of a loop, or on the index of a `build1`, `build` or iterator around it
            = help: use the full size and mask: `build1(n, |j| if j <= i { .. } else { 0.0 })`; or add up or change the elements in a loop: `for j in i..n { y[j] *= 2.0; }`
            = note: all elements of an array have the same shape"#]],
    );
    says(quote! { fn f(x: &Array1<f64>) -> f64 { let k = 300u8; x[k] } }, expect!["`300` is out of range for `u8`"]);
}

#[test]
fn one_mistake_gives_one_error() {
    says(
        quote! { fn f(x: &Array1<f64>) -> f64 { let y = x.nonsense(); let z = y + 1.0; (z * y).sum() } },
        expect![[r#"
        no method `nonsense` of an array of rank 1 of `f64` is understood
        = help: write it with operators, the methods that the guide lists, and the functions of `ad::prelude`"#]],
    );
}

#[test]
fn stubs_have_the_right_signatures() {
    let Err(failure) = front::parse(
        quote!(vjp, jvp, wrt(w, v)),
        quote! { pub fn f<'a>(w: ArrayView2<'a, f64>, n: usize, v: &[f64]) -> Array1<f64> { nonsense } },
    ) else {
        panic!("there is no error")
    };
    let file: syn::File = syn::parse2(failure.stubs).expect("stubs parse");
    expect![[r#"
        ///Stands in for a derivative of `f`, which has an error.
        #[allow(
            dead_code,
            clippy::all,
            clippy::pedantic,
            reason = "stands in for a function that could not be written"
        )]
        pub fn f_vjp<'a>(
            _: ArrayView2<'a, f64>,
            _: usize,
            _: &[f64],
            _: &::ad::ndarray::ArrayRef1<f64>,
        ) -> (Array1<f64>, (::ad::ndarray::Array2<f64>, ::ad::runtime::alloc::vec::Vec<f64>)) {
            ::core::panic!("the derivatives of `f` were not written: it has an error")
        }
        ///Stands in for a derivative of `f`, which has an error.
        #[allow(
            dead_code,
            clippy::all,
            clippy::pedantic,
            reason = "stands in for a function that could not be written"
        )]
        pub fn f_jvp<'a>(
            _: ArrayView2<'a, f64>,
            _: usize,
            _: &[f64],
            _: &::ad::ndarray::ArrayRef2<f64>,
            _: &[f64],
        ) -> (Array1<f64>, ::ad::ndarray::Array1<f64>) {
            ::core::panic!("the derivatives of `f` were not written: it has an error")
        }
        #[doc(hidden)]
        #[allow(
            dead_code,
            clippy::all,
            clippy::pedantic,
            reason = "stands in for a function that could not be written"
        )]
        pub fn __f_marked_differentiate<'a>(
            _: ::ad::runtime::check::CheckCall<'_>,
            _: (ArrayView2<'a, f64>, usize, &[f64]),
        ) {
            ::core::panic!("the derivatives of `f` were not written: it has an error")
        }
    "#]]
    .assert_eq(&prettyplease::unparse(&file));
}

#[test]
fn errors_are_tokens_that_parse() {
    let Err(failure) = front::parse(quote!(gard), quote! { fn f(x: f64) -> f64 { loop {} } }) else {
        panic!("there is no error")
    };
    syn::parse2::<syn::File>(failure.into_tokens()).expect("errors parse");
}

#[test]
fn the_table_has_each_name_once() {
    let mut seen = std::collections::BTreeSet::new();
    for row in ad_oracle::documents::names() {
        assert!(seen.insert((row.on, row.name)), "{} of {} occurs twice in the table", row.name, row.on);
    }
}

#[test]
fn the_table_of_derivatives_is_that_of_the_list() {
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../docs/guide/src/derivatives.md");
    let guide = std::fs::read_to_string(path).expect("a chapter of the guide");
    let table = ad_oracle::documents::derivatives();
    assert!(guide.contains(&table), "{path} has another table than the list of derivatives:\n{table}");
}

#[test]
fn check_grad_says_which_derivatives_it_takes() {
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../ad-macro/src/lib.rs");
    let said = std::fs::read_to_string(path).expect("the macro").replace("\n///   ", " ");
    let options = ad_core::descriptor::quoted_options();
    assert!(said.contains(&options), "the documentation of `check_grad!` has another list than {options}");
}

#[test]
fn accumulators() {
    says(
        quote! { fn f(x: &Array1<f64>) -> f64 {
            let a = scan((0.0, 1.0), x, |(a, b), e| (a + e, b * e));
            let b = fold(0.0, x, |a, e| array![a, e]);
            let c = fold((0.0, 1.0), x, |(a, b), e| a + b + e);
            let d = fold(|y: f64| y, x, |a, e| a);
            x.sum()
        } },
        expect![[r#"
            the accumulators of `scan` are one array, so they cannot be tuples
            = help: carry an array: `|acc, x| array![acc[0] + x, acc[1] * x]`, and slice the result

            the initial accumulator is `f64`, but the closure returns an array of rank 1 of `f64`
            = help: use an initial value of the type and rank that the closure returns
            = note: an accumulator has one type and one shape in all steps

            the initial accumulator is a tuple or an array literal, but the closure returns `f64`
            = help: use an initial value of the type and rank that the closure returns
            = note: an accumulator has one type and one shape in all steps

            a function cannot be an accumulator
            = help: the initial value is the first argument: `fold(0.0, |acc, v| acc + v)`"#]],
    );
}

/// The stand-in for a Hessian with respect to no parameter has no valid type. This was an internal
/// error.
#[test]
fn hessians_with_respect_to_nothing() {
    let expansion = ad_core::expansion(
        quote!(hessian),
        quote!(
            fn f(n: usize) -> f64 {
                1.0
            }
        ),
    );
    assert!(!expansion.errors.is_empty() && !expansion.internal, "{:?}", expansion.errors);
}

/// No seeds, and seeds without elements. Both gave an empty stack, and an internal error.
#[test]
fn jacobians_of_no_elements() {
    for item in [
        quote!(
            fn f(x: &[[f64; 0]; 2]) -> f64 {
                x.iter().map(|r| r.iter().sum::<f64>()).sum()
            }
        ),
        quote!(
            fn f(x: [f64; 2]) -> [f64; 0] {
                []
            }
        ),
    ] {
        let expansion = ad_core::expansion(quote!(jacobian), item);
        assert!(!expansion.internal, "{:?}", expansion.errors);
    }
}

#[test]
fn literals_of_a_type_parameter_are_f64() {
    says(quote! { fn f<T: Real>(x: T) -> T { x * T::lit(true) } }, expect!["expected `f64`, found `bool`"]);
    says(quote! { fn f<T: Real>(x: T, n: usize) -> T { x * T::lit(n) } }, expect!["expected `f64`, found `usize`"]);
}
