//! The NBD protocol, without sockets: bytes in, requests out, replies as bytes.

pub mod connection;
pub mod handshake;
pub mod wire;

pub use connection::{Connection, Progress, Request, Verb};
pub use handshake::Export;
