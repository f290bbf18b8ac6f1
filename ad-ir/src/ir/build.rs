//! Builders: the constructors that passes and the front end call. They fold only cases that are
//! cheap to see (integer constants, no-op layouts) and leave every other law to the simplifier.

use super::{Contraction, Elem, Graph, IntTy, Lit, Node, Scan, Term, Type, axis};
use crate::prim::{Binary, Build, Cmp, IntOp, Prim, Reduce, Types, Unary};

impl Graph {
    /// A primitive applied to arguments, without folding.
    #[track_caller]
    pub fn prim(&mut self, prim: Prim, args: &[Term]) -> Term {
        self.mk(Node::Prim(prim, args.into()))
    }

    /// `t` as the trailing axes of `shape`: new outer axes are added (BOT's `replicate`, several at
    /// once).
    #[track_caller]
    pub fn broadcast(&mut self, t: Term, shape: &[Term]) -> Term {
        let new = shape.len() - self.rank(t);
        let axes: Vec<u8> = (0..new).map(axis).collect();
        self.replicate_axes(t, &axes, &shape[..new])
    }

    /// One more outer axis.
    #[track_caller]
    pub fn replicate(&mut self, size: Term, t: Term) -> Term {
        self.replicate_axes(t, &[0], &[size])
    }

    /// New axes at these positions of the result.
    #[track_caller]
    pub fn replicate_axes(&mut self, t: Term, axes: &[u8], sizes: &[Term]) -> Term {
        if axes.is_empty() {
            return t;
        }
        let args: Vec<Term> = std::iter::once(t).chain(sizes.iter().copied()).collect();
        self.prim(Prim::Replicate(axes.into()), &args)
    }

    /// Sum over these axes, ascending.
    #[track_caller]
    pub fn sum_axes(&mut self, t: Term, axes: &[u8]) -> Term {
        if axes.is_empty() { t } else { self.prim(Prim::Sum(axes.into()), &[t]) }
    }

    /// Sum over all axes.
    #[track_caller]
    pub fn sum_all(&mut self, t: Term) -> Term {
        let axes: Vec<u8> = (0..self.rank(t)).map(axis).collect();
        self.sum_axes(t, &axes)
    }

    /// A reduction over the last `rank` axes.
    #[track_caller]
    pub fn reduce(&mut self, op: Reduce, rank: usize, t: Term) -> Term {
        self.prim(Prim::Reduce(op, axis(rank)), &[t])
    }

    /// A reduction over the first `len` elements of the last axis.
    #[track_caller]
    pub fn reduce_first(&mut self, op: Reduce, t: Term, len: Term) -> Term {
        self.prim(Prim::Reduce(op, 1), &[t, len])
    }

    /// One number, computed in two ways: see [`Prim::RelaxedExact`].
    #[track_caller]
    pub fn relaxed_exact(&mut self, relaxed: Term, exact: Term) -> Term {
        if relaxed == exact { relaxed } else { self.prim(Prim::RelaxedExact, &[relaxed, exact]) }
    }

    /// Axis k of the result is axis `perm[k]` of t.
    #[track_caller]
    pub fn transpose(&mut self, t: Term, perm: &[u8]) -> Term {
        if perm.iter().enumerate().all(|(k, &a)| usize::from(a) == k) {
            t
        } else {
            self.prim(Prim::Transpose(perm.into()), &[t])
        }
    }

    /// The elements in row-major order in another shape.
    #[track_caller]
    pub fn reshape(&mut self, t: Term, shape: &[Term]) -> Term {
        if self.shape(t) == shape {
            return t;
        }
        let args: Vec<Term> = std::iter::once(t).chain(shape.iter().copied()).collect();
        self.prim(Prim::Reshape, &args)
    }

    /// `t` with other terms for its sizes.
    #[track_caller]
    pub fn recast(&mut self, t: Term, shape: &[Term]) -> Term {
        if self.shape(t) == shape {
            return t;
        }
        let args: Vec<Term> = std::iter::once(t).chain(shape.iter().copied()).collect();
        self.prim(Prim::Recast, &args)
    }

