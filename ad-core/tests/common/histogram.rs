//! The contents of the programs of a run: every form, every primitive, every row of the scalar
//! tables.

use std::collections::{BTreeMap, BTreeSet};

use ad_core::ir::{Graph, Node, Put, Term};
use ad_core::prim::{Binary, Cmp, IntOp, Prim, Unary, structural};

/// For each name, the number of programs in which it occurs.
#[derive(Default)]
pub struct Histogram(pub BTreeMap<String, usize>);

impl Histogram {
    /// Counts the contents of a program, closed bodies included.
    pub fn add(&mut self, g: &Graph, roots: &[Term]) {
        for name in names_in(g, roots) {
            *self.0.entry(name).or_default() += 1;
        }
    }

    /// The names that have not occurred.
    pub fn missing(&self) -> Vec<String> {
        all_names().into_iter().filter(|name| !self.0.contains_key(name)).collect()
    }
}

/// The names of all contents of a program.
pub fn names_in(g: &Graph, roots: &[Term]) -> BTreeSet<String> {
    let mut names = BTreeSet::new();
    let mut todo = vec![roots.to_vec()];
    while let Some(roots) = todo.pop() {
        for t in g.reachable(&roots) {
            names.insert(form(g.node(t)));
            if let Node::Scan(s) = g.node(t) {
                todo.push(s.body.results.to_vec());
            }
        }
    }
    names
}

fn form(node: &Node) -> String {
    match node {
        Node::Input(_) => "input".into(),
        Node::Size(..) => "size".into(),
        Node::Var(_) => "var".into(),
        Node::Param(..) => "param".into(),
        Node::Lit(_) => "lit".into(),
        Node::Tuple(_) => "tuple".into(),
        Node::Proj(..) => "proj".into(),
        Node::Build { .. } => "build".into(),
        Node::Cond { .. } => "cond".into(),
        Node::Scan(s) if s.stop.is_some() => "scan that stops".into(),
        Node::Scan(s) if s.reverse => "scan in reverse".into(),
        Node::Scan(_) => "scan".into(),
        Node::Gather { vars, .. } if vars.is_empty() => "index".into(),
        Node::Gather { .. } => "gather".into(),
        Node::Scatter { put: Put::Set, .. } => "update".into(),
        Node::Scatter { vars, .. } if vars.is_empty() => "scatter without variables".into(),
        Node::Scatter { .. } => "scatter".into(),
        Node::Prim(prim, _) => prim_name(prim),
    }
}

/// A name for each primitive, without its parameters.
pub fn prim_name(prim: &Prim) -> String {
    match prim {
        Prim::Unary(f) => format!("unary {f:?}"),
        Prim::Binary(f) => format!("binary {f:?}"),
        Prim::PowI => "powi".into(),
        Prim::Compare(op) => format!("compare {op:?}"),
        Prim::Int(op) => format!("int {op:?}"),
        Prim::IntNeg => "int neg".into(),
        Prim::TotalOrder => "order".into(),
        Prim::Not => "not".into(),
        Prim::And => "and".into(),
        Prim::Or => "or".into(),
        Prim::Select => "select".into(),
        Prim::Cast(to) if to.is_real() => "cast to a real".into(),
        Prim::Cast(_) => "cast to an integer".into(),
        Prim::StopGradient => "stop gradient".into(),
        Prim::Fused => "fused".into(),
        Prim::RelaxedExact => "own".into(),
        Prim::UnknownOrder => "unordered".into(),
        Prim::Watched(_) => "watched".into(),
        // The name of a structural primitive is its printed name without the parameters in
        // brackets.
        structural => structural.name().split('[').next().unwrap_or_default().to_string(),
    }
}

/// The names of all forms, primitives and rows.
pub fn all_names() -> BTreeSet<String> {
    let forms = [
        "input",
        "size",
        "var",
        "param",
        "lit",
        "tuple",
        "proj",
        "build",
        "cond",
        "scan",
        "scan in reverse",
        "scan that stops",
        "index",
        "gather",
        "scatter",
        "update",
        "scatter without variables",
        "powi",
        "int neg",
        "order",
        "not",
        "and",
        "or",
        "select",
        "cast to a real",
        "cast to an integer",
        "stop gradient",
        "fused",
        "own",
    ];
    let mut names: BTreeSet<String> = forms.iter().map(|s| (*s).to_string()).collect();
    names.extend(Unary::ALL.iter().map(|&f| prim_name(&Prim::Unary(f))));
    names.extend(Binary::ALL.iter().map(|&f| prim_name(&Prim::Binary(f))));
    for op in [Cmp::Eq, Cmp::Ne, Cmp::Lt, Cmp::Le, Cmp::Gt, Cmp::Ge] {
        names.insert(prim_name(&Prim::Compare(op)));
    }
    for &op in IntOp::ALL {
        names.insert(prim_name(&Prim::Int(op)));
    }
    names.extend(structural::examples().iter().map(|example| prim_name(&example.prim)));
    names
}
