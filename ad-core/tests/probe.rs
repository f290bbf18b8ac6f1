use quote::ToTokens;
#[test]
fn probe() {
    let Ok(dir) = std::env::var("PROBE") else { return };
    let mut files: Vec<_> = std::fs::read_dir(dir).unwrap().map(|e| e.unwrap().path()).collect();
    files.sort();
    for path in files {
        let file = syn::parse_file(&std::fs::read_to_string(&path).unwrap()).unwrap();
        for item in file.items {
            let syn::Item::Fn(mut f) = item else { continue };
            let Some(k) = f.attrs.iter().position(|a| a.path().is_ident("differentiate")) else { continue };
            let attr = f.attrs.remove(k);
            let args = match &attr.meta {
                syn::Meta::List(l) => l.tokens.clone(),
                _ => Default::default(),
            };
            let start = std::time::Instant::now();
            match ad_core::front::parse(args, f.to_token_stream()) {
                Ok(p) => {
                    println!(
                        "ok   {} ({} terms, {} checks) {:?}",
                        f.sig.ident,
                        p.graph.len(),
                        p.checks.len(),
                        start.elapsed()
                    );
                    for c in &p.checks {
                        println!(
                            "       {:?} {} in `{}` {:?}",
                            c.phase,
                            c.message,
                            p.places.get(c.loc).unwrap().text,
                            c.shown.iter().map(|s| &s.0).collect::<Vec<_>>()
                        );
                    }
                }
                Err(e) => {
                    println!("FAIL {}", f.sig.ident);
                    for d in e.diags.list() {
                        println!("       {:?}: {}", d.range.first, d.text());
                    }
                }
            }
        }
    }
}
