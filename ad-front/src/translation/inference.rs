//! The types that earlier runs of the front end have inferred, and those that this run infers for
//! the next one: of literals, of a `None`, of an empty `Vec`, and of what changes in a loop. The
//! type of `let mut n = 0;` comes from its uses, which may follow the loop. The first run assumes a
//! default, and a use of another type is noted here.
//!
//! Invariants: what earlier runs have inferred does not change during a run. A trial lowering keeps
//! what it infers. Each finding is new, or is greater than that of earlier runs, so the runs come
//! to an end.
//!
//! This module must never report an error, and never make a term.

use ad_ir::sorted::{SortedMap, SortedSet};
use std::rc::Rc;

use crate::carried_types::CarriedType;
use crate::value::{Number, Value, Want};
use ad_ir::ir::{Elem, Graph, Node, Term};
use ad_ir::memory_order::AxisOrder;
use ad_ir::prim::Prim;

/// Identifies a literal or a carried leaf: the address of the loop's syntax node, the variable, and
/// the index of the leaf. In the body of a helper, sizes are those of one call, so the calls are
/// part of the key of a type with sizes that are not literals.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub(crate) struct InferenceKey {
    address: usize,
    name: Rc<str>,
    leaf: usize,
    calls: Rc<[usize]>,
}

/// The information that a run has inferred for a literal, a `None`, a `Vec` or an array.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) enum Inferred {
    Elem(Elem),
    /// The payload type of a `None`, or the element type of an empty `Vec`.
    Type(CarriedType),
    /// The length of the array changes in the loop.
    Length,
    /// The memory order of the array changes in the loop: the list has all orders that occur.
    Orders(Rc<[AxisOrder]>),
}

/// What runs of the front end have inferred, by the keys.
pub(crate) type Findings = SortedMap<InferenceKey, Inferred>;

impl InferenceKey {
    /// The key of a variable in a loop. `at` is the loop's syntax node.
    pub(crate) fn new<T>(at: &T, name: &str) -> Self {
        InferenceKey::at_address(std::ptr::from_ref(at) as usize, name)
    }

    /// The key of a literal with a given address.
    pub(crate) fn at_address(address: usize, name: &str) -> Self {
        InferenceKey { address, name: name.into(), leaf: 0, calls: [].into() }
    }

    /// The key of another variable of the same loop.
    pub(crate) fn for_variable(&self, name: &str) -> Self {
        InferenceKey::at_address(self.address, name)
    }

    /// The key of the same in these calls, each given by the number of its location.
    pub(crate) fn in_calls(&self, calls: &[usize]) -> Self {
        InferenceKey { calls: calls.into(), ..self.clone() }
    }

    /// Goes to the next leaf of the variable.
    pub(crate) fn next_leaf(&mut self) {
        self.leaf += 1;
    }
}

/// The inference of one run.
#[derive(Default)]
pub(crate) struct Inference {
    /// The findings of earlier runs.
    before: Findings,
    /// The findings of this run. The next run uses them.
    now: Findings,
    /// The terms whose types come from literals, each with those literals.
    literals: SortedMap<Term, Vec<InferenceKey>>,
    /// The integer literals without a suffix, keyed by the address of the number. The numbers are
    /// kept alive, since they are identified by address.
    numbers: SortedMap<usize, (Rc<Number>, InferenceKey)>,
}

impl Inference {
    /// The inference of a run after runs with these findings.
    pub(crate) fn after(before: Findings) -> Self {
        Inference { before, ..Inference::default() }
    }

    /// The findings of this run, which are taken out.
    pub(crate) fn take_findings(&mut self) -> Findings {
        std::mem::take(&mut self.now)
    }

    /// Whether this run has found something, so that the function is lowered again. Its errors may
    /// be gone then.
    pub(crate) fn needs_another_run(&self) -> bool {
        !self.now.is_empty()
    }

    /// The finding of an earlier run: for these calls, or for all.
    pub(crate) fn known(&self, key: &InferenceKey) -> Option<&Inferred> {
        self.before.get(key).or_else(|| self.before.get(&key.in_calls(&[])))
    }

    /// Whether an earlier run has found something.
    pub(crate) fn is_known(&self, key: &InferenceKey) -> bool {
        self.known(key).is_some()
    }

    /// The finding of this run, or else that of an earlier one.
    pub(crate) fn newest(&self, key: &InferenceKey) -> Option<&Inferred> {
        self.now.get(key).or_else(|| self.known(key))
    }

