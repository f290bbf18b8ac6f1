//! A vector rotated by a quaternion: cross products all the way, forwards and back.

/// Row c: the value, and the cotangents of the quaternion and of the vector.
pub fn rotate([w, x, y, z]: [f64; 4], v: [f64; 3], g: [f64; 3]) -> ([f64; 3], ([f64; 4], [f64; 3])) {
    let a = [x, y, z];
    let t = cross(a, v).map(|t| 2.0 * t);
    let u = cross(a, t);
    let value = [v[0] + w * t[0] + u[0], v[1] + w * t[1] + u[1], v[2] + w * t[2] + u[2]];
    // The cotangent of 2 t, through w t and through a x t.
    let through = cross(g, a);
    let dt = [2.0 * (w * g[0] + through[0]), 2.0 * (w * g[1] + through[1]), 2.0 * (w * g[2] + through[2])];
    let (one, two, back) = (cross(t, g), cross(v, dt), cross(dt, a));
    let dw = g[0] * t[0] + g[1] * t[1] + g[2] * t[2];
    let dq = [dw, one[0] + two[0], one[1] + two[1], one[2] + two[2]];
    (value, (dq, [g[0] + back[0], g[1] + back[1], g[2] + back[2]]))
}

#[inline(always)]
fn cross(a: [f64; 3], b: [f64; 3]) -> [f64; 3] {
    [a[1] * b[2] - a[2] * b[1], a[2] * b[0] - a[0] * b[2], a[0] * b[1] - a[1] * b[0]]
}
