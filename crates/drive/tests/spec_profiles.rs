//! Firmware profiles and sets: what they may hold, what they change, and what is said of bad ones.

use crate::common::{BASE, check, load, load_with, write};
use flashtwin_drive::spec::{self, SpecError};

#[test]
fn a_profile_holds_policy_and_nothing_else() {
    let profile = |lines: &str| format!("{BASE}\n[firmware.x]\n{lines}\n");
    check(
        &profile("nand.planes = 2"),
        &[(
            Some("nand.planes = 2"),
            "firmware.x.nand.planes",
            "not a policy key",
            "slc_cache.*",
        )],
    );
    check(
        &profile("slc_cache.sise = 0"),
        &[(
            Some("sise"),
            "firmware.x.slc_cache.sise",
            "unknown key",
            "`slc_cache.size`",
        )],
    );
    check(
        &profile("controller.acknowledge = \"write-through\"\ncontroller.gather = true"),
        &[(
            Some("controller.gather = true"),
            "controller.gather",
            "(with firmware `x`)",
            "gather = false",
        )],
    );
    check(
        &profile("\"controller.gather\" = false\ndescription = \"quoted keys are keys\""),
        &[],
    );
    check(
        &profile("gc.low = 4\n\"gc.low\" = 5"),
        &[(
            Some("\"gc.low\" = 5"),
            "firmware.x.gc.low",
            "given twice",
            "keep one",
        )],
    );
    let undefined = spec::load(&write("p", BASE), &[], &["slc-of".to_owned()], &[]).unwrap_err();
    assert_eq!(
        undefined[0].to_string(),
        "--firmware: there is no firmware profile `slc-of`"
    );
    assert!(
        undefined[0].hint.contains("base has slc-off"),
        "{}",
        undefined[0].hint
    );
}

#[test]
fn a_profile_changes_what_it_names() {
    let (off, on) = (load(BASE), load_with(BASE, &["slc-off"], &[]));
    let differ: Vec<&str> = off
        .values
        .iter()
        .zip(&on.values)
        .filter(|(a, b)| a.text != b.text)
        .map(|(a, _)| a.key)
        .collect();
    let named = [
        "slc_cache.mode",
        "slc_cache.size",
        "slc_cache.when_full",
        "fold.idle_after",
        "fold.reserve",
        "fold.pace",
    ];
    assert_eq!(differ, named);
}

#[test]
fn sets_come_last_and_say_so() {
    let sets = [
        "slc_cache.size=5 GB",
        "nand.native.tr=50 us,60us, 70 us",
        "link.queue_depth=8",
    ];
    let spec = load_with(BASE, &[], &sets);
    let value = |key: &str| spec.values.iter().find(|value| value.key == key).unwrap();
    assert_eq!(value("slc_cache.size").text, "5 GB");
    assert_eq!(value("slc_cache.size").unit, "GB");
    assert_eq!(value("slc_cache.size").origin, "user");
    assert_eq!(value("slc_cache.size").source, "--set slc_cache.size=5 GB");
    assert_eq!(value("nand.native.tr").text, "50 us, 60 us, 70 us");
    assert_eq!(spec.config.link.queue_depth, 8);
    assert_eq!(value("gc.policy").origin, "prior");

    let wrong = [
        "slc_cache.sise=5 GB",
        "planes",
        "gc.low=2 GB",
        "firmware=x",
        "gc.high=2",
    ];
    let sets: Vec<String> = wrong.iter().map(|set| (*set).to_owned()).collect();
    let errors = spec::load(&write("s", BASE), &[], &[], &sets).unwrap_err();
    let told: Vec<String> = errors
        .iter()
        .map(|error| format!("{error}; {}", error.hint))
        .collect();
    assert!(
        told[0].starts_with("--set: slc_cache.sise: unknown key; did you mean `slc_cache.size`")
    );
    assert!(
        told[1].starts_with("--set: `planes` is not key=value"),
        "{told:#?}"
    );
    assert!(
        told[2].starts_with("--set: gc.low: text where a whole number"),
        "{told:#?}"
    );
    assert!(
        told[3].ends_with("a profile is switched on with --firmware NAME"),
        "{told:#?}"
    );
    assert!(
        told[4].starts_with("--set: gc.high: collection ends at 2"),
        "{told:#?}"
    );
    assert_eq!(told.len(), 5);
}

