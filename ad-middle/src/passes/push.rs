//! Moves an index into the term that it reads (BOT Fig. 10), where that saves work: into an
//! elementwise operation, or a sum over other axes, that nothing else reads. It also moves a slice
//! through elementwise operations into a contraction: if only some rows of a product are read, only
//! these are computed. Pushing everywhere would take exponential time on a hash-consed graph. So
//! the pass counts uses over the whole graph first, and decides again at each term that an index
//! passes.

use std::collections::{HashMap, HashSet};

use super::element::ElementAt;
use super::rewrite::{Rewriter, Rewritten};
use super::{Context, Pass};
use ad_ir::analysis::range::{Checked, Facts, Linear};
use ad_ir::analysis::sizes::Fixed;
use ad_ir::analysis::uses::Uses;
use ad_ir::ir::rewrite::{Memoised, Needs, OnDemand, on_demand};
use ad_ir::ir::{Graph, Node, Term, axis};
use ad_ir::prim::Prim;

/// The pass.
pub const PASS: Pass =
    Pass { name: "push", rules, run: |g, roots, cx| roots.map(|all| push(g, all, cx)), simplified: true };

/// The rule that moves an index into the term that it reads.
const INDEX: &str = "push.index";
/// The rule that moves a slice into a contraction.
const SLICE: &str = "push.slice";

fn rules() -> Vec<&'static str> {
    vec![INDEX, SLICE]
}

/// The roots with indices pushed. Closed bodies are not rewritten: their arrays are small or
/// carried. Exact contractions are not rewritten either, since the function itself computes all
/// their elements. The checks are assumed to hold; a slice that may leave its array is read element
/// by element.
pub fn push(g: &mut Graph, roots: &[Term], cx: &mut Context) -> Vec<Term> {
    let (exact, uses) = (cx.exact(g), cx.get::<Uses>(g, roots));
    let checked = cx.check_conditions();
    let mut facts = (*cx.get::<Checked>(g, &checked)).clone();
    let (exact, uses) = (&*exact, &*uses);
    Rewriter::new(&*cx.get::<Fixed>(g, roots)).run_named(g, roots, |g, t, done| {
        let node = g.node_rc(t);
        match &*node {
            // Inside an index function the index mentions its variables; these reads are not
            // rewritten.
            Node::Gather { src, vars, index, .. }
                if vars.is_empty() && g.free(t).is_empty() && enters(g, uses, *src, index.len()) =>
            {
                let index: Vec<Term> = index.iter().map(|ix| done[ix]).collect();
                Some((Some(INDEX), read(g, uses, done, *src, &index)))
            }
            Node::Prim(Prim::Slice(steps), args)
                if g.free(t).is_empty()
                    && steps.iter().all(|&s| s == 1)
                    && reaches_product(g, (uses, exact), &span(g, t), args[0], MAX_DEPTH)
                    && is_inside(g, &mut facts, &span(g, t), args[0]) =>
            {
                let span: Vec<Span> = span(g, t).into_iter().map(|s| s.map(|(at, n)| (done[&at], done[&n]))).collect();
                Some((Some(SLICE), part(g, (uses, exact, done), (args[0], MAX_DEPTH), &span)))
            }
            _ => None,
        }
    })
}

/// Whether an index of this length can be pushed into `t`.
fn enters(g: &Graph, uses: &HashMap<Term, usize>, t: Term, len: usize) -> bool {
    let Node::Prim(prim, _) = g.node(t) else { return false };
    let fits = match prim {
        Prim::Sum(axes) => axes.iter().all(|&a| usize::from(a) >= len),
        Prim::Replicate(_) => return true,
        p => p.is_elementwise(),
    };
    fits && uses.get(&t) == Some(&1)
}

/// `index t index`, pushed as far as possible.
fn read(g: &mut Graph, uses: &HashMap<Term, usize>, done: &Rewritten, t: Term, index: &[Term]) -> Term {
    let root = (t, index.to_vec());
    let mut reads = PushedReads { g, uses, done, results: HashMap::new() };
    on_demand(&mut reads, [root.clone()]);
    reads.results[&root]
}

