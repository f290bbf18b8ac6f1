//! In which order ndarray adds up what an array shows: it goes along memory where that is contiguous, and lane by lane where it is not.
//! Where the elements of an array are is read off its term (transpositions, slices and indices of something else), or was noted when it was made
//! ([`Lower::lay`]); all else is in standard layout, as results and (it is assumed here, so that the same inputs give the same bits) parameters are.
//! Where sizes or conditions decide about it, there are several layouts with the conditions of each. Only what decisions read depends on it.
//! Must never change what is computed, only the order that [`crate::prim::Prim::Own`] has of it.

mod carried;
mod orders;
mod parts;
mod sums;

use super::lower::Lower;
use crate::diag::SrcRange;
use crate::ir::{Graph, Node, Term, axis};
use crate::prim::{Cmp, IntOp, Prim};
use std::rc::Rc;

pub(super) use carried::Ordered;

/// Where the elements of one axis are.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) struct Along {
    /// Which axis of the array in memory it is: the last one has neighbours.
    place: usize,
    /// 0 for an axis along which the same elements are shown again.
    step: i64,
    /// How far apart neighbours of that axis are.
    unit: Term,
    /// Of a slice: ndarray gives it the stride 0 if it has at most one element.
    sliced: bool,
    /// Of what `Zip` made by columns: with one row or one column it is by rows, which says which axis is the nearest.
    zipped: bool,
}

/// Where the elements of an array are, axis by axis.
pub(super) type Strides = Rc<[Along]>;

/// The layouts that an array may have: the first of these whose condition holds, which that of the last one always does. Without any, nobody knows
/// where it is.
pub(super) type Laid = Vec<(Term, Strides)>;

/// A view of an array in memory.
struct View {
    axes: Strides,
    /// Whether all elements are next to each other.
    contiguous: Term,
    /// How they come in memory, if they are.
    order: Order,
    /// The elements as they come in memory, if they do so in one piece.
    in_memory: Term,
}

/// An order of all elements: that of axes from the outermost to the innermost, some of which go backwards.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(super) struct Order {
    outwards: Vec<u8>,
    back: Vec<bool>,
    /// As [`Along::zipped`] has it.
    zipped: bool,
}

impl Order {
    /// The last axis outermost, as in Fortran.
    fn columns(rank: usize) -> Order {
        Order { outwards: (0..rank).rev().map(axis).collect(), back: vec![false; rank], zipped: false }
    }

    fn is_standard(&self) -> bool {
        self.outwards.is_sorted() && !self.back.contains(&true)
    }
}

impl<'a> Lower<'a> {
    /// An array with these elements that lies in memory like this. A term is one array, so what is in memory twice in two ways is two terms, until
    /// it is simplified.
    pub(super) fn lay(&mut self, mut t: Term, laid: Laid) -> Term {
        loop {
            let shows = shown(&self.g, t).is_some();
            let other = match self.memory.get(&t) {
                Some(known) => *known != laid,
                None => shows && self.laid(t) != laid,
            };
            if !other {
                if !shows {
                    self.memory.insert(t, laid);
                }
                return t;
            }
            let again = self.renewed(t);
            if again == t {
                return t;
            }
            t = again;
        }
    }

    /// What is written over an array stays where that is.
    pub(super) fn lay_over(&mut self, old: Term, new: Term) -> Term {
        if self.g.rank(new) == 0 || self.g.rank(old) != self.g.rank(new) {
            return new;
        }
        let laid = self.laid(old);
        if self.laid(new) == laid {
            return new;
        }
        // Others may hold it where it is.
        let new = self.renewed(new);
        self.lay(new, laid)
    }

    /// What stands for a value that lies in memory like another.
    pub(super) fn lies_like(&mut self, t: Term, other: Term) {
        if let Some(laid) = self.not_standard(other) {
            self.memory.insert(t, laid);
        }
    }

    /// The layouts of an array, if it may have another than the standard one.
    fn not_standard(&mut self, t: Term) -> Option<Laid> {
        if self.g.rank(t) == 0 || shown(&self.g, t).is_none() && !self.memory.contains_key(&t) {
            return None;
        }
        let (laid, standard) = (self.laid(t), self.standard(t));
        if laid.is_empty() {
            return Some(laid);
        }
        let same = |a: &Along, b: &Along| a.step == b.step && a.unit == b.unit;
        let all = laid.iter().all(|(_, axes)| {
            axes.is_sorted_by_key(|a| a.place) && axes.iter().zip(&*standard).all(|(a, b)| same(a, b))
        });
        (!all).then_some(laid)
    }

    /// Whether nobody knows where an array is in memory.
    pub(super) fn is_nowhere(&mut self, t: Term) -> bool {
        self.not_standard(t).is_some_and(|laid| laid.is_empty())
    }

