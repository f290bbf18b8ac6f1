//! `pullback`: a routine in two stages. The first stage computes all terms that do not depend on
//! the cotangent. The second stage is a closure over the terms that it reads of the first
//! stage. The routine is `vjp`, split at its cotangent (CHAD's pair of a value and a linear
//! function).
//!
//! The closure owns what it keeps and borrows nothing, so that it may outlive the arguments. An
//! argument that the closure reads is copied. It keeps the terms of the first stage that a term of
//! the second stage reads: see `split`.
//!
//! This module must never decide in which stage a term is computed.

use ad_ir::sorted::SortedSet;
use std::collections::HashMap;

use proc_macro2::{Ident, Span, TokenStream};
use quote::format_ident;

use super::docs;
use super::split::{Kept, StageSplit};
use crate::passes::loops::accumulated::added_to;
use crate::passes::loops::with_known_captures;
use ad_ir::analysis::guards::{Guard, Guards};
use ad_ir::analysis::once;
use ad_ir::descriptor::Descriptor;
use ad_ir::ir::{Graph, Node, Term, Type};
use ad_ir::prim::Prim;
use ad_ir::program::{
    Check, Container, Declared, Output, OutputTree, Owner, Param, ParamTree, Passing, Program, Role, Routine, Staged,
};
use ad_ir::rust_types;

/// The pullback, given the `vjp`.
pub(crate) fn pullback(program: &mut Program, which: &Descriptor, whole: Routine) -> Staged {
    let name = format_ident!("{}_{}", program.stem, which.suffix, span = program.name.span());
    let docs = docs(program, which);
    split(program, whole, (name, docs), None)
}

/// The two halves of a called function: its `vjp` or `jvp`, split at the additional parameters.
/// Both take the parameters that are `passed` on. If `adds` holds, the second adds its results that
/// are arrays to arrays of the caller.
pub(crate) fn halves(program: &mut Program, whole: Routine, passed: &[u32], adds: bool) -> Staged {
    let name = program.name.clone();
    let uses = once::<Guards>(&program.graph, &whole.result.terms());
    let own = program.params.len();
    let later: Vec<u32> = whole.params.iter().skip(own).filter_map(|p| p.input).collect();
    let mut staged = split(program, whole, (name, Vec::new()), Some((passed, adds)));
    let results = program.result.leaves().len();
    let mut kept = staged.first.result.terms();
    for t in &mut kept[results..] {
        *t = only_where_read(&mut program.graph, *t, uses.get(t).map_or(&[], |set| set), &later);
    }
    staged.first.result = staged.first.result.with_terms(&mut kept.into_iter());
    staged
}

