//! Every file of the corpus through its target, without libFuzzer.

use std::path::{Path, PathBuf};

use flashtwin_fuzz::{jobs, nbd, snapshot, spec, stored, trace};

/// Files of a folder, named from the crate's; the catalogue's has folders of Python's beside them.
fn files(folder: &str) -> Vec<PathBuf> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join(folder);
    let files = std::fs::read_dir(&folder).expect("a corpus is a folder");
    let mut files: Vec<PathBuf> = files.map(|file| file.expect("readable").path()).collect();
    files.retain(|path| path.is_file());
    files.sort();
    assert!(files.len() > 4, "{} is as good as empty", folder.display());
    files
}

/// Replays a folder; at least so many of its files have to be right, or it tests refusals alone.
fn replay(folder: &str, check: fn(&[u8]) -> bool, right: usize) {
    let accepted = files(folder).into_iter().filter(|file| {
        println!("{}", file.display());
        check(&std::fs::read(file).expect("readable"))
    });
    let accepted = accepted.count();
    assert!(accepted >= right, "{accepted} of {folder} are right");
}

#[test]
fn specs_of_the_corpus() {
    replay("corpus/spec", spec::check, 5);
}

#[test]
fn specs_of_the_catalogue_and_of_the_designs() {
    replay("../python/flashtwin/catalogue/drives", spec::check, 1);
    replay("../crates/drive/tests/designs", spec::check, 6);
}

#[test]
fn snapshots_of_the_corpus() {
    replay("corpus/snapshot", snapshot::check, 4);
}

#[test]
fn jobs_of_the_corpus() {
    replay("corpus/jobs", jobs::check, 6);
}

#[test]
fn traces_of_the_corpus() {
    replay("corpus/trace", trace::check, 11);
}

#[test]
fn clients_of_the_corpus() {
    replay("corpus/nbd", nbd::check, 5);
}

#[test]
fn data_directories_of_the_corpus() {
    replay("corpus/stored", stored::check, 3);
}

#[test]
fn mutations_of_a_spec_are_specs_still() {
    let seed = b"extends = \"small\"\nschema = 1\nid = \"x\"\nname = \"X\"".to_vec();
    let mut text = seed.clone();
    let mut different = 0;
    for number in 0..300 {
        if let Some(mutated) = spec::mutate(&text, number) {
            different += u32::from(mutated != text);
            text = mutated;
            spec::check(&text);
        }
        if text.len() > 600 {
            text.clone_from(&seed);
        }
    }
    assert!(
        different > 200,
        "{different} of 300 mutations change anything"
    );
}

#[test]
fn mutations_of_jobs_are_jobs_still() {
    let seed = br#"[{"name": "a", "rw": "randrw", "block_bytes": 4096, "size": 65536, "fio": {}}]"#
        .to_vec();
    let mut text = seed.clone();
    let (mut different, mut right) = (0, 0);
    for number in 0..400 {
        if let Some(mutated) = jobs::mutate(&text, number) {
            different += u32::from(mutated != text);
            text = mutated;
            right += u32::from(jobs::check(&text));
        }
        if number % 3 == 0 {
            text.clone_from(&seed);
        }
    }
    assert!(
        different > 200 && right > 80,
        "{different} of 400 mutations change anything, {right} are right"
    );
}
