//! Terms as text, for tests of passes: a small language that spells every attribute of a form, so
//! that each term can be written.
//!
//! ```text
//! x: [n] f64        an input; sizes that have not been named are named by it
//! a = exp(x) * x    a name for a term
//! active x          an input that derivatives are taken with respect to
//! value sum(a)      a root; also: derivative, check
//! ```
//!
//! Expressions: names, numbers (`2` is a size, `2.0` is real), `[a, b]` (a list), `\i j -> e` (a
//! binder), `t.0` (part of a tuple), `a + b` (one operator between operands, nested in
//! parentheses), `form[attributes](arguments)`.

use ad_core::sorted::SortedMap;
use std::collections::HashMap;

use ad_core::ir::{Body, Contraction, Elem, Graph, Node, RealTy, Scan, Term, Type, Var};
use ad_core::passes::{CheckRoots, Roots};
use ad_core::prim::{Binary, Cmp, IntOp, Prim, Reduce, Unary};

/// A parsed text.
#[derive(Default)]
pub struct Program {
    pub g: Graph,
    pub roots: Roots,
    /// Inputs that are active.
    pub active: Vec<u32>,
    /// Names of inputs and sizes, for printing.
    pub hints: SortedMap<Term, String>,
    names: HashMap<String, Term>,
}

#[derive(Clone, Debug)]
enum Expr {
    Number(String),
    Name(String),
    Part(Box<Expr>, usize),
    List(Vec<Expr>),
    Bound(Vec<String>, Box<Expr>),
    Infix(String, Box<[Expr; 2]>),
    Form(String, String, Vec<Expr>),
}

/// Parses a program. A panic names the wrong line.
pub fn parse(text: &str) -> Program {
    let mut program = Program::default();
    for line in text.lines().map(str::trim).filter(|line| !line.is_empty() && !line.starts_with('#')) {
        program.line(line);
    }
    program
}

impl Program {
    fn line(&mut self, line: &str) {
        let (first, rest) = line.split_once(' ').unwrap_or_else(|| panic!("a line without a space: {line}"));
        match first {
            "value" => {
                let terms = self.terms(rest);
                self.roots.values.extend(terms);
            }
            "derivative" => {
                let terms = self.terms(rest);
                self.roots.derivatives.extend(terms);
            }
            "check" => {
                let oks = self.terms(rest);
                self.roots.checks.extend(oks.into_iter().map(|ok| CheckRoots { ok, shown: Vec::new() }));
            }
            "active" => {
                let terms = self.terms(rest);
                self.active.extend(terms.iter().filter_map(|&t| match self.g.node(t) {
                    Node::Input(k) => Some(*k),
                    _ => None,
                }));
            }
            name if name.ends_with(':') => self.input(name.trim_end_matches(':'), rest),
            name => {
                let t = self.terms(rest.trim_start_matches('=').trim());
                self.names.insert(name.into(), t[0]);
            }
        }
    }

    /// `[n, 3] f64`
    fn input(&mut self, name: &str, ty: &str) {
        let (shape, elem) = match ty.strip_prefix('[') {
            Some(rest) => rest.split_once(']').expect("the end of a shape"),
            None => ("", ty),
        };
        let elem = match elem.trim() {
            "f64" => Elem::F64,
            "usize" => Elem::USIZE,
            "bool" => Elem::Bool,
            other => panic!("no type: {other}"),
        };
        let sizes: Vec<&str> = shape.split(',').map(str::trim).filter(|s| !s.is_empty()).collect();
        let known: Vec<Option<Term>> = sizes
            .iter()
            .map(|s| s.parse().map(|n| self.g.lit_usize(n)).ok().or_else(|| self.names.get(*s).copied()))
            .collect();
        // A size that occurs twice is that of the first axis.
        let first = |s: &&str| sizes.iter().position(|t| t == s).and_then(|k| u8::try_from(k).ok()).expect("an axis");
        let axes: Vec<u8> = sizes.iter().map(first).collect();
        let t = self.g.add_input_united(elem, &known, &axes);
        let shape = self.g.shape(t).to_vec();
        for ((size, n), known) in sizes.iter().zip(shape).zip(known) {
            if known.is_none() {
                self.names.insert((*size).into(), n);
                self.hints.insert(n, (*size).into());
            }
        }
        self.names.insert(name.into(), t);
        self.hints.insert(t, name.into());
    }

