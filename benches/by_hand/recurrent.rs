//! i, GradBench's lstm and ode: sequential loops. The values of a step that the reverse pass needs
//! are saved in one buffer, and products over all steps are one matrix product.

// Tuples of gradients are types of one function each.
#![allow(clippy::type_complexity)]

use ad::ndarray::linalg::general_mat_mul;
use ad::ndarray::{Array1, Array2, Array3, s};

use super::wide::{self, Kernel, LANES, madd, total};
use super::{rows, slice};

/// Row i: a recurrent net.
pub fn recurrent(
    w: &Array2<f64>,
    u: &Array2<f64>,
    b: &Array1<f64>,
    inputs: &Array3<f64>,
) -> (f64, (Array2<f64>, Array2<f64>, Array1<f64>)) {
    let (steps, batch, features) = inputs.dim();
    let hidden = b.len();
    let inputs = inputs.view().into_shape_with_order((steps * batch, features)).expect("standard layout");
    // The states after each step, all in one array; before the first, zeros.
    let mut h = Array2::zeros(((steps + 1) * batch, hidden));
    h.slice_mut(s![batch.., ..]).assign(b);
    general_mat_mul(1.0, &inputs, u, 1.0, &mut h.slice_mut(s![batch.., ..]));
    for t in 0..steps {
        let (before, mut now) = h.view_mut().split_at(ad::ndarray::Axis(0), (t + 1) * batch);
        let mut now = now.slice_mut(s![..batch, ..]);
        general_mat_mul(1.0, &before.slice(s![t * batch.., ..]), w, 1.0, &mut now);
        wide::run(Tanh(now.as_slice_mut().expect("whole rows")));
    }
    let mut dz = Array2::zeros((steps * batch, hidden));
    let mut dh = h.slice(s![steps * batch.., ..]).to_owned();
    let value = 0.5 * dh.iter().map(|h| h * h).sum::<f64>();
    for t in (0..steps).rev() {
        let mut now = dz.slice_mut(s![t * batch..(t + 1) * batch, ..]);
        let h = h.slice(s![(t + 1) * batch..(t + 2) * batch, ..]);
        wide::run(Back {
            dz: now.as_slice_mut().expect("whole rows"),
            dh: dh.as_slice().expect("standard layout"),
            h: h.as_slice().expect("whole rows"),
        });
        general_mat_mul(1.0, &now, &w.t(), 0.0, &mut dh);
    }
    let (mut dw, mut du) = (Array2::zeros(w.raw_dim()), Array2::zeros(u.raw_dim()));
    general_mat_mul(1.0, &h.slice(s![..steps * batch, ..]).t(), &dz, 0.0, &mut dw);
    general_mat_mul(1.0, &inputs.t(), &dz, 0.0, &mut du);
    let mut db = Array1::zeros(hidden);
    for row in dz.rows() {
        db += &row;
    }
    (value, (dw, du, db))
}

struct Tanh<'a>(&'a mut [f64]);

impl Kernel for Tanh<'_> {
    type Out = ();
    #[inline(always)]
    fn run<const FMA: bool>(self) {
        for x in self.0 {
            *x = wide::tanh::<FMA>(*x);
        }
    }
}

/// The cotangent of tanh's argument, given that of its result.
struct Back<'a> {
    dz: &'a mut [f64],
    dh: &'a [f64],
    h: &'a [f64],
}

impl Kernel for Back<'_> {
    type Out = ();
    #[inline(always)]
    fn run<const FMA: bool>(self) {
        for ((dz, dh), h) in self.dz.iter_mut().zip(self.dh).zip(self.h) {
            *dz = dh * madd::<FMA>(-*h, *h, 1.0);
        }
    }
}

type Lanes = [f64; LANES];

/// lstm: rows of at most sixteen numbers fill the lanes.
pub fn lstm(
    main: &Array2<f64>,
    extra: &Array2<f64>,
    state: &Array2<f64>,
    sequence: &Array2<f64>,
) -> (f64, (Array2<f64>, Array2<f64>)) {
    let b = sequence.ncols();
    assert!(b <= LANES);
    let (value, (dmain, dextra)) = wide::run(Lstm {
        b,
        main: &padded(rows(main), b),
        extra: &padded(rows(extra), b),
        state: padded(rows(state), b),
        sequence: &padded(rows(sequence), b),
    });
    let whole = |lanes: Vec<Lanes>| lanes.iter().flat_map(|lanes| &lanes[..b]).copied().collect();
    let dmain = Array2::from_shape_vec(main.raw_dim(), whole(dmain)).expect("as many entries as main");
    let dextra = Array2::from_shape_vec(extra.raw_dim(), whole(dextra)).expect("as many entries as extra");
    (value, (dmain, dextra))
}

