//! Random well-typed programs, created through the graph's builders from a seed and a size.
//!
//! Every program is *defined*: an operation that may be out of range, or outside of the domain of a
//! partial function, is guarded (by a lazy conditional, or by an elementwise selection of the other
//! operand). So the interpreter's value of the source is finite, and every stage has to preserve
//! that. Sizes are between 0 and 4. Several symbols have equal values.

use std::collections::HashMap;

use ad_core::ir::{Body, Elem, Graph, IntTy, RealTy, Term, Type};
use ad_core::prim::IntOp;
use ad_oracle::interp::Value;

use super::rng::Rng;

/// A program with values for its inputs.
pub struct Case {
    pub g: Graph,
    /// Real arrays.
    pub roots: Vec<Term>,
    pub inputs: Vec<Value>,
    /// The inputs for which derivatives are taken: all real ones.
    pub active: Vec<u32>,
}

/// The terms that a term under construction may use.
#[derive(Clone)]
pub struct Env {
    /// The terms in scope. Using one again creates sharing.
    pub pool: Vec<Term>,
    /// Index variables in scope, with the size that bounds them.
    pub vars: Vec<(Term, Term)>,
    /// The number of builds and loops that may still be nested.
    pub nest: usize,
    /// Functions that may be called here.
    pub calls: usize,
}

/// The generator's state.
pub struct Gen {
    pub g: Graph,
    pub rng: Rng,
    /// The number of forms that may still be created. Leaves are not counted.
    pub fuel: usize,
    /// The sizes to choose from.
    pub sizes: Vec<Term>,
    /// The values of the sizes, also of derived ones.
    pub values: HashMap<Term, usize>,
    /// The bodies of functions. A call is a copy of the body with the arguments in it.
    pub functions: Vec<Body>,
    /// Whether all sizes are literals, as for arrays of static size. This holds for every fourth
    /// seed.
    pub fixed: bool,
}

/// The program of this seed and size.
pub fn case(seed: u64, size: usize) -> Case {
    let (mut s, inputs, active, pool) = begin(seed, seed % 4 == 3);
    for k in 0..s.rng.below(3) {
        s.fuel = 1 + size / 3;
        s.function(k);
    }
    let roots = s.roots(pool, size);
    Case { g: s.g, roots, inputs, active }
}

/// The same program (one without calls) created twice in one graph, with other fresh variables, and
/// with terms of another program in between.
pub fn twice(seed: u64, size: usize) -> (Graph, Vec<Term>, Vec<Term>) {
    let (mut s, _, _, pool) = begin(seed, false);
    let state = (s.rng.clone(), s.sizes.clone(), s.values.clone());
    let first = s.roots(pool.clone(), size);
    s.roots(pool.clone(), size / 2);
    (s.rng, s.sizes, s.values) = state;
    let second = s.roots(pool, size);
    (s.g, first, second)
}

fn begin(seed: u64, fixed: bool) -> (Gen, Vec<Value>, Vec<u32>, Vec<Term>) {
    let mut s = Gen {
        g: Graph::new(),
        rng: Rng::new(seed),
        fuel: 0,
        sizes: Vec::new(),
        values: HashMap::new(),
        functions: Vec::new(),
        fixed,
    };
    // An additional term comes first, so that the handles of a program differ from seed to seed. So
    // no test can depend on them.
    let odd = s.rng.below(1000);
    s.g.lit_usize(100 + odd);
    let (mut inputs, mut active, mut pool) = (Vec::new(), Vec::new(), Vec::new());
    s.inputs(&mut inputs, &mut active, &mut pool);
    (s, inputs, active, pool)
}

impl Gen {
    fn roots(&mut self, pool: Vec<Term>, size: usize) -> Vec<Term> {
        self.fuel = size;
        let mut env = Env { pool, vars: Vec::new(), nest: 3, calls: self.functions.len() };
        let mut roots = Vec::new();
        for _ in 0..1 + self.rng.below(2) {
            let rank = self.rng.below(3);
            let shape = self.shape(rank);
            let root = self.real(&mut env, &shape);
            roots.push(root);
            self.fuel += size / 3;
        }
        roots
    }