    fn terms(&mut self, text: &str) -> Vec<Term> {
        let mut parser = Parser { text, at: 0 };
        let mut all = vec![parser.expr()];
        while parser.eat(",") {
            all.push(parser.expr());
        }
        assert!(parser.rest().is_empty(), "not understood: {}", parser.rest());
        all.iter().map(|e| self.term(e, &HashMap::new())).collect()
    }

    fn list(&mut self, e: &Expr, bound: &HashMap<String, Term>) -> Vec<Term> {
        match e {
            Expr::List(parts) => parts.iter().map(|e| self.term(e, bound)).collect(),
            one => vec![self.term(one, bound)],
        }
    }

    /// The bound variables, and the body over them.
    fn opened(&mut self, e: &Expr, bound: &HashMap<String, Term>) -> (Vec<Var>, Vec<Term>) {
        let Expr::Bound(names, body) = e else { return (Vec::new(), self.list(e, bound)) };
        let mut inner = bound.clone();
        let mut vars = Vec::new();
        for name in names {
            let var = self.g.fresh();
            let t = self.g.mk(Node::Var(var));
            inner.insert(name.clone(), t);
            vars.push(var);
        }
        (vars, self.list(body, &inner))
    }

    fn term(&mut self, e: &Expr, bound: &HashMap<String, Term>) -> Term {
        match e {
            Expr::Number(n) if n.contains('.') => self.g.lit_real(RealTy::F64, n.parse().expect("a number")),
            Expr::Number(n) => self.g.lit_usize(n.parse().expect("a number")),
            Expr::Name(name) => match (name.as_str(), bound.get(name).or_else(|| self.names.get(name))) {
                (_, Some(&t)) => t,
                ("true", _) => self.g.lit_bool(true),
                ("false", _) => self.g.lit_bool(false),
                _ => panic!("no such name: {name}"),
            },
            Expr::Part(e, k) => {
                let t = self.term(e, bound);
                self.g.proj(t, *k)
            }
            Expr::Infix(op, ab) => {
                let [a, b] = [&ab[0], &ab[1]].map(|e| self.term(e, bound));
                self.infix(op, a, b)
            }
            Expr::Form(name, attrs, args) => self.form(name, attrs, args, bound),
            other => panic!("no term: {other:?}"),
        }
    }

    fn infix(&mut self, op: &str, a: Term, b: Term) -> Term {
        let real = self.g.elem(a).is_real();
        let compared = match op {
            "<" => Some(Cmp::Lt),
            "<=" => Some(Cmp::Le),
            ">" => Some(Cmp::Gt),
            ">=" => Some(Cmp::Ge),
            "==" => Some(Cmp::Eq),
            _ => None,
        };
        match (op, compared) {
            (_, Some(op)) => self.g.compare(op, a, b),
            ("+", _) if real => self.g.add(a, b),
            ("-", _) if real => self.g.sub(a, b),
            ("*", _) if real => self.g.mul(a, b),
            ("/", _) if real => self.g.div(a, b),
            ("&&", _) => self.g.and(a, b),
            ("*0", _) => self.g.binary(Binary::MulZero, a, b),
            ("+", _) => self.g.int(IntOp::Add, a, b),
            ("-", _) => self.g.int(IntOp::Sub, a, b),
            ("*", _) => self.g.int(IntOp::Mul, a, b),
            _ => panic!("no operator: {op}"),
        }
    }

