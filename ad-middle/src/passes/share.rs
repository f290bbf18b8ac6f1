//! Shares expensive subterms between related functions. If two functions of a family are applied to
//! the same term, both are rewritten in terms of their common subterm, which is then computed once.
//! A function that occurs alone is left alone: its kernel is as fast and reads better. If a
//! derivative divides by one term several times, or by a term whose reciprocal the function has
//! computed, or divides a whole array by a scalar, the pass multiplies by one reciprocal instead.
//!
//! This pass must never rewrite a division of the function itself, even if no decision depends on
//! it: the quotient is rounded once, and may be finite where the reciprocal overflows.

use std::collections::{HashMap, HashSet};

use super::rewrite::{Rewriter, with_rewritten_children};
use super::{Context, Pass};
use ad_ir::analysis::Reachable;
use ad_ir::analysis::sizes::Fixed;
use ad_ir::ir::{Graph, Node, Term};
use ad_ir::prim::{Binary, Cmp, Prim, Unary};

/// A member of a family: the function, and the function that builds it from the common subterm.
type Member = (Unary, fn(&mut Graph, Term) -> Term);

/// The families. `softplus` and its derivative `sigmoid` share `exp(-|x|)`, which cannot overflow.
const FAMILIES: &[&[Member]] = &[&[(Unary::Softplus, softplus), (Unary::Sigmoid, sigmoid)]];

/// The pass.
pub const PASS: Pass = Pass {
    name: "share",
    rules: || vec!["share"],
    run: |g, roots, cx| roots.map(|all| share(g, all, cx)),
    simplified: false,
};

/// The roots with shared subterms. Exact terms are left alone, since another formula changes the
/// last bits. So are the divisions of the function itself.
pub fn share(g: &mut Graph, roots: &[Term], cx: &mut Context) -> Vec<Term> {
    let own = with_bodies(g, &cx.function_terms(g));
    share_outside(g, roots, cx, &own)
}

/// Shares subterms that are not among the function's own terms, in the bodies of loops too.
fn share_outside(g: &mut Graph, roots: &[Term], cx: &mut Context, own: &HashSet<Term>) -> Vec<Term> {
    let (exact, reachable) = (cx.exact(g), cx.get::<Reachable>(g, roots));
    let divided = divided(g, &reachable, own);
    let mut met: HashMap<(usize, Term), Vec<Unary>> = HashMap::new();
    for &t in &*reachable {
        if let Some((family, f, x)) = member(g, t)
            && !exact.contains(&t)
        {
            met.entry((family, x)).or_default().push(f);
        }
    }
    Rewriter::new(&*cx.get::<Fixed>(g, roots)).run(g, roots, |g, t, done| {
        if let Node::Scan(mut scan) = with_rewritten_children(g, t, done) {
            scan.body.results = share_outside(g, &scan.body.results, cx, own).into();
            return Some(g.scan(*scan));
        }
        match member(g, t) {
            Some((family, f, x)) if !exact.contains(&t) && met.get(&(family, x)).is_some_and(|fs| fs.len() > 1) => {
                let (_, write) = FAMILIES[family].iter().find(|m| m.0 == f)?;
                Some(write(g, done[&x]))
            }
            _ => {
                let divided = divided.get(&t)?;
                let reciprocal = match divided.by {
                    Some(own) => done[&own],
                    None => reciprocal(g, done[&divided.y]),
                };
                Some(divided.x.map_or(reciprocal, |x| times(g, done[&x], reciprocal)))
            }
        }
    })
}

/// These terms, and those of the bodies of the loops among them.
fn with_bodies(g: &Graph, terms: &[Term]) -> HashSet<Term> {
    let mut all: HashSet<Term> = HashSet::new();
    let mut stack = terms.to_vec();
    while let Some(t) = stack.pop() {
        if !all.insert(t) {
            continue;
        }
        if let Node::Scan(scan) = g.node(t) {
            stack.extend(g.reachable(&scan.body.results));
        }
    }
    all
}

