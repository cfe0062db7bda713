//! The event loop: sockets, requests, the drive, the clock, in one thread.
//!
//! A turn reads what has come, lets the drive catch up with the clock, submits what waits for a
//! tag, ends the journal's batch, and sends. Then it sleeps until a socket stirs or the drive's
//! next event is due, the last microseconds spinning. Nothing here blocks but that sleep.
//!
//! Bounds: a client holds at most [`CLIENT_BYTES`] in requests and replies and [`CLIENT_REQUESTS`]
//! requests, all clients together [`ALL_BYTES`] and [`MOST_CLIENTS`] connections. Whoever is at a
//! bound is not read from; a client that holds room that others wait for and moves nothing for
//! [`PATIENCE_NS`] is hung up on.

use std::collections::VecDeque;
use std::io;
use std::os::fd::AsFd;

use flashtwin_base::Nanos;
use rustix::event::{PollFd, PollFlags, Timespec, poll};

use crate::clients::{Client, Listener, Socket};
use crate::command::{Command, Part};
use crate::control::{self, Order};
use crate::disk::{Answer, Disk};
use crate::faults::Fault;
use crate::nbd::wire::Errno;
use crate::nbd::{Export, Progress, Request, Verb};
use crate::pace::{Lateness, Pace};

/// Most connections; more are hung up on at once.
pub const MOST_CLIENTS: usize = 2048;
/// Most requests of a client that are not answered.
pub const CLIENT_REQUESTS: usize = 1024;
/// Most bytes of a client, in requests and in replies that it has not read.
pub const CLIENT_BYTES: usize = 64 << 20;
/// Most bytes of all clients.
pub const ALL_BYTES: usize = 256 << 20;
/// Replies that a client may leave unread before no more is read from it.
pub(crate) const UNREAD_BYTES: usize = 1 << 20;
/// How long a client may hold what others wait for.
const PATIENCE_NS: u64 = 10_000_000_000;
/// Most bytes that are read of a client in a turn: a client goes on while its next ones are read.
const TURN_BYTES: usize = 1 << 17;
/// A read that brings fewer bytes has brought all that there is now.
const ENOUGH_BYTES: usize = 1 << 15;
/// Ranges of a block status.
const MOST_RANGES: usize = 1024;
/// How often the watch is asked, and the drive caught up with while nothing is asked of it.
const WATCH_NS: u64 = 100_000_000;

/// How the drive is served.
#[derive(Clone, Debug)]
pub struct Options {
    /// Drive's time a second of the clock.
    pub speed: f64,
    /// Answers wait for their time.
    pub timed: bool,
    /// When the power is cut by itself.
    pub cuts: Cuts,
}

/// When the power is cut by itself.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Cuts {
    /// With the request of this number, counted from 1.
    pub at: Option<u64>,
    /// For how long it stays off then.
    pub off: Nanos,
    /// With any request, by this chance.
    pub chance: f64,
    /// Decides by chance.
    pub seed: u64,
}

/// What came of serving.
#[derive(Clone, Debug, Default)]
pub struct Report {
    /// How late the answers were.
    pub lateness: Lateness,
    /// Connections that there were.
    pub connections: u64,
    /// How long the drive took for its last start, in nanoseconds of its own.
    pub start_ns: u64,
}

/// The server.
pub struct Server {
    disk: Disk,
    export: Export,
    pace: Pace,
    options: Options,
    listeners: Vec<Listener>,
    clients: Vec<Client>,
    next_client: u64,
    commands: Vec<Option<Command>>,
    vacant: Vec<usize>,
    /// Commands with parts to give, in turn.
    waiting: VecDeque<usize>,
    parts: Vec<Option<Part>>,
    tags: Vec<u32>,
    held: usize,
    answers: Vec<Answer>,
    /// Replies that are sent in this turn: when they were due, and how long they took.
    due: Vec<(Nanos, Nanos)>,
    report: Report,
    seen: u64,
    chance: flashtwin_base::rng::Rng,
    /// Nothing is answered before this instant of the clock.
    stalled_ns: u64,
    /// Bytes after which the drive vanishes.
    vanishes: Option<u64>,
    gone: bool,
    starved_since: Option<u64>,
}