/// Lets the reverse half add its results that are arrays to arrays of the caller, one for each. It
/// returns the numbers. `arrays`: the input for the array of each result.
fn adding(program: &mut Program, second: &mut Routine, arrays: &[Option<Term>]) {
    let mut terms = second.result.terms();
    let many = terms.len() > 1;
    for (k, array) in arrays.iter().enumerate() {
        let g = &mut program.graph;
        let (Some(array), elem, rank) = (*array, g.elem(terms[k]), ad_ir::ir::axis(g.rank(terms[k]))) else { continue };
        let Node::Input(input) = *g.node(array) else { continue };
        added_to(g, array, &mut terms, k);
        let ty = rust_types::added_to_type(program, elem);
        let name = if many { format_ident!("onto{k}_") } else { format_ident!("onto_") };
        let (container, passing) = (Container::Slice, Container::Slice.passing());
        let (label, lens, role, input) = (name.to_string(), Vec::new(), Role::Data, Some(input));
        let parts = ParamTree::Leaf(second.params.len());
        second.declared.push(Declared { name: name.clone(), label: label.clone(), ty, parts });
        second.params.push(Param { name, label, passing, container, elem, rank, lens, input, role });
        second.onto.extend(input);
    }
    let leaf = |&term: &Term| {
        let container = if program.graph.rank(term) == 0 { Container::Scalar } else { Container::Slice };
        OutputTree::Leaf(Output { term, container, lens: Vec::new(), role: Role::Data })
    };
    second.result = OutputTree::of_several(terms.iter().map(leaf).collect());
    let numbers = second.numbers(&program.graph);
    second.result_ty = rust_types::tree_type(program, &numbers);
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

/// The arrays of the caller to which results are added, as inputs. The size of the only axis of a
/// result is that of the caller's array.
fn arrays_of_caller(split: &mut StageSplit<'_>, results: &[Term]) -> Vec<Option<Term>> {
    let mut array = |&t: &Term| (split.rank(t) > 0).then(|| split.array_like(t));
    results.iter().map(&mut array).collect()
}

/// The terms of a routine in two stages.
struct Stages {
    /// The results of the second stage.
    terms: Vec<Term>,
    /// The checks of each stage.
    checks: [Vec<Check>; 2],
    /// The terms of the first stage that the second reads.
    kept: Vec<Kept>,
    /// The inputs of the second stage, by those of the routine.
    new_inputs: HashMap<u32, u32>,
    /// The caller's arrays to which results of the second stage are added, as inputs.
    arrays: Vec<Option<Term>>,
}

impl Stages {
    /// Splits the results `later` and the checks of a routine at these inputs. Both stages have the
    /// inputs `shared`. `half`: the stages are the halves of a called function, and whether the
    /// second adds its arrays to those of its caller.
    fn of(
        g: &mut Graph,
        (inputs, shared): (Vec<u32>, Vec<u32>),
        later: &OutputTree,
        checks: Vec<Check>,
        half: Option<bool>,
    ) -> Stages {
        let mut split = StageSplit::new(g, inputs, shared);
        let mut arrays = Vec::new();
        if half == Some(true) {
            arrays = arrays_of_caller(&mut split, &later.terms());
        }
        if half.is_some() {
            let early = |split: &mut StageSplit<'_>, t: Term| !split.depends_on_later_input(t);
            let hold: Vec<Term> = checks.iter().map(|c| c.ok).filter(|&t| early(&mut split, t)).collect();
            let shown = checks.iter().filter(|c| split.depends_on_later_input(c.ok)).flat_map(terms_of_check);
            let roots: Vec<Term> = later.terms().into_iter().chain(shown).collect();
            split.compute_again(&roots, &hold);
        }
        let (mut now, mut then) = (Vec::new(), Vec::new());
        for mut check in checks {
            if terms_of_check(&check).any(|t| split.depends_on_later_input(t)) {
                check.ok = split.closed(check.ok);
                for shown in &mut check.shown {
                    shown.1 = split.closed(shown.1);
                }
                then.push(check);
            } else {
                now.push(check);
            }
        }
        let mut terms: Vec<Term> = later.terms().into_iter().map(|t| split.closed(t)).collect();
        let (mut kept, new_inputs) = split.into_kept();
        if half.is_some() {
            terms = with_known_captures(g, &terms);
            let read = inputs_of(g, terms.iter().copied().chain(then.iter().flat_map(terms_of_check)));
            kept.retain(|one| read.contains(&one.input));
        }
        Stages { terms, checks: [now, then], kept, new_inputs, arrays }
    }
}

/// The condition of a check, and the values that its message shows.
fn terms_of_check(check: &Check) -> impl Iterator<Item = Term> {
    std::iter::once(check.ok).chain(check.shown.iter().map(|s| s.1))
}

/// Splits a routine into two stages. `halves`: the parameters that both stages take, and whether
/// the second adds its arrays to those of its caller. `None` for a closure.
fn split(
    program: &mut Program,
    whole: Routine,
    (name, docs): (Ident, Vec<String>),
    halves: Option<(&[u32], bool)>,
) -> Staged {
    let (passed, adds) = halves.unwrap_or_default();
    let Routine { mut declared, mut params, result, checks, of_function, .. } = whole;
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
    let shared = passed.iter().filter_map(|&k| params.get(k as usize)?.input);
    let shared = shared.chain(program.constants.iter().map(|c| c.input)).collect();
    let stages = Stages::of(&mut program.graph, (inputs, shared), &later, checks, halves.map(|(_, adds)| adds));
    let Stages { mut terms, checks: [now, then], kept, new_inputs, arrays } = stages;
    let kept: Vec<Captured> = kept.into_iter().enumerate().map(|(k, one)| Captured::new(program, k, one)).collect();
    for param in &mut own_params {
        param.input = param.input.and_then(|k| new_inputs.get(&k).copied());
    }
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
    second_params.append(&mut own_params);
    let second = later.with_terms(&mut terms.drain(..));
    let leaves = kept.into_iter().map(|k| OutputTree::Leaf(k.leaf));
    let first = if leaves.len() == 0 {
        results.remove(0)
    } else {
        OutputTree::Tuple(results.into_iter().chain(leaves).collect())
    };
    let routine = |name: &str, (declared, params), (result, fallible), checks| Routine {
        name: Ident::new(name, Span::call_site()),
        docs: Vec::new(),
        declared,
        params,
        result_ty: ad_ir::rust_types::tree_type(program, &result),
        result,
        fallible,
        checks,
        destinations: Vec::new(),
        workspace: false,
        exact: None,
        onto: Vec::new(),
        of_function: of_function.clone(),
    };
    let first = routine("value_and_kept", (declared, params), (first, program.fallible.clone()), now);
    let mut second = routine("pulled_back", (second_declared, second_params), (second, None), then);
    if adds {
        adding(program, &mut second, &arrays);
    }
    Staged { name, docs, first, second }
}

/// The inputs that terms read, also through the sizes of arrays.
fn inputs_of(g: &Graph, roots: impl Iterator<Item = Term>) -> SortedSet<Term> {
    let (mut seen, mut open): (SortedSet<Term>, Vec<Term>) = (SortedSet::new(), roots.collect());
    while let Some(t) = open.pop() {
        if !seen.insert(t) {
            continue;
        }
        let mut types = vec![g.ty(t)];
        while let Some(ty) = types.pop() {
            match ty {
                Type::Array(_, shape) => open.extend(shape.iter().copied()),
                Type::Tuple(parts) => types.extend(parts),
            }
        }
        if let Node::Scan(scan) = g.node(t) {
            open.extend(&scan.body.results);
        }
        g.node(t).for_each_child(|c| open.push(c));
    }
    seen.retain(|&t| matches!(g.node(t), Node::Input(_)));
    seen
}

/// A term of the first stage that the second reads.
struct Captured {
    leaf: Output,
    param: Param,
    ty: TokenStream,
}

impl Captured {
    /// The kept term with this number.
    fn new(program: &Program, number: usize, Kept { term, input }: Kept) -> Self {
        let g = &program.graph;
        let (elem, shape) = (g.elem(term), g.shape(term));
        let sizes: Option<Vec<TokenStream>> = shape.iter().map(|&n| rust_types::static_size(program, n)).collect();
        let rank = ad_ir::ir::axis(shape.len());
        let input = match g.node(input) {
            Node::Input(k) => Some(*k),
            _ => None,
        };
        let (container, lens) = match sizes {
            _ if rank == 0 => (Container::Scalar, Vec::new()),
            Some(lens) => (Container::Static, lens),
            None => (Container::Slice, Vec::new()),
        };
        let ty = rust_types::kept_type(program, container, elem, &lens);
        let name = format_ident!("kept{}_", number + 1);
        let passing = match container {
            Container::Static => Passing::reference(Owner::Static),
            other => other.passing(),
        };
        let label = name.to_string();
        let param = Param { name, label, passing, container, elem, rank, lens: lens.clone(), input, role: Role::Data };
        Captured { leaf: Output { term, container, lens, role: Role::Data }, param, ty }
    }

    /// It as a parameter of the second stage, whose leaf has this index.
    fn declared(&self, k: usize) -> Declared {
        let Captured { param, ty, .. } = self;
        Declared { name: param.name.clone(), label: param.label.clone(), ty: ty.clone(), parts: ParamTree::Leaf(k) }
    }
}
