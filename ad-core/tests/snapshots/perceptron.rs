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
    fn compute_c7(labels: &[usize], w2_cols: usize, labels_len: usize) -> bool {
        let mut c7_sum: bool = true;
        let labels = &labels[..labels_len];
        for i in 0..labels_len {
            c7_sum &= labels[i].saturating_add(1) <= w2_cols;
        }
        c7_sum
    }
    ///A loop nest over 2 axes.
    fn compute_hidden(
        hidden: &mut [f64],
        b1: &[f64],
        w1_cols: usize,
        images_rows: usize,
    ) {
        #[inline(always)]
        fn loops<I: ::ad::runtime::kernel::Isa>(
            hidden: &mut [f64],
            b1: &[f64],
            w1_cols: usize,
            images_rows: usize,
        ) {
            let b1 = &b1[..w1_cols];
            for i in 0..images_rows {
                let hidden_row = &mut hidden[i * w1_cols..][..w1_cols];
                for j in 0..w1_cols {
                    let t1 = hidden_row[j];
                    hidden_row[j] = I::tanh(t1 + b1[j]);
                }
            }
        }
        ::ad::runtime::dispatched!(
            'a,; loops(hidden : & 'a mut [f64], b1 : & 'a[f64], w1_cols : usize,
            images_rows : usize) -> ()
        );
    }
    ///A loop nest over 2 axes.
    fn compute_m3(
        m3: &mut [f64],
        b2: &[f64],
        m2: &[f64],
        w2_cols: usize,
        labels_len: usize,
    ) {
        let b2 = &b2[..w2_cols];
        for i in 0..labels_len {
            let m2_row = &m2[i * w2_cols..][..w2_cols];
            let m3_row = &mut m3[i * w2_cols..][..w2_cols];
            for j in 0..w2_cols {
                m3_row[j] = m2_row[j] + b2[j];
            }
        }
    }
    ///A loop nest over 1 axis.
    fn compute_v2(v2: &mut [f64], v1: &[f64], labels_len: usize) {
        let v1 = &v1[..labels_len];
        let v2 = &mut v2[..labels_len];
        for i in 0..labels_len {
            let t1 = if v1[i] < f64::INFINITY && v1[i] > f64::NEG_INFINITY {
                v1[i]
            } else {
                0.0
            };
            v2[i] = t1;
        }
    }
    ///A loop nest over 2 axes.
    fn compute_m4_and_v3(
        m4: &mut [f64],
        v3: &mut [f64],
        v2: &[f64],
        labels_len: usize,
        w2_cols: usize,
    ) {
        #[inline(always)]
        fn loops<I: ::ad::runtime::kernel::Isa>(
            m4: &mut [f64],
            v3: &mut [f64],
            v2: &[f64],
            labels_len: usize,
            w2_cols: usize,
        ) {
            for i in 0..labels_len {
                let t1 = v2[i];
                let mut v3_lanes = [0.0; 16];
                let m4_row = &mut m4[i * w2_cols..][..w2_cols];
                let (m4_chunks, m4_rest) = m4_row.as_chunks_mut::<16>();
                for c in 0..w2_cols / 16 {
                    let m4_row = &mut m4_chunks[c];
                    for l in 0..16 {
                        let t2 = m4_row[l];
                        let t3 = I::exp(t2 - t1);
                        m4_row[l] = t3;
                        v3_lanes[l] += t3;
                    }
                }
                let mut v3_rest = ::ad::runtime::kernel::lanes(v3_lanes);
                for l in 0..w2_cols % 16 {
                    let t2 = m4_rest[l];
                    let t3 = I::exp(t2 - t1);
                    m4_rest[l] = t3;
                    v3_rest += t3;
                }
                v3[i] = v3_rest;
            }
        }
        ::ad::runtime::dispatched!(
            'a,; loops(m4 : & 'a mut [f64], v3 : & 'a mut [f64], v2 : & 'a[f64],
            labels_len : usize, w2_cols : usize) -> ()
        );
    }
    ///A loop nest over 1 axis.
    fn compute_t4_and_v4(
        v4: &mut [f64],
        labels: &[usize],
        b2: &[f64],
        m2: &[f64],
        v1: &[f64],
        v2: &[f64],
        labels_len: usize,
        w2_cols: usize,
        t2: f64,
    ) -> f64 {
        #[inline(always)]
        fn loops<I: ::ad::runtime::kernel::Isa>(
            v4: &mut [f64],
            labels: &[usize],
            b2: &[f64],
            m2: &[f64],
            v1: &[f64],
            v2: &[f64],
            labels_len: usize,
            w2_cols: usize,
            t2: f64,
        ) -> f64 {
            let mut t4_sum: f64 = 0.0;
            let labels = &labels[..labels_len];
            let v4 = &mut v4[..labels_len];
            let v1 = &v1[..labels_len];
            let v2 = &v2[..labels_len];
            for i in 0..labels_len {
                let t1 = v4[i];
                let t3 = v1[i] == f64::NEG_INFINITY;
                let t4 = if t3 { 1.0 } else { t1 };
                let t5 = if t3 { f64::NEG_INFINITY } else { v2[i] + I::ln(t4) };
                let t6 = if t3 { 0.0 } else { t2 / t4 };
                t4_sum
                    += t5
                        - (m2
                            .get(i.wrapping_mul(w2_cols).wrapping_add(labels[i]))
                            .copied()
                            .unwrap_or(0.0) + b2.get(labels[i]).copied().unwrap_or(0.0));
                v4[i] = t6;
            }
            t4_sum
        }
        ::ad::runtime::dispatched!(
            'a,; loops(v4 : & 'a mut [f64], labels : & 'a[usize], b2 : & 'a[f64], m2 : &
            'a[f64], v1 : & 'a[f64], v2 : & 'a[f64], labels_len : usize, w2_cols : usize,
            t2 : f64) -> f64
        )
    }
    ///Adds a block of the result.
    fn add_m5(
        m5: &mut [f64],
        m4: &[f64],
        v4: &[f64],
        w2_cols: usize,
        labels_len: usize,
    ) {
        for i in 0..labels_len {
            let t1 = v4[i];
            let m4_row = &m4[i * w2_cols..][..w2_cols];
            let m5_row = &mut m5[i * w2_cols..][..w2_cols];
            for j in 0..w2_cols {
                m5_row[j] += ::ad::runtime::kernel::mul_zero(t1, m4_row[j]);
            }
        }
    }
    ///Adds at computed positions; what falls outside is dropped.
    fn scatter_m6(
        m6: &mut [f64],
        labels: &[usize],
        w2_cols: usize,
        labels_len: usize,
        t3: f64,
    ) {
        let labels = &labels[..labels_len];
        for i in 0..labels_len {
            if labels[i] < w2_cols {
                m6[i * w2_cols + labels[i]] += t3;
            }
        }
    }
    ///A loop nest over 2 axes.
    fn compute_m8_and_v5(
        m8: &mut [f64],
        v5: &mut [f64],
        hidden: &[f64],
        w1_cols: usize,
        images_rows: usize,
    ) {
        #[inline(always)]
        fn loops<I: ::ad::runtime::kernel::Isa>(
            m8: &mut [f64],
            v5: &mut [f64],
            hidden: &[f64],
            w1_cols: usize,
            images_rows: usize,
        ) {
            let v5 = &mut v5[..w1_cols];
            for i in 0..images_rows {
                let m8_row = &mut m8[i * w1_cols..][..w1_cols];
                let hidden_row = &hidden[i * w1_cols..][..w1_cols];
                for j in 0..w1_cols {
                    let t1 = m8_row[j];
                    let t2 = t1 * I::mul_add(-hidden_row[j], hidden_row[j], 1.0);
                    m8_row[j] = t2;
                    v5[j] += t2;
                }
            }
        }
        ::ad::runtime::dispatched!(
            'a,; loops(m8 : & 'a mut [f64], v5 : & 'a mut [f64], hidden : & 'a[f64],
            w1_cols : usize, images_rows : usize) -> ()
        );
    }
    let w1_data = ::ad::runtime::kernel::contiguous(w1);
    let b1_data = ::ad::runtime::kernel::contiguous(b1);
    let w2_data = ::ad::runtime::kernel::contiguous(w2);
    let b2_data = ::ad::runtime::kernel::contiguous(b2);
    let images_data = ::ad::runtime::kernel::contiguous(images);
    let labels_data = ::ad::runtime::kernel::contiguous(labels);
    let w1_rows = w1.shape()[0];
    let w1_cols = w1.shape()[1];
    let w2_cols = w2.shape()[1];
    let images_rows = images.shape()[0];
    let labels_len = labels.shape()[0];
    let c1 = labels_len == 0 || labels_len <= images_rows;
    let c2 = labels_len > 0;
    let images_cols = images.shape()[1];
    let c3 = images_cols == w1_rows;
    let b1_len = b1.shape()[0];
    let c4 = w1_cols == b1_len;
    let w2_rows = w2.shape()[0];
    let c5 = w1_cols == w2_rows;
    let b2_len = b2.shape()[0];
    let c6 = w2_cols == b2_len;
    ::core::assert!(
        c3,
        "loss: shapes differ: `images.dot(w1)` (columns of `images` = {}, rows of `w1` = {})",
        images_cols, w1_rows
    );
    ::core::assert!(
        c4,
        "loss: shapes differ: `images.dot(w1) + b1` (columns of `images.dot(w1)` = {}, length of `b1` = {})",
        w1_cols, b1_len
    );
    ::core::assert!(
        c5,
        "loss: shapes differ: `hidden.dot(w2)` (columns of `hidden` = {}, rows of `w2` = {})",
        w1_cols, w2_rows
    );
    ::core::assert!(
        c6,
        "loss: shapes differ: `hidden.dot(w2) + b2` (columns of `hidden.dot(w2)` = {}, length of `b2` = {})",
        w2_cols, b2_len
    );
    ::core::assert!(
        c1, "loss: index out of range: `scores.row(i)` (rows of `scores` = {})",
        images_rows
    );
    ::core::assert!(c2, "loss: unwrap of `None`: `losses.mean().unwrap()`");
    let c7 = compute_c7(&labels_data, w2_cols, labels_len);
    ::core::assert!(
        c7, "loss: index out of range: `row[labels[i]]` (length of `row` = {})", w2_cols
    );
    let t1 = labels_len as f64;
    let t2 = 1.0 / t1;
    let t3 = -t2;
    let mut m1 = ::std::vec![0.0; images_rows * w1_cols];
    ::ad::runtime::kernel::gemm(
        &mut m1,
        ::ad::runtime::kernel::Operand::Plain(&images_data),
        ::ad::runtime::kernel::Operand::Plain(&w1_data),
        [images_rows, w1_rows, w1_cols],
        false,
    );
    let mut hidden = m1;
    compute_hidden(&mut hidden, &b1_data, w1_cols, images_rows);
    let mut m2 = ::std::vec![0.0; images_rows * w2_cols];
    ::ad::runtime::kernel::gemm(
        &mut m2,
        ::ad::runtime::kernel::Operand::Plain(&hidden),
        ::ad::runtime::kernel::Operand::Plain(&w2_data),
        [images_rows, w1_cols, w2_cols],
        false,
    );
    let mut m3 = ::std::vec![0.0; labels_len * w2_cols];
    compute_m3(&mut m3, &b2_data, &m2, w2_cols, labels_len);
    let mut v1 = ::std::vec![0.0; labels_len];
    ::ad::runtime::kernel::each_row(&mut v1, &m3, ::ad::runtime::kernel::largest);
    let mut v2 = ::std::vec![0.0; labels_len];
    compute_v2(&mut v2, &v1, labels_len);
    let mut m4 = m3;
    let mut v3 = ::std::vec![0.0; labels_len];
    compute_m4_and_v3(&mut m4, &mut v3, &v2, labels_len, w2_cols);
    let mut v4 = v3;
    let t4 = compute_t4_and_v4(
        &mut v4,
        &labels_data,
        &b2_data,
        &m2,
        &v1,
        &v2,
        labels_len,
        w2_cols,
        t2,
    );
    let t5 = t4 / t1;
    let mut m5 = ::std::vec![0.0; images_rows * w2_cols];
    add_m5(&mut m5, &m4, &v4, w2_cols, labels_len);
    let mut m6 = m5;
    scatter_m6(&mut m6, &labels_data, w2_cols, labels_len, t3);
    let mut m7 = ::std::vec![0.0; images_rows * w1_cols];
    ::ad::runtime::kernel::gemm(
        &mut m7,
        ::ad::runtime::kernel::Operand::Plain(&m6),
        ::ad::runtime::kernel::Operand::Transposed(&w2_data),
        [images_rows, w2_cols, w1_cols],
        false,
    );
    let mut m8 = m7;
    let mut v5 = ::std::vec![0.0; w1_cols];
    compute_m8_and_v5(&mut m8, &mut v5, &hidden, w1_cols, images_rows);
    let mut m9 = ::std::vec![0.0; w1_rows * w1_cols];
    ::ad::runtime::kernel::gemm(
        &mut m9,
        ::ad::runtime::kernel::Operand::Transposed(&images_data),
        ::ad::runtime::kernel::Operand::Plain(&m8),
        [w1_rows, images_rows, w1_cols],
        false,
    );
    let mut m10 = ::std::vec![0.0; w1_cols * w2_cols];
    ::ad::runtime::kernel::gemm(
        &mut m10,
        ::ad::runtime::kernel::Operand::Transposed(&hidden),
        ::ad::runtime::kernel::Operand::Plain(&m6),
        [w1_cols, images_rows, w2_cols],
        false,
    );
    let mut v6 = ::std::vec![0.0; w2_cols];
    ::ad::runtime::kernel::column_sums(&mut v6, &m6, false);
    (
        t5,
        (
            ::ad::runtime::kernel::assemble([w1_rows, w1_cols], m9),
            ::ad::runtime::kernel::assemble([w1_cols], v5),
            ::ad::runtime::kernel::assemble([w1_cols, w2_cols], m10),
            ::ad::runtime::kernel::assemble([w2_cols], v6),
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
fn __ad_check_loss(
    how0: ::ad::runtime::check::How<'_>,
    argument0: &Array2<f64>,
    argument1: &Array1<f64>,
    argument2: &Array2<f64>,
    argument3: &Array1<f64>,
    argument4: &Array2<f64>,
    argument5: &Array1<usize>,
) {
    let own0 = argument0.clone();
    let own1 = argument1.clone();
    let own2 = argument2.clone();
    let own3 = argument3.clone();
    let mut check0 = ::ad::runtime::check::Check::new(
        how0,
        ::std::vec::Vec::from([
            ::ad::runtime::check::point("w1", &own0),
            ::ad::runtime::check::point("b1", &own1),
            ::ad::runtime::check::point("w2", &own2),
            ::ad::runtime::check::point("b2", &own3),
        ]),
        |at0| ::ad::runtime::check::leaf(
            &loss(
                &at0.moved(0usize, &own0),
                &at0.moved(1usize, &own1),
                &at0.moved(2usize, &own2),
                &at0.moved(3usize, &own3),
                argument4,
                argument5,
            ),
        ),
    );
    check0
        .grad(|at0| {
            let (value0, (part0, part1, part2, part3)) = loss_value_and_grad(
                &at0.moved(0usize, &own0),
                &at0.moved(1usize, &own1),
                &at0.moved(2usize, &own2),
                &at0.moved(3usize, &own3),
                argument4,
                argument5,
            );
            (
                ::ad::runtime::check::leaf(&value0),
                ::std::vec::Vec::from([
                    ::ad::runtime::check::leaf(&part0),
                    ::ad::runtime::check::leaf(&part1),
                    ::ad::runtime::check::leaf(&part2),
                    ::ad::runtime::check::leaf(&part3),
                ]),
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
    const _: fn(Array2<()>) -> ::ad::ndarray::Array2<()> = |x| x;
    const _: fn(Array1<()>) -> ::ad::ndarray::Array1<()> = |x| x;
    /// The functions that were taken for those of `ad::prelude`, ndarray and std are: another of the name would not compile here.
    fn assumed_functions(x: &::ad::ndarray::Array1<f64>) {
        let _ = x;
        ::ad::runtime::kernel::same(<::core::primitive::f64>::tanh, f64::tanh);
        let f = build1;
        ::ad::runtime::kernel::same(::ad::prelude::build1, f);
        let _ = f(0, |_| 0.0_f64);
        let f = logsumexp;
        ::ad::runtime::kernel::same(::ad::prelude::logsumexp, f);
        let _ = f(x);
    }
    /// The methods that were taken for those of ndarray and std are: one of a trait in scope would be ambiguous here.
    fn assumed_methods() {
        use ::ad::runtime::assumed::methods::*;
        let _ = |x: ::ad::ndarray::Array2<f64>| x.dot();
        let _ = |x: &::ad::ndarray::Array2<f64>| x.dot();
        let _ = |x: &&::ad::ndarray::Array2<f64>| x.dot();
        let _ = |x: &mut ::ad::ndarray::Array2<f64>| x.dot();
        let _ = |x: ::ad::ndarray::Array2<f64>| x.mapv();
        let _ = |x: &::ad::ndarray::Array2<f64>| x.mapv();
        let _ = |x: &mut ::ad::ndarray::Array2<f64>| x.mapv();
        let _ = |x: ::ad::ndarray::ArrayView2<'_, f64>| x.mapv();
        let _ = |x: &::ad::ndarray::ArrayView2<'_, f64>| x.mapv();
        let _ = |x: &mut ::ad::ndarray::ArrayView2<'_, f64>| x.mapv();
        let _ = |x: ::ad::ndarray::Array2<f64>| x.dot();
        let _ = |x: &::ad::ndarray::Array2<f64>| x.dot();
        let _ = |x: &mut ::ad::ndarray::Array2<f64>| x.dot();
        let _ = |x: ::ad::ndarray::Array2<f64>| x.row();
        let _ = |x: &::ad::ndarray::Array2<f64>| x.row();
        let _ = |x: &mut ::ad::ndarray::Array2<f64>| x.row();
        let _ = |x: ::ad::ndarray::ArrayView2<'_, f64>| x.row();
        let _ = |x: &::ad::ndarray::ArrayView2<'_, f64>| x.row();
        let _ = |x: &mut ::ad::ndarray::ArrayView2<'_, f64>| x.row();
        let _ = |x: ::ad::ndarray::Array1<f64>| x.mean();
        let _ = |x: &::ad::ndarray::Array1<f64>| x.mean();
        let _ = |x: &mut ::ad::ndarray::Array1<f64>| x.mean();
        let _ = |x: ::core::option::Option<f64>| {
            let x = &x;
            x.unwrap();
        };
        let _ = |x: ::core::option::Option<&f64>| {
            let x = &x;
            x.unwrap();
        };
    }
};
