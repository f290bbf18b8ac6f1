//! The meaning of a program: its value, derivatives and panics, by the reference interpreter. The
//! stages of the compiler are compared with it.

use ad_core::descriptor::{GRAD, JVP, VJP};
use ad_core::front;
use ad_core::ir::{Elem, IntTy, RealTy};
use ad_core::pipeline;
use ad_core::program::{Check, Program};
use ad_oracle::interp::{Array, Data, Interp, Value};
use proc_macro2::TokenStream;

use super::super::compare::{close, close_all, dot};
use super::super::modes;
use super::{Arg, Kind, Real, Source};

type Try<T> = Result<T, String>;

/// The outcome of a call.
#[derive(Clone, PartialEq, Debug)]
pub enum Outcome {
    /// It panics with this message.
    Panics(String),
    /// The numbers.
    Gives(Expected),
}

/// The results of the generated functions.
#[derive(Clone, PartialEq, Debug)]
pub struct Expected {
    pub value: Vec<f64>,
    /// For each active parameter, the gradient, or the cotangents for [`cotangent`].
    pub gradients: Vec<Vec<f64>>,
    /// The tangents for [`directions`].
    pub tangent: Vec<f64>,
}

/// The program as core terms.
pub fn parse(source: &Source) -> Try<Program> {
    let tokens = |text: &str| text.parse::<TokenStream>().map_err(|e| format!("the text does not lex: {e}"));
    let program = front::parse(tokens(&source.options)?, tokens(&source.text)?).map_err(|failure| {
        let texts: Vec<String> = failure.diags.list().iter().map(ad_core::diag::Diagnostic::text).collect();
        texts.join("\n")
    })?;
    Ok(Program { mode: modes::mode(), ..program })
}

/// An argument as a value of the interpreter.
pub fn value(arg: &Arg, real: Real) -> Value {
    let ty = match real {
        Real::F32 => RealTy::F32,
        Real::F64 => RealTy::F64,
        Real::Param => RealTy::Param,
    };
    let ints = || arg.ints.iter().map(|&n| n as i128).collect::<Vec<_>>();
    match &arg.kind {
        Kind::Real | Kind::Array(_) => {
            Value::of(ty, arg.shape(), arg.reals.iter().map(|&x| ad_oracle::interp::Dual::constant(x)).collect())
        }
        Kind::Bool => Value::bools(&[], &[arg.ints[0] == 1]),
        _ => Value::ints(IntTy::Usize, arg.shape(), &ints()),
    }
}

/// The direction of each active argument. The numbers are exact in single precision.
pub fn directions(args: &[Arg]) -> Vec<Vec<f64>> {
    let active = args.iter().filter(|a| a.active()).enumerate();
    active.map(|(k, a)| (0..a.shape().iter().product()).map(|i| weight(k + 3, i)).collect()).collect()
}

/// The cotangent of a result with `n` numbers. It is 1 for a scalar result.
pub fn cotangent(shape: &[usize]) -> Vec<f64> {
    if shape.is_empty() { vec![1.0] } else { (0..shape.iter().product()).map(|i| weight(1, i)).collect() }
}

fn weight(k: usize, i: usize) -> f64 {
    ((k * 29 + i * 17) % 23) as f64 / 16.0 - 0.625
}

/// The program in the stages of the compiler.
pub struct Meaning {
    inputs: Vec<Value>,
    /// The numbers of the active inputs.
    active: Vec<usize>,
}

impl Meaning {
    fn new(source: &Source, args: &[Arg], program: &Program) -> Try<Meaning> {
        let mut inputs = vec![None; program.graph.inputs().len()];
        let mut active = Vec::new();
        let mut directions = directions(args).into_iter();
        for (arg, param) in args.iter().zip(&program.params) {
            let mut v = value(arg, source.real);
            let direction = if arg.active() { directions.next() } else { None };
            if let Some(direction) = &direction {
                v = v.with_tangent(direction);
            }
            let input = param.input.ok_or("every parameter is an input")? as usize;
            if direction.is_some() {
                active.push(input);
            }
            inputs[input] = Some(v);
        }
        let inputs = inputs.into_iter().map(|v| v.ok_or_else(|| "an input is not a parameter".to_string()));
        Ok(Meaning { inputs: inputs.collect::<Try<_>>()?, active })
    }

    /// The message of the first check that does not hold.
    fn failed(&self, program: &Program, checks: &[Check]) -> Try<Option<String>> {
        let mut interp = Interp::new(&program.graph, &self.inputs);
        for check in checks {
            match interp.eval(check.ok)? {
                Value::Array(Array { data: Data::Bool(ok), .. }) if ok == [true] => {}
                Value::Array(Array { data: Data::Bool(_), .. }) => return Ok(Some(check.message.clone())),
                other => return Err(format!("a check is {other:?}")),
            }
        }
        Ok(None)
    }
}

