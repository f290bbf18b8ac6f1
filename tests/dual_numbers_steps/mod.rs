//! The steps of Smeding and Vákár, "Dual-Numbers Reverse-Mode AD, Efficiently" (DN), from the naive
//! dual numbers of section 5 to the tape of section 9.3, which `ad_runtime::dual_numbers` is: each
//! step is a module with the paper's names. All give the gradients of the tape that is shipped, and
//! counts show what each step buys.

mod arrays;
mod cayley;
mod contributions;
mod naive;
mod staged;
mod tape;

use std::cell::Cell;

use ad::prelude::*;

/// What a gradient has cost.
#[derive(Debug, Default)]
struct Cost {
    /// Calls of backpropagators.
    calls: Cell<usize>,
    /// Additions of two numbers in a collector of cotangents.
    sums: Cell<usize>,
    /// Comparisons of keys in maps.
    searches: Cell<usize>,
    /// Backpropagators that are functions: one is made for each operation.
    closures: Cell<usize>,
}

fn count(counter: &Cell<usize>, more: usize) {
    counter.set(counter.get() + more);
}

/// The comparisons of a search in a balanced tree.
fn depth(len: usize) -> usize {
    len.checked_ilog2().map_or(0, |log| log as usize + 1)
}

/// A value, its gradient, and what the gradient has cost.
#[derive(Debug)]
struct Found {
    value: f64,
    gradient: Vec<f64>,
    cost: Cost,
}

/// A step of the paper: what a number is, and how an operation makes one.
trait Step {
    type Number: Clone;

    fn constant(&self, value: f64) -> Self::Number;

    fn value(&self, x: &Self::Number) -> f64;

    /// The result of an operation with these operands and partial derivatives.
    fn operation(&self, value: f64, operands: Vec<(&Self::Number, f64)>) -> Self::Number;

    fn add(&self, a: &Self::Number, b: &Self::Number) -> Self::Number {
        self.operation(self.value(a) + self.value(b), vec![(a, 1.0), (b, 1.0)])
    }

    fn mul(&self, a: &Self::Number, b: &Self::Number) -> Self::Number {
        let (x, y) = (self.value(a), self.value(b));
        self.operation(x * y, vec![(a, y), (b, x)])
    }

    fn sin(&self, a: &Self::Number) -> Self::Number {
        let x = self.value(a);
        self.operation(x.sin(), vec![(a, x.cos())])
    }
}

/// A number with an identity, and what its cotangent does.
#[derive(Clone)]
struct Identified<B> {
    value: f64,
    id: usize,
    back: B,
}

/// Gives numbers their identities, in the order in which they are made.
#[derive(Default)]
struct Identities(Cell<usize>);

impl Identities {
    fn number<B>(&self, value: f64, back: B) -> Identified<B> {
        let id = self.given();
        count(&self.0, 1);
        Identified { value, id, back }
    }

    /// How many numbers have been made.
    fn given(&self) -> usize {
        self.0.get()
    }
}

/// A function of numbers.
trait Program {
    fn value<S: Step>(&self, s: &S, x: &[S::Number]) -> S::Number;
}

/// The numbers of the tape that is shipped.
struct Shipped<T>(std::marker::PhantomData<T>);

impl<T: Real> Step for Shipped<T> {
    type Number = T;

    fn constant(&self, value: f64) -> T {
        T::lit(value)
    }
    fn value(&self, x: &T) -> f64 {
        x.as_f64()
    }
    fn operation(&self, _: f64, _: Vec<(&T, f64)>) -> T {
        unreachable!("the operations are those of the numbers")
    }
    fn add(&self, a: &T, b: &T) -> T {
        *a + *b
    }
    fn mul(&self, a: &T, b: &T) -> T {
        *a * *b
    }
    fn sin(&self, a: &T) -> T {
        a.sin()
    }
}

#[differentiate(mode = "dual_numbers")]
fn shipped<T: Real, P: Program>(program: &P, x: &[T]) -> T {
    program.value(&Shipped(std::marker::PhantomData), x)
}

/// The gradients of all steps, in the order of the paper, after they were compared with that of the
/// tape that is shipped.
fn steps(program: &impl Program, x: &[f64]) -> [Found; 6] {
    let all = [
        naive::gradient(program, x),
        staged::gradient(program, x),
        cayley::gradient(program, x),
        arrays::gradient(program, x),
        contributions::gradient(program, x),
        tape::gradient(program, x),
    ];
    let (value, gradient) = shipped_value_and_grad(program, x);
    for (k, found) in all.iter().enumerate() {
        assert_eq!(found.value.to_bits(), value.to_bits(), "step {k}");
        let close = |(a, b): (&f64, &f64)| (a - b).abs() <= 1e-12 * (1.0 + b.abs());
        assert_eq!(found.gradient.len(), gradient.len());
        assert!(found.gradient.iter().zip(&gradient).all(close), "step {k}: {found:?} and {gradient:?}");
    }
    all
}

