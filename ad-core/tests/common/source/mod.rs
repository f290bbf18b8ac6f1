//! Random *source* programs: the text of functions as users write them, with arguments to call them with. A seed means one program.
//!
//! What can be said is a table of templates ([`forms`]); this file fills their holes. Values are kept bounded by the templates
//! (no logarithm of something negative, no division by something near 0) and indices in range by construction, so that whatever
//! differs between two ways of computing a program is a bug. [`oracle`] says what a program means.

pub mod forms;
pub mod oracle;

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;

use super::rng::Rng;
use forms::Form;

/// The real numbers of a program.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Real {
    F64,
    F32,
    /// `T: Real`, called with `f64`.
    Param,
}

impl Real {
    /// As the program says it.
    pub fn text(self) -> &'static str {
        match self {
            Real::F64 => "f64",
            Real::F32 => "f32",
            Real::Param => "T",
        }
    }

    /// As a caller says it.
    pub fn concrete(self) -> &'static str {
        if self == Real::F32 { "f32" } else { "f64" }
    }
}

/// How a value stands in the program.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Stands {
    /// A number, or an owned array.
    Value,
    /// `&F`, `&ArrayN<F>`.
    Ref,
    /// `ArrayViewN<'_, F>`.
    View,
    /// `&ArrayRefN<F>`.
    ArrayRef,
    /// `&[F]`.
    Slice,
    /// `Vec<F>`.
    Vec,
    /// `&Vec<F>`.
    RefVec,
}

impl Stands {
    fn ndarray(self) -> bool {
        matches!(self, Stands::Value | Stands::Ref | Stands::View | Stands::ArrayRef)
    }
}

/// What a value is.
#[derive(Clone, PartialEq, Debug)]
pub enum Kind {
    /// A real number.
    Real,
    /// A `usize`.
    Int,
    /// A `usize` that is a size: of this value.
    Size(usize),
    /// A `usize` below this.
    Index(usize),
    Bool,
    /// An array of real numbers.
    Array(Vec<usize>),
    /// An array of `usize`.
    Ints(Vec<usize>),
    /// A closure from a real number to one.
    Closure,
}

/// A name in scope.
#[derive(Clone, Debug)]
struct Var {
    name: String,
    kind: Kind,
    stands: Stands,
}

/// A parameter with the argument for it.
#[derive(Clone, Debug)]
pub struct Arg {
    pub name: String,
    pub kind: Kind,
    pub stands: Stands,
    /// The values of a real parameter.
    pub reals: Vec<f64>,
    /// Those of an integer (a boolean) one.
    pub ints: Vec<usize>,
}

impl Arg {
    pub fn active(&self) -> bool {
        matches!(self.kind, Kind::Real | Kind::Array(_))
    }

    pub fn shape(&self) -> &[usize] {
        match &self.kind {
            Kind::Array(shape) | Kind::Ints(shape) => shape,
            _ => &[],
        }
    }

    /// The same parameter with no elements (or the same number).
    pub fn emptied(&self) -> Arg {
        let mut arg = self.clone();
        if let Kind::Array(shape) | Kind::Ints(shape) = &mut arg.kind {
            shape.fill(0);
            arg.reals.clear();
            arg.ints.clear();
        }
        arg
    }

    /// The same parameter with every element along an axis that of its first row.
    pub fn repeated(&self) -> Arg {
        let mut arg = self.clone();
        if let Kind::Array(shape) = &arg.kind {
            let row = shape[1..].iter().product::<usize>();
            for k in row..arg.reals.len() {
                arg.reals[k] = arg.reals[k % row];
            }
        }
        arg
    }
}

/// A function, as text, and what to call it with.
#[derive(Clone, Debug)]
pub struct Source {
    pub seed: u64,
    pub real: Real,
    /// The attribute's options.
    pub options: String,
    /// `fn f(..) -> .. { .. }`
    pub text: String,
    pub args: Vec<Arg>,
    /// The result's shape; a `Vec` where it says so.
    pub result: Vec<usize>,
    pub vec_result: bool,
    /// The rows of the front end's table that occur: `array.sum`.
    pub uses: BTreeSet<String>,
}

