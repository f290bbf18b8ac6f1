//! Decides which array terms are stored. Every other array is a view: a function from index to
//! element expression (BOT Fig. 10), expanded inside the loops that read it. The expansion must not
//! grow faster than the program. So a term that is read at several different indices, or from
//! several loops, is stored unless it is very cheap. (Otherwise a chain of shifted reads would take
//! exponential time.)

use ad_ir::sorted::SortedMap;
use std::collections::{HashMap, HashSet};

use ad_ir::choice::{Kind, choose, choose_if};
use ad_ir::ir::{Graph, Node, Term, TermTable};
use ad_ir::prim::{Binary, Cmp, Prim, Reduce};
use ad_middle::passes::lowering::im2col::ImplicitIm2col;
use ad_middle::passes::lowering::matrix::stored_operand;
use ad_middle::passes::lowering::opened::{LeafRole, LoopScopes, Loops, RowGrowth};
use ad_middle::passes::lowering::strided::strided;

/// The storage class of a term: how its readers access it.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Class {
    /// Expanded where it is read.
    View,
    /// A closed scalar: a `let`.
    Scalar,
    /// An array in memory.
    Buffer,
}

/// The cost of one element above which a term that several loops read is stored.
const MAX_COST_OF_SHARED: u32 = 8;
/// The total cost up to which a loop may recompute an element at several different indices: in
/// registers that is cheaper than a pass over memory.
const MAX_COST_OF_SHIFTED: u32 = 16;
/// The cost from which on a value is stored if it is gathered, or read under fewer indices than its
/// reader has.
const MIN_COST_OF_REUSED: u32 = 4;
const EXPENSIVE: u32 = ad_ir::prim::scalar::EXPENSIVE;
/// Costs are counted up to this limit.
const COST_LIMIT: u32 = 1 << 20;
/// The cost above which no value is recomputed, not even if a random policy asks for it.
const MAX_RECOMPUTED_COST: u32 = 256;

/// Whether `t` compares an index along one axis with a bound. A loop over this axis ends at the
/// bound, if it sees the comparison. So the comparison is not stored.
pub(super) fn bounds_an_index(g: &Graph, t: Term) -> bool {
    let is_index = |t: Term| matches!(g.node(under_replication(g, t)), Node::Prim(Prim::Iota, _));
    match g.node(under_replication(g, t)) {
        Node::Prim(Prim::Compare(Cmp::Lt | Cmp::Le), sides) => is_index(sides[0]) != is_index(sides[1]),
        _ => false,
    }
}

/// The array that a term repeats along more axes, or shows with its axes in another order.
pub(super) fn under_replication(g: &Graph, mut t: Term) -> Term {
    while let Node::Prim(Prim::Replicate(_) | Prim::Transpose(_), args) = g.node(t) {
        t = args[0];
    }
    t
}

/// Whether all elements of `t` are the same scalar.
pub(super) fn is_broadcast(g: &Graph, t: Term) -> bool {
    let mut t = t;
    loop {
        t = match g.node(t) {
            Node::Prim(Prim::Replicate(_) | Prim::Reshape | Prim::Recast | Prim::Transpose(_), args) => args[0],
            _ => return g.rank(t) == 0,
        };
    }
}

/// The cost of one element of `t` without that of its children; `None` if `t` is always stored.
fn own_cost(g: &Graph, t: Term) -> Option<u32> {
    Some(match g.node(t) {
        Node::Input(_) | Node::Param(..) | Node::Scatter { .. } => return None,
        Node::Cond { .. } if g.free(t).is_empty() => return None,
        Node::Prim(prim, _) => match prim {
            // The value is the same at each index.
            Prim::Replicate(_) if is_broadcast(g, t) => 0,
            _ => return prim.cost(),
        },
        Node::Gather { .. } => 2,
        Node::Lit(_) | Node::Var(_) | Node::Size(..) => 0,
        _ => 1,
    })
}

/// Whether an element of `t` is the result of an expensive function, which costs more than the
/// terms around it.
pub(super) fn is_function(g: &Graph, t: Term) -> bool {
    own_cost(g, t) == Some(EXPENSIVE)
}

/// The indices at which, and the statements by which, a term is read.
#[derive(Clone, Copy, Default)]
struct Readers {
    context: Option<u32>,
    root: Option<Term>,
    /// The number of indices at which it is read, without the first one.
    contexts: u32,
    roots: bool,
    forced: bool,
    /// Whether the body of a loop reads it although it does not change in the loop.
    reused: bool,
    /// Whether a loop reads one row of it in each iteration.
    streamed: bool,
}

