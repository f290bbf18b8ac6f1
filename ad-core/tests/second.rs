//! Derivatives of derivatives: each pass applied to the output of each other pass, on random
//! programs (with loops, conditionals, gathers and scatters). A Hessian is computed in each of four
//! ways (forwards or in reverse, of the forward or of the reverse derivative). The four agree with
//! each other, with differences of gradients, and with their transposes. Third derivatives agree
//! with closed forms.
//!
//! `AD_CASES` sets the number of programs, `AD_SEED` the first seed.

mod common;

use ad_core::sorted::SortedMap;

use ad_core::ir::print::print;
use ad_core::ir::{Elem, Graph, Node, RealTy, Term};
use ad_core::passes::{bulk as bot, simplify, unroll};
use ad_core::prim::Unary;
use ad_oracle::interp::{Interp, Value};
use ad_oracle::with_exact;
use common::compare::dot;
use common::r#gen::{Case, case};
use common::histogram::names_in;
use common::modes as ad;
use common::rng::Rng;

fn number(name: &str, default: u64) -> u64 {
    std::env::var(name).ok().and_then(|v| v.parse().ok()).unwrap_or(default)
}

fn simple(g: &mut Graph, roots: &[Term]) -> Vec<Term> {
    let simple = simplify::simplify(g, roots);
    let exact = ad_core::analysis::once::<ad_core::analysis::decisions::Decisions>(g, &simple);
    let flat = unroll::unroll(g, &simple, &mut with_exact(exact));
    simplify::simplify(g, &flat)
}

/// Directions as inputs, one for each active input.
fn directions(
    g: &mut Graph,
    inputs: &mut Vec<Value>,
    active: &[u32],
    rng: &mut Rng,
) -> (Vec<(u32, Term)>, Vec<Vec<f64>>) {
    let mut seeds = Vec::new();
    let mut values = Vec::new();
    for &k in active {
        let input = g.mk(Node::Input(k));
        let (elem, sizes) = (g.elem(input), g.shape(input).to_vec());
        let value = &inputs[k as usize];
        let shape = value.as_array().map(|a| a.shape.clone()).unwrap_or_default();
        let xs: Vec<f64> = value.values().iter().map(|_| rng.real()).collect();
        inputs.push(Value::reals(&shape, &xs));
        seeds.push((k, g.add_input_shaped(elem, sizes)));
        values.push(xs);
    }
    (seeds, values)
}

/// The outcome for a program.
enum Verdict {
    Told { smooth: bool, zero: bool },
    Wild,
}

