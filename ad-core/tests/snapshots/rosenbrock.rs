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
fn rosenbrock_grad(x: &Array1<f64>) -> ::ad::ndarray::Array1<f64> {
    rosenbrock_value_and_grad(x).1
}
///The value of [`rosenbrock`] and its gradient with respect to `x`.
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
fn rosenbrock_value_and_grad(x: &Array1<f64>) -> (f64, ::ad::ndarray::Array1<f64>) {
    ///The interior, where no test is needed.
    fn compute_t1_and_v1(v1: &mut [f64], x: &[f64], inside: usize) -> f64 {
        #[inline(always)]
        fn loops<I: ::ad::runtime::kernel::Isa>(
            v1: &mut [f64],
            x: &[f64],
            inside: usize,
        ) -> f64 {
            let mut t1_lanes = [0.0; 16];
            let x_row = &x[1..][..inside];
            let x_row_2 = &*::ad::runtime::kernel::cut(x, 2, inside, 0.0);
            let x_row_3 = &x[0..][..inside];
            let v1 = &mut v1[1..][..inside];
            let (x_chunks, x_rest) = x_row.as_chunks::<16>();
            let (x_chunks_2, x_rest_2) = x_row_2.as_chunks::<16>();
            let (x_chunks_3, x_rest_3) = x_row_3.as_chunks::<16>();
            let (v1_chunks, v1_rest) = v1.as_chunks_mut::<16>();
            for c in 0..inside / 16 {
                let x_row = &x_chunks[c];
                let x_row_2 = &x_chunks_2[c];
                let x_row_3 = &x_chunks_3[c];
                let v1 = &mut v1_chunks[c];
                for l in 0..16 {
                    let t1 = 1.0 - x_row[l];
                    let t2 = I::mul_add(-x_row[l], x_row[l], x_row_2[l]);
                    t1_lanes[l] += I::mul_add(t1, t1, 100.0 * t2 * t2);
                    v1[l] = I::mul_add(
                        200.0,
                        I::mul_add(-x_row_3[l], x_row_3[l], x_row[l]),
                        I::mul_add(-2.0, t1, -2.0 * (200.0 * t2 * x_row[l])),
                    );
                }
            }
            let mut t1_rest = ::ad::runtime::kernel::lanes(t1_lanes);
            for l in 0..inside % 16 {
                let t1 = 1.0 - x_rest[l];
                let t2 = I::mul_add(-x_rest[l], x_rest[l], x_rest_2[l]);
                t1_rest += I::mul_add(t1, t1, 100.0 * t2 * t2);
                v1_rest[l] = I::mul_add(
                    200.0,
                    I::mul_add(-x_rest_3[l], x_rest_3[l], x_rest[l]),
                    I::mul_add(-2.0, t1, -2.0 * (200.0 * t2 * x_rest[l])),
                );
            }
            t1_rest
        }
        ::ad::runtime::dispatched!(
            'a,; loops(v1 : & 'a mut [f64], x : & 'a[f64], inside : usize) -> f64
        )
    }
    ///What lies before and behind the interior.
    fn compute_t1_and_v1_ends(
        v1: &mut [f64],
        x: &[f64],
        x_len: usize,
        k1: usize,
        inside: usize,
    ) -> f64 {
        let mut t1_sum: f64 = 0.0;
        let v1 = &mut v1[..x_len];
        for i in (0..x_len.min(1)).chain((inside + 1).min(x_len)..x_len) {
            let x_2 = x[i];
            let t1 = 1.0 - x_2;
            let t2 = x.get(1_usize.saturating_add(i)).copied().unwrap_or(0.0)
                - x_2 * x_2;
            let t3 = i < k1;
            let t4 = if t3 { 100.0 * t2 * t2 + t1 * t1 } else { 0.0 };
            let t5 = i.saturating_sub(1);
            let t6 = if i >= 1 && t5 < k1 {
                let x_3 = x.get(t5).copied().unwrap_or(0.0);
                200.0 * (x.get(t5.saturating_add(1)).copied().unwrap_or(0.0) - x_3 * x_3)
            } else {
                0.0
            };
            let t7 = if t3 { -2.0 * (200.0 * t2 * x_2) - 2.0 * t1 } else { 0.0 };
            t1_sum += t4;
            v1[i] = t6 + t7;
        }
        t1_sum
    }
    let x_data = ::ad::runtime::kernel::contiguous(x);
    let x_len = x.shape()[0];
    let c1 = 1 <= x_len;
    ::core::assert!(c1, "rosenbrock: integer overflow in a subtraction: `x.len() - 1`");
    let k1 = x_len.saturating_sub(1);
    let mut v1 = ::std::vec![0.0; x_len];
    let inside = x_len.min(k1).saturating_sub(1);
    let t1_ends = compute_t1_and_v1_ends(&mut v1, &x_data, x_len, k1, inside);
    let t1 = if inside > 0 {
        t1_ends + compute_t1_and_v1(&mut v1, &x_data, inside)
    } else {
        t1_ends
    };
    (t1, ::ad::runtime::kernel::assemble([x_len], v1))
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
fn __ad_check_rosenbrock(how0: ::ad::runtime::check::How<'_>, argument0: &Array1<f64>) {
    let own0 = argument0.clone();
    let mut check0 = ::ad::runtime::check::Check::new(
        how0,
        ::std::vec::Vec::from([::ad::runtime::check::point("x", &own0)]),
        |at0| ::ad::runtime::check::leaf(&rosenbrock(&at0.moved(0usize, &own0))),
    );
    check0
        .grad(|at0| {
            let (value0, part0) = rosenbrock_value_and_grad(&at0.moved(0usize, &own0));
            (
                ::ad::runtime::check::leaf(&value0),
                ::std::vec::Vec::from([::ad::runtime::check::leaf(&part0)]),
            )
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
    /// The methods that were taken for those of ndarray and std are: one of a trait in scope would be ambiguous here.
    fn assumed_methods() {
        use ::ad::runtime::assumed::methods::*;
        let _ = |x: ::ad::ndarray::Array1<f64>| x.sum();
        let _ = |x: &::ad::ndarray::Array1<f64>| x.sum();
        let _ = |x: &mut ::ad::ndarray::Array1<f64>| x.sum();
    }
};
