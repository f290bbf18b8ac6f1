//! Values of the reference interpreter: arrays in row-major order, tuples, and the dual numbers
//! that represent reals. This module knows neither terms nor scopes.

use ad_core::ir::{Elem, IntTy, RealTy};

/// A real number with its tangent.
#[derive(Clone, Copy, PartialEq, Debug, Default)]
pub struct Dual {
    /// The value.
    pub v: f64,
    /// The tangent: the derivative in the direction of the inputs' tangents.
    pub d: f64,
}

impl Dual {
    /// A constant.
    #[must_use]
    pub fn constant(v: f64) -> Dual {
        Dual { v, d: 0.0 }
    }
}

/// The elements of an array, in row-major order.
#[derive(Clone, PartialEq, Debug)]
pub enum Data {
    /// Reals.
    Real(Vec<Dual>),
    /// Integers of any of the types.
    Int(Vec<i128>),
    /// Booleans.
    Bool(Vec<bool>),
}

/// An array. A scalar has rank 0.
#[derive(Clone, PartialEq, Debug)]
pub struct Array {
    /// Element type.
    pub elem: Elem,
    /// The sizes, the outermost first.
    pub shape: Vec<usize>,
    /// The elements. Their number is the product of the sizes.
    pub data: Data,
}

/// The value of a term.
#[derive(Clone, PartialEq, Debug)]
pub enum Value {
    /// An array.
    Array(Array),
    /// A tuple.
    Tuple(Vec<Value>),
}

impl Data {
    /// `n` zeros (or `false`) of the element type.
    #[must_use]
    pub fn zeros(elem: Elem, n: usize) -> Data {
        match elem {
            Elem::Real(_) => Data::Real(vec![Dual::default(); n]),
            Elem::Int(_) => Data::Int(vec![0; n]),
            Elem::Bool => Data::Bool(vec![false; n]),
        }
    }

    /// Number of elements.
    #[must_use]
    pub fn len(&self) -> usize {
        match self {
            Data::Real(xs) => xs.len(),
            Data::Int(xs) => xs.len(),
            Data::Bool(xs) => xs.len(),
        }
    }

    /// Whether there is no element.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    fn pick(&self, from: impl Iterator<Item = Option<usize>>) -> Data {
        match self {
            Data::Real(xs) => Data::Real(from.map(|k| k.map_or(Dual::default(), |k| xs[k])).collect()),
            Data::Int(xs) => Data::Int(from.map(|k| k.map_or(0, |k| xs[k])).collect()),
            Data::Bool(xs) => Data::Bool(from.map(|k| k.is_some_and(|k| xs[k])).collect()),
        }
    }

    fn append(&mut self, other: &Data) -> Result<(), String> {
        match (self, other) {
            (Data::Real(a), Data::Real(b)) => a.extend(b),
            (Data::Int(a), Data::Int(b)) => a.extend(b),
            (Data::Bool(a), Data::Bool(b)) => a.extend(b),
            _ => return Err("rows of different element types".into()),
        }
        Ok(())
    }
}

impl Array {
    /// Zeros of this type and shape.
    #[must_use]
    pub fn zeros(elem: Elem, shape: &[usize]) -> Array {
        Array { elem, shape: shape.to_vec(), data: Data::zeros(elem, shape.iter().product()) }
    }

    /// The array of this shape whose element at an index is this array's element at `from(index)`,
    /// or zero for `None`.
    #[must_use]
    pub fn pick(&self, shape: &[usize], mut from: impl FnMut(&[usize]) -> Option<usize>) -> Array {
        let n: usize = shape.iter().product();
        let data = self.data.pick((0..n).map(|k| from(&unravel(k, shape))));
        Array { elem: self.elem, shape: shape.to_vec(), data }
    }

    /// An array of rows of one type, along a new outer axis.
    pub(super) fn from_rows(elem: Elem, row_shape: &[usize], rows: &[&Array]) -> Result<Array, String> {
        let mut data = Data::zeros(elem, 0);
        for row in rows {
            if row.shape != row_shape {
                return Err(format!("rows of shapes {:?} and {row_shape:?}", row.shape));
            }
            data.append(&row.data)?;
        }
        let shape = std::iter::once(rows.len()).chain(row_shape.iter().copied()).collect();
        Ok(Array { elem, shape, data })
    }

