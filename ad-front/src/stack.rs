//! A growable `Vec` in a loop: an array of its capacity, and its current length. A trial lowering
//! of the step finds the capacity (`loops`). The capacity is closed, as every size is. After the
//! loop the `Vec` is an array again, and its length is known.
//!
//! Invariant: an element above the length is never read. Indices are checked against the length,
//! and iterators skip such elements.

use std::rc::Rc;

use super::carry::{CarriedForm, CarriedName, Leaves};
use super::definitions::tree::TypeTree;
use super::growth::Growth;
use super::lower::Lower;
use super::value::{Lowered, Seq, Value, Want};
use crate::translation::inference::{InferenceKey, Inferred};
use ad_ir::analysis::range::Linear;
use ad_ir::catalogue;
use ad_ir::diag::{Poison, SrcRange};
use ad_ir::ir::{Node, Term};
use ad_ir::memory_order::HasLayouts;
use ad_ir::prim::{Cmp, IntOp};

/// The number of last elements that a counting run tracks.
const WINDOW: usize = 4;

/// A growable `Vec`.
#[derive(Clone)]
pub(super) struct GrowableVec<'a> {
    /// One array for each leaf of an element.
    pub all: Vec<Term>,
    pub form: CarriedForm<'a>,
    /// The current number of elements.
    pub len: Term,
    pub more: Growth,
    /// Set if the element type is known only from pushed values.
    pub open: Option<InferenceKey>,
    /// The index of the enclosing loop that carries it. Its capacity covers all pushes in that
    /// loop. `None` if no loop carries it; then a push enlarges the arrays.
    pub slot: Option<usize>,
    /// Whether the capacity is the one that the user gave. Then each push is checked against it.
    pub limited: bool,
    /// The capacity that the user gave. It counts where no other bound is known.
    pub requested: Option<Term>,
    /// For a counting run: the arrays hold only this many last elements.
    pub window: Option<usize>,
}

impl GrowableVec<'_> {
    /// A `Vec` without arrays, as the base of a struct update.
    pub(super) fn without_arrays(len: Term, more: Growth) -> Self {
        GrowableVec {
            all: Vec::new(),
            form: CarriedForm::Unit,
            len,
            more,
            open: None,
            slot: None,
            limited: false,
            requested: None,
            window: None,
        }
    }

    /// Whether both are known to be the same `Vec`.
    pub(super) fn is_same(&self, other: &GrowableVec<'_>) -> bool {
        self.all == other.all && self.len == other.len && self.more == other.more && self.slot == other.slot
    }

    /// The array of elements and the levels of an element, if the elements are not tuples.
    pub(super) fn as_single_array(&self) -> Option<(Term, u8)> {
        match (&self.all[..], &self.form) {
            (&[all], CarriedForm::Leaf { levels }) => Some((all, *levels)),
            _ => None,
        }
    }
}

