//! The rewrites that fire, for `AD_TRACE`: `rule: before => after`. Each side is shown down to a
//! few operations. A term below these is shown as a number, which is the same in all rewrites of
//! one function.
//!
//! The rewriting driver and the passes report their rewrites, and the pass manager collects them,
//! pass by pass, if a log asks for them. This module must never make a term, since a log must not
//! change the generated code.

use ad_ir::sorted::{SortedMap, SortedSet};
use std::cell::RefCell;

use ad_ir::ir::{Graph, Node, Put, Term, print};

/// The depth of the operations that are shown.
pub(super) const SHOWN_DEPTH: usize = 3;

/// A rewrite that fired: the rule, the term before, and the terms after. There are several if an
/// array was split into its elements, and none if the term was dropped.
pub(crate) type FiredRewrite = (&'static str, Term, Box<[Term]>);

thread_local! {
    static REWRITES: RefCell<Option<Vec<FiredRewrite>>> = const { RefCell::new(None) };
}

/// Keeps the rewrites of this thread from here on.
pub(crate) fn start() {
    REWRITES.set(Some(Vec::new()));
}

/// The rewrites since [`start`]. Ends the recording.
pub(crate) fn taken() -> Vec<FiredRewrite> {
    REWRITES.take().unwrap_or_default()
}

/// The result of a function, and the names of the rules that fired in it.
pub(crate) fn fired_in<R>(f: impl FnOnce() -> R) -> (R, SortedSet<&'static str>) {
    start();
    let result = f();
    (result, taken().into_iter().map(|(rule, ..)| rule).collect())
}

/// Whether rewrites are kept.
pub(crate) fn is_on() -> bool {
    REWRITES.with_borrow(Option::is_some)
}

/// Records that a rule has fired.
pub(crate) fn fired(rule: &'static str, before: Term, after: &[Term]) {
    REWRITES.with_borrow_mut(|steps| {
        if let Some(steps) = steps {
            steps.push((rule, before, after.into()));
        }
    });
}

/// One line for each rewrite.
pub(crate) fn lines(g: &Graph, steps: &[FiredRewrite], hints: &SortedMap<Term, String>) -> String {
    let line = |(rule, before, after): &FiredRewrite| {
        let all: Vec<String> = after.iter().map(|&t| shown(g, t, hints, SHOWN_DEPTH)).collect();
        let after = if all.is_empty() { "nothing".into() } else { all.join(", ") };
        format!("{rule}: {} => {after}\n", shown(g, *before, hints, SHOWN_DEPTH))
    };
    steps.iter().map(line).collect()
}

/// A term on one line.
pub(super) fn shown(g: &Graph, t: Term, hints: &SortedMap<Term, String>, depth: usize) -> String {
    let node = g.node(t);
    let leaf = matches!(node, Node::Input(_) | Node::Size(..) | Node::Var(_) | Node::Param(..) | Node::Lit(_));
    if leaf {
        return print::print(g, &[t], hints).trim().to_string();
    }
    if depth == 0 {
        return format!("%{}", t.index());
    }
    let form = match node {
        Node::Prim(prim, _) => prim.name().to_string(),
        Node::Tuple(_) => "tuple".into(),
        Node::Proj(_, k) => format!("part {k}"),
        Node::Cond { .. } => "cond".into(),
        Node::Gather { vars, .. } if vars.is_empty() => "index".into(),
        Node::Gather { .. } => "gather".into(),
        Node::Scatter { put: Put::Add, .. } => "scatter".into(),
        Node::Scatter { .. } => "update".into(),
        Node::Build { .. } => "build1".into(),
        Node::Scan(_) => "scan".into(),
        Node::Input(_) | Node::Size(..) | Node::Var(_) | Node::Param(..) | Node::Lit(_) => String::new(),
    };
    let mut text = format!("({form}");
    node.for_each_child(|c| {
        text.push(' ');
        text.push_str(&shown(g, c, hints, depth - 1));
    });
    text.push(')');
    text
}
