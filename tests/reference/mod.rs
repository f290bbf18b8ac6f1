//! Reference results in `tests/data`, and the tolerance of a comparison with them.

#![allow(dead_code, reason = "each test binary uses a part of it")]

use ad::ndarray::{Array, Dimension};
use ad::prelude::*;
use serde_json::Value;

/// A file of `tests/data`.
pub fn parsed(file: &str) -> Value {
    let path = format!("{}/tests/data/{file}.json", env!("CARGO_MANIFEST_DIR"));
    serde_json::from_str(&std::fs::read_to_string(path).expect("the file")).expect("JSON")
}

/// A problem of GradBench.
pub fn read(file: &str) -> Value {
    parsed(&format!("gradbench/{file}"))
}

/// The numbers of nested lists, in order.
pub fn numbers(json: &Value) -> Vec<f64> {
    match json {
        Value::Array(parts) => parts.iter().flat_map(numbers).collect(),
        number => vec![number.as_f64().expect("a number")],
    }
}

pub fn vector(json: &Value) -> Array1<f64> {
    Array1::from(numbers(json))
}

pub fn matrix(json: &Value) -> Array2<f64> {
    let rows = json.as_array().expect("rows");
    let numbers = numbers(json);
    Array2::from_shape_vec((rows.len(), numbers.len() / rows.len()), numbers).expect("rows of one length")
}

pub fn size(json: &Value) -> usize {
    usize::try_from(json.as_u64().expect("a number")).expect("a size")
}

/// The tolerance is 1e-12 of the largest entry.
#[track_caller]
pub fn agree<D: Dimension>(found: &Array<f64, D>, expected: &Array<f64, D>) {
    assert_eq!(found.shape(), expected.shape());
    let largest = expected.iter().fold(0.0, |m: f64, x| m.max(x.abs()));
    for (a, b) in found.iter().zip(expected) {
        let error = (a - b).abs();
        assert!(error <= 1e-12 * largest, "{a} instead of {b}");
    }
}

#[track_caller]
pub fn agree_scalar(found: f64, expected: &Value) {
    let expected = expected.as_f64().expect("a number");
    assert!((found - expected).abs() <= 1e-12 * expected.abs(), "{found} instead of {expected}");
}
