//! Rewrites a sum that is carried through nested loops as one sum over all their iterations in
//! order. Each of these loops only adds one scalar in each iteration.

use super::Distribution;
use super::strided_reads::in_all_steps;
use ad_ir::ir::{Graph, Node, Scan, Term};
use ad_ir::prim::{Binary, Prim};

impl Distribution<'_> {
    /// The values that the loops inside of an iteration add, one after the other, to the carried
    /// scalar `acc`: an array with an axis for each loop, the innermost one last.
    pub(super) fn nested(&mut self, acc: Term, next: Term) -> Option<Term> {
        (self.g.rank(acc) == 0).then(|| added(self.g, acc, next))?
    }
}

/// The loop that carries `acc` only and whose result is `next`.
fn inner(g: &Graph, acc: Term, next: Term) -> Option<Scan> {
    let Node::Proj(tuple, 0) = g.node(next) else { return None };
    let Node::Scan(scan) = g.node(*tuple) else { return None };
    let alone = scan.init[..] == [acc] && scan.body.results.len() == 1 && scan.stop.is_none() && !scan.reverse;
    let others = scan.captures.iter().chain(&scan.xs).chain([&scan.count]).copied().collect::<Vec<Term>>();
    (alone && !g.reachable(&others).contains(&acc)).then(|| (**scan).clone())
}

/// The summands of all iterations. The recursion is over nested loops only.
fn added(g: &mut Graph, acc: Term, next: Term) -> Option<Term> {
    let scan = inner(g, acc, next)?;
    let (own, result) = (g.param(0, scan.body.params[0].clone()), scan.body.results[0]);
    let e = match *g.node(result) {
        Node::Prim(Prim::Binary(Binary::Add), ref args) if args[0] == own => args[1],
        Node::Prim(Prim::Binary(Binary::Add), ref args) if args[1] == own => args[0],
        _ => added(g, own, result)?,
    };
    // A conditional summand stays in the loop, which need not run where the condition is false. So
    // do summands that loops compute.
    let stays = |t: &Term| *t == own || matches!(g.node(*t), Node::Scan(_));
    if matches!(g.node(e), Node::Cond { .. } | Node::Prim(Prim::Select, _)) || g.reachable(&[e]).iter().any(stays) {
        return None;
    }
    Some(in_all_steps(g, &scan, e))
}
