//! The plan of a routine: which steps there are, in which order and under which guards, which terms
//! are in memory, and how runs of steps are tiled. `schedule` and `tiles` make it, everything that
//! writes code reads it.
//!
//! Types alone: nothing here may decide anything.

use std::collections::{BTreeMap, HashMap, HashSet};
use std::ops::Range;

use super::store::Class;
pub(super) use crate::analysis::guards::Guard;
use crate::ir::{Graph, Node, Term};
use crate::passes::lowering::im2col::Windows;
use crate::passes::lowering::opened::{Loops, Scopes};
use crate::prim::Prim;

/// Elements side by side.
pub(super) const LANES: usize = 16;

/// What a step does.
#[derive(Clone, Debug)]
pub(super) enum Work {
    /// Tests the check of this number.
    Check(usize),
    /// A `let` of a closed scalar.
    Scalar(Term),
    /// A loop nest over `domain`: elementwise stores and sums.
    Nest { domain: Vec<Term>, items: Vec<Term> },
    /// A stored term with a kernel or a form of its own: contraction, scatter, extremum, stack,
    /// conditional, constant.
    Whole(Term),
    /// A loop with carried state, by its number; its body is [`Plan::bodies`].
    Loop(usize),
}

/// One step.
#[derive(Clone, Debug)]
pub(super) struct Step {
    /// In the order in which the conditions become known.
    pub(super) guard: Vec<Guard>,
    pub(super) work: Work,
}

/// What the emitter needs to know beside the terms.
#[derive(Debug)]
pub(super) struct Plan {
    pub(super) class: Vec<Class>,
    /// All steps, of the routine and of the bodies of loops.
    pub(super) steps: Vec<Step>,
    /// The routine's own, in order.
    pub(super) order: Vec<usize>,
    /// Those of each loop's body, in order.
    pub(super) bodies: Vec<Vec<usize>>,
    pub(super) loops: Loops,
    pub(super) scopes: Scopes,
    /// Contractions of windows that are read or added to where they are.
    pub(super) windows: BTreeMap<Term, Windows>,
    /// Carried arrays that are changed where they are: whose memory each term on the way is.
    pub(super) in_place: HashMap<Term, Term>,
    /// The steps that read a term, ascending.
    pub(super) readers: HashMap<Term, Vec<usize>>,
    /// Runs of steps that are done block by block, in order.
    pub(super) tiles: Vec<Tile>,
    /// How often a term is a child of a reachable term or a root.
    pub(super) uses: HashMap<Term, u32>,
    /// Terms that decisions depend on: computed with exactly the function's own operations.
    pub(super) exact: HashSet<Term>,
    /// Sums of blocks that a nest computes: see `split`.
    pub(super) stencils: HashSet<Term>,
    /// The terms returned, and what loops begin with, carry on and make rows of.
    pub(super) results: HashSet<Term>,
}

impl Plan {
    pub(super) fn class(&self, t: Term) -> Class {
        self.class[t.index()]
    }
}

/// A run of steps done block by block.
#[derive(Clone, Debug)]
pub(super) struct Tile {
    /// The number of items.
    pub(super) n: Term,
    /// Places in the order of the routine.
    pub(super) steps: Range<usize>,
    /// Arrays over items that only these steps know.
    pub(super) private: HashSet<Term>,
    /// Sums over items that are added where a scatter puts them, and the scatter.
    pub(super) fused_scatters: BTreeMap<Term, Term>,
}

/// The loops of the nest that computes `t`.
pub(super) fn domain_of(g: &Graph, t: Term) -> Vec<Term> {
    match g.node(t) {
        Node::Prim(Prim::Sum(_) | Prim::Reduce(..), args) => g.shape(args[0]).to_vec(),
        _ => g.shape(t).to_vec(),
    }
}