/// The outcome of a program for these arguments, by its source term. `None` if the numbers are too
/// large to be compared.
pub fn outcome(source: &Source, args: &[Arg]) -> Try<Option<Outcome>> {
    let program = parse(source)?;
    let mut meaning = Meaning::new(source, args, &program)?;
    if let Some(message) = meaning.failed(&program, &program.checks)? {
        return Ok(Some(Outcome::Panics(message)));
    }
    let roots = program.result.terms();
    let [root] = roots[..] else { return Err("one result".into()) };
    let value = Interp::new(&program.graph, &meaning.inputs).eval(root)?;
    if !tame(&value) {
        return Ok(None);
    }
    let (tangent, shape) = (value.tangents(), value.as_array().map(|a| a.shape.clone()).unwrap_or_default());
    // Reverse derivatives are computed one number at a time, by tangents along the unit directions.
    let weights = cotangent(&shape);
    let mut gradients = Vec::new();
    for &k in &meaning.active {
        let n = meaning.inputs[k].values().len();
        let all = meaning.inputs.clone();
        let mut gradient = Vec::new();
        for i in 0..n {
            for &other in &meaning.active {
                let size = all[other].values().len();
                let unit: Vec<f64> = (0..size).map(|j| f64::from(u8::from(other == k && i == j))).collect();
                meaning.inputs[other] = all[other].clone().with_tangent(&unit);
            }
            let value = Interp::new(&program.graph, &meaning.inputs).eval(root)?;
            gradient.push(dot(&weights, &value.tangents()));
        }
        meaning.inputs = all;
        gradients.push(gradient);
    }
    Ok(Some(Outcome::Gives(Expected { value: value.values(), gradients, tangent })))
}

fn tame(value: &Value) -> bool {
    value.duals().iter().all(|x| x.v.abs() < 1e4 && x.d.abs() < 1e4)
}

/// Whether every stage agrees with the source term, in value and derivatives. `None` if the numbers
/// are too large to be compared.
pub fn stages_agree(source: &Source) -> Try<Option<Outcome>> {
    let Some(outcome) = outcome(source, &source.args)? else { return Ok(None) };
    let tolerance = if source.single() { 2e-4 } else { 1e-10 };
    let program = parse(source)?;
    let mut meaning = Meaning::new(source, &source.args, &program)?;
    let mut prepared = pipeline::prepare(program, None);
    modes::count(prepared.refused.is_none());
    if prepared.refused.is_some() {
        return Ok(Some(outcome));
    }
    let failed = meaning.failed(&prepared.program, &prepared.program.checks)?;
    let expected = match &outcome {
        Outcome::Panics(message) => {
            // Another check may be the first to fail, but one fails.
            return failed.map(|_| Some(outcome.clone())).ok_or_else(|| format!("no panic after all: {message}"));
        }
        Outcome::Gives(expected) => expected,
    };
    if let Some(message) = failed {
        return Err(format!("panics as bulk operations: {message}"));
    }
    let at = |stage: &str, e: String| format!("{stage}: {e}");
    let root = prepared.program.result.terms()[0];
    let value = Interp::new(&prepared.program.graph, &meaning.inputs).eval(root)?;
    close_all(&value.values(), &expected.value, tolerance).map_err(|e| at("primal value", e))?;
    close_all(&value.tangents(), &expected.tangent, tolerance * 100.0).map_err(|e| at("primal tangent", e))?;

    let shape = value.as_array().map(|a| a.shape.clone()).unwrap_or_default();
    let (elem, real) = (prepared.program.graph.elem(root), value.clone());
    let Elem::Real(ty) = elem else { return Err("a real result".into()) };
    let constant = |xs: &[f64], shape: &[usize]| {
        Value::of(ty, shape, xs.iter().map(|&x| ad_oracle::interp::Dual::constant(x)).collect())
    };
    let inputs = meaning.inputs.clone();

    let routine = pipeline::derive(&mut prepared, &VJP, None);
    meaning.inputs.push(constant(&cotangent(&shape), &shape));
    let gradients = finish(&meaning, &prepared.program, &routine, &real, tolerance, "vjp")?;
    for (k, (found, wanted)) in gradients.iter().zip(&expected.gradients).enumerate() {
        close_all(&found.values(), wanted, tolerance * 100.0).map_err(|e| at(&format!("gradient {k}"), e))?;
    }
    if shape.is_empty() {
        let routine = pipeline::derive(&mut prepared, &GRAD, None);
        let gradients = finish(&meaning, &prepared.program, &routine, &real, tolerance, "grad")?;
        for (k, (found, wanted)) in gradients.iter().zip(&expected.gradients).enumerate() {
            close_all(&found.values(), wanted, tolerance * 100.0).map_err(|e| at(&format!("gradient {k}"), e))?;
        }
    }
    // The inputs of the cotangents remain. Those of the tangents follow.
    let routine = pipeline::derive(&mut prepared, &JVP, None);
    for (&k, direction) in meaning.active.iter().zip(directions(&source.args)) {
        let shape = inputs[k].as_array().map(|a| a.shape.clone()).unwrap_or_default();
        meaning.inputs.push(constant(&direction, &shape));
    }
    let tangent = finish(&meaning, &prepared.program, &routine, &real, tolerance, "jvp")?;
    close_all(&tangent[0].values(), &expected.tangent, tolerance * 100.0).map_err(|e| at("jvp", e))?;
    Ok(Some(outcome))
}

/// The results of a routine other than the value, which is compared separately.
fn finish(
    meaning: &Meaning,
    program: &Program,
    routine: &ad_core::program::Routine,
    value: &Value,
    tolerance: f64,
    stage: &str,
) -> Try<Vec<Value>> {
    if let Some(message) = meaning.failed(program, &routine.checks)? {
        return Err(format!("{stage}: panics: {message}"));
    }
    let terms = routine.result.terms();
    let mut values = Interp::new(&program.graph, &meaning.inputs).eval_all(&terms)?;
    let rest = values.split_off(1);
    close(&values[0], value, tolerance).map_err(|e| format!("{stage}: value: {e}"))?;
    Ok(rest)
}