impl<'a> Lower<'a> {
    /// Turns a list or an array into a growable `Vec` with a given capacity. Returns `None` for
    /// other values.
    pub(super) fn stack(
        &mut self,
        value: &Value<'a>,
        capacity: Term,
        key: &InferenceKey,
        range: SrcRange,
    ) -> Lowered<Option<GrowableVec<'a>>> {
        let none = self.g.lit_usize(0);
        let (more, requested) = (self.no_growth(), self.growable.requested_capacity(value));
        match value {
            Value::GrowableVec(stack) if stack.slot.is_some() => Ok(Some((**stack).clone())),
            Value::GrowableVec(stack) => Ok(Some(self.with_capacity_of(stack, capacity))),
            Value::DynamicPart(_) => match self.as_vec(value.clone()) {
                Value::GrowableVec(stack) => Ok(Some(self.with_capacity_of(&stack, capacity))),
                _ => Ok(None),
            },
            Value::List(parts) if parts.is_empty() => {
                let key = &key.in_calls(self.state.nesting.calls());
                let mut leaves = Leaves::default();
                let said = match self.growable.annotated_type(parts).cloned() {
                    Some(TypeTree::List(_, element)) => self.zero_of(&element, false),
                    _ => match self.growable.annotated_element(parts) {
                        Some((elem, 1)) => Some(Value::Term(self.g.zero(elem))),
                        _ => None,
                    },
                };
                if let Some(zero) = said
                    && let Some(form) = self.flatten(&zero, &mut key.clone(), &mut leaves, range)?
                {
                    let all = leaves.terms.into_iter().map(|zero| self.rows_of_zeros(zero, capacity)).collect();
                    let empty = GrowableVec::without_arrays(none, more);
                    return Ok(Some(GrowableVec { all, form, requested, ..empty }));
                }
                let form = self.dummy_element(key, &mut leaves);
                let all = leaves.terms.into_iter().map(|zero| self.rows_of_zeros(zero, capacity)).collect();
                let (open, empty) = (Some(key.clone()), GrowableVec::without_arrays(none, more));
                Ok(Some(GrowableVec { all, form, open, requested, ..empty }))
            }
            Value::List(parts) => {
                let mut rows: Vec<Leaves> = Vec::new();
                let mut form = None;
                let said = self.growable.annotated_element(parts).filter(|(_, rank)| *rank == 1);
                let want = said.map_or(Want::Any, |(elem, _)| Want::Elem(elem));
                self.retype_literals(parts, want)?;
                for part in parts.iter() {
                    let mut leaves = Leaves::default();
                    let part = match part {
                        Value::Number(_) if want != Want::Any => &Value::Term(self.term_as(part, want, range)?),
                        part if part.is_several() => &self.packed(part, range)?,
                        part => part,
                    };
                    // The literals in one `Vec` have one type, so the first one decides it.
                    let Some(one) = self.flatten(part, &mut key.clone(), &mut leaves, range)? else { return Ok(None) };
                    form.get_or_insert(one);
                    rows.push(leaves);
                }
                let Some(form) = form else { return Ok(None) };
                let mut all = Vec::new();
                for k in 0..form.leaves() {
                    let leaf: Vec<Term> = rows.iter().filter_map(|row| row.terms.get(k).copied()).collect();
                    self.type_literals_of_column(&rows, k)?;
                    let leaf = self.same_shapes(&leaf, range)?;
                    let items = leaf;
                    let leaf = self.g.stack(&items);
                    self.layouts().note_rows(leaf, &items);
                    let keys = rows.first().and_then(|row| row.keys.get(k).cloned()).flatten();
                    let leaf = self.resize_rows(leaf, capacity);
                    self.inference.set_literals(leaf, keys.as_slice());
                    all.push(leaf);
                }
                let len = self.g.lit_usize(parts.len());
                Ok(Some(GrowableVec { all, form, requested, ..GrowableVec::without_arrays(len, more) }))
            }
            Value::Term(t) | Value::Nested(t, _) if self.g.rank(*t) > 0 => {
                let levels = Value::levels_inside(&self.g, *t, value.levels());
                let len = self.g.shape(*t)[0];
                let keys = self.inference.own_literals(*t).to_vec();
                let all = vec![self.resize_rows(*t, capacity)];
                self.inference.set_literals(all[0], &keys);
                let form = CarriedForm::Leaf { levels };
                Ok(Some(GrowableVec { all, form, requested, ..GrowableVec::without_arrays(len, more) }))
            }
            _ => Ok(None),
        }
    }

    /// Rows of zeros in the shape of an element. They are never read.
    fn rows_of_zeros(&mut self, element: Term, capacity: Term) -> Term {
        if self.g.rank(element) == 0 {
            self.g.broadcast(element, &[capacity])
        } else {
            self.g.replicate(capacity, element)
        }
    }

    /// An array or part of elements as a growable `Vec`. `None` for another value.
    pub(super) fn as_growable(&mut self, value: &Value<'a>, range: SrcRange) -> Lowered<Option<GrowableVec<'a>>> {
        match &self.as_vec(value.clone()) {
            Value::GrowableVec(stack) => Ok(Some((**stack).clone())),
            array @ (Value::Term(_) | Value::Nested(..) | Value::List(_) | Value::Filled(..)) => {
                let (t, levels, more) = (self.array(array, range)?, array.levels(), self.no_growth());
                let form = CarriedForm::Leaf { levels: Value::levels_inside(&self.g, t, levels) };
                let len = self.g.shape(t)[0];
                Ok(Some(GrowableVec { all: vec![t], form, ..GrowableVec::without_arrays(len, more) }))
            }
            _ => Ok(None),
        }
    }

    /// The capacity.
    pub(super) fn capacity(&mut self, stack: &GrowableVec<'a>) -> Term {
        match stack.all.first() {
            Some(&all) => self.g.shape(all)[0],
            None => self.g.lit_usize(0),
        }
    }

    /// The same elements in arrays of another capacity, which is at least their number. No loop
    /// carries the result.
    pub(super) fn with_capacity_of(&mut self, stack: &GrowableVec<'a>, capacity: Term) -> GrowableVec<'a> {
        let all = stack.all.iter().map(|&t| self.resize_rows(t, capacity)).collect();
        GrowableVec { all, slot: None, ..stack.clone() }
    }

    /// The same elements in a `Vec` that no loop carries. Its capacity covers the elements that
    /// were pushed in the current step.
    pub(super) fn uncarried(&mut self, stack: &GrowableVec<'a>) -> GrowableVec<'a> {
        if stack.slot.is_none() {
            return stack.clone();
        }
        let mut capacity = self.capacity(stack);
        if let Some(most) = stack.more.bound {
            capacity = self.g.int(IntOp::Add, capacity, most);
        }
        let most = stack.more.bound.map(|_| self.g.lit_usize(0));
        let mut own = self.with_capacity_of(stack, capacity);
        own.more = Growth { bound: most, ..self.no_growth() };
        own
    }

    /// An element at an index that has been checked already.
    pub(super) fn vec_element(&mut self, stack: &GrowableVec<'a>, at: Term) -> Lowered<Value<'a>> {
        // The element type is unknown until the first push.
        if stack.open.as_ref().is_some_and(|key| !self.inference.is_known(key)) {
            return Ok(Value::Never);
        }
        let leaves: Vec<Term> = match stack.window {
            None | Some(0) => stack.all.iter().map(|&all| self.g.index(all, &[at])).collect(),
            Some(known) => {
                // In a counting run an element is identified by its distance from the end.
                let (len, from) = (self.state.facts.linear(&self.g, stack.len), self.state.facts.linear(&self.g, at));
                let back = len.combine(1, &from, -1).filter(|d| d.atoms.is_empty()).map(|d| d.constant);
                let at = back.and_then(|back| usize::try_from(back).ok()).filter(|back| (1..=known).contains(back));
                let at = at.map(|back| self.g.lit_usize(WINDOW - back));
                let leaf = |me: &mut Self, all: Term| match at {
                    Some(at) => me.g.index(all, &[at]),
                    None => {
                        let (elem, sizes) = (me.g.elem(all), me.g.shape(all)[1..].to_vec());
                        let t = me.g.placeholder(ad_ir::ir::Type::Array(elem, sizes.into()));
                        me.growable.add_unknown(t);
                        t
                    }
                };
                stack.all.iter().map(|&all| leaf(self, all)).collect()
            }
        };
        self.element_from(&stack.form, &mut leaves.iter())
    }

    /// The last elements only, for a counting run.
    pub(super) fn last_elements(&mut self, stack: &GrowableVec<'a>) -> GrowableVec<'a> {
        let all = stack.all.clone();
        let all = all.into_iter().map(|t| self.last_rows(t, stack.len, None)).collect();
        GrowableVec { all, window: Some(WINDOW), slot: None, ..stack.clone() }
    }

    /// The last rows of an array of `len` rows. The row `x`, if given, follows them.
    fn last_rows(&mut self, t: Term, len: Term, x: Option<Term>) -> Term {
        let window = self.g.lit_usize(WINDOW);
        let var = self.g.fresh();
        let i = self.g.mk(Node::Var(var));
        let Some(x) = x else {
            let at = self.g.int(IntOp::Add, len, i);
            let at = self.g.int(IntOp::Sub, at, window);
            return self.g.gather(t, [window].into(), &[var], &[at]);
        };
        let (last, one) = (self.g.lit_usize(WINDOW - 1), self.g.lit_usize(1));
        let before = self.g.compare(Cmp::Lt, i, last);
        let next = self.g.int(IntOp::Add, i, one);
        let old = self.g.index(t, &[next]);
        let row = self.g.cond(before, old, x);
        self.g.build(window, var, row)
    }

    /// An iterator over the elements.
    pub(super) fn vec_seq(&mut self, stack: &Rc<GrowableVec<'a>>) -> Lowered<Seq<'a>> {
        let stack = Rc::clone(stack);
        let all = stack.all.first().copied().ok_or(Poison)?;
        let (capacity, len) = (self.g.shape(all)[0], stack.len);
        let item = Rc::clone(&stack);
        let mut seq = Seq::new([capacity], move |me: &mut Lower<'a>, ix: &[Term]| {
            me.vec_element(&item, *ix.first().ok_or(Poison)?)
        });
        seq.len = Some(len);
        if self.g.is_closed(len) {
            seq.dims = [len].into();
            seq.len = None;
        }
        Ok(seq)
    }

    /// The array of the elements, if the length is closed.
    pub(super) fn vec_into_array(&mut self, stack: &GrowableVec<'a>, range: SrcRange) -> Lowered<Value<'a>> {
        if !self.g.is_closed(stack.len) {
            return Err(self.error(range, catalogue::changing_length()));
        }
        let zero = self.g.lit_usize(0);
        let part = |me: &mut Self, all: Term| {
            let mut sizes = me.g.shape(all).to_vec();
            sizes[0] = stack.len;
            let (starts, steps) = (vec![zero; sizes.len()], vec![1; sizes.len()]);
            me.g.slice(all, &starts, &steps, &sizes)
        };
        match stack.as_single_array() {
            Some((all, levels)) => {
                let t = part(self, all);
                let array = Value::nested(&self.g, t, levels.saturating_add(1));
                self.growable.keep_capacity(&array, stack.requested);
                Ok(array)
            }
            None => {
                let all = stack.all.iter().map(|&all| part(self, all)).collect();
                Ok(Value::GrowableVec(Rc::new(GrowableVec { all, ..stack.clone() })))
            }
        }
    }

    /// Pushes one element.
    pub(super) fn push_element(
        &mut self,
        stack: &GrowableVec<'a>,
        x: &Value<'a>,
        range: SrcRange,
    ) -> Lowered<Value<'a>> {
        let now: Vec<Term> = stack
            .all
            .iter()
            .map(|&all| {
                let zero = self.g.lit_usize(0);
                self.g.index(all, &[zero])
            })
            .collect();
        if let Some(key) = &stack.open
            && !self.inference.is_known(key)
        {
            match self.kind(x) {
                Some(kind) => drop(self.inference.note(key, Inferred::Type(kind))),
                None if !matches!(x, Value::Never) => return Err(self.error(range, catalogue::rows_not_known())),
                None => {}
            }
            return Err(Poison);
        }
        let mut leaves = Vec::new();
        self.flatten_like(x, &stack.form, &mut now.iter(), &mut leaves, (CarriedName::Element, range))?;
        let one = self.g.lit_usize(1);
        let len = self.g.int(IntOp::Add, stack.len, one);
        let capacity = self.capacity(stack);
        let (mut all, mut more) = (stack.all.clone(), stack.more);
        if let Some(known) = stack.window {
            let all = all.into_iter().zip(leaves).map(|(all, x)| self.last_rows(all, stack.len, Some(x))).collect();
            let window = Some(WINDOW.min(known + 1));
            return Ok(Value::GrowableVec(Rc::new(GrowableVec { all, len, window, ..stack.clone() })));
        }
        if stack.slot.is_none() {
            let capacity = self.g.int(IntOp::Add, capacity, one);
            all = all.into_iter().map(|t| self.resize_rows(t, capacity)).collect();
        } else {
            match more.freed {
                0 => more.bound = more.bound.map(|most| self.g.int(IntOp::Add, most, one)),
                _ => more.freed -= 1,
            }
            if stack.limited {
                self.require_lt(stack.len, capacity, ad_ir::catalogue::reached::PAST_CAPACITY);
            }
        }
        let mut pushed = Vec::new();
        for (all, x) in all.into_iter().zip(leaves) {
            let new = self.g.update(all, x, &[], &[stack.len]);
            self.layouts().note_like(new, all);
            self.layouts().note_rows(new, &[x]);
            pushed.push(new);
        }
        let all = pushed;
        Ok(Value::GrowableVec(Rc::new(GrowableVec { all, len, more, ..stack.clone() })))
    }

    /// The same `Vec` with a smaller or equal length.
    pub(super) fn shortened_vec(&mut self, stack: &GrowableVec<'a>, len: Term) -> GrowableVec<'a> {
        let more = Growth { exact: false, taken: true, ..stack.more };
        // The elements before the tracked ones are not known.
        let window = stack.window.map(|_| 0);
        GrowableVec { len, more, window, ..stack.clone() }
    }

    /// Merges two states of a `Vec` by a condition.
    pub(super) fn join_growable(&mut self, cond: Term, a: &GrowableVec<'a>, b: &GrowableVec<'a>) -> Value<'a> {
        let (mut a, mut b) = (a.clone(), b.clone());
        if a.slot != b.slot || a.slot.is_none() {
            (a, b) = (self.uncarried(&a), self.uncarried(&b));
            let (n, m) = (self.capacity(&a), self.capacity(&b));
            let capacity = if n == m { n } else { self.g.int(IntOp::Max, n, m) };
            (a, b) = (self.with_capacity_of(&a, capacity), self.with_capacity_of(&b, capacity));
        }
        let all = a.all.iter().zip(&b.all).map(|(&a, &b)| self.g.cond(cond, a, b)).collect();
        let len = self.g.cond(cond, a.len, b.len);
        let more = if a.more == b.more {
            a.more
        } else {
            let most = a.more.bound.zip(b.more.bound).map(|(a, b)| self.g.int(IntOp::Max, a, b));
            let instead = self.max_bound(a.more.replaced_by, b.more.replaced_by);
            Growth {
                bound: most,
                exact: false,
                replaced_by: instead,
                swapped: a.more.swapped || b.more.swapped,
                freed: a.more.freed.min(b.more.freed),
                taken: a.more.taken || b.more.taken,
            }
        };
        let (limited, window) = (a.limited || b.limited, a.window.zip(b.window).map(|(a, b)| a.min(b)));
        let open = a.open.clone().filter(|_| b.open.is_some());
        let requested = a.requested.filter(|_| a.requested == b.requested);
        Value::GrowableVec(Rc::new(GrowableVec { all, len, more, limited, requested, window, open, ..a }))
    }

    /// The second of two `Vec`s, with elements of the types and sizes that those of the first have.
    pub(super) fn elements_like(
        &mut self,
        a: &GrowableVec<'a>,
        mut b: GrowableVec<'a>,
        range: SrcRange,
    ) -> Lowered<GrowableVec<'a>> {
        for k in 0..a.all.len() {
            let (x, y) = (a.all[k], b.all[k]);
            if self.g.elem(x) != self.g.elem(y) {
                if self.inference.retype(&self.g, x, self.g.elem(y))
                    || self.inference.retype(&self.g, y, self.g.elem(x))
                {
                    return Err(Poison);
                }
                let (x, y) = (self.describe(&Value::Term(x)), self.describe(&Value::Term(y)));
                return Err(self.error(range, catalogue::types_differ(&x, &y)));
            }
            if self.g.rank(x) != self.g.rank(y) {
                return Err(self.error(range, catalogue::ranks_differ(self.g.rank(x), self.g.rank(y))));
            }
            let own = self.g.shape(y).to_vec();
            if own[1..] == self.g.shape(x)[1..] {
                continue;
            }
            let mut sizes = own[..1].to_vec();
            sizes.extend(&self.g.shape(x)[1..]);
            for (&n, &m) in sizes.iter().zip(&own).skip(1) {
                let words = ["the first arm".to_string(), "the other arm".to_string()];
                self.equate(n, m, words, range)?;
            }
            b.all[k] = self.g.recast(y, &sizes);
        }
        Ok(b)
    }

    /// Merges two lists of different lengths by a condition, where at least one is not an array: it
    /// has tuples or an unknown length.
    pub(super) fn join_lists(
        &mut self,
        cond: Term,
        arms: [&Value<'a>; 2],
        range: SrcRange,
    ) -> Lowered<Option<Value<'a>>> {
        let none = |v: &Value| matches!(v, Value::List(parts) if parts.is_empty());
        let key = InferenceKey::at_address(self.state.source.address(), "arms");
        let zero = self.g.lit_usize(0);
        // The branch that determines the element type.
        let first = usize::from(none(arms[0]));
        let Some(a) = self.list_as_vec(arms[first], &key, range)? else { return Ok(None) };
        let b = if none(arms[1 - first]) {
            self.shortened_vec(&a, zero)
        } else {
            match self.list_as_vec(arms[1 - first], &key, range)? {
                Some(b) if b.all.len() == a.all.len() => b,
                _ => return Ok(None),
            }
        };
        let b = self.elements_like(&a, b, range)?;
        let mut pair = [a, b];
        if first == 1 {
            pair.swap(0, 1);
        }
        Ok(Some(match self.join_growable(cond, &pair[0], &pair[1]) {
            Value::GrowableVec(stack) if stack.slot.is_none() && self.g.is_closed(stack.len) => {
                self.vec_into_array(&stack, range)?
            }
            joined => joined,
        }))
    }

    /// Whether the lengths of two lists are not known to be equal.
    pub(super) fn lengths_differ(&self, a: &Value<'a>, b: &Value<'a>) -> bool {
        match (a, b) {
            (Value::List(a), Value::List(b)) => a.len() != b.len(),
            (Value::GrowableVec(a), Value::GrowableVec(b)) => !a.is_same(b),
            (Value::GrowableVec(_), _) | (_, Value::GrowableVec(_)) => true,
            _ => false,
        }
    }

    /// A list as a growable `Vec` with the capacity of its elements.
    fn list_as_vec(
        &mut self,
        value: &Value<'a>,
        key: &InferenceKey,
        range: SrcRange,
    ) -> Lowered<Option<GrowableVec<'a>>> {
        let capacity = match value {
            Value::GrowableVec(stack) => return Ok(Some((**stack).clone())),
            Value::List(parts) => self.g.lit_usize(parts.len()),
            Value::Term(t) | Value::Nested(t, _) if self.g.rank(*t) > 0 => self.g.shape(*t)[0],
            _ => return Ok(None),
        };
        self.stack(value, capacity, key, range)
    }

    /// Merges two arrays by a condition, where one is known to be longer. The length depends on the
    /// condition.
    pub(super) fn join_lengths(
        &mut self,
        cond: Term,
        arms: [Term; 2],
        levels: u8,
        range: SrcRange,
    ) -> Lowered<Value<'a>> {
        let lens = arms.map(|t| self.g.shape(t)[0]);
        let capacity = self.g.int(IntOp::Max, lens[0], lens[1]);
        let more = self.no_growth();
        let form = CarriedForm::Leaf { levels: Value::levels_inside(&self.g, arms[0], levels) };
        let [a, b] = arms.map(|t| self.resize_rows(t, capacity));
        // The rows of both have the same shape.
        let b = self.same_shape(a, b, ["the first arm".into(), "the other arm".into()], range)?;
        let [requested, other] = arms.map(|t| self.growable.requested_capacity(&Value::Term(t)));
        let requested = requested.filter(|_| requested == other);
        let stacks = [(a, lens[0]), (b, lens[1])].map(|(t, len)| GrowableVec {
            all: vec![t],
            form: form.clone(),
            requested,
            ..GrowableVec::without_arrays(len, more)
        });
        match self.join_growable(cond, &stacks[0], &stacks[1]) {
            Value::GrowableVec(stack) if self.g.is_closed(stack.len) => self.vec_into_array(&stack, range),
            stack => Ok(stack),
        }
    }

    /// Whether one of two sizes is known to be at most the other, and not known to be equal: for
    /// example, a half or a remainder.
    pub(super) fn one_is_smaller(&mut self, a: Term, b: Term) -> bool {
        let (less, more) = (self.state.facts.prove_le(&self.g, a, b), self.state.facts.prove_le(&self.g, b, a));
        less != more
    }

    /// Whether two sizes are known to be different.
    pub(super) fn never_equal(&mut self, a: Term, b: Term) -> bool {
        let one = Linear::constant(1);
        let (la, lb) = (self.state.facts.linear(&self.g, a), self.state.facts.linear(&self.g, b));
        let above = |me: &mut Self, a: &Linear, b: &Linear| {
            let goal = b.combine(1, a, -1).and_then(|d| d.combine(1, &one, -1));
            goal.is_some_and(|goal| me.state.facts.prove(&me.g, &goal))
        };
        if above(self, &la, &lb) || above(self, &lb, &la) {
            return true;
        }
        [(a, b), (b, a)].into_iter().any(|(choice, size)| match *self.g.node(choice) {
            Node::Cond { then, other, .. } => self.never_equal(then, size) && self.never_equal(other, size),
            _ => false,
        })
    }

    /// Replaces the element at an index.
    pub(super) fn set_element(
        &mut self,
        stack: &GrowableVec<'a>,
        at: Term,
        x: &Value<'a>,
        range: SrcRange,
    ) -> Lowered<Value<'a>> {
        let now: Vec<Term> = stack.all.iter().map(|&all| self.g.index(all, &[at])).collect();
        let mut leaves = Vec::new();
        self.flatten_like(x, &stack.form, &mut now.iter(), &mut leaves, (CarriedName::Element, range))?;
        let all = stack.all.iter().zip(&now).zip(leaves);
        // A part of the element that has not changed is not written.
        let all = all.map(|((&all, &now), x)| if x == now { all } else { self.g.update(all, x, &[], &[at]) }).collect();
        Ok(Value::GrowableVec(Rc::new(GrowableVec { all, ..stack.clone() })))
    }
}
