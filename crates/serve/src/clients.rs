//! Sockets: who listens, who has connected, and what is still to be sent.

use std::io::{self, IoSliceMut, Read, Write};
use std::net::{TcpListener, TcpStream};
use std::os::fd::{AsFd, BorrowedFd};
use std::os::unix::net::{UnixListener, UnixStream};

use rustix::event::PollFlags;

use crate::nbd::Connection;
use crate::server::{CLIENT_REQUESTS, UNREAD_BYTES};

/// What a socket is for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Socket {
    /// The drive.
    Nbd,
    /// Orders, a line of JSON each.
    Control,
    /// Metrics by HTTP.
    Metrics,
}

/// Bytes of a request for metrics that are read before it is answered anyhow.
const HTTP_BYTES: usize = 8192;

#[derive(Debug)]
enum Listens {
    Unix(UnixListener),
    Tcp(TcpListener),
}

/// A socket that is listened on.
#[derive(Debug)]
pub struct Listener {
    socket: Listens,
    kind: Socket,
}

impl Listener {
    /// On a unix socket that is bound.
    ///
    /// # Errors
    /// As the system has it.
    pub fn unix(socket: UnixListener, kind: Socket) -> io::Result<Listener> {
        socket.set_nonblocking(true)?;
        let socket = Listens::Unix(socket);
        Ok(Listener { socket, kind })
    }

    /// On a TCP socket that is bound.
    ///
    /// # Errors
    /// As the system has it.
    pub fn tcp(socket: TcpListener, kind: Socket) -> io::Result<Listener> {
        socket.set_nonblocking(true)?;
        let socket = Listens::Tcp(socket);
        Ok(Listener { socket, kind })
    }

    /// What it is for.
    #[must_use]
    pub fn kind(&self) -> Socket {
        self.kind
    }

    /// The next one who has connected. Where a connection cannot be had, as with too many files
    /// open, there is none now.
    pub(crate) fn accept(&self) -> Option<Stream> {
        match &self.socket {
            Listens::Unix(socket) => {
                let (stream, _) = socket.accept().ok()?;
                stream.set_nonblocking(true).ok()?;
                Some(Stream::Unix(stream))
            }
            Listens::Tcp(socket) => {
                let (stream, _) = socket.accept().ok()?;
                stream.set_nonblocking(true).ok()?;
                // A reply is sent as it is.
                stream.set_nodelay(true).ok()?;
                Some(Stream::Tcp(stream))
            }
        }
    }
}

impl AsFd for Listener {
    fn as_fd(&self) -> BorrowedFd<'_> {
        match &self.socket {
            Listens::Unix(socket) => socket.as_fd(),
            Listens::Tcp(socket) => socket.as_fd(),
        }
    }
}

#[derive(Debug)]
pub(crate) enum Stream {
    Unix(UnixStream),
    Tcp(TcpStream),
}

impl Stream {
    fn read(&mut self, bytes: &mut [IoSliceMut<'_>]) -> io::Result<usize> {
        match self {
            Stream::Unix(stream) => stream.read_vectored(bytes),
            Stream::Tcp(stream) => stream.read_vectored(bytes),
        }
    }

    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        match self {
            Stream::Unix(stream) => stream.write(bytes),
            Stream::Tcp(stream) => stream.write(bytes),
        }
    }
}

/// Somebody who has connected.
#[derive(Debug)]
pub(crate) struct Client {
    number: u64,
    stream: Stream,
    kind: Socket,
    pub(crate) connection: Connection,
    /// Of the other sockets: what has come.
    text: Vec<u8>,
    /// Bytes of the output that were sent.
    sent: usize,
    /// Requests that are not answered.
    pub(crate) requests: usize,
    /// Bytes that it holds: of requests, and of replies that are not sent.
    pub(crate) held: usize,
    /// Among them those of a request that is coming in.
    pub(crate) coming: usize,
    /// Bytes of replies that count as held.
    counted: usize,
    pub(crate) waits_for_room: bool,
    /// When it last took or sent anything.
    pub(crate) moved_ns: u64,
    readable: bool,
    ends: bool,
    gone: bool,
}

impl Client {
    pub(crate) fn new(number: u64, stream: Stream, kind: Socket, clock: u64) -> Client {
        let mut connection = Connection::new();
        if kind != Socket::Nbd {
            connection.output().clear();
        }
        Client {
            number,
            stream,
            kind,
            connection,
            text: Vec::new(),
            sent: 0,
            requests: 0,
            held: 0,
            coming: 0,
            counted: 0,
            waits_for_room: false,
            moved_ns: clock,
            readable: false,
            ends: false,
            gone: false,
        }
    }

    pub(crate) fn number(&self) -> u64 {
        self.number
    }

