//! The core language (BOT Figs. 7-8, adapted): pure, interned terms in one arena.
//!
//! Everything between the front end and the emitter is written against this module.
//! It must never mention `syn` or a token: a place in the user's source is a [`Loc`], a small integer
//! into a table that only the front end and the emitter can read.

mod build;
pub(crate) mod flatten;
mod graph;
mod infer;
mod node;
mod recur;
mod subst;
mod ty;

pub mod print;

pub mod valid;

pub(crate) use build::axis;
pub use build::int_op;
pub use graph::{Function, Graph};
pub use infer::TypeError;
pub(crate) use node::LEAF;
pub use node::{Body, Contraction, FuncId, Lit, Loc, Node, Put, Scan, Term, Var};
pub use recur::OpenLoop;
pub use ty::{Elem, IntTy, RealTy, Type};
