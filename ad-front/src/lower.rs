//! The front end's state of translation, and the functions that all its modules need: source
//! locations, values as terms, closures.
//!
//! Here, "to lower" means to translate a Rust expression to core terms. The pass of the same name
//! (`passes/lowering`) prepares core terms for code generation.

use std::rc::Rc;

use proc_macro2::Ident;
use quote::ToTokens;
use syn::{ItemFn, Pat};

use super::arith::Arith;
use super::carry::CarriedForm;
use super::recursion::Functions;
use super::rollback::State;
use super::translation::graph_inputs::GraphInputs;
use super::translation::growable::GrowableVectors;
use super::translation::inference::{Inference, InferenceKey};
use super::translation::run_input::RunInput;
use super::types::Leaf;
use super::value::{Lowered, Value, Want};
use super::zero_step_guards::MaybeUnreached;
use ad_ir::catalogue;
use ad_ir::diag::{Message, Poison, SrcRange, text_of};
use ad_ir::ir::{Elem, Graph, Term};
use ad_ir::program::{ListType, Output, OutputTree, SourceLocation, Tree as Structure};

/// The maximum length of an expression's text in a message.
const TEXT: usize = 60;

/// The state of the translation of one function to the core language.
pub(super) struct Lower<'a> {
    /// The part of the state that a trial lowering restores.
    pub state: State<'a>,

    /// What this run is given. It does not change.
    pub input: RunInput<'a>,

    // A trial lowering keeps these: terms, facts about terms, and input for the next run.
    /// The terms.
    pub g: Graph,
    /// Which inputs of the graph are constants and parameters.
    pub graph_inputs: GraphInputs,
    /// The inferred types of literals.
    pub inference: Inference,
    /// The functions that are compiled on their own.
    pub functions: Functions,
    /// What is known of growable vectors beside their values.
    pub growable: GrowableVectors<'a>,
    /// Terms that were created at points which may not be reached at run time.
    pub maybe_unreached: MaybeUnreached,
    /// The memory orders of arrays.
    pub memory: ad_ir::memory_order::KnownOrders,
}

impl<'a> Lower<'a> {
    pub(super) fn new(input: RunInput<'a>, inference: Inference, functions: Functions) -> Self {
        let name = &input.sig().name;
        let range = SrcRange::of(name);
        let mut g = Graph::new();
        if ad_ir::positions::are_all_kept() {
            g.keep_all_places();
        }
        Lower {
            state: State::of_function(SourceLocation::of_range(range, name.to_string())),
            input,
            g,
            graph_inputs: GraphInputs::default(),
            inference,
            functions,
            growable: GrowableVectors::default(),
            maybe_unreached: MaybeUnreached::default(),
            memory: ad_ir::memory_order::KnownOrders::default(),
        }
    }

