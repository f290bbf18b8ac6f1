//! Rust constructs that are not supported, each with a suggested replacement: constructs, macros,
//! items and types that are refused by name. Each has one row, which is removed when the construct
//! is supported. `all` lists the rows; each has a case in `tests/ui`.

use super::foreign::{self, Usage};
use super::message;
use crate::diag::Message;

/// A refused construct, as the message names it, and the suggested replacement.
struct Refusal {
    name: &'static str,
    way_out: &'static str,
}

const fn row(name: &'static str, way_out: &'static str) -> Refusal {
    Refusal { name, way_out }
}

fn id(table: &str, name: &str) -> String {
    format!("refused {table}: {name}")
}

/// The identifiers of all rows of the tables below.
pub(super) fn all() -> impl Iterator<Item = String> {
    let constructs = CONSTRUCTS.iter().map(|(_, r)| id("construct", r.name));
    let tables = [
        ("macro", MACROS),
        ("inner item", INNER_ITEMS),
        ("item", ITEMS),
        ("type", TYPES),
        ("kind of type", KINDS_OF_TYPES),
        ("function", FUNCTIONS),
        ("method", METHODS),
        ("later", RESERVED),
        ("value", VALUES),
    ];
    let rows = tables.into_iter().flat_map(|(table, rows)| rows.iter().map(move |r| id(table, r.name)));
    let other = [
        "assignment by method",
        "pattern",
        "another macro",
        "counted after filter",
        "comparison of items",
        "advanced iterator",
        "stopped after scan",
        "operator as a method",
        "match without arms",
    ]
    .into_iter()
    .map(|name| id("construct", name));
    constructs.chain(rows).chain(other)
}

/// An expression or statement that is refused.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Construct {
    RealPattern,
    MutRef,
    Struct,
    Try,
    Unsafe,
    Async,
    Const,
    Cfg,
    NewAxisInPlace,
    TurnedView,
    TakeOfOther,
    ExtendedPart,
    RemoveOfQueue,
    GetOfRange,
    DefaultOfOther,
    Unknown,
}

const CONSTRUCTS: &[(Construct, Refusal)] = &[
    (
        Construct::RealPattern,
        row("a real number in a pattern", "compare with an `if`: `if x == 0.0 { .. } else { .. }`"),
    ),
    (Construct::MutRef, row("`&mut`", "return the new value instead of changing one in place")),
    (Construct::Struct, row("struct values of this type", "use a type of your own with `#[derive(Differentiable)]`")),
    (Construct::Try, row("`?`", "write `.unwrap()`, or `let Some(v) = .. else { return 0.0 };`")),
    (
        Construct::Unsafe,
        row("`unsafe`", "index and slice safely; generated code has no bounds checks where they can be proved away"),
    ),
    (Construct::Async, row("`async` and `.await`", "differentiate the part that computes, in a separate function")),
    (Construct::Const, row("`const` blocks", "write the value itself")),
    (
        Construct::Cfg,
        row(
            "`#[cfg]` inside the function",
            "choose with `if cfg!(..) { .. } else { .. }`, or write the whole function twice, each with its `#[cfg]`",
        ),
    ),
    (
        Construct::NewAxisInPlace,
        row(
            "`NewAxis` in `slice_mut`",
            "remove it: the assigned value is broadcast, `x.slice_mut(s![1..]).assign(&y)`",
        ),
    ),
    (
        Construct::TurnedView,
        row(
            "a change of the axes of a view of a part that is changed",
            "transpose the assigned array: `x.slice_mut(s![1.., ..]).assign(&y.t())`",
        ),
    ),
    (
        Construct::TakeOfOther,
        row("`take` of this value", "write the value that replaces it: `std::mem::replace(&mut x, y)`"),
    ),
    (
        Construct::ExtendedPart,
        row("`extend` of a part of a variable", "give it a name: `let mut v = Vec::new(); v.extend(..);`"),
    ),
    (
        Construct::RemoveOfQueue,
        row(
            "`remove` in a function that makes a `VecDeque`",
            "take the first or the last element: `q.pop_front().unwrap()`, `q.pop_back().unwrap()`",
        ),
    ),
    (
        Construct::GetOfRange,
        row("`get` of a range", "ask for the length: `if b <= x.len() { x[a..b].iter().sum() } else { 0.0 }`"),
    ),
    (
        Construct::DefaultOfOther,
        row("`unwrap_or_default` of this `Option`", "write the default value: `.unwrap_or(0.0)`"),
    ),
    (Construct::Unknown, row("this expression", "write it with operators, methods and the functions of `ad::prelude`")),
];

