//! Turns statements with guards into nested `if`s. Consecutive statements with the same guard share
//! one `if`, and a conditional whose branches have just been computed is the value of that `if`.
//! Statements are not reordered.

use std::collections::{HashMap, HashSet};

use proc_macro2::TokenStream;
use quote::{ToTokens, quote};

use super::code::{Code, Condition};
use super::notes::Note;
use super::plan::Guard;
use ad_ir::ir::Term;

/// A choice between two values: of a scalar conditional, or of an array that is moved out of its
/// branch.
#[derive(Clone, Debug)]
pub(super) struct Join {
    pub(super) cond: Term,
    pub(super) then: TokenStream,
    pub(super) other: TokenStream,
    /// Terms that `then` and `other` name.
    pub(super) then_names: Vec<Term>,
    pub(super) other_names: Vec<Term>,
}

/// A statement of the driver.
#[derive(Clone, Debug, Default)]
pub(super) struct Statement {
    pub(super) guard: Vec<Guard>,
    /// The code. For a join, this module builds the expression after `let name =`.
    pub(super) code: Code,
    /// The value of the only name that the statement binds, if it binds one. The binding comes
    /// before the code.
    pub(super) value: Option<TokenStream>,
    pub(super) join: Option<Join>,
    /// The terms that it defines, and those that it names.
    pub(super) defines: Vec<Term>,
    pub(super) names: Vec<Term>,
    /// Whether it has an effect besides its definitions.
    pub(super) effect: bool,
    /// Whether a function returns everything that it defines.
    pub(super) handed: bool,
    /// What `AD_DUMP` says of it, besides the plan.
    pub(super) notes: Vec<Note>,
}

impl Statement {
    pub(super) fn names_all(&self) -> impl Iterator<Item = Term> + '_ {
        let join = self.join.iter().flat_map(|j| {
            std::iter::once(j.cond).chain(j.then_names.iter().copied()).chain(j.other_names.iter().copied())
        });
        self.names.iter().copied().chain(join).chain(self.guard.iter().map(|l| l.0))
    }
}

/// The statements whose values are needed, in order.
pub(super) fn live(statements: Vec<Statement>, needed: impl IntoIterator<Item = Term>) -> Vec<Statement> {
    let mut needed: HashSet<Term> = needed.into_iter().collect();
    let mut kept = Vec::new();
    for s in statements.into_iter().rev() {
        if s.effect || s.defines.iter().any(|t| needed.contains(t)) {
            needed.extend(s.names_all());
            kept.push(s);
        }
    }
    kept.reverse();
    kept
}

/// The number of bindings of one block from which on they are declared together. Each `let` opens a
/// scope in the one before, and rustc walks scopes by recursion when it writes debug information.
pub(super) const LONG_BLOCK: usize = 64;

/// Declarations of names that get their values later. They are tuple patterns: so there are few
/// scopes, and no lint objects to a single name without a value. One pattern of all the names would
/// have a type as long as the block.
pub(super) fn declared(names: &[TokenStream]) -> TokenStream {
    names.chunks(LONG_BLOCK).map(|names| quote!(let (#(#names,)*);)).collect()
}

enum Item {
    Plain(usize),
    If(If),
}

struct If {
    id: usize,
    cond: Term,
    arms: [Vec<Item>; 2],
    joins: Vec<usize>,
}

/// The driver's names for terms and conditions.
pub(super) trait Spell {
    /// The name of a computed term.
    fn name(&self, t: Term) -> TokenStream;
    /// A condition.
    fn condition(&self, t: Term) -> Condition;
    /// The value of a term on a path on which it is not computed.
    fn absent(&self, t: Term) -> TokenStream;
    /// Whether its memory is declared outside of all blocks, so that its name is visible
    /// everywhere.
    fn outside(&self, t: Term) -> bool;
    /// Whether statements are marked with what they define.
    fn marks(&self) -> bool;
}

/// The nested code. `returned` are terms read after the last statement.
pub(super) fn nested(statements: &[Statement], returned: &HashSet<Term>, spell: &impl Spell) -> TokenStream {
    let mut block: Vec<Item> = Vec::new();
    let mut chains: Vec<Vec<(usize, bool)>> = Vec::with_capacity(statements.len());
    let mut attached: HashSet<usize> = HashSet::new();
    let mut count = 0;
    for (k, s) in statements.iter().enumerate() {
        let mut chain = Vec::new();
        let mut at = &mut block;
        for &(cond, value) in &s.guard {
            let inner = open_if(at, cond, &mut count);
            chain.push((inner.id, value));
            at = &mut inner.arms[usize::from(!value)];
        }
        let joined = s.join.as_ref().map(|j| j.cond);
        if let Some(Item::If(last)) = at.last_mut()
            && Some(last.cond) == joined
            && !s.names_all().any(|t| last.joins.iter().any(|&j| statements[j].defines.contains(&t)))
        {
            last.joins.push(k);
            attached.insert(k);
        } else {
            at.push(Item::Plain(k));
        }
        chains.push(chain);
    }
    let mut readers: HashMap<Term, Vec<usize>> = HashMap::new();
    for (k, s) in statements.iter().enumerate() {
        for t in s.names_all() {
            readers.entry(t).or_default().push(k);
        }
    }
    let writer = Writer { statements, returned, spell, chains, attached, readers };
    writer.write(&block).into_token_stream()
}

/// The `if` on this condition at the end of the block: the last item if it can still take
/// statements, otherwise a new one.
fn open_if<'b>(block: &'b mut Vec<Item>, cond: Term, count: &mut usize) -> &'b mut If {
    let open = matches!(block.last(), Some(Item::If(i)) if i.cond == cond && i.joins.is_empty());
    if !open {
        *count += 1;
        block.push(Item::If(If { id: *count, cond, arms: [Vec::new(), Vec::new()], joins: Vec::new() }));
    }
    match block.last_mut() {
        Some(Item::If(i)) => i,
        _ => unreachable!("the last item is the one just pushed"),
    }
}

struct Writer<'a, S> {
    statements: &'a [Statement],
    returned: &'a HashSet<Term>,
    spell: &'a S,
    chains: Vec<Vec<(usize, bool)>>,
    attached: HashSet<usize>,
    readers: HashMap<Term, Vec<usize>>,
}

