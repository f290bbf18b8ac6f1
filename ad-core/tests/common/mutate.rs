//! Mutated functions, with changes such as typing errors and bad merges make in real ones. A seed
//! and a number always give the same function.
//!
//! Every annotated function of this repository is collected from its sources. A mutation deletes,
//! doubles, swaps or replaces tokens, splices parts of one function into another, changes
//! delimiters, writes extreme literals, nests deeply and chains long.

use std::path::Path;

use proc_macro2::{Delimiter, Group, Ident, Literal, Punct, Spacing, Span, TokenStream, TokenTree};
use quote::{ToTokens, quote};
use syn::visit::{self, Visit};

/// A function with the attribute's arguments.
#[derive(Clone)]
pub struct Annotated {
    pub attr: TokenStream,
    pub item: TokenStream,
}

/// Random numbers. The same seed gives the same numbers (splitmix64).
pub struct Random(u64);

impl Random {
    /// The generator of one input.
    pub fn new(seed: u64, number: u64) -> Self {
        let mut random = Random(seed.wrapping_mul(0x9E37_79B9_7F4A_7C15) ^ number.wrapping_mul(0xD1B5_4A32_D192_ED03));
        random.next();
        random
    }

    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        z ^ (z >> 31)
    }

    fn below(&mut self, n: usize) -> usize {
        usize::try_from(self.next() % u64::try_from(n.max(1)).unwrap_or(1)).unwrap_or(0)
    }

    fn pick<'a, T>(&mut self, among: &'a [T]) -> Option<&'a T> {
        let k = self.below(among.len());
        among.get(k)
    }
}

/// The functions that are mutated, and parts for the mutations.
pub struct Corpus {
    pub functions: Vec<Annotated>,
    leaves: Vec<TokenTree>,
    trees: Vec<TokenTree>,
    /// Contents of groups: expressions, argument lists, bodies.
    streams: Vec<TokenStream>,
}

#[derive(Default)]
struct Found(Vec<Annotated>);

impl Found {
    /// Adds an item that is annotated, without the attribute.
    fn add<T: ToTokens + Clone>(&mut self, item: &T, attrs: impl Fn(&mut T) -> &mut Vec<syn::Attribute>) {
        let is_ours = |a: &syn::Attribute| a.path().is_ident("differentiate");
        let mut item = item.clone();
        let Some(at) = attrs(&mut item).iter().position(is_ours) else { return };
        let attr = match attrs(&mut item).remove(at).meta {
            syn::Meta::List(list) => list.tokens,
            _ => TokenStream::new(),
        };
        attrs(&mut item).retain(|a| !is_ours(a));
        self.0.push(Annotated { attr, item: item.into_token_stream() });
    }
}

impl<'ast> Visit<'ast> for Found {
    fn visit_item_fn(&mut self, f: &'ast syn::ItemFn) {
        self.add(f, |f| &mut f.attrs);
        visit::visit_item_fn(self, f);
    }

    fn visit_item_mod(&mut self, m: &'ast syn::ItemMod) {
        self.add(m, |m| &mut m.attrs);
        visit::visit_item_mod(self, m);
    }

    fn visit_item_impl(&mut self, block: &'ast syn::ItemImpl) {
        self.add(block, |block| &mut block.attrs);
        visit::visit_item_impl(self, block);
    }

    /// `quote! { fn f(..) -> .. { .. } }` in the tests of the front end.
    fn visit_macro(&mut self, m: &'ast syn::Macro) {
        if m.path.is_ident("quote")
            && let Ok(f) = syn::parse2::<syn::ItemFn>(m.tokens.clone())
        {
            self.0.push(Annotated { attr: TokenStream::new(), item: f.into_token_stream() });
        }
    }
}

fn sources(folder: &Path, out: &mut Vec<std::path::PathBuf>) {
    let Ok(entries) = std::fs::read_dir(folder) else { return };
    for path in entries.flatten().map(|e| e.path()) {
        if path.is_dir() {
            sources(&path, out);
        } else if path.extension().is_some_and(|e| e == "rs") {
            out.push(path);
        }
    }
}

