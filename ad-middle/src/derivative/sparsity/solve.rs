//! Equations and slopes of indices: the value of a variable for which an index is equal to a given
//! one, and whether an index grows with a variable. This module must never leave out a value of a
//! variable for which the equation may hold.

use ad_ir::ir::{Elem, Graph, Node, Term, Var};
use ad_ir::prim::structural::quotient;
use ad_ir::prim::{Cmp, IntOp, Prim};

use super::{ColumnRange, MAX_SUMMANDS};

/// The range for the only value of a variable under which its condition holds.
pub(super) fn solved(g: &mut Graph, range: ColumnRange, var: Var, count: Term) -> Option<ColumnRange> {
    let (mut rest, mut all) = (vec![range.under?], Vec::new());
    while let Some(t) = rest.pop() {
        match g.node(t) {
            Node::Prim(Prim::And, args) => rest.extend(args.iter().copied()),
            _ => all.push(t),
        }
    }
    let equal = |g: &mut Graph, k: usize, t: Term| {
        let Node::Prim(Prim::Compare(Cmp::Eq), args) = g.node(t) else { return None };
        let (a, b) = (args[0], args[1]);
        let (a, b) = if g.mentions(a, var) { (a, b) } else { (b, a) };
        if g.mentions(b, var) || g.elem(a) != Elem::USIZE {
            return None;
        }
        let (value, there) = solution(g, a, b, var, count)?;
        Some((Some(k), value, there))
    };
    let candidates: Vec<(usize, Term)> = all.iter().copied().enumerate().collect();
    let (own, value, there) = candidates
        .iter()
        .find_map(|&(k, t)| equal(g, k, t))
        .or_else(|| candidates.iter().find_map(|&(_, t)| between(g, t, &all, var, count)))?;
    if let Some(own) = own {
        all.swap_remove(own);
    }
    let known = [(var, value)];
    let mut under = there;
    for t in all {
        let t = g.subst_vars(t, &known);
        under = g.and(under, t);
    }
    Some(ColumnRange {
        first: g.subst_vars(range.first, &known),
        end: g.subst_vars(range.end, &known),
        under: Some(under),
    })
}

/// The only value of a variable for which `from <= to` and `to - from < width`, where `from` grows
/// by at least `width` when the variable grows by one. An example is the row of a position in a
/// flattened matrix.
fn between(g: &mut Graph, below: Term, all: &[Term], var: Var, count: Term) -> Option<(Option<usize>, Term, Term)> {
    let Node::Prim(Prim::Compare(Cmp::Lt), args) = g.node(below) else { return None };
    let (distance, width) = (args[0], args[1]);
    let Node::Prim(Prim::Int(IntOp::Sub), args) = g.node(distance) else { return None };
    let (to, from) = (args[0], args[1]);
    if g.mentions(to, var) || g.mentions(width, var) || !g.mentions(from, var) {
        return None;
    }
    let behind = g.compare(Cmp::Le, from, to);
    if !all.contains(&behind) {
        return None;
    }
    let Linear { factor, plus } = linear(g, from, var)?;
    if !at_most(g, width, factor) {
        return None;
    }
    let rest = g.int(IntOp::Sub, to, plus);
    let value = g.int(IntOp::Div, rest, factor);
    let there = g.compare(Cmp::Lt, value, count);
    Some((None, value, there))
}

/// Whether the forms of two sizes show that the first is at most the second.
fn at_most(g: &Graph, a: Term, b: Term) -> bool {
    a == b
        || match (g.int_value(a), g.int_value(b)) {
            (Some(a), Some(b)) => a <= b,
            _ => match g.node(a) {
                Node::Prim(Prim::Int(IntOp::Sub | IntOp::Div), args) => at_most(g, args[0], b),
                Node::Prim(Prim::Int(IntOp::Min), args) => args.iter().any(|&a| at_most(g, a, b)),
                _ => false,
            },
        }
}

/// The value of a variable below `size` for which `t` is `wanted`, and the condition that this
/// value exists.
fn solution(g: &mut Graph, t: Term, wanted: Term, var: Var, size: Term) -> Option<(Term, Term)> {
    let Linear { factor, plus } = linear(g, t, var)?;
    g.int_value(factor).filter(|&factor| factor > 0)?;
    let mut value = Vec::new();
    let there = quotient(g, None, [plus, wanted], factor, size, &mut value);
    Some((value[0], there))
}

/// The variables of a scatter, while its index is solved for them.
#[derive(Default)]
pub(super) struct Case {
    /// Variables without a value, and their sizes.
    pub(super) open: Vec<(Var, Term)>,
    pub(super) values: Vec<(Var, Term)>,
    pub(super) index: Vec<Term>,
    pub(super) conditions: Vec<Term>,
}