/// The context of the terms: exact terms, windows, loops and scopes.
#[derive(Clone, Copy)]
pub(super) struct ProgramContext<'a> {
    pub(super) exact: &'a HashSet<Term>,
    pub(super) windows: &'a SortedMap<Term, ImplicitIm2col>,
    pub(super) loops: &'a Loops,
    pub(super) scopes: &'a LoopScopes,
}

/// Contexts: "pointwise over this domain", or "through this view, in that context".
#[derive(Default)]
struct Contexts {
    domains: HashMap<Vec<Term>, u32>,
    paths: HashMap<(u32, Term), u32>,
    count: u32,
}

impl Contexts {
    fn domain(&mut self, shape: &[Term]) -> u32 {
        let count = &mut self.count;
        *self.domains.entry(shape.to_vec()).or_insert_with(|| {
            *count += 1;
            *count
        })
    }

    fn path(&mut self, context: u32, view: Term) -> u32 {
        let count = &mut self.count;
        *self.paths.entry((context, view)).or_insert_with(|| {
            *count += 1;
            *count
        })
    }
}

/// Whether a decision depends on a sum of contiguous rows, so that it is evaluated in the order of
/// the function. (Over other axes the generated loops add in that order anyway.)
pub(super) fn is_exact_sum(g: &Graph, exact: &HashSet<Term>, t: Term) -> bool {
    match g.node(t) {
        Node::Prim(Prim::Sum(axes), args) => {
            let kept = g.rank(args[0]) - axes.len();
            exact.contains(&t) && g.elem(t).is_real() && axes.iter().all(|&a| usize::from(a) >= kept)
        }
        _ => false,
    }
}

/// The class of each reachable term, by its position. `reach` is ascending. All elements of `roots`
/// are read.
pub(super) fn classify(g: &Graph, reach: &[Term], roots: &[Term], around: ProgramContext<'_>) -> TermTable<Class> {
    // The cost of a term depends on which of its operands are stored, and the readers of a term
    // depend on which of its parents are. The first round finds the readers. The second round knows
    // them and decides bottom-up, so it stores a term as soon as a chain has become long enough.
    let (_, readers) = round(g, reach, roots, around, None);
    round(g, reach, roots, around, Some(&readers)).0
}

/// Whether a term of this cost is stored for these readers.
fn worth_storing(t: Term, r: Readers, work: u32) -> bool {
    let (shifted, twice, reused) = (
        r.contexts.saturating_mul(work) > MAX_COST_OF_SHIFTED,
        r.roots && work > MAX_COST_OF_SHARED,
        r.reused && work >= MIN_COST_OF_REUSED,
    );
    let why = || {
        let mut readers = Vec::new();
        if r.contexts > 0 {
            readers.push(format!(
                "at {} more indices, {} {MAX_COST_OF_SHIFTED}",
                r.contexts,
                if shifted { "in all >" } else { "in all <=" }
            ));
        }
        if r.roots {
            readers.push(format!("by several loops, {} {MAX_COST_OF_SHARED}", if twice { ">" } else { "<=" }));
        }
        if r.reused {
            readers.push(format!("in each step of a loop, {} {MIN_COST_OF_REUSED}", if reused { ">=" } else { "<" }));
        }
        // A term that costs nothing, or that one loop reads once, is not stored. The dump does not
        // mention it.
        if readers.is_empty() || work == 0 {
            return String::new();
        }
        let work =
            if work >= COST_LIMIT { "more operations than are counted".into() } else { format!("{work} operations") };
        format!("({work} an element; read {})", readers.join("; "))
    };
    let by_cost = shifted || twice || reused;
    r.forced || choose_if(!by_cost || work < MAX_RECOMPUTED_COST, Kind::Store, (t.index(), 0), by_cost, why)
}

