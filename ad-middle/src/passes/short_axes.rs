//! Splits arrays along short axes, such as the coordinates of points. So the enclosing loops
//! compute the coordinates in registers, for several elements at a time, and store no array of
//! coordinates. The same program with scalars for the coordinates has this form already. What
//! varies along the short axis has to be cheap, since its operands may be read elsewhere too.
//!
//! An extremum along such an axis is a chain of maxima or minima, which a loop takes in registers.
//!
//! This pass must never change the order of a sum that a decision depends on, nor a sum over all
//! axes.

use std::collections::HashSet;

use super::element::part;
use super::rewrite::{Rewriter, with_rewritten_children};
use super::{Context, Pass};
use ad_ir::analysis::sizes::Fixed;
use ad_ir::choice::{Kind, choose};
use ad_ir::ir::{Graph, Node, Term, axis};
use ad_ir::prim::{Binary, Prim, Reduce};

/// The maximum size of an axis.
const MAX_SIZE: i128 = 4;
/// The maximum number of operations in a summand that vary along the axis.
const MAX_OPERATIONS: usize = 16;
/// The maximum cost of each of them: that of a division.
const MAX_COST: u32 = 4;

/// The pass. An index is pushed into the summand (`element`). The rule *components* needs a summand
/// that is made of a stack: otherwise a loop over contiguous elements is faster than one over every
/// third.
///
/// | rule | before | after |
/// | --- | --- | --- |
/// | short sum | `sum[2] (m * m)`, axis 2 of size 3 | `(m[.., 0] * m[.., 0] + m[.., 1] * m[.., 1]) + ..` |
/// | sum in order | `inorder[2] (m * m)`, axis 2 of size 3 | the same sum of parts, in that order |
/// | short extremum | `max[1] m`, axis 1 of size 3 | `max (max m[.., 0] m[.., 1]) m[.., 2]` |
/// | components | `sum[1] (m * tr (stack a b c))` | `tr (stack (sum[1] (m[.., 0] * a)) ..)` |
pub(crate) const PASS: Pass = Pass {
    name: "short_axes",
    rules: || vec![SHORT_SUM, SUM_IN_ORDER, SHORT_EXTREMUM, COMPONENTS],
    run: |g, roots, cx| roots.map(|all| pass(g, all, cx)),
    simplified: true,
};

/// The names of the rules.
const SHORT_SUM: &str = "short_sum";
const SUM_IN_ORDER: &str = "sum_in_order";
const SHORT_EXTREMUM: &str = "short_extremum";
const COMPONENTS: &str = "components";

fn pass(g: &mut Graph, roots: &[Term], cx: &mut Context) -> Vec<Term> {
    let exact = cx.exact(g);
    Rewriter::new(&*cx.get::<Fixed>(g, roots)).run_named(g, roots, |g, t, done| {
        let rebuilt = with_rewritten_children(g, t, done);
        if let Node::Scan(mut scan) = rebuilt {
            scan.body.results = pass(g, &scan.body.results, cx).into();
            return Some((None, g.scan(*scan)));
        }
        let short = ShortAxis::of(g, t, &exact)?;
        let why =
            || format!("(the {} parts of {})", short.size, if short.reduced { "a sum or extremum" } else { "an axis" });
        choose(Kind::Unrolling, (t.index(), short.axis), true, why).then_some(())?;
        if short.reduced {
            let Node::Prim(prim, args) = &rebuilt else { return None };
            if let Some(op) = extremum(prim) {
                let parts = short.parts(g, args[0]);
                let most = parts.into_iter().reduce(|most, part| g.binary(op, most, part))?;
                return Some((Some(SHORT_EXTREMUM), most));
            }
            let (rule, from_zero) = match prim {
                Prim::Reduce(Reduce::FromZero, _) => (SUM_IN_ORDER, true),
                Prim::Reduce(..) => (SUM_IN_ORDER, false),
                _ => (SHORT_SUM, false),
            };
            let terms = short.parts(g, args[0]);
            let zero = from_zero.then(|| g.lit_like(terms[0], 0.0));
            let sum = zero.into_iter().chain(terms).reduce(|sum, term| g.add(sum, term))?;
            return Some((Some(rule), sum));
        }
        let whole = g.mk(rebuilt);
        let rows = short.parts(g, whole);
        let rows = g.stack(&rows);
        Some((Some(COMPONENTS), g.transpose(rows, &first_axis_to(short.axis, g.rank(t)))))
    })
}

/// The operation on two numbers that an extremum repeats.
fn extremum(prim: &Prim) -> Option<Binary> {
    match prim {
        Prim::Reduce(Reduce::Max, _) => Some(Binary::Max),
        Prim::Reduce(Reduce::Min, _) => Some(Binary::Min),
        _ => None,
    }
}

/// A short axis along which a term is split.
struct ShortAxis {
    /// The axis of the reduced array if the axis is reduced, and otherwise that of the term.
    axis: usize,
    size: usize,
    reduced: bool,
}

