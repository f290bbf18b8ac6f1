//! Arrays with dynamic lengths (`a.slice(s![k.., k])`), and operations on them. A part with dynamic
//! length has an array, whose sizes are the capacity and closed as all sizes are, and the length
//! along each axis.
//!
//! The elements above the lengths (the padding) are unspecified and must not influence any result.
//! Code that sums, compares, stores or reads elements masks them (`Lower::padded_with`,
//! `Lower::is_valid`) by a condition, so that a NaN in the padding does not reach a derivative.

use std::rc::Rc;

use super::arith::{Arith, axis_words};
use super::carry::CarriedForm;
use super::lower::Lower;
use super::stack::GrowableVec;
use super::value::{Lowered, Seq, Value, Want};
use ad_ir::catalogue;
use ad_ir::diag::{Poison, SrcRange};
use ad_ir::ir::{Elem, Node, Term, Type, Var};
pub(super) use ad_ir::memory_order::DynamicPart;
use ad_ir::memory_order::HasLayouts;
use ad_ir::prim::{Cmp, IntOp};

/// Two arrays with a common capacity, and their common lengths.
pub(super) struct PairedArrays {
    pub a: Term,
    pub b: Term,
    pub lens: Vec<Option<Term>>,
}

impl<'a> Lower<'a> {
    /// An array with dynamic lengths. If all lengths are closed, the result is an array of those
    /// sizes.
    pub(super) fn dynamic_part(&mut self, all: Term, lens: &[Option<Term>]) -> Value<'a> {
        let capacities = self.g.shape(all).to_vec();
        let (mut sizes, mut open) = (capacities.clone(), lens.to_vec());
        for (size, len) in sizes.iter_mut().zip(&mut open) {
            if let Some(closed) = len.and_then(|len| self.closed(len)) {
                *size = closed;
                *len = None;
            }
        }
        let mut all = all;
        if sizes != capacities {
            all = self.resized_to(all, &sizes);
        }
        if open.iter().all(Option::is_none) {
            return Value::Term(all);
        }
        Value::DynamicPart(Rc::new(DynamicPart { all, lens: open.into() }))
    }

    /// The value as a part with dynamic length. `None` for any other value.
    pub(super) fn as_dynamic_part(&self, value: &Value<'a>) -> Option<DynamicPart> {
        match value {
            Value::DynamicPart(open) => Some((**open).clone()),
            Value::GrowableVec(stack) => self.open_stack(stack),
            _ => None,
        }
    }

    /// Whether a length of the value depends on these terms. Then it has no meaning outside of
    /// their loop.
    pub(super) fn depends_on_lengths(&self, value: &Value<'a>, on: &[Term]) -> bool {
        match value {
            Value::DynamicPart(open) => open.lens.iter().flatten().any(|&len| self.g.depends_on(len, on)),
            Value::Tuple(parts) | Value::Struct(_, parts) | Value::List(parts) => {
                parts.iter().any(|p| self.depends_on_lengths(p, on))
            }
            Value::Enum(sum) => {
                let fields = sum.payloads.iter().flatten().flat_map(|fields| fields.iter());
                fields.into_iter().any(|p| self.depends_on_lengths(p, on))
            }
            Value::Option(value, _) => self.depends_on_lengths(value, on),
            _ => false,
        }
    }

    /// A dynamic number of rows of an array of arrays, as a growable `Vec`.
    fn dynamic_rows(&mut self, part: &DynamicPart, levels: u8) -> Lowered<Value<'a>> {
        let (len, more) = (part.lens.first().copied().flatten().ok_or(Poison)?, self.no_growth());
        let form = CarriedForm::Leaf { levels: Value::levels_inside(&self.g, part.all, levels) };
        Ok(Value::GrowableVec(Rc::new(GrowableVec {
            all: vec![part.all],
            form,
            ..GrowableVec::without_arrays(len, more)
        })))
    }

    /// Turns a part of an array of arrays into an array of arrays.
    pub(super) fn part_of_rows(&mut self, part: Value<'a>, levels: u8) -> Lowered<Value<'a>> {
        match part {
            Value::Term(t) => Ok(Value::nested(&self.g, t, levels)),
            Value::DynamicPart(part) if levels > 0 && self.g.rank(part.all) > 1 => self.dynamic_rows(&part, levels),
            part => Ok(part),
        }
    }

    /// A part with dynamic length along its only axis, as a growable `Vec`.
    pub(super) fn as_vec(&mut self, value: Value<'a>) -> Value<'a> {
        match &value {
            Value::DynamicPart(open) if self.g.rank(open.all) == 1 => {
                let (len, more) = (open.sizes(&self.g)[0], self.no_growth());
                let form = CarriedForm::Leaf { levels: 0 };
                Value::GrowableVec(Rc::new(GrowableVec {
                    all: vec![open.all],
                    form,
                    ..GrowableVec::without_arrays(len, more)
                }))
            }
            _ => value,
        }
    }

    /// `vec![0.0; n]`, where a step of a loop or an array of a list decides the number n, and data
    /// bound it. `None` for any other length.
    pub(super) fn filled_with_dynamic_length(
        &mut self,
        value: &Value<'a>,
        len: &Value<'a>,
        range: SrcRange,
    ) -> Lowered<Option<Value<'a>>> {
        let number = match value {
            Value::Term(t) => self.g.rank(*t) == 0,
            Value::Number(n) => n.is_float(),
            _ => false,
        };
        let (Value::Term(len), true) = (len, number) else { return Ok(None) };
        if *self.g.ty(*len) != Type::scalar(Elem::USIZE) || self.closed(*len).is_some() {
            return Ok(None);
        }
        let Some(most) = self.most(*len).or_else(|| self.most_in_all_steps(*len)) else { return Ok(None) };
        let number = self.term(value, range)?;
        let filled = self.g.replicate(most, number);
        let part = self.new_part(filled, &[Some(*len)]);
        Ok(Some(self.as_vec(part)))
    }

    fn open_stack(&self, stack: &GrowableVec<'a>) -> Option<DynamicPart> {
        let (all, _) = stack.as_single_array()?;
        if self.g.is_closed(stack.len) {
            return None;
        }
        let mut lens = vec![None; self.g.rank(all)];
        *lens.first_mut()? = Some(stack.len);
        Some(DynamicPart { all, lens: lens.into() })
    }

    /// A list of sizes, or one size, as capacities and lengths.
    pub(super) fn dynamic_size_list(
        &mut self,
        value: &Value<'a>,
        range: SrcRange,
    ) -> Lowered<(Vec<Term>, Vec<Option<Term>>)> {
        let parts: Vec<Value> = match value {
            Value::List(parts) | Value::Tuple(parts) => parts.to_vec(),
            Value::Unit => Vec::new(),
            one => vec![one.clone()],
        };
        let (mut capacities, mut lens) = (Vec::new(), Vec::new());
        for part in &parts {
            let n = self.usize(part, range)?;
            let closed = self.closed(n);
            let Some(capacity) = closed.or_else(|| self.most(n)).or_else(|| self.most_in_all_steps(n)) else {
                return Err(self.error(range, catalogue::array_size_depends_on_index()));
            };
            capacities.push(capacity);
            lens.push(if closed.is_some() { None } else { Some(n) });
        }
        Ok((capacities, lens))
    }

    /// A value as a part with dynamic length. All elements of an array are valid.
    pub(super) fn value_as_part(&mut self, value: &Value<'a>, want: Want, range: SrcRange) -> Lowered<DynamicPart> {
        if let Some(open) = self.as_dynamic_part(value) {
            return Ok(open);
        }
        if let Value::Place(place) = value {
            let value = self.read_place(place)?;
            return self.value_as_part(&value, want, range);
        }
        let all = self.term_as(value, want, range)?;
        let lens = vec![None; self.g.rank(all)];
        Ok(DynamicPart { all, lens: lens.into() })
    }

    /// A condition: the element at an index is valid. `None` if all elements are.
    pub(super) fn is_valid(&mut self, lens: &[Option<Term>], ix: &[Term]) -> Option<Term> {
        self.layouts().is_valid(lens, ix)
    }

    /// Replaces the padding with the number `fill`.
    pub(super) fn padded_with(&mut self, open: &DynamicPart, fill: Term) -> Term {
        let t = self.layouts().padded_with(open, fill);
        if t != open.all {
            self.inference.inherit_literals(&self.g, t, open.all);
        }
        t
    }

    /// Replaces the padding with zeros.
    pub(super) fn with_zeros(&mut self, open: &DynamicPart) -> Term {
        let zero = self.g.zero(self.g.elem(open.all));
        self.padded_with(open, zero)
    }

    /// [`Lower::with_zeros`], for a matrix of a list of several shapes with one test for each
    /// element: a row that is padding has no valid elements. So a loop over the elements of a row
    /// knows where it ends.
    pub(super) fn with_zeros_in_rows(&mut self, open: &DynamicPart) -> Term {
        let (&[Some(rows), Some(columns)], true) = (&*open.lens, self.input.sig().several_shapes) else {
            return self.with_zeros(open);
        };
        let vars = [self.g.fresh(), self.g.fresh()];
        let ix = vars.map(|var| self.g.mk(Node::Var(var)));
        let (none, zero) = (self.g.lit_usize(0), self.g.zero(self.g.elem(open.all)));
        let is_row = self.g.compare(Cmp::Lt, ix[0], rows);
        let len = self.g.cond(is_row, columns, none);
        let is_there = self.g.compare(Cmp::Lt, ix[1], len);
        let element = self.g.index(open.all, &ix);
        let element = self.g.cond(is_there, element, zero);
        let sizes = self.g.shape(open.all).to_vec();
        sizes.into_iter().zip(vars).rev().fold(element, |t, (size, var)| self.g.build(size, var, t))
    }

    /// An array in other sizes. Elements that are not in both are unspecified.
    pub(super) fn resized_to(&mut self, t: Term, sizes: &[Term]) -> Term {
        if self.g.shape(t) == sizes {
            return t;
        }
        let vars: Vec<Var> = sizes.iter().map(|_| self.g.fresh()).collect();
        let ix: Vec<Term> = vars.iter().map(|&v| self.g.mk(Node::Var(v))).collect();
        let made = self.g.gather(t, sizes.into(), &vars, &ix);
        self.inference.inherit_literals(&self.g, made, t);
        made
    }

    /// An iterator over the elements.
    pub(super) fn dynamic_seq(&mut self, open: &DynamicPart) -> Seq<'a> {
        let (all, lens) = (open.all, Rc::clone(&open.lens));
        let mut seq =
            Seq::new(self.g.shape(all), move |me: &mut Lower<'a>, ix: &[Term]| Ok(Value::Term(me.g.index(all, ix))));
        self.filter_valid(&mut seq, &lens);
        seq
    }

    /// Omits the padding of the first axes from a sequence.
    pub(super) fn filter_valid(&mut self, seq: &mut Seq<'a>, lens: &[Option<Term>]) {
        match lens[..seq.dims.len()] {
            [len] => seq.len = len,
            ref lens if lens.iter().any(Option::is_some) => seq.lens = lens.into(),
            _ => {}
        }
    }

    /// The index of an item of a loop nest, counted in iteration order.
    pub(super) fn number_of(&mut self, seq: &Seq<'a>, ix: &[Term]) -> Term {
        let sizes = self.counts(seq);
        let mut at = self.g.lit_usize(0);
        for (&i, n) in ix.iter().zip(sizes) {
            at = self.g.int(IntOp::Mul, at, n);
            at = self.g.int(IntOp::Add, at, i);
        }
        at
    }

    /// The number of items of each loop of the nest.
    pub(super) fn counts(&self, seq: &Seq<'a>) -> Vec<Term> {
        let len = |(k, &n): (usize, &Term)| seq.lens.get(k).copied().flatten().unwrap_or(n);
        seq.dims.iter().enumerate().map(len).collect()
    }

    /// Turns a loop nest with dynamic lengths into one loop over the item number.
    pub(super) fn by_number(&mut self, seq: Seq<'a>) -> Seq<'a> {
        let (capacity, counts) = (self.product_of(&seq.dims.clone()), self.counts(&seq));
        let len = self.product_of(&counts);
        let item = seq.item;
        let mut all = Seq::new([capacity], move |me: &mut Lower<'a>, ix: &[Term]| {
            let mut at = ix.first().copied().ok_or(Poison)?;
            let mut ix = Vec::new();
            for &n in counts[1..].iter().rev() {
                ix.push(me.g.int(IntOp::Rem, at, n));
                at = me.g.int(IntOp::Div, at, n);
            }
            ix.push(at);
            ix.reverse();
            item(me, &ix)
        });
        all.len = Some(len);
        all
    }

    /// Broadcasts two arrays or numbers to a common shape. At least one of them has a dynamic
    /// length. The sizes of an axis are equal, or one of them is known to be 1.
    pub(super) fn dynamic_pair(
        &mut self,
        a: &DynamicPart,
        b: &DynamicPart,
        words: &[String; 2],
        range: SrcRange,
    ) -> Lowered<PairedArrays> {
        let (ra, rb) = (self.g.rank(a.all), self.g.rank(b.all));
        let rank = ra.max(rb);
        let (na, nb) = (a.sizes(&self.g), b.sizes(&self.g));
        let (sa, sb) = (self.g.shape(a.all).to_vec(), self.g.shape(b.all).to_vec());
        let (mut capacities, mut lens) = (Vec::new(), Vec::new());
        let (mut to_a, mut to_b) = (sa.clone(), sb.clone());
        for axis in 0..rank {
            let (ka, kb) = ((axis + ra).checked_sub(rank), (axis + rb).checked_sub(rank));
            let one = |me: &Self, n: Term| me.g.int_value(n) == Some(1);
            let (capacity, len) = match (ka, kb) {
                (Some(k), None) => (sa[k], a.lens[k]),
                (None, Some(k)) => (sb[k], b.lens[k]),
                (Some(ka), Some(kb)) if na[ka] != nb[kb] && one(self, nb[kb]) => (sa[ka], a.lens[ka]),
                (Some(ka), Some(kb)) if na[ka] != nb[kb] && one(self, na[ka]) => (sb[kb], b.lens[kb]),
                (Some(ka), Some(kb)) => {
                    let words = [axis_words(&words[0], ka, ra), axis_words(&words[1], kb, rb)];
                    self.equate(na[ka], nb[kb], words, range)?;
                    let found = match (a.lens[ka], b.lens[kb]) {
                        (None, _) => (sa[ka], None),
                        (_, None) => (sb[kb], None),
                        (len, _) if sa[ka] == sb[kb] => (sa[ka], len),
                        (len, _) => (self.g.int(IntOp::Min, sa[ka], sb[kb]), len),
                    };
                    (to_a[ka], to_b[kb]) = (found.0, found.0);
                    found
                }
                (None, None) => continue,
            };
            capacities.push(capacity);
            lens.push(len);
        }
        let (a, b) = (self.resized_to(a.all, &to_a), self.resized_to(b.all, &to_b));
        Ok(PairedArrays { a: self.stretch(a, &capacities), b: self.stretch(b, &capacities), lens })
    }

    /// An array with the capacity of another array. Checks that their lengths are equal.
    pub(super) fn with_sizes_of(
        &mut self,
        new: &DynamicPart,
        of: &DynamicPart,
        words: &[String; 2],
        range: SrcRange,
    ) -> Lowered<Term> {
        let (sizes, own) = (of.sizes(&self.g), new.sizes(&self.g));
        let rank = sizes.len();
        for (k, (&n, &m)) in sizes.iter().zip(&own).enumerate() {
            self.equate(n, m, [axis_words(&words[0], k, rank), axis_words(&words[1], k, rank)], range)?;
        }
        let capacities = self.g.shape(of.all).to_vec();
        let closed = of.lens.iter().chain(&*new.lens).all(Option::is_none);
        Ok(if closed { self.g.recast(new.all, &capacities) } else { self.resized_to(new.all, &capacities) })
    }

    /// Arithmetic on parts with dynamic length.
    pub(super) fn dynamic_arith(
        &mut self,
        op: Arith,
        of: [&DynamicPart; 2],
        by_reference: [bool; 2],
        (words, range): (&[String; 2], SrcRange),
    ) -> Lowered<Value<'a>> {
        let [a, b] = of;
        let elem = self.g.elem(a.all);
        if elem != self.g.elem(b.all) || elem == Elem::Bool {
            let (a, b) = (self.describe(&Value::Term(a.all)), self.describe(&Value::Term(b.all)));
            return Err(self.error(range, catalogue::types_differ(&a, &b)));
        }
        let PairedArrays { a, b, lens } = self.dynamic_pair(a, b, words, range)?;
        if elem.is_real() {
            let t = self.arith(op, a, b, Default::default(), range)?;
            return Ok(self.part_of_two(t, &lens, of, by_reference));
        }
        // Overflow in the padding is not an error.
        let capacities = self.g.shape(a).to_vec();
        self.map_dynamic(&capacities, &lens, (range, Want::Elem(elem)), &mut |me, ix| {
            let (x, y) = (me.g.index(a, ix), me.g.index(b, ix));
            Ok(Value::Term(me.arith(op, x, y, Default::default(), range)?))
        })
    }

    /// Computes a number at each valid index.
    pub(super) fn map_dynamic(
        &mut self,
        capacities: &[Term],
        lens: &[Option<Term>],
        (range, want): (SrcRange, Want),
        f: &mut dyn FnMut(&mut Self, &[Term]) -> Lowered<Value<'a>>,
    ) -> Lowered<Value<'a>> {
        let real = matches!(want, Want::Elem(elem) if elem.is_real());
        let t = self.build_all(capacities, range, &mut |me, ix| {
            let mut one = |me: &mut Self| {
                let value = f(me, ix)?;
                let t = match &value {
                    Value::Number(n) if n.is_float() && real => me.term_as(&value, want, range)?,
                    _ => me.term(&value, range)?,
                };
                if me.g.rank(t) > 0 { Err(me.error(range, catalogue::map_to_arrays())) } else { Ok(t) }
            };
            let Some(exists) = me.is_valid(lens, ix) else { return one(me).map(Value::Term) };
            let t = me.under(exists, true, one)?;
            let zero = me.g.zero(me.g.elem(t));
            let made = me.g.cond(exists, t, zero);
            me.inference.inherit_literals(&me.g, made, t);
            Ok(Value::Term(made))
        })?;
        Ok(self.new_part(t, lens))
    }

    /// Selects one of two parts with dynamic length by a condition.
    pub(super) fn dynamic_choice(
        &mut self,
        cond: Term,
        a: &DynamicPart,
        b: &DynamicPart,
        range: SrcRange,
    ) -> Lowered<Value<'a>> {
        let (ra, rb) = (self.g.rank(a.all), self.g.rank(b.all));
        let (ea, eb) = (self.g.elem(a.all), self.g.elem(b.all));
        if ra != rb || ea != eb {
            let (a, b) = (self.describe(&Value::Term(a.all)), self.describe(&Value::Term(b.all)));
            return Err(self.error(range, catalogue::types_differ(&a, &b)));
        }
        let (na, nb) = (a.sizes(&self.g), b.sizes(&self.g));
        let (sa, sb) = (self.g.shape(a.all).to_vec(), self.g.shape(b.all).to_vec());
        let capacities: Vec<Term> =
            sa.iter().zip(&sb).map(|(&n, &m)| if n == m { n } else { self.g.int(IntOp::Max, n, m) }).collect();
        let mut lens = Vec::new();
        for k in 0..ra {
            let same = na[k] == nb[k] && a.lens[k].is_none() && sa[k] == sb[k];
            lens.push(if same { None } else { Some(self.g.cond(cond, na[k], nb[k])) });
        }
        let of = [self.resized_to(a.all, &capacities), self.resized_to(b.all, &capacities)];
        let t = self.g.cond(cond, of[0], of[1]);
        Ok(self.part_chosen(t, &lens, cond, of))
    }
}
