//! The search of GradBench's `particle` and `saddle`: descent whose step grows after ten successes
//! and halves after a failure.

/// The place near `start` where `f` is least, by its gradient.
pub fn argmin<const N: usize>(
    f: impl Fn([f64; N]) -> f64,
    gradient: impl Fn([f64; N]) -> [f64; N],
    start: [f64; N],
) -> [f64; N] {
    let (mut x, mut fx, mut gx) = (start, f(start), gradient(start));
    let (mut eta, mut successes) = (1e-5, 0);
    loop {
        if length(&gx) <= 1e-5 {
            return x;
        }
        if successes == 10 {
            eta *= 2.0;
            successes = 0;
            continue;
        }
        let next: [f64; N] = std::array::from_fn(|k| x[k] - eta * gx[k]);
        if length(&std::array::from_fn::<f64, N, _>(|k| next[k] - x[k])) <= 1e-5 {
            return x;
        }
        let value = f(next);
        if value < fx {
            (x, fx, gx) = (next, value, gradient(next));
            successes += 1;
        } else {
            eta /= 2.0;
            successes = 0;
        }
    }
}

fn length(v: &[f64]) -> f64 {
    v.iter().map(|x| x * x).sum::<f64>().sqrt()
}
