//! Bundle adjustment, one observation of GradBench's `ba`, for `second.rs`, the example `bundle`
//! and `benches/workloads.rs`.

use ad::prelude::*;

/// The reprojection of a point by a camera, less the feature, weighted. A camera is rotation,
/// centre, focal length, principal point and distortion.
#[differentiate(jacobian, vjp, jvp, wrt(camera, point, weight))]
pub fn reprojection(camera: &[f64; 11], point: &[f64; 3], weight: f64, feature: [f64; 2]) -> [f64; 2] {
    let [rx, ry, rz, cx, cy, cz, f, u0, v0, k1, k2] = *camera;
    let (x, y, z) = (point[0] - cx, point[1] - cy, point[2] - cz);
    let square = rx * rx + ry * ry + rz * rz;
    let turned = if square == 0.0 {
        [x + ry * z - rz * y, y + rz * x - rx * z, z + rx * y - ry * x]
    } else {
        let angle = square.sqrt();
        let (sin, cos) = angle.sin_cos();
        let (vx, vy, vz) = (rx / angle, ry / angle, rz / angle);
        let along = (vx * x + vy * y + vz * z) * (1.0 - cos);
        [
            x * cos + (vy * z - vz * y) * sin + vx * along,
            y * cos + (vz * x - vx * z) * sin + vy * along,
            z * cos + (vx * y - vy * x) * sin + vz * along,
        ]
    };
    let (u, v) = (turned[0] / turned[2], turned[1] / turned[2]);
    let q = u * u + v * v;
    let bent = 1.0 + k1 * q + k2 * q * q;
    [weight * (f * u * bent + u0 - feature[0]), weight * (f * v * bent + v0 - feature[1])]
}
