//! The code for watched terms: a call of the runtime with a constant that says what the term is,
//! and a frame around the body of each routine. This module must never write such code unless
//! terms are watched.

use proc_macro2::TokenStream;
use quote::{format_ident, quote};

use super::rust::{Expr, prec, typed};
use ad_ir::ir::Loc;
use ad_ir::positions::position;
use ad_ir::prim::watch::{self, Watch, WatchKind};
use ad_ir::program::{Program, Routine};

/// The places of a program's expressions, as constants of the runtime.
#[derive(Debug, Default)]
pub(super) struct WatchedPlaces {
    /// For each place: its text, and its positions in files.
    all: Vec<(String, Vec<TokenStream>)>,
}

impl WatchedPlaces {
    /// The places of a program; none if no terms are watched.
    pub(super) fn of(program: &Program) -> Self {
        if !watch::is_on() {
            return WatchedPlaces::default();
        }
        let krate = &program.krate;
        let places = &program.places;
        let at = |loc: Loc| {
            let found = position(places.get(loc)?.range)?;
            let (file, (line, column)) = (found.file, found.start);
            let column = column + 1;
            Some(quote!(#krate::runtime::watch::Position { file: #file, line: #line, column: #column }))
        };
        let one = |(k, place): (usize, &ad_ir::program::SourceLocation)| {
            let own = [Loc(u32::try_from(k).unwrap_or(0))];
            let of = if place.of.is_empty() { &own[..] } else { &place.of };
            let text = if k == 0 { program.name.to_string() } else { place.text.clone() };
            (text, of.iter().filter_map(|&loc| at(loc)).collect())
        };
        WatchedPlaces { all: places.0.iter().enumerate().map(one).collect() }
    }

    /// A watched term as an expression: the value, then its operands, then the indices.
    pub(super) fn call(&self, krate: &TokenStream, of: &Watch, args: &[&Expr]) -> Expr {
        let size = 1 + args.iter().map(|a| a.size).sum::<u32>();
        let value = typed(&args[..1]).unwrap_or_else(|| args[0].tokens.clone());
        let (operands, index) = args[1..].split_at(of.operands);
        let [operands, index] = [operands, index].map(|all| all.iter().map(|e| e.tokens.clone()).collect::<Vec<_>>());
        let known = self.known(krate, of);
        Expr::new(
            quote!(#krate::runtime::watch::watched(&#known, #value, &[#(#operands),*], &[#(#index),*])),
            prec::ATOM,
            size,
        )
    }

    /// What is known of a watched term.
    fn known(&self, krate: &TokenStream, of: &Watch) -> TokenStream {
        let Watch { number, reads, place, of_derivative, operation, kind, .. } = of;
        let unknown = (String::new(), Vec::new());
        let (text, at) = self.all.get(*place).or(self.all.first()).unwrap_or(&unknown);
        let (kind, text, operation) = match kind {
            WatchKind::Operation if *of_derivative => ("OfDerivative", text, operation),
            WatchKind::Operation => ("Operation", text, operation),
            WatchKind::Choice => ("Choice", text, operation),
            WatchKind::Operand => ("Operand", text, operation),
            WatchKind::Call => ("Call", text, operation),
            WatchKind::Result(words) => ("Result", words, operation),
        };
        let kind = format_ident!("{kind}");
        let watch = quote!(#krate::runtime::watch);
        quote! {
            #watch::Watched {
                number: #number,
                reads: &[#(#reads),*],
                kind: #watch::Kind::#kind,
                text: #text,
                operation: #operation,
                at: &[#(#at),*],
            }
        }
    }
}

/// The body of a routine, in a frame if terms are watched. `returns` is whether it has a value.
pub(super) fn framed(program: &Program, routine: &Routine, returns: bool, body: TokenStream) -> TokenStream {
    if !watch::is_on() {
        return body;
    }
    let (krate, name) = (&program.krate, routine.name.to_string());
    // A crate that names the variable is built again if the variable changes.
    let variable = watch::VARIABLE;
    let enter = quote! {
        let _ = ::core::option_env!(#variable);
        let watch_ = #krate::runtime::watch::enter(#name);
    };
    if returns {
        quote!(#enter let result_ = { #body }; watch_.finish(result_))
    } else {
        quote!(#enter { #body } watch_.end();)
    }
}
