//! The core language (BOT Figs. 7-8, adapted): pure, interned terms in one arena.
//!
//! Everything between the front end and the emitter is written against this module. It must never
//! mention `syn` or a token: a place in the user's source is a [`Loc`], a small integer into a
//! table that only the front end and the emitter can read.

mod build;
mod constants;
pub mod flatten;
mod graph;
mod infer;
pub mod marked;
mod node;
mod recur;
mod subst;
mod table;

pub mod print;
pub mod rewrite;

pub mod valid;

pub use crate::prim::TypeError;
pub use crate::term::{Contraction, Elem, IntTy, Lit, RealTy, Term, Type};
pub use crate::term::{axis, other_axes};
pub use build::int_op;
pub use graph::Graph;
pub use node::LEAF;
pub use node::{Body, Loc, Node, Put, Scan, Var};
pub use recur::OpenLoop;
pub use table::TermTable;
