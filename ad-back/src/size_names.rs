//! The letters that stand for sizes in the documentation of a derivative, and formulas with them.
//!
//! Sizes that an entry check compares are equal wherever the function returns, and have one letter.
//! This module must never explain a letter that no text uses.

use std::cell::RefCell;
use std::collections::HashMap;

use ad_ir::ir::{Node, Term};
use ad_ir::prim::{Cmp, Prim};
use ad_ir::program::{Check, Phase, Program};
use ad_ir::sorted::SortedSet;
use ad_middle::pipeline::explained::Formula;

use super::cost::Polynomial;
use super::facts::Facts;

/// The number of products of sizes that a formula has.
const PRODUCTS: usize = 6;
/// The letters for sizes, in order.
const LETTERS: &str = "nmklpqrstuvwabcdefghij";

/// The names of sizes. Equal sizes have one name.
pub(super) struct Names {
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
    pub(super) fn new(facts: &Facts<'_>, program: &Program, checks: &[Check]) -> Names {
        let constants = program.constants.iter().map(|c| c.path.to_string());
        let taken: SortedSet<String> = program.declared.iter().map(|p| p.name.to_string()).chain(constants).collect();
        let letters = LETTERS.chars().map(String::from).filter(|l| !taken.contains(l));
        let mut left: Vec<String> = letters.collect();
        left.reverse();
        let of_parameter = |size: &str| program.params.iter().any(|p| of(size).1 == p.label);
        let mut equal: HashMap<String, String> = HashMap::new();
        for (a, b) in checks.iter().filter(|c| c.phase == Phase::Entry).flat_map(|c| equal_sizes(facts, c.ok)) {
            let (a, b) = (first(&equal, &a), first(&equal, &b));
            // Readers know the function's parameters, and not a cotangent.
            let (a, b) = if !of_parameter(&a) && of_parameter(&b) { (b, a) } else { (a, b) };
            if a != b {
                equal.insert(b, a);
            }
        }
        Names { taken, equal, left: left.into(), given: RefCell::default(), unexplained: RefCell::default() }
    }

    /// The size that stands for all that are equal to this one, if it is another one.
    pub(super) fn known(&self, formula: &Formula) -> Option<Formula> {
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
    pub(super) fn of_axis(&self, size: &str) -> String {
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
    pub(super) fn polynomial(&self, p: &Polynomial) -> Option<String> {
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
    pub(super) fn explained(&self) -> Option<String> {
        let (mut sizes, mut computed, mut unknown) = (Vec::new(), Vec::new(), Vec::new());
        for (formula, name) in self.unexplained.take() {
            match formula {
                Formula::Size(size) => {
                    let what = match of(&size) {
                        (what @ ("rows" | "columns"), of) => format!("the number of {what} of `{of}`"),
                        (what, of) => format!("the {what} of `{of}`"),
                    };
                    sizes.push(format!("`{name}` is {what}"));
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

/// What a size is, and of which array.
fn of(size: &str) -> (&str, &str) {
    size.split_once(" of ").unwrap_or(("size", size))
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

/// Names as a list in words.
pub(super) fn list(all: &[String]) -> String {
    match all {
        [] => String::new(),
        [one] => one.clone(),
        [rest @ .., last] => format!("{} and {last}", rest.join(", ")),
    }
}
