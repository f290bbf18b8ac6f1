//! The promises to users about the attribute and the items that may have it, sentence by sentence,
//! for code that is accepted. Each promise is quoted above its test. Code that is refused has its
//! cases in `tests/ui/place` and `tests/ui/attribute`, and crates of both editions are in
//! `tests/outside.rs`.

#![deny(warnings)]
// Signatures and conditions of every kind are tested.
#![allow(clippy::non_minimal_cfg, clippy::ptr_arg, clippy::useless_vec)]

use ad::prelude::*;

/// "The annotated function stays what it was: ordinary Rust, callable, type-checked by rustc."
#[test]
fn the_function_stays_what_it_was() {
    let f: fn(&Array1<f64>, f64) -> f64 = kept;
    assert_eq!(f(&array![1.0, 2.0], 3.0), 9.0);
    assert_eq!(COUNTED, 4.0);
}

/// A function with a doc comment and other attributes, next to a constant function.
#[inline]
#[must_use]
#[differentiate]
fn kept(x: &Array1<f64>, scale: f64) -> f64 {
    x.sum() * scale
}

const COUNTED: f64 = 4.0;

mod visible {
    use ad::prelude::*;

    #[differentiate(grad, vjp, jvp)]
    pub fn public(x: f64) -> f64 {
        x * x
    }

    #[differentiate]
    pub(crate) fn of_the_crate(x: f64) -> f64 {
        x * x * x
    }

    #[differentiate]
    fn private(x: f64) -> f64 {
        3.0 * x
    }

    pub fn of_private(x: f64) -> f64 {
        private_grad(x) + inner::of_the_parent_grad(x)
    }

    mod inner {
        use ad::prelude::*;

        #[differentiate]
        pub(super) fn of_the_parent(x: f64) -> f64 {
            x * x
        }
    }
}

/// "Beside it, with the same visibility (and the same `#[cfg]`), the attribute writes the functions
/// below." `tests/ui/place/visibility.rs` has a function that is not visible.
#[test]
fn derivatives_have_the_visibility_of_the_function() {
    assert_eq!(visible::public_grad(3.0), 6.0);
    assert_eq!(visible::public_value_and_grad(3.0), (9.0, 6.0));
    assert_eq!(visible::public_vjp(3.0, 2.0), (9.0, 12.0));
    assert_eq!(visible::public_jvp(3.0, 2.0), (9.0, 12.0));
    assert_eq!((visible::of_private(1.0), visible::of_the_crate_grad(1.0)), (5.0, 3.0));
}

/// Two functions of one name, each with its `#[cfg]`. Without it all items of one would clash with
/// those of the other.
#[cfg(debug_assertions)]
#[differentiate(grad, vjp, jvp)]
fn chosen(x: f64) -> f64 {
    x * x
}

#[cfg(not(debug_assertions))]
#[differentiate(grad, vjp, jvp)]
fn chosen(x: f64) -> f64 {
    x * x * 1.0
}

#[cfg(any())]
#[differentiate]
fn nowhere(x: f64) -> f64 {
    this_is_never_compiled(x)
}

#[differentiate]
#[cfg(all())]
fn below_the_attribute(x: f64) -> f64 {
    x * x
}

#[differentiate]
#[cfg(any())]
fn nowhere(x: f64) -> f64 {
    x.sin()
}

/// "`#[cfg]` on the function" is carried over.
#[test]
fn cfg_is_carried_over() {
    assert_eq!((chosen_grad(3.0), below_the_attribute_grad(3.0)), (6.0, 6.0));
    assert_eq!((chosen_vjp(3.0, 1.0), chosen_jvp(3.0, 1.0)), ((9.0, 6.0), (9.0, 6.0)));
}

#[differentiate]
fn three(w: &Array1<f64>, n: usize, b: f64, x: &[f64]) -> f64 {
    w[0] * b * x[0] * n as f64
}

#[differentiate(wrt(x, w))]
fn two(w: &Array1<f64>, b: f64, x: &[f64]) -> f64 {
    w[0] * b * x[0]
}