    pub(crate) fn kind(&self) -> Socket {
        self.kind
    }

    pub(crate) fn is_gone(&self) -> bool {
        self.gone
    }

    pub(crate) fn hang_up(&mut self) {
        self.gone = true;
    }

    pub(crate) fn ends_when_sent(&mut self) {
        self.ends = true;
    }

    pub(crate) fn has_output(&self) -> bool {
        self.connection.pending() > self.sent
    }

    /// Its next request may be taken up: it has few that are not answered, and few replies that it
    /// has not read.
    pub(crate) fn may_ask(&self) -> bool {
        let unread = self.connection.pending() - self.sent;
        unread < UNREAD_BYTES && self.requests < CLIENT_REQUESTS
    }

    /// Its next bytes are wanted; `full` says that all clients together hold what they may. Only of
    /// a client whose requests are taken up, so that there is always room for some bytes. A client
    /// whose request waits for room is asked again without them.
    pub(crate) fn may_read(&self, full: bool) -> bool {
        let ended = self.gone || self.connection.is_ended();
        let waits = self.waits_for_room || (full && self.kind == Socket::Nbd);
        self.may_ask() && !ended && !waits
    }

    pub(crate) fn stirred(&mut self, flags: PollFlags) {
        self.readable = flags.intersects(PollFlags::IN | PollFlags::HUP | PollFlags::ERR);
        if flags.intersects(PollFlags::ERR | PollFlags::NVAL)
            || (flags.contains(PollFlags::HUP) && !flags.contains(PollFlags::IN))
        {
            self.gone = true;
        }
    }

    pub(crate) fn is_readable(&self) -> bool {
        self.readable && !self.gone
    }

    /// Reads what is there, once; the answer is how many bytes came, and true where there may be
    /// more.
    pub(crate) fn read(&mut self) -> (usize, bool) {
        self.readable = false;
        let stream = &mut self.stream;
        let came = if self.kind == Socket::Nbd {
            self.connection.fill(|bytes| stream.read(bytes))
        } else {
            let mut bytes = [0; 4096];
            let came = stream.read(&mut [IoSliceMut::new(&mut bytes)]);
            if let Ok(count) = came {
                self.text.extend_from_slice(&bytes[..count]);
            }
            came.map(|count| (count, false))
        };
        match &came {
            Ok((0, _)) => self.gone = true,
            Ok(_) => {}
            Err(error) => self.gone = !is_for_later(error),
        }
        came.unwrap_or((0, false))
    }

    /// Sends what the client takes; the answer is how many bytes of counted replies went.
    pub(crate) fn send(&mut self, clock: u64) -> usize {
        if self.gone {
            return 0;
        }
        while self.has_output() {
            let pending = &self.connection.output()[self.sent..];
            match self.stream.write(pending) {
                Ok(count) => {
                    self.sent += count;
                    self.moved_ns = clock;
                }
                Err(error) if is_for_later(&error) => break,
                Err(_) => {
                    self.gone = true;
                    break;
                }
            }
        }
        if !self.has_output() {
            self.connection.output().clear();
            self.sent = 0;
            let counted = std::mem::take(&mut self.counted);
            if self.ends || (self.connection.is_ended() && self.requests == 0) {
                self.gone = true;
            }
            return counted;
        }
        0
    }

    /// The bytes of a reply count as held until it is sent.
    pub(crate) fn replied(&mut self, bytes: usize) {
        self.counted += bytes;
    }

    /// A line that has come, if one has; a client whose line is too long is hung up on.
    pub(crate) fn take_line(&mut self, most: usize) -> Option<String> {
        let Some(end) = self.text.iter().position(|&byte| byte == b'\n') else {
            self.gone |= self.text.len() > most;
            return None;
        };
        let line: Vec<u8> = self.text.drain(..=end).collect();
        Some(String::from_utf8_lossy(&line[..end]).into_owned())
    }

    /// True once, when a request by HTTP has come in.
    pub(crate) fn took_request(&mut self) -> bool {
        let ended = self.text.windows(4).any(|end| end == b"\r\n\r\n");
        let came = (ended || self.text.len() > HTTP_BYTES) && !self.ends;
        if came {
            self.text.clear();
        }
        came
    }

    pub(crate) fn say(&mut self, bytes: &[u8]) {
        self.connection.output().extend_from_slice(bytes);
    }
}

impl AsFd for Client {
    fn as_fd(&self) -> BorrowedFd<'_> {
        match &self.stream {
            Stream::Unix(stream) => stream.as_fd(),
            Stream::Tcp(stream) => stream.as_fd(),
        }
    }
}

fn is_for_later(error: &io::Error) -> bool {
    matches!(
        error.kind(),
        io::ErrorKind::WouldBlock | io::ErrorKind::Interrupted
    )
}
