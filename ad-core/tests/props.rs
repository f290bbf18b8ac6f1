//! Properties of every stage on random programs. The oracle is the source term, interpreted lazily
//! on dual numbers: exact values and exact forward derivatives, without a step size. A failure
//! prints the smallest size of the seed that still fails, the program, and its inputs.
//!
//! `AD_CASES` sets the number of programs, `AD_SEED` the first seed. The default run is always the
//! same.

mod common;

use ad_core::sorted::SortedMap;
use std::cell::RefCell;
use std::panic::{AssertUnwindSafe, catch_unwind};

use ad_core::ir::print::print;
use ad_core::ir::valid::{normal_form, validate};
use ad_core::ir::{Graph, Node, RealTy, Term};
use ad_core::passes::{bulk as bot, simplify, unroll};
use ad_core::prim::Unary;
use ad_oracle::interp::{Interp, Value, Work};
use ad_oracle::with_exact;
use common::compare::{close, close_all, dot};
use common::r#gen::{Case, case, twice};
use common::histogram::{Histogram, names_in};
use common::modes as ad;
use common::rng::Rng;
use proptest::test_runner::{Config, TestCaseError, TestError, TestRng, TestRunner};

type Try<T> = Result<T, String>;

/// The statistics of a run.
#[derive(Default)]
struct Stats {
    cases: usize,
    /// The number of programs that were left out, because values overflow or are so large that only
    /// rounding errors remain.
    wild: usize,
    /// The number of programs with small arrays.
    unrolled: usize,
    /// The number of programs with shared parts, or with sums that are taken before products.
    associated: usize,
    hoisted: usize,
    source: Histogram,
    derived: Histogram,
    by_difference: usize,
    second_order: usize,
    /// The number of programs with a gradient other than zero.
    alive: usize,
    /// The work of the gradient program over that of the function, and the seed and size of the
    /// maximum.
    ratios: Vec<(f64, u64, usize)>,
    work: [u64; 4],
}

fn number(name: &str, default: u64) -> u64 {
    std::env::var(name).ok().and_then(|v| v.parse().ok()).unwrap_or(default)
}

/// A program in the stages of the compiler, with inputs for tangents and cotangents added.
struct Run {
    g: Graph,
    inputs: Vec<Value>,
    rng: Rng,
    /// The tolerance relative to the largest number of a result.
    tolerance: f64,
}

impl Run {
    fn eval(&self, roots: &[Term]) -> Try<(Vec<Value>, Work)> {
        let mut run = Interp::new(&self.g, &self.inputs);
        let values = run.eval_all(roots)?;
        Ok((values, run.work()))
    }

    /// The number of directions for derivatives.
    fn set_tangents(&mut self, active: &[u32], on: bool) {
        for &k in active {
            let v = &self.inputs[k as usize];
            let ds: Vec<f64> = v.values().iter().map(|_| if on { self.rng.real() } else { 0.0 }).collect();
            self.inputs[k as usize] = v.clone().with_tangent(&ds);
        }
    }

    /// A new input of the type of t, with this value or a random one.
    fn input_like(&mut self, t: Term, value: Option<Vec<f64>>, shape: &[usize]) -> Term {
        let (elem, sizes) = (self.g.elem(t), self.g.shape(t).to_vec());
        let n = shape.iter().product();
        let xs = value.unwrap_or_else(|| (0..n).map(|_| self.rng.real()).collect());
        self.inputs.push(Value::reals(shape, &xs));
        self.g.add_input_shaped(elem, sizes)
    }

    fn valid(&self, stage: &str, roots: &[Term]) -> Try<()> {
        let checked = if stage == "source" { validate(&self.g, roots) } else { normal_form(&self.g, roots) };
        checked.map_err(|errors| format!("{stage} is not valid:\n  {}\n{}", errors.join("\n  "), self.show(roots)))
    }

    fn show(&self, roots: &[Term]) -> String {
        print(&self.g, roots, &SortedMap::new())
    }

