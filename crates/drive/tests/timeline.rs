//! A recording shows what the drive did, changes nothing of it, and keeps to its stretch.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex};

use flashtwin_base::{Nanos, Op};
use flashtwin_drive::Drive;
use flashtwin_drive::timeline::{Activity, Origin, Sink, Slice, Track, name_of};
use flashtwin_host::Outcome;
use flashtwin_workload::ReadWrite;

use crate::common::asks::{Host, drive, single};
use crate::common::loops::{go, job, rest};

/// Keeps all that it is handed.
#[derive(Clone, Default)]
struct Kept(Arc<Mutex<Vec<Slice>>>);

impl Sink for Kept {
    fn take(&mut self, slices: &[Slice]) -> bool {
        self.0.lock().expect("one thread").extend(slices);
        true
    }
}

impl Kept {
    fn slices(&self) -> Vec<Slice> {
        self.0.lock().expect("one thread").clone()
    }
}

/// A sixteenth of the base, which folds and collects in a short test.
const SMALL: &[&str] = &[
    "nand.wordlines_per_block=24",
    "drive.capacity=1300000768 B",
    "ftl.system=15 MB",
    "slc_cache.size=130 MB",
    "slc_cache.rearm=12 MB",
    "fold.reserve=62 MB",
];
const SUSPENDS: &[&str] = &[
    "nand.suspend.program=true",
    "nand.suspend.erase=true",
    "nand.channels=1",
    "nand.dies_per_channel=2",
];
const PLANES: &[&str] = &["nand.independent_planes=true"];
/// Two cores that prepare operations too, and a link that sends both ways at once.
const CORES: &[&str] = &[
    "controller.cores=2",
    "controller.read_time=2 us",
    "controller.program_time=3 us",
    "controller.move_time=1 us",
    "link.kind=nvme",
];

/// A fill, then reads and writes at once.
fn worked(drive: &mut Drive) -> [Outcome; 2] {
    let mut mixed = job(ReadWrite::RandRw, 4096, 16);
    mixed.io_bytes = Some(400 << 20);
    [
        go(drive, job(ReadWrite::Write, 128 << 10, 32)),
        go(drive, mixed),
    ]
}

fn recorded(sets: &[&[&str]], stretch: (Nanos, Nanos)) -> (Drive, [Outcome; 2], Vec<Slice>) {
    let (mut drive, kept) = (drive(sets), Kept::default());
    drive.record(stretch.0, stretch.1, Box::new(kept.clone()));
    let outcomes = worked(&mut drive);
    // Data waits in the buffer and for the dies when the last command is answered.
    single(&mut drive, Op::Flush, 0, 0);
    rest(&mut drive, Nanos::from_secs(1));
    drive.end_recording();
    (drive, outcomes, kept.slices())
}

const ALL: (Nanos, Nanos) = (Nanos::ZERO, Nanos::NEVER);

fn by_track(slices: &[Slice]) -> BTreeMap<Track, Vec<Slice>> {
    let mut tracks = BTreeMap::<Track, Vec<Slice>>::new();
    for &slice in slices {
        tracks.entry(slice.track).or_default().push(slice);
    }
    tracks
}

#[test]
fn what_is_recorded_happens_as_it_does_unrecorded() {
    for sets in [
        &[SMALL][..],
        &[SMALL, SUSPENDS],
        &[SMALL, PLANES],
        &[SMALL, CORES],
    ] {
        let mut plain = drive(sets);
        let expected = worked(&mut plain);
        let (_, outcomes, slices) = recorded(sets, ALL);
        for (outcome, expected) in outcomes.iter().zip(&expected) {
            assert_eq!(outcome.end, expected.end, "{sets:?}");
            assert_eq!(outcome.series.bytes, expected.series.bytes, "{sets:?}");
        }
        for (track, slices) in by_track(&slices) {
            for pair in slices.windows(2) {
                assert!(
                    pair[0].end <= pair[1].begin,
                    "{track:?} does two things: {pair:?}"
                );
            }
        }
    }
}

#[test]
fn every_command_and_every_programmed_byte_is_in_it() {
    let (drive, outcomes, slices) = recorded(&[SMALL], ALL);
    let commands = |op: Op| -> u64 {
        let of = |s: &&Slice| matches!(s.activity, Activity::Command(o, _) if o == op);
        slices.iter().filter(of).map(|s| s.bytes).sum()
    };
    assert_eq!(commands(Op::Write), drive.totals().bytes(Op::Write));
    assert_eq!(commands(Op::Read), drive.totals().bytes(Op::Read));

    let to_dies = slices
        .iter()
        .filter(|s| matches!(s.activity, Activity::ToDie(_)));
    let taken: u64 = to_dies.map(|s| s.bytes).sum();
    // All but what pads a program, which does not cross the channel, and what a mover has gathered
    // for granules that are not full.
    let counters = drive.counters();
    let missing = counters.programmed_units() - taken / 4096;
    assert!(
        missing < counters.pad_units + 48,
        "{missing} units are missing: {:?}",
        counters.by_cause()
    );

    let last = outcomes[1].end + Nanos::from_secs(1);
    let busy = |origin: Origin| slices.iter().any(|s| s.origin == Some(origin));
    assert!(busy(Origin::Host) && busy(Origin::Fold) && busy(Origin::Collect));
    for (track, slices) in by_track(&slices) {
        let work: u64 = slices.iter().map(|s| (s.end - s.begin).0).sum();
        let commands_wait = matches!(track, Track::Command(_));
        assert!(
            commands_wait || work <= last.0,
            "{track:?} works longer than there is time"
        );
    }
}

