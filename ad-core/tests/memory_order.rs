//! Conformance of `ad_core::memory_order` with the installed ndarray: strides and bits of sums,
//! over shapes and layouts. Each test has the name of the function whose order it tests, so that a
//! change in ndarray fails the test of that name.

use std::convert::Infallible;

use ad_core::ir::{Contraction, Node, Term};
use ad_core::memory_order::{self, Arithmetic, Layouts, MemoryOrder};
use ad_core::prim::{Prim, Reduce};
use ndarray::{ArrayD, Axis, Ix1, Ix2, IxDyn, Zip};

#[path = "memory_order/model.rs"]
mod model;
#[path = "memory_order/rows.rs"]
mod rows;

use model::{Model, Pair, axes, each, each_two};

#[test]
fn ndarray_views_have_the_strides_of_their_terms() {
    each(|model, Pair { view, term, .. }, what| {
        model.same_strides(&view, term, what);
        assert_eq!(model.reals(term), view.iter().copied().collect::<Vec<_>>(), "{what}: the elements");
    });
}

#[test]
fn ndarray_sum_is_eight_lanes_along_memory() {
    each(|model, Pair { view, term, .. }, what| model.same_sum(&view, term, what));
}

#[test]
fn ndarray_sum_axis_is_eight_lanes_along_the_nearest_axis() {
    each(|model, Pair { view, term, .. }, what| model.same_sums_over_an_axis(&view, term, what));
}

#[test]
fn ndarray_fold_goes_along_memory() {
    each(|model, Pair { view, term, .. }, what| model.same_fold(&view, term, what));
}

#[test]
fn ndarray_iter_is_in_logical_order() {
    each(|model, Pair { view, term, .. }, what| {
        let sum = model.g.reduce(Reduce::InOrder, view.ndim(), term);
        assert_eq!(view.iter().sum::<f64>().to_bits(), model.reals(sum)[0].to_bits(), "{what}");
    });
}

#[test]
fn ndarray_product_is_eight_lanes_along_memory() {
    each(|model, Pair { view, term, .. }, what| {
        let (rank, shape) = (view.ndim(), view.shape().to_vec());
        let in_order = |me: &mut Layouts<'_>, t: Term, shape: &[usize]| {
            let mut product = me.g.lit_real(ad_core::ir::RealTy::F64, 1.0);
            for k in 0..shape.iter().product() {
                let mut rest = k;
                let mut index: Vec<Term> = shape
                    .iter()
                    .rev()
                    .map(|&n| {
                        let at = rest % n;
                        rest /= n;
                        me.g.lit_usize(at)
                    })
                    .collect();
                index.reverse();
                let x = me.g.index(t, &index);
                product = me.g.mul(product, x);
            }
            product
        };
        let mut layouts = model.layouts();
        let free = in_order(&mut layouts, term, &shape);
        let rows = |me: &mut Layouts<'_>| {
            let (outer, last) = shape.split_at(rank - 1);
            let sizes: Vec<Term> = me.g.shape(term)[..rank - 1].to_vec();
            let mut all = Vec::new();
            for k in 0..outer.iter().product() {
                let mut rest = k;
                let mut index: Vec<Term> = outer
                    .iter()
                    .rev()
                    .map(|&n| {
                        let at = rest % n;
                        rest /= n;
                        me.g.lit_usize(at)
                    })
                    .collect();
                index.reverse();
                let row = me.g.index(term, &index);
                all.push(in_order(me, row, last));
            }
            if all.is_empty() {
                all.push(me.g.lit_real(ad_core::ir::RealTy::F64, 1.0));
                let one = me.g.stack(&all);
                return Ok::<Term, Infallible>(me.g.reshape(one, &sizes));
            }
            let all = me.g.stack(&all);
            Ok(me.g.reshape(all, &sizes))
        };
        let of_rows = shape[..rank.saturating_sub(1)].to_vec();
        let Ok(exact) = memory_order::product(&mut layouts, (free, term), rows, |me, t| Ok(in_order(me, t, &of_rows)));
        if view.is_empty() {
            return;
        }
        let exact = exact.unwrap_or_else(|| model.g.reduce(Reduce::Factors, rank, term));
        assert_eq!(view.product().to_bits(), model.reals(exact)[0].to_bits(), "{what}");
    });
}

