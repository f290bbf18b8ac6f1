//! Primitives: everything that is neither a binding nor a control form, listed in [`Prim`] with its
//! meaning. Scalar functions are rows of tables (`scalar`), the other elementwise ones have their
//! types in `elementwise`, and what works on whole arrays is a family, one file each, behind one
//! trait (`structural`).
//!
//! Must never depend on the graph, which is made of primitives. What primitives ask of the graph
//! are the interfaces in `build`.

pub(crate) mod build;
mod elementwise;
pub mod scalar;
pub mod structural;

pub use build::{Build, TypeError, Types};

pub use scalar::{Binary, BinaryRow, Emit, Scaling, Surface, Unary, UnaryRow};

use crate::term::{Contraction, Elem, Term};

use build::Typed;

/// A comparison, as in Rust (all but `Ne` are false where an operand is NaN).
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

/// An integer operation on the declared type. Total: where Rust would panic (overflow, zero
/// divisor) the value is the nearest in range, or the dividend; a `check` reports it if the
/// function itself gets there.
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
    /// Bits that leave the type are lost, as in Rust. An amount that is no bit's place gives the
    /// first operand.
    Shl,
    Shr,
    /// The exponent has the type of the base; a negative one counts as 0.
    Pow,
}

impl IntOp {
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
    /// Largest element by chained `f64::max` (NaN only where all are); minus infinity for none.
    Max,
    /// Smallest element; infinity for none.
    Min,
    /// Row-major position of the first largest element; 0 for none.
    ArgMax,
    /// Row-major position of the first smallest element; 0 for none.
    ArgMin,
    /// Whether all hold.
    All,
    /// Whether any holds.
    Any,
    /// The sum from the first element to the last, beginning with -0, as of an iterator: -0 of
    /// none.
    InOrder,
    /// The same beginning with 0, as of a loop: 0 of none.
    FromZero,
    /// The sum in the order of ndarray's own `sum` of what is contiguous: eight partial sums from
    /// 0, `(0 + 4) + (1 + 5) + ..`, and the rest.
    Unrolled,
    /// The sum in the order of the DSL's own: sixteen partial sums, added as a balanced tree, and
    /// the rest.
    Lanes,
    /// The sum in the order of the DSL's `sum_outer`: four elements, in pairs, are added at a time,
    /// and then the rest.
    Fours,
    /// The sum of squares as the DSL's `norm` takes it: as in `Lanes`, fused where the processor
    /// fuses.
    Squares,
    /// The product in the order of ndarray's own, as in `Unrolled`; 1 of none.
    Factors,
    /// The sum of squared distances from the mean, one element after the other (Welford), as in
    /// ndarray's `var`; 0 of none.
    Distances,
}

impl Reduce {
    /// Whether it is a real number by the operations of the user's function in their order: the
    /// exact value of a [`Prim::RelaxedExact`].
    #[must_use]
    pub fn keeps_order(self) -> bool {
        use Reduce::{Distances, Factors, Fours, FromZero, InOrder, Lanes, Squares, Unrolled};
        matches!(self, InOrder | FromZero | Unrolled | Lanes | Fours | Squares | Factors | Distances)
    }

    /// Whether it may be taken over the first elements of an axis alone. (The other reductions need
    /// no such form: neutral elements in place of the rest make no difference.)
    #[must_use]
    pub fn of_first(self) -> bool {
        use Reduce::{Distances, Factors, Fours, Lanes, Squares, Unrolled};
        matches!(self, Unrolled | Lanes | Fours | Squares | Factors | Distances)
    }
}

