//! Sums of products at sums of indices, against loops over all labels.

use ad_runtime::Real;
use ad_runtime::kernel::{Axis, windows, windows_in_order};
use proptest::prelude::*;

const L: usize = 4;

/// An array that is read: its axes and its elements.
#[derive(Clone, Debug)]
struct Array {
    axes: Vec<Axis<L>>,
    data: Vec<f64>,
}

fn converted<F: Real>(x: &[f64]) -> Vec<F> {
    x.iter().map(|&v| F::lit(v)).collect()
}

/// The place of an element by the axes, if it is in range.
fn place(axes: &[Axis<L>], at: [usize; L]) -> Option<usize> {
    axes.iter().try_fold(0, |place, (size, start, steps)| {
        let k = start + steps.iter().zip(at).map(|(s, at)| s * at.cast_signed()).sum::<isize>();
        (0..size.cast_signed()).contains(&k).then(|| place * size + k.cast_unsigned())
    })
}

fn naive(out: &Array, a: &Array, b: &Array, labels: [usize; L], onto: f64) -> Vec<f64> {
    let mut result = vec![onto; out.data.len()];
    let [i, j, k, l] = labels;
    for at in (0..i * j * k * l).map(|n| [n / (l * k * j), n / (l * k) % j, n / l % k, n % l]) {
        if let (Some(o), Some(x), Some(y)) = (place(&out.axes, at), place(&a.axes, at), place(&b.axes, at)) {
            result[o] += a.data[x] * b.data[y];
        }
    }
    result
}

fn check<F: Real>(out: &Array, a: &Array, b: &Array, labels: [usize; L]) {
    let (x, y): (Vec<F>, Vec<F>) = (converted(&a.data), converted(&b.data));
    for accumulate in [false, true] {
        let expected: Vec<F> = converted(&naive(out, a, b, labels, if accumulate { 1.0 } else { 0.0 }));
        let mut found = vec![if accumulate { F::one() } else { F::nan() }; out.data.len()];
        windows((&mut found, &out.axes), (&x, &a.axes), (&y, &b.axes), labels, accumulate);
        assert_eq!(found, expected, "{labels:?} {:?} {:?} {:?}", out.axes, a.axes, b.axes);
    }
}

/// Small integers, so that every order of summation gives the same bits; the same each time.
fn array(axes: Vec<Axis<L>>) -> Array {
    let n: usize = axes.iter().map(|a| a.0).product();
    let data = (0..n).map(|k| ((k * 7 + k % 1000 * (k % 1000) * 3) % 11) as f64 - 5.0).collect();
    Array { axes, data }
}

/// Sums in their order have the bits of a loop: of numbers that are rounded when they are added.
fn check_order<F: Real>(out: &Array, a: &Array, b: &Array, labels: [usize; L]) {
    let rough = |x: &[f64]| x.iter().map(|&v| F::lit(v / 7.0 + v * v * 1e3)).collect::<Vec<F>>();
    let (x, y) = (rough(&a.data), rough(&b.data));
    let start = F::lit(-0.0);
    let mut expected = vec![start; out.data.len()];
    let [i, j, k, l] = labels;
    for at in (0..i * j * k * l).map(|n| [n / (l * k * j), n / (l * k) % j, n / l % k, n % l]) {
        if let (Some(o), Some(p), Some(q)) = (place(&out.axes, at), place(&a.axes, at), place(&b.axes, at)) {
            expected[o] += x[p] * y[q];
        }
    }
    let mut found = vec![F::nan(); out.data.len()];
    windows_in_order((&mut found, &out.axes), (&x, &a.axes), (&y, &b.axes), labels, start);
    assert_eq!(found, expected, "{labels:?} {:?} {:?} {:?}", out.axes, a.axes, b.axes);
}

