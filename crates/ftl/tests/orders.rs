//! An order of collection is one file and one line in the registry: nothing else in the product
//! names it.

use std::fs;
use std::path::{Path, PathBuf};

use flashtwin_ftl::orders::{NAMES, ORDERS};

fn crates() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("..")
}

fn sources(folder: &Path, found: &mut Vec<PathBuf>) {
    for entry in fs::read_dir(folder).expect("a folder").flatten() {
        let path = entry.path();
        if path.is_dir() {
            sources(&path, found);
        } else if path.extension().is_some_and(|e| e == "rs") {
            found.push(path);
        }
    }
}

/// Modules and types of the registry's lines.
fn registered() -> Vec<(String, String)> {
    let text = fs::read_to_string(crates().join("ftl/src/orders/mod.rs")).expect("the registry");
    let (_, lines) = text.split_once("\nregistry! {\n").expect("the registry");
    let (lines, _) = lines.split_once("\n}").expect("its end");
    let line = |line: &str| {
        let (module, order) = line.trim().trim_end_matches(',').split_once("::")?;
        Some((module.to_owned(), order.to_owned()))
    };
    lines.lines().filter_map(line).collect()
}

#[test]
fn the_product_names_an_order_in_its_file_and_in_the_registry_only() {
    let orders = registered();
    assert_eq!(orders.len(), NAMES.len(), "a line for each order");
    let mut files = Vec::new();
    for entry in fs::read_dir(crates()).expect("the crates").flatten() {
        let source = entry.path().join("src");
        if source.is_dir() {
            sources(&source, &mut files);
        }
    }
    assert!(files.len() > 100, "{} files of source", files.len());
    for path in files {
        if path.components().any(|part| part.as_os_str() == "orders") {
            continue;
        }
        let text = fs::read_to_string(&path).expect("source");
        let code = text.lines().filter(|line| !line.trim().starts_with("//"));
        for line in code {
            for (module, order) in &orders {
                let uses = [format!("Victim::{order}"), format!("{module}::{order}")];
                let named = uses.iter().any(|used| line.contains(used));
                assert!(!named, "{}: {line}", path.display());
            }
            for name in NAMES.iter().filter(|name| name.contains('-')) {
                assert!(!line.contains(name), "{}: {line}", path.display());
            }
        }
    }
}

#[test]
fn each_order_has_a_file_of_its_own_and_says_what_it_takes() {
    let folder = crates().join("ftl/src/orders");
    let files = fs::read_dir(&folder).expect("the folder").count();
    assert_eq!(
        files,
        NAMES.len() + 1,
        "a file for each order, and the registry"
    );
    for ((module, _), order) in registered().iter().zip(ORDERS) {
        let text = fs::read_to_string(folder.join(module).with_extension("rs")).expect("its file");
        assert!(text.contains(&format!("\"{}\"", order.name)), "{module}");
        assert!(!order.takes.is_empty() && !order.takes.ends_with('.'));
        for own in order.settings {
            assert!(own.name.starts_with("gc."), "{}", own.name);
        }
    }
}
