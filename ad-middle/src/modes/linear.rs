//! Linear operations, which are constructors of Delta in BOT Fig. 14 and KN Figs. 4-5. Each is
//! applied to a tangent, and its transpose to a cotangent. The transpose of a structural operation
//! is a structural operation, so there is no second table.
//!
//! No NaN of an arm that is not taken may come back through `0 * inf` (the chapter on derivatives
//! and masks in `docs/internals`). So operations commute with conditionals and choices that have a
//! zero arm. Where a sum has hidden a mask, scaling is the product that absorbs zero.

use ad_ir::ir::{Elem, Graph, Node, Put, Term, Var};
use ad_ir::prim::structural::{Applied, LinearMap};
use ad_ir::prim::{Binary, Prim, Scaling, Unary};

use super::condition::{wrap, zero_arm};
use super::one_hot;
use ad_ir::analysis::powers::finite_where_zero;
use ad_ir::analysis::zeros::is_zero;

/// A linear map from one array to another. Terms in it are of the primal program.
#[derive(Clone, Debug)]
pub(crate) enum Lin {
    /// Elementwise product with an array of the same shape.
    Scale(Term, Scaling),
    /// A structural primitive in one of its arguments, with its transpose.
    Structural(LinearMap),
    /// Gather by this index function, which is closed and canonical.
    Gather { vars: Box<[Var]>, index: Box<[Term]>, sizes: Box<[Term]>, from: Vec<Term> },
    /// Scatter onto zeros.
    Scatter { vars: Box<[Var]>, index: Box<[Term]>, sizes: Vec<Term>, to: Vec<Term> },
    /// A cast between real types.
    Cast { from: Elem, to: Elem },
}

/// The known zeros of a cotangent, in addition to those that a zero arm at its root shows.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub(crate) enum KnownZeros {
    /// Nothing is masked.
    None,
    /// Zeros at the elements that an index or a slice does not read.
    Unread,
    /// Zeros of results of a loop that nothing reads, and of values that a step does not read.
    Idle,
    /// Zeros of an arm that was not taken.
    Arm,
}

impl KnownZeros {
    /// These zeros, as those of a value that a step of a loop does not read.
    pub(crate) fn at_least_idle(self) -> Self {
        if self == KnownZeros::None { self } else { self.max(KnownZeros::Idle) }
    }
}

impl Lin {
    /// The image of a tangent.
    pub(crate) fn apply(&self, g: &mut Graph, x: Term) -> Term {
        match self {
            Lin::Scale(f, Scaling::Absorbing) => scale(g, x, *f, KnownZeros::Arm),
            Lin::Scale(f, Scaling::Plain) => scale(g, x, *f, KnownZeros::None),
            Lin::Structural(linear) => one_hot::apply(g, &linear.forward, x),
            Lin::Gather { vars, index, sizes, .. } => element(g, x, sizes, vars, index),
            Lin::Scatter { vars, index, to, .. } => scatter_onto_zeros(g, x, vars, index, to),
            Lin::Cast { to, .. } => g.cast(*to, x),
        }
    }

    /// The image of a cotangent under the transpose (BOT Fig. 17).
    pub(crate) fn transpose(&self, g: &mut Graph, ct: Term, masked: KnownZeros) -> Term {
        // Every linear operation commutes with a conditional that has a zero arm. It is moved into
        // the other arm, so that an arm that is not taken costs nothing.
        if let Some((literal, inner)) = zero_arm(g, ct) {
            let inner = self.transpose(g, inner, masked);
            return wrap(g, inner, literal);
        }
        match self {
            Lin::Scale(f, scaling) => {
                let masked = if *scaling == Scaling::Absorbing { KnownZeros::Arm } else { masked };
                scale(g, ct, *f, masked)
            }
            Lin::Structural(linear) => {
                let map = absorbing(g, &linear.backward, hidden_mask(g, ct, masked));
                one_hot::apply(g, &map, ct)
            }
            Lin::Gather { vars, index, from, .. } => scatter_onto_zeros(g, ct, vars, index, from),
            Lin::Scatter { vars, index, sizes, .. } => element(g, ct, sizes, vars, index),
            Lin::Cast { from, .. } => g.cast(*from, ct),
        }
    }

