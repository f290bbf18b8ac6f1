//! The documentation of a derivative in words: its parameters and results with their shapes, its
//! cost beside that of the function, and what it saves for the reverse pass.
//!
//! A size gets a letter, which is explained with the parameter that has the size. This module must
//! never say a number that `cost` does not have: what is not counted is named.

use std::cell::RefCell;
use std::collections::HashMap;

use ad_ir::descriptor::{Descriptor, Further, Recipe, Structure};
use ad_ir::ir::{Elem, Graph, Node, Term};
use ad_ir::prim::{Cmp, Prim};
use ad_ir::program::{Check, Container, Declared, Output, OutputTree, Param, Phase, Program, Routine, Staged, Tree};
use ad_ir::sorted::SortedSet;
use ad_middle::pipeline::explained::Formula;

use super::PlannedRoutine;
use super::cost::{self, Cost, Operations, Polynomial};
use super::facts::{Facts, reached};

/// The width of a line, without the slashes in front of it.
const WIDTH: usize = 96;
/// The number of parameters that are described.
const PARAMETERS: usize = 8;
/// The number of products of sizes that a formula has.
const PRODUCTS: usize = 6;
/// The number of saved arrays that are named.
const SAVED: usize = 4;
/// The greatest length of an expression that is a name of an array.
const EXPRESSION: usize = 40;
/// The letters for sizes, in order.
const LETTERS: &str = "nmklpqrstuvwabcdefghij";

/// The names of sizes. Equal sizes have one name.
struct Names {
    /// The names of parameters and constants.
    taken: SortedSet<String>,
    /// For each size, one that it is equal to.
    equal: HashMap<String, String>,
    /// The letters that are left, in reverse.
    left: RefCell<Vec<String>>,
    given: RefCell<Vec<(Formula, String)>>,
    /// The letters that no text has explained yet.
    unexplained: RefCell<Vec<(Formula, String)>>,
}

impl Names {
    fn new(facts: &Facts<'_>, program: &Program, checks: &[Check]) -> Names {
        let constants = program.constants.iter().map(|c| c.path.to_string());
        let taken: SortedSet<String> = program.declared.iter().map(|p| p.name.to_string()).chain(constants).collect();
        let letters = LETTERS.chars().map(String::from).filter(|l| !taken.contains(l));
        let mut left: Vec<String> = letters.collect();
        left.reverse();
        let mut equal: HashMap<String, String> = HashMap::new();
        for (a, b) in checks.iter().filter(|c| c.phase == Phase::Entry).flat_map(|c| equal_sizes(facts, c.ok)) {
            let (a, b) = (first(&equal, &a), first(&equal, &b));
            if a != b {
                equal.insert(b, a);
            }
        }
        Names { taken, equal, left: left.into(), given: RefCell::default(), unexplained: RefCell::default() }
    }

    /// The size that stands for all that are equal to this one, if it is another one.
    fn known(&self, formula: &Formula) -> Option<Formula> {
        let Formula::Size(size) = formula else { return None };
        Some(first(&self.equal, size)).filter(|other| other != size).map(Formula::Size)
    }

    /// The name of a size or of an unknown number.
    fn of(&self, formula: &Formula) -> String {
        if let Some((_, name)) = self.given.borrow().iter().find(|(of, _)| of == formula) {
            return name.clone();
        }
        let free = |name: &str| {
            let identifier = name.chars().all(|c| c.is_ascii_alphanumeric() || c == '_') && !name.starts_with('_');
            identifier && !self.taken.contains(name) && self.given.borrow().iter().all(|(_, given)| given != name)
        };
        let own = match formula {
            Formula::Computed(name) => name.split_once(" (").map(|(name, _)| name).filter(|name| free(name)),
            _ => None,
        };
        let mut left = self.left.borrow_mut();
        let name = match own {
            Some(name) => {
                left.retain(|letter| letter != name);
                name.to_string()
            }
            None => left.pop().unwrap_or_else(|| "z".into()),
        };
        self.given.borrow_mut().push((formula.clone(), name.clone()));
        self.unexplained.borrow_mut().push((formula.clone(), name.clone()));
        name
    }

    /// The size of an axis of a parameter, whose text explains its letter.
    fn of_axis(&self, size: &str) -> String {
        let before = self.unexplained.borrow().len();
        let name = self.of(&Formula::Size(first(&self.equal, size)));
        self.unexplained.borrow_mut().truncate(before);
        name
    }

