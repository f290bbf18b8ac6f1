//! Messages of checks and panics. A message of the user's is a format string. It shows values that
//! cost the derivative nothing. In place of other values it shows source text (inside of a loop a
//! value does not exist when the check is made).
//!
//! Invariants: a message makes no check more expensive, and causes no second error. An argument
//! that cannot be lowered is shown as source text.

use std::rc::Rc;

use syn::{Expr, ExprLit, Lit};

use super::lower::Lower;
use super::table;
use super::value::{Value, Want};
use crate::translation::enclosing::Frame;
use ad_ir::diag::{SrcRange, text_of};
use ad_ir::ir::{Node, Term};

/// A piece of a message.
#[derive(Clone, Debug)]
pub(super) enum Piece {
    Text(String),
    /// A scalar, its format (the text after the colon), and the text that replaces it if the value
    /// is not available.
    Value(Term, String, String),
}

/// The message of a check: the compiler's text, or the user's.
#[derive(Clone, Debug)]
pub(super) struct PanicMessage {
    /// The text with expressions in place of values.
    pub text: String,
    /// The pieces of the user's message, if there is one.
    pub user_format: Option<Rc<[Piece]>>,
}

impl From<&str> for PanicMessage {
    fn from(text: &str) -> Self {
        PanicMessage { text: text.to_string(), user_format: None }
    }
}

impl PanicMessage {
    /// A message of the user's without values.
    pub(super) fn of_user(text: &str) -> Self {
        PanicMessage { text: text.to_string(), user_format: Some([Piece::Text(text.to_string())].into()) }
    }

    /// The message without values, for use after its terms are gone.
    pub(super) fn without_values(&self) -> Self {
        if self.user_format.is_some() { PanicMessage::of_user(&self.text) } else { self.clone() }
    }

    /// The format string and the values that it shows. `available` returns the term that has the
    /// value when the check fails, if there is one.
    pub(super) fn format(&self, mut available: impl FnMut(Term) -> Option<Term>) -> Option<(String, Vec<Term>)> {
        let (mut format, mut values) = (String::new(), Vec::new());
        for piece in self.user_format.as_ref()?.iter() {
            match piece {
                Piece::Text(text) => format.push_str(&escaped(text)),
                Piece::Value(t, spec, text) => match available(*t) {
                    Some(t) => {
                        format.push_str(&if spec.is_empty() { "{}".to_string() } else { format!("{{:{spec}}}") });
                        values.push(t);
                    }
                    None => format.push_str(&escaped(&format!("`{text}`"))),
                },
            }
        }
        Some((format, values))
    }
}

/// Escapes the braces of a text for use in a format string.
fn escaped(text: &str) -> String {
    text.replace('{', "{{").replace('}', "}}")
}

/// A part of a format string.
enum FormatPiece<'f> {
    Text(String),
    /// A placeholder: its argument (a name, a number, or nothing for the next one) and its format.
    Hole(&'f str, &'f str),
}

fn parsed(format: &str) -> Vec<FormatPiece<'_>> {
    let (mut parts, mut text) = (Vec::new(), String::new());
    let mut rest = format;
    while let Some(at) = rest.find(['{', '}']) {
        let (before, from) = rest.split_at(at);
        text.push_str(before);
        let end = from.find('}').filter(|_| from.starts_with('{') && !from.starts_with("{{"));
        let Some(end) = end else {
            text.push_str(&from[..1]);
            rest = if from.starts_with("{{") || from.starts_with("}}") { &from[2..] } else { &from[1..] };
            continue;
        };
        parts.push(FormatPiece::Text(std::mem::take(&mut text)));
        let (which, how) = from[1..end].split_once(':').unwrap_or((&from[1..end], ""));
        parts.push(FormatPiece::Hole(which.trim(), how));
        rest = &from[end + 1..];
    }
    text.push_str(rest);
    parts.push(FormatPiece::Text(text));
    parts
}

/// Each part of a format string. A placeholder comes with its argument, if that follows the format
/// string.
fn filled<'f, 'e>(format: &'f str, values: &[&'e Expr]) -> Vec<(FormatPiece<'f>, Option<&'e Expr>)> {
    let mut next = 0;
    let named = |name: &str| {
        values.iter().find_map(|e| match e {
            Expr::Assign(a) => matches!(&*a.left, Expr::Path(p) if p.path.is_ident(name)).then_some(&*a.right),
            _ => None,
        })
    };
    let fill = |part: FormatPiece<'f>| {
        let value = match part {
            FormatPiece::Text(_) => None,
            FormatPiece::Hole("", _) => {
                next += 1;
                values.get(next - 1).copied()
            }
            FormatPiece::Hole(which, _) => match which.parse::<usize>() {
                Ok(k) => values.get(k).copied(),
                Err(_) => named(which),
            },
        };
        (part, value)
    };
    parsed(format).into_iter().map(fill).collect()
}

