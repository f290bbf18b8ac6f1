//! The conditions under which terms are needed. This module must never change a term.

use std::collections::HashMap;

use super::zeros::is_blank;
use super::{Analyses, Analysis};
use crate::ir::{Elem, Graph, Node, Term, Type};
use crate::prim::{Cmp, Prim};

/// A condition and the value that it must have.
pub type Guard = (Term, bool);

/// The maximum number of conditions of a term. Further ones are ignored.
const MAX_CONDITIONS: usize = 16;

/// For each term of a scope: the conditions that all its uses have in common, the innermost first.
pub struct Guards;

impl Analysis for Guards {
    type Result = HashMap<Term, Vec<Guard>>;

    fn of(g: &Graph, roots: &[Term], _: &mut Analyses) -> Self::Result {
        common(g, roots, &|_| Vec::new())
    }
}

/// [`Guards`], with the conditions that follow from them: two uses under a conjunction and under a
/// part of it have the part in common.
pub struct ImpliedGuards;

impl Analysis for ImpliedGuards {
    type Result = HashMap<Term, Vec<Guard>>;

    fn of(g: &Graph, roots: &[Term], _: &mut Analyses) -> Self::Result {
        common(g, roots, &|guard| {
            let mut all = parts(g, guard);
            let mut next = 0;
            while let Some(&part) = all.get(next).filter(|_| next < MAX_CONDITIONS) {
                all.extend(parts(g, part));
                next += 1;
            }
            all
        })
    }
}

/// For each array: the masks that all its uses have in common. An element for which such a mask
/// does not hold is not read.
pub struct Masks;

impl Analysis for Masks {
    type Result = HashMap<Term, Vec<Guard>>;

    fn of(g: &Graph, roots: &[Term], _: &mut Analyses) -> Self::Result {
        let mut all: HashMap<Term, Vec<Guard>> = roots.iter().map(|&t| (t, Vec::new())).collect();
        let give = |all: &mut HashMap<Term, Vec<Guard>>, t: Term, set: &[Guard]| {
            all.entry(t).and_modify(|old| old.retain(|l| set.contains(l))).or_insert_with(|| set.to_vec());
        };
        for t in g.reachable(roots).into_iter().rev() {
            let own = all.get(&t).cloned().unwrap_or_default();
            match g.node(t) {
                Node::Prim(Prim::Select, args) if g.rank(args[0]) > 0 => {
                    give(&mut all, args[0], &[]);
                    for (k, value, other) in [(1, true, 2), (2, false, 1)] {
                        let mut set = own.clone();
                        if is_blank(g, args[other]) && set.len() < MAX_CONDITIONS {
                            set.push((args[0], value));
                        }
                        give(&mut all, args[k], &set);
                    }
                }
                Node::Prim(Prim::Unary(_) | Prim::Binary(_), args) if g.rank(t) > 0 => {
                    args.iter().for_each(|&c| give(&mut all, c, &own));
                }
                node => node.for_each_child(|c| give(&mut all, c, &[])),
            }
        }
        all
    }
}

/// The conditions that the uses of each term have in common, each with those that follow from it.
fn common(g: &Graph, roots: &[Term], follows: &dyn Fn(Guard) -> Vec<Guard>) -> HashMap<Term, Vec<Guard>> {
    let mut guards: HashMap<Term, Vec<Guard>> = roots.iter().map(|&t| (t, Vec::new())).collect();
    let give = |guards: &mut HashMap<Term, Vec<Guard>>, t: Term, set: Vec<Guard>| {
        guards.entry(t).and_modify(|old| old.retain(|l| set.contains(l))).or_insert(set);
    };
    for t in g.reachable(roots).into_iter().rev() {
        let own = guards.get(&t).cloned().unwrap_or_default();
        match g.node(t) {
            Node::Cond { cond, then, other } => {
                give(&mut guards, *cond, own.clone());
                for (arm, value) in [(*then, true), (*other, false)] {
                    let mut set = own.clone();
                    if set.len() < MAX_CONDITIONS && !set.contains(&(*cond, value)) {
                        let follow = follows((*cond, value));
                        set.splice(0..0, std::iter::once((*cond, value)).chain(follow.into_iter().rev()));
                    }
                    give(&mut guards, arm, set);
                }
            }
            // Whether a call is made is decided wherever the call is moved.
            Node::Prim(Prim::Call(_) | Prim::Onto(..), args) => {
                give(&mut guards, args[0], Vec::new());
                args[1..].iter().for_each(|&c| give(&mut guards, c, own.clone()));
            }
            node => node.for_each_child(|c| give(&mut guards, c, own.clone())),
        }
    }
    guards
}

