//! The speed in one picture: a bar for each program of the benches, from the tables that the
//! benches write into `docs/performance.md`.
//!
//! The picture is text that depends on the tables only: no time, no measurement of letters, no
//! order of a hash map. It must never leave a row out.

use std::fmt::Write as _;

/// The document with the tables.
pub const TABLES: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../docs/performance.md");
/// The picture, which README shows.
pub const PICTURE: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../docs/speed.svg");

/// The column of the tables that is drawn.
const RATIO: &str = "ours / by hand";
/// Longer names lose what follows a comma. The whole name is in the bar's title.
const LONGEST: usize = 30;

// In pixels.
const WIDTH: f64 = 1000.0;
const MARGIN: f64 = 24.0;
const GAP: f64 = 26.0;
const NAMES: f64 = 152.0;
const TOP: f64 = 134.0;
const ROW: f64 = 14.0;
const BAR: f64 = 8.0;

/// A row of a table: the name of a program, and the time of the gradient divided by that of one
/// written by hand.
struct Program {
    name: String,
    ratio: f64,
}

/// The picture of the tables `workloads` and `ordinary` of a document.
///
/// # Errors
///
/// Says which table has no rows, or which row has no ratio.
pub fn picture(tables: &str) -> Result<String, String> {
    let (workloads, ordinary) = (programs(tables, "workloads")?, programs(tables, "ordinary")?);
    let all = || workloads.iter().chain(&ordinary);
    let (least, most) = all().fold((1.0_f64, 1.0_f64), |(a, b), p| (a.min(p.ratio), b.max(p.ratio)));
    let half = ordinary.len().div_ceil(2);
    let columns = [&workloads[..], &ordinary[..half], &ordinary[half..]];
    let rows = columns.iter().map(|column| column.len()).max().unwrap_or_default();
    let axis = Axis { from: least.log2().floor(), to: most.log2().ceil() };

    let height = TOP + ROW * rows as f64 + 34.0;
    let mut svg = String::new();
    svg += &format!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {WIDTH} {height}\" role=\"img\" \
         aria-label=\"Times of gradients, relative to gradients written by hand\">\n{STYLE}\n\
         <rect class=\"card\" x=\"0.5\" y=\"0.5\" width=\"{}\" height=\"{}\" rx=\"10\"/>\n",
        WIDTH - 1.0,
        height - 1.0
    );
    let faster = all().filter(|p| p.ratio < 1.0).count();
    text(&mut svg, (MARGIN, 36.0), "title", "Value and gradient: time of ad / time of code written by hand");
    let said = format!(
        "One thread, logarithmic scale. The line is by hand; a bar to the left of it is a gradient that takes less \
         time: {faster} of {}.",
        workloads.len() + ordinary.len()
    );
    text(&mut svg, (MARGIN, 57.0), "said", &said);

    let width = (WIDTH - 2.0 * MARGIN - 2.0 * GAP) / 3.0;
    let left = |k: usize| MARGIN + k as f64 * (width + GAP);
    let heads = [
        (&workloads, "workloads", "By hand: tuned, vectorised."),
        (&ordinary, "ordinary programs", "By hand: plain Rust."),
    ];
    for (k, (programs, what, by_hand)) in heads.into_iter().enumerate() {
        let head = format!("{} {what}: mean {:.2}", programs.len(), mean(programs));
        text(&mut svg, (left(k), 86.0), "head", &head);
        text(&mut svg, (left(k), 102.0), "said", by_hand);
    }
    for (k, column) in columns.into_iter().enumerate() {
        draw(&mut svg, column, &axis, (left(k), width), rows);
    }
    svg += "</svg>\n";
    Ok(svg)
}

