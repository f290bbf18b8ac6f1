//! Algorithms of differentiation, as peers behind one contract. An algorithm takes terms without builds and calls (the
//! *roots*) and the inputs with respect to which they are differentiated, and gives their derivative: one linear map,
//! which may be applied as often as one likes, forwards to tangents and transposed to cotangents ([`Derivative`]).
//!
//! What every algorithm has to keep:
//!
//! - the roots' values are the terms themselves, of the same types, with the same decisions;
//! - `<u, J v> = <J' u, v>`, up to rounding;
//! - a cotangent of zero contributes zero, NaN and infinities of arms that were not taken included;
//! - it does not simplify, and does not know which option the derivative is for.
//!
//! An algorithm is a folder here and a line of [`Mode`]; nothing else names it.

pub mod dual_arrays;

use crate::ir::{Graph, Term};

/// The derivative of some roots by some inputs.
pub trait Derivative {
    /// The roots again; loops among them now save what the derivative reads.
    fn values(&self) -> &[Term];

    /// Other terms, which read the loops that save what the derivative reads instead of the same loops without.
    fn beside(&self, g: &mut Graph, others: &[Term]) -> Vec<Term>;

    /// The tangents of the roots, given those of inputs; an input without one has tangent zero. The tangent of a root that
    /// is not real is itself.
    fn tangents(&self, g: &mut Graph, seeds: &[(u32, Term)]) -> Vec<Term>;

    /// The gradients of `<roots, cotangents>`, in the order of the inputs. Cotangents of roots that are not real are not
    /// looked at.
    fn gradients(&self, g: &mut Graph, cotangents: &[Term]) -> Vec<Term>;
}

/// An algorithm of differentiation.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum Mode {
    /// Dual arrays (BOT sections 6 and 7).
    #[default]
    DualArrays,
}

impl Mode {
    /// Every algorithm that is built.
    pub const ALL: &[Mode] = &[Mode::DualArrays];

    /// Its name in `mode = ".."`.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Mode::DualArrays => "dual_arrays",
        }
    }

    /// The derivative of `roots` with respect to the inputs `wrt`.
    #[must_use]
    pub fn derivative(self, g: &mut Graph, roots: &[Term], wrt: &[u32]) -> Box<dyn Derivative> {
        match self {
            Mode::DualArrays => Box::new(dual_arrays::Derivative::of(g, roots, wrt)),
        }
    }

    /// The roots again, and their tangents, given tangents of inputs.
    pub fn forward(self, g: &mut Graph, roots: &[Term], seeds: &[(u32, Term)]) -> (Vec<Term>, Vec<Term>) {
        let active: Vec<u32> = seeds.iter().map(|s| s.0).collect();
        let derivative = self.derivative(g, roots, &active);
        let tangents = derivative.tangents(g, seeds);
        (derivative.values().to_vec(), tangents)
    }

    /// The roots again, and the gradients of `<roots, cotangents>` with respect to the inputs `wrt` (BOT Fig. 21).
    pub fn reverse(self, g: &mut Graph, roots: &[Term], cotangents: &[Term], wrt: &[u32]) -> (Vec<Term>, Vec<Term>) {
        let derivative = self.derivative(g, roots, wrt);
        let gradients = derivative.gradients(g, cotangents);
        (derivative.values().to_vec(), gradients)
    }
}
