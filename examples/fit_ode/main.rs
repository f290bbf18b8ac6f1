//! Hares and lynxes of the Hudson Bay: a model of Lotka and Volterra is fitted to the pelts of 1900
//! to 1920 (in thousands, as printed by Howard, 2009, and used in Stan's case studies). The model
//! is integrated by Runge and Kutta's method in plain `for` loops; the fit goes down the gradient
//! that the macro writes.
//!
//! ```text
//! cargo run --release --example fit_ode [-- DIRECTORY]
//! ```
//!
//! The picture is written to the directory (by default `target/fit_ode`).

mod picture;

use std::error::Error;
use std::path::PathBuf;

use ad::prelude::*;

/// Hares and lynxes of each year.
const PELTS: [[f64; 2]; 21] = [
    [30.0, 4.0],
    [47.2, 6.1],
    [70.2, 9.8],
    [77.4, 35.2],
    [36.3, 59.4],
    [20.6, 41.7],
    [18.1, 19.0],
    [21.4, 13.0],
    [22.0, 8.3],
    [25.4, 9.1],
    [27.1, 7.4],
    [40.3, 8.0],
    [57.0, 12.3],
    [76.6, 19.5],
    [52.3, 45.7],
    [19.5, 51.1],
    [11.2, 29.7],
    [7.6, 15.8],
    [14.6, 9.7],
    [16.2, 10.1],
    [24.7, 8.6],
];
/// Steps a year.
const STEPS: usize = 20;
/// The search ends where no slope is steeper.
const FLAT: f64 = 1e-6;
const ROUNDS: usize = 20_000;

/// Hares and lynxes at the beginning of each year. The parameters are logarithms: of the hares'
/// births, of the deaths by lynxes, of the lynxes' deaths, of their births by hares, and of both
/// numbers in the first year.
#[differentiate(vjp)]
fn years(p: &[f64; 6], years: usize, steps: usize) -> Array2<f64> {
    let [a, b, c, d, u, v] = p.map(f64::exp);
    let slope = |u: f64, v: f64| (a * u - b * u * v, d * u * v - c * v);
    let h = 1.0 / steps as f64;
    let (mut u, mut v) = (u, v);
    let mut found = Array2::<f64>::zeros((years, 2));
    for year in 0..years {
        found[[year, 0]] = u;
        found[[year, 1]] = v;
        for _ in 0..steps {
            let (u1, v1) = slope(u, v);
            let (u2, v2) = slope(u + 0.5 * h * u1, v + 0.5 * h * v1);
            let (u3, v3) = slope(u + 0.5 * h * u2, v + 0.5 * h * v2);
            let (u4, v4) = slope(u + h * u3, v + h * v3);
            u += h / 6.0 * (u1 + 2.0 * u2 + 2.0 * u3 + u4);
            v += h / 6.0 * (v1 + 2.0 * v2 + 2.0 * v3 + v4);
        }
    }
    found
}

/// The mean square of the errors of the logarithms, and its gradient.
fn error(p: &[f64; 6], pelts: &Array2<f64>) -> (f64, [f64; 6]) {
    let found = years(p, pelts.nrows(), STEPS);
    let wrong = found.ln() - pelts.ln();
    let scale = 1.0 / wrong.len() as f64;
    let (_, gradient) = years_vjp(p, pelts.nrows(), STEPS, &(2.0 * scale * &wrong / &found));
    (scale * wrong.pow2().sum(), gradient)
}

fn main() -> Result<(), Box<dyn Error>> {
    let directory = std::env::args_os()
        .nth(1)
        .map_or_else(|| PathBuf::from(concat!(env!("CARGO_MANIFEST_DIR"), "/target/fit_ode")), PathBuf::from);
    let pelts = Array2::from(PELTS.to_vec());
    let mut p = [0.5, 0.025, 0.8, 0.025, 30.0, 4.0].map(f64::ln);
    let (mut mean, mut square) = ([0.0; 6], [0.0; 6]);
    let (first, _) = error(&p, &pelts);
    println!("root mean square error of the logarithms: {:.3} where the search begins", first.sqrt());
    for round in 1..=ROUNDS {
        let (now, gradient) = error(&p, &pelts);
        let steepest = gradient.iter().fold(0.0, |m: f64, g| m.max(g.abs()));
        let done = steepest < FLAT;
        if round % 1000 == 0 || done {
            println!("round {round}: {:.4}, steepest slope {steepest:.0e}", now.sqrt());
        }
        if done {
            break;
        }
        // Adam, with a rate that falls.
        let rate = 0.01 / (1.0 + round as f64 / 400.0);
        let (a, b) = (1.0 - 0.9_f64.powi(round as i32), 1.0 - 0.999_f64.powi(round as i32));
        for k in 0..6 {
            mean[k] += 0.1 * (gradient[k] - mean[k]);
            square[k] += 0.001 * (gradient[k] * gradient[k] - square[k]);
            p[k] -= rate * (mean[k] / a) / ((square[k] / b).sqrt() + 1e-10);
        }
    }
    let (last, gradient) = error(&p, &pelts);
    let [a, b, c, d, u, v] = p.map(f64::exp);
    println!("hares: births {a:.3} a year, deaths {b:.4} a lynx; lynxes: deaths {c:.3} a year, births {d:.4} a hare");
    println!("in 1900: {u:.1} hares, {v:.1} lynxes (thousands of pelts)");
    let slope = gradient.iter().fold(0.0, |m: f64, g| m.max(g.abs()));
    // Stan's case study finds births and deaths near 0.55, 0.028, 0.80 and 0.024, and errors of
    // 0.25.
    if last.sqrt() > 0.3 || slope > 1e-3 {
        return Err(format!("no fit: error {}, slope {slope}", last.sqrt()).into());
    }
    std::fs::create_dir_all(&directory)?;
    let path = directory.join("hares_and_lynxes.svg");
    // The model says the numbers ten times a year as well.
    let fine = p.map(f64::exp);
    let scaled = [fine[0] / 10.0, fine[1] / 10.0, fine[2] / 10.0, fine[3] / 10.0, fine[4], fine[5]].map(f64::ln);
    picture::draw(&path, &pelts, &years(&scaled, 10 * (pelts.nrows() - 1) + 1, 2))?;
    println!("drawn in {}", path.display());
    Ok(())
}
