//! The length of the generated code: at most a constant times that of the function, whatever the
//! sizes of its arrays are. `cargo run -p ad-core --example cost` measures the cost of a build.

#[path = "common/arrays.rs"]
mod arrays;

use ad_core::descriptor::GRAD;
use ad_core::pipeline;
use ad_oracle::plan::plan_of;
use proc_macro2::{TokenStream, TokenTree};
use quote::quote;
use syn::visit::Visit;

/// The counted size of the code that is generated for a function.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
struct Size {
    tokens: usize,
    /// Functions of loop nests.
    nests: usize,
    /// Nests that are instantiated for two machines.
    dispatched: usize,
    /// Calls of kernels of the runtime.
    kernels: usize,
    /// Calls of kernels that take a closure for the elements: each closure would be another
    /// instance.
    closures: usize,
}

fn written(function: TokenStream) -> Size {
    let emitted = ad_core::expand(quote!(), function.clone());
    let Ok(program) = ad_core::front::parse(quote!(), function) else { panic!("the function has errors") };
    let mut prepared = pipeline::prepare(program, None);
    let routine = pipeline::derive(&mut prepared, &GRAD, None);
    let mut g = std::mem::take(&mut prepared.program.graph);
    let plan = plan_of(&mut g, &prepared.program, &routine).expect("it can be planned");
    let mut closures = Closures(0);
    closures.visit_file(&syn::parse2(emitted.clone()).expect("items"));
    Size {
        closures: closures.0,
        tokens: count(emitted),
        nests: plan.nests.iter().filter(|nest| nest.verb == "compute").count(),
        dispatched: plan.nests.iter().filter(|nest| nest.dispatched).count() + plan.outlined,
        kernels: plan.kernels.values().sum(),
    }
}

/// Counts closures that are arguments of kernels.
struct Closures(usize);

impl Visit<'_> for Closures {
    fn visit_expr_call(&mut self, call: &syn::ExprCall) {
        let kernel = match &*call.func {
            syn::Expr::Path(p) => p.path.segments.iter().any(|part| part.ident == "kernel"),
            _ => false,
        };
        if kernel {
            self.0 += call.args.iter().filter(|arg| matches!(arg, syn::Expr::Closure(_))).count();
        }
        syn::visit::visit_expr_call(self, call);
    }
}

/// Tokens, those in groups included.
fn count(tokens: TokenStream) -> usize {
    let of = |token| match token {
        TokenTree::Group(group) => 2 + count(group.stream()),
        _ => 1,
    };
    tokens.into_iter().map(of).sum()
}

#[test]
fn code_is_linear_in_the_statements() {
    let sizes = [25, 50, 100, 200].map(|n| (n, written(arrays::statements(n))));
    println!("{sizes:?}");
    let (_, short) = sizes[0];
    for (n, size) in sizes {
        let times = n / 25;
        assert!(10 * size.tokens <= 11 * times * short.tokens, "{sizes:?}");
        // Nests of the forward and the reverse pass, and of the arrays that are stored for both.
        assert!(size.nests <= 2 * n, "{sizes:?}");
        assert!(size.dispatched <= size.nests, "{sizes:?}");
        assert!(size.kernels <= n, "{sizes:?}");
        assert_eq!(size.closures, 0, "{sizes:?}");
    }
}

/// A network of static arrays, each of this size; a loop of this many steps over one of them.
fn of_size(n: usize) -> TokenStream {
    let n = proc_macro2::Literal::usize_unsuffixed(n);
    quote! {
        fn f(x: [f64; #n], w: [[f64; #n]; #n]) -> f64 {
            let mut total = 0.0;
            for i in 0..#n {
                let mut h = 0.0;
                for j in 0..#n {
                    h += w[i][j] * x[j];
                }
                total += h.tanh();
            }
            let mut s = 1.0;
            for k in 0..#n {
                s = (s * x[k]).sin();
            }
            total + s
        }
    }
}

#[test]
fn code_does_not_grow_with_sizes() {
    // Above 16 elements nothing is unrolled, though the macro knows the size: from some sizes on
    // arrays are on the heap, and loops are compiled for two machines.
    let sizes = [20, 63, 100, 1_000, 100_000].map(|n| written(of_size(n)));
    assert!(sizes.iter().all(|size| 4 * size.tokens < 5 * sizes[0].tokens), "{sizes:?}");
    let [.., large, larger] = sizes;
    assert!(10 * larger.tokens.abs_diff(large.tokens) < larger.tokens && larger.nests == large.nests, "{sizes:?}");
    // A size that is known at run time is never unrolled: there is one function for all.
    let symbolic = written(quote! {
        fn f(x: &Array1<f64>, w: &Array2<f64>) -> f64 {
            let mut total = 0.0;
            for i in 0..x.len() {
                let mut h = 0.0;
                for j in 0..x.len() {
                    h += w[[i, j]] * x[j];
                }
                total += h.tanh();
            }
            let mut s = 1.0;
            for k in 0..x.len() {
                s = (s * x[k]).sin();
            }
            total + s
        }
    });
    assert!(symbolic.tokens < 2 * sizes[0].tokens, "{symbolic:?}, {sizes:?}");
    // Steps of a loop are not unrolled either.
    let steps = [30, 3_000, 3_000_000].map(|n| {
        let n = proc_macro2::Literal::usize_unsuffixed(n);
        written(quote! {
            fn f(x: &Array1<f64>) -> f64 {
                let mut y = x.clone();
                for _ in 0..#n {
                    y = y.mapv(f64::sin) + x;
                }
                y.sum()
            }
        })
    });
    assert!(steps.windows(2).all(|w| w[0] == w[1]), "{steps:?}");
}

