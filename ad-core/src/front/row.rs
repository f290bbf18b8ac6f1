//! A row of the table: all that the front end knows of one name.
//!
//! Whoever lowers, reads, proves or documents names asks the row. No other place may name a method
//! again.

use super::proved::Proof;
use crate::catalogue;
use crate::diag::{Poison, SrcRange};
use crate::front::lower::Lower;
use crate::front::open::Open;
use crate::front::refs::results::{self, ResultFn};
use crate::front::value::{Lowered, Value};
use crate::ir::{Elem, Lit, RealTy, Term};
use crate::memory_order::{HasLayouts, MethodOrder, ReductionOrder, ResultOrder};
use crate::prim::{Binary, Unary};

/// What a name is called on.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub(in crate::front) enum On {
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

impl On {
    /// Whether a call has a receiver: its first argument.
    pub(in crate::front) fn has_receiver(self) -> bool {
        !matches!(self, On::Dsl | On::Std | On::Mem | On::Assoc | On::Nd)
    }

    /// What documents call it.
    pub(super) fn described(self) -> &'static str {
        match self {
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
        }
    }
}

/// Arguments of a call that is being lowered: values and source locations. The receiver of a method is the first.
pub(in crate::front) struct Call<'a, 'c> {
    pub row: &'static Row,
    pub args: Vec<Value<'a>>,
    pub ranges: Vec<SrcRange>,
    /// The arguments as text, for messages; may be missing.
    pub texts: Vec<String>,
    /// The whole call.
    pub range: SrcRange,
    /// The type in `::<..>`, or before `::` in a path.
    pub generics: Option<&'c syn::Type>,
    /// The rank in `Array2::zeros`.
    pub rank: Option<u8>,
}

impl<'a> Call<'a, '_> {
    /// The name as the user wrote it.
    pub(in crate::front) fn name(&self) -> &'static str {
        self.row.name
    }

    /// An argument as text.
    pub(in crate::front) fn text(&self, k: usize) -> &str {
        self.texts.get(k).map_or("the argument", String::as_str)
    }

    /// An argument; the table has seen to it that it is there.
    pub(in crate::front) fn arg(&self, k: usize) -> Lowered<(&Value<'a>, SrcRange)> {
        match (self.args.get(k), self.ranges.get(k)) {
            (Some(value), Some(&range)) => Ok((value, range)),
            _ => Err(Poison),
        }
    }

    /// The same call of another first argument.
    pub(in crate::front) fn of(&self, first: Value<'a>) -> Self {
        let args = std::iter::once(first).chain(self.args.iter().skip(1).cloned()).collect();
        Call { args, ranges: self.ranges.clone(), texts: self.texts.clone(), ..*self }
    }
}

/// What lowers a call.
pub(in crate::front) type LowerFn = for<'a, 'x, 'c> fn(&'x mut Lower<'a>, &'x Call<'a, 'c>) -> Lowered<Value<'a>>;

/// What lowers a call whose first argument is a part with dynamic length.
pub(in crate::front) type PartFn =
    for<'a, 'x, 'c> fn(&'x mut Lower<'a>, &'x Open, &'x Call<'a, 'c>) -> Lowered<Value<'a>>;

/// How a row is lowered on whole values.
#[derive(Clone, Copy)]
pub(in crate::front) enum Whole {
    /// By a function of its own.
    By(LowerFn),
    /// A row of the table of scalar functions of one argument, elementwise.
    Unary(Unary),
    /// A row of the table of scalar functions of two arguments.
    Binary(Binary),
}

/// How a row is lowered where its first argument is a part with dynamic length: a capacity, and a length.
#[derive(Clone, Copy)]
pub(in crate::front) enum Parts {
    /// As a whole array: what lowers that takes parts itself, or refuses them.
    AsWhole,
    /// Each element by itself. The elements behind the lengths are computed as well, and never read.
    Elementwise,
    /// A reduction to a number: of the array with the neutral element behind the lengths.
    Reduction(Neutral),
    /// A part of one axis is the growable vector that has these elements.
    AsVector,
    /// By a function of its own.
    By(PartFn),
    /// By a function of its own, if the first or the second argument is such a part.
    OfTwo(LowerFn),
}

