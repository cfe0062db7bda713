//! Mistakes in how the flash is cut into superblocks, stripes and passes.

use crate::common::{check, edit, load};

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
            "parity 22.1 GB",
            "write `ftl.parity = \"none\"`",
        )],
    );
    let copyback = ("path = \"controller\"", "path = \"copyback\"");
    check(
        &edit(&[parity, half, copyback]),
        &[(
            Some("path"),
            "fold.path",
            "a copy inside a die passes by the controller",
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
    let waiting = load(&edit(&[suspend, (both, "read_priority = false")]));
    assert_eq!(
        waiting.notes,
        [
            "nand.suspend.program = true waits: reads do not go first (controller.read_priority = \
             false)"
        ]
    );
    assert!(!waiting.config.part.suspend.program);
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
            "between the passes of a wordline on 2 dies, 960 KiB",
            "at least 960 KiB",
        )],
    );
}

#[test]
fn a_second_tier_lies_between_slc_and_native_and_behind_a_cache() {
    let native = "[nand.native]\n";
    let bits = |bits: u32| format!("[nand.tier]\nbits = {bits}\n\n[nand.native]\n");
    let two = bits(2);
    let size = "static_size = 0\ntier_size = \"6 GB\"";
    let off = (
        "slc_cache.size = 0",
        "slc_cache.size = 0\nslc_cache.tier_size = 0",
    );
    let tier = [(native, two.as_str()), ("static_size = 0", size), off];
    check(&edit(&tier), &[]);
    for wrong in [1, 3] {
        let message = format!("{wrong} bits a cell do not lie between SLC and 3 bits");
        check(
            &edit(&[(native, &bits(wrong))]),
            &[(Some("bits"), "nand.tier.bits", &message, "write 2, or 0")],
        );
    }
    let pages = "tprog = [\"1 ms\", \"2 ms\", \"3 ms\"]";
    check(
        &edit(&[(native, &two), ("tprog = \"4.3 ms\"", pages)]),
        &[(
            Some("bits"),
            "nand.tier.bits",
            "page by page",
            "nand.tier.bits = 0",
        )],
    );
    check(
        &edit(&[("static_size = 0", size), off]),
        &[(
            Some("tier_size"),
            "slc_cache.tier_size",
            "without a mode for it",
            "slc_cache.tier_size = 0",
        )],
    );
    let small = "static_size = 0\ntier_size = \"100 MB\"";
    check(
        &edit(&[(native, &two), ("static_size = 0", small), off]),
        &[(
            Some("tier_size"),
            "slc_cache.tier_size",
            "less than one superblock of 2 bits a cell",
            "counted in superblocks",
        )],
    );
    let large = "static_size = 0\ntier_size = \"30 GB\"";
    check(
        &edit(&[(native, &two), ("static_size = 0", large), off]),
        &[(
            Some("tier_size"),
            "slc_cache.tier_size",
            "of flash for the second tier, and the first leaves",
            "lower it",
        )],
    );
    let three = "[nand.tier]\nbits = 2\ntr = [\"45 us\"]\n\n[nand.native]\n";
    check(
        &edit(&[(native, three)]),
        &[(
            Some("tr"),
            "nand.tier.tr",
            "1 times for 2 page types of the second tier",
            "list of 2",
        )],
    );
}

#[test]
fn the_system_area_holds_two_checkpoints_and_the_blocks_being_erased() {
    // 40 GB are 9765625 entries of 4 bytes: 597 rows of 64 KiB, 39.1 MB. A block of every plane is
    // 2 dies x 704 wordlines x 64 KiB, 88 MiB in SLC mode and 276.8 MB of TLC.
    let on = "\"\ncheckpoint = \"8 GB\"";
    let with = |system: &str, more: &str| {
        edit(&[(
            "system = \"500 MB\"",
            &format!("system = \"{system}{on}{more}"),
        )])
    };
    check(&with("500 MB", ""), &[]);
    check(&with("276824065 B", "\ntrim_journal = true"), &[]);
    let hint = "write `ftl.system = \"553648128 B\"`, 2 superblocks, or more";
    check(
        &with("276824064 B", ""),
        &[(
            Some("system ="),
            "ftl.system",
            "a checkpoint of 9765625 map entries takes 39.1 MB; two of them, and the blocks being \
             erased, 88 MiB, take 170.5 MB in SLC mode, and the system area has 88 MiB",
            hint,
        )],
    );
    check(
        &with("276824064 B", "\ntrim_journal = true"),
        &[(
            Some("system ="),
            "ftl.system",
            "a row of the journal of trims, 64 KiB, and the blocks",
            "or `ftl.checkpoint = 0`",
        )],
    );
    // With superblocks of one die the area is counted in those, and a block of each die is erased.
    let single = "\nsuperblock_dies = 1";
    let second = ("capacity = \"40 GB\"", "capacity = \"38 GB\"");
    let grouped = |system: &str| {
        let system = format!("system = \"{system}{on}{single}");
        edit(&[("system = \"500 MB\"", &system), second])
    };
    check(&grouped("553648128 B"), &[]);
    check(
        &grouped("415236096 B"),
        &[(
            Some("system ="),
            "ftl.system",
            "take 166.5 MB in SLC mode, and the system area has 132 MiB",
            "4 superblocks",
        )],
    );
}
