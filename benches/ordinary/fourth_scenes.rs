//! The fourth set, scenes and images. Its author knew neither the
//! compiler's mechanisms nor the other sets' programs. It shows where the compiler is slow.

use ad::ndarray::{Array2, Array3, Array4};
use ad::prelude::*;

use super::{Data, Table};

/// An image of spheres, held against another.
#[differentiate(wrt(centre, radius, colour))]
fn render(centre: &[[f64; 3]], radius: &[f64], colour: &[f64], light: [f64; 3], image: &Array2<f64>) -> f64 {
    let dot = |a: [f64; 3], b: [f64; 3]| a[0] * b[0] + a[1] * b[1] + a[2] * b[2];
    let (h, w) = image.dim();
    let mut loss = 0.0;
    for y in 0..h {
        for x in 0..w {
            let (u, v) = ((x as f64 + 0.5) / w as f64 - 0.5, (y as f64 + 0.5) / h as f64 - 0.5);
            let len = (u * u + v * v + 1.0).sqrt();
            let ray = [u / len, v / len, 1.0 / len];
            let mut nearest = f64::INFINITY;
            let mut hit = centre.len();
            for i in 0..centre.len() {
                let b = dot(ray, centre[i]);
                let disc = b * b - dot(centre[i], centre[i]) + radius[i] * radius[i];
                if disc > 0.0 {
                    let t = b - disc.sqrt();
                    if t > 0.0 && t < nearest {
                        nearest = t;
                        hit = i;
                    }
                }
            }
            let shade = if hit < centre.len() {
                let c = centre[hit];
                let n = [
                    (nearest * ray[0] - c[0]) / radius[hit],
                    (nearest * ray[1] - c[1]) / radius[hit],
                    (nearest * ray[2] - c[2]) / radius[hit],
                ];
                colour[hit] * (0.1 + 0.9 * dot(n, light).max(0.0))
            } else {
                0.05
            };
            loss += (shade - image[[y, x]]).powi(2);
        }
    }
    loss
}

type Spheres = (Vec<[f64; 3]>, Vec<f64>, Vec<f64>);

fn render_by_hand(
    centre: &[[f64; 3]],
    radius: &[f64],
    colour: &[f64],
    light: [f64; 3],
    image: &Array2<f64>,
) -> (f64, Spheres) {
    let dot = |a: [f64; 3], b: [f64; 3]| a[0] * b[0] + a[1] * b[1] + a[2] * b[2];
    let (h, w) = image.dim();
    let n = centre.len();
    let far: Vec<f64> = (0..n).map(|i| dot(centre[i], centre[i]) - radius[i] * radius[i]).collect();
    let (mut gc, mut gr, mut gcol) = (vec![[0.0; 3]; n], vec![0.0; n], vec![0.0; n]);
    let mut loss = 0.0;
    for y in 0..h {
        for x in 0..w {
            let (u, v) = ((x as f64 + 0.5) / w as f64 - 0.5, (y as f64 + 0.5) / h as f64 - 0.5);
            let s = 1.0 / (u * u + v * v + 1.0).sqrt();
            let ray = [u * s, v * s, s];
            let mut best = (f64::INFINITY, n, 0.0, 0.0);
            for (i, (c, far)) in centre.iter().zip(&far).enumerate() {
                let b = dot(ray, *c);
                let disc = b * b - far;
                if disc > 0.0 {
                    let root = disc.sqrt();
                    let t = b - root;
                    if t > 0.0 && t < best.0 {
                        best = (t, i, b, root);
                    }
                }
            }
            let (t, i, b, root) = best;
            if i == n {
                let d = 0.05 - image[[y, x]];
                loss += d * d;
                continue;
            }
            let (c, r) = (centre[i], 1.0 / radius[i]);
            let n: [f64; 3] = std::array::from_fn(|k| (t * ray[k] - c[k]) * r);
            let lit = dot(n, light);
            let diffuse = 0.1 + 0.9 * lit.max(0.0);
            let d = colour[i] * diffuse - image[[y, x]];
            loss += d * d;
            let g = 2.0 * d;
            gcol[i] += g * diffuse;
            if lit > 0.0 {
                let gl = 0.9 * g * colour[i] * r;
                gr[i] -= gl * lit;
                let gt = gl * dot(light, ray);
                let gdisc = -0.5 * gt / root;
                let gb = gt + 2.0 * gdisc * b;
                gr[i] += 2.0 * gdisc * radius[i];
                for k in 0..3 {
                    gc[i][k] += gb * ray[k] - 2.0 * gdisc * c[k] - gl * light[k];
                }
            }
        }
    }
    (loss, (gc, gr, gcol))
}

