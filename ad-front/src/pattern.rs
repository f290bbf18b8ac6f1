//! Patterns: the names that they bind, and the conditions under which patterns of `match` and `if
//! let` match.
//!
//! Invariant: a name in a pattern is not taken for a variable if Rust takes it for a constant.

use std::rc::Rc;

use syn::{Expr, Lit, Pat};

use super::assume::Special;
use super::lower::Lower;
use super::order::Sign;
use super::shapes::Size;
use super::value::{ClosureBody, Lowered, Value};
use crate::translation::cells::CellValue;
use crate::walk::{Part, Walk};
use ad_ir::catalogue::{self, refused, wanted};
use ad_ir::diag::{Poison, SrcRange, text_of};
use ad_ir::ir::{Elem, Term, Type};
use ad_ir::prim::{Cmp, IntOp};

/// The subpatterns of a pattern with their values, and the condition for the pattern itself.
pub(super) struct PatternSplit<'a> {
    pub parts: Vec<(&'a Pat, Option<Value<'a>>)>,
    pub fits: Term,
}

impl<'a> PatternSplit<'a> {
    /// A pattern for slices of another length than that of the value, which is known: an arm with
    /// it is never selected.
    fn of_other_length(pats: Vec<&'a Pat>, fits: Term) -> Self {
        PatternSplit { parts: pats.into_iter().map(|pat| (pat, Some(Value::Never))).collect(), fits }
    }
}

