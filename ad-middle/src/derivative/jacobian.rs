//! Jacobians and Hessians: chooses the direction, differentiates in one pass for all seeds, and
//! assembles the blocks.
//!
//! The seeds are the unit vectors, `build`s over their index. The derivative along one of them is a
//! term over the same index variables, which the bulk-operation transform turns into a term for all
//! of them, in blocks if intermediate arrays are large (`seeds`). If parameters and result are
//! scalars and static arrays, and there are at most [`unroll::LIMIT`] seeds, the unit vectors are
//! literals instead, and their zeros never become code.
//!
//! This module must never make a Hessian symmetric: if one is not symmetric, a rule is wrong.

use proc_macro2::TokenStream;

use super::seeds::{self, Axes};
use crate::modes::unit_vectors::unit;
use crate::modes::{self, Derivative};
use crate::passes::unroll;
use ad_ir::ir::{Elem, Graph, Node, Term, axis};
use ad_ir::prim::{Cmp, IntOp, Prim};
use ad_ir::program::{Container, Output, Param, Program, Role, pair};

/// One leaf of a derivative's result, and the terms that it is assembled from after simplification.
pub(crate) struct Block {
    pub(super) terms: Vec<Term>,
    how: Assembly,
    container: Container,
    lens: Vec<TokenStream>,
}

enum Assembly {
    /// The block is a single term.
    Whole,
    /// One term of the parameter's shape for each element of the result. The value is the shape of
    /// the block.
    Rows(Vec<Term>),
    /// One term of the result's shape for each element of the parameter. The value is the shape of
    /// the block.
    Columns(Vec<Term>),
}

impl Block {
    pub(super) fn whole(term: Term, container: Container, lens: Vec<TokenStream>) -> Self {
        Block { terms: vec![term], how: Assembly::Whole, container: container.owned(), lens }
    }

    /// The leaf, assembled from `parts`: the terms `self.terms` after all passes.
    pub(super) fn assemble(self, g: &mut Graph, parts: &[Term]) -> Output {
        let Block { how, container, lens, .. } = self;
        let term = match how {
            Assembly::Whole => parts[0],
            Assembly::Rows(shape) => stacked(g, parts, &shape, false),
            Assembly::Columns(shape) => stacked(g, parts, &shape, true),
        };
        Output { term, container, lens, role: Role::Data }
    }
}

/// Arrays of one shape as the rows, or the columns, of an array of this shape. If the arrays are
/// stacks of scalars, so is the result.
fn stacked(g: &mut Graph, parts: &[Term], shape: &[Term], columns: bool) -> Term {
    let scalars: Option<Vec<Vec<Term>>> = parts.iter().map(|&t| elements(g, t)).collect();
    if let Some(parts) = scalars.filter(|parts| parts.iter().any(|p| !p.is_empty())) {
        let inner = parts.first().map_or(0, Vec::len);
        let all: Vec<Term> =
            if columns { (0..inner).flat_map(|k| parts.iter().map(move |p| p[k])).collect() } else { parts.concat() };
        if let ([one], []) = (&*all, shape) {
            return *one;
        }
        let flat = g.stack(&all);
        return if shape.len() == 1 { flat } else { g.reshape(flat, shape) };
    }
    let mut all = g.stack(parts);
    if columns {
        let rank = g.rank(all);
        let perm: Vec<u8> = (1..rank).chain([0]).map(axis).collect();
        all = g.transpose(all, &perm);
    }
    g.reshape(all, shape)
}

/// The scalars that a small array consists of, in row-major order.
fn elements(g: &mut Graph, t: Term) -> Option<Vec<Term>> {
    if g.rank(t) == 0 {
        return Some(vec![t]);
    }
    match g.node_rc(t).as_ref() {
        Node::Prim(Prim::Stack, args) if g.rank(t) == 1 => Some(args.to_vec()),
        Node::Prim(Prim::Reshape | Prim::Recast, args) => {
            let whole = count(g, t)?;
            elements(g, args[0]).filter(|all| all.len() == whole)
        }
        Node::Prim(Prim::Replicate(_), args) if g.rank(args[0]) == 0 => {
            let n = count(g, t).filter(|n| *n <= unroll::LIMIT)?;
            Some(vec![args[0]; n])
        }
        _ => None,
    }
}

