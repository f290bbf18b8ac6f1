//! Every message that the front end can show to the user, in one place, so that the texts are
//! reviewed together. A message states the error in the user's terms. Its help is the replacement,
//! as code where possible. Its note is the reason, if that is not obvious. Messages start in lower
//! case and have no full stop, as in rustc. No other module may contain texts of messages.
//!
//! To add a message, add a function to `entries!` below (with plain names as parameters) or a row
//! to a table, and a case in `tests/ui/<kind>/`. [`all`] lists every entry and every row of the
//! tables; `ad-core/tests/catalogue.rs` fails for one that no case in `tests/ui` produces.

#![allow(missing_docs, reason = "each function is the message that it returns")]

mod attribute;
pub mod dual_numbers;
mod fields;
pub mod foreign;
mod inner;
pub mod reached;
mod recursion;
pub mod refused;
mod rules;
mod values;
pub mod wanted;

pub use attribute::*;
pub use fields::*;
pub use inner::*;
pub use recursion::*;
pub use refused::refused;
pub use rules::*;
pub use values::*;

use foreign::Usage;

use crate::diag::Message;

fn message(text: impl Into<String>) -> Message {
    Message {
        entry: String::new(),
        text: text.into(),
        help: None,
        note: None,
        report_left_to_rustc: false,
        hides_body: false,
        once: false,
    }
}

impl Message {
    fn help(mut self, help: impl Into<String>) -> Self {
        self.help = Some(help.into());
        self
    }

    fn note(mut self, note: impl Into<String>) -> Self {
        self.note = Some(note.into());
        self
    }

    fn maybe(self, near: Option<&str>, otherwise: &str) -> Self {
        match near {
            Some(near) => self.help(format!("did you mean `{near}`?")),
            None if otherwise.is_empty() => self,
            None => self.help(otherwise),
        }
    }

    /// rustc is certain to report the same error, at least as well. This message is not shown.
    fn left_to_rustc(mut self, certain: bool) -> Self {
        self.report_left_to_rustc = certain;
        self
    }

    /// rustc may report the same error with a worse text. As long as this message is shown, the
    /// function's body is hidden from rustc.
    fn instead_of_rustc(mut self) -> Self {
        self.hides_body = true;
        self
    }

    /// The message is about a name that may occur many times. It is reported once.
    fn once(mut self) -> Self {
        self.once = true;
        self
    }

    /// Sets the entry of the message, or the row of its table.
    fn entry(mut self, entry: impl Into<String>) -> Self {
        if self.entry.is_empty() {
            self.entry = entry.into();
        }
        self
    }
}

/// Calls of functions with a number of arguments that they have in other libraries, and the
/// replacement. `{}` is the name.
const OTHER_ARGUMENTS: &[(&[&str], usize, &str)] = &[
    (&["log"], 0, "`x.ln()`: `log` is to a base, `x.log(2.0)`"),
    (&["sum", "mean", "product"], 1, "`x.{}_axis(Axis(0))`"),
    (&["var", "std"], 0, "`x.{}(0.0)`: the argument is what is taken off the number of elements"),
    (&["zeros", "ones"], 2, "`Array2::{}((n, m))`: the sizes are a tuple"),
    (&["zeros", "ones"], 3, "`Array3::{}((n, m, k))`: the sizes are a tuple"),
    (&["dot"], 2, "`a.dot(&b)`"),
];

