//! Opening and closing binders and closed bodies. Passes work on opened scopes only, so
//! substitution cannot capture.

use std::collections::HashMap;

use super::{Body, Graph, Node, Put, Term, Type, Var};

/// What a substitution replaces.
#[derive(Default, Clone, Debug)]
pub(super) struct Subst {
    vars: HashMap<Var, Term>,
    params: Option<Vec<Term>>,
}

impl Graph {
    /// Replaces free variables.
    pub fn subst_vars(&mut self, t: Term, vars: &[(Var, Term)]) -> Term {
        self.subst_vars_all(&[t], vars)[0]
    }

    /// Replaces free variables in several terms.
    pub fn subst_vars_all(&mut self, ts: &[Term], vars: &[(Var, Term)]) -> Vec<Term> {
        let mut s = Subst { vars: vars.iter().copied().collect(), ..Subst::default() };
        self.apply(ts, &mut s)
    }

    /// The results of a closed body applied to arguments.
    pub fn instantiate(&mut self, body: &Body, args: &[Term]) -> Vec<Term> {
        let mut s = Subst { params: Some(args.to_vec()), ..Subst::default() };
        self.apply(&body.results, &mut s)
    }

    fn touches(&self, t: Term, s: &Subst) -> bool {
        (s.params.is_some() && self.is_open(t)) || self.free(t).iter().any(|v| s.vars.contains_key(v))
    }

    fn keeps_heights(&self, s: &Subst) -> bool {
        s.vars.values().chain(s.params.iter().flatten()).all(|&t| self.height(t) == 0)
    }

    /// One walk from the leaves up over what the substitution can touch; a worklist, since programs
    /// are deep.
    fn apply(&mut self, roots: &[Term], s: &mut Subst) -> Vec<Term> {
        let mut done: HashMap<Term, Term> = HashMap::new();
        let mut stack: Vec<(Term, bool)> = roots.iter().rev().map(|&t| (t, false)).collect();
        while let Some((t, children_done)) = stack.pop() {
            if done.contains_key(&t) {
                continue;
            }
            if !self.touches(t, s) {
                done.insert(t, t);
                continue;
            }
            let node = self.node_rc(t);
            match &*node {
                Node::Var(v) => {
                    let new = s.vars.get(v).copied().unwrap_or(t);
                    done.insert(t, new);
                    continue;
                }
                Node::Param(k, _) => {
                    let new = s.params.as_ref().map_or(t, |args| args[*k as usize]);
                    done.insert(t, new);
                    continue;
                }
                _ => {}
            }
            // Nothing that is put in has binders: the numbers below stay as they are, and the scope
            // need not be opened.
            let raw = node.binders().is_empty() || self.keeps_heights(s);
            if !children_done {
                stack.push((t, true));
                node.for_each_scoped_child(|c, inside| {
                    if raw || !inside {
                        stack.push((c, false));
                    }
                });
                continue;
            }
            let new = if raw {
                let mapped = node.map_children(|c| done[&c]);
                self.mk(mapped)
            } else {
                let (vars, scoped) = self.open_binder(&node);
                let scoped = self.apply(&scoped, s);
                let outer = |c: &Term| done[c];
                self.rebuild_binder(&node, outer, &vars, &scoped)
            };
            done.insert(t, new);
        }
        roots.iter().map(|t| done[t]).collect()
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
        let height = scoped.iter().map(|&t| self.height(t)).max().unwrap_or(0);
        let mut next = height;
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

    /// `dst` with `src` in place of what is at `\vars. index`, which no two go to; `vars` are fresh
    /// and are closed over here.
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
