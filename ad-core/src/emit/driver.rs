//! The body of a routine: parameters become slices and sizes, each step of the plan becomes a statement, checks stand where
//! the plan has put them, and results are assembled. Everything that a loop does is in `nest`; nothing here computes on elements.

mod around;
mod ends;
mod into;
mod lanes;
mod operands;
mod owned;
mod recur;
mod stack;
mod tiles;
mod whole;
mod windows;

use std::cell::Cell;
use std::collections::{HashMap, HashSet};

use proc_macro2::{Ident, TokenStream};
use quote::{quote, quote_spanned};

pub(super) use tiles::describe as describe_block;

use super::block::{Join, Spell, Statement, live, nested};
use super::code::{Code, Condition};
use super::items::Item;
use super::kernel::Kernel;
use super::known::Known;
use super::nest::{Nest, Part};
use super::plan::{Literal, Plan, Work};
use super::rust::{Expr, Names, Style, prec, typed};
use crate::ir::{Elem, Graph, Node, Term};
use crate::prim::Prim;
use crate::program::{Check, Container, Output, OutputTree, Param, Program};
use crate::rust_types::{references, static_type};

/// How a stored array is held.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Hold {
    /// A `Vec` of ours.
    Owned,
    /// An array of static size of ours, nested so deep: see `stack`.
    Stack(usize),
    /// A `Cow` of a parameter's elements, or of an array known by other sizes.
    Contiguous,
    /// A parameter that is a slice or a `Vec`; `true`: already a reference.
    Parameter(bool),
    /// A slice of one of two other arrays.
    Borrowed,
    /// A row that a step of a loop writes: `&mut [F]`.
    Row,
    /// The caller's memory for a result.
    Lent,
}

pub(super) struct Driver<'a> {
    g: &'a Graph,
    program: &'a Program,
    params: &'a [Param],
    checks: &'a [Check],
    plan: &'a Plan,
    style: &'a Style,
    hints: &'a HashMap<Term, String>,
    names: HashMap<Term, Ident>,
    taken: Names,
    hold: HashMap<Term, Hold>,
    /// Arrays that others point into until the end.
    lent: HashSet<Term>,
    /// Sizes of our arrays of static size.
    storage: HashMap<Term, Vec<stack::Len>>,
    /// What may be such an array.
    budget: stack::Budget,
    /// Results that are computed in the caller's memory.
    into: into::Into,
    /// Scalars written where they are used, with the terms that they name.
    inlined: HashMap<Term, (Expr, Vec<Term>)>,
    /// A value that is used before it is computed: an error of ours.
    missing: Cell<Option<Term>>,
    used_params: HashSet<usize>,
    size_owner: HashMap<Term, usize>,
    known: Known<'a>,
    /// The conditions that the statement being written stands under, those of loops around it included.
    given: Vec<Literal>,
    functions: Vec<TokenStream>,
    function_names: Names,
    statements: Vec<Statement>,
    /// How many loops with carried state are around the statements being written.
    inside: usize,
    /// Memory that stands before the outermost of them, so that no step allocates: of which term, code, and what it names.
    hoisted: Vec<(Term, TokenStream, Vec<Term>)>,
    /// Arrays with such memory.
    outside: HashSet<Term>,
    /// Rows of loops whose memory is new, so zero where no step has written, and each place is written once at most.
    fresh: HashSet<Term>,
    /// By all rows of a loop: what is written where the row belongs.
    places: HashMap<Term, Term>,
    /// What statements of loops define that were kept.
    kept: HashSet<Term>,
    /// The blocks that the steps being written are done in.
    tile: Option<tiles::Block>,
    /// Whether the steps being written are those of a loop that is one function (`around`), and whether that is about numbers of the type parameter.
    around: bool,
    generic_within: bool,
}

/// Expressions are written inline up to this size.
const SHORT: u32 = 6;

