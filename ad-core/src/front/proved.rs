//! How the code that is written proves the name of a row (`emit/proof.rs`): a column of the table.

use super::row::{On, Row};
use crate::program::{Called, Found, Home, Takes, Vectors};

/// How a name is proved to be the one that the table means.
#[derive(Clone, Copy, Debug)]
pub(in crate::front) enum Proof {
    /// Not at all: of a method of one of std's traits any other one is ambiguous in the function itself, those of iterators and of
    /// `Zip` are proved with the type, and those of types with the path.
    Nothing,
    /// By a trait that has the method too, for the types that have it.
    Method {
        found: Found,
        /// Only of what has axes.
        with_axes: bool,
    },
    /// The same of a type of std.
    OfStd { by_reference: bool },
    /// The same of `Peekable`.
    OfPeekable,
    /// By a call: it is a function.
    Call(Called),
}

impl Proof {
    /// What a row has that says nothing else.
    pub(super) const fn of(on: On) -> Proof {
        match on {
            On::Real | On::Int => Proof::method(Takes::Value),
            On::Array | On::Place => Proof::method(Takes::Deref),
            On::Option | On::Ordering => Proof::OfStd { by_reference: false },
            _ => Proof::Nothing,
        }
    }

    pub(in crate::front) const fn method(takes: Takes) -> Proof {
        Proof::Method { found: Found { takes, vectors: Vectors::No, of_layout: false }, with_axes: false }
    }
}

/// A column of [`Row`]: each of these changes what [`Proof::of`] says.
impl Row {
    pub(in crate::front) const fn proof(self, proof: Proof) -> Row {
        Row { proof, ..self }
    }

    /// Any other method of the name is ambiguous in the function itself.
    pub(in crate::front) const fn unproved(self) -> Row {
        self.proof(Proof::Nothing)
    }

    const fn found(self, change: Found, with: [bool; 3]) -> Row {
        let Proof::Method { found, with_axes } = self.proof else { return self };
        let takes = if with[0] { change.takes } else { found.takes };
        let vectors = if with[1] { change.vectors } else { found.vectors };
        let of_layout = if with[2] { change.of_layout } else { found.of_layout };
        self.proof(Proof::Method { found: Found { takes, vectors, of_layout }, with_axes })
    }

    /// ndarray's arrays have it themselves, and so.
    pub(in crate::front) const fn takes(self, takes: Takes) -> Row {
        self.found(Found { takes, vectors: Vectors::No, of_layout: false }, [true, false, false])
    }

    /// Vectors have it as well.
    pub(in crate::front) const fn of_vectors_too(self) -> Row {
        self.found(Found { takes: Takes::Deref, vectors: Vectors::Too, of_layout: false }, [false, true, false])
    }

    /// Only vectors have it.
    pub(in crate::front) const fn of_vectors(self) -> Row {
        self.found(Found { takes: Takes::Deref, vectors: Vectors::Only, of_layout: false }, [false, true, false])
    }

    /// `ArrayRefN` has it on what it derefs to only.
    pub(in crate::front) const fn of_layout(self) -> Row {
        self.found(Found { takes: Takes::Deref, vectors: Vectors::No, of_layout: true }, [false, false, true])
    }

    /// What has no axes has no such method.
    pub(in crate::front) const fn with_axes(self) -> Row {
        let Proof::Method { found, .. } = self.proof else { return self };
        self.proof(Proof::Method { found, with_axes: true })
    }

    /// A function: can be called with these arguments, as [`Called`] has them.
    pub(in crate::front) const fn called(self, arguments: &'static str) -> Row {
        let home = match self.on {
            On::Nd => Home::Ndarray,
            On::Std => Home::Iter,
            On::Mem => Home::Mem,
            _ => Home::Prelude,
        };
        self.proof(Proof::Call(Called { home, arguments, result: None }))
    }

    /// The same with more of what rustc has to be told.
    pub(in crate::front) const fn called_as(self, called: Called) -> Row {
        self.proof(Proof::Call(called))
    }

    /// The function that it is proved to be.
    pub(in crate::front) fn function(&self) -> Option<Called> {
        match self.proof {
            Proof::Call(called) => Some(called),
            _ => None,
        }
    }

    /// The traits of `ad_runtime::assumed` that have its name; `number`: whether real numbers have it as well.
    pub(super) fn traits(&self, number: bool) -> Vec<&'static str> {
        match (self.proof, self.on) {
            (Proof::OfPeekable, _) => vec!["peekables"],
            (Proof::OfStd { .. }, On::Option) => vec!["options"],
            (Proof::OfStd { .. }, _) => vec!["orderings"],
            (Proof::Method { .. }, On::Real) => vec!["reals"],
            (Proof::Method { .. }, On::Int) => vec!["integers"],
            (Proof::Method { found, with_axes }, on) => {
                let mut traits = Vec::new();
                if found.vectors != Vectors::Only {
                    traits.push("arrays");
                }
                if found.vectors != Vectors::No {
                    traits.push("vectors");
                }
                // An array without axes is not told from a number.
                if on != On::Place && !with_axes && !number {
                    traits.push("rank zero");
                }
                traits
            }
            (Proof::Nothing | Proof::Call(_), _) => Vec::new(),
        }
    }
}
