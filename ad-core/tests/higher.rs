//! Random source programs with the options that combine several passes. A Jacobian agrees with the
//! interpreter's cotangents and tangents, a pullback in its two stages with the reverse derivative,
//! a product with the Hessian with the interpreter's derivative of the gradient, and the Hessian
//! with these products.
//!
//! `AD_CASES` sets the number of programs, `AD_SEED` the first seed; `AD_ONE=seed` shows one.

mod common;

use std::panic::{AssertUnwindSafe, catch_unwind};

use ad_core::descriptor::{GRAD, HESSIAN, HVP, JACOBIAN};
use ad_core::ir::{IntTy, RealTy, Term};
use ad_core::pipeline::{self, Prepared};
use ad_core::program::{Param, Routine};
use ad_oracle::interp::{Array, Data, Dual, Interp, Value};
use common::compare::close_all;
use common::modes;
use common::source::forms::forms;
use common::source::oracle::{self, Outcome};
use common::source::{Kind, Real, Source, program};

type Try<T> = Result<T, String>;

fn number(name: &str, default: u64) -> u64 {
    std::env::var(name).ok().and_then(|v| v.parse().ok()).unwrap_or(default)
}

fn shape_of(value: &Value) -> Vec<usize> {
    value.as_array().map(|a| a.shape.clone()).unwrap_or_default()
}

struct Run {
    prepared: Prepared,
    inputs: Vec<Value>,
    ty: RealTy,
    tolerance: f64,
}

impl Run {
    fn new(source: &Source) -> Try<Run> {
        let program = oracle::parse(source)?;
        let ty = match source.real {
            Real::F32 => RealTy::F32,
            Real::F64 => RealTy::F64,
            Real::Param => RealTy::Param,
        };
        let mut inputs = vec![Value::bools(&[], &[false]); program.graph.inputs().len()];
        for (arg, param) in source.args.iter().zip(&program.params) {
            let ints = || arg.ints.iter().map(|&n| n as i128).collect::<Vec<_>>();
            let value = match &arg.kind {
                Kind::Real | Kind::Array(_) => {
                    Value::of(ty, arg.shape(), arg.reals.iter().map(|&x| Dual::constant(x)).collect())
                }
                Kind::Bool => Value::bools(&[], &[arg.ints[0] == 1]),
                _ => Value::ints(IntTy::Usize, arg.shape(), &ints()),
            };
            inputs[param.input.ok_or("every parameter is an input")? as usize] = value;
        }
        let tolerance = if source.single() { 5e-3 } else { 1e-8 };
        Ok(Run { prepared: pipeline::prepare(program, None), inputs, ty, tolerance })
    }

    fn real(&self, shape: &[usize], numbers: &[f64]) -> Value {
        Value::of(self.ty, shape, numbers.iter().map(|&x| Dual::constant(x)).collect())
    }

    /// The inputs that were added to the graph, which are the parameters of this routine in order.
    fn with(&self, params: &[Param], values: Vec<Value>) -> Vec<Value> {
        let mut inputs = self.inputs.clone();
        inputs.resize(self.prepared.program.graph.inputs().len(), Value::bools(&[], &[false]));
        for (param, value) in params.iter().zip(values) {
            if let Some(k) = param.input {
                inputs[k as usize] = value;
            }
        }
        inputs
    }

    fn eval(&self, inputs: &[Value], roots: &[Term]) -> Try<Vec<Value>> {
        Interp::new(&self.prepared.program.graph, inputs).eval_all(roots)
    }

    fn holds(&self, inputs: &[Value], routine: &Routine) -> Try<()> {
        for check in &routine.checks {
            match &self.eval(inputs, &[check.ok])?[0] {
                Value::Array(Array { data: Data::Bool(ok), .. }) if *ok == [true] => {}
                _ => return Err(format!("a check fails: {}", check.message)),
            }
        }
        Ok(())
    }
}

