//! The state of lowering, and what every part of it needs: places, values as terms, closures.

use std::collections::{BTreeMap, BTreeSet};
use std::rc::Rc;

use proc_macro2::Ident;
use quote::ToTokens;
use syn::{ItemFn, Pat};

use super::arith::Arith;
use super::carry::{Chosen, Key};
use super::once::Unsure;
use super::rollback::State;
use super::shapes::Classes;
use super::sig::Sig;
use super::value::{Body, Closure, Lowered, Number, Value, Want};
use crate::catalogue::{self, wanted};
use crate::diag::{Message, Poison, SrcRange, text_of};
use crate::ir::{Elem, Graph, Loc, Term};
use crate::program::{Constant, Place};

/// How deep expressions and calls of closures may nest: macros run on the compiler's stack.
const MAX_DEPTH: u32 = 150;
/// The longest text of an expression in a message.
const TEXT: usize = 60;

/// A function on its way into the core language.
pub(super) struct Lower<'a> {
    /// What an attempt takes back, all of it.
    pub state: State<'a>,

    // What is given for the whole pass, and does not change in it.
    pub sig: &'a Sig,
    /// What the methods of the body are called on.
    pub receivers: Rc<super::refs::Receivers>,
    /// Sizes that earlier passes have found to be equal.
    pub classes: Classes,
    /// The types of literals that earlier passes have found.
    pub chosen: BTreeMap<Key, Chosen>,
    /// The input that is the first parameter.
    pub first_param: u32,
    /// The functions inside of the function, also those that are not in scope.
    pub inner: BTreeSet<String>,

    // What stays when an attempt is taken back: terms, what is true of them, and what the next pass
    // has to know.
    pub g: Graph,
    /// What was made where control may not come.
    pub unsure: Unsure,
    /// The types of literals that this pass has found.
    pub decided: BTreeMap<Key, Chosen>,
    /// The terms that have their types from literals.
    pub soft: BTreeMap<Term, Vec<Key>>,
    /// The integer literals without a suffix, by their places in memory.
    pub literals: BTreeMap<usize, (Rc<Number>, Key)>,
    /// Constants that rustc knows the values of: inputs of the graph before and behind the parameters.
    pub constants: Vec<Constant>,
    /// Elements of a `Vec` that a counting run does not know.
    pub unseen: Vec<Term>,
    /// How many loops have carried a `Vec` of a length that changes.
    pub slots: usize,
    /// Empty lists that were made with a capacity of so many elements; kept, so that their addresses are their own.
    pub capacities: Vec<(Rc<[Value<'a>]>, Term)>,
    /// Arrays that are copies of others of a larger capacity.
    pub rooms: BTreeMap<Term, Term>,
    /// The memory orders of arrays.
    pub memory: crate::memory_order::Known,
    /// Empty lists that a type says the elements of, with the rank; likewise.
    pub empties: Vec<(Rc<[Value<'a>]>, Elem, usize)>,
}

impl<'a> Lower<'a> {
    pub(super) fn new(sig: &'a Sig) -> Self {
        let range = SrcRange::of(&sig.name);
        Lower {
            state: State::of_function(Place { range, text: sig.name.to_string() }),
            sig,
            receivers: Rc::default(),
            classes: Classes::default(),
            chosen: BTreeMap::new(),
            first_param: 0,
            inner: BTreeSet::new(),
            g: Graph::new(),
            unsure: Unsure::default(),
            decided: BTreeMap::new(),
            soft: BTreeMap::new(),
            literals: BTreeMap::new(),
            constants: Vec::new(),
            unseen: Vec::new(),
            slots: 0,
            capacities: Vec::new(),
            rooms: BTreeMap::new(),
            memory: crate::memory_order::Known::default(),
            empties: Vec::new(),
        }
    }

    /// The function's body: its result as a term of the declared type.
    pub(super) fn function(&mut self, item: &'a ItemFn) -> Lowered<Term> {
        let name = SrcRange::of(&item.sig.ident);
        let value = self.returning(name, |me| me.block(&item.block))?;
        let range = item.block.stmts.last().map_or_else(|| SrcRange::of(&item.sig.ident), SrcRange::of);
        let sig = self.sig;
        let leaf = &sig.result;
        let lens: Vec<Term> = leaf.lens.iter().map(|n| self.static_size(n)).collect();
        let value = self.sized(value, &lens, range)?;
        let term = self.term_as(&value, Want::Elem(leaf.elem), range)?;
        let rank = self.g.rank(term);
        if self.g.elem(term) != leaf.elem || rank != usize::from(leaf.rank) {
            let found = self.describe(&Value::Term(term));
            return Err(
                self.error(range, catalogue::result_type(&found, &self.sig.result_ty.to_string().replace(' ', "")))
            );
        }
        // rustc has seen to it that the sizes are those of the type; here they may have other names.
        for (axis, &len) in lens.iter().enumerate() {
            let words = [format!("axis {axis} of the result's type"), "the result".to_string()];
            self.equate(len, self.g.shape(term)[axis], words, range)?;
        }
        if lens.is_empty() { Ok(term) } else { Ok(self.g.recast(term, &lens)) }
    }

    /// A size that stands in a type.
    pub(super) fn static_size(&mut self, len: &super::types::Len) -> Term {
        match len {
            super::types::Len::Number(n) => self.g.lit_usize(*n),
            super::types::Len::Named(path) => self.constant(path, Elem::USIZE),
        }
    }

    /// A value whose type has these sizes: what `std::array::from_fn` leaves open is decided.
    pub(super) fn sized(&mut self, value: Value<'a>, lens: &[Term], range: SrcRange) -> Lowered<Value<'a>> {
        match (value, lens.split_first()) {
            (Value::FromFn(f), Some((&n, rest))) => {
                let mut levels = 0;
                let t = self.build_with(n, range, |me, i| {
                    let value = me.apply(&f, &[Value::Term(i)], range)?;
                    let value = me.sized(value, rest, range)?;
                    levels = me.levels(&value);
                    Ok(value)
                })?;
                Ok(self.rows(t, levels.saturating_add(1)))
            }
            (Value::List(parts), Some((_, rest))) if !rest.is_empty() => {
                let parts: Lowered<Vec<Value>> = parts.iter().map(|p| self.sized(p.clone(), rest, range)).collect();
                Ok(Value::List(parts?.into()))
            }
            (value, _) => Ok(value),
        }
    }

    /// An array term as a value: whether its elements are its rows is no property of the term. `levels`: as [`Lower::levels`] says.
    pub(super) fn rows(&self, t: Term, levels: u8) -> Value<'a> {
        // Of one axis, elements are elements.
        match levels.min(crate::ir::axis(self.g.rank(t).saturating_sub(1))) {
            0 => Value::Term(t),
            levels => Value::Nested(t, levels),
        }
    }

    /// An element of what has so many levels.
    pub(super) fn row_of(&self, t: Term, levels: u8) -> Value<'a> {
        self.rows(t, levels.saturating_sub(1))
    }

    /// The levels of an element of an array that has so many.
    pub(super) fn levels_inside(&self, t: Term, levels: u8) -> u8 {
        levels.min(crate::ir::axis(self.g.rank(t).saturating_sub(1))).saturating_sub(1)
    }

    /// How many axes of a value, from the first, are indices of arrays or `Vec`s: none of an ndarray.
    pub(super) fn levels(&self, value: &Value<'a>) -> u8 {
        match value {
            Value::Nested(_, levels) => *levels,
            Value::Filled(..) | Value::FromFn(_) => u8::MAX,
            Value::List(parts) => parts.iter().map(|p| self.levels(p)).max().unwrap_or(0).saturating_add(1),
            _ => 0,
        }
    }

    // Errors and places.

    /// Reports an error.
    pub(super) fn error(&mut self, range: SrcRange, message: Message) -> Poison {
        self.state.diags.push(range, message)
    }

    /// Lowers something at the place of `syntax`.
    pub(super) fn at<R>(&mut self, syntax: &impl ToTokens, f: impl FnOnce(&mut Self) -> R) -> R {
        let tokens = syntax.to_token_stream();
        self.at_place(Place { range: SrcRange::of_stream(tokens.clone()), text: text_of(&tokens, TEXT) }, f)
    }

    /// Lowers something at a place with another text than its own.
    pub(super) fn at_place<R>(&mut self, place: Place, f: impl FnOnce(&mut Self) -> R) -> R {
        self.state.places.push(place);
        let loc = Loc(u32::try_from(self.state.places.len() - 1).unwrap_or(0));
        let (outer, outer_g) = (std::mem::replace(&mut self.state.here, loc), self.g.at(loc));
        let result = f(self);
        self.state.here = outer;
        self.g.at(outer_g);
        result
    }

    /// The text of the current place.
    pub(super) fn text_here(&self) -> String {
        self.state.places.get(self.state.here.0 as usize).map_or_else(String::new, |p| p.text.clone())
    }

    /// One level deeper, unless that is too deep.
    pub(super) fn deeper<R>(
        &mut self,
        range: impl FnOnce() -> SrcRange,
        f: impl FnOnce(&mut Self) -> Lowered<R>,
    ) -> Lowered<R> {
        if self.state.depth >= MAX_DEPTH {
            return Err(self.state.diags.push(range(), catalogue::too_deep()));
        }
        self.state.depth += 1;
        let result = f(self);
        self.state.depth -= 1;
        result
    }

    /// The kind and rank of a value, for messages.
    pub(super) fn describe(&self, value: &Value) -> String {
        let (Value::Term(t) | Value::Nested(t, _)) = value else { return value.kind().to_string() };
        let (elem, rank) = (self.g.elem(*t), self.g.rank(*t));
        let elem = elem_name(elem, self.sig.real_param.as_ref());
        if rank == 0 { format!("`{elem}`") } else { format!("an array of rank {rank} of `{elem}`") }
    }

    // Values as terms.

    /// The element type of literals that nothing else decides: that of the function's reals, if they are all of one type.
    pub(super) fn default_real(&self) -> Elem {
        let params = self.sig.params.iter().map(|p| p.leaf.elem);
        let mut reals = params.chain([self.sig.result.elem]).filter(|e| e.is_real());
        match reals.next() {
            Some(first) if reals.all(|e| e == first) => first,
            _ => Elem::F64,
        }
    }

    /// A function value applied to arguments.
    pub(super) fn apply(&mut self, f: &Value<'a>, args: &[Value<'a>], range: SrcRange) -> Lowered<Value<'a>> {
        match f {
            Value::Closure(closure) => {
                let closure = Rc::clone(closure);
                if closure.params.len() != args.len() {
                    return Err(self.error(range, catalogue::closure_arity(closure.params.len(), args.len())));
                }
                self.deeper(
                    || range,
                    |me| {
                        let result = me.inside(&closure, range, |me| {
                            closure.params.iter().zip(args).try_for_each(|((pat, ty), arg)| {
                                let arg = match ty {
                                    Some(ty) => me.ascribe(arg.clone(), ty, range)?,
                                    None => arg.clone(),
                                };
                                me.bind(pat, Some(arg))
                            })?;
                            me.body(closure.body)
                        });
                        result.and_then(|value| match closure.output {
                            Some(ty) => me.ascribe(value, ty, range),
                            None => Ok(value),
                        })
                    },
                )
            }
            Value::Function(row, elem) => self.call_row(row, *elem, args.to_vec(), vec![range; args.len()], range),
            other => {
                let found = self.describe(other);
                Err(self.error(range, catalogue::expected(wanted::FUNCTION, &found)))
            }
        }
    }

    /// A closure expression as a value.
    pub(super) fn closure(&mut self, c: &'a syn::ExprClosure) -> Value<'a> {
        let params = c.inputs.iter().map(|pat| (pat, None)).collect();
        let output = match &c.output {
            syn::ReturnType::Default => None,
            syn::ReturnType::Type(_, ty) => Some(&**ty),
        };
        let (scope, store) = (self.state.scope.clone(), self.state.store.clone());
        Value::Closure(Rc::new(Closure { params, body: Body::Expr(&c.body), output, scope, store }))
    }

    /// An array of one more axis whose element i is `f(i)`.
    pub(super) fn build_with(
        &mut self,
        size: Term,
        range: SrcRange,
        f: impl FnOnce(&mut Self, Term) -> Lowered<Value<'a>>,
    ) -> Lowered<Term> {
        let (var, body) = self.in_loop(size, |me, i| {
            let value = f(me, i)?;
            me.term(&value, range)
        });
        let body = body?;
        Ok(self.built(size, var, body))
    }

    /// [`Lower::build_with`] over several axes.
    pub(super) fn build_all(
        &mut self,
        sizes: &[Term],
        range: SrcRange,
        f: &mut dyn FnMut(&mut Self, &[Term]) -> Lowered<Value<'a>>,
    ) -> Lowered<Term> {
        let (vars, body) = self.in_loops(sizes, &mut |me, ix| {
            let value = f(me, ix)?;
            me.term(&value, range)
        });
        let body = body?;
        Ok(sizes.iter().zip(vars).rev().fold(body, |body, (&size, var)| self.built(size, var, body)))
    }

    /// A build, which has its type from the same literals as its elements.
    fn built(&mut self, size: Term, var: crate::ir::Var, body: Term) -> Term {
        let value = self.once(size, var, body);
        let all = self.g.build(size, var, value);
        self.open_like(all, body);
        all
    }

    /// Binds the names of a pattern.
    pub(super) fn bind(&mut self, pat: &'a Pat, value: Option<Value<'a>>) -> Lowered<()> {
        super::pattern::bind(self, pat, value)
    }
}

/// The name of an element type.
pub(super) fn elem_name(elem: Elem, real_param: Option<&Ident>) -> String {
    super::types::elem_tokens(elem, real_param).to_string()
}

/// The operator of a binary expression as arithmetic.
pub(super) fn arith_of(op: &syn::BinOp) -> Option<Arith> {
    Some(match op {
        syn::BinOp::Add(_) => Arith::Add,
        syn::BinOp::Sub(_) => Arith::Sub,
        syn::BinOp::Mul(_) => Arith::Mul,
        syn::BinOp::Div(_) => Arith::Div,
        syn::BinOp::Rem(_) => Arith::Rem,
        _ => return None,
    })
}
