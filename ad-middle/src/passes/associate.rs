//! Reassociates contractions by cost: a label that only one operand of a contraction has is summed
//! over that operand first. So `sum(A x)` becomes `(column sums of A) . x`, with additions instead
//! of products, and often the gradient has that sum already. The pass rewrites only contractions
//! that nothing else reads (otherwise it would add one more pass over the operand), and no sum that
//! a decision depends on.

use super::rewrite::Rewriter;
use super::simplify::contraction::unless_empty;
use super::{Context, Pass};
use ad_ir::analysis::sizes::Fixed;
use ad_ir::analysis::uses::Uses;
use ad_ir::choice::{Kind, choose};
use ad_ir::ir::{Contraction, Graph, Node, Term, axis};
use ad_ir::prim::Prim;

/// The pass.
pub const PASS: Pass = Pass {
    name: "associate",
    rules: || vec!["associate"],
    run: |g, roots, cx| roots.map(|all| associate(g, all, cx)),
    simplified: false,
};

/// The roots with sums moved into contractions. Exact terms are not rewritten.
pub fn associate(g: &mut Graph, roots: &[Term], cx: &mut Context) -> Vec<Term> {
    let (exact, uses) = (cx.exact(g), cx.get::<Uses>(g, roots));
    Rewriter::new(&*cx.get::<Fixed>(g, roots)).run(g, roots, |g, t, done| {
        let (c, [a, b], lone) = lone_labels(g, t).filter(|_| !exact.contains(&t))?;
        let pays = pays(t, uses.get(&contracted(g, t)).copied().unwrap_or(0));
        pays.then(|| sum_operands(g, &c, [done[&a], done[&b]], &lone))
    })
}

/// Whether nothing else reads the contraction that is summed.
fn pays(t: Term, readers: usize) -> bool {
    choose(Kind::Associate, (t.index(), 0), readers == 1, || format!("({readers} readers of the product)"))
}

fn contracted(g: &Graph, t: Term) -> Term {
    match g.node(t) {
        Node::Prim(_, args) => args[0],
        _ => t,
    }
}

/// For a sum of a contraction: the contraction, its operands and the labels that are summed, if
/// each of these labels occurs in one operand only.
fn lone_labels(g: &Graph, t: Term) -> Option<(Contraction, [Term; 2], Vec<u8>)> {
    let Node::Prim(Prim::Sum(axes), args) = g.node(t) else { return None };
    let Node::Prim(Prim::Contract(c), operands) = g.node(args[0]) else { return None };
    let lone: Vec<u8> = axes.iter().map(|&k| c.out[usize::from(k)]).collect();
    let alone = lone.iter().all(|l| c.a.contains(l) != c.b.contains(l));
    // At least one label has to remain in both operands.
    let joined = c.a.iter().any(|l| c.b.contains(l));
    (alone && joined).then(|| (c.clone(), [operands[0], operands[1]], lone))
}

fn sum_operands(g: &mut Graph, c: &Contraction, [a, b]: [Term; 2], lone: &[u8]) -> Term {
    let mut sum = |x: Term, labels: &[u8]| {
        let at: Vec<u8> = (0..labels.len()).map(axis).filter(|&k| lone.contains(&labels[usize::from(k)])).collect();
        let sizes: Vec<Term> = at.iter().map(|&k| g.shape(x)[usize::from(k)]).collect();
        let left: Vec<u8> = labels.iter().copied().filter(|l| !lone.contains(l)).collect();
        (g.sum_axes(x, &at), left, sizes)
    };
    let ((new_a, la, na), (new_b, lb, nb)) = (sum(a, &c.a), sum(b, &c.b));
    let out: Vec<u8> = c.out.iter().copied().filter(|l| !lone.contains(l)).collect();
    let product = g.contract(new_a, new_b, c.with(la, lb, out));
    let product = unless_empty(g, &na, b, product);
    unless_empty(g, &nb, a, product)
}
