//! The operands of a loop that has ring buffers. A ring buffer is an array and an offset, and a
//! consumed one is captured.

use super::{Ring, pass};
use crate::passes::Context;
use crate::passes::rewrite::Rewriter;
use ad_ir::ir::{Body, Elem, Graph, Scan, Term, Type};

/// The kinds of operands of a loop.
pub(super) const CARRIED: usize = 0;
pub(super) const CAPTURED: usize = 1;
pub(super) const CONSUMED: usize = 2;

/// The operands of a new loop.
#[derive(Default)]
pub(super) struct NewOperands {
    /// The parameters of each kind.
    pub(super) params: [New; 3],
    /// The offsets of ring buffers. They come last among the carried values and the captures.
    offsets: [New; 2],
    /// The number of the step, if it is consumed.
    step: Option<Term>,
}

impl NewOperands {
    /// Parameters for a ring buffer of this kind.
    pub(super) fn ring(&mut self, g: &mut Graph, kind: usize, Ring { array, offset, wraps }: Ring) -> Ring {
        let whole = g.ty(array).clone();
        let array = self.params[kind].param(g, array, whole);
        let offset = self.offsets[kind].param(g, offset, Type::scalar(Elem::USIZE));
        Ring { array, offset, wraps }
    }

    /// The row of a consumed ring buffer that a step reads. The loop captures the ring buffer.
    pub(super) fn row(&mut self, g: &mut Graph, scan: &Scan, ring: Ring) -> Term {
        let ring = self.ring(g, CAPTURED, ring);
        let step = *self.step.get_or_insert_with(|| {
            let all = g.iota(scan.count);
            self.params[CONSUMED].param(g, all, Type::scalar(Elem::USIZE))
        });
        let at = ring.at(g, step);
        g.index(ring.array, &[at])
    }

    /// The loop with these operands and results.
    pub(super) fn close(self, g: &mut Graph, scan: &Scan, results: &[Term], cx: &mut Context) -> Term {
        let mut new = self.params;
        for (params, offsets) in new.iter_mut().zip(self.offsets) {
            params.0.extend(offsets.0);
        }
        let mut close = Rewriter::default();
        let mut params = Vec::new();
        for &(placeholder, _) in new.iter().flat_map(|new| &new.0) {
            let ty = g.ty(placeholder).clone();
            let param = g.param(params.len(), ty.clone());
            close.set(placeholder, param);
            params.push(ty);
        }
        let results = close.substitute(g, results);
        let results = pass(g, &results, cx).into();
        let [init, captures, xs] = new.map(|new| new.0.into_iter().map(|p| p.1).collect());
        g.scan(Scan {
            count: scan.count,
            reverse: scan.reverse,
            stop: scan.stop,
            init,
            captures,
            xs,
            body: Body { params: params.into(), results },
        })
    }
}

/// Parameters of a new body, each with its argument. They are placeholders until their numbers are
/// known.
#[derive(Default)]
pub(super) struct New(Vec<(Term, Term)>);

impl New {
    pub(super) fn param(&mut self, g: &mut Graph, of: Term, ty: Type) -> Term {
        let placeholder = g.placeholder(ty);
        self.0.push((placeholder, of));
        placeholder
    }
}
