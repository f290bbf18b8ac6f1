//! Iterators: sources, adapters, consumers.

use super::Line;

pub(super) const ITERATORS: &[Line] = &[
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

pub(super) const SOURCES: &[Line] = &[
    ("Q:n", "{A:n,m}.outer_iter().map(|$r| {S;r:V:m})", "array.outer_iter", ""),
    ("Q:n", "{A:n,m,k}.outer_iter().map(|$r| {S;r:V:m,k})", "array.outer_iter", ""),
    ("Q:m", "{A:n,m}.axis_iter(Axis(1)).map(|$r| {S;r:V:n})", "array.axis_iter", ""),
    ("P:n", "{A:n,m}.rows().into_iter().map(|$r| {S;r:V:m})", "array.rows iterator.into_iter", ""),
    ("P:m", "{A:n,m}.columns().into_iter().map(|$r| {S;r:V:n})", "array.columns iterator.into_iter", ""),
    ("P:m", "{A:n,m}.lanes(Axis(0)).into_iter().map(|$r| {S;r:V:n})", "array.lanes iterator.into_iter", ""),
    ("P:n*m", "{A:n,m}.indexed_iter().map(|(($i, $j), $x)| {S;i<n j<m x:&S})", "array.indexed_iter", ""),
    ("P:n", "{A:n}.indexed_iter().map(|($i, &$x)| {S;i<n x:S})", "array.indexed_iter", ""),
    ("P:n", "{A:n+1}.windows(2).into_iter().map(|$w| {S;w:V:2})", "array.windows", ""),
    ("P:n", "{A:n*2}.exact_chunks(2).into_iter().map(|$w| {S;w:V:2})", "array.exact_chunks", ""),
    (
        "A:n",
        "{{ let $v: Vec<{F}> = {P:n+2}.collect(); Array1::from_vec($v.windows(3).map(|$w| {S;w:W:3}).collect()) }}",
        "array.windows iterator.collect type.from_vec",
        "",
    ),
    (
        "S",
        "{{ let $v: Vec<{F}> = {P:n*2}.collect(); $v.chunks_exact(2).map(|$w| {S;w:W:2}).fold({S}, |$a, $x| $a - $x) }}",
        "array.chunks_exact iterator.fold",
        "",
    ),
    ("P:n", "std::iter::repeat({S}).take({#n})", "function-of-std.repeat iterator.take", ""),
    ("Q:n", "std::iter::repeat_n({S}, {#n})", "function-of-std.repeat_n", ""),
    ("P:n+1", "std::iter::once({S}).chain({P:n})", "function-of-std.once iterator.chain", ""),
    ("P:n+1", "{P:n}.chain(std::iter::once({S}))", "function-of-std.once iterator.chain", ""),
    ("P:n", "{P:n}.zip(1..).map(|($x, $k)| {S;x:S k:I})", "iterator.zip", ""),
    ("Q:n", "{T:n}.iter().map(|&$x| {S;x:S})", "array.iter", ""),
    ("P:n", "{T:n}.into_iter()", "array.into_iter", ""),
];

pub(super) const ADAPTERS: &[Line] = &[
    ("I", "{P:n}.by_ref().count()", "iterator.by_ref", ""),
    ("Q:n", "{Q:n*2}.step_by(2)", "iterator.step_by", ""),
    ("P:n", "{P:n*2}.skip(1).step_by(2)", "iterator.step_by iterator.skip", ""),
    ("S", "{P:n}.filter(|$x| {B;x:&S}).fold({S}, |$a, $x| {S;a:S x:S}.tanh())", "iterator.filter iterator.fold", ""),
    ("S", "{P:n}.filter(|$x| *$x > {L}).map(|$x| {S;x:S}).sum::<{F}>()", "iterator.filter iterator.sum", "c"),
    ("I", "(0..{#n}).filter(|&$i| {B;i<n}).count()", "iterator.filter iterator.count", ""),
    (
        "S",
        "{P:n}.filter_map(|$x| if $x > {L} {{ Some({S;x:S}) }} else {{ None }}).fold({S}, |$a, $x| $a + $x)",
        "iterator.filter_map iterator.fold",
        "",
    ),
    (
        "P:n*m",
        "(0..{#n}).flat_map(|$i| (0..{#m}).map(move |$j| ($i, $j))).map(|($i, $j)| {S;i<n j<m})",
        "iterator.flat_map",
        "",
    ),
    ("P:n*m", "(0..{#n}).flat_map(|$i| {O:m;i<n})", "iterator.flat_map", ""),
    ("P:n*m", "(0..{#n}).map(|$i| {O:m;i<n}).flatten()", "iterator.flatten", ""),
    (
        "S",
        "(0..{#n}).flat_map(|$i| (0..$i).map(move |$j| ($i, $j))).map(|($i, $j)| {S;i<n j<n}).sum::<{F}>()",
        "iterator.flat_map iterator.sum",
        "c",
    ),
    (
        "S",
        "(0..{#n}).map(|$i| (0..$i).fold({S;i<n}, |$b, $j| $b * {L} - {S;i<n j<n})).sum::<{F}>()",
        "iterator.fold iterator.sum",
        "c",
    ),
];

pub(super) const CONSUMERS: &[Line] = &[
    ("B", "({I}..{I}).is_empty()", "iterator.is_empty", ""),
    (
        "let a:L:n b:L:n",
        "let ($a, $b): (Vec<{F}>, Vec<{F}>) = {P:n}.map(|$x| ({S;x:S}, {S;x:S})).unzip();",
        "iterator.unzip",
        "",
    ),
    ("I", "(0..{#n}).map(|$i| {I;i<n}).max().unwrap_or(2)", "iterator.max Option.unwrap_or", ""),
    ("I", "{M:n}.iter().copied().min().unwrap_or(1)", "iterator.min", ""),
    ("S", "{P:n}.max_by(|$a, $b| $a.total_cmp($b)).unwrap()", "iterator.max_by real.total_cmp", "c"),
    ("S", "{P:n}.min_by(|$a, $b| $b.partial_cmp($a).unwrap()).unwrap_or({K})", "iterator.min_by real.partial_cmp", ""),
    (
        "I",
        "{Z:n}.iter().enumerate().min_by(|$a, $b| $a.1.partial_cmp($b.1).unwrap()).map_or(1, |($i, _)| $i)",
        "iterator.min_by real.partial_cmp",
        "",
    ),
    (
        "S",
        "{Z:n}.iter().copied().filter(|$x| {B;x:&S}).max_by(|$a, $b| $a.partial_cmp($b).unwrap()).unwrap_or({K})",
        "iterator.max_by iterator.filter",
        "c",
    ),
    ("S", "(0..{#n}).max_by_key(|&$i| {I;i<n}).map_or({S}, |$k| {S;k<n})", "iterator.max_by_key Option.map_or", ""),
    ("I", "{P:n}.enumerate().min_by_key(|($i, _)| ($i % 2, *$i)).map_or(0, |$a| $a.0)", "iterator.min_by_key", ""),
    ("S", "{P:n}.last().unwrap()", "iterator.last", ""),
    ("S", "{P:n}.nth({I} % 3).unwrap_or({K})", "iterator.nth Option.unwrap_or", ""),
    ("I", "{P:n}.position(|$x| {B;x:S}).unwrap_or(1)", "iterator.position", ""),
    ("S", "{P:n}.find(|$x| {B;x:&S}).unwrap_or({K})", "iterator.find", ""),
];
