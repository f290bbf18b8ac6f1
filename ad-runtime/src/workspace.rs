//! Memory that calls of a derivative share: a call uses the memory of the calls before it.
//!
//! Each allocation in a routine has a number, and its own list of arrays that are not in use. So a
//! second call with the same sizes finds arrays that are long enough, whatever the order in which
//! it makes them. This module must never lend an array with elements of an earlier call in it.

use alloc::boxed::Box;
use alloc::collections::BTreeMap;
use alloc::vec::Vec;
use core::any::{Any, TypeId};
use core::ops::{Deref, DerefMut};

/// Lists of arrays that are not in use, by element type and place.
type Free = BTreeMap<(TypeId, usize), Box<dyn Any + Send>>;

/// The lists that all handles of a workspace share. Threads can share a workspace only with std,
/// which has locks.
#[derive(Clone, Default)]
struct Pool {
    #[cfg(feature = "std")]
    free: alloc::sync::Arc<std::sync::Mutex<Free>>,
    #[cfg(not(feature = "std"))]
    free: alloc::rc::Rc<core::cell::RefCell<Free>>,
}

impl Pool {
    fn with<R>(&self, f: impl FnOnce(&mut Free) -> R) -> R {
        #[cfg(feature = "std")]
        return f(&mut self.free.lock().unwrap_or_else(std::sync::PoisonError::into_inner));
        #[cfg(not(feature = "std"))]
        f(&mut self.free.borrow_mut())
    }
}

impl core::fmt::Debug for Pool {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        f.debug_struct("Pool").finish_non_exhaustive()
    }
}

/// Memory that calls of `f_value_and_grad_into` share. The calls may be of several functions.
///
/// The first call allocates all the memory that it needs, and a later call only the missing part.
/// `Clone` returns another handle of the same memory.
#[derive(Clone, Default)]
pub struct Workspace {
    pool: Pool,
}

impl core::fmt::Debug for Workspace {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        f.debug_struct("Workspace").finish_non_exhaustive()
    }
}

/// Types of elements that a workspace can lend arrays of.
pub trait Element: Copy + Send + 'static {}

impl<A: Copy + Send + 'static> Element for A {}

impl Workspace {
    /// A workspace without memory. It allocates nothing.
    ///
    /// ```
    /// let workspace = ad_runtime::Workspace::new();
    /// assert_eq!(format!("{workspace:?}"), "Workspace { .. }");
    /// ```
    #[must_use]
    pub fn new() -> Self {
        Workspace::default()
    }

    /// An array of `n` elements.
    #[doc(hidden)]
    #[must_use]
    pub fn filled<A: Element>(&self, place: usize, fill: A, n: usize) -> Lent<A> {
        let mut lent = self.empty(place);
        lent.data.resize(n, fill);
        lent
    }

    /// A copy of these elements.
    #[doc(hidden)]
    #[must_use]
    pub fn copied<A: Element>(&self, place: usize, from: &[A]) -> Lent<A> {
        let mut lent = self.empty(place);
        lent.data.extend_from_slice(from);
        lent
    }

    /// An empty array, which may grow.
    #[doc(hidden)]
    #[must_use]
    pub fn empty<A: Element>(&self, place: usize) -> Lent<A> {
        let data = self.pool.with(|all| {
            let free = all.get_mut(&(TypeId::of::<A>(), place)).and_then(|list| list.downcast_mut::<Vec<Vec<A>>>());
            free.and_then(Vec::pop).unwrap_or_default()
        });
        Lent { data, place, pool: Some(self.pool.clone()) }
    }
}

/// An array that a [`Workspace`] has lent. It returns to the workspace when it is dropped.
#[derive(Debug)]
pub struct Lent<A: Element> {
    data: Vec<A>,
    place: usize,
    pool: Option<Pool>,
}

/// An array that belongs to no workspace.
impl<A: Element> From<Vec<A>> for Lent<A> {
    fn from(data: Vec<A>) -> Self {
        Lent { data, place: 0, pool: None }
    }
}

impl<A: Element> Lent<A> {
    /// The same array with `n` elements.
    #[doc(hidden)]
    #[must_use]
    pub fn resized(mut self, n: usize, fill: A) -> Self {
        self.data.resize(n, fill);
        self
    }
}

impl<A: Element> Deref for Lent<A> {
    type Target = Vec<A>;

    fn deref(&self) -> &Vec<A> {
        &self.data
    }
}

impl<A: Element> DerefMut for Lent<A> {
    fn deref_mut(&mut self) -> &mut Vec<A> {
        &mut self.data
    }
}

impl<A: Element> Drop for Lent<A> {
    fn drop(&mut self) {
        let Some(pool) = self.pool.take() else { return };
        let mut data = core::mem::take(&mut self.data);
        data.clear();
        pool.with(|all| {
            let list = all.entry((TypeId::of::<A>(), self.place)).or_insert_with(|| Box::new(Vec::<Vec<A>>::new()));
            if let Some(list) = list.downcast_mut::<Vec<Vec<A>>>() {
                list.push(data);
            }
        });
    }
}

#[cfg(test)]
mod tests {
    use super::Workspace;

    #[test]
    fn a_returned_array_has_no_elements() {
        let workspace = Workspace::new();
        let first = workspace.filled(3, 7.0, 5);
        let at = first.as_ptr();
        drop(first);
        let second = workspace.filled(3, 0.0, 4);
        assert_eq!((second.as_ptr(), &second[..]), (at, &[0.0; 4][..]));
        // Another place, and another type, have other memory.
        assert_ne!(workspace.filled(2, 0.0, 4).as_ptr(), at);
        assert_eq!(workspace.copied(3, &[1_usize, 2])[..], [1, 2]);
    }
}
