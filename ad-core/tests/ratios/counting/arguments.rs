//! Arguments for programs of which only the types of the parameters are known. Each axis gets one
//! of a few lengths that grow with the program's scale, and the numbers get one of a few ranges:
//! the first choice for which the function runs at growing scales is taken. This module must never
//! look at a program's name.

use std::cell::Cell;
use std::panic::{AssertUnwindSafe, catch_unwind};

use crate::counters::{compared_values, counted, limited, numbers, said};

/// Scales that double. Then smaller ones, for programs that take long for a few elements.
const SCALES: [&[usize]; 3] = [&[32, 64, 128, 256, 512, 1024], &[8, 16, 32, 64], &[2, 3, 4, 5, 6, 7, 8]];
/// The maximum number of choices that are tried for each list of scales.
const TRIED: usize = 20_000;
/// A function with more work than this takes too long.
const LONGEST: u64 = 1_000_000;

/// The index of the length of each axis, and of the range of the numbers.
#[derive(Clone, Debug)]
struct Choice {
    axes: Vec<usize>,
    range: usize,
}
/// Lengths of an axis, and ranges of numbers.
const LENGTHS: usize = 7;
const RANGES: usize = 3;

/// The sizes and numbers of the arguments of a call.
pub struct Sizes {
    scale: usize,
    choice: Choice,
    /// The elements of all arguments that are numbers.
    elements: Cell<usize>,
}

impl Sizes {
    fn root(&self, rank: usize) -> usize {
        (self.scale as f64).powf(1.0 / rank as f64).round() as usize
    }

    /// The length of an axis of an array of this rank: at first that of an array with as many
    /// elements as the scale.
    fn len(&self, axis: usize, rank: usize) -> usize {
        match self.choice.axes[axis] {
            0 => self.root(rank),
            1 => self.root(2),
            2 => 3,
            3 => self.scale,
            4 => 2 * self.root(2),
            5 => 2 + usize::from(self.scale > 2) + self.root(2),
            _ => 2,
        }
    }

    /// An element, which varies by its number and that of the parameter.
    fn values(&self, n: usize, parameter: usize) -> Vec<f64> {
        self.elements.set(self.elements.get() + n);
        let mut all = numbers(n, parameter);
        match self.choice.range {
            0 => {}
            1 => all.iter_mut().for_each(|v| *v = 10.0 * (*v - 0.6)),
            _ => all.iter_mut().enumerate().for_each(|(k, v)| *v = *v * 0.1 + k as f64),
        }
        all
    }

    pub fn number(&self, parameter: usize) -> f64 {
        self.values(1, parameter)[0]
    }

    pub fn whole(&self, axis: usize) -> usize {
        self.len(axis, 1)
    }

    pub fn numbers(&self, parameter: usize, axis: usize) -> Vec<f64> {
        self.values(self.len(axis, 1), parameter)
    }

    pub fn wholes(&self, parameter: usize, axis: usize) -> Vec<usize> {
        let n = self.len(axis, 1);
        match self.choice.range {
            0 => (0..n).map(|k| (k * 7 + parameter) % n).collect(),
            1 => (0..n).map(|k| k % 3).collect(),
            _ => (0..n).collect(),
        }
    }

    /// The lengths of the rows of a list: the first row is as long as the list, and the others are
    /// short or empty. So work in proportion to the longest row differs much from work in
    /// proportion to the elements.
    fn row_lengths(&self, axis: usize) -> Vec<usize> {
        let n = self.len(axis, 1);
        (0..n).map(|i| if i == 0 { n } else { i % 4 }).collect()
    }

    pub fn rows(&self, parameter: usize, axis: usize) -> Vec<Vec<f64>> {
        let lengths = self.row_lengths(axis);
        let mut all = self.values(lengths.iter().sum(), parameter).into_iter();
        lengths.into_iter().map(|n| all.by_ref().take(n).collect()).collect()
    }

    pub fn rows_of_wholes(&self, parameter: usize, axis: usize) -> Vec<Vec<usize>> {
        let n = self.len(axis, 1);
        let one = |(i, len): (usize, usize)| (0..len).map(|k| (i * 7 + k * 3 + parameter) % n).collect();
        self.row_lengths(axis).into_iter().enumerate().map(one).collect()
    }