impl<'a> Lower<'a> {
    /// Lowers `if let PAT = value { .. } else { .. }`.
    pub(super) fn if_let(
        &mut self,
        l: &'a syn::ExprLet,
        then: &'a syn::Block,
        other: Option<&'a Expr>,
    ) -> Lowered<Value<'a>> {
        let range = SrcRange::of(l);
        let value = self.moved(&l.expr)?;
        let outer = self.state.names.scope();
        let fits = self.fits(&l.pat, &value)?;
        let inner = |me: &mut Self| {
            let then = me.bind(&l.pat, Some(value.clone())).and_then(|()| me.block(then));
            me.state.names.back_to(outer.clone());
            then
        };
        self.branch(fits, inner, |me| other.map_or(Ok(Value::Unit), |other| me.expr(other)), range)
    }

    /// The condition of a chain such as `let Some(x) = o && x > 1.0`. Its names are bound in the
    /// current scope, for code that is lowered under the condition.
    pub(super) fn chain(&mut self, e: &'a Expr) -> Lowered<Term> {
        let mut parts = Vec::new();
        conjuncts(e, &mut parts);
        let mut holds = self.g.lit_bool(true);
        let mut result = Ok(());
        for part in parts {
            let range = SrcRange::of(part);
            let mut found = None;
            let tested = self.shortcut(
                holds,
                true,
                |me| {
                    let Expr::Let(l) = part else { return me.expr(part) };
                    let value = me.moved(&l.expr)?;
                    let fits = me.fits(&l.pat, &value)?;
                    found = Some(value);
                    Ok(Value::Term(fits))
                },
                range,
            );
            match tested.and_then(|tested| self.boolean(&tested, range)) {
                Ok(also) => holds = also,
                Err(Poison) => result = Err(Poison),
            }
            let Expr::Let(l) = part else { continue };
            match found {
                Some(value) => result = result.and(self.under(holds, true, |me| me.bind(&l.pat, Some(value)))),
                None => poison(self, &l.pat),
            }
        }
        result.map(|()| holds)
    }

    /// Lowers the body of a closure or arm.
    pub(super) fn body(&mut self, body: ClosureBody<'a>) -> Lowered<Value<'a>> {
        match body {
            ClosureBody::Expr(e) => self.expr(e),
            ClosureBody::Block(b) => self.block(b),
        }
    }

    /// The condition under which a value matches a pattern.
    pub(super) fn fits(&mut self, pat: &'a Pat, value: &Value<'a>) -> Lowered<Term> {
        let range = SrcRange::of(pat);
        let yes = self.g.lit_bool(true);
        if let (Value::Place(place), Pat::Ident(_) | Pat::Lit(_) | Pat::Range(_) | Pat::Path(_)) = (value, pat) {
            let value = self.read_place(place)?;
            return self.fits(pat, &value);
        }
        match pat {
            Pat::Wild(_) | Pat::Rest(_) => Ok(yes),
            Pat::Paren(p) => self.fits(&p.pat, value),
            Pat::Reference(p) => self.fits(&p.pat, value),
            Pat::Type(p) => self.fits(&p.pat, value),
            Pat::Ident(p) => match &p.subpat {
                Some((_, inner)) => self.fits(inner, value),
                None if self.is_constant(&p.ident.to_string()) => {
                    let name = p.ident.to_string();
                    let fits = self.equals_constant(&name, value, range);
                    self.state.assumptions.note_compared(name);
                    fits
                }
                None => {
                    if p.by_ref.is_none() && p.mutability.is_none() && !self.is_elsewhere() {
                        self.state.assumptions.assume_bound(&p.ident);
                    }
                    Ok(yes)
                }
            },
            Pat::Or(p) => {
                let cases = p.cases.iter().map(|case| self.fits(case, value)).collect::<Lowered<Vec<_>>>()?;
                Ok(self.any(&cases))
            }
            Pat::Lit(l) => self.equals_literal(&l.lit, value, range),
            Pat::Range(r) => {
                let mut holds = yes;
                let (low, high) = (r.start.as_deref(), r.end.as_deref());
                let last = matches!(r.limits, syn::RangeLimits::Closed(_));
                for (end, op) in [(low, Cmp::Ge), (high, if last { Cmp::Le } else { Cmp::Lt })] {
                    let Some(end) = end else { continue };
                    let end = self.expr(end)?;
                    self.no_real(&end, range)?;
                    let (x, end) = self.unify_literals(value, &end, [range, range])?;
                    let inside = self.comparison(op, x, end, range)?;
                    holds = self.g.and(holds, inside);
                }
                Ok(holds)
            }
            Pat::Path(p) if self.input.definitions().constructor(&p.path).is_some() => {
                Ok(self.split(pat, Some(value), range)?.fits)
            }
            Pat::Path(p) => {
                let text = text_of(&p.path, 40).replace(' ', "");
                let last = p.path.segments.last().map_or_else(String::new, |s| s.ident.to_string());
                if matches!(value, Value::Ordering(_)) || last == "None" {
                    return self.equals_constant(&last, value, range);
                }
                match super::consts::find(&p.path, self.real_param()) {
                    Some((super::consts::Const::Int(ty, n), _)) => {
                        let n = self.g.lit(ad_ir::ir::Lit::Int(ty, n));
                        self.equal(value, &Value::Term(n), range)
                    }
                    Some(_) => Err(self.error(range, refused::construct(refused::Construct::RealPattern))),
                    None => Err(self.error(range, catalogue::unseen_constant(&text, Some(false)))),
                }
            }
            Pat::TupleStruct(p) if Special::Some.is(&p.path) => {
                let (Some(inner), 1) = (p.elems.first(), p.elems.len()) else {
                    return Err(self.error(range, refused::pattern(&text_of(pat, 40))));
                };
                let held = self.referent(value)?;
                match &held {
                    Value::None => Ok(self.g.lit_bool(false)),
                    Value::Option(content, exists) => {
                        let content = self.payload_of(value, (1, 0), content);
                        let inner = self.under(*exists, true, |me| me.fits(inner, &content))?;
                        Ok(self.g.and(*exists, inner))
                    }
                    other => {
                        let found = self.describe(other);
                        Err(self.error(range, catalogue::expected(wanted::OPTION, &found)))
                    }
                }
            }
            Pat::Tuple(_) | Pat::Slice(_) | Pat::Struct(_) | Pat::TupleStruct(_) => {
                let split = self.split(pat, Some(value), range)?;
                let mut all = split.fits;
                if matches!(pat, Pat::Slice(_)) && self.g.bool_value(all) == Some(false) {
                    return Ok(all);
                }
                for (pat, value) in split.parts {
                    let Some(value) = value else { return Err(Poison) };
                    let fits = self.under(all, true, |me| me.fits(pat, &value))?;
                    all = self.g.and(all, fits);
                }
                Ok(all)
            }
            other => Err(self.error(range, refused::pattern(&text_of(other, 40)))),
        }
    }

    /// Whether Rust takes a name in a pattern for a constant: one of the function itself, or, by
    /// convention, an outer one. The generated code asserts that a name in lower case is not a
    /// constant. A variable cannot have the name of a constant.
    fn is_constant(&self, name: &str) -> bool {
        is_constant(name) && (self.state.names.get(name).is_none() || self.state.names.item(name).is_some())
            || self.state.names.item(name).is_some_and(|item| !matches!(item, Ok(Value::Closure(_))))
    }

    fn no_real(&mut self, value: &Value<'a>, range: SrcRange) -> Lowered<()> {
        let real = match value {
            Value::Number(n) => n.is_float(),
            other => self.elem_of(other).is_some_and(Elem::is_real),
        };
        if real { Err(self.error(range, refused::construct(refused::Construct::RealPattern))) } else { Ok(()) }
    }

    fn equal(&mut self, value: &Value<'a>, other: &Value<'a>, range: SrcRange) -> Lowered<Term> {
        self.no_real(other, range)?;
        let (a, b) = self.unify_literals(value, other, [range, range])?;
        self.comparison(Cmp::Eq, a, b, range)
    }

    fn equals_literal(&mut self, lit: &'a Lit, value: &Value<'a>, range: SrcRange) -> Lowered<Term> {
        let literal = self.literal(lit)?;
        if let (Lit::Bool(b), Value::Term(t)) = (lit, value)
            && *self.g.ty(*t) == Type::scalar(Elem::Bool)
        {
            return Ok(if b.value { *t } else { self.g.not(*t) });
        }
        self.equal(value, &literal, range)
    }

    /// The condition that a value is equal to a named constant.
    fn equals_constant(&mut self, name: &str, value: &Value<'a>, range: SrcRange) -> Lowered<Term> {
        if let Value::Ordering(order) = value
            && let Some(sign) = Sign::named(name)
        {
            return Ok(self.has_sign(order, sign));
        }
        match (name, value) {
            ("None", Value::Option(_, exists)) => Ok(self.g.not(*exists)),
            ("None", Value::None) => Ok(self.g.lit_bool(true)),
            _ => match self.state.names.get(name) {
                Some(constant) => {
                    let constant = constant?.clone();
                    self.equal(value, &constant, range)
                }
                // A constant outside of the function has this name.
                None if super::consts::is_upper_case(name) => {
                    let path: syn::Path = syn::parse_str(name).map_err(|_| Poison)?;
                    let constant = self.outer_constant(&path)?;
                    self.equal(value, &constant, range)
                }
                None => Err(self.error(range, catalogue::unseen_constant(name, Some(false)))),
            },
        }
    }

    /// Splits a pattern into subpatterns, each with its value.
    fn split(&mut self, pat: &'a Pat, value: Option<&Value<'a>>, range: SrcRange) -> Lowered<PatternSplit<'a>> {
        let (pats, what): (Vec<&Pat>, &str) = match pat {
            Pat::Struct(_) | Pat::TupleStruct(_) | Pat::Path(_) => return self.split_fields(pat, value, range),
            Pat::Tuple(p) => (p.elems.iter().collect(), "a tuple"),
            Pat::Slice(p) => (p.elems.iter().collect(), "an array literal or index"),
            other => return Err(self.error(range, refused::pattern(&text_of(other, 40)))),
        };
        let rest = pats.iter().position(|p| is_rest(p));
        let fixed = pats.len() - usize::from(rest.is_some());
        let mut fits = self.g.lit_bool(true);
        let Some(value) = value else {
            return Ok(PatternSplit { parts: pats.into_iter().map(|p| (p, None)).collect(), fits });
        };
        // The components of a place expression are place expressions.
        let held;
        let value = match value {
            Value::Place(place) => {
                held = self.read_place(place)?;
                if let (Some(vs), None) = (held.product(), rest)
                    && vs.len() == fixed
                {
                    let part = |k: usize| Some(Value::Place(Rc::new((**place).clone().field(k))));
                    let parts = pats.into_iter().enumerate().map(|(k, p)| (p, part(k))).collect();
                    return Ok(PatternSplit { parts, fits });
                }
                &held
            }
            value => value,
        };
        let [before, after] = [rest.unwrap_or(pats.len()), fixed - rest.unwrap_or(pats.len())];
        let slice = matches!(pat, Pat::Slice(_));
        let values: Vec<Value> = match value {
            Value::Never => vec![Value::Never; pats.len()],
            Value::Tuple(vs) | Value::List(vs) if vs.len() == fixed || (rest.is_some() && vs.len() >= fixed) => {
                let end = vs.len() - after;
                let between = rest.map(|_| {
                    let between = vs[before..end].into();
                    if let Value::List(_) = value { Value::List(between) } else { Value::Tuple(between) }
                });
                vs[..before].iter().cloned().chain(between).chain(vs[end..].iter().cloned()).collect()
            }
            Value::Term(t) | Value::Nested(t, _) if self.g.rank(*t) > 0 && slice => {
                match self.split_array((*t, value.levels()), [before, after], rest.is_some(), range)? {
                    (holds, None) => return Ok(PatternSplit::of_other_length(pats, holds)),
                    (holds, Some(values)) => {
                        fits = holds;
                        values
                    }
                }
            }
            Value::List(_) | Value::Matrix(_) if slice => {
                return Ok(PatternSplit::of_other_length(pats, self.g.lit_bool(false)));
            }
            Value::GrowableVec(list) if slice => {
                let (parts, enough) = self.elements_apart(&Rc::clone(list), [before, after], rest, range)?;
                fits = enough;
                parts
            }
            other => return self.other_parts(&pats, what, other, range),
        };
        let parts = pats.into_iter().zip(values.into_iter().map(Some)).collect();
        Ok(PatternSplit { parts, fits })
    }

    /// The elements of an array before and after `..`, with the rows that `..` stands for between
    /// them, and the condition that the array is long enough. Without `..` its length has to be
    /// that of the pattern. No elements if the condition never holds.
    fn split_array(
        &mut self,
        (t, levels): (Term, u8),
        [before, after]: [usize; 2],
        rest: bool,
        range: SrcRange,
    ) -> Lowered<(Term, Option<Vec<Value<'a>>>)> {
        let mut len = self.g.shape(t)[0];
        let least = self.g.lit_usize(before + after);
        let mut fits = self.g.compare(if rest { Cmp::Ge } else { Cmp::Eq }, len, least);
        if self.g.bool_value(fits) == Some(false) {
            return Ok((fits, None));
        }
        if !rest && matches!(self.size_of(len), Some(Size::Constant(_))) {
            // The array's type states its length. rustc reports a pattern of another length.
            self.equate(len, least, ["the array".into(), "the pattern".into()], range)?;
            len = least;
            fits = self.g.lit_bool(true);
        }
        let mut values = Vec::new();
        for k in 0..before {
            let k = self.g.lit_usize(k);
            let part = self.g.index(t, &[k]);
            values.push(Value::nested_element(&self.g, part, levels));
        }
        if !rest {
            return Ok((fits, Some(values)));
        }
        let gap = self.g.int(IntOp::Sub, len, least);
        let rank = self.g.rank(t);
        let (zero, first) = (self.g.lit_usize(0), self.g.lit_usize(before));
        let mut starts = vec![zero; rank];
        starts[0] = first;
        let mut lens = self.g.shape(t).to_vec();
        lens[0] = gap;
        let between = self.g.slice(t, &starts, &vec![1; rank], &lens);
        values.push(Value::nested(&self.g, between, levels));
        for k in (0..after).rev() {
            let back = self.g.lit_usize(k + 1);
            let at = self.g.int(IntOp::Sub, len, back);
            let part = self.g.index(t, &[at]);
            values.push(Value::nested_element(&self.g, part, levels));
        }
        Ok((fits, Some(values)))
    }

    fn other_parts(
        &mut self,
        pats: &[&'a Pat],
        what: &str,
        found: &Value<'a>,
        range: SrcRange,
    ) -> Lowered<PatternSplit<'a>> {
        let found = self.describe(found);
        for pat in pats {
            poison(self, pat);
        }
        Err(self.error(range, catalogue::expected_parts(what, pats.len(), &found)))
    }
}

