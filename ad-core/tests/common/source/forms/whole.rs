//! Structs, enums, functions inside of a body, closures as values, and iterators of std.

use super::Line;

/// Structs. Their items are in the body, so they do not name its type parameter.
pub(super) const STRUCTS: &[Line] = &[
    ("let a:S b:S", "struct P$p {{ a: {F}, b: {F} }} let P$p {{ a: $a, b: $b }} = P$p {{ b: {S}, a: {S} }};", "", "c"),
    (
        "let a:S b:A:n",
        "struct P$p {{ v: Array1<{F}>, s: {F} }} let $q = P$p {{ v: {O:n}, s: {S} }}; let ($a, $b) = ($q.s * {S}, $q.v);",
        "",
        "c",
    ),
    (
        "let a:S",
        "#[derive(Clone)] struct P$p {{ x: {F}, y: {F} }} let mut $q = P$p {{ x: {S}, y: {S} }}; $q.x += {S}; \
         let $r = P$p {{ y: {S}, ..$q.clone() }}; $q.y *= $r.x; let $a = ($q.x - $r.y * $q.y).sin();",
        "value.clone real.sin",
        "c",
    ),
    (
        "let a:S b:S",
        "struct P$p {{ x: {F}, v: {F} }} let mut $q = P$p {{ x: {S}, v: {=0.25} }}; \
         for $i in 0..{#n} {{ $q.v -= $q.x * {S;i<n}.sin(); $q.x = ($q.x + $q.v).sin(); }} let ($a, $b) = ($q.x, $q.v.cos());",
        "real.sin real.cos",
        "c",
    ),
    (
        "let a:S",
        "struct P$p {{ x: {F}, w: {F} }} \
         let $l: Vec<P$p> = (0..{#n}).map(|$i| P$p {{ x: {S;i<n}, w: {S;i<n} }}).collect(); \
         let $a = $l.iter().map(|$q| $q.x * $q.w).sum::<{F}>() + $l[{i<n}].x;",
        "iterator.map iterator.collect iterator.sum",
        "c",
    ),
    (
        "let a:S",
        "struct P$p {{ x: [{F}; 2], m: {F} }} \
         let mut $l = vec![P$p {{ x: [{S}, {S}], m: {S} }}, P$p {{ x: [{S}, {S}], m: {S} }}]; \
         for $i in 0..{#n} {{ for $q in $l.iter_mut() {{ $q.x[0] = ($q.x[0] * $q.m + {S;i<n}).sin(); }} \
         $l[$i % 2].x[1] += $l[($i + 1) % 2].x[0]; }} let $a = $l[0].x[1] * $l[1].m;",
        "mutable-array.iter_mut real.sin",
        "c",
    ),
    ("let a:S b:S", "struct W$p({F}, {F}); let $q = W$p({S}, {S}); let W$p($a, $b) = $q;", "", "c"),
    (
        "let a:S",
        "struct A$p<const N: usize> {{ v: [{F}; N] }} \
         impl<const N: usize> A$p<N> {{ fn total(&self, k: {F}) -> {F} {{ self.v.iter().map(|x| x * k).sum() }} }} \
         let $a = A$p {{ v: {T:3} }}.total({S}) + A$p {{ v: {T:2} }}.total({S});",
        "iterator.map iterator.sum",
        "c",
    ),
    (
        "let a:S",
        "struct P$p {{ x: {F}, w: {F} }} impl P$p {{ const SCALE: {F} = 0.5; \
         fn new(x: {F}) -> Self {{ Self {{ x, w: x.sin() }} }} \
         fn energy(&self, k: {F}) -> {F} {{ self.x * self.w + k * Self::SCALE }} \
         fn step(&mut self, h: {F}) {{ self.x += h * self.w; self.w = (self.w - h * self.x).cos(); }} }} \
         let mut $q = P$p::new({S}); for $i in 0..{#n} {{ $q.step({S;i<n}); }} let $a = $q.energy({S}).sin();",
        "real.sin real.cos",
        "c",
    ),
    (
        "let a:S b:A:n",
        "struct I$p {{ v: Array1<{F}>, k: usize }} struct O$p {{ inner: I$p, s: ({F}, {F}) }} \
         let mut $q = O$p {{ inner: I$p {{ v: {O:n}, k: {i<n} }}, s: ({S}, {S}) }}; \
         $q.inner.v[{i<n}] *= $q.s.0; $q.s.1 = $q.inner.v[$q.inner.k]; let ($a, $b) = ($q.s.1, $q.inner.v);",
        "",
        "c",
    ),
    (
        "let a:S",
        "#[derive(Clone, Copy)] struct P$p {{ x: {F}, y: {F} }} \
         impl std::ops::Add for P$p {{ type Output = P$p; fn add(self, o: P$p) -> P$p {{ P$p {{ x: self.x + o.x, y: self.y * o.y }} }} }} \
         let $l = [P$p {{ x: {S}, y: {S} }}, P$p {{ x: {S}, y: {S} }}]; let $q = $l[{i<2}] + $l[1]; let $a = $q.x * $q.y.sin();",
        "real.sin",
        "c",
    ),
];

