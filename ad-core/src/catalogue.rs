//! Every message to the user that the front end can produce, in one place, so that the wording is reviewed as a whole.
//!
//! A message says what is wrong in the user's words; its help what to write instead, as code where there is any; its note the reason,
//! where that is not obvious. Messages begin in lower case and have no full stop, as rustc's. No message is worded anywhere else;
//! what is refused by name stands in tables: [`mod@refused`] (constructs, macros, items, types), and [`foreign`] (idioms of other libraries).
//!
//! To add a message: a function inside `entries!` below (plain names as parameters), and a case in `tests/ui/<kind>/`. [`all`] lists every
//! entry and every row of the tables; `ad-core/tests/catalogue.rs` fails for one that no case in `tests/ui` produces.

#![allow(missing_docs, reason = "each function is the message that it returns")]

pub mod foreign;
pub mod refused;

pub use refused::refused;

use foreign::Kind;

use crate::diag::Message;

fn message(text: impl Into<String>) -> Message {
    Message { entry: String::new(), text: text.into(), help: None, note: None, rustc: false, twice: false }
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

    /// rustc is certain to report the same mistake in the annotated function, and says it at least as well: of ours nothing is shown.
    fn left_to_rustc(mut self, certain: bool) -> Self {
        self.rustc = certain;
        self
    }

    /// rustc may report the same mistake, and says it worse or says less: as long as ours is shown, it does not see the function's body.
    fn instead_of_rustc(mut self) -> Self {
        self.twice = true;
        self
    }

    /// Says which entry, and of a table which row, the message is.
    fn entry(mut self, entry: impl Into<String>) -> Self {
        if self.entry.is_empty() {
            self.entry = entry.into();
        }
        self
    }
}

/// Whether a description is that of a scalar: a type in backticks. Of scalars rustc speaks best, of ndarray's traits it does not.
fn scalar(described: &str) -> bool {
    described.starts_with('`')
}

/// Functions that return messages, and their list.
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

        /// The functions above by name.
        const ENTRIES: &[&str] = &[$(stringify!($name)),*];
    };
}

/// Every message that there is: the entries, and each row of the tables of what is refused by name.
#[must_use]
pub fn all() -> Vec<String> {
    let entries = ENTRIES.iter().map(ToString::to_string);
    entries.chain(refused::all()).chain(foreign::all()).collect()
}

