//! The documentation of a derivative in words: its parameters and results with their shapes, its
//! cost beside that of the function, and what it saves for the reverse pass.
//!
//! A size gets a letter, which is explained with the parameter that has the size. This module must
//! never say a number that `cost` does not have: what is not counted is named.

use ad_ir::descriptor::{Descriptor, Further, Recipe, Structure};
use ad_ir::ir::{Elem, Graph, Term};
use ad_ir::program::{Container, Declared, Output, OutputTree, Param, Program, Routine, Staged, Tree};
use ad_ir::sorted::SortedSet;
use ad_middle::pipeline::explained::Formula;

use super::PlannedRoutine;
use super::cost::{self, Cost, Operations, Polynomial};
use super::facts::{Facts, reached};
use super::size_names::{Names, list};

/// The width of a line, without the slashes in front of it.
const WIDTH: usize = 96;
/// The number of parameters that are described.
const PARAMETERS: usize = 8;
/// The number of saved arrays that are named.
const SAVED: usize = 4;
/// The greatest length of an expression that is a name of an array.
const EXPRESSION: usize = 40;

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
                all.push(format!("`{}`: {}", p.label, self.parameter(facts, &p.parts.tree())));
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
