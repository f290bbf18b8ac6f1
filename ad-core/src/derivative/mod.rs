//! What each derivative is, in terms: which passes it is made of, its further parameters, the structure of its result.
//! Must never hold a rule of differentiation or of simplification.

use std::collections::HashSet;

use proc_macro2::{Ident, Span, TokenStream};

pub(crate) mod jacobian;
pub(crate) mod pullback;

use self::jacobian::Block;
use crate::analysis::decisions::decisions;
use crate::ir::{Graph, Node, Term, valid};
use crate::modes::dual_arrays;
use crate::passes::loops;
use crate::passes::simplify::{self, Trace};
use crate::passes::unroll;
use crate::passes::{associate, hoist, pairs, share};
use crate::pipeline::{Derivative, Log, Prepared};
use crate::prim::Cmp;
use crate::program::{Check, Container, Output, OutputTree, Param, Phase, Program, Routine};
use crate::stage;

/// A derivative before simplification.
struct Made {
    suffix: &'static str,
    /// The function's results.
    values: Vec<Term>,
    /// The same as the derivative itself has them, where that is otherwise: out of loops whose steps were counted before. Nothing returns them, but
    /// what they are decided by the derivative is decided by, and decisions are the function's own.
    shadows: Vec<Term>,
    /// The leaves of the derivative.
    blocks: Vec<Block>,
    /// Whether the function's results are returned as well.
    with_value: bool,
    /// Where the leaves are written to, if they are not returned.
    destinations: Vec<Ident>,
}

/// The stages of one derivative.
pub fn derive(prepared: &mut Prepared, which: Derivative, log: Option<&mut Log>) -> Routine {
    let mut further = Further { params: prepared.program.params.clone(), checks: prepared.program.checks.clone() };
    let mut trace = Trace::new();
    stage::enter("differentiation");
    let Made { suffix, values, shadows, blocks, with_value, destinations } =
        made(prepared, which, &mut further, &mut trace);
    let Further { params, mut checks } = further;
    let program = &mut prepared.program;
    let g = &mut program.graph;
    let mut roots = values.clone();
    roots.extend(shadows);
    let primal = roots.len();
    roots.extend(blocks.iter().flat_map(|b| &b.terms));
    let outputs = roots.len();
    for check in &checks {
        roots.push(check.ok);
        roots.extend(check.shown.iter().map(|s| s.1));
    }
    stage::enter("simplification of the derivative");
    let simple = simplified(g, &roots, (primal, outputs), &prepared.exact, &mut trace);
    // Simplified anew, what decisions depend on may have other handles; the derivative's own masks are no decisions of the function.
    // So may what each of these leaves: a decision reads one of two ways to compute a number, and the other one is changed.
    let exact_of = |g: &Graph, roots: &[Term]| own_decisions(g, roots, primal, outputs);
    let exact = exact_of(g, &simple);
    let own: Vec<Term> = simple[..primal].iter().chain(&simple[outputs..]).copied().collect();
    let simple = share::share(g, &simple, &exact, &own);
    let exact = exact_of(g, &simple);
    let simple = associate::associate(g, &simple, &exact);
    let exact = exact_of(g, &simple);
    let simple = hoist::hoist(g, &simple, &exact);
    let exact = exact_of(g, &simple);
    let own: Vec<Term> = simple[..primal].iter().chain(&simple[outputs..]).copied().collect();
    let simple = pairs::pairs(g, &simple, &exact, &own);
    let exact = exact_of(g, &simple);
    debug_assert_eq!(valid::validate(g, &simple), Ok(()), "after {suffix}");
    if let Some(log) = log {
        log.terms(&format!("{suffix}, as differentiated"), g, &roots, &program.hints);
        log.terms(&format!("{suffix}, simplified"), g, &simple, &program.hints);
        log.stages.push((format!("{suffix}: rules that fired"), format!("{trace:?}")));
    }
    let mut rest = simple[outputs..].iter().copied();
    for check in &mut checks {
        check.ok = rest.next().unwrap_or(check.ok);
        for shown in &mut check.shown {
            shown.1 = rest.next().unwrap_or(shown.1);
        }
    }
    let mut terms = simple[..values.len()].iter().chain(&simple[primal..outputs]).copied();
    let value = program.result.with_terms(&mut (&mut terms).take(values.len()));
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
        name: quote::format_ident!("{}_{}", program.name, suffix, span = program.name.span()),
        docs: docs(program, which),
        result,
        params,
        checks,
        destinations,
        own: Some(exact),
    }
}

