//! Functions that are compiled on their own: those that may call themselves, directly or through
//! others, and those whose calls would expand to too many bodies (`closure_conversion` makes such
//! functions of closures). Such a function is lowered once, as a program of its own, and a call of
//! it is a call in the core language. All other functions are lowered at each call (`called`).
//!
//! Items are in scope in a function of this kind, and variables are not. So it is an ordinary
//! function with a signature, to whose body the items around it are added.
//!
//! This module must never decide what a function computes.

mod call_graph;
mod packed;
pub(super) mod sizes;

use ad_ir::sorted::{SortedMap, SortedSet};
use std::cell::{Cell, RefCell};
use std::rc::Rc;

use quote::ToTokens;
use syn::{Block, Item, ItemFn, Stmt};

use super::compiled_sig;
use super::definitions::Definitions;
use super::lower::Lower;
use super::sig::Sig;
use super::travel::OuterDefinitions;
use super::types::Len;
use super::value::{Lowered, Value};
use crate::translation::items::{Around, name_of};
use ad_ir::catalogue;
use ad_ir::descriptor::{Descriptor, Recipe};
use ad_ir::diag::{Diags, Poison, SrcRange};
use ad_ir::ir::Term;
use ad_ir::prim::Prim;
use ad_ir::prim::structural::{Callee, Half};
use ad_ir::program::{
    Container, Declared, Output, OutputTree, Owner, ParamTree, Passing, Program, Role, RuleFunction, Tree,
};
use ad_ir::rust_types;
use call_graph::{Sizes, all_calls, calls, functions_among, large_among, recursive_among};
use sizes::{FoundSize, ResultSize, SizesOfCall};

/// A function whose calls expand to more bodies than these is compiled on its own.
pub(super) const LARGE: usize = 32;

/// A function that is compiled on its own.
pub(super) struct Recursive<'a> {
    item: &'a ItemFn,
    /// The items in scope at the function.
    beside: Rc<[&'a Item]>,
    definition: Option<usize>,
}

/// The functions that are compiled on their own, by their numbers. All runs of the front end share
/// them, since a function does not depend on its calls.
#[derive(Clone, Default)]
pub(super) struct Functions {
    all: Rc<RefCell<Vec<Compiled>>>,
    known: Rc<Findings>,
    /// The parameters that calls of this run change.
    changed: Rc<RefCell<SortedSet<(String, usize)>>>,
    /// The types of the results of closures, by their texts as functions. `None` if a closure
    /// cannot be compiled on its own.
    closures: Rc<RefCell<SortedMap<String, Option<String>>>>,
    /// The functions with rules of their own that are called.
    rules: Rc<RefCell<Vec<RuleFunction>>>,
    /// The sizes of results that this run has found.
    sizes: Rc<RefCell<SortedMap<ResultSize, FoundSize>>>,
    /// The functions of which this run has guessed sizes of results.
    guessed: Rc<RefCell<SortedSet<u32>>>,
    /// The number of calls that this run has lowered.
    calls: Rc<Cell<usize>>,
    /// The index of the function that is being lowered.
    current: Option<usize>,
    /// The guesses of sizes that calls of this run return. A list that no run has used has none.
    guesses: sizes::Guesses,
}

/// The findings of earlier runs of the front end about the functions, by their texts. They are
/// lowered until nothing new is found (`shapes::lower`).
#[derive(Clone, Default, PartialEq, Eq)]
pub(super) struct Findings {
    /// The functions that may panic.
    panicking: SortedSet<String>,
    /// The arguments for which a call among these functions passes anything but the caller's own
    /// parameter, by their numbers in `packed`.
    changed: SortedSet<(String, usize)>,
    /// The sizes of results that no type has.
    sizes: SortedMap<ResultSize, FoundSize>,
}

struct Compiled {
    item: Rc<ItemFn>,
    /// The text of the function, with everything that is in scope.
    text: String,
    definition: Option<usize>,
    /// `None` if the signature has errors.
    sig: Option<Rc<Sig>>,
    errors: Diags,
}

impl Compiled {
    /// The key of the function among the findings of its sizes.
    fn key(&self) -> (String, Option<usize>) {
        (self.text.clone(), self.definition)
    }
}

impl Functions {
    /// Counts a call, and returns the number so far.
    pub(super) fn counted(&self) -> usize {
        self.calls.set(self.calls.get() + 1);
        self.calls.get()
    }

    /// An empty list, with the findings of earlier runs.
    pub(super) fn knowing(known: Findings) -> Functions {
        Functions { known: known.into(), ..Functions::default() }
    }

