//! The file of cases, and the comparison of a result with a case. Each case runs on every memory
//! layout of its inputs, with the same bits, and on inputs without elements.

mod array;
mod build;
mod derivative;
mod index;
mod loops;
mod model;
mod network;
mod product;
mod recur;
mod recursion;
mod scalar;

use std::cell::RefCell;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::LazyLock;

use ad::ndarray::{Array, Dimension};
use serde_json::Value;

// The attribute of the test, in its mode.
use crate::differentiate;
use crate::layouts::{LAYOUTS, Layout, stored};

/// The texts of the modules of cases, for the test that none is forgotten.
pub const SOURCES: [&str; 11] = [
    include_str!("array.rs"),
    include_str!("build.rs"),
    include_str!("derivative.rs"),
    include_str!("index.rs"),
    include_str!("loops.rs"),
    include_str!("model.rs"),
    include_str!("network.rs"),
    include_str!("product.rs"),
    include_str!("recur.rs"),
    include_str!("recursion.rs"),
    include_str!("scalar.rs"),
];

static CASES: LazyLock<Vec<Value>> =
    LazyLock::new(|| serde_json::from_str(include_str!("../data/gradients.json")).expect("the file of cases"));

/// How many annotated functions of the cases run in the mode of a test, and how many in the default
/// mode whatever the test is, since other modes do not take them.
pub fn taken() -> [usize; 2] {
    let mut found = [0; 2];
    for source in SOURCES {
        let own = source.contains("use super::{Case, differentiate};");
        found[usize::from(!own)] += source.matches("\n#[differentiate").count();
    }
    found
}

/// The names of all cases.
pub fn ids() -> impl Iterator<Item = String> {
    CASES.iter().map(|case| case["id"].as_str().expect("a name").to_owned())
}

/// One case.
pub struct Case {
    json: &'static Value,
    inputs: Inputs,
    /// The results that were compared.
    bits: RefCell<Vec<u64>>,
    /// The errors of results for inputs without elements. A panic is not an error there.
    wrong: RefCell<Vec<String>>,
}

/// The form of the inputs.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Inputs {
    /// The inputs of the case, in a memory layout.
    Given(Layout),
    /// Arrays of the same ranks with no elements.
    Empty,
}

impl Case {
    /// Runs a test of the case of this name for every memory layout of its inputs: the results have
    /// the same bits. Then the test runs for inputs without elements: it panics, or the gradients
    /// have no elements.
    pub fn in_every_layout(id: &str, test: impl Fn(&Case)) {
        let json = CASES.iter().find(|case| case["id"] == id).unwrap_or_else(|| panic!("no case {id}"));
        let new = |inputs| Case { json, inputs, bits: RefCell::default(), wrong: RefCell::default() };
        let mut first = None;
        for layout in LAYOUTS {
            let case = new(Inputs::Given(layout));
            test(&case);
            let bits = case.bits.into_inner();
            assert_eq!(first.get_or_insert_with(|| bits.clone()), &bits, "{id}, {layout:?}: other bits");
        }
        let case = new(Inputs::Empty);
        let _ = catch_unwind(AssertUnwindSafe(|| test(&case)));
        assert_eq!(case.wrong.into_inner(), Vec::<String>::new(), "{id}, without elements");
    }

    /// Numbers of a shape in the form of this run.
    fn made<T: Numbers>(&self, shape: &[usize], numbers: Vec<f64>) -> T {
        match self.inputs {
            Inputs::Empty if !shape.is_empty() => T::new(&vec![0; shape.len()], Vec::new()),
            Inputs::Empty => T::new(shape, numbers),
            Inputs::Given(layout) => T::new(shape, numbers).stored(layout),
        }
    }

    /// An input, in the shape that the case states.
    pub fn input<T: Numbers>(&self, name: &str) -> T {
        let input = &self.json["inputs"][name];
        let shape = sizes(&input["shape"]);
        self.made(&shape, self.numbers(name))
    }

    /// An input of a higher rank, as an array of the rank wanted.
    pub fn reshaped<T: Numbers, const N: usize>(&self, name: &str, shape: [usize; N]) -> T {
        self.made(&shape, self.numbers(name))
    }

    fn numbers(&self, name: &str) -> Vec<f64> {
        entries(&self.json["inputs"][name])
    }

    /// The cotangent of a `vjp` case.
    pub fn cotangent<T: Numbers>(&self) -> T {
        self.made(&self.value_shape(), flat(&self.json["cotangent"]))
    }

    /// The cotangent of a `grad` case: its derivative is that of the sum.
    pub fn ones<T: Numbers>(&self) -> T {
        self.ones_like(&self.value_shape())
    }

    /// The same for a result of another rank.
    pub fn ones_like<T: Numbers>(&self, shape: &[usize]) -> T {
        self.made(shape, vec![1.0; shape.iter().product()])
    }

    /// A parameter's tangent of a `jvp` case.
    pub fn tangent<T: Numbers>(&self, name: &str) -> T {
        let shape = sizes(&self.json["inputs"][name]["shape"]);
        self.made(&shape, flat(&self.json["tangent"][name]))
    }

    fn value_shape(&self) -> Vec<usize> {
        sizes(&self.json["value_shape"])
    }

