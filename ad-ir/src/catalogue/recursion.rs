//! Errors of functions that call themselves, and of types that contain themselves.

use super::message;
use crate::diag::Message;

super::entries! {
pub fn recursion(name: &str) -> Message {
    message(format!("`{name}` calls itself")).instead_of_rustc()
        .help("write it as a loop, and keep the values that one call passes to the next in variables: `let mut y = x; for k in 0..n { y = ..; }`")
}

pub fn derivative_of_recursion(option: &str, name: &str) -> Message {
    message(format!("`{option}` is not understood where a function calls itself, as `{name}` does"))
        .help("`grad`, `vjp`, `jvp`, `pullback`, `jacobian` and `into` are; or write the function as a loop")
}

pub fn recursive_signature(name: &str) -> Message {
    message(format!("`{name}` calls itself, and has a result of this type"))
        .help("numbers, arrays, `Vec`s of numbers and tuples of these are understood there")
}

pub fn recursive_size(name: &str) -> Message {
    message(format!("`{name}` calls itself, and the size of its result does not follow from sizes and integers that are passed to it"))
        .help("return an array with the size of a parameter, or with an integer as its size, and also the number of elements in use; or pass `&mut [f64]` and write into it")
}

pub fn recursive_size_in_a_loop(name: &str) -> Message {
    message(format!("`{name}` calls itself, and the size of its result is another one in each step of a loop"))
        .help("pass arrays and integers that have the same size and value in each step, and the part that is in use as two integers")
}

pub fn recursive_generic(name: &str) -> Message {
    message(format!("`{name}` calls itself and is generic, and is called with another real type"))
        .help("write the real type in its signature, as `f64`")
}

pub fn result_contains_itself(ty: &str) -> Message {
    message(format!("the result has the type `{ty}`, and a value of it may contain others of its type"))
        .help("return numbers and arrays; a value of such a type can be a parameter")
}

pub fn blocks_of_a_value_in_itself(option: &str, param: &str) -> Message {
    message(format!("`{option}` has no type for `{param}`, since a value of its type may contain others of its type"))
        .help(format!("`grad`, `vjp` and `jvp` are written; or leave `{param}` out of `wrt(..)`"))
}

pub fn made_in_the_body(ty: &str) -> Message {
    message(format!("a value of `{ty}` that is made in the body is passed to a function that calls itself"))
        .help(format!("pass a parameter or a part of one: `{ty}` contains itself, so such a value has no fixed size"))
}
}