    /// The known zeros of the transpose's result, given those of the cotangent. A choice with a
    /// zero arm stays at the root under a scaling; any other operation hides it.
    pub(crate) fn transposed_mask(&self, g: &Graph, ct: Term, masked: KnownZeros) -> KnownZeros {
        match self {
            Lin::Scale(..) => masked,
            Lin::Gather { .. } | Lin::Structural(LinearMap { unread: true, .. }) => {
                hidden_mask(g, ct, masked).max(KnownZeros::Unread)
            }
            _ => hidden_mask(g, ct, masked),
        }
    }
}

/// The known zeros of a cotangent after an operation on it.
pub(crate) fn hidden_mask(g: &Graph, ct: Term, masked: KnownZeros) -> KnownZeros {
    // A conditional at the root stays at the root.
    let inner = zero_arm(g, ct).map_or(ct, |(_, inner)| inner);
    match as_select(g, inner) {
        Some((_, a, b)) if is_zero(g, a) || is_zero(g, b) => KnownZeros::Arm,
        _ => masked,
    }
}

/// The result of a gather. If the array is a stack of elements and one of them is read, the result
/// is that element, so that its zeros are known.
pub(crate) fn element(g: &mut Graph, src: Term, sizes: &[Term], vars: &[Var], index: &[Term]) -> Term {
    if let (Node::Prim(Prim::Stack, parts), [], [k]) = (g.node(src), sizes, index)
        && let Some(&part) = g.int_value(*k).and_then(|k| parts.get(usize::try_from(k).ok()?))
    {
        return part;
    }
    g.mk(Node::Gather { src, sizes: sizes.into(), vars: vars.into(), index: index.into() })
}

fn scatter_onto_zeros(g: &mut Graph, x: Term, vars: &[Var], index: &[Term], to: &[Term]) -> Term {
    let elem = g.elem(x);
    let dst = g.lit_shaped(elem, to, 0.0);
    g.mk(Node::Scatter { put: Put::Add, dst, src: x, vars: vars.into(), index: index.into() })
}

/// `x * f`. Signs, reciprocals and one-sided choices in f are applied and not multiplied by.
pub(crate) fn scale(g: &mut Graph, x: Term, f: Term, masked: KnownZeros) -> Term {
    if let Some((literal, inner)) = zero_arm(g, x) {
        let inner = scale(g, inner, f, masked);
        return wrap(g, inner, literal);
    }
    if let Some((mask, a, b)) = as_select(g, x) {
        if is_zero(g, b) {
            let a = scale(g, a, f, masked);
            return where_only(g, mask, true, a, b);
        }
        if is_zero(g, a) {
            let b = scale(g, b, f, masked);
            return where_only(g, mask, false, b, a);
        }
    }
    // A one-hot cotangent stays one-hot.
    if let Some((src, index)) = one_hot::slot(g, x) {
        let there = g.index(f, &index);
        let scaled = scale(g, src, there, masked);
        let shape = g.shape(x).to_vec();
        return one_hot::scatter_element(g, scaled, &index, &shape);
    }
    if let Some(placed) = one_hot::scattered(g, x) {
        let there = one_hot::read(g, &placed, f);
        let scaled = scale(g, placed.src, there, masked);
        let shape = g.shape(x).to_vec();
        return placed.put(g, scaled, &shape);
    }
    if let Some(c) = g.real_value(f) {
        #[allow(clippy::float_cmp, reason = "exactly these constants have a shorter form")]
        if c == 1.0 {
            return x;
        } else if c == -1.0 {
            return g.neg(x);
        }
    }
    // A factor that is zero on one side of a choice is a mask: a NaN of the side that was not
    // chosen must not reach the product.
    if let Some((mask, a, b)) = as_select(g, f) {
        if is_zero(g, b) {
            let a = scale(g, x, a, masked);
            return where_only(g, mask, true, a, b);
        }
        if is_zero(g, a) {
            let b = scale(g, x, b, masked);
            return where_only(g, mask, false, b, a);
        }
    }
    let absorbs = match masked {
        KnownZeros::None => false,
        KnownZeros::Unread => !is_polynomial(g, f),
        KnownZeros::Idle | KnownZeros::Arm => g.real_value(f).is_none_or(|c| !c.is_finite()),
    };
    if absorbs && !finite_where_zero(g, x, f) {
        return g.binary(Binary::MulZero, x, f);
    }
    if let Node::Prim(Prim::Unary(Unary::Neg), args) = g.node(f) {
        let f = args[0];
        let scaled = scale(g, x, f, masked);
        return g.neg(scaled);
    }
    if let Node::Prim(Prim::Unary(Unary::Recip), args) = g.node(f) {
        let y = args[0];
        return g.div(x, y);
    }
    if is_one(g, x) {
        return f;
    }
    g.mul(x, f)
}

