//! Bad specs and what is said of them, as tables.

use crate::common::{BASE, check, edit};

/// The base with one line replaced, against the errors that have to come out.
fn one(old: &str, new: &str, expected: &[(Option<&str>, &str, &str, &str)]) {
    check(&edit(&[(old, new)]), expected);
}

#[test]
fn the_base_is_right() {
    check(BASE, &[]);
}

#[test]
fn broken_toml_stops_with_its_line() {
    one(
        "planes = 4",
        "planes = = 4",
        &[(Some("planes = = 4"), "", "", "mend the TOML")],
    );
    one(
        "planes = 4",
        "planes = 4\nplanes = 2",
        &[(Some("planes = 2"), "", "duplicate key", "")],
    );
}

#[test]
fn keys_that_do_not_exist_name_the_nearest() {
    let near = "did you mean `nand.planes`?";
    one(
        "planes = 4",
        "plans = 4",
        &[(Some("plans"), "nand.plans", "unknown key", near)],
    );
    let moved = "did you mean `drive.capacity`?";
    one(
        "planes = 4",
        "planes = 4\ncapacity = \"1 GB\"",
        &[(
            Some("capacity = \"1 GB"),
            "nand.capacity",
            "unknown key",
            moved,
        )],
    );
    let list = "there are: gc.policy, gc.choices, gc.low";
    one(
        "low = 4",
        "low = 4\ncolour = 1",
        &[(Some("colour"), "gc.colour", "unknown key", list)],
    );
    one(
        "[gc]",
        "[gcc]",
        &[(
            Some("[gcc]"),
            "gcc",
            "unknown section",
            "did you mean `gc`?",
        )],
    );
    one(
        "[gc]",
        "[lamp]\nbulb = 1\n[gc]",
        &[(Some("[lamp]"), "lamp", "unknown section", "drive")],
    );
}

#[test]
fn keys_that_are_missing_say_what_to_write() {
    one(
        "planes = 4",
        "",
        &[(
            Some("[nand]"),
            "nand.planes",
            "missing",
            "write `planes = 4`",
        )],
    );
    one(
        "schema = 1",
        "",
        &[(None, "schema", "missing", "write `schema = 1`")],
    );
    one(
        "name = \"Base\"",
        "",
        &[(None, "name", "missing", "write `name = \"...\"`")],
    );
    one(
        "[link]\nrate = \"545 MB/s\"\nqueue_depth = 32",
        "",
        &[(
            None,
            "link",
            "missing section",
            "write [link] with rate, queue_depth",
        )],
    );
}

#[test]
fn units_are_required_and_the_right_ones() {
    one(
        "capacity = \"40 GB\"",
        "capacity = 40",
        &[(
            Some("capacity = 40"),
            "drive.capacity",
            "`40` has no unit",
            "B, kB, MB, GB, TB, KiB",
        )],
    );
    one(
        "capacity = \"40 GB\"",
        "capacity = \"40 us\"",
        &[(
            Some("40 us"),
            "drive.capacity",
            "`us` is not a unit of a size",
            "kB, MB, GB",
        )],
    );
    one(
        "tbers = \"5 ms\"",
        "tbers = \"5 MS\"",
        &[(
            Some("5 MS"),
            "nand.slc.tbers",
            "`MS` is not a unit of a time",
            "did you mean `ms`?",
        )],
    );
    one(
        "rate = \"545 MB/s\"",
        "rate = \"545 MB\"",
        &[(
            Some("545 MB\""),
            "link.rate",
            "`MB` is not a unit of a rate",
            "MB/s",
        )],
    );
    one(
        "bus_rate = \"400 MT/s\"",
        "bus_rate = \"400 MB/s\"",
        &[(
            Some("400 MB/s"),
            "nand.bus_rate",
            "not a unit of a bus rate",
            "MT/s, GT/s",
        )],
    );
    one(
        "tbers = \"5 ms\"",
        "tbers = \"0.0000005 us\"",
        &[(
            Some("0.0000005"),
            "nand.slc.tbers",
            "finer than one of ns",
            "whole number of ns",
        )],
    );
}

