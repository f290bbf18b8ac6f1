//! Where tokens are in the user's files, and the text of a function as it stands there: for the
//! pages that explain a function.
//!
//! A token that a macro has made has no text of its own, and tokens of tests have no file. Then
//! there is no position, and the caller says so. This module must never guess one.

mod around;

use std::cell::{Cell, RefCell};

use proc_macro2::{Delimiter, LineColumn, Span, TokenStream, TokenTree};

pub use self::around::is_in_a_block;
use crate::diag::SrcRange;
use crate::sorted::SortedMap;

/// A part of a file. Lines count from 1; columns count characters from 0.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub struct Position {
    /// The file, as the compiler names it.
    pub file: String,
    /// The line and the column of the first character.
    pub start: (usize, usize),
    /// The line and the column after the last character.
    pub end: (usize, usize),
}

impl Position {
    /// Whether another part of the same file is in this one.
    #[must_use]
    pub fn contains(&self, other: &Position) -> bool {
        self.start <= other.start && other.end <= self.end
    }
}

/// A function as it stands in its file.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct SourceText {
    /// Its place.
    pub position: Position,
    /// Its lines. The first one begins with the spaces that stand before the function.
    pub text: String,
}

thread_local! {
    static ALL: Cell<bool> = const { Cell::new(false) };
    static NAMES: RefCell<SortedMap<String, String>> = const { RefCell::new(SortedMap::new()) };
}

/// Sets whether the terms of functions that this thread reads from now on keep all of their places
/// in the source, as a page needs them.
pub fn keep_all(on: bool) {
    ALL.set(on);
}

/// Whether terms that this thread reads keep all of their places.
#[must_use]
pub fn are_all_kept() -> bool {
    ALL.get()
}

/// Names the file that these tokens were parsed from, for this thread. Outside of macros tokens
/// know only that they were parsed.
pub fn name_file(tokens: &TokenStream, name: &str) {
    if let Some(first) = tokens.clone().into_iter().next() {
        NAMES.with_borrow_mut(|names| names.insert(first.span().file(), name.to_string()));
    }
}

fn file_of(span: Span) -> String {
    let file = span.file();
    NAMES.with_borrow(|names| names.get(&file).cloned()).unwrap_or(file)
}

/// The position of a range, if its tokens stand in a file.
#[must_use]
pub fn position(range: SrcRange) -> Option<Position> {
    let (start, end) = (pair(range.first.start()), pair(range.last.end()));
    // A span of no file has the position 1:0 at both ends.
    (start < end).then(|| Position { file: file_of(range.first), start, end })
}

fn pair(at: LineColumn) -> (usize, usize) {
    (at.line, at.column)
}

/// The tokens of a function, as far as its text needs them.
#[derive(Clone, Debug)]
pub struct SourceTokens {
    /// The tokens before the body.
    pub head: TokenStream,
    /// The body with its braces, and its last brace.
    pub body: [Span; 2],
}

impl SourceTokens {
    /// The text of the function. Comments between the tokens before the body are left out.
    #[must_use]
    pub fn text(&self) -> Option<SourceText> {
        let [body, last] = self.body;
        let position = position(SrcRange { first: SrcRange::of_stream(self.head.clone()).first, last })?;
        let mut written = Written { text: String::new(), at: (position.start.0, 0) };
        written.tokens(self.head.clone())?;
        written.text_at(body, &body.source_text()?)?;
        Some(SourceText { position, text: written.text })
    }
}

/// Text with each token at its line and column.
struct Written {
    text: String,
    at: (usize, usize),
}

impl Written {
    fn tokens(&mut self, tokens: TokenStream) -> Option<()> {
        for token in tokens {
            match token {
                TokenTree::Group(group) => {
                    if group.delimiter() == Delimiter::None {
                        self.tokens(group.stream())?;
                    } else {
                        let text = group.span().source_text()?;
                        self.text_at(group.span(), &text)?;
                    }
                }
                other => self.text_at(other.span(), &other.to_string())?,
            }
        }
        Some(())
    }

    /// Adds a text at the start of a span, unless the text so far has passed it.
    fn text_at(&mut self, span: Span, text: &str) -> Option<()> {
        let start = pair(span.start());
        if start < self.at {
            return None;
        }
        while self.at.0 < start.0 {
            self.text.push('\n');
            self.at = (self.at.0 + 1, 0);
        }
        while self.at.1 < start.1 {
            self.text.push(' ');
            self.at.1 += 1;
        }
        self.text.push_str(text);
        for c in text.chars() {
            self.at = if c == '\n' { (self.at.0 + 1, 0) } else { (self.at.0, self.at.1 + 1) };
        }
        Some(())
    }
}