fn round(
    g: &Graph,
    reach: &[Term],
    roots: &[Term],
    around: ProgramContext<'_>,
    known: Option<&TermTable<Readers>>,
) -> (TermTable<Class>, TermTable<Readers>) {
    let mut class = TermTable::new(Class::View);
    let mut cost = TermTable::new(0_u32);
    // The cost that a term adds to its readers: nothing if it is stored.
    let mut passed_on = TermTable::new(0_u32);
    // Contractions that are scattered to windows are not materialised.
    let not_stored: HashSet<Term> = around.windows.values().filter_map(|w| w.not_stored(g)).collect();
    for &t in reach {
        if not_stored.contains(&t) {
            continue;
        }
        if g.free(t).is_empty() && g.ty(t).as_array().is_some_and(|(_, shape)| shape.is_empty()) {
            class[t] = Class::Scalar;
        } else if let Some(own) = own_cost(g, t) {
            let mut total = own;
            g.node(t).for_each_child(|c| total = total.saturating_add(passed_on[c]));
            let total = total.min(COST_LIMIT);
            cost[t] = total;
            let stored = g.free(t).is_empty()
                && known.is_some_and(|r| (r[t].forced || !bounds_an_index(g, t)) && worth_storing(t, r[t], total));
            passed_on[t] = if stored { 0 } else { total };
        } else {
            class[t] = Class::Buffer;
        }
    }
    let mut readers = TermTable::new(Readers::default());
    let mut contexts = Contexts::default();
    for &t in roots {
        readers[t].forced = true;
    }
    // Parents are newer than children: all readers of a term have been visited before it.
    for &t in reach.iter().rev() {
        let r = readers[t];
        let work = cost[t];
        let storable = class[t] == Class::View && g.rank(t) > 0 && g.free(t).is_empty();
        if storable && (r.forced || !bounds_an_index(g, t)) && worth_storing(t, r, work) {
            class[t] = Class::Buffer;
        }
        // If the term that uses a view reads the array under it (windows that are read in place,
        // the part of an array that a product reads), the view has no reader and reads nothing.
        let unread = class[t] == Class::View && r.context.is_none() && !r.forced;
        if !not_stored.contains(&t) && !unread {
            visit(g, t, class[t], r, (around, &cost), &mut contexts, &mut readers);
        }
    }
    (class, readers)
}

/// Whether a sum runs over the first axes of a stored array, in any order. Such a sum has a kernel,
/// which takes several rows in each pass (measured: seven times as fast).
pub(super) fn adds_rows(g: &Graph, class: &TermTable<Class>, exact: &HashSet<Term>, t: Term) -> bool {
    match g.node(t) {
        Node::Prim(Prim::Sum(axes), args) => {
            let leading = axes.iter().enumerate().all(|(k, &a)| usize::from(a) == k) && axes.len() < g.rank(args[0]);
            let fits = leading && g.elem(t).is_real() && !exact.contains(&t) && class[args[0]] == Class::Buffer;
            fits && choose(Kind::Kernel, (t.index(), 1), true, || "(sums of the rows of an array in memory)".into())
        }
        _ => false,
    }
}

/// Whether a stored term replicates a stored array.
pub(super) fn repeats(g: &Graph, class: &TermTable<Class>, t: Term) -> bool {
    match g.node(t) {
        Node::Prim(Prim::Replicate(axes), args) => {
            let fits = axes.iter().enumerate().all(|(k, &a)| usize::from(a) == k)
                && g.rank(args[0]) > 0
                && class[args[0]] == Class::Buffer;
            fits && choose(Kind::Kernel, (t.index(), 2), true, || "(an array in memory, repeated)".into())
        }
        _ => false,
    }
}

/// Whether a stored term is another array with other size terms, so that nothing is computed.
pub(super) fn alias_of(g: &Graph, class: &TermTable<Class>, t: Term) -> Option<Term> {
    match g.node(t) {
        Node::Prim(Prim::Recast | Prim::Reshape, args) if class[args[0]] == Class::Buffer => Some(args[0]),
        _ => None,
    }
}

/// The stored arrays that are a row of another one: the row that has the number of the iteration,
/// of an array that the loop does not change. Such a row is a slice, and not a copy. Maps each to
/// the array and the number.
pub(super) fn own_rows(
    g: &Graph,
    reach: &[Term],
    class: &TermTable<Class>,
    (loops, scopes): (&Loops, &LoopScopes),
) -> SortedMap<Term, (Term, Term)> {
    let is_row = |t: Term| {
        let Node::Gather { src, vars, index, .. } = g.node(t) else { return None };
        let &[step] = &index[..] else { return None };
        let (n, LeafRole::Step) = loops.role(step)? else { return None };
        let stored = |t: Term| class[t] == Class::Buffer;
        // Only rows whose number is known in advance are all there.
        let complete = match loops.role(*src) {
            Some((of, LeafRole::Rows(k))) => loops.all[of].rows[k].how == RowGrowth::None,
            _ => true,
        };
        let unchanged = scopes.contains(scopes.of(*src), scopes.parent[n]);
        let whole = g.shape(*src).split_first() == Some((&loops.all[n].count, g.shape(t)));
        let fits = vars.is_empty() && stored(t) && stored(*src) && g.rank(t) > 0 && whole && complete && unchanged;
        fits.then_some((*src, step))
    };
    reach.iter().filter_map(|&t| Some((t, is_row(t)?))).collect()
}

