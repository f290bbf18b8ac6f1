//! GradBench's `lstm`: the loss of a network with long short-term memory, in plain loops.

use ad::prelude::*;

/// `main`: for each layer a row of weights (forget, in, out, change) and a row of biases. `extra`:
/// weights in and out, biases out. `state`: for each layer a row of hidden numbers and a row of
/// cells.
#[differentiate(wrt(main, extra))]
pub fn lstm(main: &Array2<f64>, extra: &Array2<f64>, state: &Array2<f64>, sequence: &Array2<f64>) -> f64 {
    let (c, b) = sequence.dim();
    let layers = state.nrows() / 2;
    let mut state = state.to_owned();
    let mut total = 0.0;
    for t in 0..c - 1 {
        let mut x = Array1::<f64>::zeros(b);
        for j in 0..b {
            x[j] = sequence[[t, j]] * extra[[0, j]];
        }
        for l in 0..layers {
            for j in 0..b {
                let (w, v) = (2 * l, 2 * l + 1);
                let forget = sigmoid(x[j] * main[[w, j]] + main[[v, j]]);
                let input = sigmoid(state[[w, j]] * main[[w, b + j]] + main[[v, b + j]]);
                let output = sigmoid(x[j] * main[[w, 2 * b + j]] + main[[v, 2 * b + j]]);
                let change = (state[[w, j]] * main[[w, 3 * b + j]] + main[[v, 3 * b + j]]).tanh();
                state[[v, j]] = state[[v, j]] * forget + input * change;
                state[[w, j]] = output * state[[v, j]].tanh();
                x[j] = state[[w, j]];
            }
        }
        let mut norm = 2.0;
        for j in 0..b {
            norm += (x[j] * extra[[1, j]] + extra[[2, j]]).exp();
        }
        for j in 0..b {
            total += sequence[[t + 1, j]] * (x[j] * extra[[1, j]] + extra[[2, j]] - norm.ln());
        }
    }
    -total / (b * (c - 1)) as f64
}
