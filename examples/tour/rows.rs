//! One line or more for every row of the language: what can be said, in functions that say nothing
//! else.

use std::f64::consts::PI;

use ad::linalg::{
    Uplo, cholesky, det, eigh, expm, inv, lstsq, lu, matrix_power, qr, slogdet, solve, solve_triangular, svd,
    try_cholesky, try_inv, try_solve,
};
use ad::ndarray::{self, Ix1, azip};
use ad::prelude::*;

use super::{Table, slope, slopes};

/// Every differentiable method of a number, in a domain of each.
#[differentiate]
fn scalar_methods(x: f64) -> f64 {
    let angles = x.sin() * x.cos() + x.tan() + x.asin() + x.acos() + x.atan() + x.atan2(2.0) + x.sin_cos().0;
    let hyperbolic = x.sinh() + x.cosh() + x.tanh() + x.asinh() + (x + 1.5).acosh() + x.atanh();
    let powers = x.exp() + x.exp2() + x.exp_m1() + x.sqrt() + x.cbrt() + x.powi(3) + x.powf(1.5) + x.recip();
    let logarithms = x.ln() + x.ln_1p() + x.log2() + x.log10() + x.log(3.0);
    let shape = x.abs() + x.copysign(-1.0) + x.hypot(3.0) + x.mul_add(2.0, 1.0) + x.rem_euclid(2.0);
    let bounds = x.min(1.0) + x.max(0.25) + x.clamp(-1.0, 1.0) + x.fract() + x % 2.0;
    angles + hyperbolic + powers + logarithms + shape + bounds + x.to_degrees() + x.to_radians()
}

/// Those with derivative 0, tests, constants, functions by path.
#[differentiate]
fn scalar_steps(x: f64) -> f64 {
    let steps = x.signum() + x.floor() + x.ceil() + x.round() + x.trunc() + x.div_euclid(0.25);
    let finite = x.is_finite() && !x.is_nan() && !x.is_infinite() && x.is_sign_positive() && !x.is_sign_negative();
    let limits = x < f64::INFINITY && x > f64::NEG_INFINITY && x < f64::MAX && x > f64::MIN_POSITIVE;
    let small = f64::EPSILON * f64::exp(x) + std::f64::consts::LN_2 * x;
    if finite && limits { steps * x + PI * small } else { 0.0 }
}

/// `ad`'s own functions of a number.
#[differentiate]
fn dsl_scalars(x: f64) -> f64 {
    let s = sigmoid(x) + relu(x) + softplus(x) + erf(x) + erfc(2.0 * x) + ln_gamma(x) + digamma(x);
    s + select(x > 0.0, x, -x) + stop_gradient(2.0) * x
}

/// Integers have their own type's values; what overflows panics.
#[differentiate(wrt(x))]
fn integers(x: f64, n: i32, k: usize) -> f64 {
    let a = (n + 3) * 2 - n / 2 + n % 3;
    let b = n.pow(2).max(4) + n.min(90).abs() + n.rem_euclid(5) + n.div_euclid(5);
    let bits = (k & 6) | (k ^ 1) | (k << 2) | (k >> 1);
    let c = k.abs_diff(9) + k.saturating_sub(4) + k.clamp(1, 3) + k.checked_sub(1).unwrap_or(7);
    let counts = k.count_ones() + k.leading_zeros() + k.trailing_zeros() + (k.rotate_left(3) % 5) as u32;
    x * (a + b) as f64 + x * x * (bits + c) as f64 / 7.0 + x * counts as f64
}

/// Names that a body gives, functions inside, a closure that changes what it captures.
#[differentiate(wrt(x))]
fn items_inside(x: &[f64], k: usize) -> f64 {
    use std::f64::consts::TAU;
    type Pair = [f64; 2];
    static WEIGHTS: Pair = [0.5, TAU];
    fn twice<K: Fn(f64) -> f64>(f: K, v: f64) -> f64 {
        f(f(v))
    }
    fn scale<const N: usize>(v: &mut [f64; N], by: f64) {
        for e in v.iter_mut() {
            *e *= by * N as f64;
        }
    }
    let mut at = 0;
    let mut next = || {
        at += 1;
        x[at - 1]
    };
    let mut parts = [next(), next(), 1.0];
    scale(&mut parts, next());
    let tail = if let Some(v) = x.get(k)
        && *v > 0.0
    {
        v * WEIGHTS[1]
    } else {
        WEIGHTS[0]
    };
    let shapes = [f64::sin, f64::cos];
    let all = if cfg!(debug_assertions) { parts[0] + parts[1] } else { parts[1] - -parts[0] };
    twice(shapes[k % 2], all) * tail
}