    fn form(&mut self, name: &str, attrs: &str, args: &[Expr], bound: &HashMap<String, Term>) -> Term {
        let axes: Vec<u8> = attrs.split(',').filter_map(|a| a.trim().parse().ok()).collect();
        match (name, args) {
            ("build1", [size, body]) => {
                let (size, (vars, body)) = (self.term(size, bound), self.opened(body, bound));
                return self.g.build(size, vars[0], body[0]);
            }
            ("gather", [sizes, src, index]) => {
                let (sizes, src) = (self.list(sizes, bound), self.term(src, bound));
                let (vars, index) = self.opened(index, bound);
                return self.g.gather(src, sizes.into(), &vars, &index);
            }
            ("scatter" | "update", [dst, src, index]) => {
                let (dst, src) = (self.term(dst, bound), self.term(src, bound));
                let (vars, index) = self.opened(index, bound);
                return match name {
                    "scatter" => self.g.scatter(dst, src, &vars, &index),
                    _ => self.g.update(dst, src, &vars, &index),
                };
            }
            ("scan" | "scanr", [count, init, captures, rows, body]) => {
                let count = self.term(count, bound);
                let [init, captures, xs] = [init, captures, rows].map(|list| self.list(list, bound));
                let stop = attrs.strip_prefix("until ").map(|k| k.parse().expect("a number"));
                return self.scan((count, name == "scanr", stop), [init, captures, xs], body);
            }
            ("slice", [x, starts, lens]) => {
                let (x, starts, lens) = (self.term(x, bound), self.list(starts, bound), self.list(lens, bound));
                return self.g.slice(x, &starts, &vec![1; starts.len()], &lens);
            }
            ("reshape", [x, sizes]) => {
                let (x, sizes) = (self.term(x, bound), self.list(sizes, bound));
                return self.g.reshape(x, &sizes);
            }
            ("pad", [x, starts, sizes]) => {
                let (x, starts, sizes) = (self.term(x, bound), self.list(starts, bound), self.list(sizes, bound));
                return self.g.pad(x, &starts, &vec![1; starts.len()], &sizes);
            }
            ("stack", [parts]) => {
                let parts = self.list(parts, bound);
                return self.g.stack(&parts);
            }
            _ => {}
        }
        let args: Vec<Term> = args.iter().map(|e| self.term(e, bound)).collect();
        let g = &mut self.g;
        match (name, &args[..]) {
            ("tuple", parts) => g.tuple(parts),
            ("like", &[x, of]) => {
                let x = g.real_value(x).expect("a literal");
                g.lit_like(of, x)
            }
            ("replicate", [x, sizes @ ..]) => g.replicate_axes(*x, &axes, sizes),
            ("sum", &[x]) if attrs.is_empty() => g.sum_all(x),
            ("sum", &[x]) => g.sum_axes(x, &axes),
            ("any", &[x]) => g.reduce(Reduce::Any, usize::from(axes[0]), x),
            ("all", &[x]) => g.reduce(Reduce::All, usize::from(axes[0]), x),
            ("largest", &[x]) => g.reduce(Reduce::Max, usize::from(axes[0]), x),
            ("argmax", &[x]) => g.reduce(Reduce::ArgMax, usize::from(axes[0]), x),
            ("transpose", &[x]) => g.transpose(x, &axes),
            ("iota", &[n]) => g.iota(n),
            ("at", [x, index @ ..]) => g.index(*x, index),
            ("size", &[x]) => g.cast(Elem::USIZE, x),
            ("real", &[x]) => g.cast(Elem::F64, x),
            ("select", &[mask, a, b]) => g.select(mask, a, b),
            ("cond", &[c, a, b]) => g.cond(c, a, b),
            ("neg", &[x]) => g.neg(x),
            ("fromzero", &[x]) => g.reduce(Reduce::FromZero, usize::from(axes[0]), x),
            ("fourier", &[x]) => {
                let rows = g.stack(&[x, x]);
                g.prim(Prim::Fourier(false), &[rows])
            }
            ("cumsum", &[x]) => g.prim(Prim::CumSum(false), &[x]),
            ("relaxed", &[relaxed, exact]) => g.relaxed_exact(relaxed, exact),
            ("contract", &[a, b]) => {
                let labels = |part: &str| -> Box<[u8]> { part.bytes().map(|l| l - b'i').collect() };
                let (operands, out) = attrs.split_once("->").expect("a contraction");
                let (la, lb) = operands.split_once(',').expect("two operands");
                g.contract(a, b, Contraction::new(labels(la), labels(lb), labels(out)))
            }
            (_, &[x]) => {
                let f = Unary::ALL.iter().find(|f| f.row().name == name);
                g.unary(*f.unwrap_or_else(|| panic!("no form: {name}")), x)
            }
            (_, &[a, b]) => {
                let f = Binary::ALL.iter().find(|f| f.row().name == name);
                g.binary(*f.unwrap_or_else(|| panic!("no form: {name}")), a, b)
            }
            _ => panic!("no form: {name}"),
        }
    }

