//! Solutions of equations: `fixed_point(f, x0, ..)` and `root(g, x0, ..)`. The iteration is a
//! function of the source language that is lowered like one of the user's, so its decisions are
//! those of `ad_runtime::implicit`, which defines the values. The solution is cut from
//! differentiation, and its derivative is that of Newton steps which are zero in value ([`step`]):
//! the implicit function theorem (Griewank and Walther, "Evaluating Derivatives" (2008), section
//! 15.1; Blondel et al., "Efficient and modular implicit differentiation" (2022)).
//!
//! This module must never differentiate: the Jacobian is a derivative inside of the function, which
//! `derivative::inner` in the middle makes.

use std::cell::OnceCell;

use syn::ItemFn;

use super::arith::axis_words;
use super::functions::stopped_term;
use super::inner_derivatives::is_unbounded;
use super::lower::Lower;
use super::recursion::is_first;
use super::table::{Call, On, Row, row};
use super::value::{Lowered, Value, Want};
use ad_ir::catalogue::{self, reached, wanted};
use ad_ir::descriptor::Recipe;
use ad_ir::diag::Poison;
use ad_ir::ir::{Elem, Node, Term};
use ad_ir::prim::structural::{Derivation, DerivedPart, Factorisation};
use ad_ir::prim::{Cmp, IntOp, Prim, Unary};

/// Functions that solve equations.
pub(super) const TABLE: &[Row] = &[
    row("fixed_point", On::Common, (4, 4), fixed_point, "x with f(x) = x, by iteration from x0")
        .called("|x_: f64| x_, 0.0_f64, 0.0_f64, 0"),
    row("try_fixed_point", On::Common, (4, 4), try_fixed_point, "`fixed_point`, or `None`")
        .called("|x_: f64| x_, 0.0_f64, 0.0_f64, 0"),
    row("root", On::Common, (4, 4), root, "x with g(x) = 0, by Newton's method from x0")
        .called("|x_: f64| x_, 0.0_f64, 0.0_f64, 0"),
    row("try_root", On::Common, (4, 4), try_root, "`root`, or `None`").called("|x_: f64| x_, 0.0_f64, 0.0_f64, 0"),
];

/// An equation for x.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Equation {
    /// `f(x) = x`.
    FixedPoint,
    /// `g(x) = 0`.
    Root,
}

/// The iterations, each parsed where it is used first.
#[derive(Default)]
pub(super) struct Routines([OnceCell<Option<ItemFn>>; 4]);

impl Routines {
    fn get(&self, equation: Equation, vector: bool) -> Option<&ItemFn> {
        let next = match (equation, vector) {
            (Equation::FixedPoint, _) => "f(x.clone())",
            (Equation::Root, false) => {
                "{
                    let value = f(x);
                    let moved = x + x.abs().max(1.0) * 0.0001220703125;
                    x - value / ((f(moved) - value) / (moved - x))
                }"
            }
            (Equation::Root, true) => {
                "{
                    let value = f(x.clone());
                    let rows = __differentiate::dsl::build1(n, |j| {
                        let moved = x[j] + x[j].abs().max(1.0) * 0.0001220703125;
                        let there = f(__differentiate::dsl::build1(n, |i| if i == j { moved } else { x[i] }));
                        __differentiate::dsl::build1(n, |i| (there[i] - value[i]) / (moved - x[j]))
                    });
                    let step = match __differentiate::linalg::try_solve(&rows.t(), &value) {
                        Some(step) => step,
                        None => __differentiate::dsl::build1(n, |i| (x[i] - x[i]) / (x[i] - x[i])),
                    };
                    __differentiate::dsl::build1(n, |i| x[i] - step[i])
                }"
            }
        };
        let (n, near) = match vector {
            false => ("0_usize", "(next - x).abs() <= tolerance"),
            true => ("x.len()", "(0..n).all(|i| (next[i] - x[i]).abs() <= tolerance)"),
        };
        let parse = || {
            let text = format!(
                "fn solution_of<F_, X_, T_>(f: F_, first: X_, tolerance: T_, steps: usize) -> (X_, bool) {{
                    let mut x = first;
                    let n = {n};
                    let mut converged = false;
                    for _ in 0..steps {{
                        let next = {next};
                        converged = {near};
                        x = next;
                        if converged {{
                            break;
                        }}
                    }}
                    (x, converged)
                }}"
            );
            syn::parse_str(&text).ok()
        };
        self.0[2 * usize::from(equation == Equation::Root) + usize::from(vector)].get_or_init(parse).as_ref()
    }
}

/// The factorisation of J, or J itself if x is one number; and whether J is regular.
struct Factored {
    jacobian: Term,
    packed: Option<Term>,
    regular: Term,
}

