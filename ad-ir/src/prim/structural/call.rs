//! `call` and `returned`: a call of a function that is compiled on its own, and one of its results.
//!
//! A call is total: its first argument says whether the program reaches it. If not, nothing is
//! called, and the results are zeros. So it may be moved, dropped or computed twice like any other
//! term, although the function that it names may call itself.
//!
//! A call gives one number: the function's only result, or the number of a *record* that has its
//! results. The forward half of a derivative (KN, section 6) also saves in its record the values
//! that the reverse half reads.

use super::{Batch, Example, Structural, shaped};
use crate::prim::Prim;
use crate::prim::build::{Build, Typed, Types, ensure};
use crate::term::{Elem, Term, Type};

/// The routine of a function that a call runs (KN, section 6).
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Debug)]
pub enum Half {
    /// The function itself.
    Value,
    /// The function, which leaves a record for [`Half::Reverse`].
    Forward,
    /// Takes the record of a forward half, the arguments that are passed on and the cotangents of
    /// the real results. Gives the cotangents of the active arguments.
    Reverse,
    /// Takes the record, the arguments that are passed on and the tangents of the active arguments.
    /// Gives the tangents of the real results.
    Tangent,
}

/// A size of a result.
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Debug)]
pub enum Extent {
    /// A number.
    Number(usize),
    /// The result of the same call with this index. Only functions with rules of their own have
    /// results of this kind.
    Result(u32),
    /// The size with this index among those that the call has after the arguments of the function.
    /// Only functions that are compiled on their own have results of this kind.
    Given(u32),
}

/// The type of a result.
#[derive(Clone, PartialEq, Eq, Hash, PartialOrd, Ord, Debug)]
pub struct Returns {
    /// The type of its elements.
    pub elem: Elem,
    /// Its sizes.
    pub sizes: Box<[Extent]>,
}

/// The facts about a function whose body is not read, as a call states them.
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Debug)]
pub struct ByRule {
    /// The number of arguments before those of the function: they tell the calls of one run apart.
    pub keys: u32,
    /// Whether a derivative goes through the call.
    pub is_active: bool,
}

/// A function as a call names it.
#[derive(Clone, PartialEq, Eq, Hash, PartialOrd, Ord, Debug)]
pub struct Callee {
    /// The index of the function among those of the program.
    pub function: u32,
    /// The routine that is called.
    pub half: Half,
    /// The indices of the active arguments, ascending. Empty for the function itself.
    pub active: Box<[u32]>,
    /// The indices of the arguments that the other half takes once more, ascending. No record has
    /// them.
    pub passed: Box<[u32]>,
    /// The types of the function's results.
    pub results: Box<[Returns]>,
    /// The type of the value of the call, if that is the only result. It is not read from a record.
    pub direct: Option<Elem>,
    /// Set if it is a function with a rule of its own. `function` is then its number among those.
    /// Its record has everything that both halves need.
    pub rule: Option<ByRule>,
}

impl Callee {
    /// Whether the reverse half with these active arguments adds to memory of its caller, given
    /// the number of axes of the first one. A half with one number as its only active argument
    /// returns the cotangent instead.
    #[must_use]
    pub fn adds(active: &[u32], rank: usize) -> bool {
        active.len() > 1 || rank > 0
    }

    /// The arguments of the function, and the sizes of its results that the caller knows. `args`:
    /// those of the call of the function or of its forward half.
    #[must_use]
    pub fn split<'t>(&self, args: &'t [Term]) -> (&'t [Term], &'t [Term]) {
        let own = matches!(self.half, Half::Value | Half::Forward);
        let sizes = self.results.iter().filter(|_| own).flat_map(|result| &result.sizes);
        let given = |size: &Extent| if let Extent::Given(k) = size { *k as usize + 1 } else { 0 };
        let given = sizes.map(given).max().unwrap_or(0);
        args.split_at(args.len().saturating_sub(given))
    }

    /// The type of the number that a call gives.
    #[must_use]
    pub fn gives(&self) -> Elem {
        self.direct.unwrap_or(Elem::USIZE)
    }
}

