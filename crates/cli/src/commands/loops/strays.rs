//! Containers of runs that no keeper has any more: a crash of the machine or of the engine that makes
//! containers leaves them, and `clean` removes them.

use std::path::PathBuf;

use home::Home;
use journal::Journal;
use serde_json::{Value, json};

use crate::failure::Failure;

/// A container that nobody watches.
pub(super) struct Container {
    /// The engine that it belongs to.
    engine: &'static str,
    id: String,
    run_dir: PathBuf,
    #[cfg(target_os = "linux")]
    stray: sandbox::Stray,
}

impl Container {
    pub(super) fn text(&self) -> String {
        let short: String = self.id.chars().take(12).collect();
        let run = self.run_dir.file_name().unwrap_or_default();
        format!(
            "container {short} of {}, left by run {}",
            self.engine,
            run.to_string_lossy()
        )
    }

    pub(super) fn json(&self) -> Value {
        json!({ "engine": self.engine, "id": self.id, "run": self.run_dir.file_name().map(|name| name.to_string_lossy()) })
    }
}

/// The containers that were left of loops in this state folder. Engines that no loop has used are not
/// asked, and one that does not answer has nothing for us to remove.
#[cfg(target_os = "linux")]
pub(super) fn find(home: &Home, journal: &Journal) -> Vec<Container> {
    use home::Settings;
    use sandbox::JailKind;

    use crate::commands::jail::jail_of;

    let mut kinds = Vec::new();
    for row in journal.loops().unwrap_or_default() {
        let loaded = home::load(journal, &row.loop_id).ok();
        let settings = loaded.map(|loaded| loaded.state.spec().settings.clone());
        let settings = settings.and_then(|text| serde_json::from_str::<Settings>(&text).ok());
        let jail = settings.as_ref().and_then(Settings::jail);
        let kind = jail.and_then(|jail| jail_of(jail.kind));
        if let Some(kind @ (JailKind::Podman | JailKind::Docker)) = kind
            && !kinds.contains(&kind)
        {
            kinds.push(kind);
        }
    }
    let found = kinds.into_iter().flat_map(|kind| {
        let strays = sandbox::strays(kind, home.root()).unwrap_or_default();
        strays.into_iter().map(move |stray| Container {
            engine: kind.program(),
            id: stray.id.clone(),
            run_dir: stray.run_dir.clone(),
            stray,
        })
    });
    found.collect()
}

/// Removes one with everything in it.
#[cfg(target_os = "linux")]
pub(super) fn remove(container: &Container) -> Result<(), Failure> {
    sandbox::remove_stray(&container.stray).map_err(|error| {
        Failure::environment(&format!("cannot remove the {}", container.text()), &error)
    })
}

/// There are jails on Linux only.
#[cfg(not(target_os = "linux"))]
pub(super) fn find(_: &Home, _: &Journal) -> Vec<Container> {
    Vec::new()
}

/// There are jails on Linux only.
#[cfg(not(target_os = "linux"))]
pub(super) fn remove(_: &Container) -> Result<(), Failure> {
    Ok(())
}
