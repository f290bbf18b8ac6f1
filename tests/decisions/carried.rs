//! Sums of arrays whose memory order changes from step to step, or that result from sums over an
//! axis, and sums of parts with dynamic length.

use super::{Random, flips};
use ad::prelude::*;

programs! { matrices: f64, x: &Array2<f64>;
    folded folded_value_and_grad { let a = build([x.nrows(), x.nrows()], |[i, j]| x[[i, j % x.ncols()]] * (j as f64 - 0.7)); fold(a, 0..3, |a, _| a.t().mapv(|v| v * 0.7)).sum() }
    folded_beside folded_beside_value_and_grad {
        let a = build([x.nrows(), x.nrows()], |[i, j]| x[[i, j % x.ncols()]] * (j as f64 - 0.7));
        fold((a, 0.0), 0..5, |(a, s), _| { let t = a.t().mapv(|v| v * 0.7); (t.clone(), s * 0.5 + t.sum()) }).1
    }
    folded_by_items folded_by_items_value_and_grad { let a = build([x.nrows(), x.nrows()], |[i, j]| x[[i, j % x.ncols()]] * (j as f64 - 0.7)); (0..3).fold(a, |a, k| if k == 1 { a.t().to_owned() } else { a.mapv(|v| v * 0.9) }).sum() }
    folded_nested folded_nested_value_and_grad {
        let a = build([x.nrows(), x.nrows()], |[i, j]| x[[i, j % x.ncols()]] * (j as f64 - 0.7));
        fold(a, 0..3, |a, i| fold(a, 0..3, |a, j| if i > j { a.t().mapv(|v| v * 0.7) } else { a })).sum()
    }
    folded_over_rows folded_over_rows_value_and_grad {
        let a = build([x.nrows(), x.nrows()], |[i, j]| x[[i, j % x.ncols()]] * (j as f64 - 0.7));
        fold((a, 0.1), x, |(a, s), row| { let t = a.t().mapv(|v| v * 0.7 + row[0]); (t.clone(), s * 0.3 + t.sum()) }).1
    }
    scanned scanned_value_and_grad {
        let a = build([x.nrows(), x.nrows()], |[i, j]| x[[i, j % x.ncols()]] * (j as f64 - 0.7));
        scanl(a, 0..3, |a, _| { let t = a.t().mapv(|v| v * 0.7); let s = t.sum(); t * s }).sum()
    }
    scanned_after scanned_after_value_and_grad {
        let a = x.t().to_owned();
        scan(a, 0..3, |a, k| { let s = a.sum(); if k == 0 { build([a.nrows(), a.ncols()], |[i, j]| a[[i, j]] * s) } else { a * s } }).fold(0.5, |a, v| a * 0.5 + v)
    }
    swapped swapped_value_and_grad {
        let (mut a, mut b) = (build([x.nrows(), x.nrows()], |[i, j]| x[[i, j % x.ncols()]] * (j as f64 - 0.7)), build([x.nrows(), x.nrows()], |[i, j]| x[[i, j % x.ncols()]] * (j as f64 - 0.3)).t().mapv(|v| v * 0.3));
        for _ in 0..3 { std::mem::swap(&mut a, &mut b); a *= 0.9; }
        a.sum() + b.sum() * 0.3
    }
    both_in_a_tuple both_in_a_tuple_value_and_grad {
        let mut p = (build([x.nrows(), x.nrows()], |[i, j]| x[[i, j % x.ncols()]] * (j as f64 - 0.7)), 0.0);
        for _ in 0..3 { p = (p.0.t().mapv(|v| v * 0.7), p.1 * 0.5 + p.0.sum()); }
        p.1 + p.0.sum()
    }
    pushed pushed_value_and_grad {
        let mut all = Vec::new();
        for k in 0..3 { all.push(x.t().mapv(|v| v * (k as f64 + 0.3)).as_standard_layout().to_owned()); }
        let mut s = 0.0;
        for a in &all { s = s * 0.5 + a.sum(); }
        s + all[1].sum()
    }
    pushed_both pushed_both_value_and_grad {
        let mut all = Vec::new();
        for k in 0..4 { let a = build([x.nrows(), x.nrows()], |[i, j]| x[[i, j % x.ncols()]] * (j as f64 - 0.7)); all.push(if k % 2 == 0 { a.t().as_standard_layout().mapv(|v| v * 0.7) } else { a }); }
        let mut s = 0.0;
        for a in &all { s = s * 0.5 + a.sum(); }
        s + all[1].sum() * all[2].sum()
    }
    listed listed_value_and_grad {
        let a = build([x.nrows(), x.nrows()], |[i, j]| x[[i, j % x.ncols()]] * (j as f64 - 0.7));
        let b = a.t().as_standard_layout().mapv(|v| v * 0.7);
        let mut s = 0.0;
        for m in [&a, &b] { s = s * 0.5 + m.sum(); }
        s
    }
    collected collected_value_and_grad {
        let all: Vec<Array2<f64>> = (0..3).map(|k| build([x.ncols(), x.nrows()], |[i, j]| x[[j, i]] * (k as f64 + 0.3))).collect();
        all.iter().map(|a| a.sum()).fold(0.5, |a, v| a * 0.5 + v)
    }
    returned returned_value_and_grad {
        fn turned(a: &Array2<f64>) -> Array2<f64> { a.t().mapv(|v| v * 0.7) }
        turned(x).sum()
    }
    by_closure by_closure_value_and_grad {
        let turned = |a: &Array2<f64>| a.t().mapv(|v| v * 0.7);
        turned(x).sum() + turned(&turned(x)).sum()
    }
    until until_value_and_grad {
        let mut a = build([x.nrows(), x.nrows()], |[i, j]| x[[i, j % x.ncols()]] * (j as f64 - 0.7));
        let mut n = 0;
        while n < 4 { a = if n % 3 == 0 { a.t().mapv(|v| v * 0.7) } else { a.mapv(|v| v * 1.1) }; n += 1; }
        a.sum()
    }
    views views_value_and_grad {
        let b = build([x.nrows(), x.nrows()], |[i, j]| x[[i, j % x.ncols()]] * (j as f64 - 0.7));
        let mut v = b.view();
        for _ in 0..3 { v = v.reversed_axes(); }
        v.sum()
    }
    zipped_axes zipped_axes_value_and_grad { (&x.t() * &x.t()).sum_axis(Axis(0)).sum() + (&x.t() * &x.t()).sum_axis(Axis(1)).sum() + (&x.t() * &x.t()).t().sum_axis(Axis(1)).sum() }
    reversed_rows reversed_rows_value_and_grad {
        let mut v = x.view();
        for k in 0..3 { if k == 1 { v = v.slice_move(s![..;-1, ..]); } }
        v.sum()
    }
    clones clones_value_and_grad { x.clone().slice_move(s![.., ..;2]).clone().sum() }
    clones_rows clones_rows_value_and_grad { x.clone().slice_move(s![..;2, ..]).clone().sum() }
    lu lu_value_and_grad {
        let n = x.nrows().min(x.ncols());
        let mut a = build([n, n], |[i, j]| x[[i, j]] + if i == j { 3.0 } else { 0.0 });
        for k in 0..n {
            for i in k + 1..n {
                let f = a[[i, k]] / a[[k, k]];
                let row = a.slice(s![k, k..]).to_owned();
                a.slice_mut(s![i, k..]).scaled_add(-f, &row);
            }
        }
        a.diag().product() + a.sum()
    }
    gram gram_value_and_grad {
        let mut q = x.t().to_owned();
        for j in 0..q.nrows() {
            for i in 0..j {
                let d = q.row(i).dot(&q.row(j));
                let r = q.row(i).to_owned();
                q.row_mut(j).scaled_add(-d, &r);
            }
        }
        q.sum()
    }
    while_turned while_turned_value_and_grad {
        let mut a = build([3, 3], |[i, j]| x[[i % x.nrows(), j % x.ncols()]] * (i as f64 + 0.3));
        let mut k = 0;
        while a.sum().abs() < 20.0 && k < 6 { a = a.t().mapv(|v| v * 1.5); k += 1; }
        a.sum()
    }
    nested_if nested_if_value_and_grad { let y = if x.sum() > 0.5 { x.t().to_owned() } else if x[[0, 0]] > 0.0 { x.t().mapv(|v| v * 2.0) } else { build([x.ncols(), x.nrows()], |[i, j]| x[[j, i]]) }; y.sum() + y.fold(0.5, |a, v| a * 0.5 + v) }
    rows_of_product rows_of_product_value_and_grad { let p = x.t().dot(x); p.outer_iter().map(|r| r.sum()).fold(0.0, |a, v| a * 0.5 + v) + p.axis_iter(Axis(1)).map(|r| r.sum()).fold(0.0, |a, v| a * 0.5 + v) }
    into_loop into_loop_value_and_grad { let mut y = x.to_owned(); for r in y.outer_iter_mut() { let mut r = r; let s = r.sum(); r.mapv_inplace(|v| v / (s.abs() + 1.0)); } y.sum() }
    row_of_part row_of_part_value_and_grad { let mut s = 0.0; for k in 1..=x.nrows() { let p = x.slice(s![..k, ..]); for r in p.outer_iter() { s = s * 0.5 + r.sum(); } for c in p.axis_iter(Axis(1)) { s = s * 0.5 + c.sum() + c.mapv(|v| v * v).sum(); } } s }
    dot_of_parts dot_of_parts_value_and_grad { let mut s = 0.0; for k in 0..=x.ncols() { s = s * 0.5 + x.row(0).slice(s![..k]).dot(&x.row(x.nrows() - 1).slice(s![..k])) + x.t().slice(s![..k, ..]).dot(&x.column(0)).sum(); } s }
    vec_part vec_part_value_and_grad { let v: Vec<f64> = x.iter().cloned().collect(); let mut s = 0.0; for k in 0..v.len() { s = s * 0.5 + v[..k].iter().sum::<f64>() + sum(&v[k..]) + norm(&v[..k]); } s }
    reversed_vector reversed_vector_value_and_grad { let mut v = x.row(0); for k in 0..3 { if k == 1 { v = v.slice_move(s![..;-1]); } } v.sum() }
    rows_in_a_list rows_in_a_list_value_and_grad { let mut s = 0.0; for r in [x.row(0), x.row(x.nrows() - 1)] { s = s * 0.5 + r.sum(); } s }
    rows_collected rows_collected_value_and_grad { let v: Vec<f64> = x.rows().into_iter().map(|r| r.sum()).collect(); v.iter().fold(0.0, |a, b| a * 0.5 + b) }
    owned_columns owned_columns_value_and_grad { let mut s = 0.0; for c in [x.column(0).to_owned(), x.column(x.ncols() - 1).to_owned()] { s = s * 0.5 + c.sum(); } s }
    replaced replaced_value_and_grad { let mut v = x.column(0).to_owned(); for _ in 0..3 { v = v.mapv(|a| a * 0.5) + &x.column(0); } v.sum() }
    pushed_columns pushed_columns_value_and_grad { let mut v = Vec::new(); for c in x.axis_iter(Axis(1)) { v.push(c.to_owned() * 0.3); } v.iter().map(|c| c.sum()).sum::<f64>() }
    row_before row_before_value_and_grad { let mut s = 0.0; let mut prev = x.row(0); for r in x.rows() { s = s * 0.5 + (&r - &prev).sum() + prev.sum(); prev = r; } s }
    row_or_column row_or_column_value_and_grad { let k = x.nrows().min(x.ncols()); let v = if x[[0, 0]] > 0.3 { x.slice(s![0, ..k]) } else { x.slice(s![..k, 0]) }; v.sum() }
    reversed_by_fold reversed_by_fold_value_and_grad { fold(x.row(0).to_owned(), 0..3, |v, _| v.slice(s![..;-1]).to_owned()).sum() }
    inverted_vector inverted_vector_value_and_grad { let mut v = x.row(0).to_owned(); for k in 0..3 { if k < 2 { v.invert_axis(Axis(0)); v *= 0.3; } } v.sum() }
    filtered_columns filtered_columns_value_and_grad { x.columns().into_iter().enumerate().filter(|(k, _)| k % 2 == 0).map(|(_, c)| c.sum()).sum::<f64>() }
    column_backwards column_backwards_value_and_grad { let v = x.column(0); let w = v.slice(s![..;-1]); v.iter().zip(w.iter()).map(|(a, b)| a * b).sum::<f64>() + w.sum() }
    chunks_of_rows chunks_of_rows_value_and_grad { let mut s = 0.0; for r in x.axis_chunks_iter(Axis(0), 2) { s = s * 0.5 + r.column(0).sum() + r.sum(); } s }
    centred_columns centred_columns_value_and_grad { let mut y = x.clone(); for mut c in y.columns_mut() { let m = c.sum(); c.mapv_inplace(|a| a - m); } y.sum() }
    shrinking_row shrinking_row_value_and_grad { let mut v = x.row(0); let mut s = 0.0; while v.len() > 1 { s = s * 0.5 + v.sum(); v = v.slice_move(s![1..]); } s + v.sum() }
    listed_columns listed_columns_value_and_grad { let mut s = 0.0; for c in [x.column(0), x.column(x.ncols() - 1)] { s = s * 0.5 + c.sum() + c.mapv(|v| v * 0.3).sum(); } s }
    collected_columns collected_columns_value_and_grad { let v: Vec<_> = x.columns().into_iter().collect(); let mut s = 0.0; for c in &v { s = s * 0.5 + c.sum(); } s + v[0].sum() + v[v.len() - 1].dot(&v[0]) }
    collected_backwards collected_backwards_value_and_grad { let v: Vec<_> = x.axis_iter(Axis(1)).rev().collect(); v.iter().map(|c| c.sum()).fold(0.0, |a, b| a * 0.5 + b) }
    pushed_views pushed_views_value_and_grad { let mut v = Vec::new(); for c in x.axis_iter(Axis(1)) { v.push(c); } let mut s = 0.0; for c in v.iter() { s = s * 0.5 + c.sum(); } s + v[0].mapv(|a| a * a).sum() }
    pushed_transposes pushed_transposes_value_and_grad { let mut v = Vec::new(); for k in 0..3 { v.push(x.t().mapv(|a| a * (k as f64 - 0.4))); } let mut s = 0.0; for c in v.iter() { s = s * 0.5 + c.sum(); } s + v[1].sum() + (&v[0] + &v[2]).sum() }
    collected_reversed collected_reversed_value_and_grad { let v: Vec<Array1<f64>> = (0..3).map(|k| x.row(0).slice(s![..;-1]).mapv(|a| a * (k as f64 - 0.4))).collect(); v.iter().map(|a| a.sum()).sum::<f64>() + v[1].sum() }
    repeated_transposes repeated_transposes_value_and_grad { let v = vec![x.t().to_owned(); 2]; v[0].sum() + v[1].sum() * 0.3 + v.iter().map(|a| a.sum()).sum::<f64>() }
    replaced_in_a_list replaced_in_a_list_value_and_grad { let mut all = vec![x.t().to_owned(), x.t().to_owned()]; for k in 0..2 { all[k] = all[k].mapv(|a| a * 0.3); } all[0].sum() + all[1].sum() }
    stacked_list stacked_list_value_and_grad { let all = vec![x.t().to_owned(), x.t().mapv(|a| a * 0.7)]; let s = ndarray::stack(Axis(0), &[all[0].view(), all[1].view()]).unwrap(); s.sum() + s.index_axis(Axis(0), 1).sum() }
    listed_parts listed_parts_value_and_grad { let all = [x.slice(s![.., ..;-1]), x.slice(s![.., ..;-1])]; all[0].sum() + all.iter().map(|a| a.sum() * 0.3).sum::<f64>() + all[1].row(0).sum() + all[1].t().sum() }
    split_list split_list_value_and_grad { let all: Vec<_> = x.columns().into_iter().collect(); let (a, b) = all.split_at(all.len() / 2); a.iter().map(|c| c.sum()).sum::<f64>() + b.iter().map(|c| c.sum()).fold(0.0, |a, b| a * 0.5 + b) }
    concatenated_vec concatenated_vec_value_and_grad { let all: Vec<_> = x.columns().into_iter().collect(); let s = concatenate(Axis(0), &all).unwrap(); s.sum() + s.slice(s![..;-1]).sum() + s.slice(s![..;2]).sum() }
    stacked_vec stacked_vec_value_and_grad { let all: Vec<_> = (0..3).map(|k| x.t().mapv(|v| v * (k as f64 - 0.4))).collect(); let views: Vec<_> = all.iter().map(|a| a.view()).collect(); let s = ndarray::stack(Axis(0), &views).unwrap(); let t = ndarray::stack(Axis(1), &views).unwrap(); let u = ndarray::stack(Axis(2), &views).unwrap(); s.sum() + t.sum() * 0.3 + u.sum() * 0.7 + u.index_axis(Axis(2), 1).sum() + t.index_axis(Axis(1), 1).sum() + s.sum_axis(Axis(0)).sum() }
}

