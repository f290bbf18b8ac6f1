//! The state that recipes work on: the function, its active parameters, and the parameters and
//! checks that the derivative adds. This module must never know which derivative is made.

use proc_macro2::{Ident, Span, TokenStream};

use super::{Prepared, check_roots, set_checks};
use crate::modes::{self, Derivative};
use crate::passes::Roots;
use ad_ir::descriptor::Further;
use ad_ir::ir::{Graph, Loc, Node, Term, axis};
use ad_ir::mode::Mode;
use ad_ir::prim::Cmp;
use ad_ir::program::{Check, Container, Param, Passing, Phase};
use ad_ir::rust_types::{argument_type, destination_type};

/// The passes over a derivative of which another one is taken.
pub(crate) type InnerPasses<'a> = dyn FnMut(&mut Graph, Roots) -> Roots + 'a;

/// The state of a recipe.
pub(crate) struct DerivativeBuilder<'a> {
    pub(super) prepared: &'a mut Prepared,
    /// The function's results.
    pub(super) results: Vec<Term>,
    /// The active parameters.
    pub(super) active: Vec<Param>,
    further: Further,
    between: &'a mut dyn FnMut(&mut Graph, Roots) -> Roots,
    params: Vec<Param>,
    checks: Vec<Check>,
    destinations: Vec<Ident>,
}

impl<'a> DerivativeBuilder<'a> {
    /// The state for a derivative with these further parameters.
    pub(super) fn new(prepared: &'a mut Prepared, further: Further, between: &'a mut InnerPasses<'_>) -> Self {
        let program = &prepared.program;
        let mut making = DerivativeBuilder {
            results: program.result.terms(),
            active: program.active.iter().map(|&k| program.params[k].clone()).collect(),
            params: program.params.clone(),
            checks: program.checks.clone(),
            destinations: Vec::new(),
            prepared,
            further,
            between,
        };
        if further == Further::Destinations {
            for param in making.active.clone() {
                let destination = making.of_active(&param, "grad", true).1;
                making.destinations.push(destination);
            }
        }
        making
    }

    /// Parameters, checks and destinations of the routine.
    pub(super) fn finish(self) -> (Vec<Param>, Vec<Check>, Vec<Ident>) {
        (self.params, self.checks, self.destinations)
    }

    pub(super) fn graph(&mut self) -> &mut Graph {
        &mut self.prepared.program.graph
    }

    /// The algorithm that the attribute asks for.
    pub(super) fn mode(&self) -> Mode {
        self.prepared.program.mode
    }

    /// The inputs that derivatives are taken with respect to.
    pub(super) fn wrt(&self) -> Vec<u32> {
        self.active.iter().filter_map(|p| p.input).collect()
    }

    /// The derivative of the function's results with respect to the active inputs.
    pub(super) fn differentiated(&mut self) -> Box<dyn Derivative> {
        let (wrt, results) = (self.wrt(), self.results.clone());
        modes::derivative(self.mode(), self.graph(), &results, &wrt)
    }

    /// Lets the checks read the loops that the derivative runs anyway.
    pub(super) fn share_loops(&mut self, derivative: &dyn Derivative) {
        let mut roots = check_roots(&self.checks);
        let terms: Vec<Term> = roots.iter().flat_map(|c| std::iter::once(c.ok).chain(c.shown.clone())).collect();
        let mut new = derivative.with_saving_loops(self.graph(), &terms).into_iter();
        for term in roots.iter_mut().flat_map(|c| std::iter::once(&mut c.ok).chain(&mut c.shown)) {
            *term = new.next().unwrap_or(*term);
        }
        set_checks(&mut self.checks, &roots);
    }

    /// The terms of all checks, in order.
    pub(super) fn check_terms(&self) -> Vec<Term> {
        let roots = check_roots(&self.checks);
        roots.iter().flat_map(|c| std::iter::once(c.ok).chain(c.shown.iter().copied())).collect()
    }

    /// Replaces the terms of all checks by these terms of one example. `closed` turns a condition
    /// into the condition that it holds in all examples, and returns `None` for a term that is the
    /// same in each example. A value that differs between examples is not shown in the message.
    pub(super) fn for_all_examples(
        &mut self,
        terms: &[Term],
        mut closed: impl FnMut(&mut Graph, Term) -> Option<Term>,
    ) {
        let mut terms = terms.iter().copied();
        let g = &mut self.prepared.program.graph;
        for check in &mut self.checks {
            check.ok = terms.next().unwrap_or(check.ok);
            check.ok = closed(g, check.ok).unwrap_or(check.ok);
            let before = check.shown.len();
            for shown in &mut check.shown {
                shown.1 = terms.next().unwrap_or(shown.1);
            }
            check.shown.retain(|shown| g.free(shown.1).is_empty());
            if check.shown.len() < before {
                check.format = None;
            }
        }
    }

