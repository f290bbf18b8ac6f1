//! Methods of ndarray that have another way out, one mistake each.

use ad::prelude::*;

#[differentiate]
fn map_mut(x: &Array2<f64>) -> f64 {
    x.map_mut(|v| *v).sum()
}

#[differentiate]
fn swap_axes(x: &Array2<f64>) -> f64 {
    { let mut x = x.view(); x.swap_axes(0, 1); x.sum() }
}

#[differentiate]
fn permute_axes(x: &Array2<f64>) -> f64 {
    x.permute_axes((1, 0)).sum()
}

#[differentiate]
fn reverse_axes(x: &Array2<f64>) -> f64 {
    { let mut x = x.view(); x.reverse_axes(); x.sum() }
}

#[differentiate]
fn invert_axis(x: &Array2<f64>) -> f64 {
    { let mut x = x.view(); x.invert_axis(Axis(0)); x.sum() }
}

#[differentiate]
fn slice_collapse(x: &Array2<f64>) -> f64 {
    x.slice_collapse(s![.., 0]).sum()
}

#[differentiate]
fn slice_axis_inplace(x: &Array2<f64>) -> f64 {
    let mut y = x.clone();
    y.slice_axis_inplace(Axis(0), (1..2).into());
    y.sum()
}

#[differentiate]
fn slice_each_axis(x: &Array2<f64>) -> f64 {
    x.slice_each_axis(|_| (0..1).into()).sum()
}

#[differentiate]
fn slice_each_axis_mut(x: &Array2<f64>) -> f64 {
    let mut y = x.clone();
    y.slice_each_axis_mut(|_| (0..1).into()).fill(0.0);
    y.sum()
}

#[differentiate]
fn slice_each_axis_inplace(x: &Array2<f64>) -> f64 {
    let mut y = x.clone();
    y.slice_each_axis_inplace(|_| (0..1).into());
    y.sum()
}

#[differentiate]
fn multi_slice_mut(x: &Array2<f64>) -> f64 {
    let mut y = x.clone();
    let (mut a, b) = y.multi_slice_mut((s![0, ..], s![1, ..]));
    a += &b;
    y.sum()
}

#[differentiate]
fn split_at(x: &Array2<f64>) -> f64 {
    let mut y = x.clone();
    let (mut a, b) = y.view_mut().split_at(Axis(0), 1);
    a += &b;
    y.sum()
}

#[differentiate]
fn collapse_axis(x: &Array2<f64>) -> f64 {
    x.collapse_axis(Axis(0), 1).sum()
}

#[differentiate]
fn merge_axes(x: &Array2<f64>) -> f64 {
    x.merge_axes(Axis(0), Axis(1)).sum()
}

#[differentiate]
fn accumulate_axis_inplace(x: &Array2<f64>) -> f64 {
    x.accumulate_axis_inplace(Axis(0), |a, b| *b += a).sum()
}

#[differentiate]
fn assign_to(x: &Array2<f64>) -> f64 {
    x.assign_to(x).sum()
}

#[differentiate]
fn push_row(x: &Array2<f64>) -> f64 {
    x.push_row(x.row(0)).sum()
}

#[differentiate]
fn push_column(x: &Array2<f64>) -> f64 {
    x.push_column(x.column(0)).sum()
}

#[differentiate]
fn append(x: &Array2<f64>) -> f64 {
    x.append(Axis(0), x.view()).sum()
}

#[differentiate]
fn for_each(x: &Array2<f64>) -> f64 {
    x.for_each(|v| v.sin()).sum()
}

#[differentiate]
fn par_iter(x: &Array2<f64>) -> f64 {
    x.par_iter().sum()
}

#[differentiate]
fn into_par_iter(x: &Array2<f64>) -> f64 {
    x.into_par_iter().sum()
}

#[differentiate]
fn par_mapv_inplace(x: &Array2<f64>) -> f64 {
    x.par_mapv_inplace(f64::sin).sum()
}

#[differentiate]
fn uget(x: &Array2<f64>) -> f64 {
    x.uget([0, 0]).sum()
}

#[differentiate]
fn partition(x: &Array2<f64>) -> f64 {
    x.partition(1, Axis(0)).sum()
}

#[differentiate]
fn into_dyn(x: &Array2<f64>) -> f64 {
    x.into_dyn().sum()
}

#[differentiate]
fn strides(x: &Array2<f64>) -> f64 {
    x.strides().sum()
}

#[differentiate]
fn is_standard_layout(x: &Array2<f64>) -> f64 {
    x.is_standard_layout().sum()
}

#[differentiate]
fn as_slice_memory_order(x: &Array2<f64>) -> f64 {
    x.as_slice_memory_order().sum()
}

#[differentiate]
fn as_ptr(x: &Array2<f64>) -> f64 {
    x.as_ptr().sum()
}

#[differentiate]
fn maximum_of(x: &Array2<f64>) -> f64 {
    x.max().sum()
}

#[differentiate]
fn minimum_of(x: &Array2<f64>) -> f64 {
    x.min().sum()
}

#[differentiate]
fn is_all_nan(x: &Array2<f64>) -> f64 {
    if x.is_all_nan() { 0.0 } else { x.sum() }
}

#[differentiate]
fn is_all_infinite(x: &Array2<f64>) -> f64 {
    if x.is_all_infinite() { 0.0 } else { x.sum() }
}

fn main() {}
