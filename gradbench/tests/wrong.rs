//! Wrong messages: each has an answer that says what is wrong.

use serde_json::{Value, json};

#[track_caller]
fn answer(message: &Value) -> Value {
    serde_json::from_str(&ad_gradbench::answer(message.to_string().as_bytes())).expect("JSON")
}

/// Asserts the error of an answer.
#[track_caller]
fn refused(message: &Value, error: &str) {
    assert_eq!(answer(message), json!({"id": message["id"], "success": false, "error": error}));
}

/// Asserts the error of an evaluation.
#[track_caller]
fn wrong_input(module: &str, function: &str, input: &Value, error: &str) {
    let message = json!({"id": 3, "kind": "evaluate", "module": module, "function": function, "input": input});
    refused(&message, &format!("`{function}` of `{module}`: {error}"));
}

#[test]
fn what_is_no_message() {
    for (line, id) in
        [("", "null"), ("{", "null"), ("[1]", "null"), ("{\"id\": 4, \"kind\": 5}", "4"), ("\u{7f}", "null")]
    {
        let answer: Value = serde_json::from_str(&ad_gradbench::answer(line.as_bytes())).expect("JSON");
        assert_eq!((answer["id"].to_string(), &answer["success"]), (id.to_string(), &json!(false)), "{answer}");
        let error = answer["error"].as_str().expect("a text");
        assert!(error.starts_with("this is no message of the protocol: "), "{error}");
    }
    assert!(ad_gradbench::answer(b"\xff").contains("no message"));
}

#[test]
fn other_kinds_have_the_identity_alone() {
    let analysis = json!({"id": 5, "kind": "analysis", "of": 1, "valid": false, "error": "e"});
    let unknown = json!({"id": 6, "kind": "what comes later", "x": []});
    for message in [analysis, unknown, json!({"id": "text"})] {
        assert_eq!(answer(&message), json!({"id": message["id"]}));
    }
    assert_eq!(answer(&json!({"id": 0, "kind": "start"})), json!({"id": 0, "tool": "ad"}));
}

#[test]
fn names() {
    let modules = "hello, lse, llsq, det, ode, gmm, kmeans, lstm, ba, ht, particle, saddle";
    refused(
        &json!({"id": 1, "kind": "define", "module": "mnist"}),
        &format!("there is no module `mnist`; there are {modules}"),
    );
    refused(&json!({"id": 1, "kind": "define"}), "the message names no `module`");
    refused(
        &json!({"id": 2, "kind": "evaluate", "module": "mnist", "function": "f", "input": 1}),
        &format!("there is no module `mnist`; there are {modules}"),
    );
    refused(
        &json!({"id": 2, "kind": "evaluate", "module": "det", "function": "jacobian", "input": {}}),
        "module `det` has no function `jacobian`; there are primal, gradient",
    );
    refused(&json!({"id": 2, "kind": "evaluate", "module": "det"}), "the message names no `function`");
}

#[test]
fn inputs() {
    let e = |text: &str| format!("the input is wrong: {text}");
    wrong_input("det", "primal", &json!({"A": [1.0]}), &e("missing field `ell`"));
    wrong_input("det", "gradient", &json!({"A": [1.0], "ell": 2}), &e("`A` has 1 numbers, but `ell` is 2"));
    wrong_input("det", "gradient", &json!({"A": [], "ell": 0}), &e("`ell` is 0, but it must be at least 1"));
    let huge = json!({"A": [], "ell": u64::MAX});
    wrong_input("det", "primal", &huge, &e("`A` has 0 numbers, but `ell` is 18446744073709551615"));
    wrong_input("ode", "gradient", &json!({"x": [], "s": 1}), &e("the length of `x` is 0, but it must be at least 1"));
    wrong_input("ode", "gradient", &json!({"x": [1.0], "s": 0}), &e("`s` is 0, but it must be at least 1"));
    wrong_input("llsq", "primal", &json!({"x": [1.0], "n": 1}), &e("`n` is 1, but it must be at least 2"));
    wrong_input(
        "kmeans",
        "dir",
        &json!({"points": [[1.0, 2.0], [3.0]], "centroids": [[1.0, 2.0]]}),
        &e("row 1 has 1 numbers, but row 0 has 2"),
    );
    wrong_input(
        "kmeans",
        "cost",
        &json!({"points": [[1.0, 2.0]], "centroids": [[1.0]]}),
        &e("a row of `points` has size 2, but it must be 1"),
    );
    let none = json!({"points": [[1.0]], "centroids": []});
    wrong_input("kmeans", "cost", &none, &e("the number of centroids is 0, but it must be at least 1"));
    wrong_input("hello", "square", &json!("three"), &e("invalid type: string \"three\", expected f64"));
    wrong_input("lse", "primal", &json!({"x": [1.0, null]}), &e("invalid type: null, expected f64"));
    wrong_input("lse", "primal", &json!({"x": [1.0], "min_runs": -1}), &e("invalid value: integer `-1`, expected u64"));
    let lstm = json!({
        "main_params": [[1.0, 1.0, 1.0, 1.0], [1.0, 1.0, 1.0, 1.0]], "extra_params": [[1.0], [1.0]],
        "state": [[1.0], [1.0]], "sequence": [[1.0], [1.0]],
    });
    wrong_input("lstm", "jacobian", &lstm, &e("`extra_params` has size (2, 1), but it must be (3, 1)"));
    let gmm = json!({
        "d": 2, "k": 1, "n": 1, "x": [[1.0, 2.0]], "m": 0, "gamma": 1.0, "alpha": [1.0], "mu": [[1.0, 2.0]],
        "q": [[1.0, 2.0]], "l": [[1.0, 2.0]],
    });
    wrong_input("gmm", "objective", &gmm, &e("`l` has size (1, 2), but it must be (1, 1)"));
    let cam = [0.5; 11];
    let ba = json!({"n": 1, "m": 1, "p": 1u64 << 40, "cam": cam, "x": [1.0, 1.0, 1.0], "w": 1.0, "feat": [0.0, 0.0]});
    wrong_input("ba", "jacobian", &ba, &e("`p` is 1099511627776, which is too large"));
    let ba = json!({"n": 1, "m": 0, "p": 1, "cam": cam, "x": [1.0, 1.0, 1.0], "w": 1.0, "feat": [0.0, 0.0]});
    wrong_input("ba", "jacobian", &ba, &e("`m` is 0, but it must be at least 1"));
    let ba = json!({"n": 1, "m": 1, "p": 1, "cam": [0.5], "x": [1.0, 1.0, 1.0], "w": 1.0, "feat": [0.0, 0.0]});
    wrong_input("ba", "objective", &ba, &e("invalid length 1, expected an array of length 11"));
}

/// What a function refuses itself is its panic.
#[test]
fn a_panic_is_an_answer() {
    let message = json!({"id": 9, "kind": "evaluate", "module": "lse", "function": "gradient", "input": {"x": []}});
    let answer = answer(&message);
    let error = answer["error"].as_str().expect("a text");
    assert_eq!((&answer["id"], &answer["success"]), (&json!(9), &json!(false)));
    assert!(error.starts_with("`gradient` of `lse`: ") && error.contains("maximum"), "{error}");
}
