//! Real terms of the generator: every form and every primitive that has a real result.

use ad_core::ir::{Contraction, Elem, IntTy, Lit, Node, RealTy, Term, Var};
use ad_core::prim::{Binary, Cmp, IntOp, Prim, Reduce, Unary, structural};
use ad_oracle::interp::tested;

use super::r#gen::{Env, Gen};

/// The maximum number of elements of an array.
const LARGEST: usize = 96;

impl Gen {
    /// An `f64` array of this shape.
    pub fn real(&mut self, env: &mut Env, shape: &[Term]) -> Term {
        let again = self.in_scope(env, Elem::F64, shape, Some(0));
        if self.fuel == 0 || self.count(shape) > LARGEST {
            return self.real_leaf(env, shape);
        }
        if !again.is_empty() && self.rng.chance(12) {
            return self.rng.pick(&again);
        }
        self.fuel -= 1;
        // Higher ranks occur only as operands of reductions.
        let kinds = if shape.len() > 3 { 43 } else { 100 };
        let t = match self.rng.below(kinds) {
            0..=13 => self.unary_form(env, shape),
            14..=29 => self.binary_form(env, shape),
            30..=42 => self.control(env, shape),
            43..=55 => self.bulk_of_elements(env, shape),
            56..=66 => self.reduction(env, shape),
            67..=82 => self.layout(env, shape),
            83..=92 => self.scan_or_call(env, shape),
            _ => self.guarded_read(env, shape),
        };
        env.pool.push(t);
        t
    }

    fn real_leaf(&mut self, env: &mut Env, shape: &[Term]) -> Term {
        if self.rng.chance(85) {
            if let Some(t) = self.known(env, Elem::F64, shape) {
                return t;
            }
            if let Some(t) = self.known(env, Elem::Real(RealTy::F32), shape) {
                return self.g.cast(Elem::F64, t);
            }
            // A term replicated over trailing axes.
            for k in 1..=shape.len() {
                if let Some(t) = self.known(env, Elem::F64, &shape[k..]) {
                    return self.g.broadcast(t, shape);
                }
            }
        }
        if self.rng.chance(20)
            && let Some(t) = self.known(env, Elem::USIZE, shape)
        {
            // The index is bounded, since an index from a cast may be huge.
            let seven = self.g.lit_usize(7);
            let seven = self.g.broadcast(seven, shape);
            let t = self.g.int(IntOp::Rem, t, seven);
            return self.g.cast(Elem::F64, t);
        }
        let x = self.rng.pick(&[0.5, -1.25, 2.0, 1.0, 0.0, 0.3]);
        self.g.lit_shaped(Elem::F64, shape, x)
    }

    /// A constant of this shape.
    fn constant(&mut self, shape: &[Term], x: f64) -> Term {
        self.g.lit_shaped(Elem::F64, shape, x)
    }

    /// `middle + radius * sin(x)`: smooth, and always in the domain.
    fn squashed(&mut self, x: Term, (low, high): (f64, f64)) -> Term {
        let shape = self.g.shape(x).to_vec();
        let s = self.g.unary(Unary::Sin, x);
        let (middle, radius) = (f64::midpoint(low, high.min(low + 3.0)), (high.min(low + 3.0) - low) / 2.0);
        let (m, r) = (self.constant(&shape, middle), self.constant(&shape, radius));
        let s = self.g.mul(r, s);
        self.g.add(m, s)
    }

    /// `f` where x is in the interval, and another value elsewhere.
    fn guarded(&mut self, env: &mut Env, x: Term, (low, high): (f64, f64), f: impl FnOnce(&mut Gen) -> Term) -> Term {
        let shape = self.g.shape(x).to_vec();
        let (low, high) = (self.constant(&shape, low), self.constant(&shape, high));
        let (a, b) = (self.g.compare(Cmp::Gt, x, low), self.g.compare(Cmp::Lt, x, high));
        let inside = self.g.and(a, b);
        let value = f(self);
        let other = self.real(env, &shape);
        if shape.is_empty() && self.rng.chance(60) {
            self.g.cond(inside, value, other)
        } else if self.rng.chance(20) {
            // If there are no elements, all of them satisfy the condition, and the value has no
            // elements either.
            let all = self.g.reduce(Reduce::All, shape.len(), inside);
            self.g.cond(all, value, other)
        } else {
            self.g.select(inside, value, other)
        }
    }

