//! Decisions are the function's own, to the last bit. Each program branches on `s > c`. The test
//! finds the number at which the function changes branches, and its derivative has to change
//! branches at the same number.

use ad::prelude::*;

/// Floats in their order, by number.
trait Ordered: Copy + PartialEq + std::fmt::Debug {
    const LEAST: i64;
    const MOST: i64;
    fn numbered(k: i64) -> Self;
    fn of(x: f64) -> Self;
}

impl Ordered for f64 {
    const LEAST: i64 = -0x7ff0_0000_0000_0000;
    const MOST: i64 = 0x7ff0_0000_0000_0000;
    fn numbered(k: i64) -> f64 {
        if k < 0 { -f64::from_bits(-k as u64) } else { f64::from_bits(k as u64) }
    }
    fn of(x: f64) -> f64 {
        x
    }
}

impl Ordered for f32 {
    const LEAST: i64 = -0x7f80_0000;
    const MOST: i64 = 0x7f80_0000;
    fn numbered(k: i64) -> f32 {
        if k < 0 { -f32::from_bits(-k as u32) } else { f32::from_bits(k as u32) }
    }
    fn of(x: f64) -> f32 {
        x as f32
    }
}

/// `f(c)` is 2 where `s > c` and 3 elsewhere: the derivative changes arms where f does.
fn flips<F: Ordered>(f: impl Fn(F) -> F, derived: impl Fn(F) -> (F, F)) -> Result<(), String> {
    let two = F::of(2.0);
    let arm = |k: i64| {
        let c = F::numbered(k);
        let (value, found) = (f(c), derived(c));
        if found == (value, value) { Ok(()) } else { Err(format!("{value:?} is {found:?} at {c:?}")) }
    };
    let (mut low, mut high) = (F::LEAST, F::MOST);
    // It may also never change, or `s` may be NaN.
    while f(F::numbered(low)) == two && high.abs_diff(low) > 1 {
        let middle = i64::midpoint(low, high);
        *(if f(F::numbered(middle)) == two { &mut low } else { &mut high }) = middle;
    }
    arm(low)?;
    arm(high)
}

struct Random(u64);

impl Random {
    /// Numbers between -0.7 and 1.3, of a few magnitudes.
    fn next<F: Ordered>(&mut self) -> F {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        let x = (self.0 >> 11) as f64 / (1_u64 << 53) as f64;
        F::of((x * 2.0 - 0.7) * [1.0, 0.01, 1.0, 7.0][(self.0 >> 5) as usize % 4])
    }

    fn vector<F: Ordered>(&mut self, n: usize) -> Array1<F> {
        Array1::from_shape_fn(n, |_| self.next())
    }

    fn matrix<F: Ordered>(&mut self, n: usize, m: usize) -> Array2<F> {
        Array2::from_shape_fn((n, m), |_| self.next())
    }
}

/// Programs of one argument. `w` is 1, so that the value and its derivative with respect to `w`
/// identify the branch. All run on each argument.
macro_rules! programs {
    ($of:ident: $F:ident, $arg:ident: $A:ty; $($name:ident $derived:ident { $($body:tt)* })*) => {
        mod $of {
            #![allow(clippy::all, clippy::pedantic, reason = "programs as people write them")]
            #[allow(unused_imports, reason = "not every list of programs puts arrays together")]
            use ad::ndarray::{self, concatenate};
            use ad::prelude::*;
            $(
                #[differentiate(wrt($arg, w))]
                pub fn $name($arg: $A, c: $F, w: $F) -> $F {
                    let s = { $($body)* };
                    if s > c { 2.0 * w } else { 3.0 * w }
                }
            )*
            /// Lists the programs whose derivative decides differently.
            pub fn all($arg: $A, wrong: &mut std::collections::BTreeMap<&'static str, String>) {
                $(
                    let found = super::flips(
                        |c| $name($arg, c, 1.0),
                        |c| { let (value, (_, by_w)) = $derived($arg, c, 1.0); (value, by_w) },
                    );
                    if let Err(e) = found {
                        wrong.entry(stringify!($name)).or_insert(format!("{e}, of {:?}", $arg));
                    }
                )*
            }
        }
    };
}

