//! What each derivative is, in terms: which passes it is made of, its further parameters, the structure of its result.
//! Must never hold a rule of differentiation or of simplification.

use std::collections::HashSet;

use proc_macro2::{Ident, Span, TokenStream};

pub(crate) mod jacobian;
pub(crate) mod pullback;

use self::jacobian::Block;
use crate::ir::{Graph, Node, Term};
use crate::modes::dual_arrays;
use crate::passes::Roots;
use crate::pipeline::{Derivative, Prepared, check_roots, set_checks};
use crate::prim::Cmp;
use crate::program::{Check, Container, Output, OutputTree, Param, Phase, Program, Routine};

/// A derivative as it is differentiated.
pub(crate) struct Made {
    /// All roots: the function's results and checks, and the terms of the leaves.
    pub(crate) roots: Roots,
    /// The leaves of the derivative.
    blocks: Vec<Block>,
    /// Whether the function's results are returned as well.
    with_value: bool,
    /// Where the leaves are written to, if they are not returned.
    destinations: Vec<Ident>,
    further: Further,
}

/// A derivative, without its checks, before the passes.
struct Recipe {
    /// The function's results, as the routine returns them.
    values: Vec<Term>,
    /// The same as the derivative itself has them, where that is otherwise.
    differentiated: Vec<Term>,
    blocks: Vec<Block>,
    with_value: bool,
    destinations: Vec<Ident>,
}

/// The passes over a derivative of which another one is taken.
pub(crate) type Between<'a> = dyn FnMut(&mut Graph, Roots) -> Roots + 'a;

/// The terms of one derivative. `between` runs the passes over a gradient that is differentiated once more.
pub(crate) fn made(prepared: &mut Prepared, which: Derivative, between: &mut Between<'_>) -> Made {
    let mut further = Further { params: prepared.program.params.clone(), checks: prepared.program.checks.clone() };
    let Recipe { values, differentiated, blocks, with_value, destinations } =
        recipe(prepared, which, &mut further, between);
    let derivatives = blocks.iter().flat_map(|b| &b.terms).copied().collect();
    let roots = Roots { values, differentiated, derivatives, checks: check_roots(&further.checks), ..Roots::default() };
    Made { roots, blocks, with_value, destinations, further }
}

/// The routine of a derivative, given what the passes have made of its roots and what is exact in it.
pub(crate) fn routine(
    prepared: &mut Prepared,
    which: Derivative,
    made: Made,
    roots: &Roots,
    exact: HashSet<Term>,
) -> Routine {
    let Made { blocks, with_value, destinations, further: Further { params, mut checks }, .. } = made;
    let program = &mut prepared.program;
    set_checks(&mut checks, &roots.checks);
    let value = program.result.with_terms(&mut roots.values.iter().copied());
    let mut terms = roots.derivatives.iter().copied();
    let mut leaves = Vec::new();
    for block in blocks {
        let parts: Vec<Term> = (&mut terms).take(block.terms.len()).collect();
        leaves.push(OutputTree::Leaf(block.assemble(&mut program.graph, &parts)));
    }
    let derived = if which == Derivative::Jvp {
        let terms: Vec<Term> = leaves.iter().flat_map(OutputTree::terms).collect();
        program.result.with_terms(&mut terms.into_iter())
    } else if leaves.len() == 1 {
        leaves.remove(0)
    } else {
        OutputTree::Tuple(leaves)
    };
    let result = if with_value { OutputTree::Tuple(vec![value, derived]) } else { derived };
    Routine {
        result_ty: crate::rust_types::tree_type(
            program,
            if destinations.is_empty() { &result } else { &program.result },
        ),
        name: quote::format_ident!("{}_{}", program.name, which.suffix(), span = program.name.span()),
        docs: docs(program, which),
        result,
        params,
        checks,
        destinations,
        own: Some(exact),
    }
}