    /// The roots have the same values and derivatives (by the interpreter) as before.
    fn same(&self, stage: &str, roots: &[Term], expected: &[Value]) -> Try<Work> {
        let at = |e: String| format!("{stage}: {e}\n{}", self.show(roots));
        let (values, work) = self.eval(roots).map_err(at)?;
        for (k, (a, b)) in values.iter().zip(expected).enumerate() {
            close(a, b, self.tolerance).map_err(|e| at(format!("root {k} has another value: {e}")))?;
            close_all(&a.tangents(), &b.tangents(), self.tolerance * 100.0)
                .map_err(|e| at(format!("root {k} has another derivative: {e}")))?;
        }
        Ok(work)
    }
}

/// Whether the values can be compared. A loop that amplifies its input a thousandfold amplifies the
/// rounding errors of reassociated sums as well.
fn tame(values: &[Value]) -> bool {
    values.iter().flat_map(Value::duals).all(|x| x.v.abs() < 1e6 && x.d.abs() < 1e3)
}

/// Checks all properties of one program. Returns whether it could be compared.
fn check(seed: u64, size: usize, stats: &mut Stats) -> Try<bool> {
    let Case { g, roots, inputs, active } = case(seed, size);
    let again = case(seed, size);
    let printed = print(&g, &roots, &SortedMap::new());
    if printed != print(&again.g, &again.roots, &SortedMap::new()) {
        return Err("two generations print differently".into());
    }
    let single = (0..).zip(&inputs).any(|(k, _)| {
        g.inputs().get(k).is_some_and(|t| t.as_array().is_some_and(|(e, _)| e == ad_core::ir::Elem::Real(RealTy::F32)))
    });
    let tolerance = if single { 1e-4 } else { 1e-10 };
    let mut run = Run { g, inputs, rng: Rng::new(seed ^ 0x5eed), tolerance };
    run.set_tangents(&active, true);
    run.valid("source", &roots)?;
    let (expected, lazy) = run.eval(&roots)?;
    if !tame(&expected) {
        return Ok(false);
    }
    let names = names_in(&run.g, &roots);
    stats.source.add(&run.g, &roots);

    let bulk = bot::transform(&mut run.g, &roots, &mut Default::default());
    run.valid("bot", &bulk)?;
    let bulk_work = run.same("bot", &bulk, &expected)?;
    let simple = simplify::simplify(&mut run.g, &bulk);
    run.valid("simplify", &simple)?;
    let work = run.same("simplify", &simple, &expected)?;
    let flat = unrolled(&mut run, "unroll", &simple)?;
    run.same("unroll", &flat, &expected)?;
    stats.unrolled += usize::from(flat != simple);
    // Half of the derivatives are those of the unrolled function.
    let simple = if seed.is_multiple_of(2) { simple } else { simplify::simplify(&mut run.g, &flat) };

    let gradient = derivatives(&mut run, &simple, &active, &expected, true)?;
    stats.derived.add(&run.g, &gradient);
    if std::env::var("AD_ONE").is_ok() {
        println!("--- bulk, simplified\n{}--- gradient\n{}", run.show(&simple), run.show(&gradient));
    }
    run.set_tangents(&active, false);
    let (values, gradient_work) = run.eval(&gradient)?;
    let flat = unrolled(&mut run, "gradient, unrolled", &gradient)?;
    run.same("gradient, unrolled", &flat, &values)?;
    let exact = ad_core::analysis::once::<ad_core::analysis::decisions::Decisions>(&run.g, &gradient[..roots.len()]);
    let cx = &mut with_exact(exact);
    let shared = ad_core::passes::share::share(&mut run.g, &gradient, cx);
    let shared = ad_core::passes::associate::associate(&mut run.g, &shared, cx);
    run.valid("gradient, associated", &shared)?;
    run.same("gradient, associated", &shared, &values)?;
    stats.associated += usize::from(shared != gradient);
    let hoisted = ad_core::passes::hoist::hoist(&mut run.g, &shared, cx);
    run.valid("gradient, maps behind sums", &hoisted)?;
    run.same("gradient, maps behind sums", &hoisted, &values)?;
    stats.hoisted += usize::from(hoisted != shared);
    let paired = ad_core::passes::pairs::pairs(&mut run.g, &hoisted, cx);
    run.valid("gradient, differences of products first", &paired)?;
    run.same("gradient, differences of products first", &paired, &values)?;
    stats.alive += usize::from(values[roots.len()..].iter().flat_map(Value::values).any(|x| x != 0.0));
    let all = [lazy.total(), bulk_work.total(), work.total(), gradient_work.total()];
    stats.work.iter_mut().zip(all).for_each(|(sum, w)| *sum += w);
    stats.ratios.push((gradient_work.total() as f64 / (work.total().max(bulk_work.total()) + 50) as f64, seed, size));

    // The differences of a step function of a large argument look like a slope; a stopped gradient
    // has no derivative.
    let steps = ["Floor", "Ceil", "Round", "Trunc", "Fract"].map(|f| format!("unary {f}"));
    let stepwise =
        steps.iter().any(|f| names.contains(f)) || names.contains("binary Rem") || names.contains("cast to an integer");
    if !single
        && !stepwise
        && !names.contains("stop gradient")
        && by_difference(&mut run, &roots, &gradient[roots.len()..], &active)?
    {
        stats.by_difference += 1;
    }

    // The gradient as a program is tested in the same way.
    let targets: Vec<Term> = gradient[roots.len()..].to_vec();
    if run.g.reachable(&targets).len() < 1500 {
        run.set_tangents(&active, true);
        let (expected, _) = run.eval(&targets)?;
        if tame(&expected) {
            run.tolerance *= 10.0;
            derivatives(&mut run, &targets, &active, &expected, false)?;
            stats.second_order += 1;
        }
    }
    Ok(true)
}

