//! The values of variables that are in no spec.

use std::collections::BTreeMap;
use std::ffi::OsString;
use std::fs;
use std::io;

use crate::RunSpec;

/// Where the values come from. A file decides alone: the keeper's environment is that of whoever
/// happened to start the worker.
pub(super) struct Secrets(Option<BTreeMap<String, String>>);

impl Secrets {
    pub(super) fn read(spec: &RunSpec) -> io::Result<Self> {
        match spec.pass_env_file.as_ref().map(fs::read) {
            Some(Ok(bytes)) => Ok(Self(Some(serde_json::from_slice(&bytes)?))),
            Some(Err(error)) if error.kind() != io::ErrorKind::NotFound => Err(error),
            Some(Err(_)) | None => Ok(Self(None)),
        }
    }

    pub(super) fn value(&self, name: &str) -> Option<OsString> {
        match &self.0 {
            Some(given) => given.get(name).map(OsString::from),
            None => std::env::var_os(name),
        }
    }

    /// The variables that the program is passed.
    pub(super) fn passed(&self, spec: &RunSpec) -> BTreeMap<String, OsString> {
        let names = spec.pass_env.iter();
        names
            .filter_map(|name| Some((name.clone(), self.value(name)?)))
            .collect()
    }
}
