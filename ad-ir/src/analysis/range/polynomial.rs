//! Sums of products of integers: `(h + 1) * w - h * w` is `w`. This module must never be called for
//! a term that may be saturated.

use crate::sorted::{SortedMap, SortedSet};

use super::{Facts, Linear};
use crate::ir::{Elem, Graph, Node, Term, Type};
use crate::prim::{Cmp, IntOp, Prim};

/// A sum of products, each with a coefficient. The factors of a product are sorted.
#[derive(Clone, Debug, Default)]
struct Polynomial(SortedMap<Vec<Term>, i128>);

/// The maximum number of products in a polynomial.
const MAX_PRODUCTS: usize = 16;
/// The maximum nesting of sums and products.
const MAX_DEPTH: u32 = 8;

impl Polynomial {
    fn add(&mut self, factors: Vec<Term>, coefficient: i128) -> Option<()> {
        let entry = self.0.entry(factors).or_insert(0);
        *entry = entry.checked_add(coefficient)?;
        self.0.retain(|_, c| *c != 0);
        (self.0.len() <= MAX_PRODUCTS).then_some(())
    }

    fn plus(mut self, other: &Polynomial, sign: i128) -> Option<Polynomial> {
        for (factors, c) in &other.0 {
            self.add(factors.clone(), c.checked_mul(sign)?)?;
        }
        Some(self)
    }

    fn times(&self, other: &Polynomial) -> Option<Polynomial> {
        let mut product = Polynomial::default();
        for (p, a) in &self.0 {
            for (q, b) in &other.0 {
                let mut factors = [&p[..], q].concat();
                factors.sort_unstable();
                product.add(factors, a.checked_mul(*b)?)?;
            }
        }
        Some(product)
    }

    /// The value of an unsigned term that is not saturated. Then no part of its sums and products
    /// is saturated, unless the part is multiplied by 0.
    fn of(facts: &mut Facts, g: &Graph, t: Term, deep: u32) -> Option<Polynomial> {
        let next = deep.checked_sub(1)?;
        if let Node::Prim(Prim::Int(op @ (IntOp::Add | IntOp::Mul)), args) = g.node(t) {
            let (a, b) = (Self::of(facts, g, args[0], next)?, Self::of(facts, g, args[1], next)?);
            return if *op == IntOp::Add { a.plus(&b, 1) } else { a.times(&b) };
        }
        Self::of_linear(&facts.linear(g, t))
    }

    fn of_linear(l: &Linear) -> Option<Polynomial> {
        let mut sum = Polynomial::default();
        for (&atom, &c) in &l.atoms {
            sum.add(vec![atom], c)?;
        }
        sum.add(Vec::new(), l.constant)?;
        Some(sum)
    }
}

impl Polynomial {
    /// A linear form in which each product of several factors is an atom.
    fn linear(&self, g: &mut Graph) -> Linear {
        let mut l = Linear::default();
        for (factors, &c) in &self.0 {
            match factors.split_first() {
                Some((&first, rest)) => {
                    let product = rest.iter().fold(first, |product, &t| g.int(IntOp::Mul, product, t));
                    l.atoms.insert(product, c);
                }
                None => l.constant = c,
            }
        }
        l
    }

    /// The factors of its products, without those that are alone.
    fn strides(&self) -> SortedSet<Term> {
        self.0.keys().filter(|factors| factors.len() > 1).flatten().copied().collect()
    }

