//! The arena: interned terms with their types and free variables, and the tables of inputs and
//! functions.
//!
//! Invariants: equal nodes are one term; children are older than parents; every term has a type. No
//! term is ever removed.

use crate::sorted::{SortedMap, SortedSet};
use std::collections::HashMap;
use std::rc::Rc;

use super::infer::infer;
use super::{Elem, IntTy, Lit, Loc, Node, Term, Type, Var};
use crate::prim::TypeError;

/// The arena.
#[derive(Clone, Default, Debug)]
pub struct Graph {
    nodes: Vec<Rc<Node>>,
    types: Vec<Type>,
    free: Vec<Rc<[Var]>>,
    /// Whether a [`Node::Param`] of the enclosing body is free in the term.
    open: Vec<bool>,
    /// The highest canonical binder inside the term.
    height: Vec<u32>,
    locs: Vec<Loc>,
    interned: HashMap<Rc<Node>, Term>,
    inputs: Vec<Type>,
    /// The called functions that only move and add numbers.
    moving: SortedSet<u32>,
    next_fresh: u32,
    here: Loc,
    /// The further places of terms that the source has several times, if they are kept.
    further: Option<SortedMap<Term, SortedSet<Loc>>>,
}

impl Graph {
    /// An empty arena.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// The node of a term.
    #[must_use]
    pub fn node(&self, t: Term) -> &Node {
        &self.nodes[t.index()]
    }

    /// The node of a term, shared, for callers that change the graph while they use it.
    #[must_use]
    pub fn node_rc(&self, t: Term) -> Rc<Node> {
        Rc::clone(&self.nodes[t.index()])
    }

    /// The type of a term.
    #[must_use]
    pub fn ty(&self, t: Term) -> &Type {
        &self.types[t.index()]
    }

    /// The shape of an array.
    ///
    /// # Panics
    /// If the term is a tuple.
    #[must_use]
    pub fn shape(&self, t: Term) -> &[Term] {
        self.array(t).1
    }

    /// The rank of an array.
    ///
    /// # Panics
    /// If the term is a tuple.
    #[must_use]
    pub fn rank(&self, t: Term) -> usize {
        self.shape(t).len()
    }

    /// The element type of an array.
    ///
    /// # Panics
    /// If the term is a tuple.
    #[must_use]
    pub fn elem(&self, t: Term) -> Elem {
        self.array(t).0
    }

    fn array(&self, t: Term) -> (Elem, &[Term]) {
        match self.ty(t).as_array() {
            Some(array) => array,
            None => panic!("{t:?} is a tuple, not an array"),
        }
    }

    /// Free build variables, ascending.
    #[must_use]
    pub fn free(&self, t: Term) -> &[Var] {
        &self.free[t.index()]
    }

    /// Whether `var` is free in `t`.
    #[must_use]
    pub fn mentions(&self, t: Term, var: Var) -> bool {
        self.free(t).contains(&var)
    }

    /// Whether a parameter of the enclosing closed body is free in it.
    #[must_use]
    pub fn is_open(&self, t: Term) -> bool {
        self.open[t.index()]
    }

    /// Whether it does not depend on any enclosing loop.
    #[must_use]
    pub fn is_closed(&self, t: Term) -> bool {
        self.free(t).is_empty() && !self.is_open(t)
    }

    /// The source location of a term.
    #[must_use]
    pub fn loc(&self, t: Term) -> Loc {
        self.locs[t.index()]
    }

    /// New terms get this source location from now on. Returns the previous one.
    pub fn at(&mut self, loc: Loc) -> Loc {
        std::mem::replace(&mut self.here, loc)
    }

    /// Keeps all places of each term from here on. Otherwise a term has only its first one.
    pub fn keep_all_places(&mut self) {
        self.further = Some(SortedMap::new());
    }

    /// The terms with several places, each with all of them, in order. Ends their recording.
    pub fn take_places(&mut self) -> Vec<(Term, Vec<Loc>)> {
        let further = self.further.take().unwrap_or_default();
        let all = |(t, more): (Term, SortedSet<Loc>)| (t, std::iter::once(self.loc(t)).chain(more).collect());
        further.into_iter().map(all).collect()
    }

    /// Changes the place of a term.
    pub fn set_place(&mut self, t: Term, loc: Loc) {
        self.locs[t.index()] = loc;
    }

    /// Number of terms made so far.
    #[must_use]
    pub fn len(&self) -> usize {
        self.nodes.len()
    }

