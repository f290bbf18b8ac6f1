//! Opening and closing the body of a loop. A front end lowers a step over placeholders. Closing the
//! loop turns the outer terms that the step reads into captures, and arrays whose rows are read by
//! the step of the same number into consumed arrays.

use crate::sorted::SortedMap;
use std::collections::HashMap;

use super::rewrite::{Memoised, Needs, OnDemand, on_demand};
use super::{Body, Elem, Graph, Node, Scan, Term, Type, Var};
use crate::prim::Prim;
use crate::prim::structural::{Callee, Extent, Half, Returns};

/// The numbers of placeholders are above those of all parameters of closed bodies.
const PLACEHOLDER: usize = 1 << 29;

/// A loop whose body is still a term over placeholders.
#[derive(Clone, Debug)]
pub struct OpenLoop {
    /// Number of steps.
    pub count: Term,
    /// Whether the last step comes first.
    pub reverse: bool,
    /// The carried boolean (by its number) that ends the loop before the next step, see
    /// [`Scan::stop`]. `while c { b }` is a loop of `usize::MAX` steps that carries the variables
    /// that `b` assigns, and `!c`. Its body does not mention the step, and makes no rows, since an
    /// array of `usize::MAX` rows does not exist. A loop with `break` has its usual number of
    /// steps; rows of steps after the last one are unspecified.
    pub stop: Option<usize>,
    /// The index of the step: a fresh variable.
    pub step: Var,
    /// Carried values before the first step.
    pub init: Vec<Term>,
    /// Their placeholders in a step, from [`Graph::placeholder`].
    pub carried: Vec<Term>,
    /// Carried values after a step, and the rows that it makes.
    pub results: Vec<Term>,
}

/// The outer terms that a loop reads.
#[derive(Default)]
struct LoopInputs {
    captures: Vec<Term>,
    /// The arrays whose rows are each read by the step of the same number.
    xs: Vec<Term>,
    /// Whether the body mentions the step.
    steps: bool,
    /// Placeholders for these. The numbers of parameters are known only after all captures have
    /// been found.
    taken: Vec<(Term, ClosedInput)>,
}

/// The term that replaces a placeholder.
#[derive(Clone, Copy, PartialEq, Eq)]
enum ClosedInput {
    Capture(usize),
    Row(usize),
}

/// Closes the body of a loop.
struct Closing<'l> {
    g: &'l mut Graph,
    l: &'l OpenLoop,
    /// The outer terms that are captures in any case.
    over: &'l [Term],
    /// Whether a term depends on the step, on a carried value, or on one of these.
    depends: HashMap<Term, bool>,
    /// Whether it mentions an input or another loop's placeholder.
    data: HashMap<Term, bool>,
    outside: LoopInputs,
    /// The terms of the closed body.
    new: HashMap<Term, Term>,
}

impl Graph {
    /// A value of this type that no term mentions yet.
    pub fn placeholder(&mut self, ty: Type) -> Term {
        let number = PLACEHOLDER + self.len();
        self.param(number, ty)
    }

    /// The array whose elements an update changes: the destination of a scatter, or the array to
    /// which a call adds a cotangent.
    #[must_use]
    pub fn destination(&self, t: Term) -> Option<Term> {
        match self.node(t) {
            Node::Scatter { dst, .. } => Some(*dst),
            Node::Prim(Prim::Onto(..), args) => args.last().copied(),
            _ => None,
        }
    }

    /// The same update of another array.
    pub fn onto(&mut self, t: Term, dst: Term) -> Term {
        match self.node(t).clone() {
            Node::Scatter { put, src, vars, index, .. } => self.mk(Node::Scatter { put, dst, src, vars, index }),
            Node::Prim(prim @ Prim::Onto(..), args) => {
                let args: Vec<Term> = args[..args.len() - 1].iter().copied().chain([dst]).collect();
                self.prim(prim, &args)
            }
            _ => t,
        }
    }

    /// Whether a loop is one call of a reverse half that adds to several arrays and numbers: each
    /// result of its body is the cotangent of one active argument. No pass may take it apart, since
    /// each part would make the call.
    #[must_use]
    pub fn is_one_call(&self, scan: &Scan) -> bool {
        scan.body.results.len() > 1
            && scan.body.results.iter().all(|&t| matches!(self.node(t), Node::Prim(Prim::Onto(..), _)))
    }

