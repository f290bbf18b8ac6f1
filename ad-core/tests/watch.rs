//! `AD_DEBUG_NAN`: the generated code says which expression first made a NaN or an infinity. The
//! programs are compiled with it and without it, and called. `watch/said.txt` has what each call
//! says: `UPDATE_EXPECT=1` writes it. A call that says nothing has the same result without it; the
//! result of any other call is not finite.

use std::fmt::Write as _;
use std::path::{Path, PathBuf};
use std::process::Command;

use expect_test::expect_file;
use proc_macro2::TokenStream;
use quote::{ToTokens, quote};

const PROGRAMS: &str = include_str!("watch/programs.rs");
const CALLS: &str = include_str!("watch/calls.txt");

/// The functions, with the options of each.
fn functions() -> Vec<(TokenStream, TokenStream)> {
    let tokens: TokenStream = PROGRAMS.parse().expect("the programs are tokens");
    ad_core::positions::name_file(&tokens, "programs.rs");
    let file: syn::File = syn::parse2(tokens).expect("the programs parse");
    let function = |item: syn::Item| {
        let syn::Item::Fn(mut f) = item else { panic!("only functions") };
        f.vis = syn::parse_quote!(pub);
        let options = match &f.attrs.remove(0).meta {
            syn::Meta::List(list) => list.tokens.clone(),
            _ => TokenStream::new(),
        };
        let comma = (!options.is_empty()).then(|| quote!(,));
        (quote!(#options #comma crate = "crate::ad"), f.into_token_stream())
    };
    file.items.into_iter().map(function).collect()
}

/// The functions with their derivatives.
fn expanded(watched: bool) -> TokenStream {
    let one = |(options, item): (TokenStream, TokenStream)| {
        let made =
            if watched { ad_core::expand_watched(options, item, None) } else { ad_core::expansion(options, item) };
        assert!(made.errors.is_empty(), "{:?}", made.errors);
        made.tokens
    };
    functions().into_iter().map(one).collect()
}

/// A crate with both forms of the programs, whose `main` makes the calls.
fn main_file() -> String {
    let forms = [("watched", true), ("plain", false)].map(|(name, watched)| {
        let (module, code) = (quote::format_ident!("{name}"), expanded(watched));
        quote! { mod #module { use crate::ad::prelude::*; #code } }
    });
    let mut calls = String::new();
    for (k, call) in CALLS.lines().enumerate() {
        let [watched, plain] = ["watched", "plain"]
            .map(|form| format!("shown(|| {{ #[allow(unused_imports)] use {form}::*; format!(\"{{:?}}\", {call}) }})"));
        writeln!(calls, "said({k}, &{watched}, &{plain});").expect("a string grows");
    }
    let file: syn::File = syn::parse2(quote!(#(#forms)*)).expect("it parses");
    format!(
        "#![deny(warnings)]\n#![allow(dead_code)]\n\
         pub mod ad {{ pub use ad_runtime as runtime; pub use ad_runtime::{{dsl, linalg}}; pub use ndarray;\n\
         pub mod prelude {{ pub use crate::ad; pub use ad_runtime::dsl::*; pub use ad_runtime::Real; pub use ndarray::*; }} }}\n\
         use ndarray::array;\n{}\n\
         fn shown(f: impl Fn() -> String + std::panic::UnwindSafe) -> Result<String, String> {{\n\
         std::panic::catch_unwind(f).map_err(|e| e.downcast_ref::<String>().cloned().unwrap_or_default()) }}\n\
         fn said(k: usize, watched: &Result<String, String>, plain: &Result<String, String>) {{\n\
         println!(\"== {{k}}\");\n\
         match watched {{ Ok(_) => println!(\"(nothing)\"), Err(text) => println!(\"{{text}}\") }}\n\
         match (watched, plain) {{\n\
         (Ok(a), Ok(b)) => assert_eq!(a, b),\n\
         (Err(_), Ok(b)) => assert!(b.contains(\"NaN\") || b.contains(\"inf\"), \"{{b}}\"),\n\
         (_, Err(e)) => println!(\"Without AD_DEBUG_NAN: a panic, {{e}}\") }} }}\n\
         fn main() {{ std::panic::set_hook(Box::new(|_| {{}}));\n{calls}}}\n",
        prettyplease::unparse(&file)
    )
}

/// What the calls print.
fn output() -> String {
    let root = PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join("watch");
    let runtime = Path::new(env!("CARGO_MANIFEST_DIR")).join("../ad-runtime");
    std::fs::create_dir_all(root.join("src")).expect("the folder can be made");
    let manifest = format!(
        "[package]\nname = \"watched-programs\"\nversion = \"0.0.0\"\nedition = \"2024\"\n[workspace]\n\
         [dependencies]\nad-runtime = {{ path = {runtime:?} }}\nndarray = \"0.17\"\n[profile.dev]\ndebug = 0\n"
    );
    std::fs::write(root.join("Cargo.toml"), manifest).expect("the file can be written");
    std::fs::write(root.join("src/main.rs"), main_file()).expect("the file can be written");
    let workspace = Path::new(env!("CARGO_MANIFEST_DIR")).parent().expect("the workspace");
    let _ = std::fs::copy(workspace.join("Cargo.lock"), root.join("Cargo.lock"));
    let output = Command::new(env!("CARGO"))
        .args(["run", "--offline", "--quiet"])
        .current_dir(&root)
        .env("CARGO_TARGET_DIR", PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join("emit-target"))
        .env_remove("RUSTFLAGS")
        .output()
        .expect("cargo runs");
    let text = String::from_utf8_lossy(&output.stdout).into_owned();
    assert!(output.status.success(), "{text}\n{}", String::from_utf8_lossy(&output.stderr));
    text
}

#[test]
fn each_call_says_where_its_first_nan_or_infinity_comes_from() {
    let output = output();
    let mut said = String::new();
    for (part, call) in output.split("== ").skip(1).zip(CALLS.lines()) {
        let (_, text) = part.split_once('\n').expect("a number and a text");
        writeln!(said, "{call}\n{text}").expect("a string grows");
    }
    assert_eq!(output.matches("== ").count(), CALLS.lines().count(), "{output}");
    expect_file!["watch/said.txt"].assert_eq(&said);
}

/// Without the variable not one token changes, also if an expansion before had it.
#[test]
fn other_code_has_no_trace_of_it() {
    let before = expanded(false).to_string();
    let watched = expanded(true).to_string();
    assert_eq!(expanded(false).to_string(), before);
    assert!(!before.contains("watch") && !before.contains("AD_DEBUG_NAN"));
    assert!(watched.contains("watch") && watched.contains("AD_DEBUG_NAN"));
}
