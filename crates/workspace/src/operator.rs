//! Asks git who the operator is.

use std::path::Path;

use crate::error::GitError;
use crate::git::Git;
use crate::signature::Signature;

/// The person whose commits git would make in a project, by its configuration and their own; none
/// where it names nobody. Git would then make an address up from the machine's name, which is worth
/// less than saying so.
pub fn operator_signature(project: &Path) -> Result<Option<Signature>, GitError> {
    let wanted = r"^(user|author)\.(name|email)$";
    let output = Git::found_from(project)
        .of_its_user()
        .args(["config", "--null", "--get-regexp", wanted])
        .outcome()?;
    let text = String::from_utf8_lossy(&output.stdout).into_owned();
    // Each is `key`, a newline and the value; of several the last one holds.
    let value = |key: &str| {
        let entries = text.split('\0').filter_map(|entry| entry.split_once('\n'));
        entries
            .filter(|(name, _)| *name == key)
            .map(|(_, value)| value)
            .next_back()
    };
    let name = value("author.name").or_else(|| value("user.name"));
    let email = value("author.email").or_else(|| value("user.email"));
    Ok(name
        .zip(email)
        .and_then(|(name, email)| Signature::new(name, email)))
}
