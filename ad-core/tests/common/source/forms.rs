//! What programs are made of: templates, one line each. A row of the front end's table is in random programs once it has a line here.
//!
//! A line is: what it makes, its text, the rows of the front end's table that it uses, and the real types it is for (`c`: not for
//! a type parameter, `d`: `f64` only). It makes `S` a real number, `I` a `usize`, `B` a boolean, `A:n,m` an owned array, `N:n` an
//! owned array of `usize`, `Q:n` an iterator of numbers that can be reversed, `P:n` any iterator of numbers, or `let` statements
//! that bind names.
//!
//! In the text `{{` and `}}` are braces, `$x` is a name that is made up, and holes are
//!
//! | hole | an expression that is |
//! | --- | --- |
//! | `{S}` `{I}` `{B}` | a number, a `usize`, a boolean |
//! | `{L}` `{K}` | a literal beside something of a known type; one that says its type |
//! | `{F}` | the name of the real type |
//! | `{A:n,m}` | an array to call a method of |
//! | `{R:n}` `{G:n}` | a reference to an `ArrayBase`; to an `ArrayBase` or `ArrayRef` |
//! | `{X:n}` | a reference to an array, slice or vector |
//! | `{Z:n}` | something to index or iterate: an array, slice or vector |
//! | `{O:n}` | an owned array |
//! | `{N:n}` `{M:n}` | an owned array of `usize`; something to index |
//! | `{P:n}` `{Q:n}` | an iterator |
//! | `{i<n}` `{#n}` | an index below n, the size n |
//!
//! Behind a `;` names come into scope: `{S;x:S i<n r:V:m}` (a number, an index, a view; `x:&S` a reference, `n#m` a size).
//! Sizes may be `n+1`, `n-1`, `n*m`, `n*2`; letters that are free are chosen.

use std::collections::BTreeSet;

use ad_core::front::described;

/// A line of the table.
#[derive(Clone, Copy, Debug)]
pub struct Form {
    pub kind: &'static str,
    pub dims: &'static str,
    /// Of a `let`: what it binds.
    pub binds: &'static str,
    pub text: &'static str,
    pub uses: &'static str,
    pub only: &'static str,
}

impl Form {
    pub fn shape(&self) -> Vec<&'static str> {
        self.dims.split(',').filter(|d| !d.is_empty()).collect()
    }
}

/// What it makes, the text, the rows it uses, the real types it is for.
type Line = (&'static str, &'static str, &'static str, &'static str);

/// Every form: the table, and a line for each scalar function of one argument, in its domain.
pub fn forms() -> Vec<Form> {
    let mut lines: Vec<Line> = TABLES.concat();
    for row in described() {
        if row.doc != "elementwise" {
            continue;
        }
        let leak = |text: String| -> &'static str { text.leak() };
        let uses = leak(format!("{}.{}", row.on, row.name));
        let (before, after) = domain(row.name);
        match row.on {
            "real" => lines.push(("S", leak(format!("({before}{{S}}{after}).{}()", row.name)), uses, "")),
            "array" => {
                let text = format!("{{O:n}}.mapv(|$x| {before}$x{after}).{}()", row.name);
                lines.push(("A:n", leak(text), uses, ""));
            }
            "function" => {
                lines.push(("S", leak(format!("{}({before}{{S}}{after})", row.name)), uses, ""));
                let text = format!("{}(&{{O:n}}.mapv(|$x| {before}$x{after}))", row.name);
                lines.push(("A:n", leak(text), uses, ""));
            }
            _ => {}
        }
    }
    let mut seen = BTreeSet::new();
    lines.retain(|line| seen.insert((line.0, line.1)));
    lines
        .into_iter()
        .map(|(ty, text, uses, only)| {
            let (kind, rest) = ty.split_once([':', ' ']).unwrap_or((ty, ""));
            let (dims, binds) = if kind == "let" { ("", rest) } else { (rest, "") };
            Form { kind, dims, binds, text, uses, only }
        })
        .collect()
}

/// What to write around an argument so that the function is tame there.
fn domain(name: &str) -> (&'static str, &'static str) {
    match name {
        "ln" | "ln_1p" | "log2" | "log10" | "sqrt" | "cbrt" | "recip" | "ln_gamma" | "digamma" => {
            ("(", ".powi(2) + {=0.6})")
        }
        "acosh" => ("(", ".powi(2) + {=1.5})"),
        "asin" | "acos" | "atanh" | "tan" | "exp" | "exp2" | "exp_m1" | "sinh" | "cosh" => ("(", ".sin() * {=0.7})"),
        _ => ("", ""),
    }
}

const TABLES: &[&[Line]] =
    &[SCALARS, INTEGERS, LETS, CONSTRUCTION, ELEMENTWISE, REDUCTIONS, PARTS, ITERATORS, CHOICES, LAYOUTS, MORE];

