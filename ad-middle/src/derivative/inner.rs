//! Derivatives inside of functions: replaces each [`Prim::Derived`] by ordinary terms, the
//! innermost one first. All later code differentiates these terms like any others.
//!
//! The function that is differentiated is closed. Its parameters become inputs of their own for the
//! time of the work, so only they are active. Its derivative is made like that of an annotated
//! function, and then the arguments of the call replace the inputs.
//!
//! This module must never hold a rule of differentiation, and knows no list of passes.

use std::collections::{HashMap, HashSet};

use super::{jacobian, recipes};
use crate::modes;
use crate::passes::{Roots, typed_replacement};
use ad_ir::ir::{Body, Graph, Node, Scan, Term, Type};
use ad_ir::mode::Mode;
use ad_ir::prim::Prim;
use ad_ir::prim::structural::{Derivation, DerivedPart};

/// The passes over a function inside of another one.
pub(crate) trait InnerPipeline {
    /// The function's results after the passes over a function, given the inputs that are
    /// differentiated, and whether its arguments depend on a loop; and the terms that keep their
    /// bits.
    fn function(&mut self, g: &mut Graph, results: Vec<Term>, of: (&[u32], bool)) -> (Vec<Term>, HashSet<Term>);

    /// The results and derivatives after the passes over a derivative that is differentiated again.
    fn gradient(&mut self, g: &mut Graph, exact: &HashSet<Term>, roots: Roots) -> Roots;
}

/// The roots without derivatives inside of them, and whether the mode takes all of these. If it
/// does not, the roots are of no use but for an error.
pub(crate) fn replaced(g: &mut Graph, mode: Mode, roots: &Roots, passes: &mut dyn InnerPipeline) -> (Roots, bool) {
    let mut inner = Inner { mode, passes, contains: HashMap::new(), made: HashMap::new(), taken: true };
    if !roots.all().iter().any(|&t| inner.contains(g, t)) {
        return (roots.clone(), true);
    }
    let new = roots.map(|all| inner.rewritten(g, all));
    (new, inner.taken)
}

/// How a derivative is computed, the function, and its arguments with the tangents or cotangents.
type Key = (Derivation, Body, Vec<Term>);

/// A derivative inside of a function, taken apart.
struct InnerCall {
    /// The function: its active parameters come first, then the values that it captures.
    body: Body,
    /// The arguments of the function, then the tangents or cotangents.
    all: Vec<Term>,
    /// The sizes of the array.
    sizes: Vec<Term>,
}

impl InnerCall {
    fn of(g: &Graph, part: &DerivedPart, args: &[Term]) -> Self {
        let (rows, rest) = args.split_at(part.results as usize);
        let (seeds, sizes) = rest.split_at(part.seeds());
        let Node::Proj(scan, _) = g.node(rows[0]) else { panic!("the row of a loop, not {:?}", g.node(rows[0])) };
        let Node::Scan(scan) = g.node(*scan) else { panic!("the row of a loop, not of {:?}", g.node(*scan)) };
        let all = scan.init.iter().chain(&scan.captures).chain(seeds).copied().collect();
        InnerCall { body: scan.body.clone(), all, sizes: sizes.to_vec() }
    }
}

struct Inner<'p> {
    mode: Mode,
    passes: &'p mut dyn InnerPipeline,
    /// Whether a term or a body in it has a derivative inside.
    contains: HashMap<Term, bool>,
    /// The arrays of each derivative that has been made.
    made: HashMap<Key, Vec<Term>>,
    /// Whether the mode takes all derivatives so far.
    taken: bool,
}