fn padded(x: &[f64], b: usize) -> Vec<Lanes> {
    let pad = |row: &[f64]| std::array::from_fn(|l| row.get(l).copied().unwrap_or(0.0));
    x.chunks_exact(b).map(pad).collect()
}

/// The values of a layer's step that the reverse pass needs.
#[derive(Clone, Copy)]
struct Saved {
    forget: Lanes,
    input: Lanes,
    output: Lanes,
    change: Lanes,
    /// tanh of the new cell.
    bent: Lanes,
    cell_before: Lanes,
    x: Lanes,
    hidden_before: Lanes,
}

struct Lstm<'a> {
    b: usize,
    /// Each layer has weights [forget, in, out, change], and biases of the same.
    main: &'a [Lanes],
    extra: &'a [Lanes],
    state: Vec<Lanes>,
    sequence: &'a [Lanes],
}

const NONE: Lanes = [0.0; LANES];

impl Kernel for Lstm<'_> {
    type Out = (f64, (Vec<Lanes>, Vec<Lanes>));
    #[inline(always)]
    fn run<const FMA: bool>(self) -> Self::Out {
        let Self { b, main, extra, mut state, sequence } = self;
        let (layers, steps) = (state.len() / 2, sequence.len() - 1);
        let empty = Saved {
            forget: NONE,
            input: NONE,
            output: NONE,
            change: NONE,
            bent: NONE,
            cell_before: NONE,
            x: NONE,
            hidden_before: NONE,
        };
        let mut saved = vec![empty; steps * layers];
        let mut tops = vec![NONE; steps];
        let (mut dmain, mut dextra) = (vec![NONE; main.len()], vec![NONE; extra.len()]);
        let scale = -1.0 / (b * steps) as f64;
        let mut value = 0.0;
        for t in 0..steps {
            let mut x = NONE;
            for l in 0..LANES {
                x[l] = sequence[t][l] * extra[0][l];
            }
            let layered = state.chunks_exact_mut(2).zip(main.chunks_exact(8)).zip(&mut saved[t * layers..]);
            for ((state, main), saved) in layered {
                let (hidden, cell) = state.split_at_mut(1);
                *saved = layer::<FMA>(main, &mut x, &mut hidden[0], &mut cell[0]);
            }
            let next = &sequence[t + 1];
            let (mut y, mut e) = (NONE, NONE);
            for l in 0..LANES {
                y[l] = madd::<FMA>(x[l], extra[1][l], extra[2][l]);
                e[l] = wide::exp::<FMA>(y[l]);
            }
            let norm = 2.0 + e[..b].iter().sum::<f64>();
            let (mut all, mut dot) = (0.0, 0.0);
            for l in 0..b {
                all += next[l];
                dot += next[l] * y[l];
            }
            value += dot - all * norm.ln();
            let ratio = all / norm;
            for l in 0..b {
                let dy = scale * (next[l] - ratio * e[l]);
                dextra[1][l] += dy * x[l];
                dextra[2][l] += dy;
                tops[t][l] = dy * extra[1][l];
            }
        }
        let (mut dhidden, mut dcell) = (vec![NONE; layers], vec![NONE; layers]);
        for t in (0..steps).rev() {
            let mut dx = tops[t];
            for k in (0..layers).rev() {
                let (main, dmain) = (&main[8 * k..][..8], &mut dmain[8 * k..][..8]);
                back::<FMA>(main, dmain, &saved[t * layers + k], &mut dx, &mut dhidden[k], &mut dcell[k]);
            }
            for l in 0..LANES {
                dextra[0][l] = madd::<FMA>(dx[l], sequence[t][l], dextra[0][l]);
            }
        }
        (value * scale, (dmain, dextra))
    }
}

#[inline(always)]
fn sigmoid<const FMA: bool>(x: f64) -> f64 {
    1.0 / (1.0 + wide::exp::<FMA>(-x))
}

#[inline(always)]
fn layer<const FMA: bool>(main: &[Lanes], x: &mut Lanes, hidden: &mut Lanes, cell: &mut Lanes) -> Saved {
    let main: &[Lanes; 8] = main.try_into().expect("a layer");
    let mut s = Saved {
        forget: NONE,
        input: NONE,
        output: NONE,
        change: NONE,
        bent: NONE,
        cell_before: *cell,
        x: *x,
        hidden_before: *hidden,
    };
    for l in 0..LANES {
        s.forget[l] = sigmoid::<FMA>(madd::<FMA>(x[l], main[0][l], main[4][l]));
        s.input[l] = sigmoid::<FMA>(madd::<FMA>(hidden[l], main[1][l], main[5][l]));
        s.output[l] = sigmoid::<FMA>(madd::<FMA>(x[l], main[2][l], main[6][l]));
        s.change[l] = wide::tanh::<FMA>(madd::<FMA>(hidden[l], main[3][l], main[7][l]));
        cell[l] = madd::<FMA>(cell[l], s.forget[l], s.input[l] * s.change[l]);
        s.bent[l] = wide::tanh::<FMA>(cell[l]);
        hidden[l] = s.output[l] * s.bent[l];
        x[l] = hidden[l];
    }
    s
}

