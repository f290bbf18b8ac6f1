//! Bundle adjustment: four cameras, twelve points and the weights of thirty observations, by
//! `levenberg-marquardt`. The macro writes each observation's residual together with its block of 2
//! x 15 derivatives; this file puts the blocks where they belong.
//!
//! ```text
//! cargo run --release -p ad-examples --example bundle
//! ```
//!
//! The problem is GradBench's `ba` with fewer points (`tests/data/gradbench/ba_small.json`), and
//! the assembled matrix is compared with the sparse Jacobian of GradBench's own C++.

#[path = "../../tests/programs/reprojection.rs"]
mod reprojection;

use std::error::Error;

use ad::prelude::*;
use levenberg_marquardt::{LeastSquaresProblem, LevenbergMarquardt};
use nalgebra::storage::Owned;
use nalgebra::{DMatrix, DVector, Dyn};
use reprojection::{reprojection, reprojection_value_and_jacobian};
use serde_json::Value;

const CAMERA: usize = 11;
const POINT: usize = 3;

/// The residual that keeps the weights from vanishing.
#[differentiate]
fn weight_error(w: f64) -> f64 {
    1.0 - w * w
}

/// The unknowns (all cameras, then all points, then all weights), and the observations.
#[derive(Clone)]
struct Bundle {
    params: Vec<f64>,
    /// How many of them, from the first, the solver may change.
    free: usize,
    cameras: usize,
    points: usize,
    /// Camera and point of each observation.
    pairs: Vec<[usize; 2]>,
    features: Vec<[f64; 2]>,
}

impl Bundle {
    /// The columns where the camera, the point and the weight of observation `k` begin.
    fn columns(&self, k: usize) -> [usize; 3] {
        let [camera, point] = self.pairs[k];
        let points = CAMERA * self.cameras;
        [CAMERA * camera, points + POINT * point, points + POINT * self.points + k]
    }

    fn numbers<const N: usize>(&self, at: usize) -> [f64; N] {
        std::array::from_fn(|i| self.params[at + i])
    }

    /// All residuals, two of each observation and then those of the weights; and the structural
    /// nonzeros of the Jacobian: (row, column, entry), row by row.
    fn sparse(&self) -> (Vec<f64>, Vec<(usize, usize, f64)>) {
        let n = self.pairs.len();
        let (mut residuals, mut entries) = (Vec::with_capacity(3 * n), Vec::with_capacity(31 * n));
        for k in 0..n {
            let [camera, point, weight] = self.columns(k);
            let (value, (by_camera, by_point, by_weight)) = reprojection_value_and_jacobian(
                &self.numbers(camera),
                &self.numbers(point),
                self.params[weight],
                self.features[k],
            );
            for i in 0..2 {
                residuals.push(value[i]);
                let row = 2 * k + i;
                entries.extend(by_camera[i].iter().enumerate().map(|(j, &d)| (row, camera + j, d)));
                entries.extend(by_point[i].iter().enumerate().map(|(j, &d)| (row, point + j, d)));
                entries.push((row, weight, by_weight[i]));
            }
        }
        for k in 0..n {
            let [_, _, weight] = self.columns(k);
            let (value, slope) = weight_error_value_and_grad(self.params[weight]);
            residuals.push(value);
            entries.push((2 * n + k, weight, slope));
        }
        (residuals, entries)
    }

    /// The root mean square distance between a feature and where its point is seen, in pixels,
    /// unweighted.
    fn distance(&self) -> f64 {
        let of = |k: usize| {
            let [camera, point, _] = self.columns(k);
            let [u, v] = reprojection(&self.numbers(camera), &self.numbers(point), 1.0, self.features[k]);
            u * u + v * v
        };
        ((0..self.pairs.len()).map(of).sum::<f64>() / self.pairs.len() as f64).sqrt()
    }
}