/// The message for a construct of the table.
pub fn construct(construct: Construct) -> Message {
    let found = CONSTRUCTS.iter().find(|(c, _)| *c == construct);
    let (name, way_out) =
        found.map_or(("this expression", "write it with operators and methods"), |(_, r)| (r.name, r.way_out));
    let text = refused(name, way_out).entry(id("construct", name));
    // rustc would report that the function does not return a suitable type.
    if construct == Construct::Try { text.instead_of_rustc() } else { text }
}

/// The message for a construct without a row.
pub fn refused(what: &str, way_out: &str) -> Message {
    message(format!("{what} cannot be used in a differentiated function yet")).help(way_out)
}

/// The message for a `match` without arms.
pub fn empty_match() -> Message {
    refused("`match` without arms", "write an arm").left_to_rustc(true).entry(id("construct", "match without arms"))
}

/// The message for a method that changes its receiver.
pub fn mutation(method: &str) -> Message {
    refused(
        &format!("`.{method}()`"),
        "bind the new value to a name with `let`; `build1` and `build` say what each element of an array is",
    )
    .entry(id("construct", "assignment by method"))
}

/// Methods that change their receiver and have no row in the front end's table.
const MUTATING: &[&str] = &["as_slice_mut"];

/// The message for one of these methods.
pub fn mutating(method: &str) -> Option<Message> {
    MUTATING.contains(&method).then(|| mutation(method))
}

/// The message for a pattern with another binding mode.
pub fn pattern(text: &str) -> Message {
    refused(
        &format!("the pattern `{text}`"),
        "use names, `&name`, `_`, numbers, ranges, `Some(x)`, tuples `(a, b)` and arrays `[i, j]` of these",
    )
    .entry(id("construct", "pattern"))
}

/// The message for an adapter that counts items after a filter.
pub fn counted_after_filter(what: &str) -> Message {
    refused(
        &format!("`{what}` after `filter`"),
        "count first: `x.iter().enumerate().filter(|(i, x)| ..)`; after `filter`, use `sum`, `count`, `all`, `any`, `max_by`",
    )
    .entry(id("construct", "counted after filter"))
}

/// The message for a method that advances a named iterator.
pub fn advanced(method: &str) -> Message {
    refused(
        &format!("`.{method}()` of an iterator that is used again"),
        "create a new iterator each time: `x.iter().nth(0)`, then `x.iter().skip(1)`; a loop over all items is `for v in x.iter()`, the next n are `items.by_ref().take(n)`",
    )
    .entry(id("construct", "advanced iterator"))
}

/// The message for an adapter or consumer that may stop early after eagerly computed items.
pub fn stops_ahead(method: &str) -> Message {
    refused(
        &format!("`{method}` after a `scan`, `take_while` or `map_while` whose items may panic"),
        "collect the items first: `let v: Vec<f64> = x.iter().scan(..).collect();`",
    )
    .entry(id("construct", "stopped after scan"))
}

/// The message for a closure that does not compare one key of each item.
pub fn comparison() -> Message {
    refused(
        "this comparison of items",
        "compare the same key of both: `|a, b| key(a).total_cmp(&key(b))`, or with the two exchanged",
    )
    .entry(id("construct", "comparison of items"))
}

const PRINT: &str = "print in the function that calls this one";

const MACROS: &[Refusal] =
    &[row("println", PRINT), row("print", PRINT), row("eprintln", PRINT), row("eprint", PRINT), row("dbg", PRINT)];

/// Supported macros, for suggestions.
const UNDERSTOOD: &[&str] = &[
    "array",
    "vec",
    "s",
    "stack",
    "concatenate",
    "azip",
    "matches",
    "cfg",
    "assert",
    "assert_eq",
    "assert_ne",
    "debug_assert",
    "debug_assert_eq",
    "debug_assert_ne",
    "panic",
    "unreachable",
];

