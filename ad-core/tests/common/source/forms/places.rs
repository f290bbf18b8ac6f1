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
    ("N:n,m", "build([{#n}, {#m}], |[$i, $j]| {I;i<n j<m} % 7)", "function.build", ""),
];
