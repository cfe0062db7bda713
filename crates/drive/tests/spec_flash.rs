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
