//! Functions of the user's as values: closures, functions in a block, and a choice between them.
//! A call lowers the body again, with the arguments in place of the parameters.
//!
//! A closure sees the variables that it captures as they are at the call. It has borrowed them, so
//! only its own calls have changed them since its definition. A `move` closure has copies instead.
//! Invariant: a body never changes a variable that an enclosing loop does not carry. It may change
//! the cells from `first_own_cell` on; a loop without carried variables raises that number.

use std::rc::Rc;

use quote::ToTokens;
use syn::{ExprCall, FnArg, GenericArgument, GenericParam, PathArguments, ReturnType, Type};

use super::loop_effects::LoopEffects;
use super::lower::Lower;
use super::travel::written;
use super::types::{Len, len};
use super::value::{Captured, Closure, ClosureBody, Lowered, Value};
use crate::translation::cells::{Cell, CellValue};
use ad_ir::catalogue::refused::{self, InnerItem};
use ad_ir::catalogue::{self, wanted};
use ad_ir::diag::SrcRange;
use ad_ir::ir::{Elem, Term};
use ad_ir::prim::IntOp;

/// A choice between two functions, by a condition.
pub(super) struct Chosen<'a> {
    pub cond: Term,
    pub then: Value<'a>,
    pub other: Value<'a>,
}