    /// Notes a finding for the next run, unless an earlier run has one. Returns whether it has
    /// none.
    pub(crate) fn note(&mut self, key: &InferenceKey, found: Inferred) -> bool {
        let news = !self.is_known(key);
        if news {
            let one_call = matches!(&found, Inferred::Type(kind) if kind.has_formulas());
            let key = if one_call { key.clone() } else { key.in_calls(&[]) };
            self.now.insert(key, found);
        }
        news
    }

    /// Replaces a finding by a greater one: the caller has added to [`Inference::newest`].
    pub(crate) fn extend(&mut self, key: &InferenceKey, found: Inferred) {
        self.now.insert(key.clone(), found);
    }

    /// Requests another type for a term in the next run, if its type comes only from literals.
    /// Returns whether a new run is needed.
    pub(crate) fn retype(&mut self, g: &Graph, t: Term, to: Elem) -> bool {
        let retypes = |a: Elem, b: Elem| a != b && a.is_real() == b.is_real() && a != Elem::Bool && b != Elem::Bool;
        if !retypes(g.elem(t), to) {
            return false;
        }
        let mut any = false;
        for key in self.literals_of(g, t) {
            if self.newest(&key).is_none() {
                self.now.insert(key, Inferred::Elem(to));
                any = true;
            }
        }
        // A request that was already made counts as well.
        any || self.needs_another_run()
    }

    /// Declares an integer literal without a suffix.
    pub(crate) fn declare_literal(&mut self, number: &Rc<Number>, key: InferenceKey) {
        self.numbers.insert(Rc::as_ptr(number) as usize, (Rc::clone(number), key));
    }

    /// The default type for an array of integer literals, or the literal whose inferred type will
    /// decide it.
    pub(crate) fn literal_type(&self, value: &Value<'_>) -> (Want, Option<InferenceKey>) {
        let mut at = value;
        let number = loop {
            at = match at {
                Value::List(parts) | Value::Matrix(parts) if value.has_untyped_integers() => match parts.first() {
                    Some(part) => part,
                    None => return (Want::Any, None),
                },
                Value::Filled(n, _) | Value::Number(n) if !n.is_float() && n.outer().is_none() => break n,
                _ => return (Want::Any, None),
            };
        };
        let Some((_, key)) = self.numbers.get(&(Rc::as_ptr(number) as usize)) else { return (Want::Any, None) };
        match self.known(key) {
            Some(Inferred::Elem(elem)) => (Want::Elem(*elem), None),
            _ => (Want::Any, Some(key.clone())),
        }
    }

    /// The literals that were recorded for just this term.
    pub(crate) fn own_literals(&self, t: Term) -> &[InferenceKey] {
        self.literals.get(&t).map_or(&[], Vec::as_slice)
    }

    /// The first of the literals that were recorded for just this term.
    pub(crate) fn first_literal(&self, t: Term) -> Option<InferenceKey> {
        self.own_literals(t).first().cloned()
    }

    /// The literals that determine the type of a term.
    pub(crate) fn literals_of(&self, g: &Graph, t: Term) -> Vec<InferenceKey> {
        let from = g.elem(t);
        let (mut stack, mut seen, mut found) = (vec![t], SortedSet::new(), Vec::new());
        while let Some(t) = stack.pop() {
            if g.ty(t).as_array().is_none() || g.elem(t) != from || !seen.insert(t) {
                continue;
            }
            if let Some(keys) = self.literals.get(&t) {
                found.extend(keys.iter().filter(|key| !self.is_known(key)).cloned());
                continue;
            }
            match g.node(t) {
                Node::Prim(Prim::Compare(_) | Prim::Cast(_), _) | Node::Scan(_) => {}
                Node::Prim(_, args) => stack.extend(args),
                Node::Cond { then, other, .. } => stack.extend([*then, *other]),
                Node::Gather { src, .. } => stack.push(*src),
                Node::Scatter { dst, src, .. } => stack.extend([*dst, *src]),
                Node::Build { body, .. } => stack.push(*body),
                _ => {}
            }
        }
        found
    }

    /// Records that the type of `t` comes from the same literals as that of `of`.
    pub(crate) fn inherit_literals(&mut self, g: &Graph, t: Term, of: Term) {
        if matches!(g.elem(t), Elem::Int(_)) && !self.literals.is_empty() && self.literals_of(g, t).is_empty() {
            let keys = self.literals_of(g, of);
            self.set_literals(t, &keys);
        }
    }

    /// Records the literals that determine the type of a term.
    pub(crate) fn set_literals(&mut self, t: Term, keys: &[InferenceKey]) {
        if !keys.is_empty() {
            self.literals.insert(t, keys.to_vec());
        }
    }
}
