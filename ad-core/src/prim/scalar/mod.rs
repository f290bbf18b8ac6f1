//! The scalar functions. A function is one row of a table, and all that the compiler knows of it is
//! in the row: name, value, partial derivatives, how it is emitted, what it costs, whether it is
//! vectorised, whether users call it and by what form, and where it is tested. Whoever needs a list
//! of functions walks [`Unary::ALL`] and [`Binary::ALL`].
//!
//! What is not here on purpose: the closed form of the oracle, which checks the row and so must not
//! read it, and the kernel in `ad-runtime` of a function that std lacks.
//!
//! Partial derivatives are core terms themselves, so they can be differentiated again.

mod binary;
mod reference;
mod unary;

pub use binary::Binary;
pub use unary::Unary;

use crate::prim::Build;
use crate::term::Term;

/// How generated code calls a scalar function.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Emit {
    /// `x.name()`, `a.name(b)`: a method of the primitive type.
    Method(&'static str),
    /// `kernel::name(x)`: a function of `ad-runtime`.
    Kernel(&'static str),
    /// An infix operator, or a prefix one for unary functions.
    Op(&'static str),
}

/// How the tangent is scaled by a partial derivative.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Scaling {
    /// A product.
    Plain,
    /// A product that is 0 where the incoming value is 0, whatever the factor: the partial may be
    /// infinite at a point where the convention is that a zero cotangent stays zero.
    Absorbing,
}

/// In which form users call a scalar function.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Surface {
    /// As a method of a number and, if it says so, of an array.
    Method {
        /// Whether ndarray has it for arrays.
        on_arrays: bool,
    },
    /// As a function of the DSL, of a number or of each element of an array.
    Function,
    /// As an operator.
    Operator,
    /// Not at all: only derivatives are made of it.
    Internal,
}

/// The work of a cheap operation on one number.
pub const CHEAP: u32 = 1;
/// The work of a division.
pub const DIVISION: u32 = 4;
/// The work from which on it costs more to compute a value twice than to store it.
pub const EXPENSIVE: u32 = 20;

type Partial1 = fn(&mut dyn Build, x: Term, y: Term) -> Term;
type Partial2 = fn(&mut dyn Build, a: Term, b: Term, y: Term) -> Term;

/// A row of the table of functions of one real argument.
#[derive(Debug)]
pub struct UnaryRow {
    /// Printed name, and the name of the method or of the DSL's function.
    pub name: &'static str,
    /// Reference value.
    pub eval: fn(f64) -> f64,
    /// The derivative, given the argument and the result; `None`: zero everywhere (by the
    /// conventions table).
    pub partial: Option<Partial1>,
    /// How the tangent is scaled.
    pub scaling: Scaling,
    /// How it is emitted.
    pub emit: Emit,
    /// The work for one number.
    pub cost: u32,
    /// Whether `ad-runtime`'s `Isa` has a vectorised method of the name that is emitted.
    pub vectorised: bool,
    /// Whether it is a step function: a decision depends on its argument.
    pub step: bool,
    /// Whether it is finite where its argument is, but for overflow.
    pub bounded: bool,
    /// Whether users do not know it: only derivatives are made of it.
    pub internal: bool,
    /// Arguments at which tests may evaluate it: it is defined there, and its derivatives are not
    /// huge. `None`: any.
    pub domain: Option<(f64, f64)>,
    /// Points at which value and derivative are tested.
    pub points: &'static [f64],
}

/// A row of the table of functions of two real arguments.
#[derive(Debug)]
pub struct BinaryRow {
    /// Printed name, and the name of the method.
    pub name: &'static str,
    /// Reference value.
    pub eval: fn(f64, f64) -> f64,
    /// The partial derivatives; `None`: zero everywhere.
    pub partials: [Option<Partial2>; 2],
    /// How the tangents are scaled.
    pub scaling: Scaling,
    /// How it is emitted.
    pub emit: Emit,
    /// The work for one number.
    pub cost: u32,
    /// Whether `ad-runtime`'s `Isa` has a vectorised method of the name that is emitted.
    pub vectorised: bool,
    /// Whether it is finite where its arguments are, but for overflow.
    pub bounded: bool,
    /// Whether ndarray has the method for arrays.
    pub on_arrays: bool,
    /// Points at which value and derivatives are tested.
    pub points: &'static [(f64, f64)],
}

impl UnaryRow {
    const CHEAP: UnaryRow = UnaryRow {
        name: "",
        eval: |x| x,
        partial: None,
        scaling: Scaling::Plain,
        emit: Emit::Op(""),
        cost: CHEAP,
        vectorised: false,
        step: false,
        bounded: false,
        internal: false,
        domain: None,
        points: &[],
    };

    /// In which form users call it.
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
        eval: |a, _| a,
        partials: [None, None],
        scaling: Scaling::Plain,
        emit: Emit::Op(""),
        cost: CHEAP,
        vectorised: false,
        bounded: false,
        on_arrays: false,
        points: &[],
    };

    /// In which form users call it.
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

/// A table: the enumeration of its functions, and the row of each.
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
