//! Implicit im2col: contractions of windows. An operand is read at sums of indices, such as
//! `x[c, i + p, j + q]`, or the result is added at such indices. The runtime's kernel `windows`
//! reads and adds them in place. Explicit im2col would make an array of all windows, larger than
//! the image by the number of elements of a window, and compute a product of matrices.
//!
//! This module finds these contractions, and the step of each label along each axis. It must never
//! accept an index that is not proved to be an exact sum, since integer terms saturate.

use ad_ir::sorted::SortedMap;
use std::collections::{HashMap, HashSet};

use super::matrix::{as_product, strip_layouts};
use ad_ir::analysis::range::{Facts, Linear};
use ad_ir::choice::{Kind, choose};
use ad_ir::ir::{Graph, Node, Put, Term};
use ad_ir::prim::{Binary, Prim, Reduce};

/// How an axis of an array is read.
#[derive(Clone, Debug)]
pub struct WindowAxis {
    /// The size of the axis.
    pub size: Term,
    /// The index where all labels are 0.
    pub start: Linear,
    /// The amount by which the index grows if a label grows by one, for each label.
    pub steps: Vec<i128>,
}

/// An array in memory and how it is read.
#[derive(Clone, Debug)]
pub struct WindowOperand {
    /// The array.
    pub array: Term,
    /// Its axes.
    pub axes: Vec<WindowAxis>,
}

/// The arguments of the kernel.
#[derive(Clone, Debug)]
pub struct ImplicitIm2col {
    /// The size of each label.
    pub labels: Vec<Term>,
    /// The axes of the result.
    pub out: Vec<WindowAxis>,
    /// The arrays that are multiplied.
    pub operands: [WindowOperand; 2],
    /// The axes of a result that is added to at sums of indices.
    pub added: Option<Added>,
    /// Whether products are rounded and added in the order of the labels.
    pub in_order: bool,
    /// Whether zeros of these operands absorb.
    pub absorbs: [bool; 2],
}

/// The array that is added to, and the term that is added. The latter is never stored.
#[derive(Clone, Copy, Debug)]
pub struct Added {
    /// The array that is added to.
    pub dst: Term,
    src: Term,
}

/// The maximum number of labels: more than the windows of an array of rank 6 need.
const MAX_LABELS: usize = 16;

/// The limit of a step. No array has a larger one, and products of larger ones might overflow.
const STEP_LIMIT: u128 = 1 << 31;

/// A label with fewer indices does not fill the lanes.
const MIN_INDICES: i128 = 8;

/// The windows of a stored contraction, or of a scatter of one, if the kernel is worth it.
pub(crate) fn windows(g: &Graph, t: Term) -> Option<ImplicitIm2col> {
    let found = of(g, t)?;
    let lanes = found.lanes(g);
    let why = || {
        let made = if found.added.is_some() { "contributions of windows" } else { "windows" };
        let lanes =
            if lanes { "contiguous elements fill the lanes" } else { "no contiguous elements to fill the lanes" };
        format!("({made} of {} labels; {lanes})", found.labels.len())
    };
    choose(Kind::ImplicitIm2col, (t.index(), 0), lanes, why).then_some(found)
}

