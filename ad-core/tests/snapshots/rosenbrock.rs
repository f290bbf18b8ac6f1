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
    const _: fn(Array1<()>) -> ::ad::ndarray::Array1<()> = |x| x;
    /// The functions that this derivative took for those of `ad::prelude` are: another of the name would not compile here.
    fn assumed_functions(x: &::ad::ndarray::Array1<f64>) {
        let f = build1;
        ::ad::runtime::kernel::same(f, ::ad::prelude::build1);
        let _ = f(0, |_| 0.0_f64);
    }
    ///A loop nest over 1 axis.
    fn compute_t1_and_v1(v1: &mut [f64], x: &[f64], k1: usize) -> f64 {
        #[inline(always)]
        fn loops<I: ::ad::runtime::kernel::Isa>(
            v1: &mut [f64],
            x: &[f64],
            k1: usize,
        ) -> f64 {
            let mut t1_lanes = [0.0; 16];
            let x_row = &x[0..][..k1];
            let x_row_2 = &x[1..][..k1];
            let v1 = &mut v1[..k1];
            let (x_chunks, x_rest) = x_row.as_chunks::<16>();
            let (x_chunks_2, x_rest_2) = x_row_2.as_chunks::<16>();
            let (v1_chunks, v1_rest) = v1.as_chunks_mut::<16>();
            for c in 0..k1 / 16 {
                let x_row = &x_chunks[c];
                let x_row_2 = &x_chunks_2[c];
                let v1 = &mut v1_chunks[c];
                for l in 0..16 {
                    let t1 = 1.0 - x_row[l];
                    let t2 = I::mul_add(-x_row[l], x_row[l], x_row_2[l]);
                    let t3 = 100.0 * t2;
                    t1_lanes[l] += I::mul_add(t1, t1, t3 * t2);
                    v1[l] = I::mul_add(t2, 100.0, t3);
                }
            }
            let mut t1_rest = ::ad::runtime::kernel::lanes(t1_lanes);
            for l in 0..k1 % 16 {
                let t1 = 1.0 - x_rest[l];
                let t2 = I::mul_add(-x_rest[l], x_rest[l], x_rest_2[l]);
                let t3 = 100.0 * t2;
                t1_rest += I::mul_add(t1, t1, t3 * t2);
                v1_rest[l] = I::mul_add(t2, 100.0, t3);
            }
            t1_rest
        }
        ::ad::runtime::dispatched!(
            'a,; loops(v1 : & 'a mut [f64], x : & 'a[f64], k1 : usize) -> f64
        )
    }
    ///Adds a block of the result.
    fn add_v2(v2: &mut [f64], v1: &[f64], k1: usize) {
        let v1 = &v1[..k1];
        let v2_row = &mut v2[1..][..k1];
        for i in 0..k1 {
            v2_row[i] += v1[i];
        }
    }
    ///Adds a block of the result.
    fn add_v2_2(v2: &mut [f64], x: &[f64], v1: &[f64], k1: usize) {
        #[inline(always)]
        fn loops<I: ::ad::runtime::kernel::Isa>(
            v2: &mut [f64],
            x: &[f64],
            v1: &[f64],
            k1: usize,
        ) {
            let x_row = &x[0..][..k1];
            let v1 = &v1[..k1];
            let v2_row = &mut v2[0..][..k1];
            for i in 0..k1 {
                let t1 = v1[i] * x_row[i];
                v2_row[i] += I::mul_add(-2.0, 1.0 - x_row[i], -t1 - t1);
            }
        }
        ::ad::runtime::dispatched!(
            'a,; loops(v2 : & 'a mut [f64], x : & 'a[f64], v1 : & 'a[f64], k1 : usize) ->
            ()
        );
    }
    let x_data = ::ad::runtime::kernel::contiguous(x);
    let x_len = x.shape()[0];
    let c1 = 1 <= x_len;
    ::core::assert!(c1, "rosenbrock: integer overflow in a subtraction: `x.len() - 1`");
    let k1 = x_len.saturating_sub(1);
    let mut v1 = ::std::vec![0.0; k1];
    let t1 = compute_t1_and_v1(&mut v1, &x_data, k1);
    let mut v2 = ::std::vec![0.0; x_len];
    add_v2(&mut v2, &v1, k1);
    add_v2_2(&mut v2, &x_data, &v1, k1);
    (t1, ::ad::runtime::kernel::assemble([x_len], v2))
}
