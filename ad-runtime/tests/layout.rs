//! `contiguous` and `assemble`: order, borrowing, every layout and rank.

mod common;

use std::borrow::Cow;

use ad_runtime::kernel::{self, assemble, contiguous};
use common::{array1, array2, array3, layouts};
use ndarray::{Array, Array0, Array2, Array6, ArrayView3, Dimension, arr0, array, s};
use proptest::prelude::*;

/// Every layout of `x` gives the elements in logical order; the standard one is borrowed.
fn check<D: Dimension>(x: &Array<f64, D>) {
    let expected: Vec<f64> = x.iter().copied().collect();
    for (layout, y) in layouts(x) {
        assert_eq!(&contiguous(&y)[..], &expected[..], "{layout} of {:?}", x.shape());
        assert_eq!(&contiguous(&y.view())[..], &expected[..], "view of {layout} of {:?}", x.shape());
    }
    assert!(matches!(contiguous(x), Cow::Borrowed(_)), "a standard layout is borrowed");
}

proptest! {
    #[test]
    fn rank_1(x in array1(20)) {
        check(&x);
    }

    #[test]
    fn rank_2(x in array2(6)) {
        check(&x);
    }

    #[test]
    fn rank_3(x in array3(4)) {
        check(&x);
    }
}

#[test]
fn rank_0_and_6() {
    assert_eq!(&contiguous(&arr0(3.0))[..], [3.0]);
    let mut k = 0.0;
    let x = Array6::from_shape_simple_fn((2, 1, 3, 2, 1, 2), || {
        k += 1.0;
        k
    });
    check(&x);
}

#[test]
fn non_standard_layouts_are_copied() {
    let x = array![[1, 2, 3], [4, 5, 6]];
    assert!(matches!(contiguous(&x.t()), Cow::Owned(_)));
    assert_eq!(&contiguous(&x.t())[..], [1, 4, 2, 5, 3, 6]);
    // Rows of a slice are contiguous, the slice is not; whole rows are.
    assert!(matches!(contiguous(&x.slice(s![.., 1..])), Cow::Owned(_)));
    assert_eq!(&contiguous(&x.slice(s![.., 1..]))[..], [2, 3, 5, 6]);
    assert!(matches!(contiguous(&x.slice(s![1.., ..])), Cow::Borrowed(_)));
    assert_eq!(&contiguous(&x.slice(s![..;-1, ..;2]))[..], [4, 6, 1, 3]);
}

#[test]
fn broadcast_views() {
    let row = array![1.0, 2.0];
    assert_eq!(&contiguous(&row.broadcast((3, 2)).unwrap())[..], [1.0, 2.0, 1.0, 2.0, 1.0, 2.0]);
    assert_eq!(&contiguous(&row.broadcast((0, 2)).unwrap())[..], [0.0; 0]);
    let one = arr0(7);
    assert_eq!(&contiguous(&one.broadcast((2, 2, 1)).unwrap())[..], [7; 4]);
    let column = array![[1], [2]];
    assert_eq!(&contiguous(&column.broadcast((2, 3)).unwrap())[..], [1, 1, 1, 2, 2, 2]);
}

#[test]
fn empty_views() {
    let x = Array2::<f64>::zeros((4, 0));
    assert!(contiguous(&x).is_empty() && contiguous(&x.t()).is_empty());
    let full = Array2::<f64>::zeros((4, 3));
    assert!(contiguous(&full.slice(s![2..2;-1, ..])).is_empty());
    assert!(contiguous(&ArrayView3::<u8>::from_shape((2, 0, 3), &[]).unwrap()).is_empty());
}

#[test]
fn assembled_arrays_are_standard() {
    let x = assemble([2, 3], vec![1, 2, 3, 4, 5, 6]);
    assert_eq!(x, array![[1, 2, 3], [4, 5, 6]]);
    assert!(x.is_standard_layout());
    let scalar: Array0<f64> = assemble([], vec![2.0]);
    assert_eq!(scalar, arr0(2.0));
    assert_eq!(assemble([0, 3], Vec::<f64>::new()).shape(), [0, 3]);
    assert_eq!(assemble([1, 1, 1, 2, 1, 1], vec![1, 2])[[0, 0, 0, 1, 0, 0]], 2);
}

#[test]
#[should_panic(expected = "5 elements do not fill an array of shape [2, 3]")]
fn assemble_refuses_a_wrong_length() {
    let _ = assemble([2, 3], vec![0; 5]);
}

/// What a loop that makes no step would have read may be shorter or longer than it says.
#[test]
fn arrays_of_other_sizes_are_extended_and_cut() {
    let x = [1.0, 2.0, 3.0];
    assert_eq!(*kernel::extended(&x, 2, 0.0), x);
    assert!(matches!(kernel::extended(&x, 3, 0.0), std::borrow::Cow::Borrowed(_)));
    assert_eq!(*kernel::extended(&x, 5, 0.0), [1.0, 2.0, 3.0, 0.0, 0.0]);
    assert_eq!(*kernel::extended(&[], 1, 7.0), [7.0]);
    assert_eq!(*kernel::cut(&x, 0, 2, 0.0), [1.0, 2.0]);
    assert_eq!(*kernel::cut(&x, 1, 3, 0.0), [2.0, 3.0, 0.0]);
    assert_eq!(kernel::resized(x.to_vec(), 1, 0.0), [1.0]);
    assert_eq!(kernel::resized(x.to_vec(), 4, 0.0), [1.0, 2.0, 3.0, 0.0]);
    let same = x.to_vec();
    let place = same.as_ptr();
    let resized = kernel::resized(same, 3, 0.0);
    assert_eq!(resized.as_ptr(), place, "nothing is copied");
}
