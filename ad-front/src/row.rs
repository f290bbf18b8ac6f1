//! A row of the table: everything that the front end knows about one name.
//!
//! All code that lowers, reads, proves or documents names uses the rows. No other file lists method
//! names.

use super::proved::Proof;
use crate::lower::Lower;
use crate::open::DynamicPart;
use crate::refs::results::{self, ResultFn};
use crate::value::{Lowered, Value};
use ad_ir::catalogue;
use ad_ir::diag::{Poison, SrcRange};
use ad_ir::ir::{Elem, Lit, RealTy, Term};
use ad_ir::memory_order::{HasLayouts, MethodOrder, ReductionOrder, ResultOrder};
use ad_ir::prim::{Binary, Unary};

/// The kind of receiver that a name is called on.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum On {
    /// No receiver: a function of the DSL.
    Dsl,
    /// A real scalar.
    Real,
    /// An integer scalar.
    Int,
    /// An array of any element type.
    Array,
    /// No receiver: a function of `std::iter`, by path, or of `Box`.
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
    /// A `Result`.
    Result,
    /// Any value, such as for `clone`.
    Any,
    /// A place expression that is changed.
    Place,
    /// No receiver: a function of `std::mem`.
    Mem,
    /// A type, by path: `Array1::zeros`.
    Assoc,
    /// No receiver: a free function of ndarray, or a function of one of its types other than
    /// arrays, such as `Zip::from`.
    Nd,
    /// No receiver: a function of `ad::linalg`.
    Linalg,
    /// No receiver: a function of `ad::fft`.
    Fft,
    /// No receiver: a function of `ad::prelude` with a name that people give to functions of their
    /// own. So a call by a bare name with another number of arguments is asked for its definition.
    Common,
    /// `Zip`.
    Zip,
    /// ndarray's `Slice`: a range and a step.
    Slice,
}

impl On {
    /// Whether a call has a receiver, which is its first argument.
    pub(crate) fn has_receiver(self) -> bool {
        !matches!(self, On::Dsl | On::Std | On::Mem | On::Assoc | On::Nd | On::Linalg | On::Fft | On::Common)
    }
}

/// The arguments of a call that is being lowered: values and source locations. The receiver of a
/// method is the first.
pub(crate) struct Call<'a, 'c> {
    pub row: &'static Row,
    pub args: Vec<Value<'a>>,
    pub ranges: Vec<SrcRange>,
    /// The source texts of the arguments, for messages. May be empty.
    pub texts: Vec<String>,
    /// The source location of the whole call.
    pub range: SrcRange,
    /// The type in `::<..>`, or before `::` in a path.
    pub generics: Option<&'c syn::Type>,
    /// The rank in `Array2::zeros`.
    pub rank: Option<u8>,
}

impl<'a> Call<'a, '_> {
    /// The name of the function or method.
    pub(crate) fn name(&self) -> &'static str {
        self.row.name
    }

    /// The source text of an argument.
    pub(crate) fn text(&self, k: usize) -> &str {
        self.texts.get(k).map_or("the argument", String::as_str)
    }

    /// An argument. The number of arguments has been checked already.
    pub(crate) fn arg(&self, k: usize) -> Lowered<(&Value<'a>, SrcRange)> {
        match (self.args.get(k), self.ranges.get(k)) {
            (Some(value), Some(&range)) => Ok((value, range)),
            _ => Err(Poison),
        }
    }

    /// This call with another first argument.
    pub(crate) fn of(&self, first: Value<'a>) -> Self {
        let args = std::iter::once(first).chain(self.args.iter().skip(1).cloned()).collect();
        Call { args, ranges: self.ranges.clone(), texts: self.texts.clone(), ..*self }
    }
}

/// A function that lowers a call.
pub(crate) type LowerFn = for<'a, 'x, 'c> fn(&'x mut Lower<'a>, &'x Call<'a, 'c>) -> Lowered<Value<'a>>;

/// A function that lowers a call whose first argument is a part with dynamic length.
pub(crate) type PartFn = for<'a, 'x, 'c> fn(&'x mut Lower<'a>, &'x DynamicPart, &'x Call<'a, 'c>) -> Lowered<Value<'a>>;

/// How a row is lowered on values other than parts with dynamic length.
#[derive(Clone, Copy)]
pub(crate) enum Whole {
    /// A function lowers it.
    By(LowerFn),
    /// An elementwise function of one argument, from the table of scalar functions.
    Unary(Unary),
    /// A function of two arguments, from the table of scalar functions.
    Binary(Binary),
}

/// How a row is lowered if its first argument is a part with dynamic length.
#[derive(Clone, Copy)]
pub(crate) enum OnDynamicParts {
    /// As for other values. The function takes parts itself, or refuses them.
    AsWhole,
    /// Elementwise. The padding is computed as well, and never read.
    Elementwise,
    /// A reduction to a number, over the array with the neutral element in the padding.
    Reduction(Neutral),
    /// A part of one axis becomes a growable `Vec` with the same elements.
    AsVector,
    /// A function lowers it.
    By(PartFn),
    /// A function lowers it, if the first or the second argument is a part with dynamic length.
    OfTwo(LowerFn),
}

