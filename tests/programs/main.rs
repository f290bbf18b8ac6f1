//! Programs as people have them, written without the macro in mind: helpers, types, closures and
//! loops as the algorithm needs them. Each is checked against differences, and against a number
//! that is known independently of it.

#![allow(clippy::all, clippy::pedantic, reason = "programs as people write them")]

mod bodies;
mod expression_tree;
mod hidden_markov;
mod hierarchical;
mod kalman;
mod layers;
mod network;
mod options;
mod queue;
mod renderer;
mod robot_arm;
mod runge_kutta;
mod transformer;
