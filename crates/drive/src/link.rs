//! The host link and the firmware's look at commands: what a command waits for before and after the
//! drive's own work.
//!
//! A link has a direction in and one out. SATA is half duplex, so that both share one time; NVMe
//! sends in both at once. Data is sent for in bursts, first come first served in a direction; a
//! read or write takes `frame` of link time beside its data, and on SATA the drive asks for each
//! 8 KiB of a write (`activate`). The latencies of submission and completion are the same for every
//! command and occupy nothing: commands overlap in them.

use flashtwin_base::Nanos;

use crate::config::{Link, LinkKind};

/// Data of a SATA frame at most: for each such part of a write the drive sends a DMA Activate.
const DATA_FRAME: u64 = 8192;

/// Which way data crosses the link.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Way {
    /// From the host: writes.
    In = 0,
    /// To the host: reads.
    Out = 1,
}

/// A link and when each direction is free.
pub(crate) struct HostLink {
    config: Link,
    free: [Nanos; 2],
    /// Place of the outward direction in `free`: that of the inward one where they share it.
    out: usize,
    /// Bytes of the last transfer and their time: most are of one size.
    last_sent: (u64, Nanos),
}

flashtwin_base::state! { HostLink {
    kept: free;
    built: config, out, last_sent;
} }

impl HostLink {
    pub(crate) fn new(config: &Link) -> HostLink {
        HostLink {
            config: config.clone(),
            free: [Nanos::ZERO; 2],
            out: usize::from(config.kind == LinkKind::Nvme),
            last_sent: (0, Nanos::ZERO),
        }
    }

    /// Nothing crosses any more.
    pub(crate) fn power_lost(&mut self, now: Nanos) {
        self.free = [now; 2];
    }

    /// Commands that the drive takes at once.
    pub(crate) fn queue_depth(&self) -> u32 {
        self.config.queue_depth
    }

    /// From the host's doorbell until the firmware can see a command.
    #[inline]
    pub(crate) fn submit_time(&self) -> Nanos {
        self.config.submit
    }

    /// From the end of a command until the host sees it.
    #[inline]
    pub(crate) fn complete_time(&self) -> Nanos {
        self.config.complete
    }

    /// The track of a direction in a timeline: one where both share their time.
    pub(crate) fn track_of(&self, way: Way) -> u8 {
        (way as usize & self.out) as u8
    }

    /// When what is being sent that way has arrived.
    #[inline]
    pub(crate) fn free_of(&self, way: Way) -> Nanos {
        self.free[way as usize & self.out]
    }

    /// How long bytes of a number of commands take one way.
    pub(crate) fn time_of(&self, bytes: u64, commands: u64) -> Nanos {
        let rate = u128::from(self.config.bytes_per_s);
        let data = u128::from(bytes) * 1_000_000_000 / rate;
        let activates = bytes.div_ceil(DATA_FRAME) * self.config.activate.0;
        Nanos(data as u64 + activates + commands * self.config.frame.0)
    }

    /// Sends bytes one way, after what is being sent there; the answer is when they have arrived.
    /// The first bytes of a command bring its frames along.
    #[inline]
    pub(crate) fn send(&mut self, now: Nanos, bytes: u64, way: Way, first: bool) -> Nanos {
        // A read of data that was never written goes out whole. It may be larger than 18 GB, where
        // a product of 64 bits overflows.
        if bytes != self.last_sent.0 {
            let rate = self.config.bytes_per_s;
            let time = bytes.checked_mul(1_000_000_000).map_or_else(
                || (u128::from(bytes) * 1_000_000_000 / u128::from(rate)) as u64,
                |product| product / rate,
            );
            self.last_sent = (bytes, Nanos(time));
        }
        let frame = if first {
            self.config.frame
        } else {
            Nanos::ZERO
        };
        let asked = match way {
            Way::In => Nanos(bytes.div_ceil(DATA_FRAME) * self.config.activate.0),
            Way::Out => Nanos::ZERO,
        };
        let free = &mut self.free[way as usize & self.out];
        *free = now.max(*free) + self.last_sent.1 + frame + asked;
        *free
    }
}

/// The engine of a controller that compresses what comes in.
pub(crate) struct Compressor {
    /// Bytes a second that it takes in; 0 = as much as comes.
    bytes_per_s: u64,
    /// When it has done what it was given.
    free: Nanos,
}

flashtwin_base::state! { Compressor {
    kept: free;
    built: bytes_per_s;
} }

impl Compressor {
    pub(crate) fn new(bytes_per_s: u64) -> Compressor {
        Compressor {
            bytes_per_s,
            free: Nanos::ZERO,
        }
    }

    /// Data takes time in it.
    pub(crate) fn is_bounded(&self) -> bool {
        self.bytes_per_s > 0
    }

    /// When data that is wholly here at `arrives` has been through it, which begins with the first
    /// byte, now, and works while the rest arrives.
    #[cold]
    pub(crate) fn take(&mut self, now: Nanos, bytes: u64, arrives: Nanos) -> Nanos {
        let rate = u128::from(self.bytes_per_s);
        let time = Nanos((u128::from(bytes) * 1_000_000_000 / rate) as u64);
        self.free = now.max(self.free) + time;
        arrives.max(self.free)
    }
}
