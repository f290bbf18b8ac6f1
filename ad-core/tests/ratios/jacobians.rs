//! Jacobians, compared with a loop of products: never more numbers or work than one product for
//! each column, or for each row, whichever is less.

use std::fmt::Write as _;

use proc_macro2::TokenStream;
use quote::quote;

use super::count;
use super::law::measured;

/// Functions of a vector, as people write residuals: the name of each, and its text.
fn programs() -> Vec<(&'static str, TokenStream)> {
    vec![
        (
            "hand",
            quote! {
                pub fn hand(x: &Array1<f64>) -> Array1<f64> {
                    let n = (x.len() - 4) / 4;
                    let mut y: Array1<f64> = Array1::zeros(12 * n);
                    for finger in 0..n {
                        let (mut a, mut u, mut v) = (x[0], x[1], x[2]);
                        for joint in 0..4 {
                            a += x[4 + finger * 4 + joint];
                            u += a.cos() * x[3];
                            v += a.sin() * x[3];
                            let at = (finger * 4 + joint) * 3;
                            y[at] = u;
                            y[at + 1] = v;
                            y[at + 2] = x[3] * u * v;
                        }
                    }
                    y
                }
            },
        ),
        (
            "hand_of_known_size",
            quote! {
                pub fn hand_of_known_size(x: &Array1<f64>) -> Array1<f64> {
                    let mut y: Array1<f64> = Array1::zeros(24);
                    for finger in 0..2 {
                        let (mut a, mut u, mut v) = (x[0], x[1], x[2]);
                        for joint in 0..4 {
                            a += x[4 + finger * 4 + joint];
                            u += a.cos() * x[3];
                            v += a.sin() * x[3];
                            let at = (finger * 4 + joint) * 3;
                            y[at] = u;
                            y[at + 1] = v;
                            y[at + 2] = x[3] * u * v;
                        }
                    }
                    y
                }
            },
        ),
        (
            "rosenbrock",
            quote! {
                pub fn rosenbrock(x: &Array1<f64>) -> Array1<f64> {
                    let n = x.len();
                    let mut r = Array1::zeros(2 * (n - 1));
                    for i in 0..n - 1 {
                        r[2 * i] = 10.0 * (x[i + 1] - x[i] * x[i]);
                        r[2 * i + 1] = 1.0 - x[i];
                    }
                    r
                }
            },
        ),
        (
            "recurrence",
            quote! {
                pub fn recurrence(x: &Array1<f64>) -> Array1<f64> {
                    let mut y = x.clone();
                    for i in 2..x.len() {
                        y[i] = 0.5 * (y[i - 1] * y[i - 2]).sin() + x[i];
                    }
                    y
                }
            },
        ),
        (
            "elements_of_two_states",
            quote! {
                pub fn elements_of_two_states(x: &Array1<f64>) -> Array1<f64> {
                    let mut y = x.clone();
                    for i in 1..x.len() {
                        let before = y[i];
                        y[i] = y[i - 1].sin() * before;
                        y[i - 1] = before * y[i];
                    }
                    y
                }
            },
        ),
        (
            "band",
            quote! {
                pub fn band(x: &Array1<f64>) -> Array1<f64> {
                    build1(x.len() - 1, |i| (x[i + 1] - x[i] * x[i]).sin())
                }
            },
        ),
        (
            "product",
            quote! {
                pub fn product(x: &Array1<f64>) -> Array1<f64> {
                    let a = build([x.len(), x.len()], |[i, j]| (i * j) as f64);
                    a.dot(&x.mapv(f64::sin))
                }
            },
        ),
    ]
}

#[test]
fn jacobians_cost_at_most_one_product_each() {
    let (mut lib, mut main) = (String::from(count::PRELUDE), String::from("use jacobians::*;\nuse ndarray::Array1;\n"));
    main.push_str(
        "fn unit(n: usize, k: usize) -> Array1<f64> { Array1::from_shape_fn(n, |i| f64::from(u8::from(i == k))) }\n\
         fn main() {\n",
    );
    for (name, item) in programs() {
        let expansion = ad_core::expansion(quote!(jacobian, jvp, vjp), item);
        assert!(expansion.errors.is_empty(), "{name}: {:?}", expansion.errors);
        lib.push_str(&count::instrumented(expansion.tokens, name, &["", "_jacobian", "_jvp", "_vjp"]));
        for (by, product, seeds) in [("columns", "jvp", "n"), ("rows", "vjp", "m")] {
            writeln!(
                main,
                "growing(\"{name}_by_{by}\", &[12, 18, 24], |n| {{ let x = Array1::from(numbers(n, 1)); \
                 let m = {name}(&x).len(); (0..{seeds}).map(|k| {name}_{product}(&x, &unit({seeds}, k)).1.sum()).sum() }}, \
                 |n| {name}_jacobian(&Array1::from(numbers(n, 1))).sum());"
            )
            .expect("a string grows");
        }
    }
    main.push_str("}\n");
    let out = count::run(&count::write("jacobians", &lib, &main), "emit-target");
    let mut wrong: Vec<String> = out.lines().filter(|l| l.starts_with("wrong:")).map(ToString::to_string).collect();
    for (name, _) in programs() {
        let [columns, rows] = ["columns", "rows"].map(|by| measured(&out, &format!("{name}_by_{by}")));
        assert!(columns.len() == 3 && rows.len() == 3, "{name}: {out}");
        for (columns, rows) in columns.iter().zip(&rows) {
            let least = |of: &dyn Fn(&super::law::Measured) -> [f64; 2]| of(columns)[0].min(of(rows)[0]);
            let parts =
                [columns.numbers[1] / least(&|m| m.numbers).max(1.0), columns.work[1] / least(&|m| m.work).max(1.0)];
            println!("{name:24} {:4}: numbers {:.2}, work {:.2} of the products", columns.size, parts[0], parts[1]);
            if parts.iter().any(|&part| part > 1.0) {
                wrong.push(format!("{name}: {parts:.2?} of the products at {}", columns.size));
            }
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}
