//! Rules for gather and scatter. Index functions that are permutations, projections or shifts
//! become layout operations (so that their transposes are not scatters). Gathers of views are
//! composed, and scatters are merged with their destinations.

use super::layout::replicated;
use super::{Rule, rule};
use ad_ir::analysis::zeros::is_zero;
use ad_ir::ir::{Graph, Node, Put, Term, Var, axis};
use ad_ir::prim::{Binary, Cmp, IntOp, Prim};

pub(super) const RULES: &[Rule] = &[
    rule!("index.index", "index (index t ix) jx = index t (ix ++ jx)", Exact, index_index),
    rule!(
        "gather.view",
        "a gather by variables, shifted variables and constants is a slice, transpose, index and replicate",
        Exact,
        gather_view
    ),
    rule!("gather.gather", "gather (gather t f) g = gather t (f . g)", Exact, gather_gather),
    rule!("gather.replicate", "gather (replicate x) drops the indices of new axes", Exact, gather_replicate),
    rule!(
        "gather.transpose",
        "gather (tr p x) f = gather x (p f), where all axes of p's head are indexed",
        Exact,
        gather_transpose
    ),
    rule!(
        "gather.slice",
        "gather (slice x) f = gather x (start + step * f), where all axes are indexed",
        Exact,
        gather_slice
    ),
    rule!("gather.recast", "gather (recast x) f = gather x f, where all axes are indexed", Exact, gather_recast),
    rule!("index.iota", "index (iota n) [i] = i", Exact, index_iota),
    rule!("index.stack", "index (stack [x0, x1, ..]) (k : ix) = index xk ix, for a literal k", Exact, index_stack),
    rule!("scatter.identity", "scatter dst src (\\i -> i) = dst + src", Exact, scatter_identity),
    rule!(
        "update.whole",
        "update dst src (\\i -> i) = src if it covers dst; src is transposed and reversed as the index is",
        Exact,
        update_whole
    ),
    rule!(
        "scatter.sum",
        "scatter x y (\\i j -> f j) = scatter x (sum of y over i) f: rows with the same index are added first",
        Loose,
        scatter_sum
    ),
    rule!(
        "index.update",
        "index (update x y [i]) (i : ix) = index y ix; at an index that differs from i, the index of x",
        Exact,
        index_update
    ),
    rule!(
        "index.cleared",
        "index (update x 0 f) g = cond (f == g) 0 (index x g), for single elements",
        Exact,
        index_cleared
    ),
    rule!("index.added", "index (scatter x y [i]) (i : ix) = index x (i : ix) + index y ix", Exact, index_added),
    rule!("index.scatter", "index (scatter 0 e f) g = cond (f == g) e 0, for single elements", Exact, index_scatter),
    rule!(
        "update.scatter",
        "update (scatter 0 e f) 0 g = scatter 0 (cond (f == g) 0 e) f, for single elements",
        Exact,
        update_scatter
    ),
    rule!(
        "add.scatter",
        "x + scatter 0 src f = scatter 0 src f + x = scatter x src f; also for one element under a condition",
        Loose,
        add_scatter
    ),
];

fn gather_parts(g: &Graph, t: Term) -> Option<(Term, Box<[Term]>, usize)> {
    match g.node(t) {
        Node::Gather { src, sizes, vars, .. } => Some((*src, sizes.clone(), vars.len())),
        _ => None,
    }
}

fn index_index(g: &mut Graph, t: Term) -> Option<Term> {
    let Node::Gather { src, vars, index, .. } = g.node(t).clone() else { return None };
    let Node::Gather { src: inner, vars: v, index: first, .. } = g.node(src).clone() else { return None };
    if !vars.is_empty() || !v.is_empty() {
        return None;
    }
    let index: Vec<Term> = first.iter().chain(&*index).copied().collect();
    Some(g.index(inner, &index))
}

/// One index of a gather, as a function of its variables.
enum IndexPart {
    /// Without variables: the same for all elements.
    Fixed(Term),
    /// `start + var`.
    Shift { var: usize, start: Term },
}

