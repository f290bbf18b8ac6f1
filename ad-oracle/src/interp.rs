//! The reference interpreter: the oracle for every stage. It is slow and obvious. Every real number
//! carries its tangent, so a run also gives the exact forward derivative (of a source term as well
//! as of a gradient). It shares no code with `ad-runtime`, and does not read the derivatives that
//! it tests.
//!
//! Evaluation is lazy: a term is computed when a computed term needs it, once in each scope that
//! binds one of its variables. So only the selected branch of a conditional is evaluated. The
//! interpreter has an explicit stack of tasks, since programs are deep and tests have small stacks.

mod array;
mod linalg;
mod order;
mod scalar;
mod value;

use std::collections::HashMap;
use std::rc::Rc;

use ad_core::ir::{Body, Elem, Graph, IntTy, Lit, Node, Put, Scan, Term, Type, Var};
use value::{ravel, unravel};

pub use array::Work;
pub use scalar::{Tested, tested, tested_at};
pub use value::{Array, Data, Dual, Value};

/// The values of a graph's terms for given inputs.
#[derive(Debug)]
pub struct Interp<'g> {
    g: &'g Graph,
    inputs: Vec<Rc<Value>>,
    /// Scope 0 holds the values of closed terms. The tasks that open the other scopes also close
    /// them.
    scopes: Vec<Scope>,
    work: Work,
}

/// The bound variables, and the computed values of terms that mention them.
#[derive(Debug, Default)]
struct Scope {
    /// The next outer scope. `None` for the root and for the scope of a closed body, which sees no
    /// outer scope.
    parent: Option<usize>,
    vars: Vec<(Var, usize)>,
    params: Vec<Rc<Value>>,
    memo: HashMap<Term, Rc<Value>>,
}

#[derive(Debug)]
struct Task {
    term: Term,
    scope: usize,
    state: State,
}

/// The state of a task. A form without its own scope starts again until the values of its operands
/// are known.
#[derive(Debug)]
enum State {
    Start,
    Build { inner: usize, n: usize, rows: Vec<Rc<Value>> },
    Gather { inner: usize, domain: Vec<usize>, from: Vec<Option<usize>> },
    Scatter { inner: usize, domain: Vec<usize>, k: usize, out: Array },
    Scan { inner: usize, n: usize, step: usize, carried: Vec<Rc<Value>>, rows: Vec<Vec<Rc<Value>>> },
}

enum Step {
    Done(Rc<Value>),
    /// The values of these terms in this scope are needed first.
    Need(Vec<Term>, usize),
}

type Try<T> = Result<T, String>;

/// The value of a term. If it is not known, the macro returns and requests it.
macro_rules! need {
    ($self:ident, $scope:expr, $terms:expr) => {{
        let (scope, terms): (usize, &[Term]) = ($scope, $terms);
        let missing: Vec<Term> = terms.iter().copied().filter(|&t| $self.get(t, scope).is_none()).collect();
        if !missing.is_empty() {
            return Ok(Step::Need(missing, scope));
        }
        terms.iter().filter_map(|&t| $self.get(t, scope)).collect::<Vec<Rc<Value>>>()
    }};
}

impl<'g> Interp<'g> {
    /// Creates an interpreter for these values of the graph's inputs, in order.
    #[must_use]
    pub fn new(g: &'g Graph, inputs: &[Value]) -> Self {
        let declared =
            |(k, v): (usize, &Value)| Rc::new(g.inputs().get(k).map_or_else(|| v.clone(), |ty| as_declared(ty, v)));
        let inputs = inputs.iter().enumerate().map(declared).collect();
        Interp { g, inputs, scopes: vec![Scope::default()], work: Work::default() }
    }

    /// The work so far.
    #[must_use]
    pub fn work(&self) -> Work {
        self.work
    }

