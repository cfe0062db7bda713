//! Mistakes about a map that is not in DRAM, and what it takes from the flash.

use crate::common::{BASE, check, load_with};

fn with(section: &str) -> String {
    BASE.replacen("residency = \"dram\"", section, 1)
}

/// A drive without DRAM reads half of its map from flash: nothing may decide that in silence.
#[test]
fn a_spec_says_whether_its_controller_has_dram() {
    check(
        &BASE.replacen("[map]\nresidency = \"dram\"\n", "", 1),
        &[(None, "map", "missing section", "[map] with residency")],
    );
    check(
        &with("entry = 4"),
        &[(
            Some("[map]"),
            "map.residency",
            "missing",
            "write `residency = \"demand\"`",
        )],
    );
}

#[test]
fn a_cache_holds_some_pages_and_a_journal_some_changes() {
    check(&with("residency = \"dram\"\ncache = \"4 KiB\""), &[]);
    check(
        &with("residency = \"demand\"\ncache = \"32 KiB\"\njournal = \"1 KiB\""),
        &[
            (Some("cache ="), "map.cache", "less than 16 pages", "64 KiB"),
            (
                Some("journal ="),
                "map.journal",
                "1 KiB holds less than 512 changes",
                "4 KiB",
            ),
        ],
    );
}

#[test]
fn the_hosts_memory_is_for_nvme() {
    check(
        &with("residency = \"hmb\""),
        &[(
            Some("residency ="),
            "map.residency",
            "SATA",
            "link.kind = \"nvme\"",
        )],
    );
    load_with(BASE, &[], &["map.residency=hmb", "link.kind=nvme"]);
}

#[test]
fn the_map_takes_superblocks_from_the_data() {
    let tight = with("residency = \"demand\"").replacen("40 GB", "42.496 GB", 1);
    check(
        &tight,
        &[(
            Some("42.496 GB"),
            "drive.capacity",
            "map 1",
            "lower `drive.capacity`",
        )],
    );
}

#[test]
fn superblocks_of_few_programs_cannot_hold_the_map() {
    let sets = "residency = \"demand\"";
    let few = with(sets)
        .replacen("wordlines_per_block = 704", "wordlines_per_block = 3", 1)
        .replacen("blocks_per_plane = 160", "blocks_per_plane = 40000", 1)
        .replacen(
            "write_buffer = \"1536 KiB\"",
            "write_buffer = \"192 KiB\"",
            1,
        )
        .replacen("size = \"4 GB\"", "size = \"4 MB\"", 1)
        .replacen("rearm = \"400 MB\"", "rearm = \"1 MB\"", 1);
    check(
        &few,
        &[(
            Some("residency ="),
            "map.residency",
            "takes 6 programs",
            "describe flash with 8",
        )],
    );
}
