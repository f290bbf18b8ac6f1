//! Errors in the types and shapes of values.

use super::message;
use crate::diag::Message;

/// Whether a description describes a scalar; it is then a type in backticks. rustc's errors about
/// scalars are better than ours; those about ndarray's traits are not.
fn scalar(described: &str) -> bool {
    described.starts_with('`')
}

/// The number type at the end of a description.
fn element(described: &str) -> &str {
    described.trim_end_matches('`').rsplit('`').next().unwrap_or(described)
}

const NUMBER_OF_BOOL: &str = "make a number of the `bool`: `if c { 1.0 } else { 0.0 }`";

/// The operand that is converted, and the one whose type it gets. An integer becomes a real, and an
/// `f32` an `f64`.
fn conversion(types: [&str; 2]) -> (usize, usize) {
    let order = |ty: &str| match element(ty) {
        "bool" => 0,
        "u8" => 1,
        "u32" | "i32" => 2,
        "u64" | "i64" | "usize" | "isize" => 3,
        "f32" => 4,
        _ => 5,
    };
    if order(types[0]) < order(types[1]) { (0, 1) } else { (1, 0) }
}

/// The two sides of a quotient of names and numbers.
fn halves(word: &str) -> Option<[&str; 2]> {
    let (a, b) = word.split_once(" / ")?;
    (!a.contains(' ') && !b.contains(' ')).then_some([a, b])
}

/// An expression converted to another number type. A `<` after `as T` would start generic
/// arguments, so the cast is put in parentheses then.
fn converted(word: &str, to: &str, closed: bool) -> String {
    let own = word;
    let word = if word.contains([' ', '|']) && !word.ends_with([')', ']']) || word.starts_with(['-', '*', '&']) {
        format!("({word})")
    } else {
        word.to_string()
    };
    match to {
        "f64" | "f32" | "usize" | "isize" | "i32" | "i64" | "u32" | "u64" | "u8" if closed => {
            format!("({word} as {to})")
        }
        "f64" | "f32" | "usize" | "isize" | "i32" | "i64" | "u32" | "u64" | "u8" => format!("{word} as {to}"),
        real if own.ends_with(" as f64") => format!("{real}::lit({own})"),
        real => format!("{real}::lit({word} as f64)"),
    }
}

const SIZE_DEPENDS: &str =
    "a size depends on the step of a loop, or on the index of a `build1`, `build` or iterator around it";

