//! The block of an observation of bundle adjustment: one pass forwards, one sweep for each row,
//! nothing but registers.

type Block = ([[f64; 11]; 2], [[f64; 3]; 2], [f64; 2]);

fn dot(a: [f64; 3], b: [f64; 3]) -> f64 {
    a[0] * b[0] + a[1] * b[1] + a[2] * b[2]
}

fn cross(a: [f64; 3], b: [f64; 3]) -> [f64; 3] {
    [a[1] * b[2] - a[2] * b[1], a[2] * b[0] - a[0] * b[2], a[0] * b[1] - a[1] * b[0]]
}

/// The gradient of the sum of `c[i] * v[i]`.
fn sum(c: [f64; 3], v: [[f64; 3]; 3]) -> [f64; 3] {
    std::array::from_fn(|i| c[0] * v[0][i] + c[1] * v[1][i] + c[2] * v[2][i])
}

/// The residual, and its derivatives with respect to camera, point and weight.
pub fn reprojection(camera: &[f64; 11], point: &[f64; 3], weight: f64, feature: [f64; 2]) -> ([f64; 2], Block) {
    let [rx, ry, rz, cx, cy, cz, f, u0, v0, k1, k2] = *camera;
    let r = [rx, ry, rz];
    let d = [point[0] - cx, point[1] - cy, point[2] - cz];
    let square = dot(r, r);
    let still = square == 0.0;
    // Without a rotation the formula is linear in r.
    let angle = if still { 1.0 } else { square.sqrt() };
    let (sin, cos) = if still { (0.0, 1.0) } else { angle.sin_cos() };
    let v = r.map(|r| r / angle);
    let (vd, side) = (dot(v, d), cross(v, d));
    let turned = sum([cos, sin, (1.0 - cos) * vd], [d, side, v]);

    let depth = 1.0 / turned[2];
    let p = [turned[0] * depth, turned[1] * depth];
    let q = p[0] * p[0] + p[1] * p[1];
    let bent = 1.0 + k1 * q + k2 * q * q;
    let errors = [f * p[0] * bent + u0 - feature[0], f * p[1] * bent + v0 - feature[1]];

    let mut block: Block = Default::default();
    let by_q = 2.0 * (k1 + 2.0 * k2 * q);
    for i in 0..2 {
        let scale = weight * f;
        // The derivative with respect to p, then that with respect to the rotated point.
        let mut by_p = [scale * p[i] * by_q * p[0], scale * p[i] * by_q * p[1]];
        by_p[i] += scale * bent;
        let g = [by_p[0] * depth, by_p[1] * depth, -(by_p[0] * p[0] + by_p[1] * p[1]) * depth];

        let along = dot(g, v);
        let by_point = sum([cos, sin, (1.0 - cos) * along], [g, cross(g, v), v]);
        let turn = cross(d, g);
        let by_r = if still {
            turn
        } else {
            let by_angle = cos * dot(g, side) + sin * (along * vd - dot(g, d));
            let by_v = sum([sin, (1.0 - cos) * vd, (1.0 - cos) * along], [turn, g, d]);
            let radial = dot(by_v, v);
            std::array::from_fn(|j| by_angle * v[j] + (by_v[j] - radial * v[j]) / angle)
        };
        let row = &mut block.0[i];
        row[..3].copy_from_slice(&by_r);
        row[3..6].copy_from_slice(&by_point.map(|x| -x));
        row[6] = weight * p[i] * bent;
        row[7 + i] = weight;
        row[9] = scale * p[i] * q;
        row[10] = scale * p[i] * q * q;
        block.1[i] = by_point;
        block.2[i] = errors[i];
    }
    (errors.map(|e| weight * e), block)
}