impl Source {
    /// Whether a number is rounded to single precision anywhere.
    pub fn single(&self) -> bool {
        self.real == Real::F32 || self.text.contains("as f32")
    }

    pub fn has(&self, option: &str) -> bool {
        self.options.split(", ").any(|o| o == option)
    }
}

/// The program of a seed: [`Form`] number `seed % forms` occurs in it.
pub fn program(forms: &[Form], seed: u64) -> Source {
    let focus = (seed % forms.len() as u64) as usize;
    Writer::new(forms, seed).program(focus)
}

struct Writer<'f> {
    forms: &'f [Form],
    rng: Rng,
    seed: u64,
    real: Real,
    sizes: [usize; 3],
    scope: Vec<Var>,
    uses: BTreeSet<String>,
    /// The form that has to occur and has not yet.
    focus: Option<usize>,
    fresh: usize,
    fuel: i32,
}

impl<'f> Writer<'f> {
    fn new(forms: &'f [Form], seed: u64) -> Self {
        let mut rng = Rng::new(seed ^ 0x0005_0c4c_e000);
        let sizes = [2 + rng.below(3), 3 + rng.below(3), 2 + rng.below(2)];
        Writer {
            forms,
            rng,
            seed,
            real: Real::F64,
            sizes,
            scope: Vec::new(),
            uses: BTreeSet::new(),
            focus: None,
            fresh: 0,
            fuel: 0,
        }
    }

    fn program(mut self, focus: usize) -> Source {
        let form = &self.forms[focus];
        self.real = match self.rng.below(20) {
            0..4 if form.only != "d" => Real::F32,
            4..7 if form.only.is_empty() => Real::Param,
            _ => Real::F64,
        };
        let args = self.args();
        self.focus = Some(focus);
        let mut body = String::new();
        self.fuel = 12;
        let first = self.focused(focus);
        body.push_str(&first);
        for _ in 0..1 + self.rng.below(3) {
            self.fuel = 8;
            let statement = self.statement();
            body.push_str(&statement);
        }
        let vec_result = self.rng.chance(5);
        let (result, last) = self.last(vec_result);
        body.push_str(&last);

        let f = self.real.text();
        let generics = if self.real == Real::Param { "<T: Real>" } else { "" };
        let parameters: Vec<String> = args.iter().map(|a| format!("{}: {}", a.name, type_text(a, f))).collect();
        let result_type = match result.len() {
            _ if vec_result => format!("Vec<{f}>"),
            0 => f.to_string(),
            rank => format!("Array{rank}<{f}>"),
        };
        let text = format!("fn f{generics}({}) -> {result_type} {{\n{body}}}\n", parameters.join(", "));
        let mut options = vec![if result.is_empty() { "grad" } else { "vjp" }];
        if self.rng.chance(30) {
            options.push("jvp");
        }
        let options = options.join(", ");
        Source { seed: self.seed, real: self.real, options, text, args, result, vec_result, uses: self.uses }
    }

    /// Parameters, put in scope.
    fn args(&mut self) -> Vec<Arg> {
        let mut args = Vec::new();
        let [n, m, k] = self.sizes;
        let shapes: [&[usize]; 6] = [&[], &[n], &[n, m], &[m], &[m, k], &[n, m, k]];
        let count = 2 + self.rng.below(3);
        for at in 0..count {
            let shape = shapes[if at == 0 { 1 + self.rng.below(2) } else { self.rng.below(6) }].to_vec();
            let kind = if shape.is_empty() { Kind::Real } else { Kind::Array(shape.clone()) };
            let all = [
                Stands::Ref,
                Stands::Ref,
                Stands::Value,
                Stands::View,
                Stands::ArrayRef,
                Stands::Slice,
                Stands::Vec,
                Stands::RefVec,
            ];
            let stands = match shape.len() {
                0 => self.rng.pick(&[Stands::Value, Stands::Value, Stands::Ref]),
                1 => self.rng.pick(&all),
                _ => self.rng.pick(&all[..5]),
            };
            let reals = (0..shape.iter().product()).map(|_| self.number()).collect();
            args.push(Arg { name: format!("x{at}"), kind, stands, reals, ints: Vec::new() });
        }
        if self.rng.chance(40) {
            let ints = (0..4).map(|_| self.rng.below(6)).collect();
            let stands = self.rng.pick(&[Stands::Slice, Stands::Ref]);
            args.push(Arg { name: "ids".into(), kind: Kind::Ints(vec![4]), stands, reals: Vec::new(), ints });
        }
        if self.rng.chance(40) {
            let ints = vec![self.rng.below(6)];
            args.push(Arg { name: "k".into(), kind: Kind::Int, stands: Stands::Value, reals: Vec::new(), ints });
        }
        if self.rng.chance(20) {
            let ints = vec![self.rng.below(2)];
            args.push(Arg { name: "yes".into(), kind: Kind::Bool, stands: Stands::Value, reals: Vec::new(), ints });
        }
        for a in &args {
            self.scope.push(Var { name: a.name.clone(), kind: a.kind.clone(), stands: a.stands });
        }
        args
    }

