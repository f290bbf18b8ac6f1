//! A simulation of queues in which everything is smooth except the order of customers: waiting
//! times by Lindley's recursion, and several servers of which the first free one takes the next
//! customer.

use std::collections::VecDeque;

use ad::check_grad;
use ad::prelude::*;

/// A smooth `max(x, 0)`; without a temperature it is the function itself.
#[differentiable]
fn positive(x: f64, temperature: f64) -> f64 {
    if temperature == 0.0 {
        return x.max(0.0);
    }
    temperature * softplus(x / temperature)
}

/// The mean waiting time of customers, given the rates of arrivals and of services. Both times are
/// made from uniform random numbers, so that the same customers come for all rates.
#[differentiate(wrt(arrival_rate, service_rate))]
fn mean_wait(arrival_rate: f64, service_rate: f64, uniform: &[(f64, f64)], temperature: f64) -> f64 {
    let mut wait = 0.0;
    let mut total = 0.0;
    for &(a, s) in uniform {
        let between = -(1.0 - a).ln() / arrival_rate;
        let service = -(1.0 - s).ln() / service_rate;
        wait = positive(wait + service - between, temperature);
        total += wait;
    }
    total / uniform.len() as f64
}

/// Customers are served in order by the server that is free first. The cost has a part for waiting
/// and a part for the speed of the servers.
#[differentiate(wrt(speeds))]
fn cost_of_servers(speeds: &[f64], arrivals: &[f64], work: &[f64], price: f64) -> f64 {
    let mut free_at = vec![0.0; speeds.len()];
    let mut waited = 0.0;
    for (&arrival, &work) in arrivals.iter().zip(work) {
        let mut server = 0;
        for other in 1..free_at.len() {
            if free_at[other] < free_at[server] {
                server = other;
            }
        }
        let start = arrival.max(free_at[server]);
        waited += start - arrival;
        free_at[server] = start + work / speeds[server];
    }
    waited / arrivals.len() as f64 + price * speeds.iter().sum::<f64>()
}

/// A line of customers in which everyone becomes impatient: those at the front leave one after the
/// other, and the value of the service to a customer falls with the waiting time.
#[differentiate(wrt(service, patience))]
fn value_of_line(arrivals: &[f64], service: f64, patience: f64, end: usize) -> f64 {
    let mut line: VecDeque<f64> = VecDeque::with_capacity(arrivals.len());
    let mut next = 0;
    let mut value = 0.0;
    let mut clock = 0.0;
    for _ in 0..end {
        clock += service;
        while next < arrivals.len() && arrivals[next] <= clock {
            line.push_back(arrivals[next]);
            next += 1;
        }
        if let Some(arrived) = line.pop_front() {
            value += (-(clock - arrived) / patience).exp();
        }
    }
    value
}

fn customers(n: usize) -> Vec<(f64, f64)> {
    let mut rng = fastrand::Rng::with_seed(7);
    (0..n).map(|_| (rng.f64(), rng.f64())).collect()
}

/// Perturbation analysis: in a busy period each service delays all later customers. If arrivals and
/// services are both twice as fast, everyone waits half as long.
#[test]
fn rates_scale_the_wait() {
    let uniform = customers(400);
    let (wait, (by_arrivals, by_services)) = mean_wait_value_and_grad(0.8, 1.1, &uniform, 0.0);
    assert!((0.8 * by_arrivals + 1.1 * by_services + wait).abs() < 1e-12 * wait);
    let (mut waiting, mut moved, mut total, mut expected) = (0.0, 0.0, 0.0, 0.0);
    for &(a, s) in &uniform {
        let service = -(1.0 - s).ln() / 1.1;
        waiting += service + (1.0 - a).ln() / 0.8;
        moved += -service / 1.1;
        if waiting < 0.0 {
            (waiting, moved) = (0.0, 0.0);
        }
        total += waiting;
        expected += moved;
    }
    assert!((wait - total / 400.0).abs() < 1e-12 && (by_services - expected / 400.0).abs() < 1e-12);
}

/// With one server, the wait is Lindley's.
#[test]
fn one_server_has_the_waits_of_lindley() {
    let uniform = customers(60);
    let mut clock = 0.0;
    let arrivals: Vec<f64> = uniform
        .iter()
        .map(|u| {
            clock += 1.5 * u.0;
            clock
        })
        .collect();
    let work: Vec<f64> = uniform.iter().map(|u| u.1).collect();
    let (_, gradient) = cost_of_servers_value_and_grad(&[0.7], &arrivals, &work, 0.0);
    let (mut wait, mut moved, mut expected) = (0.0, 0.0, 0.0);
    for i in 1..60 {
        wait += work[i - 1] / 0.7 - (arrivals[i] - arrivals[i - 1]);
        moved -= work[i - 1] / 0.49;
        if wait < 0.0 {
            (wait, moved) = (0.0, 0.0);
        }
        expected += moved / 60.0;
    }
    assert!((gradient[0] - expected).abs() < 1e-12, "{gradient:?} {expected}");
}

#[test]
fn differences_agree() {
    let uniform = customers(50);
    check_grad!(mean_wait(0.8, 1.1, &uniform, 0.0));
    check_grad!(mean_wait(0.8, 1.1, &uniform, 0.3));
    let arrivals = [0.3, 0.4, 0.9, 1.0, 1.7, 2.2, 2.3, 2.35, 3.1];
    let work = [1.0, 0.7, 1.3, 0.4, 0.9, 1.1, 0.2, 0.8, 0.5];
    check_grad!(cost_of_servers(&[0.8, 1.1, 0.6], &arrivals, &work, 0.1));
    check_grad!(value_of_line(&arrivals, 0.37, 1.2, 8));
}
