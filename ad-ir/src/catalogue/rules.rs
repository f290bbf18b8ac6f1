//! Errors of functions with rules of their own, and of their calls.

use super::{entries, message};
use crate::diag::Message;

entries! {
/// `mark`: `custom_vjp` or `custom_jvp`.
pub fn one_rule(mark: &str) -> Message {
    let signature = if mark == "custom_vjp" { "f_vjp" } else { "f_jvp" };
    message(format!("`#[{mark}]` takes the path of one function"))
        .help(format!("write `#[{mark}(rule)]`, where `rule` has the signature of `{signature}`"))
}

pub fn rule_item(mark: &str) -> Message {
    message(format!("`#[{mark}]` belongs to a function"))
        .help("write it above a free function")
}

pub fn constant_with_a_rule(name: &str) -> Message {
    message(format!("`{name}` is marked `#[constant]` and has a rule"))
        .help("remove `#[constant]` if a derivative goes through the calls, and the rule if none does")
}

/// `part`: `parameter` or `result`.
pub fn rule_signature(name: &str, part: &str) -> Message {
    message(format!("the body of `{name}` is not read, and its {part} has a list of tuples or an enum in it"))
        .help("use numbers, arrays, `Vec`s of numbers, and tuples and structs of these")
}

pub fn rule_const_parameter(name: &str, param: &str) -> Message {
    message(format!("the body of `{name}` is not read, and it has the const parameter `{param}`"))
        .help(format!("use a `Vec` or `Array1`, or a function without a mark that calls `{name}`"))
}

pub fn rule_of_nothing_real(name: &str) -> Message {
    message(format!("`{name}` has a rule, and no real parameter or no real result"))
        .help("mark it `#[constant]`: no derivative goes through its calls")
}

pub fn rule_on_a_method() -> Message {
    message("a method cannot have a rule of its own, or be `#[constant]`, yet")
        .help("mark a free function, and call it in the method")
}

pub fn rule_in_a_body(name: &str) -> Message {
    message(format!("`{name}` is marked in the body of another function, whose derivatives cannot reach it"))
        .help("move it out of the function")
}

pub fn rule_in_recursion(name: &str) -> Message {
    message(format!("`{name}`, whose body is not read, is called in a function that calls itself"))
        .help("call it before, and pass the result on")
}

pub fn rule_size_in_a_loop(name: &str) -> Message {
    message(format!("`{name}` is called in a loop, and the size of its result is known after the call only"))
        .help("return a number, a tuple or an array of static size, such as `[f64; 3]`")
}

pub fn rule_in_a_sparse_jacobian(name: &str) -> Message {
    message(format!("`jacobian(sparse)` needs to know what each element depends on, and the body of `{name}` is not read"))
        .help("write `jacobian`")
}

pub fn rule_without_vjp(option: &str, name: &str) -> Message {
    message(format!("`{option}` goes through `{name}` in reverse mode, for which it has no rule"))
        .help(format!("write `#[custom_vjp(rule)]` on `{name}`, where `rule` has the signature of `{name}_vjp`"))
}

pub fn rule_without_jvp(option: &str, name: &str) -> Message {
    message(format!("`{option}` goes through `{name}` in forward mode, for which it has no rule"))
        .help(format!("write `#[custom_jvp(rule)]` on `{name}`, where `rule` has the signature of `{name}_jvp`"))
}

pub fn rule_differentiated(option: &str, name: &str) -> Message {
    message(format!("`{option}` needs the second derivative of `{name}`, and its rule gives the first one"))
        .help(format!("ask for first derivatives, or write `{name}` without a rule"))
}
}
