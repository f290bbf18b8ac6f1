//! Growable vectors, queues, iterators with a position, changes through `Zip`.

use super::Line;

pub(super) const VECTORS: &[Line] = &[
    (
        "let a:L:n+1",
        "let mut $a: Vec<{F}> = {P:n}.collect(); $a.insert({i<n}, {S});",
        "mutable-array.insert iterator.collect",
        "",
    ),
    (
        "let a:L:n",
        "let mut $a: Vec<{F}> = {P:n+1}.collect(); let $b = $a.remove({i<n}); $a[{i<n}] += $b;",
        "mutable-array.remove iterator.collect",
        "",
    ),
    (
        "let a:L:n",
        "let mut $a: Vec<{F}> = {P:n+1}.collect(); let $b = $a.swap_remove({i<n}); $a[{i<n}] *= $b.sin();",
        "mutable-array.swap_remove iterator.collect",
        "",
    ),
    (
        "let a:S",
        "let mut $b: Vec<{F}> = {P:n}.collect(); $b.retain(|$x| {B;x:&S}); let mut $a = {S}; for $x in &$b {{ $a = ({S;a:S x:&S}).sin(); }}",
        "mutable-array.retain iterator.collect",
        "",
    ),
    (
        "let a:L:n*2",
        "let mut $a: Vec<{F}> = {P:n}.collect(); $a.extend({P:n});",
        "mutable-array.extend iterator.collect",
        "",
    ),
    (
        "let a:L:n*2",
        "let mut $a: Vec<{F}> = {P:n}.collect(); let $b: Vec<{F}> = {P:n}.collect(); $a.extend_from_slice(&$b);",
        "mutable-array.extend_from_slice iterator.collect",
        "",
    ),
    (
        "let a:L:n",
        "let mut $a: Vec<{F}> = {P:n}.collect(); if let Some($x) = $a.last_mut() {{ *$x = {S}; }} if let Some($x) = $a.first_mut() {{ *$x *= {S}; }}",
        "mutable-array.last_mut mutable-array.first_mut iterator.collect",
        "",
    ),
    (
        "B",
        "{{ let $a: Vec<usize> = (0..{#n}).map(|$i| {I;i<n}).collect(); $a.contains(&{I}) }}",
        "array.contains iterator.collect",
        "",
    ),
    (
        "let a:S",
        "let mut $b = std::collections::VecDeque::new(); for &$x in {Z:n}.iter() {{ $b.push_back({S;x:S}); if {B;x:S} {{ $b.push_front({S;x:S}); }} }} let mut $a = {S}; while let Some($x) = $b.pop_front() {{ $a = ({S;x:S a:S}).tanh(); if let Some($y) = $b.pop_back() {{ $a += $y; }} }}",
        "type.new array.iter mutable-array.push_back mutable-array.push_front mutable-array.pop_front mutable-array.pop_back",
        "",
    ),
    (
        "let a:S",
        "let mut $b: std::collections::VecDeque<{F}> = std::collections::VecDeque::new(); for $i in 0..{#n} {{ $b.push_back({S;i<n}); if {B;i<n} {{ $b.pop_front(); }} }} let $a = $b.front().copied().unwrap_or({S}) * $b.back().copied().unwrap_or({S});",
        "type.new mutable-array.push_back mutable-array.pop_front array.front array.back Option.copied Option.unwrap_or",
        "",
    ),
];

