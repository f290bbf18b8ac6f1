//! Arguments that every call of a function passes on unchanged, and the arrays among them as one
//! array.
//!
//! Cotangents of one array are added in place by all calls (`Prim::Onto`). So a function over a
//! type that contains itself has one array of all real numbers that its calls pass on: the columns
//! of the tables, and other arrays and numbers. Each of these is a part of the array, and its
//! parameter is the place where the part begins.
//!
//! This module must never decide what a function computes.

use crate::translation::graph_inputs::GraphInputs;

use super::Functions;
use crate::definitions::Definitions;
use crate::lower::Lower;
use crate::sig::Sig;
use crate::value::Lowered;
use ad_ir::diag::Poison;
use ad_ir::ir::{Elem, Graph, Node, Term};
use ad_ir::prim::IntOp;

/// The first of the numbers that stand for sizes among the findings.
const SIZES: usize = 1 << 20;

/// The number of an argument among the findings. It does not depend on which arrays are one.
fn key(sig: &Sig, k: usize) -> usize {
    let (first, packed) = (sig.before(), usize::from(!sig.packed.is_empty()));
    match k.checked_sub(first) {
        Some(leaf) => leaf,
        None if k < packed => usize::MAX,
        None => sig
            .sizes
            .get(k - packed)
            .map_or(usize::MAX, |&(array, axis)| SIZES + 8 * (array - first) + usize::from(axis)),
    }
}

impl Functions {
    /// Notes which parameters a call of this function changes, if it is made with these arguments.
    /// Returns the parameters that no call changes. `leaves`: the numbers and arrays that are
    /// passed, of which the parts of the one array are in `own`.
    pub(super) fn unchanged(
        &self,
        (number, sig): (u32, &Sig),
        (g, own): (&Graph, &GraphInputs),
        (given, leaves): (&[Term], &[Term]),
    ) -> Box<[u32]> {
        let all = self.all.borrow();
        let Some(text) = all.get(number as usize).map(|f| &f.text) else { return [].into() };
        let same = |k: usize| {
            let input = u32::try_from(k).ok().and_then(|k| g.input(own.input_of(k)));
            match sig.packed.iter().any(|(part, _)| *part == k) {
                true => own.packed(k).as_ref() == leaves.get(k - sig.before()),
                false => input == Some(given[k]),
            }
        };
        let itself = self.current == Some(number as usize);
        let changed = (0..given.len()).filter(|&k| self.current.is_some() && !(itself && same(k)));
        self.changed.borrow_mut().extend(changed.map(|k| (text.clone(), key(sig, k))));
        let kept = |k: &u32| !self.known.changed.contains(&(text.clone(), key(sig, *k as usize)));
        (0..).take(given.len()).filter(kept).collect()
    }

    /// The numbers and arrays of a function that are parts of one array: their indices among those
    /// of its parameters.
    pub(super) fn packed(&self, text: &str, sig: &Sig, known: &Definitions) -> Vec<usize> {
        let tables = sig
            .declared
            .iter()
            .any(|p| syn::parse2(p.declared.ty.clone()).is_ok_and(|ty| known.has_one_that_contains_itself(&ty)));
        let (first, mut elem): (usize, Option<Elem>) = (sig.before(), None);
        let passed = sig.params[first..].iter().enumerate().filter(|(k, p)| {
            let real = p.leaf.elem.is_real() && !self.known.changed.contains(&(text.to_string(), *k));
            real && *elem.get_or_insert(p.leaf.elem) == p.leaf.elem
        });
        let passed: Vec<usize> = passed.map(|(k, _)| k).collect();
        let arrays = passed.iter().filter(|&&k| sig.params[first + k].leaf.rank > 0).count();
        if tables && arrays > 0 && passed.len() > 1 { passed } else { Vec::new() }
    }
}

impl<'a> Lower<'a> {
    /// A number or array that is a part of the function's one array. `None` for another parameter.
    /// `at` is the parameter's input, which says where the part begins.
    pub(crate) fn part_of_pack(&mut self, k: usize, at: Term) -> Option<Term> {
        let (_, leaf) = self.input.sig().packed.iter().find(|(part, _)| *part == k)?;
        let all = self.g.mk(Node::Input(self.graph_inputs.input_of(0)));
        let mut part = at;
        let mut vars = Vec::new();
        let mut sizes = Vec::new();
        let mut within = self.g.lit_usize(0);
        for axis in 0..leaf.rank {
            let size = match leaf.static_size(axis) {
                Some(len) => self.static_size(len),
                None => {
                    let j = self.input.sig().sizes.iter().position(|&of| of == (k, axis))?;
                    self.size_parameter(j)
                }
            };
            let var = self.g.fresh();
            let i = self.g.mk(Node::Var(var));
            within = self.g.int(IntOp::Mul, within, size);
            within = self.g.int(IntOp::Add, within, i);
            vars.push(var);
            sizes.push(size);
        }
        if leaf.rank > 0 {
            part = self.g.int(IntOp::Add, at, within);
        }
        let term =
            if leaf.rank == 0 { self.g.index(all, &[part]) } else { self.g.gather(all, sizes.into(), &vars, &[part]) };
        self.graph_inputs.add_packed(k, term);
        Some(term)
    }

    /// The arguments of a call, given the numbers and arrays that are passed: the one array, the
    /// sizes, and the others.
    pub(super) fn packed_arguments(&mut self, (number, sig): (u32, &Sig), leaves: &[Term]) -> Lowered<Vec<Term>> {
        let first = sig.before();
        let mut given = Vec::new();
        let mut own = leaves.to_vec();
        if !sig.packed.is_empty() {
            let itself = self.functions.current == Some(number as usize)
                && sig.packed.iter().all(|(k, _)| self.graph_inputs.packed(*k).as_ref() == leaves.get(k - first));
            if itself {
                given.push(self.g.mk(Node::Input(self.graph_inputs.input_of(0))));
                for (k, _) in &sig.packed {
                    let input = self.graph_inputs.input_of(u32::try_from(*k).unwrap_or(u32::MAX));
                    own[k - first] = self.g.mk(Node::Input(input));
                }
            } else {
                given.push(self.joined_parts(sig, &mut own));
            }
        }
        for &(k, axis) in &sig.sizes {
            let array = leaves.get(k - first).copied().ok_or(Poison)?;
            given.push(self.g.shape(array).get(usize::from(axis)).copied().ok_or(Poison)?);
        }
        given.append(&mut own);
        Ok(given)
    }

    /// The one array, a concatenation of the parts. The index at which a part begins replaces the
    /// part.
    fn joined_parts(&mut self, sig: &Sig, leaves: &mut [Term]) -> Term {
        let (first, mut total) = (sig.before(), self.g.lit_usize(0));
        let mut placed = Vec::new();
        for (k, _) in &sig.packed {
            let part = leaves[k - first];
            let shape = self.g.shape(part).to_vec();
            let size = self.product_of(&shape);
            let flat = if shape.is_empty() { self.g.broadcast(part, &[size]) } else { self.g.reshape(part, &[size]) };
            leaves[k - first] = total;
            placed.push((flat, total));
            total = self.g.int(IntOp::Add, total, size);
        }
        let mut joined: Option<Term> = None;
        for (part, start) in placed {
            let block = self.g.pad(part, &[start], &[1], &[total]);
            joined = Some(joined.map_or(block, |before| self.g.add(before, block)));
        }
        joined.unwrap_or(total)
    }
}
