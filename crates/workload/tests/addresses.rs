//! What jobs ask for, seen as the list of their requests.

use flashtwin_workload::{Ask, Direction, Generator, RawJob};
use proptest::prelude::*;

const CAPACITY: u64 = 64 << 20;

/// A generator from the fields of a job; sizes in the JSON are bytes.
fn generator(fields: &str) -> Generator {
    let json = format!(r#"{{"name": "j", {fields}}}"#);
    let raw: RawJob = serde_json::from_str(&json).unwrap();
    Generator::new(&raw.check(CAPACITY).unwrap(), 0)
}

fn all_of(generator: &mut Generator, thread: usize) -> Vec<(u64, u32)> {
    std::iter::from_fn(|| generator.next(thread))
        .map(|ask| (ask.lba, ask.sectors))
        .collect()
}

#[test]
fn a_pass_ends_with_a_short_request() {
    let mut pass = generator(r#""rw": "write", "block_bytes": 4096, "offset": 512, "size": 10240"#);
    assert_eq!(all_of(&mut pass, 0), [(1, 8), (9, 8), (17, 4)]);
    assert_eq!(pass.next(0), None, "a job that has ended stays so");
}

#[test]
fn io_bytes_wraps_and_cuts_the_last_request() {
    let mut job =
        generator(r#""rw": "write", "block_bytes": 4096, "size": 10240, "io_bytes": 19456"#);
    assert_eq!(
        all_of(&mut job, 0),
        [(0, 8), (8, 8), (16, 4), (0, 8), (8, 8), (16, 2)]
    );
}

#[test]
fn threads_have_a_pass_each_or_share_one() {
    let fields = r#""rw": "read", "block_bytes": 512, "size": 1024, "threads": 2"#;
    let mut own = generator(fields);
    assert_eq!(all_of(&mut own, 0), [(0, 1), (1, 1)]);
    assert_eq!(all_of(&mut own, 1), [(0, 1), (1, 1)]);
    let mut shared = generator(&format!(r#"{fields}, "shared_stream": true"#));
    assert_eq!(shared.next(1).map(|ask| ask.lba), Some(0));
    assert_eq!(shared.next(0).map(|ask| ask.lba), Some(1));
    assert_eq!(shared.next(1), None);
}

#[test]
fn io_bytes_counts_all_threads() {
    let mut job = generator(
        r#""rw": "read", "block_bytes": 512, "size": 4096, "threads": 2, "io_bytes": 1536"#,
    );
    assert_eq!(job.next(0).map(|ask| ask.lba), Some(0));
    assert_eq!(job.next(1).map(|ask| ask.lba), Some(0));
    assert_eq!(job.next(1).map(|ask| ask.lba), Some(1));
    assert_eq!((job.next(0), job.next(1)), (None, None));
}

#[test]
fn reads_and_writes_of_a_sequential_mix_go_their_own_ways() {
    let mut job =
        generator(r#""rw": "rw", "block_bytes": 512, "size": 1048576, "io_bytes": 1048576"#);
    let mut expected = [0, 0, 0];
    while let Some(Ask { direction, lba, .. }) = job.next(0) {
        assert_eq!(lba, expected[direction as usize]);
        expected[direction as usize] += 1;
    }
    assert_eq!(expected[0] + expected[1], 2048);
    assert!(expected[0] > 900 && expected[1] > 900, "{expected:?}");
}

#[test]
fn random_requests_are_whole_blocks_and_spread_evenly() {
    let mut job = generator(
        r#""rw": "randtrim", "block_bytes": 4096, "offset": 4096, "size": 34816,
            "io_bytes": 33554432"#,
    );
    let mut seen = [0; 8];
    while let Some(ask) = job.next(0) {
        assert_eq!(
            (ask.direction, ask.sectors, ask.lba % 8),
            (Direction::Trim, 8, 0)
        );
        seen[(ask.lba / 8 - 1) as usize] += 1;
    }
    // 8,192 draws over 8 blocks: 1,024 ± 5 standard deviations.
    assert!(seen.iter().all(|n| (874..=1174).contains(n)), "{seen:?}");
}

#[test]
fn zones_get_their_shares_of_the_requests() {
    let mut job = generator(
        r#""rw": "randwrite", "block_bytes": 4096, "size": 40960, "io_bytes": 81920000,
            "zones": [{"access_percent": 80, "size_percent": 20},
            {"access_percent": 20, "size_percent": 80}]"#,
    );
    let mut hot = 0;
    let mut seen = [0; 10];
    while let Some(ask) = job.next(0) {
        hot += u32::from(ask.lba < 16);
        seen[(ask.lba / 8) as usize] += 1;
    }
    // 20,000 draws: 16,000 ± 5 standard deviations of 57.
    assert!((15_715..=16_285).contains(&hot), "{hot}");
    assert!(seen.iter().all(|n| *n > 350), "{seen:?}");
}

#[test]
fn random_trims_take_what_holds_data() {
    let mut job = generator(
        r#""rw": "randwrite", "block_bytes": 4096, "size": 409600, "io_bytes": 81920000,
            "trim_percent": 20"#,
    );
    let (mut holds, mut sum, mut asks) = (vec![true; 100], 0, 0);
    while let Some(ask) = job.next(0) {
        let block = (ask.lba / 8) as usize;
        if ask.direction == Direction::Trim {
            assert!(holds[block], "block {block} was trimmed already");
        }
        holds[block] = ask.direction == Direction::Write;
        asks += 1;
        sum += holds.iter().filter(|holds| **holds).count();
    }
    // In the steady state (1 - 2q)/(1 - q) of the blocks hold data.
    let share = sum as f64 / f64::from(asks) / 100.0;
    assert!((share - 0.75).abs() < 0.02, "{share}");
}

#[test]
fn a_job_of_trims_alone_ends_with_writes_where_nothing_is_left() {
    let mut job = generator(
        r#""rw": "randwrite", "block_bytes": 4096, "size": 8192, "io_bytes": 40960,
            "trim_percent": 100"#,
    );
    let all: Vec<_> = std::iter::from_fn(|| job.next(0)).collect();
    let trims = all.iter().filter(|ask| ask.direction == Direction::Trim);
    assert_eq!((all.len(), trims.count() >= 3), (10, true));
}

#[test]
fn a_random_pass_is_the_whole_blocks_of_the_span() {
    let mut job = generator(r#""rw": "randwrite", "block_bytes": 4096, "size": 10240"#);
    assert_eq!(all_of(&mut job, 0).len(), 2);
}

#[test]
fn threads_and_jobs_of_one_seed_differ() {
    let fields =
        r#""name": "j", "rw": "randread", "block_bytes": 512, "threads": 2, "io_bytes": 102400"#;
    let raw: RawJob = serde_json::from_str(&format!("{{{fields}}}")).unwrap();
    let job = raw.check(CAPACITY).unwrap();
    let drawn = |index, thread| {
        let mut generator = Generator::new(&job, index);
        (0..8)
            .map(|_| generator.next(thread).unwrap().lba)
            .collect::<Vec<_>>()
    };
    assert_eq!(drawn(0, 0), drawn(0, 0));
    assert_ne!(drawn(0, 0), drawn(0, 1));
    assert_ne!(drawn(0, 0), drawn(1, 0));
}

proptest! {
    /// A sequential pass covers every sector of its span once, whatever the block.
    #[test]
    fn a_pass_covers_its_span(block in 1u64..40, first in 0u64..50, span in 1u64..500) {
        let mut job = generator(&format!(
            r#""rw": "write", "block_bytes": {}, "offset": {}, "size": {}"#,
            block * 512, first * 512, span * 512,
        ));
        let mut next = first;
        for (lba, sectors) in all_of(&mut job, 0) {
            prop_assert_eq!(lba, next);
            next += u64::from(sectors);
        }
        prop_assert_eq!(next, first + span);
    }

    /// Requests stay inside the span, and the share of reads is the one asked for.
    #[test]
    fn a_mix_stays_inside(percent in 0u32..=100, seed: u64) {
        let mut job = generator(&format!(
            r#""rw": "randrw", "block_bytes": 1024, "offset": 2048, "size": 65536,
                "io_bytes": 4194304, "read_percent": {percent}, "seed": {seed}"#,
        ));
        let mut reads = 0;
        while let Some(ask) = job.next(0) {
            prop_assert!(ask.lba >= 4 && ask.lba + u64::from(ask.sectors) <= 4 + 128);
            reads += u32::from(ask.direction == Direction::Read);
        }
        // 4,096 draws: a standard deviation is 0.8 points at most.
        prop_assert!((f64::from(reads) / 40.96 - f64::from(percent)).abs() < 4.5);
    }
}

/// A device that is told of addresses ahead may have ready what it needs for them, so what is told
/// has to come: each address once, of each thread in the order in which it asks.
#[test]
fn random_addresses_are_foretold_before_they_are_asked_for() {
    let fields = r#""rw": "randread", "block_bytes": 4096, "threads": 2, "io_bytes": 1048576"#;
    let mut job = generator(fields);
    assert!(job.foretells());
    let (mut told, mut asked) = (vec![], [vec![], vec![]]);
    for at in 0..256 {
        let thread = at % 2;
        let ask = job.next(thread).expect("io_bytes are not asked for yet");
        told.extend(
            job.foretold()
                .unwrap_or_default()
                .iter()
                .map(|&lba| (at, lba)),
        );
        asked[thread].push((at, ask.lba));
        assert_eq!(job.foretold(), None, "each address is told once");
    }
    let later = |&(when, lba): &(usize, u64)| {
        asked[when % 2]
            .iter()
            .any(|&(at, asked)| at > when && asked == lba)
    };
    let (last, early): (Vec<_>, Vec<_>) = told.iter().partition(|(when, _)| *when >= 220);
    assert!(early.len() >= 200 && early.iter().all(later), "{early:?}");
    assert!(
        !last.iter().all(later),
        "the job ends before all that it has told"
    );
    let mut sequential = generator(r#""rw": "read", "block_bytes": 4096"#);
    sequential.next(0);
    assert!(!sequential.foretells() && sequential.foretold().is_none());
}
