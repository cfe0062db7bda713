//! Jobs from JSON: what is taken, what is refused, and in which words.

use flashtwin_base::Nanos;
use flashtwin_workload::{Direction, Job, Mix, Order, RawJob};

const CAPACITY: u64 = 1 << 20;

/// The job, or its error as the user reads it.
fn parse(json: &str) -> Result<Job, String> {
    let raw: RawJob = serde_json::from_str(json).map_err(|error| error.to_string())?;
    raw.check(CAPACITY).map_err(|error| error.to_string())
}

fn with(fields: &str) -> Result<Job, String> {
    parse(&format!(
        r#"{{"name": "j", "rw": "write", "block_bytes": 4096, {fields}}}"#
    ))
}

#[test]
fn defaults_are_the_battery_s() {
    let job = parse(r#"{"name": "j", "rw": "randrw", "block_bytes": 4096, "size": null}"#).unwrap();
    assert_eq!((job.order, job.mix), (Order::Random, Mix::Reads(50)));
    assert_eq!(
        (job.depth, job.threads, job.offset, job.size),
        (1, 1, 0, CAPACITY)
    );
    assert_eq!(
        (job.io_bytes, job.runtime, job.rate_bytes_s),
        (None, None, None)
    );
    assert_eq!(
        (job.ramp, job.host, job.think),
        (Nanos::ZERO, Nanos::ZERO, Nanos::ZERO)
    );
    assert_eq!(
        (job.shared_stream, job.compress_percent, job.sync, job.seed),
        (false, 0, false, 1)
    );
}

#[test]
fn every_field_arrives() {
    let job = parse(
        r#"{"name": "mix", "rw": "rw", "block_bytes": 512, "depth": 8, "threads": 4, "offset": 1024,
            "size": 65536, "io_bytes": 4096, "runtime_ns": 7, "ramp_ns": 6, "read_percent": 70,
            "host_ns": 5, "think_ns": 4, "rate_bytes_s": 3, "shared_stream": true,
            "compress_percent": 20, "sync": true, "seed": 9}"#,
    )
    .unwrap();
    assert_eq!((job.order, job.mix), (Order::Sequential, Mix::Reads(70)));
    assert_eq!((job.block_bytes, job.depth, job.threads), (512, 8, 4));
    assert_eq!(
        (job.offset, job.size, job.io_bytes),
        (1024, 65_536, Some(4096))
    );
    assert_eq!((job.runtime, job.ramp), (Some(Nanos(7)), Nanos(6)));
    assert_eq!(
        (job.host, job.think, job.rate_bytes_s),
        (Nanos(5), Nanos(4), Some(3))
    );
    assert_eq!(
        (job.shared_stream, job.compress_percent, job.sync, job.seed),
        (true, 20, true, 9)
    );
}