/// The roots with small arrays replaced by scalars.
fn unrolled(run: &mut Run, stage: &str, roots: &[Term]) -> Try<Vec<Term>> {
    let exact = ad_core::analysis::once::<ad_core::analysis::decisions::Decisions>(&run.g, roots);
    let unrolled = unroll::unroll(&mut run.g, roots, &mut with_exact(exact));
    run.valid(stage, &unrolled)?;
    let largest = run.g.reachable(&unrolled).len() / (run.g.reachable(roots).len() + 1);
    if largest > unroll::PRODUCTS { Err(format!("{stage}: {largest} times as long")) } else { Ok(unrolled) }
}

/// Compares the forward and reverse derivatives of a program with the oracle's and with each other.
/// Returns the gradient program (primal, then gradients).
fn derivatives(run: &mut Run, roots: &[Term], active: &[u32], expected: &[Value], first: bool) -> Try<Vec<Term>> {
    let order = if first { "first" } else { "second" };
    let directions: Vec<Vec<f64>> = active.iter().map(|&k| run.inputs[k as usize].tangents()).collect();
    let mut seeds = Vec::new();
    for (&k, direction) in active.iter().zip(&directions) {
        let input = run.g.mk(Node::Input(k));
        let shape = run.inputs[k as usize].as_array().map(|a| a.shape.clone()).unwrap_or_default();
        seeds.push((k, run.input_like(input, Some(direction.clone()), &shape)));
    }
    let mut cotangents = Vec::new();
    for (&root, value) in roots.iter().zip(expected) {
        let shape = value.as_array().map(|a| a.shape.clone()).unwrap_or_default();
        cotangents.push(run.input_like(root, None, &shape));
    }

    let (primal, tangents) = ad::forward(&mut run.g, roots, &seeds);
    let forward: Vec<Term> = primal.iter().chain(&tangents).copied().collect();
    let forward_simple = simplify::simplify(&mut run.g, &forward);
    for (stage, terms) in [("forward", &forward), ("forward, simplified", &forward_simple)] {
        let stage = format!("{order} order {stage}");
        run.valid(&stage, terms)?;
        let (values, _) = run.eval(terms).map_err(|e| format!("{stage}: {e}\n{}", run.show(terms)))?;
        for (k, oracle) in expected.iter().enumerate() {
            let at = |what: &str, e: String| format!("{stage}: {what} of root {k}: {e}\n{}", run.show(terms));
            close(&values[k], oracle, run.tolerance).map_err(|e| at("value", e))?;
            close_all(&values[roots.len() + k].values(), &oracle.tangents(), run.tolerance * 1e3)
                .map_err(|e| at("tangent", e))?;
        }
    }

    let (primal, gradients) = ad::reverse(&mut run.g, roots, &cotangents, active);
    let reverse: Vec<Term> = primal.iter().chain(&gradients).copied().collect();
    let reverse_simple = simplify::simplify(&mut run.g, &reverse);
    for (stage, terms) in [("reverse", &reverse), ("reverse, simplified", &reverse_simple)] {
        let stage = format!("{order} order {stage}");
        run.valid(&stage, terms)?;
        let (values, _) = run.eval(terms).map_err(|e| format!("{stage}: {e}\n{}", run.show(terms)))?;
        let at = |what: &str, e: String| format!("{stage}: {what}: {e}\n{}", run.show(terms));
        let (mut left, mut right) = (Vec::new(), Vec::new());
        for (k, oracle) in expected.iter().enumerate() {
            close(&values[k], oracle, run.tolerance).map_err(|e| at("value", e))?;
            let Node::Input(c) = *run.g.node(cotangents[k]) else { return Err("a cotangent is an input".into()) };
            left.push(dot(&run.inputs[c as usize].values(), &oracle.tangents()));
        }
        for (value, direction) in values[roots.len()..].iter().zip(&directions) {
            right.push(dot(&value.values(), direction));
        }
        // The sums may cancel, so the error is relative to their parts.
        let scale = left.iter().chain(&right).fold(1.0, |m: f64, x| m.max(x.abs()));
        let (left, right): (f64, f64) = (left.iter().sum(), right.iter().sum());
        // NaN differs from every number.
        let agree = (left - right).abs() <= run.tolerance * 1e3 * scale;
        if !agree {
            return Err(at("<u, J v> = <J' u, v>", format!("{left} and {right}")));
        }
    }
    Ok(reverse_simple)
}

