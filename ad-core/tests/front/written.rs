//! Programs as people write them: items in a body, chains of `let`, functions that change their
//! arguments, closures that change captured variables, functions that are chosen when the program
//! runs. Each is compared with Rust by `agrees!`.

use super::native::{self, Arg, agrees, ty};
use super::*;
use quote::quote;

#[test]
fn bits_of_integers() {
    agrees! {
        fn counts(x: real, n: int) {
            let (a, b, c) = (n as u32, n as i64, n as u8);
            let of_u32 = a.count_ones() + 3 * a.leading_zeros() + 5 * a.trailing_zeros() + 7 * a.count_zeros();
            let of_i64 = (-b).count_ones() + 3 * (-b).leading_ones() + 5 * b.trailing_ones() + b.trailing_zeros();
            let of_u8 = c.count_zeros() + 3 * c.leading_zeros() + 5 * c.trailing_zeros() + 7 * c.leading_ones();
            x * (of_u32 + 11 * of_i64 + 13 * of_u8) as f64
        }
        [Arg::R(1.5), Arg::N(0)]
        [Arg::R(1.5), Arg::N(1)]
        [Arg::R(1.5), Arg::N(0b1011_0000)]
        [Arg::R(1.5), Arg::N(255)]
        [Arg::R(1.5), Arg::N(usize::MAX)]
        [Arg::R(1.5), Arg::N(1 << 63)]
    }
    agrees! {
        fn rotations(x: real, n: int, k: int) {
            let (a, b, c) = (n as u32, n as i64, n as u8);
            let k = k as u32;
            let wide = (b.rotate_left(k) % 1000 + b.rotate_right(k) % 1000) as f64;
            x * (wide + (a.rotate_left(k) % 977 + a.rotate_right(k) % 977) as f64 + c.rotate_left(k) as f64)
        }
        [Arg::R(1.5), Arg::N(0x8765_4321_0fed_cba9), Arg::N(0)]
        [Arg::R(1.5), Arg::N(0x8765_4321_0fed_cba9), Arg::N(5)]
        [Arg::R(1.5), Arg::N(0x8765_4321_0fed_cba9), Arg::N(32)]
        [Arg::R(1.5), Arg::N(0x8765_4321_0fed_cba9), Arg::N(64 + 7)]
        [Arg::R(-0.5), Arg::N(1), Arg::N(63)]
    }
    // The method of a slice of the same name is still that of a slice.
    agrees! {
        fn slices(x: slice, k: int) {
            let mut v = x.to_vec();
            v.rotate_left(k);
            v[..2].rotate_right(1);
            v[0] * v[1] + 3.0 * v[2]
        }
        [Arg::V(vec![1.0, 2.0, 4.0]), Arg::N(1)]
    }
}

#[test]
fn names_that_a_body_introduces() {
    agrees! {
        fn imports(x: real) {
            use std::f64::consts::{self, LN_2 as L, PI};
            use std::iter::once;
            let inner = {
                use std::f64::consts::E as PI;
                x * PI
            };
            inner + x * PI * L + consts::SQRT_2 + once(x).sum::<f64>()
        }
        [Arg::R(0.7)]
    }
    agrees! {
        fn aliases(x: real) {
            type Rows = [Pair; 2];
            type Pair = [f64; 2];
            type List = Vec<f64>;
            let m: Rows = [[x, 1.0], [2.0, x * x]];
            let mut v: List = List::new();
            v.push(m[1][1]);
            static WEIGHTS: [f64; 2] = [0.5, FACTOR];
            const FACTOR: f64 = 3.0;
            v.push(m[0][0] * WEIGHTS[1]);
            v.iter().sum::<f64>() * WEIGHTS[0]
        }
        [Arg::R(0.7)]
    }
    // A variable hides an import of the body.
    agrees! {
        fn shadowed(x: real) {
            use std::iter::repeat;
            let repeat = x * 2.0;
            repeat * repeat
        }
        [Arg::R(0.7)]
    }
}

#[test]
fn chains_of_let() {
    agrees! {
        fn chained(x: slice, n: int) {
            let mut s = 0.0;
            if let Some(a) = x.first() && *a > 0.5 && let Some(b) = x.get(n) {
                s += a * b;
            } else {
                s -= x[0] * 3.0;
            }
            let a = 2.0;
            if n < 2 && let Some(b) = x.get(n + 1) && b * a > 1.0 { s * b } else { s * a }
        }
        [Arg::V(vec![0.7, 0.9, 0.3]), Arg::N(1)]
        [Arg::V(vec![0.7, 0.9, 0.3]), Arg::N(0)]
        [Arg::V(vec![0.7, 0.9, 0.3]), Arg::N(7)]
        [Arg::V(vec![0.2, 0.9]), Arg::N(1)]
    }
    agrees! {
        fn looped(x: slice) {
            let (mut i, mut s) = (0, 1.0);
            while i < 5
                && let Some(v) = x.get(i)
                && *v > 0.0
            {
                s *= v;
                i += 1;
            }
            s + i as f64
        }
        [Arg::V(vec![0.7, 0.9, -0.3, 2.0])][Arg::V(vec![0.7, 0.9])][Arg::V(vec![2.0; 9])]
    }
    // A later condition is evaluated only where all earlier ones hold.
    agrees! {
        fn lazy(x: slice, n: int) {
            if n < x.len() && let Some(v) = x.get(n) && x[n] > 0.0 { v * x[n] } else { x[0] }
        }
        [Arg::V(vec![0.7, 0.9]), Arg::N(1)]
        [Arg::V(vec![0.7, 0.9]), Arg::N(2)]
    }
}