    /// The findings about the functions, after they have been lowered.
    pub(super) fn found(&self, lowered: &[Program]) -> Findings {
        let (all, mut known) = (self.all.borrow(), (*self.known).clone());
        let found = all.iter().zip(lowered).filter(|(_, f)| !f.checks.is_empty());
        known.panicking.extend(found.map(|(compiled, _)| compiled.text.clone()));
        known.changed.extend(self.changed.borrow().iter().cloned());
        known.sizes.extend(self.sizes.borrow().clone());
        known
    }

    /// Whether a function that is compiled on its own is being lowered.
    pub(super) fn is_of_a_call(&self) -> bool {
        self.current.is_some()
    }

    /// The number of a function with a rule of its own.
    pub(super) fn rule(&self, found: RuleFunction) -> u32 {
        let mut all = self.rules.borrow_mut();
        let known = all.iter().position(|other| (other.id, other.real) == (found.id, found.real));
        let number = known.unwrap_or_else(|| {
            all.push(found);
            all.len() - 1
        });
        u32::try_from(number).unwrap_or(u32::MAX)
    }

    /// The type of the result of a closure with this text as a function. `None` if it is not known
    /// yet. `Some(None)` if the closure cannot be compiled on its own.
    pub(super) fn result_of_closure(&self, text: &str) -> Option<Option<String>> {
        self.closures.borrow().get(text).cloned()
    }

    /// Notes the type of the result of a closure.
    pub(super) fn note_result_of_closure(&self, text: String, result: Option<String>) {
        self.closures.borrow_mut().insert(text, result);
    }

    /// Whether a function may panic.
    fn may_panic(&self, number: u32) -> bool {
        self.all.borrow().get(number as usize).is_some_and(|f| self.known.panicking.contains(&f.text))
    }

    /// The facts about the functions that are found even if their caller has errors.
    pub(super) fn found_without_caller(&self, (definitions, outside): (&Definitions, &OuterDefinitions)) -> Findings {
        let mut number = 0;
        while self.lowered(number, (definitions, outside), &mut Diags::new()).is_some() {
            number += 1;
        }
        self.found(&[])
    }

    /// Lowers the function with this number. `None` if there is none with a valid signature.
    fn lowered(
        &self,
        number: usize,
        (definitions, outside): (&Definitions, &OuterDefinitions),
        diags: &mut Diags,
    ) -> Option<Lowered<Program>> {
        let (item, definition, sig) = {
            let all = self.all.borrow();
            let compiled = all.get(number)?;
            (Rc::clone(&compiled.item), compiled.definition, compiled.sig.clone()?)
        };
        let here = Functions { current: Some(number), ..self.clone() };
        Some(super::shapes::one(&sig, &item, definitions, (outside, definition), &here, diags))
    }

    /// Lowers the functions, and adds them to the program that calls them. Their bodies may call
    /// further functions.
    pub(super) fn add_to(
        &self,
        program: &mut Program,
        (definitions, outside): (&Definitions, &OuterDefinitions),
        diags: &mut Diags,
    ) -> Lowered<()> {
        while let Some(function) = self.lowered(program.functions.len(), (definitions, outside), diags) {
            let mut function = by_leaves(function?);
            program.assumed.append(&mut function.assumed);
            program.bound.append(&mut function.bound);
            program.consts.append(&mut function.consts);
            function.locals = Rc::clone(&program.locals);
            program.functions.push(function);
        }
        program.rules = self.rules.borrow().iter().cloned().collect();
        program.turbofishes = program.functions.iter().map(|f| f.turbofish.clone()).collect();
        for function in &mut program.functions {
            function.turbofishes = Rc::clone(&program.turbofishes);
        }
        Ok(())
    }
}

