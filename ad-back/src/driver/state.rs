//! The state of a routine that is being written: names, statements so far, the facts that hold at
//! the next statement, the enclosing loop or tile; and the code of terms. This module does not
//! decide which terms are computed, or where.

use ad_ir::sorted::{SortedMap, SortedSet};
use std::cell::{Cell, RefCell};
use std::collections::{HashMap, HashSet};

use proc_macro2::{Ident, TokenStream};
use quote::quote;

use super::super::block::{Spell, Statement, live};
use super::super::code::{Code, Condition};
use super::super::in_range::InRange;
use super::super::marks::around;
use super::super::notes::Note;
use super::super::plan::{Guard, ItemAxis, Plan, TiledStatements};
use super::super::rust::{Expr, Names, Style};
use super::memory::{Destinations, Memory, Storage, flat};
use super::threads::SharedTile;
use ad_ir::ir::{Elem, Graph, Node, Term};
use ad_ir::prim::Prim;
use ad_ir::program::{Check, Declared, Fallible, Param, Program, Routine};
use ad_ir::rust_types::static_type;

/// The writer of the body of a routine.
pub(crate) struct Driver<'a> {
    pub(super) g: &'a Graph,
    pub(super) program: &'a Program,
    pub(super) declared: &'a [Declared],
    pub(super) params: &'a [Param],
    /// The inputs to which the results that are arrays are added.
    pub(super) onto: &'a [u32],
    /// The type that the result is in, if it may be absent.
    pub(super) fallible: Option<&'a Fallible>,
    pub(super) checks: &'a [Check],
    pub(super) plan: &'a Plan,
    pub(super) style: &'a Style,
    pub(super) hints: &'a HashMap<Term, String>,
    pub(super) names: HashMap<Term, Ident>,
    pub(super) taken: Names,
    pub(super) memory: Memory,
    /// Results that are computed in the caller's memory.
    pub(super) destinations: Destinations,
    /// Scalars that are inlined where they are used, with the terms that they name.
    pub(super) inlined: HashMap<Term, (Expr, Vec<Term>)>,
    /// A value that is used before it is computed: an internal error.
    pub(super) missing: Cell<Option<Term>>,
    pub(super) used_params: HashSet<usize>,
    /// Whether the function is called with the arguments.
    pub(super) used_whole: bool,
    pub(super) size_owner: HashMap<Term, usize>,
    pub(super) known: InRange<'a>,
    /// The guards of the statement that is being written, with those of the enclosing loops.
    pub(super) given: Vec<Guard>,
    pub(super) functions: Vec<TokenStream>,
    pub(super) function_names: Names,
    pub(super) statements: Vec<Statement>,
    /// The notes of the statement that is being written, so far.
    pub(super) notes: RefCell<Vec<Note>>,
    /// The number of statements so far that take an array from the workspace; each one has a number
    /// of its own.
    pub(super) places_made: Cell<usize>,
    /// The number of enclosing loops with carried state.
    pub(super) inside: usize,
    /// Maps the array of all rows of a loop to the term that is computed directly into the memory
    /// of the row.
    pub(super) places: HashMap<Term, Term>,
    /// Terms defined by statements of loops that were not removed as dead.
    pub(super) kept: HashSet<Term>,
    /// The tile that is being written.
    pub(super) tile: Option<TileLoop>,
    /// Whether an outlined loop is being written, and whether its function is generic over the real
    /// type.
    pub(super) outlined: bool,
    /// The sizes for which the loop that is being written is also compiled as numbers.
    pub(super) matrix_sizes: Vec<Term>,
    pub(super) generic_within: bool,
}

/// Leading rows of an array: the first one, and the sizes of a row.
pub(super) type LeadingRows = (Term, Option<Term>, Vec<Term>);

/// The loop over the blocks of a tile that is being written.
pub(super) struct TileLoop {
    pub(super) n: Term,
    pub(super) axis: ItemAxis,
    /// Names: items of a block, the first item, the number of items.
    pub(super) size: Ident,
    pub(super) first: Ident,
    pub(super) count: Ident,
    /// Whether the code of a block names the first item: see `TileLoop::first_item`.
    pub(super) first_is_read: Cell<bool>,
    /// As in [`TiledStatements`].
    pub(super) rows: HashSet<Term>,
    pub(super) private: HashSet<Term>,
    /// Maps each sum that is accumulated into the result of a scatter to this scatter.
    pub(super) fused_scatters: SortedMap<Term, Term>,
    /// Arrays over items that each block unpacks.
    pub(super) unpacked: SortedSet<Term>,
    /// Arrays from outside, in their packed form, and those that are unpacked.
    pub(super) packed: SortedMap<Term, Ident>,
    /// Arrays with more rows than items, of which the nest that is being written reads the first.
    pub(super) leading: Vec<Term>,
    /// Matrices whose rows are read in place.
    pub(super) matrices: SortedSet<Term>,
    /// Leading rows of arrays that are not known to have enough rows, with the completed array.
    pub(super) completed: SortedMap<LeadingRows, Ident>,
    /// Arrays of one block, in order of appearance, and those that take the memory of one of them.
    pub(super) memory: Vec<Term>,
    pub(super) reused: Vec<Term>,
    /// Extrema that the nests of the sums take.
    pub(super) taken: Vec<Term>,
    /// What the threads share, if the blocks are done by several.
    pub(super) shared: Option<SharedTile>,
    /// The code before the loop.
    pub(super) before: TokenStream,
    pub(super) names: Vec<Term>,
    pub(super) defines: Vec<Term>,
}