    /// Part of an array: element i of axis k is t at `starts[k] + steps[k] * i`, for `lens[k]`
    /// elements.
    #[track_caller]
    pub fn slice(&mut self, t: Term, starts: &[Term], steps: &[i64], lens: &[Term]) -> Term {
        let zero = self.lit_usize(0);
        if lens == self.shape(t) && steps.iter().all(|&s| s == 1) && starts.iter().all(|&s| s == zero) {
            return t;
        }
        let args: Vec<Term> = std::iter::once(t).chain(starts.iter().copied()).chain(lens.iter().copied()).collect();
        self.prim(Prim::Slice(steps.into()), &args)
    }

    /// Zeros of the given sizes with `t` at `starts[k] + steps[k] * i`.
    #[track_caller]
    pub fn pad(&mut self, t: Term, starts: &[Term], steps: &[i64], sizes: &[Term]) -> Term {
        let zero = self.lit_usize(0);
        if sizes == self.shape(t) && steps.iter().all(|&s| s == 1) && starts.iter().all(|&s| s == zero) {
            return t;
        }
        let args: Vec<Term> = std::iter::once(t).chain(starts.iter().copied()).chain(sizes.iter().copied()).collect();
        self.prim(Prim::Pad(steps.into()), &args)
    }

    /// 0, 1, .., n - 1.
    pub fn iota(&mut self, n: Term) -> Term {
        self.prim(Prim::Iota, &[n])
    }

    /// Arrays of one type along a new outer axis.
    #[track_caller]
    pub fn stack(&mut self, parts: &[Term]) -> Term {
        self.prim(Prim::Stack, parts)
    }

    /// A sum of products by labelled axes.
    #[track_caller]
    pub fn contract(&mut self, a: Term, b: Term, spec: Contraction) -> Term {
        self.prim(Prim::Contract(spec), &[a, b])
    }

    /// The elementwise product of a contraction's operands.
    pub fn product(&mut self, a: Term, b: Term, absorbs: [bool; 2]) -> Term {
        match absorbs {
            [false, false] => self.mul(a, b),
            [true, false] => self.binary(Binary::MulZero, a, b),
            [false, true] => self.binary(Binary::MulZero, b, a),
            [true, true] => {
                let zeros = self.zeros_like(b);
                let none = self.compare(Cmp::Eq, b, zeros);
                let product = self.binary(Binary::MulZero, a, b);
                self.select(none, zeros, product)
            }
        }
    }

    /// `t[index]`. Trailing axes without an index stay whole.
    #[track_caller]
    pub fn index(&mut self, t: Term, index: &[Term]) -> Term {
        self.gather(t, Box::new([]), &[], index)
    }

    /// A real function of one argument, elementwise.
    #[track_caller]
    pub fn unary(&mut self, f: Unary, x: Term) -> Term {
        self.prim(Prim::Unary(f), &[x])
    }

    /// A real function of two arguments of one shape, elementwise.
    #[track_caller]
    pub fn binary(&mut self, f: Binary, a: Term, b: Term) -> Term {
        self.prim(Prim::Binary(f), &[a, b])
    }

    /// `a + b`, real.
    #[track_caller]
    pub fn add(&mut self, a: Term, b: Term) -> Term {
        self.binary(Binary::Add, a, b)
    }

    /// `a - b`, real.
    #[track_caller]
    pub fn sub(&mut self, a: Term, b: Term) -> Term {
        self.binary(Binary::Sub, a, b)
    }

    /// `a * b`, real.
    #[track_caller]
    pub fn mul(&mut self, a: Term, b: Term) -> Term {
        self.binary(Binary::Mul, a, b)
    }

    /// `a / b`, real.
    #[track_caller]
    pub fn div(&mut self, a: Term, b: Term) -> Term {
        self.binary(Binary::Div, a, b)
    }

    /// `-x`, real.
    #[track_caller]
    pub fn neg(&mut self, x: Term) -> Term {
        self.unary(Unary::Neg, x)
    }

    /// `1 / x`.
    #[track_caller]
    pub fn recip(&mut self, x: Term) -> Term {
        self.unary(Unary::Recip, x)
    }

    /// A comparison, elementwise.
    #[track_caller]
    pub fn compare(&mut self, op: Cmp, a: Term, b: Term) -> Term {
        if let (Some(x), Some(y)) = (self.int_value(a), self.int_value(b)) {
            return self.lit_bool(op.holds(x, y));
        }
        if let (Some(x), Some(y)) = (self.real_value(a), self.real_value(b))
            && (a == b || self.elem(a) == Elem::F64)
        {
            let c = self.lit_bool(op.holds(x, y));
            let shape = self.shape(a).to_vec();
            return self.broadcast(c, &shape);
        }
        self.prim(Prim::Compare(op), &[a, b])
    }