    fn written(&self, formula: &Formula, inside: bool) -> String {
        match formula {
            Formula::Number(n) => n.to_string(),
            Formula::Named(name) => name.replace("size_of T", "size_of::<T>()"),
            Formula::Size(_) | Formula::Computed(_) | Formula::Unknown(_) => self.of(formula),
            Formula::Apply(op @ ("min" | "max"), args) => {
                let args: Vec<String> = args.iter().map(|a| self.written(a, false)).collect();
                format!("{op}({})", args.join(", "))
            }
            Formula::Apply(op, args) => {
                let sum = |a: &Formula| matches!((op, a), (&("+" | "-"), Formula::Apply("*" | "+" | "-", _)));
                let first = |k: usize, a: &Formula| k == 0 && sum(a);
                let args = args.iter().enumerate().map(|(k, a)| self.written(a, !first(k, a)));
                let args: Vec<String> = args.collect();
                let text = args.join(&if *op == "*" { "*".into() } else { format!(" {op} ") });
                if inside { format!("({text})") } else { text }
            }
        }
    }

    /// A polynomial as text. `None` if it is not known.
    fn polynomial(&self, p: &Polynomial) -> Option<String> {
        if p.is_unknown() {
            return None;
        }
        let product = |(atoms, n): (&[Formula], i128)| {
            let mut factors: Vec<String> = atoms.iter().map(|a| self.written(a, true)).collect();
            factors.sort_by_key(|name| (LETTERS.find(&name[..]).unwrap_or(usize::MAX), name.clone()));
            if n.abs() != 1 || factors.is_empty() {
                factors.insert(0, n.abs().to_string());
            }
            (n < 0, factors.join("*"))
        };
        let products: Vec<(bool, String)> = p.monomials().into_iter().map(product).collect();
        let mut text = String::new();
        for (k, (negative, product)) in products.iter().take(PRODUCTS).enumerate() {
            text += match (k, negative) {
                (0, false) => "",
                (0, true) => "-",
                (_, false) => " + ",
                (_, true) => " - ",
            };
            text += product;
        }
        if products.len() > PRODUCTS {
            text += " + ...";
        }
        Some(if text.is_empty() { "0".into() } else { text })
    }

    /// The sentences that explain the letters that were used.
    fn explained(&self) -> Option<String> {
        let (mut sizes, mut computed, mut unknown) = (Vec::new(), Vec::new(), Vec::new());
        for (formula, name) in self.unexplained.take() {
            match formula {
                Formula::Size(size) => {
                    let (what, of) = size.split_once(" of ").unwrap_or(("size", &size));
                    sizes.push(format!("`{name}` is the {what} of `{of}`"));
                }
                Formula::Computed(_) => computed.push(format!("`{name}`")),
                _ => unknown.push(format!("`{name}`")),
            }
        }
        let mut text = Vec::new();
        if !sizes.is_empty() {
            text.push(format!("Here {}.", list(&sizes)));
        }
        if !computed.is_empty() {
            let are = if computed.len() == 1 { "is a size or a number" } else { "are sizes or numbers" };
            text.push(format!("{} {are} of steps that the function computes.", list(&computed)));
        }
        if !unknown.is_empty() {
            let are = if unknown.len() == 1 { "is a size or a number" } else { "are sizes or numbers" };
            text.push(format!("{} {are} of steps that only a call knows, on average.", list(&unknown)));
        }
        (!text.is_empty()).then(|| text.join(" "))
    }
}

/// The size that all sizes that are equal to this one have become.
fn first(equal: &HashMap<String, String>, size: &str) -> String {
    let mut size = size;
    while let Some(other) = equal.get(size) {
        size = other;
    }
    size.to_string()
}

/// The pairs of sizes that are equal if a check holds.
fn equal_sizes(facts: &Facts<'_>, ok: Term) -> Vec<(String, String)> {
    let g = facts.g;
    let size = |t: Term| match *g.node(t) {
        Node::Size(k, axis) => Some(facts.size(k, axis)),
        _ => None,
    };
    let (mut stack, mut found) = (vec![ok], Vec::new());
    while let Some(t) = stack.pop() {
        match g.node(t) {
            Node::Prim(Prim::And, args) => stack.extend(args.iter().copied()),
            Node::Prim(Prim::Compare(Cmp::Eq), args) => found.extend(size(args[0]).zip(size(args[1]))),
            _ => {}
        }
    }
    found
}

