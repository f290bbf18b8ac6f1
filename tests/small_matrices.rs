//! Small vectors and matrices of items and of time steps: rotations, triangles, elements of a mesh.
//! Their gradients agree with difference quotients, for numbers of items around the number of
//! lanes.

#![allow(
    clippy::needless_range_loop,
    clippy::many_single_char_names,
    clippy::assign_op_pattern,
    reason = "users write loops over indices"
)]

use ad::check_grad;
use ad::ndarray::{arr1, arr2};
use ad::prelude::*;

/// Numbers that look random, between -1 and 1.
fn number(k: usize) -> f64 {
    let bits = (k as u64 + 1).wrapping_mul(0x9E37_79B9_7F4A_7C15);
    (bits >> 11) as f64 / (1_u64 << 52) as f64 - 1.0
}

fn rows<const N: usize>(n: usize, first: usize) -> Vec<[f64; N]> {
    (0..n).map(|i| std::array::from_fn(|k| number(first + i * N + k))).collect()
}

const COUNTS: [usize; 5] = [0, 1, 3, 16, 17];

#[differentiate(wrt(q, x))]
fn rotated(q: &[[f64; 4]], x: &[[f64; 3]], y: &[[f64; 3]]) -> f64 {
    let mut loss = 0.0;
    for i in 0..q.len() {
        let n = q[i].iter().map(|v| v * v).sum::<f64>().sqrt() + 0.5;
        let [w, a, b, c] = q[i].map(|v| v / n);
        let r = [
            [1.0 - 2.0 * (b * b + c * c), 2.0 * (a * b - w * c), 2.0 * (a * c + w * b)],
            [2.0 * (a * b + w * c), 1.0 - 2.0 * (a * a + c * c), 2.0 * (b * c - w * a)],
            [2.0 * (a * c - w * b), 2.0 * (b * c + w * a), 1.0 - 2.0 * (a * a + b * b)],
        ];
        for j in 0..3 {
            let mut p = 0.0;
            for k in 0..3 {
                p += r[j][k] * x[i][k];
            }
            loss += (p - y[i][j]).powi(2);
        }
    }
    loss
}

#[test]
fn rotations_of_points() {
    for n in COUNTS {
        check_grad!(rotated(&rows(n, 0), &rows(n, 100), &rows(n, 200)));
    }
}

#[differentiate(wrt(v))]
fn surface(v: &[[f64; 3]], faces: &[[usize; 3]]) -> f64 {
    fn sub(a: [f64; 3], b: [f64; 3]) -> [f64; 3] {
        [a[0] - b[0], a[1] - b[1], a[2] - b[2]]
    }
    fn cross(a: [f64; 3], b: [f64; 3]) -> [f64; 3] {
        [a[1] * b[2] - a[2] * b[1], a[2] * b[0] - a[0] * b[2], a[0] * b[1] - a[1] * b[0]]
    }
    fn dot(a: [f64; 3], b: [f64; 3]) -> f64 {
        a.iter().zip(&b).map(|(x, y)| x * y).sum()
    }
    let (mut area, mut volume) = (0.0, 0.0);
    for f in faces {
        let (a, b, c) = (v[f[0]], v[f[1]], v[f[2]]);
        let n = cross(sub(b, a), sub(c, a));
        area += 0.5 * (dot(n, n) + 0.01).sqrt();
        volume += dot(a, cross(b, c)) / 6.0;
    }
    area + volume * volume
}

#[differentiate(wrt(x))]
fn strain(x: &[[f64; 2]], triangles: &[[usize; 3]], inverse: &[[[f64; 2]; 2]]) -> f64 {
    let mut energy = 0.0;
    for (t, m) in triangles.iter().zip(inverse) {
        let d =
            [[x[t[1]][0] - x[t[0]][0], x[t[2]][0] - x[t[0]][0]], [x[t[1]][1] - x[t[0]][1], x[t[2]][1] - x[t[0]][1]]];
        let mut f = [[0.0; 2]; 2];
        for i in 0..2 {
            for j in 0..2 {
                for k in 0..2 {
                    f[i][j] += d[i][k] * m[k][j];
                }
            }
        }
        let mut c = [[0.0; 2]; 2];
        for i in 0..2 {
            for j in 0..2 {
                for k in 0..2 {
                    c[i][j] += f[k][i] * f[k][j];
                }
            }
        }
        let det = f[0][0] * f[1][1] - f[0][1] * f[1][0];
        energy += c[0][0] + c[1][1] + (det * det + 0.1).ln();
    }
    energy
}

