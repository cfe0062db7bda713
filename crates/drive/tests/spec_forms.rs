//! The printed form loads again, `extends` inherits, every key does something, and the published
//! documents say what the parser does.

use crate::common::{BASE, edit, load, load_with, write, write_beside};
use std::path::PathBuf;

use flashtwin_drive::Config;
use flashtwin_drive::spec::{self, SpecError, docs, keys};

fn errors(path: &str) -> Vec<SpecError> {
    spec::load(path, &[], &[], &[]).expect_err("this must not load")
}

fn config(text: &str) -> Config {
    load(text).config
}

#[test]
fn what_is_printed_loads_again() {
    let awkward = "source = \"tab\\t, \\\"quotes\\\", back\\\\slash, µs\"";
    let text = edit(&[("source = \"made up for tests\"", awkward)]);
    let first = load(&text);
    let again = load(first.to_toml());
    assert_eq!(first, again);
    assert_eq!(first.values.len(), keys::KEYS.len());
    assert_eq!(again.profiles, ["slc-off"]);

    let set = load_with(&text, &["slc-off"], &["link.queue_depth=4"]);
    let again = load(set.to_toml());
    assert_eq!(set.hash, again.hash);
    assert_eq!(set.config, again.config);
}

#[test]
fn the_hash_is_of_values_and_not_of_words() {
    let hash = load(BASE).hash;
    assert_eq!(hash.len(), 64);
    let same = [
        ("name = \"Base\"", "name = \"Other\""),
        ("\"4 GB\"", "\"4000 MB\""),
    ];
    assert_eq!(hash, load(&edit(&same)).hash);
    let sourced = "planes = { value = 4, origin = \"published\", source = \"x\" }";
    assert_eq!(hash, load(&edit(&[("planes = 4", sourced)])).hash);
    assert_ne!(hash, load(&edit(&[("\"4 GB\"", "\"4001 MB\"")])).hash);
    assert_ne!(
        hash,
        load(&edit(&[("gather_time = \"100", "gather_time = \"101")])).hash
    );
}

/// A part with a second tier, one with two passes, a map in pages, a host that says what is hot.
const TIER: &[&str] = &["nand.tier.bits=2"];
const PASSES: &[&str] = &["nand.native.second_pass=5 ms"];
const DEMAND: &[&str] = &["map.residency=demand"];
const HANDLES: &[&str] = &[
    "link.kind=nvme",
    "slc_cache.mode=none",
    "gc.low=8",
    "gc.high=9",
];
const ISOLATED: &[&str] = &[
    "fdp.handles=2",
    "link.kind=nvme",
    "slc_cache.mode=none",
    "gc.low=8",
    "gc.high=9",
];
const ORACLE: &[&str] = &[
    "gc.separation=oracle",
    "gc.low=7",
    "gc.high=8",
    "slc_cache.mode=none",
    "slc_cache.size=0",
    "slc_cache.when_full=direct",
    "fold.idle_after=never",
    "fold.reserve=0",
    "fold.pace=0",
];

