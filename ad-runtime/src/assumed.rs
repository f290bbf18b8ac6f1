//! What generated code proves names with: the macros and methods that a user's `array!` or `x.sum()` was taken for. Nothing of it runs.

pub use ndarray::{array, azip, concatenate, s, stack};
pub use std::{
    assert, assert_eq, assert_ne, debug_assert, debug_assert_eq, debug_assert_ne, matches, panic, todo, unimplemented,
    unreachable, vec,
};

/// Traits with the names of all methods that are understood, of the types that these are understood of: to be imported where a call of
/// the method without arguments is ambiguous if there is another trait with it. Implemented for nothing else, and each for its
/// own kind of type, since rustc proposes traits in errors about methods that do not exist.
#[allow(missing_docs, clippy::should_implement_trait, clippy::wrong_self_convention, reason = "only the names matter")]
pub mod methods {
    use ndarray::{ArrayBase, ArrayRef, RawData};

    /// Of nothing: only where it is assumed (`where (K,): Assumed`) have types these methods, so that rustc, which knows of all traits
    /// that there are, proposes none of them to a user whose method does not exist.
    pub trait Assumed {}

    macro_rules! methods {
        ($name:ident, $names:ident: $($method:ident)*) => {
            pub trait $name<K>: Sized {
                $(fn $method(self) {})*
            }

            pub const $names: &[&str] = &[$(stringify!($method)),*];
        };
    }

    methods! { OfArrays, ARRAYS:
        abs abs_sub acos acosh as_slice as_standard_layout asin asinh assign atan atanh axis_chunks_iter axis_iter broadcast cbrt ceil chunks_exact clamp
        column column_mut columns cos cosh diag diag_mut diff dim dot exact_chunks exp exp2 exp_m1 fill first flatten floor fold fract get hypot
        index_axis index_axis_move index_axis_mut indexed_iter insert_axis into_diag into_dimensionality into_flat
        into_raw_vec_and_offset into_scalar into_shape into_shape_clone into_shape_with_order invert_axis is_any_infinite is_any_nan
        is_empty is_infinite is_nan is_square iter lanes last len len_of ln ln_1p log log10 log2 map map_axis mapv mapv_inplace
        mapv_into mapv_into_any mean mean_axis ncols ndim nrows outer_iter permuted_axes pow2 powf powi product product_axis push
        raw_dim reborrow recip remove_axis reverse_axes reversed_axes round row row_mut rows select shape signum sin sinh slice
        slice_axis slice_axis_mut slice_move slice_mut split_at split_first split_last sqrt std std_axis sum sum_axis swap swap_axes t tan tanh
        to_degrees to_owned to_radians to_shape to_vec tril triu trunc var var_axis view view_mut windows
        iter_mut outer_iter_mut axis_iter_mut rows_mut columns_mut indexed_iter_mut chunks_exact_mut exact_chunks_mut
        map_inplace scaled_add zip_mut_with
    }

    methods! { OfVectors, VECTORS:
        chunks chunks_exact chunks_exact_mut clear contains copy_from_slice extend_from_slice fill first first_mut get insert is_empty
        iter iter_mut last last_mut len pop push remove retain reverse rotate_left rotate_right split_at split_first split_last swap
        swap_remove to_vec truncate windows
    }

    methods! { OfReals, REALS:
        abs acos acosh asin asinh atan atan2 atanh cbrt ceil clamp copysign cos cosh div_euclid exp exp2 exp_m1 floor fract hypot
        is_finite is_infinite is_nan is_sign_negative is_sign_positive ln ln_1p log log10 log2 max min mul_add powf powi recip
        rem_euclid round signum sin sin_cos sinh sqrt tan tanh to_degrees to_radians total_cmp trunc
    }

    methods! { OfIntegers, INTEGERS:
        abs abs_diff checked_add checked_div checked_mul checked_pow checked_rem checked_sub div_ceil div_euclid is_negative is_positive
        is_power_of_two pow rem_euclid saturating_add saturating_mul saturating_pow saturating_sub signum unsigned_abs wrapping_add
        wrapping_mul wrapping_sub
    }