#[test]
fn an_unknown_drive_and_a_missing_file_are_told() {
    let told = |target: &str| -> SpecError {
        let dir = std::path::PathBuf::from(write("known", BASE))
            .parent()
            .unwrap()
            .to_owned();
        spec::load(target, &[dir], &[], &[]).unwrap_err().remove(0)
    };
    assert_eq!(
        told("knwon").to_string(),
        "knwon: there is no drive `knwon`"
    );
    assert_eq!(told("knwon").hint, "did you mean `known`?");
    assert!(
        told("no/such.toml")
            .message
            .contains("there is no file `no/such.toml`")
    );
}

/// Sets that turn a mechanism off, and what else they turn off in the base.
const OFF: [(&str, &[&str]); 6] = [
    (
        "slc_cache.mode=none",
        &[
            "slc_cache.size=0",
            "slc_cache.when_full=direct",
            "fold.idle_after=never",
            "fold.reserve=0",
            "fold.pace=0",
        ],
    ),
    (
        "controller.acknowledge=write-through",
        &["controller.gather=false"],
    ),
    (
        "controller.read_ahead=0",
        &["controller.read_ahead_streams=0"],
    ),
    (
        "controller.read_priority=false",
        &["nand.suspend.program=false", "nand.suspend.erase=false"],
    ),
    ("errors.correctable=0", &["errors.rebuild=false"]),
    ("ftl.checkpoint=0", &["ftl.trim_journal=false"]),
];

#[test]
fn what_depends_on_a_mechanism_is_turned_off_with_it() {
    let on = [
        "ftl.trim_journal=true",
        "ftl.checkpoint=64 GB",
        "ftl.system=1 GB",
        "drive.capacity=12 GB",
        "errors.correctable=72",
        "ftl.parity=stripe",
        "errors.rebuild=true",
        "nand.suspend.program=true",
        "nand.suspend.erase=true",
    ];
    // The mechanisms are on in a file, and one is turned off by a later one, a profile or a set.
    let base = load_with(BASE, &[], &on).to_toml().to_owned();
    for (switch, dependents) in OFF {
        let typed = load_with(&base, &[], &[switch]);
        let all: Vec<&str> = [&[switch], dependents].concat();
        assert_eq!(typed.hash, load_with(&base, &[], &all).hash, "{switch}");
        let [note] = &typed.notes[..] else {
            panic!("{switch}: {:?}", typed.notes);
        };
        let (key, value) = switch.split_once('=').expect("a set");
        assert!(
            note.starts_with(&format!("{key} = {value} also turns off ")),
            "{note}"
        );
        for set in dependents {
            let name = set.split_once('=').expect("a set").0;
            assert!(note.contains(name), "{note}");
            let value = typed.values.iter().find(|value| value.key == name);
            let source = &value.expect("a key").source;
            assert!(
                source.starts_with(&format!("off with {key} = ")),
                "{source}"
            );
        }
        assert!(load_with(&base, &[], &all).notes.is_empty());
    }
}

/// A SATA link has none of what only NVMe has: many deep queues, handles, the host's memory.
#[test]
fn what_only_nvme_has_is_turned_off_with_it() {
    let nvme = [
        "link.kind=nvme",
        "link.queues=8",
        "link.queue_depth=1024",
        "map.residency=hmb",
        "slc_cache.mode=none",
        "fdp.handles=3",
        "fdp.isolation=persistent",
        "gc.low=9",
        "gc.high=9",
    ];
    let nvme = [&nvme[..], &["drive.capacity=20 GB"]].concat();
    let base = load_with(BASE, &[], &nvme).to_toml().to_owned();
    let sata = load_with(&base, &[], &["link.kind=sata"]);
    let [link, handles] = &sata.notes[..] else {
        panic!("{:?}", sata.notes);
    };
    assert_eq!(
        link,
        "link.kind = sata also turns off fdp.handles (3), link.queues (8), link.queue_depth \
         (1024), map.residency (hmb)"
    );
    assert_eq!(
        handles,
        "fdp.handles = 1 also turns off fdp.isolation (persistent)"
    );
    let shallow = load_with(&base, &[], &["link.queue_depth=16", "link.queues=1"]);
    let shallow = load_with(shallow.to_toml(), &[], &["link.kind=sata"]);
    assert!(
        !shallow.notes[0].contains("queue_depth"),
        "{:?}",
        shallow.notes
    );
    let typed = ["link.kind=sata".to_owned(), "link.queues=2".to_owned()];
    let errors = spec::load(&write("p", &base), &[], &[], &typed).unwrap_err();
    assert_eq!(errors[0].key, "link.queues");
}

