//! Index set splitting. A nest that adds blocks (transposes of slices) tests at each element which
//! blocks contain it. Each block contains all elements but a few at the ends. So the interior runs
//! without a test, over shifted rows, and the ends are a second loop. The values do not change. The
//! second loop pays only where blocks leave a few elements out ([`MAX_OMITTED`]).

use ad_ir::sorted::{SortedMap, SortedSet};
use std::collections::{HashMap, HashSet};

use super::in_range::InRange;
use super::items::{Fold, Item};
use super::kernel::{Id, Kernel, Op, operands};
use super::store::{Class, padded_parts};
use ad_ir::ir::{Graph, Lit, Node, Put, Term, TermTable};
use ad_ir::prim::{Binary, Cmp, IntOp, Prim, Unary};

/// The maximum number of elements that a block may leave out at both ends together.
const MAX_OMITTED: i128 = 16;

/// Whether `t` is a sum of blocks along the last axis, all of them nearly as long as it.
pub(super) fn is_stencil(g: &Graph, known: &InRange<'_>, class: &TermTable<Class>, t: Term) -> bool {
    let Some((_, pads)) = padded_parts(g, class, t) else { return false };
    let Some((&size, outer)) = g.shape(t).split_last() else { return false };
    pads.iter().all(|&pad| {
        let Node::Prim(Prim::Pad(steps), args) = g.node(pad) else { return false };
        let (block, starts) = (g.shape(args[0]), &args[1..=steps.len()]);
        let Some((&len, outer_block)) = block.split_last() else { return false };
        let Some((start, outer_starts)) = starts.split_last() else { return false };
        steps.iter().all(|&s| s == 1)
            && outer_block == outer
            && outer_starts.iter().all(|&s| g.int_value(s) == Some(0))
            && g.int_value(*start).is_some_and(|s| (0..=MAX_OMITTED).contains(&s))
            && known.near(len, size, MAX_OMITTED)
    })
}

/// Whether a sum over the domain `inner` can be computed in a loop over `outer`: it leaves out a
/// few elements at the end.
pub(super) fn is_within(known: &InRange<'_>, inner: &[Term], outer: &[Term]) -> bool {
    let (Some((&len, a)), Some((&size, b))) = (inner.split_last(), outer.split_last()) else { return false };
    a == b && known.fits(None, Some(len), size) && known.near(len, size, MAX_OMITTED)
}

/// The iterations of the innermost loop in which every test of its index has one known value. They
/// begin at `low`, and end at the smallest of `highs` and the size of the loop.
pub(super) struct Interior<'a> {
    pub(super) kernel: Kernel<'a>,
    pub(super) items: Vec<Item>,
    pub(super) low: i128,
    /// Upper bounds `node + offset`, where the node is a literal or a closed scalar.
    pub(super) highs: Vec<(Op, i128)>,
}

impl Interior<'_> {
    /// Whether the interior has all elements except a few.
    pub(super) fn is_nearly_all(&self, known: &InRange<'_>) -> bool {
        let Some(&size) = self.kernel.loops.last() else { return false };
        self.highs.iter().all(|(high, offset)| match high {
            Op::Scalar(t) => known.near(*t, size, MAX_OMITTED + offset),
            _ => false,
        })
    }
}