/// The state while an index is pushed into terms. Only a replication changes the index.
struct PushedReads<'a> {
    g: &'a mut Graph,
    uses: &'a HashMap<Term, usize>,
    done: &'a Rewritten,
    results: HashMap<ElementAt, Term>,
}

impl Memoised for PushedReads<'_> {
    type Key = ElementAt;
    type New = Term;

    fn parts(&mut self) -> (&mut Graph, &mut HashMap<ElementAt, Term>) {
        (self.g, &mut self.results)
    }

    fn origin(&self, (t, _): &ElementAt) -> Option<Term> {
        Some(*t)
    }

    fn made(&mut self, (t, index): &ElementAt) -> Term {
        let node = self.g.node_rc(*t);
        let Node::Prim(prim, args) = &*node else { return self.g.index(self.done[t], index) };
        let operands = operands(prim, args, index);
        let new_args: Vec<Term> = operands.map(|operand| self.results[&operand]).collect();
        match prim {
            Prim::Sum(axes) => {
                let axes: Vec<u8> = axes.iter().map(|&a| axis(usize::from(a) - index.len())).collect();
                self.g.sum_axes(new_args[0], &axes)
            }
            Prim::Replicate(axes) => {
                let left: Vec<(u8, Term)> = axes
                    .iter()
                    .zip(&args[1..])
                    .filter(|(a, _)| usize::from(**a) >= index.len())
                    .map(|(&a, n)| (axis(usize::from(a) - index.len()), self.done[n]))
                    .collect();
                let (axes, sizes): (Vec<u8>, Vec<Term>) = left.into_iter().unzip();
                self.g.replicate_axes(new_args[0], &axes, &sizes)
            }
            _ => self.g.prim(prim.clone(), &new_args),
        }
    }
}

impl OnDemand for PushedReads<'_> {
    fn enter(&mut self, (t, index): &ElementAt, needs: &mut Needs<'_, ElementAt>) -> Option<Term> {
        match &*self.g.node_rc(*t) {
            Node::Prim(prim, args) if enters(self.g, self.uses, *t, index.len()) => {
                needs.extend(operands(prim, args, index));
                None
            }
            _ => Some(self.g.index(self.done[t], index)),
        }
    }
}

/// The reads of the operands that give this element of the result.
fn operands(prim: &Prim, args: &[Term], index: &[Term]) -> impl Iterator<Item = ElementAt> {
    let inner: Vec<Term> = match prim {
        Prim::Replicate(axes) => {
            index.iter().enumerate().filter(|(k, _)| !axes.contains(&axis(*k))).map(|(_, &ix)| ix).collect()
        }
        _ => index.to_vec(),
    };
    args[..prim.data_args(args.len())].iter().map(move |&a| (a, inner.clone()))
}

/// The maximum number of operations that a slice passes.
const MAX_DEPTH: usize = 16;

/// The first element that is read along an axis, and the number of elements. `None` if the axis is
/// read as a whole.
type Span = Option<(Term, Term)>;

/// The span of each axis that a slice with unit strides reads.
fn span(g: &Graph, slice: Term) -> Vec<Span> {
    let Node::Prim(Prim::Slice(steps), args) = g.node(slice) else { return Vec::new() };
    let rank = steps.len();
    (0..rank)
        .map(|k| {
            let (start, len) = (args[1 + k], args[1 + rank + k]);
            let all = g.int_value(start) == Some(0) && len == g.shape(args[0])[k];
            (!all).then_some((start, len))
        })
        .collect()
}

/// Whether all elements that are read of an array are in range, if any are read.
fn is_inside(g: &Graph, facts: &mut Facts, span: &[Span], t: Term) -> bool {
    let mark = facts.mark();
    for &(_, len) in span.iter().flatten() {
        let some = facts.linear(g, len).combine(1, &Linear::constant(-1), 1);
        some.into_iter().for_each(|fact| facts.learn(fact));
    }
    facts.settle(g);
    let inside = span.iter().zip(g.shape(t)).all(|(s, &size)| {
        let Some((start, len)) = *s else { return true };
        let (start, len, size) = (facts.linear(g, start), facts.linear(g, len), facts.linear(g, size));
        let left = size.combine(1, &start, -1).and_then(|left| left.combine(1, &len, -1));
        left.is_some_and(|left| facts.prove(g, &left))
    });
    facts.forget(mark);
    inside
}