/// Whether a subpattern is `..`, which matches any number of components.
pub(super) fn is_rest(pat: &Pat) -> bool {
    match pat {
        Pat::Rest(_) => true,
        Pat::Ident(p) => p.subpat.as_ref().is_some_and(|(_, p)| matches!(&**p, Pat::Rest(_))),
        _ => false,
    }
}

/// Whether a name is written like a constant (rustc warns about constants in lower case).
pub(super) fn is_constant(name: &str) -> bool {
    name.starts_with(char::is_uppercase)
}

/// Binds the names of a pattern that matches. Without a value each name is bound to an error that
/// has been reported.
pub(super) fn bind<'a>(me: &mut Lower<'a>, pat: &'a Pat, value: Option<Value<'a>>) -> Lowered<()> {
    let range = SrcRange::of(pat);
    match pat {
        Pat::Wild(_) | Pat::Rest(_) | Pat::Lit(_) | Pat::Range(_) | Pat::Path(_) => Ok(()),
        Pat::Paren(p) => bind(me, &p.pat, value),
        Pat::Reference(p) if p.mutability.is_none() => bind(me, &p.pat, value),
        Pat::Type(p) => {
            let value = value.map(|v| me.ascribe(v, &p.ty, range));
            let failed = matches!(value, Some(Err(_)));
            let bound = bind(me, &p.pat, value.and_then(Result::ok));
            if failed { Err(Poison) } else { bound }
        }
        Pat::Ident(p) => {
            let name = p.ident.to_string();
            if let Some(Value::Place(_)) = &value {
                // The name of a mutable reference is bound to its place expression.
                me.state.names.bind(name, value);
                return Ok(());
            }
            if p.mutability.is_some() {
                let held = value.clone().map_or(CellValue::Broken, CellValue::Value);
                me.bind_cell(name, held, true);
                return match &p.subpat {
                    Some((_, inner)) => bind(me, inner, value),
                    None => Ok(()),
                };
            }
            let variant = matches!(&*name, "None" | "Less" | "Equal" | "Greater");
            if p.subpat.is_none() && me.is_constant(&name) && (variant || me.state.assumptions.is_compared(&name)) {
                // The value was compared with this constant.
                return Ok(());
            }
            if let Some(value) = &value {
                me.hint(value, &name);
            }
            me.state.names.bind(name, value.clone());
            match &p.subpat {
                Some((_, inner)) => bind(me, inner, value),
                None => Ok(()),
            }
        }
        Pat::Or(p) => {
            let names = names(pat);
            if names.is_empty() {
                return Ok(());
            }
            if let (1, Some(only)) = (p.cases.len(), p.cases.first()) {
                return bind(me, only, value);
            }
            poison(me, pat);
            Err(me.error(range, refused::pattern(&text_of(pat, 40))))
        }
        Pat::TupleStruct(p) if Special::Some.is(&p.path) && p.elems.len() == 1 => {
            let held = value.as_ref().map(|v| me.referent(v)).transpose()?;
            let inner = match (held, value) {
                (Some(Value::Option(content, _)), Some(value)) => Some(me.payload_of(&value, (1, 0), &content)),
                // The arm is never selected. A carried `None` may have an unknown payload type
                // until the loop body has been lowered.
                (Some(Value::None | Value::Never), _) => Some(Value::Never),
                _ => None,
            };
            bind(me, &p.elems[0], inner)
        }
        Pat::Tuple(_) | Pat::Slice(_) | Pat::Struct(_) | Pat::TupleStruct(_) => {
            let split = me.split(pat, value.as_ref(), range)?;
            let mut result = Ok(());
            for (pat, value) in split.parts {
                if bind(me, pat, value).is_err() {
                    result = Err(Poison);
                }
            }
            result
        }
        other => {
            poison(me, other);
            Err(me.error(range, refused::pattern(&text_of(other, 40))))
        }
    }
}

