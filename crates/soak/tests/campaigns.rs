//! Campaigns of fixed seeds, the same story told twice, and a drive that does lose data.

use std::process::Command;

use flashtwin_base::rng::Rng;
use flashtwin_ftl::policy::Pace;
use flashtwin_soak::{Report, draw, host, soak};

/// Drives of an ordinary run, and commands of each.
const SEEDS: u64 = 4;
const OPS: u64 = 10_000;

/// Drives that a soak fell over once, as the values that make them of the base: the draw of a seed
/// changes with each key.
const MENDED: [&str; 14] = [
    include_str!("mended/seed-2-61.txt"),
    include_str!("mended/seed-200.txt"),
    include_str!("mended/seed-218.txt"),
    include_str!("mended/seed-253.txt"),
    include_str!("mended/seed-257.txt"),
    include_str!("mended/seed-264.txt"),
    include_str!("mended/seed-402.txt"),
    include_str!("mended/seed-504-2246.txt"),
    include_str!("mended/seed-507-2927.txt"),
    include_str!("mended/seed-2850.txt"),
    include_str!("mended/seed-41027.txt"),
    include_str!("mended/seed-1300103.txt"),
    include_str!("mended/seed-1500056.txt"),
    include_str!("mended/seed-94000000.txt"),
];
/// Hosts that each of them gets: in an ordinary run, and with `SOAK_SEEDS`.
const HOSTS: u64 = 2;
const MORE_HOSTS: u64 = 30;

/// `SOAK_SEEDS=N` runs so many seeds, as `./dev test --full` does.
fn asked() -> Option<u64> {
    let text = std::env::var("SOAK_SEEDS").ok()?;
    Some(text.parse().expect("SOAK_SEEDS is a number"))
}

fn seeds() -> u64 {
    asked().unwrap_or(SEEDS)
}

#[test]
fn no_drive_loses_what_it_has_promised() {
    let mut cuts = 0;
    for seed in 0..seeds() {
        let report = soak(seed, OPS, &[]).unwrap_or_else(|failure| {
            panic!(
                "soak: {}   replay: ./dev soak --seed {seed} --ops {OPS}\n{}",
                failure.what, failure.drive
            )
        });
        assert!(report.drives > 0 && report.commands >= OPS);
        cuts += report.cuts;
    }
    assert!(cuts > 10 * seeds(), "only {cuts} cuts");
}

/// A life of such a drive with one host.
fn stands(line: &str, host: u64) {
    let sets = draw::values(line);
    let sets: Vec<&str> = sets.iter().map(String::as_str).collect();
    let (config, rng) = (draw::load(&sets), Rng::new(host, 0));
    host::life(
        &config,
        rng,
        40_000,
        host.is_multiple_of(2),
        &mut Report::default(),
    )
    .unwrap_or_else(|what| panic!("host {host}: {what}\n{line}"));
}

#[test]
fn what_fell_over_once_stands() {
    let hosts = asked().map_or(HOSTS, |_| MORE_HOSTS);
    for line in MENDED {
        (0..hosts).for_each(|host| stands(line, host));
    }
}

/// These hosts leave a drive alone that is worn so far that it cannot free as many superblocks as
/// collection aims at. It collected without an end.
#[test]
fn collection_ends_in_a_rest_of_a_worn_drive() {
    for host in [63, 10_088] {
        stands(include_str!("mended/seed-1500056.txt"), host);
    }
}

/// These hosts write to a drive that stops them while it collects. Collection waited for room in
/// the map's journal, and was not called when the journal had room without a write.
#[test]
fn collection_goes_on_when_the_journal_has_room_again() {
    for host in [11, 14] {
        stands(include_str!("mended/seed-94000000.txt"), host);
    }
}

/// Some data of this host was to go to the cache, which is full when it arrives. It went past the
/// cache, into the last place of an open superblock. That place was kept for other data of the
/// host, which then took a superblock that folding had been promised.
#[test]
fn data_that_changes_its_stream_takes_no_place_of_other_data() {
    stands(include_str!("mended/seed-81036530.txt"), 386);
}

