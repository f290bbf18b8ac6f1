//! An estimate of the stack that the tokens will need. Parsing, lowering and even dropping an
//! expression recurse over its nesting, macros run on the compiler's stack, and a stack overflow
//! cannot be caught. So a function that nests too deeply is refused before it is parsed.
//!
//! The costs are measured in a build without optimisation, and rounded up. The budget is a quarter
//! of the compiler's stack. Handwritten code stays far below: the budget allows some 40 nested
//! parentheses or brackets, or a sum of 1300 terms.

use proc_macro2::{Delimiter, Span, TokenStream, TokenTree};

/// The budget in bytes of stack.
const BUDGET: usize = 1_600_000;
/// The cost of a group in braces.
const GROUP: usize = 22_000;
/// The cost of parentheses and brackets, which may be those of a type.
const TYPE_GROUP: usize = 36_000;
/// The cost of a type argument.
const GENERIC: usize = 70_000;
/// The cost of a prefix operator that follows another one.
const PREFIX: usize = 28_000;
const KEYWORD: usize = 12_000;
const CLOSURE: usize = 7_000;
const ASSIGNMENT: usize = 8_000;
/// The cost of a link in a chain of operators, methods or indices.
const LINK: usize = 1_200;

/// The cost so far in one sequence of tokens.
#[derive(Clone, Copy, Default)]
struct Spent {
    chain: usize,
    /// The number of unclosed `<` of generic arguments.
    generics: usize,
    /// Whether the last token was an operand, and whether it was a prefix operator.
    operand: bool,
    prefix: bool,
    /// Whether the next token is the name of a lifetime.
    lifetime: bool,
    /// Whether the last token was a block, after which another statement may start.
    block: bool,
    /// Whether the last token was an operator. A block after it is an operand.
    operator: bool,
}

/// The first token that is too deep.
pub(super) fn too_deep(tokens: &TokenStream) -> Option<Span> {
    let mut stack = vec![(tokens.clone().into_iter(), 0, Spent::default())];
    while let Some((tokens, base, spent)) = stack.last_mut() {
        let Some(token) = tokens.next() else {
            stack.pop();
            continue;
        };
        let span = token.span();
        let group = match &token {
            TokenTree::Group(g) if g.delimiter() != Delimiter::Brace => TYPE_GROUP,
            _ => GROUP,
        };
        let inner = spend(&token, spent);
        let used = *base + spent.chain + spent.generics * GENERIC;
        if used + group > BUDGET {
            return Some(span);
        }
        if let Some(inner) = inner {
            stack.push((inner.into_iter(), used + group, Spent::default()));
        }
    }
    None
}

/// The keywords that an expression, a type or an item may begin with.
const KEYWORDS: &[&str] = &[
    "return", "break", "continue", "yield", "move", "let", "if", "match", "unsafe", "async", "for", "while", "loop",
    "in", "mut", "ref", "box", "dyn", "impl", "const", "static", "fn", "where",
];

/// Adds the cost of a token. Returns the content of a group.
fn spend(token: &TokenTree, spent: &mut Spent) -> Option<TokenStream> {
    let continues = match token {
        TokenTree::Punct(p) => !matches!(p.as_char(), '#' | '&' | '*' | '-' | '!' | '|'),
        TokenTree::Ident(i) => *i == "else" || *i == "as",
        _ => false,
    };
    if spent.block && !continues {
        *spent = Spent::default();
    }
    spent.block = false;
    let prefix = std::mem::take(&mut spent.prefix);
    let operator = std::mem::take(&mut spent.operator);
    if let TokenTree::Punct(p) = token {
        spent.operator = matches!(p.as_char(), '+' | '-' | '*' | '/' | '%' | '&' | '|' | '^' | '<' | '!');
    }
    match token {
        TokenTree::Group(g) => {
            spent.chain += LINK;
            spent.operand = true;
            spent.block = g.delimiter() == Delimiter::Brace && !operator;
            return Some(g.stream());
        }
        TokenTree::Literal(_) => spent.operand = true,
        // `&'a &'a T` is a sequence of prefix operators, as `&mut &mut T` is.
        TokenTree::Ident(_) if std::mem::take(&mut spent.lifetime) => spent.prefix = prefix,
        TokenTree::Punct(p) if p.as_char() == '\'' => (spent.lifetime, spent.prefix) = (true, prefix),
        TokenTree::Ident(i) => {
            let name = i.to_string();
            let keyword = KEYWORDS.contains(&&*name);
            spent.chain += match &*name {
                "as" | "else" => LINK,
                // One of these keywords alone is not nesting: `let mut x`, `for i in ..`.
                "mut" | "const" | "dyn" | "impl" | "fn" | "for" => {
                    spent.prefix = prefix;
                    PREFIX
                }
                _ if keyword => KEYWORD,
                _ => 0,
            };
            spent.operand = !keyword && !matches!(&*name, "else" | "as");
        }
        TokenTree::Punct(p) => match p.as_char() {
            ',' | ';' => {
                *spent = Spent { generics: if p.as_char() == ',' { spent.generics } else { 0 }, ..Spent::default() }
            }
            '<' => {
                spent.generics += 1;
                spent.operand = false;
            }
            '>' => {
                spent.generics = spent.generics.saturating_sub(1);
                spent.chain += LINK;
                spent.operand = true;
            }
            '-' | '!' | '&' | '*' if !spent.operand => {
                spent.chain += if prefix { PREFIX } else { LINK };
                spent.prefix = true;
            }
            op => {
                if op == '&' || op == '|' {
                    // Comparisons end at `&&` and `||`.
                    spent.generics = 0;
                }
                spent.chain += match op {
                    '|' => CLOSURE,
                    '=' => ASSIGNMENT,
                    _ => LINK,
                };
                spent.operand = false;
            }
        },
    }
    None
}
