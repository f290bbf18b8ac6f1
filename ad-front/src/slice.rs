//! Parts of arrays: rows, columns, sub-arrays along an axis, slices.

use std::rc::Rc;

use super::lower::Lower;
use super::methods::parts;
use super::methods::sizes::axis_arg;
use super::open::DynamicPart;
use super::refs::results;
use super::table::{Call, On, OnDynamicParts, Row, row};
use super::value::{Lowered, Range, Value, Want};
use ad_ir::analysis::range::difference;
use ad_ir::catalogue;
use ad_ir::diag::SrcRange;
use ad_ir::ir::{Elem, Graph, IntTy, Lit, Node, Term, Var};
use ad_ir::memory_order::{HasLayouts, ResultOrder};
use ad_ir::prim::{Cmp, IntOp, Prim};
use ad_ir::program::Takes;

/// Methods that take parts of arrays.
pub(super) const TABLE: &[Row] = &[
    row("row", On::Array, (1, 1), row_of, "a row of a matrix")
        .order(ResultOrder::View)
        .gives(results::view)
        .parts(OnDynamicParts::By(parts::row)),
    row("column", On::Array, (1, 1), column_of, "a column of a matrix")
        .order(ResultOrder::View)
        .gives(results::view)
        .parts(OnDynamicParts::By(parts::column)),
    row("index_axis", On::Array, (2, 2), index_axis, "the part at one index of an axis")
        .order(ResultOrder::View)
        .gives(results::view)
        .parts(OnDynamicParts::By(parts::index_axis)),
    row("slice", On::Array, (1, 1), slice_of, "a part: `x.slice(s![1.., ..;-1])`")
        .order(ResultOrder::View)
        .gives(results::view),
    row("index_axis_move", On::Array, (2, 2), index_axis, "the part at one index of an axis")
        .order(ResultOrder::View)
        .takes(Takes::Value)
        .parts(OnDynamicParts::By(parts::index_axis)),
    row("slice_move", On::Array, (1, 1), slice_of, "a part: `x.slice_move(s![1.., ..;-1])`")
        .order(ResultOrder::View)
        .takes(Takes::Value),
    row("slice_axis", On::Array, (2, 2), slice_axis, "a part along an axis: `x.slice_axis(Axis(0), (1..3).into())`")
        .order(ResultOrder::View)
        .gives(results::view),
    row("select", On::Array, (2, 2), select, "the parts at several indices of an axis")
        .order(ResultOrder::Joined)
        .gives(results::array_of_array),
    row("Slice::from", On::Nd, (1, 1), slice_from, "a part of an axis: `x.slice_axis(Axis(0), Slice::from(1..3))`")
        .order(ResultOrder::NoArray),
    row(
        "Slice::new",
        On::Nd,
        (3, 3),
        slice_new,
        "a part of an axis: `Slice::new(1, Some(-1), 2)`, or `None` up to its end",
    )
    .order(ResultOrder::NoArray),
    row("step_by", On::Slice, (1, 1), slice_step_by, "every nth index of a part: `Slice::from(1..).step_by(2)`"),
];

/// `Slice`: the range and step of one axis, as in `s![1..3;2]`.
fn slice_of_axis<'a>(me: &mut Lower<'a>, r: Rc<Range<'a>>, step: i64) -> Value<'a> {
    let step = me.g.lit(Lit::Int(IntTy::Isize, step.into()));
    Value::Tuple([Value::Range(r), Value::Term(step)].into())
}

fn slice_from<'a>(me: &mut Lower<'a>, call: &Call<'a, '_>) -> Lowered<Value<'a>> {
    let (r, range) = call.arg(0)?;
    let Value::Range(r) = r else {
        return Err(me.error(range, catalogue::slice_of_axis()));
    };
    let r = Rc::clone(r);
    Ok(slice_of_axis(me, r, 1))
}

