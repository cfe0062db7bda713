//! Files that take long to read or to write, traces and snapshots: a signal is heard in between.

use std::fs::File;
use std::io::{self, Read, Write};

use pyo3::prelude::*;

/// Bytes after which a signal is looked for.
const LOOKS: usize = 1 << 20;

/// A file that is read or written for long: now and then Python may raise, for Ctrl-C.
pub struct Watched {
    file: File,
    left: usize,
    /// What Python raised: the work ended there.
    pub raised: Option<PyErr>,
}

impl Watched {
    pub fn new(file: File) -> Watched {
        Watched {
            file,
            left: LOOKS,
            raised: None,
        }
    }

    /// Counts what was moved, and looks for a signal when it is enough.
    fn moved(&mut self, count: usize) -> io::Result<usize> {
        self.left = self.left.saturating_sub(count);
        if self.left == 0 {
            self.left = LOOKS;
            if let Err(raised) = Python::attach(|py| py.check_signals()) {
                self.raised = Some(raised);
                return Err(io::Error::other("a signal"));
            }
        }
        Ok(count)
    }
}

impl Read for &mut Watched {
    fn read(&mut self, out: &mut [u8]) -> io::Result<usize> {
        let count = self.file.read(out)?;
        self.moved(count)
    }
}

impl Write for &mut Watched {
    fn write(&mut self, data: &[u8]) -> io::Result<usize> {
        let count = self.file.write(data)?;
        self.moved(count)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.file.flush()
    }
}
