//! Opening and closing the body of a loop. A front end lowers a step over placeholders; closing the
//! loop finds what the step takes from outside, and makes it captures, and which arrays it reads a
//! row a step, and makes them consumed arrays.

use std::collections::HashMap;

use super::{Body, Graph, Node, Scan, Term, Type, Var};

/// Placeholders are numbered behind all parameters of closed bodies.
const PLACEHOLDER: usize = 1 << 29;

/// A loop whose body stands over placeholders still.
#[derive(Clone, Debug)]
pub struct OpenLoop {
    /// Number of steps.
    pub count: Term,
    /// Whether the last step comes first.
    pub reverse: bool,
    /// The carried boolean (by its number) that ends the loop before the next step, see
    /// [`Scan::stop`]. `while c { b }` is a loop of `usize::MAX` steps which carries what `b`
    /// assigns and `!c`, and whose body neither mentions the step nor makes rows: arrays cannot
    /// have so many. A loop with `break` counts its steps as ever; rows of steps after the last one
    /// are unspecified.
    pub stop: Option<usize>,
    /// The index of the step: a fresh variable.
    pub step: Var,
    /// Carried values before the first step.
    pub init: Vec<Term>,
    /// What stands for them in a step, from [`Graph::placeholder`].
    pub carried: Vec<Term>,
    /// Carried values after a step, and the rows that it makes.
    pub results: Vec<Term>,
}

/// What a term in the body becomes.
struct Closing<'l> {
    l: &'l OpenLoop,
    /// Whether a term depends on the step or on what is carried.
    depends: HashMap<Term, bool>,
    /// Whether it mentions an input or another loop's placeholder.
    data: HashMap<Term, bool>,
    captures: Vec<Term>,
    xs: Vec<Term>,
    steps: bool,
}

