//! A panic of the DSL names the line of the caller, not one in this crate.

use std::cell::RefCell;
use std::panic::{self, UnwindSafe};

use ad_runtime::dsl;
use ad_runtime::kernel;
use ndarray::{Array1, Array2, array};

thread_local! {
    static PLACE: RefCell<Option<(String, u32)>> = const { RefCell::new(None) };
}

/// Takes a value that is not wanted.
fn ran<T>(_: T) {}

/// The line of this file at which `f` says that it panicked.
#[track_caller]
fn line_of_panic(f: impl FnOnce() + UnwindSafe) -> u32 {
    assert!(panic::catch_unwind(f).is_err(), "it should have panicked");
    let (file, line) = PLACE.take().expect("the hook has run in this thread");
    assert!(file.ends_with("panics.rs"), "the panic is said to be at {file}:{line}");
    line
}

// One test: the hook is one for the whole process.
#[test]
fn panics_name_the_caller() {
    panic::set_hook(Box::new(|info| {
        let place = info.location().map(|l| (l.file().to_string(), l.line()));
        PLACE.set(place);
    }));
    let none = Array1::<f64>::zeros(0);
    let cases: &[fn(&Array1<f64>)] = &[
        |x| ran(dsl::maximum(x)),
        |x| ran(dsl::minimum(x)),
        |x| ran(dsl::argmax(x)),
        |x| ran(dsl::argmin(x)),
        |_| ran(dsl::build1(2, Array1::<f64>::zeros)),
        |_| ran(dsl::build([usize::MAX, 2], |_| 0)),
        |_| ran(dsl::one_hot::<f64>(2, 2)),
        |x| ran(dsl::gather([1], x, |i| i)),
        |_| ran(dsl::scatter([0], &array![1.0], |i| i)),
        |x| ran(dsl::map2(x, &array![1.0], f64::max)),
        |x| ran(dsl::scan(x.clone(), 0..2, |_, i| Array1::zeros(i + 1))),
        |x| ran(dsl::scanl(x.clone(), 0..2, |_, i| Array1::zeros(i + 1))),
        |x| ran(dsl::scanr(x.clone(), 0..2, |_, i| Array1::zeros(i + 1))),
        |_| ran(kernel::assemble([2], vec![0.0])),
        |_| ran(kernel::dot(&[1.0], &[])),
        |_| kernel::gemm(&mut [0.0], kernel::Operand::Plain(&[]), kernel::Operand::Plain(&[]), [1, 1, 1], false),
        |_| kernel::gemv(&mut [0.0], &[], &[1.0], false),
        |_| kernel::column_sums(&mut [0.0; 2], &[0.0; 3], true),
    ];
    let lines: Vec<u32> = cases.iter().map(|case| line_of_panic(|| case(&array![]))).collect();
    let here = line_of_panic(|| ran(dsl::maximum(&Array2::<f64>::zeros((0, 3)))));
    let _ = panic::take_hook();
    // One case a line, in the order above.
    let first = lines[0];
    assert_eq!(lines, (first..).take(cases.len()).collect::<Vec<u32>>());
    assert!(here > first && none.is_empty());
}
