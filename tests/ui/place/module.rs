//! What is wrong in a marked module: its options, a marked function, and a function that is called.

use ad::differentiate;

#[differentiate(grad)]
mod options {}

#[differentiate]
mod model {
    use ad::differentiate;

    #[differentiate]
    pub fn marked(x: f64) -> usize {
        x as usize
    }

    #[differentiate]
    pub fn calls(x: f64) -> f64 {
        printed(x)
    }

    fn printed(x: f64) -> f64 {
        println!("{x}");
        x
    }
}

fn main() {
    println!("{} {}", model::marked(1.0), model::calls(1.0));
}
