//! Scalar expressions, types, literals and names as Rust tokens. This module knows neither loops
//! nor stored terms, and must never decide where a value is computed.

use ad_ir::sorted::{SortedMap, SortedSet};
use std::cell::Cell;
use std::rc::Rc;

use proc_macro2::{Ident, Literal, Span, TokenStream, TokenTree};
use quote::{format_ident, quote};

use super::watch::WatchedPlaces;
use ad_ir::ir::{Elem, IntTy, Lit, RealTy};
use ad_ir::prim::{Cmp, Emit, IntOp, Prim};
use ad_ir::rust_types::elem_type;

/// Binding strengths of Rust's expressions, weakest first.
pub(super) mod prec {
    pub(crate) const IF: u8 = 0;
    pub(crate) const CAST: u8 = 1;
    pub(crate) const OR: u8 = 2;
    pub(crate) const AND: u8 = 3;
    pub(crate) const COMPARE: u8 = 4;
    pub(crate) const ADD: u8 = 6;
    pub(crate) const MUL: u8 = 7;
    pub(crate) const PREFIX: u8 = 9;
    pub(crate) const ATOM: u8 = 10;
}

/// An expression: its tokens, how strongly they bind, and the number of operations in it.
#[derive(Clone, Debug)]
pub(super) struct Expr {
    pub(super) tokens: TokenStream,
    pub(super) prec: u8,
    pub(super) size: u32,
    /// The suffixed form of a float literal. A method call needs it, since a plain literal has no
    /// type of its own.
    pub(super) receiver: Option<TokenStream>,
    /// The value of an integer literal.
    pub(super) integer: Option<i128>,
}

impl Expr {
    pub(super) fn new(tokens: TokenStream, prec: u8, size: u32) -> Expr {
        Expr { tokens, prec, size, receiver: None, integer: None }
    }

    pub(super) fn atom(tokens: TokenStream) -> Expr {
        Expr::new(tokens, prec::ATOM, 0)
    }

