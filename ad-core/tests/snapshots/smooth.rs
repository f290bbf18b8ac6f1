#[allow(dead_code, reason = "a function may be used through its derivatives only")]
fn smooth(x: &Array1<f64>, idx: &Array1<usize>) -> Array1<f64> {
    build1(
        idx.len(),
        |i| if i > 0 { 0.5 * (x[idx[i]] + x[idx[i - 1]]) } else { x[idx[i]] },
    )
}
///The value of [`smooth`] and the cotangents of `x`: the transposed Jacobian applied to
///`cotangent_`.
///
///# Parameters
///
///- `x`: a vector of `n` numbers
///- `idx`: a vector of `m` integers
///- `cotangent_`: the cotangent of the result, with its shape
///
///# Returns
///
///The value (a vector of `m` numbers), then the cotangent, of the type and shape of `x`.
///
///# Cost
///
///| operations on numbers | in all | of these for the value |
///| --- | --- | --- |
///| sums, products, other cheap ones | `6*m` | `2*m` |
///
///At most so many: each branch is counted, and each loop with its greatest number of steps. Arrays
///that are stored, also those that are returned: at most `8*m + 16*n` bytes.
///
///# Panics
///Where [`smooth`] does, and if the sizes of the arguments do not fit together.
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
fn smooth_vjp(
    x: &Array1<f64>,
    idx: &Array1<usize>,
    cotangent_: &::ad::ndarray::ArrayRef1<f64>,
) -> (::ad::ndarray::Array1<f64>, ::ad::ndarray::Array1<f64>) {
    ///A loop nest over 1 axis.
    fn compute_c2_and_c3(
        idx: &[usize],
        x_len_: usize,
        idx_len_: usize,
    ) -> (bool, bool, bool) {
        #[inline(always)]
        fn loops<I: ::ad::runtime::kernel::Isa>(
            idx: &[usize],
            x_len_: usize,
            idx_len_: usize,
        ) -> (bool, bool, bool) {
            let mut c2_sum_: bool = true;
            let mut c3_sum_: bool = true;
            let mut c4_sum_: bool = true;
            let idx = &idx[..idx_len_];
            for i in 0..idx_len_ {
                let t1_ = i > 0;
                let t2_ = if t1_ {
                    idx[i.saturating_sub(1)].saturating_add(1) <= x_len_
                } else {
                    true
                };
                let t3_ = idx[i].saturating_add(1) <= x_len_;
                let t4_ = if t1_ { t3_ } else { true };
                let t5_ = if t1_ { true } else { t3_ };
                c2_sum_ &= t2_;
                c3_sum_ &= t4_;
                c4_sum_ &= t5_;
            }
            (c2_sum_, c3_sum_, c4_sum_)
        }
        ::ad::runtime::dispatched!(
            'a,; loops(idx : & 'a[usize], x_len_ : usize, idx_len_ : usize) -> (bool,
            bool, bool)
        )
    }
    ///The interior, where no test is needed.
    fn compute_v1(v1_: &mut [f64], idx: &[usize], x: &[f64], inside_: usize) {
        let idx_row_ = &idx[0..][..inside_];
        let idx_row_2_ = &idx[1..][..inside_];
        let v1_ = &mut v1_[1..][..inside_];
        for i in 0..inside_ {
            v1_[i] = 0.5
                * (x.get(idx_row_2_[i]).copied().unwrap_or(0.0)
                    + x.get(idx_row_[i]).copied().unwrap_or(0.0));
        }
    }
    ///The elements before and after the interior.
    fn compute_v1_ends(
        v1_: &mut [f64],
        idx: &[usize],
        x: &[f64],
        idx_len_: usize,
        inside_: usize,
    ) {
        let v1_ = &mut v1_[..idx_len_];
        for i in (0..idx_len_.min(1)).chain((inside_ + 1).min(idx_len_)..idx_len_) {
            let x_2_ = x.get(idx[i]).copied().unwrap_or(0.0);
            let t1_ = if i > 0 {
                0.5 * (x_2_ + x.get(idx[i.saturating_sub(1)]).copied().unwrap_or(0.0))
            } else {
                x_2_
            };
            v1_[i] = t1_;
        }
    }
    ///Adds at computed positions; what falls outside is dropped.
    fn scatter_v2(
        v2_: &mut [f64],
        idx: &[usize],
        cotangent_: &[f64],
        x_len_: usize,
        idx_len_: usize,
    ) {
        let cotangent_ = &cotangent_[..idx_len_];
        let idx = &idx[..idx_len_];
        for i in 0..idx_len_ {
            let idx_2_ = idx[i.saturating_sub(1)];
            let t1_ = cotangent_[i] * 0.5;
            let t2_ = i > 0;
            let t3_ = if t2_ { t1_ } else { 0.0 };
            let t4_ = if t2_ { t1_ } else { cotangent_[i] };
            if idx_2_ < x_len_ {
                v2_[idx_2_] += t3_;
            }
            if idx[i] < x_len_ {
                v2_[idx[i]] += t4_;
            }
        }
    }
    let x_data_ = ::ad::runtime::kernel::contiguous(x);
    let idx_data_ = ::ad::runtime::kernel::contiguous(idx);
    let cotangent_data_ = ::ad::runtime::kernel::contiguous(cotangent_);
    let idx_len_ = idx.shape()[0];
    let cotangent_len_ = cotangent_.shape()[0];
    let c1_ = cotangent_len_ == idx_len_;
    ::core::assert!(
        c1_,
        "smooth: `cotangent` does not have the shape of the result (axis 0): `smooth` (`cotangent` = {}, the result = {})",
        cotangent_len_, idx_len_
    );
    let x_len_ = x.shape()[0];
    let (c2_, c3_, c4_) = compute_c2_and_c3(&idx_data_, x_len_, idx_len_);
    if !c2_ {
        ::ad::runtime::reached::panic_because(
            &|| {
                let _value = smooth(x, idx);
            },
            ::core::format_args!(
                "smooth: index out of range: `x[idx[i - 1]]` (length of `x` = {})",
                x_len_
            ),
        )
    }
    if !c3_ {
        ::ad::runtime::reached::panic_because(
            &|| {
                let _value = smooth(x, idx);
            },
            ::core::format_args!(
                "smooth: index out of range: `x[idx[i]]` (length of `x` = {})", x_len_
            ),
        )
    }
    if !c4_ {
        ::ad::runtime::reached::panic_because(
            &|| {
                let _value = smooth(x, idx);
            },
            ::core::format_args!(
                "smooth: index out of range: `x[idx[i]]` (length of `x` = {})", x_len_
            ),
        )
    }
    ::ad::runtime::kernel::reserve::<f64>(idx_len_ + x_len_);
    let mut v1_ = ::ad::runtime::alloc::vec![0.0; idx_len_];
    let inside_ = idx_len_.saturating_sub(1);
    if inside_ > 0 {
        compute_v1(&mut v1_, &idx_data_, &x_data_, inside_);
    }
    compute_v1_ends(&mut v1_, &idx_data_, &x_data_, idx_len_, inside_);
    let mut v2_ = ::ad::runtime::alloc::vec![0.0_f64; x_len_];
    scatter_v2(&mut v2_, &idx_data_, &cotangent_data_, x_len_, idx_len_);
    (
        ::ad::runtime::kernel::assemble([idx_len_], v1_),
        ::ad::runtime::kernel::assemble([x_len_], v2_),
    )
}
///The value of [`smooth`] and its tangent: the Jacobian applied to tangents of `x`.
///
///# Parameters
///
///- `x`: a vector of `n` numbers
///- `idx`: a vector of `m` integers
///- `tangent_x_`: the tangent of `x`, with its shape
///
///# Returns
///
///The value (a vector of `m` numbers), then the tangent, of the shape of the value.
///
///# Cost
///
///| operations on numbers | in all | of these for the value |
///| --- | --- | --- |
///| sums, products, other cheap ones | `4*m` | `2*m` |
///
///At most so many: each branch is counted, and each loop with its greatest number of steps. Arrays
///that are stored, also those that are returned: at most `16*m` bytes.
///
///# Panics
///Where [`smooth`] does, and if the sizes of the arguments do not fit together.
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
fn smooth_jvp(
    x: &Array1<f64>,
    idx: &Array1<usize>,
    tangent_x_: &::ad::ndarray::ArrayRef1<f64>,
) -> (::ad::ndarray::Array1<f64>, ::ad::ndarray::Array1<f64>) {
    ///A loop nest over 1 axis.
    fn compute_c2_and_c3(
        idx: &[usize],
        x_len_: usize,
        idx_len_: usize,
    ) -> (bool, bool, bool) {
        #[inline(always)]
        fn loops<I: ::ad::runtime::kernel::Isa>(
            idx: &[usize],
            x_len_: usize,
            idx_len_: usize,
        ) -> (bool, bool, bool) {
            let mut c2_sum_: bool = true;
            let mut c3_sum_: bool = true;
            let mut c4_sum_: bool = true;
            let idx = &idx[..idx_len_];
            for i in 0..idx_len_ {
                let t1_ = i > 0;
                let t2_ = if t1_ {
                    idx[i.saturating_sub(1)].saturating_add(1) <= x_len_
                } else {
                    true
                };
                let t3_ = idx[i].saturating_add(1) <= x_len_;
                let t4_ = if t1_ { t3_ } else { true };
                let t5_ = if t1_ { true } else { t3_ };
                c2_sum_ &= t2_;
                c3_sum_ &= t4_;
                c4_sum_ &= t5_;
            }
            (c2_sum_, c3_sum_, c4_sum_)
        }
        ::ad::runtime::dispatched!(
            'a,; loops(idx : & 'a[usize], x_len_ : usize, idx_len_ : usize) -> (bool,
            bool, bool)
        )
    }
    ///The interior, where no test is needed.
    fn compute_v1_and_v2(
        v1_: &mut [f64],
        v2_: &mut [f64],
        idx: &[usize],
        x: &[f64],
        tangent_x_: &[f64],
        inside_: usize,
    ) {
        #[inline(always)]
        fn loops<I: ::ad::runtime::kernel::Isa>(
            v1_: &mut [f64],
            v2_: &mut [f64],
            idx: &[usize],
            x: &[f64],
            tangent_x_: &[f64],
            inside_: usize,
        ) {
            let idx_row_ = &idx[0..][..inside_];
            let idx_row_2_ = &idx[1..][..inside_];
            let v1_ = &mut v1_[1..][..inside_];
            let v2_ = &mut v2_[1..][..inside_];
            for i in 0..inside_ {
                v1_[i] = 0.5
                    * (x.get(idx_row_2_[i]).copied().unwrap_or(0.0)
                        + x.get(idx_row_[i]).copied().unwrap_or(0.0));
                v2_[i] = (tangent_x_.get(idx_row_2_[i]).copied().unwrap_or(0.0)
                    + tangent_x_.get(idx_row_[i]).copied().unwrap_or(0.0)) * 0.5;
            }
        }
        ::ad::runtime::dispatched!(
            'a,; loops(v1_ : & 'a mut [f64], v2_ : & 'a mut [f64], idx : & 'a[usize], x :
            & 'a[f64], tangent_x_ : & 'a[f64], inside_ : usize) -> ()
        );
    }
    ///The elements before and after the interior.
    fn compute_v1_and_v2_ends(
        v1_: &mut [f64],
        v2_: &mut [f64],
        idx: &[usize],
        x: &[f64],
        tangent_x_: &[f64],
        idx_len_: usize,
        inside_: usize,
    ) {
        let v1_ = &mut v1_[..idx_len_];
        let v2_ = &mut v2_[..idx_len_];
        for i in (0..idx_len_.min(1)).chain((inside_ + 1).min(idx_len_)..idx_len_) {
            let t1_ = i > 0;
            let idx_2_ = idx[i.saturating_sub(1)];
            let idx_3_ = idx[i];
            let x_2_ = x.get(idx_3_).copied().unwrap_or(0.0);
            let t2_ = if t1_ {
                0.5 * (x_2_ + x.get(idx_2_).copied().unwrap_or(0.0))
            } else {
                x_2_
            };
            let t3_ = tangent_x_.get(idx_3_).copied().unwrap_or(0.0);
            let t4_ = if t1_ {
                (t3_ + tangent_x_.get(idx_2_).copied().unwrap_or(0.0)) * 0.5
            } else {
                t3_
            };
            v1_[i] = t2_;
            v2_[i] = t4_;
        }
    }
    let x_data_ = ::ad::runtime::kernel::contiguous(x);
    let idx_data_ = ::ad::runtime::kernel::contiguous(idx);
    let tangent_x_data_ = ::ad::runtime::kernel::contiguous(tangent_x_);
    let x_len_ = x.shape()[0];
    let tangent_x_len_ = tangent_x_.shape()[0];
    let c1_ = tangent_x_len_ == x_len_;
    ::core::assert!(
        c1_,
        "smooth: `tangent_x` does not have the shape of `x` (axis 0): `smooth` (`tangent_x` = {}, `x` = {})",
        tangent_x_len_, x_len_
    );
    let idx_len_ = idx.shape()[0];
    let (c2_, c3_, c4_) = compute_c2_and_c3(&idx_data_, x_len_, idx_len_);
    if !c2_ {
        ::ad::runtime::reached::panic_because(
            &|| {
                let _value = smooth(x, idx);
            },
            ::core::format_args!(
                "smooth: index out of range: `x[idx[i - 1]]` (length of `x` = {})",
                x_len_
            ),
        )
    }
    if !c3_ {
        ::ad::runtime::reached::panic_because(
            &|| {
                let _value = smooth(x, idx);
            },
            ::core::format_args!(
                "smooth: index out of range: `x[idx[i]]` (length of `x` = {})", x_len_
            ),
        )
    }
    if !c4_ {
        ::ad::runtime::reached::panic_because(
            &|| {
                let _value = smooth(x, idx);
            },
            ::core::format_args!(
                "smooth: index out of range: `x[idx[i]]` (length of `x` = {})", x_len_
            ),
        )
    }
    ::ad::runtime::kernel::reserve::<f64>(2 * idx_len_);
    let mut v1_ = ::ad::runtime::alloc::vec![0.0; idx_len_];
    let mut v2_ = ::ad::runtime::alloc::vec![0.0; idx_len_];
    let inside_ = idx_len_.saturating_sub(1);
    if inside_ > 0 {
        compute_v1_and_v2(
            &mut v1_,
            &mut v2_,
            &idx_data_,
            &x_data_,
            &tangent_x_data_,
            inside_,
        );
    }
    compute_v1_and_v2_ends(
        &mut v1_,
        &mut v2_,
        &idx_data_,
        &x_data_,
        &tangent_x_data_,
        idx_len_,
        inside_,
    );
    (
        ::ad::runtime::kernel::assemble([idx_len_], v1_),
        ::ad::runtime::kernel::assemble([idx_len_], v2_),
    )
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
fn __smooth_marked_differentiate(
    how0_: ::ad::runtime::check::CheckCall<'_>,
    (argument0_, argument1_): (&Array1<f64>, &Array1<usize>),
) {
    let own0_ = argument0_.clone();
    let mut check0_ = ::ad::runtime::check::Check::new(
        how0_,
        ::ad::runtime::check::Vec::from([::ad::runtime::check::point("x", &own0_)]),
        |at0_| ::ad::runtime::check::leaf(
            &smooth(&at0_.moved(0usize, &own0_), argument1_),
        ),
    );
    check0_
        .vjp(|at0_| {
            let value0_ = smooth(argument0_, argument1_);
            let (value0_, part0_) = smooth_vjp(
                argument0_,
                argument1_,
                &::ad::runtime::check::refill(&value0_, at0_),
            );
            (
                ::ad::runtime::check::leaf(&value0_),
                ::ad::runtime::check::Vec::from([::ad::runtime::check::leaf(&part0_)]),
            )
        });
    check0_
        .jvp(|at0_| {
            let (value0_, back0_) = smooth_jvp(
                argument0_,
                argument1_,
                &at0_.of(0usize, &own0_),
            );
            (::ad::runtime::check::leaf(&value0_), ::ad::runtime::check::leaf(&back0_))
        });
    check0_.done();
}