/// For a contiguous part of an array of one axis: the array, the start and the length.
pub(super) fn part_of(g: &Graph, t: Term) -> Option<(Term, Term, Term)> {
    match g.node(t) {
        Node::Prim(Prim::Slice(steps), args) if steps[..] == [1] => Some((args[0], args[1], args[2])),
        _ => None,
    }
}

/// A stored sum some of whose summands are zero except for a block (the transposes of slices). The
/// blocks are added in separate passes, which need no index test (the adjoint of `x[i]`, `x[i +
/// 1]`). Returns the dense summands, then the blocks.
pub(super) fn padded_parts(g: &Graph, class: &TermTable<Class>, t: Term) -> Option<(Vec<Term>, Vec<Term>)> {
    let (mut dense, mut pads) = (Vec::new(), Vec::new());
    let mut stack = vec![t];
    while let Some(c) = stack.pop() {
        if c != t && class[c] != Class::View {
            dense.push(c);
            continue;
        }
        match g.node(c) {
            Node::Prim(Prim::Binary(Binary::Add), args) if dense.len() + pads.len() + stack.len() < 16 => {
                stack.extend([args[1], args[0]]);
            }
            Node::Prim(Prim::Pad(_), _) => pads.push(c),
            _ => dense.push(c),
        }
    }
    if pads.is_empty() { None } else { Some((dense, pads)) }
}