    /// Elementwise choice by a mask.
    #[track_caller]
    pub fn select(&mut self, mask: Term, a: Term, b: Term) -> Term {
        if a == b { a } else { self.prim(Prim::Select, &[mask, a, b]) }
    }

    /// Lazy choice by a scalar.
    #[track_caller]
    pub fn cond(&mut self, cond: Term, then: Term, other: Term) -> Term {
        let lit = |t: Term| if let Node::Lit(Lit::Bool(b)) = *self.node(t) { Some(b) } else { None };
        match (lit(then), lit(other)) {
            _ if then == other => then,
            (Some(true), Some(false)) => cond,
            (Some(false), Some(true)) => self.not(cond),
            _ => self.mk(Node::Cond { cond, then, other }),
        }
    }

    /// `!a`, elementwise.
    #[track_caller]
    pub fn not(&mut self, a: Term) -> Term {
        if let Node::Lit(Lit::Bool(b)) = *self.node(a) {
            return self.lit_bool(!b);
        }
        if let Node::Prim(Prim::Not, args) = self.node(a) {
            return args[0];
        }
        self.prim(Prim::Not, &[a])
    }

    /// `a && b`, elementwise.
    #[track_caller]
    pub fn and(&mut self, a: Term, b: Term) -> Term {
        match (self.bool_value(a), self.bool_value(b)) {
            (Some(true), _) => b,
            (_, Some(true)) => a,
            (Some(false), _) => a,
            (_, Some(false)) => b,
            _ if a == b => a,
            _ => self.prim(Prim::And, &[a, b]),
        }
    }

    /// `a || b`, elementwise.
    #[track_caller]
    pub fn or(&mut self, a: Term, b: Term) -> Term {
        match (self.bool_value(a), self.bool_value(b)) {
            (Some(false), _) => b,
            (_, Some(false)) => a,
            (Some(true), _) => a,
            (_, Some(true)) => b,
            _ if a == b => a,
            _ => self.prim(Prim::Or, &[a, b]),
        }
    }

    /// An integer operation, elementwise. Constants are folded. A term plus several constants
    /// becomes the term plus one constant, so that equal sizes are more often one term.
    #[track_caller]
    pub fn int(&mut self, op: IntOp, a: Term, b: Term) -> Term {
        let Elem::Int(ty) = self.elem(a) else { panic!("an integer operation on {:?}", self.elem(a)) };
        if self.rank(a) > 0 {
            return self.prim(Prim::Int(op), &[a, b]);
        }
        let (va, vb) = (self.int_value(a), self.int_value(b));
        if let (Some(x), Some(y)) = (va, vb) {
            return self.lit(Lit::Int(ty, int_op(op, ty, x, y)));
        }
        match (op, va, vb) {
            (IntOp::Add, Some(0), _) | (IntOp::Mul, Some(1), _) => return b,
            (IntOp::Add | IntOp::Sub, _, Some(0)) | (IntOp::Mul | IntOp::Div, _, Some(1)) => {
                return a;
            }
            (IntOp::Mul, Some(0), _) => return a,
            (IntOp::Mul, _, Some(0)) => return b,
            (IntOp::BitAnd, Some(0), _) => return a,
            (IntOp::BitAnd, _, Some(0)) | (IntOp::BitOr | IntOp::BitXor, Some(0), _) => return b,
            (IntOp::BitOr | IntOp::BitXor | IntOp::Shl | IntOp::Shr, _, Some(0)) => return a,
            // Constants are on the right. Otherwise the older term is first, and a term that
            // depends on an index is last, since alpha-equal terms must have one order.
            (IntOp::Add | IntOp::Mul, Some(_), None) => return self.int(op, b, a),
            (IntOp::Add | IntOp::Mul, None, None) if (!self.free(b).is_empty(), b) < (!self.free(a).is_empty(), a) => {
                return self.int(op, b, a);
            }
            _ => {}
        }
        if let (IntOp::Add | IntOp::Sub, Some(y)) = (op, vb)
            && let Node::Prim(Prim::Int(IntOp::Add), args) = self.node(a)
        {
            // `(x + c) + d`, and `(x + c) - d` with `d <= c`. This does not bring an intermediate
            // value out of its range.
            let (x, c) = (args[0], args[1]);
            if let Some(c) = self.int_value(c)
                && c >= 0
                && y >= 0
            {
                let k = if op == IntOp::Add { c + y } else { c - y };
                if k >= 0 {
                    let k = self.lit(Lit::Int(ty, k));
                    return self.int(IntOp::Add, x, k);
                }
            }
        }
        if let (IntOp::Sub, Some(y), true) = (op, vb, ty.range().0 == 0)
            && let Node::Prim(Prim::Int(IntOp::Sub), args) = self.node(a)
        {
            // `(x - c) - d`: both subtractions stop at 0.
            let x = args[0];
            if let Some(c) = self.int_value(args[1])
                && let k = c + y
                && k <= ty.range().1
            {
                let k = self.lit(Lit::Int(ty, k));
                return self.int(IntOp::Sub, x, k);
            }
        }
        self.prim(Prim::Int(op), &[a, b])
    }

