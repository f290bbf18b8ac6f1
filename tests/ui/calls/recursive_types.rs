//! Types that contain themselves, where that is not understood.

use ad::prelude::*;

#[differentiate]
mod trees {
    use ad::prelude::*;

    #[derive(Clone)]
    pub enum Tree {
        Leaf(f64),
        Pair(Box<Tree>, Box<Tree>),
    }

    fn total(tree: &Tree) -> f64 {
        match tree {
            Tree::Leaf(x) => *x,
            Tree::Pair(a, b) => total(a) * total(b),
        }
    }

    #[differentiate]
    pub fn copied(tree: &Tree) -> Tree {
        tree.clone()
    }

    #[differentiate(jacobian)]
    pub fn in_blocks(tree: &Tree, x: f64) -> f64 {
        total(tree) * x
    }

    #[differentiate]
    pub fn made(x: f64) -> f64 {
        total(&Tree::Pair(Box::new(Tree::Leaf(x)), Box::new(Tree::Leaf(2.0))))
    }
}

/// A type that contains itself cannot have a field that is not made of numbers.
#[derive(Clone, Differentiable)]
struct Named {
    x: f64,
    #[constant]
    name: String,
    next: Option<Box<Named>>,
}

#[differentiate]
fn first(named: &Named) -> f64 {
    named.x
}

fn main() {}
