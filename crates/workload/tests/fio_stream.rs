//! What fio's processes ask for, against exact counts and chi-square.
//!
//! The bounds of chi-square are those of 1 %: a fixed seed passes or it does not.

use flashtwin_workload::fio::{FioAsk, Kind, NextFile, Stream};
use flashtwin_workload::{Direction, RawJob};
use proptest::prelude::*;

const CAPACITY: u64 = 1 << 30;
/// The quantiles of 99 % of chi-square with 1 to 8 degrees of freedom.
const CHI_SQUARE: [f64; 8] = [6.63, 9.21, 11.34, 13.28, 15.09, 16.81, 18.48, 20.09];

/// The requests of one pass, or as many as `most`.
fn requests(rw: &str, fields: &str, fio: &str, most: usize) -> Vec<FioAsk> {
    let json = format!(
        r#"{{"name": "j", "rw": "{rw}", "block_bytes": 4096, "runtime_ns": 1, {fields}
            "fio": {{{fio}}}}}"#
    );
    let raw: RawJob = serde_json::from_str(&json).unwrap_or_else(|e| panic!("{e}: {json}"));
    let mut stream = Stream::new(&raw.check(CAPACITY).unwrap_or_else(|e| panic!("{e}")), 0);
    let (mut asks, mut issued, mut last) = (Vec::new(), [0; 3], None);
    while asks.len() < most {
        let NextFile::Number(file) = stream.next_file() else {
            break;
        };
        let kind = stream.direction(file, issued, last);
        let Kind::Io(direction) = kind else {
            last = Some(kind);
            continue;
        };
        if let Some(ask) = stream.place(file, direction) {
            issued[direction as usize] += 1;
            last = Some(kind);
            asks.push(ask);
        }
    }
    asks
}

/// True if counts are a good sample of their shares, which add up to 1.
fn fits(counts: &[usize], shares: &[f64]) {
    let total = counts.iter().sum::<usize>() as f64;
    let of = |(count, share): (&usize, &f64)| {
        let expected = total * share;
        let off = *count as f64 - expected;
        off * off / expected
    };
    let sum: f64 = counts.iter().zip(shares).map(of).sum();
    let limit = CHI_SQUARE[counts.len() - 2];
    assert!(
        sum < limit,
        "{counts:?} for {shares:?}: {sum} above {limit}"
    );
}

fn share(asks: &[FioAsk], of: impl Fn(&FioAsk) -> bool) -> usize {
    asks.iter().filter(|ask| of(ask)).count()
}

