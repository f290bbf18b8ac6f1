//! A robot arm in space: transformations by Denavit and Hartenberg's parameters, the Jacobian of
//! the tool, the torques that hold the arm against gravity, and joint angles that reach a point.

use ad::check_grad;
use ad::prelude::*;

#[differentiable]
fn identity() -> [[f64; 4]; 4] {
    let mut a = [[0.0; 4]; 4];
    for i in 0..4 {
        a[i][i] = 1.0;
    }
    a
}

#[differentiable]
fn multiplied(a: &[[f64; 4]; 4], b: &[[f64; 4]; 4]) -> [[f64; 4]; 4] {
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

/// The transformation from one joint to the next: turned by `angle`, moved by `offset` along the
/// axis and by `length` away from it, and twisted.
#[differentiable]
fn joint(angle: f64, offset: f64, length: f64, twist: f64) -> [[f64; 4]; 4] {
    let (s, c) = angle.sin_cos();
    let (st, ct) = twist.sin_cos();
    [[c, -s * ct, s * st, length * c], [s, c * ct, -c * st, length * s], [0.0, st, ct, offset], [0.0, 0.0, 0.0, 1.0]]
}

/// Where the tool is. A row of the table is the offset, the length and the twist of a joint.
#[differentiate(vjp, jvp, jacobian, wrt(angles))]
fn tool(angles: &[f64; 6], table: &[[f64; 3]; 6]) -> [f64; 3] {
    let mut pose = identity();
    for (angle, [offset, length, twist]) in angles.iter().zip(table) {
        pose = multiplied(&pose, &joint(*angle, *offset, *length, *twist));
    }
    [pose[0][3], pose[1][3], pose[2][3]]
}

/// The potential energy of the links, whose masses are at their ends.
#[differentiate(wrt(angles))]
fn potential(angles: &[f64; 6], table: &[[f64; 3]; 6], masses: &[f64; 6]) -> f64 {
    let mut pose = identity();
    let mut energy = 0.0;
    for i in 0..angles.len() {
        let [offset, length, twist] = table[i];
        pose = multiplied(&pose, &joint(angles[i], offset, length, twist));
        energy += masses[i] * 9.81 * pose[2][3];
    }
    energy
}

/// How far the tool is from where it should be, and how far joints are beyond their limits.
#[differentiate(wrt(angles))]
fn miss(angles: &[f64; 6], table: &[[f64; 3]; 6], goal: [f64; 3], limit: f64) -> f64 {
    let reached = tool(angles, table);
    let distance: f64 = reached.iter().zip(goal).map(|(a, b)| (a - b).powi(2)).sum();
    let beyond: f64 = angles.iter().map(|a| (a.abs() - limit).max(0.0).powi(2)).sum();
    distance + beyond
}

/// The table of a common industrial arm, in metres.
fn table() -> [[f64; 3]; 6] {
    let turn = std::f64::consts::FRAC_PI_2;
    [
        [0.089, 0.0, turn],
        [0.0, -0.425, 0.0],
        [0.0, -0.392, 0.0],
        [0.109, 0.0, turn],
        [0.095, 0.0, -turn],
        [0.082, 0.0, 0.0],
    ]
}

const ANGLES: [f64; 6] = [0.3, -1.1, 0.8, -0.4, 0.6, 0.2];

/// A turn of the first joint moves the tool around the vertical axis: by `z` cross where it is. The
/// last joint turns about the tool itself.
#[test]
fn the_first_and_the_last_column_are_known() {
    let at = tool(&ANGLES, &table());
    let jacobian = tool_jacobian(&ANGLES, &table());
    let column = |k: usize| [jacobian[0][k], jacobian[1][k], jacobian[2][k]];
    let near = |a: [f64; 3], b: [f64; 3]| a.iter().zip(b).all(|(a, b)| (a - b).abs() < 1e-14);
    assert!(near(column(0), [-at[1], at[0], 0.0]), "{jacobian:?} {at:?}");
    assert!(near(column(5), [0.0; 3]), "{jacobian:?}");
    // Every other column is a turn about the axis of its joint, so it has a length of at most the
    // distance to the tool.
    let direction = [0.2, -0.1, 0.4, 0.3, -0.5, 0.7];
    let (_, moved) = tool_jvp(&ANGLES, &table(), direction);
    let expected: Vec<f64> = jacobian.iter().map(|row| row.iter().zip(direction).map(|(a, b)| a * b).sum()).collect();
    assert!(moved.iter().zip(expected).all(|(a, b)| (a - b).abs() < 1e-14));
}

/// The torque of a horizontal arm is the weight times the lever.
#[test]
fn the_torque_of_gravity_is_known() {
    let masses = [0.0, 0.0, 0.0, 0.0, 0.0, 2.0];
    let torques = potential_grad(&ANGLES, &table(), &masses);
    let lift = tool_jacobian(&ANGLES, &table())[2];
    assert!(torques.iter().zip(lift).all(|(t, l)| (t - 2.0 * 9.81 * l).abs() < 1e-12), "{torques:?}");
    assert!(torques[0].abs() < 1e-12);
    // Stretched out flat, only the two long links hold anything: their lengths are the lever.
    let flat = potential_grad(&[0.0; 6], &table(), &[0.0, 1.0, 0.0, 0.0, 0.0, 0.0]);
    assert!((flat[1] + 9.81 * 0.425).abs() < 1e-12, "{flat:?}");
}

/// Steps against the gradient reach a point that can be reached.
#[test]
fn a_point_is_reached() {
    let goal = tool(&[0.6, -1.3, 1.0, -0.2, 0.4, 0.0], &table());
    let mut angles = ANGLES;
    for _ in 0..500 {
        let gradient = miss_grad(&angles, &table(), goal, 3.0);
        angles.iter_mut().zip(gradient).for_each(|(a, g)| *a -= 0.5 * g);
    }
    assert!(miss(&angles, &table(), goal, 3.0) < 1e-6, "{angles:?}");
}

#[test]
fn differences_agree() {
    check_grad!(potential(&ANGLES, &table(), &[3.7, 8.4, 2.3, 1.2, 1.2, 0.25]));
    check_grad!(miss(&ANGLES, &table(), [0.3, -0.2, 0.4], 0.7));
}
