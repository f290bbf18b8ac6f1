//! In which order ndarray adds up what a view shows: it goes along memory where that is contiguous, and lane by lane where it is not.
//! Where a view's elements are is read off its term: transpositions, slices and indices of something that is in standard layout, as results
//! and (it is assumed here, so that the same inputs give the same bits) parameters are. Only what decisions read depends on it.
//! Must never change what is computed, only the order that [`crate::prim::Prim::Own`] has of it.

use super::arith::Arith;
use super::checks::Frame;
use super::lower::Lower;
use super::value::{Lowered, Value};
use crate::diag::SrcRange;
use crate::ir::{Graph, Node, Term, axis};
use crate::prim::{Cmp, IntOp, Prim, Reduce};

/// Where the elements of one axis are.
#[derive(Clone, Copy)]
struct Along {
    /// Which axis of the array in memory it is: the last one has neighbours.
    place: usize,
    step: i64,
    /// How far apart neighbours of that axis are.
    unit: Term,
    /// Of a slice: ndarray gives it the stride 0 if it has at most one element.
    sliced: bool,
}

/// A view of an array in memory.
pub(super) struct View {
    axes: Vec<Along>,
    /// Whether all elements are next to each other.
    contiguous: Term,
    /// How they come in memory, if they are.
    order: Order,
    /// The elements as they come in memory, if they do so in one piece.
    in_memory: Term,
}

/// An order of all elements: that of axes from the outermost to the innermost, some of which go backwards.
#[derive(Clone, PartialEq, Eq)]
pub(super) struct Order {
    pub outwards: Vec<u8>,
    back: Vec<bool>,
}

/// How ndarray's `Zip` sees an array: 2 of rows next to each other, -2 of columns, between them what only begins so.
type Tendency = i32;
const ROWS: Tendency = 2;
const COLUMNS: Tendency = -2;

impl<'a> Lower<'a> {
    /// How a term shows an array in memory, if it does so in another order than that of its own axes.
    pub(super) fn view(&mut self, t: Term) -> Option<View> {
        let axes = self.along(t)?;
        let shape = self.g.shape(t).to_vec();
        let mut inwards: Vec<usize> = (0..axes.len()).collect();
        inwards.sort_by_key(|&k| std::cmp::Reverse(axes[k].place));
        let one = self.g.lit_usize(1);
        let (mut contiguous, mut expected) = (self.g.lit_bool(true), one);
        for &k in &inwards {
            let near = if axes[k].step.unsigned_abs() == 1 {
                self.same_size(axes[k].unit, expected)
            } else {
                self.g.lit_bool(false)
            };
            if self.g.bool_value(near) != Some(true) {
                let few = self.g.compare(Cmp::Le, shape[k], one);
                let fits = self.g.or(near, few);
                contiguous = self.g.and(contiguous, fits);
            }
            expected = self.times(expected, shape[k]);
        }
        let outwards: Vec<u8> = inwards.iter().rev().map(|&k| axis(k)).collect();
        let back = outwards.iter().map(|&k| axes[usize::from(k)].step < 0).collect();
        let order = Order { outwards, back };
        let in_memory = self.arranged(t, &order);
        if in_memory == t && self.g.bool_value(contiguous) == Some(true) {
            return None;
        }
        Some(View { axes, contiguous, order, in_memory })
    }

    /// The elements of `t` in an order. Axes that the order does not know stay behind the others.
    fn arranged(&mut self, t: Term, order: &Order) -> Term {
        let known = order.outwards.len();
        let perm: Vec<u8> = order.outwards.iter().copied().chain((known..self.g.rank(t)).map(axis)).collect();
        let t = self.g.transpose(t, &perm);
        self.turned(t, &order.back)
    }

    /// What [`Lower::arranged`] made as it was before.
    pub(super) fn shown(&mut self, t: Term, order: &Order) -> Term {
        let t = self.turned(t, &order.back);
        let mut perm: Vec<u8> = (0..self.g.rank(t)).map(axis).collect();
        for (from, &k) in order.outwards.iter().enumerate() {
            perm[usize::from(k)] = axis(from);
        }
        self.g.transpose(t, &perm)
    }

