//! A `Vec` in a loop that makes it longer or shorter: an array of all the elements that it can have, and how many of them are there. What it
//! can have is found by a lowering of the step of which nothing else is kept (`loops`); it is closed, as every size is. Behind the
//! loop the `Vec` is an array again, of a length that is known then.
//!
//! An element that is not there must never be read: an index is checked against the length, and an iterator leaves it out.

use std::rc::Rc;

use super::carry::{Carrier, Form, Key, Leaves};
use super::lower::Lower;
use super::value::{Lowered, Seq, Value};
use crate::catalogue;
use crate::diag::{Poison, SrcRange};
use crate::ir::range::Linear;
use crate::ir::{Node, Term};
use crate::prim::{Cmp, IntOp};

/// How much longer a `Vec` may have become since the step began.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct Longer {
    /// At most so much, closed; `None`: without a limit.
    pub most: Option<Term>,
    /// Whether it is just that much, in every step.
    pub exact: bool,
}

/// A `Vec` of a length that changes.
#[derive(Clone, Debug)]
pub(super) struct Stack {
    /// Of each leaf of an element, one array.
    pub all: Vec<Term>,
    pub form: Form,
    /// How many of the elements are there.
    pub len: Term,
    pub more: Longer,
    /// Where nothing is known of its elements but what is pushed.
    pub open: Option<Key>,
}

impl Stack {
    /// Whether two are known to be one.
    pub(super) fn same(&self, other: &Stack) -> bool {
        self.all == other.all && self.len == other.len && self.more == other.more
    }

    /// The array of the elements, if they are not tuples.
    pub(super) fn plain(&self) -> Option<(Term, bool)> {
        match (&self.all[..], &self.form) {
            (&[all], Form::Leaf { nested }) => Some((all, *nested)),
            _ => None,
        }
    }
}

impl<'a> Lower<'a> {
    /// As long as before.
    pub(super) fn no_longer(&mut self) -> Longer {
        Longer { most: Some(self.g.lit_usize(0)), exact: true }
    }

    /// First the one, then the other.
    pub(super) fn both(&mut self, a: Longer, b: Longer) -> Longer {
        let most = a.most.zip(b.most).map(|(a, b)| self.g.int(IntOp::Add, a, b));
        Longer { most, exact: a.exact && b.exact }
    }

    /// So many times; `None`: nobody knows how often.
    pub(super) fn so_often(&mut self, size: Option<Term>, one: Longer) -> Longer {
        let zero = self.g.lit_usize(0);
        let most = match (size, one.most) {
            (_, Some(most)) if most == zero => Some(zero),
            (Some(size), Some(most)) => Some(self.g.int(IntOp::Mul, size, most)),
            _ => None,
        };
        Longer { most, exact: one.exact && size.is_some() }
    }

    /// Lowers something for what it comes to: nothing else of it is kept, not its errors either; but what it
    /// finds of the types of literals is true.
    pub(super) fn attempt<R>(&mut self, f: impl FnOnce(&mut Self) -> R) -> R {
        let (diags, checks, equations, steps) =
            (self.diags.clone(), self.checks.clone(), self.equations.clone(), self.steps.clone());
        let (hints, compared) = (self.hints.clone(), self.compared.clone());
        let (store, scope, items, reached) = (self.store.clone(), self.scope.clone(), self.items.clone(), self.reached);
        let lengths = (self.places.len(), self.frames.len(), self.assumed.len(), self.consts.len(), self.bound.len());
        let (facts, captured, debug, targets) = (self.facts.mark(), self.captured, self.debug, self.targets.len());
        self.attempts += 1;
        let result = self.unsure(f);
        self.attempts -= 1;
        (self.diags, self.checks, self.equations, self.steps) = (diags, checks, equations, steps);
        (self.hints, self.compared) = (hints, compared);
        (self.store, self.scope, self.items, self.reached) = (store, scope, items, reached);
        self.places.truncate(lengths.0);
        self.frames.truncate(lengths.1);
        self.assumed.truncate(lengths.2);
        self.consts.truncate(lengths.3);
        self.bound.truncate(lengths.4);
        self.targets.truncate(targets);
        self.facts.forget(facts);
        (self.captured, self.debug) = (captured, debug);
        result
    }

