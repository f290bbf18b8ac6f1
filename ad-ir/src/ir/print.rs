//! The printer: terms in the papers' notation (BOT Figs. 7 and 9), with `let`s where the graph
//! shares. Names are numbered from 1 in each print and prefixed by rank (x, v, m, t, u, w), so
//! equal programs have the same print and a diff shows the changes. Printing takes time linear in
//! the size of the graph. The text must never depend on anything but the terms: not on an address,
//! a hash order or a handle.

use crate::sorted::{SortedMap, SortedSet};

use super::marked::{MarkedText, marked};
use super::{Elem, Graph, IntTy, Lit, Node, Put, RealTy, Scan, Term, Var};
use crate::prim::{Binary, Prim, Unary};

/// Terms of more words than this get a separate line.
const MAX_WORDS: usize = 10;

/// A program: a line for each term that is shared, long or named, then the roots.
#[must_use]
pub fn print(g: &Graph, roots: &[Term], names: &SortedMap<Term, String>) -> String {
    Printer::new(g, names, false).program(roots)
}

/// The program as [`print()`] prints it, and the part of the text that each term has.
#[must_use]
pub fn print_marked(g: &Graph, roots: &[Term], names: &SortedMap<Term, String>) -> MarkedText {
    MarkedText::of(&Printer::new(g, names, true).program(roots))
}

struct Printer<'a> {
    g: &'a Graph,
    hints: &'a SortedMap<Term, String>,
    /// Whether the text of each term is between marks.
    marked: bool,
    out: String,
    next: u32,
    taken: SortedSet<String>,
    /// The scopes, innermost last. A closed body sees only the scopes after its own mark.
    scopes: Vec<Scope>,
}

/// The names in a scope: of the variables that it binds, and of the terms that have their lines in
/// it.
#[derive(Default)]
struct Scope {
    vars: Vec<(Var, String)>,
    names: SortedMap<Term, String>,
    /// Names of the parameters, if this is the scope of a closed body (or of the program).
    params: Option<Vec<String>>,
}

/// How tightly a form binds; an argument of an application must be an atom.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Level {
    Any,
    Operand,
    Atom,
}

impl<'a> Printer<'a> {
    fn new(g: &'a Graph, hints: &'a SortedMap<Term, String>, marked: bool) -> Self {
        Printer { g, hints, marked, out: String::new(), next: 0, taken: SortedSet::new(), scopes: Vec::new() }
    }

    /// The text of a term, between marks if they are wanted.
    fn mark(&self, t: Term, text: String) -> String {
        if self.marked { marked(t, &text) } else { text }
    }

    fn program(mut self, roots: &[Term]) -> String {
        self.scopes.push(Scope { params: Some(Vec::new()), ..Scope::default() });
        self.block(roots, &[], 0);
        self.out
    }

    /// The terms that get a line in a scope. They mention a variable that the scope binds (in a
    /// body: any term may), and they are shared, long or named.
    fn lines(&self, roots: &[Term], bound: &[Var]) -> Vec<Term> {
        let g = self.g;
        let mine =
            |t: Term| self.scopes.last().is_none_or(|s| s.params.is_some()) || bound.iter().any(|&v| g.mentions(t, v));
        let mut uses: SortedMap<Term, usize> = SortedMap::new();
        let mut stack: Vec<Term> = Vec::new();
        for &t in roots {
            *uses.entry(t).or_default() += 1;
            stack.push(t);
        }
        let mut seen: SortedSet<Term> = SortedSet::new();
        while let Some(t) = stack.pop() {
            if !mine(t) || !seen.insert(t) {
                continue;
            }
            g.node(t).for_each_child(|c| {
                *uses.entry(c).or_default() += 1;
                stack.push(c);
            });
        }
        // Terms that mention the variables of an inner scope have their lines in that scope.
        let mut inner: SortedSet<(Var, Term)> = SortedSet::new();
        for &t in &seen {
            for &v in g.node(t).binders() {
                let mut stack: Vec<Term> = Vec::new();
                g.node(t).for_each_scoped_child(|c, inside| stack.extend(inside.then_some(c)));
                while let Some(c) = stack.pop() {
                    if g.mentions(c, v) && inner.insert((v, c)) {
                        g.node(c).for_each_child(|c| stack.push(c));
                    }
                }
            }
        }
        let elsewhere: SortedSet<Term> = inner.into_iter().map(|(_, t)| t).collect();
        let mut words: SortedMap<Term, usize> = SortedMap::new();
        let mut lines = Vec::new();
        for &t in &seen {
            if leaf(g.node(t)) {
                words.insert(t, 1);
                continue;
            }
            let mut n = 1;
            g.node(t).for_each_child(|c| n += words.get(&c).copied().unwrap_or(1));
            let multi = matches!(g.node(t), Node::Scan(_));
            let line = !elsewhere.contains(&t)
                && !roots.contains(&t)
                && (uses[&t] > 1 || n > MAX_WORDS || multi || self.hints.contains_key(&t));
            if line {
                lines.push(t);
            }
            words.insert(t, if line { 1 } else { n });
        }
        lines
    }