/// The number of elements, if the sizes are literals.
fn count(g: &Graph, t: Term) -> Option<usize> {
    let mut sizes = g.shape(t).iter().map(|&n| g.int_value(n).and_then(|n| usize::try_from(n).ok()));
    sizes.try_fold(1_usize, |all, n| all.checked_mul(n?))
}

/// The number of elements of an array: the number of axes whose size the macro does not know, and
/// the product of the other sizes.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub(super) struct Count {
    unknown: usize,
    known: usize,
}

impl Count {
    pub(super) fn of(g: &Graph, t: Term) -> Self {
        let mut n = Count { unknown: 0, known: 1 };
        for &size in g.shape(t) {
            match g.int_value(size).and_then(|n| usize::try_from(n).ok()) {
                Some(size) => n.known = n.known.saturating_mul(size),
                None => n.unknown += 1,
            }
        }
        n
    }

    /// The count of all terms together: the sum of the counts with the most unknown axes.
    fn total(g: &Graph, ts: &[Term]) -> Self {
        ts.iter().fold(Count { unknown: 0, known: 0 }, |a, &t| {
            let b = Count::of(g, t);
            match a.unknown.cmp(&b.unknown) {
                std::cmp::Ordering::Less => b,
                std::cmp::Ordering::Equal => Count { known: a.known.saturating_add(b.known), ..a },
                std::cmp::Ordering::Greater => a,
            }
        })
    }

    /// The number of seeds, if they are few enough to be literals.
    pub(super) fn has_few(self) -> bool {
        self.unknown == 0 && (1..=unroll::LIMIT).contains(&self.known)
    }
}

/// The derivative and the Jacobian's blocks: for each active parameter, one for each real result.
pub(super) fn jacobian(program: &mut Program, results: &[Term], active: &[Param]) -> (Box<dyn Derivative>, Vec<Block>) {
    let (mode, outputs) = (program.mode, program.differentiated().clone());
    let g = &mut program.graph;
    let inputs = inputs(g, active);
    let wrt: Vec<u32> = inputs.iter().map(|i| i.0).collect();
    let derivative = modes::derivative(mode, g, results, &wrt);
    let all = outputs.leaves().into_iter().zip(results).enumerate();
    let real = |(of, (output, &term)): (usize, (&Output, &Term))| Root {
        of,
        term,
        container: output.container,
        lens: output.lens.clone(),
    };
    let roots: Vec<Root> = all.map(real).filter(|root| g.elem(root.term).is_real()).collect();
    let small = |p: &Param| p.container.is_static();
    let registers = roots.iter().all(|root| root.container.is_static()) && active.iter().all(small);
    let results = Roots { all: results, real: &roots };
    let (terms, reals): (Vec<Term>, Vec<Term>) =
        (inputs.iter().map(|i| i.1).collect(), roots.iter().map(|root| root.term).collect());
    let (rows, columns) = (Count::total(g, &reals), Count::total(g, &terms));
    let literal = |n: Count| registers && n.has_few();
    let by_rows = |g: &mut Graph| rows_of(g, &*derivative, &results, &terms, literal(rows));
    let by_columns = |g: &mut Graph| -> Vec<Vec<(Vec<Term>, Assembly)>> {
        let few = literal(columns);
        inputs.iter().map(|&input| columns_of(g, &*derivative, input, &results, few)).collect()
    };
    let found = match direction(g, &*derivative, &results, &inputs, rows, columns) {
        Direction::Rows => by_rows(g),
        Direction::Columns => by_columns(g),
        Direction::Either(rows_are_less) => {
            let (rows, columns) = (by_rows(g), by_columns(g));
            let either = |((r, _), (c, _)): ((Vec<Term>, Assembly), (Vec<Term>, Assembly))| {
                (vec![g.cond(rows_are_less, r[0], c[0])], Assembly::Whole)
            };
            let mut either = either;
            let parameter =
                |(rows, columns): (Vec<_>, Vec<_>)| rows.into_iter().zip(columns).map(&mut either).collect();
            rows.into_iter().zip(columns).map(parameter).collect()
        }
    };
    let blocks = blocks(g, &roots, active, found);
    (derivative, blocks)
}