#[test]
fn meshes() {
    for n in COUNTS {
        let faces: Vec<[usize; 3]> = (0..n).map(|i| [i * 7 % 5, i * 3 % 5, (i + 2) % 5]).collect();
        check_grad!(surface(&rows(5, 0), &faces));
        let inverse: Vec<[[f64; 2]; 2]> = (0..n).map(|i| [[1.0 + number(i), 0.2], [0.1, 1.5]]).collect();
        check_grad!(strain(&rows(5, 20), &faces, &inverse));
    }
}

/// The matrix of a step is a sum of elements, an array of ndarray, or depends on a condition.
#[differentiate(wrt(turns, angle))]
fn turned(turns: &[[f64; 3]], angle: f64, kinds: &[usize]) -> f64 {
    let mut total = 0.0;
    for i in 0..turns.len() {
        let [a, b, c] = turns[i];
        let (s, t) = (angle * a).sin_cos();
        let m = if b > 0.0 { [[t, -s], [s, t]] } else { [[t, s], [b, c]] };
        let n = arr2(&[[a, b], [c, a * b]]);
        let p = n.dot(&arr1(&[m[0][1], m[1][kinds[i] % 2]]));
        let largest = p[0].max(p[1]);
        let mut v = [a, b, c, angle];
        v[kinds[i] % 4] = largest * 0.5;
        v.swap(0, 3);
        for k in 1..4 {
            v[k] = v[k] * v[k - 1] + 0.3;
        }
        let norm = n.mapv(|e| e * e).sum() + 1.0;
        total += v.iter().sum::<f64>() / norm.sqrt() + v[kinds[i] % 3];
    }
    total
}

#[test]
fn computed_positions_and_conditions() {
    for n in COUNTS {
        let kinds: Vec<usize> = (0..n).map(|i| i * 5 % 7).collect();
        check_grad!(turned(&rows(n, 3), 0.7, &kinds));
    }
}

/// Each item has a matrix of its own, which the function returns.
#[differentiate(jvp, vjp)]
fn products(a: &[[[f64; 2]; 2]], b: [[f64; 2]; 2]) -> Vec<[[f64; 2]; 2]> {
    a.iter()
        .map(|m| {
            let mut out = [[0.0; 2]; 2];
            for i in 0..2 {
                for j in 0..2 {
                    for k in 0..2 {
                        out[i][j] += m[i][k] * b[k][j];
                    }
                }
            }
            [[out[0][0].sin(), out[0][1]], [out[1][0], out[1][1] * m[0][1]]]
        })
        .collect()
}

#[test]
fn the_transpose_of_the_tangents() {
    let a: Vec<[[f64; 2]; 2]> = (0..5).map(|i| [[number(i), 0.3], [number(i + 9), -0.4]]).collect();
    let b = [[0.3, -0.2], [0.5, 0.7]];
    let da: Vec<[[f64; 2]; 2]> = (0..5).map(|i| [[0.1, number(i + 30)], [0.2, number(i + 50)]]).collect();
    let db = [[1.0, 0.5], [-0.5, 0.25]];
    let ct: Vec<[[f64; 2]; 2]> = (0..5).map(|i| [[number(i + 70), 1.0], [0.5, number(i + 90)]]).collect();
    let inner = |x: &[[[f64; 2]; 2]], y: &[[[f64; 2]; 2]]| -> f64 {
        x.as_flattened().as_flattened().iter().zip(y.as_flattened().as_flattened()).map(|(x, y)| x * y).sum()
    };
    let (_, tangent) = products_jvp(&a, b, &da, db);
    let (_, (ga, gb)) = products_vjp(&a, b, &ct);
    let (forward, reverse) = (inner(&tangent, &ct), inner(&da, &ga) + inner(&[db], &[gb]));
    assert!((forward - reverse).abs() < 1e-12, "{forward} and {reverse}");
}

