//! `assert!`, `panic!` and what is like them: what the function itself panics at becomes a check with the user's own words.

use proc_macro2::{Ident, Span};
use syn::parse::Parser;
use syn::punctuated::Punctuated;
use syn::{Expr, ExprCall, ExprLit, ExprPath, Lit, LitStr, Macro, Path, Token};

use super::lower::Lower;
use super::value::{Lowered, Value};
use crate::catalogue;
use crate::diag::{MARK, Poison, SrcRange, text_of};
use crate::ir::{Elem, Node, Term, Type};
use crate::prim::{Cmp, Prim};
use crate::program::Place;

/// The macros with what they say where the user says nothing, and how many expressions they compare.
const MACROS: &[(&str, &str, usize)] = &[
    ("assert", "assertion failed", 1),
    ("assert_eq", "assertion `left == right` failed", 2),
    ("assert_ne", "assertion `left != right` failed", 2),
    ("debug_assert", "assertion failed", 1),
    ("debug_assert_eq", "assertion `left == right` failed", 2),
    ("debug_assert_ne", "assertion `left != right` failed", 2),
    ("panic", "explicit panic", 0),
    ("unreachable", "entered unreachable code", 0),
    ("todo", "not yet implemented", 0),
    ("unimplemented", "not implemented", 0),
];

/// The macro as a call of a path that no function has: what it compares, then what it says.
pub(super) fn rewrite(mac: &Macro) -> Option<syn::Result<Expr>> {
    let name = mac.path.segments.last()?.ident.to_string();
    let &(name, says, compared) = MACROS.iter().find(|(n, _, _)| *n == name)?;
    let span = mac.path.segments.last()?.ident.span();
    Some(
        Punctuated::<Expr, Token![,]>::parse_terminated
            .parse2(mac.tokens.clone())
            .map(|args| call(name, says, compared, args, span)),
    )
}

fn call(name: &str, says: &str, compared: usize, args: Punctuated<Expr, Token![,]>, span: Span) -> Expr {
    let mut args = args.into_iter();
    let mut kept: Punctuated<Expr, Token![,]> = args.by_ref().take(compared).collect();
    let rest: Vec<Expr> = args.collect();
    let said = match rest.split_first() {
        None => says.to_string(),
        Some((Expr::Lit(ExprLit { lit: Lit::Str(format), .. }), values)) => {
            let text = filled(&format.value(), values);
            if compared == 0 && name != "panic" { format!("{says}: {text}") } else { text }
        }
        Some((other, _)) => text_of(other, 60),
    };
    kept.push(Expr::Lit(ExprLit { attrs: Vec::new(), lit: Lit::Str(LitStr::new(&said, span)) }));
    let mut path = Path::from(Ident::new(MARK, span));
    path.leading_colon = Some(Token![::](span));
    path.segments.push(Ident::new(name, span).into());
    Expr::Call(ExprCall {
        attrs: Vec::new(),
        func: Box::new(Expr::Path(ExprPath { attrs: Vec::new(), qself: None, path })),
        paren_token: syn::token::Paren(span),
        args: kept,
    })
}

/// A format string with the expressions in place of their values: those are not there where the check is made.
fn filled(format: &str, values: &[Expr]) -> String {
    let mut text = String::new();
    let mut next = 0;
    let mut rest = format;
    while let Some(at) = rest.find(['{', '}']) {
        let (before, from) = rest.split_at(at);
        text.push_str(before);
        if from.starts_with("{{") || from.starts_with("}}") {
            text.push_str(&from[..1]);
            rest = &from[2..];
            continue;
        }
        let Some(end) = from.find('}').filter(|_| from.starts_with('{')) else {
            text.push_str(&from[..1]);
            rest = &from[1..];
            continue;
        };
        let named = from[1..end].split(':').next().unwrap_or("").trim();
        let value = if named.is_empty() {
            next += 1;
            values.get(next - 1)
        } else {
            named.parse::<usize>().ok().and_then(|k| values.get(k))
        };
        let shown = value.map_or_else(|| named.to_string(), |e| text_of(e, 30));
        text.push('`');
        text.push_str(&shown);
        text.push('`');
        rest = &from[end + 1..];
    }
    text.push_str(rest);
    text
}