/// An axis, as large as it must be, and then a little larger or smaller.
fn fitting(steps: [isize; L], labels: [usize; L], start: isize, more: isize) -> Axis<L> {
    let ends = steps.iter().zip(labels).map(|(s, n)| s * (n.cast_signed() - 1));
    let (low, high) = ends.fold((0, 0), |(low, high): (isize, isize), e| (low + e.min(0), high + e.max(0)));
    ((start + high - low + 1 + more).max(0).cast_unsigned(), start - low, steps)
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    /// Any steps at all, mostly in range.
    #[test]
    fn windows_with_any_steps(
        labels in proptest::array::uniform4(prop_oneof![3 => 1..5_usize, 1 => 0..20_usize]),
        steps in proptest::collection::vec(proptest::array::uniform4(-1..3_isize), 6),
        kept in proptest::collection::vec(0..3_u8, 24),
        around in proptest::collection::vec((0..2_isize, prop_oneof![4 => 0..3_isize, 1 => -3..0_isize]), 6),
    ) {
        // Most labels move along few axes.
        let axis = |k: usize| {
            let steps = std::array::from_fn(|l| if kept[k * L + l] == 0 { steps[k][l] } else { 0 });
            fitting(steps, labels, around[k].0, around[k].1)
        };
        let [out, a, b] = [0, 2, 4].map(|k| array(vec![axis(k), axis(k + 1)]));
        check::<f64>(&out, &a, &b, labels);
        check_order::<f64>(&out, &a, &b, labels);
    }

    /// Windows along the last axis, and both adjoints: labels are the window's place, its element,
    /// and rows of the two kinds.
    #[test]
    fn convolutions(
        n in 1..70_usize,
        k in 1..5_usize,
        rows in 1..7_usize,
        channels in 1..5_usize,
        step in prop_oneof![3 => Just(1_isize), 1 => 2..4_isize],
        apart in prop_oneof![3 => Just(1_isize), 1 => 2..4_isize],
        start in 0..3_isize,
        flipped in any::<bool>(),
    ) {
        let labels = [rows, n, channels, k];
        let element = if flipped { -apart } else { apart };
        let image = array(vec![
            fitting([0, 0, 1, 0], labels, 0, 0),
            fitting([0, step, 0, element], labels, start, 1),
        ]);
        let weights = array(vec![
            fitting([1, 0, 0, 0], labels, 0, 0),
            fitting([0, 0, 1, 0], labels, 0, 0),
            fitting([0, 0, 0, 1], labels, 0, 0),
        ]);
        let result = array(vec![fitting([1, 0, 0, 0], labels, 0, 0), fitting([0, 1, 0, 0], labels, 0, 0)]);
        for [out, a, b] in [
            [&result, &weights, &image],
            [&result, &image, &weights],
            [&image, &weights, &result],
            [&image, &result, &weights],
            [&weights, &image, &result],
            [&weights, &result, &image],
        ] {
            check::<f64>(out, a, b, labels);
            check::<f32>(out, a, b, labels);
            check_order::<f64>(out, a, b, labels);
            check_order::<f32>(out, a, b, labels);
        }
    }
}

#[test]
fn sums_of_many_terms() {
    // More terms than are added at once, and more weights than are copied at once.
    let labels = [3, 40, 1100, 3];
    let axes = |l: usize| fitting(std::array::from_fn(|m| isize::from(l == m)), labels, 0, 0);
    let image = array(vec![axes(2), fitting([0, 1, 0, 1], labels, 0, 0)]);
    let weights = array(vec![axes(0), axes(2), axes(3)]);
    check::<f64>(&array(vec![axes(0), axes(1)]), &weights, &image, labels);
    check_order::<f64>(&array(vec![axes(0), axes(1)]), &weights, &image, labels);
    let labels = [300, 9, 110, 2];
    let axes = |l: usize| fitting(std::array::from_fn(|m| isize::from(l == m)), labels, 0, 0);
    let image = array(vec![axes(2), fitting([0, 1, 0, 1], labels, 0, 0)]);
    let weights = array(vec![axes(0), axes(2), axes(3)]);
    check::<f64>(&array(vec![axes(0), axes(1)]), &weights, &image, labels);
    check_order::<f64>(&array(vec![axes(0), axes(1)]), &weights, &image, labels);
}

/// Zeros that are put around an operand meet nothing infinite.
#[test]
fn infinite_weights() {
    let labels = [1, 20, 1, 3];
    let axes = |l: usize| fitting(std::array::from_fn(|m| isize::from(l == m)), labels, 0, 0);
    let (result, image) = ([axes(1)], [fitting([0, 1, 0, 1], labels, 0, 0)]);
    let mut found = vec![0.0; 22];
    let weights = [f64::INFINITY, 1.0, 2.0];
    windows((&mut found, &image), (&[1.0; 20], &result), (&weights, &[axes(3)]), labels, false);
    assert_eq!(found[19..], [f64::INFINITY, 3.0, 2.0]);
}

/// Whichever operand comes first, the zeros go around the image: in proportion to its size, not to
/// its square.
#[test]
fn long_images() {
    let labels = [1, 300_000, 1, 3];
    let axes = |l: usize| fitting(std::array::from_fn(|m| isize::from(l == m)), labels, 0, 0);
    let (result, weights) = (array(vec![axes(1)]), array(vec![axes(3)]));
    let image = array(vec![fitting([0, 1, 0, 1], labels, 0, 0)]);
    check::<f64>(&image, &weights, &result, labels);
    check::<f64>(&image, &result, &weights, labels);
}

#[test]
fn two_axes_and_their_adjoints() {
    // c is summed by turning labels into one channel: rows, columns and their windows are all the
    // labels there are.
    let labels = [6, 19, 3, 2];
    let axes = |l: usize| fitting(std::array::from_fn(|m| isize::from(l == m)), labels, 0, 0);
    let image = array(vec![fitting([1, 0, 1, 0], labels, 1, 1), fitting([0, 1, 0, 1], labels, 2, 0)]);
    let (result, window) = (array(vec![axes(0), axes(1)]), array(vec![axes(2), axes(3)]));
    check::<f64>(&result, &window, &image, labels);
    check::<f64>(&image, &result, &window, labels);
    check::<f64>(&window, &result, &image, labels);
}

#[test]
#[should_panic(expected = "windows of 2 and 1 elements into 1")]
fn lengths_are_checked() {
    let one: Axis<1> = (1, 0, [0]);
    windows((&mut [0.0], &[one]), (&[1.0, 2.0], &[one]), (&[1.0], &[one]), [1], false);
}
