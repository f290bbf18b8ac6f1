#[allow(dead_code, reason = "a function may be used through its derivatives only")]
fn rosenbrock(x: &Array1<f64>) -> f64 {
    let terms = build1(
        x.len() - 1,
        |i| {
            let d = x[i + 1] - x[i] * x[i];
            let e = 1.0 - x[i];
            100.0 * d * d + e * e
        },
    );
    terms.sum()
}
///The gradient of [`rosenbrock`] with respect to `x`.
///
///# Panics
///Where [`rosenbrock`] does, and if the sizes of the arguments do not fit together.
#[allow(dead_code, reason = "not every derivative that is written is called")]
#[allow(
    clippy::cast_lossless,
    clippy::cast_possible_truncation,
    clippy::cast_possible_wrap,
    clippy::cast_precision_loss,
    clippy::cast_sign_loss,
    reason = "casts are the function's own"
)]
#[allow(
    clippy::excessive_precision,
    clippy::unreadable_literal,
    reason = "constants are written in full"
)]
#[allow(clippy::approx_constant, reason = "constants are the function's own")]
#[allow(
    clippy::float_cmp,
    clippy::neg_cmp_op_on_partial_ord,
    reason = "comparisons are the function's own"
)]
#[allow(clippy::nonminimal_bool, reason = "conditions are the function's own")]
#[allow(clippy::eq_op, reason = "a comparison with itself tests for NaN")]
#[allow(
    clippy::suspicious_arithmetic_impl,
    reason = "a derivative uses other operations than its function"
)]
#[allow(clippy::imprecise_flops, reason = "operations are the function's own")]
#[allow(
    clippy::many_single_char_names,
    clippy::similar_names,
    clippy::just_underscores_and_digits,
    reason = "names are the function's own"
)]
#[allow(
    clippy::too_many_arguments,
    reason = "a loop takes all that it reads as parameters"
)]
#[allow(
    clippy::too_many_lines,
    reason = "a derivative is as long as its function asks for"
)]
#[allow(clippy::type_complexity, reason = "the type is the derivative's")]
#[allow(clippy::needless_range_loop, reason = "several slices are walked by one index")]
#[allow(clippy::manual_memcpy, reason = "the loop does other things too")]
#[allow(clippy::must_use_candidate, reason = "the caller may only want the panic")]
#[allow(
    clippy::needless_pass_by_value,
    clippy::trivially_copy_pass_by_ref,
    clippy::ptr_arg,
    reason = "parameters are the function's own"
)]
#[allow(
    clippy::needless_lifetimes,
    clippy::elidable_lifetime_names,
    clippy::extra_unused_lifetimes,
    reason = "lifetimes are the function's own"
)]
#[allow(clippy::let_and_return, reason = "results keep their names")]
#[allow(clippy::missing_panics_doc, reason = "it panics where its function does")]
fn rosenbrock_grad(x: &Array1<f64>) -> ::ad::ndarray::Array1<f64> {
    rosenbrock_value_and_grad(x).1
}
///The value of [`rosenbrock`] and its gradient with respect to `x`.
///
///# Panics
///Where [`rosenbrock`] does, and if the sizes of the arguments do not fit together.
#[allow(dead_code, reason = "not every derivative that is written is called")]
#[allow(
    clippy::cast_lossless,
    clippy::cast_possible_truncation,
    clippy::cast_possible_wrap,
    clippy::cast_precision_loss,
    clippy::cast_sign_loss,
    reason = "casts are the function's own"
)]
#[allow(
    clippy::excessive_precision,
    clippy::unreadable_literal,
    reason = "constants are written in full"
)]
#[allow(clippy::approx_constant, reason = "constants are the function's own")]
#[allow(
    clippy::float_cmp,
    clippy::neg_cmp_op_on_partial_ord,
    reason = "comparisons are the function's own"
)]
#[allow(clippy::nonminimal_bool, reason = "conditions are the function's own")]
#[allow(clippy::eq_op, reason = "a comparison with itself tests for NaN")]
#[allow(
    clippy::suspicious_arithmetic_impl,
    reason = "a derivative uses other operations than its function"
)]
#[allow(clippy::imprecise_flops, reason = "operations are the function's own")]
#[allow(
    clippy::many_single_char_names,
    clippy::similar_names,
    clippy::just_underscores_and_digits,
    reason = "names are the function's own"
)]
#[allow(
    clippy::too_many_arguments,
    reason = "a loop takes all that it reads as parameters"
)]
#[allow(
    clippy::too_many_lines,
    reason = "a derivative is as long as its function asks for"
)]
#[allow(clippy::type_complexity, reason = "the type is the derivative's")]
#[allow(clippy::needless_range_loop, reason = "several slices are walked by one index")]
#[allow(clippy::manual_memcpy, reason = "the loop does other things too")]
#[allow(clippy::must_use_candidate, reason = "the caller may only want the panic")]
#[allow(
    clippy::needless_pass_by_value,
    clippy::trivially_copy_pass_by_ref,
    clippy::ptr_arg,
    reason = "parameters are the function's own"
)]
#[allow(
    clippy::needless_lifetimes,
    clippy::elidable_lifetime_names,
    clippy::extra_unused_lifetimes,
    reason = "lifetimes are the function's own"
)]
#[allow(clippy::let_and_return, reason = "results keep their names")]
#[allow(clippy::missing_panics_doc, reason = "it panics where its function does")]
fn rosenbrock_value_and_grad(x: &Array1<f64>) -> (f64, ::ad::ndarray::Array1<f64>) {
    ///A loop nest over 1 axis.
    fn compute_t1_and_v1(v1: &mut [f64], x_data: &[f64], k1: usize) -> f64 {
        let mut t1_lanes = [0.0; 16usize];
        let mut t1_rest = 0.0;
        let x_data_row = &*::ad::runtime::kernel::cut(x_data, 0, k1, 0.0);
        let x_data_row_2 = &*::ad::runtime::kernel::cut(x_data, 1, k1, 0.0);
        let v1 = &mut v1[..k1];
        let (x_data_chunks, x_data_rest) = x_data_row.as_chunks::<16usize>();
        let (x_data_chunks_2, x_data_rest_2) = x_data_row_2.as_chunks::<16usize>();
        let (v1_chunks, v1_rest) = v1.as_chunks_mut::<16usize>();
        for c in 0..k1 / 16usize {
            let x_data_row = &x_data_chunks[c];
            let x_data_row_2 = &x_data_chunks_2[c];
            let v1 = &mut v1_chunks[c];
            for l in 0..16usize {
                let i = 16usize * c + l;
                let t1 = 1.0 - x_data_row[l];
                let t2 = x_data_row_2[l] - x_data_row[l] * x_data_row[l];
                let t3 = 100.0 * t2;
                t1_lanes[l] += t3 * t2 + t1 * t1;
                v1[l] = t3 + t2 * 100.0;
            }
        }
        for l in 0..k1 % 16usize {
            let i = k1 / 16usize * 16usize + l;
            let t1 = 1.0 - x_data_rest[l];
            let t2 = x_data_rest_2[l] - x_data_rest[l] * x_data_rest[l];
            let t3 = 100.0 * t2;
            t1_rest += t3 * t2 + t1 * t1;
            v1_rest[l] = t3 + t2 * 100.0;
        }
        ::ad::runtime::kernel::total(t1_lanes, t1_rest)
    }
    ///A loop nest over 1 axis.
    fn compute_v2(v2: &mut [f64], v1: &[f64], x_data: &[f64], k1: usize, x_len: usize) {
        let x_data = &x_data[..x_len];
        let v1_row = &*::ad::runtime::kernel::cut(v1, 0, x_len, 0.0);
        let v2 = &mut v2[..x_len];
        for i in 0..x_len {
            let t1 = i.saturating_sub(1);
            let t2 = if i >= 1 && t1 < k1 {
                v1.get(t1).copied().unwrap_or(0.0)
            } else {
                0.0
            };
            let t3 = v1_row[i] * x_data[i];
            let t4 = if i < k1 { -t3 - t3 - 2.0 * (1.0 - x_data[i]) } else { 0.0 };
            v2[i] = t2 + t4;
        }
    }
    let x_data = ::ad::runtime::kernel::contiguous(x);
    let x_len = x.shape()[0];
    let c1 = 1 <= x_len;
    ::core::assert!(c1, "rosenbrock: integer overflow in a subtraction: `x.len() - 1`");
    let k1 = x_len.saturating_sub(1);
    let mut v1 = ::std::vec![0.0; k1];
    let t1 = compute_t1_and_v1(&mut v1, &x_data, k1);
    let mut v2 = ::std::vec![0.0; x_len];
    compute_v2(&mut v2, &v1, &x_data, k1, x_len);
    (t1, ::ad::runtime::kernel::assemble([x_len], v2))
}