    /// The lines of a scope and then its results, at an indentation.
    fn block(&mut self, roots: &[Term], bound: &[Var], depth: usize) {
        let mut lines = self.lines(roots, bound);
        lines.extend(self.results_used(roots));
        lines.sort_unstable();
        lines.dedup();
        for t in lines {
            let name = self.name(t);
            let text = self.form(t, Level::Any, depth);
            let text = self.mark(t, format!("{name} = {text}"));
            self.line(depth, &text);
            if let Some(scope) = self.scopes.last_mut() {
                scope.names.insert(t, name);
            }
        }
        for &t in roots {
            let text = self.term(t, Level::Any, depth);
            self.line(depth, &text);
        }
    }

    /// Results that occur twice, or inside another result. They need a name as well.
    fn results_used(&self, roots: &[Term]) -> Vec<Term> {
        let mut once: SortedSet<Term> = SortedSet::new();
        let mut used: SortedSet<Term> = SortedSet::new();
        let mut stack: Vec<Term> = roots.iter().copied().filter(|&t| !once.insert(t)).collect();
        if roots.len() > 1 {
            roots.iter().for_each(|&t| self.g.node(t).for_each_child(|c| stack.push(c)));
        }
        while let Some(t) = stack.pop() {
            if used.insert(t) {
                self.g.node(t).for_each_child(|c| stack.push(c));
            }
        }
        roots.iter().copied().filter(|t| used.contains(t) && !leaf(self.g.node(*t))).collect()
    }

    fn line(&mut self, depth: usize, text: &str) {
        for _ in 0..depth {
            self.out.push_str("  ");
        }
        self.out.push_str(text);
        self.out.push('\n');
    }

    fn name(&mut self, t: Term) -> String {
        let hint = self.hints.get(&t).cloned();
        if let Some(hint) = hint
            && self.taken.insert(hint.clone())
        {
            return hint;
        }
        let prefix = match self.g.ty(t).as_array().map(|(_, shape)| shape.len()) {
            Some(rank) => ["x", "v", "m", "t", "u", "w"][rank.min(5)],
            None => "p",
        };
        loop {
            self.next += 1;
            let name = match self.hints.get(&t) {
                Some(hint) => format!("{hint}_{}", self.next),
                None => format!("{prefix}{}", self.next),
            };
            if self.taken.insert(name.clone()) {
                return name;
            }
        }
    }

    /// A term where it is used: its name, if it has one in a visible scope.
    fn term(&mut self, t: Term, level: Level, depth: usize) -> String {
        for scope in self.scopes.iter().rev() {
            if let Some(name) = scope.names.get(&t) {
                return self.mark(t, name.clone());
            }
            if scope.params.is_some() {
                break;
            }
        }
        let text = self.form(t, level, depth);
        self.mark(t, text)
    }

