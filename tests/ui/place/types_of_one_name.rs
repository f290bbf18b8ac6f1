//! Two types of one name in the modules of a marked module.

use ad::prelude::*;

#[differentiate]
mod shapes {
    use ad::prelude::*;

    pub struct Point {
        pub x: f64,
    }

    pub mod flat {
        pub struct Point {
            pub y: f64,
        }
    }

    #[differentiate]
    pub fn f(p: &Point, q: &flat::Point) -> f64 {
        p.x * q.y
    }
}

fn main() {}