/// The interior of a nest of stores and full sums, if a test on the innermost index can be decided
/// for all but a few elements.
pub(super) fn interior<'a>(k: &Kernel<'a>, items: &[Item]) -> Option<Interior<'a>> {
    let inner = k.loops.len().checked_sub(1)?;
    let full = |item: &Item| match item {
        Item::Store { .. } => true,
        Item::Fold { fold: Fold::Sum, reduced, .. } => reduced.iter().all(|r| *r),
        _ => false,
    };
    if !items.iter().all(full) {
        return None;
    }
    let mut tests: HashMap<Id, bool> = HashMap::new();
    let (mut low, mut highs) = (0, SortedMap::new());
    let mut stack: Vec<Id> = Vec::new();
    for node in &k.nodes {
        if let Op::If(c, ..) = node.op {
            stack.push(c);
        }
    }
    let mut seen = HashSet::new();
    while let Some(c) = stack.pop() {
        if !seen.insert(c) {
            continue;
        }
        match &k.node(c).op {
            Op::Prim(Prim::And, args) => stack.extend(args.iter()),
            Op::Prim(Prim::Compare(op), args) => {
                if let Some(value) = decide(k, inner, *op, args[0], args[1], &mut low, &mut highs) {
                    tests.insert(c, value);
                }
            }
            _ => {}
        }
    }
    if tests.is_empty() {
        return None;
    }
    let (kernel, mut items, _) = decided(k, items, &tests, inner, low);
    // A value that is zero except at the ends adds nothing in the interior.
    items.retain(|item| !matches!(item, Item::Fold { value, .. } if is_zero(&kernel, *value)));
    let highs = highs.into_iter().map(|(id, offset)| (k.node(id).op.clone(), offset)).collect();
    Some(Interior { kernel, items, low, highs })
}

/// The first iterations of the innermost loop, for which an index test holds. Where it does not
/// hold, the items add nothing and store only zeros.
pub(super) struct Prefix<'a> {
    pub(super) kernel: Kernel<'a>,
    pub(super) items: Vec<Item>,
    /// The first index after it: a closed scalar, or a value that depends on enclosing loops.
    pub(super) end: Id,
    /// The index test, in the nest that it is a prefix of.
    pub(super) test: Id,
    /// The arrays that are read within the prefix only.
    read_within: SortedSet<Term>,
}

impl Prefix<'_> {
    /// Whether an array is read within the prefix only.
    pub(super) fn is_read_within(&self, t: Term) -> bool {
        self.read_within.contains(&t)
    }

    /// The first index after it, if that is a closed scalar.
    pub(super) fn end(&self) -> Option<Term> {
        match self.kernel.node(self.end).op {
            Op::Scalar(end) => Some(end),
            _ => None,
        }
    }
}

/// The first iterations of a nest, if an index test shows that the others do nothing. Its end is a
/// closed scalar, or depends on enclosing loops (`ragged`).
pub(super) fn prefix<'a>(k: &Kernel<'a>, items: &[Item], ragged: bool) -> Option<Prefix<'a>> {
    let inner = k.loops.len().checked_sub(1)?;
    for (id, node) in k.nodes.iter().enumerate() {
        let Op::Prim(Prim::Compare(op), args) = &node.op else { continue };
        let is_var = |id: Id| matches!(k.node(id).op, Op::Var(v) if usize::from(v) == inner);
        let (end, value) = match op {
            Cmp::Lt if is_var(args[0]) => (args[1], true),
            Cmp::Gt if is_var(args[1]) => (args[0], true),
            Cmp::Ge if is_var(args[0]) => (args[1], false),
            Cmp::Le if is_var(args[1]) => (args[0], false),
            _ => continue,
        };
        let this = u32::try_from(id).unwrap_or(u32::MAX);
        let known = if ragged {
            (1..=inner).contains(&usize::from(k.node(end).level))
        } else {
            k.node(end).level == 0 && matches!(k.node(end).op, Op::Scalar(_))
        };
        if known && idle(k, items, (this, !value)) {
            let read_within = read_within(items, this);
            let (kernel, items, map) = decided(k, items, &HashMap::from([(this, value)]), inner, 0);
            return Some(Prefix { kernel, items, end: map[end as usize], test: this, read_within });
        }
    }
    None
}

/// The arrays that are read only where a condition holds.
fn read_within(items: &[Item], condition: Id) -> SortedSet<Term> {
    let read = |item: &Item| match item {
        Item::Store { out, read_under, .. } if read_under.contains(&condition) => *out,
        Item::Fold { out, read_under, .. } if read_under.contains(&condition) => Some(*out),
        _ => None,
    };
    items.iter().filter_map(read).collect()
}