const SCALARS: &[Line] = &[
    ("S", "({S} + {S})", "", ""),
    ("S", "({S} - {S})", "", ""),
    ("S", "({S} * {S})", "", ""),
    ("S", "({S} * {L})", "", ""),
    ("S", "({S} / ({S}.powi(2) + {=0.8}))", "real.powi", ""),
    ("S", "({S} % {=1.7})", "", ""),
    ("S", "(-{S})", "", ""),
    ("S", "{S}.powi({I} as i32 % 4)", "real.powi", ""),
    ("S", "({S}.powi(2) + {=0.7}).powi(-2)", "real.powi", ""),
    ("S", "({S}.abs() + {=0.4}).powf({S}.tanh())", "real.powf real.abs real.tanh", ""),
    ("S", "({S}.abs() + {=0.4}).log({=2.5})", "real.log", ""),
    ("S", "{S}.mul_add({S}, {S})", "real.mul_add", ""),
    ("S", "{S}.clamp({=-1.1}, {=1.3})", "real.clamp", ""),
    ("S", "{S}.max({S})", "real.max", ""),
    ("S", "{S}.min({S})", "real.min", ""),
    ("S", "{S}.hypot({S} + {=0.3})", "real.hypot", ""),
    ("S", "{S}.atan2({S}.abs() + {=0.5})", "real.atan2", ""),
    ("S", "{S}.copysign({S})", "real.copysign", "c"),
    ("S", "{F}::exp({S}.sin())", "real.exp", ""),
    ("S", "{F}::max({S}, {S})", "real.max", ""),
    ("S", "(if {B} {{ {S} }} else {{ {S} }})", "", ""),
    ("S", "(if {S} > {S} {{ {S} }} else if {B} {{ {S} }} else {{ {S} }})", "", ""),
    ("S", "select({B}, {S}, {S})", "function.select", ""),
    ("S", "{{ let $a = {S}; {S;a:S} }}", "", ""),
    ("S", "{{ let ($a, $b) = {S}.sin_cos(); {S;a:S b:S} }}", "real.sin_cos", ""),
    ("S", "({S} * std::f64::consts::FRAC_PI_3)", "", "d"),
    ("S", "({S} + {F}::from({I} as u8))", "type.from", "c"),
    ("S", "({S} * {I} as {F})", "", "c"),
    ("S", "({S} * ({I} % 3) as f32 as f64)", "", "d"),
    ("S", "({S} as f32 as f64)", "", "d"),
    ("S", "({S} - ({S} as i32) as {F})", "", "c"),
    ("S", "{S}.clone()", "value.clone", ""),
    ("S", "[{S}, {S}, {S}][{i<3}]", "", ""),
    ("S", "{Z:n}[{i<n}]", "", ""),
    ("S", "{A:n,m}[[{i<n}, {i<m}]]", "", ""),
    ("S", "{A:n,m,k}[[{i<n}, {i<m}, {i<k}]]", "", ""),
    ("B", "({S} > {S})", "", ""),
    ("B", "({S} <= {S})", "", ""),
    ("B", "({I} != {I})", "", ""),
    ("B", "({I} < {I})", "", ""),
    ("B", "({B} && {B})", "", ""),
    ("B", "({B} || {S} < {S})", "", ""),
    ("B", "(!{B})", "", ""),
    ("B", "({B} == {B})", "", ""),
    ("B", "({B} ^ {B})", "", ""),
    ("B", "{S}.is_nan()", "real.is_nan", ""),
    ("B", "{S}.is_finite()", "real.is_finite", ""),
    ("B", "{S}.is_infinite()", "real.is_infinite", ""),
    ("B", "{Z:n}.is_empty()", "array.is_empty", ""),
];

const INTEGERS: &[Line] = &[
    ("I", "({I} + {I})", "", ""),
    ("I", "({I} * {I} % 7)", "", ""),
    ("I", "({I} + 3 - 2)", "", ""),
    ("I", "({I} / 2)", "", ""),
    ("I", "({I} / ({I} + 1))", "", ""),
    ("I", "{I}.max({I})", "integer.max", ""),
    ("I", "{I}.min({I})", "integer.min", ""),
    ("I", "{I}.clamp(1, 4)", "integer.clamp", ""),
    ("I", "{I}.abs_diff({I})", "integer.abs_diff", ""),
    ("I", "{I}.saturating_sub({I})", "integer.saturating_sub", ""),
    ("I", "(({I} as i64 - 3).abs() as usize)", "integer.abs", ""),
    ("I", "(({I} as i32 - 5).rem_euclid(4) as usize)", "integer.rem_euclid", ""),
    ("I", "(if {B} {{ {I} }} else {{ {I} }})", "", ""),
    ("I", "({S}.abs() as usize % 5)", "", "c"),
    ("I", "{A:n,m}.ndim()", "array.ndim", ""),
    ("I", "{Z:n}.len()", "array.len", ""),
    ("I", "{A:n,m}.len()", "array.len", ""),
    ("I", "{M:n}[{i<n}]", "", ""),
    ("I", "argmax({X:n})", "function.argmax", ""),
    ("I", "argmin({X:n})", "function.argmin", ""),
    ("I", "{P:n}.count()", "iterator.count", ""),
    ("I", "{Q:n}.len()", "iterator.len", ""),
    ("N:n", "iota({#n})", "function.iota", ""),
    ("N:n", "build1({#n}, |$i| {I;i<n} % 6)", "function.build1", ""),
    ("N:n", "{N:n}.mapv(|$a| $a % 3)", "array.mapv", ""),
    ("B", "{Z:n}.iter().all(|&$x| $x < {L})", "iterator.all", ""),
    ("B", "{Z:n}.iter().any(|$x| *$x < {L})", "iterator.any", ""),
];

