//! Fio's processes with options drawn at random: every job ends, and what is counted agrees with
//! what reached the device.

mod toy;

use flashtwin_base::{Nanos, Op};
use flashtwin_host::{Flow, Outcome, Phase, run};
use flashtwin_workload::RawJob;
use proptest::prelude::*;
use serde_json::{Map, Value, json};
use toy::{CAPACITY, START, Toy};

/// Some of the values, each with its name; absent with an even chance.
fn option(
    name: &'static str,
    values: Vec<Value>,
) -> impl Strategy<Value = Vec<(&'static str, Value)>> {
    let some = prop::sample::select(values).prop_map(move |value| vec![(name, value)]);
    prop_oneof![Just(Vec::new()), some]
}

fn blocks() -> Vec<Value> {
    let one = |least: u64, most: u64| json!({"least": least, "most": most});
    let split = json!({"least": 512, "most": 16384, "split": [[512, 20], [4096, 50], [16384, 30]]});
    let fine = json!({"least": 4096, "most": 4096, "align": 512});
    vec![
        json!([one(512, 8192), one(4096, 4096), one(1536, 1536)]),
        json!([split, split, split]),
        json!([fine, one(8192, 8192), fine]),
    ]
}

fn distributions() -> Vec<Value> {
    let zones = json!([[60, 10], [30, 20], [10, 70]]);
    vec![
        json!({"kind": "zipf", "value": 1.1}),
        json!({"kind": "zipf", "value": 0.6, "center": 0.3}),
        json!({"kind": "pareto", "value": 0.2, "center": 1.0}),
        json!({"kind": "normal", "value": 10.0, "center": 0.0}),
        json!({"kind": "normal", "value": 0.0}),
        json!({"kind": "zoned", "zones": [zones, zones, zones]}),
        json!({"kind": "zoned_abs", "zones": [[], [[70, 8192], [30, 4096]], []]}),
    ]
}

fn spans() -> Vec<Value> {
    let three = [0, 1, 2].map(|i| json!({"start": i * 131_072, "bytes": 65_537 + i * 4096}));
    vec![
        json!([{"start": 512, "bytes": 70_001, "offset": 8192, "size": 40_000}]),
        Value::from(three.to_vec()),
        json!([{"start": 0, "bytes": 524_288}]),
    ]
}

/// The part of a job that is fio's.
fn fio() -> impl Strategy<Value = Value> {
    let shape = (
        option("spans", spans()),
        option("file_service", vec![json!("sequential"), json!("random")]),
        option("file_service_count", vec![json!(3)]),
        option("blocks", blocks()),
        option("blocks_unaligned", vec![json!(true)]),
        option("blocks_by_order", vec![json!(true)]),
        option("random_percent", vec![json!([50, 20, 70])]),
        option("random_map", vec![json!(false)]),
        option(
            "sequence",
            vec![
                json!({"every": 3}),
                json!({"every": 4, "identical": true}),
                json!({"add_bytes": 8192}),
                json!({"add_bytes": -4096}),
            ],
        ),
        option("loops", vec![json!(3)]),
        option("number_ios", vec![json!(50)]),
    );
    let time = (
        option("time_based", vec![json!(true)]),
        option("start_ns", vec![json!(20_000)]),
        option(
            "pace",
            vec![
                json!({"iops": [100_000, 50_000, 0]}),
                json!({"bytes_s": [0, 900_000_000, 5_000_000_000u64], "ignore_think": true}),
                json!({"iops": [80_000, 80_000, 80_000], "poisson": true}),
            ],
        ),
        option(
            "think",
            vec![
                json!({"ns": 3000, "blocks": 3}),
                json!({"ns": 500, "spin_ns": 900, "blocks": 2, "count": "issue"}),
                json!({"ns": 2000, "iotime_ns": 9000}),
            ],
        ),
        option(
            "batch",
            vec![
                json!({"submit": 4, "complete_min": 3}),
                json!({"complete_min": 0}),
                json!({"low": 1, "complete_max": 7, "complete_min": 2}),
                json!({"submit": 64, "serialize_overlap": true}),
            ],
        ),
        option(
            "flow",
            vec![json!({"weight": 3}), json!({"weight": 1, "sleep_ns": 700})],
        ),
        option(
            "syncs",
            vec![
                json!({"fsync_every": 3, "at_end": true}),
                json!({"fdatasync_every": 2}),
                json!({"on_close": true}),
            ],
        ),
        option(
            "latency_target",
            vec![
                json!({"ns": 3000, "window_ns": 50_000, "percentile": 90.0}),
                json!({"ns": 2500, "window_ns": 30_000, "percentile": 95.0, "run": true}),
            ],
        ),
        option(
            "ends",
            vec![
                json!({"all": true}),
                json!({"all": true, "what": "stonewall"}),
            ],
        ),
        option(
            "logs",
            vec![json!({"requests": true, "average_ns": 30_000})],
        ),
        option("distribution", distributions()),
    );
    (shape, time).prop_map(|(shape, time)| {
        let (a, b, c, d, e, f, g, h, i, j, k) = shape;
        let (l, m, n, o, p, q, r, s, t, u, v) = time;
        let all = [
            a, b, c, d, e, f, g, h, i, j, k, l, m, n, o, p, q, r, s, t, u, v,
        ];
        let fields = all.into_iter().flatten();
        Value::Object(fields.map(|(name, value)| (name.into(), value)).collect())
    })
}

