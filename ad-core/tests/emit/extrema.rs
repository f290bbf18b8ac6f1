//! Extrema of sums over blocks of items, computed together with the sums: ties, NaN, infinities, a
//! number of items that does not fill the lanes, no candidates.

use ad_core::ir::{Elem, Node, RealTy};
use ad_core::prim::{Reduce, Unary};
use ad_oracle::interp::{Data, Dual, Value};

use super::support::{Case, F64, array_of};

/// All programs.
pub(crate) fn all() -> Vec<Case> {
    use Reduce::{ArgMax, ArgMin, Max, Min};
    vec![
        of_distances("nearest", RealTy::F64, Reduce::FromZero, &[ArgMin, Min]),
        of_distances("nearest_place", RealTy::F64, Reduce::InOrder, &[ArgMin]),
        of_distances("least", RealTy::F64, Reduce::FromZero, &[Min]),
        of_distances("farthest", RealTy::F64, Reduce::FromZero, &[ArgMax, Max]),
        of_distances("nearest_and_farthest", RealTy::F64, Reduce::FromZero, &[ArgMin, Max]),
        of_distances("nearest_single", RealTy::F32, Reduce::FromZero, &[ArgMin, Min]),
        of_distances("nearest_generic", RealTy::Param, Reduce::FromZero, &[ArgMin]),
        moved(),
        of_products(),
    ]
}

/// Multiples of a quarter, so that every sum of their products is exact in each type and each
/// order. Many are equal. Some are NaN or infinite.
fn quarters(rows: usize, columns: usize, seed: usize, strange: bool) -> Value {
    let number = |k: usize| {
        let (row, value) = (k / columns, ((k * 7 + seed * 5) % 11) as f64 / 4.0 - 1.0);
        match (strange, row % 7, k % columns) {
            (true, 2, 0) | (true, 4, _) => f64::NAN,
            (true, 3, 1) => f64::INFINITY,
            (true, 5, 0) => f64::NEG_INFINITY,
            _ => value,
        }
    };
    array_of(F64, &[rows, columns], Data::Real((0..rows * columns).map(|k| Dual::constant(number(k))).collect()))
}

/// The numbers of items, candidates and coordinates, and whether numbers of either are NaN or
/// infinite.
const RUNS: [([usize; 3], [bool; 2]); 9] = [
    ([0, 2, 2], [false, false]),
    ([1, 3, 2], [false, false]),
    ([15, 1, 2], [true, false]),
    ([16, 4, 3], [false, true]),
    ([17, 4, 2], [false, false]),
    ([40, 9, 2], [true, true]),
    ([150, 3, 2], [true, false]),
    ([20, 0, 2], [false, false]),
    ([20, 3, 0], [false, false]),
];

fn runs(c: &mut Case) {
    for ([n, k, d], [items, choices]) in RUNS {
        c.run(vec![quarters(n, d, 1, items), quarters(k, d, 2, choices)]);
    }
}

/// For each item, extrema of the squared distances to the candidates.
fn of_distances(name: &'static str, ty: RealTy, order: Reduce, extrema: &[Reduce]) -> Case {
    let mut c = Case::new(name);
    if ty == RealTy::Param {
        c.generics = quote::quote!(<T: crate::ad::runtime::Real>);
    }
    let x = c.input("x", Elem::Real(ty), 2);
    let (n, d) = (c.g.shape(x)[0], c.g.shape(x)[1]);
    let size = c.input("sizes", Elem::Real(ty), 1);
    let k = c.g.shape(size)[0];
    let y = c.input_like("y", Elem::Real(ty), &[k, d]);
    let (xs, ys) = (c.g.replicate_axes(x, &[1], &[k]), c.g.replicate_axes(y, &[0], &[n]));
    let apart = c.g.sub(xs, ys);
    let squares = c.g.mul(apart, apart);
    let sums = c.g.reduce(order, 1, squares);
    for &op in extrema {
        let best = c.g.reduce(op, 1, sums);
        c.result(best);
    }
    runs(&mut c);
    for inputs in &mut c.runs {
        let Value::Array(choices) = &inputs[1] else { continue };
        let sizes = array_of(F64, &[choices.shape[0]], Data::Real(vec![Dual::constant(0.0); choices.shape[0]]));
        inputs.insert(1, sizes);
    }
    c
}

/// The nearest candidate is moved by the items to which it is nearest.
fn moved() -> Case {
    let mut c = of_distances("nearest_moved", RealTy::F64, Reduce::FromZero, &[Reduce::ArgMin]);
    let (place, [x, y]) = (c.results.remove(0), [0, 2].map(|k| c.g.mk(Node::Input(k))));
    c.containers.clear();
    let (n, k, d) = (c.g.shape(x)[0], c.g.shape(y)[0], c.g.shape(y)[1]);
    let [i, j] = [c.g.fresh(), c.g.fresh()];
    let [row, column] = [i, j].map(|v| c.g.mk(Node::Var(v)));
    let at = c.g.index(place, &[row]);
    let nearest = c.g.gather(y, [n, d].into(), &[i, j], &[at, column]);
    let apart = c.g.sub(x, nearest);
    let zero = c.g.lit_real(RealTy::F64, 0.0);
    let none = c.g.broadcast(zero, &[k, d]);
    let sums = c.g.scatter(none, apart, &[i, j], &[at, column]);
    c.result(sums);
    c
}

/// A sum in any order, over two axes, for each of several kinds of an item. Another nest reads the
/// extremum.
fn of_products() -> Case {
    let mut c = Case::new("best_of_each_kind");
    let x = c.input("x", F64, 2);
    let y = c.input("y", F64, 2);
    let (n, d) = (c.g.shape(x)[0], c.g.shape(x)[1]);
    let (k, e) = (c.g.shape(y)[0], c.g.shape(y)[1]);
    let three = c.g.lit_usize(3);
    // [n, d, k, e, 3]
    let left = c.g.replicate_axes(x, &[2, 3, 4], &[k, e, three]);
    let right = c.g.replicate_axes(y, &[0, 1, 4], &[n, d, three]);
    let apart = c.g.sub(left, right);
    let terms = c.g.unary(Unary::Abs, apart);
    let sums = c.g.sum_axes(terms, &[3, 4]);
    let best = c.g.reduce(Reduce::Max, 1, sums);
    let squares = c.g.mul(best, best);
    let all = c.g.sum_axes(squares, &[1]);
    c.result(all);
    runs(&mut c);
    c
}
