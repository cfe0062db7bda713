//! Stop the world: once collection has begun the host waits until it ends.

use super::Pacing;

pub(super) const PACING: Pacing = Pacing {
    name: "stop-the-world",
    waits: "every write waits from `gc.low` until `gc.high` is reached",
    stops_host: true,
};