/// Compares the gradient with central differences in the direction of the tangents. Returns `false`
/// if two step sizes disagree (there is a kink).
fn by_difference(run: &mut Run, roots: &[Term], gradient: &[Term], active: &[u32]) -> Try<bool> {
    let cotangents: Vec<Value> = {
        let first = run.inputs.len() - roots.len();
        run.inputs[first..].to_vec()
    };
    let direction: Vec<Vec<f64>> =
        active.iter().map(|&k| run.inputs[k as usize].values().iter().map(|_| run.rng.real()).collect()).collect();
    let here: Vec<Value> = run.inputs.clone();
    let mut along = |h: f64| -> Try<f64> {
        for (&k, ds) in active.iter().zip(&direction) {
            let x = &here[k as usize];
            let moved: Vec<f64> = x.values().iter().zip(ds).map(|(x, d)| x + h * d).collect();
            let shape = x.as_array().map(|a| a.shape.clone()).unwrap_or_default();
            run.inputs[k as usize] = Value::reals(&shape, &moved);
        }
        let (values, _) = run.eval(roots)?;
        Ok(values.iter().zip(&cotangents).map(|(v, c)| dot(&v.values(), &c.values())).sum())
    };
    let mut difference = |h: f64| -> Try<f64> { Ok((along(h)? - along(-h)?) / (2.0 * h)) };
    let (coarse, fine) = (difference(2e-5)?, difference(1e-5)?);
    run.inputs = here;
    let (values, _) = run.eval(gradient)?;
    let exact: f64 = values.iter().zip(&direction).map(|(v, d)| dot(&v.values(), d)).sum();
    let scale = 1.0 + coarse.abs().max(fine.abs());
    let smooth = (coarse - fine).abs() < 1e-6 * scale;
    if !smooth {
        return Ok(false);
    }
    if (exact - fine).abs() < 1e-4 * scale {
        Ok(true)
    } else {
        Err(format!("central differences: {fine}, gradient {exact}\n{}", run.show(gradient)))
    }
}