fn member(g: &Graph, t: Term) -> Option<(usize, Unary, Term)> {
    let Node::Prim(Prim::Unary(f), args) = g.node(t) else { return None };
    let family = FAMILIES.iter().position(|members| members.iter().any(|m| m.0 == *f))?;
    Some((family, *f, args[0]))
}

/// Up to this number of divisions by one term stay divisions, since a quotient is rounded once: so
/// both derivatives of `hypot` at (3, 4) are exact.
const MAX_DIVISIONS: usize = 2;

/// A quotient of a derivative that becomes a reciprocal, or a product with one.
#[derive(Clone, Copy)]
struct Divided {
    /// The dividend; `None` if it is one.
    x: Option<Term>,
    y: Term,
    /// The reciprocal of `y`, if the function has computed it.
    by: Option<Term>,
}

/// Such quotients.
fn divided(g: &Graph, reachable: &[Term], own: &HashSet<Term>) -> HashMap<Term, Divided> {
    let mut by: HashMap<Term, usize> = HashMap::new();
    let mut reciprocals: HashMap<Term, Term> = HashMap::new();
    let mut found = Vec::new();
    for &t in reachable {
        let (x, y) = match g.node(t) {
            Node::Prim(Prim::Binary(Binary::Div), args) if g.real_value(args[1]).is_none() => {
                let one = g.real_value(args[0]) == Some(1.0);
                (Some(args[0]).filter(|_| !one), args[1])
            }
            Node::Prim(Prim::Unary(Unary::Recip), args) => (None, args[0]),
            _ => continue,
        };
        if !own.contains(&t) {
            found.push((t, x, y));
            *by.entry(y).or_default() += 1;
        } else if x.is_none() {
            reciprocals.insert(y, t);
        }
    }
    // Terms are rewritten in order, so a younger term cannot be used.
    let by_own = |t: Term, y: Term| reciprocals.get(&y).copied().filter(|&own| own < t);
    let all = found.into_iter().map(|(t, x, y)| (t, Divided { x, y, by: by_own(t, y) }));
    all.filter(|(_, one)| one.by.is_some() || by[&one.y] > MAX_DIVISIONS || repeated(g, one.y).is_some()).collect()
}

/// The scalar that is replicated, if the array is the same everywhere.
fn repeated(g: &Graph, t: Term) -> Option<Term> {
    match g.node(t) {
        Node::Prim(Prim::Replicate(_), args) if g.rank(args[0]) == 0 => Some(args[0]),
        _ => None,
    }
}

/// `1 / y`; that of a replicated scalar is computed once.
fn reciprocal(g: &mut Graph, y: Term) -> Term {
    let shape = g.shape(y).to_vec();
    let reciprocal = g.unary(Unary::Recip, repeated(g, y).unwrap_or(y));
    g.broadcast(reciprocal, &shape)
}

fn times(g: &mut Graph, x: Term, reciprocal: Term) -> Term {
    if g.real_value(x) == Some(-1.0) { g.neg(reciprocal) } else { g.mul(x, reciprocal) }
}

/// `exp(-|x|)`.
fn decay(g: &mut Graph, x: Term) -> Term {
    let a = g.unary(Unary::Abs, x);
    let n = g.neg(a);
    g.unary(Unary::Exp, n)
}

/// `max(x, 0) + ln(1 + e)`.
fn softplus(g: &mut Graph, x: Term) -> Term {
    let e = decay(g, x);
    let zero = g.lit_like(x, 0.0);
    let positive = g.binary(Binary::Max, x, zero);
    let rest = g.unary(Unary::Ln1p, e);
    g.add(positive, rest)
}

/// `(1 or e) / (1 + e)`, by the sign of x.
fn sigmoid(g: &mut Graph, x: Term) -> Term {
    let e = decay(g, x);
    let (zero, one) = (g.lit_like(x, 0.0), g.lit_like(x, 1.0));
    let below = g.compare(Cmp::Lt, x, zero);
    let numerator = g.select(below, e, one);
    let denominator = g.add(one, e);
    g.div(numerator, denominator)
}
