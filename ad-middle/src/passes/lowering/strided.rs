//! Contractions as batches of matrix products on strided arrays: any order of axes, any part of an
//! array. Each label has a size and a stride in every array; labels that are adjacent in memory in
//! all arrays form one group of rows, columns or summed indices. The remaining labels are axes of
//! the batch. So every contraction of stored operands has this form. This module must never copy an
//! operand, and never decide whether the form pays.

use super::extents::limited;
use super::matrix::{always_stored, as_product};
use ad_ir::ir::{Contraction, Graph, Node, Term, Var};
use ad_ir::prim::{IntOp, Prim};

/// An array in memory, and the part of it that an operand is.
#[derive(Clone, Debug)]
pub struct StridedOperand {
    /// The array.
    pub array: Term,
    /// For each axis of the operand: the axis of the array, and the step along it.
    axes: Vec<(usize, usize)>,
    /// The start of the operand: axes of the array, each with a factor and the term that it
    /// multiplies.
    pub starts: Vec<(usize, usize, Term)>,
    /// The axes of the array that are not read as a whole.
    cut: Vec<usize>,
    /// For each axis of the operand, the number of its first elements that exist. The others are
    /// zero.
    pub extents: Vec<Option<Term>>,
    /// The place of a matrix whose elements are a part of a vector.
    matrix: Option<MatrixInVector>,
}

/// A matrix whose rows are concatenated in a vector.
#[derive(Clone, Debug)]
struct MatrixInVector {
    /// Terms whose sum is the index of the first element.
    start: Vec<Term>,
    /// The number of elements from one row to the next.
    row: Term,
}

/// The matrix, if its element (i, j) is the element `start + i * row + j` of a vector.
fn matrix_in_vector(g: &Graph, t: Term) -> Option<(Term, MatrixInVector)> {
    let Node::Gather { src, vars, index, .. } = g.node(t) else { return None };
    let ([i, j], [index], 1) = (&vars[..], &index[..], g.rank(*src)) else { return None };
    let is = |t: Term, var: &Var| *g.node(t) == Node::Var(*var);
    let (mut start, mut row, mut column, mut stack) = (Vec::new(), None, false, vec![*index]);
    while let Some(t) = stack.pop() {
        match g.node(t) {
            _ if g.free(t).is_empty() => start.push(t),
            Node::Prim(Prim::Int(IntOp::Add), args) => stack.extend(&**args),
            Node::Prim(Prim::Int(IntOp::Mul), args) if row.is_none() => {
                let [a, b] = [args[0], args[1]];
                row = match (is(a, i), is(b, i)) {
                    (true, false) if g.free(b).is_empty() => Some(b),
                    (false, true) if g.free(a).is_empty() => Some(a),
                    _ => return None,
                };
            }
            _ if is(t, j) && !column => column = true,
            _ => return None,
        }
    }
    start.reverse();
    row.filter(|_| column).map(|row| (*src, MatrixInVector { start, row }))
}

/// The operand as a part of an array: transpositions, slices and indices are removed. Slices and
/// indices are removed only from an array that is in memory whatever the scheduler decides.
pub(crate) fn part(g: &Graph, t: Term) -> StridedOperand {
    let mut at = StridedOperand {
        array: t,
        axes: (0..g.rank(t)).map(|k| (k, 1)).collect(),
        starts: Vec::new(),
        cut: Vec::new(),
        extents: vec![None; g.rank(t)],
        matrix: None,
    };
    let mut whole = None;
    loop {
        match g.node(at.array) {
            Node::Prim(Prim::Transpose(perm), args) => {
                let old = |axis: &mut usize| *axis = usize::from(perm[*axis]);
                at.axes.iter_mut().for_each(|a| old(&mut a.0));
                at.starts.iter_mut().for_each(|s| old(&mut s.0));
                at.cut.iter_mut().for_each(old);
                at.array = args[0];
            }
            Node::Prim(Prim::Recast, args) => at.array = args[0],
            Node::Prim(Prim::Slice(steps), args) if steps.iter().all(|&s| s >= 1) => {
                whole.get_or_insert_with(|| at.clone());
                let step = |axis: usize| usize::try_from(steps[axis]).unwrap_or(1);
                at.axes.iter_mut().for_each(|a| a.1 *= step(a.0));
                at.starts.iter_mut().for_each(|s| s.1 *= step(s.0));
                for k in 0..steps.len() {
                    let start = args[1 + k];
                    if g.int_value(start) != Some(0) {
                        at.starts.push((k, 1, start));
                    } else if steps[k] == 1 && g.shape(at.array)[k] == g.shape(args[0])[k] {
                        continue;
                    }
                    at.cut.push(k);
                }
                at.array = args[0];
            }
            Node::Gather { src, vars, index, .. } if vars.is_empty() => {
                whole.get_or_insert_with(|| at.clone());
                let n = index.len();
                at.axes.iter_mut().for_each(|a| a.0 += n);
                at.starts.iter_mut().for_each(|s| s.0 += n);
                at.cut.iter_mut().for_each(|c| *c += n);
                at.starts.extend(index.iter().enumerate().map(|(k, &ix)| (k, 1, ix)));
                at.array = *src;
            }
            Node::Prim(Prim::Select, _) if at.starts.is_empty() && at.cut.is_empty() => {
                let Some((ends, of)) = limited(g, at.array) else { break };
                let place = |k: usize| ends[at.axes[k].0];
                if (0..at.axes.len()).any(|k| at.extents[k].is_some() && place(k).is_some()) {
                    break;
                }
                let own: Vec<Option<Term>> = (0..at.axes.len()).map(place).collect();
                for (extent, own) in at.extents.iter_mut().zip(own) {
                    *extent = extent.or(own);
                }
                // If the array is not in memory, the operand is stored as it is, with its zeros.
                whole.get_or_insert_with(|| at.clone());
                at.array = of;
            }
            Node::Gather { .. } if at.starts.is_empty() && at.extents.iter().any(Option::is_some) => {
                let Some((of, matrix)) = matrix_in_vector(g, at.array) else { break };
                at.matrix = Some(matrix);
                at.array = of;
                break;
            }
            _ => break,
        }
    }
    match whole {
        Some(whole) if !stored(g, at.array) => whole,
        _ => at,
    }
}