/// DN section 5.4: each number is an operand of the next one twice.
struct Bad(usize);

impl Program for Bad {
    fn value<S: Step>(&self, s: &S, x: &[S::Number]) -> S::Number {
        (0..self.0).fold(x[0].clone(), |x, _| s.mul(&x, &x))
    }
}

/// DN section 6.1.
struct Example;

impl Program for Example {
    fn value<S: Step>(&self, s: &S, x: &[S::Number]) -> S::Number {
        let x3 = s.add(&x[0], &x[1]);
        s.add(&s.mul(&x3, &x[0]), &x3)
    }
}

/// DN section 6: the backpropagators `f1` to `f4`.
struct Four;

impl Program for Four {
    fn value<S: Step>(&self, s: &S, x: &[S::Number]) -> S::Number {
        let by = |a: f64, x: &S::Number| s.mul(&s.constant(a), x);
        let x2 = s.add(&by(2.0, &x[0]), &by(3.0, &x[0]));
        let x3 = s.add(&by(4.0, &x2), &by(5.0, &x[0]));
        s.add(&x2, &by(2.0, &x3))
    }
}

/// A sum over all arguments, some of which do not matter, and constants.
struct Sum;

impl Program for Sum {
    fn value<S: Step>(&self, s: &S, x: &[S::Number]) -> S::Number {
        let scaled = |x: &S::Number| s.mul(&s.sin(x), &s.constant(1.5));
        x.iter().step_by(2).fold(s.constant(2.0), |sum, x| s.add(&sum, &scaled(x)))
    }
}

/// A loop with two carried numbers, which goes on for longer if the argument is positive.
struct Loop(usize);

impl Program for Loop {
    fn value<S: Step>(&self, s: &S, x: &[S::Number]) -> S::Number {
        let steps = if s.value(&x[0]) > 0.0 { self.0 } else { self.0 / 2 };
        let (mut a, mut b) = (x[0].clone(), x[1].clone());
        for _ in 0..steps {
            (a, b) = (s.add(&s.sin(&b), &x[2]), a);
        }
        s.mul(&a, &b)
    }
}

#[test]
fn all_steps_agree_with_the_tape() {
    steps(&Bad(6), &[1.05]);
    steps(&Example, &[0.7, -1.3]);
    steps(&Four, &[0.4]);
    steps(&Sum, &[0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7]);
    for first in [0.3, -0.3] {
        steps(&Loop(8), &[first, 0.9, 0.5]);
    }
    // The result is an argument, or a constant.
    steps(&Bad(0), &[1.05]);
    steps(&Sum, &[]);
}

#[test]
fn staging_calls_each_backpropagator_once() {
    for n in [4, 8, 12] {
        let [naive, rest @ ..] = steps(&Bad(n), &[1.01]);
        // The result's, two of the operation before it, four of the one before that, and so on.
        assert_eq!(naive.cost.calls.get(), (1 << (n + 1)) - 1);
        for step in rest {
            assert_eq!(step.cost.calls.get(), n + 1);
        }
    }
}

#[test]
fn the_cayley_transformation_adds_no_collectors() {
    for inputs in [10, 40] {
        let [_, staged, cayley, ..] = steps(&Sum, &vec![0.3; inputs]);
        let operations = 3 * (inputs / 2);
        // Each backpropagator adds collectors, which have a number for each argument.
        assert!(staged.cost.sums.get() >= operations * inputs);
        // Each call is added to those of the same function, or to the number of an argument.
        assert!(cayley.cost.sums.get() <= 2 * operations);
    }
}

#[test]
fn arrays_need_no_searches() {
    let cost = |n: usize| steps(&Loop(n), &[-0.1, 0.9, 0.5]).map(|found| found.cost.searches.get());
    let [_, staged, cayley, arrays, contributions, tape] = cost(10);
    assert!(staged > 0 && cayley > 0);
    assert_eq!([arrays, contributions, tape], [0; 3]);
}

#[test]
fn contributions_are_data() {
    let [naive, staged, cayley, arrays, contributions, tape] =
        steps(&Sum, &[0.3; 10]).map(|found| found.cost.closures.get());
    // An operation each: 5 sines, 5 products and 5 sums.
    assert_eq!([naive, staged, cayley, arrays], [15; 4]);
    assert_eq!([contributions, tape], [0; 2]);
}
