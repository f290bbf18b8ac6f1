//! Rewrites the supported macros to ordinary expressions before anything is lowered: `array![..]`
//! and `vec![..]` become array literals, and `s![..]` becomes a tuple of ranges. Other macros
//! remain and are refused at their location.

use quote::ToTokens;
use syn::parse::{Parse, ParseStream, Parser};
use syn::punctuated::Punctuated;
use syn::spanned::Spanned;
use syn::visit_mut::VisitMut;
use syn::{
    Attribute, Block, Expr, ExprArray, ExprGroup, ExprRepeat, ExprTuple, Macro, MacroDelimiter, Stmt, Token, token,
};

use super::panics;
use crate::walk::{Change, Changing};
use ad_ir::catalogue::{self, refused};
use ad_ir::diag::{Diags, MARK, SrcRange, text_of};
use ad_ir::program::Assumed;

/// Rewrites the macros of a body, and refuses `#[cfg]` inside of it. Returns the assumptions that
/// the rewritten names are those macros.
pub(super) fn rewrite(block: &mut Block, diags: &mut Diags) -> Vec<Assumed> {
    let mut rewrite = Rewrite { diags, assumed: Vec::new() };
    Changing(&mut rewrite).visit_block_mut(block);
    rewrite.assumed
}

struct Rewrite<'d> {
    diags: &'d mut Diags,
    assumed: Vec<Assumed>,
}

impl Change for Rewrite<'_> {
    fn expr(&mut self, e: &mut Expr) -> bool {
        if let Expr::Macro(m) = e {
            match self.expression(&m.mac) {
                Some(new) => *e = new,
                None => return false,
            }
        }
        true
    }

    fn stmt(&mut self, stmt: &mut Stmt) -> bool {
        if let Stmt::Macro(m) = stmt
            && let Some(new) = self.expression(&m.mac)
        {
            // A macro call with braces needs no semicolon, and is still a statement.
            *stmt = Stmt::Expr(new, m.semi_token.or_else(|| Some(Token![;](m.mac.path.span()))));
        }
        true
    }

    /// Rewrites `<f64>::abs` to `f64::abs`.
    fn expr_path(&mut self, p: &mut syn::ExprPath) -> bool {
        if let Some(plain) = unqualified(p) {
            *p = plain;
        }
        true
    }

    fn attribute(&mut self, a: &mut Attribute) -> bool {
        if a.path().is_ident("cfg") || a.path().is_ident("cfg_attr") {
            self.diags.push(SrcRange::of(a), refused::construct(refused::Construct::Cfg));
        }
        false
    }
}

impl Rewrite<'_> {
    /// The expression that a supported macro means.
    fn expression(&mut self, mac: &Macro) -> Option<Expr> {
        let (read, arguments) = understood(mac)?;
        match read {
            Ok(mut new) => {
                let last = mac.path.segments.last();
                if let Some(last) = last {
                    let (path, name) = (mac.path.to_token_stream(), last.ident.clone());
                    let new = Assumed::Macro { path, name, arguments };
                    if !self.assumed.iter().any(|old| old.same(&new)) {
                        self.assumed.push(new);
                    }
                }
                if !matches!(new, Expr::Match(_))
                    && last.is_some_and(|last| panics::find(&last.ident.to_string()).is_none())
                {
                    new = marked(new, mac);
                }
                Some(new)
            }
            Err(error) => {
                let range = SrcRange { first: error.span(), last: error.span() };
                self.diags.push(range, catalogue::syntax(&error.to_string(), false));
                None
            }
        }
    }
}

/// A path that starts with a type in angle brackets, without the brackets. `None` for a trait's
/// path.
fn unqualified(p: &syn::ExprPath) -> Option<syn::ExprPath> {
    let qself = p.qself.as_ref().filter(|q| q.position == 0)?;
    let mut ty = &*qself.ty;
    while let syn::Type::Paren(syn::TypeParen { elem, .. }) | syn::Type::Group(syn::TypeGroup { elem, .. }) = ty {
        ty = elem;
    }
    let syn::Type::Path(of) = ty else { return None };
    let mut path = of.path.clone();
    // `Array1<f64>` is a type; a path starts with `Array1::<f64>`.
    for segment in &mut path.segments {
        if let syn::PathArguments::AngleBracketed(arguments) = &mut segment.arguments {
            arguments.colon2_token.get_or_insert_default();
        }
    }
    path.segments.extend(p.path.segments.iter().cloned());
    of.qself.is_none().then(|| syn::ExprPath { attrs: p.attrs.clone(), qself: None, path })
}

/// A macro that becomes an ordinary expression.
struct MacroRow {
    name: &'static str,
    /// Whether its call has square brackets.
    brackets: bool,
    /// Arguments for a call that proves its name (`x_` is an array).
    arguments: &'static str,
    read: fn(&Macro) -> syn::Result<Expr>,
}

