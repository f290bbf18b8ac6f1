//! Element expressions: an array term at an index, as a graph of scalar operations. The rules are
//! those of BOT Fig. 10, as functions from index to element: replicate drops an index, transpose
//! permutes, gather substitutes, elementwise operations distribute, select is a lazy choice. Nodes
//! are interned, so nothing is computed twice. This module never expands a stored term, and never
//! recurses: chains of terms are as long as the program.

use std::collections::{HashMap, HashSet};

use super::plan::Plan;
use super::store::{Class, is_broadcast};
use ad_ir::ir::{Elem, Graph, IntTy, Lit, Node, Term, Var};
use ad_ir::prim::{Cmp, IntOp, Prim};
use ad_middle::passes::lowering::unsigned_comparison;

/// A scalar node.
pub(super) type Id = u32;

/// A scalar operation inside a loop nest.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub(super) enum Op {
    /// A constant.
    Lit(Lit),
    /// A closed scalar that the driver has computed.
    Scalar(Term),
    /// The index of a loop.
    Var(u8),
    /// An element of a stored array, seen as an array of these sizes.
    Load { buf: Term, sizes: Box<[Term]>, ix: Box<[Id]> },
    /// An elementwise primitive other than `Select`.
    Prim(Prim, Box<[Id]>),
    /// A lazy choice.
    If(Id, Id, Id),
}

/// A node with the facts that the nest needs.
#[derive(Clone, Debug)]
pub(super) struct Scalar {
    pub(super) op: Op,
    pub(super) elem: Elem,
    /// Number of outer loops that it must be inside: 1 + the innermost loop whose index it
    /// mentions.
    pub(super) level: u8,
    /// A source name.
    pub(super) hint: Option<String>,
    /// Whether a decision depends on it.
    pub(super) exact: bool,
}

/// The key of an expression: term, index, values of its free variables.
type Key = (Term, u32, u32);

/// The scalar graph of one loop nest.
pub(super) struct Kernel<'a> {
    g: &'a Graph,
    plan: &'a Plan,
    hints: &'a HashMap<Term, String>,
    /// Sizes of the loops, outermost first.
    pub(super) loops: Vec<Term>,
    pub(super) nodes: Vec<Scalar>,
    interned: HashMap<Op, Id>,
    memo: HashMap<Key, Id>,
    indices: Lists<Id>,
    environments: Lists<(Var, Id)>,
    /// Stored terms that this nest computes. Reads of them at the loops' indices are not loads.
    members: HashSet<Term>,
    identity: Vec<Id>,
}

/// Interned lists.
struct Lists<T> {
    all: Vec<Vec<T>>,
    ids: HashMap<Vec<T>, u32>,
}

impl<T: Clone + Eq + std::hash::Hash> Lists<T> {
    fn new() -> Self {
        Lists { all: Vec::new(), ids: HashMap::new() }
    }

    fn id(&mut self, list: Vec<T>) -> u32 {
        if let Some(&id) = self.ids.get(&list) {
            return id;
        }
        let id = u32::try_from(self.all.len()).unwrap_or(u32::MAX);
        self.all.push(list.clone());
        self.ids.insert(list, id);
        id
    }
}

/// The reason why an expression cannot be built yet.
enum Stop {
    /// These expressions have to be built first.
    Needs(Vec<Key>),
    Error(String),
}

impl From<String> for Stop {
    fn from(e: String) -> Stop {
        Stop::Error(e)
    }
}

impl<'a> Kernel<'a> {
    pub(super) fn new(
        g: &'a Graph,
        plan: &'a Plan,
        hints: &'a HashMap<Term, String>,
        loops: Vec<Term>,
        members: impl IntoIterator<Item = Term>,
    ) -> Self {
        let mut k = Kernel {
            g,
            plan,
            hints,
            loops,
            nodes: Vec::new(),
            interned: HashMap::new(),
            memo: HashMap::new(),
            indices: Lists::new(),
            environments: Lists::new(),
            members: members.into_iter().collect(),
            identity: Vec::new(),
        };
        k.identity = (0..k.loops.len()).map(|v| k.op(Op::Var(u8::try_from(v).unwrap_or(u8::MAX)))).collect();
        k
    }

    /// Zero of the type of a node.
    pub(super) fn zero(&mut self, of: Id) -> Id {
        let zero = Lit::zero(self.node(of).elem);
        self.op(Op::Lit(zero))
    }