/// A bicubic B-spline surface through scattered heights.
#[differentiate(wrt(net))]
fn surface(net: &Array2<f64>, at: &[[f64; 2]], height: &[f64]) -> f64 {
    let basis = |t: f64| {
        let r = 1.0 - t;
        [
            r * r * r / 6.0,
            (3.0 * t * t * t - 6.0 * t * t + 4.0) / 6.0,
            (-3.0 * t * t * t + 3.0 * t * t + 3.0 * t + 1.0) / 6.0,
            t * t * t / 6.0,
        ]
    };
    let mut loss = 0.0;
    for (p, z) in at.iter().zip(height) {
        let (i, j) = (p[0].floor() as usize, p[1].floor() as usize);
        let (bu, bv) = (basis(p[0] - p[0].floor()), basis(p[1] - p[1].floor()));
        let mut sum = 0.0;
        for a in 0..4 {
            for b in 0..4 {
                sum += bu[a] * bv[b] * net[[i + a, j + b]];
            }
        }
        loss += (sum - z).powi(2);
    }
    loss
}

fn surface_by_hand(net: &Array2<f64>, at: &[[f64; 2]], height: &[f64]) -> (f64, Array2<f64>) {
    let basis = |t: f64| {
        let (r, t2) = (1.0 - t, t * t);
        let t3 = t2 * t;
        const S: f64 = 1.0 / 6.0;
        [r * r * r * S, (3.0 * t3 - 6.0 * t2 + 4.0) * S, (3.0 * (t2 + t - t3) + 1.0) * S, t3 * S]
    };
    let w = net.ncols();
    let values = net.as_slice().unwrap();
    let mut g = vec![0.0; values.len()];
    let mut loss = 0.0;
    for (p, z) in at.iter().zip(height) {
        let (i, j) = (p[0] as usize, p[1] as usize);
        let (bu, bv) = (basis(p[0] - i as f64), basis(p[1] - j as f64));
        let mut sum = 0.0;
        for a in 0..4 {
            let row = &values[(i + a) * w + j..][..4];
            sum += bu[a] * (bv[0] * row[0] + bv[1] * row[1] + bv[2] * row[2] + bv[3] * row[3]);
        }
        let d = sum - z;
        loss += d * d;
        for a in 0..4 {
            let row = &mut g[(i + a) * w + j..][..4];
            let s = 2.0 * d * bu[a];
            for b in 0..4 {
                row[b] += s * bv[b];
            }
        }
    }
    (loss, Array2::from_shape_vec(net.dim(), g).unwrap())
}

/// Rays through the spherical surfaces of a lens.
#[differentiate(wrt(curve, gap))]
fn lens(curve: &[f64], gap: &[f64], index: &[f64], heights: &[f64], angle: f64) -> f64 {
    let mut loss = 0.0;
    for &height in heights {
        let (mut y, mut z) = (height, 0.0);
        let (mut m, mut n) = (angle.sin(), angle.cos());
        for s in 0..curve.len() {
            let c = curve[s];
            let b = n - c * (y * m + z * n);
            let f = c * (y * y + z * z) - 2.0 * z;
            let t = f / (b + (b * b - c * f).sqrt());
            y += t * m;
            z += t * n;
            let p = 1.0 - c * z;
            let mu = index[s] / index[s + 1];
            let cos_in = n * p - c * y * m;
            let cos_out = (1.0 - mu * mu * (1.0 - cos_in * cos_in)).sqrt();
            let k = cos_out - mu * cos_in;
            m = mu * m - k * c * y;
            n = mu * n + k * p;
            z -= gap[s];
        }
        let image = y - z * m / n;
        loss += image * image;
    }
    loss / heights.len() as f64
}

