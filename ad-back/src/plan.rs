//! The plan of a routine: its statements, their order and guards, which terms are stored, and how
//! sequences of statements are tiled. `schedule` and `tiling` build it; the modules that write code
//! only read it.
//!
//! This module only defines types and decides nothing.

use ad_ir::sorted::{SortedMap, SortedSet};
use std::collections::{HashMap, HashSet};
use std::ops::Range;

use super::demand::IndexTest;
use super::store::Class;
use super::tiling::BlockTerms;
pub(super) use ad_ir::analysis::guards::Guard;
use ad_ir::ir::{Graph, Node, Put, Term, TermTable};
use ad_ir::prim::Prim;
use ad_middle::passes::lowering::im2col::ImplicitIm2col;
use ad_middle::passes::lowering::opened::{LoopScopes, Loops};

/// SIMD lanes: the number of elements that are processed together.
pub(super) const LANES: usize = 16;

/// The kind of a statement.
#[derive(Clone, Debug)]
pub(super) enum Work {
    /// Tests the check of this number.
    Check(usize),
    /// A `let` of a closed scalar.
    Scalar(Term),
    /// A loop nest over `domain`: elementwise stores and sums.
    Nest { domain: Vec<Term>, items: Vec<Term> },
    /// A stored term that is computed by a kernel or by code of its own: contraction, scatter,
    /// extremum, stack, conditional, constant.
    Whole(Term),
    /// A loop with carried state, by its number; its body is [`Plan::bodies`].
    Loop(usize),
}

/// A statement.
#[derive(Clone, Debug)]
pub(super) struct Step {
    /// Its conditions, in the order in which they become known.
    pub(super) guard: Vec<Guard>,
    pub(super) work: Work,
}

/// The data that the emitter needs in addition to the terms.
#[derive(Debug)]
pub(super) struct Plan {
    pub(super) class: TermTable<Class>,
    /// All statements, of the routine and of the bodies of loops.
    pub(super) steps: Vec<Step>,
    /// The statements of the routine, in order.
    pub(super) order: Vec<usize>,
    /// The statements of the body of each loop, in order.
    pub(super) bodies: Vec<Vec<usize>>,
    pub(super) loops: Loops,
    pub(super) scopes: LoopScopes,
    /// Stored arrays that are a row of another one, and its number: see `store::own_rows`.
    pub(super) own_rows: SortedMap<Term, (Term, Term)>,
    /// Contractions that use implicit im2col: they read windows in place, or add to them.
    pub(super) windows: SortedMap<Term, ImplicitIm2col>,
    /// In-place updates: from each intermediate state of a carried array to the array whose memory
    /// it uses.
    pub(super) in_place: HashMap<Term, Term>,
    /// The statements that read a term, ascending.
    pub(super) readers: HashMap<Term, Vec<usize>>,
    /// Sequences of statements that are done tile by tile, in order.
    pub(super) tiles: Vec<TiledStatements>,
    /// For each size that two axes of a nest have: the terms of a block of such items.
    pub(super) squares: SortedMap<Term, BlockTerms>,
    /// The number of times that a term is a child of a reachable term or a root.
    pub(super) uses: HashMap<Term, u32>,
    /// Terms that decisions depend on. They are computed with exactly the operations of the
    /// function.
    pub(super) exact: HashSet<Term>,
    /// Sums of blocks that a nest computes: see `split`.
    pub(super) stencils: HashSet<Term>,
    /// The terms that are returned, and the initial values, next values and row values of loops.
    pub(super) results: HashSet<Term>,
    /// Stored arrays of which only the elements are read at which tests of their indices hold, with
    /// the tests: see `demand`.
    pub(super) read_under: SortedMap<Term, SortedSet<IndexTest>>,
    /// Terms in the bodies of loops whose nests may end early: see `demand`.
    pub(super) limited: HashSet<Term>,
    /// Rows of loops that are read beyond the rows of iterations that run.
    pub(super) read_whole: HashSet<Term>,
}