#[differentiate(wrt(b))]
fn one(w: &Array1<f64>, b: f64) -> f64 {
    w[0] * b
}

/// "the *active* parameters are those of real type named by `wrt`, or all of real type where there
/// is no `wrt`. `G` is the tuple of the active parameters' gradients in the order of the
/// parameters; with one active parameter it is that gradient itself".
#[test]
fn gradients_in_the_order_of_the_parameters() {
    let w = array![2.0];
    let gradient: (Array1<f64>, f64, Vec<f64>) = three_grad(&w, 1, 3.0, &[5.0]);
    assert_eq!(gradient, (array![15.0], 10.0, vec![6.0]));
    let gradient: (Array1<f64>, Vec<f64>) = two_grad(&w, 3.0, &[5.0]);
    assert_eq!(gradient, (array![15.0], vec![6.0]));
    let gradient: f64 = one_grad(&w, 3.0);
    assert_eq!(gradient, 2.0);
}

#[differentiate]
fn scalar(x: f64) -> f64 {
    x * x
}

#[differentiate]
fn arrays(x: &Array1<f64>) -> Array1<f64> {
    x * x
}

#[differentiate(jvp)]
fn only_jvp(x: f64) -> f64 {
    x * x
}

/// The names that the options of `only_jvp` and the defaults of `arrays` leave free.
fn only_jvp_grad() {}
fn only_jvp_vjp() {}
fn only_jvp_value_and_grad() {}
fn arrays_grad() {}
fn arrays_jvp() {}
fn scalar_vjp() {}

/// "by default: `grad` where the result is a real scalar, `vjp` where it is not"; "Naming any of
/// the rows that write functions replaces the default."
#[test]
fn options_select_the_functions_that_are_written() {
    assert_eq!((scalar_grad(3.0), scalar_value_and_grad(3.0)), (6.0, (9.0, 6.0)));
    assert_eq!(arrays_vjp(&array![3.0], &array![1.0]), (array![9.0], array![6.0]));
    assert_eq!(only_jvp_jvp(3.0, 1.0), (9.0, 6.0));
    only_jvp_grad();
    only_jvp_vjp();
    only_jvp_value_and_grad();
    arrays_grad();
    arrays_jvp();
    scalar_vjp();
}

#[differentiate(mode = "dual_arrays", jvp, wrt(x))]
fn by_mode(x: f64, y: f64) -> f64 {
    x * y
}

/// "Options combine".
#[test]
fn options_combine() {
    assert_eq!(by_mode_jvp(2.0, 3.0, 1.0), (6.0, 3.0));
}

mod facade {
    pub mod deep {
        pub use ad::*;
    }
}

#[differentiate(crate = "crate::facade::deep")]
fn by_path(x: &Array1<f64>) -> f64 {
    assert!(!x.is_empty());
    norm(x) + array![1.0, 2.0].dot(x) + x.slice(s![..1]).sum()
}

/// "Generated code reaches everything through `::ad::...`; `#[differentiate(crate =
/// "path::to::ad")]` changes that path."
#[test]
fn the_crate_by_another_path() {
    let gradient = by_path_grad(&array![3.0, 4.0]);
    assert!((gradient - array![2.6, 2.8]).mapv(f64::abs).sum() < 1e-14);
}

/// "elsewhere types are known by their last path segment": an alias of that name, and the type by
/// its whole path.
mod by_the_last_segment {
    use ad::prelude::{array, differentiate};

    type Array1<T> = ad::ndarray::Array1<T>;

    mod names {
        pub use ad::ndarray::ArrayView2;
        pub type Array2<T> = ad::ndarray::Array2<T>;
    }

    #[differentiate]
    fn f(x: &Array1<f64>, y: names::Array2<f64>, z: names::ArrayView2<'_, f64>, w: &std::vec::Vec<f64>) -> f64 {
        let t: ad::ndarray::Array1<f64> = x * 2.0;
        t.sum() * y.sum() * z.sum() * w[0]
    }

