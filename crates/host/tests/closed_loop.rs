//! The loop against closed forms, on a device with a fixed service time.

use crate::toy::{CAPACITY, START, Toy, job, run_jobs};
use flashtwin_base::Nanos;
use flashtwin_host::{Flow, JobTotals, Outcome, Phase, PhaseError, TICK, run};
use flashtwin_workload::{Direction, Job, Mix, Order};
use proptest::prelude::*;

/// Little's law: rate × mean latency against the depth that was integrated.
fn check_little(totals: &JobTotals) {
    let by_latency = totals.ios as f64 * totals.latency_mean_ns / totals.duration.0.max(1) as f64;
    let error = (by_latency / totals.mean_depth - 1.0).abs();
    assert!(
        error < 0.001,
        "{by_latency} by latency, {} integrated",
        totals.mean_depth
    );
}

fn check_sums(outcome: &Outcome) {
    let sum = |column: &[i64]| column.iter().sum::<i64>() as u64;
    let over_jobs = |of: fn(&JobTotals) -> u64| outcome.jobs.iter().map(of).sum::<u64>();
    assert_eq!(sum(&outcome.series.ios), over_jobs(|job| job.ios));
    assert_eq!(sum(&outcome.series.bytes), over_jobs(|job| job.bytes));
    let counted: u64 = outcome.hist.iter().map(|(_, hist)| hist.total()).sum();
    assert_eq!(counted, over_jobs(|job| job.ios));
}

/// Runs one job and checks what holds for every job without a ramp.
fn totals_of(toy: &mut Toy, job: Job) -> JobTotals {
    let mut outcome = run_jobs(toy, vec![job]);
    check_little(&outcome.jobs[0]);
    check_sums(&outcome);
    outcome.jobs.remove(0)
}

#[test]
fn rates_are_the_closed_forms() {
    // servers, service, depth, threads, host; then the time a request takes in the long run, and
    // the latency of most of them.
    let cases = [
        (1, 1_000, 1, 1, 0, 1_000.0, 1_000),
        (4, 1_000, 1, 1, 0, 1_000.0, 1_000),
        (4, 1_000, 4, 1, 0, 250.0, 1_000),
        (4, 1_000, 8, 1, 0, 250.0, 2_000),
        (1, 1_000, 1, 4, 0, 1_000.0, 4_000),
        // The host's time is serial in a thread: it adds at depth 1, it limits at depth.
        (1, 1_000, 1, 1, 500, 1_500.0, 1_500),
        (32, 1_000, 16, 1, 500, 500.0, 1_500),
        (32, 1_000, 16, 2, 500, 250.0, 1_500),
        // 64 outstanding at a device that takes 32: the wait in the host's queue counts.
        (8, 1_000, 16, 4, 0, 125.0, 8_000),
    ];
    for (servers, service, depth, threads, host, request_ns, latency) in cases {
        let io_bytes = Some(4096 * 32_768);
        let host_ns = Nanos(host);
        let job = Job {
            depth,
            threads,
            host: host_ns,
            io_bytes,
            ..job()
        };
        let case = format!("{servers} servers, depth {depth} x {threads}, host {host}");
        let mut toy = Toy::new(servers, service);
        let totals = totals_of(&mut toy, job);
        let found = totals.duration.0 as f64 / totals.ios as f64;
        assert!(
            (found / request_ns - 1.0).abs() < 0.002,
            "{case}: {found} ns a request"
        );
        let mean = totals.latency_mean_ns;
        assert!(
            (mean / latency as f64 - 1.0).abs() < 0.01,
            "{case}: latency {mean}"
        );
        assert!(
            toy.most_outstanding <= toy.depth,
            "{case}: more than the device takes"
        );
    }
}

