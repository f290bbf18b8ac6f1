//! The problems by the suite's names: which function of `programs` is which function of an eval.
//! What an input must be stands in `inputs`.

use ad::Csr;
use ad::ndarray::concatenate;
use ad::prelude::*;
use serde::Deserialize;
use serde_json::{Value, json};

use crate::inputs::{Ba, Det, Gmm, Hello, Ht, Input, Kmeans, Llsq, Lse, Lstm, Ode, Particle, Saddle};
use crate::programs::{ba, descent, det, gmm, hello, ht, kmeans, llsq, lse, lstm, ode, particle, saddle};
use crate::runs::Runs;

/// A problem of the suite.
pub struct Eval {
    /// The name of the eval, which is that of its module.
    pub name: &'static str,
    /// The names of its functions, and the functions.
    pub functions: &'static [(&'static str, Run)],
}

/// A function of an eval: from the input of a message to the result.
pub type Run = fn(Value) -> Result<Outcome, String>;

/// What a function gave.
pub struct Outcome {
    /// The result of the last call.
    pub output: Value,
    /// The nanoseconds of each call.
    pub times: Vec<u128>,
}

/// All problems.
pub const EVALS: &[Eval] = &[
    Eval {
        name: "hello",
        functions: &[
            ("square", |i| run(i, |p: &Hello| hello::square(p.0), number)),
            ("double", |i| run(i, |p: &Hello| hello::square_grad(p.0), number)),
        ],
    },
    Eval {
        name: "lse",
        functions: &[
            ("primal", |i| run(i, |p: &Lse| lse::lse(&p.x.0), number)),
            ("gradient", |i| run(i, |p: &Lse| lse::lse_grad(&p.x.0), list)),
        ],
    },
    Eval {
        name: "llsq",
        functions: &[
            ("primal", |i| run(i, |p: &Llsq| llsq::llsq(&p.x.0, p.n), number)),
            ("gradient", |i| run(i, |p: &Llsq| llsq::llsq_grad(&p.x.0, p.n), list)),
        ],
    },
    Eval {
        name: "det",
        functions: &[
            ("primal", |i| run(i, |p: &Det| det::det(&p.a, p.ell), number)),
            ("gradient", |i| run(i, |p: &Det| det::det_grad(&p.a, p.ell), |g| json!(g))),
        ],
    },
    Eval {
        name: "ode",
        functions: &[
            ("primal", |i| run(i, |p: &Ode| ode::ode(&p.x.0, p.s), list)),
            ("gradient", |i| run(i, |p: &Ode| ode::ode_vjp(&p.x.0, p.s, &last(p.x.0.len())).1, list)),
        ],
    },
    Eval {
        name: "gmm",
        functions: &[
            ("objective", |i| {
                let f = |p: &Gmm| gmm::gmm(&p.x.0, &p.alpha.0, &p.mu.0, &p.q.0, &p.l.0, p.m, p.gamma);
                run(i, f, number)
            }),
            ("jacobian", |i| {
                let f = |p: &Gmm| gmm::gmm_grad(&p.x.0, &p.alpha.0, &p.mu.0, &p.q.0, &p.l.0, p.m, p.gamma);
                run(
                    i,
                    f,
                    |(alpha, mu, q, l)| json!({"alpha": list(alpha), "mu": rows(&mu), "q": rows(&q), "l": rows(&l)}),
                )
            }),
        ],
    },
    Eval {
        name: "kmeans",
        functions: &[
            ("cost", |i| run(i, |p: &Kmeans| kmeans::kmeans(&p.points.0, &p.centroids.0), number)),
            ("dir", |i| {
                let direction = |p: &Kmeans| {
                    let ones = Array2::<f64>::ones(p.centroids.0.dim());
                    let (points, centroids) = (&p.points.0, &p.centroids.0);
                    // The Hessian is diagonal, so its product with ones is the diagonal.
                    kmeans::kmeans_grad(points, centroids) / kmeans::kmeans_hvp(points, centroids, &ones)
                };
                run(i, direction, |d| rows(&d))
            }),
        ],
    },
    Eval {
        name: "lstm",
        functions: &[
            ("objective", |i| run(i, |p: &Lstm| lstm::lstm(&p.main.0, &p.extra.0, &p.state.0, &p.sequence.0), number)),
            ("jacobian", |i| {
                let f = |p: &Lstm| lstm::lstm_grad(&p.main.0, &p.extra.0, &p.state.0, &p.sequence.0);
                run(i, f, |(main, extra)| main.iter().chain(&extra).copied().collect())
            }),
        ],
    },
    Eval {
        name: "ba",
        functions: &[
            ("objective", |i| {
                run(
                    i,
                    |p: &Ba| ba::errors(&p.unknowns, p.cameras, p.points, &p.observations),
                    |errors| {
                        let p = errors.len() / 3;
                        json!({
                            "reproj_error": {"elements": errors[..2], "repeated": p},
                            "w_err": {"element": errors[2 * p], "repeated": p},
                        })
                    },
                )
            }),
            ("jacobian", |i| {
                let f = |p: &Ba| ba::jacobian(&p.unknowns, p.cameras, p.points, &p.observations);
                run(
                    i,
                    f,
                    |j: Csr<f64>| json!({"rows": summary(&j.indptr), "cols": summary(&j.indices), "vals": summary(&j.values)}),
                )
            }),
        ],
    },
    Eval { name: "ht", functions: &[("objective", |i| run(i, hand_errors, |e| json!(e))), ("jacobian", hand)] },
    Eval {
        name: "particle",
        functions: &[
            ("rr", |i| particle(i, particle::reverse, particle::reverse_grad)),
            ("rf", |i| particle(i, particle::forward, particle::forward_grad)),
            ("fr", |i| particle(i, particle::reverse, |w| particle::reverse_jvp(w, 1.0).1)),
            ("ff", |i| particle(i, particle::forward, |w| particle::forward_jvp(w, 1.0).1)),
        ],
    },
    Eval {
        name: "saddle",
        functions: &[
            ("rr", |i| saddle(i, false, false)),
            ("rf", |i| saddle(i, false, true)),
            ("fr", |i| saddle(i, true, false)),
            ("ff", |i| saddle(i, true, true)),
        ],
    },
];

