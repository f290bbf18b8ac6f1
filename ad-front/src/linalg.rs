//! Linear algebra in core terms. `ad::linalg` defines the meaning of each function. A function is
//! composed of the few primitives that have derivatives (`ad-ir/src/prim/structural/linalg`),
//! products and elementwise operations, so no function here has a rule of differentiation.
//!
//! A factorisation that does not exist is NaN. Each function that needs it checks one element, and
//! panics where the element is NaN.

use std::rc::Rc;

use super::arith::axis_words;
use super::lower::Lower;
use super::refs::results;
use super::table::{self, Call, On, Row, row};
use super::value::{Lowered, Value};
use ad_ir::catalogue::{self, reached, wanted};
use ad_ir::diag::{Poison, SrcRange};
use ad_ir::ir::{Contraction, Elem, IntTy, Node, Term};
use ad_ir::prim::structural::{Factorisation, Triangle};
use ad_ir::prim::{Cmp, IntOp, Prim, Reduce, Unary};

const MATRIX: &str = "&$crate::ndarray::Array2::<f64>::zeros((0, 0))";
const MATRIX_AND_VECTOR: &str = "&$crate::ndarray::Array2::<f64>::zeros((0, 0)), x_";

/// The functions of `ad::linalg`.
pub(super) const TABLE: &[Row] = &[
    row("cholesky", On::Linalg, (1, 1), cholesky, "l with `l l' = a`, for a symmetric positive definite a")
        .called(MATRIX)
        .gives(results::array),
    row("try_cholesky", On::Linalg, (1, 1), try_cholesky, "`cholesky`, or `None`").called(MATRIX),
    row("solve", On::Linalg, (2, 2), solve, "x with `a x = b`").called(MATRIX_AND_VECTOR).gives(results::array),
    row("try_solve", On::Linalg, (2, 2), try_solve, "`solve`, or `None`").called(MATRIX_AND_VECTOR),
    row("solve_triangular", On::Linalg, (3, 3), solve_triangular, "x with `t x = b`, for a triangle t")
        .called("&$crate::ndarray::Array2::<f64>::zeros((0, 0)), x_, $crate::linalg::Uplo::Lower")
        .gives(results::array),
    row("inv", On::Linalg, (1, 1), inv, "the inverse").called(MATRIX).gives(results::array),
    row("try_inv", On::Linalg, (1, 1), try_inv, "`inv`, or `None`").called(MATRIX),
    row("det", On::Linalg, (1, 1), det, "the determinant").called(MATRIX).gives(results::number),
    row("slogdet", On::Linalg, (1, 1), slogdet, "the sign of the determinant, and the logarithm of its size")
        .called(MATRIX),
    row("lu", On::Linalg, (1, 1), lu, "p, l, u with `a = p l u`").called(MATRIX),
    row("qr", On::Linalg, (1, 1), qr, "q, r with `a = q r`").called(MATRIX),
    row("lstsq", On::Linalg, (2, 2), lstsq, "x for which `a x - b` is smallest")
        .called(MATRIX_AND_VECTOR)
        .gives(results::array),
    row("eigh", On::Linalg, (1, 1), eigh, "eigenvalues and eigenvectors of a symmetric matrix").called(MATRIX),
    row("svd", On::Linalg, (1, 1), svd, "the singular values, from the largest on")
        .called(MATRIX)
        .gives(results::array),
    row("matrix_power", On::Linalg, (2, 2), matrix_power, "a times itself, k factors")
        .called("&$crate::ndarray::Array2::<f64>::zeros((0, 0)), 0")
        .gives(results::array),
    row("expm", On::Linalg, (1, 1), expm, "the exponential of a matrix").called(MATRIX).gives(results::array),
];

/// Whether a path is a variant of `Uplo`: `Some(true)` for the upper triangle.
pub(super) fn uplo(path: &syn::Path) -> Option<bool> {
    let mut names = path.segments.iter().rev().map(|s| s.ident.to_string());
    let (name, of) = (names.next()?, names.next()?);
    match (&*of, &*name) {
        ("Uplo", "Lower") => Some(false),
        ("Uplo", "Upper") => Some(true),
        _ => None,
    }
}

/// A factorisation, and the condition under which it exists.
struct Factored {
    packed: Term,
    exists: Term,
}

