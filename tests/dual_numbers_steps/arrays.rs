//! DN section 8: identities are consecutive, so the map of staged calls is an array that is changed
//! in place, and the collector is another one. Rust's `&mut` is what the paper has resource-linear
//! types for.

use std::rc::Rc;

use super::{Cost, Found, Identified, Identities, Program, Step, count};

type Backpropagator = Rc<dyn Fn(f64, &mut State)>;

/// The collector, and for each identity the function and its argument so far (figure 13).
struct State {
    collected: Vec<f64>,
    calls: Vec<Option<(Backpropagator, f64)>>,
}

impl State {
    /// `StagedCall`.
    fn call(&mut self, (id, f): (usize, &Backpropagator), x: f64, cost: &Cost) {
        count(&cost.sums, 1);
        self.calls[id].get_or_insert_with(|| (f.clone(), 0.0)).1 += x;
    }

    /// `ResolveState`.
    fn resolve(mut self) -> Vec<f64> {
        for id in (0..self.calls.len()).rev() {
            if let Some((f, x)) = self.calls[id].take() {
                f(x, &mut self);
            }
        }
        self.collected
    }
}

type Number = Identified<Backpropagator>;

struct Arrays {
    identities: Identities,
    cost: Rc<Cost>,
}

impl Step for Arrays {
    type Number = Number;

    fn constant(&self, value: f64) -> Number {
        self.identities.number(value, Rc::new(|_, _| {}))
    }

    fn value(&self, x: &Number) -> f64 {
        x.value
    }

    fn operation(&self, value: f64, operands: Vec<(&Number, f64)>) -> Number {
        let operands: Vec<_> = operands.into_iter().map(|(x, partial)| (x.id, x.back.clone(), partial)).collect();
        let cost = self.cost.clone();
        count(&cost.closures, 1);
        let back = move |z: f64, state: &mut State| {
            count(&cost.calls, 1);
            for (id, back, partial) in &operands {
                state.call((*id, back), z * partial, &cost);
            }
        };
        self.identities.number(value, Rc::new(back))
    }
}

/// `Wrap` of figure 13.
pub(super) fn gradient(program: &impl Program, x: &[f64]) -> Found {
    let cost = Rc::new(Cost::default());
    let arrays = Arrays { identities: Identities::default(), cost: cost.clone() };
    let input = |(k, &value): (usize, &f64)| -> Number {
        let cost = cost.clone();
        let input_cotangent = move |z: f64, state: &mut State| {
            count(&cost.calls, 1);
            count(&cost.sums, 1);
            state.collected[k] += z;
        };
        arrays.identities.number(value, Rc::new(input_cotangent))
    };
    let interleaved: Vec<Number> = x.iter().enumerate().map(input).collect();
    let result = program.value(&arrays, &interleaved);
    let calls = (0..arrays.identities.given()).map(|_| None).collect();
    let mut state = State { collected: vec![0.0; x.len()], calls };
    (result.back)(1.0, &mut state);
    let gradient = state.resolve();
    let value = result.value;
    drop((result, interleaved, arrays));
    Found { value, gradient, cost: Rc::into_inner(cost).expect("the only owner") }
}
