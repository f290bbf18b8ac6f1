//! The output of `AD_DUMP`: every stage of a function, from the source to the schedule of its
//! loops.

use ad_core::passes::lowering;
use ad_core::pipeline;
use proc_macro2::TokenStream;
use quote::quote;

/// The record of a function. Recording must not change the generated code.
fn record(attr: TokenStream, item: TokenStream) -> String {
    let name = item.clone().into_iter().nth(1).expect("the name of a function").to_string();
    let folder = std::env::temp_dir().join(format!("ad-dump-{}-{name}", std::process::id()));
    let plain = ad_core::expand(attr.clone(), item.clone()).to_string();
    let dumped = ad_core::expand_and_dump(attr, item, Some(&folder)).tokens.to_string();
    assert!(plain == dumped, "a record changes {name}");
    // A function that needs definitions of its file has errors instead of stages.
    let text = std::fs::read_to_string(folder.join(format!("{name}.txt"))).unwrap_or_default();
    let _ = std::fs::remove_dir_all(&folder);
    text
}

/// The section of the dump with the choices by cost.
fn choices(attr: TokenStream, item: TokenStream) -> String {
    let text = record(attr, item);
    let part = text.split("==== ").find(|part| part.contains(": choices by cost\n")).expect("the choices");
    part.to_string()
}

#[test]
fn every_stage_is_written() {
    let item = quote! {
        fn energy(x: &Array1<f64>) -> f64 {
            build1(x.len(), |i| x[i] * x[i]).sum()
        }
    };
    let text = record(quote!(grad, jvp), item);
    let mut expected = stages("function", &stages_of_function());
    for which in ["value_and_grad", "jvp"] {
        expected.extend(stages(which, &stages_of_derivative()));
        expected.extend(stages(&format!("energy_{which}"), EMITTED));
    }
    assert_eq!(headings(&text), expected);
    assert!(text.contains("build1"), "the source has its builds:\n{text}");
}

/// The stages of the function itself. The simplifier runs after a pass that asks for it, in
/// addition.
fn stages_of_function() -> Vec<&'static str> {
    around("source", &["FUNCTION"], &["result"])
}

/// The stages of a derivative.
fn stages_of_derivative() -> Vec<&'static str> {
    around("differentiation", &["GRADIENT", "DERIVATIVE"], &["result", "what loops save", "rules that fired"])
}

/// The stages of a derivative that is split: its loops are not fused.
fn stages_of_split_derivative() -> Vec<&'static str> {
    stages_of_derivative().into_iter().filter(|stage| *stage != "loop_fusion").collect()
}

fn around(first: &'static str, lists: &[&str], last: &[&'static str]) -> Vec<&'static str> {
    let listed = pipeline::LISTS.iter().filter(|(name, _)| lists.contains(name));
    let passes = listed.flat_map(|(_, passes)| passes.iter().map(|pass| pass.name));
    [first].into_iter().chain(passes).chain(last.iter().copied()).collect()
}

/// The stages of a routine after its passes.
const EMITTED: &[&str] = &["lowering", "schedule", "code", "choices by cost"];

fn stages(subject: &str, names: &[&str]) -> Vec<String> {
    names.iter().map(|name| format!("{subject}: {name}")).collect()
}

/// The headings of a record, without those of the simplifier after another pass, of which there is
/// one if the pass has changed something.
fn headings(text: &str) -> Vec<String> {
    let all: Vec<&str> = text.lines().filter_map(|line| line.strip_prefix("==== ")).collect();
    let asks =
        |heading: &str| ad_oracle::passes().iter().any(|p| p.simplified && heading.ends_with(&format!(": {}", p.name)));
    let again = |k: usize| k > 0 && all[k].ends_with(": simplify") && asks(all[k - 1]);
    (0..all.len()).filter(|&k| !again(k)).map(|k| all[k].to_string()).collect()
}