    /// Sets the index of each axis of the domain, if that is not the index of the loop with the
    /// same number.
    pub(super) fn set_identity(&mut self, identity: Vec<Id>) {
        self.identity = identity;
    }

    /// The indices of the loops.
    pub(super) fn identity(&self) -> &[Id] {
        &self.identity
    }

    pub(super) fn plan(&self) -> &Plan {
        self.plan
    }

    pub(super) fn node(&self, id: Id) -> &Scalar {
        &self.nodes[id as usize]
    }

    pub(super) fn op(&mut self, op: Op) -> Id {
        if let Some(&id) = self.interned.get(&op) {
            return id;
        }
        let level = |ids: &[Id]| ids.iter().map(|&i| self.nodes[i as usize].level).max().unwrap_or(0);
        let elem = |id: Id| self.nodes[id as usize].elem;
        let (elem, level) = match &op {
            Op::Lit(lit) => (lit.elem(), 0),
            Op::Scalar(t) => (self.g.elem(*t), 0),
            Op::Var(v) => (Elem::USIZE, v + 1),
            Op::Load { buf, ix, .. } => (self.g.elem(*buf), level(ix)),
            Op::If(c, a, b) => (elem(*a), level(&[*c, *a, *b])),
            Op::Prim(prim, args) => {
                let elem = match prim {
                    Prim::Compare(_) | Prim::Not | Prim::And | Prim::Or | Prim::Finished => Elem::Bool,
                    Prim::Cast(to) => *to,
                    Prim::TotalOrder => Elem::Int(IntTy::I64),
                    _ => elem(args[0]),
                };
                (elem, level(args))
            }
        };
        let id = u32::try_from(self.nodes.len()).unwrap_or(u32::MAX);
        self.nodes.push(Scalar { op: op.clone(), elem, level, hint: None, exact: false });
        self.interned.insert(op, id);
        id
    }

    pub(super) fn usize(&mut self, n: i128) -> Id {
        self.op(Op::Lit(Lit::Int(IntTy::Usize, n)))
    }

    fn int(&self, id: Id) -> Option<i128> {
        match self.node(id).op {
            Op::Lit(Lit::Int(_, n)) => Some(n),
            _ => None,
        }
    }

    /// The parts of `i + x`, if `i` is a loop's index and `x` a literal.
    fn sum(&self, id: Id) -> Option<(Id, i128)> {
        match &self.node(id).op {
            Op::Prim(Prim::Int(IntOp::Add), args) if matches!(self.node(args[0]).op, Op::Var(_)) => {
                Some((args[0], self.int(args[1]).filter(|x| (0..1 << 32).contains(x))?))
            }
            _ => None,
        }
    }

