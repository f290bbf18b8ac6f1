//! Compares results with expected values, and reports the worst entry, by parameter and index.

use alloc::format;
use alloc::string::String;
use alloc::vec;
use alloc::vec::Vec;

use super::{Check, Entry, Leaf, Nearby, Tangent, slope, weights};

/// One comparison: the entry, the result, the value by finite differences.
type Compared = (EntryPosition, f64, f64);

/// The position of a compared number. It is formatted for the worst one only.
#[derive(Clone, Copy, Debug)]
enum EntryPosition {
    /// The function's value.
    Value(usize),
    /// The derivative of a component of the result with respect to an entry. Without a component,
    /// the derivative of all components, weighted by a cotangent.
    By(Entry, Option<usize>),
    /// The derivative of a component along a tangent of all parameters.
    Along(usize),
    /// The second derivative with respect to two entries.
    Twice(Entry, Entry),
    /// The sum of the second derivatives with respect to each entry.
    Trace,
    /// `<u, J t> = <J' u, t>`.
    Both,
}

/// An entry of a gradient.
pub(super) fn entry(parts: &[Leaf], at: Entry) -> f64 {
    parts.get(at.of).and_then(|part| part.values.get(at.at)).copied().unwrap_or(f64::NAN)
}

impl Check<'_> {
    /// Compares the value that a derivative returns with that of the function.
    pub(super) fn same_value(&self, option: &str, found: &Leaf) {
        let call = self.how.0;
        assert!(found.shape == self.value.shape, "check_grad!({call}): the value of `{option}` is of another shape");
        let all = found.values.iter().zip(&self.value.values).enumerate();
        self.judge(option, 1.0, all.map(|(i, (&a, &b))| (EntryPosition::Value(i), a, b)).collect());
    }

    /// Checks that the parts of a gradient have the shapes of their parameters.
    fn fitting(&self, option: &str, parts: &[Leaf]) {
        let call = self.how.0;
        assert!(parts.len() == self.points.len(), "check_grad!({call}): `{option}` has {} parts", parts.len());
        for (part, point) in parts.iter().zip(&self.points) {
            assert!(
                part.shape == point.leaf.shape,
                "check_grad!({call}): the part of `{option}` for `{}` is of shape {:?} instead of {:?}",
                point.name,
                part.shape,
                point.leaf.shape,
            );
        }
    }

    /// Checks a reverse-mode result for a cotangent.
    pub(super) fn backwards(&mut self, option: &str, value: &Leaf, parts: Vec<Leaf>, weights: Vec<f64>) {
        self.same_value(option, value);
        self.fitting(option, &parts);
        let weighted = |column: &[f64]| column.iter().zip(&weights).map(|(d, w)| d * w).sum();
        let all =
            self.columns().iter().map(|(e, column)| (EntryPosition::By(*e, None), entry(&parts, *e), weighted(column)));
        self.judge(option, 1.0, all.collect());
        self.reverse = Some((weights, parts));
    }

    /// The blocks of a Jacobian: the result's indices first.
    pub(super) fn blocks(&self, option: &str, blocks: &[Leaf]) {
        let call = self.how.0;
        assert!(blocks.len() == self.points.len(), "check_grad!({call}): `{option}` has {} parts", blocks.len());
        for (block, point) in blocks.iter().zip(&self.points) {
            let shape = [&self.value.shape[..], &point.leaf.shape[..]].concat();
            let name = point.name;
            // An empty static array has no inner shape.
            let fits = block.shape == shape || block.values.is_empty() && shape.contains(&0);
            assert!(
                fits,
                "check_grad!({call}): the block for `{name}` is of shape {:?} instead of {shape:?}",
                block.shape
            );
        }
        let mut all = Vec::new();
        for (e, column) in self.columns() {
            let n = self.points[e.of].leaf.values.len();
            for (i, &expected) in column.iter().enumerate() {
                let found = blocks[e.of].values.get(i * n + e.at).copied().unwrap_or(f64::NAN);
                all.push((EntryPosition::By(*e, Some(i)), found, expected));
            }
        }
        self.judge(option, 1.0, all);
    }

    /// A tangent that is 1 at an entry.
    fn unit(&self, at: Entry) -> Tangent {
        let mut along = Tangent(self.points.iter().map(|p| vec![0.0; p.leaf.values.len()]).collect());
        along.0[at.of][at.at] = 1.0;
        along
    }

    /// A tangent without zeros.
    fn tangent(&self) -> Tangent {
        let total = self.points.iter().map(|p| p.leaf.values.len()).sum();
        let mut signed = weights(total).into_iter().enumerate().map(|(i, w)| if i % 3 == 1 { -w } else { w });
        Tangent(self.points.iter().map(|p| signed.by_ref().take(p.leaf.values.len()).collect()).collect())
    }

    /// The forward derivative, along every compared entry, and along all entries together.
    pub(super) fn forwards(&mut self, of: impl Fn(&Tangent) -> (Leaf, Leaf)) {
        let call = self.how.0;
        let mut all = Vec::new();
        let shape = &self.value.shape;
        let of = |along: &Tangent| {
            let (value, tangent) = of(along);
            assert!(tangent.shape == *shape, "check_grad!({call}): the tangent of the result is of another shape");
            (value, tangent)
        };
        for (e, column) in self.columns() {
            let found = of(&self.unit(*e)).1;
            let place = |i: usize| EntryPosition::By(*e, Some(i));
            all.extend(column.iter().enumerate().map(|(i, &expected)| (place(i), found.values[i], expected)));
        }
        self.judge("jvp", 1.0, all);
        let tangent = self.tangent();
        let (value, found) = of(&tangent);
        self.same_value("jvp", &value);
        let moves = self.all_entries(usize::MAX);
        let along = |h: f64| {
            let by = |e: &Entry| (*e, h * tangent.0[e.of][e.at]);
            (self.function)(&Nearby(moves.iter().map(by).collect())).values
        };
        // With few entries, the derivative along a direction that changes all of them is compared
        // too.
        if moves.len() <= super::MAX_ENTRIES {
            let expected = slope(if self.is_single() { 3e-2 } else { 1e-3 }, self.is_single(), along);
            let all = found.values.iter().zip(expected).enumerate();
            self.judge(
                "jvp",
                1.0,
                all.map(|(i, (&found, expected))| (EntryPosition::Along(i), found, expected)).collect(),
            );
        }
        self.forward = Some((tangent, found));
    }

    /// `<u, J t> = <J' u, t>`: the forward derivative against the reverse one.
    pub(super) fn both_ways(&self) {
        if let (Some((tangent, found)), Some((weights, parts))) = (&self.forward, &self.reverse) {
            let left: f64 = found.values.iter().zip(weights).map(|(a, b)| a * b).sum();
            let inner =
                |(part, along): (&Leaf, &Vec<f64>)| -> f64 { part.values.iter().zip(along).map(|(a, b)| a * b).sum() };
            let right = parts.iter().zip(&tangent.0).map(inner).sum();
            // No finite difference is involved here.
            self.judge("jvp", 0.01, vec![(EntryPosition::Both, left, right)]);
        }
    }

    /// Products with the Hessian, along every entry that is compared.
    pub(super) fn products(&self, of: impl Fn(&Tangent) -> Vec<Leaf>) {
        let mut all = Vec::new();
        let mut last: Option<(Entry, Vec<Leaf>)> = None;
        for &(a, b, expected) in self.second_derivatives() {
            if last.as_ref().is_none_or(|l| l.0 != a) {
                let parts = of(&self.unit(a));
                self.fitting("hvp", &parts);
                last = Some((a, parts));
            }
            let found = last.as_ref().map_or(f64::NAN, |l| entry(&l.1, b));
            all.push((EntryPosition::Twice(a, b), found, expected));
        }
        self.judge("hvp", 1.0, all);
    }

    /// The Hessian of all active parameters, as a matrix over their entries.
    pub(super) fn whole_hessian(&self, hessian: &Leaf) {
        let call = self.how.0;
        let sizes: Vec<usize> = self.points.iter().map(|p| p.leaf.values.len()).collect();
        let n: usize = sizes.iter().sum();
        let found = hessian.values.len();
        assert!(found == n * n, "check_grad!({call}): `hessian` has {found} entries instead of {n} times {n}");
        let place = |e: Entry| sizes[..e.of].iter().sum::<usize>() + e.at;
        let all = self
            .second_derivatives()
            .iter()
            .map(|&(a, b, expected)| (EntryPosition::Twice(a, b), hessian.values[place(b) * n + place(a)], expected));
        self.judge("hessian", 1.0, all.collect());
    }

    /// `f_laplacian`: the sum of the second derivatives with respect to each entry.
    pub fn laplacian(&mut self, of: impl FnOnce() -> Leaf) {
        if !self.wanted("laplacian") {
            return;
        }
        let curvature = |e: Entry| {
            let Some(gradient) = &self.gradient else { return self.twice(e, e) };
            slope(self.step(e), self.is_single(), |h| vec![entry(&gradient(&Nearby::default().and(e, h)).1, e)])[0]
        };
        let diagonal: Vec<f64> = self.all_entries(usize::MAX).into_iter().map(curvature).collect();
        let found = of().values.first().copied().unwrap_or(f64::NAN);
        let expected: f64 = diagonal.iter().sum();
        // Errors of finite differences add up where the second derivatives cancel.
        let total: f64 = diagonal.iter().map(|x| x.abs()).sum();
        let part = total.max(1.0) / expected.abs().max(1.0);
        self.judge("laplacian", part, vec![(EntryPosition::Trace, found, expected)]);
    }

    /// `f_grad_each` of two examples that are the same: each has the gradient of the function with
    /// respect to the parameters that they share.
    pub fn grad_each(&mut self, shared: &[usize], of: impl FnOnce() -> super::Gradient) {
        let option = "per_example";
        if !self.wanted(option) {
            return;
        }
        let (values, parts) = of();
        for example in 0..2 {
            self.same_value(option, &self.of_example(&values, example));
            let parts: Vec<Leaf> = parts.iter().map(|part| self.of_example(part, example)).collect();
            for (part, &k) in parts.iter().zip(shared) {
                let (call, point) = (self.how.0, &self.points[k]);
                let (found, expected) = (&part.shape, &point.leaf.shape);
                assert!(
                    found == expected,
                    "check_grad!({call}): the part of `{option}` for `{}` is of shape {found:?} instead of {expected:?}",
                    point.name,
                );
            }
            let of_shared = self.columns().iter().filter_map(|(e, column)| {
                let part = &parts[shared.iter().position(|&k| k == e.of)?];
                Some((EntryPosition::By(*e, None), part.values[e.at], column[0]))
            });
            self.judge(option, 1.0, of_shared.collect());
        }
    }

    /// The entries of one of two examples.
    fn of_example(&self, both: &Leaf, example: usize) -> Leaf {
        let (call, half) = (self.how.0, both.values.len() / 2);
        assert!(both.shape.first() == Some(&2), "check_grad!({call}): `per_example` returns other than two examples");
        Leaf { shape: both.shape[1..].to_vec(), values: both.values[example * half..][..half].to_vec() }
    }

    /// Panics with the worst comparison if an error exceeds the tolerance, relative to the largest
    /// value compared.
    fn judge(&self, option: &str, part: f64, all: Vec<Compared>) {
        let scale = all.iter().flat_map(|c| [c.1, c.2]).filter(|x| x.is_finite()).fold(1.0, |m: f64, x| m.max(x.abs()));
        let allowed = self.how.2.unwrap_or(part * if self.is_single() { 2e-3 } else { 1e-6 }) * scale;
        let mut worst: Option<(f64, Compared)> = None;
        for compared in all {
            let (_, found, expected) = compared;
            let same = found == expected || found.is_nan() && expected.is_nan();
            let error = if same { 0.0 } else { (found - expected).abs() };
            // NaN counts as the largest error.
            let excess = if error.is_nan() { f64::INFINITY } else { error / allowed };
            if worst.as_ref().is_none_or(|w| excess > w.0) {
                worst = Some((excess, compared));
            }
        }
        let Some((excess, (place, found, expected))) = worst else { return };
        let call = self.how.0;
        let (this, that) = match place {
            EntryPosition::Value(_) => ("derivative's: ", "function's:   "),
            EntryPosition::Both => ("forwards:     ", "backwards:    "),
            _ => ("derivative:   ", "differences:  "),
        };
        let hint = match place {
            EntryPosition::Value(_) | EntryPosition::Both => "",
            _ => {
                "\n  A decision (a branch, an index, `floor`) that changes here, or next to here, has no difference: then check at another point."
            }
        };
        assert!(
            excess <= 1.0,
            "check_grad!({call}): `{option}` is wrong, or the function is not smooth here\n  worst:        {}\n  {this}{found:e}\n  {that}{expected:e}\n  allowed:      {allowed:e}{hint}",
            self.place(place),
        );
    }

    fn place(&self, place: EntryPosition) -> String {
        let entry = |e: Entry| {
            let point = &self.points[e.of];
            let index = index(e.at, &point.leaf.shape);
            if index.is_empty() {
                format!("parameter `{}`", point.name)
            } else {
                format!("parameter `{}`, entry {index}", point.name)
            }
        };
        let component = |i: usize| {
            let index = index(i, &self.value.shape);
            if index.is_empty() { String::new() } else { format!(", component {index} of the result") }
        };
        match place {
            EntryPosition::Value(i) => format!("the value{}", component(i)),
            EntryPosition::By(e, i) => entry(e) + &i.map_or_else(String::new, component),
            EntryPosition::Along(i) => format!("all parameters together{}", component(i)),
            EntryPosition::Twice(a, b) => format!("{}, and {}", entry(a), entry(b)),
            EntryPosition::Trace => "the sum over all entries".into(),
            EntryPosition::Both => "`<u, J t>` and `<J' u, t>`".into(),
        }
    }
}

/// The indices of entry j of an array of this shape; empty for a scalar.
fn index(j: usize, shape: &[usize]) -> String {
    let mut rest = j;
    let mut index: Vec<usize> = Vec::new();
    for &n in shape.iter().rev() {
        index.push(rest % n.max(1));
        rest /= n.max(1);
    }
    index.reverse();
    if index.is_empty() { String::new() } else { format!("{index:?}") }
}
