//! The vocabulary of terms and primitives: the handle of a term, constants, and types, which
//! are an element type and a symbolic shape, or a tuple of types (BOT Fig. 8, with sizes that are
//! terms).
//!
//! This module must never depend on the composition of terms: that is in `ir`, which depends on the
//! primitives.

/// A handle of an interned term: equal terms have equal handles, children have smaller handles than
/// their parents.
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Debug)]
pub struct Term(pub(crate) u32);

impl Term {
    /// The position in the arena.
    #[must_use]
    pub fn index(self) -> usize {
        self.0 as usize
    }
}

/// The floating point type of a real array.
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Debug)]
pub enum RealTy {
    /// `f32`
    F32,
    /// `f64`
    F64,
    /// The function's type parameter `T: Real`, `f32` or `f64` at the call.
    Param,
}

/// The type of an integer array. Values are in the range of the declared type.
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Debug)]
#[allow(missing_docs, reason = "the names are Rust's own")]
pub enum IntTy {
    Usize,
    Isize,
    I32,
    I64,
    U32,
    U64,
    U8,
}

impl IntTy {
    /// Rust's name of the type.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            IntTy::Usize => "usize",
            IntTy::Isize => "isize",
            IntTy::I32 => "i32",
            IntTy::I64 => "i64",
            IntTy::U32 => "u32",
            IntTy::U64 => "u64",
            IntTy::U8 => "u8",
        }
    }

    /// The number of bits; `usize` counts as 64 bits wide.
    #[must_use]
    pub fn bits(self) -> u32 {
        match self {
            IntTy::Usize | IntTy::Isize | IntTy::I64 | IntTy::U64 => 64,
            IntTy::I32 | IntTy::U32 => 32,
            IntTy::U8 => 8,
        }
    }

    /// Smallest and largest value; `usize` counts as 64 bits wide.
    #[must_use]
    pub fn range(self) -> (i128, i128) {
        match self {
            IntTy::Usize | IntTy::U64 => (0, i128::from(u64::MAX)),
            IntTy::Isize | IntTy::I64 => (i128::from(i64::MIN), i128::from(i64::MAX)),
            IntTy::I32 => (i128::from(i32::MIN), i128::from(i32::MAX)),
            IntTy::U32 => (0, i128::from(u32::MAX)),
            IntTy::U8 => (0, 255),
        }
    }
}

/// The element type of an array.
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Debug)]
pub enum Elem {
    /// Real numbers: the only elements that have derivatives.
    Real(RealTy),
    /// Integers.
    Int(IntTy),
    /// Booleans.
    Bool,
}

impl Elem {
    /// `f64`.
    pub const F64: Elem = Elem::Real(RealTy::F64);
    /// `usize`, the type of sizes and indices.
    pub const USIZE: Elem = Elem::Int(IntTy::Usize);

    /// Whether derivatives flow through elements of this type.
    #[must_use]
    pub fn is_real(self) -> bool {
        matches!(self, Elem::Real(_))
    }
}

/// The type of a term. A scalar is an array of rank 0, as in BOT.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub enum Type {
    /// An array: its element type and its sizes, outermost first. A size is a closed term of type
    /// `usize`.
    Array(Elem, Box<[Term]>),
    /// A tuple.
    Tuple(Box<[Type]>),
}

impl Type {
    /// The type of a scalar.
    #[must_use]
    pub fn scalar(elem: Elem) -> Type {
        Type::Array(elem, Box::new([]))
    }

    /// Element type and shape, or `None` for a tuple.
    #[must_use]
    pub fn as_array(&self) -> Option<(Elem, &[Term])> {
        match self {
            Type::Array(elem, shape) => Some((*elem, shape)),
            Type::Tuple(_) => None,
        }
    }

    /// Whether the type contains real numbers.
    #[must_use]
    pub fn has_real(&self) -> bool {
        match self {
            Type::Array(elem, _) => elem.is_real(),
            Type::Tuple(parts) => parts.iter().any(Type::has_real),
        }
    }

    /// Visits the sizes of all arrays in the type, in their order.
    pub fn for_each_size(&self, f: &mut impl FnMut(Term)) {
        match self {
            Type::Array(_, shape) => shape.iter().for_each(|&n| f(n)),
            Type::Tuple(parts) => parts.iter().for_each(|ty| ty.for_each_size(f)),
        }
    }

