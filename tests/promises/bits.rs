//! The same bits: on every memory layout, by every form of the gradient, in every thread.

use ad::prelude::*;

use crate::layouts::{Bits, LAYOUTS, broadcast, on_every_layout, repeated, stored};

#[differentiate(grad, vjp, jvp, into)]
fn energy(x: &ArrayRef2<f64>, w: &ArrayRef1<f64>) -> f64 {
    let y = x.dot(w);
    let rows = build1(x.nrows(), |i| logsumexp(&x.row(i)) + (x.row(i).mapv(f64::sin) * w).sum());
    let mut carried = 0.0;
    for i in 0..x.nrows() {
        carried = (0.5 * carried + x[[i, 0]] * y[i]).tanh();
    }
    (&y * &rows).sum() + x.sum_axis(Axis(0)).dot(w) + maximum(x) + carried
}

fn arguments(n: usize, m: usize) -> (Array2<f64>, Array1<f64>) {
    let x = Array2::from_shape_fn((n, m), |(i, j)| ((i * 7 + j * 3) as f64 * 0.37).sin());
    (x, Array1::from_shape_fn(m, |j| (j as f64 * 1.3).cos()))
}

/// The value and gradient. They are the same through `grad`, `value_and_grad` and `into`, in
/// standard layout.
fn results(x: &ArrayRef2<f64>, w: &ArrayRef1<f64>) -> (f64, Array2<f64>, Array1<f64>) {
    let (value, (dx, dw)) = energy_value_and_grad(x, w);
    assert!(dx.is_standard_layout() && dw.is_standard_layout());
    assert_eq!(dx.dim(), x.dim());
    assert_eq!(energy_grad(x, w).bits(), (dx.clone(), dw.clone()).bits(), "grad");
    // The caller's memory may have any content and any layout.
    for layout in LAYOUTS {
        let (mut to_x, mut to_w) =
            (stored(&(9.0 * &dx), layout), stored(&Array1::from_elem(w.len(), f64::NAN), layout));
        let of_into = energy_value_and_grad_into(x, w, &mut to_x, &mut to_w);
        assert_eq!((of_into, to_x, to_w).bits(), (value, dx.clone(), dw.clone()).bits(), "into, {layout:?}");
    }
    (value, dx, dw)
}

const SIZES: [(usize, usize); 6] = [(1, 1), (3, 5), (5, 3), (16, 16), (17, 9), (33, 40)];

/// "The same inputs give the same bits on the same machine every time, whatever the memory layout
/// of the inputs, through `grad`, `value_and_grad` or `into`".
#[test]
fn the_same_bits_for_each_layout_and_each_function() {
    for (n, m) in SIZES {
        let (x, w) = arguments(n, m);
        let first = on_every_layout(|of_x| on_every_layout(|of_w| results(&stored(&x, of_x), &stored(&w, of_w))));
        assert_eq!(results(&x, &w).bits(), first.bits(), "again");
        // The rows share memory.
        assert_eq!(results(&broadcast(&x), &w).bits(), results(&repeated(&x), &w).bits(), "broadcast {n} {m}");
    }
}

/// "`f_value_and_grad(p).0` equals `f(p)` up to reassociation of sums and contractions". All other
/// derivatives agree with it.
#[test]
fn all_derivatives_agree() {
    for (n, m) in SIZES {
        let (x, w) = arguments(n, m);
        let (value, dx, dw) = results(&x, &w);
        let near = |a: f64, b: f64| (a - b).abs() <= 1e-12 * (1.0 + b.abs());
        assert!(near(energy(&x, &w), value));
        let (v, (cx, cw)) = energy_vjp(&x, &w, 1.0);
        assert!(near(v, value) && cx.iter().zip(&dx).chain(cw.iter().zip(&dw)).all(|(a, b)| near(*a, *b)));
        let (v, tangent) = energy_jvp(&x, &w, &x, &w);
        assert!(near(v, value) && near(tangent, (&x * &dx).sum() + w.dot(&dw)));
    }
}

/// "with threads or without": in concurrent threads, and one after another.
#[test]
fn the_same_bits_in_threads() {
    let (x, w) = arguments(65, 33);
    let expected = results(&x, &w).bits();
    std::thread::scope(|scope| {
        for layout in LAYOUTS.into_iter().chain(LAYOUTS) {
            let (x, w, expected) = (&x, &w, &expected);
            scope.spawn(move || {
                for _ in 0..3 {
                    assert_eq!(&results(&stored(x, layout), &stored(w, layout)).bits(), expected, "{layout:?}");
                }
            });
        }
    });
    assert_eq!(results(&x, &w).bits(), expected);
}

#[differentiate(grad, vjp, jvp, hvp)]
fn empty(x: &Array2<f64>, w: &Array1<f64>) -> f64 {
    let y = x.dot(w).mapv(f64::exp);
    let mut carried = 1.0;
    for row in x.outer_iter() {
        carried *= row.sum() + 1.0;
    }
    y.sum() + x.sum_axis(Axis(1)).sum() + w.len() as f64 + carried
}

/// "Zero-sized arrays, non-contiguous and reversed views are ordinary inputs."
#[test]
fn sizes_of_zero() {
    for (n, m) in [(0, 0), (0, 3), (3, 0)] {
        let (x, w) = (Array2::<f64>::zeros((n, m)), Array1::<f64>::ones(m));
        let (value, (dx, dw)) = empty_value_and_grad(&x, &w);
        assert_eq!(value, empty(&x, &w), "{n} {m}");
        assert_eq!((dx.dim(), dw.dim()), ((n, m), m));
        assert_eq!(dw, Array1::<f64>::zeros(m));
        assert_eq!(empty_jvp(&x, &w, &x, &w), (value, 0.0));
        assert_eq!(empty_vjp(&x, &w, 1.0).1.1, dw);
        assert_eq!(empty_hvp(&x, &w, &x, &w).1, dw);
    }
}

#[test]
fn noncontiguous_views_are_ordinary_inputs() {
    let wide = Array2::from_shape_fn((9, 8), |(i, j)| ((i + 3 * j) as f64).sin());
    let w = array![0.5, -1.0, 2.0];
    for view in [
        wide.slice(s![..;-1, ..3]),
        wide.slice(s![1..;3, ..;-3]),
        wide.t().slice(s![..;2, 3..6]),
        wide.t().slice(s![..0, ..;-3]),
        wide.slice(s![4..5, 5..]).reversed_axes().reversed_axes(),
    ] {
        let owned = view.as_standard_layout().into_owned();
        if owned.is_empty() {
            // An empty array has no maximum.
            assert!(std::panic::catch_unwind(|| energy_grad(&view, &w)).is_err());
            assert!(std::panic::catch_unwind(|| energy(&view, &w)).is_err());
            continue;
        }
        assert_eq!(results(&view, &w).bits(), results(&owned, &w).bits(), "{:?}", view.strides());
    }
}
