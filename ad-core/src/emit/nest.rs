//! One loop nest as one small function of slices: what is computed at which loop, in which arm, and from which rows.
//! References that are parameters are known not to alias, and rows cut to their length once need no bounds checks inside
//! (`speed.md`: a factor of two each). Must never compute a node twice in one iteration, nor in an outer loop than its index
//! allows, nor a dear node outside the arm that alone uses it.

use std::cell::RefCell;
use std::collections::{BTreeMap, BTreeSet, HashMap};

use proc_macro2::{Ident, Span, TokenStream};
use quote::{format_ident, quote};

use super::kernel::{Id, Kernel, Op};
use super::rust::{Expr, Names, Style, prec};
use crate::ir::{Elem, Graph, Lit, Term};
use crate::prim::Prim;

/// How the values of an item meet.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Fold {
    Sum,
    All,
    Any,
}

/// What a nest does with a value at each index.
#[derive(Clone, Debug)]
pub(super) enum Item {
    /// Stores it; `None` where it is only used by the other items.
    Store { out: Option<Term>, value: Id },
    /// Folds it over the loops marked.
    Fold { out: Term, fold: Fold, reduced: Vec<bool>, value: Id },
    /// Adds it at an index of `out`; what falls outside is dropped.
    Scatter { out: Term, ix: Vec<Id>, value: Id },
    /// Adds it at a shifted index of `out`; the whole block is in range.
    Block { out: Term, ix: Vec<Id>, value: Id },
}

/// An argument of the function of a nest.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Arg {
    /// `&mut [F]`
    Out(Term),
    /// `&[F]`
    Buffer(Term),
    /// By value.
    Scalar(Term),
}

/// A finished function.
pub(super) struct Function {
    pub(super) item: TokenStream,
    pub(super) args: Vec<Arg>,
    /// Scalars returned, in order.
    pub(super) returns: Vec<Term>,
}

/// Independent accumulators of a sum (`speed.md`).
fn lanes() -> TokenStream {
    quote!(16)
}
/// Expressions longer than this get a name.
const LONG: u32 = 9;

/// The loop variant that an inner body is written for.
#[derive(Clone, PartialEq, Eq)]
enum Variant {
    Plain,
    Lane,
    Rest,
}

/// A row of a stored array: contiguous over the innermost loop.
#[derive(Clone, PartialEq, Eq, Hash, PartialOrd, Ord)]
struct RowKey {
    buf: Term,
    sizes: Vec<Term>,
    outer: Vec<Id>,
    base: Option<Id>,
}

struct Row {
    name: Ident,
    chunks: Ident,
    rest: Ident,
    out: bool,
}

/// An arm of a lazy choice; 0 is "no arm".
struct Arm {
    parent: usize,
    depth: u32,
    level: usize,
    choice: Id,
}

pub(super) struct Nest<'a, 'k> {
    g: &'a Graph,
    style: &'a Style,
    driver: &'a HashMap<Term, Ident>,
    k: &'k Kernel<'a>,
    items: &'k [Item],
    /// Loops that remain, and whether they are the whole domain walked as one.
    depth: usize,
    flat: bool,
    names: Names,
    vars: Vec<Ident>,
    used_vars: Vec<bool>,
    args: Vec<Arg>,
    arg_names: HashMap<Term, Ident>,
    /// Scalars that the code has named: the others are no parameters.
    named: RefCell<BTreeSet<Term>>,
    rows: BTreeMap<RowKey, usize>,
    out_rows: HashMap<Term, usize>,
    row_list: Vec<Row>,
    uses: Vec<u32>,
    reader_level: Vec<usize>,
    place: Vec<usize>,
    arms: Vec<Arm>,
    arm_of: HashMap<(Id, bool), usize>,
    exprs: Vec<Option<Expr>>,
    code: BTreeMap<(usize, usize), TokenStream>,
    post: Vec<TokenStream>,
    variant: Variant,
    lane: Ident,
}

impl<'a, 'k> Nest<'a, 'k> {
    pub(super) fn new(
        g: &'a Graph,
        style: &'a Style,
        driver: &'a HashMap<Term, Ident>,
        k: &'k Kernel<'a>,
        items: &'k [Item],
    ) -> Self {
        let flat = is_flat(k, items);
        let depth = if flat { 1 } else { k.loops.len() };
        let mut nest = Nest {
            g,
            style,
            driver,
            k,
            items,
            depth,
            flat,
            names: Names::default(),
            vars: Vec::new(),
            used_vars: vec![false; depth],
            args: Vec::new(),
            arg_names: HashMap::new(),
            named: RefCell::default(),
            rows: BTreeMap::new(),
            out_rows: HashMap::new(),
            row_list: Vec::new(),
            uses: vec![0; k.nodes.len()],
            reader_level: vec![0; k.nodes.len()],
            place: vec![0; k.nodes.len()],
            arms: vec![Arm { parent: 0, depth: 0, level: 0, choice: 0 }],
            arm_of: HashMap::new(),
            exprs: vec![None; k.nodes.len()],
            code: BTreeMap::new(),
            post: vec![TokenStream::new(); depth + 1],
            variant: Variant::Plain,
            lane: Ident::new("l", Span::mixed_site()),
        };
        nest.collect_args();
        for v in 0..depth {
            let name = ["i", "j", "k", "p", "q", "r"].get(v).copied().unwrap_or("i");
            let name = nest.names.fresh(name);
            nest.vars.push(name);
        }
        nest.lane = nest.names.fresh("l");
        nest.place_nodes();
        nest
    }

