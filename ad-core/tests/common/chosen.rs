//! Programs for choices by cost that no other test program has: products and sums in loops,
//! windows, scattered sums.

use quote::quote;

use super::{Program, real};

/// The list of programs.
pub fn programs() -> Vec<Program> {
    let numbers = |n: usize| (0..n).map(|k| (k as f64 * 0.7).sin()).collect::<Vec<f64>>();
    let vector = |n: usize| real(&[n], &numbers(n));
    let table = |rows: usize, columns: usize| real(&[rows, columns], &numbers(rows * columns));
    let mut all = Vec::new();
    let mut add = |name, item, inputs: Vec<_>| all.push(Program { name, item, inputs });
    // The elements below diagonals, packed.
    for (name, n, k, d) in
        [("packed_0", 0, 2, 3), ("packed_5", 5, 2, 3), ("packed_19", 19, 3, 4), ("packed_1", 3, 1, 1)]
    {
        add(
            name,
            quote! { fn f(x: &Array2<f64>, l: &Array2<f64>) -> f64 { let (n, d) = x.dim(); let k = l.nrows(); let mut total = 0.0; for i in 0..n { let mut beta = Array1::<f64>::zeros(k); for c in 0..k { let mut squares = 0.0; for r in 0..d { let mut z = x[[i, r]]; for j in 0..r { z += l[[c, j * (2 * d - j - 1) / 2 + r - j - 1]] * x[[i, j]]; } squares += z * z; } beta[c] = -0.5 * squares; } total += logsumexp(&beta); } total } },
            vec![table(n, d), table(k, d * (d - 1) / 2)],
        );
    }
    add(
        "recurrent_net",
        quote! { fn f(w: &Array2<f64>, u: &Array2<f64>, x: &Array2<f64>) -> f64 { let mut h = Array1::<f64>::zeros(w.nrows()); for t in 0..x.nrows() { h = (w.dot(&h) + u.dot(&x.row(t))).mapv(f64::tanh); } h.sum() } },
        vec![table(3, 3), table(3, 2), table(5, 2)],
    );
    add(
        "sum_of_product",
        quote! { fn f(a: &Array2<f64>, x: &Array1<f64>) -> f64 { a.dot(x).sum() } },
        vec![table(4, 3), vector(3)],
    );
    add(
        "convolved",
        quote! { fn f(x: &Array1<f64>, w: &Array1<f64>) -> f64 { let y = build1(x.len() + 1 - w.len(), |i| build1(w.len(), |j| w[j] * x[i + j]).sum()); (&y * &y).sum() } },
        vec![vector(20), vector(3)],
    );
    // Sums within a step, sums of rows that are saved, and arrays of which each step has a part.
    add(
        "sums_of_steps",
        quote! { fn f(x: &Array1<f64>, m: &Array2<f64>) -> f64 { let mut h = x[0]; let mut v = Array1::<f64>::zeros(m.ncols()); let mut y = Array1::<f64>::zeros(m.nrows()); let mut s = 0.0; for i in 0..m.nrows() { h = (h * 0.5 + x[i % x.len()]).sin(); s += x[i % x.len()] * h; v = &v + &(&m.row(i) * h); y[i] += m[[i, 0]] * x[0]; } s + (&v * &v).sum() + (&y * &y).sum() } },
        vec![vector(4), table(6, 3)],
    );
    // An arm that replaces an array.
    add(
        "seldom_replaced",
        quote! { fn f(x: &Array1<f64>) -> f64 { let n = x.len(); let mut a = x.clone(); for i in 0..2 * n { if i % n == 3 { a = a.mapv(f64::sin); } else { a[i % n] = a[(7 * i) % n] * a[i % n] + 0.1; } } a.sum() } },
        vec![vector(6)],
    );
    all
}
