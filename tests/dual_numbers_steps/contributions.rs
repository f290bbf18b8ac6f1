//! DN sections 9.1 and 9.2: a backpropagator is data, the list of the operands with their partial
//! derivatives, which one loop interprets. The array of staged calls has the cotangents of the
//! arguments too, so there is no collector.

use std::cell::Cell;
use std::rc::Rc;

use super::{Cost, Found, Program, Step, count};

/// `Contrib`: for each operand its identity, its own contributions, and a partial derivative.
#[derive(Clone)]
struct Contributions(Rc<[(usize, Contributions, f64)]>);

#[derive(Clone)]
struct Number {
    value: f64,
    id: usize,
    contributions: Contributions,
}

struct Defunctionalised {
    next: Cell<usize>,
}

impl Defunctionalised {
    fn number(&self, value: f64, contributions: Rc<[(usize, Contributions, f64)]>) -> Number {
        let id = self.next.replace(self.next.get() + 1);
        Number { value, id, contributions: Contributions(contributions) }
    }
}

impl Step for Defunctionalised {
    type Number = Number;

    fn constant(&self, value: f64) -> Number {
        self.number(value, Rc::new([]))
    }

    fn value(&self, x: &Number) -> f64 {
        x.value
    }

    fn operation(&self, value: f64, operands: Vec<(&Number, f64)>) -> Number {
        self.number(value, operands.into_iter().map(|(x, partial)| (x.id, x.contributions.clone(), partial)).collect())
    }
}

pub(super) fn gradient(program: &impl Program, x: &[f64]) -> Found {
    let cost = Cost::default();
    let step = Defunctionalised { next: Cell::new(0) };
    let interleaved: Vec<Number> = x.iter().map(|&value| step.constant(value)).collect();
    let result = program.value(&step, &interleaved);
    let mut calls: Vec<(Option<Contributions>, f64)> = vec![(None, 0.0); step.next.get()];
    calls[result.id] = (Some(result.contributions.clone()), 1.0);
    // `ResolveState`.
    for id in (0..calls.len()).rev() {
        let (Some(contributions), cotangent) = calls[id].clone() else { continue };
        count(&cost.calls, 1);
        for (operand, of_operand, partial) in contributions.0.iter() {
            count(&cost.sums, 1);
            calls[*operand] = (Some(of_operand.clone()), calls[*operand].1 + cotangent * partial);
        }
    }
    let gradient = calls[..x.len()].iter().map(|call| call.1).collect();
    Found { value: result.value, gradient, cost }
}