fn stored(g: &Graph, t: Term) -> bool {
    matches!(g.node(t), Node::Param(..)) || always_stored(g, t)
}

/// A number of elements in memory: a literal times sizes.
#[derive(Clone, Debug)]
pub struct Distance {
    /// The literal.
    pub step: usize,
    /// The sizes that it is multiplied by.
    pub sizes: Vec<Term>,
}

impl StridedOperand {
    /// The number of elements from one index along this axis of the array to the next.
    fn stride_of_axis(&self, g: &Graph, axis: usize, step: usize) -> Distance {
        Distance { step, sizes: g.shape(self.array)[axis + 1..].to_vec() }
    }

    fn stride(&self, g: &Graph, axis: usize) -> Distance {
        let (of, step) = self.axes[axis];
        match &self.matrix {
            Some(matrix) => Distance { step, sizes: if of == 0 { vec![matrix.row] } else { Vec::new() } },
            None => self.stride_of_axis(g, of, step),
        }
    }

    /// The offset of the first element, as a sum: terms, each with its stride.
    pub fn begins(&self, g: &Graph) -> Vec<(Term, Distance)> {
        if let Some(matrix) = &self.matrix {
            return matrix.start.iter().map(|&start| (start, Distance { step: 1, sizes: Vec::new() })).collect();
        }
        self.starts.iter().map(|&(axis, step, start)| (start, self.stride_of_axis(g, axis, step))).collect()
    }

    /// The scalars that its place and its extents are made of, without sizes of arrays.
    #[must_use]
    pub fn scalars(&self) -> Vec<Term> {
        let matrix = self.matrix.iter().flat_map(|m| m.start.iter().copied().chain([m.row]));
        self.starts.iter().map(|s| s.2).chain(self.extents.iter().flatten().copied()).chain(matrix).collect()
    }

    /// Whether two axes of the operand are one axis in memory: all of the second for each index of
    /// the first.
    fn together(&self, first: usize, second: usize) -> bool {
        let ((a, p), (b, q)) = (self.axes[first], self.axes[second]);
        let limited = self.matrix.is_some() || self.extents[first].is_some() || self.extents[second].is_some();
        a + 1 == b && p == 1 && q == 1 && !self.cut.contains(&b) && !limited
    }
}

/// Labels that are one index of the product.
#[derive(Clone, Debug)]
pub struct Group {
    /// Sizes whose product is that of the index.
    pub size: Vec<Term>,
    /// Other numbers that the index is less than.
    pub limits: Vec<Term>,
    /// The distance in the result and in each operand; `None` where an array does not have the
    /// labels.
    pub strides: [Option<Distance>; 3],
}

/// A contraction as a batch of matrix products: for each index of the batch, `out = a b`.
#[derive(Clone, Debug)]
pub struct Products {
    /// The operand with the result's rows.
    pub a: StridedOperand,
    /// The operand with the result's columns.
    pub b: StridedOperand,
    /// The indices of the batch.
    pub batch: Vec<Group>,
    /// The index of the result's rows.
    pub rows: Group,
    /// The index that is summed over.
    pub summed: Group,
    /// The index of the result's columns.
    pub columns: Group,
    /// Whether zeros of these operands absorb.
    pub absorbs: [bool; 2],
}

impl Products {
    /// Whether elements of the result are zero because no products contribute to them.
    #[must_use]
    pub fn is_limited(&self) -> bool {
        self.batch.iter().chain([&self.rows, &self.summed, &self.columns]).any(|group| !group.limits.is_empty())
    }
}

