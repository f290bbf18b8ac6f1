//! `assert!`, `panic!` and similar macros. A panic of the function becomes a check with the user's
//! message (`panic_messages`).

use proc_macro2::{Ident, Span};
use syn::parse::Parser;
use syn::punctuated::Punctuated;
use syn::{Expr, ExprCall, ExprLit, ExprPath, Lit, LitStr, Macro, Path, Token};

use super::lower::Lower;
use super::panic_messages::{self, PanicMessage};
use super::value::{Lowered, Value};
use ad_ir::catalogue;
use ad_ir::diag::{MARK, Poison, SrcRange, text_of};
use ad_ir::ir::{Elem, Node, Term, Type};
use ad_ir::prim::{Cmp, Prim};
use ad_ir::program::SourceLocation;

/// The condition of a macro that panics.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Asks {
    Nothing,
    Holds,
    Equal,
    Differ,
}

/// A macro that may panic.
pub(super) struct Panics {
    name: &'static str,
    /// Its message if the user has written none.
    says: &'static str,
    asks: Asks,
    /// Whether it is evaluated only with debug assertions.
    debug: bool,
}

impl Panics {
    /// The number of expressions that it compares.
    fn compared(&self) -> usize {
        match self.asks {
            Asks::Nothing => 0,
            Asks::Holds => 1,
            Asks::Equal | Asks::Differ => 2,
        }
    }

    /// Arguments for a call that proves its name (`yes_` is a boolean).
    pub(super) fn arguments(&self) -> &'static str {
        match self.asks {
            Asks::Nothing => "()",
            Asks::Holds => "(yes_)",
            Asks::Equal | Asks::Differ => "(yes_, true)",
        }
    }
}

/// The macro whose message consists of the user's text only.
const PANIC: Panics = Panics { name: "panic", says: "explicit panic", asks: Asks::Nothing, debug: false };

const MACROS: &[Panics] = &[
    Panics { name: "assert", says: "assertion failed", asks: Asks::Holds, debug: false },
    Panics { name: "assert_eq", says: "assertion `left == right` failed", asks: Asks::Equal, debug: false },
    Panics { name: "assert_ne", says: "assertion `left != right` failed", asks: Asks::Differ, debug: false },
    Panics { name: "debug_assert", says: "assertion failed", asks: Asks::Holds, debug: true },
    Panics { name: "debug_assert_eq", says: "assertion `left == right` failed", asks: Asks::Equal, debug: true },
    Panics { name: "debug_assert_ne", says: "assertion `left != right` failed", asks: Asks::Differ, debug: true },
    PANIC,
    Panics { name: "unreachable", says: "internal error: entered unreachable code", asks: Asks::Nothing, debug: false },
    Panics { name: "todo", says: "not yet implemented", asks: Asks::Nothing, debug: false },
    Panics { name: "unimplemented", says: "not implemented", asks: Asks::Nothing, debug: false },
];

/// The names of the macros that panic.
pub(super) fn names() -> impl Iterator<Item = &'static str> {
    MACROS.iter().map(|row| row.name)
}

/// The macro of this name.
pub(super) fn find(name: &str) -> Option<&'static Panics> {
    MACROS.iter().find(|row| row.name == name)
}

/// Rewrites the macro to a call of a path that no function has. The arguments are the compared
/// expressions and the message.
pub(super) fn rewrite(mac: &Macro, row: &Panics) -> syn::Result<Expr> {
    let span = mac.path.segments.last().map_or_else(Span::call_site, |last| last.ident.span());
    let args = Punctuated::<Expr, Token![,]>::parse_terminated.parse2(mac.tokens.clone())?;
    Ok(call(row, args, span))
}