/// Enums, `Option`s as variables, and patterns.
pub(super) const ENUMS: &[Line] = &[
    (
        "let a:S",
        "enum E$p {{ A({F}), B {{ x: {F}, y: {F} }}, C }} \
         let $q = match {I} % 3 {{ 0 => E$p::A({S}), 1 => E$p::B {{ x: {S}, y: {S} }}, _ => E$p::C }}; \
         let $a = match $q {{ E$p::A($x) if $x > {L} => {S;x:S}, E$p::A($x) => {S;x:S}, E$p::B {{ x: $x, y: $y }} => {S;x:S y:S}, E$p::C => {S} }};",
        "",
        "c",
    ),
    (
        "let a:S",
        "enum E$p {{ Up({F}), Down({F}, usize) }} let mut $q = E$p::Up({S}); \
         for $i in 0..{#n} {{ $q = match $q {{ E$p::Up($x) if $x > {L} => E$p::Down(({S;x:S i<n}).sin(), $i), \
         E$p::Up($x) => E$p::Up(($x + {S;i<n}).cos()), E$p::Down($x, $k) if $k + 1 < $i => E$p::Up($x), \
         E$p::Down($x, $k) => E$p::Down($x * {S;i<n}.sin(), $k) }}; }} \
         let $a = match $q {{ E$p::Up($x) => {S;x:S}, E$p::Down($x, $k) => {S;x:S k:I} }};",
        "real.sin real.cos",
        "c",
    ),
    (
        "let a:S",
        "enum E$p {{ Circle({F}), Box([{F}; 2]) }} \
         impl E$p {{ fn area(&self) -> {F} {{ match self {{ E$p::Circle(r) => r * r * 3.0, E$p::Box([a, b]) => a * b }} }} }} \
         let $l = [E$p::Circle({S}), E$p::Box([{S}, {S}]), if {B} {{ E$p::Circle({S}) }} else {{ E$p::Box([{S}, {S}]) }}]; \
         let $a = $l.iter().map(|$q| $q.area()).sum::<{F}>() * $l[{i<3}].area().sin();",
        "iterator.map iterator.sum real.sin",
        "c",
    ),
    (
        "let a:S",
        "let mut $o: Option<{F}> = None; for $i in 0..{#n} {{ $o = match $o {{ None if {B} => Some({S;i<n}), None => None, \
         Some($x) => Some(($x * {S;i<n}).sin()) }}; }} let $a = $o.map_or({S}, |$x| {S;x:S});",
        "Option.map_or real.sin",
        "",
    ),
    (
        "let a:S",
        "let mut $s = {S}; for $i in 0..{#n} {{ let Some(&$x) = {Z:n}.get($i + 1) else {{ continue }}; $s = ($s + {S;x:S i<n}).sin(); }} let $a = $s;",
        "array.get real.sin",
        "",
    ),
    ("B", "matches!({I} % 4, 1 | 3)", "", ""),
    ("B", "matches!({Z:n}.get({I}), Some($x) if *$x > {L})", "array.get", ""),
    (
        "let a:S",
        "let $a = {{ let $o = {Z:n}.get({I}).copied(); if let Some($x) = $o && $x < {L} {{ {S;x:S} }} else {{ {S} }} }};",
        "array.get Option.copied",
        "",
    ),
    (
        "let a:S",
        "let $a = match {T:3} {{ [$x, $y, _] if $x < $y => {S;x:S y:S}, [_, $r @ ..] => $r[{i<2}] * {S} }};",
        "",
        "",
    ),
];