#[test]
fn a_pass_is_exact() {
    let totals = totals_of(&mut Toy::new(1, 1_000), job());
    assert_eq!(
        (totals.ios, totals.bytes, totals.errors.total()),
        (256, CAPACITY, 0)
    );
    assert_eq!((totals.duration, totals.mean_depth), (Nanos(256_000), 1.0));
    assert_eq!(
        (totals.latency_min, totals.latency_max),
        (Nanos(1_000), Nanos(1_000))
    );
    assert_eq!(totals.latency_mean_ns, 1_000.0);
}

#[test]
fn the_tail_of_a_pass_is_shorter() {
    let mut toy = Toy::new(1, 1_000);
    let totals = totals_of(
        &mut toy,
        Job {
            block_bytes: 300 * 512,
            ..job()
        },
    );
    assert_eq!((totals.ios, totals.bytes), (7, CAPACITY));
    assert_eq!(
        toy.submitted.last().map(|(_, request)| request.sectors),
        Some(2048 - 6 * 300)
    );
}

#[test]
fn thinking_keeps_the_slot_empty() {
    let totals = totals_of(
        &mut Toy::new(1, 1_000),
        Job {
            think: Nanos(3_000),
            ..job()
        },
    );
    assert_eq!(totals.duration, Nanos(256 * 4_000 - 3_000));
    assert_eq!(totals.latency_max, Nanos(1_000));
    assert!((totals.mean_depth - 0.25).abs() < 0.001);
}

#[test]
fn a_rate_limits_each_thread() {
    // 4 KiB every 10 µs; the device alone would take 1 µs.
    let limited = Job {
        depth: 4,
        rate_bytes_s: Some(409_600_000),
        ..job()
    };
    let totals = totals_of(&mut Toy::new(4, 1_000), limited.clone());
    assert_eq!(totals.duration, Nanos(255 * 10_000 + 1_000));
    assert_eq!(totals.latency_max, Nanos(1_000));
    let both = totals_of(
        &mut Toy::new(4, 1_000),
        Job {
            threads: 2,
            ..limited
        },
    );
    assert_eq!((both.duration, both.ios), (totals.duration, 512));
}

#[test]
fn nothing_starts_after_the_runtime() {
    let mut toy = Toy::new(2, 3_000);
    let timed = Job {
        depth: 2,
        runtime: Some(Nanos(10_000)),
        ..job()
    };
    let totals = totals_of(&mut toy, timed);
    // Starts at 0, 3, 6 and 9 µs; the last two complete at 12.
    assert_eq!((totals.ios, totals.duration), (8, Nanos(12_000)));
    assert!(
        toy.submitted
            .iter()
            .all(|(at, _)| *at < START + Nanos(10_000))
    );
}

#[test]
fn a_timed_job_wraps_and_lasts_its_time() {
    let slow = Job {
        runtime: Some(Nanos(1_000_000)),
        rate_bytes_s: Some(40_960_000),
        ..job()
    };
    let mut toy = Toy::new(1, 1_000);
    let outcome = run_jobs(&mut toy, vec![Job { size: 8192, ..slow }]);
    assert_eq!(outcome.jobs[0].ios, 10);
    assert_eq!(
        (outcome.jobs[0].duration, outcome.end),
        (Nanos(1_000_000), START + Nanos(1_000_000))
    );
    let lbas: Vec<_> = toy
        .submitted
        .iter()
        .map(|(_, request)| request.lba)
        .collect();
    assert_eq!(lbas[..4], [0, 8, 0, 8]);
    check_little(&outcome.jobs[0]);
}

#[test]
fn a_ramp_is_in_the_series_only() {
    let ramped = Job {
        ramp: Nanos(100_500),
        runtime: Some(Nanos(50_000)),
        depth: 2,
        ..job()
    };
    let outcome = run_jobs(&mut Toy::new(1, 1_000), vec![ramped]);
    let totals = &outcome.jobs[0];
    // Completions every µs, from 101 µs on and until the two outstanding at 150.5 are done.
    assert_eq!((totals.ios, totals.duration), (52, Nanos(51_500)));
    assert_eq!(outcome.series.ios.iter().sum::<i64>(), 152);
    assert_eq!(outcome.hist[0].1.total(), 52);
    assert!(
        (totals.mean_depth - 2.0).abs() < 0.02,
        "{}",
        totals.mean_depth
    );
}