    fn form(&mut self, t: Term, level: Level, depth: usize) -> String {
        let g = self.g;
        match g.node(t) {
            Node::Input(k) => self.hints.get(&t).cloned().unwrap_or_else(|| format!("in{k}")),
            Node::Size(k, axis) => self.hints.get(&t).cloned().unwrap_or_else(|| format!("n{k}_{axis}")),
            Node::Var(var) => self.var(*var),
            Node::Param(k, _) => {
                let params = self.scopes.iter().rev().find_map(|s| s.params.as_ref());
                let own = params.and_then(|p| p.get(*k as usize)).or_else(|| self.hints.get(&t));
                own.cloned().unwrap_or_else(|| format!("param{k}"))
            }
            Node::Lit(lit) => literal(*lit),
            Node::Tuple(parts) => format!("({})", self.list(parts, depth)),
            Node::Proj(tuple, k) => format!("{}.{k}", self.term(*tuple, Level::Atom, depth)),
            Node::Build { size, var, body } => {
                let size = self.term(*size, Level::Atom, depth);
                let lambda = self.lambda(&[*var], &[*body], false, depth);
                paren(level, Level::Any, format!("build1 {size} {lambda}"))
            }
            Node::Cond { cond, then, other } => {
                let parts = [*cond, *then, *other].map(|t| self.term(t, Level::Atom, depth));
                paren(level, Level::Any, format!("cond {}", parts.join(" ")))
            }
            Node::Scan(scan) => paren(level, Level::Any, self.scan(scan, depth)),
            Node::Gather { src, sizes: _, vars, index } if vars.is_empty() => {
                format!("{}[{}]", self.term(*src, Level::Atom, depth), self.list(index, depth))
            }
            Node::Gather { src, sizes, vars, index } => {
                let (sizes, src) = (self.list(sizes, depth), self.term(*src, Level::Atom, depth));
                let lambda = self.lambda(vars, index, true, depth);
                paren(level, Level::Any, format!("gather [{sizes}] {src} {lambda}"))
            }
            Node::Scatter { put, dst, src, vars, index } => {
                let (dst, src) = (self.term(*dst, Level::Atom, depth), self.term(*src, Level::Atom, depth));
                let lambda = self.lambda(vars, index, true, depth);
                paren(
                    level,
                    Level::Any,
                    format!("{} {dst} {src} {lambda}", if *put == Put::Add { "scatter" } else { "update" }),
                )
            }
            Node::Prim(prim, args) => self.prim(prim, args, level, depth),
        }
    }

    fn prim(&mut self, prim: &Prim, args: &[Term], level: Level, depth: usize) -> String {
        let infix = match prim {
            Prim::Binary(Binary::Add | Binary::Sub | Binary::Mul | Binary::Div | Binary::Rem | Binary::MulZero) => true,
            Prim::Int(op) => !matches!(op, crate::prim::IntOp::Min | crate::prim::IntOp::Max | crate::prim::IntOp::Pow),
            Prim::Compare(_) | Prim::And | Prim::Or => true,
            _ => false,
        };
        match (prim, args) {
            (_, &[a, b]) if infix => {
                let (a, b) = (self.term(a, Level::Operand, depth), self.term(b, Level::Operand, depth));
                // Operators have no precedence, so that nobody has to remember one.
                let text = format!("{a} {} {b}", prim.name());
                if level > Level::Any { format!("({text})") } else { text }
            }
            (Prim::Unary(Unary::Neg) | Prim::IntNeg | Prim::Not, &[a]) => {
                let a = self.term(a, Level::Atom, depth);
                paren(level, Level::Operand, format!("{}{a}", prim.name()))
            }
            (Prim::Stack, parts) => format!("[{}]", self.list(parts, depth)),
            (Prim::Cast(elem), &[a]) => {
                let name = format!("as_{}", elem_name(*elem));
                self.apply(&name, &[a], level, depth)
            }
            (Prim::Slice(_) | Prim::Pad(_), [x, bounds @ ..]) => {
                let (starts, sizes) = bounds.split_at(bounds.len() / 2);
                let x = self.term(*x, Level::Atom, depth);
                let text = format!("{} [{}] [{}] {x}", prim.name(), self.list(starts, depth), self.list(sizes, depth));
                paren(level, Level::Operand, text)
            }
            (Prim::Replicate(_) | Prim::Reshape | Prim::Recast, [x, sizes @ ..]) => {
                let x = self.term(*x, Level::Atom, depth);
                // [BOT]'s own form is the one over the outermost axis.
                let text = match (prim, sizes) {
                    (Prim::Replicate(axes), &[n]) if **axes == [0] => {
                        format!("replicate {} {x}", self.term(n, Level::Atom, depth))
                    }
                    _ => format!("{} [{}] {x}", prim.name(), self.list(sizes, depth)),
                };
                paren(level, Level::Operand, text)
            }
            (Prim::Sum(axes), &[x]) if **axes == [0] => self.apply("sumOuter", &[x], level, depth),
            _ => self.apply(&prim.name(), args, level, depth),
        }
    }

    fn apply(&mut self, name: &str, args: &[Term], level: Level, depth: usize) -> String {
        let args: Vec<String> = args.iter().map(|&t| self.term(t, Level::Atom, depth)).collect();
        paren(level, Level::Operand, format!("{name} {}", args.join(" ")))
    }

    fn list(&mut self, ts: &[Term], depth: usize) -> String {
        let parts: Vec<String> = ts.iter().map(|&t| self.term(t, Level::Any, depth)).collect();
        parts.join(", ")
    }

