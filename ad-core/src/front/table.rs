//! The table: every function, method and constant of Rust, std, ndarray and the DSL that is accepted, with what lowers it.
//! Look-up, "did you mean" and the README's list all come from here; a name that is not here is refused.

use super::lower::Lower;
use super::value::{Lowered, Value};
use super::{changes, collected, functions, integers, iter, methods, options, order, reads, recur, slice};
use crate::catalogue;
use crate::diag::{Poison, SrcRange, suggest};
use crate::ir::Elem;
use crate::prim::{Binary, Emit, Unary};

/// What a name is called on.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum On {
    /// Nothing: a function of the DSL.
    Dsl,
    /// A real scalar.
    Real,
    /// An integer scalar.
    Int,
    /// An array of any element type.
    Array,
    /// Nothing: a function of `std::iter`, by path.
    Std,
    /// A boolean.
    Bool,
    /// A tuple.
    Tuple,
    /// An `Ordering`.
    Ordering,
    /// An iterator or range.
    Iter,
    /// An `Option`.
    Option,
    /// Any value: `clone` and the like.
    Any,
    /// An array that is changed.
    Place,
    /// Nothing: a function of `std::mem`.
    Mem,
    /// A type, by path: `Array1::zeros`.
    Assoc,
    /// Nothing: a free function of ndarray, or one of its types that are no arrays: `Zip::from`.
    Nd,
    /// `Zip`.
    Zip,
    /// ndarray's `Slice`: a range and a step.
    Slice,
}

/// Arguments of a call that is being lowered: values, and where they stand. The receiver of a method is the first.
pub(super) struct Call<'a, 'c> {
    pub name: &'static str,
    pub args: Vec<Value<'a>>,
    pub ranges: Vec<SrcRange>,
    /// The arguments as text, for messages; may be missing.
    pub texts: Vec<String>,
    /// The whole call.
    pub range: SrcRange,
    /// What stands in `::<..>`, or before `::` in a path.
    pub generics: Option<&'c syn::Type>,
    /// The rank in `Array2::zeros`.
    pub rank: Option<u8>,
}

impl<'a> Call<'a, '_> {
    /// An argument as text.
    pub(super) fn text(&self, k: usize) -> &str {
        self.texts.get(k).map_or("the argument", String::as_str)
    }

    /// An argument; the table has seen to it that it is there.
    pub(super) fn arg(&self, k: usize) -> Lowered<(&Value<'a>, SrcRange)> {
        match (self.args.get(k), self.ranges.get(k)) {
            (Some(value), Some(&range)) => Ok((value, range)),
            _ => Err(Poison),
        }
    }
}

/// What lowers a call.
pub(super) type LowerFn = for<'a, 'x, 'c> fn(&'x mut Lower<'a>, &'x Call<'a, 'c>) -> Lowered<Value<'a>>;

/// How a row is lowered.
#[derive(Clone, Copy)]
pub(super) enum How {
    /// By a function of its own.
    Fn(LowerFn),
    /// A row of the table of scalar functions of one argument, elementwise.
    Unary(Unary),
    /// A row of the table of scalar functions of two arguments.
    Binary(Binary),
}

/// A row of the table.
#[derive(Clone, Copy)]
pub(super) struct Entry {
    pub name: &'static str,
    pub on: On,
    /// The fewest and the most arguments, without the receiver.
    pub args: (usize, usize),
    pub how: How,
    pub doc: &'static str,
}

/// A row whose lowering is a function.
pub(super) const fn row(name: &'static str, on: On, args: (usize, usize), lower: LowerFn, doc: &'static str) -> Entry {
    Entry { name, on, args, how: How::Fn(lower), doc }
}

const TABLES: &[&[Entry]] = &[
    functions::BUILDING,
    functions::REDUCING,
    functions::CHOOSING,
    methods::SCALAR,
    integers::TABLE,
    order::TABLE,
    options::TABLE,
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
    reads::TABLE,
    changes::TABLE,
    collected::TABLE,
    iter::TABLE,
    iter::CURSORS,
    recur::TABLE,
    iter::ADAPTERS,
    iter::CONSUMING,
    iter::CHOOSING,
    iter::PARTS,
    iter::UNTIL,
];

/// Every row, those of the scalar tables included.
pub(super) fn entries() -> impl Iterator<Item = Entry> {
    let unary = Unary::ALL.iter().flat_map(|&f| {
        let row = f.row();
        let on: &[On] = match row.emit {
            Emit::Method(_) => &[On::Real, On::Array],
            // Derivatives only, not names of the DSL.
            Emit::Kernel("trigamma" | "tetragamma") | Emit::Op(_) => &[],
            Emit::Kernel(_) => &[On::Dsl],
        };
        on.iter().map(move |&on| {
            let args = usize::from(on == On::Dsl);
            Entry { name: row.name, on, args: (args, args), how: How::Unary(f), doc: "elementwise" }
        })
    });
    let binary = Binary::ALL.iter().filter(|f| matches!(f.row().emit, Emit::Method(_))).flat_map(|&f| {
        // ndarray has only these for arrays.
        let on: &[On] = if matches!(f, Binary::Pow | Binary::Hypot) { &[On::Real, On::Array] } else { &[On::Real] };
        on.iter().map(move |&on| Entry {
            name: f.row().name,
            on,
            args: (1, 1),
            how: How::Binary(f),
            doc: "of two real numbers",
        })
    });
    TABLES.iter().flat_map(|t| t.iter().copied()).chain(unary).chain(binary)
}