fn total(slices: &[Slice], of: impl Fn(&Slice) -> bool) -> (u64, u64) {
    let those = slices.iter().filter(|s| of(s));
    those.fold((0, 0), |(ns, bytes), s| {
        (ns + (s.end - s.begin).0, bytes + s.bytes)
    })
}

#[test]
fn all_that_a_host_asks_for_crosses_the_link() {
    for (sets, tracks) in [(&[SMALL][..], 1), (&[SMALL, CORES], 2)] {
        let (drive, _, slices) = recorded(sets, ALL);
        let of_link = |s: &&Slice| matches!(s.track, Track::Link(_));
        let used: Vec<Slice> = slices.iter().filter(of_link).copied().collect();
        assert_eq!(by_track(&used).len(), tracks, "{sets:?}");
        let written = total(&slices, |s| s.activity == Activity::FromHost).1;
        let read = total(&slices, |s| s.activity == Activity::ToHost).1;
        assert_eq!(written, drive.totals().bytes(Op::Write), "{sets:?}");
        assert_eq!(read, drive.totals().bytes(Op::Read), "{sets:?}");
    }
}

#[test]
fn cores_understand_every_command_and_prepare_every_operation() {
    let (drive, _, slices) = recorded(&[SMALL, CORES], ALL);
    let cores: Vec<_> = by_track(&slices).into_keys().collect();
    let cores = cores.iter().filter(|t| matches!(t, Track::Core(_))).count();
    assert_eq!(cores, 2);
    let count = |of: &dyn Fn(Activity) -> bool| slices.iter().filter(|s| of(s.activity)).count();
    let asked = count(&|a| matches!(a, Activity::Command(..)));
    assert_eq!(count(&|a| matches!(a, Activity::Understands(_))), asked);
    // Each operation that began has been prepared before, but for erases, which take no time.
    let is_erase = |class: u8| name_of(class).ends_with("erase");
    let ended = count(&|a| matches!(a, Activity::Array(class, _) if !is_erase(class)));
    let prepared = count(&|a| matches!(a, Activity::Prepares(class) if !is_erase(class)));
    assert_eq!(prepared, ended, "{:?}", drive.counters().by_cause());
    // A core moves a unit in 1 us and prepares a read in 2 us: a page of fold is the sum.
    let read = slices
        .iter()
        .find(|s| matches!(s.activity, Activity::Prepares(_)) && s.origin == Some(Origin::Host));
    assert!(
        read.is_some_and(|s| (s.end - s.begin).0 >= 2_000),
        "{read:?}"
    );
}

#[test]
fn an_operation_lasts_as_long_as_the_part_says() {
    let (_, _, slices) = recorded(&[SMALL], ALL);
    for slice in &slices {
        let Activity::Array(class, _) = slice.activity else {
            continue;
        };
        let expected = match name_of(class) {
            "SLC read" => 35_000,
            "SLC program" => 404_800,
            "SLC erase" => 5_000_000,
            "native program" => 4_300_000,
            "native erase" => 10_000_000,
            "native read, page type 0" => 45_000,
            "native read, page type 1" => 60_000,
            "native read, page type 2" => 75_000,
            other => panic!("this drive has no {other}"),
        };
        assert_eq!((slice.end - slice.begin).0, expected, "{slice:?}");
    }
}

#[test]
fn a_suspended_program_is_there_in_its_parts() {
    let mut host = Host::new(&[
        &crate::common::asks::UNCACHED,
        &[
            "controller.acknowledge=write-through",
            "controller.gather=false",
            "controller.read_ahead_streams=0",
            "nand.suspend.entry=20 us",
            "nand.suspend.penalty=30 us",
            "nand.suspend.program=true",
        ],
    ]);
    let start = host.filled(2, 48);
    let kept = Kept::default();
    host.drive.record(ALL.0, ALL.1, Box::new(kept.clone()));
    host.send(start, 1, Op::Write, 96, 48);
    host.send(start + 2_000_000, 2, Op::Read, 0, 1);
    host.answered(1);
    host.drive.end_recording();
    let of_die = |s: &&Slice| s.track == Track::Die(0, 0);
    let slices = kept.slices();
    let [first, read, rest] = slices.iter().filter(of_die).collect::<Vec<_>>()[..] else {
        panic!("{slices:?}");
    };
    assert!(
        matches!(first.activity, Activity::Suspended(_)),
        "{first:?}"
    );
    assert!(matches!(read.activity, Activity::Array(..)), "{read:?}");
    // The time that the program still lacked when it was asked for, after the penalty.
    let lacked = 4_300_000 + 20_000 - (first.end - first.begin).0;
    assert_eq!((rest.end - rest.begin).0, lacked, "{rest:?}");
}

#[test]
fn a_stretch_has_what_goes_on_in_it_and_nothing_else() {
    let (_, outcomes, slices) = recorded(&[SMALL], ALL);
    let begin = Nanos(outcomes[0].end.0 / 2);
    let stretch = (begin, begin + Nanos::from_ms(20));
    let (_, _, part) = recorded(&[SMALL], stretch);
    let overlaps = |s: &&Slice| s.end > stretch.0 && s.begin < stretch.1;
    let expected: Vec<Slice> = slices.iter().filter(overlaps).copied().collect();
    assert!(!part.is_empty());
    assert_eq!(part, expected);
}
