#[allow(
    dead_code,
    reason = "these functions prove assumptions when they are compiled, and are never called"
)]
#[allow(
    clippy::semicolon_if_nothing_returned,
    clippy::wildcard_imports,
    reason = "the imports make a name ambiguous if it is not the assumed one, and the calls only name it"
)]
#[allow(ambiguous_panic_imports, reason = "core and std each have a `panic!`")]
const _: () = {
    /// The derivative assumes that these functions are those of `ad::prelude`, ndarray and
    /// std. This does not compile if a name refers to another function.
    fn assumed_functions(x_: &::ad::ndarray::Array1<f64>) {
        let _ = x_;
        let f_ = build1;
        ::ad::runtime::kernel::same(::ad::prelude::build1, f_);
        let _ = f_(0, |_| 0.0_f64);
        let f_ = scatter;
        ::ad::runtime::kernel::same(::ad::prelude::scatter, f_);
        let _ = f_([0], x_, |i_: [usize; 1]| i_);
    }
    /// The derivative assumes that these methods are those of ndarray and std. This does
    /// not compile if a trait in scope has a method of such a name.
    fn assumed_methods<K>()
    where
        (K,): ::ad::runtime::assumed::methods::Assumed,
    {
        use ::ad::runtime::assumed::methods::*;
        let _ = |x_: ::ad::ndarray::Array1<f32>| x_.mapv();
        let _ = |x_: &::ad::ndarray::Array1<f32>| x_.mapv();
        let _ = |x_: &mut ::ad::ndarray::Array1<f32>| x_.mapv();
        let _ = |x_: ::ad::ndarray::Array1<f32>| x_.sum();
        let _ = |x_: &::ad::ndarray::Array1<f32>| x_.sum();
        let _ = |x_: &mut ::ad::ndarray::Array1<f32>| x_.sum();
    }
};
