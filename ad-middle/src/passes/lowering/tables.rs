//! Tables of indices: a scatter whose index takes several operations and is invariant along an axis
//! of the scattered array reads the index from a table, which is computed once.

use ad_ir::choice::{Kind, choose};
use ad_ir::ir::{Graph, Node, Term, Var};
use ad_ir::prim::Prim;

/// Whether the term sums the rows of an array whose number of rows is not a literal.
pub(super) fn sums_rows(g: &Graph, t: Term) -> bool {
    matches!(g.node(t), Node::Prim(Prim::Sum(axes), args) if **axes == [0] && g.int_value(g.shape(args[0])[0]).is_none())
}

/// The minimum number of operations of an index for which a table pays.
const MIN_OPERATIONS: usize = 4;

/// A scatter whose indices are read from a table, if they take several operations and are invariant
/// along an axis of the scattered array.
pub(super) fn with_tables(g: &mut Graph, about: Term, scatter: &Node) -> Option<Term> {
    let (vars, mut index) = g.open_binder(scatter);
    let Node::Scatter { dst, src, .. } = *scatter else { return None };
    let sizes: Vec<Term> = g.shape(src)[..vars.len()].to_vec();
    let mut tables = 0;
    for (k, ix) in index.iter_mut().enumerate() {
        let own: Vec<(Var, Term)> =
            vars.iter().copied().zip(sizes.iter().copied()).filter(|(v, _)| g.free(*ix).contains(v)).collect();
        let work =
            g.reachable(&[*ix]).into_iter().filter(|&t| !g.free(t).is_empty() && !matches!(g.node(t), Node::Var(_)));
        let work = work.count();
        let plain = g.reachable(&[*ix]).into_iter().all(|t| g.rank(t) == 0 && !g.is_open(t));
        let why = || {
            format!("({work} operations, at least {MIN_OPERATIONS}; invariant along {} axes)", vars.len() - own.len())
        };
        if work > 0
            && own.len() < vars.len()
            && plain
            && choose(Kind::IndexTable, (about.index(), k), work >= MIN_OPERATIONS, why)
        {
            let table = crate::passes::bulk::table(g, &own, *ix);
            let at: Vec<Term> = own.iter().map(|o| g.mk(Node::Var(o.0))).collect();
            *ix = g.index(table, &at);
            tables += 1;
        }
    }
    (tables > 0).then(|| g.scatter(dst, src, &vars, &index))
}
