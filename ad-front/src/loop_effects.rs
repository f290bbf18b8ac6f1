//! The effects of a loop body on its outside: the variables that it may assign, and the targets
//! that it may jump to. They are collected from the syntax before the body is lowered, since a loop
//! carries those variables.
//!
//! Invariant: this is an over-approximation. A variable that is carried and does not change is
//! harmless; a missing one is not.

use ad_ir::diag::SrcRange;
use ad_ir::sorted::{SortedMap, SortedSet};

use syn::visit::{self, Visit};
use syn::{BinOp, Expr, Pat};

use super::table::{self, Mark, On};
use crate::translation::cells::Cell;
use crate::walk::{Part, Walk};

/// A jump out of the body.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub(super) enum Jump {
    /// To the end of the loop itself, or of the construct with this label.
    Break(Option<String>),
    /// To the next step of the loop with this label.
    Continue(String),
    /// Out of the function or closure.
    Return,
}

/// The collected effects.
#[derive(Default, Debug)]
pub(super) struct LoopEffects {
    /// The names of variables that may be changed.
    pub changed: SortedSet<String>,
    /// The names of the variables that are pushed to.
    pub pushed: SortedSet<String>,
    /// The names of variables that are used in another way than a push.
    pub mentioned: SortedSet<String>,
    /// The names of variables that are used in another way than as a sum: all but the targets of
    /// `+=`, `-=` and `scaled_add`.
    pub used: SortedSet<String>,
    pub jumps: SortedSet<Jump>,
    /// Variables that may be changed by a function whose name is not in the syntax of the loop.
    pub cells: Vec<Cell>,
    /// Where each variable is pushed to first, for messages.
    pushed_at: SortedMap<String, SrcRange>,
    /// The first value that is assigned to each variable as a whole, for messages.
    assigned_at: SortedMap<String, SrcRange>,
    /// Names that enclosing blocks inside of the body have shadowed.
    shadowed: Vec<String>,
    /// The names of the methods of `impl` blocks that may change their receiver.
    mutating: SortedSet<String>,
    /// The labels of enclosing blocks and loops inside of the body.
    labels: Vec<String>,
    /// The number of enclosing loops inside of the body.
    loops: usize,
}

impl LoopEffects {
    /// No effects yet, with the names of the methods that change their receiver.
    fn knowing(mutating: &SortedSet<String>) -> Self {
        LoopEffects { mutating: mutating.clone(), ..LoopEffects::default() }
    }

    /// The effects of a `for`.
    pub(super) fn of_for(l: &syn::ExprForLoop, mutating: &SortedSet<String>) -> Self {
        let mut found = LoopEffects::knowing(mutating);
        // The items may be mutable references to parts of the variables in this expression.
        found.visit_expr(&l.expr);
        found.jumps.clear();
        found.shadow(&l.pat);
        found.visit_block(&l.body);
        found
    }

    /// The effects of a loop that only pushes to a variable. If it does not push in every step, it
    /// reads the variable.
    pub(super) fn of_pushing(name: &str, always: bool) -> Self {
        let mut found = LoopEffects::default();
        found.changed.insert(name.to_string());
        found.pushed.insert(name.to_string());
        found.used.insert(name.to_string());
        if !always {
            found.mentioned.insert(name.to_string());
        }
        found
    }

    /// The effects of `scan` on its state and its result. If the closure may return `None`, the
    /// loop can stop early.
    pub(super) fn of_scan([state, made]: [&str; 2], always: bool) -> Self {
        let mut found = LoopEffects::of_pushing(made, always);
        found.changed.insert(state.to_string());
        found.mentioned.insert(state.to_string());
        found.used.insert(state.to_string());
        if !always {
            found.jumps.insert(Jump::Break(None));
        }
        found
    }

    /// The effects of `for_each`. The closure is the body, and jumps in it do not leave it.
    pub(super) fn of_each(m: &syn::ExprMethodCall, f: &syn::ExprClosure, mutating: &SortedSet<String>) -> Self {
        let mut found = LoopEffects::knowing(mutating);
        found.visit_expr(&m.receiver);
        if changes_receiver(m) {
            found.change(&m.receiver);
        }
        found.visit_each(f);
        found.jumps.clear();
        found
    }

    /// The effects of the calls of a closure.
    pub(super) fn of_closure(f: &syn::ExprClosure, mutating: &SortedSet<String>) -> Self {
        let mut found = LoopEffects::knowing(mutating);
        found.visit_each(f);
        found.jumps.clear();
        found
    }

    fn visit_each(&mut self, f: &syn::ExprClosure) {
        self.within(None, false, |me| {
            f.inputs.iter().for_each(|pat| me.shadow(pat));
            me.visit_expr(&f.body);
        });
    }

