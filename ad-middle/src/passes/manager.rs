//! The pass manager: runs a list of passes. Each pass rewrites the [`Roots`] of a graph and returns
//! the new ones. After each pass the manager validates the result (in debug builds), logs it for
//! `AD_DUMP` under the name of the pass, and runs the simplifier if the pass asks for it. With
//! `AD_TRACE` the log also has each rewrite that fires.
//!
//! This module depends on no single pass and on no order of passes: the lists are in `pipeline`.

use ad_ir::sorted::{SortedMap, SortedSet};
use std::collections::HashSet;
use std::fmt::Write as _;
use std::rc::Rc;

use super::explained::{About, Explained};
use super::flatten::ListRows;
use super::lowering::{self, LoweredGraph};
use super::roots::Roots;
use super::saved_rows;
use super::simplify::{self, Fired};
use super::trace;
use super::watch;
use ad_ir::analysis::decisions::Decisions;
use ad_ir::analysis::{Analyses, Analysis, Reachable};
use ad_ir::ir::marked::MarkedText;
use ad_ir::ir::{Graph, Term, print, valid};
use ad_ir::stage;

/// A pass over the whole program.
#[derive(Clone, Copy)]
pub struct Pass {
    /// Its name: in lists, in the log and in reports of internal errors.
    pub name: &'static str,
    /// The names of its rules, which `AD_TRACE` writes.
    pub rules: fn() -> Vec<&'static str>,
    /// The function. It preserves the meaning of every root.
    pub run: fn(&mut Graph, &Roots, &mut Context) -> Roots,
    /// Whether the simplifier runs after the pass, if the pass has changed a root.
    pub simplified: bool,
}

impl Pass {
    /// The roots after the pass, without validation, and the names of the rules that fired, each
    /// once. For tests.
    pub fn alone(&self, g: &mut Graph, roots: &Roots, cx: &mut Context) -> (Roots, SortedSet<&'static str>) {
        stage::enter(self.name);
        trace::fired_in(|| (self.run)(g, roots, cx))
    }
}

impl std::fmt::Debug for Pass {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(self.name)
    }
}

/// The facts that a pass can query: cached analyses, the exact terms, the active inputs.
#[derive(Debug, Default)]
pub struct Context {
    /// The inputs that derivatives are taken with respect to.
    pub active: Vec<u32>,
    /// Whether outermost loops save the carried values of about every `sqrt(n)`-th step.
    pub square_root: bool,
    /// The rows of lists of `Vec`s that are concatenated in one vector.
    pub lists: Vec<ListRows>,
    /// The number of times that each rule of the simplifier fired.
    pub fired: Fired,
    roots: Roots,
    /// Terms that are exact although no current root shows it, since a decision of the function
    /// before differentiation depends on them. Valid until a pass changes the roots.
    extra_exact: HashSet<Term>,
    analyses: Analyses,
    exact: Option<Rc<HashSet<Term>>>,
}

impl Context {
    /// A context for these roots.
    #[must_use]
    pub fn of(roots: Roots) -> Self {
        Context { roots, ..Context::default() }
    }

    /// Marks these terms as exact until a pass changes the roots.
    pub fn set_extra_exact(&mut self, exact: &HashSet<Term>) {
        self.extra_exact.clone_from(exact);
        self.exact = None;
    }

    /// Switches to new roots and drops the cached analyses of the old ones.
    pub(crate) fn set_roots(&mut self, roots: &Roots) {
        if *roots != self.roots {
            self.roots = roots.clone();
            self.analyses.clear();
            self.exact = None;
        }
    }

    /// The result of an analysis for these roots: those of the program, or of a body in it.
    pub fn get<A: Analysis>(&mut self, g: &Graph, roots: &[Term]) -> Rc<A::Result> {
        self.analyses.get::<A>(g, roots)
    }

    /// All analyses, for a function that asks for some of them.
    pub(crate) fn analyses(&mut self) -> &mut Analyses {
        &mut self.analyses
    }

    /// The terms that a decision of the function depends on. Only its results and checks count: a
    /// mask in a derivative is not a decision.
    pub fn exact(&mut self, g: &Graph) -> Rc<HashSet<Term>> {
        if let Some(exact) = &self.exact {
            return Rc::clone(exact);
        }
        let mut exact = self.analyses.get::<Decisions>(g, &self.roots.function());
        if !self.extra_exact.is_empty() {
            exact = Rc::new(exact.union(&self.extra_exact).copied().collect());
        }
        self.exact = Some(Rc::clone(&exact));
        exact
    }

