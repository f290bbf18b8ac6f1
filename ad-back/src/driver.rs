//! The body of a routine: parameters become slices and sizes, each statement of the plan becomes
//! code, checks are at the positions that the plan gives, and results are assembled. The code
//! inside of loop nests is written by `nest`; this module writes no computation on elements.

mod block_nests;
mod calls;
mod destinations;
mod im2col;
mod inputs;
mod iteration_end;
mod kernels;
mod literal_sizes;
mod loops;
mod memory;
mod nests;
mod operands;
mod outer_vectorised;
mod outlined;
mod reservation;
mod results;
mod reuse;
mod scalars;
mod splitting;
mod stack;
mod state;
mod strided;
mod threads;
mod tiling;
mod whole;
mod workspace;

use std::collections::{HashMap, HashSet};

use proc_macro2::{Ident, TokenStream};
use quote::quote;

use super::block::{Statement, live, nested};
use super::notes::Note;
use super::plan::Work;
use ad_ir::ir::Term;
use ad_ir::program::OutputTree;
pub(super) use inputs::in_list;
use memory::{Budget, Destinations};
pub(super) use state::Driver;
pub(super) use tiling::describe as describe_block;

impl Driver<'_> {
    /// The nested functions and the body (statements, results), and the notes of the statements.
    pub(super) fn body(
        mut self,
        result: &OutputTree,
        destinations: &[Ident],
    ) -> Result<([TokenStream; 2], Vec<Note>), String> {
        let replaced = |name: &Ident| self.is_replaced(name);
        self.destinations = Destinations::of(self.g, self.params, result, (destinations, replaced));
        self.memory.budget = Budget::of(self.g, self.params, result);
        self.inputs();
        if self.style.workspace {
            // A routine without arrays on the heap does not read its workspace.
            self.add(Statement { code: quote!(let _ = &workspace_;).into(), effect: true, ..Statement::default() });
        }
        self.steps()?;
        self.reserve();
        let statements = std::mem::take(&mut self.statements);
        let needed = self.needed_by(result);
        let mut statements = live(statements, needed.iter().copied());
        let mut all: HashSet<Term> = needed.iter().copied().collect();
        all.extend(statements.iter().flat_map(Statement::names_all));
        // A nest returns all its sums; only those of loops that run may be read.
        for s in &mut statements {
            let unread = |t: &&Term| s.defines.len() > 1 && !all.contains(t) && self.g.rank(**t) == 0 && !s.handed;
            for t in s.defines.iter().filter(unread) {
                let name = &self.names[t];
                s.code.push(quote!(let _ = #name;));
            }
        }
        self.leave_unread(&mut statements, &needed);
        for (&t, &k) in &self.size_owner {
            if all.contains(&t) {
                self.used_params.insert(k);
            }
        }
        let returned: HashSet<Term> = needed.into_iter().collect();
        let code = nested(&statements, &returned, &self);
        let value = self.return_value(result, destinations)?;
        let parts = self.parts_of_parameters(destinations);
        if let Some(t) = self.missing.get() {
            return Err(format!("%{} is used before it is computed", t.index()));
        }
        let functions = &self.functions;
        let tokens = [quote!(#(#functions)*), quote!(#parts #code #value)];
        let notes = statements.into_iter().flat_map(|s| s.notes).chain(self.notes.take());
        Ok((tokens, notes.collect()))
    }

    /// Writes all steps of the plan.
    fn steps(&mut self) -> Result<(), String> {
        let (mut k, plan) = (0, self.plan);
        while let Some(&step) = plan.order.get(k) {
            match plan.tiles.iter().find(|t| t.steps.start == k) {
                Some(tile) => {
                    self.blocks(tile)?;
                    k = tile.steps.end;
                }
                None => {
                    self.step(step)?;
                    k += 1;
                }
            }
        }
        Ok(())
    }

    /// The terms that the results need, and their sizes.
    fn needed_by(&self, result: &OutputTree) -> Vec<Term> {
        let mut needed: Vec<Term> = Vec::new();
        for out in result.leaves() {
            let t = out.term;
            // A result that is returned as a literal is not stored.
            let read = self.result_parts(out).unwrap_or_else(|| vec![t]);
            for &t in &read {
                if let Some((_, named)) = self.inlined.get(&t) {
                    needed.extend(named);
                }
            }
            needed.extend(read);
            needed.extend(self.g.shape(t));
        }
        needed
    }

    /// The code for the value that the routine returns.
    fn return_value(&mut self, result: &OutputTree, destinations: &[Ident]) -> Result<TokenStream, String> {
        let mut left: HashMap<Term, u32> = HashMap::new();
        for t in result.terms() {
            *left.entry(t).or_default() += 1;
        }
        Ok(match result {
            OutputTree::Tuple(parts) if !destinations.is_empty() => {
                let mut written = self.write_out()?;
                written.extend(self.replaced(&parts[1], destinations, &mut left)?);
                let value = self.output(&parts[0], &mut left)?;
                let value = self.present(value);
                quote!(#written #value)
            }
            _ if !self.onto.is_empty() => self.left_in_callers_arrays(result, &mut left)?,
            _ => match self.style.records {
                Some(kind) => self.recorded(result, &kind.records())?,
                None => {
                    let value = self.output(result, &mut left)?;
                    self.present(value)
                }
            },
        })
    }

    pub(super) fn step(&mut self, k: usize) -> Result<(), String> {
        let plan = self.plan;
        let step = &plan.steps[k];
        let mark = self.known.enter(&step.guard);
        let outer = self.given.len();
        self.given.extend(&step.guard);
        match &step.work {
            Work::Check(check) => {
                self.check(*check);
                self.known.checked(self.checks[*check].ok);
                return Ok(());
            }
            Work::Scalar(t) => self.scalar(*t, &step.guard)?,
            Work::Nest { domain, items } => self.nest(domain, items, &step.guard, k)?,
            Work::Whole(t) => self.whole(*t, &step.guard, k)?,
            Work::Loop(n) => self.carried_loop(*n, &step.guard, k)?,
        }
        self.given.truncate(outer);
        self.known.leave(mark);
        Ok(())
    }
}