/// Four classes more are four open superblocks more: the marks of collection follow, unless the
/// same layer gives them.
#[test]
fn a_separation_raises_the_free_superblocks_that_its_streams_need() {
    let idle = ["gc.idle_after=1 s", "gc.idle_target=7"];
    let base = load_with(BASE, &[], &idle).to_toml().to_owned();
    let sepbit = load_with(&base, &[], &["gc.separation=sepbit"]);
    assert_eq!(
        sepbit.notes,
        [
            "gc.separation = sepbit also raises gc.low from 4 to 9, gc.high from 6 to 9, \
             gc.idle_target from 7 to 10"
        ]
    );
    let low = sepbit.values.iter().find(|value| value.key == "gc.low");
    let low = low.expect("a key");
    assert_eq!(low.source, "needed by gc.separation = sepbit");
    let enough = ["gc.low=10", "gc.high=12", "gc.idle_target=20"];
    let base = load_with(&base, &[], &enough).to_toml().to_owned();
    let plenty = load_with(&base, &[], &["gc.separation=sepbit"]);
    assert!(plenty.notes.is_empty(), "{:?}", plenty.notes);
    let typed = ["gc.separation=sepbit".to_owned(), "gc.low=8".to_owned()];
    let errors = spec::load(&write("p", &base), &[], &[], &typed).unwrap_err();
    assert_eq!(errors[0].key, "gc.low");
}

/// Sets on a drive, made of the base by others, and the one note that says what they change.
const NEEDED: &[(&[&str], &str, &str)] = &[
    (
        &[],
        "nand.cell=mlc",
        "nand.cell = mlc also lowers drive.capacity from 40 GB to 26666666496 B, ftl.system from \
         500 MB to 333333333 B, fold.reserve from 2 GB to 1333333333 B",
    ),
    (
        &["link.rate=545 MB/s"],
        "link.sata_rate=1.5 Gb/s",
        "link.sata_rate = 1.5 Gb/s also sets link.rate from 545 MB/s to 0",
    ),
    (
        &[
            "slc_cache.mode=static",
            "slc_cache.static_size=1 GB",
            "drive.capacity=30 GB",
        ],
        "slc_cache.mode=dynamic",
        "slc_cache.mode = dynamic also raises slc_cache.size from 0 to 1 GB",
    ),
    (
        &["slc_cache.rearm=0", "drive.capacity=30 GB"],
        "slc_cache.mode=hybrid",
        "slc_cache.mode = hybrid also raises slc_cache.static_size from 0 to 88 MiB",
    ),
    (
        &[],
        "slc_cache.size=200 MB",
        "slc_cache.size = 200 MB also lowers slc_cache.rearm from 400 MB to 176 MiB",
    ),
    (
        &["slc_cache.when_full=direct", "fold.pace=0.2"],
        "slc_cache.when_full=staged",
        "slc_cache.when_full = staged also raises fold.pace from 0.2 to 1",
    ),
    (
        &[],
        "wear.read_only_at=spares-gone",
        "wear.read_only_at = spares-gone also raises wear.spares from 0 to 1",
    ),
    (
        &["controller.read_priority=false"],
        "nand.suspend.erase=true",
        "nand.suspend.erase = true also sets controller.read_priority from false to true",
    ),
    (
        &["fold.path=copyback", "drive.capacity=15 GB"],
        "ftl.parity=stripe",
        "ftl.parity = stripe also turns off fold.path (copyback)",
    ),
];

#[test]
fn what_a_mechanism_needs_is_changed_with_a_note() {
    for (drive, set, note) in NEEDED {
        let base = load_with(BASE, &[], drive).to_toml().to_owned();
        let changed = load_with(&base, &[], &[set]);
        let told = changed.notes.iter().find(|told| told == note);
        assert!(told.is_some(), "{set}: {:?}", changed.notes);
        // A file that extends the drive is changed in the same way as a set.
        let (key, value) = set.split_once('=').expect("a set");
        let value = match value.parse::<bool>() {
            Ok(flag) => flag.to_string(),
            Err(_) => format!("\"{value}\""),
        };
        let child = format!(
            "schema = 1\nid = \"child\"\nname = \"Child\"\nextends = \"base\"\norigin = \"prior\"\n\
             source = \"made up for tests\"\n{key} = {value}\n"
        );
        let child = spec::load_text(&child, &[("base", &base)], &[], &[], None);
        let child = child.unwrap_or_else(|errors| panic!("{set}: {errors:?}"));
        assert_eq!(child.hash, changed.hash, "{set}");
        assert_eq!(child.notes, changed.notes, "{set}");
    }
}

