//! The number of references in the type of a method's receiver. This module reads the body by
//! Rust's types, for the proof that a method is the type's own (`ad-back/src/proof.rs`). Lowering
//! does not distinguish a reference from its referent. The distinction matters when Rust chooses
//! between a type's own method and a trait's method: `x.abs()` of an `f64` is std's method whatever
//! traits are in scope, and `x.abs()` of a `&f64` need not be.
//!
//! The analysis is conservative: a type without a rule is unknown, and then the name is proved for
//! every possible form. Invariant: the result is never another type than the real one, and never
//! has fewer references.

pub(super) mod results;
mod types;

use ad_ir::sorted::{SortedMap, SortedSet};

use syn::{Block, Expr, ExprCall, ExprClosure, ExprMethodCall, Local, Pat, Stmt, UnOp};

use super::table::{self, On, Row};
use crate::assume::Special;
use crate::types::NUMBERS;
use crate::walk::{Part, Walk};
use ad_ir::program::KnownType;
use ad_ir::program::{Owner, Receiver};
use types::{ARRAY, NUMBER, written};

pub(super) use types::Ty;

/// The receivers of method calls, keyed by the address of the call.
#[derive(Clone, Debug, Default)]
pub(super) struct Receivers {
    methods: SortedMap<usize, Receiver>,
    /// The addresses of operands that are references.
    operands: SortedSet<usize>,
}

impl Receivers {
    /// Analyses a function.
    pub(super) fn of(function: &syn::ItemFn) -> Self {
        let mut reader = Reader::default();
        for arg in &function.sig.inputs {
            if let syn::FnArg::Typed(arg) = arg {
                let ty = written(&arg.ty);
                reader.bind(&arg.pat, ty);
            }
        }
        reader.block(&function.block);
        reader.found
    }

    /// The receiver of a method call.
    pub(super) fn get(&self, call: &ExprMethodCall) -> Option<Receiver> {
        self.methods.get(&place(call)).copied()
    }

    /// Whether an operand of arithmetic is known to be a reference.
    pub(super) fn is_reference(&self, operand: &Expr) -> bool {
        self.operands.contains(&place(operand))
    }
}

fn place<T>(of: &T) -> usize {
    std::ptr::from_ref(of) as usize
}

/// The maximum nesting of expressions that are analysed.
const DEPTH: u32 = 150;

/// The analysis of a body, with the names in scope.
#[derive(Default)]
pub(super) struct Reader {
    found: Receivers,
    names: Vec<(String, Ty)>,
    depth: u32,
}

impl Reader {
    fn name(&mut self, name: &str, ty: Ty) {
        self.names.push((name.to_string(), ty));
    }