    /// A cast, elementwise.
    #[track_caller]
    pub fn cast(&mut self, to: Elem, t: Term) -> Term {
        if self.elem(t) == to {
            return t;
        }
        if let (Some(n), Elem::Int(ty)) = (self.int_value(t), to) {
            let (lo, hi) = ty.range();
            if (lo..=hi).contains(&n) {
                return self.lit(Lit::Int(ty, n));
            }
        }
        if let (Some(n), Elem::Real(ty)) = (self.int_value(t), to) {
            #[allow(clippy::cast_precision_loss, reason = "as the cast that is folded")]
            return self.lit_real(ty, n as f64);
        }
        self.prim(Prim::Cast(to), &[t])
    }

    /// The value of an integer literal.
    #[must_use]
    pub fn int_value(&self, t: Term) -> Option<i128> {
        match self.node(t) {
            Node::Lit(Lit::Int(_, n)) => Some(*n),
            _ => None,
        }
    }

    /// The value of a boolean literal, or of an array of one.
    #[must_use]
    pub fn bool_value(&self, t: Term) -> Option<bool> {
        match self.node(self.splat(t)) {
            Node::Lit(Lit::Bool(b)) => Some(*b),
            _ => None,
        }
    }

    /// The value of a real literal, or of an array of one.
    #[must_use]
    pub fn real_value(&self, t: Term) -> Option<f64> {
        match self.node(self.splat(t)) {
            Node::Lit(lit) => lit.as_real(),
            _ => None,
        }
    }

    /// The size that is not 0 where a condition holds, if the condition states nothing else.
    #[must_use]
    pub fn not_empty(&self, cond: Term) -> Option<Term> {
        match self.node(cond) {
            Node::Prim(Prim::Compare(Cmp::Lt), args) if self.int_value(args[0]) == Some(0) => Some(args[1]),
            _ => None,
        }
    }

    /// The scalar that `t` replicates, if it does; otherwise `t`.
    #[must_use]
    pub fn splat(&self, mut t: Term) -> Term {
        while let Node::Prim(Prim::Replicate(_), args) = self.node(t) {
            t = args[0];
        }
        t
    }

    /// The axis whose index each element of the term is.
    #[must_use]
    pub fn iota_axis(&self, t: Term) -> Option<u8> {
        match self.node(t) {
            Node::Prim(Prim::Iota, _) => Some(0),
            Node::Prim(Prim::Replicate(new), args) if matches!(self.node(args[0]), Node::Prim(Prim::Iota, _)) => {
                (0..self.rank(t)).map(axis).find(|a| !new.contains(a))
            }
            _ => None,
        }
    }

    /// A tuple.
    pub fn tuple(&mut self, parts: &[Term]) -> Term {
        self.mk(Node::Tuple(parts.into()))
    }

    /// A component of a tuple.
    #[track_caller]
    pub fn proj(&mut self, t: Term, k: usize) -> Term {
        if let Node::Tuple(parts) = self.node(t) {
            return parts[k];
        }
        self.mk(Node::Proj(t, u32::try_from(k).unwrap_or(u32::MAX)))
    }