/// [`check`] with panics as failures.
fn guarded(seed: u64, size: usize, stats: &mut Stats) -> Try<bool> {
    match catch_unwind(AssertUnwindSafe(|| check(seed, size, stats))) {
        Ok(result) => result,
        Err(panic) => {
            let text = panic.downcast_ref::<String>().cloned();
            Err(text.or_else(|| panic.downcast_ref::<&str>().map(|s| (*s).into())).unwrap_or_default())
        }
    }
}

fn report(seed: u64, size: usize, message: &str) -> String {
    let program = catch_unwind(|| {
        let Case { g, roots, inputs, .. } = case(seed, size);
        let shown: Vec<String> = inputs.iter().map(|v| format!("{v:?}")).collect();
        format!("{}\n{}", print(&g, &roots, &SortedMap::new()), shown.join("\n"))
    });
    let program = program.unwrap_or_else(|_| "the generator itself fails".into());
    format!("{message}\n--- seed {seed}, size {size}: the program and its inputs\n{program}")
}

#[test]
fn every_stage_keeps_values_and_derivatives() {
    ad::every_mode(|| {
        let stats = RefCell::new(Stats::default());
        let cases = u32::try_from(number("AD_CASES", ad::share(800))).unwrap();
        let config = Config {
            cases,
            failure_persistence: None,
            max_shrink_iters: 200,
            max_global_rejects: u32::MAX,
            ..Config::default()
        };
        let mut runner = TestRunner::new_with_rng(config, TestRng::deterministic_rng(Default::default()));
        let offset = number("AD_SEED", 0);
        // Shrinking makes the program of the same seed smaller. Another seed would be another
        // program.
        use proptest::prelude::Strategy;
        let programs = (proptest::num::u64::ANY.no_shrink(), 1..60_usize);
        let outcome = runner.run(&programs, |(seed, size)| {
            let mut stats = stats.borrow_mut();
            stats.cases += 1;
            match guarded(seed.wrapping_add(offset), size, &mut stats) {
                Ok(tame) => {
                    stats.wild += usize::from(!tame);
                    Ok(())
                }
                Err(e) => Err(TestCaseError::fail(e)),
            }
        });
        match outcome {
            Ok(()) => {}
            Err(TestError::Fail(reason, (seed, size))) => {
                panic!("{}", report(seed.wrapping_add(offset), size, reason.message()))
            }
            Err(TestError::Abort(reason)) => panic!("{reason}"),
        }
        stats.into_inner().judge();
    });
}

impl Stats {
    /// The properties of a whole run: every form has occurred, and the cost of gradients is
    /// bounded.
    fn judge(mut self) {
        self.ratios.sort_by(|a, b| b.0.total_cmp(&a.0));
        println!(
            "{} programs, {} wild, {} with a gradient, {} also by differences, {} second order",
            self.cases, self.wild, self.alive, self.by_difference, self.second_order
        );
        println!("elements: source, bulk, simplified, gradient: {:?}", self.work);
        println!("worst ratios: {:?}", &self.ratios[..self.ratios.len().min(8)]);
        let over = |bound: f64| self.ratios.iter().filter(|r| r.0 > bound).count();
        println!("ratios over 3: {}, over 5: {}, over 10: {}", over(3.0), over(5.0), over(10.0));
        println!("source: {:?}\nderived: {:?}", self.source.0, self.derived.0);
        // A few programs cannot contain every form.
        if self.cases < 400 {
            return;
        }
        assert_eq!(self.source.missing(), Vec::<String>::new(), "forms and primitives that no program had");
        for stage in ["scan", "scan in reverse", "gather", "scatter", "contract", "unary Tetragamma", "binary MulZero"]
        {
            assert!(self.derived.0.contains_key(stage), "no gradient program has a {stage}");
        }
        assert!(self.unrolled * 4 > self.cases, "a quarter of the programs should have small arrays");
        assert!(self.alive * 2 > self.cases, "half of the programs should have a gradient");
        assert!(self.by_difference * 10 > self.cases, "a tenth of the programs should be compared with differences");
        assert!(self.second_order * 2 > self.cases, "half of the programs should be differentiated twice");
        // Section 5.3 of UNF promises a constant. It holds for all programs except for the few in
        // which nearly all of the function is in a branch that is not taken, while a part of the
        // gradient is outside of every branch.
        assert!(self.work[3] < 3 * self.work[2], "gradients cost {:?}", self.work);
        assert!(
            over(5.0) * 200 <= self.cases,
            "too many gradients cost over 5 times the function: {:?}",
            &self.ratios[..8]
        );
    }
}