/// Whether std or ndarray has a macro of this name, which the scope of a function may have.
#[must_use]
pub fn is_macro(name: &str) -> bool {
    MACROS.iter().any(|row| row.name == name) || UNDERSTOOD.contains(&name) || OF_STD.contains(&name)
}

/// The other macros of std.
const OF_STD: &[&str] = &[
    "column",
    "compile_error",
    "concat",
    "env",
    "file",
    "format",
    "format_args",
    "include",
    "include_bytes",
    "include_str",
    "line",
    "module_path",
    "option_env",
    "stringify",
    "thread_local",
    "todo",
    "unimplemented",
    "write",
    "writeln",
];

/// The message for an unknown macro.
pub fn macro_call(name: &str) -> Message {
    let what = format!("`{name}!`");
    match MACROS.iter().find(|r| r.name == name) {
        Some(r) => refused(&what, r.way_out).entry(id("macro", name)),
        None => {
            let known = MACROS.iter().map(|r| r.name).chain(UNDERSTOOD.iter().copied());
            let message = match crate::diag::suggest(name, known) {
                Some(near) => refused(&what, &format!("did you mean `{near}!`?")).instead_of_rustc(),
                None => refused(&what, "write the code that it expands to; `array!`, `vec!` and `s!` are understood"),
            };
            foreign::translate(Usage::Macro, name, message).entry(id("construct", "another macro"))
        }
    }
}

/// Functions and methods that are reserved and not supported yet.
const RESERVED: &[Refusal] = &[
    row("cumprod", "write `cumprod(&x)`, along the last axis"),
    row("geomspace", "write `Array1::linspace(a.ln(), b.ln(), n).exp()`"),
    row("rfold", "write `x.iter().rev().fold(..)`"),
];

/// The message for a reserved name.
pub fn later(name: &str, method: bool) -> Option<Message> {
    let row = RESERVED.iter().find(|r| r.name == name)?;
    let what = if method { format!("`.{name}()`") } else { format!("`{name}`") };
    Some(message(format!("{what} is not supported yet")).help(row.way_out).entry(id("later", name)))
}

/// Methods of ndarray that change an array, depend on its memory layout, or have another name here.
const METHODS: &[Refusal] = &[
    row("map_mut", "change it in place: `x.mapv_inplace(|v| ..);`"),
    row("permute_axes", "write `let x = x.permuted_axes((1, 0));`"),
    row("slice_collapse", "write `let x = x.slice_move(s![..]);`"),
    row("slice_axis_inplace", "write `let x = x.slice_axis(Axis(0), Slice::from(1..3));`"),
    row("slice_each_axis", "write each axis: `x.slice(s![1..3, ..;2])`"),
    row("slice_each_axis_mut", "write each axis: `x.slice_mut(s![1..3, ..;2])`"),
    row("slice_each_axis_inplace", "write each axis: `let x = x.slice_move(s![1..3, ..;2]);`"),
    row("multi_slice_mut", "change one part after the other: `x.slice_mut(s![..k]).assign(&y);`"),
    row("split_at", "change one part after the other: `x.slice_mut(s![..k]).assign(&y);`"),
    row("collapse_axis", "write `let x = x.slice_move(s![.., i..i + 1]);`"),
    row("merge_axes", "write `let x = x.into_shape_with_order((n, m)).unwrap();`"),
    row("accumulate_axis_inplace", "accumulate with `scan`"),
    row("assign_to", "bind the value to a name with `let`"),
    row("push_row", "write `let x = concatenate![Axis(0), x, r.insert_axis(Axis(0))];`"),
    row("push_column", "write `let x = concatenate![Axis(1), x, c.insert_axis(Axis(1))];`"),
    row("append", "write `let x = concatenate![Axis(0), x, y];`"),
    row("for_each", "write `x.iter().for_each(|v| ..)`, or `for v in &x { .. }`"),
    row("par_iter", "write `iter`; generated code chooses by itself which elements are computed together"),
    row("into_par_iter", "write `iter`; generated code chooses by itself which elements are computed together"),
    row("par_mapv_inplace", "bind the result: `let x = x.mapv(|v| ..);`"),
    row("uget", "write `x[i]`, or `x[[i, j]]`: generated code has no bounds checks where they can be proved away"),
    row("partition", "take the order as a parameter `ids: &[usize]`, and read `x[ids[i]]`"),
    row("try_fold", "leave a loop where it fails: `for v in &x { if *v < 0.0 { return 0.0; } s += v; }`"),
    row("try_for_each", "leave a loop where it fails: `for v in &x { if *v < 0.0 { return 0.0; } s += v; }`"),
    row("inspect", "remove it: it changes nothing"),
    row("concat", "write `concatenate![Axis(0), a, b]`; of `Vec`s `a.iter().chain(&b).copied().collect::<Vec<f64>>()`"),
    row("scan", "it is a function: `scan(init, &xs, |acc, x| ..)`, the accumulator after each item"),
    row("into_dyn", "keep the rank: ranks are fixed when the macro runs"),
    row("strides", "remove it: a result does not depend on the memory layout"),
    row("is_standard_layout", "remove it: a result does not depend on the memory layout"),
    row("as_slice_memory_order", "write `as_slice`: a result does not depend on the memory layout"),
    row("as_ptr", "index the array: `x[i]`"),
    row("is_all_nan", "write `x.iter().all(|v| v.is_nan())`: ndarray 0.17 answers whether none is"),
    row("is_all_infinite", "write `x.iter().all(|v| v.is_infinite())`: ndarray 0.17 answers whether none is"),
    row("max", "it is a function: `maximum(&x)`"),
    row("min", "it is a function: `minimum(&x)`"),
];