/// The row of a name.
pub(super) fn find(on: On, name: &str) -> Option<Entry> {
    entries().find(|e| e.on == on && e.name == name)
}

/// The method of a value of one of these kinds.
pub(super) fn find_method(on: On, name: &str) -> Option<Entry> {
    find(on, name).or_else(|| find(On::Any, name))
}

/// The nearest name among rows that can be called on something.
pub(super) fn nearest(on: &[On], name: &str) -> Option<&'static str> {
    suggest(name, entries().filter(|e| on.contains(&e.on)).map(|e| e.name))
}

/// Methods that change their receiver: refused as mutation.
const MUTATING: &[&str] = &["sort", "sort_by", "as_slice_mut"];

/// Methods that take `&mut self` of an iterator, and leave it behind the last item that they have seen.
const ADVANCING: &[&str] = &["by_ref", "nth", "all", "any", "position", "find"];

/// Whether an iterator goes on somewhere else after this method.
pub(super) fn is_advancing(name: &str) -> bool {
    ADVANCING.contains(&name)
}

/// Whether a method changes its receiver.
pub(super) fn is_mutating(name: &str) -> bool {
    MUTATING.contains(&name)
}

/// A row as the README shows it.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Described {
    /// The name.
    pub name: &'static str,
    /// What it is called on: `function`, `real`, `integer`, `array`, `iterator`, `Option`, `value`, `type`.
    pub on: &'static str,
    /// What it does.
    pub doc: &'static str,
}

/// Every accepted function and method, in the order of the table.
#[must_use]
pub fn described() -> Vec<Described> {
    let on = |on| match on {
        On::Dsl => "function",
        On::Real => "real",
        On::Int => "integer",
        On::Array => "array",
        On::Std => "function of `std::iter`",
        On::Bool => "boolean",
        On::Tuple => "tuple",
        On::Ordering => "Ordering",
        On::Iter => "iterator",
        On::Option => "Option",
        On::Any => "value",
        On::Place => "mutable array",
        On::Mem => "std::mem",
        On::Assoc => "type",
        On::Nd => "ndarray",
        On::Zip => "`Zip`",
        On::Slice => "`Slice`",
    };
    entries().map(|e| Described { name: e.name, on: on(e.on), doc: e.doc }).collect()
}

impl<'a> Lower<'a> {
    /// Lowers a call of a row with its arguments (receiver first).
    pub(super) fn call_entry(
        &mut self,
        entry: Entry,
        elem: Option<Elem>,
        args: Vec<Value<'a>>,
        ranges: Vec<SrcRange>,
        range: SrcRange,
    ) -> Lowered<Value<'a>> {
        let call = Call { name: entry.name, args, ranges, texts: Vec::new(), range, generics: None, rank: None };
        self.call_of(entry, elem, call)
    }

    /// Lowers a call of a row.
    pub(super) fn call(&mut self, entry: Entry, call: Call<'a, '_>) -> Lowered<Value<'a>> {
        let receiver = usize::from(!matches!(entry.on, On::Dsl | On::Std | On::Mem | On::Assoc | On::Nd));
        let given = call.args.len().saturating_sub(receiver);
        if call.args.len() < receiver || given < entry.args.0 || given > entry.args.1 {
            let other = catalogue::arguments_of_others(entry.name, given);
            let message = other.unwrap_or_else(|| catalogue::arity(entry.name, entry.args, given));
            return Err(self.error(call.range, message));
        }
        // What is never reached has no value and no type, and neither has what is made of it.
        if call.args.iter().any(|a| matches!(a, Value::Never)) {
            return Ok(Value::Never);
        }
        if let Some(value) = methods::open::of_parts(self, &entry, &call)? {
            return Ok(value);
        }
        match entry.how {
            How::Fn(lower) => lower(self, &call),
            How::Unary(f) => {
                let (x, range) = call.arg(0)?;
                let x = self.real_term(x, range)?;
                // What a function of the DSL makes is in standard layout.
                if matches!(entry.on, On::Dsl) {
                    return Ok(Value::Term(self.g.unary(f, x)));
                }
                self.along_memory(x, |me, x| Ok(Value::Term(me.g.unary(f, x))))
            }
            How::Binary(f) => {
                let ((a, ra), (b, rb)) = (call.arg(0)?, call.arg(1)?);
                let (a, b) = self.meet(a, b, [ra, rb])?;
                if self.g.elem(a) != self.g.elem(b) || !self.g.elem(a).is_real() || self.g.rank(b) > 0 {
                    let [a, b] = [a, b].map(|t| self.describe(&Value::Term(t)));
                    let message = catalogue::argument_differs(entry.name, [call.text(0), call.text(1)], [&a, &b]);
                    return Err(self.error(call.range, message));
                }
                self.along_memory(a, |me, a| {
                    let shape = me.g.shape(a).to_vec();
                    let b = me.g.broadcast(b, &shape);
                    Ok(Value::Term(me.g.binary(f, a, b)))
                })
            }
        }
    }

    /// What the methods of a value are looked up under.
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
            | Value::Stack(_)
            | Value::Open(_) => On::Array,
            Value::Range(_) | Value::Seq(_) | Value::Cursor(_) => On::Iter,
            Value::Maybe(..) | Value::Nothing => On::Option,
            Value::Tuple(parts) if matches!(&**parts, [Value::Range(_), Value::Term(_)]) => On::Slice,
            Value::Tuple(_) => On::Tuple,
            Value::Ordering(_) => On::Ordering,
            Value::Zip(_) => On::Zip,
            _ => On::Any,
        }
    }
}