    /// The type with other terms in place of its sizes.
    #[must_use]
    pub fn map_sizes(&self, f: &mut impl FnMut(Term) -> Term) -> Type {
        match self {
            Type::Array(elem, shape) => Type::Array(*elem, shape.iter().map(|&n| f(n)).collect()),
            Type::Tuple(parts) => Type::Tuple(parts.iter().map(|ty| ty.map_sizes(f)).collect()),
        }
    }

    /// Whether it is one real array (or scalar).
    #[must_use]
    pub fn is_real(&self) -> bool {
        matches!(self, Type::Array(Elem::Real(_), _))
    }
}

/// A scalar constant. Reals are compared by their bits, so that `-0.0` and `0.0` are different
/// terms, and equal NaNs are one term.
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Debug)]
pub enum Lit {
    /// A real constant, as the bits of an `f64`.
    Real(RealTy, u64),
    /// An integer constant of the given type.
    Int(IntTy, i128),
    /// A boolean.
    Bool(bool),
}

impl Lit {
    /// The number 0, or `false`.
    #[must_use]
    pub fn zero(elem: Elem) -> Self {
        match elem {
            Elem::Real(ty) => Lit::Real(ty, 0.0_f64.to_bits()),
            Elem::Int(ty) => Lit::Int(ty, 0),
            Elem::Bool => Lit::Bool(false),
        }
    }

    /// Its element type.
    #[must_use]
    pub fn elem(self) -> Elem {
        match self {
            Lit::Real(ty, _) => Elem::Real(ty),
            Lit::Int(ty, _) => Elem::Int(ty),
            Lit::Bool(_) => Elem::Bool,
        }
    }

    /// The value of a real literal.
    #[must_use]
    pub fn as_real(self) -> Option<f64> {
        match self {
            Lit::Real(_, bits) => Some(f64::from_bits(bits)),
            _ => None,
        }
    }
}

/// A sum of products of two arrays, by labelled axes: the result at `out` is the sum over all
/// labels not in `out`. No label occurs twice in one operand; every label of an operand is in the
/// other operand or in `out`; every label of `out` is in an operand.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub struct Contraction {
    /// Labels of the first operand's axes.
    pub a: Box<[u8]>,
    /// Labels of the second operand's axes.
    pub b: Box<[u8]>,
    /// Labels of the result's axes.
    pub out: Box<[u8]>,
    /// Whether a zero of the first operand, of the second one, makes a product 0 whatever the other
    /// factor is, as in `*0`. This is needed for a cotangent that may be a masked zero.
    pub absorbs: [bool; 2],
}

impl Contraction {
    /// A sum of ordinary products.
    pub fn new(a: impl Into<Box<[u8]>>, b: impl Into<Box<[u8]>>, out: impl Into<Box<[u8]>>) -> Self {
        Contraction { a: a.into(), b: b.into(), out: out.into(), absorbs: [false; 2] }
    }

    /// Whether a zero of either operand absorbs.
    #[must_use]
    pub fn absorbing(&self) -> bool {
        self.absorbs != [false; 2]
    }

    /// The same contraction with other labels.
    #[must_use]
    pub fn with(&self, a: impl Into<Box<[u8]>>, b: impl Into<Box<[u8]>>, out: impl Into<Box<[u8]>>) -> Self {
        Contraction { a: a.into(), b: b.into(), out: out.into(), absorbs: self.absorbs }
    }

    /// The same contraction of the operands in the other order.
    #[must_use]
    pub fn swapped(&self) -> Self {
        let [first, second] = self.absorbs;
        Contraction { a: self.b.clone(), b: self.a.clone(), out: self.out.clone(), absorbs: [second, first] }
    }
}

/// A small number as an axis.
pub fn axis(k: usize) -> u8 {
    u8::try_from(k).unwrap_or(u8::MAX)
}

/// The axes of an array of this rank that are not in `axes`, ascending.
#[must_use]
pub fn other_axes(rank: usize, axes: &[u8]) -> Vec<u8> {
    (0..rank).map(axis).filter(|a| !axes.contains(a)).collect()
}
