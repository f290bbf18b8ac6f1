//! DN section 5: a number is its value and a backpropagator, a linear function from its cotangent
//! to the cotangents of all arguments. A backpropagator calls those of its operands.

use std::rc::Rc;

use super::{Cost, Found, Program, Step, count};

type Backpropagator = Rc<dyn Fn(f64) -> Vec<f64>>;

#[derive(Clone)]
struct Number {
    value: f64,
    back: Backpropagator,
}

struct Naive {
    inputs: usize,
    cost: Rc<Cost>,
}

impl Step for Naive {
    type Number = Number;

    fn constant(&self, value: f64) -> Number {
        let inputs = self.inputs;
        Number { value, back: Rc::new(move |_| vec![0.0; inputs]) }
    }

    fn value(&self, x: &Number) -> f64 {
        x.value
    }

    fn operation(&self, value: f64, operands: Vec<(&Number, f64)>) -> Number {
        let operands: Vec<_> = operands.into_iter().map(|(x, partial)| (x.back.clone(), partial)).collect();
        let (inputs, cost) = (self.inputs, self.cost.clone());
        count(&cost.closures, 1);
        let back = move |z: f64| {
            count(&cost.calls, 1);
            let mut all = vec![0.0; inputs];
            for (back, partial) in &operands {
                count(&cost.sums, inputs);
                all.iter_mut().zip(back(z * partial)).for_each(|(sum, more)| *sum += more);
            }
            all
        };
        Number { value, back: Rc::new(back) }
    }
}

/// `Wrap` of figure 6.
pub(super) fn gradient(program: &impl Program, x: &[f64]) -> Found {
    let (inputs, cost) = (x.len(), Rc::new(Cost::default()));
    let input = |(k, &value): (usize, &f64)| {
        let cost = cost.clone();
        let one_hot = move |z: f64| {
            count(&cost.calls, 1);
            (0..inputs).map(|i| if i == k { z } else { 0.0 }).collect()
        };
        Number { value, back: Rc::new(one_hot) }
    };
    let interleaved: Vec<Number> = x.iter().enumerate().map(input).collect();
    let result = program.value(&Naive { inputs, cost: cost.clone() }, &interleaved);
    let gradient = (result.back)(1.0);
    let value = result.value;
    drop((result, interleaved));
    Found { value, gradient, cost: Rc::into_inner(cost).expect("the only owner") }
}
