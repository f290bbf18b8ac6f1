//! Kernels on several threads: each is run in pools of 1, 2, 3 and 7 threads, and has to give the
//! same bits in all of them, and nearly the result of a plain loop.

use ad_runtime::Real;
use ad_runtime::kernel::{self, Indices, Operand};
use rayon::ThreadPoolBuilder;

fn numbers<F: Real>(n: usize, seed: usize) -> Vec<F> {
    let mut state = seed as u32;
    (0..n)
        .map(|_| {
            state = state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
            F::lit(f64::from(state >> 8) / f64::from(1 << 24) - 0.5)
        })
        .collect()
}

/// The result of `f`, which has to be the same with every number of threads.
fn on_threads<F: Real>(n: usize, f: impl Fn(&mut [F]) + Sync) -> Vec<F> {
    let mut first: Option<Vec<F>> = None;
    for threads in [1, 2, 3, 7] {
        let pool = ThreadPoolBuilder::new().num_threads(threads).build().expect("threads");
        let mut out = numbers(n, 77);
        pool.install(|| f(&mut out));
        let of = first.get_or_insert_with(|| out.clone());
        assert!(out.iter().zip(&*of).all(|(a, b)| a.as_f64().to_bits() == b.as_f64().to_bits()), "{threads} threads");
    }
    first.unwrap_or_default()
}

fn close<F: Real>(a: &[F], b: &[F]) {
    assert_eq!(a.len(), b.len());
    let tolerance = if size_of::<F>() == 4 { 1e-3 } else { 1e-10 };
    for (k, (a, b)) in a.iter().zip(b).enumerate() {
        let (a, b) = (a.as_f64(), b.as_f64());
        assert!((a - b).abs() <= tolerance * (1.0 + b.abs()), "element {k}: {a} and not {b}");
    }
}

fn element<F: Real>(x: &[F], transposed: bool, (i, j): (usize, usize), (rows, columns): (usize, usize)) -> F {
    if transposed { x[j * rows + i] } else { x[i * columns + j] }
}

fn product<F: Real>(start: &[F], a: (&[F], bool), b: (&[F], bool), [m, k, n]: [usize; 3]) -> Vec<F> {
    let mut c = start.to_vec();
    for i in 0..m {
        for j in 0..n {
            for p in 0..k {
                c[i * n + j] += element(a.0, a.1, (i, p), (m, k)) * element(b.0, b.1, (p, j), (k, n));
            }
        }
    }
    c
}

fn products<F: Real>() {
    // By matrixmultiply by rows and by columns, by our loops, and by vectors.
    let sizes =
        [[300, 60, 50], [50, 60, 300], [1300, 300, 5], [1, 900, 700], [900, 800, 1], [1100, 1, 600], [2000, 400, 2]];
    for sizes @ [m, k, n] in sizes {
        let (a, b) = (numbers::<F>(m * k, 1), numbers::<F>(k * n, 2));
        for (ta, tb) in [(false, false), (true, false), (false, true)] {
            let operand = |x, t| if t { Operand::Transposed(x) } else { Operand::Plain(x) };
            for accumulate in [false, true] {
                let c = on_threads(m * n, |c| kernel::gemm(c, operand(&a, ta), operand(&b, tb), sizes, accumulate));
                let start = if accumulate { numbers(m * n, 77) } else { vec![F::zero(); m * n] };
                close(&c, &product(&start, (&a, ta), (&b, tb), sizes));
            }
        }
    }
}

#[test]
fn products_of_matrices_and_vectors() {
    products::<f64>();
    products::<f32>();
}

#[test]
fn batches() {
    let (batch, sizes @ [m, k, n]) = (37, [16, 40, 30]);
    let (a, b) = (numbers::<f64>(batch * m * k, 3), numbers::<f64>(batch * k * n, 4));
    let c = on_threads(batch * m * n, |c| kernel::gemm_each(c, &a, &b, [false; 2], batch, sizes));
    let each = |p: usize| {
        let (a, b) = (&a[p * m * k..][..m * k], &b[p * k * n..][..k * n]);
        product(&vec![0.0; m * n], (a, false), (b, false), sizes)
    };
    close(&c, &(0..batch).flat_map(each).collect::<Vec<_>>());
}

/// Heads on a middle axis: `c[i, l, j] = sum of a[i, l, p] b[p, l, j]`, and with the batch
/// outermost in the result.
#[test]
fn strided_batches() {
    let (l, m, k, n) = (5, 90, 40, 70);
    let (a, b) = (numbers::<f64>(m * l * k, 5), numbers::<f64>(k * l * n, 6));
    let at =
        |i: usize, h: usize, j: usize| (0..k).map(|p| a[(i * l + h) * k + p] * b[(p * l + h) * n + j]).sum::<f64>();
    for outermost in [false, true] {
        let (c_batch, c_row) = if outermost { (m * n, n) } else { (n, l * n) };
        let indices =
            Indices { batch: [[l, c_batch, k, n]], rows: [m, c_row, l * k], summed: [k, 1, l * n], columns: [n, 1, 1] };
        let c = on_threads(l * m * n, |c| kernel::products(c, (&a, &[]), (&b, &[]), indices));
        let mut expected = vec![0.0; l * m * n];
        for h in 0..l {
            for i in 0..m {
                for j in 0..n {
                    expected[h * c_batch + i * c_row + j] = at(i, h, j);
                }
            }
        }
        close(&c, &expected);
    }
}

