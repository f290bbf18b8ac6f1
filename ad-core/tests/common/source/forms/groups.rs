//! Loops and iterators whose ends tables of integers or enclosing loops decide: groups of elements,
//! with conditions on the number of the step, counters and early ends.

use super::Line;

/// Statements: a loop over groups in a loop.
pub(super) const GROUPS: &[Line] = &[
    (
        "let a:S",
        "let $g = {N:n}; let $v = {O:3}; let mut $a = {S}; for $i in 0..{#n} {{ for $k in 0..$g[$i] {{ if $k < 3 {{ $a += $v[$k] * {S;i<n k<3}; }} else {{ $a += {S;i<n k:I}.sin(); }} }} }}",
        "real.sin",
        "",
    ),
    (
        "let a:S",
        "let $v = {O:m}; let $g = {N:n+1}.mapv(|$q| $q % ($v.len() + 1)); let mut $a = {S}; for $i in 0..{#n} {{ let mut $b = {S;i<n}; for $k in $g[$i]..$g[$i + 1] {{ $b = ({S;b:S i<n k<m} * $v[$k]).sin(); }} $a += $b; }}",
        "array.mapv array.len real.sin",
        "",
    ),
    (
        "let a:S",
        "let $v = {O:m}; let $g = {N:n}.mapv(|$q| $q % ($v.len() + 1)); let mut $a = {S}; for $i in 0..{#n} {{ let mut $b = {S;i<n}; for $k in 0..$g[$i] {{ if {B;b:S i<n k<m} {{ break; }} $b = ({S;b:S k<m} + $v[$k]).sin(); }} $a += $b * {S;i<n}; }}",
        "array.mapv array.len real.sin",
        "",
    ),
    (
        "let a:S",
        "let $v = {O:m}; let $g = {N:n}.mapv(|$q| $q % ($v.len() + 1)); let $h = {N:k+1}.mapv(|$q| $q % ($g.len() + 1)); let mut $a = {S}; for $i in 0..{#k} {{ for $j in $h[$i]..$h[$i + 1] {{ for $k in 0..$g[$j] {{ if {B;i<k j<n k<m} {{ $a += $v[$k] * {S;i<k j<n k<m}; }} }} }} }}",
        "array.mapv array.len",
        "",
    ),
    (
        "let a:S",
        "let $v = {O:m}; let $g = {N:n}; let mut $a = {S}; let mut $p = 0; for $i in 0..{#n} {{ for $k in 0..$g[$i] {{ if {B;i<n k:I} {{ $a = ($a + $v[$p % $v.len()] * {S;p:I}).sin(); $p += 1; }} }} }}",
        "array.len real.sin",
        "",
    ),
    (
        "let a:S",
        "let $v = {O:m}; let $g = {N:n}; let mut $a = {S}; let mut $p = 0; for $i in 0..{#n} {{ let $e = ($p + $g[$i]).min($v.len()); let mut $b = {S;i<n}; for $k in $p..$e {{ $b += $v[$k] * {S;i<n k<m}; }} $a += $b.sin(); $p = $e; }}",
        "integer.min array.len real.sin",
        "",
    ),
    (
        "let a:S",
        "let $v = {O:m}; let $g = {N:n}.mapv(|$q| $q % ($v.len() + 1)); let mut $a = {S}; for $i in 0..{#n} {{ let mut $k = $g[$i]; let mut $b = {S;i<n}; while $k < $v.len() && {B;b:S i<n k<m} {{ $b = ({S;b:S i<n k<m} + $v[$k]).sin(); $k += 1; }} $a += $b * ($k as {F}); }}",
        "array.mapv array.len real.sin",
        "c",
    ),
    (
        "let a:A:m",
        "let mut $a = {O:m}; let $g = {N:n}.mapv(|$q| $q % ($a.len() + 1)); for $i in 0..{#n} {{ for $k in 0..$g[$i] {{ let $s = {S;i<n k<m}; $a[$k] += $s; }} }}",
        "array.mapv array.len",
        "",
    ),
    (
        "let a:A:m",
        "let mut $a = {O:m}; let $g = {N:n}.mapv(|$q| $q % $a.len()); for $i in 0..{#n} {{ for $k in 1..=$g[$i] {{ let $s = $a[$k - 1] * {S;i<n k<m}; $a[$k] = $s.sin(); }} }}",
        "array.mapv array.len real.sin",
        "",
    ),
    (
        "let a:A:n,m",
        "let mut $a = {O:n,m}; let $g = {N:n}.mapv(|$q| $q % ($a.ncols() + 1)); for $i in 1..{#n} {{ for $k in 0..$g[$i] {{ if $k > 0 {{ let $s = $a[[$i - 1, $k - 1]].sin(); $a[[$i, $k]] += $s * {S;i<n k<m}; }} }} }}",
        "array.mapv array.ncols real.sin",
        "",
    ),
    (
        "let a:S",
        "let $v = {O:m}; let $g = {N:n}.mapv(|$q| $q % ($v.len() + 1)); let mut $a = {S}; for $i in 0..{#n} {{ let mut $l = Vec::new(); for $k in 0..$g[$i] {{ let $s = $v[$k]; if {B;i<n k<m s:S} {{ $l.push({S;i<n k<m s:S}); }} }} for $x in &$l {{ $a = ({S;a:S x:&S i<n}).sin(); }} $a += $l.len() as {F}; }}",
        "type.new mutable-array.push array.mapv array.len real.sin",
        "c",
    ),
    (
        "let a:S",
        "let $v = {O:m}; let $g = {N:n}.mapv(|$q| $q % ($v.len() + 1)); let mut $a = {S}; '$l: for $i in 0..{#n} {{ for $k in 0..$g[$i] {{ if {B;a:S i<n k<m} {{ continue '$l; }} $a = ($v[$k] * {S;a:S i<n k<m}).sin(); }} $a += {S;i<n}; }}",
        "array.mapv array.len real.sin",
        "",
    ),
    (
        "let a:S",
        "let $v = {O:m}; let $g = {N:n}.mapv(|$q| $q % $v.len()); let mut $a = {S}; for $i in 0..{#n} {{ let mut $b = $v[$g[$i]]; let mut $j = $g[$i]; for $k in $g[$i] + 1..$v.len() {{ if $v[$k] > $b {{ $b = $v[$k]; $j = $k; }} }} $a += $b * {S;i<n} + $v[$j].sin(); }}",
        "array.mapv array.len real.sin",
        "",
    ),
    (
        "let a:S",
        "let $v = {O:n}; let $g = {N:n}; let mut $a = {S}; for $i in 0..{#n} {{ for $k in $i.saturating_sub($g[$i])..($i + $g[$i] + 1).min($v.len()) {{ if $k != $i {{ $a += ($v[$i] - $v[$k]).powi(2) * {S;i<n k<n}; }} }} }}",
        "integer.saturating_sub integer.min array.len real.powi",
        "",
    ),
    (
        "let a:S",
        "let $v = {O:k}; let $t = {N:m}.mapv(|$q| $q % $v.len()); let $g = {N:n+1}.mapv(|$q| $q % ($t.len() + 1)); let mut $a = {S}; for $i in 0..{#n} {{ for $p in $g[$i]..$g[$i + 1] {{ $a += $v[$t[$p]] * {S;i<n p<m}; }} }}",
        "array.mapv array.len",
        "",
    ),
    (
        "let a:A:n",
        "let $v = {O:m}; let $g = {N:n}.mapv(|$q| $q % ($v.len() + 1)); let $a = build1({#n}, |$i| {{ let mut $b = {S;i<n}; for $k in 0..$g[$i] {{ if $k < 2 {{ $b += $v[$k]; }} else {{ $b *= {S;i<n k<m}; }} }} $b }});",
        "function.build1 array.mapv array.len",
        "",
    ),
    (
        "let a:S",
        "let $v = {O:n,m}; let $g = {N:n}.mapv(|$q| $q % ($v.ncols() + 1)); let mut $a = {S}; for $i in 0..{#n} {{ for $k in (0..$g[$i]).rev() {{ $a = ($v[[$i, $k]] + {S;a:S i<n k<m}).sin(); }} }}",
        "array.mapv array.ncols real.sin",
        "",
    ),
];