#[test]
fn types_are_checked() {
    one(
        "planes = 4",
        "planes = \"4\"",
        &[(
            Some("planes"),
            "nand.planes",
            "text where a whole number from 1 to 16",
            "like 4",
        )],
    );
    one(
        "gather = true",
        "gather = 1",
        &[(
            Some("gather = 1"),
            "controller.gather",
            "where true or false is",
            "like true",
        )],
    );
    one(
        "mode = \"dynamic\"",
        "mode = \"dinamic\"",
        &[(
            Some("dinamic"),
            "slc_cache.mode",
            "`dinamic` is not one of none",
            "mean `dynamic`",
        )],
    );
    one(
        "pace = 1.5",
        "pace = 1.5555",
        &[(Some("pace"), "fold.pace", "finer than", "thousandths")],
    );
    one(
        "pace = 1.5",
        "pace = -1",
        &[(Some("pace"), "fold.pace", "not a number", "")],
    );
    one(
        "schema = 1",
        "schema = 2",
        &[(Some("schema"), "schema", "not a schema", "schema = 1")],
    );
    one(
        "id = \"base\"",
        "id = \"My Drive\"",
        &[(Some("id ="), "id", "cannot be an id", "digits")],
    );
}

#[test]
fn provenance_is_checked() {
    one(
        "planes = 4",
        "planes = { value = 4, origin = \"publshed\" }",
        &[(
            Some("planes"),
            "nand.planes",
            "`publshed` is not an origin",
            "mean `published`",
        )],
    );
    one(
        "planes = 4",
        "planes = { value = 4, sourc = \"x\" }",
        &[(
            Some("planes"),
            "nand.planes",
            "unknown field `sourc`",
            "did you mean `source`",
        )],
    );
    one(
        "planes = 4",
        "planes = { origin = \"prior\" }",
        &[(
            Some("planes"),
            "nand.planes",
            "a table without `value`",
            "value = ",
        )],
    );
    one(
        "origin = \"prior\"",
        "",
        &[(
            None,
            "origin",
            "missing, and 52 values do not name their own",
            "or in each value",
        )],
    );
}

#[test]
fn nothing_is_zero_that_cannot_be() {
    let range = "write a whole number from 1 to";
    one(
        "channels = 2",
        "channels = 0",
        &[(Some("chan"), "nand.channels", "0 is below 1", range)],
    );
    one(
        "dies_per_channel = 1",
        "dies_per_channel = 0",
        &[(Some("dies"), "nand.dies_per_channel", "0 is below 1", range)],
    );
    one(
        "planes = 4",
        "planes = 0",
        &[(Some("planes"), "nand.planes", "0 is below 1", range)],
    );
    one(
        "blocks_per_plane = 160",
        "blocks_per_plane = 7",
        &[(
            Some("blocks"),
            "nand.blocks_per_plane",
            "7 is below 8",
            "from 8 to",
        )],
    );
    one(
        "queue_depth = 32",
        "queue_depth = 33",
        &[(
            Some("queue"),
            "link.queue_depth",
            "33 is above 32, all that NCQ numbers",
            "at most 32",
        )],
    );
    one(
        "tr = \"35 us\"",
        "tr = \"0 us\"",
        &[(
            Some("0 us"),
            "nand.slc.tr",
            "a time of zero makes no sense",
            "like \"35 us\"",
        )],
    );
    one(
        "bus_rate = \"400 MT/s\"",
        "bus_rate = 0",
        &[(
            Some("bus_rate = 0"),
            "nand.bus_rate",
            "a bus rate of zero",
            "like \"400 MT/s\"",
        )],
    );
}

#[test]
fn the_drive_has_to_fit_into_its_flash() {
    one(
        "capacity = \"40 GB\"",
        "capacity = \"60 GB\"",
        &[(
            Some("capacity"),
            "drive.capacity",
            "flash holds 41.25 GiB but the drive advertises 60 GB",
            "lower `drive.capacity` or raise `nand.dies_per_channel`",
        )],
    );
    one(
        "capacity = \"40 GB\"",
        "capacity = \"43.8 GB\"",
        &[(
            Some("capacity"),
            "drive.capacity",
            "are left and the drive advertises",
            "lower",
        )],
    );
    one(
        "high = 6",
        "high = 20",
        &[(
            Some("high"),
            "gc.high",
            "collection ends at 20 free superblocks",
            "write at most 13",
        )],
    );
    let lower = "lower `drive.capacity` or `gc.reserve`";
    one(
        "capacity = \"40 GB\"",
        "capacity = \"42.496 GB\"",
        &[
            (
                Some("capacity"),
                "drive.capacity",
                "the reserve take 7",
                lower,
            ),
            (
                Some("capacity"),
                "drive.capacity",
                "the reserve take 6",
                lower,
            ),
        ],
    );
    one(
        "capacity = \"40 GB\"",
        "capacity = \"40000001 kB\"",
        &[(
            Some("capacity"),
            "drive.capacity",
            "not whole sectors",
            "write \"40000000512 B\"",
        )],
    );
}

