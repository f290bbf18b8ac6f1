//! The cars with lines of the posterior, and the slopes of all of them.

use std::error::Error;
use std::path::Path;

use plotters::prelude::*;

const BARS: usize = 40;

/// `lines` are height and slope of every draw.
pub fn draw(path: &Path, cars: &[(f64, f64)], lines: &[[f64; 2]]) -> Result<(), Box<dyn Error>> {
    let area = SVGBackend::new(path, (960, 400)).into_drawing_area();
    area.fill(&WHITE)?;
    let (left, right) = area.split_horizontally(520);

    let mut chart = ChartBuilder::on(&left)
        .caption("Feet to a stop by miles an hour", ("sans-serif", 20))
        .margin(18)
        .x_label_area_size(36)
        .y_label_area_size(48)
        .build_cartesian_2d(0.0..26.0, -20.0..125.0)?;
    let whole = |x: &f64| format!("{x:.0}");
    let (light, bold) = (BLACK.mix(0.03), BLACK.mix(0.12));
    chart
        .configure_mesh()
        .x_label_formatter(&whole)
        .y_label_formatter(&whole)
        .x_desc("miles an hour")
        .y_desc("feet to a stop")
        .light_line_style(light)
        .bold_line_style(bold)
        .draw()?;
    let blue = RGBColor(40, 80, 160);
    for [height, slope] in lines.iter().step_by(lines.len().div_ceil(80)) {
        let ends = [0.0, 26.0].map(|x| (x, height + slope * x));
        chart.draw_series(LineSeries::new(ends, blue.mix(0.15).stroke_width(1)))?;
    }
    chart.draw_series(cars.iter().map(|&at| Circle::new(at, 3, RGBColor(190, 110, 30).filled())))?;

    let slopes = || lines.iter().map(|l| l[1]);
    let (least, most) = slopes().fold((f64::INFINITY, f64::NEG_INFINITY), |(a, b), x| (a.min(x), b.max(x)));
    let width = (most - least) / BARS as f64;
    let mut counts = [0.0_f64; BARS];
    for slope in slopes() {
        counts[(((slope - least) / width) as usize).min(BARS - 1)] += 1.0 / (lines.len() as f64 * width);
    }
    let highest = counts.iter().fold(0.0, |m: f64, x| m.max(*x));
    let mut chart = ChartBuilder::on(&right)
        .caption("The slope's posterior", ("sans-serif", 20))
        .margin(18)
        .x_label_area_size(36)
        .y_label_area_size(48)
        .build_cartesian_2d(least..most, 0.0..1.1 * highest)?;
    let tenth = |x: &f64| format!("{x:.1}");
    chart
        .configure_mesh()
        .x_label_formatter(&tenth)
        .y_label_formatter(&tenth)
        .x_desc("slope, in feet for a mile an hour")
        .y_desc("density")
        .light_line_style(light)
        .bold_line_style(bold)
        .draw()?;
    chart.draw_series(counts.iter().enumerate().map(|(k, &height)| {
        let from = least + k as f64 * width;
        Rectangle::new([(from, 0.0), (from + width, height)], blue.mix(0.5).filled())
    }))?;
    area.present()?;
    Ok(())
}
