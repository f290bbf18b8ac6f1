//! DN section 9.3: the contributions of an operation are known when it is made, and its identity is
//! their place in a growing array. So a number is its value and its identity, and the array is a
//! tape. `ad_runtime::dual_numbers` is this step, with places of a fixed size.

use std::cell::RefCell;

use super::{Cost, Found, Program, Step, count};

#[derive(Clone)]
struct Number {
    value: f64,
    id: usize,
}

#[derive(Default)]
struct Tape {
    entries: RefCell<Vec<Vec<(usize, f64)>>>,
}

impl Tape {
    fn number(&self, value: f64, contributions: Vec<(usize, f64)>) -> Number {
        let mut entries = self.entries.borrow_mut();
        entries.push(contributions);
        Number { value, id: entries.len() - 1 }
    }
}

impl Step for Tape {
    type Number = Number;

    fn constant(&self, value: f64) -> Number {
        self.number(value, Vec::new())
    }

    fn value(&self, x: &Number) -> f64 {
        x.value
    }

    fn operation(&self, value: f64, operands: Vec<(&Number, f64)>) -> Number {
        self.number(value, operands.into_iter().map(|(x, partial)| (x.id, partial)).collect())
    }
}

pub(super) fn gradient(program: &impl Program, x: &[f64]) -> Found {
    let (cost, tape) = (Cost::default(), Tape::default());
    let interleaved: Vec<Number> = x.iter().map(|&value| tape.constant(value)).collect();
    let result = program.value(&tape, &interleaved);
    let entries = tape.entries.into_inner();
    let mut cotangents = vec![0.0; entries.len()];
    cotangents[result.id] = 1.0;
    for (id, contributions) in entries.iter().enumerate().rev() {
        count(&cost.calls, 1);
        for (operand, partial) in contributions {
            count(&cost.sums, 1);
            cotangents[*operand] += cotangents[id] * partial;
        }
    }
    cotangents.truncate(x.len());
    Found { value: result.value, gradient: cotangents, cost }
}