    /// Adds the variable that an assignment to an expression changes.
    fn change(&mut self, e: &Expr) {
        match e {
            Expr::Paren(p) => self.change(&p.expr),
            Expr::Group(p) => self.change(&p.expr),
            Expr::Unary(u) => self.change(&u.expr),
            Expr::Reference(r) => self.change(&r.expr),
            Expr::Field(f) => self.change(&f.base),
            Expr::Index(x) => self.change(&x.expr),
            Expr::MethodCall(m) => self.change(&m.receiver),
            Expr::Tuple(t) => t.elems.iter().for_each(|e| self.change(e)),
            Expr::Array(a) => a.elems.iter().for_each(|e| self.change(e)),
            _ => self.changed.extend(self.outer(e)),
        }
    }

    /// Visits the target of a statement that adds to it. Its indices are used as anything else.
    fn visit_sum(&mut self, e: &Expr) {
        match e {
            Expr::Paren(p) => self.visit_sum(&p.expr),
            Expr::Group(p) => self.visit_sum(&p.expr),
            Expr::Unary(u) => self.visit_sum(&u.expr),
            Expr::Field(f) => self.visit_sum(&f.base),
            Expr::Index(x) => {
                self.visit_expr(&x.index);
                self.visit_sum(&x.expr);
            }
            Expr::Path(_) => self.mentioned.extend(self.outer(e)),
            _ => self.visit_expr(e),
        }
    }

    /// The effects of a `while`. Its condition is evaluated in each step, and may leave the loop.
    pub(super) fn of_while(l: &syn::ExprWhile, mutating: &SortedSet<String>) -> Self {
        let mut found = LoopEffects::knowing(mutating);
        found.visit_expr(&l.cond);
        found.visit_block(&l.body);
        found.jumps.insert(Jump::Break(None));
        found
    }

    /// The effects of a `loop`.
    pub(super) fn of_loop(l: &syn::ExprLoop, mutating: &SortedSet<String>) -> Self {
        let mut found = LoopEffects::knowing(mutating);
        found.visit_block(&l.body);
        found
    }

    /// The expression that changes the length of a variable.
    pub(super) fn changes_length_at(&self, name: &str) -> Option<SrcRange> {
        self.pushed_at.get(name).or_else(|| self.assigned_at.get(name)).copied()
    }

    /// The expression that changes the shape of a variable.
    pub(super) fn changes_shape_at(&self, name: &str) -> Option<SrcRange> {
        self.assigned_at.get(name).or_else(|| self.pushed_at.get(name)).copied()
    }

    /// The variable that an expression names, if it is defined outside of the loop.
    fn outer(&self, e: &Expr) -> Option<String> {
        match e {
            Expr::Paren(p) => self.outer(&p.expr),
            Expr::Group(p) => self.outer(&p.expr),
            Expr::Path(p) => p.path.get_ident().map(ToString::to_string).filter(|n| !self.shadowed.contains(n)),
            _ => None,
        }
    }

    fn shadow(&mut self, pat: &Pat) {
        let mut walk = |part: Part<'_>| {
            if let Part::PatIdent(p) = part {
                self.shadowed.push(p.ident.to_string());
            }
        };
        Walk(&mut walk).visit_pat(pat);
    }

    /// Visits a construct with its own scope of names and labels.
    fn within(&mut self, label: Option<&syn::Label>, is_loop: bool, f: impl FnOnce(&mut Self)) {
        let (shadowed, labels) = (self.shadowed.len(), self.labels.len());
        self.labels.extend(label.map(|l| l.name.ident.to_string()));
        self.loops += usize::from(is_loop);
        f(self);
        self.loops -= usize::from(is_loop);
        self.shadowed.truncate(shadowed);
        self.labels.truncate(labels);
    }
}

/// The closure of `.for_each(|item| ..)` and similar methods. It may change outer variables, since
/// the method calls it at once.
pub(super) fn each(m: &syn::ExprMethodCall) -> Option<&syn::ExprClosure> {
    let Some(Expr::Closure(f)) = m.args.last() else { return None };
    let loops = |on| table::find(on, &m.method.to_string()).filter(|row| row.is(Mark::Loop));
    let row = [On::Iter, On::Zip, On::Place].into_iter().find_map(loops)?;
    (m.args.len() == row.args.0).then_some(f)
}

/// Whether the table marks a method that changes its receiver in this way.
fn has_mark(m: &syn::ExprMethodCall, mark: Mark) -> bool {
    table::find(On::Place, &m.method.to_string()).is_some_and(|row| row.is(mark))
}

/// Whether a method changes its receiver through a closure.
pub(super) fn changes_receiver(m: &syn::ExprMethodCall) -> bool {
    has_mark(m, Mark::Loop)
}

impl<'ast> Visit<'ast> for LoopEffects {
    fn visit_block(&mut self, b: &'ast syn::Block) {
        self.within(None, false, |me| visit::visit_block(me, b));
    }

    fn visit_local(&mut self, l: &'ast syn::Local) {
        visit::visit_local(self, l);
        self.shadow(&l.pat);
    }

    fn visit_expr_for_loop(&mut self, l: &'ast syn::ExprForLoop) {
        self.visit_expr(&l.expr);
        self.within(l.label.as_ref(), true, |me| {
            me.shadow(&l.pat);
            me.visit_block(&l.body);
        });
    }