const LETS: &[Line] = &[
    ("let a:S b:S", "let ($a, $b) = ({S}, {S});", "", ""),
    ("let a:S b:S", "let [$a, $b] = [{S}, {S}];", "", ""),
    ("let a:S b:S", "let ($a, $b) = {S}.sin_cos();", "real.sin_cos", ""),
    ("let a:S b:S", "let ($a, ($b, _)) = ({S}, ({S}, {B}));", "", ""),
    ("let a:S", "let $a: {F} = {S};", "", ""),
    ("let a:S", "let $a = {S}; let $a = {S;a:S};", "", ""),
    ("let a#n b#m", "let ($a, $b) = {A:n,m}.dim();", "array.dim", ""),
    ("let f:F", "let $f = |$x: {F}| {{ let $y = {S;x:S}; {S;x:S y:S} }};", "", ""),
    ("let a:L:3", "let $a: Vec<{F}> = vec![{S}, {S}, {S}];", "", ""),
    ("let a:L:n", "let $a: Vec<{F}> = {P:n}.collect();", "iterator.collect", ""),
    ("let a:A:n", "let $a: Array1<{F}> = {O:n}.into();", "value.into", ""),
];

const CONSTRUCTION: &[Line] = &[
    ("A:n", "build1({#n}, |$i| {S;i<n})", "function.build1", ""),
    ("A:n,m", "build1({#n}, |$i| {O:m;i<n})", "function.build1", ""),
    ("A:n,m,k", "build1({#n}, |$i| {O:m,k;i<n})", "function.build1", ""),
    ("A:n,m", "build([{#n}, {#m}], |[$i, $j]| {S;i<n j<m})", "function.build", ""),
    ("A:n,m,k", "build([{#n}, {#m}, {#k}], |[$i, $j, $k]| {S;i<n j<m k<k})", "function.build", ""),
    ("A:n", "replicate({#n}, {S})", "function.replicate", ""),
    ("A:n,m", "replicate({#n}, {O:m})", "function.replicate", ""),
    ("A:n", "(one_hot::<{F}>({#n}, {i<n}) * {S})", "function.one_hot", ""),
    ("A:n,m", "(Array2::<{F}>::zeros([{#n}, {#m}]) + {S})", "type.zeros", ""),
    ("A:n,m", "(Array2::<{F}>::ones(({#n}, {#m})) * {S})", "type.ones", ""),
    ("A:n,m", "Array2::from_elem(({#n}, {#m}), {S})", "type.from_elem", ""),
    ("A:n", "Array1::from_shape_fn({#n}, |$i| {S;i<n})", "type.from_shape_fn", ""),
    ("A:n,m", "Array2::from_shape_fn(({#n}, {#m}), |($i, $j)| {S;i<n j<m})", "type.from_shape_fn", ""),
    ("A:n", "Array1::from_vec({P:n}.collect())", "type.from_vec iterator.collect", ""),
    ("A:n", "Array1::from({P:n}.collect::<Vec<_>>())", "type.from", ""),
    ("A:2", "array![{S}, {S}]", "", ""),
    ("A:3", "array![{S}, {S}, {S}]", "", ""),
    ("A:2,2", "array![[{S}, {S}], [{S}, {S}]]", "", ""),
    ("A:n", "gather([{#n}], {G:m}, |[$i]| [{i<m}])", "function.gather", ""),
    ("A:n", "gather([{#n}], {G:m,k}, |[$i]| [($i + {I}) % {#m}, {i<k}])", "function.gather", ""),
    ("A:n,m", "gather([{#n}, {#m}], {G:k}, |[$i, $j]| [($i * 2 + $j) % {#k}])", "function.gather", ""),
    ("A:n", "scatter([{#n}], {G:m}, |[$i]| [($i + {I}) % {#n}])", "function.scatter", ""),
    ("A:n", "scatter([{#n}], {G:m,k}, |[$i, $j]| [($i + $j) % {#n}])", "function.scatter", ""),
    ("A:n,m", "scatter([{#n}, {#m}], {G:k}, |[$i]| [$i % {#n}, {i<m}])", "function.scatter", ""),
];