#[inline(always)]
fn back<const FMA: bool>(
    main: &[Lanes],
    dmain: &mut [Lanes],
    s: &Saved,
    dx: &mut Lanes,
    dhidden: &mut Lanes,
    dcell: &mut Lanes,
) {
    let main: &[Lanes; 8] = main.try_into().expect("a layer");
    let dmain: &mut [Lanes; 8] = dmain.try_into().expect("a layer");
    for l in 0..LANES {
        let dh = dhidden[l] + dx[l];
        let dc = madd::<FMA>(dh * s.output[l], madd::<FMA>(-s.bent[l], s.bent[l], 1.0), dcell[l]);
        let forget = dc * s.cell_before[l] * s.forget[l] * (1.0 - s.forget[l]);
        let input = dc * s.change[l] * s.input[l] * (1.0 - s.input[l]);
        let output = dh * s.bent[l] * s.output[l] * (1.0 - s.output[l]);
        let change = dc * s.input[l] * madd::<FMA>(-s.change[l], s.change[l], 1.0);
        dcell[l] = dc * s.forget[l];
        dx[l] = madd::<FMA>(forget, main[0][l], output * main[2][l]);
        dhidden[l] = madd::<FMA>(input, main[1][l], change * main[3][l]);
        dmain[0][l] = madd::<FMA>(forget, s.x[l], dmain[0][l]);
        dmain[1][l] = madd::<FMA>(input, s.hidden_before[l], dmain[1][l]);
        dmain[2][l] = madd::<FMA>(output, s.x[l], dmain[2][l]);
        dmain[3][l] = madd::<FMA>(change, s.hidden_before[l], dmain[3][l]);
        dmain[4][l] += forget;
        dmain[5][l] += input;
        dmain[6][l] += output;
        dmain[7][l] += change;
    }
}

/// ode: the cotangents of the last state go back; the arguments of the four slopes of each step are
/// saved.
pub fn ode(x: &Array1<f64>, steps: usize, last: &Array1<f64>) -> (Array1<f64>, Array1<f64>) {
    struct Run<'a> {
        x: &'a [f64],
        steps: usize,
        last: &'a [f64],
    }
    impl Kernel for Run<'_> {
        type Out = (Vec<f64>, Vec<f64>);
        #[inline(always)]
        fn run<const FMA: bool>(self) -> Self::Out {
            let Self { x, steps, last } = self;
            let n = x.len();
            let h = 2.0 / steps as f64;
            let weights = [h / 6.0, h / 3.0, h / 3.0, h / 6.0];
            let ahead = [0.0, 0.5 * h, 0.5 * h, h];
            let mut args = vec![0.0; steps * 4 * n];
            let (mut y, mut slope) = (vec![0.0; n], vec![0.0; n]);
            for args in args.chunks_exact_mut(4 * n) {
                let mut next = y.clone();
                for (k, arg) in args.chunks_exact_mut(n).enumerate() {
                    for ((arg, y), slope) in arg.iter_mut().zip(&y).zip(&slope) {
                        *arg = if k == 0 { *y } else { madd::<FMA>(ahead[k], *slope, *y) };
                    }
                    slope[0] = x[0];
                    for ((slope, x), arg) in slope[1..].iter_mut().zip(&x[1..]).zip(&*arg) {
                        *slope = x * arg;
                    }
                    for (next, slope) in next.iter_mut().zip(&slope) {
                        *next = madd::<FMA>(weights[k], *slope, *next);
                    }
                }
                y = next;
            }
            let (mut dx, mut dy) = (vec![0.0; n], last.to_vec());
            let (mut darg, mut after) = (vec![0.0; n], vec![0.0; n]);
            for args in args.chunks_exact(4 * n).rev() {
                after.copy_from_slice(&dy);
                darg.fill(0.0);
                for (k, arg) in args.chunks_exact(n).enumerate().rev() {
                    // The cotangent of the slope: of the step's end, and of the next slope's
                    // argument.
                    let through = if k == 3 { 0.0 } else { ahead[k + 1] };
                    dx[0] += madd::<FMA>(weights[k], after[0], through * darg[0]);
                    for i in 1..n {
                        let dslope = madd::<FMA>(weights[k], after[i], through * darg[i]);
                        dx[i] = madd::<FMA>(dslope, arg[i - 1], dx[i]);
                        darg[i - 1] = dslope * x[i];
                    }
                    darg[n - 1] = 0.0;
                    for (dy, darg) in dy.iter_mut().zip(&darg) {
                        *dy += darg;
                    }
                }
            }
            (y, dx)
        }
    }
    let (y, dx) = wide::run(Run { x: slice(x), steps, last: slice(last) });
    (y.into(), dx.into())
}

