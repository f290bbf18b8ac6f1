//! Elements at computed places in loops over two axes.

use super::Line;

pub(super) const PLACES: &[Line] = &[
    (
        "let a:S",
        "let $s = {O:k}.mapv(|$x| $x.sin()); let $g = {N:n,m}; let mut $a = {S}; for $i in 0..{#n} {{ for $j in 0..{#m} {{ $a += $s[$g[[$i, $j]] % $s.len()]; }} }}",
        "array.mapv array.len",
        "",
    ),
    (
        "let a:A:n,m",
        "let $s = {O:k}.mapv(|$x| $x.cos()); let $a = {N:n,m}.mapv(|$j| $s[$j % $s.len()]);",
        "array.mapv array.len",
        "",
    ),
    (
        "let a:S",
        "let $s = {O:k,m}.mapv(|$x| $x.sin()); let $g = {N:n,m}; let mut $a = {S}; for $i in 0..{#n} {{ for $j in 0..{#m} {{ $a += $s[[$g[[$i, $j]] % $s.nrows(), $j]].cos(); }} }}",
        "array.mapv array.nrows",
        "",
    ),
    (
        "let a:S",
        "let $v = {O:k,4}; let $g = {N:n}; let $w = {O:m}.mapv(|$x| $x.sin()); let mut $a = {S}; for ($i, $r) in $g.iter().zip($v.rows()) {{ let mut $b = {S}; for $c in 0..4 {{ $b += $r[$c] * $w[($i + $c) % $w.len()]; }} $a += $b * {S;b:S}; }}",
        "array.mapv array.len iterator.zip array.rows",
        "",
    ),
    (
        "let a:S",
        "let $v = {O:k,m}; let $g = {N:n}; let $w = {O:m}.mapv(|$x| $x.sin()); let mut $a = {S}; for $i in 0..$g.len().min($v.nrows()) {{ let $p = $g[$i] % $w.len(); let mut $b = {S}; for $c in 0..{#m} {{ $b += $v[[$i, $c]] * $w[($p + $c) % $w.len()].tanh(); }} $a += {S;b:S} * $w[$p]; }}",
        "array.mapv array.len array.nrows real.tanh",
        "",
    ),
    ("N:n,m", "build([{#n}, {#m}], |[$i, $j]| {I;i<n j<m} % 7)", "function.build", ""),
];
