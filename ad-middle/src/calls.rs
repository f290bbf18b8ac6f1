//! The routines of functions that are called: which ones a routine needs, and those routines. A
//! function is derived once for each set of active arguments, however often it is called.
//!
//! This module must never know what a function computes.

use std::collections::BTreeSet;

use ad_ir::descriptor::{JVP, VALUE, VJP};
use ad_ir::ir::{Graph, Node, Term, Type};
use ad_ir::prim::Prim;
use ad_ir::prim::structural::{Callee, Half};
use ad_ir::program::{Routine, Staged};

use crate::derivative::pullback::halves;
use crate::pipeline::{self, Prepared};

/// The routines of a function that is called.
pub enum Called {
    /// The function itself.
    Value(Box<Routine>),
    /// Its forward half, and the other half.
    Halves {
        /// What the other half computes.
        half: Half,
        /// The active arguments.
        active: Box<[u32]>,
        /// Both halves.
        staged: Box<Staged>,
    },
}

/// A function of the program, and routines of it.
pub struct CalledFunction {
    /// Its number.
    pub function: u32,
    /// The routines.
    pub called: Called,
}

/// The functions that a routine calls.
#[must_use]
pub fn callees(g: &Graph, routine: &Routine) -> BTreeSet<Callee> {
    let mut roots = routine.result.terms();
    for check in &routine.checks {
        roots.push(check.ok);
        roots.extend(check.shown.iter().map(|s| s.1));
    }
    let mut found = BTreeSet::new();
    let mut seen: BTreeSet<Term> = BTreeSet::new();
    let mut stack = roots;
    while let Some(t) = stack.pop() {
        if !seen.insert(t) {
            continue;
        }
        let node = g.node(t);
        match node {
            Node::Prim(Prim::Call(callee), _) => drop(found.insert((**callee).clone())),
            Node::Scan(scan) => stack.extend(&scan.body.results),
            _ => {}
        }
        node.for_each_child(|c| stack.push(c));
        // A size may be the result of a call.
        if let Type::Array(_, shape) = g.ty(t) {
            stack.extend(shape);
        }
    }
    found
}

/// The routines of all functions that are called, given those that a routine calls.
pub fn called(functions: &mut [Prepared], first: BTreeSet<Callee>) -> Vec<CalledFunction> {
    let mut made: Vec<CalledFunction> = Vec::new();
    let mut met: BTreeSet<(u32, Half, Box<[u32]>)> = BTreeSet::new();
    // One routine goes in one direction. So a forward half leaves what the half beside it reads.
    let forwards = first.iter().any(|c| c.half == Half::Tangent);
    let other = if forwards { Half::Tangent } else { Half::Reverse };
    let mut waiting: Vec<Callee> = first.into_iter().rev().collect();
    while let Some(callee) = waiting.pop() {
        let half = if callee.half == Half::Value { Half::Value } else { other };
        if !met.insert((callee.function, half, callee.active.clone())) {
            continue;
        }
        let Some(prepared) = functions.get_mut(callee.function as usize) else { continue };
        let active: Vec<usize> = callee.active.iter().map(|&k| k as usize).collect();
        (prepared.program.wrt, prepared.program.active) = (active.clone(), active);
        let routines = match half {
            Half::Value => Called::Value(pipeline::derive(prepared, &VALUE, None).into()),
            half => {
                let which = if half == Half::Tangent { &JVP } else { &VJP };
                let whole = pipeline::derive(prepared, which, None);
                let staged = Box::new(halves(&mut prepared.program, whole));
                Called::Halves { half, active: callee.active.clone(), staged }
            }
        };
        let g = &prepared.program.graph;
        let mut next = BTreeSet::new();
        match &routines {
            Called::Value(routine) => next.append(&mut callees(g, routine)),
            Called::Halves { staged, .. } => {
                next.append(&mut callees(g, &staged.first));
                next.append(&mut callees(g, &staged.second));
            }
        }
        waiting.extend(next.into_iter().rev());
        made.push(CalledFunction { function: callee.function, called: routines });
    }
    made
}