/// Another right value for each key, and what has to change along.
const OTHERS: &[(&str, &str, &[&str])] = &[
    ("drive.capacity", "30 GB", &[]),
    ("nand.channels", "4", &[]),
    ("nand.dies_per_channel", "2", &[]),
    ("nand.planes", "8", &[]),
    ("nand.blocks_per_plane", "320", &[]),
    ("nand.wordlines_per_block", "1000", &[]),
    ("nand.page_size", "32 KiB", &[]),
    ("nand.cell", "qlc", &["nand.native.tr=45 us"]),
    ("nand.bus_rate", "1.2 GT/s", &[]),
    ("nand.cache_program", "true", &[]),
    ("nand.suspend.program", "true", &[]),
    ("nand.suspend.erase", "true", &[]),
    ("nand.suspend.entry", "0", &[]),
    ("nand.suspend.penalty", "0", &[]),
    ("nand.suspend.most", "1", &[]),
    ("nand.suspend.reads", "1", &[]),
    ("nand.variation.block", "0.03", &[]),
    ("nand.variation.layer", "0.08", &[]),
    ("nand.variation.program_wear", "0.1", &[]),
    ("nand.variation.erase_wear", "1.5", &[]),
    ("nand.slc.tr", "25 us", &[]),
    ("nand.slc.tprog", "200 us", &[]),
    ("nand.slc.tbers", "3 ms", &[]),
    ("nand.slc.endurance", "60000", &[]),
    ("nand.native.tr", "60 us", &[]),
    ("nand.native.tprog", "820 us, 2225 us, 5734 us", &[]),
    ("nand.native.second_pass", "5 ms", &[]),
    ("nand.native.third_pass", "5 ms", PASSES),
    (
        "nand.native.fourth_pass",
        "5 ms",
        &[
            "nand.native.third_pass=5 ms",
            "nand.native.second_pass=5 ms",
            "controller.write_buffer=2 MiB",
        ],
    ),
    ("nand.independent_planes", "true", &[]),
    ("nand.codeword", "1 KiB", &[]),
    ("nand.native.pass_distance", "2", PASSES),
    ("nand.native.pass_transfer", "false", PASSES),
    ("nand.native.tbers", "3.5 ms", &[]),
    ("nand.native.endurance", "3000", &[]),
    ("nand.tier.bits", "2", &[]),
    ("nand.tier.tr", "[\"40 us\", \"55 us\"]", TIER),
    ("nand.tier.tprog", "1.5 ms", TIER),
    ("nand.tier.tbers", "7 ms", TIER),
    ("nand.tier.endurance", "9000", TIER),
    ("ftl.mapping_unit", "16 KiB", &[]),
    ("ftl.system", "0", &[]),
    ("map.residency", "demand", &[]),
    ("map.cache", "2 MiB", DEMAND),
    ("map.hmb", "8 MiB", &["map.residency=hmb", "link.kind=nvme"]),
    ("map.hmb_latency", "3 us", &[]),
    ("map.entry", "8", DEMAND),
    ("map.mode", "native", DEMAND),
    ("map.journal", "8 KiB", DEMAND),
    ("map.write_on_flush", "true", DEMAND),
    ("ftl.superblock_dies", "1", &[]),
    (
        "ftl.parity",
        "stripe",
        &["nand.channels=4", "drive.capacity=50 GB"],
    ),
    ("slc_cache.mode", "whole-drive", &["slc_cache.size=0"]),
    ("slc_cache.size", "5 GB", &[]),
    (
        "slc_cache.static_size",
        "200 MB",
        &["slc_cache.mode=hybrid"],
    ),
    ("slc_cache.when_full", "fold-first", &[]),
    (
        "slc_cache.size_by_fill",
        "[\"0 %: 4 GB\", \"75 %: 500 MB\"]",
        &["slc_cache.size=0"],
    ),
    ("slc_cache.tier_size", "6 GB", TIER),
    ("slc_cache.worn", "close", &[]),
    (
        "slc_cache.direct_share",
        "0.4",
        &["slc_cache.when_full=mixed"],
    ),
    ("slc_cache.admit", "small", &[]),
    (
        "slc_cache.admit_limit",
        "4 KiB",
        &["slc_cache.admit=random"],
    ),
    ("slc_cache.reclaim", "0", &[]),
    ("slc_cache.rearm", "1 GB", &["slc_cache.when_full=direct"]),
    ("fold.idle_after", "never", &[]),
    ("fold.reserve", "0", &[]),
    ("fold.pace", "2", &[]),
    ("fold.step", "1 MiB", &["slc_cache.when_full=fold-first"]),
    ("fold.rearm_pace", "0.5", &["slc_cache.when_full=direct"]),
    ("fold.low", "9", &["fold.high=12"]),
    ("fold.high", "12", &[]),
    ("fold.rate", "50 MB/s", &[]),
    ("fold.check_every", "4", &["fold.path=copyback"]),
    ("fold.check_cycles", "3000", &["fold.path=copyback"]),
    ("fold.path", "copyback", &[]),
    ("gc.policy", "fifo", &[]),
    ("gc.choices", "3", &["gc.policy=d-choices"]),
    ("gc.low", "5", &[]),
    ("gc.high", "8", &[]),
    ("gc.reserve", "2", &[]),
    ("gc.pace", "stop-the-world", &[]),
    ("gc.idle_after", "1 s", &["gc.idle_target=20"]),
    ("gc.idle_target", "20", &[]),
    ("gc.recycler", "settled", &[]),
    ("gc.separation", "none", &[]),
    ("gc.hot_share", "0.22", ORACLE),
    ("gc.hot_pool", "0.24", ORACLE),
    ("fdp.handles", "2", HANDLES),
    ("fdp.isolation", "persistent", ISOLATED),
    ("controller.command_time", "0", &[]),
    ("controller.data_rate", "600 MB/s", &[]),
    ("controller.read_time", "5 us", &[]),
    ("controller.program_time", "30 us", &[]),
    ("controller.kib_time", "1 us", &[]),
    ("controller.move_time", "4 us", &[]),
    ("controller.write_buffer", "1 MiB", &[]),
    ("controller.native_programs", "1", &[]),
    (
        "controller.acknowledge",
        "write-through",
        &["controller.gather=false"],
    ),
    ("controller.gather", "false", &[]),
    ("controller.gather_time", "1 s", &[]),
    ("controller.coalesce", "true", &[]),
    ("controller.overlap", "false", &[]),
    ("controller.read_priority", "false", &[]),
    ("controller.reads_first", "4", &[]),
    ("controller.read_ahead_streams", "0", &[]),
    ("controller.read_ahead", "1 MiB", &[]),
    ("controller.cores", "2", &[]),
    ("controller.trim_time", "50 us", &[]),
    ("controller.trim_gb_time", "1 ms", &[]),
    ("controller.trim_alone", "true", &[]),
    ("controller.secure_erase", "crypto", &[]),
    ("controller.end_to_end", "true", &[]),
    ("controller.idle_share", "0.05", &[]),
    (
        "controller.idle_window",
        "2 s",
        &["controller.idle_share=0.05"],
    ),
    ("controller.longest_wait", "5 s", &[]),
    ("compression.best_ratio", "2", &[]),
    ("compression.rate", "300 MB/s", &[]),
    ("link.kind", "nvme", &[]),
    ("link.rate", "265 MB/s", &[]),
    ("link.sata_rate", "3 Gb/s", &["link.rate=0"]),
    (
        "link.pcie_generation",
        "4",
        &["link.kind=nvme", "link.rate=0"],
    ),
    ("link.pcie_lanes", "2", &["link.kind=nvme", "link.rate=0"]),
    (
        "link.max_payload",
        "128 B",
        &["link.kind=nvme", "link.rate=0"],
    ),
    ("link.queues", "8", &["link.kind=nvme"]),
    ("link.submit_time", "1 us", &[]),
    ("link.complete_time", "1 us", &[]),
    ("link.frame_time", "1 us", &[]),
    ("link.activate_time", "1 us", &[]),
    ("link.queue_depth", "1", &[]),
    ("drive.rated_tbw", "80 TB", &[]),
    ("drive.warranty_years", "5", &[]),
    ("smart.family", "intel", &[]),
    ("power.flash_read", "60 mW", &[]),
    ("power.flash_program", "60 mW", &[]),
    ("power.flash_erase", "60 mW", &[]),
    ("power.flash_transfer", "5 mW", &[]),
    ("power.flash_standby", "0", &[]),
    ("power.link", "0", &[]),
    ("power.active", "1 W", &[]),
    ("power.idle", "100 mW", &[]),
    ("power.light.after", "1 s", &[]),
    ("power.light.power", "20 mW", &[]),
    ("power.light.entry", "1 ms", &[]),
    ("power.light.exit", "1 ms", &[]),
    ("controller.plp", "true", &[]),
    ("controller.flush", "group", &[]),
    ("controller.fua", "flush", &["controller.flush=group"]),
    ("controller.flush_time", "40 us", &[]),
    ("controller.flush_pages", "1", &["controller.flush=group"]),
    ("ftl.pad_pages", "true", &[]),
    ("ftl.checkpoint", "8 GB", &[]),
    ("ftl.trim_journal", "true", &["ftl.checkpoint=8 GB"]),
    ("power.deep.after", "10 s", &[]),
    ("power.deep.power", "1 mW", &[]),
    ("power.deep.entry", "1 ms", &[]),
    ("power.deep.exit", "1 ms", &[]),
    ("thermal.ambient", "40 C", &[]),
    ("thermal.resistance", "20 K/W", &[]),
    ("thermal.capacity", "8 J/K", &[]),
    ("thermal.fan", "2", &[]),
    ("thermal.warning", "70 C", &[]),
    ("thermal.critical", "85 C", &[]),
    ("thermal.throttle.start", "70 C", &[]),
    ("thermal.throttle.stop", "60 C", &[]),
    ("thermal.throttle.speed", "0.2", &[]),
    ("thermal.heavy.start", "80 C", &[]),
    ("thermal.heavy.stop", "60 C", &[]),
    ("thermal.heavy.speed", "0.1", &[]),
    ("errors.correctable", "40", &[]),
    ("errors.page_spread", "0.1", &[]),
    ("errors.wear_power", "2", &[]),
    ("errors.retention_power", "1", &[]),
    ("errors.activation_energy", "0.7", &[]),
    ("errors.retention_temperature", "40 C", &[]),
    ("drive.initial_cycles", "750", &[]),
    ("drive.initial_age", "3", &[]),
    ("errors.retry_steps", "4", &[]),
    ("errors.retry_gain", "2", &[]),
    ("errors.retry_time", "60 us", &[]),
    ("errors.soft_gain", "3", &[]),
    ("errors.soft_time", "1 ms", &[]),
    ("errors.refresh_at", "0.5", &[]),
    (
        "errors.rebuild",
        "true",
        &[
            "errors.correctable=40",
            "ftl.parity=stripe",
            "drive.capacity=15 GB",
        ],
    ),
    (
        "fold.check_errors",
        "0.3",
        &[
            "errors.correctable=40",
            "fold.path=copyback",
            "fold.check_every=4",
        ],
    ),
    ("errors.slc.fresh", "7", &[]),
    ("errors.slc.wear", "7", &[]),
    ("errors.slc.retention_fresh", "7", &[]),
    ("errors.slc.retention", "7", &[]),
    ("errors.slc.disturb_fresh", "7", &[]),
    ("errors.slc.disturb", "7", &[]),
    ("errors.native.fresh", "7", &[]),
    ("errors.native.wear", "7", &[]),
    ("errors.native.retention_fresh", "7", &[]),
    ("errors.native.retention", "7", &[]),
    ("errors.native.disturb_fresh", "7", &[]),
    ("errors.native.disturb", "7", &[]),
    ("errors.slc.read_limit", "5000", &["errors.correctable=72"]),
    (
        "errors.native.read_limit",
        "5000",
        &["errors.correctable=72"],
    ),
    (
        "ftl.paired_pages",
        "lost",
        &["nand.native.tprog=[\"1 ms\", \"2 ms\", \"3 ms\"]"],
    ),
    ("map.idle_after", "5 s", DEMAND),
    ("wear.dynamic", "none", &[]),
    ("wear.static_threshold", "100", &[]),
    ("wear.spares", "8", &[]),
    ("wear.bad_percent", "0.4", &["wear.spares=8"]),
    ("wear.weak_percent", "1", &[]),
    ("wear.program_failures", "20", &[]),
    ("wear.erase_failures", "500", &[]),
    ("wear.failure_growth", "4", &[]),
    ("wear.read_only_at", "spares-gone", &["wear.spares=8"]),
];

