//! What derivatives keep, and when they ask for memory: by the form of the code. How much it is when it runs, the workloads' bench measures.

use proc_macro2::{Delimiter, TokenStream, TokenTree};
use quote::{ToTokens, quote};

/// The derivative `<name>_<suffix>` as it is written.
fn derivative(attr: TokenStream, item: TokenStream, suffix: &str) -> TokenStream {
    let file: syn::File = syn::parse2(ad_core::expand(attr, item)).expect("the expansion parses");
    let of = |item: &syn::Item| match item {
        syn::Item::Fn(f) if f.sig.ident.to_string().ends_with(suffix) => Some(f.to_token_stream()),
        _ => None,
    };
    file.items.iter().find_map(of).expect("the derivative")
}

/// Words inside of loops that ask for memory.
fn asked_in_loops(tokens: TokenStream) -> Vec<String> {
    let (mut found, mut stack) = (Vec::new(), vec![(tokens, false)]);
    while let Some((tokens, mut inside)) = stack.pop() {
        let around = inside;
        for token in tokens {
            match token {
                TokenTree::Ident(word) => {
                    let word = word.to_string();
                    inside |= word == "for" || word == "while";
                    if around && ["vec", "to_vec", "clone", "collect", "concat", "to_owned", "Vec"].contains(&&*word) {
                        found.push(word);
                    }
                }
                TokenTree::Group(group) => {
                    stack.push((group.stream(), inside));
                    // The body of the loop was this one.
                    inside = if group.delimiter() == Delimiter::Brace { around } else { inside };
                }
                _ => {}
            }
        }
    }
    found
}

/// The problems in plain loops, `while` and nested ones among them: buffers of loops are made once.
#[test]
fn no_step_asks_for_memory() {
    let mut count = 0;
    for path in ["loops.rs", "gmm.rs", "kmeans.rs"] {
        let path = format!("{}/../tests/programs/{path}", env!("CARGO_MANIFEST_DIR"));
        let file = syn::parse_file(&std::fs::read_to_string(path).expect("the programs")).expect("it parses");
        for item in file.items {
            let syn::Item::Fn(mut f) = item else { continue };
            let Some(at) = f.attrs.iter().position(|a| a.path().is_ident("differentiate")) else { continue };
            let attr = match f.attrs.remove(at).meta {
                syn::Meta::List(list) => list.tokens,
                _ => TokenStream::new(),
            };
            let vector =
                attr.to_string().contains("vjp") || f.sig.output.to_token_stream().to_string().contains("Array");
            let suffix = if vector { "_vjp" } else { "_value_and_grad" };
            let code = derivative(attr, f.to_token_stream(), suffix);
            assert_eq!(asked_in_loops(code), Vec::<String>::new(), "{}", f.sig.ident);
            count += 1;
        }
    }
    assert!(count >= 5, "{count} programs");
    let asks = quote!(for i in 0..3 {
        let x = ::std::vec![0.0; i];
    });
    assert_eq!(asked_in_loops(asks), ["vec"]);
}

/// What no active argument reaches is computed where it is read; only what is active is kept for the way back.
#[test]
fn what_is_not_active_is_not_kept() {
    let item = quote! {
        fn f(x: &Array1<f64>, y: &Array1<f64>) -> f64 {
            let mut h = 1.0;
            for i in 0..x.len() {
                h = h * y[i] * y[i] + x[i];
            }
            h
        }
    };
    let arrays = |attr: TokenStream| {
        let text: String = derivative(attr, item.clone(), "_value_and_grad").to_string();
        text.split_whitespace().collect::<String>().matches("::std::vec![").count()
    };
    // The gradient is the one array: the way back needs `y` alone.
    assert_eq!(arrays(quote!(wrt(x))), 1);
    // By `y` it needs each `h` as well.
    assert!(arrays(quote!(wrt(y))) > 1);
}

