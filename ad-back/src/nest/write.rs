//! The code inside of the loops: the expressions of nodes, and the statement of each item. This
//! module must never write a node before its operands, nor decide where a node is written.

use ad_ir::sorted::SortedMap;
use std::collections::HashMap;

use proc_macro2::{Ident, TokenStream};
use quote::quote;

use super::super::block::{LONG_BLOCK, declared};
use super::super::items::{Fold, Item};
use super::super::kernel::{Id, Op};
use super::super::rust::{Expr, prec, typed};
use super::loops::rest_of;
use super::rows::put_into;
use super::state::{LoopVariant, MAX_UNNAMED_SIZE, Nest};
use ad_ir::ir::{Elem, Lit, Put, Term};
use ad_ir::prim::{Emit, Prim};

impl Nest<'_, '_> {
    /// The expression of a node whose operands have been written.
    pub(super) fn value(&mut self, id: Id) -> Result<Expr, String> {
        match &self.k.node(id).op {
            Op::Var(v) => {
                let v = usize::from(*v);
                self.lane_used |= self.variant != LoopVariant::Plain && v == self.depth - 1;
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
    pub(super) fn write_nodes(&mut self, levels: std::ops::RangeInclusive<usize>) -> Result<(), String> {
        self.write_some_nodes(levels, &|_| true)
    }

    pub(super) fn write_some_nodes(
        &mut self,
        levels: std::ops::RangeInclusive<usize>,
        which: &dyn Fn(Id) -> bool,
    ) -> Result<(), String> {
        let mut names: SortedMap<usize, Vec<TokenStream>> = SortedMap::new();
        // The number of nodes that may get a name, by level. If there are many, all names of the
        // level are declared before its code.
        let mut nodes: SortedMap<usize, usize> = SortedMap::new();
        for id in 0..self.k.nodes.len() {
            let this = u32::try_from(id).unwrap_or(0);
            if which(this) && self.uses[id] > 0 && !self.absorbed[id] && self.place[id] == 0 {
                *nodes.entry(self.level(this)).or_default() += 1;
            }
        }
        let long = |level: usize, place: usize| place == 0 && nodes.get(&level).is_some_and(|&n| n >= 2 * LONG_BLOCK);
        for id in 0..self.k.nodes.len() {
            let this = u32::try_from(id).unwrap_or(0);
            if !which(this) {
                continue;
            }
            if self.uses[id] == 0 || self.absorbed[id] || !levels.contains(&self.level(this)) {
                continue;
            }
            if matches!(self.k.nodes[id].op, Op::Var(_) | Op::Lit(_) | Op::Scalar(_)) {
                continue;
            }
            let e = self.expression(this)?;
            let level = self.level(this);
            let row = matches!(self.k.nodes[id].op, Op::Load { .. }) && level == self.depth && e.size == 0;
            let again =
                self.uses[id] > 1 || self.reader_level[id] > level || e.size > MAX_UNNAMED_SIZE || e.prec == prec::IF;
            // A node in an arm must get its name in that arm, before the choice. An element that an
            // item overwrites gets a name before that.
            let reused = matches!(&self.k.nodes[id].op, Op::Load { buf, .. } if self.reused.contains_key(buf));
            let e = if (again && !row) || reused {
                let name = match &self.k.nodes[id].hint {
                    Some(hint) => self.names.fresh(hint),
                    None => self.names.numbered("t"),
                };
                let tokens = &e.tokens;
                let binding = if long(level, self.place[id]) {
                    names.entry(level).or_default().push(quote!(#name));
                    quote!()
                } else {
                    quote!(let)
                };
                self.push(level, self.place[id], &quote!(#binding #name = #tokens;));
                Expr::atom(quote!(#name))
            } else {
                e
            };
            self.exprs[id] = Some(e);
        }
        for (level, names) in names {
            let code = self.code.entry((level, 0)).or_default();
            *code = [declared(&names), std::mem::take(code)].into_iter().collect();
        }
        Ok(())
    }

    /// Counts a function that is computed in an arm of a choice.
    pub(super) fn note_lazy(&mut self, id: Id, name: &'static str) {
        if self.place[id as usize] != 0 {
            *self.summary.lazy_functions.entry(name).or_default() += 1;
        }
    }

    pub(super) fn expression(&mut self, id: Id) -> Result<Expr, String> {
        if let Some(special) = self.special(id)? {
            return Ok(special);
        }
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
                let (from, written) = (k.node(args[0]).elem, function_name(prim));
                if let Some(name) = written {
                    *self.summary.plain_functions.entry(name).or_default() += 1;
                    self.note_lazy(id, name);
                }
                self.style.prim(prim, &refs, from, second)
            }
            Op::If(c, a, b) => {
                self.summary.choices += 1;
                let (c, a, b) = (self.value(*c)?, self.value(*a)?, self.value(*b)?);
                if let Some(e) = self.style.indicator(self.k.node(id).elem, &c, &a, &b) {
                    return Ok(e);
                }
                let level = self.level(id);
                let arm = |nest: &mut Self, which: bool| {
                    let arm = nest.arm_of.get(&(id, which)).copied()?;
                    nest.code.remove(&(level, arm))
                };
                let (yes, no) = (arm(self, true), arm(self, false));
                let size = 2 + c.size + a.size + b.size;
                let size = if yes.is_none() && no.is_none() { size } else { MAX_UNNAMED_SIZE + 1 };
                let first = typed(&[&a, &b]).unwrap_or_else(|| a.tokens.clone());
                let (c, a, b) = (c.tokens, first, b.tokens);
                Ok(Expr::new(quote!(if #c { #yes #a } else { #no #b }), prec::IF, size))
            }
            Op::Load { buf, sizes, ix } => {
                if self.level(id) == self.depth
                    && let Some(load) = self.row_load(id)
                {
                    let row = self.row(load.key)?;
                    let element = self.row_element(row);
                    return Ok(Expr::atom(match load.column {
                        None => element,
                        Some(column) => {
                            let column = self.value(column)?.tokens;
                            quote!(#element[#column])
                        }
                    }));
                }
                if let Some(element) = self.outer_row_element(id)? {
                    return Ok(element);
                }
                let exact = (0..ix.len()).all(|k| self.proven(ix[k], sizes[k]));
                let ix: Vec<Expr> = ix.iter().map(|&i| self.value(i)).collect::<Result<_, _>>()?;
                let at = self.linear(&ix, sizes, exact);
                let name = &self.arg_names[buf];
                let first = at.is(0);
                let at = at.tokens;
                self.summary.choices += usize::from(!exact);
                Ok(if exact {
                    Expr::new(quote!(#name[#at]), prec::ATOM, 1)
                } else if first {
                    let zero = self.style.zero(node.elem);
                    Expr::new(quote!(#name.first().copied().unwrap_or(#zero)), prec::ATOM, 2)
                } else {
                    let zero = self.style.zero(node.elem);
                    Expr::new(quote!(#name.get(#at).copied().unwrap_or(#zero)), prec::ATOM, 2)
                })
            }
            _ => self.value(id),
        }
    }

    pub(super) fn write_items(&mut self, accumulators: &HashMap<Term, Ident>) -> Result<(), String> {
        let d = self.depth;
        for item in self.items {
            let tokens = match item {
                Item::Store { out: None, .. } => continue,
                Item::Store { out: Some(t), value, .. } => {
                    let value = self.value(*value)?.tokens;
                    let loops: Vec<usize> = (0..d).collect();
                    let row = self.out_row(*t, &loops);
                    let place = self.row_element(row);
                    quote!(#place = #value;)
                }
                Item::Fold { out, fold, reduced, value, .. } => {
                    let real = *fold == Fold::Sum && self.g.elem(*out).is_real();
                    let place = if self.extremum.as_ref().is_some_and(|e| e.sum == *out) {
                        let (sum, lane) = (&self.arg_names[out], &self.lane);
                        if self.variant == LoopVariant::Lane { quote!(#sum[#lane]) } else { quote!(#sum) }
                    } else if let Some(acc) = accumulators.get(out) {
                        if real && self.variant == LoopVariant::Lane {
                            let lane = &self.lane;
                            quote!(#acc[#lane])
                        } else if real && self.variant == LoopVariant::Rest {
                            let acc = rest_of(acc);
                            quote!(#acc)
                        } else {
                            quote!(#acc)
                        }
                    } else {
                        let loops: Vec<usize> = (0..d).filter(|&v| !reduced[v]).collect();
                        let row = self.out_row(*out, &loops);
                        self.row_element(row)
                    };
                    if self.wide.contains(out) && self.variant != LoopVariant::Lane && accumulators.contains_key(out) {
                        let value = self.factors_or_value(*value)?;
                        quote!(#place += f64::from(#value);)
                    } else if self.inlined {
                        let value = self.factors_or_value(*value)?;
                        let (lane, there, zero) = (&self.lane, &self.length, self.style.zero(self.g.elem(*out)));
                        quote!(#place = if #lane < #there { #value } else { #zero };)
                    } else if real {
                        self.add_to(&place, *value)?
                    } else {
                        let value = self.value(*value)?;
                        self.accumulate(*fold, self.g.elem(*out), &place, &value)
                    }
                }
                Item::Block { out, put, ix, value, onto_zeros, .. } => {
                    let row = self.block_row(*out, ix)?;
                    let place = self.row_element(row);
                    match put {
                        Put::Add if !onto_zeros => self.add_to(&place, *value)?,
                        Put::Add | Put::Set => {
                            let value = self.value(*value)?.tokens;
                            quote!(#place = #value;)
                        }
                    }
                }
                Item::Scatter { out, put, ix, sizes, value } => {
                    let value = self.value(*value)?.tokens;
                    match self.scatter_place(*out, ix)? {
                        Some(place) => put_into(*put, &place, &value),
                        None => self.put_at(*out, *put, (ix, sizes), &value)?,
                    }
                }
            };
            self.push(d, 0, &tokens);
        }
        Ok(())
    }

    pub(super) fn accumulate(&self, fold: Fold, elem: Elem, place: &TokenStream, value: &Expr) -> TokenStream {
        let tokens = &value.tokens;
        match (fold, elem) {
            (Fold::Sum | Fold::InOrder, Elem::Real(_)) => quote!(#place += #tokens;),
            (Fold::Sum | Fold::InOrder, _) => quote!(#place = #place.wrapping_add(#tokens);),
            (Fold::All, _) => quote!(#place &= #tokens;),
            (Fold::Any, _) => quote!(#place |= #tokens;),
        }
    }
}

/// The method or kernel that computes a primitive, if it is not an operator.
fn function_name(prim: &Prim) -> Option<&'static str> {
    let emit = match prim {
        Prim::Unary(f) => &f.row().emit,
        Prim::Binary(f) => &f.row().emit,
        _ => return None,
    };
    match emit {
        Emit::Method(name) | Emit::Kernel(name) => Some(name),
        Emit::Op(_) => None,
    }
}
