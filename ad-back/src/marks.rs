//! Generated code as text, with the terms that its parts compute: for the pages of `AD_EXPLAIN`.
//!
//! While the code of a page is written, the tokens of a statement are between two identifiers that
//! no program contains. [`formatted`] turns tokens into lines and these identifiers into marks. The
//! code that is compiled has no such identifiers. This module must never drop another token.

use proc_macro2::{Delimiter, Spacing, TokenStream, TokenTree};
use quote::{format_ident, quote};

use ad_ir::ir::Term;
use ad_ir::ir::marked::MarkedText;

/// The identifiers around a part. The numbers of the terms follow the first one.
const FROM: &str = "__ad_from";
const END: &str = "__ad_end";

/// The tokens, between the identifiers for these terms.
pub(super) fn around(terms: &[Term], tokens: TokenStream) -> TokenStream {
    if terms.is_empty() || tokens.is_empty() {
        return tokens;
    }
    let numbers: String = terms.iter().map(|t| format!("_{}", t.index())).collect();
    let (from, end) = (format_ident!("{FROM}{numbers}"), format_ident!("{END}"));
    quote!(#from #tokens #end)
}

/// The code in lines, as rustfmt would write them except for the length of a line.
pub(super) fn formatted(tokens: TokenStream, terms: &dyn Fn(usize) -> Vec<Term>) -> MarkedText {
    let mut lines = Lines::of(terms);
    lines.tokens(tokens, Around::Block);
    MarkedText::of(lines.out.trim_end())
}

/// The delimiters around tokens.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Around {
    Block,
    Brackets,
}

/// The kind of the last token, as far as the space after it depends on it.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Last {
    /// No space follows.
    Open,
    /// A value: an operator after it has two operands.
    Value,
    /// A word after which a value begins.
    Word,
    /// An operator or a comma, with a space after it.
    Spaced,
}

struct Lines<'a> {
    /// The terms that a statement with this term computes.
    terms: &'a dyn Fn(usize) -> Vec<Term>,
    out: String,
    /// Marks that begin before the next token.
    begun: String,
    depth: usize,
    newline: bool,
    last: Last,
    /// Open angle brackets.
    angles: usize,
    /// Whether the parameters of a closure are being written.
    pipes: bool,
    /// The last two words.
    words: [String; 2],
}

impl<'a> Lines<'a> {
    fn of(terms: &'a dyn Fn(usize) -> Vec<Term>) -> Self {
        Lines {
            terms,
            out: String::new(),
            begun: String::new(),
            depth: 0,
            newline: false,
            last: Last::Open,
            angles: 0,
            pipes: false,
            words: [String::new(), String::new()],
        }
    }

    /// Writes a token, after a space if there is to be one.
    fn put(&mut self, text: &str, space: bool) {
        if self.newline && !self.out.is_empty() {
            self.out.push('\n');
            self.out.push_str(&"    ".repeat(self.depth));
        } else if space && !self.out.is_empty() {
            self.out.push(' ');
        }
        self.newline = false;
        self.out.push_str(&std::mem::take(&mut self.begun));
        self.out.push_str(text);
    }

    fn tokens(&mut self, tokens: TokenStream, around: Around) {
        let mut tokens = tokens.into_iter().peekable();
        while let Some(token) = tokens.next() {
            match token {
                TokenTree::Group(group) => match group.delimiter() {
                    Delimiter::Brace => {
                        self.block(group.stream());
                        let goes_on = match tokens.peek() {
                            Some(TokenTree::Ident(next)) => next == "else" || next == "as",
                            Some(TokenTree::Punct(next)) => ".,;?)".contains(next.as_char()),
                            _ => false,
                        };
                        self.newline = !goes_on && around == Around::Block;
                    }
                    Delimiter::None => self.tokens(group.stream(), around),
                    other => {
                        let [open, close] = if other == Delimiter::Bracket { ["[", "]"] } else { ["(", ")"] };
                        self.put(open, matches!(self.last, Last::Spaced | Last::Word));
                        self.last = Last::Open;
                        let outer = (std::mem::take(&mut self.angles), std::mem::take(&mut self.pipes));
                        self.tokens(group.stream(), Around::Brackets);
                        (self.angles, self.pipes) = outer;
                        self.put(close, false);
                        self.last = Last::Value;
                    }
                },
                TokenTree::Ident(word) => self.word(&word.to_string()),
                TokenTree::Literal(literal) => {
                    self.put(&literal.to_string(), self.last != Last::Open);
                    self.last = Last::Value;
                }
                TokenTree::Punct(first) if first.as_char() == '#' => {
                    if let Some(TokenTree::Group(attribute)) = tokens.next() {
                        self.attribute(attribute.stream());
                    }
                }
                TokenTree::Punct(first) => {
                    let mut text = String::from(first.as_char());
                    let mut joint = first.spacing() == Spacing::Joint && first.as_char() != '\'';
                    while joint {
                        match tokens.peek() {
                            Some(TokenTree::Punct(next)) if continues(&text, next.as_char()) => {
                                text.push(next.as_char());
                                joint = next.spacing() == Spacing::Joint;
                                tokens.next();
                            }
                            _ => joint = false,
                        }
                    }
                    self.operator(&text);
                    self.newline |= text == ";" && around == Around::Block;
                    self.newline |= text == "," && around == Around::Block && self.angles == 0;
                }
            }
        }
    }

