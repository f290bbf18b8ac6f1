//! What `AD_DUMP` writes: every stage of a function, from the source to the schedule of its loops.

use quote::quote;

#[test]
fn every_stage_is_written() {
    let folder = std::env::temp_dir().join(format!("ad-dump-{}", std::process::id()));
    let item = quote! {
        fn energy(x: &Array1<f64>) -> f64 {
            build1(x.len(), |i| x[i] * x[i]).sum()
        }
    };
    let plain = ad_core::expand_and_dump(quote!(grad, jvp), item.clone(), None).tokens.to_string();
    let dumped = ad_core::expand_and_dump(quote!(grad, jvp), item, Some(&folder)).tokens.to_string();
    assert_eq!(plain, dumped, "a record changes nothing");
    let text = std::fs::read_to_string(folder.join("energy.txt")).expect("the record");
    let _ = std::fs::remove_dir_all(&folder);
    let headings: Vec<&str> = text.lines().filter_map(|line| line.strip_prefix("==== ")).collect();
    let expected = [
        "source",
        "bulk operations",
        "primal",
        "value_and_grad, as differentiated",
        "value_and_grad, simplified",
        "value_and_grad: rules that fired",
        "energy_value_and_grad: schedule",
        "jvp, as differentiated",
        "jvp, simplified",
        "jvp: rules that fired",
        "energy_jvp: schedule",
    ];
    assert_eq!(headings, expected);
    assert!(text.contains("build1"), "the source has its builds:\n{text}");
}
