//! Comparison of values: discrete values are compared exactly and reals to a relative tolerance.
//! NaN equals only NaN.

use ad_oracle::interp::{Array, Data, Value};

/// Checks that two values agree, reals to `tolerance` relative to the maximum of both and 1. The
/// error has the place of the difference.
pub fn close(a: &Value, b: &Value, tolerance: f64) -> Result<(), String> {
    match (a, b) {
        (Value::Tuple(a), Value::Tuple(b)) if a.len() == b.len() => {
            a.iter().zip(b).try_for_each(|(a, b)| close(a, b, tolerance))
        }
        (Value::Array(Array { data: Data::Real(_), shape: sa, .. }), Value::Array(Array { shape: sb, .. })) => {
            if sa != sb {
                return Err(format!("shapes {sa:?} and {sb:?}"));
            }
            close_all(&a.values(), &b.values(), tolerance)
        }
        _ if a == b => Ok(()),
        _ => Err(format!("{a:?}\n  and {b:?}")),
    }
}

/// Like [`agree`], for lists of numbers.
pub fn close_all(a: &[f64], b: &[f64], tolerance: f64) -> Result<(), String> {
    if a.len() != b.len() {
        return Err(format!("{} numbers and {}", a.len(), b.len()));
    }
    // The scale is that of all elements: an element with cancellation has the error of the others.
    let scale = a.iter().chain(b).filter(|x| x.is_finite()).fold(1.0, |m: f64, x| m.max(x.abs()));
    let same = |(x, y): (&f64, &f64)| x == y || (x.is_nan() && y.is_nan()) || (x - y).abs() <= tolerance * scale;
    if a.iter().zip(b).all(same) { Ok(()) } else { Err(format!("{a:?}\n  and {b:?}")) }
}

/// The inner product `<a, b>`.
pub fn dot(a: &[f64], b: &[f64]) -> f64 {
    a.iter().zip(b).map(|(x, y)| x * y).sum()
}