impl<'a> Lower<'a> {
    /// The number of times that the function may be differentiated.
    fn order_of_differentiation(&self) -> usize {
        let own = &self.input.sig().derivatives;
        // The derivatives of a function that is compiled on its own are those of its callers.
        let outer = if !own.is_empty() && own.iter().all(|d| is_first(d)) { 1 } else { 2 };
        outer + self.state.nesting.inner_order()
    }

    /// Lowers an expression that derivatives inside of the function differentiate.
    pub(super) fn differentiated_inside<R>(&mut self, recipe: Recipe, f: impl FnOnce(&mut Self) -> R) -> R {
        let second = matches!(recipe, Recipe::HessianProduct | Recipe::Hessian | Recipe::Laplacian);
        let outer = self.state.nesting.enter_derivative(1 + usize::from(second));
        let result = f(self);
        self.state.nesting.leave_derivative(outer);
        result
    }
}

/// `G(x)`, without checks: the iteration has made them at the points before the solution.
fn residual<'a>(me: &mut Lower<'a>, call: &Call<'a, '_>, equation: Equation, x: Term) -> Lowered<Term> {
    let (f, range) = call.arg(0)?;
    let value = me.trial(|me| {
        let value = me.apply(f, &[Value::Term(x)], range)?;
        me.term_as(&value, Want::Elem(me.g.elem(x)), range)
    })?;
    let shape = me.g.shape(x).to_vec();
    if me.g.rank(value) != shape.len() || me.g.elem(value) != me.g.elem(x) {
        let found = me.describe(&Value::Term(value));
        return Err(me.error(range, catalogue::expected(wanted::NUMBER_OR_VECTOR, &found)));
    }
    let value = me.g.recast(value, &shape);
    Ok(if equation == Equation::FixedPoint { me.g.sub(value, x) } else { value })
}

/// The Jacobian of G at x, which is cut from differentiation.
fn jacobian<'a>(me: &mut Lower<'a>, call: &Call<'a, '_>, equation: Equation, x: Term) -> Lowered<Term> {
    let (f, range) = call.arg(0)?;
    let ty = me.g.ty(x).clone();
    let over = me.g.placeholder(ty);
    let Ok(value) = residual(me, call, equation, over) else {
        // It has an error for a parameter that it does not have for the solution.
        me.apply(f, &[Value::Term(over)], range)?;
        return Err(Poison);
    };
    let whole = me.function_over((&[x], &[over]), &[value]);
    if me.has_in_body(whole, &|node| matches!(node, Node::Prim(Prim::Call(_), _))) {
        return Err(me.error(range, catalogue::solver_of_calls(call.name())));
    }
    if me.has_in_body(whole, &|node| matches!(node, Node::Scan(scan) if is_unbounded(&me.g, scan))) {
        return Err(me.error(range, catalogue::solver_without_a_bound(call.name())));
    }
    let row = me.g.proj(whole, 1);
    let (elem, mut sizes) = (me.g.elem(x), me.g.shape(x).to_vec());
    sizes.extend_from_within(..);
    let part = DerivedPart { derivation: Derivation::Jacobian, results: 1, active: 1, part: 0, elem };
    let args: Vec<Term> = std::iter::once(row).chain(sizes).collect();
    let jacobian = me.g.prim(Prim::Derived(part.into()), &args);
    Ok(me.g.prim(Prim::StopGradient, &[jacobian]))
}

fn factored(me: &mut Lower, jacobian: Term) -> Factored {
    let g = &mut me.g;
    let infinity = g.lit_like(jacobian, f64::INFINITY);
    let shape = g.shape(jacobian).to_vec();
    let Some(&n) = shape.first() else {
        let size = g.unary(Unary::Abs, jacobian);
        let zero = g.lit_like(jacobian, 0.0);
        let (above, below) = (g.compare(Cmp::Gt, size, zero), g.compare(Cmp::Lt, size, infinity));
        let regular = g.and(above, below);
        return Factored { jacobian, packed: None, regular };
    };
    let more = g.lit_usize(super::linalg::LU_ROWS);
    let rows = g.int(IntOp::Add, n, more);
    let packed = g.prim(Prim::Factor(Factorisation::Lu), &[jacobian, rows]);
    let none = g.lit_usize(0);
    let first = g.index(packed, &[none, none]);
    let infinity = g.lit_like(first, f64::INFINITY);
    let finite = g.compare(Cmp::Lt, first, infinity);
    let empty = g.compare(Cmp::Eq, n, none);
    let regular = g.or(empty, finite);
    Factored { jacobian, packed: Some(packed), regular }
}

