//! One door to the spec loader for all spec tests: a small drive that is right, and `check`.

pub mod asks;
pub mod loops;

use std::path::PathBuf;
use std::sync::atomic::{AtomicU32, Ordering};

use flashtwin_drive::spec::{self, Spec};

/// A small drive: 41.25 GiB of TLC, 4 GB of cache. Every key is there once.
pub const BASE: &str = r#"
schema = 1
id = "base"
name = "Base"
origin = "prior"
source = "made up for tests"

[drive]
capacity = "40 GB"

[nand]
channels = 2
dies_per_channel = 1
planes = 4
blocks_per_plane = 160
wordlines_per_block = 704
page_size = "16 KiB"
cell = "tlc"
bus_rate = "400 MT/s"
cache_program = false

[nand.slc]
tr = "35 us"
tprog = "404.8 us"
tbers = "5 ms"
endurance = 40000

[nand.native]
tr = ["45 us", "60 us", "75 us"]
tprog = "4.3 ms"
tbers = "10 ms"
endurance = 1500

[ftl]
mapping_unit = "4 KiB"
system = "500 MB"

[map]
residency = "dram"

[slc_cache]
mode = "dynamic"
size = "4 GB"
static_size = 0
when_full = "staged"
rearm = "400 MB"

[fold]
idle_after = "30 s"
reserve = "2 GB"
pace = 1.5
path = "controller"

[gc]
policy = "greedy"
low = 4
high = 6
reserve = 3

[controller]
command_time = "6 us"
write_buffer = "1536 KiB"
acknowledge = "write-back"
gather = true
gather_time = "100 ms"
overlap = true
read_priority = true
read_ahead_streams = 4
read_ahead = "512 KiB"

[link]
rate = "545 MB/s"
queue_depth = 32

[firmware.slc-off]
description = "No cache at all."
slc_cache.mode = "none"
slc_cache.size = 0
slc_cache.static_size = 0
slc_cache.when_full = "direct"
fold.idle_after = "never"
fold.reserve = 0
fold.pace = 0
"#;

/// The base with texts replaced, the first place of each.
pub fn edit(changes: &[(&str, &str)]) -> String {
    changes.iter().fold(BASE.to_owned(), |text, (old, new)| {
        assert!(text.contains(old), "the base has no {old}");
        text.replacen(old, new, 1)
    })
}

/// Writes `text` as NAME.toml into a directory of its own and returns the path.
pub fn write(name: &str, text: &str) -> String {
    static COUNT: AtomicU32 = AtomicU32::new(0);
    let count = COUNT.fetch_add(1, Ordering::Relaxed);
    let dir = PathBuf::from(env!("CARGO_TARGET_TMPDIR"))
        .join(format!("spec-{}-{count}", std::process::id()));
    std::fs::create_dir_all(&dir).unwrap();
    let path = dir.join(format!("{name}.toml"));
    std::fs::write(&path, text).unwrap();
    path.display().to_string()
}

/// Writes `text` as NAME.toml beside another file.
pub fn write_beside(path: &str, name: &str, text: &str) -> String {
    let path = PathBuf::from(path).with_file_name(format!("{name}.toml"));
    std::fs::write(&path, text).unwrap();
    path.display().to_string()
}

/// Loads a spec that has to be right.
pub fn load(text: &str) -> Spec {
    load_with(text, &[], &[])
}

/// The same with profiles and sets.
pub fn load_with(text: &str, firmware: &[&str], sets: &[&str]) -> Spec {
    let owned = |list: &[&str]| {
        list.iter()
            .map(|item| (*item).to_owned())
            .collect::<Vec<_>>()
    };
    spec::load(&write("base", text), &[], &owned(firmware), &owned(sets)).unwrap_or_else(|errors| {
        let lines: Vec<String> = errors.iter().map(ToString::to_string).collect();
        panic!("{}", lines.join("\n"))
    })
}

/// A mistake that has to be told: a text that stands in its line, the key, a part of the message, a
/// part of the hint. None where the mistake has no line.
pub type Expected<'a> = (Option<&'a str>, &'a str, &'a str, &'a str);

/// Loads `text` and compares every error, in order. No expectation means that it has to load.
pub fn check(text: &str, expected: &[Expected<'_>]) {
    let told = spec::load(&write("case", text), &[], &[], &[])
        .err()
        .unwrap_or_default();
    let lines: Vec<String> = told
        .iter()
        .map(|error| format!("{error}\n  hint: {}", error.hint))
        .collect();
    let lines = lines.join("\n");
    assert_eq!(told.len(), expected.len(), "told:\n{lines}");
    for (error, (at, key, message, hint)) in told.iter().zip(expected) {
        let found = error
            .line
            .map(|line| text.lines().nth(line - 1).unwrap_or(""));
        match (at, found) {
            (Some(at), Some(found)) => {
                assert!(found.contains(at), "{at} is not in {found}: {lines}")
            }
            (at, found) => assert_eq!(at.is_some(), found.is_some(), "a line for {key}: {lines}"),
        }
        assert_eq!(error.key, *key, "told:\n{lines}");
        assert!(
            error.message.contains(message),
            "no `{message}` in:\n{lines}"
        );
        assert!(error.hint.contains(hint), "no `{hint}` in:\n{lines}");
        assert!(
            !error.message.ends_with('.') && !error.hint.is_empty(),
            "{lines}"
        );
    }
}