/// The value of a node where a test has a known value.
#[derive(Clone, Copy, PartialEq, Eq)]
enum KnownValue {
    /// Zero, and whether its sign is positive.
    Zero(bool),
    Bool(bool),
    Other(Id),
}

/// Whether a constant is positive; `None` unless the node is a finite constant.
fn factor(k: &Kernel<'_>, id: Id) -> Option<bool> {
    let Op::Lit(lit @ Lit::Real(..)) = k.node(id).op else { return None };
    lit.as_real().filter(|x| x.is_finite()).map(f64::is_sign_positive)
}

/// Whether the items do nothing but store zeros where this test has this value.
fn idle(k: &Kernel<'_>, items: &[Item], fact: (Id, bool)) -> bool {
    let mut values: Vec<KnownValue> = Vec::with_capacity(k.nodes.len());
    for (id, node) in k.nodes.iter().enumerate() {
        let this = u32::try_from(id).unwrap_or(u32::MAX);
        let of = |c: Id| values[c as usize];
        let own = match &node.op {
            _ if this == fact.0 => KnownValue::Bool(fact.1),
            Op::Lit(Lit::Bool(b)) => KnownValue::Bool(*b),
            Op::Lit(Lit::Int(_, 0)) => KnownValue::Zero(true),
            Op::Lit(lit @ Lit::Real(..)) if lit.as_real() == Some(0.0) => {
                KnownValue::Zero(lit.as_real().is_some_and(f64::is_sign_positive))
            }
            Op::If(c, a, b) => match of(*c) {
                KnownValue::Bool(true) => of(*a),
                KnownValue::Bool(false) => of(*b),
                _ if of(*a) == of(*b) => of(*a),
                _ => KnownValue::Other(this),
            },
            Op::Prim(prim, args) => match (prim, &**args) {
                (Prim::And, &[a, b]) => match (of(a), of(b)) {
                    (KnownValue::Bool(false), _) | (_, KnownValue::Bool(false)) => KnownValue::Bool(false),
                    (KnownValue::Bool(true), x) | (x, KnownValue::Bool(true)) => x,
                    _ => KnownValue::Other(this),
                },
                (Prim::Not, &[a]) => match of(a) {
                    KnownValue::Bool(b) => KnownValue::Bool(!b),
                    _ => KnownValue::Other(this),
                },
                (Prim::Unary(Unary::Neg), &[a]) => match of(a) {
                    KnownValue::Zero(positive) => KnownValue::Zero(!positive),
                    _ => KnownValue::Other(this),
                },
                (Prim::Binary(Binary::Add), &[a, b]) => match (of(a), of(b)) {
                    (KnownValue::Zero(a), KnownValue::Zero(b)) => KnownValue::Zero(a || b),
                    _ => KnownValue::Other(this),
                },
                (Prim::Binary(Binary::Sub), &[a, b]) => match (of(a), of(b)) {
                    (KnownValue::Zero(a), KnownValue::Zero(b)) => KnownValue::Zero(a || !b),
                    _ => KnownValue::Other(this),
                },
                (Prim::Binary(Binary::MulZero), &[a, _]) if matches!(of(a), KnownValue::Zero(_)) => {
                    KnownValue::Zero(true)
                }
                // Zero times a finite constant is zero.
                (Prim::Binary(Binary::Mul), &[a, b]) => match (of(a), of(b), factor(k, a), factor(k, b)) {
                    (KnownValue::Zero(zero), _, _, Some(positive)) | (_, KnownValue::Zero(zero), Some(positive), _) => {
                        KnownValue::Zero(zero == positive)
                    }
                    _ => KnownValue::Other(this),
                },
                _ => KnownValue::Other(this),
            },
            _ => KnownValue::Other(this),
        };
        values.push(own);
    }
    items.iter().all(|item| match *item {
        // Only other items of the nest use the value.
        Item::Store { out: None, .. } => true,
        Item::Store { value, .. } => matches!(values[value as usize], KnownValue::Zero(true) | KnownValue::Bool(false)),
        Item::Fold { fold: Fold::Sum, value, .. }
        | Item::Scatter { put: Put::Add, value, .. }
        | Item::Block { put: Put::Add, value, .. } => matches!(values[value as usize], KnownValue::Zero(_)),
        Item::Fold { fold: Fold::All, value, .. } => values[value as usize] == KnownValue::Bool(true),
        Item::Fold { fold: Fold::Any, value, .. } => values[value as usize] == KnownValue::Bool(false),
        // Nothing is written at an index that is the size of the array.
        Item::Scatter { put: Put::Set, ref ix, ref sizes, .. } => {
            let is_size = |ix: Id, size: Term| match values[ix as usize] {
                KnownValue::Other(id) => matches!(k.node(id).op, Op::Scalar(t) if t == size),
                _ => false,
            };
            ix.iter().zip(sizes).any(|(&ix, &size)| is_size(ix, size))
        }
        Item::Fold { fold: Fold::InOrder, .. } | Item::Block { put: Put::Set, .. } => false,
    })
}

