//! Functions that return an `Option` or a `Result`: their derivatives return one too, and errors
//! are the function's own.

use ad::check_grad;
use ad::prelude::*;

/// An error that the macro knows nothing of.
#[derive(Clone, PartialEq, Debug)]
enum ModelError {
    Negative(String),
    TooShort { found: usize },
}

impl From<String> for ModelError {
    fn from(text: String) -> Self {
        ModelError::Negative(text)
    }
}

fn describe(x: f64) -> String {
    format!("{x} is negative")
}

/// Errors with values, texts and functions that are not marked, by `return` and as the last value.
#[differentiate(grad, vjp, jvp, hvp, hessian, jacobian, pullback, into)]
fn log_sum(x: &[f64]) -> Result<f64, ModelError> {
    if x.len() < 2 {
        return Err(ModelError::TooShort { found: x.len() });
    }
    let mut sum = 0.0;
    for &v in x {
        if v < 0.0 {
            return Err(ModelError::Negative(describe(v)));
        }
        sum += v.ln() * v;
    }
    Ok(sum * x[0])
}

#[test]
fn a_result_that_is_present_is_differentiated() {
    let x = [1.5, 0.5, 2.0];
    check_grad!(log_sum(&x));
    let (value, gradient) = log_sum_value_and_grad(&x).expect("a result");
    assert_eq!(Ok(value), log_sum(&x));
    assert_eq!(Ok(gradient.clone()), log_sum_grad(&x));
    let (value, back) = log_sum_pullback(&x).expect("a result");
    assert_eq!((Ok(value), back(1.0)), (log_sum(&x), gradient));
}

#[test]
fn an_error_is_the_functions_own() {
    for x in [&[1.0, -2.0][..], &[3.0], &[]] {
        let error = log_sum(x).expect_err("no result");
        assert_eq!(log_sum_grad(x).expect_err("none"), error);
        assert_eq!(log_sum_value_and_grad(x).expect_err("none"), error);
        assert_eq!(log_sum_vjp(x, 1.0).expect_err("none"), error);
        assert_eq!(log_sum_jvp(x, x).expect_err("none"), error);
        assert_eq!(log_sum_hvp(x, x).expect_err("none"), error);
        assert_eq!(log_sum_hessian(x).expect_err("none"), error);
        assert_eq!(log_sum_jacobian(x).expect_err("none"), error);
        assert_eq!(log_sum_pullback(x).map(|_| ()).expect_err("none"), error);
        let mut destination = vec![0.0; x.len()];
        assert_eq!(log_sum_value_and_grad_into(x, &mut destination).expect_err("none"), error);
    }
}

/// `?` in the function itself, of an option.
#[differentiate(grad, jvp)]
fn ratio(x: &[f64], k: usize) -> Option<f64> {
    let first = x.first()?;
    let other = x.get(k)?;
    (*other != 0.0).then(|| first * first / other)
}

#[test]
fn an_option_is_returned_as_an_option() {
    let x = [3.0, 2.0, 0.0];
    check_grad!(ratio(&x, 1));
    assert_eq!(ratio_grad(&x, 1), Some(vec![3.0, -9.0 / 4.0, 0.0]));
    for (x, k) in [(&x[..], 2), (&x, 3), (&[], 0)] {
        assert_eq!(ratio(x, k), None);
        assert_eq!(ratio_grad(x, k), None);
        assert_eq!(ratio_value_and_grad(x, k), None);
        assert_eq!(ratio_jvp(x, k, x), None);
    }
}

/// The error type of an alias is nowhere in the signature.
type Checked<T> = std::result::Result<T, Box<dyn std::error::Error>>;
mod alias {
    pub type Result<T> = super::Checked<T>;
}

#[differentiate]
fn of_an_alias(a: &Array1<f64>, b: Array1<f64>) -> alias::Result<Array1<f64>> {
    if a.len() != b.len() {
        return Err(format!("{} and {}", a.len(), b.len()).into());
    }
    Ok(a * &b * &b)
}

#[test]
fn arguments_that_are_moved_reach_the_error() {
    let (a, b) = (array![1.0, 2.0], array![3.0, 5.0]);
    let (value, (of_a, of_b)) = of_an_alias_vjp(&a, b.clone(), &array![1.0, 1.0]).expect("a result");
    assert_eq!((value, of_a, of_b), (array![9.0, 50.0], array![9.0, 25.0], array![6.0, 20.0]));
    let error = of_an_alias_vjp(&a, array![1.0], &array![1.0, 1.0]).expect_err("no result");
    assert_eq!(error.to_string(), "2 and 1");
}

#[differentiable]
fn positive(x: f64) -> Result<f64, ModelError> {
    if x > 0.0 { Ok(x) } else { Err(ModelError::Negative(describe(x))) }
}

