//! Macros and methods for the proofs of names in generated code: they have the meanings that the
//! compiler assumes for a user's `array!` or `x.sum()`. None of them runs.

/// The macros, and the list of their names. A test compares the list with the compiler's tables.
macro_rules! macros {
    (ndarray: $($of_ndarray:ident)*; core: $($of_core:ident)*) => {
        pub use ndarray::{$($of_ndarray),*};
        #[cfg(not(feature = "std"))]
        pub use core::panic;
        #[cfg(feature = "std")]
        pub use std::panic;
        pub use alloc::vec;
        pub use core::{$($of_core),*};

        #[allow(missing_docs, reason = "only a test reads it")]
        pub mod macros {
            pub const MACROS: &[&str] = &[$(stringify!($of_ndarray),)* $(stringify!($of_core),)* "panic", "vec"];
        }
    };
}

macros! {
    ndarray: array azip concatenate s stack;
    core: assert assert_eq assert_ne debug_assert debug_assert_eq debug_assert_ne matches todo
          unimplemented unreachable
}

/// Traits that declare every supported method name, for the types that have the method. Generated
/// code imports them, so that a call is ambiguous (a compile error) if another trait in scope has a
/// method of that name. Each trait is implemented for one kind of type only, since rustc suggests
/// traits in errors about methods that do not exist.
#[allow(missing_docs, clippy::should_implement_trait, clippy::wrong_self_convention, reason = "only the names matter")]
pub mod methods {
    use alloc::collections::VecDeque;
    use alloc::vec::Vec;

    use ndarray::{ArrayBase, ArrayRef, RawData};

    /// No type implements this trait. The methods exist only under the bound `where (K,): Assumed`.
    /// Without the bound rustc, which considers all traits, would suggest them to a user whose
    /// method does not exist.
    pub trait Assumed {}

    macro_rules! methods {
        ($name:ident, $names:ident: $($method:ident)*) => {
            pub trait $name<K>: Sized {
                $(fn $method(self) {})*
            }

            pub const $names: &[&str] = &[$(stringify!($method)),*];
        };
    }

    /// The names of methods, each once, grouped by the kinds of types that have the method.
    macro_rules! kinds {
        (
            arrays reals integers: $($ari:ident)*;
            arrays reals: $($ar:ident)*;
            arrays rank_zero: $($az:ident)*;
            arrays: $($a:ident)*;
            arrays vectors rank_zero: $($avz:ident)*;
            arrays vectors: $($av:ident)*;
            vectors rank_zero: $($vz:ident)*;
            vectors: $($v:ident)*;
            vectors integers: $($vi:ident)*;
            reals: $($r:ident)*;
            reals integers: $($ri:ident)*;
            integers: $($i:ident)*;
        ) => {
            methods! { OfArrays, ARRAYS: $($ari)* $($ar)* $($az)* $($a)* $($avz)* $($av)* }
            methods! { OfVectors, VECTORS: $($avz)* $($av)* $($vz)* $($v)* $($vi)* }
            methods! { OfReals, REALS: $($ari)* $($ar)* $($r)* $($ri)* }
            methods! { OfIntegers, INTEGERS: $($ari)* $($vi)* $($ri)* $($i)* }
            // Methods that arrays have and scalars do not: for arrays of rank 0, which the macro
            // does not distinguish from scalars.
            methods! { OfRankZero, RANK_ZERO: $($az)* $($avz)* $($vz)* }
        };
    }