#[test]
fn functions_in_a_body() {
    agrees! {
        fn generic(x: slice) {
            fn twice<K: Fn(f64) -> f64>(k: K, x: f64) -> f64 {
                k(k(x))
            }
            fn by<K>(k: K, x: f64) -> f64
            where
                K: Fn(f64) -> f64,
            {
                k(x) * x
            }
            fn weighted<const N: usize>(v: [f64; N]) -> f64 {
                let mut s = 0.0;
                for i in 0..N {
                    s += v[i] * i as f64;
                }
                s * N as f64
            }
            fn table<const N: usize, const M: usize>(m: &[[f64; M]; N]) -> f64 {
                let sums: [f64; M] = std::array::from_fn(|j| m.iter().map(|row| row[j]).sum::<f64>());
                sums.iter().enumerate().map(|(j, v)| v * (j + N) as f64).sum()
            }
            fn filled<const N: usize>(v: f64) -> [f64; N] {
                [v; N]
            }
            let scale = x[1];
            twice(|t| t.sin() * scale, x[0])
                + by(f64::exp, x[0])
                + weighted([x[1], x[0], 2.0])
                + table(&[[x[0], 1.0, x[1]], [x[1], x[0] * x[0], 2.0]])
                + filled::<3>(x[0]).iter().sum::<f64>()
        }
        [Arg::V(vec![0.7, 0.9])]
    }
    agrees! {
        fn changing(x: slice, n: int) {
            fn scale(v: &mut [f64], by: f64) {
                for e in v.iter_mut() {
                    *e *= by;
                }
                v[0] += by;
            }
            fn add(v: &mut f64, by: f64) -> f64 {
                *v += by;
                *v * 2.0
            }
            fn fill<const N: usize>(v: &mut [f64; N], with: f64) {
                for i in 0..N {
                    v[i] += with * i as f64;
                }
            }
            let mut y = x.to_vec();
            let mut s = x[0];
            scale(&mut y, x[1]);
            for k in 0..n {
                scale(&mut y[1..], 0.5 + k as f64);
                s *= add(&mut y[0], s);
            }
            let mut z = [s, 1.0, x[1]];
            fill(&mut z, s);
            let bump = |v: &mut f64| *v += x[0];
            bump(&mut s);
            y.iter().sum::<f64>() * s + z[2]
        }
        [Arg::V(vec![0.7, 0.9, 0.4]), Arg::N(0)]
        [Arg::V(vec![0.7, 0.9, 0.4]), Arg::N(3)]
    }
}

#[test]
fn closures_that_change_what_they_capture() {
    agrees! {
        fn unpacked(theta: slice, n: int) {
            let mut i = 0;
            let mut next = || {
                i += 1;
                theta[i - 1]
            };
            let a = next();
            let b = next() * a;
            let mut s = 0.0;
            for k in 0..n {
                if k % 2 == 0 {
                    s += next() * b;
                }
            }
            s * b + i as f64
        }
        [Arg::V(vec![0.7, 0.9, 0.4, 0.3]), Arg::N(3)]
        [Arg::V(vec![0.7, 0.9, 0.4, 0.3]), Arg::N(0)]
        [Arg::V(vec![0.7, 0.9, 0.4, 0.3]), Arg::N(9)]
    }
    agrees! {
        fn accumulated(x: slice) {
            let (mut total, mut count) = (0.0, 0.0);
            let mut add = |v: f64| {
                total += v * v;
                count += 1.0;
            };
            for v in x {
                add(*v);
            }
            let mut twice = |v: f64| {
                add(v);
                add(2.0 * v);
            };
            twice(x[0]);
            x.iter().for_each(|v| twice(*v));
            total / count
        }
        [Arg::V(vec![0.7, 0.9, 0.4])]
    }
    // A closure that is made in each step, and one that is used as the argument of a method.
    agrees! {
        fn in_a_loop(x: slice) {
            let mut s = 1.0;
            for v in x {
                let mut grow = |by: f64| s *= 1.0 + by * v;
                grow(0.5);
                grow(*v);
            }
            let mut more = |v: &f64| s += v;
            x.iter().for_each(&mut more);
            s
        }
        [Arg::V(vec![0.7, 0.9, 0.4])]
    }
}

