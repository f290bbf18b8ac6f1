//! Small models: networks, convolutions, a mixture, a camera.

use ad::prelude::*;

use super::{Case, differentiate};

#[differentiate]
fn relu_layers(w1: &Array2<f64>, b1: &Array1<f64>, w2: &Array2<f64>, b2: &Array1<f64>, x: &Array1<f64>) -> Array1<f64> {
    let relu = |v: f64| v.max(0.0);
    let hidden = (w1.dot(x) + b1).mapv(relu);
    let out = (w2.dot(&hidden) + b2).mapv(relu);
    let exponentials = (&out - maximum(&out)).mapv(f64::exp);
    &exponentials / exponentials.sum()
}

#[test]
fn two_layers_and_softmax() {
    Case::in_every_layout("dualrev-neural-softmax", |case| {
        let (value, (w1, b1, w2, b2, x)) = relu_layers_vjp(
            &case.input("W1"),
            &case.input("b1"),
            &case.input("W2"),
            &case.input("b2"),
            &case.input("x"),
            &case.cotangent::<Array1<f64>>(),
        );
        case.check(&value, &[("W1", &w1), ("b1", &b1), ("W2", &w2), ("b2", &b2), ("x", &x)]);
    });
}

#[differentiate(wrt(w1, b1, w2, b2, w3, b3))]
#[expect(clippy::too_many_arguments, reason = "three layers, an image, its label")]
fn fully_connected(
    w1: &Array2<f64>,
    b1: &Array1<f64>,
    w2: &Array2<f64>,
    b2: &Array1<f64>,
    w3: &Array2<f64>,
    b3: &Array1<f64>,
    x: &Array1<f64>,
    t: &Array1<f64>,
) -> f64 {
    let logistic = |v: f64| 1.0 / (1.0 + (-v).exp());
    let first = (w1.dot(x) + b1).mapv(logistic);
    let second = (w2.dot(&first) + b2).mapv(logistic);
    let scores = w3.dot(&second) + b3;
    let exponentials = scores.mapv(f64::exp);
    let probabilities = &exponentials / exponentials.sum();
    -(probabilities.mapv(f64::ln) * t).sum()
}

#[test]
fn three_layers_and_cross_entropy() {
    Case::in_every_layout("horde-mnist-fcnn-small", |case| {
        let (value, (w1, b1, w2, b2, w3, b3)) = fully_connected_value_and_grad(
            &case.input("W1"),
            &case.input("b1"),
            &case.input("W2"),
            &case.input("b2"),
            &case.input("W3"),
            &case.input("b3"),
            &case.input("x"),
            &case.input("t"),
        );
        case.check(&value, &[("W1", &w1), ("b1", &b1), ("W2", &w2), ("b2", &b2), ("W3", &w3), ("b3", &b3)]);
    });
}

#[differentiate]
fn rotate(v: &Array1<f64>, q: &Array1<f64>) -> Array1<f64> {
    let u = build1(3, |i| q[i]);
    let s = q[3];
    let cross = build1(3, |i| {
        let j = (i + 1) % 3;
        let k = (i + 2) % 3;
        u[j] * v[k] - u[k] * v[j]
    });
    2.0 * u.dot(v) * &u + (s * s - u.dot(&u)) * v + 2.0 * s * cross
}

#[test]
fn rotation_by_a_quaternion() {
    Case::in_every_layout("dualrev-rotate_vec_by_quat-row2", |case| {
        let cotangent: Array1<f64> = case.cotangent();
        let (value, (v, q)) = rotate_vjp(&case.input("v"), &case.input("q"), &cotangent);
        case.check(&value, &[("v", &v), ("q", &q)]);
    });
}

/// Rodrigues' rotation, perspective, radial distortion. The camera: rotation (3),
/// centre (3), focal length, principal point (2), distortion (2).
#[differentiate(wrt(camera, point, weight))]
fn reprojection(camera: &ArrayRef1<f64>, point: ArrayView1<'_, f64>, weight: f64, feature: &[f64]) -> Array1<f64> {
    let rotation = build1(3, |i| camera[i]);
    let offset = build1(3, |i| point[i] - camera[3 + i]);
    let angle = rotation.dot(&rotation).sqrt();
    let axis = &rotation / angle;
    let cross = build1(3, |i| {
        let j = (i + 1) % 3;
        let k = (i + 2) % 3;
        axis[j] * offset[k] - axis[k] * offset[j]
    });
    let along = axis.dot(&offset) * (1.0 - angle.cos());
    let seen = &offset * angle.cos() + cross * angle.sin() + &axis * along;
    let flat = build1(2, |i| seen[i] / seen[2]);
    let q = flat.dot(&flat);
    let bend = 1.0 + camera[9] * q + camera[10] * q * q;
    build1(2, |i| weight * (camera[6] * flat[i] * bend + camera[7 + i] - feature[i]))
}

