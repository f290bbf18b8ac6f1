//! What the pages of `AD_EXPLAIN` show of a compilation: the text of each stage with the terms that
//! its parts belong to, and the rewrites that fired.
//!
//! A place in the user's source is the number that the term itself has; a term that has none gets
//! none here. This module must never make or change a term, since a page must not change the
//! generated code.

use ad_ir::ir::marked::MarkedText;
use ad_ir::ir::{Elem, Graph, IntTy, Loc, Node, RealTy, Term};
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
    /// The statements of each routine that was planned.
    pub routines: Vec<RoutineFacts>,
    /// The places that the terms of each function name by number.
    pub sources: SortedMap<String, Vec<SourcePlace>>,
}

/// The statements of a routine.
#[derive(Clone, Debug)]
pub struct RoutineFacts {
    /// The function, if it is not the annotated one.
    pub subject: String,
    /// The routine's name.
    pub name: String,
    /// Its statements: those of a loop after the loop.
    pub statements: Vec<Statement>,
}

/// A statement of a routine.
#[derive(Clone, Debug)]
pub struct Statement {
    /// Its number in the plan.
    pub number: usize,
    /// The number of the loop around it.
    pub inside: Option<usize>,
    /// The names of its results.
    pub name: String,
    /// Its kind, in one word.
    pub kind: &'static str,
    /// The terms that it computes, and their places.
    pub terms: Vec<Term>,
    /// See `terms`.
    pub places: Vec<Loc>,
    /// Whether it runs only under a condition.
    pub guarded: bool,
    /// What it belongs to, if that is known.
    pub part: Option<Part>,
    /// Whether it computes a result of the routine.
    pub result: bool,
    /// What it reads.
    pub reads: Vec<Read>,
    /// How often it runs: a number for each loop around it.
    pub runs: Vec<Formula>,
    /// The number of iterations, if it is a loop.
    pub steps: Option<Formula>,
    /// The operations of one run. `None` if they are not counted.
    pub counts: Option<Vec<Count>>,
    /// The arrays that it stores.
    pub memory: Vec<Memory>,
}

/// What a statement belongs to.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Part {
    /// The value of the function.
    Function,
    /// The derivative.
    Derivative,
    /// Both: one nest computes terms of the function and of the derivative.
    Both,
}

/// What a statement reads.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub enum Read {
    /// An input.
    Input(String),
    /// The result of a statement.
    Statement(usize),
    /// The state of the loop with this statement, which is around it.
    State(usize),
}

/// A number of operations on real numbers.
#[derive(Clone, Default, PartialEq, Eq, Debug)]
pub struct Count {
    /// How often they are done in one run of the statement: a product.
    pub times: Vec<Formula>,
    /// Cheap operations.
    pub arithmetic: usize,
    /// Divisions and square roots.
    pub divisions: usize,
    /// Expensive functions.
    pub functions: usize,
}

/// An array in memory.
#[derive(Clone, Debug)]
pub struct Memory {
    /// Its name.
    pub name: String,
    /// Its size in bytes.
    pub bytes: Formula,
}

/// A number that the sizes of a call determine.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub enum Formula {
    /// A number.
    Number(usize),
    /// The size of an axis, in words.
    Size(String),
    /// A parameter or a constant that is an integer.
    Named(String),
    /// An operation: `+`, `-`, `*`, `/`, `%`, `min` or `max`.
    Apply(&'static str, Vec<Formula>),
    /// A number that is computed when the function runs, once in a call.
    Computed(String),
    /// A number that is known only when the function runs, and may differ from step to step of a
    /// loop.
    Unknown(String),
}

impl Formula {
    /// The bytes of one element.
    #[must_use]
    pub fn bytes(elem: Elem) -> Self {
        Formula::Number(match elem {
            Elem::Bool | Elem::Int(IntTy::U8) => 1,
            Elem::Real(RealTy::F32) | Elem::Int(IntTy::I32 | IntTy::U32) => 4,
            Elem::Real(RealTy::F64) | Elem::Int(IntTy::I64 | IntTy::U64 | IntTy::Isize | IntTy::Usize) => 8,
            Elem::Real(RealTy::Param) => return Formula::Named("size_of T".into()),
        })
    }
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
