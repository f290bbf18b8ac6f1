//! Every row of the scalar tables and every structural primitive, by example: the value,
//! derivatives forwards and in reverse, second derivatives, and the bulk-operation transform over
//! each argument. A variant of `Prim` without an example does not compile. A row without a correct
//! derivative fails.

mod common;

use ad_core::ir::valid::{normal_form, validate};
use ad_core::ir::{Elem, Graph, IntTy, Node, RealTy, Term};
use ad_core::passes::{bulk as bot, simplify, unroll};
use ad_core::prim::structural::{self, Example, Sample};
use ad_core::prim::{Binary, Cmp, IntOp, Prim, Reduce, Unary};
use ad_oracle::interp::{Interp, Value, tested, tested_at};
use ad_oracle::with_exact;
use common::compare::{close, close_all, dot};
use common::modes as ad;

/// A primitive applied to inputs, sizes and starts as literals.
struct Program {
    g: Graph,
    root: Term,
    inputs: Vec<Value>,
    active: Vec<u32>,
}

/// Different directions for the elements of different inputs.
fn direction(k: usize, n: usize) -> Vec<f64> {
    (0..n).map(|j| 0.7 - 0.31 * (k as f64) + 0.17 * (j as f64)).collect()
}

fn program(prim: &Prim, args: &[Value]) -> Program {
    let mut g = Graph::new();
    let data = prim.data_args(args.len());
    let (mut terms, mut inputs, mut active) = (Vec::new(), Vec::new(), Vec::new());
    for (k, value) in args.iter().enumerate() {
        let a = value.as_array().unwrap();
        if k < data {
            // Sizes are literals, so that those of different arguments are known to be equal.
            let shape: Vec<Term> = a.shape.iter().map(|&n| g.lit_usize(n)).collect();
            terms.push(g.add_input_shaped(a.elem, shape));
            if a.elem.is_real() {
                active.push(u32::try_from(inputs.len()).unwrap());
            }
            let n = a.data.len();
            inputs.push(value.clone().with_tangent(&direction(k, if a.elem.is_real() { n } else { 0 })));
        } else {
            terms.push(literal(&mut g, value));
        }
    }
    let root = g.prim(prim.clone(), &terms);
    Program { g, root, inputs, active }
}

fn literal(g: &mut Graph, value: &Value) -> Term {
    match &value.as_array().unwrap().data {
        ad_oracle::interp::Data::Int(xs) => g.lit_usize(usize::try_from(xs[0]).unwrap()),
        other => panic!("a size is an integer, not {other:?}"),
    }
}

impl Program {
    fn eval(&self, t: Term) -> Value {
        validate(&self.g, &[t]).unwrap();
        Interp::new(&self.g, &self.inputs).eval(t).unwrap()
    }

    /// Compares the oracle with central differences (Richardson), and forward and reverse mode with
    /// the oracle. With small arrays as scalars the elements and tangents are the same, and no
    /// operation on arrays remains.
    fn check_unrolled(mut self, name: &str) {
        let whole = self.eval(self.root);
        let exact = ad_core::analysis::once::<ad_core::analysis::decisions::Decisions>(&self.g, &[self.root]);
        let flat = unroll::unroll(&mut self.g, &[self.root], &mut with_exact(exact))[0];
        let parts = self.eval(flat);
        close(&parts, &whole, 1e-15).unwrap_or_else(|e| panic!("{name}, unrolled: {e}"));
        close_all(&parts.tangents(), &whole.tangents(), 1e-14).unwrap_or_else(|e| panic!("{name}, unrolled: {e}"));
        for t in self.g.reachable(&[flat]) {
            let Node::Prim(prim, _) = self.g.node(t) else { continue };
            let of_kernels = matches!(
                prim,
                Prim::Factor(_)
                    | Prim::TriangularSolve(_)
                    | Prim::LuSolve(_)
                    | Prim::LogDet
                    | Prim::CholeskyChange(_)
                    | Prim::RowIndex(_)
                    | Prim::Argsort(_)
            );
            let border =
                of_kernels || matches!(prim, Prim::Fourier(_) | Prim::Stack | Prim::Reshape | Prim::Replicate(_));
            assert!(border || self.g.rank(t) == 0, "{name}, unrolled, has a {}", prim.name());
        }
    }

