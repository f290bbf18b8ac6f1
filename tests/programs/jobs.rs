//! Functions with `mode = "dual_numbers"` that run on several threads.

use std::sync::Mutex;

use ad::parallel::{join, map};
use ad::prelude::*;

use super::{numbers, on_threads};

/// A sum over a tree of forks: the leaves read `w`, which is a number of the first job.
fn tree<T: Real>(x: &[T], w: T) -> T {
    if x.len() < 4 {
        return x.iter().fold(w, |s, &x| s + (x * w).sin() * s);
    }
    let (left, right) = x.split_at(x.len() / 3);
    let scale = w * x[0];
    let (a, b) = join(|| tree(left, scale), || tree(right, w) * scale);
    // A second fork reads numbers of jobs of the first one.
    let (c, d) = join(|| a * b + x[1], || (b - x[0]).tanh());
    c * d + a
}

#[differentiate(grad, vjp, jvp, hvp, jacobian, pullback, mode = "dual_numbers")]
fn of_a_tree<T: Real>(x: &Array1<T>, w: &[T]) -> T {
    tree(x.as_slice().expect("standard layout"), w[0]) * w[1]
}

#[test]
fn forks_inside_of_forks() {
    let (x, w) = (numbers(40, 1), [0.7, 1.3]);
    let (value, (dx, dw)) = of_a_tree_value_and_grad(&x, &w);
    assert_eq!(value, of_a_tree(&x, &w));
    let same = on_threads(|| (of_a_tree_grad(&x, &w).0, of_a_tree_grad(&x, &w).1));
    assert_eq!(same, (dx.clone(), dw.clone()));
    // Forward mode records nothing.
    for k in 0..42 {
        let unit = |at: usize| f64::from(u8::from(at == k));
        let (tx, tw) = (Array1::from_shape_fn(40, unit), [unit(40), unit(41)]);
        let tangent = of_a_tree_jvp(&x, &w, &tx, &tw).1;
        let gradient = if k < 40 { dx[k] } else { dw[k - 40] };
        assert!((tangent - gradient).abs() < 1e-12 * (1.0 + tangent.abs()), "{k}: {tangent} and {gradient}");
        // Forward over reverse mode, whose numbers have another tape.
        let (second, _) = of_a_tree_hvp(&x, &w, &tx, &tw);
        let moved = |h: f64| {
            let w = [w[0] + h * tw[0], w[1] + h * tw[1]];
            of_a_tree_grad(&(&x + &(&tx * h)), &w).0
        };
        let difference = (moved(1e-6) - moved(-1e-6)) / 2e-6;
        assert!((second - difference).iter().all(|d| d.abs() < 1e-6), "{k}");
    }
    let (_, pull) = of_a_tree_pullback(&x, &w);
    assert_eq!(pull(1.0), (dx.clone(), dw.clone()));
    assert_eq!(pull(1.0), (dx, dw));
}

/// Two layers: the second reads the results of all jobs of the first, and the result of the call
/// has numbers of jobs.
#[differentiate(vjp, jacobian, mode = "dual_numbers")]
fn layers<T: Real>(w: &Array2<T>, x: &[T]) -> Vec<T> {
    let rows: Vec<usize> = (0..w.nrows()).collect();
    let first = map(&rows, |&i| w.row(i).iter().zip(x).map(|(w, x)| *w * *x).sum::<T>().tanh());
    map(&rows, |&i| w.row(i).iter().zip(&first).map(|(w, y)| *w * *y).sum::<T>() * first[i])
}

#[test]
fn results_of_jobs_are_read_by_later_jobs() {
    let (w, x) = (super::matrix(9, 9, 1), numbers(9, 2).to_vec());
    let c = numbers(9, 3).to_vec();
    let of = |w: &Array2<f64>, x: &[f64]| -> f64 { layers(w, x).iter().zip(&c).map(|(a, b)| a * b).sum() };
    let (dw, dx) = on_threads(|| layers_vjp(&w, &x, &c).1);
    let (jw, jx): (Array3<f64>, Array2<f64>) = layers_jacobian(&w, &x);
    for k in 0..9 {
        for (by, moved) in [(dw[[k, 2]], true), (dx[k], false)] {
            let at = |h: f64| {
                let (mut w, mut x) = (w.clone(), x.clone());
                if moved {
                    w[[k, 2]] += h
                } else {
                    x[k] += h
                }
                of(&w, &x)
            };
            let difference = (at(1e-6) - at(-1e-6)) / 2e-6;
            assert!((by - difference).abs() < 1e-8, "{k}: {by} and {difference}");
        }
        let by_rows: f64 = (0..9).map(|i| jx[[i, k]] * c[i]).sum();
        assert!((by_rows - dx[k]).abs() < 1e-12);
        let by_rows: f64 = (0..9).map(|i| jw[[i, k, 2]] * c[i]).sum();
        assert!((by_rows - dw[[k, 2]]).abs() < 1e-12);
    }
}

