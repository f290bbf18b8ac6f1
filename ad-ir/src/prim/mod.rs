//! Primitives: every operation that is neither a binding nor a control form. Scalar functions are
//! rows of tables (`scalar`). The types of the other elementwise ones are in `elementwise`.
//! Operations on whole arrays form families, one file each, behind one trait (`structural`). The
//! list of all primitives with their meaning, [`Prim`], is in the same file as that trait, so that
//! a new operation on arrays is a file and an entry of the list.
//!
//! This module does not depend on the graph, which consists of primitives. It uses the graph
//! through the interfaces in `build`.

pub(crate) mod build;
mod elementwise;
pub mod scalar;
pub mod structural;
pub mod watch;

pub use build::{Build, TypeError, Types};

pub use scalar::{Binary, BinaryRow, Emit, Scaling, Surface, Unary, UnaryRow};
pub use structural::Prim;

use crate::term::Term;

use build::Typed;

/// A comparison, as in Rust (all but `Ne` are false if an operand is NaN).
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Debug)]
#[allow(missing_docs, reason = "the names are Rust's own")]
pub enum Cmp {
    Eq,
    Ne,
    Lt,
    Le,
    Gt,
    Ge,
}

impl Cmp {
    /// The value of the comparison.
    #[must_use]
    pub fn holds<T: PartialOrd>(self, a: T, b: T) -> bool {
        match self {
            Cmp::Eq => a == b,
            Cmp::Ne => a != b,
            Cmp::Lt => a < b,
            Cmp::Le => a <= b,
            Cmp::Gt => a > b,
            Cmp::Ge => a >= b,
        }
    }

    /// The comparison of the operands in the other order.
    #[must_use]
    pub fn swapped(self) -> Cmp {
        match self {
            Cmp::Lt => Cmp::Gt,
            Cmp::Le => Cmp::Ge,
            Cmp::Gt => Cmp::Lt,
            Cmp::Ge => Cmp::Le,
            op => op,
        }
    }

    /// The comparison of integers that holds where this one does not.
    #[must_use]
    pub fn negated(self) -> Cmp {
        match self {
            Cmp::Eq => Cmp::Ne,
            Cmp::Ne => Cmp::Eq,
            Cmp::Lt => Cmp::Ge,
            Cmp::Le => Cmp::Gt,
            Cmp::Gt => Cmp::Le,
            Cmp::Ge => Cmp::Lt,
        }
    }
}

/// An integer operation in the declared type. It is total: where Rust panics (overflow, zero
/// divisor), the value is the nearest in range, or the dividend. A `check` reports the panic if the
/// function itself reaches it.
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Debug)]
#[allow(missing_docs, reason = "the names are Rust's own")]
pub enum IntOp {
    Add,
    Sub,
    Mul,
    Div,
    Rem,
    Min,
    Max,
    BitAnd,
    BitOr,
    BitXor,
    /// Bits that do not fit in the type are lost, as in Rust. An amount outside of the width of the
    /// type gives the first operand.
    Shl,
    Shr,
    /// The exponent has the type of the base. A negative one counts as 0.
    Pow,
}

impl IntOp {
    /// The operator or function, as printed terms have it.
    #[must_use]
    pub fn symbol(self) -> &'static str {
        match self {
            IntOp::Add => "+",
            IntOp::Sub => "-",
            IntOp::Mul => "*",
            IntOp::Div => "/",
            IntOp::Rem => "%",
            IntOp::Min => "min",
            IntOp::Max => "max",
            IntOp::BitAnd => "&",
            IntOp::BitOr => "|",
            IntOp::BitXor => "^",
            IntOp::Shl => "<<",
            IntOp::Shr => ">>",
            IntOp::Pow => "pow",
        }
    }

    /// Every operation.
    pub const ALL: &[IntOp] = &[
        IntOp::Add,
        IntOp::Sub,
        IntOp::Mul,
        IntOp::Div,
        IntOp::Rem,
        IntOp::Min,
        IntOp::Max,
        IntOp::BitAnd,
        IntOp::BitOr,
        IntOp::BitXor,
        IntOp::Shl,
        IntOp::Shr,
        IntOp::Pow,
    ];
}

/// A reduction over the trailing axes.
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Debug)]
pub enum Reduce {
    /// The largest element by repeated `f64::max` (NaN only if all are). Minus infinity if there is
    /// none.
    Max,
    /// The smallest element. Infinity if there is none.
    Min,
    /// The row-major position of the first largest element. 0 if there is none.
    ArgMax,
    /// The row-major position of the first smallest element. 0 if there is none.
    ArgMin,
    /// Whether all elements are true.
    All,
    /// Whether any element is true.
    Any,
    /// The sum from the first element to the last, with the initial value -0, as in a sum of an
    /// iterator. The sum of no elements is -0.
    InOrder,
    /// Like `InOrder`, with the initial value 0, as in a loop. The sum of no elements is 0.
    FromZero,
    /// The sum in the order of ndarray's `sum` of contiguous elements: eight partial sums from 0,
    /// combined as `(0 + 4) + (1 + 5) + ..`, and the rest.
    Unrolled,
    /// The sum in the order of the DSL's `sum`: sixteen partial sums, combined as a balanced tree,
    /// and the rest.
    Lanes,
    /// The sum in the order of the DSL's `sum_outer`: four elements at a time, in pairs, and then
    /// the rest.
    Fours,
    /// The sum of squares in the order of the DSL's `norm`: as in `Lanes`, with fused multiply-adds
    /// if the processor has them.
    Squares,
    /// The product in ndarray's order, as in `Unrolled`. The product of no elements is 1.
    Factors,
    /// The sum of squared distances from the mean, one element after the other (Welford), as in
    /// ndarray's `var`. 0 if there is no element.
    Distances,
}