/// An argument that is a real matrix.
fn matrix<'a>(me: &mut Lower<'a>, call: &Call<'a, '_>) -> Lowered<(Term, [Term; 2])> {
    let (value, range) = call.arg(0)?;
    let a = me.array(value, range)?;
    let a = me.real_term(&Value::Term(a), range)?;
    match me.g.shape(a) {
        &[m, n] => Ok((a, [m, n])),
        _ => {
            let found = me.describe(value);
            Err(me.error(range, catalogue::expected(wanted::MATRIX, &found)))
        }
    }
}

/// An argument that is a real matrix with as many rows as columns, and their number.
fn square<'a>(me: &mut Lower<'a>, call: &Call<'a, '_>) -> Lowered<(Term, Term)> {
    let (a, [m, n]) = matrix(me, call)?;
    let words = [axis_words(call.text(0), 0, 2), axis_words(call.text(0), 1, 2)];
    me.equate(m, n, words, call.range)?;
    Ok((me.g.recast(a, &[n, n]), n))
}

/// The second argument: a right-hand side with n rows, a vector or a matrix.
fn right_hand_side<'a>(me: &mut Lower<'a>, call: &Call<'a, '_>, a: Term) -> Lowered<Term> {
    let (value, range) = call.arg(1)?;
    let b = me.array(value, range)?;
    let b = me.real_term(&Value::Term(b), range)?;
    let mut shape = me.g.shape(b).to_vec();
    if !matches!(shape.len(), 1 | 2) || me.g.elem(a) != me.g.elem(b) {
        let found = me.describe(value);
        return Err(me.error(range, catalogue::expected(wanted::RIGHT_HAND_SIDE, &found)));
    }
    let rows = me.g.shape(a)[0];
    let words = [axis_words(call.text(0), 0, 2), axis_words(call.text(1), 0, shape.len())];
    me.equate(rows, shape[0], words, call.range)?;
    shape[0] = rows;
    Ok(me.g.recast(b, &shape))
}

/// A factorisation in this many rows.
fn factored(me: &mut Lower, kind: Factorisation, a: Term, rows: Term) -> Factored {
    let g = &mut me.g;
    let packed = g.prim(Prim::Factor(kind), &[a, rows]);
    let (none, n) = (g.lit_usize(0), g.shape(packed)[1]);
    let first = g.index(packed, &[none, none]);
    let infinity = g.lit_like(first, f64::INFINITY);
    // A comparison with a NaN is false.
    let finite = g.compare(Cmp::Lt, first, infinity);
    let empty = g.compare(Cmp::Eq, n, none);
    let exists = g.or(empty, finite);
    Factored { packed, exists }
}

/// A factorisation that has to exist.
fn required(me: &mut Lower, call: &Call, kind: Factorisation, a: Term, rows: Term) -> Term {
    let made = factored(me, kind, a, rows);
    let why = match kind {
        Factorisation::Cholesky => reached::NOT_POSITIVE_DEFINITE,
        // The quotient of an exponential has a regular denominator.
        Factorisation::Lu if call.name() == "expm" => reached::NOT_FINITE,
        Factorisation::Lu => reached::SINGULAR,
        Factorisation::Qr => reached::DEPENDENT_COLUMNS,
        Factorisation::Eigh => reached::NOT_FINITE,
    };
    me.require(None, made.exists, &reached::of_function(call.name(), why));
    made.packed
}

/// `n + more`.
fn plus(me: &mut Lower, n: Term, more: usize) -> Term {
    let more = me.g.lit_usize(more);
    me.g.int(IntOp::Add, n, more)
}

/// `len` rows of a matrix.
fn rows(me: &mut Lower, t: Term, start: Term, len: Term) -> Term {
    let (none, n) = (me.g.lit_usize(0), me.g.shape(t)[1]);
    me.g.slice(t, &[start, none], &[1, 1], &[len, n])
}

/// The elements `[i, i]`, or those of one row.
fn elements(me: &mut Lower, t: Term, n: Term, row: Option<Term>) -> Term {
    let var = me.g.fresh();
    let i = me.g.mk(Node::Var(var));
    me.g.gather(t, Box::new([n]), &[var], &[row.unwrap_or(i), i])
}

