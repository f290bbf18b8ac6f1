//! Lists and `Vec`s of arrays. An element is an ndarray, whose length and items are those of its
//! elements, or an array or `Vec`, whose items are its rows. Values are the function's own,
//! gradients those of central differences.

#![allow(clippy::all, clippy::pedantic, reason = "programs as people write them")]

use ad::ndarray::{concatenate, stack};
use ad::prelude::*;

/// A function of one matrix whose first element is positive.
macro_rules! programs {
    (($m:ident) $($name:ident $body:block)*) => {
        $(
            #[differentiate]
            fn $name($m: &Array2<f64>) -> f64 $body
        )*
        #[test]
        fn items_of_lists_keep_their_values() {
            for (n, k) in [(2, 3), (3, 3), (4, 2), (1, 1)] {
                let x = Array2::from_shape_fn((n, k), |(i, j)| 0.7 + (3.0 * i as f64 + j as f64).sin() * 0.5);
                $(ad::check_grad!($name(&x));)*
            }
        }
    };
}

programs! { (m)
    counted { let ms = [m.view(), m.view()]; ms.iter().map(|a| a.iter().count() as f64 * a[[0, 0]]).sum::<f64>() }
    in_a_loop { let ms = vec![m.view(), m.view()]; let mut s = 0.0; for a in &ms { s += a.len() as f64 * a.iter().count() as f64 * m[[0, 0]]; } s }
    pushed { let mut ms = Vec::new(); for k in 0..3 { ms.push(m * k as f64); } ms.iter().map(|a| a.len() as f64 * a.iter().count() as f64).sum::<f64>() * m[[0, 0]] }
    collected { let ms: Vec<Array2<f64>> = (0..3).map(|k| m * k as f64).collect(); ms.iter().map(|a| a.len() as f64 * a.iter().count() as f64).sum::<f64>() * m[[0, 0]] }
    summed { let ms = [m.view(), m.view()]; ms.iter().map(|a| a.iter().sum::<f64>()).sum::<f64>() }
    by_pattern { let ms = [m.view(), m.view()]; let [a, b] = ms; a.iter().sum::<f64>() + b.len() as f64 * b.iter().count() as f64 }
    indexed { let ms = [m.view(), m.view()]; let mut s = 0.0; for i in 0..2 { for v in ms[i].iter() { s += v * v; } for v in &ms[i] { s += v; } } s }
    looped { let ms = [m.view(), m.view()]; let mut s = 0.0; for a in ms { for v in a { s += v; } } s }
    zipped { let ms = [m.view(), m.view()]; let mut s = 0.0; for (a, b) in ms.iter().zip(ms.iter()) { s += a.iter().zip(b.iter()).map(|(x, y)| x * y).sum::<f64>(); } s }
    in_a_tuple { let ms = (m.view(), [m.view(), m.t()]); let a = ms.1[0]; a.iter().sum::<f64>() + ms.1[1].mapv(|v| v).iter().sum::<f64>() }
    popped { let mut ms: Vec<Array2<f64>> = Vec::new(); ms.push(m.clone()); ms.push(m * 2.0); let last = ms.pop().unwrap(); last.iter().sum::<f64>() * ms[0].len() as f64 }
    repeated { let ms = vec![m.clone(); 3]; let mut s = 0.0; for (i, a) in ms.iter().enumerate() { s += a.iter().sum::<f64>() * i as f64 * a.len() as f64; } s }
    changed_by_elements { let mut ms = vec![m.clone(); 3]; ms[1] = m * 2.0; for a in ms.iter_mut() { for v in a.iter_mut() { *v *= 2.0; } } ms[1].iter().sum::<f64>() }
    changed { let mut ms = vec![m.clone(); 3]; ms[1] = m * 2.0; for a in &mut ms { *a *= 3.0; a[[0, 0]] = 1.0; } ms[1].len() as f64 * ms[2].iter().sum::<f64>() }
    largest { let first = [m.view(), m.view()].iter().map(|a| a.len()).max().unwrap(); first as f64 * m[[0, 0]] }
    first_and_last { let ms = [m.view(), m.view()]; let a = ms.first().unwrap(); let b = ms.last().unwrap(); a.len() as f64 * b.iter().sum::<f64>() }
    by_closure { let ms = [m.view(), m.view()]; let f = |a: &ArrayView2<f64>| a.iter().sum::<f64>() * a.len() as f64; f(&ms[0]) + ms.iter().map(f).sum::<f64>() }
    folded { let ms = [m.view(), m.view()]; ms.iter().fold(0.0, |s, a| s + a.iter().sum::<f64>()) }
    numbered { let ms = [m.view(), m.view()]; ms.iter().enumerate().map(|(i, a)| a.iter().sum::<f64>() * i as f64).sum::<f64>() }
    backwards { let ms = [m.view(), m.view()]; ms.iter().rev().skip(1).map(|a| a.indexed_iter().map(|((i, j), v)| v * (i + 2 * j) as f64).sum::<f64>() + a.is_empty() as u8 as f64).sum::<f64>() }
    of_static_arrays { let t = [[[m[[0, 0]]; 2]; 3]; 4]; let mut s = 0.0; for a in &t { s += a.len() as f64; for b in a { s += b.len() as f64 * b[1]; } } s }
    of_vectors { let mut t = vec![vec![vec![0.0; 2]; 3]; 4]; for i in 0..4 { for j in 0..3 { for k in 0..2 { t[i][j][k] = m[[0, 0]] * (i + 2 * j + 3 * k) as f64; } } } t[1].len() as f64 * t[2][1].iter().sum::<f64>() + t.iter().map(|a| a.iter().map(|b| b.iter().sum::<f64>()).sum::<f64>() * a.len() as f64).sum::<f64>() }
    of_vectors_of_matrices { let ms = vec![vec![m.clone(); 2]; 3]; let mut s = 0.0; for a in &ms { s += a.len() as f64; for b in a { s += b.len() as f64 * b.iter().sum::<f64>(); for r in b.rows() { s += r.len() as f64; } } } s }
    of_rows { let ms: Vec<Vec<f64>> = m.rows().into_iter().map(|r| r.to_vec()).collect(); ms.iter().map(|r| r.len() as f64 * r.iter().sum::<f64>()).sum::<f64>() * ms.len() as f64 }
    of_vectors_of_rows { let ms: Vec<Vec<Vec<f64>>> = (0..2).map(|k| m.rows().into_iter().map(|r| r.iter().map(|v| v * k as f64).collect()).collect()).collect(); ms.iter().map(|a| a.len() as f64 * a.iter().map(|b| b.iter().sum::<f64>()).sum::<f64>()).sum::<f64>() }
    of_static_matrices { let ms: Vec<[[f64; 2]; 2]> = (0..3).map(|k| [[m[[0, 0]], k as f64], [1.0, 2.0]]).collect(); ms.iter().map(|a| a.len() as f64 * a[0][0] + a.iter().map(|r| r[1]).sum::<f64>()).sum::<f64>() }
    pushed_rows { let mut ms = Vec::new(); for k in 0..3 { let mut row = Vec::new(); for l in 0..2 { row.push(m * (k + l) as f64); } ms.push(row); } ms.iter().map(|a| a.len() as f64 * a.iter().map(|b| b.iter().sum::<f64>() * b.len() as f64).sum::<f64>()).sum::<f64>() }
    pushed_by_two_loops { let mut ms = Vec::new(); for k in 0..3 { for l in 0..2 { ms.push(m * (k + l) as f64); } } ms.iter().map(|b| b.iter().sum::<f64>() * b.len() as f64).sum::<f64>() * ms.len() as f64 }
    pushed_after_the_last { let mut ms = vec![m.clone()]; for k in 0..3 { let next = ms.last().unwrap() * 0.5 + k as f64; ms.push(next); } ms.iter().map(|b| b.iter().sum::<f64>() * b.len() as f64).sum::<f64>() * ms.len() as f64 }
    split { let ms = vec![m.clone(), m * 2.0, m * 3.0]; let (a, b) = ms.split_at(1); a.len() as f64 * a[0].len() as f64 + b.iter().map(|x| x.len() as f64 * x.iter().sum::<f64>()).sum::<f64>() }
    part { let ms = vec![m.clone(), m * 2.0, m * 3.0]; let part = &ms[1..]; part.len() as f64 * part.iter().map(|x| x.len() as f64 * x.iter().sum::<f64>()).sum::<f64>() + part[0].len() as f64 }
    split_first { let ms = vec![m.clone(), m * 2.0, m * 3.0]; let (first, rest) = ms.split_first().unwrap(); first.len() as f64 * rest.len() as f64 + rest[1].len() as f64 * rest.iter().map(|x| x.iter().sum::<f64>()).sum::<f64>() }
    moved { let mut ms = vec![m.clone(), m * 2.0, m * 3.0]; ms.reverse(); ms.swap(0, 1); ms.rotate_left(1); ms.truncate(2); let x = ms.remove(0); x.len() as f64 * x.iter().sum::<f64>() + ms[0].len() as f64 * ms.len() as f64 }
    chosen { let ms = if m[[0, 0]] > 0.0 { vec![m.clone(), m * 2.0] } else { vec![m * 2.0, m.clone()] }; ms.len() as f64 * ms[1].len() as f64 * ms.iter().map(|x| x.iter().sum::<f64>()).sum::<f64>() }
    mapped { let ms = [m.clone(), m * 2.0]; let ns = ms.map(|x| x * 2.0); ns.len() as f64 * ns[0].len() as f64 * ns.iter().map(|x| x.iter().sum::<f64>()).sum::<f64>() }
    chunks { let ms = vec![m.clone(); 4]; ms.chunks(2).map(|c| c.len() as f64 * c[0].len() as f64 * c.iter().map(|x| x.iter().sum::<f64>()).sum::<f64>()).sum::<f64>() }
    carried { let ms = vec![m.clone(), m * 0.5]; let mut s = 0.0; let mut cur = ms.clone(); for _ in 0..3 { for a in cur.iter_mut() { *a = &*a * 0.5 + 0.1; } s += cur[0].len() as f64 * cur.iter().map(|x| x.iter().sum::<f64>()).sum::<f64>(); } s }
    unzipped { let (a, b): (Vec<Array2<f64>>, Vec<f64>) = (0..3).map(|k| (m * k as f64, k as f64)).unzip(); a.iter().zip(b.iter()).map(|(x, w)| x.len() as f64 * x.iter().sum::<f64>() * w).sum::<f64>() }
    by_a_function { fn f(xs: &[Array2<f64>]) -> f64 { xs.iter().map(|x| x.len() as f64 * x.iter().sum::<f64>()).sum::<f64>() * xs.len() as f64 } f(&[m.clone(), m * 2.0]) + f(&vec![m.clone(); 3]) }
    matched { let ms = vec![m.clone(), m * 2.0]; if let [a, b] = &ms[..] { a.len() as f64 * b.iter().sum::<f64>() } else { 0.0 } }
    changed_by_parts { let mut ms = vec![Array2::<f64>::zeros(m.raw_dim()); 3]; for (k, a) in ms.iter_mut().enumerate() { a.assign(&(m * k as f64)); } for a in &mut ms { for v in a.iter_mut() { *v *= 2.0; } a[[0, 0]] += 1.0; a.row_mut(0).fill(2.0); } ms[2].iter().sum::<f64>() * ms[1].len() as f64 + ms[1].sum() }
    turned { let mut ms = Vec::with_capacity(3); for k in 0..3 { ms.push(m.slice(s![.., ..;-1]).to_owned() * k as f64); } let t = ms.iter().fold(Array2::<f64>::zeros(m.raw_dim()), |a, x| a + x); t.len() as f64 * t.iter().sum::<f64>() + ms.iter().filter(|x| x.len() > 2).map(|x| x.iter().count() as f64 * x[[0, 0]]).sum::<f64>() }
    by_a_computed_index { let ms = vec![m.clone(), m * 2.0]; let k = if m[[0, 0]] > 0.0 { 0 } else { 1 }; let a = &ms[k]; let b = ms.get(1 - k).unwrap(); a.len() as f64 * b.iter().sum::<f64>() + a.nrows() as f64 + b.dim().1 as f64 }
    split_in_a_loop { let rows: Vec<_> = m.rows().into_iter().collect(); let mut t = 0.0; for k in 0..rows.len() { let (a, b) = rows.split_at(k); t += a.iter().map(|c| c.sum().powi(2)).sum::<f64>() * 0.3 + b.iter().map(|c| c.sum().powi(3)).sum::<f64>(); } t }
    part_in_a_loop { let rows: Vec<_> = m.columns().into_iter().collect(); let mut t = 0.0; for k in 0..rows.len() { for c in &rows[..k] { t += c.sum().powi(2); } t += rows[k..].iter().map(|c| c.sum().powi(3)).sum::<f64>(); } t }
    part_of_matrices_in_a_loop { let ms: Vec<Array2<f64>> = (0..3).map(|k| m * (k as f64 - 0.4)).collect(); let mut t = 0.0; for k in 0..3 { for a in &ms[..k] { t += a.len() as f64; for v in a { t += v * v; } for r in a.rows() { t += r.sum().powi(3); } } } t }
    part_of_rows_in_a_loop { let ms: Vec<Vec<Array1<f64>>> = (0..3).map(|k| m.rows().into_iter().map(|r| r.mapv(|v| v * (k as f64 - 0.4))).collect()).collect(); let mut t = 0.0; for k in 0..3 { for g in &ms[..k] { for c in g { t += c.sum().powi(2); } t += g.len() as f64 * g[0].sum(); } } t }
    folded_turned { let t = m.t().to_owned(); let mut s = 0.0; for a in [&t, &t] { s += a.fold(0.0, |acc, v| 0.5 * acc + v * v); } let all: Vec<_> = (0..3).map(|k| m.t().mapv(|v| v * (k as f64 - 0.4))).collect(); s + all[1].fold(0.1, |acc, v| 0.5 * acc + v * v) }
    listed_in_chunks { let ms: Vec<Array2<f64>> = vec![m.clone(), m.mapv(|v| v * v)]; ms.chunks(1).map(|c| c[0].iter().map(|v| v * v).sum::<f64>() * c.len() as f64).sum::<f64>() }
    stacked { let rows: Vec<_> = m.columns().into_iter().collect(); let (a, b) = (stack(Axis(0), &rows).unwrap(), stack(Axis(1), &rows).unwrap()); build([a.nrows(), a.ncols()], |[i, j]| a[[i, j]].powi(2) * (i + 3 * j) as f64).sum() + b.indexed_iter().map(|((i, j), v)| v * (i + 5 * j) as f64).sum::<f64>() }
    stacked_matrices { let ms: Vec<Array2<f64>> = (0..3).map(|k| m * (k as f64 - 0.4)).collect(); let views: Vec<_> = ms.iter().map(|a| a.view()).collect(); let f = |a: Array3<f64>| a.indexed_iter().map(|((i, j, l), v)| v * v * (i + 3 * j + 7 * l) as f64).sum::<f64>(); f(stack(Axis(0), &views).unwrap()) + f(stack(Axis(1), &views).unwrap()) * 0.3 + f(stack(Axis(2), &views).unwrap()) * 0.7 }
    concatenated { let ms: Vec<Array2<f64>> = (0..3).map(|k| m * (k as f64 - 0.4)).collect(); let views: Vec<_> = ms.iter().map(|a| a.view()).collect(); let (a, b) = (concatenate(Axis(0), &views).unwrap(), concatenate(Axis(1), &views).unwrap()); a.indexed_iter().map(|((i, j), v)| v * (i + 3 * j) as f64).sum::<f64>() + b.indexed_iter().map(|((i, j), v)| v * v * (i + 3 * j) as f64).sum::<f64>() }
    products_of_columns {
        let columns: Vec<ArrayView1<f64>> = m.columns().into_iter().collect();
        let mut s = 0.0;
        for j in 0..columns.len() { for i in 0..=j { s += columns[i].dot(&columns[j]) * (i + 1) as f64; } }
        for i in 0..m.nrows() { s += columns[0].slice(s![..i]).dot(&m.column(0).slice(s![..i])); }
        s + m.dot(&Array1::from(vec![1.5; m.ncols()])).dot(&columns[0])
    }
}

#[differentiate]
fn none_stacked(m: &Array2<f64>) -> f64 {
    let rows: Vec<_> = m.rows().into_iter().skip(1).collect();
    stack(Axis(0), &rows).unwrap().sum()
}

#[test]
fn a_stack_without_arrays_is_an_error() {
    let one = Array2::ones((1, 2));
    assert!(std::panic::catch_unwind(|| none_stacked(&one)).is_err());
    assert!(std::panic::catch_unwind(|| none_stacked_grad(&one)).is_err());
    assert_eq!(none_stacked_grad(&Array2::ones((2, 2))), ad::ndarray::array![[0.0, 0.0], [1.0, 1.0]]);
}