    /// What is computed of an array that is nowhere as if it were by rows.
    fn unordered(&mut self, of_rows: Term) -> Term {
        self.unordered = true;
        self.g.prim(Prim::Unordered, &[of_rows])
    }

    /// Where a decision reads a number whose order in the function nobody knows.
    pub(super) fn decides_nowhere(&self, result: Term) -> Option<SrcRange> {
        if !self.unordered {
            return None;
        }
        let roots: Vec<Term> = std::iter::once(result).chain(self.checks.iter().map(|c| c.ok)).collect();
        let mut found: Vec<Term> = crate::analysis::decisions::decisions(&self.g, &roots)
            .into_iter()
            .filter(|&t| matches!(self.g.node(t), Node::Prim(Prim::Unordered, _)))
            .collect();
        found.sort_unstable();
        let place = self.places.get(self.g.loc(*found.first()?).0 as usize).or(self.places.first());
        place.map(|place| place.range)
    }

    /// An array of which nobody will know where it is.
    fn nowhere(&mut self, t: Term) -> Term {
        let t = self.renewed(t);
        self.lay(t, Laid::new())
    }

    /// An array of these arrays (or rows of such), each of which is where it was: all alike, or nowhere if some are not by rows.
    pub(super) fn lay_items(&mut self, all: Term, items: &[Term]) {
        let odd = |me: &mut Self, t: Term| me.g.rank(t) > 0 && me.not_standard(t).is_some();
        if self.g.rank(all) > 1 && items.iter().any(|&t| odd(self, t)) {
            let laid = self.laid_alike(all, items).unwrap_or_default();
            self.memory.insert(all, laid);
        }
    }

    /// How all of these lie in memory, whichever it is; the axis of the items is none of memory.
    fn laid_alike(&mut self, all: Term, items: &[Term]) -> Option<Laid> {
        let (&first, others) = items.split_first()?;
        let laid = self.laid(first);
        if others.iter().any(|&t| self.laid(t) != laid) {
            return None;
        }
        let rank = self.g.rank(all);
        let among = Along { place: rank, step: 0, unit: self.g.lit_usize(1), sliced: false, zipped: false };
        laid.into_iter()
            .map(|(c, axes)| {
                // What depends on which item it is cannot be said of all.
                let closed = self.is_closed(c) && axes.iter().all(|a| self.is_closed(a.unit));
                let items = std::iter::repeat_n(among, rank.saturating_sub(axes.len()));
                let axes: Strides = items.chain(axes.iter().copied()).collect();
                (closed && axes.len() == rank).then_some((c, axes))
            })
            .collect()
    }

    /// Whether the term itself does not say where it is.
    fn is_noted(&self, t: Term) -> bool {
        let mut base = t;
        loop {
            if self.memory.contains_key(&base) {
                return true;
            }
            let Some(inner) = shown(&self.g, base) else { return false };
            base = inner;
        }
    }

    /// The layouts that an array may have.
    fn laid(&mut self, t: Term) -> Laid {
        // Down to what is in memory, and up again.
        let mut chain = Vec::new();
        let mut base = t;
        let known = loop {
            if let Some(laid) = self.memory.get(&base) {
                break Some(laid.clone());
            }
            let Some(inner) = shown(&self.g, base) else { break None };
            chain.push(base);
            base = inner;
        };
        let mut laid = known.unwrap_or_else(|| self.always(base));
        for u in chain.into_iter().rev() {
            let of: Option<Laid> = laid.iter().map(|(c, axes)| Some((*c, self.along(u, axes)?))).collect();
            let Some(of) = of else { return self.always(t) };
            laid = of;
        }
        laid
    }

    /// Always in standard layout.
    fn always(&mut self, t: Term) -> Laid {
        let standard = self.standard(t);
        vec![(self.g.lit_bool(true), standard)]
    }

    fn standard(&mut self, t: Term) -> Strides {
        let shape = self.g.shape(t).to_vec();
        self.by_rows(&shape)
    }

    fn by_rows(&mut self, shape: &[Term]) -> Strides {
        self.in_one_piece(shape, (0..shape.len()).map(|k| (k, 1)))
    }

    /// Arrays of a shape whose elements are next to each other in an order.
    fn ordered(&mut self, shape: &[Term], order: &Order) -> Strides {
        let axes = order.outwards.iter().map(|&k| usize::from(k));
        let step = |k: usize| if order.back.get(k) == Some(&true) { -1 } else { 1 };
        let axes = self.in_one_piece(shape, axes.map(|k| (k, step(k))));
        if order.zipped { axes.iter().map(|a| Along { zipped: true, ..*a }).collect() } else { axes }
    }

