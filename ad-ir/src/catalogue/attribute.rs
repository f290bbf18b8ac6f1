//! Errors in the options of `differentiate` and of `check_grad!`, and of the derive.

use super::foreign::{self, Usage};
use super::{entries, message};
use crate::diag::Message;

entries! {
pub fn malformed_attribute(reason: &str) -> Message {
    message(format!("the arguments of `differentiate` cannot be read: {reason}"))
        .help("write options with commas: `#[differentiate(grad, jvp, wrt(w, b))]`")
}

pub fn unknown_option(name: &str, near: Option<&str>, derivatives: &str) -> Message {
    let text = message(format!("`differentiate` has no option `{name}`"));
    let text = text
        .maybe(near, &format!("the options are {derivatives}, `wrt(..)`, `crate = \"..\"`, `mode = \"..\"`"));
    foreign::translate(Usage::Option, name, text)
}

pub fn aux_of_no_pair(ty: &str) -> Message {
    message(format!("`aux` requires a function that returns a pair of one real number and further values, not `{ty}`"))
        .help("return `(loss, extra)`: only `loss` is differentiated")
}

/// `ty`: the type of the result, which may be absent.
pub fn derivative_of_a_fallible(option: &str, ty: &str) -> Message {
    message(format!("`{option}` requires a function that always has a result, and this one returns `{ty}`"))
        .help("differentiate a function that returns the value itself, and panics where there is none")
}

pub fn hidden_by_a_parameter(name: &str) -> Message {
    message(format!("the parameter `{name}` has the name of the function, which its derivatives call to get an error"))
        .help("give the parameter another name")
}

/// `also`: the form of the option that takes a word in parentheses, if it has one.
pub fn option_takes_nothing(name: &str, also: Option<&str>) -> Message {
    let help = also.map_or_else(|| format!("write `{name}`"), |also| format!("write `{name}`, or `{also}`"));
    match also {
        None => message(format!("the option `{name}` takes no arguments")).help(help),
        Some(_) => message(format!("the option `{name}` takes no such arguments")).help(help),
    }
}

pub fn option_twice(name: &str) -> Message {
    message(format!("the option `{name}` is given twice")).help("remove one of them")
}

pub fn malformed_option(name: &str, form: &str) -> Message {
    message(format!("the option `{name}` cannot be read")).help(format!("write `{form}`"))
}

pub fn wrt_of_a_part() -> Message {
    message("`wrt` names whole parameters")
        .help("name the parameter, and mark fields that have no gradient `#[constant]`: `wrt(model)`")
}

/// `usual`: the option with the default mode. It has the same meaning in the functions below.
/// `what`: a construct that an algorithm does not support ([`crate::mode::Refusal`]).
pub fn mode_refuses(mode: &str, what: &str, usual: &str) -> Message {
    message(format!("the mode `{mode}` is not supported for {what}")).help(format!("remove the mode, or write `{usual}`"))
}

pub fn unknown_mode(mode: &str, near: Option<&str>, usual: &str) -> Message {
    message(format!("there is no mode `{mode}`")).maybe(near, &format!("remove the mode, or write `{usual}`"))
}

pub fn unknown_checkpoints(name: &str, near: Option<&str>, usual: &str) -> Message {
    message(format!("there is no schedule of checkpoints `{name}`")).maybe(near, &format!("write `{usual}`"))
}

/// `instead`: the replacement from the derivative's descriptor. It has the same meaning in the two
/// functions below.
pub fn derivative_of_an_array(option: &str, array: bool, instead: &str) -> Message {
    let found = if array { "an array" } else { "a tuple" };
    message(format!("`{option}` requires a function that returns one real number; this one returns {found}"))
        .help(instead)
}

pub fn closure_of_copied_fields(option: &str, name: &str, ty: &str) -> Message {
    message(format!("`{option}` keeps no fields that are not made of numbers, and `{name}` of type `{ty}` has some"))
        .help("write `vjp`, or leave the parameter out: `wrt(..)`")
}

pub fn derivative_of_several(option: &str, names: &[String], first: &str, instead: &str) -> Message {
    message(format!("`{option}` requires exactly one active parameter; here are {}", names.join(", ")))
        .help(format!("name one of them: `wrt({first})`; {instead}"))
}

pub fn derivative_of_high_rank(option: &str, name: &str, indices: [u8; 2], instead: &str) -> Message {
    let [result, param] = indices;
    message(format!("`{option}` with respect to `{name}` would have {result} + {param} indices; arrays have at most 6"))
        .help(instead)
}

/// `what` is not an array of one axis: the result, or a parameter.
pub fn derivative_of_no_vector(option: &str, what: &str, instead: &str) -> Message {
    message(format!("`{option}` requires arrays or vectors of one axis, of one type of number, and {what} is not one"))
        .help(instead)
}

pub fn check_grad_of_no_call() -> Message {
    message("`check_grad!` takes a call of a differentiated function")
        .help("write `check_grad!(f(&x, 2.0))`; what is checked, and how closely: `check_grad!(f(&x, 2.0), jvp, tolerance = 1e-4)`")
}

pub fn check_grad_option(text: &str, near: Option<&str>, derivatives: &str) -> Message {
    message(format!("`check_grad!` has no option `{text}`")).maybe(
        near,
        &format!("the options are {derivatives} (all that were written, if there is none of these), and `tolerance = 1e-4`"),
    )
}

pub fn wrt_unknown(name: &str, near: Option<&str>, all: &[String]) -> Message {
    let all: Vec<String> = all.iter().map(|p| format!("`{p}`")).collect();
    message(format!("`wrt` names `{name}`, which is not a parameter"))
        .maybe(near, &format!("the parameters are {}", all.join(", ")))
}

pub fn wrt_discrete(name: &str, ty: &str) -> Message {
    message(format!("`{name}` is of type `{ty}`: no gradient flows through it"))
        .help(format!("remove `{name}` from `wrt(..)`"))
}

pub fn attribute_twice() -> Message {
    message("this function has two `differentiate` attributes whose derivatives have the same names").help(
        "write one attribute with all options, `#[differentiate(grad, jvp)]`, or give the names of one a suffix: `suffix = \"b\"`",
    )
}

pub fn options_of_a_block() -> Message {
    message("`#[differentiate]` on an `impl` block or a module has no options but `crate`")
        .help("write them on each function: `#[differentiate(grad, wrt(self))] fn loss(&self, ..)`")
}

pub fn block_of_no_type() -> Message {
    message("`#[differentiate]` marks `impl` blocks of types with `#[derive(Differentiable)]`")
        .help("a function of another type is a free function: `#[differentiable] fn`")
}

pub fn block_of_numbers(number: &str) -> Message {
    message(format!("a marked block for `{number}` is understood in a marked module only")).help(
        "write `#[differentiate]` on the module that has the block and the type, or the number as the right operand: \
         `v * 2.0`",
    )
}

pub fn wrt_twice(name: &str) -> Message {
    message(format!("`wrt` names `{name}` twice")).help("remove one of them")
}

/// `derivatives`: those that take a workspace, in backticks except for the outermost ones.
pub fn workspace_of_nothing(derivatives: &str) -> Message {
    message("none of the derivatives that are written here takes a workspace")
        .help(format!("ask for `{derivatives}` too, which takes it as its last parameter, or remove `workspace`"))
}

pub fn example_unknown(name: &str, near: Option<&str>, all: &[String]) -> Message {
    let all: Vec<String> = all.iter().map(|p| format!("`{p}`")).collect();
    message(format!("`per_example` names `{name}`, which is not a parameter"))
        .maybe(near, &format!("the parameters are {}", all.join(", ")))
}

pub fn example_of_parts(name: &str, ty: &str) -> Message {
    message(format!("`per_example` names `{name}`, which is a tuple (`{ty}`)"))
        .help("take its parts as separate parameters")
}

pub fn example_twice(name: &str) -> Message {
    message(format!("`per_example` names `{name}` twice")).help("remove one of them")
}

pub fn examples_only() -> Message {
    message("`per_example` names all parameters that a gradient is taken with respect to")
        .help("leave out those that all examples share: the derivative returns their gradients")
}

pub fn example_of_high_rank(name: &str, ty: &str) -> Message {
    message(format!("for many examples, `{name}` (`{ty}`) or its gradient would have 7 axes; arrays have at most 6"))
        .help("call the gradient for each example instead")
}

/// `stop`: whether the parameter decides when a loop stops. Otherwise it decides a size or a number
/// of steps.
pub fn example_varies(name: &str, stop: bool) -> Message {
    let what = if stop { "when a loop stops" } else { "how long an array or a loop is" };
    message(format!("`per_example`: `{name}` decides {what}, which can be different in each example"))
        .help(format!("share `{name}` by leaving it out here, or call the gradient for each example"))
        .note("all examples are computed together, as arrays with one more axis")
}

// `#[derive(Differentiable)]`.

pub fn derive_of_item() -> Message {
    message("`Differentiable` is derived for a struct or an enum")
        .help("write a struct or an enum: it is not known which field of a union has a value")
}

pub fn derive_of_no_variants(name: &str) -> Message {
    message(format!("`Differentiable` cannot be derived for `{name}`, which has no variants")).help("remove the derive")
}

pub fn derive_of_reference(text: &str) -> Message {
    message(format!("a field of type `{text}` cannot be differentiable: its gradient would need an owner"))
        .help("own the value, or mark the field `#[constant]`")
}

pub fn derive_of_two_numbers(first: &str, second: &str) -> Message {
    message(format!("the real numbers of a type are of one type; here are `{first}` and `{second}`"))
        .help("use one of them, or mark the fields of the other `#[constant]`")
}

pub fn constant_takes_nothing() -> Message {
    message("`#[constant]` takes no arguments").help("write `#[constant]`")
}

pub fn constant_on_no_field() -> Message {
    message("`#[constant]` belongs to a field").help("mark each field that has no gradient, or remove the mark")
}
}
