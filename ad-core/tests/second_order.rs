//! Second derivatives at kinks. Whatever convention a row has where its function is not
//! differentiable, its second derivatives are those of the function at smooth points, even if a
//! convention tests for the point. So a Hessian is symmetric there.

mod common;

use ad_core::ir::{Elem, Graph, RealTy, Term};
use ad_core::passes::simplify;
use ad_core::prim::{Binary, Prim, Unary};
use ad_oracle::interp::{Interp, Value};
use common::modes as ad;

/// The points of conventions, and ordinary points.
const POINTS: [f64; 10] = [-2.0, -1.0, -0.5, -0.0, 0.0, 0.5, 1.0, 2.0, 3.0, 4.0];

/// The gradient of a primitive of numbers, and the Hessian by rows, both as generated and
/// simplified.
struct Derivatives {
    g: Graph,
    gradient: Vec<Term>,
    hessian: Vec<Vec<Term>>,
}

fn derivatives(prim: &Prim, args: usize) -> Derivatives {
    let mut g = Graph::new();
    let xs: Vec<Term> = (0..args).map(|_| g.add_input_shaped(Elem::Real(RealTy::F64), Vec::new())).collect();
    let root = g.prim(prim.clone(), &xs);
    let (one, zero) = (g.lit_like(root, 1.0), g.lit_like(root, 0.0));
    let active: Vec<u32> = (0..args).map(|k| u32::try_from(k).unwrap()).collect();
    let (_, gradient) = ad::reverse(&mut g, &[root], &[one], &active);
    let gradient = simplify::simplify(&mut g, &gradient);
    let mut hessian = vec![Vec::new(); args];
    for k in 0..args {
        let seeds: Vec<(u32, Term)> = active.iter().map(|&j| (j, if j as usize == k { one } else { zero })).collect();
        let (_, column) = ad::forward(&mut g, &gradient, &seeds);
        let column = simplify::simplify(&mut g, &column);
        for (row, t) in hessian.iter_mut().zip(column) {
            row.push(t);
        }
    }
    Derivatives { g, gradient, hessian }
}

impl Derivatives {
    fn at(&self, t: Term, point: &[f64]) -> f64 {
        let inputs: Vec<Value> = point.iter().map(|&x| Value::scalar(x)).collect();
        Interp::new(&self.g, &inputs).eval(t).unwrap().values()[0]
    }

    /// The slopes of the gradient along an axis, if it is continuous there and the differences
    /// before and after the point agree.
    fn slopes(&self, point: &[f64], along: usize) -> Option<Vec<f64>> {
        let moved = |h: f64| -> Vec<f64> {
            let mut point = point.to_vec();
            point[along] += h;
            self.gradient.iter().map(|&t| self.at(t, &point)).collect()
        };
        let here = moved(0.0);
        let jumps = |h: f64| moved(h).iter().zip(&here).any(|(a, b)| (a - b).abs() > 0.1 * (1.0 + b.abs()));
        if jumps(1e-4) || jumps(-1e-4) {
            return None;
        }
        // Both have second-order accuracy.
        let one_sided = |h: f64| -> Vec<f64> {
            let (near, far) = (moved(h), moved(2.0 * h));
            (0..here.len()).map(|k| (4.0 * near[k] - far[k] - 3.0 * here[k]) / (2.0 * h)).collect()
        };
        let (before, behind) = (one_sided(-1e-4), one_sided(1e-4));
        let agree = |(a, b): (&f64, &f64)| (a - b).abs() < 1e-4 * (1.0 + a.abs());
        before.iter().zip(&behind).all(agree).then_some(behind)
    }

    /// Returns whether the function is smooth at the point. If so, everything is compared.
    fn check(&self, name: &str, point: &[f64]) -> bool {
        let slopes: Option<Vec<Vec<f64>>> = (0..point.len()).map(|k| self.slopes(point, k)).collect();
        let Some(slopes) = slopes else { return false };
        for (i, row) in self.hessian.iter().enumerate() {
            for (j, &t) in row.iter().enumerate() {
                let (found, expected) = (self.at(t, point), slopes[j][i]);
                // If the two mixed derivatives differ, the function is not smooth there.
                if (slopes[j][i] - slopes[i][j]).abs() > 1e-3 * (1.0 + expected.abs()) {
                    return false;
                }
                let close = (found - expected).abs() < 1e-3 * (1.0 + expected.abs());
                assert!(close, "{name} at {point:?}: {found} at ({i}, {j}) of the Hessian instead of {expected}");
                let across = self.at(self.hessian[j][i], point);
                assert!(
                    (found - across).abs() <= 1e-12 * (1.0 + found.abs()),
                    "{name} at {point:?}: {found}, {across}"
                );
            }
        }
        true
    }
}

#[test]
fn rows_of_one_argument_have_second_derivatives_where_they_are_smooth() {
    ad::every_direction(|| {
        for &f in Unary::ALL {
            let all = derivatives(&Prim::Unary(f), 1);
            let smooth = POINTS.iter().filter(|&&x| all.check(f.row().name, &[x])).count();
            assert!(smooth > 0, "{} is smooth nowhere", f.row().name);
        }
    });
}

/// The third derivative of digamma is a polygamma function with known values: pi^4/15 at 1, and
/// pi^4 at 1/2. At 2.5 it is compared with differences of the second derivative.
#[test]
fn digamma_has_a_third_derivative() {
    ad::every_direction(|| {
        let mut all = derivatives(&Prim::Unary(Unary::Digamma), 1);
        let second = all.hessian[0][0];
        let one = all.g.lit_like(second, 1.0);
        let (_, forward) = ad::forward(&mut all.g, &[second], &[(0, one)]);
        let (_, reverse) = ad::reverse(&mut all.g, &[second], &[one], &[0]);
        let third = simplify::simplify(&mut all.g, &[forward[0], reverse[0]]);
        let pi = std::f64::consts::PI;
        let step = 1e-4;
        let difference = (all.at(second, &[2.5 + step]) - all.at(second, &[2.5 - step])) / (2.0 * step);
        let cases = [(1.0, pi.powi(4) / 15.0, 1e-12), (0.5, pi.powi(4), 1e-12), (2.5, difference, 1e-6)];
        for (x, expected, tolerance) in cases {
            for &t in &third {
                let found = all.at(t, &[x]);
                assert!((found / expected - 1.0).abs() < tolerance, "{found} at {x} instead of {expected}");
            }
        }
    });
}

#[test]
fn rows_of_two_arguments_have_symmetric_hessians_where_they_are_smooth() {
    ad::every_direction(|| {
        for &f in Binary::ALL {
            // The first argument of one is a constant. The other is internal: only derivatives of
            // the third order depend on the mask of its partial derivative with respect to the
            // second factor.
            if matches!(f, Binary::Polygamma | Binary::MulZero) {
                continue;
            }
            let all = derivatives(&Prim::Binary(f), 2);
            let points = POINTS.iter().flat_map(|&a| POINTS.iter().map(move |&b| [a, b]));
            let smooth = points.filter(|point| all.check(f.row().name, point)).count();
            assert!(smooth > 0, "{} is smooth nowhere", f.row().name);
        }
    });
}
