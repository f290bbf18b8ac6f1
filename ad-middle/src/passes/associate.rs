//! Reassociates contractions by cost: a label that only one operand of a contraction has is summed
//! over that operand first. So `sum(A x)` becomes `(column sums of A) . x`, with additions instead
//! of products, and often the gradient has that sum already. A sum of sums and differences of such
//! contractions is the sums of each of them. The pass rewrites only contractions
//! that nothing else reads (otherwise it would add one more pass over the operand), and no sum that
//! a decision depends on.

use std::collections::HashMap;

use super::rewrite::Rewriter;
use super::simplify::contraction::unless_empty;
use super::{Context, Pass};
use ad_ir::analysis::sizes::Fixed;
use ad_ir::analysis::uses::Uses;
use ad_ir::choice::{Kind, choose};
use ad_ir::ir::{Contraction, Graph, Node, Term, axis};
use ad_ir::prim::{Binary, Prim, Unary};

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
        let Node::Prim(Prim::Sum(axes), args) = g.node(t).clone() else { return None };
        if exact.contains(&t) {
            return None;
        }
        let readers = |x: Term| uses.get(&x).copied().unwrap_or(0);
        let summands = Summands::of(g, args[0], &axes, &readers, MAX_DEPTH)?;
        // A single contraction that others read as well may be chosen all the same.
        let pays = match &summands {
            Summands::Contraction(..) => pays(t, readers(args[0])),
            _ => summands.read_once(&readers),
        };
        pays.then(|| summands.summed(g, done))
    })
}

/// The greatest depth of additions under a sum.
const MAX_DEPTH: usize = 8;

/// What is summed: contractions, each with labels that only one of its operands has, and sums and
/// differences of such contractions. Each contraction is summed by itself.
enum Summands {
    Contraction(Term, Contraction, [Term; 2], Vec<u8>),
    Negated(Box<Self>),
    Pair(Binary, Box<[Self; 2]>),
}

impl Summands {
    fn of(g: &Graph, t: Term, axes: &[u8], readers: &impl Fn(Term) -> usize, depth: usize) -> Option<Self> {
        let inner = |x: Term| if depth > 0 { Self::of(g, x, axes, readers, depth - 1) } else { None };
        match g.node(t) {
            Node::Prim(Prim::Contract(c), args) => {
                let lone = lone_labels(c, axes)?;
                Some(Summands::Contraction(t, c.clone(), [args[0], args[1]], lone))
            }
            Node::Prim(Prim::Unary(Unary::Neg), args) if readers(t) == 1 => {
                Some(Summands::Negated(Box::new(inner(args[0])?)))
            }
            Node::Prim(Prim::Binary(op @ (Binary::Add | Binary::Sub)), args) if readers(t) == 1 => {
                Some(Summands::Pair(*op, Box::new([inner(args[0])?, inner(args[1])?])))
            }
            _ => None,
        }
    }

    /// Whether nothing else reads the contractions.
    fn read_once(&self, readers: &impl Fn(Term) -> usize) -> bool {
        match self {
            Summands::Contraction(t, ..) => readers(*t) == 1,
            Summands::Negated(of) => of.read_once(readers),
            Summands::Pair(_, parts) => parts.iter().all(|part| part.read_once(readers)),
        }
    }

    fn summed(&self, g: &mut Graph, done: &HashMap<Term, Term>) -> Term {
        match self {
            Summands::Contraction(_, c, [a, b], lone) => sum_operands(g, c, [done[a], done[b]], lone),
            Summands::Negated(of) => {
                let sum = of.summed(g, done);
                g.neg(sum)
            }
            Summands::Pair(op, parts) => {
                let [a, b] = [parts[0].summed(g, done), parts[1].summed(g, done)];
                g.binary(*op, a, b)
            }
        }
    }
}

/// Whether nothing else reads the contraction that is summed.
fn pays(t: Term, readers: usize) -> bool {
    choose(Kind::Associate, (t.index(), 0), readers == 1, || format!("({readers} readers of the product)"))
}

/// The labels of a contraction that are summed over these axes of its result, if each of them
/// occurs in one operand only.
fn lone_labels(c: &Contraction, axes: &[u8]) -> Option<Vec<u8>> {
    let lone: Vec<u8> = axes.iter().map(|&k| c.out[usize::from(k)]).collect();
    let alone = lone.iter().all(|l| c.a.contains(l) != c.b.contains(l));
    // At least one label has to remain in both operands.
    let joined = c.a.iter().any(|l| c.b.contains(l));
    (alone && joined).then_some(lone)
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