impl<'a> Driver<'a> {
    pub(super) fn new(
        g: &'a Graph,
        program: &'a Program,
        params: &'a [Param],
        checks: &'a [Check],
        plan: &'a Plan,
        style: &'a Style,
        hints: &'a HashMap<Term, String>,
    ) -> Self {
        let mut taken = Names::of_locals(style);
        for p in params {
            taken.reserve(&p.name.to_string());
        }
        Driver {
            g,
            program,
            params,
            checks,
            plan,
            style,
            hints,
            names: HashMap::new(),
            taken,
            hold: HashMap::new(),
            lent: HashSet::new(),
            storage: HashMap::new(),
            budget: stack::Budget::default(),
            into: into::Into::default(),
            inlined: HashMap::new(),
            missing: Cell::new(None),
            used_params: HashSet::new(),
            size_owner: HashMap::new(),
            known: Known::new(g),
            given: Vec::new(),
            functions: Vec::new(),
            function_names: Names::default(),
            statements: Vec::new(),
            inside: 0,
            hoisted: Vec::new(),
            outside: HashSet::new(),
            fresh: HashSet::new(),
            places: HashMap::new(),
            kept: HashSet::new(),
            tile: None,
            around: false,
            generic_within: false,
        }
    }

    /// The body: nested functions, statements, results.
    pub(super) fn body(mut self, result: &OutputTree, destinations: &[Ident]) -> Result<TokenStream, String> {
        self.into = into::Into::of(self.g, self.params, result, destinations);
        self.budget = stack::Budget::of(self.g, self.params, result);
        self.inputs();
        let (mut k, plan) = (0, self.plan);
        while let Some(&step) = plan.order.get(k) {
            match plan.tiles.iter().find(|t| t.steps.start == k) {
                Some(tile) => {
                    self.blocks(tile)?;
                    k = tile.steps.end;
                }
                None => {
                    self.step(step)?;
                    k += 1;
                }
            }
        }
        let statements = std::mem::take(&mut self.statements);
        let mut needed: Vec<Term> = Vec::new();
        for out in result.leaves() {
            let t = out.term;
            // What is returned as a literal is not stored.
            let read = self.literal(out).unwrap_or_else(|| vec![t]);
            for &t in &read {
                if let Some((_, named)) = self.inlined.get(&t) {
                    needed.extend(named);
                }
            }
            needed.extend(read);
            needed.extend(self.g.shape(t));
        }
        let mut statements = live(statements, needed.iter().copied());
        let mut all: HashSet<Term> = needed.iter().copied().collect();
        all.extend(statements.iter().flat_map(Statement::names_all));
        // A nest returns all its sums, of which only those of loops that run may be read.
        for s in &mut statements {
            let unread = |t: &&Term| s.defines.len() > 1 && !all.contains(t) && self.g.rank(**t) == 0 && !s.handed;
            for t in s.defines.iter().filter(unread) {
                let name = &self.names[t];
                s.code.push(quote!(let _ = #name;));
            }
        }
        self.leave_unread(&mut statements, &needed);
        for (&t, &k) in &self.size_owner {
            if all.contains(&t) {
                self.used_params.insert(k);
            }
        }
        let returned: HashSet<Term> = needed.into_iter().collect();
        let code = nested(&statements, &returned, &self);
        let mut left: HashMap<Term, u32> = HashMap::new();
        for t in result.terms() {
            *left.entry(t).or_default() += 1;
        }
        let value = match result {
            OutputTree::Tuple(parts) if !destinations.is_empty() => {
                let written = self.write_out()?;
                let value = self.output(&parts[0], &mut left)?;
                quote!(#written #value)
            }
            _ => self.output(result, &mut left)?,
        };
        let unused = self.params.iter().enumerate().filter(|(k, _)| !self.used_params.contains(k)).map(|(_, p)| {
            let name = &p.name;
            quote!(let _ = &#name;)
        });
        if let Some(t) = self.missing.get() {
            return Err(format!("%{} is used before it is computed", t.index()));
        }
        let functions = &self.functions;
        Ok(quote!(#(#functions)* #(#unused)* #code #value))
    }

    fn name(&mut self, t: Term) -> Ident {
        if let Some(name) = self.names.get(&t) {
            return name.clone();
        }
        let name = match (self.hints.get(&t), self.g.node(t)) {
            (Some(hint), _) => self.taken.fresh(hint),
            (None, Node::Size(k, axis)) => {
                let of = self.params.iter().find(|p| p.input == Some(*k));
                let of = of.map_or("size".to_string(), |p| p.name.to_string());
                let kind = match (self.g.input_rank(*k), axis) {
                    (Some(1), _) => "len".to_string(),
                    (Some(2), 0) => "rows".to_string(),
                    (Some(2), _) => "cols".to_string(),
                    (_, axis) => format!("dim{axis}"),
                };
                self.taken.fresh(&format!("{of}_{kind}"))
            }
            _ => {
                let base = match (self.g.elem(t), self.g.rank(t)) {
                    (Elem::Real(_), 0) => "t",
                    (Elem::Int(_), 0) => "k",
                    (Elem::Bool, 0) => "c",
                    (_, 1) => "v",
                    (_, 2) => "m",
                    _ => "a",
                };
                self.taken.numbered(base)
            }
        };
        self.names.insert(t, name.clone());
        name
    }

    /// Parameters as scalars, sizes and slices.
    fn inputs(&mut self) {
        let g = self.g;
        let mut input_of: HashMap<u32, Term> = HashMap::new();
        for k in 0..g.len() {
            let t = Term(u32::try_from(k).unwrap_or(u32::MAX));
            if let Node::Input(n) = g.node(t) {
                input_of.insert(*n, t);
            }
        }
        for c in &self.program.constants {
            let Some(&t) = input_of.get(&c.input) else { continue };
            let (path, ty) = (&c.path, self.style.ty(c.elem));
            let words = path.clone().into_iter().filter_map(|tt| match tt {
                proc_macro2::TokenTree::Ident(name) => Some(name.to_string().to_lowercase()),
                _ => None,
            });
            let words: Vec<String> = words.collect();
            let name = match &words[..] {
                [.., of, len] if len == "len" => format!("{of}_len"),
                words => words.last().cloned().unwrap_or_default(),
            };
            let name = self.taken.fresh(&name);
            self.names.insert(t, name.clone());
            if self.g.rank(t) == 0 {
                self.plain(&[], quote!(let #name: #ty = #path;), vec![t], Vec::new());
                continue;
            }
            // What the user has may be an array, a slice or a reference to one.
            let whole = self.taken.fresh(&format!("{name}_whole"));
            let slice = match self.g.rank(t) {
                1 => quote!(&#whole[..]),
                rank => {
                    let flat = (1..rank).map(|_| quote!(.as_flattened()));
                    quote!(#whole[..] #(#flat)*)
                }
            };
            self.hold.insert(t, Hold::Borrowed);
            let code = quote!(let #whole = &#path; let #name: &[#ty] = #slice;);
            self.plain(&[], code, vec![t], Vec::new());
        }
        let params = self.params;
        for (k, p) in params.iter().enumerate() {
            let Some(t) = p.input.and_then(|n| input_of.get(&n).copied()) else { continue };
            let param = &p.name;
            let reference = references(&p.ty).0 > 0;
            self.size_owner.insert(t, k);
            if p.rank == 0 {
                let value = match p.container {
                    Container::ScalarRef => {
                        let stars = std::iter::repeat_n(quote!(*), references(&p.ty).0);
                        quote!(#(#stars)* #param)
                    }
                    Container::NdArray => quote!(#param[()]),
                    Container::Slice | Container::Static => quote!(#param[0]),
                    Container::Scalar => {
                        self.names.insert(t, param.clone());
                        continue;
                    }
                };
                let name = self.taken.fresh(&format!("{param}_value"));
                self.names.insert(t, name.clone());
                self.plain(&[], quote!(let #name = #value;), vec![t], Vec::new());
                continue;
            }
            let borrowed = if reference { quote!(#param) } else { quote!(&#param) };
            if p.container == Container::Static && p.rank > 1 {
                let name = self.taken.fresh(&format!("{param}_data"));
                let flat = (1..p.rank).map(|_| quote!(.as_flattened()));
                self.names.insert(t, name.clone());
                self.hold.insert(t, Hold::Borrowed);
                self.plain(&[], quote!(let #name = #param #(#flat)*;), vec![t], Vec::new());
                continue;
            }
            if matches!(p.container, Container::Slice | Container::Static) {
                self.names.insert(t, param.clone());
                self.hold.insert(t, Hold::Parameter(reference));
                continue;
            }
            let name = self.taken.fresh(&format!("{param}_data"));
            let contiguous = self.style.kernel("contiguous");
            self.names.insert(t, name.clone());
            self.hold.insert(t, Hold::Contiguous);
            self.plain(&[], quote!(let #name = #contiguous(#borrowed);), vec![t], Vec::new());
        }
    }

    fn plain(&mut self, guard: &[Literal], code: impl Into<Code>, defines: Vec<Term>, names: Vec<Term>) {
        let (guard, code) = (guard.to_vec(), code.into());
        self.statements.push(Statement { guard, code, defines, names, ..Statement::default() });
    }

    /// Whether a condition stands in code as its name.
    fn names_condition(&self, t: Term) -> bool {
        !self.inlined.contains_key(&t) && self.names.contains_key(&t)
    }

    /// Whether a condition may stand behind `&&` as it is; what is in parentheses may not.
    fn joins(&self, t: Term) -> bool {
        let negates = |t: Term| matches!(self.g.node(t), Node::Prim(Prim::Not, _));
        match self.g.node(t) {
            _ if self.names_condition(t) => true,
            Node::Prim(Prim::Not, args) => (self.names_condition(args[0]) || negates(args[0])) && self.joins(args[0]),
            Node::Prim(Prim::And, args) => {
                let last = self.names_condition(args[1]) || negates(args[1]);
                self.joins(args[0]) && last && self.joins(args[1])
            }
            _ => false,
        }
    }

    /// A closed scalar where it is used, and what it names. One that is not computed yet makes the whole routine an `Err`.
    fn scalar_expr(&self, t: Term) -> (Expr, Vec<Term>) {
        if let Node::Lit(lit) = self.g.node(t) {
            return (self.style.lit(*lit), Vec::new());
        }
        if let Some((e, named)) = self.inlined.get(&t) {
            return (e.clone(), named.clone());
        }
        match self.names.get(&t) {
            Some(name) => (Expr::atom(quote!(#name)), vec![t]),
            None => {
                self.missing.set(Some(t));
                (Expr::atom(quote!(())), vec![t])
            }
        }
    }

    /// The names of scalars that loops and kernels take as arguments.
    fn argument(&self, t: Term, named: &mut Vec<Term>) -> TokenStream {
        let (e, n) = self.scalar_expr(t);
        named.extend(n);
        e.tokens
    }

    fn product(&self, sizes: &[Term], named: &mut Vec<Term>) -> Expr {
        let mut product: Option<Expr> = None;
        for &n in sizes {
            let (n, names) = self.scalar_expr(n);
            named.extend(names);
            product = Some(match product {
                None => n,
                Some(p) => p.times(&n),
            });
        }
        product.unwrap_or_else(|| Expr::atom(quote!(1)))
    }

    /// A stored array as a `&[F]` argument.
    fn borrow(&self, t: Term, named: &mut Vec<Term>) -> TokenStream {
        named.push(t);
        let name = &self.names[&t];
        match self.hold.get(&t) {
            Some(Hold::Parameter(true) | Hold::Borrowed | Hold::Row) => quote!(#name),
            Some(Hold::Stack(depth)) if *depth > 1 => stack::flat(&quote!(#name), *depth, false),
            _ => quote!(&#name),
        }
    }

    fn step(&mut self, k: usize) -> Result<(), String> {
        let plan = self.plan;
        let step = &plan.steps[k];
        let mark = self.known.enter(&step.guard);
        let outer = self.given.len();
        self.given.extend(&step.guard);
        match &step.work {
            Work::Check(check) => {
                self.check(*check);
                self.known.checked(self.checks[*check].ok);
                return Ok(());
            }
            Work::Scalar(t) => self.scalar(*t, &step.guard)?,
            Work::Nest { domain, items } => self.nest(domain, items, &step.guard, k)?,
            Work::Whole(t) => self.whole(*t, &step.guard, k)?,
            Work::Loop(n) => self.recur(*n, &step.guard, k)?,
        }
        self.given.truncate(outer);
        self.known.leave(mark);
        Ok(())
    }

    /// The arm of a choice that stands under its own condition: the other one is not computed here.
    fn settled(&self, cond: Term, then: Term, other: Term) -> Option<Term> {
        let given = self.given.iter().find(|l| l.0 == cond)?;
        Some(if given.1 { then } else { other })
    }

    /// A failing check panics at the user's expression: the span is what the panic reports as its place.
    fn check(&mut self, k: usize) {
        let check = &self.checks[k];
        let (ok, mut names) = self.scalar_expr(check.ok);
        let place = self.program.places.get(check.loc);
        let escape = |s: &str| s.replace('{', "{{").replace('}', "}}");
        let said = check.format.clone().unwrap_or_else(|| escape(&check.message));
        let mut message = format!("{}: {said}", self.program.name);
        if let Some(place) = place.filter(|p| !p.text.is_empty() && check.format.is_none()) {
            message.push_str(&format!(": `{}`", escape(&place.text)));
        }
        let mut values = Vec::new();
        // Those without a name are in the message.
        let (within, behind): (Vec<_>, Vec<_>) = check.shown.iter().partition(|(what, _)| what.is_empty());
        for (_, t) in within {
            values.push(self.argument(*t, &mut names));
        }
        for (n, (what, t)) in behind.iter().enumerate() {
            message.push_str(if n == 0 { " (" } else { ", " });
            message.push_str(&format!("{} = {{}}", escape(what)));
            values.push(self.argument(*t, &mut names));
        }
        if !behind.is_empty() {
            message.push(')');
        }
        let ok = ok.tokens;
        let name = if check.debug { quote!(debug_assert) } else { quote!(assert) };
        let code = match place {
            Some(place) => {
                let name = proc_macro2::Ident::new(&name.to_string(), place.range.first);
                let assert = quote_spanned!(place.range.first=> ::core::#name!);
                let rest = quote_spanned!(place.range.last=> (#ok, #message #(, #values)*););
                quote!(#assert #rest)
            }
            None => quote!(::core::#name!(#ok, #message #(, #values)*);),
        };
        self.statements.push(Statement { code: code.into(), names, effect: true, ..Statement::default() });
    }

    /// Whether the value can stand where it is used: once, in a scalar of the same guard or in an arm that is its guard.
    fn stays_inline(&self, t: Term, e: &Expr, guard: &[Literal]) -> bool {
        let plan = self.plan;
        if plan.uses.get(&t) != Some(&1) || self.hints.contains_key(&t) || plan.results.contains(&t) || e.size > SHORT {
            return false;
        }
        let Some([reader]) = plan.readers.get(&t).map(|r| &**r) else { return false };
        let step = &plan.steps[*reader];
        let Work::Scalar(r) = step.work else { return false };
        match self.g.node(r) {
            Node::Prim(prim, _) if prim.is_elementwise() => step.guard == guard,
            Node::Cond { cond, then, .. } if *cond != t => {
                let mut inside = step.guard.clone();
                inside.push((*cond, *then == t));
                inside.sort_unstable();
                let mut own = guard.to_vec();
                own.sort_unstable();
                inside == own
            }
            _ => false,
        }
    }

    fn scalar(&mut self, t: Term, guard: &[Literal]) -> Result<(), String> {
        let g = self.g;
        let mut names = Vec::new();
        let (code, e) = match g.node(t) {
            Node::Input(_) if self.names.contains_key(&t) => return Ok(()),
            Node::Input(_) => return Err("an input without a parameter".into()),
            Node::Size(k, axis) => {
                let owner = self.params.iter().position(|p| p.input == Some(*k));
                let Some(owner) = owner else { return Err("a size of an input without a parameter".into()) };
                self.size_owner.insert(t, owner);
                let p = &self.params[owner];
                let name = &p.name;
                let e = match p.container {
                    Container::Slice => quote!(#name.len()),
                    _ => {
                        let axis = proc_macro2::Literal::u8_unsuffixed(*axis);
                        quote!(#name.shape()[#axis])
                    }
                };
                (TokenStream::new(), Expr::new(e, prec::ATOM, SHORT + 1))
            }
            Node::Cond { cond, then, other } if self.settled(*cond, *then, *other).is_some() => {
                let arm = self.settled(*cond, *then, *other).unwrap_or(t);
                let (e, named) = self.scalar_expr(arm);
                names.extend(named);
                (TokenStream::new(), typed(&[&e]).map_or(e, Expr::atom))
            }
            Node::Cond { cond, then, other } => {
                let (a, then_names) = self.scalar_expr(*then);
                let (b, other_names) = self.scalar_expr(*other);
                // A condition is named wherever a guard may mention it.
                let first = typed(&[&a, &b]).unwrap_or(a.tokens);
                let join = Join { cond: *cond, then: first, other: b.tokens, then_names, other_names };
                self.name(t);
                let join = Some(join);
                self.statements.push(Statement {
                    guard: guard.to_vec(),
                    join,
                    defines: vec![t],
                    ..Statement::default()
                });
                return Ok(());
            }
            Node::Prim(Prim::Select, args) => {
                let parts: Vec<Expr> = args
                    .iter()
                    .map(|&c| {
                        let (e, n) = self.scalar_expr(c);
                        names.extend(n);
                        e
                    })
                    .collect();
                let first = typed(&[&parts[1], &parts[2]]).unwrap_or_else(|| parts[1].tokens.clone());
                let (c, a, b) = (&parts[0].tokens, first, &parts[2].tokens);
                (TokenStream::new(), Expr::new(quote!(if #c { #a } else { #b }), prec::IF, SHORT + 1))
            }
            Node::Prim(prim, args) if prim.is_elementwise() => {
                let mut values = Vec::new();
                for &c in &**args {
                    let (e, n) = self.scalar_expr(c);
                    names.extend(n);
                    values.push(e);
                }
                let refs: Vec<&Expr> = values.iter().collect();
                let second = args.get(1).and_then(|&c| g.int_value(c));
                (TokenStream::new(), self.style.prim(prim, &refs, g.elem(args[0]), second)?)
            }
            _ => {
                let mut kernel = Kernel::new(g, self.plan, self.hints, Vec::new(), []);
                let value = kernel.definition(t, &[])?;
                let items = [Item::Store { out: Some(t), value }];
                self.name(t);
                let (mut code, e, named) = Nest::new(
                    g,
                    self.style,
                    &self.names,
                    &self.known,
                    &kernel,
                    &items,
                    (&HashMap::new(), &Part::Whole, None),
                )
                .inline(value)?;
                // An element is read by its place in the whole array.
                for t in &named {
                    if let Some(Hold::Stack(depth @ 2..)) = self.hold.get(t) {
                        let name = &self.names[t];
                        let rows = stack::flat(&quote!(#name), *depth, false);
                        code = quote!(let #name = #rows; #code);
                    }
                }
                names.extend(named);
                (code, Expr { size: SHORT + 1, ..e })
            }
        };
        if code.is_empty() && self.stays_inline(t, &e, guard) {
            self.inlined.insert(t, (e, names));
            return Ok(());
        }
        let (name, e) = (self.name(t), e.tokens);
        let code = if code.is_empty() { quote!(let #name = #e;) } else { quote!(let #name = { #code #e };) };
        self.plain(guard, code, vec![t], names);
        Ok(())
    }

    fn output(&mut self, tree: &OutputTree, left: &mut HashMap<Term, u32>) -> Result<TokenStream, String> {
        match tree {
            OutputTree::Leaf(out) => self.leaf(out, left),
            OutputTree::Tuple(parts) => {
                let parts: Vec<TokenStream> = parts.iter().map(|p| self.output(p, left)).collect::<Result<_, _>>()?;
                Ok(match &*parts {
                    [one] => quote!((#one,)),
                    _ => quote!((#(#parts),*)),
                })
            }
        }
    }

    fn leaf(&mut self, out: &Output, left: &mut HashMap<Term, u32>) -> Result<TokenStream, String> {
        let (g, t) = (self.g, out.term);
        let krate = &self.style.krate;
        if g.rank(t) == 0 {
            let value = self.scalar_expr(t).0.tokens;
            return Ok(match out.container {
                Container::NdArray => quote!(#krate::ndarray::arr0(#value)),
                Container::Slice => quote!(::std::vec![#value]),
                _ => value,
            });
        }
        if out.container == Container::Static {
            return self.static_leaf(out);
        }
        let again = left.get_mut(&t).is_some_and(|n| {
            *n -= 1;
            *n > 0
        });
        let name = self.names.get(&t).ok_or("a result that is not computed")?;
        let data = match self.hold.get(&t) {
            Some(Hold::Owned) if again || self.lent.contains(&t) => quote!(#name.clone()),
            Some(Hold::Owned) => quote!(#name),
            Some(Hold::Stack(depth)) => {
                let flat = stack::flat(&quote!(#name), *depth, false);
                if *depth > 1 { quote!(#flat.to_vec()) } else { quote!(#name.to_vec()) }
            }
            _ => quote!(#name.to_vec()),
        };
        if out.container == Container::Slice {
            return Ok(data);
        }
        let assemble = self.style.kernel("assemble");
        let sizes: Vec<TokenStream> = g.shape(t).iter().map(|&n| self.scalar_expr(n).0.tokens).collect();
        Ok(quote!(#assemble([#(#sizes),*], #data)))
    }
}

impl Spell for Driver<'_> {
    fn name(&self, t: Term) -> TokenStream {
        let name = &self.names[&t];
        quote!(#name)
    }

    fn condition(&self, t: Term) -> Condition {
        let tokens = self.scalar_expr(t).0.tokens;
        Condition { tokens, name: self.names_condition(t), joins: self.joins(t) }
    }

    fn absent(&self, t: Term) -> TokenStream {
        let zero = self.style.zero(self.g.elem(t));
        match self.storage.get(&t) {
            Some(lens) => static_type(zero, lens),
            None if self.g.rank(t) == 0 => zero,
            None if self.hold.get(&t) == Some(&Hold::Borrowed) => quote!(&[][..]),
            None if self.hold.get(&t) == Some(&Hold::Contiguous) => quote!(::std::borrow::Cow::Borrowed(&[][..])),
            None => quote!(::std::vec::Vec::new()),
        }
    }

    fn outside(&self, t: Term) -> bool {
        self.outside.contains(&t)
    }
}
