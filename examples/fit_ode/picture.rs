//! The numbers of the pelts as points, and the model's as lines.

use std::error::Error;
use std::path::Path;

use ad::prelude::*;
use plotters::prelude::*;

/// `model` has ten rows a year.
pub fn draw(path: &Path, pelts: &Array2<f64>, model: &Array2<f64>) -> Result<(), Box<dyn Error>> {
    let area = SVGBackend::new(path, (720, 400)).into_drawing_area();
    area.fill(&WHITE)?;
    let highest = pelts.iter().chain(model).fold(0.0, |m: f64, x| m.max(*x));
    let mut chart = ChartBuilder::on(&area)
        .caption("Pelts of hares and lynxes, in thousands, and the model", ("sans-serif", 20))
        .margin(18)
        .x_label_area_size(36)
        .y_label_area_size(48)
        .build_cartesian_2d(1900.0..1920.0, 0.0..1.05 * highest)?;
    let year = |x: &f64| format!("{x:.0}");
    chart
        .configure_mesh()
        .x_label_formatter(&year)
        .x_desc("year")
        .y_desc("pelts, in thousands")
        .light_line_style(BLACK.mix(0.03))
        .bold_line_style(BLACK.mix(0.12))
        .draw()?;
    for (column, name, colour) in [(0, "hares", RGBColor(190, 110, 30)), (1, "lynxes", RGBColor(40, 80, 160))] {
        let line = model.column(column);
        chart
            .draw_series(LineSeries::new(
                line.iter().enumerate().map(|(k, &y)| (1900.0 + k as f64 / 10.0, y)),
                colour.stroke_width(2),
            ))?
            .label(name)
            .legend(move |(x, y)| PathElement::new([(x, y), (x + 20, y)], colour.stroke_width(2)));
        let points = pelts.column(column);
        chart.draw_series(
            points.iter().enumerate().map(|(k, &y)| Circle::new((1900.0 + k as f64, y), 4, colour.filled())),
        )?;
    }
    chart.configure_series_labels().background_style(WHITE).border_style(BLACK.mix(0.2)).draw()?;
    area.present()?;
    Ok(())
}