impl Graph {
    /// A value of this type that no term mentions yet.
    pub fn placeholder(&mut self, ty: Type) -> Term {
        let number = PLACEHOLDER + self.len();
        self.param(number, ty)
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

    /// The loop as a term: what its body takes from outside is captured, arrays read at the step's
    /// own index are consumed a row a step.
    #[track_caller]
    pub fn close_loop(&mut self, l: &OpenLoop) -> Term {
        let mut c = Closing {
            l,
            depends: HashMap::new(),
            data: HashMap::new(),
            captures: Vec::new(),
            xs: Vec::new(),
            steps: false,
        };
        // Numbers of parameters are known once all captures are: in between they are placeholders
        // too.
        let mut new: HashMap<Term, Term> = HashMap::new();
        let mut taken: Vec<(Term, Taken)> = Vec::new();
        let mut stack: Vec<(Term, bool)> = l.results.iter().rev().map(|&t| (t, false)).collect();
        while let Some((t, children_done)) = stack.pop() {
            if new.contains_key(&t) {
                continue;
            }
            if l.carried.contains(&t) {
                new.insert(t, t);
                continue;
            }
            let node = self.node_rc(t);
            if matches!(*node, Node::Var(v) if v == l.step) {
                c.steps = true;
                new.insert(t, t);
                continue;
            }
            if self.is_outer(&mut c, t) {
                let made = if self.has_data(&mut c, t) && self.ty(t).as_array().is_some() {
                    c.captures.push(t);
                    let p = self.placeholder(self.ty(t).clone());
                    taken.push((p, Taken::Capture(c.captures.len() - 1)));
                    p
                } else {
                    t
                };
                new.insert(t, made);
                continue;
            }
            if let Some(x) = self.row_read(&mut c, &node) {
                let Node::Gather { index, .. } = &*node else { continue };
                if !children_done {
                    stack.push((t, true));
                    stack.extend(index[1..].iter().map(|&i| (i, false)));
                    continue;
                }
                let k = match c.xs.iter().position(|&y| y == x) {
                    Some(k) => k,
                    None => {
                        c.xs.push(x);
                        c.xs.len() - 1
                    }
                };
                let row = match taken.iter().find(|(_, what)| *what == Taken::Row(k)) {
                    Some(&(p, _)) => p,
                    None => {
                        let (elem, shape) = (self.elem(x), self.shape(x)[1..].into());
                        let p = self.placeholder(Type::Array(elem, shape));
                        taken.push((p, Taken::Row(k)));
                        p
                    }
                };
                let rest: Vec<Term> = index[1..].iter().map(|i| new[i]).collect();
                let made = self.index(row, &rest);
                new.insert(t, made);
                continue;
            }
            if !children_done {
                stack.push((t, true));
                node.for_each_child(|c| stack.push((c, false)));
                continue;
            }
            let mapped = node.map_children(|c| new[&c]);
            let made = self.mk(mapped);
            new.insert(t, made);
        }
        let results: Vec<Term> = l.results.iter().map(|t| new[t]).collect();
        self.number(c, &taken, &results)
    }

    /// Placeholders become parameters.
    fn number(&mut self, c: Closing<'_>, taken: &[(Term, Taken)], results: &[Term]) -> Term {
        let l = c.l;
        let (carries, captures) = (l.carried.len(), c.captures.len());
        let mut params: Vec<Type> = l.carried.iter().map(|&t| self.ty(t).clone()).collect();
        params.extend(c.captures.iter().map(|&t| self.ty(t).clone()));
        let mut xs = c.xs;
        params.extend(xs.iter().map(|&x| Type::Array(self.elem(x), self.shape(x)[1..].into())));
        let mut place: std::collections::BTreeMap<Term, usize> =
            l.carried.iter().enumerate().map(|(k, &t)| (t, k)).collect();
        for &(p, what) in taken {
            let k = match what {
                Taken::Capture(k) => carries + k,
                Taken::Row(k) => carries + captures + k,
            };
            place.insert(p, k);
        }
        if c.steps {
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
        let leaves: Vec<Term> = place.keys().copied().collect();
        let oldest = leaves.iter().min().copied();
        let mut stack: Vec<(Term, bool)> = results.iter().rev().map(|&t| (t, false)).collect();
        while let Some((t, children_done)) = stack.pop() {
            if new.contains_key(&t) {
                continue;
            }
            if oldest.is_none_or(|oldest| t < oldest) {
                new.insert(t, t);
                continue;
            }
            let node = self.node_rc(t);
            if !children_done {
                stack.push((t, true));
                node.for_each_child(|c| stack.push((c, false)));
                continue;
            }
            let mapped = node.map_children(|c| new[&c]);
            let made = self.mk(mapped);
            new.insert(t, made);
        }
        let results = results.iter().map(|t| new[t]).collect();
        let scan = Scan {
            count: l.count,
            reverse: l.reverse,
            stop: l.stop,
            init: l.init.clone().into(),
            captures: c.captures.into(),
            xs: xs.into(),
            body: Body { params: params.into(), results },
        };
        // What comes out of it may be a size, which must be the same term in every stage.
        crate::ir::flatten::scan(self, scan, &mut |g, scan, _| g.scan(scan))
    }

    /// Whether a term is the same in each step, and could stand outside.
    fn is_outer(&self, c: &mut Closing<'_>, t: Term) -> bool {
        if self.free(t).iter().any(|v| !v.is_fresh()) {
            return false;
        }
        let l = c.l;
        // A size is closed, wherever it comes from. A loop that might not end, and that the
        // function would not come to without this one, is left at once there (`front::checks`).
        if self.is_size(t) {
            return true;
        }
        let leaf = |t: Term| l.carried.contains(&t) || matches!(self.node(t), Node::Var(v) if *v == l.step);
        !self.any(t, &mut c.depends, &leaf)
    }

    /// A size is one, wherever it comes from: types mention it.
    fn is_size(&self, t: Term) -> bool {
        *self.ty(t) == Type::scalar(super::Elem::USIZE) && self.free(t).is_empty() && !self.is_open(t)
    }

    fn has_data(&self, c: &mut Closing<'_>, t: Term) -> bool {
        let size = self.is_size(t);
        let leaf = |t: Term| {
            matches!(self.node(t), Node::Input(_) | Node::Param(..))
                || matches!(self.node(t), Node::Var(v) if v.is_fresh())
        };
        !size && self.any(t, &mut c.data, &leaf)
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

    /// The array of which a step reads its own row: `x[step, ..]`.
    fn row_read(&mut self, c: &mut Closing<'_>, node: &Node) -> Option<Term> {
        let Node::Gather { src, vars, index, .. } = node else { return None };
        let first = *index.first()?;
        if !vars.is_empty() || !matches!(self.node(first), Node::Var(v) if *v == c.l.step) || !self.is_outer(c, *src) {
            return None;
        }
        let shape = self.shape(*src).to_vec();
        if shape[0] == c.l.count {
            return Some(*src);
        }
        let zero = self.lit_usize(0);
        let lens: Vec<Term> = std::iter::once(c.l.count).chain(shape[1..].iter().copied()).collect();
        let x = self.slice(*src, &vec![zero; shape.len()], &vec![1; shape.len()], &lens);
        c.depends.insert(x, false);
        Some(x)
    }
}

/// What a placeholder stands for.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Taken {
    Capture(usize),
    Row(usize),
}