/// What changes nothing in a reduction.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(in crate::front) enum Neutral {
    Zero,
    One,
    /// Minus infinity: of real numbers only.
    MinusInfinity,
}

impl Neutral {
    /// It as a term, if the type of elements has one.
    pub(in crate::front) fn term(self, me: &mut Lower, elem: Elem) -> Option<Term> {
        match (self, elem) {
            (Neutral::Zero, Elem::Real(ty)) => Some(me.g.lit_real(ty, 0.0)),
            (Neutral::One, Elem::Real(ty)) => Some(me.g.lit_real(ty, 1.0)),
            (Neutral::MinusInfinity, Elem::Real(ty)) => Some(me.g.lit_real(ty, f64::NEG_INFINITY)),
            (Neutral::Zero, Elem::Int(ty)) => Some(me.g.lit(Lit::Int(ty, 0))),
            (Neutral::One, Elem::Int(ty)) => Some(me.g.lit(Lit::Int(ty, 1))),
            (Neutral::Zero | Neutral::One, Elem::Bool) => Some(me.g.lit_bool(self == Neutral::One)),
            (Neutral::MinusInfinity, _) => None,
        }
    }
}

/// What else has to be known of a name where it is called.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(in crate::front) enum Mark {
    /// Takes `&mut self` of an iterator, and leaves it behind the last item that it has seen.
    Advances,
    /// May leave items of an iterator unasked for.
    Stops,
    /// Its last argument is a closure whose body is that of a loop, and may change what is around it.
    Loop,
    /// The same, with a state that the closure changes.
    LoopWithState,
    /// Changes how many elements a `Vec` has.
    Resizes,
    /// Appends its argument to a `Vec`.
    Pushes,
    /// Changes what has a name; of anything else the row of the value's own kind is meant.
    OfNamed,
    /// Its argument is a message for a panic, and no value.
    Message,
    /// Is understood of a constant array of which only its path is known.
    OfConstants,
}

/// What a function means that is called on a type of numbers (`f64::from(n)`), where that is no method of the numbers.
#[derive(Clone, Copy, PartialEq, Debug)]
pub(in crate::front) enum OnType {
    /// This constant, of a type parameter.
    Constant(f64),
    /// The argument as a number of the type.
    Conversion,
    /// The argument, a constant, as one of the type parameter.
    Literal,
}

impl OnType {
    /// Whether the type has the function.
    pub(in crate::front) fn is_of(self, elem: Elem) -> bool {
        !matches!(self, OnType::Constant(_)) || elem == Elem::Real(RealTy::Param)
    }
}

/// A row of the table.
#[derive(Clone, Copy)]
pub(in crate::front) struct Row {
    pub name: &'static str,
    pub on: On,
    /// The fewest and the most arguments, without the receiver.
    pub args: (usize, usize),
    pub whole: Whole,
    pub parts: Parts,
    /// What it results in, as far as Rust's look-up of methods goes.
    pub gives: ResultFn,
    /// What it does to the memory order; only rows of ndarray have to say it themselves.
    pub order: Option<MethodOrder>,
    /// What it means where it is called on a type of numbers.
    pub on_type: Option<OnType>,
    /// How the name is proved.
    pub proof: Proof,
    pub marks: &'static [Mark],
    /// What it does, for documents.
    pub doc: &'static str,
}

/// A row whose lowering is a function.
pub(in crate::front) const fn row(
    name: &'static str,
    on: On,
    args: (usize, usize),
    lower: LowerFn,
    doc: &'static str,
) -> Row {
    let gives = match on {
        On::Real | On::Int => results::number,
        _ => results::unknown,
    };
    Row {
        name,
        on,
        args,
        whole: Whole::By(lower),
        parts: Parts::AsWhole,
        gives,
        order: order_on(on),
        on_type: None,
        proof: Proof::of(on),
        marks: &[],
        doc,
    }
}

