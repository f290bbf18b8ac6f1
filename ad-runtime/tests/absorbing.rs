//! Products in which the zeros of an operand absorb: those of ordinary kernels where these are
//! numbers, and without the products of zeros elsewhere.

use ad_runtime::kernel::{absorbed, absorbed_dot, dot, gemm_each};

/// The sum of products, one after the other.
fn expected(a: &[f64], b: &[f64], [ta, tb]: [bool; 2], [m, k, n]: [usize; 3], absorbs: [bool; 2]) -> Vec<f64> {
    let at = |x: &[f64], flipped: bool, (i, j): (usize, usize), (rows, columns): (usize, usize)| {
        if flipped { x[j * rows + i] } else { x[i * columns + j] }
    };
    let mut c = Vec::new();
    for i in 0..m {
        for j in 0..n {
            let mut sum = 0.0;
            for l in 0..k {
                let (x, y) = (at(a, ta, (i, l), (m, k)), at(b, tb, (l, j), (k, n)));
                let none = (absorbs[0] && x == 0.0) || (absorbs[1] && y == 0.0);
                sum += if none { 0.0 } else { x * y };
            }
            c.push(sum);
        }
    }
    c
}

#[test]
fn zeros_absorb_infinities_and_nan() {
    let sizes = [3, 5, 4];
    let [m, k, n] = sizes;
    for case in 0..64 {
        let (flags, absorbs) = ([case & 1 != 0, case & 2 != 0], [case & 4 != 0, case & 8 != 0]);
        let number = |i: usize, salt: usize| match (i * 7 + salt + case) % 9 {
            0..3 => 0.0,
            3 if case & 16 != 0 => f64::NAN,
            4 if case & 32 != 0 => f64::INFINITY,
            other => other as f64 - 5.5,
        };
        let a: Vec<f64> = (0..2 * m * k).map(|i| number(i, 1)).collect();
        let b: Vec<f64> = (0..2 * k * n).map(|i| number(i, 4)).collect();
        let mut c = vec![0.0; 2 * m * n];
        gemm_each(&mut c, &a, &b, flags, 2, sizes);
        absorbed(&mut c, &a, &b, flags, 2, sizes, absorbs);
        for p in 0..2 {
            let one = expected(&a[p * m * k..][..m * k], &b[p * k * n..][..k * n], flags, sizes, absorbs);
            for (found, wanted) in c[p * m * n..].iter().zip(one) {
                let same = found == &wanted || (found - wanted).abs() < 1e-12 || (found.is_nan() && wanted.is_nan());
                assert!(same, "{found} instead of {wanted}, {case}");
            }
        }
        let (x, y) = (&a[..k], &b[..k]);
        let found = absorbed_dot(dot(x, y), x, y, absorbs);
        let wanted = expected(x, y, [false; 2], [1, k, 1], absorbs)[0];
        assert!(found == wanted || (found - wanted).abs() < 1e-12 || (found.is_nan() && wanted.is_nan()), "{case}");
    }
}