/// Snippets that the sources do not contain, but that users type.
fn more() -> TokenStream {
    quote! {
        match loop mut &mut unsafe async await return break continue yield const static dyn impl where for while in ref move as let else if
        -5 0 1.5 1.0e308 1e400 0x7fff_ffff_ffff_ffff 18446744073709551615 340282366920938463463374607431768211456 1_000_000_000_000
        0.1f32 3usize 1u8 -1i32 'c' "text" b"bytes" true false
        + - * / % ^ ! & | && || << >> += -= == != < <= > >= @ . .. ..= , ; : :: -> => # $ ?
        u8 usize isize i32 i64 f32 f64 bool T Vec Array0 Array1 Array2 Array3 Array6 ArrayView1 ArrayRef2 Axis
        replicate(3, x) .t() .sum_axis(Axis(1)) .mean().unwrap() iota(4) one_hot(2, 1) x.row(1) .len() [x; 3] [x; 1_000_000_000] f64::exp .iter().rev()
        .slice(s![1.., ..;-1]) .slice(s![..;0]) s![..] array![] vec![0.0; 1_000_000_000_000] Array2::zeros((1000000, 1000000)) build1(1_000_000, |i| x)
        |x| |&a| |(a, b)| |[i, j]| <f64> ::<f64> <'a> -> f64 -> Array1<f64> { } ( ) [ ] |a| a.dot(&a) fold(0.0, &x, |a, b| a + b)
        scan(x, 0..n, |a, i| a * i as f64) for i in 0..n {} while x < 1.0 { x *= 2.0 } x[i] += 1.0; let mut y = x.clone();
        #[cfg(test)] #[differentiate] println!("{x}") assert!(x > 0.0) x.powi(1000000) x.powi(-2147483648) x << 64 n % 0 n - 1 - n x as u8
        (0..n).map(|i| x[i]).sum::<f64>() (0..1_000_000_000).map(|i| i as f64).sum::<f64>() stop_gradient(x) maximum(&x) argmax(&x)
        match n { 0 => 1.0, 1..=3 => x, _ => 2.0 } if n > 0 { x } else { 0.0 } [[1.0, 2.0], [3.0, 4.0]]
    }
}

/// Arguments of the attribute, valid and invalid.
fn attributes() -> Vec<TokenStream> {
    vec![
        quote!(),
        quote!(grad),
        quote!(vjp),
        quote!(jvp),
        quote!(grad, vjp, jvp),
        quote!(wrt(x)),
        quote!(wrt(w, b)),
        quote!(wrt()),
        quote!(crate = "::ad"),
        quote!(crate = ""),
        quote!(mode = "dual_arrays"),
        quote!(mode = 3, grad, grad),
        quote!(grad(1, 2)),
        quote!(hessian, jacobian, hvp),
        quote!(a::b = {}),
        quote!(,),
    ]
}

impl Corpus {
    /// Every annotated function below a folder, in the order of the files' names.
    pub fn collect(root: &Path) -> Self {
        let mut files = Vec::new();
        for part in ["examples", "tests", "benches", "gradbench", "src", "ad-core/tests", "ad-tests/tests"] {
            sources(&root.join(part), &mut files);
        }
        files.sort();
        let mut found = Found::default();
        for file in files {
            let text = std::fs::read_to_string(file).unwrap_or_default();
            if let Ok(file) = syn::parse_file(&text) {
                found.visit_file(&file);
            }
        }
        let mut corpus = Corpus { functions: found.0, leaves: Vec::new(), trees: Vec::new(), streams: Vec::new() };
        let functions: Vec<TokenStream> = corpus.functions.iter().map(|f| f.item.clone()).collect();
        for stream in functions {
            corpus.add(stream);
        }
        // These are as frequent as all others together, since there are few of them.
        let count = corpus.leaves.len();
        while corpus.leaves.len() < 2 * count {
            corpus.add(more());
        }
        corpus
    }

    fn add(&mut self, stream: TokenStream) {
        for token in stream {
            if let TokenTree::Group(g) = &token {
                self.add(g.stream());
                self.streams.push(g.stream());
            } else {
                self.leaves.push(token.clone());
            }
            self.trees.push(token);
        }
    }

