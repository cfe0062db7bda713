//! Waits beyond `controller.longest_wait`: told with their cause, warned of where a spec cannot
//! keep the bound, and without effect on what the drive does.

use crate::common::loops::{go, job, rest};
use crate::common::{self, load_with};
use flashtwin_base::{Nanos, Op};
use flashtwin_drive::spec::Spec;
use flashtwin_drive::waits::Wait;
use flashtwin_drive::{Drive, waits};
use flashtwin_workload::ReadWrite;

/// A drive of 2 GB without a cache: 160 superblocks of 12.6 MB.
fn spec(sets: &[&str]) -> Spec {
    let small = [
        "nand.wordlines_per_block=32",
        "ftl.system=0",
        "drive.capacity=1.6 GB",
    ];
    load_with(common::BASE, &["slc-off"], &[&small, sets].concat())
}

/// The longest wait beyond the bound in random writes all over the full drive, and when they ended.
fn random_writes(spec: &Spec) -> (Option<(waits::Wait, u64)>, Nanos) {
    let mut drive = Drive::new(&spec.config, 1);
    go(&mut drive, job(ReadWrite::Write, 128 << 10, 32));
    assert_eq!(drive.take_waits(), None, "nothing is collected in a fill");
    let mut write = job(ReadWrite::RandWrite, 4096, 32);
    write.io_bytes = Some(1_200_000_000 / 4096 * 4096);
    go(&mut drive, write);
    (drive.take_waits(), drive.now())
}

const STOPS: [&str; 2] = ["gc.pace=stop-the-world", "gc.high=12"];

#[test]
fn a_host_that_is_stopped_for_longer_than_the_bound_is_told_why() {
    let [tight, wide, paced] = [
        &[STOPS[0], STOPS[1], "controller.longest_wait=50 ms"][..],
        &[STOPS[0], STOPS[1], "controller.longest_wait=20 s"][..],
        &["gc.high=12", "controller.longest_wait=50 ms"][..],
    ]
    .map(|sets| random_writes(&spec(sets)));
    let (wait, count) = tight.0.expect("collection stops the host");
    let Wait { op, cause, .. } = wait;
    assert_eq!((op, cause), (Op::Write, "collection"));
    assert!(wait.span > Nanos::from_ms(50) && wait.until < tight.1 && count > 1);
    assert_eq!(
        wide,
        (None, tight.1),
        "a bound changes nothing in the drive"
    );
    assert_eq!(paced.0, None, "a host that pays as it goes does not wait");
}

#[test]
fn a_spec_that_cannot_keep_the_bound_is_warned_of() {
    let bound = "controller.longest_wait=50 ms";
    let warned = spec(&[STOPS[0], STOPS[1], bound]).warnings;
    let [warning] = &warned[..] else {
        panic!("{warned:?}");
    };
    assert!(warning.starts_with("gc.pace stops the host"), "{warning}");
    let wide = "controller.longest_wait=60 s";
    for sets in [
        &[STOPS[0], STOPS[1], wide][..],
        &["gc.low=5", "gc.high=12", bound],
    ] {
        assert!(spec(sets).warnings.is_empty(), "{sets:?}");
    }
}

/// With a higher `gc.high` collection frees a superblock more; the host still has none to spare.
#[test]
fn a_low_mark_next_to_the_reserve_is_warned_of() {
    let sets = ["gc.low=4", "gc.high=6", "gc.reserve=3"];
    let warned = spec(&[&sets[..], &["controller.longest_wait=50 ms"]].concat()).warnings;
    let [warning] = &warned[..] else {
        panic!("{warned:?}");
    };
    assert!(warning.starts_with("gc.low is 4, one above"), "{warning}");
    assert!(spec(&sets).warnings.is_empty(), "the usual bound is kept");
    let spare = ["gc.low=5", "gc.high=6", "controller.longest_wait=50 ms"];
    assert!(spec(&spare).warnings.is_empty());
}

/// Longer than one victim takes: of a victim that is nearly all valid hardly anything is gained.
#[test]
fn a_wait_for_a_superblock_is_bounded_by_what_gains_one() {
    let bound = "controller.longest_wait=50 ms";
    let none = [
        "gc.separation=none",
        "gc.low=4",
        "gc.high=4",
        "gc.reserve=3",
    ];
    let apart = ["gc.separation=sepbit", "gc.low=12", "gc.high=12"];
    for (sets, begins) in [
        (&none[..], "gc.low is 4, one above gc.reserve"),
        (&apart, "4 more superblocks are open at a time"),
    ] {
        let warned = spec(&[sets, &[bound, "drive.capacity=1.696 GB"]].concat()).warnings;
        let [warning] = &warned[..] else {
            panic!("{warned:?}");
        };
        assert!(warning.starts_with(begins), "{warning}");
        let times: Vec<f64> = warning
            .split_whitespace()
            .filter(|word| word.contains('.'))
            .filter_map(|word| word.parse().ok())
            .collect();
        let [victim, gained] = times[..] else {
            panic!("{warning}");
        };
        assert!(gained > victim, "{warning}");
        assert!(spec(sets).warnings.is_empty(), "the usual bound is kept");
    }
}