    /// A `Vec` as one whose length may change, with room for so many elements; `None` if it is none.
    pub(super) fn stack(
        &mut self,
        value: &Value<'a>,
        room: Term,
        key: &Key,
        range: SrcRange,
    ) -> Lowered<Option<Stack>> {
        let none = self.g.lit_usize(0);
        let more = self.no_longer();
        match value {
            Value::Stack(stack) => Ok(Some((**stack).clone())),
            Value::List(parts) if parts.is_empty() => {
                let mut leaves = Leaves::default();
                let form = self.unseen(key, &mut leaves);
                let all = leaves.terms.into_iter().map(|zero| self.g.broadcast(zero, &[room])).collect();
                Ok(Some(Stack { all, form, len: none, more, open: Some(key.clone()) }))
            }
            Value::List(parts) => {
                let mut rows: Vec<Leaves> = Vec::new();
                let mut form = None;
                for part in parts.iter() {
                    let mut leaves = Leaves::default();
                    // Literals of one `Vec` are of one type: the first says which.
                    let Some(one) = self.flatten(part, &mut key.clone(), &mut leaves, range)? else { return Ok(None) };
                    form.get_or_insert(one);
                    rows.push(leaves);
                }
                let Some(form) = form else { return Ok(None) };
                let mut all = Vec::new();
                for k in 0..form.leaves() {
                    let leaf: Vec<Term> = rows.iter().filter_map(|row| row.terms.get(k).copied()).collect();
                    let leaf = self.same_shapes(&leaf, range)?;
                    let leaf = self.g.stack(&leaf);
                    let keys = rows.first().and_then(|row| row.keys.get(k).cloned()).flatten();
                    let leaf = self.roomy(leaf, room);
                    self.softened(leaf, keys.as_slice());
                    all.push(leaf);
                }
                let len = self.g.lit_usize(parts.len());
                Ok(Some(Stack { all, form, len, more, open: None }))
            }
            Value::Term(t) | Value::Nested(t) if self.g.rank(*t) > 0 => {
                let nested = matches!(value, Value::Nested(_)) && self.g.rank(*t) > 2;
                let len = self.g.shape(*t)[0];
                let keys = self.soft.get(t).cloned().unwrap_or_default();
                let all = vec![self.roomy(*t, room)];
                self.softened(all[0], &keys);
                Ok(Some(Stack { all, form: Form::Leaf { nested }, len, more, open: None }))
            }
            _ => Ok(None),
        }
    }

    /// An array with more rows: zeros, which nobody reads.
    fn roomy(&mut self, t: Term, room: Term) -> Term {
        let n = self.g.shape(t)[0];
        if n == room {
            return t;
        }
        let rest = self.g.shape(t)[1..].to_vec();
        let zero = super::iter::consume::zero(self, self.g.elem(t));
        let none = self.g.broadcast(zero, &rest);
        let var = self.g.fresh();
        let i = self.g.mk(Node::Var(var));
        let there = self.g.compare(Cmp::Lt, i, n);
        let row = self.g.index(t, &[i]);
        let row = self.g.cond(there, row, none);
        self.g.build(room, var, row)
    }

