//! The size of the generated code is linear in the length of the function, for every kind of
//! statement: a chain that is twice as long gives about twice as much code.
//! (`ad-core/benches/expansion.rs` measures the time.)

use std::fmt::Write as _;

/// `head`, then `n` statements that define `y1`, `y2`, .. each from the previous one, then the last
/// one and `tail`.
fn chain(head: &str, statement: impl Fn(usize) -> String, tail: &str, n: usize) -> usize {
    let mut text = String::from(head);
    for k in 0..n {
        let _ = write!(text, "let y{} = {};", k + 1, statement(k));
    }
    let _ = write!(text, "y{n}{tail} }}");
    let item = text.parse().expect("tokens");
    let expansion = ad_core::expansion(proc_macro2::TokenStream::new(), item);
    assert!(expansion.errors.is_empty(), "{:?}", expansion.errors);
    expansion.tokens.to_string().len()
}

const SCALAR: &str = "fn f(x: f64) -> f64 { let y0 = x;";
const ARRAY: &str = "fn f(x: &Array1<f64>) -> f64 { let y0 = x.clone();";

#[test]
fn code_is_linear_in_the_function() {
    type Statement = fn(usize) -> String;
    let kinds: [(&str, Statement, &str); 8] = [
        (SCALAR, |k| format!("relu(y{k} * {k}.5)"), ""),
        (SCALAR, |k| format!("if y{k} > {k}.0 {{ y{k}.sin() }} else {{ 0.0 }}"), ""),
        (SCALAR, |k| format!("if y{k} > {k}.0 {{ y{k}.sin() }} else {{ y{k} * 2.0 }}"), ""),
        (SCALAR, |k| format!("select(x > {k}.0, y{k}.sin(), 0.0)"), ""),
        (ARRAY, |k| format!("y{k}.mapv(|v| v.sin() + {k}.0)"), ".sum()"),
        (ARRAY, |k| format!("&y{k} * y{k}.sum()"), ".sum()"),
        (ARRAY, |k| format!("build1(x.len(), |i| y{k}[i] * x[i])"), ".sum()"),
        (ARRAY, |k| format!("build1(x.len(), |i| if y{k}[i] > 0.0 {{ y{k}[i] }} else {{ x[i] * {k}.0 }})"), ".sum()"),
    ];
    for (head, statement, tail) in kinds {
        // Long enough that both chains need more than one nest.
        let (short, long) = (chain(head, statement, tail, 120), chain(head, statement, tail, 240));
        let ratio = long as f64 / short as f64;
        assert!(ratio < 2.3, "{}: twice as long, {ratio:.2} times the code", statement(0));
    }
}

/// The length of the code for a `match` with `n` arms before the last one.
fn matched(head: &str, arm: impl Fn(usize) -> String, n: usize) -> usize {
    let arms: String = (0..n).map(arm).collect();
    let item = format!("{head} {{ {arms} _ => x * 0.1 }} }}").parse().expect("tokens");
    let expansion = ad_core::expansion(proc_macro2::TokenStream::new(), item);
    assert!(expansion.errors.is_empty(), "{:?}", expansion.errors);
    expansion.tokens.to_string().len()
}

#[test]
fn code_is_linear_in_the_arms() {
    type Arm = fn(usize) -> String;
    let kinds: [(&str, Arm); 5] = [
        ("fn f(k: usize, x: f64, y: f64) -> f64 { match k", |k| format!("{k} => (x * {k}.5).sin() * y,")),
        ("fn f(k: i64, x: f64, y: f64) -> f64 { match k", |k| format!("{} => (x * {k}.5).sin() * y,", k * k)),
        ("fn f(k: usize, x: f64, y: f64) -> f64 { match k", |k| format!("{k} | 1{k:04} => (x * {k}.5).sin() * y,")),
        ("fn f(k: (i32, i32), x: f64, y: f64) -> f64 { match k", |k| {
            format!("({}, {}) => (x * {k}.5).sin() * y,", k / 7, k % 7)
        }),
        ("fn f(k: usize, x: f64, a: &[f64; 999]) -> f64 { match k", |k| format!("{k} => a[{k}] * x.sin() + {k}.5,")),
    ];
    for (head, arm) in kinds {
        let (short, long) = (matched(head, arm, 100), matched(head, arm, 200));
        let ratio = long as f64 / short as f64;
        assert!(ratio < 2.4, "{}: twice as many arms, {ratio:.2} times the code", arm(0));
    }
}

#[test]
fn a_thousand_arms_are_accepted() {
    let scalar = |k| format!("{k} => {{ (x * {k}.5).sin() * y }}");
    assert!(matched("fn f(k: u32, x: f64, y: f64) -> f64 { match k", scalar, 1000) > 0);
}

/// The length of the code for this many closures, each of which calls the previous one twice.
fn composed(first: &str, closure: impl Fn(usize) -> String, call: impl Fn(usize) -> String, n: usize) -> usize {
    let closures: String = (1..n).map(closure).collect();
    let item = format!("{first} {closures} {} }}", call(n - 1)).parse().expect("tokens");
    let expansion = ad_core::expansion(proc_macro2::TokenStream::new(), item);
    assert!(expansion.errors.is_empty(), "{:?}", expansion.errors);
    expansion.tokens.to_string().len()
}

#[test]
fn code_is_linear_in_the_closures() {
    let plain = |n| {
        let first = "fn f(x: f64) -> f64 { let f0 = |x: f64| x.sin() * 0.9;";
        composed(first, |k| format!("let f{k} = |x: f64| f{0}(f{0}(x)) + x * 0.{k};", k - 1), |k| format!("f{k}(x)"), n)
    };
    let capturing = |n| {
        let first =
            "fn f(x: f64, c: f64, a: &[f64; 30]) -> f64 { let n = 2; let f0 = |(x, y): (f64, f64)| (x * c, y.powi(n));";
        let body = |k| format!("let f{k} = |p| {{ let q = f{0}(p); f{0}((q.0 + a[{k}], q.1.sin())) }};", k - 1);
        composed(first, body, |k| format!("let y = f{k}((x, 1.5 * x)); y.0 * y.1"), n)
    };
    for chain in [&plain as &dyn Fn(usize) -> usize, &capturing] {
        let (short, long) = (chain(14), chain(28));
        let ratio = long as f64 / short as f64;
        assert!(ratio < 3.0, "twice as many closures, {ratio:.2} times the code");
    }
}
