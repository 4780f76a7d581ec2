//! Removes folders that an agent worked in, whatever it did to their rights.

use std::fs;
use std::io;
use std::os::unix::fs::PermissionsExt as _;
use std::path::Path;

/// Removes a folder and all below it; one that is not there is no fault.
pub fn remove_folder(folder: &Path) -> io::Result<()> {
    match fs::remove_dir_all(folder) {
        Ok(()) => Ok(()),
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(()),
        Err(_) => {
            open_up(folder);
            fs::remove_dir_all(folder)
        }
    }
}

/// Gives the folders below their owner's rights back; links are not followed.
fn open_up(folder: &Path) {
    let is_folder = fs::symlink_metadata(folder).is_ok_and(|metadata| metadata.is_dir());
    if !is_folder || fs::set_permissions(folder, fs::Permissions::from_mode(0o700)).is_err() {
        return;
    }
    for entry in fs::read_dir(folder).into_iter().flatten().flatten() {
        open_up(&entry.path());
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_folder_without_rights_and_with_links_is_removed_and_nothing_else() {
        let scratch = tempfile::tempdir().expect("a scratch folder");
        let (folder, victim) = (
            scratch.path().join("checkout"),
            scratch.path().join("victim"),
        );
        fs::create_dir_all(folder.join("a/b")).expect("made");
        fs::write(&victim, "precious").expect("written");
        std::os::unix::fs::symlink(&victim, folder.join("a/link")).expect("linked");
        fs::set_permissions(folder.join("a"), fs::Permissions::from_mode(0o000)).expect("mode set");
        remove_folder(&folder).expect("removed");
        remove_folder(&folder).expect("removing it again is no fault");
        assert!(!folder.exists());
        assert_eq!(fs::read_to_string(&victim).expect("read"), "precious");
    }
}