    fn level(&self, id: Id) -> usize {
        usize::from(self.k.node(id).level).min(self.depth)
    }

    /// The nodes that a node's code names: of a row its start only.
    fn reads(&self, id: usize) -> Vec<Id> {
        let this = u32::try_from(id).unwrap_or(0);
        if matches!(self.k.nodes[id].op, Op::Load { .. })
            && self.level(this) == self.depth
            && let Some(key) = self.row_key(this)
        {
            return key.outer.into_iter().chain(key.base).collect();
        }
        operands(&self.k.nodes[id].op)
    }

    fn roots(&self) -> Vec<Id> {
        let mut roots = Vec::new();
        for item in self.items {
            match item {
                Item::Store { out: None, .. } => {}
                Item::Store { value, .. } | Item::Fold { value, .. } => roots.push(*value),
                Item::Scatter { ix, value, .. } => {
                    roots.extend(ix);
                    roots.push(*value);
                }
                Item::Block { ix, value, .. } => {
                    roots.extend(&ix[..ix.len() - 1]);
                    roots.extend(self.block_start(ix));
                    roots.push(*value);
                }
            }
        }
        roots
    }

    /// Uses, from the youngest node down, and the parameters: results first, then what is read, in order of appearance.
    fn collect_args(&mut self) {
        let mut scalars: Vec<Term> = Vec::new();
        for item in self.items {
            match item {
                Item::Store { out: Some(t), .. } | Item::Scatter { out: t, .. } | Item::Block { out: t, .. } => {
                    self.args.push(Arg::Out(*t));
                }
                Item::Fold { out, .. } if self.g.rank(*out) > 0 => self.args.push(Arg::Out(*out)),
                _ => {}
            }
            if let Item::Scatter { out, .. } | Item::Fold { out, .. } | Item::Block { out, .. } = item {
                scalars.extend(self.g.shape(*out));
            }
        }
        for root in self.roots() {
            self.uses[root as usize] += 1;
            self.reader_level[root as usize] = self.depth;
        }
        for id in (0..self.k.nodes.len()).rev() {
            if self.uses[id] == 0 {
                continue;
            }
            let level = self.level(u32::try_from(id).unwrap_or(0));
            for c in self.reads(id) {
                self.uses[c as usize] += 1;
                let reader = &mut self.reader_level[c as usize];
                *reader = (*reader).max(level);
            }
        }
        let mut buffers: Vec<Term> = Vec::new();
        for (id, node) in self.k.nodes.iter().enumerate() {
            if self.uses[id] == 0 {
                continue;
            }
            match &node.op {
                Op::Load { buf, sizes, .. } => {
                    if !buffers.contains(buf) {
                        buffers.push(*buf);
                    }
                    scalars.extend(sizes);
                }
                Op::Scalar(t) => scalars.push(*t),
                _ => {}
            }
        }
        scalars.extend(&self.k.loops);
        self.args.extend(buffers.into_iter().map(Arg::Buffer));
        let mut seen: Vec<Term> = Vec::new();
        for t in scalars {
            if !seen.contains(&t) && self.driver.contains_key(&t) {
                seen.push(t);
                self.args.push(Arg::Scalar(t));
            }
        }
        for arg in &self.args {
            let (Arg::Out(t) | Arg::Buffer(t) | Arg::Scalar(t)) = arg;
            // In a function of its own the parameter is ours; in the driver it may be the user's.
            let name = if self.k.loops.is_empty() {
                self.driver[t].clone()
            } else {
                Ident::new(&self.driver[t].to_string(), Span::mixed_site())
            };
            self.names.reserve(&name.to_string());
            self.arg_names.insert(*t, name);
        }
    }

    /// Which arm each node is computed in: the innermost one that all its uses share, if it is dear; cheap nodes stay
    /// outside, where they do not stop the loop from being vectorised.
    fn place_nodes(&mut self) {
        let n = self.k.nodes.len();
        let mut context: Vec<Option<usize>> = vec![None; n];
        for root in self.roots() {
            context[root as usize] = Some(0);
        }
        for id in (0..n).rev() {
            let Some(own) = context[id] else { continue };
            let this = u32::try_from(id).unwrap_or(0);
            let mut meet = |nest: &Self, c: Id, arm: usize| {
                let slot = &mut context[c as usize];
                *slot = Some(slot.map_or(arm, |old| nest.common(old, arm)));
            };
            if let Op::If(c, a, b) = self.k.nodes[id].op {
                meet(self, c, own);
                for (value, arm) in [(a, true), (b, false)] {
                    let number = self.arms.len();
                    let (depth, level) = (self.arms[own].depth + 1, self.level(this));
                    self.arms.push(Arm { parent: own, depth, level, choice: this });
                    self.arm_of.insert((this, arm), number);
                    meet(self, value, number);
                }
            } else {
                for c in self.reads(id) {
                    meet(self, c, own);
                }
            }
        }
        for id in 0..n {
            let Some(mut own) = context[id] else { continue };
            let this = u32::try_from(id).unwrap_or(0);
            let level = self.level(this);
            while own != 0 && self.arms[own].level > level {
                own = self.arms[own].parent;
            }
            let mut place = 0;
            let mut dear = self.is_dear(this);
            for c in self.reads(id) {
                let at = self.place[c as usize];
                if at != 0 && self.arms[at].choice == this {
                    dear = true;
                } else if self.arms[at].depth > self.arms[place].depth && self.level(c) == level {
                    place = at;
                }
            }
            self.place[id] = if dear { own } else { place };
        }
    }

