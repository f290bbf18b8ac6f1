//! Jacobians in compressed sparse rows: the pattern of the elements, and their values from one
//! product for each colour of the pattern.
//!
//! Columns that no row shares are seeded together: one product with the sum of their unit vectors
//! has the elements of all of them (Curtis, Powell and Reid). A colour is a set of such columns. A
//! row or a column that is full needs one product for each element, so the colours of both
//! directions are computed, and the direction with fewer colours is taken.
//!
//! This module must never allocate an array of rows times columns, unless the pattern has as many
//! elements.

use alloc::vec;
use alloc::vec::Vec;

use ndarray::Array2;

use crate::Real;

/// A matrix in compressed sparse rows: the elements that may differ from zero.
///
/// The elements of row `i` are those from `indptr[i]` to before `indptr[i + 1]`: `indices` has
/// their columns, in ascending order, and `values` their values. All others are zero.
///
/// ```
/// use ad_runtime::Csr;
/// use ndarray::array;
///
/// let (indptr, indices, values) = (vec![0, 1, 3], vec![2, 0, 1], vec![1.0, 2.0, 3.0]);
/// let m = Csr { rows: 2, cols: 3, indptr, indices, values };
/// assert_eq!(m.row(1), (&[0, 1][..], &[2.0, 3.0][..]));
/// assert_eq!(m.to_dense(), array![[0.0, 0.0, 1.0], [2.0, 3.0, 0.0]]);
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Csr<F> {
    /// The number of rows.
    pub rows: usize,
    /// The number of columns.
    pub cols: usize,
    /// The start of each row, and the end of the last one: one more entry than there are rows.
    pub indptr: Vec<usize>,
    /// The column of each element.
    pub indices: Vec<usize>,
    /// The value of each element.
    pub values: Vec<F>,
}

impl<F> Csr<F> {
    /// The columns and the values of a row, as many as it has elements.
    ///
    /// # Panics
    /// If `row` is not below the number of rows.
    ///
    /// ```
    /// use ad_runtime::Csr;
    /// let m = Csr { rows: 1, cols: 3, indptr: vec![0, 2], indices: vec![0, 2], values: vec![5.0, 6.0] };
    /// let (columns, values) = m.row(0);
    /// assert_eq!((columns, values), (&[0, 2][..], &[5.0, 6.0][..]));
    /// ```
    #[must_use]
    pub fn row(&self, row: usize) -> (&[usize], &[F]) {
        let part = self.indptr[row]..self.indptr[row + 1];
        (&self.indices[part.clone()], &self.values[part])
    }
}

impl<F: Real> Csr<F> {
    /// The whole matrix: an array of `rows` times `cols` elements.
    ///
    /// # Panics
    /// If the vectors do not fit together.
    ///
    /// ```
    /// use ad_runtime::Csr;
    /// let m = Csr { rows: 1, cols: 3, indptr: vec![0, 2], indices: vec![0, 2], values: vec![5.0, 6.0] };
    /// assert_eq!(m.to_dense(), ndarray::array![[5.0, 0.0, 6.0]]);
    /// ```
    #[must_use]
    pub fn to_dense(&self) -> Array2<F> {
        let mut dense = Array2::zeros((self.rows, self.cols));
        for row in 0..self.rows {
            let (columns, values) = self.row(row);
            for (&column, &value) in columns.iter().zip(values) {
                dense[[row, column]] = value;
            }
        }
        dense
    }
}

/// The Jacobian of a function of `cols` numbers. Each pair of vectors gives a range of columns for
/// each row: the first column, and the end of the range. `along` is the product with a tangent,
/// `back` that with a cotangent.
#[doc(hidden)]
pub fn jacobian<F: Real>(
    cols: usize,
    ranges: &[[&[usize]; 2]],
    mut along: impl FnMut(&[F]) -> Vec<F>,
    mut back: impl FnMut(&[F]) -> Vec<F>,
) -> Csr<F> {
    let by_rows = Pattern::of(cols, ranges);
    let rows = by_rows.begins.len() - 1;
    let by_columns = by_rows.transposed(cols);
    let (zero, one) = (F::lit(0.0), F::lit(1.0));
    let mut values = vec![zero; by_rows.all.len()];
    // The lower bounds for the numbers of colours of columns and of rows.
    let least = [by_rows.widest(), by_columns.widest()];
    let coloured = |of_columns: bool| {
        let (of, other) = if of_columns { (&by_rows, &by_columns) } else { (&by_columns, &by_rows) };
        Colours { of_columns, ..of.colours(other) }
    };
    let columns_first = least[0] <= least[1];
    let mut colours = coloured(columns_first);
    if least[usize::from(columns_first)] < colours.count {
        let others = coloured(!columns_first);
        if others.count < colours.count {
            colours = others;
        }
    }
    let mut seed = vec![zero; if colours.of_columns { cols } else { rows }];
    // The place of each element of a column among the elements of the rows.
    let places = if colours.of_columns { by_rows.places(&by_columns) } else { Vec::new() };
    for members in colours.members() {
        for &k in &members {
            seed[k] = one;
        }
        let product = if colours.of_columns { along(&seed) } else { back(&seed) };
        for &k in &members {
            seed[k] = zero;
            let own = if colours.of_columns { by_columns.range(k) } else { by_rows.range(k) };
            for at in own {
                if colours.of_columns {
                    values[places[at]] = product[by_columns.all[at]];
                } else {
                    values[at] = product[by_rows.all[at]];
                }
            }
        }
    }
    Csr { rows, cols, indptr: by_rows.begins, indices: by_rows.all, values }
}

