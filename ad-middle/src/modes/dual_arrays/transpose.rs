//! The symbolic reverse pass (BOT Figs. 17 and 19): cotangents flow from the results to the leaves
//! through the transposes of the Deltas. Deltas are visited from the highest number down, each one
//! once, after all Deltas that read it have contributed.

use ad_ir::sorted::{SortedMap, SortedSet};

use ad_ir::analysis::guards::Guard;
use ad_ir::ir::{Graph, Loc, Node, Put, Term};

use super::delta::{Delta, DeltaId, DeltaLeaf, Dual};
use super::scan;
use crate::modes::condition::{self, common_guard, mask, wrap, zero_arm};
pub(super) use crate::modes::cotangent::Cotangent;
use crate::modes::cotangent::{add, commute};
pub(super) use crate::modes::linear::KnownZeros;
use crate::modes::linear::{self, where_only};
use ad_ir::analysis::zeros::is_zero;

/// The cotangents of the leaves, given the cotangents of the results (`None` is zero) and the known
/// zeros in each of these.
pub(super) fn transpose(
    g: &mut Graph,
    dual: &Dual,
    seeds: &[Option<Term>],
    masked: &[KnownZeros],
    sums: &SortedMap<DeltaLeaf, Term>,
) -> Found {
    let mut pass = Pass {
        dual,
        pending: vec![Pending::None; dual.deltas.len()],
        found: Found { leaves: SortedMap::new(), summed: SortedSet::new(), undone: Vec::new() },
        sums,
    };
    for ((id, seed), &masked) in dual.tangents.iter().zip(seeds).zip(masked) {
        if let (Some(id), Some(term)) = (id, seed) {
            pass.give(g, *id, Cotangent { term: *term, masked });
        }
    }
    let before = g.at(Loc::default());
    for k in (0..dual.deltas.len()).rev() {
        g.at(dual.place(k));
        match std::mem::replace(&mut pass.pending[k], Pending::None) {
            Pending::None => {}
            Pending::One(ct) => pass.visit(g, &dual.deltas[k], ct),
            Pending::Parts(parts) => match &dual.deltas[k] {
                Delta::Scan(s) => {
                    let before = pass.running(g, s, &parts);
                    for (id, ct) in loop_cotangents(g, s, &parts, &before, &mut pass.found.undone) {
                        pass.give(g, id, ct);
                    }
                }
                Delta::Call(c) => {
                    for (id, ct) in call_cotangents(g, c, &parts) {
                        pass.give(g, id, ct);
                    }
                }
                _ => {}
            },
        }
    }
    g.at(before);
    pass.found
}

/// The cotangents of leaves.
pub(super) struct Found {
    pub(super) leaves: SortedMap<DeltaLeaf, Cotangent>,
    /// Leaves whose cotangent contains the sum that was given for them.
    pub(super) summed: SortedSet<DeltaLeaf>,
    /// Pairs of an array after a loop and the array before that loop, which the loop's derivative
    /// has restored.
    pub(super) undone: Vec<(Term, Term)>,
}

/// The cotangents so far of captures. A loop adds to these instead of starting with zeros.
pub(super) type Running = SortedMap<DeltaId, Cotangent>;

#[derive(Clone)]
enum Pending {
    None,
    One(Cotangent),
    /// For a loop or a call, by part.
    Parts(SortedMap<usize, Cotangent>),
}

struct Pass<'d> {
    dual: &'d Dual,
    pending: Vec<Pending>,
    found: Found,
    /// The sums for leaves that the enclosing loop carries.
    sums: &'d SortedMap<DeltaLeaf, Term>,
}