/// The windows of a routine: of contractions that no decision depends on, of sums in order, and of
/// scatters of contractions that nothing else reads.
pub fn windows_of(g: &Graph, reach: &[Term], read: &[Term], exact: &HashSet<Term>) -> SortedMap<Term, ImplicitIm2col> {
    let mut parents: HashMap<Term, u32> = HashMap::new();
    for &t in reach {
        g.node(t).for_each_child(|c| *parents.entry(c).or_default() += 1);
    }
    for &t in read {
        *parents.entry(t).or_default() += 1;
    }
    let mut found = SortedMap::new();
    for &t in reach {
        let fits = match g.node(t) {
            // An exact contraction is accepted only if it is not a product of matrices.
            Node::Prim(Prim::Contract(spec), args) => {
                !exact.contains(&t) || as_product(g, spec, [args[0], args[1]], true).is_none()
            }
            Node::Prim(Prim::Sum(_), _) => !exact.contains(&t),
            Node::Prim(Prim::Reduce(Reduce::InOrder | Reduce::FromZero, _), _) => true,
            Node::Scatter { src, .. } => (is_mul(g, *src) || parents.get(src) == Some(&1)) && !exact.contains(src),
            _ => false,
        };
        if let Some(one) = if fits { windows(g, t) } else { None } {
            found.insert(t, one);
        }
    }
    // A term that is never stored has no windows of its own.
    let not_stored: Vec<Term> = found.values().filter_map(|w| w.not_stored(g)).collect();
    not_stored.iter().for_each(|t| drop(found.remove(t)));
    found
}

/// A sum of products of two arrays: the size of each label, the labels of the result, and each
/// operand with the labels of its axes.
struct Product {
    sizes: Vec<Term>,
    out: Vec<usize>,
    operands: [(Term, Vec<usize>); 2],
    pub absorbs: [bool; 2],
}

/// A contraction; a sum of a product, whose labels are the axes of the product; or a product
/// itself.
fn product(g: &Graph, t: Term) -> Option<Product> {
    match g.node(t) {
        Node::Prim(Prim::Contract(spec), args) => {
            let (mut labels, mut sizes): (Vec<u8>, Vec<Term>) = (spec.out.to_vec(), g.shape(t).to_vec());
            for (own, &operand) in [&spec.a, &spec.b].into_iter().zip(&**args) {
                for (&l, &n) in own.iter().zip(g.shape(operand)) {
                    if !labels.contains(&l) {
                        labels.push(l);
                        sizes.push(n);
                    }
                }
            }
            let places = |own: &[u8]| own.iter().map(|l| labels.iter().position(|m| m == l)).collect::<Option<_>>();
            let operands = [(args[0], places(&spec.a)?), (args[1], places(&spec.b)?)];
            Some(Product { sizes, out: (0..spec.out.len()).collect(), operands, absorbs: spec.absorbs })
        }
        Node::Prim(Prim::Sum(axes), args) => {
            let mut found = product(g, args[0]).filter(|_| is_mul(g, args[0]))?;
            found.out.retain(|&l| axes.iter().all(|&a| usize::from(a) != l));
            Some(found)
        }
        // These reductions are over the last axes.
        Node::Prim(Prim::Reduce(Reduce::InOrder | Reduce::FromZero, summed), args) => {
            let mut found = product(g, args[0]).filter(|_| is_mul(g, args[0]))?;
            found.out.truncate(found.out.len().checked_sub(usize::from(*summed))?);
            Some(found)
        }
        Node::Prim(Prim::Binary(Binary::Mul), args) => {
            let all: Vec<usize> = (0..g.rank(t)).collect();
            Some(Product {
                sizes: g.shape(t).to_vec(),
                out: all.clone(),
                operands: [(args[0], all.clone()), (args[1], all)],
                absorbs: [false; 2],
            })
        }
        _ => None,
    }
}

fn is_mul(g: &Graph, t: Term) -> bool {
    matches!(g.node(t), Node::Prim(Prim::Binary(Binary::Mul), _))
}