    /// Whether each step of a loop is a checkpoint, see [`Prim::Checkpoint`]. No pass may take
    /// anything out of its steps, nor save what a step computes.
    #[must_use]
    pub fn has_checkpoints(&self, scan: &Scan) -> bool {
        matches!(self.node(scan.count), Node::Prim(Prim::Checkpoint, _))
    }

    /// Whether a term depends on one of these placeholders or free variables.
    #[must_use]
    pub fn depends_on(&self, t: Term, leaves: &[Term]) -> bool {
        let Some(&oldest) = leaves.iter().min() else { return false };
        let mut seen = std::collections::HashSet::new();
        let mut stack = vec![t];
        while let Some(t) = stack.pop() {
            if leaves.contains(&t) {
                return true;
            }
            // Children are older than parents.
            if t > oldest && seen.insert(t) {
                self.node(t).for_each_child(|c| stack.push(c));
            }
        }
        false
    }

    /// The loop as a term. Outer terms in its body become captures. Arrays that are read at the
    /// step's own index are consumed, one row in each step.
    #[track_caller]
    pub fn close_loop(&mut self, l: &OpenLoop) -> Term {
        self.close_loop_over(l, &[])
    }

    /// [`Graph::close_loop`] with these outer terms as captures. The body computes everything that
    /// depends on them, although it is the same in each step.
    #[track_caller]
    pub fn close_loop_over(&mut self, l: &OpenLoop, over: &[Term]) -> Term {
        let (depends, data) = (HashMap::new(), HashMap::new());
        let mut c = Closing { g: self, l, over, depends, data, outside: LoopInputs::default(), new: HashMap::new() };
        on_demand(&mut c, l.results.iter().copied());
        let results: Vec<Term> = l.results.iter().map(|t| c.new[t]).collect();
        let outside = c.outside;
        self.number(l, outside, &results)
    }

    /// `build1 size (\\i -> prim(args))` as a loop over the rows of the arguments that vary, of
    /// which `lifted` has all. The loop of a call that leaves a record also has its results, so
    /// that a result and its call are never in different loops.
    pub(super) fn rows_of(&mut self, prim: &Prim, args: &[Term], lifted: &[Term], varies: &[bool], size: Term) -> Term {
        if let (Prim::Returned(k, _), Some(rows)) = (prim, lifted.first().and_then(|&t| self.loop_of_calls(t))) {
            return self.proj(rows, 1 + *k as usize);
        }
        let step = self.fresh();
        let i = self.mk(Node::Var(step));
        let args: Vec<Term> = args
            .iter()
            .enumerate()
            .map(|(k, &arg)| match lifted.get(k).filter(|_| varies[k]) {
                Some(&all) => self.index(all, &[i]),
                None => arg,
            })
            .collect();
        let row = self.prim(prim.clone(), &args);
        let mut results = vec![row];
        if let Prim::Call(callee) = prim
            && callee.direct.is_none()
            && callee.half == Half::Value
        {
            let sizes = callee.split(&args).1;
            for k in (0..).take(callee.results.len()) {
                results.push(self.returned(callee, k, (row, sizes)));
            }
        }
        let (init, carried) = (Vec::new(), Vec::new());
        let all = self.close_loop(&OpenLoop { count: size, reverse: false, stop: None, step, init, carried, results });
        self.proj(all, 0)
    }

    /// A result of a call that has left this record. `given`: the sizes after the arguments of the
    /// call.
    pub fn returned(&mut self, callee: &Callee, k: u32, (record, given): (Term, &[Term])) -> Term {
        let result = &callee.results[k as usize];
        let (elem, sizes) = (result.elem, self.returned_sizes(result, (record, given)));
        let args: Vec<Term> = std::iter::once(record).chain(sizes).collect();
        self.prim(Prim::Returned(k, elem), &args)
    }

    /// The sizes of a result of a call that has left this record. `given` as in
    /// [`Graph::returned`].
    pub fn returned_sizes(&mut self, result: &Returns, (record, given): (Term, &[Term])) -> Vec<Term> {
        let size = |&extent: &Extent| match extent {
            Extent::Number(n) => self.lit_usize(n),
            Extent::Result(k) => self.prim(Prim::Returned(k, Elem::USIZE), &[record]),
            Extent::Given(k) => given[k as usize],
        };
        result.sizes.iter().map(size).collect()
    }