/// A primitive. Arguments are listed in brackets. "Elementwise" means: all arguments have one
/// shape, the result has it too.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub enum Prim {
    /// `[x]`, real, elementwise.
    Unary(Unary),
    /// `[a, b]`, real, elementwise.
    Binary(Binary),
    /// `[x, n]`, real and `i32`, elementwise: `x.powi(n)`.
    PowI,
    /// `[a, b]` of one element type, elementwise, boolean result.
    Compare(Cmp),
    /// `[a, b]`, integers of one type, elementwise.
    Int(IntOp),
    /// `[a]`, integer, elementwise.
    IntNeg,
    /// `[x]`, real, elementwise: an `i64` for each number, in the order of `total_cmp`.
    TotalOrder,
    /// `[a]`, boolean, elementwise.
    Not,
    /// `[a, b]`, boolean, elementwise, strict.
    And,
    /// `[a, b]`, boolean, elementwise, strict.
    Or,
    /// `[mask, a, b]`, elementwise: both arms are values, no arm's NaN reaches the other.
    Select,
    /// `[x]`, elementwise, as Rust's `as`.
    Cast(Elem),
    /// `[x]`: the value, with derivative zero.
    StopGradient,
    /// `[a, b, c]`, real, elementwise: `a * b + c`, rounded once. It has no derivative: it is the
    /// exact value of a pair, below.
    Fused,
    /// `[relaxed, exact]`, real, elementwise: one number, computed in two ways. `exact` has the
    /// last bits of the user's function, by its operations in their order. It is read where a
    /// decision depends on the number. `relaxed` is equal by the laws of real numbers and has the
    /// derivative. Where no decision depends on the number, `relaxed` alone remains.
    RelaxedExact,
    /// `[x]`, elementwise: x, a sum whose order in the user's function is not known at expansion.
    /// No decision may depend on it; the front end refuses a function that has such a decision.
    UnknownOrder,
    /// `[x, size...]`: new axes of these sizes at these positions of the result (ascending); BOT's
    /// `replicate` is position 0.
    Replicate(Box<[u8]>),
    /// `[x]`: sum over these axes (ascending), real; BOT's `sumOuter` is axis 0.
    Sum(Box<[u8]>),
    /// `[x]`: reduction over the last `n` axes. `[x, len]`, for the reductions that
    /// [`Reduce::of_first`] names: over the first `len` elements of the last axis.
    Reduce(Reduce, u8),
    /// `[x]`: axis k of the result is axis `perm[k]` of x; BOT's `tr`.
    Transpose(Box<[u8]>),
    /// `[x, size...]`: the elements in row-major order in another shape, of equal product.
    Reshape,
    /// `[x, size...]`: x with these terms for its sizes. A `check` holds that they are equal at run
    /// time.
    Recast,
    /// `[x, start_0, .., len_0, ..]`: element i of axis k is x at `start_k + step_k * i`.
    Slice(Box<[i64]>),
    /// `[x, start_0, .., size_0, ..]`: zeros of these sizes, with x at `start_k + step_k * i`: the
    /// transpose of `Slice`.
    Pad(Box<[i64]>),
    /// `[n]`: 0, 1, .., n - 1 as `usize`.
    Iota,
    /// `[x_0, .., x_(n-1)]`: arrays of one type along a new outer axis (whose size is the literal
    /// n).
    Stack,
    /// `[a, b]`, real: a sum of products.
    Contract(Contraction),
    /// `[x]`, real: along the last axis the sums of the elements so far, one after the other, from
    /// the first or (`true`) the last on.
    CumSum(bool),
}

impl Prim {
    /// Whether the result's element at an index depends only on the arguments' elements at that
    /// index.
    #[must_use]
    pub fn is_elementwise(&self) -> bool {
        self.structural(|_| ()).is_none()
    }

    /// The type of the result.
    ///
    /// # Errors
    /// If the arguments do not fit.
    pub fn infer(&self, g: &dyn Types, args: &[Term]) -> Typed {
        self.structural(|s| s.infer(g, args)).unwrap_or_else(|| elementwise::infer(self, g, args))
    }

    /// The work of one element, without that of the arguments. `None`: the primitive is computed as
    /// a whole, into memory.
    #[must_use]
    pub fn cost(&self) -> Option<u32> {
        match self {
            Prim::Unary(f) => Some(f.row().cost),
            Prim::Binary(f) => Some(f.row().cost),
            Prim::PowI => Some(scalar::EXPENSIVE),
            _ => self.structural(|s| s.cost()).unwrap_or(Some(scalar::CHEAP)),
        }
    }

    /// Whether it is a scalar function that costs more to compute twice than to store.
    #[must_use]
    pub fn is_expensive(&self) -> bool {
        self.cost().is_some_and(|cost| cost >= scalar::EXPENSIVE)
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
            Prim::Int(op) => match op {
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
            .into(),
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
            _ => self.structural(|s| s.name()).unwrap_or_default(),
        }
    }
}