/// A flat vector of parameters, cut in pieces; parts of a `Vec`; places of items.
#[differentiate(wrt(theta))]
fn pieces(theta: &[f64], n: usize) -> f64 {
    let w = ndarray::ArrayView2::from_shape((n, 2), &theta[..2 * n]).unwrap();
    let columns: ndarray::Array<f64, Ix1> = w.fold_axis(Axis(0), 0.0, |a, b| a + b * b);
    let mut rest = theta.iter();
    let first: f64 = rest.by_ref().take(n).sum();
    let (above, below): (Vec<f64>, Vec<f64>) = rest.partition(|v| **v > 0.5);
    let mut v = theta.to_vec();
    let (a, b) = v.split_at_mut(n);
    a[0] += b[0];
    v.dedup();
    let taken: f64 = v.drain(..n).sum();
    let at = theta.partition_point(|v| *v < 0.5) + theta.iter().rposition(|v| *v < 0.5).unwrap_or(0);
    columns.sum() * first + above.iter().sum::<f64>() * below.len() as f64 + taken * v[0] * at as f64
}

/// Patterns, blocks, shadowing, copies; lazy `if`, `match`, strict `select`.
#[differentiate(wrt(x))]
fn bindings_and_choices(x: &Array1<f64>, k: usize) -> f64 {
    let (a, b) = (x[0], x[1]);
    let [c, d] = [a * b, a - b];
    let (e, (f, _)): (f64, (f64, bool)) = (c, (d, true));
    let x = x.clone();
    let total = {
        let y = x.view().to_owned();
        y.iter().copied().sum::<f64>()
    };
    let chosen = match k {
        0 => a,
        1..=3 => b * b,
        _ if k % 3 == 1 => c,
        _ => d,
    };
    let paired = match (k > 2, k % 2) {
        (true, 0) => e * f,
        (_, 1) => e,
        _ => f,
    };
    let by_sign: Box<dyn Fn(f64) -> f64> = if a > 0.0 { Box::new(move |y| y * b) } else { Box::new(f64::sin) };
    let taken = if a > b {
        a.ln()
    } else if a == b {
        0.0
    } else {
        b.ln()
    };
    total * chosen + paired + by_sign(taken) + select(a < b, a, b)
}

/// Closures: patterns, functions as values, passed on.
#[differentiate]
fn closures(x: &Array1<f64>) -> f64 {
    let scale = |v: f64, by: f64| v * by;
    let twice = |v: f64| scale(scale(v, 2.0), 3.0);
    let pairs = build([x.len(), 2], |[i, j]| x[i] * j as f64);
    let swapped = x.iter().zip(x.iter().rev()).map(|(&a, b)| a * b).sum::<f64>();
    x.mapv(f64::exp).sum() + x.map(|&v| twice(v)).sum() + pairs.sum() + swapped
}

/// Sizes, and parts of arrays.
#[differentiate(wrt(x))]
fn sizes_and_parts(x: &Array2<f64>, ids: &[usize]) -> f64 {
    let (n, m) = x.dim();
    let sizes = x.len() + x.nrows() * x.ncols() + x.shape()[0] + x.len_of(Axis(1)) + x.raw_dim()[0] + n * m;
    let row = x.row(1);
    let edges = row.first().unwrap() * row.last().unwrap();
    let part = x.slice(s![..;-1, 1..]).to_owned();
    let gathered = x.select(Axis(0), ids).column(0).sum() + x[[ids[0], 1]] + x.index_axis(Axis(1), 0)[1];
    let square = x.dot(&x.t());
    let empty = if x.is_empty() { 0.0 } else { 1.0 };
    edges * sizes as f64 + (&part * &part).sum() + gathered + square.diag().sum() + empty
}

