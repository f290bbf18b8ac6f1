//! The inputs of the graph: which of them are constants whose values only rustc knows, which are
//! the function's parameters, and what the parameters stand for. Constants are declared before the
//! parameters or after them.
//!
//! Invariants: a declared input stays, and keeps its number; a trial lowering keeps the constants
//! that it declares, since its terms may read them. The parameters are declared once, by
//! `Lower::declare`, before the body is lowered.
//!
//! This module must never decide which sizes are equal (`shapes`).

use ad_ir::sorted::SortedMap;
use std::rc::Rc;

use crate::ragged::RaggedList;
use ad_ir::ir::{Elem, Term};
use ad_ir::program::Constant;

/// The inputs of the graph of one run.
#[derive(Default)]
pub(crate) struct GraphInputs {
    constants: Vec<Constant>,
    /// The index of the input that holds the first parameter.
    first_param: u32,
    /// The parameters that are parts of one array, by their indices.
    packed: SortedMap<usize, Term>,
    /// The parameters that are lists of arrays of several shapes, by their elements.
    ragged: SortedMap<Term, Rc<RaggedList>>,
    /// In the function of many examples: the input that holds the index of the example.
    example: Option<u32>,
}

impl GraphInputs {
    /// The constants that have been declared.
    pub(crate) fn constants(&self) -> &[Constant] {
        &self.constants
    }

    /// The index of the constant that this input holds.
    pub(crate) fn constant_at(&self, input: u32) -> Option<usize> {
        self.constants.iter().position(|c| c.input == input)
    }

    /// The index of a constant of this text, element type and rank.
    pub(crate) fn constant_named(&self, text: &str, elem: Elem, rank: usize) -> Option<usize> {
        self.constants.iter().position(|c| c.elem == elem && c.lens.len() == rank && c.path.to_string() == text)
    }

    /// Declares a constant. Returns its index.
    pub(crate) fn add_constant(&mut self, constant: Constant) -> usize {
        self.constants.push(constant);
        self.constants.len() - 1
    }

    /// The constants, after the run.
    pub(crate) fn into_constants(self) -> Vec<Constant> {
        self.constants
    }

    /// Says that the parameters begin at this input.
    pub(crate) fn begin_parameters(&mut self, first: u32) {
        self.first_param = first;
    }

    /// The input that holds a parameter.
    pub(crate) fn input_of(&self, param: u32) -> u32 {
        self.first_param.saturating_add(param)
    }

    /// The parameter that an input holds, if it is not a constant before the parameters.
    pub(crate) fn param_at(&self, input: u32) -> Option<u32> {
        input.checked_sub(self.first_param)
    }

    /// Records that a parameter is this part of the one array.
    pub(crate) fn add_packed(&mut self, param: usize, part: Term) {
        self.packed.insert(param, part);
    }

    /// The part of the one array that a parameter is.
    pub(crate) fn packed(&self, param: usize) -> Option<Term> {
        self.packed.get(&param).copied()
    }

    /// Records a parameter that is a list of arrays of several shapes, with these elements.
    pub(crate) fn add_ragged_list(&mut self, elements: Term, list: RaggedList) {
        self.ragged.insert(elements, Rc::new(list));
    }

    /// The list of arrays of several shapes that has these elements.
    pub(crate) fn ragged_list(&self, elements: Term) -> Option<&Rc<RaggedList>> {
        self.ragged.get(&elements)
    }

    /// The lists of arrays of several shapes.
    pub(crate) fn ragged_lists(&self) -> impl Iterator<Item = &RaggedList> {
        self.ragged.values().map(|list| &**list)
    }

    /// Whether a parameter has lists of arrays of several shapes.
    pub(crate) fn has_ragged_lists(&self) -> bool {
        !self.ragged.is_empty()
    }

    /// Says which input holds the index of the example.
    pub(crate) fn set_example(&mut self, input: Option<u32>) {
        self.example = input;
    }

    /// In the function of many examples: the input that holds the index of the example.
    pub(crate) fn example(&self) -> Option<u32> {
        self.example
    }
}
