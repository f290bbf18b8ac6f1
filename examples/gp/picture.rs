//! The flows as points, the curve as a line, and two bands: of the curve, and of a year's flow.

use std::error::Error;
use std::path::Path;

use plotters::prelude::*;

/// `curve` has year, mean and standard deviation of each point; `noise` is the standard deviation
/// of a flow around the curve. The bands are two standard deviations wide on both sides.
pub fn draw(path: &Path, first: f64, flow: &[f64], curve: &[[f64; 3]], noise: f64) -> Result<(), Box<dyn Error>> {
    let area = SVGBackend::new(path, (760, 420)).into_drawing_area();
    area.fill(&WHITE)?;
    let last = curve.last().ok_or("no curve")?[0];
    let mut chart = ChartBuilder::on(&area)
        .caption("The Nile at Aswan: a Gaussian process", ("sans-serif", 20))
        .margin(18)
        .x_label_area_size(44)
        .y_label_area_size(64)
        .build_cartesian_2d(first..last, 400.0..1450.0)?;
    let whole = |x: &f64| format!("{x:.0}");
    chart
        .configure_mesh()
        .x_label_formatter(&whole)
        .y_label_formatter(&whole)
        .x_desc("year")
        .y_desc("flow a year, 10^8 cubic metres")
        .light_line_style(BLACK.mix(0.03))
        .bold_line_style(BLACK.mix(0.12))
        .draw()?;
    let (blue, orange) = (RGBColor(40, 80, 160), RGBColor(190, 110, 30));
    let band = |width: &dyn Fn(f64) -> f64| -> Vec<(f64, f64)> {
        let upper = curve.iter().map(|&[t, m, s]| (t, m + 2.0 * width(s)));
        let lower = curve.iter().rev().map(|&[t, m, s]| (t, m - 2.0 * width(s)));
        upper.chain(lower).collect()
    };
    let square = |(x, y): (i32, i32), colour: RGBAColor| Rectangle::new([(x, y - 5), (x + 20, y + 5)], colour.filled());
    chart
        .draw_series([Polygon::new(band(&|s| s.hypot(noise)), blue.mix(0.10))])?
        .label("95 % of the years")
        .legend(move |at| square(at, blue.mix(0.10)));
    chart
        .draw_series([Polygon::new(band(&|s| s), blue.mix(0.25))])?
        .label("95 % of the curves")
        .legend(move |at| square(at, blue.mix(0.25)));
    chart.draw_series(LineSeries::new(curve.iter().map(|&[t, m, _]| (t, m)), blue.stroke_width(2)))?;
    let points = flow.iter().enumerate();
    chart.draw_series(points.map(|(k, &y)| Circle::new((first + k as f64, y), 3, orange.filled())))?;
    chart
        .configure_series_labels()
        .position(SeriesLabelPosition::UpperRight)
        .background_style(WHITE)
        .border_style(BLACK.mix(0.2))
        .draw()?;
    area.present()?;
    Ok(())
}
