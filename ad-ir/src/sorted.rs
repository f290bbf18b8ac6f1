//! Maps and sets in the order of their keys: sorted vectors, searched by halving.
//!
//! The compiler uses these in place of `BTreeMap` and `BTreeSet`. A crate that depends on `ad`
//! builds the compiler without optimisation, and there each type of key and value has its own copy
//! of all functions of a B-tree: they were an eighth of the machine code of the compiler. A sorted
//! vector needs a tenth of that code. Handles of terms are mostly inserted in the order in which
//! they were made, and then an insertion is a push. Another insertion or a removal moves the
//! elements behind it; a map of ten thousand terms does that in a few microseconds.
//!
//! The module must not know what it stores.

use std::borrow::Borrow;
use std::fmt::{self, Debug};
use std::ops::Index;

/// Where a key is (`Ok`), or where it belongs (`Err`), among `len` keys in order.
fn search<'k, K, Q>(len: usize, key: &Q, at: impl Fn(usize) -> &'k K) -> Result<usize, usize>
where
    K: Borrow<Q> + 'k,
    Q: Ord + ?Sized,
{
    let (mut low, mut high) = (0, len);
    // A key greater than all others is the usual one.
    if len > 0 && at(len - 1).borrow() < key {
        return Err(len);
    }
    while low < high {
        let middle = low + (high - low) / 2;
        match at(middle).borrow().cmp(key) {
            std::cmp::Ordering::Less => low = middle + 1,
            std::cmp::Ordering::Equal => return Ok(middle),
            std::cmp::Ordering::Greater => high = middle,
        }
    }
    Err(low)
}

/// A map whose entries are in the order of their keys. Its methods are those of `BTreeMap`.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct SortedMap<K, V> {
    entries: Vec<(K, V)>,
}

impl<K, V> Default for SortedMap<K, V> {
    fn default() -> Self {
        SortedMap::new()
    }
}

impl<K: Debug, V: Debug> Debug for SortedMap<K, V> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_map().entries(self.iter()).finish()
    }
}

impl<K, V> SortedMap<K, V> {
    /// A map without entries.
    #[must_use]
    pub const fn new() -> Self {
        SortedMap { entries: Vec::new() }
    }

    /// The number of entries.
    #[must_use]
    pub fn len(&self) -> usize {
        self.entries.len()
    }

    /// Whether there is no entry.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.entries.is_empty()
    }

    /// Removes all entries.
    pub fn clear(&mut self) {
        self.entries.clear();
    }

    /// The entries in order.
    #[must_use]
    pub fn iter(&self) -> Iter<'_, K, V> {
        Iter { entries: self.entries.iter() }
    }

    /// The entries in order; values can be changed.
    pub fn iter_mut(&mut self) -> impl Iterator<Item = (&K, &mut V)> {
        self.entries.iter_mut().map(|(k, v)| (&*k, v))
    }

    /// The keys in order.
    pub fn keys(&self) -> impl DoubleEndedIterator<Item = &K> + ExactSizeIterator + Clone {
        self.entries.iter().map(|(k, _)| k)
    }

    /// The values in the order of their keys.
    pub fn values(&self) -> impl DoubleEndedIterator<Item = &V> + ExactSizeIterator + Clone {
        self.entries.iter().map(|(_, v)| v)
    }

    /// The values in the order of their keys; they can be changed.
    pub fn values_mut(&mut self) -> impl Iterator<Item = &mut V> {
        self.entries.iter_mut().map(|(_, v)| v)
    }

    /// The keys in order, owned.
    pub fn into_keys(self) -> impl DoubleEndedIterator<Item = K> + ExactSizeIterator {
        self.entries.into_iter().map(|(k, _)| k)
    }

    /// The values in the order of their keys, owned.
    pub fn into_values(self) -> impl DoubleEndedIterator<Item = V> + ExactSizeIterator {
        self.entries.into_iter().map(|(_, v)| v)
    }

    /// The entry with the least key.
    #[must_use]
    pub fn first_key_value(&self) -> Option<(&K, &V)> {
        self.iter().next()
    }

    /// Removes the entries of which `keep` is false.
    pub fn retain(&mut self, mut keep: impl FnMut(&K, &mut V) -> bool) {
        self.entries.retain_mut(|(k, v)| keep(k, v));
    }
}

impl<K: Ord, V> SortedMap<K, V> {
    fn find<Q: Ord + ?Sized>(&self, key: &Q) -> Result<usize, usize>
    where
        K: Borrow<Q>,
    {
        search(self.entries.len(), key, |i| &self.entries[i].0)
    }

