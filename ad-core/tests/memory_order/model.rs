//! Arrays of ndarray with their terms, and the results of `ad_core::memory_order` for these terms,
//! as numbers. The model's results are not computed by ndarray.

use ad_core::ir::{Elem, Graph, Node, Term};
use ad_core::memory_order::{KnownOrders, Layouts};
use ad_core::prim::{IntOp, Prim, Reduce};
use ad_oracle::interp::{Data, Interp, Value};
use ndarray::{ArrayBase, ArrayD, ArrayViewD, Axis, Data as Stored, IxDyn, RawData, Slice};

/// Shapes of rank 1 to 4: empty, of one element along an axis, shorter and longer than eight and
/// sixteen elements.
#[rustfmt::skip]
const SHAPES: &[&[usize]] = &[
    &[0], &[1], &[7], &[8], &[19], &[35],
    &[0, 3], &[3, 0], &[1, 1], &[1, 5], &[5, 1], &[2, 3], &[9, 5], &[4, 17],
    &[2, 3, 4], &[1, 3, 9], &[3, 1, 2], &[2, 9, 1], &[0, 2, 3], &[3, 4, 11],
    &[2, 3, 2, 5], &[2, 1, 3, 9],
];

/// A view of an array.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum View {
    Transposed,
    /// The last axis becomes the first one.
    Rotated,
    Backwards,
    FirstBackwards,
    LastBackwards,
    /// Every second element along the first axis.
    FirstStrided,
    LastStrided,
    /// The elements from the second one to the last, along the first axis.
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

pub use View::*;

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
pub struct Pair {
    /// The owned array, if an array can own its elements in that layout.
    pub owned: Option<ArrayD<f64>>,
    pub view: ArrayViewD<'static, f64>,
    pub term: Term,
}

/// A graph with memory orders and values of its inputs.
pub struct Model {
    pub g: Graph,
    pub known: KnownOrders,
    pub inputs: Vec<Value>,
    random: u64,
}

impl Model {
    pub fn new() -> Self {
        Model { g: Graph::new(), known: KnownOrders::default(), inputs: Vec::new(), random: 1 }
    }

