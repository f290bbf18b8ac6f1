//! Whether an item stands in an `impl` or `trait` block of the user's file. A macro sees only its
//! own item, and what it may write differs: no macro, no `use` and no nameless constant may stand
//! in such a block.
//!
//! This module must never refuse an item whose file it cannot read, or does not find at its place.

use proc_macro2::Ident;

/// Whether the item with this name stands directly in an `impl` or `trait` block.
#[must_use]
pub fn is_in_a_block(name: &Ident) -> bool {
    let (span, start) = (name.span(), name.span().start());
    // An item of a block is indented, by rustfmt at least. Most items are not, and then nothing is
    // read.
    const BEFORE: usize = "fn ".len();
    if start.column <= BEFORE {
        return false;
    }
    let text = span.local_file().and_then(|file| std::fs::read_to_string(file).ok());
    text.is_some_and(|text| before(&text, start.line, start.column, &name.to_string()).is_some_and(ends_in_block))
}

/// The text before a place, if this word stands there. Lines count from 1, columns from 0.
fn before<'a>(text: &'a str, line: usize, column: usize, word: &str) -> Option<&'a str> {
    let mut lines = text.split_inclusive('\n');
    let start: usize = lines.by_ref().take(line.checked_sub(1)?).map(str::len).sum();
    let within = lines.next()?.char_indices().nth(column)?.0;
    let (before, after) = text.split_at(start + within);
    after.starts_with(word).then_some(before)
}

/// Whether the innermost block that is open at the end of a text is an `impl` or a `trait`.
fn ends_in_block(text: &str) -> bool {
    // For each open brace, whether it opens such a block; and the first words of the item so far.
    let (mut open, mut words): (Vec<bool>, Vec<&str>) = (Vec::new(), Vec::new());
    let mut rest = text;
    while let Some(first) = rest.chars().next() {
        let length = match first {
            '{' => {
                let word = words.iter().find(|word| !matches!(**word, "pub" | "unsafe" | "default" | "crate" | "auto"));
                open.push(word.is_some_and(|word| matches!(*word, "impl" | "trait")));
                1
            }
            '}' => {
                open.pop();
                1
            }
            '"' => quoted(rest, 0),
            '/' if rest.starts_with("//") => rest.find('\n').unwrap_or(rest.len()),
            '/' if rest.starts_with("/*") => comment(rest),
            '\'' => character(rest),
            '#' if rest.starts_with("#[") || rest.starts_with("#![") => attribute(rest),
            _ if first.is_alphanumeric() || first == '_' => {
                let length = rest.find(|c: char| !c.is_alphanumeric() && c != '_').unwrap_or(rest.len());
                let (word, after) = rest.split_at(length);
                let hashes = after.len() - after.trim_start_matches('#').len();
                if matches!(word, "r" | "br" | "cr") && after[hashes..].starts_with('"') {
                    length + hashes + quoted(&after[hashes..], hashes + 1)
                } else {
                    words.push(word);
                    length
                }
            }
            _ => first.len_utf8(),
        };
        if matches!(first, '{' | '}' | ';') {
            words.clear();
        }
        rest = rest.get(length..).unwrap_or_default();
    }
    open.pop().unwrap_or(false)
}

/// The length of a literal that begins with a quotation mark. A raw one ends with a mark and the
/// hashes before it; `hashes` is their number and 1 for those, and 0 for others.
fn quoted(text: &str, hashes: usize) -> usize {
    let mut escaped = false;
    for (at, c) in text.char_indices().skip(1) {
        let ends = || text[at + 1..].chars().take_while(|&c| c == '#').take(hashes - 1).count() == hashes - 1;
        match c {
            '"' if hashes > 0 && ends() => return at + hashes,
            '"' if hashes == 0 && !escaped => return at + 1,
            _ => escaped = c == '\\' && !escaped,
        }
    }
    text.len()
}

/// The length of a comment between `/*` and `*/`, which may contain others.
fn comment(text: &str) -> usize {
    let (mut at, mut depth) = (0, 0_usize);
    while at < text.len() {
        let here = &text.as_bytes()[at..];
        let step = match () {
            () if here.starts_with(b"/*") => {
                depth += 1;
                2
            }
            () if here.starts_with(b"*/") => {
                depth -= 1;
                2
            }
            () => 1,
        };
        at += step;
        if depth == 0 {
            return at;
        }
    }
    text.len()
}

/// The length of a character, or of the mark of a lifetime.
fn character(text: &str) -> usize {
    let mut chars = text.char_indices().skip(1);
    match (chars.next(), chars.next()) {
        (Some((_, '\\')), Some((at, c))) => {
            let from = at + c.len_utf8();
            text[from..].find('\'').map_or(text.len(), |end| from + end + 1)
        }
        (Some(_), Some((at, '\''))) => at + 1,
        _ => 1,
    }
}

/// The length of an attribute. Its words do not count as words of the item.
fn attribute(text: &str) -> usize {
    let (mut at, mut depth) = (0, 0_usize);
    while let Some(c) = text[at..].chars().next() {
        match c {
            '[' => depth += 1,
            ']' if depth == 1 => return at + 1,
            ']' => depth -= 1,
            _ => {}
        }
        at += match c {
            '"' => quoted(&text[at..], 0),
            '\'' => character(&text[at..]),
            _ => c.len_utf8(),
        };
    }
    text.len()
}

#[cfg(test)]
mod tests {
    use super::ends_in_block;

    #[test]
    fn blocks_are_found() {
        let inside = [
            "struct S; impl S { ",
            "mod m { impl<'a> Tr<3> for &'a S { fn g() { if x { } } const C: char = '}';",
            "pub unsafe trait T: Copy { #[doc = \"]}\"] ",
            "/* { /* } */ { */ impl S { // }\n",
            "#[differentiate(grad)] impl S { const S: &str = r#\"}\" }\"#; ",
        ];
        for text in inside {
            assert!(ends_in_block(text), "{text}");
        }
        let outside = [
            "mod tests { use super::*; ",
            "impl S { } ",
            "impl S { fn f() { ",
            "fn f(g: impl Fn(f64) -> f64) { ",
            "/// impl S {\n fn f() { let c = '\\''; let s = \"impl S {\"; ",
            "items! { impl S { } ",
        ];
        for text in outside {
            assert!(!ends_in_block(text), "{text}");
        }
    }
}
