//! The run folder: the names of its files, and how records are read and atomically written.
//!
//! A record is written under a temporary name, flushed and renamed. So at every instant, even after
//! `kill -9` or a power cut, its name holds either nothing or a complete record. What dies with whoever
//! waits for it ([`RunSpec::unflushed`]) is not flushed. Which process may write which file is not checked
//! here.

use std::fs::{self, File, OpenOptions};
use std::io::{self, Write as _};
use std::os::unix::fs::OpenOptionsExt as _;
use std::path::{Path, PathBuf};
use std::process;
use std::sync::atomic::{AtomicU64, Ordering};

use serde::Serialize;
use serde::de::DeserializeOwned;

use crate::moments::moment;
use crate::{ExitRecord, JailRecord, KeeperError, KeeperRecord, RunSpec};

/// The folder of one run. Its path has all links resolved, because the sweep compares it with the
/// mark that the keeper put into the environment.
#[derive(Debug, Clone)]
pub(crate) struct RunFolder {
    path: PathBuf,
    /// Whether what is written must survive a power cut.
    flushes: bool,
}

impl RunFolder {
    pub(crate) fn open(run_dir: &Path) -> Result<Self, KeeperError> {
        let path =
            fs::canonicalize(run_dir).map_err(KeeperError::file("find the run folder", run_dir))?;
        Ok(Self {
            path,
            flushes: true,
        })
    }

    /// The same folder, for the records of this run.
    #[must_use]
    pub(crate) fn of_run(mut self, spec: &RunSpec) -> Self {
        self.flushes = !spec.unflushed;
        self
    }

    /// Whether what is written here must survive a power cut.
    #[cfg(target_os = "linux")]
    pub(crate) fn flushes(&self) -> bool {
        self.flushes
    }

    #[cfg(target_os = "linux")]
    pub(crate) fn path(&self) -> &Path {
        &self.path
    }

    pub(crate) fn file(&self, name: &str) -> PathBuf {
        self.path.join(name)
    }

    pub(crate) fn spec(&self) -> Result<Option<RunSpec>, KeeperError> {
        self.read("spec.json")
    }

    /// The spec of a folder that must have one.
    #[cfg(target_os = "linux")]
    pub(crate) fn required_spec(&self) -> Result<RunSpec, KeeperError> {
        let missing =
            || KeeperError::file("read", self.file("spec.json"))(io::ErrorKind::NotFound.into());
        self.spec()?.ok_or_else(missing)
    }

    pub(crate) fn keeper(&self) -> Result<Option<KeeperRecord>, KeeperError> {
        self.read("keeper.json")
    }

    pub(crate) fn exit(&self) -> Result<Option<ExitRecord>, KeeperError> {
        self.read("exit.json")
    }

    pub(crate) fn stop_file(&self) -> PathBuf {
        self.file("stop")
    }

    pub(crate) fn write_spec(&self, spec: &RunSpec) -> Result<(), KeeperError> {
        self.write_record("spec.json", spec)
    }

    #[cfg(target_os = "linux")]
    pub(crate) fn write_keeper(&self, keeper: &KeeperRecord) -> Result<(), KeeperError> {
        self.write_record("keeper.json", keeper)
    }

    #[cfg(target_os = "linux")]
    pub(crate) fn jail(&self) -> Result<Option<JailRecord>, KeeperError> {
        self.read("jail.json")
    }

    /// Writes the record of a jail, which need not survive a power cut: no process does either.
    #[cfg(target_os = "linux")]
    pub(crate) fn write_jail(&self, jail: &JailRecord) -> Result<(), KeeperError> {
        let target = self.file("jail.json");
        let temporary = self.file(&temporary_name("jail.json"));
        let content = serde_json::to_vec_pretty(jail).map_err(|source| KeeperError::Record {
            path: target.clone(),
            source,
        })?;
        moment("before", "jail.json");
        let written = fs::write(&temporary, content).and_then(|()| fs::rename(&temporary, &target));
        moment("after", "jail.json");
        written.map_err(KeeperError::file("write", target))
    }

    #[cfg(target_os = "linux")]
    pub(crate) fn write_exit(&self, exit: &ExitRecord) -> Result<(), KeeperError> {
        self.write_record("exit.json", exit)
    }

    /// Writes a file atomically, and flushes it and the folder where it must survive a power cut.
    pub(crate) fn write(&self, name: &str, content: &[u8]) -> Result<(), KeeperError> {
        let target = self.file(name);
        let temporary = self.file(&temporary_name(name));
        moment("before", name);
        let written = write_private(&temporary, content, self.flushes).and_then(|()| {
            moment("beside", name);
            fs::rename(&temporary, &target)
        });
        if written.is_err() {
            // The first error is the one to report. A leftover temporary file is never read.
            let _ = fs::remove_file(&temporary);
        }
        let flushed = written.and_then(|()| {
            if self.flushes {
                sync_folder(&self.path)
            } else {
                Ok(())
            }
        });
        moment("after", name);
        flushed.map_err(KeeperError::file("write", target))
    }

    fn read<T: DeserializeOwned>(&self, name: &str) -> Result<Option<T>, KeeperError> {
        let path = self.file(name);
        let bytes = match fs::read(&path) {
            Ok(bytes) => bytes,
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
            Err(error) => return Err(KeeperError::file("read", path)(error)),
        };
        // A record is complete as soon as its name exists, so a parse error is never a race.
        serde_json::from_slice(&bytes)
            .map(Some)
            .map_err(|source| KeeperError::Record { path, source })
    }

    fn write_record(&self, name: &str, record: &impl Serialize) -> Result<(), KeeperError> {
        let content = serde_json::to_vec_pretty(record).map_err(|source| KeeperError::Record {
            path: self.file(name),
            source,
        })?;
        self.write(name, &content)
    }
}

/// Whether the error means that the disk or the quota is full.
#[cfg(target_os = "linux")]
pub(crate) fn is_full(error: &io::Error) -> bool {
    matches!(
        error.kind(),
        io::ErrorKind::StorageFull | io::ErrorKind::QuotaExceeded
    )
}

/// Flushes a folder, so that the names in it survive a power cut.
pub(crate) fn sync_folder(path: &Path) -> io::Result<()> {
    File::open(path)?.sync_all()
}

/// A name that no other process and no other thread uses at the same time.
fn temporary_name(name: &str) -> String {
    static WRITES: AtomicU64 = AtomicU64::new(0);
    format!(
        ".{name}.{}-{}",
        process::id(),
        WRITES.fetch_add(1, Ordering::Relaxed)
    )
}

/// Writes a file that only its owner can read: a spec contains an environment, which may contain
/// secrets.
fn write_private(path: &Path, content: &[u8], flushes: bool) -> io::Result<()> {
    let mut file = OpenOptions::new()
        .write(true)
        .create(true)
        .truncate(true)
        .mode(0o600)
        .open(path)?;
    file.write_all(content)?;
    if flushes { file.sync_all() } else { Ok(()) }
}
