//! Row j: a convolution of 3 x 3. Eight columns of the image fill the lanes, four channels are done
//! at once, so that each loaded value is used four times. The rows are done one by one: the row of
//! the result, the mask of its positive elements, and its contribution to both gradients, while the
//! image's rows are in the cache.

// Tuples of gradients are types of one function each, and loops walk several slices by one index.
#![allow(clippy::type_complexity, clippy::needless_range_loop)]

use ad::ndarray::{Array3, Array4};

use super::wide::{self, Kernel, madd};

const WIDE: usize = 8;
/// Channels done at once.
const MANY: usize = 4;
const TAPS: usize = 9;
type Lanes = [f64; WIDE];

/// The sum of the positive entries, and its gradients; as many channels in and out as a multiple of
/// four.
pub fn convolution(x: &Array3<f64>, w: &Array4<f64>) -> (f64, (Array3<f64>, Array4<f64>)) {
    let (outputs, inputs, ..) = w.dim();
    let (channels, height, width) = x.dim();
    assert!(channels == inputs && inputs % MANY == 0 && outputs % MANY == 0 && w.dim() == (outputs, inputs, 3, 3));
    let (value, (dx, dw)) = wide::run(Run {
        x: x.as_slice().expect("standard layout"),
        w: w.as_slice().expect("standard layout"),
        inputs,
        outputs,
        height,
        width,
    });
    let dx = Array3::from_shape_vec(x.raw_dim(), dx).expect("as many entries as x");
    (value, (dx, Array4::from_shape_vec(w.raw_dim(), dw).expect("as many entries as w")))
}

struct Run<'a> {
    x: &'a [f64],
    w: &'a [f64],
    inputs: usize,
    outputs: usize,
    height: usize,
    width: usize,
}

fn lanes(row: &[f64], at: usize) -> Lanes {
    row[at..][..WIDE].try_into().expect("eight numbers")
}

impl Kernel for Run<'_> {
    type Out = (f64, (Vec<f64>, Vec<f64>));
    #[inline(always)]
    fn run<const FMA: bool>(self) -> Self::Out {
        let Self { x, w, inputs, outputs, height, width } = self;
        // Rows with room for whole lanes after them, and for the taps before them.
        let (rows, columns) = (height - 2, width - 2);
        let stride = columns.next_multiple_of(WIDE) + WIDE;
        let mut padded = vec![0.0; inputs * height * stride];
        for (to, from) in padded.chunks_exact_mut(stride).zip(x.chunks_exact(width)) {
            to[..width].copy_from_slice(from);
        }
        // Weights by tap, outputs last, and by tap, inputs last.
        let (mut by_output, mut by_input) = (vec![0.0; w.len()], vec![0.0; w.len()]);
        for (k, w) in w.iter().enumerate() {
            let (o, c, tap) = (k / TAPS / inputs, k / TAPS % inputs, k % TAPS);
            by_output[(c * TAPS + tap) * outputs + o] = *w;
            by_input[(o * TAPS + tap) * inputs + c] = *w;
        }
        let mut value = 0.0;
        let mut dx = vec![0.0; inputs * height * stride];
        let mut dw: Vec<Lanes> = vec![[0.0; WIDE]; w.len()];
        // Which entries of a row are positive, with a lane of zeros before and after it.
        let mut positive = vec![0.0; outputs * (stride + WIDE)];
        for i in 0..rows {
            let image = |c: usize, p: usize| &padded[(c * height + i + p) * stride..][..stride];
            for first in (0..outputs).step_by(MANY) {
                value += forward::<FMA>(image, &by_output, &mut positive, [inputs, outputs, first, columns, stride]);
                weights::<FMA>(image, &positive, &mut dw, [inputs, first, columns, stride]);
            }
            for first in (0..inputs).step_by(MANY) {
                for p in 0..3 {
                    let rows = |c: usize| ((first + c) * height + i + p) * stride;
                    adjoint::<FMA>(&mut dx, rows, &positive, &by_input, [inputs, outputs, first, p, stride]);
                }
            }
        }
        let dx = dx.chunks_exact(stride).flat_map(|row| &row[..width]).copied().collect();
        (value, (dx, dw.into_iter().map(|lanes| lanes.iter().sum()).collect()))
    }
}

