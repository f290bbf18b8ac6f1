//! Finds which routines of called functions a routine needs, and makes them. A function is derived
//! once for each set of active arguments, however often it is called.
//!
//! This module must never know what a function computes.

use ad_ir::sorted::SortedSet;

use ad_ir::analysis::moving::moving;
use ad_ir::descriptor::{JVP, VALUE, VJP};
use ad_ir::ir::{Graph, Node, Term, Type};
use ad_ir::prim::Prim;
use ad_ir::prim::structural::{Callee, Half};
use ad_ir::program::{Program, Routine, Staged};

use crate::passes::lowering::one_call;
use crate::pipeline::{self, Log, Prepared};
use ad_ir::choice;

/// The routines of a function that is called.
pub enum Called {
    /// The function itself.
    Value(Box<Routine>),
    /// Two halves that belong together.
    Halves {
        /// The half that the forward half belongs to: [`Half::Reverse`] or [`Half::Tangent`].
        half: Half,
        /// The active arguments.
        active: Box<[u32]>,
        /// The arguments that both halves take.
        passed: Box<[u32]>,
        /// The two routines.
        staged: Box<Staged>,
    },
    /// A half of a function with a rule of its own. There is no routine.
    Rule(Callee),
}

/// A function of the program, and routines of it.
pub struct CalledFunction {
    /// Its number.
    pub function: u32,
    /// The routines.
    pub called: Called,
}

impl CalledFunction {
    /// Its name in the log.
    #[must_use]
    pub fn subject(&self, program: &Program) -> String {
        match &self.called {
            Called::Value(_) | Called::Rule(_) => subject(program),
            Called::Halves { active, .. } => subject_with(program, active),
        }
    }

    /// Its routines.
    #[must_use]
    pub fn routines(&self) -> Vec<&Routine> {
        match &self.called {
            Called::Value(routine) => vec![routine],
            Called::Halves { staged, .. } => vec![&staged.first, &staged.second],
            Called::Rule(_) => Vec::new(),
        }
    }

    /// Whether its second half calls forward halves.
    #[must_use]
    pub fn runs_forward_later(&self, functions: &[Prepared]) -> bool {
        let Called::Halves { staged, .. } = &self.called else { return false };
        let Some(prepared) = functions.get(self.function as usize) else { return false };
        callees_in(&prepared.program.graph, staged.second.roots()).iter().any(|c| c.half == Half::Forward)
    }
}

/// Finds which functions of a program only move and add numbers, and tells all graphs. A derivative
/// tests no cotangents for zero before it calls those.
pub fn find_moving(program: &mut Program) {
    let functions: Vec<(&Graph, Vec<Term>)> =
        program.functions.iter().map(|f| (&f.graph, f.differentiated().terms())).collect();
    let found = moving(&functions);
    for f in &mut program.functions {
        f.graph.set_moving(found.clone());
    }
    program.graph.set_moving(found);
}

/// The functions that the code of a routine calls.
#[must_use]
pub fn callees(g: &mut Graph, routine: &Routine) -> SortedSet<Callee> {
    let roots = one_call::roots(g, &routine.roots());
    callees_in(g, roots)
}

/// The functions that these terms call.
fn callees_in(g: &Graph, roots: Vec<Term>) -> SortedSet<Callee> {
    let mut found = SortedSet::new();
    let mut seen: SortedSet<Term> = SortedSet::new();
    let mut stack = roots;
    while let Some(t) = stack.pop() {
        if !seen.insert(t) {
            continue;
        }
        let node = g.node(t);
        match node {
            Node::Prim(Prim::Call(callee) | Prim::Onto(callee, ..), _) => drop(found.insert((**callee).clone())),
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

/// The name of a called function in the log.
#[must_use]
pub fn subject(program: &Program) -> String {
    format!("called {}", program.name)
}

/// The subject of the routines of a function with these active arguments.
fn subject_with(program: &Program, active: &[u32]) -> String {
    let name = |k: &u32| program.params.get(*k as usize).map_or(String::new(), |p| p.name.to_string());
    let names: Vec<String> = active.iter().map(name).collect();
    if names.is_empty() { subject(program) } else { format!("{} (wrt {})", subject(program), names.join(", ")) }
}

/// The routines of all called functions, given those that a routine calls.
pub fn called(functions: &mut [Prepared], first: SortedSet<Callee>, mut log: Option<&mut Log>) -> Vec<CalledFunction> {
    let mut made: Vec<CalledFunction> = Vec::new();
    let mut met: SortedSet<(u32, Half, Box<[u32]>)> = SortedSet::new();
    let mut rules: SortedSet<Callee> = SortedSet::new();
    // A routine uses either reverse halves or tangent halves, never both. So a forward half saves
    // the residuals of one kind of half only.
    let forwards = first.iter().any(|c| c.rule.is_none() && c.half == Half::Tangent);
    let other = if forwards { Half::Tangent } else { Half::Reverse };
    let mut waiting: Vec<Callee> = first.into_iter().rev().collect();
    while let Some(callee) = waiting.pop() {
        if callee.rule.is_some() {
            if rules.insert(callee.clone()) {
                made.push(CalledFunction { function: callee.function, called: Called::Rule(callee) });
            }
            continue;
        }
        let half = if callee.half == Half::Value { Half::Value } else { other };
        if !met.insert((callee.function, half, callee.active.clone())) {
            continue;
        }
        let Some(prepared) = functions.get_mut(callee.function as usize) else { continue };
        let active: Vec<usize> = callee.active.iter().map(|&k| k as usize).collect();
        (prepared.program.wrt, prepared.program.active) = (active.clone(), active);
        if let Some(log) = log.as_deref_mut() {
            log.enter(&subject_with(&prepared.program, &callee.active));
            choice::record();
        }
        let routines = match half {
            Half::Value => Called::Value(pipeline::derive(prepared, &VALUE, log.as_deref_mut()).into()),
            half => {
                let which = if half == Half::Tangent { &JVP } else { &VJP };
                let how = (which, &*callee.active, &*callee.passed);
                let staged = pipeline::halves(prepared, how, log.as_deref_mut()).into();
                Called::Halves { half, active: callee.active.clone(), passed: callee.passed.clone(), staged }
            }
        };
        let g = &mut prepared.program.graph;
        let mut next = SortedSet::new();
        match &routines {
            Called::Value(routine) => next.append(&mut callees(g, routine)),
            Called::Halves { staged, .. } => {
                next.append(&mut callees(g, &staged.first));
                next.append(&mut callees(g, &staged.second));
            }
            Called::Rule(_) => {}
        }
        if let Some(log) = log.as_deref_mut() {
            log.push("", "choices by cost", choice::recorded(|k| format!("%{k}")));
        }
        waiting.extend(next.into_iter().rev());
        made.push(CalledFunction { function: callee.function, called: routines });
    }
    if let Some(log) = log {
        log.enter("");
    }
    made
}
