#[allow(dead_code, reason = "a function may be used through its derivatives only")]
fn loss(
    w1: &Array2<f64>,
    b1: &Array1<f64>,
    w2: &Array2<f64>,
    b2: &Array1<f64>,
    images: &Array2<f64>,
    labels: &Array1<usize>,
) -> f64 {
    let hidden = (images.dot(w1) + b1).mapv(f64::tanh);
    let scores = hidden.dot(w2) + b2;
    let losses = build1(
        labels.len(),
        |i| {
            let row = scores.row(i);
            logsumexp(&row) - row[labels[i]]
        },
    );
    losses.mean().unwrap()
}
///The gradient of [`loss`] with respect to `w1`, `b1`, `w2`, `b2`.
///
///It costs as much as [`loss_value_and_grad`], which says how much that is.
///
///# Panics
///Where [`loss`] does, and if the sizes of the arguments do not fit together.
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
fn loss_grad(
    w1: &Array2<f64>,
    b1: &Array1<f64>,
    w2: &Array2<f64>,
    b2: &Array1<f64>,
    images: &Array2<f64>,
    labels: &Array1<usize>,
) -> (
    ::ad::ndarray::Array2<f64>,
    ::ad::ndarray::Array1<f64>,
    ::ad::ndarray::Array2<f64>,
    ::ad::ndarray::Array1<f64>,
) {
    loss_value_and_grad(w1, b1, w2, b2, images, labels).1
}
///The value of [`loss`] and its gradient with respect to `w1`, `b1`, `w2`, `b2`.
///
///# Parameters
///
///- `w1`: a matrix of `n x m` numbers
///- `b1`: a vector of `m` numbers
///- `w2`: a matrix of `m x k` numbers
///- `b2`: a vector of `k` numbers
///- `images`: a matrix of `l x n` numbers
///- `labels`: a vector of `p` integers
///
///# Returns
///
///The value (a number), then the gradient, a tuple of those of `w1`, `b1`, `w2` and `b2`.
///
///# Cost
///
///| operations on numbers | in all | of these for the value |
///| --- | --- | --- |
///| sums, products, other cheap ones | `4*n*m*l + 6*m*k*l + 5*m*l + 5*k*p + k*l + 8*p + ...` | `2*n*m*l + 2*m*k*l + m*l + 4*k*p + 7*p` |
///| divisions, square roots | `p + 2` | `1` |
///| functions such as `exp` | `m*l + k*p + p` | `m*l + k*p + p` |
///
///At most so many: each branch is counted, and each loop with its greatest number of steps. Arrays
///that are stored, also those that are returned: at most
///`8*n*m + 8*m*k + 32*m*l + 16*k*p + 24*k*l + 8*m + ...` bytes. Of these the reverse pass reads
///`hidden` (`8*m*l`), `hidden.dot(w2)` (`8*k*l`) and `logsumexp(&row)` (`8*k*p + 24*p`).
///
///# Panics
///Where [`loss`] does, and if the sizes of the arguments do not fit together.
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
fn loss_value_and_grad(
    w1: &Array2<f64>,
    b1: &Array1<f64>,
    w2: &Array2<f64>,
    b2: &Array1<f64>,
    images: &Array2<f64>,
    labels: &Array1<usize>,
) -> (
    f64,
    (
        ::ad::ndarray::Array2<f64>,
        ::ad::ndarray::Array1<f64>,
        ::ad::ndarray::Array2<f64>,
        ::ad::ndarray::Array1<f64>,
    ),
) {
    ///A loop nest over 1 axis.
    fn compute_c7(labels: &[usize], w2_cols_: usize, labels_len_: usize) -> bool {
        #[inline(always)]
        fn loops<I: ::ad::runtime::kernel::Isa>(
            labels: &[usize],
            w2_cols_: usize,
            labels_len_: usize,
        ) -> bool {
            let mut c7_sum_: bool = true;
            let labels = &labels[..labels_len_];
            for i in 0..labels_len_ {
                c7_sum_ &= labels[i].saturating_add(1) <= w2_cols_;
            }
            c7_sum_
        }
        ::ad::runtime::dispatched!(
            'a,; loops(labels : & 'a[usize], w2_cols_ : usize, labels_len_ : usize) ->
            bool
        )
    }
    ///A loop nest over 2 axes.
    fn compute_hidden(
        hidden: &mut [f64],
        b1: &[f64],
        w1_cols_: usize,
        images_rows_: usize,
    ) {
        #[inline(always)]
        fn loops<I: ::ad::runtime::kernel::Isa>(
            hidden: &mut [f64],
            b1: &[f64],
            w1_cols_: usize,
            images_rows_: usize,
        ) {
            let b1 = &b1[..w1_cols_];
            for i in 0..images_rows_ {
                let hidden_row_ = &mut hidden[i * w1_cols_..][..w1_cols_];
                for j_ in 0..w1_cols_ {
                    let t1_ = hidden_row_[j_];
                    hidden_row_[j_] = I::tanh(t1_ + b1[j_]);
                }
            }
        }
        ::ad::runtime::dispatched!(
            'a,; loops(hidden : & 'a mut [f64], b1 : & 'a[f64], w1_cols_ : usize,
            images_rows_ : usize) -> ()
        );
    }
    ///A loop nest over 2 axes.
    fn compute_m3(
        m3_: &mut [f64],
        b2: &[f64],
        m2_: &[f64],
        w2_cols_: usize,
        labels_len_: usize,
    ) {
        let b2 = &b2[..w2_cols_];
        for i in 0..labels_len_ {
            let m2_row_ = &m2_[i * w2_cols_..][..w2_cols_];
            let m3_row_ = &mut m3_[i * w2_cols_..][..w2_cols_];
            for j_ in 0..w2_cols_ {
                m3_row_[j_] = m2_row_[j_] + b2[j_];
            }
        }
    }
    ///A loop nest over 1 axis.
    fn compute_v2(v2_: &mut [f64], v1_: &[f64], labels_len_: usize) {
        let v1_ = &v1_[..labels_len_];
        let v2_ = &mut v2_[..labels_len_];
        for i in 0..labels_len_ {
            let t1_ = if v1_[i] < f64::INFINITY && v1_[i] > f64::NEG_INFINITY {
                v1_[i]
            } else {
                0.0
            };
            v2_[i] = t1_;
        }
    }
    ///A loop nest over 2 axes.
    fn compute_m4_and_v3(
        m4_: &mut [f64],
        v3_: &mut [f64],
        v2_: &[f64],
        labels_len_: usize,
        w2_cols_: usize,
    ) {
        #[inline(always)]
        fn loops<I: ::ad::runtime::kernel::Isa>(
            m4_: &mut [f64],
            v3_: &mut [f64],
            v2_: &[f64],
            labels_len_: usize,
            w2_cols_: usize,
        ) {
            let v2_ = &v2_[..labels_len_];
            for i in 0..labels_len_ {
                let t1_ = v2_[i];
                let mut v3_lanes_ = [0.0; 16];
                let m4_row_ = &mut m4_[i * w2_cols_..][..w2_cols_];
                let (m4_chunks_, m4_rest_) = m4_row_.as_chunks_mut::<16>();
                for c_ in 0..w2_cols_ / 16 {
                    let m4_row_ = &mut m4_chunks_[c_];
                    for l_ in 0..16 {
                        let t2_ = m4_row_[l_];
                        let t3_ = I::exp(t2_ - t1_);
                        m4_row_[l_] = t3_;
                        v3_lanes_[l_] += t3_;
                    }
                }
                let mut v3_rest_ = ::ad::runtime::kernel::lanes(v3_lanes_);
                for l_ in 0..w2_cols_ % 16 {
                    let t2_ = m4_rest_[l_];
                    let t3_ = I::exp(t2_ - t1_);
                    m4_rest_[l_] = t3_;
                    v3_rest_ += t3_;
                }
                v3_[i] = v3_rest_;
            }
        }
        ::ad::runtime::dispatched!(
            'a,; loops(m4_ : & 'a mut [f64], v3_ : & 'a mut [f64], v2_ : & 'a[f64],
            labels_len_ : usize, w2_cols_ : usize) -> ()
        );
    }
    ///A loop nest over 1 axis.
    fn compute_t4_and_v4(
        v4_: &mut [f64],
        labels: &[usize],
        b2: &[f64],
        m2_: &[f64],
        v1_: &[f64],
        v2_: &[f64],
        labels_len_: usize,
        w2_cols_: usize,
        t2_: f64,
    ) -> f64 {
        #[inline(always)]
        fn loops<I: ::ad::runtime::kernel::Isa>(
            v4_: &mut [f64],
            labels: &[usize],
            b2: &[f64],
            m2_: &[f64],
            v1_: &[f64],
            v2_: &[f64],
            labels_len_: usize,
            w2_cols_: usize,
            t2_: f64,
        ) -> f64 {
            let mut t4_lanes_ = [0.0; 16];
            let labels = &labels[..labels_len_];
            let v4_ = &mut v4_[..labels_len_];
            let v1_ = &v1_[..labels_len_];
            let v2_ = &v2_[..labels_len_];
            let (labels_chunks_, labels_rest_) = labels.as_chunks::<16>();
            let (v4_chunks_, v4_rest_) = v4_.as_chunks_mut::<16>();
            let (v1_chunks_, v1_rest_) = v1_.as_chunks::<16>();
            let (v2_chunks_, v2_rest_) = v2_.as_chunks::<16>();
            for c_ in 0..labels_len_ / 16 {
                let labels = &labels_chunks_[c_];
                let v4_ = &mut v4_chunks_[c_];
                let v1_ = &v1_chunks_[c_];
                let v2_ = &v2_chunks_[c_];
                let mut gathered1_ = [0.0; 16];
                for l_ in 0..16 {
                    gathered1_[l_] = b2.get(labels[l_]).copied().unwrap_or(0.0);
                }
                let mut gathered2_ = [0.0; 16];
                for l_ in 0..16 {
                    let i = 16 * c_ + l_;
                    gathered2_[l_] = m2_
                        .get(i.wrapping_mul(w2_cols_).wrapping_add(labels[l_]))
                        .copied()
                        .unwrap_or(0.0);
                }
                for l_ in 0..16 {
                    let t1_ = v4_[l_];
                    let t3_ = v1_[l_] == f64::NEG_INFINITY;
                    let t4_ = if t3_ { 1.0 } else { t1_ };
                    let t5_ = if t3_ { f64::NEG_INFINITY } else { v2_[l_] + I::ln(t4_) };
                    let t6_ = if t3_ { 0.0 } else { t2_ / t4_ };
                    t4_lanes_[l_] += t5_ - (gathered2_[l_] + gathered1_[l_]);
                    v4_[l_] = t6_;
                }
            }
            let mut t4_rest_ = ::ad::runtime::kernel::lanes(t4_lanes_);
            for l_ in 0..labels_len_ % 16 {
                let i = labels_len_ / 16 * 16 + l_;
                let t1_ = v4_rest_[l_];
                let t3_ = v1_rest_[l_] == f64::NEG_INFINITY;
                let t4_ = if t3_ { 1.0 } else { t1_ };
                let t5_ = if t3_ {
                    f64::NEG_INFINITY
                } else {
                    v2_rest_[l_] + I::ln(t4_)
                };
                let t6_ = if t3_ { 0.0 } else { t2_ / t4_ };
                t4_rest_
                    += t5_
                        - (m2_
                            .get(i.wrapping_mul(w2_cols_).wrapping_add(labels_rest_[l_]))
                            .copied()
                            .unwrap_or(0.0)
                            + b2.get(labels_rest_[l_]).copied().unwrap_or(0.0));
                v4_rest_[l_] = t6_;
            }
            t4_rest_
        }
        ::ad::runtime::dispatched!(
            'a,; loops(v4_ : & 'a mut [f64], labels : & 'a[usize], b2 : & 'a[f64], m2_ :
            & 'a[f64], v1_ : & 'a[f64], v2_ : & 'a[f64], labels_len_ : usize, w2_cols_ :
            usize, t2_ : f64) -> f64
        )
    }
    ///Writes a block of the result.
    fn write_m5(
        m5_: &mut [f64],
        m4_: &[f64],
        v4_: &[f64],
        w2_cols_: usize,
        labels_len_: usize,
    ) {
        let v4_ = &v4_[..labels_len_];
        for i in 0..labels_len_ {
            let t1_ = v4_[i];
            let m4_row_ = &m4_[i * w2_cols_..][..w2_cols_];
            let m5_row_ = &mut m5_[i * w2_cols_..][..w2_cols_];
            for j_ in 0..w2_cols_ {
                m5_row_[j_] = ::ad::runtime::kernel::mul_zero(t1_, m4_row_[j_]);
            }
        }
    }
    ///Adds at computed positions; what falls outside is dropped.
    fn scatter_m6(
        m6_: &mut [f64],
        labels: &[usize],
        w2_cols_: usize,
        labels_len_: usize,
        t3_: f64,
    ) {
        let labels = &labels[..labels_len_];
        for i in 0..labels_len_ {
            if labels[i] < w2_cols_ {
                m6_[i * w2_cols_ + labels[i]] += t3_;
            }
        }
    }
    ///A loop nest over 2 axes.
    fn compute_m8_and_v5(
        m8_: &mut [f64],
        v5_: &mut [f64],
        hidden: &[f64],
        w1_cols_: usize,
        images_rows_: usize,
    ) {
        #[inline(always)]
        fn loops<I: ::ad::runtime::kernel::Isa>(
            m8_: &mut [f64],
            v5_: &mut [f64],
            hidden: &[f64],
            w1_cols_: usize,
            images_rows_: usize,
        ) {
            let v5_ = &mut v5_[..w1_cols_];
            for i in 0..images_rows_ {
                let m8_row_ = &mut m8_[i * w1_cols_..][..w1_cols_];
                let hidden_row_ = &hidden[i * w1_cols_..][..w1_cols_];
                for j_ in 0..w1_cols_ {
                    let t1_ = m8_row_[j_];
                    let t2_ = t1_ * I::mul_add(-hidden_row_[j_], hidden_row_[j_], 1.0);
                    m8_row_[j_] = t2_;
                    v5_[j_] += t2_;
                }
            }
        }
        ::ad::runtime::dispatched!(
            'a,; loops(m8_ : & 'a mut [f64], v5_ : & 'a mut [f64], hidden : & 'a[f64],
            w1_cols_ : usize, images_rows_ : usize) -> ()
        );
    }
    let w1_data_ = ::ad::runtime::kernel::contiguous(w1);
    let b1_data_ = ::ad::runtime::kernel::contiguous(b1);
    let w2_data_ = ::ad::runtime::kernel::contiguous(w2);
    let b2_data_ = ::ad::runtime::kernel::contiguous(b2);
    let images_data_ = ::ad::runtime::kernel::contiguous(images);
    let labels_data_ = ::ad::runtime::kernel::contiguous(labels);
    let w1_rows_ = w1.shape()[0];
    let w1_cols_ = w1.shape()[1];
    let w2_cols_ = w2.shape()[1];
    let images_rows_ = images.shape()[0];
    let labels_len_ = labels.shape()[0];
    let c1_ = labels_len_ == 0 || labels_len_ <= images_rows_;
    let c2_ = labels_len_ > 0;
    let images_cols_ = images.shape()[1];
    let c3_ = images_cols_ == w1_rows_;
    let b1_len_ = b1.shape()[0];
    let c4_ = w1_cols_ == b1_len_;
    let w2_rows_ = w2.shape()[0];
    let c5_ = w1_cols_ == w2_rows_;
    let b2_len_ = b2.shape()[0];
    let c6_ = w2_cols_ == b2_len_;
    ::core::assert!(
        c3_,
        "loss: shapes differ: `images.dot(w1)` (columns of `images` = {}, rows of `w1` = {})",
        images_cols_, w1_rows_
    );
    ::core::assert!(
        c4_,
        "loss: shapes differ: `images.dot(w1) + b1` (columns of `images.dot(w1)` = {}, length of `b1` = {})",
        w1_cols_, b1_len_
    );
    ::core::assert!(
        c5_,
        "loss: shapes differ: `hidden.dot(w2)` (columns of `hidden` = {}, rows of `w2` = {})",
        w1_cols_, w2_rows_
    );
    ::core::assert!(
        c6_,
        "loss: shapes differ: `hidden.dot(w2) + b2` (columns of `hidden.dot(w2)` = {}, length of `b2` = {})",
        w2_cols_, b2_len_
    );
    if !c1_ {
        ::ad::runtime::reached::panic_because(
            &|| {
                let _value = loss(w1, b1, w2, b2, images, labels);
            },
            ::core::format_args!(
                "loss: index out of range: `scores.row(i)` (rows of `scores` = {})",
                images_rows_
            ),
        )
    }
    ::core::assert!(c2_, "loss: unwrap of `None`: `losses.mean().unwrap()`");
    let c7_ = compute_c7(&labels_data_, w2_cols_, labels_len_);
    if !c7_ {
        ::ad::runtime::reached::panic_because(
            &|| {
                let _value = loss(w1, b1, w2, b2, images, labels);
            },
            ::core::format_args!(
                "loss: index out of range: `row[labels[i]]` (length of `row` = {})",
                w2_cols_
            ),
        )
    }
    let t1_ = labels_len_ as f64;
    let t2_ = 1.0 / t1_;
    let t3_ = -t2_;
    ::ad::runtime::kernel::reserve::<
        f64,
    >(
        2 * (images_rows_ * w1_cols_) + 2 * (images_rows_ * w2_cols_)
            + labels_len_ * w2_cols_ + 3 * labels_len_ + w1_cols_ + w1_rows_ * w1_cols_
            + w1_cols_ * w2_cols_ + w2_cols_,
    );
    let mut m1_ = ::ad::runtime::alloc::vec![0.0; images_rows_ * w1_cols_];
    ::ad::runtime::kernel::gemm(
        &mut m1_,
        ::ad::runtime::kernel::Operand::Plain(&images_data_),
        ::ad::runtime::kernel::Operand::Plain(&w1_data_),
        [images_rows_, w1_rows_, w1_cols_],
        false,
    );
    let mut hidden = m1_;
    compute_hidden(&mut hidden, &b1_data_, w1_cols_, images_rows_);
    let mut m2_ = ::ad::runtime::alloc::vec![0.0; images_rows_ * w2_cols_];
    ::ad::runtime::kernel::gemm(
        &mut m2_,
        ::ad::runtime::kernel::Operand::Plain(&hidden),
        ::ad::runtime::kernel::Operand::Plain(&w2_data_),
        [images_rows_, w1_cols_, w2_cols_],
        false,
    );
    let mut m3_ = ::ad::runtime::alloc::vec![0.0; labels_len_ * w2_cols_];
    compute_m3(&mut m3_, &b2_data_, &m2_, w2_cols_, labels_len_);
    let mut v1_ = ::ad::runtime::alloc::vec![0.0; labels_len_];
    ::ad::runtime::kernel::each_row(&mut v1_, &m3_, ::ad::runtime::kernel::largest);
    let mut v2_ = ::ad::runtime::alloc::vec![0.0; labels_len_];
    compute_v2(&mut v2_, &v1_, labels_len_);
    let mut m4_ = m3_;
    let mut v3_ = ::ad::runtime::alloc::vec![0.0; labels_len_];
    compute_m4_and_v3(&mut m4_, &mut v3_, &v2_, labels_len_, w2_cols_);
    let mut v4_ = v3_;
    let t4_ = compute_t4_and_v4(
        &mut v4_,
        &labels_data_,
        &b2_data_,
        &m2_,
        &v1_,
        &v2_,
        labels_len_,
        w2_cols_,
        t2_,
    );
    let t5_ = t4_ / t1_;
    let mut m5_ = ::ad::runtime::alloc::vec![0.0; images_rows_ * w2_cols_];
    write_m5(&mut m5_, &m4_, &v4_, w2_cols_, labels_len_);
    let mut m6_ = m5_;
    scatter_m6(&mut m6_, &labels_data_, w2_cols_, labels_len_, t3_);
    let mut m7_ = ::ad::runtime::alloc::vec![0.0; images_rows_ * w1_cols_];
    ::ad::runtime::kernel::gemm(
        &mut m7_,
        ::ad::runtime::kernel::Operand::Plain(&m6_),
        ::ad::runtime::kernel::Operand::Transposed(&w2_data_),
        [images_rows_, w2_cols_, w1_cols_],
        false,
    );
    let mut m8_ = m7_;
    let mut v5_ = ::ad::runtime::alloc::vec![0.0; w1_cols_];
    compute_m8_and_v5(&mut m8_, &mut v5_, &hidden, w1_cols_, images_rows_);
    let mut m9_ = ::ad::runtime::alloc::vec![0.0; w1_rows_ * w1_cols_];
    ::ad::runtime::kernel::gemm(
        &mut m9_,
        ::ad::runtime::kernel::Operand::Transposed(&images_data_),
        ::ad::runtime::kernel::Operand::Plain(&m8_),
        [w1_rows_, images_rows_, w1_cols_],
        false,
    );
    let mut m10_ = ::ad::runtime::alloc::vec![0.0; w1_cols_ * w2_cols_];
    ::ad::runtime::kernel::gemm(
        &mut m10_,
        ::ad::runtime::kernel::Operand::Transposed(&hidden),
        ::ad::runtime::kernel::Operand::Plain(&m6_),
        [w1_cols_, images_rows_, w2_cols_],
        false,
    );
    let mut v6_ = ::ad::runtime::alloc::vec![0.0; w2_cols_];
    ::ad::runtime::kernel::column_sums(&mut v6_, &m6_, false);
    (
        t5_,
        (
            ::ad::runtime::kernel::assemble([w1_rows_, w1_cols_], m9_),
            ::ad::runtime::kernel::assemble([w1_cols_], v5_),
            ::ad::runtime::kernel::assemble([w1_cols_, w2_cols_], m10_),
            ::ad::runtime::kernel::assemble([w2_cols_], v6_),
        ),
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
fn __loss_marked_differentiate(
    how0_: ::ad::runtime::check::CheckCall<'_>,
    (
        argument0_,
        argument1_,
        argument2_,
        argument3_,
        argument4_,
        argument5_,
    ): (
        &Array2<f64>,
        &Array1<f64>,
        &Array2<f64>,
        &Array1<f64>,
        &Array2<f64>,
        &Array1<usize>,
    ),
) {
    let own0_ = argument0_.clone();
    let own1_ = argument1_.clone();
    let own2_ = argument2_.clone();
    let own3_ = argument3_.clone();
    let mut check0_ = ::ad::runtime::check::Check::new(
        how0_,
        ::ad::runtime::check::Vec::from([
            ::ad::runtime::check::point("w1", &own0_),
            ::ad::runtime::check::point("b1", &own1_),
            ::ad::runtime::check::point("w2", &own2_),
            ::ad::runtime::check::point("b2", &own3_),
        ]),
        |at0_| ::ad::runtime::check::leaf(
            &loss(
                &at0_.moved(0usize, &own0_),
                &at0_.moved(1usize, &own1_),
                &at0_.moved(2usize, &own2_),
                &at0_.moved(3usize, &own3_),
                argument4_,
                argument5_,
            ),
        ),
    );
    check0_
        .grad(|at0_| {
            let (value0_, (part0_, part1_, part2_, part3_)) = loss_value_and_grad(
                &at0_.moved(0usize, &own0_),
                &at0_.moved(1usize, &own1_),
                &at0_.moved(2usize, &own2_),
                &at0_.moved(3usize, &own3_),
                argument4_,
                argument5_,
            );
            (
                ::ad::runtime::check::leaf(&value0_),
                ::ad::runtime::check::Vec::from([
                    ::ad::runtime::check::leaf(&part0_),
                    ::ad::runtime::check::leaf(&part1_),
                    ::ad::runtime::check::leaf(&part2_),
                    ::ad::runtime::check::leaf(&part3_),
                ]),
            )
        });
    check0_.done();
}
