//! Counters of arithmetic on real numbers in a program's text, which is what a counting number type sees: sums, products, quotients, negations,
//! comparisons and functions of numbers. What type an operation is of is not known here: `crate::number` asks for it when it is called.

use quote::ToTokens;
use syn::visit_mut::VisitMut;
use syn::{BinOp, Expr, UnOp, parse_quote};

/// Methods of numbers that compute.
pub(crate) const METHODS: [&str; 37] = [
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
/// Kernels that go over their first argument once, with an operation for each element.
const OVER: [&str; 3] = ["exact_sum", "place_of_largest", "place_of_smallest"];
/// Kernels of a number or a few.
const SCALAR: [&str; 3] = ["mul_zero", "quotient", "remainder"];
/// What `kernel::lanes` and `kernel::total` add up.
const LANES: u64 = 15;

/// Puts the counters in.
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
            Expr::Binary(b) => match b.op {
                BinOp::Add(_) | BinOp::Sub(_) | BinOp::Mul(_) | BinOp::Div(_) | BinOp::Rem(_) => {
                    *e = parse_quote!(crate::number(#e));
                }
                BinOp::AddAssign(_) | BinOp::SubAssign(_) | BinOp::MulAssign(_) | BinOp::DivAssign(_) => {
                    let right = &b.right;
                    b.right = parse_quote!(crate::number(#right));
                }
                BinOp::Lt(_) | BinOp::Le(_) | BinOp::Gt(_) | BinOp::Ge(_) | BinOp::Eq(_) | BinOp::Ne(_) => {
                    let left = &b.left;
                    b.left = parse_quote!(crate::number(#left));
                }
                _ => {}
            },
            Expr::Unary(u) if matches!(u.op, UnOp::Neg(_)) && !literal => *e = parse_quote!(crate::number(#e)),
            Expr::MethodCall(call) if METHODS.iter().any(|m| call.method == m) => {
                *e = parse_quote!(crate::number(#e));
            }
            Expr::Call(call) => {
                let path = call.func.to_token_stream().to_string().replace(' ', "");
                let name = path.rsplit("::").next().unwrap_or_default();
                if path.contains("kernel::") && OVER.contains(&name) {
                    if let Some(first) = call.args.first_mut() {
                        *first = parse_quote!(crate::summed(#first));
                    }
                } else if path.contains("kernel::") && name == "places_of_smallest" {
                    // The first is where they are put.
                    if let Some(items) = call.args.iter_mut().nth(1) {
                        *items = parse_quote!(crate::summed(#items));
                    }
                } else if path.contains("kernel::") && matches!(name, "lanes" | "total") {
                    *e = parse_quote!(crate::joined(#LANES, #e));
                } else if path.contains("kernel::") && SCALAR.contains(&name) {
                    *e = parse_quote!(crate::number(#e));
                } else if path == "I::mul_add" {
                    *e = parse_quote!(crate::number(crate::number(#e)));
                } else if path.starts_with("I::") {
                    *e = parse_quote!(crate::lanes(#e));
                }
            }
            _ => {}
        }
    }
}
