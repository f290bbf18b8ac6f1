//! Sums and products in a fixed order, number by number: the meaning of the reductions that
//! [`ad_core::prim::Prim::RelaxedExact`] reads. The orders are those in the sources of std and of
//! ndarray. This module does not use the kernels of `ad-runtime`.

use super::value::Dual;
use ad_core::ir::RealTy;
use ad_core::prim::Reduce;

/// Arithmetic of a real type. `f32` is computed in `f64` and rounded, which is exact for the four
/// operations.
#[derive(Clone, Copy)]
struct Real(RealTy);

impl Real {
    #[allow(clippy::cast_possible_truncation, reason = "rounding is the purpose")]
    fn round(self, x: f64) -> f64 {
        if self.0 == RealTy::F32 { f64::from(x as f32) } else { x }
    }

    fn add(self, a: f64, b: f64) -> f64 {
        self.round(a + b)
    }

    fn mul(self, a: f64, b: f64) -> f64 {
        self.round(a * b)
    }

    #[allow(clippy::cast_possible_truncation, reason = "the numbers are of this type")]
    fn fused(self, a: f64, b: f64, c: f64) -> f64 {
        if self.0 == RealTy::F32 { f64::from((a as f32).mul_add(b as f32, c as f32)) } else { a.mul_add(b, c) }
    }
}

/// Whether the kernels of the DSL fuse products with sums on this machine.
fn fuses() -> bool {
    #[cfg(target_arch = "x86_64")]
    {
        std::arch::is_x86_feature_detected!("avx2") && std::arch::is_x86_feature_detected!("fma")
    }
    #[cfg(not(target_arch = "x86_64"))]
    {
        cfg!(target_arch = "aarch64")
    }
}

/// The result of the reduction of these elements.
pub(super) fn reduced(op: Reduce, ty: RealTy, xs: &[Dual]) -> f64 {
    let xs: &[f64] = &xs.iter().map(|x| x.v).collect::<Vec<_>>();
    let r = Real(ty);
    match op {
        Reduce::InOrder => xs.iter().fold(-0.0, |s, &x| r.add(s, x)),
        Reduce::FromZero => xs.iter().fold(0.0, |s, &x| r.add(s, x)),
        Reduce::Unrolled => unrolled(xs, 0.0, |a, b| r.add(a, b)),
        Reduce::Factors => unrolled(xs, 1.0, |a, b| r.mul(a, b)),
        Reduce::Lanes => lanes(r, xs.len(), |k, s| r.add(s, xs[k])),
        Reduce::Fours => {
            let whole = xs.len() / 4 * 4;
            let pair = |a: usize| r.add(xs[a], xs[a + 1]);
            let all = (0..whole).step_by(4).fold(0.0, |s, k| r.add(s, r.add(pair(k), pair(k + 2))));
            xs[whole..].iter().fold(all, |s, &x| r.add(s, x))
        }
        Reduce::Squares => {
            let fused = xs.len() >= 16 && fuses();
            lanes(r, xs.len(), |k, s| if fused { r.fused(xs[k], xs[k], s) } else { r.add(s, r.mul(xs[k], xs[k])) })
        }
        _ => {
            let (mut mean, mut total) = (0.0, 0.0);
            let mut count = 0.0;
            for &x in xs {
                count += 1.0;
                let before = r.add(x, -mean);
                mean = r.add(mean, r.round(before / r.round(count)));
                total = r.fused(r.add(x, -mean), before, total);
            }
            total
        }
    }
}

/// `a * b + c`, rounded once.
pub(super) fn fused(ty: RealTy, [a, b, c]: [f64; 3]) -> f64 {
    Real(ty).fused(a, b, c)
}

/// Eight partial results: element i goes to number i mod 8. They are combined as 0 and 4, 1 and 5,
/// and so on. The rest follows.
pub(super) fn unrolled(xs: &[f64], start: f64, f: impl Fn(f64, f64) -> f64) -> f64 {
    let whole = xs.len() / 8 * 8;
    let part = |k: usize| xs[..whole].iter().skip(k).step_by(8).fold(start, |p, &x| f(p, x));
    let all = (0..4).fold(start, |all, k| f(all, f(part(k), part(k + 4))));
    xs[whole..].iter().fold(all, |all, &x| f(all, x))
}

/// Like [`unrolled`], with sixteen partial results that are combined by halves. `step` adds an
/// element to a partial result.
fn lanes(r: Real, n: usize, step: impl Fn(usize, f64) -> f64) -> f64 {
    let whole = n / 16 * 16;
    let mut parts: Vec<f64> = (0..16).map(|l| (l..whole).step_by(16).fold(0.0, |s, k| step(k, s))).collect();
    while parts.len() > 1 {
        let half = parts.len() / 2;
        parts = (0..half).map(|l| r.add(parts[l], parts[l + half])).collect();
    }
    (whole..n).fold(parts[0], |s, k| step(k, s))
}