fn lens_by_hand(curve: &[f64], gap: &[f64], index: &[f64], heights: &[f64], angle: f64) -> (f64, (Vec<f64>, Vec<f64>)) {
    let surfaces = curve.len();
    let (sin, cos) = angle.sin_cos();
    let mus: Vec<f64> = (0..surfaces).map(|s| index[s] / index[s + 1]).collect();
    let mut path = vec![[0.0; 8]; surfaces];
    let (mut gcurve, mut ggap) = (vec![0.0; surfaces], vec![0.0; surfaces]);
    let scale = 1.0 / heights.len() as f64;
    let mut loss = 0.0;
    for &height in heights {
        let (mut y, mut z, mut m, mut n) = (height, 0.0, sin, cos);
        for s in 0..surfaces {
            let (c, mu) = (curve[s], mus[s]);
            let b = n - c * (y * m + z * n);
            let f = c * (y * y + z * z) - 2.0 * z;
            let root = (b * b - c * f).sqrt();
            let q = 1.0 / (b + root);
            let t = f * q;
            let (y1, z1) = (y + t * m, z + t * n);
            let p = 1.0 - c * z1;
            let cos_in = n * p - c * y1 * m;
            let cos_out = (1.0 - mu * mu * (1.0 - cos_in * cos_in)).sqrt();
            path[s] = [y, z, m, n, root, q, cos_in, cos_out];
            let k = cos_out - mu * cos_in;
            (m, n) = (mu * m - k * c * y1, mu * n + k * p);
            (y, z) = (y1, z1 - gap[s]);
        }
        let slope = m / n;
        let image = y - z * slope;
        loss += image * image;
        let g = 2.0 * image * scale;
        let (mut gy, mut gz, mut gm, mut gn) = (g, -g * slope, -g * z / n, g * z * slope / n);
        for s in (0..surfaces).rev() {
            let (c, mu) = (curve[s], mus[s]);
            let [y, z, m, n, root, q, cos_in, cos_out] = path[s];
            let b = 1.0 / q - root;
            let f = c * (y * y + z * z) - 2.0 * z;
            let t = f * q;
            let (y1, z1) = (y + t * m, z + t * n);
            let p = 1.0 - c * z1;
            let k = cos_out - mu * cos_in;
            ggap[s] -= gz;
            let gk = gn * p - gm * c * y1;
            let mut gc = -gm * k * y1;
            gy -= gm * k * c;
            let mut gp = gn * k;
            gm *= mu;
            gn *= mu;
            let gi = gk * (mu * mu * cos_in / cos_out - mu);
            gn += gi * p;
            gp += gi * n;
            gc -= gi * y1 * m;
            gy -= gi * c * m;
            gm -= gi * c * y1;
            gc -= gp * z1;
            gz -= gp * c;
            let gt = gy * m + gz * n;
            gm += gy * t;
            gn += gz * t;
            let gbd = -gt * t * q;
            let half = 0.5 * gbd / root;
            let gb = gbd + 2.0 * half * b;
            let gf = gt * q - half * c;
            gc -= half * f;
            gn += gb * (1.0 - c * z);
            gc -= gb * (y * m + z * n);
            gy -= gb * c * m;
            gm -= gb * c * y;
            gz -= gb * c * n;
            gc += gf * (y * y + z * z);
            gy += 2.0 * gf * c * y;
            gz += 2.0 * gf * (c * z - 1.0);
            gcurve[s] += gc;
        }
    }
    (loss * scale, (gcurve, ggap))
}

/// Area and volume of a closed mesh.
#[differentiate(wrt(vertices))]
fn mesh(vertices: &[[f64; 3]], faces: &[[usize; 3]], volume: f64) -> f64 {
    let sub = |a: [f64; 3], b: [f64; 3]| [a[0] - b[0], a[1] - b[1], a[2] - b[2]];
    let cross =
        |a: [f64; 3], b: [f64; 3]| [a[1] * b[2] - a[2] * b[1], a[2] * b[0] - a[0] * b[2], a[0] * b[1] - a[1] * b[0]];
    let dot = |a: [f64; 3], b: [f64; 3]| a[0] * b[0] + a[1] * b[1] + a[2] * b[2];
    let (mut area, mut inside) = (0.0, 0.0);
    for f in faces {
        let (a, b, c) = (vertices[f[0]], vertices[f[1]], vertices[f[2]]);
        let n = cross(sub(b, a), sub(c, a));
        area += 0.5 * dot(n, n).sqrt();
        inside += dot(a, cross(b, c)) / 6.0;
    }
    area + 10.0 * (inside - volume).powi(2)
}

