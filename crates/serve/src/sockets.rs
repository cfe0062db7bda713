//! Sockets are made here, with the modes that they have to have.

use std::fs;
use std::io;
use std::net::{SocketAddr, TcpListener};
use std::os::unix::fs::FileTypeExt;
use std::os::unix::net::UnixListener;
use std::path::Path;

use rustix::fs::Mode;
use rustix::process::umask;

use crate::clients::{Listener, Socket};

/// Listens on a unix socket that only its owner may connect to. A socket that nobody listens on
/// any more is replaced; anything else of that name is left alone.
///
/// # Errors
/// As the system has it; where somebody listens there, the address is in use.
pub fn unix(path: &Path, kind: Socket) -> io::Result<Listener> {
    if let Ok(there) = fs::symlink_metadata(path) {
        let socket = there.file_type().is_socket();
        let deaf = || {
            let tried = std::os::unix::net::UnixStream::connect(path);
            tried.is_err_and(|error| error.kind() == io::ErrorKind::ConnectionRefused)
        };
        if !socket || !deaf() {
            return Err(io::ErrorKind::AddrInUse.into());
        }
        fs::remove_file(path)?;
    }
    // The mode is there from the first moment on.
    let before = umask(Mode::RWXG | Mode::RWXO | Mode::XUSR);
    let bound = UnixListener::bind(path);
    umask(before);
    Listener::unix(bound?, kind)
}

/// Listens on a TCP port; the answer has the address, whose port the system chose if it was 0.
///
/// # Errors
/// As the system has it.
pub fn tcp(address: SocketAddr, kind: Socket) -> io::Result<(Listener, SocketAddr)> {
    let socket = TcpListener::bind(address)?;
    let address = socket.local_addr()?;
    Ok((Listener::tcp(socket, kind)?, address))
}