/// What has this name, or an error that lists all names.
pub fn named<'a, T>(all: &'a [T], name: impl Fn(&T) -> &str, wanted: &str, none: &str) -> Result<&'a T, String> {
    all.iter().find(|one| name(one) == wanted).ok_or_else(|| {
        let names: Vec<&str> = all.iter().map(name).collect();
        format!("{none} `{wanted}`; there are {}", names.join(", "))
    })
}

/// Reads and checks the input, calls the function as often as the input says, and writes the last
/// result. Only the calls are timed.
fn run<I: Input, R>(input: Value, f: impl Fn(&I) -> R, write: impl FnOnce(R) -> Value) -> Result<Outcome, String> {
    let wrong = |e: serde_json::Error| format!("the input is wrong: {e}");
    let runs = if input.is_object() { Runs::deserialize(&input).map_err(wrong)? } else { Runs::default() };
    let input = I::deserialize(input).map_err(wrong)?;
    input.check().map_err(|e| format!("the input is wrong: {e}"))?;
    let (result, times) = runs.time(|| f(&input));
    Ok(Outcome { output: write(result), times })
}

fn number(x: f64) -> Value {
    json!(x)
}

fn list(x: Array1<f64>) -> Value {
    x.to_vec().into()
}

fn rows(x: &Array2<f64>) -> Value {
    x.rows().into_iter().map(|row| row.to_vec()).collect()
}

/// The first thirty elements and the last.
fn summary<T: Copy + Into<Value>>(x: &[T]) -> Value {
    x.iter().take(30).chain(x.last()).copied().collect()
}

/// The direction of the last of `n` components.
fn last(n: usize) -> Array1<f64> {
    one_hot(n, n - 1)
}

fn hand_errors(p: &Ht) -> Vec<f64> {
    if p.us.is_empty() {
        ht::errors(&p.theta, &p.hand, &p.correspondences, &p.points)
    } else {
        ht::errors_in_triangles([0.0; 2], &p.theta, &p.us, &p.hand, &p.correspondences, &p.points)
    }
}

/// The two columns of `us`, if there are any, come first.
fn hand(input: Value) -> Result<Outcome, String> {
    let jacobian = |p: &Ht| {
        if p.us.is_empty() {
            return ht::errors_jacobian(&p.theta, &p.hand, &p.correspondences, &p.points);
        }
        let (us, theta) =
            ht::errors_in_triangles_jacobian([0.0; 2], &p.theta, &p.us, &p.hand, &p.correspondences, &p.points);
        concatenate![Axis(1), us, theta]
    };
    run(input, jacobian, |j| rows(&j))
}

/// The height of a charge for which the particle comes down at the origin.
fn particle(input: Value, f: fn(f64) -> f64, slope: fn(f64) -> f64) -> Result<Outcome, String> {
    run(input, |p: &Particle| descent::argmin(|[w]| f(w), |[w]| [slope(w)], [p.w])[0], number)
}

/// Both pairs of numbers of the saddle point. The outer derivative and the inner one are forward or
/// reverse.
fn saddle(input: Value, outer: bool, inner: bool) -> Result<Outcome, String> {
    let point = |i: &Saddle| {
        let highest = |p: [f64; 2]| saddle::greatest(&p, &i.start, inner);
        let slope = |p: [f64; 2]| {
            if outer {
                [[1.0, 0.0], [0.0, 1.0]].map(|d| saddle::greatest_jvp(&p, &i.start, inner, d).1)
            } else {
                saddle::greatest_grad(&p, &i.start, inner)
            }
        };
        let p = descent::argmin(highest, slope, i.start);
        let q = descent::argmin(|q| -saddle::height(&p, &q), |q| saddle::slope(&p, &q, inner), i.start);
        [p[0], p[1], q[0], q[1]]
    };
    run(input, point, |p| json!(p))
}