/// A rigid body: the matrix is carried from step to step, with local sums and with updates.
#[differentiate]
fn body_by_sums(turns: &[[f64; 3]], dt: f64) -> f64 {
    let mut r = [[1.0, 0.0, 0.0], [0.0, 1.0, 0.0], [0.0, 0.0, 1.0]];
    let mut total = 0.0;
    for o in turns {
        let k = [[0.0, -o[2], o[1]], [o[2], 0.0, -o[0]], [-o[1], o[0], 0.0]];
        let mut next = [[0.0; 3]; 3];
        for i in 0..3 {
            for j in 0..3 {
                let mut s = r[i][j];
                for l in 0..3 {
                    s += dt * r[i][l] * k[l][j];
                }
                next[i][j] = s;
            }
        }
        r = next;
        total += r[0][2] * r[1][0];
    }
    total
}

#[differentiate]
fn body_by_updates(turns: &[[f64; 3]], dt: f64) -> f64 {
    let mut r = [[1.0, 0.0, 0.0], [0.0, 1.0, 0.0], [0.0, 0.0, 1.0]];
    let mut total = 0.0;
    for o in turns {
        let k = [[0.0, -o[2], o[1]], [o[2], 0.0, -o[0]], [-o[1], o[0], 0.0]];
        let mut next = r;
        for i in 0..3 {
            for j in 0..3 {
                for l in 0..3 {
                    next[i][j] += dt * r[i][l] * k[l][j];
                }
            }
        }
        r = next;
        total += r[0][2] * r[1][0];
    }
    total
}

#[test]
fn a_rigid_body() {
    for n in [0, 1, 2, 9] {
        let turns = rows(n, 40);
        check_grad!(body_by_sums(&turns, 0.1));
        check_grad!(body_by_updates(&turns, 0.1));
        let (a, b) = (body_by_sums_grad(&turns, 0.1), body_by_updates_grad(&turns, 0.1));
        for (a, b) in a.0.as_flattened().iter().zip(b.0.as_flattened()) {
            assert!((a - b).abs() < 1e-13, "{a} and {b}");
        }
    }
}

/// Sums into a small array over all items are sums, whatever the form of the summands.
#[differentiate]
fn moments(x: &[[f64; 3]], w: &[f64]) -> f64 {
    let mut centre = [0.0; 3];
    let mut inertia = [[0.0; 3]; 3];
    for (p, m) in x.iter().zip(w) {
        let d = [p[0] + p[1], p[1] * p[2], p[2] - 0.5];
        for i in 0..3 {
            centre[i] += m * d[i];
            for j in 0..3 {
                inertia[i][j] += d[i] * d[j] * m;
            }
        }
    }
    centre.iter().sum::<f64>() * inertia[0][1] + inertia[2][2] * inertia[1][0].sin()
}

#[test]
fn sums_of_small_matrices() {
    for n in COUNTS {
        let w: Vec<f64> = (0..n).map(|i| 1.0 + number(i + 7)).collect();
        check_grad!(moments(&rows(n, 11), &w));
    }
}

/// Steps of small arrays whose elements are read at literal and at computed places, and an
/// inner loop that is too long to be unrolled.
#[differentiate]
fn filtered(y: &[f64], f: [[f64; 2]; 2], q: f64) -> f64 {
    let (mut m, mut p) = ([0.1, 0.2], [[1.0, 0.0], [0.0, 1.0]]);
    let mut taps = [0.0; 6];
    let mut total = 0.0;
    for (t, &v) in y.iter().enumerate() {
        let a = [f[0][0] * m[0] + f[0][1] * m[1], f[1][0] * m[0] + f[1][1] * m[1]];
        let mut c = [[q, 0.0], [0.0, q]];
        for i in 0..2 {
            for j in 0..2 {
                for k in 0..2 {
                    for l in 0..2 {
                        c[i][j] += f[i][k] * p[k][l] * f[j][l];
                    }
                }
            }
        }
        let s = c[0][0] + 0.5;
        let e = v - a[0];
        for i in 0..2 {
            m[i] = a[i] + c[i][0] * e / s;
            for j in 0..2 {
                p[i][j] = c[i][j] - c[i][0] * c[j][0] / s;
            }
        }
        taps[t % 6] = m[t % 2];
        for k in 1..6 {
            taps[k] += 0.1 * taps[k - 1];
        }
        total += e * e / s + s.ln() + taps[5];
    }
    total
}

