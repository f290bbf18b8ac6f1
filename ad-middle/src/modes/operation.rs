//! The derivative of an operation as a linear function of the tangents of its arguments. Forward
//! mode applies it, and reverse mode applies its transpose. There is one table of partial
//! derivatives for all algorithms: the rows of the scalar functions, and the linear maps of the
//! primitives on arrays. This module must never add a derivative to it.

use ad_ir::ir::{Graph, Node, Put, Term};
use ad_ir::prim::structural::{Linear, LinearMap, LinearTerm};
use ad_ir::prim::{Build, Prim, Reduce, Scaling};

use super::cotangent::{Cotangent, add};
use super::linear::Lin;
use super::partials::{Extremum, extremum_read, powi_partial};
use ad_ir::analysis::zeros::is_zero;

/// One linear operation.
#[derive(Debug)]
enum Part {
    /// The tangent of the argument with this number.
    Argument(usize),
    /// The image of another part.
    Image(Lin, usize),
    /// A sum of two parts.
    Sum(usize, usize),
}

/// A linear function from the tangents of the arguments to that of the result.
#[derive(Debug)]
pub(crate) struct Operation {
    parts: Vec<Part>,
    result: usize,
}

impl Operation {
    /// The tangent of the result, given those of the arguments; `None` is zero.
    pub(crate) fn forward(&self, g: &mut Graph, of: impl Fn(usize) -> Option<Term>) -> Option<Term> {
        let mut values: Vec<Option<Term>> = Vec::with_capacity(self.parts.len());
        for part in &self.parts {
            let value = match part {
                Part::Argument(number) => of(*number),
                Part::Image(map, x) => values[*x].map(|x| map.apply(g, x)),
                Part::Sum(a, b) => match (values[*a], values[*b]) {
                    (Some(a), Some(b)) => Some(g.add(a, b)),
                    (a, b) => a.or(b),
                },
            };
            values.push(value.filter(|&x| !is_zero(g, x)));
        }
        values[self.result]
    }

    /// The terms that the transpose adds to the cotangents of the arguments, by number.
    pub(crate) fn transposed(&self, g: &mut Graph, ct: Cotangent) -> Vec<(usize, Cotangent)> {
        let mut pending: Vec<Option<Cotangent>> = vec![None; self.parts.len()];
        pending[self.result] = Some(ct);
        let mut found = Vec::new();
        let give = |g: &mut Graph, pending: &mut [Option<Cotangent>], to: usize, ct: Cotangent| {
            if !is_zero(g, ct.term) {
                pending[to] = Some(add(g, pending[to], ct));
            }
        };
        for k in (0..self.parts.len()).rev() {
            let Some(ct) = pending[k].take() else { continue };
            match &self.parts[k] {
                Part::Argument(number) => found.push((*number, ct)),
                Part::Image(map, x) => {
                    let masked = map.transposed_mask(g, ct.term, ct.masked);
                    let term = map.transpose(g, ct.term, ct.masked);
                    give(g, &mut pending, *x, Cotangent { term, masked });
                }
                Part::Sum(a, b) => {
                    give(g, &mut pending, *a, ct);
                    give(g, &mut pending, *b, ct);
                }
            }
        }
        found
    }
}

/// The derivative of the term `p` of the primal program. `active` gives the number of each child
/// (in their order) that is active. `None` if the derivative is zero.
pub(crate) fn operation(g: &mut Graph, p: Term, active: &[Option<usize>]) -> Option<Operation> {
    let mut d = Differential { g, parts: Vec::new() };
    let result = d.of(p, active)?;
    Some(Operation { parts: d.parts, result })
}

struct Differential<'g> {
    g: &'g mut Graph,
    parts: Vec<Part>,
}

