//! The roots of a program, in named groups by purpose. Passes take and return all groups at once.
//! No code finds a group by its position in a list.

use ad_ir::ir::Term;

/// A condition that must hold, and the values that the message shows if it does not.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct CheckRoots {
    /// The condition.
    pub ok: Term,
    /// The values that the message shows.
    pub shown: Vec<Term>,
}

/// The named groups of roots.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Roots {
    /// The results. In the function: those that derivatives are taken of. In a derivative: those
    /// that its routine returns.
    pub values: Vec<Term>,
    /// The results as a derivative computes them, if it returns others. No routine returns these,
    /// but their decisions are decisions of the function.
    pub differentiated: Vec<Term>,
    /// The derivatives. Empty in the function itself.
    pub derivatives: Vec<Term>,
    /// The conditions under which the function does not panic.
    pub checks: Vec<CheckRoots>,
    /// The results of the function as counting runs compute them. A counting run runs a loop that
    /// stops early once, without a derivative, to count its iterations. A derivative returns these
    /// instead of `values`. Empty if there are no counting runs.
    pub counting_runs: Vec<Term>,
}

impl Roots {
    /// The roots of a function that has results only.
    #[must_use]
    pub fn of_values(values: &[Term]) -> Self {
        Roots { values: values.to_vec(), ..Roots::default() }
    }

    /// All roots, in a fixed order.
    #[must_use]
    pub fn all(&self) -> Vec<Term> {
        let checks = self.checks.iter().flat_map(|c| std::iter::once(&c.ok).chain(&c.shown));
        let results = self.values.iter().chain(&self.differentiated).chain(&self.derivatives);
        results.chain(checks).chain(&self.counting_runs).copied().collect()
    }

    /// The roots of the function: all but the derivatives. Their decisions are decisions of the
    /// function.
    #[must_use]
    pub fn function(&self) -> Vec<Term> {
        Roots { derivatives: Vec::new(), ..self.clone() }.all()
    }

    /// The same groups, with the roots that `new` returns for all of them.
    #[must_use]
    pub fn map(&self, new: impl FnOnce(&[Term]) -> Vec<Term>) -> Roots {
        let all = self.all();
        let new = new(&all);
        assert_eq!(new.len(), all.len(), "a pass returns as many roots as it is given");
        let mut new = new.into_iter();
        let mut each = |old: &[Term]| -> Vec<Term> { (&mut new).take(old.len()).collect() };
        Roots {
            values: each(&self.values),
            differentiated: each(&self.differentiated),
            derivatives: each(&self.derivatives),
            checks: self.checks.iter().map(|c| CheckRoots { ok: each(&[c.ok])[0], shown: each(&c.shown) }).collect(),
            counting_runs: each(&self.counting_runs),
        }
    }
}