/// The message for a method of arrays that has a replacement.
pub fn method(name: &str) -> Option<Message> {
    let row = METHODS.iter().find(|r| r.name == name)?;
    Some(refused(&format!("`.{name}()`"), row.way_out).instead_of_rustc().entry(id("method", name)))
}

/// Methods of `std::ops`, with their operators.
const OPERATORS: &[(&str, &str)] = &[
    ("add", "+"),
    ("sub", "-"),
    ("mul", "*"),
    ("div", "/"),
    ("rem", "%"),
    ("bitand", "&"),
    ("bitor", "|"),
    ("bitxor", "^"),
    ("shl", "<<"),
    ("shr", ">>"),
    ("add_assign", "+="),
    ("sub_assign", "-="),
    ("mul_assign", "*="),
    ("div_assign", "/="),
    ("rem_assign", "%="),
    ("lt", "<"),
    ("le", "<="),
    ("gt", ">"),
    ("ge", ">="),
    ("eq", "=="),
    ("ne", "!="),
    ("neg", "-"),
    ("not", "!"),
];

/// The message for a method that is an operator: `a.mul(b)`, `a.neg()`.
pub fn operator(method: &str, operands: &[String]) -> Option<Message> {
    let (_, op) = OPERATORS.iter().find(|(name, _)| *name == method)?;
    let code = match operands {
        [a] if matches!(method, "neg" | "not") => format!("{op}{a}"),
        [a, b] if !matches!(method, "neg" | "not") => {
            // Comparison methods take references.
            let compares = matches!(method, "lt" | "le" | "gt" | "ge" | "eq" | "ne");
            format!("{a} {op} {}", if compares { b.trim_start_matches('&') } else { b })
        }
        _ => return None,
    };
    let what = format!("`.{method}()` of `std::ops`");
    Some(refused(&what, &format!("write `{code}`")).instead_of_rustc().entry(id("construct", "operator as a method")))
}

const VALUE_ITSELF: &str = "use the value itself: `let mut y = x;`";

const OTHER: &str = "a value of another type";

/// Types of std whose values are created by an associated function, such as `HashMap::new()`.
const VALUES: &[Refusal] = &[
    row("HashMap", "use an array with an element for each key: `let mut sums = vec![0.0; n]; sums[key] += x;`"),
    row("HashSet", "use an array with a flag for each key: `let mut seen = vec![false; n]; seen[key] = true;`"),
    row("LinkedList", "use a `VecDeque`: `push_back`, `pop_front`, `front`, `back`, and elements by their index"),
    row("BinaryHeap", "use a `Vec`, and find the maximum: `maximum(&v)`, or `max_by(|a, b| a.total_cmp(b))`"),
    row("String", "remove it: nothing that is differentiated depends on it"),
    row("Rc", VALUE_ITSELF),
    row(OTHER, "use numbers, arrays, and tuples or arrays of these: `let (a, b) = (x, 2.0 * x);`"),
];

