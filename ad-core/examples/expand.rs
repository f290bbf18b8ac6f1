//! Prints the generated code for the annotated functions of a file, or for those of a name:
//! `cargo run -p ad-core --example expand -- file.rs [name]`.

#[path = "../tests/common/files.rs"]
mod files;

use std::path::Path;

use syn::{Item, ItemMod};

fn main() {
    let mut args = std::env::args().skip(1);
    let path = args.next().expect("a file");
    let only = args.next();
    for one in files::annotated(Path::new(&path), only.as_deref()) {
        let mut file: syn::File = syn::parse2(one.expanded()).expect("the expansion parses");
        if let Some(name) = &only {
            file.items = named(file.items, name);
        }
        println!("{}", prettyplease::unparse(&file));
    }
}

/// The functions with this name, and its derivatives, of the items and of the modules in them.
fn named(items: Vec<Item>, name: &str) -> Vec<Item> {
    let one = |item| match item {
        Item::Mod(ItemMod { content: Some((_, items)), .. }) => named(items, name),
        Item::Fn(f) => {
            let rest = f.sig.ident.to_string().strip_prefix(name).map(str::to_owned);
            let own = rest.is_some_and(|rest| rest.is_empty() || rest.starts_with('_'));
            if own { vec![Item::Fn(f)] } else { Vec::new() }
        }
        _ => Vec::new(),
    };
    items.into_iter().flat_map(one).collect()
}
