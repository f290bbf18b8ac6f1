//! Errors for the user. All errors of a function are collected and reported, and each underlines
//! the whole expression.
//!
//! The texts are in [`crate::catalogue`]. This file only stores, orders and renders them. It does
//! not panic, whatever tokens the user has typed.

use proc_macro2::{Delimiter, Group, Ident, Literal, Punct, Spacing, Span, TokenStream, TokenTree};
use quote::ToTokens;

/// The first and the last token of an expression. On stable Rust, this is the only way to underline
/// all of it.
#[derive(Clone, Copy, Debug)]
pub struct SrcRange {
    /// Span of the first token.
    pub first: Span,
    /// Span of the last token.
    pub last: Span,
}

/// The content of a message, without its source location. `catalogue` creates them.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Message {
    /// The entry of the catalogue.
    pub entry: String,
    /// The error in the user's terms.
    pub text: String,
    /// The suggested replacement.
    pub help: Option<String>,
    /// The reason, if it is not obvious.
    pub note: Option<String>,
    /// Whether the report is left to rustc, or to the expansion of another item. The message is
    /// counted and not shown.
    pub report_left_to_rustc: bool,
    /// Whether the function's body is hidden from rustc, since rustc may report the same error for
    /// it: one mistake gives one error. (For a message that is left to rustc: whether rustc has
    /// reported the error before the macro was called.)
    pub hides_body: bool,
    /// Whether the message is about a name and is reported only at its first use.
    pub once: bool,
}

/// The mark that an error has been reported for an expression. So no further error is reported for
/// an expression that contains it.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Poison;

/// A message with its source location.
#[derive(Clone, Debug)]
pub struct Diagnostic {
    /// The tokens that are underlined.
    pub range: SrcRange,
    /// The message.
    pub message: Message,
}

/// The errors of one expansion.
#[derive(Clone, Default, Debug)]
#[must_use = "collected errors have to reach the user"]
pub struct Diags {
    list: Vec<Diagnostic>,
}

impl Diags {
    /// An empty list.
    pub fn new() -> Self {
        Self::default()
    }

    /// Reports an error. The returned mark takes the place of the expression's result.
    pub fn push(&mut self, range: SrcRange, message: Message) -> Poison {
        if !(message.once && self.list.iter().any(|said| said.message == message)) {
            self.list.push(Diagnostic { range, message });
        }
        Poison
    }

    /// Changes each message.
    pub fn reword(&mut self, change: impl Fn(&mut Message)) {
        self.list.iter_mut().for_each(|said| change(&mut said.message));
    }

    /// Keeps this many errors, those that were found first.
    pub fn truncate(&mut self, errors: usize) {
        self.list.truncate(errors);
    }

    /// Whether there is no error.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.list.is_empty()
    }

    /// An error that only rustc reports, if all errors are of that kind.
    #[must_use]
    pub fn left_to_rustc(&self) -> Option<&Diagnostic> {
        self.list.first().filter(|_| self.list.iter().all(|d| d.message.report_left_to_rustc))
    }

    /// The errors, in the order in which they were found.
    #[must_use]
    pub fn list(&self) -> &[Diagnostic] {
        &self.list
    }

    /// One `compile_error!` for each error, except for those that rustc reports.
    #[must_use]
    pub fn into_tokens(self) -> TokenStream {
        self.list.iter().filter(|d| !d.message.report_left_to_rustc).map(Diagnostic::to_compile_error).collect()
    }
}

impl Diagnostic {
    /// The message with its `= help:` and `= note:` lines. rustc indents the lines after the first,
    /// so they look like its own.
    #[must_use]
    pub fn text(&self) -> String {
        let mut text = self.message.text.clone();
        for (label, part) in [("help", &self.message.help), ("note", &self.message.note)] {
            if let Some(part) = part {
                text.push_str(&format!("\n= {label}: {part}"));
            }
        }
        text
    }