const ELEMENTWISE: &[Line] = &[
    ("A:n", "({O:n} + {R:n})", "", ""),
    ("A:n", "({R:n} - {O:n})", "", ""),
    ("A:n,m", "({O:n,m} * {R:n,m})", "", ""),
    ("A:n,m", "({O:n,m} + {O:m})", "", ""),
    ("A:n,m", "({O:n,m} - {R:m})", "", ""),
    ("A:n,m,k", "({R:n,m,k} * {O:n,m,k})", "", ""),
    ("A:n,m,k", "({O:n,m,k} + {R:m,k})", "", ""),
    ("A:n", "({R:n} * {S})", "", ""),
    ("A:n", "({S} - {R:n})", "", "c"),
    ("A:n,m", "({S} * {R:n,m})", "", "c"),
    ("A:n", "({S} / ({O:n}.powi(2) + {=0.9}))", "array.powi", "c"),
    ("A:n", "({O:n} / ({O:n}.powi(2) + {=0.9}))", "array.powi", ""),
    ("A:n,m", "(-{R:n,m})", "", "c"),
    ("A:n", "(-{O:n})", "", ""),
    ("A:n", "({O:n}.abs() + {=0.5}).powf({=1.5})", "array.abs array.powf", ""),
    ("A:n", "{A:n}.mapv(|$x| {S;x:S})", "array.mapv", ""),
    ("A:n,m", "{A:n,m}.mapv(|$x| {S;x:S})", "array.mapv", ""),
    ("A:n", "{A:n}.map(|&$x| {S;x:S})", "array.map", ""),
    ("A:n,m", "{A:n,m}.map(|$x| {S;x:&S})", "array.map", ""),
    ("A:n", "{O:n}.mapv_into(|$x| {S;x:S})", "array.mapv_into", ""),
    ("A:n", "{A:n}.mapv({F}::sin)", "array.mapv", ""),
    ("A:n", "{O:n}.mapv(sigmoid)", "array.mapv function.sigmoid", ""),
    ("A:n", "{A:n}.view().to_owned()", "value.view value.to_owned", ""),
    ("A:n", "{O:n}.clone()", "value.clone", ""),
    ("A:n,m", "{A:n,m}.t().t().into_owned()", "array.t value.into_owned", ""),
    ("A:n", "(if {B} {{ {O:n} }} else {{ {O:n} }})", "", ""),
    ("A:n,m", "(if {B} {{ {O:n,m} }} else {{ {O:n,m} }})", "", ""),
    ("A:n", "select({B}, {O:n}, {O:n})", "function.select", ""),
    ("A:n", "{{ let $a = {O:n}; {O:n;a:A:n} }}", "", ""),
    ("A:n", "{{ let $f = |$x: {F}| {S;x:S}; {A:n}.mapv($f) }}", "", ""),
];

const REDUCTIONS: &[Line] = &[
    ("S", "{A:n}.sum()", "array.sum", ""),
    ("S", "{A:n,m}.sum()", "array.sum", ""),
    ("S", "sum({X:n})", "function.sum", ""),
    ("S", "sum({X:n,m})", "function.sum", ""),
    ("S", "maximum({X:n})", "function.maximum", ""),
    ("S", "minimum({X:n,m})", "function.minimum", ""),
    ("S", "logsumexp({X:n})", "function.logsumexp", ""),
    ("S", "logsumexp({X:n,m})", "function.logsumexp", ""),
    ("S", "{A:n}.mean().unwrap()", "array.mean Option.unwrap", "c"),
    ("S", "{A:n,m}.mean().expect(\"not empty\")", "array.mean Option.expect", "c"),
    ("S", "{A:n}.dot({R:n})", "array.dot", ""),
    ("A:n", "{A:n,m}.dot({R:m})", "array.dot", ""),
    ("A:m", "{A:n}.dot({R:n,m})", "array.dot", ""),
    ("A:n,k", "{A:n,m}.dot({R:m,k})", "array.dot", ""),
    ("A:n,k", "{A:n,m}.dot(&{A:k,m}.t())", "array.dot array.t", ""),
    ("A:m", "{A:n,m}.sum_axis(Axis(0))", "array.sum_axis", ""),
    ("A:n", "{A:n,m}.sum_axis(Axis(1))", "array.sum_axis", ""),
    ("A:n,k", "{A:n,m,k}.sum_axis(Axis(1))", "array.sum_axis", ""),
    ("A:n", "{A:n,m}.mean_axis(Axis(1)).unwrap()", "array.mean_axis Option.unwrap", "c"),
    ("A:m", "sum_outer({X:n,m})", "function.sum_outer", ""),
    ("S", "sum_outer({X:n})", "function.sum_outer", ""),
];

const PARTS: &[Line] = &[
    ("A:m", "{A:n,m}.row({i<n}).to_owned()", "array.row value.to_owned", ""),
    ("A:n", "{A:n,m}.column({i<m}).to_owned()", "array.column", ""),
    ("A:n,k", "{A:n,m,k}.index_axis(Axis(1), {i<m}).to_owned()", "array.index_axis", ""),
    ("A:n", "{A:n+1}.slice(s![1..]).to_owned()", "array.slice", ""),
    ("A:n", "{A:n+2}.slice(s![1..-1]).to_owned()", "array.slice", ""),
    ("A:n", "{A:n}.slice(s![..;-1]).to_owned()", "array.slice", ""),
    ("A:n,m", "{A:n,m}.slice(s![..;-1, ..]).to_owned()", "array.slice", ""),
    ("A:n", "{A:n*2}.slice(s![..;2]).to_owned()", "array.slice", ""),
    ("A:m", "{{ let $r: Array1<{F}> = {A:n,m}.slice(s![{i<n}, ..]).to_owned(); $r }}", "array.slice", ""),
    ("A:n,m", "{A:n,m+1}.slice(s![.., 1..]).to_owned()", "array.slice", ""),
    (
        "A:n,m",
        "{A:k,m}.select(Axis(0), &build1({#n}, |$i| ($i + {I}) % {#k}).to_vec())",
        "array.select value.to_vec",
        "",
    ),
    ("A:n,m", "{A:m,n}.t().to_owned()", "array.t", ""),
    ("S", "{A:n,m}.row({i<n}).dot(&{A:k,m}.row({i<k}))", "array.row array.dot", ""),
];