    /// A structural primitive that keeps the shape of its one argument, from those that have an
    /// example.
    fn keeps_shape(&mut self, env: &mut Env, shape: &[Term]) -> Option<Term> {
        let x = self.real(env, shape);
        let mut made = Vec::new();
        for example in structural::examples().into_iter().filter(|example| example.args.len() == 1) {
            let Ok(t) = self.g.try_mk(Node::Prim(example.prim, [x].into())) else { continue };
            if self.g.ty(t) == self.g.ty(x) {
                made.push(t);
            }
        }
        if made.is_empty() { None } else { Some(self.rng.pick(&made)) }
    }

    fn unary_form(&mut self, env: &mut Env, shape: &[Term]) -> Term {
        if !shape.is_empty()
            && self.rng.chance(8)
            && let Some(t) = self.keeps_shape(env, shape)
        {
            return t;
        }
        // Chosen by the remaining budget, so that other programs do not change.
        if (1..=3).contains(&shape.len()) && self.fuel % 24 == 7 {
            return self.linear_algebra(env, shape);
        }
        if self.rng.chance(5) {
            let x = self.real(env, shape);
            return self.g.prim(Prim::StopGradient, &[x]);
        }
        if self.rng.chance(8) {
            let x = self.real(env, shape);
            let n = if self.rng.chance(70) {
                let n = self.rng.below(4) as i128;
                let n = self.g.lit(Lit::Int(IntTy::I32, n));
                self.g.broadcast(n, shape)
            } else {
                let n = self.int(env, IntTy::I32, shape);
                let four = self.g.lit(Lit::Int(IntTy::I32, 4));
                let four = self.g.broadcast(four, shape);
                self.g.int(IntOp::Rem, n, four)
            };
            let x = self.squashed(x, (0.3, 2.0));
            return self.g.prim(Prim::PowI, &[x, n]);
        }
        let f = self.rng.pick(Unary::ALL);
        let mut x = self.real(env, shape);
        if f == Unary::Signum {
            // It is not used at a zero, since the sign of a sum of zeros is unspecified.
            let off = self.constant(shape, 0.37);
            x = self.g.add(x, off);
        }
        match tested(f).domain {
            Some(domain) if self.rng.chance(60) => self.guarded(env, x, domain, |s| s.g.unary(f, x)),
            Some(domain) => {
                let x = self.squashed(x, domain);
                self.g.unary(f, x)
            }
            None => self.g.unary(f, x),
        }
    }

    fn binary_form(&mut self, env: &mut Env, shape: &[Term]) -> Term {
        let f = if self.rng.chance(60) {
            self.rng.pick(&[Binary::Add, Binary::Sub, Binary::Mul, Binary::Mul])
        } else {
            self.rng.pick(Binary::ALL)
        };
        let (mut a, mut b) = (self.real(env, shape), self.real(env, shape));
        if self.rng.chance(4) {
            // A cast to the other precision and back.
            let f32 = Elem::Real(RealTy::F32);
            if env.pool.iter().any(|&t| matches!(self.g.ty(t).as_array(), Some((e, _)) if e == f32)) {
                let (x, y) = (self.g.cast(f32, a), self.g.cast(f32, b));
                let t = self.g.binary(Binary::Add, x, y);
                return self.g.cast(Elem::F64, t);
            }
        }
        match f {
            Binary::Div | Binary::Rem if self.rng.chance(50) => {
                return self.guarded(env, b, (0.3, 9.0), |s| s.g.binary(f, a, b));
            }
            Binary::Div | Binary::Rem => b = self.squashed(b, (0.4, 2.0)),
            Binary::Pow => {
                a = self.squashed(a, (0.3, 2.0));
                b = self.squashed(b, (-1.5, 2.0));
            }
            Binary::Polygamma => {
                a = self.constant(shape, 3.0);
                b = self.squashed(b, (0.8, 6.0));
            }
            // Both functions jump at zeros of either sign, and the sign of a sum of zeros is
            // unspecified.
            Binary::Atan2 => b = self.squashed(b, (0.3, 2.0)),
            Binary::Copysign => {
                let zero = self.constant(shape, 0.0);
                let positive = self.g.compare(Cmp::Gt, b, zero);
                let (one, minus) = (self.constant(shape, 1.0), self.constant(shape, -1.0));
                b = self.g.select(positive, one, minus);
            }
            // Products of products would grow without bound.
            Binary::Mul | Binary::MulZero if self.rng.chance(40) => a = self.g.unary(Unary::Tanh, a),
            _ => {}
        }
        self.g.binary(f, a, b)
    }

