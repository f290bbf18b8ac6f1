//! The types of ndarray and std that the compiler knows by name: the only list of these names. The
//! front end takes a path for one of them, and the generated code asserts that it is.

use super::Owner;

/// A type of ndarray or std that the front end knows by the last segment of its path.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum KnownType {
    /// An array, view or `ArrayRef` with the rank in its name: `ArrayView2`.
    Ranked(Owner, u8),
    /// `Array` or `ArrayView`, with its dimension as an argument.
    Array(Owner),
    /// `Vec`.
    Vec,
    /// `VecDeque`.
    VecDeque,
    /// `Box`.
    Box,
    /// ndarray's `Zip`.
    Zip,
    /// ndarray's `Slice`.
    Slice,
}

/// The prefixes of the names of ranked types.
const RANKED: [(&str, Owner); 3] = [("Array", Owner::Array), ("ArrayView", Owner::View), ("ArrayRef", Owner::Shared)];
/// The names of the other types.
const PLAIN: [(&str, KnownType); 7] = [
    ("Array", KnownType::Array(Owner::Array)),
    ("ArrayView", KnownType::Array(Owner::View)),
    ("Vec", KnownType::Vec),
    ("VecDeque", KnownType::VecDeque),
    ("Box", KnownType::Box),
    ("Zip", KnownType::Zip),
    ("Slice", KnownType::Slice),
];
/// The highest rank for which ndarray has names.
const HIGHEST_RANK: u8 = 6;

impl KnownType {
    /// The type of a name.
    #[must_use]
    pub fn named(name: &str) -> Option<KnownType> {
        if let Some(&(_, plain)) = PLAIN.iter().find(|(plain, _)| *plain == name) {
            return Some(plain);
        }
        let (prefix, rank) = name.split_at_checked(name.len().checked_sub(1)?)?;
        let rank = rank.parse().ok().filter(|&rank| rank <= HIGHEST_RANK)?;
        RANKED.iter().find(|(ranked, _)| *ranked == prefix).map(|&(_, owner)| KnownType::Ranked(owner, rank))
    }

    /// The names of all ranked types, for suggestions.
    pub fn ranked_names() -> impl Iterator<Item = String> {
        RANKED.iter().flat_map(|(prefix, _)| (0..=HIGHEST_RANK).map(move |rank| format!("{prefix}{rank}")))
    }
}