impl Server {
    /// A drive that is to be served under a name.
    #[must_use]
    pub fn new(disk: Disk, export: Export, options: Options, listeners: Vec<Listener>) -> Server {
        let pace = Pace::new(disk.drive().now(), options.speed, options.timed);
        let depth = disk.depth();
        let chance = flashtwin_base::rng::Rng::new(options.cuts.seed, 0xC07);
        Server {
            disk,
            export,
            pace,
            options,
            listeners,
            clients: Vec::new(),
            next_client: 0,
            commands: Vec::new(),
            vacant: Vec::new(),
            waiting: VecDeque::new(),
            parts: vec![None; depth],
            tags: (0..depth as u32).rev().collect(),
            held: 0,
            answers: Vec::new(),
            due: Vec::new(),
            report: Report::default(),
            seen: 0,
            chance,
            stalled_ns: 0,
            vanishes: None,
            gone: false,
            starved_since: None,
        }
    }

    /// The drive took `start` of its own time to start from its data before it was served.
    pub fn note_start(&mut self, start: Nanos) {
        self.report.start_ns = start.0;
    }

    /// The drive.
    #[must_use]
    pub fn disk(&self) -> &Disk {
        &self.disk
    }

    /// What came of it so far.
    #[must_use]
    pub fn report(&self) -> &Report {
        &self.report
    }

    /// Serves until `watch`, which is asked ten times a second, says that it is enough.
    ///
    /// # Errors
    /// When the data cannot be kept, or the system refuses to wait.
    pub fn run(&mut self, mut watch: impl FnMut(&Server) -> bool) -> io::Result<()> {
        slack();
        let mut asked_ns = 0;
        loop {
            let clock = self.pace.clock();
            if clock >= asked_ns {
                asked_ns = clock + WATCH_NS;
                if !watch(self) {
                    return Ok(());
                }
                self.hang_up_on_the_idle(clock);
                let idle = self.waiting.is_empty() || self.disk.is_closed();
                if idle && !self.is_busy() {
                    self.disk.tidy().map_err(io::Error::other)?;
                }
            }
            self.wait(asked_ns)?;
            let turned = self.turn();
            if turned.is_err() {
                // What was asked for and cannot be kept any more is answered so.
                self.fail_all();
                self.send();
            }
            turned?;
        }
    }

    /// Everything that was asked for is answered; no more is read.
    ///
    /// # Errors
    /// As [`Server::run`].
    pub fn end(mut self) -> io::Result<(Disk, Report)> {
        while !self.disk.is_dead() && self.is_busy() {
            self.disk.advance_until_done(&mut self.answers)?;
            self.hear();
            self.disk.commit()?;
        }
        self.send();
        Ok((self.disk, self.report))
    }

    /// The drive has a part that it has not answered.
    fn is_busy(&self) -> bool {
        self.tags.len() < self.parts.len()
    }

    /// Sleeps until something is to be done.
    fn wait(&mut self, asked_ns: u64) -> io::Result<()> {
        let clock = self.pace.clock();
        let busy = self.is_busy();
        let mut until = asked_ns;
        if busy && self.pace.is_timed() {
            let due = self.disk.next_due().map(|due| self.pace.clock_at(due));
            until = until.min(due.unwrap_or(asked_ns).max(self.stalled_ns.min(asked_ns)));
        } else if busy || !self.waiting.is_empty() && !self.disk.is_closed() {
            until = clock.max(self.stalled_ns.min(asked_ns));
        }
        let sleep = self.pace.sleep_until(until);
        let timeout = sleep.map(|sleep| Timespec {
            tv_sec: sleep.as_secs() as i64,
            tv_nsec: i64::from(sleep.subsec_nanos()),
        });
        let nothing = Timespec {
            tv_sec: 0,
            tv_nsec: 0,
        };
        let before = self.pace.clock();
        let stirred = self.poll(timeout.as_ref().unwrap_or(&nothing))?;
        if let (Some(sleep), false) = (sleep, stirred) {
            self.pace.woke(before + sleep.as_nanos() as u64);
        }
        Ok(())
    }

