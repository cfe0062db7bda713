//! What a flush costs and what several of them share, as a host sees it.

use crate::common::asks::{self, bus, link};
use crate::common::{BASE, load_with};
use flashtwin_base::{Completion, Device, Nanos, Op, Request, Status};
use flashtwin_drive::Drive;

const COMMAND: u64 = 6_000;
/// The base's wordline in SLC mode.
const PROGRAM: u64 = 404_800;
const PAGE: u64 = 16 << 10;
const GROUPED: [&str; 1] = ["controller.flush=group"];

/// Writers at queue depth 1, each with a flush after each write of 4 KiB; `depth` writes of one
/// writer are sent at once before its flush.
struct Writers {
    drive: Drive,
    /// Of each: writes under way, and whether its flush is.
    state: Vec<(u32, bool)>,
    next: u64,
    flushed: u64,
    waits: Vec<u64>,
}

impl Writers {
    fn new(sets: &[&str], writers: usize) -> Writers {
        Writers {
            drive: asks::drive(&[sets]),
            state: vec![(0, false); writers],
            next: 0,
            flushed: 0,
            waits: Vec::new(),
        }
    }

    fn write(&mut self, writer: usize, depth: u32) {
        self.state[writer] = (depth, false);
        for _ in 0..depth {
            let now = self.drive.now();
            // Spread over the drive, so that no two share a unit.
            let unit = self.next * 7_919 % 100_000;
            self.next += 1;
            let request = Request::new(writer as u32, Op::Write, unit * 8, 8);
            self.drive.submit(now, request);
        }
    }

    /// Goes on until this number of flushes is answered; the answer is units programmed for each
    /// that was written, and flushes a second.
    fn run(&mut self, depth: u32, flushes: u64) -> (f64, f64) {
        let (begun, mut sent) = (self.drive.now(), vec![Nanos::ZERO; self.state.len()]);
        (0..self.state.len()).for_each(|writer| self.write(writer, depth));
        let mut done: Vec<Completion> = Vec::new();
        while self.flushed < flushes {
            let due = self.drive.next_due().expect("a command is under way");
            self.drive.advance(due, &mut done);
            for answer in std::mem::take(&mut done) {
                assert_eq!(answer.status, Status::Ok);
                let writer = answer.tag as usize;
                let (writes, flush) = self.state[writer];
                if flush {
                    self.flushed += 1;
                    self.waits.push((answer.at - sent[writer]).0);
                    self.write(writer, depth);
                } else if writes > 1 {
                    self.state[writer].0 -= 1;
                } else {
                    self.state[writer] = (0, true);
                    sent[writer] = answer.at;
                    let request = Request::new(answer.tag, Op::Flush, 0, 0);
                    self.drive.submit(answer.at, request);
                }
            }
        }
        let seconds = (self.drive.now() - begun).0 as f64 / 1e9;
        let programmed = self.drive.counters().programmed_units();
        let written = (self.flushed * u64::from(depth)) as f64;
        (programmed as f64 / written, self.flushed as f64 / seconds)
    }
}

#[test]
fn a_flush_programs_what_waits_and_then_the_journal() {
    let data = bus(PAGE);
    for (sets, time) in [
        (&[][..], data + PROGRAM),
        (&GROUPED[..], data + PROGRAM),
        (
            &["controller.flush=group", "controller.flush_time=50 us"][..],
            50_000 + data + PROGRAM,
        ),
        (
            &[
                "controller.flush=group",
                "controller.flush_pages=2",
                "ftl.pad_pages=true",
            ][..],
            3 * (data + PROGRAM),
        ),
        (&["controller.plp=true"][..], 0),
        (
            &["controller.plp=true", "controller.flush_time=20 us"][..],
            20_000,
        ),
        (&["controller.flush=ignore"][..], 0),
    ] {
        let mut drive = asks::drive(&[sets]);
        asks::single(&mut drive, Op::Write, 0, 8);
        let (took, status) = asks::single(&mut drive, Op::Flush, 0, 0);
        assert_eq!((took, status), (COMMAND + time, Status::Ok), "{sets:?}");
    }
}

#[test]
fn force_unit_access_has_a_cost_of_its_own() {
    let written = COMMAND + link(4096);
    let programmed = written + bus(PAGE) + PROGRAM;
    let journal = "controller.flush_pages=1";
    for (sets, time) in [
        (&[][..], programmed),
        (&["controller.flush=group", journal][..], programmed),
        (
            &[
                "controller.flush=group",
                journal,
                "controller.fua=flush",
                "ftl.pad_pages=true",
            ][..],
            programmed + bus(PAGE) + PROGRAM,
        ),
        (&["controller.flush=ignore"][..], written),
        (&["controller.plp=true"][..], written),
    ] {
        let mut drive = asks::drive(&[sets]);
        let mut request = Request::new(1, Op::Write, 0, 8);
        request.fua = true;
        assert_eq!(
            asks::ask(&mut drive, request),
            (time, Status::Ok),
            "{sets:?}"
        );
    }
}

#[test]
fn padding_shrinks_with_what_is_queued() {
    let sets = ["controller.flush=group", "ftl.pad_pages=true"];
    let waf = |depth| Writers::new(&sets, 1).run(depth, 200).0;
    let (alone, eight, many) = (waf(1), waf(8), waf(32));
    assert!(
        (3.9..4.2).contains(&alone),
        "a page of 16 KiB each: {alone}"
    );
    assert!(
        (1.0..1.1).contains(&eight),
        "eight share two pages: {eight}"
    );
    assert!((1.0..1.1).contains(&many), "32 fill two wordlines: {many}");
    let wordlines = Writers::new(&GROUPED, 1).run(1, 200).0;
    assert!(
        (15.5..16.5).contains(&wordlines),
        "a wordline each: {wordlines}"
    );
}