/// A matrix that is `inside` where the row and the column compare so, and `outside` elsewhere.
fn masked(me: &mut Lower, op: Cmp, inside: Term, outside: Term) -> Term {
    let g = &mut me.g;
    let shape = g.shape(inside).to_vec();
    let (i, j) = (g.iota(shape[0]), g.iota(shape[1]));
    let (i, j) = (g.replicate_axes(i, &[1], &[shape[1]]), g.replicate_axes(j, &[0], &[shape[0]]));
    let mask = g.compare(op, i, j);
    g.select(mask, inside, outside)
}

/// The unit matrix of the shape of `like`.
fn unit(me: &mut Lower, like: Term) -> Term {
    let (zero, one) = (me.g.lit_like(like, 0.0), me.g.lit_like(like, 1.0));
    masked(me, Cmp::Eq, one, zero)
}

/// A product of matrices.
fn product(me: &mut Lower, a: Term, b: Term) -> Term {
    me.g.contract(a, b, Contraction::new([0, 1], [1, 2], [0, 2]))
}

fn option<'a>(value: Term, exists: Term) -> Value<'a> {
    Value::Option(Value::Term(value).into(), exists)
}

pub(super) fn tuple<'a>(parts: &[Term]) -> Value<'a> {
    Value::Tuple(parts.iter().map(|&t| Value::Term(t)).collect::<Rc<[_]>>())
}

fn cholesky<'a>(me: &mut Lower<'a>, call: &Call<'a, '_>) -> Lowered<Value<'a>> {
    let (a, n) = square(me, call)?;
    Ok(Value::Term(required(me, call, Factorisation::Cholesky, a, n)))
}

fn try_cholesky<'a>(me: &mut Lower<'a>, call: &Call<'a, '_>) -> Lowered<Value<'a>> {
    let (a, n) = square(me, call)?;
    let made = factored(me, Factorisation::Cholesky, a, n);
    Ok(option(made.packed, made.exists))
}

/// Whether a triangle has no zero on its diagonal because it is a Cholesky factor.
fn is_regular(me: &Lower, mut t: Term) -> bool {
    loop {
        t = match me.g.node(t) {
            Node::Prim(Prim::Factor(Factorisation::Cholesky), _) => return true,
            Node::Prim(Prim::Recast | Prim::Transpose(_), args) => args[0],
            _ => return false,
        };
    }
}

fn solve_triangular<'a>(me: &mut Lower<'a>, call: &Call<'a, '_>) -> Lowered<Value<'a>> {
    let (t, n) = square(me, call)?;
    let b = right_hand_side(me, call, t)?;
    let (which, range) = call.arg(2)?;
    let upper = match which {
        Value::Term(c) => me.g.bool_value(*c),
        _ => None,
    };
    let Some(upper) = upper else { return Err(me.error(range, catalogue::uplo())) };
    if !is_regular(me, t) {
        let diagonal = elements(me, t, n, None);
        let zero = me.g.lit_like(diagonal, 0.0);
        let regular = me.g.compare(Cmp::Ne, diagonal, zero);
        let regular = me.g.reduce(Reduce::All, 1, regular);
        me.require(None, regular, &reached::of_function(call.name(), reached::SINGULAR));
    }
    let by = if upper { Triangle::UPPER } else { Triangle::LOWER };
    Ok(Value::Term(me.g.prim(Prim::TriangularSolve(by), &[b, t])))
}

/// The number of rows of an LU factorisation in addition to those of u.
pub(super) const LU_ROWS: usize = 3;

fn solve<'a>(me: &mut Lower<'a>, call: &Call<'a, '_>) -> Lowered<Value<'a>> {
    let (a, n) = square(me, call)?;
    let b = right_hand_side(me, call, a)?;
    let rows = plus(me, n, LU_ROWS);
    let packed = required(me, call, Factorisation::Lu, a, rows);
    Ok(Value::Term(me.g.prim(Prim::LuSolve(false), &[b, a, packed])))
}

fn try_solve<'a>(me: &mut Lower<'a>, call: &Call<'a, '_>) -> Lowered<Value<'a>> {
    let (a, n) = square(me, call)?;
    let b = right_hand_side(me, call, a)?;
    let rows = plus(me, n, LU_ROWS);
    let made = factored(me, Factorisation::Lu, a, rows);
    let solution = me.g.prim(Prim::LuSolve(false), &[b, a, made.packed]);
    Ok(option(solution, made.exists))
}

