//! The tables at the end of a run: text for a terminal, Markdown with `AD_MARKDOWN` or for
//! `docs/performance.md` (`AD_DOCS`).

use std::fmt::Write as _;

use super::{BY_HAND, Bench, FUNCTION, GRADIENT, OURS, PRODUCT, Row, docs};

/// A row of cells, all of one length in a table.
type Cells = Vec<String>;

/// The measurements of a row.
struct Measured {
    row: Row,
    hand: f64,
    ours: f64,
    function: f64,
    /// The most bytes alive, by hand and ours.
    memory: [usize; 2],
}

impl Measured {
    fn ratio(&self) -> f64 {
        self.ours / self.hand
    }

    fn to_function(&self) -> f64 {
        self.ours / self.function
    }

    /// How much more memory than by hand, in arrays as large as the largest argument or result.
    fn more(&self) -> f64 {
        let [hand, ours] = self.memory.map(|bytes| bytes as f64);
        (ours - hand) / (8.0 * self.row.largest.max(1) as f64)
    }

    fn cells(&self) -> Cells {
        let against =
            |value: f64, target: Option<f64>| target.map_or(String::new(), |t| format!("{t}{}", missed(value, t)));
        vec![
            self.row.name.into(),
            time(self.hand),
            time(self.ours),
            format!("{:.2}", self.ratio()),
            against(self.ratio(), self.row.by_hand),
            format!("{:.2}", self.to_function()),
            against(self.to_function(), self.row.function),
            bytes(self.memory[0]),
            bytes(self.memory[1]),
            format!("{:+.2}{}", self.more(), missed(self.more(), 1.0)),
        ]
    }
}

/// The mark for a value that misses its target, as printed.
fn missed(value: f64, target: f64) -> &'static str {
    if (value * 100.0).round() > target * 100.0 { " !" } else { "" }
}

const HEAD: [&str; 10] = [
    "value and gradient",
    "by hand",
    "ours",
    "ours / by hand",
    "at most",
    "ours / function",
    "at most",
    "memory by hand",
    "memory ours",
    "more, in arrays",
];

impl Bench {
    /// Prints the measurements of this run.
    pub fn table(self) {
        if self.minima.is_none() {
            self.criterion.final_summary();
        }
        let measured: Vec<Measured> = self
            .rows
            .iter()
            .filter_map(|&(row, memory)| {
                let median = |which| self.median(row.name, which);
                let (hand, ours, function) = (median(BY_HAND)?, median(OURS)?, median(FUNCTION)?);
                Some(Measured { row, hand, ours, function, memory })
            })
            .collect();
        let products: Vec<Cells> = self
            .products
            .iter()
            .filter_map(|name| {
                let (gradient, product) = (self.median(name, GRADIENT)?, self.median(name, PRODUCT)?);
                Some(vec![(*name).into(), time(gradient), time(product), format!("{:.2}", product / gradient)])
            })
            .collect();
        let how = if self.minima.is_some() {
            "the least time of several turns (`AD_MINIMA=1 cargo bench --bench workloads`)"
        } else {
            "medians (`cargo bench --bench workloads`)"
        };
        let text = |markdown: bool| {
            let write = if markdown { as_markdown } else { as_text };
            let mut text = format!("On {}: {how}.\n\n", docs::machine());
            text += &write(&HEAD, &measured.iter().map(Measured::cells).collect::<Vec<_>>());
            text += "\n";
            text += &summary(&measured);
            if !products.is_empty() {
                text += "\n";
                text += &write(&["Hessian times direction", "gradient", "product", "product / gradient"], &products);
            }
            text
        };
        println!("{}", text(std::env::var_os("AD_MARKDOWN").is_some()));
        docs::write("workloads", &text(true));
    }
}

/// The mean of the ratios, and the rows that miss a target.
fn summary(measured: &[Measured]) -> String {
    let mut text = String::new();
    let means = [
        ("the rows with a target", measured.iter().filter(|m| m.row.by_hand.is_some()).collect::<Vec<_>>()),
        ("all rows", measured.iter().collect()),
    ];
    for (which, rows) in means.into_iter().filter(|m| !m.1.is_empty()) {
        let mean = rows.iter().map(|m| m.ratio().ln()).sum::<f64>() / rows.len() as f64;
        let mean = mean.exp();
        let missed = missed(mean, 1.0);
        let _ = writeln!(
            text,
            "Geometric mean of ours / by hand over {which} ({}): {mean:.3}{missed}, at most 1.",
            rows.len()
        );
    }
    type Value = fn(&Measured) -> Option<(f64, f64)>;
    let kinds: [(&str, Value); 3] = [
        ("slower than by hand allows", |m| Some((m.ratio(), m.row.by_hand?))),
        ("slower than the function allows", |m| Some((m.to_function(), m.row.function?))),
        ("more memory than by hand and one array", |m| Some((m.more(), 1.0))),
    ];
    for (what, value) in kinds {
        let over: Vec<&str> = measured
            .iter()
            .filter(|m| value(m).is_some_and(|(value, target)| !missed(value, target).is_empty()))
            .map(|m| m.row.name)
            .collect();
        let over = if over.is_empty() { "none".into() } else { over.join("; ") };
        let _ = writeln!(text, "- {what}: {over}.");
    }
    text
}

fn as_markdown(head: &[&str], rows: &[Cells]) -> String {
    let mut text = format!("| {} |\n|{}\n", head.join(" | "), " --- |".repeat(head.len()));
    for row in rows {
        let _ = writeln!(text, "| {} |", row.join(" | "));
    }
    text
}

fn as_text(head: &[&str], rows: &[Cells]) -> String {
    let mut widths: Vec<usize> = head.iter().map(|cell| cell.len()).collect();
    for row in rows {
        widths.iter_mut().zip(row).for_each(|(width, cell)| *width = cell.len().max(*width));
    }
    let head: Cells = head.iter().map(ToString::to_string).collect();
    let mut text = String::new();
    for row in std::iter::once(&head).chain(rows) {
        for (k, (cell, &width)) in row.iter().zip(&widths).enumerate() {
            let _ = if k == 0 { write!(text, "{cell:width$}") } else { write!(text, "  {cell:>width$}") };
        }
        text.push('\n');
    }
    text
}

fn time(nanoseconds: f64) -> String {
    match nanoseconds {
        t if t < 1e3 => format!("{t:.0} ns"),
        t if t < 1e6 => format!("{:.2} us", t / 1e3),
        t => format!("{:.2} ms", t / 1e6),
    }
}

fn bytes(n: usize) -> String {
    match n as f64 {
        n if n < 1e3 => format!("{n:.0} B"),
        n if n < 1e6 => format!("{:.1} kB", n / 1e3),
        n => format!("{:.2} MB", n / 1e6),
    }
}