    /// `::core::compile_error!("..");`, which underlines the whole range on stable Rust: the path
    /// has the span of the first token, and the group that of the last.
    fn to_compile_error(&self) -> TokenStream {
        let SrcRange { first, last } = self.range;
        let mut tokens = TokenStream::new();
        for name in ["core", "compile_error"] {
            for spacing in [Spacing::Joint, Spacing::Alone] {
                let mut colon = Punct::new(':', spacing);
                colon.set_span(first);
                tokens.extend([TokenTree::Punct(colon)]);
            }
            tokens.extend([TokenTree::Ident(Ident::new(name, first))]);
        }
        let mut bang = Punct::new('!', Spacing::Alone);
        bang.set_span(first);
        let mut text = Literal::string(&self.text());
        text.set_span(last);
        let mut group = Group::new(Delimiter::Brace, TokenStream::from(TokenTree::Literal(text)));
        group.set_span(last);
        tokens.extend([TokenTree::Punct(bang), TokenTree::Group(group)]);
        tokens
    }
}

impl SrcRange {
    /// The range from the first to the last token of a piece of syntax.
    #[must_use]
    pub fn of(tokens: &impl ToTokens) -> Self {
        Self::of_stream(tokens.to_token_stream())
    }

    /// The range from the first to the last token.
    #[must_use]
    pub fn of_stream(tokens: TokenStream) -> Self {
        let mut tokens = tokens.into_iter();
        let Some(head) = tokens.next() else { return Self::call_site() };
        let first = match &head {
            TokenTree::Group(g) => g.span_open(),
            other => other.span(),
        };
        let last = match tokens.last().unwrap_or(head) {
            TokenTree::Group(g) => g.span_close(),
            other => other.span(),
        };
        SrcRange { first, last }
    }

    /// The location of the attribute itself, for errors without another location.
    #[must_use]
    pub fn call_site() -> Self {
        SrcRange { first: Span::call_site(), last: Span::call_site() }
    }
}

/// A piece of syntax as one short line.
#[must_use]
pub fn text_of(tokens: &impl ToTokens, longest: usize) -> String {
    let mut text = String::new();
    write_tokens(tokens.to_token_stream(), &mut text);
    if text.chars().count() > longest {
        let cut: String = text.chars().take(longest.saturating_sub(3)).collect();
        return format!("{}...", cut.trim_end());
    }
    text
}

/// A name with two uses. It is the crate in paths that the front end generates. (There is no such
/// crate, so a function with such a path does not compile.) It is also the attribute that holds the
/// user's source text of an expression that the front end has replaced.
pub const MARK: &str = "__differentiate";

/// The user's source text for the next expression, if these tokens are the content of the attribute
/// that holds it.
fn written(attribute: TokenStream) -> Option<String> {
    let mut tokens = attribute.into_iter();
    match (tokens.next()?, tokens.next()?, tokens.next()?) {
        (TokenTree::Ident(mark), TokenTree::Punct(_), TokenTree::Literal(text)) if mark == MARK => {
            syn::parse_str::<syn::LitStr>(&text.to_string()).ok().map(|text| text.value())
        }
        _ => None,
    }
}

/// The maximum length of a text. An expression may be a whole body.
const MAX_LENGTH: usize = 400;

/// Writes tokens with the usual spacing: `f(&x, i + 1)`, not `f (& x , i + 1)`.
fn write_tokens(tokens: TokenStream, text: &mut String) {
    let mut writer = TokenWriter { text, gap: false, operand: false, in_pipes: false, generics: 0 };
    let mut tokens = tokens.into_iter().peekable();
    while let Some(token) = tokens.next() {
        if writer.text.len() > MAX_LENGTH {
            return;
        }
        match token {
            TokenTree::Group(g) => writer.group(&g),
            TokenTree::Ident(i) if i == MARK => writer.path_of_ours(&mut tokens),
            TokenTree::Ident(i) => writer.ident(&i.to_string()),
            TokenTree::Literal(l) => writer.literal(&l.to_string()),
            TokenTree::Punct(p) => {
                if let ('#', Some(TokenTree::Group(attribute))) = (p.as_char(), tokens.peek())
                    && let Some(words) = written(attribute.stream())
                {
                    writer.source_text(&words);
                    // Skips the attribute and the expression that replaces the source text.
                    let _ = (tokens.next(), tokens.next());
                    continue;
                }
                let op = operator(&p, &mut tokens);
                writer.operator(&op);
            }
        }
    }
}

