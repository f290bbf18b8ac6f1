//! Flattening of rows of several lengths. A loop over such rows becomes operations on an array as
//! wide as the longest row, and a condition masks the elements after the end of each row. This pass
//! computes the elements that exist, row after row, in a vector. So a derivative saves a residual
//! for each element that exists, and not for each element of the rectangle. A sum whose derivative
//! reads no residual is left alone: its loops end where the rows end.
//!
//! This pass must never change the order of a sum that a decision depends on, and never compute an
//! element that does not exist.

use ad_ir::sorted::SortedSet;
use std::collections::HashMap;

use super::rewrite::{Rewriter, with_rewritten_children};
use super::{Context, Pass};
use ad_ir::analysis::conjunction;
use ad_ir::analysis::sizes::Fixed;
use ad_ir::analysis::zeros::is_zero_of_either_sign;
use ad_ir::ir::{Contraction, Elem, Graph, Node, Scan, Term, Var};
use ad_ir::prim::{Binary, Cmp, IntOp, Prim, Reduce, Unary};

/// The pass.
///
/// | before | after |
/// | --- | --- |
/// | `sum[0,1] (select (iota < replicate[1] lens) m 0)` | `sum[0]` over the elements that exist |
/// | `sum[1] (select (iota < replicate[1] lens) m 0)` | each of them is added to the sum of its row |
/// | `sum[0,1] (select ((iota < replicate[1] lens) && c) m 0)` | `sum[0] (select c m 0)` over the elements that exist |
/// | `all[1] (all[1] (select (iota < replicate[1] lens) c true))`, where `c` is costly | `all[1]` over the elements that exist |
pub(crate) const PASS: Pass = Pass {
    name: "flatten",
    rules: || vec!["flatten"],
    run: |g, roots, cx| roots.map(|all| pass(g, all, cx, &Outside::default())),
    simplified: true,
};

/// The rows of a list of `Vec`s, which are concatenated in the vector of all elements: row i has
/// `lens[i]` elements from `starts[i]` on, and the next row begins where it ends. An element of a
/// row is the element of that vector at the same place.
#[derive(Clone, Copy, Debug)]
pub struct ListRows {
    /// The elements of all rows.
    pub elements: Term,
    /// The index at which each row begins.
    pub starts: Term,
    /// The lengths.
    pub lens: Term,
    /// The greatest length.
    pub most: Term,
}

/// For terms of a body that are the same in all steps of all loops: the terms outside of all loops
/// that they are equal to.
#[derive(Clone, Default)]
struct Outside {
    captures: HashMap<Term, Term>,
}

impl Outside {
    /// The term outside of all loops.
    fn of(&self, g: &mut Graph, t: Term) -> Option<Term> {
        if !g.is_open(t) {
            return Some(t);
        }
        let known = |t: &Term| !matches!(g.node(*t), Node::Param(..)) || self.captures.contains_key(t);
        g.reachable(&[t]).iter().all(known).then(|| g.replaced(&[t], self.captures.clone())[0])
    }

    /// The terms outside that the parameters of a loop's body stand for.
    fn inside(&self, g: &mut Graph, scan: &Scan) -> Outside {
        let first = scan.init.len();
        let mut captures = HashMap::new();
        for (k, &t) in scan.captures.iter().enumerate() {
            if let Some(outside) = self.of(g, t) {
                captures.insert(g.param(first + k, scan.body.params[first + k].clone()), outside);
            }
        }
        Outside { captures }
    }
}

