//! The dual transformation (BOT Figs. 13-15): each real term gets its Delta, by one rule for each
//! form and the derivative rows of the tables. Integer and boolean terms have no Delta, and neither
//! have terms that depend on no active leaf. So activity needs no separate analysis.

use std::collections::{HashMap, HashSet};

use ad_ir::analysis::Analyses;
use ad_ir::analysis::sizes::Sizes;
use ad_ir::ir::rewrite::{Rewrite, by_age};
use ad_ir::ir::{Graph, Node, Put, Term, Type};
use ad_ir::prim::structural::{Linear, LinearMap, LinearTerm};
use ad_ir::prim::{Binary, Build, Prim, Reduce, Scaling};

use super::delta::{Delta, DeltaId, DeltaLeaf, Dual, Tangent, differentiable};
use super::{call, scan};
use crate::modes::linear::Lin;
use crate::modes::partials::{Extremum, extremum_read, powi_partial};

/// The Deltas of `roots` with respect to these inputs.
pub(super) fn dual(g: &mut Graph, roots: &[Term], active: &[u32]) -> Dual {
    let active = |leaf| match leaf {
        DeltaLeaf::Input(k) => active.contains(&k),
        DeltaLeaf::Param(_) => false,
    };
    dual_of(g, roots, &active, false)
}

/// The Deltas of `roots` with respect to the leaves for which `active` holds. `in_loop`: they are
/// the results of a loop's body.
pub(super) fn dual_of(g: &mut Graph, roots: &[Term], active: &dyn Fn(DeltaLeaf) -> bool, in_loop: bool) -> Dual {
    let mut d = Dualise {
        g,
        active,
        in_loop,
        out: Dual::default(),
        primal: HashMap::new(),
        tangents: HashMap::new(),
        analyses: Analyses::default(),
    };
    // Sizes are parts of types, so their terms do not change. A loop that is needed only for sizes
    // saves nothing.
    let mut sizes = (*d.analyses.get::<Sizes>(d.g, roots)).clone();
    // Index functions are outside differentiation (they are discrete), but loops in them are still
    // the primal's loops.
    let terms = reachable(d.g, roots, &mut sizes);
    for &t in terms.iter().filter(|t| sizes.contains(t)) {
        d.keep(t, (t, Tangent::Zero));
    }
    by_age(&mut d, terms);
    let mut out = d.out;
    out.loops = d
        .primal
        .iter()
        .filter(|(t, p)| t != p && (matches!(d.g.node(**t), Node::Scan(_)) || call::is_call(d.g, **t)))
        .map(|(&t, &p)| (t, p))
        .collect();
    out.primal = roots.iter().map(|t| d.primal[t]).collect();
    out.tangents = roots.iter().map(|t| d.tangents[t].array()).collect();
    out
}

/// All terms that the roots depend on, oldest first, except those that only sizes depend on. The
/// counts of loops are sizes too.
fn reachable(g: &Graph, roots: &[Term], sizes: &mut HashSet<Term>) -> Vec<Term> {
    let mut seen: HashSet<Term> = HashSet::new();
    let mut stack: Vec<Term> = roots.to_vec();
    while let Some(t) = stack.pop() {
        if !seen.insert(t) || sizes.contains(&t) {
            continue;
        }
        if let Node::Scan(scan) = g.node(t) {
            sizes.insert(scan.count);
        }
        g.node(t).for_each_child(|c| stack.push(c));
    }
    let mut all: Vec<Term> = seen.into_iter().collect();
    all.sort_unstable();
    all
}

pub(super) struct Dualise<'g, 'a> {
    pub(super) g: &'g mut Graph,
    active: &'a dyn Fn(DeltaLeaf) -> bool,
    /// Whether the terms are those of a loop's body.
    pub(super) in_loop: bool,
    pub(super) out: Dual,
    /// The term in the primal program whose loops save the values that derivatives read.
    pub(super) primal: HashMap<Term, Term>,
    pub(super) tangents: HashMap<Term, Tangent>,
    pub(super) analyses: Analyses,
}

impl Rewrite for Dualise<'_, '_> {
    type Key = Term;
    type New = (Term, Tangent);

    fn graph(&mut self) -> &mut Graph {
        self.g
    }

    fn origin(&self, t: &Term) -> Option<Term> {
        Some(*t)
    }

    fn is_done(&mut self, t: &Term) -> bool {
        self.primal.contains_key(t)
    }

    fn keep(&mut self, t: Term, (primal, tangent): (Term, Tangent)) {
        debug_assert_eq!(self.g.ty(t), self.g.ty(primal));
        self.primal.insert(t, primal);
        self.tangents.insert(t, tangent);
    }

    fn made(&mut self, &t: &Term) -> (Term, Tangent) {
        self.out.here = self.g.loc(t).of_derivative();
        let node = self.g.node_rc(t);
        match &*node {
            Node::Scan(s) => scan::dual(self, t, s),
            Node::Prim(Prim::Call(callee), args) => call::dual(self, callee, args),
            Node::Proj(tuple, k) => {
                let p = self.primal[tuple];
                (self.g.proj(p, *k as usize), self.tangents[tuple].part(*k as usize))
            }
            _ => {
                let mapped = node.map_children(|c| self.primal[&c]);
                let p = self.g.mk(mapped);
                let before = self.g.at(self.out.here);
                let tangent = self.tangent(p, &node);
                self.g.at(before);
                (p, tangent)
            }
        }
    }
}

