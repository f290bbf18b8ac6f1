//! The statements of a routine as a page shows them: what each reads, how many operations it has,
//! and the memory of its arrays, as formulas of the sizes.
//!
//! Operations are those of the plan on real numbers, counted in the same scalar graph from which
//! the nests are written. A statement whose operations cannot be counted is shown as not counted.
//! This module must never change a plan.

use std::collections::{HashMap, HashSet};

use ad_ir::ir::{Elem, Graph, Node, Put, Term, TermTable};
use ad_ir::prim::{Binary, IntOp, Prim, Reduce, Unary};
use ad_ir::program::{Constant, Param};
use ad_middle::passes::lowering::opened::LeafRole;
use ad_middle::pipeline::explained::{Count, Formula, Memory, Part, Read, Statement};

use super::described::computed;
use super::items::{Item, items, members};
use super::kernel::{Id, Kernel, Op, operands};
use super::plan::{Plan, Work};
use super::store::Class;

/// What the statements of a routine are written from.
pub(super) struct Facts<'a> {
    pub(super) g: &'a Graph,
    pub(super) plan: &'a Plan,
    pub(super) hints: &'a HashMap<Term, String>,
    pub(super) params: &'a [Param],
    pub(super) constants: &'a [Constant],
    /// The terms that the function itself computes, if they are known.
    pub(super) of_function: Option<TermTable<bool>>,
    /// The results of the routine.
    pub(super) results: Vec<Term>,
}

/// The terms that these depend on, also through loops.
pub(super) fn reached(g: &Graph, plan: &Plan, roots: &[Term]) -> TermTable<bool> {
    let mut stack = roots.to_vec();
    let mut seen = TermTable::new(false);
    while let Some(t) = stack.pop() {
        if std::mem::replace(&mut seen[t], true) {
            continue;
        }
        g.node(t).for_each_child(|c| stack.push(c));
        let Some((n, role)) = plan.loops.role(t) else { continue };
        let l = &plan.loops.all[n];
        stack.extend([l.count, l.steps].into_iter().chain(l.stop));
        match role {
            LeafRole::Step => {}
            LeafRole::Carry(k) | LeafRole::Last(k) => {
                stack.extend(l.carries.get(k).into_iter().flat_map(|c| [c.init, c.next, c.now]));
            }
            LeafRole::Rows(k) => stack.extend(l.rows.get(k).map(|r| r.row)),
        }
    }
    seen
}