const ITERATORS: &[Line] = &[
    ("Q:n", "{Z:n}.iter().copied()", "array.iter iterator.copied", ""),
    ("Q:n", "{Z:n}.iter().cloned()", "array.iter iterator.cloned", ""),
    ("Q:n", "{Z:n}.iter().map(|&$x| {S;x:S})", "array.iter iterator.map", ""),
    ("Q:n", "{Z:n}.iter().map(|$x| {S;x:&S})", "array.iter iterator.map", ""),
    ("P:n*m", "{A:n,m}.iter().copied()", "array.iter", ""),
    ("P:n", "{O:n}.into_iter()", "array.into_iter", ""),
    ("Q:n", "(0..{#n}).map(|$i| {S;i<n})", "iterator.map", ""),
    ("Q:n", "(0..{#n}).into_iter().map(|$i| {S;i<n})", "iterator.into_iter", ""),
    ("P:n", "(1..={#n}).map(|$k| {S;k:I})", "iterator.map", ""),
    ("Q:n", "{Z:n}.iter().zip({Z:n}.iter()).map(|(&$x, $y)| {S;x:S y:&S})", "iterator.zip", ""),
    ("Q:n", "{Z:n}.iter().zip({Q:n+1}).map(|($x, $y)| {S;x:&S y:S})", "iterator.zip", ""),
    ("Q:n", "{Q:n}.enumerate().map(|($i, $x)| {S;i<n x:S})", "iterator.enumerate", ""),
    ("Q:n", "{Q:n}.rev()", "iterator.rev", ""),
    ("Q:n", "{Q:n+1}.skip(1)", "iterator.skip", ""),
    ("Q:n", "{Q:n+2}.take({#n})", "iterator.take", ""),
    ("P:n", "{P:n}.map(|$x| {S;x:S})", "iterator.map", ""),
    ("S", "{P:n}.sum::<{F}>()", "iterator.sum", "c"),
];

