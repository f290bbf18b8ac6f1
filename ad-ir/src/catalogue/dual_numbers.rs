//! Errors in the signature of a function with `mode = "dual_numbers"`. `number` is the type
//! parameter for its numbers.

use super::{entries, message};
use crate::diag::Message;

/// Adds a note to the refusal of a construct in a body, if the function is generic: this mode
/// accepts the construct. A misspelt name gets no such note.
pub fn takes(refusal: &mut Message) {
    let of_body = ["construct", "macro", "inner item", "function", "method", "later", "value"];
    let refused = of_body.iter().any(|table| refusal.entry.starts_with(&format!("refused {table}: ")));
    let misspelt = refusal.help.as_ref().is_some_and(|help| help.starts_with("did you mean"));
    if refused && !misspelt {
        let other = "`mode = \"dual_numbers\"` differentiates any generic function, without reading its body";
        let note = refusal.note.take().map_or_else(String::new, |note| format!("{note}; "));
        refusal.note = Some(note + other);
    }
}

entries! {
pub fn no_number_type(name: &str) -> Message {
    message(format!("`mode = \"dual_numbers\"` calls `{name}` with numbers of another type, and it has no type parameter for them"))
        .help(format!("write `fn {name}<T: Real>(..)`, with `T` in place of `f64`, and constants as `T::lit(0.5)`"))
}

pub fn no_numbers(name: &str, number: &str) -> Message {
    message(format!("no parameter of `{name}` has numbers of type `{number}`"))
        .help(format!("write a parameter as `x: {number}`, `x: &[{number}]` or `x: &Array1<{number}>`"))
}

pub fn wrt_of_no_number(name: &str, number: &str) -> Message {
    message(format!("`wrt({name})` names no parameter with numbers of type `{number}`"))
        .help(format!("name a parameter whose type is spelt with `{number}`"))
}

pub fn two_number_types(name: &str, other: &str, number: &str) -> Message {
    message(format!("the numbers of `{name}` have the type `{other}`, and those of the result the type `{number}`"))
        .help("write one type parameter for both, or leave the parameter out: `wrt(..)`")
        .note(format!("no conversion from `{other}` to `{number}` has a derivative"))
}

pub fn bound_by_numbers(param: &str, number: &str) -> Message {
    message(format!("a bound of the type parameter `{param}` depends on the number type `{number}`"))
        .help("take a type that does not depend on it, or make the value inside of the function")
        .note(format!("the function is called with another type in place of `{number}`, and `{param}` stays the same"))
}

pub fn result_without_numbers(ty: &str, number: &str) -> Message {
    message(format!("the result of type `{ty}` has no numbers of type `{number}`"))
        .help(format!("return `{number}`, or a type that is spelt with it"))
}

/// `instead`: what to write instead.
pub fn no_form(ty: &str, instead: &str) -> Message {
    message(format!("`mode = \"dual_numbers\"` cannot replace the numbers in the type `{ty}`")).help(instead)
}

/// `instead`: what to write instead.
pub fn option(option: &str, instead: &str) -> Message {
    message(format!("`{option}` needs a function whose body is read, and `mode = \"dual_numbers\"` reads none"))
        .help(instead)
}

/// `what`: a parameter or the result.
pub fn blocks(option: &str, what: &str) -> Message {
    message(format!("`{option}` has a block for numbers, arrays and tuples of these, and {what} is of another kind"))
        .help("write `vjp`, `jvp` or `hvp`; or take the numbers as a slice or an array")
}

pub fn not_free() -> Message {
    message("`mode = \"dual_numbers\"` is for functions, and this is a method")
        .help("write a free function with the mode that calls this one")
}
}