/// The number of terms that all stages up to the emitter make.
fn terms(function: TokenStream) -> usize {
    let Ok(program) = ad_core::front::parse(quote!(), function) else { panic!("the function has errors") };
    let mut prepared = pipeline::prepare(program, None);
    pipeline::derive(&mut prepared, &GRAD, None);
    prepared.program.graph.len()
}

/// Each build reads the two builds before it. A build is computed once, and not again in the body
/// of each reader.
#[test]
fn builds_of_builds_are_linear() {
    let chain = |n: usize| -> Vec<TokenStream> {
        let name = |k: usize| quote::format_ident!("t{k}");
        let build = |k: usize| {
            let (new, a, b) = (name(k + 2), name(k + 1), name(k));
            quote!(let #new = build1(#a.len(), |i| if #a[i] > #b[i] { #a[i] * x[i] } else { #b[i].sin() });)
        };
        (0..n).map(build).collect()
    };
    let last = |n: usize| quote::format_ident!("t{}", n + 1);
    let straight = |n: usize| {
        let (builds, last) = (chain(n), last(n));
        terms(quote! {
            fn f(x: &Array1<f64>) -> f64 {
                let t0 = x * 2.0;
                let t1 = x * 3.0;
                #(#builds)*
                #last.sum()
            }
        })
    };
    let in_a_loop = |n: usize| {
        let (builds, last) = (chain(n), last(n));
        terms(quote! {
            fn f(x: &Array1<f64>) -> f64 {
                let mut t0 = x * 2.0;
                for _ in 0..7 {
                    let t1 = x * 3.0;
                    #(#builds)*
                    t0 = #last;
                }
                t0.sum()
            }
        })
    };
    let in_a_build = |n: usize| {
        let (builds, last) = (chain(n), last(n));
        terms(quote! {
            fn f(x: &Array1<f64>) -> f64 {
                let rows = build1(x.len(), |k| {
                    let t0 = x * x[k];
                    let t1 = x * 3.0;
                    #(#builds)*
                    #last.sum()
                });
                rows.sum()
            }
        })
    };
    for (short, long) in
        [(straight(20), straight(80)), (in_a_loop(20), in_a_loop(80)), (in_a_build(20), in_a_build(80))]
    {
        assert!(long < 5 * short, "{short} terms, {long} terms");
    }
}

/// Each line reads the line before it twice. A literal without a type is not duplicated for that.
#[test]
fn literals_that_are_shared_are_computed_once() {
    let lines = 100;
    for (first, line) in [
        (quote!(let v = 1e-40;), quote!(let v = v + v;)),
        (quote!(let v = 0.5;), quote!(let v = [v, v][c];)),
        (quote!(let v = 1.0;), quote!(let v = if c > 0 { v * v } else { v - v };)),
        (quote!(let v = SCALE;), quote!(let v = v * v;)),
    ] {
        let lines = std::iter::repeat_n(line, lines);
        let tokens = written(quote! { fn f(x: f64, c: usize) -> f64 { #first #(#lines)* x * v } }).tokens;
        assert!(tokens < 12_000, "{tokens}");
    }
}

/// Squares of squares have as many factors as two to the power of their number. Whoever looked at
/// all of them would never end.
#[test]
fn squares_of_squares_are_linear() {
    let of = |n: usize| {
        let squares = (0..n).map(|_| quote!(let a = a * a;));
        count(ad_core::expand(
            quote!(),
            quote! {
                fn f(x: f64, on: bool) -> f64 {
                    let a = 0.999 * x;
                    #(#squares)*
                    if on { (1.0 + a).sqrt() * a } else { 0.0 }
                }
            },
        ))
    };
    let (few, more, most) = (of(20), of(40), of(80));
    assert!(most - more <= 3 * (more - few), "{few}, {more}, {most}");
}

/// Conditions that share parts, as numbers of Fibonacci share summands.
#[test]
fn conjunctions_that_share_parts_are_linear() {
    let of = |n: usize| {
        let names: Vec<_> = (0..n).map(|k| quote::format_ident!("c{k}")).collect();
        let parts = names.windows(3).zip(0_u8..).map(|(names, k)| {
            let ([first, second, both], k) = ([&names[0], &names[1], &names[2]], f64::from(k) + 0.5);
            quote!(let #both = (#first & #second) & (x[i] < #k);)
        });
        let last = &names[n - 1];
        count(ad_core::expand(
            quote!(wrt(x)),
            quote! {
                fn f(x: &[f64], starts: &[usize]) -> f64 {
                    let mut t = 0.0;
                    for q in 0..starts.len() - 1 {
                        for i in starts[q]..starts[q + 1] {
                            let c0 = x[i] > 0.0;
                            let c1 = x[i] < 1.0;
                            #(#parts)*
                            if #last { t += x[i].sin(); }
                        }
                    }
                    t
                }
            },
        ))
    };
    let (few, more, most) = (of(15), of(30), of(60));
    assert!(most - more <= 3 * (more - few), "{few}, {more}, {most}");
}