    /// An element, which has been checked to be there.
    pub(super) fn stacked(&mut self, stack: &Stack, at: Term) -> Lowered<Value<'a>> {
        // Until the first push says what it is.
        if stack.open.as_ref().is_some_and(|key| !self.chosen.contains_key(key)) {
            return Ok(Value::Never);
        }
        let leaves: Vec<Term> = stack.all.iter().map(|&all| self.g.index(all, &[at])).collect();
        Self::formed(&stack.form, &mut leaves.iter())
    }

    /// The elements.
    pub(super) fn stack_seq(&mut self, stack: &Rc<Stack>) -> Lowered<Seq<'a>> {
        let stack = Rc::clone(stack);
        let room = stack.all.first().map(|&all| self.g.shape(all)[0]).ok_or(Poison)?;
        let len = stack.len;
        let item = Rc::clone(&stack);
        let mut seq =
            Seq::new([room], move |me: &mut Lower<'a>, ix: &[Term]| me.stacked(&item, *ix.first().ok_or(Poison)?));
        seq.len = Some(len);
        if self.is_closed(len) {
            seq.dims = [len].into();
            seq.len = None;
        }
        Ok(seq)
    }

    /// The array of the elements, where the length is closed.
    pub(super) fn unstacked(&mut self, stack: &Stack, range: SrcRange) -> Lowered<Value<'a>> {
        if !self.is_closed(stack.len) {
            return Err(self.error(range, catalogue::changing_length()));
        }
        let zero = self.g.lit_usize(0);
        let part = |me: &mut Self, all: Term| {
            let mut sizes = me.g.shape(all).to_vec();
            sizes[0] = stack.len;
            let (starts, steps) = (vec![zero; sizes.len()], vec![1; sizes.len()]);
            me.g.slice(all, &starts, &steps, &sizes)
        };
        match stack.plain() {
            Some((all, _)) => {
                let t = part(self, all);
                Ok(self.rows(t, true))
            }
            None => {
                let all = stack.all.iter().map(|&all| part(self, all)).collect();
                Ok(Value::Stack(Rc::new(Stack { all, ..stack.clone() })))
            }
        }
    }

    /// One more element.
    pub(super) fn push_on(&mut self, stack: &Stack, x: &Value<'a>, range: SrcRange) -> Lowered<Value<'a>> {
        let now: Vec<Term> = stack
            .all
            .iter()
            .map(|&all| {
                let zero = self.g.lit_usize(0);
                self.g.index(all, &[zero])
            })
            .collect();
        if let Some(key) = &stack.open
            && !self.chosen.contains_key(key)
            && let Some(kind) = self.kind(x)
        {
            self.decide(key, kind);
            return Err(Poison);
        }
        let mut leaves = Vec::new();
        self.refit(x, &stack.form, &mut now.iter(), &mut leaves, (Carrier::Element, range))?;
        let all = stack.all.iter().zip(leaves).map(|(&all, x)| self.g.update(all, x, &[], &[stack.len])).collect();
        let one = self.g.lit_usize(1);
        let len = self.g.int(IntOp::Add, stack.len, one);
        let most = stack.more.most.map(|most| self.g.int(IntOp::Add, most, one));
        let more = Longer { most, ..stack.more };
        Ok(Value::Stack(Rc::new(Stack { all, len, more, ..stack.clone() })))
    }

    /// The same with another length, which is no greater.
    pub(super) fn shorter_stack(&mut self, stack: &Stack, len: Term) -> Stack {
        let more = Longer { exact: false, ..stack.more };
        Stack { len, more, ..stack.clone() }
    }

    /// One of two states of a `Vec`, by a condition.
    pub(super) fn join_stacks(&mut self, cond: Term, a: &Stack, b: &Stack) -> Value<'a> {
        let all = a.all.iter().zip(&b.all).map(|(&a, &b)| self.g.cond(cond, a, b)).collect();
        let len = self.g.cond(cond, a.len, b.len);
        let more = if a.more == b.more {
            a.more
        } else {
            let most = a.more.most.zip(b.more.most).map(|(a, b)| self.g.int(IntOp::Max, a, b));
            Longer { most, exact: false }
        };
        Value::Stack(Rc::new(Stack { all, len, more, ..a.clone() }))
    }

    /// One of two arrays of which the one is always longer, by a condition: how long it is depends on that.
    pub(super) fn join_lengths(
        &mut self,
        cond: Term,
        arms: [Term; 2],
        nested: bool,
        range: SrcRange,
    ) -> Lowered<Value<'a>> {
        let lens = arms.map(|t| self.g.shape(t)[0]);
        let room = self.g.int(IntOp::Max, lens[0], lens[1]);
        let more = self.no_longer();
        let form = Form::Leaf { nested };
        let [a, b] = arms.map(|t| self.roomy(t, room));
        // Rows have one shape in both.
        let b = self.same_shape(a, b, ["the first arm".into(), "the other arm".into()], range)?;
        let stacks = [(a, lens[0]), (b, lens[1])].map(|(t, len)| Stack {
            all: vec![t],
            form: form.clone(),
            len,
            more,
            open: None,
        });
        match self.join_stacks(cond, &stacks[0], &stacks[1]) {
            Value::Stack(stack) if self.is_closed(stack.len) => self.unstacked(&stack, range),
            stack => Ok(stack),
        }
    }

    /// An array of such rows that has none.
    pub(super) fn no_rows(&mut self, t: Term) -> Term {
        let zero = self.g.lit_usize(0);
        let mut sizes = self.g.shape(t).to_vec();
        sizes[0] = zero;
        let (starts, steps) = (vec![zero; sizes.len()], vec![1; sizes.len()]);
        self.g.slice(t, &starts, &steps, &sizes)
    }

    /// Whether two sizes are known to differ, whatever they are.
    pub(super) fn never_equal(&mut self, a: Term, b: Term) -> bool {
        let one = Linear::constant(1);
        let (la, lb) = (self.facts.linear(&self.g, a), self.facts.linear(&self.g, b));
        let above = |me: &mut Self, a: &Linear, b: &Linear| {
            let goal = b.combine(1, a, -1).and_then(|d| d.combine(1, &one, -1));
            goal.is_some_and(|goal| me.facts.prove(&me.g, &goal))
        };
        if above(self, &la, &lb) || above(self, &lb, &la) {
            return true;
        }
        [(a, b), (b, a)].into_iter().any(|(choice, size)| match *self.g.node(choice) {
            Node::Cond { then, other, .. } => self.never_equal(then, size) && self.never_equal(other, size),
            _ => false,
        })
    }

    /// Another element at an index.
    pub(super) fn put_on(&mut self, stack: &Stack, at: Term, x: &Value<'a>, range: SrcRange) -> Lowered<Value<'a>> {
        let now: Vec<Term> = stack.all.iter().map(|&all| self.g.index(all, &[at])).collect();
        let mut leaves = Vec::new();
        self.refit(x, &stack.form, &mut now.iter(), &mut leaves, (Carrier::Element, range))?;
        let all = stack.all.iter().zip(leaves).map(|(&all, x)| self.g.update(all, x, &[], &[at])).collect();
        Ok(Value::Stack(Rc::new(Stack { all, ..stack.clone() })))
    }
}
