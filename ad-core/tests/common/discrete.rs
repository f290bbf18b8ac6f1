//! Integer and boolean terms of the generator, and guarded reads. Indices may be out of range here,
//! so every read is guarded.

use ad_core::ir::{Elem, IntTy, Node, Term, Var};
use ad_core::prim::{Cmp, IntOp, Prim, Reduce};

use super::r#gen::{Env, Gen};

impl Gen {
    /// An integer array.
    pub fn int(&mut self, env: &mut Env, ty: IntTy, shape: &[Term]) -> Term {
        if self.fuel == 0 {
            return self.int_leaf(env, ty, shape);
        }
        self.fuel -= 1;
        let t = match self.rng.below(12) {
            0..=2 => {
                // The most common types are listed more often.
                let op = if self.rng.chance(30) { IntOp::Add } else { self.rng.pick(IntOp::ALL) };
                let (a, b) = (self.int(env, ty, shape), self.int(env, ty, shape));
                self.g.int(op, a, b)
            }
            3 => {
                let other = self.rng.pick(&[IntTy::Usize, IntTy::I64, IntTy::I32, IntTy::U8, IntTy::U32, IntTy::Isize]);
                let x = self.int(env, other, shape);
                self.g.cast(Elem::Int(ty), x)
            }
            4 => {
                let b = self.bool(env, shape);
                self.g.cast(Elem::Int(ty), b)
            }
            5 => {
                let x = self.real(env, shape);
                self.g.cast(Elem::Int(ty), x)
            }
            6 => {
                let (m, a, b) = (self.bool(env, shape), self.int(env, ty, shape), self.int(env, ty, shape));
                self.g.select(m, a, b)
            }
            7 => {
                let (c, a, b) = (self.bool(env, &[]), self.int(env, ty, shape), self.int(env, ty, shape));
                self.g.cond(c, a, b)
            }
            8 if ty == IntTy::Usize => self.arg_extremum(env, shape),
            8 if ty == IntTy::I64 => {
                let x = self.real(env, shape);
                self.g.prim(Prim::TotalOrder, &[x])
            }
            8 => {
                let x = self.int(env, ty, shape);
                self.g.prim(Prim::IntNeg, &[x])
            }
            9 if shape.len() == 1 && ty == IntTy::Usize => self.positions(env, shape[0]),
            9 if shape.len() < 3 => {
                // A sum or an extremum of integers over an axis.
                let n = self.rng.pick(&self.sizes);
                let larger: Vec<Term> = shape.iter().copied().chain([n]).collect();
                let x = self.int(env, ty, &larger);
                match self.rng.below(3) {
                    0 => self.g.sum_axes(x, &[shape.len() as u8]),
                    1 => self.g.reduce(Reduce::Max, 1, x),
                    _ => self.g.reduce(Reduce::Min, 1, x),
                }
            }
            10 if !shape.is_empty() && env.nest > 0 => {
                let (n, rest) = (shape[0], shape[1..].to_vec());
                self.build(env, n, |s, env| s.int(env, ty, &rest))
            }
            _ => self.int_leaf(env, ty, shape),
        };
        env.pool.push(t);
        t
    }

    /// Positions of elements, in a vector, in rows of 0, 1, 2, .. elements, or in an order.
    fn positions(&mut self, env: &mut Env, n: Term) -> Term {
        let all = self.g.iota(n);
        match env.pool.len() % 5 {
            0 => self.g.prim(Prim::RowIndex(false), &[all, n]),
            1 => self.g.prim(Prim::RowIndex(true), &[all, n]),
            k @ (2 | 3) => {
                let ty = self.rng.pick(&[IntTy::Usize, IntTy::I64, IntTy::U8]);
                let keys = self.int(env, ty, &[n]);
                let (one, len) = (self.g.lit_usize(1), self.int(env, IntTy::Usize, &[]));
                let lens = self.g.replicate(one, len);
                self.g.prim(Prim::Argsort(k == 3), &[lens, keys])
            }
            _ => all,
        }
    }

    fn int_leaf(&mut self, env: &mut Env, ty: IntTy, shape: &[Term]) -> Term {
        let elem = Elem::Int(ty);
        if let Some(t) = self.known(env, elem, shape) {
            return t;
        }
        if shape.is_empty() && ty == IntTy::Usize {
            if !env.vars.is_empty() && self.rng.chance(80) {
                let v = self.rng.pick(&env.vars).0;
                // An index near the variable, for stencils. It may be out of range at the ends.
                let one = self.g.lit_usize(1);
                return match self.rng.below(4) {
                    0 => self.g.int(IntOp::Add, v, one),
                    1 => self.g.int(IntOp::Sub, v, one),
                    _ => v,
                };
            }
            if self.rng.chance(30) {
                return self.rng.pick(&self.sizes);
            }
        }
        let n = self.rng.below(5) as i128;
        let t = self.g.lit(ad_core::ir::Lit::Int(ty, n));
        self.g.broadcast(t, shape)
    }

    fn arg_extremum(&mut self, env: &mut Env, shape: &[Term]) -> Term {
        let more = 1 + self.rng.below(2);
        let larger: Vec<Term> = shape.iter().copied().chain(self.shape(more)).collect();
        if self.count(&larger) > 64 {
            return self.int_leaf(env, IntTy::Usize, shape);
        }
        let x = self.real(env, &larger);
        let op = self.rng.pick(&[Reduce::ArgMax, Reduce::ArgMin]);
        self.g.reduce(op, more, x)
    }