macro_rules! vectors {
    ($of:ident, $F:ident) => {
        programs! { $of: $F, x: &Array1<$F>;
            iter_sum iter_sum_value_and_grad { x.iter().sum::<$F>() }
            iter_sum_typed iter_sum_typed_value_and_grad { let s: $F = x.iter().map(|v| v * v).sum(); s }
            reciprocal reciprocal_value_and_grad { 1.0 / x.iter().sum::<$F>() }
            array_sum array_sum_value_and_grad { x.sum() }
            array_reciprocal array_reciprocal_value_and_grad { 1.0 / x.sum() }
            dsl_sum dsl_sum_value_and_grad { sum(x) }
            dsl_norm dsl_norm_value_and_grad { norm(x) }
            dsl_softmax dsl_softmax_value_and_grad { if x.len() > 2 { softmax(x)[1] } else { 0.0 } }
            dsl_logsumexp dsl_logsumexp_value_and_grad { logsumexp(x) }
            filtered filtered_value_and_grad { x.iter().filter(|&&v| v > 0.1).sum::<$F>() }
            nothing nothing_value_and_grad { 1.0 / x.iter().filter(|&&v| v > 9.0).map(|v| v * 2.0).sum::<$F>() }
            zipped zipped_value_and_grad { x.iter().zip(x.iter().skip(1)).map(|(a, b)| a * b).sum::<$F>() }
            reversed reversed_value_and_grad { x.iter().rev().sum::<$F>() }
            windows windows_value_and_grad { x.windows(3).into_iter().map(|v| v[0] * v[2] - v[1]).sum::<$F>() }
            folded folded_value_and_grad { x.iter().fold(0.0, |a, v| a + v) }
            dsl_folded dsl_folded_value_and_grad { fold(0.0, x, |a, v| a + v) }
            looped looped_value_and_grad { let mut s = 0.0; for i in 0..x.len() { s += x[i]; } s }
            looped_items looped_items_value_and_grad { let mut s = 1.0; for v in x { s -= v * v; } s }
            looped_under looped_under_value_and_grad { let mut s = 0.0; for &v in x.iter() { if v > 0.0 { s += v; } } s }
            two_sums two_sums_value_and_grad {
                let (mut s, mut t) = (0.0, 0.0);
                for &v in x.iter() { s += v; t += v * v; }
                t - s * s
            }
            iter_product iter_product_value_and_grad { x.iter().map(|v| v + 1.0).product::<$F>() }
            array_product array_product_value_and_grad { x.product() }
            dsl_product dsl_product_value_and_grad { product(x) }
            axis_sum axis_sum_value_and_grad { x.sum_axis(Axis(0))[()] }
            mean mean_value_and_grad { if x.len() > 0 { x.mean().unwrap() } else { 0.0 } }
            variance variance_value_and_grad { x.var(0.0) }
            deviation deviation_value_and_grad { if x.len() > 1 { x.std(1.0) } else { 0.0 } }
            dot dot_value_and_grad { x.dot(x) }
            dot_of_more dot_of_more_value_and_grad { (x * 2.0).dot(&x.mapv(|v| v + 1.0)) }
            fused fused_value_and_grad { let mut s = 0.0; for &v in x.iter() { s = v.mul_add(v, s); } s }
            built built_value_and_grad { build1(x.len(), |i| x[i] * x[i]).sum() }
            nested nested_value_and_grad { build1(3, |i| x.iter().map(|v| v * i as $F).sum::<$F>()).sum() }
            mapped mapped_value_and_grad { x.mapv(|v| v * v - 1.0).sum() }
            in_loop in_loop_value_and_grad { let mut t = 0.0; for i in 0..3 { t = t * 0.5 + x.iter().map(|v| v - i as $F).sum::<$F>(); } t }
            array_in_loop array_in_loop_value_and_grad { let mut t = 0.0; for i in 0..3 { t = t * 0.5 + (x - i as $F).sum(); } t }
        }
    };
}
macro_rules! scalars {
    ($of:ident, $F:ident) => {
        programs! { $of: $F, x: &Array1<$F>;
            log log_value_and_grad { x[0].abs().log(3.0) + x[1].abs().log2() + x[0].abs().log10() + x[1].abs().ln_1p() }
            degrees degrees_value_and_grad { x[0].to_degrees() + x[1].to_radians() }
            powers powers_value_and_grad { x[0].powi(3) + x[1].powi(-2) + x[0].abs().powf(0.7) + x[1].cbrt() }
            five five_value_and_grad { x[0].powi(5) - x[1].powi(7) }
            variable variable_value_and_grad { let mut s = 0.0; for k in 0..9 { s += x[0].powi(k as i32) * x[1]; } s }
            hypot hypot_value_and_grad { x[0].hypot(x[1]) - x[0].atan2(x[1]) }
            exponentials exponentials_value_and_grad { x[0].exp() + x[1].exp2() - x[0].exp_m1() + x[1].sinh() * x[0].tanh() - x[1].cosh() }
            inverse inverse_value_and_grad { x[0].asinh() + x[1].atan() + x[0].recip() - x[1].tan() }
            remainder remainder_value_and_grad { (x[0] * 10.0) % x[1] + x[0].fract() - x[1].trunc() + (x[0] * 9.0).rem_euclid(x[1].abs()) }
            clamped clamped_value_and_grad { x[0].clamp(-0.5, 0.5) * x[1].min(0.3).max(x[0]) - x[0].copysign(x[1]) * x[1].signum() }
            dsl dsl_value_and_grad { sigmoid(x[0]) + relu(x[1]) - softplus(x[0]) * erf(x[1]) + erfc(x[0]) - ln_gamma(x[1].abs() + 0.5) * digamma(x[0].abs() + 0.5) }
            circle circle_value_and_grad { let (s, c) = x[0].sin_cos(); s * x[1] + c }
            constants constants_value_and_grad { x[0] * 0.1 + x[1] / 3.0 - std::f64::consts::PI as $F * x[0] }
            line line_value_and_grad { (Array1::linspace(x[0], x[1], 7) * 0.3).iter().fold(0.5, |a, v| a * 0.5 + v) }
            polynomial polynomial_value_and_grad { ((x[0] * 2.0 + 1.0) * x[0] - 3.0) * x[0] + x[1] + x[1] - x[0] * x[0] / x[1] - -x[1] }
            zeros zeros_value_and_grad { let z = x[0] * 0.0; 1.0 / concatenate![Axis(0), array![z], *x][0] + x[1] }
            stacked stacked_value_and_grad { let z = x[0] * 0.0; let y = x * 0.0; 1.0 / ndarray::stack![Axis(0), y, y][[0, 0]] + 1.0 / array![[x[0], z], [z, z]][[1, 0]] }
            scanned scanned_value_and_grad { let z = x[0] * -0.0; 1.0 / scanl(z, x, |a, v| a * v)[0] }
            scanned_back scanned_back_value_and_grad { let z = x[0] * -0.0; 1.0 / scanr(z, x, |a, v| a * v)[1] }
            assigned assigned_value_and_grad { let mut y = Array1::zeros(3); y[1] = x[0] * 0.0; y.slice_mut(s![2..]).assign(&x.slice(s![..1])); 1.0 / y[1] + y[2] }
            pushed pushed_value_and_grad { let mut y = Vec::new(); for v in x.iter() { y.push(v * 0.0); } 1.0 / y[0] + x[1] }
            negated negated_value_and_grad { 1.0 / -(x[0] * 0.0) + 1.0 / (0.0 - x[0] * 0.0) + x[1] }
        }
    };
}
scalars!(scalars_f64, f64);
scalars!(scalars_f32, f32);
vectors!(of_f64, f64);
vectors!(of_f32, f32);