    /// Conditionals, selections, tuples.
    fn control(&mut self, env: &mut Env, shape: &[Term]) -> Term {
        match self.rng.below(6) {
            0 | 1 => {
                let (m, a, b) = (self.bool(env, shape), self.real(env, shape), self.real(env, shape));
                self.g.select(m, a, b)
            }
            2 | 3 => {
                let (c, a, b) = (self.bool(env, &[]), self.real(env, shape), self.real(env, shape));
                self.g.cond(c, a, b)
            }
            4 => {
                // A conditional with tuples, from which one component is projected. In a build, the
                // bulk transform has to split it.
                let (c, a, b) = (self.bool(env, &[]), self.real(env, shape), self.real(env, shape));
                let (x, y) = (self.real(env, &[]), self.real(env, &[]));
                let (then, other) = (self.g.tuple(&[x, a]), self.g.tuple(&[y, b]));
                let t = self.g.cond(c, then, other);
                self.g.proj(t, 1)
            }
            _ => {
                let (a, b) = (self.real(env, shape), self.int(env, IntTy::Usize, &[]));
                let pair = self.g.tuple(&[b, a]);
                // The builder would project the component at once, so it is not used here.
                self.g.mk(Node::Proj(pair, 1))
            }
        }
    }

    /// Build, gather, scatter, stack.
    fn bulk_of_elements(&mut self, env: &mut Env, shape: &[Term]) -> Term {
        let kind = self.rng.below(10);
        if kind < 2 || shape.is_empty() && kind < 6 {
            return self.scatter_form(env, shape);
        }
        if shape.is_empty() {
            return self.guarded_read(env, shape);
        }
        if kind < 4 {
            return self.gather_form(env, shape);
        }
        let (n, rest) = (shape[0], shape[1..].to_vec());
        if let Node::Lit(Lit::Int(_, k @ 1..=4)) = *self.g.node(n)
            && self.rng.chance(50)
        {
            let parts: Vec<Term> = (0..k).map(|_| self.real(env, &rest)).collect();
            return self.g.stack(&parts);
        }
        if env.nest == 0 {
            return self.gather_form(env, shape);
        }
        self.build(env, n, |s, env| s.real(env, &rest))
    }

    fn gather_form(&mut self, env: &mut Env, shape: &[Term]) -> Term {
        let over = 1 + self.rng.below(shape.len());
        let (sizes, rest) = (shape[..over].to_vec(), shape[over..].to_vec());
        let leading = 1 + self.rng.below(2);
        let from: Vec<Term> = self.shape(leading).into_iter().chain(rest.iter().copied()).collect();
        let src = self.real(env, &from);
        let (vars, mut inner) = self.over(env, &sizes);
        let raw = self.indices(&mut inner, leading);
        if self.rng.chance(50) {
            // The last element replaces one that is out of range. The value is zero if there is
            // none.
            let one = self.g.lit_usize(1);
            let index: Vec<Term> = (0..leading)
                .map(|k| {
                    let last = self.g.int(IntOp::Sub, from[k], one);
                    self.g.int(IntOp::Min, raw[k], last)
                })
                .collect();
            let t = self.g.gather(src, sizes.into(), &vars, &index);
            let zeros = vec![self.g.lit_usize(0); leading];
            let any = self.in_range(&zeros, &from);
            let other = self.real(env, shape);
            return self.g.cond(any, t, other);
        }
        let mask = self.mask(&vars, &sizes, &raw, &from, &rest);
        let t = self.g.gather(src, sizes.into(), &vars, &raw);
        let other = self.real(env, shape);
        self.g.select(mask, t, other)
    }