    /// Waits for the sockets, and notes which can be read and written; true where one can.
    fn poll(&mut self, timeout: &Timespec) -> io::Result<bool> {
        let full = self.held >= ALL_BYTES;
        let mut fds: Vec<PollFd<'_>> =
            Vec::with_capacity(self.listeners.len() + self.clients.len());
        for listener in &self.listeners {
            fds.push(PollFd::from_borrowed_fd(listener.as_fd(), PollFlags::IN));
        }
        for client in &self.clients {
            let mut flags = PollFlags::empty();
            flags.set(PollFlags::IN, client.may_read(full));
            flags.set(PollFlags::OUT, client.has_output());
            fds.push(PollFd::from_borrowed_fd(client.as_fd(), flags));
        }
        match poll(&mut fds, Some(timeout)) {
            Ok(0) => return Ok(false),
            Ok(_) | Err(rustix::io::Errno::INTR) => {}
            Err(error) => return Err(error.into()),
        }
        let stirred: Vec<PollFlags> = fds.iter().map(PollFd::revents).collect();
        drop(fds);
        let (listeners, clients) = stirred.split_at(self.listeners.len());
        for (client, flags) in self.clients.iter_mut().zip(clients) {
            client.stirred(*flags);
        }
        for (index, flags) in listeners.iter().enumerate() {
            if !flags.is_empty() {
                self.accept(index);
            }
        }
        Ok(true)
    }

    fn accept(&mut self, index: usize) {
        while let Some(socket) = self.listeners[index].accept() {
            let room = self.clients.len() < MOST_CLIENTS;
            let nbd = self.listeners[index].kind() == Socket::Nbd;
            if room && !(nbd && self.gone) {
                let (kind, clock) = (self.listeners[index].kind(), self.pace.clock());
                self.clients
                    .push(Client::new(self.next_client, socket, kind, clock));
                self.next_client += 1;
                self.report.connections += u64::from(nbd);
            }
        }
    }

    /// A turn of the loop.
    fn turn(&mut self) -> io::Result<()> {
        self.export.read_only = self.disk.drive().ftl().is_read_only();
        self.read_all();
        let clock = self.pace.clock();
        let busy = self.is_busy();
        if self.pace.is_timed() || !busy {
            let now = self.pace.drive_at(clock).max(self.disk.drive().now());
            if !self.disk.is_dead() && clock >= self.stalled_ns {
                self.disk.advance(now, &mut self.answers)?;
            }
        }
        self.hear();
        self.give()?;
        if !self.pace.is_timed() && clock >= self.stalled_ns {
            while self.is_busy() {
                self.disk.advance_until_done(&mut self.answers)?;
                self.hear();
                self.give()?;
            }
            self.pace.join(self.disk.drive().now());
        }
        if !self.disk.is_dead() {
            self.disk.commit()?;
        }
        self.send();
        Ok(())
    }

    fn read_all(&mut self) {
        for index in 0..self.clients.len() {
            let mut left = TURN_BYTES;
            loop {
                let may = self.clients[index].may_read(self.held >= ALL_BYTES);
                let asks = self.clients[index].is_readable() || left < TURN_BYTES;
                let (came, more) = if may && asks {
                    self.clients[index].read()
                } else {
                    (0, false)
                };
                match self.clients[index].kind() {
                    Socket::Nbd => self.take_requests(index),
                    Socket::Control => self.take_orders(index),
                    Socket::Metrics => self.tell_metrics(index),
                }
                left = left.saturating_sub(came);
                if !(more || came >= ENOUGH_BYTES) || left == 0 {
                    break;
                }
            }
        }
    }

