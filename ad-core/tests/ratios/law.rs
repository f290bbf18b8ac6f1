//! The law, one for all programs: the bounds on the cost of a gradient relative to the function, in
//! operations on numbers, in all work and in bytes. This module must never mention a program.

/// The maximum ratio of a gradient's operations on numbers to the function's (issue 4).
pub(crate) const BOUND: f64 = 5.0;
/// The maximum ratio of all work to the function's. (The maximum is reached by a loop that computes
/// little more than a sine: arguments and results pass through the lanes of a block, where they are
/// written and read once more; it takes a quarter of the time that it took without.)
const WORK: f64 = 10.0;
/// If there are fewer items, some lanes are computed needlessly.
const LANES: f64 = 16.0;
/// Additional work for each number of a gradient: it is written even if the function does not read
/// the argument.
const RESULT: f64 = 4.0;
/// Additional operations for each number of a gradient.
const ADDED: f64 = 1.0;
/// Bytes for each byte that is lost, that is, overwritten, dropped, or not linear in what it was
/// computed from. A vector that grows has capacity for up to twice its elements.
const SAVED: f64 = 2.0;
/// Items in a block. If there are fewer, a part of the memory is not used.
const BLOCK: f64 = 128.0;
/// Bytes for each number of a gradient: itself, and an accumulator of it.
const RESULT_BYTES: f64 = 16.0;
/// Bytes for each byte of the function's own arrays: a value and its cotangent.
const OWN: f64 = 2.0;
/// The factor by which the ratio at the largest size may exceed those at smaller sizes. Work that
/// is done once in a call counts less at larger sizes.
const GROWTH: f64 = 1.15;

/// A function and its gradient at a size.
#[derive(Debug)]
pub(crate) struct Measured {
    pub(crate) size: f64,
    /// All work of each.
    pub(crate) work: [f64; 2],
    /// Operations on numbers of each.
    pub(crate) numbers: [f64; 2],
    /// The peak number of bytes alive in each, without those of the arguments.
    pub(crate) bytes: [f64; 2],
    /// Bytes of values that the function has overwritten or dropped, or that are not linear in
    /// what it reads.
    pub(crate) lost: f64,
}

impl Measured {
    /// The cost of the gradient as a fraction of the bound, for this number of arguments: the
    /// maximum of the fractions for numbers, work and bytes.
    fn part_with(&self, arguments: f64) -> f64 {
        let elements = self.size * arguments;
        let numbers = (self.numbers[1] - ADDED * elements) / (BOUND * self.numbers[0]).max(1.0);
        let work = (self.work[1] - RESULT * elements) / (WORK * self.work[0].max(1.0) * (LANES / self.size).max(1.0));
        let saved = self.bytes[1] - OWN * self.bytes[0] - RESULT_BYTES * elements;
        let bytes = saved / (SAVED * self.lost * (BLOCK / self.size).max(1.0)).max(1.0);
        numbers.max(work).max(bytes)
    }

    /// The same with one argument.
    #[allow(dead_code, reason = "the tool over random programs asks for it, the table does not")]
    pub(crate) fn part(&self) -> f64 {
        self.part_with(1.0)
    }
}

/// The counts that were printed for a program.
pub(crate) fn measured(out: &str, name: &str) -> Vec<Measured> {
    let lines = out.lines().filter_map(|l| l.strip_prefix(name)?.strip_prefix(' '));
    let of = |line: &str| {
        let row: Vec<f64> = line.split(' ').map(|n| n.parse().expect("a number")).collect();
        let [size, f, g, of_f, of_g, bytes_f, bytes_g, lost] = row[..] else { panic!("{name}: {line}") };
        Measured { size, work: [f, g], numbers: [of_f, of_g], bytes: [bytes_f, bytes_g], lost }
    };
    lines.map(of).collect()
}

/// The ratios.
pub(crate) fn shown(all: &[Measured]) -> String {
    let each = |of: &dyn Fn(&Measured) -> f64| all.iter().map(of).collect::<Vec<f64>>();
    let work = each(&|m| m.work[1] / m.work[0]);
    let numbers = each(&|m| m.numbers[1] / m.numbers[0]);
    let memory = each(&|m| (m.bytes[1] - m.bytes[0]) / m.lost.max(1.0));
    let sizes = each(&|m| m.size);
    let last = all.last().map(|m| (m.work, m.numbers, m.bytes, m.lost));
    format!("{sizes:?}: numbers {numbers:.2?}, work {work:.2?}, memory {memory:.2?}, at last {last:?}")
}

/// The way in which the gradient of a function of this many arguments violates the law.
pub(crate) fn breach(all: &[Measured], arguments: f64) -> Option<String> {
    if let Some(m) = all.iter().find(|m| m.part_with(arguments) > 1.0) {
        return Some(format!("{m:?}; {}", shown(all)));
    }
    grows(all, arguments).then(|| format!("grows: {}", shown(all)))
}

/// Whether one of the ratios grows with the size, without the allowance for each number of
/// `arguments` gradients.
pub(crate) fn grows(all: &[Measured], arguments: f64) -> bool {
    let [before @ .., last] = all else { return false };
    let work = |m: &Measured| (m.work[1] - RESULT * m.size * arguments) / m.work[0];
    let numbers = |m: &Measured| (m.numbers[1] - ADDED * m.size * arguments) / m.numbers[0];
    let grow = |ratio: &dyn Fn(&Measured) -> f64| {
        before.len() > 1 && ratio(last) > before.iter().map(ratio).fold(0.0, f64::max) * GROWTH
    };
    grow(&work) || grow(&numbers)
}
