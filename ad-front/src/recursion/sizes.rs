//! The sizes of the results of functions that are compiled on their own. Sizes are parts of types,
//! so a caller has to know them before the call: each is a formula over the sizes and the integers
//! of the function's parameters. Runs of the front end find the formulas. In the first run the
//! sizes of a call's result are *guesses*, inputs of which only required equalities are known. Each
//! further run uses the formulas of the run before it for the calls, until one run finds the same
//! formulas again: then they are right, by induction over the depth of the calls. If no run does,
//! the sizes and integers of the parameters are tried, and these plus one.
//!
//! This module must never rely on a formula that no run has confirmed, unless the function checks
//! the size.

use ad_ir::sorted::{SortedMap, SortedSet};

use quote::ToTokens;

use super::Functions;
use crate::lower::Lower;
use crate::sig::{Sig, SigParam};
use crate::types::Len;
use crate::value::Lowered;
use ad_ir::catalogue;
use ad_ir::diag::SrcRange;
use ad_ir::ir::{Elem, Graph, IntTy, Lit, Node, Term};
use ad_ir::prim::structural::{Extent, Returns};
use ad_ir::prim::{Cmp, IntOp, Prim};
use ad_ir::program::{OutputTree, Role};

/// The greatest number of terms of a formula.
const LONGEST: usize = 200;
/// The maximum number of runs that use the result of the previous run as the formula. A size that
/// grows with each call (`v.push(..)` after the call) never agrees with that.
const RUNS: usize = 3;

/// A size: the text of the function and its definition, the index of the number or array in the
/// result, and the axis.
pub(super) type ResultSize = ((String, Option<usize>), usize, u8);

/// The facts about a size that the runs so far have found.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(super) struct FoundSize {
    /// `None` if there is none.
    formula: Option<Formula>,
    /// Whether the function checks that the formula gives the size.
    checked: bool,
    /// The formula to check if no other one is confirmed.
    to_check: Option<Formula>,
    /// The number of runs that found another formula than the run before them.
    changes: usize,
}

/// A size of a result, as a function of the numbers and arrays that are passed.
#[derive(Clone, PartialEq, Eq, Debug)]
enum Formula {
    Lit(Lit),
    /// A constant whose value only rustc knows.
    Constant(String, Elem),
    /// An argument that is a number.
    Argument(usize),
    /// A size of an argument.
    Axis(usize, u8),
    Prim(Prim, Vec<Formula>),
    Cond(Box<[Formula; 3]>),
}

/// The guesses of one run.
#[derive(Clone, Default)]
pub(super) struct Guesses {
    inputs: SortedSet<u32>,
    /// Terms that are required to be equal, one of which depends on a guess. An arm whose size
    /// depends on a guess is ignored if another arm has a formula. If no arm has one, a guess
    /// stands for a size that it is required to equal.
    equal: Vec<(Term, Term)>,
}

impl Guesses {
    /// Whether a term is a guess.
    fn contains(&self, g: &Graph, t: Term) -> bool {
        matches!(g.node(t), Node::Input(k) if self.inputs.contains(k))
    }

    /// Notes that two sizes are required to be equal.
    fn note(&mut self, g: &Graph, a: Term, b: Term) {
        if self.are_in(g, &[a, b]) {
            self.equal.push((a, b));
        }
    }

    /// Whether terms depend on a guess.
    fn are_in(&self, g: &Graph, terms: &[Term]) -> bool {
        let guess = |t: &Term| matches!(g.node(*t), Node::Input(k) if self.inputs.contains(k));
        !self.inputs.is_empty() && g.reachable(terms).iter().any(guess)
    }
}

/// A sum of formulas, each times a number, and a number.
struct Linear(Vec<(Formula, i128)>, i128);

