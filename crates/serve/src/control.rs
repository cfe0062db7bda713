//! The control socket: orders as lines of JSON, answers as lines of JSON; and the metrics.
//!
//! An order is an object with a member `order` and its arguments. Whatever is wrong with one is
//! answered with an `error`; nothing else happens then.

use flashtwin_base::{Nanos, Op};
use serde_json::{Value, json};

use crate::disk::Disk;
use crate::faults::Fault;
use crate::nbd::Export;
use crate::server::Report;

/// Longest order.
pub const LINE_BYTES: usize = 4096;

/// An order that came over the control socket.
#[derive(Clone, Debug, PartialEq)]
pub enum Order {
    /// The power goes for a while.
    Cut {
        /// For how long.
        off: Nanos,
        /// With the request of this number, counted from the next one; none for now.
        after: Option<u64>,
    },
    /// Something breaks.
    Break(Fault),
    /// Nothing is answered for a while.
    Stall {
        /// Seconds of the clock.
        seconds: f64,
    },
    /// The drive is gone for good once this many more bytes have been asked for.
    Vanish {
        /// Bytes.
        bytes: u64,
    },
    /// The state of the server and of its drive.
    State,
    /// SMART data.
    Smart,
    /// The export answers to this name too.
    Challenge(String),
}

/// The answer to an order that is not obeyed.
#[must_use]
pub fn refusal(why: &str) -> Value {
    json!({ "error": why })
}

/// An order's arguments.
struct Arguments<'a>(&'a Value);

impl Arguments<'_> {
    fn whole(&self, name: &str) -> Result<u64, String> {
        let value = self.0.get(name).and_then(Value::as_u64);
        value.ok_or_else(|| format!("{name} has to be a whole number from 0 on"))
    }

    fn narrow<T: TryFrom<u64>>(&self, name: &str) -> Result<T, String> {
        let value = self.whole(name)?;
        T::try_from(value).map_err(|_| format!("{name} {value} is too large"))
    }

    fn real(&self, name: &str, most: f64) -> Result<f64, String> {
        let value = self.0.get(name).and_then(Value::as_f64);
        let value = value.filter(|value| (0.0..=most).contains(value));
        value.ok_or_else(|| format!("{name} has to be a number from 0 to {most}"))
    }
}

/// The order that a line holds.
///
/// # Errors
/// Says what is wrong with it.
pub fn parse(line: &str) -> Result<Order, String> {
    let value: Value = serde_json::from_str(line).map_err(|error| error.to_string())?;
    let with = Arguments(&value);
    let order = value.get("order").and_then(Value::as_str).unwrap_or("");
    Ok(match order {
        "cut" => Order::Cut {
            off: Nanos((with.real("off_s", 1e6)? * 1e9) as u64),
            after: match value.get("after") {
                None => None,
                Some(_) => Some(with.whole("after")?.max(1)),
            },
        },
        "state" => Order::State,
        "smart" => Order::Smart,
        "challenge" => {
            let token = value.get("token").and_then(Value::as_str);
            let token = token.filter(|token| (16..=128).contains(&token.len()));
            Order::Challenge(token.ok_or("token has to be 16 to 128 letters")?.to_owned())
        }
        "fault" => fault(&with)?,
        other => return Err(format!("there is no order {other:?}")),
    })
}

