//! "Generated code names every lint that it allows, each with a reason; never `warnings` or
//! `unused`". This is tested for every third annotated function of this repository. (`strict.rs`,
//! `emit.rs` and, through the macro, `tests/outside.rs` show that the code compiles under the
//! strictest lints.)

#[allow(dead_code, reason = "what mutates is for another test")]
#[path = "common/mutate.rs"]
mod mutate;

use std::collections::BTreeSet;
use std::path::Path;

use proc_macro2::{TokenStream, TokenTree};
use quote::ToTokens;
use syn::visit::{self, Visit};

/// The attributes of a piece of code, as text.
#[derive(Default)]
struct Attributes(Vec<syn::Attribute>);

impl Visit<'_> for Attributes {
    fn visit_attribute(&mut self, a: &syn::Attribute) {
        self.0.push(a.clone());
    }

    fn visit_macro(&mut self, m: &syn::Macro) {
        assert!(!m.tokens.to_string().contains("# ["), "an attribute inside of a macro: {}", m.to_token_stream());
        visit::visit_macro(self, m);
    }
}

fn attributes(tokens: TokenStream) -> Vec<syn::Attribute> {
    let mut found = Attributes::default();
    found.visit_file(&syn::parse2(tokens).expect("it parses"));
    found.0
}

/// Groups of lints. Allowing a group would allow lints that nobody has considered.
const GROUPS: &[&str] = &[
    "warnings",
    "unused",
    "nonstandard_style",
    "future_incompatible",
    "clippy::all",
    "clippy::pedantic",
    "clippy::style",
    "clippy::complexity",
    "clippy::perf",
    "clippy::correctness",
    "clippy::suspicious",
    "clippy::nursery",
    "clippy::restriction",
];

#[test]
fn every_lint_is_named_with_a_reason() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).parent().expect("the workspace");
    let (mut written, mut lints) = (0, BTreeSet::new());
    for mutate::Annotated { attr, item } in mutate::Corpus::collect(root).functions.into_iter().step_by(3) {
        let expansion = ad_core::expansion(attr, item.clone());
        if !expansion.errors.is_empty() {
            continue;
        }
        written += 1;
        let own: Vec<String> = attributes(item).iter().map(|a| a.to_token_stream().to_string()).collect();
        for a in attributes(expansion.tokens) {
            let text = a.to_token_stream().to_string();
            assert!(!["expect", "warn", "cfg_attr"].iter().any(|name| a.path().is_ident(name)) || own.contains(&text));
            if !a.path().is_ident("allow") || own.contains(&text) {
                continue;
            }
            let syn::Meta::List(list) = &a.meta else { panic!("{text}") };
            let parts: Vec<TokenTree> = list.tokens.clone().into_iter().collect();
            let words = parts.split(|t| matches!(t, TokenTree::Punct(p) if p.as_char() == ','));
            let words: Vec<String> = words
                .map(|w| w.iter().map(ToString::to_string).collect::<String>())
                .filter(|w| !w.is_empty())
                .collect();
            let (reason, named) = words.split_last().expect("a reason");
            assert!(reason.starts_with("reason=\"") && reason.len() > 20, "no reason: {text}");
            assert!(!named.is_empty(), "{text}");
            for lint in named {
                assert!(!GROUPS.contains(&lint.as_str()), "{lint} is a group: {text}");
                lints.insert(lint.clone());
            }
        }
    }
    assert!(written > 100, "only {written} functions");
    println!("{written} functions, {} lints: {lints:?}", lints.len());
}
