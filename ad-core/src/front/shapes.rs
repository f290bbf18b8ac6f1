//! Sizes that have to be equal. The function is lowered again and again: each pass declares the parameters with the equations that
//! the passes before it have found, until there are no new ones (design, decision 5). An equation becomes one check at the entry.

use std::collections::BTreeMap;

use syn::ItemFn;

use super::lower::Lower;
use super::sig::Sig;
use super::value::Lowered;
use crate::catalogue;
use crate::diag::{Diags, Poison, SrcRange};
use crate::ir::{Elem, Lit, Loc, Node, Term, Type};
use crate::prim::Cmp;
use crate::program::{Check, Output, OutputTree, Param, Phase, Place, Places, Program};

/// A size that stands for itself: an axis of a parameter, or a parameter that is a `usize`.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub(super) struct Symbol {
    /// The parameter.
    input: u32,
    /// The axis; `None` for the value of a scalar.
    axis: Option<u8>,
}

/// What a size is known to be.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub(super) enum Size {
    /// A number: stronger than any symbol.
    Number(i128),
    /// A symbol, the oldest of its class.
    Symbol(Symbol),
}

/// Two sizes that have to be equal wherever the function is called.
#[derive(Clone, Debug)]
pub(super) struct Equation {
    pub sides: [Size; 2],
    /// The two in the user's words.
    pub words: [String; 2],
    pub message: String,
    pub place: Place,
}

/// Classes of equal sizes.
#[derive(Default, Debug)]
pub(super) struct Classes {
    older: BTreeMap<Symbol, Size>,
}

impl Classes {
    /// The representative.
    pub(super) fn find(&self, mut size: Size) -> Size {
        while let Size::Symbol(s) = size {
            match self.older.get(&s) {
                Some(&next) => size = next,
                None => break,
            }
        }
        size
    }

    /// Unites two classes, unless they are one (or two different numbers).
    fn unite(&mut self, a: Size, b: Size) -> bool {
        let (a, b) = (self.find(a), self.find(b));
        let (older, newer) = if a <= b { (a, b) } else { (b, a) };
        match newer {
            Size::Symbol(s) if older != newer => {
                self.older.insert(s, older);
                true
            }
            _ => false,
        }
    }
}

impl Lower<'_> {
    /// What a size term stands for, if it is no expression.
    pub(super) fn size_of(&self, t: Term) -> Option<Size> {
        match self.g.node(t) {
            Node::Lit(Lit::Int(_, n)) => Some(Size::Number(*n)),
            Node::Size(input, axis) => Some(Size::Symbol(Symbol { input: *input, axis: Some(*axis) })),
            Node::Input(input) if *self.g.ty(t) == Type::scalar(Elem::USIZE) => {
                Some(Size::Symbol(Symbol { input: *input, axis: None }))
            }
            _ => None,
        }
    }

    /// The term of a size, not replaced by its representative.
    pub(super) fn size_term(&mut self, size: Size) -> Term {
        match size {
            Size::Number(n) => self.g.lit_usize(usize::try_from(n).unwrap_or(0)),
            Size::Symbol(Symbol { input, axis: Some(axis) }) => self.g.mk(Node::Size(input, axis)),
            Size::Symbol(Symbol { input, axis: None }) => self.g.mk(Node::Input(input)),
        }
    }

    /// Declares the parameters: each axis by the representative of its size.
    pub(super) fn declare(&mut self, classes: &Classes) {
        for (k, param) in self.sig.params.iter().enumerate() {
            let input = u32::try_from(k).unwrap_or(u32::MAX);
            let known: Vec<Option<Term>> = (0..param.leaf.rank)
                .map(|axis| {
                    let own = Size::Symbol(Symbol { input, axis: Some(axis) });
                    let size = classes.find(own);
                    // An older axis of the same parameter can only be named once the parameter is there.
                    match size {
                        Size::Symbol(s) if s.input == input => None,
                        size => Some(self.size_term(size)),
                    }
                })
                .collect();
            let same: Vec<u8> = (0..param.leaf.rank)
                .map(|axis| match classes.find(Size::Symbol(Symbol { input, axis: Some(axis) })) {
                    Size::Symbol(Symbol { input: of, axis: Some(older) }) if of == input => older,
                    _ => axis,
                })
                .collect();
            let mut term = self.g.add_input_united(param.leaf.elem, &known, &same);
            if param.leaf.rank == 0 && param.leaf.elem == Elem::USIZE {
                let size = classes.find(Size::Symbol(Symbol { input, axis: None }));
                term = self.size_term(size);
            }
            let name = param.name.to_string();
            self.hints.entry(term).or_insert_with(|| name.clone());
            self.scope.bind(name, Some(super::value::Value::Term(term)));
        }
    }

    /// Makes `b` have the size of `a` along an axis where they have to be equal: says so, and returns whether the two terms differ still.
    pub(super) fn equate(&mut self, a: Term, b: Term, words: [String; 2], range: SrcRange) -> Lowered<bool> {
        if a == b {
            return Ok(false);
        }
        let sides = (self.size_of(a), self.size_of(b));
        if let (Some(Size::Number(x)), Some(Size::Number(y))) = sides {
            return Err(self.diags.push(range, catalogue::sizes_never_equal(&words, x, y)));
        }
        let message = "shapes differ";
        if let (Some(x), Some(y)) = sides
            && self.unconditional()
        {
            let place = Place { range, text: self.text_here() };
            self.equations.push(Equation { sides: [x, y], words, message: message.into(), place });
            return Ok(true);
        }
        if !(self.facts.prove_le(&self.g, a, b) && self.facts.prove_le(&self.g, b, a)) {
            let [wa, wb] = words;
            let ok = self.g.compare(Cmp::Eq, a, b);
            self.require_shown(None, ok, message, vec![(wa, a), (wb, b)]);
        }
        Ok(true)
    }
}

