#[allow(dead_code, reason = "a function may be used through its derivatives only")]
fn histogram_energy(weights: &[f32], bins: &[usize], n: usize) -> f32 {
    let w = build1(weights.len(), |i| weights[i] * weights[i]);
    let h = scatter([n], &w, |[i]| [bins[i]]);
    h.mapv(|v| v * v).sum()
}
///The gradient of [`histogram_energy`] with respect to `weights`.
///
///# Panics
///Where [`histogram_energy`] does, and if the sizes of the arguments do not fit together.
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
fn histogram_energy_grad(
    weights: &[f32],
    bins: &[usize],
    n: usize,
) -> ::std::vec::Vec<f32> {
    histogram_energy_value_and_grad(weights, bins, n).1
}
///The value of [`histogram_energy`] and its gradient with respect to `weights`.
///
///# Panics
///Where [`histogram_energy`] does, and if the sizes of the arguments do not fit together.
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
fn histogram_energy_value_and_grad(
    weights: &[f32],
    bins: &[usize],
    n: usize,
) -> (f32, ::std::vec::Vec<f32>) {
    ///A loop nest over 1 axis.
    fn compute_c2(bins: &[usize], n: usize, weights_len: usize) -> bool {
        let mut c2_sum: bool = true;
        let bins_row = &bins[0..][..weights_len];
        for i in 0..weights_len {
            c2_sum &= bins_row[i].saturating_add(1) <= n;
        }
        c2_sum
    }
    ///Adds at computed positions; what falls outside is dropped.
    fn scatter_v1(
        v1: &mut [f32],
        bins: &[usize],
        weights: &[f32],
        n: usize,
        weights_len: usize,
    ) {
        let bins_row = &bins[0..][..weights_len];
        let weights = &weights[..weights_len];
        for i in 0..weights_len {
            if bins_row[i] < n {
                v1[bins_row[i]] += weights[i] * weights[i];
            }
        }
    }
    ///A loop nest over 1 axis.
    fn compute_t1(v1: &[f32], n: usize) -> f32 {
        #[inline(always)]
        fn loops<I: ::ad::runtime::kernel::Isa>(v1: &[f32], n: usize) -> f32 {
            let mut t1_lanes = [0.0; 16];
            let v1 = &v1[..n];
            let (v1_chunks, v1_rest) = v1.as_chunks::<16>();
            for c in 0..n / 16 {
                let v1 = &v1_chunks[c];
                for l in 0..16 {
                    t1_lanes[l] = I::mul_add(v1[l], v1[l], t1_lanes[l]);
                }
            }
            let mut t1_rest = ::ad::runtime::kernel::lanes(t1_lanes);
            for l in 0..n % 16 {
                t1_rest = I::mul_add(v1_rest[l], v1_rest[l], t1_rest);
            }
            t1_rest
        }
        ::ad::runtime::dispatched!('a,; loops(v1 : & 'a[f32], n : usize) -> f32)
    }
    ///A loop nest over 1 axis.
    fn compute_v2(
        v2: &mut [f32],
        weights: &[f32],
        bins: &[usize],
        v1: &[f32],
        weights_len: usize,
    ) {
        #[inline(always)]
        fn loops<I: ::ad::runtime::kernel::Isa>(
            v2: &mut [f32],
            weights: &[f32],
            bins: &[usize],
            v1: &[f32],
            weights_len: usize,
        ) {
            let weights = &weights[..weights_len];
            let bins_row = &bins[0..][..weights_len];
            let v2 = &mut v2[..weights_len];
            for i in 0..weights_len {
                v2[i] = 2.0
                    * (2.0 * v1.get(bins_row[i]).copied().unwrap_or(0.0) * weights[i]);
            }
        }
        ::ad::runtime::dispatched!(
            'a,; loops(v2 : & 'a mut [f32], weights : & 'a[f32], bins : & 'a[usize], v1 :
            & 'a[f32], weights_len : usize) -> ()
        );
    }
    let weights_len = weights.len();
    let bins_len = bins.len();
    let c1 = weights_len == 0 || weights_len <= bins_len;
    ::core::assert!(
        c1, "histogram_energy: index out of range: `bins[i]` (length of `bins` = {})",
        bins_len
    );
    let c2 = compute_c2(bins, n, weights_len);
    ::core::assert!(
        c2,
        "histogram_energy: index out of range: `scatter([n], &w, |[i]| [bins[i]])` (length of the result = {})",
        n
    );
    let mut v1 = ::std::vec![0.0_f32; n];
    scatter_v1(&mut v1, bins, weights, n, weights_len);
    let t1 = compute_t1(&v1, n);
    let mut v2 = ::std::vec![0.0; weights_len];
    compute_v2(&mut v2, weights, bins, &v1, weights_len);
    (t1, v2)
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
fn __ad_check_histogram_energy(
    how0: ::ad::runtime::check::How<'_>,
    argument0: &[f32],
    argument1: &[usize],
    argument2: usize,
) {
    let own0 = ::ad::runtime::check::slice(argument0);
    let mut check0 = ::ad::runtime::check::Check::new(
        how0,
        ::std::vec::Vec::from([::ad::runtime::check::point("weights", &own0)]),
        |at0| ::ad::runtime::check::leaf(
            &histogram_energy(&at0.moved(0usize, &own0)[..], argument1, argument2),
        ),
    );
    check0
        .grad(|at0| {
            let (value0, part0) = histogram_energy_value_and_grad(
                &at0.moved(0usize, &own0)[..],
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
    /// The functions that were taken for those of `ad::prelude`, ndarray and std are: another of the name would not compile here.
    fn assumed_functions(x: &::ad::ndarray::Array1<f64>) {
        let _ = x;
        let f = build1;
        ::ad::runtime::kernel::same(::ad::prelude::build1, f);
        let _ = f(0, |_| 0.0_f64);
        let f = scatter;
        ::ad::runtime::kernel::same(::ad::prelude::scatter, f);
        let _ = f([0], x, |i: [usize; 1]| i);
    }
    /// The methods that were taken for those of ndarray and std are: one of a trait in scope would be ambiguous here.
    fn assumed_methods() {
        use ::ad::runtime::assumed::methods::*;
        let _ = |x: ::ad::ndarray::Array1<f32>| x.mapv();
        let _ = |x: &::ad::ndarray::Array1<f32>| x.mapv();
        let _ = |x: &mut ::ad::ndarray::Array1<f32>| x.mapv();
        let _ = |x: ::ad::ndarray::Array1<f32>| x.sum();
        let _ = |x: &::ad::ndarray::Array1<f32>| x.sum();
        let _ = |x: &mut ::ad::ndarray::Array1<f32>| x.sum();
    }
};
