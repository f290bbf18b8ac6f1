//! Times and memory of the compared functions, by criterion or in turns; `table` prints them. This
//! module must never time a function before its result is compared with the others.

pub mod docs;
mod entries;
mod memory;
mod table;

use std::collections::HashMap;
use std::hint::black_box;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant, SystemTime};

use criterion::Criterion;
pub use entries::Entries;
use entries::assert_close;

/// Agreement of two gradients, relative to the largest entry.
const TOLERANCE: f64 = 1e-10;
/// The tolerance for a product with the Hessian, compared with a difference of gradients.
const BY_DIFFERENCE: f64 = 1e-6;

/// A workload, and the targets for the cost of its gradient.
#[derive(Clone, Copy)]
pub struct Row {
    name: &'static str,
    /// The ratio to the time of the gradient by hand.
    by_hand: Option<f64>,
    /// The ratio to the time of the function.
    function: Option<f64>,
    /// Numbers in the largest array among arguments and results.
    largest: usize,
}

impl Row {
    /// One of the kernels a to j.
    pub fn kernel(name: &'static str, largest: usize) -> Self {
        Self { name, by_hand: Some(1.15), function: Some(3.0), largest }
    }

    /// One of GradBench's problems.
    pub fn problem(name: &'static str, function: f64, largest: usize) -> Self {
        Self { name, by_hand: Some(1.25), function: Some(function), largest }
    }

    /// A workload without a target.
    pub fn beside(name: &'static str, largest: usize) -> Self {
        Self { name, by_hand: None, function: None, largest }
    }
}

/// The least times so far, by workload: of the gradient by hand, of ours and of the function; or of
/// the gradient and the product.
type Minima = HashMap<&'static str, [f64; 3]>;

/// Criterion, the folder of its estimates, and the workloads so far.
pub struct Bench {
    criterion: Criterion,
    directory: PathBuf,
    started: SystemTime,
    /// The rows, each with the peak number of bytes alive: of the gradient by hand, and of ours.
    rows: Vec<(Row, [usize; 2])>,
    products: Vec<&'static str>,
    /// With `AD_MINIMA`: which workloads are wanted, and the least times so far.
    minima: Option<(Vec<String>, Minima)>,
}

const BY_HAND: &str = "by hand";
const OURS: &str = "ours";
const FUNCTION: &str = "function";
const GRADIENT: &str = "gradient";
const PRODUCT: &str = "product";

/// A longer call is sampled less often.
const SLOW: Duration = Duration::from_millis(20);

impl Bench {
    pub fn new() -> Self {
        let directory = Path::new(env!("CARGO_TARGET_TMPDIR")).join("workloads");
        let (criterion, minima) = if std::env::var_os("AD_MINIMA").is_some() {
            let wanted = std::env::args().skip(1).filter(|a| !a.starts_with("--")).collect();
            (Criterion::default(), Some((wanted, HashMap::new())))
        } else {
            let criterion = Criterion::default()
                .warm_up_time(Duration::from_millis(500))
                .measurement_time(Duration::from_secs(2))
                .output_directory(&directory)
                .configure_from_args();
            (criterion, None)
        };
        Self { criterion, directory, started: SystemTime::now(), rows: Vec::new(), products: Vec::new(), minima }
    }

    /// Whether a workload is to be run: criterion sees to that itself.
    fn wanted(&self, name: &str) -> bool {
        let Some((wanted, _)) = &self.minima else { return true };
        wanted.is_empty() || wanted.iter().any(|w| name.starts_with(w.as_str()))
    }

    /// Checks that the three agree, measures their memory, then times them.
    pub fn compare<V: Entries, G: Entries>(
        &mut self,
        row: Row,
        by_hand: impl Fn() -> (V, G),
        ours: impl Fn() -> (V, G),
        function: impl Fn() -> V,
    ) {
        let name = row.name;
        if !self.wanted(name) {
            return;
        }
        // The first call of a kernel detects the processor's instruction set.
        let (_, begin) = (ours(), Instant::now());
        let (hand, hand_bytes) = memory::peak(&by_hand);
        let (our, our_bytes) = memory::peak(&ours);
        let slow = begin.elapsed() > SLOW;
        let pairs = [
            (hand.0.entries(), our.0.entries()),
            (function().entries(), our.0.entries()),
            (hand.1.entries(), our.1.entries()),
        ];
        for (hand, ours) in pairs.iter().flat_map(|(hand, ours)| hand.iter().zip(ours)) {
            assert_close(name, hand, ours, TOLERANCE);
        }
        drop((hand, our, pairs));
        self.rows.push((row, [hand_bytes, our_bytes]));
        if let Some((_, minima)) = &mut self.minima {
            let mut least = [f64::INFINITY; 3];
            let mut calls = [1; 3];
            let begin = Instant::now();
            while least[0].is_infinite() || begin.elapsed() < Duration::from_secs(2) {
                let times =
                    [batch(&by_hand, &mut calls[0]), batch(&ours, &mut calls[1]), batch(&function, &mut calls[2])];
                least.iter_mut().zip(times).for_each(|(a, b)| *a = a.min(b));
            }
            minima.insert(name, least);
            return;
        }
        let mut group = self.criterion.benchmark_group(name);
        if slow {
            group.sample_size(10);
        }
        group.bench_function(BY_HAND, |b| b.iter(&by_hand));
        group.bench_function(OURS, |b| b.iter(&ours));
        group.bench_function(FUNCTION, |b| b.iter(&function));
        group.finish();
    }

