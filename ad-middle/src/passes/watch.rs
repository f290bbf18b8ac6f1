//! Watches the real terms of a routine: each operation on real numbers becomes the operand of a
//! [`Prim::Watched`], with its operands and the indices of its element, and so does each result.
//! Then the code that is written for the routine says which of them first made a NaN or an
//! infinity that reaches a result.
//!
//! It runs after all other passes, and only if [`ad_ir::prim::watch`] is on. It is no
//! [`super::Pass`], since it needs names for the results. It must never change a value.

mod flow;

use std::collections::{HashMap, HashSet};

use self::flow::{Flow, Scope, kind};
use super::roots::Roots;
use ad_ir::analysis::once;
use ad_ir::analysis::sizes::Fixed;
use ad_ir::ir::{Body, Graph, Node, Scan, Term, Type, axis};
use ad_ir::prim::Prim;
use ad_ir::prim::watch::{Watch, WatchKind};

/// The name of the stage.
pub(crate) const STAGE: &str = "watch";

/// The words for the results of a routine.
pub(crate) struct Named {
    /// For each value.
    pub(crate) value: String,
    /// For each derivative.
    pub(crate) derivatives: Vec<String>,
}

/// The roots, with their real terms watched.
pub(crate) fn watched(g: &mut Graph, roots: &Roots, named: &Named) -> Roots {
    let all = roots.all();
    let fixed = once::<Fixed>(g, &all);
    let flow = Flow::of(g, &all, &fixed);
    let mut watching = Watching { g, flow, fixed: &fixed, closed: HashMap::new() };
    let mut new = roots.map(|all| watching.scope(0, all, &Inside::default()));
    let values = new.values.iter_mut().zip(&roots.values).map(|(new, old)| (new, old, &named.value));
    let derivatives = new.derivatives.iter_mut().zip(&roots.derivatives).zip(&named.derivatives);
    for (new, &old, name) in values.chain(derivatives.map(|((new, old), name)| (new, old, name))) {
        *new = watching.result(*new, old, name);
    }
    new
}

/// The scope of a body.
#[derive(Default)]
struct Inside {
    /// The indices of the steps of the enclosing loops, outermost first.
    steps: Vec<Term>,
    /// The parameters that have new numbers: those from the first number on, by this much.
    moved: Option<(usize, usize)>,
}

struct Watching<'g> {
    g: &'g mut Graph,
    flow: Flow,
    fixed: &'g HashSet<Term>,
    /// The terms that mention no parameter, watched. They are outside of all loops.
    closed: HashMap<Term, Term>,
}

