//! Runtime of `check_grad!`: compares every generated derivative with finite differences of the
//! function, entry by entry.
//!
//! The attribute emits one hidden function in addition to each function that it differentiates. The
//! hidden function knows names, types and active parameters, and passes closures to a [`Check`],
//! which works on numbers only. **Not a public API**: stable only together with the macros.
//!
//! A check never passes for lack of numbers to compare: a derivative that does not fit the
//! parameters is a failure, and so is a requested derivative that was not generated.

mod compare;
mod flat;

use alloc::boxed::Box;
use alloc::format;
use alloc::vec;
pub use alloc::vec::Vec;
use core::cell::OnceCell;

pub use flat::{
    Flat, Leaf, after, array, columns, leaf, leaked, refill, rows, shaped, slice, together, twice, unwritten,
};

/// The maximum number of entries of a parameter that are compared; of a larger parameter, this
/// number of entries is compared, evenly spread.
const MAX_ENTRIES: usize = 256;
/// The limit for second derivatives that are computed from the function alone. Each of these costs
/// sixteen calls.
const MAX_SECOND_ENTRIES: usize = 16;

/// What `check_grad!` of a function with `mode = "dual_numbers"` would need, if the types of the
/// function are not those of a rule. No type has it.
#[diagnostic::on_unimplemented(
    message = "`check_grad!` cannot check this function",
    label = "it has `mode = \"dual_numbers\"`, and a parameter or a result that `check_grad!` does not know",
    note = "all parameters and the result have to be numbers, arrays and tuples of the type parameter, and all have to be differentiated",
    note = "write a function of such parameters that calls this one, or compare `f_grad(..).to_flat()` with difference quotients"
)]
pub trait ChecksUnread {}

/// A result that may be absent.
pub trait Fallible {
    /// The type of a result that is present.
    type Value;
    /// The result, if it is present.
    fn value(self) -> Option<Self::Value>;
}

impl<T> Fallible for Option<T> {
    type Value = T;
    fn value(self) -> Option<T> {
        self
    }
}

impl<T, E> Fallible for Result<T, E> {
    type Value = T;
    fn value(self) -> Option<T> {
        self.ok()
    }
}

/// A result of a function or derivative that is checked.
///
/// # Panics
/// If there is none: a derivative is compared only where the function has a result.
#[track_caller]
pub fn present<T: Fallible>(result: T) -> T::Value {
    result.value().expect("the function returns `None` or an `Err` at, or near, the point of the check")
}

/// The call as the user wrote it, the derivatives that are checked (all if none is named), and the
/// tolerance.
pub type CheckCall<'a> = (&'a str, &'a [&'a str], Option<f64>);

/// A value and the parts of a gradient, one for each active parameter.
pub type Gradient = (Leaf, Vec<Leaf>);

/// An active parameter at the point of the check.
#[derive(Debug)]
pub struct Point {
    name: &'static str,
    leaf: Leaf,
    single: bool,
}

/// An active parameter at the point of the check.
pub fn point<X: Flat>(name: &'static str, x: &X) -> Point {
    Point { name, leaf: leaf(x), single: X::is_single() }
}

/// An entry of an active parameter.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
struct Entry {
    of: usize,
    at: usize,
}

/// A point near that of the check: the entries that differ, and the differences.
#[derive(Clone, Debug, Default)]
pub struct Nearby(Vec<(Entry, f64)>);

impl Nearby {
    /// Active parameter k at this point.
    #[must_use]
    pub fn moved<X: Flat>(&self, k: usize, x: &X) -> X {
        let mut copy = x.clone();
        let mut at = 0;
        copy.change(&mut |x| {
            let own = self.0.iter().filter(|(entry, _)| *entry == Entry { of: k, at });
            let by: f64 = own.map(|m| m.1).sum();
            at += 1;
            x + by
        });
        copy
    }

    fn and(&self, entry: Entry, by: f64) -> Nearby {
        Nearby(self.0.iter().copied().chain([(entry, by)]).collect())
    }
}

/// A tangent: the entries of each active parameter.
#[derive(Clone, Debug)]
pub struct Tangent(Vec<Vec<f64>>);

impl Tangent {
    /// The tangent of active parameter k.
    #[must_use]
    pub fn of<X: Flat>(&self, k: usize, like: &X) -> X {
        refill(like, &self.0[k])
    }
}

type Function<'a, R> = Box<dyn Fn(&Nearby) -> R + 'a>;

