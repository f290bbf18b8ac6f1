//! Algorithms of differentiation behind one interface, [`Derivative`]: core terms in, core terms
//! with their derivative out. Nothing outside of this module names an algorithm: the front end
//! reads the name of the mode, the program stores the [`Mode`], and [`derivative`] dispatches on
//! it. `tests/common/modes.rs` runs the tests of meaning over [`Mode::ALL`].
//!
//! An algorithm must never simplify, nor know which option of the attribute the derivative is for.

mod as_loops;
mod chad;
pub(crate) mod condition;
pub(crate) mod cotangent;
mod dual_arrays;
mod fold;
mod forms;
pub(crate) mod linear;
mod one_hot;
mod operation;
mod partials;
mod saved;
mod unf;
pub mod unit_vectors;

use std::collections::HashMap;

use ad_ir::analysis::once;
use ad_ir::analysis::sizes::Sizes;
use ad_ir::ir::{Graph, Term};
use ad_ir::mode::Mode;
pub use ad_ir::mode::Refusal;

use crate::passes::rewrite::Rewriter;

/// The derivative of some terms, the *roots*, with respect to some inputs: one linear map, which
/// the caller may apply any number of times, to tangents and, transposed, to cotangents. The
/// interface does not say how the map is represented. The roots have no builds, unless the
/// algorithm takes builds ([`takes_builds`]). An implementation overrides at least one of
/// `tangents` and `gradients`, and inherits the other by [`unit_vectors`].
///
/// Every algorithm has these properties:
///
/// - [`Derivative::values`] have the types, the values and the decisions of the roots;
/// - `<u, J v> = <J' u, v>`, up to rounding;
/// - a cotangent of zero contributes zero, even if it is multiplied by a NaN or an infinity of a
///   branch that was not taken;
/// - its output has no build if its roots have none, so that later passes accept it.
pub trait Derivative {
    /// The primal roots. Their loops may have residuals as additional results.
    fn values(&self) -> &[Term];

    /// The inputs that the roots are differentiated with respect to.
    fn wrt(&self) -> &[u32];

    /// Other terms of the function, rewritten to read the loops of [`values`](Self::values). The
    /// original loops save nothing and are not run. So a check that accompanies a derivative runs
    /// no loop twice.
    fn with_saving_loops(&self, g: &mut Graph, others: &[Term]) -> Vec<Term>;

    /// The tangents of the roots, given those of inputs. An input without one has tangent zero. The
    /// tangent of a root that is not real is itself.
    fn tangents(&self, g: &mut Graph, seeds: &[(u32, Term)]) -> Vec<Term> {
        unit_vectors::tangents(self, g, seeds)
    }

    /// The gradients of `<roots, cotangents>`, in the order of the inputs. Cotangents of roots that
    /// are not real are ignored.
    fn gradients(&self, g: &mut Graph, cotangents: &[Term]) -> Vec<Term> {
        unit_vectors::gradients(self, g, cotangents)
    }
}

/// The derivative of `roots` with respect to the inputs `wrt`, by the algorithm `mode`.
#[must_use]
pub fn derivative(mode: Mode, g: &mut Graph, roots: &[Term], wrt: &[u32]) -> Box<dyn Derivative> {
    match mode {
        Mode::DualArrays => Box::new(dual_arrays::DualArrays::of(g, roots, wrt)),
        Mode::Unf => {
            let (derivative, refused) = unf::Unf::of(g, roots, wrt);
            // A term that is not supported would count as a constant.
            assert!(refused.is_empty(), "the mode does not support {refused:?}, which `refused` reports");
            Box::new(derivative)
        }
        Mode::Chad => {
            let (derivative, refused) = chad::Chad::of(g, roots, wrt);
            assert!(refused.is_empty(), "the mode does not support {refused:?}, which `refused` reports");
            Box::new(derivative)
        }
    }
}

/// The terms of the roots that an algorithm does not support, each with the reason.
#[must_use]
pub fn refused(mode: Mode, g: &mut Graph, roots: &[Term], wrt: &[u32]) -> Vec<(Term, Refusal)> {
    match mode {
        Mode::DualArrays => Vec::new(),
        Mode::Unf => unf::Unf::of(g, roots, wrt).1,
        Mode::Chad => chad::Chad::of(g, roots, wrt).1,
    }
}

/// The form that an algorithm gives the roots before it differentiates them: its name, and a text
/// in the notation of its paper. `None` if they stay as they are.
#[must_use]
pub fn own_form(mode: Mode, g: &mut Graph, roots: &[Term], wrt: &[u32]) -> Option<(&'static str, String)> {
    match mode {
        Mode::DualArrays => None,
        Mode::Unf => Some(("unary normal form", unf::shown(g, roots, wrt))),
        Mode::Chad => Some(("pairs of values and linear functions", chad::shown(g, roots, wrt))),
    }
}

/// Whether an algorithm works on terms with builds. The passes that eliminate builds then run on
/// the derivative, and not on the function before.
#[must_use]
pub fn takes_builds(mode: Mode) -> bool {
    match mode {
        Mode::DualArrays => false,
        Mode::Unf | Mode::Chad => true,
    }
}

/// Other terms of a function, rewritten to read these terms in place of those that they stand for.
fn reading(g: &mut Graph, others: &[Term], loops: &HashMap<Term, Term>) -> Vec<Term> {
    // Sizes are parts of types, so their terms do not change.
    let fixed = once::<Sizes>(g, others);
    Rewriter::new(&fixed).run(g, others, |_, t, _| loops.get(&t).copied())
}

/// The rewritten roots and their tangents, given tangents of inputs.
pub fn forward(mode: Mode, g: &mut Graph, roots: &[Term], seeds: &[(u32, Term)]) -> (Vec<Term>, Vec<Term>) {
    let active: Vec<u32> = seeds.iter().map(|s| s.0).collect();
    let derivative = derivative(mode, g, roots, &active);
    let tangents = derivative.tangents(g, seeds);
    (derivative.values().to_vec(), tangents)
}

/// The rewritten roots, and the gradients of `<roots, cotangents>` with respect to the inputs `wrt`
/// (BOT Fig. 21).
pub fn reverse(mode: Mode, g: &mut Graph, roots: &[Term], cotangents: &[Term], wrt: &[u32]) -> (Vec<Term>, Vec<Term>) {
    let derivative = derivative(mode, g, roots, wrt);
    let gradients = derivative.gradients(g, cotangents);
    (derivative.values().to_vec(), gradients)
}
