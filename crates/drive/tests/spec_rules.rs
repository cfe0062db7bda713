//! What is said where values of collection, folding and wear do not go together: each rule once.

use crate::common::{BASE, check};

/// The base with values written over those that it has, or beside them: `("gc.low", "3")`.
fn with(sets: &[(&str, &str)]) -> String {
    // The firmware profile switches the cache off in its own way, which is another test's.
    let base = BASE.split("[firmware").next().expect("the base");
    let mut lines: Vec<String> = base.lines().map(str::to_owned).collect();
    for (key, value) in sets {
        let (section, name) = key.rsplit_once('.').expect("a section");
        let (header, line) = (format!("[{section}]"), format!("{name} = {value}"));
        let Some(at) = lines.iter().position(|line| *line == header) else {
            lines.extend([header, line]);
            continue;
        };
        let own = lines[at + 1..]
            .iter()
            .take_while(|line| !line.starts_with('['));
        let begins = format!("{name} =");
        match own.into_iter().position(|line| line.starts_with(&begins)) {
            Some(place) => lines[at + 1 + place] = line,
            None => lines.insert(at + 1, line),
        }
    }
    lines.join("\n")
}

/// A rule: the values that break it, the key that is told, the message and the hint.
type Rule<'a> = (&'a [(&'a str, &'a str)], &'a str, &'a str, &'a str);

