//! Linear functions and let-bound terms: what CHAD makes of a program (CHAD sections 4 and 9.1).
//!
//! `LFun` is the paper's abstract type of linear functions. Each one is applied to tangents by
//! `forward`, and its transpose to cotangents by `reverse`. So the rules of CHAD sections 7.4 and
//! 7.5 are next to each other, and a derivative has one place. This module must never apply one.

use std::collections::HashMap;
use std::rc::Rc;

use ad_ir::ir::{Term, Var};

use crate::modes::fold::Fold;
use crate::modes::operation::Operation;

/// A variable of the context of a program.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub(super) enum Variable {
    /// An input of the function.
    Input(u32),
    /// A parameter of the body of a loop.
    Param(usize),
    /// In an element of an array: a term that is bound outside of it.
    Outer(usize),
}

/// The derivative of one term, as a linear function of the tangents of its context:
/// `LFun(D(context)2, D(type)2)` in forward mode, and its transpose in reverse mode. Terms are
/// named by their numbers in [`Lets`].
#[derive(Debug)]
pub(super) enum LFun {
    /// `0`.
    Zero,
    /// `proj_i`, transposed `coproj_i`: a variable of the context.
    Variable(Variable),
    /// `lid`: a term that is bound already.
    Same(usize),
    /// `Dop` and `Dop^t`: the derivative of an operation.
    Dop(Operation),
    /// `lpair`, for any number of components.
    Pair(Vec<usize>),
    /// `lfst` and `lsnd`, for any number of components.
    Component(usize, usize),
    /// The arm that the function takes.
    Case { condition: Term, then: usize, other: usize },
    /// An elementwise choice between two arrays.
    Choice { mask: Term, then: usize, other: usize },
    /// Arrays along a new outer axis.
    Stack(Vec<usize>),
    /// An array, with elements of another one put at these indices.
    Update { onto: usize, put: usize, written: Term, vars: Box<[Var]>, index: Box<[Term]> },
    /// `leval`, transposed `{(t, -)}`: an array is a function of an index, and its cotangent a
    /// copower.
    Evaluation { of: usize, read: Term },
    /// `Dbuild` and `Dbuild^t` (CHAD section 10).
    Build(Box<Elements>),
    /// `Dfold` and `Dfold^t`.
    Fold(Rc<Fold<Lets>>),
}

/// One term of a program, `let <x, x'> = D(t)`.
#[derive(Debug)]
pub(super) struct Bound {
    /// The term of the function.
    pub(super) term: Term,
    /// `x`: the term of the primal program. Its loops save the states that derivatives read.
    pub(super) primal: Term,
    /// `x'`.
    pub(super) dual: LFun,
}

/// A program: a chain of lets, in which each term comes after those that it reads. A term that is
/// shared is bound once (CHAD section 7.6).
#[derive(Default, Debug)]
pub(super) struct Lets {
    /// The terms. The number of a term is its place.
    pub(super) bound: Vec<Bound>,
    /// The numbers of the terms.
    pub(super) numbers: HashMap<Term, usize>,
    /// The numbers of the results.
    pub(super) results: Vec<usize>,
}

/// The elements of an array that is a function of its index.
#[derive(Debug)]
pub(super) struct Elements {
    /// How many there are.
    pub(super) size: Term,
    /// The index, an opened variable.
    pub(super) var: Var,
    /// The element at the index.
    pub(super) body: Lets,
}

impl Lets {
    /// The primal term with this number.
    pub(super) fn primal(&self, number: usize) -> Term {
        self.bound[number].primal
    }

    /// The primal term of a term. A term that is not bound is its own.
    pub(super) fn primal_of(&self, t: Term) -> Term {
        self.numbers.get(&t).map_or(t, |&number| self.primal(number))
    }

    /// Whether the derivative of a term is not zero.
    pub(super) fn is_active(&self, number: usize) -> bool {
        !matches!(self.bound[number].dual, LFun::Zero)
    }
}
