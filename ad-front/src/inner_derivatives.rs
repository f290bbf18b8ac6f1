//! Derivatives that are called in a function: `g_grad(&x)`, `g_hvp(&x, &v)` and the others, for a
//! function `g` with `#[differentiate]`. The name of a derivative has a definition of its own
//! ([`items`]), which says which derivative of which function it is.
//!
//! A call lowers `g` twice: once with the arguments, for the checks and the value of `g`; and once
//! over placeholders for its active parameters, without checks. The second term becomes the body of
//! a loop with one step, and `Prim::Derived` is a derivative of that body. So a derivative sees the
//! parameters of its own `g` only.
//!
//! This module must never differentiate: `derivative::inner` in the middle does that.

use std::rc::Rc;

use proc_macro2::{Ident, TokenStream};
use quote::format_ident;
use syn::{Attribute, FnArg, Item, ItemFn, LitStr, Pat, ReturnType};

use super::attr;
use super::definitions::Definitions;
use super::definitions::tree::TypeTree;
use super::lower::Lower;
use super::sig::{self, Sig};
use super::travel::{OuterDefinitions, is_mark};
use super::types::{Leaf, Len};
use super::value::{Closure, Lowered, Value};
use ad_ir::catalogue as words;
use ad_ir::descriptor::{DERIVATIVES, Descriptor, Further, Recipe, Structure};
use ad_ir::diag::{Diags, Poison, SrcRange};
use ad_ir::ir::{Elem, Graph, Node, OpenLoop, Scan, Term};
use ad_ir::memory_order::HasLayouts;
use ad_ir::prim::Prim;
use ad_ir::prim::structural::{Derivation, DerivedPart};
use ad_ir::program::{Container, Tree};

/// The mark of the definition of a derivative.
const MARK: &str = "__ad_derivative";

/// Whether an attribute says that a definition is that of a derivative.
#[must_use]
pub fn is_derivative(attr: &Attribute) -> bool {
    is_mark(attr, MARK)
}

/// The mark of the definition of a derivative, read: the suffix of its name, the name of the
/// function, and the arguments of the function's attribute.
fn read_mark(item: &ItemFn) -> Option<(String, String, TokenStream)> {
    let parse = |input: syn::parse::ParseStream| {
        let (suffix, own): (LitStr, LitStr) = (input.parse()?, input.parse()?);
        let options: proc_macro2::Group = input.parse()?;
        Ok((suffix.value(), own.value(), options.stream()))
    };
    item.attrs.iter().find(|a| is_derivative(a))?.parse_args_with(parse).ok()
}

/// The derivative whose function has this suffix, and whether the function returns the value, too.
fn of_suffix(suffix: &str) -> Option<(&'static Descriptor, bool)> {
    let one = |d: &&'static Descriptor| d.functions().find(|f| f.suffix == suffix).map(|f| (*d, f.with_value));
    DERIVATIVES.iter().find_map(one)
}

/// The names that the derivatives of a function may have.
pub(super) fn names(stem: &Ident) -> impl Iterator<Item = String> {
    let all = DERIVATIVES.iter().flat_map(|d| d.functions());
    all.map(move |function| format!("{stem}_{}", function.suffix))
}

/// Whether a definition is that of a derivative for many examples, which takes arrays of any type.
pub(super) fn takes_examples(item: &ItemFn) -> bool {
    let which = read_mark(item).and_then(|(suffix, ..)| of_suffix(&suffix));
    which.is_some_and(|(d, _)| d.returns == Structure::Examples)
}

/// The definitions of the derivatives that an attribute writes next to a function. Each has the
/// derivative's own name and the generic parameters of the function, and calls the function.
/// `outside` has the types of the signature.
#[must_use]
pub fn items(attr: &TokenStream, function: &ItemFn, outside: &OuterDefinitions) -> Vec<ItemFn> {
    let mut diags = Diags::new();
    let options = attr::parse(attr.clone(), &mut diags);
    // This is an error, and the definitions would be one more.
    if function.attrs.iter().any(|other| options.writes_names_of(other)) {
        return Vec::new();
    }
    match sig::parse(function, &options, &Definitions::outside(outside), &mut diags) {
        Ok(sig) => items_of(attr, &options, function, &sig.derivatives),
        Err(_) => Vec::new(),
    }
}