impl Linear {
    fn add(&mut self, f: &Formula, times: i128) {
        match f {
            Formula::Lit(Lit::Int(_, n)) => self.1 += n * times,
            Formula::Prim(Prim::Int(op @ (IntOp::Add | IntOp::Sub)), args) => {
                self.add(&args[0], times);
                self.add(&args[1], if *op == IntOp::Add { times } else { -times });
            }
            Formula::Prim(Prim::Int(IntOp::Mul), args) => match &args[..] {
                [Formula::Lit(Lit::Int(_, n)), of] | [of, Formula::Lit(Lit::Int(_, n))] => self.add(of, n * times),
                _ => self.add_atom(f, times),
            },
            _ => self.add_atom(f, times),
        }
    }

    fn add_atom(&mut self, f: &Formula, times: i128) {
        match self.0.iter().position(|(own, _)| own == f) {
            Some(k) => self.0[k].1 += times,
            None => self.0.push((f.clone(), times)),
        }
        self.0.retain(|(_, times)| *times != 0);
    }

    /// Whether it is zero.
    fn is_zero(&self) -> bool {
        self.0.is_empty() && self.1 == 0
    }
}

impl Formula {
    /// Whether two sizes are known to be equal, where no integer overflows. A function checks a
    /// size that is another term than its formula.
    fn is_equal(&self, other: &Formula) -> bool {
        self.differs_by(other, None)
            || matches!(self, Formula::Cond(parts) if {
                let [cond, then, last] = &**parts;
                (then.is_equal(other) || then.differs_by(other, cond.equality())) && last.is_equal(other)
            })
    }

    /// Whether the difference of two sizes is that of `given`, or its negation; without it, zero.
    fn differs_by(&self, other: &Formula, given: Option<(&Formula, Formula)>) -> bool {
        let difference = |sign: i128| {
            let mut all = Linear(Vec::new(), 0);
            all.add(self, 1);
            all.add(other, -1);
            if let Some((a, b)) = &given {
                all.add(a, sign);
                all.add(b, -sign);
            }
            all
        };
        difference(1).is_zero() || difference(-1).is_zero()
    }

    /// The sizes of which a condition says that they are equal. `n < 1` says so of `n` and 0.
    fn equality(&self) -> Option<(&Formula, Formula)> {
        let Formula::Prim(Prim::Compare(op), args) = self else { return None };
        match (op, &args[..]) {
            (Cmp::Eq, [a, b]) => Some((a, b.clone())),
            (Cmp::Lt, [a, Formula::Lit(Lit::Int(ty, 1))]) if *ty == IntTy::Usize => {
                Some((a, Formula::Lit(Lit::Int(*ty, 0))))
            }
            _ => None,
        }
    }
}

/// The sizes and integers of the parameters, and these plus one.
fn of_parameters(sig: &Sig) -> impl Iterator<Item = Formula> {
    let first = sig.before();
    let of = |(k, param): (usize, &SigParam)| {
        let axes = (0..param.leaf.rank).filter(|&axis| param.leaf.static_size(axis).is_none());
        let is_size = param.leaf.rank == 0 && param.leaf.elem == Elem::USIZE && param.leaf.role == Role::Data;
        axes.map(|axis| Formula::Axis(k, axis)).chain(is_size.then_some(Formula::Argument(k))).collect::<Vec<_>>()
    };
    let unpacked = sig.params[first..].iter().enumerate().filter(|(k, _)| !sig.packed.iter().any(|p| p.0 == first + k));
    let all: Vec<Formula> = unpacked.flat_map(of).collect();
    let one = Formula::Lit(Lit::Int(IntTy::Usize, 1));
    let more = all.iter().map(|f| Formula::Prim(Prim::Int(IntOp::Add), vec![f.clone(), one.clone()]));
    let more: Vec<Formula> = more.collect();
    all.into_iter().chain(more)
}

/// What a formula may leave to later runs and to checks.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Reading {
    /// An arm that depends on a guess is left out.
    Exact,
    /// A guess also stands for what it is required to equal.
    Required,
    /// If no formula joins the arms, an arm that is a size or an integer of an argument stands for
    /// all arms. The function then checks the size.
    Checked,
}

