//! Each row of the table that creates an array, compared with the method of ndarray: the
//! declaration of the row is correct. These tests state no memory order themselves.

use std::collections::{BTreeMap, BTreeSet, HashSet};

use ad_core::ir::Term;
use ad_core::memory_order::{MethodOrder, ResultOrder};
use ndarray::{ArrayD, ArrayView1, ArrayView2, ArrayViewD, Axis, IxDyn, Slice, Zip, s};

use crate::model::{Model, Pair, axes, each};

/// The result of a method for a receiver.
enum Made<'a> {
    New(ArrayD<f64>),
    View(ArrayViewD<'a, f64>),
}

use Made::{New, View};

/// A method of ndarray. The number is the axis, if the method takes one. `None`: the receiver does
/// not have the method.
type Method = for<'a> fn(&'a Pair, usize) -> Option<Made<'a>>;

fn matrix(x: &Pair) -> Option<ArrayView2<'_, f64>> {
    x.view.view().into_dimensionality().ok()
}

fn vector(x: &Pair) -> Option<ArrayView1<'_, f64>> {
    x.view.view().into_dimensionality().ok()
}

fn part<'a>(elements: &'a [f64]) -> Option<Made<'a>> {
    Some(View(ArrayViewD::from_shape(IxDyn(&[elements.len()]), elements).ok()?))
}

/// Whether the order of an array of this shape is modelled.
fn plain(x: &Pair) -> bool {
    x.view.is_standard_layout()
}

/// Numbers in the layout of booleans.
fn numbers<'a>(x: ArrayD<bool>) -> Option<Made<'a>> {
    Some(New(x.mapv(|c| if c { 1.0 } else { 0.25 })))
}

/// Rows that create an array from the receiver only.
#[rustfmt::skip]
#[expect(deprecated, reason = "a row of the table")]
const METHODS: &[(&str, &str, Method)] = &[
    ("array", "powi", |x, _| Some(New(x.view.powi(2)))),
    ("array", "pow2", |x, _| Some(New(x.view.pow2()))),
    ("array", "log", |x, _| Some(New(x.view.log(2.5)))),
    ("array", "abs_sub", |x, _| Some(New(x.view.abs_sub(-0.25)))),
    ("array", "clamp", |x, _| Some(New(x.view.clamp(-0.5, 0.5)))),
    ("array", "is_nan", |x, _| numbers(x.view.is_nan())),
    ("array", "is_infinite", |x, _| numbers(x.view.is_infinite())),
    ("array", "mapv", |x, _| Some(New(x.view.mapv(|x| x * 1.5)))),
    ("array", "map", |x, _| Some(New(x.view.map(|x| x * 1.5)))),
    ("array", "mapv_into", |x, _| Some(New(x.owned.clone()?.mapv_into(|x| x * 1.5)))),
    ("array", "mapv_into_any", |x, _| Some(New(x.owned.clone()?.mapv_into_any(|x| x * 1.5)))),
    ("array", "sqrt", |x, _| Some(New(x.view.abs().sqrt()))),
    ("array", "powf", |x, _| Some(New(x.view.abs().powf(1.5)))),
    ("value", "to_owned", |x, _| Some(New(x.view.to_owned()))),
    ("value", "into_owned", |x, _| Some(New(x.view.view().into_owned()))),
    ("array", "dot", |x, _| matrix(x).map(|x| New(x.t().dot(&x).into_dyn()))),
    ("array", "t", |x, _| Some(View(x.view.t()))),
    ("array", "reversed_axes", |x, _| Some(View(x.view.view().reversed_axes()))),
    ("array", "permuted_axes", |x, _| {
        let rank = x.view.ndim();
        let order: Vec<usize> = (0..rank).map(|k| (k + 1) % rank).collect();
        Some(View(x.view.view().permuted_axes(order)))
    }),
    ("array", "into_dimensionality", |x, _| matrix(x).map(|x| View(x.into_dyn()))),
    ("array", "reborrow", |x, _| Some(View(x.view.view().reborrow()))),
    ("array", "diag", |x, _| Some(View(x.view.diag().into_dyn()))),
    ("array", "into_diag", |x, _| Some(View(x.view.view().into_diag().into_dyn()))),
    ("array", "slice_move", |x, _| vector(x).map(|x| View(x.slice_move(s![..;-2]).into_dyn()))),
    ("array", "split_first", |x, _| part(x.view.as_slice()?.split_first()?.1)),
    ("array", "split_last", |x, _| part(x.view.as_slice()?.split_last()?.1)),
    ("array", "broadcast", |x, _| {
        let shape: Vec<usize> = [9].iter().chain(x.view.shape()).copied().collect();
        Some(View(x.view.broadcast(shape)?))
    }),
    ("array", "as_standard_layout", |x, _| Some(New(x.view.as_standard_layout().into_owned()))),
    ("array", "flatten", |x, _| plain(x).then(|| New(x.view.flatten().into_owned().into_dyn()))),
    ("array", "into_flat", |x, _| plain(x).then_some(New(x.owned.clone()?.into_flat().into_dyn()))),
    ("array", "into_shape_with_order", |x, _| Some(View(x.view.view().into_shape_with_order(vec![x.view.len(), 1]).ok()?))),
    ("array", "into_shape_clone", |x, _| plain(x).then_some(New(x.owned.clone()?.into_shape_clone(vec![1, x.view.len()]).ok()?))),
    ("array", "into_shape", |x, _| Some(View(x.view.view().into_shape(vec![x.view.len()]).ok()?))),
    ("array", "to_shape", |x, _| plain(x).then_some(New(x.view.to_shape(vec![1, x.view.len()]).ok()?.into_owned()))),
    // For some layouts of three axes and more, ndarray's method recurses without end.
    ("array", "triu", |x, _| (x.view.ndim() < 3).then(|| New(x.view.triu(0)))),
    ("array", "tril", |x, _| (x.view.ndim() < 3).then(|| New(x.view.tril(1)))),
    ("ndarray", "arr0", |_, _| Some(New(ndarray::arr0(1.5).into_dyn()))),
    ("ndarray", "arr1", |x, _| Some(New(ndarray::arr1(x.view.as_slice()?).into_dyn()))),
    ("ndarray", "arr2", |_, _| Some(New(ndarray::arr2(&[[1.0, 2.0], [0.1, 4.0]]).into_dyn()))),
    ("ndarray", "arr3", |_, _| Some(New(ndarray::arr3(&[[[1.0, 2.0], [0.1, 4.0]]]).into_dyn()))),
    ("ndarray", "aview0", |_, _| Some(View(ndarray::aview0(&1.5).into_dyn()))),
    ("ndarray", "aview1", |x, _| Some(View(ndarray::aview1(x.view.as_slice()?).into_dyn()))),
    ("ndarray", "aview2", |_, _| Some(View(ndarray::aview2(&[[1.0, 2.0], [0.1, 4.0]]).into_dyn()))),
    ("ndarray", "kron", |x, _| matrix(x).map(|x| New(ndarray::linalg::kron(&x, &x).into_dyn()))),
    ("`Zip`", "map_collect", |x, _| Some(New(Zip::from(&x.view).map_collect(|x| x * 1.5)))),
];