/// Functions inside of the body.
pub(super) const FUNCTIONS: &[Line] = &[
    (
        "let a:S b:S",
        "fn h$p(x: {F}, n: usize) -> ({F}, {F}) {{ if n % 2 == 0 {{ (x, x.cos()) }} else {{ (x.sin(), x * x) }} }} \
         let ($a, $c) = h$p({S}, {I}); let $b = h$p($c, {I}).1;",
        "real.sin real.cos",
        "c",
    ),
    (
        "let a:S",
        "fn h$p(f: impl Fn({F}) -> {F}, x: {F}) -> {F} {{ f(f(x).sin()) }} let $a = h$p(|$x| {S;x:S}, {S});",
        "real.sin",
        "c",
    ),
    (
        "let f:F",
        "fn h$p<K: Fn({F}) -> {F}>(k: K, x: {F}) -> {F} {{ k(x) * k(x.sin()) }} let $f = |$x: {F}| h$p(|$y| {S;x:S y:S}, $x);",
        "real.sin",
        "c",
    ),
    (
        "let a:L:3",
        "fn h$p(v: &mut [{F}], k: {F}) {{ for i in 1..v.len() {{ v[i] = (v[i] + v[i - 1] * k).sin(); }} v[0] *= k; }} \
         let mut $a = vec![{S}, {S}, {S}]; h$p(&mut $a, {S}); h$p(&mut $a[1..], {S});",
        "real.sin",
        "c",
    ),
    (
        "let a:T:3",
        "fn h$p(v: &mut [{F}]) {{ for x in v.iter_mut() {{ *x = x.cos() * 0.5; }} }} let mut $a = {T:3}; h$p(&mut $a[..2]);",
        "real.cos mutable-array.iter_mut",
        "c",
    ),
    (
        "let a:S",
        "fn h$p(v: &[{F}]) -> {F} {{ match v {{ [] => 0.25, [x] => x.sin(), [x, rest @ .., y] => x * y + rest.iter().sum::<{F}>() }} }} \
         let $a = h$p(&{T:3}).sin() + h$p(&{T:2});",
        "iterator.sum real.sin",
        "c",
    ),
    (
        "let f:F",
        "fn h$p(k: {F}) -> impl Fn({F}) -> {F} {{ move |x| (x * k).sin() }} let $f = h$p({S});",
        "real.sin",
        "c",
    ),
    (
        "let a:A:n",
        "fn h$p(v: &Array1<{F}>, k: {F}) -> Array1<{F}> {{ if v.len() > 2 {{ v * k }} else {{ v.mapv(|x| x - k) }} }} \
         let $a = h$p(&h$p(&{O:n}, {S}), {S});",
        "array.len array.mapv",
        "c",
    ),
];

/// Closures as values.
pub(super) const CLOSURES: &[Line] = &[
    ("let f:F", "let $f: &dyn Fn({F}) -> {F} = if {B} {{ &|$x| {S;x:S} }} else {{ &|$x| {S;x:S} }};", "", ""),
    (
        "let f:F",
        "let $f: Box<dyn Fn({F}) -> {F}> = match {I} % 3 {{ 0 => Box::new(|$x| {S;x:S}), 1 => Box::new(|$x| $x), _ => Box::new(|$x| {S;x:S}) }};",
        "function-of-std.Box::new",
        "",
    ),
    (
        "let a:S",
        "let $f: [&dyn Fn({F}) -> {F}; 2] = [&|$x| {S;x:S}, &|$x| {S;x:S}]; let $a = $f[{i<2}]({S}) * $f[1]({S});",
        "",
        "",
    ),
    (
        "let a:S",
        "let $f: fn({F}, {F}) -> {F} = if {B} {{ {F}::max }} else {{ {F}::hypot }}; let $a = $f({S}, {S} + {=0.3});",
        "real.max real.hypot",
        "c",
    ),
    ("let f:F", "let $f: fn({F}) -> {F} = if {B} {{ {F}::sin }} else {{ {F}::cos }};", "real.sin real.cos", "c"),
    (
        "let a:S",
        "let mut $s = {S}; let mut $g = |$x: {F}| {{ $s = ($s * $x + {S;x:S}).sin(); $s }}; \
         let $b = $g({S}); let $c = $g({S}); let $a = $b * $c + $s;",
        "real.sin",
        "",
    ),
    ("let a:S", "let $t = (|$x: {F}| {S;x:S}, {S}); let $a = ($t.0)({S}) * $t.1 + ($t.0)($t.1);", "", ""),
    (
        "let f:F",
        "let $k = {S}; let $g = move |$y: {F}| move |$x: {F}| ($x * $y + $k).sin(); let $f = $g({S});",
        "real.sin",
        "",
    ),
    (
        "let a:S",
        "let $o = if {B} {{ Some(|$x: {F}| {S;x:S}) }} else {{ None }}; let $a = match $o {{ Some($f) => $f({S}), None => {S} }};",
        "",
        "",
    ),
    (
        "let a:S",
        "let mut $s = {S}; for $i in 0..{#n} {{ let $f = |$x: {F}| $x * $s + {S;x:S i<n}; $s = $f($f({S}).sin()).sin(); }} let $a = $s;",
        "real.sin",
        "",
    ),
];

/// Iterators of std's own functions.
pub(super) const ITERATORS: &[Line] = &[
    ("P:1", "std::iter::once({S})", "function-of-std.once", ""),
    ("P:n", "std::iter::repeat({S}).take({#n})", "function-of-std.repeat iterator.take", ""),
    ("P:n", "std::iter::repeat_n({S}, {#n})", "function-of-std.repeat_n", ""),
    ("P:n", "std::iter::zip({P:n}, {P:n}).map(|($a, $b)| {S;a:S b:S})", "function-of-std.zip iterator.map", ""),
    ("S", "vec![{S}, {S}, {S}].chunks_exact(2).remainder()[0]", "iterator.remainder array.chunks_exact", ""),
];
