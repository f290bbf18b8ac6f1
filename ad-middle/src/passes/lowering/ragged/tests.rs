//! Which rows are ragged.

use super::*;
use ad_ir::ir::{OpenLoop, RealTy, Type};

const USIZE: Elem = Elem::USIZE;
const F64: Elem = Elem::Real(RealTy::F64);

/// A loop of ten steps that carries an integer. It contains a loop of ten steps. An inner step
/// saves a row if its number is below `limit`, applied to the outer step and the integer.
fn nest(limit: impl FnOnce(&mut Graph, Term, Term) -> Term) -> (Graph, Scan) {
    let mut g = Graph::new();
    let (n, x) = (g.lit_usize(10), g.add_input(F64, 0));
    let (outer, inner) = (g.fresh(), g.fresh());
    let (carried, sum) = (g.placeholder(Type::scalar(USIZE)), g.placeholder(Type::scalar(F64)));
    let [i, j] = [outer, inner].map(|v| g.mk(Node::Var(v)));
    let limit = limit(&mut g, i, carried);
    let (holds, none) = (g.compare(Cmp::Lt, j, limit), g.lit_like(x, 0.0));
    let more = g.add(sum, x);
    let (next, row) = (g.cond(holds, more, sum), g.cond(holds, sum, none));
    let close = |g: &mut Graph, step, init, carried, results| {
        g.close_loop(&OpenLoop { count: n, reverse: false, stop: None, step, init, carried, results })
    };
    let made = close(&mut g, inner, vec![x], vec![sum], vec![next, row]);
    let rows = g.proj(made, 1);
    let (two, zero) = (g.lit_usize(2), g.lit_usize(0));
    let more = g.int(IntOp::Mul, carried, two);
    let t = close(&mut g, outer, vec![zero], vec![carried], vec![more, rows]);
    let mut found = g.reachable(&[t]).into_iter().filter_map(|t| match g.node(t) {
        Node::Scan(scan) => Some((**scan).clone()),
        _ => None,
    });
    let scan = found.next_back().expect("a loop");
    (g, scan)
}

fn ragged(limit: impl FnOnce(&mut Graph, Term, Term) -> Term) -> bool {
    let (mut g, scan) = nest(limit);
    let found = collected(&mut g, &scan, |_| true, &mut Analyses::default());
    assert_eq!(found.positions(), found.rows.len(), "one loop, and one array of rows");
    !found.rows.is_empty()
}

#[test]
fn rows_are_ragged_where_their_number_is_not_linear() {
    assert!(ragged(|_, _, carried| carried), "a carried number");
    assert!(!ragged(|_, i, _| i), "a triangle");
    assert!(!ragged(|g, i, _| {
        let half = g.lit_usize(2);
        g.int(IntOp::Div, i, half)
    }));
    // Two rows for each step except the last ones: a band.
    assert!(ragged(|g, i, _| {
        let (two, most) = (g.lit_usize(2), g.lit_usize(1000));
        let end = g.int(IntOp::Add, i, two);
        let end = g.int(IntOp::Min, end, most);
        g.int(IntOp::Sub, end, i)
    }));
    assert!(!ragged(|g, _, _| g.lit_usize(7)), "the same in each step");
}
