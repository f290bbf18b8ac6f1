//! Programs whose gradients break the law, with the cause. The law is the same for all programs: an
//! entry here is a known defect, and the entry of a mended program has to be removed. The aim is an
//! empty list. docs/performance.md has the same causes for users.

/// The name of a function, a part of its text, and the reason why it costs more than the law
/// allows.
const MISSES: [(&str, &str, &str); 2] = [
    ("f", "w . push (a * a)", "there may be eight times the elements that are pushed"),
    ("many_arms", "", "a loop in lanes computes all arms of a step, and adds up what each of them contributes"),
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