    fn common(&self, mut a: usize, mut b: usize) -> usize {
        while a != b {
            if self.arms[a].depth >= self.arms[b].depth {
                a = self.arms[a].parent;
            } else {
                b = self.arms[b].parent;
            }
        }
        a
    }

    fn is_dear(&self, id: Id) -> bool {
        match &self.k.node(id).op {
            Op::Prim(Prim::Unary(f), _) => f.row().dear,
            Op::Prim(Prim::Binary(f), _) => f.row().dear,
            Op::Prim(Prim::PowI, _) => true,
            Op::Load { sizes, ix, .. } => {
                self.row_key(id).is_none() && !(0..ix.len()).all(|k| self.proven(ix[k], sizes[k]))
            }
            _ => false,
        }
    }

    /// Whether the index is in range by construction.
    fn proven(&self, ix: Id, size: Term) -> bool {
        match self.k.node(ix).op {
            Op::Var(v) => self.k.loops[usize::from(v)] == size,
            Op::Lit(Lit::Int(_, n)) => self.g.int_value(size).is_some_and(|size| n < size),
            _ => false,
        }
    }

    /// The row that a load is of, if it is contiguous over the innermost loop.
    fn row_key(&self, id: Id) -> Option<RowKey> {
        let Op::Load { buf, sizes, ix } = &self.k.node(id).op else { return None };
        let (buf, sizes) = (*buf, sizes.to_vec());
        if self.flat && self.level(id) == 1 {
            return Some(RowKey { buf, sizes, outer: Vec::new(), base: None });
        }
        let inner = self.depth.checked_sub(1)?;
        let (last, outer) = ix.split_last()?;
        if outer.iter().any(|&i| self.level(i) > inner) {
            return None;
        }
        let is_inner = |i: Id| matches!(self.k.node(i).op, Op::Var(v) if usize::from(v) == inner);
        let base = match &self.k.node(*last).op {
            Op::Var(_) if is_inner(*last) => None,
            Op::Prim(Prim::Int(crate::prim::IntOp::Add), args) => match **args {
                [a, b] if is_inner(a) && self.level(b) <= inner => Some(b),
                [a, b] if is_inner(b) && self.level(a) <= inner => Some(a),
                _ => return None,
            },
            _ => return None,
        };
        Some(RowKey { buf, sizes, outer: outer.to_vec(), base })
    }

