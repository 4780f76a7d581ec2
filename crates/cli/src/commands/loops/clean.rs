//! `loopwright clean`: removes the files of loops that are over for long enough, and containers that a
//! crash left. What happened stays in the journal.

use home::{DiskUse, ENTRIES_MAX, Expiry, Home, disk_use, expiry, now_ms};
use journal::Journal;
use serde_json::{Value, json};

use super::lookup::{load, open};
use super::strays;
use crate::failure::{Exit, Failure};
use crate::output::{NextAction, Output};
use crate::state_folder::home;
use crate::words::{counted, room, size};

/// One loop whose files may go, or may not although it is old enough.
struct Candidate {
    loop_id: String,
    ended_at_ms: i64,
    disk: DiskUse,
    /// Why it stays.
    stays: Option<String>,
}

pub(super) fn run(
    older_than: Option<u32>,
    dry_run: bool,
    output: &mut Output,
) -> Result<Exit, Failure> {
    output.command("clean");
    let home = home()?;
    let journal = open(&home)?;
    let containers = strays::find(&home, &journal);
    let candidates = candidates(&home, &journal, older_than)?;
    let (staying, going): (Vec<&Candidate>, Vec<&Candidate>) = candidates
        .iter()
        .partition(|candidate| candidate.stays.is_some());
    let word = if dry_run { "would remove" } else { "removed" };
    for container in &containers {
        if !dry_run {
            strays::remove(container)?;
        }
        output.data(&format!("{word}  {}\n", container.text()))?;
    }
    for candidate in &going {
        if !dry_run {
            remove(&home, &candidate.loop_id)?;
        }
        output.data(&format!("{word}  {}\n", candidate.text()))?;
    }
    for candidate in &staying {
        let why = candidate.stays.as_deref().unwrap_or_default();
        output.data(&format!("kept  {}: {why}\n", candidate.text()))?;
    }
    let bytes: u64 = going.iter().map(|candidate| candidate.disk.bytes).sum();
    output.talk(&match going.len() {
        0 if containers.is_empty() => "there is nothing to remove\n".to_owned(),
        0 => format!(
            "{word} {}\n",
            counted(containers.len(), "container", "containers")
        ),
        n_going => format!(
            "{word} the files of {}, {}\n",
            counted(n_going, "loop", "loops"),
            size(bytes)
        ),
    });
    let all = |list: &[&Candidate]| list.iter().map(|one| one.json()).collect::<Vec<_>>();
    let left: Vec<Value> = containers.iter().map(strays::Container::json).collect();
    output.result(|| {
        json!({ "dryRun": dry_run, "removed": all(&going), "kept": all(&staying), "bytes": bytes, "containers": left })
    })?;
    if dry_run && !going.is_empty() {
        output.next(NextAction::new("loopwright clean", "remove them"));
    }
    output.next(NextAction::new("loopwright list", "see what is left"));
    Ok(Exit::Done)
}

/// Loops that are old enough and take room. Those that cannot be read are `nuke`'s.
fn candidates(
    home: &Home,
    journal: &Journal,
    days: Option<u32>,
) -> Result<Vec<Candidate>, Failure> {
    let rows = journal
        .loops()
        .map_err(|error| Failure::environment("cannot read the journal", &error))?;
    let mut found = Vec::new();
    for row in rows.into_iter().filter(|row| row.quarantine.is_none()) {
        let folder = home.loop_folder(&row.loop_id);
        let Ok(loaded) = load(journal, &row.loop_id) else {
            continue;
        };
        let stays = match expiry(&loaded.state, days, now_ms()) {
            Expiry::NotOver | Expiry::Young => continue,
            Expiry::OnlyCopy { why } => {
                Some(format!("its accepted commits are nowhere else ({why})"))
            }
            Expiry::Expired => None,
        };
        if folder.exists() {
            let (ended_at_ms, disk) = (loaded.state.last_at_ms(), disk_use(&folder, ENTRIES_MAX));
            found.push(Candidate {
                loop_id: row.loop_id,
                ended_at_ms,
                disk,
                stays,
            });
        }
    }
    Ok(found)
}

fn remove(home: &Home, loop_id: &str) -> Result<(), Failure> {
    let folder = home.loop_folder(loop_id);
    home::remove_folder(&folder).map_err(|error| {
        Failure::environment(&format!("cannot remove `{}`", folder.display()), &error)
    })
}

impl Candidate {
    fn text(&self) -> String {
        format!(
            "{}  ended {}  {}",
            self.loop_id,
            home::local(self.ended_at_ms),
            room(self.disk)
        )
    }

    fn json(&self) -> Value {
        json!({ "loopId": self.loop_id, "endedAt": views::iso(self.ended_at_ms), "bytes": self.disk.bytes, "why": self.stays })
    }
}
