//! The stages of the compiler, in order, as functions from terms to terms.
//!
//! ```text
//! source ──bot──▶ bulk ──simplify, push, unroll──▶ primal ──dual, transpose──▶ gradient ──simplify, unroll──▶ routine
//! ```
//!
//! Every stage can be printed (`AD_DUMP`) and is checked by the validator in debug builds. It holds no rule of its own.

use std::collections::{BTreeMap, HashSet};
use std::fmt::Write as _;

use crate::analysis::decisions::decisions;
use crate::ir::{Graph, Term, print, valid};
use crate::passes::push;
use crate::passes::simplify;
use crate::passes::trip_counts;
use crate::passes::unroll;
use crate::passes::{bulk, loops};
use crate::program::Program;
use crate::stage;

pub use crate::derivative::derive;
pub use crate::derivative::pullback::pullback;

/// Which derivative a routine computes.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Derivative {
    /// `f_value_and_grad`.
    ValueAndGrad,
    /// `f_vjp`.
    Vjp,
    /// `f_jvp`.
    Jvp,
    /// `f_value_and_jacobian`.
    ValueAndJacobian,
    /// `f_hvp`.
    Hvp,
    /// `f_hessian`.
    Hessian,
    /// `f_value_and_grad_into`.
    Into,
}

/// A record of what each stage made, for `AD_DUMP`, tests and the curious.
#[derive(Debug, Default)]
pub struct Log {
    /// (stage, text) in order.
    pub stages: Vec<(String, String)>,
}

impl Log {
    pub(crate) fn terms(&mut self, stage: &str, g: &Graph, roots: &[Term], hints: &BTreeMap<Term, String>) {
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
    /// The results where no derivative is taken of them: they come with counting the steps of loops.
    pub(crate) plain: Vec<Term>,
    pub(crate) exact: HashSet<Term>,
}

/// The stages of the function itself.
pub fn prepare(mut program: Program, mut log: Option<&mut Log>) -> Prepared {
    let mut roots = program.result.terms();
    let results = roots.len();
    let mut oks = Vec::new();
    for check in &program.checks {
        oks.push(roots.len());
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
    let roots = bulk::transform(g, &roots);
    note(g, "bulk operations", &roots, true);
    stage::enter("simplification");
    let roots = simplify::simplify(g, &roots);
    // What a step reads of what it has written is now known to be that.
    let exact = decisions(g, &roots);
    let apart = loops::pass(g, &roots, &exact);
    let roots = if apart == roots { roots } else { simplify::simplify(g, &apart) };
    let exact = decisions(g, &roots);
    let held: Vec<Term> = oks.iter().map(|&k| roots[k]).collect();
    let roots = push::push(g, &roots, &exact, &held);
    let roots = simplify::simplify(g, &roots);
    let exact = decisions(g, &roots);
    let unrolled = unroll::unroll(g, &roots, &exact);
    let roots = if unrolled == roots { roots } else { simplify::simplify(g, &unrolled) };
    let wrt: Vec<u32> = program.active.iter().filter_map(|&k| program.params[k].input).collect();
    let others: Vec<Term> = roots[results..].iter().chain(&roots[..results]).copied().collect();
    let (mut counted, others) = trip_counts::counted(g, &roots[..results], &others, &wrt);
    counted.extend(others);
    let unchanged = counted.iter().zip(roots.iter().chain(&roots[..results])).all(|(a, b)| a == b);
    let mut roots = if unchanged { counted } else { simplify::simplify(g, &counted) };
    let plain = roots.split_off(roots.len() - results);
    note(g, "primal", &roots, true);
    let exact = decisions(g, &roots);
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
    Prepared { program, plain, exact }
}
