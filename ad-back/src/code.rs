//! The code of a statement, which remembers whether it is a single `if`: nested `if`s are then
//! written in the form that clippy accepts. This module does not parse the tokens that it has
//! written.

use proc_macro2::TokenStream;
use quote::{ToTokens, quote};

use super::marks::around;
use ad_ir::ir::Term;

/// A condition in an `if`.
#[derive(Clone, Debug)]
pub(super) struct Condition {
    pub(super) tokens: TokenStream,
    /// Whether it is a single name.
    pub(super) name: bool,
    /// Whether it can follow `&&` without parentheses: a name, the negation of a name, or a
    /// conjunction of these.
    pub(super) joins: bool,
}

impl Condition {
    /// A condition of unknown form.
    pub(super) fn opaque(tokens: TokenStream) -> Self {
        Condition { tokens, name: false, joins: false }
    }
}

/// A condition and the branches of an `if`.
#[derive(Clone, Debug)]
struct If {
    cond: Condition,
    then: TokenStream,
    has_else: bool,
}

/// The form of the tokens, as far as it matters to a block.
#[derive(Clone, Debug, Default)]
enum CodeForm {
    /// No statement.
    #[default]
    Nothing,
    /// A single `if`.
    If(Box<If>),
    /// Statements, or a value at the end of a block.
    Written,
}

/// Tokens of statements.
#[derive(Clone, Debug, Default)]
pub(super) struct Code {
    tokens: TokenStream,
    form: CodeForm,
}

impl From<TokenStream> for Code {
    /// Code with at least one token. A caller that has nothing to write adds no code.
    fn from(tokens: TokenStream) -> Self {
        debug_assert!(!tokens.is_empty(), "code without tokens");
        Code { tokens, form: CodeForm::Written }
    }
}

impl ToTokens for Code {
    fn to_tokens(&self, tokens: &mut TokenStream) {
        self.tokens.to_tokens(tokens);
    }
}

impl Code {
    /// Whether nothing was written.
    pub(super) fn is_empty(&self) -> bool {
        matches!(self.form, CodeForm::Nothing)
    }

    /// The code between marks of these terms. Its form is that of the code without marks, so that
    /// they change no other token.
    pub(super) fn marked(self, terms: &[Term]) -> Code {
        Code { tokens: around(terms, self.tokens), form: self.form }
    }

    /// Appends code.
    pub(super) fn push(&mut self, next: impl Into<Code>) {
        let next = next.into();
        if next.is_empty() {
            return;
        }
        if self.is_empty() {
            *self = next;
            return;
        }
        self.tokens.extend(next.tokens);
        self.form = CodeForm::Written;
    }

    /// An `if` as a statement, without empty branches, and nested no deeper than necessary.
    pub(super) fn of_if(cond: Condition, then: Code, other: &Code) -> Code {
        if then.is_empty() && !other.is_empty() && cond.name {
            let tokens = &cond.tokens;
            let not = Condition { tokens: quote!(!#tokens), name: false, joins: cond.joins };
            return Code::joined(not, other);
        }
        if !other.is_empty() {
            let (test, then) = (&cond.tokens, then.tokens);
            let tokens = match &other.form {
                CodeForm::If(_) => quote!(if #test { #then } else #other),
                _ => quote!(if #test { #then } else { #other }),
            };
            return Code { tokens, form: CodeForm::If(Box::new(If { cond, then, has_else: true })) };
        }
        if cond.name { Code::joined(cond, &then) } else { Code::plain_if(cond, then.tokens) }
    }

    /// `if cond { code }`, merged with the `if` that `code` is, if it is a single one and the
    /// conditions can be joined.
    fn joined(cond: Condition, code: &Code) -> Code {
        match &code.form {
            CodeForm::If(only) if !only.has_else && only.cond.joins => {
                let (a, b, then) = (&cond.tokens, &only.cond.tokens, &only.then);
                let both = Condition { tokens: quote!(#a && #b), name: false, joins: cond.joins };
                Code::plain_if(both, then.clone())
            }
            _ => Code::plain_if(cond, code.tokens.clone()),
        }
    }

    /// `if cond { then }`.
    pub(super) fn plain_if(cond: Condition, then: TokenStream) -> Code {
        let test = &cond.tokens;
        Code { tokens: quote!(if #test { #then }), form: CodeForm::If(Box::new(If { cond, then, has_else: false })) }
    }
}