    /// Comparisons multiplied by a factor, as polynomials that are not negative. Each has a product
    /// that this polynomial subtracts.
    fn facts_for_products(&self, facts: &mut Facts, g: &Graph, known: &[(Term, bool)]) -> Option<Vec<Polynomial>> {
        let subtracted: Vec<&Vec<Term>> =
            self.0.iter().filter(|(f, c)| f.len() > 1 && **c < 0).map(|(f, _)| f).collect();
        let mut found = Vec::new();
        for &(c, holds) in known.iter().filter(|_| !subtracted.is_empty()) {
            let Node::Prim(Prim::Compare(op), args) = g.node(c) else { continue };
            let (low, high, strict) = match (op, holds) {
                (Cmp::Lt, true) => (args[0], args[1], true),
                (Cmp::Le, true) => (args[0], args[1], false),
                (Cmp::Gt, true) => (args[1], args[0], true),
                (Cmp::Ge, true) => (args[1], args[0], false),
                _ => continue,
            };
            let distance = facts.linear(g, high).combine(1, &facts.linear(g, low), -1)?;
            let distance = distance.combine(1, &Linear::constant(i128::from(strict)), -1)?;
            let distance = Polynomial::of_linear(&distance)?;
            for stride in self.strides() {
                let scaled = distance.times(&Polynomial(SortedMap::from([(vec![stride], 1)])))?;
                if subtracted.iter().any(|f| scaled.0.get(*f).is_some_and(|&c| c < 0)) {
                    found.push(scaled);
                }
            }
        }
        Some(found)
    }
}

/// Whether two positions `n * i + j` and `n * k + l` in a matrix that is stored as a vector differ,
/// given comparisons that hold. A position that is saturated is outside of the vector, so it does
/// not count.
///
/// The difference is a sum of products such as `n * k - n * i + l - j`. From a comparison `i < k`
/// follows `n * i + n <= n * k` for each factor `n`, and the products are atoms of the proof.
pub fn positions_differ(facts: &mut Facts, g: &mut Graph, (a, b): (Term, Term), known: &[(Term, bool)]) -> bool {
    differ(facts, g, (a, b), known).unwrap_or(false)
}

fn differ(facts: &mut Facts, g: &mut Graph, (a, b): (Term, Term), known: &[(Term, bool)]) -> Option<bool> {
    let [a, b] = [Polynomial::of(facts, g, a, MAX_DEPTH)?, Polynomial::of(facts, g, b, MAX_DEPTH)?];
    for (low, high) in [(&a, &b), (&b, &a)] {
        let mut goal = high.clone().plus(low, -1)?;
        if goal.strides().is_empty() {
            return None;
        }
        goal.add(Vec::new(), -1)?;
        let mark = facts.mark();
        for fact in goal.facts_for_products(facts, g, known)? {
            let fact = fact.linear(g);
            facts.learn(fact);
        }
        let goal = goal.linear(g);
        let above = facts.prove(g, &goal);
        facts.forget(mark);
        if above {
            return Some(true);
        }
    }
    Some(false)
}

/// The difference `b - a` of two `usize` terms that are not saturated, over atoms that `closed`
/// accepts. A product may be subtracted only if it is known that `a <= b` (`ordered`).
pub fn difference(
    facts: &mut Facts,
    g: &mut Graph,
    (a, b): (Term, Term),
    ordered: bool,
    closed: impl Fn(&Graph, Term) -> bool,
) -> Option<Term> {
    let difference = Polynomial::of(facts, g, b, MAX_DEPTH)?.plus(&Polynomial::of(facts, g, a, MAX_DEPTH)?, -1)?;
    let fits = |t: Term| closed(g, t) && *g.ty(t) == Type::scalar(Elem::USIZE);
    if !difference.0.iter().all(|(factors, &c)| (ordered || c > 0) && factors.iter().all(|&t| fits(t))) {
        return None;
    }
    let mut sides = [g.lit_usize(0), g.lit_usize(0)];
    for (factors, c) in difference.0 {
        let mut product = g.lit_usize(usize::try_from(c.unsigned_abs()).ok()?);
        for t in factors {
            product = g.int(IntOp::Mul, product, t);
        }
        let side = &mut sides[usize::from(c < 0)];
        *side = g.int(IntOp::Add, *side, product);
    }
    Some(g.int(IntOp::Sub, sides[0], sides[1]))
}
