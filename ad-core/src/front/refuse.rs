//! What Rust has and the language has not: one table of constructs with the way out, so that each is refused by name.

use proc_macro2::TokenStream;
use syn::{Expr, Item};

use super::lower::Lower;
use crate::catalogue;
use crate::diag::{Message, Poison, SrcRange};

/// A construct, and what to write instead.
struct Refused {
    construct: Construct,
    name: &'static str,
    way_out: &'static str,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Construct {
    For,
    While,
    Loop,
    Match,
    Assign,
    MutRef,
    Return,
    Break,
    Struct,
    Try,
    Unsafe,
    Async,
    Const,
    IfLet,
    Label,
    Yield,
    Unknown,
}

const REFUSED: &[Refused] = &[
    Refused {
        construct: Construct::For,
        name: "`for`",
        way_out: "say what each element is: `build1(n, |i| ..)`, or sum over the range: `(0..n).map(|i| ..).sum::<f64>()`",
    },
    Refused {
        construct: Construct::While,
        name: "`while`",
        way_out: "loops are not built yet; for a known number of terms write `(0..n).map(|i| ..).sum::<f64>()`",
    },
    Refused {
        construct: Construct::Loop,
        name: "`loop`",
        way_out: "loops are not built yet; for a known number of terms write `(0..n).map(|i| ..).sum::<f64>()`",
    },
    Refused {
        construct: Construct::Match,
        name: "`match`",
        way_out: "write `if a { .. } else if b { .. } else { .. }`",
    },
    Refused {
        construct: Construct::Assign,
        name: "assignment",
        way_out: "bind the new value to a name: `let total = total + x;`",
    },
    Refused {
        construct: Construct::MutRef,
        name: "`&mut`",
        way_out: "return the new value instead of changing one in place",
    },
    Refused {
        construct: Construct::Return,
        name: "`return`",
        way_out: "write the value as the last expression of the function, with `if`/`else` where it depends",
    },
    Refused {
        construct: Construct::Break,
        name: "`break` and `continue`",
        way_out: "write the condition as an `if`/`else` expression",
    },
    Refused { construct: Construct::Struct, name: "struct values", way_out: "use a name or a tuple for each part" },
    Refused {
        construct: Construct::Try,
        name: "`?`",
        way_out: "check before the call, and take the checked value as a parameter",
    },
    Refused {
        construct: Construct::Unsafe,
        name: "`unsafe`",
        way_out: "index and slice safely; generated code has no bounds checks where they can be proved away",
    },
    Refused {
        construct: Construct::Async,
        name: "`async` and `.await`",
        way_out: "differentiate the part that computes, in a function of its own",
    },
    Refused { construct: Construct::Const, name: "`const` blocks", way_out: "write the value itself" },
    Refused { construct: Construct::IfLet, name: "`let` in a condition", way_out: "compare with `==`, `<` and so on" },
    Refused { construct: Construct::Label, name: "labelled blocks", way_out: "write `if`/`else` expressions" },
    Refused { construct: Construct::Yield, name: "`yield`", way_out: "return an array of all values" },
    Refused {
        construct: Construct::Unknown,
        name: "this expression",
        way_out: "write it with operators, methods and the functions of `ad::prelude`",
    },
];

fn message(construct: Construct) -> Message {
    match REFUSED.iter().find(|r| r.construct == construct) {
        Some(r) => catalogue::refused(r.name, r.way_out),
        None => {
            catalogue::refused("this expression", "write it with operators, methods and the functions of `ad::prelude`")
        }
    }
}