/// For each axis of a replicate's argument the axis of the replicate.
fn kept(rank: usize, new: &[u8]) -> Vec<usize> {
    (0..rank).filter(|&k| !new.contains(&axis(k))).collect()
}

/// Whether a slice can be pushed into a contraction whose other rows nothing reads, without a copy
/// of any operand.
fn reaches_product(
    g: &Graph,
    (uses, exact): (&HashMap<Term, usize>, &HashSet<Term>),
    span: &[Span],
    t: Term,
    deep: usize,
) -> bool {
    let Node::Prim(prim, args) = g.node(t) else { return false };
    let data = &args[..prim.data_args(args.len())];
    let Some(deep) = deep.checked_sub(1).filter(|_| uses.get(&t) == Some(&1)) else { return false };
    match prim {
        Prim::Contract(c) => {
            // Leading rows are contiguous in place.
            let leading = |label: u8| [&c.a, &c.b].iter().all(|of| !of.iter().skip(1).any(|&l| l == label));
            let cut = |(label, s): (&u8, &Span)| s.is_none() || leading(*label);
            let any = c.a.iter().any(|l| c.b.contains(l) && !c.out.contains(l));
            any && !exact.contains(&t) && c.out.iter().zip(span).all(cut)
        }
        Prim::Replicate(new) => {
            let inner: Vec<Span> = kept(span.len(), new).into_iter().map(|k| span[k]).collect();
            inner.iter().any(Option::is_some) && reaches_product(g, (uses, exact), &inner, args[0], deep)
        }
        p => p.is_elementwise() && data.iter().any(|&c| reaches_product(g, (uses, exact), span, c, deep)),
    }
}

/// This slice of `t`, moved into its operands wherever it reaches a contraction.
fn part(
    g: &mut Graph,
    (uses, exact, done): (&HashMap<Term, usize>, &HashSet<Term>, &Rewritten),
    (t, deep): (Term, usize),
    span: &[Span],
) -> Term {
    let new = done[&t];
    if !reaches_product(g, (uses, exact), span, t, deep) {
        return sliced(g, new, span);
    }
    let (all, deep) = ((uses, exact, done), deep - 1);
    let shape = g.shape(new).to_vec();
    let size = |k: usize| span[k].map_or(shape[k], |s| s.1);
    let node = g.node_rc(t);
    if let Node::Prim(prim, args) = &*node {
        match prim {
            Prim::Contract(c) => {
                let mut operand = |x: Term, labels: &[u8]| {
                    let of = |l: &u8| c.out.iter().position(|o| o == l).and_then(|k| span[k]);
                    let inner: Vec<Span> = labels.iter().map(of).collect();
                    sliced(g, done[&x], &inner)
                };
                let (a, b) = (operand(args[0], &c.a), operand(args[1], &c.b));
                return g.contract(a, b, c.clone());
            }
            Prim::Replicate(axes) => {
                let inner: Vec<Span> = kept(span.len(), axes).into_iter().map(|k| span[k]).collect();
                let x = part(g, all, (args[0], deep), &inner);
                let sizes: Vec<Term> = axes.iter().map(|&a| size(usize::from(a))).collect();
                return g.replicate_axes(x, axes, &sizes);
            }
            p if p.is_elementwise() => {
                let parts: Vec<Term> = args.iter().map(|&a| part(g, all, (a, deep), span)).collect();
                return g.prim(prim.clone(), &parts);
            }
            _ => {}
        }
    }
    sliced(g, new, span)
}

fn sliced(g: &mut Graph, x: Term, span: &[Span]) -> Term {
    let (none, shape) = (g.lit_usize(0), g.shape(x).to_vec());
    let starts: Vec<Term> = span.iter().map(|s| s.map_or(none, |s| s.0)).collect();
    let lens: Vec<Term> = span.iter().zip(shape).map(|(s, n)| s.map_or(n, |s| s.1)).collect();
    g.slice(x, &starts, &vec![1; span.len()], &lens)
}
