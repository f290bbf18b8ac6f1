//! A function of a given number of array statements whose sizes are known only at run time.

use proc_macro2::TokenStream;
use quote::{format_ident, quote};

/// `fn f(x: &Array1<f64>, y: &Array1<f64>) -> f64`: sums, products, functions, selections, and
/// sometimes a product of vectors, each of earlier ones.
pub fn statements(count: usize) -> TokenStream {
    let mut names = vec![format_ident!("x"), format_ident!("y")];
    let mut statements = Vec::new();
    for k in 0..count {
        let name = format_ident!("t{k}");
        // An old value is used as well, so that the number of live values grows with the function.
        // Arguments are references already.
        let (a, b) = (&names[names.len() - 1], &names[names.len() / 2]);
        let [near, far] = [a, b].map(|t| if *t == "x" || *t == "y" { quote!(#t) } else { quote!(&#t) });
        let value = match k % 5 {
            0 => quote!(#near * 0.5 + #far),
            1 => quote!((#near - #far) * 0.25),
            2 => quote!((#near * #far).mapv(f64::sin)),
            3 => quote!(build1(#a.len(), |i| if #a[i] > #b[i] { #a[i] } else { #b[i] * 0.5 })),
            _ => quote!(#near * (0.1 * #a.dot(#far).tanh())),
        };
        statements.push(quote!(let #name = #value;));
        names.push(name);
    }
    let last = &names[names.len() - 1];
    quote! {
        fn f(x: &Array1<f64>, y: &Array1<f64>) -> f64 {
            #(#statements)*
            #last.sum()
        }
    }
}