/// The Jacobian of a function inside of another one, as whole arrays: for each input, a block for
/// each result. The block of a result that is not real is its unit vectors' image, which is zero.
pub(super) fn whole(g: &mut Graph, derivative: &dyn Derivative, inputs: &[(u32, Term)]) -> Vec<Vec<Term>> {
    let results = derivative.values().to_vec();
    let root = |(of, &term): (usize, &Term)| Root { of, term, container: Container::NdArray, lens: Vec::new() };
    let roots: Vec<Root> = results.iter().enumerate().map(root).filter(|r| g.elem(r.term).is_real()).collect();
    let (terms, reals): (Vec<Term>, Vec<Term>) =
        (inputs.iter().map(|i| i.1).collect(), roots.iter().map(|root| root.term).collect());
    let (rows, columns) = (Count::total(g, &reals), Count::total(g, &terms));
    let of_results = Roots { all: &results, real: &roots };
    let literal = |n: Count| rows.unknown == 0 && columns.unknown == 0 && n.has_few();
    let forwards = columns <= rows;
    let found: Vec<Vec<(Vec<Term>, Assembly)>> = if forwards {
        inputs.iter().map(|&input| columns_of(g, derivative, input, &of_results, literal(columns))).collect()
    } else {
        rows_of(g, derivative, &of_results, &terms, literal(rows))
    };
    let mut all = Vec::new();
    for (&(_, input), found) in inputs.iter().zip(found) {
        let mut found = found.into_iter();
        let mut blocks = Vec::new();
        for &result in &results {
            let shape = shape_of(g, result, input);
            let elem = g.elem(input);
            let block = if g.elem(result).is_real() { found.next() } else { None };
            blocks.push(match block {
                Some((parts, how)) => {
                    let parts: Vec<Term> = parts.into_iter().map(|t| g.cast(elem, t)).collect();
                    let block = Block { terms: parts.clone(), how, container: Container::NdArray, lens: Vec::new() };
                    block.assemble(g, &parts).term
                }
                None => g.lit_shaped(elem, &shape, 0.0),
            });
        }
        all.push(blocks);
    }
    all
}

/// A real result that is differentiated.
struct Root {
    /// Its index among the results.
    of: usize,
    term: Term,
    container: Container,
    lens: Vec<TokenStream>,
}

/// The results of a derivative, and those that are real.
struct Roots<'a> {
    all: &'a [Term],
    real: &'a [Root],
}

impl Roots<'_> {
    /// Cotangents that are zero except for one result.
    fn seeds(&self, g: &mut Graph, root: &Root, seed: Term) -> Vec<Term> {
        let own = |(k, &result): (usize, &Term)| if k == root.of { seed } else { g.zeros_like(result) };
        self.all.iter().enumerate().map(own).collect()
    }
}

/// The sizes of a block: those of the result, then those of the parameter.
fn shape_of(g: &Graph, root: Term, input: Term) -> Vec<Term> {
    g.shape(root).iter().chain(g.shape(input)).copied().collect()
}

/// The blocks for the results of each parameter.
fn blocks(g: &mut Graph, roots: &[Root], active: &[Param], found: Vec<Vec<(Vec<Term>, Assembly)>>) -> Vec<Block> {
    let mut blocks = Vec::new();
    for (p, found) in active.iter().zip(found) {
        for (root, (mut terms, how)) in roots.iter().zip(found) {
            // As in a gradient, the element type is that of the parameter.
            for t in &mut terms {
                *t = g.cast(p.elem, *t);
            }
            let (container, lens) = pair((root.container, &root.lens), (p.container, &p.lens));
            blocks.push(Block { terms, how, container, lens });
        }
    }
    blocks
}

/// The direction in which a Jacobian is computed.
enum Direction {
    /// Reverse: one cotangent for each element of the result.
    Rows,
    /// Forwards: one tangent for each element of the parameters.
    Columns,
    /// Reverse where this condition on the sizes holds, else forwards.
    Either(Term),
}

