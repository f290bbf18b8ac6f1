//! The validator: it checks the invariants that every stage may rely on, and the normal form of the
//! bulk-operation transform. It must never repair a term. It must never trust what the graph has
//! stored with a node: types, free variables and binder numbers are recomputed.

use crate::sorted::{SortedMap, SortedSet};

use super::infer::infer;
use super::{Body, Elem, Graph, LEAF, Node, Scan, Term, Type, Var};
use crate::prim::Prim;

/// Whether the terms are well-typed, well-scoped and canonical, and closed.
///
/// # Errors
/// Every violation, in words.
pub fn validate(g: &Graph, roots: &[Term]) -> Result<(), Vec<String>> {
    validate_units(g, roots, false)
}

fn validate_units(g: &Graph, roots: &[Term], final_form: bool) -> Result<(), Vec<String>> {
    let mut errors = Vec::new();
    for (terms, body) in units(g, roots) {
        let place = body.map_or(ParamScope::Program, ParamScope::Body);
        Unit { g, place, final_form, data: SortedSet::new(), errors: &mut errors }.check(&terms);
    }
    finish(errors)
}

/// Checks the body of a loop that is not yet a term: it must be well-typed and closed, and get as
/// many arguments as it has parameters.
///
/// # Errors
/// Every violation, in words.
pub fn validate_loop(g: &Graph, scan: &Scan) -> Result<(), Vec<String>> {
    let mut errors = Vec::new();
    let args = scan.init.len() + scan.captures.len() + scan.xs.len();
    if args != scan.body.params.len() {
        errors.push(format!("a loop has {args} arguments and {} parameters", scan.body.params.len()));
    }
    let carried = scan.body.params.iter().zip(&scan.body.results).take(scan.init.len());
    for (k, (ty, &next)) in carried.enumerate() {
        if ty != g.ty(next) {
            errors.push(format!("the carried value {k} is {ty:?}, and {:?} after a step", g.ty(next)));
        }
    }
    let (place, data) = (ParamScope::Body(&scan.body), SortedSet::new());
    Unit { g, place, final_form: false, data, errors: &mut errors }.check(&scan.body.results);
    finish(errors)
}

/// The check of lowered terms, one after the other as they are made. Each term is checked once.
///
/// A lowered term has no loop and no build. It may read leaves ([`LEAF`]), which are the
/// parameters of opened loops.
#[derive(Default)]
pub struct Lowered {
    facts: SortedMap<Term, ScopeFacts>,
}

impl Lowered {
    /// Checks the terms, and all they reach that has not been checked before.
    ///
    /// # Errors
    /// Every violation, in words.
    pub fn check(&mut self, g: &Graph, roots: &[Term]) -> Result<(), Vec<String>> {
        let (mut new, mut stack) = (SortedSet::new(), roots.to_vec());
        while let Some(t) = stack.pop() {
            if !self.facts.contains_key(&t) && new.insert(t) {
                g.node(t).for_each_child(|c| stack.push(c));
            }
        }
        let mut errors = Vec::new();
        let mut unit =
            Unit { g, place: ParamScope::Lowered, final_form: true, data: SortedSet::new(), errors: &mut errors };
        for t in new {
            if matches!(g.node(t), Node::Scan(_) | Node::Build { .. }) {
                unit.error(t, "it is not lowered");
            }
            let found = unit.check_term(t, &self.facts);
            self.facts.insert(t, found);
        }
        finish(errors)
    }
}

/// Like [`validate`], with the normal form after the bulk-operation transform (BOT Theorem 5.1, as
/// far as it is needed): there is no build, bodies of loops included, and an index
/// function has only scalar operations and reads of arrays that do not mention its variables.
///
/// # Errors
/// Every violation, in words.
pub fn normal_form(g: &Graph, roots: &[Term]) -> Result<(), Vec<String>> {
    validate(g, roots)?;
    normal(g, roots)
}

/// Like [`normal_form`], for terms that are not differentiated any more. Bodies of loops may
/// mention inputs there: values that the first half of a pullback has kept.
///
/// # Errors
/// Every violation, in words.
pub fn final_form(g: &Graph, roots: &[Term]) -> Result<(), Vec<String>> {
    validate_units(g, roots, true)?;
    normal(g, roots)
}