impl Plan {
    /// The terms that a statement computes: those that a later statement can read.
    pub(super) fn results_of(&self, step: usize) -> Vec<Term> {
        match &self.steps[step].work {
            Work::Check(_) => Vec::new(),
            Work::Scalar(t) | Work::Whole(t) => vec![*t],
            Work::Nest { items, .. } => items.clone(),
            Work::Loop(n) => {
                let l = &self.loops.all[*n];
                l.carries.iter().map(|c| c.last).chain(l.rows.iter().map(|r| r.all)).collect()
            }
        }
    }

    /// The scatters that are done in one loop with the scatter of this step, oldest first; empty if
    /// the loop of a later scatter does this one too. They scatter values of the same items, one
    /// onto the result of the other.
    pub(super) fn scatters(&self, g: &Graph, k: usize) -> Vec<Term> {
        if self.continues(g, k) {
            return Vec::new();
        }
        let mut first = k;
        while first > 0 && self.continues(g, first - 1) {
            first -= 1;
        }
        let of = |step: &Step| if let Work::Whole(t) = step.work { Some(t) } else { None };
        self.steps[first..=k].iter().filter_map(of).collect()
    }

    /// Whether the next step scatters values of the same items onto the result of this scatter. The
    /// loop over rows of more than one number is another one for each scatter.
    fn continues(&self, g: &Graph, k: usize) -> bool {
        let (Some(Work::Whole(t)), Some(Work::Whole(u))) =
            (self.steps.get(k).map(|s| &s.work), self.steps.get(k + 1).map(|s| &s.work))
        else {
            return false;
        };
        let added = |t: Term| match *g.node(t) {
            Node::Scatter { put: Put::Add, dst, src, .. } if g.rank(src) == 1 => Some((dst, src)),
            _ => None,
        };
        let (Some((_, one)), Some((dst, other))) = (added(*t), added(*u)) else { return false };
        let plain =
            |t: &Term| !self.windows.contains_key(t) && !self.in_place.contains_key(t) && !self.exact.contains(t);
        let tiled = |k: usize| self.tiles.iter().position(|tile| tile.steps.contains(&k));
        let fused = |t: &Term| self.tiles.iter().any(|tile| tile.fused_scatters.values().any(|u| u == t));
        dst == *t
            && g.shape(one) == g.shape(other)
            && self.steps[k].guard == self.steps[k + 1].guard
            && self.scopes.of(*t) == self.scopes.of(*u)
            && self.readers.get(t).is_some_and(|r| r == &[k + 1])
            && self.uses.get(t) == Some(&1)
            && !self.results.contains(t)
            && [t, u].into_iter().all(plain)
            && tiled(k) == tiled(k + 1)
            && ![t, u].into_iter().any(fused)
    }

    pub(super) fn class(&self, t: Term) -> Class {
        self.class[t]
    }
}

/// Where the items are in the arrays of a tile.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub(super) enum ItemAxis {
    /// Items are the innermost loop and fill the lanes; only sums over items are taken across
    /// lanes. Arrays from outside have the items as their first axis, and are packed block by
    /// block.
    Last,
    /// Arrays are laid out as outside of the tile, so each is a slice of rows and nothing is
    /// packed: each item adds to a row of a table that an index determines, or only arrays of one
    /// axis are saved.
    First,
}

/// A sequence of statements that is done tile by tile.
#[derive(Clone, Debug)]
pub(super) struct TiledStatements {
    /// The number of items.
    pub(super) n: Term,
    pub(super) axis: ItemAxis,
    /// The range of the statements in [`Plan::order`].
    pub(super) steps: Range<usize>,
    /// Arrays over items that these statements compute, and those of them that no other statement
    /// uses.
    pub(super) rows: HashSet<Term>,
    pub(super) private: HashSet<Term>,
    /// Arrays over items, of more than one axis, that other statements use too. They are unpacked
    /// from each block.
    pub(super) unpacked: SortedSet<Term>,
    /// Maps each sum over items that is accumulated into the result of a scatter to this scatter.
    pub(super) fused_scatters: SortedMap<Term, Term>,
}

/// The loops of the nest that computes `t`.
pub(super) fn domain_of(g: &Graph, t: Term) -> Vec<Term> {
    match g.node(t) {
        Node::Prim(Prim::Sum(_) | Prim::Reduce(..), args) => g.shape(args[0]).to_vec(),
        _ => g.shape(t).to_vec(),
    }
}