/// Reads a term as a formula.
struct Reader<'l, 'a> {
    lower: &'l Lower<'a>,
    reading: Reading,
    /// The terms that are being read.
    open: Vec<Term>,
    left: usize,
}

/// The formula of a size in this reading.
fn formula_of(lower: &Lower<'_>, size: Term, reading: Reading) -> Option<Formula> {
    Reader { lower, reading, open: Vec::new(), left: LONGEST }.read(size)
}

impl Reader<'_, '_> {
    fn read(&mut self, t: Term) -> Option<Formula> {
        self.left = self.left.checked_sub(1)?;
        if self.open.contains(&t) {
            return None;
        }
        self.open.push(t);
        let found = self.own(t).or_else(|| {
            let equal = self.lower.functions.guesses.equal.iter().filter(|_| self.reading == Reading::Required);
            let others: Vec<Term> =
                equal.flat_map(|&(a, b)| [(a, b), (b, a)]).filter(|p| p.0 == t).map(|p| p.1).collect();
            others.into_iter().find_map(|other| self.read(other))
        });
        self.open.pop();
        found
    }

    fn own(&mut self, t: Term) -> Option<Formula> {
        let Lower { g, graph_inputs: inputs, .. } = self.lower;
        let sig = self.lower.input.sig();
        if g.rank(t) > 0 || g.elem(t).is_real() {
            return None;
        }
        let leaf = |k: usize| k.checked_sub(sig.before());
        let packed = |k: usize| sig.packed.iter().any(|(part, _)| *part == k);
        match g.node(t) {
            Node::Lit(lit) => Some(Formula::Lit(*lit)),
            Node::Input(input) => {
                if let Some(c) = inputs.constant_at(*input).and_then(|k| inputs.constants().get(k)) {
                    return Some(Formula::Constant(c.path.to_string(), c.elem));
                }
                let k = inputs.param_at(*input)? as usize;
                match leaf(k) {
                    Some(of) => (k < sig.params.len() && !packed(k)).then_some(Formula::Argument(of)),
                    None => {
                        let &(array, axis) = sig.sizes.get(k.checked_sub(usize::from(!sig.packed.is_empty()))?)?;
                        Some(Formula::Axis(leaf(array)?, axis))
                    }
                }
            }
            Node::Size(input, axis) => {
                let k = inputs.param_at(*input)? as usize;
                (k < sig.params.len() && !packed(k)).then_some(Formula::Axis(leaf(k)?, *axis))
            }
            Node::Prim(prim, args) => {
                let known = prim.computes_sizes();
                let args: Option<Vec<Formula>> = args.iter().filter(|_| known).map(|&a| self.read(a)).collect();
                Some(Formula::Prim(prim.clone(), args.filter(|_| known)?))
            }
            &Node::Cond { cond, then, other } => {
                let arms = [then, other].map(|arm| (self.read(arm), self.lower.functions.guesses.are_in(g, &[arm])));
                match arms {
                    [(Some(a), _), (Some(b), _)] if a == b => Some(a),
                    [(Some(a), _), (Some(b), _)] if self.reading != Reading::Checked => {
                        Some(Formula::Cond([self.read(cond)?, a, b].into()))
                    }
                    [(Some(a), _), (None, true)] | [(None, true), (Some(a), _)] => Some(a),
                    [(a, _), (b, _)] if self.reading == Reading::Checked => {
                        let of_argument = |arm: &Formula| matches!(arm, Formula::Argument(_) | Formula::Axis(..));
                        let all = [&a, &b].iter().all(|arm| arm.as_ref().is_none_or(of_argument));
                        a.or(b).filter(|_| all)
                    }
                    _ => None,
                }
            }
            _ => None,
        }
    }
}

/// The results of a call: their types, and the sizes that the types do not have.
pub(super) struct SizesOfCall {
    /// The types of the results.
    pub results: Box<[Returns]>,
    /// The sizes that they do not have.
    pub sizes: Vec<Term>,
}

