//! Conformance of `ad_core::memory_order` with the ndarray that is installed: strides and bits of sums, over shapes and layouts.
//! Each test has the name of the function whose order it holds, so that an ndarray that does otherwise fails by that name.

use std::convert::Infallible;

use ad_core::ir::interp::{Data, Interp, Value};
use ad_core::ir::{Contraction, Elem, Graph, Node, Term};
use ad_core::memory_order::{self, Arithmetic, Known, Layouts, MemoryOrder};
use ad_core::prim::{IntOp, Prim, Reduce};
use ndarray::{ArrayBase, ArrayD, ArrayViewD, Axis, Data as Stored, Ix1, Ix2, IxDyn, RawData, Slice, Zip};

/// Shapes of rank 1 to 4: empty, of one element along an axis, shorter and longer than eight and sixteen elements.
#[rustfmt::skip]
const SHAPES: &[&[usize]] = &[
    &[0], &[1], &[7], &[8], &[19], &[35],
    &[0, 3], &[3, 0], &[1, 1], &[1, 5], &[5, 1], &[2, 3], &[9, 5], &[4, 17],
    &[2, 3, 4], &[1, 3, 9], &[3, 1, 2], &[2, 9, 1], &[0, 2, 3], &[3, 4, 11],
    &[2, 3, 2, 5], &[2, 1, 3, 9],
];

/// How an array shows the elements of another.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum View {
    Transposed,
    /// The last axis becomes the first one.
    Rotated,
    Backwards,
    FirstBackwards,
    LastBackwards,
    /// Every second element along the first axis.
    FirstStrided,
    LastStrided,
    /// The elements from the second one on, along the first axis.
    Tail,
    /// The last row.
    Row,
    /// The last column.
    Column,
    Diagonal,
    /// Three times along a new first axis.
    Repeated,
    /// Along a new last axis of one element.
    Inserted,
    /// A copy.
    Owned,
}

use View::*;

/// The layouts of operands: views of views of an array in standard layout.
#[rustfmt::skip]
const VIEWS: &[&[View]] = &[
    &[], &[Transposed], &[Rotated], &[Backwards], &[FirstBackwards], &[LastBackwards], &[FirstStrided], &[LastStrided],
    &[Tail], &[Row], &[Column], &[Diagonal], &[Repeated], &[Inserted],
    &[Transposed, Backwards], &[Transposed, LastStrided], &[FirstStrided, Transposed], &[LastStrided, Rotated],
    &[Rotated, LastBackwards], &[Repeated, Transposed], &[Repeated, Rotated], &[Repeated, LastBackwards],
    &[Transposed, Inserted], &[Inserted, Transposed], &[Transposed, Tail], &[Tail, LastStrided],
    &[Transposed, Owned], &[Rotated, Owned], &[Backwards, Owned], &[LastStrided, Owned], &[Repeated, Owned],
    &[Transposed, Owned, Row], &[Transposed, Owned, LastStrided], &[Rotated, LastBackwards, Owned, Transposed],
    &[LastStrided, LastBackwards], &[FirstStrided, FirstStrided],
];

/// An array of ndarray, and its term.
#[derive(Clone)]
struct Pair {
    /// Where an array can own its elements in that layout.
    owned: Option<ArrayD<f64>>,
    view: ArrayViewD<'static, f64>,
    term: Term,
}

/// A graph with memory orders and values of its inputs.
struct Model {
    g: Graph,
    known: Known,
    inputs: Vec<Value>,
    random: u64,
}

impl Model {
    fn new() -> Self {
        Model { g: Graph::new(), known: Known::default(), inputs: Vec::new(), random: 1 }
    }