impl Watching<'_> {
    /// The terms of a scope, watched. Recursion is over nested loops only.
    fn scope(&mut self, scope: Scope, roots: &[Term], inside: &Inside) -> Vec<Term> {
        let mut done: HashMap<Term, Term> = HashMap::new();
        let outside = Inside::default();
        for t in self.g.reachable(roots) {
            let before = self.g.at(self.g.loc(t));
            if self.g.is_open(t) {
                let new = self.one(scope, t, &done, inside);
                done.insert(t, new);
            } else if !self.closed.contains_key(&t) {
                let new = self.one(0, t, &done, &outside);
                self.closed.insert(t, new);
            }
            self.g.at(before);
        }
        roots.iter().map(|&t| self.watched(&done, t)).collect()
    }

    /// A term that has been watched.
    fn watched(&self, done: &HashMap<Term, Term>, t: Term) -> Term {
        done.get(&t).or_else(|| self.closed.get(&t)).copied().unwrap_or(t)
    }

    fn one(&mut self, scope: Scope, t: Term, done: &HashMap<Term, Term>, inside: &Inside) -> Term {
        if self.fixed.contains(&t) {
            return t;
        }
        let node = self.g.node_rc(t);
        let new = match &*node {
            Node::Param(k, ty) => match inside.moved {
                Some((first, by)) if *k as usize >= first => {
                    let k = *k as usize + by;
                    return self.g.mk(Node::Param(u32::try_from(k).unwrap_or(u32::MAX), ty.clone()));
                }
                _ => return t,
            },
            Node::Scan(scan) => match self.flow.body(self.g, scope, t) {
                Some(body) => return self.of_loop(body, scan, done, inside),
                None => return t,
            },
            _ => match node.map_children(|c| self.watched(done, c)) {
                Node::Proj(of, k) => return self.g.proj(of, k as usize),
                mapped => self.g.mk(mapped),
            },
        };
        match (self.flow.watched(self.g, scope, t), kind(self.g, t)) {
            (Some(number), Some(kind)) => {
                let new = if is_of_arrays(self.g, new) {
                    self.over_operands((scope, t), new, number, &inside.steps)
                } else {
                    new
                };
                self.term(t, new, (number, kind), &inside.steps)
            }
            _ => new,
        }
    }

    /// A loop whose body gets the indices of the enclosing steps and of its own.
    fn of_loop(&mut self, body: Scope, scan: &Scan, done: &HashMap<Term, Term>, inside: &Inside) -> Term {
        let (carried, captures, outer) = (scan.init.len(), scan.captures.len(), inside.steps.len());
        let index = Type::scalar(ad_ir::ir::Elem::USIZE);
        let mut params = scan.body.params.to_vec();
        let first = carried + captures;
        params.splice(first..first, std::iter::repeat_n(index.clone(), outer));
        params.push(index.clone());
        let own = params.len() - 1;
        let mut param = |k: usize| self.g.mk(Node::Param(u32::try_from(k).unwrap_or(u32::MAX), index.clone()));
        let steps: Vec<Term> = (first..first + outer).chain([own]).map(&mut param).collect();
        let results = self.scope(body, &scan.body.results, &Inside { steps, moved: Some((first, outer)) });
        let count = self.watched(done, scan.count);
        let numbers = self.g.iota(count);
        let map = |terms: &[Term]| -> Vec<Term> { terms.iter().map(|&t| self.watched(done, t)).collect() };
        let new = Scan {
            count,
            reverse: scan.reverse,
            stop: scan.stop,
            init: map(&scan.init).into(),
            captures: map(&scan.captures).into_iter().chain(inside.steps.iter().copied()).collect(),
            xs: map(&scan.xs).into_iter().chain([numbers]).collect(),
            body: Body { params: params.into(), results: results.into() },
        };
        self.g.scan(new)
    }

    /// An operation on whole arrays over watched operands. Its message shows no operands, so these
    /// say whether it is the first that is not finite.
    fn over_operands(&mut self, (scope, old): (Scope, Term), new: Term, number: u32, steps: &[Term]) -> Term {
        let (before, node) = (self.g.node_rc(old), self.g.node_rc(new));
        let (Node::Prim(_, before), Node::Prim(prim, args)) = (&*before, &*node) else { return new };
        let mut watched = Vec::new();
        for (&before, &arg) in before.iter().zip(args) {
            let is_watched = matches!(self.g.node(arg), Node::Prim(Prim::Watched(_), _));
            if is_watched || !matches!(self.g.ty(arg), Type::Array(elem, _) if elem.is_real()) {
                watched.push(arg);
                continue;
            }
            let own = self.flow.reading(self.g, scope, before);
            self.flow.add_source(number, own);
            let watch = self.named(own, arg, WatchKind::Operand);
            watched.push(self.made(arg, watch, &[], steps));
        }
        self.g.prim(prim.clone(), &watched)
    }

    /// The name of a watched term that shows no operands.
    fn named(&self, number: u32, like: Term, kind: WatchKind) -> Watch {
        let loc = self.g.loc(like);
        Watch {
            number,
            reads: self.flow.reads(number),
            place: loc.index(),
            of_derivative: loc.is_of_derivative(),
            operation: String::new(),
            operands: 0,
            kind,
        }
    }

    /// A term, watched.
    fn term(&mut self, old: Term, new: Term, (number, kind): (u32, WatchKind), steps: &[Term]) -> Term {
        let Node::Prim(prim, args) = self.g.node(new).clone() else { return new };
        let elem = self.g.elem(new);
        let shown = prim.is_elementwise() && kind == WatchKind::Operation;
        let operands: Vec<Term> = args.iter().copied().filter(|&a| shown && self.g.elem(a) == elem).collect();
        let named = self.named(number, old, kind);
        let watch = Watch { operation: prim.name(), operands: operands.len(), ..named };
        self.made(new, watch, &operands, steps)
    }

    /// A result of the routine, watched.
    fn result(&mut self, new: Term, old: Term, name: &str) -> Term {
        if !matches!(self.g.ty(new), Type::Array(elem, _) if elem.is_real()) {
            return new;
        }
        let number = self.flow.reading(self.g, 0, old);
        let watch = Watch { place: 0, ..self.named(number, new, WatchKind::Result(name.to_string())) };
        self.made(new, watch, &[], &[])
    }

    fn made(&mut self, value: Term, watch: Watch, operands: &[Term], steps: &[Term]) -> Term {
        let g = &mut *self.g;
        let shape = g.shape(value).to_vec();
        let mut args = vec![value];
        args.extend(operands);
        args.extend(steps.iter().map(|&step| g.broadcast(step, &shape)));
        for (k, &size) in shape.iter().enumerate() {
            let others = shape.iter().enumerate().filter(|&(other, _)| other != k);
            let (axes, sizes): (Vec<u8>, Vec<Term>) = others.map(|(other, &size)| (axis(other), size)).unzip();
            let numbers = g.iota(size);
            args.push(g.replicate_axes(numbers, &axes, &sizes));
        }
        g.prim(Prim::Watched(watch.into()), &args)
    }
}

/// Whether a term is an operation on whole arrays: the elements of its operands that an element is
/// computed from are not shown.
fn is_of_arrays(g: &Graph, t: Term) -> bool {
    matches!(g.node(t), Node::Prim(prim, _) if !prim.is_elementwise() && !matches!(prim, Prim::Returned(..) | Prim::Call(_)))
}
