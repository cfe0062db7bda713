//! A twin's timeline, written into a file while steps run.

use std::fs::File;
use std::io::{self, BufWriter};
use std::path::Path;
use std::sync::{Arc, Mutex, PoisonError};

use flashtwin_drive::timeline::{Sink, Slice};
use flashtwin_timeline::Writer;

/// Bytes that are gathered for one write to the file.
const AT_ONCE: usize = 1 << 20;

/// The file of a recording, which the drive writes to and Python asks about.
#[derive(Clone)]
pub struct Recording(Arc<Mutex<State>>);

struct State {
    writer: Writer<BufWriter<File>>,
    /// What the system refused: nothing is written after that.
    failed: Option<io::Error>,
}

impl Recording {
    /// A new file at `path`, of the drive of that name.
    pub fn new(path: &Path, drive: &str) -> io::Result<Recording> {
        let file = BufWriter::with_capacity(AT_ONCE, File::create(path)?);
        Ok(Recording(Arc::new(Mutex::new(State {
            writer: Writer::new(file, drive)?,
            failed: None,
        }))))
    }

    /// The slices and bytes of it once all is in the file, or what the system refused.
    pub fn end(&self) -> io::Result<(u64, u64)> {
        let mut state = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        match state.failed.take() {
            Some(error) => Err(error),
            None => state.writer.flush().map(|()| state.writer.written()),
        }
    }
}

impl Sink for Recording {
    fn take(&mut self, slices: &[Slice]) -> bool {
        let mut state = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if state.failed.is_none() {
            state.failed = state.writer.add(slices).err();
        }
        state.failed.is_none()
    }
}
