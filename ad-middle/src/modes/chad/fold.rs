//! Loops: `D(fold n e)`, `Dfold` and `Dfold^t`. The rule is that of `map` (CHAD section 10), with a
//! state, and the loop of the derivative is that of `modes/fold.rs`; here is how a step becomes a
//! program and its linear functions are applied. This module must never build a loop.

use std::collections::HashMap;

use ad_ir::ir::{Body, Graph, Node, Scan, Term, Type};
use ad_ir::sorted::SortedMap;

use super::forward;
use super::lfun::{LFun, Lets, Variable};
use super::reverse;
use super::transform::{Known, Transform};
use crate::modes::Refusal;
use crate::modes::cotangent::Cotangent;
use crate::modes::fold::{self, StepCotangents, Translation};
use crate::modes::forms::Tangent;
use crate::modes::saved::Computed;

/// `D(fold n e)`.
pub(super) fn pair(d: &mut Transform<'_>, t: Term, s: &Scan, out: &Lets) -> (Term, LFun) {
    let Node::Scan(scan) = Node::Scan(Box::new(s.clone())).map_children(|c| out.primal_of(c)) else {
        panic!("a loop stays a loop")
    };
    let arguments: Vec<usize> = s.init.iter().chain(&s.captures).chain(&s.xs).map(|a| out.numbers[a]).collect();
    let given = arguments.iter().map(|&k| out.is_active(k)).collect();
    let (primal, fold) = fold::fold(d, t, *scan, (arguments, given));
    (primal, fold.map_or(LFun::Zero, |fold| LFun::Fold(fold.into())))
}

impl Translation for Transform<'_> {
    type Step = Lets;

    fn graph(&mut self) -> &mut Graph {
        self.g
    }

    fn refused(&mut self) -> &mut Vec<(Term, Refusal)> {
        &mut self.refused
    }

    fn step(&mut self, body: &Body, active: &[bool]) -> Lets {
        let known = |(k, ty): (usize, &Type)| {
            let p = self.g.param(k, ty.clone());
            (p, Known { variable: Variable::Param(k), active: active[k] && ty.has_real(), primal: p })
        };
        let context: HashMap<Term, Known> = body.params.iter().enumerate().map(known).collect();
        self.program(&body.results, &context, &[])
    }
}

impl fold::Step for Lets {
    fn results(&self) -> Vec<Term> {
        self.results.iter().map(|&k| self.primal(k)).collect()
    }

    fn active(&self) -> Vec<bool> {
        self.results.iter().map(|&k| self.is_active(k)).collect()
    }

    fn computed(&self, g: &Graph) -> Computed {
        let loops = self.bound.iter().filter_map(|bound| match &bound.dual {
            LFun::Fold(fold) => Some(&**fold),
            _ => None,
        });
        fold::computed(g, self.bound.iter().map(|bound| bound.primal).collect(), loops)
    }

    fn tangents(&self, g: &mut Graph, given: &SortedMap<usize, Term>) -> Vec<Option<Term>> {
        let all = forward::applied(g, self, &|variable| match variable {
            Variable::Param(k) => given.get(&k).map(|&t| Tangent::Array(t)),
            _ => None,
        });
        self.results.iter().map(|&k| all[k].as_ref().and_then(Tangent::array)).collect()
    }

    fn cotangents(
        &self,
        g: &mut Graph,
        params: &[Type],
        given: &SortedMap<usize, Cotangent>,
        sums: &SortedMap<usize, Term>,
    ) -> StepCotangents {
        let given = given.iter().map(|(&k, &ct)| (self.results[k], ct.into())).collect();
        let sums = sums.iter().map(|(&k, &sum)| (Variable::Param(k), sum)).collect();
        let (found, left) = reverse::applied(g, self, given, sums);
        let mut arrays = SortedMap::new();
        for (variable, ct) in found {
            let Variable::Param(k) = variable else { continue };
            let like = g.param(k, params[k].clone());
            arrays.extend(ct.folded(g, like).map(|ct| (k, ct)));
        }
        let param = |variable: &Variable| if let Variable::Param(k) = variable { Some(*k) } else { None };
        StepCotangents { found: arrays, left: left.keys().filter_map(param).collect() }
    }
}
