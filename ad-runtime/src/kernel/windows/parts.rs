//! Windows for parts of the result, which threads share: each part has some of the indices of the
//! label along the first axis of the result. This module must never change which terms an element
//! of the result is the sum of.

use super::super::threads::{Division, join};
use super::{Combined, Read, fitting};
use crate::Real;

/// The label that alone indexes the first axis of the result, and how its indices are divided;
/// `None` if there is no such label, or if all indices are one part.
pub(super) fn outer<const L: usize>(out: &Read<L>, labels: &[usize; L]) -> Option<(usize, Division)> {
    let &(size, start, _) = out.axes.first()?;
    let label = (0..L).find(|&l| out.own_axis(l) == Some(0)).filter(|&l| start == 0 && labels[l] == size)?;
    let work = labels.iter().fold(1, |work: usize, &n| work.saturating_mul(n)) / size;
    let division = Division::of(size, work, 1);
    division.half(size).map(|_| (label, division))
}

/// The windows of all parts.
pub(super) fn each<F: Real, const L: usize>(
    out: &mut [F],
    [a, b]: [&[F]; 2],
    arrays: [Read<L>; 3],
    labels: [usize; L],
    how: Combined<F>,
    by: (usize, Division),
) {
    let (label, division) = by;
    let Some(half) = division.half(labels[label]) else { return fitting(out, a, b, &arrays, labels, how) };
    let rest = labels[label] - half;
    let (out0, out1) = out.split_at_mut(out.len() / labels[label] * half);
    let [(a0, a1), (b0, b1)] = [(a, &arrays[1]), (b, &arrays[2])]
        .map(|(x, read)| (part(x, read, label, (0, half)), part(x, read, label, (half, rest))));
    let [first, second] = [half, rest].map(|n| {
        let mut own = labels;
        own[label] = n;
        let mut result = arrays[0].clone();
        result.axes[0].0 = n;
        (own, result)
    });
    join(
        || each(out0, [a0.0, b0.0], [first.1, a0.1, b0.1], first.0, how, by),
        || each(out1, [a1.0, b1.0], [second.1, a1.1, b1.1], second.0, how, by),
    );
}

/// What a part reads of an operand: only some of its rows, if the label alone indexes its first
/// axis, and otherwise all of it, from another offset on.
fn part<'a, F, const L: usize>(
    x: &'a [F],
    read: &Read<L>,
    label: usize,
    (from, count): (usize, usize),
) -> (&'a [F], Read<L>) {
    let mut read = read.clone();
    if read.own_axis(label) == Some(0) {
        let row: usize = read.axes[1..].iter().map(|axis| axis.0).product();
        let (_, start, steps) = read.axes[0];
        read.axes[0] = (count, 0, steps);
        return (&x[(start.unsigned_abs() + from) * row..][..count * row], read);
    }
    for (_, start, steps) in &mut read.axes {
        *start += steps[label] * from.cast_signed();
    }
    (x, read)
}
