//! Counters of arithmetic on real numbers in a program's text, as a counting number type would see
//! it: sums, products, quotients, negations, comparisons and functions of numbers. The type of an
//! operation is not known here: `crate::number` determines it when it is called.

use quote::ToTokens;
use syn::visit_mut::VisitMut;
use syn::{BinOp, Expr, UnOp, parse_quote};

/// Methods of numbers that are operations on numbers.
const METHODS: [&str; 37] = [
    "abs",
    "sin",
    "cos",
    "tan",
    "tanh",
    "sinh",
    "cosh",
    "asin",
    "acos",
    "atan",
    "atan2",
    "exp",
    "exp2",
    "exp_m1",
    "ln",
    "ln_1p",
    "log2",
    "log10",
    "log",
    "sqrt",
    "cbrt",
    "powi",
    "powf",
    "recip",
    "signum",
    "floor",
    "ceil",
    "round",
    "trunc",
    "fract",
    "hypot",
    "max",
    "min",
    "clamp",
    "rem_euclid",
    "div_euclid",
    "mul_add",
];
/// The operations on two numbers.
const OF_TWO: [&str; 8] = ["atan2", "powf", "hypot", "max", "min", "log", "rem_euclid", "div_euclid"];
/// Functions that make an array.
const MAKING: [&str; 13] = [
    "eye",
    "from",
    "from_diag",
    "from_diag_elem",
    "from_elem",
    "from_iter",
    "from_shape_fn",
    "from_vec",
    "geomspace",
    "linspace",
    "logspace",
    "ones",
    "zeros",
];
/// Functions of the library that make an array. Their closures count what they compute.
const MAKERS: [&str; 11] =
    ["build", "build1", "gather", "iota", "map2", "one_hot", "replicate", "scan", "scanl", "scanr", "scatter"];

/// Functions of the library that read their argument once.
const OVER: [&str; 11] =
    ["argmax", "argmin", "cumsum", "logsumexp", "maximum", "minimum", "norm", "product", "softmax", "sum", "sum_outer"];

/// Methods that replace or drop a value of the collection.
const CHANGES: [&str; 8] = ["swap", "push", "pop", "push_back", "push_front", "pop_back", "pop_front", "replace"];

/// Whether this is a literal: the product with it is linear.
fn constant(e: &Expr) -> bool {
    match e {
        Expr::Lit(_) => true,
        Expr::Paren(p) => constant(&p.expr),
        Expr::Unary(u) => constant(&u.expr),
        Expr::Cast(c) => constant(&c.expr),
        _ => false,
    }
}

/// Inserts the counters.
pub(crate) fn counted(file: &mut syn::File) {
    Counters.visit_file_mut(file);
}

struct Counters;

impl VisitMut for Counters {
    fn visit_type_mut(&mut self, _: &mut syn::Type) {}

    fn visit_item_const_mut(&mut self, _: &mut syn::ItemConst) {}

    fn visit_pat_mut(&mut self, _: &mut syn::Pat) {}

    fn visit_expr_repeat_mut(&mut self, e: &mut syn::ExprRepeat) {
        self.visit_expr_mut(&mut e.expr);
    }