    /// The value of a key.
    #[must_use]
    pub fn get<Q: Ord + ?Sized>(&self, key: &Q) -> Option<&V>
    where
        K: Borrow<Q>,
    {
        match self.find(key) {
            Ok(i) => Some(&self.entries[i].1),
            Err(_) => None,
        }
    }

    /// The value of a key, which can be changed.
    pub fn get_mut<Q: Ord + ?Sized>(&mut self, key: &Q) -> Option<&mut V>
    where
        K: Borrow<Q>,
    {
        match self.find(key) {
            Ok(i) => Some(&mut self.entries[i].1),
            Err(_) => None,
        }
    }

    /// Whether there is an entry with the key.
    #[must_use]
    pub fn contains_key<Q: Ord + ?Sized>(&self, key: &Q) -> bool
    where
        K: Borrow<Q>,
    {
        self.find(key).is_ok()
    }

    /// Inserts an entry. A value that the key has had is returned.
    pub fn insert(&mut self, key: K, value: V) -> Option<V> {
        match self.find(&key) {
            Ok(i) => Some(std::mem::replace(&mut self.entries[i].1, value)),
            Err(i) => {
                self.entries.insert(i, (key, value));
                None
            }
        }
    }

    /// Removes an entry and returns its value.
    pub fn remove<Q: Ord + ?Sized>(&mut self, key: &Q) -> Option<V>
    where
        K: Borrow<Q>,
    {
        match self.find(key) {
            Ok(i) => Some(self.entries.remove(i).1),
            Err(_) => None,
        }
    }

    /// The entry of a key, whether there is one or not.
    pub fn entry(&mut self, key: K) -> Entry<'_, K, V> {
        Entry { found: self.find(&key), map: self, key }
    }
}

impl<K: Ord, V> Extend<(K, V)> for SortedMap<K, V> {
    fn extend<I: IntoIterator<Item = (K, V)>>(&mut self, entries: I) {
        for (key, value) in entries {
            self.insert(key, value);
        }
    }
}

impl<K: Ord, V> FromIterator<(K, V)> for SortedMap<K, V> {
    fn from_iter<I: IntoIterator<Item = (K, V)>>(entries: I) -> Self {
        let mut map = SortedMap::new();
        map.extend(entries);
        map
    }
}

impl<K: Ord, V, const N: usize> From<[(K, V); N]> for SortedMap<K, V> {
    fn from(entries: [(K, V); N]) -> Self {
        entries.into_iter().collect()
    }
}

impl<K, V> IntoIterator for SortedMap<K, V> {
    type Item = (K, V);
    type IntoIter = std::vec::IntoIter<(K, V)>;

    fn into_iter(self) -> Self::IntoIter {
        self.entries.into_iter()
    }
}

impl<'m, K, V> IntoIterator for &'m SortedMap<K, V> {
    type Item = (&'m K, &'m V);
    type IntoIter = Iter<'m, K, V>;

    fn into_iter(self) -> Iter<'m, K, V> {
        self.iter()
    }
}

impl<K: Ord + Borrow<Q>, Q: Ord + ?Sized, V> Index<&Q> for SortedMap<K, V> {
    type Output = V;

    fn index(&self, key: &Q) -> &V {
        self.get(key).expect("an entry with this key")
    }
}

/// The entries of a [`SortedMap`] in order.
pub struct Iter<'m, K, V> {
    entries: std::slice::Iter<'m, (K, V)>,
}

impl<K, V> Clone for Iter<'_, K, V> {
    fn clone(&self) -> Self {
        Iter { entries: self.entries.clone() }
    }
}

impl<'m, K, V> Iterator for Iter<'m, K, V> {
    type Item = (&'m K, &'m V);

    fn next(&mut self) -> Option<Self::Item> {
        match self.entries.next() {
            Some((k, v)) => Some((k, v)),
            None => None,
        }
    }

    fn size_hint(&self) -> (usize, Option<usize>) {
        self.entries.size_hint()
    }
}

impl<K, V> DoubleEndedIterator for Iter<'_, K, V> {
    fn next_back(&mut self) -> Option<Self::Item> {
        match self.entries.next_back() {
            Some((k, v)) => Some((k, v)),
            None => None,
        }
    }
}

impl<K, V> ExactSizeIterator for Iter<'_, K, V> {}

/// An entry of a [`SortedMap`], or the place where one belongs.
pub struct Entry<'m, K, V> {
    map: &'m mut SortedMap<K, V>,
    key: K,
    found: Result<usize, usize>,
}