/// The direction with fewer seeds: forward mode takes a tangent for each element of the parameters,
/// and reverse mode a cotangent for each element of the result. A size that the macro does not know
/// counts as larger than any number (see [`Count`]). If neither number of seeds is known, the work
/// of both directions is estimated. Reverse mode is then taken only if its work is less than half,
/// since forward mode saves nothing for a second pass.
fn direction(
    g: &mut Graph,
    derivative: &dyn Derivative,
    results: &Roots<'_>,
    inputs: &[(u32, Term)],
    rows: Count,
    columns: Count,
) -> Direction {
    let of = |rows_are_less: bool| if rows_are_less { Direction::Rows } else { Direction::Columns };
    // A number that is known, and too large to be less than most that are not.
    let large =
        |known: Count, other: Count| known.unknown == 0 && !known.has_few() && known.known > 0 && other.unknown > 0;
    let open = large(rows, columns) || large(columns, rows);
    if !open && (rows.unknown == 0 || rows.unknown != columns.unknown) {
        return of(rows < columns);
    }
    let reverse = results.real.iter().map(|root| {
        let (vars, seed) = unit(g, root.term);
        let seeds = results.seeds(g, root, seed);
        let gradients = derivative.gradients(g, &seeds);
        seeds::work(g, &vars, &gradients) * seeds::elements(g, root.term)
    });
    let reverse: f64 = reverse.sum();
    let forwards = inputs.iter().map(|&(k, input)| {
        let (vars, seed) = unit(g, input);
        let tangents = derivative.tangents(g, &[(k, seed)]);
        seeds::work(g, &vars, &tangents) * seeds::elements(g, input)
    });
    let forwards: f64 = forwards.sum();
    if open {
        // The work for a row and for a column, in eighths of the lesser one.
        let roots: Vec<Term> = results.real.iter().map(|root| root.term).collect();
        let numbers: Vec<Term> = inputs.iter().map(|i| i.1).collect();
        let elements = |of: &[Term]| of.iter().map(|&t| seeds::elements(g, t)).sum::<f64>().max(1.0);
        let (row, column) = (reverse / elements(&roots), forwards / elements(&numbers));
        let least = row.min(column).max(1.0);
        let (row, column) = (eighths(row / least), eighths(column / least));
        let rows = weighted(g, &roots, row);
        let columns = weighted(g, &numbers, column);
        return Direction::Either(g.compare(Cmp::Le, rows, columns));
    }
    of(2.0 * reverse < forwards)
}

/// A ratio of estimates in eighths: it need not be more exact.
fn eighths(ratio: f64) -> usize {
    #[allow(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "it is between 8 and 2^20")]
    let eighths = (8.0 * ratio).round().clamp(8.0, 1_048_576.0) as usize;
    eighths
}

/// The number of elements of all arrays, times a number.
fn weighted(g: &mut Graph, arrays: &[Term], by: usize) -> Term {
    let mut all = g.lit_usize(0);
    for &array in arrays {
        let mut elements = g.lit_usize(by);
        for size in g.shape(array).to_vec() {
            elements = g.int(IntOp::Mul, elements, size);
        }
        all = g.int(IntOp::Add, all, elements);
    }
    all
}

/// The Hessian, given the gradient: its Jacobian forwards.
pub(super) fn hessian(program: &mut Program, gradient: &[Term], active: &[Param]) -> Vec<Block> {
    let g = &mut program.graph;
    let inputs = inputs(g, active);
    let wrt: Vec<u32> = inputs.iter().map(|i| i.0).collect();
    let derivative = modes::derivative(program.mode, g, gradient, &wrt);
    let root =
        |(of, (p, &term)): (usize, (&Param, &Term))| Root { of, term, container: p.container, lens: p.lens.clone() };
    let roots: Vec<Root> = active.iter().zip(gradient).enumerate().map(root).collect();
    let few = active.iter().all(|p| p.container.is_static()) && Count::total(g, gradient).has_few();
    let results = Roots { all: gradient, real: &roots };
    let found = inputs.iter().map(|&input| columns_of(g, &*derivative, input, &results, few)).collect();
    blocks(g, &roots, active, found)
}