/// Whether the program could be compared, and whether its second derivatives could.
fn check(source: &Source) -> Try<(bool, bool)> {
    let Some(Outcome::Gives(expected)) = oracle::outcome(source, &source.args)? else { return Ok((false, false)) };
    let mut run = Run::new(source)?;
    if run.prepared.refused.is_some() {
        return Ok((false, false));
    }
    let directions = oracle::directions(&source.args);
    let tolerance = run.tolerance;
    let at = |what: &str, e: String| format!("{what}: {e}");

    let routine = pipeline::derive(&mut run.prepared, &JACOBIAN, None);
    let inputs = run.with(&[], Vec::new());
    run.holds(&inputs, &routine)?;
    let found = run.eval(&inputs, &routine.result.terms())?;
    let shape = shape_of(&found[0]);
    let weights = oracle::cotangent(&shape);
    let mut tangent = vec![0.0; weights.len()];
    for (k, block) in found[1..].iter().enumerate() {
        let entries = block.values();
        let n = directions[k].len();
        if entries.len() != n * weights.len() {
            return Err(format!("jacobian {k}: {} entries", entries.len()));
        }
        let mut gradient = vec![0.0; n];
        for i in 0..weights.len() {
            for j in 0..n {
                let d = entries[i * n + j];
                gradient[j] += weights[i] * d;
                tangent[i] += d * directions[k][j];
            }
        }
        close_all(&gradient, &expected.gradients[k], tolerance).map_err(|e| at("jacobian, rows", e))?;
    }
    close_all(&tangent, &expected.tangent, tolerance).map_err(|e| at("jacobian, columns", e))?;

    let staged = pipeline::pullback(&mut run.prepared, &ad_core::descriptor::PULLBACK, None);
    let inputs = run.with(&[], Vec::new());
    run.holds(&inputs, &staged.first)?;
    let mut kept = run.eval(&inputs, &staged.first.result.terms())?;
    close_all(&kept.remove(0).values(), &expected.value, tolerance).map_err(|e| at("pullback, value", e))?;
    kept.push(run.real(&shape, &weights));
    // Only the kept arguments are inputs.
    run.inputs.iter_mut().for_each(|v| *v = Value::bools(&[], &[false]));
    let inputs = run.with(&staged.second.params, kept);
    let second = run.holds(&inputs, &staged.second).and_then(|()| run.eval(&inputs, &staged.second.result.terms()));
    for (found, wanted) in second.map_err(|e| at("pullback", e))?.iter().zip(&expected.gradients) {
        close_all(&found.values(), wanted, tolerance).map_err(|e| at("pullback", e))?;
    }
    if !shape.is_empty() {
        return Ok((true, false));
    }

    let mut run = Run::new(source)?;
    let active: Vec<usize> = {
        let program = &run.prepared.program;
        program.active.iter().filter_map(|&k| program.params[k].input).map(|k| k as usize).collect()
    };
    let routine = pipeline::derive(&mut run.prepared, &GRAD, None);
    let mut inputs = run.with(&[], Vec::new());
    for (&k, direction) in active.iter().zip(&directions) {
        inputs[k] = inputs[k].clone().with_tangent(direction);
    }
    let gradient = run.eval(&inputs, &routine.result.terms())?.split_off(1);
    let wanted: Vec<Vec<f64>> = gradient.iter().map(Value::tangents).collect();
    if wanted.iter().flatten().any(|x| x.abs() > 1e4 || x.is_nan()) {
        return Ok((true, false));
    }
    let routine = pipeline::derive(&mut run.prepared, &HVP, None);
    let further = &routine.params[run.prepared.program.params.len()..];
    let along = active.iter().zip(&directions).map(|(&k, d)| run.real(&shape_of(&run.inputs[k]), d)).collect();
    let inputs = run.with(further, along);
    run.holds(&inputs, &routine)?;
    for (found, wanted) in run.eval(&inputs, &routine.result.terms())?.iter().zip(&wanted) {
        close_all(&found.values(), wanted, 10.0 * tolerance).map_err(|e| at("hvp", e))?;
    }
    if active.len() == 1 {
        let routine = pipeline::derive(&mut run.prepared, &HESSIAN, None);
        let inputs = run.with(&[], Vec::new());
        let hessian = run.eval(&inputs, &routine.result.terms())?[0].values();
        let n = directions[0].len();
        let product: Vec<f64> = (0..n).map(|i| (0..n).map(|j| hessian[i * n + j] * directions[0][j]).sum()).collect();
        close_all(&product, &wanted[0], 10.0 * tolerance).map_err(|e| at("hessian", e))?;
        let largest = hessian.iter().fold(1.0, |m: f64, x| m.max(x.abs()));
        for (i, j) in (0..n).flat_map(|i| (0..i).map(move |j| (i, j))) {
            let (a, b) = (hessian[i * n + j], hessian[j * n + i]);
            if (a - b).abs() > tolerance * largest {
                return Err(format!("hessian: entries ({i}, {j}) are {a} and {b}"));
            }
        }
    }
    Ok((true, true))
}

#[test]
fn options_agree_with_the_interpreter() {
    modes::every_mode(|| {
        let forms = forms();
        let (cases, first) = (number("AD_CASES", modes::share(200)), number("AD_SEED", 0));
        let (mut told, mut second) = (0, 0);
        let mut failures = Vec::new();
        for seed in first..first + cases {
            let source = program(&forms, seed);
            let result = catch_unwind(AssertUnwindSafe(|| check(&source)));
            let result = result.unwrap_or_else(|panic| {
                let text = panic.downcast_ref::<String>().cloned();
                Err(text.or_else(|| panic.downcast_ref::<&str>().map(|s| (*s).into())).unwrap_or_default())
            });
            match result {
                Ok((t, s)) => {
                    told += u64::from(t);
                    second += u64::from(s);
                }
                Err(e) => {
                    failures.push(format!("seed {seed}: {e}\n#[differentiate({})]\n{}", source.options, source.text))
                }
            }
        }
        println!("{cases} programs: {told} told, {second} second derivatives, {} failures", failures.len());
        assert!(failures.is_empty(), "{} failures\n{}", failures.len(), failures[..failures.len().min(5)].join("\n"));
        assert!(cases < 400 || told * 2 > cases && second * 4 > cases, "{told} told, {second} second derivatives");
    });
}

#[test]
fn one() {
    let Ok(seed) = std::env::var("AD_ONE") else { return };
    let source = program(&forms(), seed.trim().parse().unwrap());
    println!("#[differentiate({})]\n{}{:?}", source.options, source.text, source.args);
    println!("{:?}", check(&source));
}