/// Lowers a function whose signature is understood.
pub(super) fn lower(sig: &Sig, item: &ItemFn, diags: &mut Diags) -> Lowered<Program> {
    let mut classes = Classes::default();
    let mut equations: Vec<Equation> = Vec::new();
    // Each pass but the last unites two classes, of which there are finitely many.
    let most = 2 + sig.params.iter().map(|p| usize::from(p.leaf.rank) + 1).sum::<usize>();
    for _ in 0..most {
        let mut lower = Lower::new(sig);
        lower.declare(&classes);
        let result = lower.function(item);
        if !lower.diags.is_empty() {
            for d in lower.diags.list() {
                diags.push(d.range, d.message.clone());
            }
            return Err(Poison);
        }
        let result = result?;
        let mut new = false;
        for equation in std::mem::take(&mut lower.equations) {
            if classes.unite(equation.sides[0], equation.sides[1]) {
                equations.push(equation);
                new = true;
            } else if classes.find(equation.sides[0]) != classes.find(equation.sides[1]) {
                let (Size::Number(x), Size::Number(y)) =
                    (classes.find(equation.sides[0]), classes.find(equation.sides[1]))
                else {
                    continue;
                };
                diags.push(equation.place.range, catalogue::sizes_never_equal(&equation.words, x, y));
                return Err(Poison);
            }
        }
        if !new {
            return Ok(finish(lower, result, equations));
        }
    }
    diags.push(SrcRange::of(&item.sig.ident), catalogue::internal("equations between sizes do not come to an end"));
    Err(Poison)
}

fn finish(mut lower: Lower<'_>, result: Term, equations: Vec<Equation>) -> Program {
    let mut checks = Vec::new();
    for Equation { sides, words, message, place } in equations {
        let terms = sides.map(|s| lower.size_term(s));
        lower.places.push(place);
        let loc = Loc(u32::try_from(lower.places.len() - 1).unwrap_or(0));
        let ok = lower.g.compare(Cmp::Eq, terms[0], terms[1]);
        checks.push(Check { ok, message, shown: words.into_iter().zip(terms).collect(), loc, phase: Phase::Entry });
    }
    checks.append(&mut lower.checks);
    let sig = lower.sig;
    let params = sig.params.iter().enumerate().map(|(k, p)| Param {
        name: p.name.clone(),
        ty: p.ty.clone(),
        container: p.leaf.container,
        elem: p.leaf.elem,
        rank: p.leaf.rank,
        input: u32::try_from(k).ok(),
    });
    Program {
        name: sig.name.clone(),
        vis: sig.vis.clone(),
        cfgs: sig.cfgs.clone(),
        generics: sig.generics.clone(),
        where_clause: sig.where_clause.clone(),
        params: params.collect(),
        active: sig.active.clone(),
        result_ty: sig.result_ty.clone(),
        result: OutputTree::Leaf(Output { term: result, container: sig.result.container }),
        checks,
        hints: lower.hints,
        places: Places(lower.places),
        options: sig.options.clone(),
        real_param: sig.real_param.clone(),
        dsl: lower.dsl,
        graph: lower.g,
    }
}
