//! The formulas in the documentation of a derivative, evaluated for a size. They must bound the
//! operations that are counted while the program runs, and agree with them if it has no branches.

use proc_macro2::TokenStream;
use syn::{Expr, Lit, Meta};

/// Programs without branches and without loops that end early. The compiler does all operations of
/// the first three, and folds some of the others.
const EXACT: [&str; 6] = ["heat", "prefix", "log_sum_exp", "runge_kutta", "recurrent_net", "kalman"];
const WHOLE: usize = 3;
/// The share of the counted operations by which a formula may differ from them: what is done once
/// in a call may be in one of the two only.
const TOLERANCE: f64 = 0.05;
/// The sentences that say of numbers in a formula that they are not sizes.
const NOT_SIZES: [&str; 2] = ["of steps that the function computes", "of steps that only a call knows"];

/// The documented operations of the value and of value and gradient, as formulas.
struct Documented {
    value: Vec<String>,
    all: Vec<String>,
}

/// The text of the documentation of the function with this name.
fn text(tokens: TokenStream, name: &str) -> Vec<String> {
    let file: syn::File = syn::parse2(tokens).expect("the macro writes items");
    let attrs = file.items.into_iter().find_map(|item| match item {
        syn::Item::Fn(f) if f.sig.ident == name => Some(f.attrs),
        _ => None,
    });
    let line = |a: syn::Attribute| match a.meta {
        Meta::NameValue(doc) if doc.path.is_ident("doc") => match doc.value {
            Expr::Lit(syn::ExprLit { lit: Lit::Str(s), .. }) => Some(s.value()),
            _ => None,
        },
        _ => None,
    };
    attrs.expect("the derivative is written").into_iter().filter_map(line).collect()
}

/// `None` if a formula is not known, or not of sizes only.
fn documented(tokens: TokenStream, name: &str) -> Option<Documented> {
    let mut found = Documented { value: Vec::new(), all: Vec::new() };
    let lines = text(tokens, &format!("{name}_value_and_grad"));
    let whole = lines.join(" ");
    if NOT_SIZES.iter().chain(&["not known", "Not counted"]).any(|said| whole.contains(said)) {
        return None;
    }
    for line in lines {
        let cells: Vec<&str> = line.split('|').map(str::trim).collect();
        let formula = |cell: &str| cell.strip_prefix('`')?.strip_suffix('`').map(str::to_string);
        if let [_, _, all, value, _] = cells[..]
            && let (Some(all), Some(value)) = (formula(all), formula(value))
        {
            found.all.push(all);
            found.value.push(value);
        }
    }
    let parts = found.all.iter().chain(&found.value);
    (!parts.clone().any(|formula| formula.contains("..."))).then_some(found)
}

/// A formula in which each letter is the same size.
fn evaluated(formula: &str, size: f64) -> f64 {
    fn value(e: &Expr, size: f64) -> f64 {
        match e {
            Expr::Paren(p) => value(&p.expr, size),
            Expr::Lit(l) => match &l.lit {
                Lit::Int(n) => n.base10_parse().expect("a number"),
                _ => panic!("a number that is no integer"),
            },
            Expr::Path(_) => size,
            Expr::Unary(u) => -value(&u.expr, size),
            Expr::Binary(b) => {
                let (x, y) = (value(&b.left, size), value(&b.right, size));
                match b.op {
                    syn::BinOp::Add(_) => x + y,
                    syn::BinOp::Sub(_) => x - y,
                    syn::BinOp::Mul(_) => x * y,
                    syn::BinOp::Div(_) => (x / y).floor(),
                    syn::BinOp::Rem(_) => x % y,
                    _ => panic!("another operation"),
                }
            }
            Expr::Call(call) => {
                let least = matches!(&*call.func, Expr::Path(f) if f.path.is_ident("min"));
                let all = call.args.iter().map(|a| value(a, size));
                if least { all.fold(f64::MAX, f64::min) } else { all.fold(0.0, f64::max) }
            }
            _ => panic!("another expression"),
        }
    }
    value(&syn::parse_str(formula).unwrap_or_else(|e| panic!("{formula}: {e}")), size)
}

/// A text for each formula that disagrees with the counts of the program: a size, and the
/// operations of the function and of value and gradient. `None` if no formula is known.
pub(crate) fn disagreements(name: &str, tokens: TokenStream, counts: &[(f64, [f64; 2])]) -> Option<Vec<String>> {
    let exact = EXACT.iter().position(|exact| *exact == name);
    let known = documented(tokens, name);
    assert!(known.is_some() || exact.is_none(), "{name} has no formulas");
    let Documented { value, all } = known?;
    let mut wrong = Vec::new();
    for &(size, counted) in counts {
        let stated = [&value, &all].map(|formulas| formulas.iter().map(|f| evaluated(f, size)).sum::<f64>());
        let enough = stated[1] >= counted[1] * (1.0 - TOLERANCE) && stated[0] <= stated[1];
        let close = |k: usize| (stated[k] - counted[k]).abs() <= TOLERANCE * counted[k];
        if !enough || exact.is_some_and(|k| !close(1) || k < WHOLE && !close(0)) {
            let shown = format!("{value:?} and {all:?} are {stated:?}, counted are {counted:?}");
            wrong.push(format!("{name} at {size}: {shown}"));
        }
    }
    Some(wrong)
}