/// `match`, `Option`, `Ordering`, and integers that need them.
const CHOICES: &[Line] = &[
    ("S", "(match {I} % 4 {{ 0 => {S}, 1 | 2 => {S}, _ => {S} }})", "", ""),
    ("S", "(match {I} {{ 0..=1 => {S}, $k if $k > 3 => {S;k:I}, _ => {S} }})", "", ""),
    ("S", "(match ({I} % 2, {B}) {{ (0, true) => {S}, (_, false) => {S}, _ => {S} }})", "", ""),
    ("S", "(match {Z:n}.get({I}) {{ Some(&$x) => {S;x:S}, None => {S} }})", "array.get", ""),
    ("S", "(match {I}.cmp(&{I}) {{ std::cmp::Ordering::Less => {S}, _ => {S} }})", "integer.cmp", ""),
    ("S", "(if let Some($x) = {Z:n}.get({I}) {{ {S;x:&S} }} else {{ {S} }})", "array.get", ""),
    ("I", "(match {I} % 3 {{ 0 => {I}, _ => {I} }})", "", ""),
    ("A:n", "(match {I} % 2 {{ 0 => {O:n}, _ => {O:n} }})", "", ""),
    ("S", "{Z:n}.first().copied().unwrap()", "array.first Option.copied", ""),
    ("S", "{Z:n}.last().cloned().unwrap()", "array.last Option.cloned", ""),
    ("S", "{Z:n}.get({I}).copied().unwrap_or({K})", "array.get Option.unwrap_or", ""),
    ("S", "{Z:n}.get({I}).copied().unwrap_or_else(|| {S})", "array.get Option.unwrap_or_else", ""),
    ("S", "{Z:n}.get({I}).map(|$x| {S;x:&S}).unwrap_or({K})", "array.get Option.map", ""),
    ("S", "{Z:n}.get({I}).map_or({S}, |&$x| {S;x:S})", "array.get Option.map_or", ""),
    ("S", "{Z:n}.get({I}).map_or_else(|| {S}, |&$x| {S;x:S})", "array.get Option.map_or_else", ""),
    ("S", "{Z:n}.get({I}).and_then(|&$x| ($x > {L}).then_some($x)).unwrap_or({K})", "Option.and_then", ""),
    ("S", "{B}.then(|| {S}).unwrap_or({S})", "boolean.then", ""),
    ("S", "{B}.then_some({S}).unwrap_or_default()", "boolean.then_some Option.unwrap_or_default", "c"),
    ("S", "{S}.rem_euclid({=1.3})", "real.rem_euclid", "c"),
    ("S", "{S}.div_euclid({=0.7})", "real.div_euclid", "c"),
    ("B", "{S}.is_sign_negative()", "real.is_sign_negative", ""),
    ("B", "{S}.is_sign_positive()", "real.is_sign_positive", ""),
    ("B", "{Z:n}.get({I}).is_some()", "array.get Option.is_some", ""),
    ("B", "{Z:n}.get({I}).is_none()", "array.get Option.is_none", ""),
    ("B", "{I}.cmp(&{I}).is_lt()", "integer.cmp Ordering.is_lt", ""),
    ("B", "{I}.cmp(&{I}).then({I}.cmp(&{I})).is_le()", "integer.cmp Ordering.then Ordering.is_le", ""),
    ("B", "{I}.cmp(&{I}).then_with(|| {I}.cmp(&{I})).is_gt()", "Ordering.then_with Ordering.is_gt", ""),
    ("B", "{I}.partial_cmp(&{I}).unwrap().is_ge()", "integer.partial_cmp Ordering.is_ge", ""),
    ("B", "{S}.partial_cmp(&{S}).unwrap().reverse().is_lt()", "real.partial_cmp Ordering.reverse", ""),
    ("B", "{S}.total_cmp(&{S}).is_gt()", "real.total_cmp", "c"),
    ("B", "{B}.cmp(&{B}).is_eq()", "boolean.cmp Ordering.is_eq", ""),
    ("B", "({I}, {I}).cmp(&({I}, {I})).is_ne()", "tuple.cmp Ordering.is_ne", ""),
    ("B", "{I}.is_power_of_two()", "integer.is_power_of_two", ""),
    ("B", "({I} as i32 - 3).is_positive()", "integer.is_positive", ""),
    ("B", "({I} as i64 - 3).is_negative()", "integer.is_negative", ""),
    ("B", "({B} & {B})", "", ""),
    ("B", "({B} | {B})", "", ""),
    ("I", "({I} & 5)", "", ""),
    ("I", "({I} | 2)", "", ""),
    ("I", "({I} ^ 3)", "", ""),
    ("I", "(({I} << 1) % 9)", "", ""),
    ("I", "({I} >> 1)", "", ""),
    ("I", "(({I} as i32 - 4).unsigned_abs() as usize)", "integer.unsigned_abs", ""),
    ("I", "((({I} as i64 - 4).signum() + 1) as usize)", "integer.signum", ""),
    ("I", "({I} % 4).pow(2)", "integer.pow", ""),
    ("I", "(((({I} % 8) as i32 - 7).div_euclid(3) + 3) as usize)", "integer.div_euclid", ""),
    ("I", "({I}.saturating_add({I}) % 11)", "integer.saturating_add", ""),
    ("I", "({I}.saturating_mul({I}) % 11)", "integer.saturating_mul", ""),
    ("I", "({I}.saturating_pow(2) % 11)", "integer.saturating_pow", ""),
    ("I", "((({I} as u32).wrapping_add(4_294_967_290) % 9) as usize)", "integer.wrapping_add", ""),
    ("I", "((({I} as u8).wrapping_sub(3) % 9) as usize)", "integer.wrapping_sub", ""),
    ("I", "((({I} as i32).wrapping_mul(1_000_000_007)).rem_euclid(9) as usize)", "integer.wrapping_mul", ""),
    ("I", "{I}.checked_add({I}).unwrap()", "integer.checked_add", ""),
    ("I", "{I}.checked_sub({I}).unwrap_or(1)", "integer.checked_sub Option.unwrap_or", ""),
    ("I", "({I} % 9).checked_mul({I} % 9).unwrap()", "integer.checked_mul", ""),
    ("I", "{I}.checked_div({I}).unwrap_or(2)", "integer.checked_div", ""),
    ("I", "{I}.checked_rem({I}).unwrap_or(2)", "integer.checked_rem", ""),
    ("I", "({I} % 5).checked_pow(2).unwrap_or_default()", "integer.checked_pow", ""),
    ("let a:S", "const C: {F} = 0.375; let $a = {S} * C;", "", "c"),
    ("let f:F", "fn g(x: {F}) -> {F} {{ x.sin() + 0.25 }} let $f = |$x: {F}| g($x);", "real.sin", "c"),
];

