// The programs of `watch.rs`, as a user would write them. Each call is in `calls.txt`.

#[differentiate(grad, hvp, hessian, pullback)]
fn length(v: &Array1<f64>) -> f64 {
    v.dot(v).sqrt() * 2.0
}

#[differentiate(grad, into)]
fn likelihood(x: &Array1<f64>, mean: f64, sigma: f64) -> f64 {
    let z = x.mapv(|x| (x - mean) / sigma);
    z.mapv(|z| (-0.5 * z * z).exp()).mapv(f64::ln).sum()
}

#[differentiate]
fn entropy(p: &Array1<f64>) -> f64 {
    let mut sum = 0.0;
    for i in 0..p.len() {
        sum -= p[i] * p[i].ln();
    }
    sum
}

#[differentiate]
fn coulomb(q: &Array1<f64>, x: &Array2<f64>) -> f64 {
    let mut energy = 0.0;
    for i in 0..x.nrows() {
        let mut at = 0.0;
        for j in 0..x.nrows() {
            let d = norm(&(&x.row(i) - &x.row(j)));
            at += q[j] / d;
        }
        energy += at * q[i];
    }
    energy
}

#[differentiate]
fn layer(w: &Array2<f64>, x: &Array2<f64>) -> f64 {
    let z = w.dot(x);
    z.mapv(f64::tanh).sum() + z[[0, 0]]
}

#[differentiate]
fn attention(w: &Array2<f64>, x: &Array1<f64>) -> f64 {
    let scores = w.dot(x);
    let masked = build1(scores.len(), |i| if i % 2 == 0 { scores[i] } else { f64::NEG_INFINITY });
    softmax(&masked).dot(&scores)
}

#[differentiate]
fn nearest(x: &Array1<f64>) -> f64 {
    let mut best = f64::INFINITY;
    for &x in x {
        best = best.min((x - 1.0) * (x - 1.0));
    }
    let positive = build1(x.len(), |i| if x[i] > 0.0 { x[i].ln() } else { 0.0 });
    let chosen = build1(x.len(), |i| select(x[i] > 0.0, x[i] / x[i].abs(), 0.0));
    best + positive.sum() + chosen.sum() + if x[0] / 0.0 > 1.0 { x[0] } else { 0.0 }
}

#[differentiate]
fn logistic(start: f64, r: f64, steps: usize) -> f64 {
    let mut x = start;
    for _ in 0..steps {
        x = r * x * (1.0 - x);
    }
    x
}

#[differentiate]
fn newton(a: f64) -> f64 {
    let mut x = 1.0;
    let mut k = 0;
    while (x * x - a).abs() > 1e-9 && k < 50 {
        x -= (x * x - a) / (2.0 * x);
        k += 1;
    }
    x.ln()
}


#[differentiate(grad, jvp)]
fn tuned(x: &Array1<f64>) -> f64 {
    fn sinc(x: f64) -> f64 {
        x.sin() / x
    }
    x.iter().map(|&x| sinc(x)).sum()
}

#[differentiate]
fn power(x: &Array1<f64>) -> f64 {
    fn go(x: &Array1<f64>, k: usize) -> f64 {
        if k == 0 { 1.0 } else { x[k - 1].ln() + go(x, k - 1) * 0.5 }
    }
    go(x, x.len())
}

#[differentiate(jacobian, vjp, jvp)]
fn polar(p: [f64; 2]) -> [f64; 2] {
    [(p[0] * p[0] + p[1] * p[1]).sqrt(), p[1] / p[0]]
}

#[differentiate]
fn single<T: Real>(x: &Array1<T>) -> T {
    x.mapv(|x| (x * x).exp()).sum()
}

#[differentiate]
fn walk(x: &Array1<f64>) -> f64 {
    fold(1.0, x, |a, x| a * x - a / x)
}

#[differentiate]
fn solved(a: &Array2<f64>, b: &Array1<f64>) -> f64 {
    ad::linalg::solve(a, b).sum()
}

#[differentiate]
fn twice(x: f64, y: f64) -> f64 {
    let a = x.ln();
    let b = y * 2.0;
    a * b + x.ln()
}

#[differentiate]
fn distance(x: &Array2<f64>) -> f64 {
    let mut sum = 0.0;
    for i in 1..x.nrows() {
        let d = &x.row(i) - &x.row(i - 1);
        sum += d.dot(&d).sqrt();
    }
    sum
}

#[differentiate]
fn determinant(a: &Array2<f64>) -> f64 {
    let n = a.nrows();
    if n == 1 {
        return a[[0, 0]].ln();
    }
    let mut total = 0.0;
    for j in 0..n {
        let minor = Array2::from_shape_fn((n - 1, n - 1), |(r, c)| a[[r + 1, if c < j { c } else { c + 1 }]]);
        total += a[[0, j]] * determinant(&minor);
    }
    total
}

#[differentiate]
fn smoothed(x: &Array1<f64>) -> f64 {
    let mut y = x.clone();
    for k in 0..3 {
        for i in 1..y.len() {
            y[i] = y[i] / y[i - 1] + k as f64;
        }
    }
    y.sum()
}

#[differentiate(laplacian, grad, wrt(x))]
fn bump(x: &Array1<f64>, width: f32) -> f64 {
    (-1.0 / (f64::from(width) - x.dot(x))).exp()
}