/// Arrays from functions, numbers and iterators.
#[differentiate]
fn constructions(x: f64) -> f64 {
    let built = build1(3, |i| build1(2, |j| x * (i + j) as f64));
    let shaped = Array2::from_shape_fn((3, 2), |(i, j)| x.powi((i + j) as i32));
    let filled = Array2::<f64>::zeros((3, 2)) + Array2::<f64>::ones((3, 2)) * x + Array2::from_elem((3, 2), x * x);
    let lines = Array1::linspace(0.0, x, 3)
        + Array1::from_vec(vec![x, 1.0, 2.0])
        + Array1::from_iter((0..3).map(|i| x * i as f64));
    let literals = array![x, 2.0 * x, 3.0] + ndarray::arr1(&[1.0, x, x]) + replicate(3, x) + one_hot::<f64>(3, 1) * x;
    let unit = Array2::<f64>::eye(2) * x + ndarray::arr2(&[[x, 1.0], [1.0, x]]);
    let counted: Array1<f64> = iota(3).mapv(|i| x * i as f64);
    let list: Vec<f64> = (0..3).map(|i| x + i as f64).collect();
    (built * shaped + filled).sum() + (lines * literals).sum() + unit.sum() + counted.sum() + sum(&list)
}

/// Operators with broadcasting, maps, `Zip`, ndarray's own elementwise methods.
#[differentiate]
fn elementwise(m: &Array2<f64>, v: &Array1<f64>) -> f64 {
    let a = 2.0 * m - v + m * m / 3.0;
    let b = m.mapv(|e| e * e) + m.map(|e| e + 1.0) + m.clone().mapv_into(|e| -e);
    let c = Zip::from(m).and(&b).map_collect(|x, y| x * y) + map2(m, &a, |x, y| x - y);
    let mut e = m.clone();
    Zip::from(&mut e).and(&c).for_each(|e, &c| *e += 0.1 * c);
    azip!((e in &mut e, &a in &a) *e -= a / 9.0);
    e.zip_mut_with(v, |e, v| *e *= v);
    e.scaled_add(0.5, m);
    e.map_inplace(|e| *e *= 0.7);
    let d = m.exp() + m.sin() + m.cos() + m.tanh() + m.powi(2) + m.abs().sqrt() + (m * m + 1.0).ln();
    (a + b + c + d + e + sigmoid(m) + relu(m)).sum()
}

/// Reductions by ndarray's methods, the DSL's functions, and iterators.
#[differentiate]
fn reductions(m: &Array2<f64>, v: &Array1<f64>) -> f64 {
    let whole = m.sum() + m.mean().unwrap() + m.var(1.0) + m.std(0.0) + sum(m) + norm(m) + logsumexp(v);
    let axes = m.sum_axis(Axis(0)) + m.mean_axis(Axis(0)).unwrap() + sum_outer(m);
    let products = m.dot(v).sum() + v.dot(v) + m.t().dot(m).sum();
    let extremes = maximum(v) - minimum(v) + v[argmax(v)] * v[argmin(v)] + softmax(v)[0] + cumsum(v).sum();
    whole + axes.dot(v) + products + extremes
}

/// Linear algebra, of a matrix that is made positive definite.
#[differentiate]
fn linear_algebra(m: &Array2<f64>, v: &Array1<f64>) -> f64 {
    let a = m.t().dot(m) + Array2::<f64>::eye(v.len()) * 2.0;
    let systems = solve(&a, v) + solve_triangular(&cholesky(&a), v, Uplo::Lower) + lstsq(&a, v) + inv(&a).dot(v);
    let ((p, l, u), (q, r), (w, e)) = (lu(&a), qr(&a), eigh(&a));
    let factors = p.dot(&l).dot(&u).sum() + q.dot(&r).sum() + (&e * &w).sum() + svd(m).sum();
    let tried = try_cholesky(&a).map_or(0.0, |l| l.sum()) + try_inv(&a).map_or(0.0, |i| i.sum());
    let numbers = det(&a).ln() + slogdet(&a).1 + try_solve(&a, v).map_or(0.0, |x| x.sum());
    systems.sum() + factors + tried + numbers + (matrix_power(&a, 3).sum() + expm(&(&a * 0.1)).sum()) * 1e-3
}

/// Iterators: a chain of adapters and what ends it.
#[differentiate]
fn iterators(x: &[f64]) -> f64 {
    let pairs = x.iter().zip(x.iter().skip(1)).map(|(a, b)| a * b).sum::<f64>();
    let weighted = x.iter().enumerate().map(|(i, v)| v * i as f64).sum::<f64>();
    let some = x.iter().rev().take(2).copied().sum::<f64>();
    let doubled: Vec<f64> = x.iter().map(|v| 2.0 * v).collect();
    let tests = x.iter().all(|&v| v < 9.0) && x.iter().any(|&v| v > 1.0) && x.iter().filter(|&&v| v > 0.5).count() > 1;
    if tests { pairs * weighted + some + doubled.into_iter().sum::<f64>() } else { 0.0 }
}