/// The simpler guards that a guard consists of, the outermost first. Empty if it is simple itself.
/// A lazy conjunction is `cond c1 c2 false`: its second condition is not evaluated where the first
/// one does not hold.
pub fn parts(g: &Graph, (c, value): Guard) -> Vec<Guard> {
    match *g.node(c) {
        Node::Cond { cond, then, other } if value && g.bool_value(other) == Some(false) => {
            vec![(cond, true), (then, true)]
        }
        Node::Cond { cond, then, other } if value && g.bool_value(then) == Some(false) => {
            vec![(cond, false), (other, true)]
        }
        Node::Prim(Prim::Not, ref args) => vec![(args[0], !value)],
        _ => Vec::new(),
    }
}

/// The guards that follow from these as their parts, and parts of parts.
pub fn all_parts(g: &Graph, set: &[Guard]) -> Vec<Guard> {
    let mut following: Vec<Guard> = set.iter().flat_map(|&guard| parts(g, guard)).collect();
    let mut next = 0;
    while let Some(&part) = following.get(next).filter(|_| next < MAX_CONDITIONS) {
        following.extend(parts(g, part));
        next += 1;
    }
    following
}

/// The conditions of a set that do not follow from others of it.
pub fn least(g: &Graph, set: &[Guard]) -> Vec<Guard> {
    let following = all_parts(g, set);
    set.iter().copied().filter(|guard| !following.contains(guard)).collect()
}

/// The size that a condition compares with 0, and whether the condition is that the size is not 0.
pub fn states_size(g: &Graph, c: Term) -> Option<(Term, bool)> {
    let Node::Prim(Prim::Compare(op), args) = g.node(c) else { return None };
    let zero = |t: Term| g.int_value(t) == Some(0);
    let (size, filled) = match (op, zero(args[0]), zero(args[1])) {
        (Cmp::Lt | Cmp::Ne, true, false) => (args[1], true),
        (Cmp::Gt | Cmp::Ne, false, true) => (args[0], true),
        (Cmp::Eq, true, false) => (args[1], false),
        (Cmp::Eq, false, true) => (args[0], false),
        _ => return None,
    };
    (g.ty(size) == &Type::scalar(Elem::USIZE)).then_some((size, filled))
}

/// A condition's value, if these guards decide it. `deep` limits the nesting of conditions.
pub fn decided(g: &Graph, c: Term, facts: &[Guard], deep: usize) -> Option<bool> {
    if let Some((_, value)) = facts.iter().find(|f| f.0 == c) {
        return Some(*value);
    }
    if let Some((size, filled)) = states_size(g, c) {
        let stated = |&(fact, value): &Guard| states_size(g, fact).filter(|f| f.0 == size).map(|f| f.1 == value);
        return facts.iter().find_map(stated).map(|known| known == filled);
    }
    match *g.node(c) {
        _ if deep == 0 => None,
        Node::Cond { cond, then, other } => {
            let arm = if decided(g, cond, facts, deep - 1)? { then } else { other };
            decided(g, arm, facts, deep - 1)
        }
        Node::Prim(Prim::Not, ref args) => decided(g, args[0], facts, deep - 1).map(|value| !value),
        _ => g.bool_value(c),
    }
}

/// The value of nested conditionals whose other arms are blank, and the conditions under which it
/// is chosen; `None` if both arms of a conditional are blank, or neither.
pub fn else_blank(g: &Graph, mut t: Term) -> Option<(Vec<Guard>, Term)> {
    let mut under = Vec::new();
    while let Node::Cond { cond, then, other } = *g.node(t) {
        let (arm, value) = match (is_blank(g, then), is_blank(g, other)) {
            (false, true) => (then, true),
            (true, false) => (other, false),
            _ => return None,
        };
        under.push((cond, value));
        t = arm;
    }
    Some((under, t))
}
