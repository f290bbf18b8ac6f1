//! `pullback`: a routine in two stages. The first stage computes all terms that do not depend on
//! the cotangent. The second stage is a closure over the terms that it reads of the first
//! stage. The routine is `vjp`, split at its cotangent (CHAD's pair of a value and a linear
//! function).
//!
//! The closure owns what it keeps and borrows nothing, so that it may outlive the arguments. An
//! argument that the closure reads is copied. It keeps the terms of the first stage that a term of
//! the second stage reads. A term that only repeats or rearranges others (`replicate`, a
//! transposition) is computed again in the second stage.
//!
//! This module must never let the second stage compute any other term that the first stage could
//! have computed.

use std::collections::HashMap;

use proc_macro2::{Ident, Span, TokenStream};
use quote::{format_ident, quote};

use super::docs;
use crate::passes::loops::accumulated::added_to;
use ad_ir::analysis::guards::{Guard, guards};
use ad_ir::descriptor::PULLBACK;
use ad_ir::ir::rewrite::{Needs, OnDemand, Rewrite, on_demand};
use ad_ir::ir::{Graph, Node, Term, Type};
use ad_ir::prim::Prim;
use ad_ir::program::{
    Container, Declared, Output, OutputTree, Owner, Param, ParamTree, Passing, Program, Role, Routine, Staged,
};

/// `f_pullback`, given the `vjp`.
pub(crate) fn pullback(program: &mut Program, whole: Routine) -> Staged {
    let name = format_ident!("{}_pullback", program.stem, span = program.name.span());
    let docs = docs(program, &PULLBACK);
    split(program, whole, (name, docs), &[])
}

/// The two halves of a function that is called: `vjp` or `jvp`, split at its additional parameters.
/// Both take the parameters that are `passed` on.
pub(crate) fn halves(program: &mut Program, whole: Routine, passed: &[u32]) -> Staged {
    let name = program.name.clone();
    let uses = guards(&program.graph, &whole.result.terms());
    let own = program.params.len();
    let later: Vec<u32> = whole.params.iter().skip(own).filter_map(|p| p.input).collect();
    let mut staged = split(program, whole, (name, Vec::new()), passed);
    let results = program.result.leaves().len();
    let mut kept = staged.first.result.terms();
    for t in &mut kept[results..] {
        *t = only_where_read(&mut program.graph, *t, uses.get(t).map_or(&[], |set| set), &later);
    }
    staged.first.result = staged.first.result.with_terms(&mut kept.into_iter());
    staged
}

