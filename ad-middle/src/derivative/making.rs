//! The state that recipes work on: the function, its active parameters, and the parameters and
//! checks that the derivative adds. This module must never know which derivative is made.

use proc_macro2::{Ident, Span, TokenStream};

use super::{Prepared, check_roots, set_checks};
use crate::modes::{self, Derivative};
use crate::passes::Roots;
use ad_ir::catalogue;
use ad_ir::descriptor::Further;
use ad_ir::ir::{Graph, Loc, Node, Term, axis};
use ad_ir::mode::Mode;
use ad_ir::prim::{Cmp, Reduce};
use ad_ir::program::{
    Check, Container, Declared, Output, Param, ParamTree, Passing, Phase, RaggedPart, Role, Tree, element_of,
};
use ad_ir::rust_types::{Passed, argument_type, destination_type, owned_type, type_of, written_tree_type};

/// The passes over a derivative that is differentiated again.
pub(crate) type InnerPasses<'a> = dyn FnMut(&mut Graph, Roots) -> Roots + 'a;

/// The use that a routine makes of a further parameter.
#[derive(Clone, Copy, PartialEq, Eq)]
enum ParameterUse {
    /// It reads the parameter.
    Read,
    /// It writes each leaf in its place.
    Write,
    /// It replaces the whole value, since not all leaves have places of their own.
    Replace,
}

/// The state of a recipe.
pub(crate) struct DerivativeBuilder<'a> {
    pub(super) prepared: &'a mut Prepared,
    /// The function's results that are differentiated.
    pub(super) results: Vec<Term>,
    /// The active parameters.
    pub(super) active: Vec<Param>,
    further: Further,
    between: &'a mut dyn FnMut(&mut Graph, Roots) -> Roots,
    declared: Vec<Declared>,
    params: Vec<Param>,
    checks: Vec<Check>,
    destinations: Vec<Ident>,
}

impl<'a> DerivativeBuilder<'a> {
    /// The state for a derivative with these further parameters.
    pub(super) fn new(prepared: &'a mut Prepared, further: Further, between: &'a mut InnerPasses<'_>) -> Self {
        let program = &prepared.program;
        let mut making = DerivativeBuilder {
            results: program.differentiated().terms(),
            active: program.active.iter().map(|&k| program.params[k].clone()).collect(),
            declared: program.declared.clone(),
            params: program.params.clone(),
            checks: program.checks.clone(),
            destinations: Vec::new(),
            prepared,
            further,
            between,
        };
        if further == Further::Destinations {
            making.destinations =
                making.of_active("grad", ParameterUse::Write).into_iter().map(|(_, name)| name).collect();
        }
        making
    }

    /// Parameters, checks and destinations of the routine.
    pub(super) fn finish(self) -> (Vec<Declared>, Vec<Param>, Vec<Check>, Vec<Ident>) {
        (self.declared, self.params, self.checks, self.destinations)
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
        let (all, plain) = (self.prepared.program.result.terms(), self.prepared.plain.clone());
        if plain == all {
            return (self.own_values(derivative), Vec::new());
        }
        (derivative.with_saving_loops(self.graph(), &plain), derivative.values().to_vec())
    }

    /// The function's results as the derivative computes them. Those that are not differentiated
    /// read its loops.
    pub(super) fn own_values(&mut self, derivative: &dyn Derivative) -> Vec<Term> {
        let mut own = derivative.values().to_vec();
        let all = self.prepared.program.result.terms();
        if let Some(others) = all.get(own.len()..).filter(|others| !others.is_empty()) {
            own.extend(derivative.with_saving_loops(self.graph(), others));
        }
        own
    }

    /// The function's results and their gradient, after the passes. Second derivatives are
    /// derivatives of these terms.
    pub(super) fn gradient(&mut self) -> (Vec<Term>, Vec<Term>) {
        let (mode, wrt, results) = (self.mode(), self.wrt(), self.results.clone());
        let g = &mut self.prepared.program.graph;
        let seeds: Vec<Term> = results.iter().map(|&r| g.lit_like(r, 1.0)).collect();
        let (values, derivatives) = modes::reverse(mode, g, &results, &seeds, &wrt);
        let roots = (self.between)(g, Roots { values, derivatives, ..Roots::default() });
        (roots.values, roots.derivatives)
    }

    /// A direction for each active parameter, of its shape, as (input, term). Each declared one is
    /// a further parameter of the routine.
    pub(super) fn directions(&mut self) -> Vec<(u32, Term)> {
        let Further::Directions(what) = self.further else { return Vec::new() };
        let inputs = self.wrt();
        let given = self.of_active(what, ParameterUse::Read).into_iter().filter_map(|(term, _)| term);
        inputs.into_iter().zip(given).collect()
    }