impl TileLoop {
    /// A loop that no code has been written for. `size`, `first` and `count` are the names.
    pub(super) fn new(tile: &TiledStatements, [size, first, count]: [Ident; 3], shared: Option<SharedTile>) -> Self {
        TileLoop {
            shared,
            n: tile.n,
            axis: tile.axis,
            size,
            first,
            count,
            first_is_read: Cell::new(false),
            rows: tile.rows.clone(),
            private: tile.private.clone(),
            unpacked: tile.unpacked.clone(),
            fused_scatters: tile.fused_scatters.clone(),
            packed: SortedMap::new(),
            leading: Vec::new(),
            matrices: SortedSet::new(),
            completed: SortedMap::new(),
            memory: Vec::new(),
            reused: Vec::new(),
            taken: Vec::new(),
            before: TokenStream::new(),
            names: Vec::new(),
            defines: Vec::new(),
        }
    }
}

impl<'a> Driver<'a> {
    pub(crate) fn new(
        g: &'a Graph,
        program: &'a Program,
        routine: &'a Routine,
        checks: &'a [Check],
        plan: &'a Plan,
        style: &'a Style,
        hints: &'a HashMap<Term, String>,
    ) -> Self {
        let mut taken = Names::of_locals(style);
        let Routine { declared, params, .. } = routine;
        for name in params.iter().map(|p| &p.name).chain(declared.iter().map(|p| &p.name)) {
            taken.reserve(&name.to_string());
        }
        Driver {
            g,
            program,
            declared,
            params,
            onto: &routine.onto,
            fallible: routine.fallible.as_ref(),
            checks,
            plan,
            style,
            hints,
            names: HashMap::new(),
            taken,
            memory: Memory::default(),
            destinations: Destinations::default(),
            inlined: HashMap::new(),
            missing: Cell::new(None),
            used_params: HashSet::new(),
            used_whole: false,
            size_owner: HashMap::new(),
            known: InRange::new(g),
            given: Vec::new(),
            functions: Vec::new(),
            function_names: Names::default(),
            statements: Vec::new(),
            notes: RefCell::default(),
            places_made: Cell::new(0),
            inside: 0,
            places: HashMap::new(),
            kept: HashSet::new(),
            tile: None,
            outlined: false,
            matrix_sizes: Vec::new(),
            generic_within: false,
        }
    }

    /// Adds a function that computes these terms.
    pub(super) fn add_function(&mut self, item: TokenStream, terms: &[Term]) {
        self.functions.push(if self.style.marks { around(terms, item) } else { item });
    }

    pub(super) fn name(&mut self, t: Term) -> Ident {
        if let Some(name) = self.names.get(&t) {
            return name.clone();
        }
        let name = match (self.hints.get(&t), self.g.node(t)) {
            (Some(hint), _) => self.taken.fresh(hint),
            (None, Node::Size(k, axis)) => {
                let of = self.params.iter().find(|p| p.input == Some(*k));
                let of = of.map_or("size".to_string(), |p| p.name.to_string());
                let kind = match (self.g.input_rank(*k), axis) {
                    (Some(1), _) => "len".to_string(),
                    (Some(2), 0) => "rows".to_string(),
                    (Some(2), _) => "cols".to_string(),
                    (_, axis) => format!("dim{axis}"),
                };
                self.taken.fresh(&format!("{of}_{kind}"))
            }
            _ => {
                let base = match (self.g.elem(t), self.g.rank(t)) {
                    (Elem::Real(_), 0) => "t",
                    (Elem::Int(_), 0) => "k",
                    (Elem::Bool, 0) => "c",
                    (_, 1) => "v",
                    (_, 2) => "m",
                    _ => "a",
                };
                self.taken.numbered(base)
            }
        };
        self.names.insert(t, name.clone());
        name
    }

    pub(super) fn plain(&mut self, guard: &[Guard], code: impl Into<Code>, defines: Vec<Term>, names: Vec<Term>) {
        let (guard, code) = (guard.to_vec(), code.into());
        self.add(Statement { guard, code, defines, names, ..Statement::default() });
    }

    /// Appends a statement, with the notes since the previous one.
    pub(super) fn add(&mut self, mut statement: Statement) {
        statement.notes.append(&mut self.notes.borrow_mut());
        self.statements.push(statement);
    }

    /// Adds a note of the statement that is being written.
    pub(super) fn note(&self, note: Note) {
        self.notes.borrow_mut().push(note);
    }

    /// The path of a kernel of the runtime that the current statement calls.
    pub(super) fn kernel(&self, name: &str) -> TokenStream {
        self.note(Note::Kernel(name.into()));
        self.style.kernel(name)
    }

