//! Maps an expression that is not supported to its construct in `catalogue::refused`.

use syn::Expr;

use super::lower::Lower;
use ad_ir::catalogue::refused::{self, Construct, NotAFunction};
use ad_ir::diag::{Message, Poison, SrcRange};

/// Refuses an expression. Its subexpressions are not lowered, since they belong to the refused
/// construct.
pub(super) fn expression(me: &mut Lower, e: &Expr) -> Poison {
    let (construct, range) = match e {
        Expr::Reference(_) | Expr::RawAddr(_) => (Construct::MutRef, SrcRange::of(e)),
        Expr::Struct(_) => (Construct::Struct, SrcRange::of(e)),
        Expr::Try(_) | Expr::TryBlock(_) => (Construct::Try, SrcRange::of(e)),
        Expr::Unsafe(x) => (Construct::Unsafe, SrcRange::of(&x.unsafe_token)),
        Expr::Async(_) | Expr::Await(_) => (Construct::Async, SrcRange::of(e)),
        Expr::Const(_) => (Construct::Const, SrcRange::of(e)),
        Expr::Macro(m) => return me.error(SrcRange::of(e), macro_call(&m.mac)),
        _ => (Construct::Unknown, SrcRange::of(e)),
    };
    me.error(range, refused::construct(construct))
}

/// The error for an unknown macro.
pub(super) fn macro_call(mac: &syn::Macro) -> Message {
    refused::macro_call(&mac.path.segments.last().map_or_else(String::new, |s| s.ident.to_string()))
}

/// The error for the attribute on an item other than a function.
pub(super) fn item(item: &syn::Item) -> Option<Message> {
    let kind = match item {
        // If an item that may have this mark does not parse, rustc reports it.
        syn::Item::Fn(_) | syn::Item::Impl(_) => return None,
        syn::Item::Mod(_) => NotAFunction::ModuleElsewhere,
        syn::Item::Struct(_) => NotAFunction::Struct,
        syn::Item::Enum(_) => NotAFunction::Enum,
        syn::Item::Trait(_) => NotAFunction::Trait,
        syn::Item::Const(_) | syn::Item::Static(_) => NotAFunction::Constant,
        _ => NotAFunction::Other,
    };
    Some(refused::item(kind))
}
