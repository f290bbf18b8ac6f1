//! `D(t)` in the notation of CHAD sections 7 and 10, for `AD_DUMP`: the types of the context and of
//! the result, with that of cotangents, and a line for each term, `let <y, y'> = <value, \v. ..>`.
//! A term without a derivative has a line `let c = value`. This module must never decide anything.

use std::collections::HashMap;
use std::fmt::Write as _;

use ad_ir::ir::print::print;
use ad_ir::ir::{Graph, Node, Term, Type, Var};
use ad_ir::sorted::{SortedMap, SortedSet};

use super::lfun::{LFun, Lets, Variable};

/// The text of a program.
pub(super) fn text(g: &mut Graph, lets: &Lets) -> String {
    let mut inputs: SortedMap<u32, Term> = SortedMap::new();
    for bound in &lets.bound {
        if let LFun::Variable(Variable::Input(k)) = bound.dual {
            inputs.insert(k, bound.primal);
        }
    }
    let context: Vec<String> = inputs.iter().map(|(k, &t)| format!("x{} : {}", k + 1, ty(g, g.ty(t)))).collect();
    let cotangents: Vec<String> = inputs.values().map(|&t| linear(g, g.ty(t))).collect();
    let types = |of: &dyn Fn(&Graph, &Type) -> String| {
        let all: Vec<String> = lets.results.iter().map(|&k| of(g, g.ty(lets.primal(k)))).collect();
        all.join(" * ")
    };
    let (result, ct) = (types(&ty), types(&linear));
    let mut out = format!("{} |- D(t) : {result} * LFun({ct}, {})\n", context.join(", "), cotangents.join(" * "));
    let mut p = Printer { g, names: SortedMap::new(), indices: Vec::new(), next: 0 };
    p.block(lets, &HashMap::new(), 0, &mut out);
    out
}

/// The type of a value.
fn ty(g: &Graph, ty: &Type) -> String {
    match ty {
        Type::Array(elem, shape) => {
            let name = if elem.is_real() { "real" } else { "discrete" };
            let sizes: Vec<String> = shape.iter().map(|&n| print(g, &[n], &SortedMap::new()).trim().into()).collect();
            if sizes.is_empty() { name.into() } else { format!("{name}^[{}]", sizes.join(", ")) }
        }
        Type::Tuple(parts) => {
            let parts: Vec<String> = parts.iter().map(|part| self::ty(g, part)).collect();
            format!("({})", parts.join(" * "))
        }
    }
}

/// The type of its cotangents: `1` if it has none. That of an array is also a copower.
fn linear(g: &Graph, of: &Type) -> String {
    match of {
        Type::Tuple(parts) => {
            let parts: Vec<String> = parts.iter().map(|part| linear(g, part)).collect();
            format!("({})", parts.join(" * "))
        }
        of if of.has_real() => ty(g, of),
        _ => "1".into(),
    }
}

struct Printer<'g> {
    g: &'g mut Graph,
    /// The names of placeholders, and of variables.
    names: SortedMap<Term, String>,
    /// The indices of the builds around a term, each with the placeholder that has its name.
    indices: Vec<(Var, Term)>,
    next: usize,
}