#[test]
fn a_stall_is_in_the_series() {
    let pausing = Job {
        size: 3 * 4096,
        think: Nanos(24_000),
        ..job()
    };
    let outcome = run_jobs(&mut Toy::new(1, 1_000), vec![pausing]);
    let series = outcome.series;
    assert_eq!(series.t_ns, [0, 10_000, 20_000, 30_000, 40_000, 50_000]);
    assert_eq!(
        series.dt_ns,
        [10_000, 10_000, 10_000, 10_000, 10_000, 1_000]
    );
    assert_eq!(series.ios, [1, 0, 1, 0, 0, 1]);
    assert_eq!(series.lat_min_ns, [1_000, 0, 1_000, 0, 0, 1_000]);
    assert_eq!(series.lat_max_ns, series.lat_sum_ns);
    assert_eq!(series.direction, [0; 6]);
}

#[test]
fn a_completion_on_the_border_belongs_to_what_ends_there() {
    let outcome = run_jobs(
        &mut Toy::new(1, 10_000),
        vec![Job {
            size: 2 * 4096,
            ..job()
        }],
    );
    assert_eq!(outcome.series.ios, [1, 1]);
    assert_eq!(outcome.series.dt_ns, [10_000, 10_000]);
}

#[test]
fn a_mix_has_rows_for_both_directions() {
    let mixed = Job {
        mix: Mix::Reads(70),
        order: Order::Random,
        depth: 4,
        ..job()
    };
    let outcome = run_jobs(&mut Toy::new(2, 1_000), vec![mixed]);
    check_sums(&outcome);
    let rows = outcome.series.t_ns.len();
    assert!(rows >= 26 && rows.is_multiple_of(2));
    assert!(
        outcome
            .series
            .direction
            .chunks(2)
            .all(|pair| pair == [0, 1])
    );
    let counted: Vec<_> = outcome
        .hist
        .iter()
        .map(|(d, hist)| (*d, hist.total() > 0))
        .collect();
    assert_eq!(counted, [(Direction::Read, true), (Direction::Write, true)]);
}

#[test]
fn ties_keep_the_order_of_the_threads() {
    let mut toy = Toy::new(8, 1_000);
    run_jobs(
        &mut toy,
        vec![Job {
            threads: 4,
            depth: 2,
            host: Nanos(100),
            ..job()
        }],
    );
    let tags: Vec<_> = toy.submitted[..8]
        .iter()
        .map(|(_, request)| request.tag)
        .collect();
    assert_eq!(tags, [0, 2, 4, 6, 1, 3, 5, 7]);
}

#[test]
fn threads_that_share_a_stream_make_one_pass() {
    let mut toy = Toy::new(4, 1_000);
    let shared = Job {
        threads: 4,
        shared_stream: true,
        ..job()
    };
    let totals = totals_of(&mut toy, shared);
    assert_eq!((totals.ios, totals.bytes), (256, CAPACITY));
    let lbas: Vec<_> = toy
        .submitted
        .iter()
        .map(|(_, request)| request.lba)
        .collect();
    assert!(lbas.is_sorted(), "one position for all");
}

#[test]
fn jobs_side_by_side_have_totals_each() {
    let reads = Job {
        name: "reads".into(),
        depth: 2,
        ..job()
    };
    let writes = Job {
        name: "writes".into(),
        mix: Mix::Only(Direction::Write),
        size: CAPACITY / 2,
        ..job()
    };
    let outcome = run_jobs(&mut Toy::new(3, 1_000), vec![reads, writes]);
    check_sums(&outcome);
    outcome.jobs.iter().for_each(check_little);
    assert_eq!(
        (outcome.jobs[0].name.as_str(), outcome.jobs[0].ios),
        ("reads", 256)
    );
    assert_eq!(
        (outcome.jobs[1].name.as_str(), outcome.jobs[1].ios),
        ("writes", 128)
    );
    assert_eq!(outcome.end, START + Nanos(128_000));
}