    /// The value of a closed term.
    ///
    /// # Errors
    ///
    /// If the term is not closed, an input is missing, or sizes do not fit. This is an error in the
    /// program or in its inputs.
    pub fn eval(&mut self, t: Term) -> Try<Value> {
        self.scopes.truncate(1);
        let mut tasks = vec![Task { term: t, scope: 0, state: State::Start }];
        while let Some(mut task) = tasks.pop() {
            if matches!(task.state, State::Start) && self.get(task.term, task.scope).is_some() {
                continue;
            }
            match self.step(&mut task).map_err(|e| format!("{e} (in {:?}: {:?})", task.term, self.g.node(task.term)))? {
                Step::Done(value) => {
                    // Tasks end in the reverse order of their starts, so all later scopes belong to
                    // this task.
                    if let Some(inner) = task.state.scope() {
                        self.scopes.truncate(inner);
                    }
                    self.check(task.term, &value)?;
                    let home = self.home(task.term, task.scope);
                    self.scopes[home].memo.insert(task.term, value);
                }
                Step::Need(terms, from) => {
                    tasks.push(task);
                    let scoped = |&term: &Term| Task { term, scope: self.home(term, from), state: State::Start };
                    tasks.extend(terms.iter().rev().map(scoped));
                }
            }
        }
        self.get(t, 0).map(|v| (*v).clone()).ok_or_else(|| "nothing was computed".into())
    }

    /// The values of several closed terms.
    ///
    /// # Errors
    ///
    /// As for [`Interp::eval`].
    pub fn eval_all(&mut self, ts: &[Term]) -> Try<Vec<Value>> {
        ts.iter().map(|&t| self.eval(t)).collect()
    }

    /// The scope to which a term belongs: the innermost one that binds one of its variables.
    fn home(&self, t: Term, scope: usize) -> usize {
        let free = self.g.free(t);
        if free.is_empty() && !self.g.is_open(t) {
            return 0;
        }
        let mut at = scope;
        loop {
            let s = &self.scopes[at];
            if s.vars.iter().any(|(v, _)| free.contains(v)) {
                return at;
            }
            match s.parent {
                Some(parent) => at = parent,
                None => return at,
            }
        }
    }

    fn get(&self, t: Term, scope: usize) -> Option<Rc<Value>> {
        self.scopes[self.home(t, scope)].memo.get(&t).cloned()
    }

    /// Opens a scope for variables inside of `parent`.
    fn open(&mut self, parent: usize, vars: &[Var]) -> usize {
        let vars = vars.iter().map(|&v| (v, 0)).collect();
        self.scopes.push(Scope { parent: Some(parent), vars, ..Scope::default() });
        self.scopes.len() - 1
    }

    /// Opens a scope for a closed body.
    fn open_body(&mut self, params: Vec<Rc<Value>>) -> usize {
        self.scopes.push(Scope { params, ..Scope::default() });
        self.scopes.len() - 1
    }

    /// Assigns new values to a scope's variables.
    fn rebind(&mut self, scope: usize, values: &[usize]) {
        let s = &mut self.scopes[scope];
        s.memo.clear();
        s.vars.iter_mut().zip(values).for_each(|(var, &value)| var.1 = value);
    }

    fn step(&mut self, task: &mut Task) -> Try<Step> {
        let scope = task.scope;
        let node = self.g.node(task.term);
        Ok(Step::Done(match node {
            Node::Input(k) => Rc::clone(self.inputs.get(*k as usize).ok_or("an input without a value")?),
            Node::Size(k, axis) => {
                let input = self.inputs.get(*k as usize).ok_or("an input without a value")?;
                let shape = &array(input)?.shape;
                Rc::new(int_scalar(*shape.get(usize::from(*axis)).ok_or("no such axis")?))
            }
            Node::Var(var) => {
                let mut at = Some(scope);
                let value = loop {
                    let s = &self.scopes[at.ok_or("an unbound variable")?];
                    match s.vars.iter().find(|(v, _)| v == var) {
                        Some((_, value)) => break *value,
                        None => at = s.parent,
                    }
                };
                Rc::new(int_scalar(value))
            }
            Node::Param(k, _) => {
                let mut at = scope;
                while let Some(parent) = self.scopes[at].parent {
                    at = parent;
                }
                Rc::clone(self.scopes[at].params.get(*k as usize).ok_or("a parameter outside of its body")?)
            }
            Node::Lit(lit) => Rc::new(literal(*lit)),
            Node::Tuple(parts) => {
                let parts = need!(self, scope, parts);
                Rc::new(Value::Tuple(parts.iter().map(|p| (**p).clone()).collect()))
            }
            Node::Proj(tuple, k) => match &*need!(self, scope, &[*tuple])[0] {
                Value::Tuple(parts) => Rc::new(parts.get(*k as usize).ok_or("no such component")?.clone()),
                Value::Array(_) => return Err("projection of an array".into()),
            },
            Node::Cond { cond, then, other } => {
                let c = &need!(self, scope, &[*cond])[0];
                let arm = match array(c)?.data {
                    Data::Bool(ref c) if c.len() == 1 => {
                        if c[0] {
                            *then
                        } else {
                            *other
                        }
                    }
                    _ => return Err("a condition is a boolean".into()),
                };
                Rc::clone(&need!(self, scope, &[arm])[0])
            }
            Node::Prim(prim, args) => {
                let values = need!(self, scope, args);
                let args = values.iter().map(array).collect::<Try<Vec<&Array>>>()?;
                Rc::new(Value::Array(array::prim(prim, &args, &mut self.work)?))
            }
            Node::Build { size, var, body } => return self.build(task, *size, *var, *body),
            Node::Gather { src, sizes, vars, index } => return self.gather(task, *src, sizes, vars, index),
            Node::Scatter { put, dst, src, vars, index } => return self.scatter(task, *put, [*dst, *src], vars, index),
            Node::Scan(scan) => return self.scan(task, scan),
        }))
    }