fn call(row: &Panics, args: Punctuated<Expr, Token![,]>, span: Span) -> Expr {
    let Panics { name, says, .. } = *row;
    let compared = row.compared();
    let mut args = args.into_iter();
    let mut kept: Punctuated<Expr, Token![,]> = args.by_ref().take(compared).collect();
    let rest: Vec<Expr> = args.collect();
    let literal = |text: &str| Expr::Lit(ExprLit { attrs: Vec::new(), lit: Lit::Str(LitStr::new(text, span)) });
    // The message: a text, or the user's format string with its arguments, if these can be
    // evaluated.
    match rest.split_first() {
        None => kept.push(literal(says)),
        Some((Expr::Lit(ExprLit { lit: Lit::Str(format), .. }), values)) => {
            let before = if compared == 0 && name != PANIC.name { format!("{says}: ") } else { String::new() };
            let format = format!("{before}{}", format.value());
            let refs: Vec<&Expr> = values.iter().collect();
            if values.iter().all(panic_messages::is_pure) {
                kept.push(literal(&format));
                kept.extend(values.iter().cloned());
            } else {
                kept.push(literal(
                    &panic_messages::with_expressions(&format, &refs).replace('{', "{{").replace('}', "}}"),
                ));
            }
            // An empty argument marks a format string.
            kept.push(literal(""));
        }
        Some((other, _)) => kept.push(literal(&text_of(other, 60))),
    }
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

/// The macro that [`rewrite`] has turned into this path.
pub(super) fn named(path: &Path) -> Option<&'static Panics> {
    let (Some(_), [mark, name]) = (path.leading_colon, &path.segments.iter().collect::<Vec<_>>()[..]) else {
        return None;
    };
    MACROS.iter().find(|row| mark.ident == MARK && name.ident == row.name)
}

impl<'a> Lower<'a> {
    /// Lowers a call that [`rewrite`] has generated.
    pub(super) fn panicking(&mut self, row: &'static Panics, c: &'a ExprCall) -> Lowered<Value<'a>> {
        let (name, compared) = (row.name, row.compared());
        let all: Vec<&'a Expr> = c.args.iter().collect();
        let at = all.iter().position(|e| matches!(e, Expr::Lit(ExprLit { lit: Lit::Str(_), .. })));
        let (args, said) = all.split_at(at.unwrap_or(all.len()).min(compared));
        let (Some(says), args) = (said.first().and_then(|e| panic_messages::string(e)), args.to_vec()) else {
            return Err(Poison);
        };
        let own = said.len() > 1;
        let values = said.get(1..said.len() - 1).unwrap_or_default().to_vec();
        let range = SrcRange::of(&c.func);
        if args.len() != compared {
            return Err(self.error(range, catalogue::arity(name, (compared, compared), args.len())));
        }
        let texts: Vec<String> = args.iter().map(|e| text_of(*e, 30)).collect();
        let text = format!("{name}!({})", texts.join(", "));
        let ranges: Vec<SrcRange> = args.iter().map(|e| SrcRange::of(*e)).collect();
        self.at_location(SourceLocation::of_range(range, text), |me| {
            let compared = me.all(args)?;
            let ok = match (row.asks, &compared[..]) {
                (Asks::Holds, [ok]) => me.boolean(ok, ranges[0])?,
                (Asks::Equal, [a, b]) => me.equal_values(a, b, range)?,
                (Asks::Differ, [a, b]) => {
                    let equal = me.equal_values(a, b, range)?;
                    me.g.not(equal)
                }
                _ => {
                    let said = if own { me.format_message(&says, &values) } else { (&*says).into() };
                    return Ok(me.panic(&said));
                }
            };
            // The arguments of the message are evaluated only if the check fails.
            let said = if own { me.under(ok, false, |me| me.format_message(&says, &values)) } else { (&*says).into() };
            me.ensure(ok, &said, row.debug, range)?;
            Ok(Value::Unit)
        })
    }

    /// Adds a check of the function's own condition. Sizes that have to be equal are the same size
    /// afterwards.
    fn ensure(&mut self, ok: Term, said: &PanicMessage, debug: bool, range: SrcRange) -> Lowered<()> {
        if debug {
            self.state.requirements.set_debug_only(true);
            self.require_with_message(ok, said);
            self.state.requirements.set_debug_only(false);
            return Ok(());
        }
        match self.g.node(ok).clone() {
            Node::Prim(Prim::And, args) => {
                self.ensure(args[0], said, debug, range)?;
                return self.ensure(args[1], said, debug, range);
            }
            Node::Prim(Prim::Compare(Cmp::Eq), args)
                if *self.g.ty(args[0]) == Type::scalar(Elem::USIZE)
                    && self.unconditional()
                    && self.size_of(args[0]).is_some()
                    && self.size_of(args[1]).is_some() =>
            {
                let words = ["left".to_string(), "right".to_string()];
                self.equate_with_message(args[0], args[1], words, said, range)?;
                return Ok(());
            }
            _ => {}
        }
        self.require_with_message(ok, said);
        self.state.facts.assume(&self.g, ok, true);
        Ok(())
    }

    /// A condition: two values are equal.
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
            _ => {
                let (a, b) = self.unify_literals(a, b, [range, range])?;
                self.comparison(Cmp::Eq, a, b, range)
            }
        }
    }
}