impl Printer<'_> {
    /// The lines of a program, and its results. `outer` has the names of the terms around it.
    fn block(&mut self, lets: &Lets, outer: &HashMap<usize, String>, depth: usize, out: &mut String) {
        let indent = "  ".repeat(depth);
        let mut own: HashMap<usize, String> = HashMap::new();
        for number in needed(self.g, lets) {
            let bound = &lets.bound[number];
            let name = match &bound.dual {
                LFun::Variable(Variable::Input(k)) => format!("x{}", k + 1),
                LFun::Variable(Variable::Param(k)) => format!("p{}", k + 1),
                LFun::Variable(Variable::Outer(k)) => outer.get(k).cloned().unwrap_or_default(),
                dual => {
                    self.next += 1;
                    format!("{}{}", if matches!(dual, LFun::Zero) { "c" } else { "y" }, self.next)
                }
            };
            own.insert(number, name.clone());
            if matches!(bound.dual, LFun::Variable(_)) {
                continue;
            }
            let value = self.value(lets, number, &own);
            let function = self.function(lets, number, &own);
            let _ = match function {
                None => writeln!(out, "{indent}let {name} = {value}"),
                Some(function) => writeln!(out, "{indent}let <{name}, {name}'> = <{value}, {function}>"),
            };
            match &bound.dual {
                LFun::Build(elements) => {
                    let index = self.g.mk(Node::Var(elements.var));
                    let name = index_name(self.indices.len());
                    let index = self.placeholder(index, name);
                    self.indices.push((elements.var, index));
                    self.block(&elements.body, &own, depth + 1, out);
                    self.indices.pop();
                }
                LFun::Fold(fold) => self.block(&fold.body, &own, depth + 1, out),
                _ => {}
            }
        }
        let results: Vec<String> = lets
            .results
            .iter()
            .map(|&k| {
                let value = self.named(lets, k, &own);
                let function = if lets.is_active(k) { format!("{value}'") } else { "0".into() };
                format!("<{value}, {function}>")
            })
            .collect();
        let _ = writeln!(out, "{indent}in {}", results.join(", "));
    }

    /// The value of a term, over the names of those that it reads.
    fn value(&mut self, lets: &Lets, number: usize, own: &HashMap<usize, String>) -> String {
        match &lets.bound[number].dual {
            LFun::Build(elements) => {
                format!("build1 {} (\\{}. fst D(e))", self.term(elements.size), index_name(self.indices.len()))
            }
            LFun::Fold(fold) => {
                let read: Vec<String> = fold.arguments.iter().map(|&k| self.named(lets, k, own)).collect();
                let name = if fold.scan.reverse { "scanr" } else { "scanl" };
                let (carries, captures) = (fold.scan.init.len(), fold.scan.captures.len());
                let list = |parts: &[String]| format!("({})", parts.join(", "));
                format!(
                    "{name} {} {} {} {} (\\p. fst D(e))",
                    self.term(fold.scan.count),
                    list(&read[..carries]),
                    list(&read[carries..carries + captures]),
                    list(&read[carries + captures..])
                )
            }
            LFun::Same(k) => self.named(lets, *k, own),
            _ => {
                let node = self.g.node_rc(lets.bound[number].term);
                if let Node::Scan(_) | Node::Build { .. } = *node {
                    return "..".into();
                }
                let mut new = HashMap::new();
                node.for_each_child(|c| {
                    if let Some(name) = lets.numbers.get(&c).and_then(|k| own.get(k)) {
                        new.insert(c, name.clone());
                    }
                });
                let new = new.into_iter().map(|(c, name)| (c, self.placeholder(c, name))).collect::<HashMap<_, _>>();
                let shallow = self.g.mk(node.map_children(|c| new.get(&c).copied().unwrap_or(c)));
                self.term(shallow)
            }
        }
    }

    /// The name of a term, or its text if it has no line.
    fn named(&mut self, lets: &Lets, number: usize, own: &HashMap<usize, String>) -> String {
        own.get(&number).cloned().unwrap_or_else(|| self.term(lets.bound[number].term))
    }

    fn placeholder(&mut self, like: Term, name: String) -> Term {
        let ty = self.g.ty(like).clone();
        let placeholder = self.g.placeholder(ty.clone());
        // A placeholder has a number that no term has, so the next one has to be younger.
        self.names.insert(placeholder, name);
        placeholder
    }

    /// The text of a term in one line.
    fn term(&mut self, t: Term) -> String {
        let t = self.g.subst_vars(t, &self.indices);
        let text = print(self.g, &[t], &self.names);
        text.lines().map(str::trim).collect::<Vec<_>>().join("; ")
    }

    /// The linear function of reverse mode, `D(type)2 -o D(context)2`.
    fn function(&mut self, lets: &Lets, number: usize, own: &HashMap<usize, String>) -> Option<String> {
        let dual = |k: &usize| own.get(k).filter(|_| lets.is_active(*k)).map(|name| format!("{name}'"));
        let sum = |parts: Vec<Option<String>>| {
            let parts: Vec<String> = parts.into_iter().flatten().collect();
            format!("\\v. {}", parts.join(" + "))
        };
        let text = match &lets.bound[number].dual {
            LFun::Zero | LFun::Variable(_) => return None,
            LFun::Same(k) => return dual(k),
            LFun::Dop(_) => self.operation(lets, number, own),
            LFun::Pair(parts) => {
                let part = |(k, part)| Some(format!("{} (proj_{} v)", dual(part)?, k + 1));
                sum(parts.iter().enumerate().map(part).collect())
            }
            LFun::Component(k, component) => format!("\\v. {} (coproj_{} v)", dual(k)?, component + 1),
            LFun::Case { then, other, .. } => {
                let arm = |k| dual(k).map_or("0".into(), |dual| format!("{dual} v"));
                let (then, other) = (arm(then), arm(other));
                format!("\\v. case {} of true -> {then} | false -> {other}", self.child(lets, number, 0, own))
            }
            LFun::Choice { then, other, .. } => {
                let mask = self.child(lets, number, 0, own);
                let then = dual(then).map(|dual| format!("{dual} (select {mask} v 0)"));
                sum(vec![then, dual(other).map(|dual| format!("{dual} (select {mask} 0 v)"))])
            }
            LFun::Stack(parts) => {
                let part = |(k, part)| Some(format!("{} v[{k}]", dual(part)?));
                sum(parts.iter().enumerate().map(part).collect())
            }
            LFun::Update { onto, put, .. } => {
                let onto = dual(onto).map(|dual| format!("{dual} (update v 0 (at i))"));
                sum(vec![onto, dual(put).map(|dual| format!("{dual} v[i]"))])
            }
            LFun::Evaluation { of, read } => {
                let node = self.g.node_rc(*read);
                let Node::Gather { vars, index, .. } = &*node else { return None };
                let index: Vec<String> = match vars.is_empty() {
                    true => index.iter().map(|&at| self.term(at)).collect(),
                    false => vec!["i".into()],
                };
                format!("\\v. {} {{([{}], v)}}", dual(of)?, index.join(", "))
            }
            LFun::Build(_) => format!("\\v. Dbuild^t (\\{}. snd D(e), v)", index_name(self.indices.len())),
            LFun::Fold(_) => "\\v. Dfold^t (\\p. snd D(e), v)".into(),
        };
        Some(text)
    }

    /// A child of a term: its name or its text.
    fn child(&mut self, lets: &Lets, number: usize, child: usize, own: &HashMap<usize, String>) -> String {
        let mut children = Vec::new();
        self.g.node(lets.bound[number].term).for_each_child(|c| children.push(c));
        let t = children[child];
        match lets.numbers.get(&t) {
            Some(&k) => self.named(lets, k, own),
            None => self.term(t),
        }
    }

    /// `\v. let v = Dop^t(x1, .., xk; v) in x1' (proj_1 v) + .. + xk' (proj_k v)`.
    fn operation(&mut self, lets: &Lets, number: usize, own: &HashMap<usize, String>) -> String {
        let node = self.g.node_rc(lets.bound[number].term);
        let name = match &*node {
            Node::Prim(prim, _) => prim.name(),
            _ => "scatter".into(),
        };
        let mut children = Vec::new();
        node.for_each_child(|c| children.push(c));
        children.retain(|&c| self.g.ty(c).has_real());
        let args: Vec<usize> = children.iter().filter_map(|c| lets.numbers.get(c).copied()).collect();
        let names: Vec<String> = args.iter().map(|&k| self.named(lets, k, own)).collect();
        let derivative = format!("D{name}^t({}; v)", names.join(", "));
        let active: Vec<usize> = (0..args.len()).filter(|&at| lets.is_active(args[at])).collect();
        match (active.as_slice(), args.len()) {
            ([_], 1) => format!("\\v. {}' ({derivative})", names[0]),
            ([at], _) => format!("\\v. {}' (proj_{} {derivative})", names[*at], at + 1),
            _ => {
                let sum: Vec<String> = active.iter().map(|&at| format!("{}' (proj_{} v)", names[at], at + 1)).collect();
                format!("\\v. let v = {derivative} in {}", sum.join(" + "))
            }
        }
    }
}