#[test]
fn ndarray_dot_is_eight_lanes_of_slices() {
    let mut count = 0;
    each_two(|model, [a, b], what| {
        let Ok(vector) = b.view.clone().into_dimensionality::<Ix1>() else { return };
        if a.view.ndim() > 2 {
            return;
        }
        // A matrix times a vector, and a vector times a matrix.
        for rows in (0..a.view.ndim()).rev() {
            if a.view.shape()[rows] != vector.len() {
                continue;
            }
            let real: Vec<f64> = match (a.view.clone().into_dimensionality::<Ix2>(), rows) {
                (Ok(matrix), 1) => matrix.dot(&vector).to_vec(),
                (Ok(matrix), _) => vector.dot(&matrix).to_vec(),
                _ => vec![a.view.clone().into_dimensionality::<Ix1>().expect("one axis").dot(&vector)],
            };
            let of: &[u8] = if a.view.ndim() == 2 { &[0, 1] } else { &[1] };
            let (out, inner): (Vec<u8>, u8) = (of.iter().copied().filter(|&l| l != of[rows]).collect(), of[rows]);
            let size = model.g.shape(a.term)[rows];
            let renamed = model.g.recast(b.term, &[size]);
            let spec = Contraction::new(of, [inner], out);
            let free = model.g.contract(a.term, renamed, spec);
            let dot = model.layouts().dot(free, (a.term, rows), b.term, true);
            let exact = model.exact(dot).expect("it has an order");
            let found: Vec<u64> = model.reals(exact).iter().map(|x| x.to_bits()).collect();
            assert_eq!(real.iter().map(|x| x.to_bits()).collect::<Vec<_>>(), found, "{what}");
            count += 1;
        }
    });
    assert!(count > 500, "only {count} products");
}

#[test]
fn ndarray_insert_axis_keeps_the_other_strides() {
    each(|model, Pair { view, term, .. }, what| {
        for k in 0..=view.ndim() {
            let wider = view.clone().insert_axis(Axis(k));
            let mut sizes = model.g.shape(term).to_vec();
            sizes.insert(k, model.g.lit_usize(1));
            let t = model.g.reshape(term, &sizes);
            let t = model.layouts().inserted_axes(term, t, &axes([k]), 1);
            let what = format!("{what}, new axis {k}");
            model.same_strides(&wider, t, &what);
            model.same_sum(&wider, t, &what);
            model.same_sums_over_an_axis(&wider, t, &what);
            model.same_fold(&wider, t, &what);
        }
    });
}

#[test]
fn ndarray_broadcast_has_stride_zero() {
    each(|model, Pair { view, term, .. }, what| {
        let mut shape = vec![9];
        shape.extend(view.shape());
        let wider = view.broadcast(IxDyn(&shape)).expect("it broadcasts");
        let nine = model.g.lit_usize(9);
        let t = model.g.replicate(nine, term);
        let t = model.layouts().broadcast(term, t);
        model.same_strides(&wider, t, what);
        model.same_sum(&wider, t, what);
        model.same_sums_over_an_axis(&wider, t, what);
        model.same_fold(&wider, t, what);
    });
}

#[test]
fn ndarray_to_owned_keeps_a_contiguous_order() {
    each(|model, Pair { view, term, .. }, what| {
        let t = model.layouts().copied(term);
        model.same_strides(&view.to_owned(), t, what);
        for (name, real) in [("mapv", view.mapv(|x| x * 1.5)), ("number", &view * 1.5), ("neg", -&view)] {
            let how = model.layouts().elementwise(term);
            let what = format!("{what} {name}");
            let t = model.input(&real);
            let t = how.map_or(t, |how| model.layouts().with_order(t, how.order));
            model.same_strides(&real, t, &what);
            model.same_sum(&real, t, &what);
            model.same_fold(&real, t, &what);
            // This is not modelled: a copy of a contiguous slice keeps the stride 0 of an axis of
            // one element, which is then the smallest.
            if !real.strides().iter().zip(real.shape()).any(|(&s, &n)| s == 0 && n == 1) {
                model.same_sums_over_an_axis(&real, t, &what);
            }
        }
    });
}

#[test]
fn ndarray_as_standard_layout_is_row_major() {
    each(|model, Pair { view, term, .. }, what| {
        let t = model.layouts().new_array(term);
        model.same_strides(&view.as_standard_layout().into_owned(), t, what);
    });
}

#[test]
fn ndarray_overwritten_operand_keeps_its_strides() {
    each(|model, Pair { owned, term, .. }, what| {
        let Some(mut real) = owned else { return };
        real.mapv_inplace(|x| x * 1.5);
        let t = model.input(&real);
        let t = model.layouts().written_over(term, t);
        model.same_strides(&real, t, what);
        model.same_sum(&real, t, what);
        let real = real.mapv_into(|x| x + 1.0);
        model.same_strides(&real, t, what);
        let mut assigned = real.clone();
        assigned.assign(&ArrayD::zeros(real.raw_dim()));
        model.same_strides(&assigned, t, what);
    });
}

#[test]
fn ndarray_add_of_two_references_is_zipped() {
    each_two(|model, [a, b], what| {
        let real = &a.view + &b.view;
        arithmetic(model, [&a, &b], [true, true], &real, &format!("{what}: two references"));
    });
}

#[test]
fn ndarray_add_to_a_value_overwrites_it() {
    each_two(|model, [a, b], what| {
        if let Some(x) = a.owned.clone() {
            arithmetic(model, [&a, &b], [false, true], &(x + &b.view), &format!("{what}: a value and a reference"));
        }
        if let Some(y) = b.owned.clone() {
            arithmetic(model, [&a, &b], [true, false], &(&a.view + y), &format!("{what}: a reference and a value"));
        }
        if let (Some(x), Some(y)) = (a.owned.clone(), b.owned.clone()) {
            arithmetic(model, [&a, &b], [false, false], &(x + y), &format!("{what}: two values"));
        }
    });
}

