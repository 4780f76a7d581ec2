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
    Project,
}

/// Reads a file's text.
pub(super) fn read(source: &Source, whose: Whose) -> Told {
    let mut told = Told::default();
    let (table, errors) = DeTable::parse_recoverable(source.text());
    if errors.is_empty() {
        walk(table.get_ref(), &mut Vec::new(), source, &mut told);
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
    if let (Some((name, _)), Whose::Project) = (of_worker, whose) {
        let complaint = Complaint::at(source, name.span(), "[worker] is not a project's to set");
        let help = "one worker serves all projects: put it into your own file";
        told.complaints.push(complaint.help(Some(help.to_owned())));
    }
}

fn walk(table: &DeTable<'_>, path: &mut Vec<String>, source: &Source, told: &mut Told) {
    for (name, value) in table {
        path.push(name.get_ref().to_string());
        take(name.span(), value, path, source, told);
        path.pop();
    }
}

fn take(
    name_span: std::ops::Range<usize>,
    value: &Spanned<DeValue<'_>>,
    path: &mut Vec<String>,
    source: &Source,
    told: &mut Told,
) {
    match (look_up(path), value.get_ref()) {
        (Named::Table, DeValue::Table(table)) => {
            if let [first, name] = path.as_slice()
                && first == "agents"
            {
                told.agents
                    .push((name.clone(), no_command(name, source, name_span)));
            }
            walk(table, path, source, told);
        }
        (Named::Table, _) => {
            let message = format!("`{}` is a table of further keys", path.join("."));
            told.complaints
                .push(Complaint::at(source, value.span(), message));
        }
        (Named::Leaf(kind), found) => match of_toml(found, kind) {
            Ok(value) => {
                let line_number = source.position(name_span.start).line_number;
                told.entries.push((path.clone(), value, line_number));
            }
            Err(misfit) => {
                let message = format!("`{}` does not fit: {misfit}", path.join("."));
                told.complaints
                    .push(Complaint::at(source, value.span(), message));
            }
        },
        (Named::Unknown { near, known }, _) => {
            told.complaints
                .push(unknown(path, near, &known, source, name_span));
        }
    }
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
