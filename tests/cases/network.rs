//! Networks of convolutions: arrays of rank 4.

use ad::prelude::*;

use super::{Case, differentiate};

/// Kernels are centred on each pixel, with zeros around the image.
#[differentiate]
#[expect(clippy::too_many_arguments, reason = "an image and four layers")]
fn lenet(
    img: &Array3<f64>,
    k1: &Array4<f64>,
    b1: &Array1<f64>,
    k2: &Array4<f64>,
    b2: &Array1<f64>,
    d1: &Array4<f64>,
    e1: &Array1<f64>,
    d2: &Array2<f64>,
    e2: &Array1<f64>,
) -> Array1<f64> {
    let relu = |v: f64| v.max(0.0);
    let convolution = |kernels: &Array4<f64>, bias: &Array1<f64>, x: &Array3<f64>| {
        let (channels, n, m) = x.dim();
        let (outputs, _, height, width) = kernels.dim();
        let (up, left) = (height / 2, width / 2);
        build([outputs, n, m], |[k, i, j]| {
            let products = build([channels, height, width], |[l, a, c]| {
                let inside = i + a >= up && i + a - up < n && j + c >= left && j + c - left < m;
                if inside { x[[l, i + a - up, j + c - left]] * kernels[[k, l, a, c]] } else { 0.0 }
            });
            products.sum() + bias[k]
        })
    };
    let pool = |x: &Array3<f64>| {
        let (channels, n, m) = x.dim();
        build([channels, n / 2, m / 2], |[k, i, j]| {
            let row = |i: usize| x[[k, i, 2 * j]].max(x[[k, i, 2 * j + 1]]);
            row(2 * i).max(row(2 * i + 1))
        })
    };
    let first = pool(&convolution(k1, b1, img).mapv(relu));
    let second = pool(&convolution(k2, b2, &first).mapv(relu));
    let (k, n, m) = second.dim();
    let dense = build1(e1.len(), |o| {
        let products = build([k, n, m], |[k, i, j]| d1[[o, k, i, j]] * second[[k, i, j]]);
        products.sum() + e1[o]
    });
    d2.dot(&dense.mapv(relu)) + e2
}

#[test]
fn one_image() {
    Case::in_every_layout("ksc-mnistcnn-small", |case| {
        let cotangent: Array1<f64> = case.cotangent();
        let (value, (img, k1, b1, k2, b2, d1, e1, d2, e2)) = lenet_vjp(
            &case.input("img"),
            &case.input("k1"),
            &case.input("b1"),
            &case.input("k2"),
            &case.input("b2"),
            &case.input("d1"),
            &case.input("e1"),
            &case.input("d2"),
            &case.input("e2"),
            &cotangent,
        );
        case.check(
            &value,
            &[
                ("img", &img),
                ("k1", &k1),
                ("b1", &b1),
                ("k2", &k2),
                ("b2", &b2),
                ("d1", &d1),
                ("e1", &e1),
                ("d2", &d2),
                ("e2", &e2),
            ],
        );
    });
}

/// Kernels reach to the right and down, with zeros after the image; the softmax is over all outputs
/// of all images.
#[differentiate(wrt(k1, b1, k2, b2, w, c, r, d))]
#[expect(clippy::too_many_arguments, reason = "four layers, images, their labels")]
fn batch(
    k1: &Array4<f64>,
    b1: &Array1<f64>,
    k2: &Array4<f64>,
    b2: &Array1<f64>,
    w: &Array2<f64>,
    c: &Array1<f64>,
    r: &Array2<f64>,
    d: &Array1<f64>,
    img: &Array4<f64>,
    t: &Array2<f64>,
) -> f64 {
    let relu = |v: f64| if v <= 0.0 { 0.0 } else { v };
    let convolution = |kernels: &Array4<f64>, bias: &Array1<f64>, x: &Array4<f64>| {
        let (images, channels, n, m) = x.dim();
        let (outputs, _, height, width) = kernels.dim();
        build([images, outputs, n, m], |[q, o, i, j]| {
            let products = build([channels, height, width], |[l, a, b]| {
                if i + a < n && j + b < m { x[[q, l, i + a, j + b]] * kernels[[o, l, a, b]] } else { 0.0 }
            });
            products.sum() + bias[o]
        })
    };
    let pool = |x: &Array4<f64>| {
        let (images, channels, n, m) = x.dim();
        build([images, channels, n / 2, m / 2], |[q, k, i, j]| {
            let row = |i: usize| x[[q, k, i, 2 * j]].max(x[[q, k, i, 2 * j + 1]]);
            row(2 * i).max(row(2 * i + 1))
        })
    };
    let first = pool(&convolution(k1, b1, img).mapv(relu));
    let second = pool(&convolution(k2, b2, &first).mapv(relu));
    let (images, channels, n, m) = second.dim();
    let flat = second.into_shape_with_order((images, channels * n * m)).unwrap();
    let dense = (w.dot(&flat.t()) + &c.clone().insert_axis(Axis(1))).mapv(relu);
    let out = r.dot(&dense) + &d.clone().insert_axis(Axis(1));
    let exponentials = (&out - maximum(&out)).mapv(f64::exp);
    let probabilities = &exponentials / exponentials.sum();
    -(probabilities.mapv(f64::ln) * t).sum() / images as f64
}

#[test]
fn several_images() {
    Case::in_every_layout("horde-mnist-cnn-small", |case| {
        let (value, (k1, b1, k2, b2, w, c, r, d)) = batch_value_and_grad(
            &case.input("k1"),
            &case.input("b1"),
            &case.input("k2"),
            &case.input("b2"),
            &case.input("W"),
            &case.input("c"),
            &case.input("R"),
            &case.input("d"),
            &case.input("img"),
            &case.input("t"),
        );
        case.check(
            &value,
            &[("k1", &k1), ("b1", &b1), ("k2", &k2), ("b2", &b2), ("W", &w), ("c", &c), ("R", &r), ("d", &d)],
        );
    });
}
