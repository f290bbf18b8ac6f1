//! Lowers `match`. Arms are lazy: each is lowered under the condition that it is selected.
//!
//! Few arms are tested one after the other. Many arms are the leaves of a balanced tree of
//! conditionals, so that their number is not a depth of nesting. If the patterns are numbers and
//! ranges of one integer, the tree compares that integer with numbers, as a binary search does.

use syn::visit::Visit;
use syn::{Expr, ExprMatch, Pat};

use super::lower::Lower;
use super::pattern::poison;
use super::value::{ClosureBody, Lowered, Value};
use crate::walk::{Part, Walk};
use ad_ir::catalogue::refused;
use ad_ir::diag::{Poison, SrcRange};
use ad_ir::ir::{Elem, Lit, Node, Term};
use ad_ir::prim::{Cmp, Prim};

/// Up to this number of arms are tested one after the other.
const FEW: usize = 8;

/// One arm of a `match`.
struct Arm<'a> {
    pat: &'a Pat,
    guard: Option<&'a Expr>,
    body: ClosureBody<'a>,
}

/// A binary tree of tests, whose leaves are numbers of arms.
enum Tree {
    Leaf(usize),
    /// The test, the tree where it holds, and the other one.
    Test(Test, Box<Tree>, Box<Tree>),
}

#[derive(Clone, Copy)]
enum Test {
    Holds(Term),
    /// The integer is less than this number.
    Less(Term, i128),
}

/// An interval of integers, with both of its ends.
type Interval = (i128, i128);

/// The alternatives of a pattern that binds variables: each is an arm. Another pattern is one arm.
fn alternatives(pat: &Pat) -> Vec<&Pat> {
    match pat {
        Pat::Paren(p) => alternatives(&p.pat),
        Pat::Or(p) => {
            let mut binds = false;
            let mut walk = |part: Part<'_>| {
                if let Part::PatIdent(p) = part {
                    // Other names are those of constants and variants.
                    binds |= p.ident.to_string().starts_with(|c: char| c.is_lowercase() || c == '_');
                }
            };
            Walk(&mut walk).visit_pat(pat);
            if binds { p.cases.iter().flat_map(alternatives).collect() } else { vec![pat] }
        }
        _ => vec![pat],
    }
}