super::entries! {
// Types of values.

pub fn expected(wanted: &str, found: &str) -> Message {
    message(format!("expected {wanted}, found {found}")).instead_of_rustc()
}

pub fn expected_type(wanted: &str, found: &str) -> Message {
    message(format!("expected `{wanted}`, found {found}")).instead_of_rustc()
}

pub fn expected_parts(wanted: &str, parts: usize, found: &str) -> Message {
    message(format!("expected {wanted} of {parts} parts, found {found}")).instead_of_rustc()
}

pub fn uplo() -> Message {
    message("the triangle is not known when the program is compiled")
        .help("write `Uplo::Lower` or `Uplo::Upper`")
}

pub fn condition(found: &str) -> Message {
    message(format!("expected `bool`, found {found}")).left_to_rustc(scalar(found))
}

pub fn types_differ(a: &str, b: &str) -> Message {
    let text = message(format!("the types differ: {a} and {b}")).instead_of_rustc();
    if !scalar(a) || !scalar(b) {
        return text.help("convert one of them: `.. as f64`, or `.mapv(|v| v as f64)`");
    }
    let (from, to) = conversion([a, b]);
    let [from, to] = [[a, b][from], [a, b][to].trim_matches('`')];
    text.help(if from == "`bool`" { NUMBER_OF_BOOL.to_string() } else { format!("convert the {from}: `.. as {to}`") })
}

pub fn operands_differ(op: &str, words: &[String; 2], types: [&str; 2], assigned: bool) -> Message {
    let text = message(format!("the types differ: {} and {}", types[0], types[1])).instead_of_rustc();
    let (from, to) = conversion(types);
    let (word, real) = (&words[from], element(types[to]));
    // A variable that changes has the type of its first value.
    if assigned && from == 0 {
        let begins = if scalar(types[0]) { "0.0" } else { ".." };
        return text.help(format!("initialise `{word}` with a value of type `{real}`: `let mut {word} = {begins};`"));
    }
    if words.iter().any(|w| w.is_empty() || w.ends_with("...")) {
        return text.help(format!("convert the {}: `.. as {real}`", types[from]));
    }
    let converted = match (element(types[from]), scalar(types[from])) {
        ("bool", true) => return text.help(NUMBER_OF_BOOL),
        // A quotient of integers would be rounded down.
        ("usize" | "i32" | "i64" | "isize" | "u32" | "u64", true) if halves(word).is_some() => {
            let parts = halves(word).into_iter().flatten();
            let parts: Vec<String> = parts.map(|part| if part.parse::<u32>().is_ok() { format!("{part}.0") } else { converted(part, real, false) }).collect();
            parts.join(" / ")
        }
        (_, true) => converted(word, real, from == 0 && op.starts_with('<')),
        (_, false) => format!("{word}.mapv(|v| {})", converted("v", real, false)),
    };
    let both = if from == 0 { [&converted, &words[1]] } else { [&words[0], &converted] };
    text.help(format!("write `{} {op} {}`", both[0], both[1]))
}

pub fn argument_differs(method: &str, words: [&str; 2], types: [&str; 2]) -> Message {
    let text = message(format!("the types differ: {} and {}", types[0], types[1])).instead_of_rustc();
    let long = words.iter().any(|w| w.is_empty() || w.ends_with("...") || w.starts_with("the "));
    if !scalar(types[1]) {
        return text.help(format!("for each element of both: `map2(&a, &b, |a, b| a.{method}(b))`"));
    }
    if conversion(types).0 == 0 {
        let literal = if types[0] == "`i32`" { ", or write the literal that it comes from as `0.0`" } else { "" };
        return text.help(format!("convert the {}: `.. as {}`{literal}", types[0], element(types[1])));
    }
    if element(types[1]) == "bool" || long {
        return text.help(format!("convert it: `.. as {}`", element(types[0])));
    }
    let receiver = if words[0].contains(' ') && !words[0].ends_with([')', ']']) { format!("({})", words[0]) } else { words[0].to_string() };
    text.help(format!("write `{receiver}.{method}({})`", converted(words[1], element(types[0]), false)))
}

pub fn power(found: &str, exponent: &str) -> Message {
    let text = message(format!("the exponent of `powi` is an `i32`, this is {found}")).instead_of_rustc();
    let whole = exponent.strip_suffix(".0").or(exponent.strip_suffix('.'));
    text.help(match (whole, element(found)) {
        (Some(whole), _) => format!("write `.powi({whole})`"),
        (_, "f64" | "f32") => format!("write `.powf({exponent})`"),
        _ => format!("write `.powi({})`", converted(exponent, "i32", false)),
    })
}

pub fn integers_differ(wanted: &str, found: &str) -> Message {
    message(format!("expected `{wanted}`, found {found}")).instead_of_rustc().help(format!("convert it: `n as {wanted}`"))
}

pub fn slice_bound(found: &str) -> Message {
    message(format!("the ends of a slice are `usize`, or `isize` to count from the end, this is {found}")).instead_of_rustc()
        .help("convert it: `s![k as usize..]`")
}

pub fn declared(wanted: &str, found: &str) -> Message {
    let text = message(format!("expected {wanted}, found {found}")).instead_of_rustc();
    let numbers = |d: &str| scalar(d) && element(d) != "bool";
    if !numbers(wanted) || !numbers(found) {
        return text;
    }
    let (wanted, found) = (element(wanted), element(found));
    text.help(format!("write the type that it has, `{found}`, and convert it where it is used: `.. as {wanted}`"))
}

pub fn array_expected(found: &str) -> Message {
    let text = message(format!("expected an array, found {found}")).instead_of_rustc();
    if scalar(found) { text.help("it is one number, which has no elements and axes: `*`, `+`, `.exp()` and similar methods work on numbers too") } else { text }
}

pub fn not_an_array(found: &str, option: bool) -> Message {
    let text = message(format!("expected a number or an array, found {found}")).instead_of_rustc();
    match found {
        _ if option => text.help("write `.unwrap()` after it"),
        "an iterator" => text.help("collect it, `.collect::<Vec<_>>()`, or end it: `.sum::<f64>()`, `.count()`"),
        "a tuple" => text.help("its parts are `.0`, `.1`, or `let (a, b) = ..;`"),
        "`()`" => text.help("remove the `;` after the value; an `if` with a value has an `else`"),
        _ => text,
    }
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
    let text = message(format!("{found} cannot be cast to `{to}`")).help("cast element by element: `x.mapv(|v| v as f64)`");
    if scalar(found) { text.left_to_rustc(true) } else { text.instead_of_rustc() }
}

pub fn comparison_of_arrays() -> Message {
    message("arrays are not compared as a whole").instead_of_rustc().help("compare elements: `x[i] < y[i]`")
}

// Shapes.

pub fn ranks_differ(a: usize, b: usize) -> Message {
    message(format!("the ranks differ: {a} and {b}")).instead_of_rustc()
}

pub fn constructor_shape(name: &str, rank: usize, found: usize) -> Message {
    let sizes = |rank: usize| match rank {
        0 => "()".to_string(),
        1 => "n".to_string(),
        _ => format!("({})", (0..rank).map(|k| format!("n{k}")).collect::<Vec<_>>().join(", ")),
    };
    let more = |given: &str| if name.starts_with("from") { format!("{given}, ..") } else { given.to_string() };
    let s = if rank == 1 { "" } else { "s" };
    message(format!("an array of rank {rank} has {rank} size{s}, here they are {found}")).instead_of_rustc().help(format!(
        "write `Array{rank}::{name}({})`, or of rank {found} `Array{found}::{name}({})`",
        more(&sizes(rank)),
        more(&sizes(found))
    ))
}

pub fn shapes_of_two(words: &[String; 2], types: [&str; 2]) -> Message {
    let text = message(format!("{} is {}, {} is {}", words[0], types[0], words[1], types[1])).instead_of_rustc();
    match types.iter().filter(|ty| scalar(ty)).count() {
        1 => text.help("make an array of the number: `Array1::from_elem(n, 2.0)`"),
        _ => text,
    }
}

pub fn sizes_never_equal(words: &[String; 2], a: i128, b: i128) -> Message {
    message(format!("shapes differ: the {} is {a}, the {} is {b}", words[0], words[1]))
}

pub fn size_depends_on_index() -> Message {
    message(SIZE_DEPENDS)
        .help("use the full size and mask: `build1(n, |j| if j <= i { .. } else { 0.0 })`; or add up or change the elements in a loop: `for j in i..n { y[j] *= 2.0; }`")
        .note("all elements of an array have the same shape")
}

pub fn array_size_depends_on_index() -> Message {
    message(SIZE_DEPENDS)
        .help("make an array of the greatest size, and use its first elements: `vec![0.0; x.len()]`; or compute the elements from those of a part: `x[from..to].iter().map(|v| ..).collect()`; or add up in a loop: `for a in from..to { s += x[a]; }`")
        .note("nothing bounds this size before the loop")
}

pub fn item_count_depends_on_index() -> Message {
    message("the number of items depends on the step of a loop, or on the index of a `build1`, `build` or iterator around it, and nothing bounds it")
        .help("write a loop, which needs no bound: `for a in from..to { .. }`; or take the items of a part of an array, which is not longer than the array: `x[from..to].iter()`")
}

pub fn collected_count_depends_on_index() -> Message {
    message("the number of items to collect depends on the step of a loop, or on the index of a `build1`, `build` or iterator around it, and nothing bounds it")
        .help("collect the items of a part of an array, which is not longer than the array: `x[from..to].iter().map(|v| ..).collect()`; or make an array of the greatest length before the loop, `vec![0.0; most]`, count its elements in a variable, and change them: `for i in 0..n { v[i] = ..; }`")
}

pub fn sort_of_reals(method: &str, of: &str) -> Message {
    message(format!("`{method}` sorts integers, and `{of}` has real numbers, which have no order if one is NaN"))
        .instead_of_rustc()
        .help(format!("write `{of}.sort_by(|a, b| a.total_cmp(b))`, or take a sorted copy: `sort(&{of})`"))
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
    message(format!("`{method}` needs a matrix; this array has rank {rank}")).instead_of_rustc().help(if rank == 1 {
        "write `x.len()` or `x[i]`"
    } else {
        "write `x.shape()[k]` or `x.index_axis(Axis(k), i)`"
    })
}

pub fn dot(a: &str, b: &str) -> Message {
    message(format!("`dot` of {a} and {b} is not defined")).instead_of_rustc().help("it is defined for vectors and matrices of one real type")
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

pub fn slice_of_axis() -> Message {
    message("a part of an axis is described by a range").instead_of_rustc()
        .help("write `x.slice_axis(Axis(0), Slice::from(1..3))`, or `Slice::new(1, Some(-1), 2)` with a literal step")
}

pub fn slice_step() -> Message {
    message("the step of a slice is a number that is not 0").help("write `s![..;2]` or `s![..;-1]`")
}

pub fn constant_of_parameter(path: &str, name: &str) -> Message {
    let method = format!("fn {}(&self) -> f64", name.to_lowercase());
    message(format!("`{path}` is a constant of a type parameter, which is not understood"))
        .help(format!("write a method of the trait, such as `{method}`, and call it"))
}
}
