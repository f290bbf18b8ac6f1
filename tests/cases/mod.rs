//! The file of cases, and how a result is held against one.

mod array;
mod build;
mod index;
mod model;
mod scalar;

use std::sync::LazyLock;

use ad::ndarray::{Array, Dimension};
use serde_json::Value;

/// What the modules of cases say, for the test that none is forgotten.
pub const SOURCES: [&str; 5] = [
    include_str!("array.rs"),
    include_str!("build.rs"),
    include_str!("index.rs"),
    include_str!("model.rs"),
    include_str!("scalar.rs"),
];

static CASES: LazyLock<Vec<Value>> =
    LazyLock::new(|| serde_json::from_str(include_str!("../data/gradients.json")).expect("the file of cases"));

/// The names of all cases.
pub fn ids() -> impl Iterator<Item = String> {
    CASES.iter().map(|case| case["id"].as_str().expect("a name").to_owned())
}

/// One case.
pub struct Case(&'static Value);

impl Case {
    /// The case of this name.
    pub fn new(id: &str) -> Self {
        Self(CASES.iter().find(|case| case["id"] == id).unwrap_or_else(|| panic!("no case {id}")))
    }

    /// An input, in the shape that the case gives it.
    pub fn input<T: Numbers>(&self, name: &str) -> T {
        let input = &self.0["inputs"][name];
        let shape = sizes(&input["shape"]);
        T::new(&shape, self.numbers(name))
    }

    /// An input of a higher rank, as an array of the rank wanted.
    pub fn reshaped<T: Numbers, const N: usize>(&self, name: &str, shape: [usize; N]) -> T {
        T::new(&shape, self.numbers(name))
    }

    fn numbers(&self, name: &str) -> Vec<f64> {
        entries(&self.0["inputs"][name])
    }

    /// The cotangent of a `vjp` case.
    pub fn cotangent<T: Numbers>(&self) -> T {
        T::new(&self.value_shape(), flat(&self.0["cotangent"]))
    }

    /// The cotangent of a `grad` case: its derivative is that of the sum.
    pub fn ones<T: Numbers>(&self) -> T {
        self.ones_like(&self.value_shape())
    }

    /// The same for a result of another rank.
    pub fn ones_like<T: Numbers>(&self, shape: &[usize]) -> T {
        T::new(shape, vec![1.0; shape.iter().product()])
    }

    /// A parameter's tangent of a `jvp` case.
    pub fn tangent<T: Numbers>(&self, name: &str) -> T {
        let shape = sizes(&self.0["inputs"][name]["shape"]);
        T::new(&shape, flat(&self.0["tangent"][name]))
    }

    fn value_shape(&self) -> Vec<usize> {
        sizes(&self.0["value_shape"])
    }

    /// Holds a value and the derivatives of the parameters against the case.
    pub fn check(&self, value: &dyn Compare, derivatives: &[(&str, &dyn Compare)]) {
        let expected = flat(&self.0["expected_value"]);
        self.compare("value", value, &expected, &self.value_shape());
        let expected = self.0["expected"].as_object().expect("derivatives");
        assert_eq!(derivatives.len(), expected.len(), "number of derivatives");
        for (name, derivative) in derivatives {
            let expected = &expected[*name];
            let shape = sizes(&expected["shape"]);
            self.compare(name, *derivative, &entries(expected), &shape);
        }
    }

    /// Holds a value and a tangent of it against a `jvp` case.
    pub fn check_jvp(&self, value: &dyn Compare, tangent: &dyn Compare) {
        self.check(value, &[("out0", tangent)]);
    }

    /// To the case's tolerance: relative to the larger of 1 and the number
    /// expected, or to the largest of them where all are small.
    fn compare(&self, what: &str, got: &dyn Compare, expected: &[f64], shape: &[usize]) {
        if got.shape().len() == shape.len() {
            assert_eq!(got.shape(), shape, "shape of {what}");
        }
        assert_eq!(got.numbers().len(), expected.len(), "size of {what}");
        let tolerance = self.0["tolerance"].as_f64().expect("a tolerance");
        let largest = expected.iter().fold(0.0, |a: f64, e| a.max(e.abs()));
        let all_small = 0.0 < largest && largest < 1e-3;
        for (k, (got, expected)) in got.numbers().iter().zip(expected).enumerate() {
            let scale = if all_small { largest } else { expected.abs().max(1.0) };
            let error = (got - expected).abs() / scale;
            assert!(error <= tolerance, "{}: {what}, number {k}: {got} instead of {expected}", self.0["id"]);
        }
    }
}

/// The numbers of an input or a derivative: all given, or one for all.
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

/// A type that a case's numbers can be read as.
pub trait Numbers {
    /// From the numbers in row-major order.
    fn new(shape: &[usize], numbers: Vec<f64>) -> Self;
}

/// A result that can be held against a case.
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
