//! What `check_grad!` runs: a derivative that was written, held against differences of the function, entry by entry.
//!
//! The macro knows names and no types; here types say what an argument is, how it is moved by a step and passed again, and what of a
//! gradient belongs to it. **Not for people**: stable only together with the macro.
//!
//! Must never pass because there was nothing to compare: a gradient that does not fit the arguments is a failure.

mod argument;
mod flat;

use std::fmt::Write as _;

pub use argument::{Argument, Owned, own};
pub use flat::{Flat, Leaf, Leaves, Passed, refill};

/// Entries of an argument that are compared at most; of larger ones, so many evenly spread.
const ENTRIES: usize = 256;

/// One comparison.
#[derive(Debug)]
struct Worst {
    what: String,
    found: f64,
    expected: f64,
    /// Over what is allowed.
    excess: f64,
}

/// A check in progress.
#[derive(Debug)]
pub struct Check {
    call: &'static str,
    arguments: Vec<Point>,
    /// Positions of the active arguments.
    active: Vec<usize>,
    chosen: bool,
    tolerance: Option<f64>,
    single: bool,
}

/// What is known of an argument.
#[derive(Debug)]
struct Point {
    text: &'static str,
    shape: Vec<usize>,
    values: Vec<f64>,
    real: bool,
}

/// A step from a point: of which argument, and by how much each of its entries.
#[derive(Clone, Debug)]
pub struct Step {
    /// The position of the argument, from 0.
    pub argument: usize,
    /// Which entries, and how far.
    pub moved: Vec<(usize, f64)>,
}

impl Check {
    /// A check of the derivatives of this call; `wrt` are positions of arguments.
    #[must_use]
    pub fn new(call: &'static str, wrt: Option<&[usize]>, tolerance: Option<f64>) -> Self {
        let active = wrt.unwrap_or_default().to_vec();
        Check { call, arguments: Vec::new(), active, chosen: wrt.is_some(), tolerance, single: false }
    }

    /// The next argument.
    pub fn argument<T: Argument>(&mut self, text: &'static str, own: &Owned<T>) {
        let flat = own.flat();
        let real = flat.is_real();
        self.single |= flat.is_single();
        if real && !self.chosen {
            self.active.push(self.arguments.len());
        }
        self.arguments.push(Point { text, shape: flat.shape(), values: flat.values(), real });
    }

    fn allowed(&self) -> f64 {
        self.tolerance.unwrap_or(if self.single { 2e-3 } else { 1e-6 })
    }

    /// The length of a step: so that neither the fourth derivatives of an ordinary function nor rounding say much.
    fn step(&self, x: f64) -> f64 {
        let h = if self.single { 3e-2 } else { 1e-3 };
        h * x.abs().max(1.0)
    }

    /// The derivative along a line by central differences of two steps (Richardson's extrapolation).
    fn slope(h: f64, along: impl Fn(f64) -> Vec<f64>) -> Vec<f64> {
        let central =
            |h: f64| -> Vec<f64> { along(h).iter().zip(along(-h)).map(|(a, b)| (a - b) / (2.0 * h)).collect() };
        central(0.5 * h).iter().zip(central(h)).map(|(fine, coarse)| (4.0 * fine - coarse) / 3.0).collect()
    }

    /// Weights that differ from entry to entry, neither zero nor equal.
    #[must_use]
    pub fn weights(n: usize) -> Vec<f64> {
        let mut x = 0.37;
        let next = |_| {
            x = (x * 1.618_033_988_75 + 0.271_828) % 1.0;
            0.5 + x
        };
        (0..n).map(next).collect()
    }

    /// The tangent that argument k gets; zero if it is not active.
    #[must_use]
    pub fn tangent(&self, k: usize) -> Vec<f64> {
        let n = self.arguments[k].values.len();
        let shift = Check::weights(n + k);
        shift[k..].iter().enumerate().map(|(i, w)| if i % 2 == 0 { *w } else { -w }).collect()
    }

    fn entries(&self, k: usize) -> Vec<usize> {
        let n = self.arguments[k].values.len();
        if n <= ENTRIES { (0..n).collect() } else { (0..ENTRIES).map(|i| i * (n - 1) / (ENTRIES - 1)).collect() }
    }

