#[allow(dead_code, reason = "a function may be used through its derivatives only")]
pub fn logistic(w: &Array1<f64>, x: &Array2<f64>, y: &Array1<f64>) -> f64 {
    let z = x.dot(w);
    let losses = build1(z.len(), |i| softplus(-y[i] * z[i]));
    losses.sum()
}
///The gradient of [`logistic`] with respect to `w`.
///
///# Panics
///Where [`logistic`] does, and if the sizes of the arguments do not fit together.
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
pub fn logistic_grad(
    w: &Array1<f64>,
    x: &Array2<f64>,
    y: &Array1<f64>,
) -> ::ad::ndarray::Array1<f64> {
    logistic_value_and_grad(w, x, y).1
}
///The value of [`logistic`] and its gradient with respect to `w`.
///
///# Panics
///Where [`logistic`] does, and if the sizes of the arguments do not fit together.
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
pub fn logistic_value_and_grad(
    w: &Array1<f64>,
    x: &Array2<f64>,
    y: &Array1<f64>,
) -> (f64, ::ad::ndarray::Array1<f64>) {
    ///A loop nest over 1 axis.
    fn compute_t1_and_v1(
        v1: &mut [f64],
        z: &[f64],
        y_data: &[f64],
        x_rows: usize,
    ) -> f64 {
        let mut t1_lanes = [0.0; 16usize];
        let mut t1_rest = 0.0;
        let z = &z[..x_rows];
        let y_data_row = &*::ad::runtime::kernel::cut(y_data, 0, x_rows, 0.0);
        let v1 = &mut v1[..x_rows];
        let (z_chunks, z_rest) = z.as_chunks::<16usize>();
        let (y_data_chunks, y_data_rest) = y_data_row.as_chunks::<16usize>();
        let (v1_chunks, v1_rest) = v1.as_chunks_mut::<16usize>();
        for c in 0..x_rows / 16usize {
            let z = &z_chunks[c];
            let y_data_row = &y_data_chunks[c];
            let v1 = &mut v1_chunks[c];
            for l in 0..16usize {
                let t1 = -(y_data_row[l] * z[l]);
                let t2 = (-t1.abs()).exp();
                let t3 = if t1 < 0.0 { t2 } else { 1.0 };
                t1_lanes[l] += t1.max(0.0) + t2.ln_1p();
                v1[l] = -(t3 / (1.0 + t2) * y_data_row[l]);
            }
        }
        for l in 0..x_rows % 16usize {
            let t1 = -(y_data_rest[l] * z_rest[l]);
            let t2 = (-t1.abs()).exp();
            let t3 = if t1 < 0.0 { t2 } else { 1.0 };
            t1_rest += t1.max(0.0) + t2.ln_1p();
            v1_rest[l] = -(t3 / (1.0 + t2) * y_data_rest[l]);
        }
        ::ad::runtime::kernel::total(t1_lanes, t1_rest)
    }
    let w_data = ::ad::runtime::kernel::contiguous(w);
    let x_data = ::ad::runtime::kernel::contiguous(x);
    let y_data = ::ad::runtime::kernel::contiguous(y);
    let w_len = w.shape()[0];
    let x_rows = x.shape()[0];
    let y_len = y.shape()[0];
    let c1 = x_rows <= y_len;
    let x_cols = x.shape()[1];
    let c2 = x_cols == w_len;
    ::core::assert!(
        c2,
        "logistic: shapes differ: `x.dot(w)` (columns of `x` = {}, length of `w` = {})",
        x_cols, w_len
    );
    ::core::assert!(
        c1, "logistic: index out of range: `y[i]` (length of `y` = {})", y_len
    );
    let mut z = ::std::vec![0.0; x_rows];
    ::ad::runtime::kernel::gemv(&mut z, &x_data, &w_data, false);
    let mut v1 = ::std::vec![0.0; x_rows];
    let t1 = compute_t1_and_v1(&mut v1, &z, &y_data, x_rows);
    let mut v2 = ::std::vec![0.0; w_len];
    ::ad::runtime::kernel::gemv_t(&mut v2, &x_data, &v1, false);
    (t1, ::ad::runtime::kernel::assemble([w_len], v2))
}
