#[allow(dead_code, reason = "what is proved by compiling is never run")]
#[allow(
    clippy::semicolon_if_nothing_returned,
    clippy::wildcard_imports,
    reason = "whether a name is ambiguous with one imported so is what is asked, in calls for nothing else"
)]
const _: () = {
    /// The functions that were taken for those of `ad::prelude`, ndarray and std are: another of the name would not compile here.
    fn assumed_functions(x_: &::ad::ndarray::Array1<f64>) {
        let _ = x_;
        let f_ = build1;
        ::ad::runtime::kernel::same(::ad::prelude::build1, f_);
        let _ = f_(0, |_| 0.0_f64);
        let f_ = scatter;
        ::ad::runtime::kernel::same(::ad::prelude::scatter, f_);
        let _ = f_([0], x_, |i_: [usize; 1]| i_);
    }
    /// The methods that were taken for those of ndarray and std are: one of a trait in scope would be ambiguous here.
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
