//! The forms of loops: `for`, `for_each`, `while`, `while let` and `loop`. For each form this
//! module determines the effect of a step, the variables that it may change, and its end. It does
//! not decide how the result becomes a scan.

use std::rc::Rc;

use syn::Expr;

use crate::calls::receiver_of_loan;
use crate::loop_effects::LoopEffects;
use crate::lower::Lower;
use crate::place::{Place, is_place_expression};
use crate::translation::inference::InferenceKey;
use crate::value::{Cursor, Lowered, Value};
use ad_ir::catalogue::{self, refused};
use ad_ir::diag::{Poison, SrcRange};
use ad_ir::ir::Term;

impl<'a> Lower<'a> {
    /// Lowers `for`.
    pub(crate) fn for_loop(&mut self, l: &'a syn::ExprForLoop) -> Lowered<Value<'a>> {
        let range = SrcRange { first: l.for_token.span, last: SrcRange::of(&l.expr).last };
        let items = SrcRange::of(&l.expr);
        // No variable is there for the loop to carry.
        if let Expr::Reference(r) = &*l.expr
            && r.mutability.is_some()
            && !(is_place_expression(&r.expr) || matches!(*r.expr, Expr::MethodCall(_)))
        {
            return Err(crate::refuse::expression(self, &l.expr));
        }
        let borrowed = self.borrowed_items(&l.expr)?;
        let over = match &borrowed {
            Some((_, cursor)) => self.rest_of(cursor).map(Value::Seq),
            None => self.moved(&l.expr),
        };
        let mut effects = LoopEffects::of_for(l, self.input.definitions().mutating());
        if let (Ok(Value::Place(_)), Expr::Path(p)) = (&over, &*l.expr) {
            effects.changed.extend(p.path.get_ident().map(ToString::to_string));
        }
        let seq = over.and_then(|value| self.seq(&value, items));
        let mut seq = seq?;
        // The position of the iterator after a jump is not known.
        if borrowed.is_some() && !effects.jumps.is_empty() {
            return Err(self.error(items, refused::advanced("by_ref")));
        }
        if seq.eager && !effects.jumps.is_empty() {
            return Err(crate::iter::until::refuse(self, "break", items));
        }
        if seq.dims.len() != 1 || (seq.len.is_none() && effects.jumps.is_empty()) {
            self.ends(&seq, items)?;
        }
        let label = l.label.as_ref().map(|l| l.name.ident.to_string());
        let item = std::rc::Rc::clone(&seq.item);
        let body = |me: &mut Self, ix: &[Term]| {
            let item = item(me, ix)?;
            let outer = me.state.names.scope();
            let bound = me.bind(&l.pat, Some(item));
            let value = bound.and_then(|()| me.block(&l.body));
            me.state.names.back_to(outer);
            value
        };
        let key = InferenceKey::new(&l.body, "");
        if self.has_unknown_end(&seq) {
            self.bound_steps(&mut seq, &body, &effects, &key, range);
        }
        self.lower_loop((Some(&seq), &body), &effects, (label, key), range)?;
        if let Some((place, cursor)) = borrowed {
            let at = self.length(&cursor.seq)?;
            self.write_place(&place, Value::Cursor(Rc::new(Cursor { seq: cursor.seq.clone(), at })))?;
        }
        Ok(Value::Unit)
    }

    /// The iterator that `for v in &mut items` or `for v in items.by_ref()` advances to its end.
    fn borrowed_items(&mut self, over: &'a Expr) -> Lowered<Option<(Place, Rc<Cursor<'a>>)>> {
        let of = match over {
            Expr::Reference(r) if r.mutability.is_some() => &*r.expr,
            _ => match receiver_of_loan(over) {
                Some(iterator) => iterator,
                None => return Ok(None),
            },
        };
        let Expr::Path(path) = of else { return Ok(None) };
        let held = path.path.get_ident().and_then(|name| self.state.names.get(&name.to_string()));
        let Some(Ok(Value::Cell(_) | Value::Place(_))) = held else { return Ok(None) };
        let place = self.place(of)?;
        let value = self.read_place(&place)?;
        if !matches!(value, Value::Seq(_) | Value::Cursor(_)) {
            return Ok(None);
        }
        match self.cursor(&value, place.range)? {
            Some(cursor) => Ok(Some((place, cursor))),
            None => Err(self.error(place.range, refused::advanced("by_ref"))),
        }
    }

    /// Lowers `.for_each(|item| ..)`: a `for` with the closure's body.
    pub(crate) fn each_loop(
        &mut self,
        m: &'a syn::ExprMethodCall,
        f: &'a syn::ExprClosure,
        items: &Value<'a>,
    ) -> Lowered<Value<'a>> {
        let range = SrcRange::of(&m.method);
        let (seq, arity) = match items {
            Value::Zip(zip) => {
                zip.somewhere(self, SrcRange::of(&m.receiver))?;
                (zip.in_order(self), Some(zip.arity()))
            }
            items => (self.seq(items, SrcRange::of(&m.receiver))?, None),
        };
        let unbounded = self.has_unknown_end(&seq);
        if !unbounded {
            self.ends(&seq, SrcRange::of(&m.receiver))?;
        }
        let wanted = arity.unwrap_or(1);
        if f.inputs.len() != wanted {
            return Err(self.error(range, catalogue::closure_arity(f.inputs.len(), wanted)));
        }
        let mut bounded = seq.clone();
        let body = |me: &mut Self, ix: &[Term]| {
            let items = match arity {
                Some(_) => crate::methods::zip::zip_item(me, &seq, ix)?,
                None => vec![(seq.item)(me, ix)?],
            };
            let outer = me.state.names.scope();
            let value = me.returning(range, |me| {
                f.inputs.iter().zip(items).try_for_each(|(pat, item)| me.bind(pat, Some(item)))?;
                me.expr(&f.body)
            });
            me.state.names.back_to(outer);
            value
        };
        let effects = LoopEffects::of_each(m, f, self.input.definitions().mutating());
        let key = InferenceKey::new(&*f.body, "");
        if unbounded {
            self.bound_steps(&mut bounded, &body, &effects, &key, range);
        }
        self.lower_loop((Some(&bounded), &body), &effects, (None, key), range)?;
        Ok(Value::Unit)
    }

