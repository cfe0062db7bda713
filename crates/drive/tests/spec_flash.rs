//! Mistakes in how the flash is cut into superblocks, stripes and passes.

mod common;

use common::{check, edit};

#[test]
fn parity_needs_a_second_die_its_capacity_and_data_in_the_controller() {
    let channels = ("channels = 2", "channels = 1");
    let parity = (
        "system = \"500 MB\"",
        "system = \"500 MB\"\nparity = \"stripe\"",
    );
    let half = ("capacity = \"40 GB\"", "capacity = \"15 GB\"");
    check(&edit(&[parity, half]), &[]);
    check(
        &edit(&[parity, half, channels]),
        &[(
            Some("parity"),
            "ftl.parity",
            "on a single die",
            "span more dies",
        )],
    );
    check(
        &edit(&[parity]),
        &[(
            Some("capacity"),
            "drive.capacity",
            "parity 21120 MiB",
            "lower `capacity`",
        )],
    );
    let copyback = ("path = \"controller\"", "path = \"copyback\"");
    check(
        &edit(&[parity, half, copyback]),
        &[(
            Some("path"),
            "fold.path",
            "never meets the parity",
            "\"controller\"",
        )],
    );
}

#[test]
fn superblocks_have_to_divide_the_dies() {
    let dies = |text| ("system = \"500 MB\"", text);
    check(
        &edit(&[dies("system = \"500 MB\"\nsuperblock_dies = 1")]),
        &[],
    );
    check(
        &edit(&[dies("system = \"500 MB\"\nsuperblock_dies = 3")]),
        &[(
            Some("superblock_dies"),
            "ftl.superblock_dies",
            "3 dies a superblock do not divide the 2 of the drive",
            "a divisor of 2",
        )],
    );
    let both = dies("system = \"500 MB\"\nsuperblock_dies = 1\nparity = \"stripe\"");
    check(
        &edit(&[both]),
        &[(
            Some("parity"),
            "ftl.parity",
            "on a single die",
            "span more dies",
        )],
    );
}

#[test]
fn suspension_is_for_reads_that_overtake() {
    let both = "read_priority = true";
    let suspend = ("[nand.slc]", "[nand.suspend]\nprogram = true\n\n[nand.slc]");
    check(&edit(&[suspend]), &[]);
    check(
        &edit(&[suspend, (both, "read_priority = false")]),
        &[(
            Some("program = true"),
            "nand.suspend.program",
            "wait for their turn",
            "controller.read_priority = true",
        )],
    );
}

#[test]
fn second_passes_need_one_shot_programs_and_a_buffer_for_what_waits() {
    let tprog = "tprog = \"4.3 ms\"";
    let passes = |text| edit(&[("tprog = \"4.3 ms\"", text)]);
    check(&passes("tprog = \"4.3 ms\"\nsecond_pass = \"5 ms\""), &[]);
    check(
        &passes("tprog = [\"1 ms\", \"2 ms\", \"3 ms\"]\nsecond_pass = \"5 ms\""),
        &[(
            Some("second_pass"),
            "nand.native.second_pass",
            "page by page has no second pass",
            "one time",
        )],
    );
    check(
        &edit(&[
            (
                tprog,
                "tprog = \"4.3 ms\"\nsecond_pass = \"5 ms\"\npass_distance = 64",
            ),
            ("wordlines_per_block = 704", "wordlines_per_block = 64"),
            ("blocks_per_plane = 160", "blocks_per_plane = 1760"),
        ]),
        &[(
            Some("pass_distance"),
            "nand.native.pass_distance",
            "64 wordlines of a block of 64",
            "less than 64",
        )],
    );
    let direct = ("when_full = \"staged\"", "when_full = \"direct\"");
    let small = ("write_buffer = \"1536 KiB\"", "write_buffer = \"768 KiB\"");
    let second = "tprog = \"4.3 ms\"\nsecond_pass = \"5 ms\"";
    check(
        &edit(&[(tprog, second), direct, small]),
        &[(
            Some("write_buffer"),
            "controller.write_buffer",
            "between the two passes of a wordline on 2 dies, 960 KiB",
            "at least 960 KiB",
        )],
    );
}
