//! Puts the layers together. Tables merge key by key; a value or a list of a later layer replaces
//! that of an earlier one.

use std::collections::BTreeMap;
use std::path::Path;

use prd::Source;
use serde_json::json;

use super::complaint::Complaint;
use super::keys::{Named, look_up};
use super::places::{Places, text_of};
use super::toml_file::{Told, Whose, help, read};
use super::value::{Value, of_text};
use super::variables::{Meaning, meaning};
use crate::failure::Failure;

const DEFAULTS: &str = include_str!("defaults.toml");

/// How long an agent may take where nobody says so.
const AGENT_TIMEOUT_SECS: u64 = 20 * 60;

/// Where a value comes from.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Origin {
    Default,
    User { file: String, line_number: usize },
    Project { file: String, line_number: usize },
    Variable(String),
    Flag(String),
}

/// A value and where it comes from.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Entry {
    pub(crate) value: Value,
    pub(crate) origin: Origin,
}

/// A value that was given on the command line or in an event.
#[derive(Debug, Clone)]
pub(crate) struct Flag {
    /// What the person typed, for `config show` and complaints.
    pub(crate) name: String,
    /// The key, dots between its parts.
    pub(crate) key: String,
    pub(crate) value: String,
}

/// Everything that holds, by path.
#[derive(Debug, Default)]
pub(crate) struct Settled {
    pub(crate) entries: BTreeMap<Vec<String>, Entry>,
    agents: Vec<(String, Complaint)>,
    complaints: Vec<Complaint>,
}

/// Reads and merges all layers. What cannot be read at all is a failure; what is wrong in them
/// comes as complaints.
pub(crate) fn settle(
    places: &Places,
    flags: &[Flag],
) -> Result<Result<Settled, Vec<Complaint>>, Failure> {
    let mut settled = Settled::default();
    settled.take_file(
        read(&Source::new("defaults.toml", DEFAULTS), Whose::Ours),
        |_| Origin::Default,
    );
    settled.take_default(&["worker", "max_checks"], Value::Count(half_the_cores()));
    if let Some((name, told)) = told_by(places.user.as_deref(), Whose::User)? {
        settled.take_file(told, |line_number| Origin::User {
            file: name.clone(),
            line_number,
        });
    }
    let whose = if places.project_is_committed {
        Whose::Repository
    } else {
        Whose::Project
    };
    if let Some((name, told)) = told_by(places.project.as_deref(), whose)? {
        settled.take_file(told, |line_number| Origin::Project {
            file: name.clone(),
            line_number,
        });
    }
    settled.take_variables(&places.variables);
    for flag in flags {
        settled.take_flag(flag);
    }
    settled.complete_agents();
    Ok(if settled.complaints.is_empty() {
        Ok(settled)
    } else {
        Err(settled.complaints)
    })
}

/// Half the cores, and two at least: with one, a check of a huge project would hold up those of all
/// other loops, although it mostly waits for the disk.
fn half_the_cores() -> u64 {
    std::thread::available_parallelism().map_or(2, |cores| (cores.get() as u64 / 2).max(2))
}

fn told_by(path: Option<&Path>, whose: Whose) -> Result<Option<(String, Told)>, Failure> {
    let Some(path) = path else { return Ok(None) };
    let name = path.display().to_string();
    let text = text_of(path)?;
    Ok(text.map(|text| (name.clone(), read(&Source::new(name, text), whose))))
}

impl Settled {
    fn take_file(&mut self, told: Told, origin: impl Fn(usize) -> Origin) {
        for (path, value, line_number) in told.entries {
            self.entries.insert(
                path,
                Entry {
                    value,
                    origin: origin(line_number),
                },
            );
        }
        self.agents.extend(told.agents);
        self.complaints.extend(told.complaints);
    }

    fn take_default(&mut self, path: &[&str], value: Value) {
        let path = path.iter().map(|part| (*part).to_owned()).collect();
        self.entries.entry(path).or_insert(Entry {
            value,
            origin: Origin::Default,
        });
    }

    fn take_variables(&mut self, variables: &[(String, String)]) {
        for (name, text) in variables {
            match meaning(name) {
                Meaning::Other => {}
                // An empty variable is how some shells say that there is none.
                Meaning::Key(_) if text.is_empty() => {}
                Meaning::Key(key) => {
                    self.take_text(key, text, name, Origin::Variable(name.clone()));
                }
                Meaning::Misspelt(near) => {
                    let complaint = Complaint::about(name, format!("unknown variable `{name}`"));
                    self.complaints
                        .push(complaint.help(help(near.as_deref(), &[])));
                }
            }
        }
    }

    fn take_flag(&mut self, flag: &Flag) {
        self.take_text(
            &flag.key,
            &flag.value,
            &flag.name,
            Origin::Flag(flag.name.clone()),
        );
    }

    fn take_text(&mut self, key: &str, text: &str, place: &str, origin: Origin) {
        let path: Vec<String> = key.split('.').map(str::to_owned).collect();
        match look_up(&path) {
            Named::Leaf(kind) => match of_text(text, kind) {
                Ok(value) => drop(self.entries.insert(path, Entry { value, origin })),
                Err(misfit) => {
                    self.complaints.push(Complaint::about(
                        place,
                        format!("`{text}` does not fit `{key}`: {misfit}"),
                    ));
                }
            },
            Named::Table => {
                self.complaints.push(Complaint::about(
                    place,
                    format!("`{key}` is a table; name a key in it"),
                ));
            }
            Named::Unknown { near, known } => {
                let complaint = Complaint::about(place, format!("unknown key `{key}`"));
                self.complaints.push(complaint.help(help(near, &known)));
            }
        }
    }

