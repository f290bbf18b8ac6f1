//! Errors about the fields of types that are parameters or results, and about the content of an
//! `Option`.

use super::{entries, message};
use crate::diag::Message;

entries! {
pub fn field_of_type(ty: &str, field: &str, of: &str) -> Message {
    let text = match field {
        "" => format!("values of the type `{ty}` cannot be parameters or results yet"),
        field => format!("the field `{field}` of `{ty}` has the type `{of}`, which parameters and results cannot have yet"),
    };
    message(text).help(
        "fields are numbers, arrays that own their elements, tuples, types with `#[derive(Differentiable)]`, and `Vec`s, static arrays and `Option`s of these; there is at most one type parameter, with the bound `Real`",
    )
}

pub fn borrowed_option(ty: &str) -> Message {
    message(format!("the content of `{ty}` is borrowed"))
        .help("take an `Option` of a value, or a reference to it: `&Option<Array1<f64>>`")
}

pub fn copied_field(field: &str, of: &str) -> Message {
    message(format!("the field `{field}` of `{of}` is not made of numbers, so a differentiated function cannot read it"))
        .help("keep the values that the function needs in a separate field: a number, a `bool`, or an enum with `#[derive(Differentiable)]` and without `#[constant]`")
}

pub fn copied_inside(ty: &str) -> Message {
    message(format!("values of `{ty}`, which has fields that are not made of numbers, cannot be in tuples or lists yet"))
        .help("take the value as a separate parameter, or leave these fields out")
}

pub fn copied_in_a_result(ty: &str) -> Message {
    message(format!("the result `{ty}` has fields that are not made of numbers, which a result cannot have yet"))
        .help("return the other parts, in a tuple or a type of their own")
}

pub fn constant_in_a_result(ty: &str) -> Message {
    message(format!("the result `{ty}` has numbers that are marked `#[constant]`, which a result cannot have yet"))
        .help("return the other parts, in a tuple or a type of their own")
}
}