    fn check_derivatives(&mut self, name: &str, with_differences: bool) {
        let oracle = self.eval(self.root);
        if oracle.duals().is_empty() && !oracle.as_array().is_some_and(|a| a.elem.is_real()) {
            return;
        }
        if with_differences {
            let at = |h: f64| {
                let moved: Vec<Value> = self
                    .inputs
                    .iter()
                    .map(|v| {
                        let Some(a) = v.as_array().filter(|a| a.elem.is_real()) else { return v.clone() };
                        let xs: Vec<f64> = v.duals().iter().map(|x| x.v + h * x.d).collect();
                        Value::reals(&a.shape, &xs)
                    })
                    .collect();
                Interp::new(&self.g, &moved).eval(self.root).unwrap().values()
            };
            let central = |h: f64| -> Vec<f64> { at(h).iter().zip(at(-h)).map(|(a, b)| (a - b) / (2.0 * h)).collect() };
            let extrapolated: Vec<f64> =
                central(1e-3).iter().zip(central(5e-4)).map(|(a, b)| (4.0 * b - a) / 3.0).collect();
            close_all(&oracle.tangents(), &extrapolated, 1e-8)
                .unwrap_or_else(|e| panic!("{name}: oracle and differences: {e}"));
        }

        let mut seeds = Vec::new();
        for k in self.active.clone() {
            let ds = self.inputs[k as usize].tangents();
            let seed = self.extra_input(k, &ds);
            seeds.push((k, seed));
        }
        let (primal, tangents) = ad::forward(&mut self.g, &[self.root], &seeds);
        close(&self.eval(primal[0]), &oracle, 0.0).unwrap_or_else(|e| panic!("{name}: primal: {e}"));
        let simple = simplify::simplify(&mut self.g, &tangents)[0];
        for t in [tangents[0], simple] {
            close_all(&self.eval(t).values(), &oracle.tangents(), 1e-12)
                .unwrap_or_else(|e| panic!("{name}: forward: {e}"));
        }

        let shape = oracle.as_array().unwrap().shape.clone();
        let u: Vec<f64> = (0..shape.iter().product::<usize>()).map(|k| 1.3 - 0.4 * k as f64).collect();
        let sizes = self.g.shape(self.root).to_vec();
        let elem = self.g.elem(self.root);
        let cotangent = self.g.add_input_shaped(elem, sizes);
        self.inputs.push(Value::reals(&shape, &u));
        let active = self.active.clone();
        let (_, gradients) = ad::reverse(&mut self.g, &[self.root], &[cotangent], &active);
        let simple = simplify::simplify(&mut self.g, &gradients);
        for gradients in [&gradients, &simple] {
            let along: f64 = active
                .iter()
                .zip(gradients)
                .map(|(&k, &t)| dot(&self.eval(t).values(), &self.inputs[k as usize].tangents()))
                .sum();
            close_all(&[along], &[dot(&u, &oracle.tangents())], 1e-12)
                .unwrap_or_else(|e| panic!("{name}: reverse: {e}"));
        }
    }

    fn extra_input(&mut self, like: u32, xs: &[f64]) -> Term {
        let t = self.g.mk(Node::Input(like));
        let (elem, shape) = (self.g.elem(t), self.g.shape(t).to_vec());
        let sizes = self.inputs[like as usize].as_array().unwrap().shape.clone();
        self.inputs.push(Value::reals(&sizes, xs));
        self.g.add_input_shaped(elem, shape)
    }

    /// The derivative as a separate program: its derivatives are compared with the oracle's.
    fn check_second_order(mut self, name: &str) {
        let (mut seeds, active) = (Vec::new(), self.active.clone());
        for &k in &active {
            let n = self.inputs[k as usize].values().len();
            let seed = self.extra_input(k, &vec![1.0; n]);
            seeds.push((k, seed));
        }
        let (_, tangents) = ad::forward(&mut self.g, &[self.root], &seeds);
        self.root = tangents[0];
        self.check_derivatives(&format!("derivative of {name}"), true);
    }