impl<'a> Lower<'a> {
    /// Lowers `match`. rustc checks that the arms are exhaustive, so the last one needs no
    /// condition.
    pub(super) fn match_expr(&mut self, m: &'a ExprMatch) -> Lowered<Value<'a>> {
        let range = SrcRange { first: m.match_token.span, last: SrcRange::of(&m.expr).last };
        let value = self.moved(&m.expr);
        let arms: Vec<Arm> = m
            .arms
            .iter()
            .flat_map(|arm| {
                let (pat, guard) = match &arm.pat {
                    Pat::Guard(p) => (&*p.pat, Some(&*p.guard)),
                    pat => (pat, None),
                };
                let body = ClosureBody::Expr(&arm.body);
                alternatives(pat).into_iter().map(move |pat| Arm { pat, guard, body })
            })
            .collect();
        match value {
            Ok(value) => self.at_syntax(&m.expr, |me| me.arms(&arms, &value, range)),
            Err(Poison) => {
                for arm in &arms {
                    let outer = self.state.names.scope();
                    poison(self, arm.pat);
                    // The unreachable arm is lowered for its errors only.
                    let _ = self.body(arm.body);
                    self.state.names.back_to(outer);
                }
                Err(Poison)
            }
        }
    }

    fn arms(&mut self, arms: &[Arm<'a>], value: &Value<'a>, range: SrcRange) -> Lowered<Value<'a>> {
        let Some((arm, rest)) = arms.split_first() else {
            return Err(self.error(range, refused::empty_match()));
        };
        let unguarded = arms.iter().take_while(|arm| arm.guard.is_none()).count();
        if unguarded > FEW {
            return self.many_arms(arms, unguarded, value, range);
        }
        let (outer, cells) = (self.state.names.scope(), self.state.cells.len());
        let mut fits =
            if rest.is_empty() && arm.guard.is_none() { self.g.lit_bool(true) } else { self.fits(arm.pat, value)? };
        let bound = self.under(fits, true, |me| me.bind(arm.pat, Some(value.clone())));
        if let (Ok(()), Some(guard)) = (bound, arm.guard) {
            let place = SrcRange::of(guard);
            let holds = self.shortcut(fits, true, |me| me.expr(guard), place)?;
            fits = self.boolean(&holds, place)?;
        }
        let result = if self.g.bool_value(fits) == Some(true) {
            bound.and(self.body(arm.body))
        } else {
            let then = |me: &mut Self| {
                let then = me.body(arm.body);
                me.state.names.back_to(outer.clone());
                bound.and(then)
            };
            self.branch(fits, then, |me| me.one_level_deeper(|| range, |me| me.arms(rest, value, range)), range)
        };
        self.state.names.back_to(outer.clone());
        self.state.cells.truncate(cells);
        result
    }

    /// Lowers arms; the first `unguarded` of them have no guard. The conditions of such arms have
    /// no effects, so they may be tested in any order.
    fn many_arms(
        &mut self,
        arms: &[Arm<'a>],
        unguarded: usize,
        value: &Value<'a>,
        range: SrcRange,
    ) -> Lowered<Value<'a>> {
        // The last alternative has no condition: it is the last arm, or all arms from the first
        // guard on.
        let last = unguarded.min(arms.len() - 1);
        let mut fits = Vec::new();
        for arm in &arms[..last] {
            fits.push(self.fits(arm.pat, value)?);
        }
        let mut all = fits.clone();
        if last + 1 == arms.len() && arms[last].guard.is_none() {
            all.push(self.fits(arms[last].pat, value)?);
        }
        let tree = match self.partition(&all).or_else(|| self.partition(&fits)) {
            Some((x, mut parts)) => {
                // Each value selects an arm, so no value in between occurs.
                parts.retain(|(_, k)| *k <= last);
                let (x, parts) = self.numbered(x, parts, last);
                search(x, &parts)
            }
            None => self.tests(0, &fits),
        };
        self.selected(&tree, arms, last, value, range)
    }

    fn selected(
        &mut self,
        tree: &Tree,
        arms: &[Arm<'a>],
        last: usize,
        value: &Value<'a>,
        range: SrcRange,
    ) -> Lowered<Value<'a>> {
        match tree {
            Tree::Leaf(k) if *k == last => self.one_level_deeper(|| range, |me| me.arms(&arms[last..], value, range)),
            Tree::Leaf(k) => {
                let (outer, cells) = (self.state.names.scope(), self.state.cells.len());
                let arm = &arms[*k];
                let bound = self.bind(arm.pat, Some(value.clone()));
                let result = bound.and(self.body(arm.body));
                self.state.names.back_to(outer);
                self.state.cells.truncate(cells);
                result
            }
            Tree::Test(test, then, other) => {
                let test = self.test(*test);
                self.branch(
                    test,
                    |me| me.selected(then, arms, last, value, range),
                    |me| me.selected(other, arms, last, value, range),
                    range,
                )
            }
        }
    }

    fn test(&mut self, test: Test) -> Term {
        match test {
            Test::Holds(t) => t,
            Test::Less(x, end) => {
                let Elem::Int(ty) = self.g.elem(x) else { return self.g.lit_bool(false) };
                let end = self.g.lit(Lit::Int(ty, end));
                self.g.compare(Cmp::Lt, x, end)
            }
        }
    }

    /// Whether at least one of these conditions holds.
    pub(super) fn any(&mut self, conditions: &[Term]) -> Term {
        match conditions {
            [] => self.g.lit_bool(false),
            [one] => *one,
            more => {
                let (a, b) = more.split_at(more.len() / 2);
                let (a, b) = (self.any(a), self.any(b));
                self.g.or(a, b)
            }
        }
    }

    /// A tree for conditions of any kind. The first one belongs to arm `first`, and the arm after
    /// the last one is selected if none holds.
    fn tests(&mut self, first: usize, fits: &[Term]) -> Tree {
        let after = first + fits.len();
        if fits.len() <= FEW {
            return (first..after).zip(fits).rev().fold(Tree::Leaf(after), |other, (k, &fits)| {
                Tree::Test(Test::Holds(fits), Tree::Leaf(k).into(), other.into())
            });
        }
        let (left, right) = fits.split_at(fits.len() / 2);
        let test = Test::Holds(self.any(left));
        // One condition of the left half holds there, so its last one needs no test.
        let (left, right) = (self.tests(first, &left[..left.len() - 1]), self.tests(first + left.len(), right));
        Tree::Test(test, left.into(), right.into())
    }

    /// The parts of an integer's range, ascending and without gaps, each with the arm that is
    /// selected there. The arm after the last one is selected if no condition holds. `None` if the
    /// conditions are others than that one integer is in some intervals.
    fn partition(&self, fits: &[Term]) -> Option<(Term, Vec<(Interval, usize)>)> {
        let mut of = None;
        let mut intervals = Vec::new();
        for (&fits, k) in fits.iter().zip(0..) {
            let mut own = Vec::new();
            self.intervals(fits, &mut of, &mut own)?;
            intervals.extend(own.into_iter().map(|part| (part, k)));
        }
        // The first arm is selected if several match, so overlapping intervals have an order.
        intervals.sort_unstable();
        if intervals.windows(2).any(|pair| pair[1].0.0 <= pair[0].0.1) {
            return None;
        }
        let x = of?;
        let Elem::Int(ty) = self.g.elem(x) else { return None };
        let (least, most) = ty.range();
        let mut parts: Vec<(Interval, usize)> = Vec::new();
        let mut next = least;
        for ((low, high), k) in intervals {
            if next < low {
                parts.push(((next, low - 1), fits.len()));
            }
            match parts.last_mut() {
                Some((part, arm)) if *arm == k => part.1 = high,
                _ => parts.push(((low, high), k)),
            }
            next = high + 1;
        }
        if next <= most {
            parts.push(((next, most), fits.len()));
        }
        Some((x, parts))
    }

    /// The intervals in which the integer `of` is if the condition holds.
    fn intervals(&self, fits: Term, of: &mut Option<Term>, found: &mut Vec<Interval>) -> Option<()> {
        let Node::Prim(prim, args) = self.g.node(fits) else { return None };
        let limit = |op: Cmp| match (self.g.int_value(args[0]), self.g.int_value(args[1])) {
            (None, Some(n)) => Some((args[0], op, n)),
            (Some(n), None) => Some((args[1], mirrored(op), n)),
            _ => None,
        };
        match prim {
            Prim::Or => {
                self.intervals(args[0], of, found)?;
                self.intervals(args[1], of, found)
            }
            Prim::And => {
                let (mut a, mut b) = (Vec::new(), Vec::new());
                self.intervals(args[0], of, &mut a)?;
                self.intervals(args[1], of, &mut b)?;
                let ([a], [b]) = (&a[..], &b[..]) else { return None };
                let both = (a.0.max(b.0), a.1.min(b.1));
                if both.0 <= both.1 {
                    found.push(both);
                }
                Some(())
            }
            Prim::Compare(op) => {
                let (x, op, n) = limit(*op)?;
                if *of.get_or_insert(x) != x {
                    return None;
                }
                let Elem::Int(ty) = self.g.elem(x) else { return None };
                let (least, most) = ty.range();
                let (low, high) = match op {
                    Cmp::Eq => (n, n),
                    Cmp::Lt => (least, n - 1),
                    Cmp::Le => (least, n),
                    Cmp::Gt => (n + 1, most),
                    Cmp::Ge => (n, most),
                    Cmp::Ne => return None,
                };
                // No value of the type is outside of its range.
                if low <= high {
                    found.push((low, high));
                }
                Some(())
            }
            _ => None,
        }
    }

    /// The same choice with one part for each arm, so that each is lowered once. If an arm has
    /// several parts of the integer's range, the choice is by the arm's number.
    fn numbered(&mut self, x: Term, parts: Vec<(Interval, usize)>, last: usize) -> (Term, Vec<(Interval, usize)>) {
        let mut count = vec![0_usize; last + 1];
        for (_, k) in &parts {
            count[*k] += 1;
        }
        if count.iter().all(|&n| n <= 1) {
            return (x, parts);
        }
        let number = self.arm_number(&search(x, &parts));
        let as_number = |k: usize| i128::try_from(k).unwrap_or(i128::MAX);
        let arms = count.iter().enumerate().filter(|(_, n)| **n > 0);
        (number, arms.map(|(k, _)| ((as_number(k), as_number(k)), k)).collect())
    }

    fn arm_number(&mut self, tree: &Tree) -> Term {
        match tree {
            Tree::Leaf(k) => self.g.lit_usize(*k),
            Tree::Test(test, then, other) => {
                let (then, other) = (self.arm_number(then), self.arm_number(other));
                let test = self.test(*test);
                self.g.cond(test, then, other)
            }
        }
    }
}

/// The comparison with its operands exchanged.
fn mirrored(op: Cmp) -> Cmp {
    match op {
        Cmp::Lt => Cmp::Gt,
        Cmp::Le => Cmp::Ge,
        Cmp::Gt => Cmp::Lt,
        Cmp::Ge => Cmp::Le,
        Cmp::Eq | Cmp::Ne => op,
    }
}

/// A binary search for the part that has `x`. The parts are ascending.
fn search(x: Term, parts: &[(Interval, usize)]) -> Tree {
    match parts {
        [] => Tree::Leaf(0),
        [(_, k)] => Tree::Leaf(*k),
        more => {
            let (left, right) = more.split_at(more.len() / 2);
            let least = right[0].0.0;
            Tree::Test(Test::Less(x, least), search(x, left).into(), search(x, right).into())
        }
    }
}
