//! A data directory: one drive's bytes, its last snapshot and what was asked of it since.
//!
//! `lock` is held by the server that has the directory; `twin` says in a few lines whose it is and
//! is written last, by renaming, so that a directory with it is whole; `state-N` is a snapshot,
//! `journal-N` what came after it, `bytes` the slots. A new snapshot and its empty journal are
//! whole before `twin` names them, and the old ones go after that.
//!
//! What the system has accepted survives the end of the server, however it ends. It need not
//! survive the end of the machine: nothing is synced but when the drive is switched off. So a
//! directory that was in use when the machine went down is refused: its bytes may be of any age.

use std::fs::{self, DirBuilder, File, OpenOptions};
use std::io::{self, BufReader, BufWriter, Read, Write};
use std::os::unix::fs::{DirBuilderExt, OpenOptionsExt};
use std::path::{Path, PathBuf};

use flashtwin_drive::snapshot::{Identity, MODEL};
use flashtwin_drive::{Config, Drive, SnapshotError};
use rustix::fs::{FlockOperation, OFlags, flock};
use thiserror::Error;

use crate::journal::{Journal, RECORD_BYTES, Record, replay};

/// How a directory is laid out.
const FORMAT: u32 = 1;
/// Longest `twin`.
const HEADER_BYTES: u64 = 4096;
const HEADER: &str = "twin";

/// Why a directory cannot be used.
#[derive(Debug, Error)]
pub enum DirectoryError {
    /// A server has it.
    #[error("{0} is in use by another server")]
    Locked(PathBuf),
    /// There is something else in it.
    #[error("{0} holds files that are no drive's data")]
    Foreign(PathBuf),
    /// Making it was broken off.
    #[error("{0} was not made to the end; it holds nobody's data and may be removed")]
    HalfMade(PathBuf),
    /// It belongs to another drive.
    #[error("{place} holds the data of another drive: {why}")]
    OtherDrive {
        /// The directory.
        place: PathBuf,
        /// In what they differ.
        why: String,
    },
    /// A part of it is not what was written.
    #[error("{place} is damaged: {why}")]
    Damaged {
        /// The directory.
        place: PathBuf,
        /// What is wrong.
        why: String,
    },
    /// The machine went down.
    #[error("{0} was in use when the machine went down, and what is on the disk may be of any age")]
    MachineWentDown(PathBuf),
    /// The drive in it does not come back.
    #[error("the drive in {0} did not come back after a power cut")]
    Dead(PathBuf),
    /// The system refused.
    #[error("{place}: {error}")]
    Io {
        /// The file or directory.
        place: PathBuf,
        /// What the system says.
        error: io::Error,
    },
}

fn io_at(place: &Path) -> impl Fn(io::Error) -> DirectoryError {
    move |error| DirectoryError::Io {
        place: place.to_owned(),
        error,
    }
}

/// Whose data it is, and how it was left.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Header {
    /// Hash of the drive's spec, and the seed that it was built with.
    pub identity: Identity,
    /// What the model makes of a spec.
    pub model: u32,
    /// Number of the snapshot and its journal.
    pub generation: u64,
    /// The drive was switched off in order.
    pub clean: bool,
    /// The drive did not come back after a cut.
    pub dead: bool,
    /// The start of the machine since which it is in use.
    pub boot: String,
}

impl Header {
    /// The header as text.
    #[must_use]
    pub fn text(&self) -> String {
        format!(
            "flashtwin data {FORMAT}\nspec {}\nseed {}\nmodel {}\ngeneration {}\nclean {}\n\
             dead {}\nboot {}\n",
            self.identity.spec_hash,
            self.identity.seed,
            self.model,
            self.generation,
            u8::from(self.clean),
            u8::from(self.dead),
            self.boot,
        )
    }

    /// The header that text holds; none where it is not one as [`Header::text`] writes it.
    #[must_use]
    pub fn parse(text: &str) -> Option<Header> {
        let mut lines = text.lines();
        if lines.next()? != format!("flashtwin data {FORMAT}") {
            return None;
        }
        let mut value = |name: &str| {
            let (key, value) = lines.next()?.split_once(' ')?;
            (key == name).then(|| value.to_owned())
        };
        let header = Header {
            identity: Identity {
                spec_hash: value("spec")?,
                seed: value("seed")?.parse().ok()?,
            },
            model: value("model")?.parse().ok()?,
            generation: value("generation")?.parse().ok()?,
            clean: value("clean")? == "1",
            dead: value("dead")? == "1",
            boot: value("boot")?,
        };
        (header.text() == text).then_some(header)
    }
}

/// The present start of the machine, as Linux names it; elsewhere all starts are one.
fn boot() -> String {
    let text = fs::read_to_string("/proc/sys/kernel/random/boot_id");
    text.map_or_else(|_| "-".to_owned(), |text| text.trim().to_owned())
}

/// A directory that this process has locked.
#[derive(Debug)]
pub struct Directory {
    path: PathBuf,
    /// Held open: the lock ends with it.
    _lock: File,
    header: Option<Header>,
}

