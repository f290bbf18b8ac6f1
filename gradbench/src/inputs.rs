//! The inputs of the functions, and what is checked of them before a function is called.

use ad::prelude::*;
use serde::Deserialize;
use serde::de::DeserializeOwned;

use crate::programs::ba::{CAMERA, Observation};
use crate::programs::ht::Hand;

/// An input. Fields that it does not name are ignored.
pub trait Input: DeserializeOwned {
    /// What is wrong with sizes and indices.
    fn check(&self) -> Result<(), String> {
        Ok(())
    }
}

#[derive(Deserialize)]
#[serde(from = "Vec<f64>")]
pub struct Vector(pub Array1<f64>);

impl From<Vec<f64>> for Vector {
    fn from(x: Vec<f64>) -> Self {
        Self(x.into())
    }
}

#[derive(Deserialize)]
#[serde(try_from = "Vec<Vec<f64>>")]
pub struct Matrix(pub Array2<f64>);

impl TryFrom<Vec<Vec<f64>>> for Matrix {
    type Error = String;

    fn try_from(rows: Vec<Vec<f64>>) -> Result<Self, String> {
        let dim = (rows.len(), rows.first().map_or(0, Vec::len));
        if let Some(i) = rows.iter().position(|row| row.len() != dim.1) {
            return Err(format!("row {i} has {} numbers, but row 0 has {}", rows[i].len(), dim.1));
        }
        Array2::from_shape_vec(dim, rows.concat()).map(Self).map_err(|e| e.to_string())
    }
}

/// A size that follows from others.
fn equal<T: PartialEq + std::fmt::Debug>(what: &str, found: T, expected: T) -> Result<(), String> {
    if found == expected { Ok(()) } else { Err(format!("{what} has size {found:?}, but it must be {expected:?}")) }
}

fn at_least(what: &str, found: usize, least: usize) -> Result<(), String> {
    if found >= least { Ok(()) } else { Err(format!("{what} is {found}, but it must be at least {least}")) }
}

/// Indices below a limit.
fn below<'a>(what: &str, all: impl IntoIterator<Item = &'a usize>, limit: usize) -> Result<(), String> {
    match all.into_iter().find(|&&i| i >= limit) {
        Some(i) => Err(format!("{what} has the index {i}, but there are {limit}")),
        None => Ok(()),
    }
}

#[derive(Deserialize)]
pub struct Hello(pub f64);

impl Input for Hello {}

#[derive(Deserialize)]
pub struct Lse {
    pub x: Vector,
}

impl Input for Lse {}

#[derive(Deserialize)]
pub struct Llsq {
    pub x: Vector,
    pub n: usize,
}

impl Input for Llsq {
    fn check(&self) -> Result<(), String> {
        at_least("`n`", self.n, 2)
    }
}

#[derive(Deserialize)]
pub struct Det {
    #[serde(rename = "A")]
    pub a: Vec<f64>,
    pub ell: usize,
}

impl Input for Det {
    fn check(&self) -> Result<(), String> {
        at_least("`ell`", self.ell, 1)?;
        if self.ell.checked_mul(self.ell) == Some(self.a.len()) {
            return Ok(());
        }
        Err(format!("`A` has {} numbers, but `ell` is {}", self.a.len(), self.ell))
    }
}

#[derive(Deserialize)]
pub struct Ode {
    pub x: Vector,
    pub s: usize,
}

impl Input for Ode {
    fn check(&self) -> Result<(), String> {
        at_least("the length of `x`", self.x.0.len(), 1)?;
        at_least("`s`", self.s, 1)
    }
}

#[derive(Deserialize)]
pub struct Gmm {
    pub d: usize,
    pub k: usize,
    pub n: usize,
    pub x: Matrix,
    pub m: usize,
    pub gamma: f64,
    pub alpha: Vector,
    pub mu: Matrix,
    pub q: Matrix,
    pub l: Matrix,
}

impl Input for Gmm {
    fn check(&self) -> Result<(), String> {
        let (d, k) = (self.d, self.k);
        at_least("`d`", d, 1)?;
        at_least("`k`", k, 1)?;
        equal("`x`", self.x.0.dim(), (self.n, d))?;
        equal("`alpha`", self.alpha.0.len(), k)?;
        equal("`mu`", self.mu.0.dim(), (k, d))?;
        equal("`q`", self.q.0.dim(), (k, d))?;
        equal("`l`", self.l.0.dim(), (k, d * (d - 1) / 2))
    }
}

#[derive(Deserialize)]
pub struct Kmeans {
    pub points: Matrix,
    pub centroids: Matrix,
}

impl Input for Kmeans {
    fn check(&self) -> Result<(), String> {
        at_least("the number of centroids", self.centroids.0.nrows(), 1)?;
        equal("a row of `points`", self.points.0.ncols(), self.centroids.0.ncols())
    }
}

#[derive(Deserialize)]
pub struct Lstm {
    #[serde(rename = "main_params")]
    pub main: Matrix,
    #[serde(rename = "extra_params")]
    pub extra: Matrix,
    pub state: Matrix,
    pub sequence: Matrix,
}

