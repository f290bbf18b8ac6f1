//! Functions with rules of their own: `#[custom_vjp(rule)]`, `#[custom_jvp(rule)]` and
//! `#[constant]`. A call of one is a call in the core language, which leaves a record with its
//! arguments and results. The rule is the other half of that call. Terms may be moved and computed
//! twice, and such a call may not. So each call has keys (`translation::rule_calls`), and the
//! records (`ad_runtime::Calls`) make one call for each key.
//!
//! This module must never read the body of such a function.

use std::rc::Rc;

use proc_macro2::TokenStream;
use quote::ToTokens;
use syn::{Attribute, GenericParam, ItemFn, Path, ReturnType};

use super::compiled_sig;
use super::definitions::Definitions;
use super::lower::Lower;
use super::recursion::Functions;
use super::shapes;
use super::sig::Sig;
use super::travel::{DefId, OuterDefinitions};
use super::types::{Leaf, Len};
use super::value::{Closure, Lowered, Value};
use crate::translation::cells::CellValue;
use crate::translation::inference::Inference;
use crate::translation::rule_calls::OuterCalls;
use crate::translation::run_input::RunInput;
use ad_ir::catalogue as words;
use ad_ir::descriptor::{Descriptor, Recipe, Structure};
use ad_ir::diag::{Diags, Message, Poison, SrcRange};
use ad_ir::ir::{Elem, RealTy, Term};
use ad_ir::mode::Mode;
use ad_ir::prim::structural::{ByRule, Callee, Extent, Half, Returns};
use ad_ir::prim::{IntOp, Prim};
use ad_ir::program::{Program, RuleFunction, Tree};

/// The marks of a function whose body is not read.
#[derive(Clone, Default)]
pub struct Rules {
    /// The rule for reverse mode.
    pub vjp: Option<Path>,
    /// The rule for forward mode.
    pub jvp: Option<Path>,
    /// Whether no derivative goes through its calls.
    pub constant: bool,
}

/// The names of the marks.
const MARKS: [&str; 3] = ["custom_vjp", "custom_jvp", "constant"];

/// Whether an attribute is one of these marks.
#[must_use]
pub fn is_rule(attr: &Attribute) -> bool {
    MARKS.iter().any(|mark| super::travel::is_mark(attr, mark))
}

impl Rules {
    /// The marks among these attributes. `None` if there are none.
    #[must_use]
    pub fn of(attrs: &[Attribute]) -> Option<Rules> {
        let mut found = None;
        for attr in attrs.iter().filter(|attr| is_rule(attr)) {
            let rules: &mut Rules = found.get_or_insert_default();
            let path = || attr.parse_args::<Path>().ok();
            match attr.path().segments.last().map(|s| s.ident.to_string()).as_deref() {
                Some("custom_vjp") => rules.vjp = path(),
                Some("custom_jvp") => rules.jvp = path(),
                _ => rules.constant = true,
            }
        }
        found
    }

