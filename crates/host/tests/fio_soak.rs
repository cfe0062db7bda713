//! Fio's processes with options drawn at random: every job ends, and what is counted agrees with
//! what reached the device.

use crate::toy::{CAPACITY, START, Toy};
use flashtwin_base::{Nanos, Op};
use flashtwin_drawn as drawn;
use flashtwin_host::{Flow, Outcome, Phase, run};
use flashtwin_workload::RawJob;
use proptest::prelude::*;
use serde_json::{Map, Value, json};

/// Some of the values, each with its name; absent with an even chance.
fn option(
    name: &'static str,
    values: Vec<Value>,
) -> impl Strategy<Value = Vec<(&'static str, Value)>> {
    let some = prop::sample::select(values).prop_map(move |value| vec![(name, value)]);
    prop_oneof![Just(Vec::new()), some]
}

/// The part of a job that is fio's.
fn fio() -> impl Strategy<Value = Value> {
    let options = drawn::options().into_iter();
    let each: Vec<_> = options.map(|(name, values)| option(name, values)).collect();
    each.prop_map(|found| {
        let fields = found.into_iter().flatten();
        Value::Object(fields.map(|(name, value)| (name.into(), value)).collect())
    })
}

fn job() -> impl Strategy<Value = Value> {
    let fields = (
        prop::sample::select(&drawn::PATTERNS[..]),
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
        for (job, fields) in outcome.fio.iter().zip(&jobs) {
            prop_assert_eq!(&job.failure, &None);
            // A search that has found its depth measures for the whole runtime, from then on.
            let searches = fields["fio"].get("latency_target").is_some();
            let most = if searches { 5_000_000 } else { 3_000_000 };
            prop_assert!(job.ended.0 < most, "{:?}", job.ended);
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
                let count = sent.count() as u64;
                prop_assert_eq!(sides().map(|side| side.ios).sum::<u64>(), count);
                let counted = sides().map(|side| side.bytes).sum::<u64>();
                // Odd sizes, and blocks counted from an odd end, touch sectors in part.
                let odd = |job: &Value| {
                    let fio = &job["fio"];
                    let step = fio["sequence"]["add_bytes"].as_i64();
                    fio["blocks_unaligned"] == true || step.is_some_and(|add| add < 0)
                };
                if jobs.iter().any(odd) {
                    let most = counted + 2 * 511 * count;
                    prop_assert!((counted..=most).contains(&bytes), "{} of {}", bytes, counted);
                } else {
                    prop_assert_eq!(counted, bytes);
                }
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