/// Four channels of a row of the result: the sum of the positive elements, and the mask of these.
#[inline(always)]
fn forward<'a, const FMA: bool>(
    image: impl Fn(usize, usize) -> &'a [f64],
    w: &[f64],
    positive: &mut [f64],
    [inputs, outputs, first, columns, stride]: [usize; 5],
) -> f64 {
    let mut sums = [0.0; WIDE];
    for j in (0..columns).step_by(WIDE) {
        let mut acc = [[0.0; WIDE]; MANY];
        for c in 0..inputs {
            for p in 0..3 {
                let row = image(c, p);
                for q in 0..3 {
                    let x = lanes(row, j + q);
                    let w = &w[(c * TAPS + p * 3 + q) * outputs + first..][..MANY];
                    for o in 0..MANY {
                        for l in 0..WIDE {
                            acc[o][l] = madd::<FMA>(w[o], x[l], acc[o][l]);
                        }
                    }
                }
            }
        }
        for o in 0..MANY {
            let to = &mut positive[(first + o) * (stride + WIDE) + WIDE + j..][..WIDE];
            for l in 0..WIDE {
                let here = acc[o][l] > 0.0 && j + l < columns;
                sums[l] += if here { acc[o][l] } else { 0.0 };
                to[l] = if here { 1.0 } else { 0.0 };
            }
        }
    }
    sums.iter().sum()
}

/// The contribution of a row to the gradient of the weights of four channels.
#[inline(always)]
fn weights<'a, const FMA: bool>(
    image: impl Fn(usize, usize) -> &'a [f64],
    positive: &[f64],
    dw: &mut [Lanes],
    [inputs, first, columns, stride]: [usize; 4],
) {
    let masks: [&[f64]; MANY] = std::array::from_fn(|o| &positive[(first + o) * (stride + WIDE) + WIDE..][..stride]);
    for c in 0..inputs {
        for p in 0..3 {
            let row = image(c, p);
            for q in 0..3 {
                let mut acc = [[0.0; WIDE]; MANY];
                for j in (0..columns).step_by(WIDE) {
                    let x = lanes(row, j + q);
                    for o in 0..MANY {
                        let mask = lanes(masks[o], j);
                        for l in 0..WIDE {
                            acc[o][l] = madd::<FMA>(mask[l], x[l], acc[o][l]);
                        }
                    }
                }
                for o in 0..MANY {
                    let to = &mut dw[((first + o) * inputs + c) * TAPS + p * 3 + q];
                    for l in 0..WIDE {
                        to[l] += acc[o][l];
                    }
                }
            }
        }
    }
}

/// The contribution of a row to the gradient of one row of four channels of the image.
#[inline(always)]
fn adjoint<const FMA: bool>(
    dx: &mut [f64],
    rows: impl Fn(usize) -> usize,
    positive: &[f64],
    w: &[f64],
    [inputs, outputs, first, p, stride]: [usize; 5],
) {
    for j in (0..stride).step_by(WIDE) {
        let mut acc: [Lanes; MANY] = std::array::from_fn(|c| lanes(&dx[rows(c)..][..stride], j));
        for o in 0..outputs {
            let masks = &positive[o * (stride + WIDE)..][..stride + WIDE];
            for q in 0..3 {
                let mask = lanes(masks, WIDE + j - q);
                let w = &w[(o * TAPS + p * 3 + q) * inputs + first..][..MANY];
                for c in 0..MANY {
                    for l in 0..WIDE {
                        acc[c][l] = madd::<FMA>(w[c], mask[l], acc[c][l]);
                    }
                }
            }
        }
        for c in 0..MANY {
            dx[rows(c) + j..][..WIDE].copy_from_slice(&acc[c]);
        }
    }
}