/// Whether the terms are in the normal form, if they are valid.
fn normal(g: &Graph, roots: &[Term]) -> Result<(), Vec<String>> {
    let mut errors = Vec::new();
    for (terms, _) in units(g, roots) {
        for t in g.reachable(&terms) {
            match g.node(t) {
                Node::Build { .. } => errors.push(format!("{}: a build is left", show(g, t))),
                Node::Gather { vars, index, .. } | Node::Scatter { vars, index, .. } => {
                    index_function(g, t, vars, index, &mut errors);
                }
                _ => {}
            }
        }
    }
    finish(errors)
}

/// The program and the body of every loop in it, each as its results. Each body occurs once,
/// however often it is used.
fn units<'g>(g: &'g Graph, roots: &[Term]) -> Vec<(Vec<Term>, Option<&'g Body>)> {
    let mut units: Vec<(Vec<Term>, Option<&Body>)> = vec![(roots.to_vec(), None)];
    let mut loops: SortedSet<Term> = SortedSet::new();
    let mut next = 0;
    while next < units.len() {
        for t in g.reachable(&units[next].0) {
            let body = match g.node(t) {
                Node::Scan(scan) if loops.insert(t) => Some(&scan.body),
                _ => None,
            };
            units.extend(body.map(|body| (body.results.to_vec(), Some(body))));
        }
        next += 1;
    }
    units
}

fn finish(errors: Vec<String>) -> Result<(), Vec<String>> {
    if errors.is_empty() { Ok(()) } else { Err(errors) }
}

fn show(g: &Graph, t: Term) -> String {
    format!("%{}: {:?}", t.index(), g.node(t))
}

/// The parameters that terms may read.
#[derive(Clone, Copy)]
enum ParamScope<'a> {
    /// None: the program outside of loops.
    Program,
    /// The parameters of a closed body.
    Body(&'a Body),
    /// The leaves of opened loops.
    Lowered,
}

/// The state of the check of one scope of parameters.
struct Unit<'a> {
    g: &'a Graph,
    place: ParamScope<'a>,
    /// Whether no derivative of the terms is taken any more. Then a closed body may mention inputs.
    final_form: bool,
    /// Terms that are reached on a path other than through a size.
    data: SortedSet<Term>,
    errors: &'a mut Vec<String>,
}

/// Facts about a term that has been checked.
#[derive(Default)]
struct ScopeFacts {
    free: SortedSet<Var>,
    open: bool,
    height: u32,
}

