//! Programs whose gradients do not keep the law yet, with the cause. The law is one for all: an
//! entry here is a known mistake, and one that is mended has to leave. The list may only become
//! shorter; docs/performance.md has the same causes for users.

/// The name of a function, what its text contains, and why it costs more than it may.
const MISSES: [(&str, &str, &str); 4] = [
    ("halved", "chunks_exact (2)", "a vector that shrinks in a `while`: each step costs its room"),
    ("f", "chunks_exact (2)", "the same"),
    ("f", "w . push (a * a)", "there may be eight times the elements that are pushed"),
    ("f", "return s * b + v", "`return` out of two loops: the whole range has memory"),
];

/// Why this program may miss the law: the entry.
pub(crate) fn cause(name: &str, text: &str) -> Option<usize> {
    MISSES.iter().position(|&(f, part, _)| f == name && text.contains(part))
}

/// The entries, of programs of other tests or of the rest, that are not among these: they keep the
/// law and have to leave.
pub(crate) fn mended(missed: &[usize], collected: bool) -> Vec<&'static str> {
    let of = |k: &usize| MISSES[*k].1.is_empty() != collected && !missed.contains(k);
    (0..MISSES.len()).filter(of).map(|k| MISSES[k].0).collect()
}