#[test]
fn bundle_adjustment() {
    Case::in_every_layout("adbench-ba-row0", |case| {
        let camera: Array1<f64> = case.input("cam");
        let point: Array1<f64> = case.input("X");
        let feature: Vec<f64> = case.input("feat");
        let cotangent: Array1<f64> = case.cotangent();
        let (value, (camera, point, weight)) =
            reprojection_vjp(&camera, point.view(), case.input("w"), &feature, &cotangent);
        case.check(&value, &[("cam", &camera), ("X", &point), ("w", &weight)]);
    });
}

/// `factors`: for each component the logarithms of a triangular matrix's diagonal, then the
/// elements below it, column by column.
#[differentiate(wrt(alphas, means, factors))]
fn mixture(alphas: &Array1<f64>, means: &Array2<f64>, factors: &Array2<f64>, x: &Array2<f64>, log_gamma: f64) -> f64 {
    let n = x.nrows();
    let k = means.nrows();
    let d = means.ncols();
    let triangular = |c: usize, i: usize, j: usize| {
        if i == j {
            factors[[c, j]].exp()
        } else if i > j {
            factors[[c, d + j * (2 * d - j - 1) / 2 + i - j - 1]]
        } else {
            0.0
        }
    };
    let exponents = build([n, k], |[i, c]| {
        let z = build1(d, |a| build1(d, |b| triangular(c, a, b) * (x[[i, b]] - means[[c, b]])).sum());
        alphas[c] + build1(d, |j| factors[[c, j]]).sum() - 0.5 * z.dot(&z)
    });
    let fit = build1(n, |i| logsumexp(&exponents.row(i))).sum() - n as f64 * logsumexp(alphas);

    let squares = build([k, factors.ncols()], |[c, j]| {
        let entry = if j < d { factors[[c, j]].exp() } else { factors[[c, j]] };
        entry * entry
    });
    let degrees = (d * (d + 1)) as f64;
    let wishart = -0.5 * degrees * std::f64::consts::LN_2 - log_gamma;
    let normal = -0.5 * (n * d) as f64 * std::f64::consts::TAU.ln();
    normal + fit + 0.5 * squares.sum() - k as f64 * wishart
}

#[test]
fn gaussian_mixture() {
    Case::in_every_layout("ksc-gmm-adbench-test", |case| {
        // the logarithm of the bivariate gamma function at 3/2
        let log_gamma = std::f64::consts::PI.ln() - std::f64::consts::LN_2;
        let (value, (alphas, means, factors)) = mixture_value_and_grad(
            &case.input("alphas"),
            &case.input("means"),
            &case.input("icf"),
            &case.input("x"),
            log_gamma,
        );
        case.check(&value, &[("alphas", &alphas), ("means", &means), ("icf", &factors)]);
    });
}

#[differentiate]
fn convolution_1d(kernels: &Array3<f64>, image: &Array2<f64>) -> Array2<f64> {
    let channels = kernels.shape()[1];
    let width = kernels.shape()[2];
    let n = image.ncols();
    build([kernels.shape()[0], n], |[k, i]| {
        let products = build([channels, width], |[l, c]| {
            let end = i + width / 2;
            let inside = c <= end && end - c < n;
            if inside { image[[l, end - c]] * kernels[[k, l, c]] } else { 0.0 }
        });
        products.sum()
    })
}

#[test]
fn one_dimension() {
    Case::in_every_layout("ksc-conv1d", |case| {
        let cotangent: Array2<f64> = case.cotangent();
        let (value, (kernels, image)) = convolution_1d_vjp(&case.input("ker"), &case.input("img"), &cotangent);
        case.check(&value, &[("ker", &kernels), ("img", &image)]);
    });
}