/// Lets the reverse half add its only result, an array, to an array of the caller.
pub(crate) fn adding(program: &mut Program, second: &mut Routine) {
    let [gradient] = second.result.terms()[..] else { return };
    let g = &mut program.graph;
    let (elem, shape) = (g.elem(gradient), g.shape(gradient).to_vec());
    let rank = ad_ir::ir::axis(shape.len());
    let given = g.add_input_shaped(elem, shape);
    let input = if let Node::Input(k) = g.node(given) { Some(*k) } else { None };
    let sum = added_to(g, given, gradient);
    let ty = ad_ir::rust_types::argument_type(program, Container::Scalar, elem, 0, &[]);
    let (name, container, passing) = (format_ident!("onto_"), Container::Slice, Container::Slice.passing());
    let (label, lens, role) = (name.to_string(), Vec::new(), Role::Data);
    let parts = ParamTree::Leaf(second.params.len());
    second.declared.push(Declared { name: name.clone(), label: label.clone(), ty: quote!(&mut [#ty]), parts });
    second.params.push(Param { name, label, passing, container, elem, rank, lens, input, role });
    second.result = OutputTree::Leaf(Output { term: sum, container, lens: Vec::new(), role });
    second.result_ty = quote!(());
    second.onto = input;
}

/// A value that is saved for one arm is computed in that arm only. This matters for a function that
/// calls itself, since most of its calls are the innermost ones. Integers may be sizes, and stay as
/// they are.
fn only_where_read(g: &mut Graph, t: Term, uses: &[Guard], later: &[u32]) -> Term {
    let is_call = matches!(g.node(t), Node::Prim(Prim::Call(_), _));
    if !is_call && g.rank(t) == 0 && !g.elem(t).is_real() {
        return t;
    }
    let of_input = |n: &Node| matches!(n, Node::Input(k) | Node::Size(k, _) if later.contains(k));
    let mut guarded = t;
    for &(c, value) in uses {
        let closed = g.free(c).is_empty() && !g.is_open(c);
        if closed && !g.reachable(&[c]).iter().any(|&t| of_input(g.node(t))) {
            let zeros = g.zeros_of_any(t);
            guarded = if value { g.cond(c, guarded, zeros) } else { g.cond(c, zeros, guarded) };
        }
    }
    guarded
}

fn split(program: &mut Program, whole: Routine, (name, docs): (Ident, Vec<String>), passed: &[u32]) -> Staged {
    let Routine { mut declared, mut params, result, checks, .. } = whole;
    let mut results = match result {
        OutputTree::Tuple(parts) => parts,
        leaf => vec![leaf],
    };
    let later = results.pop().unwrap_or(OutputTree::Tuple(Vec::new()));
    // The cotangent or the directions, and their numbers and arrays.
    let own = declared.split_off(program.declared.len());
    let parts: usize = own.iter().map(|own| own.parts.tree().leaves().len()).sum();
    let mut own_params = params.split_off(params.len().saturating_sub(parts));
    let inputs: Vec<u32> = own_params.iter().filter_map(|p| p.input).collect();
    let mut graph = std::mem::take(&mut program.graph);
    let mut split = Split {
        g: &mut graph,
        program,
        inputs,
        shared: passed.iter().filter_map(|&k| params.get(k as usize)?.input).collect(),
        own: HashMap::new(),
        late: HashMap::new(),
        done: HashMap::new(),
        kept: Vec::new(),
    };
    let (mut now, mut then) = (Vec::new(), Vec::new());
    for mut check in checks {
        if std::iter::once(check.ok).chain(check.shown.iter().map(|s| s.1)).any(|t| split.late(t)) {
            check.ok = split.closed(check.ok);
            for shown in &mut check.shown {
                shown.1 = split.closed(shown.1);
            }
            then.push(check);
        } else {
            now.push(check);
        }
    }
    let terms: Vec<Term> = later.terms().into_iter().map(|t| split.closed(t)).collect();
    let second = later.with_terms(&mut terms.into_iter());
    let (new_inputs, kept) = (split.own, split.kept);
    program.graph = graph;
    let mut second_params: Vec<Param> = passed.iter().filter_map(|&k| params.get(k as usize).cloned()).collect();
    // A function that is called has its leaves as parameters.
    let shared = passed.iter().filter_map(|&k| declared.get(k as usize)).enumerate();
    let mut second_declared: Vec<Declared> =
        shared.map(|(k, one)| Declared { parts: ParamTree::Leaf(k), ..one.clone() }).collect();
    for kept in &kept {
        second_declared.push(kept.declared(second_params.len()));
        second_params.push(kept.param.clone());
    }
    for own in own {
        let parts = own.parts.moved(second_params.len(), params.len());
        second_declared.push(Declared { parts, ..own });
    }
    for param in &mut own_params {
        param.input = param.input.and_then(|k| new_inputs.get(&k).copied());
    }
    second_params.append(&mut own_params);
    let leaves = kept.into_iter().map(|k| OutputTree::Leaf(k.leaf));
    let first = if leaves.len() == 0 {
        results.remove(0)
    } else {
        OutputTree::Tuple(results.into_iter().chain(leaves).collect())
    };
    let routine = |name: &str, (declared, params), result, checks| Routine {
        name: Ident::new(name, Span::call_site()),
        docs: Vec::new(),
        declared,
        params,
        result_ty: ad_ir::rust_types::tree_type(program, &result),
        result,
        checks,
        destinations: Vec::new(),
        workspace: false,
        exact: None,
        onto: None,
    };
    let first = routine("value_and_kept", (declared, params), first, now);
    let second = routine("pulled_back", (second_declared, second_params), second, then);
    Staged { name, docs, first, second }
}

/// A term of the first stage that the second reads.
struct Captured {
    leaf: Output,
    param: Param,
    ty: TokenStream,
}

impl Captured {
    /// It as a parameter of the second stage, whose leaf has this index.
    fn declared(&self, k: usize) -> Declared {
        let Captured { param, ty, .. } = self;
        Declared { name: param.name.clone(), label: param.label.clone(), ty: ty.clone(), parts: ParamTree::Leaf(k) }
    }
}

struct Split<'a> {
    g: &'a mut Graph,
    program: &'a Program,
    /// The inputs that the second stage takes.
    inputs: Vec<u32>,
    /// The inputs that both stages take.
    shared: Vec<u32>,
    /// The numbers of these inputs in the second stage, if a term has read them.
    own: HashMap<u32, u32>,
    /// Whether a term depends on these inputs.
    late: HashMap<Term, bool>,
    /// Terms of the second stage.
    done: HashMap<Term, Term>,
    kept: Vec<Captured>,
}

impl Rewrite for Split<'_> {
    type Key = Term;
    type New = Term;

    fn graph(&mut self) -> &mut Graph {
        self.g
    }

    fn origin(&self, t: &Term) -> Option<Term> {
        Some(*t)
    }

    fn is_done(&self, t: &Term) -> bool {
        self.done.contains_key(t)
    }

    fn keep(&mut self, t: Term, new: Term) {
        self.done.insert(t, new);
    }

    fn made(&mut self, &t: &Term) -> Term {
        let node = self.g.node_rc(t);
        if self.is_border(t, &node) {
            match self.g.ty(t).clone() {
                Type::Array(..) => self.keep(t),
                Type::Tuple(parts) => {
                    let parts: Vec<Term> = (0..parts.len()).map(|k| self.done[&self.g.proj(t, k)]).collect();
                    self.g.tuple(&parts)
                }
            }
        } else if let Node::Scan(_) = &*node {
            let Node::Scan(mut scan) = node.map_children(|c| self.done[&c]) else { return t };
            // Types in a body mention sizes.
            scan.body.params = scan.body.params.iter().map(|ty| self.ty(ty)).collect();
            scan.body.results = self.terms(&scan.body.results).into();
            self.g.mk(Node::Scan(scan))
        } else if node.binders().is_empty() {
            let mapped = node.map_children(|c| self.done[&c]);
            match mapped {
                Node::Proj(tuple, k) => self.g.proj(tuple, k as usize),
                mapped => self.g.mk(mapped),
            }
        } else {
            let (vars, scoped) = self.g.open_binder(&node);
            let scoped = self.terms(&scoped);
            let done = &self.done;
            self.g.rebuild_binder(&node, |c| done[c], &vars, &scoped)
        }
    }
}

impl OnDemand for Split<'_> {
    fn enter(&mut self, &t: &Term, needs: &mut Needs<'_, Term>) -> Option<Term> {
        let node = self.g.node_rc(t);
        if let Some(new) = self.leaf(t, &node) {
            return Some(new);
        }
        if self.is_border(t, &node) {
            // The sizes of a kept term are needed as well.
            match self.g.ty(t).clone() {
                Type::Array(_, shape) => needs.extend(shape),
                Type::Tuple(parts) => needs.extend((0..parts.len()).map(|k| self.g.proj(t, k))),
            }
            return None;
        }
        // A gather at a fixed index binds no variables.
        let binds = !node.binders().is_empty();
        node.for_each_scoped_child(|c, inside| {
            if !inside || !binds {
                needs.push(c);
            }
        });
        None
    }
}

impl Split<'_> {
    /// Whether a term depends on the cotangent.
    fn late(&mut self, t: Term) -> bool {
        if let Some(&late) = self.late.get(&t) {
            return late;
        }
        for t in self.g.reachable(&[t]) {
            if self.late.contains_key(&t) {
                continue;
            }
            let node = self.g.node_rc(t);
            let mut late = match &*node {
                Node::Input(k) | Node::Size(k, _) => self.inputs.contains(k),
                _ => false,
            };
            node.for_each_child(|c| late |= self.late.get(&c) == Some(&true));
            self.late.insert(t, late);
        }
        self.late[&t]
    }

    /// A closed term of the second stage.
    fn closed(&mut self, t: Term) -> Term {
        self.terms(&[t])[0]
    }

    /// The terms in the second stage.
    fn terms(&mut self, roots: &[Term]) -> Vec<Term> {
        on_demand(self, roots.iter().copied());
        roots.iter().map(|t| self.done[t]).collect()
    }

    /// A type with the sizes of the second stage.
    fn ty(&mut self, ty: &Type) -> Type {
        match ty {
            Type::Array(elem, shape) => Type::Array(*elem, self.terms(shape).into()),
            Type::Tuple(parts) => Type::Tuple(parts.iter().map(|p| self.ty(p)).collect()),
        }
    }

    /// A term of the second stage that needs no rewritten children, if `t` is one.
    fn leaf(&mut self, t: Term, node: &Node) -> Option<Term> {
        match node {
            Node::Lit(_) | Node::Var(_) => Some(t),
            Node::Param(k, ty) => {
                let ty = self.ty(ty);
                Some(self.g.mk(Node::Param(*k, ty)))
            }
            Node::Input(k) | Node::Size(k, _) if self.shared.contains(k) => Some(t),
            Node::Input(k) if self.program.constants.iter().any(|c| c.input == *k) => Some(t),
            Node::Input(k) if self.inputs.contains(k) => {
                let (elem, shape) = (self.g.elem(t), self.g.shape(t).to_vec());
                // Sizes that occur in no term of the first stage belong to the second stage.
                let mut known = Vec::new();
                let mut same: Vec<u8> = (0..shape.len()).map(ad_ir::ir::axis).collect();
                for (&size, same) in shape.iter().zip(&mut same) {
                    known.push(match *self.g.node(size) {
                        Node::Size(of, axis) if of == *k => {
                            *same = axis;
                            None
                        }
                        _ => Some(self.closed(size)),
                    });
                }
                let new = self.g.add_input_united(elem, &known, &same);
                if let Node::Input(own) = self.g.node(new) {
                    self.own.insert(*k, *own);
                }
                Some(new)
            }
            Node::Size(k, axis) if self.inputs.contains(k) => {
                let old = self.g.mk(Node::Input(*k));
                let new = self.closed(old);
                match *self.g.node(new) {
                    Node::Input(k) => Some(self.g.mk(Node::Size(k, *axis))),
                    _ => Some(t),
                }
            }
            _ => None,
        }
    }

    /// Whether a term belongs to the first stage and is kept.
    fn is_border(&mut self, t: Term, node: &Node) -> bool {
        if self.g.is_open(t) || !self.g.free(t).is_empty() || self.late(t) {
            return false;
        }
        !matches!(
            node,
            Node::Prim(Prim::Replicate(_) | Prim::Transpose(_) | Prim::Reshape | Prim::Recast | Prim::Iota, _)
        )
    }

    /// A new input for a term of the first stage.
    fn keep(&mut self, t: Term) -> Term {
        let (elem, shape) = (self.g.elem(t), self.g.shape(t).to_vec());
        let sizes: Option<Vec<TokenStream>> = shape.iter().map(|&n| self.static_size(n)).collect();
        let shape: Vec<Term> = shape.iter().map(|n| self.done[n]).collect();
        let rank = ad_ir::ir::axis(shape.len());
        let new = self.g.add_input_shaped(elem, shape);
        let input = match self.g.node(new) {
            Node::Input(k) => Some(*k),
            _ => None,
        };
        let (container, lens) = match sizes {
            _ if rank == 0 => (Container::Scalar, Vec::new()),
            Some(lens) => (Container::Static, lens),
            None => (Container::Slice, Vec::new()),
        };
        let elem_ty = ad_ir::rust_types::argument_type(self.program, Container::Scalar, elem, 0, &[]);
        let ty = match container {
            Container::Static => {
                let array = ad_ir::rust_types::argument_type(self.program, Container::Static, elem, 0, &lens);
                quote!(&#array)
            }
            Container::Slice => quote!(&[#elem_ty]),
            _ => elem_ty,
        };
        let name = format_ident!("kept{}_", self.kept.len() + 1);
        let passing = match container {
            Container::Static => Passing::reference(Owner::Static),
            other => other.passing(),
        };
        let label = name.to_string();
        let param = Param { name, label, passing, container, elem, rank, lens: lens.clone(), input, role: Role::Data };
        self.kept.push(Captured { leaf: Output { term: t, container, lens, role: Role::Data }, param, ty });
        new
    }

    /// A size in the form of a Rust type, if the macro knows it in that form.
    fn static_size(&self, n: Term) -> Option<TokenStream> {
        if let Some(n) = self.g.int_value(n) {
            let n = usize::try_from(n).ok()?;
            let n = proc_macro2::Literal::usize_unsuffixed(n);
            return Some(quote!(#n));
        }
        let Node::Input(k) = self.g.node(n) else { return None };
        self.program.constants.iter().find(|c| c.input == *k).map(|c| c.path.clone())
    }
}
