#[allow(dead_code, reason = "a function may be used through its derivatives only")]
fn wave(x: f64, y: f64) -> f64 {
    let r = (x * x + y * y).sqrt();
    if r > 1.0 { r.sin() / r } else { 1.0 - r * r / 6.0 }
}
///The gradient of [`wave`] with respect to `x`, `y`.
///
///# Panics
///Where [`wave`] does, and if the sizes of the arguments do not fit together.
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
fn wave_grad(x: f64, y: f64) -> (f64, f64) {
    wave_value_and_grad(x, y).1
}
///The value of [`wave`] and its gradient with respect to `x`, `y`.
///
///# Panics
///Where [`wave`] does, and if the sizes of the arguments do not fit together.
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
fn wave_value_and_grad(x: f64, y: f64) -> (f64, (f64, f64)) {
    let r = (x * x + y * y).sqrt();
    let c1 = r > 1.0;
    let (t2, t3) = if c1 {
        let t1 = r.sin() / r;
        (t1, 1.0 / r * r.cos() - t1 / r)
    } else {
        (1.0 - r * r / 6.0, 2.0 * (-0.16666666666666666 * r))
    };
    let t4 = ::ad::runtime::kernel::mul_zero(t3, 0.5 / r);
    let t5 = 2.0 * ::ad::runtime::kernel::mul_zero(t4, x);
    let t6 = 2.0 * ::ad::runtime::kernel::mul_zero(t4, y);
    (t2, (t5, t6))
}