/// The pattern of a matrix: for each row its columns, or for each column its rows.
struct Pattern {
    begins: Vec<usize>,
    all: Vec<usize>,
}

impl Pattern {
    fn of(cols: usize, ranges: &[[&[usize]; 2]]) -> Self {
        let rows = ranges.first().map_or(0, |[first, _]| first.len());
        let (mut begins, mut all) = (vec![0], Vec::new());
        let mut here: Vec<[usize; 2]> = Vec::with_capacity(ranges.len());
        for row in 0..rows {
            here.clear();
            here.extend(ranges.iter().map(|[first, end]| [first[row], end[row].min(cols)]).filter(|[a, b]| a < b));
            here.sort_unstable();
            let mut next = 0;
            for &[first, end] in &here {
                all.extend(first.max(next)..end);
                next = next.max(end);
            }
            begins.push(all.len());
        }
        Pattern { begins, all }
    }

    fn range(&self, row: usize) -> core::ops::Range<usize> {
        self.begins[row]..self.begins[row + 1]
    }

    fn row(&self, row: usize) -> &[usize] {
        &self.all[self.range(row)]
    }

    fn len(&self) -> usize {
        self.begins.len() - 1
    }

    fn transposed(&self, cols: usize) -> Pattern {
        let mut begins = vec![0; cols + 1];
        for &column in &self.all {
            begins[column + 1] += 1;
        }
        for column in 0..cols {
            begins[column + 1] += begins[column];
        }
        let (mut next, mut all) = (begins.clone(), vec![0; self.all.len()]);
        for row in 0..self.len() {
            for &column in self.row(row) {
                all[next[column]] = row;
                next[column] += 1;
            }
        }
        Pattern { begins, all }
    }

    /// The position in this pattern of each element of the transposed pattern.
    fn places(&self, transposed: &Pattern) -> Vec<usize> {
        let (mut next, mut places) = (transposed.begins.clone(), vec![0; self.all.len()]);
        for (place, &column) in self.all.iter().enumerate() {
            places[next[column]] = place;
            next[column] += 1;
        }
        places
    }

    /// The number of elements of the longest row, which is a lower bound for the number of colours
    /// of columns.
    fn widest(&self) -> usize {
        (0..self.len()).map(|row| self.range(row).len()).max().unwrap_or(0)
    }

    /// Colours of the columns. No two columns with elements in one row have the same colour.
    fn colours(&self, transposed: &Pattern) -> Colours {
        let (count, cols) = (self.widest(), transposed.len());
        let of_columns = true;
        // Nothing has to be computed.
        if count == 0 {
            return Colours { count, of: Vec::new(), of_columns };
        }
        // If each row is a range of columns, or nearly: the colour of a column is its remainder
        // modulo `count`.
        let span = (0..self.len()).filter_map(|row| Some(self.row(row).last()? - self.row(row).first()? + 1)).max();
        if span.is_none_or(|span| span <= count) {
            return Colours { count, of: (0..cols).map(|column| column % count).collect(), of_columns };
        }
        // A full row: all columns differ.
        if count == cols {
            return Colours { count, of: (0..cols).collect(), of_columns };
        }
        // The smallest colour that no earlier column with a common row has.
        let none = usize::MAX;
        let (mut of, mut count) = (vec![none; cols], 0);
        let mut taken: Vec<usize> = Vec::new();
        for column in 0..cols {
            for &row in transposed.row(column) {
                for &other in self.row(row) {
                    if of[other] != none {
                        taken[of[other]] = column;
                    }
                }
            }
            let free = taken.iter().position(|&by| by != column).unwrap_or(count);
            of[column] = free;
            if free == count {
                count += 1;
                taken.push(none);
            }
        }
        Colours { count, of, of_columns }
    }
}

/// A colour for each column, or for each row.
struct Colours {
    count: usize,
    of: Vec<usize>,
    of_columns: bool,
}

impl Colours {
    /// The columns, or rows, of each colour.
    fn members(&self) -> Vec<Vec<usize>> {
        let mut members = vec![Vec::new(); self.count];
        for (k, &colour) in self.of.iter().enumerate() {
            members[colour].push(k);
        }
        members
    }
}