#[test]
fn functions_chosen_by_values() {
    agrees! {
        fn of_a_list(x: real, k: int) {
            let fs = [f64::sin, f64::cos, f64::exp];
            let hats: [fn(f64) -> f64; 2] = [|t| t * t, |t| 1.0 - t];
            fs[k](x) * hats[k % 2](x) + fs.iter().map(|f| f(x)).sum::<f64>()
        }
        [Arg::R(0.7), Arg::N(0)]
        [Arg::R(0.7), Arg::N(2)]
        [Arg::R(0.7), Arg::N(3)]
    }
    agrees! {
        fn of_branches(x: real, k: int) {
            let square = |t: f64| t * t;
            let f: &dyn Fn(f64) -> f64 = if x > 1.0 { &square } else { &|t| t + x };
            let g: fn(f64) -> f64 = match k {
                0 => f64::sqrt,
                1 => f64::ln,
                _ => |t| 3.0 * t,
            };
            let mut s = g(f(x));
            for i in 0..3 {
                s += f(s * 0.1) * i as f64;
            }
            s
        }
        [Arg::R(0.7), Arg::N(0)]
        [Arg::R(1.7), Arg::N(1)]
        [Arg::R(1.7), Arg::N(2)]
    }
    // The other function is not reached.
    agrees! {
        fn lazy(x: slice, k: int) {
            let fs = [|v: &[f64]| v[0], |v: &[f64]| v[3]];
            fs[k](x) * 2.0
        }
        [Arg::V(vec![0.7, 0.9]), Arg::N(0)]
        [Arg::V(vec![0.7, 0.9]), Arg::N(1)]
    }
}