/// A dear arm is computed where it is taken only, in the derivative as well.
#[test]
fn dear_arms_are_lazy() {
    let code = derivative(
        quote!(),
        quote! {
            fn f(x: &Array1<f64>) -> f64 {
                build1(x.len(), |i| if x[i] > 0.5 { x[i].sin() } else { x[i] * 2.0 }).sum()
            }
        },
        "_value_and_grad",
    );
    let text: String = code.to_string().split_whitespace().collect();
    for function in ["I::sin(", "I::cos("] {
        for (at, _) in text.match_indices(function) {
            let before = &text[..at];
            let open = before.matches('{').count() - before.matches('}').count();
            let arm =
                before.rfind("if").is_some_and(|k| before[k..].matches('{').count() > before[k..].matches('}').count());
            assert!(arm && open > 2, "{function} outside of its arm: {text}");
        }
        assert!(text.contains(function), "{text}");
    }
}

/// How often a word stands in a derivative.
fn times(word: &str, item: TokenStream) -> usize {
    let text = without_underscores(&derivative(quote!(), item, "_value_and_grad").to_string());
    text.split_whitespace().collect::<String>().matches(word).count()
}

/// The text without the underscores that locals end with, which no constant of the user's has.
fn without_underscores(text: &str) -> String {
    let is_word = |c: char| c.is_alphanumeric() || c == '_';
    let all: Vec<char> = text.chars().collect();
    let ends = |k: usize| {
        let (before, behind) = (k.checked_sub(1).and_then(|k| all.get(k)), all.get(k + 1));
        all[k] == '_' && before.is_some_and(|&c| is_word(c)) && behind.is_none_or(|&c| !is_word(c))
    };
    (0..all.len()).filter(|&k| !ends(k)).map(|k| all[k]).collect()
}

/// What the function has computed of `exp`, `tanh` or `sqrt` is what its derivative is made of.
#[test]
fn transcendental_results_are_kept() {
    let step = quote! {
        fn f(x: &Array1<f64>) -> f64 {
            let mut h = 0.5;
            for i in 0..x.len() {
                h = (h + x[i]).tanh();
            }
            h
        }
    };
    assert_eq!(times(".tanh()", step), 1);
    let roots = quote! {
        fn f(x: &Array1<f64>) -> f64 {
            x.mapv(|v| (v * v + 1.0).sqrt()).sum()
        }
    };
    // Sixteen items at a time, and the rest.
    assert_eq!(times("sqrt(", roots), 2);
    let weighted = quote! {
        fn f(x: &Array1<f64>, w: &Array1<f64>) -> f64 {
            let mut s = 0.0;
            for i in 0..x.len() {
                let e = x[i].exp();
                s += w[i] * e / (1.0 + e);
            }
            s
        }
    };
    assert_eq!(times("exp(", weighted), 2);
}

/// The cotangent of an array of which an extremum or an element is read is zero but there, and stays so on its way back: no loop over the others.
#[test]
fn one_hot_cotangents_stay_so() {
    let largest = quote! {
        fn f(x: &Array1<f64>) -> f64 {
            maximum(&x.mapv(|v| v.sin() * 2.0))
        }
    };
    assert_eq!((times("foriin", largest.clone()), times(".cos()", largest)), (1, 1));
    // A row of the matrix for `a`, a row of it for `x`.
    let product = quote! {
        fn f(a: &Array2<f64>, x: &Array1<f64>) -> f64 {
            minimum(&a.dot(x))
        }
    };
    assert_eq!(times("kernel::ger", product.clone()) + times("kernel::gemm", product), 0);
}

/// A gradient that is a copy of an argument is made while the product reads that, not in a pass of its own; what is computed for a destination as
/// a whole is not filled before.
#[test]
fn destinations_are_written_once() {
    let item = quote! {
        fn f(x: &Array1<f64>, y: &Array1<f64>) -> f64 {
            x.dot(y)
        }
    };
    let code = derivative(quote!(into), item, "_into").to_string();
    assert_eq!(code.matches("dot_with_copies").count(), 1, "{code}");
    assert_eq!(code.matches(":: copied (").count(), 2, "{code}");
    assert!(!code.contains("overwrite ("), "{code}");
    let item = quote! {
        fn f(x: &Array1<f64>, y: &[f64]) -> f64 {
            x.mapv(f64::sin).sum() + y[1] * y[2]
        }
    };
    let code = derivative(quote!(into), item, "_into").to_string();
    assert!(code.contains("replaced (grad_x"), "{code}");
    assert!(!code.contains("replaced_slice (grad_y"), "{code}");
}