fn part(g: &mut Graph, vars: &[Var], ix: Term) -> Option<IndexPart> {
    if g.free(ix).iter().all(|v| !vars.contains(v)) {
        return Some(IndexPart::Fixed(ix));
    }
    let of = |g: &Graph, t: Term| match g.node(t) {
        Node::Var(v) => vars.iter().position(|w| w == v),
        _ => None,
    };
    if let Some(var) = of(g, ix) {
        return Some(IndexPart::Shift { var, start: g.lit_usize(0) });
    }
    let Node::Prim(Prim::Int(IntOp::Add), args) = g.node(ix).clone() else { return None };
    let (a, b) = (args[0], args[1]);
    let start_ok = |g: &Graph, t: Term| g.free(t).is_empty() && !g.is_open(t);
    match (of(g, a), of(g, b)) {
        (Some(var), None) if start_ok(g, b) => Some(IndexPart::Shift { var, start: b }),
        (None, Some(var)) if start_ok(g, a) => Some(IndexPart::Shift { var, start: a }),
        _ => None,
    }
}

fn gather_view(g: &mut Graph, t: Term) -> Option<Term> {
    let (src, sizes, arity) = gather_parts(g, t)?;
    if arity == 0 {
        return None;
    }
    let node = g.node_rc(t);
    let (vars, index) = g.open_binder(&node);
    let parts: Option<Vec<IndexPart>> = index.iter().map(|&ix| part(g, &vars, ix)).collect();
    let parts = parts?;
    let mut used: Vec<usize> = Vec::new();
    for p in &parts {
        if let IndexPart::Shift { var, .. } = p {
            if used.contains(var) {
                return None;
            }
            used.push(*var);
        }
    }
    let rank = g.rank(src);
    // The fixed indices are taken first.
    let fixed: Vec<usize> = (0..parts.len()).filter(|&k| matches!(parts[k], IndexPart::Fixed(_))).collect();
    let mut order: Vec<u8> = fixed.iter().map(|&k| axis(k)).collect();
    order.extend((0..rank).filter(|k| !fixed.contains(k)).map(axis));
    let fixed_index: Vec<Term> =
        parts.iter().filter_map(|p| if let IndexPart::Fixed(ix) = p { Some(*ix) } else { None }).collect();
    let x = g.transpose(src, &order);
    let x = g.index(x, &fixed_index);
    // Then each shift becomes a slice of one axis, in the order of the source's axes.
    let rest = g.shape(x)[used.len()..].to_vec();
    let mut starts = Vec::new();
    let mut lens = Vec::new();
    for p in &parts {
        if let IndexPart::Shift { var, start } = p {
            starts.push(*start);
            lens.push(sizes[*var]);
        }
    }
    for &n in &rest {
        starts.push(g.lit_usize(0));
        lens.push(n);
    }
    let steps = vec![1; lens.len()];
    let x = g.slice(x, &starts, &steps, &lens);
    // The axes are transposed into the order of the variables. Variables that the index does not
    // use become replicated axes.
    let mut sorted: Vec<usize> = (0..used.len()).collect();
    sorted.sort_by_key(|&k| used[k]);
    let mut perm: Vec<u8> = sorted.iter().map(|&k| axis(k)).collect();
    perm.extend((used.len()..used.len() + rest.len()).map(axis));
    let x = g.transpose(x, &perm);
    let new: Vec<usize> = (0..vars.len()).filter(|v| !used.contains(v)).collect();
    let axes: Vec<u8> = new.iter().map(|&v| axis(v)).collect();
    let new_sizes: Vec<Term> = new.iter().map(|&v| sizes[v]).collect();
    Some(g.replicate_axes(x, &axes, &new_sizes))
}

