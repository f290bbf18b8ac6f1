//! Jacobians and Hessians: which direction is taken, one pass for all seeds, and how the blocks are
//! assembled.
//!
//! *Direction.* Forward mode takes a tangent for each element of the parameters, and reverse mode a
//! cotangent for each element of the result. The one with fewer seeds is taken, and forward mode on
//! a tie, since it saves nothing for a second pass. A size that the macro does not know (of an
//! array, or a const parameter) counts as larger than any number, and two such axes count as larger
//! than one: see [`Count`]. If both numbers of seeds are unknown, the work of both directions is
//! estimated.
//!
//! *One pass.* The seeds are the unit vectors, `build`s over their index. The derivative along one
//! of them is a term over the same index variables. The bulk-operation transform turns it into a
//! term for all of them, in blocks if intermediate arrays are large (`seeds`). If parameters and
//! result are scalars and static arrays, and there are at most [`unroll::LIMIT`] seeds, the unit
//! vectors are literals instead. Then the linear map is applied to each of them, and its zeros
//! never become code.
//!
//! This module must never make a Hessian symmetric: if one is not symmetric, a rule is wrong.

use proc_macro2::TokenStream;

use super::seeds::{self, Axes};
use crate::modes::unit_vectors::unit;
use crate::modes::{self, Derivative};
use crate::passes::unroll;
use ad_ir::ir::{Elem, Graph, Node, Term, axis};
use ad_ir::prim::{Cmp, IntOp, Prim};
use ad_ir::program::{Container, Output, Param, Program, pair};

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
        Output { term, container, lens }
    }
}

/// Arrays of one shape as the rows, or the columns, of an array of this shape. If the arrays are
/// stacks of scalars, the result is one as well.
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

/// How many elements an array has: the number of axes whose size the macro does not know, and the
/// product of the other sizes.
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
    pub(super) fn few(self) -> bool {
        self.unknown == 0 && (1..=unroll::LIMIT).contains(&self.known)
    }
}

/// The function's results and the Jacobian's blocks, one for each active parameter.
pub(super) fn jacobian(program: &mut Program, results: &[Term], active: &[Param]) -> (Vec<Term>, Vec<Block>) {
    let out = program.result.leaves().first().map(|o| (o.container, o.lens.clone()));
    let (Some((container, lens)), Some(&root)) = (out, results.first()) else { return (Vec::new(), Vec::new()) };
    let g = &mut program.graph;
    let inputs = inputs(g, active);
    let wrt: Vec<u32> = inputs.iter().map(|i| i.0).collect();
    let derivative = modes::derivative(program.mode, g, results, &wrt);
    let small = |p: &Param| p.container.is_static();
    let registers = container.is_static() && active.iter().all(small);
    let terms: Vec<Term> = inputs.iter().map(|i| i.1).collect();
    let (rows, columns) = (Count::of(g, root), Count::total(g, &terms));
    let shapes: Vec<Vec<Term>> =
        terms.iter().map(|&t| g.shape(root).iter().chain(g.shape(t)).copied().collect()).collect();
    let literal = |n: Count| registers && n.few();
    let by_rows = |g: &mut Graph| rows_of(g, &*derivative, root, &shapes, literal(rows));
    let by_columns = |g: &mut Graph| -> Vec<(Vec<Term>, Assembly)> {
        let few = literal(columns);
        inputs.iter().zip(&shapes).map(|(&input, shape)| columns_of(g, &*derivative, input, shape, few)).collect()
    };
    let found = match direction(g, &*derivative, root, &inputs, rows, columns) {
        Direction::Rows => by_rows(g),
        Direction::Columns => by_columns(g),
        Direction::Either(rows_are_less) => {
            let (rows, columns) = (by_rows(g), by_columns(g));
            let either = |((r, _), (c, _)): ((Vec<Term>, Assembly), (Vec<Term>, Assembly))| {
                (vec![g.cond(rows_are_less, r[0], c[0])], Assembly::Whole)
            };
            rows.into_iter().zip(columns).map(either).collect()
        }
    };
    let blocks = active.iter().zip(found).map(|(p, (mut terms, how))| {
        // As in a gradient, the element type is that of the parameter.
        for t in &mut terms {
            *t = g.cast(p.elem, *t);
        }
        let (container, lens) = pair((container, &lens), (p.container, &p.lens));
        Block { terms, how, container, lens }
    });
    let blocks = blocks.collect();
    (derivative.values().to_vec(), blocks)
}

/// How a Jacobian is computed.
enum Direction {
    /// Reverse: one cotangent for each element of the result.
    Rows,
    /// Forwards: one tangent for each element of the parameters.
    Columns,
    /// Reverse where this condition on the sizes holds, else forwards.
    Either(Term),
}

