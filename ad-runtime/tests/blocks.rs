//! Blocks of items: packing is a transposition, extrema of columns are those of rows.

use ad_runtime::kernel;

#[test]
fn a_block_is_whole_lanes_of_items_that_fit() {
    assert_eq!(kernel::block(0, 3), 1);
    assert_eq!(kernel::block(10, 3), 10);
    assert_eq!(kernel::block(1 << 20, 0), 128);
    assert_eq!(kernel::block(1 << 20, usize::MAX), 16);
    for width in 1..5_000 {
        let items = kernel::block(1 << 20, width);
        assert!(items.is_multiple_of(16) && (16..=128).contains(&items));
    }
}

#[test]
fn columns_are_rows_that_were_packed() {
    let odd = [f64::NAN, f64::INFINITY, f64::NEG_INFINITY, 0.0, -0.0, 1.5];
    let mut state = 3_u64;
    let mut below = |n: usize| {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (state >> 33) as usize % n
    };
    for round in 0..400 {
        let (items, width, groups) = (1 + below(39), below(12), 1 + below(3));
        let few = round % 2 == 0;
        let x: Vec<f64> =
            (0..items * groups * width).map(|_| if few { odd[below(6)] } else { below(200) as f64 - 100.0 }).collect();
        let mut columns = vec![7.0; x.len() + 3];
        kernel::packed(&mut columns, &x, items);
        let columns = &columns[..x.len()];
        for (i, row) in x.chunks_exact((groups * width).max(1)).enumerate() {
            for (j, x) in row.iter().enumerate() {
                assert_eq!(columns[j * items + i].to_bits(), x.to_bits());
            }
        }
        let (mut best, mut place) = (vec![7.0; groups * items], vec![7; groups * items]);
        let group = |i: usize, g: usize| &x[(i * groups + g) * width..][..width];
        let same = |a: f64, b: f64| a == b || (a.is_nan() && b.is_nan());
        kernel::largest_columns(&mut best, columns, items);
        kernel::places_of_largest(&mut place, columns, items);
        for (i, g) in (0..items).flat_map(|i| (0..groups).map(move |g| (i, g))) {
            assert!(same(best[g * items + i], kernel::largest(group(i, g))), "{:?}", group(i, g));
            assert_eq!(place[g * items + i], kernel::place_of_largest(group(i, g)), "{:?}", group(i, g));
        }
        kernel::smallest_columns(&mut best, columns, items);
        kernel::places_of_smallest(&mut place, columns, items);
        for (i, g) in (0..items).flat_map(|i| (0..groups).map(move |g| (i, g))) {
            assert!(same(best[g * items + i], kernel::smallest(group(i, g))), "{:?}", group(i, g));
            assert_eq!(place[g * items + i], kernel::place_of_smallest(group(i, g)), "{:?}", group(i, g));
        }
    }
}
