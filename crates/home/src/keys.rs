//! The variables that agents get from the person: kept for the worker, which was started by
//! somebody else, some other day, in another shell.
//!
//! They are in one file per loop that only its owner can read, and nowhere else: not in the journal,
//! not in a run's spec, not in a log. The file goes when the loop ends.

use std::collections::{BTreeMap, BTreeSet};
use std::fs::{self, OpenOptions};
use std::io::{self, Write as _};
use std::os::unix::fs::OpenOptionsExt as _;
use std::path::Path;

use crate::folder::Home;
use crate::secrets::{Secret, note_seen};
use crate::settings::{AgentSettings, Settings};

/// Values by the names of their variables.
pub type Keys = BTreeMap<String, Secret>;

impl AgentSettings {
    /// Names of the variables that the agent gets from the person: those of its CLI, those that its
    /// settings name, and those that say where its login is.
    pub fn variables(&self) -> BTreeSet<String> {
        let command = self.cli().command(&agents::Task::default());
        let folders = command.links.iter().filter_map(|link| link.folder_variable);
        let folders = folders.map(str::to_owned).collect::<Vec<_>>();
        let all = command.pass_env.into_iter().chain(self.pass_env.clone());
        all.chain(folders).collect()
    }
}

/// Keeps what the person's shell has of the variables that the loop's agents may get. What it does
/// not have stays as an earlier shell gave it: whoever answers from elsewhere takes nothing away.
pub fn keep_keys(
    home: &Home,
    loop_id: &str,
    settings: &Settings,
    variable: impl Fn(&str) -> Option<String>,
) -> io::Result<()> {
    let names: BTreeSet<String> = settings
        .agents
        .values()
        .flat_map(AgentSettings::variables)
        .collect();
    let written = written_secrets(settings);
    if names.is_empty() && written.is_empty() {
        return Ok(());
    }
    let before = read_keys(home, loop_id)?;
    let mut keys = before.clone().unwrap_or_default();
    keys.retain(|name, _| names.contains(name));
    keys.extend(written);
    for name in names {
        // An empty variable is how some shells say that there is none.
        if let Some(value) = variable(&name).filter(|value| !value.is_empty()) {
            keys.insert(name, Secret::new(value));
        }
    }
    // An empty file says that the person had none, which is not what no file says.
    if before.as_ref() == Some(&keys) {
        return Ok(());
    }
    write(home, loop_id, &keys)
}

/// Secrets that stand in the configuration itself, as values of an agent's `env`. They are kept beside
/// the others so that they are known wherever those are. No variable has such a name, so that nobody is
/// given them by it.
fn written_secrets(settings: &Settings) -> Keys {
    let agents = settings.agents.iter();
    let each = agents.flat_map(|(agent, told)| told.env.iter().map(move |pair| (agent, pair)));
    let secret = each.filter(|(_, (name, _))| is_named_as_secret(name));
    secret
        .map(|(agent, (name, value))| {
            (
                format!("agents.{agent}.env.{name}"),
                Secret::new(value.as_str()),
            )
        })
        .collect()
}

/// Whether a variable is called as secrets are: `OPENAI_API_KEY`, `DB_PASSWORD`, `githubToken`.
fn is_named_as_secret(name: &str) -> bool {
    const ENDS: [&str; 8] = [
        "KEY",
        "TOKEN",
        "SECRET",
        "PASSWORD",
        "PASSWD",
        "PASSPHRASE",
        "CREDENTIAL",
        "CREDENTIALS",
    ];
    let name = name.to_ascii_uppercase();
    let mut words = name.split(['_', '-', '.']);
    words.any(|word| ENDS.iter().any(|end| word.ends_with(end)))
}

/// What is kept for a loop; none where nothing ever was, as for loops of an earlier version.
pub fn read_keys(home: &Home, loop_id: &str) -> io::Result<Option<Keys>> {
    match fs::read(home.keys_file(loop_id)) {
        Ok(bytes) => {
            let keys = serde_json::from_slice(&bytes)?;
            note_seen(&keys);
            Ok(Some(keys))
        }
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
        Err(error) => Err(error),
    }
}

/// Removes what is kept for a loop. What is not there is removed already.
pub fn forget_keys(home: &Home, loop_id: &str) -> io::Result<()> {
    match fs::remove_file(home.keys_file(loop_id)) {
        Err(error) if error.kind() != io::ErrorKind::NotFound => Err(error),
        _ => Ok(()),
    }
}