impl<'m, K, V> Entry<'m, K, V> {
    /// The value; without an entry, `value()` is inserted first.
    pub fn or_insert_with(self, value: impl FnOnce() -> V) -> &'m mut V {
        let i = match self.found {
            Ok(i) => i,
            Err(i) => {
                self.map.entries.insert(i, (self.key, value()));
                i
            }
        };
        &mut self.map.entries[i].1
    }

    /// The value; without an entry, `value` is inserted first.
    pub fn or_insert(self, value: V) -> &'m mut V {
        self.or_insert_with(|| value)
    }

    /// The value; without an entry, the default value is inserted first.
    pub fn or_default(self) -> &'m mut V
    where
        V: Default,
    {
        self.or_insert_with(V::default)
    }

    /// Changes the value if there is an entry.
    #[must_use]
    pub fn and_modify(self, change: impl FnOnce(&mut V)) -> Self {
        if let Ok(i) = self.found {
            change(&mut self.map.entries[i].1);
        }
        self
    }
}

/// A set in order. Its methods are those of `BTreeSet`.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct SortedSet<K> {
    keys: Vec<K>,
}

impl<K> Default for SortedSet<K> {
    fn default() -> Self {
        SortedSet::new()
    }
}

impl<K: Debug> Debug for SortedSet<K> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_set().entries(&self.keys).finish()
    }
}

impl<K> SortedSet<K> {
    /// A set without elements.
    #[must_use]
    pub const fn new() -> Self {
        SortedSet { keys: Vec::new() }
    }

    /// The number of elements.
    #[must_use]
    pub fn len(&self) -> usize {
        self.keys.len()
    }

    /// Whether there is no element.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.keys.is_empty()
    }

    /// Removes all elements.
    pub fn clear(&mut self) {
        self.keys.clear();
    }

    /// The elements in order.
    pub fn iter(&self) -> std::slice::Iter<'_, K> {
        self.keys.iter()
    }

    /// The least element.
    #[must_use]
    pub fn first(&self) -> Option<&K> {
        self.keys.first()
    }

    /// The greatest element.
    #[must_use]
    pub fn last(&self) -> Option<&K> {
        self.keys.last()
    }

    /// Removes the greatest element.
    pub fn pop_last(&mut self) -> Option<K> {
        self.keys.pop()
    }

    /// Removes the elements of which `keep` is false.
    pub fn retain(&mut self, keep: impl FnMut(&K) -> bool) {
        self.keys.retain(keep);
    }
}

impl<K: Ord> SortedSet<K> {
    fn find<Q: Ord + ?Sized>(&self, key: &Q) -> Result<usize, usize>
    where
        K: Borrow<Q>,
    {
        search(self.keys.len(), key, |i| &self.keys[i])
    }

    /// Whether the set has an element.
    #[must_use]
    pub fn contains<Q: Ord + ?Sized>(&self, key: &Q) -> bool
    where
        K: Borrow<Q>,
    {
        self.find(key).is_ok()
    }

    /// Inserts an element. Returns whether it is new.
    pub fn insert(&mut self, key: K) -> bool {
        match self.find(&key) {
            Ok(_) => false,
            Err(i) => {
                self.keys.insert(i, key);
                true
            }
        }
    }

    /// Removes an element. Returns whether the set had it.
    pub fn remove<Q: Ord + ?Sized>(&mut self, key: &Q) -> bool
    where
        K: Borrow<Q>,
    {
        match self.find(key) {
            Ok(i) => {
                self.keys.remove(i);
                true
            }
            Err(_) => false,
        }
    }

    /// Moves all elements of another set into this one.
    pub fn append(&mut self, other: &mut SortedSet<K>) {
        self.extend(std::mem::take(other));
    }

    /// The elements that another set lacks.
    pub fn difference<'s>(&'s self, other: &'s SortedSet<K>) -> impl Iterator<Item = &'s K> {
        self.keys.iter().filter(|k| !other.contains(*k))
    }

    /// The elements that both sets have.
    pub fn intersection<'s>(&'s self, other: &'s SortedSet<K>) -> impl Iterator<Item = &'s K> {
        self.keys.iter().filter(|k| other.contains(*k))
    }

    /// Whether another set has all elements of this one.
    #[must_use]
    pub fn is_subset(&self, other: &SortedSet<K>) -> bool {
        self.keys.iter().all(|k| other.contains(k))
    }