    /// A square matrix has a large diagonal: the numbers alone are of rank three, and a
    /// decomposition of them is noise.
    pub fn array<const N: usize>(
        &self,
        parameter: usize,
        axes: [usize; N],
    ) -> ndarray::Array<f64, ndarray::Dim<[usize; N]>>
    where
        ndarray::Dim<[usize; N]>: ndarray::Dimension,
        [usize; N]: ndarray::IntoDimension<Dim = ndarray::Dim<[usize; N]>>,
    {
        let shape = axes.map(|axis| self.len(axis, N));
        let mut values = self.values(shape.iter().product(), parameter);
        if N == 2 && shape[0] == shape[1] {
            (0..shape[0]).for_each(|k| values[k * (shape[0] + 1)] += shape[0] as f64);
        }
        ndarray::Array::from_shape_vec(ndarray::IntoDimension::into_dimension(shape), values).unwrap()
    }
}

/// Counts a function and its gradient at the scales of the first choice with which the function
/// runs. Prints the reason if there is none. Where the function panics at another scale, so must
/// the gradient. `past_capacity` is a part of the message about a `Vec` that grows past the
/// capacity that the program has given.
pub fn counted_at_scales(
    (name, past_capacity): (&str, &str),
    axes: usize,
    f: impl Fn(&Sizes) -> f64,
    g: impl Fn(&Sizes) -> f64,
) {
    let mut reason = String::new();
    for scales in SCALES {
        let mut all = 0;
        for choice in choices(axes) {
            let at = |scale: usize| Sizes { scale, choice: choice.clone(), elements: Cell::new(0) };
            let mut runs = |scale: usize| {
                let (value, work) = counted(|| limited(LONGEST, || catch_unwind(AssertUnwindSafe(|| f(&at(scale))))));
                all += work[0];
                value.map_err(said)?;
                // The program states the capacity of a `Vec`, and only the gradient panics if it is
                // exceeded.
                let (same, _) = counted(|| limited(100 * LONGEST, || catch_unwind(AssertUnwindSafe(|| g(&at(scale))))));
                same.map_err(said)
                    .map(|_| ())
                    .or_else(|why| if why.contains(past_capacity) { Err(why) } else { Ok(()) })
            };
            let first = scales[..3].iter().try_for_each(|&scale| runs(scale));
            let Err(why) = first else { return all_scales(name, scales, at, &f, &g) };
            if all > 20 * LONGEST {
                break;
            }
            if reason.is_empty() {
                reason = why;
            }
        }
    }
    println!("none: {name}: {}", reason.replace('\n', " "));
}

/// The choices: all axes with the first lengths, as many of these as make not too many choices. The
/// choices that are nearer to the first one come first.
fn choices(axes: usize) -> impl Iterator<Item = Choice> {
    let fit = |&lengths: &usize| lengths.pow(axes as u32) * RANGES <= TRIED;
    let lengths = (2..=LENGTHS).rev().find(fit).unwrap_or(1);
    let of = |mut k: usize| {
        let mut digits = vec![0; axes];
        for digit in &mut digits {
            *digit = k % lengths;
            k /= lengths;
        }
        digits
    };
    let mut all: Vec<Vec<usize>> = (0..lengths.pow(axes as u32)).map(of).collect();
    all.sort_by_key(|digits| digits.iter().sum::<usize>());
    all.into_iter().flat_map(|axes| (0..RANGES).map(move |range| Choice { axes: axes.clone(), range }))
}

fn all_scales(
    name: &str,
    scales: &[usize],
    at: impl Fn(usize) -> Sizes,
    f: &impl Fn(&Sizes) -> f64,
    g: &impl Fn(&Sizes) -> f64,
) {
    for &scale in scales {
        let sizes = at(scale);
        let (value, function) = counted(|| limited(LONGEST, || catch_unwind(AssertUnwindSafe(|| f(&sizes)))));
        if function[0] > LONGEST {
            return;
        }
        let elements = sizes.elements.take();
        let (same, derivative) = counted(|| catch_unwind(AssertUnwindSafe(|| g(&sizes))));
        compared_values(name, scale, elements, (value, function), (same, derivative));
    }
}
