//! The cost of a routine: its operations on real numbers and the bytes of its arrays as polynomials
//! of the sizes, and the arrays of the function that the derivative reads.
//!
//! The operations are those of `facts`, which a page shows statement by statement; this module only
//! adds them up. It must never count anything itself.

use std::collections::HashSet;

use ad_ir::ir::{Node, Term, TermTable};
use ad_ir::prim::Prim;
use ad_ir::sorted::{SortedMap, SortedSet};
use ad_middle::pipeline::explained::{Count, Formula};

use super::facts::Facts;
use super::plan::Work;

/// A polynomial of sizes with natural coefficients: products of atoms, each with its coefficient.
/// A coefficient saturates, as a literal of the function may be any number.
#[derive(Clone, Default, Debug)]
pub(super) struct Polynomial(SortedMap<Vec<Formula>, i128>);

/// The formula by which a size or a number is replaced, if it is replaced.
pub(super) type Known<'a> = dyn Fn(&Formula) -> Option<Formula> + 'a;

/// The number of products up to which a product of sums is multiplied out.
const LONGEST: usize = 16;

impl Polynomial {
    fn number(n: i128) -> Self {
        Polynomial::monomial(Vec::new(), n)
    }

    fn monomial(atoms: Vec<Formula>, coefficient: i128) -> Self {
        let mut all = SortedMap::new();
        if coefficient != 0 {
            all.insert(atoms, coefficient);
        }
        Polynomial(all)
    }

    /// The polynomial of a formula. What is neither a sum nor a product is an atom. `known`
    /// replaces sizes.
    pub(super) fn of(formula: &Formula, known: &Known<'_>) -> Self {
        let each = |args: &[Formula]| args.iter().map(|a| Polynomial::of(a, known)).collect::<Vec<_>>();
        match formula {
            Formula::Number(n) => i128::try_from(*n).map_or_else(|_| Polynomial::default(), Polynomial::number),
            Formula::Size(_) | Formula::Named(_) | Formula::Computed(_) | Formula::Unknown(_) => match known(formula) {
                Some(other) => Polynomial::of(&other, known),
                None => Polynomial::monomial(vec![formula.clone()], 1),
            },
            // A difference stays together: `n - m + 1` is one factor.
            Formula::Apply("+", args) if args.iter().any(is_difference) => {
                let args = each(args).iter().map(Polynomial::formula).collect();
                Polynomial::monomial(vec![Formula::Apply("+", args)], 1)
            }
            Formula::Apply("+", args) => each(args).iter().fold(Polynomial::default(), |sum, p| sum.plus(p, 1)),
            Formula::Apply("*", args) => each(args).iter().fold(Polynomial::number(1), |all, p| all.times(p)),
            Formula::Apply("-", args) if !is_difference(formula) => match &each(args)[..] {
                [a, b] => a.clone().plus(b, -1),
                _ => Polynomial::default(),
            },
            Formula::Apply(op, args) => {
                let args = args.iter().map(|a| Polynomial::of(a, known).formula()).collect();
                Polynomial::monomial(vec![Formula::Apply(op, args)], 1)
            }
        }
    }

    pub(super) fn plus(mut self, other: &Polynomial, times: i128) -> Polynomial {
        self.add(other, times);
        self
    }

    pub(super) fn add(&mut self, other: &Polynomial, times: i128) {
        for (atoms, &n) in &other.0 {
            match self.0.get_mut(atoms) {
                Some(sum) => *sum = sum.saturating_add(times.saturating_mul(n)),
                None => drop(self.0.insert(atoms.clone(), times.saturating_mul(n))),
            }
        }
        self.0.retain(|_, n| *n != 0);
    }

    fn times(&self, other: &Polynomial) -> Polynomial {
        let unmultiplied = || Polynomial::monomial(vec![self.formula(), other.formula()], 1);
        if self.0.len() * other.0.len() > LONGEST {
            return unmultiplied();
        }
        let mut all = Polynomial::default();
        for (a, n) in &self.0 {
            for (b, m) in &other.0 {
                let mut atoms = [a.clone(), b.clone()].concat();
                atoms.sort();
                // A saturated product would be a wrong formula.
                let Some(product) = n.checked_mul(*m) else { return unmultiplied() };
                all.add(&Polynomial::monomial(atoms, product), 1);
            }
        }
        all
    }

    /// The polynomial as a formula again.
    fn formula(&self) -> Formula {
        let one = |(atoms, &n): (&Vec<Formula>, &i128)| {
            let number = Formula::Number(usize::try_from(n.unsigned_abs()).unwrap_or(usize::MAX));
            let mut factors = atoms.clone();
            if number != Formula::Number(1) || factors.is_empty() {
                factors.insert(0, number);
            }
            if factors.len() == 1 { factors.remove(0) } else { Formula::Apply("*", factors) }
        };
        let added: Vec<Formula> = self.0.iter().filter(|(_, n)| **n > 0).map(one).collect();
        let taken: Vec<Formula> = self.0.iter().filter(|(_, n)| **n < 0).map(one).collect();
        let sum = match added.len() {
            0 => Formula::Number(0),
            1 => added[0].clone(),
            _ => Formula::Apply("+", added),
        };
        taken.into_iter().fold(sum, |sum, one| Formula::Apply("-", vec![sum, one]))
    }

    pub(super) fn is_zero(&self) -> bool {
        self.0.is_empty()
    }

    /// The products and their coefficients: those of the most factors first.
    pub(super) fn monomials(&self) -> Vec<(&[Formula], i128)> {
        let mut all: Vec<(&[Formula], i128)> = self.0.iter().map(|(atoms, &n)| (&atoms[..], n)).collect();
        all.sort_by_key(|(atoms, _)| std::cmp::Reverse(atoms.len()));
        all
    }

