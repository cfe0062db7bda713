//! Drives that hold only a part of their map in RAM: what a command waits for, reckoned by hand,
//! and what a host sees of the cache's reach.

use crate::common::asks::{self, UNCACHED, drive};
use crate::common::loops::{go, job, rate, rest};
use flashtwin_base::rng::Rng;
use flashtwin_base::{Completion, Device, Nanos, Op, Request};
use flashtwin_drive::Drive;
use flashtwin_workload::ReadWrite;

/// Sixteen pages of 4 KiB, each the map of 4 MiB: a reach of 64 MiB.
const SMALL: [&str; 2] = ["map.residency=demand", "map.cache=64 KiB"];
const NO_PRIORITY: &str = "controller.read_priority=false";

const COMMAND: u64 = 6_000;
const PAGE_READ: u64 = 35_000 + 10_240;
/// Units that a page of the map reaches.
const REACH: u64 = 1024;

fn single(drive: &mut Drive, op: Op, lba: u64, sectors: u32) -> u64 {
    asks::single(drive, op, lba, sectors).0
}

/// Reads the first unit that a map page reaches.
fn read_page(drive: &mut Drive, page: u64) -> u64 {
    single(drive, Op::Read, page * REACH * 8, 8)
}

fn link(bytes: u64) -> u64 {
    bytes * 1_000_000_000 / 545_000_000
}

fn bus(bytes: u64) -> u64 {
    bytes * 1_000_000_000 / 400_000_000
}

/// Time of a read of a unit of a native sequential fill, without the map: granules of 48 units, 16
/// of each page type.
fn data_read(unit: u64) -> u64 {
    let sense = [45_000, 60_000, 75_000][(unit % 48 / 16) as usize];
    COMMAND + sense + bus(4096) + link(4096)
}

/// Writes the first bytes of the drive in order and lets them come to rest.
fn filled(mut d: Drive, bytes: u64) -> Drive {
    let mut write = job(ReadWrite::Write, 1 << 20, 8);
    write.size = Some(bytes);
    go(&mut d, write);
    single(&mut d, Op::Flush, 0, 0);
    rest(&mut d, Nanos::from_secs(1));
    d
}

#[test]
fn a_read_of_a_page_at_hand_costs_nothing_more_and_of_another_a_flash_read() {
    let mut d = filled(drive(&[&UNCACHED, &SMALL]), 1 << 30);
    assert_eq!(bus(4096), 10_240);
    for page in [0, 100, 37] {
        let unit = page * REACH;
        assert_eq!(read_page(&mut d, page), PAGE_READ + data_read(unit));
        assert_eq!(
            read_page(&mut d, page),
            data_read(unit),
            "page {page} again"
        );
    }
    let last = single(&mut d, Op::Read, 255 * REACH * 8, 8);
    assert_eq!(last, data_read(255 * REACH), "its page was filled last");
}

#[test]
fn a_command_across_two_pages_waits_for_both() {
    let mut d = filled(drive(&[&UNCACHED, &SMALL]), 1 << 30);
    // Units 11263 and 11264 lie 31 and 32 units into a granule: on die 0, in two rows. The pages of
    // their entries lie on die 0 too; the second is asked for before the first one's data is.
    let found = single(&mut d, Op::Read, (11 * REACH - 1) * 8, 16);
    let data = 60_000 + bus(4096) + 75_000 + bus(4096) + link(4096);
    assert_eq!(found, COMMAND + 2 * PAGE_READ + data);
    assert_eq!(d.counters().map_misses, 2);
}

#[test]
fn a_write_waits_for_its_page_and_one_of_a_fresh_page_does_not() {
    let mut d = filled(drive(&[&UNCACHED, &SMALL]), 1 << 30);
    let waits = single(&mut d, Op::Write, 7 * REACH * 8, 8);
    assert_eq!(waits, COMMAND + PAGE_READ + link(4096));
    assert_eq!(
        single(&mut d, Op::Write, 7 * REACH * 8 + 8, 8),
        COMMAND + link(4096)
    );
    let fresh = single(&mut d, Op::Write, 300 * REACH * 8, 8);
    assert_eq!(fresh, COMMAND + link(4096), "nothing was mapped there");
}