#[test]
fn flushes_that_wait_together_are_one() {
    let sets = [
        "controller.flush=group",
        "controller.flush_pages=1",
        "ftl.pad_pages=true",
    ];
    let (waf, rate) = Writers::new(&sets, 1).run(1, 200);
    for (writers, gain) in [(4, 1.9), (16, 7.0)] {
        let (shared, total) = Writers::new(&sets, writers).run(1, 400);
        assert!(
            total > gain * rate,
            "{writers} writers: {total} against {rate}"
        );
        assert!(total < writers as f64 * rate, "{writers} writers: {total}");
        assert!(shared < waf, "{writers} writers: {shared} against {waf}");
    }
    // Each for itself programs for itself.
    let (single, _) = Writers::new(&[], 16).run(1, 400);
    let (group, _) = Writers::new(&GROUPED, 16).run(1, 400);
    assert!(group < single / 2.0, "{group} against {single}");
}

#[test]
fn flushes_beside_folding_have_a_tail() {
    let sets = [
        "controller.flush=group",
        "controller.flush_pages=1",
        "ftl.pad_pages=true",
        "slc_cache.size=1 GB",
        "fold.idle_after=1 ms",
    ];
    let mut writers = Writers::new(&sets, 1);
    let (chunk, mut lba) = (1024, 1_000_000);
    while writers.drive.counters().fold_units == 0 {
        asks::single(&mut writers.drive, Op::Write, lba, chunk);
        lba += u64::from(chunk);
    }
    writers.run(1, 1_000);
    let mut waits = writers.waits;
    waits.sort_unstable();
    let (median, slow) = (waits[waits.len() / 2], waits[waits.len() * 99 / 100]);
    assert!(slow > 2 * median, "{slow} ns of 99 %, {median} ns of half");
}

#[test]
fn a_drive_that_ignores_flushes_says_so() {
    let warns = |sets: &[&str]| {
        let warnings = load_with(BASE, &[], sets).warnings;
        let said = "flushes and FUA are answered at once";
        warnings.iter().any(|text| text.contains(said))
    };
    assert!(warns(&["controller.flush=ignore"]));
    assert!(!warns(&["controller.flush=group"]));
    assert!(!warns(&["controller.flush=ignore", "controller.plp=true"]));
}

/// Sends commands one after another at the beginning of a drive's time, and lets it answer all.
fn at_once(sets: &[&str], requests: &[Request]) -> (Drive, Vec<Completion>) {
    let mut drive = asks::drive(&[sets]);
    requests.iter().for_each(|&r| drive.submit(Nanos::ZERO, r));
    let mut done = Vec::new();
    while done.len() < requests.len() {
        let due = drive.next_due().expect("a command is under way");
        drive.advance(due, &mut done);
    }
    (drive, done)
}

/// A firmware that needs no time understands commands at the beginning of the drive's time, too. A
/// group of flushes took the write that was crossing the link for one not understood yet, queued it
/// behind the next, and that got its data.
#[test]
fn a_group_at_the_beginning_of_time_leaves_the_queue_as_it_is() {
    let sets = [
        GROUPED[0],
        "controller.flush_time=0",
        "controller.command_time=0",
        "link.submit_time=0",
    ];
    let long = Request::new(0, Op::Write, 0, 16);
    let short = |tag: u32| Request::new(tag, Op::Write, 800 * u64::from(tag), 8);
    let flush = Request::new(1, Op::Flush, 0, 0);
    let (drive, done) = at_once(&sets, &[long, flush, short(2), short(3)]);
    assert!(done.iter().all(|answer| answer.status == Status::Ok));
    let written =
        [0, 1, 200, 300].map(|lpn| drive.ftl().find(lpn) != flashtwin_ftl::Found::Nowhere);
    assert_eq!(written, [true; 4]);
    drive.ftl().check();
}

/// A flush waits for the writes that were queued before it, which is the host's own doing: a queue
/// of 64 MB takes as long as the link has.
#[test]
fn writes_queued_before_a_flush_are_no_wait_of_the_drives() {
    let sets = [
        GROUPED[0],
        "controller.longest_wait=20 ms",
        "link.kind=nvme",
        "link.queue_depth=64",
    ];
    let writes = (0..32).map(|tag| Request::new(tag, Op::Write, 4096 * u64::from(tag), 4096));
    let requests: Vec<Request> = writes.chain([Request::new(32, Op::Flush, 0, 0)]).collect();
    let (mut drive, done) = at_once(&sets, &requests);
    let flushed = done
        .iter()
        .find(|answer| answer.tag == 32)
        .expect("an answer");
    assert!(flushed.at > Nanos::from_ms(100), "{:?}", flushed.at);
    assert_eq!(drive.take_waits(), None);
}

/// A write that is answered once it is programmed shares its program with the writes behind it, as
/// long as some are queued: how fast their data comes is the link's doing.
#[test]
fn writes_queued_behind_a_write_are_no_wait_of_the_drives() {
    let sets = [
        "controller.acknowledge=write-through",
        "controller.longest_wait=20 ms",
        "link.kind=nvme",
        "link.rate=100 kB/s",
    ];
    let writes = (1..8).map(|tag| Request::new(tag, Op::Write, 64 * u64::from(tag), 64));
    let first = Request::new(0, Op::Write, 0, 1);
    let requests: Vec<Request> = [first].into_iter().chain(writes).collect();
    let (mut drive, done) = at_once(&sets, &requests);
    let answer = done.iter().find(|answer| answer.tag == 0);
    let at = answer.expect("an answer").at;
    assert!(at > Nanos::from_ms(100), "{at:?}");
    assert_eq!(drive.take_waits(), None);
}