macro_rules! matrices {
    ($of:ident, $F:ident) => {
        programs! { $of: $F, x: &Array2<$F>;
            iter_sum iter_sum_value_and_grad { x.iter().sum::<$F>() }
            array_sum array_sum_value_and_grad { x.sum() }
            dsl_sum dsl_sum_value_and_grad { sum(x) }
            mean mean_value_and_grad { if x.len() > 0 { x.mean().unwrap() } else { 0.0 } }
            variance variance_value_and_grad { x.var(0.0) }
            array_product array_product_value_and_grad { x.product() }
            rows rows_value_and_grad { x.sum_axis(Axis(1)).iter().fold(0.5, |a, v| a * 0.5 + v) }
            columns columns_value_and_grad { x.sum_axis(Axis(0)).iter().fold(0.5, |a, v| a * 0.5 + v) }
            means means_value_and_grad { if x.nrows() > 0 { x.mean_axis(Axis(0)).unwrap().iter().fold(0.5, |a, v| a * 0.5 + v) } else { 0.0 } }
            variances variances_value_and_grad { if x.nrows() > 0 { x.var_axis(Axis(0), 0.0).iter().fold(0.5, |a, v| a * 0.5 + v) } else { 0.0 } }
            row_variances row_variances_value_and_grad { if x.ncols() > 0 { x.std_axis(Axis(1), 0.0).iter().fold(0.5, |a, v| a * 0.5 + v) } else { 0.0 } }
            row_products row_products_value_and_grad { x.product_axis(Axis(1)).iter().fold(0.5, |a, v| a * 0.5 + v) }
            column_products column_products_value_and_grad { x.product_axis(Axis(0)).iter().fold(0.5, |a, v| a * 0.5 + v) }
            built built_value_and_grad { build1(x.nrows(), |i| x.row(i).sum()).iter().fold(0.5, |a, v| a * 0.5 + v) }
            by_rows by_rows_value_and_grad { x.rows().into_iter().map(|r| r.iter().sum::<$F>()).fold(0.5, |a, v| a * 0.5 + v) }
            by_outer by_outer_value_and_grad { x.outer_iter().map(|r| r.sum()).fold(0.5, |a, v| a * 0.5 + v) }
            softmaxes softmaxes_value_and_grad { if x.len() > 0 { let p = softmax(x); p[[0, 0]] } else { 0.0 } }
            vector vector_value_and_grad { let v = x.sum_axis(Axis(1)).mapv(|v| v * 0.3); v.dot(x).iter().fold(0.5, |a, v| a * 0.5 + v) }
            of_vector of_vector_value_and_grad { let v = x.sum_axis(Axis(0)).mapv(|v| v * 0.3); x.dot(&v).iter().fold(0.5, |a, v| a * 0.5 + v) }
            transposed_vector transposed_vector_value_and_grad {
                let v = x.sum_axis(Axis(1)).mapv(|v| v * 0.3);
                x.t().dot(&v).iter().fold(0.5, |a, v| a * 0.5 + v)
            }
            outer outer_value_and_grad { let s = sum_outer(x); s.iter().fold(0.5, |a, v| a * 0.5 + v) }
            squared squared_value_and_grad { x.dot(&x.t()).iter().fold(0.5, |a, v| a * 0.5 + v) }
            squared_too squared_too_value_and_grad { x.t().dot(x).iter().fold(0.5, |a, v| a * 0.5 + v) }
            product_of product_of_value_and_grad { let y = x.t().mapv(|v| v - 0.1); x.dot(&y).iter().fold(0.5, |a, v| a * 0.5 + v) }
            looped looped_value_and_grad {
                let mut s = 0.0;
                for i in 0..x.nrows() { for j in 0..x.ncols() { s += x[[i, j]] * x[[i, j]]; } }
                s
            }
        }
    };
}
macro_rules! views {
    ($of:ident, $F:ident) => {
        programs! { $of: $F, x: &Array2<$F>;
            transposed transposed_value_and_grad { x.t().sum() }
            transposed_mean transposed_mean_value_and_grad { if x.len() > 0 { x.t().mean().unwrap() } else { 0.0 } }
            transposed_variance transposed_variance_value_and_grad { x.t().var(0.0) }
            transposed_product transposed_product_value_and_grad { x.t().product() }
            transposed_iter transposed_iter_value_and_grad { x.t().iter().sum::<$F>() }
            transposed_dsl transposed_dsl_value_and_grad { sum(&x.t()) }
            transposed_rows transposed_rows_value_and_grad { x.t().sum_axis(Axis(1)).iter().fold(0.5, |a, v| a * 0.5 + v) }
            transposed_columns transposed_columns_value_and_grad { x.t().sum_axis(Axis(0)).iter().fold(0.5, |a, v| a * 0.5 + v) }
            transposed_means transposed_means_value_and_grad { if x.ncols() > 0 { x.t().mean_axis(Axis(0)).unwrap().iter().fold(0.5, |a, v| a * 0.5 + v) } else { 0.0 } }
            transposed_mapped transposed_mapped_value_and_grad { x.t().mapv(|v| v * 1.5).sum() }
            transposed_function transposed_function_value_and_grad { x.t().mapv($F::abs).sum() }
            transposed_scaled transposed_scaled_value_and_grad { (&x.t() * 0.7).sum() }
            transposed_negated transposed_negated_value_and_grad { (-x.t().to_owned()).sum() }
            transposed_powers transposed_powers_value_and_grad { x.t().powi(2).sum() }
            transposed_clamped transposed_clamped_value_and_grad { x.t().clamp(-0.5, 1.0).sum() }
            transposed_twice transposed_twice_value_and_grad { (&x.t() * &x.t()).sum() }
            transposed_and_standard transposed_and_standard_value_and_grad {
                let y = Array2::from_elem((x.ncols(), x.nrows()), 0.3);
                (&x.t() + &y).sum()
            }
            onto_transposed onto_transposed_value_and_grad {
                let y = Array2::from_elem((x.ncols(), x.nrows()), 0.3);
                (x.t().to_owned() + &y).sum()
            }
            onto_standard onto_standard_value_and_grad {
                let y = Array2::from_elem((x.ncols(), x.nrows()), 0.3);
                (y + &x.t()).sum()
            }
            into_the_right into_the_right_value_and_grad {
                let y = Array2::from_elem((x.ncols(), x.nrows()), 0.3);
                (&y * x.t().to_owned()).sum()
            }
            transposed_and_row transposed_and_row_value_and_grad { if x.ncols() > 0 { (&x.t() + &x.column(0)).sum() } else { 0.0 } }
            transposed_zip transposed_zip_value_and_grad { ndarray::Zip::from(&x.t()).and(&x.t()).map_collect(|a, b| a * b + 0.1).sum() }
            zip_of_both zip_of_both_value_and_grad {
                let y = Array2::from_elem((x.ncols(), x.nrows()), 0.3);
                ndarray::Zip::from(&x.t()).and(&y).map_collect(|a, b| a * b + 0.1).sum()
            }
            transposed_changed transposed_changed_value_and_grad {
                let mut y = x.t().to_owned();
                y *= 0.9;
                y.mapv_inplace(|v| v + 0.1);
                y += &x.t();
                y.sum()
            }
            dsl_of_transposed dsl_of_transposed_value_and_grad { (sigmoid(&x.t()) + relu(&x.t())).sum() }
            columns_of_two columns_of_two_value_and_grad {
                let y = Array2::from_elem((x.nrows(), x.ncols()), 0.3);
                (&x.t() + &y.slice(s![.., ..;-1]).t()).sum()
            }
            no_axis no_axis_value_and_grad { (&x.slice(s![..;-1, ..]) + &ndarray::arr0(0.3)).sum() }
            mapped_twice mapped_twice_value_and_grad { x.t().mapv(|v| v * 1.5).mapv(|v| v - 0.2).t().sum() }
            transposed_mapped_product transposed_mapped_product_value_and_grad { x.t().mapv(|v| v + 0.5).product() }
            transposed_mapped_variance transposed_mapped_variance_value_and_grad { x.t().mapv(|v| v * 1.5).var(0.0) }
            backwards_mapped backwards_mapped_value_and_grad { x.slice(s![..;-1, ..]).mapv(|v| v * 1.5).sum() }
            transposed_rows_of_mapped transposed_rows_of_mapped_value_and_grad { x.t().mapv(|v| v * 1.5).sum_axis(Axis(1)).iter().fold(0.5, |a, v| a * 0.5 + v) }
            transposed_fold transposed_fold_value_and_grad { x.t().fold(0.5, |a, v| a * 0.5 + v) }
            backwards_fold backwards_fold_value_and_grad { if x.nrows() > 0 { x.row(0).slice(s![..;-1]).fold(0.5, |a, v| a * 0.5 + v) } else { 0.0 } }
            owned owned_value_and_grad { x.t().to_owned().sum() }
            column column_value_and_grad { if x.ncols() > 0 { x.column(x.ncols() - 1).sum() } else { 0.0 } }
            column_mean column_mean_value_and_grad { if x.len() > 0 { x.column(0).mean().unwrap() } else { 0.0 } }
            column_owned column_owned_value_and_grad { if x.ncols() > 0 { x.column(0).to_owned().sum() } else { 0.0 } }
            column_product column_product_value_and_grad { if x.ncols() > 0 { x.column(0).product() } else { 0.0 } }
            column_variance column_variance_value_and_grad { if x.ncols() > 0 { x.column(0).var(0.0) } else { 0.0 } }
            columns columns_value_and_grad { build1(x.ncols(), |j| x.column(j).sum()).iter().fold(0.5, |a, v| a * 0.5 + v) }
            by_columns by_columns_value_and_grad { x.columns().into_iter().map(|c| c.sum()).fold(0.5, |a, v| a * 0.5 + v) }
            by_axis by_axis_value_and_grad { x.axis_iter(Axis(1)).map(|c| c.dot(&c)).fold(0.5, |a, v| a * 0.5 + v) }
            lanes lanes_value_and_grad { x.map_axis(Axis(0), |c| c.sum()).iter().fold(0.5, |a, v| a * 0.5 + v) }
            row row_value_and_grad { if x.nrows() > 0 { x.row(x.nrows() - 1).sum() } else { 0.0 } }
            strided_row strided_row_value_and_grad { if x.nrows() > 0 { x.row(0).slice(s![..;2]).sum() } else { 0.0 } }
            backwards backwards_value_and_grad { if x.nrows() > 0 { x.row(0).slice(s![..;-1]).sum() } else { 0.0 } }
            backwards_variance backwards_variance_value_and_grad { if x.nrows() > 0 { x.row(0).slice(s![..;-1]).var(0.0) } else { 0.0 } }
            backwards_dot backwards_dot_value_and_grad { if x.nrows() > 0 { x.row(0).slice(s![..;-1]).dot(&x.row(0)) } else { 0.0 } }
            all_backwards all_backwards_value_and_grad { x.slice(s![..;-1, ..;-1]).sum() }
            rows_backwards rows_backwards_value_and_grad { x.slice(s![..;-1, ..]).sum_axis(Axis(1)).iter().fold(0.5, |a, v| a * 0.5 + v) }
            rows_each_backwards rows_each_backwards_value_and_grad { x.slice(s![.., ..;-1]).sum_axis(Axis(1)).iter().fold(0.5, |a, v| a * 0.5 + v) }
            inner inner_value_and_grad { if x.nrows() > 1 && x.ncols() > 1 { x.slice(s![1.., 1..]).sum() } else { 0.0 } }
            inner_variance inner_variance_value_and_grad { if x.nrows() > 1 && x.ncols() > 1 { x.slice(s![1.., 1..]).t().var(0.0) } else { 0.0 } }
            some_rows some_rows_value_and_grad { if x.nrows() > 1 { x.slice(s![1.., ..]).sum() } else { 0.0 } }
            every_other_row every_other_row_value_and_grad { x.slice(s![..;2, ..]).sum() }
            every_other every_other_value_and_grad { x.slice(s![.., ..;2]).sum() }
            part_fold part_fold_value_and_grad { x.slice(s![.., ..;2]).fold(0.5, |a, v| a * 0.5 + v) }
            part_transposed_fold part_transposed_fold_value_and_grad { x.slice(s![.., ..;2]).t().fold(0.5, |a, v| a * 0.5 + v) }
            rows_transposed_fold rows_transposed_fold_value_and_grad { x.slice(s![..;2, ..]).t().fold(0.5, |a, v| a * 0.5 + v) }
            part_product part_product_value_and_grad { x.slice(s![.., ..;2]).product() }
            rows_product rows_product_value_and_grad { x.slice(s![..;2, ..]).product() }
            part_transposed_product part_transposed_product_value_and_grad { x.slice(s![..;2, ..]).t().product() }
            part_mapped part_mapped_value_and_grad { x.slice(s![.., ..;2]).t().mapv(|v| v * 1.5).sum() }
            every_other_transposed every_other_transposed_value_and_grad { x.slice(s![.., ..;2]).t().sum() }
            one_row one_row_value_and_grad { if x.nrows() > 2 { x.slice(s![2, ..]).sum() } else { 0.0 } }
            one_column one_column_value_and_grad { if x.ncols() > 2 { x.slice(s![.., 2]).sum() } else { 0.0 } }
            diagonal diagonal_value_and_grad { x.diag().sum() }
            dot dot_value_and_grad { if x.ncols() > 1 { x.column(0).dot(&x.column(1)) } else { 0.0 } }
            dot_of_column dot_of_column_value_and_grad { if x.ncols() > 0 { x.t().dot(&x.column(0)).iter().fold(0.5, |a, v| a * 0.5 + v) } else { 0.0 } }
            column_dot column_dot_value_and_grad { if x.ncols() > 0 { x.column(0).dot(x).iter().fold(0.5, |a, v| a * 0.5 + v) } else { 0.0 } }
            dots_of_rows dots_of_rows_value_and_grad {
                build1(x.nrows(), |i| x.dot(&x.row(i)).iter().fold(0.5, |a, v| a * 0.5 + v)).iter().fold(0.5, |a, v| a * 0.5 + v)
            }
            dots_of_all_rows dots_of_all_rows_value_and_grad {
                build1(x.nrows(), |i| build1(x.nrows(), |j| x.row(i).dot(&x.row(j))).iter().fold(0.5, |a, v| a * 0.5 + v))
                    .iter()
                    .fold(0.5, |a, v| a * 0.5 + v)
            }
            dots_on_the_left dots_on_the_left_value_and_grad {
                build1(x.ncols(), |i| x.column(i).to_owned().dot(x).iter().fold(0.5, |a, v| a * 0.5 + v)).iter().fold(0.5, |a, v| a * 0.5 + v)
            }
            dots_in_a_loop dots_in_a_loop_value_and_grad {
                let mut s = 0.5;
                for i in 0..x.nrows() {
                    let y = x.dot(&x.row(i));
                    for j in 0..y.len() { s = s * 0.5 + y[j]; }
                }
                s
            }
            part_dot part_dot_value_and_grad {
                let w = x.sum_axis(Axis(0));
                x.slice(s![.., ..;2]).dot(&w.slice(s![..;2])).iter().fold(0.5, |a, v| a * 0.5 + v)
            }
            inner_dot inner_dot_value_and_grad {
                let w = x.sum_axis(Axis(0));
                if x.ncols() > 1 { x.slice(s![.., 1..]).dot(&w.slice(s![1..])).iter().fold(0.5, |a, v| a * 0.5 + v) } else { 0.0 }
            }
            dot_part dot_part_value_and_grad {
                let w = x.sum_axis(Axis(1));
                w.dot(&x.slice(s![.., ..;2])).iter().fold(0.5, |a, v| a * 0.5 + v)
            }
            gathered gathered_value_and_grad {
                let n = x.ncols();
                if x.nrows() > 0 { gather([n], x, |[j]| [0, n - 1 - j]).sum() } else { 0.0 }
            }
            chosen chosen_value_and_grad { if x.ncols() > 0 { x.select(Axis(1), &[0]).sum() } else { 0.0 } }
        }
    };
}
views!(views_f64, f64);
views!(views_f32, f32);
matrices!(matrices_f64, f64);
matrices!(matrices_f32, f32);

