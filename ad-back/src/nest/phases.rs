//! Phases: separate loops before a loop over lanes, which compute, for all lanes of a block, values
//! that the loop over lanes cannot compute: elements at computed indices (gathers), sines and
//! cosines, and integer powers ([`NestPhase`]).
//!
//! An element or a function in a branch stays there: a phase must never compute what only a branch
//! needs.

use ad_ir::sorted::{SortedMap, SortedSet};

use proc_macro2::{Ident, TokenStream};
use quote::quote;

use super::super::kernel::{Id, Op, operands};
use super::super::rust::Expr;
use super::state::{LoopVariant, Nest};
use ad_ir::prim::{Prim, Unary};

/// The elements or arguments of a block, and the call.
///
/// - The loads of gathers are not vectorised. The loop that reads what they have loaded is.
/// - `sin` and `cos` of huge arguments call the library, which needs a test, and a loop over lanes
///   cannot have one. So the arguments are computed first, and then the functions by one call.
/// - `powi` is a loop over the bits of the exponents, and a loop over lanes cannot have one.
pub(super) struct NestPhase {
    lanes: Ident,
    zero: TokenStream,
    body: TokenStream,
    /// Whether the body names the index.
    used: bool,
    /// The code that uses the lanes afterwards.
    call: TokenStream,
}

impl NestPhase {
    pub(super) fn used(&self) -> bool {
        self.used
    }

    /// The code of the phase, in blocks of this number of lanes.
    pub(super) fn written(&self, lane: &Ident, width: &TokenStream, index: &TokenStream) -> TokenStream {
        let NestPhase { lanes, zero, body, used, call } = self;
        let index = if *used { index.clone() } else { TokenStream::new() };
        quote! {
            let mut #lanes = [#zero; #width];
            for #lane in 0..#width { #index #body }
            #call
        }
    }
}

impl Nest<'_, '_> {
    /// The phases of a block, in the order of their dependencies.
    pub(super) fn phases(&mut self) -> Result<Vec<NestPhase>, String> {
        self.laned.clear();
        if self.variant != LoopVariant::Lane {
            return Ok(Vec::new());
        }
        let mut phases = self.gathers()?;
        if !self.isa {
            return Ok(phases);
        }
        self.powers(&mut phases)?;
        self.sines(&mut phases)?;
        Ok(phases)
    }