const LAYOUTS: &[Line] = &[
    ("A:n,m", "{O:m,n}.reversed_axes()", "array.reversed_axes", ""),
    ("A:n,m", "{O:m,n}.permuted_axes([1, 0])", "array.permuted_axes", ""),
    ("A:n,m,k", "{O:k,n,m}.permuted_axes([1, 2, 0])", "array.permuted_axes", ""),
    ("A:n", "{O:n}.insert_axis(Axis(0)).remove_axis(Axis(0))", "array.insert_axis array.remove_axis", ""),
    (
        "A:n,m",
        "build1({#n} * {#m}, |$k| {S;k:I}).into_shape_with_order(({#n}, {#m})).unwrap()",
        "array.into_shape_with_order",
        "",
    ),
    ("A:n,m", "build1({#n} * {#m}, |$k| {S;k:I}).into_shape([{#n}, {#m}]).unwrap()", "array.into_shape", ""),
    ("A:n,m", "{O:n*m}.into_shape_clone(({#n}, {#m})).unwrap()", "array.into_shape_clone", ""),
    ("A:n,m", "{A:n*m}.to_shape(({#n}, {#m})).unwrap().to_owned()", "array.to_shape", ""),
    ("A:n", "{O:n}.into_dimensionality::<ndarray::Ix1>().unwrap()", "array.into_dimensionality", ""),
    ("A:n*m", "{A:n,m}.flatten().to_owned()", "array.flatten", ""),
    ("A:n*m", "{O:n,m}.into_flat()", "array.into_flat", ""),
    (
        "A:n",
        "Array1::from_vec(build1({#n}, |$i| {S;i<n}).into_raw_vec_and_offset().0)",
        "array.into_raw_vec_and_offset",
        "",
    ),
    ("S", "ndarray::arr0({S}).into_scalar()", "ndarray.arr0 array.into_scalar", ""),
    ("S", "ndarray::aview0(&{S}).sum()", "ndarray.aview0", ""),
    ("S", "sum(build1({#n}, |$i| {S;i<n}).as_slice().unwrap())", "value.as_slice", ""),
    ("A:n", "{A:n}.as_standard_layout().to_owned()", "array.as_standard_layout", ""),
    ("A:n", "{A:n}.view().reborrow().to_owned()", "array.reborrow", ""),
    ("A:n,m", "{A:m}.broadcast(({#n}, {#m})).unwrap().to_owned()", "array.broadcast", ""),
    ("A:n,m,k", "{A:m,k}.broadcast([{#n}, {#m}, {#k}]).unwrap().to_owned()", "array.broadcast", ""),
    ("A:n", "{A:n,n}.diag().to_owned()", "array.diag", ""),
    ("A:n", "{O:n,n}.into_diag()", "array.into_diag", ""),
    ("A:n,m", "{A:n,m}.triu(0)", "array.triu", ""),
    ("A:n,m", "{A:n,m}.tril(1)", "array.tril", ""),
    ("A:n", "{A:n+1}.view().split_at(Axis(0), 1).1.to_owned()", "array.split_at", ""),
    ("A:n", "{A:n+1}.diff(1, Axis(0))", "array.diff", ""),
    ("B", "{A:n,m}.is_square()", "array.is_square", ""),
    ("A:2,m", "ndarray::stack(Axis(0), &[{A:m}.view(), {A:m}.view()]).unwrap()", "ndarray.stack", ""),
    ("A:n,2", "ndarray::stack![Axis(1), {A:n}, {A:n}]", "", ""),
    ("A:n*2", "ndarray::concatenate(Axis(0), &[{A:n}.view(), {A:n}.view()]).unwrap()", "ndarray.concatenate", ""),
    ("A:n,m*2", "ndarray::concatenate![Axis(1), {A:n,m}, {A:n,m}]", "", ""),
    ("A:n,m", "{O:k,n,m}.index_axis_move(Axis(0), {i<k})", "array.index_axis_move", ""),
    ("A:n", "{O:n+1}.slice_move(s![1..])", "array.slice_move", ""),
    (
        "A:n",
        "{A:n+1}.slice_axis(Axis(0), ndarray::Slice::from(1..)).to_owned()",
        "array.slice_axis ndarray.Slice::from",
        "",
    ),
    (
        "S",
        "{{ let $v: Vec<{F}> = {P:n+1}.collect(); let ($a, $b) = $v.split_first().unwrap(); *$a * sum($b) }}",
        "array.split_first",
        "",
    ),
    (
        "S",
        "{{ let $v: Vec<{F}> = {P:n+1}.collect(); let ($a, $b) = $v.split_last().unwrap(); *$a * sum($b) }}",
        "array.split_last",
        "",
    ),
];