    /// One argument after another (and all of them) as the rows of a build.
    fn check_bot(prim: &Prim, args: &[Value], name: &str) {
        let data = prim.data_args(args.len());
        for batched in 1..1_usize << data {
            let mut g = Graph::new();
            let (i, mut terms, mut inputs) = (g.fresh(), Vec::new(), Vec::new());
            let var = g.mk(Node::Var(i));
            let two = g.lit_usize(2);
            for (k, value) in args.iter().enumerate() {
                let a = value.as_array().unwrap();
                if k >= data {
                    terms.push(literal(&mut g, value));
                    continue;
                }
                let mut shape: Vec<Term> = a.shape.iter().map(|&n| g.lit_usize(n)).collect();
                if batched >> k & 1 == 1 {
                    shape.insert(0, two);
                    let input = g.add_input_shaped(a.elem, shape);
                    terms.push(g.index(input, &[var]));
                    inputs.push(twice(value));
                } else {
                    terms.push(g.add_input_shaped(a.elem, shape));
                    inputs.push(value.clone());
                }
            }
            let body = g.prim(prim.clone(), &terms);
            let build = g.build(two, i, body);
            let bulk = bot::transform(&mut g, &[build], &mut Default::default())[0];
            let simple = simplify::simplify(&mut g, &[bulk])[0];
            let mut run = Interp::new(&g, &inputs);
            let expected = run.eval(build).unwrap();
            for t in [bulk, simple] {
                normal_form(&g, &[t]).unwrap();
                close(&run.eval(t).unwrap(), &expected, 1e-13).unwrap_or_else(|e| panic!("{name}: build of it: {e}"));
            }
        }
    }
}

/// The array and a similar one, as rows.
fn twice(value: &Value) -> Value {
    use ad_oracle::interp::Data;
    let a = value.as_array().unwrap();
    let shape: Vec<usize> = std::iter::once(2).chain(a.shape.iter().copied()).collect();
    match &a.data {
        Data::Real(xs) => {
            let ty = if let Elem::Real(ty) = a.elem { ty } else { RealTy::F64 };
            Value::of(ty, &shape, xs.iter().chain(xs.iter().rev()).copied().collect())
        }
        Data::Int(xs) => {
            let ty = if let Elem::Int(ty) = a.elem { ty } else { IntTy::Usize };
            let xs: Vec<i128> = xs.iter().chain(xs.iter().rev()).copied().collect();
            Value::ints(ty, &shape, &xs)
        }
        Data::Bool(xs) => {
            let xs: Vec<bool> = xs.iter().copied().chain(xs.iter().map(|x| !x)).collect();
            Value::bools(&shape, &xs)
        }
    }
}

#[test]
fn rows_of_one_argument() {
    ad::every_direction(|| {
        for &f in Unary::ALL {
            let (row, points) = (f.row(), tested(f).points);
            for &x in points {
                let mut p = program(&Prim::Unary(f), &[Value::scalar(x)]);
                p.check_derivatives(&format!("{}({x})", row.name), true);
                program(&Prim::Unary(f), &[Value::scalar(x)]).check_second_order(row.name);
            }
            Program::check_bot(&Prim::Unary(f), &[Value::reals(&[points.len()], points)], row.name);
        }
    });
}

#[test]
fn rows_of_two_arguments() {
    ad::every_direction(|| {
        for &f in Binary::ALL {
            let (row, points) = (f.row(), tested_at(f));
            for &(a, b) in points {
                let args = [Value::scalar(a), Value::scalar(b)];
                let mut p = program(&Prim::Binary(f), &args);
                p.check_derivatives(&format!("{}({a}, {b})", row.name), true);
                program(&Prim::Binary(f), &args).check_second_order(row.name);
            }
            let (xs, ys): (Vec<f64>, Vec<f64>) = points.iter().copied().unzip();
            let args = [Value::reals(&[xs.len()], &xs), Value::reals(&[ys.len()], &ys)];
            Program::check_bot(&Prim::Binary(f), &args, row.name);
        }
    });
}