    /// The phases of integer powers: one for the bases, if they differ between the lanes, and then
    /// one for the exponents, which ends with the call.
    fn powers(&mut self, phases: &mut Vec<NestPhase>) -> Result<(), String> {
        for id in 0..u32::try_from(self.k.nodes.len()).unwrap_or(0) {
            let at = id as usize;
            let inner = self.level(id) == self.depth && self.place[at] == 0 && self.uses[at] > 0;
            if !inner || !self.is_power(id) {
                continue;
            }
            let args = operands(&self.k.node(id).op);
            let (base, exponent) = (args[0], args[1]);
            let Some(for_exponent) = self.needed_for(exponent) else { continue };
            let bases = if self.level(base) < self.depth {
                let base = self.value(base)?.tokens;
                quote!(::core::array::repeat(#base))
            } else {
                let Some(for_base) = self.needed_for(base) else { continue };
                let phase = self.phase(base, &for_base, "bases")?;
                let lanes = phase.lanes.clone();
                phases.push(phase);
                quote!(#lanes)
            };
            let mut phase = self.phase(exponent, &for_exponent, "exponents")?;
            let (lanes, powers, isa) = (&phase.lanes, self.names.numbered("powers"), &self.isa_name);
            phase.call = quote!(let #powers = #isa::powi_lanes(#bases, #lanes););
            *self.summary.by_the_vector.entry("powi").or_default() += 1;
            self.in_lanes_of(id, &powers);
            phases.push(phase);
        }
        Ok(())
    }

    /// The phases of sines and cosines.
    fn sines(&mut self, phases: &mut Vec<NestPhase>) -> Result<(), String> {
        let mut by_argument: SortedMap<Id, [Option<Id>; 2]> = SortedMap::new();
        for id in 0..self.k.nodes.len() {
            let this = u32::try_from(id).unwrap_or(0);
            let node = &self.k.nodes[id];
            let inner = self.level(this) == self.depth && self.place[id] == 0 && self.uses[id] > 0;
            if !inner || node.exact || self.absorbed[id] {
                continue;
            }
            let Op::Prim(Prim::Unary(f @ (Unary::Sin | Unary::Cos)), args) = &node.op else { continue };
            by_argument.entry(args[0]).or_default()[usize::from(*f == Unary::Cos)] = Some(this);
        }
        for (argument, functions) in by_argument {
            let Some(needed) = self.needed_for(argument) else { continue };
            let mut phase = self.phase(argument, &needed, "angles")?;
            if needed.contains(&argument) && !self.is_row(argument) {
                self.in_lanes_of(argument, &phase.lanes);
            }
            let lanes = &phase.lanes;
            let function = match functions {
                [Some(_), Some(_)] => "sin_cos",
                [Some(_), None] => "sin",
                _ => "cos",
            };
            *self.summary.by_the_vector.entry(function).or_default() += 1;
            let isa = &self.isa_name;
            let names = functions.map(|f| f.map(|f| (f, self.names.fresh("lanes"))));
            phase.call = match &names {
                [Some((_, sin)), Some((_, cos))] => quote!(let (#sin, #cos) = #isa::sin_cos_lanes(#lanes);),
                [Some((_, sin)), None] => quote!(let #sin = #isa::sin_lanes(#lanes);),
                [None, Some((_, cos))] => quote!(let #cos = #isa::cos_lanes(#lanes);),
                [None, None] => quote!(),
            };
            for (id, lanes) in names.into_iter().flatten() {
                self.in_lanes_of(id, &lanes);
            }
            phases.push(phase);
        }
        Ok(())
    }

    /// The phases that load elements at computed indices.
    fn gathers(&mut self) -> Result<Vec<NestPhase>, String> {
        let mut phases = Vec::new();
        for id in 0..u32::try_from(self.k.nodes.len()).unwrap_or(0) {
            if let Some(needed) = self.gathered(id) {
                let phase = self.phase(id, &needed, "gathered")?;
                self.in_lanes_of(id, &phase.lanes);
                phases.push(phase);
            }
        }
        Ok(phases)
    }

    /// The nodes that a load depends on, if it is a gather that a phase can do.
    pub(super) fn gathered(&self, id: Id) -> Option<SortedSet<Id>> {
        let node = self.k.node(id);
        let at = id as usize;
        let inner = self.level(id) == self.depth && self.place[at] == 0 && self.uses[at] > 0;
        let gather = inner && matches!(node.op, Op::Load { .. }) && self.row_load(id).is_none();
        if gather { self.needed_for(id) } else { None }
    }

    /// A phase that computes a node, of these nodes.
    fn phase(&mut self, value: Id, needed: &SortedSet<Id>, name: &str) -> Result<NestPhase, String> {
        self.used_vars[self.depth - 1] = false;
        self.write_some_nodes(self.depth..=self.depth, &|id| needed.contains(&id))?;
        let zero = self.style.zero(self.k.node(value).elem);
        let tokens = self.value(value)?.tokens;
        let lanes = self.names.numbered(name);
        let lane = self.lane.clone();
        let mut body = self.code.remove(&(self.depth, 0)).unwrap_or_default();
        body.extend(quote!(#lanes[#lane] = #tokens;));
        for &id in needed {
            self.exprs[id as usize] = None;
        }
        let used = std::mem::take(&mut self.used_vars[self.depth - 1]);
        Ok(NestPhase { lanes, zero, body, used, call: TokenStream::new() })
    }

    /// Records that these lanes hold the node, for later phases and for the block's own loop.
    fn in_lanes_of(&mut self, id: Id, lanes: &Ident) {
        let lane = &self.lane;
        self.exprs[id as usize] = Some(Expr::atom(quote!(#lanes[#lane])));
        self.laned.insert(id, lanes.clone());
    }

    /// Whether a node is an element of a row, or needs no computation.
    fn is_row(&self, id: Id) -> bool {
        matches!(self.k.node(id).op, Op::Load { .. } | Op::Var(_) | Op::Lit(_) | Op::Scalar(_))
    }

    /// The nodes of the innermost loop that an argument depends on, itself included; `None` if one
    /// of these is in a branch, or expensive.
    fn needed_for(&self, argument: Id) -> Option<SortedSet<Id>> {
        let mut needed = SortedSet::new();
        let mut stack = vec![argument];
        while let Some(id) = stack.pop() {
            let at = id as usize;
            if self.level(id) != self.depth || self.laned.contains_key(&id) || !needed.insert(id) {
                continue;
            }
            if self.place[at] != 0 || self.is_vectorised(id) {
                return None;
            }
            stack.extend(self.reads(at));
        }
        Some(needed)
    }

    /// The nodes that the own loop of the block reads, after the phases.
    pub(super) fn read_after_phases(&self) -> SortedSet<Id> {
        let mut read = SortedSet::new();
        let mut stack = self.roots();
        while let Some(id) = stack.pop() {
            if read.insert(id) && !self.laned.contains_key(&id) {
                stack.extend(self.reads(id as usize));
            }
        }
        read
    }
}
