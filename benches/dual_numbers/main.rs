//! `mode = "dual_numbers"` beside other crates that differentiate when a program runs: the same
//! generic programs, all in one run, in turns, with the least time of each.
//!
//! ```text
//! cargo run --release --manifest-path benches/dual_numbers/Cargo.toml
//! cargo run --release --manifest-path benches/dual_numbers/Cargo.toml --features rayon
//! ```
//!
//! The gradients are compared before they are timed. A number is the time of value and gradient
//! divided by that of the function with `f64`. With the feature `rayon` there is a second table:
//! the forward and the reverse pass on one thread and on two. The tables are Markdown.

mod crates;
mod programs;
#[allow(dead_code, reason = "this bench writes no document")]
#[path = "../measure/turns.rs"]
mod turns;

use ad::prelude::*;
use crates::{Ours, by_autodiff, by_num_dual, by_reverse};
use programs::Program;
use turns::{Timed, least, micros};

#[differentiate(grad, jvp, mode = "dual_numbers")]
fn ours<T: Real, P: Program>(program: &P, x: &[T]) -> T {
    let x: Vec<Ours<T>> = x.iter().map(|x| Ours(*x)).collect();
    program.value(&x).0
}

/// Prints the row of a program with this number of arguments.
fn row<const N: usize>(name: &str, program: &impl Program) {
    let rng = &mut fastrand::Rng::with_seed(1);
    let x: [f64; N] = std::array::from_fn(|_| 0.1 + rng.f64());
    let f = || program.value(&std::hint::black_box(x));
    let tape = || ours_grad(program, &x);
    let reverse = || by_reverse(program, &x);
    let num_dual = || by_num_dual(program, &x);
    let autodiff = || by_autodiff(program, &x);
    // Forward mode, one direction after the other.
    let forward = || -> Vec<f64> {
        let unit = |k: usize| -> [f64; N] { std::array::from_fn(|i| f64::from(u8::from(i == k))) };
        (0..N).map(|k| ours_jvp(program, &x, &unit(k)).1).collect()
    };
    let gradient = tape();
    for other in [forward(), reverse(), num_dual(), autodiff()] {
        let close = |(a, b): (&f64, &f64)| (a - b).abs() <= 1e-6 * (1.0 + b.abs());
        assert!(gradient.iter().zip(&other).all(close), "{name}: {gradient:?} and {other:?}");
    }
    let calls = [
        Timed::new(&f),
        Timed::new(&tape),
        Timed::new(&forward),
        Timed::new(&reverse),
        Timed::new(&num_dual),
        Timed::new(&autodiff),
    ];
    let times = least(&calls);
    let ratios: Vec<String> = times[1..].iter().map(|time| format!("{:.1}", time / times[0])).collect();
    println!("| {name} | {N} | {} | {} |", micros(times[0]), ratios.join(" | "));
}

fn main() {
    println!("| program | arguments | function | `grad` | `jvp`s | reverse | num-dual | autodiff |");
    println!("| --- | --- | --- | --- | --- | --- | --- | --- |");
    row::<6>("Lorenz system, 10^6 operations", &programs::Lorenz { steps: 70_000 });
    row::<2>("recurrence with tanh, 10^6 operations", &programs::Recurrence { steps: 166_667 });
    row::<200>("potential of 100 bodies", &programs::Bodies);
    row::<288>("network, 50 examples", &programs::Network::new(50));
    #[cfg(feature = "rayon")]
    threads();
}

/// Many systems with the same parameters, as a parallel map.
#[cfg(feature = "rayon")]
#[differentiate(pullback, mode = "dual_numbers")]
fn many<T: Real>(starts: &[[T; 3]], parameters: &[T; 3]) -> T {
    let ends = ad::parallel::map(starts, |start| {
        let x = [start, parameters].map(|part| part.map(Ours)).concat();
        programs::Lorenz { steps: 1000 }.value(&x).0
    });
    ends.into_iter().sum()
}

#[cfg(feature = "rayon")]
fn threads() {
    let starts: Vec<[f64; 3]> = (0..64).map(|k| [0.01 * f64::from(k), 0.2, 0.3]).collect();
    let parameters = [0.9, 0.4, 0.3];
    let [one, two] = [1, 2].map(|n| rayon::ThreadPoolBuilder::new().num_threads(n).build().expect("threads"));
    let forward = [&one, &two].map(|pool| || pool.install(|| many_pullback(&starts, &parameters).0));
    // The closure of a pullback is not shared by threads, so a call makes it, and both are timed.
    let both = [&one, &two].map(|pool| || pool.install(|| many_pullback(&starts, &parameters).1(1.0)));
    assert!(both[0]() == both[1](), "other bits");
    let times = least(&[Timed::new(&forward[0]), Timed::new(&forward[1]), Timed::new(&both[0]), Timed::new(&both[1])]);
    println!("\n| 64 Lorenz systems | one thread | two threads | faster |\n| --- | --- | --- | --- |");
    let line = |what: &str, a: f64, b: f64| println!("| {what} | {} | {} | {:.2} |", micros(a), micros(b), a / b);
    line("forward pass", times[0], times[1]);
    line("reverse pass", times[2] - times[0], times[3] - times[1]);
    line("both", times[2], times[3]);
}
