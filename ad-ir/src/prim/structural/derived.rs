//! `derived`: one array of a derivative of a closed function that is a term of the same graph.
//!
//! The function is the body of a loop with one step, whose carried values are its active
//! parameters. Its results are the rows of that loop. So the body is closed, and only the carried
//! parameters are differentiated, whatever else the program differentiates.
//!
//! Only the front end makes this primitive, and `derivative::inner` replaces it before the first
//! pass. No pass, mode or emitter has a rule for it.

use super::{Batch, Example, Structural, shaped};
use crate::prim::build::{Build, Typed, Types, ensure};
use crate::term::{Elem, Term, Type};

/// How a derivative inside of a function is computed.
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Debug)]
pub enum Derivation {
    /// The transposed Jacobian, applied to a cotangent for each result. Part k belongs to active
    /// parameter k.
    Reverse,
    /// The Jacobian, applied to a tangent for each active parameter. Part k belongs to result k.
    Forward,
    /// The Jacobian. Part `k * results + r` is the block of active parameter k and result r: the
    /// axes of the result, then those of the parameter.
    Jacobian,
    /// The Hessian of the only result, applied to a direction for each active parameter. Part k
    /// belongs to active parameter k.
    HessianProduct,
    /// The Hessian of the only result. Part `k * active + r` is the block of active parameters k
    /// and r: the axes of r, then those of k.
    Hessian,
    /// The trace of the Hessian of the only result.
    Laplacian,
}

/// An array of a derivative.
#[derive(Clone, PartialEq, Eq, Hash, PartialOrd, Ord, Debug)]
pub struct DerivedPart {
    /// How the derivative is computed.
    pub derivation: Derivation,
    /// The number of results of the function.
    pub results: u32,
    /// The number of active parameters.
    pub active: u32,
    /// The index of the array among those of the derivative.
    pub part: u32,
    /// The type of its elements.
    pub elem: Elem,
}

impl DerivedPart {
    /// The number of tangents or cotangents that the derivative is applied to.
    #[must_use]
    pub fn seeds(&self) -> usize {
        let seeds = match self.derivation {
            Derivation::Reverse => self.results,
            Derivation::Forward | Derivation::HessianProduct => self.active,
            Derivation::Jacobian | Derivation::Hessian | Derivation::Laplacian => 0,
        };
        seeds as usize
    }
}

/// `[row..., seed..., size...]`: the rows of the loop, one for each result.
pub(super) struct Derived<'a>(pub(super) &'a DerivedPart);

impl Structural for Derived<'_> {
    fn name(&self) -> String {
        format!("derived_{:?}[{}]", self.0.derivation, self.0.part).to_lowercase()
    }

    fn data_args(&self, _args: usize) -> usize {
        self.0.results as usize + self.0.seeds()
    }

    fn infer(&self, g: &dyn Types, args: &[Term]) -> Typed {
        let data = self.data_args(args.len());
        ensure!(self.0.results > 0 && args.len() >= data, "a derivative has a row for each result, and all seeds");
        args.iter().try_for_each(|&t| g.array(t).map(|_| ()))?;
        let sizes = &args[data..];
        ensure!(sizes.iter().all(|&n| *g.ty(n) == Type::scalar(Elem::USIZE)), "a size is a usize scalar");
        shaped(self.0.elem, sizes.iter().copied())
    }

    fn batch(&self, _g: &mut dyn Build, _b: &Batch<'_>) -> Term {
        panic!("derivatives inside of a function are replaced before the bulk-operation transform")
    }

    fn cost(&self) -> Option<u32> {
        None
    }

    #[inline]
    fn examples() -> Vec<Example> {
        // It has no value of its own: it is replaced before a program is evaluated.
        Vec::new()
    }
}