/// llsq: sixteen points fill the lanes; on the way back their residuals are multiplied by their
/// powers.
pub fn llsq(x: &Array1<f64>, n: usize) -> (f64, Array1<f64>) {
    struct Run<'a>(&'a [f64], usize);
    impl Kernel for Run<'_> {
        type Out = (f64, Vec<f64>);
        #[inline(always)]
        fn run<const FMA: bool>(self) -> Self::Out {
            let Self(x, n) = self;
            let mut dx = vec![NONE; x.len()];
            let mut value = NONE;
            for start in (0..n).step_by(LANES) {
                let (mut t, mut r, mut live) = (NONE, NONE, NONE);
                // All lanes, so that none of them is in memory.
                for l in 0..LANES {
                    t[l] = if start + l < n { -1.0 + 2.0 * (start + l) as f64 / (n - 1) as f64 } else { 0.0 };
                    r[l] = if t[l] > 0.0 { 1.0 } else { 0.0 } - if t[l] < 0.0 { 1.0 } else { 0.0 };
                    live[l] = if start + l < n { 1.0 } else { 0.0 };
                }
                // From the last coefficient on: one operation for each.
                let mut sum = NONE;
                for x in x.iter().rev() {
                    for l in 0..LANES {
                        sum[l] = madd::<FMA>(sum[l], t[l], *x);
                    }
                }
                for l in 0..LANES {
                    r[l] -= sum[l];
                }
                for l in 0..LANES {
                    r[l] *= live[l];
                    value[l] = madd::<FMA>(r[l], r[l], value[l]);
                }
                for dx in &mut dx {
                    for l in 0..LANES {
                        dx[l] -= r[l];
                        r[l] *= t[l];
                    }
                }
            }
            (0.5 * total(value), dx.into_iter().map(total).collect())
        }
    }
    let (value, dx) = wide::run(Run(slice(x), n));
    (value, dx.into())
}

/// kmeans: sixteen points fill the lanes, each with its nearest centroid so far; that one alone has
/// a gradient.
pub fn kmeans(points: &Array2<f64>, centroids: &Array2<f64>) -> (f64, Array2<f64>) {
    struct Run<'a> {
        points: &'a [f64],
        centroids: &'a [f64],
        d: usize,
    }
    impl Kernel for Run<'_> {
        type Out = (f64, Vec<f64>);
        #[inline(always)]
        fn run<const FMA: bool>(self) -> Self::Out {
            let Self { points, centroids, d } = self;
            let mut gradient = vec![0.0; centroids.len()];
            let mut value = 0.0;
            let mut block = vec![NONE; d];
            for points in points.chunks(LANES * d) {
                for (l, point) in points.chunks_exact(d).enumerate() {
                    for (block, x) in block.iter_mut().zip(point) {
                        block[l] = *x;
                    }
                }
                let (mut nearest, mut which) = ([f64::INFINITY; LANES], NONE);
                for (c, centroid) in centroids.chunks_exact(d).enumerate() {
                    let mut distance = NONE;
                    for (x, c) in block.iter().zip(centroid) {
                        for l in 0..LANES {
                            let difference = x[l] - c;
                            distance[l] = madd::<FMA>(difference, difference, distance[l]);
                        }
                    }
                    for l in 0..LANES {
                        which[l] = if distance[l] < nearest[l] { c as f64 } else { which[l] };
                        nearest[l] = if distance[l] < nearest[l] { distance[l] } else { nearest[l] };
                    }
                }
                for (l, point) in points.chunks_exact(d).enumerate() {
                    value += nearest[l];
                    let at = which[l] as usize * d;
                    for ((g, x), c) in gradient[at..][..d].iter_mut().zip(point).zip(&centroids[at..]) {
                        *g += 2.0 * (c - x);
                    }
                }
            }
            (value, gradient)
        }
    }
    let (value, gradient) = wide::run(Run { points: rows(points), centroids: rows(centroids), d: points.ncols() });
    (value, Array2::from_shape_vec(centroids.raw_dim(), gradient).expect("as many entries as centroids"))
}
