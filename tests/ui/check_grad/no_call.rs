//! The argument of `check_grad!` has to be a call.

fn main() {
    let x = 1.0;
    ad::check_grad!(x * x);
}
