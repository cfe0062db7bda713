//! Pages that a power cut in the program of another page of their wordline tears, by cuts at known
//! instants and times reckoned by hand.

use crate::common::asks::{self, UNCACHED, link, single};
use flashtwin_base::{Device, Nanos, Op};
use flashtwin_drive::Drive;

/// Two dies of four planes, pages of 16 KiB: a granule is a row of 16 units; three page types.
const DRIVE: [&str; 6] = [
    "nand.native.tprog=[\"500 us\", \"1 ms\", \"2 ms\"]",
    "controller.gather_time=5 s",
    "nand.wordlines_per_block=64",
    "nand.blocks_per_plane=200",
    "ftl.system=0",
    "drive.capacity=4 GB",
];
const LOST: &str = "ftl.paired_pages=lost";
const COMMAND: u64 = 6_000;
const ROW: u64 = 16;

fn drive(sets: &[&str]) -> Drive {
    let mut d = asks::drive(&[&UNCACHED, &DRIVE, sets]);
    d.enable_power_cuts();
    d
}

/// Sends a command and waits for its answer; the answer is the time it took.
fn ask(d: &mut Drive, op: Op, unit: u64, units: u64) -> u64 {
    single(d, op, unit * 8, (units * 8) as u32).0
}

fn rest(d: &mut Drive, span: Nanos) {
    let to = d.now() + span;
    d.advance(to, &mut Vec::new());
}

/// The units, among the first ones, that a cut after so long loses.
fn lost_by_cut(d: &mut Drive, after: Nanos, units: u64) -> Vec<u64> {
    let at = d.now() + after;
    d.power_cut(at, &mut Vec::new());
    d.power_on(at);
    d.ftl().check();
    let gone = |&unit: &u64| d.ftl().version(unit as u32).is_none();
    (0..units).filter(gone).collect()
}

#[test]
fn a_cut_under_an_upper_page_takes_the_lower_ones_that_nothing_backs_up() {
    let both = 2 * ROW;
    for (sets, upper, after, lost) in [
        // The lower pages alone are safe from anything but a program above them.
        (&[][..], false, 10_000, 0..0),
        (&[LOST][..], false, 10_000, 0..0),
        // The middle pages are in programming for a millisecond.
        (&[][..], true, 500, both..2 * both),
        (&[LOST][..], true, 500, 0..2 * both),
        // And then they stand alone, or two pages together, until the upper ones come.
        (&[][..], true, 10_000, 0..0),
        (&[LOST][..], true, 10_000, 0..0),
    ] {
        let mut d = drive(sets);
        ask(&mut d, Op::Write, 0, both);
        rest(&mut d, Nanos::from_ms(100));
        if upper {
            ask(&mut d, Op::Write, both, both);
        }
        let units = if upper { 2 * both } else { both };
        let found = lost_by_cut(&mut d, Nanos::from_us(after), units);
        let expected: Vec<u64> = lost.clone().collect();
        assert_eq!(found, expected, "{sets:?} upper {upper} after {after} us");
    }
}

#[test]
fn a_flush_has_the_wordline_padded_to_its_end() {
    for (sets, pads) in [(&[][..], 0), (&[LOST][..], 4 * ROW)] {
        let mut d = drive(sets);
        ask(&mut d, Op::Write, 0, 2 * ROW);
        ask(&mut d, Op::Flush, 0, 0);
        assert_eq!(d.counters().pad_units, pads, "{sets:?}");
        // No cut takes flushed data, whatever is being programmed.
        for round in (1..40).step_by(3) {
            ask(&mut d, Op::Write, 2 * ROW * round, 2 * ROW);
            let found = lost_by_cut(&mut d, Nanos::from_us(round * 97), 2 * ROW);
            assert!(found.is_empty(), "{found:?} in round {round}");
        }
    }
}

#[test]
fn a_write_through_waits_for_all_pages_of_its_wordline() {
    let through = [
        "controller.acknowledge=write-through",
        "controller.gather=false",
    ];
    let bus = ROW * 4096 / 4 * 1_000_000_000 / 400_000_000;
    let sent = COMMAND + link(4096) + bus;
    let mut d = drive(&through);
    assert_eq!(ask(&mut d, Op::Write, 0, 1), sent + 500_000);
    assert_eq!(d.counters().pad_units, ROW - 1);
    let mut d = drive(&[&through[..], &[LOST]].concat());
    // Padding goes round the dies and needs no transfer.
    assert_eq!(ask(&mut d, Op::Write, 0, 1), sent + 3_500_000);
    assert_eq!(d.counters().pad_units, ROW - 1 + 4 * ROW);
    // Its data is read from the buffer until then, and from the flash afterwards.
    let (time, page) = (ask(&mut d, Op::Read, 0, 1), 45_000);
    assert_eq!(time, COMMAND + page + 10_240 + link(4096));
}

#[test]
fn nothing_that_was_promised_is_lost_by_cuts_at_any_instant() {
    // Overwrites of a small range and collection, cut after each few commands: what was flushed
    // is there with its version or a later one.
    let sets = [
        LOST,
        "nand.blocks_per_plane=12",
        "nand.wordlines_per_block=16",
        "drive.capacity=20 MiB",
        "controller.write_buffer=1 MiB",
    ];
    let mut d = drive(&sets);
    let units = d.capacity_bytes() / 4096 / ROW * ROW;
    let mut floor = vec![0; units as usize];
    let mut state = 1u64;
    let mut chance = |below: u64| {
        state = state
            .wrapping_mul(6_364_136_223_846_793_005)
            .wrapping_add(1);
        (state >> 33) % below
    };
    for round in 0..300 {
        for _ in 0..chance(60) {
            let at = chance(units / ROW) * ROW;
            ask(&mut d, Op::Write, at, 1 + chance(ROW));
        }
        if chance(2) == 0 {
            ask(&mut d, Op::Flush, 0, 0);
            for (unit, floor) in floor.iter_mut().enumerate() {
                *floor = d.ftl().version(unit as u32).unwrap_or(0);
            }
        }
        lost_by_cut(&mut d, Nanos::from_us(chance(3000)), 0);
        for (unit, &floor) in floor.iter().enumerate() {
            let found = d.ftl().version(unit as u32).unwrap_or(0);
            assert!(
                found >= floor,
                "unit {unit} is {found}, was {floor}, round {round}"
            );
        }
        // The next cuts may take what was not promised, but for what came back from flash.
        for (unit, floor) in floor.iter_mut().enumerate() {
            *floor = d.ftl().version(unit as u32).unwrap_or(0);
        }
    }
    assert!(d.counters().gc_units > 0);
}