/// The nest in which these tests have these values, with the innermost index counted from `low`,
/// and the map from old nodes to new ones.
fn decided<'a>(
    k: &Kernel<'a>,
    items: &[Item],
    tests: &HashMap<Id, bool>,
    inner: usize,
    low: i128,
) -> (Kernel<'a>, Vec<Item>, Vec<Id>) {
    let mut new = k.empty();
    let mut map: Vec<Id> = Vec::with_capacity(k.nodes.len());
    for (id, node) in k.nodes.iter().enumerate() {
        let this = u32::try_from(id).unwrap_or(u32::MAX);
        let of = |c: &Id| map[*c as usize];
        let mapped = match (&node.op, tests.get(&this)) {
            (_, Some(&value)) => new.op(Op::Lit(Lit::Bool(value))),
            (Op::Var(v), _) if usize::from(*v) == inner => {
                let (var, low) = (new.op(Op::Var(*v)), new.usize(low));
                new.arith(IntOp::Add, var, low)
            }
            (Op::If(c, a, b), _) => {
                let (c, a, b) = (of(c), of(a), of(b));
                new.choose(c, a, b)
            }
            // If tests have known values, sums of zeros may remain.
            (Op::Prim(Prim::Binary(Binary::Add), args), _)
                if !node.exact && args.iter().all(|c| is_zero(&new, map[*c as usize])) =>
            {
                of(&args[0])
            }
            (Op::Prim(Prim::And, args), _) => {
                let (a, b) = (of(&args[0]), of(&args[1]));
                new.both(a, b)
            }
            (Op::Prim(Prim::Int(op @ (IntOp::Add | IntOp::Sub)), args), _) => {
                let (a, b) = (of(&args[0]), of(&args[1]));
                new.arith(*op, a, b)
            }
            (Op::Prim(prim, args), _) => new.op(Op::Prim(prim.clone(), args.iter().map(of).collect())),
            (Op::Load { buf, sizes, ix }, _) => {
                let ix = ix.iter().map(of).collect();
                new.op(Op::Load { buf: *buf, sizes: sizes.clone(), ix })
            }
            (op, _) => new.op(op.clone()),
        };
        let target = &mut new.nodes[mapped as usize];
        target.exact |= node.exact;
        if target.hint.is_none() && !operands(&target.op).is_empty() {
            target.hint.clone_from(&node.hint);
        }
        map.push(mapped);
    }
    let of_all = |ids: &[Id]| ids.iter().map(|&id| map[id as usize]).collect();
    let items: Vec<Item> = items
        .iter()
        .map(|item| match item.clone() {
            Item::Store { out, value, read_under } => {
                Item::Store { out, value: map[value as usize], read_under: of_all(&read_under) }
            }
            Item::Fold { out, fold, reduced, value, added, at, read_under } => {
                let at = at.map(|ix| ix.iter().map(|&i| map[i as usize]).collect());
                let read_under = of_all(&read_under);
                Item::Fold { out, fold, reduced, value: map[value as usize], added, at, read_under }
            }
            Item::Scatter { out, put, ix, sizes, value } => {
                let ix = ix.iter().map(|&i| map[i as usize]).collect();
                Item::Scatter { out, put, ix, sizes, value: map[value as usize] }
            }
            Item::Block { out, put, ix, value, tested, onto_zeros } => {
                let ix = ix.iter().map(|&i| map[i as usize]).collect();
                Item::Block { out, put, ix, value: map[value as usize], tested, onto_zeros }
            }
        })
        .collect();
    (new, items, map)
}