/// 240 pages have left the cache in 15 programs of 16; the sixteenth miss after the fill fills the
/// next one, on die 1, and its own page lies on die 1 too.
#[test]
fn the_eviction_that_fills_a_program_is_what_a_miss_behind_it_waits_for() {
    let mut d = filled(drive(&[&UNCACHED, &SMALL, &[NO_PRIORITY]]), 1 << 30);
    assert_eq!(d.counters().map_units, 240);
    for page in 0..15 {
        assert_eq!(read_page(&mut d, page), PAGE_READ + data_read(page * REACH));
    }
    assert_eq!(d.counters().map_units, 240);
    let program = bus(65536) + 404_800;
    assert_eq!(
        read_page(&mut d, 16),
        program + PAGE_READ + data_read(16 * REACH)
    );
    assert_eq!(d.counters().map_units, 256);
    assert_eq!(
        read_page(&mut d, 32),
        PAGE_READ + data_read(32 * REACH),
        "what leaves now is clean"
    );
}

#[test]
fn the_hosts_memory_costs_a_round_trip_instead_of_a_flash_read() {
    let sets = [
        "link.kind=nvme",
        "map.residency=hmb",
        "map.cache=64 KiB",
        "map.hmb=4 MiB",
    ];
    let mut d = filled(drive(&[&UNCACHED, &sets]), 1 << 30);
    let before = *d.counters();
    let trip = 1_500 + link(4096);
    for page in [3, 0, 200, 3] {
        assert_eq!(read_page(&mut d, page), trip + data_read(page * REACH));
        // It leaves the SRAM again.
        (20..40).for_each(|page| {
            read_page(&mut d, page);
        });
    }
    assert_eq!(d.counters().map_reads, before.map_reads);
}

/// What the host's memory has no room for is read from flash, and is there the next time.
#[test]
fn a_page_that_has_left_the_hosts_memory_is_read_from_flash_and_copied_there() {
    let sets = [
        "link.kind=nvme",
        "map.residency=hmb",
        "map.cache=64 KiB",
        "map.hmb=128 KiB",
    ];
    let mut d = filled(drive(&[&UNCACHED, &sets]), 1 << 30);
    assert_eq!(read_page(&mut d, 3), PAGE_READ + data_read(3 * REACH));
    for page in 100..116 {
        read_page(&mut d, page);
    }
    let trip = 1_500 + link(4096);
    assert_eq!(read_page(&mut d, 3), trip + data_read(3 * REACH));
}

/// Random writes through a cache, folded while nothing is asked: the map pages that this changes go
/// to the host's memory as they are written, and no command waits for them.
#[test]
fn copies_in_the_hosts_memory_are_not_the_first_commands_to_wait_for() {
    let sets = [
        "link.kind=nvme",
        "map.residency=hmb",
        "map.cache=64 KiB",
        "map.idle_after=1 s",
    ];
    let mut d = filled(drive(&[&sets]), 4 << 30);
    rest(&mut d, Nanos::from_secs(600));
    let mut write = job(ReadWrite::RandWrite, 4096, 32);
    write.size = Some(4 << 30);
    write.io_bytes = Some(512 << 20);
    go(&mut d, write);
    rest(&mut d, Nanos::from_secs(600));
    let before = *d.counters();
    let slowest = (0..64)
        .map(|page| read_page(&mut d, page * 7))
        .max()
        .unwrap();
    assert_eq!(d.counters().map_reads, before.map_reads, "all were at hand");
    // A read of the slowest page, the page of its map over the link, and its own bytes.
    let longest = COMMAND + 75_000 + bus(4096) + 1_500 + 2 * link(4096);
    assert!(
        slowest <= longest,
        "a read waits {slowest} ns, {longest} at most"
    );
}

/// Pages that the firmware copies into the host's memory cross the link to it, and so does what is
/// read: on a slow link a read that comes just then waits behind them.
#[test]
fn a_read_waits_behind_pages_on_their_way_to_the_hosts_memory() {
    let wait = |residency: &str| {
        let residency = format!("map.residency={residency}");
        let sets = [
            "link.kind=nvme",
            "link.rate=10 MB/s",
            "map.cache=64 KiB",
            "map.idle_after=1 s",
            residency.as_str(),
        ];
        let mut d = filled(drive(&[&UNCACHED, &sets]), 256 << 20);
        rest(&mut d, Nanos::from_secs(600));
        read_page(&mut d, 0);
        // Twelve pages of the map change, and are written when the drive is quiet.
        for page in 1..13 {
            single(&mut d, Op::Write, page * REACH * 8, 8);
        }
        single(&mut d, Op::Flush, 0, 0);
        rest(&mut d, Nanos::from_us(1_000_100));
        read_page(&mut d, 0)
    };
    let page = 4096 * 1_000_000_000 / 10_000_000;
    let (copied, kept) = (wait("hmb"), wait("demand"));
    assert!(
        copied > kept + 8 * page,
        "{copied} ns, {kept} without copies"
    );
    assert!(
        copied < kept + 13 * page,
        "{copied} ns, {kept} without copies"
    );
}