const STYLE: &str = "\
<style>
  text { font-family: system-ui, -apple-system, 'Segoe UI', 'DejaVu Sans', sans-serif; fill: #24292f; }
  .title { font-size: 17px; font-weight: 600; }
  .said { font-size: 12.5px; fill: #57606a; }
  .head { font-size: 12.5px; font-weight: 600; }
  .name { font-size: 10px; text-anchor: end; }
  .tick { font-size: 10px; text-anchor: middle; fill: #57606a; }
  .right, .left { font-size: 9px; fill: #57606a; }
  .left { text-anchor: end; }
  .card { fill: #ffffff; stroke: #d0d7de; }
  .grid { stroke: #eaeef2; }
  .hand { stroke: #57606a; stroke-width: 1.5; }
  .less { fill: #1a9988; }
  .more { fill: #e0683c; }
  @media (prefers-color-scheme: dark) {
    text { fill: #e6edf3; }
    .said, .tick, .right, .left { fill: #9da7b3; }
    .card { fill: #0d1117; stroke: #30363d; }
    .grid { stroke: #21262d; }
    .hand { stroke: #9da7b3; }
    .less { fill: #2bb5a2; }
    .more { fill: #f0814f; }
  }
</style>";

/// Powers of two, from the one below the least ratio to the one above the greatest.
struct Axis {
    from: f64,
    to: f64,
}

impl Axis {
    /// Where a ratio is, from 0 to 1.
    fn place(&self, ratio: f64) -> f64 {
        (ratio.log2() - self.from) / (self.to - self.from)
    }
}

/// One column: the grid, and below each other a name and a bar for each program.
fn draw(svg: &mut String, programs: &[Program], axis: &Axis, (left, width): (f64, f64), rows: usize) {
    let (start, extent) = (left + NAMES + 8.0, width - NAMES - 8.0);
    let x = |ratio: f64| start + extent * axis.place(ratio);
    let bottom = TOP + ROW * rows as f64;
    for power in axis.from as i32..=axis.to as i32 {
        let (at, class) = (x(2.0_f64.powi(power)), if power == 0 { "hand" } else { "grid" });
        let _ =
            writeln!(svg, "<line class=\"{class}\" x1=\"{at:.1}\" y1=\"{TOP}\" x2=\"{at:.1}\" y2=\"{bottom:.1}\"/>");
        // Every other one has room.
        if power % 2 == 0 {
            let said = if power < 0 { format!("1/{}", 1 << -power) } else { format!("{}", 1 << power) };
            text(svg, (at, TOP - 7.0), "tick", &said);
            text(svg, (at, bottom + 15.0), "tick", &said);
        }
    }
    for (k, Program { name, ratio }) in programs.iter().enumerate() {
        let y = TOP + ROW * k as f64;
        text(svg, (left + NAMES, y + 10.5), "name", short(name));
        let (a, b) = (x(ratio.min(1.0)), x(ratio.max(1.0)));
        let _ = writeln!(
            svg,
            "<rect class=\"{}\" x=\"{a:.1}\" y=\"{:.1}\" width=\"{:.1}\" height=\"{BAR}\" rx=\"1.5\"><title>{}: \
             {ratio}</title></rect>",
            if *ratio <= 1.0 { "less" } else { "more" },
            y + (ROW - BAR) / 2.0,
            (b - a).max(1.0),
            escaped(name),
        );
        // The number is where the bar is not.
        let (class, away) = if *ratio <= 1.0 { ("right", 5.0) } else { ("left", -5.0) };
        text(svg, (x(1.0) + away, y + 10.5), class, &format!("{ratio:.2}"));
    }
}

fn text(svg: &mut String, (x, y): (f64, f64), class: &str, said: &str) {
    let _ = writeln!(svg, "<text class=\"{class}\" x=\"{x:.1}\" y=\"{y:.1}\">{}</text>", escaped(said));
}

fn escaped(text: &str) -> String {
    text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;")
}

/// The name without its last parts, if it is too long.
fn short(name: &str) -> &str {
    let mut name = name;
    while name.chars().count() > LONGEST {
        let Some((start, _)) = name.rsplit_once(',') else { break };
        name = start;
    }
    name
}

/// The geometric mean.
fn mean(programs: &[Program]) -> f64 {
    (programs.iter().map(|p| p.ratio.ln()).sum::<f64>() / programs.len() as f64).exp()
}

/// The rows of the first table of a section, by their ratios.
fn programs(tables: &str, section: &str) -> Result<Vec<Program>, String> {
    let missing = || format!("docs/performance.md has no table `{section}`");
    let (_, rest) = tables.split_once(&format!("<!-- {section} -->")).ok_or_else(missing)?;
    let (text, _) = rest.split_once(&format!("<!-- end of {section} -->")).ok_or_else(missing)?;
    let mut lines = text.lines().skip_while(|line| !line.starts_with('|')).take_while(|line| line.starts_with('|'));
    let cells = |line: &str| -> Vec<String> {
        line.trim_matches('|').split('|').map(|cell| cell.trim().trim_end_matches(" !").to_string()).collect()
    };
    let head = cells(lines.next().ok_or_else(missing)?);
    let column = head.iter().position(|cell| cell == RATIO).ok_or_else(missing)?;
    let mut programs = Vec::new();
    for line in lines.skip(1) {
        let cells = cells(line);
        let ratio = cells.get(column).and_then(|cell| cell.parse().ok()).filter(|r: &f64| *r > 0.0 && r.is_finite());
        programs.push(Program { name: cells[0].clone(), ratio: ratio.ok_or(format!("no `{RATIO}` in: {line}"))? });
    }
    if programs.is_empty() {
        return Err(missing());
    }
    programs.sort_by(|a, b| a.ratio.total_cmp(&b.ratio));
    Ok(programs)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(file: &str) -> String {
        std::fs::read_to_string(file).unwrap_or_else(|e| panic!("{file}: {e}"))
    }

    #[test]
    fn the_picture_is_that_of_the_tables() {
        let drawn = picture(&read(TABLES)).expect("the tables are read");
        assert!(drawn == read(PICTURE), "docs/speed.svg is old: cargo run -p ad-bench --bin speed");
    }

    #[test]
    fn every_row_has_a_bar() {
        let tables = read(TABLES);
        let drawn = picture(&tables).expect("the tables are read");
        for section in ["workloads", "ordinary"] {
            for Program { name, ratio } in programs(&tables, section).expect("rows") {
                assert!(drawn.contains(&format!("<title>{}: {ratio}</title>", escaped(&name))), "{name}");
            }
        }
    }

    #[test]
    fn bars_end_where_the_ratios_are() {
        let table = |section: &str, rows: &str| {
            format!("<!-- {section} -->\n\n| a | ours / by hand |\n| --- | --- |\n{rows}\n<!-- end of {section} -->\n")
        };
        let rows = table("workloads", "| fast | 0.25 |\n| a < b | 4.00 ! |") + &table("ordinary", "| same | 1.00 |");
        let drawn = picture(&rows).expect("three rows");
        // From 1/4 to 4 the line is in the middle, and both bars are half of the column.
        assert_eq!(drawn.matches("width=\"70.0\"").count(), 2, "{drawn}");
        assert!(drawn.contains("class=\"more\"") && drawn.contains("<title>a &lt; b: 4</title>"), "{drawn}");
        assert_eq!(picture(&rows.replace("4.00 !", "")).err().as_deref(), Some("no `ours / by hand` in: | a < b |  |"));
        assert_eq!(picture("").err().as_deref(), Some("docs/performance.md has no table `workloads`"));
    }
}
