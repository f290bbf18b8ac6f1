//! The templates from which programs are made, one line each. A row of the front end's table occurs
//! in random programs once it has a line here.
//!
//! A line has the kind of its result, its text, the rows of the front end's table that it uses, and
//! the real types that it supports (`c`: no type parameter, `p`: a type parameter only, `d`: `f64`
//! only). Rows are written as [`row`] writes them. The result is `S` a real number, `I` a `usize`,
//! `B` a boolean, `A:n,m` an owned array, `N:n` an owned array of `usize`, `Q:n` an iterator of
//! numbers that can be reversed, `P:n` any iterator of numbers, `T:n` an array of static size, or
//! `let` statements that bind names.
//!
//! In the text `{{` and `}}` are braces, `$x` is a fresh name, and holes are
//!
//! | hole | an expression that is |
//! | --- | --- |
//! | `{S}` `{I}` `{B}` | a number, a `usize`, a boolean |
//! | `{L}` `{K}` | a literal next to an operand of a known type; one that states its type |
//! | `{F}` | the name of the real type |
//! | `{A:n,m}` | an array to call a method of |
//! | `{R:n}` `{G:n}` | a reference to an `ArrayBase`; to an `ArrayBase` or `ArrayRef` |
//! | `{X:n}` | a reference to an array, slice or vector |
//! | `{Z:n}` | a value that can be indexed or iterated over: an array, slice or vector |
//! | `{O:n}` | an owned array |
//! | `{N:n}` `{M:n}` | an owned array of `usize`; a value that can be indexed |
//! | `{P:n}` `{Q:n}` | an iterator |
//! | `{T:n}` `{T:n,m}` | an array of static size, by value |
//! | `{i<n}` `{#n}` `{!n}` | an index below n, the size n, as a number |
//!
//! The names after a `;` come into scope: `{S;x:S i<n r:V:m}` (a number, an index, a view; `x:&S` a
//! reference, `n#m` a size, `r:W:2` a slice, `r:L:2` a vector, `r:T:2` an array of static size,
//! `r:N:2` one of `usize`, `f:F` a closure). Sizes may be `n+1`, `n-1`, `n*m`, `n*2`; a letter that
//! is not bound gets any size.

mod arrays;
mod groups;
mod iterators;
mod places;
mod statements;
mod values;
mod vectors;
mod whole;

use ad_core::prim::Unary;
use std::collections::BTreeSet;

use ad_oracle::documents::names as described;
use ad_oracle::interp::tested;

/// A line of the table.
#[derive(Clone, Copy, Debug)]
pub struct Form {
    pub kind: &'static str,
    pub dims: &'static str,
    /// The names that a `let` binds.
    pub binds: &'static str,
    pub text: &'static str,
    pub uses: &'static str,
    pub only: &'static str,
}

impl Form {
    pub fn shape(&self) -> Vec<&'static str> {
        self.dims.split(',').filter(|d| !d.is_empty()).collect()
    }
}

/// The kind of its result, the text, the rows that it uses, the real types that it supports.
type Line = (&'static str, &'static str, &'static str, &'static str);

/// The forms of programs that are compiled and run: the table, and a line for each scalar function
/// of one argument, in its domain.
#[allow(dead_code, reason = "the test of the stages has all forms")]
pub fn forms() -> Vec<Form> {
    forms_of(TABLES.concat())
}

/// Every form.
#[allow(dead_code, reason = "the other tests have the forms of programs that are compiled")]
pub fn all_forms() -> Vec<Form> {
    forms_of([TABLES, WHOLE].concat().concat())
}

fn forms_of(mut lines: Vec<Line>) -> Vec<Form> {
    for row in described() {
        if row.operands != Some(1) {
            continue;
        }
        let leak = |text: String| -> &'static str { text.leak() };
        let uses = leak(self::row(row.on, row.name));
        let (before, after) = domain(row.name);
        match row.on {
            "real" => lines.push(("S", leak(format!("({before}{{S}}{after}).{}()", row.name)), uses, "")),
            "array" => {
                let text = format!("{{O:n}}.mapv(|$x| {before}$x{after}).{}()", row.name);
                lines.push(("A:n", leak(text), uses, ""));
            }
            "function" => {
                lines.push(("S", leak(format!("{}({before}{{S}}{after})", row.name)), uses, ""));
                let text = format!("{}(&{{O:n}}.mapv(|$x| {before}$x{after}))", row.name);
                lines.push(("A:n", leak(text), uses, ""));
            }
            _ => {}
        }
    }
    let mut seen = BTreeSet::new();
    lines.retain(|line| seen.insert((line.0, line.1)));
    lines
        .into_iter()
        .map(|(ty, text, uses, only)| {
            let (kind, rest) = ty.split_once([':', ' ']).unwrap_or((ty, ""));
            let (dims, binds) = if kind == "let" { ("", rest) } else { (rest, "") };
            Form { kind, dims, binds, text, uses, only }
        })
        .collect()
}

/// A row of the front end's table as a word: `array.sum`, `mutable-array.fill`.
pub fn row(on: &str, name: &str) -> String {
    format!("{}.{name}", on.replace(' ', "-").replace('`', ""))
}

/// The text around an argument that brings it into the domain of the function, by the domain in the
/// oracle.
fn domain(name: &str) -> (&'static str, &'static str) {
    let f = Unary::ALL.iter().find(|f| f.row().name == name);
    match f.and_then(|&f| tested(f).domain) {
        Some((low, _)) if low > 1.0 => ("(", ".powi(2) + {=1.5})"),
        Some((_, high)) if high > 2.0 => ("(", ".powi(2) + {=0.6})"),
        Some(_) => ("(", ".sin() * {=0.7})"),
        None => ("", ""),
    }
}

// The test that runs compiled programs takes the first forms only, unless it is told otherwise.
const TABLES: &[&[Line]] = &[
    groups::GROUPS,
    groups::ITERATED,
    places::PLACES,
    values::SCALARS,
    values::INTEGERS,
    values::LETS,
    values::CHOICES,
    arrays::CONSTRUCTION,
    arrays::ELEMENTWISE,
    arrays::REDUCTIONS,
    arrays::PARTS,
    arrays::LAYOUTS,
    arrays::MORE,
    iterators::ITERATORS,
    iterators::SOURCES,
    iterators::ADAPTERS,
    iterators::CONSUMERS,
    statements::CHANGES,
    statements::FLOW,
    statements::STATIC,
    statements::LOOPS,
    vectors::VECTORS,
    vectors::POSITIONS,
    vectors::ZIPS,
    vectors::OTHERS,
];

/// Forms for the test of the stages. The programs that are compiled and run do not have them yet.
const WHOLE: &[&[Line]] = &[whole::STRUCTS, whole::ENUMS, whole::FUNCTIONS, whole::CLOSURES, whole::ITERATORS];
