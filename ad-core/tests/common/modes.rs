//! The harness that runs tests of meaning for all algorithms of differentiation. A test states a
//! property of derivatives, and [`every_mode`] runs it for each algorithm in turn; [`forward`],
//! [`reverse`] and [`mode`] then use that algorithm.
//!
//! No test names an algorithm.

use std::cell::Cell;
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};

use ad_core::front::{self, OuterDefinitions};
use ad_core::ir::{Graph, Term};
use ad_core::mode::Mode;
use ad_core::modes::{self, Derivative};
use ad_core::program::Program;
use proc_macro2::TokenStream;

/// The directions that an algorithm implements itself. The compiler derives the other one.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Own {
    Both,
    Tangents,
    Gradients,
}

thread_local! {
    static CURRENT: Cell<(Mode, Own)> = const { Cell::new((Mode::ALL[0], Own::Both)) };
}

thread_local! {
    /// The numbers of programs that the running mode has differentiated, and that it has refused by
    /// name.
    static COUNTS: Cell<(usize, usize)> = const { Cell::new((0, 0)) };
}

/// Counts a program that the running mode has differentiated or refused.
pub fn count(taken: bool) {
    let (yes, no) = COUNTS.get();
    COUNTS.set((yes + usize::from(taken), no + usize::from(!taken)));
}

/// The numbers of programs that the running mode has differentiated and refused since the last
/// call.
pub fn counts() -> (usize, usize) {
    COUNTS.replace((0, 0))
}

/// The supported algorithms, or the one that `AD_MODE` names.
fn chosen() -> impl Iterator<Item = Mode> {
    let name = std::env::var("AD_MODE").ok();
    Mode::ALL.iter().copied().filter(move |mode| name.as_deref().is_none_or(|name| name == mode.name()))
}

/// Runs a test for each supported algorithm.
pub fn every_mode(test: impl Fn()) {
    for mode in chosen() {
        run(mode, Own::Both, &test);
    }
}

/// How many random programs the running mode has to pass, if no other number is asked for: `all` in
/// the default mode, and a quarter of these in another one.
pub fn share(all: u64) -> u64 {
    if mode() == Mode::default() { all } else { all / 4 }
}

/// Runs a test for each supported algorithm. If an algorithm has only one direction of its own, the
/// test also runs for the derived one. The code that derives it is the same for all algorithms, so
/// this runs with the default one. This is for tests of single terms, since a derivative from unit
/// vectors costs an application for each element.
pub fn every_direction(test: impl Fn()) {
    for mode in chosen() {
        if mode != Mode::default() {
            run(mode, Own::Both, &test);
            continue;
        }
        for own in [Own::Both, Own::Tangents, Own::Gradients] {
            run(mode, own, &test);
        }
    }
}

fn run(mode: Mode, own: Own, test: &dyn Fn()) {
    let before = CURRENT.replace((mode, own));
    let outcome = catch_unwind(AssertUnwindSafe(test));
    CURRENT.set(before);
    if let Err(panic) = outcome {
        eprintln!("the mode is {}, with {own:?} of its own", mode.name());
        resume_unwind(panic);
    }
}

/// The algorithm of the running test.
pub fn mode() -> Mode {
    CURRENT.get().0
}

/// The roots, and their tangents.
pub fn forward(g: &mut Graph, roots: &[Term], seeds: &[(u32, Term)]) -> (Vec<Term>, Vec<Term>) {
    let wrt: Vec<u32> = seeds.iter().map(|s| s.0).collect();
    let derivative = derivative(g, roots, &wrt);
    let tangents = derivative.tangents(g, seeds);
    (derivative.values().to_vec(), tangents)
}

/// The roots, and the gradients of `<roots, cotangents>`.
pub fn reverse(g: &mut Graph, roots: &[Term], cotangents: &[Term], wrt: &[u32]) -> (Vec<Term>, Vec<Term>) {
    let derivative = derivative(g, roots, wrt);
    let gradients = derivative.gradients(g, cotangents);
    (derivative.values().to_vec(), gradients)
}

fn derivative(g: &mut Graph, roots: &[Term], wrt: &[u32]) -> Box<dyn Derivative> {
    let (mut mode, own) = CURRENT.get();
    // A mode refuses some programs by name. The test then runs with the mode that supports all
    // programs.
    let taken = modes::refused(mode, g, roots, wrt).is_empty();
    count(taken);
    if !taken {
        mode = Mode::default();
    }
    let whole = modes::derivative(mode, g, roots, wrt);
    match own {
        Own::Both => whole,
        Own::Tangents => Box::new(TangentsAlone(whole)),
        Own::Gradients => Box::new(GradientsAlone(whole)),
    }
}

/// An algorithm without a transposed map of its own.
struct TangentsAlone(Box<dyn Derivative>);

impl Derivative for TangentsAlone {
    fn values(&self) -> &[Term] {
        self.0.values()
    }

    fn wrt(&self) -> &[u32] {
        self.0.wrt()
    }

    fn with_saving_loops(&self, g: &mut Graph, others: &[Term]) -> Vec<Term> {
        self.0.with_saving_loops(g, others)
    }

    fn tangents(&self, g: &mut Graph, seeds: &[(u32, Term)]) -> Vec<Term> {
        self.0.tangents(g, seeds)
    }
}

/// An algorithm without a map along directions of its own.
struct GradientsAlone(Box<dyn Derivative>);

impl Derivative for GradientsAlone {
    fn values(&self) -> &[Term] {
        self.0.values()
    }

    fn wrt(&self) -> &[u32] {
        self.0.wrt()
    }

    fn with_saving_loops(&self, g: &mut Graph, others: &[Term]) -> Vec<Term> {
        self.0.with_saving_loops(g, others)
    }

    fn gradients(&self, g: &mut Graph, cotangents: &[Term]) -> Vec<Term> {
        self.0.gradients(g, cotangents)
    }
}

/// The program of a function that needs no other definition, and calls no other routine.
pub fn program(attr: &TokenStream, item: &TokenStream, mode: Mode) -> Option<Program> {
    let annotated = front::read(attr.clone(), item.clone(), &OuterDefinitions::default()).ok()?;
    let program = annotated.program;
    let written = program.params.iter().all(|p| p.input.is_some());
    (program.functions.is_empty() && written).then_some(Program { mode, ..program })
}