/// Expressions: a group whose ends any index decides.
pub(super) const ITERATED: &[Line] = &[
    (
        "S",
        "{{ let $v = {O:m}; let mut $a = {S}; for $k in 0_usize.max({i<m})..{i<m} {{ $a = ({S;a:S k<m} * $v[$k]).sin(); }} $a }}",
        "real.sin",
        "",
    ),
    (
        "S",
        "{{ let $v = {O:m}; let mut $a = {S}; for $k in 0..{M:n}[{i<n}] {{ if $k < $v.len() {{ $a += $v[$k] * {S;k<m}; }} else {{ $a = ({S;a:S k:I}).sin(); }} }} $a }}",
        "real.sin array.len",
        "",
    ),
    ("S", "(0_usize.max({i<m})..{i<m}).map(|$k| {S;k<m}).sum::<{F}>()", "iterator.map iterator.sum", "c"),
    (
        "S",
        "(0_usize.max({i<m})..{i<m}).filter(|&$k| {B;k<m}).map(|$k| {S;k<m}.sin()).fold({S}, |$a, $x| $a + $x)",
        "iterator.filter iterator.map iterator.fold real.sin",
        "",
    ),
    ("S", "(0_usize.max({i<m})..{i<m}).fold({S}, |$a, $k| ({S;a:S k<m}).tanh())", "iterator.fold real.tanh", ""),
    ("B", "(0_usize.max({i<m})..{i<m}).any(|$k| {B;k<m})", "iterator.any", ""),
    ("B", "(0_usize.max({i<m})..{i<m}).all(|$k| {B;k<m})", "iterator.all", ""),
    ("I", "(0_usize.max({i<m})..{i<m}).filter(|&$k| {B;k<m}).count()", "iterator.filter iterator.count", ""),
    (
        "S",
        "(0_usize.max({i<m})..{i<m}).map(|$k| {S;k<m}).fold({S}, |$a, $x| $a.max($x))",
        "iterator.map iterator.fold",
        "",
    ),
    (
        "S",
        "(0_usize.max({i<m})..{i<m}).find(|&$k| {B;k<m}).map_or({S}, |$k| {S;k<m})",
        "iterator.find Option.map_or",
        "",
    ),
    (
        "S",
        "{{ let $l: Vec<{F}> = (0_usize.max({i<m})..{i<m}).map(|$k| {S;k<m}).collect(); $l.iter().fold({S}, |$a, $x| ({S;a:S x:&S}).sin()) }}",
        "iterator.map iterator.collect array.iter iterator.fold real.sin",
        "",
    ),
];
