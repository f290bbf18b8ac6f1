//! The scalar functions: one line each, and everything about a function is on its line:
//! printed name, value, partial derivatives given the arguments and the result, how it is emitted, where it is tested.
//! A test walks these tables, so that a row without a correct derivative fails.
//! Partial derivatives are core terms themselves, so they can be differentiated again.

use crate::ir::{Graph, Term};

/// How generated code calls a scalar function.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Emit {
    /// `x.name()`, `a.name(b)`: a method of the primitive type.
    Method(&'static str),
    /// `kernel::name(x)`: a function of `ad-runtime`.
    Kernel(&'static str),
    /// An infix operator, or a prefix one for unary functions.
    Op(&'static str),
}

/// How the tangent is scaled by a partial derivative.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Scaling {
    /// A product.
    Plain,
    /// A product that is 0 where the incoming value is 0, whatever the factor: the partial may be infinite
    /// at a point where the convention is that a zero cotangent stays zero.
    Absorbing,
}

type Partial1 = fn(&mut Graph, x: Term, y: Term) -> Term;
type Partial2 = fn(&mut Graph, a: Term, b: Term, y: Term) -> Term;

/// A row of the table of functions of one real argument.
#[derive(Debug)]
pub struct UnaryRow {
    /// Printed name.
    pub name: &'static str,
    /// Reference value.
    pub eval: fn(f64) -> f64,
    /// The derivative, given the argument and the result; `None`: zero everywhere (by the conventions table).
    pub partial: Option<Partial1>,
    /// How the tangent is scaled.
    pub scaling: Scaling,
    /// How it is emitted.
    pub emit: Emit,
    /// Whether computing it twice costs more than storing it.
    pub dear: bool,
    /// Points at which value and derivative are tested.
    pub points: &'static [f64],
}

/// A row of the table of functions of two real arguments.
#[derive(Debug)]
pub struct BinaryRow {
    /// Printed name.
    pub name: &'static str,
    /// Reference value.
    pub eval: fn(f64, f64) -> f64,
    /// The partial derivatives; `None`: zero everywhere.
    pub partials: [Option<Partial2>; 2],
    /// How the tangents are scaled.
    pub scaling: Scaling,
    /// How it is emitted.
    pub emit: Emit,
    /// Whether computing it twice costs more than storing it.
    pub dear: bool,
    /// Points at which value and derivatives are tested.
    pub points: &'static [(f64, f64)],
}

macro_rules! unary_prims {
    ($($(#[$doc:meta])* $variant:ident $name:literal $eval:expr, $partial:expr, $scaling:ident, $emit:expr, $dear:literal, $points:expr;)*) => {
        /// A function of one real argument, elementwise.
        #[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Debug)]
        #[allow(missing_docs, reason = "each is the function of its name")]
        pub enum Unary { $($(#[$doc])* $variant),* }

        impl Unary {
            /// Every row, in the order of the table.
            pub const ALL: &[Unary] = &[$(Unary::$variant),*];

            /// The function's row.
            #[must_use]
            pub fn row(self) -> &'static UnaryRow {
                match self {
                    $(Unary::$variant => {
                        static ROW: UnaryRow = UnaryRow {
                            name: $name, eval: $eval, partial: $partial, scaling: Scaling::$scaling,
                            emit: $emit, dear: $dear, points: $points,
                        };
                        &ROW
                    })*
                }
            }
        }
    };
}

macro_rules! binary_prims {
    ($($(#[$doc:meta])* $variant:ident $name:literal $eval:expr, [$pa:expr, $pb:expr], $scaling:ident, $emit:expr, $dear:literal, $points:expr;)*) => {
        /// A function of two real arguments, elementwise.
        #[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Debug)]
        #[allow(missing_docs, reason = "each is the function of its name")]
        pub enum Binary { $($(#[$doc])* $variant),* }

        impl Binary {
            /// Every row, in the order of the table.
            pub const ALL: &[Binary] = &[$(Binary::$variant),*];

            /// The function's row.
            #[must_use]
            pub fn row(self) -> &'static BinaryRow {
                match self {
                    $(Binary::$variant => {
                        static ROW: BinaryRow = BinaryRow {
                            name: $name, eval: $eval, partials: [$pa, $pb], scaling: Scaling::$scaling,
                            emit: $emit, dear: $dear, points: $points,
                        };
                        &ROW
                    })*
                }
            }
        }
    };
}

use Emit::{Kernel, Method, Op};
const ALL: &[f64] = &[-2.3, -0.7, 0.4, 1.9];
const POS: &[f64] = &[0.2, 0.9, 1.7, 6.0];
const UNIT: &[f64] = &[-0.8, -0.3, 0.2, 0.7];

unary_prims! {
    Neg     "-"       |x| -x,              Some(|g, x, _| g.lit_like(x, -1.0)), Plain, Op("-"), false, ALL;
    Recip   "recip"   f64::recip,          Some(|g, _, y| { let q = g.mul(y, y); g.neg(q) }), Plain, Method("recip"), false, &[-2.0, 0.5, 3.0];
    Exp     "exp"     f64::exp,            Some(|_, _, y| y), Plain, Method("exp"), true, ALL;
    Exp2    "exp2"    f64::exp2,           Some(|g, x, y| { let c = g.lit_like(x, std::f64::consts::LN_2); g.mul(y, c) }), Plain, Method("exp2"), true, ALL;
    ExpM1   "exp_m1"  f64::exp_m1,         Some(|g, x, y| { let one = g.lit_like(x, 1.0); g.add(y, one) }), Plain, Method("exp_m1"), true, ALL;
    Ln      "ln"      f64::ln,             Some(|g, x, _| g.recip(x)), Plain, Method("ln"), true, POS;
    Ln1p    "ln_1p"   f64::ln_1p,          Some(|g, x, _| { let one = g.lit_like(x, 1.0); let q = g.add(x, one); g.recip(q) }), Plain, Method("ln_1p"), true, &[-0.6, 0.3, 4.0];
    Log2    "log2"    f64::log2,           Some(|g, x, _| { let c = g.lit_like(x, std::f64::consts::LN_2); let q = g.mul(x, c); g.recip(q) }), Plain, Method("log2"), true, POS;
    Log10   "log10"   f64::log10,          Some(|g, x, _| { let c = g.lit_like(x, std::f64::consts::LN_10); let q = g.mul(x, c); g.recip(q) }), Plain, Method("log10"), true, POS;
    Sqrt    "sqrt"    f64::sqrt,           Some(|g, x, y| { let half = g.lit_like(x, 0.5); g.div(half, y) }), Absorbing, Method("sqrt"), true, POS;
    Cbrt    "cbrt"    f64::cbrt,           Some(|g, x, y| { let third = g.lit_like(x, 1.0 / 3.0); let q = g.mul(y, y); g.div(third, q) }), Absorbing, Method("cbrt"), true, &[-2.0, 0.3, 5.0];
    Sin     "sin"     f64::sin,            Some(|g, x, _| g.unary(Unary::Cos, x)), Plain, Method("sin"), true, ALL;
    Cos     "cos"     f64::cos,            Some(|g, x, _| { let s = g.unary(Unary::Sin, x); g.neg(s) }), Plain, Method("cos"), true, ALL;
    Tan     "tan"     f64::tan,            Some(|g, x, y| { let one = g.lit_like(x, 1.0); let q = g.mul(y, y); g.add(one, q) }), Plain, Method("tan"), true, &[-1.2, 0.3, 1.1];
    Asin    "asin"    f64::asin,           Some(|g, x, _| { let q = one_minus_square(g, x); let s = g.unary(Unary::Sqrt, q); g.recip(s) }), Plain, Method("asin"), true, UNIT;
    Acos    "acos"    f64::acos,           Some(|g, x, _| { let q = one_minus_square(g, x); let s = g.unary(Unary::Sqrt, q); let r = g.recip(s); g.neg(r) }), Plain, Method("acos"), true, UNIT;
    Atan    "atan"    f64::atan,           Some(|g, x, _| { let one = g.lit_like(x, 1.0); let q = g.mul(x, x); let d = g.add(one, q); g.recip(d) }), Plain, Method("atan"), true, ALL;
    Sinh    "sinh"    f64::sinh,           Some(|g, x, _| g.unary(Unary::Cosh, x)), Plain, Method("sinh"), true, ALL;
    Cosh    "cosh"    f64::cosh,           Some(|g, x, _| g.unary(Unary::Sinh, x)), Plain, Method("cosh"), true, ALL;
    Tanh    "tanh"    f64::tanh,           Some(|g, _, y| one_minus_square(g, y)), Plain, Method("tanh"), true, ALL;
    Asinh   "asinh"   f64::asinh,          Some(|g, x, _| { let one = g.lit_like(x, 1.0); let q = g.mul(x, x); let d = g.add(q, one); let s = g.unary(Unary::Sqrt, d); g.recip(s) }), Plain, Method("asinh"), true, ALL;
    Acosh   "acosh"   f64::acosh,          Some(|g, x, _| { let one = g.lit_like(x, 1.0); let q = g.mul(x, x); let d = g.sub(q, one); let s = g.unary(Unary::Sqrt, d); g.recip(s) }), Plain, Method("acosh"), true, &[1.2, 2.0, 5.0];
    Atanh   "atanh"   f64::atanh,          Some(|g, x, _| { let q = one_minus_square(g, x); g.recip(q) }), Plain, Method("atanh"), true, UNIT;
    Abs     "abs"     f64::abs,            Some(|g, x, _| sign_or_zero(g, x)), Plain, Method("abs"), false, &[-2.0, -0.5, 0.7, 3.0];
    /// Derivative 0 (conventions table).
    Signum  "signum"  f64::signum,         None, Plain, Method("signum"), false, &[-1.5, 0.5];
    Floor   "floor"   f64::floor,          None, Plain, Method("floor"), false, &[-1.5, 0.5];
    Ceil    "ceil"    f64::ceil,           None, Plain, Method("ceil"), false, &[-1.5, 0.5];
    Round   "round"   f64::round,          None, Plain, Method("round"), false, &[-1.3, 0.6];
    Trunc   "trunc"   f64::trunc,          None, Plain, Method("trunc"), false, &[-1.3, 0.6];
    /// Derivative 1 (conventions table).
    Fract   "fract"   f64::fract,          Some(|g, x, _| g.lit_like(x, 1.0)), Plain, Method("fract"), false, &[-1.3, 0.6];
    ToDegrees "to_degrees" f64::to_degrees, Some(|g, x, _| g.lit_like(x, 180.0 / std::f64::consts::PI)), Plain, Method("to_degrees"), false, ALL;
    ToRadians "to_radians" f64::to_radians, Some(|g, x, _| g.lit_like(x, std::f64::consts::PI / 180.0)), Plain, Method("to_radians"), false, ALL;
    Sigmoid "sigmoid" special::sigmoid,    Some(|g, x, y| { let one = g.lit_like(x, 1.0); let q = g.sub(one, y); g.mul(y, q) }), Plain, Kernel("sigmoid"), true, ALL;
    /// Derivative 0 at 0 (conventions table).
    Relu    "relu"    |x| if x > 0.0 || x.is_nan() { x } else { 0.0 }, Some(|g, x, _| step(g, x)), Plain, Kernel("relu"), false, &[-1.5, 0.5];
    Softplus "softplus" special::softplus, Some(|g, x, _| g.unary(Unary::Sigmoid, x)), Plain, Kernel("softplus"), true, ALL;
    Erf     "erf"     special::erf,        Some(|g, x, _| gauss(g, x, std::f64::consts::FRAC_2_SQRT_PI)), Plain, Kernel("erf"), true, ALL;
    Erfc    "erfc"    special::erfc,       Some(|g, x, _| gauss(g, x, -std::f64::consts::FRAC_2_SQRT_PI)), Plain, Kernel("erfc"), true, ALL;
    LnGamma "ln_gamma" special::ln_gamma,  Some(|g, x, _| g.unary(Unary::Digamma, x)), Plain, Kernel("ln_gamma"), true, POS;
    Digamma "digamma" special::digamma,    Some(|g, x, _| g.unary(Unary::Trigamma, x)), Plain, Kernel("digamma"), true, POS;
    /// The derivative of digamma.
    Trigamma "trigamma" special::trigamma, Some(|g, x, _| g.unary(Unary::Tetragamma, x)), Plain, Kernel("trigamma"), true, POS;
    /// The derivative of trigamma, and the end of the line: no option takes more than two derivatives, and users have no trigamma.
    Tetragamma "tetragamma" special::tetragamma, Some(|_, _, _| panic!("the derivative of tetragamma is not available")), Plain, Kernel("tetragamma"), true, &[];
}

binary_prims! {
    Add     "+"       |a, b| a + b,        [Some(|g, a, _, _| g.lit_like(a, 1.0)), Some(|g, a, _, _| g.lit_like(a, 1.0))], Plain, Op("+"), false, &[(1.5, -2.0), (0.3, 0.4)];
    Sub     "-"       |a, b| a - b,        [Some(|g, a, _, _| g.lit_like(a, 1.0)), Some(|g, a, _, _| g.lit_like(a, -1.0))], Plain, Op("-"), false, &[(1.5, -2.0), (0.3, 0.4)];
    Mul     "*"       |a, b| a * b,        [Some(|_, _, b, _| b), Some(|_, a, _, _| a)], Plain, Op("*"), false, &[(1.5, -2.0), (0.3, 0.4)];
    Div     "/"       |a, b| a / b,        [Some(|g, _, b, _| g.recip(b)), Some(|g, _, b, y| { let q = g.div(y, b); g.neg(q) })], Plain, Op("/"), false, &[(1.5, -2.0), (0.3, 0.4)];
    /// `a - b * trunc(a / b)`.
    Rem     "%"       |a, b| a % b,        [Some(|g, a, _, _| g.lit_like(a, 1.0)), Some(|g, a, b, _| { let q = g.div(a, b); let t = g.unary(Unary::Trunc, q); g.neg(t) })], Plain, Op("%"), false, &[(5.3, 2.0), (-5.3, 2.1), (1.0, -0.4)];
    Pow     "powf"    f64::powf,           [Some(pow_da), Some(pow_db)], Absorbing, Method("powf"), true, &[(1.5, -2.0), (0.3, 0.4), (2.0, 3.0)];
    Atan2   "atan2"   f64::atan2,          [Some(|g, a, b, _| over_square_sum(g, b, a, b)), Some(|g, a, b, _| { let n = g.neg(a); over_square_sum(g, n, a, b) })], Plain, Method("atan2"), true, &[(1.5, -2.0), (-0.3, 0.4), (2.0, 3.0)];
    Hypot   "hypot"   f64::hypot,          [Some(|g, a, _, y| over_or_zero(g, a, y)), Some(|g, _, b, y| over_or_zero(g, b, y))], Plain, Method("hypot"), true, &[(1.5, -2.0), (-0.3, 0.4)];
    /// The first argument on a tie; a NaN operand gets no derivative.
    Max     "max"     f64::max,            [Some(|g, a, b, _| wins(g, a, b, false)), Some(|g, a, b, _| loses(g, a, b, false))], Plain, Method("max"), false, &[(1.5, -2.0), (0.3, 0.4)];
    Min     "min"     f64::min,            [Some(|g, a, b, _| wins(g, a, b, true)), Some(|g, a, b, _| loses(g, a, b, true))], Plain, Method("min"), false, &[(1.5, -2.0), (0.3, 0.4)];
    Copysign "copysign" f64::copysign,     [Some(|g, a, _, y| { let s = sign_or_zero(g, a); let one = g.lit_like(a, 1.0); let t = g.binary(Binary::Copysign, one, y); g.mul(s, t) }), None], Plain, Method("copysign"), false, &[(1.5, -2.0), (-0.3, 0.4)];
    /// `if a == 0 { 0 } else { a * b }`: how a cotangent that may be a masked zero is scaled (`modes::dual_arrays::transpose`).
    MulZero "*0"      |a, b| if a == 0.0 { 0.0 } else { a * b }, [Some(|_, _, b, _| b), Some(nonzero)], Absorbing, Kernel("mul_zero"), false, &[(1.5, -2.0), (0.3, 0.4)];
}

fn one_minus_square(g: &mut Graph, x: Term) -> Term {
    let one = g.lit_like(x, 1.0);
    let q = g.mul(x, x);
    g.sub(one, q)
}

/// `a` as a mask of itself: where it is 0, what it scales does not count, NaN or not.
fn nonzero(g: &mut Graph, a: Term, _b: Term, _y: Term) -> Term {
    let zero = g.lit_like(a, 0.0);
    let at_zero = g.compare(super::Cmp::Eq, a, zero);
    g.select(at_zero, zero, a)
}

/// The sign of x, 0 at 0.
fn sign_or_zero(g: &mut Graph, x: Term) -> Term {
    let zero = g.lit_like(x, 0.0);
    let at_zero = g.compare(super::Cmp::Eq, x, zero);
    let s = g.unary(Unary::Signum, x);
    g.select(at_zero, zero, s)
}

/// 1 where x is positive, else 0.
fn step(g: &mut Graph, x: Term) -> Term {
    let (zero, one) = (g.lit_like(x, 0.0), g.lit_like(x, 1.0));
    let positive = g.compare(super::Cmp::Gt, x, zero);
    g.select(positive, one, zero)
}

/// `c * exp(-x^2)`.
fn gauss(g: &mut Graph, x: Term, c: f64) -> Term {
    let q = g.mul(x, x);
    let n = g.neg(q);
    let e = g.unary(Unary::Exp, n);
    let c = g.lit_like(x, c);
    g.mul(c, e)
}

/// `a / y`, 0 where y is 0.
fn over_or_zero(g: &mut Graph, a: Term, y: Term) -> Term {
    let zero = g.lit_like(y, 0.0);
    let at_zero = g.compare(super::Cmp::Eq, y, zero);
    let q = g.div(a, y);
    g.select(at_zero, zero, q)
}

/// `n / (a^2 + b^2)`, 0 where both are 0. In two steps, as the squares overflow and underflow where the quotient does not.
fn over_square_sum(g: &mut Graph, n: Term, a: Term, b: Term) -> Term {
    let zero = g.lit_like(a, 0.0);
    let h = g.binary(Binary::Hypot, a, b);
    let at_zero = g.compare(super::Cmp::Eq, h, zero);
    let once = g.div(n, h);
    let q = g.div(once, h);
    g.select(at_zero, zero, q)
}

/// `b * a^(b - 1)`; 0 where b is 0, also where the power is infinite. The product keeps its derivative by b, which is
/// not 0 there: a choice by `b == 0` would make the Hessian asymmetric at points where the function is smooth.
fn pow_da(g: &mut Graph, a: Term, b: Term, _y: Term) -> Term {
    let one = g.lit_like(b, 1.0);
    let less = g.sub(b, one);
    let p = g.binary(Binary::Pow, a, less);
    g.binary(Binary::MulZero, b, p)
}

/// `a^b * ln a`; 0 where a is 0 and b positive.
fn pow_db(g: &mut Graph, a: Term, b: Term, y: Term) -> Term {
    let zero = g.lit_like(a, 0.0);
    let at_zero = g.compare(super::Cmp::Eq, a, zero);
    let positive = g.compare(super::Cmp::Gt, b, zero);
    let flat = g.and(at_zero, positive);
    let l = g.unary(Unary::Ln, a);
    let d = g.mul(y, l);
    g.select(flat, zero, d)
}

/// 1 where `a.max(b)` (or `min`) is a, ties included and a not NaN.
fn wins(g: &mut Graph, a: Term, b: Term, min: bool) -> Term {
    let (zero, one) = (g.lit_like(a, 0.0), g.lit_like(a, 1.0));
    let op = if min { super::Cmp::Le } else { super::Cmp::Ge };
    let c = g.compare(op, a, b);
    let b_nan = g.compare(super::Cmp::Ne, b, b);
    let a_ok = g.compare(super::Cmp::Eq, a, a);
    let only = g.and(a_ok, b_nan);
    let c = g.or(c, only);
    g.select(c, one, zero)
}

/// 1 where `a.max(b)` (or `min`) is b and not a.
fn loses(g: &mut Graph, a: Term, b: Term, min: bool) -> Term {
    let (zero, one) = (g.lit_like(a, 0.0), g.lit_like(a, 1.0));
    let op = if min { super::Cmp::Gt } else { super::Cmp::Lt };
    let c = g.compare(op, a, b);
    let a_nan = g.compare(super::Cmp::Ne, a, a);
    let b_ok = g.compare(super::Cmp::Eq, b, b);
    let only = g.and(b_ok, a_nan);
    let c = g.or(c, only);
    g.select(c, one, zero)
}

/// Reference values of the functions that std lacks: slow and obvious, sharing nothing with `ad-runtime`.
mod special {
    pub(super) fn sigmoid(x: f64) -> f64 {
        if x >= 0.0 { 1.0 / (1.0 + (-x).exp()) } else { x.exp() / (1.0 + x.exp()) }
    }

    pub(super) fn softplus(x: f64) -> f64 {
        if x > 0.0 { x + (-x).exp().ln_1p() } else { x.exp().ln_1p() }
    }

    /// Maclaurin series (Kummer's form, all terms positive) for small arguments, continued fraction for large ones.
    pub(super) fn erf(x: f64) -> f64 {
        if x.is_nan() {
            return x;
        }
        if x.abs() < 2.5 {
            let (mut term, mut sum, mut n) = (x, x, 0.0);
            while term.abs() > 1e-18 * f64::abs(sum) {
                n += 1.0;
                term *= 2.0 * x * x / (2.0 * n + 1.0);
                sum += term;
            }
            std::f64::consts::FRAC_2_SQRT_PI * (-x * x).exp() * sum
        } else {
            x.signum() * (1.0 - erfc_tail(x.abs()))
        }
    }

    pub(super) fn erfc(x: f64) -> f64 {
        if x >= 2.5 { erfc_tail(x) } else { 1.0 - erf(x) }
    }

    fn erfc_tail(x: f64) -> f64 {
        let mut f = 0.0;
        for k in (1..=120).rev() {
            f = f64::from(k) / 2.0 / (x + f);
        }
        (-x * x).exp() / ((x + f) * std::f64::consts::PI.sqrt())
    }

    /// Stirling's series after shifting the argument above 15; reflection below 1/2.
    pub(super) fn ln_gamma(x: f64) -> f64 {
        if x < 0.5 {
            return (std::f64::consts::PI / (std::f64::consts::PI * x).sin().abs()).ln() - ln_gamma(1.0 - x);
        }
        let (mut z, mut shift) = (x, 0.0);
        while z < 15.0 {
            shift += z.ln();
            z += 1.0;
        }
        let r = 1.0 / (z * z);
        let series = (1.0 / 12.0 + r * (-1.0 / 360.0 + r * (1.0 / 1260.0 + r * (-1.0 / 1680.0 + r / 1188.0)))) / z;
        (z - 0.5) * z.ln() - z + 0.5 * (2.0 * std::f64::consts::PI).ln() + series - shift
    }

    pub(super) fn digamma(x: f64) -> f64 {
        if x < 0.5 {
            return digamma(1.0 - x) - std::f64::consts::PI / (std::f64::consts::PI * x).tan();
        }
        let (mut z, mut shift) = (x, 0.0);
        while z < 15.0 {
            shift += 1.0 / z;
            z += 1.0;
        }
        let r = 1.0 / (z * z);
        z.ln()
            - 0.5 / z
            - r * (1.0 / 12.0 - r * (1.0 / 120.0 - r * (1.0 / 252.0 - r * (1.0 / 240.0 - r / 132.0))))
            - shift
    }

    pub(super) fn trigamma(x: f64) -> f64 {
        if x < 0.5 {
            let s = (std::f64::consts::PI * x).sin();
            return (std::f64::consts::PI / s).powi(2) - trigamma(1.0 - x);
        }
        let (mut z, mut shift) = (x, 0.0);
        while z < 15.0 {
            shift += 1.0 / (z * z);
            z += 1.0;
        }
        let r = 1.0 / (z * z);
        shift + 1.0 / z + r / 2.0 + r / z * (1.0 / 6.0 - r * (1.0 / 30.0 - r * (1.0 / 42.0 - r / 30.0)))
    }

    pub(super) fn tetragamma(x: f64) -> f64 {
        if x < 0.5 {
            let (s, c) = (std::f64::consts::PI * x).sin_cos();
            return tetragamma(1.0 - x) - 2.0 * std::f64::consts::PI.powi(3) * c / s.powi(3);
        }
        let (mut z, mut shift) = (x, 0.0);
        while z < 15.0 {
            shift += 2.0 / (z * z * z);
            z += 1.0;
        }
        let r = 1.0 / (z * z);
        -(shift
            + r
            + r / z
            + r * r * (1.0 / 2.0 - r * (1.0 / 6.0 - r * (1.0 / 6.0 - r * (3.0 / 10.0 - r * 5.0 / 6.0)))))
    }
}
