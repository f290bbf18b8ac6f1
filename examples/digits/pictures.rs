//! The loss curve and the sheet of digits, as SVG.

use std::error::Error;
use std::path::Path;

use plotters::prelude::*;
use plotters::style::text_anchor::{HPos, Pos, VPos};

use crate::data::{Digits, SIDE};

const INK: RGBColor = RGBColor(32, 36, 48);
const FAINT: RGBColor = RGBColor(168, 196, 226);
const STRONG: RGBColor = RGBColor(22, 92, 170);
const WRONG: RGBColor = RGBColor(200, 40, 40);
const PAPER: RGBColor = RGBColor(244, 244, 240);

/// Every minibatch's loss, and its mean over each epoch, on a logarithmic scale.
pub fn loss_curve(path: &Path, losses: &[f64], epoch: usize) -> Result<(), Box<dyn Error>> {
    let root = SVGBackend::new(path, (900, 520)).into_drawing_area();
    root.fill(&WHITE)?;
    let lowest = losses.iter().copied().fold(f64::INFINITY, f64::min);
    let highest = losses.iter().copied().fold(lowest, f64::max);
    let mut chart = ChartBuilder::on(&root)
        .caption("Loss while learning handwritten digits", ("sans-serif", 24, &INK))
        .margin(18)
        .x_label_area_size(48)
        .y_label_area_size(72)
        .build_cartesian_2d(0..losses.len(), (lowest * 0.8..highest * 1.2).log_scale())?;
    chart
        .configure_mesh()
        .x_desc("minibatches")
        .y_desc("softmax cross entropy")
        .y_label_formatter(&|loss| format!("{loss}"))
        .axis_desc_style(("sans-serif", 17, &INK))
        .label_style(("sans-serif", 15, &INK))
        .light_line_style(BLACK.mix(0.03))
        .bold_line_style(BLACK.mix(0.12))
        .draw()?;
    let every = losses.iter().copied().enumerate();
    chart
        .draw_series(LineSeries::new(every, FAINT.stroke_width(1)))?
        .label("one minibatch")
        .legend(|(x, y)| PathElement::new([(x, y), (x + 24, y)], FAINT.stroke_width(2)));
    let means = losses.chunks(epoch).enumerate().map(|(i, part)| {
        let middle = i * epoch + part.len() / 2;
        (middle, part.iter().sum::<f64>() / part.len() as f64)
    });
    chart
        .draw_series(LineSeries::new(means, STRONG.stroke_width(3)))?
        .label("mean of an epoch")
        .legend(|(x, y)| PathElement::new([(x, y), (x + 24, y)], STRONG.stroke_width(3)));
    chart
        .configure_series_labels()
        .position(SeriesLabelPosition::UpperRight)
        .margin(14)
        .label_font(("sans-serif", 16, &INK))
        .background_style(WHITE)
        .border_style(BLACK.mix(0.2))
        .draw()?;
    root.present()?;
    Ok(())
}

const COLUMNS: usize = 12;
const ROWS: usize = 6;
/// Pixels of the picture for a pixel of a digit.
const DOT: i32 = 8;
const DIGIT: i32 = DOT * SIDE as i32;
const CELL: (i32, i32) = (DIGIT + 22, DIGIT + 40);
const TOP: i32 = 78;
const LEFT: i32 = 30;

/// Held-out digits and the network's predictions; the wrong ones come first.
pub fn sheet(path: &Path, digits: &Digits, predictions: &[usize]) -> Result<(), Box<dyn Error>> {
    let is_right = |&i: &usize| predictions[i] == digits.labels[i];
    let (right, wrong): (Vec<_>, Vec<_>) = (0..digits.len()).partition(is_right);

    let width = 2 * LEFT + CELL.0 * COLUMNS as i32 - 22;
    let height = TOP + CELL.1 * ROWS as i32 + 8;
    let root = SVGBackend::new(path, (width as u32, height as u32)).into_drawing_area();
    root.fill(&WHITE)?;
    let plain = |size: i32, colour: &RGBColor| ("sans-serif", size).into_font().color(colour);
    root.draw_text("What the network reads", &plain(24, &INK), (LEFT, 16))?;
    let subtitle = format!(
        "{} of {} held-out digits are read correctly. In red, first: the other {}.",
        right.len(),
        digits.len(),
        wrong.len()
    );
    root.draw_text(&subtitle, &plain(16, &INK), (LEFT, 46))?;

    let below = Pos::new(HPos::Center, VPos::Top);
    for (place, &i) in wrong.iter().chain(&right).take(COLUMNS * ROWS).enumerate() {
        let x = LEFT + CELL.0 * (place % COLUMNS) as i32;
        let y = TOP + CELL.1 * (place / COLUMNS) as i32;
        let ok = is_right(&i);
        let background = Rectangle::new([(x, y), (x + DIGIT, y + DIGIT)], PAPER.filled());
        root.draw(&background)?;
        for (k, &ink) in digits.images.row(i).iter().enumerate().filter(|(_, ink)| **ink > 0.0) {
            let (px, py) = (x + DOT * (k % SIDE) as i32, y + DOT * (k / SIDE) as i32);
            let square = [(px, py), (px + DOT, py + DOT)];
            root.draw(&Rectangle::new(square, INK.mix(ink).filled()))?;
        }
        let (text, colour) = if ok {
            (predictions[i].to_string(), STRONG)
        } else {
            (format!("{}, is {}", predictions[i], digits.labels[i]), WRONG)
        };
        if !ok {
            let frame = [(x - 2, y - 2), (x + DIGIT + 2, y + DIGIT + 2)];
            root.draw(&Rectangle::new(frame, WRONG.stroke_width(2)))?;
        }
        let style = plain(17, &colour).pos(below);
        root.draw_text(&text, &style, (x + DIGIT / 2, y + DIGIT + 8))?;
    }
    root.present()?;
    Ok(())
}