/// Iterators over rows, windows, chunks and triangles, and what they find.
#[differentiate]
fn iterators_of_parts(m: &Array2<f64>, v: &Array1<f64>) -> f64 {
    let rows = m.outer_iter().map(|row| row.dot(v)).sum::<f64>();
    let columns = m.axis_iter(Axis(1)).map(|column| column[0] * column[1]).sum::<f64>();
    let pairs = v.windows(2).into_iter().map(|w| w[0] * w[1]).sum::<f64>();
    let data = v.to_vec();
    let chunks = data.chunks_exact(2).map(|c| c[0] - c[1] * c[1]).sum::<f64>();
    let every_other =
        v.iter().cycle().take(4).step_by(2).chain(m.iter()).filter(|e| **e > 0.0).map(|e| e * e).sum::<f64>();
    let triangle = (0..v.len()).flat_map(|i| (0..2).map(move |j| v[i] * (i + j) as f64)).sum::<f64>();
    let begin = v.iter().take_while(|x| **x > 0.0).chain(v.iter().skip_while(|x| **x > 0.0)).sum::<f64>();
    let roots = v.iter().map_while(|x| (*x > 0.0).then(|| x.sqrt()));
    let sums = roots
        .scan(0.0, |sum, x| {
            *sum += x;
            Some(*sum)
        })
        .product::<f64>();
    let largest = v.iter().max_by(|a, b| a.total_cmp(b)).unwrap();
    let nearest = v.iter().min_by(|a, b| (*a - 1.0).abs().total_cmp(&(*b - 1.0).abs())).unwrap();
    let place = v.iter().position(|&e| e > 0.8).unwrap_or(0) as f64;
    let first = v.iter().find(|e| **e > 0.5).unwrap();
    rows + columns + pairs + chunks + every_other + triangle + begin * sums + largest * nearest + place * first
}

/// Variables that change, parts of local arrays, early returns, assertions.
#[differentiate]
fn statements(m: &Array2<f64>, v: &Array1<f64>) -> f64 {
    assert!(!v.is_empty(), "a vector with elements");
    assert_eq!(m.ncols(), v.len());
    if v[0] < 0.0 {
        return v.sum();
    }
    let (mut low, mut high) = (v[0], v[1]);
    if low > high {
        std::mem::swap(&mut low, &mut high);
    }
    let mut a = m.clone();
    a += v;
    a[[0, 1]] *= low;
    a.row_mut(1).assign(v);
    a.slice_mut(s![.., ..1]).fill(high);
    a.column_mut(2).mapv_inplace(|e| e * e);
    let mut list = vec![low, high];
    list.push(a.sum());
    list.swap(0, 2);
    let scale = match list.len() {
        3 => list[0],
        0 => panic!("there are three"),
        _ => unreachable!(),
    };
    a.sum() * scale
}

/// Loops: over ranges and iterators, over parts that are changed, left early.
#[differentiate]
fn loops(m: &Array2<f64>, v: &Array1<f64>) -> f64 {
    let mut smooth = v.clone();
    for _ in 0..4 {
        for i in 1..v.len() - 1 {
            smooth[i] = (v[i] + smooth[i - 1] + smooth[i + 1]) / 4.0;
        }
    }
    let mut scaled = m.clone();
    for (mut row, s) in scaled.outer_iter_mut().zip(&smooth) {
        row[0] += s;
        for e in &mut row {
            *e *= *e + s;
        }
    }
    scaled.iter_mut().for_each(|e| *e += 0.5);
    let mut squares = Vec::with_capacity(v.len());
    let mut total: f64 = 0.0;
    'rows: for (k, row) in scaled.outer_iter().enumerate() {
        for j in 0..=k {
            if row[j] > 100.0 {
                break 'rows;
            }
            if row[j] < 0.0 {
                continue;
            }
            total += row[j] * total.cos();
        }
    }
    let mut descent = vec![total];
    for s in &smooth {
        squares.push(s * s + total);
        while descent.last().is_some_and(|last| last < s) {
            descent.pop();
        }
        descent.push(*s);
    }
    squares.rotate_left(1);
    descent.reverse();
    descent.rotate_right(1);
    descent.truncate(2);
    total += descent.iter().sum::<f64>();
    descent.clear();
    let mut size = total;
    while size > 1.0 {
        size /= 2.0;
    }
    let mut root: f64 = 1.0 + size * size;
    let root = loop {
        let next: f64 = 0.5 * (root + (1.0 + size * size) / root);
        if (next - root).abs() < 1e-12 {
            break next;
        }
        root = next;
    };
    let before = std::mem::replace(&mut total, 1.0);
    squares.iter().sum::<f64>() + before * total * root
}