/// What rows do to the memory order that say nothing else.
const fn order_on(on: On) -> Option<MethodOrder> {
    let (result, reduction) = match on {
        // Each of them says it.
        On::Array | On::Nd | On::Zip => return None,
        On::Real | On::Int | On::Bool | On::Ordering | On::Std => (ResultOrder::NoArray, ReductionOrder::Elementwise),
        On::Tuple | On::Option | On::Mem | On::Slice | On::Any => (ResultOrder::Given, ReductionOrder::Elementwise),
        On::Iter => (ResultOrder::Given, ReductionOrder::Logical),
        On::Place => (ResultOrder::InPlace, ReductionOrder::Elementwise),
        On::Assoc => (ResultOrder::Standard, ReductionOrder::Elementwise),
        On::Dsl => (ResultOrder::Standard, ReductionOrder::Logical),
    };
    Some(MethodOrder { result, reduction })
}

impl Row {
    /// With this for parts with dynamic length.
    pub(in crate::front) const fn parts(self, parts: Parts) -> Row {
        Row { parts, ..self }
    }

    /// With this as the type of its result.
    pub(in crate::front) const fn gives(self, gives: ResultFn) -> Row {
        Row { gives, ..self }
    }

    /// With this memory order of its result.
    pub(in crate::front) const fn order(self, result: ResultOrder) -> Row {
        let reduction = match self.order {
            Some(order) => order.reduction,
            None => ReductionOrder::Elementwise,
        };
        Row { order: Some(MethodOrder { result, reduction }), ..self }
    }

    /// With this order in which it combines elements. What results is a number, if nothing else is said.
    pub(in crate::front) const fn reduces(self, reduction: ReductionOrder) -> Row {
        let result = match self.order {
            Some(order) => order.result,
            None => ResultOrder::NoArray,
        };
        Row { order: Some(MethodOrder { result, reduction }), ..self }
    }

    /// With this meaning on types of numbers.
    pub(in crate::front) const fn on_type(self, on_type: OnType) -> Row {
        Row { on_type: Some(on_type), ..self }
    }

    /// With these marks.
    pub(in crate::front) const fn marks(self, marks: &'static [Mark]) -> Row {
        Row { marks, ..self }
    }

    pub(in crate::front) fn is(&self, mark: Mark) -> bool {
        self.marks.contains(&mark)
    }

    /// The function of one argument of the scalar tables that it is.
    pub(in crate::front) fn unary(&self) -> Option<Unary> {
        match self.whole {
            Whole::Unary(f) => Some(f),
            Whole::By(_) | Whole::Binary(_) => None,
        }
    }
}