/// Declares functions that return messages, and their list.
macro_rules! entries {
    ($($(#[$meta:meta])* pub fn $name:ident($($arg:ident: $ty:ty),* $(,)?) -> Message $body:block)*) => {
        $(
            $(#[$meta])*
            pub fn $name($($arg: $ty),*) -> Message {
                // A closure, so that the body may return early.
                let worded = || -> Message { $body };
                worded().entry(stringify!($name))
            }
        )*

        /// The names of the functions above.
        pub(super) const ENTRIES: &[&str] = &[$(stringify!($name)),*];
    };
}
use entries;

/// Every message: the entries, and each row of the tables of refused names.
#[must_use]
pub fn all() -> Vec<String> {
    let entries = [
        ENTRIES,
        attribute::ENTRIES,
        dual_numbers::ENTRIES,
        fields::ENTRIES,
        recursion::ENTRIES,
        values::ENTRIES,
        rules::ENTRIES,
        inner::ENTRIES,
        &["arguments_of_others"],
    ];
    let entries = entries.into_iter().flatten().map(ToString::to_string);
    entries.chain(refused::all()).chain(foreign::all()).collect()
}

/// Whether a bare name is a function of another library, which is translated.
#[must_use]
pub fn is_function_elsewhere(name: &str) -> bool {
    foreign::knows(Usage::Function, name)
}

/// Whether a name is a module or an object of another library, which is translated.
#[must_use]
pub fn is_name_elsewhere(name: &str) -> bool {
    foreign::knows(Usage::Name, name)
}

/// Whether a name is a type of another library, which is translated.
#[must_use]
pub fn is_type_elsewhere(name: &str) -> bool {
    foreign::knows(Usage::Type, name)
}

/// A message for a number of arguments that another library has.
pub fn arguments_of_others(name: &str, given: usize) -> Option<Message> {
    let row = OTHER_ARGUMENTS.iter().find(|row| row.0.contains(&name) && row.1 == given)?;
    let (shown, s) = (row.2.replace("{}", name), if given == 1 { "" } else { "s" });
    let text = message(format!("`{name}` is given {given} argument{s} here")).instead_of_rustc();
    Some(text.help(format!("write {shown}")).entry("arguments_of_others"))
}

/// A note for a name that may be an alias of a known one.
const TAKEN_FUNCTION: &str = "call it by its name in the body. What takes functions is a helper, `#[differentiable] fn helper(f: impl Fn(f64) -> f64, ..)`, and is called with a closure";

const OWN_NAMES: &str = "the attribute sees no imports: write types of ndarray by their own names, and not by those of `use .. as ..` or `type`";

entries! {
// The item and its signature.

/// `certain`: whether rustc cannot parse the item either. rustc's further errors would be about its
/// own recovery.
pub fn syntax(reason: &str, certain: bool) -> Message {
    message(reason).left_to_rustc(certain).instead_of_rustc()
}

pub fn unknown_suffix(suffix: &str) -> Message {
    message(format!("`{suffix}` is not a suffix of a number")).left_to_rustc(true)
}

pub fn macro_without_mark(name: &str, inside: &str) -> Message {
    message(format!("`{name}` is a macro")).instead_of_rustc().help(format!("write `{name}![{inside}]`"))
}

pub fn several_indices(index: &str) -> Message {
    message("several indices need two pairs of brackets").instead_of_rustc().help(format!("write `[[{index}]]`"))
}

pub fn no_body(name: &str) -> Message {
    message(format!("`{name}` has no body to differentiate")).instead_of_rustc()
        .help("write it here: `{ .. }`; in place of a trait's function write a free function, with the values that it needs as parameters")
}

/// `mark`: the attribute.
pub fn associated_function(mark: &str) -> Message {
    message(format!("`#[{mark}]` is on a function of a block, and the block has no mark"))
        .help("write `#[differentiate]` on the `impl` block too; its type has `#[derive(Differentiable)]`. Or move the function out of the block")
}

pub fn method() -> Message {
    message("a method is differentiated in a marked `impl` block")
        .help("write `#[differentiate]` on the `impl` block too; its type has `#[derive(Differentiable)]`")
}

pub fn parameter_pattern(pattern: &str) -> Message {
    let help = match pattern.strip_prefix("mut ") {
        Some(name) => format!("write `{name}`: nothing is changed in place in a differentiated function yet"),
        None => "give it a name, and take it apart in the body: `let (a, b) = p;`".into(),
    };
    message(format!("the pattern `{pattern}` as a parameter is not understood")).help(help)
}

pub fn const_parameter(name: &str) -> Message {
    message(format!("the const parameter `{name}` is not a size"))
        .help(format!("write `const {name}: usize`, or take it as an ordinary parameter"))
}

pub fn type_parameter_without_real(name: &str, bounds: &[String]) -> Message {
    let text = message(format!("the type parameter `{name}` is not a real number")).instead_of_rustc();
    if bounds.iter().any(|bound| bound.starts_with("Fn")) {
        return text.help(TAKEN_FUNCTION);
    }
    let text = text.help(format!("write `{name}: Real`, for `f32` and `f64`"));
    bounds.iter().fold(text, |text, bound| foreign::translate(Usage::Bound, bound, text))
}

pub fn second_type_parameter(name: &str) -> Message {
    message(format!("`{name}` is a second type parameter"))
        .help("use one type `T: Real` for all real numbers of the function")
}

pub fn no_result(name: &str) -> Message {
    message(format!("`{name}` returns nothing, so there is nothing to differentiate")).instead_of_rustc()
        .help("return a real number or an array: `-> f64`")
}

pub fn result_not_owned(ty: &str) -> Message {
    message(format!("the result `{ty}` is borrowed"))
        .help("return an owned value, for example `Array1<f64>` or `Vec<f64>`")
}

pub fn result_not_real(ty: &str) -> Message {
    message(format!("the result `{ty}` is not a real number, so it has no derivative"))
        .help("return `f64`, `f32`, or an array of these")
}

pub fn nothing_active(name: &str) -> Message {
    message(format!("`{name}` has no parameter of real type, so there is nothing to differentiate with respect to"))
        .help("take a parameter of type `f64`, `&Array1<f64>` or the like")
}

pub fn mutable_reference() -> Message {
    message("a differentiated function cannot take `&mut`")
        .help("take `&`, and return the new value")
}

pub fn mutable_reference_expected(found: &str) -> Message {
    message(format!("expected a mutable reference, found {found}")).instead_of_rustc().help("write `&mut x`")
}

pub fn unknown_type(ty: &str, near: Option<&str>) -> Message {
    let text = message(format!("the type `{ty}` is not known here")).once()
        .maybe(near, "take numbers, booleans, or arrays of them: `f64`, `&Array1<f64>`, `&[f64]`");
    if near.is_some() { text } else { text.note(OWN_NAMES) }
}

pub fn rank_too_high(ty: &str, most: u8) -> Message {
    message(format!("`{ty}`: arrays of rank over {most} are not supported yet"))
        .help(format!("reshape to rank {most} in the function that calls this one"))
}

pub fn element_type_missing(ty: &str) -> Message {
    message(format!("`{ty}` has no element type")).instead_of_rustc().help("write the element type: `Array1<f64>`")
}

pub fn nested_sequences(ty: &str) -> Message {
    message(format!("`{ty}` inside a sequence: the rows of an array are not separate arrays"))
        .help("take `&[Vec<F>]`, whose rows are of one length, or `&Array2<F>`")
}

pub fn element_type(ty: &str) -> Message {
    message(format!("`{ty}` is not a number type"))
        .help("use `f64`, `f32`, `usize`, `isize`, `i32`, `i64`, `u32`, `u64`, `u8` or `bool`")
}

// Names and calls.

pub fn unknown_name(name: &str, near: Option<&str>) -> Message {
    let text = message(format!("`{name}` is not known inside the function")).once()
        .maybe(near, &format!("pass it as a parameter, or bind it with `let`; for a constant outside of the function, write its type: `let value: f64 = {name};`"))
        .note("the attribute sees this function only");
    // The name may be misspelt, or it may not exist at all.
    if near.is_some() { text.instead_of_rustc() } else { foreign::translate(Usage::Name, name, text) }
}

pub fn type_as_value(name: &str) -> Message {
    message(format!("`{name}` is a type and not a value")).instead_of_rustc().help(format!("a function of the type is `{name}::exp`"))
}

pub fn method_as_value(name: &str) -> Message {
    message(format!("`{name}` is not known inside the function")).instead_of_rustc()
        .help(format!("the function of numbers is `f64::{name}`"))
}

pub fn unseen_constant(name: &str, array: Option<bool>) -> Message {
    let local = name.rsplit("::").next().unwrap_or(name).to_lowercase();
    let (number, whole) = (format!("`let {local}: f64 = {name};`"), format!("`let {local}: [f64; 3] = {name};`"));
    let code = match array {
        Some(true) => whole,
        Some(false) => number,
        None => format!("{number}, or of an array {whole}"),
    };
    message(format!("the type of the constant `{name}` cannot be seen from here")).once()
        .help(format!("write its type where it is used: {code}"))
        .note("the attribute sees this function only")
}

pub fn unknown_function(name: &str, near: Option<&str>, method: Option<&str>) -> Message {
    let (path, last) = name.rsplit_once("::").unwrap_or(("", name));
    let of_std = ["std", "core", "alloc"].contains(&name.split("::").next().unwrap_or(name));
    let way_out = if of_std {
        format!("write what it computes as a loop; or call it in a function of your own with `#[custom_vjp(rule)]`, or with `#[constant]` if no derivative goes through `{last}`")
    } else {
        format!("write it inside of this function: `fn {last}(..) -> f64 {{ .. }}`, or as a closure `let {last} = |x: f64| ..;`")
    };
    let text = message(format!("the function `{name}` cannot be seen from here")).once()
        .maybe(near, &way_out)
        .note(if path.is_empty() {
            format!("a function of your own with `#[differentiable]` has to be called by a path here: `self::{last}(..)`")
        } else {
            "the attribute sees the functions of `ad::prelude`, and functions with `#[differentiable]`".to_string()
        });
    // The name may be misspelt, or the function may not exist at all.
    let text = if near.is_some() { text.instead_of_rustc() } else { text };
    // `np::exp(x)` and `exp(x)` are methods here.
    match method.filter(|_| !path.is_empty() || near.is_none()) {
        Some(call) => text.help(format!("it is a method: `{call}`")),
        None => foreign::translate(Usage::Function, last, text),
    }
}

pub fn marked_item() -> Message {
    message("`#[differentiable]` marks functions")
        .help("write it on each `fn`; a type has `#[derive(Differentiable)]`")
}

pub fn options_of_a_mark() -> Message {
    message("`#[differentiable]` has no options but `crate`")
        .help("derivatives of the function are written by `#[differentiate(..)]`; it can be called as well then")
}

pub fn too_many_calls(most: usize) -> Message {
    message(format!("more than {most} calls would have to be expanded")).once()
        .help("a helper that calls the next one twice doubles them: bind the result with `let`, or write the calls as a loop")
}

/// `near`: the nearest name, and what it is in a few words.
pub fn unknown_method(name: &str, receiver: &str, near: Option<(&str, &str)>, as_function: bool) -> Message {
    let text = message(format!("no method `{name}` of {receiver} is understood")).instead_of_rustc();
    match near {
        _ if foreign::knows(Usage::Method, name) => foreign::translate(Usage::Method, name, text),
        _ if as_function && receiver.starts_with('`') => text.help(format!("it is a function: `{name}(x)`")),
        _ if as_function => text.help(format!("it is a function: `{name}(&x)`")),
        Some((near, "")) => text.help(format!("did you mean `{near}`?")),
        Some((near, what)) => text.help(format!("did you mean `{near}` ({what})?")),
        None => {
            text.help("write it with operators, the methods that the guide lists, and the functions of `ad::prelude`")
        }
    }
}

pub fn method_of_reals(call: &str, receiver: &str, literal: bool) -> Message {
    let name = call.split('(').next().unwrap_or(call);
    let text = message(format!("`{name}` is a method of real numbers, and `{receiver}` is an integer")).instead_of_rustc();
    text.help(if literal { format!("write `{receiver}.0_f64.{call}`") } else { format!("write `({receiver} as f64).{call}`") })
}

/// For `let r = if c { &mut a } else { &mut b };`.
pub fn chosen_reference() -> Message {
    message("a mutable reference is chosen by a condition")
        .help("assign in the branches instead: `if c { a[0] = x; } else { b[0] = x; }`")
}

/// For a decision that depends on a sum of an array of unknown memory order. ndarray's order of
/// summation depends on the memory order.
pub fn order_unknown() -> Message {
    message("a condition or index depends on a sum of this array, but its memory order, and with it ndarray's order of summation, is not known")
        .help("make it row-major before it is put into a `Vec` or replaced in a loop: `a.as_standard_layout().to_owned()`")
        .note("the elements of a `Vec` or of an array literal need one common memory order, or the row-major one; a decision needs every bit of the function's own sum")
}

/// For `fold` of an array of unknown memory order. More than the last bits may depend on it.
pub fn folded_in_unknown_order() -> Message {
    message("`fold` visits the elements in memory order, and the memory order of this array is not known")
        .help("visit the elements in row-major order: `a.iter().fold(..)`")
        .note("the elements of a `Vec` or of an array literal need one common memory order, or the row-major one")
}

pub fn accumulator(found: &str) -> Message {
    let text = message(format!("{found} cannot be an accumulator")).instead_of_rustc();
    if found == "a function" {
        return text.help("the initial value is the first argument: `fold(0.0, |acc, v| acc + v)`");
    }
    text.help("carry numbers, arrays, and tuples or array literals of these from step to step")
}

pub fn accumulator_changes(was: &str, is: &str) -> Message {
    message(format!("the initial accumulator is {was}, but the closure returns {is}")).instead_of_rustc()
        .help("use an initial value of the type and rank that the closure returns")
        .note("an accumulator has one type and one shape in all steps")
}

pub fn scan_of_tuples(name: &str) -> Message {
    message(format!("the accumulators of `{name}` are one array, so they cannot be tuples"))
        .help("carry an array: `|acc, x| array![acc[0] + x, acc[1] * x]`, and slice the result")
}

pub fn carried_changes(name: &str, was: &str, is: &str) -> Message {
    message(format!("`{name}` is {was} before the loop, but {is} after a step"))
        .help(format!("give `{name}` a value of the later type before the loop"))
        .note("a variable that a loop changes has one type and one shape in all steps")
}

pub fn carried_shape(name: &str) -> Message {
    message(format!("the loop changes the shape of `{name}`"))
        .help(format!("create `{name}` with its final shape before the loop (`Array1::zeros(x.len())`, not `Array1::zeros(0)`), and assign its elements or a part of it"))
        .note("a variable that a loop changes has one type and one shape in all steps")
}

pub fn row_grows(row: &str) -> Message {
    message(format!("`{row}` would become longer than the other rows"))
        .help("push to one `Vec`, and the number of the row to another one; or take the rows as a parameter: `rows: &[Vec<f64>]`, `rows: &[Vec<usize>]`")
        .note("a local `Vec` of `Vec`s is one array: all its rows have one length")
}

pub fn grows_now_and_then(name: &str) -> Message {
    message(format!("the length of `{name}` would depend on values or on the step"))
        .help(format!("reserve an upper bound before the loop: `let mut {name} = Vec::with_capacity(most);`; or push in a loop with a limit: `for _ in 0..most {{ if done {{ break; }} .. }}`"))
        .note("the sizes of arrays are known when the function is called")
}

pub fn rows_not_known() -> Message {
    message("the loop reads elements that it has pushed, and their size depends on values or on the step")
        .help("give all of them the greatest size: `let mut row = vec![0.0; most];`; or push the first one before the loop, if it decides the size of all: `let mut rows = vec![first]; for i in 1..n { .. }`")
}

pub fn changing_length() -> Message {
    message("the length of this array depends on values or on the step of an enclosing loop")
        .help("supported here: elements and parts (`v[i]`, `v.iter()`, `v[..k]`), `v.len()`, `mapv`, arithmetic, reductions such as `sum`, `dot`, and assignment to a part of the same size; after the loop the length is known")
        .note("the sizes of arrays are the same in all steps of a loop")
}

pub fn endless_loop() -> Message {
    message("this `loop` is never left").help("leave it where it is done: `if .. { break; }`")
}

pub fn changed_through_iterator(name: &str) -> Message {
    message(format!("this loop changes `{name}` through an iterator that was created before it"))
        .help(format!("create the iterator at the loop: `for v in {name}.iter_mut() {{ .. }}`"))
}

pub fn carried_kind(found: &str) -> Message {
    message(format!("a loop cannot carry {found} from step to step"))
        .help("carry numbers, arrays, and tuples or `Option`s of these, and compute the rest from them in each step")
}

pub fn named_argument(name: &str) -> Message {
    message(format!("`{name} = ..` is an assignment: arguments have no names")).instead_of_rustc()
        .help("write the value alone; of an axis `x.sum_axis(Axis(0))`")
}

pub fn called_array(text: &str, index: &str) -> Message {
    message(format!("`{text}` is not a function")).instead_of_rustc().help(format!("an element is `{text}[{index}]`"))
}

pub fn called_number(text: &str, arg: &str) -> Message {
    message(format!("`{text}` is a number and not a function")).instead_of_rustc().help(format!("a product is `{text} * ({arg})`"))
}

pub fn sliced_by_index() -> Message {
    message("an array of ndarray is sliced by `slice`").instead_of_rustc().help("write `x.slice(s![1..3])`")
}

pub fn arity(name: &str, args: (usize, usize), given: usize) -> Message {
    let (least, most) = args;
    let plural = |n: usize| if n == 1 { "argument" } else { "arguments" };
    let wanted =
        if least == most { format!("{least} {}", plural(least)) } else { format!("{least} to {most} arguments") };
    message(format!("`{name}` takes {wanted}, not {given}")).left_to_rustc(true)
}

pub fn closure_in_its_place(method: &str) -> Message {
    message(format!("`{method}` needs a closure expression as its argument")).help("write `|..| ..` in place of the name")
}

pub fn closure_arity(params: usize, given: usize) -> Message {
    message(format!("this closure takes {params} arguments, but is called with {given}")).left_to_rustc(true)
}

// Refused constructs.

pub fn used_before_assigned(name: &str) -> Message {
    message(format!("`{name}` may be used before it is assigned")).instead_of_rustc()
        .help(format!("give it a value where it is declared: `let mut {name} = ..;`"))
}

pub fn captured_assignment(name: &str) -> Message {
    message(format!("this closure changes `{name}`, which it captures")).once()
        .help(format!("write a `for` loop for it, or let it return the new value, which is assigned outside: `{name} = f({name});`"))
}

pub fn assignment_to_fixed(name: &str) -> Message {
    message(format!("`{name}` is assigned, but not declared `mut`")).instead_of_rustc().help(format!("write `let mut {name} = ..;`"))
}

pub fn assignment_to_parameter(name: &str) -> Message {
    message(format!("`{name}` is a parameter, and a differentiated function does not change its arguments")).instead_of_rustc()
        .help(format!("change a copy of it: `let mut {name} = {name}.clone();`, or for a view `.to_owned()`"))
}

pub fn compound_shape(place: &str) -> Message {
    message(format!("the right side has another shape than `{place}`, which it is assigned to"))
        .help("write `a = a + b` if the result may have another shape")
}

pub fn unknown_label(name: &str, near: Option<&str>) -> Message {
    message(format!("there is no block or loop with the label `'{name}`")).instead_of_rustc()
        .maybe(near, &format!("write the label in front of it: `'{name}: loop {{ .. }}`"))
}

pub fn break_outside(what: &str) -> Message {
    message(format!("`{what}` is outside of a loop")).instead_of_rustc().help("leave a block by its label: `'a: { .. break 'a value; .. }`")
}

pub fn too_deep() -> Message {
    message("this nests too deeply")
        .help("bind parts of it to names with `let`, or group the arms of a long `match` by an outer `if`")
        .once()
}

pub fn field(name: &str) -> Message {
    let text = message(format!("the field `{name}` is not understood")).instead_of_rustc()
        .help("fields are those of tuples, and of structs that the function can see");
    foreign::translate(Usage::Method, name, text)
}

/// rustc reports it too.
pub fn no_such_field(name: &str, ty: &str) -> Message {
    message(format!("`{ty}` has no field `{name}`")).left_to_rustc(true)
}

/// rustc reports it too.
pub fn missing_field(ty: &str) -> Message {
    message(format!("not all fields of `{ty}` are given")).left_to_rustc(true)
}

pub fn repeated_type(name: &str) -> Message {
    message(format!("the function has two types named `{name}`")).help("give one of them another name")
}

pub fn method_of_references(name: &str) -> Message {
    message(format!("`{name}` is another function for references than for values of the same types"))
        .help("write one in terms of the other, such as `*self + *other`, or give one of them another name")
}

pub fn field_of_array(text: &str, k: usize) -> Message {
    message(format!("an array has no `.{k}`")).instead_of_rustc().help(format!("an element is `{text}[{k}]`"))
}

pub fn method_without_call(name: &str) -> Message {
    message(format!("`{name}` is a method, not a field")).instead_of_rustc().help(format!("write `.{name}()`"))
}

pub fn no_such_part(k: usize, parts: usize) -> Message {
    message(format!("this tuple has {parts} parts, and no `.{k}`")).instead_of_rustc().help("parts are counted from 0")
}

pub fn literal(text: &str) -> Message {
    message(format!("the literal `{text}` is not a number")).help("use numbers and booleans")
}

// Internal errors.

pub fn internal(stage: &str, what: &str) -> Message {
    message(format!("internal error of `ad` in {stage}: {what}"))
        .help("please report it with the function; until then, bind parts of it to names, or write it in another way")
        .note("this is a bug of ours, not of your function")
}
}
