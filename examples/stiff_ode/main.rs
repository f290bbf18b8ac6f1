//! A stiff system of differential equations: an implicit solver of the crate
//! `differential-equations`, with the Jacobian of `ad`.
//!
//! Robertson's reactions (1966) run at speeds that differ by nine orders of magnitude. An explicit
//! method would need steps as short as the fastest of them. An implicit one solves a system of
//! equations in each step, for which it needs the Jacobian of the rates.

#![forbid(unsafe_code)]

use ad::prelude::*;
use differential_equations::methods::ImplicitRungeKutta;
use differential_equations::prelude::{IVP, Matrix, ODE};

/// The rates of change of three concentrations. With an array of static size as the result, nothing
/// is allocated.
#[differentiate(jvp)]
fn rates(y: [f64; 3]) -> [f64; 3] {
    let slow = 0.04 * y[0];
    let fast = 1e4 * y[1] * y[2];
    let faster = 3e7 * y[1] * y[1];
    [fast - slow, slow - fast - faster, faster]
}

/// The reactions, for the solver.
struct Robertson {
    /// Whether the solver gets the Jacobian of `ad`. Otherwise it takes difference quotients.
    exact: bool,
}

/// The same reactions without a Jacobian.
struct Differences;

impl ODE<f64, [f64; 3]> for Differences {
    fn diff(&self, _: f64, y: &[f64; 3], out: &mut [f64; 3]) {
        *out = rates(*y);
    }
}

impl ODE<f64, [f64; 3]> for Robertson {
    fn diff(&self, t: f64, y: &[f64; 3], out: &mut [f64; 3]) {
        Differences.diff(t, y, out);
    }

    fn jacobian(&self, t: f64, y: &[f64; 3], out: &mut Matrix<f64>) {
        if !self.exact {
            return Differences.jacobian(t, y, out);
        }
        // A column is the product of the Jacobian with a unit vector.
        for k in 0..3 {
            let mut unit = [0.0; 3];
            unit[k] = 1.0;
            let (_, column) = rates_jvp(*y, unit);
            for (i, entry) in column.into_iter().enumerate() {
                out[(i, k)] = entry;
            }
        }
    }
}

/// The concentrations at the time `end`, and how often the rates were computed.
fn solve(exact: bool, end: f64) -> Result<([f64; 3], usize), String> {
    let solution = IVP::ode(&Robertson { exact }, 0.0, end, [1.0, 0.0, 0.0])
        .method(ImplicitRungeKutta::radau5())
        .solve()
        .map_err(|e| format!("{e:?}"))?;
    let last = solution.y.last().ok_or("no steps")?;
    Ok((*last, solution.evals.function))
}

fn main() -> Result<(), String> {
    println!("Robertson's reactions, by Radau's method of order 5");
    println!("{:>9}  {:>12} {:>12} {:>12}  {:>28}", "time", "A", "B", "C", "f with ours, by differences");
    for end in [0.4, 40.0, 4e3, 4e5] {
        let ([a, b, c], calls) = solve(true, end)?;
        let (_, by_differences) = solve(false, end)?;
        println!("{end:>9}  {a:>12.4e} {b:>12.4e} {c:>12.4e}  {calls:>14} {by_differences:>13}");
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_concentrations_are_those_of_the_literature() {
        // Hairer and Wanner, Solving Ordinary Differential Equations II, section IV.1, to the
        // tolerance of the solver.
        let ([a, b, c], _) = solve(true, 40.0).expect("a solution");
        assert!((a - 0.7158).abs() < 1e-3 && (b - 9.185e-6).abs() < 1e-7 && (c - 0.2842).abs() < 1e-3, "{a} {b} {c}");
        assert!((a + b + c - 1.0).abs() < 1e-9, "the mass is kept");
    }

    #[test]
    fn products_with_the_jacobian_are_right() {
        ad::check_grad!(rates([0.7, 1e-5, 0.3]));
        let mut matrix = Matrix::zeros(3, 3);
        Robertson { exact: true }.jacobian(0.0, &[0.7, 1e-5, 0.3], &mut matrix);
        assert_eq!((matrix[(0, 0)], matrix[(2, 1)]), (-0.04, 6e7 * 1e-5));
    }
}
