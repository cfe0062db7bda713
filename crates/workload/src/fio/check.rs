//! Whether a fio job can be run on a drive: its options against each other and against the drive.
//!
//! What depends on the job is filled in here (spans, sizes, blocks), so that a checked [`Fio`] has
//! them all. Files begin at whole sectors. Requests need not: the drive gets the sectors that they
//! touch, but for trims, which would take neighbours with them.

use super::{
    Blocks, Distribution, FileService, Fio, Kinds, MAX_BYTES, MAX_IOPS, MAX_IOS, MAX_LOOPS,
    MAX_MAP_BLOCKS, MAX_SPANS, MAX_STEADY_S, Span,
};
use crate::job::{
    Direction, MAX_BLOCK_BYTES, MAX_TIME_NS, Mix, Order, Problem, RawJob, above_zero, at_most,
    whole_sectors,
};

type Found = Result<(), (&'static str, Problem)>;

impl Fio {
    /// The options complete, for a job whose own span has `size` bytes.
    pub(crate) fn checked(
        mut self,
        job: &RawJob,
        size: u64,
        capacity: u64,
    ) -> Result<Fio, (&'static str, Problem)> {
        job_alone(job)?;
        if self.spans.is_empty() {
            self.spans = vec![Span {
                start: job.offset,
                bytes: size,
                offset: 0,
                size: None,
                again: None,
                endless: false,
            }];
        }
        self.check_spans(capacity)?;
        for span in &mut self.spans {
            span.size = Some(span.used());
        }
        let total = self.spans.iter().map(Span::used).sum();
        above_zero("fio.size", *self.size.get_or_insert(total))?;
        at_most("fio.size", *self.size.get_or_insert(total), MAX_BYTES)?;
        let own_blocks = [(); 3].map(|()| Blocks::of(job.block_bytes));
        for blocks in self.blocks.get_or_insert(own_blocks) {
            check_blocks(blocks)?;
        }
        if job.rw.mix(job.read_percent, 0).uses(Direction::Trim) {
            self.check_trims()?;
        }
        let blocks = self.blocks.iter().flatten();
        // fio: any use of blockalign turns off the random map.
        if blocks.clone().any(|blocks| blocks.grain() != blocks.least) {
            self.random_map = false;
        }
        self.check_map(job)?;
        self.check_distribution(job)?;
        self.check_law()?;
        self.check_strides(job)?;
        self.check_counts()?;
        self.check_times()?;
        self.check_ends(job)?;
        self.check_trace(job)?;
        if self.synchronous && job.depth > 1 {
            return Err(("depth", Problem::Excludes("fio.synchronous")));
        }
        Ok(self)
    }

    fn check_spans(&self, capacity: u64) -> Found {
        at_most("fio.spans", self.spans.len() as u64, MAX_SPANS as u64)?;
        for span in &self.spans {
            whole_sectors("fio.spans", span.start)?;
            above_zero("fio.spans", span.used())?;
            let end = span.start.saturating_add(span.bytes);
            let used = span.offset.saturating_add(span.used());
            let (end, capacity) = if used > span.bytes {
                (used, span.bytes)
            } else {
                (end, capacity)
            };
            if end > capacity {
                return Err(("fio.spans", Problem::PastEnd { end, capacity }));
            }
        }
        Ok(())
    }

    fn check_trims(&self) -> Found {
        let blocks = &self.blocks.as_ref().expect("they are filled in")[Direction::Trim as usize];
        let split = blocks.split.iter().map(|(bytes, _)| *bytes);
        let offsets = self
            .spans
            .iter()
            .flat_map(|span| [span.offset, span.home()]);
        let grain = u64::from(self.blocks_unaligned);
        let all = [
            blocks.least,
            blocks.most,
            blocks.grain(),
            grain * blocks.most,
        ];
        let step = self.sequence.add_bytes.unsigned_abs();
        for bytes in split.chain(offsets).chain(all).chain([step]) {
            whole_sectors("fio.blocks", bytes)?;
        }
        Ok(())
    }

    fn check_law(&self) -> Found {
        let by_law = self.file_service == FileService::Law;
        let law = self.file_law.kind;
        if by_law != matches!(law, Kinds::Zipf | Kinds::Pareto | Kinds::Normal) {
            let range = "files have a law: zipf, pareto, normal";
            return Err((
                "fio.file_law",
                Problem::OutOfRange(format!("{law:?}"), range),
            ));
        }
        check_law("fio.file_law", &self.file_law)
    }

    fn check_strides(&self, job: &RawJob) -> Found {
        let Some(strides) = self.strides else {
            return Ok(());
        };
        let field = "fio.strides";
        for bytes in [strides.size, strides.range] {
            above_zero(field, bytes)?;
        }
        for bytes in [strides.size, strides.range, strides.skip] {
            at_most(field, bytes, MAX_BYTES)?;
        }
        at_most(field, strides.range / self.least_block(), MAX_MAP_BLOCKS)?;
        if job.rw.mix(job.read_percent, 0) == Mix::Pairs {
            return Err((field, Problem::Excludes("pairs of trim and write")));
        }
        Ok(())
    }

    fn check_map(&self, job: &RawJob) -> Found {
        if self.random_map && job.rw.order() == Order::Random && self.strides.is_none() {
            let least = self.least_block();
            let blocks = self.spans.iter().map(|span| span.used() / least).max();
            at_most("fio.spans", blocks.unwrap_or(0), MAX_MAP_BLOCKS)?;
        }
        Ok(())
    }

    /// The smallest request of any direction.
    /// The shortest request of a checked job.
    #[must_use]
    pub fn least_block(&self) -> u64 {
        let blocks = self.blocks.iter().flatten();
        blocks.map(|blocks| blocks.least).min().unwrap_or(1)
    }

    fn check_distribution(&self, job: &RawJob) -> Found {
        check_law("fio.distribution", &self.distribution)?;
        match self.distribution.kind {
            // In a sequential job fio looks at no zone.
            Kinds::Zoned | Kinds::ZonedAbs if job.rw.order() == Order::Random => self.check_zones(),
            _ => Ok(()),
        }
    }

    fn check_zones(&self) -> Found {
        let field = "fio.distribution";
        if self.distribution.zones.len() != 3 {
            let count = self.distribution.zones.len().to_string();
            return Err((field, Problem::OutOfRange(count, "zones come in triples")));
        }
        for zones in self.distribution.zones.iter().filter(|z| !z.is_empty()) {
            let access = zones.iter().map(|(access, _)| u64::from(*access)).sum();
            if access != 100 {
                return Err((field, Problem::NotAHundred(access)));
            }
            let size = zones
                .iter()
                .fold(0, |sum: u64, (_, size)| sum.saturating_add(*size));
            if self.distribution.kind == Kinds::Zoned && size != 100 {
                return Err((field, Problem::NotAHundred(size)));
            }
            let least = self.spans.iter().map(Span::used).min().unwrap_or(0);
            if self.distribution.kind == Kinds::ZonedAbs && size > least {
                let (end, capacity) = (size, least);
                return Err((field, Problem::PastEnd { end, capacity }));
            }
        }
        Ok(())
    }

    fn check_counts(&self) -> Found {
        above_zero("fio.file_service_count", self.file_service_count.into())?;
        above_zero("fio.open_files", self.open_files.unwrap_or(1).into())?;
        above_zero("fio.loops", self.loops.into())?;
        at_most("fio.loops", self.loops.into(), MAX_LOOPS.into())?;
        at_most("fio.number_ios", self.number_ios, MAX_IOS)?;
        let blocks = self.think.and_then(|think| think.blocks);
        at_most("fio.think", blocks.unwrap_or(0), MAX_IOS)?;
        let pace = &self.pace;
        for iops in pace.iops.iter().chain(&pace.min_iops) {
            at_most("fio.pace", *iops, MAX_IOPS)?;
        }
        for bytes in pace.bytes_s.iter().chain(&pace.min_bytes_s) {
            at_most("fio.pace", *bytes, MAX_BYTES)?;
        }
        above_zero("fio.batch", self.batch.submit.into())?;
        for percent in self.random_percent {
            at_most("fio.random_percent", percent.into(), 100)?;
        }
        if let Some(most) = self.batch.complete_max.filter(|most| *most > 0) {
            at_most("fio.batch", self.batch.complete_min.into(), most.into())?;
        }
        let steps = self.sequence.add_bytes.unsigned_abs();
        at_most("fio.sequence", steps, MAX_BYTES)
    }

    fn check_times(&self) -> Found {
        let think = self
            .think
            .map_or([0; 3], |t| [t.ns, t.spin_ns, t.iotime_ns]);
        let flow = self.flow.map_or(0, |flow| flow.sleep_ns);
        let target = self
            .latency_target
            .map_or([1; 2], |target| [target.ns, target.window_ns]);
        let steady = self.steady.map_or(0, |steady| steady.ramp_ns);
        let times = [("fio.start_ns", self.start_ns), ("fio.flow", flow)];
        let more = think.map(|ns| ("fio.think", ns));
        let latency_target = target.map(|ns| ("fio.latency_target", ns));
        let logs = [
            self.logs.average_ns,
            self.logs.bw_window_ns,
            self.logs.iops_window_ns,
            self.logs.status_ns,
        ]
        .map(|ns| ("fio.logs", ns));
        let rest = [("fio.steady", steady), ("fio.pace", self.pace.cycle_ns)];
        let all = times
            .iter()
            .chain(&more)
            .chain(&latency_target)
            .chain(&logs);
        for (field, ns) in all.chain(&rest) {
            at_most(field, *ns, MAX_TIME_NS)?;
        }
        for (field, ns) in latency_target {
            above_zero(field, ns)?;
        }
        above_zero("fio.logs", self.logs.bw_window_ns)?;
        above_zero("fio.logs", self.logs.iops_window_ns)?;
        above_zero("fio.pace", self.pace.cycle_ns)
    }

    /// A trace takes the place of these options, and fio ignores them: they are refused beside it.
    fn check_trace(&self, job: &RawJob) -> Found {
        let Some(trace) = &self.trace else {
            return Ok(());
        };
        let field = "fio.trace";
        above_zero(field, trace.shape.scale)?;
        above_zero(field, trace.speed_percent.unwrap_or(1).into())?;
        if trace.shape.align > 0 && !trace.shape.align.is_power_of_two() {
            let range = "a grain is a power of two";
            let problem = Problem::OutOfRange(trace.shape.align.to_string(), range);
            return Err((field, problem));
        }
        let excluded = [
            ("fio.loops", self.loops > 1),
            ("fio.number_ios", self.number_ios > 0),
            ("fio.time_based", self.time_based),
            ("fio.pace", self.pace.limits()),
            ("io_bytes", job.io_bytes.is_some()),
        ];
        match excluded.iter().find(|(_, set)| *set) {
            Some((other, _)) => Err((field, Problem::Excludes(other))),
            None => Ok(()),
        }
    }

    fn check_ends(&self, job: &RawJob) -> Found {
        if self.time_based && job.runtime_ns.is_none() {
            return Err((
                "fio.time_based",
                Problem::OutOfRange("true".into(), "it needs a runtime"),
            ));
        }
        for direction in 0..3 {
            if self.pace.bytes_s[direction] > 0 && self.pace.iops[direction] > 0 {
                return Err(("fio.pace", Problem::Excludes("a rate in requests")));
            }
        }
        if let Some(flow) = self.flow {
            above_zero("fio.flow", flow.weight.into())?;
        }
        if let Some(steady) = self.steady {
            let field = "fio.steady";
            above_zero(field, steady.duration_s.into())?;
            at_most(field, steady.duration_s.into(), MAX_STEADY_S.into())?;
            if !(steady.limit > 0.0 && steady.limit.is_finite()) {
                let limit = steady.limit.to_string();
                return Err((field, Problem::OutOfRange(limit, "a limit is above 0")));
            }
        }
        let percent = self
            .latency_target
            .map_or(100.0, |target| target.percentile);
        if !(percent > 0.0 && percent <= 100.0) {
            let range = "a percentile is above 0 and at most 100";
            let problem = Problem::OutOfRange(percent.to_string(), range);
            return Err(("fio.latency_target", problem));
        }
        Ok(())
    }
}

/// The numbers of a distribution.
fn check_law(field: &'static str, distribution: &Distribution) -> Found {
    let wrong = |value: f64, range| Err((field, Problem::OutOfRange(value.to_string(), range)));
    let value = distribution.value;
    let center = distribution.center.unwrap_or(0.0);
    if !(0.0..=1.0).contains(&center) {
        return wrong(center, "a center is 0 to 1 of the span");
    }
    match distribution.kind {
        Kinds::Zipf if !(value > 0.0 && value != 1.0 && value < 1_000.0) => {
            wrong(value, "theta is above 0 and not 1")
        }
        Kinds::Pareto if !(value > 0.0 && value < 1.0) => wrong(value, "h is between 0 and 1"),
        Kinds::Normal if !(0.0..=100.0).contains(&value) => {
            wrong(value, "a deviation is 0 to 100 %")
        }
        _ => Ok(()),
    }
}

/// What a battery's job has and fio has another option for.
fn job_alone(job: &RawJob) -> Found {
    let used = [
        ("threads", job.threads != 1),
        ("trim_percent", job.trim_percent > 0),
        ("zones", !job.zones.is_empty()),
        ("think_ns", job.think_ns > 0),
        ("rate_bytes_s", job.rate_bytes_s.is_some()),
        ("shared_stream", job.shared_stream),
    ];
    match used.iter().find(|(_, used)| *used) {
        Some((field, _)) => Err((field, Problem::NotFio)),
        None => Ok(()),
    }
}

fn check_blocks(blocks: &Blocks) -> Found {
    let field = "fio.blocks";
    let sizes = blocks.split.iter().map(|(bytes, _)| *bytes);
    for bytes in sizes.chain([blocks.least, blocks.most, blocks.grain()]) {
        above_zero(field, bytes)?;
        at_most(field, bytes, MAX_BLOCK_BYTES)?;
    }
    if blocks.most < blocks.least {
        let (value, least) = (blocks.most, blocks.least);
        return Err((field, Problem::Below { value, least }));
    }
    if blocks.split.is_empty() {
        return Ok(());
    }
    let sum: u64 = blocks
        .split
        .iter()
        .map(|(_, percent)| u64::from(*percent))
        .sum();
    if sum != 100 {
        return Err((field, Problem::NotAHundred(sum)));
    }
    let (least, most) = (blocks.least, blocks.most);
    for (bytes, _) in &blocks.split {
        at_most(field, *bytes, most)?;
        if *bytes < least {
            return Err((
                field,
                Problem::Below {
                    value: *bytes,
                    least,
                },
            ));
        }
    }
    Ok(())
}