    /// A boolean array.
    pub fn bool(&mut self, env: &mut Env, shape: &[Term]) -> Term {
        let known = self.in_scope(env, Elem::Bool, shape, Some(0));
        if self.fuel == 0 && !known.is_empty() {
            return self.rng.pick(&known);
        }
        let comparison = self.rng.pick(&[Cmp::Eq, Cmp::Ne, Cmp::Lt, Cmp::Le, Cmp::Gt, Cmp::Ge]);
        if self.fuel == 0 {
            let (a, b) = (self.int_leaf(env, IntTy::Usize, shape), self.int_leaf(env, IntTy::Usize, shape));
            return self.g.compare(comparison, a, b);
        }
        self.fuel -= 1;
        let t = match self.rng.below(10) {
            0..=2 => {
                let (a, b) = (self.int(env, IntTy::Usize, shape), self.int(env, IntTy::Usize, shape));
                self.g.compare(comparison, a, b)
            }
            3..=4 => {
                // Rounding errors make equality of reals arbitrary.
                let op = self.rng.pick(&[Cmp::Lt, Cmp::Le, Cmp::Gt, Cmp::Ge]);
                let (a, b) = (self.real(env, shape), self.real(env, shape));
                self.g.compare(op, a, b)
            }
            5 => {
                let a = self.bool(env, shape);
                self.g.not(a)
            }
            6 => {
                let (a, b) = (self.bool(env, shape), self.bool(env, shape));
                self.g.and(a, b)
            }
            7 => {
                let (a, b) = (self.bool(env, shape), self.bool(env, shape));
                self.g.or(a, b)
            }
            8 if shape.len() < 3 => {
                let n = self.rng.pick(&self.sizes);
                let larger: Vec<Term> = shape.iter().copied().chain([n]).collect();
                let x = self.bool(env, &larger);
                let op = self.rng.pick(&[Reduce::All, Reduce::Any]);
                self.g.reduce(op, 1, x)
            }
            _ if !shape.is_empty() && env.nest > 0 => {
                let (n, rest) = (shape[0], shape[1..].to_vec());
                self.build(env, n, |s, env| s.bool(env, &rest))
            }
            _ => {
                let (m, a, b) = (self.bool(env, shape), self.bool(env, shape), self.bool(env, shape));
                self.g.select(m, a, b)
            }
        };
        env.pool.push(t);
        t
    }

    /// An existing value of this type: a term in scope, or an element of one at index variables
    /// (which are in range by their sizes).
    pub fn known(&mut self, env: &Env, elem: Elem, shape: &[Term]) -> Option<Term> {
        let mut found = Vec::new();
        for t in self.in_scope(env, elem, shape, None) {
            let leading = self.g.rank(t) - shape.len();
            let sizes = self.g.shape(t)[..leading].to_vec();
            let index: Option<Vec<Term>> = sizes
                .iter()
                .map(|n| {
                    let fitting: Vec<Term> = env.vars.iter().filter(|(_, m)| m == n).map(|(v, _)| *v).collect();
                    if fitting.is_empty() { None } else { Some(self.rng.pick(&fitting)) }
                })
                .collect();
            found.extend(index.map(|index| (t, index)));
        }
        // Terms that mention an index variable come first, so that the body depends on its index.
        let lively: Vec<(Term, Vec<Term>)> =
            found.iter().filter(|(t, index)| !index.is_empty() || !self.g.free(*t).is_empty()).cloned().collect();
        let from = if !lively.is_empty() && self.rng.chance(80) { lively } else { found };
        if from.is_empty() {
            return None;
        }
        let (t, index) = self.rng.pick(&from);
        Some(self.g.index(t, &index))
    }

    /// A boolean scalar: every index is in range of its size.
    pub fn in_range(&mut self, index: &[Term], sizes: &[Term]) -> Term {
        let mut ok = self.g.lit_bool(true);
        for (&i, &n) in index.iter().zip(sizes) {
            let c = self.g.compare(Cmp::Lt, i, n);
            ok = self.g.and(ok, c);
        }
        ok
    }

    /// Index terms for the leading axes of an array. They may be any integers.
    pub fn indices(&mut self, env: &mut Env, n: usize) -> Vec<Term> {
        (0..n)
            .map(|_| {
                self.fuel = self.fuel.saturating_sub(1);
                if self.rng.chance(30) {
                    self.int(env, IntTy::Usize, &[])
                } else {
                    self.int_leaf(env, IntTy::Usize, &[])
                }
            })
            .collect()
    }

    /// Adds variables with these sizes to a copy of the environment.
    pub fn over(&mut self, env: &Env, sizes: &[Term]) -> (Vec<Var>, Env) {
        let mut inner = env.clone();
        let vars: Vec<Var> = sizes.iter().map(|_| self.g.fresh()).collect();
        for (&var, &n) in vars.iter().zip(sizes) {
            let v = self.g.mk(Node::Var(var));
            inner.vars.push((v, n));
        }
        (vars, inner)
    }
}