    fn scatter_form(&mut self, env: &mut Env, shape: &[Term]) -> Term {
        if self.rng.chance(40) {
            return self.update_form(env, shape);
        }
        let dst = if self.rng.chance(50) { self.constant(shape, 0.0) } else { self.real(env, shape) };
        let at = self.rng.below(shape.len() + 1);
        let over = self.rng.below(3);
        let sizes = self.shape(over);
        let from: Vec<Term> = sizes.iter().chain(&shape[at..]).copied().collect();
        let src = self.real(env, &from);
        let (vars, mut inner) = self.over(env, &sizes);
        // A value at an index out of range is dropped. Its derivative is a read out of range, so
        // only zeros may be dropped.
        let index = self.indices(&mut inner, at);
        let mask = self.mask(&vars, &sizes, &index, &shape[..at], &shape[at..]);
        let zeros = self.constant(&from, 0.0);
        let src = self.g.select(mask, src, zeros);
        self.g.scatter(dst, src, &vars, &index)
    }

    /// Elements or rows that replace others: shifted along an axis, or one at a computed position.
    fn update_form(&mut self, env: &mut Env, shape: &[Term]) -> Term {
        let dst = self.real(env, shape);
        let at = self.rng.below(shape.len() + 1);
        let over = usize::from(at > 0 && self.rng.chance(60));
        let sizes = self.shape(over);
        let from: Vec<Term> = sizes.iter().chain(&shape[at..]).copied().collect();
        let src = self.real(env, &from);
        let (vars, mut inner) = self.over(env, &sizes);
        // The other indices may depend on the variable, since the positions differ in the first.
        let mut index = self.indices(&mut inner, at);
        if over == 1 {
            let (v, by) = (self.g.mk(Node::Var(vars[0])), self.rng.below(3));
            let by = self.g.lit_usize(by);
            index[0] = self.g.int(IntOp::Add, v, by);
        }
        let mask = self.mask(&vars, &sizes, &index, &shape[..at], &shape[at..]);
        let zeros = self.constant(&from, 0.0);
        let src = self.g.select(mask, src, zeros);
        self.g.update(dst, src, &vars, &index)
    }

    /// A mask: the index function is in range of `to`, over the sizes of its variables, and true
    /// over all of `rest`. It is a separate build, so it becomes another bulk operation than the
    /// read that it guards.
    fn mask(&mut self, vars: &[Var], sizes: &[Term], index: &[Term], to: &[Term], rest: &[Term]) -> Term {
        let mut mask = self.in_range(index, to);
        for (&var, &n) in vars.iter().zip(sizes).rev() {
            mask = self.g.build(n, var, mask);
        }
        let axes: Vec<u8> = (sizes.len()..sizes.len() + rest.len()).map(|a| a as u8).collect();
        self.g.replicate_axes(mask, &axes, rest)
    }

    /// A guarded read of an element or a row.
    fn guarded_read(&mut self, env: &mut Env, shape: &[Term]) -> Term {
        let leading = 1 + self.rng.below(2);
        let from: Vec<Term> = self.shape(leading).into_iter().chain(shape.iter().copied()).collect();
        let candidates: Vec<Term> =
            self.in_scope(env, Elem::F64, shape, None).into_iter().filter(|&t| self.g.rank(t) > shape.len()).collect();
        let src = if candidates.is_empty() || self.rng.chance(30) {
            self.real(env, &from)
        } else {
            self.rng.pick(&candidates)
        };
        let sizes = self.g.shape(src)[..self.g.rank(src) - shape.len()].to_vec();
        let index = self.indices(env, sizes.len());
        let ok = self.in_range(&index, &sizes);
        let read = self.g.index(src, &index);
        let other = self.real(env, shape);
        if self.rng.chance(70) {
            self.g.cond(ok, read, other)
        } else {
            let mask = self.g.broadcast(ok, shape);
            self.g.select(mask, read, other)
        }
    }