#[test]
fn no_key_does_nothing() {
    let base = config(BASE);
    for key in keys::names(false) {
        let (_, value, along) = OTHERS
            .iter()
            .find(|(name, ..)| *name == key)
            .unwrap_or_else(|| {
                panic!("give {key} another value in OTHERS");
            });
        let own = format!("{key}={value}");
        let with = load_with(BASE, &[], &[&[own.as_str()], *along].concat()).config;
        assert_ne!(with, base, "{key} does nothing");
        // Keys that change along do not make the difference.
        let along: Vec<String> = along.iter().map(|set| (*set).to_owned()).collect();
        let lenient = spec::load(&write("base", BASE), &[], &[], &along);
        if let (Ok(without), false) = (lenient, along.is_empty()) {
            assert_ne!(with, without.config, "{own} does nothing beside {along:?}");
        }
    }
}

#[test]
fn a_child_inherits_and_overrides() {
    let parent = write("parent", BASE);
    let child = write_beside(
        &parent,
        "child",
        "schema = 1\nid = \"child\"\nname = \"Child\"\nextends = \"parent\"\n\
         origin = \"published\"\nsource = \"its page\"\nslc_cache.size = \"5 GB\"\n\
         [firmware.slow]\nfold.pace = 2\n[firmware.slc-off]\ngc.low = 5\n",
    );
    let spec = spec::load(&child, &[], &[], &[]).unwrap();
    let value = |key: &str| spec.values.iter().find(|value| value.key == key).unwrap();
    assert_eq!(
        (spec.id.as_str(), spec.config.id.as_str()),
        ("child", "child")
    );
    assert_eq!(
        (
            value("slc_cache.size").text.as_str(),
            value("slc_cache.size").origin
        ),
        ("5 GB", "published")
    );
    assert_eq!(
        (value("gc.low").text.as_str(), value("gc.low").origin),
        ("4", "prior")
    );
    assert_eq!(value("gc.low").source, "made up for tests");
    assert_eq!(spec.profiles, ["slc-off", "slow"]);
    let off = spec::load(&child, &[], &["slc-off".to_owned()], &[]).unwrap();
    assert_eq!(off.config.policy.gc.low_superblocks, 5);
    assert_eq!(off.config.policy.cache.borrowed(), None);
}

