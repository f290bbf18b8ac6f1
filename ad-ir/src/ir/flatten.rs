//! Loops over tuples become loops over their components. So carried values and captures are always
//! arrays, as batching and differentiation need them. Types outside the loop do not change.

use crate::ir::{Body, Graph, Scan, Term, Type};

/// A loop whose body has been rewritten already, with every carried or captured tuple split; the
/// term has the original type. `make` makes the loop over components. For each part of that loop it
/// is given the index of the original part that it belongs to.
pub fn scan(g: &mut Graph, scan: Scan, make: &mut dyn FnMut(&mut Graph, Scan, &[usize]) -> Term) -> Term {
    let is_tuple = |ty: &Type| matches!(ty, Type::Tuple(_));
    if !scan.body.params.iter().any(is_tuple) {
        let parts: Vec<usize> = (0..scan.body.results.len()).collect();
        return make(g, scan, &parts);
    }
    let carries = scan.init.len();
    let mut params = Vec::new();
    let mut args = Vec::new();
    for ty in &scan.body.params {
        let first = params.len();
        leaves(ty, &mut params);
        let terms: Vec<Term> = (first..params.len()).map(|k| g.param(k, params[k].clone())).collect();
        args.push(assemble(g, ty, &mut terms.into_iter()));
    }
    let results = g.instantiate(&scan.body, &args);
    let split = |g: &mut Graph, ts: &[Term]| {
        let mut out = Vec::new();
        ts.iter().for_each(|&t| components(g, t, &mut out));
        out
    };
    let init = split(g, &scan.init);
    let captures = split(g, &scan.captures);
    let mut new_results = split(g, &results[..carries]);
    new_results.extend(&results[carries..]);
    let flat = init.len();
    let stop = scan.stop.map(|k| {
        let mut before = Vec::new();
        scan.body.params[..k].iter().for_each(|ty| leaves(ty, &mut before));
        before.len()
    });
    let produced = results.len() - carries;
    let types: Vec<Type> = scan.init.iter().map(|&t| g.ty(t).clone()).collect();
    let mut of = Vec::new();
    for (k, ty) in types.iter().enumerate() {
        let mut own = Vec::new();
        leaves(ty, &mut own);
        of.extend(own.iter().map(|_| k));
    }
    of.extend(carries..carries + produced);
    let body = Body { params: params.into(), results: new_results.into() };
    let new = make(g, Scan { init: init.into(), captures: captures.into(), stop, body, ..scan }, &of);
    let carried: Vec<Term> = (0..flat).map(|k| g.proj(new, k)).collect();
    let mut carried = carried.into_iter();
    let mut parts: Vec<Term> = types.iter().map(|ty| assemble(g, ty, &mut carried)).collect();
    parts.extend((flat..flat + produced).map(|k| g.proj(new, k)));
    g.tuple(&parts)
}

fn leaves(ty: &Type, out: &mut Vec<Type>) {
    match ty {
        Type::Array(..) => out.push(ty.clone()),
        Type::Tuple(parts) => parts.iter().for_each(|p| leaves(p, out)),
    }
}

fn components(g: &mut Graph, t: Term, out: &mut Vec<Term>) {
    match g.ty(t).clone() {
        Type::Array(..) => out.push(t),
        Type::Tuple(parts) => {
            for k in 0..parts.len() {
                let part = g.proj(t, k);
                components(g, part, out);
            }
        }
    }
}

/// A value of type `ty` from its leaves.
fn assemble(g: &mut Graph, ty: &Type, from: &mut impl Iterator<Item = Term>) -> Term {
    match ty {
        Type::Array(..) => match from.next() {
            Some(t) => t,
            None => panic!("too few components"),
        },
        Type::Tuple(parts) => {
            let parts: Vec<Term> = parts.iter().map(|p| assemble(g, p, from)).collect();
            g.tuple(&parts)
        }
    }
}