// Lanes of three axes: contiguous, with gaps, reversed, and along each axis.
programs! { of_rank_3: f64, x: &Array3<f64>;
    whole whole_value_and_grad { x.sum() }
    whole_mean whole_mean_value_and_grad { if x.is_empty() { 0.0 } else { x.mean().unwrap() } }
    iter_sum iter_sum_value_and_grad { x.iter().sum::<f64>() }
    view view_value_and_grad { x.view().sum() }
    outer outer_value_and_grad { if x.dim().0 > 1 { x.index_axis(Axis(0), 1).sum() } else { 0.0 } }
    middle middle_value_and_grad { if x.dim().1 > 1 { x.index_axis(Axis(1), 1).sum() } else { 0.0 } }
    inner inner_value_and_grad { if x.dim().2 > 1 { x.index_axis(Axis(2), 1).sum() } else { 0.0 } }
    slice slice_value_and_grad { if x.dim().1 > 1 { x.slice(s![.., 1.., ..]).sum() } else { 0.0 } }
    cut cut_value_and_grad { if x.dim().2 > 2 { x.slice(s![.., .., 1..-1]).sum() } else { 0.0 } }
    blocks blocks_value_and_grad { if x.dim().0 > 1 { x.slice(s![1.., .., ..]).sum() } else { 0.0 } }
    stepped stepped_value_and_grad { x.slice(s![.., ..;2, ..]).sum() }
    backwards backwards_value_and_grad { x.slice(s![..;-1, .., ..;-1]).sum() }
    turned turned_value_and_grad { x.view().permuted_axes([2, 0, 1]).sum() }
    other_way other_way_value_and_grad { x.t().sum() }
    turned_fold turned_fold_value_and_grad { x.view().permuted_axes([2, 0, 1]).fold(0.5, |a, v| a * 0.5 + v) }
    turned_product turned_product_value_and_grad { x.view().permuted_axes([2, 0, 1]).product() }
    turned_mapped turned_mapped_value_and_grad { x.view().permuted_axes([2, 0, 1]).mapv(|v| v * 1.5).sum() }
    turned_together turned_together_value_and_grad {
        let y = x.view().permuted_axes([2, 0, 1]);
        // With one element along an axis, `Zip` uses another order.
        if y.shape().iter().all(|n| *n > 1) { (&y + &y).sum() } else { 0.0 }
    }
    turned_and_more turned_and_more_value_and_grad { (&x.t() * &x.t()).mapv(|v| v + 0.25).sum() }
    part_fold part_fold_value_and_grad { x.slice(s![.., ..;2, ..]).fold(0.5, |a, v| a * 0.5 + v) }
    part_turned_fold part_turned_fold_value_and_grad { x.slice(s![.., ..;2, ..]).permuted_axes([2, 0, 1]).fold(0.5, |a, v| a * 0.5 + v) }
    part_product part_product_value_and_grad { x.slice(s![.., ..;2, ..]).product() }
    turned_slice turned_slice_value_and_grad {
        if x.dim().2 > 1 { x.slice(s![.., .., 1..]).permuted_axes([1, 2, 0]).sum() } else { 0.0 }
    }
    lane lane_value_and_grad { if x.dim().0 > 1 && x.dim().2 > 0 { x.slice(s![1, .., 0]).sum() } else { 0.0 } }
    squares squares_value_and_grad { (x * x).sum() }
    of_view_squares of_view_squares_value_and_grad {
        if x.dim().1 > 1 { x.index_axis(Axis(1), 0).mapv(|v| v * v).sum() } else { 0.0 }
    }
    axis_0 axis_0_value_and_grad { let t = x.sum_axis(Axis(0)); if t.is_empty() { 0.0 } else { t[[0, 0]] } }
    axis_1 axis_1_value_and_grad { let t = x.sum_axis(Axis(1)); if t.is_empty() { 0.0 } else { t[[0, 0]] } }
    axis_2 axis_2_value_and_grad { let t = x.sum_axis(Axis(2)); if t.is_empty() { 0.0 } else { t[[0, 0]] } }
    outer_rows outer_rows_value_and_grad { let mut s = 0.0; for v in x.outer_iter() { s += v.sum(); } s }
}

