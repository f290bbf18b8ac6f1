//! A column of the table: how the generated code asserts that a name means the function of its row
//! (`ad-back/src/proof.rs`).

use super::row::{On, Row};
use ad_ir::program::{AssumedFunction, Home, MethodLookup, Takes, Vectors};

/// How the meaning of a name is asserted.
#[derive(Clone, Copy, Debug)]
pub enum Proof {
    /// No assertion is needed. A competing method of one of std's traits would make the user's own
    /// code ambiguous. Methods of iterators and of `Zip` are asserted with the type, and functions
    /// of types with the path.
    Nothing,
    /// A trait of `ad_runtime` declares the same method for the types that have it.
    Method {
        /// How the method is found.
        found: MethodLookup,
        /// Whether only arrays with axes have the method.
        with_axes: bool,
    },
    /// Like `Method`, for a type of std.
    OfStd {
        /// Whether the receiver is a reference.
        by_reference: bool,
    },
    /// Like `Method`, for `Peekable`.
    OfPeekable,
    /// The function is called.
    Call(AssumedFunction),
}

impl Proof {
    /// The default proof of a row.
    pub(super) const fn of(on: On) -> Proof {
        match on {
            On::Real | On::Int => Proof::method(Takes::Value),
            On::Array | On::Place => Proof::method(Takes::Deref),
            On::Option | On::Result | On::Ordering => Proof::OfStd { by_reference: false },
            _ => Proof::Nothing,
        }
    }

    pub(crate) const fn method(takes: Takes) -> Proof {
        Proof::Method { found: MethodLookup { takes, vectors: Vectors::No, of_layout: false }, with_axes: false }
    }
}

/// Setters for this column.
impl Row {
    pub(crate) const fn proof(self, proof: Proof) -> Row {
        Row { proof, ..self }
    }

    /// No assertion is needed: a competing method would make the user's own code ambiguous.
    pub(crate) const fn unproved(self) -> Row {
        self.proof(Proof::Nothing)
    }

    const fn found(self, change: MethodLookup, with: [bool; 3]) -> Row {
        let Proof::Method { found, with_axes } = self.proof else { return self };
        let takes = if with[0] { change.takes } else { found.takes };
        let vectors = if with[1] { change.vectors } else { found.vectors };
        let of_layout = if with[2] { change.of_layout } else { found.of_layout };
        self.proof(Proof::Method { found: MethodLookup { takes, vectors, of_layout }, with_axes })
    }

    /// The receiver of an ndarray method is taken in this way. Vectors do not have the method.
    pub(crate) const fn takes(self, takes: Takes) -> Row {
        self.found(MethodLookup { takes, vectors: Vectors::No, of_layout: false }, [true, false, false])
    }

    /// Vectors have the method as well.
    pub(crate) const fn of_vectors_too(self) -> Row {
        self.found(MethodLookup { takes: Takes::Deref, vectors: Vectors::Too, of_layout: false }, [false, true, false])
    }

    /// Only vectors have the method.
    pub(crate) const fn of_vectors(self) -> Row {
        self.found(MethodLookup { takes: Takes::Deref, vectors: Vectors::Only, of_layout: false }, [false, true, false])
    }

    /// Only `VecDeque` has the method.
    pub(crate) const fn of_queues(self) -> Row {
        self.found(
            MethodLookup { takes: Takes::Deref, vectors: Vectors::Queues, of_layout: false },
            [false, true, false],
        )
    }

    /// `ArrayRefN` has the method only through the type that it dereferences to.
    pub(crate) const fn of_layout(self) -> Row {
        self.found(MethodLookup { takes: Takes::Deref, vectors: Vectors::No, of_layout: true }, [false, false, true])
    }

    /// Only arrays with axes have the method.
    pub(crate) const fn with_axes(self) -> Row {
        let Proof::Method { found, .. } = self.proof else { return self };
        self.proof(Proof::Method { found, with_axes: true })
    }

    /// A function is called with these arguments (see [`AssumedFunction`]).
    pub(crate) const fn called(self, arguments: &'static str) -> Row {
        let home = match self.on {
            On::Nd => Home::Ndarray,
            On::Linalg => Home::Linalg,
            On::Fft => Home::Fft,
            On::Std => Home::Iter,
            On::Mem => Home::Mem,
            _ => Home::Prelude,
        };
        self.proof(Proof::Call(AssumedFunction { home, arguments, result: None }))
    }

    /// A function is called in this way.
    pub(crate) const fn called_as(self, called: AssumedFunction) -> Row {
        self.proof(Proof::Call(called))
    }

    /// The call that proves the function.
    pub(crate) fn function(&self) -> Option<AssumedFunction> {
        match self.proof {
            Proof::Call(called) => Some(called),
            _ => None,
        }
    }
}
