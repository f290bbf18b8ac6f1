//! Parts of arrays with dynamic length. Each program is compared with the same one written element
//! by element.

use super::native::{self, Arg::*, agrees, ty};
use super::*;
use ad_core::descriptor::GRAD;
use ad_core::pipeline::{derive, prepare};
use quote::quote;

/// The value and the gradients.
#[track_caller]
fn computed(item: &TokenStream, inputs: &[Value]) -> Vec<Vec<f64>> {
    let source = program(quote!(), item.clone());
    assert_eq!(failed(&source, inputs), Vec::<String>::new(), "{item}");
    let mut bulk = prepare(program(quote!(), item.clone()), None);
    let routine = derive(&mut bulk, &GRAD, None);
    let mut interp = Interp::new(&bulk.program.graph, inputs);
    let mut all = vec![run(&source, inputs)];
    for check in &routine.checks {
        let ok = interp.eval(check.ok).unwrap();
        assert!(matches!(ok, Value::Array(Array { data: Data::Bool(b), .. }) if b == [true]), "{}", check.message);
    }
    all.extend(routine.result.terms().iter().map(|&t| interp.eval(t).map(|v| v.values()).unwrap()));
    all
}

#[track_caller]
fn alike(params: &TokenStream, parts: &TokenStream, loops: &TokenStream, inputs: &[Value]) {
    let [a, b] = [parts, loops].map(|body| computed(&quote! { fn f(#params) -> f64 { #body } }, inputs));
    assert_eq!(a.len(), b.len());
    for (a, b) in a.iter().zip(&b) {
        let near = |(a, b): (&f64, &f64)| (a - b).abs() <= 1e-12 * b.abs().max(1.0) || a.is_nan() && b.is_nan();
        assert!(a.len() == b.len() && a.iter().zip(b).all(near), "{a:?}\nis not {b:?}\n{parts}");
    }
}

fn matrix(n: usize, m: usize) -> Value {
    let xs: Vec<f64> = (0..n * m)
        .map(|k| 0.5 + 0.3 * (1.7 * k as f64 + 0.4).sin() + if k % (m + 1) == 0 { 1.0 } else { 0.0 })
        .collect();
    array(&[n, m], &xs)
}

fn numbers(n: usize) -> Value {
    let xs: Vec<f64> = (0..n).map(|k| 0.7 + 0.4 * (2.3 * k as f64).sin()).collect();
    array(&[n], &xs)
}

/// Functions of a matrix `x` with `n` rows and columns.
macro_rules! matrices {
    ($($name:ident: { $($parts:tt)* } { $($loops:tt)* })*) => {$(
        #[test]
        fn $name() {
            for n in [0, 1, 2, 4] {
                let inputs = [matrix(n, n)];
                let params = quote!(x: &Array2<f64>);
                let body = |tokens: TokenStream| quote! { let n = x.nrows(); #tokens };
                alike(&params, &body(quote!($($parts)*)), &body(quote!($($loops)*)), &inputs);
            }
        }
    )*};
}

/// Functions of two vectors of length `n`.
macro_rules! vectors {
    ($($name:ident: { $($parts:tt)* } { $($loops:tt)* })*) => {$(
        #[test]
        fn $name() {
            for n in [0, 1, 2, 5] {
                let inputs = [numbers(n), numbers(n)];
                let params = quote!(x: &Array1<f64>, y: &Array1<f64>);
                let body = |tokens: TokenStream| quote! { let n = x.len(); #tokens };
                alike(&params, &body(quote!($($parts)*)), &body(quote!($($loops)*)), &inputs);
            }
        }
    )*};
}

matrices! {
    filled: {
        let mut m = x.to_owned();
        for i in 0..n { m.slice_mut(s![i, i + 1..]).fill(0.0); }
        (&m * &m).sum()
    } {
        let mut m = x.to_owned();
        for i in 0..n { for j in i + 1..n { m[[i, j]] = 0.0; } }
        (&m * &m).sum()
    }
    mapped_in_place: {
        let mut m = x.to_owned();
        for i in 0..n { m.slice_mut(s![..i, i]).mapv_inplace(|v| v * v); m.slice_mut(s![i.., ..i]).mapv_inplace(f64::sin); }
        (&m * &m).sum()
    } {
        let mut m = x.to_owned();
        for i in 0..n {
            for j in 0..i { let v = m[[j, i]]; m[[j, i]] = v * v; }
            for k in i..n { for j in 0..i { m[[k, j]] = m[[k, j]].sin(); } }
        }
        (&m * &m).sum()
    }
    assigned: {
        let mut m = x.to_owned();
        for i in 0..n { let r = x.slice(s![i.., i]); m.slice_mut(s![i, i..]).assign(&r); }
        (&m * x).sum()
    } {
        let mut m = x.to_owned();
        for i in 0..n { for j in i..n { m[[i, j]] = x[[j, i]]; } }
        (&m * x).sum()
    }
    broadcast: {
        let mut m = x.to_owned();
        for i in 0..n { m.slice_mut(s![i.., ..i + 1]).assign(&x.slice(s![i, ..i + 1])); }
        (&m * x).sum()
    } {
        let mut m = x.to_owned();
        for i in 0..n { for k in i..n { for j in 0..i + 1 { m[[k, j]] = x[[i, j]]; } } }
        (&m * x).sum()
    }
    iterated: {
        let mut m = x.to_owned();
        for i in 0..n { for v in m.slice_mut(s![i, ..i]).iter_mut() { *v *= 2.0; } }
        for i in 0..n { for (k, v) in m.slice_mut(s![i.., i]).iter_mut().enumerate() { *v += k as f64; } }
        for i in 0..n { for (v, w) in m.slice_mut(s![i.., ..i]).iter_mut().zip(x.slice(s![i.., ..i]).iter()) { *v -= w * w; } }
        (&m * &m).sum()
    } {
        let mut m = x.to_owned();
        for i in 0..n { for j in 0..i { m[[i, j]] *= 2.0; } }
        for i in 0..n { for k in 0..n - i { m[[i + k, i]] += k as f64; } }
        for i in 0..n { for k in i..n { for j in 0..i { m[[k, j]] -= x[[k, j]] * x[[k, j]]; } } }
        (&m * &m).sum()
    }
    compound: {
        let mut m = x.to_owned();
        for i in 0..n {
            let mut part = m.slice_mut(s![i, i..]);
            part += &x.slice(s![i.., i]);
            m.slice_mut(s![..i, i]).mapv_inplace(|v| v + 1.0);
            let mut part = m.slice_mut(s![..i, ..i]);
            part *= 2.0;
            part -= &(&x.slice(s![..i, ..i]) * 3.0);
            if i > 1 { part[[0, 1]] = 7.0; part[[1, 0]] *= 3.0; }
        }
        (&m * &m).sum()
    } {
        let mut m = x.to_owned();
        for i in 0..n {
            for j in i..n { m[[i, j]] += x[[j, i]]; }
            for j in 0..i { m[[j, i]] += 1.0; }
            for j in 0..i { for k in 0..i { m[[j, k]] = m[[j, k]] * 2.0 - x[[j, k]] * 3.0; } }
            if i > 1 { m[[0, 1]] = 7.0; m[[1, 0]] *= 3.0; }
        }
        (&m * &m).sum()
    }
    row_then_slice: {
        let mut m = x.to_owned();
        for j in 0..n { m.row_mut(j).slice_mut(s![j..]).fill(2.0); m.column_mut(j).slice_mut(s![..j]).assign(&x.row(j).slice(s![..j])); }
        (&m * x).sum()
    } {
        let mut m = x.to_owned();
        for j in 0..n { for k in j..n { m[[j, k]] = 2.0; } for k in 0..j { m[[k, j]] = x[[j, k]]; } }
        (&m * x).sum()
    }
    strided: {
        let mut m = x.to_owned();
        for i in 0..n { m.slice_mut(s![i, i..;2]).fill(2.0); m.slice_mut(s![..i;-1, i]).assign(&x.slice(s![i, ..i])); m.slice_mut(s![..i;-2, ..i]).fill(0.5); }
        (&m * x).sum()
    } {
        let mut m = x.to_owned();
        for i in 0..n {
            for j in i..n { if (j - i) % 2 == 0 { m[[i, j]] = 2.0; } }
            for j in 0..i { m[[i - 1 - j, i]] = x[[i, j]]; }
            for j in 0..i { if j % 2 == 0 { for k in 0..i { m[[i - 1 - j, k]] = 0.5; } } }
        }
        (&m * x).sum()
    }
    matrix_products: {
        let mut s = 0.0;
        for k in 0..n {
            let part = x.slice(s![k.., ..k]);
            let v = part.dot(&x.slice(s![..k, k]));
            let w = x.slice(s![k, k..]).dot(&part);
            let all = part.dot(&x.slice(s![..k, k..]));
            s += v.dot(&v) + w.sum() * all.sum() + x.slice(s![.., ..k]).dot(&w).sum();
        }
        s
    } {
        let mut s = 0.0;
        for k in 0..n {
            let mut ws = 0.0; let mut vv = 0.0; let mut alls = 0.0; let mut last = 0.0;
            for i in k..n {
                let mut v = 0.0;
                for j in 0..k { v += x[[i, j]] * x[[j, k]]; }
                vv += v * v;
                for l in k..n { for j in 0..k { alls += x[[i, j]] * x[[j, l]]; } }
            }
            for j in 0..k {
                let mut w = 0.0;
                for i in k..n { w += x[[k, i]] * x[[i, j]]; }
                ws += w;
                for i in 0..n { last += x[[i, j]] * w; }
            }
            s += vv + ws * alls + last;
        }
        s
    }
    values: {
        let mut s = 0.0;
        for k in 0..n {
            let c = x.slice(s![k.., k]);
            s += c.mapv(|v| v * v).sum() + c.mapv(f64::exp).sum() + (&c * &x.slice(s![k, k..])).sum() + (-&c).sum() + c.exp().sum() + c.powi(2).sum();
            s += c.len() as f64 + c[0] * c[c.len() - 1] + (&c / 2.0 - 1.0).product() + (2.0 * &c).mean().unwrap() + *c.first().unwrap() * c.last().unwrap();
            s += x.slice(s![k.., ..k]).nrows() as f64 + x.slice(s![..k, ..]).sum_axis(Axis(0)).dot(&x.row(k)) + x.slice(s![k.., ..]).sum_axis(Axis(1)).sum();
        }
        s
    } {
        let mut s = 0.0;
        for k in 0..n {
            let (mut all, mut product, mut mean) = (0.0, 1.0, 0.0);
            for i in k..n { let c = x[[i, k]]; all += c * c + c.exp() + c * x[[k, i]] - c + c.exp() + c * c; product *= c / 2.0 - 1.0; mean += 2.0 * c / (n - k) as f64; }
            s += all + (n - k) as f64 + x[[k, k]] * x[[n - 1, k]] + product + mean + x[[k, k]] * x[[n - 1, k]];
            s += (n - k) as f64;
            for j in 0..n { for i in 0..k { s += x[[i, j]] * x[[k, j]]; } for i in k..n { s += x[[i, j]]; } }
        }
        s
    }
    of_the_dsl: {
        let mut s = 0.0;
        for k in 0..n {
            let c = x.slice(s![k.., k]);
            let p = argmax(&c);
            s += sum(&c) + norm(&c) + maximum(&c) * minimum(&x.slice(s![..k + 1, ..k + 1])) + c[p] * (p + 1) as f64 + logsumexp(&c) + (&softmax(&c) * &c).sum() + c[argmin(&c)];
            s += map2(&c, &x.slice(s![k, k..]), |a, b| a / b).sum() + product(&c) + relu(&c).sum();
        }
        s
    } {
        let mut s = 0.0;
        for k in 0..n {
            let (mut p, mut q) = (k, k);
            let (mut t, mut sq, mut e, mut prod, mut ratio) = (0.0, 0.0, 0.0, 1.0, 0.0);
            for i in k..n {
                let c = x[[i, k]];
                if c > x[[p, k]] { p = i; }
                if c < x[[q, k]] { q = i; }
                t += c; sq += c * c; e += c.exp(); prod *= c; ratio += c / x[[k, i]];
            }
            let mut low = x[[0, 0]];
            for i in 0..k + 1 { for j in 0..k + 1 { if x[[i, j]] < low { low = x[[i, j]]; } } }
            let mut soft = 0.0;
            for i in k..n { soft += x[[i, k]].exp() / e * x[[i, k]]; }
            s += t + sq.sqrt() + x[[p, k]] * low + x[[p, k]] * (p - k + 1) as f64 + e.ln() + soft + x[[q, k]] + ratio + prod + t;
        }
        s
    }
    iterators: {
        let mut s = 0.0;
        for k in 0..n {
            for (i, v) in x.slice(s![k.., k]).iter().enumerate() { s += v * i as f64; }
            for (i, v) in x.slice(s![k.., ..k]).iter().enumerate() { s += v * v * i as f64; }
            for ((i, j), v) in x.slice(s![..k, k..]).indexed_iter() { s += v * (i + 2 * j) as f64; }
            for row in x.slice(s![k.., ..k]).rows() { s += row.dot(&row); }
            for row in x.slice(s![k.., ..k]).outer_iter() { s += row.sum(); }
            s += x.slice(s![k.., ..k]).columns().into_iter().map(|c| c.dot(&x.slice(s![k.., k]))).sum::<f64>();
            if k > 0 { s += x.slice(s![k.., ..k]).t().row(0).iter().sum::<f64>(); }
        }
        s
    } {
        let mut s = 0.0;
        for k in 0..n {
            for i in 0..n - k { s += x[[k + i, k]] * i as f64; }
            let mut count = 0;
            for i in k..n { for j in 0..k { s += x[[i, j]] * x[[i, j]] * count as f64; count += 1; } }
            for i in 0..k { for j in 0..n - k { s += x[[i, k + j]] * (i + 2 * j) as f64; } }
            for i in k..n { for j in 0..k { s += x[[i, j]] * x[[i, j]] + x[[i, j]] + x[[i, j]] * x[[i, k]]; } }
            if k > 0 { for i in k..n { s += x[[i, 0]]; } }
        }
        s
    }
}

vectors! {
    built: {
        let mut s = 0.0;
        for k in 0..n {
            let w = build1(k, |i| (x[i] * y[k]).sin());
            let a = build([k, k], |[i, j]| x[i] * y[j]);
            let rows = build1(k, |i| build1(2, |j| x[i] * y[i] * j as f64));
            s += w.sum() + a.dot(&w).sum() + rows.sum();
        }
        s
    } {
        let mut s = 0.0;
        for k in 0..n {
            for i in 0..k {
                s += (x[i] * y[k]).sin() + x[i] * y[i];
                for j in 0..k { s += x[i] * y[j] * (x[j] * y[k]).sin(); }
            }
        }
        s
    }
    slices_changed: {
        let mut v = x.to_vec();
        for i in 0..n {
            for w in &mut v[i..] { *w += 1.0; }
            for w in v[..i].iter_mut() { *w *= 2.0; }
            v[i / 2..i].fill(0.5 * y[i]);
        }
        v.iter().map(|v| v * v).sum::<f64>()
    } {
        let mut v = x.to_vec();
        for i in 0..n {
            for j in i..n { v[j] += 1.0; }
            for j in 0..i { v[j] *= 2.0; }
            for j in i / 2..i { v[j] = 0.5 * y[i]; }
        }
        v.iter().map(|v| v * v).sum::<f64>()
    }
    prefix_sums: {
        let mut v = x.to_vec();
        for i in 0..n { v[i] = y[i] + v[..i].iter().sum::<f64>(); }
        v.iter().map(|v| v * v).sum::<f64>()
    } {
        let mut v = x.to_vec();
        for i in 0..n { let mut s = 0.0; for j in 0..i { s += v[j]; } v[i] = y[i] + s; }
        v.iter().map(|v| v * v).sum::<f64>()
    }
    copied: {
        let mut v = x.to_vec();
        let w = y.to_vec();
        for i in 0..n { v[i..].copy_from_slice(&w[..n - i]); v[..i].reverse(); }
        v.iter().enumerate().map(|(i, v)| v * i as f64).sum::<f64>()
    } {
        let mut v = x.to_vec();
        let w = y.to_vec();
        for i in 0..n {
            for j in i..n { v[j] = w[j - i]; }
            for j in 0..i / 2 { let t = v[j]; v[j] = v[i - 1 - j]; v[i - 1 - j] = t; }
        }
        v.iter().enumerate().map(|(i, v)| v * i as f64).sum::<f64>()
    }
    bound: {
        let mut s = 0.0;
        for k in 0..n {
            let mut v = x.slice(s![k..]).to_owned();
            v[0] += v.dot(&v).sqrt();
            for j in 1..v.len() { v[j] *= v[j - 1]; }
            let v = &v / v.dot(&v).sqrt();
            let w = if k % 2 == 0 { v.mapv(|v| v * v) } else { y.slice(s![..k]).to_owned() };
            s += v.sum() + w.sum() * w.len() as f64;
        }
        s
    } {
        let mut s = 0.0;
        for k in 0..n {
            let mut v = x.to_owned();
            let mut d = 0.0;
            for j in k..n { d += v[j] * v[j]; }
            v[k] += d.sqrt();
            for j in k + 1..n { let b = v[j - 1]; v[j] *= b; }
            let mut d = 0.0;
            for j in k..n { d += v[j] * v[j]; }
            let (mut t, mut w, mut len) = (0.0, 0.0, 0);
            for j in k..n { t += v[j] / d.sqrt(); }
            if k % 2 == 0 { for j in k..n { w += v[j] * v[j] / d; } len = n - k; } else { for j in 0..k { w += y[j]; } len = k; }
            s += t + w * len as f64;
        }
        s
    }
    zipped: {
        let mut s = 0.0;
        for k in 0..n {
            s += Zip::from(&x.slice(s![k..])).and(&y.slice(s![..n - k])).map_collect(|a, b| a / b).sum();
            s += x.slice(s![..k]).fold(0.0, |s, v| s * 0.5 + v);
            s += fold(0.0, &x.slice(s![..k]), |s: f64, v| s * 0.5 + v);
        }
        s
    } {
        let mut s = 0.0;
        for k in 0..n {
            for j in k..n { s += x[j] / y[j - k]; }
            let mut t = 0.0;
            for j in 0..k { t = t * 0.5 + x[j]; }
            s += 2.0 * t;
        }
        s
    }
}

matrices! {
    lu_with_pivoting: {
        let mut a = x.to_owned();
        let mut sign = 1.0;
        for k in 0..n {
            let p = k + argmax(&a.slice(s![k.., k]).mapv(f64::abs));
            if p != k {
                for j in 0..n { a.swap([k, j], [p, j]); }
                sign = -sign;
            }
            let pivot = a[[k, k]];
            a.slice_mut(s![k + 1.., k]).mapv_inplace(|v| v / pivot);
            let (l, u) = (a.slice(s![k + 1.., k]).to_owned(), a.slice(s![k, k + 1..]).to_owned());
            let mut rest = a.slice_mut(s![k + 1.., k + 1..]);
            rest -= &(&l.insert_axis(Axis(1)) * &u.insert_axis(Axis(0)));
        }
        sign * a.diag().product()
    } {
        let mut a = x.to_owned();
        let mut sign = 1.0;
        for k in 0..n {
            let mut p = k;
            for i in k..n { if a[[i, k]].abs() > a[[p, k]].abs() { p = i; } }
            if p != k {
                for j in 0..n { let t = a[[k, j]]; a[[k, j]] = a[[p, j]]; a[[p, j]] = t; }
                sign = -sign;
            }
            for i in k + 1..n { a[[i, k]] /= a[[k, k]]; }
            for i in k + 1..n { for j in k + 1..n { a[[i, j]] -= a[[i, k]] * a[[k, j]]; } }
        }
        let mut d = sign;
        for k in 0..n { d *= a[[k, k]]; }
        d
    }
    cholesky_by_columns: {
        let a = x.dot(&x.t()) + Array2::<f64>::eye(n);
        let mut l = Array2::<f64>::zeros((n, n));
        for j in 0..n {
            let c = &a.slice(s![j.., j]) - &l.slice(s![j.., ..j]).dot(&l.slice(s![j, ..j]));
            let d = c[0].sqrt();
            l.slice_mut(s![j.., j]).assign(&(&c / d));
        }
        l.diag().mapv(f64::ln).sum() + l.sum()
    } {
        let a = x.dot(&x.t()) + Array2::<f64>::eye(n);
        let mut l = Array2::<f64>::zeros((n, n));
        for j in 0..n {
            for i in j..n {
                let mut s = a[[i, j]];
                for k in 0..j { s -= l[[i, k]] * l[[j, k]]; }
                l[[i, j]] = if i == j { s.sqrt() } else { s / l[[j, j]] };
            }
        }
        l.diag().mapv(f64::ln).sum() + l.sum()
    }
    householder_qr: {
        let mut a = x.to_owned();
        for k in 0..n {
            let mut v = a.slice(s![k.., k]).to_owned();
            let length = v.dot(&v).sqrt();
            v[0] += if v[0] > 0.0 { length } else { -length };
            let v = &v / v.dot(&v).sqrt();
            let w = v.dot(&a.slice(s![k.., k..]));
            let mut rest = a.slice_mut(s![k.., k..]);
            rest -= &(2.0 * &v.slice(s![.., NewAxis]) * &w.slice(s![NewAxis, ..]));
        }
        a.diag().mapv(f64::abs).sum() + a.slice(s![..n.min(1), ..]).iter().sum::<f64>()
    } {
        let mut a = x.to_owned();
        for k in 0..n {
            let mut v = vec![0.0; n];
            let mut d = 0.0;
            for i in k..n { v[i] = a[[i, k]]; d += v[i] * v[i]; }
            v[k] += if v[k] > 0.0 { d.sqrt() } else { -d.sqrt() };
            let mut d = 0.0;
            for i in k..n { d += v[i] * v[i]; }
            for j in k..n {
                let mut w = 0.0;
                for i in k..n { w += v[i] / d.sqrt() * a[[i, j]]; }
                for i in k..n { a[[i, j]] -= 2.0 * v[i] / d.sqrt() * w; }
            }
        }
        a.diag().mapv(f64::abs).sum() + a.slice(s![..n.min(1), ..]).iter().sum::<f64>()
    }
    substitution: {
        let mut y = Array1::<f64>::zeros(n);
        for i in 0..n { y[i] = (1.0 - x.slice(s![i, ..i]).dot(&y.slice(s![..i]))) / (1.0 + x[[i, i]]); }
        let mut z = Array1::<f64>::zeros(n);
        for i in (0..n).rev() { z[i] = (y[i] - x.slice(s![i + 1.., i]).dot(&z.slice(s![i + 1..]))) / (1.0 + x[[i, i]]); }
        y.dot(&z)
    } {
        let mut y = vec![0.0; n];
        for i in 0..n {
            let mut s = 1.0;
            for j in 0..i { s -= x[[i, j]] * y[j]; }
            y[i] = s / (1.0 + x[[i, i]]);
        }
        let mut z = vec![0.0; n];
        for i in (0..n).rev() {
            let mut s = y[i];
            for j in i + 1..n { s -= x[[j, i]] * z[j]; }
            z[i] = s / (1.0 + x[[i, i]]);
        }
        let mut s = 0.0;
        for i in 0..n { s += y[i] * z[i]; }
        s
    }
    gram_schmidt: {
        let mut q = x.to_owned();
        for k in 0..n {
            let v = q.column(k).to_owned();
            let before = q.slice(s![.., ..k]);
            let v = &v - &before.dot(&before.t().dot(&v));
            q.column_mut(k).assign(&(&v / v.dot(&v).sqrt()));
        }
        (&q * x).sum()
    } {
        let mut q = x.to_owned();
        for k in 0..n {
            let mut v = vec![0.0; n];
            for i in 0..n { v[i] = q[[i, k]]; }
            for j in 0..k {
                let mut d = 0.0;
                for i in 0..n { d += q[[i, j]] * q[[i, k]]; }
                for i in 0..n { v[i] -= d * q[[i, j]]; }
            }
            let mut d = 0.0;
            for i in 0..n { d += v[i] * v[i]; }
            for i in 0..n { q[[i, k]] = v[i] / d.sqrt(); }
        }
        (&q * x).sum()
    }
    of_a_size_that_a_loop_decides: {
        let mut s = 0.0;
        for k in 0..n {
            let mut v = Array1::<f64>::zeros(k);
            for j in 0..k { v[j] = x[[k, j]] * x[[j, k]]; }
            let w = Array1::from_shape_fn(k, |j| x[[j, j]]);
            let all = Array1::from_vec((0..k).map(|j| x[[j, 0]]).collect());
            s += v.dot(&w) + all.sum();
        }
        s
    } {
        let mut s = 0.0;
        for k in 0..n { for j in 0..k { s += x[[k, j]] * x[[j, k]] * x[[j, j]] + x[[j, 0]]; } }
        s
    }
}

vectors! {
    levinson_durbin: {
        let mut a = Array1::<f64>::zeros(n);
        let mut e = 4.0;
        for m in 0..n {
            let r = x.slice(s![..m;-1]);
            let k = (x[m] - a.slice(s![..m]).dot(&r)) / e;
            let old = a.slice(s![..m]).to_owned();
            let mut part = a.slice_mut(s![..m]);
            part -= &(k * &old.slice(s![..;-1]));
            a[m] = k;
            e *= 1.0 - k * k;
        }
        a.dot(y) + e
    } {
        let mut a = vec![0.0; n];
        let mut e = 4.0;
        for m in 0..n {
            let mut k = x[m];
            for j in 0..m { k -= a[j] * x[m - 1 - j]; }
            k /= e;
            let old = a.clone();
            for j in 0..m { a[j] -= k * old[m - 1 - j]; }
            a[m] = k;
            e *= 1.0 - k * k;
        }
        let mut s = e;
        for j in 0..n { s += a[j] * y[j]; }
        s
    }
}

/// The values are those that Rust computes.
#[test]
fn mutable_parts_of_slices() {
    agrees! { fn f(x: slice) { let mut y = x.to_vec(); for i in 0..y.len() { for v in &mut y[i..] { *v *= 1.5; } for v in y[..i].iter_mut() { *v += x[i]; } y[i / 2..i].fill(x[0]); } y.iter().map(|v| v * v).sum::<f64>() } [V(vec![0.3, 0.9, -0.4, 0.7])] [V(vec![])] }
    agrees! { fn f(x: real) { let mut a = [x, 1.0, x * x, 2.0]; for i in 0..4 { for v in &mut a[i..] { *v *= x; } a[..i].fill(x); if i > 1 { a[1..i].reverse(); } } a.iter().sum::<f64>() * a[3] } [R(0.7)] }
    agrees! { fn f(x: slice) { let mut m = vec![[0.0; 2]; x.len()]; for i in 0..m.len() { for r in &mut m[i..] { r[0] += x[i]; r[1] = r[0] * x[i]; } for r in m[..i].iter_mut() { r[0] *= 0.5; } } m.iter().map(|r| r[0] * r[1]).sum::<f64>() } [V(vec![0.3, 0.9, -0.4])] [V(vec![])] }
    agrees! { fn f(x: slice, n: int) { let mut y = x.to_vec(); let mut k = 0; while k + 1 < n { for (i, v) in y[k..].iter_mut().enumerate() { *v += i as f64 * x[k]; } for (v, w) in y[..k].iter_mut().zip(&x[1..]) { *v -= w; } k += 2; } y.iter().map(|v| v * v).sum::<f64>() } [V(vec![0.3, 0.9, -0.4, 0.7]), N(4)] [V(vec![0.3, 0.9, -0.4, 0.7]), N(7)] [V(vec![0.3]), N(1)] }
    agrees! { fn f(x: slice) { let mut y = x.to_vec(); for i in 0..x.len() { let part = &mut y[i..]; part[0] *= 2.0; let last = part.len() - 1; part.swap(0, last); for v in part.iter_mut().rev().take(2) { *v += 0.1 * x[i]; } for v in part.iter_mut().skip(1).step_by(2) { *v *= 0.9; } } y.iter().map(|v| v * v).sum::<f64>() } [V(vec![0.3, 0.9, -0.4, 0.7])] }
    agrees! { fn f(x: slice) { (0..x.len()).map(|i| x[i..].iter().zip(&x[..x.len() - i]).map(|(a, b)| a * b).sum::<f64>() * i as f64).sum::<f64>() } [V(vec![0.3, 0.9, -0.4, 0.7])] }
    agrees! { fn f(x: slice) { let mut c = vec![0_usize; x.len()]; for i in 0..x.len() { for v in &mut c[i..] { *v += i; } c[..i].fill(i); } let mut s = 0.0; for i in 0..x.len() { s += x[i] * c[i] as f64; } s } [V(vec![0.3, 0.9, -0.4, 0.7])] }
    agrees! { fn f(x: slice) { let mut y = x.to_vec(); for i in 0..x.len() { if x[i] > 0.0 { y[i..].fill(x[i]); continue; } for v in &mut y[i..] { if *v < 0.0 { break; } *v *= 3.0; } } y.iter().map(|v| v * v).sum::<f64>() } [V(vec![0.3, -0.9, 0.4, -0.7, 0.1])] }
}

matrices! {
    rows_of_parts: {
        let mut m = x.to_owned();
        for i in 0..n {
            for mut r in m.slice_mut(s![i.., ..i]).outer_iter_mut() { r *= 2.0; r += &x.slice(s![i, ..i]); }
            for mut r in m.slice_mut(s![..i, i..]).columns_mut() { r.fill(0.5 * x[[i, i]]); }
            for (k, mut r) in m.slice_mut(s![i.., ..]).rows_mut().into_iter().enumerate() { r[0] += k as f64; }
            for ((j, k), v) in m.slice_mut(s![i.., ..i + 1]).indexed_iter_mut() { *v -= (j + 2 * k) as f64; }
            let mut part = m.slice_mut(s![i.., i..]);
            part.row_mut(0).mapv_inplace(|v| v * v);
            part.column_mut(0).fill(x[[0, i]]);
            let total = part.sum() + part[[0, 0]] * part.nrows() as f64;
            part[[0, 0]] = 0.1 * total;
        }
        (&m * x).sum()
    } {
        let mut m = x.to_owned();
        for i in 0..n {
            for k in i..n { for j in 0..i { m[[k, j]] = 2.0 * m[[k, j]] + x[[i, j]]; } }
            for k in 0..i { for j in i..n { m[[k, j]] = 0.5 * x[[i, i]]; } }
            for k in i..n { m[[k, 0]] += (k - i) as f64; }
            for k in i..n { for j in 0..i + 1 { m[[k, j]] -= (k - i + 2 * j) as f64; } }
            for j in i..n { let v = m[[i, j]]; m[[i, j]] = v * v; }
            for k in i..n { m[[k, i]] = x[[0, i]]; }
            let mut total = m[[i, i]] * (n - i) as f64;
            for k in i..n { for j in i..n { total += m[[k, j]]; } }
            m[[i, i]] = 0.1 * total;
        }
        (&m * x).sum()
    }
    statistics: {
        let mut s = 0.0;
        for k in 1..n {
            let c = x.slice(s![..k + 1, k]);
            let (a, b) = x.row(k).split_at(Axis(0), k);
            s += c.var(1.0) + c.std(0.0) + x.slice(s![k - 1.., ..k]).mean_axis(Axis(0)).unwrap().dot(&a) + a.sum() * b.sum();
            s += x.slice(s![k.., ..k]).diag().sum() + x.slice(s![k.., k..]).diag().product() + Array2::<f64>::eye(k).dot(&x.slice(s![..k, ..k])).sum();
            let (top, low) = x.slice(s![k - 1.., ..]).split_at(Axis(0), 1);
            s += top.row(0).dot(&low.row(0));
        }
        s
    } {
        let mut s = 0.0;
        for k in 1..n {
            let (mut mean, mut v) = (0.0, 0.0);
            for i in 0..k + 1 { mean += x[[i, k]] / (k + 1) as f64; }
            for i in 0..k + 1 { v += (x[[i, k]] - mean) * (x[[i, k]] - mean); }
            s += v / k as f64 + (v / (k + 1) as f64).sqrt();
            let (mut a, mut b) = (0.0, 0.0);
            for j in 0..k { a += x[[k, j]]; for i in k - 1..n { s += x[[i, j]] * x[[k, j]] / (n - k + 1) as f64; } }
            for j in k..n { b += x[[k, j]]; }
            s += a * b;
            let mut d = 1.0;
            for i in 0..n - k { if i < k { s += x[[k + i, i]]; } d *= x[[k + i, k + i]]; }
            s += d;
            for i in 0..k { for j in 0..k { s += x[[i, j]]; } }
            for j in 0..n { s += x[[k - 1, j]] * x[[k, j]]; }
        }
        s
    }
    in_the_place_of_others: {
        let mut s = 0.0;
        let mut v = x.diag().to_owned();
        for k in 0..n {
            v = x.slice(s![k.., k]).to_owned();
            s += v.sum() * v.len() as f64;
            let mut w = x.slice(s![k.., 0]).to_owned();
            while w.len() > 1 { w = &w.slice(s![1..]) + &w.slice(s![..w.len() - 1]); }
            s += w.sum();
        }
        s + v.sum()
    } {
        let mut s = 0.0;
        for k in 0..n {
            for i in k..n { s += x[[i, k]] * (n - k) as f64; }
            let mut w = vec![0.0; n];
            for i in k..n { w[i] = x[[i, 0]]; }
            for m in 1..n - k { for i in k..n - m { w[i] = w[i + 1] + w[i]; } }
            s += w[k];
        }
        if n > 0 { s += x[[n - 1, n - 1]]; }
        s
    }
    in_builds: {
        let a = build1(n, |i| x.slice(s![i, ..i + 1]).mapv(|v| v * v).sum());
        let b = Array1::from_shape_fn(n, |i| x.slice(s![i.., i]).dot(&x.slice(s![i, i..])));
        let c: Vec<f64> = (0..n).map(|i| (&x.slice(s![i.., 0]) - &x.slice(s![0, i..])).mapv(f64::sin).sum()).collect();
        let d = build1(n, |i| { let mut y = x.to_owned(); y.slice_mut(s![i.., i]).fill(2.0); y.slice_mut(s![..i, ..i]).mapv_inplace(f64::exp); y.sum() });
        a.dot(&b) + c.iter().sum::<f64>() + d.sum()
    } {
        let (mut s, mut t) = (0.0, 0.0);
        for i in 0..n {
            let (mut a, mut b) = (0.0, 0.0);
            for j in 0..i + 1 { a += x[[i, j]] * x[[i, j]]; }
            for j in i..n { b += x[[j, i]] * x[[i, j]]; t += (x[[j, 0]] - x[[0, j]]).sin(); }
            s += a * b;
            for j in 0..n { for k in 0..n { s += if j >= i && k == i { 2.0 } else if j < i && k < i { x[[j, k]].exp() } else { x[[j, k]] }; } }
        }
        s + t
    }
    changed_variables: {
        let mut s = 0.0;
        for k in 0..n {
            let mut v = x.slice(s![k.., k]).to_owned();
            let w = x.slice(s![k, k..]).to_owned();
            v += &w;
            v *= 2.0;
            v -= &(&w * 0.5);
            v /= 1.5;
            v.mapv_inplace(|a| a * a);
            v.slice_mut(s![1..]).fill(x[[k, 0]]);
            let mut i = 0;
            while i < v.len() { v[i] += v[0] * i as f64; if v[i] > 100.0 { break; } i += 1; }
            let mut m = x.slice(s![k.., ..k]).to_owned();
            for j in 0..k { let c = m.column(j).sum(); m.column_mut(j).fill(c); m[[0, j]] = 1.0; }
            for a in m.iter_mut() { *a *= 1.1; }
            s += v.sum() + m.sum() + v.to_vec().iter().sum::<f64>();
        }
        s
    } {
        let mut s = 0.0;
        for k in 0..n {
            let mut v = vec![0.0; n];
            for i in k..n { let a = ((x[[i, k]] + x[[k, i]]) * 2.0 - x[[k, i]] * 0.5) / 1.5; v[i] = a * a; }
            for i in k + 1..n { v[i] = x[[k, 0]]; }
            for i in k..n { let first = v[k]; v[i] += first * (i - k) as f64; if v[i] > 100.0 { break; } }
            for i in k..n { s += 2.0 * v[i]; }
            for j in 0..k {
                let mut c = 0.0;
                for i in k..n { c += x[[i, j]]; }
                s += 1.1 * (1.0 + c * (n - k - 1) as f64);
            }
        }
        s
    }
}

/// A value whose size has no meaning outside of its loop is refused with a message.
#[test]
fn parts_that_leave_their_loop_are_refused() {
    for body in [
        quote! { let mut k = 0; let v = loop { k += 1; if x[k] > 0.5 { break x.slice(s![k..]).to_owned(); } }; v.sum() },
        quote! { let mut v = x.view().insert_axis(Axis(0)).to_owned(); for k in 0..2 { v = x.slice(s![k..]).to_owned().insert_axis(Axis(0)); } v.sum() },
        quote! { let mut s = 0.0; for k in 0..2 { s += x.slice(s![k..]).to_shape((1, 2 - k)).unwrap()[[0, 0]]; } s },
    ] {
        assert!(front::parse(quote!(), quote! { fn f(x: &Array1<f64>) -> f64 { #body } }).is_err(), "{body}");
    }
}

/// Parts of different sizes: the function panics, and so does the derivative.
#[test]
fn operands_of_different_sizes_panic() {
    let x = [numbers(4)];
    for body in [
        quote! { let mut s = 0.0; for k in 0..3 { s += (&x.slice(s![k..]) * &x.slice(s![..k])).sum(); } s },
        quote! { let mut y = x.to_owned(); for k in 0..3 { y.slice_mut(s![k..]).assign(&x.slice(s![..k + 2])); } y.sum() },
        quote! { let mut y = x.to_owned(); for k in 0..6 { y.slice_mut(s![k..]).fill(1.0); } y.sum() },
        quote! { let mut y = x.to_vec(); for k in 0..4 { y[k..].copy_from_slice(&x.to_vec()[k + 1..]); } y[0] },
        quote! { let mut s = 0.0; for k in 0..4 { let c = x.slice(s![k..]); s += c[1]; } s },
        quote! { let mut s = 0.0; for k in 0..5 { s += maximum(&x.slice(s![k..])); } s },
    ] {
        let source = program(quote!(), quote! { fn f(x: &Array1<f64>) -> f64 { #body } });
        assert!(!failed(&source, &x).is_empty(), "{body}");
    }
}

/// Elements outside of the part reach neither the value nor a derivative.
#[test]
fn elements_outside_of_a_part_have_no_effect() {
    let x = array(&[4], &[0.5, 2.0, f64::NAN, 0.0]);
    for (body, gradient) in [
        (
            quote! { let mut s = 0.0; for k in 1..3 { let c = x.slice(s![..k]); s += (1.0 / &c).sum() + c.mapv(f64::ln).sum() + c.dot(&c) + norm(&c); } s },
            2,
        ),
        (
            quote! { let mut s = 0.0; for k in 1..3 { let c = x.slice(s![..k]); s += maximum(&c) + c.mapv(|v| 1.0 / v.sqrt()).sum() + softmax(&c)[0] + logsumexp(&c); } s },
            2,
        ),
        (
            quote! { let mut y = x.to_owned(); for k in 1..3 { y.slice_mut(s![..k]).mapv_inplace(|v| 1.0 / v); } y[0] + y[1] },
            2,
        ),
        (
            quote! { let mut y = x.to_owned(); for k in 1..3 { let mut p = y.slice_mut(s![..k]); p /= &x.slice(s![..k]); } y[0] + y[1] },
            2,
        ),
    ] {
        let all = computed(&quote! { fn f(x: &Array1<f64>) -> f64 { #body } }, std::slice::from_ref(&x));
        assert!(all[0][0].is_finite() && all[2].iter().all(|g| g.is_finite()), "{all:?}: {body}");
        assert!(all[2][gradient..].iter().all(|&g| g == 0.0), "{all:?}: {body}");
    }
}
