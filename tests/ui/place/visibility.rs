//! The derivatives are as visible as the function, not more.
mod inner {
    use ad::prelude::*;

    #[differentiate]
    fn private(x: f64) -> f64 {
        x * x
    }

    mod deeper {
        use ad::prelude::*;

        #[differentiate]
        pub(super) fn of_the_parent(x: f64) -> f64 {
            x * x
        }
    }
}

fn main() {
    inner::private_grad(1.0);
    inner::private_value_and_grad(1.0);
    inner::deeper::of_the_parent_grad(1.0);
}
