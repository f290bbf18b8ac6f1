//! Annotated functions through every stage, to look at: `PROBE=file.rs cargo test -p ad-core --test emit_front -- --nocapture`
//! prints the value-and-gradient function of each, or what stands in its way. Without `PROBE` there is nothing to do.

use ad_core::ad::reverse;
use ad_core::emit::emit_routine;
use ad_core::ir::{Elem, Term};
use ad_core::program::{Output, OutputTree, Routine};
use ad_core::simplify::simplify;
use quote::{ToTokens, format_ident, quote};

#[test]
fn probe() {
    let Ok(path) = std::env::var("PROBE") else { return };
    let file = syn::parse_file(&std::fs::read_to_string(path).expect("the file is there")).expect("it parses");
    for item in file.items {
        let syn::Item::Fn(mut f) = item else { continue };
        let Some(k) = f.attrs.iter().position(|a| a.path().is_ident("differentiate")) else { continue };
        let attr = f.attrs.remove(k);
        let args = match &attr.meta {
            syn::Meta::List(l) => l.tokens.clone(),
            _ => proc_macro2::TokenStream::new(),
        };
        let mut program = match ad_core::front::parse(args, f.to_token_stream()) {
            Ok(p) => p,
            Err(e) => {
                for d in e.diags.list() {
                    println!("// FAIL {}: {}", f.sig.ident, d.text());
                }
                continue;
            }
        };
        let mut g = std::mem::take(&mut program.graph);
        let start = std::time::Instant::now();
        let mut roots = program.result.terms();
        let n = roots.len();
        roots.extend(program.checks.iter().map(|c| c.ok));
        let roots = ad_core::bot::transform(&mut g, &roots);
        let roots = simplify(&mut g, &roots);
        let (results, oks) = roots.split_at(n);
        let wrt: Vec<u32> = program.active.iter().filter_map(|&k| program.params[k].input).collect();
        let seeds: Vec<Term> =
            results.iter().map(|&t| if matches!(g.elem(t), Elem::Real(_)) { g.lit_like(t, 1.0) } else { t }).collect();
        let (primal, grads) = reverse(&mut g, results, &seeds, &wrt);
        let mut all = primal;
        all.extend(grads);
        let m = all.len();
        all.extend(oks);
        let all = simplify(&mut g, &all);
        let mut checks = program.checks.clone();
        for (c, &ok) in checks.iter_mut().zip(&all[m..]) {
            c.ok = ok;
        }
        let mut parts: Vec<OutputTree> = vec![program.result.with_terms(&mut all[..n].iter().copied())];
        for (&k, &term) in program.active.iter().zip(&all[n..m]) {
            let container = program.params[k].container;
            let container = if container == ad_core::program::Container::ScalarRef {
                ad_core::program::Container::Scalar
            } else {
                container
            };
            parts.push(OutputTree::Leaf(Output { term, container }));
        }
        let routine = Routine {
            name: format_ident!("{}_value_and_grad", program.name),
            docs: vec![format!(" Value and gradients of `{}`.", program.name)],
            params: program.params.clone(),
            result_ty: quote!(_),
            result: OutputTree::Tuple(parts),
            checks,
        };
        match emit_routine(&mut g, &program, &routine) {
            Ok(tokens) => match syn::parse2::<syn::File>(tokens) {
                Ok(file) => println!("// {:?}\n{}", start.elapsed(), prettyplease::unparse(&file)),
                Err(e) => println!("// FAIL {}: does not parse: {e}", f.sig.ident),
            },
            Err(e) => println!("// FAIL {}: {e}", f.sig.ident),
        }
    }
}
