//! Delta terms (BOT Fig. 12, KN Figs. 3-5): linear maps from the tangents of the leaves to the
//! tangent of a term. A zero derivative has no Delta at all, so it costs nothing. Deltas are
//! numbered in the order of the terms that they belong to. So the reverse pass is one walk from the
//! highest number down.

use std::collections::HashMap;
use std::rc::Rc;

use ad_ir::ir::{Elem, Graph, Loc, Scan, Term, Var};

use super::saved::{Residual, Undo};
use crate::modes::linear::Lin;

/// A Delta of a [`Deltas`] table.
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Debug)]
pub(super) struct DeltaId(pub(super) u32);

/// A term that has a tangent from outside.
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Debug)]
pub(super) enum DeltaLeaf {
    /// An input of the function.
    Input(u32),
    /// A parameter of the closed body, or a part of one: (parameter, path through tuples).
    Param(u32),
}

/// One linear map.
#[derive(Clone, Debug)]
pub(super) enum Delta {
    /// The tangent of a leaf.
    Leaf(DeltaLeaf),
    /// A sum.
    Add(DeltaId, DeltaId),
    /// A linear operation of the table in `linear`.
    Apply(Lin, DeltaId),
    /// A lazy conditional; `None` is zero.
    Cond { cond: Term, then: Option<DeltaId>, other: Option<DeltaId> },
    /// An elementwise choice.
    Select { mask: Term, then: Option<DeltaId>, other: Option<DeltaId>, like: Term },
    /// Elements that replace others; `onto` and `put` are the primal's arrays.
    Update { dst: Option<DeltaId>, src: Option<DeltaId>, onto: Term, put: Term, vars: Box<[Var]>, index: Box<[Term]> },
    /// Arrays along a new outer axis; each part has the type of `like`.
    Stack { parts: Vec<Option<DeltaId>>, like: Term },
    /// A linear loop; its parts are [`Delta::Part`].
    Scan(Rc<ScanDelta>),
    /// A call of a function that is compiled on its own; its parts are [`Delta::Part`].
    Call(Rc<super::call::CallDelta>),
    /// Part k of a loop's or a call's result.
    Part(DeltaId, usize),
}

/// The derivative of a loop, given the augmented loop that saves the carried values of every step.
#[derive(Debug)]
pub(super) struct ScanDelta {
    /// The loop of the primal program before augmentation (for its parts and its body).
    pub(super) scan: Scan,
    /// The carried values at the start of each step, which the augmented loop saves.
    pub(super) saved: Vec<Term>,
    /// Further values that it saves. The derivative reads the rows instead of carried arrays, or
    /// instead of an expensive recomputation.
    pub(super) residuals: Vec<Residual>,
    /// Carried arrays that the derivative may change back to their earlier states.
    pub(super) undo: Vec<Undo>,
    /// For a loop that may stop early: the number of steps that it has taken.
    pub(super) taken: Option<Term>,
    /// The results of the (differentiated) body.
    pub(super) body: Dual,
    /// Which carried values have a tangent.
    pub(super) carried: Vec<bool>,
    /// Tangents of the initial carried values; where `carried` holds but this is `None`, it is
    /// zero.
    pub(super) init: Vec<Option<DeltaId>>,
    /// Tangents of the captures.
    pub(super) captures: Vec<Option<DeltaId>>,
    /// Tangents of the arrays consumed.
    pub(super) xs: Vec<Option<DeltaId>>,
}

/// A table of Deltas and the results that it was made for.
#[derive(Debug, Default)]
pub(super) struct Dual {
    pub(super) deltas: Vec<Delta>,
    /// The place in the source of the term that each Delta belongs to.
    places: Vec<Loc>,
    /// The place of the Deltas that are added next.
    pub(super) here: Loc,
    /// The results. Their loops save the values that derivatives read.
    pub(super) primal: Vec<Term>,
    /// Their tangents; `None` is zero.
    pub(super) tangents: Vec<Option<DeltaId>>,
    /// Maps the loops and calls outside of bodies to those of the primal.
    pub(super) loops: HashMap<Term, Term>,
}

impl Dual {
    pub(super) fn push(&mut self, delta: Delta) -> DeltaId {
        self.deltas.push(delta);
        self.places.push(self.here);
        DeltaId(u32::try_from(self.deltas.len() - 1).unwrap_or(u32::MAX))
    }

    pub(super) fn get(&self, id: DeltaId) -> &Delta {
        &self.deltas[id.0 as usize]
    }

    /// The place in the source of a Delta.
    pub(super) fn place(&self, k: usize) -> Loc {
        self.places[k]
    }

    /// Terms of the function as terms of the primal: they read the loops that save values for
    /// derivatives.
    pub(super) fn in_primal(&self, g: &mut Graph, terms: &[Term]) -> Vec<Term> {
        crate::modes::reading(g, terms, &self.loops)
    }
}

/// The derivative of a term: nothing, a Delta, or by component.
#[derive(Clone, Debug)]
pub(super) enum Tangent {
    Zero,
    Array(DeltaId),
    Tuple(Vec<Tangent>),
}

impl Tangent {
    pub(super) fn array(&self) -> Option<DeltaId> {
        match self {
            Tangent::Array(id) => Some(*id),
            Tangent::Zero | Tangent::Tuple(_) => None,
        }
    }

    pub(super) fn from(id: Option<DeltaId>) -> Tangent {
        id.map_or(Tangent::Zero, Tangent::Array)
    }

    pub(super) fn part(&self, k: usize) -> Tangent {
        match self {
            Tangent::Tuple(parts) => parts[k].clone(),
            Tangent::Zero | Tangent::Array(_) => Tangent::Zero,
        }
    }

    pub(super) fn is_zero(&self) -> bool {
        match self {
            Tangent::Zero => true,
            Tangent::Array(_) => false,
            Tangent::Tuple(parts) => parts.iter().all(Tangent::is_zero),
        }
    }
}

/// Whether derivatives flow through this element type.
pub(super) fn differentiable(elem: Elem) -> bool {
    elem.is_real()
}