    /// Some of the first axes backwards.
    fn turned(&mut self, t: Term, back: &[bool]) -> Term {
        let sizes = self.g.shape(t).to_vec();
        let (zero, one) = (self.g.lit_usize(0), self.g.lit_usize(1));
        let (mut starts, mut steps) = (vec![zero; sizes.len()], vec![1; sizes.len()]);
        for k in (0..back.len()).filter(|&k| back[k]) {
            (starts[k], steps[k]) = (self.g.int(IntOp::Sub, sizes[k], one), -1);
        }
        self.g.slice(t, &starts, &steps, &sizes)
    }

    /// In which order an array is in one piece of memory, if that is known and another one than that of its own axes.
    fn order(&mut self, t: Term) -> Option<Order> {
        let view = self.view(t)?;
        (self.g.bool_value(view.contiguous) == Some(true)).then_some(view.order)
    }

    /// An array of something elementwise of another: ndarray makes it in the order of that one where it is in one piece, and otherwise in standard
    /// layout.
    pub(super) fn along_memory(
        &mut self,
        x: Term,
        f: impl FnOnce(&mut Self, Term) -> Lowered<Value<'a>>,
    ) -> Lowered<Value<'a>> {
        let Some(order) = self.order(x) else { return f(self, x) };
        let x = self.arranged(x, &order);
        Ok(match f(self, x)? {
            Value::Term(t) if self.g.rank(t) >= order.outwards.len() => Value::Term(self.shown(t, &order)),
            other => other,
        })
    }

    /// Arithmetic of two values of which at least one is an array, in ndarray's order: what is there by value is written over, a number changes no order,
    /// and of two references `Zip` decides.
    pub(super) fn arith_along_memory(
        &mut self,
        op: Arith,
        (x, y): (Term, Term),
        by_reference: [bool; 2],
        words: [String; 2],
        range: SrcRange,
    ) -> Lowered<Term> {
        let own = [self.order(x), self.order(y)];
        if own == [None, None] {
            return self.arith(op, x, y, words, range);
        }
        let ranks = [self.g.rank(x), self.g.rank(y)];
        let (a, b) = self.broadcast_both(x, y, words, range)?;
        let shape = self.g.shape(a).to_vec();
        let whole =
            [x, y].map(|t| self.g.rank(t) == shape.len() && (0..shape.len()).all(|k| self.fills(t, k, shape[k])));
        let [of_x, of_y] = own;
        // A reference to what has no axis is one to an array without axes.
        let order = match (ranks, by_reference, whole) {
            ([_, 0], [_, false], _) | (_, [false, _], [true, _]) => of_x,
            ([0, _], [false, _], _) | (_, [true, false], [_, true]) => of_y,
            _ => self.zip_order(&[x, y], &shape),
        };
        let Some(order) = order else { return self.arith(op, a, b, Default::default(), range) };
        let (a, b) = (self.arranged(a, &order), self.arranged(b, &order));
        let made = self.arith(op, a, b, Default::default(), range)?;
        Ok(self.shown(made, &order))
    }

    /// The order of what `Zip` collects: by columns if all are, or if more of them tend to it than to rows.
    pub(super) fn zip_order(&mut self, of: &[Term], shape: &[Term]) -> Option<Order> {
        let rank = shape.len();
        let all: Vec<Tendency> = of.iter().map(|&t| self.tendency(t, shape)).collect();
        let every = |by| all.iter().all(|&t| t == by);
        let columns = rank > 1 && !every(ROWS) && (every(COLUMNS) || all.iter().sum::<Tendency>() < 0);
        columns.then(|| Order { outwards: (0..rank).rev().map(axis).collect(), back: vec![false; rank] })
    }

    /// Whether an axis is as long as that of what it is stretched to, under another name perhaps: it is, unless it is known to have one element.
    fn fills(&self, t: Term, k: usize, size: Term) -> bool {
        let own = self.g.shape(t)[k];
        own == size || self.g.int_value(own) != Some(1)
    }

    /// `shape`: to which it is stretched.
    fn tendency(&mut self, t: Term, shape: &[Term]) -> Tendency {
        let (rank, own) = (shape.len(), self.g.shape(t).to_vec());
        let view = self.view(t);
        let near = |me: &mut Self, k: usize| {
            let Some(at) = (k + own.len()).checked_sub(rank).filter(|&at| me.fills(t, at, shape[k])) else {
                return false;
            };
            let Some(view) = &view else { return at + 1 == own.len() };
            let near = me.lanes_are_slices(view, at);
            me.g.bool_value(near) == Some(true)
        };
        if own.len() == rank && (0..rank).all(|k| self.fills(t, k, shape[k])) {
            let Some(view) = &view else { return ROWS };
            let whole = self.g.bool_value(view.contiguous) == Some(true) && !view.order.back.contains(&true);
            if whole && view.order.outwards.iter().copied().eq((0..rank).map(axis)) {
                return ROWS;
            }
            if whole && rank > 1 && view.order.outwards.iter().copied().eq((0..rank).rev().map(axis)) {
                return COLUMNS;
            }
        }
        if rank > 1 && near(self, 0) { -1 } else { i32::from(rank > 1 && near(self, rank - 1)) }
    }

    fn same_size(&mut self, a: Term, b: Term) -> Term {
        if a == b { self.g.lit_bool(true) } else { self.g.compare(Cmp::Eq, a, b) }
    }

    fn times(&mut self, a: Term, b: Term) -> Term {
        match (self.g.int_value(a), self.g.int_value(b)) {
            (Some(1), _) => b,
            (_, Some(1)) => a,
            _ => self.g.int(IntOp::Mul, a, b),
        }
    }

    /// The axes of a view; `None` for what is no view.
    fn along(&mut self, t: Term) -> Option<Vec<Along>> {
        // Down to what is in memory, and up again.
        let mut chain = Vec::new();
        let mut base = t;
        loop {
            base = match self.g.node(base) {
                Node::Prim(Prim::Transpose(_) | Prim::Slice(_), args) => args[0],
                Node::Prim(Prim::Recast, args) if self.g.shape(args[0]) != self.g.shape(base) => args[0],
                Node::Gather { src, .. } => *src,
                _ => break,
            };
            chain.push(base);
        }
        // What is stacked along an inner axis is an array of its own.
        if chain.is_empty() || matches!(self.g.node(base), Node::Prim(Prim::Stack, _)) {
            return None;
        }
        let shape = self.g.shape(base).to_vec();
        let mut unit = self.g.lit_usize(1);
        let mut axes: Vec<Along> = Vec::new();
        for (place, &n) in shape.iter().enumerate().rev() {
            axes.push(Along { place, step: 1, unit, sliced: false });
            unit = self.times(unit, n);
        }
        axes.reverse();
        chain.pop();
        for u in chain.into_iter().rev().chain([t]) {
            axes = match self.g.node(u).clone() {
                Node::Prim(Prim::Transpose(perm), _) => perm.iter().map(|&k| axes[usize::from(k)]).collect(),
                Node::Prim(Prim::Slice(steps), _) => axes
                    .iter()
                    .zip(&steps)
                    .map(|(a, s)| Along { step: a.step.saturating_mul(*s), sliced: true, ..*a })
                    .collect(),
                Node::Gather { vars, index, .. } => {
                    let mut left = Vec::new();
                    for &v in &vars {
                        let v = self.g.mk(Node::Var(v));
                        let mut found: Option<Along> = None;
                        for (&i, a) in index.iter().zip(&axes) {
                            let Some(step) = step_of(&self.g, i, v)? else { continue };
                            let own = Along { step: a.step.saturating_mul(step), sliced: true, ..*a };
                            found = Some(match found {
                                None => own,
                                // A diagonal.
                                Some(first) => Along { unit: self.g.int(IntOp::Add, first.unit, own.unit), ..own },
                            });
                        }
                        left.push(found?);
                    }
                    left.extend(&axes[index.len()..]);
                    left
                }
                _ => axes,
            };
        }
        Some(axes)
    }

    /// 0 and the elements over the last `rank` axes, one after the other.
    fn in_order(&mut self, t: Term, rank: usize) -> Term {
        let sum = self.g.reduce(Reduce::InOrder, rank, t);
        let zero = self.g.zeros_like(sum);
        self.g.add(zero, sum)
    }

    /// Whether the lanes of one axis are slices.
    pub(super) fn lanes_are_slices(&mut self, view: &View, k: usize) -> Term {
        let one = self.g.lit_usize(1);
        match view.axes[k].step {
            1 => self.same_size(view.axes[k].unit, one),
            _ => self.g.lit_bool(false),
        }
    }

    /// Whether an axis is the one that ndarray takes for the nearest: of the smallest stride, the last of several.
    fn is_nearest(&mut self, t: Term, view: &View, k: usize) -> Term {
        let shape = self.g.shape(t).to_vec();
        let (zero, one) = (self.g.lit_usize(0), self.g.lit_usize(1));
        let strides: Vec<Term> = (0..shape.len())
            .map(|n| {
                let a = view.axes[n];
                let by = self.g.lit_usize(usize::try_from(a.step.unsigned_abs()).unwrap_or(usize::MAX));
                let stride = self.times(a.unit, by);
                if !a.sliced {
                    return stride;
                }
                let few = self.g.compare(Cmp::Le, shape[n], one);
                self.choice(few, zero, stride)
            })
            .collect();
        let mut nearest = self.g.lit_bool(true);
        for (n, &other) in strides.iter().enumerate().filter(|&(n, _)| n != k) {
            let op = if n < k { Cmp::Le } else { Cmp::Lt };
            let nearer = self.g.compare(op, strides[k], other);
            nearest = self.g.and(nearest, nearer);
        }
        nearest
    }

    fn choice(&mut self, c: Term, a: Term, b: Term) -> Term {
        match self.g.bool_value(c) {
            Some(true) => a,
            Some(false) => b,
            None => self.g.cond(c, a, b),
        }
    }

    /// A sum over all axes with ndarray's own. (Of what is no view a plain sum is.)
    pub(super) fn own_sum(&mut self, free: Term, t: Term) -> Term {
        let rank = self.g.rank(t);
        if rank == 0 || !self.g.elem(t).is_real() {
            return free;
        }
        let Some(view) = self.view(t) else { return free };
        let whole = self.g.reduce(Reduce::Unrolled, rank, view.in_memory);
        let slices = self.lanes_are_slices(&view, rank - 1);
        let (fast, slow) = (self.g.reduce(Reduce::Unrolled, 1, t), self.in_order(t, 1));
        let mut rows = self.choice(slices, fast, slow);
        if rank > 1 {
            rows = self.in_order(rows, rank - 1);
        }
        let own = self.choice(view.contiguous, whole, rows);
        self.g.own(free, own)
    }

    /// A sum over one axis with ndarray's own: by lanes, if they are the nearest in memory, and otherwise one part after the other.
    pub(super) fn own_sum_axis(&mut self, free: Term, t: Term, k: usize) -> Term {
        if !self.g.elem(t).is_real() {
            return free;
        }
        let Some(view) = self.view(t) else { return free };
        let lanes = super::methods::layout::move_axis(self, t, k, self.g.rank(t) - 1);
        // A lane that goes backwards is added up as it comes in memory.
        let memory = if view.axes[k].step == -1 { self.backwards(lanes) } else { lanes };
        let one = self.g.lit_usize(1);
        let mut near = match view.axes[k].step {
            1 | -1 => self.same_size(view.axes[k].unit, one),
            _ => self.g.lit_bool(false),
        };
        let nearest = self.is_nearest(t, &view, k);
        near = self.g.and(near, nearest);
        let (fast, slow) = (self.g.reduce(Reduce::Unrolled, 1, memory), self.in_order(lanes, 1));
        let own = self.choice(near, fast, slow);
        self.g.own(free, own)
    }

    /// The last axis from its end.
    fn backwards(&mut self, t: Term) -> Term {
        let mut back = vec![false; self.g.rank(t)];
        if let Some(last) = back.last_mut() {
            *last = true;
        }
        self.turned(t, &back)
    }

    /// A reduction with that over the elements in the order in which ndarray's `fold` meets them.
    pub(super) fn own_fold(&mut self, op: Reduce, free: Term, t: Term) -> Term {
        let met = self.as_folded(t);
        super::functions::own(self, free, op, self.g.rank(met), met)
    }

    /// The elements in the order in which ndarray's `fold` meets them: as they come in memory if they do so in one piece. Otherwise the axis whose
    /// elements are the nearest to each other changes its place with the last one.
    pub(super) fn as_folded(&mut self, t: Term) -> Term {
        let Some(view) = self.view(t) else { return t };
        if self.g.bool_value(view.contiguous) == Some(true) {
            return view.in_memory;
        }
        let (rank, shape) = (view.axes.len(), self.g.shape(t).to_vec());
        let mut places: Vec<usize> = (0..rank).collect();
        places.sort_by_key(|&k| view.axes[k].place);
        let swapped = |me: &mut Self, k: usize| {
            let mut perm: Vec<u8> = (0..rank).map(axis).collect();
            perm.swap(k, rank - 1);
            me.g.transpose(t, &perm)
        };
        let mut met = match rank {
            0 | 1 => t,
            // With one element along an axis all orders of two are one.
            2 => swapped(self, places[1]),
            _ => {
                let one = self.g.lit_usize(1);
                let mut met = t;
                for &k in &places {
                    let (several, of_k) = (self.g.compare(Cmp::Gt, shape[k], one), swapped(self, k));
                    met = self.one_order(several, of_k, met);
                }
                met
            }
        };
        if met != view.in_memory {
            met = self.one_order(view.contiguous, view.in_memory, met);
        }
        met
    }

    /// Arrays of the same elements in different orders: one of them, by a condition.
    fn one_order(&mut self, c: Term, a: Term, b: Term) -> Term {
        if a == b {
            return a;
        }
        let shape = self.g.shape(a).to_vec();
        let n = self.product_of(&shape);
        let [a, b] = [a, b].map(|t| {
            let own = self.g.shape(t).to_vec();
            let size = self.product_of(&own);
            let flat = self.g.reshape(t, &[size]);
            self.g.recast(flat, &[n])
        });
        self.choice(c, a, b)
    }

    /// A product of all elements with ndarray's own: of lanes that are slices unrolled, otherwise from the first element to the last, as
    /// `in_order` multiplies and as `free` is.
    pub(super) fn own_product(
        &mut self,
        (free, t): (Term, Term),
        range: SrcRange,
        in_order: impl Fn(&mut Self, Term) -> Lowered<Value<'a>>,
    ) -> Lowered<Term> {
        let rank = self.g.rank(t);
        let Some(view) = self.view(t) else {
            return Ok(super::functions::own(self, free, Reduce::Factors, rank, t));
        };
        let lanes = match self.g.bool_value(view.contiguous) {
            Some(true) => free,
            _ if rank < 2 => free,
            _ => {
                let outer = self.g.shape(t)[..rank - 1].to_vec();
                let slow = self.build_all(&outer, range, &mut |me, ix| {
                    let lane = me.g.index(t, ix);
                    in_order(me, lane)
                })?;
                let fast = self.g.reduce(Reduce::Factors, 1, t);
                let slices = self.lanes_are_slices(&view, rank - 1);
                let each = self.choice(slices, fast, slow);
                let all = in_order(self, each)?;
                self.term(&all, range)?
            }
        };
        let whole = self.g.reduce(Reduce::Factors, rank, view.in_memory);
        let own = self.choice(view.contiguous, whole, lanes);
        Ok(self.g.own(free, own))
    }

    /// A product with a vector, by the dot products of ndarray: unrolled where both are slices, and otherwise in order.
    /// `rows`: which axis of `a` is summed over.
    pub(super) fn own_dot(&mut self, free: Term, (a, rows): (Term, usize), b: Term) -> Term {
        let (va, vb) = (self.view(a), self.view(b));
        // A whole matrix, transposed or not, is what the product itself is computed of.
        let whole =
            |me: &Self, v: &Option<View>| v.as_ref().is_none_or(|v| me.g.bool_value(v.contiguous) == Some(true));
        let plain = match (&va, self.g.rank(a)) {
            (None, _) => true,
            (Some(v), 2) => whole(self, &va) && v.axes.iter().all(|x| x.step == 1),
            _ => false,
        };
        // In a loop, all products of one matrix with vectors may become one of two matrices, which has another order.
        let looped = self.frames.iter().any(|frame| !matches!(frame, Frame::Guard { .. }));
        if plain && vb.is_none() && !looped {
            return free;
        }
        let one = self.g.lit_usize(1);
        let mut slices = match &va {
            Some(v) => self.lanes_are_slices(v, rows),
            // The lanes of the first axis of a matrix have its columns between them.
            None if rows + 1 < self.g.rank(a) => self.same_size(self.g.shape(a)[1], one),
            None => self.g.lit_bool(true),
        };
        if let Some(v) = &vb {
            let more = self.lanes_are_slices(v, 0);
            slices = self.g.and(slices, more);
        }
        let last = self.g.rank(a) - 1;
        let lanes = super::methods::layout::move_axis(self, a, rows, last);
        let shape = self.g.shape(lanes).to_vec();
        let axes: Vec<u8> = (0..last).map(axis).collect();
        let b = self.g.recast(b, &shape[last..]);
        let spread = self.g.replicate_axes(b, &axes, &shape[..last]);
        let products = self.g.mul(lanes, spread);
        let (fast, slow) = (self.g.reduce(Reduce::Unrolled, 1, products), self.in_order(products, 1));
        let own = self.choice(slices, fast, slow);
        if self.g.ty(own) == self.g.ty(free) { self.g.own(free, own) } else { free }
    }

    /// What a function of the DSL makes is in standard layout, even if it shows other elements.
    pub(super) fn made(&mut self, t: Term) -> Term {
        if self.view(t).is_some() { self.renewed(t) } else { t }
    }

    fn renewed(&mut self, t: Term) -> Term {
        let args: Vec<Term> = std::iter::once(t).chain(self.g.shape(t).to_vec()).collect();
        self.g.prim(Prim::Recast, &args)
    }

    /// A copy of a view that is not contiguous is an array in standard layout: a term of its own, until it is simplified.
    pub(super) fn copied(&mut self, t: Term) -> Term {
        match self.view(t) {
            Some(view) if self.g.bool_value(view.contiguous) != Some(true) => self.renewed(t),
            _ => t,
        }
    }
}

/// How far an index goes for each step of a variable: `start + v * n` or `start - v * n`; inside: none where it does not mention it. Outside:
/// none where it is anything else.
#[allow(clippy::option_option, reason = "see above")]
fn step_of(g: &Graph, i: Term, v: Term) -> Option<Option<i64>> {
    if !g.depends_on(i, &[v]) {
        return Some(None);
    }
    let times = |t: Term| match g.node(t) {
        _ if t == v => Some(1),
        Node::Prim(Prim::Int(IntOp::Mul), args) if args[0] == v => i64::try_from(g.int_value(args[1])?).ok(),
        _ => None,
    };
    if let Some(n) = times(i) {
        return Some(Some(n));
    }
    match g.node(i) {
        Node::Prim(Prim::Int(IntOp::Add), args) if !g.depends_on(args[0], &[v]) => Some(times(args[1])),
        Node::Prim(Prim::Int(IntOp::Add), args) if !g.depends_on(args[1], &[v]) => Some(times(args[0])),
        Node::Prim(Prim::Int(IntOp::Sub), args) if !g.depends_on(args[0], &[v]) => Some(times(args[1]).map(|n| -n)),
        _ => None,
    }
}