/// Each is told alone, at the line of its key where the values write one.
fn refused(common: &[(&str, &str)], rules: &[Rule<'_>]) {
    check(&with(common), &[]);
    for (sets, key, message, hint) in rules {
        let all: Vec<_> = common.iter().chain(*sets).copied().collect();
        let text = with(&all);
        let name = key.rsplit_once('.').expect("a section").1;
        let line = format!("{name} =");
        let written = text.lines().any(|l| l.starts_with(&line));
        check(
            &text,
            &[(written.then_some(line.as_str()), key, message, hint)],
        );
    }
}

/// No cache, and all that goes with it.
const UNCACHED: [(&str, &str); 6] = [
    ("slc_cache.mode", "\"none\""),
    ("slc_cache.size", "0"),
    ("slc_cache.when_full", "\"direct\""),
    ("fold.idle_after", "\"never\""),
    ("fold.reserve", "0"),
    ("fold.pace", "0"),
];

/// A cache of its own blocks that data passes by once it is full.
const STATIC: [(&str, &str); 6] = [
    ("slc_cache.mode", "\"static\""),
    ("slc_cache.size", "0"),
    ("slc_cache.static_size", "\"500 MB\""),
    ("slc_cache.when_full", "\"direct\""),
    ("fold.reserve", "0"),
    ("fold.pace", "0"),
];

#[test]
fn collection() {
    refused(
        &[],
        &[
            (
                &[("gc.low", "3")],
                "gc.low",
                "collection begins below 3 free superblocks and 3 are held back",
                "write at least 4, or lower `gc.reserve`",
            ),
            (
                &[("gc.high", "3")],
                "gc.high",
                "collection ends at 3 free superblocks but begins below 4",
                "write at least 4",
            ),
            (
                &[("gc.high", "20")],
                "gc.high",
                "collection ends at 20 free superblocks but a full drive leaves 13 of 264 MiB",
                "write at most 13, or lower `drive.capacity`",
            ),
            (
                &[("gc.idle_after", "\"1 s\""), ("gc.idle_target", "6")],
                "gc.idle_target",
                "collection in idle time ends at 6 free superblocks, and 6 are kept free anyway",
                "write more than 6, or `gc.idle_after = \"never\"`",
            ),
            (
                &[
                    ("gc.separation", "\"none\""),
                    ("wear.program_failures", "20"),
                ],
                "gc.separation",
                "collected data shares the host's programs, and those may fail",
                "write `gc.separation = \"gc\"`, or `wear.program_failures = 0`",
            ),
            (
                &[
                    ("gc.separation", "\"none\""),
                    ("compression.best_ratio", "2"),
                ],
                "gc.separation",
                "with compression collected data is packed by itself",
                "write `gc.separation = \"gc\"`",
            ),
            (
                &[("gc.separation", "\"hot-cold\"")],
                "gc.low",
                "with 4 free superblocks, 3 of them held back, the 1 more that this separation \
                 writes to are hardly ever opened",
                "write at least 6",
            ),
        ],
    );
}

#[test]
fn what_the_host_calls_hot() {
    let oracle = [
        ("gc.separation", "\"oracle\""),
        ("gc.low", "7"),
        ("gc.high", "8"),
        ("gc.hot_share", "0.2"),
        ("gc.hot_pool", "0.22"),
        ("drive.capacity", "\"38 GB\""),
    ];
    let uncached: Vec<_> = oracle.iter().chain(&UNCACHED).copied().collect();
    let pool = "give each pool more flash than data";
    let part = "write a number between 0 and 1";
    refused(
        &uncached,
        &[
            (
                &[("gc.hot_share", "0")],
                "gc.hot_share",
                "0 is not a share between 0 and 1",
                part,
            ),
            (
                &[("gc.hot_pool", "1.5")],
                "gc.hot_pool",
                "1.5 is not a share between 0 and 1",
                part,
            ),
            (
                &[("gc.hot_pool", "0.1")],
                "gc.hot_pool",
                "the hot pool has 4.3 GB for 7.6 GB of data",
                pool,
            ),
            (
                &[("gc.hot_pool", "0.5")],
                "gc.hot_pool",
                "the cold pool has 21.8 GB for 30.4 GB of data",
                pool,
            ),
        ],
    );
    check(
        &with(&oracle),
        &[(
            Some("separation"),
            "gc.separation",
            "hot and cold data would share the SLC cache",
            "write `slc_cache.mode = \"none\"`, or another `gc.separation`",
        )],
    );
}

#[test]
fn folding_of_a_cache_that_borrows() {
    refused(
        &[],
        &[
            (
                &[("fold.pace", "0.9")],
                "fold.pace",
                "0.9 staged bytes leave the cache for each host byte, and one comes in",
                "write at least 1; what comes back needs more, like 1.5",
            ),
            (
                &[
                    ("slc_cache.when_full", "\"mixed\""),
                    ("slc_cache.direct_share", "0.4"),
                    ("fold.pace", "0.5"),
                ],
                "fold.pace",
                "0.5 staged bytes leave the cache for each host byte, and 0.6 come in",
                "write at least 0.6",
            ),
            (
                &[("slc_cache.when_full", "\"direct\""), ("fold.pace", "0")],
                "fold.pace",
                "0, but borrowed blocks have to come back before the drive is full",
                "write how many cache bytes are folded a host byte, like 0.5",
            ),
            (
                &[("fold.reserve", "\"50 GB\"")],
                "fold.reserve",
                "50 GB is all of the flash, 43.7 GB",
                "lower it: folding would begin at the first byte",
            ),
            (
                &[("fold.rearm_pace", "0.5")],
                "fold.rearm_pace",
                "0.5 with `staged`, which does not use it",
                "write `fold.rearm_pace = 0`, or `slc_cache.when_full = \"direct\"`",
            ),
            (
                &[("fold.low", "9"), ("fold.high", "8")],
                "fold.high",
                "folding ends at 8 free superblocks but begins below 9",
                "write at least 9",
            ),
            (
                &[("fold.check_every", "4")],
                "fold.check_every",
                "a fold through the controller checks all data already",
                "write `fold.check_every = 0`, or `fold.path = \"copyback\"`",
            ),
            (
                &[
                    ("fold.path", "\"copyback\""),
                    ("ftl.parity", "\"stripe\""),
                    ("drive.capacity", "\"15 GB\""),
                ],
                "fold.path",
                "a copy inside a die passes by the controller, which makes the parity",
                "write `fold.path = \"controller\"`, or `ftl.parity = \"none\"`",
            ),
        ],
    );
}

#[test]
fn folding_without_a_cache() {
    refused(
        &UNCACHED,
        &[
            (
                &[("fold.idle_after", "\"30 s\"")],
                "fold.idle_after",
                "30 s with mode `none`: there is no cache to fold",
                "write `fold.idle_after = \"never\"`",
            ),
            (
                &[("fold.reserve", "\"2 GB\"")],
                "fold.reserve",
                "2 GB with mode `none`: there is no cache to fold",
                "write `fold.reserve = 0`",
            ),
            (
                &[("fold.pace", "1")],
                "fold.pace",
                "1 with mode `none`: there is no cache to fold",
                "write `fold.pace = 0`",
            ),
            (
                &[("fold.low", "9"), ("fold.high", "12")],
                "fold.low",
                "9 with mode `none`: there is no cache to fold",
                "write `fold.low = 0`",
            ),
        ],
    );
}

#[test]
fn folding_of_a_cache_of_its_own() {
    refused(
        &STATIC,
        &[
            (
                &[("fold.reserve", "\"2 GB\"")],
                "fold.reserve",
                "2 GB with mode `static`: own blocks give no room back",
                "write `fold.reserve = 0`",
            ),
            (
                &[("fold.pace", "1")],
                "fold.pace",
                "1 with mode `static`: own blocks give no room back",
                "write `fold.pace = 0`",
            ),
            (
                &[("fold.low", "9"), ("fold.high", "12")],
                "fold.low",
                "9 with mode `static`: own blocks give no room back",
                "write `fold.low = 0`",
            ),
            (
                &[("fold.idle_after", "\"never\"")],
                "fold.idle_after",
                "nothing ever empties this static cache",
                "write a time like \"30 s\", or `slc_cache.when_full` fold-first",
            ),
        ],
    );
}

#[test]
fn wear_and_the_checks_of_folding() {
    let copyback = ("fold.path", "\"copyback\"");
    refused(
        &[],
        &[
            (
                &[("wear.read_only_at", "\"spares-gone\"")],
                "wear.read_only_at",
                "the drive ends when a plane has no spare block, and there are none",
                "write how many there are in `wear.spares`, or \"reserve-gone\"",
            ),
            (
                &[
                    ("wear.read_only_at", "\"spares-gone\""),
                    ("wear.spares", "2"),
                    ("wear.bad_percent", "1"),
                ],
                "wear.read_only_at",
                "bad blocks may take all 2 spares of a plane: the drive would end before it begins",
                "write at least 7 in `wear.spares`, or \"reserve-gone\"",
            ),
            (
                &[
                    copyback,
                    ("fold.check_every", "4"),
                    ("fold.check_errors", "0.3"),
                ],
                "fold.check_errors",
                "there are no bit errors",
                "write what the code corrects in `errors.correctable`, as 72",
            ),
            (
                &[
                    copyback,
                    ("fold.check_errors", "0.3"),
                    ("errors.correctable", "72"),
                ],
                "fold.check_errors",
                "folds are not checked",
                "write how often in `fold.check_every`, or 0",
            ),
            (
                &[
                    copyback,
                    ("fold.check_every", "4"),
                    ("fold.check_errors", "1.1"),
                    ("errors.correctable", "72"),
                ],
                "fold.check_errors",
                "a share above 1",
                "write 1 or less",
            ),
        ],
    );
    // A refused value says nothing about the room for the host.
    let more = "100.5 in a hundred";
    for key in ["wear.bad_percent", "wear.weak_percent"] {
        refused(&[], &[(&[(key, "100.5")], key, more, "write at most 100")]);
    }
}