/// The documentation of a routine: its own lines, with what this module says in front of the last
/// part, which is about panics.
pub(super) fn routine(
    g: &Graph,
    (program, routine): (&Program, &Routine),
    planned: &PlannedRoutine,
    derivative: &Descriptor,
) -> Vec<String> {
    let facts = facts_of(g, (program, routine), planned);
    let names = Names::new(&facts, program, &planned.checks);
    let text = Text { g, program, derivative, names: &names };
    let mut lines = text.parameters(&facts, &routine.declared, routine.workspace);
    lines.extend(text.results(&facts));
    lines.extend(text.cost(&facts, &cost::cost(&facts, &|size| names.known(size))));
    inserted(&routine.docs, lines)
}

/// The documentation of a function that returns a closure, given the plans of its two stages.
pub(super) fn staged(
    g: &Graph,
    (program, staged): (&Program, &Staged),
    [first, second]: &[PlannedRoutine; 2],
    derivative: &Descriptor,
) -> Vec<String> {
    let facts = facts_of(g, (program, &staged.first), first);
    let of_closure = facts_of(g, (program, &staged.second), second);
    let names = Names::new(&facts, program, &first.checks);
    let text = Text { g, program, derivative, names: &names };
    let mut lines = text.parameters(&facts, &staged.first.declared, false);
    lines.extend(text.results(&facts));
    let known = |size: &Formula| names.known(size);
    let values = program.result.leaves().len();
    let kept = &facts.results[values.min(facts.results.len())..];
    // What the closure keeps are parameters of its routine.
    let given = staged.second.params.iter().zip(kept);
    let of_kept = |size: &Formula| given.clone().find_map(|(param, &t)| facts.of_parameter(size, param, t));
    let now = cost::cost(&facts, &known);
    let later = cost::cost(&of_closure, &|size| of_kept(size).or_else(|| names.known(size)));
    let kept = kept.iter();
    let kept = kept.fold(Polynomial::default(), |sum, &t| sum.plus(&Polynomial::of(&facts.bytes(t), &known), 1));
    lines.extend(section("Cost"));
    let table = text.table(["now", "in each call of the closure"], &now.all, Some(&later.all));
    let mut said = text.counted(!table.is_empty(), &[&now, &later]);
    lines.extend(table);
    said.push(match names.polynomial(&kept) {
        Some(bytes) => format!("The closure keeps `{bytes}` bytes."),
        None => "Only a call knows how many bytes the closure keeps.".into(),
    });
    said.extend(names.explained());
    lines.extend(wrapped(&said.join(" ")));
    inserted(&staged.docs, lines)
}

/// The documentation of a sparse Jacobian, given the plan of its pattern.
pub(super) fn compressed(
    g: &Graph,
    (program, pattern): (&Program, &Routine),
    planned: &PlannedRoutine,
    derivative: &Descriptor,
) -> Vec<String> {
    let facts = facts_of(g, (program, pattern), planned);
    let names = Names::new(&facts, program, &planned.checks);
    let text = Text { g, program, derivative, names: &names };
    let mut lines = text.parameters(&facts, &pattern.declared, false);
    lines.extend(text.results(&facts));
    lines.extend(section("Cost"));
    lines.extend(wrapped(
        "The value, the pattern, and one product with the Jacobian for each group of columns that no row shares. If \
         there are fewer groups of rows that no column shares, there is one product with the transpose for each of \
         these.",
    ));
    inserted(&pattern.docs, lines)
}

fn facts_of<'a>(
    g: &'a Graph,
    (program, routine): (&'a Program, &'a Routine),
    PlannedRoutine { plan, hints, of_function, result, .. }: &'a PlannedRoutine,
) -> Facts<'a> {
    let of_function = (!of_function.is_empty()).then(|| reached(g, plan, of_function));
    let (params, constants) = (&routine.params[..], &program.constants[..]);
    Facts { g, plan, hints, params, constants, of_function, results: result.terms() }
}