    /// Exact in single precision, away from 0.
    fn number(&mut self) -> f64 {
        let x = (self.rng.real() * 256.0).round() / 256.0;
        if x.abs() < 0.1 { x + 0.375 } else { x }
    }

    fn name(&mut self) -> String {
        self.fresh += 1;
        format!("v{}", self.fresh)
    }

    fn bind(&mut self, name: &str, kind: Kind, stands: Stands) {
        self.scope.push(Var { name: name.into(), kind, stands });
    }

    /// A statement that needs the form in focus.
    fn focused(&mut self, focus: usize) -> String {
        let form = &self.forms[focus];
        let mut dims = BTreeMap::new();
        for c in form.dims.chars().filter(char::is_ascii_lowercase) {
            let n = self.rng.pick(&self.sizes);
            dims.entry(c).or_insert(n);
        }
        let shape: Vec<usize> = form.shape().iter().map(|d| size_of(d, &dims).unwrap_or(2)).collect();
        match form.kind {
            "let" => self.fill_form(focus, dims, 2),
            "S" => self.bound(Kind::Real),
            "I" => self.bound(Kind::Int),
            "B" => self.bound(Kind::Bool),
            "N" => self.bound(Kind::Ints(shape)),
            "A" => self.bound(Kind::Array(shape)),
            _ => {
                let items = self.expr("P", &shape, 2);
                let name = self.name();
                self.used("iterator.collect");
                self.bind(&name, Kind::Array(shape), Stands::Vec);
                format!("    let {name}: Vec<{}> = {items}.collect();\n", self.real.text())
            }
        }
    }

    /// `let name = ..;`
    fn bound(&mut self, kind: Kind) -> String {
        let depth = 2 + self.rng.below(2);
        let text = match &kind {
            Kind::Real => self.expr("S", &[], depth),
            Kind::Int => self.expr("I", &[], depth),
            Kind::Bool => self.expr("B", &[], depth),
            Kind::Ints(shape) => self.expr("N", shape, depth),
            Kind::Array(shape) => self.expr("O", shape, depth),
            Kind::Size(n) | Kind::Index(n) => self.size(*n),
            Kind::Closure => {
                let x = self.name();
                let outer = self.scope.len();
                self.bind(&x, Kind::Real, Stands::Value);
                let body = self.expr("S", &[], depth);
                self.scope.truncate(outer);
                format!("|{x}: {}| {body}", self.real.text())
            }
        };
        let name = self.name();
        let of = if matches!(kind, Kind::Size(_)) { ": usize" } else { "" };
        self.bind(&name, kind, Stands::Value);
        format!("    let {name}{of} = {text};\n")
    }

