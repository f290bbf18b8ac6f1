//! The table: every accepted function, method and constant of Rust, std, ndarray and the DSL, and
//! how each is lowered. Look-up, suggestions for misspelt names and the lists in the documents all
//! come from here. A name without a row is refused.

use std::collections::HashMap;
use std::sync::LazyLock;

use super::lower::Lower;
use super::refs::results::{self, ResultFn};
use super::value::Value;
use super::{
    bits, changes, collected, fft, functions, implicit, integers, iter, linalg, methods, options, order, outcomes,
    queues, reads, recur, search_and_split, slice, sorting,
};
use ad_ir::diag::suggest;
use ad_ir::ir::Elem;
use ad_ir::memory_order::{MethodOrder, ResultOrder};
use ad_ir::prim::{Binary, Surface, Unary};

pub use super::proved::Proof;
pub use super::row::On;
pub(super) use super::row::{Call, LowerFn, Mark, Neutral, OnDynamicParts, OnType, Row, Whole, row};

const TABLES: &[&[Row]] = &[
    functions::BUILDING,
    functions::REDUCING,
    functions::CHOOSING,
    functions::HOLDING,
    linalg::TABLE,
    fft::TABLE,
    implicit::TABLE,
    methods::SCALAR,
    integers::TABLE,
    bits::TABLE,
    order::TABLE,
    options::TABLE,
    outcomes::TABLE,
    options::REAL,
    methods::ANY,
    methods::construct::TABLE,
    methods::elementwise::TABLE,
    methods::reduce::TABLE,
    methods::layout::TABLE,
    methods::sizes::TABLE,
    methods::zip::TABLE,
    methods::join::TABLE,
    slice::TABLE,
    sorting::TABLE,
    sorting::FUNCTIONS,
    reads::TABLE,
    search_and_split::TABLE,
    changes::TABLE,
    collected::TABLE,
    queues::TABLE,
    iter::TABLE,
    iter::CURSORS,
    recur::TABLE,
    iter::ADAPTERS,
    iter::CONSUMING,
    iter::CHOOSING,
    iter::MUTABLE,
    iter::UNTIL,
];

/// The result type of a scalar function.
fn gives_number(f: Whole) -> ResultFn {
    match f {
        Whole::Binary(Binary::Max | Binary::Min) => results::number_by_value,
        _ => results::number,
    }
}

/// Every row in the order of the documents: the tables, then the scalar functions of one and of two
/// arguments.
static ROWS: LazyLock<Vec<Row>> = LazyLock::new(|| {
    let scalar = |name, on, args: usize, whole| {
        let args = (args, args);
        let gives = if on == On::Array { results::array_of_array } else { gives_number(whole) };
        let unused: LowerFn = |_, _| Err(ad_ir::diag::Poison);
        let row = Row { whole, gives, ..row(name, on, args, unused, "").parts(OnDynamicParts::Elementwise) };
        match on {
            On::Dsl => row.called("0.0_f64"),
            On::Array => row.order(ResultOrder::LikeReceiver),
            _ => row,
        }
    };
    let unary = Unary::ALL.iter().flat_map(|&f| {
        let row = f.row();
        let on: &[On] = match row.surface() {
            Surface::Method { .. } => &[On::Real, On::Array],
            Surface::Function => &[On::Dsl],
            Surface::Operator | Surface::Internal => &[],
        };
        on.iter().map(move |&on| scalar(row.name, on, usize::from(on == On::Dsl), Whole::Unary(f)))
    });
    let binary = Binary::ALL.iter().flat_map(|&f| {
        let on: &[On] = match f.row().surface() {
            Surface::Method { on_arrays: true } => &[On::Real, On::Array],
            Surface::Method { on_arrays: false } => &[On::Real],
            Surface::Function | Surface::Operator | Surface::Internal => &[],
        };
        on.iter().map(move |&on| scalar(f.row().name, on, 1, Whole::Binary(f)))
    });
    TABLES.iter().flat_map(|t| t.iter().copied()).chain(unary).chain(binary).collect()
});

/// The index of each row.
static BY_NAME: LazyLock<HashMap<(On, &'static str), usize>> = LazyLock::new(|| {
    let places = ROWS.iter().enumerate().map(|(k, row)| ((row.on, row.name), k));
    // If a name occurs twice, the first row is found.
    places.rev().collect()
});

/// The row of a name.
pub(super) fn find(on: On, name: &str) -> Option<&'static Row> {
    BY_NAME.get(&(on, name)).and_then(|&k| ROWS.get(k))
}

/// Whether a method without arguments is cheap and cannot fail, whatever has it. Scalar functions
/// are total.
pub(super) fn is_total(name: &str) -> bool {
    let of = |on| find(on, name).is_some_and(|row| row.is(Mark::Total) || row.unary().is_some());
    of(On::Array) || of(On::Real)
}