impl ShortAxis {
    /// The axis, if a term is split. A sum in order or an extremum keeps its bits.
    fn of(g: &Graph, t: Term, exact: &HashSet<Term>) -> Option<ShortAxis> {
        let Node::Prim(prim, args) = g.node(t) else { return None };
        let in_order = matches!(prim, Prim::Reduce(Reduce::InOrder | Reduce::FromZero, _)) || extremum(prim).is_some();
        if !g.elem(t).is_real() || exact.contains(&t) && !in_order {
            return None;
        }
        match prim {
            Prim::Reduce(Reduce::InOrder | Reduce::FromZero, 1) => Self::sum(g, args[0], g.rank(args[0]) - 1),
            Prim::Reduce(Reduce::Max | Reduce::Min, 1) if args.len() == 1 => {
                let shape = g.shape(args[0]);
                let (size, axis) = (short(g, *shape.last()?)?, shape.len() - 1);
                let long = shape.iter().any(|&n| g.int_value(n).is_none());
                long.then_some(ShortAxis { axis, size, reduced: true })
            }
            Prim::Sum(axes) => {
                let shape = g.shape(args[0]);
                if let [summed] = axes[..]
                    && let Some(found) = Self::sum(g, args[0], usize::from(summed))
                {
                    return Some(found);
                }
                let long = axes.iter().any(|&a| g.int_value(shape[usize::from(a)]).is_none());
                let kept = (0..shape.len()).filter(|&k| !axes.contains(&axis(k)));
                let split = |(at, k): (usize, usize)| Self::components(g, t, at, &[(args[0], k)]);
                kept.enumerate().filter(|_| long).find_map(split)
            }
            // A matrix product reads its other operand once for all components.
            Prim::Contract(spec) if spec.out.iter().any(|l| spec.a.contains(l) && spec.b.contains(l)) => {
                let of =
                    |labels: &[u8], x: Term, label: u8| labels.iter().position(|&l| l == label).map(|axis| (x, axis));
                spec.out.iter().enumerate().find_map(|(at, &label)| {
                    let read = [of(&spec.a, args[0], label), of(&spec.b, args[1], label)];
                    Self::components(g, t, at, &read.into_iter().flatten().collect::<Vec<_>>())
                })
            }
            _ => None,
        }
    }

    /// A summed axis, if other axes are long and something is computed along it.
    fn sum(g: &Graph, of: Term, axis: usize) -> Option<ShortAxis> {
        let shape = g.shape(of);
        let size = short(g, shape[axis])?;
        let long = (0..shape.len()).any(|k| k != axis && g.int_value(shape[k]).is_none());
        let computed = || Varying::along(g, &[(of, axis)]).is_some_and(|v| v.operations > 0);
        (long && computed()).then_some(ShortAxis { axis, size, reduced: true })
    }

    /// The axis of a sum, if these operands are made of components along it.
    fn components(g: &Graph, t: Term, axis: usize, operands: &[(Term, usize)]) -> Option<ShortAxis> {
        let size = short(g, g.shape(t)[axis])?;
        let varying = Varying::along(g, operands)?;
        varying.stacked.then_some(ShortAxis { axis, size, reduced: false })
    }

    /// The parts of a term along this axis.
    fn parts(&self, g: &mut Graph, t: Term) -> Vec<Term> {
        let rank = g.rank(t);
        let mut parts = Vec::new();
        for k in 0..self.size {
            let at = g.lit_usize(k);
            let index = (0..rank).map(|a| (a == self.axis).then_some(at)).collect();
            parts.push(part(g, t, index));
        }
        parts
    }
}

/// The size of a short axis.
fn short(g: &Graph, size: Term) -> Option<usize> {
    usize::try_from(g.int_value(size).filter(|n| (2..=MAX_SIZE).contains(n))?).ok()
}

/// The permutation that makes the first axis of a term of this rank the axis `to`.
fn first_axis_to(to: usize, rank: usize) -> Vec<u8> {
    (0..rank)
        .map(|k| match k.cmp(&to) {
            std::cmp::Ordering::Less => axis(k + 1),
            std::cmp::Ordering::Equal => 0,
            std::cmp::Ordering::Greater => axis(k),
        })
        .collect()
}

/// What varies along an axis of an array.
#[derive(Default)]
struct Varying {
    /// The number of operations.
    operations: usize,
    /// Whether a stack of the components is among the operands.
    stacked: bool,
}

impl Varying {
    /// `None` if it is too expensive to be computed twice.
    fn along(g: &Graph, operands: &[(Term, usize)]) -> Option<Varying> {
        let mut varying = Varying::default();
        let mut stack = operands.to_vec();
        while let Some((t, along)) = stack.pop() {
            let Node::Prim(prim, args) = g.node(t) else { continue };
            match prim {
                Prim::Replicate(new) if new.contains(&axis(along)) => {}
                Prim::Replicate(new) => {
                    let before = new.iter().filter(|&&a| usize::from(a) < along).count();
                    stack.push((args[0], along - before));
                }
                Prim::Transpose(perm) => stack.push((args[0], usize::from(perm[along]))),
                Prim::Stack => varying.stacked |= along == 0,
                prim if prim.is_elementwise() => {
                    varying.operations += 1;
                    if varying.operations > MAX_OPERATIONS || prim.cost().is_none_or(|cost| cost > MAX_COST) {
                        return None;
                    }
                    stack.extend(args.iter().map(|&arg| (arg, along)));
                }
                _ => {}
            }
        }
        Some(varying)
    }
}
