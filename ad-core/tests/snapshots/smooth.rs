#[allow(dead_code, reason = "a function may be used through its derivatives only")]
fn smooth(x: &Array1<f64>, idx: &Array1<usize>) -> Array1<f64> {
    build1(
        idx.len(),
        |i| if i > 0 { 0.5 * (x[idx[i]] + x[idx[i - 1]]) } else { x[idx[i]] },
    )
}
///The value of [`smooth`] and the cotangents of `x`: the transposed Jacobian applied to `cotangent`.
///
///# Panics
///Where [`smooth`] does, and if the sizes of the arguments do not fit together.
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
fn smooth_vjp(
    x: &Array1<f64>,
    idx: &Array1<usize>,
    cotangent: &::ad::ndarray::ArrayRef1<f64>,
) -> (::ad::ndarray::Array1<f64>, ::ad::ndarray::Array1<f64>) {
    ///A loop nest over 1 axis.
    fn compute_c2_and_c3(
        v1: &mut [f64],
        idx_data: &[usize],
        x_data: &[f64],
        x_len: usize,
        idx_len: usize,
    ) -> (bool, bool, bool) {
        let mut c2_sum: bool = true;
        let mut c3_sum: bool = true;
        let mut c4_sum: bool = true;
        let idx_data = &idx_data[..idx_len];
        let v1 = &mut v1[..idx_len];
        for i in 0..idx_len {
            let idx = idx_data.get(i.saturating_sub(1)).copied().unwrap_or(0);
            let t1 = i > 0;
            let t2 = if t1 { idx.saturating_add(1) <= x_len } else { true };
            let t3 = idx_data[i].saturating_add(1) <= x_len;
            let t4 = if t1 { t3 } else { true };
            let t5 = if t1 { true } else { t3 };
            let x = x_data.get(idx_data[i]).copied().unwrap_or(0.0);
            let t6 = if t1 {
                0.5 * (x + x_data.get(idx).copied().unwrap_or(0.0))
            } else {
                x
            };
            c2_sum &= t2;
            c3_sum &= t4;
            c4_sum &= t5;
            v1[i] = t6;
        }
        (c2_sum, c3_sum, c4_sum)
    }
    ///Adds at computed positions; what falls outside is dropped.
    fn scatter_v2(
        v2: &mut [f64],
        idx_data: &[usize],
        cotangent_data: &[f64],
        x_len: usize,
        idx_len: usize,
    ) {
        let cotangent_data = &cotangent_data[..idx_len];
        for i in 0..idx_len {
            let t1 = if i > 0 { cotangent_data[i] * 0.5 } else { 0.0 };
            if idx_data.get(i.saturating_sub(1)).copied().unwrap_or(0) < x_len {
                v2[idx_data.get(i.saturating_sub(1)).copied().unwrap_or(0)] += t1;
            }
        }
    }
    ///Adds at computed positions; what falls outside is dropped.
    fn scatter_v3(
        v3: &mut [f64],
        idx_data: &[usize],
        cotangent_data: &[f64],
        x_len: usize,
        idx_len: usize,
    ) {
        let idx_data = &idx_data[..idx_len];
        let cotangent_data = &cotangent_data[..idx_len];
        for i in 0..idx_len {
            let t1 = i > 0;
            let t2 = if t1 { cotangent_data[i] * 0.5 } else { 0.0 };
            let t3 = if t1 { 0.0 } else { cotangent_data[i] };
            if idx_data[i] < x_len {
                v3[idx_data[i]] += t3 + t2;
            }
        }
    }
    let x_data = ::ad::runtime::kernel::contiguous(x);
    let idx_data = ::ad::runtime::kernel::contiguous(idx);
    let cotangent_data = ::ad::runtime::kernel::contiguous(cotangent);
    let idx_len = idx.shape()[0];
    let cotangent_len = cotangent.shape()[0];
    let c1 = cotangent_len == idx_len;
    ::core::assert!(
        c1,
        "smooth: `cotangent` does not have the shape of the result (axis 0): `smooth` (`cotangent` = {}, the result = {})",
        cotangent_len, idx_len
    );
    let x_len = x.shape()[0];
    let mut v1 = ::std::vec![0.0; idx_len];
    let (c2, c3, c4) = compute_c2_and_c3(&mut v1, &idx_data, &x_data, x_len, idx_len);
    ::core::assert!(
        c2, "smooth: index out of range: `x[idx[i - 1]]` (length of `x` = {})", x_len
    );
    ::core::assert!(
        c3, "smooth: index out of range: `x[idx[i]]` (length of `x` = {})", x_len
    );
    ::core::assert!(
        c4, "smooth: index out of range: `x[idx[i]]` (length of `x` = {})", x_len
    );
    let mut v2 = ::std::vec![0.0; x_len];
    scatter_v2(&mut v2, &idx_data, &cotangent_data, x_len, idx_len);
    let mut v3 = v2;
    scatter_v3(&mut v3, &idx_data, &cotangent_data, x_len, idx_len);
    (
        ::ad::runtime::kernel::assemble([idx_len], v1),
        ::ad::runtime::kernel::assemble([x_len], v3),
    )
}
///The value of [`smooth`] and its tangent: the Jacobian applied to tangents of `x`.
///
///# Panics
///Where [`smooth`] does, and if the sizes of the arguments do not fit together.
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
fn smooth_jvp(
    x: &Array1<f64>,
    idx: &Array1<usize>,
    tangent_x: &::ad::ndarray::ArrayRef1<f64>,
) -> (::ad::ndarray::Array1<f64>, ::ad::ndarray::Array1<f64>) {
    ///A loop nest over 1 axis.
    fn compute_c2_and_c3(
        v1: &mut [f64],
        v2: &mut [f64],
        idx_data: &[usize],
        x_data: &[f64],
        tangent_x_data: &[f64],
        x_len: usize,
        idx_len: usize,
    ) -> (bool, bool, bool) {
        let mut c2_sum: bool = true;
        let mut c3_sum: bool = true;
        let mut c4_sum: bool = true;
        let idx_data = &idx_data[..idx_len];
        let v1 = &mut v1[..idx_len];
        let v2 = &mut v2[..idx_len];
        for i in 0..idx_len {
            let idx = idx_data.get(i.saturating_sub(1)).copied().unwrap_or(0);
            let t1 = i > 0;
            let t2 = if t1 { idx.saturating_add(1) <= x_len } else { true };
            let t3 = idx_data[i].saturating_add(1) <= x_len;
            let t4 = if t1 { t3 } else { true };
            let t5 = if t1 { true } else { t3 };
            let x = x_data.get(idx_data[i]).copied().unwrap_or(0.0);
            let t6 = if t1 {
                0.5 * (x + x_data.get(idx).copied().unwrap_or(0.0))
            } else {
                x
            };
            let t7 = tangent_x_data.get(idx_data[i]).copied().unwrap_or(0.0);
            let t8 = if t1 {
                (t7 + tangent_x_data.get(idx).copied().unwrap_or(0.0)) * 0.5
            } else {
                t7
            };
            c2_sum &= t2;
            c3_sum &= t4;
            c4_sum &= t5;
            v1[i] = t6;
            v2[i] = t8;
        }
        (c2_sum, c3_sum, c4_sum)
    }
    let x_data = ::ad::runtime::kernel::contiguous(x);
    let idx_data = ::ad::runtime::kernel::contiguous(idx);
    let tangent_x_data = ::ad::runtime::kernel::contiguous(tangent_x);
    let x_len = x.shape()[0];
    let tangent_x_len = tangent_x.shape()[0];
    let c1 = tangent_x_len == x_len;
    ::core::assert!(
        c1,
        "smooth: `tangent_x` does not have the shape of `x` (axis 0): `smooth` (`tangent_x` = {}, `x` = {})",
        tangent_x_len, x_len
    );
    let idx_len = idx.shape()[0];
    let mut v1 = ::std::vec![0.0; idx_len];
    let mut v2 = ::std::vec![0.0; idx_len];
    let (c2, c3, c4) = compute_c2_and_c3(
        &mut v1,
        &mut v2,
        &idx_data,
        &x_data,
        &tangent_x_data,
        x_len,
        idx_len,
    );
    ::core::assert!(
        c2, "smooth: index out of range: `x[idx[i - 1]]` (length of `x` = {})", x_len
    );
    ::core::assert!(
        c3, "smooth: index out of range: `x[idx[i]]` (length of `x` = {})", x_len
    );
    ::core::assert!(
        c4, "smooth: index out of range: `x[idx[i]]` (length of `x` = {})", x_len
    );
    (
        ::ad::runtime::kernel::assemble([idx_len], v1),
        ::ad::runtime::kernel::assemble([idx_len], v2),
    )
}
