//! `ad::check_grad!(f(args))`: from a call to a comparison of its derivatives with differences. The derivatives are found by their names; what is
//! an argument, and what of a gradient belongs to it, is for types to say (`ad_runtime::check`).
//!
//! Must never find out anything about the function but its name.

use proc_macro2::{Ident, Span, TokenStream};
use quote::{ToTokens, format_ident, quote};
use syn::parse::Parser;
use syn::punctuated::Punctuated;
use syn::{Expr, ExprCall, ExprPath, Lit, Token};

use crate::catalogue;
use crate::diag::{Diagnostic, Diags, SrcRange, suggest, text_of};

/// Derivatives that can be checked.
const OPTIONS: &[&str] = &["grad", "vjp", "jvp", "jacobian", "hvp", "hessian"];

struct Options {
    checked: Vec<String>,
    wrt: Option<Vec<usize>>,
    tolerance: Option<Expr>,
    krate: TokenStream,
}

/// What `check_grad!(tokens)` expands to, and what was wrong.
#[must_use]
pub fn expand(tokens: TokenStream) -> (TokenStream, Vec<Diagnostic>) {
    let mut diags = Diags::new();
    let read = read(tokens, &mut diags);
    match read {
        Some((path, call, options)) if diags.is_empty() => (write(&path, &call, &options), Vec::new()),
        _ => {
            let errors = diags.list().to_vec();
            let messages = diags.into_tokens();
            (quote!({ #messages }), errors)
        }
    }
}

fn read(tokens: TokenStream, diags: &mut Diags) -> Option<(ExprPath, ExprCall, Options)> {
    let range = SrcRange::of_stream(tokens.clone());
    let Ok(parts) = Punctuated::<Expr, Token![,]>::parse_terminated.parse2(tokens) else {
        diags.push(range, catalogue::check_grad_of_no_call());
        return None;
    };
    let mut parts = parts.into_iter();
    let called = match parts.next() {
        Some(Expr::Call(call)) => match &*call.func {
            Expr::Path(path) if !call.args.is_empty() => Some((path.clone(), call)),
            _ => None,
        },
        _ => None,
    };
    let Some((path, call)) = called else {
        diags.push(range, catalogue::check_grad_of_no_call());
        return None;
    };
    let mut options = Options { checked: Vec::new(), wrt: None, tolerance: None, krate: quote!(::ad) };
    for part in parts {
        let known = match &part {
            Expr::Path(p) => {
                let name = p.to_token_stream().to_string();
                let known = OPTIONS.contains(&&*name);
                options.checked.extend(known.then_some(name));
                known
            }
            Expr::Assign(a) if a.left.to_token_stream().to_string() == "tolerance" => {
                options.tolerance = Some((*a.right).clone());
                true
            }
            Expr::Assign(a) if a.left.to_token_stream().to_string() == "crate" => {
                let path = match &*a.right {
                    Expr::Lit(l) => match &l.lit {
                        Lit::Str(s) => syn::parse_str::<syn::Path>(&s.value()).ok(),
                        _ => None,
                    },
                    _ => None,
                };
                options.krate = path.as_ref().map_or_else(|| quote!(::ad), ToTokens::to_token_stream);
                path.is_some()
            }
            Expr::Call(c) if c.func.to_token_stream().to_string() == "wrt" => {
                let position = |e: &Expr| match e {
                    Expr::Lit(l) => match &l.lit {
                        Lit::Int(n) => n.base10_parse().ok().filter(|&n: &usize| n < call.args.len()),
                        _ => None,
                    },
                    _ => None,
                };
                options.wrt = c.args.iter().map(position).collect();
                options.wrt.is_some()
            }
            _ => false,
        };
        if !known {
            let text = text_of(&part, 40);
            let near = suggest(&text, OPTIONS.iter().copied().chain(["wrt", "tolerance"]));
            diags.push(SrcRange::of(&part), catalogue::check_grad_option(&text, near));
        }
    }
    if options.checked.is_empty() {
        options.checked.push("grad".into());
    }
    Some((path, call, options))
}

/// A name of ours, which no argument can mention.
fn own(name: &str, k: usize) -> Ident {
    Ident::new(&format!("{name}{k}"), Span::mixed_site())
}

fn write(path: &ExprPath, call: &ExprCall, options: &Options) -> TokenStream {
    let n = call.args.len();
    let krate = &options.krate;
    let run = quote!(#krate::runtime::check);
    let (args, owned): (Vec<Ident>, Vec<Ident>) = (0..n).map(|k| (own("argument", k), own("own", k))).unzip();
    let derived = |suffix: &str| {
        let mut path = path.clone();
        if let Some(last) = path.path.segments.last_mut() {
            last.ident = format_ident!("{}_{suffix}", last.ident, span = last.ident.span());
        }
        path
    };
    let values: Vec<&Expr> = call.args.iter().collect();
    let texts: Vec<String> = values.iter().map(|e| text_of(*e, 40)).collect();
    let text = text_of(call, 80);
    let tolerance = options.tolerance.as_ref().map_or_else(|| quote!(None), |t| quote!(Some(#t)));
    let wrt = options.wrt.as_ref().map_or_else(|| quote!(None), |ks| quote!(Some(&[#(#ks),*])));
    let positions: Vec<usize> = (0..n).collect();
    let at = |f: &ExprPath, read: &TokenStream| {
        quote! {
            |steps: &[#run::Step]| {
                #(let #args = #owned.after(#positions, steps);)*
                let derived = #f(#(#args.lent()),*);
                #read
            }
        }
    };
    let function = at(path, &quote!(#run::Flat::values(&derived)));
    let leaves = quote!(#run::Leaves::leaves(&derived).into_iter().flat_map(|leaf| leaf.values).collect::<::std::vec::Vec<f64>>());
    let gradient = at(&derived("grad"), &leaves);
    let active: Vec<usize> = options.wrt.clone().unwrap_or_else(|| (0..n).collect());
    let tangents = |path: &ExprPath| {
        let owned_active = active.iter().map(|&k| own("own", k));
        let names: Vec<Ident> = active.iter().map(|&k| own("tangent", k)).collect();
        quote! {
            #(let #names = #owned_active.tangent(&check, #active);)*
            let derived = #path(#(#owned.lent(),)* #(#run::Passed::passed(&#names)),*);
        }
    };
    let mut code = TokenStream::new();
    let named = |option: &str| options.checked.iter().any(|o| o == option);
    for option in &options.checked {
        code.extend(match &**option {
            "grad" => {
                let path = derived("value_and_grad");
                quote! {
                    let (again, derived) = #path(#(#owned.lent()),*);
                    check.value(#option, &#run::Flat::values(&again), &value);
                    let leaves = #run::Leaves::leaves(&derived);
                    check.columns(#option, &leaves, None, #function);
                    reverse = Some((::std::vec![1.0], leaves));
                }
            }
            "vjp" => {
                let path = derived("vjp");
                quote! {
                    let weights = #run::Check::weights(value.len());
                    let cotangent = #run::refill(&result, &weights);
                    let (again, derived) = #path(#(#owned.lent(),)* #run::Passed::passed(&cotangent));
                    check.value(#option, &#run::Flat::values(&again), &value);
                    let leaves = #run::Leaves::leaves(&derived);
                    check.columns(#option, &leaves, Some(&weights), #function);
                    reverse = Some((weights, leaves));
                }
            }
            "jvp" => {
                let along = tangents(&derived("jvp"));
                quote! {
                    #along
                    let (again, derived) = derived;
                    check.value(#option, &#run::Flat::values(&again), &value);
                    let tangent = #run::Flat::values(&derived);
                    check.directional(#option, &tangent, #function);
                    forward = Some(tangent);
                }
            }
            "jacobian" => {
                let path = derived("value_and_jacobian");
                quote! {
                    let (again, derived) = #path(#(#owned.lent()),*);
                    check.value(#option, &#run::Flat::values(&again), &value);
                    check.columns(#option, &#run::Leaves::leaves(&derived), None, #function);
                }
            }
            "hvp" => {
                let along = tangents(&derived("hvp"));
                quote! {
                    #along
                    let found: ::std::vec::Vec<f64> = #leaves;
                    check.directional(#option, &found, #gradient);
                }
            }
            _ => {
                let path = derived("hessian");
                quote! {
                    let derived = #path(#(#owned.lent()),*);
                    check.columns(#option, &#run::Leaves::leaves(&derived), None, #gradient);
                }
            }
        });
    }
    let both = (named("jvp") && (named("grad") || named("vjp"))).then(|| {
        quote! {
            if let (Some(forward), Some((weights, leaves))) = (&forward, &reverse) {
                check.both_ways(forward, weights, leaves);
            }
        }
    });
    quote! {
        match (#(#values,)*) {
            (#(#args,)*) => {
                #(let #owned = #run::own(&#args);)*
                // The call says what the types of literals are.
                let result = #path(#(#args),*);
                let value = #run::Flat::values(&result);
                let mut check = #run::Check::new(#text, #wrt, #tolerance);
                #(check.argument(#texts, &#owned);)*
                let mut forward: ::core::option::Option<::std::vec::Vec<f64>> = None;
                let mut reverse: ::core::option::Option<(::std::vec::Vec<f64>, ::std::vec::Vec<#run::Leaf>)> = None;
                #code
                #both
                let _ = (&mut forward, &mut reverse);
            }
        }
    }
}