    #[test]
    fn types_are_known_by_their_last_segment() {
        let (dx, dy, dz, dw) = f_grad(&array![1.0], array![[2.0]], array![[3.0]].view(), &vec![4.0]);
        assert_eq!((dx, dy, dz, dw), (array![48.0], array![[24.0]], array![[16.0]], vec![12.0]));
    }
}

#[differentiate]
fn with_macros(x: &Array1<f64>) -> f64 {
    assert!(x.len() > 1, "two are needed, not {}", x.len());
    assert_eq!(x.len(), 2);
    assert_ne!(x.len(), 3, "three");
    debug_assert!(x.len() < 9);
    debug_assert_eq!(x.len(), 2);
    debug_assert_ne!(x.len(), 3);
    let a = array![x[0], 2.0 * x[1]];
    let b = vec![x[0], x[1]];
    let c = stack![Axis(0), *x, a];
    let d = concatenate![Axis(0), *x, a];
    let n = x.len();
    let e = match n {
        2 => x.slice(s![..;-1])[0],
        0 => panic!("none of {n}"),
        _ => unreachable!(),
    };
    c.sum() + d.sum() + b[0] + e
}

/// "`s!`, `array!`, `vec!`, `stack!`, `concatenate!`, `assert*!`, `panic!`, `unreachable!`,
/// `debug_assert*!` are understood".
#[test]
fn macros_that_are_understood() {
    assert_eq!(with_macros_grad(&array![1.0, 2.0]), array![5.0, 7.0]);
    assert_eq!(with_macros_value_and_grad(&array![1.0, 2.0]).0, with_macros(&array![1.0, 2.0]));
    assert!(std::panic::catch_unwind(|| with_macros_grad(&array![1.0, 2.0, 3.0])).is_err());
}

use ad::ndarray::{concatenate, stack};

/// The attribute on functions in functions and in blocks.
#[test]
fn on_inner_functions() {
    #[differentiate]
    fn inner(x: f64) -> f64 {
        x * x
    }
    assert_eq!(inner_grad(3.0), 6.0);
}

/// A macro of the user's that writes the attribute.
macro_rules! powers {
    ($($name:ident $n:literal $grad:ident),*) => {
        $(
            #[differentiate]
            fn $name(x: f64) -> f64 {
                x.powi($n)
            }
        )*

        #[test]
        fn in_a_macro() {
            $(assert_eq!($grad(1.0), f64::from($n));)*
        }
    };
}

powers!(squared 2 squared_grad, cubed 3 cubed_grad);

/// Two sets of derivatives of one function: a second attribute states a suffix, which the names of
/// its derivatives have after that of the function.
#[differentiate(wrt(a))]
#[differentiate(grad, jvp, wrt(b), suffix = "by_b")]
fn scaled(a: f64, b: &[f64; 2]) -> f64 {
    a.sin() * b[0] * b[1]
}

/// The definition of such a function travels once.
#[differentiate]
fn twice_scaled(a: f64) -> f64 {
    scaled(a, &[2.0, 3.0]) + scaled(a * 2.0, &[1.0, 1.0])
}

#[test]
fn two_attributes_write_two_sets_of_derivatives() {
    let da: f64 = scaled_grad(0.5, &[2.0, 3.0]);
    assert!((da - 6.0 * 0.5_f64.cos()).abs() < 1e-15, "{da}");
    let (value, db): (f64, [f64; 2]) = scaled_by_b_value_and_grad(0.5, &[2.0, 3.0]);
    assert_eq!(value, scaled(0.5, &[2.0, 3.0]));
    assert_eq!(db, [0.5_f64.sin() * 3.0, 0.5_f64.sin() * 2.0]);
    assert_eq!(scaled_by_b_grad(0.5, &[2.0, 3.0]), db);
    ad::check_grad!(scaled(0.5, &[2.0, 3.0]));
    ad::check_grad!(scaled_by_b(0.5, &[2.0, 3.0]), jvp);
    ad::check_grad!(scaled_by_b(0.5, &[2.0, 3.0]));
    ad::check_grad!(twice_scaled(0.5));
}