/// Names that share a row of [`VALUES`].
const LIKE: &[(&str, &str)] = &[
    ("SortedMap", "HashMap"),
    ("SortedSet", "HashSet"),
    ("Arc", "Rc"),
    ("Cell", "Rc"),
    ("RefCell", "Rc"),
    ("Mutex", "Rc"),
];

/// The message for a value that is created by an associated function, `Point::new(x, y)`, or by an
/// enum variant.
pub fn value(ty: &str) -> Message {
    let row = row_of_value(ty).unwrap_or(&VALUES[VALUES.len() - 1]);
    let text = refused(&format!("a value of type `{ty}`"), row.way_out).entry(id("value", row.name));
    let text = if row.name == OTHER { text.note(super::OWN_NAMES) } else { text };
    foreign::translate(Usage::Type, ty, text)
}

fn row_of_value(ty: &str) -> Option<&'static Refusal> {
    let like = LIKE.iter().find(|(name, _)| *name == ty).map_or(ty, |(_, like)| like);
    VALUES.iter().find(|r| r.name == like)
}

/// Whether a type of this name has a message of its own.
#[must_use]
pub fn is_value_of_std(ty: &str) -> bool {
    row_of_value(ty).is_some()
}

const INNER_ITEMS: &[Refusal] = &[
    row("an `async` or `unsafe` function in a function", "write a closure: `let f = |x: f64| ..;`"),
    row("a `static mut` in a function", "write a `const`, or bind it with `let mut`"),
    row(
        "`use` of everything (`*`) in a function",
        "name what is used, `use std::f64::consts::PI;`, or write it outside",
    ),
    row("an item in a function", "write it outside of the function"),
];

/// An item that is not supported inside of a function, in the order of the table of messages.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum InnerItem {
    /// A function that a closure with types cannot replace.
    Fn,
    /// A static.
    Static,
    /// A `use` with `*`.
    Glob,
    /// Another item.
    Other,
}

/// The message for an item inside of the function.
pub fn inner_item(item: InnerItem) -> Message {
    let row = &INNER_ITEMS[item as usize];
    refused(row.name, row.way_out).entry(id("inner item", row.name))
}

const FREE: &str = "put it on the function to differentiate: `#[differentiate] fn loss(x: f64) -> f64 { .. }`";

const ITEMS: &[Refusal] = &[
    row(
        "a module in another file",
        "a macro does not see other files: put it on the functions and `impl` blocks in that file, or write the module here",
    ),
    row("a struct", FREE),
    row("an enum", FREE),
    row("a trait", "put it on the `impl` block of a type: `#[differentiate] impl Layer for Dense`"),
    row("a constant", FREE),
    row("this item", FREE),
];

/// An item other than a function, in the order of the table of messages.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum NotAFunction {
    /// A module in a separate file.
    ModuleElsewhere,
    /// A struct.
    Struct,
    /// An enum.
    Enum,
    /// A trait.
    Trait,
    /// A constant or a static.
    Constant,
    /// Another item.
    Other,
}

/// The message for the attribute on an item other than a function.
pub fn item(item: NotAFunction) -> Message {
    let row = &ITEMS[item as usize];
    let text = message(format!("`differentiate` goes on a function, an `impl` block or a module, not on {}", row.name));
    text.help(row.way_out).entry(id("item", row.name))
}

const FUNCTIONS: &[Refusal] = &[
    row("async", "differentiate the part that computes, in a separate function"),
    row("const", "leave out `const`"),
    row("unsafe", "leave out `unsafe`"),
    row("extern", "call it from a Rust function, and differentiate a Rust version of it"),
];

/// The message for a kind of function that has no derivative.
pub fn function(what: &str) -> Message {
    let way_out = FUNCTIONS.iter().find(|r| r.name == what).map_or("", |r| r.way_out);
    message(format!("a function that is `{what}` cannot be differentiated")).help(way_out).entry(id("function", what))
}