fn arithmetic(model: &mut Model, of: [&Pair; 2], by_reference: [bool; 2], real: &ArrayD<f64>, what: &str) {
    let of = of.map(|x| x.term);
    let longer = if model.g.rank(of[0]) >= model.g.rank(of[1]) { of[0] } else { of[1] };
    let shape = model.g.shape(longer).to_vec();
    let how = model.layouts().arithmetic(Arithmetic { of, by_reference }, &shape);
    // The sizes of the result are those of the operands.
    let t = model.input(real);
    let t = model.g.recast(t, &shape);
    let t = model.layouts().with_order(t, how.order);
    model.same_strides(real, t, what);
    model.same_sum(real, t, what);
    model.same_sums_over_an_axis(real, t, what);
    model.same_fold(real, t, what);
}

#[test]
fn ndarray_zip_collects_in_the_preferred_layout() {
    each_two(|model, [a, b], what| {
        if a.view.shape() != b.view.shape() {
            return;
        }
        let real = Zip::from(&a.view).and(&b.view).map_collect(|x, y| x * y);
        let shape = model.g.shape(a.term).to_vec();
        let (order, _) = model.layouts().collected(&[a.term, b.term], &shape);
        let t = model.input(&real);
        let t = model.g.recast(t, &shape);
        let t = model.layouts().with_order(t, order);
        model.same_strides(&real, t, what);
        model.same_sum(&real, t, what);
        model.same_sums_over_an_axis(&real, t, what);
        model.same_fold(&real, t, what);
    });
}

#[test]
fn ndarray_dot_of_two_column_major_matrices_is_column_major() {
    let mut count = 0;
    each_two(|model, [a, b], what| {
        let (Ok(x), Ok(y)) = (a.view.clone().into_dimensionality::<Ix2>(), b.view.clone().into_dimensionality::<Ix2>())
        else {
            return;
        };
        if x.ncols() != y.nrows() {
            return;
        }
        let real = x.dot(&y).into_dyn();
        let shape = [model.g.shape(a.term)[0], model.g.shape(b.term)[1]];
        let t = model.input(&real);
        let t = model.g.recast(t, &shape);
        let t = model.layouts().matrix_product(t, [a.term, b.term]);
        model.same_strides(&real, t, what);
        model.same_sum(&real, t, what);
        model.same_fold(&real, t, what);
        count += 1;
    });
    assert!(count > 500, "only {count} products");
}

#[test]
fn ndarray_sum_axis_layout() {
    each(|model, Pair { view, term, .. }, what| {
        for k in (0..view.ndim()).filter(|_| !view.is_empty()) {
            let real = view.sum_axis(Axis(k));
            lanes(model, term, k, &real, true, &format!("{what}: sum_axis {k}"));
        }
    });
}

#[test]
fn ndarray_map_axis_layout() {
    each(|model, Pair { view, term, .. }, what| {
        for k in (0..view.ndim()).filter(|_| !view.is_empty()) {
            let real = view.map_axis(Axis(k), |lane| lane.iter().fold(0.5, |a, x| a * 0.5 + x));
            lanes(model, term, k, &real, false, &format!("{what}: map_axis {k}"));
        }
    });
}

fn lanes(model: &mut Model, term: Term, k: usize, real: &ArrayD<f64>, nearest: bool, what: &str) {
    let mut shape = model.g.shape(term).to_vec();
    shape.remove(k);
    let t = model.input(real);
    let t = model.g.recast(t, &shape);
    let t = model.layouts().lanes(term, k, t, nearest);
    model.same_strides(real, t, what);
    model.same_sum(real, t, what);
    model.same_sums_over_an_axis(real, t, what);
    model.same_fold(real, t, what);
}

#[test]
fn ndarray_concatenate_has_its_axis_outermost() {
    each(|model, Pair { view, .. }, what| {
        for k in 0..view.ndim() {
            let real = ndarray::concatenate(Axis(k), &[view.view(), view.view()]).expect("they fit");
            model.made(&real, &format!("{what}: concatenated along {k}"), |me, t| me.layouts().joined(t, k));
        }
        for k in 0..=view.ndim() {
            let real = ndarray::stack(Axis(k), &[view.view(), view.view()]).expect("they fit");
            model.made(&real, &format!("{what}: stacked along {k}"), |me, t| me.layouts().joined(t, k));
        }
    });
}

/// An unknown memory order is reported as such, and is marked where the array is summed.
#[test]
fn unknown_orders_are_marked() {
    let mut model = Model::new();
    let Pair { term, .. } = model.pair(&[3, 4], &[]).expect("an array");
    assert!(!model.layouts().is_unknown(term));
    let t = model.layouts().with_unknown_order(term);
    assert!(model.layouts().is_unknown(t) && model.layouts().of(t) == MemoryOrder::unknown());
    assert!(!model.known.any_unknown());
    let free = model.g.sum_all(t);
    let sum = model.layouts().sum(free, t);
    let exact = model.exact(sum).expect("it has an order");
    assert!(matches!(model.g.node(exact), Node::Prim(Prim::UnknownOrder, _)) && model.known.any_unknown());
}