    fn layouts(&mut self) -> Layouts<'_> {
        Layouts { g: &mut self.g, known: &mut self.known }
    }

    /// A number; the sum of several depends on the order of the additions.
    fn number(&mut self) -> f64 {
        self.random = self.random.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        let x = (self.random >> 11) as f64 / (1_u64 << 53) as f64;
        (x * 2.0 - 0.7) * [1.0, 0.01, 3.0, 7.0][(self.random >> 5) as usize % 4]
    }

    /// An input of these elements: to the model, in standard layout.
    fn input<S: Stored<Elem = f64>>(&mut self, x: &ArrayBase<S, IxDyn>) -> Term {
        let t = self.g.add_input(Elem::F64, x.ndim().try_into().expect("a small rank"));
        self.inputs.push(Value::reals(x.shape(), &x.iter().copied().collect::<Vec<_>>()));
        t
    }

    /// A new array, shown by these views; `None` where it has too few axes.
    fn pair(&mut self, shape: &[usize], views: &[View]) -> Option<Pair> {
        let real = ArrayD::from_shape_simple_fn(shape, || self.number());
        let term = self.input(&real);
        let pair = Pair { view: leaked(&real), owned: Some(real), term };
        views.iter().try_fold(pair, |pair, &view| self.viewed(pair, view))
    }

    fn viewed(&mut self, Pair { owned, view, term }: Pair, how: View) -> Option<Pair> {
        let rank = view.ndim();
        if view.is_empty() && matches!(how, Row | Column | Diagonal | Tail) || rank < 2 && matches!(how, Row | Column) {
            return None;
        }
        let shape = self.g.shape(term).to_vec();
        let (zero, one, two) = (self.g.lit_usize(0), self.g.lit_usize(1), self.g.lit_usize(2));
        let last = |me: &mut Self, k: usize| me.g.int(IntOp::Sub, shape[k], one);
        let (mut starts, mut steps, mut sizes) = (vec![zero; rank], vec![1; rank], shape.clone());
        let term = match how {
            Owned => {
                let copy = view.to_owned();
                return Some(Pair { view: leaked(&copy), owned: Some(copy), term: self.layouts().copied(term) });
            }
            Repeated => {
                let mut wider = vec![3];
                wider.extend(view.shape());
                let three = self.g.lit_usize(3);
                let repeated = self.g.replicate(three, term);
                let term = self.layouts().broadcast(term, repeated);
                let view = Box::leak(Box::new(view)).broadcast(IxDyn(&wider)).expect("it broadcasts");
                return Some(Pair { owned: None, view, term });
            }
            Inserted => {
                let wider: Vec<Term> = shape.iter().copied().chain([one]).collect();
                let wider = self.g.reshape(term, &wider);
                self.layouts().inserted_axes(term, wider, &[rank.try_into().expect("a small rank")], 1)
            }
            Transposed => self.g.transpose(term, &axes((0..rank).rev())),
            Rotated => self.g.transpose(term, &axes((0..rank).map(|k| (k + rank - 1) % rank))),
            Row => {
                let at = last(self, 0);
                self.g.index(term, &[at])
            }
            Column => {
                let at = last(self, rank - 1);
                let first = self.g.transpose(term, &axes((0..rank).map(|k| (k + rank - 1) % rank)));
                self.g.index(first, &[at])
            }
            Diagonal => {
                let size = shape[1..].iter().fold(shape[0], |n, &m| self.g.int(IntOp::Min, n, m));
                let var = self.g.fresh();
                let i = self.g.mk(Node::Var(var));
                let index = vec![i; rank].into();
                self.g.mk(Node::Gather { src: term, sizes: [size].into(), vars: [var].into(), index })
            }
            Backwards | FirstBackwards | LastBackwards => {
                for k in turned(how, rank) {
                    (starts[k], steps[k]) = (last(self, k), -1);
                }
                self.g.slice(term, &starts, &steps, &sizes)
            }
            FirstStrided | LastStrided => {
                let k = if how == FirstStrided { 0 } else { rank - 1 };
                let more = self.g.int(IntOp::Add, shape[k], one);
                (steps[k], sizes[k]) = (2, self.g.int(IntOp::Div, more, two));
                self.g.slice(term, &starts, &steps, &sizes)
            }
            Tail => {
                (starts[0], sizes[0]) = (one, last(self, 0));
                self.g.slice(term, &starts, &steps, &sizes)
            }
        };
        Some(Pair { owned: owned.map(|x| shown(x, how)), view: shown(view, how), term })
    }

    fn value(&self, t: Term) -> Value {
        Interp::new(&self.g, &self.inputs).eval(t).expect("the term has a value")
    }

    fn reals(&self, t: Term) -> Vec<f64> {
        self.value(t).values()
    }

    fn integer(&self, t: Term) -> isize {
        match &self.value(t).as_array().expect("an array").data {
            Data::Int(xs) => xs[0].try_into().expect("a small number"),
            other => panic!("{other:?} is no integer"),
        }
    }

    fn holds(&self, t: Term) -> bool {
        match &self.value(t).as_array().expect("an array").data {
            Data::Bool(xs) => xs[0],
            other => panic!("{other:?} is no boolean"),
        }
    }

    /// The strides that the model says a term has.
    fn strides(&mut self, t: Term) -> Vec<isize> {
        let order = self.layouts().of(t);
        let shape = self.g.shape(t).to_vec();
        let (_, axes) = order.cases().iter().find(|&&(c, _)| self.holds(c)).expect("the last condition holds").clone();
        let distances = self.layouts().distances(&shape, &axes);
        distances
            .iter()
            .zip(&*axes)
            .map(|(&n, a)| self.integer(n) * isize::try_from(a.step.signum()).unwrap_or(0))
            .collect()
    }

    /// The strides of ndarray and of the model are the same, where there is more than one element along an axis.
    fn same_strides<S: RawData>(&mut self, real: &ArrayBase<S, IxDyn>, t: Term, what: &str) {
        if real.is_empty() {
            return;
        }
        let long = |strides: &[isize]| -> Vec<isize> {
            strides.iter().zip(real.shape()).filter(|&(_, &n)| n > 1).map(|(&s, _)| s).collect()
        };
        let model = self.strides(t);
        assert_eq!(long(real.strides()), long(&model), "{what}: strides {:?} of {:?}", real.strides(), real.shape());
    }

    /// What the function itself computes, where a number is a pair of that and any other order.
    fn exact(&self, mut t: Term) -> Option<Term> {
        loop {
            match self.g.node(t) {
                Node::Prim(Prim::Recast, args) => t = args[0],
                Node::Prim(Prim::Own, args) => return Some(args[1]),
                _ => return None,
            }
        }
    }

    fn same_sum<S: Stored<Elem = f64>>(&mut self, real: &ArrayBase<S, IxDyn>, t: Term, what: &str) {
        let rank = real.ndim();
        if rank == 0 {
            return;
        }
        let free = self.g.sum_all(t);
        let sum = self.layouts().sum(free, t);
        let exact = self.exact(sum).unwrap_or_else(|| self.g.reduce(Reduce::Unrolled, rank, t));
        assert_eq!(real.sum().to_bits(), self.reals(exact)[0].to_bits(), "{what}: the sum of {:?}", real.shape());
    }

    fn same_sums_over_an_axis<S: Stored<Elem = f64>>(&mut self, real: &ArrayBase<S, IxDyn>, t: Term, what: &str) {
        for k in 0..real.ndim() {
            let free = self.g.sum_axes(t, &axes([k]));
            let sum = self.layouts().sum_axis(free, t, k);
            let sums = real.sum_axis(Axis(k));
            if let Some(exact) = self.exact(sum) {
                let expected: Vec<u64> = sums.iter().map(|x| x.to_bits()).collect();
                let found: Vec<u64> = self.reals(exact).iter().map(|x| x.to_bits()).collect();
                assert_eq!(expected, found, "{what}: sums over axis {k} of {:?}", real.shape());
            }
            if !real.is_empty() {
                self.same_strides(&sums, sum, &format!("{what}, summed over axis {k}"));
            }
        }
    }

    fn same_fold<S: Stored<Elem = f64>>(&mut self, real: &ArrayBase<S, IxDyn>, t: Term, what: &str) {
        let met = self.layouts().folded(t);
        let folded = self.reals(met).iter().fold(0.5, |a, x| a * 0.5 + x);
        assert_eq!(real.fold(0.5, |a, x| a * 0.5 + x).to_bits(), folded.to_bits(), "{what}: {:?}", real.shape());
    }

    /// All that the model says of an array that ndarray has made; `order`: its memory order, by the model.
    fn made(&mut self, real: &ArrayD<f64>, what: &str, order: impl FnOnce(&mut Self, Term) -> Term) {
        let t = self.input(real);
        let t = order(self, t);
        self.same_strides(real, t, what);
        self.same_sum(real, t, what);
        self.same_sums_over_an_axis(real, t, what);
        self.same_fold(real, t, what);
    }
}