#[test]
fn a_child_with_a_profile_is_the_parent_with_it() {
    let parent = write("parent", BASE);
    let text = "schema = 1\nid = \"off\"\nname = \"Off\"\nextends = \"parent.toml\"\n\
                firmware = \"slc-off\"\n";
    let child = write_beside(&parent, "child", text);
    let spec = spec::load(&child, &[], &[], &[]).unwrap();
    assert_eq!(spec.hash, load_with(BASE, &["slc-off"], &[]).hash);

    let own = format!(
        "{text}origin = \"prior\"\nsource = \"x\"\ngc.low = 5\ncontroller.gather = false\n"
    );
    let child = write_beside(&parent, "own", &own);
    let spec = spec::load(&child, &[], &[], &[]).unwrap();
    assert!(
        !spec.config.controller.gather,
        "the file's own values come after the profile"
    );

    let wrong = write_beside(&parent, "wrong", &text.replace("\"slc-off\"", "\"slc-of\""));
    let told = errors(&wrong);
    assert_eq!((told[0].line, told[0].key.as_str()), (Some(5), "firmware"));
    assert_eq!(
        told[0].hint,
        "did you mean `slc-off`? parent.toml has slc-off"
    );
    let alone = write_beside(
        &parent,
        "alone",
        &text.replace("extends = \"parent.toml\"\n", ""),
    );
    assert!(
        errors(&alone)
            .iter()
            .any(|error| error.message.contains("extends nothing"))
    );
}

