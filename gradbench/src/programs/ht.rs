//! GradBench's `ht`: a hand of bones and a skin is fitted to points in space.

use ad::prelude::*;

/// A hand at rest. A parent of -1 is none.
#[derive(Clone, Differentiable)]
pub struct Hand {
    pub parents: Vec<i32>,
    pub base_relatives: Vec<[[f64; 4]; 4]>,
    pub inverse_base_absolutes: Vec<[[f64; 4]; 4]>,
    pub base_positions: Vec<[f64; 4]>,
    /// How much each bone moves each place of the skin.
    pub weights: Array2<f64>,
    pub triangles: Vec<[usize; 3]>,
    pub is_mirrored: bool,
}

#[differentiable]
fn times(a: &[[f64; 4]; 4], b: &[[f64; 4]; 4]) -> [[f64; 4]; 4] {
    let mut c = [[0.0; 4]; 4];
    for i in 0..4 {
        for j in 0..4 {
            for k in 0..4 {
                c[i][j] += a[i][k] * b[k][j];
            }
        }
    }
    c
}

/// The rotation about the axis `r` by the angle that is its length.
#[differentiable]
fn rotation(r: [f64; 3]) -> [[f64; 3]; 3] {
    let angle = (r[0] * r[0] + r[1] * r[1] + r[2] * r[2]).sqrt();
    if angle < 0.0001 {
        return [[1.0, 0.0, 0.0], [0.0, 1.0, 0.0], [0.0, 0.0, 1.0]];
    }
    let (x, y, z) = (r[0] / angle, r[1] / angle, r[2] / angle);
    let (s, c) = angle.sin_cos();
    [
        [x * x + (1.0 - x * x) * c, x * y * (1.0 - c) - z * s, x * z * (1.0 - c) + y * s],
        [x * y * (1.0 - c) + z * s, y * y + (1.0 - y * y) * c, y * z * (1.0 - c) - x * s],
        [x * z * (1.0 - c) - y * s, z * y * (1.0 - c) + x * s, z * z + (1.0 - z * z) * c],
    ]
}

/// A joint that bends, and spreads from its neighbours.
#[differentiable]
fn joint(bend: f64, spread: f64) -> [[f64; 4]; 4] {
    let ((sx, cx), (sz, cz)) = (bend.sin_cos(), spread.sin_cos());
    [[cz, -sz * cx, sz * sx, 0.0], [sz, cz * cx, -cz * sx, 0.0], [0.0, sx, cx, 0.0], [0.0, 0.0, 0.0, 1.0]]
}

/// The places of the skin. `theta`: rotation and place of the hand, and four angles of each finger.
#[differentiable]
fn skin(theta: &[f64], hand: &Hand) -> Vec<[f64; 3]> {
    // Each finger has four bones after the wrist. The first does not move, the second spreads too.
    let mut angles = vec![[0.0; 2]; hand.parents.len()];
    for finger in 0..5 {
        let (bone, at) = (4 * finger + 2, 6 + 4 * finger);
        angles[bone] = [theta[at], theta[at + 1]];
        angles[bone + 1] = [theta[at + 2], 0.0];
        angles[bone + 2] = [theta[at + 3], 0.0];
    }
    let mut absolutes = vec![[[0.0; 4]; 4]; hand.parents.len()];
    let mut moves = absolutes.clone();
    for (b, &parent) in hand.parents.iter().enumerate() {
        let relative = times(&hand.base_relatives[b], &joint(angles[b][0], angles[b][1]));
        absolutes[b] = if parent < 0 { relative } else { times(&absolutes[parent as usize], &relative) };
        moves[b] = times(&absolutes[b], &hand.inverse_base_absolutes[b]);
    }
    let turn = rotation([theta[0], theta[1], theta[2]]);
    let mut places = Vec::new();
    for (v, base) in hand.base_positions.iter().enumerate() {
        let mut p = [0.0; 3];
        for b in 0..moves.len() {
            for i in 0..3 {
                let m = moves[b][i];
                let moved = m[0] * base[0] + m[1] * base[1] + m[2] * base[2] + m[3] * base[3];
                p[i] += moved * hand.weights[[v, b]];
            }
        }
        if hand.is_mirrored {
            p[0] = -p[0];
        }
        let at = |i: usize| turn[i][0] * p[0] + turn[i][1] * p[1] + turn[i][2] * p[2] + theta[3 + i];
        places.push([at(0), at(1), at(2)]);
    }
    places
}

/// The points less the places of the skin that they belong to.
#[differentiate(jacobian, wrt(theta))]
pub fn errors(theta: &[f64], hand: &Hand, correspondences: &[usize], points: &[[f64; 3]]) -> Vec<f64> {
    let places = skin(theta, hand);
    let mut out = vec![0.0; 3 * points.len()];
    for (i, &v) in correspondences.iter().enumerate() {
        for j in 0..3 {
            out[3 * i + j] = points[i][j] - places[v][j];
        }
    }
    out
}

/// The same for points in triangles of the skin, each at its own coordinates `us`. Each error
/// depends on one pair of `us` only, so the derivative with respect to `shift`, which moves all
/// pairs, has all of theirs in two columns.
#[differentiate(jacobian, wrt(shift, theta))]
pub fn errors_in_triangles(
    shift: [f64; 2],
    theta: &[f64],
    us: &[[f64; 2]],
    hand: &Hand,
    correspondences: &[usize],
    points: &[[f64; 3]],
) -> Vec<f64> {
    let places = skin(theta, hand);
    let mut out = vec![0.0; 3 * points.len()];
    for (i, &t) in correspondences.iter().enumerate() {
        let (u, v) = (us[i][0] + shift[0], us[i][1] + shift[1]);
        let [a, b, c] = hand.triangles[t];
        for j in 0..3 {
            let place = u * places[a][j] + v * places[b][j] + (1.0 - u - v) * places[c][j];
            out[3 * i + j] = points[i][j] - place;
        }
    }
    out
}
