//! Comparison of values: exact for what is discrete, to a relative tolerance for reals, NaN only with NaN.

use ad_oracle::interp::{Array, Data, Value};

/// Whether two values agree, reals to `tolerance` relative to the largest of both and 1; otherwise where they do not.
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

/// The same of lists of numbers.
pub fn close_all(a: &[f64], b: &[f64], tolerance: f64) -> Result<(), String> {
    if a.len() != b.len() {
        return Err(format!("{} numbers and {}", a.len(), b.len()));
    }
    // The scale of the whole: what cancels in one element has the error of the others.
    let scale = a.iter().chain(b).filter(|x| x.is_finite()).fold(1.0, |m: f64, x| m.max(x.abs()));
    let same = |(x, y): (&f64, &f64)| x == y || (x.is_nan() && y.is_nan()) || (x - y).abs() <= tolerance * scale;
    if a.iter().zip(b).all(same) { Ok(()) } else { Err(format!("{a:?}\n  and {b:?}")) }
}

/// `<a, b>`.
pub fn dot(a: &[f64], b: &[f64]) -> f64 {
    a.iter().zip(b).map(|(x, y)| x * y).sum()
}