impl Dualise<'_, '_> {
    fn of(&self, t: Term) -> Option<DeltaId> {
        self.tangents[&t].array()
    }

    fn p(&self, t: Term) -> Term {
        self.primal[&t]
    }

    fn push(&mut self, delta: Delta) -> Option<DeltaId> {
        Some(self.out.push(delta))
    }

    fn apply(&mut self, lin: Lin, x: Option<DeltaId>) -> Option<DeltaId> {
        x.and_then(|x| self.push(Delta::Apply(lin, x)))
    }

    fn add(&mut self, a: Option<DeltaId>, b: Option<DeltaId>) -> Option<DeltaId> {
        match (a, b) {
            (Some(a), Some(b)) => self.push(Delta::Add(a, b)),
            (a, b) => a.or(b),
        }
    }

    /// The derivative of `node` (with original children) whose primal term is `p`.
    fn tangent(&mut self, p: Term, node: &Node) -> Tangent {
        if let Node::Tuple(parts) = node {
            return Tangent::Tuple(parts.iter().map(|t| self.tangents[t].clone()).collect());
        }
        if let Node::Cond { cond, then, other } = node {
            let (cond, then, other) = (self.p(*cond), self.tangents[then].clone(), self.tangents[other].clone());
            return self.cond(cond, p, &then, &other);
        }
        match self.g.ty(p) {
            Type::Array(elem, _) if differentiable(*elem) => {}
            _ => return Tangent::Zero,
        }
        let id = match node {
            Node::Input(k) => self.leaf(DeltaLeaf::Input(*k)),
            Node::Param(k, _) => self.leaf(DeltaLeaf::Param(*k)),
            Node::Gather { src, .. } => {
                let Node::Gather { src: from, sizes, vars, index } = self.g.node(p).clone() else {
                    return Tangent::Zero;
                };
                let from = self.g.shape(from).to_vec();
                let x = self.of(*src);
                self.apply(Lin::Gather { vars, index, sizes, from }, x)
            }
            Node::Scatter { put: Put::Set, dst, src, .. } => {
                let Node::Scatter { dst: onto, src: put, vars, index, .. } = self.g.node(p).clone() else {
                    return Tangent::Zero;
                };
                let (dst, src) = (self.of(*dst), self.of(*src));
                if dst.is_none() && src.is_none() {
                    return Tangent::Zero;
                }
                self.push(Delta::Update { dst, src, onto, put, vars, index })
            }
            Node::Scatter { put: Put::Add, dst, src, .. } => {
                let Node::Scatter { src: source, vars, index, .. } = self.g.node(p).clone() else {
                    return Tangent::Zero;
                };
                let sizes = self.g.shape(source)[..vars.len()].to_vec();
                let to = self.g.shape(p).to_vec();
                let (onto, x) = (self.of(*dst), self.of(*src));
                let x = self.apply(Lin::Scatter { vars, index, sizes, to }, x);
                self.add(onto, x)
            }
            Node::Prim(Prim::Returned(k, _), args) => {
                assert!(call::is_call(self.g, args[0]), "a result is differentiated together with its call");
                return self.tangents[&args[0]].part(*k as usize);
            }
            Node::Prim(prim, args) => self.prim(p, prim, args),
            Node::Size(..) | Node::Var(_) | Node::Lit(_) => None,
            Node::Build { .. } => panic!("builds are eliminated before differentiation"),
            Node::Tuple(_) | Node::Proj(..) | Node::Cond { .. } | Node::Scan(_) => None,
        };
        Tangent::from(id)
    }

    fn leaf(&mut self, leaf: DeltaLeaf) -> Option<DeltaId> {
        if (self.active)(leaf) { self.push(Delta::Leaf(leaf)) } else { None }
    }

    fn cond(&mut self, cond: Term, like: Term, then: &Tangent, other: &Tangent) -> Tangent {
        if then.is_zero() && other.is_zero() {
            return Tangent::Zero;
        }
        if let Type::Tuple(parts) = self.g.ty(like).clone() {
            let parts = (0..parts.len())
                .map(|k| {
                    let like = self.g.proj(like, k);
                    self.cond(cond, like, &then.part(k), &other.part(k))
                })
                .collect();
            return Tangent::Tuple(parts);
        }
        let (then, other) = (then.array(), other.array());
        Tangent::from(self.push(Delta::Cond { cond, then, other }))
    }

