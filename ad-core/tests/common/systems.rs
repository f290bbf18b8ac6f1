//! Linear algebra of the generator: factorisations and systems of matrices that are far from
//! singular. The diagonal is 1, 2, .., and the other elements are small, so eigenvalues are apart.

use ad_core::ir::{Elem, Node, Term};
use ad_core::prim::structural::{Factorisation, Triangle};
use ad_core::prim::{Cmp, IntOp, Prim, Unary};

use super::r#gen::{Env, Gen};

impl Gen {
    /// An array of this shape, which has an axis: the solution of a system, or a part of a
    /// factorisation.
    pub fn linear_algebra(&mut self, env: &mut Env, shape: &[Term]) -> Term {
        let n = shape[0];
        let a = self.regular(env, n);
        if shape.len() == 1 && self.rng.chance(50) {
            return self.of_factorisation(a, n);
        }
        let b = self.real(env, shape);
        let transposed = self.rng.chance(50);
        if self.rng.chance(50) {
            let packed = self.factorisation(Factorisation::Lu, a, n);
            if self.rng.chance(25) {
                let one = self.lit_size(1);
                let made = self.g.prim(Prim::LogDet, &[a, packed, one]);
                let none = self.lit_size(0);
                let number = self.g.index(made, &[none]);
                let number = self.g.broadcast(number, shape);
                return self.g.mul(number, b);
            }
            return self.g.prim(Prim::LuSolve(transposed), &[b, a, packed]);
        }
        let square = shape.len() == 2 && shape[1] == n;
        if square && self.rng.chance(50) {
            return self.g.prim(Prim::CholeskyChange(transposed), &[b, a]);
        }
        let upper = self.rng.chance(50);
        self.g.prim(Prim::TriangularSolve(Triangle { upper, transposed }), &[b, a])
    }

    fn regular(&mut self, env: &mut Env, n: Term) -> Term {
        let x = self.real(env, &[n, n]);
        let x = self.g.unary(Unary::Tanh, x);
        let small = self.g.lit_like(x, 0.05);
        let x = self.g.mul(x, small);
        let iota = self.g.iota(n);
        let (rows, columns) = (self.g.replicate_axes(iota, &[1], &[n]), self.g.replicate_axes(iota, &[0], &[n]));
        let on_diagonal = self.g.compare(Cmp::Eq, rows, columns);
        let one = self.g.lit_like(x, 1.0);
        let number = self.g.cast(Elem::F64, rows);
        let number = self.g.add(number, one);
        let zero = self.g.lit_like(x, 0.0);
        let diagonal = self.g.select(on_diagonal, number, zero);
        self.g.add(x, diagonal)
    }

    fn factorisation(&mut self, kind: Factorisation, a: Term, n: Term) -> Term {
        let more = match kind {
            Factorisation::Cholesky => self.lit_size(0),
            Factorisation::Lu => self.lit_size(3),
            Factorisation::Qr => n,
            Factorisation::Eigh => self.lit_size(1),
        };
        let rows = self.size_op(IntOp::Add, n, more);
        self.g.prim(Prim::Factor(kind), &[a, rows])
    }

    /// The diagonal of a factor, or the eigenvalues.
    fn of_factorisation(&mut self, a: Term, n: Term) -> Term {
        let kinds = [Factorisation::Cholesky, Factorisation::Lu, Factorisation::Qr, Factorisation::Eigh];
        let kind = self.rng.pick(&kinds);
        let packed = self.factorisation(kind, a, n);
        let var = self.g.fresh();
        let i = self.g.mk(Node::Var(var));
        let row = match kind {
            Factorisation::Qr => self.g.int(IntOp::Add, n, i),
            Factorisation::Eigh => self.g.lit_usize(0),
            _ => i,
        };
        self.g.gather(packed, [n].into(), &[var], &[row, i])
    }
}
