//! The stages of the compiler, in order, as functions from terms to terms.
//!
//! ```text
//! source ──bot──▶ bulk ──simplify, push, unroll──▶ primal ──dual, transpose──▶ gradient ──simplify, unroll──▶ routine
//! ```
//!
//! Every stage can be printed (`AD_DUMP`) and is checked by the validator in debug builds. It holds no rule of its own.

use std::collections::{BTreeMap, HashSet};
use std::fmt::Write as _;

use proc_macro2::TokenStream;

use crate::ad;
use crate::bot;
use crate::ir::{Graph, Node, Term, print, valid};
use crate::program::{Check, Container, Output, OutputTree, Param, Phase, Program, Routine};
use crate::simplify::{self, Trace};
use crate::stage;
use crate::unroll;

/// Which derivative a routine computes.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Derivative {
    /// `f_value_and_grad`.
    ValueAndGrad,
    /// `f_vjp`.
    Vjp,
    /// `f_jvp`.
    Jvp,
}

/// A record of what each stage made, for `AD_DUMP`, tests and the curious.
#[derive(Debug, Default)]
pub struct Log {
    /// (stage, text) in order.
    pub stages: Vec<(String, String)>,
}

impl Log {
    fn terms(&mut self, stage: &str, g: &Graph, roots: &[Term], hints: &BTreeMap<Term, String>) {
        self.stages.push((stage.to_string(), print::print(g, roots, hints)));
    }

    /// Everything, under headings.
    #[must_use]
    pub fn text(&self) -> String {
        self.stages.iter().fold(String::new(), |mut all, (stage, text)| {
            let _ = write!(all, "==== {stage}\n{text}\n\n");
            all
        })
    }
}

/// The function in bulk operations, and what its decisions depend on.
#[derive(Debug)]
pub struct Prepared {
    /// The front end's program; `result` and `checks` are build-free now.
    pub program: Program,
    exact: HashSet<Term>,
}

/// The stages of the function itself.
pub fn prepare(mut program: Program, mut log: Option<&mut Log>) -> Prepared {
    let mut roots = program.result.terms();
    let results = roots.len();
    for check in &program.checks {
        roots.push(check.ok);
        roots.extend(check.shown.iter().map(|s| s.1));
    }
    let g = &mut program.graph;
    let mut note = |g: &Graph, stage: &str, roots: &[Term], normal: bool| {
        debug_assert_eq!(valid::validate(g, roots), Ok(()), "after {stage}");
        debug_assert!(
            !normal || valid::normal_form(g, roots).is_ok(),
            "after {stage}: {:?}",
            valid::normal_form(g, roots)
        );
        if let Some(log) = log.as_deref_mut() {
            log.terms(stage, g, roots, &program.hints);
        }
    };
    note(g, "source", &roots, false);
    stage::enter("the bulk-operation transform");
    let roots = bot::transform(g, &roots);
    note(g, "bulk operations", &roots, true);
    stage::enter("simplification");
    let roots = simplify::simplify(g, &roots);
    let roots = simplify::push::push(g, &roots);
    let roots = simplify::simplify(g, &roots);
    let exact = simplify::decisions(g, &roots);
    let unrolled = unroll::unroll(g, &roots, &exact);
    let roots = if unrolled == roots { roots } else { simplify::simplify(g, &unrolled) };
    note(g, "primal", &roots, true);
    let exact = simplify::decisions(g, &roots);
    let mut terms = roots.iter().copied();
    program.result = program.result.with_terms(&mut (&mut terms).take(results));
    for check in &mut program.checks {
        let mut next = |old| terms.next().unwrap_or(old);
        check.ok = next(check.ok);
        for shown in &mut check.shown {
            shown.1 = next(shown.1);
        }
    }
    // A check that always holds is none.
    let g = &program.graph;
    program.checks.retain(|c| g.bool_value(c.ok) != Some(true));
    Prepared { program, exact }
}