/// The errors of a function of `x: &[f64]` with this body.
#[track_caller]
fn said(body: TokenStream) -> String {
    errors(quote!(), quote!(fn f(x: &[f64]) -> f64 { #body }))
}

#[test]
fn no_change_is_lost() {
    // No loop carries the variables that an adapter's closure changes.
    let body = quote! {
        let mut i = 0;
        let mut next = || { i += 1; x[i - 1] };
        let s: f64 = (0..3).map(|_| next()).sum();
        s
    };
    assert!(said(body).contains("this closure changes `i`"));
    let body = quote! {
        let mut i = 0;
        let mut next = || { i += 1; x[i - 1] };
        fold(0.0, 0..3, |s, _| s + next())
    };
    assert!(said(body).contains("this closure changes `i`"));
    // A `move` closure changes its own copy.
    let body = quote! {
        let mut i = 0;
        let mut next = move || { i += 1; x[i - 1] };
        next() + next() + i as f64
    };
    assert!(said(body).contains("this closure changes `i`"));
}

#[test]
fn a_size_that_no_argument_determines() {
    let body = quote! {
        fn ones<const N: usize>() -> [f64; N] { [1.0; N] }
        let v: [f64; 3] = ones();
        v[0] * x[0]
    };
    assert!(said(body).contains("`N` is not known inside the function"));
}

#[test]
fn parts_of_a_vector() {
    agrees! {
        fn drained(x: slice, n: int) {
            let mut v = x.to_vec();
            let first: f64 = v.drain(..2).sum();
            let some: f64 = v.drain(1..n).map(|t| t * t).sum();
            let mut s = first * v.iter().sum::<f64>() + some * v.len() as f64;
            while v.len() > 1 {
                let pair: f64 = v.drain(..1).sum();
                s += pair * v[0];
            }
            s
        }
        [Arg::V(vec![0.7, 0.9, 0.4, 0.3, 1.2]), Arg::N(2)]
        [Arg::V(vec![0.7, 0.9, 0.4, 0.3, 1.2]), Arg::N(1)]
        [Arg::V(vec![0.7, 0.9, 0.4, 0.3, 1.2]), Arg::N(0)]
        [Arg::V(vec![0.7, 0.9]), Arg::N(1)]
    }
    agrees! {
        fn deduplicated(x: slice, n: int) {
            let mut ids: Vec<usize> = (0..n).map(|k| k / 3).collect();
            ids.dedup();
            let mut v = vec![x[0], x[0], x[1], x[1], x[0]];
            v.dedup();
            ids.iter().map(|&i| x[i] * x[i]).sum::<f64>() * v.len() as f64 + v[v.len() - 1]
        }
        [Arg::V(vec![0.7, 0.9, 0.4]), Arg::N(7)]
        [Arg::V(vec![0.7, 0.7, 0.4]), Arg::N(0)]
    }
    agrees! {
        fn partitioned(x: slice) {
            let (above, below): (Vec<f64>, Vec<f64>) = x.iter().partition(|v| **v > 0.5);
            above.iter().map(|v| v * v).sum::<f64>() * below.iter().sum::<f64>() + above.len() as f64
        }
        [Arg::V(vec![0.7, 0.2, 0.4, 0.9])]
        [Arg::V(vec![0.7])]
    }
    agrees! {
        fn split(x: slice, k: int) {
            let mut v = x.to_vec();
            let (a, b) = v.split_at_mut(k);
            for i in 0..a.len().min(b.len()) {
                a[i] += b[i] * 2.0;
                b[i] *= a[i];
            }
            let mut rows = vec![[x[0], 1.0], [x[1], x[2]]];
            let (first, rest) = rows.split_at_mut(1);
            first[0][1] *= rest[0][1];
            v.iter().sum::<f64>() * rows[0][1]
        }
        [Arg::V(vec![0.7, 0.2, 0.4, 0.9]), Arg::N(2)]
        [Arg::V(vec![0.7, 0.2, 0.4, 0.9]), Arg::N(3)]
        [Arg::V(vec![0.7, 0.2, 0.4, 0.9]), Arg::N(5)]
    }
}

#[test]
fn iterators_that_are_cut_in_pieces() {
    agrees! {
        fn pieces(t: slice, n: int) {
            let mut it = t.iter();
            let a: f64 = it.by_ref().take(2).sum();
            let rows: Vec<f64> = it.by_ref().take(n).map(|v| v * a).collect();
            let mut s = a;
            for _ in 0..2 {
                s *= it.by_ref().take(1).map(|v| 1.0 + v).product::<f64>();
            }
            s * it.sum::<f64>() + rows.iter().sum::<f64>()
        }
        [Arg::V(vec![0.7, 0.2, 0.4, 0.9, 0.3, 0.8]), Arg::N(1)]
        [Arg::V(vec![0.7, 0.2, 0.4, 0.9, 0.3, 0.8]), Arg::N(9)]
    }
    // An iterator that would be left early is refused, since its items have already been computed.
    for body in [
        quote!(let mut it = x.iter(); let a = it.by_ref().take(2).find(|v| **v > 0.0).unwrap(); a * it.sum::<f64>()),
        quote!(let mut it = x.iter(); for v in it.by_ref().take(2) { if *v > 0.0 { break; } } it.sum()),
        quote!(let mut it = x.iter(); let mut two = it.by_ref().take(2); let a = two.next().unwrap(); a * it.sum::<f64>()),
        quote!(let mut it = x.iter(); let a: f64 = it.by_ref().map(|v| v * 2.0).sum(); a),
        quote!(let mut it = x.iter(); let a: f64 = it.by_ref().take(2).zip(&x[..1]).map(|(a, b)| a * b).sum(); a * it.sum::<f64>()),
    ] {
        assert!(said(body.clone()).contains("cannot be used"), "{body}");
    }
}

#[test]
fn places_of_items() {
    agrees! {
        fn searched(x: slice, n: int) {
            let last = x.iter().rposition(|v| *v > 0.5);
            let at = x.partition_point(|v| *v < 0.1 * n as f64);
            let found = x[..n.min(x.len())].partition_point(|v| *v < 0.45);
            x.iter().sum::<f64>() * (1 + at + 10 * found + 100 * last.unwrap_or(7)) as f64
        }
        [Arg::V(vec![0.1, 0.2, 0.4, 0.6, 0.7]), Arg::N(5)]
        [Arg::V(vec![0.1, 0.2, 0.4, 0.6, 0.7]), Arg::N(0)]
        [Arg::V(vec![0.1, 0.2, 0.4, 0.6, 0.7]), Arg::N(9)]
        [Arg::V(vec![0.7, 0.1, 0.6, 0.2]), Arg::N(3)]
        [Arg::V(vec![]), Arg::N(3)]
    }
}

#[test]
fn shapes_of_arrays() {
    agrees! {
        fn unpacked(theta: slice, n: int) {
            let m = 2;
            let w = ndarray::ArrayView2::from_shape((n, m), &theta[..n * m]).unwrap();
            let folded = w.fold_axis(ndarray::Axis(0), 1.0, |a, b| a * (1.0 + b));
            let other: ndarray::Array<f64, ndarray::Ix1> = w.fold_axis(ndarray::Axis(1), 0.0, |a, b| a + b * b);
            folded.sum() * other.sum()
        }
        [Arg::V(vec![0.1, 0.2, 0.4, 0.6, 0.7, 0.3]), Arg::N(3)]
        [Arg::V(vec![0.1, 0.2, 0.4, 0.6, 0.7, 0.3]), Arg::N(1)]
        [Arg::V(vec![0.1, 0.2, 0.4, 0.6, 0.7, 0.3]), Arg::N(4)]
    }
}