    /// The loop whose rows are these records and the results that they have.
    fn loop_of_calls(&self, records: Term) -> Option<Term> {
        let Node::Proj(rows, 0) = *self.node(records) else { return None };
        let Node::Scan(scan) = self.node(rows) else { return None };
        let is_call = |t: &Term| matches!(self.node(*t), Node::Prim(Prim::Call(_), _));
        (scan.init.is_empty() && scan.body.results.len() > 1 && is_call(scan.body.results.first()?)).then_some(rows)
    }

    /// Placeholders become parameters.
    fn number(&mut self, l: &OpenLoop, outside: LoopInputs, results: &[Term]) -> Term {
        let LoopInputs { captures, mut xs, steps, taken } = outside;
        let carries = l.carried.len();
        let mut params: Vec<Type> = l.carried.iter().map(|&t| self.ty(t).clone()).collect();
        params.extend(captures.iter().map(|&t| self.ty(t).clone()));
        params.extend(xs.iter().map(|&x| Type::Array(self.elem(x), self.shape(x)[1..].into())));
        let mut place: SortedMap<Term, usize> = l.carried.iter().enumerate().map(|(k, &t)| (t, k)).collect();
        for &(p, what) in &taken {
            let k = match what {
                ClosedInput::Capture(k) => carries + k,
                ClosedInput::Row(k) => carries + captures.len() + k,
            };
            place.insert(p, k);
        }
        if steps {
            let step = self.mk(Node::Var(l.step));
            place.insert(step, params.len());
            params.push(self.ty(step).clone());
            xs.push(self.iota(l.count));
        }
        let mut new: HashMap<Term, Term> = HashMap::new();
        for (&p, &k) in &place {
            let ty = params[k].clone();
            let param = self.param(k, ty);
            new.insert(p, param);
        }
        let results = self.replaced(results, new).into();
        let scan = Scan {
            count: l.count,
            reverse: l.reverse,
            stop: l.stop,
            init: l.init.clone().into(),
            captures: captures.into(),
            xs: xs.into(),
            body: Body { params: params.into(), results },
        };
        // A result may be a size, and a size must be the same term in every stage. So tuples are
        // split at once.
        crate::ir::flatten::scan(self, scan, &mut |g, scan, _| g.scan(scan))
    }

    /// Whether a term can be a size: a closed `usize` scalar.
    fn is_size(&self, t: Term) -> bool {
        *self.ty(t) == Type::scalar(super::Elem::USIZE) && self.free(t).is_empty() && !self.is_open(t)
    }

    /// Whether a term is or contains such a leaf.
    fn any(&self, t: Term, known: &mut HashMap<Term, bool>, leaf: &dyn Fn(Term) -> bool) -> bool {
        let mut stack = vec![(t, false)];
        while let Some((t, children_done)) = stack.pop() {
            if known.contains_key(&t) {
                continue;
            }
            if leaf(t) {
                known.insert(t, true);
            } else if children_done {
                let mut any = false;
                self.node(t).for_each_child(|c| any |= known[&c]);
                known.insert(t, any);
            } else {
                stack.push((t, true));
                self.node(t).for_each_child(|c| stack.push((c, false)));
            }
        }
        known[&t]
    }
}