impl<'a> Lower<'a> {
    /// Applies a function value to arguments.
    pub(super) fn apply(&mut self, f: &Value<'a>, args: &[Value<'a>], range: SrcRange) -> Lowered<Value<'a>> {
        match f {
            Value::Closure(closure) => {
                let closure = Rc::clone(closure);
                // The number of arguments of a derivative follows from the signature.
                if closure.derivative.is_none() && closure.params.len() != args.len() {
                    return Err(self.error(range, catalogue::closure_arity(closure.params.len(), args.len())));
                }
                self.one_level_deeper(|| range, |me| me.called(&closure, args, range))
            }
            Value::Chosen(chosen) => {
                let chosen = Rc::clone(chosen);
                let (then, other) = (args.to_vec(), args.to_vec());
                self.branch(
                    chosen.cond,
                    |me| me.apply(&chosen.then, &then, range),
                    |me| me.apply(&chosen.other, &other, range),
                    range,
                )
            }
            Value::Function(row, elem) => self.call_row(row, *elem, args.to_vec(), vec![range; args.len()], range),
            // The payload of a variant that no value has.
            Value::Never => Ok(Value::Never),
            other => {
                let found = self.describe(other);
                Err(self.error(range, catalogue::expected(wanted::FUNCTION, &found)))
            }
        }
    }

    fn called(&mut self, closure: &Closure<'a>, args: &[Value<'a>], range: SrcRange) -> Lowered<Value<'a>> {
        // A `&mut` argument is the caller's variable, which the copied variables of a `move`
        // closure do not contain.
        if let (Captured::Copies(_), Some(Value::Place(place))) =
            (&closure.captured, args.iter().find(|arg| matches!(arg, Value::Place(_))))
        {
            let name = place.text.clone();
            return Err(self.error(range, catalogue::captured_assignment(&name)));
        }
        self.count_call(range)?;
        if let Some(ruled) = &closure.ruled {
            return self.call_ruled(closure, ruled, args, range);
        }
        if let Some(derivative) = &closure.derivative {
            return self.call_derivative(closure, derivative, args, range);
        }
        if let Some(f) = &closure.recursive {
            return self.call_compiled(f, args, range);
        }
        match self.call_converted(closure, args, range) {
            Some(result) => result,
            None => self.call_inline(closure, args, range),
        }
    }

    /// Lowers the body at the call.
    pub(super) fn call_inline(
        &mut self,
        closure: &Closure<'a>,
        args: &[Value<'a>],
        range: SrcRange,
    ) -> Lowered<Value<'a>> {
        // The type of the result may name sizes that the arguments have.
        let mut scope = closure.scope.clone();
        self.state.nesting.enter_call(self.state.source.address());
        let result = self.inside(closure, range, |me| {
            me.infer_sizes(closure, args, range)?;
            me.infer_type_params(closure, args)?;
            for name in closure.sizes.iter().map(ToString::to_string) {
                let size = me.state.names.get(&name).and_then(Result::ok).cloned();
                scope.bind(name, size);
            }
            me.bind_types(closure, &mut scope);
            closure.params.iter().zip(args).try_for_each(|((pat, ty), arg)| {
                let arg = match ty {
                    Some(ty) => me.ascribe(arg.clone(), ty, range)?,
                    None => arg.clone(),
                };
                me.bind(pat, Some(arg))
            })?;
            me.body(closure.body)
        });
        self.state.nesting.leave_call();
        let value = result?;
        let Some(ty) = closure.output else { return Ok(value) };
        let outer = self.state.names.enter(scope);
        let value = self.at_definition(closure.definition, |me| me.ascribe(value, ty, range));
        self.state.names.back_to(outer);
        value
    }

    /// Turns a closure expression into a value.
    pub(super) fn closure(&mut self, c: &'a syn::ExprClosure) -> Value<'a> {
        let params = c.inputs.iter().map(|pat| (pat, None)).collect();
        let output = match &c.output {
            ReturnType::Default => None,
            ReturnType::Type(_, ty) => Some(&**ty),
        };
        let captured = match c.capture {
            Some(_) => Captured::Copies(self.state.cells.store().clone()),
            None => {
                let mut changed = self.changed_cells(&LoopEffects::of_closure(c, self.input.definitions().mutating()));
                changed.retain(|&cell| Some(cell) != self.state.rule_calls.counter());
                Captured::References(changed.into())
            }
        };
        let (body, scope) = (ClosureBody::Expr(&c.body), self.state.names.scope());
        let (items, definition) = (self.state.names.items(), self.state.names.definition());
        let source = Some(self.source(c));
        Value::Closure(Rc::new(Closure {
            params,
            body,
            output,
            sizes: Vec::new(),
            types: [].into(),
            scope,
            items,
            definition,
            captured,
            recursive: None,
            ruled: None,
            derivative: None,
            source,
        }))
    }

    /// Turns a function in a block into a value. It sees the items of the block, and no variables.
    pub(super) fn nested_function(&mut self, f: &'a syn::ItemFn) -> Lowered<Value<'a>> {
        let sig = &f.sig;
        let plain = sig.asyncness.is_none()
            && matches!(sig.safety, syn::Safety::Default)
            && sig.abi.is_none()
            && sig.variadic.is_none();
        let params: Option<Vec<_>> = sig
            .inputs
            .iter()
            .map(|arg| match arg {
                FnArg::Typed(p) => Some((&*p.pat, Some(&*p.ty))),
                FnArg::Receiver(_) => None,
            })
            .collect();
        let (true, Some(params)) = (plain, params) else {
            return Err(self.error(SrcRange::of(sig), refused::inner_item(InnerItem::Fn)));
        };
        let output = match &sig.output {
            ReturnType::Default => None,
            ReturnType::Type(_, ty) => Some(&**ty),
        };
        let sizes = sig.generics.params.iter().filter_map(|param| match param {
            GenericParam::Const(c) => Some(&c.ident),
            _ => None,
        });
        let (sizes, scope) = (sizes.collect(), self.state.names.items());
        let (body, items, definition) = (ClosureBody::Block(&f.block), scope.clone(), self.state.names.definition());
        let captured = Captured::References([].into());
        let (recursive, ruled) = (self.recursive(f), self.ruled(f)?);
        let derivative = self.inner_derivative(f)?;
        Ok(Value::Closure(Rc::new(Closure {
            params,
            body,
            output,
            sizes,
            types: super::type_params::of(&sig.generics).into(),
            scope,
            items,
            definition,
            captured,
            recursive,
            ruled,
            derivative,
            source: None,
        })))
    }

    /// The variables that a call of this value may change.
    pub(super) fn changed_by_calls(&self, f: &Value<'a>, cells: &mut Vec<Cell>) {
        match f {
            Value::Closure(closure) => {
                if let Captured::References(changed) = &closure.captured {
                    cells.extend(changed.iter());
                }
            }
            Value::Chosen(chosen) => {
                self.changed_by_calls(&chosen.then, cells);
                self.changed_by_calls(&chosen.other, cells);
            }
            _ => {}
        }
    }

    /// The variables that these effects may change.
    pub(super) fn changed_cells(&self, effects: &LoopEffects) -> Vec<Cell> {
        let mut cells: Vec<Cell> = effects.changed.iter().filter_map(|name| self.named_cell(name)).collect();
        self.changed_without_name(effects, &mut cells);
        // Any loop may call a function with a rule.
        cells.extend(self.state.rule_calls.counter());
        cells.retain(|&c| self.state.cells.is_own(c));
        cells.sort_unstable();
        cells.dedup();
        cells
    }

    /// Whether a loop with these effects uses a variable in another way than to add to it.
    pub(super) fn is_used(&self, effects: &LoopEffects, cell: Cell) -> bool {
        let mut cells: Vec<Cell> = effects.used.iter().filter_map(|name| self.named_cell(name)).collect();
        self.changed_without_name(effects, &mut cells);
        cells.contains(&cell)
    }

    /// The variable that a name stands for, or that it is a part of.
    fn named_cell(&self, name: &str) -> Option<Cell> {
        match self.state.names.get(name)?.ok()? {
            Value::Cell(cell) => Some(*cell),
            Value::Place(place) => Some(place.cell),
            _ => None,
        }
    }

    /// Adds the variables that functions change which a loop with these effects calls.
    fn changed_without_name(&self, effects: &LoopEffects, cells: &mut Vec<Cell>) {
        cells.extend(&effects.cells);
        for name in &effects.mentioned {
            match self.state.names.get(name) {
                Some(Ok(Value::Cell(cell))) => {
                    if let Some(CellValue::Value(f)) = self.state.cells.held(*cell) {
                        self.changed_by_calls(f, cells);
                    }
                }
                Some(Ok(f)) => self.changed_by_calls(f, cells),
                _ => {}
            }
        }
    }

    // Const parameters.

    /// The function of `f::<3>`, with its const parameters bound, or of a path. `None` if the path
    /// does not lead to a function whose definition is known.
    pub(super) fn instantiated(&mut self, c: &'a ExprCall) -> Option<Lowered<Value<'a>>> {
        let syn::Expr::Path(p) = &*c.func else { return None };
        let segment = p.path.segments.last()?;
        let range = SrcRange::of(p);
        let PathArguments::AngleBracketed(arguments) = &segment.arguments else {
            return self.defined(&written(&p.path));
        };
        let found = match p.path.segments.len() {
            1 => self.lookup(&segment.ident.to_string(), range)?,
            _ => self.defined(&written(&p.path))?,
        };
        let Ok(Value::Closure(closure)) = found else { return Some(found) };
        // Types come before sizes, and inference finds them all.
        let given = arguments.args.iter().filter(|arg| match arg {
            GenericArgument::Const(_) => true,
            GenericArgument::Type(Type::Path(ty)) => self.size_named(&ty.to_token_stream()),
            _ => false,
        });
        let given: Vec<_> = given.map(ToTokens::to_token_stream).collect();
        let (mut scope, mut sizes) = (closure.scope.clone(), closure.sizes.clone());
        if given.len() == sizes.len() {
            for (name, tokens) in closure.sizes.iter().zip(given) {
                let size = self.stated_size(&Len::read(tokens));
                scope.bind(name.to_string(), Some(Value::Term(size)));
            }
            sizes = Vec::new();
        }
        Some(Ok(Value::Closure(Rc::new(Closure { sizes, scope, ..Closure::clone(&closure) }))))
    }

    /// Whether tokens are the name of a size: a const parameter, or a number in scope.
    fn size_named(&self, tokens: &proc_macro2::TokenStream) -> bool {
        let name = tokens.to_string();
        !self.is_elsewhere() && self.input.sig().const_params.iter().any(|n| *n == name)
            || matches!(self.state.names.get(&name), Some(Ok(_)))
    }

    /// Binds the const parameters of a function whose arguments have these sizes.
    pub(super) fn infer_sizes(&mut self, closure: &Closure<'a>, args: &[Value<'a>], range: SrcRange) -> Lowered<()> {
        for name in &closure.sizes {
            let name = name.to_string();
            let mut found = None;
            for ((_, ty), arg) in closure.params.iter().zip(args) {
                let Some(ty) = ty else { continue };
                found = found.or(self.size_in(ty, &name, arg)?);
            }
            let Some(size) = found else {
                // A function of an `impl` block may have no use for a parameter of the block.
                if !closure.mentions(&name) {
                    continue;
                }
                return Err(self.error(range, catalogue::unknown_name(&name, None)));
            };
            self.state.names.bind(name, Some(Value::Term(size)));
        }
        Ok(())
    }

    /// The size that a name has in the type of a value.
    fn size_in(&mut self, ty: &Type, name: &str, value: &Value<'a>) -> Lowered<Option<Term>> {
        if let Some(depth) = depth_of(ty, name) {
            return Ok(self.sizes_of(value)?.get(depth).copied());
        }
        match ty {
            Type::Reference(r) => self.size_in(&r.elem, name, value),
            Type::Path(p) => {
                let Value::Struct(of, parts) = self.referent(value)? else { return Ok(None) };
                for param in of.parameters_given_as(p, name) {
                    for (field, part) in of.variants[0].fields.iter().zip(parts.iter()) {
                        if let Some(size) = self.size_in(&field.ty, &param, part)? {
                            return Ok(Some(size));
                        }
                    }
                }
                Ok(None)
            }
            _ => Ok(None),
        }
    }

    /// The sizes of a value along its axes, as far as they are known.
    fn sizes_of(&mut self, value: &Value<'a>) -> Lowered<Vec<Term>> {
        Ok(match value {
            Value::Term(t) | Value::Nested(t, _) => self.g.shape(*t).to_vec(),
            Value::List(parts) => {
                let mut sizes = vec![self.g.lit_usize(parts.len())];
                if let Some(first) = parts.first() {
                    sizes.extend(self.sizes_of(first)?);
                }
                sizes
            }
            Value::Filled(_, sizes) => sizes.to_vec(),
            Value::Place(place) => {
                let value = self.read_place(place)?;
                self.sizes_of(&value)?
            }
            _ => Vec::new(),
        })
    }

    /// The size that a type states, if local names say it: `[f64; N]`, `[f64; 2 * N]`.
    pub(super) fn local_size(&mut self, e: &syn::Expr) -> Option<Term> {
        use syn::BinOp;
        match e {
            syn::Expr::Paren(p) => self.local_size(&p.expr),
            syn::Expr::Group(g) => self.local_size(&g.expr),
            syn::Expr::Binary(b) => {
                let op = match b.op {
                    BinOp::Add(_) => IntOp::Add,
                    BinOp::Sub(_) => IntOp::Sub,
                    BinOp::Mul(_) => IntOp::Mul,
                    BinOp::Div(_) => IntOp::Div,
                    _ => return None,
                };
                let side = |me: &mut Self, e: &syn::Expr| match len(e) {
                    Len::Number(n) => Some((false, me.g.lit_usize(n))),
                    Len::Named(tokens) => match me.local_size(e) {
                        Some(t) => Some((true, t)),
                        None => {
                            let path = me.at_its_place(&tokens);
                            Some((false, me.constant(&path, Elem::USIZE)))
                        }
                    },
                };
                let (x, y) = (side(self, &b.left)?, side(self, &b.right)?);
                (x.0 || y.0).then(|| self.g.int(op, x.1, y.1))
            }
            syn::Expr::Path(p) => {
                let name = p.path.get_ident()?.to_string();
                match self.state.names.get(&name) {
                    Some(Ok(Value::Term(t))) => Some(*t).filter(|&t| self.g.elem(t) == Elem::USIZE),
                    None if self.is_elsewhere() => match self.constant_of_module(&p.path)? {
                        Ok(Value::Term(t)) => Some(t).filter(|&t| self.g.elem(t) == Elem::USIZE),
                        _ => None,
                    },
                    _ => None,
                }
            }
            _ => None,
        }
    }
}

/// The axis of a type whose size is this name.
fn depth_of(ty: &Type, name: &str) -> Option<usize> {
    match ty {
        Type::Reference(r) => depth_of(&r.elem, name),
        Type::Paren(p) => depth_of(&p.elem, name),
        Type::Group(g) => depth_of(&g.elem, name),
        Type::Slice(s) => depth_of(&s.elem, name).map(|depth| depth + 1),
        Type::Array(a) => match &a.len {
            syn::Expr::Path(p) if p.path.is_ident(name) => Some(0),
            _ => depth_of(&a.elem, name).map(|depth| depth + 1),
        },
        _ => None,
    }
}

/// A choice between two functions. `None` if either value is not a function.
pub(super) fn chosen<'a>(cond: Term, a: &Value<'a>, b: &Value<'a>) -> Option<Value<'a>> {
    (a.is_function() && b.is_function())
        .then(|| Value::Chosen(Rc::new(Chosen { cond, then: a.clone(), other: b.clone() })))
}