/// `?` of a marked helper, whose errors the macro cannot read.
#[differentiate]
fn geometric(x: f64, y: f64) -> Result<f64, ModelError> {
    let (x, y) = (positive(x)?, positive(y)?);
    Ok((x * y).sqrt())
}

#[test]
fn errors_of_helpers_pass_through() {
    check_grad!(geometric(2.0, 8.0));
    assert_eq!(geometric_grad(2.0, 8.0), Ok((1.0, 0.25)));
    assert_eq!(geometric_grad(2.0, -8.0), Err(ModelError::Negative("-8 is negative".into())));
}

/// A panic that comes before the error is a panic.
#[differentiate]
fn reads_first(x: &[f64]) -> Option<f64> {
    let third = x[2];
    if third < 0.0 { None } else { Some(third * x[0]) }
}

#[test]
#[should_panic(expected = "reads_first: index out of range")]
fn a_panic_before_the_end_is_not_lost() {
    let _ = reads_first_grad(&[1.0, 2.0]);
}

/// Several values, of which one is differentiated.
#[differentiate(aux)]
fn with_extra(x: f64) -> Option<(f64, f64)> {
    if x < 0.0 {
        return None;
    }
    Some((x * x, 3.0 * x))
}

#[test]
fn a_pair_may_be_absent() {
    assert_eq!(with_extra_value_and_grad(2.0), Some(((4.0, 6.0), 4.0)));
    assert_eq!(with_extra_grad(-2.0), None);
}

#[derive(Clone, Debug, PartialEq, Differentiable)]
struct Line {
    slope: f64,
    offset: f64,
}

#[differentiate]
impl Line {
    /// Where the line is zero: a method with an error of its own.
    #[differentiate(grad, vjp, wrt(self))]
    fn zero(&self, limit: f64) -> Result<f64, String> {
        if self.slope == 0.0 {
            return Err(format!("no zero of {self:?}"));
        }
        let zero = -self.offset / self.slope;
        if zero.abs() > limit {
            return Err(format!("{zero} is beyond {limit}"));
        }
        Ok(zero)
    }
}

#[test]
fn methods_may_have_no_result() {
    let line = Line { slope: 2.0, offset: -6.0 };
    check_grad!(line.zero(10.0));
    assert_eq!(line.zero_grad(10.0), Ok(Line { slope: -1.5, offset: -0.5 }));
    assert_eq!(line.zero_vjp(1.0, 2.0), Err("3 is beyond 1".into()));
    assert!(Line { slope: 0.0, offset: 1.0 }.zero_grad(1.0).is_err_and(|e| e.starts_with("no zero of Line")));
}

/// Options and results turned into one another, with errors of a type that the macro cannot read.
#[differentiate]
fn shares(x: &[f64], k: usize) -> Result<f64, ModelError> {
    let first = x.first().ok_or(ModelError::TooShort { found: 0 })?;
    let other = *x.get(k).ok_or_else(|| ModelError::Negative(describe(k as f64)))?;
    let root = positive(other).map(f64::sqrt).map_err(|_| ModelError::TooShort { found: k })?;
    let sure = positive(first - 100.0).ok().unwrap_or(1.0) + positive(*first).unwrap_or_default();
    Ok(first * root * sure)
}

#[test]
fn options_and_results_become_one_another() {
    check_grad!(shares(&[2.0, 9.0], 1));
    assert_eq!(shares_grad(&[2.0, 9.0], 1), Ok(vec![15.0, 1.0]));
    for (x, k) in [(&[][..], 0), (&[1.0], 3), (&[1.0, -2.0], 1)] {
        assert_eq!(shares_grad(x, k).expect_err("none"), shares(x, k).expect_err("none"));
    }
}

/// Errors that are numbers have derivatives.
#[differentiate(grad, jvp)]
fn recovered(x: f64, y: f64) -> f64 {
    fn root(x: f64) -> Result<f64, f64> {
        if x < 0.0 { Err(-x) } else { Ok(x.sqrt()) }
    }
    let both = root(x).and_then(|a| root(y).map(|b| a * b)).map_err(|e| e * e);
    let wrong = if both.is_err() || root(y).is_ok() && x > 100.0 { 3.0 } else { 1.0 };
    let chosen = (y > 0.0).then_some(y).ok_or(x * y);
    wrong * both.unwrap_or_else(|e| 2.0 * e) + chosen.unwrap_or(0.5) + root(x * x).unwrap() + root(4.0).expect("a root")
}

#[test]
fn errors_that_are_numbers_are_differentiated() {
    for (x, y) in [(4.0, 9.0), (-4.0, 9.0), (4.0, -9.0)] {
        check_grad!(recovered(x, y));
    }
    assert_eq!(recovered_grad(-4.0, 9.0).0, 2.0 * 3.0 * -8.0 - 1.0);
}
