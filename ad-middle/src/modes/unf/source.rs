//! Source UNF (UNF Fig. 6): a function is a composition of primitives, each of which takes the
//! whole environment and returns it with one more value. A primitive names the values that it reads
//! by their positions, so no value needs a name, and the flow of data is a line.
//!
//! The paper's `var` copies a value to the end of the environment, and its `proj` drops values that
//! are not read again. Both are positions here: `var_i; var_j; op; proj` is an operation that reads
//! the positions i and j. This module must never hold a rule of differentiation.

use std::collections::HashMap;
use std::rc::Rc;

use ad_ir::ir::{Term, Var};

use crate::modes::fold::Fold;
use crate::modes::operation::Operation;

/// The origin of a variable of the environment.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub(super) enum Variable {
    /// An input of the function.
    Input(u32),
    /// A parameter of the body of a loop.
    Param(usize),
    /// In the body of a map: a value of the environment around it, the same for each element.
    Outer(usize),
    /// In the body of a map: the row, at the index of the map, of an array of the environment
    /// around it. These arrays are the arguments of the paper's `map2`.
    Row(usize),
}

/// A primitive (UNF Fig. 6, and section 7 for conditionals and loops).
#[derive(Debug)]
pub(super) enum Primitive {
    /// A constant, or a value that depends on no active variable: `op_{T;0}`.
    Constant,
    /// A variable of the environment: `var_{T;i}`.
    Variable(Variable),
    /// The value at another position.
    Same(usize),
    /// An operation on arrays or numbers: `op_{T;n}`.
    Operation(Operation),
    /// `pair`, for any number of values.
    Pair(Vec<usize>),
    /// The component of a pair.
    Component(usize, usize),
    /// A conditional.
    Conditional { condition: Term, then: usize, other: usize },
    /// An elementwise choice between two arrays.
    Choice { mask: Term, then: usize, other: usize },
    /// Arrays along a new outer axis.
    Stack(Vec<usize>),
    /// An array, with elements of another one put at these indices.
    Update { onto: usize, put: usize, written: Term, vars: Box<[Var]>, index: Box<[Term]> },
    /// `map2_{T;x,y.e}`, for an index and any number of arrays.
    Map(Box<Map>),
    /// `foldl`, `scanl` and `scanr`: the one loop form.
    Fold(Rc<Fold<Composition>>),
}

/// One step of a composition: the environment gets one more value.
#[derive(Debug)]
pub(super) struct Step {
    /// The term of the function.
    pub(super) term: Term,
    /// The term of the primal program, whose loops save what derivatives read.
    pub(super) primal: Term,
    /// The primitive that computes the value.
    pub(super) primitive: Primitive,
    /// Whether it depends on an active variable.
    pub(super) active: bool,
}

/// A composition of primitives.
#[derive(Default, Debug)]
pub(super) struct Composition {
    /// The steps. The position of a value is the number of its step.
    pub(super) steps: Vec<Step>,
    /// The positions of the terms.
    pub(super) positions: HashMap<Term, usize>,
    /// The positions of the results.
    pub(super) results: Vec<usize>,
}

/// The body of a map.
#[derive(Debug)]
pub(super) struct Map {
    /// The number of elements.
    pub(super) size: Term,
    /// The index, an opened variable.
    pub(super) var: Var,
    /// The element at the index.
    pub(super) body: Composition,
}

impl Composition {
    /// The primal term at a position.
    pub(super) fn primal(&self, position: usize) -> Term {
        self.steps[position].primal
    }

    /// The primal term of a term. A term that is not in the composition is its own primal term.
    pub(super) fn primal_of(&self, t: Term) -> Term {
        self.positions.get(&t).map_or(t, |&at| self.primal(at))
    }

    /// Whether the value at a position is active.
    pub(super) fn active(&self, position: usize) -> bool {
        self.steps[position].active
    }
}
