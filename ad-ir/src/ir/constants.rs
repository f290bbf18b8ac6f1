//! Constants: literals, and arrays whose elements are all the same literal. This module must never
//! fold an operation.

use super::{Elem, Graph, IntTy, Lit, Node, RealTy, Term, Type};

impl Graph {
    /// A scalar constant.
    pub fn lit(&mut self, lit: Lit) -> Term {
        self.mk(Node::Lit(lit))
    }

    /// The number 0 or `false`.
    pub fn zero(&mut self, elem: Elem) -> Term {
        self.lit(Lit::zero(elem))
    }

    /// A `usize` constant.
    pub fn lit_usize(&mut self, n: usize) -> Term {
        self.lit(Lit::Int(IntTy::Usize, i128::try_from(n).unwrap_or(i128::MAX)))
    }

    /// A boolean constant.
    pub fn lit_bool(&mut self, b: bool) -> Term {
        self.lit(Lit::Bool(b))
    }

    /// A real constant of type `ty`.
    pub fn lit_real(&mut self, ty: RealTy, x: f64) -> Term {
        // All NaNs become one, so that equal programs are equal terms.
        let x = if x.is_nan() { f64::NAN } else { x };
        self.lit(Lit::Real(ty, x.to_bits()))
    }

    /// The constant x in the element type and shape of `t`.
    pub fn lit_like(&mut self, t: Term, x: f64) -> Term {
        let elem = self.elem(t);
        let shape = self.shape(t).to_vec();
        self.lit_shaped(elem, &shape, x)
    }

    /// An array of this type and shape filled with the constant x.
    ///
    /// # Panics
    /// If the element type is not real.
    pub fn lit_shaped(&mut self, elem: Elem, shape: &[Term], x: f64) -> Term {
        match elem {
            Elem::Real(ty) => {
                let lit = self.lit_real(ty, x);
                self.broadcast(lit, shape)
            }
            _ => panic!("a real constant of type {elem:?}"),
        }
    }

    /// Zeros of the type of `t`. A component of a tuple that is not real is taken from `t`.
    pub fn zeros_like(&mut self, t: Term) -> Term {
        match self.ty(t).clone() {
            Type::Array(Elem::Real(_), _) => self.lit_like(t, 0.0),
            Type::Array(..) => t,
            Type::Tuple(parts) => {
                let zeros: Vec<Term> = (0..parts.len())
                    .map(|k| {
                        let part = self.proj(t, k);
                        self.zeros_like(part)
                    })
                    .collect();
                self.tuple(&zeros)
            }
        }
    }

    /// Zeros of the type of an array, whatever the type of its elements is.
    pub fn zeros_of_any(&mut self, array: Term) -> Term {
        let zero = self.zero(self.elem(array));
        let shape = self.shape(array).to_vec();
        self.broadcast(zero, &shape)
    }
}
