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
///It costs as much as [`rosenbrock_value_and_grad`], which says how much that is.
///
///# Panics
///Where [`rosenbrock`] does, and if the sizes of the arguments do not fit together.
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
fn rosenbrock_grad(x: &Array1<f64>) -> ::ad::ndarray::Array1<f64> {
    rosenbrock_value_and_grad(x).1
}
///The value of [`rosenbrock`] and its gradient with respect to `x`.
///
///# Parameters
///
///- `x`: a vector of `n` numbers
///
///# Returns
///
///The value (a number), then the gradient, of the type and shape of `x`.
///
///# Cost
///
///| operations on numbers | in all | of these for the value |
///| --- | --- | --- |
///| sums, products, other cheap ones | `16*n` | `8*n` |
///
///At most so many: each branch is counted, and each loop with its greatest number of steps. Arrays
///that are stored, also those that are returned: at most `8*n` bytes.
///
///# Panics
///Where [`rosenbrock`] does, and if the sizes of the arguments do not fit together.
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
fn rosenbrock_value_and_grad(x: &Array1<f64>) -> (f64, ::ad::ndarray::Array1<f64>) {
    ///The interior, where no test is needed.
    fn compute_t1_and_v1(v1_: &mut [f64], x: &[f64], inside_: usize) -> f64 {
        #[inline(always)]
        fn loops<I: ::ad::runtime::kernel::Isa>(
            v1_: &mut [f64],
            x: &[f64],
            inside_: usize,
        ) -> f64 {
            let mut t1_lanes_ = [0.0; 16];
            let x_row_ = &x[1..][..inside_];
            let x_row_2_ = &::ad::runtime::kernel::cut(x, 2, inside_, 0.0)[..inside_];
            let x_row_3_ = &x[0..][..inside_];
            let v1_ = &mut v1_[1..][..inside_];
            let (x_chunks_, x_rest_) = x_row_.as_chunks::<16>();
            let (x_chunks_2_, x_rest_2_) = x_row_2_.as_chunks::<16>();
            let (x_chunks_3_, x_rest_3_) = x_row_3_.as_chunks::<16>();
            let (v1_chunks_, v1_rest_) = v1_.as_chunks_mut::<16>();
            for c_ in 0..inside_ / 16 {
                let x_row_ = &x_chunks_[c_];
                let x_row_2_ = &x_chunks_2_[c_];
                let x_row_3_ = &x_chunks_3_[c_];
                let v1_ = &mut v1_chunks_[c_];
                for l_ in 0..16 {
                    let t1_ = 1.0 - x_row_[l_];
                    let t2_ = I::mul_add(-x_row_[l_], x_row_[l_], x_row_2_[l_]);
                    t1_lanes_[l_] += I::mul_add(t1_, t1_, 100.0 * t2_ * t2_);
                    v1_[l_] = I::mul_add(
                        200.0,
                        I::mul_add(-x_row_3_[l_], x_row_3_[l_], x_row_[l_]),
                        I::mul_add(-2.0, t1_, -400.0 * t2_ * x_row_[l_]),
                    );
                }
            }
            let mut t1_rest_ = ::ad::runtime::kernel::lanes(t1_lanes_);
            for l_ in 0..inside_ % 16 {
                let t1_ = 1.0 - x_rest_[l_];
                let t2_ = I::mul_add(-x_rest_[l_], x_rest_[l_], x_rest_2_[l_]);
                t1_rest_ += I::mul_add(t1_, t1_, 100.0 * t2_ * t2_);
                v1_rest_[l_] = I::mul_add(
                    200.0,
                    I::mul_add(-x_rest_3_[l_], x_rest_3_[l_], x_rest_[l_]),
                    I::mul_add(-2.0, t1_, -400.0 * t2_ * x_rest_[l_]),
                );
            }
            t1_rest_
        }
        ::ad::runtime::dispatched!(
            'a,; loops(v1_ : & 'a mut [f64], x : & 'a[f64], inside_ : usize) -> f64
        )
    }
    ///The elements before and after the interior.
    fn compute_t1_and_v1_ends(
        v1_: &mut [f64],
        x: &[f64],
        x_len_: usize,
        k1_: usize,
        inside_: usize,
    ) -> f64 {
        let mut t1_sum_: f64 = 0.0;
        let v1_ = &mut v1_[..x_len_];
        for i in (0..x_len_.min(1)).chain((inside_ + 1).min(x_len_)..x_len_) {
            let x_2_ = x[i];
            let t1_ = 1.0 - x_2_;
            let t2_ = x.get(1_usize.saturating_add(i)).copied().unwrap_or(0.0)
                - x_2_ * x_2_;
            let t3_ = i < k1_;
            let t4_ = if t3_ { 100.0 * t2_ * t2_ + t1_ * t1_ } else { 0.0 };
            let t5_ = i.saturating_sub(1);
            let x_3_ = x[t5_];
            let t6_ = if i >= 1 && t5_ < k1_ {
                200.0
                    * (x.get(t5_.saturating_add(1)).copied().unwrap_or(0.0)
                        - x_3_ * x_3_)
            } else {
                0.0
            };
            let t7_ = if t3_ { -400.0 * t2_ * x_2_ - 2.0 * t1_ } else { 0.0 };
            t1_sum_ += t4_;
            v1_[i] = t6_ + t7_;
        }
        t1_sum_
    }
    let x_data_ = ::ad::runtime::kernel::contiguous(x);
    let x_len_ = x.shape()[0];
    let c1_ = 1 <= x_len_;
    ::core::assert!(c1_, "rosenbrock: integer overflow in a subtraction: `x.len() - 1`");
    let k1_ = x_len_.saturating_sub(1);
    let mut v1_ = ::ad::runtime::alloc::vec![0.0; x_len_];
    let inside_ = x_len_.min(k1_).saturating_sub(1);
    let t1_ends_ = compute_t1_and_v1_ends(&mut v1_, &x_data_, x_len_, k1_, inside_);
    let t1_ = if inside_ > 0 {
        t1_ends_ + compute_t1_and_v1(&mut v1_, &x_data_, inside_)
    } else {
        t1_ends_
    };
    (t1_, ::ad::runtime::kernel::assemble([x_len_], v1_))
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
fn __rosenbrock_marked_differentiate(
    how0_: ::ad::runtime::check::CheckCall<'_>,
    (argument0_,): (&Array1<f64>,),
) {
    let own0_ = argument0_.clone();
    let mut check0_ = ::ad::runtime::check::Check::new(
        how0_,
        ::ad::runtime::check::Vec::from([::ad::runtime::check::point("x", &own0_)]),
        |at0_| ::ad::runtime::check::leaf(&rosenbrock(&at0_.moved(0usize, &own0_))),
    );
    check0_
        .grad(|at0_| {
            let (value0_, part0_) = rosenbrock_value_and_grad(
                &at0_.moved(0usize, &own0_),
            );
            (
                ::ad::runtime::check::leaf(&value0_),
                ::ad::runtime::check::Vec::from([::ad::runtime::check::leaf(&part0_)]),
            )
        });
    check0_.done();
}
