//! What an expression of the user's function is, seen from the front end: mostly a term, sometimes a thing that Rust has and the
//! core language has not (a closure, an iterator, a literal whose type is still open), and the names that stand for such values.

use std::collections::HashSet;
use std::rc::Rc;

use proc_macro2::TokenStream;
use syn::{Block, Expr, Pat, Type};

use super::carry::Key;
use super::lower::Lower;
use super::open::Open;
use super::order::Order;
use super::place::Place;
use super::stack::Stack;
use super::state::{Cell, Store};
use super::table::Row;
use crate::diag::Poison;
use crate::ir::{Elem, Term};
use crate::prim::IntOp;

/// The result of lowering; an error has been reported already.
pub(super) type Lowered<T> = Result<T, Poison>;

/// The meaning of an expression. References are not told from what they refer to: rustc has seen to that.
#[derive(Clone)]
pub(super) enum Value<'a> {
    /// A scalar or an array of any container.
    Term(Term),
    /// Arithmetic on literals without suffix: its type is that of what it meets.
    Number(Rc<Number>),
    /// An array of arrays, `[[F; N]; M]`, or a `Vec` of ndarrays, as a term of rank two or more: its elements are its rows, while those of an
    /// ndarray are scalars. With how many of its axes, from the first, are indices of arrays or `Vec`s: what is behind them is an ndarray.
    Nested(Term, u8),
    /// `[a, b, c]`: an array literal, an index or a shape.
    List(Rc<[Value<'a>]>),
    /// `vec![0; n]`: one integer, whose type is still open, at each index of an array of arrays.
    Filled(Rc<Number>, Rc<[Term]>),
    /// A `Vec` in a loop that changes its length.
    Stack(Rc<Stack<'a>>),
    /// An array whose sizes the loops around decide: a part of one, or what is computed of it.
    Open(Rc<Open>),
    /// `array![[a, b], [c, d]]`: an ndarray of rank two or more, whose element type may still be open.
    Matrix(Rc<[Value<'a>]>),
    /// `std::array::from_fn(f)`, until a type says of which size.
    FromFn(Rc<Value<'a>>),
    /// A tuple.
    Tuple(Rc<[Value<'a>]>),
    /// A closure.
    Closure(Rc<Closure<'a>>),
    /// A function of the table as a value: `f64::exp`, with the number type whose function it is.
    Function(&'static Row, Option<Elem>),
    /// A range of integers.
    Range(Rc<Range<'a>>),
    /// An iterator.
    Seq(Seq<'a>),
    /// An iterator that has gone on so far.
    Cursor(Rc<Cursor<'a>>),
    /// An `Option`: the value, and whether there is one.
    Maybe(Rc<Value<'a>>, Term),
    /// `None`.
    Nothing,
    /// An `Ordering`.
    Ordering(Order),
    /// `Axis(k)`.
    Axis(usize),
    /// `Zip::from(..)`.
    Zip(Rc<super::methods::zip::Zip<'a>>),
    /// `()`.
    Unit,
    /// What a mutable variable stands for: in scopes only.
    Cell(Cell),
    /// Something that can be assigned, by `&mut` or `row_mut` and the like.
    Place(Rc<Place>),
    /// What never has a value, since control goes elsewhere.
    Never,
}

impl Value<'_> {
    /// An array literal as an ndarray: its elements are scalars, whatever its rank.
    pub(super) fn into_ndarray(self) -> Self {
        let inner = |v: &Value| matches!(v, Value::List(_) | Value::Matrix(_) | Value::Nested(..));
        match self {
            Value::Nested(t, _) => Value::Term(t),
            Value::List(parts) if parts.iter().any(inner) => Value::Matrix(parts),
            other => other,
        }
    }

    /// Whether it is an integer of no type yet: literals, that rustc gives the type of what they meet.
    pub(super) fn is_open(&self) -> bool {
        matches!(self, Value::Number(n) if !n.is_float() && n.outer().is_none())
    }

    /// Whether it is such an integer, or a literal of these.
    pub(super) fn is_open_inside(&self) -> bool {
        match self {
            Value::List(parts) | Value::Matrix(parts) => !parts.is_empty() && parts.iter().all(Value::is_open_inside),
            _ => self.is_open(),
        }
    }

    /// The kind of value, for messages.
    pub(super) fn kind(&self) -> &'static str {
        match self {
            Value::Term(_) | Value::Nested(..) | Value::Matrix(_) => "an array or scalar",
            Value::Number(_) => "a number",
            Value::List(_) => "an array literal",
            Value::Filled(..) => "an array of integers",
            Value::Stack(_) => "a `Vec` whose length changes",
            Value::Open(_) => "an array of a size that a loop decides",
            Value::FromFn(_) => "an array of a size that nothing says",
            Value::Tuple(_) => "a tuple",
            Value::Closure(_) | Value::Function(..) => "a function",
            Value::Range(_) => "a range",
            Value::Seq(_) | Value::Cursor(_) => "an iterator",
            Value::Maybe(..) | Value::Nothing => "an `Option`",
            Value::Ordering(_) => "an `Ordering`",
            Value::Axis(_) => "an axis",
            Value::Zip(_) => "a `Zip`",
            Value::Unit => "`()`",
            Value::Cell(_) | Value::Place(_) => "a mutable reference",
            Value::Never => "an expression that never has a value",
        }
    }
}

/// Arithmetic on literals, kept until its type is known: the constant is then computed in that type, as rustc does.
#[derive(Clone, Debug)]
pub(super) enum Number {
    Float(f64),
    Int(i128),
    Neg(Rc<Number>),
    Arith(super::arith::Arith, Rc<Number>, Rc<Number>),
    Choice(super::arith::Join, Rc<Number>, Rc<Number>),
    /// A constant outside of the function: its type is that of what it meets, and the emitted code states it.
    Outer(Rc<TokenStream>),
    /// An element of a constant array outside of the function, by its indices, which have been checked: of the type of what it meets.
    At(Rc<TokenStream>, Rc<[Term]>),
    /// A constant that is taken to be one of `std::f64::consts`, and its value.
    Std(Rc<TokenStream>, f64),
    /// A bit operation on integers.
    Bits(IntOp, Rc<Number>, Rc<Number>),
    /// A shift by an amount that has a type already.
    Shift(IntOp, Rc<Number>, Term),
    /// `!`.
    Not(Rc<Number>),
    /// One of several literals, by an index that has been checked.
    Of(Rc<[Rc<Number>]>, Term),
}

impl Number {
    /// The first literal or constant in it that is one of those wanted; one of a list counts if `lists` does. What is shared is looked at once:
    /// `b = a + a`, `c = b + b` and so on would be seen twice as often with each line.
    fn leaf(&self, lists: bool, wanted: impl Fn(&Number) -> bool) -> Option<&Number> {
        let (mut stack, mut seen) = (vec![self], HashSet::new());
        while let Some(n) = stack.pop() {
            if !seen.insert(std::ptr::from_ref(n)) {
                continue;
            }
            match n {
                Number::Neg(a) | Number::Not(a) | Number::Shift(_, a, _) => stack.push(a),
                Number::Arith(_, a, b) | Number::Choice(_, a, b) | Number::Bits(_, a, b) => stack.extend([&**b, &**a]),
                Number::Of(parts, _) if lists => stack.extend(parts.iter().rev().map(|p| &**p)),
                leaf if wanted(leaf) => return Some(leaf),
                _ => {}
            }
        }
        None
    }

    /// Whether a real is in it (then all of it is real).
    pub(super) fn is_float(&self) -> bool {
        self.leaf(true, |n| matches!(n, Number::Float(_) | Number::Std(..))).is_some()
    }

    /// The constant array outside of the function that it may be (or a part of), with the indices of the part.
    pub(super) fn of_array(&self) -> Option<(&Rc<TokenStream>, &[Term])> {
        match self {
            Number::Outer(path) => Some((path, &[])),
            Number::At(path, indices) => Some((path, indices)),
            _ => None,
        }
    }

    /// Whether the constant in it is an array, if that is known.
    pub(super) fn array_if_known(&self) -> Option<bool> {
        let mut n = self;
        while let Number::Neg(a) | Number::Not(a) | Number::Shift(_, a, _) = n {
            n = a;
        }
        // Arithmetic on arrays is ndarray's, and a constant is none of these.
        (!matches!(n, Number::Outer(_))).then(|| n.leaf(false, |n| matches!(n, Number::At(..))).is_some())
    }

    /// The constant outside of the function that is in it, if nothing but that says what type it has.
    pub(super) fn outer(&self) -> Option<&TokenStream> {
        match self.leaf(false, |n| matches!(n, Number::Outer(_) | Number::At(..)))? {
            Number::Outer(path) | Number::At(path, _) => Some(path),
            _ => None,
        }
    }
}

/// What stands behind an arrow.
#[derive(Clone, Copy)]
pub(super) enum Body<'a> {
    Expr(&'a Expr),
    Block(&'a Block),
}

/// A closure, or a function in the function, and the scope that it was written in.
pub(super) struct Closure<'a> {
    /// Its parameters, with their types where the pattern does not say them.
    pub params: Vec<(&'a Pat, Option<&'a Type>)>,
    pub body: Body<'a>,
    pub output: Option<&'a Type>,
    pub scope: Scope<'a>,
    /// What the variables held where it was written.
    pub store: Store<'a>,
}

/// `start..end`.
pub(super) struct Range<'a> {
    pub start: Option<Value<'a>>,
    pub end: Option<Value<'a>>,
    pub inclusive: bool,
    /// For its type, where its ends are literals.
    pub key: Option<Key>,
}

type Item<'a> = dyn Fn(&mut Lower<'a>, &[Term]) -> Lowered<Value<'a>> + 'a;

/// Whether there is an item at an index.
pub(super) type Keep<'a> = dyn Fn(&mut Lower<'a>, &[Term]) -> Lowered<Term> + 'a;

/// An iterator as a function from index to item. Lazy as in Rust: an item is lowered where the iterator is consumed.
#[derive(Clone)]
pub(super) struct Seq<'a> {
    /// Its lengths: one a loop (an array of rank 2 is iterated by two nested loops). Closed; `usize::MAX` stands for no end.
    pub dims: Rc<[Term]>,
    /// With one loop: how many items there are, where that depends on the loops around.
    pub len: Option<Term>,
    /// With several loops: how many items each of them has, where the loops around decide; empty where they do not.
    pub lens: Rc<[Option<Term>]>,
    /// Whether there is an item at an index, where that is not everywhere.
    pub keep: Option<Rc<Keep<'a>>>,
    /// The item at an index.
    pub item: Rc<Item<'a>>,
    /// Whether checks of its items have been made before anybody asked for them.
    pub ahead: bool,
}

/// An iterator of one index whose next item is that at `at`.
pub(super) struct Cursor<'a> {
    pub seq: Seq<'a>,
    pub at: Term,
}

/// Names in scope, the innermost first; sharing its tail with the scopes around it, so that a closure keeps its own for nothing.
#[derive(Clone, Default)]
pub(super) struct Scope<'a>(Option<Rc<Bind<'a>>>);

struct Bind<'a> {
    name: String,
    /// `None`: its definition had an error.
    value: Option<Value<'a>>,
    rest: Scope<'a>,
}

impl<'a> Scope<'a> {
    /// The scope with one more name.
    pub(super) fn bind(&mut self, name: String, value: Option<Value<'a>>) {
        let rest = std::mem::take(self);
        *self = Scope(Some(Rc::new(Bind { name, value, rest })));
    }

    /// What a name stands for: `None` if it is unknown, an error if its definition was one.
    pub(super) fn get(&self, name: &str) -> Option<Lowered<&Value<'a>>> {
        let mut at = self;
        while let Some(bind) = &at.0 {
            if bind.name == name {
                return Some(bind.value.as_ref().ok_or(Poison));
            }
            at = &bind.rest;
        }
        None
    }

    /// Every name, innermost first.
    pub(super) fn names(&self) -> Vec<&str> {
        let (mut at, mut names) = (self, Vec::new());
        while let Some(bind) = &at.0 {
            names.push(&*bind.name);
            at = &bind.rest;
        }
        names
    }
}

/// A long chain of names must not be dropped by recursion.
impl Drop for Bind<'_> {
    fn drop(&mut self) {
        let mut next = self.rest.0.take();
        while let Some(bind) = next {
            next = Rc::into_inner(bind).and_then(|mut bind| bind.rest.0.take());
        }
    }
}

/// The terms of the value; tests compare states by it.
impl std::fmt::Debug for Value<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Value::Term(t) | Value::Nested(t, _) => t.fmt(f),
            Value::List(parts) | Value::Matrix(parts) | Value::Tuple(parts) => {
                f.debug_list().entries(parts.iter()).finish()
            }
            Value::Number(n) => n.fmt(f),
            Value::Open(part) => part.fmt(f),
            Value::Maybe(value, there) => write!(f, "{value:?} if {there:?}"),
            Value::Cell(cell) => cell.fmt(f),
            other => f.write_str(other.kind()),
        }
    }
}

impl std::fmt::Debug for Scope<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let (mut at, mut list) = (self, f.debug_list());
        while let Some(bind) = &at.0 {
            list.entry(&(&bind.name, &bind.value));
            at = &bind.rest;
        }
        list.finish()
    }
}

/// What a literal array or a literal becomes.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Want {
    /// Elements of this type.
    Elem(Elem),
    /// Elements of the type that an open literal has by default.
    Any,
}