impl Inner<'_> {
    /// Whether a term, or the body of a loop in it, has a derivative inside.
    fn contains(&mut self, g: &Graph, root: Term) -> bool {
        for t in g.reachable(&[root]) {
            if self.contains.contains_key(&t) {
                continue;
            }
            let mut any = matches!(g.node(t), Node::Prim(Prim::Derived(_), _));
            g.node(t).for_each_child(|c| any |= self.contains.get(&c).copied().unwrap_or(false));
            if let (false, Node::Scan(scan)) = (any, g.node(t)) {
                any = scan.body.results.iter().any(|&r| self.contains(g, r));
            }
            self.contains.insert(t, any);
        }
        self.contains[&root]
    }

    /// The terms without derivatives inside. They are in an opened scope, so that no argument has a
    /// bound variable.
    fn rewritten(&mut self, g: &mut Graph, roots: &[Term]) -> Vec<Term> {
        let mut new: HashMap<Term, Term> = HashMap::new();
        let mut stack: Vec<(Term, bool)> = roots.iter().map(|&t| (t, false)).collect();
        while let Some((t, entered)) = stack.pop() {
            if new.contains_key(&t) {
                continue;
            }
            if !self.contains(g, t) {
                new.insert(t, t);
                continue;
            }
            let node = g.node_rc(t);
            let given = match &*node {
                Node::Prim(Prim::Derived(part), args) => Some(InnerCall::of(g, part, args)),
                _ => None,
            };
            if !entered {
                stack.push((t, true));
                match &given {
                    // The body of the function is rewritten over inputs of its own.
                    Some(given) => stack.extend(given.all.iter().chain(&given.sizes).map(|&c| (c, false))),
                    None => node.for_each_scoped_child(|c, inside| {
                        if !inside || node.binders().is_empty() {
                            stack.push((c, false));
                        }
                    }),
                }
                continue;
            }
            let here = g.loc(t);
            let before = g.at(here);
            let made = match &*node {
                Node::Prim(Prim::Derived(part), _) if let Some(given) = given => {
                    let all = given.all.iter().map(|a| new[a]).collect();
                    let sizes = given.sizes.iter().map(|a| new[a]).collect();
                    self.derived(g, part, &InnerCall { all, sizes, ..given })
                }
                Node::Scan(scan) => {
                    let body = Body { results: self.rewritten(g, &scan.body.results).into(), ..scan.body.clone() };
                    let Node::Scan(outer) = node.map_children(|c| new[&c]) else { unreachable!("a loop stays a loop") };
                    g.scan(Scan { body, ..*outer })
                }
                Node::Proj(tuple, k) => g.proj(new[tuple], *k as usize),
                node if !node.binders().is_empty() => {
                    let (vars, scoped) = g.open_binder(node);
                    let scoped = self.rewritten(g, &scoped);
                    g.rebuild_binder(node, |t| new[t], &vars, &scoped)
                }
                node => g.mk(node.map_children(|c| new[&c])),
            };
            g.at(before);
            new.insert(t, made);
        }
        roots.iter().map(|t| new[t]).collect()
    }

    /// One array of a derivative.
    fn derived(&mut self, g: &mut Graph, part: &DerivedPart, given: &InnerCall) -> Term {
        let key = (part.derivation, given.body.clone(), given.all.clone());
        if !self.made.contains_key(&key) {
            let all = self.all_parts(g, part, given);
            self.made.insert(key.clone(), all);
        }
        let made = self.made[&key][part.part as usize];
        let made = g.cast(part.elem, made);
        if *g.shape(made) == *given.sizes { made } else { g.recast(made, &given.sizes) }
    }

    /// All arrays of a derivative.
    ///
    /// A loop of the function that stops early saves as many rows as it has steps. Where the
    /// arguments depend on no loop, that number is a size like any other, and it is a size over the
    /// arguments after the replacement. Elsewhere the loop keeps the bound that it has.
    fn all_parts(&mut self, g: &mut Graph, part: &DerivedPart, given: &InnerCall) -> Vec<Term> {
        let seeds_from = given.all.len() - part.seeds();
        let of_constant = |g: &Graph, k: usize, t: Term| k >= seeds_from && is_literal(g, t);
        let own = |(k, &t): (usize, &Term)| if of_constant(g, k, t) { t } else { own_input(g, t) };
        let inputs: Vec<Term> = given.all.iter().enumerate().map(own).collect();
        let number = |g: &Graph, t: Term| match g.node(t) {
            Node::Input(k) => *k,
            other => panic!("an input, not {other:?}"),
        };
        let (of_function, of_seeds) = inputs.split_at(seeds_from);
        let carried = part.active as usize;
        let active: Vec<(u32, Term)> = of_function[..carried].iter().map(|&t| (number(g, t), t)).collect();
        let results = g.instantiate(&given.body, of_function).split_off(carried);
        let results = self.rewritten(g, &results);
        let wrt: Vec<u32> = active.iter().map(|i| i.0).collect();
        let in_loop = given.all.iter().any(|&t| g.is_open(t) || !g.free(t).is_empty());
        let (results, exact) = self.passes.function(g, results, (&wrt, in_loop));
        let (values, derivatives) = self.parts(g, part.derivation, &results, &active, of_seeds, &exact);
        let roots = self.passes.gradient(g, &exact, Roots { values, derivatives, ..Roots::default() });
        if !in_loop {
            let new = inputs.iter().copied().zip(given.all.iter().copied()).collect();
            let done = typed_replacement::replaced(g, &roots.derivatives, new, &HashMap::new(), |_, results| results);
            return roots.derivatives.iter().map(|t| done[t]).collect();
        }
        // The inputs become parameters, which the arguments replace.
        let types: Vec<Type> = given.all.iter().map(|&t| g.ty(t).clone()).collect();
        let mut params = HashMap::new();
        for (k, (&input, ty)) in inputs.iter().zip(&types).enumerate() {
            if input != given.all[k] {
                let param = g.param(k, ty.clone());
                params.insert(input, param);
            }
        }
        let results = g.replaced(&roots.derivatives, params);
        g.instantiate(&Body { params: types.into(), results: results.into() }, &given.all)
    }

    /// The function's results as the derivative computes them, and the arrays of the derivative,
    /// over the inputs.
    fn parts(
        &mut self,
        g: &mut Graph,
        derivation: Derivation,
        results: &[Term],
        active: &[(u32, Term)],
        seeds: &[Term],
        exact: &HashSet<Term>,
    ) -> (Vec<Term>, Vec<Term>) {
        let wrt: Vec<u32> = active.iter().map(|i| i.0).collect();
        if !modes::refused(self.mode, g, results, &wrt).is_empty() {
            self.taken = false;
            self.mode = Mode::default();
        }
        let directions: Vec<(u32, Term)> = wrt.iter().copied().zip(seeds.iter().copied()).collect();
        match derivation {
            Derivation::Reverse => {
                let cotangent = |(&r, &seed): (&Term, &Term)| if g.elem(r).is_real() { seed } else { g.zeros_like(r) };
                let cotangents: Vec<Term> = results.iter().zip(seeds).map(cotangent).collect();
                modes::reverse(self.mode, g, results, &cotangents, &wrt)
            }
            Derivation::Forward => modes::forward(self.mode, g, results, &directions),
            Derivation::Jacobian => {
                let derivative = modes::derivative(self.mode, g, results, &wrt);
                let blocks = jacobian::whole(g, &*derivative, active);
                (derivative.values().to_vec(), blocks.concat())
            }
            Derivation::HessianProduct => {
                let (values, gradient) = self.first(g, results, &wrt, exact);
                (values, modes::forward(self.mode, g, &gradient, &directions).1)
            }
            Derivation::Hessian => {
                let (values, gradient) = self.first(g, results, &wrt, exact);
                let derivative = modes::derivative(self.mode, g, &gradient, &wrt);
                (values, jacobian::whole(g, &*derivative, active).concat())
            }
            Derivation::Laplacian => {
                let (values, gradient) = self.first(g, results, &wrt, exact);
                let trace = recipes::trace(g, self.mode, (&gradient, results[0]), active, true);
                (values, vec![trace])
            }
        }
    }

    /// The results and the gradient of the first one, after the passes between two derivatives.
    fn first(&mut self, g: &mut Graph, results: &[Term], wrt: &[u32], exact: &HashSet<Term>) -> (Vec<Term>, Vec<Term>) {
        let seeds: Vec<Term> = results.iter().map(|&r| g.lit_like(r, 1.0)).collect();
        let (values, derivatives) = modes::reverse(self.mode, g, results, &seeds, wrt);
        let roots = self.passes.gradient(g, exact, Roots { values, derivatives, ..Roots::default() });
        (roots.values, roots.derivatives)
    }
}

/// Whether the term consists of literals. The derivative is computed for such a tangent or
/// cotangent, and not for an input in its place: products with it need no operation and no mask.
fn is_literal(g: &Graph, t: Term) -> bool {
    match g.node(t) {
        Node::Lit(_) => true,
        Node::Prim(Prim::Stack, parts) => parts.iter().all(|&part| is_literal(g, part)),
        _ => false,
    }
}

/// An input of the type of a term.
fn own_input(g: &mut Graph, t: Term) -> Term {
    let (elem, shape) = (g.elem(t), g.shape(t).to_vec());
    g.add_input_shaped(elem, shape)
}