    /// Sums, extrema, contractions.
    fn reduction(&mut self, env: &mut Env, shape: &[Term]) -> Term {
        let kind = self.rng.below(10);
        if kind < 4 && self.rng.chance(40) {
            self.in_two_ways(env, shape)
        } else if kind < 4 {
            let mut larger = shape.to_vec();
            let mut axes = Vec::new();
            for _ in 0..1 + self.rng.below(2) {
                let at = self.rng.below(larger.len() + 1);
                larger.insert(at, self.rng.pick(&self.sizes));
                axes.iter_mut().filter(|a| usize::from(**a) >= at).for_each(|a| *a += 1);
                axes.push(at as u8);
            }
            axes.sort_unstable();
            let x = self.real(env, &larger);
            self.g.sum_axes(x, &axes)
        } else if kind < 7 {
            let over = 1 + self.rng.below(2);
            let larger: Vec<Term> = shape.iter().copied().chain(self.shape(over)).collect();
            let x = self.real(env, &larger);
            let op = self.rng.pick(&[Reduce::Max, Reduce::Min]);
            let t = self.g.reduce(op, over, x);
            // The extremum of no elements is infinite.
            let bound = self.constant(shape, 5.0);
            let t = self.g.binary(Binary::Min, t, bound);
            let bound = self.constant(shape, -5.0);
            self.g.binary(Binary::Max, t, bound)
        } else {
            self.contraction(env, shape)
        }
    }

    /// A number of which decisions read another form.
    fn in_two_ways(&mut self, env: &mut Env, shape: &[Term]) -> Term {
        if self.rng.chance(20) {
            let [a, b, c] = [(); 3].map(|()| self.real(env, shape));
            let product = self.g.mul(a, b);
            let (relaxed, exact) = (self.g.add(product, c), self.g.prim(Prim::Fused, &[a, b, c]));
            return self.g.relaxed_exact(relaxed, exact);
        }
        if self.rng.chance(20) {
            let (a, b) = (self.real(env, shape), self.real(env, shape));
            let pair = self.g.stack(&[a, b]);
            let last: Vec<u8> = (1..=shape.len()).map(|k| k as u8).chain([0]).collect();
            let pair = self.g.transpose(pair, &last);
            if self.rng.chance(50) {
                let (relaxed, exact) = (self.g.mul(a, b), self.g.reduce(Reduce::Factors, 1, pair));
                return self.g.relaxed_exact(relaxed, exact);
            }
            let (half, d) = (self.constant(shape, 0.5), self.g.sub(a, b));
            let square = self.g.mul(d, d);
            let (relaxed, exact) = (self.g.mul(half, square), self.g.reduce(Reduce::Distances, 1, pair));
            return self.g.relaxed_exact(relaxed, exact);
        }
        let over = 1 + self.rng.below(2);
        let larger: Vec<Term> = shape.iter().copied().chain(self.shape(over)).collect();
        let x = self.real(env, &larger);
        let axes: Vec<u8> = (shape.len()..larger.len()).map(|k| k as u8).collect();
        use Reduce::{Fours, FromZero, InOrder, Lanes, Squares, Unrolled};
        let op = self.rng.pick(&[InOrder, FromZero, Unrolled, Lanes, Fours, Squares]);
        let y = if op == Reduce::Squares { self.g.mul(x, x) } else { x };
        let (relaxed, exact) = (self.g.sum_axes(y, &axes), self.g.reduce(op, over, x));
        self.g.relaxed_exact(relaxed, exact)
    }

    fn contraction(&mut self, env: &mut Env, shape: &[Term]) -> Term {
        let out: Vec<u8> = (0..shape.len() as u8).collect();
        let mut sizes = shape.to_vec();
        let (mut a, mut b) = (Vec::new(), Vec::new());
        for _ in 0..self.rng.below(3) {
            let l = sizes.len() as u8;
            sizes.push(self.rng.pick(&self.sizes));
            a.push(l);
            b.push(l);
        }
        for &l in &out {
            match self.rng.below(3) {
                0 => a.push(l),
                1 => b.push(l),
                _ => {
                    a.insert(0, l);
                    b.push(l);
                }
            }
        }
        if self.rng.chance(50) {
            b.reverse();
        }
        let of = |labels: &[u8]| labels.iter().map(|&l| sizes[usize::from(l)]).collect::<Vec<Term>>();
        let (sa, sb) = (of(&a), of(&b));
        let (x, y) = (self.real(env, &sa), self.real(env, &sb));
        let x = self.g.unary(Unary::Tanh, x);
        self.g.contract(x, y, Contraction::new(a, b, out))
    }

