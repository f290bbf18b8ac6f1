//! Types of one name in several blocks of a function, and in several functions.

#![forbid(unsafe_code)]
#![deny(warnings, missing_docs, clippy::all, clippy::pedantic)]
#![allow(
    clippy::items_after_statements,
    clippy::many_single_char_names,
    clippy::redundant_closure_for_method_calls,
    reason = "types are where they are used, and functions are as people write them"
)]

use ad::prelude::*;

#[differentiate]
fn blocks(x: f64) -> f64 {
    let a = {
        struct Point {
            v: f64,
        }
        impl Point {
            fn size(&self) -> f64 {
                self.v.sin()
            }
        }
        let p = Point { v: x };
        p.size() * 2.0
    };
    let b = {
        struct Point {
            u: f64,
            t: f64,
        }
        impl Point {
            const BY: f64 = 3.0;
            fn new(u: f64, t: f64) -> Self {
                Self { u, t }
            }
            fn size(&self) -> f64 {
                self.u * self.t * Self::BY
            }
        }
        let list: Vec<Point> = vec![Point::new(x, a), Point { u: a, t: x }];
        list.iter().map(|p| p.size()).sum::<f64>()
    };
    let c = {
        #[derive(Clone, Copy)]
        enum Point {
            At(f64),
            Nowhere,
        }
        use Point::{At, Nowhere};
        let f = |p: Point| match p {
            At(v) => v * v,
            Nowhere => 1.5,
        };
        f(At(x)) + f(Point::Nowhere)
    };
    a + b * c
}

#[differentiate]
fn inner(x: f64) -> f64 {
    struct Point(f64);
    let p = Point(x);
    let q = {
        struct Point(f64, f64);
        let Point(a, b) = Point(x, 2.0);
        let c = {
            struct Point;
            impl Point {
                fn half(v: f64) -> f64 {
                    0.5 * v
                }
            }
            let Point = Point;
            Point::half(b)
        };
        a * b * c
    };
    p.0 * q
}

#[differentiable]
fn helper(x: f64) -> f64 {
    struct Point(f64, f64);
    let q = Point(x, 2.0);
    q.0 * q.1
}

#[differentiable]
fn other(x: f64) -> f64 {
    struct Point([f64; 2]);
    let q = Point([x, 3.0]);
    q.0[0] * q.0[1]
}

#[differentiate]
fn functions(x: f64) -> f64 {
    struct Point(f64);
    let p = Point(x);
    p.0 * helper(x) * other(x)
}

#[test]
fn a_type_is_that_of_its_block() {
    ad::check_grad!(blocks(0.3));
    ad::check_grad!(inner(0.3));
    assert!((inner_grad(0.3) - 4.0 * 0.3).abs() < 1e-12);
    ad::check_grad!(functions(0.3));
}