type Tokens = std::iter::Peekable<proc_macro2::token_stream::IntoIter>;

/// An operator: the punctuation `p` and what continues it.
fn operator(p: &proc_macro2::Punct, tokens: &mut Tokens) -> String {
    let mut op = p.as_char().to_string();
    let mut joint = p.spacing() == Spacing::Joint;
    while joint && p.as_char() != '\'' {
        match tokens.peek() {
            Some(TokenTree::Punct(q)) if continues(&op, q.as_char()) => {
                op.push(q.as_char());
                joint = q.spacing() == Spacing::Joint;
                tokens.next();
            }
            _ => break,
        }
    }
    op
}

/// The text of tokens between two delimiters, while it is written.
struct TokenWriter<'t> {
    text: &'t mut String,
    /// Whether a space precedes the next token.
    gap: bool,
    /// Whether the last token was an operand, so that a following `-` is binary.
    operand: bool,
    /// Whether the parameters of a closure are being written.
    in_pipes: bool,
    /// The number of open `<`.
    generics: usize,
}

impl TokenWriter<'_> {
    /// Writes a token, and says what follows it.
    fn push(&mut self, token: &str, (gap, operand): (bool, bool)) {
        self.text.push_str(token);
        (self.gap, self.operand) = (gap, operand);
    }

    fn group(&mut self, g: &proc_macro2::Group) {
        let (open, close) = match g.delimiter() {
            Delimiter::Parenthesis => ("(", ")"),
            Delimiter::Bracket => ("[", "]"),
            Delimiter::Brace => ("{ ", " }"),
            Delimiter::None => ("", ""),
        };
        let brace = g.delimiter() == Delimiter::Brace;
        if (self.gap && !self.operand) || (brace && !self.text.is_empty() && !self.text.ends_with([' ', '('])) {
            self.text.push(' ');
        }
        self.text.push_str(open);
        write_tokens(g.stream(), self.text);
        self.push(close, (false, true));
    }

    /// Leaves out the part of a path that the front end has generated. In
    /// `::__differentiate::ndarray::stack` the rest of the path is the user's.
    fn path_of_ours(&mut self, tokens: &mut Tokens) {
        self.text.truncate(self.text.strip_suffix("::").map_or(self.text.len(), str::len));
        let ours = |t: &TokenTree| match t {
            TokenTree::Punct(_) => true,
            TokenTree::Ident(i) => i == "ndarray",
            _ => false,
        };
        while tokens.peek().is_some_and(ours) {
            tokens.next();
        }
        (self.gap, self.operand) = (false, false);
    }

    /// The space before a name or an expression.
    fn space_before_operand(&mut self) {
        if (self.gap || self.operand) && !self.text.is_empty() && !self.text.ends_with([' ', '(', '[', '<']) {
            self.text.push(' ');
        }
    }

    fn ident(&mut self, name: &str) {
        self.space_before_operand();
        let operand = !matches!(name, "as" | "in" | "if" | "else" | "return" | "let" | "match" | "move");
        self.push(name, (!operand, operand));
    }

    /// The source text of an expression.
    fn source_text(&mut self, text: &str) {
        self.space_before_operand();
        self.push(text, (false, true));
    }

    fn literal(&mut self, text: &str) {
        if (self.gap || self.operand) && !self.text.ends_with([' ', '.']) {
            self.text.push(' ');
        }
        self.push(text, (false, true));
    }

    fn operator(&mut self, op: &str) {
        // In `Array1<f64>` and `sum::<f64>` these are brackets and not comparisons.
        if op == "<" && (self.text.ends_with("::") || (self.operand && of_type(self.text))) {
            self.generics += 1;
            return self.push("<", (false, false));
        }
        if op.chars().all(|c| c == '>') && op.len() <= self.generics {
            self.generics -= op.len();
            return self.push(op, (false, true));
        }
        match op {
            "." | "::" | "?" | ".." | "..=" | "'" => self.push(op, (false, false)),
            "," | ";" | ":" => self.push(op, (true, false)),
            "|" if self.in_pipes => {
                self.in_pipes = false;
                self.push(op, (true, false));
            }
            "|" | "||" if !self.operand => {
                self.in_pipes = op == "|";
                self.prefix(op, op == "||");
            }
            "!" if self.operand => self.push(op, (false, false)),
            "&" | "*" | "-" | "!" | "&&" if !self.operand => self.prefix(op, false),
            _ => self.push(&format!(" {op}"), (true, false)),
        }
    }

    /// An operator before its operand.
    fn prefix(&mut self, op: &str, gap: bool) {
        if self.gap {
            self.text.push(' ');
        }
        self.push(op, (gap, false));
    }
}

