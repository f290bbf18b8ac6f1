//! Decides which contractions a kernel computes. The others become sums of products, so that they
//! fuse like any other sum. An exact contraction is always such a sum, in the order of the
//! function.

use std::collections::HashMap;

use super::im2col;
use super::matrix::{always_stored, as_product, strip_layouts};
use super::strided::as_products;
use ad_ir::choice::{Kind, choose, choose_if};
use ad_ir::ir::{Contraction, Graph, Node, Term, axis};
use ad_ir::prim::Prim;

/// A matrix of a list of arrays of several shapes. It is not in memory, and its rows have elements
/// up to an index that the row decides.
struct RaggedMatrix {
    /// The labels of a contraction in the order of the memory of the matrix.
    labels: Vec<u8>,
    /// The condition under which it has elements.
    mask: Term,
    /// The elements, and zeros in place of those that do not exist.
    elements: [Term; 2],
    /// Whether it is the first operand.
    is_first: bool,
}

/// The matrix, if the contraction is a product of such a matrix and a vector. A loop over the
/// elements that exist costs less than a kernel.
fn ragged_matrix(g: &Graph, spec: &Contraction, a: Term, b: Term) -> Option<RaggedMatrix> {
    let (matrix, own, is_first) = match (g.rank(a), g.rank(b)) {
        (2, 1) => (a, &spec.a, true),
        (1, 2) => (b, &spec.b, false),
        _ => return None,
    };
    let (base, perm) = strip_layouts(g, matrix);
    let Node::Prim(Prim::Select, args) = g.node(base) else { return None };
    let (mask, elements) = (args[0], [args[1], args[2]]);
    let mut array = args[1];
    while let Node::Prim(Prim::Slice(_) | Prim::Recast, args) = g.node(array) {
        array = args[0];
    }
    let Node::Gather { src, .. } = g.node(array) else { return None };
    if g.rank(*src) != 1 || spec.out.len() != 1 || g.rank(mask) != 2 {
        return None;
    }
    let mut labels = vec![0; 2];
    for (axis, &label) in perm.iter().zip(own.iter()) {
        labels[*axis] = label;
    }
    Some(RaggedMatrix { labels, mask, elements, is_first })
}

/// Its product with a vector. Elements that do not exist add nothing, whatever the elements of the
/// vector are.
fn of_ragged(g: &mut Graph, spec: &Contraction, matrix: &RaggedMatrix, vector: Term) -> Term {
    let RaggedMatrix { labels, mask, elements: [elements, zeros], is_first } = matrix;
    let along = if *is_first { &spec.b } else { &spec.a };
    let new = usize::from(along.first() == labels.first());
    let size = g.shape(*elements)[new];
    let spread = g.replicate_axes(vector, &[axis(new)], &[size]);
    let (a, b) = if *is_first { (*elements, spread) } else { (spread, *elements) };
    let product = g.product(a, b, spec.absorbs);
    let product = g.prim(Prim::Select, &[*mask, product, *zeros]);
    let summed: Vec<u8> = (0..2).filter(|&k| !spec.out.contains(&labels[k])).map(axis).collect();
    g.sum_axes(product, &summed)
}

/// The contraction if a kernel computes it, else a sum of products.
pub(super) fn contraction(g: &mut Graph, t: Term, spec: &Contraction, a: Term, b: Term, exact: bool) -> Term {
    let kernel = as_product(g, spec, [a, b], exact).is_some_and(|p| {
        // An outer product is a view. A dot product of operands that are not stored is one loop
        // together with them. A batch of dot products is a sum along rows.
        let dot = p.m.is_empty() && p.n.is_empty();
        let batch = !p.batch.is_empty();
        let stored = always_stored(g, a) && always_stored(g, b);
        let why = || {
            let form = match (p.m.is_empty(), p.n.is_empty()) {
                (true, true) => "a dot product",
                (false, false) if p.k.is_empty() => "an outer product",
                (false, false) => "a product of matrices",
                _ => "a matrix and a vector",
            };
            let each = if batch { ", batched" } else { "" };
            let of = if stored { "of arrays in memory" } else { "of operands that are not stored" };
            format!("({form}{each}, {of})")
        };
        // An exact contraction is computed as the function computes it.
        let by_cost = !p.k.is_empty() && (!dot || (!batch && (exact || stored)));
        choose_if(!exact && !p.k.is_empty(), Kind::Kernel, (t.index(), 0), by_cost, why)
    });
    let ragged = if exact { None } else { ragged_matrix(g, spec, a, b) };
    if let Some(matrix) = ragged
        && choose(Kind::Kernel, (t.index(), 4), true, || "(loops over a matrix of several shapes)".into())
    {
        return of_ragged(g, spec, &matrix, if matrix.is_first { b } else { a });
    }
    let product = g.prim(Prim::Contract(spec.clone()), &[a, b]);
    if kernel || (!exact && on_strides(g, spec, product, [a, b])) {
        return product;
    }
    let mut domain: Vec<u8> = spec.out.to_vec();
    for l in spec.a.iter().chain(&spec.b) {
        if !domain.contains(l) {
            domain.push(*l);
        }
    }
    let mut size_of: HashMap<u8, Term> = HashMap::new();
    for (&l, &n) in spec.a.iter().zip(g.shape(a)).chain(spec.b.iter().zip(g.shape(b))) {
        size_of.entry(l).or_insert(n);
    }
    let spread = |g: &mut Graph, t: Term, labels: &[u8]| {
        let here = |l: &&u8| labels.contains(l);
        let position = |l: &u8| labels.iter().position(|m| m == l).unwrap_or(0);
        let perm: Vec<u8> = domain.iter().filter(here).map(|l| axis(position(l))).collect();
        let t = g.transpose(t, &perm);
        let new: Vec<usize> = (0..domain.len()).filter(|&k| !labels.contains(&domain[k])).collect();
        let (axes, sizes): (Vec<u8>, Vec<Term>) = new.iter().map(|&k| (axis(k), size_of[&domain[k]])).unzip();
        g.replicate_axes(t, &axes, &sizes)
    };
    let (a, b) = (spread(g, a, &spec.a), spread(g, b, &spec.b));
    let product = g.product(a, b, spec.absorbs);
    let summed: Vec<u8> = (spec.out.len()..domain.len()).map(axis).collect();
    g.sum_axes(product, &summed)
}

/// Whether the contraction is a batch of matrix products on strided arrays, and no product of
/// contiguous ones.
fn on_strides(g: &Graph, spec: &Contraction, product: Term, of: [Term; 2]) -> bool {
    if as_product(g, spec, of, false).is_some() {
        return false;
    }
    as_products(g, spec, product, of).is_some_and(|p| {
        let matrices = !p.rows.size.is_empty() && !p.columns.size.is_empty();
        let why = || {
            format!(
                "(products of strided {}, {} axes of batches)",
                if matrices { "matrices" } else { "vectors" },
                p.batch.len()
            )
        };
        choose(Kind::Kernel, (product.index(), 3), matrices, why)
    })
}

/// Whether the contraction can use implicit im2col.
pub(super) fn windows(g: &mut Graph, mapped: &Node) -> bool {
    let made = g.mk(mapped.clone());
    im2col::windows(g, made).is_some()
}