/// Composing saves one array; the inner index function has only a few scalar operations (the bulk
/// transform ensures that).
fn gather_gather(g: &mut Graph, t: Term) -> Option<Term> {
    let (src, sizes, _) = gather_parts(g, t)?;
    let (inner, _, inner_arity) = gather_parts(g, src)?;
    let (outer_node, inner_node) = (g.node_rc(t), g.node_rc(src));
    let Node::Gather { index: outer_index, .. } = &*outer_node else { return None };
    // All inner variables must be given, and only cheap terms may be repeated.
    if outer_index.len() < inner_arity || inner_arity == 0 || !cheap(g, &inner_node) {
        return None;
    }
    let (vars, index) = g.open_binder(&outer_node);
    let (inner_vars, inner_index) = g.open_binder(&inner_node);
    let pairs: Vec<(Var, Term)> = inner_vars.iter().copied().zip(index.iter().copied()).collect();
    let mut composed = g.subst_vars_all(&inner_index, &pairs);
    composed.extend(&index[inner_arity..]);
    Some(g.gather(inner, sizes, &vars, &composed))
}

fn cheap(g: &Graph, node: &Node) -> bool {
    let Node::Gather { vars, index, .. } = node else { return false };
    let mut stack: Vec<Term> = index.to_vec();
    let mut budget = 12;
    while let Some(t) = stack.pop() {
        if g.free(t).iter().any(|v| vars.contains(v)) {
            if budget == 0 {
                return false;
            }
            budget -= 1;
            g.node(t).for_each_child(|c| stack.push(c));
        }
    }
    true
}

fn gather_replicate(g: &mut Graph, t: Term) -> Option<Term> {
    let (src, sizes, arity) = gather_parts(g, t)?;
    let (x, axes, new_sizes) = replicated(g, src)?;
    let node = g.node_rc(t);
    let (vars, index) = g.open_binder(&node);
    let kept: Vec<Term> =
        index.iter().enumerate().filter(|(k, _)| !axes.contains(&axis(*k))).map(|(_, &ix)| ix).collect();
    if kept.len() == index.len() && arity == 0 {
        return None;
    }
    if kept.len() == index.len() {
        return None;
    }
    let y = if kept.is_empty() && arity > 0 {
        let outer: Vec<u8> = (0..arity).map(axis).collect();
        g.replicate_axes(x, &outer, &sizes)
    } else {
        g.gather(x, sizes, &vars, &kept)
    };
    let trailing: Vec<(u8, Term)> = axes
        .iter()
        .zip(&new_sizes)
        .filter(|(a, _)| usize::from(**a) >= index.len())
        .map(|(a, &n)| (axis(arity + usize::from(*a) - index.len()), n))
        .collect();
    let (axes, sizes): (Vec<u8>, Vec<Term>) = trailing.into_iter().unzip();
    Some(g.replicate_axes(y, &axes, &sizes))
}

fn gather_transpose(g: &mut Graph, t: Term) -> Option<Term> {
    let (src, sizes, arity) = gather_parts(g, t)?;
    let Node::Prim(Prim::Transpose(perm), args) = g.node(src).clone() else { return None };
    let node = g.node_rc(t);
    let Node::Gather { index, .. } = &*node else { return None };
    let n = index.len();
    if perm[..n].iter().any(|&a| usize::from(a) >= n) {
        return None;
    }
    let (vars, index) = g.open_binder(&node);
    let mut permuted = index.clone();
    for (k, &a) in perm[..n].iter().enumerate() {
        permuted[usize::from(a)] = index[k];
    }
    let y = g.gather(args[0], sizes, &vars, &permuted);
    let tail: Vec<u8> =
        (0..arity).map(axis).chain(perm[n..].iter().map(|&a| axis(usize::from(a) - n + arity))).collect();
    Some(g.transpose(y, &tail))
}

