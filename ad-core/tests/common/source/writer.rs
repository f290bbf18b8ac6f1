//! Writes whole programs: their parameters, statements and results. [`super::fill`] writes the
//! expressions in them.

use std::collections::{BTreeMap, BTreeSet};

use super::super::rng::Rng;
use super::fill::size_of;
use super::forms::Form;
use super::{Arg, Kind, Owned, Real, Source, Stands, Var, type_text};

pub(super) struct Writer<'f> {
    pub(super) forms: &'f [Form],
    pub(super) rng: Rng,
    pub(super) seed: u64,
    pub(super) real: Real,
    pub(super) sizes: [usize; 3],
    pub(super) scope: Vec<Var>,
    pub(super) uses: BTreeSet<String>,
    pub(super) builds_arrays: bool,
    /// The form that still has to occur.
    pub(super) focus: Option<usize>,
    pub(super) fresh: usize,
    pub(super) fuel: i32,
}

impl<'f> Writer<'f> {
    pub(super) fn new(forms: &'f [Form], seed: u64) -> Self {
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
            builds_arrays: false,
            focus: None,
            fresh: 0,
            fuel: 0,
        }
    }

    /// The program with this form in it; of these real numbers, if they are not to be any.
    pub(super) fn program(mut self, focus: usize, real: Option<Real>) -> Source {
        let count = self.forms.len();
        // Three programs test three forms, one for each type.
        let (third, place) = (focus / (count / 3).max(1), focus % (count / 3).max(1));
        // Each form has each type in three rounds.
        let round = (self.seed / count.max(1) as u64) as usize;
        self.real = real.unwrap_or(match (third + place + round) % 3 {
            0 => Real::F64,
            1 => Real::F32,
            _ => Real::Param,
        });
        let args = self.args();
        let mut body = String::new();
        // Two more forms are used, so that a third as many programs cover all forms.
        for focus in [focus, (focus + count / 3) % count, (focus + 2 * count / 3) % count] {
            if self.fits(focus, self.forms[focus].kind) {
                self.focus = Some(focus);
                self.fuel = 8;
                let statement = self.focused(focus);
                body.push_str(&statement);
            }
        }
        for _ in 0..self.rng.below(3) {
            self.fuel = 8;
            let statement = self.statement();
            body.push_str(&statement);
        }
        let owned = match self.rng.below(20) {
            0 => Owned::Vec,
            1 | 2 => Owned::Static,
            _ => Owned::Any,
        };
        let (result, owned, last) = self.last(owned);
        body.push_str(&last);

        let f = self.real.text();
        let generics = if self.real == Real::Param { "<T: Real>" } else { "" };
        let parameters: Vec<String> = args.iter().map(|a| format!("{}: {}", a.name, type_text(a, f))).collect();
        let result_type = match result.len() {
            _ if owned == Owned::Vec => format!("Vec<{f}>"),
            _ if owned == Owned::Static => format!("[{f}; {}]", result[0]),
            0 => f.to_string(),
            rank => format!("Array{rank}<{f}>"),
        };
        let text = format!("fn f{generics}({}) -> {result_type} {{\n{body}}}\n", parameters.join(", "));
        let mut options = vec![if result.is_empty() { "grad" } else { "vjp" }];
        if self.rng.chance(30) {
            options.push("jvp");
        }
        let options = options.join(", ");
        let (uses, builds_arrays) = (self.uses, self.builds_arrays);
        Source { seed: self.seed, real: self.real, options, text, args, result, owned, uses, builds_arrays }
    }

    /// Creates parameters and adds them to the scope.
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
                Stands::Static,
                Stands::RefStatic,
            ];
            let stands = match shape.len() {
                0 => self.rng.pick(&[Stands::Value, Stands::Value, Stands::Ref]),
                1 => self.rng.pick(&all),
                2 if self.rng.chance(15) => self.rng.pick(&all[8..]),
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

    /// A number that is exact in single precision, and not near 0.
    pub(super) fn number(&mut self) -> f64 {
        let x = (self.rng.real() * 256.0).round() / 256.0;
        if x.abs() < 0.1 { x + 0.375 } else { x }
    }

    pub(super) fn name(&mut self) -> String {
        self.fresh += 1;
        format!("v{}", self.fresh)
    }

    pub(super) fn bind(&mut self, name: &str, kind: Kind, stands: Stands) {
        self.scope.push(Var { name: name.into(), kind, stands });
    }

    /// A statement that contains the form under test.
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
            "T" => {
                let text = self.expr("T", &shape, 2);
                let name = self.name();
                self.bind(&name, Kind::Array(shape), Stands::Static);
                format!("    let {name} = {text};\n")
            }
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
    pub(super) fn bound(&mut self, kind: Kind) -> String {
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

    /// The last expression. It uses every name that has been bound.
    fn last(&mut self, owned: Owned) -> (Vec<usize>, Owned, String) {
        let mut parts = Vec::new();
        let scope = self.scope.clone();
        for var in &scope {
            let (x, weight) = (&var.name, self.literal());
            let part = match (&var.kind, var.stands) {
                (Kind::Real, Stands::Ref) => format!("{weight} * *{x}"),
                (Kind::Real, _) => format!("{weight} * {x}"),
                (Kind::Array(shape), Stands::Static | Stands::RefStatic) => {
                    self.used("array.iter");
                    self.used("iterator.fold");
                    let (zero, item) = (self.constant("0.0"), if shape.len() == 1 { "e.sin()" } else { "e[0] * e[1]" });
                    format!("{weight} * {x}.iter().fold({zero}, |a, e| a + {item})")
                }
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
                (Kind::Bool, _) => format!("(if {x} {{ {weight} }} else {{ {} }} * {weight})", self.literal()),
                _ => continue,
            };
            parts.push(part);
        }
        let total = parts.join(" + ");
        let fits = |v: &&Var| match (&v.kind, v.stands, owned) {
            (Kind::Array(shape), Stands::Static, Owned::Static) => shape.len() == 1,
            (Kind::Array(shape), stands, Owned::Vec) => stands.ndarray() && shape.len() == 1,
            (Kind::Array(_), stands, Owned::Any) => stands.ndarray(),
            _ => false,
        };
        let arrays: Vec<&Var> = scope.iter().filter(fits).collect();
        if !arrays.is_empty() && (owned != Owned::Any || self.rng.chance(25)) {
            let Var { name, kind: Kind::Array(shape), .. } = self.rng.pick(&arrays) else {
                return (Vec::new(), Owned::Any, total);
            };
            let rest = self.name();
            let (map, end) = match owned {
                Owned::Static => ("map", ""),
                Owned::Vec => ("mapv", ".to_vec()"),
                Owned::Any => ("mapv", ""),
            };
            let text = format!("    let {rest} = {total};\n    {name}.{map}(|e| e * {rest}){end}\n");
            return (shape.clone(), owned, text);
        }
        if owned == Owned::Vec {
            return (vec![1], owned, format!("    vec![{total}]\n"));
        }
        let early = if self.rng.chance(20) {
            self.fuel = 4;
            let (test, other) = (self.expr("B", &[], 1), self.expr("S", &[], 1));
            format!("    if {test} {{\n        return {other};\n    }}\n")
        } else {
            String::new()
        };
        (Vec::new(), Owned::Any, format!("{early}    {total}\n"))
    }
}