/// The macro that a path of [`rewrite`] stands for.
pub(super) fn named(path: &Path) -> Option<&'static str> {
    let (Some(_), [mark, name]) = (path.leading_colon, &path.segments.iter().collect::<Vec<_>>()[..]) else {
        return None;
    };
    let found = MACROS.iter().find(|(n, _, _)| name.ident == n)?;
    (mark.ident == MARK).then_some(found.0)
}

impl<'a> Lower<'a> {
    /// A call that [`rewrite`] has written.
    pub(super) fn panicking(&mut self, name: &'static str, c: &'a ExprCall) -> Lowered<Value<'a>> {
        let (Some(says), args) =
            (c.args.last(), c.args.iter().take(c.args.len().saturating_sub(1)).collect::<Vec<_>>())
        else {
            return Err(Poison);
        };
        let message = match says {
            Expr::Lit(ExprLit { lit: Lit::Str(s), .. }) => s.value(),
            _ => String::new(),
        };
        let range = SrcRange::of(&c.func);
        let compared = MACROS.iter().find(|(n, _, _)| *n == name).map_or(0, |m| m.2);
        if args.len() != compared {
            return Err(self.error(range, catalogue::arity(name, (compared, compared), args.len())));
        }
        let texts: Vec<String> = args.iter().map(|e| text_of(*e, 30)).collect();
        let text = format!("{name}!({})", texts.join(", "));
        let ranges: Vec<SrcRange> = args.iter().map(|e| SrcRange::of(*e)).collect();
        self.at_place(Place { range, text }, |me| {
            let values = me.all(args)?;
            let ok = match (name.trim_start_matches("debug_"), &values[..]) {
                ("assert", [ok]) => me.boolean(ok, ranges[0])?,
                ("assert_eq", [a, b]) => me.equal_values(a, b, range)?,
                ("assert_ne", [a, b]) => {
                    let equal = me.equal_values(a, b, range)?;
                    me.g.not(equal)
                }
                _ => return Ok(me.panic(&message)),
            };
            let debug = name.starts_with("debug_");
            me.ensure(ok, &message, debug, range)?;
            Ok(Value::Unit)
        })
    }

    /// A condition that the function itself checks. Sizes that have to be equal are one size from here on.
    fn ensure(&mut self, ok: Term, message: &str, debug: bool, range: SrcRange) -> Lowered<()> {
        if debug {
            self.debug = true;
            self.require(None, ok, message);
            self.debug = false;
            return Ok(());
        }
        match self.g.node(ok).clone() {
            Node::Prim(Prim::And, args) => {
                self.ensure(args[0], message, debug, range)?;
                return self.ensure(args[1], message, debug, range);
            }
            Node::Prim(Prim::Compare(Cmp::Eq), args)
                if *self.g.ty(args[0]) == Type::scalar(Elem::USIZE)
                    && self.unconditional()
                    && self.size_of(args[0]).is_some()
                    && self.size_of(args[1]).is_some() =>
            {
                let words = ["left".to_string(), "right".to_string()];
                self.equate_saying(args[0], args[1], words, message, range)?;
                return Ok(());
            }
            _ => {}
        }
        self.require(None, ok, message);
        self.facts.assume(&self.g, ok, true);
        Ok(())
    }

    /// Whether two values are equal.
    fn equal_values(&mut self, a: &Value<'a>, b: &Value<'a>, range: SrcRange) -> Lowered<Term> {
        match (a, b) {
            (Value::Tuple(xs) | Value::List(xs), Value::Tuple(ys) | Value::List(ys)) if xs.len() == ys.len() => {
                let mut all = self.g.lit_bool(true);
                for (x, y) in xs.iter().zip(ys.iter()) {
                    let both = self.equal_values(x, y, range)?;
                    all = self.g.and(all, both);
                }
                Ok(all)
            }
            (Value::Unit, Value::Unit) => Ok(self.g.lit_bool(true)),
            _ => {
                let (a, b) = self.meet(a, b, [range, range])?;
                self.comparison(Cmp::Eq, a, b, range)
            }
        }
    }
}
