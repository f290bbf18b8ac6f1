//! Values of types that the language does not have.

use ad::prelude::*;
use std::collections::{BinaryHeap, HashMap, HashSet, LinkedList};
use std::rc::Rc;

struct Point {
    x: f64,
}

impl Point {
    fn new(x: f64) -> Self {
        Point { x }
    }
}

#[differentiate]
fn collections(x: f64) -> f64 {
    let sums: HashMap<usize, f64> = HashMap::new();
    let seen: HashSet<usize> = HashSet::new();
    let queue: LinkedList<f64> = LinkedList::new();
    let heap: BinaryHeap<usize> = BinaryHeap::new();
    let name = String::new();
    let shared = Rc::new(x);
    let point = Point::new(x);
    x
}

mod renamed {
    use ad::ndarray::{Array1, Axis as Along, Zip as Z};
    use ad::prelude::differentiate;

    type Vector<F> = Array1<F>;

    #[differentiate]
    fn zipped(x: &Array1<f64>) -> f64 {
        Z::from(x).and(x).fold(0.0, |s, a, b| s + a * b)
    }

    #[differentiate]
    fn along(x: &Array1<f64>) -> f64 {
        x.sum_axis(Along(0))[()]
    }

    #[differentiate]
    fn aliased(x: &Vector<f64>) -> f64 {
        x.sum()
    }
}

fn main() {}
