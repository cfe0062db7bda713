//! A device too simple to be wrong: `servers` requests are served at once, each for the same time,
//! the others wait in order. It writes down what reached it and when.

use std::collections::VecDeque;

use flashtwin_base::queue::EventQueue;
use flashtwin_base::{Completion, Device, Nanos, Request, Status};
use flashtwin_host::{Flow, Outcome, Phase, run};
use flashtwin_workload::{Direction, Job, Mix, Order};

pub const CAPACITY: u64 = 1 << 20;

pub struct Toy {
    pub servers: usize,
    pub service: Nanos,
    pub depth: u32,
    pub submitted: Vec<(Nanos, Request)>,
    pub most_outstanding: u32,
    outstanding: u32,
    served: EventQueue<Request>,
    queue: VecDeque<Request>,
    now: Nanos,
}

impl Toy {
    pub fn new(servers: usize, service_ns: u64) -> Toy {
        Toy {
            servers,
            service: Nanos(service_ns),
            depth: 32,
            submitted: Vec::new(),
            most_outstanding: 0,
            outstanding: 0,
            served: EventQueue::new(),
            queue: VecDeque::new(),
            now: Nanos::ZERO,
        }
    }

    fn serve(&mut self, now: Nanos) {
        while self.served.len() < self.servers {
            let Some(request) = self.queue.pop_front() else {
                return;
            };
            self.served.push(now + self.service, request);
        }
    }
}

impl Device for Toy {
    fn queue_depth(&self) -> u32 {
        self.depth
    }

    fn capacity_bytes(&self) -> u64 {
        CAPACITY
    }

    fn submit(&mut self, now: Nanos, request: Request) {
        assert!(now >= self.now, "submitted in the past");
        self.now = now;
        self.outstanding += 1;
        self.most_outstanding = self.most_outstanding.max(self.outstanding);
        self.submitted.push((now, request));
        self.queue.push_back(request);
        self.serve(now);
    }

    fn next_due(&self) -> Option<Nanos> {
        self.served.peek_at()
    }

    fn advance(&mut self, to: Nanos, done: &mut Vec<Completion>) {
        assert!(to >= self.now, "time runs backwards");
        self.now = to;
        while let Some((
            at,
            Request {
                tag, lba, sectors, ..
            },
        )) = self.served.pop_due(to)
        {
            self.outstanding -= 1;
            let inside = (lba + u64::from(sectors)) * 512 <= CAPACITY;
            let status = if inside {
                Status::Ok
            } else {
                Status::OutOfRange
            };
            done.push(Completion { tag, at, status });
            self.serve(at);
        }
    }
}

/// A job of 4 KiB reads over the whole toy, one thread, depth 1, one pass: 256 requests.
#[allow(dead_code)] // Not every test has a battery's job.
pub fn job() -> Job {
    Job {
        name: "job".into(),
        order: Order::Sequential,
        mix: Mix::Only(Direction::Read),
        zones: Vec::new(),
        block_bytes: 4096,
        depth: 1,
        threads: 1,
        offset: 0,
        size: CAPACITY,
        io_bytes: None,
        runtime: None,
        ramp: Nanos::ZERO,
        host: Nanos::ZERO,
        think: Nanos::ZERO,
        rate_bytes_s: None,
        shared_stream: false,
        compress_percent: 0,
        handles: Vec::new(),
        sync: false,
        seed: 1,
        fio: None,
    }
}

/// Runs jobs from a start that is not zero, sampled every 10 µs.
#[allow(dead_code)] // Not every test runs a battery's jobs.
pub fn run_jobs(toy: &mut Toy, jobs: Vec<Job>) -> Outcome {
    let phase = Phase::new(jobs, Nanos::from_us(10)).unwrap();
    run(toy, START, &phase, &mut |_| Flow::Continue)
}

pub const START: Nanos = Nanos(1_000_000);