    /// Row `k` along the outer axis.
    pub(super) fn row(&self, k: usize) -> Array {
        let inner = &self.shape[1..];
        let size: usize = inner.iter().product();
        let data = self.data.pick((k * size..(k + 1) * size).map(Some));
        Array { elem: self.elem, shape: inner.to_vec(), data }
    }
}

impl Value {
    /// An `f64` scalar.
    #[must_use]
    pub fn scalar(v: f64) -> Value {
        Value::reals(&[], &[v])
    }

    /// An `f64` array with tangent 0.
    ///
    /// # Panics
    ///
    /// If the number of elements is not that of the shape. The other constructors panic likewise.
    #[must_use]
    pub fn reals(shape: &[usize], xs: &[f64]) -> Value {
        Value::of(RealTy::F64, shape, xs.iter().map(|&v| Dual::constant(v)).collect())
    }

    /// A real array of the given type.
    #[must_use]
    pub fn of(ty: RealTy, shape: &[usize], xs: Vec<Dual>) -> Value {
        Value::new(Elem::Real(ty), shape, Data::Real(xs))
    }

    /// An integer array.
    #[must_use]
    pub fn ints(ty: IntTy, shape: &[usize], xs: &[i128]) -> Value {
        Value::new(Elem::Int(ty), shape, Data::Int(xs.to_vec()))
    }

    /// A boolean array.
    #[must_use]
    pub fn bools(shape: &[usize], xs: &[bool]) -> Value {
        Value::new(Elem::Bool, shape, Data::Bool(xs.to_vec()))
    }

    fn new(elem: Elem, shape: &[usize], data: Data) -> Value {
        assert_eq!(data.len(), shape.iter().product::<usize>(), "as many elements as the shape {shape:?} has");
        Value::Array(Array { elem, shape: shape.to_vec(), data })
    }

    /// The same values with these tangents. Other values than real arrays do not change.
    #[must_use]
    pub fn with_tangent(mut self, ds: &[f64]) -> Value {
        if let Value::Array(Array { data: Data::Real(xs), .. }) = &mut self {
            assert_eq!(xs.len(), ds.len(), "one tangent for each element");
            for (x, &d) in xs.iter_mut().zip(ds) {
                x.d = d;
            }
        }
        self
    }

    /// The array, unless it is a tuple.
    #[must_use]
    pub fn as_array(&self) -> Option<&Array> {
        match self {
            Value::Array(a) => Some(a),
            Value::Tuple(_) => None,
        }
    }

    /// The real elements of an array, or of all arrays of a tuple in order.
    #[must_use]
    pub fn duals(&self) -> Vec<Dual> {
        match self {
            Value::Array(Array { data: Data::Real(xs), .. }) => xs.clone(),
            Value::Array(_) => Vec::new(),
            Value::Tuple(parts) => parts.iter().flat_map(Value::duals).collect(),
        }
    }

    /// The values of the real elements.
    #[must_use]
    pub fn values(&self) -> Vec<f64> {
        self.duals().iter().map(|x| x.v).collect()
    }

    /// The tangents of the real elements.
    #[must_use]
    pub fn tangents(&self) -> Vec<f64> {
        self.duals().iter().map(|x| x.d).collect()
    }
}

/// The index at row-major position `k`.
pub(super) fn unravel(mut k: usize, shape: &[usize]) -> Vec<usize> {
    let mut ix = vec![0; shape.len()];
    for (i, &n) in ix.iter_mut().zip(shape).rev() {
        *i = k % n;
        k /= n;
    }
    ix
}

/// The row-major position of an index over the leading axes of `shape`, in units of rows. `None` if
/// it is out of range.
pub(super) fn ravel(ix: &[usize], shape: &[usize]) -> Option<usize> {
    let mut k = 0;
    for (&i, &n) in ix.iter().zip(shape) {
        if i >= n {
            return None;
        }
        k = k * n + i;
    }
    Some(k)
}
