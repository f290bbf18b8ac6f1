//! Problems of the GradBench suite in plain loops, as in a C program, compared with the suite's
//! reference results: to 1e-12 of the largest entry, and with the same bits on every memory layout
//! of the inputs.

mod layouts;
#[path = "programs/loops.rs"]
mod loops;
mod reference;

use ad::prelude::*;
use layouts::{on_every_layout, stored};
use loops::{
    gmm_value_and_grad, kmeans_value_and_grad, llsq_value_and_grad, lse_value_and_grad, lstm_value_and_grad, ode_vjp,
};
use reference::{agree, agree_scalar, matrix, read, size, vector};

#[test]
fn log_sum_exp() {
    for file in ["lse_n10", "lse_n50_wide"] {
        let case = read(file);
        let x = vector(&case["input"]["x"]);
        let (value, gradient) = on_every_layout(|layout| lse_value_and_grad(&stored(&x, layout)));
        agree_scalar(value, &case["objective"]);
        agree(&gradient, &vector(&case["gradient"]));
    }
}

#[test]
fn least_squares() {
    for file in ["llsq_n10_m4", "llsq_n11_m6"] {
        let case = read(file);
        let (x, n) = (vector(&case["input"]["x"]), size(&case["input"]["n"]));
        let (value, gradient) = on_every_layout(|layout| llsq_value_and_grad(&stored(&x, layout), n));
        agree_scalar(value, &case["objective"]);
        agree(&gradient, &vector(&case["gradient"]));
    }
}

#[test]
fn k_means() {
    for file in ["kmeans_n20_d2_k3", "kmeans_n200_d5_k10"] {
        let case = read(file);
        let (points, centroids) = (matrix(&case["input"]["points"]), matrix(&case["input"]["centroids"]));
        let (value, gradient) =
            on_every_layout(|layout| kmeans_value_and_grad(&stored(&points, layout), &stored(&centroids, layout)));
        agree_scalar(value, &case["cost"]);
        agree(&gradient, &matrix(&case["gradient"]));
    }
}

#[test]
fn gaussian_mixture() {
    for file in ["gmm_n20_d3_k4_m2", "gmm_n100_d2_k5_m0"] {
        let case = read(file);
        let input = &case["input"];
        let x = matrix(&input["x"]);
        let (alpha, mu, q, l) =
            (vector(&input["alpha"]), matrix(&input["mu"]), matrix(&input["q"]), matrix(&input["l"]));
        let (m, gamma) = (size(&input["m"]), input["gamma"].as_f64().expect("a number"));
        let (value, gradients) = on_every_layout(|layout| {
            let (x, mu, q, l) = (stored(&x, layout), stored(&mu, layout), stored(&q, layout), stored(&l, layout));
            gmm_value_and_grad(&x, &stored(&alpha, layout), &mu, &q, &l, m, gamma)
        });
        let expected = &case["gradient"];
        agree_scalar(value, &case["objective"]);
        agree(&gradients.0, &vector(&expected["alpha"]));
        agree(&gradients.1, &matrix(&expected["mu"]));
        agree(&gradients.2, &matrix(&expected["q"]));
        agree(&gradients.3, &matrix(&expected["l"]));
    }
}

#[test]
fn runge_kutta() {
    for file in ["ode_n4_s1", "ode_n4_s3", "ode_n8_s10"] {
        let case = read(file);
        let (x, steps) = (vector(&case["input"]["x"]), size(&case["input"]["s"]));
        let last = one_hot(x.len(), x.len() - 1);
        let (value, gradient) = on_every_layout(|layout| ode_vjp(&stored(&x, layout), steps, &last));
        agree(&value, &vector(&case["primal"]));
        agree(&gradient, &vector(&case["gradient"]));
    }
}

#[test]
fn long_short_term_memory() {
    for file in ["lstm_l1_c10_b7", "lstm_l2_c64_b7"] {
        let case = read(file);
        let read = |name: &str| matrix(&case["input"][name]);
        let (main, extra, state, sequence) =
            (read("main_params"), read("extra_params"), read("state"), read("sequence"));
        let (value, gradients) = on_every_layout(|layout| {
            let at = |x: &Array2<f64>| stored(x, layout);
            lstm_value_and_grad(&at(&main), &at(&extra), &at(&state), &at(&sequence))
        });
        agree_scalar(value, &case["objective"]);
        let gradient: Vec<f64> = gradients.0.iter().chain(&gradients.1).copied().collect();
        agree(&Array1::from(gradient), &vector(&case["gradient"]));
    }
}