/// A `Vec` that becomes longer, shorter or another one, and parts of a length that a loop decides.
#[differentiate]
fn vectors(m: &Array2<f64>, v: &Array1<f64>) -> f64 {
    let mut list = v.to_vec();
    list.retain(|e| *e > -10.0);
    list.extend(v.iter().filter(|e| **e > 0.2));
    list.extend_from_slice(&[m[[0, 0]], 2.0]);
    list.insert(1, m[[1, 1]]);
    let removed = list.remove(0) * list.swap_remove(0);
    if let Some(last) = list.last_mut() {
        *last *= removed;
    }
    if let Some(first) = list.first_mut() {
        *first += 1.0;
    }
    let mut items = list.iter().peekable();
    let mut total = 0.0;
    while let Some(item) = items.next() {
        total += items.peek().map_or(1.0, |next| item * **next);
    }
    while list.len() > 1 {
        list = list.windows(2).map(|pair| pair[0] - 0.5 * pair[1]).filter(|d| d.abs() < 100.0).collect();
    }
    for k in 1..v.len() {
        let before = v.slice(s![..k]);
        total += before.sum() * before.mean().unwrap() * before.dot(&before) * before.len() as f64;
    }
    // Parts of a size that the loop decides, as values and as places.
    let mut square = &v.view().insert_axis(Axis(1)) * &v.view().insert_axis(Axis(0));
    for k in 0..v.len() {
        let pivot = square[[k, k]] + 1.0;
        square.slice_mut(s![k + 1.., k]).mapv_inplace(|e| e / pivot);
        let (low, up) = (square.slice(s![k + 1.., k]).to_owned(), square.slice(s![k, k + 1..]).to_owned());
        let mut rest = square.slice_mut(s![k + 1.., k + 1..]);
        rest -= &(&low.insert_axis(Axis(1)) * &up.insert_axis(Axis(0)));
        square.slice_mut(s![k, ..k]).fill(0.1);
        let column = square.slice(s![k.., k]);
        total += norm(&column) + column.mapv(f64::exp).sum() + square.slice(s![k.., ..k]).dot(&v.slice(s![..k])).sum();
    }
    total + list.iter().sum::<f64>()
}

/// The same elements in other shapes and orders.
#[differentiate]
fn layouts(m: &Array2<f64>, v: &Array1<f64>) -> f64 {
    let turned = m.t().to_owned() + m.clone().reversed_axes() + m.clone().permuted_axes([1, 0]);
    let reshaped = m.clone().into_shape_with_order((3, 2)).unwrap() * m.to_shape((3, 2)).unwrap().to_owned();
    let flat = m.flatten().to_owned();
    let wide = v.clone().insert_axis(Axis(0)).broadcast((2, 3)).unwrap().to_owned();
    let narrow = wide.slice(s![0..1, ..]).to_owned().remove_axis(Axis(0));
    let stacked = ndarray::stack(Axis(0), &[v.view(), v.view()]).unwrap();
    let joined = ndarray::concatenate![Axis(0), flat, narrow];
    let moved = gather([4], &joined, |[i]| [2 * i]) + scatter([4], &joined, |[i]| [i % 4]);
    let same = v.clone().into_dimensionality::<Ix1>().unwrap();
    let mut back = turned.clone();
    back.swap_axes(0, 1);
    back.invert_axis(Axis(0));
    (back * m).sum() + (turned * reshaped).sum() + (stacked * m * wide).sum() + moved.mapv(|e| e * e).sum() + same.sum()
}

/// Arrays of static size, which stay on the stack; those of arrays have rows.
#[differentiate]
fn static_arrays<const N: usize>(x: [f64; N], r: &[[f64; 2]; 2]) -> f64 {
    let powers = x.map(|v| [v, v * v]);
    let mean = x.iter().sum::<f64>() / N as f64;
    let [[a, b], c] = *r;
    powers.iter().map(|[p, q]| a * p + b * q).sum::<f64>() + mean * (c[0] - c[1])
}