/// Numbers from the literature, since the kernels and the oracle could share an error.
#[test]
fn special_functions_have_their_known_values() {
    let known: [(Unary, f64, f64); 14] = [
        (Unary::Erf, 0.5, 0.520_499_877_813_046_5),
        (Unary::Erf, -1.0, -0.842_700_792_949_714_9),
        (Unary::Erf, 3.0, 0.999_977_909_503_001_4),
        (Unary::Erfc, 2.0, 4.677_734_981_047_266e-3),
        (Unary::Erfc, 5.0, 1.537_459_794_428_034_8e-12),
        (Unary::LnGamma, 0.5, 0.572_364_942_924_700_1),
        (Unary::LnGamma, 10.0, 12.801_827_480_081_469),
        (Unary::Digamma, 1.0, -0.577_215_664_901_532_9),
        (Unary::Digamma, 0.25, -4.227_453_533_376_265),
        (Unary::Trigamma, 1.0, 1.644_934_066_848_226_4),
        (Unary::Trigamma, 0.5, 4.934_802_200_544_679),
        (Unary::Tetragamma, 1.0, -2.404_113_806_319_188_6),
        (Unary::Tetragamma, 0.5, -16.828_796_644_234_32),
        (Unary::Sigmoid, -40.0, 4.248_354_255_291_589e-18),
    ];
    for (f, x, y) in known {
        let p = program(&Prim::Unary(f), &[Value::scalar(x)]);
        let value = p.eval(p.root).values()[0];
        assert!(((value - y) / y).abs() < 2e-13, "{}({x}) = {value}, not {y}", f.row().name);
    }
}

/// The conventions at the points where the derivative is not defined: the oracle and both modes
/// follow the guide.
#[test]
fn conventions() {
    ad::every_direction(|| {
        let unary: [(Unary, f64, f64); 12] = [
            (Unary::Abs, 0.0, 0.0),
            (Unary::Relu, 0.0, 0.0),
            (Unary::Signum, 0.0, 0.0),
            (Unary::Floor, 1.0, 0.0),
            (Unary::Ceil, 1.0, 0.0),
            (Unary::Round, 0.5, 0.0),
            (Unary::Trunc, 0.0, 0.0),
            (Unary::Fract, 1.0, 1.0),
            (Unary::Sqrt, 0.0, f64::INFINITY),
            (Unary::Cbrt, 0.0, f64::INFINITY),
            (Unary::Relu, f64::NAN, 0.0),
            (Unary::Softplus, 0.0, 0.5),
        ];
        for (f, x, slope) in unary {
            check_slopes(&Prim::Unary(f), &[x], &[slope]);
        }
        let nan = f64::NAN;
        let binary: [(Binary, f64, f64, [f64; 2]); 14] = [
            (Binary::Max, 1.0, 1.0, [1.0, 0.0]),
            (Binary::Min, 1.0, 1.0, [1.0, 0.0]),
            (Binary::Max, 0.0, -0.0, [1.0, 0.0]),
            (Binary::Max, nan, 1.0, [0.0, 1.0]),
            (Binary::Max, 1.0, nan, [1.0, 0.0]),
            (Binary::Min, nan, 1.0, [0.0, 1.0]),
            (Binary::Min, 1.0, nan, [1.0, 0.0]),
            (Binary::Max, nan, nan, [0.0, 0.0]),
            (Binary::Hypot, 0.0, 0.0, [0.0, 0.0]),
            (Binary::Atan2, 0.0, 0.0, [0.0, 0.0]),
            (Binary::Pow, 0.0, 2.0, [0.0, 0.0]),
            (Binary::Pow, 2.0, 0.0, [0.0, std::f64::consts::LN_2]),
            (Binary::Pow, 0.0, 0.0, [0.0, f64::NEG_INFINITY]),
            (Binary::Copysign, 0.0, -1.0, [0.0, 0.0]),
        ];
        for (f, a, b, slopes) in binary {
            check_slopes(&Prim::Binary(f), &[a, b], &slopes);
        }
    });
}

/// The partial derivatives of a scalar primitive: by the oracle, forwards and in reverse.
fn check_slopes(prim: &Prim, xs: &[f64], slopes: &[f64]) {
    for (k, &slope) in slopes.iter().enumerate() {
        let args: Vec<Value> = xs.iter().map(|&x| Value::scalar(x)).collect();
        let mut p = program(prim, &args);
        for (j, &x) in xs.iter().enumerate() {
            p.inputs[j] = Value::scalar(x).with_tangent(&[f64::from(j == k)]);
        }
        let oracle = p.eval(p.root).tangents()[0];
        let one = p.g.lit_real(RealTy::F64, 1.0);
        let k = u32::try_from(k).unwrap();
        let forward = ad::forward(&mut p.g, &[p.root], &[(k, one)]).1[0];
        let cotangent = p.extra_input(k, &[1.0]);
        let reverse = ad::reverse(&mut p.g, &[p.root], &[cotangent], &[k]).1[0];
        let simple = simplify::simplify(&mut p.g, &[forward, reverse]);
        let modes = [
            ("forward", forward),
            ("reverse", reverse),
            ("forward, simplified", simple[0]),
            ("reverse, simplified", simple[1]),
        ];
        for (who, d) in [("oracle", oracle)].into_iter().chain(modes.map(|(who, t)| (who, p.eval(t).values()[0]))) {
            assert!(d == slope, "{}{xs:?}, argument {k}, {who}: {d}, not {slope}", prim.name());
        }
    }
}