/// Like the table above, with an axis.
#[rustfmt::skip]
const ALONG: &[(&str, &str, Method)] = &[
    ("array", "sum_axis", |x, k| Some(New(x.view.sum_axis(Axis(k))))),
    ("array", "mean_axis", |x, k| Some(New(x.view.mean_axis(Axis(k))?))),
    ("array", "product_axis", |x, k| Some(New(x.view.product_axis(Axis(k))))),
    ("array", "var_axis", |x, k| Some(New(x.view.var_axis(Axis(k), 0.0)))),
    ("array", "std_axis", |x, k| Some(New(x.view.std_axis(Axis(k), 0.0)))),
    ("array", "fold_axis", |x, k| Some(New(x.view.fold_axis(Axis(k), 0.5, |a, x| a * 0.5 + x)))),
    ("array", "map_axis", |x, k| Some(New(x.view.map_axis(Axis(k), |lane| lane.iter().fold(0.5, |a, x| a * 0.5 + x))))),
    ("array", "remove_axis", |x, k| Some(View(x.view.view().remove_axis(Axis(k))))),
    ("array", "row", |x, _| Some(View(matrix(x)?.index_axis_move(Axis(0), 0).into_dyn()))),
    ("array", "column", |x, _| Some(View(matrix(x)?.index_axis_move(Axis(1), 0).into_dyn()))),
    ("array", "index_axis", |x, k| Some(View(x.view.index_axis(Axis(k), 0)))),
    ("array", "index_axis_move", |x, k| Some(View(x.view.view().index_axis_move(Axis(k), 0)))),
    ("array", "slice", |x, _| (x.view.ndim() == 2).then(|| View(x.view.slice(s![..;2, ..;-1]).into_dyn()))),
    ("array", "slice_axis", |x, k| Some(View(x.view.slice_axis(Axis(k), Slice::new(0, None, 2))))),
    ("array", "split_at", |x, k| Some(View(x.view.view().split_at(Axis(k), 1).1))),
    ("array", "insert_axis", |x, k| Some(View(x.view.view().insert_axis(Axis(k))))),
    ("array", "select", |x, k| Some(New(x.view.select(Axis(k), &[0, 0, 0])))),
    ("ndarray", "stack", |x, k| Some(New(ndarray::stack(Axis(k), &[x.view.view(), x.view.view()]).ok()?))),
    ("ndarray", "concatenate", |x, k| Some(New(ndarray::concatenate(Axis(k), &[x.view.view(), x.view.view()]).ok()?))),
];

