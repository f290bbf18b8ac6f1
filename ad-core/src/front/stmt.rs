//! Blocks, statements and patterns.

use syn::{Block, Pat, Stmt};

use super::lower::Lower;
use super::refuse;
use super::value::{Lowered, Value};
use crate::catalogue;
use crate::catalogue::refused::{self, Construct};
use crate::diag::{Poison, SrcRange, text_of};
use crate::ir::Node;

impl<'a> Lower<'a> {
    /// The value of a block. Every statement is lowered, so that every error is reported.
    pub(super) fn block(&mut self, block: &'a Block) -> Lowered<Value<'a>> {
        let outer = self.scope.clone();
        let mut result = Ok(Value::Unit);
        let mut poisoned = false;
        for stmt in &block.stmts {
            result = match stmt {
                Stmt::Local(local) => {
                    poisoned |= self.local(local).is_err();
                    Ok(Value::Unit)
                }
                Stmt::Expr(e, semi) => {
                    let value = self.expr(e);
                    poisoned |= value.is_err();
                    if semi.is_some() { value.map(|_| Value::Unit) } else { value }
                }
                Stmt::Item(item) => {
                    poisoned = true;
                    Err(self.error(SrcRange::of(item), refused::inner_item(item)))
                }
                Stmt::Macro(m) => {
                    poisoned = true;
                    Err(self.error(SrcRange::of(&m.mac), refuse::macro_call(&m.mac)))
                }
            };
        }
        self.scope = outer;
        if poisoned { Err(Poison) } else { result }
    }

    fn local(&mut self, local: &'a syn::Local) -> Lowered<()> {
        let range = SrcRange::of(&local.pat);
        let value = match &local.init {
            None => Err(self.error(range, catalogue::let_without_value())),
            Some(init) => {
                if let Some((_, other)) = &init.diverge {
                    self.error(SrcRange::of(other), refused::construct(Construct::LetElse));
                    Err(Poison)
                } else {
                    self.expr(&init.expr)
                }
            }
        };
        let bound = self.bind(&local.pat, value.as_ref().ok().cloned());
        value?;
        bound
    }
}

/// Binds the names of a pattern; without a value, each stands for an error that has been reported.
pub(super) fn bind<'a>(me: &mut Lower<'a>, pat: &'a Pat, value: Option<Value<'a>>) -> Lowered<()> {
    let range = SrcRange::of(pat);
    match pat {
        Pat::Wild(_) => Ok(()),
        Pat::Paren(p) => bind(me, &p.pat, value),
        Pat::Reference(p) if p.mutability.is_none() => bind(me, &p.pat, value),
        Pat::Type(p) => {
            let value = value.map(|v| me.ascribe(v, &p.ty, range));
            let failed = matches!(value, Some(Err(_)));
            let bound = bind(me, &p.pat, value.and_then(Result::ok));
            if failed { Err(Poison) } else { bound }
        }
        Pat::Ident(p) if p.subpat.is_none() => {
            let name = p.ident.to_string();
            if p.mutability.is_some() {
                me.error(range, refused::let_mut(&name));
                me.scope.bind(name, None);
                return Err(Poison);
            }
            if let Some(Value::Term(t) | Value::Nested(t)) = &value
                && !matches!(me.g.node(*t), Node::Lit(_) | Node::Var(_))
            {
                me.hints.entry(*t).or_insert_with(|| name.clone());
            }
            me.scope.bind(name, value);
            Ok(())
        }
        Pat::Tuple(p) => parts(me, p.elems.iter().collect(), value, range, "a tuple"),
        Pat::Slice(p) => parts(me, p.elems.iter().collect(), value, range, "an array literal or index"),
        other => {
            poison(me, other);
            Err(me.error(range, refused::pattern(&text_of(other, 40))))
        }
    }
}

fn parts<'a>(
    me: &mut Lower<'a>,
    pats: Vec<&'a Pat>,
    value: Option<Value<'a>>,
    range: SrcRange,
    what: &str,
) -> Lowered<()> {
    let values: Option<Vec<Value>> = match &value {
        None => None,
        Some(Value::Tuple(vs) | Value::List(vs)) if vs.len() == pats.len() => Some(vs.to_vec()),
        Some(Value::Term(t) | Value::Nested(t)) if me.g.rank(*t) > 0 && has_size(me, *t, pats.len(), range) => {
            let (t, nested) = (*t, matches!(value, Some(Value::Nested(_))));
            let element = |me: &mut Lower<'a>, k: usize| {
                let k = me.g.lit_usize(k);
                let part = me.g.index(t, &[k]);
                me.rows(part, nested)
            };
            Some((0..pats.len()).map(|k| element(me, k)).collect())
        }
        Some(other) => {
            let found = me.describe(other);
            for pat in &pats {
                poison(me, pat);
            }
            return Err(me.error(range, catalogue::expected(&format!("{what} of {} parts", pats.len()), &found)));
        }
    };
    let mut result = Ok(());
    for (k, pat) in pats.into_iter().enumerate() {
        let value = values.as_ref().and_then(|vs| vs.get(k).cloned());
        if bind(me, pat, value).is_err() {
            result = Err(Poison);
        }
    }
    result
}

/// Whether the array has so many elements: known, or the value of a constant that is then known to be that number.
fn has_size(me: &mut Lower, t: crate::ir::Term, n: usize, range: SrcRange) -> bool {
    let Some(&first) = me.g.shape(t).first() else { return false };
    if let Some(size) = me.g.int_value(first) {
        return usize::try_from(size) == Ok(n);
    }
    if !matches!(me.size_of(first), Some(super::shapes::Size::Constant(_))) {
        return false;
    }
    let number = me.g.lit_usize(n);
    let words = ["the array".to_string(), "the pattern".to_string()];
    me.equate(first, number, words, range).is_ok()
}

/// Names of a pattern that could not be bound: their uses are no further errors.
fn poison<'a>(me: &mut Lower<'a>, pat: &'a Pat) {
    struct Names(Vec<String>);
    impl<'ast> syn::visit::Visit<'ast> for Names {
        fn visit_pat_ident(&mut self, p: &'ast syn::PatIdent) {
            self.0.push(p.ident.to_string());
            syn::visit::visit_pat_ident(self, p);
        }
    }
    let mut names = Names(Vec::new());
    syn::visit::Visit::visit_pat(&mut names, pat);
    for name in names.0 {
        me.scope.bind(name, None);
    }
}