    /// All terms made so far, in the order of their handles: operands come first.
    pub fn terms(&self) -> impl DoubleEndedIterator<Item = Term> + ExactSizeIterator + use<> {
        let count = u32::try_from(self.nodes.len()).unwrap_or(u32::MAX);
        (0..count).map(Term)
    }

    /// Whether there is no term yet.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.nodes.is_empty()
    }

    /// Records which called functions only move and add numbers (`analysis::moving`).
    pub fn set_moving(&mut self, functions: SortedSet<u32>) {
        self.moving = functions;
    }

    /// Whether a called function is known to only move and add numbers.
    #[must_use]
    pub fn is_moving(&self, function: u32) -> bool {
        self.moving.contains(&function)
    }

    /// Types of the function's inputs.
    #[must_use]
    pub fn inputs(&self) -> &[Type] {
        &self.inputs
    }

    /// The term of an input, if it has been made.
    #[must_use]
    pub fn input(&self, k: u32) -> Option<Term> {
        self.interned.get(&Node::Input(k)).copied()
    }

    /// Adds an input of rank `rank` and makes its term: its sizes are [`Node::Size`] terms.
    pub fn add_input(&mut self, elem: Elem, rank: u8) -> Term {
        let k = u32::try_from(self.inputs.len()).unwrap_or(u32::MAX);
        // The type mentions the sizes, and typing the sizes needs the rank. So the placeholder has
        // the rank, and no sizes yet.
        let placeholder = self.lit_usize(0);
        self.inputs.push(Type::Array(elem, vec![placeholder; usize::from(rank)].into()));
        let shape: Box<[Term]> = (0..rank).map(|axis| self.mk(Node::Size(k, axis))).collect();
        self.inputs[k as usize] = Type::Array(elem, shape);
        self.mk(Node::Input(k))
    }

    /// Adds an input with a shape of the caller's choice: sizes that are known to be other terms
    /// (equal sizes are united as the program is typed).
    pub fn add_input_shaped(&mut self, elem: Elem, shape: Vec<Term>) -> Term {
        let k = u32::try_from(self.inputs.len()).unwrap_or(u32::MAX);
        self.inputs.push(Type::Array(elem, shape.into()));
        self.mk(Node::Input(k))
    }

    /// Adds an input some of whose sizes (`known`) are other terms. Any other axis k has the
    /// [`Node::Size`] of axis `same[k]`.
    pub fn add_input_united(&mut self, elem: Elem, known: &[Option<Term>], same: &[u8]) -> Term {
        let k = u32::try_from(self.inputs.len()).unwrap_or(u32::MAX);
        let placeholder = self.lit_usize(0);
        self.inputs.push(Type::Array(elem, vec![placeholder; known.len()].into()));
        let sizes = known.iter().zip(same);
        let shape: Box<[Term]> =
            sizes.map(|(known, &axis)| known.unwrap_or_else(|| self.mk(Node::Size(k, axis)))).collect();
        self.inputs[k as usize] = Type::Array(elem, shape);
        self.mk(Node::Input(k))
    }

    /// The rank of input `k`.
    #[must_use]
    pub fn input_rank(&self, k: u32) -> Option<u8> {
        let (_, shape) = self.inputs.get(k as usize)?.as_array()?;
        u8::try_from(shape.len()).ok()
    }

    /// Makes a term, or returns the reason why it has no type.
    ///
    /// # Errors
    /// If the form cannot be typed.
    pub fn try_mk(&mut self, node: Node) -> Result<Term, TypeError> {
        if let Some(&t) = self.interned.get(&node) {
            if let Some(further) = &mut self.further
                && self.here != self.locs[t.index()]
                && self.here != Loc::default()
            {
                further.entry(t).or_default().insert(self.here);
            }
            return Ok(t);
        }
        if !self.is_canonical(&node) {
            // A pass has replaced children in place, so the number of nested binders may have
            // changed.
            let (vars, scoped) = self.open_binder(&node);
            return Ok(self.rebuild_binder(&node, |&t| t, &vars, &scoped));
        }
        if let Node::Prim(crate::prim::Prim::Stack, args) = &node {
            self.lit_usize(args.len());
        }
        let ty = infer(self, &node)?;
        let mut free: Vec<Var> = Vec::new();
        let mut open = matches!(node, Node::Param(k, _) if k < super::LEAF);
        let mut height = 0;
        if let Node::Var(v) = node {
            free.push(v);
        }
        let bound = node.binders();
        node.for_each_scoped_child(|child, inside| {
            open |= self.open[child.index()];
            height = height.max(self.height[child.index()]);
            free.extend(self.free[child.index()].iter().filter(|v| !(inside && bound.contains(v))));
        });
        for v in bound {
            if !v.is_fresh() {
                height = height.max(v.0);
            }
        }
        free.sort_unstable();
        free.dedup();
        let t = Term(u32::try_from(self.nodes.len()).unwrap_or(u32::MAX));
        let node = Rc::new(node);
        self.nodes.push(Rc::clone(&node));
        self.types.push(ty);
        self.free.push(free.into());
        self.open.push(open);
        self.height.push(height);
        self.locs.push(self.here);
        self.interned.insert(node, t);
        Ok(t)
    }

    /// Whether the bound variables of a form have their canonical numbers, so that alpha-equal
    /// terms are one handle.
    fn is_canonical(&self, node: &Node) -> bool {
        let bound = node.binders();
        if bound.is_empty() {
            return true;
        }
        let mut scoped = Vec::new();
        node.for_each_scoped_child(|c, inside| {
            if inside {
                scoped.push(c);
            }
        });
        (self.below(bound, &scoped)..).skip(1).zip(bound).all(|(k, v)| v.0 == k)
    }

    /// The variables that are bound in this scope get the numbers after this one: the highest
    /// binder inside of it. If a pass replaces terms in place, the scope may also mention variables
    /// of outer binders that are not opened. Such a variable would be captured if it had the number
    /// of one that is bound here. Then this is the highest of their numbers, until the outer binder
    /// gets a new number too.
    pub(super) fn below(&self, bound: &[Var], scoped: &[Term]) -> u32 {
        let height = scoped.iter().map(|&t| self.height(t)).max().unwrap_or(0);
        let own = u32::try_from(bound.len()).unwrap_or(u32::MAX);
        let outer = |v: &&Var| !v.is_fresh() && !bound.contains(v);
        let free = scoped.iter().flat_map(|&t| self.free(t).iter().filter(outer)).map(|v| v.0);
        let captured = free.clone().any(|v| v > height && v <= height.saturating_add(own));
        if captured { free.fold(height, u32::max) } else { height }
    }

    /// Makes a term.
    ///
    /// # Panics
    /// If the form cannot be typed: an error in the caller.
    #[track_caller]
    pub fn mk(&mut self, node: Node) -> Term {
        match self.try_mk(node) {
            Ok(t) => t,
            Err(e) => panic!("ill-typed term: {e}"),
        }
    }

    /// A variable that no term mentions yet.
    pub fn fresh(&mut self) -> Var {
        self.next_fresh += 1;
        Var(Var::FRESH + self.next_fresh)
    }

    pub(super) fn height(&self, t: Term) -> u32 {
        self.height[t.index()]
    }

    /// The literal n, if it has been made.
    pub fn find_usize(&self, n: usize) -> Option<Term> {
        let node = Node::Lit(Lit::Int(IntTy::Usize, i128::try_from(n).ok()?));
        self.interned.get(&node).copied()
    }

    /// The terms reachable from `roots` (closed bodies not entered), children first.
    #[must_use]
    pub fn reachable(&self, roots: &[Term]) -> Vec<Term> {
        self.reachable_with(roots, |_, _| {})
    }

    /// Like [`Graph::reachable`], if a term also depends on the terms that `more` adds for it.
    pub fn reachable_with(&self, roots: &[Term], more: impl Fn(Term, &mut Vec<Term>)) -> Vec<Term> {
        // A set of bits in words of 64. Only words that contain a term exist, so the work is
        // proportional to the number of reached terms and not to the size of the arena. The words
        // are in order.
        let mut seen: SortedMap<u32, u64> = SortedMap::new();
        let mut stack: Vec<Term> = roots.to_vec();
        while let Some(t) = stack.pop() {
            let (word, bit) = (seen.entry(t.0 / 64).or_default(), 1 << (t.0 % 64));
            if *word & bit == 0 {
                *word |= bit;
                more(t, &mut stack);
                self.node(t).for_each_child(|c| stack.push(c));
            }
        }
        let mut all = Vec::new();
        for (k, mut bits) in seen {
            while bits != 0 {
                all.push(Term(k * 64 + bits.trailing_zeros()));
                bits &= bits - 1;
            }
        }
        all
    }
}
