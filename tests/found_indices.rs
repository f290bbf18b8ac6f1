//! Indices that a search in each step finds: each of them is tested by a check, and the search is
//! not repeated for each check.

#![allow(clippy::needless_range_loop, reason = "loops over indices are what people write")]

use ad::check_grad;
use ad::prelude::*;

/// A cubic spline by de Boor's scheme. The interval of each place is searched from the beginning.
#[differentiate(wrt(control, places))]
fn spline(control: &[[f64; 2]], knots: &[f64], places: &[f64]) -> f64 {
    let p = 3;
    let mut total = 0.0;
    for &t in places {
        let mut k = p;
        while k + 1 < control.len() && t >= knots[k + 1] {
            k += 1;
        }
        let mut d = [[0.0; 2]; 4];
        for j in 0..4 {
            d[j] = control[k - p + j];
        }
        for r in 1..=p {
            for j in (r..=p).rev() {
                let (low, high) = (knots[j + k - p], knots[j + 1 + k - r]);
                let a = (t - low) / (high - low);
                for c in 0..2 {
                    d[j][c] = (1.0 - a) * d[j - 1][c] + a * d[j][c];
                }
            }
        }
        total += d[p][0] * d[p][0] + d[p][1].sin();
    }
    total
}

fn control() -> Vec<[f64; 2]> {
    (0..9).map(|i| [f64::from(i) * 0.8, (f64::from(i) * 1.3).sin()]).collect()
}

fn knots(n: i32) -> Vec<f64> {
    (0..n).map(f64::from).collect()
}

#[test]
fn gradients_at_places_in_all_intervals() {
    for n in [0, 1, 2, 17, 40] {
        let places: Vec<f64> = (0..n).map(|i| 3.1 + f64::from(i) * 0.14).collect();
        check_grad!(spline(&control(), &knots(13), &places));
    }
}

/// The derivative panics where the function does, whichever check finds it.
#[test]
fn indices_out_of_range() {
    let panics = |f: &dyn Fn()| std::panic::catch_unwind(std::panic::AssertUnwindSafe(f)).is_err();
    for (points, n, place) in [(9, 13, 4.2), (9, 9, 4.2), (9, 11, 8.7), (9, 5, 7.5), (3, 13, 3.5), (2, 4, 1.0)] {
        let (control, knots, places) = (control()[..points].to_vec(), knots(n), [3.2, place]);
        let own = panics(&|| {
            let _ = spline(&control, &knots, &places);
        });
        let ours = panics(&|| {
            let _ = spline_value_and_grad(&control, &knots, &places);
        });
        assert_eq!(own, ours, "{points} points, {n} knots, {place}");
    }
}