fn gather_slice(g: &mut Graph, t: Term) -> Option<Term> {
    let (src, sizes, _) = gather_parts(g, t)?;
    let Node::Prim(Prim::Slice(steps), args) = g.node(src).clone() else { return None };
    let node = g.node_rc(t);
    let Node::Gather { index, .. } = &*node else { return None };
    if index.len() != steps.len() || steps.iter().any(|&s| s < 1) {
        return None;
    }
    let (vars, index) = g.open_binder(&node);
    let index: Vec<Term> = index
        .iter()
        .enumerate()
        .map(|(k, &ix)| {
            let step = g.lit_usize(usize::try_from(steps[k]).unwrap_or(1));
            let scaled = g.int(IntOp::Mul, ix, step);
            g.int(IntOp::Add, scaled, args[1 + k])
        })
        .collect();
    Some(g.gather(args[0], sizes, &vars, &index))
}

fn gather_recast(g: &mut Graph, t: Term) -> Option<Term> {
    let (src, sizes, _) = gather_parts(g, t)?;
    let Node::Prim(Prim::Recast, args) = g.node(src).clone() else { return None };
    let node = g.node_rc(t);
    let Node::Gather { index, .. } = &*node else { return None };
    if index.len() != g.rank(src) {
        return None;
    }
    let (vars, index) = g.open_binder(&node);
    Some(g.gather(args[0], sizes, &vars, &index))
}

fn index_iota(g: &mut Graph, t: Term) -> Option<Term> {
    let Node::Gather { src, vars, index, .. } = g.node(t) else { return None };
    matches!(g.node(*src), Node::Prim(Prim::Iota, _)).then_some(())?;
    (vars.is_empty()).then(|| index[0])
}

fn index_stack(g: &mut Graph, t: Term) -> Option<Term> {
    let Node::Gather { src, vars, index, .. } = g.node(t).clone() else { return None };
    let Node::Prim(Prim::Stack, parts) = g.node(src).clone() else { return None };
    if !vars.is_empty() {
        return None;
    }
    let k = usize::try_from(g.int_value(index[0])?).ok()?;
    let part = *parts.get(k)?;
    Some(g.index(part, &index[1..]))
}

fn scatter_identity(g: &mut Graph, t: Term) -> Option<Term> {
    let Node::Scatter { put: Put::Add, dst, src, vars, index } = g.node(t).clone() else { return None };
    let same = vars.len() == index.len()
        && vars.iter().zip(&*index).all(|(v, &ix)| matches!(g.node(ix), Node::Var(w) if w == v))
        && g.shape(dst) == g.shape(src);
    if !same {
        return None;
    }
    Some(if is_zero(g, dst) { src } else { g.add(dst, src) })
}

fn update_whole(g: &mut Graph, t: Term) -> Option<Term> {
    let Node::Scatter { put: Put::Set, dst, src, vars, index } = g.node(t).clone() else { return None };
    let (to, from) = (g.shape(dst).to_vec(), g.shape(src).to_vec());
    if vars.len() != index.len() || to.len() != from.len() {
        return None;
    }
    // Each index is a separate variable, or decreases with one.
    let (mut perm, mut down) = (Vec::new(), Vec::new());
    for (k, &ix) in index.iter().enumerate() {
        let of = |t: Term| vars.iter().position(|v| matches!(g.node(t), Node::Var(w) if w == v));
        let (var, reversed) = match (of(ix), g.node(ix)) {
            (Some(var), _) => (var, false),
            (None, Node::Prim(Prim::Int(IntOp::Sub), args)) => {
                let (last, var) = (args[0], of(args[1])?);
                let one = g.lit_usize(1);
                (g.int(IntOp::Sub, to[k], one) == last).then_some((var, true))?
            }
            _ => return None,
        };
        if perm.contains(&axis(var)) || from[var] != to[k] {
            return None;
        }
        perm.push(axis(var));
        down.push(reversed);
    }
    perm.extend((perm.len()..to.len()).map(axis));
    down.resize(to.len(), false);
    let x = g.transpose(src, &perm);
    let (zero, one) = (g.lit_usize(0), g.lit_usize(1));
    let starts: Vec<Term> = (0..to.len()).map(|k| if down[k] { g.int(IntOp::Sub, to[k], one) } else { zero }).collect();
    let steps: Vec<i64> = down.iter().map(|&down| if down { -1 } else { 1 }).collect();
    Some(g.slice(x, &starts, &steps, &to))
}