/// Lines in front of the part about panics.
fn inserted(docs: &[String], new: Vec<String>) -> Vec<String> {
    let at = docs.iter().position(|line| line.starts_with("# ")).unwrap_or(docs.len());
    let (before, after) = docs.split_at(at);
    let before = before.iter().filter(|line| !line.is_empty()).flat_map(|line| wrapped(line));
    before.chain(new).chain(after.iter().cloned()).collect()
}

/// A heading.
fn section(title: &str) -> [String; 2] {
    [format!("# {title}"), String::new()]
}

/// A paragraph, and an empty line after it.
fn wrapped(text: &str) -> Vec<String> {
    let mut lines = folded(text, "");
    lines.push(String::new());
    lines
}

/// The lines of a text. All but the first are indented by this much.
fn folded(text: &str, indent: &str) -> Vec<String> {
    let mut lines: Vec<String> = Vec::new();
    let mut line = String::new();
    // A formula stays on its line.
    let mut code = false;
    let parts = text.split(|c| {
        code ^= c == '`';
        c == ' ' && !code
    });
    for word in parts {
        if !line.trim_start().is_empty() && line.len() + 1 + word.len() > WIDTH {
            lines.push(std::mem::replace(&mut line, format!("{indent}{word}")));
        } else {
            if !line.is_empty() {
                line.push(' ');
            }
            line.push_str(word);
        }
    }
    lines.push(line);
    lines
}

/// Names as a list in words.
fn list(all: &[String]) -> String {
    match all {
        [] => String::new(),
        [one] => one.clone(),
        [rest @ .., last] => format!("{} and {last}", rest.join(", ")),
    }
}

struct Text<'a> {
    g: &'a Graph,
    program: &'a Program,
    derivative: &'a Descriptor,
    names: &'a Names,
}

