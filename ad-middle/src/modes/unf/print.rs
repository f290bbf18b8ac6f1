//! The unary normal form in the notation of UNF Fig. 6, for `AD_DUMP`: a line for each primitive,
//! after the values that it reads. `var i; var j; mul; proj` reads the values i and j of the
//! environment, appends their product, and drops the two copies. This module must never decide
//! anything.

use std::fmt::Write as _;

use ad_ir::ir::{Graph, Lit, Node, Put};
use ad_ir::sorted::SortedMap;

use super::source::{Composition, Primitive, Variable};

/// The text of a composition.
pub(super) fn text(g: &Graph, c: &Composition) -> String {
    let mut out = String::new();
    composition(g, c, 0, &mut out);
    out
}

fn composition(g: &Graph, c: &Composition, depth: usize, out: &mut String) {
    let indent = "  ".repeat(depth);
    // The values that active steps read, numbered in their order as in the paper.
    let mut numbers: SortedMap<usize, usize> = SortedMap::new();
    for (at, step) in c.steps.iter().enumerate() {
        if step.active || c.results.contains(&at) {
            numbers.extend(read(g, c, at).into_iter().map(|at| (at, 0)));
            numbers.insert(at, 0);
        }
    }
    for (k, number) in numbers.values_mut().enumerate() {
        *number = k + 1;
    }
    for (&at, number) in &numbers {
        let step = &c.steps[at];
        let reads: String = match step.active && !matches!(step.primitive, Primitive::Variable(_)) {
            true => read(g, c, at).iter().map(|at| format!("var {}; ", numbers[at])).collect(),
            false => String::new(),
        };
        let dropped = if reads.is_empty() { "" } else { "; proj" };
        let name = name(g, c, at);
        let _ = writeln!(out, "{indent}{number}: {reads}{name}{dropped}");
        match &step.primitive {
            Primitive::Map(map) => composition(g, &map.body, depth + 1, out),
            Primitive::Fold(fold) => composition(g, &fold.body, depth + 1, out),
            _ => {}
        }
    }
    let results: Vec<String> = c.results.iter().map(|at| format!("var {}", numbers[at])).collect();
    let _ = writeln!(out, "{indent}{}", results.join("; "));
}

/// The positions that a step reads.
fn read(g: &Graph, c: &Composition, at: usize) -> Vec<usize> {
    let step = &c.steps[at];
    match &step.primitive {
        Primitive::Constant | Primitive::Variable(_) => Vec::new(),
        Primitive::Same(of) | Primitive::Component(of, _) => vec![*of],
        Primitive::Map(map) => {
            let variables = map.body.steps.iter().filter(|s| s.active);
            let outside = variables.filter_map(|s| match s.primitive {
                Primitive::Variable(Variable::Row(at) | Variable::Outer(at)) => Some(at),
                _ => None,
            });
            let mut all: Vec<usize> = outside.collect();
            all.sort_unstable();
            all.dedup();
            all
        }
        Primitive::Fold(fold) => {
            fold.arguments.iter().zip(&fold.given).filter(|(_, given)| **given).map(|(&at, _)| at).collect()
        }
        _ => {
            let mut all = Vec::new();
            g.node(step.term).for_each_child(|t| {
                all.extend(c.positions.get(&t).copied().filter(|_| g.free(t).is_empty() || c.active(c.positions[&t])))
            });
            all
        }
    }
}

fn name(g: &Graph, c: &Composition, at: usize) -> String {
    let step = &c.steps[at];
    match &step.primitive {
        Primitive::Variable(Variable::Input(k)) => format!("input {k}"),
        Primitive::Variable(Variable::Param(k)) => format!("argument {k}"),
        Primitive::Variable(Variable::Outer(_)) => "outer".into(),
        Primitive::Variable(Variable::Row(_)) => "row".into(),
        Primitive::Same(_) => "same".into(),
        Primitive::Pair(_) => "pair".into(),
        Primitive::Component(_, k) => format!("pi {k}"),
        Primitive::Map(_) => "map2".into(),
        Primitive::Fold(fold) => if fold.scan.reverse { "scanr" } else { "scanl" }.into(),
        _ => match g.node(step.term) {
            Node::Prim(prim, _) => prim.name(),
            Node::Cond { .. } => "if".into(),
            Node::Gather { .. } => "gather".into(),
            Node::Scatter { put: Put::Add, .. } => "scatter".into(),
            Node::Scatter { put: Put::Set, .. } => "update".into(),
            Node::Lit(lit) => match lit.as_real() {
                Some(x) => format!("{x:?}"),
                None => match lit {
                    Lit::Int(_, n) => n.to_string(),
                    Lit::Bool(b) => b.to_string(),
                    _ => "constant".into(),
                },
            },
            _ => "constant".into(),
        },
    }
}
