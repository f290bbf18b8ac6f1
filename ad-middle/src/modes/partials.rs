//! Derivatives that are not rows of a table: of an integer power, and of an extremum. Every
//! algorithm takes them from here. This module must never know in which direction a derivative is
//! applied.

use ad_ir::ir::{Graph, Node, Term, Var};
use ad_ir::prim::{Cmp, IntOp, Prim, Reduce};

/// The place where an extremum reads its array.
pub(crate) struct Extremum {
    /// The shape of the array in which the trailing axes are one.
    pub(crate) flat: Vec<Term>,
    /// The arguments of the reshaping to that shape. `None` if the array has it already.
    pub(crate) reshaped: Option<Vec<Term>>,
    /// The variables of the gather that reads it.
    pub(crate) vars: Box<[Var]>,
    /// The index of that gather.
    pub(crate) index: Box<[Term]>,
    /// Its sizes.
    pub(crate) sizes: Box<[Term]>,
}

/// An extremum over the last `rank` axes reads its array at the first place where it is attained.
/// `arg` finds the place.
pub(crate) fn extremum_read(g: &mut Graph, arg: Reduce, rank: u8, x: Term) -> Option<Extremum> {
    let from = g.shape(x).to_vec();
    let outer = from.len() - usize::from(rank);
    let place = g.reduce(arg, usize::from(rank), x);
    let one = g.lit_usize(1);
    let inner = from[outer..].iter().copied().fold(one, |a, b| g.int(IntOp::Mul, a, b));
    let flat: Vec<Term> = from[..outer].iter().copied().chain([inner]).collect();
    let reshaped = (rank != 1).then(|| std::iter::once(x).chain(flat.iter().copied()).collect());
    let vars: Vec<_> = (0..outer).map(|_| g.fresh()).collect();
    let mut index: Vec<Term> = vars.iter().map(|&v| g.mk(Node::Var(v))).collect();
    let read = g.index(place, &index);
    index.push(read);
    // Only the index function of this gather is kept, so it may gather any array of this shape.
    let like = g.reshape(x, &flat);
    let gather = g.gather(like, from[..outer].into(), &vars, &index);
    let Node::Gather { sizes, vars, index, .. } = g.node(gather).clone() else { return None };
    Some(Extremum { flat, reshaped, vars, index, sizes })
}

/// `n * x^(n - 1)`, 0 where n is 0.
pub(crate) fn powi_partial(g: &mut Graph, x: Term, n: Term) -> Term {
    let elem = g.elem(x);
    let shape = g.shape(x).to_vec();
    let constant = |g: &mut Graph, k| {
        let k = g.lit(ad_ir::ir::Lit::Int(ad_ir::ir::IntTy::I32, k));
        g.broadcast(k, &shape)
    };
    if let Node::Lit(ad_ir::ir::Lit::Int(_, k)) = *g.node(g.splat(n)) {
        #[allow(clippy::cast_precision_loss, reason = "an i32 is exact")]
        let factor = g.lit_shaped(elem, &shape, k as f64);
        return match k {
            0 | 1 => factor,
            2 => g.mul(factor, x),
            _ => {
                let less = constant(g, k - 1);
                let power = g.prim(Prim::PowI, &[x, less]);
                g.mul(factor, power)
            }
        };
    }
    let (zero, one) = (constant(g, 0), constant(g, 1));
    let at_zero = g.compare(Cmp::Eq, n, zero);
    let less = g.prim(Prim::Int(IntOp::Sub), &[n, one]);
    let power = g.prim(Prim::PowI, &[x, less]);
    let factor = g.cast(elem, n);
    let product = g.mul(factor, power);
    let flat = g.lit_shaped(elem, &shape, 0.0);
    g.select(at_zero, flat, product)
}