    /// All terms of the function itself.
    pub fn function_terms(&mut self, g: &Graph) -> Rc<Vec<Term>> {
        self.analyses.get::<Reachable>(g, &self.roots.function())
    }

    /// The conditions of all checks. If one fails, the routine panics before it computes anything.
    #[must_use]
    pub fn check_conditions(&self) -> Vec<Term> {
        self.roots.checks.iter().map(|c| c.ok).collect()
    }
}

/// A log of the result of each pass, for `AD_DUMP` and tests.
#[derive(Debug)]
pub struct Log {
    /// (stage, text) in order.
    pub stages: Vec<(String, String)>,
    /// The function that is compiled, if it is not the annotated one. It begins each heading.
    pub subject: String,
    /// Whether each rewrite that fires is logged, as `rule: before => after`.
    pub rules: bool,
    /// What a page shows, if one is asked for.
    pub explained: Option<Explained>,
}

impl Default for Log {
    /// An empty log, with rewrites if the environment has `AD_TRACE`.
    fn default() -> Self {
        let rules = std::env::var_os("AD_TRACE").is_some();
        Log { stages: Vec::new(), subject: String::new(), rules, explained: None }
    }
}

impl Log {
    /// Names the function of the stages from here on. The annotated function has an empty name.
    pub fn enter(&mut self, subject: &str) {
        self.subject = subject.to_string();
    }

    /// Adds the text of a stage of a routine.
    pub fn push(&mut self, routine: &str, stage: &str, text: String) {
        self.marked(routine, stage, MarkedText::plain(text), None);
    }

    /// Adds the text of a stage of a routine, whose parts belong to terms of the graph.
    pub fn marked(&mut self, routine: &str, stage: &str, text: MarkedText, g: Option<&Graph>) {
        let about = About { subject: self.subject.clone(), routine: routine.to_string() };
        let all = [&self.subject, routine, stage];
        let heading: Vec<&str> = all.into_iter().filter(|part| !part.is_empty()).collect();
        self.stages.push((heading.join(": "), text.text.clone()));
        if let Some(explained) = &mut self.explained {
            explained.stage(about, stage, text, g);
        }
    }

    /// Adds the text of a stage that only a page shows.
    pub fn on_page(&mut self, routine: &str, stage: &str, text: MarkedText, g: &Graph) {
        let about = About { subject: self.subject.clone(), routine: routine.to_string() };
        if let Some(explained) = &mut self.explained {
            explained.stage(about, stage, text, Some(g));
        }
    }

    /// Adds that a stage changed nothing. A page does not show it.
    fn unchanged(&mut self, routine: &str, stage: &str) {
        let page = self.explained.take();
        self.push(routine, stage, "(unchanged)".into());
        self.explained = page;
    }

    /// Whether the rewrites are wanted.
    fn traces(&self) -> bool {
        self.rules || self.explained.is_some()
    }

    /// Adds the rewrites of a stage.
    fn rewrites(&mut self, routine: &str, stage: &'static str, (g, hints): (&Graph, &SortedMap<Term, String>)) {
        let steps = trace::taken();
        if steps.is_empty() {
            return;
        }
        let page = self.explained.take();
        if self.rules {
            self.push(routine, &format!("{stage}, rule by rule"), trace::lines(g, &steps, hints));
        }
        self.explained = page.map(|mut page| {
            let about = About { subject: self.subject.clone(), routine: routine.to_string() };
            page.rewrites((&about, stage), &steps, g, hints);
            page
        });
    }

    pub(crate) fn terms(
        &mut self,
        routine: &str,
        stage: &str,
        g: &Graph,
        (roots, hints): (&[Term], &SortedMap<Term, String>),
    ) {
        let text = match &self.explained {
            Some(_) => print::print_marked(g, roots, hints),
            None => MarkedText::plain(print::print(g, roots, hints)),
        };
        self.marked(routine, stage, text, Some(g));
    }

    /// The whole log as text, with a heading for each stage.
    #[must_use]
    pub fn text(&self) -> String {
        self.stages.iter().fold(String::new(), |mut all, (stage, text)| {
            let _ = write!(all, "==== {stage}\n{text}\n\n");
            all
        })
    }
}