impl<'a> Lower<'a> {
    /// Lowers a call of a row with its arguments (receiver first).
    pub(in crate::front) fn call_row(
        &mut self,
        row: &'static Row,
        elem: Option<Elem>,
        args: Vec<Value<'a>>,
        ranges: Vec<SrcRange>,
        range: SrcRange,
    ) -> Lowered<Value<'a>> {
        self.call_of(elem, Call { row, args, ranges, texts: Vec::new(), range, generics: None, rank: None })
    }

    /// Lowers a call.
    pub(in crate::front) fn call(&mut self, call: &Call<'a, '_>) -> Lowered<Value<'a>> {
        let row = call.row;
        let receiver = usize::from(row.on.has_receiver());
        let given = call.args.len().saturating_sub(receiver);
        if call.args.len() < receiver || given < row.args.0 || given > row.args.1 {
            let other = catalogue::arguments_of_others(row.name, given);
            let message = other.unwrap_or_else(|| catalogue::arity(row.name, row.args, given));
            return Err(self.error(call.range, message));
        }
        // What is never reached has no value and no type, and neither has what is made of it.
        if call.args.iter().any(|a| matches!(a, Value::Never)) {
            return Ok(Value::Never);
        }
        match row.parts {
            Parts::AsWhole => self.call_whole(call),
            Parts::OfTwo(lower) if call.args.iter().take(2).any(|arg| self.open_part(arg).is_some()) => {
                lower(self, call)
            }
            Parts::OfTwo(_) => self.call_whole(call),
            parts => match call.args.first().and_then(|first| self.open_part(first)) {
                Some(x) => self.call_part(parts, &x, call),
                None => self.call_whole(call),
            },
        }
    }

    /// Lowers a call of a part with dynamic length.
    fn call_part(&mut self, parts: Parts, x: &Open, call: &Call<'a, '_>) -> Lowered<Value<'a>> {
        match parts {
            Parts::By(lower) => lower(self, x, call),
            Parts::Elementwise => {
                let made = self.call(&call.of(Value::Term(x.all)))?;
                let t = self.term(&made, call.arg(0)?.1)?;
                Ok(self.part_like(t, x))
            }
            Parts::Reduction(neutral) => {
                let elem = self.g.elem(x.all);
                let Some(neutral) = neutral.term(self, elem) else { return self.call_whole(call) };
                let t = self.filled_up(x, neutral);
                self.of_there(x, |me| me.call(&call.of(Value::Term(t))))
            }
            // What is known of a `Vec` that changes its length is so of a vector.
            Parts::AsVector => match call.arg(0)?.0 {
                part @ Value::Open(_) if x.lens.len() == 1 => {
                    let vector = self.as_vec(part.clone());
                    self.call_whole(&call.of(vector))
                }
                _ => self.call_whole(call),
            },
            Parts::AsWhole | Parts::OfTwo(_) => self.call_whole(call),
        }
    }

    /// Lowers a call of whole values. What it makes has the memory order that the row declares.
    pub(in crate::front) fn call_whole(&mut self, call: &Call<'a, '_>) -> Lowered<Value<'a>> {
        let Some(order) = call.row.order else { return self.lower_whole(call) };
        let array = |k: usize| match call.args.get(k) {
            Some(&Value::Term(t)) => Some(t),
            _ => None,
        };
        let receiver = if call.row.on.has_receiver() { array(0) } else { None };
        let made = match (order.result, receiver) {
            (ResultOrder::LikeReceiver | ResultOrder::InPlace, Some(x)) => {
                self.in_memory_order(x, |me, x| me.lower_whole(&call.of(Value::Term(x))))?
            }
            _ => self.lower_whole(call)?,
        };
        let axis = call.args.iter().find_map(|arg| match arg {
            Value::Axis(k) => Some(*k),
            _ => None,
        });
        let mut in_order = |t: Term| self.layouts().declared(order, (receiver, array(1)), axis, t);
        Ok(match made {
            Value::Term(t) => Value::Term(in_order(t)),
            Value::Maybe(value, there) => match *value {
                Value::Term(t) => Value::Maybe(Value::Term(in_order(t)).into(), there),
                _ => Value::Maybe(value, there),
            },
            made => made,
        })
    }

    fn lower_whole(&mut self, call: &Call<'a, '_>) -> Lowered<Value<'a>> {
        match call.row.whole {
            Whole::By(lower) => lower(self, call),
            Whole::Unary(f) => {
                let (x, range) = call.arg(0)?;
                let x = self.real_term(x, range)?;
                Ok(Value::Term(self.g.unary(f, x)))
            }
            Whole::Binary(f) => {
                let ((a, ra), (b, rb)) = (call.arg(0)?, call.arg(1)?);
                let (a, b) = self.meet(a, b, [ra, rb])?;
                if self.g.elem(a) != self.g.elem(b) || !self.g.elem(a).is_real() || self.g.rank(b) > 0 {
                    let [a, b] = [a, b].map(|t| self.describe(&Value::Term(t)));
                    let message = catalogue::argument_differs(call.name(), [call.text(0), call.text(1)], [&a, &b]);
                    return Err(self.error(call.range, message));
                }
                let shape = self.g.shape(a).to_vec();
                let b = self.g.broadcast(b, &shape);
                Ok(Value::Term(self.g.binary(f, a, b)))
            }
        }
    }
}
