//! A hidden Markov model: the log-likelihood of sequences of symbols by the forward algorithm, with
//! the parameters as logits.

use ad::check_grad;
use ad::prelude::*;

#[differentiable]
fn log_sum_exp(values: &[f64]) -> f64 {
    let largest = values.iter().copied().fold(f64::NEG_INFINITY, f64::max);
    if largest == f64::NEG_INFINITY {
        return f64::NEG_INFINITY;
    }
    largest + values.iter().map(|v| (v - largest).exp()).sum::<f64>().ln()
}

/// Normalised logarithms of probabilities.
#[differentiable]
fn log_softmax(logits: &[f64]) -> Vec<f64> {
    let total = log_sum_exp(logits);
    logits.iter().map(|l| l - total).collect()
}

/// The log-likelihood of one sequence.
#[differentiate(wrt(initial, transition, emission))]
fn log_likelihood(initial: &[f64], transition: &Array2<f64>, emission: &Array2<f64>, observed: &[usize]) -> f64 {
    let states = initial.len();
    let start = log_softmax(initial);
    let moves: Vec<Vec<f64>> = transition.rows().into_iter().map(|row| log_softmax(&row.to_vec())).collect();
    let emits: Vec<Vec<f64>> = emission.rows().into_iter().map(|row| log_softmax(&row.to_vec())).collect();

    let mut alpha: Vec<f64> = (0..states).map(|s| start[s] + emits[s][observed[0]]).collect();
    for &symbol in &observed[1..] {
        let mut next = Vec::with_capacity(states);
        for to in 0..states {
            let paths: Vec<f64> = (0..states).map(|from| alpha[from] + moves[from][to]).collect();
            next.push(log_sum_exp(&paths) + emits[to][symbol]);
        }
        alpha = next;
    }
    log_sum_exp(&alpha)
}

/// The most probable path, by Viterbi's algorithm, and its log-probability: differentiable where it
/// is unique.
#[differentiate(wrt(transition, emission))]
fn best_path(transition: &Array2<f64>, emission: &Array2<f64>, observed: &[usize]) -> f64 {
    let states = transition.nrows();
    let mut score: Vec<f64> = (0..states).map(|s| emission[[s, observed[0]]]).collect();
    for &symbol in observed.iter().skip(1) {
        let mut next = vec![f64::NEG_INFINITY; states];
        for to in 0..states {
            for from in 0..states {
                let candidate = score[from] + transition[[from, to]];
                if candidate > next[to] {
                    next[to] = candidate;
                }
            }
            next[to] += emission[[to, symbol]];
        }
        score = next;
    }
    score.into_iter().fold(f64::NEG_INFINITY, f64::max)
}

fn model() -> (Vec<f64>, Array2<f64>, Array2<f64>, Vec<usize>) {
    let initial = vec![0.3, -0.4, 0.1];
    let transition = array![[0.9, -0.3, 0.2], [0.0, 1.1, -0.8], [-0.5, 0.4, 0.6]];
    let emission = array![[1.05, 0.2, -0.7, 0.1], [-0.3, 0.5, 0.8, -1.0], [0.2, -0.6, 0.0, 0.9]];
    (initial, transition, emission, vec![0, 2, 1, 3, 3, 0])
}

/// All paths of hidden states, each with its probability.
fn paths(
    initial: &[f64],
    transition: &Array2<f64>,
    emission: &Array2<f64>,
    observed: &[usize],
) -> Vec<(Vec<usize>, f64)> {
    let p = |row: &[f64], k: usize| row[k].exp() / row.iter().map(|x| x.exp()).sum::<f64>();
    let states = initial.len();
    let count = states.pow(observed.len() as u32);
    let mut all = Vec::new();
    for mut code in 0..count {
        let mut path = Vec::new();
        for _ in observed {
            path.push(code % states);
            code /= states;
        }
        let mut probability = p(initial, path[0]);
        for (t, &symbol) in observed.iter().enumerate() {
            if t > 0 {
                probability *= p(&transition.row(path[t - 1]).to_vec(), path[t]);
            }
            probability *= p(&emission.row(path[t]).to_vec(), symbol);
        }
        all.push((path, probability));
    }
    all
}

/// The gradient is the expected counts minus the counts that the probabilities predict.
#[test]
fn gradients_are_expected_counts() {
    let (initial, transition, emission, observed) = model();
    let (value, (di, dt, de)) = log_likelihood_value_and_grad(&initial, &transition, &emission, &observed);
    let all = paths(&initial, &transition, &emission, &observed);
    let total: f64 = all.iter().map(|(_, p)| p).sum();
    assert!((value - total.ln()).abs() < 1e-12, "{value} {}", total.ln());
    let normal = initial.iter().map(|x| x.exp()).sum::<f64>();
    for s in 0..3 {
        let posterior: f64 = all.iter().filter(|(path, _)| path[0] == s).map(|(_, p)| p / total).sum();
        assert!((di[s] - (posterior - initial[s].exp() / normal)).abs() < 1e-12);
    }
    for from in 0..3 {
        let row = transition.row(from).mapv(f64::exp);
        let visits = |path: &[usize]| path[..path.len() - 1].iter().filter(|&&s| s == from).count() as f64;
        let expected: f64 = all.iter().map(|(path, p)| visits(path) * p / total).sum();
        for to in 0..3 {
            let moves = |path: &[usize]| path.windows(2).filter(|w| w == &[from, to]).count() as f64;
            let counted: f64 = all.iter().map(|(path, p)| moves(path) * p / total).sum();
            assert!((dt[[from, to]] - (counted - expected * row[to] / row.sum())).abs() < 1e-12);
        }
    }
    for row in de.rows() {
        assert!(row.sum().abs() < 1e-12);
    }
}

#[test]
fn differences_agree() {
    let (initial, transition, emission, observed) = model();
    check_grad!(log_likelihood(&initial, &transition, &emission, &observed));
    check_grad!(log_likelihood(&initial, &transition, &emission, &observed[..1]));
    check_grad!(best_path(&transition, &emission, &observed));
}

/// The gradient of the best score counts the moves of the best path.
#[test]
fn the_best_path_is_counted() {
    let (_, transition, emission, observed) = model();
    let (dt, de) = best_path_grad(&transition, &emission, &observed);
    assert_eq!((dt.sum(), de.sum()), (5.0, 6.0));
    assert!(dt.iter().chain(&de).all(|x| x.fract() == 0.0 && *x >= 0.0));
}