impl Facts<'_> {
    /// All statements, those of a loop after the loop.
    pub(super) fn statements(&self) -> Vec<Statement> {
        let mut producers: HashMap<Term, usize> = HashMap::new();
        for k in 0..self.plan.steps.len() {
            producers.extend(self.plan.results_of(k).into_iter().map(|t| (t, k)));
        }
        let mut all = Vec::new();
        let mut stack: Vec<(usize, Vec<usize>)> = self.plan.order.iter().rev().map(|&k| (k, Vec::new())).collect();
        while let Some((k, around)) = stack.pop() {
            if let Work::Loop(n) = self.plan.steps[k].work {
                let inside: Vec<usize> = around.iter().copied().chain([k]).collect();
                stack.extend(self.plan.bodies[n].iter().rev().map(|&b| (b, inside.clone())));
            }
            all.push(self.statement(k, &around, &producers));
        }
        all
    }

    fn statement(&self, k: usize, around: &[usize], producers: &HashMap<Term, usize>) -> Statement {
        let (g, plan, step) = (self.g, self.plan, &self.plan.steps[k]);
        let results = plan.results_of(k);
        let terms = computed(g, plan, results.iter().copied());
        let counts = self.counts(k, &|_| true);
        Statement {
            number: k,
            inside: around.last().copied(),
            name: results.iter().map(|&t| self.name(t)).collect::<Vec<_>>().join(", "),
            kind: match &step.work {
                Work::Check(_) => "check",
                Work::Scalar(_) => "number",
                Work::Nest { .. } => "nest",
                Work::Whole(_) => "array",
                Work::Loop(_) => "loop",
            },
            places: terms.iter().map(|&t| g.loc(t)).collect(),
            guarded: !step.guard.is_empty(),
            part: self.part(&results),
            result: results.iter().any(|t| self.results.contains(t)),
            reads: self.reads(&step.work, &terms, producers),
            runs: around.iter().filter_map(|&l| self.steps_of(l)).collect(),
            steps: self.steps_of(k),
            counts,
            memory: self.memory(&results),
            terms,
        }
    }

    /// The formula of the number of iterations, if the statement is a loop.
    pub(super) fn steps_of(&self, k: usize) -> Option<Formula> {
        let Work::Loop(n) = self.plan.steps[k].work else { return None };
        let count = self.plan.loops.all[n].count;
        Some(match self.g.int_value(count) {
            Some(many) if many >= i128::from(u32::MAX) => Formula::Unknown(format!("steps of loop {k}")),
            _ => self.formula(count, DEPTH),
        })
    }

    fn part(&self, results: &[Term]) -> Option<Part> {
        let own = self.of_function.as_ref()?;
        // Sizes and indices belong to both: types mention them, which no term shows.
        if results.iter().all(|&t| self.g.rank(t) == 0 && matches!(self.g.elem(t), Elem::Int(_))) {
            return None;
        }
        let of_function = results.iter().filter(|t| own[**t]).count();
        Some(match of_function {
            0 if results.is_empty() => return None,
            0 => Part::Derivative,
            n if n == results.len() => Part::Function,
            _ => Part::Both,
        })
    }

    pub(super) fn name(&self, t: Term) -> String {
        if let Some(hint) = self.hints.get(&t) {
            return hint.clone();
        }
        match self.g.node(t) {
            Node::Prim(prim, _) => prim.name(),
            Node::Gather { .. } => "gather".into(),
            Node::Scatter { put: Put::Add, .. } => "scatter".into(),
            Node::Scatter { .. } => "update".into(),
            Node::Cond { .. } => "cond".into(),
            Node::Input(k) => self.input(*k),
            Node::Size(k, axis) => self.size(*k, *axis),
            _ => match self.plan.loops.role(t) {
                Some((_, LeafRole::Last(_) | LeafRole::Carry(_))) => "state".into(),
                Some((_, LeafRole::Rows(_))) => "rows".into(),
                _ => format!("%{}", t.index()),
            },
        }
    }

    fn input(&self, k: u32) -> String {
        if let Some(of) = self.params.iter().find(|p| p.input == Some(k)) {
            return of.label.clone();
        }
        let of = self.constants.iter().find(|c| c.input == k);
        of.map_or_else(|| format!("constant {k}"), |c| c.path.to_string().replace(' ', ""))
    }

    pub(super) fn size(&self, k: u32, axis: u8) -> String {
        in_words(&self.input(k), usize::from(self.g.input_rank(k).unwrap_or(0)), usize::from(axis))
    }

    /// What the statement reads: results of others, and inputs.
    fn reads(&self, work: &Work, terms: &[Term], producers: &HashMap<Term, usize>) -> Vec<Read> {
        let own: HashSet<Term> = terms.iter().copied().collect();
        let mut all: Vec<Term> = Vec::new();
        for &t in terms {
            self.g.node(t).for_each_child(|c| all.push(c));
        }
        if let Work::Loop(n) = work {
            let l = &self.plan.loops.all[*n];
            all.extend(l.carries.iter().map(|c| c.init).chain([l.count]));
        }
        let mut reads: Vec<Read> = Vec::new();
        let mut seen: HashSet<Term> = own.clone();
        // A view between two statements is looked through.
        while let Some(t) = all.pop() {
            if !seen.insert(t) {
                continue;
            }
            let read = match (self.g.node(t), self.plan.loops.role(t)) {
                (Node::Input(k), _) => Some(Read::Input(self.input(*k))),
                (_, Some((n, LeafRole::Carry(_) | LeafRole::Step))) => {
                    self.plan.steps.iter().position(|s| matches!(s.work, Work::Loop(m) if m == n)).map(Read::State)
                }
                _ => producers.get(&t).map(|&k| Read::Statement(k)),
            };
            match read {
                Some(read) if !reads.contains(&read) => reads.push(read),
                Some(_) => {}
                None => self.g.node(t).for_each_child(|c| all.push(c)),
            }
        }
        reads.sort();
        reads
    }

    /// The arrays that the statement stores.
    fn memory(&self, results: &[Term]) -> Vec<Memory> {
        let one = |&t: &Term| Memory { name: self.name(t), bytes: self.bytes(t) };
        results.iter().filter(|t| self.is_stored(**t)).map(one).collect()
    }

    /// Whether a result of a statement is an array in memory of its own.
    pub(super) fn is_stored(&self, t: Term) -> bool {
        let leaf = self.plan.loops.role(t).is_some();
        self.g.rank(t) > 0 && !self.plan.in_place.contains_key(&t) && (leaf || self.plan.class(t) == Class::Buffer)
    }

    /// The size of an array.
    pub(super) fn bytes(&self, t: Term) -> Formula {
        let mut factors = vec![Formula::bytes(self.g.elem(t))];
        factors.extend(self.formulas(self.g.shape(t)));
        Formula::Apply("*", factors)
    }

    /// If the term consists of the rows of all steps of a loop: the row of one step.
    pub(super) fn row_of(&self, t: Term) -> Option<Term> {
        match self.plan.loops.role(t)? {
            (n, LeafRole::Rows(k)) => self.plan.loops.all[n].rows.get(k).map(|rows| rows.row),
            _ => None,
        }
    }

    /// A size of a parameter of another routine, or its value, if the parameter is given this term.
    pub(super) fn of_parameter(&self, size: &Formula, param: &Param, given: Term) -> Option<Formula> {
        match size {
            Formula::Named(name) if *name == param.label && self.g.rank(given) == 0 => Some(self.formula(given, DEPTH)),
            Formula::Size(name) => {
                let shape = self.g.shape(given);
                let axis = (0..shape.len()).find(|&k| *name == in_words(&param.label, shape.len(), k))?;
                Some(self.formula(shape[axis], DEPTH))
            }
            _ => None,
        }
    }

    /// The terms that say what a result of a statement is: itself, or the value that a loop carries
    /// or of which it keeps rows.
    pub(super) fn definitions_of(&self, t: Term) -> Vec<Term> {
        let carried = |n: usize, k: usize| self.plan.loops.all[n].carries.get(k);
        match self.plan.loops.role(t) {
            Some((n, LeafRole::Carry(k) | LeafRole::Last(k))) => {
                std::iter::once(t).chain(carried(n, k).into_iter().flat_map(|c| [c.now, c.next])).collect()
            }
            Some((_, LeafRole::Rows(_))) => {
                let row = self.row_of(t).filter(|&row| row != t);
                row.map_or_else(|| vec![t], |row| self.definitions_of(row))
            }
            _ => vec![t],
        }
    }

    /// The operations of one run of the statement for those of its results that are `wanted`.
    /// `None` if they are not counted.
    pub(super) fn counts(&self, k: usize, wanted: &dyn Fn(Term) -> bool) -> Option<Vec<Count>> {
        let (g, plan) = (self.g, self.plan);
        match &plan.steps[k].work {
            Work::Check(_) | Work::Loop(_) => Some(Vec::new()),
            Work::Scalar(t) if matches!(g.node(*t), Node::Size(..) | Node::Input(_) | Node::Lit(_)) => Some(Vec::new()),
            Work::Scalar(t) | Work::Whole(t) if !wanted(*t) => Some(Vec::new()),
            Work::Scalar(t) => match g.node(*t) {
                // The others are in variables of their own.
                Node::Prim(prim, args)
                    if prim.is_elementwise()
                        && args
                            .iter()
                            .all(|&a| plan.class(a) == Class::Scalar || matches!(g.node(a), Node::Lit(_))) =>
                {
                    let mut count = Count::default();
                    let of_reals = args.first().is_some_and(|&a| g.elem(a).is_real());
                    add(&mut count, prim, g.elem(*t).is_real(), of_reals);
                    Some(vec![count])
                }
                _ => self.elements(*t, false),
            },
            Work::Nest { domain, items } => {
                let terms: Vec<Term> = items.iter().copied().filter(|&t| wanted(t)).collect();
                self.counts_of_nest(k, domain, &terms)
            }
            Work::Whole(t) => self.counts_of_whole(*t),
        }
    }

    /// The operations of a nest over this domain that computes these terms of statement `k`.
    fn counts_of_nest(&self, k: usize, domain: &[Term], terms: &[Term]) -> Option<Vec<Count>> {
        let (g, plan) = (self.g, self.plan);
        let mut kernel = Kernel::new(g, plan, self.hints, domain.to_vec(), members(g, terms));
        let identity = kernel.identity().to_vec();
        let (items, _) = items(g, plan, &mut kernel, (domain, &identity), terms, k).ok()?;
        let mut roots = Vec::new();
        let mut adds = 0;
        for item in &items {
            match item {
                Item::Fold { out, value, .. } => {
                    adds += usize::from(g.elem(*out).is_real());
                    roots.push(*value);
                }
                Item::Store { value, .. } | Item::Scatter { value, .. } | Item::Block { value, .. } => {
                    roots.push(*value);
                }
            }
        }
        let mut counts = self.of_kernel(&kernel, &roots);
        if adds > 0 {
            counts.push(Count { times: self.formulas(domain), arithmetic: adds, ..Count::default() });
        }
        Some(counts)
    }

    /// The operations of a statement that computes a whole array.
    fn counts_of_whole(&self, t: Term) -> Option<Vec<Count>> {
        let g = self.g;
        match g.node(t) {
            Node::Prim(Prim::Contract(spec), args) => {
                let mut sizes: HashMap<u8, Term> = HashMap::new();
                for (labels, &arg) in [&spec.a, &spec.b].into_iter().zip(args) {
                    sizes.extend(labels.iter().copied().zip(g.shape(arg).iter().copied()));
                }
                let mut all: Vec<(u8, Term)> = sizes.into_iter().collect();
                all.sort_unstable();
                let times = all.iter().map(|&(_, n)| self.formula(n, DEPTH)).collect();
                Some(vec![Count { times, arithmetic: 2, ..Count::default() }])
            }
            Node::Scatter { put, src, .. } => {
                let mut counts = self.elements(*src, true)?;
                if *put == Put::Add && g.elem(*src).is_real() {
                    let times = self.formulas(g.shape(*src));
                    counts.push(Count { times, arithmetic: 1, ..Count::default() });
                }
                Some(counts)
            }
            Node::Prim(
                Prim::Reduce(
                    Reduce::Max | Reduce::Min | Reduce::ArgMax | Reduce::ArgMin | Reduce::All | Reduce::Any,
                    _,
                ),
                args,
            ) => self.reduced(args[0]),
            Node::Prim(
                Prim::Sum(_)
                | Prim::Reduce(Reduce::InOrder | Reduce::FromZero | Reduce::Unrolled | Reduce::Lanes | Reduce::Fours, _),
                args,
            ) => self.reduced(args[0]),
            Node::Prim(Prim::Stack, args) => {
                let mut counts = Vec::new();
                for &arg in args.iter() {
                    counts.extend(self.elements(arg, true)?);
                }
                Some(counts)
            }
            Node::Lit(_) | Node::Cond { .. } => Some(Vec::new()),
            Node::Prim(Prim::Replicate(_) | Prim::Iota, _) => Some(Vec::new()),
            Node::Prim(Prim::Slice(_) | Prim::Pad(_) | Prim::Transpose(_) | Prim::Reshape | Prim::Recast, args) => {
                self.elements(args[0], true)
            }
            Node::Gather { src, .. } => self.elements(*src, true).filter(Vec::is_empty),
            Node::Prim(prim, _) if prim.is_elementwise() => self.elements(t, false),
            _ => None,
        }
    }

    /// The operations of a sum or an extremum of these elements, one of each element if they are
    /// real.
    fn reduced(&self, of: Term) -> Option<Vec<Count>> {
        let mut counts = self.elements(of, true)?;
        if self.g.elem(of).is_real() {
            counts.push(Count { times: self.formulas(self.g.shape(of)), arithmetic: 1, ..Count::default() });
        }
        Some(counts)
    }

    /// The operations for all elements of a term. If `read`, a stored term is only read.
    fn elements(&self, t: Term, read: bool) -> Option<Vec<Count>> {
        let (g, plan) = (self.g, self.plan);
        let mut kernel = Kernel::new(g, plan, self.hints, g.shape(t).to_vec(), []);
        let identity = kernel.identity().to_vec();
        let value = if read { kernel.element(t, &identity, &[]) } else { kernel.definition(t, &identity) };
        let value = value.ok()?;
        Some(self.of_kernel(&kernel, &[value]))
    }

    /// The operations of a scalar graph, by the number of loops around them.
    fn of_kernel(&self, kernel: &Kernel<'_>, roots: &[Id]) -> Vec<Count> {
        let mut seen: HashSet<Id> = HashSet::new();
        let mut stack = roots.to_vec();
        let mut levels: Vec<Count> = vec![Count::default(); kernel.loops.len() + 1];
        while let Some(id) = stack.pop() {
            if !seen.insert(id) {
                continue;
            }
            let node = kernel.node(id);
            stack.extend(operands(&node.op));
            let Op::Prim(prim, args) = &node.op else { continue };
            let count = &mut levels[usize::from(node.level).min(kernel.loops.len())];
            let of_reals = args.first().is_some_and(|&a| kernel.node(a).elem.is_real());
            add(count, prim, node.elem.is_real(), of_reals);
        }
        let counted = levels.into_iter().enumerate().filter(|(_, count)| *count != Count::default());
        counted.map(|(level, count)| Count { times: self.formulas(&kernel.loops[..level]), ..count }).collect()
    }

    pub(super) fn formulas(&self, sizes: &[Term]) -> Vec<Formula> {
        sizes.iter().map(|&n| self.formula(n, DEPTH)).collect()
    }

    /// A size as a formula.
    fn formula(&self, t: Term, depth: usize) -> Formula {
        if let Some(n) = self.g.int_value(t) {
            return usize::try_from(n).map_or_else(|_| Formula::Unknown(n.to_string()), Formula::Number);
        }
        match self.g.node(t) {
            Node::Size(k, axis) => Formula::Size(self.size(*k, *axis)),
            Node::Input(k) => Formula::Named(self.input(*k)),
            Node::Prim(
                Prim::Int(
                    op @ (IntOp::Add | IntOp::Sub | IntOp::Mul | IntOp::Div | IntOp::Rem | IntOp::Min | IntOp::Max),
                ),
                args,
            ) if depth > 0 => Formula::Apply(op.symbol(), args.iter().map(|&a| self.formula(a, depth - 1)).collect()),
            _ => self.unknown(t),
        }
    }

    /// A number that only a call knows.
    fn unknown(&self, t: Term) -> Formula {
        let name = match self.hints.get(&t) {
            Some(hint) => format!("{hint} (%{})", t.index()),
            None => format!("%{}", t.index()),
        };
        if self.plan.scopes.of(t) == 0 { Formula::Computed(name) } else { Formula::Unknown(name) }
    }
}

/// The depth to which a size is written as a formula.
const DEPTH: usize = 12;

/// The size of an axis of an array of this rank.
fn in_words(of: &str, rank: usize, axis: usize) -> String {
    match (rank, axis) {
        (1, _) => format!("length of {of}"),
        (2, 0) => format!("rows of {of}"),
        (2, _) => format!("columns of {of}"),
        (_, axis) => format!("size {axis} of {of}"),
    }
}

/// Counts an operation. `real`: whether its result is a real number. `of_reals`: whether its first
/// operand is one.
fn add(count: &mut Count, prim: &Prim, real: bool, of_reals: bool) {
    match prim {
        Prim::Compare(_) if of_reals => count.arithmetic += 1,
        _ if !real => {}
        Prim::Cast(_) | Prim::StopGradient | Prim::Select | Prim::Watched(_) => {}
        Prim::Binary(Binary::Div) | Prim::Unary(Unary::Sqrt) => count.divisions += 1,
        prim if prim.is_expensive() => count.functions += 1,
        Prim::Fused => count.arithmetic += 2,
        _ => count.arithmetic += 1,
    }
}