fn slice_new<'a>(me: &mut Lower<'a>, call: &Call<'a, '_>) -> Lowered<Value<'a>> {
    let ((start, _), (end, re), (step, rs)) = (call.arg(0)?, call.arg(1)?, call.arg(2)?);
    let end = match end {
        Value::None => None,
        Value::Option(end, exists) if me.g.bool_value(*exists) == Some(true) => Some((**end).clone()),
        _ => return Err(me.error(re, catalogue::slice_of_axis())),
    };
    let step = literal_step(me, step, rs)?;
    let r = Range { start: Some(start.clone()), end, inclusive: false, key: None };
    Ok(slice_of_axis(me, Rc::new(r), step))
}

fn slice_step_by<'a>(me: &mut Lower<'a>, call: &Call<'a, '_>) -> Lowered<Value<'a>> {
    let ((slice, range), (by, rb)) = (call.arg(0)?, call.arg(1)?);
    let SliceAxis::Range(r, Some(step)) = range_of_axis(me, slice, range)? else {
        return Err(me.error(range, catalogue::slice_of_axis()));
    };
    let by = literal_step(me, by, rb)?;
    Ok(slice_of_axis(me, r, step.saturating_mul(by)))
}

/// Checks that a step is a literal other than 0.
fn literal_step<'a>(me: &mut Lower<'a>, step: &Value<'a>, range: SrcRange) -> Lowered<i64> {
    let step = me.integer(step, IntTy::Isize, range)?;
    match me.g.int_value(step).and_then(|n| i64::try_from(n).ok()).filter(|&n| n != 0) {
        Some(step) => Ok(step),
        None => Err(me.error(range, catalogue::slice_step())),
    }
}

/// The range of an axis: `(1..3).into()`, or a `Slice`.
pub(super) fn range_of_axis<'a>(me: &mut Lower<'a>, value: &Value<'a>, range: SrcRange) -> Lowered<SliceAxis<'a>> {
    match value {
        Value::Range(r) => Ok(SliceAxis::Range(Rc::clone(r), Some(1))),
        Value::Tuple(pair) if let [Value::Range(r), step] = &**pair => {
            Ok(SliceAxis::Range(Rc::clone(r), Some(literal_step(me, step, range)?)))
        }
        _ => Err(me.error(range, catalogue::slice_of_axis())),
    }
}

fn part<'a>(me: &mut Lower<'a>, call: &Call<'a, '_>, x: Term, axis: usize, index: usize) -> Lowered<Value<'a>> {
    let (i, ri) = call.arg(index)?;
    let i = me.usize(i, ri)?;
    let (size, rank) = (me.g.shape(x)[axis], me.g.rank(x));
    me.require_index(i, size, super::arith::axis_words(call.text(0), axis, rank));
    let first = front_axis(me, x, axis);
    Ok(Value::Term(me.g.index(first, &[i])))
}

/// Moves one axis of the array to the front.
pub(super) fn front_axis(me: &mut Lower, x: Term, axis: usize) -> Term {
    let rank = me.g.rank(x);
    let perm: Vec<u8> = std::iter::once(axis)
        .chain((0..rank).filter(|&k| k != axis))
        .map(|k| u8::try_from(k).unwrap_or(u8::MAX))
        .collect();
    me.g.transpose(x, &perm)
}

fn matrix<'a>(me: &mut Lower<'a>, call: &Call<'a, '_>) -> Lowered<Term> {
    let (x, range) = call.arg(0)?;
    let x = me.array(x, range)?;
    if me.g.rank(x) == 2 {
        return Ok(x);
    }
    Err(me.error(call.range, catalogue::rows_of_no_matrix(call.name(), me.g.rank(x))))
}

fn row_of<'a>(me: &mut Lower<'a>, call: &Call<'a, '_>) -> Lowered<Value<'a>> {
    let x = matrix(me, call)?;
    part(me, call, x, 0, 1)
}

fn column_of<'a>(me: &mut Lower<'a>, call: &Call<'a, '_>) -> Lowered<Value<'a>> {
    let x = matrix(me, call)?;
    part(me, call, x, 1, 1)
}

