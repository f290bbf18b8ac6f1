//! What the documents say of the compiler's lists: the table of derivatives in the guide, and
//! the names that the front end understands. Tests compare the documents with these.

use std::fmt::Write as _;

use ad_core::descriptor::{ByDefault, DERIVATIVES, Descriptor, Further, Recipe, Structure, WrittenFunction};
use ad_core::front::{On, Proof, rows};
use ad_core::memory_order::MethodOrder;
use ad_core::program::Vectors;

/// The table of derivatives in the guide.
#[must_use]
pub fn derivatives() -> String {
    let head = "| option | writes | for a result that is | by default |\n| --- | --- | --- | --- |\n".to_string();
    DERIVATIVES.iter().fold(head, |table, d| table + &row(d) + "\n")
}

/// The functions that have the derivative, in the words of the guide.
fn of(d: &Descriptor) -> String {
    let result = if d.requires.one_number.is_some() { "one real scalar" } else { "real" };
    let active = if d.requires.one_active.is_some() { ", one active parameter" } else { "" };
    let vectors = if d.requires.vectors.is_some() { ", both arrays of one axis" } else { "" };
    format!("{result}{active}{vectors}")
}

fn row(d: &Descriptor) -> String {
    let mut row = format!("| `{}` | ", d.form());
    let further = match d.further {
        Further::Nothing => String::new(),
        Further::Cotangent => ", cotangent".into(),
        Further::Directions(what) => format!(", {what}s..."),
        Further::Destinations => ", &mut places...".into(),
    };
    let derived = match d.returns {
        Structure::Gradient => "G",
        Structure::Result if d.with_value => "tangent of R",
        Structure::Result => "R",
        Structure::Jacobian => "J",
        Structure::Sparse => "ad::Csr",
        Structure::Hessian => "H",
        Structure::Closure => "impl Fn(cotangent) -> G",
        Structure::Written => "",
        Structure::Examples => "n x G",
    };
    for (k, WrittenFunction { suffix, with_value }) in d.functions().enumerate() {
        let result = match (with_value, derived) {
            (true, "") => "R".into(),
            (true, derived) if d.returns == Structure::Examples => format!("(n x R, {derived})"),
            (true, derived) => format!("(R, {derived})"),
            (false, derived) => derived.to_string(),
        };
        let comma = if k > 0 { ", " } else { "" };
        let _ = write!(row, "{comma}`f_{suffix}(args{further}) -> {result}`");
    }
    let note = match d.recipe {
        Recipe::Pattern => ": pattern and values",
        Recipe::HessianProduct => ": the Hessian times a direction",
        Recipe::Laplacian => ": the trace of the Hessian",
        Recipe::Examples => ": `x` and `y` have one more axis in front, and so has each result",
        Recipe::Gradient if d.returns == Structure::Written => ": into your memory",
        Recipe::Gradient
        | Recipe::Value
        | Recipe::Transposed
        | Recipe::Forward
        | Recipe::Jacobian
        | Recipe::Hessian => "",
    };
    row.push_str(note);
    let default = match d.default {
        ByDefault::No => "",
        ByDefault::ForNumbers => "where the result is one",
        ByDefault::ForOthers => "where it is not",
    };
    let _ = write!(row, " | {} | {default}", of(d));
    format!("{} |", row.trim_end())
}

/// A row of the front end's table as the documents show it.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Described {
    /// The name.
    pub name: &'static str,
    /// The kind of receiver: `function`, `real`, `integer`, `array`, `iterator`, `Option`, `value`,
    /// `type`.
    pub on: &'static str,
    /// The number of operands, if it is a scalar function of the table.
    pub operands: Option<usize>,
    /// The effect on the memory order.
    pub order: Option<MethodOrder>,
    /// The traits of `ad_runtime::assumed` that declare the name and prove it.
    pub traits: Vec<&'static str>,
}

/// Every accepted function and method, in the order of the front end's table.
#[must_use]
pub fn names() -> Vec<Described> {
    let of_reals = |name| rows().any(|row| row.on == On::Real && row.name == name);
    let described = |row: ad_core::front::Described| Described {
        name: row.name,
        on: kind(row.on),
        operands: row.operands,
        order: row.order,
        traits: traits(row.proof, row.on, of_reals(row.name)),
    };
    rows().map(described).collect()
}

/// The name of a kind of receiver.
fn kind(on: On) -> &'static str {
    match on {
        On::Dsl => "function",
        On::Real => "real",
        On::Int => "integer",
        On::Array => "array",
        On::Std => "function of `std`",
        On::Bool => "boolean",
        On::Tuple => "tuple",
        On::Ordering => "Ordering",
        On::Iter => "iterator",
        On::Option => "Option",
        On::Result => "Result",
        On::Any => "value",
        On::Place => "mutable array",
        On::Mem => "std::mem",
        On::Assoc => "type",
        On::Nd => "ndarray",
        On::Linalg => "`ad::linalg`",
        On::Fft => "`ad::fft`",
        On::Common => "function of a common name",
        On::Zip => "`Zip`",
        On::Slice => "`Slice`",
    }
}

/// The traits of `ad_runtime::assumed` that declare a name. `number` says whether reals have the
/// method as well.
fn traits(proof: Proof, on: On, number: bool) -> Vec<&'static str> {
    match (proof, on) {
        (Proof::OfPeekable, _) => vec!["peekables"],
        (Proof::OfStd { .. }, On::Option) => vec!["options"],
        (Proof::OfStd { .. }, On::Result) => vec!["results"],
        (Proof::OfStd { .. }, _) => vec!["orderings"],
        (Proof::Method { .. }, On::Real) => vec!["reals"],
        (Proof::Method { .. }, On::Int) => vec!["integers"],
        (Proof::Method { found, with_axes }, on) => {
            let mut traits = Vec::new();
            if found.vectors == Vectors::Queues {
                return vec!["queues"];
            }
            if found.vectors != Vectors::Only {
                traits.push("arrays");
            }
            if found.vectors != Vectors::No {
                traits.push("vectors");
            }
            // An array of rank 0 is represented like a number.
            if on != On::Place && !with_axes && !number {
                traits.push("rank zero");
            }
            traits
        }
        (Proof::Nothing | Proof::Call(_), _) => Vec::new(),
    }
}