fn axes(axes: impl IntoIterator<Item = usize>) -> Vec<u8> {
    axes.into_iter().map(|k| k.try_into().expect("a small rank")).collect()
}

fn leaked(x: &ArrayD<f64>) -> ArrayViewD<'static, f64> {
    let x: &'static ArrayD<f64> = Box::leak(Box::new(x.clone()));
    x.view()
}

fn turned(how: View, rank: usize) -> std::ops::Range<usize> {
    match how {
        FirstBackwards => 0..1,
        LastBackwards => rank - 1..rank,
        _ => 0..rank,
    }
}

/// What ndarray shows.
fn shown<S: RawData<Elem = f64> + Stored>(mut x: ArrayBase<S, IxDyn>, how: View) -> ArrayBase<S, IxDyn> {
    let rank = x.ndim();
    match how {
        Transposed => x.reversed_axes(),
        Rotated => x.permuted_axes((0..rank).map(|k| (k + rank - 1) % rank).collect::<Vec<_>>()),
        // `s![..]` of all axes: each that has at most one element gets the stride 0.
        Backwards | FirstBackwards | LastBackwards => {
            let which = turned(how, rank);
            x.slice_each_axis_inplace(|a| Slice::new(0, None, if which.contains(&a.axis.index()) { -1 } else { 1 }));
            x
        }
        FirstStrided | LastStrided => {
            let k = if how == FirstStrided { 0 } else { rank - 1 };
            x.slice_each_axis_inplace(|a| Slice::new(0, None, if a.axis.index() == k { 2 } else { 1 }));
            x
        }
        Tail => {
            x.slice_each_axis_inplace(|a| Slice::new(if a.axis.index() == 0 { 1 } else { 0 }, None, 1));
            x
        }
        Row => {
            let last = x.shape()[0] - 1;
            x.index_axis_move(Axis(0), last)
        }
        Column => {
            let last = x.shape()[rank - 1] - 1;
            x.index_axis_move(Axis(rank - 1), last)
        }
        Diagonal => x.into_diag().into_dyn(),
        Inserted => x.insert_axis(Axis(rank)),
        Repeated | Owned => x,
    }
}