/// Whether a text ends in a name that is written like a type.
fn of_type(text: &str) -> bool {
    let name = text.rsplit(|c: char| !c.is_alphanumeric() && c != '_').next().unwrap_or("");
    name.len() > 1 && name.starts_with(char::is_uppercase) && name.contains(char::is_lowercase)
}

fn continues(op: &str, next: char) -> bool {
    matches!(
        (op, next),
        (":", ':')
            | ("." | "..", '.')
            | (".." | "+" | "-" | "*" | "/" | "%" | "=" | "!" | "<" | ">", '=')
            | ("&", '&')
            | ("|", '|')
            | ("=" | "-", '>')
            | ("<", '<')
    )
}

/// The name nearest to `name`, if it is near enough: up to a third of its letters may be wrong or
/// in another order.
#[must_use]
pub fn suggest<'a>(name: &str, among: impl IntoIterator<Item = &'a str>) -> Option<&'a str> {
    let length = name.chars().count();
    let limit = (length / 3).max(1);
    let letters = |name: &str| {
        let mut letters: Vec<char> = name.chars().collect();
        letters.sort_unstable();
        letters
    };
    let own = letters(name);
    // As many edits are needed as the lengths differ by.
    let near = |other: &&str| other.chars().count().abs_diff(length) <= limit;
    let edits = |other: &str| {
        let edits = distance(name, other);
        if edits > 1 && own.len() > 3 && letters(other) == own { 1 } else { edits }
    };
    let best = among.into_iter().filter(near).map(|other| (edits(other), other)).min_by_key(|&(d, _)| d)?;
    // A name of one or two letters is near to every name.
    (best.0 > 0 && best.0 <= limit && best.1.len() > 1).then_some(best.1)
}

/// The number of insertions, deletions, replacements and swaps of neighbours that turn one string
/// into the other.
fn distance(a: &str, b: &str) -> usize {
    let (a, b): (Vec<char>, Vec<char>) = (a.chars().collect(), b.chars().collect());
    let mut rows = vec![(0..=b.len()).collect::<Vec<usize>>()];
    for i in 1..=a.len() {
        let mut row = vec![i];
        for j in 1..=b.len() {
            let replace = rows[i - 1][j - 1] + usize::from(a[i - 1] != b[j - 1]);
            let mut best = replace.min(rows[i - 1][j] + 1).min(row[j - 1] + 1);
            if i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1] {
                best = best.min(rows[i - 2][j - 2] + 1);
            }
            row.push(best);
        }
        rows.push(row);
    }
    rows[a.len()][b.len()]
}