    /// Checks that a product with the Hessian is how the gradient changes along the direction, then
    /// times it, and the gradient.
    pub fn product<G: Entries>(
        &mut self,
        name: &'static str,
        gradient_at: impl Fn(f64) -> G,
        gradient: impl Fn() -> G,
        product: impl Fn() -> G,
    ) {
        if !self.wanted(name) {
            return;
        }
        let step = 1e-5;
        let (after, before) = (gradient_at(step).entries(), gradient_at(-step).entries());
        for ((after, before), found) in after.iter().zip(&before).zip(&product().entries()) {
            let slope: Vec<f64> = after.iter().zip(before).map(|(a, b)| (a - b) / (2.0 * step)).collect();
            assert_close(name, &slope, found, BY_DIFFERENCE);
        }
        self.products.push(name);
        if let Some((_, minima)) = &mut self.minima {
            let (mut least, mut calls) = ([f64::INFINITY; 3], [1; 2]);
            let begin = Instant::now();
            while least[0].is_infinite() || begin.elapsed() < Duration::from_secs(2) {
                let times = [batch(&gradient, &mut calls[0]), batch(&product, &mut calls[1])];
                least.iter_mut().zip(times).for_each(|(a, b)| *a = a.min(b));
            }
            minima.insert(name, least);
            return;
        }
        let mut group = self.criterion.benchmark_group(name);
        group.bench_function(GRADIENT, |b| b.iter(&gradient));
        group.bench_function(PRODUCT, |b| b.iter(&product));
        group.finish();
    }

    /// The median in nanoseconds, if it is of this run: criterion keeps those of earlier ones.
    fn median(&self, name: &str, which: &str) -> Option<f64> {
        if let Some((_, minima)) = &self.minima {
            let at = |these: &[&str]| these.iter().position(|w| *w == which);
            let at = at(&[BY_HAND, OURS, FUNCTION]).or_else(|| at(&[GRADIENT, PRODUCT]))?;
            return Some(minima.get(name)?[at]);
        }
        let path = self.directory.join(name).join(which).join("new/estimates.json");
        if path.metadata().ok()?.modified().ok()? < self.started {
            return None;
        }
        let estimates: serde_json::Value = serde_json::from_slice(&std::fs::read(path).ok()?).ok()?;
        estimates["median"]["point_estimate"].as_f64()
    }
}

/// Nanoseconds of a call: in a batch of about half a millisecond, which is short enough to be
/// without an interruption now and then. `calls` are as many as that takes, known from the first
/// batch: reading the clock between them would count. A long call is always interrupted, so it is
/// timed by the processor time of this thread, where that is known.
fn batch<R>(f: &impl Fn() -> R, calls: &mut u32) -> f64 {
    let (before, start) = (spent(), Instant::now());
    for _ in 0..*calls {
        black_box(f());
    }
    let mut time = start.elapsed().as_nanos() as f64;
    if let (true, Some(before), Some(after)) = (time > LONG, before, spent()) {
        time = after - before;
    }
    time /= f64::from(*calls);
    *calls = (5e5 / time).clamp(1.0, 1e5) as u32;
    time
}

/// A batch that takes this many nanoseconds is interrupted if there is other work.
const LONG: f64 = 1e6;

/// The processor time of this thread in nanoseconds. Linux updates it when it schedules the thread,
/// so the thread yields first.
fn spent() -> Option<f64> {
    std::thread::yield_now();
    let text = std::fs::read_to_string("/proc/thread-self/schedstat").ok()?;
    text.split(' ').next()?.parse().ok()
}