fn of(g: &Graph, t: Term) -> Option<ImplicitIm2col> {
    let (made, added) = match g.node(t) {
        Node::Prim(Prim::Contract(_) | Prim::Sum(_) | Prim::Reduce(Reduce::InOrder | Reduce::FromZero, _), _) => {
            (t, None)
        }
        Node::Scatter { put: Put::Add, dst, src, .. } => (*src, Some(Added { dst: *dst, src: *src })),
        _ => return None,
    };
    if !g.elem(made).is_real() || !g.free(t).is_empty() || g.rank(t) == 0 {
        return None;
    }
    let Product { sizes, out, operands: [a, b], absorbs } = product(g, made)?;
    if sizes.len() > MAX_LABELS {
        return None;
    }
    let (a, b) = (seen(g, a, &sizes)?, seen(g, b, &sizes)?);
    let axes = match g.node(t) {
        Node::Scatter { dst, vars, index, .. } => {
            // The array that is added to must not share memory with an operand.
            let mut chain = *dst;
            while let Node::Scatter { dst, .. } = g.node(chain) {
                if chain == a.array || chain == b.array {
                    return None;
                }
                chain = *dst;
            }
            if chain == a.array || chain == b.array || matches!(g.node(chain), Node::Param(..)) {
                return None;
            }
            indexed(g, g.shape(*dst), (g.shape(made), &out), vars, index, sizes.len())?
        }
        _ => plain(g.shape(t), &out, sizes.len()),
    };
    let windowed = |axes: &[WindowAxis]| axes.iter().any(|a| a.steps.iter().filter(|s| **s != 0).count() > 1);
    let any = windowed(&axes) || (added.is_none() && (windowed(&a.axes) || windowed(&b.axes)));
    let in_order = matches!(g.node(t), Node::Prim(Prim::Reduce(..), _));
    let found = ImplicitIm2col { labels: sizes, out: axes, operands: [a, b], added, in_order, absorbs };
    (any && !found.is_static(g)).then_some(found)
}

/// The array that an operand is read from, with the labels of its axes. Along a replicated axis the
/// step is 0.
fn seen(g: &Graph, (operand, mut labels): (Term, Vec<usize>), sizes: &[Term]) -> Option<WindowOperand> {
    let mut operand = operand;
    loop {
        let (base, perm) = strip_layouts(g, operand);
        let mut own = vec![0; labels.len()];
        for (&axis, &label) in perm.iter().zip(&labels) {
            own[axis] = label;
        }
        (operand, labels) = (base, own);
        let Node::Prim(Prim::Replicate(axes), args) = g.node(operand) else { break };
        let kept = labels.iter().enumerate().filter(|(k, _)| axes.iter().all(|&a| usize::from(a) != *k));
        labels = kept.map(|(_, &l)| l).collect();
        operand = args[0];
    }
    if g.rank(operand) == 0 {
        return None;
    }
    if let Node::Gather { src, vars, index, .. } = g.node(operand)
        && g.rank(*src) > 0
        && let Some(axes) = indexed(g, g.shape(*src), (g.shape(operand), &labels), vars, index, sizes.len())
    {
        return Some(WindowOperand { array: *src, axes });
    }
    Some(WindowOperand { array: operand, axes: plain(g.shape(operand), &labels, sizes.len()) })
}

/// The axes of an array that is read without an index function.
fn plain(shape: &[Term], labels: &[usize], count: usize) -> Vec<WindowAxis> {
    let one = |&label: &usize| (0..count).map(|l| i128::from(l == label)).collect();
    shape
        .iter()
        .zip(labels)
        .map(|(&size, label)| WindowAxis { size, start: Linear::constant(0), steps: one(label) })
        .collect()
}

