//! Images: a convolution, registration by a shift, total variation, and a normalised layer.

use ad::ndarray::{Array1, Array2};
use ad::prelude::*;

use super::{Data, Table};

/// A filter of 3 x 3, a rectifier, and a squared error.
#[differentiate(wrt(filter, bias))]
fn convolution(filter: &Array2<f64>, bias: f64, image: &Array2<f64>, wanted: &Array2<f64>) -> f64 {
    let (h, w) = wanted.dim();
    let mut total = 0.0;
    for i in 0..h {
        for j in 0..w {
            let mut sum = bias;
            for a in 0..3 {
                for b in 0..3 {
                    sum += filter[[a, b]] * image[[i + a, j + b]];
                }
            }
            total += (sum.max(0.0) - wanted[[i, j]]).powi(2);
        }
    }
    total
}

fn convolution_by_hand(
    filter: &Array2<f64>,
    bias: f64,
    image: &Array2<f64>,
    wanted: &Array2<f64>,
) -> (f64, (Array2<f64>, f64)) {
    let (h, w) = wanted.dim();
    let width = image.ncols();
    let (image, wanted) = (image.as_slice().unwrap(), wanted.as_slice().unwrap());
    let f: [f64; 9] = filter.as_slice().unwrap().try_into().unwrap();
    let (mut total, mut df, mut dbias) = (0.0, [0.0; 9], 0.0);
    for i in 0..h {
        let rows = [0, 1, 2].map(|a| &image[(i + a) * width..][..w + 2]);
        for j in 0..w {
            let mut sum = bias;
            for a in 0..3 {
                for b in 0..3 {
                    sum += f[3 * a + b] * rows[a][j + b];
                }
            }
            let e = sum.max(0.0) - wanted[i * w + j];
            total += e * e;
            if sum > 0.0 {
                let g = 2.0 * e;
                dbias += g;
                for a in 0..3 {
                    for b in 0..3 {
                        df[3 * a + b] += g * rows[a][j + b];
                    }
                }
            }
        }
    }
    (total, (Array2::from_shape_vec((3, 3), df.to_vec()).unwrap(), dbias))
}

/// An image moved by a shift and sampled between its pixels, compared with another one.
#[differentiate(wrt(shift, gain))]
fn registration(shift: [f64; 2], gain: f64, moving: &Array2<f64>, fixed: &Array2<f64>) -> f64 {
    let (h, w) = fixed.dim();
    let mut total = 0.0;
    for i in 0..h {
        for j in 0..w {
            let (y, x) = (i as f64 + shift[0], j as f64 + shift[1]);
            if y >= 0.0 && x >= 0.0 && y < (h - 1) as f64 && x < (w - 1) as f64 {
                let (r, c) = (y.floor() as usize, x.floor() as usize);
                let (fy, fx) = (y - y.floor(), x - x.floor());
                let top = moving[[r, c]] * (1.0 - fx) + moving[[r, c + 1]] * fx;
                let bottom = moving[[r + 1, c]] * (1.0 - fx) + moving[[r + 1, c + 1]] * fx;
                let e = gain * (top * (1.0 - fy) + bottom * fy) - fixed[[i, j]];
                total += e * e;
            }
        }
    }
    total
}

fn registration_by_hand(
    shift: [f64; 2],
    gain: f64,
    moving: &Array2<f64>,
    fixed: &Array2<f64>,
) -> (f64, ([f64; 2], f64)) {
    let (h, w) = fixed.dim();
    let (mut total, mut ds, mut dgain) = (0.0, [0.0; 2], 0.0);
    for i in 0..h {
        for j in 0..w {
            let (y, x) = (i as f64 + shift[0], j as f64 + shift[1]);
            if y >= 0.0 && x >= 0.0 && y < (h - 1) as f64 && x < (w - 1) as f64 {
                let (r, c) = (y as usize, x as usize);
                let (fy, fx) = (y - r as f64, x - c as f64);
                let [p, q] = [moving[[r, c]], moving[[r, c + 1]]];
                let [s, t] = [moving[[r + 1, c]], moving[[r + 1, c + 1]]];
                let (top, bottom) = (p + (q - p) * fx, s + (t - s) * fx);
                let sample = top + (bottom - top) * fy;
                let e = gain * sample - fixed[[i, j]];
                total += e * e;
                let g = 2.0 * e;
                dgain += g * sample;
                ds[0] += g * gain * (bottom - top);
                ds[1] += g * gain * ((q - p) * (1.0 - fy) + (t - s) * fy);
            }
        }
    }
    (total, (ds, dgain))
}

/// Denoising: an image near a noisy one, with smooth lengths of its slopes.
#[differentiate(wrt(image))]
fn variation(image: &Array2<f64>, noisy: &Array2<f64>) -> f64 {
    let (h, w) = image.dim();
    let near = (image - noisy).mapv(|d| d * d).sum();
    let mut slopes = 0.0;
    for i in 0..h - 1 {
        for j in 0..w - 1 {
            let dx = image[[i, j + 1]] - image[[i, j]];
            let dy = image[[i + 1, j]] - image[[i, j]];
            slopes += (dx * dx + dy * dy + 1e-6).sqrt();
        }
    }
    0.5 * near + 0.1 * slopes
}