#[test]
fn errors_name_the_field() {
    let cases = [
        (r#""depth": 0"#, "job `j`: depth is zero"),
        (r#""threads": 0"#, "job `j`: threads is zero"),
        (r#""io_bytes": 0"#, "job `j`: io_bytes is zero"),
        (r#""runtime_ns": 0"#, "job `j`: runtime_ns is zero"),
        (r#""rate_bytes_s": 0"#, "job `j`: rate_bytes_s is zero"),
        (r#""size": 0"#, "job `j`: size is zero"),
        (
            r#""size": 1000"#,
            "job `j`: size is 1000 bytes, not a multiple of 512",
        ),
        (
            r#""offset": 100"#,
            "job `j`: offset is 100 bytes, not a multiple of 512",
        ),
        (
            r#""io_bytes": 700"#,
            "job `j`: io_bytes is 700 bytes, not a multiple of 512",
        ),
        (
            r#""depth": 70000"#,
            "job `j`: depth is 70000, above the limit of 65536",
        ),
        (
            r#""threads": 2000"#,
            "job `j`: threads is 2000, above the limit of 1024",
        ),
        (
            r#""read_percent": 101"#,
            "job `j`: read_percent is 101, above the limit of 100",
        ),
        (
            r#""compress_percent": 101"#,
            "job `j`: compress_percent is 101, above the limit of 100",
        ),
        (
            r#""trim_percent": 101"#,
            "job `j`: trim_percent is 101, above the limit of 100",
        ),
        (
            r#""zones": [{"access_percent": 100, "size_percent": 100}]"#,
            "job `j`: zones divide random requests, and this job is sequential",
        ),
        (
            r#""offset": 512, "size": 1048576"#,
            "job `j`: size reaches to byte 1049088, but the drive has 1048576 bytes",
        ),
        (
            r#""offset": 2097152, "size": 512"#,
            "job `j`: offset reaches to byte 2097664, but the drive has 1048576 bytes",
        ),
    ];
    for (fields, message) in cases {
        assert_eq!(with(fields).unwrap_err(), message, "{fields}");
    }
}

#[test]
fn blocks_are_checked_too() {
    let block = |rw: &str, bytes: u64, size: u64| {
        parse(&format!(
            r#"{{"name": "j", "rw": "{rw}", "block_bytes": {bytes}, "size": {size}}}"#
        ))
    };
    assert_eq!(
        block("read", 0, 4096).unwrap_err(),
        "job `j`: block_bytes is zero"
    );
    assert_eq!(
        block("read", 2 << 40, 4096).unwrap_err(),
        "job `j`: block_bytes is 2199023255552, above the limit of 2199023254528"
    );
    assert_eq!(
        block("randread", 8192, 4096).unwrap_err(),
        "job `j`: size leaves 4096 bytes, less than one block of 8192"
    );
    assert!(
        block("read", 8192, 4096).is_ok(),
        "a sequential pass may be one short request"
    );
}

#[test]
fn unknown_fields_and_patterns_are_refused() {
    assert!(
        with(r#""iodepth": 4"#)
            .unwrap_err()
            .contains("unknown field `iodepth`")
    );
    let error = parse(r#"{"name": "j", "rw": "wirte", "block_bytes": 4096}"#).unwrap_err();
    assert!(error.contains("unknown variant `wirte`"), "{error}");
    let error = parse(r#"{"rw": "write", "block_bytes": 4096}"#).unwrap_err();
    assert!(error.contains("missing field `name`"), "{error}");
}

#[test]
fn a_mix_uses_the_directions_that_can_occur() {
    let used = |mix: Mix| Direction::ALL.map(|direction| mix.uses(direction));
    assert_eq!(used(Mix::Only(Direction::Trim)), [false, false, true]);
    assert_eq!(used(Mix::Reads(70)), [true, true, false]);
    assert_eq!(used(Mix::Reads(100)), [true, false, false]);
    assert_eq!(used(Mix::Reads(0)), [false, true, false]);
    assert_eq!(used(Mix::Trims(10)), [false, true, true]);
    assert_eq!(used(Mix::Trims(100)), [false, false, true]);
}

#[test]
fn trims_go_with_writes_and_zones_are_complete() {
    let random = |fields: &str| {
        parse(&format!(
            r#"{{"name": "j", "rw": "randread", "block_bytes": 4096, {fields}}}"#
        ))
    };
    assert_eq!(
        random(r#""trim_percent": 10"#).unwrap_err(),
        "job `j`: trim_percent mixes trims into writes, and this job does not only write"
    );
    assert_eq!(with(r#""trim_percent": 10"#).unwrap().mix, Mix::Trims(10));
    let zones = |a: u32, b: u32| {
        let zone =
            |access, size| format!(r#"{{"access_percent": {access}, "size_percent": {size}}}"#);
        random(&format!(r#""zones": [{}, {}]"#, zone(a, 20), zone(20, b)))
    };
    assert_eq!(zones(80, 80).unwrap().zones.len(), 2);
    assert_eq!(
        zones(70, 80).unwrap_err(),
        "job `j`: zones add up to 90 %, not to 100"
    );
    assert_eq!(
        zones(80, 90).unwrap_err(),
        "job `j`: zones add up to 110 %, not to 100"
    );
}

#[test]
fn random_trims_take_a_note_of_no_more_blocks_than_they_can_number() {
    let job = |size: u64| {
        let mut job = RawJob::new("j", flashtwin_workload::ReadWrite::RandWrite, 512, 1);
        (job.trim_percent, job.size) = (10, Some(size));
        job.check(u64::MAX / 2).map(|_| ())
    };
    let most = (u64::from(u32::MAX) - 1) * 512;
    assert!(job(most).is_ok());
    let refused = job(most + 512).unwrap_err().to_string();
    assert!(refused.contains("4294967295 blocks"), "{refused}");
}