    fn build(&mut self, task: &mut Task, size: Term, var: Var, body: Term) -> Try<Step> {
        if let State::Start = task.state {
            let n = array::size(array(&need!(self, task.scope, &[size])[0])?)?;
            task.state = State::Build { inner: self.open(task.scope, &[var]), n, rows: Vec::new() };
        }
        let State::Build { inner, n, rows } = &mut task.state else { return Err("a task in another's state".into()) };
        while rows.len() < *n {
            rows.push(Rc::clone(&need!(self, *inner, &[body])[0]));
            self.rebind(*inner, &[rows.len()]);
        }
        let (elem, row_shape) = match rows.first() {
            Some(row) => (array(row)?.elem, array(row)?.shape.clone()),
            // There is no element, so the shape comes from the type.
            None => (self.g.elem(body), self.known_shape(task.scope, self.g.shape(body))?),
        };
        let State::Build { rows, .. } = &task.state else { return Err("a task in another's state".into()) };
        self.rows(elem, &row_shape, rows)
    }

    fn rows(&self, elem: Elem, row_shape: &[usize], rows: &[Rc<Value>]) -> Try<Step> {
        let rows = rows.iter().map(array).collect::<Try<Vec<&Array>>>()?;
        Ok(Step::Done(Rc::new(Value::Array(Array::from_rows(elem, row_shape, &rows)?))))
    }

    /// The values of sizes in a type. They are small integer terms over sizes of inputs. A separate
    /// evaluation is simple, and its work is not counted.
    fn known_shape(&self, scope: usize, shape: &[Term]) -> Try<Vec<usize>> {
        let size = |&t: &Term| match (self.known_size(t), self.get(t, scope)) {
            (Some(n), _) => Ok(n),
            (None, Some(v)) => array::size(array(&v)?),
            (None, None) => {
                let inputs = self.inputs.clone();
                let mut fresh = Interp { g: self.g, inputs, scopes: vec![Scope::default()], work: Work::default() };
                array::size(array(&Rc::new(fresh.eval(t)?))?)
            }
        };
        shape.iter().map(size).collect()
    }

    /// The value of a size that needs no computation.
    fn known_size(&self, t: Term) -> Option<usize> {
        match *self.g.node(t) {
            Node::Lit(Lit::Int(_, n)) => usize::try_from(n).ok(),
            Node::Size(k, axis) => self.inputs.get(k as usize)?.as_array()?.shape.get(usize::from(axis)).copied(),
            _ => None,
        }
    }