/// Types by their last path segment.
const TYPES: &[Refusal] = &[
    row("ArrayD", "write the rank: `Array1` to `Array6`; ranks are fixed when the macro runs"),
    row("ArrayViewD", "write the rank: `ArrayView1` to `ArrayView6`; ranks are fixed when the macro runs"),
    row("ArcArray", "take an `ArrayViewN<'_, F>` and pass `x.view()`"),
    row("CowArray", "take `ArrayViewN<'_, F>` and pass `x.view()`"),
    row("ArrayBase", "write `Array1<F>` to `Array6<F>`, or the views and references of these ranks"),
    row("Array", "write its dimension, `Array<F, Ix1>`, or `Array1<F>`, and so on"),
    row("ArrayView", "write its dimension, `ArrayView<'_, F, Ix1>`, or `ArrayView1<'_, F>`, and so on"),
    row("ArrayRef", "write `ArrayRef1<F>`, and so on"),
    row(
        "HashMap",
        "take an array with an element for each key, or write a `T: Real` and `mode = \"dual_numbers\"`, which takes maps with values of `T`",
    ),
    row("Box", "take a reference to what it holds"),
    row("Rc", "take a reference to what it holds"),
    row("Arc", "take a reference to what it holds"),
    row("Result", "take the value itself; only a whole result may be one: `-> Result<(f64, f64), Error>`"),
    row("String", "take numbers, booleans, or arrays of them"),
    row("str", "take numbers, booleans, or arrays of them"),
    row("float", "write `f64`, or `f32`"),
    row("double", "write `f64`"),
    row("Float64", "write `f64`"),
    row("int", "write `usize` for sizes and indices, else `i32` or `i64`"),
    row("i8", "take an `i32`"),
    row("i16", "take an `i32`"),
    row("u16", "take a `u32`"),
    row("i128", "take an `i64`"),
    row("u128", "take a `u64`"),
    row("char", "take a `u32`"),
    row("ArrayViewMut", "take an `ArrayViewN<'_, F>`; a function that is differentiated changes nothing"),
];

/// The message for a type that is refused by name.
pub fn named_type(name: &str) -> Option<Message> {
    let text = message(format!("the type `{name}` is not accepted")).once();
    if foreign::knows(Usage::Type, name) {
        return Some(foreign::translate(Usage::Type, name, text));
    }
    let family = name.trim_end_matches(|c: char| c.is_ascii_digit());
    let row = TYPES.iter().find(|r| r.name == name).or_else(|| TYPES.iter().find(|r| r.name == family))?;
    Some(text.help(row.way_out).entry(id("type", row.name)))
}

const KINDS_OF_TYPES: &[Refusal] = &[
    row("array", "arrays of static size hold numbers, or such arrays: `[f64; 3]`, `[[f64; 3]; 2]`"),
    row(
        "tuple",
        "a list of tuples is a slice, `Vec` or static array of tuples of numbers and arrays that own their elements; otherwise take a list for each part",
    ),
    row(
        "impl",
        "write a concrete type: `f64`, `&Array1<f64>`, `&[f64]`. A helper may take functions: `#[differentiable] fn helper(f: impl Fn(f64) -> f64, ..)`. With `mode = \"dual_numbers\"`, trait objects are passed on",
    ),
    row("slice", "take a reference: `&[F]`"),
    row("function", super::TAKEN_FUNCTION),
    row("other", "take numbers, booleans, or arrays of them: `f64`, `&Array1<f64>`, `&[f64]`"),
];

/// A type that is not a path, in the order of the table of messages.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum TypeForm {
    /// `[f64; 3]`.
    Array,
    /// `(f64, f64)`.
    Tuple,
    /// `impl Trait` and `dyn Trait`.
    Impl,
    /// `[f64]` by value.
    Slice,
    /// `fn(f64) -> f64`.
    Function,
    /// Another type.
    Other,
}

/// The message for a type that is not a path.
pub fn kind_of_type(form: TypeForm, text: &str) -> Message {
    let row = &KINDS_OF_TYPES[form as usize];
    let message = message(format!("the type `{text}` is not accepted"));
    let message = message.help(row.way_out).entry(id("kind of type", row.name));
    // rustc would report that the size of a slice by value is not known.
    if form == TypeForm::Slice { message.instead_of_rustc() } else { message }
}
