//! How a loop's commits shall look. Who the operator is, is read from git once, when the loop
//! starts: a later change of git's configuration must not change what a repeated step makes.

use std::path::Path;

use home::CommitSettings;
use workspace::{Signature, operator_signature};

use crate::config::CommitConfig;
use crate::failure::Failure;

/// What to do where git does not know the operator.
const NAME_YOURSELF: &str = "tell git: `git config user.name \"Your Name\"` and `git config user.email \
                             you@example.com`; or name somebody with [commit] author = \"Name <mail>\"";

pub(super) fn commit_settings(
    config: &CommitConfig,
    project: &Path,
    remarks: &mut Vec<String>,
) -> Result<CommitSettings, Failure> {
    let operator = operator_signature(project)
        .map_err(|error| Failure::environment("cannot ask git who you are", &error))?;
    let (is_operator, named) = match config.author.as_deref() {
        None | Some("operator") => (true, None),
        Some("loopwright") => (false, None),
        Some(named) => (false, Signature::parse(named)),
    };
    if is_operator && operator.is_none() {
        let ours = Signature::ours();
        remarks.push(format!(
            "git knows no name and e-mail address of yours, so that commits are by {ours}; {NAME_YOURSELF}"
        ));
    }
    // Signing off is a promise, which only a person can make.
    let signer = named.as_ref().or(operator.as_ref());
    if config.sign_off == Some(true) && signer.is_none() {
        return Err(
            Failure::bad_input("[commit] sign_off = true, and there is nobody to sign")
                .hint(NAME_YOURSELF),
        );
    }
    let author = if is_operator {
        operator.as_ref()
    } else {
        named.as_ref()
    };
    let usual = || home::USUAL_SUBJECT.to_owned();
    Ok(CommitSettings {
        subject: config.subject.clone().unwrap_or_else(usual),
        author: author.map(ToString::to_string),
        signed_off_by: signer
            .filter(|_| config.sign_off == Some(true))
            .map(ToString::to_string),
        co_author: config.co_author.unwrap_or(true),
    })
}