    fn gather(&mut self, task: &mut Task, src: Term, sizes: &[Term], vars: &[Var], index: &[Term]) -> Try<Step> {
        let values = need!(self, task.scope, &[src]);
        let src = array(&values[0])?;
        if let State::Start = task.state {
            let sizes = need!(self, task.scope, sizes);
            let domain = sizes.iter().map(|n| array::size(array(n)?)).collect::<Try<Vec<usize>>>()?;
            task.state = State::Gather { inner: self.open(task.scope, vars), domain, from: Vec::new() };
        }
        let State::Gather { inner, domain, from } = &mut task.state else {
            return Err("a task in another's state".into());
        };
        let total = domain.iter().product();
        let (leading, row_shape) = src.shape.split_at(index.len());
        let row_size: usize = row_shape.iter().product();
        while from.len() < total {
            let at = need!(self, *inner, index).iter().map(|i| array::size(array(i)?)).collect::<Try<Vec<usize>>>()?;
            from.push(ravel(&at, leading));
            if from.len() < total {
                self.rebind(*inner, &unravel(from.len(), domain));
            }
        }
        let shape: Vec<usize> = domain.iter().chain(row_shape).copied().collect();
        self.work.moved += (total * row_size) as u64;
        let out = src.pick(&shape, |ix| {
            let (outer, rest) = ix.split_at(domain.len());
            let row = from[ravel(outer, domain)?]?;
            Some(row * row_size + ravel(rest, row_shape)?)
        });
        Ok(Step::Done(Rc::new(Value::Array(out))))
    }

    fn scatter(&mut self, task: &mut Task, put: Put, terms: [Term; 2], vars: &[Var], index: &[Term]) -> Try<Step> {
        let values = need!(self, task.scope, &terms);
        let src = array(&values[1])?;
        if let State::Start = task.state {
            let domain = src.shape[..vars.len()].to_vec();
            let inner = self.open(task.scope, vars);
            task.state = State::Scatter { inner, domain, k: 0, out: array(&values[0])?.clone() };
        }
        let State::Scatter { inner, domain, k, out } = &mut task.state else {
            return Err("a task in another's state".into());
        };
        let total = domain.iter().product();
        let leading = out.shape[..index.len()].to_vec();
        let row_size: usize = out.shape[index.len()..].iter().product();
        while *k < total {
            let at = need!(self, *inner, index).iter().map(|i| array::size(array(i)?)).collect::<Try<Vec<usize>>>()?;
            if let Some(row) = ravel(&at, &leading) {
                for e in 0..row_size {
                    let (to, from) = (row * row_size + e, *k * row_size + e);
                    match put {
                        Put::Add => array::add_at(out, to, src, from)?,
                        Put::Set => array::set_at(out, to, src, from)?,
                    }
                }
            }
            self.work.real += row_size as u64;
            *k += 1;
            if *k < total {
                self.rebind(*inner, &unravel(*k, domain));
            }
        }
        Ok(Step::Done(Rc::new(Value::Array(out.clone()))))
    }

    fn scan(&mut self, task: &mut Task, scan: &Scan) -> Try<Step> {
        let Body { results, .. } = &scan.body;
        let n = array::size(array(&need!(self, task.scope, &[scan.count])[0])?)?;
        let init = need!(self, task.scope, &scan.init);
        let stops = |carried: &[Rc<Value>]| -> Try<bool> {
            let Some(stop) = scan.stop else { return Ok(false) };
            Ok(matches!(&array(&carried[stop])?.data, Data::Bool(flag) if flag == &[true]))
        };
        // What only the steps read has no value if there are none: the sizes in it may not fit.
        let runs = n > 0 && !stops(&init)?;
        let captures = if runs { need!(self, task.scope, &scan.captures) } else { Vec::new() };
        let xs = if runs { need!(self, task.scope, &scan.xs) } else { Vec::new() };
        let row_of = |n: usize, step: usize| if scan.reverse { n - 1 - step } else { step };
        let params = |carried: &[Rc<Value>], row: usize| -> Try<Vec<Rc<Value>>> {
            let mut all: Vec<Rc<Value>> = carried.iter().chain(&captures).map(Rc::clone).collect();
            for x in &xs {
                all.push(Rc::new(Value::Array(array(x)?.row(row))));
            }
            Ok(all)
        };
        if let State::Start = task.state {
            for x in &xs {
                if array(x)?.shape.first() != Some(&n) {
                    return Err("an array consumed by a loop has another outer size".into());
                }
            }
            let first = if runs { params(&init, row_of(n, 0))? } else { Vec::new() };
            let inner = self.open_body(first);
            let carried = init;
            task.state =
                State::Scan { inner, n, step: 0, carried, rows: vec![Vec::new(); results.len() - scan.init.len()] };
        }
        let State::Scan { inner, n, step, carried, rows } = &mut task.state else {
            return Err("a task in another's state".into());
        };
        while *step < *n {
            if stops(carried)? {
                break;
            }
            let mut new = need!(self, *inner, results);
            for (rows, row) in rows.iter_mut().zip(new.drain(carried.len()..)) {
                rows.push(row);
            }
            *carried = new;
            *step += 1;
            if *step < *n {
                let params = params(carried, row_of(*n, *step))?;
                let s = &mut self.scopes[*inner];
                s.memo.clear();
                s.params = params;
            }
        }
        let mut parts: Vec<Value> = carried.iter().map(|v| (**v).clone()).collect();
        for (rows, &result) in rows.iter_mut().zip(&results[scan.init.len()..]) {
            let elem = self.g.elem(result);
            let row_shape = match rows.first() {
                Some(row) => array(row)?.shape.clone(),
                None => self.known_shape(task.scope, self.g.shape(result))?,
            };
            // The rows of steps that have not run are zero.
            let zeros = Data::zeros(elem, row_shape.iter().product());
            let none = Rc::new(Value::Array(Array { elem, shape: row_shape.clone(), data: zeros }));
            rows.resize(*n, none);
            if scan.reverse {
                rows.reverse();
            }
            let rows = rows.iter().map(array).collect::<Try<Vec<&Array>>>()?;
            parts.push(Value::Array(Array::from_rows(elem, &row_shape, &rows)?));
        }
        Ok(Step::Done(Rc::new(Value::Tuple(parts))))
    }