const MORE: &[Line] = &[
    ("S", "fold({S}, {X:n}, |$a, $x| ({S;a:S x:S}).tanh())", "function.fold", ""),
    ("S", "reduce({K}, {X:n}, |$a, $x| $a.max($x))", "function.reduce", ""),
    ("A:n", "scan({S}, {X:n}, |$a, $x| ({S;a:S x:S}).tanh())", "function.scan", ""),
    ("A:n+1", "scanl({S}, {X:n}, |$a, $x| ({S;a:S x:S}).tanh())", "function.scanl", ""),
    ("A:n+1", "scanr({S}, {X:n}, |$a, $x| ({S;a:S x:S}).tanh())", "function.scanr", ""),
    ("S", "product(&{O:n}.mapv(|$x| $x.tanh()))", "function.product", ""),
    ("S", "{O:n}.mapv(|$x| $x.tanh()).product()", "array.product", ""),
    ("A:m", "{O:n,m}.mapv(|$x| $x.tanh()).product_axis(Axis(0))", "array.product_axis", ""),
    ("S", "{A:n}.fold({S}, |$a, &$x| $a + {S;x:S})", "array.fold", ""),
    ("S", "{P:n}.fold({S}, |$a, $x| ({S;a:S x:S}).tanh())", "iterator.fold", ""),
    ("S", "{P:n}.map(|$x| $x.tanh()).product::<{F}>()", "iterator.product", "c"),
    (
        "S",
        "{{ let mut $a = {S}; let mut $b = {S}; std::mem::swap(&mut $a, &mut $b); let $c = std::mem::replace(&mut $a, {K}); {S;a:S b:S c:S} }}",
        "std::mem.swap std::mem.replace",
        "",
    ),
    ("S", "norm({X:n})", "function.norm", ""),
    ("A:n", "softmax({G:n})", "function.softmax", ""),
    ("A:n,m", "softmax({G:n,m})", "function.softmax", ""),
    ("A:n", "map2({G:n}, {G:n}, |$x, $y| {S;x:S y:S})", "function.map2", ""),
    (
        "A:n",
        "Zip::from({R:n}).and({R:n}).map_collect(|&$x, &$y| {S;x:S y:S})",
        "ndarray.Zip::from `Zip`.and `Zip`.map_collect",
        "",
    ),
    ("A:n", "Zip::indexed({R:n}).map_collect(|$i, &$x| {S;i<n x:S})", "ndarray.Zip::indexed", ""),
    ("A:n,m", "Zip::from({R:n,m}).and_broadcast({R:m}).map_collect(|$x, $y| {S;x:&S y:&S})", "`Zip`.and_broadcast", ""),
    ("I", "Zip::from({R:n,m}).size()", "`Zip`.size", ""),
    ("A:n,n", "(Array2::<{F}>::eye({#n}) * {S})", "type.eye", ""),
    ("A:n,m", "(Array2::<{F}>::default(({#n}, {#m})) + {S})", "type.default", "c"),
    ("A:n,m", "Array2::from_shape_simple_fn(({#n}, {#m}), || {S})", "type.from_shape_simple_fn", ""),
    ("A:n,m", "Array2::from_shape_vec(({#n}, {#m}), {P:n*m}.collect()).unwrap()", "type.from_shape_vec", ""),
    ("A:n,n", "Array2::from_diag(&{O:n})", "type.from_diag", ""),
    ("A:n,n", "Array2::from_diag_elem({#n}, {S})", "type.from_diag_elem", ""),
    ("A:n", "Array1::linspace({S}, {S}, {#n})", "type.linspace", ""),
    ("A:n", "Array1::logspace({=2.0}, {S}.sin(), {S}.sin(), {#n})", "type.logspace", ""),
    ("A:n", "Array1::from_iter({P:n})", "type.from_iter", ""),
    ("A:3", "ndarray::arr1(&[{S}, {S}, {S}])", "ndarray.arr1", ""),
    ("A:2,2", "ndarray::arr2(&[[{S}, {S}], [{S}, {S}]])", "ndarray.arr2", ""),
    ("A:2,2,2", "ndarray::arr3(&[[[{S}, {S}], [{S}, {S}]], [[{S}, {S}], [{S}, {S}]]])", "ndarray.arr3", ""),
    ("A:2", "ndarray::aview1(&[{S}, {S}]).to_owned()", "ndarray.aview1", ""),
    ("A:2,2", "ndarray::aview2(&[[{S}, {S}], [{S}, {S}]]).to_owned()", "ndarray.aview2", ""),
    ("A:n*2,m*2", "ndarray::linalg::kron(&{O:n,m}, &{O:2,2})", "ndarray.kron", ""),
    ("A:n", "{A:n}.pow2()", "array.pow2", ""),
    ("A:n", "({O:n}.abs() + {=0.5}).log({=2.0})", "array.log", ""),
    ("A:n", "{A:n}.abs_sub({S})", "array.abs_sub", ""),
    ("A:n", "{A:n}.clamp({=-1.1}, {=1.2})", "array.clamp", ""),
    ("A:n", "{A:n}.hypot({S} + {=0.3})", "array.hypot", ""),
    ("B", "{A:n}.is_nan().iter().any(|&$b| $b)", "array.is_nan", ""),
    ("B", "{A:n}.is_infinite().iter().any(|&$b| $b)", "array.is_infinite", ""),
    ("B", "{A:n}.is_any_nan()", "array.is_any_nan", ""),
    ("B", "{A:n}.is_any_infinite()", "array.is_any_infinite", ""),
    ("A:n", "{O:n}.mapv_into_any(|$x| {S;x:S})", "array.mapv_into_any", ""),
    ("S", "{A:n}.var({=1.0})", "array.var", "c"),
    ("S", "({O:n} + build1({#n}, |$i| {S} + ($i * $i) as {F})).std({=0.0})", "array.std", "c"),
    ("A:m", "{A:n,m}.var_axis(Axis(0), {=0.0})", "array.var_axis", "c"),
    ("A:n", "({O:n,m} + build1({#m}, |$i| {S} + ($i * $i) as {F})).std_axis(Axis(1), {=1.0})", "array.std_axis", "c"),
    ("A:n", "{A:n,m}.map_axis(Axis(1), |$r| {S;r:V:m})", "array.map_axis", ""),
];
