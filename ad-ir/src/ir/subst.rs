//! Opening and closing binders and closed bodies. Passes work on opened scopes only, so
//! substitution cannot capture.

use std::collections::HashMap;

use super::rewrite::{Memoised, Needs, OnDemand, on_demand};
use super::{Body, Graph, Node, Put, Term, Type, Var};

/// The variables or parameters that a substitution replaces.
#[derive(Default, Clone, Debug)]
pub(super) struct Subst {
    vars: HashMap<Var, Term>,
    params: Option<Vec<Term>>,
}

/// A substitution in a graph. It visits only terms that it can change.
struct Substitution<'s> {
    g: &'s mut Graph,
    subst: &'s Subst,
    done: HashMap<Term, Term>,
}

impl Substitution<'_> {
    /// Whether no inserted term has binders. Then the numbers of the binders inside do not change,
    /// and the scope need not be opened.
    fn stays_closed(&self, node: &Node) -> bool {
        node.binders().is_empty() || self.g.keeps_heights(self.subst)
    }
}

impl Memoised for Substitution<'_> {
    type Key = Term;
    type New = Term;

    fn parts(&mut self) -> (&mut Graph, &mut HashMap<Term, Term>) {
        (self.g, &mut self.done)
    }

    fn origin(&self, t: &Term) -> Option<Term> {
        Some(*t)
    }

    fn made(&mut self, &t: &Term) -> Term {
        let node = self.g.node_rc(t);
        let done = &self.done;
        if self.stays_closed(&node) {
            return self.g.mk(node.map_children(|c| done[&c]));
        }
        let (vars, scoped) = self.g.open_binder(&node);
        let scoped = self.g.apply(&scoped, self.subst);
        self.g.rebuild_binder(&node, |c| done[c], &vars, &scoped)
    }
}

impl OnDemand for Substitution<'_> {
    fn enter(&mut self, &t: &Term, needs: &mut Needs<'_, Term>) -> Option<Term> {
        if !self.g.touches(t, self.subst) {
            return Some(t);
        }
        let node = self.g.node(t);
        match node {
            Node::Var(v) => return Some(self.subst.vars.get(v).copied().unwrap_or(t)),
            Node::Param(k, _) => return Some(self.subst.params.as_ref().map_or(t, |args| args[*k as usize])),
            _ => {}
        }
        let closed = self.stays_closed(node);
        node.for_each_scoped_child(|c, inside| {
            if closed || !inside {
                needs.push(c);
            }
        });
        None
    }
}

/// A replacement of terms. It visits only terms that are younger than one that is replaced, since
/// children are older than parents.
struct Replacement<'g> {
    g: &'g mut Graph,
    oldest: Option<Term>,
    new: HashMap<Term, Term>,
}

impl Memoised for Replacement<'_> {
    type Key = Term;
    type New = Term;

    fn parts(&mut self) -> (&mut Graph, &mut HashMap<Term, Term>) {
        (self.g, &mut self.new)
    }

    fn origin(&self, t: &Term) -> Option<Term> {
        Some(*t)
    }

    fn made(&mut self, &t: &Term) -> Term {
        let node = self.g.node_rc(t);
        self.g.mk(node.map_children(|c| self.new[&c]))
    }
}

impl OnDemand for Replacement<'_> {
    fn enter(&mut self, &t: &Term, needs: &mut Needs<'_, Term>) -> Option<Term> {
        if self.oldest.is_none_or(|oldest| t < oldest) {
            return Some(t);
        }
        self.g.node(t).for_each_child(|c| needs.push(c));
        None
    }
}

impl Graph {
    /// These terms, with some terms replaced by new ones.
    pub fn replaced(&mut self, roots: &[Term], new: HashMap<Term, Term>) -> Vec<Term> {
        let oldest = new.keys().min().copied();
        let mut r = Replacement { g: self, oldest, new };
        on_demand(&mut r, roots.iter().copied());
        roots.iter().map(|t| r.new[t]).collect()
    }

    /// Replaces free variables.
    pub fn subst_vars(&mut self, t: Term, vars: &[(Var, Term)]) -> Term {
        self.subst_vars_all(&[t], vars)[0]
    }

    /// Replaces free variables in several terms.
    pub fn subst_vars_all(&mut self, ts: &[Term], vars: &[(Var, Term)]) -> Vec<Term> {
        let s = Subst { vars: vars.iter().copied().collect(), ..Subst::default() };
        self.apply(ts, &s)
    }

    /// The results of a closed body applied to arguments.
    pub fn instantiate(&mut self, body: &Body, args: &[Term]) -> Vec<Term> {
        let s = Subst { params: Some(args.to_vec()), ..Subst::default() };
        self.apply(&body.results, &s)
    }

    fn touches(&self, t: Term, s: &Subst) -> bool {
        (s.params.is_some() && self.is_open(t)) || self.free(t).iter().any(|v| s.vars.contains_key(v))
    }

