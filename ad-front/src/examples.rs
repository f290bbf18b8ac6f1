//! The function that `per_example` differentiates. Some parameters have an additional first axis, a
//! row for each example. The body computes one example, at an index that is an input of the graph
//! and no parameter of a routine.
//!
//! This module determines the signature of that function and the meaning of its names. It must
//! never read the body, and never batch anything: the derivative does that.

use super::attr::Attr;
use super::lower::Lower;
use super::shapes::{Equation, Size};
use super::sig::{Sig, SigDeclared, SigParam};
use super::types::{MAX_RANK, view_tokens};
use crate::value::Value;
use ad_ir::catalogue;
use ad_ir::diag::{Diags, SrcRange, suggest, text_of};
use ad_ir::ir::{Elem, Term};
use ad_ir::program::{Container, Owner, ParamTree, Passing, SourceLocation};

/// The parameters of an example, by their indices. Errors in the names are reported.
pub(super) fn named(
    declared: &[SigDeclared],
    params: &[SigParam],
    active: &[usize],
    attr: &Attr,
    diags: &mut Diags,
) -> Vec<usize> {
    let mut found = Vec::new();
    let before = diags.list().len();
    for name in &attr.examples {
        let (range, text) = (SrcRange::of(name), name.to_string());
        let Some(named) = declared.iter().find(|p| p.declared.label == text) else {
            let all: Vec<String> = declared.iter().map(|p| p.declared.label.clone()).collect();
            let near = suggest(&text, all.iter().map(String::as_str));
            diags.push(range, catalogue::example_unknown(&text, near, &all));
            continue;
        };
        let ty = text_of(&named.declared.ty, 40);
        match named.declared.parts {
            ParamTree::Tuple { .. } | ParamTree::List { .. } | ParamTree::Ragged(..) | ParamTree::Defined { .. } => {
                diags.push(range, catalogue::example_of_parts(&text, &ty));
            }
            ParamTree::Leaf(k) if found.contains(&k) => {
                diags.push(range, catalogue::example_twice(&text));
            }
            ParamTree::Leaf(k) if params[k].leaf.rank == MAX_RANK => {
                diags.push(range, catalogue::example_of_high_rank(&text, &ty));
            }
            ParamTree::Leaf(k) => found.push(k),
        }
    }
    found.sort_unstable();
    if let (Some(first), false) = (attr.examples.first(), found.is_empty() || diags.list().len() > before) {
        let shared: Vec<usize> = active.iter().copied().filter(|k| !found.contains(k)).collect();
        if shared.is_empty() {
            diags.push(SrcRange::of(first), catalogue::examples_only());
        }
        for k in shared.into_iter().filter(|&k| params[k].leaf.rank == MAX_RANK) {
            let of = |p: &&SigDeclared| p.leaves().contains(&k);
            let ty = declared.iter().find(of).map_or_else(String::new, |p| text_of(&p.declared.ty, 40));
            diags.push(SrcRange::of(first), catalogue::example_of_high_rank(&params[k].label, &ty));
        }
    }
    found
}

impl Sig {
    /// The signature of the function of many examples.
    pub(super) fn of_examples(&self) -> Sig {
        let mut sig = self.clone();
        for &k in &self.examples {
            let p = &mut sig.params[k];
            let rank = p.leaf.rank + 1;
            if let Some(d) = sig.declared.iter_mut().find(|d| d.declared.parts == ParamTree::Leaf(k)) {
                d.declared.ty = view_tokens(&p.leaf, rank, self.real_param.as_ref(), &self.krate);
            }
            let one = p.leaf.clone();
            p.leaf.container = Container::NdArray;
            p.leaf.rank = rank;
            p.leaf.passing = Passing::value(Owner::View);
            p.leaf.lens = Vec::new();
            p.example = Some(one);
        }
        sig.active.retain(|k| !self.examples.contains(k));
        let leaf = |k: usize| match self.declared[k].declared.parts {
            ParamTree::Leaf(k) => Some(k),
            _ => None,
        };
        sig.wrt.retain(|&k| leaf(k).is_none_or(|k| !self.examples.contains(&k)));
        sig
    }
}

impl Lower<'_> {
    /// Declares the index of the example, and binds each parameter of an example to its row at this
    /// index. All arrays of examples are equally long, and rows of a static type have its sizes.
    pub(super) fn declare_examples(&mut self, arrays: &[(usize, Term)]) -> Option<u32> {
        let &(first, _) = arrays.first()?;
        let sig = self.input.sig();
        let number = u32::try_from(self.g.inputs().len()).unwrap_or(u32::MAX);
        let example = self.g.add_input(Elem::USIZE, 0);
        for &(k, array) in arrays {
            let p = &sig.params[k];
            let Some(one) = &p.example else { continue };
            let place = SourceLocation::of_range(SrcRange::of(&p.name), String::new());
            let equal = |me: &mut Self, sides: [Size; 2], words: [String; 2]| {
                let said = catalogue::reached::SHAPES.into();
                me.state.requirements.equate(Equation { sides, words, said, place: place.clone() });
            };
            if k != first {
                let words = [first, k].map(|k| format!("the examples in `{}`", sig.params[k].name));
                equal(self, [Size::of_axis(first, 0), Size::of_axis(k, 0)], words);
            }
            for axis in 0..one.rank {
                let Some(len) = one.static_size(axis) else { continue };
                let size = self.static_size(len);
                let words = [format!("axis {} of `{}`", axis + 1, p.name), format!("the type of one `{}`", p.name)];
                if let Some(size) = self.size_of(size) {
                    equal(self, [Size::of_axis(k, usize::from(axis) + 1), size], words);
                }
            }
            let row = self.g.index(array, &[example]);
            let levels = if one.lens.is_empty() { 0 } else { u8::MAX };
            let value = Value::nested(&self.g, row, levels);
            self.bind_parameter(p.name.to_string(), sig.is_mutable(k), value);
        }
        Some(number)
    }
}
