//! A constant of a type parameter in a helper of a marked module.

use ad::differentiate;

#[differentiate]
mod model {
    use ad::differentiate;

    pub trait Shape {
        const SIDES: f64;
        fn side(&self) -> f64;
    }

    pub struct Square {
        pub side: f64,
    }

    impl Shape for Square {
        const SIDES: f64 = 4.0;
        fn side(&self) -> f64 {
            self.side
        }
    }

    fn length<S: Shape>(shape: &S) -> f64 {
        shape.side() * S::SIDES
    }

    #[differentiate]
    pub fn loss(side: f64) -> f64 {
        length(&Square { side })
    }
}

fn main() {
    println!("{} {:?}", model::loss(1.0), model::loss_grad(1.0));
}