fn inv<'a>(me: &mut Lower<'a>, call: &Call<'a, '_>) -> Lowered<Value<'a>> {
    let (a, n) = square(me, call)?;
    let rows = plus(me, n, LU_ROWS);
    let packed = required(me, call, Factorisation::Lu, a, rows);
    let unit = unit(me, a);
    Ok(Value::Term(me.g.prim(Prim::LuSolve(false), &[unit, a, packed])))
}

fn try_inv<'a>(me: &mut Lower<'a>, call: &Call<'a, '_>) -> Lowered<Value<'a>> {
    let (a, n) = square(me, call)?;
    let rows = plus(me, n, LU_ROWS);
    let made = factored(me, Factorisation::Lu, a, rows);
    let unit = unit(me, a);
    let inverse = me.g.prim(Prim::LuSolve(false), &[unit, a, made.packed]);
    Ok(option(inverse, made.exists))
}

/// The product of all elements of a vector.
fn product_of<'a>(me: &mut Lower<'a>, x: Term, range: SrcRange) -> Lowered<Term> {
    let row = table::find(On::Dsl, "product").ok_or(Poison)?;
    let value = me.call_row(row, None, vec![Value::Term(x)], vec![range], range)?;
    me.term(&value, range)
}

/// An LU factorisation: the diagonal of u, the signs of its elements, and the sign of the
/// permutation.
struct Diagonal {
    a: Term,
    packed: Term,
    diagonal: Term,
    signs: Term,
    parity: Term,
}

fn diagonal<'a>(me: &mut Lower<'a>, call: &Call<'a, '_>) -> Lowered<Diagonal> {
    let (a, n) = square(me, call)?;
    let all = plus(me, n, LU_ROWS);
    let packed = required(me, call, Factorisation::Lu, a, all);
    let (signs, parity) = (plus(me, n, 1), plus(me, n, 2));
    let diagonal = elements(me, packed, n, None);
    let [signs, parity] = [signs, parity].map(|row| {
        let row = elements(me, packed, n, Some(row));
        me.g.prim(Prim::StopGradient, &[row])
    });
    let parity = product_of(me, parity, call.range)?;
    Ok(Diagonal { a, packed, diagonal, signs, parity })
}

fn det<'a>(me: &mut Lower<'a>, call: &Call<'a, '_>) -> Lowered<Value<'a>> {
    let u = diagonal(me, call)?;
    let product = product_of(me, u.diagonal, call.range)?;
    Ok(Value::Term(me.g.mul(product, u.parity)))
}

fn slogdet<'a>(me: &mut Lower<'a>, call: &Call<'a, '_>) -> Lowered<Value<'a>> {
    let u = diagonal(me, call)?;
    let sign = product_of(me, u.signs, call.range)?;
    let sign = me.g.mul(sign, u.parity);
    let (none, one) = (me.g.lit_usize(0), me.g.lit_usize(1));
    let logarithm = me.g.prim(Prim::LogDet, &[u.a, u.packed, one]);
    let logarithm = me.g.index(logarithm, &[none]);
    Ok(tuple(&[sign, logarithm]))
}

fn lu<'a>(me: &mut Lower<'a>, call: &Call<'a, '_>) -> Lowered<Value<'a>> {
    let (a, n) = square(me, call)?;
    let all = plus(me, n, LU_ROWS);
    let packed = required(me, call, Factorisation::Lu, a, all);
    let none = me.g.lit_usize(0);
    let square = rows(me, packed, none, n);
    let (zero, one) = (me.g.lit_like(square, 0.0), me.g.lit_like(square, 1.0));
    let u = masked(me, Cmp::Le, square, zero);
    let unit = masked(me, Cmp::Eq, one, zero);
    let l = masked(me, Cmp::Gt, square, unit);
    // Row k of the factors is this row of a.
    let order = elements(me, packed, n, Some(n));
    let order = me.g.cast(Elem::USIZE, order);
    let numbers = me.g.iota(n);
    let (order, numbers) = (me.g.replicate_axes(order, &[0], &[n]), me.g.replicate_axes(numbers, &[1], &[n]));
    let here = me.g.compare(Cmp::Eq, numbers, order);
    let p = me.g.select(here, one, zero);
    Ok(tuple(&[p, l, u]))
}

