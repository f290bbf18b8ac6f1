//! Laws of loops: two ways in which people write the same loop, with random bodies. Values and
//! gradients agree, and the gradient is that of the source term, by the interpreter's exact
//! tangents. No result is compared with a derivative from the tables.
//!
//! `AD_CASES` sets the number of bodies of each law, `AD_SEED` the first seed.

mod common;
#[path = "laws/updates.rs"]
mod updates;

use ad_core::descriptor::GRAD;
use ad_core::pipeline;
use ad_core::{front, program::Program};
use ad_oracle::interp::{Interp, Value};
use common::compare::{close_all, dot};
use common::modes;
use common::rng::Rng;

fn number(name: &str, default: u64) -> u64 {
    std::env::var(name).ok().and_then(|v| v.parse().ok()).unwrap_or(default)
}

/// A random expression of names, all of type `f64`. Its decisions depend on `v` only.
fn expression(rng: &mut Rng, names: &[&str], depth: usize) -> String {
    if depth == 0 || rng.chance(15) {
        return if rng.chance(20) { format!("{:.3}_f64", rng.real().abs()) } else { (*rng.pick(names)).to_string() };
    }
    let mut e = || expression(rng, names, depth - 1);
    let (a, b) = (e(), e());
    match rng.below(8) {
        0 | 1 => format!("({a} + {b})"),
        2 => format!("({a} - {b})"),
        3 | 4 => format!("({a} * {b})"),
        5 => format!("({a}).sin()"),
        6 => format!("({a}).tanh()"),
        _ => format!("(if v > 0.3 {{ {a} }} else {{ {b} }})"),
    }
}

/// A step of `a` by an item `v`. The value does not grow.
fn step(rng: &mut Rng) -> String {
    let e = expression(rng, &["a", "v", "c", "v"], 3);
    match rng.below(4) {
        0 => format!("({e}).sin()"),
        1 => format!("a * 0.6 + ({e}).tanh()"),
        2 => format!("(a * v - {e}).tanh()"),
        // `a` is only added to, or not carried at all.
        _ => {
            let e = expression(rng, &["v", "c"], 3);
            if rng.chance(70) { format!("a + ({e}).sin()") } else { format!("({e}).cos()") }
        }
    }
}

/// A function of an item.
fn map(rng: &mut Rng) -> String {
    format!("({} + v * 0.5).sin()", expression(rng, &["v", "c"], 3))
}

/// The bodies with which laws are stated.
struct Bodies {
    f: String,
    g: String,
    h: String,
}

fn parse(body: &str) -> Program {
    let text = format!("fn law(x: &Array1<f64>, c: f64) -> f64 {{ let n = x.len(); {body} }}");
    let tokens = text.parse().unwrap_or_else(|e| panic!("{e}: {text}"));
    match front::parse("grad".parse().expect("a word"), tokens) {
        Ok(program) => Program { mode: modes::mode(), ..program },
        Err(failure) => {
            let texts: Vec<String> = failure.diags.list().iter().map(ad_core::diag::Diagnostic::text).collect();
            panic!("{text}\n{}", texts.join("\n"))
        }
    }
}

/// Value and gradient, the gradient checked against a tangent of the source.
fn differentiated(body: &str, inputs: &[Value], direction: &[Vec<f64>]) -> (Vec<f64>, Vec<f64>) {
    let program = parse(body);
    let moved: Vec<Value> = inputs.iter().zip(direction).map(|(x, d)| x.clone().with_tangent(d)).collect();
    let source = Interp::new(&program.graph, &moved).eval(program.result.terms()[0]).expect("a value");
    let mut prepared = pipeline::prepare(program, None);
    let routine = pipeline::derive(&mut prepared, &GRAD, None);
    let found = Interp::new(&prepared.program.graph, inputs).eval_all(&routine.result.terms()).expect("values");
    let gradient: Vec<f64> = found[1..].iter().flat_map(Value::values).collect();
    let value = found[0].values();
    let agree = close_all(&value, &source.values(), 1e-10)
        .and_then(|()| close_all(&[dot(&gradient, &direction.concat())], &source.tangents(), 1e-8));
    if let Err(e) = agree {
        panic!("not what the source means: {e}\n{body}\n{inputs:?}");
    }
    (value, gradient)
}

/// Both sides agree for random bodies at every size from `least` on.
fn law(least: usize, sides: impl Fn(&Bodies) -> [String; 2]) {
    modes::every_mode(|| law_of_this_mode(least, &sides));
}

fn law_of_this_mode(least: usize, sides: impl Fn(&Bodies) -> [String; 2]) {
    let seed = number("AD_SEED", 1);
    for k in 0..number("AD_CASES", modes::share(20)) {
        let mut rng = Rng::new(seed.wrapping_mul(1000) + k);
        let bodies = Bodies { f: step(&mut rng), g: step(&mut rng), h: map(&mut rng) };
        let [left, right] = sides(&bodies);
        for n in [least, least + 1, 2 + rng.below(6).max(least)] {
            let mut reals = |n: usize| (0..n).map(|_| rng.real()).collect::<Vec<f64>>();
            let inputs = [Value::reals(&[n], &reals(n)), Value::reals(&[], &reals(1))];
            let direction = [reals(n), reals(1)];
            let a = differentiated(&left, &inputs, &direction);
            let b = differentiated(&right, &inputs, &direction);
            if let Err(e) = close_all(&a.0, &b.0, 1e-10).and_then(|()| close_all(&a.1, &b.1, 1e-8)) {
                panic!("body {k} of seed {seed}: {e}\n{left}\n{right}\n{inputs:?}");
            }
        }
    }
}

