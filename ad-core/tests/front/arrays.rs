//! The methods of ndarray at all ranks, by the reference interpreter, and the errors for misuse.

use super::*;
use expect_test::{Expect, expect};
use quote::quote;

#[track_caller]
fn means(item: TokenStream, inputs: &[Value], expected: &[f64]) {
    let found = run(&program(quote!(), item), inputs);
    let near = |(a, b): (&f64, &f64)| a == b || (a.is_nan() && b.is_nan()) || (a - b).abs() <= 1e-12 * b.abs().max(1.0);
    assert!(found.len() == expected.len() && found.iter().zip(expected).all(near), "{found:?} is not {expected:?}");
}

#[track_caller]
fn says(item: TokenStream, expected: Expect) {
    expected.assert_eq(&errors(quote!(), item));
}

/// 0, 1, 2, .. in a shape.
fn counting(shape: &[usize]) -> Value {
    let data: Vec<f64> = (0_u32..).map(f64::from).take(shape.iter().product()).collect();
    array(shape, &data)
}

/// The elements 0, 1, .. of an array of shape [1, 2, .., rank], in the order of an index function.
fn order(rank: usize, result: &[usize], from: impl Fn(&[usize]) -> Vec<usize>) -> Vec<f64> {
    let total: usize = result.iter().product();
    (0..total)
        .map(|mut k| {
            let mut ix = vec![0; result.len()];
            for (i, &n) in ix.iter_mut().zip(result).rev() {
                *i = k % n;
                k /= n;
            }
            from(&ix).iter().zip(1..=rank).fold(0, |at, (&i, n)| at * n + i) as f64
        })
        .collect()
}

fn sizes_of(rank: usize) -> Vec<usize> {
    (1..=rank).collect()
}