macro_rules! of_std {
    ($of:ident, $A:ty) => {
        programs! { $of: f64, x: $A;
            iter_sum iter_sum_value_and_grad { x.iter().sum::<f64>() }
            squares squares_value_and_grad { x.iter().map(|v| v * v).sum::<f64>() }
            filtered filtered_value_and_grad { x.iter().filter(|v| **v > 0.2).sum::<f64>() }
            looped looped_value_and_grad { let mut s = 0.0; for i in 0..x.len() { s += x[i] * x[i]; } s }
            folded folded_value_and_grad { x.iter().fold(0.0, |a, v| a + v) }
            dsl_sum dsl_sum_value_and_grad { sum(x) }
            dsl_norm dsl_norm_value_and_grad { norm(x) }
            dsl_product dsl_product_value_and_grad { product(x) }
            iter_product iter_product_value_and_grad { x.iter().product::<f64>() }
            while_loop while_loop_value_and_grad { let (mut s, mut i) = (0.0, 0); while i < x.len() { s += x[i]; i += 1; } s }
            stepped stepped_value_and_grad {
                // The decision of each step is carried.
                let mut t = 0.1;
                for i in 0..4 {
                    let s = x.iter().map(|v| v * t).sum::<f64>();
                    if s > 0.5 { t *= 0.9; } else { t += s * (i as f64); }
                }
                t
            }
        }
    };
}
of_std!(slices, &[f64]);
of_std!(five, &[f64; 5]);
of_std!(sixteen, &[f64; 16]);
of_std!(twenty, &[f64; 20]);

