//! GradBench's `ba`: bundle adjustment. Cameras and points are found from the places where the
//! cameras saw the points.

use ad::Csr;
use ad::prelude::*;

/// A place in the picture of a camera where a point was seen.
#[derive(Clone, Differentiable)]
pub struct Observation {
    pub camera: usize,
    pub point: usize,
    pub feature: [f64; 2],
}

#[derive(Clone, Differentiable)]
pub struct Camera {
    pub rotation: [f64; 3],
    pub centre: [f64; 3],
    pub focal: f64,
    pub principal: [f64; 2],
    pub distortion: [f64; 2],
}

/// The numbers of one camera.
pub const CAMERA: usize = 11;

#[differentiable]
fn camera(v: &[f64]) -> Camera {
    Camera {
        rotation: [v[0], v[1], v[2]],
        centre: [v[3], v[4], v[5]],
        focal: v[6],
        principal: [v[7], v[8]],
        distortion: [v[9], v[10]],
    }
}

#[differentiable]
fn dot(a: [f64; 3], b: [f64; 3]) -> f64 {
    a[0] * b[0] + a[1] * b[1] + a[2] * b[2]
}

#[differentiable]
fn cross(a: [f64; 3], b: [f64; 3]) -> [f64; 3] {
    [a[1] * b[2] - a[2] * b[1], a[2] * b[0] - a[0] * b[2], a[0] * b[1] - a[1] * b[0]]
}

/// `x`, turned about the axis `r` by the angle that is its length.
#[differentiable]
fn rotated(r: [f64; 3], x: [f64; 3]) -> [f64; 3] {
    let square = dot(r, r);
    if square == 0.0 {
        let c = cross(r, x);
        return [x[0] + c[0], x[1] + c[1], x[2] + c[2]];
    }
    let angle = square.sqrt();
    let (sin, cos) = angle.sin_cos();
    let v = [r[0] / angle, r[1] / angle, r[2] / angle];
    let c = cross(v, x);
    let along = dot(v, x) * (1.0 - cos);
    [
        x[0] * cos + c[0] * sin + v[0] * along,
        x[1] * cos + c[1] * sin + v[1] * along,
        x[2] * cos + c[2] * sin + v[2] * along,
    ]
}

/// The place of `x` in the picture.
#[differentiable]
fn project(camera: &Camera, x: [f64; 3]) -> [f64; 2] {
    let c = camera.centre;
    let seen = rotated(camera.rotation, [x[0] - c[0], x[1] - c[1], x[2] - c[2]]);
    let (u, v) = (seen[0] / seen[2], seen[1] / seen[2]);
    let q = u * u + v * v;
    let scale = camera.focal * (1.0 + camera.distortion[0] * q + camera.distortion[1] * q * q);
    [scale * u + camera.principal[0], scale * v + camera.principal[1]]
}

/// Two errors of each observation, then one of each weight. `unknowns`: the cameras, the points
/// (three numbers each), and the weight of each observation.
#[differentiate(jacobian(sparse), wrt(unknowns))]
pub fn errors(unknowns: &[f64], cameras: usize, points: usize, observations: &[Observation]) -> Vec<f64> {
    let count = observations.len();
    let weights = CAMERA * cameras + 3 * points;
    let mut out = vec![0.0; 3 * count];
    for i in 0..count {
        let seen = &observations[i];
        let at = CAMERA * seen.camera;
        let camera = camera(&unknowns[at..at + CAMERA]);
        let k = CAMERA * cameras + 3 * seen.point;
        let place = project(&camera, [unknowns[k], unknowns[k + 1], unknowns[k + 2]]);
        let w = unknowns[weights + i];
        out[2 * i] = w * (place[0] - seen.feature[0]);
        out[2 * i + 1] = w * (place[1] - seen.feature[1]);
        out[2 * count + i] = 1.0 - w * w;
    }
    out
}

/// The Jacobian of the errors with the elements that the suite stores: two rows of fifteen for each
/// observation, and one for each weight. Each error in the picture reads one of the two numbers of
/// the principal point, so the other element is zero, and `jacobian(sparse)` leaves it out.
pub fn jacobian(unknowns: &[f64], cameras: usize, points: usize, observations: &[Observation]) -> Csr<f64> {
    let found = errors_jacobian_sparse(unknowns, cameras, points, observations);
    let size = found.values.len() + 2 * observations.len();
    let (mut indices, mut values) = (Vec::with_capacity(size), Vec::with_capacity(size));
    let mut indptr = vec![0];
    for row in 0..found.rows {
        let (columns, elements) = found.row(row);
        let (columns, elements) = match observations.get(row / 2) {
            Some(seen) => {
                let zero = CAMERA * seen.camera + 8 - row % 2;
                let k = columns.partition_point(|&column| column < zero);
                indices.extend_from_slice(&columns[..k]);
                indices.push(zero);
                values.extend_from_slice(&elements[..k]);
                values.push(0.0);
                (&columns[k..], &elements[k..])
            }
            None => (columns, elements),
        };
        indices.extend_from_slice(columns);
        values.extend_from_slice(elements);
        indptr.push(indices.len());
    }
    Csr { rows: found.rows, cols: found.cols, indptr, indices, values }
}