    fn keeps_heights(&self, s: &Subst) -> bool {
        s.vars.values().chain(s.params.iter().flatten()).all(|&t| self.height(t) == 0)
    }

    fn apply(&mut self, roots: &[Term], subst: &Subst) -> Vec<Term> {
        let mut s = Substitution { g: self, subst, done: HashMap::new() };
        on_demand(&mut s, roots.iter().copied());
        roots.iter().map(|t| s.done[t]).collect()
    }

    /// Opens the binders of a form: fresh variables, and the scoped children with these in place of
    /// the bound ones.
    pub fn open_binder(&mut self, node: &Node) -> (Vec<Var>, Vec<Term>) {
        let bound = node.binders().to_vec();
        let mut scoped = Vec::new();
        node.for_each_scoped_child(|c, inside| {
            if inside {
                scoped.push(c);
            }
        });
        let fresh: Vec<Var> = bound.iter().map(|_| self.fresh()).collect();
        let pairs: Vec<(Var, Term)> = bound.iter().zip(&fresh).map(|(&b, &f)| (b, self.mk(Node::Var(f)))).collect();
        let scoped = self.subst_vars_all(&scoped, &pairs);
        (fresh, scoped)
    }

    /// The inverse of [`Graph::open_binder`]: the same form with other children outside the scope
    /// and these inside.
    pub fn rebuild_binder(
        &mut self,
        node: &Node,
        mut outer: impl FnMut(&Term) -> Term,
        vars: &[Var],
        scoped: &[Term],
    ) -> Term {
        match node {
            Node::Build { size, .. } => {
                let size = outer(size);
                self.build(size, vars[0], scoped[0])
            }
            Node::Gather { src, sizes, .. } => {
                let (src, sizes) = (outer(src), sizes.iter().map(&mut outer).collect());
                self.gather(src, sizes, vars, scoped)
            }
            Node::Scatter { put, dst, src, .. } => {
                let (dst, src) = (outer(dst), outer(src));
                self.put(*put, dst, src, vars, scoped)
            }
            _ => panic!("this form has no binders"),
        }
    }

    /// Renumbers fresh variables to canonical ones: 1 + the highest binder inside the scope, and
    /// on.
    fn close_scope(&mut self, vars: &[Var], scoped: &[Term]) -> (Box<[Var]>, Vec<Term>) {
        let mut next = self.below(vars, scoped);
        let bound: Box<[Var]> = vars
            .iter()
            .map(|_| {
                next += 1;
                Var(next)
            })
            .collect();
        let pairs: Vec<(Var, Term)> = vars.iter().zip(&bound).map(|(&f, &b)| (f, self.mk(Node::Var(b)))).collect();
        let scoped = self.subst_vars_all(scoped, &pairs);
        (bound, scoped)
    }

    /// `build1 size (\var. body)`; `var` is fresh and is closed over here.
    #[track_caller]
    pub fn build(&mut self, size: Term, var: Var, body: Term) -> Term {
        let (vars, scoped) = self.close_scope(&[var], &[body]);
        self.mk(Node::Build { size, var: vars[0], body: scoped[0] })
    }

    /// `gather sizes src (\vars. index)`; `vars` are fresh and are closed over here.
    #[track_caller]
    pub fn gather(&mut self, src: Term, sizes: Box<[Term]>, vars: &[Var], index: &[Term]) -> Term {
        if vars.is_empty() && index.is_empty() {
            return src;
        }
        let (vars, index) = self.close_scope(vars, index);
        self.mk(Node::Gather { src, sizes, vars, index: index.into() })
    }

    /// `dst` with `src` added at `\vars. index`; `vars` are fresh and are closed over here.
    #[track_caller]
    pub fn scatter(&mut self, dst: Term, src: Term, vars: &[Var], index: &[Term]) -> Term {
        self.put(Put::Add, dst, src, vars, index)
    }

    /// `dst`, with its elements at `\vars. index` replaced by `src`. No two elements may have the
    /// same index. `vars` are fresh and are closed over here.
    #[track_caller]
    pub fn update(&mut self, dst: Term, src: Term, vars: &[Var], index: &[Term]) -> Term {
        if index.is_empty() { src } else { self.put(Put::Set, dst, src, vars, index) }
    }

    #[track_caller]
    fn put(&mut self, put: Put, dst: Term, src: Term, vars: &[Var], index: &[Term]) -> Term {
        let (vars, index) = self.close_scope(vars, index);
        self.mk(Node::Scatter { put, dst, src, vars, index: index.into() })
    }

    /// A parameter of the closed body under construction.
    pub fn param(&mut self, k: usize, ty: Type) -> Term {
        self.mk(Node::Param(u32::try_from(k).unwrap_or(u32::MAX), ty))
    }
}