    /// Binds the names of a pattern.
    fn bind(&mut self, pat: &Pat, ty: Ty) {
        match pat {
            Pat::Ident(p) if p.subpat.is_none() => {
                // `ref x`, and names that may be constants, have an unknown type.
                let ty = if p.by_ref.is_some() { Ty::Unknown } else { ty };
                self.name(&p.ident.to_string(), ty);
            }
            Pat::Paren(p) => self.bind(&p.pat, ty),
            Pat::Type(p) => {
                let said = written(&p.ty);
                self.bind(&p.pat, if said == Ty::Unknown { ty } else { said });
            }
            Pat::Reference(p) => self.bind(&p.pat, ty.copied()),
            Pat::Tuple(_) | Pat::Slice(_) | Pat::TupleStruct(_) => {
                let (refs, inner) = ty.stripped();
                let (parts, same): (Vec<&Pat>, Option<Ty>) = match (pat, inner) {
                    (Pat::Tuple(p), Ty::Tuple(tys)) if tys.len() == p.elems.len() => {
                        for (pat, ty) in p.elems.iter().zip(tys) {
                            self.bind(pat, if refs > 0 { ty.clone().to() } else { ty.clone() });
                        }
                        return;
                    }
                    // This pattern takes apart an index or an array.
                    (Pat::Tuple(p), Ty::Plain(_)) => (p.elems.iter().collect(), (refs == 0).then_some(NUMBER)),
                    (Pat::Slice(p), Ty::Plain(owner)) if *owner == Owner::Static || *owner == Owner::Any => {
                        (p.elems.iter().collect(), (refs == 0).then_some(NUMBER))
                    }
                    (Pat::TupleStruct(p), Ty::Option(inner)) => {
                        (p.elems.iter().collect(), (refs == 0).then(|| (**inner).clone()))
                    }
                    (Pat::Tuple(p), _) => (p.elems.iter().collect(), None),
                    (Pat::Slice(p), _) => (p.elems.iter().collect(), None),
                    (Pat::TupleStruct(p), _) => (p.elems.iter().collect(), None),
                    _ => return,
                };
                for part in parts {
                    self.bind(part, same.clone().unwrap_or(Ty::Unknown));
                }
            }
            other => {
                let mut walk = |part: Part<'_>| {
                    if let Part::PatIdent(p) = part {
                        self.name(&p.ident.to_string(), Ty::Unknown);
                    }
                };
                syn::visit::Visit::visit_pat(&mut Walk(&mut walk), other);
            }
        }
    }

    fn block(&mut self, block: &Block) -> Ty {
        let names = self.names.len();
        let mut last = Ty::Unknown;
        // Functions and constants of a block are visible in the whole block.
        for stmt in &block.stmts {
            match stmt {
                Stmt::Item(syn::Item::Fn(f)) => self.name(&f.sig.ident.to_string(), Ty::Unknown),
                Stmt::Item(syn::Item::Const(c)) => {
                    let ty = written(&c.ty);
                    self.name(&c.ident.to_string(), ty);
                }
                Stmt::Item(syn::Item::Static(s)) => {
                    let ty = written(&s.ty);
                    self.name(&s.ident.to_string(), ty);
                }
                _ => {}
            }
        }
        for stmt in &block.stmts {
            match stmt {
                Stmt::Local(l) => self.local(l),
                Stmt::Expr(e, semi) => {
                    let ty = self.ty(e);
                    last = if semi.is_none() { ty } else { Ty::Unknown };
                }
                Stmt::Item(syn::Item::Fn(f)) => {
                    // A nested function does not see outer variables. Its own names are parameters
                    // or unknown.
                    let names = self.names.len();
                    for arg in &f.sig.inputs {
                        if let syn::FnArg::Typed(arg) = arg {
                            let ty = written(&arg.ty);
                            self.bind(&arg.pat, ty);
                        }
                    }
                    self.block(&f.block);
                    self.names.truncate(names);
                }
                Stmt::Item(_) | Stmt::Macro(_) => {}
            }
        }
        self.names.truncate(names);
        last
    }

    fn local(&mut self, l: &Local) {
        let ty = match &l.init {
            Some(init) => {
                let ty = self.ty(&init.expr);
                if let Some((_, other)) = &init.diverge {
                    self.ty(other);
                }
                ty
            }
            None => Ty::Unknown,
        };
        self.bind(&l.pat, ty);
    }

    /// The type of an expression. All its subexpressions are analysed.
    fn ty(&mut self, e: &Expr) -> Ty {
        if self.depth >= DEPTH {
            return Ty::Unknown;
        }
        self.depth += 1;
        let ty = self.form(e);
        self.depth -= 1;
        ty
    }

    fn operand(&mut self, e: &Expr) {
        let ty = self.ty(e);
        if matches!(ty, Ty::Ref(_)) || matches!(e, Expr::Reference(_)) {
            self.found.operands.insert(place(e));
        }
    }

    fn all<'e>(&mut self, exprs: impl IntoIterator<Item = &'e Expr>) -> Vec<Ty> {
        exprs.into_iter().map(|e| self.ty(e)).collect()
    }

    fn form(&mut self, e: &Expr) -> Ty {
        match e {
            Expr::Paren(p) => self.ty(&p.expr),
            Expr::Group(g) => {
                let ty = self.ty(&g.expr);
                if super::macros::is_ndarray(g) && matches!(ty, Ty::Plain(_)) { ARRAY } else { ty }
            }
            Expr::Lit(_) => NUMBER,
            Expr::Path(p) => {
                let name = p.path.get_ident().map(ToString::to_string);
                let bound = name.and_then(|name| self.names.iter().rev().find(|(n, _)| *n == name));
                bound.map_or(Ty::Unknown, |(_, ty)| ty.clone())
            }
            Expr::Binary(_) => {
                // A loop follows the left operands, since the nesting of a chain of operators grows
                // with its length.
                let mut left = e;
                while let Expr::Binary(b) = left {
                    self.operand(&b.right);
                    left = &b.left;
                }
                self.operand(left);
                NUMBER
            }
            Expr::Unary(u) if matches!(u.op, UnOp::Deref(_)) => self.ty(&u.expr).copied(),
            Expr::Unary(u) => {
                self.operand(&u.expr);
                NUMBER
            }
            Expr::Reference(r) => match self.ty(&r.expr) {
                Ty::Unknown => Ty::Unknown,
                _ if r.mutability.is_some() => Ty::Unknown,
                ty => ty.to(),
            },
            Expr::Cast(c) => {
                self.ty(&c.expr);
                NUMBER
            }
            Expr::Index(x) => {
                let of = self.ty(&x.expr);
                let index = self.ty(&x.index);
                match (of.stripped().1, index) {
                    (Ty::Plain(Owner::Static | Owner::Slice | Owner::Vector), Ty::Iter(_)) => Ty::Plain(Owner::Slice),
                    (Ty::Plain(_), Ty::Iter(_)) => Ty::Unknown,
                    (Ty::Plain(Owner::Static), _) => Ty::Plain(Owner::Any),
                    (Ty::Plain(_), _) => NUMBER,
                    _ => Ty::Unknown,
                }
            }
            Expr::Tuple(t) => Ty::Tuple(self.all(&t.elems)),
            Expr::Array(a) => self.listed(&a.elems.iter().collect::<Vec<_>>()),
            Expr::Repeat(r) => {
                self.ty(&r.len);
                self.listed(&[&r.expr])
            }
            Expr::Range(r) => {
                for end in [&r.start, &r.end].into_iter().flatten() {
                    self.ty(end);
                }
                Ty::Iter(NUMBER.into())
            }
            Expr::Field(f) => match (self.ty(&f.base).stripped().1, &f.member) {
                (Ty::Tuple(parts), syn::Member::Unnamed(k)) => {
                    parts.get(k.index as usize).cloned().unwrap_or(Ty::Unknown)
                }
                _ => Ty::Unknown,
            },
            Expr::Closure(c) => Ty::Fn(self.closure(c, &[]).into()),
            Expr::Call(c) => self.call(c),
            Expr::MethodCall(m) => self.method(m),
            Expr::Block(b) => self.block(&b.block),
            Expr::If(i) => {
                let names = self.names.len();
                self.condition(&i.cond);
                let then = self.block(&i.then_branch);
                self.names.truncate(names);
                let other = i.else_branch.as_ref().map(|(_, e)| self.ty(e));
                either(then, other)
            }
            Expr::Match(m) => {
                let of = self.ty(&m.expr);
                let mut result = Ty::Unknown;
                for arm in &m.arms {
                    let names = self.names.len();
                    let pat = if let Pat::Guard(p) = &arm.pat { &*p.pat } else { &arm.pat };
                    self.bind(pat, of.clone());
                    if let Pat::Guard(p) = &arm.pat {
                        self.ty(&p.guard);
                    }
                    let ty = self.ty(&arm.body);
                    result = either(result, Some(ty));
                    self.names.truncate(names);
                }
                result
            }
            Expr::ForLoop(l) => {
                let items = self.ty(&l.expr).items();
                let names = self.names.len();
                self.bind(&l.pat, items);
                self.block(&l.body);
                self.names.truncate(names);
                Ty::Unknown
            }
            Expr::While(l) => {
                let names = self.names.len();
                self.condition(&l.cond);
                self.block(&l.body);
                self.names.truncate(names);
                Ty::Unknown
            }
            Expr::Loop(l) => {
                self.block(&l.body);
                Ty::Unknown
            }
            Expr::Assign(a) => {
                self.all([&*a.left, &*a.right]);
                Ty::Unknown
            }
            Expr::Return(r) => {
                self.all(r.expr.as_deref());
                Ty::Unknown
            }
            Expr::Break(b) => {
                self.all(b.expr.as_deref());
                Ty::Unknown
            }
            _ => Ty::Unknown,
        }
    }

    /// Analyses a condition with the names that it binds.
    fn condition(&mut self, e: &Expr) {
        match e {
            Expr::Let(l) => {
                let ty = self.ty(&l.expr);
                self.bind(&l.pat, ty);
            }
            Expr::Binary(b) if matches!(b.op, syn::BinOp::And(_)) => {
                self.condition(&b.left);
                self.condition(&b.right);
            }
            other => {
                self.ty(other);
            }
        }
    }

    /// The type of a literal array with these elements.
    fn listed(&mut self, exprs: &[&Expr]) -> Ty {
        let tys = self.all(exprs.iter().copied());
        if tys.iter().all(|ty| matches!(ty, Ty::Plain(Owner::Any | Owner::Static))) {
            Ty::Plain(Owner::Any)
        } else {
            Ty::Unknown
        }
    }

    /// The result type of a closure whose parameters have these types, as far as they are known.
    fn closure(&mut self, c: &ExprClosure, params: &[Ty]) -> Ty {
        let names = self.names.len();
        for (k, pat) in c.inputs.iter().enumerate() {
            self.bind(pat, params.get(k).cloned().unwrap_or(Ty::Unknown));
        }
        let result = self.ty(&c.body);
        self.names.truncate(names);
        result
    }

    /// The result type of a function argument that is called with these types.
    fn called(&mut self, e: &Expr, params: &[Ty]) -> Ty {
        match e {
            Expr::Closure(c) => self.closure(c, params),
            other => match self.ty(other) {
                Ty::Fn(result) => *result,
                _ if of_numbers(other) => NUMBER,
                _ => Ty::Unknown,
            },
        }
    }

    fn call(&mut self, c: &ExprCall) -> Ty {
        let args: Vec<&Expr> = c.args.iter().collect();
        let Expr::Path(p) = &*c.func else {
            self.all(args);
            return Ty::Unknown;
        };
        let names: Vec<String> = p.path.segments.iter().map(|s| s.ident.to_string()).collect();
        let (Some(name), owner) = (names.last(), names.iter().rev().nth(1)) else { return Ty::Unknown };
        if names.len() == 1
            && let Some((_, of)) = self.names.iter().rev().find(|(n, _)| n == name)
        {
            let result = if let Ty::Fn(result) = of { (**result).clone() } else { Ty::Unknown };
            self.all(args);
            return result;
        }
        if Special::Some.is(&p.path)
            && let [x] = &args[..]
        {
            return Ty::Option(self.ty(x).into());
        }
        match owner {
            Some(of) if NUMBERS.contains(&of.as_str()) => {
                let tys = self.all(args);
                // A function that has no table row is a conversion.
                let Some(row) = table::find(On::Real, name).or_else(|| table::find(On::Int, name)) else {
                    return NUMBER;
                };
                let plain = tys.iter().all(|ty| !matches!(ty, Ty::Ref(_) | Ty::Unknown));
                (row.gives)(self, if plain { &NUMBER } else { &Ty::Unknown }, &[])
            }
            Some(of) if matches!(KnownType::named(of), Some(KnownType::Array(_) | KnownType::Ranked(..))) => {
                self.result(table::find(On::Assoc, name), &Ty::Unknown, &args)
            }
            _ => self.result(table::find(On::Dsl, name), &Ty::Unknown, &args),
        }
    }

    /// The result type of a method, by the type of its receiver.
    fn method(&mut self, m: &ExprMethodCall) -> Ty {
        let of = self.ty(&m.receiver);
        let (refs, inner) = of.stripped();
        if let Ty::Plain(owner) = inner {
            self.found.methods.insert(place(m), Receiver { refs, owner: *owner });
        }
        let name = m.method.to_string();
        let row = match inner {
            // A method of an array, if numbers do not have it.
            Ty::Plain(Owner::Any) => table::find(On::Real, &name).or_else(|| table::find(On::Array, &name)),
            Ty::Plain(_) => table::find(On::Array, &name),
            Ty::Iter(_) if refs == 0 => table::find(On::Iter, &name),
            Ty::Option(_) if refs == 0 => table::find(On::Option, &name),
            Ty::Lanes => table::find(On::Iter, &name),
            _ => None,
        };
        let args: Vec<&Expr> = m.args.iter().collect();
        self.result(row.or_else(|| table::find(On::Any, &name)), &of, &args)
    }

    /// The result type of a table row. All its arguments are analysed.
    fn result(&mut self, row: Option<&Row>, of: &Ty, args: &[&Expr]) -> Ty {
        match row {
            Some(row) if (row.args.0..=row.args.1).contains(&args.len()) => (row.gives)(self, of, args),
            _ => results::unknown(self, of, args),
        }
    }
}

/// Whether an expression is the path of a function of a number type, such as `f64::exp`.
fn of_numbers(e: &Expr) -> bool {
    let Expr::Path(p) = e else { return false };
    p.path.segments.iter().rev().nth(1).is_some_and(|s| s.ident == "f64" || s.ident == "f32")
}

/// The type of two branches: the known one of them.
fn either(a: Ty, b: Option<Ty>) -> Ty {
    match (a, b) {
        (Ty::Unknown, Some(b)) => b,
        (a, _) => a,
    }
}