/// A convolution of images, the gradient of its weights, and the gradient of the images.
#[test]
fn windows() {
    let (images, o, c, p, h) = (6, 5, 3, 3, 24);
    let v = h - p + 1;
    let (w, x, d) = (
        numbers::<f64>(o * c * p * p, 7),
        numbers::<f64>(images * c * h * h, 8),
        numbers::<f64>(images * o * v * v, 9),
    );
    // The labels: image, o, i, j, c, p, q.
    let labels = [images, o, v, v, c, p, p];
    let ds = [
        (images, 0, [1, 0, 0, 0, 0, 0, 0]),
        (o, 0, [0, 1, 0, 0, 0, 0, 0]),
        (v, 0, [0, 0, 1, 0, 0, 0, 0]),
        (v, 0, [0, 0, 0, 1, 0, 0, 0]),
    ];
    let ws = [
        (o, 0, [0, 1, 0, 0, 0, 0, 0]),
        (c, 0, [0, 0, 0, 0, 1, 0, 0]),
        (p, 0, [0, 0, 0, 0, 0, 1, 0]),
        (p, 0, [0, 0, 0, 0, 0, 0, 1]),
    ];
    let xs = [
        (images, 0, [1, 0, 0, 0, 0, 0, 0]),
        (c, 0, [0, 0, 0, 0, 1, 0, 0]),
        (h, 0, [0, 0, 1, 0, 0, 1, 0]),
        (h, 0, [0, 0, 0, 1, 0, 0, 1]),
    ];
    let y = on_threads(d.len(), |y| kernel::windows((y, &ds), (&w, &ws), (&x, &xs), labels, false));
    let dw = on_threads(w.len(), |dw| kernel::windows((dw, &ws), (&d, &ds), (&x, &xs), labels, false));
    let dx = on_threads(x.len(), |dx| kernel::windows((dx, &xs), (&w, &ws), (&d, &ds), labels, true));
    let (mut ey, mut ew, mut ex) = (vec![0.0; d.len()], vec![0.0; w.len()], numbers::<f64>(x.len(), 77));
    for (n, f, i, j) in (0..images * o * v * v).map(|k| (k / (o * v * v), k / (v * v) % o, k / v % v, k % v)) {
        for (e, r, s) in (0..c * p * p).map(|k| (k / (p * p), k / p % p, k % p)) {
            let at = ((n * o + f) * v + i) * v + j;
            let (from, weight) = (((n * c + e) * h + i + r) * h + j + s, ((f * c + e) * p + r) * p + s);
            ey[at] += w[weight] * x[from];
            ew[weight] += d[at] * x[from];
            ex[from] += w[weight] * d[at];
        }
    }
    close(&y, &ey);
    close(&dw, &ew);
    close(&dx, &ex);
}

/// Items in chunks: rows of different widths, and sums of both kinds.
#[test]
fn chunks() {
    let (items, width) = (1003, 7);
    let x = numbers::<f64>(items * width, 10);
    let chunk = kernel::chunk(items, [1 << 12, width, width + 1]);
    assert!(chunk.is_multiple_of(16) && chunk < items / 2, "{chunk} items in a chunk");
    let all = on_threads(items * 3 + width + 1, |out| {
        let (rows, sums) = out.split_at_mut(items * 3);
        let (one, two) = rows.split_at_mut(items);
        let (columns, total) = sums.split_at_mut(width);
        sums_of(&x, chunk, (one, two), [columns, total]);
    });
    let start = numbers::<f64>(items * 3 + width + 1, 77);
    let mut expected = start.clone();
    for (i, row) in x.chunks(width).enumerate() {
        expected[i] = row.iter().sum();
        expected[items + 2 * i] = row[0];
        expected[items + 2 * i + 1] = i as f64;
        for j in 0..width {
            expected[3 * items + j] += row[j];
        }
        expected[3 * items + width] += row[1];
    }
    close(&all, &expected);
}

fn sums_of(x: &[f64], chunk: usize, (one, two): (&mut [f64], &mut [f64]), sums: [&mut [f64]; 2]) {
    let (items, width) = (one.len(), sums[0].len());
    let rows = ((one, 1), ((two, 2), ()));
    kernel::in_chunks(items, chunk, rows, sums, |first, count, ((one, _), ((two, _), ())), [columns, total]| {
        for i in 0..count {
            let row = &x[(first + i) * width..][..width];
            one[i] = row.iter().sum();
            two[2 * i] = row[0];
            two[2 * i + 1] = (first + i) as f64;
            for j in 0..width {
                columns[j] += row[j];
            }
            total[0] += row[1];
        }
    });
}
