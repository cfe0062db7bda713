//! Fio's processes against closed forms and hand-reckoned times, on a device with a fixed service
//! time.

use crate::toy::{self, CAPACITY, START, Toy};
use flashtwin_base::Nanos;
use flashtwin_host::fio::FioTotals;
use flashtwin_host::{Flow, Phase, run, run_telling};
use flashtwin_workload::{Direction, Job, RawJob};

const KIB: u64 = 1024;

/// A job of fio's from its JSON; `fields` are the job's, `fio` those of its fio part.
fn job(fields: &str, fio: &str) -> Job {
    let json =
        format!(r#"{{"name": "j", "rw": "read", "block_bytes": 4096, {fields} "fio": {{{fio}}}}}"#);
    let json = if fields.contains(r#""rw""#) {
        json.replacen(r#""rw": "read", "#, "", 1)
    } else {
        json
    };
    let raw: RawJob = serde_json::from_str(&json).unwrap_or_else(|e| panic!("{e}: {json}"));
    raw.check(CAPACITY).unwrap_or_else(|e| panic!("{e}"))
}

/// What a request did: direction (3 a sync), offset and length in KiB.
type Did = (u8, u64, u64);

fn totals(toy: &mut Toy, jobs: Vec<Job>) -> Vec<FioTotals> {
    let phase = Phase::new(jobs, Nanos::from_ms(10)).unwrap();
    let outcome = run(toy, START, &phase, &mut |_| Flow::Continue);
    for (totals, job) in outcome.fio.iter().zip(&outcome.jobs) {
        let ios: u64 = totals.stats.sides.iter().map(|side| side.ios).sum();
        assert_eq!(ios, job.ios, "both countings agree");
    }
    outcome.fio
}

fn one(toy: &mut Toy, job: Job) -> FioTotals {
    totals(toy, vec![job]).remove(0)
}

/// What reaches the device, in order.
fn stream(fields: &str, fio: &str) -> Vec<Did> {
    let mut toy = Toy::new(1, 1_000);
    one(&mut toy, job(fields, fio));
    let did = toy.submitted.iter().map(|(_, request)| {
        let direction = match request.op {
            flashtwin_base::Op::Read => 0,
            flashtwin_base::Op::Write => 1,
            flashtwin_base::Op::Trim => 2,
            flashtwin_base::Op::Flush => 3,
        };
        (direction, request.lba / 2, u64::from(request.sectors) / 2)
    });
    did.collect()
}

#[test]
fn a_pass_leaves_out_what_is_left_below_a_block() {
    let did = stream(r#""rw": "write", "size": 10240,"#, "");
    assert_eq!(did, [(1, 0, 4), (1, 4, 4)]);
}

#[test]
fn io_size_begins_the_pass_anew_with_the_same_draws() {
    // As fio 3.33 with the null engine: `--rw=randwrite --bs=4k --size=16k --io_size=40k`.
    let did = stream(
        r#""rw": "randwrite", "size": 16384, "io_bytes": 40960,"#,
        "",
    );
    assert_eq!(did.len(), 10);
    assert_eq!((&did[0..4], &did[0..2]), (&did[4..8], &did[8..10]));
    let mut first: Vec<u64> = did[0..4].iter().map(|(_, at, _)| *at).collect();
    first.sort_unstable();
    assert_eq!(first, [0, 4, 8, 12]);
    // A limit below a pass ends with the block that reaches it.
    let did = stream(
        r#""rw": "randwrite", "size": 65536, "io_bytes": 10240,"#,
        "",
    );
    assert_eq!(did.len(), 3);
}

#[test]
fn loops_repeat_a_pass() {
    let did = stream(r#""rw": "randread", "size": 16384,"#, r#""loops": 3"#);
    assert_eq!((did.len(), &did[0..4]), (12, &did[8..12]));
}

#[test]
fn pairs_trim_and_write_each_block() {
    let pairs = [(2, 0, 4), (1, 0, 4), (2, 4, 4), (1, 4, 4)];
    assert_eq!(stream(r#""rw": "trimwrite", "size": 8192,"#, ""), pairs);
    let did = stream(r#""rw": "randtrimwrite", "size": 1048576,"#, "");
    assert_eq!(did.len(), 512);
    for pair in did.chunks(2) {
        assert_eq!((pair[0].0, pair[1].0), (2, 1));
        assert_eq!((pair[0].1, pair[0].2), (pair[1].1, pair[1].2));
    }
}

#[test]
fn a_number_ends_a_job() {
    let did = stream(r#""rw": "randwrite","#, r#""number_ios": 3"#);
    assert_eq!(did.len(), 3);
    let did = stream(r#""rw": "randwrite", "depth": 8,"#, r#""number_ios": 13"#);
    assert_eq!(did.len(), 13);
    assert_eq!(
        stream(r#""rw": "trimwrite","#, r#""number_ios": 3"#).len(),
        6
    );
}

#[test]
fn sequences_are_those_of_fio() {
    let at = |fields: &str, fio: &str| -> Vec<u64> {
        stream(fields, fio).iter().map(|(_, at, _)| *at).collect()
    };
    let gap = |bytes: i64| format!(r#""sequence": {{"add_bytes": {bytes}}}"#);
    // `--rw=read:4k --size=32k`: with gaps, then again.
    let with_gaps = at(r#""size": 32768,"#, &gap(4096));
    assert_eq!(with_gaps, [0, 8, 16, 24, 0, 8, 16, 24]);
    // `--rw=read:-8k --size=32k`: from the beginning, and then backwards from the end.
    let backwards = at(r#""size": 32768,"#, &gap(-8192));
    assert_eq!(backwards, [0, 24, 20, 16, 12, 8, 4, 0]);
    // `--rw=write:-8k --offset=8k --filesize=64k --size=24k`.
    let span = r#""spans": [{"start": 0, "bytes": 65536, "offset": 8192}], "size": 24576,"#;
    let backwards = at(r#""rw": "write","#, &format!("{span} {}", gap(-8192)));
    assert_eq!(backwards, [48, 44, 40, 36, 32, 28]);
    let forwards = at(r#""rw": "write","#, &format!("{span} {}", gap(4096)));
    assert_eq!(forwards, [8, 16, 24, 32, 40, 48]);
    // `--rw=randread:4 --norandommap`: one anywhere and the three behind it, from the first on.
    let every = r#""random_map": false, "sequence": {"every": 4}"#;
    let groups = at(r#""rw": "randread", "size": 65536,"#, every);
    assert_eq!(groups.len(), 16);
    for group in groups.chunks(4) {
        let free = group.iter().zip(&group[1..]).all(|(one, next)| {
            // At the end of the file there is no next one: fio draws instead.
            one + 4 == *next || *one == 60
        });
        assert!(free, "{groups:?}");
    }
    let same = r#""random_map": false, "sequence": {"every": 4, "identical": true}"#;
    let groups = at(r#""rw": "randread", "size": 65536,"#, same);
    assert!(groups.chunks(4).all(|g| g.iter().all(|at| *at == g[0])));
}

#[test]
fn syncs_come_after_writes_and_at_the_end() {
    let did = |fio: &str| -> Vec<u8> {
        let did = stream(r#""rw": "write", "size": 20480,"#, fio);
        did.iter().map(|(direction, _, _)| *direction).collect()
    };
    let two = r#""syncs": {"fsync_every": 2, "at_end": true}"#;
    assert_eq!(did(two), [1, 1, 3, 1, 1, 3, 1, 3]);
    let each = r#""syncs": {"fdatasync_every": 1, "on_close": true}"#;
    assert_eq!(did(each), [1, 3, 1, 3, 1, 3, 1, 3, 1, 3]);
    let mut toy = Toy::new(1, 1_000);
    let totals = one(&mut toy, job(r#""rw": "write", "size": 20480,"#, two));
    // The last one is the end's, and counts nowhere.
    assert_eq!(
        (totals.stats.syncs_issued, totals.stats.syncs.count),
        (2, 2)
    );
    assert_eq!(totals.stats.syncs.mean(), 1_000.0);
    // What else is under way counts for the depth of a sync, as it does for fio.
    // Two writes at 1 and 2, a sync at 3; nothing is reaped before the queue is full, so the next
    // writes are at 3 and 4; one is reaped, then a sync and the last write at 4.
    let deep = job(r#""rw": "write", "size": 20480, "depth": 4,"#, two);
    let totals = one(&mut Toy::new(1, 1_000), deep);
    assert_eq!(totals.stats.depths, [1, 3, 3, 0, 0, 0, 0]);
}

#[test]
fn files_are_served_in_turn() {
    let spans: Vec<String> = (0..3)
        .map(|i| format!(r#"{{"start": {}, "bytes": 16384}}"#, i * 65536))
        .collect();
    let spans = format!(r#""spans": [{}]"#, spans.join(","));
    let at = |fio: &str| -> Vec<(u64, u64)> {
        let did = stream(r#""rw": "write","#, &format!("{spans}{fio}"));
        did.iter().map(|(_, at, _)| (at / 64, at % 64)).collect()
    };
    let turns: Vec<_> = (0..12).map(|i| (i % 3, i / 3 * 4)).collect();
    assert_eq!(at(""), turns);
    let order: Vec<_> = (0..12).map(|i| (i / 4, i % 4 * 4)).collect();
    assert_eq!(at(r#", "file_service": "sequential""#), order);
    let pairs = at(r#", "file_service_count": 2"#);
    assert_eq!(pairs[..4], [(0, 0), (0, 4), (1, 0), (1, 4)]);
    let any = at(r#", "file_service": "random", "file_service_count": 2"#);
    let mut sorted = any.clone();
    sorted.sort_unstable();
    assert_eq!((sorted, any != order), (order, true));
}

#[test]
fn batches_are_reckoned_by_hand() {
    let class = |depth: &str, batch: &str| {
        let fields = format!(r#""rw": "randread", "depth": {depth},"#);
        let stats = one(
            &mut Toy::new(1, 1_000),
            job(&fields, &format!(r#""batch": {{{batch}}}"#)),
        )
        .stats;
        (stats.depths, stats.submits, stats.completes)
    };
    // One in, one out; the last eight are reaped together.
    let (depths, submits, completes) = class("8", "");
    assert_eq!(depths, [1, 2, 4, 249, 0, 0, 0]);
    assert_eq!((submits[1], completes[1], completes[2]), (256, 249, 1));
    // fio on a real file says 1=0 %, 4=0.2 %, 8=99.8 % of this.
    let (depths, submits, _) = class("8", r#""submit": 4"#);
    assert_eq!((depths, submits[1]), ([0, 0, 4, 252, 0, 0, 0], 2 + 248));
    // A full queue drains to two: submissions at 3 to 8.
    let (depths, _, _) = class("8", r#""low": 2"#);
    assert_eq!(depths, [1, 44, 169, 42, 0, 0, 0]);
    // Without a minimum fio waits for each.
    assert_eq!(
        class("8", r#""complete_min": 0"#).0,
        [256, 0, 0, 0, 0, 0, 0]
    );
    let (_, submits, completes) = class("8", r#""submit": 8, "complete_min": 8"#);
    assert_eq!(
        (submits, completes),
        ([0, 0, 32, 0, 0, 0, 0], [0, 0, 32, 0, 0, 0, 0])
    );
}

#[test]
fn latencies_count_from_the_making_to_the_reaping() {
    let totals = one(
        &mut Toy::new(4, 1_000),
        job(
            r#""depth": 4, "host_ns": 100, "size": 16384,"#,
            r#""batch": {"submit": 4, "complete_min": 4}"#,
        ),
    );
    let side = &totals.stats.sides[0];
    // Made at 0, 100, 200, 300, submitted at 400, complete at 1400.
    assert_eq!(
        (side.slat.min(), side.slat.max(), side.slat.mean()),
        (100, 400, 250.0)
    );
    assert_eq!((side.clat.min(), side.clat.max()), (1_000, 1_000));
    assert_eq!((side.lat.min(), side.lat.max()), (1_100, 1_400));
    assert_eq!(side.lat_hist.total(), 4);
    assert_eq!((side.runtime, totals.ended), (Nanos(1_400), Nanos(1_400)));
}

#[test]
fn rates_are_kept() {
    let run = |fields: &str, fio: &str| one(&mut Toy::new(4, 1_000), job(fields, fio));
    // 4 KiB each 10 µs: the last of 256 begins at 2.55 ms.
    let totals = run("", r#""pace": {"bytes_s": [409600000, 0, 0]}"#);
    assert_eq!(totals.ended, Nanos(255 * 10_000 + 1_000));
    let totals = run("", r#""pace": {"iops": [100000, 0, 0]}"#);
    assert_eq!(totals.ended, Nanos(255 * 10_000 + 1_000));
    // With two sizes a rate in requests is one of the smallest: 4 KiB each 10 µs as before.
    let split = r#"{"least": 4096, "most": 16384, "split": [[4096, 50], [16384, 50]]}"#;
    let fio = format!(
        r#""pace": {{"iops": [100000, 0, 0]}}, "blocks": [{split}, {split}, {split}],
            "logs": {{"requests": true}}"#
    );
    let requests = run("", &fio).requests.unwrap();
    let before: u64 = requests.bytes[..20].iter().sum();
    assert_eq!(requests.start_ns[20], before / 4096 * 10_000);
    // Each direction has its own, and the mix gives way: 1:3 where half and half is asked for.
    let totals = run(
        r#""rw": "randrw", "runtime_ns": 10000000,"#,
        r#""time_based": true, "pace": {"iops": [10000, 30000, 0]}"#,
    );
    let [reads, writes, _] = totals.stats.sides.map(|side| side.ios);
    assert!(
        reads.abs_diff(100) <= 1 && writes.abs_diff(300) <= 1,
        "{reads} {writes}"
    );
    assert!(totals.ended >= Nanos(10_000_000) && totals.ended < Nanos(10_002_000));
    // Poisson: 20,000 arrivals at 100,000 a second in the mean, so 0.2 s ± 5 deviations of 0.7 %.
    let totals = run(
        r#""rw": "randread", "io_bytes": 81920000, "depth": 64,"#,
        r#""size": 81920000, "time_based": false, "random_map": false,
            "pace": {"iops": [100000, 0, 0], "poisson": true}"#,
    );
    let error = totals.ended.0 as f64 / 2e8 - 1.0;
    assert!(error.abs() < 0.035, "{error}");
}

#[test]
fn thinking_is_reckoned_by_hand() {
    let ended = |fio: &str| {
        let fields = r#""size": 40960,"#;
        one(&mut Toy::new(1, 1_000), job(fields, fio)).ended.0
    };
    // Ten requests of 1 µs: after each, also after the last, 5 µs.
    assert_eq!(ended(r#""think": {"ns": 5000, "blocks": 1}"#), 60_000);
    assert_eq!(ended(r#""think": {"ns": 5000, "blocks": 4}"#), 20_000);
    assert_eq!(
        ended(r#""think": {"ns": 5000, "blocks": 4, "count": "issue"}"#),
        20_000
    );
    // Spinning is a part of thinking.
    assert_eq!(
        ended(r#""think": {"ns": 5000, "spin_ns": 2000, "blocks": 5}"#),
        20_000
    );
    // After 3 µs of requests, 7 µs: three pauses.
    assert_eq!(
        ended(r#""think": {"ns": 7000, "blocks": null, "iotime_ns": 3000}"#),
        31_000
    );
    // Ten requests at 10 µs; the pause of 100 µs after five is caught up with.
    let catches_up = |ignore: bool| {
        ended(&format!(
            r#""think": {{"ns": 100000, "blocks": 5}},
               "pace": {{"iops": [100000, 0, 0], "ignore_think": {ignore}}}"#
        ))
    };
    // In time 0 to 40; pause from 41 to 141; the other five at once; pause.
    assert_eq!(catches_up(false), 141_000 + 5_000 + 100_000);
    // Ignored: the pause has brought its own requests, and the rate goes on behind it.
    assert!(catches_up(true) > 246_000);
}

#[test]
fn a_flow_shares_by_weight() {
    let flow = |weight: u32, sleep: u64| {
        let fio =
            format!(r#""time_based": true, "flow": {{"weight": {weight}, "sleep_ns": {sleep}}}"#);
        job(r#""rw": "randread", "runtime_ns": 10000000,"#, &fio)
    };
    for sleep in [0, 700] {
        let both = totals(
            &mut Toy::new(4, 1_000),
            vec![flow(3, sleep), flow(1, sleep)],
        );
        let ios = [0, 1].map(|i: usize| both[i].stats.sides[0].ios as f64);
        assert!(
            (ios[0] / ios[1] / 3.0 - 1.0).abs() < 0.01,
            "sleep {sleep}: {ios:?}"
        );
    }
    // Once the other has ended, one is never ahead.
    let short = job(
        r#""rw": "randread", "size": 40960,"#,
        r#""flow": {"weight": 1}"#,
    );
    let long = job(r#""rw": "randread","#, r#""flow": {"weight": 1}"#);
    let both = totals(&mut Toy::new(4, 1_000), vec![short, long]);
    assert_eq!(both[1].stats.sides[0].ios, 256);
}

#[test]
fn time_and_ramp_are_left_out_as_by_fio() {
    let totals = one(
        &mut Toy::new(1, 1_000),
        job(
            r#""runtime_ns": 500000, "ramp_ns": 100000,"#,
            r#""time_based": true, "start_ns": 50000"#,
        ),
    );
    assert_eq!(
        (totals.started, totals.measured),
        (Nanos(50_000), Nanos(150_000))
    );
    let side = &totals.stats.sides[0];
    assert!(side.ios.abs_diff(501) <= 1, "{}", side.ios);
    assert!(
        side.runtime.0.abs_diff(500_000) <= 1_000,
        "{:?}",
        side.runtime
    );
    // As fio: `--size=80k --rate_iops=10 --ramp_time=1` is 20 requests, of which 9 or 10 count.
    let totals = one(
        &mut Toy::new(1, 1_000),
        job(
            r#""rw": "randread", "size": 81920, "ramp_ns": 1000000000,"#,
            r#""pace": {"iops": [10, 0, 0]}"#,
        ),
    );
    let ios = totals.stats.sides[0].ios;
    assert!((9..=10).contains(&ios), "{ios}");
}

#[test]
fn windows_are_samples() {
    // 100,000 requests a second, looked at each 100 µs: 10 of them, 400 MB/s.
    let totals = one(
        &mut Toy::new(1, 1_000),
        job(
            "",
            r#""pace": {"iops": [100000, 0, 0]},
               "logs": {"bw_window_ns": 100000, "iops_window_ns": 200000,
                "average_ns": 500000, "requests": true}"#,
        ),
    );
    let side = &totals.stats.sides[0];
    assert_eq!((side.iops.count, side.bw.count), (12, 25));
    assert_eq!((side.iops.min(), side.iops.max()), (100_000, 100_000));
    assert_eq!((side.bw.min(), side.bw.max()), (400_000, 400_000));
    let averages = totals.averages.unwrap();
    assert_eq!(averages.end_ns[..2], [500_000, 1_000_000]);
    assert_eq!(
        (averages.ios[0], averages.ios.iter().sum::<u64>()),
        (50, 256)
    );
    assert_eq!(
        (averages.lat_ns[3], averages.clat_ns[3], averages.slat_ns[3]),
        (1_000, 1_000, 0)
    );
    let requests = totals.requests.unwrap();
    assert_eq!((requests.len(), requests.number[255]), (256, 255));
    assert_eq!(
        (requests.start_ns[3], requests.complete_ns[3]),
        (30_000, 31_000)
    );
    assert_eq!(requests.offset[3], 12 * KIB);
}

#[test]
fn a_job_ends_once_it_is_steady() {
    let steady = |slope: bool| {
        let fio = format!(
            r#""time_based": true, "pace": {{"iops": [1000, 0, 0]}}, "steady": {{"metric": "iops",
                "slope": {slope}, "limit": 1, "percent": true, "duration_s": 4}}"#
        );
        job(r#""runtime_ns": 60000000000,"#, &fio)
    };
    for slope in [false, true] {
        let totals = one(&mut Toy::new(1, 1_000), steady(slope));
        let found = totals.steady.unwrap();
        assert!(found.attained, "{found:?}");
        assert_eq!(found.iops.len(), 4);
        assert!(
            found.iops.iter().all(|iops| iops.abs_diff(1_000) <= 1),
            "{found:?}"
        );
        assert!(
            (4_000_000_000..4_010_000_000).contains(&totals.ended.0),
            "{:?}",
            totals.ended
        );
    }
}

#[test]
fn the_deepest_queue_that_keeps_a_latency_is_found() {
    // One request at a time, 1 µs each: depth n takes n µs. 5.5 µs is kept by 5.
    let fio = r#""time_based": true, "latency_target": {"ns": 5500, "window_ns": 200000}"#;
    let fields = r#""rw": "randread", "depth": 32, "runtime_ns": 1000000000,"#;
    let totals = one(&mut Toy::new(1, 1_000), job(fields, fio));
    assert_eq!((totals.depth_found, totals.failure), (Some(5), None));
    assert!(totals.ended < Nanos(20_000_000), "{:?}", totals.ended);
    // But for the last five, which fio waits for at once.
    assert!(totals.stats.sides[0].lat.mean() < 5_200.0);
    // What depth 1 does not keep fails.
    let fio = r#""time_based": true, "latency_target": {"ns": 500, "window_ns": 200000}"#;
    let totals = one(&mut Toy::new(1, 1_000), job(fields, fio));
    assert_eq!(totals.failure.map(|failure| failure.code), Some(110));
}

#[test]
fn limits_end_a_job() {
    let slow = job(r#""depth": 4,"#, r#""max_latency_ns": [3500, 0, 0]"#);
    let totals = one(&mut Toy::new(1, 1_000), slow);
    let failure = totals.failure.unwrap();
    assert_eq!(failure.code, 110);
    assert!(
        failure
            .text
            .contains("4000 ns, above the maximum of 3500 ns"),
        "{failure:?}"
    );
    // 100 requests a second where 200 are the least: seen once two seconds have passed.
    let fields = r#""runtime_ns": 60000000000,"#;
    let least = r#""time_based": true, "pace": {"iops": [100, 0, 0], "min_iops": [200, 0, 0]}"#;
    let totals = one(&mut Toy::new(1, 1_000), job(fields, least));
    assert_eq!(totals.failure.unwrap().code, 5);
    assert!(
        (3_000_000_000..3_100_000_000).contains(&totals.ended.0),
        "{:?}",
        totals.ended
    );
    let fine = r#""time_based": true, "pace": {"iops": [100, 0, 0], "min_iops": [99, 0, 0]}"#;
    assert_eq!(
        one(&mut Toy::new(1, 1_000), job(fields, fine)).failure,
        None
    );
}

#[test]
fn the_end_of_one_is_the_end_of_others() {
    let fields = r#""rw": "randread", "runtime_ns": 10000000,"#;
    let long = |group: u32| {
        job(
            fields,
            &format!(r#""time_based": true, "ends": {{"group": {group}}}"#),
        )
    };
    let short = |what: &str| {
        let fio = format!(r#""ends": {{"all": true, "what": "{what}", "group": 1}}"#);
        job(r#""size": 40960,"#, &fio)
    };
    let ended = |what: &str| -> Vec<bool> {
        let jobs = vec![short(what), long(1), long(2)];
        let all = totals(&mut Toy::new(3, 1_000), jobs);
        assert_eq!(all[0].ended_all, what == "all");
        all.iter().map(|job| job.ended < Nanos(20_000)).collect()
    };
    assert_eq!(ended("group"), [true, true, false]);
    assert_eq!(ended("stonewall"), [true, true, true]);
    assert_eq!(ended("all"), [true, true, true]);
}

#[test]
fn overlaps_wait_for_each_other() {
    // One block, depth 4: with serialize_overlap never two at once.
    let fio = r#""random_map": false, "number_ios": 50, "batch": {"serialize_overlap": true}"#;
    let fields = r#""rw": "randwrite", "size": 4096, "io_bytes": 409600, "depth": 4,"#;
    let mut toy = Toy::new(4, 1_000);
    let totals = one(&mut toy, job(fields, fio));
    assert_eq!((toy.most_outstanding, totals.stats.sides[1].ios), (1, 50));
}

#[test]
fn a_failed_request_ends_a_job_unless_it_goes_on() {
    // The span is inside what the job believes the device to have, and outside of what it has.
    let outside = |goes_on: bool| {
        let json = format!(
            r#"{{"name": "j", "rw": "read", "block_bytes": 4096, "offset": {CAPACITY},
                "size": 40960, "fio": {{"ends": {{"continue_reads": {goes_on}}}}}}}"#
        );
        let raw: RawJob = serde_json::from_str(&json).unwrap();
        one(&mut Toy::new(1, 1_000), raw.check(2 * CAPACITY).unwrap())
    };
    let stopped = outside(false);
    assert_eq!(stopped.failure.unwrap().code, 5);
    assert_eq!(
        (stopped.stats.sides[0].errors, stopped.stats.sides[0].ios),
        (1, 0)
    );
    let all = outside(true);
    assert_eq!((all.stats.sides[0].errors, all.failure), (10, None));
}

#[test]
fn jobs_of_fio_run_by_themselves() {
    let mixed = Phase::new(vec![toy::job(), job("", "")], Nanos(1_000));
    assert!(mixed.is_err());
    assert!(Direction::ALL.len() == 3);
}

#[test]
fn a_status_tells_what_was_counted_so_far() {
    // A request a millisecond; told each ten.
    let fio =
        r#""logs": {"status_ns": 10000000}, "pace": {"iops": [1000, 0, 0]}, "number_ios": 35"#;
    let mut toy = Toy::new(1, 1_000);
    let jobs = vec![job(r#""rw": "read", "size": 1048576,"#, fio)];
    let phase = Phase::new(jobs, Nanos::from_ms(10)).unwrap();
    let mut told = Vec::new();
    let outcome = run_telling(
        &mut toy,
        START,
        &phase,
        &mut |_| Flow::Continue,
        &mut |rows: Vec<FioTotals>| {
            let side = &rows[0].stats.sides[0];
            told.push((rows[0].ended, side.ios, side.runtime));
        },
    );
    let ms = Nanos::from_ms;
    assert_eq!(
        told,
        [
            (ms(10), 10, ms(10)),
            (ms(20), 20, ms(20)),
            (ms(30), 30, ms(30))
        ]
    );
    assert_eq!(outcome.fio[0].stats.sides[0].ios, 35);
}