#[test]
fn a_filter_of_two_states() {
    for n in [0, 1, 2, 13] {
        let y: Vec<f64> = (0..n).map(|i| number(i + 60)).collect();
        check_grad!(filtered(&y, [[0.9, 0.2], [-0.1, 0.8]], 0.3));
    }
}

/// More than eight terms in each sum, and a table of coefficients that all items share.
#[differentiate(wrt(light, normals))]
fn shaded(light: &[[f64; 3]; 9], normals: &[[f64; 3]], image: &[[f64; 3]]) -> f64 {
    let mut loss = 0.0;
    for (n, c) in normals.iter().zip(image) {
        let (x, y, z) = (n[0], n[1], n[2]);
        let b = [1.0, x, y, z, x * y, y * z, 3.0 * z * z - 1.0, x * z, x * x - y * y];
        for k in 0..3 {
            let mut s = 0.0;
            for j in 0..9 {
                s += b[j] * light[j][k];
            }
            loss += (s - c[k]).powi(2);
        }
    }
    loss
}

/// A decision on a sum of more than eight elements, which is in ndarray's order.
#[differentiate(wrt(x))]
fn decided(x: &[[f64; 3]], limits: &[f64]) -> f64 {
    let mut total = 0.0;
    for (p, limit) in x.iter().zip(limits) {
        let m = arr2(&[[p[0], p[1], p[2]], [p[1] * p[0], p[2] * p[1], p[0] * p[2]], [0.1, p[0].sin(), p[1].cos()]]);
        let sum = m.sum();
        total += if sum == *limit { sum * p[0] } else { -p[1] };
    }
    total
}

/// The same in a loop that stays a loop, since each step reads the one before.
#[differentiate(wrt(x))]
fn decided_in_steps(x: &[[f64; 3]], limits: &[f64]) -> f64 {
    let mut state = 0.5;
    for (p, limit) in x.iter().zip(limits) {
        let m = arr2(&[[p[0], p[1], p[2]], [p[1] * p[0], p[2] * p[1], p[0] * p[2]], [0.1, p[0].sin(), p[1].cos()]]);
        let sum = m.sum();
        state = if sum == *limit { (state * p[0]).sin() + 1.0 } else { 0.0 };
    }
    state
}

#[test]
fn sums_of_more_than_eight_elements() {
    let light = std::array::from_fn(|j| [number(j), number(j + 50), number(j + 90)]);
    for n in COUNTS {
        check_grad!(shaded(&light, &rows(n, 300), &rows(n, 400)));
    }
    let x = rows::<3>(40, 500);
    let sums = x.iter().map(|p| {
        arr2(&[[p[0], p[1], p[2]], [p[1] * p[0], p[2] * p[1], p[0] * p[2]], [0.1, p[0].sin(), p[1].cos()]]).sum()
    });
    let sums: Vec<f64> = sums.collect();
    let (value, gradient) = decided_value_and_grad(&x, &sums);
    assert_eq!(value, decided(&x, &sums));
    for (p, g) in x.iter().zip(&gradient) {
        assert!((g[2] - p[0] * (1.0 + p[1] + p[0])).abs() < 1e-12, "the other arm: {g:?}");
    }
    // If the last decision were another one, the state would be 0.
    let (value, _) = decided_in_steps_value_and_grad(&x, &sums);
    assert_eq!(value, decided_in_steps(&x, &sums));
    assert_ne!(value, 0.0);
    check_grad!(decided_in_steps(&x[..3], &[0.0; 3]));
}