#[test]
fn circles_and_lost_parents_are_told_and_nothing_else() {
    let text = |id: &str, parent: &str| {
        format!("schema = 1\nid = \"{id}\"\nname = \"N\"\nextends = \"{parent}\"\n")
    };
    let a = write("a", &text("a", "b"));
    write_beside(&a, "b", &text("b", "a"));
    let told = errors(&a);
    assert_eq!(told.len(), 1);
    assert_eq!((told[0].line, told[0].key.as_str()), (Some(4), "extends"));
    assert!(told[0].message.contains("a circle") && told[0].file.ends_with("b.toml"));

    let lost = write_beside(&a, "lost", &text("lost", "bb"));
    let told = errors(&lost);
    assert_eq!(told.len(), 1);
    assert_eq!(told[0].message, "there is no drive `bb`");
    assert!(told[0].file.ends_with("lost.toml") && told[0].line == Some(4));
}

#[test]
fn mistakes_of_a_parent_are_told_with_its_file() {
    let parent = write("parent", &edit(&[("planes = 4", "planes = 0")]));
    let text = "schema = 1\nid = \"c\"\nname = \"C\"\nextends = \"parent\"\ngc.lo = 3\n";
    let told = errors(&write_beside(&parent, "child", text));
    let ends = |error: &SpecError| error.file.rsplit('/').next().unwrap().to_owned();
    let told: Vec<(String, String)> = told.iter().map(|e| (ends(e), e.key.clone())).collect();
    let expected = [("child.toml", "gc.lo"), ("parent.toml", "nand.planes")];
    assert_eq!(
        told,
        expected.map(|(file, key)| (file.to_owned(), key.to_owned()))
    );
}

