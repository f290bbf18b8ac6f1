//! Random *source* programs: the text of functions as users write them, with arguments. A seed
//! gives one program.
//!
//! The supported forms are a table of templates ([`forms`]); this file fills their holes. The
//! templates keep values bounded (no logarithm of a negative number, no division by a number near
//! 0), and indices are in range by construction. So any difference between two ways of computing a
//! program is a bug. [`oracle`] computes the meaning of a program.

mod fill;
pub mod forms;
pub mod oracle;
mod writer;

use std::collections::BTreeSet;
use std::fmt::Write as _;

use forms::Form;

/// The real numbers of a program.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Real {
    F64,
    F32,
    /// `T: Real`, called with `f64`.
    Param,
}

impl Real {
    /// The type in the program.
    pub fn text(self) -> &'static str {
        match self {
            Real::F64 => "f64",
            Real::F32 => "f32",
            Real::Param => "T",
        }
    }

    /// The type in the caller's code.
    pub fn concrete(self) -> &'static str {
        if self == Real::F32 { "f32" } else { "f64" }
    }
}

/// The form of a value in the program.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Stands {
    /// A number, or an owned array.
    Value,
    /// `&F`, `&ArrayN<F>`.
    Ref,
    /// `ArrayViewN<'_, F>`.
    View,
    /// `&ArrayRefN<F>`.
    ArrayRef,
    /// `&[F]`.
    Slice,
    /// `Vec<F>`.
    Vec,
    /// `&Vec<F>`.
    RefVec,
    /// `[F; 3]`, `[[F; 3]; 2]`.
    Static,
    /// `&[F; 3]`, `&[[F; 3]; 2]`.
    RefStatic,
}

impl Stands {
    /// A size in the program.
    pub fn fixed(self) -> bool {
        matches!(self, Stands::Static | Stands::RefStatic)
    }

    fn ndarray(self) -> bool {
        matches!(self, Stands::Value | Stands::Ref | Stands::View | Stands::ArrayRef)
    }
}

/// The type of a result that is not a number.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Owned {
    /// An ndarray, or a number.
    Any,
    Vec,
    Static,
}

/// The kind of a value.
#[derive(Clone, PartialEq, Debug)]
pub enum Kind {
    /// A real number.
    Real,
    /// A `usize`.
    Int,
    /// A `usize` that is this size.
    Size(usize),
    /// A `usize` below this size.
    Index(usize),
    Bool,
    /// An array of real numbers.
    Array(Vec<usize>),
    /// An array of `usize`.
    Ints(Vec<usize>),
    /// A closure from a real number to one.
    Closure,
}

/// A name in scope.
#[derive(Clone, Debug)]
struct Var {
    name: String,
    kind: Kind,
    stands: Stands,
}

/// A parameter with the argument for it.
#[derive(Clone, Debug)]
pub struct Arg {
    pub name: String,
    pub kind: Kind,
    pub stands: Stands,
    /// The values of a real parameter.
    pub reals: Vec<f64>,
    /// The values of an integer or boolean parameter.
    pub ints: Vec<usize>,
}

impl Arg {
    pub fn active(&self) -> bool {
        matches!(self.kind, Kind::Real | Kind::Array(_))
    }

    pub fn shape(&self) -> &[usize] {
        match &self.kind {
            Kind::Array(shape) | Kind::Ints(shape) => shape,
            _ => &[],
        }
    }

    /// The same parameter without elements (a number or an array of static size does not change).
    pub fn emptied(&self) -> Arg {
        let mut arg = self.clone();
        if let Kind::Array(shape) | Kind::Ints(shape) = &mut arg.kind
            && !arg.stands.fixed()
        {
            shape.fill(0);
            arg.reals.clear();
            arg.ints.clear();
        }
        arg
    }

    /// The same parameter in which all rows along an axis are equal to the first.
    pub fn repeated(&self) -> Arg {
        let mut arg = self.clone();
        if let Kind::Array(shape) = &arg.kind {
            let row = shape[1..].iter().product::<usize>();
            for k in row..arg.reals.len() {
                arg.reals[k] = arg.reals[k % row];
            }
        }
        arg
    }
}

/// The source text of a function, and its arguments.
#[derive(Clone, Debug)]
pub struct Source {
    pub seed: u64,
    pub real: Real,
    /// The attribute's options.
    pub options: String,
    /// `fn f(..) -> .. { .. }`
    pub text: String,
    pub args: Vec<Arg>,
    /// The result's shape.
    pub result: Vec<usize>,
    pub owned: Owned,
    /// The rows of the front end's table that occur ([`forms::row`]), such as `array.sum`.
    pub uses: BTreeSet<String>,
    /// Whether a `build1` creates an array of arrays.
    pub builds_arrays: bool,
}

impl Source {
    /// Whether a number is rounded to single precision.
    pub fn single(&self) -> bool {
        self.real == Real::F32 || self.text.contains("as f32")
    }

    pub fn has(&self, option: &str) -> bool {
        self.options.split(", ").any(|o| o == option)
    }
}

/// The program of a seed: [`Form`] number `seed % forms` occurs in it.
pub fn program(forms: &[Form], seed: u64) -> Source {
    let focus = (seed % forms.len() as u64) as usize;
    writer::Writer::new(forms, seed).program(focus, None)
}

/// The same with `f64` for its numbers.
pub fn program_of_doubles(forms: &[Form], seed: u64) -> Source {
    let focus = (seed % forms.len() as u64) as usize;
    writer::Writer::new(forms, seed).program(focus, Some(Real::F64))
}

/// A parameter's type.
pub fn type_text(arg: &Arg, f: &str) -> String {
    let (elem, rank) = match &arg.kind {
        Kind::Array(shape) => (f, shape.len()),
        Kind::Ints(shape) => ("usize", shape.len()),
        Kind::Real => return if arg.stands == Stands::Ref { format!("&{f}") } else { f.into() },
        Kind::Bool => return "bool".into(),
        _ => return "usize".into(),
    };
    let mut out = String::new();
    let _ = match arg.stands {
        Stands::Value => write!(out, "Array{rank}<{elem}>"),
        Stands::Ref => write!(out, "&Array{rank}<{elem}>"),
        Stands::View => write!(out, "ArrayView{rank}<'_, {elem}>"),
        Stands::ArrayRef => write!(out, "&ArrayRef{rank}<{elem}>"),
        Stands::Slice => write!(out, "&[{elem}]"),
        Stands::Vec => write!(out, "Vec<{elem}>"),
        Stands::RefVec => write!(out, "&Vec<{elem}>"),
        Stands::Static | Stands::RefStatic => {
            let of = arg.shape().iter().rev().fold(elem.to_string(), |of, n| format!("[{of}; {n}]"));
            write!(out, "{}{of}", if arg.stands == Stands::RefStatic { "&" } else { "" })
        }
    };
    out
}