const PATTERNS: [&str; 10] = [
    "read",
    "write",
    "randread",
    "randwrite",
    "rw",
    "randrw",
    "trim",
    "randtrim",
    "trimwrite",
    "randtrimwrite",
];

fn job() -> impl Strategy<Value = Value> {
    let fields = (
        prop::sample::select(&PATTERNS[..]),
        prop::sample::select(vec![1u32, 2, 7, 16]),
        option("io_bytes", vec![json!(10_000), json!(600_000)]),
        option("ramp_ns", vec![json!(40_000)]),
        option("read_percent", vec![json!(0), json!(80), json!(100)]),
        option("host_ns", vec![json!(300)]),
        0u64..4,
        fio(),
    );
    fields.prop_map(|(rw, depth, a, b, c, d, seed, fio)| {
        let mut job = Map::new();
        for (name, value) in [a, b, c, d].into_iter().flatten() {
            job.insert(name.into(), value);
        }
        for (name, value) in [
            ("name", json!("j")),
            ("rw", json!(rw)),
            ("block_bytes", json!(4096)),
            ("size", json!(262_144)),
            ("depth", json!(depth)),
            ("seed", json!(seed)),
            // Whatever else it says, it ends by then.
            ("runtime_ns", json!(2_000_000)),
            ("fio", fio),
        ] {
            job.insert(name.into(), value);
        }
        Value::Object(job)
    })
}

fn outcome(jobs: &[Value]) -> Result<(Outcome, Toy), String> {
    let parsed = jobs.iter().map(|job| {
        let raw: RawJob = serde_json::from_value(job.clone()).map_err(|e| e.to_string())?;
        raw.check(CAPACITY).map_err(|e| e.to_string())
    });
    let jobs = parsed.collect::<Result<Vec<_>, _>>()?;
    let phase = Phase::new(jobs, Nanos::from_us(100)).map_err(|e| e.to_string())?;
    let mut toy = Toy::new(4, 1_000);
    let outcome = run(&mut toy, START, &phase, &mut |_| Flow::Continue);
    Ok((outcome, toy))
}

proptest! {
    #![proptest_config(ProptestConfig {
        cases: 300,
        failure_persistence: None,
        ..ProptestConfig::default()
    })]
    #[test]
    fn every_job_ends_and_is_counted(jobs in prop::collection::vec(job(), 1..4)) {
        // Options that exclude each other are refused in words; the others run.
        let Ok((outcome, toy)) = outcome(&jobs) else {
            return Ok(());
        };
        for job in &outcome.fio {
            prop_assert_eq!(&job.failure, &None);
            prop_assert!(job.ended.0 < 3_000_000, "{:?}", job.ended);
            for side in &job.stats.sides {
                prop_assert!(side.ios == side.lat.count && side.ios == side.clat_hist.total());
                prop_assert_eq!(side.lat_hist.total(), side.ios);
            }
        }
        // Without a ramp and a search all that reached the device is counted.
        let whole = |job: &Value| job.get("ramp_ns").is_none()
            && job["fio"].get("latency_target").is_none();
        if jobs.iter().all(whole) {
            for job in &outcome.fio {
                let issued: u64 = job.stats.sides.iter().map(|side| side.issued).sum();
                let submitted = job.stats.depths.iter().sum::<u64>();
                prop_assert_eq!(submitted, issued + job.stats.syncs_issued);
            }
            for (number, op) in [Op::Read, Op::Write, Op::Trim].into_iter().enumerate() {
                let sent = toy.submitted.iter().filter(|(_, request)| request.op == op);
                let bytes: u64 = sent.clone().map(|(_, r)| u64::from(r.sectors) * 512).sum();
                let sides = || outcome.fio.iter().map(|job| &job.stats.sides[number]);
                prop_assert_eq!(sides().map(|side| side.ios).sum::<u64>(), sent.count() as u64);
                prop_assert_eq!(sides().map(|side| side.bytes).sum::<u64>(), bytes);
            }
        }
        for (job, fields) in outcome.fio.iter().zip(&jobs) {
            prop_assert_eq!(job.requests.is_some(), fields["fio"]["logs"]["requests"] == true);
            if let (Some(requests), Some(averages)) = (&job.requests, &job.averages) {
                let counted: u64 = job.stats.sides.iter().map(|side| side.ios).sum();
                prop_assert_eq!(averages.ios.iter().sum::<u64>(), counted);
                prop_assert!(requests.len() as u64 >= counted);
                let ordered = requests.complete_ns.windows(2).all(|w| w[0] <= w[1]);
                prop_assert!(ordered, "completions are in order");
            }
        }
        // The same again is the same.
        let again = self::outcome(&jobs).unwrap().0;
        prop_assert_eq!(outcome, again);
    }
}
