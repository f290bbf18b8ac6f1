#[allow(dead_code, reason = "a function may be used through its derivatives only")]
pub fn logistic(w: &Array1<f64>, x: &Array2<f64>, y: &Array1<f64>) -> f64 {
    let z = x.dot(w);
    let losses = build1(z.len(), |i| softplus(-y[i] * z[i]));
    losses.sum()
}
///The gradient of [`logistic`] with respect to `w`.
///
///It costs as much as [`logistic_value_and_grad`], which says how much that is.
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
pub fn logistic_grad(
    w: &Array1<f64>,
    x: &Array2<f64>,
    y: &Array1<f64>,
) -> ::ad::ndarray::Array1<f64> {
    logistic_value_and_grad(w, x, y).1
}
///The value of [`logistic`] and its gradient with respect to `w`.
///
///# Parameters
///
///- `w`: a vector of `n` numbers
///- `x`: a matrix of `m x n` numbers
///- `y`: a vector of `k` numbers
///
///# Returns
///
///The value (a number), then the gradient, of the type and shape of `w`.
///
///# Cost
///
///| operations on numbers | in all | of these for the value |
///| --- | --- | --- |
///| sums, products, other cheap ones | `4*n*m + 11*m` | `2*n*m + 7*m` |
///| divisions, square roots | `m` | `0` |
///| functions such as `exp` | `2*m` | `2*m` |
///
///At most so many: each branch is counted, and each loop with its greatest number of steps. Arrays
///that are stored, also those that are returned: at most `8*n` bytes.
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
pub fn logistic_value_and_grad(
    w: &Array1<f64>,
    x: &Array2<f64>,
    y: &Array1<f64>,
) -> (f64, ::ad::ndarray::Array1<f64>) {
    ///Numbers of the items of a block.
    fn compute_t1_and_v1(v1_: &mut [f64], z: &[f64], y: &[f64], x_rows_: usize) -> f64 {
        #[inline(always)]
        fn loops<I: ::ad::runtime::kernel::Isa>(
            v1_: &mut [f64],
            z: &[f64],
            y: &[f64],
            x_rows_: usize,
        ) -> f64 {
            let mut t1_lanes_ = [0.0; 16];
            let z = &z[..x_rows_];
            let y = &y[..x_rows_];
            let v1_ = &mut v1_[..x_rows_];
            let (z_chunks_, z_rest_) = z.as_chunks::<16>();
            let (y_chunks_, y_rest_) = y.as_chunks::<16>();
            let (v1_chunks_, v1_rest_) = v1_.as_chunks_mut::<16>();
            for c_ in 0..x_rows_ / 16 {
                let z = &z_chunks_[c_];
                let y = &y_chunks_[c_];
                let v1_ = &mut v1_chunks_[c_];
                for l_ in 0..16 {
                    let t1_ = -(y[l_] * z[l_]);
                    let t2_ = I::exp(-t1_.abs());
                    let t3_ = if t1_ < 0.0 { t2_ } else { 1.0 };
                    t1_lanes_[l_] += t1_.max(0.0) + I::ln_1p(t2_);
                    v1_[l_] = -(t3_ / (1.0 + t2_) * y[l_]);
                }
            }
            let mut t1_rest_ = ::ad::runtime::kernel::lanes(t1_lanes_);
            for l_ in 0..x_rows_ % 16 {
                let t1_ = -(y_rest_[l_] * z_rest_[l_]);
                let t2_ = I::exp(-t1_.abs());
                let t3_ = if t1_ < 0.0 { t2_ } else { 1.0 };
                t1_rest_ += t1_.max(0.0) + I::ln_1p(t2_);
                v1_rest_[l_] = -(t3_ / (1.0 + t2_) * y_rest_[l_]);
            }
            t1_rest_
        }
        ::ad::runtime::dispatched!(
            'a,; loops(v1_ : & 'a mut [f64], z : & 'a[f64], y : & 'a[f64], x_rows_ :
            usize) -> f64
        )
    }
    let w_data_ = ::ad::runtime::kernel::contiguous(w);
    let x_data_ = ::ad::runtime::kernel::contiguous(x);
    let y_data_ = ::ad::runtime::kernel::contiguous(y);
    let w_len_ = w.shape()[0];
    let x_rows_ = x.shape()[0];
    let y_len_ = y.shape()[0];
    let c1_ = x_rows_ == 0 || x_rows_ <= y_len_;
    let x_cols_ = x.shape()[1];
    let c2_ = x_cols_ == w_len_;
    ::core::assert!(
        c2_,
        "logistic: shapes differ: `x.dot(w)` (columns of `x` = {}, length of `w` = {})",
        x_cols_, w_len_
    );
    if !c1_ {
        ::ad::runtime::reached::panic_because(
            &|| {
                let _value = logistic(w, x, y);
            },
            ::core::format_args!(
                "logistic: index out of range: `y[i]` (length of `y` = {})", y_len_
            ),
        )
    }
    let block_ = ::ad::runtime::kernel::block_of_rows(x_rows_, 2 + w_len_);
    let mut z = ::ad::runtime::alloc::vec![0.0; block_];
    let mut v1_ = ::ad::runtime::alloc::vec![0.0; block_];
    let mut t1_: f64 = 0.0;
    let mut v2_ = ::ad::runtime::alloc::vec![0.0; w_len_];
    for first_ in (0..x_rows_).step_by(block_) {
        let count_ = block_.min(x_rows_ - first_);
        ::ad::runtime::kernel::gemv(
            &mut z[..count_],
            &x_data_[first_ * w_len_..][..count_ * w_len_],
            &w_data_,
            false,
        );
        t1_
            += compute_t1_and_v1(
                &mut v1_[..count_],
                &z[..count_],
                &y_data_[first_..][..count_],
                count_,
            );
        ::ad::runtime::kernel::gemv_t(
            &mut v2_,
            &x_data_[first_ * w_len_..][..count_ * w_len_],
            &v1_[..count_],
            true,
        );
    }
    (t1_, ::ad::runtime::kernel::assemble([w_len_], v2_))
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
pub fn __logistic_marked_differentiate(
    how0_: ::ad::runtime::check::CheckCall<'_>,
    (argument0_, argument1_, argument2_): (&Array1<f64>, &Array2<f64>, &Array1<f64>),
) {
    let own0_ = argument0_.clone();
    let mut check0_ = ::ad::runtime::check::Check::new(
        how0_,
        ::ad::runtime::check::Vec::from([::ad::runtime::check::point("w", &own0_)]),
        |at0_| ::ad::runtime::check::leaf(
            &logistic(&at0_.moved(0usize, &own0_), argument1_, argument2_),
        ),
    );
    check0_
        .grad(|at0_| {
            let (value0_, part0_) = logistic_value_and_grad(
                &at0_.moved(0usize, &own0_),
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