/// Random and first-in-first-out victims may be full of valid data, sixteen in a row at most.
#[test]
fn victims_that_may_be_full_are_warned_of() {
    let bound = "controller.longest_wait=500 ms";
    let warned = |policy: &str, more: &str| {
        let warnings = spec(&["gc.low=6", "gc.high=6", policy, more]).warnings;
        let full = |text: &String| text.starts_with("gc.policy may choose up to 16 superblocks");
        warnings.iter().any(full)
    };
    for policy in ["gc.policy=random", "gc.policy=fifo"] {
        assert!(warned(policy, bound), "{policy}");
        assert!(!warned(policy, "controller.longest_wait=60 s"), "{policy}");
        assert!(!warned(policy, "gc.pace=stop-the-world"), "{policy}");
    }
    for policy in [
        "gc.policy=greedy",
        "gc.policy=cost-benefit",
        "gc.policy=d-choices",
    ] {
        assert!(!warned(policy, bound), "{policy}");
    }
}

/// A host that is held until a step is folded waits for all of it.
#[test]
fn a_step_of_folding_that_takes_long_is_warned_of() {
    let warned = |more: &[&str]| {
        let warnings = lending("fold-first", &[&DYNAMIC, more].concat()).warnings;
        let step = |text: &String| text.contains("(fold.step)");
        warnings.iter().any(step)
    };
    assert!(warned(&["fold.step=200 MB"]));
    assert!(!warned(&["fold.step=1 MB"]));
    assert!(!warned(&[
        "fold.step=200 MB",
        "controller.longest_wait=30 s"
    ]));
}

#[test]
fn a_drive_with_hardly_any_spare_flash_is_warned_of() {
    let warned = spec(&["drive.capacity=1.92 GB"]).warnings;
    let [warning] = &warned[..] else {
        panic!("{warned:?}");
    };
    assert!(
        warning.contains("of the native flash is spare"),
        "{warning}"
    );
    assert!(spec(&[]).warnings.is_empty());
}

/// The small drive with a cache that may borrow most of what is spare.
fn lending(when_full: &str, sets: &[&str]) -> Spec {
    let small = [
        "nand.wordlines_per_block=32",
        "ftl.system=0",
        "drive.capacity=1.6 GB",
        "gc.low=5",
        "gc.high=6",
        "slc_cache.rearm=20 MB",
        "controller.longest_wait=50 ms",
        &format!("slc_cache.when_full={when_full}"),
    ];
    load_with(common::BASE, &[], &[&small, sets].concat())
}

const DYNAMIC: [&str; 2] = ["slc_cache.mode=dynamic", "slc_cache.size=200 MB"];
const HYBRID: [&str; 4] = [
    "slc_cache.mode=hybrid",
    "slc_cache.size=20 MB",
    "slc_cache.static_size=40 MB",
    "fold.reserve=60 MB",
];

/// A cache that may borrow what is spare leaves collection nothing to gain on a full drive.
#[test]
fn a_cache_that_takes_the_spare_flash_is_warned_of() {
    let warned = |when_full: &str, more: &[&str]| {
        let warnings = lending(when_full, &[&DYNAMIC, more].concat()).warnings;
        let beside = |text: &String| text.starts_with("the cache may borrow all but");
        warnings.iter().any(beside)
    };
    assert!(warned("staged", &["fold.reserve=0"]));
    assert!(!warned("direct", &["fold.reserve=0", "fold.pace=0.5"]));
    for kept in [
        "fold.reserve=60 MB",
        "slc_cache.size=20 MB",
        "controller.longest_wait=2 s",
        "gc.pace=stop-the-world",
    ] {
        assert!(!warned("staged", &["fold.reserve=0", kept]), "{kept}");
    }
}

/// Blocks of the cache's own are folded with borrowed ones, and free nothing for a host that waits.
#[test]
fn a_cache_whose_own_blocks_are_folded_is_warned_of() {
    let warned = |when_full: &str, more: &[&str]| {
        let warnings = lending(when_full, &[&HYBRID, more].concat()).warnings;
        let own = |text: &String| text.contains("are blocks of its own");
        warnings.iter().any(own)
    };
    assert!(warned("staged", &[]));
    assert!(!warned("direct", &["fold.pace=0.5"]));
    for kept in [
        &["controller.longest_wait=20 s"][..],
        &["gc.pace=stop-the-world"],
        &["slc_cache.mode=dynamic", "slc_cache.static_size=0"],
    ] {
        assert!(!warned("staged", kept), "{kept:?}");
    }
}

/// Where the host goes past the cache it does not wait for what is folded. Own blocks were folded
/// with the room that collection had gained for it: a write took 0.5 s here. Borrowed ones freed
/// as much as it used, so that it had none to spare when the last of them was folded: the longest
/// wait of the whole BX500 with its cache off was 5.8 s.
#[test]
fn a_host_that_goes_past_the_cache_does_not_wait_for_it() {
    let sets = [
        "drive.capacity=1.76 GB",
        "fold.pace=0.5",
        "fold.idle_after=1 s",
    ];
    let spec = lending("direct", &[&HYBRID[..], &sets].concat());
    let mut drive = Drive::new(&spec.config, 1);
    go(&mut drive, job(ReadWrite::Write, 128 << 10, 32));
    rest(&mut drive, Nanos::from_secs(60));
    let mut write = job(ReadWrite::RandWrite, 4096, 32);
    write.io_bytes = Some(600_000_000 / 4096 * 4096);
    let longest = go(&mut drive, write).jobs[0].latency_max;
    assert!(longest < Nanos::from_ms(100), "{longest:?}");
}