/// Times by page type are those of another cell: one mean time instead.
#[test]
fn another_cell_takes_the_mean_of_the_times_by_page_type() {
    let slc = load_with(BASE, &[], &["nand.cell=slc"]);
    let text = |key: &str| {
        &slc.values
            .iter()
            .find(|value| value.key == key)
            .unwrap()
            .text
    };
    assert_eq!(text("nand.native.tr"), "60 us");
    assert_eq!(text("slc_cache.mode"), "none");
    let told = [
        "nand.native.tr from 45 us, 60 us, 75 us to 60 us",
        "slc_cache.mode (dynamic)",
    ];
    for part in told {
        assert!(slc.notes.join("\n").contains(part), "{:?}", slc.notes);
    }
    let page_by_page = load_with(BASE, &[], &["nand.native.tprog=1 ms, 2 ms, 6 ms"]);
    let qlc = load_with(page_by_page.to_toml(), &[], &["nand.cell=qlc"]);
    let text = |key: &str| {
        &qlc.values
            .iter()
            .find(|value| value.key == key)
            .unwrap()
            .text
    };
    assert_eq!(text("nand.native.tprog"), "3 ms, 3 ms, 3 ms, 3 ms");
    assert_eq!(text("drive.capacity"), "40 GB");
}

/// Values that do nothing for now are no mistakes: the drive is the one without them, with a note.
#[test]
fn what_waits_for_another_key_changes_nothing_but_a_note() {
    let table: &[(&[&str], &str, &str)] = &[
        (
            &["slc_cache.mode=none"],
            "slc_cache.when_full=mixed",
            "there is no cache to fill",
        ),
        (
            &[],
            "ftl.paired_pages=lost",
            "the part programs all pages of a wordline at once",
        ),
        (
            &[],
            "fdp.isolation=persistent",
            "there are no handles to isolate",
        ),
        (
            &[],
            "ftl.trim_journal=true",
            "each checkpoint ends the journal",
        ),
        (&[], "errors.rebuild=true", "there are no bit errors"),
        (
            &["errors.correctable=72"],
            "errors.rebuild=true",
            "there is no parity",
        ),
    ];
    for (drive, set, why) in table {
        let base = load_with(BASE, &[], drive).to_toml().to_owned();
        let (without, with) = (load_with(&base, &[], &[]), load_with(&base, &[], &[set]));
        assert_eq!(with.config, without.config, "{set}");
        assert!(without.notes.is_empty(), "{:?}", without.notes);
        let told = format!("{} waits: {why}", set.replace('=', " = "));
        assert!(
            with.notes.iter().any(|note| note.starts_with(&told)),
            "{:?}",
            with.notes
        );
        assert_ne!(with.hash, without.hash);
    }
}

#[test]
fn what_contradicts_itself_within_a_layer_is_refused_still() {
    let errors = spec::load(
        &write("p", BASE),
        &[],
        &[],
        &["slc_cache.mode=none".to_owned(), "fold.pace=0.5".to_owned()],
    )
    .unwrap_err();
    let keys: Vec<&str> = errors.iter().map(|error| error.key.as_str()).collect();
    assert_eq!(keys, ["fold.pace"]);
    // A key that depends on a mechanism does not turn it on where an earlier layer turned it off.
    let off = load_with(BASE, &[], &["slc_cache.mode=none"])
        .to_toml()
        .to_owned();
    let later = spec::load(
        &write("q", &off),
        &[],
        &[],
        &["slc_cache.size=8 GB".to_owned()],
    );
    assert_eq!(later.unwrap_err()[0].key, "slc_cache.size");
}

#[test]
fn files_and_profiles_turn_off_as_sets_do() {
    let set = load_with(BASE, &[], &["slc_cache.mode=none"]);
    let profiled = format!("{BASE}\n[firmware.plain]\nslc_cache.mode = \"none\"\n");
    let profiled = load_with(&profiled, &["plain"], &[]);
    assert_eq!(profiled.hash, set.hash);
    assert_eq!(profiled.notes, set.notes);
    let child = r#"
schema = 1
id = "child"
name = "Child"
extends = "base"
origin = "prior"
source = "made up for tests"

[slc_cache]
mode = "none"
"#;
    let child = spec::load_text(child, &[("base", BASE)], &[], &[], None).expect("a child");
    assert_eq!(child.hash, set.hash);
    assert_eq!(child.notes, set.notes);
}