/// A format string with expressions in place of values.
pub(super) fn with_expressions(format: &str, values: &[&Expr]) -> String {
    let part = |(part, value): (FormatPiece, Option<&Expr>)| match part {
        FormatPiece::Text(text) => text,
        FormatPiece::Hole(which, _) => format!("`{}`", value.map_or_else(|| which.to_string(), |e| text_of(e, 30))),
    };
    filled(format, values).into_iter().map(part).collect()
}

/// Whether an expression may be evaluated for a message. It must not be likely to fail, and must
/// not call a function of the user.
pub(super) fn is_pure(e: &Expr) -> bool {
    match e {
        Expr::Path(_) | Expr::Lit(_) => true,
        Expr::Paren(e) => is_pure(&e.expr),
        Expr::Group(e) => is_pure(&e.expr),
        Expr::Reference(e) => is_pure(&e.expr),
        Expr::Unary(e) => is_pure(&e.expr),
        Expr::Field(e) => is_pure(&e.base),
        Expr::Cast(e) => is_pure(&e.expr),
        Expr::Index(e) => is_pure(&e.expr) && is_pure(&e.index),
        Expr::Binary(e) => is_pure(&e.left) && is_pure(&e.right),
        Expr::MethodCall(m) => m.args.is_empty() && table::is_total(&m.method.to_string()) && is_pure(&m.receiver),
        _ => false,
    }
}

impl<'a> Lower<'a> {
    /// The message of a format string at this point.
    pub(super) fn format_message(&mut self, format: &str, values: &[&'a Expr]) -> PanicMessage {
        let mut pieces = Vec::new();
        for (part, value) in filled(format, values) {
            pieces.push(match part {
                FormatPiece::Text(text) => Piece::Text(text),
                FormatPiece::Hole(which, how) => {
                    let text = value.map_or_else(|| which.to_string(), |e| text_of(e, 30));
                    // A width or precision that is another argument (`{:1$}`, `{:w$}`, `{:.*}`) is
                    // not evaluated.
                    let plain = !how.contains(['$', '*']);
                    match self.argument_value(which, value).filter(|_| plain) {
                        Some(t) => Piece::Value(t, how.to_string(), text),
                        None => Piece::Text(format!("`{text}`")),
                    }
                }
            });
        }
        PanicMessage { text: with_expressions(format, values), user_format: Some(pieces.into()) }
    }

    /// The value of an argument, if it is a scalar.
    fn argument_value(&mut self, name: &str, value: Option<&'a Expr>) -> Option<Term> {
        let range = SrcRange { first: proc_macro2::Span::call_site(), last: proc_macro2::Span::call_site() };
        let t = self.trial(|me| {
            let value = match value {
                Some(e) => me.expr(e).ok()?,
                None => me.lookup(name, range)?.ok()?,
            };
            let want = match &value {
                Value::Number(n) if n.outer().is_some() => return None,
                _ => Want::Any,
            };
            me.term_as(&value, want, range).ok()
        })?;
        (self.g.rank(t) == 0).then_some(t)
    }

    /// The value of a scalar when a check fails, if it costs nothing unless the check fails. It may
    /// take a little arithmetic on arguments and sizes, and on the terms that the check reads under
    /// the same guards. (A term under a guard might not terminate without it.)
    pub(super) fn shown_value(&mut self, t: Term, check: Term) -> Option<Term> {
        const MOST: usize = 16;
        if !self.g.is_closed(t) || self.g.rank(t) > 0 {
            return None;
        }
        let known = self.g.reachable(&[check]);
        let (mut stack, mut seen, mut cheap) = (vec![t], Vec::new(), true);
        while let Some(t) = stack.pop() {
            if seen.contains(&t) {
                continue;
            }
            seen.push(t);
            match self.g.node(t) {
                Node::Input(_) | Node::Size(..) | Node::Lit(_) => continue,
                Node::Prim(prim, _) if prim.is_elementwise() && self.g.rank(t) == 0 && seen.len() < MOST => {}
                Node::Gather { src, .. } if self.g.rank(t) == 0 && matches!(self.g.node(*src), Node::Input(_)) => {}
                _ if known.contains(&t) => {
                    cheap = false;
                    continue;
                }
                _ => return None,
            }
            self.g.node(t).for_each_child(|c| stack.push(c));
        }
        if cheap {
            return Some(t);
        }
        let mut value = t;
        let zero = self.g.zero(self.g.elem(t));
        for frame in self.state.enclosing.frames().to_vec().into_iter().rev() {
            let Frame::Guard { cond, holds } = frame else { return None };
            let (then, other) = if holds { (value, zero) } else { (zero, value) };
            value = self.g.cond(cond, then, other);
        }
        Some(value)
    }
}

/// The text of a string literal.
pub(super) fn string(e: &Expr) -> Option<String> {
    match e {
        Expr::Lit(ExprLit { lit: Lit::Str(s), .. }) => Some(s.value()),
        Expr::Paren(e) => string(&e.expr),
        Expr::Group(e) => string(&e.expr),
        Expr::Reference(e) => string(&e.expr),
        _ => None,
    }
}
