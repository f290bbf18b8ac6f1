//! Prints the generated code for the annotated functions of a file:
//! `cargo run -p ad-core --example expand -- file.rs [name]`.

use quote::ToTokens;

fn main() {
    let mut args = std::env::args().skip(1);
    let path = args.next().expect("a file");
    let only = args.next();
    let text = std::fs::read_to_string(&path).expect("the file can be read");
    let file = syn::parse_file(&text).expect("the file parses");
    for item in file.items {
        let syn::Item::Fn(mut f) = item else { continue };
        if only.as_ref().is_some_and(|name| f.sig.ident != name) {
            continue;
        }
        let Some(at) = f.attrs.iter().position(|a| a.path().is_ident("differentiate")) else { continue };
        let attr = match f.attrs.remove(at).meta {
            syn::Meta::List(list) => list.tokens,
            _ => proc_macro2::TokenStream::new(),
        };
        let tokens = ad_core::expand(attr, f.to_token_stream());
        let file = syn::parse2(tokens).expect("the expansion parses");
        println!("{}", prettyplease::unparse(&file));
    }
}