/// Every row that creates an array is tested here, except for the rows of the scalar tables, which
/// are one row of the emitter's.
#[test]
fn every_row_that_makes_an_array_is_tested() {
    let tested: BTreeSet<_> = METHODS.iter().chain(ALONG).map(|&(on, name, _)| (on, name)).collect();
    let mut missing = Vec::new();
    let mut rows = BTreeSet::new();
    for row in ad_oracle::documents::names() {
        let order =
            row.order.unwrap_or_else(|| panic!("`{}` of {} says nothing of the memory order", row.name, row.on));
        let of_ndarray =
            matches!(row.on, "array" | "ndarray" | "`Zip`") || matches!(row.name, "to_owned" | "into_owned");
        let elementwise = row.on == "array" && row.operands == Some(1) || row.operands == Some(2);
        rows.insert((row.on, row.name));
        let array = !matches!(order.result, ResultOrder::NoArray | ResultOrder::Given);
        if of_ndarray && array && !elementwise && !tested.contains(&(row.on, row.name)) {
            missing.push(format!("{} of {}", row.name, row.on));
        }
    }
    assert!(missing.is_empty(), "without a method of ndarray to compare with: {missing:?}");
    assert!(tested.is_subset(&rows), "{:?} are not rows", tested.difference(&rows));
}

/// The declared memory order of a row is that of ndarray, over all shapes and layouts.
#[test]
fn ndarray_does_what_the_rows_declare() {
    let orders: BTreeMap<_, _> =
        ad_oracle::documents::names().iter().filter_map(|r| Some(((r.on, r.name), r.order?))).collect();
    let mut compared: BTreeMap<&str, usize> = BTreeMap::new();
    let mut failed: BTreeMap<&str, String> = BTreeMap::new();
    each(|model, pair, what| {
        if pair.view.is_empty() {
            return;
        }
        let along = ALONG.iter().flat_map(|m| (0..pair.view.ndim()).map(move |k| (m, k)));
        for (&(on, name, method), k) in METHODS.iter().map(|m| (m, 0)).chain(along) {
            let Some(made) = method(&pair, k) else { continue };
            if failed.contains_key(name) {
                continue;
            }
            let order = orders[&(on, name)];
            let compare = || compare(model, &pair, order, k, made, &format!("{what}: `{name}`, axis {k}"));
            if std::panic::catch_unwind(std::panic::AssertUnwindSafe(compare)).is_err() {
                failed.insert(name, format!("{what}: `{name}` of axis {k} does not do {order:?}"));
            }
            *compared.entry(name).or_default() += 1;
        }
    });
    assert!(failed.is_empty(), "{failed:#?}");
    for (_, name, _) in METHODS.iter().chain(ALONG) {
        assert!(compared.get(name).is_some_and(|&n| n > 0), "`{name}` was compared with nothing");
    }
}

fn compare(model: &mut Model, pair: &Pair, order: MethodOrder, k: usize, made: Made<'_>, what: &str) {
    let real = match &made {
        New(x) => x.view(),
        View(x) => x.view(),
    };
    if order.result == ResultOrder::View {
        let of: HashSet<*const f64> = pair.view.iter().map(std::ptr::from_ref).collect();
        assert!(real.iter().all(|x| of.contains(&std::ptr::from_ref(x))), "{what}: it is not a view");
        return;
    }
    let (x, shape) = (pair.term, model.g.shape(pair.term).to_vec());
    // The model compares sizes as terms.
    let sizes: Option<Vec<Term>> = match order.result {
        ResultOrder::LikeReceiver | ResultOrder::InPlace | ResultOrder::Triangle | ResultOrder::Zip => Some(shape),
        ResultOrder::Broadcast => Some([model.g.lit_usize(9)].into_iter().chain(shape).collect()),
        ResultOrder::Lanes => Some(shape.iter().enumerate().filter(|&(n, _)| n != k).map(|(_, &n)| n).collect()),
        _ => None,
    };
    let t = model.input(&real);
    let t = sizes.map_or(t, |sizes| model.g.recast(t, &sizes));
    let t = match order.result {
        // `map_collect` computes the elements in its own order.
        ResultOrder::Zip => {
            let shape = model.g.shape(x).to_vec();
            let (order, _) = model.layouts().collected(&[x], &shape);
            model.layouts().with_order(t, order)
        }
        ResultOrder::Product => {
            let transposed = model.g.transpose(x, &axes([1, 0]));
            model.layouts().declared(order, (Some(transposed), Some(x)), None, t)
        }
        _ => model.layouts().declared(order, (Some(x), None), Some(k), t),
    };
    model.same_strides(&real, t, what);
    model.same_sum(&real, t, what);
}