    /// Whether no element is in both sets.
    #[must_use]
    pub fn is_disjoint(&self, other: &SortedSet<K>) -> bool {
        !self.keys.iter().any(|k| other.contains(k))
    }
}

impl<K: Ord> Extend<K> for SortedSet<K> {
    fn extend<I: IntoIterator<Item = K>>(&mut self, keys: I) {
        for key in keys {
            self.insert(key);
        }
    }
}

impl<'k, K: Ord + Copy> Extend<&'k K> for SortedSet<K> {
    fn extend<I: IntoIterator<Item = &'k K>>(&mut self, keys: I) {
        for &key in keys {
            self.insert(key);
        }
    }
}

impl<K: Ord> FromIterator<K> for SortedSet<K> {
    fn from_iter<I: IntoIterator<Item = K>>(keys: I) -> Self {
        let mut set = SortedSet::new();
        set.extend(keys);
        set
    }
}

impl<K: Ord, const N: usize> From<[K; N]> for SortedSet<K> {
    fn from(keys: [K; N]) -> Self {
        keys.into_iter().collect()
    }
}

impl<K> IntoIterator for SortedSet<K> {
    type Item = K;
    type IntoIter = std::vec::IntoIter<K>;

    fn into_iter(self) -> Self::IntoIter {
        self.keys.into_iter()
    }
}

impl<'s, K> IntoIterator for &'s SortedSet<K> {
    type Item = &'s K;
    type IntoIter = std::slice::Iter<'s, K>;

    fn into_iter(self) -> Self::IntoIter {
        self.keys.iter()
    }
}

#[cfg(test)]
mod tests {
    use std::collections::{BTreeMap, BTreeSet};

    use super::{SortedMap, SortedSet};

    /// Numbers in no order, with repetitions.
    fn numbers() -> impl Iterator<Item = u64> {
        (0..200_u64).map(|i| i * i * 37 % 101)
    }

    #[test]
    fn a_map_is_a_b_tree_map() {
        let (mut ours, mut theirs) = (SortedMap::new(), BTreeMap::new());
        for (i, k) in numbers().enumerate() {
            match i % 5 {
                0 | 1 => assert_eq!(ours.insert(k, i), theirs.insert(k, i)),
                2 => assert_eq!(ours.remove(&(k / 2)), theirs.remove(&(k / 2))),
                3 => assert_eq!(*ours.entry(k).or_insert(i), *theirs.entry(k).or_insert(i)),
                _ => {
                    *ours.entry(k).and_modify(|v| *v += 1).or_default() *= 2;
                    *theirs.entry(k).and_modify(|v| *v += 1).or_default() *= 2;
                }
            }
            assert_eq!(ours.get(&(k + 1)), theirs.get(&(k + 1)));
            assert!(ours.iter().eq(theirs.iter()) && ours.iter().rev().eq(theirs.iter().rev()));
            assert_eq!(format!("{ours:?}"), format!("{theirs:?}"));
        }
        ours.retain(|k, _| k % 3 == 0);
        theirs.retain(|k, _| k % 3 == 0);
        assert!(ours.len() > 5 && ours.into_iter().eq(theirs));
    }

    #[test]
    fn the_last_value_of_equal_keys_is_kept() {
        let pairs = || numbers().zip(0..);
        let (ours, theirs): (SortedMap<_, i32>, BTreeMap<_, i32>) = (pairs().collect(), pairs().collect());
        assert!(ours.iter().eq(theirs.iter()));
    }

    #[test]
    fn a_set_is_a_b_tree_set() {
        let (mut ours, mut theirs) = (SortedSet::new(), BTreeSet::new());
        for k in numbers() {
            assert_eq!(ours.insert(k), theirs.insert(k));
            assert_eq!(ours.remove(&(k / 3)), theirs.remove(&(k / 3)));
            assert!(ours.iter().eq(theirs.iter()) && ours.first() == theirs.first() && ours.last() == theirs.last());
        }
        let (few, few_theirs) = (SortedSet::from([1, 5, 30]), BTreeSet::from([1, 5, 30]));
        assert!(ours.difference(&few).eq(theirs.difference(&few_theirs)));
        assert!(ours.intersection(&few).eq(theirs.intersection(&few_theirs)));
        assert_eq!(few.is_subset(&ours), few_theirs.is_subset(&theirs));
        assert_eq!(few.is_disjoint(&ours), few_theirs.is_disjoint(&theirs));
        assert!(ours.len() > 5 && ours.pop_last() == theirs.pop_last());
    }
}