#[test]
fn sums_and_products_of_vectors() {
    let (mut random, mut wrong, mut wrong_f32) = (Random(1), Default::default(), Default::default());
    for n in (0..35).chain([40, 47, 48, 63, 64, 65, 99, 100]) {
        for _ in 0..2 {
            of_f64::all(&random.vector(n), &mut wrong);
            of_f32::all(&random.vector(n), &mut wrong_f32);
        }
    }
    of_f64::all(&Array1::from_elem(3, -0.0), &mut wrong);
    of_f32::all(&Array1::from_elem(9, -0.0), &mut wrong_f32);
    assert!(wrong.is_empty() && wrong_f32.is_empty(), "{wrong:#?} {wrong_f32:#?}");
}

#[test]
fn sums_and_products_of_matrices() {
    let (mut random, mut wrong, mut wrong_f32) = (Random(2), Default::default(), Default::default());
    for n in [0, 1, 2, 3, 7, 8, 9, 17] {
        for m in [0, 1, 2, 5, 8, 9, 16, 33] {
            matrices_f64::all(&random.matrix(n, m), &mut wrong);
            matrices_f32::all(&random.matrix(n, m), &mut wrong_f32);
        }
    }
    assert!(wrong.is_empty() && wrong_f32.is_empty(), "{wrong:#?} {wrong_f32:#?}");
}