    /// Checks that a value has the type of its term: element types and ranks, and the sizes that
    /// need no computation.
    fn check(&self, t: Term, value: &Value) -> Try<()> {
        self.fits(self.g.ty(t), value).map_err(|e| format!("{e} (the value of {t:?}: {:?})", self.g.node(t)))
    }

    fn fits(&self, ty: &Type, value: &Value) -> Try<()> {
        match (ty, value) {
            (Type::Tuple(types), Value::Tuple(parts)) if types.len() == parts.len() => {
                types.iter().zip(parts).try_for_each(|(ty, part)| self.fits(ty, part))
            }
            (Type::Array(elem, shape), Value::Array(a)) => {
                if a.elem != *elem || a.shape.len() != shape.len() {
                    return Err(format!(
                        "a value of {:?}{:?} where {elem:?} of rank {} is",
                        a.elem,
                        a.shape,
                        shape.len()
                    ));
                }
                for (axis, (&t, &n)) in shape.iter().zip(&a.shape).enumerate() {
                    let computed = self.scopes[0].memo.get(&t);
                    let claimed = self.known_size(t).map(Ok).or_else(|| computed.map(|v| array::size(array(v)?)));
                    if let Some(claimed) = claimed.transpose()?
                        && claimed != n
                    {
                        return Err(format!("axis {axis} has size {n}, and {claimed} by its type"));
                    }
                }
                Ok(())
            }
            _ => Err("a tuple and an array are confused".into()),
        }
    }
}

impl State {
    /// The scope that the task has opened.
    fn scope(&self) -> Option<usize> {
        match self {
            State::Start => None,
            State::Build { inner, .. }
            | State::Gather { inner, .. }
            | State::Scatter { inner, .. }
            | State::Scan { inner, .. } => Some(*inner),
        }
    }
}

fn array(v: &Rc<Value>) -> Try<&Array> {
    v.as_array().ok_or_else(|| "a tuple where an array is expected".into())
}

fn int_scalar(n: usize) -> Value {
    Value::ints(IntTy::Usize, &[], &[n as i128])
}

fn literal(lit: Lit) -> Value {
    match lit {
        Lit::Real(ty, bits) => Value::of(ty, &[], vec![scalar::round(ty, Dual::constant(f64::from_bits(bits)))]),
        Lit::Int(ty, n) => Value::ints(ty, &[], &[n]),
        Lit::Bool(b) => Value::bools(&[], &[b]),
    }
}

/// Converts an input to the floating point type that the program declares.
fn as_declared(ty: &Type, v: &Value) -> Value {
    match (ty, v) {
        (Type::Array(Elem::Real(ty), _), Value::Array(Array { data: Data::Real(xs), shape, .. })) => {
            Value::of(*ty, shape, xs.iter().map(|&x| scalar::round(*ty, x)).collect())
        }
        _ => v.clone(),
    }
}
