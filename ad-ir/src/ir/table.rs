//! A value for each of some terms of a graph. The memory is proportional to the number of terms
//! that have a value, and not to the size of the graph's arena.

use crate::sorted::SortedMap;
use std::ops::{Index, IndexMut};

use super::Term;

/// The number of neighbouring terms whose values are in one page.
const PAGE: usize = 64;

/// A table of values by term. A term without a value has the one that the table was made with.
#[derive(Clone, Debug, Default)]
pub struct TermTable<T> {
    pages: SortedMap<u32, Box<[T; PAGE]>>,
    other: T,
}

impl<T: Copy> TermTable<T> {
    /// A table in which each term has this value.
    pub fn new(other: T) -> Self {
        TermTable { pages: SortedMap::new(), other }
    }
}

/// The page of a term, and its place there.
fn place(t: Term) -> (u32, usize) {
    (t.0 / 64, t.index() % PAGE)
}

impl<T> Index<Term> for TermTable<T> {
    type Output = T;

    fn index(&self, t: Term) -> &T {
        let (page, at) = place(t);
        self.pages.get(&page).map_or(&self.other, |page| &page[at])
    }
}

impl<T: Copy> IndexMut<Term> for TermTable<T> {
    fn index_mut(&mut self, t: Term) -> &mut T {
        let (page, at) = place(t);
        &mut self.pages.entry(page).or_insert_with(|| Box::new([self.other; PAGE]))[at]
    }
}