    /// Every agent needs a command, from whichever layer, and has a limit.
    fn complete_agents(&mut self) {
        for (name, complaint) in std::mem::take(&mut self.agents) {
            let of_agent = |key: &str| vec!["agents".to_owned(), name.clone(), key.to_owned()];
            let command = self.entries.get(&of_agent("command"));
            let is_missing = command.is_none_or(|entry| entry.value == Value::Words(Vec::new()));
            let kind = match self
                .entries
                .get(&of_agent("kind"))
                .map(|entry| &entry.value)
            {
                Some(Value::Text(word)) => agents::Kind::of_word(word),
                _ => None,
            };
            let kind = kind.filter(|kind| *kind != agents::Kind::Command);
            let has_program = self.entries.contains_key(&of_agent("program"));
            let lacks_program = kind == Some(agents::Kind::Acp) && !has_program;
            let timeout = kind.map_or(AGENT_TIMEOUT_SECS, |kind| kind.facts().wall_secs);
            // Where a key of it is misspelt, that may well be the command.
            let is_told = self.complaints.iter().any(|told| {
                let unknown = told.unknown.as_ref().and_then(|path| path.split_last());
                unknown.is_some_and(|(_, table)| table == ["agents", &name])
            });
            if is_missing && kind.is_none() && !is_told {
                self.complaints.push(complaint);
            } else if lacks_program && !is_told {
                self.complaints.push(Complaint {
                    message: format!("the agent `{name}` is of kind `acp` and names no program"),
                    help: Some(
                        "name the agent's own, with its arguments: program = \"gemini\", args = [\"--acp\"]"
                            .to_owned(),
                    ),
                    ..complaint
                });
            }
            self.take_default(&["agents", &name, "timeout"], Value::Count(timeout));
        }
    }

    /// All values as one nested object, as the typed configuration is read from it.
    pub(super) fn nested(&self) -> serde_json::Value {
        let mut root = json!({});
        for (path, entry) in &self.entries {
            let mut here = &mut root;
            for part in path {
                here = &mut here[part.as_str()];
            }
            *here = json!(entry.value);
        }
        root
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn flag(key: &str, value: &str) -> Flag {
        Flag {
            name: format!("--set {key}"),
            key: key.to_owned(),
            value: value.to_owned(),
        }
    }

    fn seen(places: &Places, flags: &[Flag], key: &str) -> String {
        let settled = settle(places, flags).expect("readable");
        let settled = settled.unwrap_or_else(|complaints| panic!("{complaints:?}"));
        let path: Vec<String> = key.split('.').map(str::to_owned).collect();
        settled
            .entries
            .get(&path)
            .map(|entry| format!("{} {:?}", entry.value, entry.origin))
            .unwrap_or_default()
    }

    #[test]
    fn a_later_layer_wins_key_by_key() {
        let folder = tempfile::tempdir().expect("a scratch folder");
        let (user, project) = (
            folder.path().join("user.toml"),
            folder.path().join("loopwright.toml"),
        );
        std::fs::write(
            &user,
            "[loop]\nmax_retries = 3\nmax_iterations = 9\n[agents.a]\ncommand = [\"x\"]\n",
        )
        .expect("written");
        std::fs::write(
            &project,
            "[agents.a]\nenv = { A = \"1\" }\n[loop]\nmax_retries = 4\n",
        )
        .expect("written");
        let variable =
            |text: &str| vec![("LOOPWRIGHT_LOOP_MAX_RETRIES".to_owned(), text.to_owned())];
        let places = |variables| Places {
            user: Some(user.clone()),
            project: Some(project.clone()),
            project_is_committed: false,
            variables,
        };
        let at = |layer: &str, path: &Path, line: u32| {
            let file = path.display().to_string();
            format!("{layer} {{ file: {file:?}, line_number: {line} }}")
        };
        for (key, expected) in [
            (
                "loop.max_retries",
                format!("4 {}", at("Project", &project, 4)),
            ),
            ("loop.max_iterations", format!("9 {}", at("User", &user, 3))),
            (
                "agents.a.command",
                format!("[\"x\"] {}", at("User", &user, 5)),
            ),
            ("agents.a.timeout", "1200 Default".to_owned()),
            (
                "agents.a.env.A",
                format!("\"1\" {}", at("Project", &project, 2)),
            ),
        ] {
            assert_eq!(seen(&places(vec![]), &[], key), expected, "{key}");
        }
        for (variables, flags, key, expected) in [
            (
                variable("5"),
                vec![],
                "loop.max_retries",
                "5 Variable(\"LOOPWRIGHT_LOOP_MAX_RETRIES\")".to_owned(),
            ),
            (
                variable(""),
                vec![],
                "loop.parallel",
                "1 Default".to_owned(),
            ),
            (
                variable("5"),
                vec![flag("loop.max_retries", "6")],
                "loop.max_retries",
                "6 Flag(\"--set loop.max_retries\")".to_owned(),
            ),
        ] {
            assert_eq!(seen(&places(variables), &flags, key), expected, "{key}");
        }
    }

    #[test]
    fn every_default_fits_its_key() {
        assert_eq!(
            seen(&Places::default(), &[], "retention.days"),
            "30 Default"
        );
    }
}