    /// Takes up what a client has sent.
    fn take_requests(&mut self, index: usize) {
        loop {
            let client = &mut self.clients[index];
            if !client.may_ask() {
                return;
            }
            let room = CLIENT_BYTES.saturating_sub(client.held);
            let room = room.min(ALL_BYTES.saturating_sub(self.held));
            client.waits_for_room = false;
            match client.connection.next(&self.export, room) {
                Progress::Request(request) => self.take(index, request),
                Progress::Room(_) => {
                    client.waits_for_room = true;
                    return;
                }
                Progress::Starved => {
                    let held = client.connection.coming();
                    self.held += held - client.coming;
                    client.held += held - client.coming;
                    client.coming = held;
                    return;
                }
                Progress::Ended => return,
            }
        }
    }

    fn take(&mut self, index: usize, mut request: Request) {
        let client = &mut self.clients[index];
        self.held -= client.coming;
        client.held -= client.coming;
        client.coming = 0;
        if request.verb == Verb::Status {
            let length = u64::from(request.length);
            let ranges = self.disk.allocation(request.offset, length, MOST_RANGES);
            client.connection.answer_status(&request, ranges);
            return;
        }
        if self.disk.is_dead() {
            let form = client.connection.form();
            form.answer(
                client.connection.output(),
                request.cookie,
                Some(Errno::Shutdown),
            );
            return;
        }
        let bytes = match request.verb {
            Verb::Read | Verb::Write => request.length as usize,
            _ => 0,
        };
        client.requests += 1;
        client.held += bytes;
        self.held += bytes;
        let data = std::mem::take(&mut request.data);
        let command = Command {
            client: client.number(),
            given: 0,
            parts: 0,
            failure: None,
            data,
            flushes: request.fua && matches!(request.verb, Verb::Trim),
            began: Nanos::ZERO,
            bytes,
            request,
        };
        let place = self.vacant.pop().unwrap_or(self.commands.len());
        if place == self.commands.len() {
            self.commands.push(None);
        }
        self.commands[place] = Some(command);
        self.waiting.push_back(place);
    }

    /// Gives the drive what waits, as far as it takes more.
    fn give(&mut self) -> io::Result<()> {
        while !self.tags.is_empty() && !self.disk.is_closed() {
            let Some(place) = self.waiting.pop_front() else {
                return Ok(());
            };
            let Some(tag) = self.tags.pop() else {
                return Ok(());
            };
            let now = self.disk.drive().now();
            let command = self.commands[place].as_mut();
            let command = command.unwrap_or_else(|| panic!("no command {place} waits"));
            if command.parts == 0 && command.given == 0 {
                command.began = now;
            }
            let (ask, more) = command.next_part();
            let offset = ask.offset;
            command.parts += 1;
            if more {
                self.waiting.push_back(place);
            }
            self.parts[tag as usize] = Some(Part {
                command: place,
                offset,
            });
            let bytes = ask.length;
            self.disk.submit(tag, ask)?;
            if self.is_cut_now(bytes) {
                self.cut(self.options.cuts.off)?;
            }
        }
        Ok(())
    }

    /// Counts a request that was just submitted; true where the power is to go with it.
    fn is_cut_now(&mut self, bytes: u64) -> bool {
        self.seen += 1;
        if let Some(left) = &mut self.vanishes {
            *left = left.saturating_sub(bytes);
            if *left == 0 {
                self.vanish();
                return false;
            }
        }
        let cuts = self.options.cuts;
        let drawn = cuts.chance > 0.0
            && (self.chance.below(1 << 53) as f64) < cuts.chance * (1u64 << 53) as f64;
        cuts.at == Some(self.seen) || drawn
    }

