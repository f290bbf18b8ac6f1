//! How the record shows that a rule has fired: `rule: before => after`, each side down to a few
//! operations; what is below is a number, which is that of the term in all steps of one function.

use std::collections::BTreeMap;

use crate::ir::{Graph, Node, Put, Term, print};

/// Operations below each other that are shown.
const SHOWN: usize = 3;

/// One line a step.
pub(crate) fn lines(g: &Graph, steps: &[(&str, Term, Term)], hints: &BTreeMap<Term, String>) -> String {
    let line = |&(rule, before, after): &(&str, Term, Term)| {
        format!("{rule}: {} => {}\n", shown(g, before, hints, SHOWN), shown(g, after, hints, SHOWN))
    };
    steps.iter().map(line).collect()
}

/// A term on one line.
fn shown(g: &Graph, t: Term, hints: &BTreeMap<Term, String>, depth: usize) -> String {
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
        _ => "call".into(),
    };
    let mut text = format!("({form}");
    node.for_each_child(|c| {
        text.push(' ');
        text.push_str(&shown(g, c, hints, depth - 1));
    });
    text.push(')');
    text
}
