//! Differentiation by dual arrays (BOT sections 6 and 7): `dual` gives each real term its forward
//! derivative as a Delta term, `forward` applies Deltas to tangents, `transpose` applies their
//! transposes to cotangents. One Delta serves both.
//!
//! Terms given to this module have no `build` (the pass `bulk` has removed them). This
//! module never simplifies, and never examines what a whole function computes.

mod call;
mod delta;
mod derived;
mod dual;
mod forward;
mod residuals;
mod saved;
mod scan;
mod transpose;
mod undo;

use ad_ir::sorted::SortedMap;

use ad_ir::analysis::Analyses;
use ad_ir::ir::{Graph, Node, Term};

/// The derivative of some roots: one linear map, which can be applied any number of times, forwards
/// or transposed.
pub(super) struct DualArrays {
    dual: delta::Dual,
    wrt: Vec<u32>,
}

impl DualArrays {
    /// The derivative of `roots` with respect to the inputs `wrt`.
    pub(super) fn of(g: &mut Graph, roots: &[Term], wrt: &[u32]) -> Self {
        let roots = crate::passes::trip_counts::counted(g, roots, &[], (wrt, &mut Analyses::default())).0;
        DualArrays { dual: dual::dual(g, &roots, wrt), wrt: wrt.to_vec() }
    }
}

impl super::Derivative for DualArrays {
    fn values(&self) -> &[Term] {
        &self.dual.primal
    }

    fn wrt(&self) -> &[u32] {
        &self.wrt
    }

    fn with_saving_loops(&self, g: &mut Graph, others: &[Term]) -> Vec<Term> {
        self.dual.in_primal(g, others)
    }

    fn tangents(&self, g: &mut Graph, seeds: &[(u32, Term)]) -> Vec<Term> {
        let tangents = forward::apply(g, &self.dual, &|leaf| match leaf {
            delta::DeltaLeaf::Input(k) => seeds.iter().find(|s| s.0 == k).map(|s| s.1),
            delta::DeltaLeaf::Param(_) => None,
        });
        let roots = tangents.into_iter().zip(&self.dual.primal);
        roots.map(|(tangent, &root)| tangent.unwrap_or_else(|| g.zeros_like(root))).collect()
    }

    fn gradients(&self, g: &mut Graph, cotangents: &[Term]) -> Vec<Term> {
        let seeds: Vec<Option<Term>> = cotangents.iter().map(|&c| Some(c)).collect();
        let masked = vec![transpose::KnownZeros::None; seeds.len()];
        let found = transpose::transpose(g, &self.dual, &seeds, &masked, &SortedMap::new()).leaves;
        let gradient = |&k: &u32| match found.get(&delta::DeltaLeaf::Input(k)) {
            Some(ct) => ct.term,
            None => {
                let input = g.mk(Node::Input(k));
                g.zeros_like(input)
            }
        };
        self.wrt.iter().map(gradient).collect()
    }
}