    fn arg(&self, t: Term) -> Expr {
        match self.g.node(t) {
            crate::ir::Node::Lit(lit) => self.style.lit(*lit),
            _ => {
                self.named.borrow_mut().insert(t);
                let name = &self.arg_names[&t];
                Expr::atom(quote!(#name))
            }
        }
    }

    fn var(&mut self, v: usize) -> Expr {
        self.used_vars[v] = true;
        let name = &self.vars[v];
        Expr::atom(quote!(#name))
    }

    fn push(&mut self, level: usize, arm: usize, tokens: &TokenStream) {
        self.code.entry((level, arm)).or_default().extend(tokens.clone());
    }

    /// The position of an element in row-major order; `None` for the only element of a scalar.
    fn linear(&mut self, ix: &[Expr], sizes: &[Term], exact: bool) -> Expr {
        let mut sum: Option<Expr> = None;
        for (i, &n) in ix.iter().zip(sizes) {
            sum = Some(match sum {
                None => i.clone(),
                Some(s) => {
                    let n = self.arg(n);
                    if exact {
                        s.times(&n).plus(i)
                    } else {
                        let (s, n, i) = (s.receiver(), n.tokens, &i.tokens);
                        Expr::atom(quote!(#s.wrapping_mul(#n).wrapping_add(#i)))
                    }
                }
            });
        }
        sum.unwrap_or_else(|| Expr::atom(quote!(0)))
    }

    fn extent(&self, v: usize) -> Expr {
        if self.flat {
            let mut product: Option<Expr> = None;
            for &n in &self.k.loops {
                let n = self.arg(n);
                product = Some(match product {
                    None => n,
                    Some(p) => p.times(&n),
                });
            }
            return product.unwrap_or_else(|| Expr::atom(quote!(1)));
        }
        let n = self.arg(self.k.loops[v]);
        // A range of literals has no type of its own.
        if n.receiver.is_some() { Expr::atom(n.receiver()) } else { n }
    }

    /// The size of the innermost loop, if it is a constant.
    fn literal_extent(&self) -> Option<i128> {
        if self.flat { None } else { self.g.int_value(*self.k.loops.last()?) }
    }

    /// The element of a row in the current variant of the inner loop.
    fn row_element(&mut self, row: usize) -> TokenStream {
        let index = match self.variant {
            Variant::Plain => self.var(self.depth - 1).tokens,
            _ => {
                let lane = &self.lane;
                quote!(#lane)
            }
        };
        let row = &self.row_list[row];
        let name = if self.variant == Variant::Rest { &row.rest } else { &row.name };
        quote!(#name[#index])
    }

    fn new_row(&mut self, base: &Ident, whole: bool, out: bool) -> usize {
        let base = base.to_string();
        let name = if whole { Ident::new(&base, Span::mixed_site()) } else { self.names.fresh(&format!("{base}_row")) };
        let chunks = self.names.fresh(&format!("{base}_chunks"));
        let rest = self.names.fresh(&format!("{base}_rest"));
        self.row_list.push(Row { name, chunks, rest, out });
        self.row_list.len() - 1
    }

    /// Cuts the row once, in the outermost loop that knows where it starts.
    fn row(&mut self, key: RowKey) -> Result<usize, String> {
        if let Some(&row) = self.rows.get(&key) {
            return Ok(row);
        }
        let inner = self.depth - 1;
        let of = self.arg_names[&key.buf].clone();
        let level = key.outer.iter().chain(&key.base).map(|&i| self.level(i)).max().unwrap_or(0);
        let n = self.extent(inner).tokens;
        let exact = (0..key.outer.len()).all(|k| self.proven(key.outer[k], key.sizes[k]));
        let last = key.sizes.last().copied();
        let in_range = exact && key.base.is_none() && (self.flat || last == Some(self.k.loops[inner]));
        // A row that is the whole array keeps its name.
        let whole = key.outer.is_empty() && in_range;
        let row = self.new_row(&of, whole, false);
        let name = self.row_list[row].name.clone();
        let cut = if whole {
            quote!(let #name = &#of[..#n];)
        } else {
            let mut ix: Vec<Expr> = Vec::new();
            for &i in &key.outer {
                ix.push(self.value(i)?);
            }
            if !ix.is_empty() || key.base.is_none() {
                ix.push(Expr::atom(quote!(0)));
            }
            let mut start = match ix.split_last() {
                Some((_, outer)) if !outer.is_empty() => {
                    let rows = self.linear(outer, &key.sizes[..outer.len()], exact);
                    let m = self.arg(key.sizes[outer.len()]);
                    if exact {
                        Some(rows.times(&m))
                    } else {
                        let (rows, m) = (rows.receiver(), m.tokens);
                        Some(Expr::atom(quote!(#rows.saturating_mul(#m))))
                    }
                }
                _ => None,
            };
            if let Some(base) = key.base {
                let base = self.value(base)?;
                start = Some(match start {
                    None => base,
                    Some(s) => {
                        let (s, base) = (s.receiver(), base.tokens);
                        Expr::atom(quote!(#s.saturating_add(#base)))
                    }
                });
            }
            let start = start.unwrap_or_else(|| Expr::atom(quote!(0)));
            if in_range {
                let start = start.at(prec::ADD);
                quote!(let #name = &#of[#start..][..#n];)
            } else {
                let (cut, start) = (self.style.kernel("cut"), start.tokens);
                let fill = self.style.zero(self.g.elem(key.buf));
                quote!(let #name = &*#cut(#of, #start, #n, #fill);)
            }
        };
        self.push(level, 0, &cut);
        self.rows.insert(key, row);
        Ok(row)
    }

    /// Where the rows of a block start in the rows of the result; `None`: at their beginning.
    fn block_start(&self, ix: &[Id]) -> Option<Id> {
        match &self.k.node(*ix.last()?).op {
            Op::Prim(_, args) => args.iter().copied().find(|&a| self.level(a) < self.depth),
            _ => None,
        }
    }

    /// The row of a result to which the innermost loop adds a row of a block.
    fn block_row(&mut self, t: Term, ix: &[Id]) -> Result<usize, String> {
        if let Some(&row) = self.out_rows.get(&t) {
            return Ok(row);
        }
        let of = self.arg_names[&t].clone();
        let sizes = self.g.shape(t).to_vec();
        let outer = &ix[..ix.len() - 1];
        let start = self.block_start(ix);
        let level = outer.iter().chain(&start).map(|&i| self.level(i)).max().unwrap_or(0);
        let mut at: Vec<Expr> = outer.iter().map(|&i| self.value(i)).collect::<Result<_, _>>()?;
        at.push(match start {
            Some(start) => self.value(start)?,
            None => self.style.lit(Lit::Int(crate::ir::IntTy::Usize, 0)),
        });
        let (start, n) = (self.linear(&at, &sizes, true), self.extent(self.depth - 1).tokens);
        let row = self.new_row(&of, false, true);
        let name = self.row_list[row].name.clone();
        let start = start.at(prec::ADD);
        self.push(level, 0, &quote!(let #name = &mut #of[#start..][..#n];));
        self.out_rows.insert(t, row);
        Ok(row)
    }

    /// The row of a result that the innermost loop writes.
    fn out_row(&mut self, t: Term, loops: &[usize]) -> usize {
        if let Some(&row) = self.out_rows.get(&t) {
            return row;
        }
        let of = self.arg_names[&t].clone();
        let outer: Vec<usize> = loops[..loops.len() - 1].to_vec();
        let n = self.extent(self.depth - 1).tokens;
        let row = self.new_row(&of, outer.is_empty(), true);
        let name = self.row_list[row].name.clone();
        if outer.is_empty() {
            self.push(0, 0, &quote!(let #name = &mut #of[..#n];));
        } else {
            let ix: Vec<Expr> = outer.iter().map(|&v| self.var(v)).collect();
            let sizes: Vec<Term> = loops.iter().map(|&v| self.k.loops[v]).collect();
            let rows = self.linear(&ix, &sizes[..outer.len()], true);
            let m = self.arg(sizes[outer.len()]);
            let start = rows.times(&m).tokens;
            let level = outer.iter().max().map_or(0, |v| v + 1);
            self.push(level, 0, &quote!(let #name = &mut #of[#start..][..#n];));
        }
        self.out_rows.insert(t, row);
        row
    }

    /// The expression of a node whose operands have been written.
    fn value(&mut self, id: Id) -> Result<Expr, String> {
        match &self.k.node(id).op {
            Op::Var(v) => {
                let v = usize::from(*v);
                if self.variant != Variant::Plain && v == self.depth - 1 {
                    self.used_vars[v] = true;
                }
                Ok(self.var(v))
            }
            Op::Lit(lit) => Ok(self.style.lit(*lit)),
            Op::Scalar(t) => Ok(self.arg(*t)),
            _ => match &self.exprs[id as usize] {
                Some(e) => Ok(e.clone()),
                None => Err(format!("node {id} is used before it is written")),
            },
        }
    }

    /// Writes every node of these levels, oldest first.
    fn write_nodes(&mut self, levels: std::ops::RangeInclusive<usize>) -> Result<(), String> {
        for id in 0..self.k.nodes.len() {
            let this = u32::try_from(id).unwrap_or(0);
            if self.uses[id] == 0 || !levels.contains(&self.level(this)) {
                continue;
            }
            if matches!(self.k.nodes[id].op, Op::Var(_) | Op::Lit(_) | Op::Scalar(_)) {
                continue;
            }
            let e = self.expression(this)?;
            let level = self.level(this);
            let row = matches!(self.k.nodes[id].op, Op::Load { .. }) && level == self.depth && e.size == 0;
            let again = self.uses[id] > 1 || self.reader_level[id] > level || e.size > LONG || e.prec == prec::IF;
            // What stands in an arm must have its name there, before the choice.
            let e = if again && !row {
                let name = match &self.k.nodes[id].hint {
                    Some(hint) => self.names.fresh(hint),
                    None => self.names.numbered("t"),
                };
                let tokens = &e.tokens;
                self.push(level, self.place[id], &quote!(let #name = #tokens;));
                Expr::atom(quote!(#name))
            } else {
                e
            };
            self.exprs[id] = Some(e);
        }
        Ok(())
    }

    fn expression(&mut self, id: Id) -> Result<Expr, String> {
        let node = self.k.node(id);
        let k = self.k;
        match &node.op {
            Op::Prim(prim, args) => {
                let values: Vec<Expr> = args.iter().map(|&c| self.value(c)).collect::<Result<_, _>>()?;
                let refs: Vec<&Expr> = values.iter().collect();
                let second = args.get(1).and_then(|&c| match k.node(c).op {
                    Op::Lit(Lit::Int(_, n)) => Some(n),
                    _ => None,
                });
                self.style.prim(prim, &refs, k.node(args[0]).elem, second)
            }
            Op::If(c, a, b) => {
                let (c, a, b) = (self.value(*c)?, self.value(*a)?, self.value(*b)?);
                let level = self.level(id);
                let arm = |nest: &mut Self, which: bool| {
                    let arm = nest.arm_of.get(&(id, which)).copied().unwrap_or(0);
                    nest.code.remove(&(level, arm)).filter(|_| arm != 0).unwrap_or_default()
                };
                let (yes, no) = (arm(self, true), arm(self, false));
                let size = 2 + c.size + a.size + b.size;
                let size = if yes.is_empty() && no.is_empty() { size } else { LONG + 1 };
                let (c, a, b) = (c.tokens, a.tokens, b.tokens);
                Ok(Expr::new(quote!(if #c { #yes #a } else { #no #b }), prec::IF, size))
            }
            Op::Load { buf, sizes, ix } => {
                if self.level(id) == self.depth
                    && let Some(key) = self.row_key(id)
                {
                    let row = self.row(key)?;
                    return Ok(Expr::atom(self.row_element(row)));
                }
                let exact = (0..ix.len()).all(|k| self.proven(ix[k], sizes[k]));
                let ix: Vec<Expr> = ix.iter().map(|&i| self.value(i)).collect::<Result<_, _>>()?;
                let at = self.linear(&ix, sizes, exact).tokens;
                let name = &self.arg_names[buf];
                Ok(if exact {
                    Expr::new(quote!(#name[#at]), prec::ATOM, 1)
                } else {
                    let zero = self.style.zero(node.elem);
                    Expr::new(quote!(#name.get(#at).copied().unwrap_or(#zero)), prec::ATOM, 2)
                })
            }
            _ => self.value(id),
        }
    }

    /// Whether the innermost loop is written in lanes: it holds a real sum, and nothing in it keeps it from being vectorised.
    fn in_lanes(&self) -> bool {
        let sums = self.items.iter().any(|item| match item {
            Item::Fold { out, fold: Fold::Sum, reduced, .. } => {
                self.g.elem(*out).is_real() && (self.flat || reduced.last() == Some(&true))
            }
            _ => false,
        });
        let points = (0..self.k.nodes.len()).any(|id| {
            let this = u32::try_from(id).unwrap_or(0);
            self.uses[id] > 0
                && matches!(self.k.nodes[id].op, Op::Load { .. })
                && self.level(this) == self.depth
                && self.row_key(this).is_none()
        });
        // A short row of known length is a plain loop.
        let short = self.depth > 0 && self.literal_extent().is_some_and(|n| n < 32);
        self.depth > 0 && !short && sums && !points && !self.items.iter().any(|i| matches!(i, Item::Scatter { .. }))
    }

    fn write_items(&mut self, accumulators: &HashMap<Term, Ident>) -> Result<(), String> {
        let d = self.depth;
        for item in self.items {
            let tokens = match item {
                Item::Store { out: None, .. } => continue,
                Item::Store { out: Some(t), value } => {
                    let value = self.value(*value)?.tokens;
                    let loops: Vec<usize> = (0..d).collect();
                    let row = self.out_row(*t, &loops);
                    let place = self.row_element(row);
                    quote!(#place = #value;)
                }
                Item::Fold { out, fold, reduced, value } => {
                    let value = self.value(*value)?;
                    if let Some(acc) = accumulators.get(out) {
                        let real = *fold == Fold::Sum && self.g.elem(*out).is_real();
                        if real && self.variant == Variant::Lane {
                            let (lane, value) = (&self.lane, value.tokens);
                            quote!(#acc[#lane] += #value;)
                        } else {
                            let acc = if real && self.variant == Variant::Rest { rest_of(acc) } else { acc.clone() };
                            self.accumulate(*fold, self.g.elem(*out), &quote!(#acc), &value)
                        }
                    } else {
                        let loops: Vec<usize> = (0..d).filter(|&v| !reduced[v]).collect();
                        let row = self.out_row(*out, &loops);
                        let place = self.row_element(row);
                        self.accumulate(*fold, self.g.elem(*out), &place, &value)
                    }
                }
                Item::Block { out, ix, value } => {
                    let value = self.value(*value)?.tokens;
                    let row = self.block_row(*out, ix)?;
                    let place = self.row_element(row);
                    quote!(#place += #value;)
                }
                Item::Scatter { out, ix, value } => {
                    let value = self.value(*value)?.tokens;
                    let sizes = self.g.shape(*out).to_vec();
                    let at: Vec<Expr> = ix.iter().map(|&i| self.value(i)).collect::<Result<_, _>>()?;
                    let mut inside: Option<TokenStream> = None;
                    for (k, &i) in ix.iter().enumerate() {
                        if !self.proven(i, sizes[k]) {
                            let (i, n) = (at[k].at(prec::COMPARE + 1), self.arg(sizes[k]).tokens);
                            inside = Some(match inside {
                                None => quote!(#i < #n),
                                Some(before) => quote!(#before && #i < #n),
                            });
                        }
                    }
                    let at = self.linear(&at, &sizes, true).tokens;
                    let name = &self.arg_names[out];
                    match inside {
                        None => quote!(#name[#at] += #value;),
                        Some(inside) => quote!(if #inside { #name[#at] += #value; }),
                    }
                }
            };
            self.push(d, 0, &tokens);
        }
        Ok(())
    }

    fn accumulate(&self, fold: Fold, elem: Elem, place: &TokenStream, value: &Expr) -> TokenStream {
        let tokens = &value.tokens;
        match (fold, elem) {
            (Fold::Sum, Elem::Real(_)) => quote!(#place += #tokens;),
            (Fold::Sum, _) => quote!(#place = #place.wrapping_add(#tokens);),
            (Fold::All, _) => quote!(#place &= #tokens;),
            (Fold::Any, _) => quote!(#place |= #tokens;),
        }
    }

    /// A nest without loops, for the driver: statements, and the value of its only item; the terms that they name.
    pub(super) fn inline(mut self, value: Id) -> Result<(TokenStream, Expr, Vec<Term>), String> {
        self.write_nodes(0..=0)?;
        let value = self.value(value)?;
        let mut named: Vec<Term> = self.named.take().into_iter().collect();
        named.extend(self.args.iter().filter_map(|arg| match arg {
            Arg::Buffer(t) => Some(*t),
            _ => None,
        }));
        Ok((self.code.remove(&(0, 0)).unwrap_or_default(), value, named))
    }

    /// The function of the nest.
    pub(super) fn function(mut self, name: &Ident, doc: &str) -> Result<Function, String> {
        let d = self.depth;
        let (lanes, lane_count) = (self.in_lanes(), lanes());
        let mut returns = Vec::new();
        let mut return_values = Vec::new();
        let mut accumulators: HashMap<Term, Ident> = HashMap::new();
        if d > 0 {
            self.write_nodes(0..=d - 1)?;
        }
        for item in self.items {
            let Item::Fold { out, fold, reduced, .. } = item else { continue };
            let reduced: Vec<bool> = if self.flat { vec![true] } else { reduced.clone() };
            let suffix = reduced.iter().rev().take_while(|r| **r).count();
            if suffix == 0 && self.g.rank(*out) > 0 {
                continue;
            }
            let start = d - suffix;
            let elem = self.g.elem(*out);
            let zero = if *fold == Fold::All { quote!(true) } else { self.style.zero(elem) };
            let ty = self.style.ty(elem);
            let total = if lanes && *fold == Fold::Sum && elem.is_real() {
                let base = self.driver[out].to_string();
                let acc = self.names.fresh(&format!("{base}_lanes"));
                let rest = rest_of(&acc);
                self.names.reserve(&rest.to_string());
                self.push(start, 0, &quote!(let mut #acc = [#zero; #lane_count]; let mut #rest = #zero;));
                let total = self.style.kernel("total");
                accumulators.insert(*out, acc.clone());
                quote!(#total(#acc, #rest))
            } else {
                let base = self.driver[out].to_string();
                let acc = self.names.fresh(&format!("{base}_sum"));
                self.push(start, 0, &quote!(let mut #acc: #ty = #zero;));
                accumulators.insert(*out, acc.clone());
                quote!(#acc)
            };
            if self.g.rank(*out) == 0 {
                returns.push(*out);
                if start == 0 {
                    return_values.push(total);
                }
                continue;
            }
            let loops: Vec<usize> = (0..d).filter(|&v| !reduced[v]).collect();
            let ix: Vec<Expr> = loops.iter().map(|&v| self.var(v)).collect();
            let sizes: Vec<Term> = loops.iter().map(|&v| self.k.loops[v]).collect();
            let at = self.linear(&ix, &sizes, true).tokens;
            let of = &self.arg_names[out];
            let place = quote!(#of[#at]);
            let again = reduced[..start].iter().any(|r| *r);
            let post =
                if again { self.accumulate(*fold, elem, &place, &Expr::atom(total)) } else { quote!(#place = #total;) };
            self.post[start].extend(post);
        }
        let body = self.body(lanes, &accumulators)?;
        let named = self.named.take();
        self.args.retain(|arg| !matches!(arg, Arg::Scalar(t) if !named.contains(t)));
        let params = self.args.iter().map(|arg| {
            let (Arg::Out(t) | Arg::Buffer(t) | Arg::Scalar(t)) = arg;
            let (name, ty) = (&self.arg_names[t], self.style.ty(self.g.elem(*t)));
            match arg {
                Arg::Out(_) => quote!(#name: &mut [#ty]),
                Arg::Buffer(_) => quote!(#name: &[#ty]),
                Arg::Scalar(_) => quote!(#name: #ty),
            }
        });
        let types: Vec<TokenStream> = returns.iter().map(|t| self.style.ty(self.g.elem(*t))).collect();
        let (result, value) = match (&*types, &*return_values) {
            ([], _) => (quote!(), quote!()),
            ([ty], [value]) => (quote!(-> #ty), quote!(#value)),
            _ => (quote!(-> (#(#types),*)), quote!((#(#return_values),*))),
        };
        let generics = self.generics();
        let item = quote! {
            #[doc = #doc]
            fn #name #generics (#(#params),*) #result {
                #body
                #value
            }
        };
        Ok(Function { item, args: self.args, returns })
    }

    fn generics(&self) -> TokenStream {
        let param = Elem::Real(crate::ir::RealTy::Param);
        let generic = self.args.iter().any(|a| {
            let (Arg::Out(t) | Arg::Buffer(t) | Arg::Scalar(t)) = a;
            self.g.elem(*t) == param
        }) || self.k.nodes.iter().any(|n| n.elem == param);
        if generic {
            let (krate, name) = (&self.style.krate, &self.style.param);
            quote!(<#name: #krate::runtime::Real>)
        } else {
            quote!()
        }
    }

    /// The loops, from the inside out.
    fn body(&mut self, lanes: bool, accumulators: &HashMap<Term, Ident>) -> Result<TokenStream, String> {
        let d = self.depth;
        let variant = |nest: &mut Self, variant: Variant| -> Result<(TokenStream, bool), String> {
            nest.variant = variant;
            let names = nest.names.clone();
            if d > 0 {
                nest.used_vars[d - 1] = false;
            }
            nest.write_nodes(d..=d)?;
            nest.write_items(accumulators)?;
            nest.names = names;
            let used = d > 0 && nest.used_vars[d - 1];
            Ok((nest.code.remove(&(d, 0)).unwrap_or_default(), used))
        };
        if d == 0 {
            return Ok(variant(self, Variant::Plain)?.0);
        }
        let inner = d - 1;
        let n = self.extent(inner);
        let loops = if lanes {
            let (body, used) = variant(self, Variant::Lane)?;
            let (rest, rest_used) = variant(self, Variant::Rest)?;
            self.lane_loops(&n, (body, used), (rest, rest_used))
        } else {
            let (body, used) = variant(self, Variant::Plain)?;
            let var = self.loop_var(inner, used);
            let n = n.at(prec::ADD);
            quote!(for #var in 0..#n { #body })
        };
        let mut code = loops;
        for level in (0..d).rev() {
            let pre = self.code.remove(&(level, 0)).unwrap_or_default();
            let post = std::mem::take(&mut self.post[level]);
            code = quote!(#pre #code #post);
            if level > 0 {
                let var = self.loop_var(level - 1, self.used_vars[level - 1]);
                let n = self.extent(level - 1).at(prec::ADD);
                code = quote!(for #var in 0..#n { #code });
            }
        }
        Ok(code)
    }

    fn loop_var(&self, v: usize, used: bool) -> TokenStream {
        let name = &self.vars[v];
        if used { quote!(#name) } else { quote!(_) }
    }

    /// Sixteen independent accumulators over chunks of the rows, then what is left over: the order is the same each time.
    fn lane_loops(
        &mut self,
        n: &Expr,
        (body, used): (TokenStream, bool),
        (rest, rest_used): (TokenStream, bool),
    ) -> TokenStream {
        let chunk = self.names.fresh("c");
        let lanes = lanes();
        let constant = self.literal_extent();
        let (lane, var) = (&self.lane, &self.vars[self.depth - 1]);
        let (mut cuts, mut picks) = (TokenStream::new(), TokenStream::new());
        let whole_chunks = constant.is_some_and(|n| n % 16 == 0);
        for row in &self.row_list {
            let Row { name, chunks, rest, out } = row;
            let rest = if whole_chunks { quote!(_) } else { quote!(#rest) };
            if *out {
                cuts.extend(quote!(let (#chunks, #rest) = #name.as_chunks_mut::<#lanes>();));
                picks.extend(quote!(let #name = &mut #chunks[#chunk];));
            } else {
                cuts.extend(quote!(let (#chunks, #rest) = #name.as_chunks::<#lanes>();));
                picks.extend(quote!(let #name = &#chunks[#chunk];));
            }
        }
        let number = |n: i128| {
            let n = proc_macro2::Literal::i128_unsuffixed(n);
            quote!(#n)
        };
        let n = n.at(prec::MUL);
        let (count, left, start) = match constant {
            Some(n) => (number(n / 16), number(n % 16), number(n / 16 * 16)),
            None => (quote!(#n / #lanes), quote!(#n % #lanes), quote!(#n / #lanes * #lanes)),
        };
        let index = if used { quote!(let #var = #lanes * #chunk + #lane;) } else { quote!() };
        let rest_index = if rest_used { quote!(let #var = #start + #lane;) } else { quote!() };
        let chunk_var = if used || !self.row_list.is_empty() { quote!(#chunk) } else { quote!(_) };
        let tail = if whole_chunks { quote!() } else { quote!(for #lane in 0..#left { #rest_index #rest }) };
        quote! {
            #cuts
            for #chunk_var in 0..#count {
                #picks
                for #lane in 0..#lanes { #index #body }
            }
            #tail
        }
    }
}

fn rest_of(lanes: &Ident) -> Ident {
    format_ident!("{}_rest", lanes.to_string().trim_end_matches("_lanes"), span = Span::mixed_site())
}

/// The nodes that a node reads.
pub(super) fn operands(op: &Op) -> Vec<Id> {
    match op {
        Op::Lit(_) | Op::Scalar(_) | Op::Var(_) => Vec::new(),
        Op::Load { ix, .. } => ix.to_vec(),
        Op::Prim(_, args) => args.to_vec(),
        Op::If(c, a, b) => vec![*c, *a, *b],
    }
}

/// Whether all indices are only used together, as the position in arrays of the whole domain: then it is one loop.
fn is_flat(k: &Kernel<'_>, items: &[Item]) -> bool {
    let identity = k.identity();
    if k.loops.len() < 2 {
        return false;
    }
    let whole = |item: &Item| match item {
        Item::Store { .. } => true,
        Item::Fold { reduced, .. } => reduced.iter().all(|r| *r),
        Item::Scatter { .. } | Item::Block { .. } => false,
    };
    let pointwise = |op: &Op| match op {
        Op::Load { sizes, ix, .. } => **ix == *identity && **sizes == *k.loops,
        _ => false,
    };
    let mut any = false;
    for node in &k.nodes {
        let pointwise = pointwise(&node.op);
        any |= pointwise;
        let index = |id: &Id| matches!(k.node(*id).op, Op::Var(_));
        if !pointwise && operands(&node.op).iter().any(index) {
            return false;
        }
    }
    let index = |item: &Item| {
        let (Item::Store { value, .. }
        | Item::Fold { value, .. }
        | Item::Scatter { value, .. }
        | Item::Block { value, .. }) = item;
        matches!(k.node(*value).op, Op::Var(_))
    };
    any && items.iter().all(whole) && !items.iter().any(index)
}