/// The factors q and r of an argument with at least as many rows as columns.
fn factors<'a>(me: &mut Lower<'a>, call: &Call<'a, '_>) -> Lowered<[Term; 3]> {
    let (a, [m, n]) = matrix(me, call)?;
    me.require_le(n, m, &reached::of_function(call.name(), reached::WIDE));
    let all = me.g.int(IntOp::Add, m, n);
    let packed = required(me, call, Factorisation::Qr, a, all);
    let none = me.g.lit_usize(0);
    Ok([a, rows(me, packed, none, m), rows(me, packed, m, n)])
}

fn qr<'a>(me: &mut Lower<'a>, call: &Call<'a, '_>) -> Lowered<Value<'a>> {
    let [_, q, r] = factors(me, call)?;
    Ok(tuple(&[q, r]))
}

fn lstsq<'a>(me: &mut Lower<'a>, call: &Call<'a, '_>) -> Lowered<Value<'a>> {
    let [a, q, r] = factors(me, call)?;
    let b = right_hand_side(me, call, a)?;
    let (of_b, out): (&[u8], &[u8]) = if me.g.rank(b) == 1 { (&[0], &[1]) } else { (&[0, 2], &[1, 2]) };
    let along = me.g.contract(q, b, Contraction::new([0, 1], of_b, out));
    Ok(Value::Term(me.g.prim(Prim::TriangularSolve(Triangle::UPPER), &[along, r])))
}

fn eigh<'a>(me: &mut Lower<'a>, call: &Call<'a, '_>) -> Lowered<Value<'a>> {
    let (a, n) = square(me, call)?;
    let all = plus(me, n, 1);
    let packed = required(me, call, Factorisation::Eigh, a, all);
    let (none, one) = (me.g.lit_usize(0), me.g.lit_usize(1));
    Ok(tuple(&[elements(me, packed, n, Some(none)), rows(me, packed, one, n)]))
}

/// The singular values of a are the largest eigenvalues of `[[0, a], [a', 0]]` (Golub and Van Loan,
/// section 8.6), which loses no digits to a square.
fn svd<'a>(me: &mut Lower<'a>, call: &Call<'a, '_>) -> Lowered<Value<'a>> {
    let (a, [m, n]) = matrix(me, call)?;
    let g = &mut me.g;
    let (none, one, size) = (g.lit_usize(0), g.lit_usize(1), g.int(IntOp::Add, m, n));
    let above = g.pad(a, &[none, m], &[1, 1], &[size, size]);
    let below = g.transpose(above, &[1, 0]);
    let both = g.add(above, below);
    let all = g.int(IntOp::Add, size, one);
    let packed = required(me, call, Factorisation::Eigh, both, all);
    let g = &mut me.g;
    let (count, last) = (g.int(IntOp::Min, m, n), g.int(IntOp::Sub, size, one));
    let var = g.fresh();
    let i = g.mk(Node::Var(var));
    let at = g.int(IntOp::Sub, last, i);
    Ok(Value::Term(g.gather(packed, Box::new([count]), &[var], &[none, at])))
}

/// Applies a function that is written in Rust. It names nothing but methods and its own arguments,
/// so its meaning does not depend on the user's names.
fn applied<'a>(me: &mut Lower<'a>, text: &str, args: &[Value<'a>], range: SrcRange) -> Lowered<Value<'a>> {
    let closure: syn::ExprClosure = syn::parse_str(text).map_err(|_| Poison)?;
    // The syntax tree lives as long as that of the user's function, which an expansion never frees
    // before its end.
    let f = me.closure(Box::leak(Box::new(closure)));
    me.apply(&f, args, range)
}

/// Repeated squaring.
const POWER: &str = "|a, unit, k| {
    let mut power = unit;
    let mut square = a;
    let mut left = k;
    while left > 0 {
        if left % 2 == 1 {
            power = power.dot(&square);
        }
        left /= 2;
        if left > 0 {
            square = square.dot(&square);
        }
    }
    power
}";

fn matrix_power<'a>(me: &mut Lower<'a>, call: &Call<'a, '_>) -> Lowered<Value<'a>> {
    let (a, _) = square(me, call)?;
    let (k, range) = call.arg(1)?;
    let k = me.usize(k, range)?;
    let unit = unit(me, a);
    applied(me, POWER, &[Value::Term(a), Value::Term(unit), Value::Term(k)], call.range)
}

/// The largest sum of the sizes of a column for which the quotient of [`PADE`] is exact in double
/// precision (Higham 2005, table 2.3).
const LARGEST: f64 = 5.371_920_351_148_152;

