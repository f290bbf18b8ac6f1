//! The scalar functions. Each is one row of a table. The row has everything that the compiler knows
//! about the function: name, partial derivatives, generated code, cost, vectorisation, and the form
//! in which users call it. Code that needs a list of functions uses [`Unary::ALL`] and
//! [`Binary::ALL`].
//!
//! Two parts are deliberately elsewhere: the closed form in the oracle, which checks the row and so
//! does not read it, with the points of the tests; and the kernel in `ad-runtime` of a function
//! that std lacks.
//!
//! Partial derivatives are core terms, so they can be differentiated again.

mod binary;
mod unary;

pub use binary::Binary;
pub use unary::Unary;

use crate::prim::Build;
use crate::term::Term;

/// The form in which generated code calls a scalar function.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Emit {
    /// A method of the primitive type: `x.name()`, `a.name(b)`.
    Method(&'static str),
    /// A function of `ad-runtime`: `kernel::name(x)`.
    Kernel(&'static str),
    /// An infix operator, or a prefix operator for unary functions.
    Op(&'static str),
}

/// The product by which a partial derivative scales the tangent.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Scaling {
    /// The incoming value is multiplied by the factor.
    Plain,
    /// The product is 0 if the incoming value is 0, whatever the factor is. The partial derivative
    /// may be infinite at a point where the convention is that a zero cotangent remains zero.
    Absorbing,
}

/// The form in which users call a scalar function.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Surface {
    /// A method of a number.
    Method {
        /// Whether ndarray has the method for arrays, too.
        on_arrays: bool,
    },
    /// A function of the DSL, for a number or elementwise for an array.
    Function,
    /// An operator.
    Operator,
    /// It is not callable. Only derivatives contain it.
    Internal,
}

/// The work of a cheap operation on one number.
pub const CHEAP: u32 = 1;
/// The work of a division.
pub const DIVISION: u32 = 4;
/// The minimum work of an expensive function: storing its value is cheaper than computing it twice.
pub const EXPENSIVE: u32 = 20;

type Partial1 = fn(&mut dyn Build, x: Term, y: Term) -> Term;
type Partial2 = fn(&mut dyn Build, a: Term, b: Term, y: Term) -> Term;

/// A row of the table of functions of one real argument.
#[derive(Debug)]
pub struct UnaryRow {
    /// The name in printed terms, of the method or of the DSL's function.
    pub name: &'static str,
    /// The derivative, given the argument and the result. `None` if it is zero everywhere (by the
    /// table of conventions).
    pub partial: Option<Partial1>,
    /// The product that scales the tangent.
    pub scaling: Scaling,
    /// How generated code calls it.
    pub emit: Emit,
    /// The work for one number.
    pub cost: u32,
    /// Whether `ad-runtime`'s `Isa` has a vectorised method with the name in generated code.
    pub vectorised: bool,
    /// Whether it rounds to an integer: one instruction of SSE4.1, and a call without it.
    pub rounds: bool,
    /// Whether it is a step function. Then it is a decision that depends on its argument.
    pub step: bool,
    /// Whether it is finite for finite arguments, except for overflow.
    pub bounded: bool,
    /// Whether it is hidden from users. Only derivatives contain it.
    pub internal: bool,
}

/// A row of the table of functions of two real arguments.
#[derive(Debug)]
pub struct BinaryRow {
    /// The name in printed terms and of the method.
    pub name: &'static str,
    /// The value, if the simplifier may compute it from literals: IEEE 754 rounds it correctly, so
    /// it is the same at compile time.
    pub folded: Option<fn(f64, f64) -> f64>,
    /// The partial derivatives. `None` if one is zero everywhere.
    pub partials: [Option<Partial2>; 2],
    /// The product that scales the tangents.
    pub scaling: Scaling,
    /// How generated code calls it.
    pub emit: Emit,
    /// The work for one number.
    pub cost: u32,
    /// Whether `ad-runtime`'s `Isa` has a vectorised method with the name in generated code.
    pub vectorised: bool,
    /// Whether it is finite for finite arguments, except for overflow.
    pub bounded: bool,
    /// Whether ndarray has the method for arrays.
    pub on_arrays: bool,
}

impl UnaryRow {
    const CHEAP: UnaryRow = UnaryRow {
        name: "",
        partial: None,
        scaling: Scaling::Plain,
        emit: Emit::Op(""),
        cost: CHEAP,
        vectorised: false,
        rounds: false,
        step: false,
        bounded: false,
        internal: false,
    };

    /// The form in which users call it.
    #[must_use]
    pub fn surface(&self) -> Surface {
        match self.emit {
            _ if self.internal => Surface::Internal,
            Emit::Method(_) => Surface::Method { on_arrays: true },
            Emit::Kernel(_) => Surface::Function,
            Emit::Op(_) => Surface::Operator,
        }
    }
}

impl BinaryRow {
    const CHEAP: BinaryRow = BinaryRow {
        name: "",
        folded: None,
        partials: [None, None],
        scaling: Scaling::Plain,
        emit: Emit::Op(""),
        cost: CHEAP,
        vectorised: false,
        bounded: false,
        on_arrays: false,
    };

    /// The form in which users call it.
    #[must_use]
    pub fn surface(&self) -> Surface {
        match self.emit {
            Emit::Method(_) => Surface::Method { on_arrays: self.on_arrays },
            // No function of the DSL takes two numbers.
            Emit::Kernel(_) => Surface::Internal,
            Emit::Op(_) => Surface::Operator,
        }
    }
}

/// Declares a table: the enumeration of its functions, and the row of each.
macro_rules! scalar_table {
    ($(#[$about:meta])* $Table:ident, $Row:ident; $($(#[$doc:meta])* $variant:ident: $row:expr;)*) => {
        $(#[$about])*
        #[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Debug)]
        #[allow(missing_docs, reason = "each is the function of its name")]
        pub enum $Table { $($(#[$doc])* $variant),* }

        impl $Table {
            /// Every function, in the order of the table.
            pub const ALL: &[$Table] = &[$($Table::$variant),*];

            /// The function's row.
            #[must_use]
            pub fn row(self) -> &'static $Row {
                match self {
                    $($Table::$variant => {
                        static ROW: $Row = $row;
                        &ROW
                    })*
                }
            }
        }
    };
}
use scalar_table;
