//! Calls of derivatives that the attribute does not name, those among them that are written by
//! default.

use ad::prelude::*;

#[differentiate(vjp)]
fn square(x: f64) -> f64 {
    x * x
}

#[differentiate(jvp, suffix = "x")]
fn rows(x: &Array1<f64>) -> Array1<f64> {
    x * x
}

#[differentiate]
fn outer(x: f64) -> f64 {
    square_grad(x) * x
}

#[differentiate]
fn plain(x: f64) -> f64 {
    x * x
}

mod own {
    use ad::prelude::*;

    #[differentiate(vjp)]
    fn square(x: f64) -> f64 {
        x * x
    }

    fn square_grad(x: f64) -> f64 {
        2.0 * x
    }

    pub fn legal(x: f64) -> f64 {
        let _ = square_vjp(x, 1.0);
        square_grad(x)
    }
}

fn main() {
    println!("{:?}", square_value_and_grad(own::legal(1.0)));
    println!("{:?}", rows_x_vjp(&array![1.0], &array![1.0]));
    println!("{:?}", outer(1.0));
    println!("{:?}", plain_hvp(1.0, 1.0));
    println!("{:?}", rows_x_grad(&array![1.0]));
}
