#[allow(dead_code, reason = "a function may be used through its derivatives only")]
fn wave(x: f64, y: f64) -> f64 {
    let r = (x * x + y * y).sqrt();
    if r > 1.0 { r.sin() / r } else { 1.0 - r * r / 6.0 }
}
///The gradient of [`wave`] with respect to `x`, `y`.
///
///It costs as much as [`wave_value_and_grad`], which says how much that is.
///
///# Panics
///Where [`wave`] does, and if the sizes of the arguments do not fit together.
#[allow(dead_code, reason = "not every derivative that is written is called")]
#[allow(
    clippy::approx_constant,
    clippy::cast_lossless,
    clippy::cast_possible_truncation,
    clippy::cast_possible_wrap,
    clippy::cast_precision_loss,
    clippy::cast_sign_loss,
    clippy::double_comparisons,
    clippy::elidable_lifetime_names,
    clippy::excessive_precision,
    clippy::extra_unused_lifetimes,
    clippy::float_cmp,
    clippy::fn_params_excessive_bools,
    clippy::imprecise_flops,
    clippy::just_underscores_and_digits,
    clippy::large_types_passed_by_value,
    clippy::manual_range_contains,
    clippy::many_single_char_names,
    clippy::must_use_candidate,
    clippy::needless_lifetimes,
    clippy::needless_pass_by_value,
    clippy::neg_cmp_op_on_partial_ord,
    clippy::nonminimal_bool,
    clippy::ptr_arg,
    clippy::redundant_comparisons,
    clippy::reversed_empty_ranges,
    clippy::similar_names,
    clippy::trivially_copy_pass_by_ref,
    clippy::unnecessary_cast,
    clippy::unnecessary_min_or_max,
    clippy::unreadable_literal,
    clippy::used_underscore_binding,
    non_snake_case,
    reason = "parameters, names, constants, casts and conditions are the function's own"
)]
#[allow(
    clippy::assign_op_pattern,
    clippy::eq_op,
    clippy::extra_unused_type_parameters,
    clippy::inline_always,
    clippy::large_stack_arrays,
    clippy::let_and_return,
    clippy::manual_memcpy,
    clippy::missing_panics_doc,
    clippy::needless_range_loop,
    clippy::suspicious_arithmetic_impl,
    clippy::too_many_arguments,
    clippy::too_many_lines,
    clippy::uninlined_format_args,
    clippy::type_complexity,
    reason = "a derivative is as long as its function asks for, and its loops walk several slices by one index"
)]
fn wave_grad(x: f64, y: f64) -> (f64, f64) {
    wave_value_and_grad(x, y).1
}
///The value of [`wave`] and its gradient with respect to `x`, `y`.
///
///# Parameters
///
///- `x`: a number
///- `y`: a number
///
///# Returns
///
///The value (a number), then the gradient, a tuple of those of `x` and `y`.
///
///# Cost
///
///| operations on numbers | in all | of these for the value |
///| --- | --- | --- |
///| sums, products, other cheap ones | `18` | `6` |
///| divisions, square roots | `3` | `3` |
///| functions such as `exp` | `2` | `1` |
///
///At most so many: each branch is counted, and each loop with its greatest number of steps. No
///array is stored.
///
///# Panics
///Where [`wave`] does, and if the sizes of the arguments do not fit together.
#[allow(dead_code, reason = "not every derivative that is written is called")]
#[allow(
    clippy::approx_constant,
    clippy::cast_lossless,
    clippy::cast_possible_truncation,
    clippy::cast_possible_wrap,
    clippy::cast_precision_loss,
    clippy::cast_sign_loss,
    clippy::double_comparisons,
    clippy::elidable_lifetime_names,
    clippy::excessive_precision,
    clippy::extra_unused_lifetimes,
    clippy::float_cmp,
    clippy::fn_params_excessive_bools,
    clippy::imprecise_flops,
    clippy::just_underscores_and_digits,
    clippy::large_types_passed_by_value,
    clippy::manual_range_contains,
    clippy::many_single_char_names,
    clippy::must_use_candidate,
    clippy::needless_lifetimes,
    clippy::needless_pass_by_value,
    clippy::neg_cmp_op_on_partial_ord,
    clippy::nonminimal_bool,
    clippy::ptr_arg,
    clippy::redundant_comparisons,
    clippy::reversed_empty_ranges,
    clippy::similar_names,
    clippy::trivially_copy_pass_by_ref,
    clippy::unnecessary_cast,
    clippy::unnecessary_min_or_max,
    clippy::unreadable_literal,
    clippy::used_underscore_binding,
    non_snake_case,
    reason = "parameters, names, constants, casts and conditions are the function's own"
)]
#[allow(
    clippy::assign_op_pattern,
    clippy::eq_op,
    clippy::extra_unused_type_parameters,
    clippy::inline_always,
    clippy::large_stack_arrays,
    clippy::let_and_return,
    clippy::manual_memcpy,
    clippy::missing_panics_doc,
    clippy::needless_range_loop,
    clippy::suspicious_arithmetic_impl,
    clippy::too_many_arguments,
    clippy::too_many_lines,
    clippy::uninlined_format_args,
    clippy::type_complexity,
    reason = "a derivative is as long as its function asks for, and its loops walk several slices by one index"
)]
fn wave_value_and_grad(x: f64, y: f64) -> (f64, (f64, f64)) {
    #[allow(
        unused_imports,
        reason = "only without std, methods like `sqrt` are those of a trait"
    )]
    use ::ad::runtime::Float as _;
    let r = (x * x + y * y).sqrt();
    let c1_ = r > 1.0;
    let t1_ = r.recip();
    let (t3_, t4_) = if c1_ {
        let t2_ = r.sin() / r;
        (t2_, t1_ * r.cos() - t2_ * t1_)
    } else {
        (1.0 - r * r / 6.0, 2.0 * (-0.16666666666666666 * r))
    };
    let t5_ = ::ad::runtime::kernel::mul_zero(t4_, 0.5 * t1_);
    let t6_ = 2.0 * ::ad::runtime::kernel::mul_zero(t5_, x);
    let t7_ = 2.0 * ::ad::runtime::kernel::mul_zero(t5_, y);
    (t3_, (t6_, t7_))
}
#[doc(hidden)]
#[allow(dead_code, reason = "not every function is checked")]
#[allow(
    clippy::elidable_lifetime_names,
    clippy::extra_unused_lifetimes,
    clippy::large_types_passed_by_value,
    clippy::needless_lifetimes,
    clippy::needless_pass_by_value,
    clippy::ptr_arg,
    clippy::redundant_closure_for_method_calls,
    clippy::similar_names,
    clippy::too_many_arguments,
    clippy::too_many_lines,
    clippy::trivially_copy_pass_by_ref,
    clippy::type_complexity,
    non_snake_case,
    reason = "parameters and name are the function's own"
)]
#[inline]
fn __wave_marked_differentiate(
    how0_: ::ad::runtime::check::CheckCall<'_>,
    (argument0_, argument1_): (f64, f64),
) {
    let own0_ = argument0_;
    let own1_ = argument1_;
    let mut check0_ = ::ad::runtime::check::Check::new(
        how0_,
        ::ad::runtime::check::Vec::from([
            ::ad::runtime::check::point("x", &own0_),
            ::ad::runtime::check::point("y", &own1_),
        ]),
        |at0_| ::ad::runtime::check::leaf(
            &wave(at0_.moved(0usize, &own0_), at0_.moved(1usize, &own1_)),
        ),
    );
    check0_
        .grad(|at0_| {
            let (value0_, (part0_, part1_)) = wave_value_and_grad(
                at0_.moved(0usize, &own0_),
                at0_.moved(1usize, &own1_),
            );
            (
                ::ad::runtime::check::leaf(&value0_),
                ::ad::runtime::check::Vec::from([
                    ::ad::runtime::check::leaf(&part0_),
                    ::ad::runtime::check::leaf(&part1_),
                ]),
            )
        });
    check0_.done();
}
