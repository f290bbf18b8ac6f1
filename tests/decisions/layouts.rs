//! Sums of arrays with a memory order other than the standard one: products, broadcasts, and arrays
//! that are changed in parts, carried, selected or joined.

use super::{Random, flips};
use ad::prelude::*;

programs! { matrices: f64, x: &Array2<f64>;
    product product_value_and_grad { let y = x.mapv(|v| v * 0.3 + 0.1); x.dot(&y.t()).sum() }
    product_turned product_turned_value_and_grad { let y = x.mapv(|v| v * 0.3 + 0.1); x.dot(&y.t()).t().sum() }
    product_of_turned product_of_turned_value_and_grad { let y = x.mapv(|v| v * 0.3 + 0.1); x.t().dot(&y.sum_axis(Axis(1)).insert_axis(Axis(1))).sum() }
    both_turned both_turned_value_and_grad { let y = build([x.ncols(), x.nrows()], |[i, j]| x[[j, i]] * 0.3 + 0.1); x.t().dot(&y.t()).sum() }
    both_turned_back both_turned_back_value_and_grad { let y = build([x.ncols(), x.nrows()], |[i, j]| x[[j, i]] * 0.3 + 0.1); x.t().dot(&y.t()).t().sum() }
    both_turned_mapped both_turned_mapped_value_and_grad { let y = build([x.ncols(), x.nrows()], |[i, j]| x[[j, i]] * 0.3 + 0.1); x.t().dot(&y.t()).mapv(|v| v - 0.1).sum() }
    both_turned_and_more both_turned_and_more_value_and_grad {
        let y = build([x.ncols(), x.nrows()], |[i, j]| x[[j, i]] * 0.3 + 0.1);
        let a = x.t().dot(&y.t());
        let b = y.dot(x);
        (&a - &b).sum() + (&a + &a.mapv(|v| v * v)).sum()
    }
    both_turned_plus_product both_turned_plus_product_value_and_grad {
        let y = build([x.ncols(), x.nrows()], |[i, j]| x[[j, i]] * 0.3 + 0.1);
        (x.t().dot(&y.t()) + y.dot(x).mapv(|v| v * 0.9)).sum()
    }
    product_mapped product_mapped_value_and_grad { let y = x.mapv(|v| v * 0.3 + 0.1); x.dot(&y.t()).mapv(|v| v - 0.1).sum() }
    product_plus_row product_plus_row_value_and_grad {
        let y = x.mapv(|v| v * 0.3 + 0.1);
        if x.ncols() > 0 { (x.dot(&y.t()) + &x.column(0)).sum() } else { 0.0 }
    }
    product_fold product_fold_value_and_grad { let y = x.mapv(|v| v * 0.3 + 0.1); x.dot(&y.t()).t().fold(0.5, |a, v| a * 0.5 + v) }
    product_product product_product_value_and_grad { let y = x.mapv(|v| v * 0.3 + 0.6); x.dot(&y.t()).product() }
    product_rows product_rows_value_and_grad { let y = x.mapv(|v| v * 0.3 + 0.6); x.dot(&y.t()).sum_axis(Axis(1)).fold(0.5, |a, v| a * 0.5 + v) }
    product_columns product_columns_value_and_grad { let y = x.mapv(|v| v * 0.3 + 0.6); x.dot(&y.t()).sum_axis(Axis(0)).fold(0.5, |a, v| a * 0.5 + v) }
    product_var product_var_value_and_grad { let y = x.mapv(|v| v * 0.3 + 0.6); if x.nrows() > 0 { x.dot(&y.t()).var(0.0) } else { 0.0 } }
    product_times_vector product_times_vector_value_and_grad {
        let y = x.mapv(|v| v * 0.3 + 0.1);
        x.dot(&y.t()).t().dot(&x.sum_axis(Axis(1))).fold(0.5, |a, v| a * 0.5 + v)
    }
    two_products_one_term two_products_one_term_value_and_grad {
        let y = x.mapv(|v| v * 0.3 + 0.1);
        let (a, b) = (x.t().dot(&y), y.t().dot(x));
        a.t().sum() + b.sum()
    }
    two_products_the_other_way two_products_the_other_way_value_and_grad {
        let y = x.mapv(|v| v * 0.3 + 0.1);
        let (a, b) = (y.t().dot(x), x.t().dot(&y));
        a.sum() - b.t().sum()
    }
    spread_rows spread_rows_value_and_grad { if x.nrows() > 0 { x.row(0).broadcast((3, x.ncols())).unwrap().sum() } else { 0.0 } }
    spread_columns spread_columns_value_and_grad { if x.nrows() > 0 { x.row(0).broadcast((9, x.ncols())).unwrap().t().sum() } else { 0.0 } }
    spread_number spread_number_value_and_grad { if x.nrows() > 0 { x.row(0).slice(s![..1.min(x.ncols())]).insert_axis(Axis(1)).broadcast((1.min(x.ncols()), 11)).unwrap().sum() } else { 0.0 } }
    spread_mapped spread_mapped_value_and_grad { if x.nrows() > 0 { x.row(0).broadcast((9, x.ncols())).unwrap().mapv(|v| v * 1.5).sum() } else { 0.0 } }
    spread_turned_mapped spread_turned_mapped_value_and_grad { if x.nrows() > 0 { x.row(0).broadcast((9, x.ncols())).unwrap().t().mapv(|v| v * 1.5).sum() } else { 0.0 } }
    spread_axis spread_axis_value_and_grad { if x.nrows() > 0 { x.row(0).broadcast((9, x.ncols())).unwrap().sum_axis(Axis(0)).fold(0.5, |a, v| a * 0.5 + v) } else { 0.0 } }
    spread_inner spread_inner_value_and_grad { if x.nrows() > 0 { x.row(0).broadcast((9, x.ncols())).unwrap().sum_axis(Axis(1)).fold(0.5, |a, v| a * 0.5 + v) } else { 0.0 } }
    spread_product spread_product_value_and_grad { if x.nrows() > 0 { x.row(0).broadcast((3, x.ncols())).unwrap().product() } else { 0.0 } }
    spread_fold spread_fold_value_and_grad { if x.nrows() > 0 { x.row(0).broadcast((3, x.ncols())).unwrap().fold(0.5, |a, v| a * 0.5 + v) } else { 0.0 } }
    spread_dot spread_dot_value_and_grad { if x.nrows() > 0 { x.t().dot(&x.row(0).broadcast((x.nrows(), x.ncols())).unwrap()).sum() } else { 0.0 } }
    spread_and_matrix spread_and_matrix_value_and_grad { if x.nrows() > 0 { (&x.row(0).broadcast((x.nrows(), x.ncols())).unwrap() * &x.t().to_owned().t()).sum() } else { 0.0 } }
    changed_element changed_element_value_and_grad {
        let mut a = x.t().to_owned();
        if a.nrows() > 0 && a.ncols() > 1 { a[[0, 1]] = 0.3; }
        a.sum()
    }
    changed_row changed_row_value_and_grad {
        let mut a = x.t().to_owned();
        if a.nrows() > 1 { a.row_mut(1).fill(0.3); }
        a.sum()
    }
    changed_in_a_loop changed_in_a_loop_value_and_grad {
        let mut a = x.t().mapv(|v| v * 0.5);
        for i in 0..a.nrows() { for j in 0..a.ncols() { a[[i, j]] += a[[i, 0]] * 0.3; } }
        a.sum()
    }
    changed_in_place changed_in_place_value_and_grad {
        let mut a = x.t().to_owned();
        a.mapv_inplace(|v| v * 0.7);
        a += 0.1;
        a *= &x.t();
        a.sum()
    }
    assigned assigned_value_and_grad {
        let mut a = Array2::zeros((x.ncols(), x.nrows()));
        a.assign(&x.t());
        a.sum()
    }
    assigned_part assigned_part_value_and_grad {
        let mut a = x.t().to_owned();
        if a.nrows() > 2 { a.slice_mut(s![1..2, ..]).assign(&x.t().slice(s![..1, ..])); }
        a.sum()
    }
    carried carried_value_and_grad {
        let mut a = x.t().to_owned();
        for _ in 0..3 { a = a.mapv(|v| v * 0.7 + 0.1); }
        a.sum()
    }
    carried_sums carried_sums_value_and_grad {
        let (mut a, mut s) = (x.t().to_owned(), 0.3);
        for _ in 0..3 { s = s * 0.5 + a.sum(); a = &a * 0.7; }
        s
    }
    carried_products carried_products_value_and_grad {
        let b = x.t().dot(x);
        let mut a = b.clone();
        for _ in 0..2 { a = a.dot(&b) * 0.1; }
        a.sum()
    }
    turned_at_the_end turned_at_the_end_value_and_grad {
        let mut a = x.clone();
        for _ in 0..3 { a = &a * 0.9; }
        a.t().sum()
    }
    other_every_step other_every_step_value_and_grad {
        let y = x.mapv(|v| v * 0.3 + 0.1);
        let (mut a, mut s) = (x.dot(&y.t()), 0.0);
        for _ in 0..3 { a = a.t().mapv(|v| v * 0.3); s = s * 0.5 + a.sum(); }
        s
    }
    other_behind other_behind_value_and_grad {
        let y = x.mapv(|v| v * 0.3 + 0.1);
        let mut a = x.dot(&y.t());
        for k in 0..x.nrows() { if a.sum() > k as f64 { a = (a.t().to_owned()) * 0.7; } }
        a.sum()
    }
    other_first other_first_value_and_grad {
        let y = x.dot(&x.t());
        let (mut a, mut s) = (y.t().mapv(|v| v * 0.3), 0.0);
        a[[0, 0]] = 0.7;
        if x.nrows() > 1 { a[[0, 1]] = 0.3; }
        for i in 0..x.nrows() {
            s = s * 0.5 + a.sum() + a.row(i).sum();
            a = a.t().dot(&y) * 0.5;
            a.slice_mut(s![i, i..]).mapv_inplace(|v| v * 1.1);
        }
        s
    }
    chosen chosen_value_and_grad {
        let a = if x.len() > 8 { x.t().to_owned() } else { x.t().mapv(|v| v * 0.3) };
        a.sum()
    }
    chosen_orders chosen_orders_value_and_grad {
        let y = build([x.ncols(), x.nrows()], |[i, j]| x[[j, i]] * 0.3 + 0.1);
        let a = if x.len() % 2 == 0 { x.t().to_owned() } else { y };
        a.sum() + a.mapv(|v| v + 0.2).sum()
    }
    assigned_in_an_arm assigned_in_an_arm_value_and_grad {
        let mut a = build([x.ncols(), x.nrows()], |[i, j]| x[[j, i]] * 0.3 + 0.1);
        if x.len() > 8 { a = x.t().to_owned(); }
        a.sum()
    }
    joined joined_value_and_grad { concatenate(Axis(0), &[x.t(), x.t()]).unwrap().sum() }
    joined_inside joined_inside_value_and_grad { concatenate(Axis(1), &[x.view(), x.view()]).unwrap().sum() }
    joined_turned joined_turned_value_and_grad { concatenate(Axis(1), &[x.t(), x.t()]).unwrap().sum() }
    joined_mapped joined_mapped_value_and_grad { concatenate(Axis(1), &[x.view(), x.view()]).unwrap().mapv(|v| v * 0.3).sum() }
    joined_copies joined_copies_value_and_grad { let a = x.t().to_owned(); concatenate![Axis(0), a, a.mapv(|v| v + 0.1)].sum() }
    stacked stacked_value_and_grad { ndarray::stack(Axis(1), &[x.t(), x.t()]).unwrap().sum() }
    stacked_last stacked_last_value_and_grad { ndarray::stack(Axis(2), &[x.view(), x.view()]).unwrap().sum() }
    stacked_first stacked_first_value_and_grad { ndarray::stack(Axis(0), &[x.t(), x.t()]).unwrap().sum() }
    stacked_rows stacked_rows_value_and_grad { if x.nrows() > 1 { ndarray::stack(Axis(1), &[x.row(0), x.row(1)]).unwrap().sum() } else { 0.0 } }
    some_columns some_columns_value_and_grad { x.slice(s![.., ..4.min(x.ncols())]).t().mapv(|v| v * 1.5).sum() }
    some_columns_owned some_columns_owned_value_and_grad { x.slice(s![.., ..4.min(x.ncols())]).t().to_owned().sum() }
    some_columns_twice some_columns_twice_value_and_grad { let a = x.slice(s![.., ..4.min(x.ncols())]); (&a.t() * &a.t()).sum() }
    rows_of_turned rows_of_turned_value_and_grad { x.t().slice(s![..4.min(x.ncols()), ..]).mapv(|v| v * 1.5).sum() }
    moved moved_value_and_grad { x.clone().slice_move(s![.., ..;2]).mapv_into(|v| v * 1.5).sum() }
    moved_plus moved_plus_value_and_grad { (x.t().to_owned().slice_move(s![1.min(x.ncols()).., ..]) + 0.1).sum() }
    selected selected_value_and_grad { x.t().select(Axis(0), &[0, 0]).sum() }
    selected_inside selected_inside_value_and_grad { if x.ncols() > 1 { x.select(Axis(1), &[1, 0]).sum() } else { 0.0 } }
    negated negated_value_and_grad { (-x.clone().slice_move(s![.., ..;2])).sum() }
    negated_view negated_view_value_and_grad { (-&x.t().slice(s![.., ..;2])).sum() }
    outer outer_value_and_grad {
        let (u, v) = (x.sum_axis(Axis(1)), x.sum_axis(Axis(0)));
        u.view().insert_axis(Axis(1)).dot(&v.view().insert_axis(Axis(0))).sum()
    }
    outer_new outer_new_value_and_grad {
        let (u, v) = (x.sum_axis(Axis(1)), x.sum_axis(Axis(0)));
        u.slice(s![.., ndarray::NewAxis]).dot(&v.slice(s![ndarray::NewAxis, ..])).sum()
    }
    axis_of_turned axis_of_turned_value_and_grad { x.t().insert_axis(Axis(1)).mapv(|v| v * 1.5).sum() }
    reshaped reshaped_value_and_grad { x.t().to_owned().into_shape_clone(x.len()).unwrap().fold(0.5, |a, v| a * 0.5 + v) }
    copied_back copied_back_value_and_grad { x.t().to_owned().reversed_axes().sum() }
    standard standard_value_and_grad { x.t().as_standard_layout().sum() }
    turned_map_axis turned_map_axis_value_and_grad { x.t().map_axis(Axis(0), |c| c.sum()).sum() }
}

