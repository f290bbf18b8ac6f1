//! The body of a routine: parameters become slices and sizes, each step of the plan becomes a statement, checks stand where
//! the plan has put them, and results are assembled. Everything that a loop does is in `nest`; nothing here computes on elements.

use std::collections::{HashMap, HashSet};

use proc_macro2::{Ident, TokenStream};
use quote::{format_ident, quote, quote_spanned};

use super::block::{Join, Spell, Statement, live, nested};
use super::contract::as_product;
use super::kernel::{Kernel, Op};
use super::nest::{Arg, Fold, Item, Nest};
use super::rust::{Expr, Names, Style, prec};
use super::schedule::{Literal, Plan, Work, domain_of};
use super::store::{Class, alias_of, is_splat, padded_parts};
use crate::ir::{Elem, Graph, Node, Term};
use crate::prim::{Binary, Prim, Reduce};
use crate::program::{Check, Container, Output, OutputTree, Param, Program};

/// How a stored array is held.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Hold {
    /// A `Vec` of ours.
    Owned,
    /// A `Cow` of a parameter's elements.
    Contiguous,
    /// A parameter that is a slice or a `Vec`; `true`: already a reference.
    Parameter(bool),
    /// A slice of one of two other arrays.
    Borrowed,
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
    /// Scalars written where they are used, with the terms that they name.
    inlined: HashMap<Term, (Expr, Vec<Term>)>,
    used_params: HashSet<usize>,
    size_owner: HashMap<Term, usize>,
    functions: Vec<TokenStream>,
    function_names: Names,
    statements: Vec<Statement>,
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
        let mut taken = Names::default();
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
            inlined: HashMap::new(),
            used_params: HashSet::new(),
            size_owner: HashMap::new(),
            functions: Vec::new(),
            function_names: Names::default(),
            statements: Vec::new(),
        }
    }

    /// The body: nested functions, statements, results.
    pub(super) fn body(mut self, result: &OutputTree) -> Result<TokenStream, String> {
        self.inputs();
        for k in 0..self.plan.steps.len() {
            self.step(k)?;
        }
        let statements = std::mem::take(&mut self.statements);
        let mut needed: Vec<Term> = result.terms();
        for t in result.terms() {
            needed.extend(self.g.shape(t));
            if let Some((_, named)) = self.inlined.get(&t) {
                needed.extend(named);
            }
        }
        let statements = live(statements, needed.iter().copied());
        let mut all: HashSet<Term> = needed.iter().copied().collect();
        all.extend(statements.iter().flat_map(Statement::names_all));
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
        let value = self.output(result, &mut left)?;
        let unused = self.params.iter().enumerate().filter(|(k, _)| !self.used_params.contains(k)).map(|(_, p)| {
            let name = &p.name;
            quote!(let _ = &#name;)
        });
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
        let params = self.params;
        for (k, p) in params.iter().enumerate() {
            let Some(t) = p.input.and_then(|n| input_of.get(&n).copied()) else { continue };
            let param = &p.name;
            let reference = p.ty.clone().into_iter().next().is_some_and(|tt| tt.to_string() == "&");
            self.size_owner.insert(t, k);
            if p.rank == 0 {
                let value = match p.container {
                    Container::ScalarRef => quote!(*#param),
                    Container::NdArray => quote!(#param[()]),
                    Container::Slice => quote!(#param[0]),
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
            if p.container == Container::Slice {
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

    fn plain(&mut self, guard: &[Literal], code: TokenStream, defines: Vec<Term>, names: Vec<Term>) {
        self.statements.push(Statement { guard: guard.to_vec(), code, defines, names, ..Statement::default() });
    }

    /// A closed scalar where it is used, and what it names.
    fn scalar_expr(&self, t: Term) -> (Expr, Vec<Term>) {
        if let Node::Lit(lit) = self.g.node(t) {
            return (self.style.lit(*lit), Vec::new());
        }
        if let Some((e, named)) = self.inlined.get(&t) {
            return (e.clone(), named.clone());
        }
        match self.names.get(&t) {
            Some(name) => (Expr::atom(quote!(#name)), vec![t]),
            None => (Expr::atom(quote!(compile_error!("a value is used before it is computed"))), vec![t]),
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
            Some(Hold::Parameter(true) | Hold::Borrowed) => quote!(#name),
            _ => quote!(&#name),
        }
    }

    fn step(&mut self, k: usize) -> Result<(), String> {
        let plan = self.plan;
        let step = &plan.steps[k];
        match &step.work {
            Work::Check(check) => self.check(*check),
            Work::Scalar(t) => self.scalar(*t, &step.guard, k)?,
            Work::Nest { domain, items } => self.nest(domain, items, &step.guard, k)?,
            Work::Whole(t) => self.whole(*t, &step.guard, k)?,
        }
        Ok(())
    }

    /// A failing check panics at the user's expression: the span is what the panic reports as its place.
    fn check(&mut self, k: usize) {
        let check = &self.checks[k];
        let (ok, mut names) = self.scalar_expr(check.ok);
        let place = self.program.places.get(check.loc);
        let escape = |s: &str| s.replace('{', "{{").replace('}', "}}");
        let mut message = format!("{}: {}", self.program.name, escape(&check.message));
        if let Some(place) = place.filter(|p| !p.text.is_empty()) {
            message.push_str(&format!(": `{}`", escape(&place.text)));
        }
        let mut values = Vec::new();
        for (n, (what, t)) in check.shown.iter().enumerate() {
            message.push_str(if n == 0 { " (" } else { ", " });
            message.push_str(&format!("{} = {{}}", escape(what)));
            values.push(self.argument(*t, &mut names));
        }
        if !check.shown.is_empty() {
            message.push(')');
        }
        let ok = ok.tokens;
        let code = match place {
            Some(place) => {
                let assert = quote_spanned!(place.range.first=> ::core::assert!);
                let rest = quote_spanned!(place.range.last=> (#ok, #message #(, #values)*););
                quote!(#assert #rest)
            }
            None => quote!(::core::assert!(#ok, #message #(, #values)*);),
        };
        self.statements.push(Statement { code, names, effect: true, ..Statement::default() });
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

    fn scalar(&mut self, t: Term, guard: &[Literal], _k: usize) -> Result<(), String> {
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
            Node::Cond { cond, then, other } => {
                let (a, then_names) = self.scalar_expr(*then);
                let (b, other_names) = self.scalar_expr(*other);
                // A condition is named wherever a guard may mention it.
                let join = Join { cond: *cond, then: a.tokens, other: b.tokens, then_names, other_names };
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
                let (c, a, b) = (&parts[0].tokens, &parts[1].tokens, &parts[2].tokens);
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
                let (code, e, named) = Nest::new(g, self.style, &self.names, &kernel, &items).inline(value)?;
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

    /// `let mut name = vec![..]`, filled with what a sum starts from.
    fn allocate(&mut self, t: Term, names: &mut Vec<Term>) -> TokenStream {
        let elem = self.g.elem(t);
        let fill = match self.g.node(t) {
            Node::Prim(Prim::Reduce(Reduce::All, _), _) => quote!(true),
            _ => self.style.zero(elem),
        };
        let n = self.product(self.g.shape(t), names).tokens;
        let name = self.name(t);
        self.hold.insert(t, Hold::Owned);
        quote!(let mut #name = ::std::vec![#fill; #n];)
    }

    fn function_name(&mut self, verb: &str, of: &[Term]) -> Ident {
        let parts: Vec<String> = of.iter().take(2).map(|&t| self.name(t).to_string()).collect();
        self.function_names.fresh(&format!("{verb}_{}", parts.join("_and_")))
    }

    /// The call of a nest's function, with the allocations before it.
    fn call(
        &mut self,
        kernel: &Kernel<'_>,
        items: &[Item],
        (verb, doc): (&str, &str),
        outs: &[Term],
        guard: &[Literal],
        allocate: bool,
    ) -> Result<(), String> {
        let g = self.g;
        let mut names = Vec::new();
        let mut code = TokenStream::new();
        for &t in outs {
            self.name(t);
            if allocate && g.rank(t) > 0 {
                code.extend(self.allocate(t, &mut names));
            }
        }
        let title = self.function_name(verb, outs);
        let function = Nest::new(g, self.style, &self.names, kernel, items).function(&title, doc)?;
        let mut args = Vec::new();
        for arg in &function.args {
            args.push(match arg {
                Arg::Out(t) => {
                    let name = &self.names[t];
                    quote!(&mut #name)
                }
                Arg::Buffer(t) => self.borrow(*t, &mut names),
                Arg::Scalar(t) => self.argument(*t, &mut names),
            });
        }
        let returns: Vec<Ident> = function.returns.iter().map(|&t| self.name(t)).collect();
        let call = quote!(#title(#(#args),*));
        code.extend(match &*returns {
            [] => quote!(#call;),
            [one] => quote!(let #one = #call;),
            many => quote!(let (#(#many),*) = #call;),
        });
        self.functions.push(function.item);
        let mut defines = outs.to_vec();
        defines.extend(function.returns.iter().filter(|t| !outs.contains(t)));
        names.retain(|t| !defines.contains(t));
        self.plain(guard, code, defines, names);
        Ok(())
    }

    fn nest(&mut self, domain: &[Term], terms: &[Term], guard: &[Literal], step: usize) -> Result<(), String> {
        let (g, plan) = (self.g, self.plan);
        let stored = |t: Term| domain_of(g, t) == g.shape(t);
        let members: Vec<Term> = terms.iter().copied().filter(|&t| stored(t) && !is_fold(g, t)).collect();
        let mut kernel = Kernel::new(g, plan, self.hints, domain.to_vec(), members);
        let identity = kernel.identity().to_vec();
        let mut items = Vec::new();
        let mut outs = Vec::new();
        for &t in terms {
            match g.node(t) {
                Node::Prim(Prim::Sum(axes), args) => {
                    let reduced = (0..domain.len()).map(|k| axes.iter().any(|&a| usize::from(a) == k)).collect();
                    let value = kernel.element(args[0], &identity, &[])?;
                    items.push(Item::Fold { out: t, fold: Fold::Sum, reduced, value });
                    outs.push(t);
                }
                Node::Prim(Prim::Reduce(op, rank), args) => {
                    let kept = domain.len() - usize::from(*rank);
                    let reduced = (0..domain.len()).map(|k| k >= kept).collect();
                    let value = kernel.element(args[0], &identity, &[])?;
                    let fold = if *op == Reduce::All { Fold::All } else { Fold::Any };
                    items.push(Item::Fold { out: t, fold, reduced, value });
                    outs.push(t);
                }
                _ => {
                    let value = kernel.definition(t, &identity)?;
                    let elsewhere = plan.readers.get(&t).is_some_and(|r| r.iter().any(|&s| s != step));
                    let kept = elsewhere || plan.results.contains(&t);
                    items.push(Item::Store { out: kept.then_some(t), value });
                    if kept {
                        outs.push(t);
                    }
                }
            }
        }
        let shape = domain.len();
        let doc = format!("A loop nest over {shape} {}.", if shape == 1 { "axis" } else { "axes" });
        self.call(&kernel, &items, ("compute", &doc), &outs, guard, true)
    }

    fn whole(&mut self, t: Term, guard: &[Literal], k: usize) -> Result<(), String> {
        let g = self.g;
        let mut names = Vec::new();
        match g.node(t) {
            Node::Cond { cond, then, other } => {
                self.join(t, *cond, *then, *other, guard, k);
                Ok(())
            }
            Node::Scatter { dst, src, vars, index } => {
                let name = self.name(t);
                let code = if is_splat(g, *dst) && self.plan.class(*dst) != Class::Buffer {
                    let fill = self.splat(*dst, &mut names);
                    let n = self.product(g.shape(t), &mut names).tokens;
                    quote!(let mut #name = ::std::vec![#fill; #n];)
                } else if self.moves(*dst, k) {
                    let from = &self.names[dst];
                    names.push(*dst);
                    quote!(let mut #name = #from;)
                } else {
                    let from = &self.names[dst];
                    names.push(*dst);
                    match self.hold.get(dst) {
                        Some(Hold::Owned) => quote!(let mut #name = #from.clone();),
                        _ => quote!(let mut #name = #from.to_vec();),
                    }
                };
                self.hold.insert(t, Hold::Owned);
                let domain = g.shape(*src).to_vec();
                let mut kernel = Kernel::new(g, self.plan, self.hints, domain, []);
                let identity = kernel.identity().to_vec();
                let bound: Vec<_> = vars.iter().copied().zip(identity.iter().copied()).collect();
                let mut ix = Vec::new();
                for &i in &**index {
                    ix.push(kernel.element(i, &[], &bound)?);
                }
                ix.extend(&identity[vars.len()..]);
                let value = kernel.element(*src, &identity, &[])?;
                let items = [Item::Scatter { out: t, ix, value }];
                // The allocation and the loop are one statement.
                let before = self.statements.len();
                let doc = "Adds at computed positions; what falls outside is dropped.";
                self.call(&kernel, &items, ("scatter", doc), &[t], guard, false)?;
                if let Some(s) = self.statements.get_mut(before) {
                    let call = std::mem::take(&mut s.code);
                    s.code = quote!(#code #call);
                    s.names.extend(names);
                }
                Ok(())
            }
            Node::Prim(Prim::Contract(spec), args) => {
                let Some(p) = as_product(g, spec, args[0], args[1]) else {
                    return Err("a contraction that is no matrix product".into());
                };
                let (a, b) = (self.borrow(p.a.0, &mut names), self.borrow(p.b.0, &mut names));
                let name = self.name(t);
                let exact = self.plan.exact.contains(&t);
                if g.rank(t) == 0 {
                    let dot = self.style.kernel(if exact { "exact_dot" } else { "dot" });
                    self.plain(guard, quote!(let #name = #dot(#a, #b);), vec![t], names);
                    return Ok(());
                }
                let mut code = self.allocate(t, &mut names);
                let gemv = |stored_first: bool| self.style.kernel(if stored_first { "gemv_t" } else { "gemv" });
                code.extend(if !p.batch.is_empty() {
                    let kernel = self.style.kernel("gemm_each");
                    let sizes = [&p.batch, &p.m, &p.k, &p.n].map(|s| self.product(s, &mut names).tokens);
                    let [batch, m, k, n] = sizes;
                    let (ta, tb) = (p.a.1, p.b.1);
                    quote!(#kernel(&mut #name, #a, #b, [#ta, #tb], #batch, [#m, #k, #n]);)
                } else if exact && p.n.is_empty() && !p.a.1 {
                    let (each, dot) = (self.style.kernel("each_row"), self.style.kernel("exact_dot"));
                    quote!(#each(&mut #name, #a, |row| #dot(row, #b));)
                } else if p.n.is_empty() {
                    let kernel = gemv(p.a.1);
                    quote!(#kernel(&mut #name, #a, #b, false);)
                } else if p.m.is_empty() {
                    let kernel = gemv(!p.b.1);
                    quote!(#kernel(&mut #name, #b, #a, false);)
                } else {
                    let (kernel, operand) = (self.style.kernel("gemm"), self.style.kernel("Operand"));
                    let flag = |t: bool| format_ident!("{}", if t { "Transposed" } else { "Plain" });
                    let (fa, fb) = (flag(p.a.1), flag(p.b.1));
                    let [m, k, n] = [&p.m, &p.k, &p.n].map(|s| self.product(s, &mut names).tokens);
                    quote!(#kernel(&mut #name, #operand::#fa(#a), #operand::#fb(#b), [#m, #k, #n], false);)
                });
                self.plain(guard, code, vec![t], names);
                Ok(())
            }
            Node::Prim(Prim::Sum(_), args) => {
                let sum = self.style.kernel("exact_sum");
                let x = self.borrow(args[0], &mut names);
                if g.rank(t) == 0 {
                    let name = self.name(t);
                    self.plain(guard, quote!(let #name = #sum(#x);), vec![t], names);
                } else {
                    let code = self.allocate(t, &mut names);
                    let (name, each) = (self.name(t), self.style.kernel("each_row"));
                    self.plain(guard, quote!(#code #each(&mut #name, #x, #sum);), vec![t], names);
                }
                Ok(())
            }
            Node::Prim(Prim::Reduce(op, _), args) => {
                let real = g.elem(args[0]).is_real();
                let kernel = self.style.kernel(match (op, real) {
                    (Reduce::Max, true) => "largest",
                    (Reduce::Min, true) => "smallest",
                    (Reduce::Max, false) => "largest_whole",
                    (Reduce::Min, false) => "smallest_whole",
                    (Reduce::ArgMax, _) => "position_of_largest",
                    (Reduce::ArgMin, _) => "position_of_smallest",
                    _ => return Err("all and any are loops".into()),
                });
                let x = self.borrow(args[0], &mut names);
                if g.rank(t) == 0 {
                    let name = self.name(t);
                    self.plain(guard, quote!(let #name = #kernel(#x);), vec![t], names);
                } else {
                    let code = self.allocate(t, &mut names);
                    let (name, each) = (self.name(t), self.style.kernel("each_row"));
                    self.plain(guard, quote!(#code #each(&mut #name, #x, #kernel);), vec![t], names);
                }
                Ok(())
            }
            Node::Prim(Prim::Stack, args) => {
                let name = self.name(t);
                let code = if g.rank(t) == 1 {
                    let parts: Vec<TokenStream> = args.iter().map(|&c| self.argument(c, &mut names)).collect();
                    quote!(let #name = ::std::vec![#(#parts),*];)
                } else {
                    let parts: Vec<TokenStream> = args
                        .iter()
                        .map(|&c| {
                            names.push(c);
                            let name = &self.names[&c];
                            quote!(&#name[..])
                        })
                        .collect();
                    quote!(let #name = [#(#parts),*].concat();)
                };
                self.hold.insert(t, Hold::Owned);
                self.plain(guard, code, vec![t], names);
                Ok(())
            }
            _ if alias_of(g, &self.plan.class, t).is_some() => {
                let of = alias_of(g, &self.plan.class, t).unwrap_or(t);
                let owned = self.moves(of, k);
                let name = self.name(t);
                let from = self.borrow(of, &mut names);
                let code = if owned {
                    self.hold.insert(t, Hold::Owned);
                    let from = &self.names[&of];
                    quote!(let #name = #from;)
                } else {
                    self.hold.insert(t, Hold::Borrowed);
                    let ty = self.style.ty(g.elem(t));
                    quote!(let #name: &[#ty] = #from;)
                };
                self.plain(guard, code, vec![t], names);
                Ok(())
            }
            _ if padded_parts(g, &self.plan.class, t).is_some() => self.padded(t, guard),
            _ if is_splat(g, t) => {
                let fill = self.splat(t, &mut names);
                let n = self.product(g.shape(t), &mut names).tokens;
                let name = self.name(t);
                self.hold.insert(t, Hold::Owned);
                self.plain(guard, quote!(let #name = ::std::vec![#fill; #n];), vec![t], names);
                Ok(())
            }
            node => Err(format!("nothing computes {node:?}")),
        }
    }

    /// A sum with blocks: the dense parts in one nest, then each block in a pass over its own elements.
    fn padded(&mut self, t: Term, guard: &[Literal]) -> Result<(), String> {
        let g = self.g;
        let Some((dense, pads)) = padded_parts(g, &self.plan.class, t) else { return Err("no blocks".into()) };
        let mut names = Vec::new();
        let mut code = self.allocate(t, &mut names);
        let before = self.statements.len();
        if !dense.is_empty() {
            let mut kernel = Kernel::new(g, self.plan, self.hints, g.shape(t).to_vec(), []);
            let identity = kernel.identity().to_vec();
            let mut sum = None;
            for &part in &dense {
                let value = kernel.element(part, &identity, &[])?;
                sum = Some(match sum {
                    None => value,
                    Some(s) => kernel.op(Op::Prim(Prim::Binary(Binary::Add), [s, value].into())),
                });
            }
            let items: Vec<Item> = sum.iter().map(|&value| Item::Store { out: Some(t), value }).collect();
            self.call(&kernel, &items, ("compute", "The parts without zeros."), &[t], guard, false)?;
        }
        for &pad in &pads {
            let Node::Prim(Prim::Pad(steps), args) = g.node(pad) else { continue };
            let rank = steps.len();
            let domain = g.shape(args[0]).to_vec();
            let mut kernel = Kernel::new(g, self.plan, self.hints, domain.clone(), []);
            let identity = kernel.identity().to_vec();
            let value = kernel.element(args[0], &identity, &[])?;
            let mut ix = Vec::new();
            for k in 0..rank {
                let start = kernel.element(args[1 + k], &[], &[])?;
                ix.push(kernel.affine(start, steps[k], identity[k]));
            }
            let block = steps.iter().all(|&s| s == 1);
            let item = if block { Item::Block { out: t, ix, value } } else { Item::Scatter { out: t, ix, value } };
            let at = self.statements.len();
            self.call(&kernel, &[item], ("add", "Adds a block of the result."), &[t], guard, false)?;
            // Where the block does not fit there is nothing to add: a check has failed, or it has no elements.
            let mut fits: Option<TokenStream> = None;
            for k in 0..if block { rank } else { 0 } {
                let kernel = self.style.kernel("fits");
                let [start, len, size] = [args[1 + k], domain[k], g.shape(t)[k]].map(|n| self.argument(n, &mut names));
                let fit = quote!(#kernel(#start, #len, #size));
                fits = Some(fits.map_or(fit.clone(), |before| quote!(#before && #fit)));
            }
            if let (Some(s), Some(fits)) = (self.statements.get_mut(at), fits) {
                let call = std::mem::take(&mut s.code);
                s.code = quote!(if #fits { #call });
            }
        }
        // One statement: the allocation and all passes.
        for s in self.statements.drain(before..) {
            code.extend(s.code);
            names.extend(s.names);
        }
        names.retain(|n| *n != t);
        self.plain(guard, code, vec![t], names);
        Ok(())
    }

    /// Whether the array is ours and step `k` is the only one that reads it.
    fn moves(&self, t: Term, k: usize) -> bool {
        self.hold.get(&t) == Some(&Hold::Owned)
            && self.plan.uses.get(&t) == Some(&1)
            && self.plan.readers.get(&t).is_some_and(|r| r == &[k])
            && !self.plan.results.contains(&t)
    }

    fn splat(&self, t: Term, names: &mut Vec<Term>) -> TokenStream {
        let mut t = t;
        while let (Node::Prim(_, args), true) = (self.g.node(t), self.g.rank(t) > 0) {
            t = args[0];
        }
        self.argument(t, names)
    }

    /// An array by a condition: moved out of its arm where nothing else reads it, otherwise borrowed.
    fn join(&mut self, t: Term, cond: Term, then: Term, other: Term, guard: &[Literal], k: usize) {
        let owned = then != other && self.moves(then, k) && self.moves(other, k);
        let name = self.name(t);
        if owned {
            let (a, b) = (&self.names[&then], &self.names[&other]);
            let (a, b) = (quote!(#a), quote!(#b));
            let join = Join { cond, then: a, other: b, then_names: vec![then], other_names: vec![other] };
            self.hold.insert(t, Hold::Owned);
            let join = Some(join);
            self.statements.push(Statement { guard: guard.to_vec(), join, defines: vec![t], ..Statement::default() });
            return;
        }
        let mut names = vec![cond];
        let (a, b) = (self.borrow(then, &mut names), self.borrow(other, &mut names));
        let (c, ty) = (self.argument(cond, &mut names), self.style.ty(self.g.elem(t)));
        self.hold.insert(t, Hold::Borrowed);
        self.plain(guard, quote!(let #name: &[#ty] = if #c { #a } else { #b };), vec![t], names);
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
        let again = left.get_mut(&t).is_some_and(|n| {
            *n -= 1;
            *n > 0
        });
        let name = self.names.get(&t).ok_or("a result that is not computed")?;
        let data = match self.hold.get(&t) {
            Some(Hold::Owned) if again => quote!(#name.clone()),
            Some(Hold::Owned) => quote!(#name),
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

fn is_fold(g: &Graph, t: Term) -> bool {
    matches!(g.node(t), Node::Prim(Prim::Sum(_) | Prim::Reduce(..), _))
}

impl Spell for Driver<'_> {
    fn name(&self, t: Term) -> TokenStream {
        let name = &self.names[&t];
        quote!(#name)
    }

    fn scalar(&self, t: Term) -> TokenStream {
        self.scalar_expr(t).0.tokens
    }

    fn absent(&self, t: Term) -> TokenStream {
        if self.g.rank(t) > 0 { quote!(::std::vec::Vec::new()) } else { self.style.zero(self.g.elem(t)) }
    }
}