#[test]
fn the_geometry_has_to_make_sense() {
    one(
        "mapping_unit = \"4 KiB\"",
        "mapping_unit = \"6 KiB\"",
        &[(
            Some("mapping"),
            "ftl.mapping_unit",
            "6 KiB is not a power of two",
            "write 4 KiB, 8",
        )],
    );
    one(
        "page_size = \"16 KiB\"",
        "page_size = \"18 KiB\"",
        &[(
            Some("page_size"),
            "nand.page_size",
            "18 KiB is not a multiple of",
            "page size",
        )],
    );
    one(
        "tr = [\"45 us\", \"60 us\", \"75 us\"]",
        "tr = [\"45 us\", \"60 us\"]",
        &[(
            Some("tr = ["),
            "nand.native.tr",
            "2 times for 3 page types",
            "a list of 3",
        )],
    );
    one(
        "blocks_per_plane = 160",
        "blocks_per_plane = 1000000",
        &[(
            Some("mapping"),
            "ftl.mapping_unit",
            "more than a 32-bit map can point to",
            "raise",
        )],
    );
    one(
        "write_buffer = \"1536 KiB\"",
        "write_buffer = \"128 KiB\"",
        &[(
            Some("write_buffer"),
            "controller.write_buffer",
            "128 KiB is less than one native program of a die, 192 KiB",
            "write at least 192 KiB",
        )],
    );
    one(
        "write_buffer = \"1536 KiB\"",
        "write_buffer = \"1 GiB\"",
        &[(
            Some("write_buffer"),
            "controller.write_buffer",
            "not smaller than a superb",
            "less",
        )],
    );
}

#[test]
fn the_cache_has_to_fit() {
    one(
        "size = \"4 GB\"",
        "size = \"20 GB\"",
        &[(
            Some("size = \"20"),
            "slc_cache.size",
            "a cache of 20 GB takes 60 GB of flash at 3 bits a cell",
            "the largest possible is",
        )],
    );
    one(
        "size = \"4 GB\"",
        "size = \"10 MB\"",
        &[(
            Some("size = \"10"),
            "slc_cache.size",
            "less than one superblock in SLC",
            "or 0",
        )],
    );
    one(
        "size = \"4 GB\"",
        "size = 0",
        &[(
            Some("size = 0"),
            "slc_cache.size",
            "needs a size",
            "choose another `slc_cache.m",
        )],
    );
    one(
        "static_size = 0",
        "static_size = \"1 GB\"",
        &[(
            Some("static_size"),
            "slc_cache.static_size",
            "1 GB with mode `dynamic`",
            "write `slc_cache.static_size = 0`",
        )],
    );
    one(
        "cell = \"tlc\"",
        "cell = \"slc\"",
        &[
            (Some("capacity"), "drive.capacity", "flash holds", ""),
            (
                Some("tr = ["),
                "nand.native.tr",
                "3 times for 1 page types",
                "",
            ),
            (
                Some("mode ="),
                "slc_cache.mode",
                "one bit a cell anyway",
                "\"none\"",
            ),
        ],
    );
    one(
        "rearm = \"400 MB\"",
        "rearm = \"5 GB\"",
        &[(
            Some("rearm"),
            "slc_cache.rearm",
            "5 GB never come free in a cache of",
            "at most 3784 MiB",
        )],
    );
}