impl Case {
    /// Solves one component of the index for the only open variable in it.
    pub(super) fn solve(&mut self, g: &mut Graph, at: &[Term]) -> bool {
        for (k, &index) in self.index.iter().enumerate() {
            let mut there = (0..self.open.len()).filter(|&o| g.mentions(index, self.open[o].0));
            let (Some(o), None) = (there.next(), there.next()) else { continue };
            let (var, size) = self.open[o];
            let Some((value, there)) = solution(g, index, at[k], var, size) else { continue };
            self.conditions.push(there);
            self.open.remove(o);
            self.set(g, var, value);
            // The condition determines this component.
            self.index[k] = at[k];
            return true;
        }
        false
    }

    /// A case for each value of an open variable with few values.
    pub(super) fn split(&self, g: &mut Graph) -> Option<Vec<Case>> {
        let o = (0..self.open.len()).find(|&o| g.int_value(self.open[o].1).is_some_and(|n| n <= MAX_SUMMANDS))?;
        let (var, size) = self.open[o];
        let count = usize::try_from(g.int_value(size)?).ok()?;
        let case = |k: usize| {
            let mut case = Case {
                open: self.open.clone(),
                values: self.values.clone(),
                index: self.index.clone(),
                conditions: self.conditions.clone(),
            };
            case.open.remove(o);
            let value = g.lit_usize(k);
            case.set(g, var, value);
            case
        };
        Some((0..count).map(case).collect())
    }

    fn set(&mut self, g: &mut Graph, var: Var, value: Term) {
        let known = [(var, value)];
        self.index = g.subst_vars_all(&self.index, &known);
        self.conditions = g.subst_vars_all(&self.conditions, &known);
        let values: Vec<Term> = self.values.iter().map(|v| v.1).collect();
        for (own, new) in self.values.iter_mut().zip(g.subst_vars_all(&values, &known)) {
            own.1 = new;
        }
        self.values.push((var, value));
    }
}

/// `factor * variable + plus`.
struct Linear {
    factor: Term,
    plus: Term,
}

/// The term as a linear function of a variable. (A difference of `usize` is not linear: it
/// saturates at 0.)
fn linear(g: &mut Graph, t: Term, var: Var) -> Option<Linear> {
    let zero = g.lit_usize(0);
    if matches!(g.node(t), Node::Var(v) if *v == var) {
        return Some(Linear { factor: g.lit_usize(1), plus: zero });
    }
    let Node::Prim(Prim::Int(op), args) = g.node_rc(t).as_ref().clone() else { return None };
    let (a, b) = (args[0], args[1]);
    let (own, other) = match (g.mentions(a, var), g.mentions(b, var)) {
        (true, false) => (a, b),
        (false, true) => (b, a),
        _ => return None,
    };
    let inner = linear(g, own, var)?;
    match op {
        IntOp::Add => Some(Linear { plus: g.int(IntOp::Add, inner.plus, other), ..inner }),
        IntOp::Mul => {
            Some(Linear { factor: g.int(IntOp::Mul, inner.factor, other), plus: g.int(IntOp::Mul, inner.plus, other) })
        }
        _ => None,
    }
}

/// How a term changes with a variable.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Slope {
    Same,
    /// It grows by one, or stays at a limit of its type.
    One,
    Up,
    Down,
}

impl Slope {
    pub(super) fn grows(self) -> bool {
        self != Slope::Down
    }

    pub(super) fn shrinks(self) -> bool {
        matches!(self, Slope::Down | Slope::Same)
    }

    fn reversed(self) -> Self {
        match self {
            Slope::Same => Slope::Same,
            Slope::One | Slope::Up => Slope::Down,
            Slope::Down => Slope::Up,
        }
    }
}

/// How an index changes with a variable; `None` if that is not known. Operations of `usize`
/// saturate, so they stay monotone.
pub(super) fn slope(g: &Graph, t: Term, var: Var) -> Option<Slope> {
    if !g.mentions(t, var) {
        return Some(Slope::Same);
    }
    match g.node(t) {
        Node::Var(_) => Some(Slope::One),
        Node::Prim(Prim::Int(op), args) => {
            let (a, b) = (slope(g, args[0], var)?, slope(g, args[1], var)?);
            match op {
                IntOp::Add => sum(a, b),
                IntOp::Sub => sum(a, b.reversed()),
                IntOp::Mul | IntOp::Min | IntOp::Max => sum(coarse(a), coarse(b)),
                IntOp::Div if b == Slope::Same => Some(coarse(a)),
                _ => None,
            }
        }
        _ => None,
    }
}

fn coarse(slope: Slope) -> Slope {
    if slope == Slope::One { Slope::Up } else { slope }
}

fn sum(a: Slope, b: Slope) -> Option<Slope> {
    match (a, b) {
        (Slope::Same, other) | (other, Slope::Same) => Some(other),
        (Slope::Down, Slope::Down) => Some(Slope::Down),
        (Slope::Down, _) | (_, Slope::Down) => None,
        _ => Some(Slope::Up),
    }
}