/// Every view of an array of every shape.
fn each(mut f: impl FnMut(&mut Model, Pair, &str)) {
    let mut count = 0;
    for shape in SHAPES {
        for views in VIEWS {
            let mut model = Model::new();
            if let Some(pair) = model.pair(shape, views) {
                f(&mut model, pair, &format!("{shape:?} {views:?}"));
                count += 1;
            }
        }
    }
    assert!(count > 400, "only {count} arrays");
}

/// Every two views of one shape, of arrays of a few shapes; and of a row or a column or a number with the first.
fn each_two(mut f: impl FnMut(&mut Model, [Pair; 2], &str)) {
    let mut count = 0;
    for shape in [&[3_usize, 3][..], &[2, 3], &[1, 4], &[4, 1], &[1, 1], &[9, 9], &[2, 2, 2], &[2, 1, 3], &[5]] {
        for a in VIEWS {
            for b in VIEWS {
                let mut model = Model::new();
                let (Some(a), Some(b)) = (model.pair(shape, a), model.pair(shape, b)) else { continue };
                let (own, other) = (a.view.shape().to_vec(), b.view.shape().to_vec());
                let lead = own.len().abs_diff(other.len());
                let fits = |long: &[usize], short: &[usize]| long[lead..].iter().zip(short).all(|(n, m)| n == m);
                let (a_fits, b_fits) = (own.len() >= other.len(), own.len() <= other.len());
                if a_fits && fits(&own, &other) || b_fits && fits(&other, &own) {
                    let what = format!("{own:?} {:?} with {other:?} {:?}", a.view.strides(), b.view.strides());
                    f(&mut model, [a, b], &what);
                    count += 1;
                }
            }
        }
    }
    assert!(count > 2000, "only {count} pairs");
}

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
            let spec = Contraction { a: of.into(), b: [inner].into(), out: out.into() };
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
            // Not modelled: a copy of a contiguous slice keeps the stride 0 of an axis of one element, which is then the nearest.
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
fn ndarray_written_over_keeps_its_strides() {
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
fn ndarray_add_to_a_value_is_written_over_it() {
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

/// What nobody knows the order of is said to be so, and marked where it is summed.
#[test]
fn unknown_orders_are_marked() {
    let mut model = Model::new();
    let Pair { term, .. } = model.pair(&[3, 4], &[]).expect("an array");
    assert!(!model.layouts().is_unknown(term));
    let t = model.layouts().with_unknown_order(term);
    assert!(model.layouts().is_unknown(t) && model.layouts().of(t) == MemoryOrder::unknown());
    assert!(!model.known.any_unknown);
    let free = model.g.sum_all(t);
    let sum = model.layouts().sum(free, t);
    let exact = model.exact(sum).expect("it has an order");
    assert!(matches!(model.g.node(exact), Node::Prim(Prim::Unordered, _)) && model.known.any_unknown);
}