impl Text<'_> {
    fn active(&self) -> Vec<String> {
        self.program.wrt.iter().map(|&k| format!("`{}`", self.program.declared[k].label)).collect()
    }

    /// The part about parameters.
    fn parameters(&self, facts: &Facts<'_>, declared: &[Declared], workspace: bool) -> Vec<String> {
        let own = self.program.declared.len().min(declared.len());
        let mut all: Vec<String> = Vec::new();
        if own <= PARAMETERS {
            for p in &declared[..own] {
                all.push(format!("`{}`: {}", p.name, self.parameter(facts, &p.parts.tree())));
            }
        } else {
            all.push(format!("The first {own}: those of {}", self.program.link()));
        }
        let active = self.active();
        for (k, p) in declared[own..].iter().enumerate() {
            let of = active.get(k).map_or("the parameter", |name| name);
            let what = match self.derivative.further {
                Further::Nothing => continue,
                Further::Cotangent => "the cotangent of the result, with its shape".into(),
                Further::Directions(word) => format!("the {word} of {of}, with its shape"),
                Further::Destinations => format!("the memory for the gradient with respect to {of}, with its shape"),
            };
            all.push(format!("`{}`: {what}", p.name));
        }
        if workspace {
            all.push("`workspace_`: memory for arrays, kept from call to call".into());
        }
        if all.is_empty() {
            return all;
        }
        let mut lines: Vec<String> = section("Parameters").into();
        lines.extend(all.iter().flat_map(|text| folded(&format!("- {text}"), "  ")));
        lines.push(String::new());
        lines
    }

    fn parameter(&self, facts: &Facts<'_>, tree: &Tree<usize>) -> String {
        let mut leaf = |&k: &usize| {
            let param = &self.program.params[k];
            let sizes: Vec<String> = (0..param.rank).map(|axis| self.axis(facts, param, axis)).collect();
            array(&sizes, param.elem)
        };
        words(tree, &mut leaf)
    }

    fn axis(&self, facts: &Facts<'_>, param: &Param, axis: u8) -> String {
        match (param.container, param.lens.get(usize::from(axis)), param.input) {
            (Container::Static, Some(size), _) => size.to_string().replace(' ', ""),
            (_, _, Some(k)) => self.names.of_axis(&facts.size(k, axis)),
            _ => "?".into(),
        }
    }

    /// The value of the function in words.
    fn value(&self, facts: &Facts<'_>) -> String {
        let size = |formula: &Formula| {
            let size = Polynomial::of(formula, &|size| self.names.known(size));
            if size.is_of_sizes() { self.names.polynomial(&size) } else { None }
        };
        let mut leaf = |out: &Output| {
            let sizes = facts.formulas(self.g.shape(out.term));
            let sizes: Vec<String> = sizes.iter().map(|n| size(n).unwrap_or_else(|| "?".into())).collect();
            array(&sizes, self.g.elem(out.term))
        };
        let result: &OutputTree = &self.program.result;
        let text = words(result, &mut leaf);
        match &self.program.fallible {
            Some(_) => format!("{text}, if there is one"),
            None => text,
        }
    }

    /// The part about results.
    fn results(&self, facts: &Facts<'_>) -> Vec<String> {
        let active = self.active();
        let (one, of) = (active.len() == 1, list(&active));
        let shaped = if one { format!("of the type and shape of {of}") } else { format!("a tuple of those of {of}") };
        let derived = match (self.derivative.returns, self.derivative.recipe) {
            (Structure::Written, _) => None,
            (Structure::Gradient, Recipe::HessianProduct) => Some(format!("the product, {shaped}")),
            (Structure::Gradient, Recipe::Transposed) => Some(format!("the cotangent, {shaped}")),
            (Structure::Gradient, _) => Some(format!("the gradient, {shaped}")),
            (Structure::Result, Recipe::Forward) => Some("the tangent, of the shape of the value".into()),
            (Structure::Result, _) => Some("a number".into()),
            (Structure::Jacobian, _) => Some(format!("the Jacobian with respect to {of}")),
            (Structure::Sparse, _) => Some("the Jacobian in compressed sparse rows".into()),
            (Structure::Hessian, _) => Some(format!("the Hessian, with the shape of {of} twice")),
            (Structure::Closure, _) => Some(format!("a function from the cotangent of the result to that of {of}")),
            (Structure::Examples, _) => Some(format!("the gradients, {shaped}, with one more axis in front")),
        };
        let value = self.derivative.with_value.then(|| self.value(facts));
        let text = match (value, derived) {
            (Some(value), Some(derived)) => format!("The value ({value}), then {derived}."),
            (Some(value), None) => format!("The value ({value})."),
            (None, Some(derived)) => capital(&derived) + ".",
            (None, None) => return Vec::new(),
        };
        section("Returns").into_iter().chain(wrapped(&text)).collect()
    }

    /// The part about cost.
    fn cost(&self, facts: &Facts<'_>, cost: &Cost) -> Vec<String> {
        let mut lines: Vec<String> = section("Cost").into();
        let table = self.table(["in all", "of these for the value"], &cost.all, cost.of_function.as_ref());
        let mut text = self.counted(!table.is_empty(), &[cost]);
        lines.extend(table);
        text.push(match self.names.polynomial(&cost.bytes) {
            Some(_) if cost.bytes.is_zero() => "No array is stored.".into(),
            Some(bytes) => format!("Arrays that are stored, also those that are returned: at most `{bytes}` bytes."),
            None => "Only a call knows how many bytes are stored.".into(),
        });
        if matches!(self.derivative.recipe, Recipe::Gradient | Recipe::Transposed | Recipe::Examples) {
            text.extend(self.saved(facts, cost));
        }
        text.extend(self.names.explained());
        lines.extend(wrapped(&text.join(" ")));
        lines
    }

    /// A table of operations in two columns, or in one. Empty if there are none.
    fn table(&self, titles: [&str; 2], first: &Operations, second: Option<&Operations>) -> Vec<String> {
        const KINDS: [&str; 3] =
            ["sums, products, other cheap ones", "divisions, square roots", "functions such as `exp`"];
        let columns: Vec<(&str, &Operations)> = titles.into_iter().zip([first].into_iter().chain(second)).collect();
        let unknown = || "not known before the call".to_string();
        let cell = |p: &Polynomial| self.names.polynomial(p).map_or_else(unknown, |text| format!("`{text}`"));
        let row = |name: &str, cells: Vec<String>| format!("| {name} | {} |", cells.join(" | "));
        let mut lines = Vec::new();
        for (k, kind) in KINDS.iter().enumerate() {
            if columns.iter().any(|(_, of)| !of.kinds()[k].is_zero()) {
                lines.push(row(kind, columns.iter().map(|(_, of)| cell(of.kinds()[k])).collect()));
            }
        }
        if !lines.is_empty() {
            let head = row("operations on numbers", columns.iter().map(|(title, _)| (*title).to_string()).collect());
            let rule = row("---", columns.iter().map(|_| "---".to_string()).collect());
            lines.splice(..0, [head, rule]);
            lines.push(String::new());
        }
        lines
    }

    /// What the table does not say.
    fn counted(&self, table: bool, costs: &[&Cost]) -> Vec<String> {
        let mut text = vec![if table {
            "At most so many: each branch is counted, and each loop with its greatest number of steps.".to_string()
        } else {
            "No operation on numbers is counted.".to_string()
        }];
        let uncounted: SortedSet<String> = costs.iter().flat_map(|cost| cost.uncounted.iter().cloned()).collect();
        let uncounted: Vec<String> = uncounted.into_iter().collect();
        if !uncounted.is_empty() {
            text.push(format!("Not counted: {}.", list(&uncounted)));
        }
        text
    }

    /// The name of a saved array in the source, or its expression there.
    fn saved_name(&self, facts: &Facts<'_>, t: Term) -> String {
        let all = facts.definitions_of(t);
        if let Some(name) = all.iter().find_map(|t| facts.hints.get(t)) {
            return format!("`{name}`");
        }
        if all.len() > 1 {
            return "what a loop carries".into();
        }
        let loc = self.g.loc(all[0]);
        let place = self.program.places.get(loc).filter(|_| loc.index() > 0);
        match place {
            Some(place) if place.text.len() <= EXPRESSION && !place.text.contains('`') => format!("`{}`", place.text),
            _ => format!("a result of `{}`", facts.name(all[0])),
        }
    }

    /// What is saved for the reverse pass.
    fn saved(&self, facts: &Facts<'_>, cost: &Cost) -> Option<String> {
        cost.of_function.as_ref()?;
        let mut saved: Vec<(String, Polynomial)> = Vec::new();
        for (t, bytes) in &cost.saved {
            let name = self.saved_name(facts, *t);
            match saved.iter_mut().find(|(other, _)| *other == name) {
                Some((_, sum)) => sum.add(bytes, 1),
                None => saved.push((name, bytes.clone())),
            }
        }
        let each = |(name, bytes): &(String, Polynomial)| match self.names.polynomial(bytes) {
            Some(bytes) => format!("{name} (`{bytes}`)"),
            None => name.clone(),
        };
        let mut all: Vec<String> = saved.iter().take(SAVED).map(each).collect();
        if all.is_empty() {
            return None;
        }
        if let more @ 1.. = saved.len().saturating_sub(SAVED) {
            all.push(format!("{more} more"));
        }
        Some(format!("Of these the reverse pass reads {}.", list(&all)))
    }
}

