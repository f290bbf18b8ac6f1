//! The discrete Fourier transform along the last axis. A complex vector is two rows of reals: the
//! real and the imaginary parts. As a map of real numbers the transform is
//!
//! ```text
//! [y_re]   [ C  S] [x_re]
//! [y_im] = [-S  C] [x_im]      C = cos(2 pi j k / n), S = sin(2 pi j k / n)
//! ```
//!
//! C and S are symmetric. So the transpose of this matrix is the transform with the other sign of
//! the exponent. No transform divides by n: the front end does that for the inverse.

use super::{Applied, Batch, Example, LinearMap, Sample, Structural, arity};
use crate::prim::Prim;
use crate::prim::build::{Build, Typed, Types, ensure};
use crate::term::Term;

/// The transform. The flag says whether the exponent is positive, as in the inverse.
pub(super) struct Fourier(pub(super) bool);

impl Structural for Fourier {
    fn name(&self) -> String {
        if self.0 { "fourier_back".into() } else { "fourier".into() }
    }

    fn infer(&self, g: &dyn Types, args: &[Term]) -> Typed {
        arity(&self.name(), args, 1)?;
        let (elem, shape) = g.array(args[0])?;
        let two = shape.len().checked_sub(2).is_some_and(|k| g.int_value(shape[k]) == Some(2));
        ensure!(elem.is_real() && two, "{} of a term that is not a pair of rows", self.name());
        Ok(g.ty(args[0]).clone())
    }

    fn batch(&self, g: &mut dyn Build, b: &Batch<'_>) -> Term {
        g.raw(Prim::Fourier(self.0), b.lifted)
    }

    fn linear(&self, _g: &dyn Types, _args: &[Term], _k: usize) -> Option<LinearMap> {
        let applied = |back| Applied { prim: Prim::Fourier(back), rest: Vec::new() };
        Some(LinearMap { forward: applied(self.0), backward: applied(!self.0), unread: false })
    }

    fn cost(&self) -> Option<u32> {
        None
    }

    fn is_expensive(&self) -> bool {
        true
    }

    fn kernel(&self) -> Option<&'static str> {
        Some(if self.0 { "fourier_back" } else { "fourier" })
    }

    #[inline]
    fn examples() -> Vec<Example> {
        // 1, 2, 0, -1 in the real parts, and one imaginary part.
        const X: Sample = Sample::Reals(&[2, 4], &[1.0, 2.0, 0.0, -1.0, 0.0, 1.0, 0.0, 0.0]);
        let of = |back, result| Example { prim: Prim::Fourier(back), args: vec![X], result };
        vec![
            of(false, Sample::Reals(&[2, 4], &[2.0, 2.0, 0.0, 0.0, 1.0, -3.0, -1.0, 3.0])),
            of(true, Sample::Reals(&[2, 4], &[2.0, 0.0, 0.0, 2.0, 1.0, 3.0, -1.0, -3.0])),
        ]
    }
}