fn index_axis<'a>(me: &mut Lower<'a>, call: &Call<'a, '_>) -> Lowered<Value<'a>> {
    let (x, range) = call.arg(0)?;
    let x = me.array(x, range)?;
    let axis = axis_arg(me, call, x)?;
    part(me, call, x, axis, 2)
}

fn select<'a>(me: &mut Lower<'a>, call: &Call<'a, '_>) -> Lowered<Value<'a>> {
    let ((x, rx), (ids, ri)) = (call.arg(0)?, call.arg(2)?);
    let x = me.array(x, rx)?;
    let axis = axis_arg(me, call, x)?;
    let ids = me.term_as(ids, super::value::Want::Elem(ad_ir::ir::Elem::USIZE), ri)?;
    let sizes = me.g.shape(ids).to_vec();
    if sizes.len() != 1 {
        return Err(me.error(ri, catalogue::ranks_differ(1, sizes.len())));
    }
    let (size, words) = (me.g.shape(x)[axis], super::arith::axis_words(call.text(0), axis, me.g.rank(x)));
    let first = front_axis(me, x, axis);
    let t = me.build_all(&sizes, ri, &mut |me, ix| {
        let i = me.g.index(ids, ix);
        let i = me.usize(&Value::Term(i), ri)?;
        me.require_index(i, size, words.clone());
        Ok(Value::Term(me.g.index(first, &[i])))
    })?;
    Ok(Value::Term(super::methods::layout::move_axis(me, t, 0, axis)))
}

fn slice_of<'a>(me: &mut Lower<'a>, call: &Call<'a, '_>) -> Lowered<Value<'a>> {
    let ((x, rx), (spec, rs)) = (call.arg(0)?, call.arg(1)?);
    if let (Value::GrowableVec(stack), Value::Tuple(parts)) = (x, spec)
        && let [Value::Range(r)] = &**parts
    {
        return me.part_of_vec(&Rc::clone(stack), &r.clone(), rs);
    }
    let x = me.value_as_part(x, Want::Any, rx)?;
    if me.g.rank(x.all) == 0 {
        let found = me.describe(&Value::Term(x.all));
        return Err(me.error(rx, catalogue::array_expected(&found)));
    }
    let (axes, new) = slice_axes(me, spec, me.g.rank(x.all), rs)?;
    let part = me.part_of(&x, &axes, rs)?;
    let ones = vec![me.g.lit_usize(1); new.len()];
    let part = me.value_as_part(&part, Want::Any, rs)?;
    let mut lens = part.lens.to_vec();
    new.iter().for_each(|&k| lens.insert(usize::from(k), None));
    let all = me.g.replicate_axes(part.all, &new, &ones);
    let all = if new.is_empty() { all } else { me.layouts().inserted_axes(part.all, all, &new, 0) };
    Ok(me.dynamic_part(all, &lens))
}

/// Translates the entries of `s![..]`: the range or index of each axis, and the positions of new
/// axes.
pub(super) fn slice_axes<'a>(
    me: &mut Lower<'a>,
    spec: &Value<'a>,
    axes: usize,
    rs: SrcRange,
) -> Lowered<(Vec<SliceAxis<'a>>, Vec<u8>)> {
    let Value::Tuple(parts) = spec else {
        return Err(me.error(rs, catalogue::slice_argument()));
    };
    // `NewAxis` is represented by `()`.
    let given = parts.iter().filter(|p| !matches!(p, Value::Unit)).count();
    if given != axes {
        return Err(me.error(rs, catalogue::index_rank(given, axes)));
    }
    let (mut axes, mut new, mut rank) = (Vec::new(), Vec::new(), 0_u8);
    for part in parts.iter() {
        if matches!(part, Value::Unit) {
            new.push(rank);
        }
        rank = rank.saturating_add(u8::from(matches!(part, Value::Unit | Value::Range(_) | Value::Tuple(_))));
        if matches!(part, Value::Unit) {
            continue;
        }
        axes.push(match part {
            Value::Range(_) | Value::Tuple(_) => range_of_axis(me, part, rs)?,
            one => SliceAxis::Index(one.clone()),
        });
    }
    Ok((axes, new))
}

