//! Values and gradients as lists of numbers, to be held against each other.

use std::cell::RefCell;

use ad::ndarray::{Array, Dimension};

/// The entries of a gradient, one list for each parameter.
pub trait Entries {
    fn entries(&self) -> Vec<Vec<f64>>;
}

impl<D: Dimension> Entries for Array<f64, D> {
    fn entries(&self) -> Vec<Vec<f64>> {
        vec![self.iter().copied().collect()]
    }
}

/// A result in memory of the caller.
impl<T: Entries> Entries for &RefCell<T> {
    fn entries(&self) -> Vec<Vec<f64>> {
        self.borrow().entries()
    }
}

impl Entries for f64 {
    fn entries(&self) -> Vec<Vec<f64>> {
        vec![vec![*self]]
    }
}

impl<const N: usize> Entries for [f64; N] {
    fn entries(&self) -> Vec<Vec<f64>> {
        vec![self.to_vec()]
    }
}

impl<const N: usize, const M: usize> Entries for [[f64; N]; M] {
    fn entries(&self) -> Vec<Vec<f64>> {
        vec![self.as_flattened().to_vec()]
    }
}

impl Entries for f32 {
    fn entries(&self) -> Vec<Vec<f64>> {
        vec![vec![f64::from(*self)]]
    }
}

impl<const N: usize> Entries for [f32; N] {
    fn entries(&self) -> Vec<Vec<f64>> {
        vec![self.iter().copied().map(f64::from).collect()]
    }
}

impl Entries for Vec<f32> {
    fn entries(&self) -> Vec<Vec<f64>> {
        vec![self.iter().copied().map(f64::from).collect()]
    }
}

impl Entries for Vec<f64> {
    fn entries(&self) -> Vec<Vec<f64>> {
        vec![self.clone()]
    }
}

impl<const N: usize> Entries for Vec<[f64; N]> {
    fn entries(&self) -> Vec<Vec<f64>> {
        vec![self.as_flattened().to_vec()]
    }
}

impl<D: Dimension> Entries for Vec<Array<f64, D>> {
    fn entries(&self) -> Vec<Vec<f64>> {
        self.iter().flat_map(Entries::entries).collect()
    }
}

impl<A: Entries, B: Entries> Entries for (A, B) {
    fn entries(&self) -> Vec<Vec<f64>> {
        [self.0.entries(), self.1.entries()].concat()
    }
}

impl<A: Entries, B: Entries, C: Entries> Entries for (A, B, C) {
    fn entries(&self) -> Vec<Vec<f64>> {
        [self.0.entries(), self.1.entries(), self.2.entries()].concat()
    }
}

impl<A: Entries, B: Entries, C: Entries, D: Entries> Entries for (A, B, C, D) {
    fn entries(&self) -> Vec<Vec<f64>> {
        [self.0.entries(), self.1.entries(), self.2.entries(), self.3.entries()].concat()
    }
}

pub fn assert_close(name: &str, a: &[f64], b: &[f64], tolerance: f64) {
    assert_eq!(a.len(), b.len(), "{name}");
    let largest = a.iter().fold(0.0, |largest: f64, x| largest.max(x.abs()));
    for (k, (a, b)) in a.iter().zip(b).enumerate() {
        assert!((a - b).abs() <= tolerance * largest, "{name}, number {k}: {a} expected, {b} found");
    }
}