/// The active inputs: (number, term).
pub(super) fn inputs(g: &mut Graph, active: &[Param]) -> Vec<(u32, Term)> {
    active.iter().filter_map(|p| p.input).map(|k| (k, g.mk(Node::Input(k)))).collect()
}

/// A block without elements, of the type of a term.
fn empty_block(g: &mut Graph, like: Term, shape: &[Term]) -> (Vec<Term>, Assembly) {
    let elem = g.elem(like);
    (vec![g.lit_shaped(elem, shape, 0.0)], Assembly::Whole)
}

/// The blocks of all results for each parameter, in reverse.
fn rows_of(
    g: &mut Graph,
    derivative: &dyn Derivative,
    results: &Roots<'_>,
    inputs: &[Term],
    few: bool,
) -> Vec<Vec<(Vec<Term>, Assembly)>> {
    let mut found: Vec<Vec<(Vec<Term>, Assembly)>> = inputs.iter().map(|_| Vec::new()).collect();
    for root in results.real {
        let Some(seeds) = (if few { unit_literals(g, root.term) } else { None }) else {
            let (vars, seed) = unit(g, root.term);
            let seeds = results.seeds(g, root, seed);
            let gradients = derivative.gradients(g, &seeds);
            let rows = seeds::for_all(g, &vars, root.term, &gradients, Axes::First);
            for (found, row) in found.iter_mut().zip(rows) {
                found.push((vec![row], Assembly::Whole));
            }
            continue;
        };
        let row = |&seed: &Term| {
            let seeds = results.seeds(g, root, seed);
            derivative.gradients(g, &seeds)
        };
        let rows: Vec<Vec<Term>> = seeds.iter().map(row).collect();
        for (k, (found, &input)) in found.iter_mut().zip(inputs).enumerate() {
            let shape = shape_of(g, root.term, input);
            found.push(match rows.is_empty() {
                true => empty_block(g, root.term, &shape),
                false => (rows.iter().map(|r| r[k]).collect(), Assembly::Rows(shape)),
            });
        }
    }
    found
}

/// The blocks of one parameter for each result, forwards.
fn columns_of(
    g: &mut Graph,
    derivative: &dyn Derivative,
    (k, input): (u32, Term),
    results: &Roots<'_>,
    few: bool,
) -> Vec<(Vec<Term>, Assembly)> {
    if let Some(seeds) = if few { unit_literals(g, input) } else { None } {
        let columns: Vec<Vec<Term>> = seeds.iter().map(|&s| derivative.tangents(g, &[(k, s)])).collect();
        let block = |root: &Root| {
            let shape = shape_of(g, root.term, input);
            match columns.is_empty() {
                true => empty_block(g, input, &shape),
                false => (columns.iter().map(|c| c[root.of]).collect(), Assembly::Columns(shape)),
            }
        };
        return results.real.iter().map(block).collect();
    }
    let (vars, seed) = unit(g, input);
    let tangents = derivative.tangents(g, &[(k, seed)]);
    let tangents: Vec<Term> = results.real.iter().map(|root| tangents[root.of]).collect();
    let all = seeds::for_all(g, &vars, input, &tangents, Axes::Last);
    all.into_iter().map(|t| (vec![t], Assembly::Whole)).collect()
}

/// The unit vectors of a literal shape.
pub(super) fn unit_literals(g: &mut Graph, like: Term) -> Option<Vec<Term>> {
    let n = count(g, like)?;
    let (elem, shape) = (g.elem(like), g.shape(like).to_vec());
    let (zero, one) = (scalar(g, elem, 0.0), scalar(g, elem, 1.0));
    let unit = |g: &mut Graph, k: usize| {
        if shape.is_empty() {
            return one;
        }
        let parts: Vec<Term> = (0..n).map(|j| if j == k { one } else { zero }).collect();
        let flat = g.stack(&parts);
        if shape.len() == 1 { flat } else { g.reshape(flat, &shape) }
    };
    Some((0..n).map(|k| unit(g, k)).collect())
}

fn scalar(g: &mut Graph, elem: Elem, x: f64) -> Term {
    g.lit_shaped(elem, &[], x)
}