    /// Operations that only move elements.
    fn layout(&mut self, env: &mut Env, shape: &[Term]) -> Term {
        if shape.is_empty() {
            let n = self.lit_size(1);
            let x = self.real(env, &[n]);
            return if self.rng.chance(50) { self.g.reshape(x, &[]) } else { self.guarded_read(env, shape) };
        }
        match self.rng.below(8) {
            0 | 1 => {
                let axes: Vec<usize> = (0..shape.len()).filter(|_| self.rng.chance(50)).collect();
                let kept: Vec<Term> = (0..shape.len()).filter(|k| !axes.contains(k)).map(|k| shape[k]).collect();
                let new: Vec<Term> = axes.iter().map(|&k| shape[k]).collect();
                let x = self.real(env, &kept);
                let axes: Vec<u8> = axes.iter().map(|&a| a as u8).collect();
                self.g.replicate_axes(x, &axes, &new)
            }
            2 => {
                let mut perm: Vec<u8> = (0..shape.len() as u8).collect();
                for k in (1..perm.len()).rev() {
                    perm.swap(k, self.rng.below(k + 1));
                }
                let mut from = shape.to_vec();
                for (k, &a) in perm.iter().enumerate() {
                    from[usize::from(a)] = shape[k];
                }
                let x = self.real(env, &from);
                self.g.transpose(x, &perm)
            }
            3 => {
                // The same number of elements in another arrangement.
                let from = if self.rng.chance(50) {
                    let one = self.lit_size(1);
                    let first = shape[0];
                    vec![shape[1..].iter().fold(first, |a, &b| self.size_op(IntOp::Mul, a, b)), one]
                } else {
                    shape.iter().rev().copied().collect()
                };
                let x = self.real(env, &from);
                self.g.reshape(x, shape)
            }
            4 => {
                let same = |s: &Gen, n: Term| -> Vec<Term> {
                    s.sizes.iter().copied().filter(|m| s.values[m] == s.values[&n]).collect()
                };
                let from: Vec<Term> = shape
                    .iter()
                    .map(|&n| {
                        let others = same(self, n);
                        if others.is_empty() { n } else { self.rng.pick(&others) }
                    })
                    .collect();
                let x = self.real(env, &from);
                self.g.recast(x, shape)
            }
            5 | 6 => self.slice(env, shape),
            _ => self.pad(env, shape),
        }
    }

    fn slice(&mut self, env: &mut Env, shape: &[Term]) -> Term {
        let (mut from, mut starts, mut steps) = (Vec::new(), Vec::new(), Vec::new());
        for &n in shape {
            let step = self.rng.pick(&[1, 1, 1, -1, 2]);
            let before = self.rng.below(2);
            let two = self.lit_size(2);
            let span = if step == 2 { self.size_op(IntOp::Mul, n, two) } else { n };
            let more = before + self.rng.below(2);
            let more = self.lit_size(more);
            from.push(self.size_op(IntOp::Add, span, more));
            let start = if step < 0 { (before + self.values[&n]).saturating_sub(1) } else { before };
            starts.push(self.lit_size(start));
            steps.push(step);
        }
        let x = self.real(env, &from);
        self.g.slice(x, &starts, &steps, shape)
    }

    fn pad(&mut self, env: &mut Env, shape: &[Term]) -> Term {
        let (mut from, mut starts, mut steps) = (Vec::new(), Vec::new(), Vec::new());
        for n in shape {
            let n = self.values[n];
            let step = self.rng.pick(&[1, 1, -1, 2]);
            let start = self.rng.below(n.max(1));
            // The number of elements that fit.
            let room = if step < 0 { start + 1 } else { (n - start.min(n)).div_ceil(step as usize) };
            let len = if n == 0 { 0 } else { self.rng.below(room + 1) };
            from.push(self.lit_size(len));
            starts.push(self.lit_size(start));
            steps.push(i64::from(step));
        }
        let x = self.real(env, &from);
        self.g.pad(x, &starts, &steps, shape)
    }
}
