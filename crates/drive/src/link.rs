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

/// The firmware's cores, which understand commands one at a time each.
pub(crate) struct Cores(Vec<Nanos>);

impl flashtwin_base::State for Cores {
    fn visit<V: flashtwin_base::Visitor>(&mut self, visitor: &mut V) -> Result<(), V::Error> {
        visitor.sized("Cores.0", &mut self.0)
    }
}

impl Cores {
    pub(crate) fn new(count: u32) -> Cores {
        Cores(vec![Nanos::ZERO; count as usize])
    }

    /// Has the core that is free first work for `time`, from `from` on at the earliest; the answer
    /// is when it is done.
    #[inline]
    pub(crate) fn take(&mut self, from: Nanos, time: Nanos) -> Nanos {
        let (mut first, rest) = self.0.split_first_mut().expect("a core");
        for core in rest {
            if *core < *first {
                first = core;
            }
        }
        *first = from.max(*first) + time;
        *first
    }

    /// The core that is free first, and when.
    pub(crate) fn first_free(&self) -> (usize, Nanos) {
        // Of several the first, as in `take`.
        let cores = self.0.iter().copied().enumerate();
        cores.min_by_key(|&(_, free)| free).expect("a core")
    }

    /// When each core is free.
    pub(crate) fn each_free(&self) -> Vec<Nanos> {
        self.0.clone()
    }

    /// The same with all cores at a standstill: the drive wakes, or is throttled.
    #[cold]
    pub(crate) fn take_all(&mut self, from: Nanos, time: Nanos) -> Nanos {
        let done = self.take(from, time);
        for core in &mut self.0 {
            *core = done.max(*core);
        }
        done
    }
}
