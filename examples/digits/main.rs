//! Trains a perceptron with one hidden layer on handwritten digits. The loss is
//! one annotated function, [`net::loss`]; its gradient is the macro's.
//!
//! ```text
//! cargo run --release --example digits [-- DIRECTORY]
//! ```
//!
//! Two pictures are written to the directory (by default `target/digits`).

mod check;
mod data;
mod net;
mod pictures;

use std::error::Error;
use std::path::PathBuf;
use std::time::Instant;

use crate::data::Digits;
use crate::net::{Adam, Net};

const HIDDEN: usize = 48;
const BATCH: usize = 32;
const EPOCHS: usize = 30;
const RATE: f64 = 4e-3;
/// Of every five images, one is held out.
const HELD_OUT: usize = 5;
/// The accuracy that the example promises. It fails below it.
const WANTED: f64 = 0.95;

fn main() -> Result<(), Box<dyn Error>> {
    let directory = std::env::args_os()
        .nth(1)
        .map_or_else(|| PathBuf::from(concat!(env!("CARGO_MANIFEST_DIR"), "/target/digits")), PathBuf::from);
    let start = Instant::now();
    let mut rng = fastrand::Rng::with_seed(7);

    let digits = Digits::load()?;
    let mut order: Vec<usize> = (0..digits.len()).collect();
    rng.shuffle(&mut order);
    let (held_out, training) = order.split_at(digits.len() / HELD_OUT);
    let test = digits.pick(held_out);
    let train = digits.pick(training);
    println!("{} images to learn from, {} held out", train.len(), test.len());

    let mut net = Net::random(HIDDEN, &mut rng);
    let some: Vec<usize> = (0..BATCH).collect();
    check::gradient(&net, &train.pick(&some), &mut rng)?;

    let mut adam = Adam::new(&net, RATE);
    let mut order: Vec<usize> = (0..train.len()).collect();
    let mut losses = Vec::new();
    for epoch in 1..=EPOCHS {
        rng.shuffle(&mut order);
        let first = losses.len();
        for ids in order.chunks(BATCH) {
            let batch = train.pick(ids);
            let (loss, gradient) = net::loss_value_and_grad(&net, &batch.images, &batch.labels);
            adam.step(&mut net, &gradient);
            losses.push(loss);
        }
        let mean = losses[first..].iter().sum::<f64>() / (losses.len() - first) as f64;
        if epoch <= 5 || epoch % 5 == 0 {
            println!("epoch {epoch:2}: loss {mean:.4}, held-out accuracy {:.3}", net.accuracy(&test));
        }
    }

    let accuracy = net.accuracy(&test);
    println!("held-out accuracy {accuracy:.4} after {} steps, {:.1} s", losses.len(), start.elapsed().as_secs_f64());

    std::fs::create_dir_all(&directory)?;
    let curve = directory.join("loss.svg");
    pictures::loss_curve(&curve, &losses, losses.len() / EPOCHS)?;
    let sheet = directory.join("digits.svg");
    pictures::sheet(&sheet, &test, &net.predict(&test.images))?;
    println!("wrote {}\n      {}", curve.display(), sheet.display());

    if accuracy < WANTED {
        return Err(format!("accuracy {accuracy:.4} is below {WANTED}").into());
    }
    Ok(())
}