    /// A loop.
    #[track_caller]
    pub fn scan(&mut self, scan: Scan) -> Term {
        self.mk(Node::Scan(Box::new(scan)))
    }
}

/// The value of an integer operation: the nearest value in range, or the dividend if the divisor is
/// 0.
#[must_use]
pub fn int_op(op: IntOp, ty: IntTy, x: i128, y: i128) -> i128 {
    let (lo, hi) = ty.range();
    let exact = match op {
        IntOp::Add => x + y,
        IntOp::Sub => x - y,
        IntOp::Mul => x.saturating_mul(y),
        IntOp::Div => {
            if y == 0 {
                x
            } else {
                x / y
            }
        }
        IntOp::Rem => {
            if y == 0 {
                x
            } else {
                x % y
            }
        }
        IntOp::Min => x.min(y),
        IntOp::Max => x.max(y),
        IntOp::BitAnd => x & y,
        IntOp::BitOr => x | y,
        IntOp::BitXor => x ^ y,
        IntOp::Shl | IntOp::Shr => match u32::try_from(y) {
            Ok(by) if by < ty.bits() && op == IntOp::Shr => x >> by,
            // The low bits, interpreted in the type.
            Ok(by) if by < ty.bits() => {
                let (span, shifted) = (hi - lo + 1, x << by);
                (shifted - lo).rem_euclid(span) + lo
            }
            _ => x,
        },
        IntOp::Pow => {
            let n = u32::try_from(y.max(0)).unwrap_or(u32::MAX);
            x.checked_pow(n).unwrap_or(if x < 0 && n % 2 == 1 { i128::MIN } else { i128::MAX })
        }
    };
    exact.clamp(lo, hi)
}

impl Types for Graph {
    fn ty(&self, t: Term) -> &Type {
        Graph::ty(self, t)
    }

    fn depends_on(&self, t: Term) -> Option<&'static str> {
        if !self.free(t).is_empty() {
            Some("a build index")
        } else if self.is_open(t) {
            Some("a loop's own values")
        } else {
            None
        }
    }

    fn int_value(&self, t: Term) -> Option<i128> {
        Graph::int_value(self, t)
    }

    fn find_usize(&self, n: usize) -> Option<Term> {
        Graph::find_usize(self, n)
    }
}

impl Build for Graph {
    fn raw(&mut self, prim: Prim, args: &[Term]) -> Term {
        self.prim(prim, args)
    }

    fn make(&mut self, prim: &Prim, args: &[Term]) -> Term {
        match prim {
            Prim::Select => Graph::select(self, args[0], args[1], args[2]),
            Prim::Not => self.not(args[0]),
            Prim::And => Graph::and(self, args[0], args[1]),
            Prim::Or => Graph::or(self, args[0], args[1]),
            Prim::Compare(op) => Graph::compare(self, *op, args[0], args[1]),
            Prim::Int(op) => self.int(*op, args[0], args[1]),
            Prim::Cast(to) => self.cast(*to, args[0]),
            Prim::Replicate(axes) => Graph::replicate_axes(self, args[0], axes, &args[1..]),
            Prim::Sum(axes) => self.sum_axes(args[0], axes),
            Prim::Transpose(perm) => Graph::transpose(self, args[0], perm),
            Prim::Reshape => self.reshape(args[0], &args[1..]),
            Prim::Recast => self.recast(args[0], &args[1..]),
            Prim::Slice(steps) => self.slice(args[0], &args[1..=steps.len()], steps, &args[1 + steps.len()..]),
            Prim::Pad(steps) => self.pad(args[0], &args[1..=steps.len()], steps, &args[1 + steps.len()..]),
            Prim::RelaxedExact => self.relaxed_exact(args[0], args[1]),
            _ => self.prim(prim.clone(), args),
        }
    }

    fn row_by_row(&mut self, prim: &Prim, args: &[Term], lifted: &[Term], varies: &[bool], size: Term) -> Term {
        self.rows_of(prim, args, lifted, varies, size)
    }

    fn variable(&mut self) -> Term {
        let var = self.fresh();
        self.mk(Node::Var(var))
    }

    fn lit_usize(&mut self, n: usize) -> Term {
        Graph::lit_usize(self, n)
    }

    fn lit_like(&mut self, t: Term, x: f64) -> Term {
        Graph::lit_like(self, t, x)
    }
}