fn mesh_by_hand(vertices: &[[f64; 3]], faces: &[[usize; 3]], volume: f64) -> (f64, Vec<[f64; 3]>) {
    let sub = |a: [f64; 3], b: [f64; 3]| [a[0] - b[0], a[1] - b[1], a[2] - b[2]];
    let cross =
        |a: [f64; 3], b: [f64; 3]| [a[1] * b[2] - a[2] * b[1], a[2] * b[0] - a[0] * b[2], a[0] * b[1] - a[1] * b[0]];
    let dot = |a: [f64; 3], b: [f64; 3]| a[0] * b[0] + a[1] * b[1] + a[2] * b[2];
    let mut inside = 0.0;
    for f in faces {
        inside += dot(vertices[f[0]], cross(vertices[f[1]], vertices[f[2]]));
    }
    inside /= 6.0;
    let gv = 20.0 * (inside - volume) / 6.0;
    let mut area = 0.0;
    let mut g = vec![[0.0; 3]; vertices.len()];
    for f in faces {
        let (a, b, c) = (vertices[f[0]], vertices[f[1]], vertices[f[2]]);
        let (e1, e2) = (sub(b, a), sub(c, a));
        let n = cross(e1, e2);
        let len = dot(n, n).sqrt();
        area += len;
        let u = n.map(|n| 0.5 * n / len);
        let (g1, g2) = (cross(e2, u), cross(u, e1));
        let (va, vb, vc) = (cross(b, c), cross(c, a), cross(a, b));
        for k in 0..3 {
            g[f[0]][k] += gv * va[k] - g1[k] - g2[k];
            g[f[1]][k] += gv * vb[k] + g1[k];
            g[f[2]][k] += gv * vc[k] + g2[k];
        }
    }
    (0.5 * area + 10.0 * (inside - volume) * (inside - volume), g)
}

/// Convolution, rectifier, pooling, dense layer, cross entropy.
#[differentiate(wrt(filters, bias, dense))]
fn pooled(filters: &Array3<f64>, bias: &[f64], dense: &Array4<f64>, images: &[Array2<f64>], labels: &[usize]) -> f64 {
    let (count, size, _) = filters.dim();
    let (classes, _, ph, pw) = dense.dim();
    let mut loss = 0.0;
    for (image, &label) in images.iter().zip(labels) {
        let mut scores = vec![0.0; classes];
        for f in 0..count {
            for py in 0..ph {
                for px in 0..pw {
                    let mut best: f64 = 0.0;
                    for dy in 0..2 {
                        for dx in 0..2 {
                            let (y, x) = (2 * py + dy, 2 * px + dx);
                            let mut sum = bias[f];
                            for i in 0..size {
                                for j in 0..size {
                                    sum += filters[[f, i, j]] * image[[y + i, x + j]];
                                }
                            }
                            best = best.max(sum);
                        }
                    }
                    for c in 0..classes {
                        scores[c] += dense[[c, f, py, px]] * best;
                    }
                }
            }
        }
        let norm = scores.iter().map(|s| s.exp()).sum::<f64>().ln();
        loss += norm - scores[label];
    }
    loss
}

type Net = (Array3<f64>, Vec<f64>, Array4<f64>);

fn pooled_by_hand(
    filters: &Array3<f64>,
    bias: &[f64],
    dense: &Array4<f64>,
    images: &[Array2<f64>],
    labels: &[usize],
) -> (f64, Net) {
    let (count, size, _) = filters.dim();
    let (classes, _, ph, pw) = dense.dim();
    let cells = count * ph * pw;
    let fs = filters.as_slice().unwrap();
    let ds = dense.as_slice().unwrap();
    let mut best = vec![(0.0, usize::MAX); cells];
    let (mut gf, mut gb, mut gd) = (vec![0.0; fs.len()], vec![0.0; count], vec![0.0; ds.len()]);
    let mut loss = 0.0;
    for (image, &label) in images.iter().zip(labels) {
        let w = image.ncols();
        let pixels = image.as_slice().unwrap();
        let mut scores = vec![0.0; classes];
        for f in 0..count {
            let filter = &fs[f * size * size..][..size * size];
            for py in 0..ph {
                for px in 0..pw {
                    let mut top = (0.0, usize::MAX);
                    for d in 0..4 {
                        let at = (2 * py + d / 2) * w + 2 * px + d % 2;
                        let mut sum = bias[f];
                        for i in 0..size {
                            let row = &pixels[at + i * w..][..size];
                            for (a, b) in row.iter().zip(&filter[i * size..][..size]) {
                                sum += a * b;
                            }
                        }
                        if sum > top.0 {
                            top = (sum, at);
                        }
                    }
                    best[(f * ph + py) * pw + px] = top;
                }
            }
        }
        for c in 0..classes {
            scores[c] = ds[c * cells..][..cells].iter().zip(&best).map(|(d, b)| d * b.0).sum();
        }
        let norm = scores.iter().map(|s| s.exp()).sum::<f64>().ln();
        loss += norm - scores[label];
        let gs: Vec<f64> = (0..classes).map(|c| (scores[c] - norm).exp() - f64::from(u8::from(c == label))).collect();
        for c in 0..classes {
            for (g, b) in gd[c * cells..][..cells].iter_mut().zip(&best) {
                *g += gs[c] * b.0;
            }
        }
        for f in 0..count {
            let filter = &mut gf[f * size * size..][..size * size];
            for p in 0..ph * pw {
                let (_, at) = best[f * ph * pw + p];
                if at == usize::MAX {
                    continue;
                }
                let g: f64 = (0..classes).map(|c| gs[c] * ds[c * cells + f * ph * pw + p]).sum();
                gb[f] += g;
                for i in 0..size {
                    let row = &pixels[at + i * w..][..size];
                    for (a, b) in row.iter().zip(&mut filter[i * size..][..size]) {
                        *b += g * a;
                    }
                }
            }
        }
    }
    (loss, (Array3::from_shape_vec(filters.dim(), gf).unwrap(), gb, Array4::from_shape_vec(dense.dim(), gd).unwrap()))
}