fn published(name: &str) -> (PathBuf, String) {
    let path = PathBuf::from(env!("CARGO_MANIFEST_DIR"))
        .join("../../docs/reference")
        .join(name);
    let text = std::fs::read_to_string(&path).unwrap_or_default();
    (path, text)
}

/// With FLASHTWIN_BLESS set, writes what the test would compare with.
fn bless(path: &PathBuf, text: &str) {
    if std::env::var_os("FLASHTWIN_BLESS").is_some() {
        std::fs::write(path, text).unwrap();
    }
}

const REMEDY: &str = "run this test with FLASHTWIN_BLESS=1 and look at the difference";

#[test]
fn the_published_schema_is_that_of_the_key_table() {
    let (path, _) = published("spec.schema.json");
    let made = docs::json_schema();
    bless(
        &path,
        &format!("{}\n", serde_json::to_string_pretty(&made).unwrap()),
    );
    let (_, text) = published("spec.schema.json");
    let there: serde_json::Value = serde_json::from_str(&text).expect("the schema is JSON");
    assert!(
        there == made,
        "docs/reference/spec.schema.json is stale: {REMEDY}"
    );
    for key in keys::names(false) {
        let pointer = format!("/properties/{}", key.replace('.', "/properties/"));
        assert!(
            there.pointer(&pointer).is_some(),
            "{key} is not in the schema"
        );
    }
}

#[test]
fn the_reference_page_has_the_key_table() {
    const BEGIN: &str = "<!-- made from the key table: begin -->\n";
    const END: &str = "<!-- made from the key table: end -->";
    let (path, text) = published("spec.md");
    let (before, rest) = text.split_once(BEGIN).expect("the page has the begin mark");
    let (_, after) = rest.split_once(END).expect("the page has the end mark");
    let made = docs::reference_tables();
    bless(&path, &format!("{before}{BEGIN}\n{made}\n{END}{after}"));
    let (_, text) = published("spec.md");
    assert!(
        text.contains(&format!("{BEGIN}\n{made}\n{END}")),
        "spec.md is stale: {REMEDY}"
    );
    for key in keys::names(false) {
        assert!(
            text.contains(&format!("| `{key}` |")),
            "{key} is not in the page"
        );
    }
}