#[test]
fn matrices_in_changing_orders() {
    let (mut random, mut wrong) = (Random(9), Default::default());
    for n in [1, 2, 3, 8, 17] {
        for m in [1, 2, 4, 9, 17] {
            for _ in 0..3 {
                matrices::all(&random.matrix(n, m), &mut wrong);
            }
        }
    }
    assert!(wrong.is_empty(), "{wrong:#?}");
}

programs! { three_axes: f64, x: &Array3<f64>;
    axis_0 axis_0_value_and_grad { x.t().sum_axis(Axis(0)).sum() }
    axis_1 axis_1_value_and_grad { x.t().sum_axis(Axis(1)).sum() }
    axis_2 axis_2_value_and_grad { x.t().sum_axis(Axis(2)).sum() }
    turned_0 turned_0_value_and_grad { x.view().permuted_axes([1, 2, 0]).sum_axis(Axis(0)).sum() }
    turned_1 turned_1_value_and_grad { x.view().permuted_axes([1, 2, 0]).sum_axis(Axis(1)).sum() }
    turned_2 turned_2_value_and_grad { x.view().permuted_axes([1, 2, 0]).sum_axis(Axis(2)).sum() }
    other_0 other_0_value_and_grad { x.view().permuted_axes([2, 0, 1]).sum_axis(Axis(0)).sum() }
    other_1 other_1_value_and_grad { x.view().permuted_axes([2, 0, 1]).sum_axis(Axis(1)).sum() }
    other_2 other_2_value_and_grad { x.view().permuted_axes([2, 0, 1]).sum_axis(Axis(2)).sum() }
    inner_0 inner_0_value_and_grad { x.view().permuted_axes([0, 2, 1]).sum_axis(Axis(1)).sum() }
    outer_2 outer_2_value_and_grad { x.view().permuted_axes([1, 0, 2]).sum_axis(Axis(2)).sum() }
    mean mean_value_and_grad { x.t().mean_axis(Axis(0)).unwrap().sum() + x.view().permuted_axes([1, 0, 2]).mean_axis(Axis(2)).unwrap().sum() }
    sliced_axis sliced_axis_value_and_grad { x.slice(s![.., .., ..;2]).sum_axis(Axis(2)).sum() + x.slice(s![.., ..1, ..]).permuted_axes([1, 2, 0]).sum_axis(Axis(1)).sum() }
    mapped_axis mapped_axis_value_and_grad { x.view().permuted_axes([1, 0, 2]).map_axis(Axis(2), |l| l.sum()).sum() + x.t().map_axis(Axis(0), |l| l.sum()).sum() }
    twice twice_value_and_grad { x.view().permuted_axes([1, 0, 2]).sum_axis(Axis(2)).sum_axis(Axis(0)).sum() }
    variances variances_value_and_grad { x.view().permuted_axes([1, 0, 2]).var_axis(Axis(2), 0.0).sum() }
    parts_of_three parts_of_three_value_and_grad { let mut s = 0.0; for k in 0..=x.dim().1 { s = s * 0.5 + x.slice(s![.., ..k, ..]).sum() + x.slice(s![.., ..k, ..]).fold(0.1, |a, v| a * 0.9 + v) + x.slice(s![.., .., ..k.min(x.dim().2)]).product(); } s }
    parts_of_turned parts_of_turned_value_and_grad { let mut s = 0.0; for k in 0..=x.dim().1 { s = s * 0.5 + x.t().slice(s![.., ..k, ..]).sum() + x.view().permuted_axes([1, 2, 0]).slice(s![..k, .., ..]).fold(0.1, |a, v| a * 0.9 + v); } s }
    axes_of_parts axes_of_parts_value_and_grad { let mut s = 0.0; for k in 0..=x.dim().1 { let y = x.slice(s![.., ..k, ..]); s = s * 0.5 + y.sum_axis(Axis(0)).sum() + y.sum_axis(Axis(1)).sum() + y.sum_axis(Axis(2)).sum() + y.t().sum_axis(Axis(0)).sum() + y.t().sum_axis(Axis(2)).sum(); } s }
    round round_value_and_grad {
        let mut a = build([3, 3, 3], |[i, j, k]| x[[i % x.dim().0, j % x.dim().1, k % x.dim().2]] + 0.1 * i as f64);
        let mut s = 0.0;
        for _ in 0..5 { a = a.permuted_axes([2, 0, 1]) * 0.9; s = s * 0.5 + a.sum(); }
        s
    }
    round_under round_under_value_and_grad {
        let mut a = build([3, 3, 3], |[i, j, k]| x[[i % x.dim().0, j % x.dim().1, k % x.dim().2]] + 0.1 * i as f64);
        for k in 0..5 { if k % 2 == 0 { a = a.permuted_axes([0, 2, 1]) * 0.9; } else { a = a.reversed_axes().mapv(|v| v + 0.1); } }
        a.sum()
    }
    round_folded round_folded_value_and_grad {
        let a = build([3, 3, 3], |[i, j, k]| x[[i % x.dim().0, j % x.dim().1, k % x.dim().2]] + 0.1 * i as f64);
        fold((a, 0.0), 0..5, |(a, s), _| { let a = a.permuted_axes([2, 0, 1]) * 0.9; let t = a.sum(); (a, s * 0.5 + t) }).1
    }
}