/// What one derivative is made of.
fn recipe(prepared: &mut Prepared, which: Derivative, further: &mut Further, between: &mut Between<'_>) -> Recipe {
    let program = &mut prepared.program;
    let results = program.result.terms();
    let active: Vec<Param> = program.active.iter().map(|&k| program.params[k].clone()).collect();
    let wrt: Vec<u32> = active.iter().filter_map(|p| p.input).collect();
    let gradients = |terms: Vec<Term>| -> Vec<Block> {
        active.iter().zip(terms).map(|(p, t)| Block::whole(t, p.container, p.lens.clone())).collect()
    };
    match which {
        Derivative::ValueAndGrad => {
            let g = &mut program.graph;
            let seeds: Vec<Term> = results.iter().map(|&r| g.lit_like(r, 1.0)).collect();
            let derivative = dual_arrays::Derivative::of(g, &results, &wrt);
            let found = derivative.gradients(g, &seeds);
            further.share_loops(g, &derivative);
            Recipe {
                values: values(g, &prepared.plain, &results, &derivative),
                differentiated: differentiated(&prepared.plain, &results, &derivative),
                blocks: gradients(found),
                with_value: true,
                destinations: Vec::new(),
            }
        }
        Derivative::Into => {
            let destinations = active.iter().map(|p| further.destination(program, p)).collect();
            let made = recipe(prepared, Derivative::ValueAndGrad, further, between);
            Recipe { destinations, ..made }
        }
        Derivative::Vjp => {
            let like: Vec<Output> = program.result.leaves().into_iter().cloned().collect();
            let seeds: Vec<Term> = like.iter().map(|out| further.cotangent(program, out)).collect();
            let g = &mut program.graph;
            let derivative = dual_arrays::Derivative::of(g, &results, &wrt);
            let found = derivative.gradients(g, &seeds);
            further.share_loops(g, &derivative);
            let values = values(g, &prepared.plain, &results, &derivative);
            let differentiated = differentiated(&prepared.plain, &results, &derivative);
            Recipe { values, differentiated, blocks: gradients(found), with_value: true, destinations: Vec::new() }
        }
        Derivative::Jvp => {
            let seeds = further.along(program, &active, "tangent");
            let (values, tangents) = dual_arrays::forward(&mut program.graph, &results, &seeds);
            let leaves = program.result.leaves();
            let whole = leaves.iter().zip(tangents).map(|(out, t)| Block::whole(t, out.container, out.lens.clone()));
            Recipe {
                values,
                blocks: whole.collect(),
                with_value: true,
                destinations: Vec::new(),
                differentiated: Vec::new(),
            }
        }
        Derivative::ValueAndJacobian => {
            let (values, blocks) = jacobian::jacobian(program, &results, &active);
            Recipe { values, blocks, with_value: true, destinations: Vec::new(), differentiated: Vec::new() }
        }
        // Forward over reverse: the gradient is a program like any other.
        Derivative::Hvp => {
            let (values, gradient) = gradient(prepared, &results, &wrt, between);
            let program = &mut prepared.program;
            let seeds = further.along(program, &active, "direction");
            let (_, tangents) = dual_arrays::forward(&mut program.graph, &gradient, &seeds);
            Recipe {
                values,
                blocks: gradients(tangents),
                with_value: false,
                destinations: Vec::new(),
                differentiated: Vec::new(),
            }
        }
        Derivative::Hessian => {
            let (values, gradient) = gradient(prepared, &results, &wrt, between);
            let blocks = jacobian::hessian(&mut prepared.program, &gradient, &active);
            Recipe { values, blocks, with_value: false, destinations: Vec::new(), differentiated: Vec::new() }
        }
    }
}

/// The function's results beside a derivative of them: out of the loops that it runs anyway, or that count the steps of its loops.
fn values(g: &mut Graph, plain: &[Term], results: &[Term], derivative: &dual_arrays::Derivative) -> Vec<Term> {
    if plain == results { derivative.values().to_vec() } else { derivative.beside(g, plain) }
}

/// The function's results as the derivative has them, where [`values`] are others.
fn differentiated(plain: &[Term], results: &[Term], derivative: &dual_arrays::Derivative) -> Vec<Term> {
    if plain == results { Vec::new() } else { derivative.values().to_vec() }
}

/// The function and its gradient after the passes: what second derivatives are made of.
fn gradient(
    prepared: &mut Prepared,
    results: &[Term],
    wrt: &[u32],
    between: &mut Between<'_>,
) -> (Vec<Term>, Vec<Term>) {
    let g = &mut prepared.program.graph;
    let seeds: Vec<Term> = results.iter().map(|&r| g.lit_like(r, 1.0)).collect();
    let (values, derivatives) = dual_arrays::reverse(g, results, &seeds, wrt);
    let roots = between(g, Roots { values, derivatives, ..Roots::default() });
    (roots.values, roots.derivatives)
}

/// Parameters and checks of a routine.
struct Further {
    params: Vec<Param>,
    checks: Vec<Check>,
}

impl Further {
    /// The checks as terms over the loops that the derivative runs anyway.
    fn share_loops(&mut self, g: &mut Graph, derivative: &dual_arrays::Derivative) {
        let terms: Vec<Term> =
            self.checks.iter().flat_map(|c| std::iter::once(c.ok).chain(c.shown.iter().map(|s| s.1))).collect();
        let mut new = derivative.beside(g, &terms).into_iter();
        for check in &mut self.checks {
            check.ok = new.next().unwrap_or(check.ok);
            for shown in &mut check.shown {
                shown.1 = new.next().unwrap_or(shown.1);
            }
        }
    }