/// Equal programs have equal handles, whatever the numbers of their variables are and whatever was
/// created in between. So have their derivatives.
#[test]
fn alpha_equal_programs_are_one() {
    for seed in 0..number("AD_CASES", 300) {
        let (mut g, first, second) = twice(seed, 25);
        assert_eq!(first, second, "seed {seed}");
        let bulk = bot::transform(&mut g, &first, &mut Default::default());
        assert_eq!(bulk, bot::transform(&mut g, &first, &mut Default::default()), "seed {seed}: bot");
        let simple = simplify::simplify(&mut g, &bulk);
        assert_eq!(simple, simplify::simplify(&mut g, &bulk), "seed {seed}: simplify");
    }
}

/// Programs are as deep as functions are long. Every stage runs on a small stack, and creates at
/// most a constant times the depth of terms.
#[test]
fn deep_programs_are_linear_and_need_no_stack() {
    let run = || {
        // A chain of relu is a chain of masks.
        for functions in [[Unary::Sin, Unary::Tanh], [Unary::Relu, Unary::Neg]] {
            let made: Vec<usize> = [1000, 2000].into_iter().map(|n| deep(n, functions)).collect();
            assert!(made[1] < 2 * made[0] + 100, "not linear: {made:?}");
        }
    };
    std::thread::Builder::new().stack_size(1 << 20).spawn(move || ad::every_mode(run)).unwrap().join().unwrap();
}

/// A chain of n elementwise operations on a vector, each using the last two, through all stages.
/// Returns the number of terms.
fn deep(n: usize, functions: [Unary; 2]) -> usize {
    let mut g = Graph::new();
    let x = g.add_input(ad_core::ir::Elem::F64, 1);
    let (mut last, mut t) = (x, x);
    for k in 0..n {
        let s = g.unary(functions[k % 2], t);
        // Masks form a chain if there is no other path to the input.
        (last, t) = (t, if functions[0] == Unary::Relu { s } else { g.add(s, last) });
    }
    let root = g.sum_all(t);
    let inputs = [Value::reals(&[2], &[0.3, -0.4]).with_tangent(&[1.0, 1.0])];
    let expected = Interp::new(&g, &inputs).eval(root).unwrap();
    let bulk = bot::transform(&mut g, &[root], &mut Default::default());
    let simple = simplify::simplify(&mut g, &bulk);
    let one = g.lit_real(RealTy::F64, 1.0);
    let gradient = ad::reverse(&mut g, &simple, &[one], &[0]).1;
    let simple = simplify::simplify(&mut g, &gradient);
    normal_form(&g, &simple).unwrap();
    let value = Interp::new(&g, &inputs).eval(simple[0]).unwrap();
    close_all(&[value.values().iter().sum()], &expected.tangents(), 1e-9).unwrap();
    assert!(print(&g, &simple, &SortedMap::new()).len() < 400 * n);
    g.len()
}

/// One program, to be run by hand: `AD_ONE=seed,size cargo test -p ad-core --test props one --
/// --nocapture`.
#[test]
fn one() {
    let Ok(text) = std::env::var("AD_ONE") else { return };
    let mut parts = text.split(',').map(|p| p.trim().parse::<u64>().unwrap());
    let (seed, size) = (parts.next().unwrap(), parts.next().unwrap() as usize);
    match guarded(seed, size, &mut Stats::default()) {
        Ok(tame) => println!("{}\nfine (tame: {tame})", report(seed, size, "")),
        Err(e) => panic!("{}", report(seed, size, &e)),
    }
}
