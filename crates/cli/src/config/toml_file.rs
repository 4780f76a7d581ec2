//! One TOML file of the configuration, as entries with their lines, or every complaint about it.

use prd::Source;
use toml::Spanned;
use toml::de::{DeTable, DeValue};

use super::complaint::Complaint;
use super::keys::{Named, look_up};
use super::value::{Value, of_toml};

/// What a file says.
#[derive(Debug, Default)]
pub(super) struct Told {
    /// Path, value and line of each.
    pub(super) entries: Vec<(Vec<String>, Value, usize)>,
    /// Agents that have a table, with the complaint that it lacks a command: another file may give
    /// one.
    pub(super) agents: Vec<(String, Complaint)>,
    pub(super) complaints: Vec<Complaint>,
}

/// Whose file it is: not everybody may set everything.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Whose {
    Ours,
    User,
    /// The project's file where this person wrote it: git does not track it.
    Project,
    /// The project's file where it is committed: whoever may push wrote it.
    Repository,
}

/// Reads a file's text.
pub(super) fn read(source: &Source, whose: Whose) -> Told {
    let mut told = Told::default();
    let (table, errors) = DeTable::parse_recoverable(source.text());
    if errors.is_empty() {
        let mut walk = Walk {
            source,
            whose,
            told: &mut told,
        };
        walk.table(table.get_ref(), &mut Vec::new());
        refuse_worker(table.get_ref(), source, whose, &mut told);
    }
    // What was recovered from broken text is a guess, and a guess is not complained about.
    told.complaints.extend(errors.iter().map(|error| {
        Complaint::at(
            source,
            error.span().unwrap_or_default(),
            format!("not TOML: {}", error.message()),
        )
    }));
    told.complaints.sort_by_key(|complaint| complaint.offset);
    told
}

/// One worker serves all projects, so that none of them says how much it may run.
fn refuse_worker(table: &DeTable<'_>, source: &Source, whose: Whose, told: &mut Told) {
    let of_worker = table.iter().find(|(name, _)| name.get_ref() == "worker");
    if let (Some((name, _)), Whose::Project | Whose::Repository) = (of_worker, whose) {
        let complaint = Complaint::at(source, name.span(), "[worker] is not a project's to set");
        let help = "one worker serves all projects: put it into your own file";
        told.complaints.push(complaint.help(Some(help.to_owned())));
    }
}

/// Goes through the tables of one file.
struct Walk<'a> {
    source: &'a Source,
    whose: Whose,
    told: &'a mut Told,
}

impl Walk<'_> {
    fn table(&mut self, table: &DeTable<'_>, path: &mut Vec<String>) {
        for (name, value) in table {
            path.push(name.get_ref().to_string());
            self.take(name.span(), value, path);
            path.pop();
        }
    }

    fn take(
        &mut self,
        name_span: std::ops::Range<usize>,
        value: &Spanned<DeValue<'_>>,
        path: &mut Vec<String>,
    ) {
        let source = self.source;
        match (look_up(path), value.get_ref()) {
            (Named::Table, DeValue::Table(table)) => {
                if let [first, name] = path.as_slice()
                    && first == "agents"
                {
                    let complaint = no_command(name, source, name_span);
                    self.told.agents.push((name.clone(), complaint));
                }
                self.table(table, path);
            }
            (Named::Table, _) => {
                let message = format!("`{}` is a table of further keys", path.join("."));
                self.complain(Complaint::at(source, value.span(), message));
            }
            (Named::Leaf(kind), found) => match of_toml(found, kind) {
                Ok(value) if self.whose == Whose::Repository && loosens(path, &value) => {
                    self.complain(not_for_a_repository(path, source, name_span));
                }
                Ok(value) => {
                    let line_number = source.position(name_span.start).line_number;
                    self.told.entries.push((path.clone(), value, line_number));
                }
                Err(misfit) => {
                    let message = format!("`{}` does not fit: {misfit}", path.join("."));
                    self.complain(Complaint::at(source, value.span(), message));
                }
            },
            (Named::Unknown { near, known }, _) => {
                self.complain(unknown(path, near, &known, source, name_span));
            }
        }
    }

    fn complain(&mut self, complaint: Complaint) {
        self.told.complaints.push(complaint);
    }
}

/// Whether a value opens the jail. A repository may ask for a stricter one, and never for more of
/// the machine: else a pull request could read the operator's files.
fn loosens(path: &[String], value: &Value) -> bool {
    let is = |word: &str| matches!(value, Value::Text(text) if text == word);
    match path.iter().map(String::as_str).collect::<Vec<_>>()[..] {
        ["sandbox", "kind"] => is("host"),
        ["sandbox", "network"] | ["roles", _, "network"] => is("open"),
        ["sandbox", "allow" | "read" | "write"] => *value != Value::Words(Vec::new()),
        ["sandbox", "inject_keys"] => *value == Value::Truth(false),
        ["sandbox", "image"] => true,
        ["agents", _, "files", _] => leads_out(value),
        _ => false,
    }
}

/// Whether a path leads out of the project.
fn leads_out(value: &Value) -> bool {
    let Value::Text(path) = value else {
        return true;
    };
    let mut parts = std::path::Path::new(path).components();
    !parts.all(|part| matches!(part, std::path::Component::Normal(_)))
}

fn not_for_a_repository(
    path: &[String],
    source: &Source,
    span: std::ops::Range<usize>,
) -> Complaint {
    let key = path.join(".");
    let message = format!("`{key}` opens the sandbox, which is not a repository's to do");
    Complaint::at(source, span, message).help(Some(format!(
        "this file is committed: put it into your own configuration \
         (~/.config/loopwright/config.toml), or start with `--set {key}=...`"
    )))
}

fn no_command(name: &str, source: &Source, span: std::ops::Range<usize>) -> Complaint {
    let complaint = Complaint::at(source, span, format!("the agent `{name}` has no command"));
    complaint.help(Some(
        "give it one: command = [\"program\", \"argument\"]".to_owned(),
    ))
}

fn unknown(
    path: &[String],
    near: Option<&str>,
    known: &[&str],
    source: &Source,
    span: std::ops::Range<usize>,
) -> Complaint {
    let (last, parent) = path
        .split_last()
        .map(|(last, parent)| (last.as_str(), parent))
        .unwrap_or_default();
    let place = if parent.is_empty() {
        String::new()
    } else {
        format!(" in [{}]", parent.join("."))
    };
    let complaint = Complaint::at(source, span, format!("unknown key `{last}`{place}"));
    Complaint {
        unknown: Some(path.to_owned()),
        ..complaint
    }
    .help(help(near, known))
}

/// What was probably meant, or all that there is.
pub(super) fn help(near: Option<&str>, known: &[&str]) -> Option<String> {
    match (near, known) {
        (Some(near), _) => Some(format!("did you mean `{near}`?")),
        (None, []) => None,
        (None, known) => Some(format!("known here: {}", known.join(", "))),
    }
}