#[test]
fn arrays_of_three_axes_in_changing_orders() {
    let (mut random, mut wrong) = (Random(10), Default::default());
    for n in [1, 2, 5] {
        for m in [1, 2, 9] {
            for k in [1, 3, 9] {
                for _ in 0..3 {
                    three_axes::all(&Array3::from_shape_fn((n, m, k), |_| random.next()), &mut wrong);
                }
            }
        }
    }
    assert!(wrong.is_empty(), "{wrong:#?}");
}

programs! { parts: f64, x: &Array2<f64>;
    first_rows first_rows_value_and_grad { let mut s = 0.0; for k in 0..x.nrows() { s = s * 0.5 + x.slice(s![..k, ..]).sum(); } s }
    last_rows last_rows_value_and_grad { let mut s = 0.0; for k in 0..x.nrows() { s = s * 0.5 + x.slice(s![k.., ..]).sum(); } s }
    first_columns first_columns_value_and_grad { let mut s = 0.0; for k in 0..=x.ncols() { s = s * 0.5 + x.slice(s![.., ..k]).sum(); } s }
    corners corners_value_and_grad { let mut s = 0.0; for k in 0..x.nrows().min(x.ncols()) { s = s * 0.5 + x.slice(s![k.., k..]).sum(); } s }
    turned_corners turned_corners_value_and_grad { let mut s = 0.0; for k in 0..x.nrows().min(x.ncols()) { s = s * 0.5 + x.t().slice(s![k.., ..k]).sum(); } s }
    mapped mapped_value_and_grad { let mut s = 0.0; for k in 0..x.nrows() { s = s * 0.5 + x.slice(s![..k, ..]).mapv(|v| v * v).sum(); } s }
    mapped_columns mapped_columns_value_and_grad { let mut s = 0.0; for k in 0..=x.ncols() { s = s * 0.5 + x.slice(s![.., ..k]).mapv(|v| v * v).sum(); } s }
    turned turned_value_and_grad { let mut s = 0.0; for k in 0..=x.ncols() { s = s * 0.5 + x.slice(s![.., ..k]).t().sum(); } s }
    turned_mapped turned_mapped_value_and_grad { let mut s = 0.0; for k in 0..=x.ncols() { s = s * 0.5 + x.slice(s![.., ..k]).t().mapv(|v| v * v).sum(); } s }
    means means_value_and_grad { let mut s = 0.0; for k in 1..=x.ncols() { s = s * 0.5 + x.slice(s![.., ..k]).mean().unwrap(); } s }
    variance variance_value_and_grad { let mut s = 0.0; for k in 1..=x.ncols() { s = s * 0.5 + x.slice(s![.., ..k]).var(0.0) + x.slice(s![.., ..k]).std(0.0); } s }
    variance_of_rows variance_of_rows_value_and_grad { let mut s = 0.0; for k in 1..=x.nrows() { s = s * 0.5 + x.slice(s![..k, ..]).var(0.0); } s }
    variance_of_row variance_of_row_value_and_grad { let mut s = 0.0; for k in 1..=x.ncols() { s = s * 0.5 + x.row(0).slice(s![..k]).var(0.0); } s }
    summed summed_value_and_grad { let mut s = 0.0; for k in 0..=x.ncols() { s = s * 0.5 + sum(&x.slice(s![.., ..k])); } s }
    summed_row summed_row_value_and_grad { let mut s = 0.0; for k in 0..=x.ncols() { s = s * 0.5 + sum(&x.row(0).slice(s![..k])); } s }
    norms norms_value_and_grad { let mut s = 0.0; for k in 1..=x.ncols() { s = s * 0.5 + norm(&x.slice(s![.., ..k])) + norm(&x.row(0).slice(s![..k])); } s }
    products products_value_and_grad { let mut s = 0.0; for k in 0..=x.ncols() { s = s * 0.5 + product(&x.slice(s![.., ..k])) + x.row(0).slice(s![..k]).product(); } s }
    products_of_parts products_of_parts_value_and_grad { let mut s = 0.0; for k in 0..=x.ncols() { s = s * 0.5 + x.slice(s![.., ..k]).product(); } s }
    exponentials exponentials_value_and_grad { let mut s = 0.0; for k in 1..=x.ncols() { s = s * 0.5 + logsumexp(&x.slice(s![.., ..k])) + logsumexp(&x.row(0).slice(s![..k])); } s }
    weights weights_value_and_grad { let mut s = 0.0; for k in 1..=x.ncols() { s = s * 0.5 + softmax(&x.row(0).slice(s![..k]))[0] + softmax(&x.slice(s![.., ..k]))[[0, k - 1]]; } s }
    axes axes_value_and_grad { let mut s = 0.0; for k in 0..=x.ncols() { s = s * 0.5 + x.slice(s![.., ..k]).sum_axis(Axis(1)).sum() + x.slice(s![.., ..k]).sum_axis(Axis(0)).sum(); } s }
    axes_of_rows axes_of_rows_value_and_grad { let mut s = 0.0; for k in 0..=x.nrows() { s = s * 0.5 + x.slice(s![..k, ..]).sum_axis(Axis(1)).sum() + x.slice(s![..k, ..]).sum_axis(Axis(0)).sum(); } s }
    mean_axes mean_axes_value_and_grad { let mut s = 0.0; for k in 1..=x.ncols() { s = s * 0.5 + x.slice(s![.., ..k]).mean_axis(Axis(1)).unwrap().sum(); } s }
    outer_sums outer_sums_value_and_grad { let mut s = 0.0; for k in 1..=x.nrows() { s = s * 0.5 + sum_outer(&x.slice(s![..k, ..])).sum(); } s }
    matrix_products matrix_products_value_and_grad { let mut s = 0.0; for k in 0..=x.ncols() { s = s * 0.5 + x.slice(s![.., ..k]).dot(&x.slice(s![.., ..k]).t()).sum(); } s }
    matrix_products_of_rows matrix_products_of_rows_value_and_grad { let mut s = 0.0; for k in 0..=x.nrows() { s = s * 0.5 + x.slice(s![..k, ..]).dot(&x.slice(s![..k, ..]).t()).sum(); } s }
    matrix_products_whole matrix_products_whole_value_and_grad { let mut s = 0.0; for k in 0..=x.nrows() { s = s * 0.5 + x.slice(s![..k, ..]).dot(&x.t()).sum() + x.t().slice(s![.., ..k]).dot(&x.slice(s![..k, ..])).sum(); } s }
    matrix_product_of_one matrix_product_of_one_value_and_grad { let mut s = 0.0; for k in 0..=x.ncols() { s = s * 0.5 + x.slice(s![.., ..k]).dot(&x.slice(s![.., ..k]).t())[[0, 0]]; } s }
    folded folded_value_and_grad { let mut s = 0.0; for k in 0..=x.ncols() { s = s * 0.5 + x.slice(s![.., ..k]).fold(0.1, |a, v| a * 0.9 + v) + x.slice(s![.., ..k]).t().fold(0.1, |a, v| a * 0.9 + v); } s }
    folded_rows folded_rows_value_and_grad { let mut s = 0.0; for k in 0..=x.nrows() { s = s * 0.5 + x.t().slice(s![.., ..k]).fold(0.1, |a, v| a * 0.9 + v); } s }
    sums_of_sums sums_of_sums_value_and_grad { let mut s = 0.0; for k in 0..=x.nrows().min(x.ncols()) { s = s * 0.5 + (&x.slice(s![..k, ..k]) + &x.slice(s![..k, ..k]).t()).sum(); } s }
    built built_value_and_grad { let mut s = 0.0; for k in 0..=x.nrows().min(x.ncols()) { s = s * 0.5 + build([k, k], |[i, j]| x[[i, j]] * x[[j, i]]).sum(); } s }
    zipped zipped_value_and_grad { let mut s = 0.0; for k in 0..=x.ncols() { let y = x.t().to_owned(); s = s * 0.5 + Zip::from(&x.slice(s![.., ..k])).and(&y.t().slice(s![.., ..k])).map_collect(|a, b| a * b).sum(); } s }
    zipped_turned zipped_turned_value_and_grad { let mut s = 0.0; for k in 0..=x.ncols() { let y = x.t(); s = s * 0.5 + Zip::from(&y.slice(s![..k, ..])).and(&y.slice(s![..k, ..])).map_collect(|a, b| a * b).sum(); } s }
    both_turned both_turned_value_and_grad { let mut s = 0.0; for k in 0..=x.nrows() { let y = x.t(); s = s * 0.5 + (&y.slice(s![.., ..k]) * &y.slice(s![.., ..k])).sum() + (&y.slice(s![.., ..k]) + 1.0).sum(); } s }
    both_turned_whole both_turned_whole_value_and_grad { let mut s = 0.0; for k in 0..=x.ncols() { let y = x.t(); s = s * 0.5 + (&y.slice(s![..k, ..]) * &y.slice(s![..k, ..])).sum_axis(Axis(0)).sum(); } s }
    taken taken_value_and_grad { let mut s = 0.0; for k in 0..=x.ncols() { s = s * 0.5 + (x.slice(s![.., ..k]).to_owned() * 2.0 + &x.slice(s![.., ..k])).sum() + x.t().slice(s![..k, ..]).to_owned().sum(); } s }
    of_part of_part_value_and_grad { let mut s = 0.0; for k in 0..=x.nrows() { let y = x.slice(s![..k, ..]).mapv(|v| v * v); s = s * 0.5 + y.t().sum() + y.slice(s![.., ..1.min(x.ncols())]).sum() + y.t().mapv(|v| v + 1.0).sum(); } s }
    chosen chosen_value_and_grad { let mut s = 0.0; for k in 0..=x.nrows() { let y = if k % 2 == 0 { x.slice(s![..k, ..]).mapv(|v| v * v) } else { x.slice(s![..k, ..]).to_owned() }; s = s * 0.5 + y.sum(); } s }
    backwards backwards_value_and_grad { let mut s = 0.0; for k in 0..=x.nrows() { s = s * 0.5 + x.slice(s![..k;-1, ..]).sum() + x.slice(s![..k;-1, ..;-1]).sum() + x.slice(s![..k, ..;-1]).sum_axis(Axis(1)).sum(); } s }
    backwards_row backwards_row_value_and_grad { let mut s = 0.0; for k in 0..=x.ncols() { s = s * 0.5 + x.row(0).slice(s![..k;-1]).sum() + x.row(0).slice(s![..k;-1]).fold(0.1, |a, v| a * 0.9 + v) + x.slice(s![.., ..k;-1]).sum_axis(Axis(1)).sum(); } s }
    second second_value_and_grad { let mut s = 0.0; for k in 0..=x.ncols() { s = s * 0.5 + x.row(0).slice(s![..k;2]).sum() + x.slice(s![..;2, ..k]).sum() + x.slice(s![..;2, ..k]).product(); } s }
    changed changed_value_and_grad { let mut a = x.t().to_owned(); for k in 0..=x.nrows().min(x.ncols()) { a.slice_mut(s![..k, ..k]).mapv_inplace(|v| v * 0.9); } a.sum() }
    changed_part changed_part_value_and_grad { let mut s = 0.0; for k in 0..=x.nrows() { let mut a = x.slice(s![..k, ..]).to_owned(); a *= 0.3; a += &x.slice(s![..k, ..]); s = s * 0.5 + a.sum(); } s }
    vectors vectors_value_and_grad { let mut s = 0.0; for k in 0..=x.ncols() { s = s * 0.5 + x.slice(s![.., ..k]).dot(&x.row(0).slice(s![..k])).sum(); } s }
}

