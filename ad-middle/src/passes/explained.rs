//! What the pages of `AD_EXPLAIN` show of a compilation: the text of each stage with the terms that
//! its parts belong to, and the rewrites that fired.
//!
//! A place in the user's source is the number that the term itself has; a term that has none gets
//! none here. This module must never make or change a term, since a page must not change the
//! generated code.

use ad_ir::ir::marked::MarkedText;
use ad_ir::ir::{Graph, Loc, Node, Term};
use ad_ir::positions::Position;
use ad_ir::sorted::SortedMap;

use super::trace::{FiredRewrite, SHOWN_DEPTH, shown};

/// The record of a compilation.
#[derive(Clone, Default, Debug)]
pub struct Explained {
    /// The stages, in order. A stage that changed nothing is left out.
    pub stages: Vec<ExplainedStage>,
    /// The rewrites, in order.
    pub rewrites: Vec<ShownRewrite>,
    /// The places that the terms of each function name by number.
    pub sources: SortedMap<String, Vec<SourcePlace>>,
}

/// A place in the user's source.
#[derive(Clone, Debug)]
pub struct SourcePlace {
    /// Where it is, if its tokens stand in a file.
    pub position: Option<Position>,
    /// The source text, shortened.
    pub text: String,
    /// If several expressions became one term: all of them.
    pub of: Vec<Loc>,
}

/// Whether a term is the same wherever the source has it.
fn is_leaf(g: &Graph, t: Term) -> bool {
    matches!(g.node(t), Node::Input(_) | Node::Size(..) | Node::Var(_) | Node::Param(..) | Node::Lit(_))
}

/// The function and the routine that a stage or a rewrite is about.
#[derive(Clone, Default, PartialEq, Eq, Debug)]
pub struct About {
    /// The function, if it is not the annotated one: see `Log::enter`.
    pub subject: String,
    /// The routine of it: the suffix of its name, `function` for the function itself.
    pub routine: String,
}

/// The output of one stage.
#[derive(Clone, Debug)]
pub struct ExplainedStage {
    /// What it is about.
    pub about: About,
    /// The name of the stage.
    pub name: String,
    /// The text, and the terms of its parts.
    pub text: MarkedText,
    /// The place of each of these terms. Inputs, sizes, indices and numbers have none: each is one
    /// term wherever the source has it.
    pub places: SortedMap<Term, Loc>,
}

/// A rewrite that fired, as often as it did so with the same text one time after the other.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct ShownRewrite {
    /// What it is about.
    pub about: About,
    /// The pass.
    pub pass: &'static str,
    /// The rule.
    pub rule: &'static str,
    /// The place of the term before.
    pub place: Loc,
    /// The term before, and the terms after.
    pub before: String,
    /// See `before`.
    pub after: String,
    /// How often it fired.
    pub times: usize,
}

impl Explained {
    /// Adds the output of a stage.
    pub fn stage(&mut self, about: About, name: &str, text: MarkedText, g: Option<&Graph>) {
        let mut places = SortedMap::new();
        for &t in text.marks.iter().flat_map(|mark| &mark.terms) {
            if let Some(g) = g
                && !is_leaf(g, t)
            {
                places.insert(t, g.loc(t));
            }
        }
        self.stages.push(ExplainedStage { about, name: name.to_string(), text, places });
    }

    /// Adds the rewrites of a pass.
    pub(crate) fn rewrites(
        &mut self,
        (about, pass): (&About, &'static str),
        steps: &[FiredRewrite],
        g: &Graph,
        hints: &SortedMap<Term, String>,
    ) {
        for (rule, before, after) in steps {
            let shown = |&t: &Term| shown(g, t, hints, SHOWN_DEPTH);
            let new = ShownRewrite {
                about: about.clone(),
                pass,
                rule,
                place: g.loc(*before),
                before: shown(before),
                after: after.iter().map(shown).collect::<Vec<_>>().join(", "),
                times: 1,
            };
            match self.rewrites.last_mut() {
                Some(last) if *last == (ShownRewrite { times: last.times, ..new.clone() }) => last.times += 1,
                _ => self.rewrites.push(new),
            }
        }
    }
}