fn fault(with: &Arguments<'_>) -> Result<Order, String> {
    let kind = with.0.get("fault").and_then(Value::as_str).unwrap_or("");
    Ok(match kind {
        "stall" => Order::Stall {
            seconds: with.real("seconds", 1e6)?,
        },
        "vanish" => Order::Vanish {
            bytes: with.whole("bytes")?,
        },
        "slow-die" => Order::Break(Fault::SlowDie {
            die: with.narrow("die")?,
            milli: (with.real("factor", 1e4)? * 1e3) as u32,
        }),
        "dead-die" => Order::Break(Fault::DeadDie {
            die: with.narrow("die")?,
        }),
        "dead-block" => Order::Break(Fault::DeadBlock {
            superblock: with.narrow("superblock")?,
        }),
        "unreadable" => Order::Break(Fault::Unreadable {
            lpn: with.narrow("unit")?,
            units: with.narrow("units")?,
        }),
        "read-only" => Order::Break(Fault::ReadOnly),
        "hot" => Order::Break(Fault::Ambient {
            millicelsius: (with.real("celsius", 1e3)? * 1e3) as i32,
        }),
        other => return Err(format!("there is no fault {other:?}")),
    })
}

/// The state of the server and of its drive.
#[must_use]
pub fn state(disk: &Disk, export: &Export, report: &Report, clients: usize) -> Value {
    let (drive, counts) = (disk.drive(), disk.counts());
    let (ftl, c) = (drive.ftl(), drive.counters());
    let lateness = &report.lateness;
    json!({
        "name": export.name,
        "capacity_bytes": export.size,
        "unit_bytes": drive.map_unit_bytes(),
        "dies": ftl.layout().dies,
        "superblocks": ftl.layout().superblocks,
        "clock_s": drive.now().as_secs_f64(),
        "clients": clients,
        "connections": report.connections,
        "reads": counts.requests[Op::Read as usize],
        "writes": counts.requests[Op::Write as usize],
        "trims": counts.requests[Op::Trim as usize],
        "flushes": counts.requests[Op::Flush as usize],
        "fua_writes": counts.fua,
        "failed": counts.failed,
        "bytes_read": counts.bytes[Op::Read as usize],
        "bytes_written": counts.bytes[Op::Write as usize],
        "bytes_trimmed": counts.bytes[Op::Trim as usize],
        "cuts": counts.cuts,
        "start_s": report.start_ns as f64 / 1e9,
        "free_superblocks": ftl.free_superblocks(),
        "cache_bytes_used": ftl.cache_units().0 * u64::from(drive.map_unit_bytes()),
        "waf": c.programmed_units() as f64 / c.host_units.max(1) as f64,
        "celsius": drive.celsius(),
        "read_only": ftl.is_read_only(),
        "answers": lateness.answers(),
        "lateness_us_p50": lateness.percentile_us(50.0),
        "lateness_us_p99": lateness.percentile_us(99.0),
        "late_share": lateness.late_share(),
    })
}

/// The state as OpenMetrics.
#[must_use]
pub fn metrics(disk: &Disk, export: &Export, report: &Report) -> String {
    let state = state(disk, export, report, 0);
    let counters = [
        "reads",
        "writes",
        "trims",
        "flushes",
        "fua_writes",
        "failed",
        "bytes_read",
        "bytes_written",
        "bytes_trimmed",
        "cuts",
        "connections",
        "answers",
    ];
    let gauges = [
        "capacity_bytes",
        "clock_s",
        "free_superblocks",
        "cache_bytes_used",
        "waf",
        "celsius",
        "lateness_us_p50",
        "lateness_us_p99",
        "late_share",
    ];
    let mut text = String::new();
    for (names, kind, ending) in [
        (&counters[..], "counter", "_total"),
        (&gauges[..], "gauge", ""),
    ] {
        for name in names {
            if let Some(value) = state[*name].as_f64() {
                text += &format!("# TYPE flashtwin_{name} {kind}\n");
                text += &format!(
                    "flashtwin_{name}{ending}{{drive={:?}}} {value}\n",
                    export.name
                );
            }
        }
    }
    text + "# EOF\n"
}

/// An answer by HTTP.
#[must_use]
pub fn http(text: &str) -> String {
    format!(
        "HTTP/1.1 200 OK\r\nContent-Type: application/openmetrics-text; version=1.0.0; \
         charset=utf-8\r\nContent-Length: {}\r\nConnection: close\r\n\r\n{text}",
        text.len()
    )
}