    /// The function's results for a routine with this derivative; and the results as the derivative
    /// computes them, if these are other terms. The former are results of loops that the derivative
    /// runs anyway, or of its counting runs.
    pub(super) fn values(&mut self, derivative: &dyn Derivative) -> (Vec<Term>, Vec<Term>) {
        let own = derivative.values().to_vec();
        if self.prepared.plain == self.results {
            return (own, Vec::new());
        }
        let plain = self.prepared.plain.clone();
        (derivative.with_saving_loops(self.graph(), &plain), own)
    }

    /// The function's results and their gradient, after the passes: what second derivatives are
    /// made of.
    pub(super) fn gradient(&mut self) -> (Vec<Term>, Vec<Term>) {
        let (mode, wrt, results) = (self.mode(), self.wrt(), self.results.clone());
        let g = &mut self.prepared.program.graph;
        let seeds: Vec<Term> = results.iter().map(|&r| g.lit_like(r, 1.0)).collect();
        let (values, derivatives) = modes::reverse(mode, g, &results, &seeds, &wrt);
        let roots = (self.between)(g, Roots { values, derivatives, ..Roots::default() });
        (roots.values, roots.derivatives)
    }

    /// A direction for each active parameter, of its shape, as (input, term). Each one is a further
    /// parameter of the routine.
    pub(super) fn directions(&mut self) -> Vec<(u32, Term)> {
        let Further::Directions(what) = self.further else { return Vec::new() };
        let active = self.active.clone();
        active.iter().filter_map(|p| p.input.map(|k| (k, self.of_active(p, what, false).0))).collect()
    }

    /// A cotangent for each result, of its shape. Each one is a further parameter of the routine.
    pub(super) fn cotangents(&mut self) -> Vec<Term> {
        let like = self.prepared.program.result.clone();
        let outputs = like.leaves().into_iter();
        let given = |out: &ad_ir::program::Output| {
            self.param("cotangent", (out.container, out.lens.clone()), out.term, "the result", false).0
        };
        outputs.map(given).collect()
    }

    /// A parameter of the shape of an active one.
    fn of_active(&mut self, of: &Param, what: &str, written: bool) -> (Term, Ident) {
        let input = of.input.unwrap_or(0);
        let input = self.graph().mk(Node::Input(input));
        let name = format!("{what}_{}", of.name.to_string().trim_start_matches("r#"));
        let shown = format!("`{}`", of.name);
        self.param(&name, (of.container.owned(), of.lens.clone()), input, &shown, written)
    }

    /// A direction, a cotangent or a destination: a further parameter of the shape of `like`, which
    /// is checked at entry.
    fn param(
        &mut self,
        name: &str,
        (container, lens): (Container, Vec<TokenStream>),
        like: Term,
        shown: &str,
        written: bool,
    ) -> (Term, Ident) {
        let g = &mut self.prepared.program.graph;
        let (elem, shape) = (g.elem(like), g.shape(like).to_vec());
        // A size that a loop finds is computed in the routine, so the type of a parameter cannot
        // contain it.
        let found = g.reachable(&shape).iter().any(|&t| matches!(g.node(t), Node::Scan(_)));
        let given = if found { g.add_input(elem, axis(shape.len())) } else { g.add_input_shaped(elem, shape.clone()) };
        let term = if found { g.recast(given, &shape) } else { given };
        let input = match g.node(given) {
            Node::Input(k) => Some(*k),
            _ => None,
        };
        // A parameter is a pattern, and in a pattern the name of a constant means the constant. So
        // the name ends in `_`.
        let mut own = format!("{name}_");
        while self.params.iter().any(|p| p.name == own.as_str()) {
            own.push('_');
        }
        for (k, &size) in shape.iter().enumerate() {
            // A parameter of static size has its size by its type, so the size is not checked.
            let dynamic = container != Container::Static && (k == 0 || lens.is_empty());
            let (Some(input), true) = (input, dynamic) else { continue };
            let there = g.mk(Node::Size(input, axis(k)));
            let ok = g.compare(Cmp::Eq, there, size);
            self.checks.push(Check {
                ok,
                format: None,
                message: format!("`{name}` does not have the shape of {shown} (axis {k})"),
                shown: vec![(format!("`{name}`"), there), (shown.to_string(), size)],
                loc: Loc(0),
                phase: Phase::Entry,
                debug: false,
                incomplete: false,
            });
        }
        let program = &self.prepared.program;
        let passing = container.passing();
        let (ty, passing) = if written {
            let ty = destination_type(program, container, elem, shape.len(), &lens);
            (ty, Passing::reference(passing.owner))
        } else {
            (argument_type(program, container, elem, shape.len(), &lens), passing)
        };
        let name = Ident::new(&own, Span::call_site());
        self.params.push(Param {
            name: name.clone(),
            ty,
            passing,
            container,
            elem,
            rank: axis(shape.len()),
            lens,
            input,
        });
        (term, name)
    }
}
