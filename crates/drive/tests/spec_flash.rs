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
            "describe more dies",
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