#[test]
fn a_map_holds_each_block_once_a_pass() {
    let asks = requests("randwrite", r#""size": 4194304,"#, "", usize::MAX);
    let mut blocks: Vec<u64> = asks.iter().map(|ask| ask.offset / 4096).collect();
    assert_eq!(blocks.len(), 1024);
    assert!(
        blocks.windows(2).filter(|w| w[0] + 1 == w[1]).count() < 40,
        "no order"
    );
    blocks.sort_unstable();
    assert!(
        blocks
            .iter()
            .enumerate()
            .all(|(i, block)| *block == i as u64)
    );
}

#[test]
fn a_map_begins_anew_while_there_is_time() {
    let timed = requests(
        "randread",
        r#""size": 65536,"#,
        r#""time_based": true"#,
        160,
    );
    for pass in timed.chunks(16) {
        let mut blocks: Vec<u64> = pass.iter().map(|ask| ask.offset / 4096).collect();
        blocks.sort_unstable();
        assert_eq!(blocks, (0..16).collect::<Vec<_>>());
    }
    assert_ne!(timed[..16], timed[16..32], "another pass, another order");
}

#[test]
fn without_a_map_blocks_are_alike() {
    let fio = r#""random_map": false, "time_based": true"#;
    let asks = requests("randread", r#""size": 36864,"#, fio, 90_000);
    let counts: Vec<_> = (0..9)
        .map(|block| share(&asks, |ask| ask.offset == block * 4096))
        .collect();
    fits(&counts, &[1.0 / 9.0; 9]);
}

#[test]
fn sizes_have_their_shares() {
    let split = r#""least": 512, "most": 65536, "split": [[512, 10], [4096, 60], [65536, 30]]"#;
    let blocks = format!("[{{{split}}}, {{{split}}}, {{{split}}}]");
    let fio = format!(r#""random_map": false, "time_based": true, "blocks": {blocks}"#);
    // Far more room than a request needs, so that the end changes next to nothing.
    let asks = requests("randwrite", "", &fio, 50_000);
    let counts = [512, 4096, 65_536].map(|bytes| share(&asks, |ask| ask.bytes == bytes));
    fits(&counts, &[0.1, 0.6, 0.3]);
    let range = r#"{"least": 4096, "most": 16384}"#;
    let fio = format!(
        r#""random_map": false, "time_based": true, "blocks": [{range}, {range}, {range}]"#
    );
    let asks = requests("randwrite", "", &fio, 50_000);
    let counts = [1, 2, 3, 4].map(|n| share(&asks, |ask| ask.bytes == n * 4096));
    fits(&counts, &[0.25; 4]);
}

#[test]
fn sizes_of_directions_are_their_own() {
    let blocks = r#""blocks": [{"least": 4096, "most": 4096}, {"least": 8192, "most": 8192},
        {"least": 512, "most": 512}], "random_map": false, "time_based": true"#;
    let asks = requests("randrw", "", blocks, 2_000);
    for ask in &asks {
        let bytes = [4096, 8192][ask.direction as usize];
        assert_eq!((ask.bytes, ask.offset % bytes), (bytes, 0));
    }
    let by_order = format!(r#"{blocks}, "blocks_by_order": true, "random_percent": [50, 50, 50]"#);
    let asks = requests("randread", "", &by_order, 20_000);
    let follows = |i: &usize| asks[*i].offset == asks[i - 1].offset + asks[i - 1].bytes;
    let order: Vec<usize> = (1..asks.len()).filter(follows).collect();
    assert!(order.iter().all(|i| asks[*i].bytes == 4096));
    fits(&[order.len(), asks.len() - 1 - order.len()], &[0.5, 0.5]);
}

#[test]
fn mixes_and_orders_have_their_shares() {
    let fio = r#""random_map": false, "time_based": true"#;
    let asks = requests("randrw", r#""read_percent": 70,"#, fio, 50_000);
    // A direction catches up with its share, so that the mix is closer than chance.
    let reads = share(&asks, |ask| ask.direction == Direction::Read);
    assert!(reads.abs_diff(35_000) < 300, "{reads}");
    let fio = r#""random_map": false, "time_based": true, "random_percent": [40, 100, 100]"#;
    let asks = requests("randread", "", fio, 50_000);
    let follows = asks
        .windows(2)
        .filter(|w| w[1].offset == w[0].offset + 4096);
    let follows = follows.count();
    fits(&[follows, 49_999 - follows], &[0.6, 0.4]);
}

#[test]
fn zones_have_their_shares() {
    let zones = "[[60, 10], [30, 20], [10, 70]]";
    let fio = format!(
        r#""time_based": true,
            "distribution": {{"kind": "zoned", "zones": [{zones}, {zones}, {zones}]}}"#
    );
    let asks = requests("randread", r#""size": 4096000,"#, &fio, 30_000);
    let counts = [(0, 100), (100, 300), (300, 1000)]
        .map(|(from, to)| share(&asks, |ask| (from * 4096..to * 4096).contains(&ask.offset)));
    fits(&counts, &[0.6, 0.3, 0.1]);
    let zones = "[[70, 8192], [30, 12288]]";
    let fio = format!(
        r#""time_based": true,
            "distribution": {{"kind": "zoned_abs", "zones": [{zones}, [], []]}}"#
    );
    let asks = requests("randread", r#""size": 4096000,"#, &fio, 30_000);
    let counts = [0, 1, 2, 3, 4].map(|block| share(&asks, |ask| ask.offset == block * 4096));
    fits(&counts, &[0.35, 0.35, 0.1, 0.1, 0.1]);
}

#[test]
fn zones_have_gaps_and_are_gone_through_again() {
    let at = |rw: &str, strides: &str, most: usize| -> Vec<u64> {
        let fields = r#""size": 65536,"#;
        let asks = requests(rw, fields, &format!(r#""strides": {{{strides}}}"#), most);
        asks.iter().map(|ask| ask.offset / 4096).collect()
    };
    // Two blocks, two left out; behind the end from the beginning.
    let gaps = at("read", r#""size": 8192, "range": 8192, "skip": 8192"#, 12);
    assert_eq!(gaps, [0, 1, 4, 5, 8, 9, 12, 13, 0, 1, 4, 5]);
    // A zone of two blocks, of which four are asked for.
    let again = at("read", r#""size": 16384, "range": 8192"#, 8);
    assert_eq!(again, [0, 1, 0, 1, 2, 3, 2, 3]);
    // The first block of each four.
    let first = at("read", r#""size": 4096, "range": 16384"#, 5);
    assert_eq!(first, [0, 4, 8, 12, 0]);
    // At random each round of a zone has no block twice.
    let any = at(
        "randread",
        r#""size": 32768, "range": 16384, "skip": 16384"#,
        16,
    );
    for (round, blocks) in any.chunks(4).enumerate() {
        let mut blocks = blocks.to_vec();
        blocks.sort_unstable();
        let first = round as u64 / 2 * 8;
        assert_eq!(blocks, (first..first + 4).collect::<Vec<_>>());
    }
}

#[test]
fn files_have_the_shares_of_their_law() {
    let spans: Vec<String> = (0..4)
        .map(|i| format!(r#"{{"start": {}, "bytes": 65536}}"#, i << 20))
        .collect();
    let fio = |law: &str| {
        let spans = spans.join(",");
        format!(r#""file_service": "law", "file_law": {{{law}}}, "spans": [{spans}]"#)
    };
    // Pareto: a rank is n u^p, so that the first k of four files have (k / 4)^(1 / p).
    let law = r#""kind": "pareto", "value": 0.3, "center": 0.0"#;
    let asks = requests("randread", "", &fio(law), 6_000);
    let counts: Vec<usize> = (0..4).map(|i| share(&asks, |ask| ask.file == i)).collect();
    let power = (0.3_f64).ln() / (0.7_f64).ln();
    let below = |k: f64| (k / 4.0).powf(1.0 / power);
    let shares: Vec<f64> = (0..4)
        .map(|i| below(f64::from(i) + 1.0) - below(f64::from(i)))
        .collect();
    fits(&counts, &shares);
    // A file that is over is begun anew, each of its blocks once a round.
    let first: Vec<u64> = asks
        .iter()
        .filter(|a| a.file == 0)
        .map(|a| a.offset)
        .collect();
    assert!(first.len() > 32, "{} requests", first.len());
    for round in first.chunks_exact(16) {
        let mut round = round.to_vec();
        round.sort_unstable();
        round.dedup();
        assert_eq!(round.len(), 16);
    }
    // Files that have no room for a request end, and are no circle.
    let short = fio(law).replace("65536", "2048");
    assert!(requests("read", "", &short, 10).is_empty());
}

#[test]
fn odd_requests_touch_whole_sectors() {
    let asks = requests("write", r#""size": 10000,"#, "", 0);
    assert!(asks.is_empty());
    let block = r#"{"least": 700, "most": 700}"#;
    let fio = format!(r#""blocks": [{block}, {block}, {block}]"#);
    let asks = requests("write", r#""size": 4096,"#, &fio, 10);
    let did: Vec<_> = asks
        .iter()
        .map(|a| (a.offset, a.bytes, a.lba, a.sectors()))
        .collect();
    let sectors = [(0, 2), (1, 2), (2, 3), (4, 2), (5, 2)];
    let wanted = (0..5).map(|i| (i * 700, 700, sectors[i as usize].0, sectors[i as usize].1));
    assert_eq!(did, wanted.collect::<Vec<_>>());
}

#[test]
fn ranks_are_spread_and_go_on_from_pass_to_pass() {
    let fio = r#""distribution": {"kind": "zipf", "value": 1.1}"#;
    let asks = requests("randread", r#""size": 40960000,"#, fio, 10_000);
    let mut counts = vec![0usize; 10_000];
    asks.iter()
        .for_each(|ask| counts[(ask.offset / 4096) as usize] += 1);
    let first = counts.iter().enumerate().max_by_key(|(_, count)| **count);
    let (hottest, count) = first.unwrap();
    // 1 / zeta(1.1) over ten thousand ranks is 15.3 %.
    assert!((1_400..1_660).contains(count), "{count}");
    let near = counts[hottest.saturating_sub(3)..(hottest + 4).min(9_999)].iter();
    assert!(
        near.sum::<usize>() < count + 200,
        "its neighbours are not hot"
    );
}

#[test]
fn what_excludes_each_other_is_refused_in_words() {
    let wrong = |fields: &str, fio: &str| {
        let json = format!(
            r#"{{"name": "j", "rw": "randread", "block_bytes": 4096, {fields} "fio": {{{fio}}}}}"#
        );
        let raw: RawJob = serde_json::from_str(&json).map_err(|e| e.to_string())?;
        raw.check(CAPACITY).map(|_| ()).map_err(|e| e.to_string())
    };
    let cases = [
        (r#""threads": 2,"#, "", "threads is not for a job of fio's"),
        (
            r#""think_ns": 5,"#,
            "",
            "think_ns is not for a job of fio's",
        ),
        (
            "",
            r#""spans": [{"start": 0, "bytes": 8192, "offset": 4096, "size": 8192}]"#,
            "fio.spans reaches to byte 12288, but the drive has 8192 bytes",
        ),
        (
            "",
            r#""spans": [{"start": 1073741312, "bytes": 8192}]"#,
            "fio.spans reaches to byte 1073749504, but the drive has 1073741824 bytes",
        ),
        (
            "",
            r#""blocks": [{"least": 4096, "most": 1024}, {"least": 512, "most": 512},
                {"least": 512, "most": 512}]"#,
            "fio.blocks is 1024, below 4096",
        ),
        (
            "",
            r#""distribution": {"kind": "zipf", "value": 1.0}"#,
            "fio.distribution is 1, which is out of its range: theta is above 0 and not 1",
        ),
        (
            "",
            r#""distribution": {"kind": "zoned", "zones": [[[50, 50]], [], []]}"#,
            "fio.distribution add up to 50 %, not to 100",
        ),
        (
            "",
            r#""pace": {"iops": [1, 0, 0], "bytes_s": [1, 0, 0]}"#,
            "fio.pace excludes a rate in requests",
        ),
        (
            "",
            r#""time_based": true"#,
            "fio.time_based is true, which is out of its range: it needs a runtime",
        ),
        (
            "",
            r#""strides": {"size": 0, "range": 4096}"#,
            "fio.strides is zero",
        ),
        (
            "",
            r#""file_service": "law""#,
            "fio.file_law is Random, which is out of its range: files have a \
             law: zipf, pareto, normal",
        ),
        (
            r#""depth": 4,"#,
            r#""synchronous": true"#,
            "depth excludes fio.synchronous",
        ),
    ];
    for (fields, fio, message) in cases {
        assert_eq!(
            wrong(fields, fio).unwrap_err(),
            format!("job `j`: {message}")
        );
    }
    assert!(
        wrong("", r#""iodepth": 1"#)
            .unwrap_err()
            .contains("unknown field `iodepth`")
    );
}

proptest! {
    /// With a map no byte comes twice in a pass, whatever the sizes, and none outside of the span.
    #[test]
    fn a_pass_with_a_map_touches_nothing_twice(
        blocks in 1u64..300,
        offset in 0u64..5,
        largest in 1u64..9,
        seed in 0u64..1_000,
    ) {
        let one = format!(r#"{{"least": 1024, "most": {}}}"#, largest * 1024);
        let fio = format!(
            r#""blocks": [{one}, {one}, {one}], "spans": [{{"start": 4096, "bytes": {},
                "offset": {}, "size": {}}}]"#,
            (blocks + offset) * 1024 + 700, offset * 512, blocks * 1024,
        );
        let asks = requests("randwrite", &format!(r#""seed": {seed},"#), &fio, usize::MAX);
        let mut touched = vec![false; blocks as usize];
        for ask in asks {
            prop_assert!(ask.bytes > 0 && ask.bytes % 1024 == 0);
            prop_assert_eq!(ask.lba, (4096 + ask.offset) / 512);
            let first = ((ask.offset - offset * 512) / 1024) as usize;
            for block in &mut touched[first..first + (ask.bytes / 1024) as usize] {
                prop_assert!(!*block, "twice");
                *block = true;
            }
        }
        // Of a single size each block comes; of several, fio ends where none fits any more.
        if largest == 1 {
            prop_assert!(touched.iter().all(|touched| *touched));
        }
    }
}