/// The direction with fewer seeds. If the macro knows neither number of seeds, the direction whose
/// terms take less work is taken. Reverse mode is taken only if its work is less than half, since
/// forward mode saves nothing for a second pass.
fn direction(
    g: &mut Graph,
    derivative: &dyn Derivative,
    root: Term,
    inputs: &[(u32, Term)],
    rows: Count,
    columns: Count,
) -> Direction {
    let of = |rows_are_less: bool| if rows_are_less { Direction::Rows } else { Direction::Columns };
    // A number that is known, and too large to be less than most that are not.
    let large = |known: Count, other: Count| known.unknown == 0 && !known.few() && known.known > 0 && other.unknown > 0;
    let open = large(rows, columns) || large(columns, rows);
    if !open && (rows.unknown == 0 || rows.unknown != columns.unknown) {
        return of(rows < columns);
    }
    let (vars, seed) = unit(g, root);
    let gradients = derivative.gradients(g, &[seed]);
    let reverse = seeds::work(g, &vars, &gradients) * seeds::elements(g, root);
    let forwards = inputs.iter().map(|&(k, input)| {
        let (vars, seed) = unit(g, input);
        let tangents = derivative.tangents(g, &[(k, seed)]);
        seeds::work(g, &vars, &tangents) * seeds::elements(g, input)
    });
    let forwards: f64 = forwards.sum();
    if open {
        // The work for a row and for a column, in eighths of the lesser one.
        let (row, column) = (reverse / seeds::elements(g, root).max(1.0), {
            let all: f64 = inputs.iter().map(|i| seeds::elements(g, i.1)).sum();
            forwards / all.max(1.0)
        });
        let least = row.min(column).max(1.0);
        let (row, column) = (eighths(row / least), eighths(column / least));
        let numbers: Vec<Term> = inputs.iter().map(|i| i.1).collect();
        let rows = weighted(g, &[root], row);
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
    let (Some(p), Some(&root)) = (active.first(), gradient.first()) else { return Vec::new() };
    let inputs = inputs(g, active);
    let wrt: Vec<u32> = inputs.iter().map(|i| i.0).collect();
    let derivative = modes::derivative(program.mode, g, gradient, &wrt);
    let Some(&input) = inputs.first() else { return Vec::new() };
    let shape: Vec<Term> = g.shape(root).iter().chain(g.shape(input.1)).copied().collect();
    let few = p.container.is_static() && Count::of(g, root).few();
    let (terms, how) = columns_of(g, &*derivative, input, &shape, few);
    let (container, lens) = pair((p.container, &p.lens), (p.container, &p.lens));
    vec![Block { terms, how, container, lens }]
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

/// The blocks of all parameters, in reverse.
fn rows_of(
    g: &mut Graph,
    derivative: &dyn Derivative,
    root: Term,
    shapes: &[Vec<Term>],
    few: bool,
) -> Vec<(Vec<Term>, Assembly)> {
    let Some(seeds) = (if few { unit_literals(g, root) } else { None }) else {
        let (vars, seed) = unit(g, root);
        let gradients = derivative.gradients(g, &[seed]);
        let rows = seeds::for_all(g, &vars, root, &gradients, Axes::First);
        return rows.into_iter().map(|t| (vec![t], Assembly::Whole)).collect();
    };
    let rows: Vec<Vec<Term>> = seeds.iter().map(|&s| derivative.gradients(g, &[s])).collect();
    let block = |(k, shape): (usize, &Vec<Term>)| match rows.is_empty() {
        true => empty_block(g, root, shape),
        false => (rows.iter().map(|r| r[k]).collect(), Assembly::Rows(shape.clone())),
    };
    shapes.iter().enumerate().map(block).collect()
}

/// The block of one parameter, forwards.
fn columns_of(
    g: &mut Graph,
    derivative: &dyn Derivative,
    (k, input): (u32, Term),
    shape: &[Term],
    few: bool,
) -> (Vec<Term>, Assembly) {
    if let Some(seeds) = if few { unit_literals(g, input) } else { None } {
        if seeds.is_empty() {
            return empty_block(g, input, shape);
        }
        let columns = seeds.iter().map(|&s| derivative.tangents(g, &[(k, s)])[0]).collect();
        return (columns, Assembly::Columns(shape.to_vec()));
    }
    let (vars, seed) = unit(g, input);
    let tangent = derivative.tangents(g, &[(k, seed)])[0];
    (seeds::for_all(g, &vars, input, &[tangent], Axes::Last), Assembly::Whole)
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