    fn visit_expr_mut(&mut self, e: &mut Expr) {
        let literal = matches!(e, Expr::Unary(u) if matches!(*u.expr, Expr::Lit(_)));
        syn::visit_mut::visit_expr_mut(self, e);
        match e {
            Expr::MethodCall(call) => call.args.iter_mut().for_each(named_function),
            Expr::Array(list) => list.elems.iter_mut().for_each(named_function),
            _ => {}
        }
        match e {
            Expr::Binary(b) => match b.op {
                BinOp::Mul(_) if !constant(&b.left) && !constant(&b.right) => {
                    *e = parse_quote!(crate::nonlinear(crate::number(#e)));
                }
                BinOp::Div(_) | BinOp::Rem(_) if !constant(&b.right) => {
                    *e = parse_quote!(crate::nonlinear(crate::number(#e)));
                }
                BinOp::Add(_) | BinOp::Sub(_) | BinOp::Mul(_) | BinOp::Div(_) | BinOp::Rem(_) => {
                    *e = parse_quote!(crate::number(#e));
                }
                BinOp::AddAssign(_) | BinOp::SubAssign(_) | BinOp::MulAssign(_) | BinOp::DivAssign(_) => {
                    let left = &b.left;
                    b.left = parse_quote!(*crate::place(&mut #left));
                }
                BinOp::RemAssign(_)
                | BinOp::BitAndAssign(_)
                | BinOp::BitOrAssign(_)
                | BinOp::BitXorAssign(_)
                | BinOp::ShlAssign(_)
                | BinOp::ShrAssign(_) => *e = parse_quote!(crate::replaces(1, #e)),
                BinOp::Lt(_) | BinOp::Le(_) | BinOp::Gt(_) | BinOp::Ge(_) | BinOp::Eq(_) | BinOp::Ne(_) => {
                    let left = &b.left;
                    b.left = parse_quote!(crate::compared(#left));
                }
                _ => {}
            },
            Expr::Assign(a) => {
                let places = if let Expr::Tuple(t) = &*a.left { t.elems.len() } else { 1 } as u64;
                *e = parse_quote!(crate::replaces(#places, #e));
            }
            Expr::MethodCall(call) if CHANGES.iter().any(|m| call.method == m) => {
                let places: u64 = if call.method == "swap" { 2 } else { 1 };
                *e = parse_quote!(crate::replaces(#places, #e));
            }
            Expr::Unary(u) if matches!(u.op, UnOp::Neg(_)) && !literal => *e = parse_quote!(crate::number(#e)),
            Expr::MethodCall(call) if METHODS.iter().any(|m| call.method == m) => {
                *e = parse_quote!(crate::function(#e));
            }
            // A computed number is copied, which is more work than writing zeros.
            Expr::MethodCall(call) if call.method == "fill" && !matches!(call.args.first(), Some(Expr::Lit(_))) => {
                call.method = quote::format_ident!("counted_broadcast");
            }
            Expr::Call(call) => {
                let path = call.func.to_token_stream().to_string().replace(' ', "");
                let (of, name) = path.rsplit_once("::").unwrap_or(("", &path));
                if path == "I::mul_add" {
                    *e = parse_quote!(crate::function(crate::function(#e)));
                } else if of == "I" {
                    *e = parse_quote!(crate::lanes(#e));
                } else if of.is_empty() && OVER.contains(&name) {
                    if let Some(x) = call.args.first_mut() {
                        *x = parse_quote!(crate::reads(#x));
                    }
                } else if of.is_empty() && MAKERS.contains(&name)
                    || (of.contains("Array") || of.contains("Vec")) && MAKING.contains(&name)
                {
                    *e = parse_quote!(crate::made(#e));
                }
            }
            Expr::Closure(c) => {
                // A call of it costs as much as a step.
                let body = &c.body;
                c.body = match &c.output {
                    syn::ReturnType::Default => parse_quote!({ crate::tick(2); #body }),
                    syn::ReturnType::Type(..) => parse_quote!({ crate::tick(2); { #body } }),
                };
            }
            _ => {}
        }
    }
}

/// A function by its name, `x.mapv(f64::sin)`, as a closure that counts it.
fn named_function(e: &mut Expr) {
    let path = e.to_token_stream().to_string().replace(' ', "");
    let Some(name) = path.strip_prefix("f64::") else { return };
    if OF_TWO.contains(&name) {
        *e = parse_quote!(|a: f64, b: f64| { crate::tick(2); crate::function(#e(a, b)) });
    } else if METHODS.contains(&name) && !["clamp", "mul_add", "powi"].contains(&name) {
        *e = parse_quote!(|a: f64| { crate::tick(2); crate::function(#e(a)) });
    }
}
