//! The images and their labels.

use std::error::Error;
use std::io::Read;

use ad::ndarray::{Array1, Array2, Axis};
use flate2::read::GzDecoder;

/// Pixels along a side of an image.
pub const SIDE: usize = 8;
/// Pixels of an image.
pub const PIXELS: usize = SIDE * SIDE;
/// Different digits.
pub const CLASSES: usize = 10;
/// The value of a pixel that is all ink.
const INK: f64 = 16.0;

/// Some images, one a row, pixels from 0 to 1, and the digit that each shows.
pub struct Digits {
    pub images: Array2<f64>,
    pub labels: Array1<usize>,
}

impl Digits {
    /// All 1797 images, in the order of the file.
    pub fn load() -> Result<Self, Box<dyn Error>> {
        let packed: &[u8] = include_bytes!("../data/digits.csv.gz");
        let mut text = String::new();
        GzDecoder::new(packed).read_to_string(&mut text)?;

        let mut pixels = Vec::new();
        let mut labels = Vec::new();
        for line in text.lines() {
            let numbers: Vec<usize> = line.split(',').map(str::parse).collect::<Result<_, _>>()?;
            let (&label, image) = numbers.split_last().ok_or("an empty line")?;
            if image.len() != PIXELS || label >= CLASSES {
                return Err(format!("not an image: {line}").into());
            }
            pixels.extend(image.iter().map(|&p| p as f64 / INK));
            labels.push(label);
        }
        let images = Array2::from_shape_vec((labels.len(), PIXELS), pixels)?;
        Ok(Self { images, labels: labels.into() })
    }

    /// The number of images.
    pub fn len(&self) -> usize {
        self.labels.len()
    }

    /// The images of these numbers, in this order.
    pub fn pick(&self, ids: &[usize]) -> Self {
        Self { images: self.images.select(Axis(0), ids), labels: self.labels.select(Axis(0), ids) }
    }
}
