//! A formula as a tree, its constants fitted to data by steepest descent with Newton's step length
//! left to a line search: symbolic regression, as its inner loop has it.

use ad::check_grad;
use ad::prelude::*;
use std::fmt;

#[derive(Clone, Copy, Debug, PartialEq, Differentiable)]
pub enum Function {
    Sin,
    Exp,
    Tanh,
}

#[derive(Clone, Debug, PartialEq, Differentiable)]
pub enum Expr {
    /// A number that is fitted.
    Constant(f64),
    /// A column of the data.
    Column(usize),
    Sum(Vec<Expr>),
    Product(Box<Expr>, Box<Expr>),
    /// A quotient that stays finite.
    Ratio {
        above: Box<Expr>,
        below: Box<Expr>,
    },
    Power(Box<Expr>, i32),
    Apply(Function, Box<Expr>),
}

#[differentiate]
impl Function {
    fn of(self, x: f64) -> f64 {
        match self {
            Function::Sin => x.sin(),
            Function::Exp => (-x * x).exp(),
            Function::Tanh => x.tanh(),
        }
    }
}

#[differentiate]
impl Expr {
    #[differentiate]
    pub fn eval(&self, row: &[f64]) -> f64 {
        match self {
            Expr::Constant(c) => *c,
            Expr::Column(k) => row[*k],
            Expr::Sum(terms) => terms.iter().map(|term| term.eval(row)).sum(),
            Expr::Product(a, b) => a.eval(row) * b.eval(row),
            Expr::Ratio { above, below } => {
                let below = below.eval(row);
                above.eval(row) * below / (1e-6 + below * below)
            }
            Expr::Power(base, n) => base.eval(row).powi(*n),
            Expr::Apply(f, inside) => f.of(inside.eval(row)),
        }
    }

    /// The number of nodes, which a search penalises.
    fn size(&self) -> usize {
        match self {
            Expr::Constant(_) | Expr::Column(_) => 1,
            Expr::Sum(terms) => 1 + terms.iter().map(|term| term.size()).sum::<usize>(),
            Expr::Product(a, b) => 1 + a.size() + b.size(),
            Expr::Ratio { above, below } => 1 + above.size() + below.size(),
            Expr::Power(inside, _) | Expr::Apply(_, inside) => 1 + inside.size(),
        }
    }
}

impl fmt::Display for Expr {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Expr::Constant(c) => write!(f, "{c:.3}"),
            Expr::Column(k) => write!(f, "x{k}"),
            Expr::Sum(terms) => {
                let terms: Vec<String> = terms.iter().map(ToString::to_string).collect();
                write!(f, "({})", terms.join(" + "))
            }
            Expr::Product(a, b) => write!(f, "{a} {b}"),
            Expr::Ratio { above, below } => write!(f, "{above} / {below}"),
            Expr::Power(base, n) => write!(f, "{base}^{n}"),
            Expr::Apply(function, inside) => write!(f, "{function:?} {inside}"),
        }
    }
}

/// The mean squared error over all rows, and a price for each node.
#[differentiate(wrt(formula))]
fn loss(formula: &Expr, rows: &[[f64; 2]], targets: &[f64]) -> f64 {
    let mut total = 0.0;
    for (row, target) in rows.iter().zip(targets) {
        let error = formula.eval(row) - target;
        total += error * error;
    }
    total / rows.len() as f64 + 1e-3 * formula.size() as f64
}

fn constant(c: f64) -> Expr {
    Expr::Constant(c)
}

fn times(a: Expr, b: Expr) -> Expr {
    Expr::Product(Box::new(a), Box::new(b))
}

fn apply(f: Function, inside: Expr) -> Expr {
    Expr::Apply(f, Box::new(inside))
}

/// `a sin(b x0) + x1^2 / (c + x1^2) + d`
fn formula(a: f64, b: f64, c: f64, d: f64) -> Expr {
    let square = || Expr::Power(Box::new(Expr::Column(1)), 2);
    let ratio = Expr::Ratio { above: Box::new(square()), below: Box::new(Expr::Sum(vec![constant(c), square()])) };
    Expr::Sum(vec![times(constant(a), apply(Function::Sin, times(constant(b), Expr::Column(0)))), ratio, constant(d)])
}

fn data(truth: &Expr) -> (Vec<[f64; 2]>, Vec<f64>) {
    let rows: Vec<[f64; 2]> = (0..40).map(|k| [0.1 * k as f64 - 2.0, (k as f64 * 0.7).cos()]).collect();
    let targets = rows.iter().map(|row| truth.eval(row)).collect();
    (rows, targets)
}

#[test]
fn derivatives_agree_with_differences() {
    let start = formula(0.8, 1.4, 0.6, 0.1);
    let (rows, targets) = data(&formula(1.5, 1.1, 0.5, -0.3));
    check_grad!(loss(&start, &rows, &targets));
    check_grad!(start.eval(&[0.4, -0.9]));
    let gradient = loss_grad(&start, &rows, &targets);
    let flat = start.to_flat();
    for k in 0..flat.len() {
        let moved = |by: f64| {
            let mut flat = flat.clone();
            flat[k] += by;
            loss(&start.from_flat(&flat), &rows, &targets)
        };
        let difference = (moved(1e-6) - moved(-1e-6)) / 2e-6;
        assert!((gradient.to_flat()[k] - difference).abs() < 1e-6, "{k}: {difference}");
    }
    let gaussian = apply(Function::Exp, apply(Function::Tanh, times(constant(0.7), Expr::Column(0))));
    check_grad!(loss(&gaussian, &rows, &targets));
}

#[test]
fn constants_are_recovered() {
    let truth = formula(1.5, 1.1, 0.5, -0.3);
    let (rows, targets) = data(&truth);
    let mut found = formula(1.0, 1.0, 1.0, 0.0);
    let mut step = 0.1;
    let mut best = loss(&found, &rows, &targets);
    for _ in 0..3000 {
        let (_, gradient) = loss_value_and_grad(&found, &rows, &targets);
        let mut next = found.clone();
        next.axpy(-step, &gradient);
        let value = loss(&next, &rows, &targets);
        if value < best {
            (found, best, step) = (next, value, step * 1.2);
        } else {
            step *= 0.5;
        }
    }
    for (a, b) in found.to_flat().iter().zip(truth.to_flat()) {
        assert!((a - b).abs() < 2e-2, "{found} instead of {truth}");
    }
    assert_eq!(truth.size(), 15);
}
