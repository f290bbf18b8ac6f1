//! What is wrong with methods: in one with derivatives, in one that is called, and in what is asked of
//! the receiver.

use ad::differentiate;

#[differentiate]
mod model {
    use ad::differentiate;

    pub struct Model {
        pub rate: f64,
    }

    impl Model {
        #[differentiate(wrt(other))]
        pub fn of_nothing(&self, x: f64) -> f64 {
            self.rate * x
        }

        #[differentiate]
        pub fn changes(&mut self, x: f64) -> f64 {
            self.rate += x;
            x
        }

        #[differentiate]
        pub fn loss(&self, x: f64) -> f64 {
            self.rate * self.printed(x)
        }

        fn printed(&self, x: f64) -> f64 {
            println!("{x}");
            x
        }
    }
}

fn main() {
    let m = model::Model { rate: 1.0 };
    println!("{} {:?}", m.loss(1.0), m.loss_grad(1.0).1);
}
