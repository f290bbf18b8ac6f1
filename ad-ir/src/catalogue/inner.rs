//! Errors of derivatives that are called in a differentiated function.

use super::{entries, message};
use crate::diag::Message;

entries! {
/// `name`: the derivative as it is called.
pub fn inner_derivative_of_this_kind(name: &str, option: &str) -> Message {
    message(format!("`{name}`, written by the option `{option}`, cannot be called in a differentiated function"))
        .help("call the gradient or the Jacobian there: those of the options `grad`, `vjp` and `jacobian`")
}

pub fn inner_derivative_of_itself(function: &str, name: &str) -> Message {
    message(format!("`{function}` calls its own derivative `{name}`"))
        .help(format!("move the code that is differentiated to another function, which `{function}` calls and differentiates"))
}

pub fn inner_derivative_of_a_fallible(name: &str) -> Message {
    message(format!("`{name}` is called in a differentiated function, and its result may be absent"))
        .help("differentiate a function with a plain result there, and test for the absence before the call")
}

/// `function`: the function that is differentiated.
pub fn inner_derivative_of_calls(function: &str, name: &str) -> Message {
    message(format!("`{name}` is called in a differentiated function, and `{function}` calls itself or a function with a rule of its own"))
        .help("use a loop in place of the recursion, and a function whose body is read in place of one with a rule")
}

pub fn inner_derivative_of_sizes(function: &str, name: &str) -> Message {
    message(format!("`{name}` is called in a differentiated function, and a size in `{function}` depends on a number that is differentiated"))
        .help(format!("pass the size to `{function}` as a `usize`, or leave the number out: `wrt(..)` names the others"))
}

pub fn inner_derivative_without_a_bound(function: &str, name: &str) -> Message {
    message(format!("`{name}` is called in a loop of a differentiated function, and a loop of `{function}` has no bound"))
        .help(format!("write the loop of `{function}` as `for _ in 0..limit` with a `break`, or call `{name}` outside of loops"))
}

/// `solver`: `fixed_point` or another one.
pub fn solver_of_calls(solver: &str) -> Message {
    message(format!("the function that `{solver}` takes calls a function with a rule of its own, or one that calls itself"))
        .help("use a loop in place of the recursion, and a function whose body is read in place of one with a rule")
}

pub fn solver_without_a_bound(solver: &str) -> Message {
    message(format!("the function that `{solver}` takes has a loop without a bound"))
        .help("write the loop as `for _ in 0..limit` with a `break`")
}
}
