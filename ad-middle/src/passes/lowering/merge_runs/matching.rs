//! Decides whether two loops have the same iterations, by comparing their bodies term by term:
//! which carried values of one correspond to those of the other, and which terms. It changes
//! neither loop. Its traversal is not a rewriting: it looks for the terms of one body in the other
//! body, and skips those that the other body does not have.

use ad_ir::sorted::SortedSet;
use std::collections::HashMap;

use super::equal::{EqualResults, same_rows, whole};
use ad_ir::ir::{Graph, Node, Scan, Term};
use ad_ir::prim::{IntOp, Prim};

/// The maximum number of assignments of carried values that are tried.
const MAX_TRIES: usize = 16;

/// The arguments of a loop (initial values, captures, consumed arrays) as terms for the other loop,
/// in order.
pub(super) type Args = Vec<Option<Term>>;

/// The correspondence of the other loop's values to this one's.
pub(super) struct Matched {
    /// The counterpart of each carried value that is needed.
    pub(super) carries: Vec<Option<usize>>,
    /// The counterparts of the terms of the body.
    pub(super) map: HashMap<Term, Term>,
    /// Additional captures and consumed arrays that it needs.
    pub(super) more: ExtraInputs,
    /// Maps loops in the body to the loop with the same iterations.
    pub(super) pairs: HashMap<Term, LoopPair>,
}

/// The loop with the same iterations, the correspondence of the carried values, and of the terms of
/// the body.
pub(super) struct LoopPair {
    pub(super) same: Term,
    pub(super) carries: Vec<Option<usize>>,
    pub(super) map: HashMap<Term, Term>,
    pub(super) bound: usize,
    pub(super) steps: Term,
}

/// Additional captures and consumed arrays, by the indices of their parameters, which follow those
/// of the body.
pub(super) type ExtraInputs = (Vec<(usize, Term)>, Vec<(usize, Term)>);

pub(super) struct LoopsToMerge<'a> {
    pub(super) first: Term,
    pub(super) s: &'a Scan,
    /// Whether a size is a result of the first loop.
    pub(super) of_size: bool,
    pub(super) other: Term,
    pub(super) a: &'a Scan,
    /// Result indices of the other loop.
    pub(super) needed: &'a SortedSet<usize>,
    pub(super) alike: &'a EqualResults,
}

impl LoopsToMerge<'_> {
    /// The correspondence of `a`'s carried values and terms to those of `s`, if these results
    /// determine it. `args` are the initial values, captures and consumed arrays of `a`.
    pub(super) fn matched(
        &self,
        g: &mut Graph,
        a: &Scan,
        s: &Scan,
        args: &Args,
        needed: &SortedSet<usize>,
        may_take_more: bool,
    ) -> Option<Matched> {
        let (carries, captures) = (a.init.len(), a.captures.len());
        let stop_is = |k: usize, n: usize| (a.stop == Some(k)) == (s.stop == Some(n)) || a.stop.is_none();
        let mut one = |t: &Term| self.alike.one(g, *t);
        let inits: Vec<Term> = s.init.iter().map(&mut one).collect();
        let captured: Vec<Term> = s.captures.iter().map(&mut one).collect();
        let consumed: Vec<Term> = s.xs.iter().map(&mut one).collect();
        let candidates: Vec<Vec<usize>> = (0..carries)
            .map(|k| {
                let fits =
                    |n: &usize| a.body.params[k] == s.body.params[*n] && args[k] == Some(inits[*n]) && stop_is(k, *n);
                (0..s.init.len()).filter(fits).collect()
            })
            .collect();
        let mut choice: Vec<usize> = vec![0; carries];
        // Candidates in the same order are tried first.
        let mut from = 0;
        for (k, places) in candidates.iter().enumerate() {
            choice[k] = places.iter().position(|&n| n >= from).unwrap_or(0);
            from = places.get(choice[k]).map_or(from, |n| n + 1);
        }
        for _ in 0..MAX_TRIES {
            let mut params: Vec<Option<Term>> = Vec::new();
            for (k, places) in candidates.iter().enumerate() {
                params.push(places.get(choice[k]).map(|&n| g.param(n, a.body.params[k].clone())));
            }
            let mut more = (Vec::new(), Vec::new());
            for (k, arg) in args.iter().enumerate().skip(carries) {
                let ty = a.body.params[k].clone();
                let is_captured = k < carries + captures;
                let (of, first): (&[Term], usize) =
                    if is_captured { (&captured, s.init.len()) } else { (&consumed, s.init.len() + s.captures.len()) };
                let equal = |&t: &Term| match *arg {
                    Some(arg) if is_captured => t == arg,
                    Some(arg) => same_rows(g, t, arg),
                    None => false,
                };
                let place = of.iter().position(equal).map(|n| first + n);
                let place = place.filter(|&n| s.body.params[n] == ty).or_else(|| {
                    let arg = arg.filter(|_| may_take_more)?;
                    let new = s.body.params.len() + more.0.len() + more.1.len();
                    if is_captured {
                        more.0.push((new, arg))
                    } else {
                        more.1.push((new, whole(g, arg)))
                    }
                    Some(new)
                });
                params.push(place.map(|n| g.param(n, ty)));
            }
            let (map, pairs) = self.terms(g, a, s, &params);
            match wrong(g, a, s, (&candidates, &choice), &map, needed)? {
                Ok(carries) => {
                    return Some(Matched { carries, map, more, pairs });
                }
                Err(k) => {
                    choice[k] += 1;
                    if choice[k] >= candidates[k].len() {
                        return None;
                    }
                }
            }
        }
        None
    }

    /// The terms of `a`'s body as terms of `s`'s body.
    fn terms(
        &self,
        g: &mut Graph,
        a: &Scan,
        s: &Scan,
        params: &[Option<Term>],
    ) -> (HashMap<Term, Term>, HashMap<Term, LoopPair>) {
        let mut map: HashMap<Term, Term> = HashMap::new();
        let mut pairs: HashMap<Term, LoopPair> = HashMap::new();
        for t in g.reachable(&a.body.results) {
            if !g.is_open(t) {
                map.insert(t, t);
                continue;
            }
            let node = g.node_rc(t);
            if let Node::Scan(inner) = &*node
                && let Some(pair) = self.inner(g, inner, s, &map)
            {
                pairs.insert(t, pair);
                continue;
            }
            let made = match &*node {
                Node::Param(k, _) => params.get(*k as usize).copied().flatten(),
                Node::Proj(of, k) if pairs.contains_key(of) => {
                    let pair = &pairs[of];
                    pair.carries.get(*k as usize).copied().flatten().map(|n| g.proj(pair.same, n))
                }
                node => {
                    let mut all = true;
                    node.for_each_child(|c| all &= map.contains_key(&c));
                    if all { g.try_mk(node.map_children(|c| map[&c])).ok() } else { None }
                }
            };
            if let Some(made) = made {
                map.insert(t, made);
            }
        }
        (map, pairs)
    }

    /// For an inner loop of `a` with a bound that the first run finds: the loop in `s` with the
    /// same iterations, and the correspondence of its carried values.
    fn inner(&self, g: &mut Graph, a: &Scan, s: &Scan, map: &HashMap<Term, Term>) -> Option<LoopPair> {
        let Node::Proj(of, bound) = *g.node(a.count) else { return None };
        if of != self.first {
            return None;
        }
        let args: Args =
            a.init.iter().chain(&a.captures).chain(&a.xs).map(|t| Some(self.alike.one(g, *map.get(t)?))).collect();
        let needed: SortedSet<usize> = (0..a.init.len()).collect();
        for t in stopping(g, &s.body.results) {
            let Node::Scan(same) = &*g.node_rc(t) else { continue };
            if same.reverse != a.reverse {
                continue;
            }
            let Some(steps) = bounded(g, self.s, bound as usize, t, same) else { continue };
            if let Some(m) = self.matched(g, a, same, &args, &needed, false)
                && a.stop.is_some_and(|k| m.carries[k] == same.stop)
            {
                return Some(LoopPair { same: t, carries: m.carries, map: m.map, bound: bound as usize, steps });
            }
        }
        None
    }
}