pub(super) fn rows(table: &mut Table) {
    let mut data = Data::new(103);
    let centre: Vec<[f64; 3]> =
        data.points::<3>(12).iter().map(|p| [3.0 * p[0], 3.0 * p[1], 4.0 + 2.0 * p[2]]).collect();
    let radius: Vec<f64> = data.positive(12).iter().map(|r| 0.5 * r).collect();
    let (colour, image) = (data.positive(12), data.matrix(64, 64));
    let light = [0.6, -0.48, -0.64];
    table.row(
        "spheres",
        || render_by_hand(&centre, &radius, &colour, light, &image),
        || render_value_and_grad(&centre, &radius, &colour, light, &image),
        || render(&centre, &radius, &colour, light, &image),
    );
    let net = data.matrix(24, 24);
    let at: Vec<[f64; 2]> = data.points::<2>(5000).iter().map(|p| p.map(|x| (x + 0.5) * 20.999)).collect();
    let height = data.numbers(5000);
    table.row(
        "spline surface",
        || surface_by_hand(&net, &at, &height),
        || surface_value_and_grad(&net, &at, &height),
        || surface(&net, &at, &height),
    );
    let curve = [0.02, -0.015, -0.03, 0.01, 0.025, -0.02, 0.012, -0.018];
    let gap = [4.0, 1.0, 2.0, 6.0, 3.0, 1.5, 4.0, 60.0];
    let index = [1.0, 1.52, 1.0, 1.62, 1.0, 1.5, 1.0, 1.7, 1.0];
    let heights: Vec<f64> = data.numbers(1000).iter().map(|h| 10.0 * h).collect();
    table.row(
        "lens",
        || lens_by_hand(&curve, &gap, &index, &heights, 0.05),
        || lens_value_and_grad(&curve, &gap, &index, &heights, 0.05),
        || lens(&curve, &gap, &index, &heights, 0.05),
    );
    let vertices = data.points::<3>(2000);
    let faces: Vec<[usize; 3]> = (0..8000)
        .map(|_| {
            let a = data.0.usize(..1990);
            [a, a + 1 + data.0.usize(..4), a + 5 + data.0.usize(..4)]
        })
        .collect();
    table.row(
        "mesh",
        || mesh_by_hand(&vertices, &faces, 1.5),
        || mesh_value_and_grad(&vertices, &faces, 1.5),
        || mesh(&vertices, &faces, 1.5),
    );
    let filters = Array3::from_shape_vec((6, 3, 3), data.numbers(54)).unwrap();
    let bias = data.numbers(6);
    let dense = Array4::from_shape_vec((4, 6, 7, 7), data.numbers(4 * 6 * 49)).unwrap();
    let images: Vec<Array2<f64>> = (0..10).map(|_| data.matrix(16, 16)).collect();
    let labels = data.below(10, 4);
    table.row(
        "pooled",
        || pooled_by_hand(&filters, &bias, &dense, &images, &labels),
        || pooled_value_and_grad(&filters, &bias, &dense, &images, &labels),
        || pooled(&filters, &bias, &dense, &images, &labels),
    );
}
