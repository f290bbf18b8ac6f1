//! Loops as steps of a composition: `foldl`, `scanl` and `scanr` (UNF Figs. 5, 16 and 17). The loop
//! of the derivative is that of `modes/fold.rs`; here is how its body is composed and swept. This
//! module must never build a loop.

use std::collections::HashMap;

use ad_ir::ir::{Body, Graph, Node, Scan, Term, Type};
use ad_ir::sorted::SortedMap;

use super::forward;
use super::normal_form::{Entry, Normaliser};
use super::reverse::{Ct, sweep};
use super::source::{Composition, Primitive, Step, Variable};
use crate::modes::Refusal;
use crate::modes::cotangent::Cotangent;
use crate::modes::fold::{self, StepCotangents, Translation};
use crate::modes::forms::Tangent;
use crate::modes::saved::Computed;

/// A loop as a step of a composition.
pub(super) fn step(n: &mut Normaliser<'_>, t: Term, s: &Scan, out: &Composition) -> Step {
    let Node::Scan(scan) = Node::Scan(Box::new(s.clone())).map_children(|c| out.primal_of(c)) else {
        panic!("a loop stays a loop")
    };
    let arguments: Vec<usize> = s.init.iter().chain(&s.captures).chain(&s.xs).map(|a| out.positions[a]).collect();
    let given = arguments.iter().map(|&at| out.active(at)).collect();
    let (primal, fold) = fold::fold(n, t, *scan, (arguments, given));
    let active = fold.is_some();
    let primitive = fold.map_or(Primitive::Constant, |fold| Primitive::Fold(fold.into()));
    Step { term: t, primal, primitive, active }
}

impl Translation for Normaliser<'_> {
    type Step = Composition;

    fn graph(&mut self) -> &mut Graph {
        self.g
    }

    fn refused(&mut self) -> &mut Vec<(Term, Refusal)> {
        &mut self.refused
    }

    fn step(&mut self, body: &Body, active: &[bool]) -> Composition {
        let entry = |(k, ty): (usize, &Type)| {
            let p = self.g.param(k, ty.clone());
            (p, Entry { variable: Variable::Param(k), active: active[k] && ty.has_real(), primal: p })
        };
        let variables: HashMap<Term, Entry> = body.params.iter().enumerate().map(entry).collect();
        self.compose(&body.results, &variables, &[])
    }
}

impl fold::Step for Composition {
    fn results(&self) -> Vec<Term> {
        self.results.iter().map(|&at| self.primal(at)).collect()
    }

    fn active(&self) -> Vec<bool> {
        self.results.iter().map(|&at| Composition::active(self, at)).collect()
    }

    fn computed(&self, g: &Graph) -> Computed {
        let loops = self.steps.iter().filter_map(|step| match &step.primitive {
            Primitive::Fold(fold) => Some(&**fold),
            _ => None,
        });
        fold::computed(g, self.steps.iter().map(|step| step.primal).collect(), loops)
    }

    fn tangents(&self, g: &mut Graph, given: &SortedMap<usize, Term>) -> Vec<Option<Term>> {
        let all = forward::tangents(g, self, &mut |_, variable| match variable {
            Variable::Param(k) => given.get(&k).map(|&t| Tangent::Array(t)),
            _ => None,
        });
        self.results.iter().map(|&at| all[at].as_ref().and_then(Tangent::array)).collect()
    }

    fn cotangents(
        &self,
        g: &mut Graph,
        _params: &[Type],
        given: &SortedMap<usize, Cotangent>,
        sums: &SortedMap<usize, Term>,
    ) -> StepCotangents {
        let seeds = given.iter().map(|(&k, &ct)| (self.results[k], Ct::Array(ct))).collect();
        let sums = sums.iter().map(|(&k, &sum)| (Variable::Param(k), sum)).collect();
        let (found, left) = sweep(g, self, seeds, sums);
        let array = |(variable, ct)| match (variable, ct) {
            (Variable::Param(k), Ct::Array(ct)) => Some((k, ct)),
            _ => None,
        };
        let param = |variable: &Variable| if let Variable::Param(k) = variable { Some(*k) } else { None };
        StepCotangents {
            found: found.into_iter().filter_map(array).collect(),
            left: left.keys().filter_map(param).collect(),
        }
    }
}