    fn statement(&mut self) -> String {
        let [n, m, k] = self.sizes;
        let kind = match self.rng.below(14) {
            0..3 => Kind::Real,
            3..6 => Kind::Array(vec![self.rng.pick(&[n, m])]),
            6..8 => Kind::Array(vec![n, m]),
            8 => Kind::Array(vec![n, m, k]),
            9 => Kind::Closure,
            10 => Kind::Bool,
            11 => Kind::Size(self.rng.pick(&[n, m])),
            12 => Kind::Int,
            _ => {
                let lets: Vec<usize> = (0..self.forms.len()).filter(|&f| self.fits(f, "let")).collect();
                let form = self.rng.pick(&lets);
                return self.fill_form(form, BTreeMap::new(), 2);
            }
        };
        self.bound(kind)
    }

    /// The last expression: all that has been bound counts.
    fn last(&mut self, vec_result: bool) -> (Vec<usize>, String) {
        let mut parts = Vec::new();
        let scope = self.scope.clone();
        for var in scope {
            let (x, weight) = (&var.name, self.literal());
            let part = match (&var.kind, var.stands) {
                (Kind::Real, Stands::Ref) => format!("{weight} * *{x}"),
                (Kind::Real, _) => format!("{weight} * {x}"),
                (Kind::Array(_), stands) if stands.ndarray() => {
                    self.used("array.mapv");
                    self.used("array.sum");
                    let by = self.literal();
                    format!("{weight} * {x}.mapv(|e| (e * {by}).sin()).sum()")
                }
                (Kind::Array(_), stands) => {
                    self.used("function.sum");
                    let x = if stands == Stands::Vec { format!("&{x}") } else { x.clone() };
                    format!("{weight} * sum({x})")
                }
                (Kind::Bool, _) => format!("if {x} {{ {weight} }} else {{ {} }} * {weight}", self.literal()),
                _ => continue,
            };
            parts.push(if part.starts_with("if") { format!("({part})") } else { part });
        }
        let total = parts.join(" + ");
        let arrays: Vec<Var> = self
            .scope
            .iter()
            .filter(|v| v.stands.ndarray() && matches!(&v.kind, Kind::Array(s) if !vec_result || s.len() == 1))
            .cloned()
            .collect();
        if (self.rng.chance(25) || vec_result) && !arrays.is_empty() {
            let var = self.rng.pick(&arrays);
            let Kind::Array(shape) = var.kind else { return (Vec::new(), total) };
            let (x, rest) = (var.name, self.name());
            let end = if vec_result { ".to_vec()" } else { "" };
            return (shape, format!("    let {rest} = {total};\n    {x}.mapv(|e| e * {rest}){end}\n"));
        }
        let end = if vec_result { format!("    vec![{total}]\n") } else { format!("    {total}\n") };
        (if vec_result { vec![1] } else { Vec::new() }, end)
    }

    /// A literal beside something of a known type.
    fn literal(&mut self) -> String {
        let x = self.number();
        let x = if x < 0.0 { format!("({x:?})") } else { format!("{x:?}") };
        if self.real == Real::Param {
            self.used("type.lit");
            format!("T::lit({x})")
        } else {
            x
        }
    }

    fn constant(&mut self, x: &str) -> String {
        if self.real == Real::Param {
            self.used("type.lit");
            format!("T::lit({x})")
        } else {
            format!("({x} as {})", self.real.text())
        }
    }

    /// A literal that says its type.
    fn typed_literal(&mut self) -> String {
        let x = self.number();
        match self.real {
            Real::Param => {
                self.used("type.lit");
                format!("T::lit({x:?})")
            }
            real if x < 0.0 => format!("({x:?}_{})", real.text()),
            real => format!("{x:?}_{}", real.text()),
        }
    }

    fn used(&mut self, row: &str) {
        self.uses.insert(row.into());
    }