/// The terms of one derivative.
fn made(prepared: &mut Prepared, which: Derivative, further: &mut Further, trace: &mut Trace) -> Made {
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
            Made {
                suffix: "value_and_grad",
                values: values(g, &prepared.plain, &results, &derivative),
                blocks: gradients(found),
                shadows: shadows(&prepared.plain, &results, &derivative),
                with_value: true,
                destinations: Vec::new(),
            }
        }
        Derivative::Into => {
            let destinations = active.iter().map(|p| further.destination(program, p)).collect();
            let made = made(prepared, Derivative::ValueAndGrad, further, trace);
            Made { suffix: "value_and_grad_into", destinations, ..made }
        }
        Derivative::Vjp => {
            let like: Vec<Output> = program.result.leaves().into_iter().cloned().collect();
            let seeds: Vec<Term> = like.iter().map(|out| further.cotangent(program, out)).collect();
            let g = &mut program.graph;
            let derivative = dual_arrays::Derivative::of(g, &results, &wrt);
            let found = derivative.gradients(g, &seeds);
            further.share_loops(g, &derivative);
            let values = values(g, &prepared.plain, &results, &derivative);
            let shadows = shadows(&prepared.plain, &results, &derivative);
            Made {
                suffix: "vjp",
                values,
                shadows,
                blocks: gradients(found),
                with_value: true,
                destinations: Vec::new(),
            }
        }
        Derivative::Jvp => {
            let seeds = further.along(program, &active, "tangent");
            let (values, tangents) = dual_arrays::forward(&mut program.graph, &results, &seeds);
            let leaves = program.result.leaves();
            let whole = leaves.iter().zip(tangents).map(|(out, t)| Block::whole(t, out.container, out.lens.clone()));
            Made {
                suffix: "jvp",
                values,
                blocks: whole.collect(),
                with_value: true,
                destinations: Vec::new(),
                shadows: Vec::new(),
            }
        }
        Derivative::ValueAndJacobian => {
            let (values, blocks) = jacobian::jacobian(program, &results, &active);
            Made {
                suffix: "value_and_jacobian",
                values,
                blocks,
                with_value: true,
                destinations: Vec::new(),
                shadows: Vec::new(),
            }
        }
        // Forward over reverse: the gradient is a program like any other.
        Derivative::Hvp => {
            let (values, gradient) = gradient(prepared, &results, &wrt, trace);
            let program = &mut prepared.program;
            let seeds = further.along(program, &active, "direction");
            let (_, tangents) = dual_arrays::forward(&mut program.graph, &gradient, &seeds);
            Made {
                suffix: "hvp",
                values,
                blocks: gradients(tangents),
                with_value: false,
                destinations: Vec::new(),
                shadows: Vec::new(),
            }
        }
        Derivative::Hessian => {
            let (values, gradient) = gradient(prepared, &results, &wrt, trace);
            let blocks = jacobian::hessian(&mut prepared.program, &gradient, &active);
            Made { suffix: "hessian", values, blocks, with_value: false, destinations: Vec::new(), shadows: Vec::new() }
        }
    }
}

/// The function's results beside a derivative of them: out of the loops that it runs anyway, or that count the steps of its loops.
fn values(g: &mut Graph, plain: &[Term], results: &[Term], derivative: &dual_arrays::Derivative) -> Vec<Term> {
    if plain == results { derivative.values().to_vec() } else { derivative.beside(g, plain) }
}

/// The function's results as the derivative has them, where [`values`] are others.
fn shadows(plain: &[Term], results: &[Term], derivative: &dual_arrays::Derivative) -> Vec<Term> {
    if plain == results { Vec::new() } else { derivative.values().to_vec() }
}

/// The function and its gradient, simplified: what second derivatives are made of.
fn gradient(prepared: &mut Prepared, results: &[Term], wrt: &[u32], trace: &mut Trace) -> (Vec<Term>, Vec<Term>) {
    let g = &mut prepared.program.graph;
    let seeds: Vec<Term> = results.iter().map(|&r| g.lit_like(r, 1.0)).collect();
    let (mut roots, found) = dual_arrays::reverse(g, results, &seeds, wrt);
    let values = roots.len();
    roots.extend(found);
    let outputs = roots.len();
    let mut simple = simplified(g, &roots, (values, outputs), &prepared.exact, trace);
    let gradient = simple.split_off(values);
    (simple, gradient)
}

/// Simplification and unrolling of a derivative.
fn simplified(
    g: &mut Graph,
    roots: &[Term],
    (values, outputs): (usize, usize),
    exact: &HashSet<Term>,
    trace: &mut Trace,
) -> Vec<Term> {
    // Differentiation has made other loops of those whose steps it saves something of.
    let mut before = own_decisions(g, roots, values, outputs);
    before.extend(exact);
    let mut simple = simplify::simplify_with(g, roots, &before, trace);
    let mut exact = own_decisions(g, &simple, values, outputs);
    // What in the loops of the derivative carries nothing is no loop.
    let apart = loops::pass(g, &simple, &exact);
    if apart != simple {
        exact = own_decisions(g, &apart, values, outputs);
        simple = simplify::simplify_with(g, &apart, &exact, trace);
        exact = own_decisions(g, &simple, values, outputs);
    }
    let blocks = loops::in_blocks(g, &simple, &exact);
    if blocks != simple {
        exact = own_decisions(g, &blocks, values, outputs);
        simple = simplify::simplify_with(g, &blocks, &exact, trace);
        exact = own_decisions(g, &simple, values, outputs);
    }
    let again = loops::rows_again(g, &simple, &exact);
    if again != simple {
        exact = own_decisions(g, &again, values, outputs);
        simple = simplify::simplify_with(g, &again, &exact, trace);
        exact = own_decisions(g, &simple, values, outputs);
    }
    let unrolled = unroll::unroll(g, &simple, &exact);
    if unrolled == simple {
        return simple;
    }
    let exact = own_decisions(g, &unrolled, values, outputs);
    simplify::simplify_with(g, &unrolled, &exact, trace)
}

/// What decisions of the function depend on: of its value and its checks, not of its derivatives between the two.
fn own_decisions(g: &Graph, roots: &[Term], values: usize, outputs: usize) -> HashSet<Term> {
    let function: Vec<Term> = roots[..values].iter().chain(&roots[outputs..]).copied().collect();
    decisions(g, &function)
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