    kinds! {
        arrays reals integers:
            abs signum;
        arrays reals:
            acos acosh asin asinh atan atanh cbrt ceil clamp cos cosh exp exp2 exp_m1 floor
            fract hypot is_infinite is_nan ln ln_1p log log10 log2 powf powi recip round sin
            sinh sqrt tan tanh to_degrees to_radians trunc;
        arrays rank_zero:
            as_slice as_standard_layout axis_chunks_iter axis_iter broadcast column columns diag
            diff dim dot exact_chunks flatten fold fold_axis index_axis index_axis_move indexed_iter
            insert_axis into_diag into_dimensionality into_flat into_raw_vec_and_offset
            into_scalar into_shape into_shape_clone into_shape_with_order is_any_infinite
            is_any_nan is_square lanes len_of map map_axis mapv mapv_into mapv_into_any mean
            mean_axis ncols ndim nrows outer_iter permuted_axes pow2 product product_axis
            raw_dim reborrow remove_axis reversed_axes row rows select shape slice slice_axis
            slice_move std std_axis sum sum_axis t to_shape tril triu var var_axis view;
        arrays:
            abs_sub assign axis_iter_mut column_mut columns_mut diag_mut exact_chunks_mut
            index_axis_mut indexed_iter_mut invert_axis map_inplace mapv_inplace outer_iter_mut
            reverse_axes row_mut rows_mut scaled_add slice_axis_mut slice_mut swap_axes to_owned
            view_mut zip_mut_with;
        arrays vectors rank_zero:
            chunks_exact first get is_empty iter last len split_at split_first split_last to_vec
            windows;
        arrays vectors:
            chunks_exact_mut fill iter_mut push swap;
        vectors rank_zero:
            chunks contains partition_point;
        vectors:
            clear copy_from_slice dedup drain extend_from_slice first_mut insert last_mut pop remove
            retain reverse sort sort_by sort_by_key sort_unstable sort_unstable_by sort_unstable_by_key
            split_at_mut swap_remove truncate;
        vectors integers:
            rotate_left rotate_right;
        reals:
            atan2 copysign is_finite is_sign_negative is_sign_positive max min mul_add sin_cos
            total_cmp;
        reals integers:
            div_euclid rem_euclid;
        integers:
            abs_diff checked_add checked_div checked_mul checked_pow checked_rem checked_sub
            count_ones count_zeros div_ceil is_negative is_positive is_power_of_two leading_ones
            leading_zeros next_power_of_two pow saturating_add saturating_mul saturating_pow
            saturating_sub trailing_ones trailing_zeros unsigned_abs wrapping_add wrapping_mul
            wrapping_neg wrapping_sub;
    }

    methods! { OfQueues, QUEUES:
        push_back push_front pop_front pop_back front back
    }

    methods! { OfOptions, OPTIONS:
        unwrap expect unwrap_or unwrap_or_else unwrap_or_default map map_or map_or_else and_then is_some is_none is_some_and is_none_or copied cloned
        ok_or ok_or_else
    }

    methods! { OfResults, RESULTS:
        unwrap expect unwrap_or unwrap_or_else unwrap_or_default map map_err and_then ok is_ok is_err
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

    macro_rules! queues {
        ($($name:ident $ty:ty;)*) => {
            $(
                impl<A, K> $name<K> for $ty where (K,): Assumed {}
                impl<A, K> $name<K> for &$ty where (K,): Assumed {}
                impl<A, K> $name<K> for &&$ty where (K,): Assumed {}
                impl<A, K> $name<K> for &&&$ty where (K,): Assumed {}
                impl<A, K> $name<K> for &mut $ty where (K,): Assumed {}
            )*
        };
    }

    queues! { OfVectors VecDeque<A>; OfQueues VecDeque<A>; OfQueues Vec<A>; }

    impl<I: Iterator, K> OfPeekables<K> for core::iter::Peekable<I> where (K,): Assumed {}
    impl<I: Iterator, K> OfPeekables<K> for &core::iter::Peekable<I> where (K,): Assumed {}
    impl<A, K> OfOptions<K> for Option<A> where (K,): Assumed {}
    impl<A, K> OfOptions<K> for &Option<A> where (K,): Assumed {}
    impl<A, E, K> OfResults<K> for Result<A, E> where (K,): Assumed {}
    impl<A, E, K> OfResults<K> for &Result<A, E> where (K,): Assumed {}
    impl<K> OfOrderings<K> for core::cmp::Ordering where (K,): Assumed {}
    impl<K> OfOrderings<K> for &core::cmp::Ordering where (K,): Assumed {}

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