impl Pass<'_> {
    /// The cotangents so far of arrays that this loop captures. The loop adds to these in place,
    /// instead of adding to zeros and then adding the sum to them. So an inner loop whose steps
    /// read few elements does not pass over the whole array.
    fn running(&mut self, g: &mut Graph, s: &super::delta::ScanDelta, parts: &SortedMap<usize, Cotangent>) -> Running {
        let mut all = Running::new();
        let under = common_guard(g, parts.values().map(|ct| ct.term));
        // A masked cotangent is not added to an unmasked one, unless the loop runs under that mask.
        let joins = |g: &Graph, t: Term| match zero_arm(g, t) {
            Some((mask, _)) => under.is_some_and(|guard| condition::implies(g, guard, mask)),
            None => true,
        };
        for &id in s.captures.iter().flatten() {
            let before = match std::mem::replace(&mut self.pending[id.0 as usize], Pending::None) {
                Pending::One(ct) if g.rank(ct.term) > 0 && joins(g, ct.term) => Some(ct),
                other => {
                    let nothing = matches!(other, Pending::None);
                    self.pending[id.0 as usize] = other;
                    if !nothing {
                        continue;
                    }
                    None
                }
            };
            let sum = match *self.dual.get(id) {
                Delta::Leaf(leaf) if !self.found.summed.contains(&leaf) => {
                    self.sums.get(&leaf).filter(|&&t| g.rank(t) > 0).map(|&t| (leaf, t))
                }
                _ => None,
            };
            let before = match (sum, before) {
                (Some((leaf, sum)), before) => {
                    self.found.summed.insert(leaf);
                    // The sum started as a zero of a value that was not read.
                    let sum = Cotangent { term: sum, masked: KnownZeros::Idle };
                    Some(before.map_or(sum, |ct| add(g, Some(sum), ct)))
                }
                (None, before) => before,
            };
            all.extend(before.map(|ct| (id, ct)));
        }
        all
    }

    /// Adds a cotangent to those of a Delta so far.
    fn give(&mut self, g: &mut Graph, id: DeltaId, ct: Cotangent) {
        if is_zero(g, ct.term) {
            return;
        }
        if let Delta::Part(scan, k) = self.dual.get(id) {
            let slot = &mut self.pending[scan.0 as usize];
            if let Pending::None = slot {
                *slot = Pending::Parts(SortedMap::new());
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
                let sum = add(g, self.found.leaves.get(leaf).copied(), ct);
                self.found.leaves.insert(*leaf, sum);
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
                    // An overwritten element is not read any more, so its cotangent is the zero of
                    // an unread value.
                    let zeros = g.zeros_like(*put);
                    let masked = ct.hidden(g).max(KnownZeros::Unread);
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
                        let term = commute(g, term, &|g, ct| linear::element(g, ct, &[], &[], &[k]));
                        self.give(g, *part, Cotangent { term, masked });
                    }
                }
            }
            Delta::Scan(_) | Delta::Call(_) | Delta::Part(..) => panic!("the cotangents of a loop come by part"),
        }
    }
}

/// A loop also commutes with a conditional: if all its cotangents are zero unless one condition
/// holds, it runs under that condition.
fn loop_cotangents(
    g: &mut Graph,
    s: &super::delta::ScanDelta,
    parts: &SortedMap<usize, Cotangent>,
    before: &Running,
    undone: &mut Vec<(Term, Term)>,
) -> Vec<(DeltaId, Cotangent)> {
    let Some(guard) = common_guard(g, parts.values().map(|ct| ct.term)) else {
        return scan::transpose(g, s, parts, before, undone);
    };
    let arm = |g: &Graph, ct: &Cotangent| Cotangent {
        term: zero_arm(g, ct.term).map_or(ct.term, |arm| arm.1),
        masked: ct.masked,
    };
    let inner: SortedMap<usize, Cotangent> = parts.iter().map(|(&k, ct)| (k, arm(g, ct))).collect();
    let unmasked = before.iter().map(|(&id, ct)| (id, arm(g, ct))).collect();
    let mut left = before.clone();
    loop_cotangents(g, s, &inner, &unmasked, undone)
        .into_iter()
        .map(|(id, ct)| {
            // The first cotangent that the loop sends to a capture contains the capture's earlier
            // one; the others do not.
            let Some(before) = left.remove(&id) else {
                return (id, Cotangent { term: wrap(g, ct.term, guard), masked: ct.masked });
            };
            let term = match zero_arm(g, before.term) {
                Some((mask, _)) if mask == guard => wrap(g, ct.term, mask),
                Some((mask, arm)) => {
                    let term = either(g, guard, ct.term, arm);
                    wrap(g, term, mask)
                }
                None => either(g, guard, ct.term, before.term),
            };
            (id, Cotangent { term, masked: ct.masked })
        })
        .collect()
}

/// A call whose cotangents are all zero unless one condition holds is made under that condition.
fn call_cotangents(
    g: &mut Graph,
    c: &super::call::CallDelta,
    parts: &SortedMap<usize, Cotangent>,
) -> Vec<(DeltaId, Cotangent)> {
    let guard = common_guard(g, parts.values().map(|ct| ct.term));
    let arm = |ct: &Cotangent| match guard.and(zero_arm(g, ct.term)) {
        Some((_, arm)) => Cotangent { term: arm, masked: ct.masked },
        None => *ct,
    };
    let inner: SortedMap<usize, Cotangent> = parts.iter().map(|(&k, ct)| (k, arm(ct))).collect();
    super::call::transpose(g, c, &inner, guard)
}

/// `then` where the guard holds, else `other`.
fn either(g: &mut Graph, guard: Guard, then: Term, other: Term) -> Term {
    if guard.1 { g.cond(guard.0, then, other) } else { g.cond(guard.0, other, then) }
}