/// "infinite; 0 where the incoming cotangent is 0", and no NaN from the branch of a selection that
/// is not taken.
#[test]
fn a_zero_cotangent_stays_zero() {
    ad::every_direction(|| {
        for f in [Unary::Sqrt, Unary::Cbrt, Unary::Ln, Unary::Recip] {
            let mut g = Graph::new();
            let x = g.add_input(Elem::F64, 0);
            let y = g.unary(f, x);
            let zero = g.lit_real(RealTy::F64, 0.0);
            let positive = g.compare(Cmp::Gt, x, zero);
            let masked = g.select(positive, y, x);
            let lazy = g.cond(positive, y, x);
            for root in [masked, lazy] {
                let one = g.lit_real(RealTy::F64, 1.0);
                let gradient = ad::reverse(&mut g, &[root], &[one], &[0]).1[0];
                let forward = ad::forward(&mut g, &[root], &[(0, one)]).1[0];
                let simple = simplify::simplify(&mut g, &[gradient, forward]);
                for t in [gradient, forward, simple[0], simple[1]] {
                    let value = Interp::new(&g, &[Value::scalar(0.0)]).eval(t).unwrap().values()[0];
                    assert!(value == 1.0, "{}: {value}", f.row().name);
                }
            }
        }
    });
}

/// A product that absorbs zero also absorbs zero in its own derivative, since the derivative of the
/// other factor may be infinite or NaN there.
#[test]
fn absorbing_products_differentiate_to_absorbing_products() {
    ad::every_mode(|| {
        let mut g = Graph::new();
        let (a, b) = (g.add_input(Elem::F64, 0), g.add_input(Elem::F64, 0));
        let root = g.binary(Binary::MulZero, a, b);
        let (da, db) = (g.add_input(Elem::F64, 0), g.add_input(Elem::F64, 0));
        let tangent = ad::forward(&mut g, &[root], &[(0, da), (1, db)]).1[0];
        let simple = simplify::simplify(&mut g, &[tangent])[0];
        for (b, db) in [(f64::NAN, f64::NAN), (f64::INFINITY, f64::INFINITY), (2.0, f64::NAN)] {
            let inputs = [0.0, b, 0.0, db].map(Value::scalar);
            for t in [tangent, simple] {
                assert_eq!(Interp::new(&g, &inputs).eval(t).unwrap().values(), [0.0]);
            }
        }
    });
}

/// A batched operation of a build over no indices has no effect: its result is not NaN.
#[test]
fn an_empty_build_contributes_nothing() {
    ad::every_direction(|| {
        for f in [Unary::Ln, Unary::Recip, Unary::Sqrt, Unary::Log2] {
            let mut g = Graph::new();
            let (x, v) = (g.add_input(Elem::F64, 0), g.add_input(Elem::F64, 1));
            let n = g.shape(v)[0];
            let i = g.fresh();
            let body = g.unary(f, x);
            let build = g.build(n, i, body);
            let sum = g.sum_all(build);
            let roots = bot::transform(&mut g, &[sum], &mut Default::default());
            let one = g.lit_real(RealTy::F64, 1.0);
            for roots in [simplify::simplify(&mut g, &roots), roots] {
                let gradient = ad::reverse(&mut g, &roots, &[one], &[0]).1[0];
                let simple = simplify::simplify(&mut g, &[gradient])[0];
                for t in [gradient, simple] {
                    let inputs = [Value::scalar(0.0), Value::reals(&[0], &[])];
                    let value = Interp::new(&g, &inputs).eval(t).unwrap().values()[0];
                    assert!(value == 0.0, "{}: {value}", f.row().name);
                }
            }
        }
    });
}

fn matrix() -> Value {
    Value::reals(&[2, 3], &[0.5, -1.0, 2.0, 1.5, 0.3, -0.7])
}

fn ints(xs: &[i128]) -> Value {
    Value::ints(IntTy::I32, &[xs.len()], xs)
}