/// `[reached, argument..., size...]`.
pub(super) struct Call<'a>(pub(super) &'a Callee);

impl Structural for Call<'_> {
    fn name(&self) -> String {
        let half = match self.0.half {
            Half::Value => "",
            Half::Forward => "_forward",
            Half::Reverse => "_reverse",
            Half::Tangent => "_tangent",
        };
        let kind = if self.0.rule.is_some() { "rule_" } else { "" };
        format!("call_{kind}{}{half}", self.0.function)
    }

    fn infer(&self, g: &dyn Types, args: &[Term]) -> Typed {
        let reached = args.first().map(|&t| g.ty(t));
        ensure!(reached == Some(&Type::scalar(Elem::Bool)), "a call begins with whether it is reached");
        args.iter().try_for_each(|&t| g.array(t).map(|_| ()))?;
        shaped(self.0.gives(), [])
    }

    fn batch(&self, g: &mut dyn Build, b: &Batch<'_>) -> Term {
        g.row_by_row(&Prim::Call(self.0.clone().into()), b.args, b.lifted, b.varies, b.size)
    }

    fn cost(&self) -> Option<u32> {
        None
    }

    #[inline]
    fn examples() -> Vec<Example> {
        // The functions of a program give the value, so there is no example without a program.
        Vec::new()
    }
}

/// `[reached, argument..., x]`: x plus the cotangent of active argument `k`. If the call is not
/// reached, the value is x. With `start` and `len` before x, the cotangent is added to that part of
/// it.
pub(super) struct Onto<'a>(pub(super) &'a Callee, pub(super) u32, pub(super) bool);

impl Structural for Onto<'_> {
    fn name(&self) -> String {
        let (function, k) = (self.0.function, self.1);
        let part = if self.2 { "_part" } else { "" };
        if self.0.active.len() > 1 {
            format!("call_{function}_reverse_onto{part}[{k}]")
        } else {
            format!("call_{function}_reverse_onto{part}")
        }
    }

    fn infer(&self, g: &dyn Types, args: &[Term]) -> Typed {
        let reached = args.first().map(|&t| g.ty(t));
        ensure!(reached == Some(&Type::scalar(Elem::Bool)), "a call begins with whether it is reached");
        args.iter().try_for_each(|&t| g.array(t).map(|_| ()))?;
        let (elem, shape) = g.array(args[args.len() - 1])?;
        ensure!(args.len() > 1 && elem.is_real(), "a cotangent is added to what is real");
        ensure!(!self.2 || (args.len() > 3 && shape.len() == 1), "a part is of an array with one axis");
        shaped(elem, shape.iter().copied())
    }

    fn batch(&self, g: &mut dyn Build, b: &Batch<'_>) -> Term {
        g.row_by_row(&Prim::Onto(self.0.clone().into(), self.1, self.2), b.args, b.lifted, b.varies, b.size)
    }

    fn cost(&self) -> Option<u32> {
        None
    }

    #[inline]
    fn examples() -> Vec<Example> {
        Vec::new()
    }
}

/// `[record, size...]`: result `k` of a call, of this element type. If the call is not reached, the
/// value is zero.
pub(super) struct Returned(pub(super) u32, pub(super) Elem);

impl Structural for Returned {
    fn name(&self) -> String {
        format!("returned[{}]", self.0)
    }

    fn data_args(&self, _args: usize) -> usize {
        1
    }

    fn infer(&self, g: &dyn Types, args: &[Term]) -> Typed {
        let record = args.first().map(|&t| g.ty(t));
        ensure!(record == Some(&Type::scalar(Elem::USIZE)), "a result is read from a record");
        args[1..].iter().try_for_each(|&n| g.check_size(n))?;
        shaped(self.1, args[1..].iter().copied())
    }

    fn batch(&self, g: &mut dyn Build, b: &Batch<'_>) -> Term {
        g.row_by_row(&Prim::Returned(self.0, self.1), b.args, b.lifted, b.varies, b.size)
    }

    fn cost(&self) -> Option<u32> {
        None
    }

    #[inline]
    fn examples() -> Vec<Example> {
        Vec::new()
    }
}