fn scatter_sum(g: &mut Graph, t: Term) -> Option<Term> {
    let node = g.node_rc(t);
    let Node::Scatter { put: Put::Add, dst, src, vars, .. } = &*node else { return None };
    if vars.is_empty() {
        return None;
    }
    let (vars, index) = g.open_binder(&node);
    let meets = |v: &Var| !index.iter().any(|&ix| g.mentions(ix, *v));
    let axes: Vec<u8> = (0..vars.len()).filter(|&k| meets(&vars[k])).map(axis).collect();
    if axes.is_empty() {
        return None;
    }
    let kept: Vec<Var> = vars.iter().copied().filter(|v| !meets(v)).collect();
    let src = g.sum_axes(*src, &axes);
    Some(g.scatter(*dst, src, &kept, &index))
}

fn index_update(g: &mut Graph, t: Term) -> Option<Term> {
    let Node::Gather { src, vars, index, .. } = g.node(t).clone() else { return None };
    let Node::Scatter { put: Put::Set, dst, src: new, vars: v, index: at } = g.node(src).clone() else { return None };
    if !vars.is_empty() || !v.is_empty() {
        return None;
    }
    let differ = |(&i, &j): (&Term, &Term)| {
        let ((a, c), (b, d)) = (offset(g, i), offset(g, j));
        a == b && c != d
    };
    if index.iter().zip(&*at).any(differ) {
        return Some(g.index(dst, &index));
    }
    (index.len() >= at.len() && index[..at.len()] == *at).then(|| g.index(new, &index[at.len()..]))
}

/// Reads an element without the array after an addition to it. Otherwise both arrays would be
/// needed, where the reverse pass adds to the element once more.
fn index_added(g: &mut Graph, t: Term) -> Option<Term> {
    let Node::Gather { src, vars, index, .. } = g.node(t).clone() else { return None };
    let Node::Scatter { put: Put::Add, dst, src: new, vars: v, index: at } = g.node(src).clone() else { return None };
    if !vars.is_empty() || !v.is_empty() || index.len() < at.len() || index[..at.len()] != *at {
        return None;
    }
    let (before, added) = (g.index(dst, &index), g.index(new, &index[at.len()..]));
    Some(g.add(before, added))
}

/// If a term is an array of zeros to which one element is added: the element and its indices.
fn one_element(g: &Graph, t: Term) -> Option<(Term, Box<[Term]>)> {
    match g.node(t) {
        Node::Scatter { put: Put::Add, dst, src, vars, index } => {
            let one = vars.is_empty() && g.rank(*src) == 0 && is_zero(g, *dst);
            one.then(|| (*src, index.clone()))
        }
        _ => None,
    }
}

/// The condition that two indices are equal.
fn same_place(g: &mut Graph, a: &[Term], b: &[Term]) -> Term {
    let always = g.lit_bool(true);
    a.iter().zip(b).fold(always, |same, (&a, &b)| {
        let equal = g.compare(Cmp::Eq, a, b);
        g.and(same, equal)
    })
}

/// Reads the element without the array of zeros. (A read out of range has an unspecified value.)
fn index_scatter(g: &mut Graph, t: Term) -> Option<Term> {
    let Node::Gather { src, vars, index, .. } = g.node(t).clone() else { return None };
    let (element, at) = one_element(g, src).filter(|_| vars.is_empty() && g.rank(t) == 0)?;
    let same = same_place(g, &at, &index);
    let nothing = g.zeros_like(element);
    Some(g.cond(same, element, nothing))
}