#[test]
fn layouts_at_every_rank() {
    for rank in 1..=6_usize {
        let ty = quote::format_ident!("Array{rank}");
        let shape = sizes_of(rank);
        let x = counting(&shape);
        let back: Vec<usize> = shape.iter().rev().copied().collect();
        let reversed = order(rank, &back, |ix| ix.iter().rev().copied().collect());
        for method in [quote!(t()), quote!(reversed_axes())] {
            means(quote! { fn f(x: &#ty<f64>) -> #ty<f64> { x.#method } }, std::slice::from_ref(&x), &reversed);
        }
        // One position to the left.
        let perm: Vec<usize> = (0..rank).map(|k| (k + 1) % rank).collect();
        let to: Vec<usize> = perm.iter().map(|&k| shape[k]).collect();
        let rotated = order(rank, &to, |ix| {
            let mut from = vec![0; rank];
            perm.iter().zip(ix).for_each(|(&k, &i)| from[k] = i);
            from
        });
        means(
            quote! { fn f(x: &#ty<f64>) -> #ty<f64> { x.permuted_axes([#(#perm),*]) } },
            std::slice::from_ref(&x),
            &rotated,
        );
        // Along the last axis.
        let last = rank - 1;
        let all: Vec<TokenStream> = (0..last).map(|_| quote!(..)).collect();
        let backwards = order(rank, &shape, |ix| {
            let mut ix = ix.to_vec();
            ix[last] = rank - 1 - ix[last];
            ix
        });
        means(
            quote! { fn f(x: &#ty<f64>) -> #ty<f64> { x.slice(s![#(#all,)* ..;-1]) } },
            std::slice::from_ref(&x),
            &backwards,
        );
        let ids: Vec<usize> = (0..rank).rev().collect();
        means(
            quote! { fn f(x: &#ty<f64>) -> #ty<f64> { x.select(Axis(#last), &[#(#ids),*]) } },
            std::slice::from_ref(&x),
            &backwards,
        );
        means(
            quote! { fn f(x: &#ty<f64>) -> #ty<f64> { let (a, b) = x.view().split_at(Axis(#last), 1); concatenate![Axis(#last), a, b] } },
            std::slice::from_ref(&x),
            &order(rank, &shape, <[usize]>::to_vec),
        );
        let n: usize = shape.iter().product();
        means(
            quote! { fn f(x: &#ty<f64>) -> #ty<f64> { x.flatten().to_shape((#(#shape),*)).unwrap() } },
            std::slice::from_ref(&x),
            &order(rank, &shape, <[usize]>::to_vec),
        );
        means(
            quote! { fn f(x: &#ty<f64>) -> f64 { x.sum() + x.len() as f64 + x.ndim() as f64 } },
            std::slice::from_ref(&x),
            &[(n * (n - 1) / 2 + n + rank) as f64],
        );
        means(
            quote! { fn f(x: &#ty<f64>) -> f64 { norm(x) * norm(x) + maximum(x) - minimum(x) } },
            std::slice::from_ref(&x),
            &[(0..n).map(|k| (k * k) as f64).sum::<f64>() + (n - 1) as f64],
        );
        if rank < 6 {
            let up = quote::format_ident!("Array{}", rank + 1);
            let both: Vec<f64> = (0..2).flat_map(|_| (0..n).map(|k| k as f64)).collect();
            means(quote! { fn f(x: &#ty<f64>) -> #up<f64> { stack![Axis(0), x, x] } }, std::slice::from_ref(&x), &both);
            means(quote! { fn f(x: &#ty<f64>) -> #up<f64> { replicate(2, x) } }, std::slice::from_ref(&x), &both);
            let twice: Vec<f64> = (0..n).flat_map(|k| [k as f64; 2]).collect();
            means(
                quote! { fn f(x: &#ty<f64>) -> #up<f64> { stack![Axis(#rank), x, x] } },
                std::slice::from_ref(&x),
                &twice,
            );
            means(
                quote! { fn f(x: &#ty<f64>) -> #up<f64> { x.view().insert_axis(Axis(#rank)) } },
                std::slice::from_ref(&x),
                &order(rank, &shape, <[usize]>::to_vec),
            );
        }
    }
}

#[test]
fn elements_at_every_rank() {
    for rank in 1..=6_usize {
        let ty = quote::format_ident!("Array{rank}");
        let (shape, names) = (sizes_of(rank), (0..rank).map(|k| quote::format_ident!("i{k}")).collect::<Vec<_>>());
        let x = counting(&shape);
        let n: usize = shape.iter().product();
        let squares: Vec<f64> = (0..n).map(|k| (k * k) as f64).collect();
        let tuple = if rank == 1 { quote!(i0) } else { quote!((#(#names),*)) };
        for body in [
            quote!(map2(x, x, |a, b| a * b)),
            quote!(Zip::from(x).and(x).map_collect(|a, b| a * b)),
            quote!(Zip::indexed(x).map_collect(|#tuple, &a| a * x[[#(#names),*]])),
            quote!(Array::from_shape_fn(x.raw_dim(), |#tuple| x[[#(#names),*]] * x[[#(#names),*]])),
            quote!(build([#(#shape),*], |[#(#names),*]| x[[#(#names),*]].powi(2))),
            quote!(gather([#(#shape),*], x, |[#(#names),*]| [#(#names),*]) * x),
            quote!(scatter([#(#shape),*], x, |[#(#names),*]| [#(#names),*]) * x),
            quote!(x * Array::from_elem(x.dim(), 1.0) * x.pow2() / x.clamp(0.5, 1e9)),
        ] {
            let f = quote! { fn f(x: &#ty<f64>) -> #ty<f64> { #body } };
            let text = f.to_string();
            let found = run(&program(quote!(), f), std::slice::from_ref(&x));
            assert_eq!(found, squares, "{text}");
        }
        let axis = rank - 1;
        let lower = if rank == 1 {
            quote!(f64)
        } else {
            let ty = quote::format_ident!("Array{}", rank - 1);
            quote!(#ty<f64>)
        };
        let last: Vec<f64> = (0..n / rank).map(|k| (0..rank).map(|i| (k * rank + i) as f64).sum::<f64>()).collect();
        means(quote! { fn f(x: &#ty<f64>) -> #lower { x.sum_axis(Axis(#axis)) } }, std::slice::from_ref(&x), &last);
        means(
            quote! { fn f(x: &#ty<f64>) -> #lower { x.map_axis(Axis(#axis), |lane| lane.sum()) } },
            std::slice::from_ref(&x),
            &last,
        );
        let variance = ((rank * rank - 1) as f64) / 12.0;
        means(
            quote! { fn f(x: &#ty<f64>) -> #lower { x.var_axis(Axis(#axis), 0.0) } },
            std::slice::from_ref(&x),
            &vec![variance; n / rank],
        );
        let total: f64 = run(
            &program(quote!(), quote! { fn f(x: &#ty<f64>) -> f64 { softmax(x).sum() } }),
            std::slice::from_ref(&x),
        )[0];
        assert!((total - (n / rank) as f64).abs() < 1e-9);
    }
}

#[test]
fn rank_zero_is_a_scalar() {
    let x = [scalar(3.0)];
    means(
        quote! { fn f(x: &Array0<f64>) -> f64 { x.sum() + x[()] + x.mapv(|v| v * v).into_scalar() + x.len() as f64 } },
        &x,
        &[16.0],
    );
    means(
        quote! { fn f(x: &Array0<f64>) -> Array2<f64> { x.broadcast((1, 2)).unwrap().to_owned() + x } },
        &x,
        &[6.0, 6.0],
    );
    means(quote! { fn f(x: &Array0<f64>) -> Array1<f64> { x.view().insert_axis(Axis(0)).to_owned() } }, &x, &[3.0]);
    means(quote! { fn f(x: &Array0<f64>) -> Array0<f64> { arr0(x.mean().unwrap()) + x.t() } }, &x, &[6.0]);
    means(
        quote! { fn f(x: &Array0<f64>) -> Array0<f64> { Zip::from(x).and(x).map_collect(|a, b| a * b) } },
        &x,
        &[9.0],
    );
    means(quote! { fn f(x: &Array1<f64>) -> Array0<f64> { x.sum_axis(Axis(0)) } }, &[vector(&[1.0, 2.0])], &[3.0]);
}

#[test]
fn discrete_arrays() {
    let ids = [sizes(&[3], &[2, 0, 1]), scalar(1.0)];
    means(
        quote! { fn f(ids: &Array1<usize>, x: f64) -> Array1<f64> { concatenate![Axis(0), ids.view(), ids.slice(s![..;-1])].mapv(|i| x * i as f64) } },
        &ids,
        &[2.0, 0.0, 1.0, 1.0, 0.0, 2.0],
    );
    means(
        quote! { fn f(ids: &Array1<usize>, x: f64) -> Array2<f64> { Array2::from_diag(ids).mapv(|i| x * i as f64) } },
        &ids,
        &[2.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 1.0],
    );
    means(
        quote! { fn f(ids: &Array1<usize>, x: f64) -> Array1<f64> { let n: Array1<usize> = Array1::zeros(3); (ids + &n + Array1::<usize>::ones(3)).mapv(|i| x * i as f64) } },
        &ids,
        &[3.0, 1.0, 2.0],
    );
    means(
        quote! { fn f(ids: &Array1<usize>, x: f64) -> Array1<f64> { let hit = ids.mapv(|i| i > 0); let all = concatenate![Axis(0), hit.view(), hit.view()]; Zip::from(&all).map_collect(|&h| if h { x } else { 0.0 }) } },
        &ids,
        &[1.0, 0.0, 1.0, 1.0, 0.0, 1.0],
    );
}

#[test]
fn new_axes_stretch_and_others_do_not() {
    let xy = [vector(&[1.0, 2.0, 3.0]), vector(&[10.0, 20.0])];
    means(
        quote! { fn f(x: &Array1<f64>, y: &Array1<f64>) -> Array2<f64> { &x.view().insert_axis(Axis(1)) * y } },
        &xy,
        &[10.0, 20.0, 20.0, 40.0, 30.0, 60.0],
    );
    means(
        quote! { fn f(x: &Array1<f64>, y: &Array1<f64>) -> Array2<f64> { &x.slice(s![.., NewAxis]) * &y.slice(s![NewAxis, ..]) } },
        &xy,
        &[10.0, 20.0, 20.0, 40.0, 30.0, 60.0],
    );
    let p = program(
        quote!(),
        quote! { fn f(x: &Array1<f64>, n: usize) -> Array2<f64> { x.broadcast((n, 3)).unwrap().to_owned() } },
    );
    expect!["entry: unwrap of `None` in `x.broadcast((n, 3)).unwrap()` ()"].assert_eq(&checks(&p));
}

#[test]
fn checks_of_joined_arrays() {
    let p = program(
        quote!(),
        quote! { fn f(x: &Array2<f64>, y: &Array2<f64>) -> Array2<f64> { concatenate![Axis(0), x.view(), y.view()] } },
    );
    expect!["entry: shapes differ in `concatenate(Axis(0), [x.view(), y.view()])` (columns of the first array, columns of another array)"]
        .assert_eq(&checks(&p));
    let p = program(
        quote!(),
        quote! { fn f(x: &[f64], n: usize) -> Array2<f64> { Array2::from_shape_vec((n, 2), x.to_vec()).unwrap() } },
    );
    assert_eq!(failed(&p, &[vector(&[1.0, 2.0, 3.0]), sizes(&[], &[2])]).len(), 1);
    assert_eq!(run(&p, &[vector(&[1.0, 2.0, 3.0, 4.0]), sizes(&[], &[2])]), [1.0, 2.0, 3.0, 4.0]);
}

#[test]
fn misuse() {
    says(
        quote! { fn f(x: &Array2<f64>) -> f64 {
            let a = x.permuted_axes((0, 0)).sum();
            let b = x.insert_axis(Axis(3)).sum();
            let c = x.var_axis(Axis(2), 0.0).sum();
            let d = x.var().sum();
            let e = x.broadcast(3).unwrap().sum();
            let g = concatenate![Axis(2), x, x].sum();
            let h = stack![Axis(3), x, x].sum();
            let i = concatenate![Axis(0), x, x.row(0)].sum();
            let j = x.select(Axis(1), x).sum();
            let k = Zip::from(x).and(x.row(0)).map_collect(|a, b| a * b).sum();
            let l = x.into_dimensionality::<Ix3>().unwrap().sum();
            let m = x.into_scalar();
            let n = x.permute_axes((1, 0));
            let o = Array3::<f64>::zeros((2, 2)).sum();
            let p = x.slice(s![.., NewAxis]).sum();
            let q = x.for_each(|a| a);
            let r = map2(x, x, |a| a).sum();
            let s = x.map_axis(Axis(0), |lane| lane).sum();
            let t = kron(x, &x.row(0)).sum();
            a
        } },
        expect![[r#"
            expected each of the 2 axes once, counted from 0, found [0, 0]

            axis 3 is out of range for an array of rank 3
            = help: axes are counted from 0

            axis 2 is out of range for an array of rank 2
            = help: axes are counted from 0

            `var` is given 0 arguments here
            = help: write `x.var(0.0)`: the argument is what is taken off the number of elements

            the ranks differ: 2 and 1

            axis 2 is out of range for an array of rank 2
            = help: axes are counted from 0

            axis 3 is out of range for an array of rank 3
            = help: axes are counted from 0

            the ranks differ: 2 and 1

            the ranks differ: 1 and 2

            the ranks differ: 2 and 1

            the ranks differ: 2 and 3

            the ranks differ: 0 and 2

            `.permute_axes()` cannot be used in a differentiated function yet
            = help: write `let x = x.permuted_axes((1, 0));`

            an array of rank 3 has 3 sizes, here they are 2
            = help: write `Array3::zeros((n0, n1, n2))`, or of rank 2 `Array2::zeros((n0, n1))`

            1 index for an array of rank 2
            = help: write `x[[i, j]]`, or `x.row(i)`

            `.for_each()` cannot be used in a differentiated function yet
            = help: write `x.iter().for_each(|v| ..)`, or `for v in &x { .. }`

            (left to rustc) this closure takes 1 arguments, but is called with 2

            the closure gives an array for each element
            = help: use `build1`, whose closure may give an array

            expected two matrices of one real type, found an array of rank 2 of `f64` and an array of rank 1 of `f64`"#]],
    );
}