impl Input for Lstm {
    fn check(&self) -> Result<(), String> {
        let (c, b) = self.sequence.0.dim();
        at_least("the number of rows of `sequence`", c, 2)?;
        let rows = self.state.0.nrows();
        if !rows.is_multiple_of(2) {
            return Err(format!("`state` has {rows} rows, but it must have two for each layer"));
        }
        equal("`state`", self.state.0.dim(), (rows, b))?;
        equal("`main_params`", self.main.0.dim(), (rows, 4 * b))?;
        equal("`extra_params`", self.extra.0.dim(), (3, b))
    }
}

#[derive(Deserialize)]
#[serde(try_from = "Repeated")]
pub struct Ba {
    pub unknowns: Vec<f64>,
    pub cameras: usize,
    pub points: usize,
    pub observations: Vec<Observation>,
}

/// One camera, one point, one weight and one feature, which all have.
#[derive(Deserialize)]
struct Repeated {
    n: usize,
    m: usize,
    p: usize,
    cam: [f64; CAMERA],
    x: [f64; 3],
    w: f64,
    feat: [f64; 2],
}

impl TryFrom<Repeated> for Ba {
    type Error = String;

    fn try_from(one: Repeated) -> Result<Self, String> {
        let Repeated { n, m, p, cam, x, w, feat } = one;
        for (name, size) in [("`n`", n), ("`m`", m), ("`p`", p)] {
            at_least(name, size, 1)?;
            // The largest of the suite has 42 million unknowns. What does not fit in memory would
            // end the process.
            if size >= 1 << 25 {
                return Err(format!("{name} is {size}, which is too large"));
            }
        }
        let unknowns = cam.repeat(n).into_iter().chain(x.repeat(m)).chain(vec![w; p]).collect();
        let observations = (0..p).map(|i| Observation { camera: i % n, point: i % m, feature: feat }).collect();
        Ok(Self { unknowns, cameras: n, points: m, observations })
    }
}

impl Input for Ba {}

#[derive(Deserialize)]
#[serde(try_from = "HandInput")]
pub struct Ht {
    pub theta: Vec<f64>,
    pub us: Vec<[f64; 2]>,
    pub hand: Hand,
    pub correspondences: Vec<usize>,
    pub points: Vec<[f64; 3]>,
}

#[derive(Deserialize)]
struct HandInput {
    theta: Vec<f64>,
    data: Data,
    us: Vec<[f64; 2]>,
}

#[derive(Deserialize)]
struct Data {
    model: Model,
    correspondences: Vec<usize>,
    points: Vec<[f64; 3]>,
}

#[derive(Deserialize)]
struct Model {
    bone_count: usize,
    parents: Vec<i32>,
    base_relatives: Vec<[[f64; 4]; 4]>,
    inverse_base_absolutes: Vec<[[f64; 4]; 4]>,
    base_positions: Vec<[f64; 4]>,
    weights: Matrix,
    triangles: Vec<[usize; 3]>,
    is_mirrored: bool,
}

impl TryFrom<HandInput> for Ht {
    type Error = String;

    fn try_from(input: HandInput) -> Result<Self, String> {
        let HandInput { theta, data: Data { model, correspondences, points }, us } = input;
        let bones = model.bone_count;
        // A wrist and four bones of each finger.
        at_least("`bone_count`", bones, 21)?;
        equal("`theta`", theta.len(), 26)?;
        equal("`parents`", model.parents.len(), bones)?;
        equal("`base_relatives`", model.base_relatives.len(), bones)?;
        equal("`inverse_base_absolutes`", model.inverse_base_absolutes.len(), bones)?;
        let skin = model.base_positions.len();
        equal("`weights`", model.weights.0.dim(), (skin, bones))?;
        if let Some((b, parent)) = model.parents.iter().enumerate().find(|&(b, &p)| p >= 0 && p as usize >= b) {
            return Err(format!("bone {b} has the parent {parent}, which does not come before it"));
        }
        below("`triangles`", model.triangles.as_flattened(), skin)?;
        equal("`correspondences`", correspondences.len(), points.len())?;
        if us.is_empty() {
            below("`correspondences`", &correspondences, skin)?;
        } else {
            equal("`us`", us.len(), points.len())?;
            below("`correspondences`", &correspondences, model.triangles.len())?;
        }
        let hand = Hand {
            parents: model.parents,
            base_relatives: model.base_relatives,
            inverse_base_absolutes: model.inverse_base_absolutes,
            base_positions: model.base_positions,
            weights: model.weights.0,
            triangles: model.triangles,
            is_mirrored: model.is_mirrored,
        };
        Ok(Self { theta, us, hand, correspondences, points })
    }
}

impl Input for Ht {}

#[derive(Deserialize)]
pub struct Particle {
    pub w: f64,
}

impl Input for Particle {}

#[derive(Deserialize)]
pub struct Saddle {
    pub start: [f64; 2],
}

impl Input for Saddle {}