/// The cotangent of an element that was overwritten is 0. A read of another element then does not
/// need the array before the write.
fn index_cleared(g: &mut Graph, t: Term) -> Option<Term> {
    let Node::Gather { src, vars, index, .. } = g.node(t).clone() else { return None };
    let Node::Scatter { put: Put::Set, dst, src: new, vars: v, index: at } = g.node(src).clone() else { return None };
    if !vars.is_empty() || !v.is_empty() || g.rank(t) > 0 || g.rank(new) > 0 || !is_zero(g, new) {
        return None;
    }
    let same = same_place(g, &at, &index);
    let before = g.index(dst, &index);
    Some(g.cond(same, new, before))
}

/// An array that is zero except at one element keeps this form.
fn update_scatter(g: &mut Graph, t: Term) -> Option<Term> {
    let Node::Scatter { put: Put::Set, dst, src, vars, index } = g.node(t).clone() else { return None };
    let (element, at) = one_element(g, dst).filter(|_| vars.is_empty() && g.rank(src) == 0 && is_zero(g, src))?;
    let same = same_place(g, &at, &index);
    let nothing = g.zeros_like(element);
    let left = g.cond(same, nothing, element);
    let zeros = g.zeros_like(dst);
    Some(g.scatter(zeros, left, &[], &at))
}

/// An index as a term plus a constant. Two valid indices that differ in the constant only are
/// different. (A saturated sum is not a valid index.)
pub(crate) fn offset(g: &Graph, t: Term) -> (Option<Term>, i128) {
    if let Some(n) = g.int_value(t) {
        return (None, n);
    }
    match g.node(t) {
        Node::Prim(Prim::Int(IntOp::Add), args) => match g.int_value(args[1]) {
            Some(n) => (Some(args[0]), n),
            None => (Some(t), 0),
        },
        _ => (Some(t), 0),
    }
}

fn add_scatter(g: &mut Graph, t: Term) -> Option<Term> {
    let Node::Prim(Prim::Binary(Binary::Add), args) = g.node(t) else { return None };
    let (a, b) = (args[0], args[1]);
    for (x, s) in [(a, b), (b, a)] {
        if let Some(onto) = innermost(g, s)
            && is_zero(g, onto)
        {
            return Some(replace_innermost(g, s, x));
        }
        if let Some(new) = add_element(g, x, s) {
            return Some(new);
        }
    }
    None
}

/// `x + cond c (scatter 0 e f) 0 = scatter x (cond c e 0) (cond c f 0)`, for single elements: no
/// other array of x's size is computed.
fn add_element(g: &mut Graph, x: Term, s: Term) -> Option<Term> {
    let Node::Cond { cond, then, other } = *g.node(s) else { return None };
    if !is_zero(g, other) {
        return None;
    }
    let Node::Scatter { put: Put::Add, dst, src, ref vars, ref index } = *g.node(then) else { return None };
    if !is_zero(g, dst) || !vars.is_empty() || g.rank(src) > 0 {
        return None;
    }
    let index = index.clone();
    let nothing = g.zeros_like(src);
    let src = g.cond(cond, src, nothing);
    let first = g.lit_usize(0);
    let index: Vec<Term> = index.iter().map(|&ix| g.cond(cond, ix, first)).collect();
    Some(g.scatter(x, src, &[], &index))
}

/// The destination at the bottom of a chain of scatters.
fn innermost(g: &Graph, mut t: Term) -> Option<Term> {
    let mut any = false;
    while let Node::Scatter { put: Put::Add, dst, .. } = g.node(t) {
        t = *dst;
        any = true;
    }
    any.then_some(t)
}

fn replace_innermost(g: &mut Graph, t: Term, with: Term) -> Term {
    let mut chain = Vec::new();
    let mut at = t;
    while let Node::Scatter { put: Put::Add, dst, .. } = g.node(at) {
        chain.push(at);
        at = *dst;
    }
    let mut onto = with;
    for &s in chain.iter().rev() {
        if let Node::Scatter { put, src, vars, index, .. } = g.node(s).clone() {
            onto = g.mk(Node::Scatter { put, dst: onto, src, vars, index });
        }
    }
    onto
}