/// Whether a condition is a chain in which there is a `let`.
pub(super) fn is_chain(e: &Expr) -> bool {
    let mut parts = Vec::new();
    conjuncts(e, &mut parts);
    parts.len() > 1 && parts.iter().any(|part| matches!(part, Expr::Let(_)))
}

/// The parts of a condition between which there is `&&`, in their order.
fn conjuncts<'e>(e: &'e Expr, parts: &mut Vec<&'e Expr>) {
    let mut last = Vec::new();
    let mut at = e;
    while let Expr::Binary(b) = at
        && matches!(b.op, syn::BinOp::And(_))
    {
        last.push(&*b.right);
        at = &b.left;
    }
    parts.push(at);
    parts.extend(last.into_iter().rev());
}

/// The names in a pattern.
fn names(pat: &Pat) -> Vec<String> {
    let mut names = Vec::new();
    let mut walk = |part: Part<'_>| {
        let Part::PatIdent(p) = part else { return };
        let name = p.ident.to_string();
        if p.subpat.is_some() || !is_constant(&name) {
            names.push(name);
        }
    };
    syn::visit::Visit::visit_pat(&mut Walk(&mut walk), pat);
    names
}

/// Binds the names of a pattern to errors, so that their uses cause no further errors.
pub(super) fn poison<'a>(me: &mut Lower<'a>, pat: &'a Pat) {
    for name in names(pat) {
        me.state.names.bind(name, None);
    }
}