    /// A size as the program can say it.
    fn size(&mut self, n: usize) -> String {
        let mut ways = Vec::new();
        for var in &self.scope {
            let x = &var.name;
            match &var.kind {
                Kind::Size(value) if *value == n => ways.push((x.clone(), "")),
                Kind::Array(shape) | Kind::Ints(shape) => {
                    let nd = var.stands.ndarray();
                    for (axis, _) in shape.iter().enumerate().filter(|(_, size)| **size == n) {
                        if shape.len() == 1 {
                            ways.push((format!("{x}.len()"), "array.len"));
                        }
                        if !nd {
                            continue;
                        }
                        if shape.len() == 1 {
                            ways.push((format!("{x}.dim()"), "array.dim"));
                            ways.push((format!("{x}.raw_dim()[0]"), "array.raw_dim"));
                        } else {
                            ways.push((format!("{x}.dim().{axis}"), "array.dim"));
                            ways.push((format!("{x}.raw_dim()[{axis}]"), "array.raw_dim"));
                        }
                        if shape.len() == 2 {
                            let (method, row) = [("nrows", "array.nrows"), ("ncols", "array.ncols")][axis];
                            ways.push((format!("{x}.{method}()"), row));
                        }
                        ways.push((format!("{x}.shape()[{axis}]"), "array.shape"));
                        ways.push((format!("{x}.len_of(Axis({axis}))"), "array.len_of"));
                    }
                }
                _ => {}
            }
        }
        if ways.is_empty() || self.rng.chance(8) {
            return n.to_string();
        }
        let (text, row) = self.rng.pick(&ways);
        if !row.is_empty() {
            self.used(row);
        }
        text
    }

    /// An index below n.
    fn index(&mut self, n: usize, depth: usize) -> String {
        let near: Vec<String> =
            self.scope.iter().filter(|v| matches!(v.kind, Kind::Index(m) if m <= n)).map(|v| v.name.clone()).collect();
        match self.rng.below(8) {
            0..5 if !near.is_empty() => self.rng.pick(&near),
            5 => {
                let (e, n) = (self.expr("I", &[], depth.saturating_sub(1)), self.size(n));
                format!("{e} % {n}")
            }
            6 => {
                let (i, size) = (near.first().cloned().unwrap_or_else(|| "0".into()), self.size(n));
                if near.is_empty() { format!("{size} - 1") } else { format!("{size} - 1 - {i}") }
            }
            _ => self.rng.below(n).to_string(),
        }
    }

    fn fits(&self, form: usize, kind: &str) -> bool {
        let form = &self.forms[form];
        form.kind == kind
            && match form.only {
                "d" => self.real == Real::F64,
                "c" => self.real != Real::Param,
                _ => true,
            }
    }

    /// An expression for a hole of a kind.
    fn expr(&mut self, hole: &str, shape: &[usize], depth: usize) -> String {
        // Arrays are asked for in several ways, and made in one.
        let kind = if matches!(hole, "A" | "R" | "X" | "Z" | "O" | "G") {
            "A"
        } else if hole == "M" {
            "N"
        } else {
            hole
        };
        let wanted = self
            .focus
            .filter(|&f| (self.fits(f, kind) || (kind == "P" && self.fits(f, "Q"))) && self.unify(f, shape).is_some());
        if wanted.is_none() {
            let closures = self.scope.iter().filter(|v| v.kind == Kind::Closure).map(|v| v.name.clone());
            let closures: Vec<String> = if kind == "S" && depth > 0 { closures.collect() } else { Vec::new() };
            if !closures.is_empty() && self.rng.chance(20) {
                let (f, x) = (self.rng.pick(&closures), self.expr("S", &[], depth - 1));
                return format!("{f}({x})");
            }
            let leaf = depth == 0 || self.fuel <= 0;
            if (leaf || self.rng.chance(40))
                && let Some(text) = self.variable(hole, shape)
            {
                return text;
            }
            if leaf && let Some(text) = self.leaf(kind, shape) {
                return wrapped(hole, text);
            }
        }
        let form = wanted.or_else(|| {
            let fitting: Vec<usize> = (0..self.forms.len())
                .filter(|&f| self.fits(f, kind) || (kind == "P" && self.fits(f, "Q")))
                .filter(|&f| self.unify(f, shape).is_some())
                .collect();
            (!fitting.is_empty()).then(|| self.rng.pick(&fitting))
        });
        let Some(form) = form else { panic!("no form of {kind} with shape {shape:?}") };
        let dims = self.unify(form, shape).unwrap_or_default();
        let text = self.fill_form(form, dims, depth.saturating_sub(1));
        wrapped(hole, text)
    }