fn slice_axis<'a>(me: &mut Lower<'a>, call: &Call<'a, '_>) -> Lowered<Value<'a>> {
    let ((x, rx), (part, rp)) = (call.arg(0)?, call.arg(2)?);
    let x = me.value_as_part(x, Want::Any, rx)?;
    let axis = axis_arg(me, call, x.all)?;
    let axes = along(axis, range_of_axis(me, part, rp)?);
    me.part_of(&x, &axes, rp)
}

/// A list of axes: all of the axes before `axis`, and a part of that one.
pub(super) fn along<'a>(axis: usize, part: SliceAxis<'a>) -> Vec<SliceAxis<'a>> {
    let whole = || SliceAxis::Range(Rc::new(Range { start: None, end: None, inclusive: false, key: None }), None);
    let mut axes: Vec<SliceAxis> = (0..axis).map(|_| whole()).collect();
    axes.push(part);
    axes
}

/// The entry for one axis in a slice.
pub(super) enum SliceAxis<'a> {
    /// An index. The axis is dropped.
    Index(Value<'a>),
    /// A range. With a step it follows ndarray: a range with its end before its start is empty.
    /// Without one it follows Rust's slices, which panic then.
    Range(Rc<Range<'a>>, Option<i64>),
}

/// Whether the start of a range is checked to be at most its end.
#[derive(Clone, Copy, PartialEq, Eq)]
enum BoundsOrder {
    Checked,
    /// A range with its end before its start is empty.
    Any,
}

/// One axis of a slice, evaluated: the elements at `start + step * i` for i below `len`, or only
/// the element at `start`.
#[derive(Clone, Copy)]
pub(super) struct Cut {
    pub start: Term,
    pub step: i64,
    pub len: Option<Term>,
    /// The closed capacity, if the length is dynamic.
    pub capacity: Option<Term>,
    /// Whether all indices after the last element are out of range of the axis.
    pub reaches_end: bool,
}

impl Cut {
    /// The element at an index.
    pub(super) fn index(start: Term) -> Self {
        Cut { start, step: 1, len: None, capacity: None, reaches_end: false }
    }

    /// A range with a closed number of elements.
    pub(super) fn range(start: Term, step: i64, len: Term) -> Self {
        Cut { start, step, len: Some(len), capacity: None, reaches_end: false }
    }

    /// The closed maximum number of elements. `None` if the axis is dropped.
    pub(super) fn most(&self) -> Option<Term> {
        self.capacity.or(self.len)
    }

    /// The number of elements, if it is dynamic.
    pub(super) fn dynamic_len(&self) -> Option<Term> {
        self.capacity.and(self.len)
    }
}

/// The dynamic lengths along the remaining axes.
pub(super) fn dynamic_lens(cuts: &[Cut]) -> Vec<Option<Term>> {
    cuts.iter().filter(|c| c.len.is_some()).map(Cut::dynamic_len).collect()
}

impl<'a> Lower<'a> {
    /// A part of an array, as a term. Axes that are not given are kept whole.
    pub(super) fn slice(&mut self, x: Term, axes: &[SliceAxis<'a>], range: SrcRange) -> Lowered<Term> {
        let shape = self.g.shape(x).to_vec();
        let cuts = self.cuts((&shape, &shape), axes, range)?;
        if cuts.iter().any(|c| c.capacity.is_some()) {
            return Err(self.error(range, catalogue::size_depends_on_index()));
        }
        Ok(self.slice_term(x, &cuts))
    }

    /// A part of an array or of another part, of closed or dynamic size.
    pub(super) fn part_of(&mut self, x: &DynamicPart, axes: &[SliceAxis<'a>], range: SrcRange) -> Lowered<Value<'a>> {
        let (sizes, capacities) = (x.sizes(&self.g), self.g.shape(x.all).to_vec());
        let cuts = self.cuts((&sizes, &capacities), axes, range)?;
        Ok(self.slice_value(x.all, &cuts))
    }

    /// The elements selected by `cuts`, as a value.
    pub(super) fn slice_value(&mut self, x: Term, cuts: &[Cut]) -> Value<'a> {
        let all = self.slice_term(x, cuts);
        self.dynamic_part(all, &dynamic_lens(cuts))
    }

    /// Evaluates a slice of an array with the given lengths and capacities.
    pub(super) fn cuts(
        &mut self,
        (sizes, capacities): (&[Term], &[Term]),
        axes: &[SliceAxis<'a>],
        range: SrcRange,
    ) -> Lowered<Vec<Cut>> {
        let mut cuts = Vec::new();
        for (k, axis) in axes.iter().enumerate().take(sizes.len()) {
            let (size, capacity) = (sizes[k], capacities[k]);
            let cut = match axis {
                SliceAxis::Index(i) => {
                    let i = self.counted(i, size, range)?;
                    self.require_lt(i, size, ad_ir::catalogue::reached::INDEX_OF_SLICE);
                    Cut::index(i)
                }
                SliceAxis::Range(r, step) => self.cut(r, *step, (size, capacity), range)?,
            };
            cuts.push(cut);
        }
        let rest = cuts.len();
        cuts.extend(self.whole(&sizes[rest..], &capacities[rest..]));
        Ok(cuts)
    }

    /// Cuts that keep the axes whole, with the given lengths and capacities.
    pub(super) fn whole(&mut self, sizes: &[Term], capacities: &[Term]) -> Vec<Cut> {
        let start = self.g.lit_usize(0);
        let whole = |(&size, &capacity): (&Term, &Term)| {
            let reaches_end = size == capacity;
            Cut { start, step: 1, len: Some(size), capacity: (!reaches_end).then_some(capacity), reaches_end: true }
        };
        sizes.iter().zip(capacities).map(whole).collect()
    }

    /// The elements selected by `cuts`, as a term. An axis with a dynamic length has its whole
    /// capacity.
    pub(super) fn slice_term(&mut self, x: Term, cuts: &[Cut]) -> Term {
        let closed = cuts.iter().all(|c| c.len.is_some() && c.capacity.is_none() && self.g.is_closed(c.start));
        if closed {
            let starts: Vec<Term> = cuts.iter().map(|c| c.start).collect();
            let steps: Vec<i64> = cuts.iter().map(|c| c.step).collect();
            let lens: Vec<Term> = cuts.iter().filter_map(|c| c.len).collect();
            return self.g.slice(x, &starts, &steps, &lens);
        }
        self.slice_by_index(x, cuts)
    }

    /// A slice whose start depends on an enclosing loop, or that drops an axis. It is gathered by
    /// index.
    fn slice_by_index(&mut self, x: Term, cuts: &[Cut]) -> Term {
        if cuts.iter().all(|c| c.len.is_none()) {
            let index: Vec<Term> = cuts.iter().map(|c| c.start).collect();
            return self.g.index(x, &index);
        }
        let (mut sizes, mut vars, mut index): (Vec<Term>, Vec<Var>, Vec<Term>) = Default::default();
        for cut in cuts {
            let Some(most) = cut.most() else {
                index.push(cut.start);
                continue;
            };
            let var = self.g.fresh();
            let i = self.g.mk(Node::Var(var));
            index.push(self.place_in_axis(cut, i));
            sizes.push(most);
            vars.push(var);
        }
        self.g.gather(x, sizes.into(), &vars, &index)
    }

    /// The index in the axis of element `i` of a cut.
    pub(super) fn place_in_axis(&mut self, cut: &Cut, i: Term) -> Term {
        let by = self.g.lit_usize(usize::try_from(cut.step.unsigned_abs()).unwrap_or(usize::MAX));
        let offset = self.g.int(IntOp::Mul, i, by);
        let op = if cut.step > 0 { IntOp::Add } else { IntOp::Sub };
        self.g.int(op, cut.start, offset)
    }

    /// An index in `s!`. A negative one counts from the end.
    fn counted(&mut self, value: &Value<'a>, size: Term, range: SrcRange) -> Lowered<Term> {
        if let Value::Number(n) = value {
            let t = self.number(n, ad_ir::ir::Elem::Int(ad_ir::ir::IntTy::Isize), range)?;
            if let Some(k) = self.g.int_value(t).filter(|&k| k < 0) {
                let back = self.g.lit(Lit::Int(ad_ir::ir::IntTy::Usize, -k));
                return Ok(self.int_checked(IntOp::Sub, size, back));
            }
        }
        let Value::Term(t) = *value else { return self.usize(value, range) };
        match self.g.elem(t) {
            Elem::Int(ty @ (IntTy::I32 | IntTy::Isize))
                if self.g.rank(t) == 0 && self.inference.literals_of(&self.g, t).is_empty() =>
            {
                let zero = self.g.lit(Lit::Int(ty, 0));
                let back = self.g.compare(Cmp::Lt, t, zero);
                let by = self.g.prim(Prim::IntNeg, &[t]);
                let by = self.g.cast(Elem::USIZE, by);
                let from_end = self.under(back, true, |me| me.int_checked(IntOp::Sub, size, by));
                let at = self.g.cast(Elem::USIZE, t);
                Ok(self.g.cond(back, from_end, at))
            }
            Elem::Int(IntTy::Usize) => self.usize(value, range),
            Elem::Int(_) if self.inference.literals_of(&self.g, t).is_empty() => {
                let found = self.describe(value);
                Err(self.error(range, catalogue::slice_bound(&found)))
            }
            _ => self.usize(value, range),
        }
    }

    /// `&x[a..b]` with a dynamic length. `None` if the length is closed.
    pub(super) fn dynamic_slice(
        &mut self,
        (x, levels): (Term, u8),
        r: &Range<'a>,
        range: SrcRange,
    ) -> Lowered<Option<Value<'a>>> {
        let (noted, mark) = (self.checkpoint(), self.state.facts.mark());
        let n = self.g.shape(x)[0];
        let (start, end) = self.bounds(r, n, BoundsOrder::Checked, range)?;
        let len = self.length_between(start, end);
        if self.closed(len).is_some() {
            // The caller slices again and makes its own checks, so those made here are dropped.
            self.drop_checks_since(&noted);
            self.state.facts.forget(mark);
            return Ok(None);
        }
        let mut all = x;
        let zero = self.g.lit_usize(0);
        if start != zero {
            let n = self.capacity_of_part(len, n);
            let var = self.g.fresh();
            let i = self.g.mk(Node::Var(var));
            let at = self.g.int(IntOp::Add, start, i);
            all = self.g.gather(all, [n].into(), &[var], &[at]);
        }
        let more = self.no_growth();
        let form = super::carry::CarriedForm::Leaf { levels: Value::levels_inside(&self.g, all, levels) };
        let part =
            super::stack::GrowableVec { all: vec![all], form, ..super::stack::GrowableVec::without_arrays(len, more) };
        Ok(Some(Value::GrowableVec(Rc::new(part))))
    }

    /// A part of a growable `Vec`.
    pub(super) fn part_of_vec(
        &mut self,
        stack: &super::stack::GrowableVec<'a>,
        r: &Range<'a>,
        range: SrcRange,
    ) -> Lowered<Value<'a>> {
        let (start, end) = self.bounds(r, stack.len, BoundsOrder::Checked, range)?;
        let len = self.length_between(start, end);
        let (zero, mut part) = (self.g.lit_usize(0), self.uncarried(stack));
        if start != zero {
            for t in &mut part.all {
                let all = self.g.shape(*t)[0];
                let capacity = self.capacity_of_part(len, all);
                let var = self.g.fresh();
                let i = self.g.mk(Node::Var(var));
                let at = self.g.int(IntOp::Add, start, i);
                *t = self.g.gather(*t, [capacity].into(), &[var], &[at]);
            }
        }
        part.len = len;
        part.window = part.window.map(|_| 0);
        if let Some(len) = self.closed(len) {
            part.len = len;
            let capacity = len;
            let part = self.with_capacity_of(&part, capacity);
            return self.vec_into_array(&part, range);
        }
        Ok(Value::GrowableVec(Rc::new(part)))
    }

    /// The start and end of a range of a `Vec` with this many elements, checked.
    pub(super) fn checked_bounds(&mut self, r: &Range<'a>, size: Term, range: SrcRange) -> Lowered<(Term, Term)> {
        self.bounds(r, size, BoundsOrder::Checked, range)
    }

    /// The checked start and end of a range. Whether they are in order is checked if `order`
    /// requires it.
    fn bounds(&mut self, r: &Range<'a>, size: Term, order: BoundsOrder, range: SrcRange) -> Lowered<(Term, Term)> {
        let start = match &r.start {
            Some(start) => self.counted(start, size, range)?,
            None => self.g.lit_usize(0),
        };
        let mut end = match &r.end {
            Some(end) => self.counted(end, size, range)?,
            None => size,
        };
        if r.inclusive && r.end.is_some() {
            let one = self.g.lit_usize(1);
            end = self.int_checked(IntOp::Add, end, one);
        }
        match order {
            BoundsOrder::Checked => self.require_le(start, end, ad_ir::catalogue::reached::START_AFTER_END),
            // The subtraction saturates, so the length is 0 if the end is before the start.
            BoundsOrder::Any if self.state.facts.prove_le(&self.g, start, end) => {}
            BoundsOrder::Any => self.require_le(start, size, ad_ir::catalogue::reached::START_OF_SLICE),
        }
        self.require_le(end, size, ad_ir::catalogue::reached::END_OF_SLICE);
        Ok((start, end))
    }

    /// The length between two bounds. Both are checked to be at most a size, so neither has
    /// saturated.
    fn length_between(&mut self, start: Term, end: Term) -> Term {
        let len = self.g.int(IntOp::Sub, end, start);
        if self.g.is_closed(len) {
            return len;
        }
        let ordered = self.state.facts.prove_le(&self.g, start, end);
        let closed = |g: &Graph, t: Term| g.free(t).is_empty() && !g.is_open(t);
        let (facts, g) = (&mut self.state.facts, &mut self.g);
        if let Some(len) = difference(facts, g, (start, end), ordered, closed) {
            return len;
        }
        // The length of `a[at..at + j]` is `j`, also where `j` is the number of a step.
        let found = difference(facts, g, (start, end), ordered, |_, _| true);
        found.filter(|&t| !matches!(g.node(t), Node::Prim(Prim::Int(_), _))).unwrap_or(len)
    }

    fn cut(
        &mut self,
        r: &Range<'a>,
        step: Option<i64>,
        (size, capacity): (Term, Term),
        range: SrcRange,
    ) -> Lowered<Cut> {
        let order = if step.is_some() { BoundsOrder::Any } else { BoundsOrder::Checked };
        let step = step.unwrap_or(1);
        let (start, end) = self.bounds(r, size, order, range)?;
        let by = self.g.lit_usize(usize::try_from(step.unsigned_abs()).unwrap_or(usize::MAX));
        let one = self.g.lit_usize(1);
        // The number of elements is ceil(len / |step|). A negative step starts at the last element.
        let count = |me: &mut Self, len: Term| {
            if step.unsigned_abs() == 1 {
                return len;
            }
            let less = me.g.int(IntOp::Sub, by, one);
            let padded = me.g.int(IntOp::Add, len, less);
            me.g.int(IntOp::Div, padded, by)
        };
        let first = if step < 0 { self.g.int(IntOp::Sub, end, one) } else { start };
        let len = self.length_between(start, end);
        if let Some(len) = self.closed(len) {
            let count = count(self, len);
            return Ok(Cut::range(first, step, count));
        }
        let most = match self.most(len) {
            Some(most) if self.g.int_value(most).is_some() && self.state.facts.prove_le(&self.g, most, capacity) => {
                most
            }
            _ => self.capacity_of_part(len, capacity),
        };
        let (len, most) = (count(self, len), count(self, most));
        Ok(Cut { start: first, step, len: Some(len), capacity: Some(most), reaches_end: step > 0 && end == size })
    }
}