    /// A kernel of the same loops without any expression yet.
    pub(super) fn empty(&self) -> Kernel<'a> {
        Kernel::new(self.g, self.plan, self.hints, self.loops.clone(), self.members.iter().copied())
    }

    /// An integer operation on indices, with the trivial cases folded.
    pub(super) fn arith(&mut self, op: IntOp, a: Id, b: Id) -> Id {
        match (op, self.int(a), self.int(b)) {
            (IntOp::Add, Some(0), _) | (IntOp::Mul, Some(1), _) => b,
            (IntOp::Add | IntOp::Sub, _, Some(0)) | (IntOp::Mul | IntOp::Div, _, Some(1)) => a,
            (_, Some(x), Some(y)) => {
                let n = ad_ir::ir::int_op(op, IntTy::Usize, x, y);
                self.usize(n)
            }
            (IntOp::Add, Some(_), None) if matches!(self.node(b).op, Op::Prim(..)) => self.arith(op, b, a),
            (IntOp::Add | IntOp::Sub, _, Some(y)) if self.sum(a).is_some_and(|(_, x)| op == IntOp::Add || x >= y) => {
                // `(i + x) + y`, `(i + x) - y`
                let (i, x) = self.sum(a).unwrap_or((a, 0));
                let n = self.usize(if op == IntOp::Add { x + y } else { x - y });
                self.arith(IntOp::Add, i, n)
            }
            _ => self.op(Op::Prim(Prim::Int(op), [a, b].into())),
        }
    }

    pub(super) fn choose(&mut self, c: Id, a: Id, b: Id) -> Id {
        match self.node(c).op {
            Op::Lit(Lit::Bool(true)) => a,
            Op::Lit(Lit::Bool(false)) => b,
            _ if a == b => a,
            _ => self.op(Op::If(c, a, b)),
        }
    }

    /// The element of `t` at these indices; `vars` are the values of its free variables.
    pub(super) fn element(&mut self, t: Term, ix: &[Id], vars: &[(Var, Id)]) -> Result<Id, String> {
        let key = self.key(t, ix.to_vec(), vars);
        self.run(key)
    }

    /// The element of a stored term that this nest computes: its definition, not a load.
    pub(super) fn definition(&mut self, t: Term, ix: &[Id]) -> Result<Id, String> {
        let ix = self.indices.id(ix.to_vec());
        let env = self.environments.id(Vec::new());
        loop {
            match self.expand((t, ix, env)) {
                Ok(id) => {
                    self.nodes[id as usize].exact |= self.plan.exact.contains(&t);
                    return Ok(id);
                }
                Err(Stop::Error(e)) => return Err(e),
                Err(Stop::Needs(keys)) => {
                    for key in keys {
                        self.run(key)?;
                    }
                }
            }
        }
    }

    fn key(&mut self, t: Term, ix: Vec<Id>, vars: &[(Var, Id)]) -> Key {
        let free = self.g.free(t);
        let env = vars.iter().copied().filter(|(v, _)| free.contains(v)).collect();
        (t, self.indices.id(ix), self.environments.id(env))
    }

    fn run(&mut self, root: Key) -> Result<Id, String> {
        let mut stack = vec![root];
        while let Some(&key) = stack.last() {
            if self.memo.contains_key(&key) {
                stack.pop();
                continue;
            }
            match self.step(key) {
                Ok(id) => {
                    self.memo.insert(key, id);
                    self.nodes[id as usize].exact |= self.plan.exact.contains(&key.0);
                    stack.pop();
                    let hints = self.hints;
                    if let Some(hint) = hints.get(&key.0) {
                        self.nodes[id as usize].hint.get_or_insert_with(|| hint.clone());
                    }
                }
                Err(Stop::Needs(keys)) => stack.extend(keys),
                Err(Stop::Error(e)) => return Err(e),
            }
        }
        Ok(self.memo[&root])
    }

    fn step(&mut self, key: Key) -> Result<Id, Stop> {
        let (t, ix, _) = key;
        let g = self.g;
        if let Node::Lit(lit) = g.node(t) {
            return Ok(self.op(Op::Lit(*lit)));
        }
        match self.plan.class(t) {
            Class::Scalar => Ok(self.op(Op::Scalar(t))),
            Class::Buffer => {
                let ix = self.indices.all[ix as usize].clone();
                if self.members.contains(&t) && ix == self.identity {
                    return self.expand(key);
                }
                if let (Node::Lit(lit), true) = (g.node(g.splat(t)), is_broadcast(g, t)) {
                    return Ok(self.op(Op::Lit(*lit)));
                }
                let sizes = g.shape(t).into();
                Ok(self.op(Op::Load { buf: t, sizes, ix: ix.into() }))
            }
            Class::View => self.expand(key),
        }
    }

    /// The rules, one for each arm.
    fn expand(&mut self, key: Key) -> Result<Id, Stop> {
        let (t, ix, env) = key;
        let g = self.g;
        let ix = self.indices.all[ix as usize].clone();
        let env = self.environments.all[env as usize].clone();
        let mut missing = Vec::new();
        match g.node(t) {
            Node::Lit(lit) => Ok(self.op(Op::Lit(*lit))),
            Node::Var(v) => match env.iter().find(|(w, _)| w == v) {
                Some(&(_, id)) => Ok(id),
                None => Err(Stop::Error("a bound index outside its scope".into())),
            },
            Node::Cond { cond, then, other } => {
                let c = self.need(*cond, Vec::new(), &env, &mut missing);
                let a = self.need(*then, ix.clone(), &env, &mut missing);
                let b = self.need(*other, ix, &env, &mut missing);
                all_built(missing)?;
                Ok(self.choose(c, a, b))
            }
            Node::Gather { src, vars, index, .. } => {
                let mut inner = env.clone();
                inner.extend(vars.iter().copied().zip(ix.iter().copied()));
                let mut at: Vec<Id> = index.iter().map(|&i| self.need(i, Vec::new(), &inner, &mut missing)).collect();
                all_built(std::mem::take(&mut missing))?;
                at.extend(&ix[vars.len()..]);
                let id = self.need(*src, at, &env, &mut missing);
                all_built(missing)?;
                Ok(id)
            }
            Node::Prim(prim, args) => self.expand_prim(t, prim, args, ix, &env),
            node => Err(Stop::Error(format!("no element expression for {node:?}"))),
        }
    }

    fn expand_prim(&mut self, t: Term, prim: &Prim, args: &[Term], ix: Vec<Id>, env: &[(Var, Id)]) -> Result<Id, Stop> {
        let g = self.g;
        let mut missing = Vec::new();
        if prim.is_elementwise() {
            let args: Vec<Id> = args.iter().map(|&c| self.need(c, ix.clone(), env, &mut missing)).collect();
            all_built(missing)?;
            return Ok(match prim {
                Prim::Select => self.choose(args[0], args[1], args[2]),
                Prim::StopGradient | Prim::UnknownOrder | Prim::Checkpoint => args[0],
                Prim::Compare(op) if self.is_unsigned(args[0]) => self.compare(*op, args[0], args[1]),
                Prim::And => self.both(args[0], args[1]),
                _ => self.op(Op::Prim(prim.clone(), args.into())),
            });
        }
        let rank = g.rank(t);
        let at: Vec<Id> = match prim {
            Prim::Recast => {
                // A stored array is read with the size terms of its reader.
                if self.plan.class(args[0]) == Class::Buffer && !self.members.contains(&args[0]) {
                    // Outside of loops a single element is read with the array's own sizes.
                    let sizes = if self.loops.is_empty() { g.shape(args[0]) } else { g.shape(t) };
                    return Ok(self.op(Op::Load { buf: args[0], sizes: sizes.into(), ix: ix.into() }));
                }
                ix
            }
            Prim::Iota => return Ok(ix[0]),
            Prim::Reshape => return self.reshape(t, args[0], ix, env),
            Prim::Slice(steps) => {
                let starts: Vec<Id> =
                    args[1..=rank].iter().map(|&c| self.need(c, Vec::new(), env, &mut missing)).collect();
                all_built(std::mem::take(&mut missing))?;
                (0..rank).map(|k| self.affine(starts[k], steps[k], ix[k])).collect()
            }
            Prim::Pad(steps) => return self.pad(args, steps, &ix, env),
            _ => match prim.structural(|s| s.selects(rank)).flatten() {
                Some(axes) => axes.into_iter().map(|a| ix[a]).collect(),
                None => return Err(Stop::Error(format!("{} is stored, not expanded", prim.name()))),
            },
        };
        let id = self.need(args[0], at, env, &mut missing);
        all_built(missing)?;
        Ok(id)
    }

    /// `start + step * i`.
    pub(super) fn affine(&mut self, start: Id, step: i64, i: Id) -> Id {
        let size = self.usize(i128::from(step.unsigned_abs()));
        let scaled = self.arith(IntOp::Mul, i, size);
        if step < 0 { self.arith(IntOp::Sub, start, scaled) } else { self.arith(IntOp::Add, start, scaled) }
    }

    /// Row-major order is kept: stored elements are read through the new sizes, others by division.
    fn reshape(&mut self, t: Term, src: Term, ix: Vec<Id>, env: &[(Var, Id)]) -> Result<Id, Stop> {
        let g = self.g;
        let mut missing = Vec::new();
        if self.plan.class(src) == Class::Buffer && !self.members.contains(&src) {
            return Ok(self.op(Op::Load { buf: src, sizes: g.shape(t).into(), ix: ix.into() }));
        }
        if is_broadcast(g, src) {
            let zero = self.usize(0);
            let id = self.need(src, vec![zero; g.rank(src)], env, &mut missing);
            all_built(missing)?;
            return Ok(id);
        }
        let sizes: Vec<Id> = g.shape(t).iter().map(|&c| self.need(c, Vec::new(), env, &mut missing)).collect();
        let into: Vec<Id> = g.shape(src).iter().map(|&c| self.need(c, Vec::new(), env, &mut missing)).collect();
        all_built(std::mem::take(&mut missing))?;
        let mut linear = self.usize(0);
        for (&i, &n) in ix.iter().zip(&sizes) {
            linear = self.arith(IntOp::Mul, linear, n);
            linear = self.arith(IntOp::Add, linear, i);
        }
        let mut at = vec![linear; into.len()];
        for k in (0..into.len()).rev() {
            if k > 0 {
                at[k] = self.arith(IntOp::Rem, linear, into[k]);
                linear = self.arith(IntOp::Div, linear, into[k]);
            } else {
                at[k] = linear;
            }
        }
        let id = self.need(src, at, env, &mut missing);
        all_built(missing)?;
        Ok(id)
    }

    /// A read with a range test; the element is zero outside of the range.
    fn pad(&mut self, args: &[Term], steps: &[i64], ix: &[Id], env: &[(Var, Id)]) -> Result<Id, Stop> {
        let (g, rank) = (self.g, steps.len());
        let mut missing = Vec::new();
        let starts: Vec<Id> = args[1..=rank].iter().map(|&c| self.need(c, Vec::new(), env, &mut missing)).collect();
        let lens: Vec<Id> = g.shape(args[0]).iter().map(|&c| self.need(c, Vec::new(), env, &mut missing)).collect();
        all_built(std::mem::take(&mut missing))?;
        let mut inside = self.op(Op::Lit(Lit::Bool(true)));
        let mut at = Vec::with_capacity(rank);
        for k in 0..rank {
            let (low, high) = if steps[k] > 0 { (starts[k], ix[k]) } else { (ix[k], starts[k]) };
            let offset = self.arith(IntOp::Sub, high, low);
            let size = self.usize(i128::from(steps[k].unsigned_abs()));
            if self.int(low) != Some(0) {
                let reached = self.compare(Cmp::Ge, high, low);
                inside = self.both(inside, reached);
            }
            if self.int(size) != Some(1) {
                let (rest, zero) = (self.arith(IntOp::Rem, offset, size), self.usize(0));
                let hit = self.compare(Cmp::Eq, rest, zero);
                inside = self.both(inside, hit);
            }
            let i = self.arith(IntOp::Div, offset, size);
            let covered = matches!(self.node(i).op, Op::Var(v) if self.loops[usize::from(v)] == g.shape(args[0])[k]);
            if !covered {
                let short = match self.int(lens[k]) {
                    Some(0) => self.op(Op::Lit(Lit::Bool(false))),
                    _ => self.compare(Cmp::Lt, i, lens[k]),
                };
                inside = self.both(inside, short);
            }
            at.push(i);
        }
        let value = self.need(args[0], at, env, &mut missing);
        all_built(missing)?;
        let zero = self.zero(value);
        Ok(self.choose(inside, value, zero))
    }

    fn is_unsigned(&self, id: Id) -> bool {
        matches!(self.node(id).elem, Elem::Int(ty) if ty.range().0 == 0)
    }

    /// A comparison of unsigned values. It is a constant if no value, or each of them, satisfies
    /// it; rustc would warn about it.
    fn compare(&mut self, op: Cmp, a: Id, b: Id) -> Id {
        match unsigned_comparison(op, self.int(a), self.int(b)) {
            Some(value) => self.op(Op::Lit(Lit::Bool(value))),
            None => self.op(Op::Prim(Prim::Compare(op), [a, b].into())),
        }
    }

    pub(super) fn both(&mut self, a: Id, b: Id) -> Id {
        match (&self.node(a).op, &self.node(b).op) {
            (Op::Lit(Lit::Bool(true)), _) | (_, Op::Lit(Lit::Bool(false))) => b,
            (Op::Lit(Lit::Bool(false)), _) | (_, Op::Lit(Lit::Bool(true))) => a,
            _ => self.op(Op::Prim(Prim::And, [a, b].into())),
        }
    }

    /// The node of an expression. If it is not built yet, it is noted as missing.
    fn need(&mut self, t: Term, ix: Vec<Id>, env: &[(Var, Id)], missing: &mut Vec<Key>) -> Id {
        let key = self.key(t, ix, env);
        match self.memo.get(&key) {
            Some(&id) => id,
            None => {
                missing.push(key);
                0
            }
        }
    }
}

/// The nodes that a node reads.
pub(super) fn operands(op: &Op) -> Vec<Id> {
    match op {
        Op::Lit(_) | Op::Scalar(_) | Op::Var(_) => Vec::new(),
        Op::Load { ix, .. } => ix.to_vec(),
        Op::Prim(_, args) => args.to_vec(),
        Op::If(c, a, b) => vec![*c, *a, *b],
    }
}

fn all_built(missing: Vec<Key>) -> Result<(), Stop> {
    if missing.is_empty() { Ok(()) } else { Err(Stop::Needs(missing)) }
}