#[test]
fn policies_may_not_contradict_each_other() {
    let through = "write-through drive cannot let small writes wait";
    one(
        "acknowledge = \"write-back\"",
        "acknowledge = \"write-through\"",
        &[(
            Some("gather = true"),
            "controller.gather",
            through,
            "`controller.gather = false`",
        )],
    );
    one(
        "gather_time = \"100 ms\"",
        "gather_time = 0",
        &[(
            Some("gather_time"),
            "controller.gather_time",
            "0 pads a write at once",
            "100 ms",
        )],
    );
    one(
        "low = 4",
        "low = 3",
        &[(Some("low"), "gc.low", "3 are held back", "at least 4")],
    );
    one(
        "high = 6",
        "high = 3",
        &[(Some("high"), "gc.high", "begins below 4", "at least 4")],
    );
    one(
        "pace = 1.5",
        "pace = 0",
        &[(
            Some("pace"),
            "fold.pace",
            "0 staged bytes leave the cache for each host",
            "like 1.5",
        )],
    );
    check(
        &edit(&[
            ("when_full = \"staged\"", "when_full = \"direct\""),
            ("pace = 1.5", "pace = 0"),
        ]),
        &[(
            Some("pace"),
            "fold.pace",
            "borrowed blocks have to come back",
            "like 0.5",
        )],
    );
    one(
        "reserve = \"2 GB\"",
        "reserve = \"50 GB\"",
        &[(
            Some("reserve = \"50"),
            "fold.reserve",
            "is all of the flash",
            "lower it",
        )],
    );
    one(
        "read_ahead = \"512 KiB\"",
        "read_ahead = 0",
        &[(
            Some("read_ahead = 0"),
            "controller.read_ahead",
            "0 bytes for 4 streams",
            "streams = 0",
        )],
    );
}

#[test]
fn a_cache_that_is_none_leaves_nothing_behind() {
    one(
        "mode = \"dynamic\"",
        "mode = \"none\"",
        &[
            (
                Some("size = \"4"),
                "slc_cache.size",
                "4 GB with mode `none`",
                "slc_cache.size = 0",
            ),
            (
                Some("idle_after"),
                "fold.idle_after",
                "there is no cache to fold",
                "\"never\"",
            ),
            (
                Some("reserve = \"2"),
                "fold.reserve",
                "there is no cache to fold",
                "reserve = 0",
            ),
            (
                Some("pace"),
                "fold.pace",
                "there is no cache to fold",
                "fold.pace = 0",
            ),
        ],
    );
    let none = [
        ("mode = \"dynamic\"", "mode = \"none\""),
        ("size = \"4 GB\"", "size = 0"),
        ("when_full = \"staged\"", "when_full = \"direct\""),
        ("idle_after = \"30 s\"", "idle_after = \"never\""),
        ("reserve = \"2 GB\"", "reserve = 0"),
        ("pace = 1.5", "pace = 0"),
    ];
    check(&edit(&none), &[]);
    let pool = [
        ("mode = \"dynamic\"", "mode = \"static\""),
        ("size = \"4 GB\"", "size = 0"),
        ("static_size = 0", "static_size = \"1 GB\""),
        ("when_full = \"staged\"", "when_full = \"direct\""),
        ("idle_after = \"30 s\"", "idle_after = \"never\""),
        ("reserve = \"2 GB\"", "reserve = 0"),
        ("pace = 1.5", "pace = 0"),
        ("capacity = \"40 GB\"", "capacity = \"36 GB\""),
    ];
    let stuck = "nothing ever empties this static cache";
    check(
        &edit(&pool),
        &[(Some("idle_after"), "fold.idle_after", stuck, "fold-first")],
    );
}

#[test]
fn all_mistakes_of_a_file_are_told_at_once_in_the_order_of_its_lines() {
    check(
        &edit(&[
            ("capacity = \"40 GB\"", "capacity = 40"),
            ("planes = 4", "planes = 0"),
            ("tbers = \"10 ms\"", "tbers = \"10 MB\""),
            ("low = 4", "lo = 4"),
            (
                "acknowledge = \"write-back\"",
                "acknowledge = \"write-through\"",
            ),
        ]),
        &[
            (Some("capacity = 40"), "drive.capacity", "has no unit", ""),
            (Some("planes = 0"), "nand.planes", "is below 1", ""),
            (
                Some("10 MB"),
                "nand.native.tbers",
                "not a unit of a time",
                "",
            ),
            (Some("lo = 4"), "gc.lo", "unknown key", "`gc.low`"),
            (
                Some("gather = true"),
                "controller.gather",
                "write-through",
                "",
            ),
        ],
    );
}