impl Reduce {
    /// Whether it computes a real number with the operations of the user's function in their order.
    /// Then it is the exact value of a [`Prim::RelaxedExact`].
    #[must_use]
    pub fn keeps_order(self) -> bool {
        use Reduce::{Distances, Factors, Fours, FromZero, InOrder, Lanes, Squares, Unrolled};
        matches!(self, InOrder | FromZero | Unrolled | Lanes | Fours | Squares | Factors | Distances)
    }

    /// Whether it can be restricted to the first elements of an axis. (The other reductions need no
    /// such form: neutral elements in place of the rest give the same result.)
    #[must_use]
    pub fn of_first(self) -> bool {
        use Reduce::{Distances, Factors, Fours, Lanes, Squares, Unrolled};
        matches!(self, Unrolled | Lanes | Fours | Squares | Factors | Distances)
    }
}

impl Prim {
    /// Whether it is one of the operations on integers and truth values that sizes, and conditions
    /// on sizes, are computed by.
    #[must_use]
    pub fn computes_sizes(&self) -> bool {
        matches!(
            self,
            Prim::Int(_)
                | Prim::IntNeg
                | Prim::Checkpoint
                | Prim::Compare(_)
                | Prim::Not
                | Prim::And
                | Prim::Or
                | Prim::Cast(_)
        )
    }

    /// Whether the result's element at an index depends only on the arguments' elements at that
    /// index.
    #[must_use]
    pub fn is_elementwise(&self) -> bool {
        self.structural(|_| ()).is_none()
    }

    /// The type of the result.
    ///
    /// # Errors
    ///
    /// If the arguments do not fit.
    pub fn infer(&self, g: &dyn Types, args: &[Term]) -> Typed {
        self.structural(|s| s.infer(g, args)).unwrap_or_else(|| elementwise::infer(self, g, args))
    }

    /// The work of one element, without that of the arguments. `None` if the primitive is computed
    /// by one kernel and stored.
    #[must_use]
    pub fn cost(&self) -> Option<u32> {
        match self {
            Prim::Unary(f) => Some(f.row().cost),
            Prim::Binary(f) => Some(f.row().cost),
            // A watched number is tested once, and only where it is used.
            Prim::PowI | Prim::Watched(_) => Some(scalar::EXPENSIVE),
            _ => self.structural(|s| s.cost()).unwrap_or(Some(scalar::CHEAP)),
        }
    }

    /// Whether each element of the result is an element of the first argument, a sum of such
    /// elements, or zero.
    #[must_use]
    pub fn moves_elements(&self) -> bool {
        use Prim::{Pad, Recast, Replicate, Reshape, Slice, Sum, Transpose};
        matches!(self, Replicate(_) | Sum(_) | Transpose(_) | Reshape | Recast | Slice(_) | Pad(_))
    }

    /// Whether it is an expensive scalar function, or a call: storing its value is cheaper than
    /// computing it twice.
    #[must_use]
    pub fn is_expensive(&self) -> bool {
        matches!(self, Prim::Call(_) | Prim::Onto(..))
            || self.structural(|s| s.is_expensive()).unwrap_or(false)
            || self.cost().is_some_and(|cost| cost >= scalar::EXPENSIVE)
    }

    /// The number of leading arguments that are data. The rest are sizes and starts: `usize`
    /// scalars without index variables.
    #[must_use]
    pub fn data_args(&self, args: usize) -> usize {
        self.structural(|s| s.data_args(args)).unwrap_or(args)
    }

    /// The name in printed terms.
    #[must_use]
    pub fn name(&self) -> String {
        match self {
            Prim::Unary(f) => f.row().name.to_string(),
            Prim::Binary(f) => f.row().name.to_string(),
            Prim::PowI => "powi".into(),
            Prim::Compare(c) => match c {
                Cmp::Eq => "==",
                Cmp::Ne => "!=",
                Cmp::Lt => "<",
                Cmp::Le => "<=",
                Cmp::Gt => ">",
                Cmp::Ge => ">=",
            }
            .into(),
            Prim::Int(op) => op.symbol().into(),
            Prim::IntNeg => "-".into(),
            Prim::TotalOrder => "total_order".into(),
            Prim::Not => "!".into(),
            Prim::And => "&&".into(),
            Prim::Or => "||".into(),
            Prim::Select => "select".into(),
            Prim::Cast(elem) => format!("as_{elem:?}"),
            Prim::StopGradient => "stop_gradient".into(),
            Prim::Fused => "fused".into(),
            Prim::RelaxedExact => "relaxed_exact".into(),
            Prim::UnknownOrder => "unknown_order".into(),
            Prim::Finished => "finished".into(),
            Prim::Checkpoint => "checkpoint".into(),
            Prim::Watched(watch) => format!("watched[{}]", watch.number),
            _ => self.structural(|s| s.name()).unwrap_or_default(),
        }
    }
}