entries! {
// The attribute.

pub fn malformed_attribute(reason: &str) -> Message {
    message(format!("the arguments of `differentiate` cannot be read: {reason}"))
        .help("write options with commas: `#[differentiate(grad, jvp, wrt(w, b))]`")
}

pub fn unknown_option(name: &str, near: Option<&str>) -> Message {
    let text = message(format!("`differentiate` has no option `{name}`"));
    let text = text
        .maybe(near, "the options are `grad`, `vjp`, `jvp`, `jacobian`, `hvp`, `hessian`, `pullback`, `into`, `wrt(..)`, `crate = \"..\"`, `mode = \"..\"`");
    foreign::translate(Kind::Option, name, text)
}

pub fn option_later(name: &str) -> Message {
    message(format!("the option `{name}` is not built yet")).help("leave it out; the value, and what goes with it, can be results of another function")
}

pub fn option_takes_nothing(name: &str) -> Message {
    message(format!("the option `{name}` takes no arguments")).help(format!("write `{name}`"))
}

pub fn option_twice(name: &str) -> Message {
    message(format!("the option `{name}` is given twice")).help("leave one of them out")
}

pub fn malformed_option(name: &str, form: &str) -> Message {
    message(format!("the option `{name}` cannot be read")).help(format!("write `{form}`"))
}

pub fn mode_later(mode: &str) -> Message {
    message(format!("the mode `{mode}` is not built yet")).help("leave the mode out, or write `mode = \"dual_arrays\"`")
}

pub fn unknown_mode(mode: &str, near: Option<&str>) -> Message {
    message(format!("there is no mode `{mode}`")).maybe(near, "leave the mode out, or write `mode = \"dual_arrays\"`")
}

pub fn grad_of_an_array(option: &str) -> Message {
    let text = message(format!("`{option}` is of a function whose result is one real number; this one returns an array"));
    match option {
        "hvp" | "hessian" => text.help("take it of a number made of the result, such as the sum of its squares"),
        _ => text.help("write `vjp`: the gradient of the result weighted by a cotangent"),
    }
}

pub fn hessian_of_several(names: &[String], first: &str) -> Message {
    message(format!("`hessian` is with respect to one parameter; here are {}", names.join(", ")))
        .help(format!("name one of them: `wrt({first})`; products with the Hessian of all of them: `hvp`"))
}

pub fn derivative_of_high_rank(option: &str, name: &str, result: u8, param: u8) -> Message {
    let text = message(format!("`{option}` with respect to `{name}` would have {result} + {param} indices; arrays have at most 6"));
    match option {
        "hessian" => text.help("write `hvp`: the Hessian applied to a direction"),
        _ => text.help("write `vjp` or `jvp`: the Jacobian applied to a cotangent or to tangents"),
    }
}

pub fn check_grad_of_no_call() -> Message {
    message("`check_grad!` is of a call of a differentiated function")
        .help("write `check_grad!(f(&x, 2.0))`; what is checked, and how closely: `check_grad!(f(&x, 2.0), jvp, tolerance = 1e-4)`")
}

pub fn check_grad_option(text: &str, near: Option<&str>) -> Message {
    message(format!("`check_grad!` has no option `{text}`")).maybe(
        near,
        "the options are `grad`, `vjp`, `jvp`, `jacobian`, `hvp`, `hessian`, `pullback`, `into` (all that were written, if there is none of these), and `tolerance = 1e-4`",
    )
}

pub fn wrt_unknown(name: &str, near: Option<&str>, all: &[String]) -> Message {
    let all: Vec<String> = all.iter().map(|p| format!("`{p}`")).collect();
    message(format!("`wrt` names `{name}`, which is no parameter"))
        .maybe(near, &format!("the parameters are {}", all.join(", ")))
}

pub fn wrt_discrete(name: &str, ty: &str) -> Message {
    message(format!("`{name}` is of type `{ty}`: no gradient flows through it"))
        .help(format!("leave `{name}` out of `wrt(..)`"))
}

pub fn attribute_twice() -> Message {
    message("`differentiate` stands twice on this function").help("write one, with all options: `#[differentiate(grad, jvp)]`")
}

pub fn wrt_twice(name: &str) -> Message {
    message(format!("`wrt` names `{name}` twice")).help("leave one of them out")
}

// The item and its signature.

pub fn syntax(reason: &str) -> Message {
    message(reason)
}

pub fn several_indices(index: &str) -> Message {
    message("several indices stand in one more pair of brackets").help(format!("write `[[{index}]]`"))
}

pub fn method() -> Message {
    message("methods cannot be differentiated yet")
        .help("write a free function that takes what it needs of `self` as parameters")
}

pub fn parameter_pattern(pattern: &str) -> Message {
    let help = match pattern.strip_prefix("mut ") {
        Some(name) => format!("write `{name}`: nothing is changed in place in a differentiated function yet"),
        None => "give each part as a parameter of its own, with a name".into(),
    };
    message(format!("the pattern `{pattern}` as a parameter is not understood")).help(help)
}

pub fn const_parameter(name: &str) -> Message {
    message(format!("the const parameter `{name}` is not a size"))
        .help(format!("write `const {name}: usize`, or take it as an ordinary parameter"))
}

pub fn type_parameter_without_real(name: &str, bounds: &[String]) -> Message {
    let text = message(format!("the type parameter `{name}` is not a real number"));
    if bounds.iter().any(|bound| bound.starts_with("Fn")) {
        return text.help("call the function in the body instead of taking it as a parameter");
    }
    let text = text.help(format!("write `{name}: Real`, for `f32` and `f64`"));
    bounds.iter().fold(text, |text, bound| foreign::translate(Kind::Bound, bound, text))
}

pub fn second_type_parameter(name: &str) -> Message {
    message(format!("`{name}` is a second type parameter"))
        .help("use one type `T: Real` for all real numbers of the function")
}

pub fn no_result(name: &str) -> Message {
    message(format!("`{name}` returns nothing, so there is nothing to differentiate"))
        .help("return a real number or an array: `-> f64`")
}

pub fn result_not_owned(ty: &str) -> Message {
    message(format!("the result `{ty}` is borrowed"))
        .help("return an owned value, for example `Array1<f64>` or `Vec<f64>`")
}

pub fn result_not_real(ty: &str) -> Message {
    message(format!("the result `{ty}` is no real number, so it has no derivative"))
        .help("return `f64`, `f32`, or an array of these")
}

pub fn nothing_active(name: &str) -> Message {
    message(format!("`{name}` has no parameter of real type, so there is nothing to differentiate with respect to"))
        .help("take a parameter of type `f64`, `&Array1<f64>` or the like")
}

pub fn mutable_reference() -> Message {
    message("a function that is differentiated changes nothing: `&mut` is not accepted")
        .help("take `&`, and return the new value")
}

pub fn unknown_type(ty: &str, near: Option<&str>) -> Message {
    message(format!("the type `{ty}` is not known here"))
        .maybe(near, "take numbers, booleans, or arrays of them: `f64`, `&Array1<f64>`, `&[f64]`")
}

pub fn rank_too_high(ty: &str, most: u8) -> Message {
    message(format!("`{ty}`: arrays of rank over {most} are not built yet"))
        .help(format!("reshape to rank {most} in the function that calls this one"))
}

pub fn element_type_missing(ty: &str) -> Message {
    message(format!("`{ty}` does not say what its elements are")).instead_of_rustc().help("write the element type: `Array1<f64>`")
}

pub fn nested_sequences(ty: &str) -> Message {
    message(format!("`{ty}` inside a sequence: the rows of an array are not arrays of their own"))
        .help("take `&Array2<F>`, made of them by `Array2::from_shape_fn((n, m), |(i, j)| rows[i][j])`")
}

pub fn element_type(ty: &str) -> Message {
    message(format!("`{ty}` is no type of numbers"))
        .help("use `f64`, `f32`, `usize`, `isize`, `i32`, `i64`, `u32`, `u64`, `u8` or `bool`")
}

// Names and calls.

pub fn unknown_name(name: &str, near: Option<&str>) -> Message {
    let text = message(format!("`{name}` is not known inside the function"))
        .maybe(near, "pass it as a parameter, or bind it with `let`")
        .note("the attribute sees this function only");
    // It may be a slip of the pen, and a name that nobody has.
    if near.is_some() { text.instead_of_rustc() } else { text }
}

pub fn unseen_constant(name: &str, array: Option<bool>) -> Message {
    let local = name.rsplit("::").next().unwrap_or(name).to_lowercase();
    let (number, whole) = (format!("`let {local}: f64 = {name};`"), format!("`let {local}: [f64; 3] = {name};`"));
    let code = match array {
        Some(true) => whole,
        Some(false) => number,
        None => format!("{number}, or of an array {whole}"),
    };
    message(format!("the type of the constant `{name}` cannot be seen from here"))
        .help(format!("say it where it is used: {code}"))
        .note("the attribute sees this function only")
}

pub fn unknown_function(name: &str, near: Option<&str>, method: bool) -> Message {
    let text = message(format!("the function `{name}` cannot be seen from here"))
        .maybe(near, "write it as a closure: `let f = |x: f64| ..;`")
        .note("the attribute sees this function only, and the functions of `ad::prelude`");
    // It may be a slip of the pen, and a function that nobody has.
    let text = if near.is_some() { text.instead_of_rustc() } else { text };
    let (path, last) = name.rsplit_once("::").unwrap_or(("", name));
    // `np::exp`: a method here.
    if method && !path.is_empty() {
        return text.help(format!("it is a method: `x.{last}()`"));
    }
    foreign::translate(Kind::Function, last, text)
}

pub fn unknown_method(name: &str, receiver: &str, near: Option<&str>, as_function: bool) -> Message {
    let text = message(format!("no method `{name}` of {receiver} is understood")).instead_of_rustc();
    if foreign::knows(Kind::Method, name) {
        return foreign::translate(Kind::Method, name, text);
    }
    match near {
        _ if as_function => text.help(format!("it is a function: `{name}(..)`")),
        Some(near) => text.help(format!("did you mean `{near}`?")),
        None => {
            text.help("write it with operators, the methods listed in the README, and the functions of `ad::prelude`")
        }
    }
}

pub fn later(what: &str) -> Message {
    message(format!("{what} is not built yet")).help("write it with `build1`, `sum` and indexing, if it can be said so")
}

pub fn accumulator(found: &str) -> Message {
    message(format!("{found} cannot be an accumulator"))
        .help("carry numbers, arrays, and tuples or array literals of these from step to step")
}

pub fn accumulator_changes(was: &str, is: &str) -> Message {
    message(format!("the accumulator begins as {was}, and the closure makes {is} of it")).instead_of_rustc()
        .help("begin with a value of the type and rank that the closure returns")
        .note("an accumulator has one type and one shape in all steps")
}

pub fn scan_of_tuples(name: &str) -> Message {
    message(format!("the accumulators of `{name}` are one array, so they cannot be tuples"))
        .help("carry an array: `|acc, x| array![acc[0] + x, acc[1] * x]`, and slice the result")
}

pub fn carried_changes(name: &str, was: &str, is: &str) -> Message {
    message(format!("`{name}` is {was} before the loop, and a step makes {is} of it"))
        .help(format!("give `{name}` a value of the later type before the loop"))
        .note("a variable that a loop changes has one type and one shape in all steps")
}

pub fn carried_shape(name: &str) -> Message {
    message(format!("the loop changes the shape of `{name}`"))
        .help(format!("let `{name}` have its last shape before the loop, and assign its elements or a part of it"))
        .note("a variable that a loop changes has one type and one shape in all steps")
}

pub fn grows_now_and_then(name: &str) -> Message {
    message(format!("how many elements `{name}` has would depend on values or on the step"))
        .help(format!("say before the loop how many it has at most: `let mut {name} = Vec::with_capacity(most);`; or push in a loop with a limit: `for _ in 0..most {{ if done {{ break; }} .. }}`"))
        .note("the sizes of arrays are known when the function is called")
}

pub fn changing_length() -> Message {
    message("how many elements this has depends on values or on the step of a loop around it")
        .help("read its elements here (`v[i]`, `v.last()`, `v.iter()`, `v[..k]`), `v.len()`, `sum`, `mean` and `dot`; behind the loop a `Vec` is an array again")
        .note("the sizes of arrays are the same in all steps of a loop")
}

pub fn endless_loop() -> Message {
    message("this `loop` is never left").help("leave it where it is done: `if .. { break; }`")
}

pub fn changed_through_iterator(name: &str) -> Message {
    message(format!("this loop changes `{name}` through an iterator that was made before it"))
        .help(format!("make the iterator where the loop begins: `for v in {name}.iter_mut() {{ .. }}`"))
}

pub fn carried_kind(found: &str) -> Message {
    message(format!("a loop cannot carry {found} from step to step"))
        .help("carry numbers, arrays, and tuples or `Option`s of these, and make of them in a step what it needs")
}

pub fn arity(name: &str, args: (usize, usize), given: usize) -> Message {
    let (least, most) = args;
    let plural = |n: usize| if n == 1 { "argument" } else { "arguments" };
    let wanted =
        if least == most { format!("{least} {}", plural(least)) } else { format!("{least} to {most} arguments") };
    message(format!("`{name}` takes {wanted}, not {given}")).left_to_rustc(true)
}

pub fn closure_arity(params: usize, given: usize) -> Message {
    message(format!("this closure takes {params} arguments, but is called with {given}")).left_to_rustc(true)
}

// Refused constructs.

pub fn used_before_assigned(name: &str) -> Message {
    message(format!("`{name}` is used where not every path has assigned it")).instead_of_rustc()
        .help(format!("give it a value where it is declared: `let mut {name} = ..;`"))
}

pub fn captured_assignment(name: &str) -> Message {
    message(format!("this closure changes `{name}`, which it captures"))
        .help(format!("let the closure return the new value, and assign it outside: `{name} = f({name});`"))
}

pub fn assignment_to_fixed(name: &str) -> Message {
    message(format!("`{name}` is assigned and is not mutable")).instead_of_rustc().help(format!("write `let mut {name} = ..;`"))
}

pub fn assignment_to_parameter(name: &str) -> Message {
    message(format!("`{name}` is a parameter, and a function that is differentiated does not change what it is given")).instead_of_rustc()
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
    message(format!("`{what}` stands outside of a loop")).instead_of_rustc().help("leave a block by its label: `'a: { .. break 'a value; .. }`")
}

pub fn too_deep() -> Message {
    message("this nests too deeply").help("bind parts of it to names with `let`")
}

pub fn field(name: &str) -> Message {
    message(format!("the field `{name}` is not understood")).instead_of_rustc()
        .help("take a tuple apart with `let (a, b) = ..;`; structs are not built yet")
}

pub fn method_without_call(name: &str) -> Message {
    message(format!("`{name}` is a method, not a field")).instead_of_rustc().help(format!("write `.{name}()`"))
}

pub fn no_such_part(k: usize, parts: usize) -> Message {
    message(format!("this tuple has {parts} parts, and no `.{k}`")).instead_of_rustc().help("parts are counted from 0")
}

pub fn literal(text: &str) -> Message {
    message(format!("the literal `{text}` is no number")).help("use numbers and booleans")
}

// Types of values.

pub fn expected(wanted: &str, found: &str) -> Message {
    message(format!("expected {wanted}, found {found}")).instead_of_rustc()
}

pub fn condition(found: &str) -> Message {
    message(format!("expected `bool`, found {found}")).left_to_rustc(scalar(found))
}

pub fn types_differ(a: &str, b: &str) -> Message {
    let text = message(format!("the types differ: {a} and {b}")).instead_of_rustc();
    if !scalar(a) || !scalar(b) {
        return text.help("convert one of them: `x as f64`, or `x.mapv(|v| v as f64)`");
    }
    // What is no real number becomes one, and a single a double.
    let to_second = b == "`f64`" || (b == "`f32`" && a != "`f64`");
    let (from, to) = if to_second { (a, b) } else { (b, a) };
    let to = to.trim_matches('`');
    // Mostly a literal that nothing has given another type.
    let literal = if from == "`i32`" { ", or write the literal that it comes from as `0.0`" } else { "" };
    text.help(format!("convert the {from}: `x as {to}`{literal}"))
}

pub fn not_an_array(found: &str, option: bool) -> Message {
    let text = message(format!("expected a number or an array, found {found}")).instead_of_rustc();
    if option { text.help("write `.unwrap()` behind it") } else { text }
}

pub fn result_type(found: &str, declared: &str) -> Message {
    message(format!("the function's value is {found}, its result is declared as `{declared}`")).left_to_rustc(true)
}

pub fn literal_type(found: &str, wanted: &str, literal: Option<i128>) -> Message {
    let text = message(format!("expected `{wanted}`, found {found}")).instead_of_rustc();
    match literal {
        Some(n) => text.help(format!("write `{n}.0`")),
        None => text,
    }
}

pub fn literal_out_of_range(n: i128, ty: &str) -> Message {
    message(format!("`{n}` is out of range for `{ty}`"))
}

pub fn cast(found: &str, to: &str) -> Message {
    message(format!("{found} cannot be cast to `{to}`")).help("cast element by element: `x.mapv(|v| v as f64)`").left_to_rustc(scalar(found))
}

pub fn comparison_of_arrays() -> Message {
    message("arrays are not compared as a whole").help("compare elements: `x[i] < y[i]`")
}

// Shapes.

pub fn ranks_differ(a: usize, b: usize) -> Message {
    message(format!("the ranks differ: {a} and {b}")).instead_of_rustc()
}

pub fn sizes_never_equal(words: &[String; 2], a: i128, b: i128) -> Message {
    message(format!("shapes differ: the {} is {a}, the {} is {b}", words[0], words[1]))
}

pub fn size_depends_on_index() -> Message {
    message("a size depends on the index of a `build` or iterator around it")
        .help("use the full size and mask: `build1(n, |j| if j <= i { .. } else { 0.0 })`")
        .note("all elements of an array have the same shape")
}

pub fn index_rank(given: usize, rank: usize) -> Message {
    let indices = if given == 1 { "index" } else { "indices" };
    let text = message(format!("{given} {indices} for an array of rank {rank}")).instead_of_rustc();
    if rank == 2 && given == 1 { text.help("write `x[[i, j]]`, or `x.row(i)`") } else { text }
}

pub fn index_never_in_range(index: i128, len: usize) -> Message {
    message(format!("the index {index} is out of range for {len} elements"))
}

pub fn negative_index(n: i128, array: &str) -> Message {
    let array = array.trim_start_matches('&');
    let help = if n == 1 { format!("write `{array}[{array}.len() - 1]`, or `{array}.last().unwrap()`") } else { format!("write `{array}[{array}.len() - {n}]`") };
    message("an index counts from the first element, and is never negative").instead_of_rustc().help(help)
}

pub fn index_type(found: &str, index: &str) -> Message {
    message(format!("an index is a `usize`, this is {found}")).instead_of_rustc().help(if index.contains(' ') {
        format!("write `({index}) as usize`")
    } else {
        format!("write `{index} as usize`")
    })
}

pub fn part_sizes(rank: usize, found: usize) -> Message {
    let names: Vec<String> = (0..rank).map(|k| format!("n{k}")).collect();
    let form = if rank == 1 { "n".to_string() } else { format!("({})", names.join(", ")) };
    message(format!("a part of an array of rank {rank} has a size for each axis, here they are {found}"))
        .help(format!("write `{form}`"))
        .instead_of_rustc()
}

pub fn axis() -> Message {
    message("the axis has to be known when the macro runs").help("write `Axis(0)`").instead_of_rustc()
}

pub fn axis_out_of_range(axis: usize, rank: usize) -> Message {
    message(format!("axis {axis} is out of range for an array of rank {rank}")).help("axes are counted from 0")
}

pub fn rows_of_no_matrix(method: &str, rank: usize) -> Message {
    message(format!("`{method}` is of matrices, this array has rank {rank}")).instead_of_rustc().help(if rank == 1 {
        "write `x.len()` or `x[i]`"
    } else {
        "write `x.shape()[k]` or `x.index_axis(Axis(k), i)`"
    })
}

pub fn dot(a: &str, b: &str) -> Message {
    message(format!("`dot` of {a} and {b} is not defined")).instead_of_rustc().help("it is of vectors and matrices of one real type")
}

pub fn build_of_arrays() -> Message {
    message("the closure of `build` gives one element, not an array").instead_of_rustc()
        .help("use `build1`, whose closure may give an array")
}

pub fn map_to_arrays() -> Message {
    message("the closure gives an array for each element").instead_of_rustc().help("use `build1`, whose closure may give an array")
}

pub fn sum_of_arrays() -> Message {
    message("the items of this iterator are arrays").instead_of_rustc()
        .help("build them and sum over the first axis: `sum_outer(&build1(n, |i| ..))`")
}

pub fn open_range() -> Message {
    message("this range has no end").help("write both ends: `0..n`")
}

pub fn slice_argument() -> Message {
    message("a slice is described by `s![..]`").instead_of_rustc().help("write `x.slice(s![1.., 2])`")
}

pub fn slice_step() -> Message {
    message("the step of a slice is a number that is not 0").help("write `s![..;2]` or `s![..;-1]`")
}

// Ourselves.

pub fn internal(stage: &str, what: &str) -> Message {
    message(format!("internal error of `ad` in {stage}: {what}"))
        .help("please report it with the function; until then, bind parts of it to names, or say it otherwise")
        .note("this is a bug of ours, not of your function")
}
}