impl LeastSquaresProblem<f64, Dyn, Dyn> for Bundle {
    type ParameterStorage = Owned<f64, Dyn>;
    type ResidualStorage = Owned<f64, Dyn>;
    type JacobianStorage = Owned<f64, Dyn, Dyn>;

    fn set_params(&mut self, params: &DVector<f64>) {
        self.params[..self.free].copy_from_slice(params.as_slice());
    }

    fn params(&self) -> DVector<f64> {
        DVector::from_column_slice(&self.params[..self.free])
    }

    fn residuals(&self) -> Option<DVector<f64>> {
        Some(self.sparse().0.into())
    }

    /// This solver wants a dense matrix; one for larger problems would take the entries as they
    /// are.
    fn jacobian(&self) -> Option<DMatrix<f64>> {
        let (residuals, entries) = self.sparse();
        let mut jacobian = DMatrix::zeros(residuals.len(), self.free);
        for (row, column, d) in entries.into_iter().filter(|entry| entry.1 < self.free) {
            jacobian[(row, column)] = d;
        }
        Some(jacobian)
    }
}

fn numbers(json: &Value) -> Result<Vec<f64>, String> {
    let list = json.as_array().ok_or("a list is missing")?;
    list.iter().map(|x| x.as_f64().ok_or_else(|| format!("{x} is not a number"))).collect()
}

fn main() -> Result<(), Box<dyn Error>> {
    let case: Value = serde_json::from_str(include_str!("../../tests/data/gradbench/ba_small.json"))?;
    let [cameras, points, weights, features, pairs] =
        ["cams", "X", "w", "feats", "obs"].map(|key| numbers(&case["input"][key]));
    let (cameras, points, weights, features) = (cameras?, points?, weights?, features?);
    let mut bundle = Bundle {
        cameras: cameras.len() / CAMERA,
        points: points.len() / POINT,
        free: cameras.len() + points.len(),
        params: [cameras, points, weights].concat(),
        pairs: pairs?.as_chunks::<2>().0.iter().map(|pair| pair.map(|k| k as usize)).collect(),
        features: features.as_chunks::<2>().0.to_vec(),
    };

    // The assembly is GradBench's: the same rows, columns and numbers.
    let (residuals, entries) = bundle.sparse();
    let csr = &case["jacobian_csr"];
    let [rows, columns, values] = ["rows", "cols", "vals"].map(|key| numbers(&csr[key]));
    let (rows, columns, values) = (rows?, columns?, values?);
    let largest = values.iter().fold(0.0, |m: f64, x| m.max(x.abs()));
    for (k, &(row, column, d)) in entries.iter().enumerate() {
        let inside = rows[row] as usize <= k && k < rows[row + 1] as usize;
        if !inside || columns[k] as usize != column || (values[k] - d).abs() > 1e-12 * largest {
            return Err(format!("entry {k} of the Jacobian is not GradBench's").into());
        }
    }
    println!(
        "{} residuals, {} unknowns, {} entries of the Jacobian: as GradBench has them",
        residuals.len(),
        bundle.params.len(),
        entries.len()
    );

    let before = bundle.distance();
    println!("the points are seen {before:.1} pixels from the features (root mean square)");
    // Cameras and points first: from here, the cheapest way would be to give the observations no
    // weight.
    let all = bundle.params.len();
    for (what, free) in [("cameras and points", bundle.free), ("weights too", all)] {
        bundle.free = free;
        let (found, report) = LevenbergMarquardt::new().with_patience(20).minimize(bundle);
        println!(
            "{what}: {:.1} pixels after {} evaluations, sum of squares {:.1}; the solver says {:?}",
            found.distance(),
            report.number_of_evaluations,
            2.0 * report.objective_function,
            report.termination
        );
        if !report.termination.was_successful() {
            return Err("no point was found".into());
        }
        bundle = found;
    }
    // Some features are of the same point in the same camera, so that none is met.
    if bundle.distance() > 0.1 * before {
        return Err("the bundle is not adjusted".into());
    }
    Ok(())
}
