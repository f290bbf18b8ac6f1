//! The points of a wave, and the networks' lines.

use std::error::Error;
use std::path::Path;

use ad::prelude::*;
use plotters::prelude::*;

/// `seen` has a row of places and one of heights. `lines`: after the descent from random weights;
/// at the learned weights; after the descent from these.
pub fn draw(path: &Path, seen: &Array2<f64>, x: &Array1<f64>, lines: &[Array1<f64>; 3]) -> Result<(), Box<dyn Error>> {
    let area = SVGBackend::new(path, (720, 420)).into_drawing_area();
    area.fill(&WHITE)?;
    let mut chart = ChartBuilder::on(&area)
        .caption("Ten points of a sine wave, and ten steps of descent", ("sans-serif", 20))
        .margin(18)
        .x_label_area_size(44)
        .y_label_area_size(56)
        .build_cartesian_2d(-5.0..5.0, -3.5..3.5)?;
    let number = |x: &f64| format!("{x:.0}");
    chart
        .configure_mesh()
        .x_label_formatter(&number)
        .y_label_formatter(&number)
        .x_desc("x")
        .y_desc("y")
        .light_line_style(BLACK.mix(0.03))
        .bold_line_style(BLACK.mix(0.12))
        .draw()?;
    let (blue, green, grey) = (RGBColor(40, 80, 160), RGBColor(40, 130, 90), RGBColor(150, 150, 150));
    let names = ["from random weights", "learned weights, no step", "from the learned weights"];
    for ((y, name), colour) in lines.iter().zip(names).zip([grey, green, blue]) {
        chart
            .draw_series(LineSeries::new(x.iter().copied().zip(y.iter().copied()), colour.stroke_width(2)))?
            .label(name)
            .legend(move |(x, y)| PathElement::new([(x, y), (x + 20, y)], colour.stroke_width(2)));
    }
    let orange = RGBColor(190, 110, 30);
    let points = seen.row(0).into_iter().zip(seen.row(1));
    chart.draw_series(points.map(|(&x, &y)| Circle::new((x, y), 4, orange.filled())))?;
    chart.configure_series_labels().background_style(WHITE).border_style(BLACK.mix(0.2)).draw()?;
    area.present()?;
    Ok(())
}