    fn visit_expr_while(&mut self, l: &'ast syn::ExprWhile) {
        self.within(l.label.as_ref(), true, |me| {
            me.visit_expr(&l.cond);
            me.visit_block(&l.body);
        });
    }

    fn visit_expr_loop(&mut self, l: &'ast syn::ExprLoop) {
        self.within(l.label.as_ref(), true, |me| me.visit_block(&l.body));
    }

    fn visit_expr_block(&mut self, b: &'ast syn::ExprBlock) {
        self.within(b.label.as_ref(), false, |me| me.visit_block(&b.block));
    }

    fn visit_expr_break(&mut self, b: &'ast syn::ExprBreak) {
        visit::visit_expr_break(self, b);
        match &b.label {
            Some(l) if self.labels.contains(&l.ident.to_string()) => {}
            Some(l) => {
                self.jumps.insert(Jump::Break(Some(l.ident.to_string())));
            }
            None if self.loops == 0 => {
                self.jumps.insert(Jump::Break(None));
            }
            None => {}
        }
    }

    fn visit_expr_continue(&mut self, c: &'ast syn::ExprContinue) {
        if let Some(l) = &c.label
            && !self.labels.contains(&l.ident.to_string())
        {
            self.jumps.insert(Jump::Continue(l.ident.to_string()));
        }
    }

    fn visit_expr_return(&mut self, r: &'ast syn::ExprReturn) {
        visit::visit_expr_return(self, r);
        self.jumps.insert(Jump::Return);
    }

    fn visit_expr_try(&mut self, t: &'ast syn::ExprTry) {
        visit::visit_expr_try(self, t);
        self.jumps.insert(Jump::Return);
    }

    // A closure may be called here. Jumps in it do not leave it.
    fn visit_expr_closure(&mut self, c: &'ast syn::ExprClosure) {
        let jumps = self.jumps.clone();
        self.visit_each(c);
        self.jumps = jumps;
    }

    fn visit_expr(&mut self, e: &'ast Expr) {
        if let Expr::Path(_) = e {
            self.mentioned.extend(self.outer(e));
            self.used.extend(self.outer(e));
        }
        visit::visit_expr(self, e);
    }

    fn visit_item(&mut self, _: &'ast syn::Item) {}

    fn visit_expr_assign(&mut self, a: &'ast syn::ExprAssign) {
        visit::visit_expr_assign(self, a);
        self.change(&a.left);
        if let Some(name) = self.outer(&a.left)
            && !self.assigned_at.contains_key(&name)
        {
            self.assigned_at.insert(name, SrcRange::of(&a.right));
        }
    }

    fn visit_expr_binary(&mut self, b: &'ast syn::ExprBinary) {
        // A loop follows the left operands, since the nesting of a chain of operators grows with
        // its length.
        let mut at = b;
        loop {
            self.visit_expr(&at.right);
            if super::place::compound::assigns(&at.op) {
                self.change(&at.left);
            }
            match &*at.left {
                Expr::Binary(left) => at = left,
                left if matches!(at.op, BinOp::AddAssign(_) | BinOp::SubAssign(_)) => return self.visit_sum(left),
                left => return self.visit_expr(left),
            }
        }
    }

    fn visit_expr_reference(&mut self, r: &'ast syn::ExprReference) {
        visit::visit_expr_reference(self, r);
        if r.mutability.is_some() {
            self.change(&r.expr);
        }
    }

    fn visit_expr_method_call(&mut self, m: &'ast syn::ExprMethodCall) {
        if has_mark(m, Mark::Pushes) || has_mark(m, Mark::Resizes) {
            let name = self.outer(&m.receiver).filter(|name| !self.pushed_at.contains_key(name));
            self.pushed_at.extend(name.map(|name| (name, SrcRange::of(m))));
        }
        if has_mark(m, Mark::Pushes)
            && let Some(name) = self.outer(&m.receiver)
        {
            self.pushed.insert(name.clone());
            self.used.insert(name.clone());
            self.changed.insert(name);
            m.args.iter().for_each(|e| self.visit_expr(e));
            return;
        }
        if has_mark(m, Mark::Resizes) {
            self.pushed.extend(self.outer(&m.receiver));
        }
        if let Some(f) = each(m) {
            self.visit_expr(&m.receiver);
            m.args.iter().take(m.args.len() - 1).for_each(|e| self.visit_expr(e));
            if changes_receiver(m) {
                self.change(&m.receiver);
            }
            let jumps = self.jumps.clone();
            self.visit_each(f);
            self.jumps = jumps;
            return;
        }
        if has_mark(m, Mark::Adds) {
            self.change(&m.receiver);
            self.visit_sum(&m.receiver);
            m.args.iter().for_each(|e| self.visit_expr(e));
            return;
        }
        visit::visit_expr_method_call(self, m);
        let changes = |row: &table::Row| !row.is(Mark::OfBorrowed) || super::calls::borrowed(&m.receiver).is_some();
        let name = m.method.to_string();
        if table::find(On::Place, &name).is_some_and(changes) || self.mutating.contains(&name) {
            self.change(&m.receiver);
        }
    }
}