/// The next elementwise primitive, with parameters for its example. Structural ones have examples
/// in their family's file.
fn successor(prim: &Prim) -> Option<Prim> {
    Some(match prim {
        Prim::Unary(_) => Prim::Binary(Binary::Atan2),
        Prim::Binary(_) => Prim::PowI,
        Prim::PowI => Prim::Compare(Cmp::Le),
        Prim::Compare(_) => Prim::Int(IntOp::ALL[0]),
        Prim::Int(op) => match IntOp::ALL.iter().skip_while(|o| *o != op).nth(1) {
            Some(&next) => Prim::Int(next),
            None => Prim::IntNeg,
        },
        Prim::IntNeg => Prim::TotalOrder,
        Prim::TotalOrder => Prim::Not,
        Prim::Not => Prim::And,
        Prim::And => Prim::Or,
        Prim::Or => Prim::Select,
        Prim::Select => Prim::Cast(Elem::Real(RealTy::F64)),
        Prim::Cast(_) => Prim::StopGradient,
        Prim::StopGradient => Prim::Fused,
        Prim::Fused => Prim::RelaxedExact,
        Prim::RelaxedExact => Prim::UnknownOrder,
        _ => return None,
    })
}

/// Arguments and the result, computed by hand.
fn example(prim: &Prim) -> (Vec<Value>, Value) {
    let m = matrix();
    match prim {
        Prim::Unary(_) => (vec![Value::reals(&[2], &[0.5, 1.5])], Value::reals(&[2], &[0.5_f64.sin(), 1.5_f64.sin()])),
        Prim::Binary(_) => {
            (vec![Value::scalar(1.0), Value::scalar(-1.0)], Value::scalar(3.0 * std::f64::consts::FRAC_PI_4))
        }
        Prim::PowI => (
            vec![Value::reals(&[4], &[2.0, -1.5, 3.0, 0.5]), ints(&[3, 2, 0, -1])],
            Value::reals(&[4], &[8.0, 2.25, 1.0, 2.0]),
        ),
        Prim::Compare(_) => (
            vec![Value::reals(&[3], &[1.0, 2.0, 3.0]), Value::reals(&[3], &[2.0, 2.0, 2.0])],
            Value::bools(&[3], &[true, true, false]),
        ),
        Prim::Int(op) => {
            let (max, min) = (i128::from(i32::MAX), i128::from(i32::MIN));
            let (a, b, c) = match op {
                IntOp::Add => ([7, -7, max, min], [4, 4, 1, -1], [11, -3, max, min]),
                IntOp::Sub => ([7, -7, max, min], [4, 4, -1, 1], [3, -11, max, min]),
                IntOp::Mul => ([7, -7, max, min], [4, 4, 2, 2], [28, -28, max, min]),
                IntOp::Div => ([7, -7, 5, min], [4, 4, 0, -1], [1, -1, 5, max]),
                IntOp::Rem => ([7, -7, 5, 6], [4, 4, 0, -4], [3, -3, 5, 2]),
                IntOp::Min => ([7, -7, max, 0], [4, 4, min, 0], [4, -7, min, 0]),
                IntOp::Max => ([7, -7, max, 0], [4, 4, min, 0], [7, 4, max, 0]),
                IntOp::BitAnd => ([6, -1, 12, min], [3, 5, 0, max], [2, 5, 0, 0]),
                IntOp::BitOr => ([6, -2, 12, min], [3, 1, 0, max], [7, -1, 12, -1]),
                IntOp::BitXor => ([6, -1, 12, min], [3, 5, 12, -1], [5, -6, 0, max]),
                IntOp::Shl => ([3, -3, 1, 9], [4, 1, 31, 32], [48, -6, min, 9]),
                IntOp::Shr => ([48, -5, min, 9], [4, 1, 31, -1], [3, -3, -1, 9]),
                IntOp::Pow => ([3, -2, -2, 10], [4, 31, 32, 10], [81, min, max, max]),
            };
            (vec![ints(&a), ints(&b)], ints(&c))
        }
        Prim::IntNeg => (vec![ints(&[3, -4, i128::from(i32::MIN)])], ints(&[-3, 4, i128::from(i32::MAX)])),
        Prim::TotalOrder => (
            vec![Value::reals(&[4], &[0.0, -0.0, 5e-324, -f64::INFINITY])],
            Value::ints(IntTy::I64, &[4], &[0, -1, 1, -1 - (0x7ff << 52)]),
        ),
        Prim::Not => (vec![Value::bools(&[2], &[true, false])], Value::bools(&[2], &[false, true])),
        Prim::And | Prim::Or => {
            let (a, b) = ([true, true, false, false], [true, false, true, false]);
            let c: Vec<bool> =
                a.iter().zip(b).map(|(&a, b)| if *prim == Prim::And { a && b } else { a || b }).collect();
            (vec![Value::bools(&[4], &a), Value::bools(&[4], &b)], Value::bools(&[4], &c))
        }
        Prim::Select => (
            vec![Value::bools(&[2], &[true, false]), Value::reals(&[2], &[1.0, 2.0]), Value::reals(&[2], &[3.0, 4.0])],
            Value::reals(&[2], &[1.0, 4.0]),
        ),
        Prim::Cast(_) => (vec![ints(&[3, -2])], Value::reals(&[2], &[3.0, -2.0])),
        Prim::StopGradient => (vec![m.clone()], m),
        Prim::Fused => (
            vec![Value::reals(&[2], &[1.5, 2.0]), Value::reals(&[2], &[2.0, 3.0]), Value::reals(&[2], &[1.0, -6.0])],
            Value::reals(&[2], &[4.0, 0.0]),
        ),
        Prim::RelaxedExact => (vec![m.clone(), m.clone()], m),
        Prim::UnknownOrder => (vec![m.clone()], m),
        structural => panic!("{} has its example in its family's file", structural.name()),
    }
}