/// Whether the argument of a method is an error, or makes one.
pub(super) fn makes_an_error(name: &str) -> bool {
    [On::Option, On::Result].iter().any(|&on| find(on, name).is_some_and(|row| row.is(Mark::Error)))
}

/// The rows of the functions of a module that is understood, by the last segment of its path.
pub(super) fn module(name: &str) -> Option<On> {
    match name {
        "iter" => Some(On::Std),
        "ad" | "prelude" | "dsl" => Some(On::Dsl),
        "ndarray" => Some(On::Nd),
        // Also the module of ndarray, of which one function is understood.
        "linalg" => Some(On::Linalg),
        "fft" => Some(On::Fft),
        "mem" => Some(On::Mem),
        _ => None,
    }
}

/// Whether a path that begins with this name is one of std, of ndarray or of this library.
pub(super) fn is_known_crate(name: &str) -> bool {
    matches!(name, "std" | "core" | "alloc" | "ndarray" | "ad")
}

/// The method of a value of this kind, or of any value.
pub(super) fn find_method(on: On, name: &str) -> Option<&'static Row> {
    find(on, name).or_else(|| find(On::Any, name))
}

/// The nearest name among the rows that can be called on a kind of receiver.
pub(super) fn nearest(on: &[On], name: &str) -> Option<&'static str> {
    nearest_row(on, name).map(|row| row.name)
}

/// The row with the nearest name among those that can be called on a kind of receiver.
pub(super) fn nearest_row(on: &[On], name: &str) -> Option<&'static Row> {
    let rows = || ROWS.iter().filter(|row| on.contains(&row.on));
    let near = suggest(name, rows().map(|row| row.name))?;
    rows().find(|row| row.name == near)
}

/// The part of a row that the documents and their tests read.
#[derive(Clone, Copy, Debug)]
pub struct Described {
    /// The name.
    pub name: &'static str,
    /// The kind of receiver.
    pub on: On,
    /// The number of operands, if it is a scalar function of the table.
    pub operands: Option<usize>,
    /// The effect on the memory order.
    pub order: Option<MethodOrder>,
    /// How the name is proved.
    pub proof: Proof,
}

/// Every accepted function and method, in the order of the table.
pub fn rows() -> impl Iterator<Item = Described> {
    ROWS.iter().map(|&Row { name, on, whole, order, proof, .. }| {
        let operands = match whole {
            Whole::By(_) => None,
            Whole::Unary(_) => Some(1),
            Whole::Binary(_) => Some(2),
        };
        Described { name, on, operands, order, proof }
    })
}

impl<'a> Lower<'a> {
    /// The kind of receiver under which the methods of a value are looked up.
    pub(super) fn kind_of(&self, value: &Value) -> On {
        match value {
            Value::Term(t) if self.g.rank(*t) > 0 => On::Array,
            Value::Term(t) => match self.g.elem(*t) {
                Elem::Real(_) => On::Real,
                Elem::Int(_) => On::Int,
                Elem::Bool => On::Bool,
            },
            Value::Number(n) if n.is_float() => On::Real,
            Value::Number(n) if n.outer().is_some() => On::Any,
            Value::Number(_) => On::Int,
            Value::List(_)
            | Value::Matrix(_)
            | Value::Nested(..)
            | Value::Filled(..)
            | Value::GrowableVec(_)
            | Value::DynamicPart(_) => On::Array,
            Value::Range(_) | Value::Seq(_) | Value::Cursor(_) => On::Iter,
            Value::Option(..) | Value::None => On::Option,
            Value::Enum(sum) if sum.of.of_std => On::Result,
            Value::Tuple(parts) if matches!(&**parts, [Value::Range(_), Value::Term(_)]) => On::Slice,
            Value::Tuple(_) => On::Tuple,
            Value::Ordering(_) => On::Ordering,
            Value::Zip(_) => On::Zip,
            _ => On::Any,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::{On, Proof, ROWS};

    /// A row of ndarray without a declaration would count as one without an array result.
    #[test]
    fn every_row_says_what_it_does_to_the_memory_order() {
        for row in ROWS.iter() {
            assert!(row.order.is_some(), "`{}` of {:?} says nothing of the memory order", row.name, row.on);
        }
    }

    /// A function without a proof would be taken for the table's function, whatever it really is.
    #[test]
    fn every_function_has_a_proof() {
        // `Zip::from` is proved with its type.
        let functions = ROWS.iter().filter(|row| !row.name.contains("::"));
        for row in functions
            .filter(|row| matches!(row.on, On::Dsl | On::Std | On::Mem | On::Nd | On::Linalg | On::Fft | On::Common))
        {
            let Proof::Call(called) = row.proof else { panic!("{} has no proof", row.name) };
            for text in std::iter::once(called.arguments).chain(called.result) {
                assert!(text.parse::<proc_macro2::TokenStream>().is_ok(), "{}: {text}", row.name);
            }
        }
    }
}
