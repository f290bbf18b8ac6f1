//! Moves an index into the term that it reads (BOT Fig. 10), where that saves work: into an elementwise operation, or a sum over
//! other axes, of which nothing else is read. On an interned graph doing it everywhere is exponential (prototype.md, 1), so uses are
//! counted over the whole graph first, and the question is asked again at each term that an index passes.

use std::collections::HashMap;

use crate::ir::{Graph, Node, Term, axis};
use crate::prim::Prim;

/// The roots with indices pushed. Closed bodies are left alone: their arrays are small or carried.
pub fn push(g: &mut Graph, roots: &[Term]) -> Vec<Term> {
    let reachable = g.reachable(roots);
    let mut uses: HashMap<Term, usize> = HashMap::new();
    for &r in roots {
        *uses.entry(r).or_default() += 1;
    }
    for &t in &reachable {
        g.node(t).for_each_child(|c| *uses.entry(c).or_default() += 1);
    }
    // A size in a type stays the term that it is.
    let mut done: HashMap<Term, Term> = super::fixed(g, roots).into_iter().map(|n| (n, n)).collect();
    for t in reachable {
        if done.contains_key(&t) {
            continue;
        }
        let node = g.node_rc(t);
        let new = match &*node {
            // Inside an index function the index mentions its variables: such reads stay as they are.
            Node::Gather { src, vars, index, .. }
                if vars.is_empty() && g.free(t).is_empty() && enters(g, &uses, *src, index.len()) =>
            {
                let index: Vec<Term> = index.iter().map(|ix| done[ix]).collect();
                read(g, &uses, &done, *src, &index)
            }
            _ => {
                let mapped = node.map_children(|c| done[&c]);
                g.mk(mapped)
            }
        };
        done.insert(t, new);
    }
    roots.iter().map(|t| done[t]).collect()
}

/// Whether an index of this length goes into `t`.
fn enters(g: &Graph, uses: &HashMap<Term, usize>, t: Term, len: usize) -> bool {
    let Node::Prim(prim, _) = g.node(t) else { return false };
    let fits = match prim {
        Prim::Sum(axes) => axes.iter().all(|&a| usize::from(a) >= len),
        Prim::Replicate(_) => return true,
        p => p.is_elementwise(),
    };
    fits && uses.get(&t) == Some(&1)
}

/// `index t index`, pushed as far as it goes. An explicit stack: chains of operations are as long as the program.
fn read(g: &mut Graph, uses: &HashMap<Term, usize>, done: &HashMap<Term, Term>, t: Term, index: &[Term]) -> Term {
    // Only replicates change the index on its way, so results are kept by (term, index).
    let mut results: HashMap<(Term, Vec<Term>), Term> = HashMap::new();
    let root = (t, index.to_vec());
    let mut stack = vec![(root.clone(), false)];
    while let Some((key, children_done)) = stack.pop() {
        if results.contains_key(&key) {
            continue;
        }
        let (t, index) = &key;
        let node = g.node_rc(*t);
        if !enters(g, uses, *t, index.len()) {
            let new = g.index(done[t], index);
            results.insert(key, new);
            continue;
        }
        let Node::Prim(prim, args) = &*node else { continue };
        let data = prim.data_args(args.len());
        let inner: Vec<Term> = match prim {
            Prim::Replicate(axes) => {
                index.iter().enumerate().filter(|(k, _)| !axes.contains(&axis(*k))).map(|(_, &ix)| ix).collect()
            }
            _ => index.clone(),
        };
        if !children_done {
            stack.push((key.clone(), true));
            stack.extend(args[..data].iter().map(|&a| ((a, inner.clone()), false)));
            continue;
        }
        let new_args: Vec<Term> = args[..data].iter().map(|&a| results[&(a, inner.clone())]).collect();
        let new = match prim {
            Prim::Sum(axes) => {
                let axes: Vec<u8> = axes.iter().map(|&a| axis(usize::from(a) - index.len())).collect();
                g.sum_axes(new_args[0], &axes)
            }
            Prim::Replicate(axes) => {
                let left: Vec<(u8, Term)> = axes
                    .iter()
                    .zip(&args[1..])
                    .filter(|(a, _)| usize::from(**a) >= index.len())
                    .map(|(&a, n)| (axis(usize::from(a) - index.len()), done[n]))
                    .collect();
                let (axes, sizes): (Vec<u8>, Vec<Term>) = left.into_iter().unzip();
                g.replicate_axes(new_args[0], &axes, &sizes)
            }
            _ => g.prim(prim.clone(), &new_args),
        };
        results.insert(key, new);
    }
    results[&root]
}