    /// `outwards`: the axes from the outermost to the innermost, each with its step.
    fn in_one_piece(&mut self, shape: &[Term], outwards: impl DoubleEndedIterator<Item = (usize, i64)>) -> Strides {
        let mut unit = self.g.lit_usize(1);
        let mut axes = vec![Along { place: 0, step: 1, unit, sliced: false, zipped: false }; shape.len()];
        for (n, (k, step)) in outwards.rev().enumerate() {
            axes[k] = Along { place: shape.len() - 1 - n, step, unit, ..axes[k] };
            unit = self.times(unit, shape[k]);
        }
        axes.into()
    }

    /// What a view shows of an array that lies in memory like this; `None`: not as a view could.
    fn along(&mut self, u: Term, axes: &Strides) -> Option<Strides> {
        Some(match self.g.node(u).clone() {
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
                    for (&i, a) in index.iter().zip(&**axes) {
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
                left.into()
            }
            // An array in one piece is so under the new names of its sizes.
            Node::Prim(Prim::Recast, args) => {
                let (own, new) = (self.g.shape(args[0]).to_vec(), self.g.shape(u).to_vec());
                let order = order_of(axes);
                if self.ordered(&own, &order) == *axes { self.ordered(&new, &order) } else { Rc::clone(axes) }
            }
            _ => Rc::clone(axes),
        })
    }

    /// How an array that lies in memory like this shows what is there.
    fn view(&mut self, t: Term, axes: &Strides) -> View {
        let shape = self.g.shape(t).to_vec();
        let contiguous = self.is_contiguous(&shape, axes);
        let order = order_of(axes);
        let in_memory = self.arranged(t, &order);
        View { axes: Rc::clone(axes), contiguous, order, in_memory }
    }

    /// Whether the elements of an array of so many elements along each axis are next to each other.
    fn is_contiguous(&mut self, shape: &[Term], axes: &Strides) -> Term {
        let mut inwards: Vec<usize> = (0..axes.len()).collect();
        inwards.sort_by_key(|&k| std::cmp::Reverse(axes[k].place));
        let one = self.g.lit_usize(1);
        let (mut contiguous, mut expected) = (self.g.lit_bool(true), one);
        for &k in &inwards {
            let near = match axes[k].step {
                1 | -1 => self.same_size(axes[k].unit, expected),
                _ => self.g.lit_bool(false),
            };
            if self.g.bool_value(near) != Some(true) {
                let few = self.g.compare(Cmp::Le, shape[k], one);
                let fits = self.g.or(near, few);
                contiguous = self.g.and(contiguous, fits);
            }
            expected = self.times(expected, shape[k]);
        }
        contiguous
    }

    /// The elements of `t` in an order. Axes that the order does not know stay behind the others.
    fn arranged(&mut self, t: Term, order: &Order) -> Term {
        let known = order.outwards.len();
        let perm: Vec<u8> = order.outwards.iter().copied().chain((known..self.g.rank(t)).map(axis)).collect();
        let t = self.g.transpose(t, &perm);
        self.turned(t, &order.back)
    }

    /// What [`Lower::arranged`] made as it was before.
    fn shown(&mut self, t: Term, order: &Order) -> Term {
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

    /// Whether the elements along an axis are next to each other.
    fn is_slice(&mut self, axes: &Strides, k: usize) -> Term {
        let one = self.g.lit_usize(1);
        match axes[k].step {
            1 => self.same_size(axes[k].unit, one),
            _ => self.g.lit_bool(false),
        }
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

    fn choice(&mut self, c: Term, a: Term, b: Term) -> Term {
        match self.g.bool_value(c) {
            Some(true) => a,
            Some(false) => b,
            None if a == b => a,
            None => self.g.cond(c, a, b),
        }
    }

    fn renewed(&mut self, t: Term) -> Term {
        let args: Vec<Term> = std::iter::once(t).chain(self.g.shape(t).to_vec()).collect();
        self.g.prim(Prim::Recast, &args)
    }
}

/// The order in which elements come in memory if they do so in one piece.
fn order_of(axes: &Strides) -> Order {
    let mut outwards: Vec<u8> = (0..axes.len()).map(axis).collect();
    outwards.sort_by_key(|&k| axes[usize::from(k)].place);
    let back = outwards.iter().map(|&k| axes[usize::from(k)].step < 0).collect();
    Order { outwards, back, zipped: axes.iter().any(|a| a.zipped) }
}

/// What a term shows from within another, or under other names of its sizes.
fn shown(g: &Graph, t: Term) -> Option<Term> {
    match g.node(t) {
        // What is stacked along an inner axis is an array of its own.
        Node::Prim(Prim::Transpose(_), args) if matches!(g.node(args[0]), Node::Prim(Prim::Stack, _)) => None,
        Node::Prim(Prim::Transpose(_) | Prim::Slice(_), args) => Some(args[0]),
        Node::Prim(Prim::Recast, args) if g.shape(args[0]) != g.shape(t) => Some(args[0]),
        Node::Gather { src, .. } => Some(*src),
        _ => None,
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