impl<S: Spell> Writer<'_, S> {
    fn write(&self, block: &[Item]) -> Code {
        let mut code = Code::default();
        let bound = |item: &Item| match item {
            Item::Plain(k) => Some(&self.statements[*k]).filter(|s| s.value.is_some() || s.join.is_some()),
            Item::If(_) => None,
        };
        let names: Vec<TokenStream> = block.iter().filter_map(bound).map(|s| self.spell.name(s.defines[0])).collect();
        let long = names.len() >= LONG_BLOCK;
        if long {
            code.push(declared(&names));
        }
        let bind = |name: &TokenStream, value: &TokenStream| {
            if long { quote!(#name = #value;) } else { quote!(let #name = #value;) }
        };
        for item in block {
            match item {
                Item::Plain(k) => {
                    let (s, mut one) = (&self.statements[*k], Code::default());
                    if let Some(value) = &s.value {
                        one.push(bind(&self.spell.name(s.defines[0]), value));
                    }
                    one.push(s.code.clone());
                    if let Some(join) = &s.join {
                        let (name, cond) = (self.spell.name(s.defines[0]), self.spell.condition(join.cond).tokens);
                        let (then, other) = (&join.then, &join.other);
                        one.push(bind(&name, &quote!(if #cond { #then } else { #other })));
                    }
                    code.push(if self.spell.marks() { one.marked(&s.defines) } else { one });
                }
                Item::If(i) => code.push(self.write_if(i)),
            }
        }
        code
    }

    fn write_if(&self, i: &If) -> Code {
        let mut names = Vec::new();
        let mut values: [Vec<TokenStream>; 2] = [Vec::new(), Vec::new()];
        for &k in &i.joins {
            let s = &self.statements[k];
            let Some(join) = &s.join else { continue };
            names.push(self.spell.name(s.defines[0]));
            values[0].push(join.then.clone());
            values[1].push(join.other.clone());
        }
        for (arm, items) in i.arms.iter().enumerate() {
            let mut defined = Vec::new();
            self.defined(items, &mut defined);
            for t in defined {
                if self.escapes(t, i, arm == 0) {
                    let name = self.spell.name(t);
                    values[arm].push(name.clone());
                    values[1 - arm].push(self.spell.absent(t));
                    names.push(name);
                }
            }
        }
        let [then, other] = [0, 1].map(|arm| {
            let mut code = self.write(&i.arms[arm]);
            match &*values[arm] {
                [] => {}
                [one] => code.push(one.clone()),
                values => code.push(quote!((#(#values),*))),
            }
            code
        });
        let cond = self.spell.condition(i.cond);
        let test = &cond.tokens;
        match &*names {
            [] => Code::of_if(cond, then, &other),
            [one] => quote!(let #one = if #test { #then } else { #other };).into(),
            _ => quote!(let (#(#names),*) = if #test { #then } else { #other };).into(),
        }
    }

    /// Everything defined in a block and in the blocks inside it.
    fn defined(&self, block: &[Item], found: &mut Vec<Term>) {
        for item in block {
            match item {
                Item::Plain(k) => found.extend(&self.statements[*k].defines),
                Item::If(i) => {
                    for arm in &i.arms {
                        self.defined(arm, found);
                    }
                    for &k in &i.joins {
                        found.extend(&self.statements[k].defines);
                    }
                }
            }
        }
    }

    /// Whether a term defined in a branch is read outside of it.
    fn escapes(&self, t: Term, i: &If, arm: bool) -> bool {
        if self.spell.outside(t) {
            return false;
        }
        if self.returned.contains(&t) {
            return true;
        }
        let Some(readers) = self.readers.get(&t) else { return false };
        readers.iter().any(|&k| {
            if self.chains[k].contains(&(i.id, arm)) {
                return false;
            }
            if self.attached.contains(&k) && i.joins.contains(&k) {
                // The join reads the value of its branch inside that branch.
                let s = &self.statements[k];
                let Some(join) = &s.join else { return true };
                let (own, across) =
                    if arm { (&join.then_names, &join.other_names) } else { (&join.other_names, &join.then_names) };
                return !own.contains(&t) || across.contains(&t);
            }
            true
        })
    }
}