#[test]
fn a_flush_may_write_the_map_too() {
    let mut d = drive(&[&SMALL]);
    single(&mut d, Op::Write, 0, 8);
    let program = bus(16384) + 404_800;
    assert_eq!(single(&mut d, Op::Flush, 0, 0), COMMAND + program);
    assert_eq!(d.ftl().dirty_map_pages().count(), 1);
    let mut d = drive(&[&SMALL, &["map.write_on_flush=true"]]);
    single(&mut d, Op::Write, 0, 8);
    let found = single(&mut d, Op::Flush, 0, 0);
    assert_eq!(found, COMMAND + 2 * program, "on the same die");
    assert_eq!(d.ftl().dirty_map_pages().count(), 0);
    assert_eq!(single(&mut d, Op::Flush, 0, 0), COMMAND);
    d.ftl().check();
}

/// While the host writes all over the drive, some page of the map has always changed since it was
/// written last. A flush waited for a moment in which none had, which did not come.
#[test]
fn a_flush_waits_for_no_change_of_the_map_that_came_after_it() {
    for how in ["program", "group"] {
        let flush = format!("controller.flush={how}");
        let mut d = filled(
            drive(&[&SMALL, &["map.write_on_flush=true", &flush]]),
            1 << 30,
        );
        let mut rng = Rng::new(1, 0);
        let (mut sent, mut done): (_, Vec<Completion>) = (0, Vec::new());
        for _ in 0..20 {
            let asked = d.now();
            d.submit(asked, Request::new(1, Op::Flush, 0, 0));
            while !done.iter().any(|answer| answer.tag == 1) {
                while sent < done.len() + 8 {
                    let unit = rng.below((1 << 30) / 4096);
                    d.submit(d.now(), Request::new(0, Op::Write, unit * 8, 8));
                    sent += 1;
                }
                let due = d.next_due().expect("commands are under way");
                d.advance(due, &mut done);
                let waits = d.now() - asked;
                assert!(waits < Nanos::from_secs(1), "no answer with {flush}");
            }
            done.retain(|answer| answer.tag != 1);
        }
        d.ftl().check();
    }
}

/// Random reads at depth one take what the hit rate says: that of a cache that holds the share
/// reach ÷ span of the pages. The knee of the curve is at the reach.
#[test]
fn random_reads_over_a_span_have_their_knee_at_the_reach_of_the_cache() {
    let sets = ["map.residency=demand", "map.cache=256 KiB"];
    let mut d = filled(drive(&[&UNCACHED, &sets]), 2 << 30);
    let data = (COMMAND + 60_000 + bus(4096) + link(4096)) as f64;
    for span_mib in [64u64, 128, 224, 512, 1024, 2048] {
        let mut read = job(ReadWrite::RandRead, 4096, 1);
        read.size = Some(span_mib << 20);
        read.io_bytes = Some(8 << 20);
        go(&mut d, read.clone());
        read.io_bytes = Some(32 << 20);
        let found = 4096e9 / rate(&go(&mut d, read));
        let missed = (1.0 - 256.0 / span_mib as f64).max(0.0);
        let expected = data + missed * PAGE_READ as f64;
        assert!(
            (found / expected - 1.0).abs() < 0.01,
            "{found} ns over {span_mib} MiB, {expected} expected"
        );
    }
}

/// With map pages programmed like data, each read far beyond the reach is two like reads.
#[test]
fn random_reads_over_the_whole_drive_halve_without_dram() {
    let reads = |sets: &[&str]| {
        let mut d = filled(drive(&[&UNCACHED, sets]), 8 << 30);
        let mut read = job(ReadWrite::RandRead, 4096, 32);
        read.size = Some(8 << 30);
        read.io_bytes = Some(64 << 20);
        rate(&go(&mut d, read))
    };
    let dram = reads(&[]);
    let demand = reads(&[SMALL[0], SMALL[1], "map.mode=native"]);
    let half = demand / dram;
    assert!((0.48..0.54).contains(&half), "{demand} of {dram}");
    let hmb = reads(&["link.kind=nvme", "map.residency=hmb", "map.cache=64 KiB"]);
    assert!(hmb / dram > 0.8, "{hmb} of {dram}");
}

