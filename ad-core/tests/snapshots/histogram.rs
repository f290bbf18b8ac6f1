#[allow(dead_code, reason = "a function may be used through its derivatives only")]
fn histogram_energy(weights: &[f32], bins: &[usize], n: usize) -> f32 {
    let w = build1(weights.len(), |i| weights[i] * weights[i]);
    let h = scatter([n], &w, |[i]| [bins[i]]);
    h.mapv(|v| v * v).sum()
}
///The gradient of [`histogram_energy`] with respect to `weights`.
///
///It costs as much as [`histogram_energy_value_and_grad`], which says how much that is.
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
fn histogram_energy_grad(
    weights: &[f32],
    bins: &[usize],
    n: usize,
) -> ::ad::runtime::alloc::vec::Vec<f32> {
    histogram_energy_value_and_grad(weights, bins, n).1
}
///The value of [`histogram_energy`] and its gradient with respect to `weights`.
///
///# Parameters
///
///- `weights`: a vector of `m` numbers
///- `bins`: a vector of `k` integers
///- `n`: an integer
///
///# Returns
///
///The value (a number), then the gradient, of the type and shape of `weights`.
///
///# Cost
///
///| operations on numbers | in all | of these for the value |
///| --- | --- | --- |
///| sums, products, other cheap ones | `5*m + 2*n` | `2*m + 2*n` |
///
///At most so many: each branch is counted, and each loop with its greatest number of steps. Arrays
///that are stored, also those that are returned: at most `4*m + 4*n` bytes. Of these the reverse
///pass reads `scatter([n], &w, |[i]| [bins[i]])` (`4*n`).
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
fn histogram_energy_value_and_grad(
    weights: &[f32],
    bins: &[usize],
    n: usize,
) -> (f32, ::ad::runtime::alloc::vec::Vec<f32>) {
    ///A loop nest over 1 axis.
    fn compute_c2(bins: &[usize], n: usize, weights_len_: usize) -> bool {
        #[inline(always)]
        fn loops<I: ::ad::runtime::kernel::Isa>(
            bins: &[usize],
            n: usize,
            weights_len_: usize,
        ) -> bool {
            let mut c2_sum_: bool = true;
            let bins_row_ = &bins[0..][..weights_len_];
            for i in 0..weights_len_ {
                c2_sum_ &= bins_row_[i].saturating_add(1) <= n;
            }
            c2_sum_
        }
        ::ad::runtime::dispatched!(
            'a,; loops(bins : & 'a[usize], n : usize, weights_len_ : usize) -> bool
        )
    }
    ///Adds at computed positions; what falls outside is dropped.
    fn scatter_v1(
        v1_: &mut [f32],
        bins: &[usize],
        weights: &[f32],
        n: usize,
        weights_len_: usize,
    ) {
        let bins_row_ = &bins[0..][..weights_len_];
        let weights = &weights[..weights_len_];
        for i in 0..weights_len_ {
            if bins_row_[i] < n {
                v1_[bins_row_[i]] += weights[i] * weights[i];
            }
        }
    }
    ///A loop nest over 1 axis.
    fn compute_t1(v1_: &[f32], n: usize) -> f32 {
        #[inline(always)]
        fn loops<I: ::ad::runtime::kernel::Isa>(v1_: &[f32], n: usize) -> f32 {
            let mut t1_lanes_ = [0.0; 16];
            let v1_ = &v1_[..n];
            let (v1_chunks_, v1_rest_) = v1_.as_chunks::<16>();
            for c_ in 0..n / 16 {
                let v1_ = &v1_chunks_[c_];
                for l_ in 0..16 {
                    t1_lanes_[l_] = I::mul_add(v1_[l_], v1_[l_], t1_lanes_[l_]);
                }
            }
            let mut t1_rest_ = ::ad::runtime::kernel::lanes(t1_lanes_);
            for l_ in 0..n % 16 {
                t1_rest_ = I::mul_add(v1_rest_[l_], v1_rest_[l_], t1_rest_);
            }
            t1_rest_
        }
        ::ad::runtime::dispatched!('a,; loops(v1_ : & 'a[f32], n : usize) -> f32)
    }
    ///A loop nest over 1 axis.
    fn compute_v2(
        v2_: &mut [f32],
        weights: &[f32],
        bins: &[usize],
        v1_: &[f32],
        weights_len_: usize,
    ) {
        #[inline(always)]
        fn loops<I: ::ad::runtime::kernel::Isa>(
            v2_: &mut [f32],
            weights: &[f32],
            bins: &[usize],
            v1_: &[f32],
            weights_len_: usize,
        ) {
            let weights = &weights[..weights_len_];
            let bins_row_ = &bins[0..][..weights_len_];
            let v2_ = &mut v2_[..weights_len_];
            for i in 0..weights_len_ {
                v2_[i] = 2.0
                    * (2.0 * v1_.get(bins_row_[i]).copied().unwrap_or(0.0) * weights[i]);
            }
        }
        ::ad::runtime::dispatched!(
            'a,; loops(v2_ : & 'a mut [f32], weights : & 'a[f32], bins : & 'a[usize], v1_
            : & 'a[f32], weights_len_ : usize) -> ()
        );
    }
    let weights_len_ = weights.len();
    let bins_len_ = bins.len();
    let c1_ = weights_len_ == 0 || weights_len_ <= bins_len_;
    if !c1_ {
        ::ad::runtime::reached::panic_because(
            &|| {
                let _value = histogram_energy(weights, bins, n);
            },
            ::core::format_args!(
                "histogram_energy: index out of range: `bins[i]` (length of `bins` = {})",
                bins_len_
            ),
        )
    }
    let c2_ = compute_c2(bins, n, weights_len_);
    if !c2_ {
        ::ad::runtime::reached::panic_because(
            &|| {
                let _value = histogram_energy(weights, bins, n);
            },
            ::core::format_args!(
                "histogram_energy: index out of range: `scatter([n], &w, |[i]| [bins[i]])` (length of the result = {})",
                n
            ),
        )
    }
    let mut v1_ = ::ad::runtime::alloc::vec![0.0_f32; n];
    scatter_v1(&mut v1_, bins, weights, n, weights_len_);
    let t1_ = compute_t1(&v1_, n);
    let mut v2_ = ::ad::runtime::alloc::vec![0.0; weights_len_];
    compute_v2(&mut v2_, weights, bins, &v1_, weights_len_);
    (t1_, v2_)
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
fn __histogram_energy_marked_differentiate(
    how0_: ::ad::runtime::check::CheckCall<'_>,
    (argument0_, argument1_, argument2_): (&[f32], &[usize], usize),
) {
    let own0_ = ::ad::runtime::check::slice(argument0_);
    let mut check0_ = ::ad::runtime::check::Check::new(
        how0_,
        ::ad::runtime::check::Vec::from([
            ::ad::runtime::check::point("weights", &own0_),
        ]),
        |at0_| ::ad::runtime::check::leaf(
            &histogram_energy(&at0_.moved(0usize, &own0_)[..], argument1_, argument2_),
        ),
    );
    check0_
        .grad(|at0_| {
            let (value0_, part0_) = histogram_energy_value_and_grad(
                &at0_.moved(0usize, &own0_)[..],
                argument1_,
                argument2_,
            );
            (
                ::ad::runtime::check::leaf(&value0_),
                ::ad::runtime::check::Vec::from([::ad::runtime::check::leaf(&part0_)]),
            )
        });
    check0_.done();
}