    /// The input of a number.
    pub fn input(&self, seed: u64, number: u64) -> Annotated {
        let mut random = Random::new(seed, number);
        let Some(mut f) = random.pick(&self.functions).cloned() else {
            return Annotated { attr: TokenStream::new(), item: TokenStream::new() };
        };
        match random.below(8) {
            0 => f.attr = random.pick(&attributes()).cloned().unwrap_or_default(),
            1 => f.attr = self.mutate(f.attr, &mut random),
            _ => {}
        }
        // A few mutations give a function that is nearly correct and reaches the later stages. Many
        // mutations test the parser.
        let times = match random.below(8) {
            0..=3 => 1,
            4 | 5 => 2,
            6 => 3,
            _ => 4 + random.below(20),
        };
        for _ in 0..times {
            f.item = self.mutate(f.item, &mut random);
        }
        f
    }

    /// One mutation at a random position. Positions in larger groups are more likely.
    fn mutate(&self, stream: TokenStream, random: &mut Random) -> TokenStream {
        let mut tokens: Vec<TokenTree> = stream.into_iter().collect();
        if tokens.is_empty() {
            return random.pick(&self.streams).cloned().unwrap_or_default();
        }
        let groups: Vec<usize> = (0..tokens.len())
            .filter(|&k| matches!(&tokens[k], TokenTree::Group(g) if !g.stream().is_empty()))
            .collect();
        if let Some(&k) = random.pick(&groups)
            && random.below(5) > 0
            && let TokenTree::Group(g) = &tokens[k]
        {
            tokens[k] = Group::new(g.delimiter(), self.mutate(g.stream(), random)).into();
            return tokens.into_iter().collect();
        }
        let k = random.below(tokens.len());
        self.change(&mut tokens, k, random);
        tokens.into_iter().collect()
    }

    fn change(&self, tokens: &mut Vec<TokenTree>, k: usize, random: &mut Random) {
        match random.below(20) {
            0 | 1 => drop(tokens.remove(k)),
            2 => tokens.insert(k, tokens[k].clone()),
            3 => {
                let other = random.below(tokens.len());
                tokens.swap(k, other);
            }
            4 => tokens.insert(k, self.leaf(random)),
            5..=7 => self.alike(tokens, k, random),
            8 => tokens[k] = self.leaf(random),
            9 | 10 => tokens[k] = random.pick(&self.trees).cloned().unwrap_or_else(|| self.leaf(random)),
            11 => {
                // A piece of another function in place of a piece of this one.
                let end = (k + 1 + random.below(6)).min(tokens.len());
                let with = random.pick(&self.streams).cloned().unwrap_or_default();
                let with: Vec<TokenTree> = with.into_iter().take(1 + random.below(12)).collect();
                tokens.splice(k..end, with);
            }
            12 => {
                if let TokenTree::Group(g) = &tokens[k] {
                    let delimiters = [Delimiter::Parenthesis, Delimiter::Brace, Delimiter::Bracket, Delimiter::None];
                    let delimiter = delimiters[random.below(4)];
                    tokens[k] = Group::new(delimiter, g.stream()).into();
                } else {
                    tokens[k] = Group::new(Delimiter::None, tokens[k].clone().into()).into();
                }
            }
            13 | 14 => {
                let literals = [
                    "0",
                    "1",
                    "2",
                    "-1",
                    "0.0",
                    "1e308",
                    "1e-400",
                    "1e999",
                    "255u8",
                    "256u8",
                    "2147483648",
                    "4294967295",
                    "9223372036854775807",
                    "9223372036854775808",
                    "18446744073709551615",
                    "18446744073709551616",
                    "170141183460469231731687303715884105727",
                    "999999999999999999999999999999999999999999",
                    "1_000_000",
                    "1.0f32",
                    "7usize",
                    "3i64",
                    "\"a\"",
                    "'a'",
                    "b'a'",
                    "0xffff_ffff_ffff_ffff",
                    "0b1",
                    "1e5usize",
                    "r#\"\"#",
                ];
                let numbers: Vec<usize> =
                    (0..tokens.len()).filter(|&k| matches!(tokens[k], TokenTree::Literal(_))).collect();
                let k = random.pick(&numbers).copied().unwrap_or(k);
                if let Some(Ok(stream)) = random.pick(&literals).map(|text| text.parse::<TokenStream>()) {
                    tokens.splice(k..=k, stream);
                }
            }
            15 => self.nest(tokens, k, random),
            16 => self.chain(tokens, k, random),
            17 => {
                // Replaces one name by another everywhere in these tokens.
                let names: Vec<String> = tokens
                    .iter()
                    .filter_map(|t| match t {
                        TokenTree::Ident(i) => Some(i.to_string()),
                        _ => None,
                    })
                    .collect();
                if let Some(from) = random.pick(&names)
                    && let TokenTree::Ident(to) = self.ident(random)
                {
                    *tokens = rename(tokens.drain(..).collect(), from, &to).into_iter().collect();
                }
            }
            18 => {
                let (a, b) = (random.below(tokens.len()), random.below(tokens.len()));
                let piece: Vec<TokenTree> = tokens[a.min(b)..a.max(b)].iter().take(12).cloned().collect();
                tokens.splice(k..k, piece);
            }
            _ => tokens.truncate(k),
        }
    }

