//! What the processes of a phase share: the way to the device, events, and who ends whom.

use flashtwin_base::queue::{EventQueue, Fifo};
use flashtwin_base::{Device, Histogram, Nanos, Op, Request};
use flashtwin_workload::fio::Whom;

use super::flow::Flows;
use super::record::MAX_REQUESTS;
use crate::series::Sampler;

/// Who is woken: the process, and the number of the wait that ends. A wait that was ended otherwise
/// has another number by then.
pub(crate) type Wake = (u32, u32);

/// A request on its way to the device.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Outgoing {
    pub tag: u32,
    pub op: Op,
    pub lba: u64,
    pub sectors: u32,
    pub fua: bool,
    pub compressible_percent: u8,
    pub placement: u8,
}

/// What the processes share.
pub(crate) struct Core {
    pub start: Nanos,
    pub events: EventQueue<Wake>,
    /// Requests that found the device full.
    waiting: Fifo<Outgoing>,
    room: u32,
    pub outstanding: u64,
    pub completions: u64,
    pub bytes: u64,
    pub sampler: Sampler,
    pub hist: [Histogram; 3],
    pub flows: Flows,
    /// Jobs that take others with them: whom, their group, and who they are.
    pub ends: Vec<(Whom, u32, u32)>,
    /// A process has ended since somebody looked.
    pub ended: bool,
    /// Processes that have not ended.
    pub running: usize,
    kept: u64,
    /// What a job keeps of its requests found no memory.
    pub no_room: bool,
}

impl Core {
    pub fn new(start: Nanos, room: u32, slots: usize, sampler: Sampler) -> Core {
        assert!(room > 0, "the device takes no requests at all");
        Core {
            start,
            events: EventQueue::new(),
            waiting: Fifo::new(slots),
            room,
            outstanding: 0,
            completions: 0,
            bytes: 0,
            sampler,
            hist: [Histogram::new(), Histogram::new(), Histogram::new()],
            flows: Flows::default(),
            ends: Vec::new(),
            ended: false,
            running: 0,
            kept: 0,
            no_room: false,
        }
    }

    /// A request arrives at the device, or queues behind those that found it full.
    #[inline]
    pub fn reach<D: Device>(&mut self, device: &mut D, now: Nanos, request: Outgoing) {
        self.outstanding += 1;
        if self.room > 0 && self.waiting.is_empty() {
            self.submit(device, now, request);
        } else {
            self.waiting.push(request).expect("a slot waits once");
        }
    }

    #[inline]
    fn submit<D: Device>(&mut self, device: &mut D, now: Nanos, request: Outgoing) {
        self.room -= 1;
        let Outgoing {
            tag,
            op,
            lba,
            sectors,
            fua,
            compressible_percent,
            placement,
        } = request;
        let request = Request {
            tag,
            op,
            lba,
            sectors,
            fua,
            compressible_percent,
            placement,
        };
        device.submit(now, request);
    }

    /// The device has answered one.
    #[inline]
    pub fn answered(&mut self) {
        self.room += 1;
        self.outstanding -= 1;
        self.completions += 1;
    }

    /// Submits what found the device full.
    #[inline]
    pub fn submit_waiting<D: Device>(&mut self, device: &mut D, now: Nanos) {
        while self.room > 0 {
            let Some(request) = self.waiting.pop() else {
                return;
            };
            self.submit(device, now, request);
        }
    }

    /// A process ends for good.
    pub fn process_ends(&mut self) {
        self.ended = true;
        self.running -= 1;
    }

    /// True if one request more may be kept.
    pub fn keeps(&mut self) -> bool {
        self.kept += 1;
        self.kept <= MAX_REQUESTS
    }

    /// True if something that was to be kept found no memory.
    pub fn lacks_memory(&self) -> bool {
        self.no_room || self.sampler.lacks_memory()
    }

    /// True if more would have been kept than is possible.
    pub fn kept_too_many(&self) -> bool {
        self.kept > MAX_REQUESTS
    }
}