#[test]
fn sums_of_arrays_of_three_axes() {
    let (mut random, mut wrong) = (Random(6), Default::default());
    for n in [0, 1, 2, 3, 9] {
        for m in [1, 2, 5, 8] {
            for k in [0, 1, 2, 7, 8, 17] {
                of_rank_3::all(&Array3::from_shape_fn((n, m, k), |_| random.next()), &mut wrong);
            }
        }
    }
    assert!(wrong.is_empty(), "{wrong:#?}");
}

#[test]
fn sums_and_products_of_views() {
    let (mut random, mut wrong, mut wrong_f32) = (Random(3), Default::default(), Default::default());
    for n in [0, 1, 2, 3, 8, 17] {
        for m in [0, 1, 2, 9, 17] {
            views_f64::all(&random.matrix(n, m), &mut wrong);
            views_f32::all(&random.matrix(n, m), &mut wrong_f32);
        }
    }
    assert!(wrong.is_empty() && wrong_f32.is_empty(), "{wrong:#?} {wrong_f32:#?}");
}

#[test]
fn scalars() {
    let (mut random, mut wrong, mut wrong_f32) = (Random(4), Default::default(), Default::default());
    for _ in 0..40 {
        scalars_f64::all(&random.vector(2), &mut wrong);
        scalars_f32::all(&random.vector(2), &mut wrong_f32);
    }
    assert!(wrong.is_empty() && wrong_f32.is_empty(), "{wrong:#?} {wrong_f32:#?}");
}