fn check(seed: u64, size: usize) -> Result<Verdict, String> {
    let Case { mut g, roots, mut inputs, active } = case(seed, size);
    let real =
        |g: &Graph, ty: RealTy| g.inputs().iter().any(|t| t.as_array().is_some_and(|(e, _)| e == Elem::Real(ty)));
    let names = names_in(&g, &roots);
    // Single precision is too coarse for second derivatives.
    if real(&g, RealTy::F32) {
        return Ok(Verdict::Wild);
    }
    let mut rng = Rng::new(seed ^ 0xd15c);
    // One number from all real results, with distinct weights.
    let bulk = bot::transform(&mut g, &roots, &mut Default::default());
    let bulk = simple(&mut g, &bulk);
    let mut total = g.lit_real(RealTy::F64, 0.0);
    for (k, &root) in bulk.iter().enumerate() {
        if g.elem(root) == Elem::F64 {
            let sum = g.sum_all(root);
            let weight = g.lit_real(RealTy::F64, 0.5 + 0.25 * f64::from(u32::try_from(k % 5).unwrap_or(0)));
            let part = g.mul(sum, weight);
            total = g.add(total, part);
        }
    }
    let root = simple(&mut g, &[total]);
    let one = g.lit_real(RealTy::F64, 1.0);
    let gradient = ad::reverse(&mut g, &root, &[one], &active).1;
    let gradient = simple(&mut g, &gradient);
    if g.reachable(&gradient).len() > 1200 {
        return Ok(Verdict::Wild);
    }
    let (v, v_values) = directions(&mut g, &mut inputs, &active, &mut rng);
    let (u, u_values) = directions(&mut g, &mut inputs, &active, &mut rng);
    let along = |g: &mut Graph, gradient: &[Term], d: &[(u32, Term)]| {
        let mut sum = g.lit_real(RealTy::F64, 0.0);
        for (&t, &(_, d)) in gradient.iter().zip(d) {
            let product = g.mul(t, d);
            let part = g.sum_all(product);
            sum = g.add(sum, part);
        }
        sum
    };

    // Forwards over reverse, with two directions.
    let hv = ad::forward(&mut g, &gradient, &v).1;
    let hu = ad::forward(&mut g, &gradient, &u).1;
    // Reverse over reverse: the gradient of <gradient, v>.
    let directional = along(&mut g, &gradient, &v);
    let reverse = ad::reverse(&mut g, &[directional], &[one], &active).1;
    // Reverse and forwards over forwards.
    let slope = ad::forward(&mut g, &root, &v).1;
    let slope = simple(&mut g, &slope);
    let over_forward = ad::reverse(&mut g, &slope, &[one], &active).1;
    let twice = ad::forward(&mut g, &slope, &u).1;
    let mut all = hv.clone();
    for more in [&hu, &reverse, &over_forward, &twice] {
        all.extend(more.iter().copied());
    }
    let all = simple(&mut g, &all);
    let eval = |g: &Graph, inputs: &[Value], roots: &[Term]| {
        let at = |e: String| format!("{e}\n{}", print(g, roots, &SortedMap::new()));
        Interp::new(g, inputs).eval_all(roots).map_err(at)
    };
    let values = eval(&g, &inputs, &all)?;
    let n = active.len();
    let part = |k: usize| -> Vec<f64> { values[k * n..(k + 1) * n].iter().flat_map(Value::values).collect() };
    let [hv, hu, reverse, over_forward] = [part(0), part(1), part(2), part(3)];
    let twice: f64 = values[4 * n].values().iter().sum();
    let first = eval(&g, &inputs, &gradient)?;
    let size_of = |xs: &[f64]| xs.iter().fold(0.0, |m: f64, x| m.max(x.abs()));
    let scale = size_of(&hv).max(size_of(&hu)).max(1.0);
    let gradient_values: Vec<f64> = first.iter().flat_map(Value::values).collect();
    if !(scale < 1e6 && size_of(&gradient_values) < 1e5) {
        return Ok(Verdict::Wild);
    }
    let agree = |what: &str, a: f64, b: f64, tolerance: f64| {
        if (a - b).abs() <= tolerance { Ok(()) } else { Err(format!("{what}: {a} and {b}")) }
    };
    for (k, &x) in hv.iter().enumerate() {
        agree(&format!("reverse over reverse, entry {k}"), reverse[k], x, 1e-8 * scale)?;
        agree(&format!("reverse over forward, entry {k}"), over_forward[k], x, 1e-8 * scale)?;
    }
    let (flat_u, flat_v) = (u_values.concat(), v_values.concat());
    let terms: f64 = hv.iter().zip(&flat_u).map(|(a, b)| (a * b).abs()).sum::<f64>().max(scale);
    agree("H = H'", dot(&hv, &flat_u), dot(&hu, &flat_v), 1e-9 * terms)?;
    agree("forward over forward", twice, dot(&hv, &flat_u), 1e-8 * terms)?;

    // The differences of a step function of a large argument look like a slope; a stopped gradient
    // has no derivative.
    let steps = ["Floor", "Ceil", "Round", "Trunc", "Fract"].map(|f| format!("unary {f}"));
    let others = ["binary Rem", "cast to an integer", "stop gradient"];
    if steps.iter().any(|f| names.contains(f)) || others.iter().any(|f| names.contains(*f)) {
        return Ok(Verdict::Told { smooth: false, zero: size_of(&hv) == 0.0 });
    }
    // Compared with differences of the gradient along v, if the function is smooth enough for two
    // step sizes to agree.
    let here = inputs.clone();
    let mut gradient_at = |h: f64| -> Result<Vec<f64>, String> {
        for (&k, ds) in active.iter().zip(&v_values) {
            let x = &here[k as usize];
            let moved: Vec<f64> = x.values().iter().zip(ds).map(|(x, d)| x + h * d).collect();
            let shape = x.as_array().map(|a| a.shape.clone()).unwrap_or_default();
            inputs[k as usize] = Value::reals(&shape, &moved);
        }
        Ok(eval(&g, &inputs, &gradient)?.iter().flat_map(Value::values).collect())
    };
    let mut difference = |h: f64| -> Result<Vec<f64>, String> {
        let (up, down) = (gradient_at(h)?, gradient_at(-h)?);
        Ok(up.iter().zip(&down).map(|(a, b)| (a - b) / (2.0 * h)).collect())
    };
    let (coarse, fine) = (difference(2e-5)?, difference(1e-5)?);
    let noise = 1e-5 * (scale + size_of(&gradient_values));
    let steady = coarse.iter().zip(&fine).all(|(a, b)| (a - b).abs() <= noise);
    if steady {
        for (k, &x) in hv.iter().enumerate() {
            agree(&format!("differences of the gradient, entry {k}"), x, fine[k], 100.0 * noise)?;
        }
    }
    Ok(Verdict::Told { smooth: steady, zero: size_of(&hv) == 0.0 })
}

