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
pub fn logistic_value_and_grad(
    w: &Array1<f64>,
    x: &Array2<f64>,
    y: &Array1<f64>,
) -> (f64, ::ad::ndarray::Array1<f64>) {
    ///A loop nest over 1 axis.
    fn compute_t1_and_v1(v1: &mut [f64], y: &[f64], x_rows: usize) -> f64 {
        #[inline(always)]
        fn loops<I: ::ad::runtime::kernel::Isa>(
            v1: &mut [f64],
            y: &[f64],
            x_rows: usize,
        ) -> f64 {
            let mut t1_lanes = [0.0; 16];
            let v1 = &mut v1[..x_rows];
            let y_row = &y[0..][..x_rows];
            let (v1_chunks, v1_rest) = v1.as_chunks_mut::<16>();
            let (y_chunks, y_rest) = y_row.as_chunks::<16>();
            for c in 0..x_rows / 16 {
                let v1 = &mut v1_chunks[c];
                let y_row = &y_chunks[c];
                for l in 0..16 {
                    let z = v1[l];
                    let t1 = -(y_row[l] * z);
                    let t2 = I::exp(-t1.abs());
                    let t3 = if t1 < 0.0 { t2 } else { 1.0 };
                    t1_lanes[l] += t1.max(0.0) + I::ln_1p(t2);
                    v1[l] = -(t3 / (1.0 + t2) * y_row[l]);
                }
            }
            let mut t1_rest = ::ad::runtime::kernel::lanes(t1_lanes);
            for l in 0..x_rows % 16 {
                let z = v1_rest[l];
                let t1 = -(y_rest[l] * z);
                let t2 = I::exp(-t1.abs());
                let t3 = if t1 < 0.0 { t2 } else { 1.0 };
                t1_rest += t1.max(0.0) + I::ln_1p(t2);
                v1_rest[l] = -(t3 / (1.0 + t2) * y_rest[l]);
            }
            t1_rest
        }
        ::ad::runtime::dispatched!(
            'a,; loops(v1 : & 'a mut [f64], y : & 'a[f64], x_rows : usize) -> f64
        )
    }
    let w_data = ::ad::runtime::kernel::contiguous(w);
    let x_data = ::ad::runtime::kernel::contiguous(x);
    let y_data = ::ad::runtime::kernel::contiguous(y);
    let w_len = w.shape()[0];
    let x_rows = x.shape()[0];
    let y_len = y.shape()[0];
    let c1 = x_rows == 0 || x_rows <= y_len;
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
    let mut v1 = z;
    let t1 = compute_t1_and_v1(&mut v1, &y_data, x_rows);
    let mut v2 = ::std::vec![0.0; w_len];
    ::ad::runtime::kernel::gemv_t(&mut v2, &x_data, &v1, false);
    (t1, ::ad::runtime::kernel::assemble([w_len], v2))
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
pub fn __ad_check_logistic(
    how0: ::ad::runtime::check::How<'_>,
    argument0: &Array1<f64>,
    argument1: &Array2<f64>,
    argument2: &Array1<f64>,
) {
    let own0 = argument0.clone();
    let mut check0 = ::ad::runtime::check::Check::new(
        how0,
        ::std::vec::Vec::from([::ad::runtime::check::point("w", &own0)]),
        |at0| ::ad::runtime::check::leaf(
            &logistic(&at0.moved(0usize, &own0), argument1, argument2),
        ),
    );
    check0
        .grad(|at0| {
            let (value0, part0) = logistic_value_and_grad(
                &at0.moved(0usize, &own0),
                argument1,
                argument2,
            );
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
    const _: fn(Array2<()>) -> ::ad::ndarray::Array2<()> = |x| x;
    /// The functions that were taken for those of `ad::prelude`, ndarray and std are: another of the name would not compile here.
    fn assumed_functions(x: &::ad::ndarray::Array1<f64>) {
        let _ = x;
        let f = build1;
        ::ad::runtime::kernel::same(::ad::prelude::build1, f);
        let _ = f(0, |_| 0.0_f64);
        let f = softplus;
        ::ad::runtime::kernel::same(::ad::prelude::softplus, f);
        let _ = f(0.0_f64);
    }
    /// The methods that were taken for those of ndarray and std are: one of a trait in scope would be ambiguous here.
    fn assumed_methods() {
        use ::ad::runtime::assumed::methods::*;
        let _ = |x: ::ad::ndarray::Array2<f64>| x.dot();
        let _ = |x: &::ad::ndarray::Array2<f64>| x.dot();
        let _ = |x: &&::ad::ndarray::Array2<f64>| x.dot();
        let _ = |x: &mut ::ad::ndarray::Array2<f64>| x.dot();
        let _ = |x: &::ad::ndarray::ArrayRef1<f64>| x.len();
        let _ = |x: ::ad::ndarray::Array1<f64>| x.len();
        let _ = |x: ::ad::ndarray::ArrayView1<'_, f64>| x.len();
        let _ = |x: ::std::vec::Vec<f64>| x.len();
        let _ = |x: ::ad::ndarray::Array1<f64>| x.sum();
        let _ = |x: &::ad::ndarray::Array1<f64>| x.sum();
        let _ = |x: &mut ::ad::ndarray::Array1<f64>| x.sum();
    }
};
