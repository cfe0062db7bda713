//! How the host waits for garbage collection: one file each, and a line in the registry below.
//!
//! Collection asks [`Pacing::stops_host`] when it begins and ends, and what the host owes it.

/// A way to wait as the registry knows it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Pacing {
    /// Its word in a spec.
    pub name: &'static str,
    /// What the host waits for, as the end of a sentence.
    pub waits: &'static str,
    /// The host waits until collection ends, and not for the copies that its own writes cost.
    pub stops_host: bool,
}

crate::registry::registry! {
    /// How the host waits for garbage collection.
    Pace: Pacing by pacing, constants PACING, all in PACINGS {
        paced::Paced,
        stop_the_world::StopTheWorld,
    }
}