impl<'a> Lower<'a> {
    /// The types of the results of a call, given the numbers and arrays that are passed.
    pub(super) fn results_of_call(
        &mut self,
        (number, sig): (u32, &Sig),
        leaves: &[Term],
        range: SrcRange,
    ) -> Lowered<SizesOfCall> {
        let (mut results, mut sizes) = (Vec::new(), Vec::new());
        for (k, leaf) in sig.result.leaves().into_iter().enumerate() {
            let mut own = Vec::new();
            for axis in 0..leaf.rank {
                if let Some(Len::Number(n)) = leaf.static_size(axis) {
                    own.push(Extent::Number(*n));
                    continue;
                }
                let size = match self.functions.formula(number, k, axis) {
                    Some(formula) => self.size_by(&formula, leaves),
                    None => {
                        self.functions.guessed.borrow_mut().insert(number);
                        self.guess()
                    }
                };
                if !self.g.is_closed(size) {
                    return Err(self.error(range, catalogue::recursive_size_in_a_loop(&sig.name.to_string())));
                }
                let place = sizes.iter().position(|&s| s == size).unwrap_or(sizes.len());
                if place == sizes.len() {
                    sizes.push(size);
                }
                own.push(Extent::Given(u32::try_from(place).unwrap_or(u32::MAX)));
            }
            results.push(Returns { elem: leaf.elem, sizes: own.into() });
        }
        Ok(SizesOfCall { results: results.into(), sizes })
    }

    fn guess(&mut self) -> Term {
        self.functions.guesses.inputs.insert(u32::try_from(self.g.inputs().len()).unwrap_or(u32::MAX));
        self.g.add_input_shaped(Elem::USIZE, Vec::new())
    }

    /// The term of a formula.
    fn size_by(&mut self, formula: &Formula, leaves: &[Term]) -> Term {
        match formula {
            Formula::Lit(lit) => self.g.lit(*lit),
            Formula::Constant(path, elem) => {
                let path = syn::parse_str::<syn::Expr>(path).map(ToTokens::into_token_stream);
                self.constant(&path.unwrap_or_default(), *elem)
            }
            Formula::Argument(k) => leaves[*k],
            Formula::Axis(k, axis) => self.g.shape(leaves[*k])[usize::from(*axis)],
            Formula::Prim(prim, args) => {
                let args: Vec<Term> = args.iter().map(|arg| self.size_by(arg, leaves)).collect();
                match (prim, &args[..]) {
                    (Prim::Int(op), &[a, b]) => self.g.int(*op, a, b),
                    (Prim::Compare(op), &[a, b]) => self.g.compare(*op, a, b),
                    _ => self.g.prim(prim.clone(), &args),
                }
            }
            Formula::Cond(parts) => {
                let [cond, then, other] = &**parts;
                let (cond, then) = (self.size_by(cond, leaves), self.size_by(then, leaves));
                let other = self.size_by(other, leaves);
                self.g.cond(cond, then, other)
            }
        }
    }

    /// Notes the sizes of the result of the function that is being lowered. Returns the result with
    /// the sizes that its calls know.
    pub(crate) fn with_noted_sizes(&mut self, result: OutputTree) -> OutputTree {
        let Some(key) = self.functions.current.and_then(|k| Some(self.functions.all.borrow().get(k)?.key())) else {
            return result;
        };
        let sig = self.input.sig();
        let mut terms = result.terms();
        for (k, leaf) in sig.result.leaves().into_iter().enumerate() {
            let mut shape = self.g.shape(terms[k]).to_vec();
            for axis in (0..leaf.rank).filter(|&axis| leaf.static_size(axis).is_none()) {
                let size = shape[usize::from(axis)];
                let place = (key.clone(), k, axis);
                let Some((found, equal)) = self.functions.found_size(self, &place, size) else { continue };
                if let Some(formula) = found.formula.as_ref().filter(|_| found.checked || !equal) {
                    shape[usize::from(axis)] = self.checked_size(size, formula);
                }
                self.functions.sizes.borrow_mut().insert(place, found);
            }
            terms[k] = self.g.recast(terms[k], &shape);
        }
        result.with_terms(&mut terms.into_iter())
    }