/// A drive that was stored, and how it was left.
#[derive(Debug)]
pub struct Stored {
    /// Its seed.
    pub identity: Identity,
    /// It was switched off in order: there is nothing to recover.
    pub clean: bool,
}

fn private(options: &mut OpenOptions) -> &mut OpenOptions {
    let flags = OFlags::NOFOLLOW.bits() as i32;
    options.mode(0o600).custom_flags(flags)
}

impl Directory {
    /// Locks a directory, which is made where it is not there.
    ///
    /// # Errors
    /// When another process has it, or it holds something else.
    pub fn lock(path: &Path) -> Result<Directory, DirectoryError> {
        let made = DirBuilder::new().mode(0o700).create(path);
        if let Err(error) = made
            && error.kind() != io::ErrorKind::AlreadyExists
        {
            return Err(io_at(path)(error));
        }
        let mut names = Vec::new();
        for entry in fs::read_dir(path).map_err(io_at(path))? {
            names.push(entry.map_err(io_at(path))?.file_name());
        }
        let ours = |name: &str| {
            ["lock", "bytes", HEADER].contains(&name)
                || ["state-", "journal-", "twin."]
                    .iter()
                    .any(|p| name.starts_with(p))
                || name.ends_with(".sock")
        };
        let known = |name: &std::ffi::OsString| name.to_str().is_some_and(ours);
        if !names.iter().all(known) {
            return Err(DirectoryError::Foreign(path.to_owned()));
        }
        let place = path.join("lock");
        let mut options = OpenOptions::new();
        let options = options.read(true).write(true).create(true).truncate(false);
        let lock = private(options).open(&place).map_err(io_at(&place))?;
        flock(&lock, FlockOperation::NonBlockingLockExclusive).map_err(|error| match error {
            rustix::io::Errno::WOULDBLOCK => DirectoryError::Locked(path.to_owned()),
            other => io_at(&place)(other.into()),
        })?;
        let mut directory = Directory {
            path: path.to_owned(),
            _lock: lock,
            header: None,
        };
        directory.header = directory.read_header()?;
        let begun = |name: &std::ffi::OsString| name != "lock" && !socket(name);
        if directory.header.is_none() && names.iter().any(begun) {
            return Err(DirectoryError::HalfMade(path.to_owned()));
        }
        Ok(directory)
    }

    fn damaged(&self, why: impl Into<String>) -> DirectoryError {
        DirectoryError::Damaged {
            place: self.path.clone(),
            why: why.into(),
        }
    }

    fn read_header(&self) -> Result<Option<Header>, DirectoryError> {
        let place = self.path.join(HEADER);
        let file = match private(OpenOptions::new().read(true)).open(&place) {
            Ok(file) => file,
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
            Err(error) => return Err(io_at(&place)(error)),
        };
        let mut text = Vec::new();
        let limited = &mut file.take(HEADER_BYTES);
        limited.read_to_end(&mut text).map_err(io_at(&place))?;
        let parsed = std::str::from_utf8(&text).ok().and_then(Header::parse);
        parsed
            .map(Some)
            .ok_or_else(|| self.damaged("its file twin is not what a server writes"))
    }

    fn write_header(&mut self, header: Header) -> Result<(), DirectoryError> {
        let (place, part) = (self.path.join(HEADER), self.path.join("twin.part"));
        let written = || {
            let mut options = OpenOptions::new();
            let options = options.write(true).create(true).truncate(true);
            let mut file = private(options).open(&part)?;
            file.write_all(header.text().as_bytes())?;
            if header.clean {
                file.sync_all()?;
            }
            fs::rename(&part, &place)?;
            if header.clean {
                File::open(&self.path)?.sync_all()?;
            }
            Ok(())
        };
        written().map_err(io_at(&place))?;
        self.header = Some(header);
        Ok(())
    }

    /// What the directory holds, if it holds a drive already: one of this spec.
    ///
    /// # Errors
    /// When it is another drive's, or cannot be trusted.
    pub fn stored(&self, spec_hash: &str) -> Result<Option<Stored>, DirectoryError> {
        let Some(header) = &self.header else {
            return Ok(None);
        };
        let other = |why: String| DirectoryError::OtherDrive {
            place: self.path.clone(),
            why,
        };
        if header.identity.spec_hash != spec_hash {
            let stored = &header.identity.spec_hash;
            return Err(other(format!(
                "its spec's hash is {}, this one's {}",
                short(stored),
                short(spec_hash)
            )));
        }
        if header.model != MODEL {
            return Err(other(format!(
                "it was simulated by model {}, this is model {MODEL}",
                header.model
            )));
        }
        if header.dead {
            return Err(DirectoryError::Dead(self.path.clone()));
        }
        if !header.clean && header.boot != boot() {
            return Err(DirectoryError::MachineWentDown(self.path.clone()));
        }
        Ok(Some(Stored {
            identity: header.identity.clone(),
            clean: header.clean,
        }))
    }

    fn state(&self, generation: u64) -> PathBuf {
        self.path.join(format!("state-{generation}"))
    }

