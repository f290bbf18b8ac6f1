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
    cotangent: &::ad::ndarray::ArrayRef1<f64>,
) -> (::ad::ndarray::Array1<f64>, ::ad::ndarray::Array1<f64>) {
    ///A loop nest over 1 axis.
    fn compute_c2_and_c3(
        v1: &mut [f64],
        idx: &[usize],
        x: &[f64],
        x_len: usize,
        idx_len: usize,
    ) -> (bool, bool, bool) {
        let mut c2_sum: bool = true;
        let mut c3_sum: bool = true;
        let mut c4_sum: bool = true;
        let idx = &idx[..idx_len];
        let v1 = &mut v1[..idx_len];
        for i in 0..idx_len {
            let idx_2 = idx.get(i.saturating_sub(1)).copied().unwrap_or(0);
            let t1 = i > 0;
            let t2 = if t1 { idx_2.saturating_add(1) <= x_len } else { true };
            let t3 = idx[i].saturating_add(1) <= x_len;
            let t4 = if t1 { t3 } else { true };
            let t5 = if t1 { true } else { t3 };
            let x_2 = x.get(idx[i]).copied().unwrap_or(0.0);
            let t6 = if t1 {
                0.5 * (x_2 + x.get(idx_2).copied().unwrap_or(0.0))
            } else {
                x_2
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
        idx: &[usize],
        cotangent: &[f64],
        x_len: usize,
        idx_len: usize,
    ) {
        let cotangent = &cotangent[..idx_len];
        for i in 0..idx_len {
            let idx_2 = idx.get(i.saturating_sub(1)).copied().unwrap_or(0);
            let t1 = if i > 0 { cotangent[i] * 0.5 } else { 0.0 };
            if idx_2 < x_len {
                v2[idx_2] += t1;
            }
        }
    }
    ///Adds at computed positions; what falls outside is dropped.
    fn scatter_v3(
        v3: &mut [f64],
        idx: &[usize],
        cotangent: &[f64],
        x_len: usize,
        idx_len: usize,
    ) {
        let idx = &idx[..idx_len];
        let cotangent = &cotangent[..idx_len];
        for i in 0..idx_len {
            let t1 = i > 0;
            let t2 = if t1 { cotangent[i] * 0.5 } else { 0.0 };
            let t3 = if t1 { 0.0 } else { cotangent[i] };
            if idx[i] < x_len {
                v3[idx[i]] += t3 + t2;
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
    let mut v2 = ::std::vec![0.0_f64; x_len];
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
    tangent_x: &::ad::ndarray::ArrayRef1<f64>,
) -> (::ad::ndarray::Array1<f64>, ::ad::ndarray::Array1<f64>) {
    ///A loop nest over 1 axis.
    fn compute_c2_and_c3(
        v1: &mut [f64],
        v2: &mut [f64],
        idx: &[usize],
        x: &[f64],
        tangent_x: &[f64],
        x_len: usize,
        idx_len: usize,
    ) -> (bool, bool, bool) {
        #[inline(always)]
        fn loops<I: ::ad::runtime::kernel::Isa>(
            v1: &mut [f64],
            v2: &mut [f64],
            idx: &[usize],
            x: &[f64],
            tangent_x: &[f64],
            x_len: usize,
            idx_len: usize,
        ) -> (bool, bool, bool) {
            let mut c2_sum: bool = true;
            let mut c3_sum: bool = true;
            let mut c4_sum: bool = true;
            let idx = &idx[..idx_len];
            let v1 = &mut v1[..idx_len];
            let v2 = &mut v2[..idx_len];
            for i in 0..idx_len {
                let idx_2 = idx.get(i.saturating_sub(1)).copied().unwrap_or(0);
                let t1 = i > 0;
                let t2 = if t1 { idx_2.saturating_add(1) <= x_len } else { true };
                let t3 = idx[i].saturating_add(1) <= x_len;
                let t4 = if t1 { t3 } else { true };
                let t5 = if t1 { true } else { t3 };
                let x_2 = x.get(idx[i]).copied().unwrap_or(0.0);
                let t6 = if t1 {
                    0.5 * (x_2 + x.get(idx_2).copied().unwrap_or(0.0))
                } else {
                    x_2
                };
                let t7 = tangent_x.get(idx[i]).copied().unwrap_or(0.0);
                let t8 = if t1 {
                    (t7 + tangent_x.get(idx_2).copied().unwrap_or(0.0)) * 0.5
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
        ::ad::runtime::dispatched!(
            'a,; loops(v1 : & 'a mut [f64], v2 : & 'a mut [f64], idx : & 'a[usize], x : &
            'a[f64], tangent_x : & 'a[f64], x_len : usize, idx_len : usize) -> (bool,
            bool, bool)
        )
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
fn __ad_check_smooth(
    how0: ::ad::runtime::check::How<'_>,
    argument0: &Array1<f64>,
    argument1: &Array1<usize>,
) {
    let own0 = argument0.clone();
    let mut check0 = ::ad::runtime::check::Check::new(
        how0,
        ::std::vec::Vec::from([::ad::runtime::check::point("x", &own0)]),
        |at0| ::ad::runtime::check::leaf(&smooth(&at0.moved(0usize, &own0), argument1)),
    );
    check0
        .vjp(|at0| {
            let value0 = smooth(argument0, argument1);
            let (value0, part0) = smooth_vjp(
                argument0,
                argument1,
                &::ad::runtime::check::refill(&value0, at0),
            );
            (
                ::ad::runtime::check::leaf(&value0),
                ::std::vec::Vec::from([::ad::runtime::check::leaf(&part0)]),
            )
        });
    check0
        .jvp(|at0| {
            let (value0, back0) = smooth_jvp(
                argument0,
                argument1,
                &at0.of(0usize, &own0),
            );
            (::ad::runtime::check::leaf(&value0), ::ad::runtime::check::leaf(&back0))
        });
    check0.done();
}
#[allow(dead_code, reason = "what is proved by compiling is never run")]
#[allow(
    clippy::semicolon_if_nothing_returned,
    clippy::wildcard_imports,
    reason = "whether a name is ambiguous with one imported so is what is asked, in calls for nothing else"
)]
const _: () = {
    const _: fn(Array1<()>) -> ::ad::ndarray::Array1<()> = |x| x;
    /// The functions that were taken for those of `ad::prelude`, ndarray and std are: another of the name would not compile here.
    fn assumed_functions(x: &::ad::ndarray::Array1<f64>) {
        let _ = x;
        let f = build1;
        ::ad::runtime::kernel::same(::ad::prelude::build1, f);
        let _ = f(0, |_| 0.0_f64);
    }
};
