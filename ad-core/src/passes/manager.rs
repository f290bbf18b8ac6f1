//! The pass manager: runs a list of passes, each from a graph with [`Roots`] to the same graph with other roots. After each pass it
//! validates the result (in debug builds), records it for `AD_DUMP` under the name of the pass, and simplifies it where the pass asks
//! for that.
//!
//! Must never know what a pass does, or in which order passes run: the lists are in `pipeline`.

use std::collections::{BTreeMap, HashSet};
use std::fmt::Write as _;

use super::roots::Roots;
use super::simplify::{self, Trace};
use crate::analysis::decisions::decisions;
use crate::ir::{Graph, Term, print, valid};
use crate::stage;

/// A pass over the whole program.
#[derive(Clone, Copy)]
pub struct Pass {
    /// Its name: in lists, in the record and in reports of internal errors.
    pub name: &'static str,
    /// The pass. It keeps what each root means.
    pub run: fn(&mut Graph, &Roots, &mut Context) -> Roots,
    /// Whether what it has changed is simplified.
    pub simplified: bool,
}

impl std::fmt::Debug for Pass {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(self.name)
    }
}

/// What passes may ask for beside the roots.
#[derive(Debug, Default)]
pub struct Context {
    /// The inputs that derivatives are taken with respect to.
    pub active: Vec<u32>,
    /// Terms that are exact for another reason than the roots: known of these roots only, until a pass has changed them.
    pub given: HashSet<Term>,
    /// How often each rule of the simplifier fired.
    pub trace: Trace,
}

impl Context {
    /// What decisions of the function depend on: of its results and checks, not of its derivatives, whose masks are no decisions.
    #[must_use]
    pub fn exact(&self, g: &Graph, roots: &Roots) -> HashSet<Term> {
        let mut exact = decisions(g, &roots.function());
        exact.extend(&self.given);
        exact
    }
}

/// A record of what each pass made, for `AD_DUMP`, tests and the curious.
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

/// Runs passes over one program.
pub(crate) struct Manager<'l> {
    pub(crate) cx: Context,
    log: Option<&'l mut Log>,
    /// What is compiled, for the record.
    what: &'static str,
    hints: BTreeMap<Term, String>,
}

impl<'l> Manager<'l> {
    /// A manager whose record says `what` is compiled, with these names of terms.
    pub(crate) fn new(what: &'static str, log: Option<&'l mut Log>, hints: &BTreeMap<Term, String>) -> Self {
        let hints = if log.is_some() { hints.clone() } else { BTreeMap::new() };
        Manager { cx: Context::default(), log, what, hints }
    }

    /// The roots after these passes.
    pub(crate) fn run(&mut self, g: &mut Graph, passes: &[Pass], mut roots: Roots) -> Roots {
        for pass in passes {
            let new = self.one(g, pass, &roots);
            let changed = new != roots;
            roots = new;
            if changed && pass.simplified {
                roots = self.one(g, &simplify::PASS, &roots);
            }
        }
        roots
    }

    fn one(&mut self, g: &mut Graph, pass: &Pass, roots: &Roots) -> Roots {
        stage::enter(pass.name);
        let new = (pass.run)(g, roots, &mut self.cx);
        if new == *roots {
            self.say(pass.name, "(unchanged)");
            return new;
        }
        self.cx.given = HashSet::new();
        self.check(g, pass.name, &new);
        self.record(g, pass.name, &new);
        new
    }

    /// Whether each root is well formed, and without builds and calls.
    fn check(&self, g: &Graph, after: &str, roots: &Roots) {
        if cfg!(debug_assertions) {
            let all = roots.all();
            if let Err(errors) = valid::normal_form(g, &all) {
                panic!("{}, after {after}: {errors:?}", self.what);
            }
        }
    }

    /// Writes the roots into the record.
    pub(crate) fn record(&mut self, g: &Graph, stage: &str, roots: &Roots) {
        if let Some(log) = self.log.as_deref_mut() {
            log.terms(&format!("{}: {stage}", self.what), g, &roots.all(), &self.hints);
        }
    }

    /// Writes a text into the record.
    pub(crate) fn say(&mut self, stage: &str, text: &str) {
        if let Some(log) = self.log.as_deref_mut() {
            log.stages.push((format!("{}: {stage}", self.what), text.to_string()));
        }
    }
}
