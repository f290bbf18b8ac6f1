//! The symbolic reverse pass (BOT Figs. 17 and 19): cotangents flow from the results to the leaves through the transposes of the Deltas,
//! from the highest number down, so that each Delta is visited once, when all that is above it has contributed.

use std::collections::BTreeMap;

use crate::ir::{Graph, Node, Put, Term};

use super::condition::{self, mask, wrap, zero_arm};
use super::delta::{Delta, DeltaId, Dual, Leaf};
pub(super) use super::linear::Masked;
use super::linear::{hidden_mask, is_zero, where_only};
use super::scan;

/// A cotangent, and what is known of its zeros.
#[derive(Clone, Copy, Debug)]
pub(super) struct Cotangent {
    pub(super) term: Term,
    pub(super) masked: Masked,
}

impl Cotangent {
    /// What is known of the zeros when the term's root is no longer looked at.
    pub(super) fn hidden(self, g: &Graph) -> Masked {
        if zero_arm(g, self.term).is_some() { Masked::Arm } else { hidden_mask(g, self.term, self.masked) }
    }
}

/// The cotangents of the leaves, given those of the results (`None` is zero).
pub(super) fn transpose(
    g: &mut Graph,
    dual: &Dual,
    seeds: &[Option<Term>],
    masked: Masked,
) -> BTreeMap<Leaf, Cotangent> {
    let mut pass = Pass { dual, pending: vec![Pending::None; dual.deltas.len()], leaves: BTreeMap::new() };
    for (id, seed) in dual.tangents.iter().zip(seeds) {
        if let (Some(id), Some(term)) = (id, seed) {
            pass.give(g, *id, Cotangent { term: *term, masked });
        }
    }
    for k in (0..dual.deltas.len()).rev() {
        match std::mem::replace(&mut pass.pending[k], Pending::None) {
            Pending::None => {}
            Pending::One(ct) => pass.visit(g, &dual.deltas[k], ct),
            Pending::Parts(parts) => {
                if let Delta::Scan(s) = &dual.deltas[k] {
                    for (id, ct) in loop_cotangents(g, s, &parts) {
                        pass.give(g, id, ct);
                    }
                }
            }
        }
    }
    pass.leaves
}

#[derive(Clone)]
enum Pending {
    None,
    One(Cotangent),
    /// For a loop, by part.
    Parts(BTreeMap<usize, Cotangent>),
}

struct Pass<'d> {
    dual: &'d Dual,
    pending: Vec<Pending>,
    leaves: BTreeMap<Leaf, Cotangent>,
}