#[test]
fn sequential_work_does_not_notice_the_map() {
    let rates = |sets: &[&str]| {
        let mut d = drive(&[&UNCACHED, sets]);
        let mut write = job(ReadWrite::Write, 128 << 10, 32);
        write.size = Some(2 << 30);
        let written = rate(&go(&mut d, write));
        let mut read = job(ReadWrite::Read, 128 << 10, 4);
        read.size = Some(2 << 30);
        (written, rate(&go(&mut d, read)), *d.counters())
    };
    let (dram, demand) = (rates(&[]), rates(&SMALL));
    assert!(demand.0 / dram.0 > 0.995, "{demand:?} {dram:?}");
    assert!(demand.1 / dram.1 > 0.99, "{demand:?} {dram:?}");
    let pages = (2u64 << 30) / 4096 / REACH;
    let written = demand.2.map_units;
    assert!((pages - 16..=pages).contains(&written), "{written} pages");
}

/// Beyond the reach of the cache every small write reads a page of the map and writes one.
#[test]
fn small_writes_over_a_large_span_write_the_map_as_often_as_data() {
    let waf = |span: u64| {
        let mut d = filled(drive(&[&UNCACHED, &SMALL]), 8 << 30);
        let before = *d.counters();
        let mut write = job(ReadWrite::RandWrite, 4096, 8);
        write.size = Some(span);
        write.io_bytes = Some(128 << 20);
        go(&mut d, write);
        d.ftl().check();
        let c = d.counters();
        let host = (c.host_units - before.host_units) as f64;
        (c.map_written - before.map_written + before.map_moved - c.map_moved) as f64 / host
    };
    let (near, far) = (waf(32 << 20), waf(8 << 30));
    assert!(near < 0.01, "{near} within the reach");
    assert!((0.9..1.02).contains(&far), "{far} far beyond it");
}

#[test]
fn folding_changes_the_map_too() {
    let sets = ["map.residency=demand", "map.cache=64 KiB"];
    let mut d = filled(drive(&[&sets]), 1 << 30);
    let before = d.counters().map_units;
    rest(&mut d, Nanos::from_secs(100));
    single(&mut d, Op::Flush, 0, 0);
    let c = *d.counters();
    assert!(c.fold_units > 200_000, "{c:?}");
    let again = c.map_units - before;
    let stale = d.ftl().dirty_map_pages().count() as u64;
    assert!((230..280).contains(&(again + stale)), "{again} and {stale}");
    d.ftl().check();
}

#[test]
fn a_trim_reads_the_pages_whose_entries_it_drops() {
    let mut d = filled(drive(&[&UNCACHED, &SMALL]), 1 << 30);
    let before = *d.counters();
    let long = single(&mut d, Op::Trim, 0, (200 * REACH * 8) as u32);
    let reads = d.counters().map_reads - before.map_reads;
    assert_eq!(reads, 200);
    assert!(long > 100 * PAGE_READ, "two dies read 200 pages: {long}");
    let written = d.counters().map_written - before.map_written;
    assert!(written <= 16, "{written}: pages of nothing are not written");
    rest(&mut d, Nanos::from_secs(1));
    let short = single(&mut d, Op::Trim, 220 * REACH * 8, 64);
    assert_eq!(short, COMMAND + PAGE_READ);
    for page in [0, 199] {
        let nothing = read_page(&mut d, page);
        assert_eq!(nothing, COMMAND + link(4096));
    }
    d.ftl().check();
}

#[test]
fn with_the_map_in_dram_the_other_keys_say_nothing() {
    let run = |sets: &[&str]| {
        let mut d = drive(&[sets]);
        let mut mix = job(ReadWrite::RandRw, 4096, 8);
        mix.io_bytes = Some(1 << 26);
        (go(&mut d, mix), *d.counters())
    };
    let other = [
        "map.cache=64 KiB",
        "map.entry=8",
        "map.mode=native",
        "map.hmb=1 MiB",
    ];
    let (plain, with) = (run(&[]), run(&other));
    assert_eq!(plain, with);
    let c = plain.1;
    assert_eq!(
        (c.map_units, c.map_reads, c.map_hits, c.map_misses),
        (0, 0, 0, 0)
    );
}