/// The number of halvings after which the norm is small enough. No number is larger than 2^1024.
const HALVINGS: &str = "|norm, largest| {
    let mut halvings = 0_usize;
    let mut left = norm;
    while left > largest && halvings < 1024 {
        left *= 0.5;
        halvings += 1;
    }
    halvings
}";

/// Squares a matrix this many times.
const SQUARED: &str = "|a, times| {
    let mut power = a;
    for _ in 0..times {
        power = power.dot(&power);
    }
    power
}";

/// The coefficients of the Pade quotient of degree 13, by the first (Higham 2005, equation 2.3).
/// `ad-runtime` has them too: neither crate depends on the other, and `tidy` holds them equal.
const PADE: [f64; 14] = [
    1.0,
    0.5,
    0.12,
    0.018_333_333_333_333_333,
    0.001_992_753_623_188_405_7,
    0.000_163_043_478_260_869_58,
    1.035_196_687_370_600_3e-5,
    5.175_983_436_853_002e-7,
    2.043_151_356_652_500_8e-8,
    6.306_022_705_717_595e-10,
    1.483_770_048_404_14e-11,
    2.529_153_491_597_966e-13,
    2.810_170_546_219_962_3e-15,
    1.544_049_750_670_308_8e-17,
];

/// A sum of multiples of matrices.
fn combined(me: &mut Lower, terms: &[(f64, Term)]) -> Term {
    let mut sum = None;
    for &(c, t) in terms {
        let c = me.g.lit_like(t, c);
        let scaled = me.g.mul(c, t);
        sum = Some(sum.map_or(scaled, |sum| me.g.add(sum, scaled)));
    }
    sum.unwrap_or(terms[0].1)
}

/// Scaling and squaring with a Pade quotient (Higham 2005, algorithm 2.3).
fn expm<'a>(me: &mut Lower<'a>, call: &Call<'a, '_>) -> Lowered<Value<'a>> {
    let (a, n) = square(me, call)?;
    let constant = me.g.prim(Prim::StopGradient, &[a]);
    let sizes = me.g.unary(Unary::Abs, constant);
    // The function adds up a column in this order, and has to take the same number of halvings.
    let columns = me.g.transpose(sizes, &[1, 0]);
    let columns = me.g.reduce(Reduce::FromZero, 1, columns);
    let norm = me.g.reduce(Reduce::Max, 1, columns);
    let largest = me.g.lit_like(norm, LARGEST);
    let halvings = applied(me, HALVINGS, &[Value::Term(norm), Value::Term(largest)], call.range)?;
    let halvings = me.term(&halvings, call.range)?;
    let scaled = scaled_by(me, a, halvings);
    let two = product(me, scaled, scaled);
    let four = product(me, two, two);
    let six = product(me, four, two);
    let unit = unit(me, a);
    let b = PADE;
    let inner = combined(me, &[(b[13], six), (b[11], four), (b[9], two)]);
    let inner = product(me, six, inner);
    let outer = combined(me, &[(b[7], six), (b[5], four), (b[3], two), (b[1], unit)]);
    let odd = me.g.add(inner, outer);
    let odd = product(me, scaled, odd);
    let inner = combined(me, &[(b[12], six), (b[10], four), (b[8], two)]);
    let inner = product(me, six, inner);
    let outer = combined(me, &[(b[6], six), (b[4], four), (b[2], two), (b[0], unit)]);
    let even = me.g.add(inner, outer);
    let (above, below) = (me.g.add(even, odd), me.g.sub(even, odd));
    let all = plus(me, n, LU_ROWS);
    let packed = required(me, call, Factorisation::Lu, below, all);
    let quotient = me.g.prim(Prim::LuSolve(false), &[above, below, packed]);
    applied(me, SQUARED, &[Value::Term(quotient), Value::Term(halvings)], call.range)
}

/// `a / 2^halvings`.
fn scaled_by(me: &mut Lower, a: Term, halvings: Term) -> Term {
    let count = me.g.cast(Elem::Int(IntTy::I32), halvings);
    let half = me.g.zero(me.g.elem(a));
    let half = me.g.lit_like(half, 0.5);
    let factor = me.g.prim(Prim::PowI, &[half, count]);
    let shape = me.g.shape(a).to_vec();
    let factor = me.g.broadcast(factor, &shape);
    me.g.mul(a, factor)
}