#[differentiate(mode = "dual_numbers")]
fn inner<T: Real>(x: &[T]) -> T {
    let (a, b) = join(|| x[0] * x[1], || x[1].exp());
    a * b
}

/// Derivatives inside of jobs, whose numbers are those of the call.
#[differentiate(mode = "dual_numbers")]
fn with_derivatives_inside<T: Real>(x: &[T]) -> T {
    let gradients = map(x, |&v| inner_grad(&[v, v * x[0]]));
    gradients.iter().map(|g| g[0] * g[1]).sum::<T>() + inner_grad(x)[1]
}

#[test]
fn derivatives_inside_of_jobs() {
    let x = [0.3, -0.5, 0.8, 0.2, 0.9];
    let gradient = on_threads(|| with_derivatives_inside_grad(&x));
    for k in 0..x.len() {
        let at = |h: f64| {
            let mut x = x;
            x[k] += h;
            with_derivatives_inside(&x)
        };
        let difference = (at(1e-6) - at(-1e-6)) / 2e-6;
        assert!((gradient[k] - difference).abs() < 1e-7, "{k}: {} and {difference}", gradient[k]);
    }
}

/// The message of the panic of a call.
fn message(call: impl Fn() -> f64) -> String {
    let panic = std::panic::catch_unwind(std::panic::AssertUnwindSafe(call)).expect_err("it panics");
    panic.downcast_ref::<String>().cloned().unwrap_or_default()
}

#[test]
fn a_number_of_a_job_that_runs_at_the_same_time_is_an_error() {
    #[differentiate(mode = "dual_numbers")]
    fn leaks<T: Real>(x: T) -> T {
        let kept = Mutex::new(None);
        // With one thread the second job runs after the first one. It is refused all the same.
        let (a, b) = join(
            || *kept.lock().expect("no panic").insert(x * x),
            || {
                for _ in 0..1000 {
                    if let Some(kept) = *kept.lock().expect("no panic") {
                        return kept * x;
                    }
                    std::thread::sleep(std::time::Duration::from_millis(1));
                }
                x
            },
        );
        a + b
    }
    for threads in [1, 2] {
        let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().expect("threads");
        let text = message(|| pool.install(|| leaks_grad(3.0)));
        assert!(text.contains("used in another call or thread") && text.contains("ad::parallel::join"), "{text}");
    }
}

#[test]
fn a_number_in_a_thread_that_knows_nothing_of_the_call_is_an_error() {
    #[differentiate(mode = "dual_numbers")]
    fn elsewhere<T: Real>(x: T) -> T {
        let joined = std::thread::scope(|s| s.spawn(move || x * x).join());
        joined.unwrap_or_else(|panic| std::panic::resume_unwind(panic))
    }
    let text = message(|| elsewhere_grad(3.0));
    assert!(text.contains("in another thread") && text.contains("ad::parallel::join"), "{text}");

    // The error harms no other thread.
    #[differentiate(mode = "dual_numbers")]
    fn ignores_it<T: Real>(x: T) -> T {
        let (square, _) = join(|| x * x, || std::thread::scope(|s| s.spawn(|| x + x).join().is_err()));
        square
    }
    assert_eq!(ignores_it_grad(3.0), 6.0);
}

#[test]
fn a_job_that_panics_ends_the_call_and_no_other() {
    #[differentiate(mode = "dual_numbers")]
    fn fails<T: Real>(x: T, which: usize) -> T {
        let fail = |k: usize, x: T| if which == k { panic!("{}", "half way") } else { x * x };
        let (a, b) = join(|| fail(0, x), || join(|| fail(1, x), || fail(2, x)));
        a + b.0 * b.1
    }
    for which in [0, 1, 2] {
        assert_eq!(message(move || fails_grad(2.0, which)), "half way");
        assert_eq!(fails_grad(2.0, 3), 4.0 + 32.0);
    }
}