    /// Rows of the tables and the structural primitives. `p` is the primal term, `args` the
    /// original arguments.
    fn prim(&mut self, p: Term, prim: &Prim, args: &[Term]) -> Option<DeltaId> {
        let now: Vec<Term> = args.iter().map(|&a| self.p(a)).collect();
        let x = args.first().and_then(|&a| self.of(a));
        match prim {
            Prim::Unary(f) => {
                let row = f.row();
                let (x, partial) = (x?, row.partial?);
                let f = partial(self.g, now[0], p);
                self.apply(Lin::Scale(f, row.scaling), Some(x))
            }
            Prim::Binary(f) => self.binary(*f, p, args, &now),
            Prim::PowI => {
                let x = x?;
                let f = powi_partial(self.g, now[0], now[1]);
                self.apply(Lin::Scale(f, Scaling::Plain), Some(x))
            }
            Prim::Select => {
                let (then, other) = (self.of(args[1]), self.of(args[2]));
                if then.is_none() && other.is_none() {
                    return None;
                }
                self.push(Delta::Select { mask: now[0], then, other, like: p })
            }
            Prim::Cast(to) => {
                let from = self.g.elem(now[0]);
                self.apply(Lin::Cast { from, to: *to }, x)
            }
            Prim::RelaxedExact | Prim::UnknownOrder => x,
            Prim::Reduce(Reduce::Max, rank) => self.extremum(Reduce::ArgMax, *rank, now[0], x),
            Prim::Reduce(Reduce::Min, rank) => self.extremum(Reduce::ArgMin, *rank, now[0], x),
            Prim::Stack => {
                let parts: Vec<Option<DeltaId>> = args.iter().map(|&a| self.of(a)).collect();
                if parts.iter().all(Option::is_none) {
                    return None;
                }
                self.push(Delta::Stack { parts, like: now[0] })
            }
            // Derivative zero by convention, or results that are not real.
            Prim::StopGradient
            | Prim::Compare(_)
            | Prim::Int(_)
            | Prim::IntNeg
            | Prim::TotalOrder
            | Prim::Finished
            | Prim::Checkpoint
            | Prim::Watched(_)
            | Prim::Not
            | Prim::And
            | Prim::Or
            | Prim::Reduce(Reduce::ArgMax | Reduce::ArgMin | Reduce::All | Reduce::Any, _) => None,
            Prim::Fused => None,
            // This is the exact value of a pair, and the relaxed value of the pair has the
            // derivative.
            Prim::Reduce(op, _) => {
                debug_assert!(op.keeps_order(), "{op:?} has a derivative");
                None
            }
            _ => self.structural(p, prim, args, &now),
        }
    }

    /// A structural primitive: the sum of the derivatives with respect to its data arguments.
    fn structural(&mut self, p: Term, prim: &Prim, args: &[Term], now: &[Term]) -> Option<DeltaId> {
        let mut total = None;
        for (k, &arg) in args[..prim.data_args(args.len())].iter().enumerate() {
            let Some(x) = self.of(arg) else { continue };
            let part = prim.structural(|s| s.derivative(self, now, p, k, LinearTerm(x.0))).flatten();
            total = self.add(total, part.map(|x| DeltaId(x.0)));
        }
        total
    }

    /// The derivative of a structural primitive with respect to its argument k, whose Delta is `x`.
    fn linear(&mut self, prim: &Prim, now: &[Term], k: usize, x: DeltaId) -> Option<DeltaId> {
        let linear = prim.structural(|s| s.linear(self.g, now, k)).flatten()?;
        self.apply(Lin::Structural(linear), Some(x))
    }

    fn binary(&mut self, f: Binary, p: Term, args: &[Term], now: &[Term]) -> Option<DeltaId> {
        let row = f.row();
        let mut total = None;
        for (&arg, partial) in args.iter().zip(row.partials) {
            let (Some(x), Some(partial)) = (self.of(arg), partial) else { continue };
            let f = partial(self.g, now[0], now[1], p);
            let scaled = if self.g.real_value(f) == Some(1.0) {
                Some(x)
            } else {
                self.apply(Lin::Scale(f, row.scaling), Some(x))
            };
            total = self.add(total, scaled);
        }
        total
    }

    /// An extremum reads its array at the first place where it is attained.
    fn extremum(&mut self, arg: Reduce, rank: u8, x: Term, dx: Option<DeltaId>) -> Option<DeltaId> {
        let dx = dx?;
        let Extremum { flat, reshaped, vars, index, sizes } = extremum_read(self.g, arg, rank, x)?;
        let dx = match reshaped {
            Some(args) => self.linear(&Prim::Reshape, &args, 0, dx),
            None => Some(dx),
        };
        self.apply(Lin::Gather { vars, index, sizes, from: flat }, dx)
    }
}

impl Linear for Dualise<'_, '_> {
    fn build(&mut self) -> &mut dyn Build {
        self.g
    }

    fn apply(&mut self, map: LinearMap, x: LinearTerm) -> LinearTerm {
        LinearTerm(self.out.push(Delta::Apply(Lin::Structural(map), DeltaId(x.0))).0)
    }

    fn scale(&mut self, f: Term, scaling: Scaling, x: LinearTerm) -> LinearTerm {
        LinearTerm(self.out.push(Delta::Apply(Lin::Scale(f, scaling), DeltaId(x.0))).0)
    }

    fn add(&mut self, a: LinearTerm, b: LinearTerm) -> LinearTerm {
        LinearTerm(self.out.push(Delta::Add(DeltaId(a.0), DeltaId(b.0))).0)
    }
}
