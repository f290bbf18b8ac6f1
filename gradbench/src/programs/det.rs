//! GradBench's `det`: a determinant by expansion along the first row. The function calls itself.

use ad::prelude::*;

/// The determinant of `n` rows of `n` elements.
#[differentiate]
pub fn det(a: &[f64], n: usize) -> f64 {
    if n == 1 {
        return a[0];
    }
    let mut sum = 0.0;
    let mut sign = 1.0;
    for column in 0..n {
        let mut minor = vec![0.0; (n - 1) * (n - 1)];
        for i in 0..n - 1 {
            for j in 0..n - 1 {
                let from = if j < column { j } else { j + 1 };
                minor[i * (n - 1) + j] = a[(i + 1) * n + from];
            }
        }
        sum += sign * a[column] * det(&minor, n - 1);
        sign = -sign;
    }
    sum
}