fn pass(g: &mut Graph, roots: &[Term], cx: &mut Context, outside: &Outside) -> Vec<Term> {
    let (exact, lists, active) = (cx.exact(g), cx.lists.clone(), cx.active.iter().copied().collect());
    let mut known = HashMap::new();
    Rewriter::new(&*cx.get::<Fixed>(g, roots)).run(g, roots, |g, t, done| {
        let (axes, args) = match with_rewritten_children(g, t, done) {
            Node::Scan(mut scan) => {
                let inside = outside.inside(g, &scan);
                scan.body.results = pass(g, &scan.body.results, cx, &inside).into();
                return Some(g.scan(*scan));
            }
            Node::Prim(Prim::Sum(axes), args) if axes.contains(&1) && !exact.contains(&t) => (axes, args),
            Node::Prim(Prim::Reduce(Reduce::All, 1), args) => {
                let [each] = args[..] else { return None };
                let (mask, elements) = of_all_rows(g, each)?;
                let rows = Rows::of(g, mask, outside, &lists)?;
                let mut flat = Flat { g, rows, active: &active, known: &mut known };
                flat.costs_much(elements).then_some(())?;
                let vector = flat.vector(elements)?;
                return Some(g.reduce(Reduce::All, 1, vector));
            }
            _ => return None,
        };
        let Node::Prim(Prim::Select, parts) = g.node(args[0]) else { return None };
        let (mask, elements, zeros) = (parts[0], parts[1], parts[2]);
        if !g.elem(elements).is_real() || !is_zero_of_either_sign(g, zeros) {
            return None;
        }
        // The elements may have another condition besides that of the end of their row.
        let mut conditions = conjunction::parts(g, mask).into_iter().filter(|(_, axes)| **axes == [0, 1]);
        let rows = conditions.find_map(|(t, _)| Rows::of(g, t, outside, &lists))?;
        let mut flat = Flat { g, rows, active: &active, known: &mut known };
        flat.has_residuals(elements).then_some(())?;
        let vector = flat.vector(if flat.is_mask(mask) { elements } else { args[0] })?;
        Some(flat.sum(vector, &axes))
    })
}

/// The mask and the elements of a conjunction for each row, `all[1] (select mask elements true)`.
fn of_all_rows(g: &Graph, each: Term) -> Option<(Term, Term)> {
    let Node::Prim(Prim::Reduce(Reduce::All, 1), args) = g.node(each) else { return None };
    let [of] = args[..] else { return None };
    let Node::Prim(Prim::Select, parts) = g.node(of) else { return None };
    (g.rank(of) == 2 && g.bool_value(g.splat(parts[2])) == Some(true)).then_some((parts[0], parts[1]))
}

/// The rows that a condition describes.
#[derive(Clone, Copy)]
struct Rows {
    /// The condition, of two axes.
    mask: Term,
    /// The number of rows.
    count: Term,
    /// The number of elements that exist.
    total: Term,
    /// The number of the row of each of these, and its place in it.
    row: Term,
    place: Term,
    /// The list whose first rows these are. Its starts are terms of this body.
    list: Option<ListRows>,
}

impl Rows {
    fn of(g: &mut Graph, mask: Term, outside: &Outside, lists: &[ListRows]) -> Option<Rows> {
        let Node::Prim(Prim::Compare(Cmp::Lt), sides) = g.node(mask) else { return None };
        let along = |t: Term, at: u8| match g.node(t) {
            Node::Prim(Prim::Replicate(axes), args) if **axes == [at] && g.rank(t) == 2 => Some(args[0]),
            _ => None,
        };
        let (places, lens) = (along(sides[0], 0)?, along(sides[1], 1)?);
        let shape = g.shape(mask).to_vec();
        // A rectangle of static size needs no memory of a size that the data decides.
        if shape.iter().all(|&n| g.int_value(n).is_some()) {
            return None;
        }
        let places = outside.of(g, places)?;
        let counts = matches!(g.node(places), Node::Prim(Prim::Iota, _));
        let lens_outside = if counts && g.elem(lens) == Elem::USIZE { outside.of(g, lens)? } else { return None };
        // Lengths that are not data are those of a triangle or a band, which fills a good part of
        // its rectangle.
        let data = |&t: &Term| matches!(g.node(t), Node::Input(_)) && g.rank(t) > 0;
        if !g.reachable(&[lens_outside]).iter().any(data) {
            return None;
        }
        // The first rows of a list begin with its first element.
        let of_list = match g.node(lens_outside) {
            Node::Prim(Prim::Slice(steps), args) if **steps == [1] && g.int_value(args[1]) == Some(0) => args[0],
            _ => lens_outside,
        };
        let list = lists.iter().find(|list| list.lens == of_list && list.most == shape[1]).copied();
        let (clipped, total) = match list {
            Some(list) if list.lens == lens_outside => (lens, g.shape(list.elements)[0]),
            Some(_) => (lens, g.sum_all(lens_outside)),
            None => {
                let mut clip = |lens: Term| {
                    let most = g.replicate(shape[0], shape[1]);
                    g.int(IntOp::Min, lens, most)
                };
                let (own, all) = (clip(lens), clip(lens_outside));
                (own, g.sum_all(all))
            }
        };
        let row = g.prim(Prim::RowIndex(false), &[clipped, total]);
        let place = g.prim(Prim::RowIndex(true), &[clipped, total]);
        let list = list.and_then(|list| {
            let own = outside.captures.iter().find(|(_, t)| **t == list.starts).map(|(&own, _)| own);
            let starts = if outside.captures.is_empty() { Some(list.starts) } else { own };
            starts.map(|starts| ListRows { starts, ..list })
        });
        Some(Rows { mask, count: shape[0], total, row, place, list })
    }
}