/// A split routine has both of its stages in the record, and the code of each.
#[test]
fn both_stages_of_a_pullback_are_written() {
    let text = record(quote!(pullback), quote! { fn energy(x: &Array1<f64>) -> f64 { x.mapv(f64::sin).sum() } });
    let mut expected = stages("function", &stages_of_function());
    expected.extend(stages("vjp", &stages_of_split_derivative()));
    expected.extend(stages("pullback", &["split, first stage", "split, second stage"]));
    for stage in ["value_and_kept", "pulled_back"] {
        expected.extend(stages(stage, EMITTED));
    }
    assert_eq!(headings(&text), expected);
}

/// The stages of a called function, and of the program that `per_example` differentiates, are under
/// names of their own.
#[test]
fn each_function_has_headings_of_its_own() {
    let text = record(
        quote!(grad),
        quote! {
            fn fold(x: &Array1<f64>) -> f64 {
                fn go(x: &Array1<f64>, k: usize) -> f64 {
                    if k == 0 { 1.0 } else { x[k - 1] * go(x, k - 1) }
                }
                go(x, x.len())
            }
        },
    );
    let mut expected = stages("called go: function", &stages_of_function());
    expected.extend(stages("function", &stages_of_function()));
    expected.extend(stages("value_and_grad", &stages_of_derivative()));
    expected.extend(stages("fold_value_and_grad", EMITTED));
    expected.extend(stages("called go (wrt x): vjp", &stages_of_split_derivative()));
    expected.extend(stages("called go (wrt x): vjp", &["split, first stage", "split, second stage"]));
    expected.extend(stages("called go (wrt x)", &["choices by cost"]));
    for stage in ["value_and_kept", "pulled_back"] {
        expected.extend(stages(&format!("called go (wrt x): {stage}"), EMITTED));
    }
    assert_eq!(headings(&text), expected);

    let text = record(
        quote!(grad, per_example(x), wrt(w)),
        quote! { fn score(w: &Array1<f64>, x: &Array1<f64>) -> f64 { (w * x).sum().sin() } },
    );
    let mut expected = stages("function", &stages_of_function());
    expected.extend(stages("one example: function", &stages_of_function()));
    expected.extend(stages("value_and_grad", &stages_of_derivative()));
    expected.extend(stages("score_value_and_grad", EMITTED));
    expected.extend(stages("one example: value_and_grad_each", &stages_of_derivative()));
    expected.extend(stages("one example: score_value_and_grad_each", EMITTED));
    assert_eq!(headings(&text), expected);
}

/// A record does not change the code of whole programs: their routines are planned on a copy of the
/// terms.
#[test]
fn programs_are_the_same_with_a_record() {
    let all = programs();
    assert!(all.len() > 10, "{} functions", all.len());
    for (attr, item) in all {
        let _ = record(attr, item);
    }
}

