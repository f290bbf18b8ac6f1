//! The front end does not panic, whatever the tokens are.

use super::*;
use proc_macro2::{Group, TokenTree};
use quote::quote;

/// A small generator of numbers: the same in every run.
struct Random(u64);

impl Random {
    fn below(&mut self, n: usize) -> usize {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        usize::try_from(self.0 >> 33).unwrap_or(0) % n.max(1)
    }
}

fn all_tokens(stream: TokenStream, out: &mut Vec<TokenTree>) {
    for token in stream {
        if let TokenTree::Group(g) = &token {
            all_tokens(g.stream(), out);
        }
        out.push(token);
    }
}

/// Replaces, drops, doubles or swaps one token at a random position.
fn mutate(stream: TokenStream, pool: &[TokenTree], random: &mut Random) -> TokenStream {
    let mut tokens: Vec<TokenTree> = stream.into_iter().collect();
    if tokens.is_empty() {
        return TokenStream::new();
    }
    let k = random.below(tokens.len());
    if let TokenTree::Group(g) = &tokens[k]
        && random.below(4) > 0
    {
        tokens[k] = Group::new(g.delimiter(), mutate(g.stream(), pool, random)).into();
        return tokens.into_iter().collect();
    }
    match random.below(5) {
        0 => drop(tokens.remove(k)),
        1 => tokens.insert(k, tokens[k].clone()),
        2 => {
            let other = random.below(tokens.len());
            tokens.swap(k, other);
        }
        3 => tokens.insert(k, pool[random.below(pool.len())].clone()),
        _ => tokens[k] = pool[random.below(pool.len())].clone(),
    }
    tokens.into_iter().collect()
}

#[test]
fn no_panic() {
    let functions = [
        quote! { fn f(x: &Array2<f64>, w: &Array1<f64>, n: usize) -> f64 {
            let h = (x.dot(w) + 1.0).mapv(|v| if v > 0.0 { v.ln() } else { -v * 2.0 });
            let parts = build1(h.len(), |i| h[i] * x[[i, n]] + (0..n).map(|k| w[k] * k as f64).sum::<f64>());
            parts.sum() / n as f64 + logsumexp(&x.row(0))
        } },
        quote! { fn g<'a, T: Real>(x: ArrayView1<'a, T>, ids: &[usize], c: bool, k: i32) -> Array2<T> {
            let y = gather([3, ids.len()], &x, |[a, b]| [(a + ids[b] - 1).min(4)]);
            let z = y.slice(s![1.., ..;-1]).to_owned() * T::lit(0.5);
            if c && k - 1 > 3 { z } else { &z + x[ids[0] % 2].powi(k) }
        } },
        quote! { fn h(x: &[f64], y: Vec<f32>) -> Vec<f64> {
            let s = scatter([7, 2], &array![[x[0], 1.0], [2.0, 3.0]], |[i, j]| [i * 2 + j, 1 / (j + 1)]);
            let (a, b) = (maximum(&s), argmax(&s.column(1)));
            x.iter().zip(y.iter()).enumerate().map(|(i, (p, q))| p * *q as f64 + a * (i + b) as f64).collect()
        } },
    ];
    let mut pool = Vec::new();
    for f in &functions {
        all_tokens(f.clone(), &mut pool);
    }
    let more = quote! { match loop mut &mut 1_000_000_000_000 -5 0 1.5 true as u8 replicate(3, x) .t() .sum_axis(Axis(1)) .mean().unwrap() iota(4) one_hot(2, 1) x.row(1) .len() return unsafe [x; 3] f64::exp .iter().rev() };
    all_tokens(more, &mut pool);
    let mut random = Random(7);
    let (mut accepted, mut refused) = (0, 0);
    for round in 0..3000 {
        let mut tokens = functions[round % functions.len()].clone();
        for _ in 0..=random.below(3) {
            tokens = mutate(tokens, &pool, &mut random);
        }
        let text = tokens.to_string();
        match std::panic::catch_unwind(|| front::parse(TokenStream::new(), tokens).map(|p| p.checks.len())) {
            Ok(Ok(_)) => accepted += 1,
            Ok(Err(failure)) => {
                refused += 1;
                assert!(!failure.diags.is_empty(), "refused without a word: {text}");
            }
            Err(_) => panic!("a panic on: {text}"),
        }
    }
    assert!(accepted > 30 && refused > 1000, "{accepted} accepted, {refused} refused");
}
