//! The meaning of an expression of the user's function in the front end, and the scopes that bind
//! names to such values. Most values are terms. Some exist only in Rust and not in the core
//! language: closures, iterators, literals without a type.

use std::collections::HashSet;
use std::rc::Rc;

use proc_macro2::{Ident, TokenStream, TokenTree};
use quote::ToTokens;
use syn::{Block, Expr, Pat, Type};

use super::definitions::Definition;
use super::lower::Lower;
use super::open::DynamicPart;
use super::order::KeyPairs;
use super::place::Place;
use super::stack::GrowableVec;
use super::table::Row;
use crate::translation::cells::{Cell, Store};
use crate::translation::inference::InferenceKey;
use ad_ir::diag::Poison;
use ad_ir::ir::{Elem, Graph, Term};
use ad_ir::prim::IntOp;

/// The result of lowering. An `Err` has been reported already.
pub(super) type Lowered<T> = Result<T, Poison>;

/// The meaning of an expression. A reference has the value that it refers to; rustc checks
/// references.
#[derive(Clone)]
pub(super) enum Value<'a> {
    /// A scalar, or an array of any container type.
    Term(Term),
    /// Arithmetic on literals without a suffix. It gets the type of the other operand.
    Number(Rc<Number>),
    /// An array of arrays (`[[F; N]; M]`) or a `Vec` of ndarrays, as a term of rank two or more.
    /// Its elements are its rows, while those of an ndarray are scalars. The number says how many
    /// leading axes are indices of arrays or `Vec`s; the remaining axes are those of an ndarray.
    Nested(Term, u8),
    /// `[a, b, c]`: an array literal, an index or a shape.
    List(Rc<[Value<'a>]>),
    /// `vec![0; n]`: an array of arrays, filled with one integer that has no type yet.
    Filled(Rc<Number>, Rc<[Term]>),
    /// A growable `Vec` in a loop.
    GrowableVec(Rc<GrowableVec<'a>>),
    /// An array with dynamic lengths.
    DynamicPart(Rc<DynamicPart>),
    /// `array![[a, b], [c, d]]`: an ndarray of rank two or more, whose element type may be unknown.
    Matrix(Rc<[Value<'a>]>),
    /// `std::array::from_fn(f)`, until its length is known from a type.
    FromFn(Rc<Value<'a>>),
    /// A tuple.
    Tuple(Rc<[Value<'a>]>),
    /// A struct, with the values of its fields.
    Struct(&'a Definition, Rc<[Value<'a>]>),
    /// A value of an enum.
    Enum(Rc<EnumValue<'a>>),
    /// A value of a type that contains itself: a row of tables.
    Node(Rc<super::nodes::NodeValue<'a>>),
    /// A closure.
    Closure(Rc<Closure<'a>>),
    /// A choice between several functions, by conditions.
    Chosen(Rc<super::called::Chosen<'a>>),
    /// A function of the table as a value, such as `f64::exp`, with the number type of its path.
    Function(&'static Row, Option<Elem>),
    /// A range of integers.
    Range(Rc<Range<'a>>),
    /// An iterator.
    Seq(Seq<'a>),
    /// A partly consumed iterator.
    Cursor(Rc<Cursor<'a>>),
    /// An `Option`: the payload, and whether it is `Some`.
    Option(Rc<Value<'a>>, Term),
    /// `None`.
    None,
    /// An `Ordering`.
    Ordering(KeyPairs),
    /// `Axis(k)`.
    Axis(usize),
    /// `Zip::from(..)`.
    Zip(Rc<super::methods::zip::Zip<'a>>),
    /// `()`.
    Unit,
    /// The cell of a mutable variable. It occurs in scopes only.
    Cell(Cell),
    /// A place expression, by `&mut`, `row_mut` and similar methods.
    Place(Rc<Place>),
    /// The value of an expression that does not complete, such as `return`.
    Never,
}

/// A value of an enum: the index of its variant, and the fields of each variant.
#[derive(Clone)]
pub(super) struct EnumValue<'a> {
    pub of: &'a Definition,
    pub tag: Term,
    /// The fields of a variant have a meaning only where the tag is its number. `None`: the value
    /// is never this variant.
    pub payloads: Rc<[Option<Rc<[Value<'a>]>>]>,
}

impl<'a> Value<'a> {
    /// Wraps an array term as a value. `levels` is the number of leading axes that are nested
    /// arrays or `Vec`s in Rust (see [`Value::levels`]); the term itself does not have that
    /// information.
    pub(super) fn nested(g: &Graph, t: Term, levels: u8) -> Value<'a> {
        // The elements of an array of one axis are scalars.
        match levels.min(ad_ir::ir::axis(g.rank(t).saturating_sub(1))) {
            0 => Value::Term(t),
            levels => Value::Nested(t, levels),
        }
    }

    /// Wraps an element of an array with the given number of levels. The element has one level
    /// less.
    pub(super) fn nested_element(g: &Graph, t: Term, levels: u8) -> Value<'a> {
        Value::nested(g, t, levels.saturating_sub(1))
    }

    /// The number of levels of an element of an array with the given number of levels.
    pub(super) fn levels_inside(g: &Graph, t: Term, levels: u8) -> u8 {
        levels.min(ad_ir::ir::axis(g.rank(t).saturating_sub(1))).saturating_sub(1)
    }

    /// The number of leading axes of a value that are nested arrays or `Vec`s in Rust. An ndarray
    /// has none.
    pub(super) fn levels(&self) -> u8 {
        match self {
            Value::Nested(_, levels) => *levels,
            Value::Filled(..) | Value::FromFn(_) => u8::MAX,
            Value::List(parts) => parts.iter().map(Value::levels).max().unwrap_or(0).saturating_add(1),
            _ => 0,
        }
    }

    /// The parts of a tuple or struct.
    pub(super) fn product(&self) -> Option<&Rc<[Value<'a>]>> {
        match self {
            Value::Tuple(parts) | Value::Struct(_, parts) => Some(parts),
            _ => None,
        }
    }

    /// The same kind of product, or an array literal, with other parts.
    pub(super) fn with_parts(&self, parts: Rc<[Value<'a>]>) -> Value<'a> {
        match self {
            Value::Struct(of, _) => Value::Struct(of, parts),
            Value::List(_) => Value::List(parts),
            Value::Matrix(_) => Value::Matrix(parts),
            _ => Value::Tuple(parts),
        }
    }

    /// Whether both are products of the same kind: tuples or array literals of as many parts, or
    /// structs of one type.
    pub(super) fn is_like(&self, other: &Value<'a>) -> bool {
        match (self, other) {
            (Value::Tuple(a), Value::Tuple(b)) | (Value::List(a), Value::List(b)) => a.len() == b.len(),
            (Value::Struct(a, _), Value::Struct(b, _)) => std::ptr::eq(*a, *b),
            _ => false,
        }
    }
}

impl Value<'_> {
    /// Turns an array literal into an ndarray. Its elements are scalars, whatever its rank.
    pub(super) fn into_ndarray(self) -> Self {
        let inner = |v: &Value| matches!(v, Value::List(_) | Value::Matrix(_) | Value::Nested(..));
        match self {
            Value::Nested(t, _) => Value::Term(t),
            Value::List(parts) if parts.iter().any(inner) => Value::Matrix(parts),
            other => other,
        }
    }

    /// Whether the value is an integer without a type: a literal that takes the type of the other
    /// operand.
    pub(super) fn is_open(&self) -> bool {
        matches!(self, Value::Number(n) if !n.is_float() && n.outer().is_none())
    }

    /// Whether the value is an integer without a type, or an array literal of such integers.
    pub(super) fn has_untyped_integers(&self) -> bool {
        match self {
            Value::List(parts) | Value::Matrix(parts) => {
                !parts.is_empty() && parts.iter().all(Value::has_untyped_integers)
            }
            _ => self.is_open(),
        }
    }

    /// Whether the value is a function.
    pub(super) fn is_function(&self) -> bool {
        matches!(self, Value::Closure(_) | Value::Function(..) | Value::Chosen(_))
    }

    /// Whether the value is an array literal with elements that are not terms. An index then
    /// selects among them.
    pub(super) fn is_selected_from(&self) -> bool {
        let no_term = |part: &Value| part.is_several() || part.is_function();
        matches!(self, Value::List(parts) if parts.iter().any(no_term))
    }

    /// Whether the value has several terms, so that an array of such values is several arrays.
    pub(super) fn is_several(&self) -> bool {
        matches!(
            self,
            Value::Tuple(_) | Value::Struct(..) | Value::Enum(_) | Value::Node(_) | Value::Option(..) | Value::Unit
        )
    }

    /// The kind of the value, for messages.
    pub(super) fn kind(&self) -> &'static str {
        match self {
            Value::Term(_) | Value::Nested(..) | Value::Matrix(_) => "an array or scalar",
            Value::Number(_) => "a number",
            Value::List(_) => "an array literal",
            Value::Filled(..) => "an array of integers",
            Value::GrowableVec(list) if list.as_single_array().is_none() => "a list of structs, enums or tuples",
            Value::GrowableVec(_) => "a `Vec` whose length changes",
            Value::DynamicPart(_) => "an array of a size that a loop decides",
            Value::FromFn(_) => "an array of a size that nothing says",
            Value::Tuple(_) => "a tuple",
            Value::Struct(..) => "a struct",
            Value::Enum(_) => "an enum",
            Value::Node(_) => "a value of a type that contains itself",
            Value::Closure(_) | Value::Function(..) | Value::Chosen(_) => "a function",
            Value::Range(_) => "a range",
            Value::Seq(_) | Value::Cursor(_) => "an iterator",
            Value::Option(..) | Value::None => "an `Option`",
            Value::Ordering(_) => "an `Ordering`",
            Value::Axis(_) => "an axis",
            Value::Zip(_) => "a `Zip`",
            Value::Unit => "`()`",
            Value::Cell(_) | Value::Place(_) => "a mutable reference",
            Value::Never => "an expression that never has a value",
        }
    }
}

/// Arithmetic on literals. It is kept until its type is known. The constant is then computed in
/// that type, as rustc does.
#[derive(Clone, Debug)]
pub(super) enum Number {
    Float(f64),
    Int(i128),
    Neg(Rc<Number>),
    Arith(super::arith::Arith, Rc<Number>, Rc<Number>),
    Choice(super::arith::Selection, Rc<Number>, Rc<Number>),
    /// A constant outside of the function. It takes the type of the other operand, and the
    /// generated code states that type.
    Outer(Rc<TokenStream>),
    /// An element of a constant array outside of the function, by indices that have been checked.
    /// It takes the type of the other operand.
    At(Rc<TokenStream>, Rc<[Term]>),
    /// A constant that is assumed to be one of `std::f64::consts`, with its value.
    Std(Rc<TokenStream>, f64),
    /// A bit operation on integers.
    Bits(IntOp, Rc<Number>, Rc<Number>),
    /// A shift by an amount that has a type already.
    Shift(IntOp, Rc<Number>, Term),
    /// The operator `!`.
    Not(Rc<Number>),
    /// A choice between several literals, by an index that has been checked.
    Of(Rc<[Rc<Number>]>, Term),
}

impl Number {
    /// The first literal or constant in the expression for which `wanted` holds. Elements of a list
    /// count only if `lists` is true. Shared subexpressions are visited once: with `b = a + a`, `c
    /// = b + b` and so on, the number of visits would double with each line.
    fn find(&self, lists: bool, wanted: impl Fn(&Number) -> bool) -> Option<&Number> {
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

    /// Whether the expression contains a real. Then the whole expression is real.
    pub(super) fn is_float(&self) -> bool {
        self.find(true, |n| matches!(n, Number::Float(_) | Number::Std(..))).is_some()
    }

    /// The constant array outside of the function that the value is an element of, with the
    /// indices; without indices the value is the array.
    pub(super) fn of_array(&self) -> Option<(&Rc<TokenStream>, &[Term])> {
        match self {
            Number::Outer(path) => Some((path, &[])),
            Number::At(path, indices) => Some((path, indices)),
            _ => None,
        }
    }

    /// Whether the constant in the expression is an array, if that is known.
    pub(super) fn array_if_known(&self) -> Option<bool> {
        let mut n = self;
        while let Number::Neg(a) | Number::Not(a) | Number::Shift(_, a, _) = n {
            n = a;
        }
        // Arithmetic on arrays is only for ndarrays, and a constant is not an ndarray.
        (!matches!(n, Number::Outer(_))).then(|| n.find(false, |n| matches!(n, Number::At(..))).is_some())
    }

    /// The outer constant in the expression, if the type depends on that constant only.
    pub(super) fn outer(&self) -> Option<&TokenStream> {
        match self.find(false, |n| matches!(n, Number::Outer(_) | Number::At(..)))? {
            Number::Outer(path) | Number::At(path, _) => Some(path),
            _ => None,
        }
    }
}

/// The body of a closure or of a nested function.
#[derive(Clone, Copy)]
pub(super) enum ClosureBody<'a> {
    Expr(&'a Expr),
    Block(&'a Block),
}

/// A closure or a nested function, with the scope of its definition.
#[derive(Clone)]
pub(super) struct Closure<'a> {
    /// The parameters. The type is given if the pattern does not contain it.
    pub params: Vec<(&'a Pat, Option<&'a Type>)>,
    pub body: ClosureBody<'a>,
    pub output: Option<&'a Type>,
    /// The const parameters of a nested function.
    pub sizes: Vec<&'a Ident>,
    /// Its type parameters.
    pub types: Rc<[super::type_params::TypeParam]>,
    pub scope: Scope<'a>,
    /// The items at its definition.
    pub items: Scope<'a>,
    /// The definition that contains it. `None` for the annotated function.
    pub definition: Option<usize>,
    pub captured: Captured<'a>,
    /// The function as an item, if it may call itself.
    pub recursive: Option<Rc<super::recursion::Recursive<'a>>>,
    /// The function as an item, if its body is not read.
    pub ruled: Option<Rc<super::rules::Ruled<'a>>>,
    /// The derivative that it is, if it is one.
    pub derivative: Option<Rc<super::inner_derivatives::InnerDerivative<'a>>>,
    /// The closure expression. `None` for a function.
    pub source: Option<Rc<super::closure_conversion::Source<'a>>>,
}

impl Closure<'_> {
    /// Whether the body or the type of the result names something.
    pub(super) fn mentions(&self, name: &str) -> bool {
        let body = match self.body {
            ClosureBody::Expr(e) => e.to_token_stream(),
            ClosureBody::Block(b) => b.to_token_stream(),
        };
        names(body, name) || self.output.is_some_and(|ty| names(ty.to_token_stream(), name))
    }
}

/// Whether tokens have a name.
fn names(tokens: TokenStream, name: &str) -> bool {
    tokens.into_iter().any(|token| match token {
        TokenTree::Group(g) => names(g.stream(), name),
        TokenTree::Ident(i) => i == name,
        _ => false,
    })
}

/// How a function sees the variables in its scope.
#[derive(Clone)]
pub(super) enum Captured<'a> {
    /// The variables as they are at the call. The function may change the cells given here.
    References(Rc<[Cell]>),
    /// The variables as they were at the definition of the closure, which is `move`.
    Copies(Store<'a>),
}

/// A range `start..end`.
pub(super) struct Range<'a> {
    pub start: Option<Value<'a>>,
    pub end: Option<Value<'a>>,
    pub inclusive: bool,
    /// The key of its type, if both ends are literals.
    pub key: Option<InferenceKey>,
}

type Item<'a> = dyn Fn(&mut Lower<'a>, &[Term]) -> Lowered<Value<'a>> + 'a;

/// A function from an index to the condition that the item exists.
pub(super) type Present<'a> = dyn Fn(&mut Lower<'a>, &[Term]) -> Lowered<Term> + 'a;

/// An iterator as a function from index to item. It is lazy, as in Rust: an item is lowered where
/// the iterator is consumed.
#[derive(Clone)]
pub(super) struct Seq<'a> {
    /// Its closed sizes, one for each loop (an array of rank 2 is iterated by two nested loops).
    /// `usize::MAX` means that there is no end.
    pub dims: Rc<[Term]>,
    /// For a single loop: the dynamic number of items, if the number depends on enclosing loops.
    pub len: Option<Term>,
    /// For several loops: the dynamic number of items of each. It is empty if none is dynamic.
    pub lens: Rc<[Option<Term>]>,
    /// The condition that an item exists at an index. `None` if all do.
    pub present: Option<Rc<Present<'a>>>,
    /// The item at an index.
    pub item: Rc<Item<'a>>,
    /// Whether the items, and so their checks, were computed eagerly.
    pub eager: bool,
    /// The elements that are in no item: those after the last whole chunk.
    pub remainder: Option<Rc<Value<'a>>>,
}

/// An iterator over one axis whose next item has the index `at`.
pub(super) struct Cursor<'a> {
    pub seq: Seq<'a>,
    pub at: Term,
}

/// The names in scope, the innermost first. A scope shares its tail with the enclosing scopes, so a
/// closure keeps its scope at no cost.
#[derive(Clone, Default)]
pub(super) struct Scope<'a>(Option<Rc<Bind<'a>>>);

struct Bind<'a> {
    name: String,
    /// `None` if the definition had an error.
    value: Option<Value<'a>>,
    rest: Scope<'a>,
}

impl<'a> Scope<'a> {
    /// Adds a name.
    pub(super) fn bind(&mut self, name: String, value: Option<Value<'a>>) {
        let rest = std::mem::take(self);
        *self = Scope(Some(Rc::new(Bind { name, value, rest })));
    }

    /// The value of a name. `None` if the name is unknown, and an error if its definition had one.
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

    /// The scope from the definition of a name outwards.
    pub(super) fn outwards_from(&self, name: &str) -> Option<Scope<'a>> {
        let mut at = self;
        while let Some(bind) = &at.0 {
            if bind.name == name {
                return Some(at.clone());
            }
            at = &bind.rest;
        }
        None
    }

    /// Every name, the innermost first.
    pub(super) fn names(&self) -> Vec<&str> {
        let (mut at, mut names) = (self, Vec::new());
        while let Some(bind) = &at.0 {
            // Other names are those of the front end itself.
            names.extend(Some(&*bind.name).filter(|name| !name.starts_with(' ')));
            at = &bind.rest;
        }
        names
    }
}

/// A long chain of names is not dropped recursively.
impl Drop for Bind<'_> {
    fn drop(&mut self) {
        let mut next = self.rest.0.take();
        while let Some(bind) = next {
            next = Rc::into_inner(bind).and_then(|mut bind| bind.rest.0.take());
        }
    }
}

/// Prints the terms of the value. Tests compare states by it.
impl std::fmt::Debug for Value<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Value::Term(t) | Value::Nested(t, _) => t.fmt(f),
            Value::List(parts) | Value::Matrix(parts) | Value::Tuple(parts) | Value::Struct(_, parts) => {
                f.debug_list().entries(parts.iter()).finish()
            }
            Value::Number(n) => n.fmt(f),
            Value::DynamicPart(part) => part.fmt(f),
            Value::Enum(sum) => write!(f, "{:?}: {:?}", sum.tag, sum.payloads),
            Value::Option(value, exists) => write!(f, "{value:?} if {exists:?}"),
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

/// The requested element type of a literal or of a literal array.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Want {
    /// This element type.
    Elem(Elem),
    /// The default type of a literal.
    Any,
}
