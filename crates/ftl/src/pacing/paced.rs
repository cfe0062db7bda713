//! Paced: each host unit is accompanied by the copies that it costs.

use super::Pacing;

pub(super) const PACING: Pacing = Pacing {
    name: "paced",
    waits: "each write waits for the copies that it costs",
    stops_host: false,
};
