//! What the front end knows of growable vectors beside their values: the capacities and element
//! types of empty `Vec`s, the elements that a counting run does not know, and the copies in larger
//! capacities.
//!
//! Invariants: an entry is never changed or removed, except that a counting run takes the unknown
//! elements that it has added. An empty `Vec` is identified by its address, so an entry keeps it
//! alive. If two `Vec`s become the same array, the capacity that was stated first holds for both. A
//! trial lowering keeps all of this, since it says something about values and terms, which never
//! change.
//!
//! This module must never make a term.

use ad_ir::sorted::SortedMap;
use std::rc::Rc;

use crate::definitions::tree::TypeTree;
use crate::value::Value;
use ad_ir::ir::{Elem, Term};

/// The elements of a `Vec` that is still a list.
type Elements<'a> = Rc<[Value<'a>]>;

/// The growable vectors of one run.
#[derive(Default)]
pub(crate) struct GrowableVectors<'a> {
    /// `Vec`s made by `with_capacity`, each with the capacity.
    capacities: Vec<(Elements<'a>, Term)>,
    /// The arrays that such `Vec`s have become, each with the capacity.
    array_capacities: SortedMap<Term, Term>,
    /// `Vec`s whose element type is known from an annotation, with the element type and the rank.
    elements: Vec<(Elements<'a>, (Elem, usize))>,
    /// Empty `Vec`s of products whose type is known from an annotation, with that type.
    types: Vec<(Elements<'a>, TypeTree<'a>)>,
    /// Placeholders for elements that a counting run does not know.
    unknown: Vec<Term>,
    /// Arrays that were copied into a larger capacity: a map from the copy to the original.
    originals: SortedMap<Term, Term>,
    /// The lengths of `Vec`s that loops carry, each with the capacity.
    lengths: SortedMap<Term, Term>,
    /// The number of vectors that loops have carried so far.
    slots: usize,
    /// Whether the function makes a `VecDeque`.
    has_queue: bool,
}

fn find<'v, 'a, T>(all: &'v [(Elements<'a>, T)], of: &Elements<'a>) -> Option<&'v T> {
    all.iter().find(|(list, _)| Rc::ptr_eq(list, of)).map(|(_, said)| said)
}

impl<'a> GrowableVectors<'a> {
    /// Records the capacity that the user requested for a list.
    pub(crate) fn request_capacity(&mut self, of: &Rc<[Value<'a>]>, capacity: Term) {
        self.capacities.push((Rc::clone(of), capacity));
    }

    /// Records the capacity that the user requested for the `Vec` that has become this value, if it
    /// is an array.
    pub(crate) fn keep_capacity(&mut self, value: &Value<'a>, capacity: Option<Term>) {
        if let (Value::Term(t) | Value::Nested(t, _), Some(capacity)) = (value, capacity) {
            self.array_capacities.entry(*t).or_insert(capacity);
        }
    }

    /// The capacity that the user requested for a `Vec`.
    pub(crate) fn requested_capacity(&self, of: &Value<'a>) -> Option<Term> {
        match of {
            Value::List(parts) => find(&self.capacities, parts).copied(),
            Value::GrowableVec(stack) => stack.requested,
            Value::Term(t) | Value::Nested(t, _) => self.array_capacities.get(t).copied(),
            _ => None,
        }
    }

    /// Records the length of a `Vec` that a loop carries, and its capacity.
    pub(crate) fn record_length(&mut self, len: Term, capacity: Term) {
        self.lengths.insert(len, capacity);
    }

    /// The capacity of the `Vec` that a loop carries with this length.
    pub(crate) fn capacity_for(&self, len: Term) -> Option<Term> {
        self.lengths.get(&len).copied()
    }

    /// Records the annotated element type and the rank of a `Vec`.
    pub(crate) fn annotate_element(&mut self, of: &Rc<[Value<'a>]>, elem: Elem, rank: usize) {
        self.elements.push((Rc::clone(of), (elem, rank)));
    }

    /// The annotated element type and rank of a `Vec`.
    pub(crate) fn annotated_element(&self, of: &Rc<[Value<'a>]>) -> Option<(Elem, usize)> {
        find(&self.elements, of).copied()
    }

    /// Records the type of an empty `Vec` of products.
    pub(crate) fn annotate_type(&mut self, of: &Rc<[Value<'a>]>, ty: TypeTree<'a>) {
        self.types.push((Rc::clone(of), ty));
    }

    /// The annotated type of an empty `Vec` of products.
    pub(crate) fn annotated_type(&self, of: &Rc<[Value<'a>]>) -> Option<&TypeTree<'a>> {
        find(&self.types, of)
    }

    /// Records for a list what is known of the list that it was before an element was pushed.
    pub(crate) fn keep_known(&mut self, before: &Rc<[Value<'a>]>, after: &Rc<[Value<'a>]>) {
        if let Some(&capacity) = find(&self.capacities, before) {
            self.request_capacity(after, capacity);
        }
        if let Some((elem, rank)) = self.annotated_element(before) {
            self.annotate_element(after, elem, rank);
        }
    }

    /// A number for a vector that a loop carries, which no other one has.
    pub(crate) fn new_slot(&mut self) -> usize {
        self.slots += 1;
        self.slots
    }

    /// Records a placeholder for an element that a counting run does not know.
    pub(crate) fn add_unknown(&mut self, element: Term) {
        self.unknown.push(element);
    }

    /// The placeholders for elements that the enclosing counting runs do not know.
    pub(crate) fn unknown(&self) -> &[Term] {
        &self.unknown
    }

    /// Takes out the placeholders that were added after the first ones of this number.
    pub(crate) fn take_unknown_after(&mut self, count: usize) -> Vec<Term> {
        self.unknown.split_off(count)
    }

    /// Records that an array is a copy in a larger capacity.
    pub(crate) fn add_copy(&mut self, copy: Term, original: Term) {
        self.originals.insert(copy, original);
    }

    /// The array that another one is a copy of, or else the array itself.
    pub(crate) fn original(&self, copy: Term) -> Term {
        self.originals.get(&copy).copied().unwrap_or(copy)
    }

    /// Records that the function makes a `VecDeque`.
    pub(crate) fn add_queue(&mut self) {
        self.has_queue = true;
    }

    /// Whether the function makes a `VecDeque`, whose `remove` differs from that of `Vec`.
    pub(crate) fn has_queue(&self) -> bool {
        self.has_queue
    }
}