/// One Newton step from x, whose value is x: `x - J^-1 (G(x, p) - stop_gradient(G(x, p)))`, where
/// `G(x, p) = 0` is the equation, p are the numbers that the closure captures, and J is the
/// Jacobian of G with respect to x. Each step is exact in one more order of derivatives, and J is
/// the same matrix in all of them.
fn step<'a>(me: &mut Lower<'a>, call: &Call<'a, '_>, equation: Equation, x: Term, by: &Factored) -> Lowered<Term> {
    let value = residual(me, call, equation, x)?;
    let g = &mut me.g;
    let constant = g.prim(Prim::StopGradient, &[value]);
    let change = g.sub(value, constant);
    let step = match by.packed {
        Some(packed) => g.prim(Prim::LuSolve(false), &[change, by.jacobian, packed]),
        None => g.div(change, by.jacobian),
    };
    // Where J is singular, the value is still that of the function, and the derivative is
    // infinite, like that of a square root at 0.
    let root = g.unary(Unary::Sqrt, change);
    let shape = g.shape(x).to_vec();
    let regular = g.broadcast(by.regular, &shape);
    let step = g.select(regular, step, root);
    Ok(g.sub(x, step))
}

/// The solution, and whether the iteration has converged.
fn solved<'a>(me: &mut Lower<'a>, call: &Call<'a, '_>, equation: Equation) -> Lowered<(Term, Term)> {
    let ((f, rf), (first, rx), (tolerance, rt), (steps, rs)) = (call.arg(0)?, call.arg(1)?, call.arg(2)?, call.arg(3)?);
    let first = me.real_term(first, rx)?;
    let Elem::Real(_) = me.g.elem(first) else { return Err(Poison) };
    let vector = match me.g.rank(first) {
        0 => false,
        1 => true,
        _ => {
            let found = me.describe(&Value::Term(first));
            return Err(me.error(rx, catalogue::expected(wanted::NUMBER_OR_VECTOR, &found)));
        }
    };
    if let [n] = *me.g.shape(first) {
        let value = me.trial(|me| {
            let value = me.apply(f, &[Value::Term(first)], rf)?;
            me.term_as(&value, Want::Elem(me.g.elem(first)), rf)
        });
        // An error in the function is reported by the iteration.
        if let Ok(value) = value
            && let [found] = *me.g.shape(value)
        {
            let words = [axis_words(call.text(1), 0, 1), format!("what `{}` gives", call.text(0))];
            me.equate(n, found, words, call.range)?;
        }
    }
    let tolerance = me.term_as(tolerance, Want::Elem(me.g.elem(first)), rt)?;
    let steps = me.usize(steps, rs)?;
    let routine = me.input.definitions().solvers.get(equation, vector).ok_or(Poison)?;
    let function = me.nested_function(routine)?;
    let args = [f.clone(), Value::Term(first), Value::Term(tolerance), Value::Term(steps)];
    let errors = me.state.diags.list().len();
    let found = me.apply(&function, &args, call.range);
    // The iteration calls the function at several places, so one mistake is found several times.
    me.state.diags.truncate(errors + 1);
    let found = found?;
    let Value::Tuple(parts) = &found else { return Err(Poison) };
    let [x, converged] = &parts[..] else { return Err(Poison) };
    let (x, converged) = (me.term(x, rf)?, me.boolean(converged, rf)?);
    let mut x = stopped_term(me, x);
    // An error of the function's type is reported here.
    residual(me, call, equation, x)?;
    let by = jacobian(me, call, equation, x)?;
    let by = factored(me, by);
    for _ in 0..me.order_of_differentiation() {
        x = step(me, call, equation, x, &by)?;
    }
    Ok((x, converged))
}

fn required<'a>(me: &mut Lower<'a>, call: &Call<'a, '_>, equation: Equation) -> Lowered<Value<'a>> {
    let (x, converged) = solved(me, call, equation)?;
    me.require(None, converged, &reached::of_function(call.name(), reached::NO_CONVERGENCE));
    Ok(Value::Term(x))
}

fn optional<'a>(me: &mut Lower<'a>, call: &Call<'a, '_>, equation: Equation) -> Lowered<Value<'a>> {
    let (x, converged) = solved(me, call, equation)?;
    Ok(Value::Option(Value::Term(x).into(), converged))
}

fn fixed_point<'a>(me: &mut Lower<'a>, call: &Call<'a, '_>) -> Lowered<Value<'a>> {
    required(me, call, Equation::FixedPoint)
}

fn try_fixed_point<'a>(me: &mut Lower<'a>, call: &Call<'a, '_>) -> Lowered<Value<'a>> {
    optional(me, call, Equation::FixedPoint)
}

fn root<'a>(me: &mut Lower<'a>, call: &Call<'a, '_>) -> Lowered<Value<'a>> {
    required(me, call, Equation::Root)
}

fn try_root<'a>(me: &mut Lower<'a>, call: &Call<'a, '_>) -> Lowered<Value<'a>> {
    optional(me, call, Equation::Root)
}
