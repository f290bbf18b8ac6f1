//! What is checked is a call.

fn main() {
    let x = 1.0;
    ad::check_grad!(x * x);
}