    fn leaf(&self, random: &mut Random) -> TokenTree {
        random.pick(&self.leaves).cloned().unwrap_or_else(|| Literal::usize_unsuffixed(0).into())
    }

    fn ident(&self, random: &mut Random) -> TokenTree {
        for _ in 0..20 {
            if let leaf @ TokenTree::Ident(_) = self.leaf(random) {
                return leaf;
            }
        }
        Ident::new("x", Span::call_site()).into()
    }

    /// A token of the same kind, so that the result often still parses.
    fn alike(&self, tokens: &mut [TokenTree], k: usize, random: &mut Random) {
        for _ in 0..40 {
            let with = self.leaf(random);
            if std::mem::discriminant(&with) == std::mem::discriminant(&tokens[k]) {
                tokens[k] = with;
                return;
            }
        }
    }

    /// The token inside of very many delimiters or operators.
    fn nest(&self, tokens: &mut Vec<TokenTree>, k: usize, random: &mut Random) {
        let depth = [3, 30, 60, 100, 200, 400][random.below(6)];
        let mut inner = tokens[k].clone();
        match random.below(4) {
            0 => {
                let delimiter = [Delimiter::Parenthesis, Delimiter::Brace, Delimiter::Bracket][random.below(3)];
                for _ in 0..depth {
                    inner = Group::new(delimiter, inner.into()).into();
                }
                tokens[k] = inner;
            }
            1 => {
                let ops = ['-', '!', '&', '*'];
                let op = ops[random.below(4)];
                tokens.splice(k..k, (0..depth).map(|_| TokenTree::from(Punct::new(op, Spacing::Alone))));
            }
            2 => {
                // `f(f(f(x)))`
                let f = self.ident(random);
                for _ in 0..depth {
                    let call =
                        TokenStream::from_iter([f.clone(), Group::new(Delimiter::Parenthesis, inner.into()).into()]);
                    inner = Group::new(Delimiter::None, call).into();
                }
                tokens[k] = inner;
            }
            _ => {
                let parts = [
                    quote!(|x|),
                    quote!(if true { 1.0 } else),
                    quote!(return),
                    quote!(&mut),
                    quote!(let y =),
                    quote!(x =),
                ];
                let part = &parts[random.below(parts.len())];
                tokens.splice(k..k, (0..depth).flat_map(|_| part.clone()));
            }
        }
    }

    /// The token with very many tokens after it.
    fn chain(&self, tokens: &mut Vec<TokenTree>, k: usize, random: &mut Random) {
        let length = [3, 30, 140, 160, 400, 3000][random.below(6)];
        let parts = [
            quote!(+ x),
            quote!(*2.0),
            quote!(.t()),
            quote!(.mapv(|v| v + v)),
            quote!([0]),
            quote!(as f64),
            quote!(, x),
            quote!(; let y = x),
            quote!(?),
            quote!(.0),
            quote!(&&x),
            quote!(::x),
            quote!(-1),
            quote!(.clone()),
            quote!(..x),
            quote!(= x),
            quote!(.sum()),
            quote!(< x),
        ];
        let part = match random.below(4) {
            0 => {
                let op = parts[random.below(2)].clone();
                op.into_iter().take(1).chain([tokens[k].clone()]).collect()
            }
            _ => parts[random.below(parts.len())].clone(),
        };
        tokens.splice(k + 1..k + 1, (0..length).flat_map(|_| part.clone()));
    }
}

fn rename(stream: TokenStream, from: &str, to: &Ident) -> TokenStream {
    stream
        .into_iter()
        .map(|token| match token {
            TokenTree::Ident(i) if i == from => TokenTree::Ident(to.clone()),
            TokenTree::Group(g) => Group::new(g.delimiter(), rename(g.stream(), from, to)).into(),
            other => other,
        })
        .collect()
}
