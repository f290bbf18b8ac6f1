//! Plain `for` loops: simulations and recurrent networks.

use ad::prelude::*;

use super::{Case, differentiate};

#[differentiate]
fn particles(p: &Array2<f64>, v: &Array2<f64>) -> f64 {
    let (mut p, mut v) = (p.to_owned(), v.to_owned());
    for _ in 0..200 {
        let a = -0.5 * &p - 0.2 * &v;
        p += &(0.05 * &v);
        v += &(0.05 * &a);
    }
    (&p.column(0) * &p.column(1)).sum()
}

#[test]
fn springs() {
    Case::in_every_layout("dualrev-particles", |case| {
        let (value, (p, v)) = particles_value_and_grad(&case.input("P"), &case.input("V"));
        case.check(&value, &[("P", &p), ("V", &v)]);
    });
}

/// `p`: layers, eight rows of weights and biases, hidden numbers.
#[differentiate(wrt(p, hidden, cell, iw, ow, ob))]
fn diagonal_lstm(
    p: &Array3<f64>,
    hidden: &Array2<f64>,
    cell: &Array2<f64>,
    iw: &Array1<f64>,
    ow: &Array1<f64>,
    ob: &Array1<f64>,
    seq: &Array2<f64>,
) -> f64 {
    let (steps, width) = (seq.nrows() - 1, seq.ncols());
    let (mut h, mut c) = (hidden.to_owned(), cell.to_owned());
    let mut total = 0.0;
    for t in 0..steps {
        let mut x = &seq.row(t) * iw;
        for l in 0..p.dim().0 {
            let w = p.index_axis(Axis(0), l);
            let forget = sigmoid(&(&x * &w.row(0) + w.row(1)));
            let input = sigmoid(&(&h.row(l) * &w.row(2) + w.row(3)));
            let output = sigmoid(&(&x * &w.row(4) + w.row(5)));
            let change = (&h.row(l) * &w.row(6) + w.row(7)).tanh();
            let next = &c.row(l) * &forget + &input * &change;
            x = output * next.tanh();
            c.row_mut(l).assign(&next);
            h.row_mut(l).assign(&x);
        }
        let y = &x * ow + ob;
        let norm = (2.0 + y.exp().sum()).ln();
        total += (&seq.row(t + 1) * &(y - norm)).sum();
    }
    -total / steps as f64 / width as f64
}

#[test]
fn recurrent_layers() {
    Case::in_every_layout("ksc-adbench-lstm-small", |case| {
        let (value, (p, hidden, cell, iw, ow, ob)) = diagonal_lstm_value_and_grad(
            &case.input("P"),
            &case.input("Hd"),
            &case.input("Cl"),
            &case.input("iw"),
            &case.input("ow"),
            &case.input("ob"),
            &case.input("seq"),
        );
        let derivatives: [(&str, &dyn super::Compare); 6] =
            [("P", &p), ("Hd", &hidden), ("Cl", &cell), ("iw", &iw), ("ow", &ow), ("ob", &ob)];
        case.check(&value, &derivatives);
    });
}

#[allow(clippy::too_many_arguments, reason = "as many as the network has")]
#[differentiate(wrt(wx, ws, b, wx2, ws2, b2, w3, b3))]
fn digits(
    wx: &Array2<f64>,
    ws: &Array2<f64>,
    b: &Array1<f64>,
    wx2: &Array2<f64>,
    ws2: &Array2<f64>,
    b2: &Array1<f64>,
    w3: &Array2<f64>,
    b3: &Array1<f64>,
    xs: &Array3<f64>,
    t: &Array2<f64>,
) -> f64 {
    let batch = xs.dim().2;
    let mut s1 = Array2::<f64>::zeros((ws.nrows(), batch));
    let mut s2 = Array2::<f64>::zeros((ws.nrows(), batch));
    for k in 0..xs.dim().0 {
        s1 = (wx.dot(&xs.index_axis(Axis(0), k)) + ws.dot(&s1) + b.view().insert_axis(Axis(1))).tanh();
        s2 = (wx2.dot(&s1) + ws2.dot(&s2) + b2.view().insert_axis(Axis(1))).tanh();
    }
    let o = w3.dot(&s2) + b3.view().insert_axis(Axis(1));
    let norm = logsumexp(&o);
    ((norm - o) * t).sum() / batch as f64
}

#[test]
fn recurrent_network() {
    Case::in_every_layout("horde-mnist-rnn-small", |case| {
        let (value, (wx, ws, b, wx2, ws2, b2, w3, b3)) = digits_value_and_grad(
            &case.input("wX"),
            &case.input("wS"),
            &case.input("b"),
            &case.input("wX2"),
            &case.input("wS2"),
            &case.input("b2"),
            &case.input("w3"),
            &case.input("b3"),
            &case.input("xs"),
            &case.input("t"),
        );
        let derivatives: [(&str, &dyn super::Compare); 8] =
            [("wX", &wx), ("wS", &ws), ("b", &b), ("wX2", &wx2), ("wS2", &ws2), ("b2", &b2), ("w3", &w3), ("b3", &b3)];
        case.check(&value, &derivatives);
    });
}
