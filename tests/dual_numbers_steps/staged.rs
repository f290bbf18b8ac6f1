//! DN section 6: linear factoring, `f x + f y = f (x + y)`. A backpropagator does not call those of
//! its operands, but stages the calls in a map, by the identities of the functions. The calls of
//! one function become one. Identities grow, so the call with the highest one can be made: no other
//! function will stage it again.

use std::collections::BTreeMap;
use std::rc::Rc;

use super::{Cost, Found, Identified, Identities, Program, Step, count, depth};

type Backpropagator = Rc<dyn Fn(f64) -> Staged>;

/// A collector of cotangents, and calls that are to be made (figure 8).
struct Staged {
    collected: Vec<f64>,
    calls: BTreeMap<usize, (Backpropagator, f64)>,
}

impl Staged {
    fn zero(inputs: usize) -> Self {
        Staged { collected: vec![0.0; inputs], calls: BTreeMap::new() }
    }

    fn call(inputs: usize, (id, f): (usize, Backpropagator), x: f64) -> Self {
        Staged { calls: BTreeMap::from([(id, (f, x))]), ..Staged::zero(inputs) }
    }

    fn plus(mut self, other: Staged, cost: &Cost) -> Self {
        count(&cost.sums, self.collected.len());
        self.collected.iter_mut().zip(other.collected).for_each(|(a, b)| *a += b);
        for (id, (f, x)) in other.calls {
            count(&cost.searches, depth(self.calls.len()));
            // Here calls are factored.
            self.calls.entry(id).and_modify(|call| call.1 += x).or_insert((f, x));
        }
        self
    }

    fn resolve(mut self, cost: &Cost) -> Vec<f64> {
        while let Some((_, (f, x))) = self.calls.pop_last() {
            count(&cost.searches, depth(self.calls.len()));
            self = f(x).plus(self, cost);
        }
        self.collected
    }
}

type Number = Identified<Backpropagator>;

struct Staging {
    inputs: usize,
    identities: Identities,
    cost: Rc<Cost>,
}

impl Step for Staging {
    type Number = Number;

    fn constant(&self, value: f64) -> Number {
        let inputs = self.inputs;
        self.identities.number(value, Rc::new(move |_| Staged::zero(inputs)))
    }

    fn value(&self, x: &Number) -> f64 {
        x.value
    }

    fn operation(&self, value: f64, operands: Vec<(&Number, f64)>) -> Number {
        let operands: Vec<_> = operands.into_iter().map(|(x, partial)| (x.id, x.back.clone(), partial)).collect();
        let (inputs, cost) = (self.inputs, self.cost.clone());
        count(&cost.closures, 1);
        let back = move |z: f64| {
            count(&cost.calls, 1);
            let calls =
                operands.iter().map(|(id, back, partial)| Staged::call(inputs, (*id, back.clone()), z * partial));
            calls.reduce(|a, b| a.plus(b, &cost)).unwrap_or_else(|| Staged::zero(inputs))
        };
        self.identities.number(value, Rc::new(back))
    }
}

/// `Wrap` of figure 7.
pub(super) fn gradient(program: &impl Program, x: &[f64]) -> Found {
    let (inputs, cost) = (x.len(), Rc::new(Cost::default()));
    let staging = Staging { inputs, identities: Identities::default(), cost: cost.clone() };
    let input = |(k, &value): (usize, &f64)| -> Number {
        let cost = cost.clone();
        let one_hot = move |z: f64| {
            count(&cost.calls, 1);
            let mut staged = Staged::zero(inputs);
            staged.collected[k] = z;
            staged
        };
        staging.identities.number(value, Rc::new(one_hot))
    };
    let interleaved: Vec<Number> = x.iter().enumerate().map(input).collect();
    let result = program.value(&staging, &interleaved);
    let gradient = (result.back)(1.0).resolve(&cost);
    let value = result.value;
    drop((result, interleaved, staging));
    Found { value, gradient, cost: Rc::into_inner(cost).expect("the only owner") }
}
