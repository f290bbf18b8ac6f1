//! Each function of each eval on small inputs, compared with the suite's results: to 1e-12 of the
//! largest number of a list, except for the searches, which stop at a tolerance.

mod common;

use common::{agree, case};
use serde_json::{Value, json};

/// The output of a function of an eval.
fn output(module: &str, function: &str, input: &Value) -> Value {
    let message = json!({"id": 7, "kind": "evaluate", "module": module, "function": function, "input": input});
    let mut answer: Value = serde_json::from_str(&ad_gradbench::answer(message.to_string().as_bytes())).expect("JSON");
    assert_eq!((&answer["id"], &answer["success"]), (&json!(7), &json!(true)), "{answer}");
    answer["output"].take()
}

/// Compares functions with fields of the files.
fn compare(files: &[&str], fields: &[(&str, &str)], tolerance: f64) {
    for file in files {
        let case = case(file);
        let module = case["eval"].as_str().expect("a name");
        for (function, field) in fields {
            let found = output(module, function, &case["input"]);
            agree(&format!("{file}, {function}"), &found, &case[field], tolerance);
        }
    }
}

#[test]
fn hello() {
    compare(&["hello.json"], &[("square", "objective"), ("double", "gradient")], 1e-15);
}

#[test]
fn lse() {
    compare(&["lse_n10.json", "lse_n50_wide.json"], &[("primal", "objective"), ("gradient", "gradient")], 1e-12);
}

#[test]
fn llsq() {
    compare(&["llsq_n10_m4.json", "llsq_n11_m6.json"], &[("primal", "objective"), ("gradient", "gradient")], 1e-12);
}

#[test]
fn det() {
    compare(&["det_l3.json", "det_l5.json"], &[("primal", "objective"), ("gradient", "gradient")], 1e-12);
}

#[test]
fn ode() {
    let files = ["ode_n4_s1.json", "ode_n4_s3.json", "ode_n8_s10.json"];
    compare(&files, &[("primal", "primal"), ("gradient", "gradient")], 1e-12);
}

#[test]
fn gmm() {
    let files = ["gmm_n20_d3_k4_m2.json", "gmm_n100_d2_k5_m0.json"];
    compare(&files, &[("objective", "objective"), ("jacobian", "gradient")], 1e-12);
}

#[test]
fn kmeans() {
    compare(&["kmeans_n20_d2_k3.json", "kmeans_n200_d5_k10.json"], &[("cost", "cost"), ("dir", "dir")], 1e-12);
}

#[test]
fn lstm() {
    let files = ["lstm_l1_c10_b7.json", "lstm_l2_c64_b7.json"];
    compare(&files, &[("objective", "objective"), ("jacobian", "gradient")], 1e-12);
}

/// The message of the suite repeats one camera; the case has several, and all elements.
#[test]
fn ba() {
    use ad_gradbench::programs::ba::{Observation, errors, jacobian};
    let case = case("ba_small.json");
    let numbers = |name: &str| -> Vec<f64> { serde_json::from_value(case["input"][name].clone()).expect("numbers") };
    let size = |name: &str| case["input"][name].as_u64().expect("a size") as usize;
    let unknowns = [numbers("cams"), numbers("X"), numbers("w")].concat();
    let pairs: Vec<usize> = serde_json::from_value(case["input"]["obs"].clone()).expect("indices");
    let features = numbers("feats");
    let seen: Vec<Observation> = (0..size("p"))
        .map(|i| Observation {
            camera: pairs[2 * i],
            point: pairs[2 * i + 1],
            feature: [features[2 * i], features[2 * i + 1]],
        })
        .collect();
    let found = errors(&unknowns, size("n"), size("m"), &seen);
    let (projections, weights) = found.split_at(2 * size("p"));
    agree("projections", &json!(projections), &case["objective"]["reproj_err"], 1e-12);
    agree("weights", &json!(weights), &case["objective"]["w_err"], 1e-12);
    let j = jacobian(&unknowns, size("n"), size("m"), &seen);
    let expected = &case["jacobian_csr"];
    assert_eq!([json!(j.rows), json!(j.cols)], [expected["nrows"].clone(), expected["ncols"].clone()]);
    assert_eq!((&json!(j.indptr), &json!(j.indices)), (&expected["rows"], &expected["cols"]));
    agree("Jacobian", &json!(j.values), &expected["vals"], 1e-12);
}

#[test]
fn ht() {
    let file = "ht_simple_small_hand1.json.gz";
    compare(&[file], &[("objective", "objective"), ("jacobian", "jacobian")], 1e-12);
}

/// Points in triangles: the columns of `us` come first. The suite's data has no result for it.
#[test]
fn ht_in_triangles() {
    let mut input = case("ht_simple_small_hand1.json.gz")["input"].take();
    let count = input["data"]["points"].as_array().expect("points").len();
    let us: Vec<[f64; 2]> = (0..count).map(|i| [0.1 + 0.002 * i as f64, 0.5 - 0.003 * i as f64]).collect();
    input["us"] = json!(us);
    let errors = |us: &[[f64; 2]], theta: &Value| -> Vec<f64> {
        let mut input = input.clone();
        (input["us"], input["theta"]) = (json!(us), theta.clone());
        serde_json::from_value(output("ht", "objective", &input)).expect("numbers")
    };
    let jacobian: Vec<Vec<f64>> = serde_json::from_value(output("ht", "jacobian", &input)).expect("rows");
    assert_eq!((jacobian.len(), jacobian[0].len()), (3 * count, 28));
    let h = 1e-6;
    for column in [0, 1, 2, 5, 8, 27] {
        let at = |by: f64| {
            let (mut us, mut theta) = (us.clone(), input["theta"].clone());
            if column < 2 {
                us.iter_mut().for_each(|u| u[column] += by);
            } else {
                theta[column - 2] = json!(theta[column - 2].as_f64().expect("a number") + by);
            }
            errors(&us, &theta)
        };
        for (i, (above, below)) in at(h).iter().zip(at(-h)).enumerate() {
            let quotient = (above - below) / (2.0 * h);
            assert!((jacobian[i][column] - quotient).abs() < 1e-8, "row {i}, column {column}: {quotient}");
        }
    }
}

#[test]
fn particle() {
    let fields = ["rr", "rf", "fr", "ff"].map(|f| (f, "output"));
    compare(&["particle.json"], &fields, 1e-10);
}

#[test]
fn saddle() {
    let fields = ["rr", "rf", "fr", "ff"].map(|f| (f, "output"));
    compare(&["saddle.json"], &fields, 1e-10);
}