    /// Lowers the function's body, which begins by taking these parameters apart by their patterns.
    /// The result is of the declared type.
    pub(super) fn function(&mut self, item: &'a ItemFn, parameters: Vec<(usize, Value<'a>)>) -> Lowered<OutputTree> {
        let name = SrcRange::of(&item.sig.ident);
        for (k, value) in parameters {
            if let Some(syn::FnArg::Typed(arg)) = item.sig.inputs.get(k) {
                self.bind(&arg.pat, Some(value))?;
            }
        }
        self.bind_itself(item)?;
        self.count_rule_calls();
        let value = self.returning(name, |me| me.block(&item.block))?;
        let range = item.block.stmts.last().map_or_else(|| SrcRange::of(&item.sig.ident), SrcRange::of);
        let sig = self.input.sig();
        let Some(fallible) = &sig.fallible else { return self.result(&sig.result, &value, range) };
        let (value, present) = self.result_and_presence(fallible.kind, value, range)?;
        let result = match value {
            Some(value) => self.result(&sig.result, &value, range)?,
            None => self.absent(&sig.result),
        };
        self.require_present(present);
        Ok(result)
    }

    /// A result of this type.
    pub(super) fn result(&mut self, ty: &Structure<Leaf>, value: &Value<'a>, range: SrcRange) -> Lowered<OutputTree> {
        match (ty, value) {
            (Structure::Leaf(leaf), _) => {
                let term = self.result_leaf(leaf, value.clone(), range)?;
                let lens = leaf.lens.iter().map(super::types::Len::tokens).collect();
                Ok(OutputTree::Leaf(Output { term, container: leaf.container, lens, role: leaf.role }))
            }
            (Structure::Defined(..), Value::Struct(of, _)) if self.input.definitions().contains_itself(of) => {
                Err(self.error(range, catalogue::made_in_the_body(&of.name.to_string())))
            }
            (Structure::Defined(..), Value::Enum(sum)) if self.input.definitions().contains_itself(sum.of) => {
                Err(self.error(range, catalogue::made_in_the_body(&sum.of.name.to_string())))
            }
            (Structure::Defined(of, inner), value) => {
                Ok(OutputTree::Defined(of.clone(), self.result(inner, value, range)?.into()))
            }
            (Structure::Tuple(types), Value::Node(node))
                if types.iter().flat_map(Structure::leaves).count() == node.leaves().count() =>
            {
                let mut terms = node.leaves();
                let mut output = |leaf: &Leaf| {
                    let lens = leaf.lens.iter().map(super::types::Len::tokens).collect();
                    Output { term: terms.next().unwrap_or(node.at), container: leaf.container, lens, role: leaf.role }
                };
                Ok(ty.map(&mut output))
            }
            (Structure::Tuple(types), Value::Unit) if types.is_empty() => Ok(OutputTree::Tuple(Vec::new())),
            (Structure::Tuple(types), Value::Enum(sum)) if types.len() == sum.payloads.len() + 1 => {
                let (tag, payloads) = (Value::Term(sum.tag), Rc::clone(&sum.payloads));
                let tag = self.result(&types[0], &tag, range);
                let payloads = types[1..].iter().zip(payloads.iter()).map(|(ty, fields)| match fields {
                    Some(fields) => self.result(ty, &Value::Tuple(Rc::clone(fields)), range),
                    None => Ok(self.absent(ty)),
                });
                let payloads: Lowered<Vec<OutputTree>> = payloads.collect();
                Ok(OutputTree::Tuple(std::iter::once(tag?).chain(payloads?).collect()))
            }
            (Structure::Tuple(types), Value::None) if types.len() == 2 => Ok(self.absent(ty)),
            (Structure::Tuple(types), Value::Option(value, exists)) if types.len() == 2 => {
                let content = self.result(&types[0], value, range)?;
                // A term that does not exist has no value, so it is not NaN either.
                let content = content.map(&mut |out| Output { term: self.masked(*exists, out.term), ..out.clone() });
                let exists = self.result(&types[1], &Value::Term(*exists), range)?;
                Ok(OutputTree::Tuple(vec![content, exists]))
            }
            (Structure::Tuple(types), Value::Tuple(parts) | Value::Struct(_, parts)) if types.len() == parts.len() => {
                let parts = types.iter().zip(parts.iter()).map(|(ty, part)| self.result(ty, part, range));
                Ok(OutputTree::Tuple(parts.collect::<Lowered<_>>()?))
            }
            (Structure::Tuple(types), Value::Never) => {
                let parts = types.iter().map(|ty| self.result(ty, &Value::Never, range));
                Ok(OutputTree::Tuple(parts.collect::<Lowered<_>>()?))
            }
            (Structure::List(of, element), value) => self.result_list(of, element, value, range),
            _ => {
                let found = self.describe(value);
                let ty = self.input.sig().result_ty.to_string().replace(' ', "");
                Err(self.error(range, catalogue::result_type(&found, &ty)))
            }
        }
    }

    /// A term where a condition holds, and zeros elsewhere.
    pub(super) fn masked(&mut self, cond: Term, term: Term) -> Term {
        let (zero, shape) = (self.g.zero(self.g.elem(term)), self.g.shape(term).to_vec());
        let zeros = self.g.broadcast(zero, &shape);
        self.g.cond(cond, term, zeros)
    }

    /// The fields of a variant that a value is not: zeros, and arrays without elements.
    pub(super) fn absent(&mut self, ty: &Structure<Leaf>) -> OutputTree {
        ty.map(&mut |leaf| {
            let zero = self.g.zero(leaf.elem);
            let sizes: Vec<Term> = (0..leaf.rank)
                .map(|axis| match leaf.static_size(axis) {
                    Some(n) => self.static_size(n),
                    None => self.g.lit_usize(0),
                })
                .collect();
            let lens = leaf.lens.iter().map(super::types::Len::tokens).collect();
            Output { term: self.g.broadcast(zero, &sizes), container: leaf.container, lens, role: leaf.role }
        })
    }

    /// A result that is a list of tuples of a length that is known before the elements.
    fn result_list(
        &mut self,
        of: &ListType,
        element: &Structure<Leaf>,
        value: &Value<'a>,
        range: SrcRange,
    ) -> Lowered<OutputTree> {
        let key = InferenceKey::at_address(self.state.source.address(), "result");
        let list = match value {
            Value::GrowableVec(list) if self.is_fixed(list) => Some(self.without_padding(list)),
            Value::List(parts) if !parts.is_empty() => {
                let len = self.g.lit_usize(parts.len());
                self.stack(value, len, &key, range)?
            }
            _ => None,
        };
        let leaves = element.leaves();
        let rows = match value {
            Value::Term(t) | Value::Nested(t, _) => Some(vec![*t]),
            _ => None,
        };
        let all = rows.or_else(|| {
            let list = list?;
            let (mut rows, mut all) = (list.all.iter(), Vec::new());
            self.rows_of(element, &list.form, &mut rows, &mut all)?;
            Some(all)
        });
        let fits = |all: &Vec<Term>| {
            let fits =
                |(leaf, &t): (&&Leaf, &Term)| self.g.elem(t) == leaf.elem && self.g.rank(t) == usize::from(leaf.rank);
            leaves.len() == all.len() && leaves.iter().zip(all).all(fits)
        };
        let Some(mut all) = all.filter(fits) else {
            let found = self.describe(value);
            let ty = self.input.sig().result_ty.to_string().replace(' ', "");
            return Err(self.error(range, catalogue::result_type(&found, &ty)));
        };
        for (t, leaf) in all.iter_mut().zip(&leaves) {
            *t = self.with_static_sizes(leaf, *t, range)?;
        }
        // There are as many arrays as leaves.
        let mut terms = all.iter().copied();
        let mut output = |leaf: &Leaf| {
            let lens = leaf.lens.iter().map(super::types::Len::tokens).collect();
            Output { term: terms.next().unwrap_or(all[0]), container: leaf.container, lens, role: leaf.role }
        };
        Ok(OutputTree::List(of.clone(), element.map(&mut output).into()))
    }

    /// The arrays of a list of elements of this type. An array literal in an element is one array
    /// with one more axis. `None` if the elements are of another structure.
    fn rows_of(
        &mut self,
        element: &Structure<Leaf>,
        form: &CarriedForm<'a>,
        rows: &mut std::slice::Iter<'_, Term>,
        out: &mut Vec<Term>,
    ) -> Option<()> {
        match (element, form) {
            (Structure::Defined(_, inner) | Structure::List(_, inner), form) => self.rows_of(inner, form, rows, out),
            (Structure::Tuple(types), CarriedForm::Tuple(forms) | CarriedForm::Struct(_, forms))
                if types.len() == forms.len() =>
            {
                types.iter().zip(forms).try_for_each(|(ty, form)| self.rows_of(ty, form, rows, out))
            }
            (Structure::Tuple(types), CarriedForm::Option(form)) if types.len() == 2 => {
                self.rows_of(&types[0], form, rows, out)?;
                out.push(rows.next().copied()?);
                Some(())
            }
            (Structure::Leaf(_), form) => {
                out.push(self.joined_rows(form, rows)?);
                Some(())
            }
            _ => None,
        }
    }

    fn joined_rows(&mut self, form: &CarriedForm<'a>, rows: &mut std::slice::Iter<'_, Term>) -> Option<Term> {
        match form {
            CarriedForm::Leaf { .. } => rows.next().copied(),
            CarriedForm::List(forms) => {
                let parts: Vec<Term> = forms.iter().map(|form| self.joined_rows(form, rows)).collect::<Option<_>>()?;
                let same_shape = parts.windows(2).all(|pair| self.g.shape(pair[0]) == self.g.shape(pair[1]));
                let all = self.g.stack(Some(&parts).filter(|parts| same_shape && !parts.is_empty())?);
                let last = ad_ir::ir::axis(self.g.rank(all));
                let perm: Vec<u8> = [1, 0].into_iter().chain(2..last).collect();
                Some(self.g.transpose(all, &perm))
            }
            _ => None,
        }
    }

    /// A term of the type of a leaf of the result.
    fn result_leaf(&mut self, leaf: &Leaf, value: Value<'a>, range: SrcRange) -> Lowered<Term> {
        let lens: Vec<Option<Term>> =
            (0..leaf.rank).map(|axis| leaf.static_size(axis).map(|n| self.static_size(n))).collect();
        let known: Option<Vec<Term>> = lens.iter().copied().collect();
        let value = self.with_sizes(value, &known.unwrap_or_default(), range)?;
        let term = self.term_as(&value, Want::Elem(leaf.elem), range)?;
        let rank = self.g.rank(term);
        if self.g.elem(term) != leaf.elem || rank != usize::from(leaf.rank) {
            let found = self.describe(&Value::Term(term));
            return Err(self.error(
                range,
                catalogue::result_type(&found, &self.input.sig().result_ty.to_string().replace(' ', "")),
            ));
        }
        self.with_static_sizes(leaf, term, range)
    }

    /// A part of the result with the sizes of its type. rustc guarantees that they agree. Here they
    /// may be different terms.
    fn with_static_sizes(&mut self, leaf: &Leaf, term: Term, range: SrcRange) -> Lowered<Term> {
        let lens: Vec<Option<Term>> =
            (0..leaf.rank).map(|axis| leaf.static_size(axis).map(|n| self.static_size(n))).collect();
        let mut shape = self.g.shape(term).to_vec();
        for (axis, len) in lens.iter().enumerate() {
            let Some(len) = *len else { continue };
            let words = [format!("axis {axis} of the result's type"), "the result".to_string()];
            self.equate(len, shape[axis], words, range)?;
            shape[axis] = len;
        }
        if lens.iter().any(Option::is_some) { Ok(self.g.recast(term, &shape)) } else { Ok(term) }
    }

    /// The size that a type states.
    pub(super) fn static_size(&mut self, len: &super::types::Len) -> Term {
        match len {
            super::types::Len::Number(n) => self.g.lit_usize(*n),
            super::types::Len::Named(path) => {
                let local = syn::parse2(path.clone()).ok().and_then(|e| self.local_size(&e));
                local.unwrap_or_else(|| self.constant(path, Elem::USIZE))
            }
        }
    }

    /// The size that a type in a body states.
    pub(super) fn stated_size(&mut self, len: &super::types::Len) -> Term {
        match len {
            super::types::Len::Named(path) if self.is_elsewhere() => {
                let local = syn::parse2(path.clone()).ok().and_then(|e| self.local_size(&e));
                let path = self.at_its_place(path);
                local.unwrap_or_else(|| self.constant(&path, Elem::USIZE))
            }
            len => self.static_size(len),
        }
    }

    /// Gives a value the sizes of its type. This fixes the length of `std::array::from_fn`.
    pub(super) fn with_sizes(&mut self, value: Value<'a>, lens: &[Term], range: SrcRange) -> Lowered<Value<'a>> {
        match (value, lens.split_first()) {
            (Value::FromFn(f), Some((&n, rest))) => {
                let mut levels = 0;
                let t = self.build_with(n, range, |me, i| {
                    let value = me.apply(&f, &[Value::Term(i)], range)?;
                    let value = me.with_sizes(value, rest, range)?;
                    levels = value.levels();
                    Ok(value)
                })?;
                Ok(Value::nested(&self.g, t, levels.saturating_add(1)))
            }
            (Value::List(parts), Some((_, rest))) if !rest.is_empty() => {
                let parts: Lowered<Vec<Value>> =
                    parts.iter().map(|p| self.with_sizes(p.clone(), rest, range)).collect();
                Ok(Value::List(parts?.into()))
            }
            (value, _) => Ok(value),
        }
    }

    // Errors and source locations.

    /// Reports an error.
    pub(super) fn error(&mut self, range: SrcRange, message: Message) -> Poison {
        self.state.diags.push(range, message)
    }

    /// Runs `f` with the location of `syntax` as the current source location.
    pub(super) fn at_syntax<R>(&mut self, syntax: &impl ToTokens, f: impl FnOnce(&mut Self) -> R) -> R {
        let tokens = syntax.to_token_stream();
        self.at_location(SourceLocation::of_range(SrcRange::of_stream(tokens.clone()), text_of(&tokens, TEXT)), f)
    }

    /// Runs `f` at a source location whose text in messages is given.
    pub(super) fn at_location<R>(&mut self, place: SourceLocation, f: impl FnOnce(&mut Self) -> R) -> R {
        let loc = self.state.source.add(place);
        let (outer, outer_g) = (self.state.source.enter(loc), self.g.at(loc));
        let result = f(self);
        self.state.source.leave(outer);
        self.g.at(outer_g);
        result
    }

    /// The source text of the current location.
    pub(super) fn current_text(&self) -> String {
        self.state.source.text()
    }

    /// Runs `f` one nesting level deeper. Reports an error at the maximum depth.
    pub(super) fn one_level_deeper<R>(
        &mut self,
        range: impl FnOnce() -> SrcRange,
        f: impl FnOnce(&mut Self) -> Lowered<R>,
    ) -> Lowered<R> {
        if self.state.nesting.enter().is_err() {
            return Err(self.state.diags.push(range(), catalogue::too_deep()));
        }
        let result = f(self);
        self.state.nesting.leave();
        result
    }

    /// The kind and rank of a value, for messages.
    pub(super) fn describe(&self, value: &Value) -> String {
        let (Value::Term(t) | Value::Nested(t, _)) = value else { return value.kind().to_string() };
        let (elem, rank) = (self.g.elem(*t), self.g.rank(*t));
        let elem = elem_name(elem, self.input.sig().real_param.as_ref());
        if rank == 0 { format!("`{elem}`") } else { format!("an array of rank {rank} of `{elem}`") }
    }

    // Values as terms.

    /// An array with one more axis. Its element i is `f(i)`.
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
        Ok(self.make_build(size, var, body))
    }

    /// [`Lower::build_with`] for several axes.
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
        Ok(sizes.iter().zip(vars).rev().fold(body, |body, (&size, var)| self.make_build(size, var, body)))
    }

    /// Makes a build. If the type of its elements comes from literals, the type of the build comes
    /// from the same literals.
    pub(super) fn make_build(&mut self, size: Term, var: ad_ir::ir::Var, body: Term) -> Term {
        let value = self.guard_element(size, var, body);
        let all = self.g.build(size, var, value);
        self.inference.inherit_literals(&self.g, all, body);
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

/// The arithmetic operation of a binary operator.
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
