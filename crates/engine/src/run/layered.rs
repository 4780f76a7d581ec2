//! The files that a run works on: a checkout of its own, or layers of which only the changes are its own.
//!
//! Layers lie beside the place of a checkout, in a folder that no agent sees: `upper` has what was
//! changed, and `made` says what is below. `made` is written last. So a folder without it is half-made,
//! and nothing that an agent writes can be taken for it.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};

use home::{Home, SandboxKind, Settings, Trees};
use rustix::fs::{CWD, FileType, Mode, mknodat};
use sandbox::{Changes, Layers};
use serde::{Deserialize, Serialize};
use workspace::{CommitId, Snapshot};

use crate::fault::Fault;
use crate::ports::{Ports, Repository};
use crate::run::files::{RunFiles, discard};
use crate::run::untracked::is_plain;

/// What the layers of a run were made of.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Layered {
    /// The commit whose files are below.
    pub(crate) commit: String,
    /// The folders that show them, the uppermost first.
    pub(crate) lower: Vec<PathBuf>,
    /// What was built of third-party code and lies below everything else.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) root: Option<PathBuf>,
}

/// Whether the files of this loop's runs can be layers: only a jail can show them, and somebody who
/// wants to keep checkouts wants to look at them.
pub(crate) fn can_layer(settings: &Settings, ports: &Ports) -> bool {
    let is_bwrap = settings
        .jail()
        .is_some_and(|jail| jail.kind == SandboxKind::Bwrap);
    let is_wanted = match settings.trees {
        Trees::Auto | Trees::Overlay => !settings.keep_checkouts,
        Trees::Copy => false,
    };
    is_bwrap && is_wanted && works(&ports.program, ports.home.root())
}

/// Whether layers can be mounted here. It is tried once by each worker.
fn works(program: &Path, folder: &Path) -> bool {
    static TRIED: Mutex<BTreeMap<PathBuf, bool>> = Mutex::new(BTreeMap::new());
    let mut tried = TRIED.lock().unwrap_or_else(PoisonError::into_inner);
    if let Some(works) = tried.get(folder) {
        return *works;
    }
    let result = sandbox::try_layers(program, folder);
    if let Err(why) = &result {
        tracing::info!(%why, "trees are copied: they cannot be shown in layers");
    }
    tried.insert(folder.to_owned(), result.is_ok());
    result.is_ok()
}

/// The folders that the layers in this folder lie over; none where there are no layers.
pub(crate) fn lower_of(layers: &Path) -> Vec<PathBuf> {
    let Some(layered) = layered_in(layers) else {
        return Vec::new();
    };
    layered.lower.into_iter().chain(layered.root).collect()
}

fn layered_in(layers: &Path) -> Option<Layered> {
    serde_json::from_slice(&fs::read(layers.join("made")).ok()?).ok()
}

impl RunFiles {
    fn layers(&self) -> PathBuf {
        let mut name = self.checkout.file_name().unwrap_or_default().to_owned();
        name.push(".layers");
        self.checkout.with_file_name(name)
    }

    /// The uppermost layer.
    pub(crate) fn upper(&self) -> PathBuf {
        self.layers().join("upper")
    }

    /// What the run's layers were made of; none where it has no layers.
    pub(crate) fn layered(&self) -> Option<Layered> {
        layered_in(&self.layers())
    }

    /// Whether there is something that the run worked on.
    pub(crate) fn has_checkout(&self) -> bool {
        self.layered().is_some() || self.checkout.is_dir()
    }

    /// Moves what the run worked on out of the way. A checkout may be kept for the next run.
    pub(crate) fn discard_checkout(&self, ports: &Ports, loop_id: &str) {
        // A repository that cannot be opened keeps nobody from clearing up.
        if self.checkout.exists()
            && let Ok(repository) = ports.repositories.open(loop_id)
        {
            let name = self.checkout_name();
            for leftover in repository.put_away(&self.rack, &name, &self.checkout) {
                discard(&ports.home, &leftover);
            }
        }
        discard(&ports.home, &self.checkout);
        discard(&ports.home, &self.layers());
    }