const MACROS: &[MacroRow] = &[
    MacroRow { name: "array", brackets: true, arguments: "[0.0_f64]", read: listed },
    MacroRow { name: "vec", brackets: true, arguments: "[0.0_f64]", read: listed },
    MacroRow { name: "s", brackets: true, arguments: "[0]", read: sliced },
    MacroRow { name: "stack", brackets: true, arguments: "[$crate::ndarray::Axis(0), *x_]", read: joined_arrays },
    MacroRow { name: "concatenate", brackets: true, arguments: "[$crate::ndarray::Axis(0), *x_]", read: joined_arrays },
    MacroRow { name: "azip", brackets: false, arguments: "((x_ in x_) drop::<&f64>(x_))", read: zipped },
    MacroRow {
        name: "matches",
        brackets: false,
        arguments: "(x_.len(), 0)",
        read: |mac| matched.parse2(mac.tokens.clone()),
    },
];

/// The names of all macros that are understood. A test compares them with the macros whose names
/// generated code proves.
#[must_use]
pub fn names() -> Vec<&'static str> {
    MACROS.iter().map(|row| row.name).chain(panics::names()).collect()
}

fn find(name: &str) -> Option<&'static MacroRow> {
    MACROS.iter().find(|row| row.name == name)
}

/// Whether a name before square brackets is a macro.
pub(super) fn is_indexed(name: &str) -> bool {
    find(name).is_some_and(|row| row.brackets)
}

/// The expression that a macro means, and the arguments that prove its name.
fn understood(mac: &Macro) -> Option<(syn::Result<Expr>, &'static str)> {
    let name = mac.path.segments.last()?.ident.to_string();
    if let Some(row) = find(&name) {
        return Some(((row.read)(mac), row.arguments));
    }
    let row = panics::find(&name)?;
    Some((panics::rewrite(mac, row), row.arguments()))
}

fn listed(mac: &Macro) -> syn::Result<Expr> {
    Ok(literal.parse2(mac.tokens.clone())?.into_expr(mac))
}

fn joined_arrays(mac: &Macro) -> syn::Result<Expr> {
    let name = mac.path.segments.last().map_or_else(String::new, |last| last.ident.to_string());
    Ok(joined.parse2(mac.tokens.clone())?.into_expr(mac, &name))
}

fn zipped(mac: &Macro) -> syn::Result<Expr> {
    Ok(azipped.parse2(mac.tokens.clone())?.into_expr(mac))
}

fn sliced(mac: &Macro) -> syn::Result<Expr> {
    let parts = Punctuated::<Slice, Token![,]>::parse_terminated.parse2(mac.tokens.clone())?;
    let elems = parts.into_iter().map(|part| part.0).collect();
    Ok(Expr::Tuple(ExprTuple { attrs: Vec::new(), paren_token: token::Paren(delimiter_span(mac)), elems }))
}

