//! Primitives: everything that is neither a binding nor a control form. Scalar functions are rows of tables in `scalar`;
//! the structural ones are listed here with their meaning, typed in `ir::infer`, transformed by `bot`, and differentiated in `modes::dual_arrays::linear`.

pub mod scalar;

pub use scalar::{Binary, BinaryRow, Emit, Scaling, Surface, Unary, UnaryRow};

use crate::ir::{Contraction, Elem};

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

/// An integer operation on the declared type. Total: where Rust would panic (overflow, zero divisor) the value is the nearest
/// in range, or the dividend; a `check` reports it if the function itself gets there.
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
    /// Bits that leave the type are lost, as in Rust. An amount that is no bit's place gives the first operand.
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
    /// The sum from the first element to the last, beginning with -0, as of an iterator: -0 of none.
    InOrder,
    /// The same beginning with 0, as of a loop: 0 of none.
    FromZero,
    /// The sum in the order of ndarray's own `sum` of what is contiguous: eight partial sums from 0, `(0 + 4) + (1 + 5) + ..`, and the rest.
    Unrolled,
    /// The sum in the order of the DSL's own: sixteen partial sums, added as a balanced tree, and the rest.
    Lanes,
    /// The sum in the order of the DSL's `sum_outer`: four elements, in pairs, are added at a time, and then the rest.
    Fours,
    /// The sum of squares as the DSL's `norm` takes it: as in `Lanes`, fused where the processor fuses.
    Squares,
    /// The product in the order of ndarray's own, as in `Unrolled`; 1 of none.
    Factors,
    /// The sum of squared distances from the mean, one element after the other (Welford), as in ndarray's `var`; 0 of none.
    Distances,
}

impl Reduce {
    /// Whether it is a real number by a function's own operations in their own order: the second argument of [`Prim::Own`].
    #[must_use]
    pub fn is_own(self) -> bool {
        use Reduce::{Distances, Factors, Fours, FromZero, InOrder, Lanes, Squares, Unrolled};
        matches!(self, InOrder | FromZero | Unrolled | Lanes | Fours | Squares | Factors | Distances)
    }

    /// Whether it may be of the first elements alone. (Of the others so many neutral elements make no difference.)
    #[must_use]
    pub fn of_first(self) -> bool {
        use Reduce::{Distances, Factors, Fours, Lanes, Squares, Unrolled};
        matches!(self, Unrolled | Lanes | Fours | Squares | Factors | Distances)
    }
}

/// A primitive. Arguments are listed in brackets. "Elementwise" means: all arguments have one shape, the result has it too.
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
    /// `[x]`, real, elementwise: the `i64` whose order is that of `total_cmp`.
    Order,
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
    /// `[a, b, c]`, real, elementwise: `a * b + c`, rounded once. Without a derivative: it is read as `own`, below.
    Fused,
    /// `[free, own]`, real, elementwise: one number in two ways. `own` has the last bits of the function itself, by its operations in their
    /// order, and is read where a decision depends on it; `free` is equal by the laws of real numbers, has the derivative, and is all that
    /// is left where none does.
    Own,
    /// `[x]`, elementwise: x. A number in the function's own order, if only that were known: nothing may decide by it, which the front end sees to.
    Unordered,
    /// `[x, size...]`: new axes of these sizes at these positions of the result (ascending); BOT's `replicate` is position 0.
    Replicate(Box<[u8]>),
    /// `[x]`: sum over these axes (ascending), real; BOT's `sumOuter` is axis 0.
    Sum(Box<[u8]>),
    /// `[x]`: reduction over the last `n` axes. `[x, len]`, of those that [`Reduce::of_first`] names, over the last axis: of so many of its first
    /// elements, lane by lane.
    Reduce(Reduce, u8),
    /// `[x]`: axis k of the result is axis `perm[k]` of x; BOT's `tr`.
    Transpose(Box<[u8]>),
    /// `[x, size...]`: the elements in row-major order in another shape, of equal product.
    Reshape,
    /// `[x, size...]`: x under other names of its sizes. They are equal at run time; a `check` has seen to it.
    Recast,
    /// `[x, start_0, .., len_0, ..]`: element i of axis k is x at `start_k + step_k * i`.
    Slice(Box<[i64]>),
    /// `[x, start_0, .., size_0, ..]`: zeros of these sizes, with x at `start_k + step_k * i`: the transpose of `Slice`.
    Pad(Box<[i64]>),
    /// `[n]`: 0, 1, .., n - 1 as `usize`.
    Iota,
    /// `[x_0, .., x_(n-1)]`: arrays of one type along a new outer axis (whose size is the literal n).
    Stack,
    /// `[a, b]`, real: a sum of products.
    Contract(Contraction),
}

