//! Long straight-line functions compile in the ordinary profile, with debug information.
//!
//! `let` opens a scope inside of the previous one, and rustc walks scopes recursively when it
//! writes debug information. Thousands of nested scopes would overflow its stack.

use ad::prelude::*;

/// A function with two statements for each `x`.
macro_rules! doubled {
    ([x $($more:tt)*] { $($s:tt)* } $($all:tt)*) => { doubled! { [$($more)*] { $($s)* $($s)* } $($all)* } };
    ([] { $($s:tt)* } each $i:ident of $v:ident $(#[$a:meta])* fn $name:ident $args:tt { $($begin:tt)* } { $($end:tt)* }) => {
        $(#[$a])*
        fn $name $args -> f64 {
            build1($v.len(), |$i| { $($begin)* $($s)* $($end)* }).sum()
        }
    };
    ([] { $($s:tt)* } $(#[$a:meta])* fn $name:ident $args:tt { $($begin:tt)* } { $($end:tt)* }) => {
        $(#[$a])*
        fn $name $args -> f64 { $($begin)* $($s)* $($end)* }
    };
}

doubled! {
    [x x x x x x x x x]
    {
        x = x * 0.5 + (x * 0.25).sin();
        y = x.tanh() * 1.5 - 0.1 * y;
        let z = (y * x).cos();
        x = z - 0.3 * x;
    }
    /// 2048 statements.
    #[differentiate]
    fn scalar(x: f64) { let (mut x, mut y) = (x, 0.5); } { x + y }
}

doubled! {
    [x x x x x x x]
    {
        x = x * 0.5 + (x * 0.25).sin();
        y = x.tanh() * 1.5 - 0.1 * y;
        let z = (y * x).cos();
        let u = z * z;
        x = u - 0.3 * x;
    }
    /// 640 statements.
    #[differentiate(hvp)]
    fn products(x: f64) { let (mut x, mut y) = (x, 0.5); } { x + y }
}

doubled! {
    [x x x x x x]
    {
        x = x * 0.5 + (x * 0.25).sin();
        y = x.tanh() * 1.5 - 0.1 * y;
        let z = (y * x).cos();
        let u = z * z;
        x = u - 0.3 * x;
    }
    /// 320 statements.
    #[differentiate(hessian)]
    fn matrix(v: &[f64; 4]) { let (mut x, mut y) = (v[0] * v[1] + v[2], v[3]); } { x + y }
}

doubled! {
    [x x x x x x x]
    {
        x = x * 0.5 + (x * 0.25).sin();
        y = x.tanh() * 1.5 - 0.1 * y;
        let z = (y * x).cos();
        x = z - 0.3 * x;
    }
    each i of v
    /// The body of a loop nest, of 512 statements.
    #[differentiate]
    fn elements(v: &Array1<f64>) { let (mut x, mut y) = (v[i], 0.5); } { x + y }
}

/// The end of an arm with four joints, and the position of each joint.
#[differentiate(jacobian)]
fn arm(v: &[f64; 16]) -> [f64; 12] {
    fn turned(a: f64, b: f64, c: f64) -> [[f64; 3]; 3] {
        let (sa, ca) = a.sin_cos();
        let (sb, cb) = b.sin_cos();
        let (sc, cc) = c.sin_cos();
        [
            [cb * cc, sa * sb * cc - ca * sc, ca * sb * cc + sa * sc],
            [cb * sc, sa * sb * sc + ca * cc, ca * sb * sc - sa * cc],
            [-sb, sa * cb, ca * cb],
        ]
    }
    fn product(a: [[f64; 3]; 3], b: [[f64; 3]; 3]) -> [[f64; 3]; 3] {
        let mut c = [[0.0; 3]; 3];
        for i in 0..3 {
            for j in 0..3 {
                for k in 0..3 {
                    c[i][j] += a[i][k] * b[k][j];
                }
            }
        }
        c
    }
    fn moved(a: [[f64; 3]; 3], x: [f64; 3]) -> [f64; 3] {
        let mut y = [0.0; 3];
        for i in 0..3 {
            for k in 0..3 {
                y[i] += a[i][k] * x[k];
            }
        }
        y
    }
    let a = turned(v[0], v[1], v[2]);
    let b = product(a, turned(v[3], v[4], v[5]));
    let c = product(b, turned(v[6], v[7], v[8]));
    let d = product(c, turned(v[9], v[10], v[11]));
    let p = moved(a, [v[12], 0.0, 0.0]);
    let q = moved(b, [v[13], v[13] * v[12], 0.0]);
    let r = moved(c, [v[14], 0.1, v[15]]);
    let s = moved(d, [v[15], 0.2, v[14]]);
    let [t, u] = [[p[0] + q[0], p[1] + q[1], p[2] + q[2]], [r[0] + s[0], r[1] + s[1], r[2] + s[2]]];
    [p[0], p[1], p[2], t[0], t[1], t[2], t[0] + r[0], t[1] + r[1], t[2] + r[2], t[0] + u[0], t[1] + u[1], t[2] + u[2]]
}

#[test]
fn long_functions_have_derivatives() {
    let h = 1e-5;
    let slope = |f: &dyn Fn(f64) -> f64, x: f64| (f(x + h) - f(x - h)) / (2.0 * h);
    let close = |a: f64, b: f64| assert!((a - b).abs() < 1e-5 * (1.0 + b.abs()), "{a} instead of {b}");
    close(scalar_grad(0.3), slope(&scalar, 0.3));
    close(elements_grad(&array![0.3, -0.2])[1], slope(&|x| elements(&array![x]), -0.2));
    let second = |f: &dyn Fn(f64) -> f64, x: f64| (f(x + 1e-4) - 2.0 * f(x) + f(x - 1e-4)) / 1e-8;
    close(products_hvp(0.3, 2.0), 2.0 * second(&products, 0.3));
    let v = [0.3, 0.8, -0.4, 0.2];
    let hessian = matrix_hessian(&v);
    close(hessian[2][2], second(&|x| matrix(&[v[0], v[1], x, v[3]]), v[2]));
    for (i, row) in hessian.iter().enumerate() {
        for (j, entry) in row.iter().enumerate() {
            assert!((entry - hessian[j][i]).abs() < 1e-12);
        }
    }
    let v: [f64; 16] = std::array::from_fn(|i| 0.1 + 0.05 * i as f64);
    let jacobian = arm_jacobian(&v);
    for (i, row) in jacobian.iter().enumerate() {
        for (j, entry) in row.iter().enumerate() {
            let at = |x: f64| arm(&std::array::from_fn(|k| if k == j { x } else { v[k] }))[i];
            close(*entry, slope(&at, v[j]));
        }
    }
}