    pub fn layouts(&mut self) -> Layouts<'_> {
        Layouts { g: &mut self.g, known: &mut self.known }
    }

    /// A number. The sum of several depends on the order of the additions.
    pub fn number(&mut self) -> f64 {
        self.random = self.random.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        let x = (self.random >> 11) as f64 / (1_u64 << 53) as f64;
        (x * 2.0 - 0.7) * [1.0, 0.01, 3.0, 7.0][(self.random >> 5) as usize % 4]
    }

    /// An input with these elements. The model assumes that it is in standard layout.
    pub fn input<S: Stored<Elem = f64>>(&mut self, x: &ArrayBase<S, IxDyn>) -> Term {
        let t = self.g.add_input(Elem::F64, x.ndim().try_into().expect("a small rank"));
        self.inputs.push(Value::reals(x.shape(), &x.iter().copied().collect::<Vec<_>>()));
        t
    }

    /// A new array, seen through these views. `None` if it has too few axes.
    pub fn pair(&mut self, shape: &[usize], views: &[View]) -> Option<Pair> {
        let real = ArrayD::from_shape_simple_fn(shape, || self.number());
        let term = self.input(&real);
        let pair = Pair { view: leaked(&real), owned: Some(real), term };
        views.iter().try_fold(pair, |pair, &view| self.viewed(pair, view))
    }

    pub fn viewed(&mut self, Pair { owned, view, term }: Pair, how: View) -> Option<Pair> {
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

    pub fn value(&self, t: Term) -> Value {
        Interp::new(&self.g, &self.inputs).eval(t).expect("the term has a value")
    }

    pub fn reals(&self, t: Term) -> Vec<f64> {
        self.value(t).values()
    }

    pub fn integer(&self, t: Term) -> isize {
        match &self.value(t).as_array().expect("an array").data {
            Data::Int(xs) => xs[0].try_into().expect("a small number"),
            other => panic!("{other:?} is not an integer"),
        }
    }

    pub fn holds(&self, t: Term) -> bool {
        match &self.value(t).as_array().expect("an array").data {
            Data::Bool(xs) => xs[0],
            other => panic!("{other:?} is not a boolean"),
        }
    }

    /// The strides of a term by the model.
    pub fn strides(&mut self, t: Term) -> Vec<isize> {
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

    /// The strides of ndarray and of the model are the same for each axis of more than one element.
    pub fn same_strides<S: RawData>(&mut self, real: &ArrayBase<S, IxDyn>, t: Term, what: &str) {
        if real.is_empty() {
            return;
        }
        let long = |strides: &[isize]| -> Vec<isize> {
            strides.iter().zip(real.shape()).filter(|&(_, &n)| n > 1).map(|(&s, _)| s).collect()
        };
        let model = self.strides(t);
        assert_eq!(long(real.strides()), long(&model), "{what}: strides {:?} of {:?}", real.strides(), real.shape());
    }

    /// The exact values, if a number is a pair of a relaxed and an exact value.
    pub fn exact(&self, mut t: Term) -> Option<Term> {
        loop {
            match self.g.node(t) {
                Node::Prim(Prim::Recast, args) => t = args[0],
                Node::Prim(Prim::RelaxedExact, args) => return Some(args[1]),
                _ => return None,
            }
        }
    }

    pub fn same_sum<S: Stored<Elem = f64>>(&mut self, real: &ArrayBase<S, IxDyn>, t: Term, what: &str) {
        let rank = real.ndim();
        if rank == 0 {
            return;
        }
        let free = self.g.sum_all(t);
        let sum = self.layouts().sum(free, t);
        let exact = self.exact(sum).unwrap_or_else(|| self.g.reduce(Reduce::Unrolled, rank, t));
        assert_eq!(real.sum().to_bits(), self.reals(exact)[0].to_bits(), "{what}: the sum of {:?}", real.shape());
    }

    pub fn same_sums_over_an_axis<S: Stored<Elem = f64>>(&mut self, real: &ArrayBase<S, IxDyn>, t: Term, what: &str) {
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

    pub fn same_fold<S: Stored<Elem = f64>>(&mut self, real: &ArrayBase<S, IxDyn>, t: Term, what: &str) {
        let met = self.layouts().folded(t);
        let folded = self.reals(met).iter().fold(0.5, |a, x| a * 0.5 + x);
        assert_eq!(real.fold(0.5, |a, x| a * 0.5 + x).to_bits(), folded.to_bits(), "{what}: {:?}", real.shape());
    }

    /// Everything that the model computes for an array that ndarray has created. `order` is its
    /// memory order by the model.
    pub fn made(&mut self, real: &ArrayD<f64>, what: &str, order: impl FnOnce(&mut Self, Term) -> Term) {
        let t = self.input(real);
        let t = order(self, t);
        self.same_strides(real, t, what);
        self.same_sum(real, t, what);
        self.same_sums_over_an_axis(real, t, what);
        self.same_fold(real, t, what);
    }
}

pub fn axes(axes: impl IntoIterator<Item = usize>) -> Vec<u8> {
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

/// The view of an ndarray.
fn shown<S: RawData<Elem = f64> + Stored>(mut x: ArrayBase<S, IxDyn>, how: View) -> ArrayBase<S, IxDyn> {
    let rank = x.ndim();
    match how {
        Transposed => x.reversed_axes(),
        Rotated => x.permuted_axes((0..rank).map(|k| (k + rank - 1) % rank).collect::<Vec<_>>()),
        // With `s![..]` of all axes, each axis of at most one element gets the stride 0.
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
pub fn each(mut f: impl FnMut(&mut Model, Pair, &str)) {
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

/// Every two views of the same shape, of arrays of a few shapes; and a row, a column or a number
/// with the first.
pub fn each_two(mut f: impl FnMut(&mut Model, [Pair; 2], &str)) {
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