impl Closing<'_> {
    /// Whether a term is the same in each step, so that it could be outside of the loop.
    fn is_outer(&mut self, t: Term) -> bool {
        let (g, l, over) = (&*self.g, self.l, self.over);
        if g.free(t).iter().any(|v| !v.is_fresh()) {
            return false;
        }
        // A size is closed, whatever computes it. It may be the result of a loop that might not end
        // and that the function reaches only in this loop. If this loop has no step, that loop
        // starts as stopped (`front::checks`).
        if g.is_size(t) {
            return true;
        }
        let leaf =
            |t: Term| l.carried.contains(&t) || over.contains(&t) || matches!(g.node(t), Node::Var(v) if *v == l.step);
        !g.any(t, &mut self.depends, &leaf)
    }

    /// Whether a term is computed from data, or by a loop: a loop of real numbers is no size, and
    /// would run again in each step.
    fn has_data(&mut self, t: Term) -> bool {
        let g = &*self.g;
        let leaf = |t: Term| match g.node(t) {
            Node::Input(_) | Node::Param(..) => true,
            Node::Var(v) => v.is_fresh(),
            Node::Scan(_) => g.ty(t).has_real(),
            _ => false,
        };
        !g.is_size(t) && g.any(t, &mut self.data, &leaf)
    }

    /// The term in the body that stands for an outer term: a placeholder if the outer term has
    /// data. For a tuple it is a tuple of such terms for its parts.
    fn captured(&mut self, t: Term) -> Term {
        // Numbers in sequence are no data, and an inner loop over them counts its steps.
        let counts = matches!(self.g.node(t), Node::Prim(Prim::Iota, _));
        if counts || !self.has_data(t) {
            return t;
        }
        let ty = self.g.ty(t).clone();
        if let Type::Tuple(parts) = &ty {
            let part = |k| {
                let part = self.g.proj(t, k);
                self.captured(part)
            };
            let parts: Vec<Term> = (0..parts.len()).map(part).collect();
            return self.g.tuple(&parts);
        }
        let captured = self.outside.captures.iter().position(|&c| c == t);
        let taken = captured.and_then(|k| self.outside.taken.iter().find(|(_, what)| *what == ClosedInput::Capture(k)));
        if let Some(&(p, _)) = taken {
            return p;
        }
        let p = self.g.placeholder(ty);
        self.outside.taken.push((p, ClosedInput::Capture(self.outside.captures.len())));
        self.outside.captures.push(t);
        p
    }

    /// The array whose row a step reads at its own number: `x[step, ..]`.
    fn row_read(&mut self, node: &Node) -> Option<Term> {
        let Node::Gather { src, vars, index, .. } = node else { return None };
        let (first, count) = (*index.first()?, self.l.count);
        let step = matches!(self.g.node(first), Node::Var(v) if *v == self.l.step);
        if !vars.is_empty() || !step || !self.is_outer(*src) {
            return None;
        }
        let shape = self.g.shape(*src).to_vec();
        if shape[0] == count {
            return Some(*src);
        }
        let zero = self.g.lit_usize(0);
        let lens: Vec<Term> = std::iter::once(count).chain(shape[1..].iter().copied()).collect();
        let x = self.g.slice(*src, &vec![zero; shape.len()], &vec![1; shape.len()], &lens);
        self.depends.insert(x, false);
        Some(x)
    }

    /// The placeholder for the row of an array.
    fn row(&mut self, x: Term) -> Term {
        let LoopInputs { xs, taken, .. } = &mut self.outside;
        let k = xs.iter().position(|&y| y == x).unwrap_or_else(|| {
            xs.push(x);
            xs.len() - 1
        });
        if let Some(&(p, _)) = taken.iter().find(|(_, what)| *what == ClosedInput::Row(k)) {
            return p;
        }
        let (elem, shape) = (self.g.elem(x), self.g.shape(x)[1..].into());
        let p = self.g.placeholder(Type::Array(elem, shape));
        taken.push((p, ClosedInput::Row(k)));
        p
    }
}

impl Memoised for Closing<'_> {
    type Key = Term;
    type New = Term;

    fn parts(&mut self) -> (&mut Graph, &mut HashMap<Term, Term>) {
        (self.g, &mut self.new)
    }

    fn origin(&self, t: &Term) -> Option<Term> {
        Some(*t)
    }

    fn made(&mut self, &t: &Term) -> Term {
        let node = self.g.node_rc(t);
        match (&*node, self.row_read(&node)) {
            (Node::Gather { index, .. }, Some(x)) => {
                let row = self.row(x);
                let rest: Vec<Term> = index[1..].iter().map(|i| self.new[i]).collect();
                self.g.index(row, &rest)
            }
            (node, _) => self.g.mk(node.map_children(|c| self.new[&c])),
        }
    }
}

impl OnDemand for Closing<'_> {
    fn enter(&mut self, &t: &Term, needs: &mut Needs<'_, Term>) -> Option<Term> {
        if self.l.carried.contains(&t) {
            return Some(t);
        }
        if self.over.contains(&t) {
            return Some(self.captured(t));
        }
        let node = self.g.node_rc(t);
        if matches!(*node, Node::Var(v) if v == self.l.step) {
            self.outside.steps = true;
            return Some(t);
        }
        if self.is_outer(t) {
            return Some(self.captured(t));
        }
        match (&*node, self.row_read(&node)) {
            (Node::Gather { index, .. }, Some(_)) => needs.extend(index[1..].iter().copied()),
            (node, _) => node.for_each_child(|c| needs.push(c)),
        }
        None
    }
}