    fn inputs(&mut self, inputs: &mut Vec<Value>, active: &mut Vec<u32>, pool: &mut Vec<Term>) {
        for n in [1, 2, 3] {
            let t = self.g.lit_usize(n);
            self.size(t, n);
        }
        let kinds: [(Elem, &[usize]); 8] = [
            (Elem::F64, &[0]),
            (Elem::F64, &[1]),
            (Elem::F64, &[2]),
            (Elem::F64, &[1, 2, 3]),
            (Elem::Real(RealTy::F32), &[0, 1]),
            (Elem::USIZE, &[1]),
            (Elem::Int(IntTy::I64), &[0, 1]),
            (Elem::Bool, &[0, 1]),
        ];
        for (elem, ranks) in kinds {
            if elem == Elem::Real(RealTy::F32) && self.rng.chance(70) {
                // Most programs have one precision, so that results can be compared closely.
                continue;
            }
            let rank = self.rng.pick(ranks);
            let old = !self.sizes.is_empty() && self.rng.chance(30);
            let t = if old {
                let shape = self.shape(rank);
                self.g.add_input_shaped(elem, shape)
            } else if self.fixed {
                let shape: Vec<Term> = (0..rank)
                    .map(|_| {
                        let n = self.rng.pick(&[0, 1, 2, 2, 3, 3, 3, 4, 4]);
                        let size = self.g.lit_usize(n);
                        self.size(size, n);
                        size
                    })
                    .collect();
                self.g.add_input_shaped(elem, shape)
            } else {
                let t = self.g.add_input(elem, rank as u8);
                for axis in 0..rank {
                    // Zero is rarer than other constants, since it makes the terms that use it
                    // trivial.
                    let n = self.rng.pick(&[0, 1, 2, 2, 3, 3, 3, 4, 4]);
                    let size = self.g.shape(t)[axis];
                    self.size(size, n);
                }
                t
            };
            let shape: Vec<usize> = self.g.shape(t).iter().map(|n| self.values[n]).collect();
            let n: usize = shape.iter().product();
            let number = u32::try_from(inputs.len()).unwrap();
            inputs.push(match elem {
                Elem::Real(_) => {
                    active.push(number);
                    let xs: Vec<f64> = (0..n).map(|_| self.rng.real()).collect();
                    Value::reals(&shape, &xs)
                }
                Elem::Int(ty) => {
                    // Some of these indices are out of range of every size.
                    let low = if ty == IntTy::Usize { 0 } else { -2 };
                    let xs: Vec<i128> = (0..n).map(|_| low + self.rng.below(6) as i128).collect();
                    Value::ints(ty, &shape, &xs)
                }
                Elem::Bool => {
                    let xs: Vec<bool> = (0..n).map(|_| self.rng.chance(50)).collect();
                    Value::bools(&shape, &xs)
                }
            });
            pool.push(t);
        }
    }

    fn size(&mut self, t: Term, n: usize) {
        self.sizes.push(t);
        self.values.insert(t, n);
    }

    /// Arithmetic on sizes, with its value.
    pub fn size_op(&mut self, op: IntOp, a: Term, b: Term) -> Term {
        let (x, y) = (self.values[&a], self.values[&b]);
        let t = self.g.int(op, a, b);
        let n = match op {
            IntOp::Add => x + y,
            IntOp::Mul => x * y,
            _ => x.saturating_sub(y),
        };
        self.values.insert(t, n);
        t
    }

    pub fn lit_size(&mut self, n: usize) -> Term {
        let t = self.g.lit_usize(n);
        self.values.insert(t, n);
        t
    }