#[test]
fn matrices_with_explicit_memory_orders() {
    let (mut random, mut wrong) = (Random(7), Default::default());
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
    turned_together turned_together_value_and_grad { let y = x.view().permuted_axes([2, 0, 1]); (&y + &y).sum() }
    turned_otherwise turned_otherwise_value_and_grad { let y = x.view().permuted_axes([1, 2, 0]); (&y + &y.mapv(|v| v * v)).sum() }
    middle_turned middle_turned_value_and_grad { let y = x.view().permuted_axes([0, 2, 1]); (&y * &y).sum() }
    one_turned one_turned_value_and_grad {
        let y = build([x.dim().2, x.dim().1, x.dim().0], |[i, j, k]| x[[k, j, i]] * 0.3);
        (&x.t() * &y).sum() + (&y * &x.t()).sum()
    }
    zipped zipped_value_and_grad { let y = x.view().permuted_axes([2, 0, 1]); Zip::from(&y).and(&y).map_collect(|a, b| a * b + 0.1).sum() }
    zipped_three zipped_three_value_and_grad {
        let y = build([x.dim().2, x.dim().1, x.dim().0], |[i, j, k]| x[[k, j, i]] * 0.3);
        Zip::from(&x.t()).and(&y).and(&x.t()).map_collect(|a, b, c| a * b + c).sum()
    }
    part_together part_together_value_and_grad { let y = x.slice(s![.., .., ..3.min(x.dim().2)]); (&y.t() * &y.t()).sum() }
}

#[test]
fn arrays_of_three_axes_with_explicit_memory_orders() {
    let (mut random, mut wrong) = (Random(8), Default::default());
    for n in [1, 2, 5] {
        for m in [1, 2, 5] {
            for k in [1, 3, 9] {
                for _ in 0..3 {
                    three_axes::all(&Array3::from_shape_fn((n, m, k), |_| random.next()), &mut wrong);
                }
            }
        }
    }
    assert!(wrong.is_empty(), "{wrong:#?}");
}