/// A check in progress.
pub struct Check<'a> {
    how: CheckCall<'a>,
    points: Vec<Point>,
    function: Function<'a, Leaf>,
    gradient: Option<Function<'a, Gradient>>,
    /// The function's value at the point.
    value: Leaf,
    /// Its derivative with respect to each entry that is compared, by finite differences.
    columns: OnceCell<Vec<(Entry, Vec<f64>)>>,
    /// Its second derivatives, by finite differences.
    second: OnceCell<Vec<(Entry, Entry, f64)>>,
    /// Reverse-mode result: a cotangent, and the gradient along it.
    reverse: Option<(Vec<f64>, Vec<Leaf>)>,
    /// Forward-mode result: a tangent, and the derivative along it.
    forward: Option<(Tangent, Leaf)>,
    written: Vec<&'static str>,
}

impl<'a> Check<'a> {
    /// A check of the derivatives of this function at a point.
    pub fn new(how: CheckCall<'a>, points: Vec<Point>, function: impl Fn(&Nearby) -> Leaf + 'a) -> Self {
        let value = function(&Nearby::default());
        Check {
            how,
            points,
            function: Box::new(function),
            gradient: None,
            value,
            columns: OnceCell::new(),
            second: OnceCell::new(),
            reverse: None,
            forward: None,
            written: Vec::new(),
        }
    }

    /// Whether a generated derivative is to be checked.
    fn wanted(&mut self, option: &'static str) -> bool {
        self.written.push(option);
        self.how.1.is_empty() || self.how.1.contains(&option)
    }

    /// `f_value_and_grad`, at any point.
    pub fn grad(&mut self, gradient: impl Fn(&Nearby) -> Gradient + 'a) {
        let wanted = self.wanted("grad");
        if wanted {
            let (value, parts) = gradient(&Nearby::default());
            self.backwards("grad", &value, parts, vec![1.0]);
        }
        // Second derivatives are compared with finite differences of the gradient.
        self.gradient = Some(Box::new(gradient));
    }

    /// `f_value_and_grad_into`, with destinations that are filled with NaN.
    pub fn value_and_grad_into(&mut self, gradient: impl FnOnce() -> Gradient) {
        if self.wanted("into") {
            let (value, parts) = gradient();
            self.backwards("into", &value, parts, vec![1.0]);
        }
    }

    /// `f_vjp`, given the entries of the cotangent.
    pub fn vjp(&mut self, of: impl FnOnce(&[f64]) -> Gradient) {
        if self.wanted("vjp") {
            let weights = weights(self.value.values.len());
            let (value, parts) = of(&weights);
            self.backwards("vjp", &value, parts, weights);
        }
    }

    /// `f_pullback`, whose closure is called once for each cotangent.
    pub fn pullback(&mut self, of: impl FnOnce(&[&[f64]]) -> (Leaf, Vec<Vec<Leaf>>)) {
        if self.wanted("pullback") {
            let first = weights(self.value.values.len());
            let second: Vec<f64> = first.iter().rev().map(|w| 1.0 - w).collect();
            let (value, all) = of(&[&first, &second]);
            for (parts, weights) in all.into_iter().zip([first, second]) {
                self.backwards("pullback", &value, parts, weights);
            }
        }
    }

    /// `f_value_and_jacobian`.
    pub fn jacobian(&mut self, of: impl FnOnce() -> Gradient) {
        if self.wanted("jacobian") {
            let (value, blocks) = of();
            self.same_value("jacobian", &value);
            self.blocks("jacobian", &blocks);
        }
    }

    /// `f_value_and_jacobian_sparse`, as a whole matrix.
    pub fn jacobian_sparse(&mut self, of: impl FnOnce() -> Gradient) {
        if self.wanted("jacobian(sparse)") {
            let (value, blocks) = of();
            self.same_value("jacobian(sparse)", &value);
            self.blocks("jacobian(sparse)", &blocks);
        }
    }

    /// `f_jvp`.
    pub fn jvp(&mut self, of: impl Fn(&Tangent) -> (Leaf, Leaf)) {
        if self.wanted("jvp") {
            self.forwards(of);
        }
    }

    /// `f_hvp`.
    pub fn hvp(&mut self, of: impl Fn(&Tangent) -> Vec<Leaf>) {
        if self.wanted("hvp") {
            self.products(of);
        }
    }

    /// `f_hessian`.
    pub fn hessian(&mut self, of: impl FnOnce() -> Leaf) {
        if self.wanted("hessian") {
            self.whole_hessian(&of());
        }
    }

    /// Final checks.
    ///
    /// # Panics
    /// If forward and reverse mode do not agree, or a derivative is requested that was not
    /// generated.
    pub fn done(self) {
        let missing = self.how.1.iter().find(|option| !self.written.contains(option));
        assert!(
            missing.is_none(),
            "check_grad!({}): there is no `{}`, the function's attribute writes {}",
            self.how.0,
            missing.unwrap_or(&""),
            self.written.iter().map(|w| format!("`{w}`")).collect::<Vec<_>>().join(", "),
        );
        self.both_ways();
    }