impl Differential<'_> {
    fn push(&mut self, part: Part) -> usize {
        self.parts.push(part);
        self.parts.len() - 1
    }

    fn argument(&mut self, active: Option<&Option<usize>>) -> Option<usize> {
        let at = active.copied().flatten()?;
        Some(self.push(Part::Argument(at)))
    }

    fn image(&mut self, map: Lin, x: Option<usize>) -> Option<usize> {
        x.map(|x| self.push(Part::Image(map, x)))
    }

    fn sum(&mut self, a: Option<usize>, b: Option<usize>) -> Option<usize> {
        match (a, b) {
            (Some(a), Some(b)) => Some(self.push(Part::Sum(a, b))),
            (a, b) => a.or(b),
        }
    }

    fn of(&mut self, p: Term, active: &[Option<usize>]) -> Option<usize> {
        let node = self.g.node_rc(p);
        match &*node {
            Node::Gather { src, sizes, vars, index } => {
                let from = self.g.shape(*src).to_vec();
                let x = self.argument(active.first());
                let (vars, index, sizes) = (vars.clone(), index.clone(), sizes.clone());
                self.image(Lin::Gather { vars, index, sizes, from }, x)
            }
            Node::Scatter { put: Put::Add, dst: _, src, vars, index } => {
                let sizes = self.g.shape(*src)[..vars.len()].to_vec();
                let to = self.g.shape(p).to_vec();
                let onto = self.argument(active.first());
                let x = self.argument(active.get(1));
                let x = self.image(Lin::Scatter { vars: vars.clone(), index: index.clone(), sizes, to }, x);
                self.sum(onto, x)
            }
            Node::Prim(prim, args) => self.prim(p, prim, args, active),
            _ => None,
        }
    }

    /// Rows of the tables, and the primitives on arrays.
    fn prim(&mut self, p: Term, prim: &Prim, args: &[Term], active: &[Option<usize>]) -> Option<usize> {
        match prim {
            Prim::Unary(f) => {
                let row = f.row();
                let (x, partial) = (self.argument(active.first())?, row.partial?);
                let f = partial(self.g, args[0], p);
                self.image(Lin::Scale(f, row.scaling), Some(x))
            }
            Prim::Binary(f) => {
                let row = f.row();
                let mut total = None;
                for (k, partial) in row.partials.iter().enumerate() {
                    let (Some(partial), Some(x)) = (partial, self.argument(active.get(k))) else { continue };
                    let f = partial(self.g, args[0], args[1], p);
                    let scaled = match self.g.real_value(f) == Some(1.0) {
                        true => Some(x),
                        false => self.image(Lin::Scale(f, row.scaling), Some(x)),
                    };
                    total = self.sum(total, scaled);
                }
                total
            }
            Prim::PowI => {
                let x = self.argument(active.first())?;
                let f = powi_partial(self.g, args[0], args[1]);
                self.image(Lin::Scale(f, Scaling::Plain), Some(x))
            }
            Prim::Cast(to) => {
                let x = self.argument(active.first());
                let from = self.g.elem(args[0]);
                self.image(Lin::Cast { from, to: *to }, x)
            }
            Prim::RelaxedExact | Prim::UnknownOrder => self.argument(active.first()),
            Prim::Reduce(Reduce::Max, rank) => self.extremum(Reduce::ArgMax, *rank, args[0], active),
            Prim::Reduce(Reduce::Min, rank) => self.extremum(Reduce::ArgMin, *rank, args[0], active),
            // The derivative is zero by convention, or the result is not real, or it is the exact
            // value of a pair, whose relaxed value has the derivative.
            Prim::StopGradient
            | Prim::Compare(_)
            | Prim::Int(_)
            | Prim::IntNeg
            | Prim::TotalOrder
            | Prim::Finished
            | Prim::Watched(_)
            | Prim::Not
            | Prim::And
            | Prim::Or
            | Prim::Fused
            | Prim::Reduce(..) => None,
            _ => self.structural(p, prim, args, active),
        }
    }

    /// The sum of the derivatives with respect to the data arguments.
    fn structural(&mut self, p: Term, prim: &Prim, args: &[Term], active: &[Option<usize>]) -> Option<usize> {
        let mut total = None;
        for k in 0..prim.data_args(args.len()) {
            let Some(x) = self.argument(active.get(k)) else { continue };
            let x = LinearTerm(u32::try_from(x).unwrap_or(u32::MAX));
            let part = prim.structural(|s| s.derivative(self, args, p, k, x)).flatten();
            total = self.sum(total, part.map(|x| x.0 as usize));
        }
        total
    }

    /// An extremum reads its array at the first place where it is attained.
    fn extremum(&mut self, arg: Reduce, rank: u8, x: Term, active: &[Option<usize>]) -> Option<usize> {
        let dx = self.argument(active.first())?;
        let Extremum { flat, reshaped, vars, index, sizes } = extremum_read(self.g, arg, rank, x)?;
        let dx = match reshaped {
            Some(args) => {
                let linear = Prim::Reshape.structural(|s| s.linear(self.g, &args, 0)).flatten()?;
                self.image(Lin::Structural(linear), Some(dx))
            }
            None => Some(dx),
        };
        self.image(Lin::Gather { vars, index, sizes, from: flat }, dx)
    }
}

impl Linear for Differential<'_> {
    fn build(&mut self) -> &mut dyn Build {
        self.g
    }

    fn apply(&mut self, map: LinearMap, x: LinearTerm) -> LinearTerm {
        numbered(self.push(Part::Image(Lin::Structural(map), x.0 as usize)))
    }

    fn scale(&mut self, f: Term, scaling: Scaling, x: LinearTerm) -> LinearTerm {
        numbered(self.push(Part::Image(Lin::Scale(f, scaling), x.0 as usize)))
    }

    fn add(&mut self, a: LinearTerm, b: LinearTerm) -> LinearTerm {
        numbered(self.push(Part::Sum(a.0 as usize, b.0 as usize)))
    }
}

fn numbered(part: usize) -> LinearTerm {
    LinearTerm(u32::try_from(part).unwrap_or(u32::MAX))
}