/// The neutral element of a reduction.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Neutral {
    Zero,
    One,
    /// Minus infinity, for reals only.
    MinusInfinity,
}

impl Neutral {
    /// The neutral element as a term, if the element type has one.
    pub(crate) fn term(self, me: &mut Lower, elem: Elem) -> Option<Term> {
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

/// A further property of a name.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Mark {
    /// The method takes `&mut self` of an iterator, and leaves it after the last item that it has
    /// visited.
    Advances,
    /// The method lends the iterator: what takes items of its result takes them of the iterator.
    Lends,
    /// The method may stop before the iterator is exhausted.
    Stops,
    /// Its last argument is a closure that is lowered as the body of a loop, and may change outer
    /// variables.
    Loop,
    /// Like `Loop`, with a state that the closure changes.
    LoopWithState,
    /// The method changes the number of elements of a `Vec`.
    Resizes,
    /// The method appends its argument to a `Vec`.
    Pushes,
    /// The method adds to its receiver, and does not use it in another way.
    Adds,
    /// The row is for place expressions only. For a temporary value the row of the value's own kind
    /// applies.
    OfNamed,
    /// The row is for an iterator that `by_ref` has borrowed only.
    OfBorrowed,
    /// Its argument is the message of a panic.
    Message,
    /// Its argument is an error, or makes one: it has a value only if it is made of numbers.
    Error,
    /// The method can be called on a constant array whose elements are not known here.
    OfConstants,
    /// The method is cheap and cannot fail: the message of a panic may call it.
    Total,
    /// The function makes a `VecDeque` as well.
    OfQueues,
}

/// The meaning of a function of a number type (`f64::from(n)`) that is not a method of numbers.
#[derive(Clone, Copy, PartialEq, Debug)]
pub(crate) enum OnType {
    /// This constant. It is for a type parameter only.
    Constant(f64),
    /// The argument, converted to the type.
    Conversion,
    /// The argument, a literal constant, in the type parameter.
    Literal,
}

impl OnType {
    /// Whether the type has the function.
    pub(crate) fn is_of(self, elem: Elem, is_parameter: bool) -> bool {
        match self {
            OnType::Constant(_) => elem.is_real() && is_parameter,
            OnType::Literal => elem.is_real(),
            OnType::Conversion => true,
        }
    }
}

/// A row of the table.
#[derive(Clone, Copy)]
pub(crate) struct Row {
    pub name: &'static str,
    pub on: On,
    /// The minimum and maximum number of arguments without the receiver.
    pub args: (usize, usize),
    pub whole: Whole,
    pub parts: OnDynamicParts,
    /// The type of the result, as far as Rust's method look-up depends on it.
    pub gives: ResultFn,
    /// Its effect on the memory order. Only rows of ndarray have to declare it.
    pub order: Option<MethodOrder>,
    /// Its meaning as a function of a number type.
    pub on_type: Option<OnType>,
    /// How its name is proved.
    pub proof: Proof,
    pub marks: &'static [Mark],
    /// What it is, in a few words, for the message that suggests it. It is empty for scalar
    /// functions, whose names say it.
    pub doc: &'static str,
}

/// A row that is lowered by a function.
pub(crate) const fn row(name: &'static str, on: On, args: (usize, usize), lower: LowerFn, doc: &'static str) -> Row {
    let gives = match on {
        On::Real | On::Int => results::number,
        _ => results::unknown,
    };
    Row {
        name,
        on,
        args,
        whole: Whole::By(lower),
        parts: OnDynamicParts::AsWhole,
        gives,
        order: order_on(on),
        on_type: None,
        proof: Proof::of(on),
        marks: &[],
        doc,
    }
}

/// The default effect on the memory order.
const fn order_on(on: On) -> Option<MethodOrder> {
    let (result, reduction) = match on {
        // These rows have to declare it.
        On::Array | On::Nd | On::Zip => return None,
        On::Real | On::Int | On::Bool | On::Ordering | On::Std => (ResultOrder::NoArray, ReductionOrder::Elementwise),
        On::Tuple | On::Option | On::Result | On::Mem | On::Slice | On::Any => {
            (ResultOrder::Given, ReductionOrder::Elementwise)
        }
        On::Iter => (ResultOrder::Given, ReductionOrder::Logical),
        On::Place => (ResultOrder::InPlace, ReductionOrder::Elementwise),
        On::Assoc => (ResultOrder::Standard, ReductionOrder::Elementwise),
        On::Dsl | On::Linalg | On::Fft | On::Common => (ResultOrder::Standard, ReductionOrder::Logical),
    };
    Some(MethodOrder { result, reduction })
}

impl Row {
    /// Sets how it is lowered on parts with dynamic length.
    pub(crate) const fn parts(self, parts: OnDynamicParts) -> Row {
        Row { parts, ..self }
    }

    /// Sets the type of the result.
    pub(crate) const fn gives(self, gives: ResultFn) -> Row {
        Row { gives, ..self }
    }

