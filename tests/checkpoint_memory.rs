//! What derivatives with checkpoints allocate, by a counting allocator.

#[path = "allocator/mod.rs"]
mod allocator;

use ad::prelude::*;
use allocator::counted;

/// Bytes of a number.
const NUMBER: usize = 8;

/// A long loop that carries an array.
#[differentiate(checkpoint = "sqrt")]
fn blocks(start: &Array1<f64>, w: f64, n: usize) -> f64 {
    let mut h = start.clone();
    for _ in 0..n {
        h = h.mapv(|v| (v * w).sin() + 0.1);
    }
    h.sum()
}

#[differentiate]
fn each(start: &Array1<f64>, w: f64, n: usize) -> f64 {
    let mut h = start.clone();
    for _ in 0..n {
        h = h.mapv(|v| (v * w).sin() + 0.1);
    }
    h.sum()
}

#[test]
fn blocks_need_the_memory_of_about_two_square_roots_of_steps() {
    let start = Array1::linspace(0.1, 0.9, 100);
    let all = |n: usize| counted(|| each_grad(&start, 0.9, n));
    let few = |n: usize| counted(|| blocks_grad(&start, 0.9, n));
    for n in [400_usize, 10_000] {
        let ((dx, dw), used) = few(n);
        let ((ex, ew), more) = all(n);
        assert!((&dx - &ex).iter().all(|d| d.abs() < 1e-14) && (dw - ew).abs() < 1e-12 * ew.abs());
        let state = start.len() * NUMBER;
        assert!(more.bytes >= n * state, "{more:?}");
        // The states before the blocks, and those of one block, whose memory all blocks use.
        assert!(used.bytes < (2 * n.isqrt() + 16) * state, "{used:?}");
    }
}

/// A step that computes several arrays, of which `checkpoint` saves none.
#[differentiate]
fn regions(start: &Array1<f64>, n: usize) -> f64 {
    let mut h = start.clone();
    for _ in 0..n {
        h = checkpoint(|| {
            let a = h.mapv(f64::exp);
            let b = (&a * &h).mapv(f64::sin);
            let c = (&b + &a).mapv(f64::tanh);
            (&c * &b).mapv(f64::cos)
        });
    }
    h.sum()
}

#[differentiate]
fn no_regions(start: &Array1<f64>, n: usize) -> f64 {
    let mut h = start.clone();
    for _ in 0..n {
        let a = h.mapv(f64::exp);
        let b = (&a * &h).mapv(f64::sin);
        let c = (&b + &a).mapv(f64::tanh);
        h = (&c * &b).mapv(f64::cos);
    }
    h.sum()
}

#[test]
fn a_region_saves_its_inputs_only() {
    let start = Array1::linspace(0.1, 0.9, 50);
    let n = 200;
    let (dx, used) = counted(|| regions_grad(&start, n));
    let (ex, more) = counted(|| no_regions_grad(&start, n));
    assert!((&dx - &ex).iter().all(|d| d.abs() < 1e-14));
    // One state for each step, and memory that does not grow with the steps.
    let state = n * start.len() * NUMBER;
    assert!(used.bytes < state + 64 * start.len() * NUMBER, "{used:?}");
    assert!(more.bytes > 3 * state, "{more:?}");
}
