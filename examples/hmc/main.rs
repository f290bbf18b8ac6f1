//! Hamiltonian Monte Carlo: how far did cars of the 1920s go before they stopped? A line through
//! Ezekiel's fifty measurements (1930; R's `cars`), with all that the data leave open. The
//! No-U-Turn sampler of `nuts-rs` (Hoffman and Gelman, 2014) wants the logarithm of the density and
//! its gradient, in slices that it owns: the option `into`.
//!
//! ```text
//! cargo run --release -p ad-examples --example hmc [-- DIRECTORY]
//! ```
//!
//! The picture is written to the directory (by default `target/hmc`).

mod picture;

use std::error::Error;
use std::fmt;
use std::path::PathBuf;

use ad::prelude::*;
use nuts_rs::{Chain, CpuLogpFunc, LogpError, SampleStats, SamplerArgs, new_sampler};
use rand::SeedableRng;
use rand::rngs::StdRng;

/// Miles an hour, and feet until the car stopped.
const CARS: [(f64, f64); 50] = [
    (4.0, 2.0),
    (4.0, 10.0),
    (7.0, 4.0),
    (7.0, 22.0),
    (8.0, 16.0),
    (9.0, 10.0),
    (10.0, 18.0),
    (10.0, 26.0),
    (10.0, 34.0),
    (11.0, 17.0),
    (11.0, 28.0),
    (12.0, 14.0),
    (12.0, 20.0),
    (12.0, 24.0),
    (12.0, 28.0),
    (13.0, 26.0),
    (13.0, 34.0),
    (13.0, 34.0),
    (13.0, 46.0),
    (14.0, 26.0),
    (14.0, 36.0),
    (14.0, 60.0),
    (14.0, 80.0),
    (15.0, 20.0),
    (15.0, 26.0),
    (15.0, 54.0),
    (16.0, 32.0),
    (16.0, 40.0),
    (17.0, 32.0),
    (17.0, 40.0),
    (17.0, 50.0),
    (18.0, 42.0),
    (18.0, 56.0),
    (18.0, 76.0),
    (18.0, 84.0),
    (19.0, 36.0),
    (19.0, 46.0),
    (19.0, 68.0),
    (20.0, 32.0),
    (20.0, 48.0),
    (20.0, 52.0),
    (20.0, 56.0),
    (20.0, 64.0),
    (22.0, 66.0),
    (23.0, 54.0),
    (24.0, 70.0),
    (24.0, 92.0),
    (24.0, 93.0),
    (24.0, 120.0),
    (25.0, 85.0),
];
const WARM_UP: u64 = 500;
const DRAWS: u64 = 4000;

/// The logarithm of the posterior density, but for a constant, of height, slope and the logarithm
/// of the errors' size; flat priors.
#[differentiate(grad, into, wrt(q))]
fn logp(q: &[f64], x: &[f64], y: &[f64]) -> f64 {
    let (height, slope, size) = (q[0], q[1], q[2].exp());
    let errors = x.iter().zip(y).map(|(x, y)| (y - height - slope * x) / size);
    -0.5 * errors.map(|e| e * e).sum::<f64>() - q[2] * x.len() as f64
}

/// The density as `nuts-rs` wants it: a point comes in a slice, and the gradient goes to one.
struct Posterior<'a> {
    x: &'a [f64],
    y: &'a [f64],
}

/// A point at which the density is NaN: a step that went too far, which the sampler is to reject.
#[derive(Debug)]
struct Unlikely;

impl Error for Unlikely {}

impl fmt::Display for Unlikely {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("the density is not finite")
    }
}

impl LogpError for Unlikely {
    fn is_recoverable(&self) -> bool {
        true
    }
}

impl CpuLogpFunc for Posterior<'_> {
    type Err = Unlikely;

    fn dim(&self) -> usize {
        3
    }

    fn logp(&mut self, position: &[f64], gradient: &mut [f64]) -> Result<f64, Unlikely> {
        let value = logp_value_and_grad_into(position, self.x, self.y, gradient);
        if value.is_finite() { Ok(value) } else { Err(Unlikely) }
    }
}

/// Mean and standard deviation.
fn moments(of: impl Iterator<Item = f64> + Clone) -> (f64, f64) {
    let n = of.clone().count() as f64;
    let mean = of.clone().sum::<f64>() / n;
    (mean, (of.map(|x| (x - mean) * (x - mean)).sum::<f64>() / (n - 1.0)).sqrt())
}

fn main() -> Result<(), Box<dyn Error>> {
    let directory = std::env::args_os()
        .nth(1)
        .map_or_else(|| PathBuf::from(concat!(env!("CARGO_MANIFEST_DIR"), "/../target/hmc")), PathBuf::from);
    // Both in units of their deviation from the mean.
    let (speed, speeds) = moments(CARS.iter().map(|c| c.0));
    let (distance, distances) = moments(CARS.iter().map(|c| c.1));
    let x: Vec<f64> = CARS.iter().map(|c| (c.0 - speed) / speeds).collect();
    let y: Vec<f64> = CARS.iter().map(|c| (c.1 - distance) / distances).collect();

    let arguments = SamplerArgs { num_tune: WARM_UP, ..SamplerArgs::default() };
    let mut sampler = new_sampler(Posterior { x: &x, y: &y }, arguments, 0, &mut StdRng::seed_from_u64(1930));
    sampler.set_position(&[0.0; 3])?;
    let (mut draws, mut divergences) = (Vec::<[f64; 3]>::new(), 0);
    for k in 0..WARM_UP + DRAWS {
        let (draw, about) = sampler.draw()?;
        if k >= WARM_UP {
            draws.push((*draw).try_into()?);
            divergences += usize::from(about.divergence_info().is_some());
        }
    }

    // Back to feet and miles an hour.
    let lines: Vec<[f64; 2]> = draws
        .iter()
        .map(|[height, slope, _]| {
            let slope = slope * distances / speeds;
            [distance + height * distances - slope * speed, slope]
        })
        .collect();
    let (slope, slopes) = moments(lines.iter().map(|l| l[1]));
    let (size, sizes) = moments(draws.iter().map(|q| q[2].exp() * distances));
    println!("{DRAWS} draws, {divergences} trajectories that diverged");
    println!("feet for each mile an hour: {slope:.2} +- {slopes:.2}; errors of {size:.1} +- {sizes:.1} feet");

    // With flat priors the slope is the least squares' in the mean, its distribution Student's with
    // n - 2 degrees of freedom, whose variance is (n - 2) / (n - 4) times the square of the
    // standard error.
    let n = CARS.len() as f64;
    let expected = x.iter().zip(&y).map(|(x, y)| x * y).sum::<f64>() / (n - 1.0);
    let left: f64 = x.iter().zip(&y).map(|(x, y)| (y - expected * x).powi(2)).sum();
    let (expected, error) = (expected * distances / speeds, (left / (n - 4.0) / (n - 1.0)).sqrt() * distances / speeds);
    println!("least squares: {expected:.2} +- {error:.2}");
    if (slope - expected).abs() > 0.1 * error || (slopes / error - 1.0).abs() > 0.1 || divergences > 0 {
        return Err(format!("the draws are not of the posterior: {slope} +- {slopes}, {divergences} diverged").into());
    }
    std::fs::create_dir_all(&directory)?;
    let path = directory.join("cars.svg");
    picture::draw(&path, &CARS, &lines)?;
    println!("drawn in {}", path.display());
    Ok(())
}