fn variation_by_hand(image: &Array2<f64>, noisy: &Array2<f64>) -> (f64, Array2<f64>) {
    let (h, w) = image.dim();
    let (p, q) = (image.as_slice().unwrap(), noisy.as_slice().unwrap());
    let mut d: Vec<f64> = p.iter().zip(q).map(|(p, q)| p - q).collect();
    let near: f64 = d.iter().map(|d| d * d).sum();
    let mut slopes = 0.0;
    for i in 0..h - 1 {
        for j in 0..w - 1 {
            let k = i * w + j;
            let (dx, dy) = (p[k + 1] - p[k], p[k + w] - p[k]);
            let s = (dx * dx + dy * dy + 1e-6).sqrt();
            slopes += s;
            let g = 0.1 / s;
            d[k + 1] += g * dx;
            d[k + w] += g * dy;
            d[k] -= g * (dx + dy);
        }
    }
    (0.5 * near + 0.1 * slopes, Array2::from_shape_vec((h, w), d).unwrap())
}

/// A layer whose rows are normalised before a rectifier, and a squared error.
#[differentiate(wrt(w, scale))]
fn normalised(w: &Array2<f64>, scale: &Array1<f64>, x: &Array2<f64>, wanted: &Array2<f64>) -> f64 {
    let z = x.dot(w);
    let mean = z.mean_axis(Axis(1)).unwrap().insert_axis(Axis(1));
    let centred = &z - &mean;
    let variance = centred.mapv(|c| c * c).mean_axis(Axis(1)).unwrap().insert_axis(Axis(1));
    let out = relu(&(&centred / &variance.mapv(|v| (v + 1e-5).sqrt()) * scale));
    (&out - wanted).mapv(|d| d * d).sum()
}

fn normalised_by_hand(
    w: &Array2<f64>,
    scale: &Array1<f64>,
    x: &Array2<f64>,
    wanted: &Array2<f64>,
) -> (f64, (Array2<f64>, Array1<f64>)) {
    let mut z = x.dot(w);
    let columns = z.ncols();
    let n = columns as f64;
    let s = scale.as_slice().unwrap();
    let (mut total, mut ds) = (0.0, vec![0.0; columns]);
    for (z, y) in
        z.as_slice_mut().unwrap().chunks_exact_mut(columns).zip(wanted.as_slice().unwrap().chunks_exact(columns))
    {
        let mean = z.iter().sum::<f64>() / n;
        let variance = z.iter().map(|z| (z - mean) * (z - mean)).sum::<f64>() / n;
        let inverse = 1.0 / (variance + 1e-5).sqrt();
        let (mut sum, mut product) = (0.0, 0.0);
        for j in 0..columns {
            let normal = (z[j] - mean) * inverse;
            let out = normal * s[j];
            let e = out.max(0.0) - y[j];
            total += e * e;
            if out > 0.0 {
                ds[j] += 2.0 * e * normal;
                sum += 2.0 * e * s[j];
                product += 2.0 * e * s[j] * normal;
            }
        }
        for j in 0..columns {
            let normal = (z[j] - mean) * inverse;
            let out = normal * s[j];
            let g = if out > 0.0 { 2.0 * (out - y[j]) * s[j] } else { 0.0 };
            z[j] = inverse * (g - sum / n - normal * product / n);
        }
    }
    (total, (x.t().dot(&z), Array1::from(ds)))
}

pub fn rows(table: &mut Table) {
    let mut data = Data::new(7);
    {
        let (filter, image, wanted) = (data.matrix(3, 3), data.matrix(66, 66), data.matrix(64, 64));
        table.row(
            "filter of 3 x 3 over 64 x 64",
            || convolution_by_hand(&filter, 0.1, &image, &wanted),
            || convolution_value_and_grad(&filter, 0.1, &image, &wanted),
            || convolution(&filter, 0.1, &image, &wanted),
        );
    }
    {
        let (moving, fixed) = (data.matrix(64, 64), data.matrix(64, 64));
        table.row(
            "registration, 64 x 64",
            || registration_by_hand([1.3, -2.6], 0.9, &moving, &fixed),
            || registration_value_and_grad([1.3, -2.6], 0.9, &moving, &fixed),
            || registration([1.3, -2.6], 0.9, &moving, &fixed),
        );
    }
    {
        let (image, noisy) = (data.matrix(128, 128), data.matrix(128, 128));
        table.row(
            "total variation, 128 x 128",
            || variation_by_hand(&image, &noisy),
            || variation_value_and_grad(&image, &noisy),
            || variation(&image, &noisy),
        );
    }
    {
        let (w, scale) = (data.matrix(64, 32), Array1::from(data.positive(32)));
        let (x, wanted) = (data.matrix(200, 64), data.matrix(200, 32));
        table.row(
            "normalised layer, 200 x 64 x 32",
            || normalised_by_hand(&w, &scale, &x, &wanted),
            || normalised_value_and_grad(&w, &scale, &x, &wanted),
            || normalised(&w, &scale, &x, &wanted),
        );
    }
}
