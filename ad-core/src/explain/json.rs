//! JSON as text: what the data of a page needs of it, and no more.

use std::fmt::Write as _;

/// A value.
#[derive(Clone, Debug)]
pub(super) enum Json {
    /// Nothing.
    Null,
    /// A truth value.
    Bool(bool),
    /// A number that counts something.
    Number(usize),
    /// A text.
    Text(String),
    /// A list.
    List(Vec<Json>),
    /// Named values, in this order.
    Object(Vec<(&'static str, Json)>),
}

impl From<usize> for Json {
    fn from(n: usize) -> Self {
        Json::Number(n)
    }
}

impl From<bool> for Json {
    fn from(b: bool) -> Self {
        Json::Bool(b)
    }
}

impl From<&str> for Json {
    fn from(text: &str) -> Self {
        Json::Text(text.to_string())
    }
}

impl From<String> for Json {
    fn from(text: String) -> Self {
        Json::Text(text)
    }
}

impl<T: Into<Json>> From<Option<T>> for Json {
    fn from(value: Option<T>) -> Self {
        value.map_or(Json::Null, Into::into)
    }
}

impl<T: Into<Json>> FromIterator<T> for Json {
    fn from_iter<I: IntoIterator<Item = T>>(values: I) -> Self {
        Json::List(values.into_iter().map(Into::into).collect())
    }
}

impl Json {
    /// The value as text that may stand in a `script` of a page: no `<` is in it.
    pub(super) fn text(&self) -> String {
        let mut text = String::new();
        self.write(&mut text);
        text
    }

    fn write(&self, to: &mut String) {
        match self {
            Json::Null => to.push_str("null"),
            Json::Bool(b) => drop(write!(to, "{b}")),
            Json::Number(n) => drop(write!(to, "{n}")),
            Json::Text(text) => quoted(text, to),
            Json::List(values) => {
                to.push('[');
                for (k, value) in values.iter().enumerate() {
                    to.push_str(if k > 0 { "," } else { "" });
                    value.write(to);
                }
                to.push(']');
            }
            Json::Object(values) => {
                to.push('{');
                for (k, (name, value)) in values.iter().enumerate() {
                    to.push_str(if k > 0 { "," } else { "" });
                    quoted(name, to);
                    to.push(':');
                    value.write(to);
                }
                to.push('}');
            }
        }
    }
}

fn quoted(text: &str, to: &mut String) {
    to.push('"');
    for c in text.chars() {
        match c {
            '"' => to.push_str("\\\""),
            '\\' => to.push_str("\\\\"),
            '\n' => to.push_str("\\n"),
            // `<` could end the script; the others end a line in scripts.
            '<' | '\u{2028}' | '\u{2029}' => drop(write!(to, "\\u{:04x}", u32::from(c))),
            c if c.is_control() => drop(write!(to, "\\u{:04x}", u32::from(c))),
            c => to.push(c),
        }
    }
    to.push('"');
}