#[test]
fn every_elementwise_primitive_has_an_example() {
    ad::every_direction(|| {
        let mut next = Some(Prim::Unary(Unary::Sin));
        while let Some(prim) = next {
            let (args, expected) = example(&prim);
            check_example(&prim, &args, &expected);
            next = successor(&prim);
        }
    });
}

#[test]
fn every_structural_primitive_has_an_example() {
    ad::every_direction(|| {
        for Example { prim, args, result } in structural::examples() {
            let args: Vec<Value> = args.iter().map(value).collect();
            check_example(&prim, &args, &value(&result));
        }
    });
}

/// A value in an example of a family.
fn value(sample: &Sample) -> Value {
    let whole = |xs: &[usize]| -> Vec<i128> { xs.iter().map(|&x| x as i128).collect() };
    match *sample {
        Sample::Reals(shape, xs) => Value::reals(shape, xs),
        Sample::Bools(shape, xs) => Value::bools(shape, xs),
        Sample::Indices(shape, xs) => Value::ints(IntTy::Usize, shape, &whole(xs)),
        Sample::Size(n) => Value::ints(IntTy::Usize, &[], &whole(&[n])),
    }
}

fn check_example(prim: &Prim, args: &[Value], expected: &Value) {
    let name = prim.name();
    let mut p = program(prim, args);
    close(&p.eval(p.root), expected, 1e-15).unwrap_or_else(|e| panic!("{name}: {e}"));
    // A reduction in a fixed order has no derivative.
    let differences = !matches!(prim, Prim::StopGradient | Prim::Fused | Prim::RelaxedExact)
        && !matches!(prim, Prim::Reduce(op, _) if op.keeps_order());
    p.check_derivatives(&name, differences);
    if !p.active.is_empty() && expected.as_array().is_some_and(|a| a.elem.is_real()) && differences {
        program(prim, args).check_second_order(&name);
    }
    // One form of a pair remains if no decision reads it.
    if *prim != Prim::RelaxedExact {
        Program::check_bot(prim, args, &name);
    }
    // The others have separate tests, since their bits matter.
    if !matches!(prim, Prim::Reduce(op, _) if op.keeps_order()) {
        program(prim, args).check_unrolled(&name);
    }
}

