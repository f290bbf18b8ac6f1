//! Loops and calls of the generator.

use ad_core::ir::{Body, Elem, Scan, Term, Type};
use ad_core::prim::Unary;

use super::r#gen::{Env, Gen};

impl Gen {
    pub fn scan_or_call(&mut self, env: &mut Env, shape: &[Term]) -> Term {
        if env.calls > 0 && self.rng.chance(40) {
            return self.call(env, shape);
        }
        if env.nest == 0 {
            return self.real(env, shape);
        }
        self.scan_form(env, shape)
    }

    /// A call of one of the functions. Its result is brought to the requested shape.
    fn call(&mut self, env: &mut Env, shape: &[Term]) -> Term {
        let k = self.rng.below(env.calls);
        let body = self.functions[k].clone();
        let args: Vec<Term> = body.params.iter().map(|ty| self.value(env, ty)).collect();
        let results = self.g.instantiate(&body, &args);
        let part = self.rng.below(results.len());
        self.fit(results[part], shape)
    }

    /// A term of this shape that depends on t.
    fn fit(&mut self, t: Term, shape: &[Term]) -> Term {
        if self.g.shape(t) == shape {
            return t;
        }
        let s = self.g.sum_all(t);
        let s = self.g.unary(Unary::Sin, s);
        self.g.broadcast(s, shape)
    }

    /// A loop, one result of which has the requested type.
    fn scan_form(&mut self, env: &mut Env, shape: &[Term]) -> Term {
        // The requested result is a row or a carried value.
        let produced = !shape.is_empty() && self.rng.chance(50);
        let count = if produced { shape[0] } else { self.rng.pick(&self.sizes) };
        let mut carried: Vec<Type> = Vec::new();
        if !produced {
            carried.push(Type::Array(Elem::F64, shape.into()));
        }
        for _ in 0..self.rng.below(2) + usize::from(produced) {
            let mut ty = self.data_type();
            if self.rng.chance(20) {
                let other = self.data_type();
                ty = Type::Tuple([ty, other].into());
            }
            carried.push(ty);
        }
        // The rows of a loop that may stop early are not used, since those of steps that do not run
        // are unspecified.
        let extra = self.rng.below(2);
        let stops = !produced && extra == 0 && self.rng.chance(40);
        let stop = stops.then_some(carried.len());
        if stops {
            carried.push(Type::scalar(Elem::Bool));
        }
        let captures: Vec<Type> = (0..self.rng.below(3))
            .map(|_| {
                let ty = self.data_type();
                if self.rng.chance(10) { Type::Tuple([ty, Type::scalar(Elem::F64)].into()) } else { ty }
            })
            .collect();
        let rows: Vec<Type> = (0..self.rng.below(3)).map(|_| self.data_type()).collect();

        let init: Vec<Term> = carried.iter().map(|ty| self.value(env, ty)).collect();
        let capture_terms: Vec<Term> = captures.iter().map(|ty| self.value(env, ty)).collect();
        let xs: Vec<Term> = rows.iter().map(|ty| self.value(env, &with_outer(count, ty))).collect();

        let params: Vec<Type> = carried.iter().chain(&captures).chain(&rows).cloned().collect();
        let mut body_env = self.closed(&params, env.nest - 1, env.calls);
        let mut results: Vec<Term> = Vec::new();
        for ty in &carried {
            self.fuel += 1;
            let t = self.value(&mut body_env, ty);
            results.push(self.bounded(t));
        }
        if produced {
            self.fuel += 1;
            let row = self.real(&mut body_env, &shape[1..]);
            results.push(row);
        }
        for _ in 0..extra {
            let ty = self.data_type();
            let row = self.value(&mut body_env, &ty);
            results.push(row);
        }
        let scan = self.g.scan(Scan {
            count,
            reverse: self.rng.chance(40),
            stop,
            init: init.into(),
            captures: capture_terms.into(),
            xs: xs.into(),
            body: Body { params: params.into(), results: results.into() },
        });
        // The other results are available to later terms.
        if extra > 0 {
            let last = carried.len() + extra - usize::from(!produced);
            let t = self.g.proj(scan, last);
            env.pool.push(t);
        }
        if !produced && carried.len() > 1 && self.rng.chance(50) {
            let t = self.g.proj(scan, 1);
            env.pool.push(t);
        }
        self.g.proj(scan, if produced { carried.len() } else { 0 })
    }

    /// A carried value that does not grow from step to step.
    fn bounded(&mut self, t: Term) -> Term {
        match self.g.ty(t).clone() {
            Type::Array(Elem::Real(_), _) if self.rng.chance(85) => {
                let f = self.rng.pick(&[Unary::Sin, Unary::Tanh, Unary::Cos]);
                self.g.unary(f, t)
            }
            Type::Array(..) => t,
            Type::Tuple(parts) => {
                let parts: Vec<Term> = (0..parts.len())
                    .map(|k| {
                        let part = self.g.proj(t, k);
                        self.bounded(part)
                    })
                    .collect();
                self.g.tuple(&parts)
            }
        }
    }
}

fn with_outer(n: Term, ty: &Type) -> Type {
    match ty {
        Type::Array(elem, shape) => Type::Array(*elem, std::iter::once(n).chain(shape.iter().copied()).collect()),
        Type::Tuple(_) => panic!("rows are arrays"),
    }
}