    pub fn shape(&mut self, rank: usize) -> Vec<Term> {
        (0..rank).map(|_| self.rng.pick(&self.sizes)).collect()
    }

    pub fn count(&self, shape: &[Term]) -> usize {
        shape.iter().map(|n| self.values[n]).product()
    }

    /// A function over fresh parameters. Later functions may call earlier ones.
    fn function(&mut self, k: usize) {
        let mut params = Vec::new();
        for _ in 0..1 + self.rng.below(3) {
            let ty = self.data_type();
            params.push(ty);
        }
        let mut env = self.closed(&params, 2, k);
        let results: Vec<Term> = (0..1 + self.rng.below(2))
            .map(|_| {
                let rank = self.rng.below(3);
                let shape = self.shape(rank);
                self.fuel += 1;
                self.real(&mut env, &shape)
            })
            .collect();
        self.functions.push(Body { params: params.into(), results: results.into() });
    }

    /// A type, most often real and small.
    pub fn data_type(&mut self) -> Type {
        let rank = self.rng.pick(&[0, 0, 1, 1, 2]);
        let shape = self.shape(rank).into();
        let elem = match self.rng.below(10) {
            0 => Elem::USIZE,
            1 => Elem::Bool,
            _ => Elem::F64,
        };
        Type::Array(elem, shape)
    }

    /// The environment of a closed body with these parameters. Tuples are split into components.
    pub fn closed(&mut self, params: &[Type], nest: usize, calls: usize) -> Env {
        let mut pool = Vec::new();
        for (k, ty) in params.iter().enumerate() {
            let p = self.g.param(k, ty.clone());
            pool.push(p);
            if let Type::Tuple(parts) = ty {
                for part in 0..parts.len() {
                    let t = self.g.proj(p, part);
                    pool.push(t);
                }
            }
        }
        Env { pool, vars: Vec::new(), nest, calls }
    }

    /// A random term of this type.
    pub fn value(&mut self, env: &mut Env, ty: &Type) -> Term {
        match ty {
            Type::Array(Elem::Real(RealTy::F64), shape) => self.real(env, shape),
            Type::Array(elem @ Elem::Real(_), shape) => {
                let t = self.real(env, shape);
                self.g.cast(*elem, t)
            }
            Type::Array(Elem::Int(int), shape) => self.int(env, *int, shape),
            Type::Array(Elem::Bool, shape) => self.bool(env, shape),
            Type::Tuple(parts) => {
                let parts: Vec<Term> = parts.iter().map(|ty| self.value(env, ty)).collect();
                self.g.tuple(&parts)
            }
        }
    }

    /// The terms in scope with this element type whose trailing axes are `shape`, with `more`
    /// additional leading axes (any number for `None`).
    pub fn in_scope(&self, env: &Env, elem: Elem, shape: &[Term], more: Option<usize>) -> Vec<Term> {
        let fits = |&t: &Term| match self.g.ty(t) {
            Type::Array(e, s) => {
                *e == elem && s.ends_with(shape) && more.is_none_or(|more| s.len() == shape.len() + more)
            }
            Type::Tuple(_) => false,
        };
        env.pool.iter().copied().filter(fits).collect()
    }

    /// Runs `f` with one more index variable in scope, and closes over it.
    pub fn build(&mut self, env: &mut Env, size: Term, f: impl FnOnce(&mut Gen, &mut Env) -> Term) -> Term {
        let var = self.g.fresh();
        let mut inner = env.clone();
        let v = self.g.mk(ad_core::ir::Node::Var(var));
        inner.vars.push((v, size));
        inner.nest -= 1;
        let body = f(self, &mut inner);
        // A term that does not mention the index can be used outside.
        let outside: Vec<Term> =
            inner.pool[env.pool.len()..].iter().copied().filter(|&t| !self.g.mentions(t, var)).collect();
        env.pool.extend(outside);
        self.g.build(size, var, body)
    }
}