impl Pass<'_> {
    /// Repeated use adds.
    fn give(&mut self, g: &mut Graph, id: DeltaId, ct: Cotangent) {
        if is_zero(g, ct.term) {
            return;
        }
        if let Delta::Part(scan, k) = self.dual.get(id) {
            let slot = &mut self.pending[scan.0 as usize];
            if let Pending::None = slot {
                *slot = Pending::Parts(BTreeMap::new());
            }
            if let Pending::Parts(parts) = slot {
                let sum = add(g, parts.get(k).copied(), ct);
                parts.insert(*k, sum);
            }
            return;
        }
        let slot = &mut self.pending[id.0 as usize];
        let before = match slot {
            Pending::One(before) => Some(*before),
            Pending::None | Pending::Parts(_) => None,
        };
        *slot = Pending::One(add(g, before, ct));
    }

    fn visit(&mut self, g: &mut Graph, delta: &Delta, ct: Cotangent) {
        let Cotangent { term, masked } = ct;
        match delta {
            Delta::Leaf(leaf) => {
                let sum = add(g, self.leaves.get(leaf).copied(), ct);
                self.leaves.insert(*leaf, sum);
            }
            Delta::Add(a, b) => {
                self.give(g, *a, ct);
                self.give(g, *b, ct);
            }
            Delta::Apply(lin, x) => {
                let masked_after = lin.transposed_mask(g, term, masked);
                let term = lin.transpose(g, term, masked);
                self.give(g, *x, Cotangent { term, masked: masked_after });
            }
            Delta::Cond { cond, then, other, .. } => {
                for (arm, value) in [(then, true), (other, false)] {
                    if let Some(arm) = arm {
                        let term = mask(g, term, (*cond, value));
                        self.give(g, *arm, Cotangent { term, masked });
                    }
                }
            }
            Delta::Select { mask, then, other, .. } => {
                if let Some(then) = then {
                    let term = commute(g, term, &|g, ct| {
                        let zero = g.zeros_like(ct);
                        where_only(g, *mask, true, ct, zero)
                    });
                    self.give(g, *then, Cotangent { term, masked });
                }
                if let Some(other) = other {
                    let term = commute(g, term, &|g, ct| {
                        let zero = g.zeros_like(ct);
                        where_only(g, *mask, false, ct, zero)
                    });
                    self.give(g, *other, Cotangent { term, masked });
                }
            }
            Delta::Update { dst, src, put, vars, index, .. } => {
                if let Some(src) = src {
                    let sizes: Box<[Term]> = g.shape(*put)[..vars.len()].into();
                    let term = commute(g, term, &|g, ct| {
                        let (sizes, vars, index) = (sizes.clone(), vars.clone(), index.clone());
                        g.mk(Node::Gather { src: ct, sizes, vars, index })
                    });
                    self.give(g, *src, Cotangent { term, masked: ct.hidden(g) });
                }
                if let Some(dst) = dst {
                    // What is overwritten is not read any more: its cotangent is the zero of something unread.
                    let zeros = g.zeros_like(*put);
                    let masked = ct.hidden(g).max(Masked::Unread);
                    let term = commute(g, term, &|g, ct| {
                        let (vars, index) = (vars.clone(), index.clone());
                        g.mk(Node::Scatter { put: Put::Set, dst: ct, src: zeros, vars, index })
                    });
                    self.give(g, *dst, Cotangent { term, masked });
                }
            }
            Delta::Stack { parts, .. } => {
                for (k, part) in parts.iter().enumerate() {
                    if let Some(part) = part {
                        let k = g.lit_usize(k);
                        let term = commute(g, term, &|g, ct| g.index(ct, &[k]));
                        self.give(g, *part, Cotangent { term, masked });
                    }
                }
            }
            Delta::Scan(_) | Delta::Part(..) => panic!("a loop's cotangents come by part"),
        }
    }
}

/// The sum of cotangents. Conditionals on one condition are merged, so that an arm not taken stays without cost (prototype.md, 3a).
fn add(g: &mut Graph, before: Option<Cotangent>, ct: Cotangent) -> Cotangent {
    let Some(before) = before else { return ct };
    // A sum is a masked zero only where both parts are, for whatever reason.
    let masked = before.hidden(g).min(ct.hidden(g));
    Cotangent { term: condition::add(g, before.term, ct.term), masked }
}

/// A linear operation goes under a conditional that has a zero arm, so that the arm not taken stays without cost.
fn commute(g: &mut Graph, ct: Term, operation: &dyn Fn(&mut Graph, Term) -> Term) -> Term {
    match zero_arm(g, ct) {
        Some((literal, arm)) => {
            let term = commute(g, arm, operation);
            wrap(g, term, literal)
        }
        None => operation(g, ct),
    }
}

/// A loop commutes with a conditional too: if all its cotangents are zero unless one condition holds, it runs under that condition.
fn loop_cotangents(
    g: &mut Graph,
    s: &super::delta::ScanDelta,
    parts: &BTreeMap<usize, Cotangent>,
) -> Vec<(DeltaId, Cotangent)> {
    let arms: Option<Vec<_>> = parts.values().map(|ct| zero_arm(g, ct.term)).collect();
    let Some(arms) = arms else { return scan::transpose(g, s, parts) };
    let Some(&(literal, _)) = arms.first() else { return Vec::new() };
    if arms.iter().any(|a| a.0 != literal) {
        return scan::transpose(g, s, parts);
    }
    let inner: BTreeMap<usize, Cotangent> =
        parts.iter().zip(&arms).map(|((&k, ct), arm)| (k, Cotangent { term: arm.1, masked: ct.masked })).collect();
    loop_cotangents(g, s, &inner)
        .into_iter()
        .map(|(id, ct)| (id, Cotangent { term: wrap(g, ct.term, literal), masked: ct.masked }))
        .collect()
}