/// A weighted sum of all elements of `r` with distinct weights.
const WEIGHED: &str = "build1(r.len(), |i| r[i] * (1.0 + 0.3 * i as f64)).sum()";

#[test]
fn a_fold_of_a_map_is_a_fold() {
    law(0, |Bodies { f, h, .. }| {
        [
            format!("let y = x.mapv(|v| {h}); fold(c, &y, |a, v| {f})"),
            format!("fold(c, x, |a, v| {{ let v = {h}; {f} }})"),
        ]
    });
}

#[test]
fn a_loop_downwards_is_a_fold_of_the_reversed_array() {
    law(0, |Bodies { f, .. }| {
        [
            format!("let mut a = c; for i in (0..n).rev() {{ let v = x[i]; a = {f}; }} a"),
            format!("let y = build1(n, |i| x[n - 1 - i]); fold(c, &y, |a, v| {f})"),
        ]
    });
}

#[test]
fn a_loop_is_its_first_half_and_its_second_half() {
    law(0, |Bodies { f, .. }| {
        [
            format!("let mut a = c; for i in 0..n {{ let v = x[i]; a = {f}; }} a"),
            format!(
                "let mut a = c; for i in 0..n / 2 {{ let v = x[i]; a = {f}; }} for i in n / 2..n {{ let v = x[i]; a = {f}; }} a"
            ),
        ]
    });
}

#[test]
fn an_unrolled_loop_is_the_rolled_one() {
    law(3, |Bodies { f, .. }| {
        [
            format!("let mut a = c; for i in 0..3 {{ let v = x[i]; a = {f}; }} a"),
            format!("let a = c; let v = x[0]; let a = {f}; let v = x[1]; let a = {f}; let v = x[2]; let a = {f}; a"),
        ]
    });
}

#[test]
fn two_loops_are_one_loop_with_both_bodies() {
    law(0, |Bodies { f, g, .. }| {
        [
            format!(
                "let mut p = c; for i in 0..n {{ let (a, v) = (p, x[i]); p = {f}; }} let mut q = 0.5; for i in 0..n {{ let (a, v) = (q, x[i]); q = {g}; }} p * q + q"
            ),
            format!(
                "let (mut p, mut q) = (c, 0.5); for i in 0..n {{ let v = x[i]; let a = p; p = {f}; let a = q; q = {g}; }} p * q + q"
            ),
        ]
    });
}

#[test]
fn a_sum_is_a_fold_of_additions() {
    law(0, |Bodies { h, .. }| [format!("x.mapv(|v| {h}).sum() * c"), format!("fold(0.0, x, |s, v| s + {h}) * c")]);
}

#[test]
fn the_last_of_a_scan_is_the_fold() {
    law(1, |Bodies { f, .. }| [format!("scan(c, x, |a, v| {f})[n - 1]"), format!("fold(c, x, |a, v| {f})")]);
    law(0, |Bodies { f, .. }| [format!("scanl(c, x, |a, v| {f})[n]"), format!("fold(c, x, |a, v| {f})")]);
}

#[test]
fn scans_from_both_ends_mirror_each_other() {
    law(0, |Bodies { f, .. }| {
        [
            format!("let r = scanr(c, x, |a, v| {f}); {WEIGHED}"),
            format!(
                "let y = build1(n, |i| x[n - 1 - i]); let s = scanl(c, &y, |a, v| {f}); let r = build1(n + 1, |i| s[n - i]); {WEIGHED}"
            ),
        ]
    });
}

#[test]
fn a_product_is_a_reduction() {
    law(0, |Bodies { h, .. }| {
        [
            format!("let y = x.mapv(|v| {h}); y.product() + c"),
            format!("let y = x.mapv(|v| {h}); reduce(1.0, &y, |a, b| a * b) + c"),
        ]
    });
}

#[test]
fn a_for_loop_is_a_fold() {
    law(0, |Bodies { f, .. }| {
        [format!("let mut a = c; for &v in x {{ a = {f}; }} a"), format!("fold(c, x, |a, v| {f})")]
    });
}

#[test]
fn a_loop_that_breaks_is_the_shorter_loop() {
    law(0, |Bodies { f, .. }| {
        [
            format!("let mut a = c; for i in 0..2 * n {{ if i >= n {{ break; }} let v = x[i]; a = {f}; }} a"),
            format!("let mut a = c; for i in 0..n {{ let v = x[i]; a = {f}; }} a"),
        ]
    });
}

