//! Values that the tests draw jobs of fio's from: for each part of a job some that mean something.
//!
//! The names are those of the text that Python hands over. Any of the values may stand beside any
//! other: what excludes each other is refused in words when the job is checked.

use serde_json::{Value, json};

/// Patterns and directions.
pub const PATTERNS: [&str; 10] = [
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

/// The parts of a job that are fio's, each with its values.
#[must_use]
pub fn options() -> Vec<(&'static str, Vec<Value>)> {
    [files(), order(), time(), host()].concat()
}

fn files() -> Vec<(&'static str, Vec<Value>)> {
    vec![
        ("spans", spans()),
        ("size", vec![json!(131_072)]),
        ("file_service", vec![json!("sequential"), json!("random")]),
        ("file_service_count", vec![json!(3)]),
        ("blocks", blocks()),
        ("blocks_unaligned", vec![json!(true)]),
        ("blocks_by_order", vec![json!(true)]),
    ]
}

fn order() -> Vec<(&'static str, Vec<Value>)> {
    let sequences = vec![
        json!({"every": 3}),
        json!({"every": 4, "identical": true}),
        json!({"add_bytes": 8192}),
        json!({"add_bytes": -4096}),
    ];
    let strides = vec![
        json!({"size": 16_384, "range": 16_384, "skip": 16_384}),
        json!({"size": 40_960, "range": 16_384}),
        json!({"size": 8192, "range": 32_768, "skip": 512}),
    ];
    vec![
        ("strides", strides),
        ("random_percent", vec![json!([50, 20, 70])]),
        ("random_map", vec![json!(false)]),
        ("distribution", distributions()),
        ("sequence", sequences),
    ]
}

fn time() -> Vec<(&'static str, Vec<Value>)> {
    let paces = vec![
        json!({"iops": [100_000, 50_000, 0]}),
        json!({"bytes_s": [0, 900_000_000, 5_000_000_000u64], "ignore_think": true}),
        json!({"iops": [80_000, 80_000, 80_000], "poisson": true}),
    ];
    let thinks = vec![
        json!({"ns": 3000, "blocks": 3}),
        json!({"ns": 500, "spin_ns": 900, "blocks": 2, "count": "issue"}),
        json!({"ns": 2000, "blocks": null, "iotime_ns": 9000}),
    ];
    let flows = vec![json!({"weight": 3}), json!({"weight": 1, "sleep_ns": 700})];
    vec![
        ("loops", vec![json!(3)]),
        ("number_ios", vec![json!(50)]),
        ("time_based", vec![json!(true)]),
        ("start_ns", vec![json!(20_000)]),
        ("pace", paces),
        ("think", thinks),
        ("flow", flows),
    ]
}

fn host() -> Vec<(&'static str, Vec<Value>)> {
    let batches = vec![
        json!({"submit": 4, "complete_min": 3}),
        json!({"complete_min": 0}),
        json!({"low": 1, "complete_max": 7, "complete_min": 2}),
        json!({"submit": 64, "serialize_overlap": true}),
    ];
    let syncs = vec![
        json!({"fsync_every": 3, "at_end": true}),
        json!({"fdatasync_every": 2}),
        json!({"on_close": true}),
    ];
    let targets = vec![
        json!({"ns": 3000, "window_ns": 50_000, "percentile": 90.0}),
        json!({"ns": 2500, "window_ns": 30_000, "percentile": 95.0, "run": true}),
    ];
    let ends = vec![
        json!({"all": true}),
        json!({"all": true, "what": "stonewall"}),
    ];
    vec![
        ("batch", batches),
        ("syncs", syncs),
        ("latency_target", targets),
        ("ends", ends),
        (
            "logs",
            vec![json!({"requests": true, "average_ns": 30_000})],
        ),
    ]
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