pub(super) const POSITIONS: &[Line] = &[
    ("S", "{P:n}.next().unwrap_or({K})", "iterator.next Option.unwrap_or", ""),
    (
        "let a:S",
        "let $c: Vec<{F}> = {P:n}.collect(); let mut $b = $c.iter().copied(); let mut $a = $b.next().unwrap_or({K}); while let Some($x) = $b.next() {{ if {B;x:S a:S} {{ break; }} $a = ({S;x:S a:S}).tanh(); }}",
        "mutable-array.next iterator.collect iterator.copied Option.unwrap_or",
        "",
    ),
    (
        "let a:S",
        "let $c: Vec<{F}> = {P:n}.collect(); let mut $b = $c.iter().copied().peekable(); let mut $a = {S}; while let Some($x) = $b.next() {{ if let Some(&$y) = $b.peek() {{ $a = ({S;a:S x:S y:S}).sin(); }} }}",
        "iterator.collect iterator.copied iterator.peekable mutable-array.next mutable-array.peek",
        "",
    ),
    ("S", "{P:n}.reduce(|$a, $x| ({S;a:S x:S}).sin()).unwrap_or({K})", "iterator.reduce Option.unwrap_or", ""),
    (
        "S",
        "{P:n}.take_while(|$x| {B;x:&S}).fold({S}, |$a, $x| ({S;a:S x:S}).tanh())",
        "iterator.take_while iterator.fold",
        "",
    ),
    (
        "S",
        "{P:n}.skip_while(|$x| {B;x:&S}).fold({S}, |$a, $x| ({S;a:S x:S}).tanh())",
        "iterator.skip_while iterator.fold",
        "",
    ),
    (
        "S",
        "{P:n}.map_while(|$x| if {B;x:S} {{ Some({S;x:S}) }} else {{ None }}).fold({S}, |$a, $x| ({S;a:S x:S}).tanh())",
        "iterator.map_while iterator.fold",
        "",
    ),
    (
        "S",
        "{P:n}.scan({S}, |$s, $x| {{ let $t = *$s; *$s = ({S;t:S x:S}).tanh(); Some(*$s) }}).fold({S}, |$a, $x| $a + $x)",
        "iterator.scan iterator.fold",
        "",
    ),
    ("let a:S", "let mut $a = {S}; {P:n}.for_each(|$x| $a += {S;x:S});", "iterator.for_each", ""),
    ("P:n", "std::iter::zip({P:n}, {P:n}).map(|($x, $y)| {S;x:S y:S})", "function-of-std.zip iterator.map", ""),
    ("Q:n", "{A:n*2,m}.axis_chunks_iter(Axis(0), 2).map(|$r| {S;r:V:2,m})", "array.axis_chunks_iter iterator.map", ""),
    ("B", "(1..{#n}).contains(&{I})", "iterator.contains", ""),
];

pub(super) const ZIPS: &[Line] = &[
    (
        "let a:A:n",
        "let mut $a = {O:n}; Zip::from({R:n}).map_assign_into(&mut $a, |&$x| {S;x:S});",
        "ndarray.Zip::from Zip.map_assign_into",
        "",
    ),
    (
        "let a:A:n,m",
        "let mut $a = {O:n,m}; Zip::from(&mut $a).and({R:n,m}).for_each(|$p, &$x| *$p *= {S;x:S});",
        "ndarray.Zip::from Zip.and Zip.for_each",
        "",
    ),
    (
        "S",
        "Zip::from({R:n}).and({R:n}).fold({S}, |$a, &$x, &$y| ({S;a:S x:S y:S}).sin())",
        "ndarray.Zip::from Zip.and Zip.fold",
        "",
    ),
    ("B", "Zip::from({R:n}).and({R:n}).all(|&$x, &$y| $x < $y + {L})", "ndarray.Zip::from Zip.and Zip.all", ""),
    ("B", "Zip::from({R:n}).and({R:n}).any(|&$x, &$y| $x < $y - {L})", "ndarray.Zip::from Zip.and Zip.any", ""),
    (
        "let a:A:n",
        "let mut $a = {O:n}; $a.zip_mut_with({R:n}, |$p, &$x| *$p += {S;x:S}); $a.map_inplace(|$p| *$p *= {L});",
        "mutable-array.zip_mut_with mutable-array.map_inplace",
        "",
    ),
    ("let a:A:n,m", "let mut $a = {O:n,m}; $a.scaled_add({S}, {R:n,m});", "mutable-array.scaled_add", ""),
    ("let a:A:n,n", "let mut $a = {O:n,n}; $a.diag_mut().fill({S});", "mutable-array.diag_mut mutable-array.fill", ""),
    (
        "let a:A:n,m",
        "let mut $a = {O:n,m}; $a.slice_axis_mut(Axis(1), ndarray::Slice::new(0, Some(1), 1)).fill({S});",
        "mutable-array.slice_axis_mut ndarray.Slice::new mutable-array.fill",
        "",
    ),
    (
        "A:n",
        "{A:n*2}.slice_axis(Axis(0), ndarray::Slice::from(..).step_by(2)).to_owned()",
        "array.slice_axis ndarray.Slice::from Slice.step_by",
        "",
    ),
];