    fn block(&mut self, inner: TokenStream) {
        if inner.is_empty() {
            self.put("{}", self.last != Last::Open);
            self.last = Last::Value;
            return;
        }
        self.put("{", self.last != Last::Open);
        let outer = (std::mem::take(&mut self.angles), std::mem::take(&mut self.pipes));
        (self.newline, self.last) = (true, Last::Open);
        self.depth += 1;
        self.tokens(inner, Around::Block);
        self.depth -= 1;
        (self.angles, self.pipes) = outer;
        self.newline = true;
        self.put("}", false);
        self.last = Last::Value;
    }

    fn attribute(&mut self, inside: TokenStream) {
        let mut parts = inside.clone().into_iter();
        if let (Some(TokenTree::Ident(doc)), _, Some(TokenTree::Literal(text))) =
            (parts.next(), parts.next(), parts.next())
            && doc == "doc"
        {
            let text = text.to_string();
            self.put(&format!("/// {}", text.trim_matches('"').trim_start()), true);
        } else {
            self.put("#[", true);
            self.last = Last::Open;
            self.tokens(inside, Around::Brackets);
            self.put("]", false);
        }
        (self.newline, self.last) = (true, Last::Open);
    }

    fn word(&mut self, word: &str) {
        if word == END {
            self.out.push_str(&MarkedText::end());
            return;
        }
        if let Some(numbers) = word.strip_prefix(FROM) {
            let named = numbers.split('_').filter_map(|n| n.parse().ok());
            let mut all: Vec<Term> = named.flat_map(self.terms).collect();
            all.sort_unstable();
            all.dedup();
            self.begun.push_str(&MarkedText::begin(&all));
            return;
        }
        self.put(word, self.last != Last::Open);
        let begins = matches!(
            word,
            "let" | "mut" | "in" | "if" | "else" | "return" | "match" | "move" | "for" | "while" | "as" | "ref"
        );
        self.last = if begins { Last::Word } else { Last::Value };
        self.words.swap(0, 1);
        self.words[1] = word.to_string();
    }

    fn operator(&mut self, text: &str) {
        let after_value = self.last == Last::Value;
        let type_before = self.words[0] == "fn"
            || self.words[1] == "impl"
            || self.words[1].starts_with(|c: char| c.is_uppercase())
            || self.out.ends_with("::");
        match text {
            "<" if !after_value || type_before => {
                self.put(text, matches!(self.last, Last::Spaced | Last::Word));
                (self.angles, self.last) = (self.angles + 1, Last::Open);
            }
            ">" | ">>" if self.angles >= text.len() => {
                self.put(text, false);
                (self.angles, self.last) = (self.angles - text.len(), Last::Value);
            }
            "," | ";" | ":" => {
                self.put(text, false);
                self.last = Last::Spaced;
            }
            "." | "::" | "?" | ".." | "..=" => {
                self.put(text, !after_value && self.last != Last::Open);
                self.last = if text == "?" { Last::Value } else { Last::Open };
            }
            "!" if after_value => {
                self.put(text, false);
                self.last = Last::Open;
            }
            "'" => {
                self.put(text, self.last != Last::Open);
                self.last = Last::Open;
            }
            "|" if self.pipes => {
                self.put(text, false);
                (self.pipes, self.last) = (false, Last::Spaced);
            }
            "|" | "||" if !after_value => {
                self.put(text, self.last != Last::Open);
                self.pipes = text == "|";
                self.last = if self.pipes { Last::Open } else { Last::Spaced };
            }
            "&" | "&&" | "-" | "*" | "!" if !after_value => {
                self.put(text, self.last != Last::Open);
                self.last = Last::Open;
            }
            _ => {
                self.put(text, true);
                self.last = Last::Spaced;
            }
        }
    }
}

/// Whether a character continues an operator.
fn continues(text: &str, next: char) -> bool {
    let mut longer = String::from(text);
    longer.push(next);
    const ALL: &[&str] = &[
        "::", "..", "..=", "->", "=>", "==", "!=", "<=", ">=", "&&", "||", "+=", "-=", "*=", "/=", "%=", "|=", "&=",
        "^=", "<<", ">>",
    ];
    ALL.contains(&longer.as_str())
}
