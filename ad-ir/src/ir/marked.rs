//! Text whose parts belong to terms: for the pages that explain a function.
//!
//! While a text is put together, a part is between characters that no program contains; then
//! [`MarkedText::of`] takes them out and keeps their places. This module must never change the text
//! between marks.

use std::fmt::Write as _;

use super::Term;

/// The characters around the numbers of the terms, and at the end of a part. They are of the area
/// for private use, and no identifier of Rust may contain them.
const FROM: char = '\u{E000}';
const TEXT: char = '\u{E001}';
const END: char = '\u{E002}';

/// A text, and the parts of it that belong to terms.
#[derive(Clone, Default, PartialEq, Eq, Debug)]
pub struct MarkedText {
    /// The text.
    pub text: String,
    /// The parts. A part that contains another one comes before it.
    pub marks: Vec<Mark>,
}

/// A part of a text.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Mark {
    /// The positions of its first character, and of the character after it, in units of UTF-16.
    pub range: [usize; 2],
    /// The terms that it belongs to.
    pub terms: Vec<Term>,
}

/// The text between marks of a term.
#[must_use]
pub fn marked(t: Term, text: &str) -> String {
    marked_all(&[t], text)
}

/// The text between marks of several terms.
#[must_use]
pub fn marked_all(terms: &[Term], text: &str) -> String {
    format!("{}{text}{END}", MarkedText::begin(terms))
}

impl MarkedText {
    /// A text without marks.
    #[must_use]
    pub fn plain(text: String) -> Self {
        MarkedText { text, marks: Vec::new() }
    }

    /// What begins a part that belongs to these terms.
    #[must_use]
    pub fn begin(terms: &[Term]) -> String {
        let mut all = String::from(FROM);
        for (k, t) in terms.iter().enumerate() {
            let _ = write!(all, "{}{}", if k > 0 { " " } else { "" }, t.index());
        }
        all.push(TEXT);
        all
    }

    /// What ends the part that began last.
    #[must_use]
    pub fn end() -> String {
        END.into()
    }

    /// The text without the characters of the marks, and the marks.
    #[must_use]
    pub fn of(text: &str) -> Self {
        let mut all = MarkedText::default();
        let (mut open, mut at): (Vec<usize>, usize) = (Vec::new(), 0);
        let mut numbers: Option<String> = None;
        for c in text.chars() {
            match (c, &mut numbers) {
                (FROM, _) => numbers = Some(String::new()),
                (TEXT, Some(named)) => {
                    let terms = named.split(' ').filter_map(|n| n.parse().ok().map(Term)).collect();
                    open.push(all.marks.len());
                    all.marks.push(Mark { range: [at, at], terms });
                    numbers = None;
                }
                (END, None) => {
                    if let Some(mark) = open.pop().and_then(|k| all.marks.get_mut(k)) {
                        mark.range[1] = at;
                    }
                }
                (c, Some(named)) => named.push(c),
                (c, None) => {
                    all.text.push(c);
                    at += c.len_utf16();
                }
            }
        }
        all
    }
}
