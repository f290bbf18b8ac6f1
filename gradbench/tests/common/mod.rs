//! Reference data, and the comparison with them.

#![allow(dead_code, reason = "each test binary uses a part of it")]

use std::io::Read;

use serde_json::Value;

/// A problem of the suite with its results, which the tests of the project read, too.
pub fn case(file: &str) -> Value {
    let path = format!("{}/../tests/data/gradbench/{file}", env!("CARGO_MANIFEST_DIR"));
    let bytes = std::fs::read(path).expect("the file");
    let text = if file.ends_with(".gz") {
        let mut text = Vec::new();
        flate2::read::GzDecoder::new(&bytes[..]).read_to_end(&mut text).expect("gzip");
        text
    } else {
        bytes
    };
    serde_json::from_slice(&text).expect("JSON")
}

/// The rounds of a recorded session: message and answer.
pub fn conversation(eval: &str) -> Vec<(Value, Value)> {
    let path = format!("{}/tests/conversations/{eval}.jsonl", env!("CARGO_MANIFEST_DIR"));
    let text = std::fs::read_to_string(path).expect("the file");
    let rounds = text.lines().map(|line| serde_json::from_str::<Value>(line).expect("JSON"));
    rounds.map(|mut round| (round["message"].take(), round["response"].take())).collect()
}

/// Asserts that both have the same structure, and that numbers are equal up to a part of the
/// largest number of their list.
#[track_caller]
pub fn agree(what: &str, found: &Value, expected: &Value, tolerance: f64) {
    fn walk(found: &Value, expected: &Value, bound: f64) -> Result<(), String> {
        match (found, expected) {
            (Value::Array(a), Value::Array(b)) if a.len() == b.len() => a
                .iter()
                .zip(b)
                .enumerate()
                .try_for_each(|(i, (a, b))| walk(a, b, bound).map_err(|e| format!("[{i}]{e}"))),
            (Value::Object(a), Value::Object(b)) if a.len() == b.len() => b.iter().try_for_each(|(key, b)| {
                let a = a.get(key).ok_or(format!(": no `{key}`"))?;
                walk(a, b, bound * largest(b)).map_err(|e| format!(".{key}{e}"))
            }),
            (Value::Number(a), Value::Number(b)) => {
                let (a, b) = (a.as_f64().expect("a number"), b.as_f64().expect("a number"));
                if (a - b).abs() <= bound { Ok(()) } else { Err(format!(": {a} instead of {b}")) }
            }
            (a, b) if a == b => Ok(()),
            (a, b) => Err(format!(": {a} instead of {b}")),
        }
    }
    let bound = if expected.is_object() { tolerance } else { tolerance * largest(expected) };
    if let Err(e) = walk(found, expected, bound) {
        panic!("{what}{e}");
    }
}

/// The largest number of nested lists. Objects have one of their own for each key.
fn largest(json: &Value) -> f64 {
    match json {
        Value::Array(parts) => parts.iter().map(largest).fold(0.0, f64::max),
        Value::Number(x) => x.as_f64().expect("a number").abs(),
        _ => 1.0,
    }
}