/// The axes of an array that is read at index functions of its reader's leading axes. The remaining
/// axes are read without an index function.
fn indexed(
    g: &Graph,
    shape: &[Term],
    (reader, labels): (&[Term], &[usize]),
    vars: &[ad_ir::ir::Var],
    index: &[Term],
    count: usize,
) -> Option<Vec<WindowAxis>> {
    let mut facts = Facts::new();
    // The variables that are mentioned, with their labels.
    let (mut mentioned, mut seen): (Vec<(Term, usize)>, HashSet<Term>) = (Vec::new(), HashSet::new());
    let mut stack = index.to_vec();
    while let Some(t) = stack.pop() {
        if g.free(t).is_empty() || !seen.insert(t) {
            continue;
        }
        if let Node::Var(v) = g.node(t) {
            let k = vars.iter().position(|w| w == v)?;
            // A variable is less than its size.
            let below = facts.linear(g, reader[k]).combine(1, &facts.linear(g, t), -1)?;
            facts.learn(below.combine(1, &Linear::constant(1), -1)?);
            mentioned.push((t, labels[k]));
        }
        g.node(t).for_each_child(|c| stack.push(c));
    }
    let mut axes = Vec::new();
    for (&size, &at) in shape.iter().zip(index) {
        let mut start = facts.linear(g, at);
        let mut steps = vec![0; count];
        for &(var, label) in &mentioned {
            steps[label] += start.atoms.remove(&var).unwrap_or(0);
        }
        let far =
            [start.constant].iter().chain(start.atoms.values()).chain(&steps).any(|n| n.unsigned_abs() > STEP_LIMIT);
        if far || start.atoms.keys().any(|&t| !g.free(t).is_empty()) {
            return None;
        }
        axes.push(WindowAxis { size, start, steps });
    }
    let rest = plain(&shape[index.len()..], labels.get(vars.len()..)?, count);
    Some(axes.into_iter().chain(rest).collect())
}

impl ImplicitIm2col {
    /// The terms that the statement reads: arrays, and the sizes and starts of their axes.
    pub fn reads(&self) -> impl Iterator<Item = Term> {
        let axes = self.out.iter().chain(self.operands.iter().flat_map(|o| &o.axes));
        let closed = axes.flat_map(|a| std::iter::once(a.size).chain(a.start.atoms.keys().copied()));
        let arrays = self.operands.iter().map(|o| o.array).chain(self.added.map(|a| a.dst));
        arrays.chain(self.labels.iter().copied()).chain(closed)
    }

    /// Whether no size belongs to an argument on the heap. The kernel allocates tables on the heap,
    /// which programs of static arrays must not do.
    fn is_static(&self, g: &Graph) -> bool {
        let mut stack: Vec<Term> =
            self.out.iter().chain(self.operands.iter().flat_map(|o| &o.axes)).map(|a| a.size).collect();
        while let Some(t) = stack.pop() {
            match g.node(t) {
                Node::Size(..) | Node::Param(..) => return false,
                node => node.for_each_child(|c| stack.push(c)),
            }
        }
        true
    }

    /// The contraction that is added in place and therefore not stored.
    pub fn not_stored(&self, g: &Graph) -> Option<Term> {
        self.added.map(|a| a.src).filter(|&src| !is_mul(g, src))
    }

    /// Whether some label has step 1 along the last axes of two of the arrays, and step 0 in the
    /// third one. This must not be the label of the elements of a window, as far as is known: such
    /// a label has few indices, or the label that moves the window has longer steps.
    fn lanes(&self, g: &Graph) -> bool {
        let arrays = [&self.out, &self.operands[0].axes, &self.operands[1].axes];
        let few = |l: usize| g.int_value(self.labels[l]).is_some_and(|n| n < MIN_INDICES);
        let passed = |l: usize| {
            let beside = |a: &WindowAxis| (0..self.labels.len()).any(|m| m != l && a.steps[m].abs() > 1 && !few(m));
            arrays.iter().any(|axes| axes.last().is_some_and(|a| a.steps[l] != 0 && beside(a)))
        };
        (0..self.labels.len()).filter(|&l| !few(l) && !passed(l)).any(|l| {
            let (mut ones, mut none) = (0, 0);
            for axes in arrays {
                let Some((last, outer)) = axes.split_last() else {
                    none += 1;
                    continue;
                };
                match (last.steps[l], outer.iter().all(|a| a.steps[l] == 0)) {
                    (1, true) => ones += 1,
                    (0, true) => none += 1,
                    _ => {}
                }
            }
            // A sum in order is not taken in lanes.
            (ones, none) == (2, 1) && (!self.in_order || self.out.last().is_some_and(|a| a.steps[l] == 1))
        })
    }
}
