//! Makes the loop's own repository.

use std::fs;
use std::os::unix::fs::PermissionsExt as _;
use std::path::Path;

use kernel::{Commit, Event, Order};

use crate::fault::Fault;
use crate::ports::Ports;
use crate::run::trees::commit_id;
use crate::settings_of::settings_of;

pub(crate) fn prepare(order: &Order, base: &Commit, ports: &Ports) -> Result<Event, Fault> {
    let settings = settings_of(order)?;
    let folder = ports.home.loop_folder(&order.loop_id);
    // Prompts and outputs are nobody else's business, whatever the state folder's own mode is.
    fs::create_dir_all(&folder)
        .and_then(|()| fs::set_permissions(&folder, fs::Permissions::from_mode(0o700)))
        .map_err(|error| Fault::io("make", &folder, error))?;
    let root = Path::new(&settings.root);
    ports
        .repositories
        .create(&order.loop_id, root, &commit_id(base)?)?;
    Ok(Event::LoopPrepared)
}
