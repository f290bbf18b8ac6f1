//! Elementwise functions and the functions that are the identity for values.

mod common;

use ad_runtime::dsl::{checkpoint, digamma, erf, erfc, ln_gamma, map2, relu, select, sigmoid, softplus, stop_gradient};
use ad_runtime::{Real, kernel};
use common::{array1, array2, array3, layouts};
use ndarray::{Array, Array1, Array2, ArrayRef1, Dimension, arr0, array};
use proptest::prelude::*;

/// Every function of an array is the kernel's of each element, in every layout, with the result
/// standard.
fn check<D: Dimension + ad_runtime::dsl::Rank>(x: &Array<f64, D>) {
    for (layout, y) in layouts(x) {
        assert_eq!(sigmoid(&y), x.mapv(kernel::sigmoid), "{layout}");
        assert_eq!(relu(&y), x.mapv(kernel::relu), "{layout}");
        assert_eq!(softplus(&y.view()), x.mapv(kernel::softplus), "{layout}");
        assert_eq!(erf(&y), x.mapv(kernel::erf), "{layout}");
        assert_eq!(erfc(&y.view()), x.mapv(kernel::erfc), "{layout}");
        assert_eq!(ln_gamma(&y), x.mapv(kernel::ln_gamma), "{layout}");
        let positive = y.mapv(f64::abs);
        assert_eq!(digamma(&positive), x.mapv(|v| kernel::digamma(v.abs())), "{layout}");
        assert!(relu(&y).is_standard_layout(), "{layout}");
        for (other, z) in layouts(x) {
            assert_eq!(map2(&y, &z, |a, b| 2.0 * a - b), *x, "{layout} and {other}");
        }
    }
}

proptest! {
    #[test]
    fn rank_1(x in array1(10)) {
        check(&x);
    }

    #[test]
    fn rank_2(x in array2(5)) {
        check(&x);
    }

    #[test]
    fn rank_3(x in array3(3)) {
        check(&x);
    }

    #[test]
    fn map2_keeps_the_order_of_its_arguments(x in array2(5)) {
        let y = x.mapv(|v| v * v - 1.0);
        let expected = Array2::from_shape_fn(x.dim(), |i| x[i] - 10.0 * y[i]);
        for (layout, z) in layouts(&y) {
            prop_assert_eq!(map2(&x, &z, |a, b| a - 10.0 * b), expected.clone(), "{}", layout);
        }
    }
}

#[test]
fn every_kind_of_argument() {
    let x = array![-1.0, 2.0];
    let reference: &Array1<f64> = &x;
    let array_ref: &ArrayRef1<f64> = &x;
    let expected = array![0.0, 2.0];
    assert_eq!(relu(reference), expected);
    assert_eq!(relu(&reference), expected);
    assert_eq!(relu(array_ref), expected);
    assert_eq!(relu(&x.view()), expected);
    let slice: &[f64] = x.as_slice().unwrap();
    assert_eq!(relu(slice), vec![0.0, 2.0]);
    assert_eq!(relu(&slice.to_vec()), vec![0.0, 2.0]);
    assert_eq!(relu(&[-1.0, 2.0]), [0.0, 2.0]);
    assert_eq!(relu(&[[-1.0], [2.0]]), [[0.0], [2.0]]);
    assert_eq!(relu(&arr0(-1.0)), arr0(0.0));
    assert_eq!((relu(-1.0), relu(&2.0), relu(3.0_f32), relu(x[0])), (0.0, 2.0, 3.0, 0.0));
    let inferred: f32 = sigmoid(0.0);
    assert_eq!(inferred, 0.5);
    assert_eq!(relu(&Array2::<f64>::zeros((0, 3))).shape(), [0, 3]);
    assert_eq!(map2(slice, &x, f64::max), vec![-1.0, 2.0]);
    assert_eq!(map2(&[1.0, 2.0], &[3.0, 4.0], |a, b| a * b), [3.0, 8.0]);
    assert_eq!(map2(&x, array_ref, |a, b| a + b), array![-2.0, 4.0]);
}

#[test]
fn generic_over_the_number_type() {
    fn gate<T: Real>(x: &Array1<T>, y: T) -> Array1<T> {
        map2(&sigmoid(x), &relu(x), |a, b| a * b + softplus(y) - erf(y))
    }
    assert_eq!(gate(&array![0.0_f32, 0.0], 0.0), array![std::f32::consts::LN_2, std::f32::consts::LN_2]);
    assert_eq!(gate(&array![0.0_f64], 0.0), array![std::f64::consts::LN_2]);
}

#[test]
fn identities() {
    assert_eq!((select(true, 1, 2), select(false, "a", "b")), (1, "b"));
    assert_eq!(stop_gradient((1.0, array![2.0])), (1.0, array![2.0]));
    let x = array![1.0, 2.0];
    assert_eq!(checkpoint(|| &x * 2.0), array![2.0, 4.0]);
}

#[test]
#[should_panic(expected = "map2 of arrays of different shapes, [2, 3] and [3, 2]")]
fn map2_of_different_shapes() {
    let _ = map2(&Array2::<f64>::zeros((2, 3)), &Array2::zeros((3, 2)), |a, _| a);
}