#[test]
fn nested_loops_are_one_loop_over_both_indices() {
    law(0, |Bodies { f, .. }| {
        [
            format!("let mut a = c; for i in 0..n / 2 {{ for j in 0..2 {{ let v = x[2 * i + j]; a = {f}; }} }} a"),
            format!("let mut a = c; for k in 0..n / 2 * 2 {{ let v = x[k]; a = {f}; }} a"),
        ]
    });
}

#[test]
fn nested_loops_of_a_sum_can_be_interchanged() {
    law(0, |Bodies { h, .. }| {
        [
            format!("let mut s = c; for i in 0..n {{ for j in 0..n {{ let v = x[i] - 0.5 * x[j]; s += {h}; }} }} s"),
            format!("let mut s = c; for j in 0..n {{ for i in 0..n {{ let v = x[i] - 0.5 * x[j]; s += {h}; }} }} s"),
        ]
    });
}

#[test]
fn a_loop_that_fills_an_array_is_a_map() {
    law(0, |Bodies { h, .. }| {
        [
            format!("let mut r = Array1::zeros(n); for i in 0..n {{ let v = x[i]; r[i] = {h}; }} {WEIGHED}"),
            format!("let r = x.mapv(|v| {h}); {WEIGHED}"),
        ]
    });
}

#[test]
fn rows_of_a_loop_are_a_scan() {
    law(0, |Bodies { f, .. }| {
        [
            format!(
                "let mut r = Array1::zeros(n); let mut a = c; for i in 0..n {{ let v = x[i]; a = {f}; r[i] = a; }} {WEIGHED}"
            ),
            format!("let r = scan(c, x, |a, v| {f}); {WEIGHED}"),
        ]
    });
}

#[test]
fn additions_to_elements_are_a_sum_for_each_element() {
    law(0, |Bodies { h, .. }| {
        [
            format!("let mut r = Array1::zeros(3); for i in 0..n {{ let v = x[i]; r[i % 3] += {h}; }} {WEIGHED}"),
            format!(
                "let r = build1(3, |k| {{ let mut s = 0.0; for i in 0..n {{ if i % 3 == k {{ let v = x[i]; s += {h}; }} }} s }}); {WEIGHED}"
            ),
        ]
    });
}

#[test]
fn a_skipped_item_is_one_that_changes_nothing() {
    law(0, |Bodies { f, .. }| {
        [
            format!("let mut a = c; for &v in x {{ if v < 0.0 {{ continue; }} a = {f}; }} a"),
            format!("fold(c, x, |a, v| if v < 0.0 {{ a }} else {{ {f} }})"),
        ]
    });
}

#[test]
fn a_while_loop_is_a_for_loop_with_a_break() {
    law(0, |Bodies { f, .. }| {
        [
            format!("let mut a = c; let mut i = 0; while i < n && a < 0.9 {{ let v = x[i]; a = {f}; i += 1; }} a"),
            format!("let mut a = c; for i in 0..n {{ if a >= 0.9 {{ break; }} let v = x[i]; a = {f}; }} a"),
        ]
    });
}

#[test]
fn a_loop_with_a_break_is_a_while_loop() {
    law(1, |Bodies { f, h, .. }| {
        [
            format!(
                "let mut a = c; let mut i = 0; let last = loop {{ let v = x[i]; a = {f}; i += 1; if i >= n || a > 0.8 {{ break {h}; }} }}; a + last"
            ),
            format!(
                "let mut a = c; let mut i = 0; let mut going = true; let mut last = 0.0; while going {{ let v = x[i]; a = {f}; i += 1; if i >= n || a > 0.8 {{ going = false; last = {h}; }} }} a + last"
            ),
        ]
    });
}

#[test]
fn an_early_return_is_a_branch() {
    law(0, |Bodies { f, h, .. }| {
        [
            format!("let mut a = c; for &v in x {{ if v > 0.4 {{ return {h} + a; }} a = {f}; }} a"),
            format!(
                "let mut a = c; let mut left = false; let mut r = 0.0; for &v in x {{ if !left {{ if v > 0.4 {{ left = true; r = {h} + a; }} else {{ a = {f}; }} }} }} if left {{ r }} else {{ a }}"
            ),
        ]
    });
}

#[test]
fn independent_loops_can_be_fused() {
    law(0, |Bodies { f, g, .. }| {
        [
            format!("let (mut a, mut b) = (c, 0.5); for &v in x {{ a = {f}; {{ let a = b; b = {g}; }} }} a * b"),
            format!(
                "let mut b = 0.5; for &v in x {{ let a = b; b = {g}; }} let mut a = c; for &v in x {{ a = {f}; }} a * b"
            ),
        ]
    });
}

#[test]
fn pushed_values_are_the_rows_of_a_scan() {
    law(0, |Bodies { f, .. }| {
        [
            format!(
                "let mut a = c; let mut y = vec![c]; for &v in x {{ a = {f}; y.push(a); }} let r = Array1::from_vec(y); {WEIGHED}"
            ),
            format!("let r = scanl(c, x, |a, v| {f}); {WEIGHED}"),
        ]
    });
}
