//! Prints the times of the evals at the sizes for which `gradbench/README.md` has the ratios of
//! others: the least time of a call of the function and of its derivative, as the suite counts
//! them.
//!
//! cargo run --release -p ad-gradbench --example times

use serde_json::{Value, json};

/// Numbers between 0 and 1.
struct Numbers(u64);

impl Numbers {
    fn next(&mut self) -> f64 {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 11) as f64 / (1_u64 << 53) as f64
    }

    fn list(&mut self, n: usize) -> Vec<f64> {
        (0..n).map(|_| self.next()).collect()
    }

    fn rows(&mut self, n: usize, m: usize) -> Vec<Vec<f64>> {
        (0..n).map(|_| self.list(m)).collect()
    }
}

/// The least time of a call, in microseconds.
fn least(module: &str, function: &str, input: &Value) -> f64 {
    let mut input = input.clone();
    (input["min_runs"], input["min_seconds"]) = (json!(3), json!(1.0));
    let message = json!({"id": 0, "kind": "evaluate", "module": module, "function": function, "input": input});
    let answer: Value = serde_json::from_str(&ad_gradbench::answer(message.to_string().as_bytes())).expect("JSON");
    let timings = answer["timings"].as_array().unwrap_or_else(|| panic!("{answer}"));
    timings.iter().map(|t| t["nanoseconds"].as_f64().expect("a number")).fold(f64::INFINITY, f64::min) / 1e3
}

fn main() {
    let mut r = Numbers(1);
    let gmm = |r: &mut Numbers, d: usize, k: usize| {
        json!({
            "d": d, "k": k, "n": 1000, "x": r.rows(1000, d), "m": 0, "gamma": 1.0, "alpha": r.list(k),
            "mu": r.rows(k, d), "q": r.rows(k, d), "l": r.rows(k, d * (d - 1) / 2),
        })
    };
    let lstm = json!({
        "main_params": r.rows(4, 56), "extra_params": r.rows(3, 14), "state": r.rows(4, 14),
        "sequence": r.rows(1024, 14),
    });
    let cam = [-0.76, -1.11, -0.85, 34.6, 39.7, 53.9, 419.2, 5.86, -8.52, 0.088, 0.0027];
    let ba = json!({
        "n": 49, "m": 7776, "p": 31843, "cam": cam, "x": [7.2, 0.001, 3.02], "w": 0.417, "feat": [271.8, 834.2],
    });
    let (small, large) = (gmm(&mut r, 10, 25), gmm(&mut r, 64, 100));
    let all = [
        ("lse", "n 10 000", ["primal", "gradient"], json!({"x": r.list(10_000)})),
        ("llsq", "n 1024", ["primal", "gradient"], json!({"x": r.list(128), "n": 1024})),
        ("det", "9 x 9", ["primal", "gradient"], json!({"A": r.list(81), "ell": 9})),
        ("ode", "n 1000, s 10", ["primal", "gradient"], json!({"x": r.list(1000), "s": 10})),
        ("gmm", "d 10, k 25", ["objective", "jacobian"], small),
        ("gmm", "d 64, k 100", ["objective", "jacobian"], large),
        (
            "kmeans",
            "k 100, n 10 000",
            ["cost", "dir"],
            json!({"points": r.rows(10_000, 8), "centroids": r.rows(100, 8)}),
        ),
        ("lstm", "l 2, c 1024", ["objective", "jacobian"], lstm),
        ("ba", "first file", ["objective", "jacobian"], ba),
        ("particle", "ff, then rr", ["ff", "rr"], json!({"w": 0.0})),
        ("saddle", "ff, then rr", ["ff", "rr"], json!({"start": [1.0, 1.0]})),
    ];
    println!("| eval | size | function | derivative | ratio |\n| --- | --- | --- | --- | --- |");
    for (module, size, functions, input) in &all {
        let [own, derived] = functions.map(|f| least(module, f, input));
        println!("| {module} | {size} | {own:.1} us | {derived:.1} us | {:.2} |", derived / own);
    }
}