#[test]
fn what_the_device_refuses_is_an_error_and_not_an_io() {
    let outside = Job {
        offset: CAPACITY - 4096,
        size: 8192,
        ..job()
    };
    let outcome = run_jobs(&mut Toy::new(1, 1_000), vec![outside]);
    let errors = outcome.jobs[0].errors;
    assert_eq!((outcome.jobs[0].ios, errors.total()), (1, 1));
    assert_eq!(errors.out_of_range, 1);
    assert_eq!(outcome.series.ios.iter().sum::<i64>(), 1);
}

#[test]
fn stop_lets_what_is_outstanding_complete() {
    let endless = Job {
        depth: 8,
        threads: 2,
        runtime: Some(Nanos::from_secs(1_000)),
        ..job()
    };
    let idle = Job {
        think: Nanos::from_secs(100),
        ..endless.clone()
    };
    let phase = Phase::new(vec![endless, idle], Nanos::from_ms(1)).unwrap();
    let mut toy = Toy::new(4, 1_000);
    let mut seen = Vec::new();
    let outcome = run(&mut toy, START, &phase, &mut |progress| {
        seen.push(progress.completions);
        if seen.len() < 2 {
            Flow::Continue
        } else {
            Flow::Stop
        }
    });
    assert_eq!(seen, [TICK, 2 * TICK]);
    assert!(outcome.stopped);
    assert_eq!(
        outcome.jobs.iter().map(|job| job.ios).sum::<u64>(),
        toy.submitted.len() as u64
    );
    assert!(
        outcome.end < START + Nanos::from_secs(1),
        "a paused thread holds nothing up"
    );
    check_sums(&outcome);
}

#[test]
fn phases_that_cannot_run_are_refused() {
    assert_eq!(Phase::new(vec![], Nanos(1)), Err(PhaseError::NoJobs));
    assert_eq!(
        Phase::new(vec![job()], Nanos::ZERO),
        Err(PhaseError::NoInterval)
    );
    let wide = Job {
        depth: 65_536,
        threads: 32,
        ..job()
    };
    let refused = Err(PhaseError::TooManyOutstanding(1 << 21));
    assert_eq!(Phase::new(vec![wide], Nanos(1)), refused);
}

prop_compose! {
    fn any_job()(
        random: bool, reads in 0u32..=100, depth in 1u32..12, threads in 1u32..5, shared: bool,
        sectors in 1u64..64, host in 0u64..1_500, think in prop::sample::select(vec![0u64, 0, 700]),
        rate in prop::option::weighted(0.3, 1_000_000_000u64..9_000_000_000), seed: u64,
    ) -> Job {
        Job {
            order: if random { Order::Random } else { Order::Sequential },
            mix: Mix::Reads(reads),
            block_bytes: sectors * 512,
            depth,
            threads,
            host: Nanos(host),
            think: Nanos(think),
            rate_bytes_s: rate,
            shared_stream: shared,
            io_bytes: Some(2 << 20),
            seed,
            ..job()
        }
    }
}

proptest! {
    /// Without a ramp the sum of latencies and the area under the depth are one number.
    #[test]
    fn little_s_law_holds_and_runs_repeat(
        jobs in prop::collection::vec(any_job(), 1..4),
        servers in 1usize..20, service in 0u64..5_000,
    ) {
        let once = run_jobs(&mut Toy::new(servers, service), jobs.clone());
        for totals in &once.jobs {
            let by_latency = totals.ios as f64 * totals.latency_mean_ns;
            let integrated = totals.mean_depth * totals.duration.0 as f64;
            prop_assert!((by_latency - integrated).abs() <= 1e-9 * by_latency);
            prop_assert!(totals.bytes >= 2 << 20);
        }
        check_sums(&once);
        prop_assert_eq!(once, run_jobs(&mut Toy::new(servers, service), jobs));
    }
}