    /// A name in scope in the form that a hole wants.
    fn variable(&mut self, hole: &str, shape: &[usize]) -> Option<String> {
        let of = |var: &Var| -> Option<String> {
            let x = &var.name;
            let nd = var.stands.ndarray();
            Some(match (hole, &var.kind) {
                ("S", Kind::Real) => {
                    if var.stands == Stands::Ref {
                        format!("(*{x})")
                    } else {
                        x.clone()
                    }
                }
                ("I", Kind::Int | Kind::Size(_) | Kind::Index(_)) | ("B", Kind::Bool) => x.clone(),
                ("N", Kind::Ints(s)) if s == shape && nd => format!("{x}.to_owned()"),
                ("M", Kind::Ints(s)) if s == shape => x.clone(),
                ("Z", Kind::Array(s)) if s == shape => x.clone(),
                ("A", Kind::Array(s)) if s == shape && nd => x.clone(),
                ("O", Kind::Array(s)) if s == shape && nd => format!("{x}.to_owned()"),
                ("O", Kind::Array(s)) if s == shape => format!("Array1::from_vec({x}.to_vec())"),
                ("R", Kind::Array(s)) if s == shape && nd => match var.stands {
                    Stands::Ref => x.clone(),
                    Stands::ArrayRef => format!("&{x}.view()"),
                    _ => format!("&{x}"),
                },
                ("X", Kind::Array(s)) | ("G", Kind::Array(s)) if s == shape && (nd || hole == "X") => {
                    match var.stands {
                        Stands::Ref | Stands::ArrayRef | Stands::Slice | Stands::RefVec => x.clone(),
                        _ => format!("&{x}"),
                    }
                }
                _ => return None,
            })
        };
        let found: Vec<String> = self.scope.iter().filter_map(of).collect();
        if found.is_empty() {
            return None;
        }
        let text = self.rng.pick(&found);
        for (part, row) in [
            (".to_owned", "value.to_owned"),
            (".view", "value.view"),
            ("from_vec", "type.from_vec"),
            (".to_vec", "value.to_vec"),
        ] {
            if text.contains(part) {
                self.used(row);
            }
        }
        Some(text)
    }

    fn leaf(&mut self, kind: &str, shape: &[usize]) -> Option<String> {
        Some(match kind {
            "S" => self.typed_literal(),
            "I" => format!("{}_usize", self.rng.below(5)),
            "B" => self.rng.pick(&["true", "false"]).to_string(),
            "A" => {
                self.used("type.from_elem");
                let sizes: Vec<String> = shape.iter().map(|&n| self.size(n)).collect();
                let sizes = if sizes.len() == 1 { sizes[0].clone() } else { format!("[{}]", sizes.join(", ")) };
                let value = self.variable("S", &[]).unwrap_or_else(|| self.typed_literal());
                format!("Array{}::from_elem({sizes}, {value})", shape.len())
            }
            "N" => {
                let n = self.size(*shape.first()?);
                self.used("function.iota");
                format!("iota({n})")
            }
            _ => return None,
        })
    }

    /// The sizes that make a form's type this shape.
    fn unify(&self, form: usize, shape: &[usize]) -> Option<BTreeMap<char, usize>> {
        let patterns = self.forms[form].shape();
        if patterns.len() != shape.len() {
            return None;
        }
        let mut dims = BTreeMap::new();
        for (pattern, &n) in patterns.iter().zip(shape) {
            let mut chars = pattern.chars();
            let letter = chars.next()?;
            let (letter, value) = match (chars.next(), chars.next()) {
                (Some('+'), Some(d)) => (letter, n.checked_sub(d.to_digit(10)? as usize)?),
                (Some('-'), Some(d)) => (letter, n + d.to_digit(10)? as usize),
                (Some('*'), Some(other)) if other.is_ascii_lowercase() => {
                    let divisor = (1..=n).rev().find(|d| n % d == 0 && *d < n).unwrap_or(n);
                    if dims.insert(other, n / divisor).is_some() {
                        return None;
                    }
                    (letter, divisor)
                }
                (Some('*'), Some(d)) => {
                    let d = d.to_digit(10)? as usize;
                    if n % d > 0 {
                        return None;
                    }
                    (letter, n / d)
                }
                _ if letter.is_ascii_digit() => {
                    if letter.to_digit(10)? as usize != n {
                        return None;
                    }
                    continue;
                }
                _ => (letter, n),
            };
            if value == 0 || *dims.entry(letter).or_insert(value) != value {
                return None;
            }
        }
        Some(dims)
    }

