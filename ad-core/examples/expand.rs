//! Prints the generated code for the annotated functions of a file:
//! `cargo run -p ad-core --example expand -- file.rs [name]`.

#[path = "../tests/common/files.rs"]
mod files;

use std::path::Path;

fn main() {
    let mut args = std::env::args().skip(1);
    let path = args.next().expect("a file");
    let only = args.next();
    for one in files::annotated(Path::new(&path), only.as_deref()) {
        let file = syn::parse2(one.expanded()).expect("the expansion parses");
        println!("{}", prettyplease::unparse(&file));
    }
}
