//! A module in another file: the attribute does not see it.

use ad::differentiate;

#[differentiate]
mod elsewhere;

fn main() {}