/// Edge cases of the reductions and casts that no derivative tests.
#[test]
fn reductions_and_casts_at_the_edges() {
    let nan = f64::NAN;
    let check = |prim: Prim, arg: Value, expected: Value| {
        let p = program(&prim, &[arg]);
        close(&p.eval(p.root), &expected, 0.0).unwrap_or_else(|e| panic!("{}: {e}", prim.name()));
        let mut p = p;
        let flat = unroll::unroll(&mut p.g, &[p.root], &mut Default::default())[0];
        close(&p.eval(flat), &expected, 0.0).unwrap_or_else(|e| panic!("{}, unrolled: {e}", prim.name()));
    };
    let empty = Value::reals(&[0], &[]);
    check(Prim::Reduce(Reduce::Max, 1), empty.clone(), Value::scalar(f64::NEG_INFINITY));
    check(Prim::Reduce(Reduce::Min, 1), empty.clone(), Value::scalar(f64::INFINITY));
    check(Prim::Reduce(Reduce::ArgMax, 1), empty.clone(), Value::ints(IntTy::Usize, &[], &[0]));
    check(Prim::Sum([0].into()), empty, Value::scalar(0.0));
    check(Prim::Reduce(Reduce::Max, 1), Value::reals(&[3], &[nan, 2.0, 1.0]), Value::scalar(2.0));
    check(Prim::Reduce(Reduce::Max, 1), Value::reals(&[2], &[nan, nan]), Value::scalar(nan));
    check(
        Prim::Reduce(Reduce::ArgMax, 1),
        Value::reals(&[4], &[nan, 2.0, 2.0, 1.0]),
        Value::ints(IntTy::Usize, &[], &[1]),
    );
    check(
        Prim::Cast(Elem::Int(IntTy::U8)),
        Value::reals(&[3], &[300.0, -1.0, nan]),
        Value::ints(IntTy::U8, &[3], &[255, 0, 0]),
    );
    check(Prim::Cast(Elem::Int(IntTy::U8)), ints(&[300, -1]), Value::ints(IntTy::U8, &[2], &[44, 255]));
    check(Prim::Cast(Elem::USIZE), ints(&[-1]), Value::ints(IntTy::Usize, &[1], &[i128::from(u64::MAX)]));
    check(Prim::Cast(Elem::USIZE), Value::bools(&[2], &[true, false]), Value::ints(IntTy::Usize, &[2], &[1, 0]));
    let tenth = Value::of(RealTy::F32, &[], vec![ad_oracle::interp::Dual::constant(f64::from(0.1_f32))]);
    check(Prim::Cast(Elem::Real(RealTy::F32)), Value::scalar(0.1), tenth);
}

/// Sums and products in a fixed order, as arrays and as scalars, compared with std and with the
/// order written out.
#[test]
fn orders_keep_their_bits() {
    let mut state = 7_u64;
    let mut next = || {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (state >> 11) as f64 / (1_u64 << 53) as f64 * 2.2 - 0.6
    };
    let parts = |x: &[f64], f: fn(f64, f64) -> f64, start: f64| {
        let mut p = [start; 8];
        for c in x.chunks_exact(8) {
            (0..8).for_each(|k| p[k] = f(p[k], c[k]));
        }
        let all = (0..4).fold(start, |all, k| f(all, f(p[k], p[k + 4])));
        x.chunks_exact(8).remainder().iter().fold(all, |all, &v| f(all, v))
    };
    for n in 0..40 {
        let x: Vec<f64> = (0..n).map(|_| next()).collect();
        for (op, expected) in [
            (Reduce::InOrder, x.iter().sum::<f64>()),
            (Reduce::FromZero, x.iter().fold(0.0, |a, b| a + b)),
            (Reduce::Unrolled, parts(&x, |a, b| a + b, 0.0)),
            (Reduce::Factors, parts(&x, |a, b| a * b, 1.0)),
            (Reduce::Fours, {
                let fours = x.chunks_exact(4).fold(0.0, |s, c| s + ((c[0] + c[1]) + (c[2] + c[3])));
                x.chunks_exact(4).remainder().iter().fold(fours, |s, v| s + v)
            }),
            (Reduce::Lanes, if n < 16 { x.iter().fold(0.0, |a, b| a + b) } else { f64::NAN }),
            (Reduce::Squares, if n < 16 { x.iter().fold(0.0, |a, b| a + b * b) } else { f64::NAN }),
        ] {
            let mut p = program(&Prim::Reduce(op, 1), &[Value::reals(&[n], &x)]);
            let found = p.eval(p.root).values()[0];
            assert!(expected.is_nan() || found.to_bits() == expected.to_bits(), "{op:?} of {n}: {found}, {expected}");
            let flat = unroll::unroll(&mut p.g, &[p.root], &mut Default::default())[0];
            assert_eq!(p.eval(flat).values()[0].to_bits(), found.to_bits(), "{op:?} of {n}, unrolled");
        }
    }
}