#[test]
fn twelve_bytes_a_unit_are_enough() {
    for sets in [&SMALL[..], &["link.kind=nvme", "map.residency=hmb"]] {
        let bytes = drive(&[sets]).bytes_per_unit();
        assert!(bytes < 12.0, "{bytes}");
    }
}

#[test]
fn a_shutdown_writes_the_map_back() {
    let mut d = filled(drive(&[&UNCACHED, &SMALL]), 1 << 30);
    d.enable_power_cuts();
    let mut write = job(ReadWrite::RandWrite, 4096, 8);
    write.size = Some(1 << 30);
    write.io_bytes = Some(4 << 20);
    go(&mut d, write);
    single(&mut d, Op::Flush, 0, 0);
    let written = |d: &Drive| d.counters().map_written;
    let dirty = d.ftl().dirty_map_pages().count() as u64;
    let before = written(&d);
    d.shut_down();
    assert_eq!(written(&d), before + dirty, "each page once");
    d.power_on(d.now());
    rest(&mut d, Nanos::from_secs(60));
    assert_eq!(written(&d), before + dirty, "nothing is left to write");
    d.ftl().check();
}

/// Writes a unit in the reach of each of twelve pages and rests; the answer is how many pages flash
/// lacks afterwards, how many were written, and the drive.
fn rested(sets: &[&str]) -> (usize, u64, Drive) {
    let mut d = drive(&[&UNCACHED, &SMALL, sets]);
    d.enable_power_cuts();
    for page in 0..12 {
        single(&mut d, Op::Write, page * REACH * 8, 8);
    }
    rest(&mut d, Nanos::from_secs(2));
    d.ftl().check();
    let dirty = d.ftl().dirty_map_pages().count();
    (dirty, d.counters().map_units, d)
}

#[test]
fn a_quiet_host_finds_its_map_on_flash() {
    let start = |d: &mut Drive| {
        let before = d.counters().map_written;
        let now = d.now();
        d.power_cut(now, &mut Vec::new());
        let ready = now + d.power_on(now);
        d.advance(ready + Nanos::from_secs(1), &mut Vec::new());
        d.ftl().check();
        // Pages that the start finds old are in the journal or in slots, and are written as those
        // fill.
        (
            d.ftl().dirty_map_pages().count(),
            d.counters().map_written - before,
        )
    };
    let (dirty, written, mut d) = rested(&[]);
    assert_eq!((dirty, written), (12, 0));
    assert!(start(&mut d).0 >= 12);
    let idle = "map.idle_after=1 s";
    let (dirty, written, mut d) = rested(&[idle]);
    assert_eq!((dirty, written), (0, 12));
    assert_eq!(start(&mut d), (0, 0), "a start has nothing to write anew");
    // A rest that is too short brings nothing.
    let (dirty, ..) = rested(&["map.idle_after=3 s"]);
    assert_eq!(dirty, 12);
}

#[test]
fn a_burst_after_a_rest_finds_slots_that_need_no_write() {
    // Twelve changed pages of sixteen slots; reads of sixteen others take them all.
    let burst = |sets: &[&str]| {
        let (.., mut d) = rested(sets);
        let before = d.counters().map_written;
        for page in 20..36 {
            single(&mut d, Op::Write, page * REACH * 8, 8);
        }
        d.counters().map_written - before
    };
    let (without, with) = (burst(&[]), burst(&["map.idle_after=1 s"]));
    assert!(
        without >= 12 && with <= 4,
        "{without} and {with} written in the burst"
    );
}

#[test]
fn a_victim_that_waits_for_the_host_does_not_keep_the_map_from_flash() {
    // A drive in its steady state: collection has begun a victim and goes on with the next write.
    let small = [
        "drive.capacity=1.6 GB",
        "nand.wordlines_per_block=32",
        "ftl.system=0",
        "map.idle_after=1 s",
    ];
    let mut d = drive(&[&UNCACHED, &SMALL, &small]);
    go(&mut d, job(ReadWrite::Write, 128 << 10, 8));
    let mut write = job(ReadWrite::RandWrite, 4096, 8);
    for seed in 0..8 {
        write.seed = seed;
        write.io_bytes = Some(if seed == 0 { 600 << 20 } else { 3 << 20 });
        go(&mut d, write.clone());
        assert!(d.ftl().dirty_map_pages().count() > 0);
        rest(&mut d, Nanos::from_secs(10));
        assert_eq!(d.ftl().dirty_map_pages().count(), 0, "after a rest {seed}");
        d.ftl().check();
    }
    assert!(d.counters().gc_units > 0);
}
