//! Examples of the rules of products that absorb zero.

use super::{Binary, Example};

pub(super) fn examples(rule: &str) -> Vec<Example> {
    match rule {
        "mul_zero.constant" => vec![
            |f| {
                let two = f.lit(f.x, 2.0);
                f.g.binary(Binary::MulZero, two, f.x)
            },
            |f| {
                let zero = f.lit(f.x, 0.0);
                f.g.binary(Binary::MulZero, zero, f.x)
            },
        ],
        "mul_zero.indicator" => vec![
            |f| {
                let (two, zero) = (f.lit(f.x, 2.0), f.lit(f.x, 0.0));
                let mask = f.g.select(f.m, two, zero);
                f.g.binary(Binary::MulZero, mask, f.x)
            },
            |f| {
                let (one, zero) = (f.lit(f.x, 1.0), f.lit(f.x, 0.0));
                let mask = f.g.select(f.m, one, zero);
                let rows = f.g.replicate_axes(mask, &[1], &[f.k]);
                f.g.binary(Binary::MulZero, rows, f.a)
            },
        ],
        "mul_zero.powers" => vec![
            |f| {
                let (square, half) = (f.g.mul(f.x, f.x), f.lit(f.x, -0.5));
                let (square, scaled) = (f.g.neg(square), f.g.mul(half, f.x));
                f.g.binary(Binary::MulZero, square, scaled)
            },
            |f| {
                let (once, half) = (f.g.recip(f.x), f.lit(f.x, 0.5));
                let (twice, scaled) = (f.g.div(once, f.x), f.g.div(half, f.x));
                f.g.binary(Binary::MulZero, twice, scaled)
            },
        ],
        "mul_zero.chain" => vec![
            |f| {
                let (two, half) = (f.lit(f.x, -2.0), f.lit(f.x, 0.5));
                let first = f.g.binary(Binary::MulZero, f.y, f.x);
                let (twice, scaled) = (f.g.mul(two, first), f.g.mul(half, f.x));
                f.g.binary(Binary::MulZero, twice, scaled)
            },
            |f| {
                let once = f.g.recip(f.x);
                let (first, cube) = (f.g.binary(Binary::MulZero, f.y, once), f.g.mul(once, once));
                f.g.binary(Binary::MulZero, first, cube)
            },
        ],
        "mul_zero.same" => vec![
            |f| {
                let two = f.lit(f.x, 2.0);
                let twice = f.g.mul(two, f.y);
                let (p, q) = (f.g.binary(Binary::MulZero, twice, f.x), f.g.binary(Binary::MulZero, f.y, f.x));
                f.g.add(p, q)
            },
            |f| {
                let (p, n) = (f.g.binary(Binary::MulZero, f.y, f.x), f.g.neg(f.y));
                let q = f.g.binary(Binary::MulZero, n, f.x);
                f.g.sub(p, q)
            },
        ],
        _ => Vec::new(),
    }
}