fn visit(
    g: &Graph,
    t: Term,
    class: Class,
    r: Readers,
    (around, cost): (ProgramContext<'_>, &TermTable<u32>),
    contexts: &mut Contexts,
    readers: &mut TermTable<Readers>,
) {
    let (root, context, shared) = match class {
        Class::View => (r.root, r.context.unwrap_or(0), r),
        Class::Scalar => (Some(t), 0, Readers::default()),
        Class::Buffer => (Some(t), contexts.domain(g.shape(t)), Readers::default()),
    };
    // The loop in which the elements of `t` are computed, and whether it takes one row in each
    // iteration.
    let ProgramContext { exact, windows, loops, scopes } = around;
    let here = root.map_or(0, |r| scopes.of(r));
    let row_of = |index: &[Term]| {
        let step = index.first().and_then(|&i| loops.role(i));
        matches!(step, Some((n, LeafRole::Step)) if n + 1 == here)
    };
    let is_row = matches!(g.node(t), Node::Gather { src, vars, index, .. }
        if vars.is_empty() && row_of(index) && here > 0 && scopes.of(*src) == scopes.parent[here - 1]);
    let streamed = shared.streamed || is_row;
    let moved = moved_elements(g, loops, t, readers);
    let mut read = |c: Term, context: u32, force: bool| {
        let to = &mut readers[c];
        to.reused |= shared.reused || (!streamed && scopes.of(c) != here);
        to.streamed = streamed && !to.reused;
        let other = u32::from(to.context.is_some_and(|k| k != context));
        to.contexts = to.contexts.saturating_add(other).max(shared.contexts);
        to.roots |= shared.roots || to.root.is_some_and(|k| Some(k) != root);
        to.context = Some(context);
        to.root = root;
        to.forced |= force;
    };
    let expensive = |c: Term| cost[c] >= MIN_COST_OF_REUSED;
    if let Some(w) = windows.get(&t) {
        w.operands.iter().for_each(|o| read(o.array, contexts.path(context, t), true));
        if let Some(added) = w.added {
            read(added.dst, context, !is_broadcast(g, added.dst));
        }
        return;
    }
    match g.node(t) {
        Node::Prim(prim, args) => {
            let buffer = class == Class::Buffer;
            visit_operands(g, t, (prim, args), (buffer, context, exact), (contexts, cost), &mut read);
        }
        Node::Gather { src, sizes, vars, index } => {
            let through = contexts.path(context, t);
            // No vector instruction loads a row whose elements lie apart. A block is copied, but no
            // whole argument: for cheap steps the copy takes three times as long as the loop.
            let block = scopes.of(*src) > 0 || matches!(g.node(*src), Node::Gather { .. });
            let apart = is_row && block && lies_apart(g, *src);
            read(*src, through, apart || !vars.is_empty() && expensive(*src) && cost[*src] >= EXPENSIVE);
            sizes.iter().chain(index).for_each(|&c| read(c, through, false));
        }
        Node::Scatter { dst, src, vars, index, .. } => {
            let over = contexts.domain(g.shape(*src));
            read(*dst, context, !is_broadcast(g, *dst));
            // If elements of a loop's array are moved within it, they are all read before any is
            // written: either they are stored, or what is computed from them.
            let fewer = moved.iter().all(|&c| g.rank(c) < g.rank(*src) && g.free(c).is_empty());
            read(*src, over, !moved.is_empty() && !fewer);
            for &c in moved.iter().filter(|_| fewer) {
                read(c, contexts.domain(g.shape(c)), true);
            }
            let through = contexts.path(over, t);
            for &c in index {
                read(c, through, false);
                // A table of indices is read again along the axes that it does not mention.
                if let Node::Gather { src: table, vars: none, .. } = g.node(c)
                    && none.is_empty()
                    && (1..vars.len()).contains(&g.rank(*table))
                    && expensive(*table)
                {
                    read(*table, contexts.path(through, c), true);
                }
            }
        }
        Node::Cond { cond, then, other } => {
            let arms = class == Class::Buffer;
            read(*cond, context, false);
            for &c in [then, other] {
                read(c, context, arms);
            }
        }
        node => node.for_each_child(|c| read(c, context, false)),
    }
}

/// Whether neighbours along the last axis of a part of an array are not neighbours in the array.
fn lies_apart(g: &Graph, t: Term) -> bool {
    let (mut t, mut axis) = (t, g.rank(t).saturating_sub(1));
    loop {
        match g.node(t) {
            Node::Prim(Prim::Transpose(order), args) => (t, axis) = (args[0], usize::from(order[axis])),
            Node::Prim(Prim::Slice(_) | Prim::Recast, args) => t = args[0],
            Node::Gather { src, vars, index, .. } if index.len() == g.rank(*src) => {
                return vars.get(axis).zip(index.last()).is_some_and(|(&v, &at)| !g.mentions(at, v));
            }
            Node::Gather { src, .. } => return axis + 1 < g.rank(t) && g.rank(*src) > 1,
            Node::Input(_) | Node::Param(..) => return axis + 1 < g.rank(t),
            _ => return false,
        }
    }
}

/// Calls `read` with each operand of a primitive, the context in which it is read, and whether it
/// has to be stored.
fn visit_operands(
    g: &Graph,
    t: Term,
    (prim, args): (&Prim, &[Term]),
    (buffer, context, exact): (bool, u32, &HashSet<Term>),
    (contexts, cost): (&mut Contexts, &TermTable<u32>),
    read: &mut dyn FnMut(Term, u32, bool),
) {
    let expensive = |c: Term| cost[c] >= MIN_COST_OF_REUSED;
    match prim {
        Prim::Sum(_) if is_exact_sum(g, exact, t) => read(args[0], contexts.path(context, t), true),
        // A reduction's loop runs over its operand.
        Prim::Sum(_) | Prim::Reduce(Reduce::All | Reduce::Any | Reduce::InOrder | Reduce::FromZero, _) => {
            let over = contexts.domain(g.shape(args[0]));
            read(args[0], over, false);
        }
        // The array that a part belongs to is stored, not the part.
        Prim::Reduce(..) if g.rank(t) == 0 && part_of(g, args[0]).is_some() => {
            read(args[0], contexts.path(context, t), false);
            if let Some((of, ..)) = part_of(g, args[0]) {
                read(of, contexts.path(context, t), true);
            }
        }
        Prim::Reduce(..) => args.iter().for_each(|&c| read(c, contexts.path(context, t), g.rank(c) > 0)),
        // The array under a transposition or a part is stored, not the transposition or the
        // part.
        Prim::Contract(_) => {
            let arrays = match strided(g, t, exact.contains(&t)) {
                Some(p) => [p.a.array, p.b.array],
                None => [args[0], args[1]].map(|c| stored_operand(g, c).array),
            };
            arrays.into_iter().for_each(|c| read(c, contexts.path(context, t), true));
        }
        Prim::Recast => {
            read(args[0], context, buffer && g.rank(t) > 0);
            args[1..].iter().for_each(|&c| read(c, 0, false));
        }
        Prim::Replicate(_) | Prim::Reshape | Prim::Transpose(_) | Prim::Slice(_) | Prim::Pad(_) | Prim::Iota => {
            let through = contexts.path(context, t);
            let force = match prim {
                // The operand is read again at each index of the added axes.
                Prim::Replicate(_) => expensive(args[0]) && !bounds_an_index(g, args[0]),
                // It costs nothing for a contiguous array, and divisions for any other operand.
                Prim::Reshape => !is_broadcast(g, args[0]),
                _ => false,
            };
            for (k, &c) in args.iter().enumerate() {
                read(c, through, k == 0 && force && g.rank(c) > 0);
            }
        }
        // A call gets the array and the place of a part of it, which is not stored.
        Prim::Call(_) | Prim::Onto(..) => {
            let own = usize::from(matches!(prim, Prim::Onto(..)));
            let (given, onto) = args.split_at(args.len() - own);
            for &c in given {
                let through = contexts.path(context, t);
                match part_of(g, c) {
                    Some((of, ..)) => {
                        read(c, through, false);
                        read(of, through, true);
                    }
                    None => read(c, through, g.rank(c) > 0),
                }
            }
            onto.iter().for_each(|&c| read(c, context, !is_broadcast(g, c)));
        }
        // A term that a kernel computes reads stored arrays.
        _ if prim.cost().is_none() => args.iter().for_each(|&c| read(c, contexts.path(context, t), g.rank(c) > 0)),
        _ => args.iter().for_each(|&c| read(c, context, false)),
    }
}

/// If the term is a scatter into an array that a loop carries: the terms that read elements of this
/// array and from which the scattered elements are computed. Scalars do not count, and neither does
/// what is stored in any case, since these are computed before.
fn moved_elements(g: &Graph, loops: &Loops, t: Term, readers: &TermTable<Readers>) -> Vec<Term> {
    let Node::Scatter { dst, src, .. } = g.node(t) else { return Vec::new() };
    if g.rank(*src) == 0 || is_broadcast(g, *src) {
        return Vec::new();
    }
    let Some(array) = carried_array(g, loops, *dst) else { return Vec::new() };
    let (mut found, mut seen) = (Vec::new(), HashSet::new());
    let mut stack = vec![*src];
    while let Some(t) = stack.pop() {
        // An array with other size terms has the memory of its operand.
        let renamed = matches!(g.node(t), Node::Prim(Prim::Recast | Prim::Reshape, _));
        let before = g.free(t).is_empty() && g.rank(t) == 0 || t != *src && readers[t].forced && !renamed;
        if is_state(g, loops, array, t) {
            found.push(t);
        } else if t > array && !before && seen.insert(t) {
            let mut reads = false;
            g.node(t).for_each_child(|c| reads |= is_state(g, loops, array, c));
            if reads {
                found.push(t);
            } else {
                g.node(t).for_each_child(|c| stack.push(c));
            }
        }
    }
    found
}

/// Whether a term is a carried array or a later state of it, which has the same memory.
fn is_state(g: &Graph, loops: &Loops, array: Term, t: Term) -> bool {
    let (mut stack, mut seen) = (vec![t], HashSet::new());
    while let Some(t) = stack.pop() {
        if t == array {
            return true;
        }
        // A later state has a larger number, except for what a loop leaves.
        if (t > array || loops.begun(t).is_some()) && seen.insert(t) {
            push_earlier_states(g, loops, t, &mut stack);
        }
    }
    false
}

/// The carried array of which a term is the same or a later state. `None` if there is none, or if
/// it may be one of several.
fn carried_array(g: &Graph, loops: &Loops, t: Term) -> Option<Term> {
    let (mut stack, mut seen) = (vec![t], HashSet::new());
    let mut found = None;
    while let Some(t) = stack.pop() {
        if matches!(g.node(t), Node::Param(..)) && loops.begun(t).is_none() {
            if found.is_some_and(|other| other != t) {
                return None;
            }
            found = Some(t);
        } else if seen.insert(t) {
            push_earlier_states(g, loops, t, &mut stack);
        }
    }
    found
}

/// The states from which this one is made by an update, a loop or a choice.
fn push_earlier_states(g: &Graph, loops: &Loops, t: Term, stack: &mut Vec<Term>) {
    match *g.node(t) {
        Node::Cond { then, other, .. } if g.rank(t) > 0 => stack.extend([then, other]),
        _ => stack.extend(g.destination(t).or_else(|| Some(loops.begun(t)?.1.init))),
    }
}