impl<'a> Lower<'a> {
    /// Enters a block: its items are visible.
    pub(super) fn enter_items(&mut self, block: &'a Block) -> Around<'a> {
        let around = self.state.items.around();
        let own: Vec<&'a Item> =
            block.stmts.iter().filter_map(|s| if let Stmt::Item(item) = s { Some(item) } else { None }).collect();
        if !own.is_empty() {
            self.see(&own);
        }
        around
    }

    fn see(&mut self, own: &[&'a Item]) {
        let all = functions_among(own);
        let itself = recursive_among(&all);
        let mut compiled = SortedSet::new();
        if self.only_first_derivatives() {
            let large = large_among(&all, &itself).into_iter().filter(|f| self.can_be_compiled(f));
            compiled.extend(large.map(|f| f.sig.ident.to_string()));
        }
        compiled.extend(itself);
        self.state.items.add(own, compiled);
    }

    /// Leaves for the place of a definition, where the items of the enclosing blocks are not
    /// visible. It is called before the place is entered.
    pub(super) fn at_items_of(&mut self, definition: Option<usize>) -> Around<'a> {
        let around = self.state.items.around();
        if definition != self.state.names.definition() {
            self.state.items.hide_all();
        }
        around
    }

    /// Binds the name of the annotated function in its own body, if it calls itself.
    pub(super) fn bind_itself(&mut self, item: &'a ItemFn) -> Lowered<()> {
        let name = item.sig.ident.to_string();
        // A bare name in a method is the name of another function.
        if self.input.sig().within.is_some() || !calls(item).contains(&name) || self.state.names.get(&name).is_some() {
            return Ok(());
        }
        self.state.items.add_itself(name.clone());
        let function = self.nested_function(item)?;
        self.state.names.bind_item(name, Some(function));
        Ok(())
    }

    /// The function as an item, if it may call itself.
    pub(super) fn recursive(&self, item: &'a ItemFn) -> Option<Rc<Recursive<'a>>> {
        let (beside, definition) = (Rc::clone(self.state.items.all()), self.state.names.definition());
        let own = item.sig.ident.to_string();
        // A marked function is in scope in its own body.
        let again = || calls(item).contains(&own) || self.calls_itself_through_others();
        let marked = || self.is_itself(&own) && (again() || self.is_large_definition(item));
        let found = self.state.items.is_compiled(&own) || marked();
        found.then(|| Rc::new(Recursive { item, beside, definition }))
    }

    /// Whether a call of the definition that is being lowered may lead to another call of it.
    fn calls_itself_through_others(&self) -> bool {
        let Some(first) = self.state.names.definition() else { return false };
        let outside = self.input.outside();
        let called = |k: usize| -> Vec<usize> {
            let names = match outside.list.get(k).map(|d| &d.item) {
                Some(Item::Fn(f)) => all_calls(f),
                _ => Vec::new(),
            };
            names.into_iter().filter_map(|name| outside.find(Some(k), &name)).collect()
        };
        let (mut seen, mut open) = (SortedSet::new(), called(first));
        while let Some(k) = open.pop() {
            if k == first {
                return true;
            }
            if seen.insert(k) {
                open.extend(called(k));
            }
        }
        false
    }

    /// Whether only derivatives are wanted that calls support.
    pub(super) fn only_first_derivatives(&self) -> bool {
        let plain = self.state.rule_calls.counter().is_none() && !self.has_inner_derivatives();
        plain && self.input.sig().examples.is_empty() && self.input.sig().derivatives.iter().all(|d| is_first(d))
    }

    /// Whether a call knows all sizes in the function's signature. If not, the function is lowered
    /// at each call.
    pub(super) fn can_be_compiled(&self, f: &ItemFn) -> bool {
        let mut errors = Diags::new();
        let sig = compiled_sig::of_function(
            f,
            self.input.definitions(),
            (self.input.sig().mode, &self.input.sig().krate),
            &[],
            &mut errors,
        );
        let real = |sig: &Sig| sig.real_param.is_none() || self.input.sig().real_param.is_some();
        sig.is_ok_and(|sig| real(&sig) && refused(&sig, f, (false, &mut errors)).is_ok()) && errors.is_empty()
    }

    /// Whether the calls of the marked function that is being lowered expand to many bodies.
    fn is_large_definition(&self, f: &ItemFn) -> bool {
        let Some(first) = self.state.names.definition().filter(|_| self.only_first_derivatives()) else { return false };
        let outside = self.input.outside();
        let called = |k: usize| {
            let names = match outside.list.get(k).map(|d| &d.item) {
                Some(Item::Fn(f)) => all_calls(f),
                _ => Vec::new(),
            };
            names.into_iter().filter_map(|name| outside.find(Some(k), &name)).collect()
        };
        Sizes { called: &called, found: SortedMap::new() }.of(first) > LARGE && self.can_be_compiled(f)
    }

    /// Calls a function that is compiled on its own.
    pub(super) fn call_compiled(
        &mut self,
        f: &Recursive<'a>,
        args: &[Value<'a>],
        range: SrcRange,
    ) -> Lowered<Value<'a>> {
        let compiled = self.compiled(f)?;
        self.call_number(compiled, &f.item.sig, args, range)
    }

    /// Calls a function that is compiled on its own, by its number.
    pub(super) fn call_number(
        &mut self,
        (number, sig): (u32, Rc<Sig>),
        declared: &syn::Signature,
        args: &[Value<'a>],
        range: SrcRange,
    ) -> Lowered<Value<'a>> {
        if sig.real_param.is_some() && self.input.sig().real_param.is_none() {
            let name = sig.name.to_string();
            return Err(self.error(range, catalogue::recursive_generic(&name)));
        }
        let first = sig.before();
        if sig.declared.len() - first != args.len() {
            return Err(self.error(range, catalogue::closure_arity(sig.declared.len() - first, args.len())));
        }
        let mut leaves = Vec::new();
        for ((k, arg), input) in args.iter().enumerate().zip(&declared.inputs) {
            let syn::FnArg::Typed(typed) = input else { continue };
            let value = self.ascribe(arg.clone(), &typed.ty, range)?;
            leaves.extend(self.result(&sig.tree(first + k), &value, range)?.terms());
        }
        let given = self.packed_arguments((number, &sig), &leaves)?;
        let SizesOfCall { results, sizes } = self.results_of_call((number, &sig), &leaves, range)?;
        let direct = match (&sig.result, &*results) {
            (Tree::Leaf(_), [one]) if one.sizes.is_empty() => Some(one.elem),
            _ => None,
        };
        let reached = self.reached(&given);
        let (inputs, terms) = ((&self.g, &self.graph_inputs), (&given[..], &leaves[..]));
        let passed = self.functions.unchanged((number, &sig), inputs, terms);
        let (half, active) = (Half::Value, [].into());
        let callee = Callee { function: number, half, active, passed, results, direct, rule: None };
        let all: Vec<Term> = std::iter::once(reached).chain(given).chain(sizes.iter().copied()).collect();
        let made = self.g.prim(Prim::Call(callee.clone().into()), &all);
        if self.functions.may_panic(number) {
            self.require_finished(made);
        }
        if direct.is_some() {
            return Ok(Value::Term(made));
        }
        let mut results = Vec::new();
        for (k, leaf) in (0..).zip(sig.result.leaves()) {
            let t = self.g.returned(&callee, k, (made, &sizes));
            // The elements of a static array may be arrays.
            let levels = if leaf.lens.is_empty() { 0 } else { u8::MAX };
            results.push(Value::nested(&self.g, t, levels));
        }
        if let (Tree::Leaf(_), [leaf]) = (&sig.result, &results[..]) {
            return Ok(leaf.clone());
        }
        self.parameter_of(&sig.result_ty, &results).ok_or(Poison)
    }

    /// The condition under which the function reaches this point without a panic. A call is made
    /// only then, since a function that calls itself would not return otherwise.
    pub(super) fn reached(&mut self, args: &[Term]) -> Term {
        let mut left = self.path_not_taken();
        for ok in self.passed() {
            if self.g.bool_value(ok) != Some(true) && self.g.free(ok).is_empty() {
                let failed = self.g.not(ok);
                left = self.g.or(left, failed);
            }
        }
        let of: Vec<Term> = args.iter().copied().chain([left]).collect();
        left = self.stopped_if_unreached(left, &of);
        self.g.not(left)
    }

    /// The number and the signature of a function.
    fn compiled(&mut self, f: &Recursive<'a>) -> Lowered<(u32, Rc<Sig>)> {
        let (attrs, vis) = (Vec::new(), syn::Visibility::Inherited);
        let item = ItemFn { attrs, vis, ..f.item.clone() };
        let own = item.sig.ident.to_string();
        let itself = !f.beside.iter().any(|i| name_of(i).as_ref() == Some(&own));
        self.compiled_item(item, &f.beside, itself, f.definition)
    }

    /// The index and the signature of a function that is compiled on its own. Its body sees these
    /// items, and the function itself if `itself` holds.
    pub(super) fn compiled_item(
        &mut self,
        mut item: ItemFn,
        beside: &[&'a Item],
        itself: bool,
        definition: Option<usize>,
    ) -> Lowered<(u32, Rc<Sig>)> {
        let visible = beside.iter().filter(|i| name_of(i).is_some() || is_type(i));
        let mut stmts: Vec<Stmt> = visible.map(|&i| Stmt::Item(i.clone())).collect();
        if itself {
            stmts.push(Stmt::Item(Item::Fn(item.clone())));
        }
        stmts.append(&mut item.block.stmts);
        item.block.stmts = stmts;
        let text = item.to_token_stream().to_string();
        let same = |c: &Compiled| c.text == text && c.definition == definition;
        let found = self.functions.all.borrow().iter().position(same);
        let number = match found {
            Some(number) => number,
            None => self.compile(item, text, definition),
        };
        let (sig, errors) = {
            let all = self.functions.all.borrow();
            (all[number].sig.clone(), all[number].errors.clone())
        };
        for d in errors.list() {
            self.error(d.range, d.message.clone());
        }
        match sig {
            Some(sig) if errors.is_empty() => Ok((u32::try_from(number).unwrap_or(u32::MAX), sig)),
            _ => Err(Poison),
        }
    }

    /// Adds a function that is compiled on its own. Its body is lowered later.
    fn compile(&mut self, item: ItemFn, text: String, definition: Option<usize>) -> usize {
        let mut errors = Diags::new();
        let read = |packed: &[usize], errors: &mut Diags| {
            compiled_sig::of_function(
                &item,
                self.input.definitions(),
                (self.input.sig().mode, &self.input.sig().krate),
                packed,
                errors,
            )
            .ok()
        };
        let mut sig = read(&[], &mut errors);
        let packed = sig.as_ref().map_or(Vec::new(), |sig| self.functions.packed(&text, sig, self.input.definitions()));
        if !packed.is_empty() {
            sig = read(&packed, &mut errors);
        }
        let sig = sig.filter(|sig| refused(sig, &item, (true, &mut errors)).is_ok() && errors.is_empty()).map(Rc::new);
        let mut all = self.functions.all.borrow_mut();
        all.push(Compiled { item: item.into(), text, definition, sig, errors });
        all.len() - 1
    }
}

/// Refuses the derivatives that do not support calls of functions that are compiled on their own.
pub(super) fn refuses(program: &Program, named: &[(&'static Descriptor, SrcRange)], diags: &mut Diags) -> bool {
    let Some(function) = program.functions.first() else { return false };
    let others = named.iter().filter(|(d, _)| !is_first(d));
    for (d, at) in others.clone() {
        diags.push(*at, catalogue::derivative_of_recursion(d.option, &function.name.to_string()));
    }
    others.count() > 0
}

/// Whether a derivative supports calls of functions that are compiled on their own.
pub(super) fn is_first(d: &Descriptor) -> bool {
    matches!(d.recipe, Recipe::Gradient | Recipe::Transposed | Recipe::Forward | Recipe::Jacobian)
}

/// Whether there is a list of tuples.
fn has_lists<L>(tree: &Tree<L>) -> bool {
    match tree {
        Tree::Leaf(_) => false,
        Tree::Tuple(parts) => parts.iter().any(has_lists),
        Tree::List(..) | Tree::Ragged(..) => true,
        Tree::Defined(_, inner) => has_lists(inner),
    }
}

/// Refuses a result whose sizes a call cannot know. `arrays`: whether arrays of sizes that are not
/// in the type are understood.
fn refused(sig: &Sig, item: &ItemFn, (arrays, errors): (bool, &mut Diags)) -> Lowered<()> {
    let name = item.sig.ident.to_string();
    let number = |leaf: &&super::types::Leaf| {
        (0..leaf.rank).all(|axis| match leaf.static_size(axis) {
            Some(len) => matches!(len, Len::Number(_)),
            None => arrays,
        })
    };
    if has_lists(&sig.result) || !sig.result.leaves().iter().all(number) {
        return Err(errors.push(SrcRange::of(&item.sig.output), catalogue::recursive_signature(&name)));
    }
    Ok(())
}

/// The function with numbers and arrays as its parameters and results. An array is a slice of its
/// elements.
fn by_leaves(mut program: Program) -> Program {
    for param in &mut program.params {
        let numbers = param.rank == 0;
        param.container = if numbers { Container::Scalar } else { Container::Slice };
        param.passing = if numbers { Passing::value(Owner::Any) } else { Passing::reference(Owner::Slice) };
        param.lens = Vec::new();
        param.label = param.name.to_string();
        // The tag of an enum needs no test in a call: its value comes from the caller, and a
        // cotangent has the same variant as its value.
        param.role = Role::Data;
    }
    let declared = program.params.iter().enumerate().map(|(k, param)| Declared {
        name: param.name.clone(),
        label: param.label.clone(),
        ty: rust_types::argument_type(&program, param.container, param.elem, usize::from(param.rank), &[]),
        parts: ParamTree::Leaf(k),
    });
    program.declared = declared.collect();
    let leaf = |t: Term| {
        let container = if program.graph.rank(t) == 0 { Container::Scalar } else { Container::Slice };
        OutputTree::Leaf(Output { term: t, container, lens: Vec::new(), role: Role::Data })
    };
    program.result = OutputTree::of_several(program.result.terms().into_iter().map(leaf).collect());
    program.result_ty = rust_types::tree_type(&program, &program.result);
    // Messages of its panics do not show values inside of loops, since generated code cannot call
    // the function to get them.
    program.checks.iter_mut().for_each(|check| check.incomplete = false);
    program
}

fn is_type(item: &Item) -> bool {
    super::definitions::is_definition(item)
}
