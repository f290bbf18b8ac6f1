//! Arrays that nested loops change: some changes must be in place, and some must copy. Loops that
//! save values in their counting run.

use proc_macro2::TokenStream;
use quote::quote;

use super::{Program, real};

/// The list of programs.
pub(super) fn programs() -> Vec<Program> {
    let mut all = Vec::new();
    let mut add = |name, item: TokenStream| {
        let inputs = vec![real(&[4], &[0.5, -1.5, 2.0, 0.75])];
        all.push(Program { name, item, inputs });
    };
    add(
        "copied_before_choice",
        quote! { fn copied_before_choice(x: &Array1<f64>) -> f64 { let n = x.len(); let mut a = x.clone(); let mut s = 0.0; for i in 0..n { let mut b = a.clone(); b[i] = a[i] * 2.0 + s; s += b[(i + 1) % n] * b[i]; if s > -1.0 { a = b; } } s + a[0] * a[n - 1] } },
    );
    add(
        "changed_in_both_arms",
        quote! { fn changed_in_both_arms(x: &Array1<f64>) -> f64 { let n = x.len(); let mut a = x.clone(); for i in 0..n { if a[i] > 0.6 { a[(i + 1) % n] += a[i] * a[i]; } else { a[(i + 2) % n] *= a[i]; a[i] = 0.3; } } (&a * &a).sum() } },
    );
    add(
        "former_state_in_inner_loop",
        quote! { fn former_state_in_inner_loop(x: &Array1<f64>) -> f64 { let n = x.len(); let mut a = x.clone(); for k in 0..n { let b = a.clone(); for i in 0..n { a[i] += b[(i + k) % n] * a[(i + 1) % n] * 0.5; } } (&a * &a).sum() } },
    );
    add(
        "inner_loop_in_an_arm",
        quote! { fn inner_loop_in_an_arm(x: &Array1<f64>) -> f64 { let n = x.len(); let mut a = x.clone(); for k in 0..n { if a[k] > 0.6 { for i in 0..n { a[i] -= a[k] * 0.1 * a[(i + 1) % n]; } } else { a[k] *= 1.5; } } (&a * &a).sum() } },
    );
    add(
        "changed_around_inner_loops",
        quote! { fn changed_around_inner_loops(x: &Array1<f64>) -> f64 { let n = x.len(); let mut a = x.clone(); let mut s = 0.0; for k in 0..n { let old = a[k]; a[k] += 0.25; for i in 1..n { a[i] = a[i] * a[i - 1] * 0.5; } s += a[1] * old; a[1] = s; for i in 0..k { a[k] -= a[i] * a[i]; } a[k] *= old; } s + (&a * &a).sum() } },
    );
    add(
        "two_arrays_change_places",
        quote! { fn two_arrays_change_places(x: &Array1<f64>) -> f64 { let n = x.len(); let (mut a, mut b) = (x.clone(), x.mapv(|v| v * v)); for k in 0..n { for i in 0..n { let t = a[i]; a[i] = b[(i + k) % n] * 0.5; b[(i + k) % n] = t; } std::mem::swap(&mut a, &mut b); a[k] += b[0] * 0.25; } (&a * &b).sum() } },
    );
    add(
        "replaced_in_inner_loop",
        quote! { fn replaced_in_inner_loop(x: &Array1<f64>) -> f64 { let n = x.len(); let mut a = x.clone(); for k in 0..n { a[k] *= 0.5; for i in 0..3 { let c = a.mapv(|v| v * 0.9 + 0.1 * a[i]); a = c; a[i] += 0.2; } } (&a * &a).sum() } },
    );
    add(
        "both_from_one",
        quote! { fn both_from_one(x: &Array1<f64>) -> f64 { let n = x.len(); let mut a = x.clone(); let mut s = 0.0; for k in 0..n { let mut b = a.clone(); for i in 0..n { a[i] *= 0.5; b[i] += a[(i + 1) % n] * b[k]; } s += b[k] * a[0]; } s } },
    );
    add(
        "stops_inside",
        quote! { fn stops_inside(x: &Array1<f64>) -> f64 { let n = x.len(); let mut a = x.clone(); for k in 0..n { a[k] += 0.1; let mut i = 0; while i < n && a[i].abs() < 1.8 { a[(i + k) % n] *= 1.25; i += 1; } a[k] *= a[k]; } a.sum() } },
    );
    add(
        "three_deep",
        quote! { fn three_deep(x: &Array1<f64>) -> f64 { let n = x.len(); let mut a = x.clone(); let mut c = 1.0; for k in 0..n { a[k] *= c; for i in k + 1..n { a[i] = a[i] / (2.0 + a[k] * a[k]); for j in 0..i { a[i] -= a[j] * a[k] * c; c *= 0.9; } c += a[i] * 0.1; } } c + (&a * &a).sum() } },
    );
    add(
        "state_before_and_behind",
        quote! { fn state_before_and_behind(x: &Array1<f64>) -> f64 { let n = x.len(); let mut a = x.clone(); let mut s = 0.0; for k in 0..n { let before = a.clone(); for i in 0..n { a[i] = a[i] * 0.5 + a[k]; } s += (&before * &a).sum(); } s } },
    );
    add(
        "saved_while_counted",
        quote! { fn saved_while_counted(x: &Array1<f64>) -> f64 { let a = x[0] * x[0] + 1.0; let mut y = a; let mut v = x.clone(); while (y * y - a).abs() > 1e-9 { y = 0.5 * (y + a / y); v = v.mapv(|e| e * y.sin() + x[1]); } y + (&v * &v).sum() } },
    );
    add(
        "saved_until_it_breaks",
        quote! { fn saved_until_it_breaks(x: &Array1<f64>) -> f64 { let n = x.len(); let mut s = 0.1_f64; let mut y = x.clone(); for i in 0..20 { if s > 1.2 { break; } s = s * 1.1 + x[i % n] * x[i % n] * s.sin(); y[i % n] *= s; } s + y.sum() } },
    );
    add(
        "saved_until_it_breaks_backwards",
        quote! { fn saved_until_it_breaks_backwards(x: &Array1<f64>) -> f64 { let mut s = 0.1_f64; for i in (0..x.len()).rev() { if s > 0.6 { break; } s = s * 1.5 + x[i] * x[i] * s.cos(); } s } },
    );
    add(
        "counted_in_a_loop_that_carries",
        quote! { fn counted_in_a_loop_that_carries(x: &Array1<f64>) -> f64 { let mut s = 0.3_f64; let mut p = 1.0; for i in 0..x.len() { for j in 0..x.len() { if x[j] * s > 0.9 { break; } s = s * 0.9 + x[j] * x[i] * s.sin(); } p *= s + x[i]; if s > 0.2 { let mut k = 0; while s.abs() < 2.0 && k < 7 { s *= 1.3; p += s * 0.1; k += 1; } } } s + p } },
    );
    add(
        "sorted_by_insertion",
        quote! { fn sorted_by_insertion(x: &Array1<f64>) -> f64 { let mut y = x.clone(); for i in 1..y.len() { let mut j = i; while j > 0 && y[j - 1] > y[j] { let t = y[j]; y[j] = y[j - 1]; y[j - 1] = t; j -= 1; } } let mut s = 0.0; for i in 0..y.len() { s += y[i] * y[i] * (i as f64); } s } },
    );
    add(
        "inner_loops_save_while_the_outer_one_counts",
        quote! { fn inner_loops_save_while_the_outer_one_counts(x: &Array1<f64>) -> f64 { let n = x.len(); let mut y = x.clone(); let mut s = 0.5; for i in 0..n { if x[i] > -1.0 { let mut j = 0; while j < n && y[j] < 1.8 { y[j] = y[j] * y[(j + 1) % n] * 0.1 + x[i].abs() + 0.3 * s; j += 1; } s += y[i]; } for j in 0..i { if y[j] > 2.5 { break; } y[j] *= y[i] * 0.5; s *= 0.9; } } s + (&y * &y).sum() } },
    );
    add(
        "rows_of_inner_loops_that_stop",
        quote! { fn rows_of_inner_loops_that_stop(x: &Array1<f64>) -> f64 { let n = x.len(); let mut m = Array2::zeros((n, 2)); let mut v = x.slice(s![..2]).to_owned(); for i in 0..n { let mut k = 0; while v[0].abs() + v[1].abs() < 4.0 && k < 5 + i { v = v.mapv(|e| e * 1.2 + x[i] * 0.1); m[[i, k % 2]] += v[0] * v[1]; k += 1; } v = v.mapv(|e| e * 0.5); } (&m * &m).sum() + v.sum() } },
    );
    add(
        "saved_under_a_condition",
        quote! { fn saved_under_a_condition(x: &Array1<f64>) -> f64 { let mut y = x[0]; if x[1] < 0.0 { while y < 5.0 { y = y * 1.3 + x[2]; } } else { while y < 7.0 { y += x[3]; } } y * y } },
    );
    add(
        "read_in_an_arm_that_has_changed_it",
        quote! { fn read_in_an_arm_that_has_changed_it(x: &Array1<f64>) -> f64 { let n = x.len(); let mut a = x.clone(); let mut s = 0.0; for i in 0..n { let k = (a[i] * 3.7).abs() as usize % n; let mut t = 0.5; if x[i] > 0.6 { a[i] = x[i] * 2.0; t = a[k] * x[i]; } a[k] = 3.0 * x[i] + s; s += t * t; } s + (&a * &a).sum() } },
    );
    add(
        "read_behind_a_change_in_an_arm",
        quote! { fn read_behind_a_change_in_an_arm(x: &Array1<f64>) -> f64 { let n = x.len(); let mut a = x.clone(); let mut s = 0.0; for i in 0..n { let k = (x[i] * 3.7).abs() as usize % n; if x[i] > 0.6 { a[k] = x[i] * a[i]; s += a[k] * a[i]; } else if x[i] < 0.0 { a[i] *= a[k]; } a[i] += a[i] * a[k] * 0.5; s += a[(i + 1) % n] * a[k]; } s + (&a * &a).sum() } },
    );
    add(
        "left_for_the_next_row",
        quote! { fn left_for_the_next_row(x: &Array1<f64>) -> f64 { let mut s = 0.5; 'rows: for i in 0..x.len() { for j in 0..i { if x[i] + x[j] < -1.3 { continue 'rows; } if x[i] * x[j] > 1.4 { break 'rows; } s += x[i] * x[j] * s; } s *= 1.5; } s } },
    );
    add(
        "loops_before_a_loop",
        quote! { fn loops_before_a_loop(x: &Array1<f64>) -> f64 { let mut y = x[0]; let mut z = vec![y]; while y < 3.0 { y = y * 1.5 + 0.1; z.push(y * x[2]); } let mut p = 1.0; while p * y > 0.7 { p *= 0.8; } let mut s = 1.0; for i in 0..z.len() { s = s * p * 0.5 + z[i] * y; } for v in x { s += v * y * s * 0.1; } s } },
    );
    all
}