    /// The power goes now: nothing under way is answered, and every client loses its drive.
    fn cut(&mut self, off: Nanos) -> io::Result<Nanos> {
        let seed = self.chance.below(1 << 32) as u32;
        self.drop_all();
        let start = self.disk.cut(self.disk.drive().now(), off, seed)?;
        self.report.start_ns = start.0;
        let off_ns = (off.0 as f64 / self.options.speed) as u64;
        self.stalled_ns = self.stalled_ns.max(self.pace.clock() + off_ns);
        self.pace.join_at(self.disk.drive().now(), self.stalled_ns);
        self.gone |= self.disk.is_dead();
        Ok(start)
    }

    /// The drive is there no more, for good.
    fn vanish(&mut self) {
        self.gone = true;
        self.drop_all_clients();
    }

    fn drop_all(&mut self) {
        self.drop_all_clients();
        self.commands.clear();
        self.vacant.clear();
        self.waiting.clear();
        self.answers.clear();
        self.parts.fill(None);
        self.tags = (0..self.parts.len() as u32).rev().collect();
    }

    fn drop_all_clients(&mut self) {
        for client in &mut self.clients {
            if client.kind() == Socket::Nbd {
                self.held -= client.held;
                client.held = 0;
                client.hang_up();
            }
        }
    }

    fn fail_all(&mut self) {
        for place in 0..self.commands.len() {
            if let Some(command) = &mut self.commands[place] {
                command.failure = Some(Errno::Io);
                self.reply(place, Nanos::ZERO);
            }
        }
        self.due.clear();
        self.waiting.clear();
    }

    /// Takes what the drive has answered.
    fn hear(&mut self) {
        let mut answers = std::mem::take(&mut self.answers);
        for answer in answers.drain(..) {
            let part = self.parts[answer.tag as usize].take();
            let part = part.unwrap_or_else(|| panic!("an answer to nobody: {answer:?}"));
            self.tags.push(answer.tag);
            let command = self.commands[part.command].as_mut();
            let command = command.unwrap_or_else(|| panic!("no command {}", part.command));
            command.ended(answer.status, part.offset, answer.ask);
            if command.is_done() {
                if command.flushes && command.failure.is_none() {
                    command.flushes = false;
                    command.request.verb = Verb::Flush;
                    command.given = 0;
                    self.waiting.push_back(part.command);
                } else {
                    self.reply(part.command, answer.at);
                }
            }
        }
        self.answers = answers;
    }

    fn reply(&mut self, place: usize, at: Nanos) {
        let Some(command) = self.commands[place].take() else {
            return;
        };
        self.vacant.push(place);
        let mut clients = self.clients.iter_mut();
        let client = clients.find(|client| client.number() == command.client);
        let Some(client) = client.filter(|client| !client.is_gone()) else {
            // It hung up; what it held went with it.
            return;
        };
        let request = &command.request;
        let (form, cookie) = (client.connection.form(), request.cookie);
        client.requests -= 1;
        client.held -= command.bytes;
        self.held -= command.bytes;
        let out = client.connection.output();
        let before = out.len();
        match command.failure {
            None if request.verb == Verb::Read => {
                form.data(out, cookie, request.offset, &command.data);
            }
            failure => form.answer(out, cookie, failure),
        }
        let bytes = out.len() - before;
        if request.verb == Verb::Write {
            client.connection.recycle(command.data);
        }
        client.replied(bytes);
        client.held += bytes;
        self.held += bytes;
        self.due.push((at, at - command.began.min(at)));
    }

    /// Sends what clients can take.
    fn send(&mut self) {
        if !self.due.is_empty() {
            let clock = self.pace.clock();
            if self.pace.is_timed() {
                for (at, took) in self.due.drain(..) {
                    let due = self.pace.clock_at(at);
                    let took = (took.0 as f64 / self.options.speed) as u64;
                    self.report.lateness.note(due, took, clock);
                }
            }
            self.due.clear();
        }
        let clock = self.pace.clock();
        for client in &mut self.clients {
            let freed = client.send(clock);
            let freed = freed.min(client.held);
            client.held -= freed;
            self.held -= freed;
        }
        let held = &mut self.held;
        self.clients.retain(|client| {
            if client.is_gone() {
                *held -= client.held;
            }
            !client.is_gone()
        });
    }