#[test]
fn parts_sliced_in_a_loop() {
    let (mut random, mut wrong) = (Random(11), Default::default());
    for n in [1, 2, 8, 17] {
        for m in [1, 3, 9, 19] {
            parts::all(&random.matrix(n, m), &mut wrong);
        }
    }
    assert!(wrong.is_empty(), "{wrong:#?}");
}

/// Each step has a decision on the sum of a part.
#[differentiate]
fn decided_in_steps(x: &[f64]) -> f64 {
    let v = Array1::from_vec(x.to_vec());
    let mut s = 0.0;
    for k in 0..v.len() {
        if v.slice(s![..k]).sum() > 0.5 {
            s = s * 0.5 + v[k];
        }
    }
    s
}

/// The numbers cancel, so the order in which they are added up decides.
#[test]
fn decisions_on_sums_of_parts_in_each_step() {
    for seed in 0..50_usize {
        let x: Vec<f64> = (0..60).map(|i| [1e16, 1.0, -1e16, 0.25][(seed + 7 * i + i * i / 5) % 4]).collect();
        let mut expected = vec![0.0; x.len()];
        for k in 0..x.len() {
            if ArrayView1::from(&x[..k]).sum() > 0.5 {
                expected.iter_mut().for_each(|e| *e *= 0.5);
                expected[k] += 1.0;
            }
        }
        assert_eq!(decided_in_steps_grad(&x), expected, "{seed}");
    }
}