#[test]
fn slices_and_static_arrays() {
    let (mut random, mut wrong) = (Random(5), Default::default());
    for n in 0..40 {
        slices::all(random.vector(n).as_slice().unwrap(), &mut wrong);
        five::all(&std::array::from_fn(|_| random.next()), &mut wrong);
        sixteen::all(&std::array::from_fn(|_| random.next()), &mut wrong);
        twenty::all(&std::array::from_fn(|_| random.next()), &mut wrong);
    }
    assert!(wrong.is_empty(), "{wrong:#?}");
}

#[differentiate(grad, vjp, jvp, hvp, hessian, pullback, into, wrt(x))]
fn by_all(x: &Array1<f64>, c: f64) -> f64 {
    let s = x.iter().map(|v| v * v).sum::<f64>();
    if s > c { s } else { s * s }
}

/// Every derivative decides as the function does.
#[test]
fn all_derivatives_take_the_same_decisions() {
    let mut random = Random(6);
    for n in 1..40 {
        let x: Array1<f64> = random.vector(n);
        let s = x.iter().map(|v| v * v).sum::<f64>();
        for (c, by) in [(s, 2.0 * s), (s.next_down(), 1.0)] {
            let near = |a: f64, b: f64| (a - b).abs() <= 1e-12 * b.abs();
            let value = by_all(&x, c);
            let one = Array1::ones(n);
            let along = (&x * by * 2.0).sum();
            assert_eq!(by_all_value_and_grad(&x, c).0, value);
            assert!(near(by_all_grad(&x, c)[0], 2.0 * by * x[0]));
            assert!(near(by_all_vjp(&x, c, 1.0).1[0], 2.0 * by * x[0]));
            let (v, t) = by_all_jvp(&x, c, &one);
            assert!(v == value && (t - along).abs() <= 1e-11 * (1.0 + along.abs()));
            let (v, back) = by_all_pullback(&x, c);
            assert!(v == value && near(back(1.0)[0], 2.0 * by * x[0]));
            let mut into = Array1::zeros(n);
            assert_eq!(by_all_value_and_grad_into(&x, c, &mut into), value);
            assert!(near(into[0], 2.0 * by * x[0]));
            // 2 I, or 4 s I + 8 x x'.
            let second = if by == 1.0 { 2.0 } else { 4.0 * s + 8.0 * x[0] * x[0] };
            assert!(near(by_all_hessian(&x, c)[[0, 0]], second));
            let mut unit = Array1::zeros(n);
            unit[0] = 1.0;
            assert!(near(by_all_hvp(&x, c, &unit)[0], second));
        }
    }
}

#[path = "decisions/carried.rs"]
mod carried;
#[path = "decisions/layouts.rs"]
mod layouts;

/// A term that one arm reads is under a condition that the arm already implies.
#[differentiate]
fn decided_twice(x: &[f64], which: &[usize]) -> f64 {
    let mut s = x[2];
    let mut w = x.to_vec();
    if which[2] >= 2 {
        s = 0.7;
    }
    w[1] = s;
    if which[4] < 4 {
        w[3] = x[0].sin();
        if which[2] < 2 {
            s *= 2.0;
        } else {
            w[0] = s;
        }
        s += x[1];
    } else if which[4] < 1 {
        w[0] = x[0];
    }
    w.iter().sum::<f64>() + w[which[3]] * s.tanh()
}

#[test]
fn a_condition_may_be_decided_by_an_enclosing_one() {
    let x = [0.31, -0.47, 0.83, 0.12];
    for which in [[0, 0, 1, 1, 3], [0, 0, 2, 1, 3], [0, 0, 1, 3, 4], [0, 0, 2, 0, 5]] {
        ad::check_grad!(decided_twice(&x, &which));
    }
}
