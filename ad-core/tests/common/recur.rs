//! Functions with recurrences, as users write them, with inputs. The tests of meaning, of gradients
//! and of generated code use the same list.

#[path = "chosen.rs"]
mod chosen;
#[path = "places.rs"]
mod places;
#[path = "rows.rs"]
mod rows;

use ad_core::ir::{Elem, IntTy};
use ad_oracle::interp::{Array, Data, Dual, Value};
use proc_macro2::TokenStream;
use quote::quote;

/// A function and a call of it.
pub struct Program {
    pub name: &'static str,
    pub item: TokenStream,
    pub inputs: Vec<Value>,
}

pub fn real(shape: &[usize], data: &[f64]) -> Value {
    let data = Data::Real(data.iter().map(|&x| Dual::constant(x)).collect());
    Value::Array(Array { elem: Elem::F64, shape: shape.to_vec(), data })
}

pub fn whole(shape: &[usize], data: &[usize]) -> Value {
    let data = Data::Int(data.iter().map(|&x| x as i128).collect());
    Value::Array(Array { elem: Elem::Int(IntTy::Usize), shape: shape.to_vec(), data })
}

/// The list of functions.
pub fn programs() -> Vec<Program> {
    let v = |data: &[f64]| real(&[data.len()], data);
    let m23 = || real(&[2, 3], &[0.5, -1.0, 2.0, 1.5, 0.25, -0.75]);
    let x4 = || v(&[0.5, -1.5, 2.0, 0.75]);
    let mut all = Vec::new();
    let mut add = |name, item, inputs: Vec<Value>| all.push(Program { name, item, inputs });
    add(
        "horner",
        quote! { fn horner(c: &Array1<f64>, x: f64) -> f64 { fold(0.0, c, |acc, a| acc * x + a) } },
        vec![x4(), real(&[], &[1.25])],
    );
    add(
        "empty_fold",
        quote! { fn empty_fold(c: &Array1<f64>, x: f64) -> f64 { fold(x * x, c, |acc, a| acc * a) } },
        vec![v(&[]), real(&[], &[3.0])],
    );
    add("product_dsl", quote! { fn product_dsl(x: &Array1<f64>) -> f64 { product(x) } }, vec![x4()]);
    add(
        "product_one_zero",
        quote! { fn product_one_zero(x: &Array1<f64>) -> f64 { x.product() } },
        vec![v(&[2.0, 0.0, 3.0])],
    );
    add(
        "product_two_zeros",
        quote! { fn product_two_zeros(x: &Array1<f64>) -> f64 { x.iter().product::<f64>() } },
        vec![v(&[2.0, 0.0, 0.0])],
    );
    add(
        "product_rows",
        quote! { fn product_rows(x: &Array2<f64>) -> f64 { let p = x.product_axis(Axis(1)); p[0] + 2.0 * p[1] } },
        vec![m23()],
    );
    add(
        "product_columns",
        quote! { fn product_columns(x: &Array2<f64>) -> f64 { (&x.product_axis(Axis(0)) * &x.row(0)).sum() } },
        vec![m23()],
    );
    add("product_all", quote! { fn product_all(x: &Array2<f64>) -> f64 { x.product().sin() } }, vec![m23()]);
    add(
        "cumulative",
        quote! { fn cumulative(x: &Array1<f64>) -> f64 { let s = scan(0.0, x, |a, b| a + b); (&s * &s).sum() } },
        vec![x4()],
    );
    add(
        "scanl_squares",
        quote! { fn scanl_squares(x: &Array1<f64>) -> f64 { let s = scanl(1.0, x, |a, b| a * b + 0.5); s.mapv(|e| e * e).sum() } },
        vec![x4()],
    );
    add(
        "scanr_weights",
        quote! { fn scanr_weights(x: &Array1<f64>) -> f64 { let s = scanr(1.0, x, |a, b| (a * b).sin()); build1(s.len(), |i| s[i] * (i as f64 + 1.0)).sum() } },
        vec![x4()],
    );
    add(
        "logistic_map",
        quote! { fn logistic_map(r: f64, x: f64) -> f64 { fold(x, 0..1000, |x, _| r * x * (1.0 - x)) } },
        vec![real(&[], &[2.8]), real(&[], &[0.3])],
    );
    add(
        "rows_into_array",
        quote! { fn rows_into_array(m: &Array2<f64>) -> f64 { let t = fold(Array1::zeros(m.ncols()), m, |acc, row| 0.5 * &acc + &row * &row); (&t * &t).sum() } },
        vec![m23()],
    );
    add(
        "nested_folds",
        quote! { fn nested_folds(m: &Array2<f64>) -> f64 { fold(1.0, m, |acc, row| fold(acc, row, |a, e| a * 0.5 + e.sin())) } },
        vec![m23()],
    );
    add(
        "fold_in_build",
        quote! { fn fold_in_build(m: &Array2<f64>, x: f64) -> f64 { let t = build1(m.nrows(), |i| fold(0.0, 0..m.ncols(), |acc, j| acc * x + m[[i, j]])); (&t * &t).sum() } },
        vec![m23(), real(&[], &[0.8])],
    );
    add(
        "build_in_fold",
        quote! { fn build_in_fold(x: &Array1<f64>, n: usize) -> f64 { let t = fold(x.clone(), 0..n, |y, k| build1(x.len(), |i| y[i] * y[x.len() - 1 - i] + 0.1 * (k as f64) * x[i])); t.sum() } },
        vec![x4(), whole(&[], &[3])],
    );
    add(
        "tuple",
        quote! { fn tuple(x: &Array1<f64>) -> f64 { let (m, s) = fold((0.0, 1.0), x, |(m, s), e| (m + e * s, s * 0.9 + m.sin())); m * s } },
        vec![x4()],
    );
    add(
        "swapping",
        quote! { fn swapping(a: f64, b: f64, n: usize) -> f64 { fold((a, b), 0..n, |(a, b), _| (b, a + b * b * 0.1)).0 } },
        vec![real(&[], &[0.5]), real(&[], &[0.75]), whole(&[], &[5])],
    );
    add(
        "nested_tuple",
        quote! { fn nested_tuple(x: &Array1<f64>, k: usize) -> f64 { let (v, (n, a)) = fold((x.clone(), (k, 1.0)), 0..4, |(v, (n, a)), i| (&v * a, (n + i, a * 0.5 + v[n % 4]))); v.sum() * a + n as f64 } },
        vec![x4(), whole(&[], &[1])],
    );
    add(
        "list",
        quote! { fn list(x: &Array1<f64>) -> f64 { let [p, q] = fold([0.0, 1.0], x, |[p, q], e| [p + q * e, q * 0.5 + p]); p * q } },
        vec![x4()],
    );
    add(
        "map_accumulate",
        quote! { fn map_accumulate(x: &Array1<f64>) -> f64 { let s = scan(array![0.0, 0.0], x, |acc, e| array![acc[0] + e, acc[0] * e]); s.column(1).sum() } },
        vec![x4()],
    );
    add(
        "branches",
        quote! { fn branches(x: &Array1<f64>) -> f64 { fold(1.0, x, |acc, e| if e > 0.0 { acc * e.ln().exp() } else { acc - 1.0 / (e - 1.0) }) } },
        vec![v(&[0.5, -1.5, -0.25, 2.0])],
    );
    add(
        "masked_capture",
        quote! { fn masked_capture(x: &Array1<f64>, d: f64) -> f64 { fold(1.0, x, |acc, e| if d > 0.0 { acc * e + (1.0 / d).sqrt() } else { acc * e }) } },
        vec![x4(), real(&[], &[0.0])],
    );
    add(
        "lookup",
        quote! { fn lookup(table: &Array1<f64>, ids: &Array1<usize>) -> f64 { fold(0.25, ids, |acc, i| acc * table[i] + table[i + 1]) } },
        vec![x4(), whole(&[5], &[0, 2, 1, 1, 0])],
    );
    add(
        "matrix_power",
        quote! { fn matrix_power(a: &Array2<f64>, x: &Array1<f64>) -> f64 { let y = fold(x.clone(), 0..3, |y, _| a.dot(&y).mapv(f64::tanh)); y.sum() } },
        vec![
            real(&[4, 4], &[0.1, 0.2, -0.3, 0.4, 0.5, -0.1, 0.3, 0.2, -0.2, 0.6, 0.1, 0.3, 0.7, 0.1, -0.4, 0.2]),
            x4(),
        ],
    );
    add(
        "greatest",
        quote! { fn greatest(x: &Array1<f64>) -> f64 { reduce(f64::NEG_INFINITY, x, f64::max) } },
        vec![x4()],
    );
    add(
        "reduce_product",
        quote! { fn reduce_product(x: &Array1<f64>) -> f64 { reduce(1.0, x, |a, b| a * b) } },
        vec![v(&[2.0, 0.0, 3.0, -1.0])],
    );
    add("sum_by_fold", quote! { fn sum_by_fold(x: &Array1<f64>) -> f64 { fold(0.0, x, |a, e| a + e) } }, vec![x4()]);
    add(
        "dot_by_fold",
        quote! { fn dot_by_fold(a: &Array1<f64>, b: &Array1<f64>) -> f64 { a.iter().zip(b).fold(0.0, |s, (x, y)| s + x * y) } },
        vec![x4(), v(&[1.0, -2.0, 0.5, 3.0])],
    );
    add(
        "iterator_chain",
        quote! { fn iterator_chain(x: &Array2<f64>, w: f64) -> f64 { x.iter().map(|e| e * w).fold(1.0, |a, e| a * 0.7 + e) } },
        vec![m23(), real(&[], &[1.5])],
    );
    add(
        "reversed_chain",
        quote! { fn reversed_chain(x: &Array1<f64>) -> f64 { x.iter().rev().enumerate().fold(0.0, |a, (k, e)| a * 0.5 + e * k as f64) } },
        vec![x4()],
    );
    add(
        "counting",
        quote! { fn counting(x: &Array1<f64>) -> f64 { let n = x.iter().fold(0_usize, |n, &e| if e > 0.0 { n + 1 } else { n }); n as f64 * x.sum() } },
        vec![x4()],
    );
    add(
        "integer_literals",
        quote! { fn integer_literals(x: f64, n: usize) -> f64 { let k = fold(0, 0..n, |k, i| k + i); let p = (1..n).product::<usize>(); x * (k + p) as f64 } },
        vec![real(&[], &[2.0]), whole(&[], &[4])],
    );
    add(
        "flag",
        quote! { fn flag(x: &Array1<f64>) -> f64 { let (s, _) = fold((0.0, true), x, |(s, up), e| (if up { s + e * e } else { s - e }, !up)); s } },
        vec![x4()],
    );
    add(
        "neighbours",
        quote! { fn neighbours(x: &Array1<f64>) -> f64 { fold(1.0, 0..x.len() - 1, |a, i| a * x[i] + x[i + 1] * x[i + 1]) } },
        vec![x4()],
    );
    add(
        "moving_index",
        quote! { fn moving_index(x: &Array1<f64>, n: usize) -> f64 { fold((0.0, 0), 0..n, |(s, k), _| (s + x[k] * s.cos(), (k + 3) % x.len())).0 } },
        vec![x4(), whole(&[], &[7])],
    );
    add(
        "batched",
        quote! { fn batched(m: &Array2<f64>) -> f64 { let t = build1(m.nrows(), |i| scan(0.5, m.row(i), |a, e| a * e + e)); (&t * m).sum() } },
        vec![m23()],
    );
    add(
        "scan_in_fold",
        quote! { fn scan_in_fold(x: &Array1<f64>) -> f64 { let y = fold(x.clone(), 0..2, |y, _| scan(0.0, &y, |a, e| 0.5 * a + e.sin())); y.sum() } },
        vec![x4()],
    );
    add(
        "conditional_loop",
        quote! { fn conditional_loop(x: &Array1<f64>, s: f64) -> f64 { if s > 0.0 { product(x) * s } else { fold(s, x, |a, e| a * a + e) } } },
        vec![x4(), real(&[], &[-0.5])],
    );
    add(
        "loop_in_conditional_in_loop",
        quote! { fn loop_in_conditional_in_loop(m: &Array2<f64>) -> f64 { fold(0.5, m, |a, row| if row[0] > 1.0 { fold(a, row, |b, e| b * 0.5 + e * e) } else { a * row[1] }) } },
        vec![m23()],
    );
    add(
        "element_writes",
        quote! { fn element_writes(x: &Array1<f64>) -> f64 { let y = fold(x.clone(), 0..x.len() - 1, |mut y, k| { y[k + 1] = y[k + 1] * y[k] + 0.5; y }); (&y * &y).sum() } },
        vec![x4()],
    );
    add(
        "element_additions",
        quote! { fn element_additions(x: &Array1<f64>, ids: &Array1<usize>) -> f64 { let (y, _) = fold((Array1::zeros(x.len()), 1.0), ids, |(mut y, s), i| { y[i] += s * x[i]; (y, s * 0.5 + x[i]) }); (&y * &y).sum() } },
        vec![x4(), whole(&[5], &[0, 2, 1, 1, 0])],
    );
    add(
        "row_writes",
        quote! { fn row_writes(m: &Array2<f64>) -> f64 { let y = fold(m.clone(), 0..3_usize, |mut y, k| { let r = y.row(k % 2).to_owned(); let s = y.row((k + 1) % 2).to_owned(); y.row_mut(k % 2).assign(&(&r * &s + 0.25)); y }); (&y * &y).sum() } },
        vec![m23()],
    );
    add(
        "slice_writes",
        quote! { fn slice_writes(x: &Array1<f64>) -> f64 { let n = x.len(); let y = fold(x.clone(), 0..3_usize, |mut y, k| { let t = y.slice(s![1..]).to_owned(); y.slice_mut(s![..n - 1; -1]).assign(&(&t * x[k])); y }); (&y * &y).sum() } },
        vec![x4()],
    );
    add(
        "flags_written",
        quote! { fn flags_written(x: &Array1<f64>, ids: &Array1<usize>) -> f64 { let (s, _) = fold((0.0, Array1::from_elem(x.len(), 0_usize)), ids, |(s, mut seen), i| { let n = seen[i]; seen[i] = n + 1; (if n > 0 { s * 0.5 } else { s + x[i] * x[i] }, seen) }); s } },
        vec![x4(), whole(&[5], &[0, 2, 1, 1, 0])],
    );
    all.extend(chosen::programs());
    all.extend(places::programs());
    all.extend(rows::programs());
    all
}