/// The name of an index, by the number of builds around it.
fn index_name(depth: usize) -> String {
    if depth == 0 { "i".into() } else { format!("i{depth}") }
}

/// The terms that have a line: the results, the active terms, and what these read.
fn needed(g: &Graph, lets: &Lets) -> Vec<usize> {
    let mut all: SortedSet<usize> = SortedSet::new();
    let mut stack: Vec<usize> = lets.results.clone();
    while let Some(number) = stack.pop() {
        let node = g.node(lets.bound[number].term);
        let leaf = matches!(node, Node::Lit(_) | Node::Size(..) | Node::Var(_));
        if leaf && !lets.is_active(number) || !all.insert(number) {
            continue;
        }
        match &lets.bound[number].dual {
            LFun::Variable(_) => {}
            LFun::Same(k) => stack.push(*k),
            LFun::Build(elements) => {
                stack.extend(elements.body.bound.iter().filter_map(|b| match b.dual {
                    LFun::Variable(Variable::Outer(k)) => Some(k),
                    _ => None,
                }));
            }
            LFun::Fold(fold) => stack.extend(fold.arguments.iter().copied()),
            _ => node.for_each_child(|c| {
                stack.extend(lets.numbers.get(&c).copied().filter(|_| g.free(c).iter().all(|v| v.is_fresh())));
            }),
        }
    }
    all.iter().copied().collect()
}