fn is_zero(k: &Kernel<'_>, id: Id) -> bool {
    matches!(k.node(id).op, Op::Lit(lit @ Lit::Real(..)) if lit.as_real().is_some_and(|x| x.to_bits() == 0))
}

/// The value of a comparison in the interior. The interior is narrowed so that the comparison has
/// one value. `None` if it depends on more than the innermost index.
fn decide(
    k: &Kernel<'_>,
    inner: usize,
    op: Cmp,
    a: Id,
    b: Id,
    low: &mut i128,
    highs: &mut SortedMap<Id, i128>,
) -> Option<bool> {
    let int = |id: Id| match k.node(id).op {
        Op::Lit(Lit::Int(_, n)) => Some(n),
        _ => None,
    };
    let is_var = |id: Id| matches!(k.node(id).op, Op::Var(v) if usize::from(v) == inner);
    // The constant that is subtracted from the index (negative: added). The difference saturates at
    // 0 below that constant, so the interior begins there.
    let index = |mut id: Id| -> Option<i128> {
        let mut less = 0;
        loop {
            match &k.node(id).op {
                Op::Var(_) if is_var(id) => return Some(less),
                Op::Prim(Prim::Int(IntOp::Sub), args) if less >= 0 => {
                    less += int(args[1]).filter(|n| *n <= MAX_OMITTED)?
                }
                Op::Prim(Prim::Int(IntOp::Add), args) if less <= 0 => {
                    let more = if int(args[0]).is_some() { [args[1], args[0]] } else { [args[0], args[1]] };
                    less -= int(more[1]).filter(|n| *n <= MAX_OMITTED)?;
                    id = more[0];
                    continue;
                }
                _ => return None,
            }
            let Op::Prim(_, args) = &k.node(id).op else { return None };
            id = args[0];
        }
    };
    let (op, index, bound) = match (index(a), index(b)) {
        (Some(less), None) => (op, less, b),
        (None, Some(less)) => (op.swapped(), less, a),
        _ => return None,
    };
    if !(-MAX_OMITTED..=MAX_OMITTED).contains(&index) {
        return None;
    }
    let literal = int(bound).filter(|n| (0..=MAX_OMITTED).contains(n));
    let (value, first) = match (op, literal) {
        (Cmp::Ge, Some(n)) => (true, n),
        (Cmp::Gt, Some(n)) => (true, n + 1),
        (Cmp::Lt, Some(n)) => (false, n),
        (Cmp::Le, Some(n)) => (false, n + 1),
        (Cmp::Eq, Some(n)) => (false, n + 1),
        (Cmp::Ne, Some(n)) => (true, n + 1),
        (Cmp::Lt, None) if k.node(bound).level == 0 && matches!(k.node(bound).op, Op::Scalar(_) | Op::Lit(_)) => {
            let high = highs.entry(bound).or_insert(index);
            *high = (*high).min(index);
            (true, 0)
        }
        _ => return None,
    };
    *low = (*low).max(first + index);
    Some(value)
}