impl Prim {
    /// Whether the result's element at an index depends only on the arguments' elements at that index.
    #[must_use]
    pub fn is_elementwise(&self) -> bool {
        match self {
            Prim::Unary(_)
            | Prim::Binary(_)
            | Prim::PowI
            | Prim::Compare(_)
            | Prim::Int(_)
            | Prim::IntNeg
            | Prim::Order
            | Prim::Not
            | Prim::And
            | Prim::Or
            | Prim::Select
            | Prim::Cast(_)
            | Prim::StopGradient
            | Prim::Fused
            | Prim::Own
            | Prim::Unordered => true,
            Prim::Replicate(_)
            | Prim::Sum(_)
            | Prim::Reduce(..)
            | Prim::Transpose(_)
            | Prim::Reshape
            | Prim::Recast
            | Prim::Slice(_)
            | Prim::Pad(_)
            | Prim::Iota
            | Prim::Stack
            | Prim::Contract(_) => false,
        }
    }

    /// The work of an elementwise primitive for one element.
    #[must_use]
    pub fn cost(&self) -> u32 {
        match self {
            Prim::Unary(f) => f.row().cost,
            Prim::Binary(f) => f.row().cost,
            Prim::PowI => scalar::EXPENSIVE,
            _ => scalar::CHEAP,
        }
    }

    /// Whether it is a scalar function that costs more to compute twice than to store.
    #[must_use]
    pub fn is_expensive(&self) -> bool {
        self.cost() >= scalar::EXPENSIVE
    }

    /// How many leading arguments are data; the rest are sizes and starts (closed or index-free `usize` scalars).
    #[must_use]
    pub fn data_args(&self, args: usize) -> usize {
        match self {
            Prim::Replicate(_) | Prim::Reshape | Prim::Recast | Prim::Slice(_) | Prim::Pad(_) => 1,
            Prim::Iota => 0,
            _ => args,
        }
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
            Prim::Order => "order".into(),
            Prim::Not => "!".into(),
            Prim::And => "&&".into(),
            Prim::Or => "||".into(),
            Prim::Select => "select".into(),
            Prim::Cast(elem) => format!("as_{elem:?}"),
            Prim::StopGradient => "stop_gradient".into(),
            Prim::Fused => "fused".into(),
            Prim::Own => "own".into(),
            Prim::Unordered => "unordered".into(),
            Prim::Replicate(axes) => format!("replicate{}", list(axes)),
            Prim::Sum(axes) => format!("sum{}", list(axes)),
            Prim::Reduce(op, rank) => format!("{}[{rank}]", format!("{op:?}").to_lowercase()),
            Prim::Transpose(perm) => format!("tr{}", list(perm)),
            Prim::Reshape => "reshape".into(),
            Prim::Recast => "recast".into(),
            Prim::Slice(steps) => format!("slice{}", list(steps)),
            Prim::Pad(steps) => format!("pad{}", list(steps)),
            Prim::Iota => "iota".into(),
            Prim::Stack => "stack".into(),
            Prim::Contract(c) => {
                let letters = |ls: &[u8]| ls.iter().map(|&l| char::from(b'i' + l)).collect::<String>();
                format!("contract[{},{}->{}]", letters(&c.a), letters(&c.b), letters(&c.out))
            }
        }
    }
}

fn list<T: std::fmt::Display>(items: &[T]) -> String {
    let parts: Vec<String> = items.iter().map(ToString::to_string).collect();
    format!("[{}]", parts.join(","))
}