    /// `(\i -> body)`, over several lines if something inside is shared.
    fn lambda(&mut self, vars: &[Var], results: &[Term], index: bool, depth: usize) -> String {
        let bound: Vec<String> = (0..vars.len()).map(|k| self.fresh_index(k)).collect();
        let head = if index { format!("\\[{}]", bound.join(", ")) } else { format!("\\{}", bound.join(" ")) };
        let named = vars.iter().copied().zip(bound).collect();
        self.scopes.push(Scope { vars: named, ..Scope::default() });
        let text = if index && self.lines(results, vars).is_empty() {
            format!("({head} -> [{}])", self.list(results, depth))
        } else {
            let outer = std::mem::take(&mut self.out);
            self.block(results, vars, depth + 1);
            let block = std::mem::replace(&mut self.out, outer);
            if block.matches('\n').count() == 1 {
                format!("({head} -> {})", block.trim())
            } else {
                format!("({head} ->\n{})", block.trim_end())
            }
        };
        self.scopes.pop();
        text
    }

    fn scan(&mut self, scan: &Scan, depth: usize) -> String {
        let direction = if scan.reverse { "scanr" } else { "scan" };
        let until = scan.stop.map_or(String::new(), |k| format!("until c{k} "));
        let count = self.term(scan.count, Level::Atom, depth);
        let [init, captures, xs] = [&scan.init, &scan.captures, &scan.xs].map(|ts| self.list(ts, depth));
        let params = self.body_params(scan);
        let head = params.join(" ");
        self.scopes.push(Scope { params: Some(params), ..Scope::default() });
        let outer = std::mem::take(&mut self.out);
        self.block(&scan.body.results, &[], depth + 1);
        let block = std::mem::replace(&mut self.out, outer);
        self.scopes.pop();
        format!("{direction} {until}{count} ({init}) ({captures}) ({xs}) (\\{head} ->\n{})", block.trim_end())
    }

    /// The names of a body's parameters by their role: carried value, capture, or row.
    fn body_params(&self, scan: &Scan) -> Vec<String> {
        let (carried, captured) = (scan.init.len(), scan.captures.len());
        let name = |k: usize| match k {
            _ if k < carried => format!("c{k}"),
            _ if k < carried + captured => format!("k{}", k - carried),
            _ => format!("r{}", k - carried - captured),
        };
        (0..scan.body.params.len()).map(name).collect()
    }

    /// The name of the index variable after `more` further ones, by the number of visible index
    /// variables.
    fn fresh_index(&self, more: usize) -> String {
        let in_sight = self.scopes.iter().rev().take_while(|s| s.params.is_none()).map(|s| s.vars.len()).sum::<usize>();
        match ["i", "j", "k", "l"].get(in_sight + more) {
            Some(name) => (*name).to_string(),
            None => format!("i{}", in_sight + more),
        }
    }

    fn var(&self, var: Var) -> String {
        for scope in self.scopes.iter().rev() {
            if let Some((_, name)) = scope.vars.iter().find(|(v, _)| *v == var) {
                return name.clone();
            }
        }
        // A free variable occurs only if a term is printed by itself.
        if var.is_fresh() { format!("?{}", var.0 - Var::FRESH) } else { format!("?b{}", var.0) }
    }
}

fn paren(level: Level, own: Level, text: String) -> String {
    if level > own { format!("({text})") } else { text }
}

fn leaf(node: &Node) -> bool {
    matches!(node, Node::Input(_) | Node::Size(..) | Node::Var(_) | Node::Param(..) | Node::Lit(_))
}

fn elem_name(elem: Elem) -> &'static str {
    match elem {
        Elem::Real(RealTy::F32) => "f32",
        Elem::Real(RealTy::F64) => "f64",
        Elem::Real(RealTy::Param) => "T",
        Elem::Int(ty) => ty.name(),
        Elem::Bool => "bool",
    }
}

fn literal(lit: Lit) -> String {
    match lit {
        Lit::Real(ty, bits) => {
            let x = f64::from_bits(bits);
            let text = if x < 0.0 || x.is_sign_negative() && x == 0.0 { format!("({x:?})") } else { format!("{x:?}") };
            if ty == RealTy::F32 { format!("{text}f32") } else { text }
        }
        Lit::Int(IntTy::Usize, n) => n.to_string(),
        Lit::Int(ty, n) if n < 0 => format!("({n}{})", ty.name()),
        Lit::Int(ty, n) => format!("{n}{}", ty.name()),
        Lit::Bool(b) => b.to_string(),
    }
}