    /// A cotangent for each result, of its shape: a further parameter of the routine. That of a
    /// result that is not real is not read.
    pub(super) fn cotangents(&mut self) -> Vec<Term> {
        let result = self.prepared.program.differentiated().clone();
        let like = result.map(&mut |out| Counterpart {
            container: out.container,
            lens: out.lens.clone(),
            term: out.term,
            role: out.role,
            label: "the result".into(),
        });
        let given = self.further("cotangent", &like, ParameterUse::Read);
        let terms = result.terms().into_iter().zip(given);
        terms.map(|(result, (given, _))| given.unwrap_or_else(|| self.graph().zeros_like(result))).collect()
    }

    /// A parameter for each declared active one. Returns those of its leaves that are real; of a
    /// destination, those of all leaves.
    fn of_active(&mut self, what: &str, used: ParameterUse) -> Vec<(Option<Term>, Ident)> {
        let wrt: Vec<Declared> = self.prepared.program.wrt.iter().map(|&k| self.declared[k].clone()).collect();
        let mut all = Vec::new();
        for of in wrt {
            let name = format!("{what}_{}", of.name.to_string().trim_start_matches("r#"));
            let like = of.parts.tree().map(&mut |&k| {
                let own = self.params[k].clone();
                let term = self.graph().mk(Node::Input(own.input.unwrap_or(0)));
                let (container, label) = (own.container.owned(), format!("`{}`", own.label));
                Counterpart { container, lens: own.lens, term, role: own.role, label }
            });
            let used = if used == ParameterUse::Write && !like.has_places() { ParameterUse::Replace } else { used };
            all.extend(self.further(&name, &like, used));
        }
        all.retain(|(term, _)| used != ParameterUse::Read || term.is_some());
        all
    }

    /// Adds a parameter for a direction, a cotangent or a destination. It has the structure and the
    /// shapes of `like`; the shapes are checked at entry. A part that is not real is given a term
    /// only if it is written in its place.
    fn further(&mut self, name: &str, like: &Tree<Counterpart>, used: ParameterUse) -> Vec<(Option<Term>, Ident)> {
        // A parameter is a pattern, and in a pattern the name of a constant means the constant. So
        // the name ends in `_`.
        let mut own = format!("{name}_");
        let taken = |own: &String| {
            self.params.iter().any(|p| p.name == own.as_str()) || self.declared.iter().any(|p| p.name == own.as_str())
        };
        while taken(&own) {
            own.push('_');
        }
        let mut leaves = Vec::new();
        let (name_in_rust, parts) =
            (Ident::new(&own, Span::call_site()), self.parts(&own, name, (like, false), used, &mut leaves));
        let program = &self.prepared.program;
        let g = &program.graph;
        let ty = match like {
            Tree::Leaf(like) if used != ParameterUse::Read => {
                destination_type(program, like.container, g.elem(like.term), g.rank(like.term), &like.lens)
            }
            Tree::Tuple(_) | Tree::List(..) | Tree::Ragged(..) | Tree::Defined(..) if used != ParameterUse::Read => {
                let output = |like: &Counterpart| Output {
                    term: like.term,
                    container: like.container,
                    lens: like.lens.clone(),
                    role: like.role,
                };
                written_tree_type(program, &like.map(&mut |like| output(like)))
            }
            _ => type_of(&program.krate, like, Passed::Borrowed, &mut |like, lists| {
                let (elem, rank) = (g.elem(like.term), g.rank(like.term));
                let (container, rank, lens) = element_of((like.container, rank, &like.lens), lists);
                // A list owns its elements.
                let ty = if lists > 0 { owned_type } else { argument_type };
                ty(program, container, elem, rank, &lens)
            }),
        };
        self.declared.push(Declared { name: name_in_rust, label: name.to_string(), ty, parts });
        leaves
    }

    /// Adds the leaves of a further parameter. `defined`: they are inside of a user-defined type.
    fn parts(
        &mut self,
        own: &str,
        label: &str,
        (like, defined): (&Tree<Counterpart>, bool),
        used: ParameterUse,
        leaves: &mut Vec<(Option<Term>, Ident)>,
    ) -> ParamTree {
        match like {
            Tree::Leaf(like) => {
                let name = Ident::new(own, Span::call_site());
                let real = self.prepared.program.graph.elem(like.term).is_real() && like.role == Role::Data;
                let passing = if defined { like.container.taken() } else { like.container.passing() };
                let passing = if used != ParameterUse::Read { Passing::reference(passing.owner) } else { passing };
                let term = self.leaf(&name, label, (like, passing), (used, real));
                leaves.push((term, name));
                ParamTree::Leaf(self.params.len() - 1)
            }
            Tree::Tuple(parts) => {
                let part = |(k, part): (usize, &Tree<Counterpart>)| {
                    let mut name = format!("{}_{k}_", own.trim_end_matches('_'));
                    while self.params.iter().any(|p| p.name == name.as_str()) {
                        name.push('_');
                    }
                    self.parts(&name, &format!("{label}.{k}"), (part, defined), used, leaves)
                };
                let parts = parts.iter().enumerate().map(part).collect();
                ParamTree::Tuple { references: 0, is_static: false, parts }
            }
            Tree::Ragged(of, parts) => {
                let part = |(part, tree): (RaggedPart, &Tree<Counterpart>)| {
                    // The list keeps its name while its parts are taken.
                    let what = match part {
                        RaggedPart::Elements => "elements".to_string(),
                        RaggedPart::Starts => "starts".to_string(),
                        RaggedPart::Sizes(k) => format!("sizes{k}"),
                        RaggedPart::Most(k) => format!("most{k}"),
                    };
                    let mut name = format!("{}_{what}_", own.trim_end_matches('_'));
                    while self.params.iter().any(|p| p.name == name.as_str()) {
                        name.push('_');
                    }
                    self.parts(&name, label, (tree, defined), used, leaves)
                };
                let parts = of.parts().zip(parts).map(part).collect();
                ParamTree::Ragged(of.clone(), parts)
            }
            Tree::List(of, element) => {
                let element = self.parts(own, label, (element, defined), used, leaves).into();
                ParamTree::List { passing: of.passing(), of: of.clone(), element }
            }
            Tree::Defined(of, inner) => {
                let inner = self.parts(own, label, (inner, true), used, leaves).into();
                ParamTree::Defined { references: 1, is_static: false, of: of.clone(), inner }
            }
        }
    }

