//! Searches: if a step of a loop looks for the first element that satisfies a condition, it stops
//! at that element, as the function does. A reduction would read the whole array in each step,
//! however early the function stops. Outside of loops nothing is rewritten: one pass in a call
//! costs a constant for each element, and fills the lanes.
//!
//! This pass must never add up anything in another order: an index is pushed through elementwise
//! operations only.

use super::rewrite::{Rewriter, with_rewritten_children};
use super::{Context, Pass};
use ad_ir::analysis::sizes::Fixed;
use ad_ir::ir::{Elem, Graph, Node, OpenLoop, Term, Type};
use ad_ir::prim::{Build as _, Prim, Reduce};

/// The pass. Both results are those of one loop, whose step computes the truth value of one element
/// from elements of the arrays that `v` is made of.
///
/// | before | after |
/// | --- | --- |
/// | `any v` in a body | whether a loop that stops at the first true element has found one |
/// | `argmax (as_usize v)` in a body, of truth values | the step at which that loop stopped, or 0 |
pub(crate) const PASS: Pass = Pass {
    name: "searches",
    rules: || vec!["searches"],
    run: |g, roots, cx| roots.map(|all| pass(g, all, cx, false)),
    simplified: true,
};

/// The maximum depth of the operations that compute an element. Deeper arrays are read.
const MAX_DEPTH: usize = 32;

fn pass(g: &mut Graph, roots: &[Term], cx: &mut Context, inside: bool) -> Vec<Term> {
    Rewriter::new(&*cx.get::<Fixed>(g, roots)).run(g, roots, |g, t, done| {
        let (reduced, found) = match with_rewritten_children(g, t, done) {
            Node::Scan(mut scan) => {
                scan.body.results = pass(g, &scan.body.results, cx, true).into();
                return Some(g.scan(*scan));
            }
            Node::Prim(Prim::Reduce(Reduce::Any, 1), args) if inside => (args[0], 1),
            Node::Prim(Prim::Reduce(Reduce::ArgMax, 1), args) if inside => match *g.node(args[0]) {
                Node::Prim(Prim::Cast(_), ref of) => (of[0], 0),
                _ => return None,
            },
            _ => return None,
        };
        let of_truth_values = g.rank(reduced) == 1 && g.elem(reduced) == Elem::Bool;
        let unknown = of_truth_values && g.int_value(g.shape(reduced)[0]).is_none();
        let search = if unknown { search(g, reduced)? } else { return None };
        Some(g.proj(search, found))
    })
}

/// A loop over the elements of `v` that stops at the first true one. Its results are the index of
/// that element (0 if there is none), and whether such an element exists.
fn search(g: &mut Graph, v: Term) -> Option<Term> {
    let step = g.fresh();
    let i = g.mk(Node::Var(step));
    let holds = element(g, v, i, MAX_DEPTH)?;
    let (zero, no, yes) = (g.lit_usize(0), g.lit_bool(false), g.lit_bool(true));
    let carried = [Elem::USIZE, Elem::Bool].map(|elem| g.placeholder(Type::scalar(elem)));
    let results = vec![g.cond(holds, i, carried[0]), g.cond(holds, yes, carried[1])];
    let count = g.shape(v)[0];
    let init = vec![zero, no];
    let open = OpenLoop { count, reverse: false, stop: Some(1), step, init, carried: carried.into(), results };
    Some(g.close_loop(&open))
}

/// Element `i` of an array of one axis, by elementwise operations on elements of its operands.
/// `None` if that costs no less than a read of the array.
fn element(g: &mut Graph, t: Term, i: Term, deep: usize) -> Option<Term> {
    let node = g.node_rc(t);
    let deep = deep.checked_sub(1);
    Some(match (&*node, deep) {
        (Node::Prim(Prim::Iota, _), _) => i,
        (Node::Prim(Prim::Replicate(_), args), _) if g.rank(args[0]) == 0 => args[0],
        (Node::Prim(Prim::Select, args), Some(deep)) => {
            let [mask, then, other] = [args[0], args[1], args[2]].map(|x| element(g, x, i, deep));
            g.cond(mask?, then?, other?)
        }
        (Node::Prim(prim, args), Some(deep)) if prim.is_elementwise() => {
            let args: Option<Vec<Term>> = args.iter().map(|&x| element(g, x, i, deep)).collect();
            g.make(prim, &args?)
        }
        (Node::Gather { vars, src, .. }, _) if vars.len() == 1 && g.rank(t) == 1 => {
            let (vars, index) = g.open_binder(&node);
            let index = g.subst_vars_all(&index, &[(vars[0], i)]);
            g.index(*src, &index)
        }
        (Node::Param(..) | Node::Input(_), _) => g.index(t, &[i]),
        // The term is stored anyway: it is a result of a loop, or several terms read it.
        (Node::Proj(..), _) => g.index(t, &[i]),
        _ => return None,
    })
}