/// The map with absorbing products, if the cotangent may have zeros that are masks. Then a
/// contraction is 0 where its cotangent is 0, like a scaling. Zeros of values that a loop did not
/// read are not masks of the user's function: they may be multiplied by an operand that is infinite
/// or NaN only if an input is.
fn absorbing(g: &Graph, map: &Applied, masked: KnownZeros) -> Applied {
    let mut map = map.clone();
    if let Prim::Contract(spec) = &mut map.prim {
        let with = map.rest[0];
        spec.absorbs[0] |= match masked {
            KnownZeros::None => false,
            KnownZeros::Unread | KnownZeros::Idle => !is_polynomial(g, with),
            KnownZeros::Arm => g.real_value(with).is_none_or(|c| !c.is_finite()),
        };
    }
    map
}

/// `x` where the mask is `side`, else zero. The masks of a chain of choices are joined into one,
/// since each scaling would otherwise walk down the chain.
pub(crate) fn where_only(g: &mut Graph, mask: Term, side: bool, x: Term, zero: Term) -> Term {
    match as_select(g, x) {
        Some((inner, x, other)) if is_zero(g, other) => {
            let mask = if side { mask } else { g.not(mask) };
            let both = g.and(mask, inner);
            g.select(both, x, zero)
        }
        _ if side => g.select(mask, x, zero),
        _ => g.select(mask, zero, x),
    }
}

fn is_one(g: &Graph, x: Term) -> bool {
    g.real_value(x).is_some_and(|x| x.to_bits() == 1.0_f64.to_bits())
}

fn as_select(g: &Graph, t: Term) -> Option<(Term, Term, Term)> {
    match g.node(t) {
        Node::Prim(Prim::Select, args) => Some((args[0], args[1], args[2])),
        _ => None,
    }
}

/// Whether f can only be infinite or NaN where an input is, or by overflow. This holds for products
/// and sums of inputs and bounded functions. The number of examined terms is bounded.
fn is_polynomial(g: &Graph, f: Term) -> bool {
    let mut stack = vec![f];
    for _ in 0..64 {
        let Some(t) = stack.pop() else { return true };
        match g.node(t) {
            Node::Input(_) | Node::Lit(_) | Node::Param(..) => {}
            Node::Gather { src, .. } => stack.push(*src),
            Node::Prim(prim, args) => match prim {
                Prim::Binary(f) if f.row().bounded => stack.extend(args.iter().copied()),
                Prim::Unary(f) if f.row().bounded => stack.push(args[0]),
                Prim::Contract(_) | Prim::Stack => stack.extend(args.iter().copied()),
                Prim::StopGradient | Prim::RelaxedExact | Prim::UnknownOrder | Prim::Cast(_) => stack.push(args[0]),
                prim if prim.moves_elements() => stack.push(args[0]),
                Prim::Select => stack.extend([args[1], args[2]]),
                _ => return false,
            },
            _ => return false,
        }
    }
    false
}

/// The row of an array at an index in range. The row of a build is its body, and that of equal rows
/// is one of them (UNF section 5.1).
pub(crate) fn row(g: &mut Graph, array: Term, var: Var) -> Term {
    let at = g.mk(Node::Var(var));
    match g.node(array).clone() {
        Node::Build { var: own, body, .. } => g.subst_vars(body, &[(own, at)]),
        Node::Prim(Prim::Replicate(axes), args) if axes.first() == Some(&0) => {
            let rest: Vec<u8> = axes[1..].iter().map(|a| a - 1).collect();
            g.replicate_axes(args[0], &rest, &args[2..])
        }
        _ => g.index(array, &[at]),
    }
}