    /// A number or array of a further parameter, and its term.
    fn leaf(
        &mut self,
        name: &Ident,
        label: &str,
        (like, passing): (&Counterpart, Passing),
        (used, real): (ParameterUse, bool),
    ) -> Option<Term> {
        let Counterpart { container, lens, .. } = like;
        let container = *container;
        let g = &mut self.prepared.program.graph;
        let (elem, shape) = (g.elem(like.term), g.shape(like.term).to_vec());
        let rank = axis(shape.len());
        let mut param = Param {
            name: name.clone(),
            label: label.to_string(),
            passing,
            container,
            elem,
            rank,
            lens: lens.clone(),
            input: None,
            role: like.role,
        };
        let is_tag = matches!(like.role, Role::Tag | Role::Sizes);
        if used == ParameterUse::Replace || (used == ParameterUse::Read && !real && !is_tag) {
            self.params.push(param);
            return None;
        }
        // A size that a loop finds is computed in the routine, so the type of a parameter cannot
        // contain it.
        let found = g.reachable(&shape).iter().any(|&t| matches!(g.node(t), Node::Scan(_)));
        let given = if found { g.add_input(elem, axis(shape.len())) } else { g.add_input_shaped(elem, shape.clone()) };
        let term = if found { g.recast(given, &shape) } else { given };
        let input = match g.node(given) {
            Node::Input(k) => Some(*k),
            _ => None,
        };
        for (k, &size) in shape.iter().enumerate() {
            // A parameter of static size has its size by its type, so the size is not checked. A
            // slice of numbers with several axes is the compiler's own, and is as long as it says.
            let flat = container == Container::Slice && lens.is_empty() && shape.len() > 1;
            let dynamic = container != Container::Static && (k == 0 || lens.is_empty()) && !flat;
            let (Some(input), true) = (input, dynamic) else { continue };
            let there = g.mk(Node::Size(input, axis(k)));
            let ok = g.compare(Cmp::Eq, there, size);
            self.checks.push(Check {
                ok,
                format: None,
                message: format!("`{label}` does not have the shape of {} (axis {k})", like.label),
                shown: vec![(format!("`{label}`"), there), (like.label.clone(), size)],
                loc: Loc(0),
                phase: Phase::Entry,
                debug: false,
                incomplete: false,
            });
        }
        param.input = input;
        self.params.push(param);
        if is_tag && used == ParameterUse::Read {
            self.same_variant(label, like, term);
            return None;
        }
        Some(term)
    }

    /// Checks that a further parameter is of the variant that its counterpart is, or that its
    /// arrays have the sizes of those of its counterpart.
    fn same_variant(&mut self, label: &str, like: &Counterpart, tag: Term) {
        let g = &mut self.prepared.program.graph;
        let mut ok = g.compare(Cmp::Eq, tag, like.term);
        let rank = g.rank(ok);
        if rank > 0 {
            ok = g.reduce(Reduce::All, rank, ok);
        }
        let message = match like.role {
            Role::Sizes => catalogue::reached::other_shapes(label, &like.label),
            // The tag is the first part of an enum.
            _ => {
                let whole = label.rsplit_once('.').map_or(label, |(whole, _)| whole);
                catalogue::reached::other_variant(whole, &like.label)
            }
        };
        self.checks.push(Check {
            ok,
            format: None,
            message,
            shown: Vec::new(),
            loc: Loc(0),
            phase: Phase::Reached,
            debug: false,
            incomplete: false,
        });
    }
}

/// The model for a part of a further parameter: an active parameter or a result.
struct Counterpart {
    container: Container,
    lens: Vec<TokenStream>,
    term: Term,
    role: Role,
    label: String,
}