    /// Lowers `.for_each(f)` of a named function. Only the effects of the calls matter.
    pub(crate) fn each_item(&mut self, items: &Value<'a>, f: &Value<'a>, ranges: [SrcRange; 2]) -> Lowered<()> {
        let seq = self.seq(items, ranges[0])?;
        self.ends(&seq, ranges[0])?;
        let held;
        let f = match f {
            Value::Place(place) => {
                held = self.read_place(place)?;
                &held
            }
            f => f,
        };
        let item = std::rc::Rc::clone(&seq.item);
        let body = |me: &mut Self, ix: &[Term]| {
            let item = item(me, ix)?;
            me.apply(f, &[item], ranges[1])
        };
        let mut effects = LoopEffects::default();
        self.changed_by_calls(f, &mut effects.cells);
        self.lower_loop((Some(&seq), &body), &effects, (None, InferenceKey::new(f, "")), ranges[1])?;
        Ok(())
    }

    /// Lowers `while`: a loop that is left when the condition does not hold.
    pub(crate) fn while_loop(&mut self, l: &'a syn::ExprWhile) -> Lowered<Value<'a>> {
        let range = SrcRange { first: l.while_token.span, last: SrcRange::of(&l.cond).last };
        let place = SrcRange::of(&l.cond);
        let leave = |me: &mut Self| match me.state.jumps.innermost_loop() {
            Some(own) => me.exit(own, Value::Unit, place),
            None => Err(Poison),
        };
        let body = |me: &mut Self, _: &[Term]| {
            if let Expr::Let(cond) = &*l.cond {
                return me.while_let(cond, &l.body, &leave);
            }
            let outer = me.state.names.scope();
            let cond = match crate::pattern::is_chain(&l.cond) {
                true => me.chain(&l.cond)?,
                false => me.expr(&l.cond).and_then(|v| me.boolean(&v, place))?,
            };
            let body = |me: &mut Self| {
                let done = me.block(&l.body);
                me.state.names.back_to(outer);
                done
            };
            me.branch(cond, body, leave, range)
        };
        let label = l.label.as_ref().map(|l| l.name.ident.to_string());
        self.lower_loop(
            (None, &body),
            &LoopEffects::of_while(l, self.input.definitions().mutating()),
            (label, InferenceKey::new(&l.body, "")),
            range,
        )?;
        Ok(Value::Unit)
    }

    fn while_let(
        &mut self,
        cond: &'a syn::ExprLet,
        body: &'a syn::Block,
        leave: &dyn Fn(&mut Self) -> Lowered<Value<'a>>,
    ) -> Lowered<Value<'a>> {
        let range = SrcRange::of(cond);
        let value = self.moved(&cond.expr)?;
        let fits = self.fits(&cond.pat, &value)?;
        let inner = |me: &mut Self| {
            let outer = me.state.names.scope();
            let done = me.bind(&cond.pat, Some(value.clone())).and_then(|()| me.block(body));
            me.state.names.back_to(outer);
            done
        };
        self.branch(fits, inner, leave, range)
    }

    /// Lowers `loop`.
    pub(crate) fn endless_loop(&mut self, l: &'a syn::ExprLoop) -> Lowered<Value<'a>> {
        let range = SrcRange::of(&l.loop_token);
        let effects = LoopEffects::of_loop(l, self.input.definitions().mutating());
        if effects.jumps.is_empty() {
            // An error in the body, such as a misspelt `break`, explains why the loop has no exit.
            // Only that error is reported.
            let before = self.state.diags.list().len();
            let inside = self.block(&l.body);
            if inside.is_err() && self.state.diags.list().len() > before {
                return Err(Poison);
            }
            return Err(self.error(range, catalogue::endless_loop()));
        }
        let body = |me: &mut Self, _: &[Term]| me.block(&l.body);
        let label = l.label.as_ref().map(|l| l.name.ident.to_string());
        self.lower_loop((None, &body), &effects, (label, InferenceKey::new(&l.body, "")), range)
    }
}
