//! Values of the types of cotangents, `D(type)2` (CHAD sections 7.5 and 9.2): the commutative
//! monoids with `0` and `+`. The cotangent of a tuple is the tuple of those components that are
//! not zero.
//!
//! An array is a function of an index, so its cotangent is also a copower: a list of pairs of an
//! index and the cotangent of the element there. A read in a build makes such pairs, one for each
//! element of the build, and not a sum of as many arrays. `lcopowfold` scatters them. This module
//! must never know a rule of differentiation.

use ad_ir::analysis::zeros::is_zero;
use ad_ir::ir::{Graph, Node, Term, Var};
use ad_ir::sorted::SortedMap;

use crate::modes::condition::{mask, wrap, zero_arm};
use crate::modes::cotangent::{Cotangent, add, commute};
use crate::modes::linear::{Lin, hidden_mask};
use ad_ir::analysis::guards::Guard;

/// The cotangent of one value.
#[derive(Clone, Debug)]
pub(super) enum Ct {
    /// The cotangent of an array or a number.
    Array(Array),
    /// The cotangent of a tuple: the cotangents of those components that have one.
    Tuple(SortedMap<usize, Ct>),
}

/// The cotangent of an array: the sum of an array and of a copower.
#[derive(Clone, Default, Debug)]
pub(super) struct Array {
    pub(super) whole: Option<Cotangent>,
    pub(super) copower: Vec<Pairs>,
}

/// Pairs of an index and a cotangent, one for each value of some variables.
#[derive(Clone, Debug)]
pub(super) struct Pairs {
    /// The variables, which are free in the index.
    pub(super) vars: Vec<Var>,
    /// The number of values of each variable.
    pub(super) sizes: Vec<Term>,
    /// The index, which may have fewer coordinates than the array has axes.
    pub(super) index: Vec<Term>,
    /// The cotangents. The first axes are those of the variables.
    pub(super) values: Cotangent,
}

impl From<Cotangent> for Ct {
    fn from(ct: Cotangent) -> Ct {
        Ct::Array(Array { whole: Some(ct), copower: Vec::new() })
    }
}

impl Ct {
    /// `{(t, -)}`: the cotangent of the array that this gather reads, given that of its result.
    pub(super) fn singleton(g: &mut Graph, read: Term, ct: Cotangent) -> Ct {
        let node = g.node_rc(read);
        let Node::Gather { sizes, .. } = &*node else { panic!("a read is a gather") };
        let (vars, index) = g.open_binder(&node);
        let pairs = Pairs { vars, sizes: sizes.to_vec(), index, values: ct };
        Ct::Array(Array { whole: None, copower: vec![pairs] })
    }

    /// `+`.
    pub(super) fn plus(self, g: &mut Graph, other: Ct) -> Ct {
        match (self, other) {
            (Ct::Array(mut a), Ct::Array(b)) => {
                if let Some(more) = b.whole {
                    a.whole = Some(add(g, a.whole, more));
                }
                a.copower.extend(b.copower);
                Ct::Array(a)
            }
            (Ct::Tuple(mut parts), Ct::Tuple(more)) => {
                for (k, ct) in more {
                    let sum = match parts.remove(&k) {
                        Some(before) => before.plus(g, ct),
                        None => ct,
                    };
                    parts.insert(k, sum);
                }
                Ct::Tuple(parts)
            }
            (this, _) => this,
        }
    }

    /// The cotangent where the guard holds, else `0`.
    pub(super) fn under(&self, g: &mut Graph, guard: Guard) -> Ct {
        let mut masked = |ct: Cotangent| Cotangent { term: mask(g, ct.term, guard), ..ct };
        match self {
            Ct::Array(array) => Ct::Array(Array {
                whole: array.whole.map(&mut masked),
                copower: array.copower.iter().map(|p| Pairs { values: masked(p.values), ..p.clone() }).collect(),
            }),
            Ct::Tuple(parts) => Ct::Tuple(parts.iter().map(|(&k, ct)| (k, ct.under(g, guard))).collect()),
        }
    }

    /// Whether it is known to be `0`.
    pub(super) fn is_zero(&self, g: &Graph) -> bool {
        match self {
            Ct::Array(array) => array.copower.is_empty() && array.whole.is_none_or(|ct| is_zero(g, ct.term)),
            Ct::Tuple(parts) => parts.is_empty(),
        }
    }

    /// The cotangent of an array as one array.
    pub(super) fn folded(self, g: &mut Graph, like: Term) -> Option<Cotangent> {
        match self {
            Ct::Array(array) => array.folded(g, like),
            Ct::Tuple(_) => None,
        }
    }

    /// The cotangent without copowers. `like` is of the type of the value.
    pub(super) fn without_copowers(self, g: &mut Graph, like: Term) -> Ct {
        match self {
            Ct::Array(array) => Ct::Array(Array { whole: array.folded(g, like), copower: Vec::new() }),
            Ct::Tuple(parts) => {
                let mut all = SortedMap::new();
                for (k, ct) in parts {
                    let like = g.proj(like, k);
                    all.insert(k, ct.without_copowers(g, like));
                }
                Ct::Tuple(all)
            }
        }
    }
}

impl Array {
    /// `lcopowfold`: the pairs are scattered and added up. `like` has the shape of the array.
    pub(super) fn folded(self, g: &mut Graph, like: Term) -> Option<Cotangent> {
        let mut sum = self.whole;
        for pairs in self.copower {
            let ct = pairs.scattered(g, like);
            sum = Some(add(g, sum, ct));
        }
        sum
    }
}

impl Pairs {
    fn scattered(self, g: &mut Graph, like: Term) -> Cotangent {
        // Only the index function of this gather is kept, in its canonical form.
        let gather = g.gather(like, self.sizes.into(), &self.vars, &self.index);
        let Node::Gather { sizes, vars, index, .. } = g.node(gather).clone() else { return self.values };
        let map = Lin::Gather { vars, index, sizes, from: g.shape(like).to_vec() };
        let masked = map.transposed_mask(g, self.values.term, self.values.masked);
        Cotangent { term: map.transpose(g, self.values.term, self.values.masked), masked }
    }

    /// The pairs for all values of one more variable.
    pub(super) fn for_all(self, g: &mut Graph, size: Term, var: Var) -> Pairs {
        let values = for_all(g, size, var, self.values);
        if !self.index.iter().any(|&at| g.mentions(at, var)) {
            return Pairs { values: sum_of_all(g, values), ..self };
        }
        let vars = std::iter::once(var).chain(self.vars).collect();
        let sizes = std::iter::once(size).chain(self.sizes).collect();
        Pairs { vars, sizes, index: self.index, values }
    }
}

/// The cotangents of all elements of an array, given that of the element at its index.
pub(super) fn for_all(g: &mut Graph, size: Term, var: Var, ct: Cotangent) -> Cotangent {
    match zero_arm(g, ct.term) {
        Some((guard, inner)) if !g.mentions(guard.0, var) => {
            let inner = g.build(size, var, inner);
            Cotangent { term: wrap(g, inner, guard), masked: ct.masked }
        }
        _ => {
            let masked = ct.hidden(g);
            Cotangent { term: g.build(size, var, ct.term), masked }
        }
    }
}

/// The sum over the first axis.
pub(super) fn sum_of_all(g: &mut Graph, ct: Cotangent) -> Cotangent {
    let term = commute(g, ct.term, &|g, ct| g.sum_axes(ct, &[0]));
    Cotangent { term, masked: hidden_mask(g, ct.term, ct.masked) }
}