    /// The tokens as an operand of an expression with the binding strength `min`. There are
    /// parentheses only if they are needed (rustc and clippy warn about others).
    pub(super) fn at(&self, min: u8) -> TokenStream {
        let tokens = &self.tokens;
        if self.prec < min { quote!((#tokens)) } else { tokens.clone() }
    }

    /// Whether it is the integer literal `n`.
    pub(super) fn is(&self, n: u8) -> bool {
        self.integer == Some(n.into())
    }

    /// `self * other`, for positions and lengths, which do not overflow.
    pub(super) fn times(&self, other: &Expr) -> Expr {
        if self.is(1) || other.is(0) {
            return other.clone();
        }
        if other.is(1) || self.is(0) {
            return self.clone();
        }
        let (a, b) = (self.at(prec::MUL), other.at(prec::MUL + 1));
        // A product of literals has no type of its own either.
        let receiver = self.receiver.as_ref().filter(|_| other.receiver.is_some()).map(|a| quote!(#a * #b));
        Expr { receiver, ..Expr::new(quote!(#a * #b), prec::MUL, 1) }
    }

    /// `self + other`, in the same way.
    pub(super) fn plus(&self, other: &Expr) -> Expr {
        if self.is(0) {
            return other.clone();
        }
        if other.is(0) {
            return self.clone();
        }
        let (a, b) = (self.at(prec::ADD), other.at(prec::ADD + 1));
        let receiver = self.receiver.as_ref().filter(|_| other.receiver.is_some()).map(|a| quote!(#a + #b));
        Expr { receiver, ..Expr::new(quote!(#a + #b), prec::ADD, 1) }
    }

    /// The tokens as the receiver of a method.
    pub(super) fn receiver(&self) -> TokenStream {
        match &self.receiver {
            Some(tokens) if self.prec < prec::ATOM => quote!((#tokens)),
            Some(tokens) => tokens.clone(),
            None => self.at(prec::ATOM),
        }
    }
}

/// The methods of real numbers that core has, among those that this module writes.
const METHODS_OF_CORE: [&str; 8] = ["abs", "copysign", "max", "min", "recip", "signum", "to_degrees", "to_radians"];

/// The facts about the user's crate and about the routine that scalar code depends on.
#[derive(Clone, Debug)]
pub(super) struct Style {
    /// The path of the facade.
    pub(super) krate: TokenStream,
    /// The type parameter for [`RealTy::Param`].
    pub(super) param: Ident,
    /// The names that the user binds in patterns.
    pub(super) bound: Rc<SortedSet<String>>,
    /// Whether the routine works in the caller's memory.
    pub workspace: bool,
    /// Whether the code is for a page, with marks of the terms.
    pub marks: bool,
    /// The kind of the record that holds the results, if they are a record.
    pub(super) records: Option<super::calls::RecordKind>,
    /// The places of watched terms.
    pub(super) watched: Rc<WatchedPlaces>,
    /// Whether a method of a number was written that is in std and not in core.
    pub(super) std_methods: Rc<Cell<bool>>,
}

impl Style {
    /// The import that the methods of numbers in a routine need without std, where they are those
    /// of a trait. Where there is std, numbers have them.
    pub(super) fn methods_without_std(&self) -> Option<TokenStream> {
        let krate = &self.krate;
        self.std_methods.get().then(|| {
            quote! {
                #[allow(unused_imports, reason = "only without std, methods like `sqrt` are those of a trait")]
                use #krate::runtime::Float as _;
            }
        })
    }

    /// The type of an element.
    pub(super) fn ty(&self, elem: Elem) -> TokenStream {
        elem_type(elem, &self.param)
    }

    /// A function of the runtime's kernels.
    pub(super) fn kernel(&self, name: &str) -> TokenStream {
        let (krate, name) = (&self.krate, format_ident!("{}", name));
        quote!(#krate::runtime::kernel::#name)
    }

    /// The name of the type parameter for the instruction set.
    pub(super) fn isa_name(&self) -> Ident {
        Ident::new(if self.param == "I" { "Isa" } else { "I" }, Span::mixed_site())
    }

    /// A constant.
    pub(super) fn lit(&self, lit: Lit) -> Expr {
        match lit {
            Lit::Bool(b) => Expr::atom(quote!(#b)),
            Lit::Int(ty, n) if n < 0 => {
                let typed = int_suffixed(ty, n.saturating_abs());
                let n = Literal::i128_unsuffixed(n.saturating_abs());
                Expr { receiver: Some(quote!(-#typed)), ..Expr::new(quote!(-#n), prec::PREFIX, 0) }
            }
            Lit::Int(ty, n) => {
                let plain = Literal::i128_unsuffixed(n);
                let typed = int_suffixed(ty, n);
                Expr { receiver: Some(quote!(#typed)), integer: Some(n), ..Expr::atom(quote!(#plain)) }
            }
            Lit::Real(ty, bits) => self.real(ty, f64::from_bits(bits)),
        }
    }

    /// A real constant.
    pub(super) fn real(&self, ty: RealTy, x: f64) -> Expr {
        let negative = x.is_sign_negative() && !x.is_nan();
        let magnitude = x.abs();
        if ty == RealTy::Param {
            let (krate, param) = (&self.krate, &self.param);
            let x = self.real(RealTy::F64, x).tokens;
            return Expr::atom(quote!(<#param as #krate::runtime::Real>::lit(#x)));
        }
        let prim = self.ty(Elem::Real(ty));
        if !x.is_finite() {
            let name = if x.is_nan() {
                quote!(NAN)
            } else if negative {
                quote!(NEG_INFINITY)
            } else {
                quote!(INFINITY)
            };
            return Expr::atom(quote!(#prim::#name));
        }
        // An f32 constant is rounded once, here, so that its literal is short.
        #[allow(clippy::cast_possible_truncation, reason = "the constant is of this type")]
        let (plain, suffixed) = match ty {
            RealTy::F32 => {
                let x = magnitude as f32;
                if x.is_infinite() {
                    return Expr::atom(if negative { quote!(f32::NEG_INFINITY) } else { quote!(f32::INFINITY) });
                }
                (Literal::f32_unsuffixed(x), suffixed(&format!("{x:?}_f32"), Literal::f32_suffixed(x)))
            }
            _ => (
                Literal::f64_unsuffixed(magnitude),
                suffixed(&format!("{magnitude:?}_f64"), Literal::f64_suffixed(magnitude)),
            ),
        };
        if negative {
            Expr { receiver: Some(quote!(-#suffixed)), ..Expr::new(quote!(-#plain), prec::PREFIX, 0) }
        } else {
            Expr { receiver: Some(quote!(#suffixed)), ..Expr::atom(quote!(#plain)) }
        }
    }

    /// The value of a term that is not computed.
    pub(super) fn zero(&self, elem: Elem) -> TokenStream {
        match elem {
            Elem::Real(ty) => self.real(ty, 0.0).tokens,
            Elem::Int(_) => quote!(0),
            Elem::Bool => quote!(false),
        }
    }

    /// An elementwise primitive applied to scalars. `from` is the element type of the first
    /// argument. `second` is the value of the second argument, if it is a literal.
    pub(super) fn prim(&self, prim: &Prim, args: &[&Expr], from: Elem, second: Option<i128>) -> Result<Expr, String> {
        let size = 1 + args.iter().map(|a| a.size).sum::<u32>();
        let method = |name: &str, args: &[&Expr]| {
            if matches!(from, Elem::Real(RealTy::F32 | RealTy::F64)) && !METHODS_OF_CORE.contains(&name) {
                self.std_methods.set(true);
            }
            let name = Ident::new(name, Span::mixed_site());
            let (receiver, rest) = (args[0].receiver(), args[1..].iter().map(|a| &a.tokens));
            Expr::new(quote!(#receiver.#name(#(#rest),*)), prec::ATOM, size)
        };
        let function = |name: &str, args: &[&Expr]| {
            // The kernels are generic, so a call with untyped literals only would have no type.
            let first = typed(args).unwrap_or_else(|| args[0].tokens.clone());
            let (name, rest) = (self.kernel(name), args[1..].iter().map(|a| &a.tokens));
            Expr::new(quote!(#name(#first #(, #rest)*)), prec::ATOM, size)
        };
        let infix = |op: TokenStream, p: u8, right: u8| {
            let (a, b) = (typed(args).unwrap_or_else(|| args[0].at(p)), args[1].at(right));
            Expr::new(quote!(#a #op #b), p, size)
        };
        let bits = |op: TokenStream| {
            let (a, b) = (typed(args).unwrap_or_else(|| args[0].at(prec::ATOM)), args[1].at(prec::ATOM));
            Expr::new(quote!(#a #op #b), prec::CAST, size)
        };
        let arithmetic = |op: &str| match op {
            "+" => Some(infix(quote!(+), prec::ADD, prec::ADD + 1)),
            "-" => Some(infix(quote!(-), prec::ADD, prec::ADD + 1)),
            "*" => Some(infix(quote!(*), prec::MUL, prec::MUL + 1)),
            "/" => Some(infix(quote!(/), prec::MUL, prec::MUL + 1)),
            "%" => Some(infix(quote!(%), prec::MUL, prec::MUL + 1)),
            _ => None,
        };
        Ok(match prim {
            Prim::Unary(f) => match f.row().emit {
                Emit::Method(name) => method(name, args),
                Emit::Kernel(name) => function(name, args),
                Emit::Op("-") => {
                    // People would read two signs in a row as a decrement.
                    let x = args[0].at(prec::PREFIX + u8::from(args[0].prec == prec::PREFIX));
                    let x = if args[0].receiver.is_some() { args[0].receiver() } else { x };
                    Expr::new(quote!(-#x), prec::PREFIX, size)
                }
                Emit::Op(op) => return Err(format!("no prefix operator {op}")),
            },
            Prim::Binary(f) => match f.row().emit {
                Emit::Method(name) => method(name, args),
                Emit::Kernel(name) => function(name, args),
                Emit::Op(op) => arithmetic(op).ok_or_else(|| format!("no infix operator {op}"))?,
            },
            Prim::PowI => method("powi", args),
            Prim::Compare(c) => {
                let op = match c {
                    Cmp::Eq => quote!(==),
                    Cmp::Ne => quote!(!=),
                    Cmp::Lt => quote!(<),
                    Cmp::Le => quote!(<=),
                    Cmp::Gt => quote!(>),
                    Cmp::Ge => quote!(>=),
                };
                // Comparisons do not associate: both sides bind more strongly.
                let first = typed(args).unwrap_or_else(|| args[0].at(prec::COMPARE + 1));
                let (a, b) = (first, args[1].at(prec::COMPARE + 1));
                Expr::new(quote!(#a #op #b), prec::COMPARE, size)
            }
            // Terms are total, so an operation that can overflow saturates. A separate check panics
            // if the user's function reaches the overflow.
            Prim::Int(op) => match op {
                IntOp::Add => method("saturating_add", args),
                IntOp::Sub => method("saturating_sub", args),
                IntOp::Mul => method("saturating_mul", args),
                IntOp::Min => method("min", args),
                IntOp::Max => method("max", args),
                IntOp::Div if second.is_some_and(|n| n > 0) => infix(quote!(/), prec::MUL, prec::MUL + 1),
                IntOp::Rem if second.is_some_and(|n| n > 0) => infix(quote!(%), prec::MUL, prec::MUL + 1),
                IntOp::Div => function("quotient", args),
                IntOp::Rem => function("remainder", args),
                // These are always in parentheses, since few readers remember how strongly they
                // bind.
                IntOp::BitAnd => bits(quote!(&)),
                IntOp::BitOr => bits(quote!(|)),
                IntOp::BitXor => bits(quote!(^)),
                IntOp::Shl | IntOp::Shr if second.is_some_and(|n| shift_range(from).contains(&n)) => {
                    bits(if *op == IntOp::Shl { quote!(<<) } else { quote!(>>) })
                }
                IntOp::Shl => function("shifted_left", args),
                IntOp::Shr => function("shifted_right", args),
                IntOp::Pow => function("power", args),
            },
            Prim::IntNeg => match from {
                Elem::Int(IntTy::Isize | IntTy::I32 | IntTy::I64) => method("saturating_neg", args),
                Elem::Int(ty) => self.lit(Lit::Int(ty, 0)),
                _ => return Err("negation of a term that is not an integer".into()),
            },
            Prim::TotalOrder => function("order", args),
            Prim::Finished => function("finished", args),
            Prim::Watched(of) => self.watched.call(&self.krate, of, args),
            Prim::Not => {
                let x = args[0].at(prec::PREFIX);
                Expr::new(quote!(!#x), prec::PREFIX, size)
            }
            Prim::And => infix(quote!(&&), prec::AND, prec::AND + 1),
            Prim::Or => infix(quote!(||), prec::OR, prec::OR + 1),
            Prim::Cast(to) => self.cast(from, *to, args[0]),
            Prim::StopGradient | Prim::UnknownOrder | Prim::Checkpoint => args[0].clone(),
            Prim::Fused => method("mul_add", args),
            _ => return Err(format!("{} is not a scalar operation", prim.name())),
        })
    }

    /// A choice between the integers 1 and 0, which is a conversion of its condition. `None` for
    /// any other choice.
    pub(super) fn indicator(&self, elem: Elem, cond: &Expr, then: &Expr, other: &Expr) -> Option<Expr> {
        let cond = match (then.integer?, other.integer?) {
            (1, 0) => cond.tokens.clone(),
            (0, 1) => {
                let cond = cond.at(prec::PREFIX);
                quote!(!#cond)
            }
            _ => return None,
        };
        let ty = self.ty(elem);
        Some(Expr::new(quote!(#ty::from(#cond)), prec::ATOM, 1))
    }

    fn cast(&self, from: Elem, to: Elem, x: &Expr) -> Expr {
        let size = x.size + 1;
        let param = Elem::Real(RealTy::Param);
        if from == to {
            return x.clone();
        }
        // The conversion goes through `f64`, since that is exact for an `f32` and is what `Real`
        // offers.
        let (x, from) = if from == param {
            let x = x.receiver();
            (Expr::new(quote!(#x.as_f64()), prec::ATOM, size), Elem::F64)
        } else {
            (x.clone(), from)
        };
        if to == param {
            let (krate, name) = (&self.krate, &self.param);
            let x = self.cast(from, Elem::F64, &x).tokens;
            return Expr::new(quote!(<#name as #krate::runtime::Real>::lit(#x)), prec::ATOM, size);
        }
        if from == to {
            return x;
        }
        // `-3 as u8` would be the negation of a `u8`, and a plain number has the type that it is
        // cast to, or `i32`.
        let negative = x.prec == prec::PREFIX && !to.is_real();
        let large = x.integer.is_some_and(|n| !to.is_real() || n > i128::from(i32::MAX));
        let x = x.receiver.clone().filter(|_| negative || large).unwrap_or_else(|| x.at(prec::PREFIX));
        let ty = self.ty(to);
        Expr::new(quote!(#x as #ty), prec::CAST, size)
    }
}

/// The amounts by which an integer can be shifted.
fn shift_range(elem: Elem) -> std::ops::Range<i128> {
    match elem {
        Elem::Int(ty) => 0..ty.bits().into(),
        _ => 0..0,
    }
}

/// The first operand with its type, if all operands are literals. Nothing else would determine the
/// type.
pub(super) fn typed(operands: &[&Expr]) -> Option<TokenStream> {
    if operands.iter().all(|e| e.receiver.is_some()) { operands.first().and_then(|e| e.receiver.clone()) } else { None }
}

/// A literal as people write it, with an underscore before its type.
fn suffixed(text: &str, otherwise: Literal) -> Literal {
    text.parse().unwrap_or(otherwise)
}

fn int_suffixed(ty: IntTy, n: i128) -> TokenStream {
    let text = format!("{n}_{}", ty.name());
    match text.parse::<Literal>() {
        Ok(lit) => TokenTree::Literal(lit).into(),
        Err(_) => {
            let lit = Literal::i128_unsuffixed(n);
            quote!(#lit)
        }
    }
}

/// The names that are in use. It makes new ones.
///
/// If a constant of the same name is in scope, a name in a pattern means that constant. Hygiene
/// does not prevent this, and the attribute does not see what is in scope. So a local gets a name
/// that the user also binds in a pattern, or a name that ends in `_`, since no constant has such a
/// name.
#[derive(Clone, Debug, Default)]
pub(super) struct Names {
    used: SortedSet<String>,
    next: SortedMap<String, u32>,
    /// The names that the user binds. `None` for names of items, since an item hides a constant of
    /// the same name outside.
    bound: Option<Rc<SortedSet<String>>>,
}

impl Names {
    /// Names of locals.
    pub(super) fn of_locals(style: &Style) -> Self {
        Names { bound: Some(Rc::clone(&style.bound)), ..Names::default() }
    }

    /// Reserves a name, so that it is never returned.
    pub(super) fn reserve(&mut self, name: &str) {
        self.used.insert(name.to_string());
    }

    /// Turns a name into one that no constant has.
    fn local(&self, name: String) -> String {
        if self.bound.as_ref().is_none_or(|bound| bound.contains(&name)) { name } else { format!("{name}_") }
    }

    /// Returns the name and reserves it, if it is free.
    fn take(&mut self, name: String) -> Option<Ident> {
        let free = !is_keyword(&name) && self.used.insert(name.clone());
        free.then(|| Ident::new(&name, Span::mixed_site()))
    }

    /// A new name: `base` if it is free, otherwise `base_2` and so on.
    pub(super) fn fresh(&mut self, base: &str) -> Ident {
        let base = clean(base);
        if let Some(name) = self.take(self.local(base.clone())) {
            return name;
        }
        loop {
            let next = self.next.entry(base.clone()).or_insert(1);
            *next += 1;
            let name = format!("{base}_{next}");
            if let Some(name) = self.take(self.local(name)) {
                return name;
            }
        }
    }

    /// A new numbered name: `base1`, `base2` and so on.
    pub(super) fn numbered(&mut self, base: &str) -> Ident {
        loop {
            let next = self.next.entry(format!("{base}#")).or_insert(0);
            *next += 1;
            let name = format!("{base}{next}");
            if let Some(name) = self.take(self.local(name)) {
                return name;
            }
        }
    }
}

/// The stem of a name: `x` for `x_data` with the ending `_data`.
pub(super) fn stem<'a>(name: &'a str, ending: &str) -> &'a str {
    let name = name.trim_end_matches('_');
    name.strip_suffix(ending).unwrap_or(name)
}

/// A hint as a snake-case identifier.
fn clean(hint: &str) -> String {
    let mut name = String::new();
    for c in hint.trim_start_matches("r#").chars() {
        if c.is_ascii_uppercase() {
            if !name.is_empty() && !name.ends_with('_') && !name.ends_with(|c: char| c.is_ascii_digit()) {
                name.push('_');
            }
            name.push(c.to_ascii_lowercase());
        } else if c.is_alphanumeric() || c == '_' {
            name.extend(c.to_lowercase());
        }
    }
    // A leading underscore would mean "not used", and a trailing one marks generated names.
    let name = name.trim_matches('_').replace("__", "_");
    let name = name.as_str();
    match name.chars().next() {
        None => "t".to_string(),
        Some(c) if c.is_ascii_digit() => format!("t{name}"),
        Some(_) => name.to_string(),
    }
}

fn is_keyword(name: &str) -> bool {
    // Strict and reserved keywords of the 2021 and 2024 editions, and the primitive types that are
    // named plainly.
    const WORDS: &[&str] = &[
        "abstract", "as", "async", "await", "become", "bool", "box", "break", "const", "continue", "crate", "do",
        "dyn", "else", "enum", "extern", "f32", "f64", "false", "final", "fn", "for", "gen", "i32", "i64", "if",
        "impl", "in", "isize", "let", "loop", "macro", "match", "mod", "move", "mut", "override", "priv", "pub", "ref",
        "return", "self", "static", "struct", "super", "trait", "true", "try", "type", "typeof", "u32", "u64", "u8",
        "union", "unsafe", "unsized", "use", "usize", "vec", "virtual", "where", "while", "yield",
    ];
    WORDS.contains(&name)
}