    // What arrays have and numbers have not: of arrays of rank 0, which the macro does not tell from numbers.
    methods! { OfRankZero, RANK_ZERO:
        as_slice as_standard_layout axis_chunks_iter axis_iter broadcast chunks chunks_exact column columns contains diag diff dim dot exact_chunks fill first
        flatten fold get index_axis index_axis_move indexed_iter insert_axis into_diag into_dimensionality into_flat
        into_raw_vec_and_offset into_scalar into_shape into_shape_clone into_shape_with_order is_any_infinite is_any_nan is_empty
        is_square iter lanes last len len_of map map_axis mapv mapv_into mapv_into_any mean mean_axis ncols ndim nrows outer_iter
        permuted_axes pow2 product product_axis raw_dim reborrow remove_axis reversed_axes row rows select shape slice slice_axis
        slice_move split_at split_first split_last std std_axis sum sum_axis t to_shape to_vec tril triu var var_axis view windows
    }

    methods! { OfOptions, OPTIONS:
        unwrap expect unwrap_or unwrap_or_else unwrap_or_default map map_or map_or_else and_then is_some is_none is_some_and is_none_or copied cloned
    }

    methods! { OfOrderings, ORDERINGS:
        reverse then then_with is_lt is_le is_gt is_ge is_eq is_ne
    }

    methods! { OfPeekables, PEEKABLES:
        peek
    }

    impl<S: RawData, D, K> OfArrays<K> for ArrayBase<S, D> where (K,): Assumed {}
    impl<S: RawData, D, K> OfArrays<K> for &ArrayBase<S, D> where (K,): Assumed {}
    impl<S: RawData, D, K> OfArrays<K> for &&ArrayBase<S, D> where (K,): Assumed {}
    impl<S: RawData, D, K> OfArrays<K> for &&&ArrayBase<S, D> where (K,): Assumed {}
    impl<S: RawData, D, K> OfArrays<K> for &mut ArrayBase<S, D> where (K,): Assumed {}
    impl<A, D, K> OfArrays<K> for &ArrayRef<A, D> where (K,): Assumed {}
    impl<A, K> OfVectors<K> for &&[A] where (K,): Assumed {}
    impl<A, K> OfVectors<K> for Vec<A> where (K,): Assumed {}
    impl<A, K> OfVectors<K> for &Vec<A> where (K,): Assumed {}
    impl<A, K> OfVectors<K> for &&Vec<A> where (K,): Assumed {}
    impl<A, K> OfVectors<K> for &&&Vec<A> where (K,): Assumed {}
    impl<A, K> OfVectors<K> for &mut Vec<A> where (K,): Assumed {}
    impl<A, const N: usize, K> OfVectors<K> for [A; N] where (K,): Assumed {}
    impl<A, const N: usize, K> OfVectors<K> for &[A; N] where (K,): Assumed {}
    impl<A, const N: usize, K> OfVectors<K> for &&[A; N] where (K,): Assumed {}
    impl<A, const N: usize, K> OfVectors<K> for &&&[A; N] where (K,): Assumed {}
    impl<A, const N: usize, K> OfVectors<K> for &mut [A; N] where (K,): Assumed {}

    impl<I: Iterator, K> OfPeekables<K> for std::iter::Peekable<I> where (K,): Assumed {}
    impl<I: Iterator, K> OfPeekables<K> for &std::iter::Peekable<I> where (K,): Assumed {}
    impl<A, K> OfOptions<K> for Option<A> where (K,): Assumed {}
    impl<A, K> OfOptions<K> for &Option<A> where (K,): Assumed {}
    impl<K> OfOrderings<K> for std::cmp::Ordering where (K,): Assumed {}
    impl<K> OfOrderings<K> for &std::cmp::Ordering where (K,): Assumed {}

    macro_rules! numbers {
        ($name:ident: $($ty:ty)*) => {
            $(
                impl<K> $name<K> for $ty where (K,): Assumed {}
                impl<K> $name<K> for &$ty where (K,): Assumed {}
                impl<K> $name<K> for &&$ty where (K,): Assumed {}
                impl<K> $name<K> for &&&$ty where (K,): Assumed {}
                impl<K> $name<K> for &mut $ty where (K,): Assumed {}
            )*
        };
    }

    numbers! { OfReals: f32 f64 }
    numbers! { OfRankZero: f32 f64 usize isize i32 i64 u32 u64 u8 bool }
    numbers! { OfIntegers: usize isize i32 i64 u32 u64 u8 }
}