/// Runs passes over one program.
pub(crate) struct Manager<'l> {
    pub(crate) cx: Context,
    log: Option<&'l mut Log>,
    /// The name of the routine that is compiled; it prefixes each stage of the log.
    subject: &'static str,
    hints: SortedMap<Term, String>,
}

impl<'l> Manager<'l> {
    /// A manager that compiles `subject`, with these names of terms for the log.
    pub(crate) fn new(subject: &'static str, log: Option<&'l mut Log>, hints: &SortedMap<Term, String>) -> Self {
        let hints = if log.is_some() { hints.clone() } else { SortedMap::new() };
        Manager { cx: Context::default(), log, subject, hints }
    }

    /// The roots after these passes.
    pub(crate) fn run(&mut self, g: &mut Graph, passes: &[Pass], mut roots: Roots) -> Roots {
        for pass in passes {
            let new = self.run_pass(g, pass, &roots);
            let changed = new != roots;
            roots = new;
            if changed && pass.simplified {
                roots = self.run_pass(g, &simplify::PASS, &roots);
            }
        }
        roots
    }

    fn run_pass(&mut self, g: &mut Graph, pass: &Pass, roots: &Roots) -> Roots {
        stage::enter(pass.name);
        self.cx.set_roots(roots);
        if self.log.as_deref().is_some_and(Log::traces) {
            trace::start();
        }
        let new = (pass.run)(g, roots, &mut self.cx);
        if let Some(log) = self.log.as_deref_mut() {
            log.rewrites(self.subject, pass.name, (g, &self.hints));
        }
        if new == *roots {
            if let Some(log) = self.log.as_deref_mut() {
                log.unchanged(self.subject, pass.name);
            }
            return new;
        }
        self.cx.set_extra_exact(&HashSet::new());
        self.cx.set_roots(&new);
        self.validate(g, pass.name, &new);
        self.record(g, pass.name, &new);
        new
    }

    /// The roots with their real terms watched. No pass may follow.
    pub(crate) fn watch(&mut self, g: &mut Graph, roots: &Roots, named: &watch::Named) -> Roots {
        stage::enter(watch::STAGE);
        let new = watch::watched(g, roots, named);
        self.cx.set_extra_exact(&HashSet::new());
        self.cx.set_roots(&new);
        self.validate(g, watch::STAGE, &new);
        new
    }

    /// Lowers the roots of the routine `name`. The result is not a program of the core language any
    /// more, since its loops are open. So `lowering` validates the terms itself, as it makes them.
    pub(crate) fn lower(
        g: &mut Graph,
        roots: &[Term],
        own: Option<&HashSet<Term>>,
        (name, hints): (&str, &SortedMap<Term, String>),
        log: Option<&mut Log>,
    ) -> Result<LoweredGraph, String> {
        let Some(log) = log else { return lowering::lower(g, roots, own) };
        if log.traces() {
            trace::start();
        }
        let lowered = lowering::lower(g, roots, own);
        log.rewrites(name, "lowering", (g, hints));
        let lowered = lowered?;
        log.push(name, "lowering", lowered.text(g, roots, hints));
        Ok(lowered)
    }

    /// Whether each root is well formed, and without builds.
    pub(crate) fn validate(&self, g: &Graph, after: &str, roots: &Roots) {
        if cfg!(debug_assertions) {
            let all = roots.all();
            if let Err(errors) = valid::normal_form(g, &all) {
                panic!("{}, after {after}: {errors:?}", self.subject);
            }
        }
    }

    /// Logs the roots.
    pub(crate) fn record(&mut self, g: &Graph, stage: &str, roots: &Roots) {
        if let Some(log) = self.log.as_deref_mut() {
            log.terms(self.subject, stage, g, (&roots.all(), &self.hints));
        }
    }

    /// Whether there is a log.
    pub(crate) fn is_logged(&self) -> bool {
        self.log.is_some()
    }

    /// Logs what the loops of a derivative save.
    pub(crate) fn record_saved_rows(&mut self, g: &Graph, stage: &str, roots: &Roots) {
        if self.log.is_some() {
            let text = saved_rows::saved_rows(g, &roots.all(), &self.hints);
            self.log_text(stage, &text);
        }
    }

    /// Logs the text of a stage.
    pub(crate) fn log_text(&mut self, stage: &str, text: &str) {
        if let Some(log) = self.log.as_deref_mut() {
            log.push(self.subject, stage, text.to_string());
        }
    }
}