    /// Sets the memory order of the result.
    pub(crate) const fn order(self, result: ResultOrder) -> Row {
        let reduction = match self.order {
            Some(order) => order.reduction,
            None => ReductionOrder::Elementwise,
        };
        Row { order: Some(MethodOrder { result, reduction }), ..self }
    }

    /// Sets the order of reduction. The result is a number, unless the row declares a memory order.
    pub(crate) const fn reduces(self, reduction: ReductionOrder) -> Row {
        let result = match self.order {
            Some(order) => order.result,
            None => ResultOrder::NoArray,
        };
        Row { order: Some(MethodOrder { result, reduction }), ..self }
    }

    /// Sets its meaning as a function of a number type.
    pub(crate) const fn on_type(self, on_type: OnType) -> Row {
        Row { on_type: Some(on_type), ..self }
    }

    /// Sets the marks.
    pub(crate) const fn marks(self, marks: &'static [Mark]) -> Row {
        Row { marks, ..self }
    }

    pub(crate) fn is(&self, mark: Mark) -> bool {
        self.marks.contains(&mark)
    }

    /// The scalar function of one argument that the row stands for, if it does.
    pub(crate) fn unary(&self) -> Option<Unary> {
        match self.whole {
            Whole::Unary(f) => Some(f),
            Whole::By(_) | Whole::Binary(_) => None,
        }
    }
}

impl<'a> Lower<'a> {
    /// Lowers a call of a row with these arguments (the receiver is first).
    pub(crate) fn call_row(
        &mut self,
        row: &'static Row,
        elem: Option<Elem>,
        args: Vec<Value<'a>>,
        ranges: Vec<SrcRange>,
        range: SrcRange,
    ) -> Lowered<Value<'a>> {
        let is_parameter = elem == Some(Elem::Real(RealTy::Param));
        self.call_of(
            elem,
            is_parameter,
            Call { row, args, ranges, texts: Vec::new(), range, generics: None, rank: None },
        )
    }

    /// Lowers a call.
    pub(crate) fn call(&mut self, call: &Call<'a, '_>) -> Lowered<Value<'a>> {
        let row = call.row;
        let receiver = usize::from(row.on.has_receiver());
        let given = call.args.len().saturating_sub(receiver);
        if call.args.len() < receiver || given < row.args.0 || given > row.args.1 {
            let other = catalogue::arguments_of_others(row.name, given);
            let message = other.unwrap_or_else(|| catalogue::arity(row.name, row.args, given));
            return Err(self.error(call.range, message));
        }
        // A value that is never reached has no type, so the result has none either.
        if call.args.iter().any(|a| matches!(a, Value::Never)) {
            return Ok(Value::Never);
        }
        match row.parts {
            OnDynamicParts::AsWhole => self.call_whole(call),
            OnDynamicParts::OfTwo(lower) if call.args.iter().take(2).any(|arg| self.as_dynamic_part(arg).is_some()) => {
                lower(self, call)
            }
            OnDynamicParts::OfTwo(_) => self.call_whole(call),
            parts => match call.args.first().and_then(|first| self.as_dynamic_part(first)) {
                Some(x) => self.call_part(parts, &x, call),
                None => self.call_whole(call),
            },
        }
    }

    /// Lowers a call on a part with dynamic length.
    fn call_part(&mut self, parts: OnDynamicParts, x: &DynamicPart, call: &Call<'a, '_>) -> Lowered<Value<'a>> {
        match parts {
            OnDynamicParts::By(lower) => lower(self, x, call),
            OnDynamicParts::Elementwise => {
                let made = self.call(&call.of(Value::Term(x.all)))?;
                let t = self.term(&made, call.arg(0)?.1)?;
                Ok(self.part_like(t, x))
            }
            OnDynamicParts::Reduction(neutral) => {
                let elem = self.g.elem(x.all);
                let Some(neutral) = neutral.term(self, elem) else { return self.call_whole(call) };
                let t = self.padded_with(x, neutral);
                self.with_valid_lengths(x, |me| me.call(&call.of(Value::Term(t))))
            }
            // A growable `Vec` has all methods of a vector.
            OnDynamicParts::AsVector => match call.arg(0)?.0 {
                part @ Value::DynamicPart(_) if x.lens.len() == 1 => {
                    let vector = self.as_vec(part.clone());
                    self.call_whole(&call.of(vector))
                }
                _ => self.call_whole(call),
            },
            OnDynamicParts::AsWhole | OnDynamicParts::OfTwo(_) => self.call_whole(call),
        }
    }

    /// Lowers a call on other values. The result has the memory order that the row declares.
    pub(crate) fn call_whole(&mut self, call: &Call<'a, '_>) -> Lowered<Value<'a>> {
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
            Value::Option(value, exists) => match *value {
                Value::Term(t) => Value::Option(Value::Term(in_order(t)).into(), exists),
                _ => Value::Option(value, exists),
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
                let (a, b) = self.unify_literals(a, b, [ra, rb])?;
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
