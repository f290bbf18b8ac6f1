//! The temperature over place and time with the measured points, and along the rod at four times.

use std::error::Error;
use std::path::Path;

use ad::prelude::*;
use plotters::prelude::*;

const CELLS: usize = 60;

/// A colour between blue (-1), white (0) and orange (1).
fn colour(u: f64) -> RGBColor {
    let u = u.clamp(-1.0, 1.0);
    let end = if u < 0.0 { [40.0, 80.0, 160.0] } else { [190.0, 110.0, 30.0] };
    let [r, g, b] = end.map(|c: f64| (255.0 + u.abs() * (c - 255.0)) as u8);
    RGBColor(r, g, b)
}

/// `measured` has rows of place, time and temperature.
pub fn draw(
    path: &Path,
    measured: &Array2<f64>,
    model: &dyn Fn(f64, f64) -> f64,
    truth: &dyn Fn(f64, f64) -> f64,
) -> Result<(), Box<dyn Error>> {
    let area = SVGBackend::new(path, (960, 400)).into_drawing_area();
    area.fill(&WHITE)?;
    let (left, right) = area.split_horizontally(480);
    let number = |x: &f64| format!("{x:.1}");

    let mut chart = ChartBuilder::on(&left)
        .caption("Temperature, and where it was measured", ("sans-serif", 20))
        .margin(18)
        .x_label_area_size(44)
        .y_label_area_size(56)
        .build_cartesian_2d(0.0..1.0, 0.0..1.0)?;
    chart
        .configure_mesh()
        .disable_mesh()
        .x_label_formatter(&number)
        .y_label_formatter(&number)
        .x_desc("time")
        .y_desc("place")
        .draw()?;
    let side = 1.0 / CELLS as f64;
    let cells = (0..CELLS * CELLS).map(|k| {
        let (t, x) = ((k / CELLS) as f64 * side, (k % CELLS) as f64 * side);
        Rectangle::new([(t, x), (t + side, x + side)], colour(model(x + 0.5 * side, t + 0.5 * side)).filled())
    });
    chart.draw_series(cells)?;
    chart.draw_series(measured.rows().into_iter().map(|r| Circle::new((r[1], r[0]), 3, BLACK.filled())))?;

    let mut chart = ChartBuilder::on(&right)
        .caption("Along the rod", ("sans-serif", 20))
        .margin(18)
        .x_label_area_size(44)
        .y_label_area_size(56)
        .build_cartesian_2d(0.0..1.0, 0.0..1.1)?;
    chart
        .configure_mesh()
        .x_label_formatter(&number)
        .y_label_formatter(&number)
        .x_desc("place")
        .y_desc("temperature")
        .light_line_style(BLACK.mix(0.03))
        .bold_line_style(BLACK.mix(0.12))
        .draw()?;
    let places = || (0..=100).map(|k| f64::from(k) / 100.0);
    for (t, strength) in [(0.0, 1.0), (0.1, 0.75), (0.3, 0.55), (0.8, 0.35)] {
        let (blue, grey) = (RGBColor(40, 80, 160).mix(strength), BLACK.mix(0.5 * strength));
        chart
            .draw_series(LineSeries::new(places().map(|x| (x, model(x, t))), blue.stroke_width(2)))?
            .label(format!("time {t}"))
            .legend(move |(x, y)| PathElement::new([(x, y), (x + 20, y)], blue.stroke_width(2)));
        chart.draw_series(DashedLineSeries::new(places().map(|x| (x, truth(x, t))), 4, 4, grey.into()))?;
    }
    chart.configure_series_labels().background_style(WHITE).border_style(BLACK.mix(0.2)).draw()?;
    area.present()?;
    Ok(())
}