    /// Somebody waits for room that a client holds without moving.
    fn hang_up_on_the_idle(&mut self, clock: u64) {
        let starved = self.clients.iter().any(|client| client.waits_for_room);
        if !starved {
            self.starved_since = None;
            return;
        }
        let since = *self.starved_since.get_or_insert(clock);
        if clock - since < PATIENCE_NS {
            return;
        }
        for client in &mut self.clients {
            let holds = client.held > 0 && client.requests == 0;
            if holds && clock.saturating_sub(client.moved_ns) > PATIENCE_NS {
                client.hang_up();
            }
        }
    }

    /// Takes the orders that came over the control socket.
    fn take_orders(&mut self, index: usize) {
        while let Some(line) = self.clients[index].take_line(control::LINE_BYTES) {
            let answer = match control::parse(&line) {
                Ok(order) => self.obey(order),
                Err(wrong) => control::refusal(&wrong),
            };
            let client = &mut self.clients[index];
            client.say(format!("{answer}\n").as_bytes());
        }
    }

    fn obey(&mut self, order: Order) -> serde_json::Value {
        match order {
            Order::State => self.state(),
            Order::Smart => self.disk.smart(),
            Order::Challenge(token) => {
                self.export.challenge = Some(token);
                serde_json::json!({"done": true, "name": self.export.name})
            }
            _ if self.gone => control::refusal("the drive is gone"),
            Order::Cut {
                off,
                after: Some(after),
            } => {
                let at = self.seen.saturating_add(after);
                (self.options.cuts.at, self.options.cuts.off) = (Some(at), off);
                serde_json::json!({"done": true, "waits": true})
            }
            Order::Cut { off, after: None } => match self.cut(off) {
                Ok(start) => serde_json::json!({
                    "done": true,
                    "start_s": start.as_secs_f64(),
                    "comes_back": !self.gone,
                }),
                Err(error) => control::refusal(&error.to_string()),
            },
            Order::Break(fault) => self.break_down(fault),
            Order::Stall { seconds } => {
                self.stalled_ns = self.pace.clock() + (seconds * 1e9) as u64;
                self.pace.join_at(self.disk.drive().now(), self.stalled_ns);
                serde_json::json!({"done": true})
            }
            Order::Vanish { bytes } => {
                self.vanishes = Some(bytes);
                if bytes == 0 {
                    self.vanish();
                }
                serde_json::json!({"done": true})
            }
        }
    }

    fn break_down(&mut self, fault: Fault) -> serde_json::Value {
        match self.disk.break_down(fault) {
            Ok(()) => serde_json::json!({"done": true}),
            Err(wrong) => control::refusal(&wrong),
        }
    }

    /// The state of the server and of its drive, for people and programs.
    #[must_use]
    pub fn state(&self) -> serde_json::Value {
        control::state(&self.disk, &self.export, &self.report, self.clients.len())
    }

    fn tell_metrics(&mut self, index: usize) {
        if self.clients[index].took_request() {
            let text = control::metrics(&self.disk, &self.export, &self.report);
            let client = &mut self.clients[index];
            client.say(control::http(&text).as_bytes());
            client.ends_when_sent();
        }
    }
}

/// Timers of this thread end as they were asked to, as far as the kernel goes.
fn slack() {
    #[cfg(target_os = "linux")]
    {
        // Where it is not allowed, sleeps overshoot by 50 us more, which is learnt like the rest.
        let one = rustix::thread::set_current_timer_slack(std::num::NonZeroU64::new(1));
        let _ = one;
    }
}