/// The three arrays of a contraction, with the labels of their axes.
struct Arrays<'a> {
    g: &'a Graph,
    spec: &'a Contraction,
    out: StridedOperand,
    a: StridedOperand,
    b: StridedOperand,
    shapes: [Vec<Term>; 2],
}

impl Arrays<'_> {
    fn operands(&self) -> [(&[u8], &StridedOperand); 3] {
        [(&self.spec.out, &self.out), (&self.spec.a, &self.a), (&self.spec.b, &self.b)]
    }

    fn size(&self, label: u8) -> Option<Term> {
        let of = |labels: &[u8], shape: &[Term]| labels.iter().position(|&l| l == label).map(|k| shape[k]);
        of(&self.spec.a, &self.shapes[0]).or_else(|| of(&self.spec.b, &self.shapes[1]))
    }

    /// The group of labels that are adjacent in all arrays, the outermost first.
    fn group(&self, labels: &[u8]) -> Group {
        let strides = self.operands().map(|(of, part)| {
            let last = labels.last()?;
            of.iter().position(|l| l == last).map(|k| part.stride(self.g, k))
        });
        let limit = |(of, part): (&[u8], &StridedOperand)| {
            let last = labels.last()?;
            of.iter().position(|l| l == last).and_then(|k| part.extents[k])
        };
        let mut limits: Vec<Term> = self.operands().into_iter().filter_map(limit).collect();
        limits.dedup();
        Group { size: labels.iter().filter_map(|&l| self.size(l)).collect(), limits, strides }
    }

    /// Whether a label directly follows another label in the memory of all arrays that have both.
    fn together(&self, first: u8, second: u8) -> bool {
        self.operands().iter().all(|(of, part)| {
            let at = |label: u8| of.iter().position(|&l| l == label);
            match (at(first), at(second)) {
                (Some(i), Some(j)) => part.together(i, j),
                _ => true,
            }
        })
    }

    /// All labels before the last run of adjacent labels, and that run.
    fn split<'l>(&self, labels: &'l [u8]) -> (&'l [u8], &'l [u8]) {
        let mut first = labels.len().saturating_sub(1);
        while first > 0 && self.together(labels[first - 1], labels[first]) {
            first -= 1;
        }
        labels.split_at(first)
    }
}

/// A contraction as a batch of matrix products. `None` if it sums nothing, or is a batch of dot
/// products.
pub(crate) fn as_products(g: &Graph, spec: &Contraction, t: Term, [a, b]: [Term; 2]) -> Option<Products> {
    let whole = StridedOperand {
        array: t,
        axes: (0..spec.out.len()).map(|k| (k, 1)).collect(),
        starts: Vec::new(),
        cut: Vec::new(),
        extents: vec![None; spec.out.len()],
        matrix: None,
    };
    let shapes = [a, b].map(|x| g.shape(x).to_vec());
    let arrays = Arrays { g, spec, out: whole, a: part(g, a), b: part(g, b), shapes };
    let has = |labels: &[u8], l: u8| labels.contains(&l);
    let pick = |labels: &[u8], a: bool, b: bool, out: bool| -> Vec<u8> {
        let fits = |&l: &u8| has(&spec.a, l) == a && has(&spec.b, l) == b && has(&spec.out, l) == out;
        labels.iter().copied().filter(fits).collect()
    };
    // The summed labels in the order of the first operand's memory.
    let mut in_memory: Vec<usize> = (0..spec.a.len()).collect();
    in_memory.sort_by_key(|&k| arrays.a.axes[k].0);
    let in_memory: Vec<u8> = in_memory.into_iter().map(|k| spec.a[k]).collect();
    let (rows, columns) = (pick(&spec.out, true, false, true), pick(&spec.out, false, true, true));
    let summed = pick(&in_memory, true, true, false);
    if summed.is_empty() || (rows.is_empty() && columns.is_empty()) {
        return None;
    }
    let (more_rows, rows) = arrays.split(&rows);
    let (more_columns, columns) = arrays.split(&columns);
    let (more_summed, summed) = arrays.split(&summed);
    let both = pick(&spec.out, true, true, true);
    let batch = [&both, more_rows, more_columns, more_summed].concat();
    let batch: Vec<Group> = batch.iter().map(|l| arrays.group(&[*l])).collect();
    let (rows, summed, columns) = (arrays.group(rows), arrays.group(summed), arrays.group(columns));
    let absorbs = spec.absorbs;
    Some(Products { batch, rows, summed, columns, a: arrays.a, b: arrays.b, absorbs })
}

/// The products on strided arrays that compute a contraction. `None` if it is a product of
/// contiguous arrays, which has a kernel of its own.
pub fn strided(g: &Graph, t: Term, exact: bool) -> Option<Products> {
    let Node::Prim(Prim::Contract(spec), args) = g.node(t) else { return None };
    if as_product(g, spec, [args[0], args[1]], exact).is_some() {
        return None;
    }
    as_products(g, spec, t, [args[0], args[1]])
}