/// Refuses an expression that is not lowered. Its parts are not looked at: they are meant for another meaning.
pub(super) fn expression(me: &mut Lower, e: &Expr) -> Poison {
    let (construct, range) = match e {
        Expr::ForLoop(x) => (Construct::For, SrcRange { first: x.for_token.span, last: SrcRange::of(&x.expr).last }),
        Expr::While(x) => (Construct::While, SrcRange { first: x.while_token.span, last: SrcRange::of(&x.cond).last }),
        Expr::Loop(x) => (Construct::Loop, SrcRange::of(&x.loop_token)),
        Expr::Match(x) => (Construct::Match, SrcRange { first: x.match_token.span, last: SrcRange::of(&x.expr).last }),
        Expr::Assign(_) => (Construct::Assign, SrcRange::of(e)),
        Expr::Reference(_) | Expr::RawAddr(_) => (Construct::MutRef, SrcRange::of(e)),
        Expr::Return(_) => (Construct::Return, SrcRange::of(e)),
        Expr::Break(_) | Expr::Continue(_) => (Construct::Break, SrcRange::of(e)),
        Expr::Struct(_) => (Construct::Struct, SrcRange::of(e)),
        Expr::Try(_) | Expr::TryBlock(_) => (Construct::Try, SrcRange::of(e)),
        Expr::Unsafe(x) => (Construct::Unsafe, SrcRange::of(&x.unsafe_token)),
        Expr::Async(_) | Expr::Await(_) => (Construct::Async, SrcRange::of(e)),
        Expr::Const(_) => (Construct::Const, SrcRange::of(e)),
        Expr::Let(_) => (Construct::IfLet, SrcRange::of(e)),
        Expr::Block(x) if x.label.is_some() => (Construct::Label, SrcRange::of(&x.label)),
        Expr::Yield(_) => (Construct::Yield, SrcRange::of(e)),
        Expr::Macro(m) => return me.error(SrcRange::of(e), macro_call(&m.mac)),
        _ => (Construct::Unknown, SrcRange::of(e)),
    };
    me.error(range, message(construct))
}

/// `a = b`, `a += b`.
pub(super) fn assignment() -> Message {
    message(Construct::Assign)
}

/// A method that changes its receiver.
pub(super) fn mutation(method: &str) -> Message {
    catalogue::refused(
        &format!("`.{method}()`"),
        "bind the new value to a name with `let`; `build1` and `build` say what each element of an array is",
    )
}

/// `let mut x`.
pub(super) fn let_mut(name: &str) -> Message {
    catalogue::refused("`let mut`", &format!("bind each new value anew: `let {name} = ..;` may be repeated"))
}

/// `let .. else`.
pub(super) fn let_else() -> Message {
    catalogue::refused("`let .. else`", "write an `if`/`else` expression")
}

/// A pattern that binds in another way.
pub(super) fn pattern(text: &str) -> Message {
    catalogue::refused(
        &format!("the pattern `{text}`"),
        "use names, `&name`, `_`, tuples `(a, b)` and arrays `[i, j]` of these",
    )
}

/// A macro that is not understood.
pub(super) fn macro_call(mac: &syn::Macro) -> Message {
    let name = mac.path.segments.last().map_or_else(String::new, |s| s.ident.to_string());
    let way_out = match &*name {
        "println" | "print" | "eprintln" | "eprint" | "dbg" => "print in the function that calls this one",
        "assert" | "assert_eq" | "assert_ne" | "debug_assert" | "debug_assert_eq" | "debug_assert_ne" | "panic"
        | "unreachable" => "assertions are not built yet: check in the function that calls this one",
        "todo" | "unimplemented" => "write the function first, then differentiate it",
        "stack" | "concatenate" => "not built yet: say what each element is with `build1` or `build`",
        "azip" => "say what each element is with `build` or `mapv`",
        _ => "write what it expands to; `array!`, `vec!` and `s!` are understood",
    };
    catalogue::refused(&format!("`{name}!`"), way_out)
}

/// An item inside the function.
pub(super) fn inner_item(item: &Item) -> Message {
    let (name, way_out) = match item {
        Item::Fn(_) => ("a function in a function", "write a closure: `let f = |x: f64| ..;`"),
        Item::Const(_) | Item::Static(_) => ("a constant in a function", "bind it with `let`"),
        Item::Use(_) => ("`use` in a function", "write it outside of the function"),
        _ => ("an item in a function", "write it outside of the function"),
    };
    catalogue::refused(name, way_out)
}

/// The kind of an item that is no function.
pub(super) fn item(tokens: &TokenStream) -> Option<&'static str> {
    match syn::parse2::<Item>(tokens.clone()).ok()? {
        Item::Mod(_) => Some("a module (modules are not built yet)"),
        Item::Struct(_) => Some("a struct"),
        Item::Enum(_) => Some("an enum"),
        Item::Impl(_) => Some("an `impl` block"),
        Item::Trait(_) => Some("a trait"),
        Item::Const(_) | Item::Static(_) => Some("a constant"),
        Item::Fn(_) => None,
        _ => Some("this item"),
    }
}

/// `#[cfg]` on a part of the body.
pub(super) fn cfg() -> Message {
    catalogue::refused("`#[cfg]` inside the function", "write the whole function twice, each with its `#[cfg]`")
}
