//! Hands the name of the target, which cargo tells build scripts alone, to the crate.

fn main() {
    println!("cargo::rerun-if-changed=build.rs");
    let target = std::env::var("TARGET").expect("cargo names the target");
    println!("cargo::rustc-env=FLASHTWIN_TARGET={target}");
}