    /// The entries of a parameter that are compared.
    fn entries(&self, of: usize, most: usize) -> impl Iterator<Item = Entry> + use<> {
        let n = self.points[of].leaf.values.len();
        let entry = move |at| Entry { of, at };
        (0..n.min(most)).map(move |i| entry(if n <= most { i } else { i * (n - 1) / (most - 1) }))
    }

    fn all_entries(&self, most: usize) -> Vec<Entry> {
        (0..self.points.len()).flat_map(|k| self.entries(k, most)).collect()
    }

    fn is_single(&self) -> bool {
        self.points.iter().any(|p| p.single)
    }

    /// The step of a finite difference: small enough that the fourth derivatives of an ordinary
    /// function have little effect, and large enough that rounding has little effect.
    fn step(&self, entry: Entry) -> f64 {
        let h = if self.is_single() { 3e-2 } else { 1e-3 };
        h * self.points[entry.of].leaf.values[entry.at].abs().max(1.0)
    }

    /// The derivative of the function with respect to each compared entry.
    fn columns(&self) -> &[(Entry, Vec<f64>)] {
        self.columns.get_or_init(|| {
            let column = |e: Entry| {
                (e, slope(self.step(e), self.is_single(), |h| (self.function)(&Nearby::default().and(e, h)).values))
            };
            self.all_entries(MAX_ENTRIES).into_iter().map(column).collect()
        })
    }

    /// Second derivatives: differences of the gradient if there is one, of the function otherwise.
    fn second_derivatives(&self) -> &[(Entry, Entry, f64)] {
        self.second.get_or_init(|| {
            let Some(gradient) = &self.gradient else {
                let all = self.all_entries(MAX_SECOND_ENTRIES);
                let pairs = all.iter().flat_map(|&a| all.iter().map(move |&b| (a, b)));
                return pairs.map(|(a, b)| (a, b, self.twice(a, b))).collect();
            };
            let mut found = Vec::new();
            for a in self.all_entries(MAX_ENTRIES) {
                let along = |h: f64| {
                    let parts = gradient(&Nearby::default().and(a, h)).1;
                    self.all_entries(MAX_ENTRIES).iter().map(|b| compare::entry(&parts, *b)).collect()
                };
                let column = slope(self.step(a), self.is_single(), along);
                found.extend(self.all_entries(MAX_ENTRIES).into_iter().zip(column).map(|(b, x)| (a, b, x)));
            }
            found
        })
    }

    fn twice(&self, a: Entry, b: Entry) -> f64 {
        let inner = |h: f64| {
            let at = Nearby::default().and(a, h);
            slope(self.step(b), self.is_single(), |k| (self.function)(&at.and(b, k)).values)
        };
        slope(self.step(a), self.is_single(), inner).first().copied().unwrap_or(f64::NAN)
    }
}

/// The derivative along a line by central differences of two steps (Richardson's extrapolation). If
/// these disagree, a discontinuity of the function may be near: then the first smaller steps that
/// agree are used. Only values of the function are used, so that a wrong derivative cannot pass.
fn slope(h: f64, single: bool, along: impl Fn(f64) -> Vec<f64>) -> Vec<f64> {
    let central = |h: f64| -> Vec<f64> { along(h).iter().zip(along(-h)).map(|(a, b)| (a - b) / (2.0 * h)).collect() };
    let (near, smaller) = if single { (1e-2, 1) } else { (1e-5, 3) };
    let mut found: Vec<f64> = Vec::new();
    let mut open: Vec<bool> = Vec::new();
    let mut step = h;
    for _ in 0..=smaller {
        for (i, (fine, coarse)) in central(0.5 * step).into_iter().zip(central(step)).enumerate() {
            let agree = (fine - coarse).abs() <= near * fine.abs().max(coarse.abs()).max(1.0);
            let slope = (4.0 * fine - coarse) / 3.0;
            if i == found.len() {
                found.push(slope);
                open.push(!agree);
            } else if open[i] && agree {
                found[i] = slope;
                open[i] = false;
            }
        }
        if !open.contains(&true) {
            break;
        }
        step *= 0.1;
    }
    found
}

/// Weights that differ from entry to entry, neither zero nor equal.
fn weights(n: usize) -> Vec<f64> {
    let mut x = 0.37;
    let next = |_| {
        x = (x * 1.618_033_988_75 + 0.271_828) % 1.0;
        0.5 + x
    };
    (0..n).map(next).collect()
}