    /// The gradient's leaves, one for each active argument.
    fn matched<'l>(&self, option: &str, leaves: &'l [Leaf]) -> Vec<(usize, &'l Leaf)> {
        let reals = self.active.iter().all(|&k| self.arguments.get(k).is_some_and(|a| a.real));
        assert!(
            leaves.len() == self.active.len() && reals,
            "check_grad!({}): `{option}` has {} parts, and {} arguments are of real type: say which they belong to, `wrt(0, 2)`",
            self.call,
            leaves.len(),
            self.active.len(),
        );
        self.active.iter().copied().zip(leaves).collect()
    }

    /// Entries of leaves against differences: entry (i, j) of the leaf of an argument is the derivative of component i of `of` along
    /// coordinate j. With weights, of their product with the components instead.
    pub fn columns(&self, option: &str, leaves: &[Leaf], weights: Option<&[f64]>, of: impl Fn(&[Step]) -> Vec<f64>) {
        let mut all = Vec::new();
        for (k, leaf) in self.matched(option, leaves) {
            let argument = &self.arguments[k];
            let n = argument.values.len();
            for j in self.entries(k) {
                let along = |h: f64| of(&[Step { argument: k, moved: vec![(j, h)] }]);
                let mut column = Check::slope(self.step(argument.values[j]), along);
                if let Some(weights) = weights {
                    column = vec![column.iter().zip(weights).map(|(d, w)| d * w).sum()];
                }
                assert!(
                    leaf.values.len() == column.len() * n,
                    "check_grad!({}): the part of `{option}` for argument {} has {} entries instead of {} times {n}",
                    self.call,
                    k + 1,
                    leaf.values.len(),
                    column.len(),
                );
                for (i, &expected) in column.iter().enumerate() {
                    let mut what = format!("argument {} (`{}`){}", k + 1, argument.text, place(j, &argument.shape));
                    if column.len() > 1 {
                        let _ = write!(what, ", component {i} of the result");
                    }
                    all.push((what, leaf.values[i * n + j], expected));
                }
            }
        }
        self.judge(option, all);
    }

    /// Components of a derivative along the tangents of [`Check::tangent`] against differences along them.
    pub fn directional(&self, option: &str, found: &[f64], of: impl Fn(&[Step]) -> Vec<f64>) {
        let along = |h: f64| {
            let steps: Vec<Step> = self
                .active
                .iter()
                .map(|&k| {
                    let moved = self.tangent(k).into_iter().map(|t| h * t).enumerate().collect();
                    Step { argument: k, moved }
                })
                .collect();
            of(&steps)
        };
        let expected = Check::slope(self.step(0.0), along);
        assert!(
            expected.len() == found.len(),
            "check_grad!({}): `{option}` has {} components instead of {}",
            self.call,
            found.len(),
            expected.len()
        );
        let all = found.iter().zip(expected).enumerate();
        self.judge(option, all.map(|(i, (&found, expected))| (format!("component {i}"), found, expected)).collect());
    }

    /// `<u, J t> = <J' u, t>`: the forward derivative against the reverse one.
    pub fn both_ways(&self, forward: &[f64], weights: &[f64], leaves: &[Leaf]) {
        let left: f64 = forward.iter().zip(weights).map(|(a, b)| a * b).sum();
        let mut right = 0.0;
        for (k, leaf) in self.matched("vjp", leaves) {
            right += leaf.values.iter().zip(self.tangent(k)).map(|(a, b)| a * b).sum::<f64>();
        }
        self.judge("forward against reverse", vec![("<u, J t> and <J' u, t>".into(), left, right)]);
    }

    /// The value that a derivative returns beside it against that of the function.
    pub fn value(&self, option: &str, found: &[f64], expected: &[f64]) {
        assert!(found.len() == expected.len(), "check_grad!({}): the value of `{option}` has another size", self.call);
        let all = found.iter().zip(expected).enumerate();
        self.judge(option, all.map(|(i, (&a, &b))| (format!("value, component {i}"), a, b)).collect());
    }

    /// Panics with the worst comparison if any is off by more than is allowed, relative to the largest number around.
    fn judge(&self, option: &str, all: Vec<(String, f64, f64)>) {
        let scale = all.iter().flat_map(|c| [c.1, c.2]).filter(|x| x.is_finite()).fold(1.0, |m: f64, x| m.max(x.abs()));
        let allowed = self.allowed() * scale;
        let mut worst: Option<Worst> = None;
        for (what, found, expected) in all {
            let same = found == expected || found.is_nan() && expected.is_nan();
            let error = if same { 0.0 } else { (found - expected).abs() };
            // NaN is worse than anything.
            let excess = if error.is_nan() { f64::INFINITY } else { error / allowed };
            if worst.as_ref().is_none_or(|w| excess > w.excess) {
                worst = Some(Worst { what, found, expected, excess });
            }
        }
        let Some(Worst { what, found, expected, excess }) = worst else { return };
        let call = self.call;
        assert!(
            excess <= 1.0,
            "check_grad!({call}): `{option}` is wrong, or the function is not smooth here\n  worst: {what}\n  derivative:  {found:e}\n  differences: {expected:e}\n  allowed:     {allowed:e}",
        );
    }
}

/// The indices of entry j of an array of this shape.
fn place(j: usize, shape: &[usize]) -> String {
    let mut rest = j;
    let mut index: Vec<usize> = shape
        .iter()
        .rev()
        .map(|&n| {
            let at = rest % n.max(1);
            rest /= n.max(1);
            at
        })
        .collect();
    index.reverse();
    if index.is_empty() { String::new() } else { format!(", entry {index:?}") }
}