/// The stages of one derivative.
pub fn derive(prepared: &mut Prepared, which: Derivative, log: Option<&mut Log>) -> Routine {
    let program = &mut prepared.program;
    let results = program.result.terms();
    let mut params = program.params.clone();
    let mut checks = program.checks.clone();
    let active: Vec<Param> = program.active.iter().map(|&k| program.params[k].clone()).collect();
    let wrt: Vec<u32> = active.iter().filter_map(|p| p.input).collect();
    let leaf = |term: Term, param: &Param| {
        let container = if param.container == Container::ScalarRef { Container::Scalar } else { param.container };
        OutputTree::Leaf(Output { term, container, lens: param.lens.clone() })
    };
    stage::enter("differentiation");
    let (suffix, primal, derived) = match which {
        Derivative::ValueAndGrad => {
            let g = &mut program.graph;
            let seeds: Vec<Term> = results.iter().map(|&r| g.lit_like(r, 1.0)).collect();
            let (primal, gradients) = ad::reverse(g, &results, &seeds, &wrt);
            ("value_and_grad", primal, gradients)
        }
        Derivative::Vjp => {
            let seeds = results
                .iter()
                .map(|&r| {
                    let Output { container, lens, .. } = first_leaf(&program.result);
                    extra_param(program, &mut params, &mut checks, "cotangent", (container, lens), r, "the result")
                })
                .collect::<Vec<_>>();
            let (primal, gradients) = ad::reverse(&mut program.graph, &results, &seeds, &wrt);
            ("vjp", primal, gradients)
        }
        Derivative::Jvp => {
            let mut seeds = Vec::new();
            for param in &active {
                let Some(k) = param.input else { continue };
                let input = program.graph.mk(Node::Input(k));
                let name = format!("tangent_{}", param.name.to_string().trim_start_matches("r#"));
                let shown = format!("`{}`", param.name);
                let t = extra_param(
                    program,
                    &mut params,
                    &mut checks,
                    &name,
                    (param.container, param.lens.clone()),
                    input,
                    &shown,
                );
                seeds.push((k, t));
            }
            let (primal, tangents) = ad::forward(&mut program.graph, &results, &seeds);
            ("jvp", primal, tangents)
        }
    };
    let g = &mut program.graph;
    let mut roots: Vec<Term> = primal.iter().chain(&derived).copied().collect();
    let outputs = roots.len();
    for check in &checks {
        roots.push(check.ok);
        roots.extend(check.shown.iter().map(|s| s.1));
    }
    stage::enter("simplification of the derivative");
    let mut trace = Trace::new();
    let mut simple = simplify::simplify_with(g, &roots, &prepared.exact, &mut trace);
    let exact = own_decisions(g, &simple, primal.len(), outputs);
    let unrolled = unroll::unroll(g, &simple, &exact);
    if unrolled != simple {
        let exact = own_decisions(g, &unrolled, primal.len(), outputs);
        simple = simplify::simplify_with(g, &unrolled, &exact, &mut trace);
    }
    // Simplified anew, what decisions depend on may have other handles; the derivative's own masks are no decisions of the function.
    let exact = own_decisions(g, &simple, primal.len(), outputs);
    let simple = simplify::share::share(g, &simple, &exact);
    let simple = simplify::associate::associate(g, &simple, &exact);
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
    let mut terms = simple[..outputs].iter().copied();
    let value = program.result.with_terms(&mut (&mut terms).take(primal.len()));
    let second = match which {
        Derivative::Jvp => program.result.with_terms(&mut terms),
        Derivative::ValueAndGrad | Derivative::Vjp => {
            let mut leaves = Vec::new();
            for param in &active {
                let term = terms.next().unwrap_or(results[0]);
                leaves.push(leaf(term, param));
            }
            if leaves.len() == 1 { leaves.remove(0) } else { OutputTree::Tuple(leaves) }
        }
    };
    let result = OutputTree::Tuple(vec![value, second]);
    Routine {
        result_ty: crate::emit::tree_type(program, &result),
        name: quote::format_ident!("{}_{}", program.name, suffix, span = program.name.span()),
        docs: docs(program, which, &active),
        result,
        params,
        checks,
    }
}

/// What decisions of the function depend on: of its value and its checks, not of its derivatives between the two.
fn own_decisions(g: &Graph, roots: &[Term], values: usize, outputs: usize) -> HashSet<Term> {
    let function: Vec<Term> = roots[..values].iter().chain(&roots[outputs..]).copied().collect();
    simplify::decisions(g, &function)
}

fn first_leaf(tree: &OutputTree) -> Output {
    match tree {
        OutputTree::Leaf(out) => out.clone(),
        OutputTree::Tuple(parts) => first_leaf(&parts[0]),
    }
}

/// A tangent or cotangent: a further parameter of the shape of `like`, which is checked at entry.
fn extra_param(
    program: &mut Program,
    params: &mut Vec<Param>,
    checks: &mut Vec<Check>,
    name: &str,
    (container, lens): (Container, Vec<TokenStream>),
    like: Term,
    shown: &str,
) -> Term {
    let g = &mut program.graph;
    let (elem, shape) = (g.elem(like), g.shape(like).to_vec());
    let term = g.add_input_shaped(elem, shape.clone());
    let input = match g.node(term) {
        Node::Input(k) => Some(*k),
        _ => None,
    };
    let mut name = name.to_string();
    while params.iter().any(|p| p.name == name) {
        name.push('_');
    }
    let container = if container == Container::ScalarRef { Container::Scalar } else { container };
    for (axis, &size) in shape.iter().enumerate() {
        // What has a static size has it by its type.
        let (Some(k), false) = (input, container == Container::Static) else { continue };
        let own = g.mk(Node::Size(k, crate::ir::axis(axis)));
        let ok = g.compare(crate::prim::Cmp::Eq, own, size);
        checks.push(Check {
            ok,
            message: format!("`{name}` does not have the shape of {shown} (axis {axis})"),
            shown: vec![(format!("`{name}`"), own), (shown.to_string(), size)],
            loc: crate::ir::Loc(0),
            phase: Phase::Entry,
            debug: false,
        });
    }
    let ty = crate::emit::argument_type(program, container, elem, shape.len(), &lens);
    params.push(Param {
        name: proc_macro2::Ident::new(&name, proc_macro2::Span::call_site()),
        ty,
        container,
        elem,
        rank: crate::ir::axis(shape.len()),
        lens,
        input,
    });
    term
}

fn docs(program: &Program, which: Derivative, active: &[Param]) -> Vec<String> {
    let f = &program.name;
    let names: Vec<String> = active.iter().map(|p| format!("`{}`", p.name)).collect();
    let names = names.join(", ");
    let first = match which {
        Derivative::ValueAndGrad => format!("The value of [`{f}`] and its gradient with respect to {names}."),
        Derivative::Vjp => format!(
            "The value of [`{f}`] and the cotangents of {names}: the transposed Jacobian applied to `cotangent`."
        ),
        Derivative::Jvp => {
            format!("The value of [`{f}`] and its tangent: the Jacobian applied to tangents of {names}.")
        }
    };
    let panics = format!("Where [`{f}`] does, and if the sizes of the arguments do not fit together.");
    vec![first, String::new(), "# Panics".into(), panics]
}