/// The loops of a body that stop early.
pub(super) fn stopping(g: &Graph, results: &[Term]) -> Vec<Term> {
    let stops = |t: &Term| g.is_open(*t) && matches!(g.node(*t), Node::Scan(scan) if scan.stop.is_some());
    g.reachable(results).into_iter().filter(stops).collect()
}

/// Whether a carried value counts the iterations.
pub(super) fn counts(g: &mut Graph, s: &Scan, k: usize) -> bool {
    if s.init.get(k).is_none_or(|&t| g.int_value(t) != Some(0)) {
        return false;
    }
    let (n, one) = (g.param(k, s.body.params[k].clone()), g.lit_usize(1));
    let next = g.int(IntOp::Add, n, one);
    s.body.results[k] == next
}

/// The number of iterations of an inner loop, if the carried value `bound` is the maximum of that.
fn bounded(g: &mut Graph, s: &Scan, bound: usize, inner: Term, of: &Scan) -> Option<Term> {
    let next = *s.body.results.get(bound)?;
    let most = g.param(bound, s.body.params[bound].clone());
    let Node::Prim(Prim::Int(IntOp::Max), args) = g.node(next).clone() else { return None };
    let steps = match *args {
        [a, b] if a == most => b,
        [a, b] if b == most => a,
        _ => return None,
    };
    let mut n = steps;
    // It is 0 where the loop does not run.
    while let Node::Cond { then, other, .. } = *g.node(n) {
        n = match (g.int_value(then), g.int_value(other)) {
            (Some(0), _) => other,
            (_, Some(0)) => then,
            _ => return None,
        };
    }
    let Node::Proj(t, k) = *g.node(n) else { return None };
    (t == inner && counts(g, of, k as usize)).then_some(steps)
}

/// The indices of carried values that these results need, or one that has been assigned wrongly;
/// `None` if a result cannot be matched.
fn wrong(
    g: &Graph,
    a: &Scan,
    s: &Scan,
    (candidates, choice): (&[Vec<usize>], &[usize]),
    map: &HashMap<Term, Term>,
    needed: &SortedSet<usize>,
) -> Option<Result<Vec<Option<usize>>, usize>> {
    let mut places: Vec<Option<usize>> = vec![None; a.init.len()];
    let mut stack: Vec<usize> = needed.iter().copied().collect();
    let mut seen: SortedSet<usize> = SortedSet::new();
    while let Some(k) = stack.pop() {
        if !seen.insert(k) {
            continue;
        }
        let result = a.body.results[k];
        if k < a.init.len() {
            let &n = candidates[k].get(choice[k])?;
            if map.get(&result) != Some(&s.body.results[n]) {
                return Some(Err(k));
            }
            places[k] = Some(n);
        } else {
            map.get(&result)?;
        }
        stack.extend(g.reachable(&[result]).into_iter().filter_map(|t| carried(g, a, t)));
    }
    Some(Ok(places))
}

/// The index of the carried value, if the term of a body is its parameter.
pub(super) fn carried(g: &Graph, of: &Scan, t: Term) -> Option<usize> {
    match g.node(t) {
        Node::Param(k, _) if (*k as usize) < of.init.len() => Some(*k as usize),
        _ => None,
    }
}
