//! DN section 7: a staged value `s` is represented by the function that adds it, `s' -> s + s'`. So
//! a zero is the identity, a sum is a composition, and no collectors are added.

use std::collections::BTreeMap;
use std::rc::Rc;

use super::{Cost, Found, Identified, Identities, Program, Step, count, depth};

/// From a cotangent to what is added to a staged value (figure 10).
type Backpropagator = Rc<dyn Fn(f64) -> Added>;
type Added = Box<dyn FnOnce(Staged) -> Staged>;

struct Staged {
    collected: Vec<f64>,
    calls: BTreeMap<usize, (Backpropagator, f64)>,
}

fn identity() -> Added {
    Box::new(|staged| staged)
}

fn composed(first: Added, second: Added) -> Added {
    Box::new(|staged| second(first(staged)))
}

/// `StagedCall`.
fn call((id, f): (usize, Backpropagator), x: f64, cost: Rc<Cost>) -> Added {
    Box::new(move |mut staged| {
        count(&cost.searches, depth(staged.calls.len()));
        match staged.calls.get_mut(&id) {
            Some(call) => {
                count(&cost.sums, 1);
                call.1 += x;
            }
            None => {
                staged.calls.insert(id, (f, x));
            }
        }
        staged
    })
}

/// `ResolveStaged`.
fn resolved(mut staged: Staged, cost: &Cost) -> Vec<f64> {
    while let Some((_, (f, x))) = staged.calls.pop_last() {
        count(&cost.searches, depth(staged.calls.len()));
        staged = f(x)(staged);
    }
    staged.collected
}

type Number = Identified<Backpropagator>;

struct Cayley {
    identities: Identities,
    cost: Rc<Cost>,
}

impl Step for Cayley {
    type Number = Number;

    fn constant(&self, value: f64) -> Number {
        self.identities.number(value, Rc::new(|_| identity()))
    }

    fn value(&self, x: &Number) -> f64 {
        x.value
    }

    fn operation(&self, value: f64, operands: Vec<(&Number, f64)>) -> Number {
        let operands: Vec<_> = operands.into_iter().map(|(x, partial)| (x.id, x.back.clone(), partial)).collect();
        let cost = self.cost.clone();
        count(&cost.closures, 1);
        let back = move |z: f64| {
            count(&cost.calls, 1);
            let calls = operands.iter().map(|(id, back, partial)| call((*id, back.clone()), z * partial, cost.clone()));
            calls.fold(identity(), composed)
        };
        self.identities.number(value, Rc::new(back))
    }
}

/// `Wrap` of figure 11.
pub(super) fn gradient(program: &impl Program, x: &[f64]) -> Found {
    let cost = Rc::new(Cost::default());
    let cayley = Cayley { identities: Identities::default(), cost: cost.clone() };
    let input = |(k, &value): (usize, &f64)| -> Number {
        let cost = cost.clone();
        let setter = move |z: f64| -> Added {
            count(&cost.calls, 1);
            let cost = cost.clone();
            Box::new(move |mut staged| {
                count(&cost.sums, 1);
                staged.collected[k] += z;
                staged
            })
        };
        cayley.identities.number(value, Rc::new(setter))
    };
    let interleaved: Vec<Number> = x.iter().enumerate().map(input).collect();
    let result = program.value(&cayley, &interleaved);
    // The only zero collector.
    let zero = Staged { collected: vec![0.0; x.len()], calls: BTreeMap::new() };
    let gradient = resolved((result.back)(1.0)(zero), &cost);
    let value = result.value;
    drop((result, interleaved, cayley));
    Found { value, gradient, cost: Rc::into_inner(cost).expect("the only owner") }
}