/// Parses `matches!(value, pattern if guard)`.
fn matched(input: ParseStream) -> syn::Result<Expr> {
    let value: Expr = input.parse()?;
    let _: Token![,] = input.parse()?;
    let pat = syn::Pat::parse_multi_with_leading_vert(input)?;
    let guard: Option<Expr> = if input.peek(Token![if]) {
        let _: Token![if] = input.parse()?;
        Some(input.parse()?)
    } else {
        None
    };
    let _: Option<Token![,]> = input.parse()?;
    let guard = guard.map(|g| quote::quote!(if #g));
    Ok(syn::parse_quote!(match #value { #pat #guard => true, _ => false }))
}

enum ArrayLiteral {
    List(Punctuated<Expr, Token![,]>),
    Repeat(Box<Expr>, Token![;], Box<Expr>),
}

fn literal(input: ParseStream) -> syn::Result<ArrayLiteral> {
    if input.is_empty() {
        return Ok(ArrayLiteral::List(Punctuated::new()));
    }
    let first: Expr = input.parse()?;
    if input.peek(Token![;]) {
        return Ok(ArrayLiteral::Repeat(Box::new(first), input.parse()?, Box::new(input.parse()?)));
    }
    let mut list = Punctuated::new();
    list.push_value(first);
    while !input.is_empty() {
        list.push_punct(input.parse()?);
        if !input.is_empty() {
            list.push_value(input.parse()?);
        }
    }
    Ok(ArrayLiteral::List(list))
}

impl ArrayLiteral {
    fn into_expr(self, mac: &Macro) -> Expr {
        let bracket_token = token::Bracket(delimiter_span(mac));
        match self {
            ArrayLiteral::List(elems) => Expr::Array(ExprArray { attrs: Vec::new(), bracket_token, elems }),
            ArrayLiteral::Repeat(expr, semi_token, len) => {
                Expr::Repeat(ExprRepeat { attrs: Vec::new(), bracket_token, expr, semi_token, len })
            }
        }
    }
}

/// Wraps the expression of a macro in a group whose attribute has the source text. Messages use the
/// text (`diag::text_of`), and the elements of nested lists in `array![..]` are scalars and not
/// rows.
fn marked(e: Expr, mac: &Macro) -> Expr {
    let close = delimiter_span(mac).close();
    let first = mac.path.segments.first().map_or(close, |s| s.ident.span());
    let (mark, text) = (syn::Ident::new(MARK, first), text_of(mac, 60));
    let attr: Attribute = syn::parse_quote_spanned!(first=> #[#mark = #text]);
    Expr::Group(ExprGroup { attrs: vec![attr], group_token: token::Group { span: close }, expr: Box::new(e) })
}

/// Whether the content of a group was `array![..]`.
pub(super) fn is_ndarray(group: &ExprGroup) -> bool {
    group.attrs.iter().any(|a| match &a.meta {
        syn::Meta::NameValue(syn::MetaNameValue { path, value: Expr::Lit(value), .. }) => match &value.lit {
            syn::Lit::Str(text) if path.is_ident(MARK) => {
                let text = text.value();
                text.split('!').next().is_some_and(|path| path == "array" || path.ends_with("::array"))
            }
            _ => false,
        },
        _ => false,
    })
}

/// The arguments of `stack!` and `concatenate!`: `Axis(0), a, b`.
struct Joined {
    axis: Expr,
    parts: Punctuated<Expr, Token![,]>,
}

fn joined(input: ParseStream) -> syn::Result<Joined> {
    let axis = input.parse()?;
    let _: Token![,] = input.parse()?;
    Ok(Joined { axis, parts: Punctuated::parse_terminated(input)? })
}

impl Joined {
    /// The call of ndarray's function that the macro means.
    fn into_expr(self, mac: &Macro, name: &str) -> Expr {
        let Joined { axis, parts } = self;
        let name = syn::Ident::new(
            name,
            mac.path.segments.last().map_or_else(proc_macro2::Span::call_site, |s| s.ident.span()),
        );
        // The path starts with a crate that does not exist, so it is not looked up.
        let mark = syn::Ident::new(MARK, name.span());
        syn::parse_quote_spanned!(name.span()=> ::#mark::ndarray::#name(#axis, [#parts]).unwrap())
    }
}

/// The arguments of `azip!`: `(index i, a in &mut x, &b in &y) body`.
struct Azipped {
    index: Option<syn::Pat>,
    pats: Vec<syn::Pat>,
    arrays: Vec<Expr>,
    body: Expr,
}

fn azipped(input: ParseStream) -> syn::Result<Azipped> {
    let inside;
    syn::parenthesized!(inside in input);
    let (mut index, mut pats, mut arrays) = (None, Vec::new(), Vec::new());
    if inside.peek(syn::Ident) && inside.fork().parse::<syn::Ident>()? == "index" && !inside.peek2(Token![in]) {
        let _: syn::Ident = inside.parse()?;
        index = Some(syn::Pat::parse_single(&inside)?);
        let _: Token![,] = inside.parse()?;
    }
    while !inside.is_empty() {
        pats.push(syn::Pat::parse_single(&inside)?);
        let _: Token![in] = inside.parse()?;
        arrays.push(inside.parse()?);
        if !inside.is_empty() {
            let _: Token![,] = inside.parse()?;
        }
    }
    let body = input.parse()?;
    if arrays.is_empty() {
        Err(inside.error("expected `a in &mut x`"))
    } else {
        Ok(Azipped { index, pats, arrays, body })
    }
}

impl Azipped {
    /// The call that the macro means.
    fn into_expr(self, mac: &Macro) -> Expr {
        let Azipped { index, pats, arrays, body } = self;
        let span = mac.path.segments.last().map_or_else(proc_macro2::Span::call_site, |s| s.ident.span());
        let mark = syn::Ident::new(MARK, span);
        let start = syn::Ident::new(if index.is_some() { "indexed" } else { "from" }, span);
        let (first, further) = (arrays.first(), arrays.iter().skip(1));
        let pats = index.into_iter().chain(pats);
        syn::parse_quote_spanned!(span=> ::#mark::ndarray::Zip::#start(#first) #(.and(#further))* .for_each(|#(#pats),*| #body))
    }
}

/// One axis of `s![..]`: an index, a range, or a range with a step, which becomes `[range; step]`.
struct Slice(Expr);

impl Parse for Slice {
    fn parse(input: ParseStream) -> syn::Result<Self> {
        let range: Expr = input.parse()?;
        if let Expr::Path(p) = &range
            && p.path.segments.last().is_some_and(|s| s.ident == "NewAxis")
        {
            return Ok(Slice(Expr::Tuple(ExprTuple {
                attrs: Vec::new(),
                paren_token: token::Paren::default(),
                elems: Punctuated::new(),
            })));
        }
        if !input.peek(Token![;]) {
            return Ok(Slice(range));
        }
        let semi_token = input.parse()?;
        let step: Expr = input.parse()?;
        Ok(Slice(Expr::Repeat(ExprRepeat {
            attrs: Vec::new(),
            bracket_token: token::Bracket::default(),
            expr: Box::new(range),
            semi_token,
            len: Box::new(step),
        })))
    }
}

fn delimiter_span(mac: &Macro) -> proc_macro2::extra::DelimSpan {
    match &mac.delimiter {
        MacroDelimiter::Paren(d) => d.span,
        MacroDelimiter::Brace(d) => d.span,
        MacroDelimiter::Bracket(d) => d.span,
    }
}