#[test]
fn hessians_agree_in_every_way() {
    ad::every_mode(|| {
        let (cases, offset) = (number("AD_CASES", ad::share(400)), number("AD_SEED", 0));
        let (mut told, mut smooth, mut alive) = (0, 0, 0);
        let mut failures = Vec::new();
        for seed in offset..offset + cases {
            let size = 1 + usize::try_from(seed.wrapping_mul(0x9e37_79b9) >> 7).unwrap_or(0) % 40;
            let outcome = std::panic::catch_unwind(|| check(seed, size));
            match outcome {
                Ok(Ok(Verdict::Wild)) => {}
                Ok(Ok(Verdict::Told { smooth: s, zero })) => {
                    told += 1;
                    smooth += u32::from(s);
                    alive += u32::from(!zero);
                }
                Ok(Err(e)) => failures.push(format!("seed {seed}, size {size}: {e}")),
                Err(panic) => {
                    let text = panic.downcast_ref::<String>().cloned().unwrap_or_default();
                    failures.push(format!("seed {seed}, size {size} panics: {text}"));
                }
            }
        }
        println!("{told} of {cases} told, {smooth} against differences, {alive} not zero, {} failures", failures.len());
        assert!(failures.is_empty(), "{} failures\n{}", failures.len(), failures.join("\n"));
        if cases >= 300 {
            assert!(told * 2 > u32::try_from(cases).unwrap_or(0) && smooth * 3 > told && alive * 4 > told);
        }
    });
}

/// The derivative of order n of `f` at x, by passes of the compiler in this order: `r` is reverse,
/// `f` is forwards.
fn nested(f: &dyn Fn(&mut Graph, Term) -> Term, x: f64, passes: &str) -> f64 {
    let mut g = Graph::new();
    let input = g.add_input(Elem::F64, 0);
    let one = g.lit_real(RealTy::F64, 1.0);
    let mut t = f(&mut g, input);
    for pass in passes.chars() {
        let derived = match pass {
            'r' => ad::reverse(&mut g, &[t], &[one], &[0]).1,
            _ => ad::forward(&mut g, &[t], &[(0, one)]).1,
        };
        t = simple(&mut g, &derived)[0];
    }
    Interp::new(&g, &[Value::reals(&[], &[x])]).eval(t).unwrap().values()[0]
}

#[test]
fn third_derivatives_have_closed_forms() {
    ad::every_direction(|| {
        let cube = |x: f64| x * x * x;
        type Function = Box<dyn Fn(&mut Graph, Term) -> Term>;
        type Closed = Box<dyn Fn(f64) -> f64>;
        let unary = |f: Unary| -> Function { Box::new(move |g, x| g.unary(f, x)) };
        let s = |x: f64| 1.0 / (1.0 + (-x).exp());
        let t = f64::tanh;
        let cases: Vec<(&str, Function, Closed)> = vec![
            ("sin", unary(Unary::Sin), Box::new(|x| -x.cos())),
            ("cos", unary(Unary::Cos), Box::new(f64::sin)),
            ("exp", unary(Unary::Exp), Box::new(f64::exp)),
            ("ln", unary(Unary::Ln), Box::new(move |x| 2.0 / cube(x))),
            ("recip", unary(Unary::Recip), Box::new(|x| -6.0 / x.powi(4))),
            ("sqrt", unary(Unary::Sqrt), Box::new(|x| 0.375 * x.powf(-2.5))),
            (
                "sigmoid",
                unary(Unary::Sigmoid),
                Box::new(move |x| s(x) * (1.0 - s(x)) * (1.0 - 6.0 * s(x) + 6.0 * s(x) * s(x))),
            ),
            ("softplus", unary(Unary::Softplus), Box::new(move |x| s(x) * (1.0 - s(x)) * (1.0 - 2.0 * s(x)))),
            ("tanh", unary(Unary::Tanh), Box::new(move |x| (1.0 - t(x) * t(x)) * (6.0 * t(x) * t(x) - 2.0))),
            (
                "x^4 exp(2x)",
                Box::new(|g, x| {
                    let (two, square) = (g.lit_real(RealTy::F64, 2.0), g.mul(x, x));
                    let (fourth, double) = (g.mul(square, square), g.mul(two, x));
                    let e = g.unary(Unary::Exp, double);
                    g.mul(fourth, e)
                }),
                Box::new(|x| (2.0 * x).exp() * (8.0 * x.powi(4) + 48.0 * x.powi(3) + 72.0 * x * x + 24.0 * x)),
            ),
        ];
        for (name, f, third) in &cases {
            for x in [0.3, 0.9, 1.7] {
                let expected = third(x);
                for passes in ["rrr", "rrf", "rfr", "frr", "ffr", "frf", "rff", "fff"] {
                    let found = nested(f.as_ref(), x, passes);
                    let error = (found - expected).abs();
                    assert!(
                        error <= 1e-12 * expected.abs().max(1.0),
                        "{name} at {x}, {passes}: {found} instead of {expected}"
                    );
                }
            }
        }
    });
}