    /// The size that a formula gives, which has to be that of the result.
    fn checked_size(&mut self, size: Term, formula: &Formula) -> Term {
        let leaf = |k: usize| match self.graph_inputs.packed(k) {
            Some(part) => Some(part),
            None => self.g.input(self.graph_inputs.input_of(u32::try_from(k).ok()?)),
        };
        let leaves: Option<Vec<Term>> = (self.input.sig().before()..self.input.sig().params.len()).map(leaf).collect();
        let wanted = self.size_by(formula, &leaves.unwrap_or_default());
        let ok = self.g.compare(Cmp::Eq, size, wanted);
        let shown = vec![("the result".to_string(), size), ("the argument".to_string(), wanted)];
        self.require_shown(None, ok, catalogue::reached::RESULT_SIZE, shown);
        wanted
    }
}

impl Functions {
    /// Whether a term is a guess.
    pub(crate) fn is_guess(&self, g: &Graph, t: Term) -> bool {
        self.guesses.contains(g, t)
    }

    /// Notes that two sizes are required to be equal.
    pub(crate) fn note_equal_sizes(&mut self, g: &Graph, a: Term, b: Term) {
        self.guesses.note(g, a, b);
    }

    /// The facts about a size that this run and those before it have found, and whether the size is
    /// just the formula.
    fn found_size(&self, lower: &Lower<'_>, place: &ResultSize, size: Term) -> Option<(FoundSize, bool)> {
        let read = |reading| formula_of(lower, size, reading);
        let before = self.known.sizes.get(place);
        let reading = || read(Reading::Exact).or_else(|| read(Reading::Required));
        let Some(before) = before else {
            let (formula, to_check) = (reading(), read(Reading::Checked));
            let checked = formula.is_none();
            let formula = formula.or_else(|| to_check.clone())?;
            return Some((FoundSize { formula: Some(formula), checked, to_check, changes: 0 }, true));
        };
        let own = before.formula.as_ref()?;
        let (formula, changes) = (if before.checked { read(Reading::Checked) } else { reading() }, before.changes + 1);
        let equal = formula.as_ref() == Some(own);
        let found = match formula {
            Some(formula) if formula.is_equal(own) => return Some((before.clone(), equal)),
            _ if before.checked => FoundSize { formula: None, ..before.clone() },
            Some(formula) if changes < RUNS => FoundSize { formula: Some(formula), changes, ..before.clone() },
            _ => {
                // A size for which no formula is possible stays so, whatever the formulas of the
                // calls are.
                let other = formula.and_then(|_| of_parameters(lower.input.sig()).nth(changes - RUNS));
                let (checked, formula) = (other.is_none(), other.or_else(|| before.to_check.clone()));
                FoundSize { formula, checked, changes, ..before.clone() }
            }
        };
        Some((found, true))
    }

    /// The formula of a size of a function's result, if earlier runs have found one.
    fn formula(&self, number: u32, leaf: usize, axis: u8) -> Option<Formula> {
        let key = self.all.borrow().get(number as usize)?.key();
        self.known.sizes.get(&(key, leaf, axis))?.formula.clone()
    }

    /// The functions whose calls were lowered with guesses: the range of the type of the result,
    /// and the name.
    pub(crate) fn with_unknown_sizes(&self) -> SortedMap<u32, (SrcRange, String)> {
        let all = self.all.borrow();
        let of = |&number: &u32| {
            let sig = &all.get(number as usize)?.item.sig;
            Some((number, (SrcRange::of(&sig.output), sig.ident.to_string())))
        };
        self.guessed.borrow().iter().filter_map(of).collect()
    }
}