    /// The marks as attributes.
    #[must_use]
    pub fn attributes(&self) -> Vec<Attribute> {
        let vjp = self.vjp.as_ref().map(|rule| syn::parse_quote!(#[custom_vjp(#rule)]));
        let jvp = self.jvp.as_ref().map(|rule| syn::parse_quote!(#[custom_jvp(#rule)]));
        let constant = self.constant.then(|| syn::parse_quote!(#[constant]));
        vjp.into_iter().chain(jvp).chain(constant).collect()
    }
}

/// The function as its definition has it: without a body, and with these marks.
#[must_use]
pub fn without_its_body(item: &ItemFn, rules: &Rules) -> ItemFn {
    let mut item = item.clone();
    item.attrs.retain(|attr| !is_rule(attr));
    item.attrs.extend(rules.attributes());
    item.block.stmts.clear();
    item
}

/// Refuses marks of this kind in a block.
pub fn refuse_rules(block: &syn::ItemImpl, diags: &mut Diags) {
    for item in &block.items {
        if let syn::ImplItem::Fn(f) = item
            && let Some(attr) = f.attrs.iter().find(|attr| is_rule(attr))
        {
            diags.push(SrcRange::of(attr), words::rule_on_a_method());
        }
    }
}

/// Reads the marks of an item. `first` is the mark that is expanded, with its arguments; other
/// marks are among the attributes.
pub fn read_marks(first: (&str, &TokenStream), item: &ItemFn, diags: &mut Diags) -> Rules {
    let mut rules = Rules::of(&item.attrs).unwrap_or_default();
    item.attrs.iter().filter(|attr| is_rule(attr)).for_each(|attr| check_attribute(attr, diags));
    let range = if first.1.is_empty() { SrcRange::of(&item.sig.ident) } else { SrcRange::of_stream(first.1.clone()) };
    check_mark(first, range, diags);
    match first.0 {
        "custom_vjp" => rules.vjp = syn::parse2(first.1.clone()).ok(),
        "custom_jvp" => rules.jvp = syn::parse2(first.1.clone()).ok(),
        _ => rules.constant = true,
    }
    check_combination(item, &rules, diags);
    rules
}

/// Checks the marks among the attributes of a function.
pub fn check_marks(item: &ItemFn, diags: &mut Diags) {
    item.attrs.iter().filter(|attr| is_rule(attr)).for_each(|attr| check_attribute(attr, diags));
    check_combination(item, &Rules::of(&item.attrs).unwrap_or_default(), diags);
}

fn check_combination(item: &ItemFn, rules: &Rules, diags: &mut Diags) {
    if rules.constant && (rules.vjp.is_some() || rules.jvp.is_some()) {
        diags.push(SrcRange::of(&item.sig.ident), words::constant_with_a_rule(&item.sig.ident.to_string()));
    }
    if let Some(receiver) = item.sig.receiver() {
        diags.push(SrcRange::of(receiver), words::rule_on_a_method());
    }
}

fn check_attribute(attr: &Attribute, diags: &mut Diags) {
    let mark = attr.path().segments.last().map_or_else(String::new, |s| s.ident.to_string());
    let arguments = match &attr.meta {
        syn::Meta::List(list) => list.tokens.clone(),
        _ => TokenStream::new(),
    };
    check_mark((&mark, &arguments), SrcRange::of(attr), diags);
}

fn check_mark((mark, arguments): (&str, &TokenStream), range: SrcRange, diags: &mut Diags) {
    let is_path = || syn::parse2::<Path>(arguments.clone()).is_ok();
    if mark == "constant" && !arguments.is_empty() {
        diags.push(range, words::constant_takes_nothing());
    } else if mark != "constant" && !is_path() {
        diags.push(range, words::one_rule(mark));
    }
}

/// The signature of a function with marks.
fn signature(item: &ItemFn, definitions: &Definitions, krate: &TokenStream, diags: &mut Diags) -> Lowered<Sig> {
    let mut item = item.clone();
    if matches!(item.sig.output, ReturnType::Default) {
        item.sig.output = syn::parse_quote!(-> ());
    }
    compiled_sig::of_rule(&item, definitions, (Mode::default(), krate), diags)
}

/// Reads the signature of a function with marks, at its definition. The program has no terms of
/// the body: its result has only the right types.
///
/// # Errors
///
/// All errors of the signature.
pub fn read_rule(
    item: &ItemFn,
    rules: &Rules,
    outside: &OuterDefinitions,
    krate: &TokenStream,
) -> Result<Program, Diags> {
    let mut diags = Diags::new();
    let outside = outside.prepared();
    let definitions = Definitions::of_body(&item.block, &outside);
    let Ok(sig) = signature(item, &definitions, krate, &mut diags) else { return Err(diags) };
    let name = item.sig.ident.to_string();
    for (param, input) in sig.declared.iter().zip(&item.sig.inputs) {
        if unsupported(&param.declared.parts.tree()) {
            diags.push(SrcRange::of(input), words::rule_signature(&name, "parameter"));
        }
    }
    if unsupported(&sig.result) {
        diags.push(SrcRange::of(&item.sig.output), words::rule_signature(&name, "result"));
    }
    for param in &item.sig.generics.params {
        if let GenericParam::Const(c) = param {
            diags.push(SrcRange::of(c), words::rule_const_parameter(&name, &c.ident.to_string()));
        }
    }
    let real = sig.result.leaves().iter().any(|leaf| leaf.is_active());
    if diags.is_empty() && !rules.constant && (sig.active.is_empty() || !real) {
        diags.push(SrcRange::of(&item.sig), words::rule_of_nothing_real(&name));
    }
    if !diags.is_empty() {
        return Err(diags);
    }
    let mut lower = Lower::new(RunInput::new(&sig, &definitions, &outside), Inference::default(), Functions::default());
    let result = lower.absent(&sig.result);
    let mut program = shapes::finish(lower, item, result, Vec::new());
    let active = |k: &usize| program.params[*k].is_active();
    program.active = (0..program.params.len()).filter(active).collect();
    let wrt = |k: &usize| program.declared[*k].parts.tree().leaves().into_iter().any(active);
    program.wrt = (0..program.declared.len()).filter(wrt).collect();
    program.cfgs = item.attrs.iter().filter(|a| a.path().is_ident("cfg")).map(ToTokens::to_token_stream).collect();
    Ok(program)
}

/// Whether a structure has lists or enums in it.
fn unsupported<L>(tree: &Tree<L>) -> bool {
    match tree {
        Tree::Leaf(_) => false,
        Tree::Tuple(parts) => parts.iter().any(unsupported),
        Tree::List(..) | Tree::Ragged(..) => true,
        Tree::Defined(of, inner) => of.has_sums || unsupported(inner),
    }
}

/// A function with marks, as a value.
pub(super) struct Ruled<'a> {
    item: &'a ItemFn,
    id: DefId,
    rules: Rules,
}

impl<'a> Lower<'a> {
    /// The function as an item with marks, if it has any.
    pub(super) fn ruled(&mut self, item: &'a ItemFn) -> Lowered<Option<Rc<Ruled<'a>>>> {
        let Some(rules) = Rules::of(&item.attrs) else { return Ok(None) };
        let definition = self.state.names.definition().and_then(|k| self.input.outside().list.get(k));
        let own = definition.filter(|d| matches!(&d.item, syn::Item::Fn(f) if std::ptr::eq(f, item)));
        let Some(id) = own.map(|d| d.id) else {
            let name = &item.sig.ident;
            return Err(self.error(SrcRange::of(name), words::rule_in_a_body(&name.to_string())));
        };
        Ok(Some(Rc::new(Ruled { item, id, rules })))
    }

    /// Begins to count the calls, if the function may make any.
    pub(super) fn count_rule_calls(&mut self) {
        let ruled = |item: &syn::Item| matches!(item, syn::Item::Fn(f) if Rules::of(&f.attrs).is_some());
        if self.input.outside().list.iter().any(|d| ruled(&d.item)) {
            self.begin_counter();
        }
    }

    fn begin_counter(&mut self) {
        let zero = self.g.lit_usize(0);
        let counter = self.state.cells.add_hidden(CellValue::Value(Value::Term(zero)));
        self.state.rule_calls.count_in(counter);
    }

    fn counted_calls(&self) -> Option<Term> {
        match self.state.cells.held(self.state.rule_calls.counter()?) {
            Some(&CellValue::Value(Value::Term(t))) => Some(t),
            _ => None,
        }
    }

    /// Enters a body that is lowered once for each index and carries no variables of the function.
    pub(super) fn enter_uncounted(&mut self, index: Option<Term>) -> OuterCalls {
        let counted = self.counted_calls();
        self.state.rule_calls.enter(counted, index)
    }

    /// Begins to count the calls in such a body. Its own variables exist already.
    pub(super) fn count_inside(&mut self) {
        if self.state.rule_calls.counter().is_some() {
            self.begin_counter();
        }
    }

    /// Whether the body has made calls.
    pub(super) fn made_calls(&self) -> bool {
        self.counted_calls().is_some_and(|t| self.g.int_value(t) != Some(0))
    }

    /// Leaves the body, with the variables of the function as they were before it.
    pub(super) fn leave_uncounted(&mut self, outer: &OuterCalls, made_calls: bool) {
        self.state.rule_calls.leave(outer);
        let counter = self.state.rule_calls.counter();
        if let (Some(cell), Some(before), true) = (counter, self.counted_calls(), made_calls) {
            let one = self.g.lit_usize(1);
            let after = self.g.int(IntOp::Add, before, one);
            self.state.cells.put(cell, CellValue::Value(Value::Term(after)));
        }
    }

    /// Calls a function whose body is not read.
    pub(super) fn call_ruled(
        &mut self,
        closure: &Closure<'a>,
        ruled: &Ruled<'a>,
        args: &[Value<'a>],
        range: SrcRange,
    ) -> Lowered<Value<'a>> {
        let name = ruled.item.sig.ident.to_string();
        if self.functions.is_of_a_call() {
            return Err(self.error(range, words::rule_in_recursion(&name)));
        }
        let Some(counted) = self.counted_calls() else { return Err(Poison) };
        let mut errors = Diags::new();
        let Ok(sig) = signature(ruled.item, self.input.definitions(), &self.input.sig().krate, &mut errors) else {
            return Err(self.reported_elsewhere(&errors));
        };
        let real = sig.real_param.as_ref().map(|_| self.real_among(args));
        let given = args.to_vec();
        let leaves = self.at_definition(closure.definition, |me| me.arguments(&sig, ruled, given, real, range))?;
        let callee = self.rule_callee(&sig, ruled, real, range)?;
        // The bridge of the function takes the number of calls from the first key.
        let mut all = vec![counted];
        all.extend(self.state.rule_calls.keys());
        all.extend(self.graph_inputs.example().and_then(|n| self.g.input(n)));
        all.extend(&leaves);
        for &leaf in &leaves {
            all.extend(self.g.shape(leaf).to_vec());
        }
        let reached = self.reached(&all);
        all.insert(0, reached);
        let made = self.g.prim(Prim::Call(callee.clone().into()), &all);
        let of_function = sig.result.leaves().len();
        let results: Vec<Term> = (0..).take(of_function).map(|k| self.g.returned(&callee, k, (made, &[]))).collect();
        let after = self.g.returned(&callee, u32::try_from(of_function).unwrap_or(u32::MAX), (made, &[]));
        if let Some(counter) = self.state.rule_calls.counter() {
            self.state.cells.put(counter, CellValue::Value(Value::Term(after)));
        }
        let ReturnType::Type(_, ty) = &ruled.item.sig.output else { return Ok(Value::Unit) };
        let tree = self.input.definitions().tree(ty, &sig.generics()).ok_or(Poison)?;
        self.value_of(&tree, &mut results.iter())
    }

    /// Fails because of the errors of a definition, which are shown at its own place.
    pub(crate) fn reported_elsewhere(&mut self, errors: &Diags) -> Poison {
        for error in errors.list() {
            let message = Message { report_left_to_rustc: true, ..error.message.clone() };
            self.state.diags.push(error.range, message);
        }
        Poison
    }

    /// The numbers and arrays of the arguments.
    fn arguments(
        &mut self,
        sig: &Sig,
        ruled: &Ruled<'a>,
        args: Vec<Value<'a>>,
        real: Option<Elem>,
        range: SrcRange,
    ) -> Lowered<Vec<Term>> {
        let mut leaves = Vec::new();
        for ((k, arg), input) in args.into_iter().enumerate().zip(&ruled.item.sig.inputs) {
            let syn::FnArg::Typed(typed) = input else { continue };
            let value = if real.is_some() { arg } else { self.ascribe(arg, &typed.ty, range)? };
            let tree = at_real(&sig.tree(k), real);
            leaves.extend(self.result(&tree, &value, range)?.terms());
        }
        Ok(leaves)
    }

    /// The type of the real numbers among values, for a function with a type parameter.
    pub(super) fn real_among(&self, args: &[Value<'a>]) -> Elem {
        fn among<'a>(me: &Lower<'a>, value: &Value<'a>) -> Option<Elem> {
            match value {
                Value::Term(t) | Value::Nested(t, _) => Some(me.g.elem(*t)).filter(|elem| elem.is_real()),
                Value::Tuple(parts) | Value::List(parts) | Value::Struct(_, parts) => {
                    parts.iter().find_map(|part| among(me, part))
                }
                Value::GrowableVec(list) => list.all.iter().map(|&t| me.g.elem(t)).find(|elem| elem.is_real()),
                _ => None,
            }
        }
        let own = if self.input.sig().real_param.is_some() { Elem::Real(RealTy::Param) } else { Elem::F64 };
        args.iter().find_map(|arg| among(self, arg)).unwrap_or(own)
    }

    /// The function as a call names it, with its results: those of the function, the number of
    /// calls after it, and the sizes that its type does not have.
    fn rule_callee(&mut self, sig: &Sig, ruled: &Ruled<'a>, real: Option<Elem>, range: SrcRange) -> Lowered<Callee> {
        let elem = |leaf: &Leaf| real.filter(|_| leaf.elem == Elem::Real(RealTy::Param)).unwrap_or(leaf.elem);
        let leaves = sig.result.leaves();
        let mut next = u32::try_from(leaves.len() + 1).unwrap_or(u32::MAX);
        let mut results = Vec::new();
        for leaf in &leaves {
            let sizes = (0..leaf.rank).map(|axis| match leaf.static_size(axis) {
                Some(Len::Number(n)) => Extent::Number(*n),
                _ => {
                    next += 1;
                    Extent::Result(next - 1)
                }
            });
            results.push(Returns { elem: elem(leaf), sizes: sizes.collect() });
        }
        let of_function = u32::try_from(leaves.len()).unwrap_or(u32::MAX);
        if next > of_function + 1 && (self.graph_inputs.example().is_some() || self.state.enclosing.in_loop()) {
            return Err(self.error(range, words::rule_size_in_a_loop(&sig.name.to_string())));
        }
        results.resize(next as usize, Returns { elem: Elem::USIZE, sizes: [].into() });
        let found = RuleFunction {
            id: ruled.id,
            name: sig.name.to_string(),
            real: real.unwrap_or(Elem::F64),
            params: sig.params.iter().map(|p| (elem(&p.leaf), p.leaf.rank)).collect(),
            results: leaves.iter().map(|leaf| (elem(leaf), leaf.rank)).collect(),
            vjp: ruled.rules.vjp.is_some(),
            jvp: ruled.rules.jvp.is_some(),
        };
        let is_active = !ruled.rules.constant;
        let keys =
            u32::try_from(self.state.rule_calls.keys().len() + 1 + usize::from(self.graph_inputs.example().is_some()))
                .unwrap_or(u32::MAX);
        let rule = Some(ByRule { keys, is_active });
        let function = self.functions.rule(found);
        let (half, active, passed) = (Half::Value, [].into(), [].into());
        Ok(Callee { function, half, active, passed, results: results.into(), direct: None, rule })
    }
}

/// A structure whose numbers of the type parameter are of this type.
fn at_real(tree: &Tree<Leaf>, real: Option<Elem>) -> Tree<Leaf> {
    tree.map(&mut |leaf| {
        let elem = real.filter(|_| leaf.elem == Elem::Real(RealTy::Param)).unwrap_or(leaf.elem);
        Leaf { elem, ..leaf.clone() }
    })
}

/// Refuses derivatives that cannot be had from the rules of the functions that are called.
pub(super) fn refuses(program: &Program, named: &[(&'static Descriptor, SrcRange)], diags: &mut Diags) -> bool {
    let called: Vec<Callee> = rules_in(program);
    let mut refused = false;
    for (d, at) in named {
        for callee in &called {
            let Some(function) = program.rules.get(callee.function as usize) else { continue };
            let active = callee.rule.is_some_and(|rule| rule.is_active);
            let message = match d.recipe {
                _ if d.returns == Structure::Sparse => Some(words::rule_in_a_sparse_jacobian(&function.name)),
                _ if !active => None,
                Recipe::Gradient | Recipe::Transposed | Recipe::Examples => {
                    (!function.vjp).then(|| words::rule_without_vjp(d.option, &function.name))
                }
                Recipe::Forward => (!function.jvp).then(|| words::rule_without_jvp(d.option, &function.name)),
                Recipe::Jacobian => match (function.vjp, function.jvp) {
                    (true, true) => None,
                    (false, _) => Some(words::rule_without_vjp(d.option, &function.name)),
                    (_, false) => Some(words::rule_without_jvp(d.option, &function.name)),
                },
                Recipe::Value | Recipe::Pattern => None,
                Recipe::HessianProduct | Recipe::Hessian | Recipe::Laplacian => {
                    Some(words::rule_differentiated(d.option, &function.name))
                }
            };
            if let Some(message) = message {
                diags.push(*at, message);
                refused = true;
                break;
            }
        }
    }
    refused
}

/// The calls of functions with rules that the result of a program depends on.
fn rules_in(program: &Program) -> Vec<Callee> {
    let g = &program.graph;
    let roots: Vec<Term> = program.result.terms();
    let mut found: Vec<Callee> = Vec::new();
    let mut stack = roots;
    let mut seen = ad_ir::sorted::SortedSet::new();
    while let Some(t) = stack.pop() {
        if !seen.insert(t) {
            continue;
        }
        match g.node(t) {
            ad_ir::ir::Node::Prim(Prim::Call(callee), _) if callee.rule.is_some() => {
                found.push((**callee).clone());
            }
            ad_ir::ir::Node::Scan(scan) => stack.extend(&scan.body.results),
            _ => {}
        }
        g.node(t).for_each_child(|c| stack.push(c));
    }
    found.sort();
    found.dedup();
    found
}