/// Replaces the file as a whole, so that a keeper that reads it sees the old values or the new ones.
fn write(home: &Home, loop_id: &str, keys: &Keys) -> io::Result<()> {
    let path = home.keys_file(loop_id);
    fs::create_dir_all(path.parent().unwrap_or(Path::new("/")))?;
    let scratch = path.with_extension(format!("{}.new", std::process::id()));
    let _ = fs::remove_file(&scratch);
    let written = OpenOptions::new()
        .write(true)
        .create_new(true)
        .mode(0o600)
        .open(&scratch)
        .and_then(|mut file| {
            // The one place where they are written down.
            let exposed = keys.iter().map(|(name, key)| (name, key.expose()));
            let exposed: BTreeMap<&String, &str> = exposed.collect();
            file.write_all(&serde_json::to_vec(&exposed)?)?;
            file.sync_all()
        })
        .and_then(|()| fs::rename(&scratch, &path));
    if written.is_err() {
        let _ = fs::remove_file(&scratch);
    }
    written
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::PermissionsExt as _;

    use super::*;

    fn settings(pass_env: &[&str]) -> Settings {
        serde_json::from_value(serde_json::json!({
            "agents": { "a": { "command": ["x"], "pass_env": pass_env, "env": {}, "timeout_secs": 1, "idle_secs": null } },
            "checks": [], "check_timeout_secs": 1, "copy": [], "write_back": true, "subdir": "", "root": "/",
            "prd_in_repository": null, "patterns": null,
        }))
        .expect("settings")
    }

    #[test]
    fn secrets_that_configuration_spells_out_are_known_and_nobody_is_given_them() {
        let folder = tempfile::tempdir().expect("a folder");
        let home = Home::at(folder.path());
        let mut settings = settings(&[]);
        let env = [
            ("SERVICE_TOKEN", "hunter-configured"),
            ("DB_PASSWORD_OLD", "hunter-former"),
            ("githubToken", "hunter-camel"),
            ("LOG_LEVEL", "hunter-debugging"),
            ("KEYBOARD", "hunter-layout"),
        ];
        let env = env.map(|(name, value)| (name.to_owned(), value.to_owned()));
        let agent = settings.agents.get_mut("a").expect("an agent");
        agent.env = BTreeMap::from(env);
        keep_keys(&home, "L", &settings, shell(&[])).expect("kept");
        let known = crate::Known::of_loop(&home, "L").expect("known");
        let names = known.all().map(|(name, _)| name.as_str());
        let names: Vec<&str> = names.filter(|name| name.starts_with("agents.")).collect();
        assert_eq!(
            names,
            [
                "agents.a.env.DB_PASSWORD_OLD",
                "agents.a.env.SERVICE_TOKEN",
                "agents.a.env.githubToken"
            ]
        );
        let redacted = crate::Redactor::new(&known)
            .text("it says hunter-configured and hunter-debugging")
            .into_owned();
        assert_eq!(
            redacted,
            "it says [redacted: agents.a.env.SERVICE_TOKEN] and hunter-debugging"
        );
        // What the configuration does not say any more is forgotten.
        settings.agents.get_mut("a").expect("an agent").env.clear();
        settings.agents.get_mut("a").expect("an agent").pass_env = vec!["X".to_owned()];
        keep_keys(&home, "L", &settings, shell(&[])).expect("kept");
        assert_eq!(read_keys(&home, "L").expect("read"), Some(Keys::new()));
    }

    fn shell<'a>(values: &'a [(&str, &str)]) -> impl Fn(&str) -> Option<String> + 'a {
        |wanted| {
            let mut values = values.iter();
            let found = values.find(|(name, _)| *name == wanted);
            found.map(|(_, value)| (*value).to_owned())
        }
    }

    #[test]
    fn keys_are_those_of_the_last_shell_that_has_them_and_only_their_owner_reads_them() {
        let folder = tempfile::tempdir().expect("a folder");
        let home = Home::at(folder.path());
        let kept = || read_keys(&home, "L").expect("readable");
        assert_eq!(kept(), None);
        for (names, values, expected) in [
            (
                &["A", "B"][..],
                &[("A", "1"), ("C", "no")][..],
                &[("A", "1")][..],
            ),
            (&["A", "B"], &[("B", "2")], &[("A", "1"), ("B", "2")]),
            (
                &["A", "B"],
                &[("A", "3"), ("B", "")],
                &[("A", "3"), ("B", "2")],
            ),
            (&["B"], &[], &[("B", "2")]),
        ] {
            keep_keys(&home, "L", &settings(names), shell(values)).expect("kept");
            let expected = expected
                .iter()
                .map(|(name, value)| ((*name).to_owned(), Secret::new(*value)));
            assert_eq!(kept(), Some(expected.collect()), "{names:?} {values:?}");
        }
        let file = fs::metadata(home.keys_file("L")).expect("a file");
        assert_eq!(file.permissions().mode() & 0o777, 0o600);
        let files = fs::read_dir(home.loop_folder("L")).expect("a folder");
        assert_eq!(files.count(), 1, "nothing else holds them");
        forget_keys(&home, "L").expect("removed");
        forget_keys(&home, "L").expect("twice is no fault");
        assert_eq!(kept(), None);
    }
}