/// The definitions of all derivatives that an attribute may write next to a function. Which of them
/// it writes by default depends on types.
#[must_use]
pub(super) fn possible_items(attr: &TokenStream, function: &ItemFn) -> Vec<ItemFn> {
    let options = attr::parse(attr.clone(), &mut Diags::new());
    let mut all: Vec<&'static Descriptor> = options.derivatives.iter().map(|d| d.0).collect();
    if all.is_empty() {
        let by_default = [true, false].into_iter().flat_map(ad_ir::descriptor::by_default);
        all.extend(by_default);
    }
    items_of(attr, &options, function, &all)
}

fn items_of(
    attr: &TokenStream,
    options: &attr::Attr,
    function: &ItemFn,
    derivatives: &[&'static Descriptor],
) -> Vec<ItemFn> {
    let (own, stem) = (&function.sig.ident, options.stem(&function.sig.ident));
    let one = |suffix: &str| {
        let mut item = function.clone();
        let (suffix_text, own_name) = (LitStr::new(suffix, own.span()), LitStr::new(&own.to_string(), own.span()));
        item.sig.ident = format_ident!("{stem}_{suffix}", span = own.span());
        item.attrs.retain(|a| a.path().is_ident("cfg"));
        let mark = Ident::new(MARK, own.span());
        item.attrs.push(syn::parse_quote!(#[#mark(#suffix_text #own_name { #attr })]));
        item.sig.output = ReturnType::Default;
        item.block = syn::parse_quote!({
            #own();
            |cotangent_| cotangent_
        });
        item
    };
    derivatives.iter().flat_map(|d| d.functions()).map(|function| one(function.suffix)).collect()
}

/// A derivative as a function of the body.
pub(super) struct InnerDerivative<'a> {
    /// Its name.
    name: String,
    /// The function that is differentiated, as an item and by the index of its definition.
    function: &'a ItemFn,
    at: usize,
    /// The arguments of its attribute.
    options: TokenStream,
    which: &'static Descriptor,
    with_value: bool,
    /// A pattern for a cotangent.
    cotangent: &'a Pat,
    /// The arguments of the function, in its pullback.
    given: Option<Rc<[Value<'a>]>>,
}

/// A call of a derivative, with the arguments taken apart.
struct Call<'c, 'a> {
    sig: Sig,
    which: &'c InnerDerivative<'a>,
    /// The numbers and arrays of the function's arguments.
    given: Vec<Term>,
    /// The value of the function, and its numbers and arrays.
    value: Value<'a>,
    results: Vec<Term>,
    /// The rows of the loop whose body is the function.
    rows: Vec<Term>,
    range: SrcRange,
}

impl<'a> Lower<'a> {
    /// The derivative of which an item is the definition, if it is one.
    pub(super) fn inner_derivative(&mut self, item: &'a ItemFn) -> Lowered<Option<Rc<InnerDerivative<'a>>>> {
        let Some((suffix, own, options)) = read_mark(item) else { return Ok(None) };
        let outside = self.input.outside();
        let at = outside.find(self.state.names.definition(), &own).ok_or(Poison)?;
        let Item::Fn(function) = &outside.list.get(at).ok_or(Poison)?.item else { return Err(Poison) };
        let (which, with_value) = of_suffix(&suffix).ok_or(Poison)?;
        let cotangent = match item.block.stmts.last() {
            Some(syn::Stmt::Expr(syn::Expr::Closure(c), _)) => c.inputs.first().ok_or(Poison)?,
            _ => return Err(Poison),
        };
        let name = item.sig.ident.to_string();
        Ok(Some(Rc::new(InnerDerivative { name, function, at, options, which, with_value, cotangent, given: None })))
    }

    /// Calls a derivative.
    pub(super) fn call_derivative(
        &mut self,
        closure: &Closure<'a>,
        which: &InnerDerivative<'a>,
        args: &[Value<'a>],
        range: SrcRange,
    ) -> Lowered<Value<'a>> {
        let name = which.name.clone();
        if matches!(which.which.returns, Structure::Sparse | Structure::Written | Structure::Examples) {
            return Err(self.error(range, words::inner_derivative_of_this_kind(&name, which.which.option)));
        }
        if which.which.returns == Structure::Closure && which.given.is_none() {
            return self.pullback(closure, which, args, range);
        }
        let args: Vec<Value<'a>> = which.given.iter().flat_map(|given| given.iter()).chain(args).cloned().collect();
        let call = self.inner_call(which, &name, &args, range)?;
        let seeds = self.seeds_of(&call, &args[call.sig.declared.len()..])?;
        let derived = self.structured(&call, &seeds)?;
        Ok(if which.with_value && which.given.is_none() {
            Value::Tuple(vec![call.value, derived].into())
        } else {
            derived
        })
    }

    /// The value of a function, and its pullback as a closure that has the arguments.
    fn pullback(
        &mut self,
        closure: &Closure<'a>,
        which: &InnerDerivative<'a>,
        args: &[Value<'a>],
        range: SrcRange,
    ) -> Lowered<Value<'a>> {
        let name = which.name.clone();
        let value = self.inner_call(which, &name, args, range)?.value;
        let given = Some(args.to_vec().into());
        let InnerDerivative { function, at, options, which, with_value, cotangent, .. } = which;
        let (options, with_value) = (options.clone(), *with_value);
        let derivative = InnerDerivative { name, function, at: *at, options, which, with_value, cotangent, given };
        let params = vec![(*cotangent, None)];
        let pullback = Closure { params, derivative: Some(Rc::new(derivative)), ..closure.clone() };
        Ok(Value::Tuple(vec![value, Value::Closure(Rc::new(pullback))].into()))
    }

    /// Calls the function itself, and closes it over its active parameters.
    fn inner_call<'c>(
        &mut self,
        which: &'c InnerDerivative<'a>,
        name: &str,
        args: &[Value<'a>],
        range: SrcRange,
    ) -> Lowered<Call<'c, 'a>> {
        let mut errors = Diags::new();
        let options = attr::parse(which.options.clone(), &mut errors);
        let Ok(sig) = sig::parse(which.function, &options, self.input.definitions(), &mut errors) else {
            return Err(self.reported_elsewhere(&errors));
        };
        if sig.fallible.is_some() {
            return Err(self.error(range, words::inner_derivative_of_a_fallible(name)));
        }
        let further = match (which.which.further, &which.given) {
            (Further::Cotangent, _) | (Further::Nothing, Some(_)) => 1,
            (Further::Directions(_), _) => sig.wrt.len(),
            (Further::Nothing | Further::Destinations, _) => 0,
        };
        let expected = sig.declared.len() + further;
        if expected != args.len() {
            return Err(self.error(range, words::closure_arity(expected, args.len())));
        }
        let items = self.state.names.hide_items();
        let function = self.at_definition(Some(which.at), |me| me.nested_function(which.function));
        self.state.names.show_items(items);
        let Value::Closure(function) = function? else { return Err(Poison) };
        let own = sig.name.to_string();
        if function.recursive.is_some() || function.ruled.is_some() {
            return Err(self.error(range, words::inner_derivative_of_calls(&own, name)));
        }
        let scope = self.state.names.enter(function.scope.clone());
        let call =
            self.at_definition(Some(which.at), |me| me.closed_function(which, (name, &function), sig, args, range));
        self.state.names.back_to(scope);
        call
    }

    /// [`Lower::inner_call`] in the scope of the function's own signature.
    fn closed_function<'c>(
        &mut self,
        which: &'c InnerDerivative<'a>,
        (name, function): (&str, &Closure<'a>),
        sig: Sig,
        args: &[Value<'a>],
        range: SrcRange,
    ) -> Lowered<Call<'c, 'a>> {
        let (args, _) = args.split_at(sig.declared.len());
        self.infer_sizes(function, args, range)?;
        let sig = self.at_its_place_and_type(sig, args);
        let mut given: Vec<Option<Term>> = vec![None; sig.params.len()];
        for (k, arg) in args.iter().enumerate() {
            let FnArg::Typed(typed) = &which.function.sig.inputs[k] else { return Err(Poison) };
            let generic = sig.real_param.is_some();
            let value = if generic { arg.clone() } else { self.ascribe(arg.clone(), &typed.ty, range)? };
            let terms = self.result(&sig.tree(k), &value, range)?.terms();
            sig.declared[k].leaves().into_iter().zip(terms).for_each(|(leaf, t)| given[leaf] = Some(t));
        }
        let given: Vec<Term> = given.into_iter().collect::<Option<_>>().ok_or(Poison)?;
        let arguments = self.arguments_of(which, &sig, &given)?;
        let value = self.call_inline(function, &arguments, range)?;
        let results = self.result(&sig.result, &value, range)?.terms();
        let mut over = given.clone();
        for &k in &sig.active {
            let ty = self.g.ty(given[k]).clone();
            over[k] = self.g.placeholder(ty);
            // A sum over the parameter has the order of the argument's elements.
            if let Some(order) = self.layouts().not_standard(given[k]) {
                self.layouts().note(over[k], order);
            }
        }
        let closed: Lowered<Vec<Term>> = self.differentiated_inside(which.which.recipe, |me| {
            me.trial(|me| {
                let arguments = me.arguments_of(which, &sig, &over)?;
                let value = me.call_inline(function, &arguments, range)?;
                Ok(me.result(&sig.result, &value, range)?.terms())
            })
        });
        let Ok(closed) = closed else {
            let own = sig.name.to_string();
            return Err(self.error(range, words::inner_derivative_of_sizes(&own, name)));
        };
        let of_function = sig.differentiated().leaves().len();
        let carried: Vec<Term> = sig.active.iter().map(|&k| over[k]).collect();
        let init: Vec<Term> = sig.active.iter().map(|&k| given[k]).collect();
        let mut closed = closed;
        closed.truncate(of_function);
        let mut whole = self.function_over((&init, &carried), &closed);
        let own = sig.name.to_string();
        if self.has_in_body(whole, &|node| matches!(node, Node::Prim(Prim::Call(_), _))) {
            return Err(self.error(range, words::inner_derivative_of_calls(&own, name)));
        }
        if self.has_in_body(whole, &|node| matches!(node, Node::Scan(scan) if is_unbounded(&self.g, scan))) {
            if self.state.enclosing.in_loop() {
                return Err(self.error(range, words::inner_derivative_without_a_bound(&own, name)));
            }
            // The steps of the loop are counted where the program reaches the call, and only there:
            // it might not end elsewhere.
            let reached = self.reached(&given);
            if self.g.bool_value(reached) != Some(true) {
                closed.iter_mut().for_each(|t| *t = self.masked(reached, *t));
                whole = self.function_over((&init, &carried), &closed);
            }
        }
        let active = carried.len();
        let rows = (0..of_function).map(|k| self.g.proj(whole, active + k)).collect();
        Ok(Call { sig, which, given, value, results, rows, range })
    }

    /// The loop of one step whose body is a function: the step carries the active parameters, and
    /// makes a row of each result.
    pub(super) fn function_over(&mut self, (init, carried): (&[Term], &[Term]), results: &[Term]) -> Term {
        let results = carried.iter().chain(results).copied().collect();
        let (count, step) = (self.g.lit_usize(1), self.g.fresh());
        let (init, carried) = (init.to_vec(), carried.to_vec());
        self.g.close_loop(&OpenLoop { count, reverse: false, stop: None, step, init, carried, results })
    }

    /// The signature with the sizes of its types as the place of the call knows them, and with the
    /// type of the arguments for a type parameter.
    fn at_its_place_and_type(&mut self, mut sig: Sig, args: &[Value<'a>]) -> Sig {
        let real = sig.real_param.is_some().then(|| self.real_among(args));
        let mut placed = |leaf: &Leaf| {
            let elem = real.filter(|_| leaf.elem == Elem::Real(ad_ir::ir::RealTy::Param)).unwrap_or(leaf.elem);
            let lens = leaf.lens.iter().map(|len| match len {
                Len::Named(path) => {
                    let local = syn::parse2(path.clone()).ok().and_then(|e| self.local_size(&e));
                    match local {
                        Some(_) => len.clone(),
                        None => Len::Named(self.at_its_place(path)),
                    }
                }
                number => number.clone(),
            });
            let lens = lens.collect();
            Leaf { elem, lens, ..leaf.clone() }
        };
        for param in &mut sig.params {
            param.leaf = placed(&param.leaf);
        }
        sig.result = sig.result.map(&mut placed);
        sig
    }

    /// The arguments of a function, given their numbers and arrays.
    fn arguments_of(&mut self, which: &InnerDerivative<'a>, sig: &Sig, terms: &[Term]) -> Lowered<Vec<Value<'a>>> {
        let argument = |k: usize| {
            let own: Vec<Term> = sig.declared[k].leaves().into_iter().map(|leaf| terms[leaf]).collect();
            let tree = self.tree_of_parameter(which, sig, k)?;
            self.value_of(&tree, &mut own.iter())
        };
        (0..sig.declared.len()).map(argument).collect()
    }

    fn tree_of_parameter(&self, which: &InnerDerivative<'a>, sig: &Sig, k: usize) -> Lowered<TypeTree<'a>> {
        let FnArg::Typed(typed) = &which.function.sig.inputs[k] else { return Err(Poison) };
        self.input.definitions().tree(&typed.ty, &sig.generics()).ok_or(Poison)
    }

    /// Whether a term of this kind is in the body of a loop, or in a body inside of it.
    pub(super) fn has_in_body(&self, whole: Term, holds: &dyn Fn(&Node) -> bool) -> bool {
        let (mut bodies, mut seen) = (vec![whole], ad_ir::sorted::SortedSet::new());
        while let Some(body) = bodies.pop() {
            let Node::Scan(scan) = self.g.node(body) else { continue };
            for t in self.g.reachable(&scan.body.results) {
                if holds(self.g.node(t)) {
                    return true;
                }
                if seen.insert(t) {
                    bodies.push(t);
                }
            }
        }
        false
    }

    /// The tangents or cotangents that a derivative is applied to.
    fn seeds_of(&mut self, call: &Call<'_, 'a>, further: &[Value<'a>]) -> Lowered<Vec<Term>> {
        let (sig, range) = (&call.sig, call.range);
        match call.which.which.further {
            Further::Directions(what) => {
                let mut seeds = Vec::new();
                for (&k, value) in sig.wrt.iter().zip(further) {
                    let terms = self.result(&sig.tree(k), value, range)?.terms();
                    for (leaf, seed) in sig.declared[k].leaves().into_iter().zip(terms) {
                        if sig.active.contains(&leaf) {
                            let label = &sig.params[leaf].label;
                            let both = [format!("`{label}`"), format!("the {what} of `{label}`")];
                            seeds.push(self.same_shape(call.given[leaf], seed, both, range)?);
                        }
                    }
                }
                Ok(seeds)
            }
            Further::Nothing | Further::Cotangent | Further::Destinations => {
                let own = &call.results[..call.rows.len()];
                let Some(cotangent) = further.first() else {
                    return Ok(own.iter().map(|&r| self.g.lit_like(r, 1.0)).collect());
                };
                let terms = self.result(sig.differentiated(), cotangent, range)?.terms();
                let both = || [format!("the result of `{}`", sig.name), "its cotangent".to_string()];
                own.iter().zip(terms).map(|(&r, seed)| self.same_shape(r, seed, both(), range)).collect()
            }
        }
    }

    /// The derivative in its structure.
    fn structured(&mut self, call: &Call<'_, 'a>, seeds: &[Term]) -> Lowered<Value<'a>> {
        let sig = &call.sig;
        let of_result = call.rows.len();
        match call.which.which.recipe {
            Recipe::Gradient | Recipe::Transposed | Recipe::HessianProduct => {
                let second = call.which.which.recipe == Recipe::HessianProduct;
                let derivation = if second { Derivation::HessianProduct } else { Derivation::Reverse };
                let mut terms = call.given.clone();
                for (part, &k) in sig.active.iter().enumerate() {
                    terms[k] = self.part(call, derivation, seeds, part, call.given[k], &[]);
                }
                let one = |k: &usize| {
                    let own: Vec<Term> = sig.declared[*k].leaves().into_iter().map(|leaf| terms[leaf]).collect();
                    let tree = self.tree_of_parameter(call.which, sig, *k)?;
                    self.value_of(&tree, &mut own.iter())
                };
                Ok(several(sig.wrt.iter().map(one).collect::<Lowered<_>>()?))
            }
            Recipe::Forward => {
                let mut terms = call.results[..of_result].to_vec();
                for (part, t) in terms.iter_mut().enumerate() {
                    if self.g.elem(*t).is_real() {
                        *t = self.part(call, Derivation::Forward, seeds, part, *t, &[]);
                    }
                }
                let ReturnType::Type(_, ty) = &call.which.function.sig.output else { return Err(Poison) };
                let mut tree = self.input.definitions().tree(ty, &sig.generics()).ok_or(Poison)?;
                if let (true, TypeTree::Tuple(parts)) = (sig.aux, &tree) {
                    tree = parts.first().cloned().ok_or(Poison)?;
                }
                self.value_of(&tree, &mut terms.iter())
            }
            Recipe::Laplacian => {
                let like = call.results[0];
                Ok(Value::Term(self.part(call, Derivation::Laplacian, &[], 0, like, &[])))
            }
            Recipe::Jacobian | Recipe::Hessian => self.blocks(call),
            Recipe::Value | Recipe::Pattern | Recipe::Examples => Err(Poison),
        }
    }

    /// The blocks of a Jacobian or of a Hessian: the structure of the parameters outside, that of
    /// the results inside.
    fn blocks(&mut self, call: &Call<'_, 'a>) -> Lowered<Value<'a>> {
        let sig = &call.sig;
        let second = call.which.which.recipe == Recipe::Hessian;
        let derivation = if second { Derivation::Hessian } else { Derivation::Jacobian };
        let mut outer = Vec::new();
        for &k in &sig.wrt {
            let numbers = sig.declared[k].declared.parts.tree().of_blocks();
            let results = match second {
                // There is one active parameter, with itself.
                true => numbers.map(&mut |&leaf| (sig.active.iter().position(|&a| a == leaf), call.given[leaf], leaf)),
                false => {
                    let mut next = 0;
                    let of_result = sig.differentiated().clone().of_blocks();
                    let place = |_: &Leaf| {
                        next += 1;
                        (Some(next - 1), call.results[next - 1], next - 1)
                    };
                    of_result.map(&mut { place })
                }
            };
            let count = if second { sig.active.len() } else { call.rows.len() };
            let block = |me: &mut Self, leaf: usize| {
                let Some(row) = sig.active.iter().position(|&a| a == leaf) else {
                    return Value::Term(call.given[leaf]);
                };
                let inner = results.map(&mut |&(column, like, of): &(Option<usize>, Term, usize)| {
                    let leaf_of = if second { &sig.params[of].leaf } else { sig.differentiated().leaves()[of] };
                    let Some(column) = column.filter(|_| me.g.elem(like).is_real()) else {
                        return (like, leaf_of.clone());
                    };
                    let (shape, own) = (me.g.shape(call.given[leaf]).to_vec(), call.given[leaf]);
                    let made = me.part(call, derivation, &[], row * count + column, own, &{
                        let of_result = me.g.shape(like).to_vec();
                        of_result.into_iter().chain(shape).collect::<Vec<_>>()
                    });
                    (made, leaf_of.clone())
                });
                let is_static = |leaf: &Leaf| matches!(leaf.container, Container::Scalar | Container::Static);
                let own = is_static(&sig.params[leaf].leaf);
                value_tree(&inner.map(&mut |(t, leaf)| {
                    let levels = if own && is_static(leaf) { u8::MAX } else { 0 };
                    Value::nested(&me.g, *t, levels)
                }))
            };
            outer.push(value_tree(&numbers.map(&mut |&leaf| block(self, leaf))));
        }
        Ok(several(outer))
    }

    /// An array of a derivative. It has the element type of `like`, and its shape if no other is
    /// given.
    fn part(
        &mut self,
        call: &Call<'_, 'a>,
        derivation: Derivation,
        seeds: &[Term],
        part: usize,
        like: Term,
        shape: &[Term],
    ) -> Term {
        let number = |n: usize| u32::try_from(n).unwrap_or(u32::MAX);
        let (elem, own) = (self.g.elem(like), self.g.shape(like).to_vec());
        let (results, active) = (number(call.rows.len()), number(call.sig.active.len()));
        let of = DerivedPart { derivation, results, active, part: number(part), elem };
        let sizes = if shape.is_empty() { &own } else { shape };
        let args: Vec<Term> = call.rows.iter().chain(seeds).chain(sizes).copied().collect();
        self.g.prim(Prim::Derived(of.into()), &args)
    }

    /// Whether the function calls derivatives of others.
    pub(super) fn has_inner_derivatives(&self) -> bool {
        let derivative = |item: &Item| matches!(item, Item::Fn(f) if f.attrs.iter().any(is_derivative));
        self.input.outside().list.iter().any(|d| derivative(&d.item))
    }
}

/// Whether nothing but a condition ends a loop.
pub(super) fn is_unbounded(g: &Graph, scan: &Scan) -> bool {
    scan.stop.is_some() && g.int_value(scan.count) == Some(i128::from(u64::MAX))
}

/// A value, or a tuple of several.
fn several(mut values: Vec<Value<'_>>) -> Value<'_> {
    if values.len() == 1 { values.remove(0) } else { Value::Tuple(values.into()) }
}

/// The value of a structure of values.
fn value_tree<'a>(tree: &Tree<Value<'a>>) -> Value<'a> {
    match tree {
        Tree::Leaf(value) => value.clone(),
        Tree::Tuple(parts) | Tree::Ragged(_, parts) => Value::Tuple(parts.iter().map(value_tree).collect()),
        Tree::List(_, inner) | Tree::Defined(_, inner) => value_tree(inner),
    }
}