    /// Compares a value and the derivatives of the parameters with the case.
    pub fn check(&self, value: &dyn Compare, derivatives: &[(&str, &dyn Compare)]) {
        if self.inputs == Inputs::Empty {
            for (name, derivative) in derivatives {
                let sized = !sizes(&self.json["inputs"][*name]["shape"]).is_empty();
                if sized && !derivative.numbers().is_empty() {
                    self.wrong.borrow_mut().push(format!("{name}: {:?}", derivative.numbers()));
                }
            }
            return;
        }
        let results = std::iter::once(value).chain(derivatives.iter().map(|d| d.1));
        self.bits.borrow_mut().extend(results.flat_map(|r| r.numbers()).map(f64::to_bits));
        let expected = flat(&self.json["expected_value"]);
        self.compare("value", value, &expected, &self.value_shape());
        let expected = self.json["expected"].as_object().expect("derivatives");
        assert_eq!(derivatives.len(), expected.len(), "number of derivatives");
        for (name, derivative) in derivatives {
            let expected = &expected[*name];
            let shape = sizes(&expected["shape"]);
            self.compare(name, *derivative, &entries(expected), &shape);
        }
    }

    /// Compares a value and a tangent of it with a `jvp` case.
    pub fn check_jvp(&self, value: &dyn Compare, tangent: &dyn Compare) {
        self.check(value, &[("out0", tangent)]);
    }

    /// The tolerance is that of the case: relative to the maximum of 1 and the expected number, or
    /// to the largest expected number if all are small.
    fn compare(&self, what: &str, got: &dyn Compare, expected: &[f64], shape: &[usize]) {
        if got.shape().len() == shape.len() {
            assert_eq!(got.shape(), shape, "shape of {what}");
        }
        assert_eq!(got.numbers().len(), expected.len(), "size of {what}");
        let tolerance = self.json["tolerance"].as_f64().expect("a tolerance");
        let largest = expected.iter().fold(0.0, |a: f64, e| a.max(e.abs()));
        let all_small = 0.0 < largest && largest < 1e-3;
        for (k, (got, expected)) in got.numbers().iter().zip(expected).enumerate() {
            let scale = if all_small { largest } else { expected.abs().max(1.0) };
            let error = (got - expected).abs() / scale;
            assert!(error <= tolerance, "{}: {what}, number {k}: {got} instead of {expected}", self.json["id"]);
        }
    }
}

/// The numbers of an input or a derivative: all of them, or one for all.
fn entries(json: &Value) -> Vec<f64> {
    match &json["fill"] {
        Value::Null => flat(&json["data"]),
        fill => vec![flat(fill)[0]; sizes(&json["shape"]).iter().product()],
    }
}

fn sizes(json: &Value) -> Vec<usize> {
    flat(json).iter().map(|&n| n as usize).collect()
}

/// The numbers of nested lists, in order.
fn flat(json: &Value) -> Vec<f64> {
    match json {
        Value::Array(parts) => parts.iter().flat_map(flat).collect(),
        number => vec![number.as_f64().expect("a number")],
    }
}

/// A type into which a case's numbers can be read.
pub trait Numbers: Sized {
    /// Makes a value from its numbers in row-major order.
    fn new(shape: &[usize], numbers: Vec<f64>) -> Self;
    /// The value in a memory layout, where there is a choice.
    fn stored(self, _: Layout) -> Self {
        self
    }
}

/// A result that can be compared with a case.
pub trait Compare {
    /// Sizes, outermost first.
    fn shape(&self) -> Vec<usize>;
    /// The numbers in row-major order.
    fn numbers(&self) -> Vec<f64>;
}

impl Numbers for f64 {
    fn new(_: &[usize], numbers: Vec<f64>) -> Self {
        numbers[0]
    }
}

impl Numbers for f32 {
    fn new(_: &[usize], numbers: Vec<f64>) -> Self {
        numbers[0] as f32
    }
}

impl Numbers for Vec<f64> {
    fn new(_: &[usize], numbers: Vec<f64>) -> Self {
        numbers
    }
}

impl<D: Dimension> Numbers for Array<f64, D> {
    fn new(shape: &[usize], numbers: Vec<f64>) -> Self {
        let dynamic = Array::from_shape_vec(shape, numbers).expect("a shape that fits");
        dynamic.into_dimensionality().expect("the rank wanted")
    }
    fn stored(self, layout: Layout) -> Self {
        stored(&self, layout)
    }
}

impl Compare for f64 {
    fn shape(&self) -> Vec<usize> {
        Vec::new()
    }
    fn numbers(&self) -> Vec<f64> {
        vec![*self]
    }
}

impl Compare for f32 {
    fn shape(&self) -> Vec<usize> {
        Vec::new()
    }
    fn numbers(&self) -> Vec<f64> {
        vec![f64::from(*self)]
    }
}

impl Compare for Vec<f64> {
    fn shape(&self) -> Vec<usize> {
        vec![self.len()]
    }
    fn numbers(&self) -> Vec<f64> {
        self.clone()
    }
}

impl<D: Dimension> Compare for Array<f64, D> {
    fn shape(&self) -> Vec<usize> {
        self.shape().to_vec()
    }
    fn numbers(&self) -> Vec<f64> {
        self.iter().copied().collect()
    }
}
