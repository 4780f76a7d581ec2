//! What an implementor made of a story before it was sent back: its own code and never the candidate,
//! which has hidden tests in it.

use kernel::Stage;
use workspace::CommitId;

use crate::fault::Fault;
use crate::run::preparing::Preparing;
use crate::run::trees::reference;

/// Bytes of the former work that are shown as a patch; all of it is on the branch `former`.
const PATCH_BYTES_MAX: usize = 32 * 1024;

/// The code of the attempt that was sent back last.
pub(crate) fn former_work(preparing: &Preparing<'_>) -> Result<Option<CommitId>, Fault> {
    let run = preparing.run;
    let Some(former) = run
        .former
        .filter(|_| run.place.run.stage == Stage::Implement)
    else {
        return Ok(None);
    };
    // What a prover mended is the better code.
    for kind in ["proven", "code"] {
        let name = reference(kind, &run.story.id, &former.to_string());
        if let Some(commit) = preparing.repository.read_ref(&name)? {
            return Ok(Some(commit));
        }
    }
    Ok(None)
}

/// The feedback with the former work behind the last of it.
pub(crate) fn with_former(
    preparing: &Preparing<'_>,
    feedback: Vec<String>,
) -> Result<Vec<String>, Fault> {
    let mut feedback = feedback;
    let (Some(last), Some(former)) = (feedback.last_mut(), former_work(preparing)?) else {
        return Ok(feedback);
    };
    let repository = preparing.repository;
    let base = repository.parent_of(&former)?;
    let patch = repository.diff(&base, &former, PATCH_BYTES_MAX)?;
    last.push_str(&format!(
        "\n\nWhat you made then is on the branch `former` (`git show former`). Do the story again on \
         top of what is there now; use of it what still fits:\n\n{patch}"
    ));
    Ok(feedback)
}
