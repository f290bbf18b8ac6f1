//! Fills the holes of forms with expressions: names in scope, leaves, or other forms.

use std::collections::BTreeMap;

use super::forms::Form;
use super::writer::Writer;
use super::{Kind, Real, Stands, Var};

impl Writer<'_> {
    /// A literal next to a value of a known type.
    pub(super) fn literal(&mut self) -> String {
        let x = self.number();
        let x = if x < 0.0 { format!("({x:?})") } else { format!("{x:?}") };
        if self.real == Real::Param {
            self.used("type.lit");
            format!("T::lit({x})")
        } else {
            x
        }
    }

    pub(super) fn constant(&mut self, x: &str) -> String {
        if self.real == Real::Param {
            self.used("type.lit");
            format!("T::lit({x})")
        } else {
            format!("({x} as {})", self.real.text())
        }
    }

    /// A literal with a suffix.
    pub(super) fn typed_literal(&mut self) -> String {
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

    pub(super) fn used(&mut self, row: &str) {
        self.uses.insert(row.into());
    }

    /// The source text of a size.
    pub(super) fn size(&mut self, n: usize) -> String {
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
            // The index of such a range is used only in methods, which do not determine its integer
            // type.
            return format!("{n}_usize");
        }
        let (text, row) = self.rng.pick(&ways);
        if !row.is_empty() {
            self.used(row);
        }
        text
    }

    /// An index below n.
    pub(super) fn index(&mut self, n: usize, depth: usize) -> String {
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

    pub(super) fn fits(&self, form: usize, kind: &str) -> bool {
        let form = &self.forms[form];
        form.kind == kind
            && match form.only {
                "p" => self.real == Real::Param,
                "d" => self.real == Real::F64,
                "c" => self.real != Real::Param,
                _ => true,
            }
    }

    /// An expression for a hole of a kind.
    pub(super) fn expr(&mut self, hole: &str, shape: &[usize], depth: usize) -> String {
        // There are several kinds of holes for arrays, and one kind of form that makes them.
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

    /// A name in scope in the form that a hole requires.
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
                ("T", Kind::Array(s)) if s == shape && var.stands.fixed() => {
                    if var.stands == Stands::RefStatic {
                        format!("(*{x})")
                    } else {
                        x.clone()
                    }
                }
                (_, Kind::Array(s)) if s.len() > 1 && var.stands.fixed() => return None,
                ("Z", Kind::Array(s)) if s == shape => x.clone(),
                ("A", Kind::Array(s)) if s == shape && nd => x.clone(),
                ("O", Kind::Array(s)) if s == shape && nd => format!("{x}.to_owned()"),
                ("O", Kind::Array(s)) if s == shape => format!("Array1::from_vec({x}.to_vec())"),
                ("R", Kind::Array(s)) if s == shape && nd => match var.stands {
                    Stands::Ref => x.clone(),
                    Stands::ArrayRef => format!("&{x}.view()"),
                    _ => format!("&{x}"),
                },
                ("X", Kind::Array(s)) | ("G", Kind::Array(s))
                    if s == shape && (nd || hole == "X" && !var.stands.fixed()) =>
                {
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
            "T" => shape.iter().rev().fold(self.typed_literal(), |of, n| format!("[{of}; {n}]")),
            "N" => {
                let [n] = *shape else { return None };
                let n = self.size(n);
                self.used("function.iota");
                format!("iota({n})")
            }
            _ => return None,
        })
    }

    /// The sizes for which a form's type has this shape.
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
    pub(super) fn fill_form(&mut self, form: usize, mut dims: BTreeMap<char, usize>, depth: usize) -> String {
        if self.focus == Some(form) {
            self.focus = None;
        }
        self.fuel -= 1;
        let Form { text, uses, kind, dims: rank, binds, .. } = self.forms[form];
        self.builds_arrays |= text.starts_with("build1(") && uses == "function.build1" && rank.contains(',');
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
            rest if rest.starts_with(":W:") => (Kind::Array(shape(&rest[3..])), Stands::Slice),
            rest if rest.starts_with(":T:") => (Kind::Array(shape(&rest[3..])), Stands::Static),
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
        if let Some(size) = kind.strip_prefix('!') {
            return self.resolve(&[size], dims, false)[0].to_string();
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

    /// Binds sizes. Unbound letters get the sizes of an array in scope.
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
pub(super) fn size_of(text: &str, dims: &BTreeMap<char, usize>) -> Option<usize> {
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

/// The value of a form as the hole requires it.
fn wrapped(hole: &str, text: String) -> String {
    match hole {
        "R" | "X" | "G" => format!("&({text})"),
        "A" | "Z" | "M" => format!("({text})"),
        _ => text,
    }
}
