//! 60 000 mutated functions from fixed seeds: the compiler neither panics nor hangs nor uses too
//! much memory, whatever the tokens are.

#[path = "common/mutate.rs"]
mod mutate;
#[path = "common/torture.rs"]
mod torture;

#[global_allocator]
static MEMORY: torture::Counting = torture::Counting;

#[test]
fn mutated_functions() {
    let functions = mutate::Corpus::collect(&torture::root()).functions.len();
    assert!(functions > 150, "only {functions} functions were found");
    let mut failures = Vec::new();
    let mut tally = torture::Tally::default();
    // Two seeds at a time: the time of an input has a limit, so each needs a core of its own.
    let parts = [[1, 2], [3, 4]].into_iter().flat_map(|seeds| {
        std::thread::scope(|scope| {
            let seeds = seeds.map(|seed| scope.spawn(move || (seed, torture::run(seed, 0..15_000))));
            seeds.map(|seed| seed.join().expect("a seed ends"))
        })
    });
    for (seed, (part, bad)) in parts {
        failures.extend(bad.into_iter().map(|(number, what)| format!("--seed {seed} --only {number}: {what}")));
        tally.accepted += part.accepted;
        tally.refused += part.refused;
    }
    assert!(
        failures.is_empty(),
        "{} of 60000 failed; see them with `cargo run -p ad-core --example mutate -- ..`\n{}",
        failures.len(),
        failures.iter().take(20).cloned().collect::<Vec<_>>().join("\n")
    );
    assert!(tally.accepted > 1_800, "hardly anything is accepted: {tally:?}");
    assert!(tally.refused > 18_000, "hardly anything is refused: {tally:?}");
}

/// Mutations that were compiled wrongly once: the bounds of an index took time that was exponential
/// in the length of the chain, the sizes of what a loop saves overflowed, a function with a
/// derivative of a function that has no valid signature was said to have an internal error, and
/// lists of arrays of two sizes were merged.
#[test]
fn mutations_that_failed_once() {
    let chain = ".mapv(|v| v + v)".repeat(100);
    let inputs = [
        (
            "",
            format!(
                "fn normalized(x: &[f64], most: f64) -> f64 {{
                    let n = x.len();
                    let mut h = x.to_vec();
                    let mut c = 0.3;
                    for i in 0..n {{
                        for j in 0..n {{
                            if h[j] > most {{
                                c = h.iter().sum::<f64>().sin();
                            }} else {{
                                c = (c * 1.01).min(0.8);
                                h[i{chain}] += 0.1 * c * h[j];
                            }}
                        }}
                    }}
                    c + h.iter().sum::<f64>()
                }}"
            ),
        ),
        (
            "hvp",
            "fn table(x: Array1<f64>, back: usize) -> f64 {
                let n = x.len();
                let mut t = Array2::zeros((n, 9223372036854775807));
                for i in 0..n {
                    for j in 0..n {
                        let mut v = x[j];
                        for k in 0..i {
                            v = t[[k, j]] * t[[k, n]]
                        }
                        t[[i, j]] = v
                    }
                    if i > back {
                        t *= 0.5
                    }
                }
                t.sum()
            }"
            .into(),
        ),
        (
            "",
            "mod marked {
                #[differentiate(hvp)]
                fn wave(x: x) {}
                #[differentiate]
                fn slope(x: f64) -> f64 {
                    wave_hvp()
                }
            }"
            .into(),
        ),
        (
            "",
            format!(
                "fn of_parts(x: &Array1<f64>) -> f64 {{
                    let mut total = 0.0;
                    for i in 1..x.len() {{
                        total += x.slice(s![..i{chain}]).sum();
                    }}
                    total
                }}"
            ),
        ),
        (
            "",
            "fn bezier(points: &[[f64; x]], t: f64) -> f64 {
                let mut arrays = points;
                while arrays.len() > 1 {
                    let between = |w, k| w[1][k];
                    arrays = arrays.windows(2).map(|w| [between(w, 0), between(w, 1)]).collect()
                }
            }"
            .into(),
        ),
    ];
    for (attr, item) in inputs {
        let outcome = torture::judge(&attr.parse().expect("tokens"), &item.parse().expect("tokens"));
        assert!(outcome.is_ok(), "{outcome:?}\n{item}");
    }
}

/// Every macro refuses tokens that nest deeply before it parses them: a stack overflow cannot be
/// caught. The stack here is a quarter of that of a macro.
#[test]
fn no_macro_parses_what_nests_too_deeply() {
    let test = || {
        let (open, close) = ("(".repeat(3000), ")".repeat(3000));
        let tokens = |text: String| -> proc_macro2::TokenStream { text.parse().expect("the text has tokens") };
        let function = tokens(format!("fn f(x: f64) -> f64 {{ {open}x{close} }}"));
        let module = tokens(format!("mod m {{ pub fn f(x: f64) -> f64 {{ {open}x{close} }} }}"));
        let block = tokens(format!("impl S {{ fn f(x: f64) -> f64 {{ {open}x{close} }} }}"));
        let kind = tokens(format!("struct S {{ x: [f64; {open}3{close}] }}"));
        let none = proc_macro2::TokenStream::new;
        let numbers = tokens("mode = \"dual_numbers\"".into());
        for attr in [none(), numbers] {
            let errors = ad_core::expansion(attr, function.clone()).errors;
            assert_eq!(errors.len(), 1, "{errors:?}");
        }
        let deep = tokens(format!("wrt({open}x{close})"));
        let errors = ad_core::expansion(deep, tokens("fn f(x: f64) -> f64 { x }".into())).errors;
        assert_eq!(errors.len(), 1, "{errors:?}");
        for item in [&function, &module, &block] {
            let errors = ad_core::travel::differentiate(none(), item.clone(), "a place").errors;
            assert_eq!(errors.len(), 1, "{errors:?}");
        }
        // What is not refused has to fit: syn needs more stack for a type than for an expression.
        for depth in (20..80).step_by(4) {
            for (open, close) in [("(", ")"), ("[", "]")] {
                let (open, close) = (open.repeat(depth), close.repeat(depth));
                let typed = tokens(format!("fn f(x: {open}f64{close}) -> {open}f64{close} {{ x }}"));
                assert!(!ad_core::expansion(none(), typed).errors.is_empty() || depth < 60);
            }
        }
        assert_eq!(ad_core::travel::differentiable(none(), function.clone(), "a place").errors.len(), 1);
        assert_eq!(ad_core::travel::ruled("constant", &none(), function, "a place").errors.len(), 1);
        assert_eq!(ad_core::travel::derive(&kind, "a place").1.len(), 1);
    };
    let thread = std::thread::Builder::new().stack_size(2 << 20).spawn(test).expect("there is room for a thread");
    thread.join().expect("the test passes");
}
