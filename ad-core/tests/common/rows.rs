//! Loops that carry rows whose elements are independent of each other, and sums over items with a
//! recurrence in each. There are numbers of elements for several full vectors, exactly one, a
//! remainder, and none.

use quote::quote;

use super::{Program, real, whole};

/// The list of programs.
pub fn programs() -> Vec<Program> {
    let wave = |n: usize| {
        let data: Vec<f64> = (0..n).map(|k| (k as f64 * 0.7).cos()).collect();
        real(&[n], &data)
    };
    let n = |n: usize| whole(&[], &[n]);
    let mut all = Vec::new();
    let mut add = |name, item, inputs: Vec<_>| all.push(Program { name, item, inputs });
    // Each of the carried values is the former value of the other.
    for (name, len) in [("crossed_0", 0), ("crossed_5", 5), ("crossed_16", 16), ("crossed_37", 37)] {
        add(
            name,
            quote! { fn f(x: &Array1<f64>, w: &Array1<f64>) -> f64 { let (a, b) = fold((x.clone(), w.clone()), 0..4_usize, |(a, b), k| { let c = &a * &b * 0.5 + k as f64 * 0.1; (c, a) }); (&a * &b).sum() } },
            vec![wave(len), wave(len)],
        );
    }
    // Functions, selections, and numbers that change in each step.
    add(
        "decaying_rows",
        quote! { fn f(x: &Array1<f64>, c: &Array1<f64>) -> f64 { let y = fold(x.clone(), 0..c.len(), |y, k| y.mapv(|e| if e > 0.0 { (e * c[k]).sin() } else { e * 0.5 - c[k] })); (&y * &y).sum() } },
        vec![wave(21), wave(5)],
    );
    add(
        "rows_of_all_steps",
        quote! { fn f(x: &Array1<f64>, c: &Array1<f64>) -> f64 { let mut y = x.clone(); let mut total = 0.0; for k in (0..c.len()).rev() { total += (&y * x).sum() * c[k]; y = (&y * 0.9 + c[k]).mapv(f64::tanh); } total } },
        vec![wave(35), wave(4)],
    );
    add(
        "rows_in_a_loop",
        quote! { fn f(x: &Array1<f64>, c: &Array1<f64>) -> f64 { let mut total = 0.0; for i in 0..3_usize { let mut y = x * (i as f64 + 0.5); for k in 0..c.len() { y = &y * c[k] + x; } total += y.sum() * total.cos(); } total } },
        vec![wave(18), wave(3)],
    );
    let powers = || {
        quote! { fn f(x: &Array1<f64>, n: usize) -> f64 { let mut total = 0.0; for i in 0..n { let t = i as f64 / 200.0 - 0.4; let mut power = 1.0; let mut r = t; for j in 0..x.len() { r -= x[j] * power; power *= t; } total += r * r; } total } }
    };
    for (name, of, len) in [
        ("powers_0", 0, 3),
        ("powers_5", 5, 3),
        ("powers_16", 16, 4),
        ("powers_128", 128, 1),
        ("powers_133", 133, 3),
        ("powers_270", 270, 2),
        ("powers_of_nothing", 20, 0),
    ] {
        add(name, powers(), vec![wave(len), n(of)]);
    }
    // Two sums read the rows of one loop.
    add(
        "powers_in_two_sums",
        quote! { fn f(x: &Array1<f64>, y: &Array1<f64>, n: usize) -> f64 { let mut total = 0.0; for i in 0..n { let t = i as f64 / 100.0; let mut power = 1.0; let mut r = 0.3; let mut q = t; for j in 0..x.len().min(y.len()) { r -= x[j] * power; q += (y[j] * power) * t; power = power * t + 0.1; } total += r * q.sin(); } total } },
        vec![wave(4), wave(5), n(40)],
    );
    // The saved value depends on active parameters, is expensive, and decides.
    add(
        "growth_of_items",
        quote! { fn f(x: &Array1<f64>, t: &Array1<f64>) -> f64 { let mut total = 0.0; for i in 0..t.len() { let mut h = 0.5; for j in 0..x.len() { h = h * t[i] + x[j] * h * h; } total += h; } total } },
        vec![wave(3), wave(37)],
    );
    add(
        "waves_of_items",
        quote! { fn f(x: &Array1<f64>, n: usize) -> f64 { let mut total = 0.0; for i in 0..n { let mut t = i as f64 * 0.01; let mut r = 0.0; for j in (0..x.len()).rev() { r += x[j] * t; t = (t + 0.3).sin(); } total += r * r; } total } },
        vec![wave(4), n(19)],
    );
    add(
        "steps_of_items",
        quote! { fn f(x: &Array1<f64>, n: usize) -> f64 { let mut total = 0.0; for i in 0..n { let mut t = i as f64 * 0.01; let mut r = 0.0; for j in 0..x.len() { r += if t > 0.2 { x[j] * t } else { x[j] }; t = t * 1.5 - 0.05; } total += r * r; } total } },
        vec![wave(4), n(33)],
    );
    all
}