    /// One parameter for each active one, of its shape: (input, term).
    fn along(&mut self, program: &mut Program, active: &[Param], what: &str) -> Vec<(u32, Term)> {
        let mut seeds = Vec::new();
        for param in active {
            let Some(k) = param.input else { continue };
            let input = program.graph.mk(Node::Input(k));
            let name = format!("{what}_{}", param.name.to_string().trim_start_matches("r#"));
            let shown = format!("`{}`", param.name);
            let container = (param.container.owned(), param.lens.clone());
            seeds.push((k, self.param(program, &name, container, input, &shown, false).0));
        }
        seeds
    }

    fn cotangent(&mut self, program: &mut Program, out: &Output) -> Term {
        self.param(program, "cotangent", (out.container, out.lens.clone()), out.term, "the result", false).0
    }

    /// Where the gradient of a parameter is written to.
    fn destination(&mut self, program: &mut Program, of: &Param) -> Ident {
        let name = format!("grad_{}", of.name.to_string().trim_start_matches("r#"));
        let k = of.input.unwrap_or(0);
        let input = program.graph.mk(Node::Input(k));
        let shown = format!("`{}`", of.name);
        self.param(program, &name, (of.container.owned(), of.lens.clone()), input, &shown, true).1
    }

    /// A tangent, a cotangent or a destination: a further parameter of the shape of `like`, which is checked at entry.
    fn param(
        &mut self,
        program: &mut Program,
        name: &str,
        (container, lens): (Container, Vec<TokenStream>),
        like: Term,
        shown: &str,
        written: bool,
    ) -> (Term, Ident) {
        let g = &mut program.graph;
        let (elem, shape) = (g.elem(like), g.shape(like).to_vec());
        // A size that a loop finds is computed in the routine: the type of a parameter cannot have it.
        let found = g.reachable(&shape).iter().any(|&t| matches!(g.node(t), Node::Scan(_)));
        let given = if found {
            g.add_input(elem, crate::ir::axis(shape.len()))
        } else {
            g.add_input_shaped(elem, shape.clone())
        };
        let term = if found { g.recast(given, &shape) } else { given };
        let input = match g.node(given) {
            Node::Input(k) => Some(*k),
            _ => None,
        };
        // A parameter is a pattern: a constant of its name would be meant instead.
        let mut own = format!("{name}_");
        while self.params.iter().any(|p| p.name == own.as_str()) {
            own.push('_');
        }
        for (axis, &size) in shape.iter().enumerate() {
            // What has a static size has it by its type.
            let (Some(k), false) = (input, container == Container::Static) else { continue };
            let there = g.mk(Node::Size(k, crate::ir::axis(axis)));
            let ok = g.compare(Cmp::Eq, there, size);
            self.checks.push(Check {
                ok,
                format: None,
                message: format!("`{name}` does not have the shape of {shown} (axis {axis})"),
                shown: vec![(format!("`{name}`"), there), (shown.to_string(), size)],
                loc: crate::ir::Loc(0),
                phase: Phase::Entry,
                debug: false,
            });
        }
        let ty = if written {
            crate::rust_types::destination_type(program, container, elem, shape.len(), &lens)
        } else {
            crate::rust_types::argument_type(program, container, elem, shape.len(), &lens)
        };
        let name = Ident::new(&own, Span::call_site());
        self.params.push(Param {
            name: name.clone(),
            ty,
            container,
            elem,
            rank: crate::ir::axis(shape.len()),
            lens,
            input,
        });
        (term, name)
    }
}

fn docs(program: &Program, which: Derivative) -> Vec<String> {
    let f = &program.name;
    let names: Vec<String> = program.active.iter().map(|&k| format!("`{}`", program.params[k].name)).collect();
    let names = names.join(", ");
    let first = match which {
        Derivative::ValueAndGrad => format!("The value of [`{f}`] and its gradient with respect to {names}."),
        Derivative::Into => {
            format!("The value of [`{f}`]; its gradient with respect to {names} overwrites the last arguments.")
        }
        Derivative::Vjp => format!(
            "The value of [`{f}`] and the cotangents of {names}: the transposed Jacobian applied to `cotangent_`."
        ),
        Derivative::Jvp => {
            format!("The value of [`{f}`] and its tangent: the Jacobian applied to tangents of {names}.")
        }
        Derivative::ValueAndJacobian => format!(
            "The value of [`{f}`] and its Jacobian with respect to {names}: indices of the result first, then those of the parameter."
        ),
        Derivative::Hvp => {
            format!("The Hessian of [`{f}`] with respect to {names}, applied to directions of these.")
        }
        Derivative::Hessian => {
            format!("The Hessian of [`{f}`] with respect to {names}: the parameter's indices twice.")
        }
    };
    with_panics(program, first)
}

/// Documentation with this first line.
pub(super) fn with_panics(program: &Program, first: String) -> Vec<String> {
    let panics = format!("Where [`{}`] does, and if the sizes of the arguments do not fit together.", program.name);
    vec![first, String::new(), "# Panics".into(), panics]
}