impl Unit<'_> {
    fn error(&mut self, t: Term, message: &str) {
        self.errors.push(format!("{}: {message}", show(self.g, t)));
    }

    fn check(&mut self, roots: &[Term]) {
        let g = self.g;
        let mut facts: SortedMap<Term, ScopeFacts> = SortedMap::new();
        let mut stack = roots.to_vec();
        while let Some(t) = stack.pop() {
            let size = *g.ty(t) == Type::scalar(Elem::USIZE) && g.free(t).is_empty() && !g.is_open(t);
            if !size && self.data.insert(t) {
                g.node(t).for_each_child(|c| stack.push(c));
            }
        }
        // Handles ascend, so children come first, provided that they are older.
        for t in g.reachable(roots) {
            let found = self.check_term(t, &facts);
            facts.insert(t, found);
        }
        for &t in roots {
            if facts.get(&t).is_some_and(|f| !f.free.is_empty()) {
                self.error(t, "a variable escapes from its scope");
            }
        }
    }

    fn check_term(&mut self, t: Term, facts: &SortedMap<Term, ScopeFacts>) -> ScopeFacts {
        let g = self.g;
        let node = g.node(t);
        let mut found = ScopeFacts::default();
        let bound = node.binders();
        let mut scoped_height = 0;
        let mut old = true;
        node.for_each_scoped_child(|c, inside| {
            let Some(child) = facts.get(&c).filter(|_| c < t) else {
                old = false;
                return;
            };
            found.free.extend(child.free.iter().filter(|v| !(inside && bound.contains(v))));
            found.open |= child.open;
            found.height = found.height.max(child.height);
            if inside {
                scoped_height = scoped_height.max(child.height);
            }
        });
        if !old {
            self.error(t, "a child is not older than its parent");
            return found;
        }
        match node {
            Node::Var(v) => {
                found.free.insert(*v);
            }
            Node::Param(k, ty) => {
                found.open = *k < LEAF;
                match self.place {
                    ParamScope::Lowered if *k >= LEAF => {}
                    ParamScope::Program | ParamScope::Lowered => self.error(t, "a parameter outside of a closed body"),
                    ParamScope::Body(body) => match body.params.get(*k as usize) {
                        None => self.error(t, "the body has no such parameter"),
                        Some(declared) if declared != ty => {
                            self.error(t, &format!("the body declares the parameter as {declared:?}"));
                        }
                        Some(_) => {}
                    },
                }
            }
            // The derivative of a body with respect to a term that is not a parameter would be
            // lost. Sizes have no derivative.
            Node::Input(_)
                if !self.final_form
                    && matches!(self.place, ParamScope::Body(_))
                    && g.ty(t).has_real()
                    && self.data.contains(&t) =>
            {
                self.error(t, "a closed body mentions a real input");
            }
            _ => {}
        }
        for (k, v) in (1..).zip(bound) {
            if v.0 != scoped_height + k {
                self.error(t, &format!("a binder is numbered {} and not {}", v.0, scoped_height + k));
            }
            found.height = found.height.max(scoped_height + k);
        }
        if let Node::Scan(scan) = node
            && scan.body.results.iter().any(|&r| r >= t)
        {
            self.error(t, "the body of a loop is not older than the loop");
        }
        match infer(g, node) {
            Ok(ty) if ty == *g.ty(t) => self.check_type(t, &ty),
            Ok(ty) => self.error(t, &format!("its type is {ty:?}, and it is stored as {:?}", g.ty(t))),
            Err(e) => self.error(t, &format!("it has no type: {e}")),
        }
        if !g.free(t).iter().eq(&found.free) {
            self.error(t, &format!("it mentions {:?}, and {:?} are stored", found.free, g.free(t)));
        }
        if g.is_open(t) != found.open {
            self.error(t, "it is stored wrongly whether it mentions a parameter");
        }
        found
    }

    fn check_type(&mut self, t: Term, ty: &Type) {
        match ty {
            Type::Array(_, shape) => {
                for &size in shape {
                    if !self.g.free(size).is_empty() || self.g.is_open(size) {
                        self.error(t, &format!("its size {} is not closed", show(self.g, size)));
                    } else if *self.g.ty(size) != Type::scalar(Elem::USIZE) {
                        self.error(t, &format!("its size {} is not a usize scalar", show(self.g, size)));
                    }
                }
            }
            Type::Tuple(parts) => parts.iter().for_each(|part| self.check_type(t, part)),
        }
    }
}

/// An index function may only compute scalars for each index, and the arrays that it reads must be
/// the same for all indices.
fn index_function(g: &Graph, of: Term, vars: &[Var], index: &[Term], errors: &mut Vec<String>) {
    let inside = |t: Term| vars.iter().any(|&v| g.mentions(t, v));
    let mut seen: SortedSet<Term> = SortedSet::new();
    let mut stack: Vec<Term> = index.to_vec();
    while let Some(t) = stack.pop() {
        if !inside(t) || !seen.insert(t) {
            continue;
        }
        let complaint = match g.node(t) {
            _ if g.ty(t).as_array().is_none_or(|(_, shape)| !shape.is_empty()) => Some("computes an array or a tuple"),
            Node::Var(_) | Node::Cond { .. } => None,
            Node::Gather { src, .. } if inside(*src) => Some("reads an array that mentions its variable"),
            Node::Gather { .. } => None,
            Node::Prim(prim, _) if prim.is_elementwise() || matches!(prim, Prim::Reshape) => None,
            _ => Some("computes more than scalars"),
        };
        if let Some(complaint) = complaint {
            errors.push(format!("the index function of {} {complaint}: {}", show(g, of), show(g, t)));
        }
        g.node(t).for_each_child(|c| stack.push(c));
    }
}