    fn journal(&self, generation: u64) -> PathBuf {
        self.path.join(format!("journal-{generation}"))
    }

    fn generation(&self) -> u64 {
        self.header.as_ref().map_or(0, |header| header.generation)
    }

    /// The file of the slots, which is made where the directory holds no drive yet.
    ///
    /// # Errors
    /// As the system has it.
    pub fn bytes(&self) -> Result<File, DirectoryError> {
        let place = self.path.join("bytes");
        let is_new = self.header.is_none();
        let mut options = OpenOptions::new();
        let options = options
            .read(true)
            .write(true)
            .create(is_new)
            .truncate(false);
        private(options).open(&place).map_err(io_at(&place))
    }

    /// Refuses a file of the slots that ends before `needed`.
    ///
    /// # Errors
    /// When a part of it is gone.
    pub fn check_length(&self, bytes: &File, needed: u64) -> Result<(), DirectoryError> {
        let place = self.path.join("bytes");
        let length = bytes.metadata().map_err(io_at(&place))?.len();
        if length < needed {
            return Err(self.damaged(format!(
                "its file bytes has {length} bytes, and {needed} were written"
            )));
        }
        Ok(())
    }

    /// The drive as its last snapshot has it.
    ///
    /// # Errors
    /// When the snapshot is not whole.
    pub fn load(&self, config: &Config, spec_hash: &str) -> Result<Drive, DirectoryError> {
        let place = self.state(self.generation());
        let file = private(OpenOptions::new().read(true)).open(&place);
        let file = file.map_err(io_at(&place))?;
        let loaded = Drive::load(config, spec_hash, BufReader::new(file));
        loaded.map(|(drive, _)| drive).map_err(|error| match error {
            SnapshotError::Io(error) => io_at(&place)(error),
            other => self.damaged(other.to_string()),
        })
    }

    /// Hands over what came after the snapshot, and answers the journal, which goes on there.
    ///
    /// # Errors
    /// As the system has it.
    pub fn replay(&self, mut each: impl FnMut(Record)) -> Result<Journal, DirectoryError> {
        let place = self.journal(self.generation());
        let mut again = || {
            let mut options = OpenOptions::new();
            let options = options.read(true).append(true);
            let file = private(options).open(&place)?;
            let mut heard = |record| -> io::Result<()> {
                each(record);
                Ok(())
            };
            let bytes = replay(
                BufReader::with_capacity(RECORD_BYTES << 12, &file),
                &mut heard,
            )?;
            file.set_len(bytes)?;
            Ok(Journal::new(file, bytes))
        };
        again().map_err(io_at(&place))
    }

    /// Writes a snapshot and begins an empty journal after it. `clean` says that the drive is
    /// switched off, `dead` that it will not come back.
    ///
    /// # Errors
    /// As the system has it; what was there before is then still there.
    pub fn keep(
        &mut self,
        drive: &mut Drive,
        identity: &Identity,
        (clean, dead): (bool, bool),
    ) -> Result<Journal, DirectoryError> {
        let before = self.header.as_ref().map(|header| header.generation);
        let generation = before.map_or(0, |generation| generation + 1);
        let (state, place) = (self.state(generation), self.journal(generation));
        let mut options = OpenOptions::new();
        let options = options.write(true).create(true).truncate(true);
        let file = private(options).open(&state).map_err(io_at(&state))?;
        let mut out = BufWriter::with_capacity(1 << 20, file);
        drive
            .save(&mut out, identity)
            .map_err(|error| match error {
                SnapshotError::Io(error) => io_at(&state)(error),
                other => self.damaged(other.to_string()),
            })?;
        let file = out
            .into_inner()
            .map_err(|error| io_at(&state)(error.into_error()))?;
        if clean {
            file.sync_all().map_err(io_at(&state))?;
        }
        let mut options = OpenOptions::new();
        let options = options.append(true).create(true);
        let journal = private(options).open(&place).map_err(io_at(&place))?;
        journal.set_len(0).map_err(io_at(&place))?;
        self.write_header(Header {
            identity: identity.clone(),
            model: MODEL,
            generation,
            clean,
            dead,
            boot: boot(),
        })?;
        if let Some(before) = before {
            for old in [self.state(before), self.journal(before)] {
                fs::remove_file(&old).map_err(io_at(&old))?;
            }
        }
        Ok(Journal::new(journal, 0))
    }

    /// The directory is in use from now on, and no longer as it was left.
    ///
    /// # Errors
    /// As the system has it.
    pub fn begin_use(&mut self) -> Result<(), DirectoryError> {
        let Some(header) = self.header.clone() else {
            return Ok(());
        };
        let (clean, boot) = (false, boot());
        self.write_header(Header {
            clean,
            boot,
            ..header
        })
    }

    /// Where it is.
    #[must_use]
    pub fn path(&self) -> &Path {
        &self.path
    }
}

fn socket(name: &std::ffi::OsStr) -> bool {
    name.to_str().is_some_and(|name| name.ends_with(".sock"))
}

fn short(hash: &str) -> &str {
    hash.get(..12).unwrap_or(hash)
}