    /// Begins the statements of a body; the statements and entries so far are returned, for
    /// [`Driver::end_body`].
    pub(super) fn begin_body(&mut self) -> (Vec<Statement>, Vec<Note>) {
        (std::mem::take(&mut self.statements), self.notes.take())
    }

    /// Ends a body and returns its statements; if `needed` is given, only those that compute it.
    /// Their notes go to the statement that the body is part of.
    pub(super) fn end_body(
        &mut self,
        (outer, mut notes): (Vec<Statement>, Vec<Note>),
        needed: Option<&[Term]>,
    ) -> Vec<Statement> {
        let all = std::mem::replace(&mut self.statements, outer);
        let mut body = match needed {
            Some(needed) => live(all, needed.iter().copied()),
            None => all,
        };
        body.iter_mut().for_each(|s| notes.append(&mut s.notes));
        notes.append(&mut self.notes.borrow_mut());
        self.notes = notes.into();
        body
    }

    /// Whether a condition is a name in the code.
    pub(super) fn names_condition(&self, t: Term) -> bool {
        !self.inlined.contains_key(&t) && self.names.contains_key(&t)
    }

    /// Whether a condition can follow `&&` without parentheses.
    pub(super) fn joins(&self, t: Term) -> bool {
        let negates = |t: Term| matches!(self.g.node(t), Node::Prim(Prim::Not, _));
        match self.g.node(t) {
            _ if self.names_condition(t) => true,
            Node::Prim(Prim::Not, args) => (self.names_condition(args[0]) || negates(args[0])) && self.joins(args[0]),
            Node::Prim(Prim::And, args) => {
                let last = self.names_condition(args[1]) || negates(args[1]);
                self.joins(args[0]) && last && self.joins(args[1])
            }
            _ => false,
        }
    }

    /// A closed scalar where it is used, and the terms that it names. If it is not computed yet,
    /// the whole routine becomes an `Err`.
    pub(super) fn scalar_expr(&self, t: Term) -> (Expr, Vec<Term>) {
        if let Node::Lit(lit) = self.g.node(t) {
            return (self.style.lit(*lit), Vec::new());
        }
        if let Some((e, named)) = self.inlined.get(&t) {
            return (e.clone(), named.clone());
        }
        match self.names.get(&t) {
            Some(name) => (Expr::atom(quote!(#name)), vec![t]),
            None => {
                self.missing.set(Some(t));
                (Expr::atom(quote!(())), vec![t])
            }
        }
    }

    /// A scalar as an argument of a loop or kernel; collects the terms that it names.
    pub(super) fn argument(&self, t: Term, named: &mut Vec<Term>) -> TokenStream {
        let (e, n) = self.scalar_expr(t);
        named.extend(n);
        e.tokens
    }

    pub(super) fn product(&self, sizes: &[Term], named: &mut Vec<Term>) -> Expr {
        let mut product: Option<Expr> = None;
        for &n in sizes {
            let (n, names) = self.scalar_expr(n);
            named.extend(names);
            product = Some(match product {
                None => n,
                Some(p) => p.times(&n),
            });
        }
        product.unwrap_or_else(|| Expr::atom(quote!(1)))
    }

    /// A stored array as a `&[F]` argument.
    pub(super) fn borrow(&self, t: Term, named: &mut Vec<Term>) -> TokenStream {
        named.push(t);
        let name = &self.names[&t];
        match self.memory.hold.get(&t) {
            Some(Storage::Parameter(true) | Storage::Borrowed | Storage::Row) => quote!(#name),
            Some(Storage::Stack(depth)) if *depth > 1 => flat(&quote!(#name), *depth, false),
            _ => quote!(&#name),
        }
    }

    /// The branch of a conditional that is taken here, if the current code is under the condition
    /// or its negation.
    pub(super) fn taken_branch(&self, cond: Term, then: Term, other: Term) -> Option<Term> {
        let given = self.given.iter().find(|l| l.0 == cond)?;
        Some(if given.1 { then } else { other })
    }
}

impl Spell for Driver<'_> {
    fn name(&self, t: Term) -> TokenStream {
        let name = &self.names[&t];
        quote!(#name)
    }

    fn condition(&self, t: Term) -> Condition {
        let tokens = self.scalar_expr(t).0.tokens;
        Condition { tokens, name: self.names_condition(t), joins: self.joins(t) }
    }

    fn absent(&self, t: Term) -> TokenStream {
        let krate = &self.style.krate;
        let zero = self.style.zero(self.g.elem(t));
        match self.memory.storage.get(&t) {
            Some(lens) => static_type(zero, lens),
            None if self.g.rank(t) == 0 => zero,
            None if self.memory.hold.get(&t) == Some(&Storage::Borrowed) => quote!(&[][..]),
            None if self.memory.hold.get(&t) == Some(&Storage::Contiguous) => {
                quote!(#krate::runtime::alloc::borrow::Cow::Borrowed(&[][..]))
            }
            None => self.heap_made(quote!(#krate::runtime::alloc::vec::Vec::new())),
        }
    }

    fn outside(&self, t: Term) -> bool {
        self.memory.outside.contains(&t)
    }

    fn marks(&self) -> bool {
        self.style.marks
    }
}