    /// A form's text with its holes filled.
    fn fill_form(&mut self, form: usize, mut dims: BTreeMap<char, usize>, depth: usize) -> String {
        if self.focus == Some(form) {
            self.focus = None;
        }
        self.fuel -= 1;
        let Form { text, uses, kind, binds, .. } = self.forms[form];
        for row in uses.split_whitespace() {
            self.used(row);
        }
        let mut names: BTreeMap<char, String> = BTreeMap::new();
        let mut out = String::new();
        let mut chars = text.chars().peekable();
        while let Some(c) = chars.next() {
            match c {
                '{' | '}' if chars.peek() == Some(&c) => {
                    chars.next();
                    out.push(c);
                }
                '{' => {
                    let hole: String = chars.by_ref().take_while(|c| *c != '}').collect();
                    let filled = self.hole(&hole, &mut dims, &mut names, depth);
                    out.push_str(&filled);
                }
                '$' => {
                    let letter = chars.next().unwrap_or('x');
                    let fresh = self.name();
                    out.push_str(names.entry(letter).or_insert(fresh));
                }
                c => out.push(c),
            }
        }
        if kind == "let" {
            for bind in binds.split_whitespace() {
                self.binder(bind, &dims, &names);
            }
            return format!("    {out}\n");
        }
        out
    }

    /// `x:S` a number, `x:&S` a reference to one, `i<n` an index, `r:A:n` a view, `f:F` a closure.
    fn binder(&mut self, text: &str, dims: &BTreeMap<char, usize>, names: &BTreeMap<char, String>) {
        let letter = text.chars().next().unwrap_or('x');
        let Some(name) = names.get(&letter).cloned() else { panic!("no name {letter} for {text}") };
        let shape = |text: &str| -> Vec<usize> {
            text.split(',').map(|d| size_of(d, dims).unwrap_or_else(|| panic!("no size {d} in {text}"))).collect()
        };
        let (kind, stands) = match &text[1..] {
            ":S" => (Kind::Real, Stands::Value),
            ":&S" => (Kind::Real, Stands::Ref),
            ":I" => (Kind::Int, Stands::Value),
            ":B" => (Kind::Bool, Stands::Value),
            ":F" => (Kind::Closure, Stands::Value),
            rest if rest.starts_with('<') => (Kind::Index(shape(&rest[1..])[0]), Stands::Value),
            rest if rest.starts_with('#') => (Kind::Size(shape(&rest[1..])[0]), Stands::Value),
            rest if rest.starts_with(":A:") => (Kind::Array(shape(&rest[3..])), Stands::Value),
            rest if rest.starts_with(":V:") => (Kind::Array(shape(&rest[3..])), Stands::View),
            rest if rest.starts_with(":L:") => (Kind::Array(shape(&rest[3..])), Stands::Vec),
            rest if rest.starts_with(":N:") => (Kind::Ints(shape(&rest[3..])), Stands::Value),
            rest => panic!("no binder {rest}"),
        };
        self.bind(&name, kind, stands);
    }

    fn hole(
        &mut self,
        hole: &str,
        dims: &mut BTreeMap<char, usize>,
        names: &mut BTreeMap<char, String>,
        depth: usize,
    ) -> String {
        if let Some(constant) = hole.strip_prefix('=') {
            return self.constant(constant);
        }
        let (what, binders) = hole.split_once(';').unwrap_or((hole, ""));
        let (kind, sizes) = what.split_once(':').unwrap_or((what, ""));
        if let Some(size) = kind.strip_prefix('#') {
            let n = self.resolve(&[size], dims, false)[0];
            return self.size(n);
        }
        if let Some(size) = kind.strip_prefix("i<") {
            let n = self.resolve(&[size], dims, false)[0];
            return self.index(n, depth);
        }
        match kind {
            "F" => return self.real.text().into(),
            "L" => return self.literal(),
            "K" => return self.typed_literal(),
            _ => {}
        }
        let sizes: Vec<&str> = sizes.split(',').filter(|s| !s.is_empty()).collect();
        let shape = self.resolve(&sizes, dims, matches!(kind, "A" | "R" | "O" | "X" | "Z" | "G"));
        let outer = self.scope.len();
        for bind in binders.split_whitespace() {
            self.binder(bind, dims, names);
        }
        let text = self.expr(kind, &shape, depth);
        self.scope.truncate(outer);
        text
    }