    fn scan(
        &mut self,
        (count, reverse, stop): (Term, bool, Option<usize>),
        [init, captures, xs]: [Vec<Term>; 3],
        body: &Expr,
    ) -> Term {
        let Expr::Bound(names, results) = body else { panic!("a body: {body:?}") };
        let mut params: Vec<Type> = init.iter().chain(&captures).map(|&t| self.g.ty(t).clone()).collect();
        params.extend(xs.iter().map(|&t| Type::Array(self.g.elem(t), self.g.shape(t)[1..].into())));
        assert_eq!(names.len(), params.len(), "the parameters of a loop");
        let given = names.iter().enumerate().map(|(k, name)| (name.clone(), self.g.param(k, params[k].clone())));
        let given: HashMap<String, Term> = given.collect();
        let results = self.list(results, &given).into();
        let body = Body { params: params.into(), results };
        let (init, captures, xs) = (init.into(), captures.into(), xs.into());
        self.g.scan(Scan { count, reverse, stop, init, captures, xs, body })
    }
}

struct Parser<'a> {
    text: &'a str,
    at: usize,
}

impl<'a> Parser<'a> {
    fn rest(&mut self) -> &'a str {
        let rest = self.text[self.at..].trim_start();
        self.at = self.text.len() - rest.len();
        rest
    }

    fn eat(&mut self, what: &str) -> bool {
        let found = self.rest().starts_with(what);
        if found {
            self.at += what.len();
        }
        found
    }

    fn expect(&mut self, what: &str) {
        assert!(self.eat(what), "`{what}` is missing before `{}`", self.rest());
    }

    fn word(&mut self) -> String {
        let rest = self.rest();
        let end = rest.find(|c: char| !c.is_alphanumeric() && c != '_').unwrap_or(rest.len());
        self.at += end;
        rest[..end].to_string()
    }

    /// Expressions up to the closing bracket.
    fn all(&mut self, close: &str) -> Vec<Expr> {
        let mut all = Vec::new();
        while !self.eat(close) {
            all.push(self.expr());
            if !self.eat(",") {
                self.expect(close);
                break;
            }
        }
        all
    }

    fn expr(&mut self) -> Expr {
        let a = self.operand();
        let ops = ["&&", "*0 ", "<=", ">=", "==", "<", ">", "+", "-", "*", "/"];
        match ops.into_iter().find(|op| self.eat(op)) {
            Some(op) => Expr::Infix(op.trim().into(), Box::new([a, self.operand()])),
            None => a,
        }
    }

    fn operand(&mut self) -> Expr {
        let mut e = if self.eat("(") {
            let e = self.expr();
            self.expect(")");
            e
        } else if self.eat("[") {
            Expr::List(self.all("]"))
        } else if self.eat("\\") {
            let mut names = Vec::new();
            while !self.eat("->") {
                names.push(self.word());
            }
            Expr::Bound(names, Box::new(self.expr()))
        } else if self.rest().starts_with(|c: char| c.is_ascii_digit()) {
            let whole = self.word();
            if self.eat(".") { Expr::Number(format!("{whole}.{}", self.word())) } else { Expr::Number(whole) }
        } else {
            let name = self.word();
            assert!(!name.is_empty(), "not understood: {}", self.rest());
            let mut attrs = String::new();
            if self.eat("[") {
                let rest = self.rest();
                let end = rest.find(']').expect("the end of attributes");
                attrs = rest[..end].to_string();
                self.at += end + 1;
            }
            if self.eat("(") { Expr::Form(name, attrs, self.all(")")) } else { Expr::Name(name) }
        };
        while self.eat(".") {
            e = Expr::Part(Box::new(e), self.word().parse().expect("the number of a part"));
        }
        e
    }
}