/// What each step makes of the last one.
#[differentiate]
fn recurrences(x: &[f64]) -> f64 {
    let horner = fold(0.0, x, |acc, v| acc * 0.5 + v);
    let largest = reduce(0.0, x, |a: f64, b: f64| a.max(b));
    let sums = scan(0.0, x, |acc: f64, v| acc + v.sin());
    let ahead = scanl(1.0, x, |acc: f64, v| acc * v);
    let behind = scanr(0.0, x, |acc: f64, v| (acc + v).tanh());
    let chained =
        x.iter().rev().fold(1.0, |acc: f64, v| acc + v / acc) + x.iter().map(|v| 1.0 + v * v).product::<f64>();
    let rows = build([x.len(), 2], |[i, j]| x[i] + j as f64).product_axis(Axis(1));
    horner * largest + sums.sum() + ahead.dot(&behind) + product(x) + chained + rows.sum() + rows.product()
}

/// A row of the table for each.
pub fn show(table: &mut Table) {
    for (name, f, gradient) in [
        ("scalar_methods", scalar_methods as fn(f64) -> f64, scalar_methods_grad as fn(f64) -> f64),
        ("scalar_steps", scalar_steps, scalar_steps_grad),
        ("dsl_scalars", dsl_scalars, dsl_scalars_grad),
        ("constructions", constructions, constructions_grad),
    ] {
        table.row(name, "x", &[gradient(0.7)], &[slope(0.7, f)]);
    }
    table.row("integers", "x", &[integers_grad(0.5, -7, 5)], &[slope(0.5, |x| integers(x, -7, 5))]);

    let theta = array![0.1, 0.3, 0.4, 0.7, 0.9, 0.2];
    let gradient = Array1::from(pieces_grad(&theta.to_vec(), 2));
    table.arrays("pieces", "theta", &gradient, &slopes(&theta, |theta| pieces(&theta.to_vec(), 2)));
    for k in [0, 1] {
        let items = |v: &[f64]| items_inside(v, k);
        let w = array![0.4, 1.2, 0.9];
        let gradient = Array1::from(items_inside_grad(&[0.4, 1.2, 0.9], k));
        table.arrays(&format!("items_inside({k})"), "x", &gradient, &slopes(&w, |w| items(&w.to_vec())));
    }

    let v = array![0.4, 1.2, 0.9];
    let m = array![[0.5, -1.0, 2.0], [1.5, 0.25, -0.75]];
    for k in [0, 2, 4, 5] {
        let name = format!("bindings..({k})");
        table.arrays(&name, "x", &bindings_and_choices_grad(&v, k), &slopes(&v, |v| bindings_and_choices(v, k)));
    }
    table.arrays("closures", "x", &closures_grad(&v), &slopes(&v, closures));
    table.arrays(
        "sizes_and_parts",
        "x",
        &sizes_and_parts_grad(&m, &[1, 0]),
        &slopes(&m, |m| sizes_and_parts(m, &[1, 0])),
    );
    let (x, r) = ([0.4, 1.2, 0.9], [[0.5, -1.0], [1.5, 0.25]]);
    let (dx, dr) = static_arrays_grad(x, &r);
    table.row("static_arrays", "x", &dx, &slopes(&v, |v| static_arrays([v[0], v[1], v[2]], &r)).to_vec());
    let quotients = slopes(&ndarray::arr2(&r), |r| static_arrays(x, &[[r[[0, 0]], r[[0, 1]]], [r[[1, 0]], r[[1, 1]]]]));
    table.row("", "r", dr.as_flattened(), &quotients.flatten().to_vec());
    type Two = fn(&Array2<f64>, &Array1<f64>) -> f64;
    type TwoGradients = fn(&Array2<f64>, &Array1<f64>) -> (Array2<f64>, Array1<f64>);
    let all: [(&str, Two, TwoGradients); 8] = [
        ("elementwise", elementwise, elementwise_grad),
        ("linear_algebra", linear_algebra, linear_algebra_grad),
        ("reductions", reductions, reductions_grad),
        ("layouts", layouts, layouts_grad),
        ("iterators_of_parts", iterators_of_parts, iterators_of_parts_grad),
        ("statements", statements, statements_grad),
        ("loops", loops, loops_grad),
        ("vectors", vectors, vectors_grad),
    ];
    for (name, f, gradient) in all {
        let (dm, dv) = gradient(&m, &v);
        table.arrays(name, "m", &dm, &slopes(&m, |m| f(m, &v)));
        table.arrays("", "v", &dv, &slopes(&v, |v| f(&m, v)));
    }
    let slice = v.to_vec();
    table.row("recurrences", "x", &recurrences_grad(&slice), &slopes(&v, |v| recurrences(&v.to_vec())).to_vec());
    table.row("iterators", "x", &iterators_grad(&slice), &slopes(&v, |v| iterators(&v.to_vec())).to_vec());
}