/// The elements that exist, as vectors.
struct Flat<'a> {
    g: &'a mut Graph,
    rows: Rows,
    active: &'a SortedSet<u32>,
    /// The vectors of arrays that have been flattened, by the condition and the array.
    known: &'a mut HashMap<(Term, Term), Option<Term>>,
}

impl Flat<'_> {
    /// Whether the array is computed row by row: its first two axes are those of the rows.
    fn is_of_rows(&self, t: Term) -> bool {
        let shape = self.g.shape(t);
        shape.len() >= 2 && shape[..2] == *self.g.shape(self.rows.mask)
    }

    /// The operands of an array that are computed row by row too.
    fn operands(&self, t: Term) -> Vec<Term> {
        match self.g.node(t) {
            Node::Prim(prim, args)
                if prim.is_elementwise()
                    || matches!(
                        prim,
                        Prim::Sum(_) | Prim::Reduce(..) | Prim::Slice(_) | Prim::Contract(_) | Prim::Replicate(_)
                    ) =>
            {
                args.iter().copied().filter(|&a| self.is_of_rows(a)).collect()
            }
            _ => Vec::new(),
        }
    }

    fn is_active(&self, t: Term) -> bool {
        let real = |&t: &Term| match self.g.node(t) {
            Node::Input(k) => self.active.contains(k),
            Node::Param(..) => self.g.elem(t).is_real(),
            _ => false,
        };
        self.g.elem(t).is_real() && self.g.reachable(&[t]).iter().any(real)
    }

    /// Whether the derivative of an array reads residuals.
    fn has_residuals(&self, t: Term) -> bool {
        let (mut seen, mut stack) = (SortedSet::new(), vec![t]);
        while let Some(t) = stack.pop() {
            if !seen.insert(t) {
                continue;
            }
            let of = |k: usize, args: &[Term]| self.is_active(args[k]);
            let reads = match self.g.node(t) {
                Node::Prim(Prim::Binary(Binary::Add | Binary::Sub) | Prim::Unary(Unary::Neg), _) => false,
                Node::Prim(Prim::Binary(Binary::Mul), args) | Node::Prim(Prim::Contract(_), args) => {
                    of(0, args) && of(1, args)
                }
                Node::Prim(Prim::Binary(Binary::Div), args) => of(1, args),
                Node::Prim(Prim::Select, _) => false,
                Node::Prim(prim, args) if prim.is_elementwise() => (0..args.len()).any(|k| of(k, args)),
                _ => false,
            };
            if reads {
                return true;
            }
            stack.extend(self.operands(t));
        }
        false
    }

    /// Whether an array is computed from real numbers that are computed row by row, which the sum
    /// over the same rows computes too, or whether a reduction computes its elements.
    fn costs_much(&self, t: Term) -> bool {
        let (mut seen, mut stack) = (SortedSet::new(), vec![t]);
        while let Some(t) = stack.pop() {
            if !seen.insert(t) {
                continue;
            }
            match self.g.node(t) {
                Node::Prim(Prim::Reduce(..), _) => return true,
                Node::Prim(prim, _) if prim.is_elementwise() && self.g.elem(t).is_real() => return true,
                _ => {}
            }
            stack.extend(self.operands(t));
        }
        false
    }

    /// The elements that exist, in a vector with the further axes of the array. `None` if the array
    /// is in memory, or is not computed element by element.
    fn vector(&mut self, t: Term) -> Option<Term> {
        // Operands come first, without recursion.
        let mut stack = vec![t];
        while let Some(&next) = stack.last() {
            if self.known.contains_key(&(self.rows.mask, next)) {
                stack.pop();
                continue;
            }
            let missing: Vec<Term> = self
                .operands(next)
                .into_iter()
                .filter(|&a| a != self.rows.mask && !self.known.contains_key(&(self.rows.mask, a)))
                .collect();
            if missing.is_empty() {
                let made = self.made(next);
                self.known.insert((self.rows.mask, next), made);
                stack.pop();
            } else {
                stack.extend(missing);
            }
        }
        self.known[&(self.rows.mask, t)]
    }

    /// The vector of an operand.
    fn operand(&mut self, t: Term) -> Option<Term> {
        if t == self.rows.mask {
            let yes = self.g.lit_bool(true);
            return Some(self.g.replicate(self.rows.total, yes));
        }
        self.known.get(&(self.rows.mask, t)).copied().flatten()
    }

    fn made(&mut self, t: Term) -> Option<Term> {
        if !self.is_of_rows(t) {
            return None;
        }
        let node = self.g.node_rc(t);
        match &*node {
            Node::Prim(Prim::Select, args) if self.is_mask(args[0]) => self.operand(args[1]),
            Node::Prim(Prim::And, args) if self.is_mask(args[0]) => self.operand(args[1]),
            Node::Prim(Prim::And, args) if self.is_mask(args[1]) => self.operand(args[0]),
            Node::Prim(prim, args) if prim.is_elementwise() => {
                let args: Option<Vec<Term>> = args.iter().map(|&a| self.operand(a)).collect();
                Some(self.g.prim(prim.clone(), &args?))
            }
            Node::Prim(Prim::Replicate(axes), args) => self.replicated(axes, args),
            Node::Prim(Prim::Sum(axes), args) if axes.iter().all(|&a| a >= 2) => {
                let of = self.operand(args[0])?;
                let axes: Vec<u8> = axes.iter().map(|a| a - 1).collect();
                Some(self.g.sum_axes(of, &axes))
            }
            Node::Prim(
                Prim::Reduce(op @ (Reduce::InOrder | Reduce::FromZero | Reduce::All | Reduce::Any), axes),
                args,
            ) => {
                let [of] = args[..] else { return None };
                (self.g.rank(of) >= 2 + usize::from(*axes)).then_some(())?;
                let of = self.operand(of)?;
                Some(self.g.reduce(*op, usize::from(*axes), of))
            }
            // A slice of the elements of each row.
            Node::Prim(Prim::Slice(steps), args) => {
                let (starts, lens) = args[1..].split_at(steps.len());
                let whole = |k: usize| {
                    steps[k] == 1 && self.g.int_value(starts[k]) == Some(0) && lens[k] == self.g.shape(args[0])[k]
                };
                (whole(0) && whole(1)).then_some(())?;
                let of = self.operand(args[0])?;
                let [starts, lens] = [starts, lens].map(|of| of[2..].to_vec());
                let zero = self.g.lit_usize(0);
                let starts: Vec<Term> = std::iter::once(zero).chain(starts).collect();
                let lens: Vec<Term> = std::iter::once(self.rows.total).chain(lens).collect();
                let steps: Vec<_> = std::iter::once(1).chain(steps[2..].iter().copied()).collect();
                Some(self.g.slice(of, &starts, &steps, &lens))
            }
            Node::Prim(Prim::Contract(spec), args) => self.contracted(spec, [args[0], args[1]]),
            Node::Gather { src, sizes, vars, .. } if vars.len() >= 2 => {
                let (vars, index) = self.g.open_binder(&node);
                let (index, at) = self.index(&vars, index);
                let sizes: Vec<Term> = std::iter::once(self.rows.total).chain(sizes[2..].iter().copied()).collect();
                let vars: Vec<Var> = std::iter::once(at).chain(vars[2..].iter().copied()).collect();
                // The elements of a list in their order are the vector itself.
                let whole = vars.len() == 1 && self.g.shape(*src) == sizes && *self.g.node(index[0]) == Node::Var(at);
                Some(if whole { *src } else { self.g.gather(*src, sizes.into(), &vars, &index) })
            }
            _ => None,
        }
    }

    fn is_mask(&self, t: Term) -> bool {
        let strip = match self.g.node(t) {
            Node::Prim(Prim::Replicate(axes), args) if axes.iter().all(|&a| a >= 2) => args[0],
            _ => t,
        };
        strip == self.rows.mask
    }

    /// An index of an element of a row, in terms of the number of the element.
    fn index(&mut self, vars: &[Var], index: Vec<Term>) -> (Vec<Term>, Var) {
        let g = &mut *self.g;
        let at = g.fresh();
        let [i, j, p] = [vars[0], vars[1], at].map(|v| g.mk(Node::Var(v)));
        let mut index = index;
        if let Some(list) = self.rows.list {
            let start = g.index(list.starts, &[i]);
            let places = [g.int(IntOp::Add, start, j), g.int(IntOp::Add, j, start)];
            index = g.replaced(&index, places.map(|place| (place, p)).into());
        }
        let [row, place] = [self.rows.row, self.rows.place].map(|of| g.index(of, &[p]));
        (g.subst_vars_all(&index, &[(vars[0], row), (vars[1], place)]), at)
    }

    fn replicated(&mut self, axes: &[u8], args: &[Term]) -> Option<Term> {
        let of = args[0];
        let (by_row, by_place) = (!axes.contains(&0), !axes.contains(&1));
        let further = axes.iter().zip(&args[1..]).filter(|(a, _)| **a >= 2);
        let (mut new, mut sizes): (Vec<u8>, Vec<Term>) = further.map(|(a, &n)| (a - 1, n)).unzip();
        let of = match (by_row, by_place) {
            (true, true) => self.operand(of)?,
            (false, false) => {
                new.insert(0, 0);
                sizes.insert(0, self.rows.total);
                of
            }
            (true, false) => self.rows_at(of, self.rows.row),
            (false, true) if matches!(self.g.node(of), Node::Prim(Prim::Iota, _)) => self.rows.place,
            (false, true) => self.rows_at(of, self.rows.place),
        };
        Some(self.g.replicate_axes(of, &new, &sizes))
    }

    /// The rows of an array at these indices.
    fn rows_at(&mut self, of: Term, at: Term) -> Term {
        let shape = self.g.shape(of)[1..].to_vec();
        let vars: Vec<Var> = (0..=shape.len()).map(|_| self.g.fresh()).collect();
        let mut index: Vec<Term> = vars.iter().map(|&v| self.g.mk(Node::Var(v))).collect();
        index[0] = self.g.index(at, &[index[0]]);
        let sizes = std::iter::once(self.rows.total).chain(shape).collect();
        self.g.gather(of, sizes, &vars, &index)
    }

    /// A batch of products, with one number for each element that exists.
    fn contracted(&mut self, spec: &Contraction, of: [Term; 2]) -> Option<Term> {
        let (row, place) = (*spec.out.first()?, *spec.out.get(1)?);
        let mut labels = [spec.a.to_vec(), spec.b.to_vec()];
        let mut new = of;
        for (labels, t) in labels.iter_mut().zip(&mut new) {
            if labels.len() >= 2 && labels[..2] == [row, place] {
                *t = self.operand(*t)?;
                labels.remove(1);
            } else if labels.first() == Some(&row) && !labels.contains(&place) {
                *t = self.rows_at(*t, self.rows.row);
            } else if labels.contains(&row) || labels.contains(&place) {
                return None;
            }
        }
        let out: Vec<u8> = spec.out.iter().copied().filter(|&l| l != place).collect();
        let [a, b] = labels;
        let spec = spec.with(a, b, out);
        Some(self.g.contract(new[0], new[1], spec))
    }

    /// The sum along these axes of the rectangle.
    fn sum(&mut self, vector: Term, axes: &[u8]) -> Term {
        let g = &mut *self.g;
        let further = axes.iter().filter(|&&a| a >= 2).map(|a| a - 1);
        if axes.contains(&0) {
            let all: Vec<u8> = std::iter::once(0).chain(further).collect();
            return g.sum_axes(vector, &all);
        }
        let further: Vec<u8> = further.collect();
        let summed = g.sum_axes(vector, &further);
        let mut shape = g.shape(summed).to_vec();
        shape[0] = self.rows.count;
        let none = g.lit_shaped(g.elem(summed), &shape, 0.0);
        let vars: Vec<Var> = shape.iter().map(|_| g.fresh()).collect();
        let mut index: Vec<Term> = vars.iter().map(|&v| g.mk(Node::Var(v))).collect();
        index[0] = g.index(self.rows.row, &[index[0]]);
        g.scatter(none, summed, &vars, &index)
    }
}
