//! Reductions of scalars, in the order in which the kernels of the runtime and ndarray take their
//! elements. This module must never choose another order.

use super::{LANES, MIN_REORDERED, Unroll};
use ad_ir::ir::{Graph, Term};
use ad_ir::prim::{Binary, Cmp, IntOp, Reduce};

impl Unroll<'_> {
    /// A reduction of one or more scalars.
    pub(super) fn reduce(&mut self, op: Reduce, xs: &[Term]) -> Term {
        let real = self.g.elem(xs[0]).is_real();
        let best = |g: &mut Graph, largest: bool| {
            xs[1..].iter().fold(xs[0], |best, &x| match (real, largest) {
                (true, true) => g.binary(Binary::Max, best, x),
                (true, false) => g.binary(Binary::Min, best, x),
                (false, true) => g.int(IntOp::Max, best, x),
                (false, false) => g.int(IntOp::Min, best, x),
            })
        };
        match op {
            Reduce::Max | Reduce::Min => best(self.g, op == Reduce::Max),
            Reduce::All => xs[1..].iter().fold(xs[0], |all, &x| self.g.and(all, x)),
            Reduce::Any => xs[1..].iter().fold(xs[0], |any, &x| self.g.or(any, x)),
            Reduce::ArgMax | Reduce::ArgMin => {
                let best = best(self.g, op == Reduce::ArgMax);
                let mut place = self.g.lit_usize(0);
                for (k, &x) in xs.iter().enumerate().rev() {
                    let (here, is_best) = (self.g.lit_usize(k), self.g.compare(Cmp::Eq, x, best));
                    place = self.g.select(is_best, here, place);
                }
                place
            }
            Reduce::InOrder => xs[1..].iter().fold(xs[0], |sum, &x| self.g.add(sum, x)),
            Reduce::FromZero => {
                let zero = self.g.lit_like(xs[0], 0.0);
                xs.iter().fold(zero, |sum, &x| self.g.add(sum, x))
            }
            Reduce::Unrolled => self.in_parts(Binary::Add, 0.0, xs, MIN_REORDERED),
            Reduce::Factors => self.in_parts(Binary::Mul, 1.0, xs, MIN_REORDERED),
            Reduce::Lanes => self.in_parts(Binary::Add, 0.0, xs, LANES),
            Reduce::Fours => {
                let mut all = self.g.zeros_like(xs[0]);
                let (fours, rest) = xs.as_chunks::<4>();
                for &[a, b, c, d] in fours {
                    let (first, second) = (self.g.add(a, b), self.g.add(c, d));
                    let four = self.g.add(first, second);
                    all = self.g.add(all, four);
                }
                rest.iter().fold(all, |sum, &x| self.g.add(sum, x))
            }
            Reduce::Squares => {
                let squares: Vec<Term> = xs.iter().map(|&x| self.g.mul(x, x)).collect();
                self.in_parts(Binary::Add, 0.0, &squares, LANES)
            }
            Reduce::Distances => xs[0],
        }
    }

    /// Folds scalars with this number of accumulators, each initialised with `start`. In ndarray's
    /// order, the accumulators are combined in pairs, and the sums of the pairs are then added one
    /// after the other. Otherwise halves are combined until one accumulator is left. Then the
    /// remaining elements are added.
    fn in_parts(&mut self, f: Binary, start: f64, xs: &[Term], count: usize) -> Term {
        let start = self.g.lit_like(xs[0], start);
        let whole = xs.len() / count * count;
        let mut all = start;
        if whole > 0 {
            let mut parts: Vec<Term> = (0..count)
                .map(|k| xs[..whole].iter().skip(k).step_by(count).fold(start, |p, &x| self.g.binary(f, p, x)))
                .collect();
            while parts.len() > if count == MIN_REORDERED { count / 2 } else { 1 } {
                let half = parts.len() / 2;
                parts = (0..half).map(|k| self.g.binary(f, parts[k], parts[k + half])).collect();
            }
            all = match parts[..] {
                [one] => one,
                _ => parts.iter().fold(start, |all, &p| self.g.binary(f, all, p)),
            };
        }
        xs[whole..].iter().fold(all, |all, &x| self.g.binary(f, all, x))
    }
}