/// The annotated functions of the programs in `tests/programs`, with their attributes.
fn programs() -> Vec<(TokenStream, TokenStream)> {
    let folder = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("../tests/programs");
    let mut all = Vec::new();
    for file in std::fs::read_dir(folder).expect("the programs") {
        let text = std::fs::read_to_string(file.expect("a file").path()).expect("a program");
        for item in syn::parse_file(&text).expect("it parses").items {
            let syn::Item::Fn(mut f) = item else { continue };
            let marked = |a: &syn::Attribute| a.path().is_ident("differentiate");
            let Some(at) = f.attrs.iter().position(marked) else { continue };
            let attr = match f.attrs.remove(at).meta {
                syn::Meta::List(list) => list.tokens,
                _ => TokenStream::new(),
            };
            (f.attrs, f.vis) = (Vec::new(), syn::Visibility::Inherited);
            all.push((attr, quote!(#f)));
        }
    }
    all
}

/// With `AD_TRACE` the record has each rule that fires, with the term before and after it.
#[test]
fn rules_are_written_one_by_one() {
    let item = quote! { fn f(x: &Array1<f64>) -> f64 { (-(-x)).sum() } };
    let program = ad_core::front::parse(quote!(), item).expect("a program");
    let mut log = pipeline::Log { rules: true, ..Default::default() };
    let _ = pipeline::prepare(program, Some(&mut log));
    let text = log.text();
    assert!(text.contains("==== function: simplify, rule by rule\n"), "{text}");
    assert!(text.contains("neg.neg: (- (- x)) => x\n"), "{text}");
}

/// The rewrites of every pass are recorded under the name of the pass, not only those of the
/// simplifier. The record does not change the generated code either.
#[test]
fn rewrites_of_every_kind_of_pass_are_written() {
    let item = quote! {
        fn f(a: &Array2<f64>, x: &Array1<f64>, v: [f64; 3]) -> f64 {
            let (mut total, mut state) = (0.0, 0.0);
            for i in 0..x.len() {
                total += softplus(x[i]) * v[0];
                state = (state * x[i]).sin();
            }
            total + state + a.dot(x).sum() + build1(x.len(), |i| x[i] * v[1])[2]
        }
    };
    let (traced, all) = traced(quote!(), &item).expect("the function is right");
    for pass in ["bulk.", "push.", "unroll.", "loops.", "share", "associate", "lowering."] {
        assert!(all.lines().any(|line| line.starts_with(pass)), "no rewrite of {pass}:\n{}\n{all}", traced.text());
    }
}

/// The rewrites in whole programs have the names of the tables, and logging them changes nothing.
#[test]
fn rewrites_in_programs_have_the_names_of_rules() {
    let read = programs().into_iter().filter(|(attr, item)| traced(attr.clone(), item).is_some()).count();
    assert!(read > 10, "{read} functions");
}

/// The log of a function's gradient with all rewrites, and the rewrites alone. `None` if the
/// function needs definitions of its file, or calls functions of it.
fn traced(attr: TokenStream, item: &TokenStream) -> Option<(pipeline::Log, String)> {
    let written = |rules: bool| {
        let outside = ad_core::front::OuterDefinitions::default();
        let annotated = ad_core::front::read(attr.clone(), item.clone(), &outside).ok()?;
        let alone = annotated.program.functions.is_empty();
        let mut log = pipeline::Log { rules, ..Default::default() };
        let mut prepared = pipeline::prepare(alone.then_some(annotated.program)?, Some(&mut log));
        let routine = pipeline::derive(&mut prepared, &ad_core::descriptor::GRAD, Some(&mut log));
        let mut g = std::mem::take(&mut prepared.program.graph);
        ad_core::emit::describe(&g, &prepared.program, &routine, &mut log);
        let tokens = ad_core::emit::emit_routine(&mut g, &prepared.program, &routine).expect("it can be written");
        Some((log, tokens.to_string()))
    };
    let ((plain, code), (traced, same)) = (written(false)?, written(true)?);
    assert!(code == same, "a record changes nothing");
    let rewrites = |log: &pipeline::Log| {
        let of = |(stage, _): &&(String, String)| stage.ends_with("rule by rule");
        log.stages.iter().filter(of).map(|s| s.1.clone()).collect::<String>()
    };
    assert_eq!(rewrites(&plain), "");
    let all = rewrites(&traced);
    let names: Vec<&str> =
        ad_oracle::passes().iter().flat_map(|pass| (pass.rules)()).chain(lowering::rules()).collect();
    for line in all.lines() {
        let (rule, rest) = line.split_once(": ").unwrap_or_default();
        assert!(names.contains(&rule) && rest.contains(" => "), "no rule of the tables:\n{line}");
    }
    Some((traced, all))
}

/// Each kind of choice is listed with the costs that were compared.
#[test]
fn choices_by_cost_are_printed_with_their_reasons() {
    let dense = choices(
        quote!(wrt(w)),
        quote! {
            fn logistic(w: &Array1<f64>, x: &Array2<f64>, y: &Array1<f64>) -> f64 {
                let scores = x.dot(w);
                build1(y.len(), |i| (-y[i] * scores[i]).exp().ln_1p()).mean().unwrap()
            }
        },
    );
    let stencil = choices(
        quote!(),
        quote! {
            fn rosenbrock(x: &Array1<f64>) -> f64 {
                build1(x.len() - 1, |i| {
                    let t = x[i + 1] - x[i] * x[i];
                    100.0 * t * t + (1.0 - x[i]).exp()
                })
                .sum()
            }
        },
    );
    let mixture = choices(
        quote!(wrt(m)),
        quote! {
            fn mixture(x: &Array2<f64>, m: &Array2<f64>) -> f64 {
                let mut total = 0.0;
                for i in 0..x.nrows() {
                    let beta = build1(m.nrows(), |c| {
                        let squares = build1(m.ncols(), |j| (x[[i, j]] - m[[c, j]]) * (x[[i, j]] - m[[c, j]]));
                        -0.5 * squares.sum()
                    });
                    total += logsumexp(&beta);
                }
                total
            }
        },
    );
    let shared = choices(
        quote!(),
        quote! {
            fn log_sum_exp(x: &Array1<f64>) -> f64 {
                let max = maximum(x);
                (x - max).mapv(f64::exp).sum().ln() + max
            }
        },
    );
    let recurrent = choices(
        quote!(),
        quote! {
            fn forward(x: &Array1<f64>) -> f64 {
                let mut s = 0.0;
                for i in 0..x.len() {
                    s = (s * x[i] + x[x.len() - 1 - i]).sin();
                }
                s
            }
        },
    );
    let powers = record(
        quote!(wrt(x)),
        quote! {
            fn powers(x: &Array1<f64>, n: usize) -> f64 {
                let mut total = 0.0;
                for i in 0..n {
                    let t = i as f64 / 200.0 - 0.4;
                    let mut power = 1.0;
                    let mut r = t;
                    for j in 0..x.len() {
                        r -= x[j] * power;
                        power *= t;
                    }
                    total += r * r;
                }
                total
            }
        },
    );
    let net = record(
        quote!(wrt(w, u)),
        quote! {
            fn net(w: &Array2<f64>, u: &Array2<f64>, x: &Array2<f64>) -> f64 {
                let mut h = Array1::<f64>::zeros(w.nrows());
                for t in 0..x.nrows() {
                    h = (w.dot(&h) + u.dot(&x.row(t))).mapv(f64::tanh);
                }
                h.sum()
            }
        },
    );
    let triangle = choices(
        quote!(wrt(l)),
        quote! {
            fn triangle(x: &Array2<f64>, l: &Array2<f64>) -> f64 {
                let mut total = 0.0;
                for i in 0..x.nrows() {
                    let mut beta = Array1::<f64>::zeros(l.nrows());
                    for c in 0..l.nrows() {
                        let mut squares = 0.0;
                        for r in 0..x.ncols() {
                            let mut z = x[[i, r]];
                            for j in 0..r {
                                z += l[[c, r * (r - 1) / 2 + j]] * x[[i, j]];
                            }
                            squares += z * z;
                        }
                        beta[c] = -0.5 * squares;
                    }
                    total += logsumexp(&beta);
                }
                total
            }
        },
    );
    let expected = [
        (&powers, "one loop (2 loops with the same inner loop)"),
        (&powers, "in blocks of iterations ("),
        (&powers, "over all iterations at once (it depends on no carried value)"),
        (&net, "batched before the loop (1 axes of loop-invariant operands, of 2 axes)"),
        (&net, "taken after the loop ("),
        (&triangle, "accumulated into the result (an array of 3 axes is not stored, at least 2)"),
        (&triangle, "in a table ("),
        (&dense, "a kernel (a matrix and a vector, of arrays in memory)"),
        (&dense, "dispatched on the instruction set (sums, vectorised or rounding functions, "),
        (&dense, "in the nest of %"),
        (&stencil, "one nest, split into interior and ends (the ends are few elements)"),
        (&stencil, "the loop is shortened to its interior, without index tests"),
        (&mixture, "in tiles of items over %"),
        (&shared, "stored ("),
        (&shared, "by several loops, > 8"),
        (&shared, "overwrites %"),
        (&recurrent, "in place ("),
    ];
    for (text, line) in expected {
        assert!(text.contains(line), "no `{line}` in\n{text}");
    }
}