pub(super) const OTHERS: &[Line] = &[
    ("S", "({S} * stop_gradient({S}))", "function.stop_gradient", ""),
    ("S", "checkpoint(|| {S})", "function.checkpoint", ""),
    ("S", "Array1::<{F}>::range({=0.25}, {=2.0}, {=0.5}).sum()", "type.range array.sum", ""),
    ("I", "{I}.div_ceil(3)", "integer.div_ceil", ""),
    ("A:m", "{A:n,m}.fold_axis(Axis(0), {K}, |&$a, &$x| $a * {=0.5} + $x.sin())", "array.fold_axis", ""),
    (
        "S",
        "ndarray::ArrayView2::from_shape(({#n}, {#m}), &{P:n*m}.collect::<Vec<{F}>>()).unwrap().sum()",
        "type.from_shape array.sum iterator.collect",
        "",
    ),
    ("I", "{Q:n}.collect::<Vec<{F}>>().iter().rposition(|&$x| {B;x:S}).unwrap_or(1)", "iterator.rposition", ""),
    ("I", "{P:n}.collect::<Vec<{F}>>().partition_point(|&$x| {B;x:S})", "array.partition_point", ""),
    (
        "let a:S",
        "let mut $b: Vec<{F}> = {P:n}.collect(); let $c = $b[0]; $b.insert(0, $c); $b.dedup(); let mut $a = {S}; for $x in &$b {{ $a = ({S;a:S x:&S}).sin(); }}",
        "mutable-array.dedup mutable-array.insert iterator.collect",
        "",
    ),
    (
        "let a:S",
        "let mut $b: Vec<{F}> = {P:n+1}.collect(); let $c = $b.drain(..{i<n}).sum::<{F}>(); let mut $a = $c; for $x in &$b {{ $a = ({S;a:S x:&S}).sin(); }}",
        "mutable-array.drain iterator.sum iterator.collect",
        "",
    ),
    (
        "S",
        "({{ let ($a, $b): (Vec<{F}>, Vec<{F}>) = {P:n}.partition(|&$x| {B;x:S}); $a.iter().sum::<{F}>() - $b.iter().sum::<{F}>() }})",
        "iterator.partition iterator.sum",
        "",
    ),
    (
        "let a:S",
        "let $c: Vec<{F}> = {P:n+1}.collect(); let mut $b = $c.iter(); let $x = $b.by_ref().take(1).sum::<{F}>(); let $a = $x * $b.sum::<{F}>();",
        "mutable-array.take iterator.sum iterator.collect",
        "",
    ),
    (
        "let a:S",
        "let mut $c: Vec<{F}> = {P:n+1}.collect(); let ($x, $y) = $c.split_at_mut(1); $y[0] += $x[0]; let $a = $c.iter().sum::<{F}>();",
        "mutable-array.split_at_mut iterator.sum iterator.collect",
        "",
    ),
    ("I", "({I}.count_ones() as usize)", "integer.count_ones", ""),
    ("I", "({I}.count_zeros() as usize % 7)", "integer.count_zeros", ""),
    ("I", "({I}.leading_zeros() as usize % 7)", "integer.leading_zeros", ""),
    ("I", "((!{I}).leading_ones() as usize % 7)", "integer.leading_ones", ""),
    ("I", "({I}.trailing_zeros() as usize % 7)", "integer.trailing_zeros", ""),
    ("I", "({I}.trailing_ones() as usize)", "integer.trailing_ones", ""),
    ("I", "({I}.rotate_left(3) % 7)", "integer.rotate_left", ""),
    ("I", "({I}.rotate_right({I} as u32) % 7)", "integer.rotate_right", ""),
    ("B", "{Z:n}.get({I}).is_some_and(|&$x| $x > {L})", "array.get Option.is_some_and", ""),
    ("B", "{Z:n}.get({I}).is_none_or(|&$x| $x > {L})", "array.get Option.is_none_or", ""),
];