#[test]
fn a_set_that_no_drive_takes_is_named() {
    let given = "gc.pase=paced";
    let failure = soak(1, 1, &[given.to_owned()]).unwrap_err();
    assert_eq!(failure.drive, given);
    let what = failure.what;
    assert!(
        what.contains("none is right") && what.contains("did you mean `gc.pace`?"),
        "{what}"
    );
}

/// Values that meet seldom, and that were suspected when they did: levelling while the host is
/// stopped, which must not keep itself going (the host's patience is bounded), and programs that
/// fail where pools of an oracle and power cuts decide what is found again.
const TOGETHER: [&[&str]; 3] = [
    &["gc.pace=stop-the-world", "wear.static_threshold=3"],
    &["wear.dynamic=none", "wear.static_threshold=1"],
    &[
        "gc.separation=oracle",
        "wear.program_failures=1000",
        "wear.failure_growth=0",
        "wear.spares=4",
    ],
];

#[test]
fn values_that_meet_seldom_are_met() {
    for given in TOGETHER {
        let sets: Vec<String> = given.iter().map(|&set| set.to_owned()).collect();
        let (seeds, ops) = asked().map_or((1, 1_000), |_| (3, 3_000));
        for seed in 0..seeds {
            soak(seed, ops, &sets).unwrap_or_else(|failure| {
                panic!(
                    "{given:?}, seed {seed}: {}\n{}",
                    failure.what, failure.drive
                )
            });
        }
    }
}

#[test]
fn equal_seeds_have_equal_answers() {
    let (one, other) = (soak(8, 6_000, &[]), soak(8, 6_000, &[]));
    assert_eq!(one, other);
    assert_ne!(one, soak(5, 6_000, &[]));
}

#[test]
fn what_is_given_is_not_drawn() {
    let given = ["gc.pace=stop-the-world", "wear.static_threshold=3"].map(str::to_owned);
    for seed in 0..5 {
        let drive = draw::drive_with(&mut Rng::new(seed, 0), &given);
        let (config, text) = drive.expect("such drives are right");
        assert_eq!(config.policy.gc.pace, Pace::StopTheWorld);
        assert_eq!(config.policy.wear.static_threshold, 3);
        assert_eq!(text.matches("gc.pace=").count(), 1, "{text}");
    }
}

#[test]
fn the_command_tells_and_exits() {
    let run = |args: &[&str]| {
        let program = env!("CARGO_BIN_EXE_flashtwin-soak");
        let done = Command::new(program).args(args).output().expect("it runs");
        let text = |bytes| String::from_utf8(bytes).expect("text");
        (done.status.code(), text(done.stdout), text(done.stderr))
    };
    let (code, out, err) = run(&["--seed", "6", "--ops", "500"]);
    assert_eq!((code, err.as_str()), (Some(0), ""));
    assert!(out.starts_with("soak: ") && out.contains(" power cuts"));
    assert_eq!(run(&["--seed", "6", "--ops", "500"]).1, out);
    let given = [
        "--seed",
        "6",
        "--ops",
        "500",
        "--set",
        "controller.command_time=77 us",
    ];
    let (code, fixed, _) = run(&given);
    assert!(code == Some(0) && fixed != out, "{fixed}");
    for (wrong, said) in [
        (&["--seed"][..], "--seed needs a value"),
        (&["--ops", "38M"], "--ops 38M: a whole number is needed"),
        (&["--seed", "-1"], "--seed -1: a whole number is needed"),
        (&["--set", "gc.pace"], "--set gc.pace: KEY=VALUE is needed"),
        (&["--sed", "3"], "there is no option --sed"),
    ] {
        let (code, out, err) = run(wrong);
        assert_eq!((code, out.as_str()), (Some(2), ""), "{wrong:?}");
        assert!(err.starts_with(&format!("error: {said}")), "{err}");
        assert!(err.contains("usage: "), "{err}");
    }
}