    /// Whether it is of at most two products, of sizes and numbers of the caller.
    pub(super) fn is_of_sizes(&self) -> bool {
        let of_caller = |a: &Formula| matches!(a, Formula::Number(_) | Formula::Size(_) | Formula::Named(_));
        self.0.len() <= 2 && self.0.keys().flatten().all(of_caller)
    }

    /// Whether a product has two factors that differ from step to step: the product of their
    /// averages is not the average of their products.
    pub(super) fn is_unknown(&self) -> bool {
        self.0.keys().any(|atoms| atoms.iter().filter(|a| is_unknown(a)).count() > 1)
    }
}

/// Whether a formula is a difference of sizes.
fn is_difference(formula: &Formula) -> bool {
    matches!(formula, Formula::Apply("-", args) if !matches!(args[..], [_, Formula::Number(_)]))
}

/// Whether a formula depends on a number that may differ from step to step.
fn is_unknown(formula: &Formula) -> bool {
    match formula {
        Formula::Unknown(_) => true,
        Formula::Number(_) | Formula::Size(_) | Formula::Named(_) | Formula::Computed(_) => false,
        Formula::Apply(_, args) => args.iter().any(is_unknown),
    }
}

/// Numbers of operations.
#[derive(Default, Debug)]
pub(super) struct Operations {
    pub(super) arithmetic: Polynomial,
    pub(super) divisions: Polynomial,
    pub(super) functions: Polynomial,
}

impl Operations {
    fn add(&mut self, counts: &[Count], runs: &Polynomial, known: &Known<'_>) {
        for count in counts {
            let each = count.times.iter().map(|f| Polynomial::of(f, known));
            let times = each.fold(runs.clone(), |all, p| all.times(&p));
            let kinds = [
                (&mut self.arithmetic, count.arithmetic),
                (&mut self.divisions, count.divisions),
                (&mut self.functions, count.functions),
            ];
            for (sum, n) in kinds {
                if n > 0 {
                    sum.add(&times, i128::try_from(n).unwrap_or(i128::MAX));
                }
            }
        }
    }

    /// The kinds, in the order of a table.
    pub(super) fn kinds(&self) -> [&Polynomial; 3] {
        [&self.arithmetic, &self.divisions, &self.functions]
    }
}

/// The cost of a routine.
#[derive(Default, Debug)]
pub(super) struct Cost {
    /// All operations.
    pub(super) all: Operations,
    /// Those of them that the value of the function needs, if that is known.
    pub(super) of_function: Option<Operations>,
    /// The bytes of the arrays that statements store.
    pub(super) bytes: Polynomial,
    /// The arrays of the function that the derivative reads, with their bytes.
    pub(super) saved: Vec<(Term, Polynomial)>,
    /// The operations that are not counted.
    pub(super) uncounted: SortedSet<String>,
}

/// The cost of a routine. `known` replaces sizes.
pub(super) fn cost(facts: &Facts<'_>, known: &Known<'_>) -> Cost {
    let plan = facts.plan;
    let own = facts.of_function.as_ref();
    let mut cost = Cost { of_function: own.map(|_| Operations::default()), ..Cost::default() };
    let in_blocks: HashSet<Term> = plan.tiles.iter().flat_map(|tile| tile.private.iter().copied()).collect();
    let mut stack: Vec<(usize, Polynomial)> = plan.order.iter().map(|&k| (k, Polynomial::number(1))).collect();
    while let Some((k, runs)) = stack.pop() {
        if let (Work::Loop(n), Some(steps)) = (&plan.steps[k].work, facts.steps_of(k)) {
            let inside = runs.times(&Polynomial::of(&steps, known));
            stack.extend(plan.bodies[*n].iter().map(|&b| (b, inside.clone())));
        }
        let results = plan.results_of(k);
        for &t in results.iter().filter(|t| facts.is_stored(**t) && !in_blocks.contains(t)) {
            let bytes = Polynomial::of(&facts.bytes(t), known);
            cost.bytes.add(&bytes, 1);
            if own.is_some_and(|own| is_saved(facts, own, t)) {
                cost.saved.push((t, bytes));
            }
        }
        let Some(counts) = facts.counts(k, &|_| true) else {
            cost.uncounted.extend(results.iter().map(|&t| uncounted(facts, t)));
            continue;
        };
        cost.all.add(&counts, &runs, known);
        if let (Some(own), Some(of_function)) = (own, &mut cost.of_function) {
            let part = results.iter().filter(|t| own[**t]).count();
            if part == results.len() {
                of_function.add(&counts, &runs, known);
            } else if part > 0 {
                of_function.add(&facts.counts(k, &|t| own[t]).unwrap_or_default(), &runs, known);
            }
        }
    }
    cost.saved.sort_by_key(|(t, _)| t.index());
    cost
}

/// Whether a stored array has values of the function that a statement of the derivative reads.
fn is_saved(facts: &Facts<'_>, own: &TermTable<bool>, t: Term) -> bool {
    let plan = facts.plan;
    let of_function = own[t] || facts.row_of(t).is_some_and(|row| own[row]);
    let of_derivative = |k: &usize| {
        let results = plan.results_of(*k);
        !results.is_empty() && results.iter().any(|t| !own[*t])
    };
    of_function && plan.readers.get(&t).is_some_and(|readers| readers.iter().any(of_derivative))
}

/// The name of an operation that is not counted.
fn uncounted(facts: &Facts<'_>, t: Term) -> String {
    match facts.g.node(t) {
        Node::Prim(Prim::Call(_) | Prim::Onto(..) | Prim::Returned(..), _) => "calls of functions".into(),
        Node::Prim(prim, _) => format!("`{}`", prim.name()),
        _ => "copies".into(),
    }
}
