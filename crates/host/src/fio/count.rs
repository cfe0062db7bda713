//! The bookkeeping of one process: what is counted when a request is made, submitted, reaped.

use flashtwin_base::{Nanos, Status};
use flashtwin_workload::fio::{Fio, Kind};
use flashtwin_workload::{Direction, Job};

use super::core::Core;
use super::process::Slot;
use super::record::{Averager, DATASYNC, LAST_SYNC, Record, Requests, SYNC};
use super::stats::{Stats, Windows, batch_class, per_second};
use crate::outcome::Tally;

/// What is counted of a process.
pub(crate) struct Counting {
    pub stats: Stats,
    pub tally: Tally,
    pub averages: Option<Averager>,
    pub requests: Option<Requests>,
    /// The measured time has begun.
    counts: bool,
    bw: Windows,
    iops: Windows,
    bw_window: u64,
    iops_window: u64,
    average: (u64, bool),
    begin: Nanos,
}

impl Counting {
    pub fn new(job: &Job, fio: &Fio, begin: Nanos, started: Nanos) -> Counting {
        let logs = &fio.logs;
        let mut counting = Counting {
            stats: Stats::default(),
            tally: Tally::new(started, job.ramp),
            averages: None,
            requests: logs.requests.then(Requests::default),
            counts: job.ramp == Nanos::ZERO,
            bw: Windows::new(started, logs.bw_window_ns),
            iops: Windows::new(started, logs.iops_window_ns),
            bw_window: logs.bw_window_ns,
            iops_window: logs.iops_window_ns,
            average: (logs.average_ns, logs.maxima),
            begin,
        };
        counting.begin_averages(started);
        counting
    }

    /// The measured time begins: what was counted so far does not count.
    pub fn restart(&mut self, epoch: Nanos) {
        self.stats = Stats::default();
        if self.counts {
            // Nothing is under way: the search for a depth begins its measurement anew.
            self.tally = Tally::new(epoch, Nanos::ZERO);
        }
        self.counts = true;
        self.bw = Windows::new(epoch, self.bw_window);
        self.iops = Windows::new(epoch, self.iops_window);
        self.begin_averages(epoch);
    }

    fn begin_averages(&mut self, epoch: Nanos) {
        let (interval, maxima) = self.average;
        self.averages = (interval > 0).then(|| Averager::new(epoch, interval, maxima));
    }

    /// A request is made.
    #[inline]
    pub fn begins(&mut self, now: Nanos) {
        self.tally.begin(now);
    }

    /// A request is issued; a sync is submitted at once, at this depth.
    #[inline]
    pub fn issued(&mut self, kind: Kind, depth: u32) {
        match kind {
            Kind::Io(direction) => self.stats.sides[direction as usize].issued += 1,
            Kind::Fsync | Kind::Fdatasync => {
                self.stats.syncs_issued += 1;
                self.stats.datasyncs_issued += u64::from(kind == Kind::Fdatasync);
                self.stats.submitted(depth, 1);
            }
        }
    }

    /// Requests are submitted together.
    #[inline]
    pub fn submitted(&mut self, depth: u32, count: u32) {
        self.stats.submitted(depth, count);
        self.stats.submits[batch_class(count)] += 1;
    }

    /// A request is submitted.
    #[inline]
    pub fn slat(&mut self, slot: &Slot, now: Nanos) {
        if self.counts {
            let side = &mut self.stats.sides[slot.ask.direction as usize];
            let slat = (now - slot.start).0;
            side.slat.add(slat);
            side.slat_hist.record(slat);
        }
    }

    /// A request is reaped; false where it should have been kept and there is no room.
    #[inline]
    pub fn completed(&mut self, core: &mut Core, now: Nanos, slot: &Slot) -> bool {
        self.tally.end(now);
        let was_kept = self.keep(core, now, slot);
        let Kind::Io(direction) = slot.kind else {
            if self.counts && !slot.silent {
                let latency = (now - slot.issue).0;
                self.stats.syncs.add(latency);
                self.stats.sync_hist.record(latency);
            }
            return was_kept;
        };
        let (bytes, lat) = (slot.ask.bytes, now - slot.start);
        core.sampler.record(now, direction, bytes, lat);
        if self.counts {
            core.hist[direction as usize].record(lat.0);
            self.tally.add(bytes, lat);
            self.count(now, direction, slot);
            core.no_room |= self.lacks_memory();
        }
        was_kept
    }

    #[inline]
    fn count(&mut self, now: Nanos, direction: Direction, slot: &Slot) {
        self.close_windows(now);
        let way = direction as usize;
        let bytes = slot.ask.bytes;
        let (lat, clat) = ((now - slot.start).0, (now - slot.issue).0);
        let side = &mut self.stats.sides[way];
        side.ios += 1;
        side.bytes += bytes;
        side.clat.add(clat);
        side.clat_hist.record(clat);
        side.lat.add(lat);
        side.lat_hist.record(lat);
        self.stats.classify(clat);
        self.bw.add(way, bytes);
        self.iops.add(way, 1);
        if let Some(averages) = &mut self.averages {
            averages.add(now, way, bytes, [lat - clat, clat, lat]);
        }
    }

    /// True if the means of its windows found no memory.
    #[inline]
    fn lacks_memory(&self) -> bool {
        self.averages.as_ref().is_some_and(Averager::lacks_memory)
    }

    #[inline]
    fn close_windows(&mut self, now: Nanos) {
        let sides = &mut self.stats.sides;
        let (bw, iops) = (self.bw_window, self.iops_window);
        self.bw.close_before(now, |way, bytes| {
            sides[way].bw.add(per_second(bytes, bw) / 1024);
        });
        self.iops.close_before(now, |way, ios| {
            sides[way].iops.add(per_second(ios, iops));
        });
    }

    fn keep(&mut self, core: &mut Core, now: Nanos, slot: &Slot) -> bool {
        let Some(requests) = self.requests.as_mut() else {
            return true;
        };
        if !core.keeps() {
            return false;
        }
        let direction = match slot.kind {
            Kind::Io(direction) => direction as u8,
            Kind::Fsync if slot.silent => LAST_SYNC,
            Kind::Fsync => SYNC,
            Kind::Fdatasync => DATASYNC,
        };
        let record = Record {
            start: slot.start,
            issue: slot.issue,
            complete: now,
            number: slot.number,
            offset: slot.ask.offset,
            bytes: slot.ask.bytes,
            file: slot.ask.file,
            direction,
        };
        core.no_room |= !requests.push(self.begin, record);
        true
    }

    /// A request failed.
    #[cold]
    pub fn failed(&mut self, now: Nanos, slot: &Slot, status: Status) {
        self.tally.end(now);
        self.tally.add_error(status);
        if let Kind::Io(direction) = slot.kind {
            self.stats.sides[direction as usize].errors += 1;
        }
    }

    /// The job has ended: its last whole windows are samples.
    pub fn close(&mut self, end: Nanos) {
        self.close_windows(end + Nanos(1));
    }
}
