//! An operator that is another function for references than for values.

use std::ops::{Add, Mul};

use ad::prelude::*;

#[differentiate]
fn f(x: f64) -> f64 {
    #[derive(Clone, Copy)]
    struct V(f64);
    impl Add for V {
        type Output = V;
        fn add(self, o: V) -> V {
            V(self.0 + o.0)
        }
    }
    impl Add for &V {
        type Output = V;
        fn add(self, o: &V) -> V {
            V(self.0 + 2.0 * o.0)
        }
    }
    impl Mul<f64> for V {
        type Output = V;
        fn mul(self, o: f64) -> V {
            V(self.0 * o)
        }
    }
    impl Mul<f64> for &V {
        type Output = V;
        fn mul(self, o: f64) -> V {
            *self * o
        }
    }
    let (a, b) = (V(x), V(x * x));
    (&a + &b).0 + (&a * 3.0).0
}

fn main() {}