    /// Makes a checkout of a commit, of one that an earlier run left where there is one.
    pub(crate) fn make_checkout(
        &self,
        home: &Home,
        repository: &dyn Repository,
        commit: &CommitId,
    ) -> Result<(), Fault> {
        let (tree, name) = (repository.tree_of(commit)?, self.checkout_name());
        for leftover in repository.checkout_with(&tree, &self.rack, &name, &self.checkout)? {
            discard(home, &leftover);
        }
        Ok(())
    }

    fn checkout_name(&self) -> String {
        let name = self.checkout.file_name().unwrap_or_default();
        name.to_string_lossy().into_owned()
    }

    /// Removes what an earlier try left.
    pub(crate) fn remove_layers(&self) -> Result<(), Fault> {
        let layers = self.layers();
        home::remove_folder(&layers).map_err(|error| Fault::io("remove", &layers, error))
    }

    /// Begins layers; without [`RunFiles::finish_layers`] they are half-made.
    pub(crate) fn begin_layers(&self) -> Result<(), Fault> {
        let layers = self.layers();
        for name in ["upper", "work", "at"] {
            let path = layers.join(name);
            fs::create_dir_all(&path).map_err(|error| Fault::io("make", &path, error))?;
        }
        Ok(())
    }

    pub(crate) fn finish_layers(&self, layered: &Layered) -> Result<(), Fault> {
        let (new, path) = (self.layers().join("made.new"), self.layers().join("made"));
        fs::write(&new, serde_json::to_vec(layered)?)
            .and_then(|()| fs::rename(&new, &path))
            .map_err(|error| Fault::io("write", &path, error))
    }

    /// What a jail mounts. Whoever only reads gets the changes as one more layer that nobody changes.
    pub(crate) fn mounted(&self, layered: &Layered, writes: bool) -> Layers {
        let layers = self.layers();
        let mut lower = layered.lower.clone();
        lower.extend(layered.root.clone());
        let changes = writes.then(|| Changes {
            upper: layers.join("upper"),
            work: layers.join("work"),
        });
        if changes.is_none() {
            lower.insert(0, layers.join("upper"));
        }
        Layers {
            at: layers.join("at"),
            lower,
            changes,
        }
    }

    /// The tree that the run left.
    pub(crate) fn snapshot(
        &self,
        repository: &dyn Repository,
        base: &CommitId,
        kept: &[PathBuf],
    ) -> Result<Snapshot, Fault> {
        let Some(layered) = self.layered() else {
            let name = self.checkout_name();
            return repository.snapshot_with(&self.rack, &name, &self.checkout, base, kept);
        };
        // An implementor who is shown tests stands on those too.
        let below = CommitId::parse(&layered.commit)?;
        repository.snapshot_of_changes(&self.upper(), &below, kept)
    }

    /// Takes a folder out of what the run sees, where `is_below` says that the layers below have it.
    pub(crate) fn hide(&self, folder: &str, is_below: bool) -> Result<(), Fault> {
        let (upper, path) = (self.upper(), self.upper().join(folder));
        let parent = path.parent().unwrap_or(&upper);
        // An earlier run of the same session may have planted links; nothing is removed through one.
        if parent.exists() && !is_plain(&upper, parent) {
            return Ok(());
        }
        let failed = |error| Fault::io("hide", &path, error);
        if fs::symlink_metadata(&path).is_ok_and(|found| found.is_dir() || found.is_symlink()) {
            home::remove_folder(&path).map_err(failed)?;
        }
        if is_below && fs::symlink_metadata(&path).is_err() {
            fs::create_dir_all(parent).map_err(failed)?;
            mknodat(CWD, &path, FileType::CharacterDevice, Mode::empty(), 0)
                .map_err(|error| failed(error.into()))?;
        }
        Ok(())
    }
}