fn capital(text: &str) -> String {
    let mut chars = text.chars();
    chars.next().map_or_else(String::new, |c| c.to_uppercase().chain(chars).collect())
}

/// An array of these sizes in words.
fn array(sizes: &[String], elem: Elem) -> String {
    let (one, many) = match elem {
        Elem::Real(_) => ("a number", "numbers"),
        Elem::Int(_) => ("an integer", "integers"),
        Elem::Bool => ("a truth value", "truth values"),
    };
    let kind = match sizes.len() {
        0 => return one.into(),
        1 => "a vector",
        2 => "a matrix",
        _ => "an array",
    };
    if sizes.iter().any(|n| n == "?") {
        return format!("{kind} of {many}");
    }
    format!("{kind} of `{}` {many}", sizes.join(" x "))
}

/// A structure in words.
fn words<L>(tree: &Tree<L>, leaf: &mut dyn FnMut(&L) -> String) -> String {
    match tree {
        Tree::Leaf(l) => leaf(l),
        Tree::Tuple(parts) if parts.iter().all(|p| matches!(p, Tree::Leaf(_))) && parts.len() <= 3 => {
            let parts: Vec<String> = parts.iter().map(|p| words(p, leaf)).collect();
            format!("a tuple of {}", list(&parts))
        }
        Tree::Tuple(parts) => format!("a tuple of {} parts", parts.len()),
        Tree::List(..) | Tree::Ragged(..) => "a list".into(),
        Tree::Defined(of, _) => format!("a value of the type `{}`", of.ty.to_string().replace(' ', "")),
    }
}