/// Images and kernels as stacks of planes: plane `n * channels + c` of the images,
/// `o * channels + c` of the kernels, `n * outputs + o` of the result.
/// `up` and `left` are the size of the border of zeros on these sides.
#[differentiate(wrt(kernels, images))]
fn convolution(kernels: &Array3<f64>, images: &Array3<f64>, channels: usize, up: usize, left: usize) -> Array3<f64> {
    let outputs = kernels.shape()[0] / channels;
    let batch = images.shape()[0] / channels;
    let height = images.shape()[1];
    let width = images.shape()[2];
    let window = [channels, kernels.shape()[1], kernels.shape()[2]];
    build([batch * outputs, height, width], |[p, y, x]| {
        let n = p / outputs;
        let o = p % outputs;
        let products = build(window, |[c, a, b]| {
            let inside = y + a >= up && y + a - up < height && x + b >= left && x + b - left < width;
            if inside {
                images[[n * channels + c, y + a - up, x + b - left]] * kernels[[o * channels + c, a, b]]
            } else {
                0.0
            }
        });
        products.sum()
    })
}

#[test]
fn two_dimensions_gradient_of_the_images() {
    Case::in_every_layout("horde-conv-same-img-t16", |case| {
        let images: Array3<f64> = case.reshaped("X", [4, 2, 2]);
        let kernels: Array3<f64> = case.reshaped("C", [4, 2, 2]);
        let ones: Array3<f64> = case.ones_like(&[4, 2, 2]);
        let (value, (_, images)) = convolution_vjp(&kernels, &images, 2, 0, 0, &ones);
        case.check(&value, &[("X", &images)]);
    });
}

#[test]
fn kernels_larger_than_the_images() {
    Case::in_every_layout("horde-conv-same-img-big-t128b", |case| {
        let images: Array3<f64> = case.reshaped("X", [6, 4, 2]);
        let kernels: Array3<f64> = case.reshaped("C", [8, 4, 4]);
        let ones: Array3<f64> = case.ones_like(&[12, 4, 2]);
        let (value, (_, images)) = convolution_vjp(&kernels, &images, 2, 0, 0, &ones);
        case.check(&value, &[("X", &images)]);
    });
}

#[test]
fn two_dimensions_gradient_of_the_kernels() {
    Case::in_every_layout("horde-conv-same-ker-big-t16", |case| {
        let kernels: Array3<f64> = case.reshaped("X", [6, 4, 2]);
        let images: Array3<f64> = case.reshaped("C", [4, 2, 2]);
        let ones: Array3<f64> = case.ones_like(&[6, 2, 2]);
        let (value, (kernels, _)) = convolution_vjp(&kernels, &images, 2, 0, 0, &ones);
        case.check(&value, &[("X", &kernels)]);
    });
}

#[test]
fn border_on_both_sides() {
    Case::in_every_layout("horde-conv-padded-ker-big-t16", |case| {
        let kernels: Array3<f64> = case.reshaped("X", [6, 4, 2]);
        let images: Array3<f64> = case.reshaped("C", [4, 2, 2]);
        let ones: Array3<f64> = case.ones_like(&[6, 2, 2]);
        let (value, (kernels, _)) = convolution_vjp(&kernels, &images, 2, 2, 1, &ones);
        case.check(&value, &[("X", &kernels)]);
    });
}

/// How much the left image differs from the right one moved by 0, 1, ... columns.
#[differentiate(wrt(right))]
fn disparities(left: &Array3<f64>, right: &Array3<f64>, n: usize) -> Array3<f64> {
    let channels = left.shape()[0];
    build([n, left.shape()[1], left.shape()[2]], |[d, y, x]| {
        let differences = build1(channels, |c| {
            let moved = if d <= x { right[[c, y, x - d]] } else { 0.0 };
            (left[[c, y, x]] - moved).abs()
        });
        differences.sum()
    })
}

#[test]
fn stereo_disparity() {
    Case::in_every_layout("horde-disparity-small-R", |case| {
        let left: Array3<f64> = case.reshaped("L", [2, 3, 2]);
        let right: Array3<f64> = case.reshaped("R", [2, 3, 2]);
        let ones: Array3<f64> = case.ones_like(&[4, 3, 2]);
        let (value, right) = disparities_vjp(&left, &right, 4, &ones);
        case.check(&value, &[("R", &right)]);
    });
}