    /// Sizes; letters that are not bound become those of some array in scope.
    fn resolve(&mut self, sizes: &[&str], dims: &mut BTreeMap<char, usize>, array: bool) -> Vec<usize> {
        let free: Vec<usize> = (0..sizes.len())
            .filter(|&k| sizes[k].chars().any(|c| c.is_ascii_lowercase() && !dims.contains_key(&c)))
            .collect();
        if !free.is_empty() {
            let alike: Vec<Vec<usize>> = self
                .scope
                .iter()
                .filter_map(|v| match &v.kind {
                    Kind::Array(s) if array && s.len() == sizes.len() => Some(s.clone()),
                    _ => None,
                })
                .filter(|s| {
                    sizes.iter().zip(s).all(|(d, &n)| d.len() == 1 && size_of(d, dims).is_none_or(|bound| bound == n))
                })
                .collect();
            if self.rng.chance(80) && !alike.is_empty() {
                let shape = self.rng.pick(&alike);
                for (d, n) in sizes.iter().zip(shape) {
                    if let Some(letter) = d.chars().next() {
                        dims.entry(letter).or_insert(n);
                    }
                }
            }
            for d in sizes {
                for c in d.chars().filter(char::is_ascii_lowercase) {
                    let n = self.rng.pick(&self.sizes);
                    dims.entry(c).or_insert(n);
                }
            }
        }
        sizes.iter().map(|d| size_of(d, dims).unwrap_or_else(|| panic!("no size {d}"))).collect()
    }
}

/// `n`, `3`, `n+1`, `n*m`, `n-1`.
fn size_of(text: &str, dims: &BTreeMap<char, usize>) -> Option<usize> {
    let one = |c: char| c.to_digit(10).map(|d| d as usize).or_else(|| dims.get(&c).copied());
    let mut chars = text.chars();
    let first = one(chars.next()?)?;
    Some(match chars.next() {
        Some('+') => first + one(chars.next()?)?,
        Some('-') => first.checked_sub(one(chars.next()?)?)?,
        Some('*') => first * one(chars.next()?)?,
        _ => first,
    })
}

/// What a form makes, as the hole wants it.
fn wrapped(hole: &str, text: String) -> String {
    match hole {
        "R" | "X" | "G" => format!("&({text})"),
        "A" | "Z" | "M" => format!("({text})"),
        _ => text,
    }
}

/// A parameter's type.
pub fn type_text(arg: &Arg, f: &str) -> String {
    let (elem, rank) = match &arg.kind {
        Kind::Array(shape) => (f, shape.len()),
        Kind::Ints(shape) => ("usize", shape.len()),
        Kind::Real => return if arg.stands == Stands::Ref { format!("&{f}") } else { f.into() },
        Kind::Bool => return "bool".into(),
        _ => return "usize".into(),
    };
    let mut out = String::new();
    let _ = match arg.stands {
        Stands::Value => write!(out, "Array{rank}<{elem}>"),
        Stands::Ref => write!(out, "&Array{rank}<{elem}>"),
        Stands::View => write!(out, "ArrayView{rank}<'_, {elem}>"),
        Stands::ArrayRef => write!(out, "&ArrayRef{rank}<{elem}>"),
        Stands::Slice => write!(out, "&[{elem}]"),
        Stands::Vec => write!(out, "Vec<{elem}>"),
        Stands::RefVec => write!(out, "&Vec<{elem}>"),
    };
    out
}
