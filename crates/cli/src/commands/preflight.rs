//! What a loop needs, looked at before anything is paid: one list, which `doctor` shows and over
//! which `start` refuses.
//!
//! It is quick: programs are looked up, not run, wherever that tells enough, and no model is asked.

use std::collections::BTreeSet;
use std::path::Path;

use home::{CheckSettings, Home};

use super::agent_entries;
use super::finding::Finding;
use super::image::{Inside, Presence};
use super::programs::{find_program, runs};
use crate::config::Config;

/// The oldest git that knows every option that we use (`worktree list -z`).
const GIT_MIN: (u32, u32) = (2, 36);

/// Below so much free space a loop will soon stand still.
const FREE_BYTES_MIN: u64 = 1024 * 1024 * 1024;

/// So much a clock that is set right by the network may jump.
const CLOCK_DRIFT_MS_MAX: i64 = 60_000;

/// The newest loops are enough to see whether the clock was set back.
const LOOPS_LOOKED_AT: usize = 5;

/// What one loop would use.
pub(crate) struct Needs<'a> {
    pub(crate) config: &'a Config,
    pub(crate) project: &'a Path,
    pub(crate) checks: &'a [CheckSettings],
    /// The agents that take part; all that are configured where nobody knows.
    pub(crate) agents: Option<&'a BTreeSet<String>>,
}

/// What every loop on this machine needs.
pub(crate) fn of_machine(home: &Home) -> Vec<Finding> {
    let mut findings = vec![git()];
    findings.extend(state_folder(home));
    findings
}

/// Whether the configuration fits together.
pub(crate) fn of_configuration(config: &Config) -> Vec<Finding> {
    let mut findings = Vec::new();
    let names = agent_entries::names(config);
    if names.is_empty() {
        findings.push(agent_entries::none_is_there());
        return findings;
    }
    let unknown = unknown_agents(config, &names);
    if unknown.is_empty() {
        findings.push(Finding::well(
            "roles",
            "every role names an agent that is configured",
        ));
    }
    let one = |unknown: Unknown| Finding::bad("roles", unknown.message, unknown.hint);
    findings.extend(unknown.into_iter().map(one));
    findings
}

/// What this loop needs: its agents and its checks.
pub(crate) fn of_loop(needs: &Needs<'_>) -> Vec<Finding> {
    let mut programs = agent_entries::programs(needs.config, needs.agents);
    let of_checks = needs.checks.iter();
    programs.extend(of_checks.filter_map(|check| checks::program_of(&check.command)));
    let inside = Inside::look(needs.config, programs);
    let inside = inside.as_ref();
    let mut findings = agent_entries::findings(needs.config, needs.agents, inside);
    if needs.checks.is_empty() {
        findings.push(Finding::warning(
            "checks",
            "there are none; only the judge stands between an attempt and the branch",
            "name them in loopwright.toml: [checks] test = \"...\"",
        ));
    }
    let has_setup = needs.checks.iter().any(|check| check.name == "setup");
    let check = |check: &CheckSettings| check_finding(check, needs.project, has_setup, inside);
    findings.extend(needs.checks.iter().map(check));
    findings
}

/// A name that is no agent's.
pub(crate) struct Unknown {
    pub(crate) message: String,
    pub(crate) hint: String,
}

/// Every agent that a role or the ladder names and that is not there.
pub(crate) fn unknown_agents(config: &Config, known: &BTreeSet<String>) -> Vec<Unknown> {
    let roles = config.roles.all().into_iter();
    let roles =
        roles.filter_map(|(name, role)| Some((format!("[roles.{name}]"), role.agent.as_ref()?)));
    let ladder = config.retry.ladder.iter();
    let ladder = ladder.map(|agent| ("the ladder".to_owned(), agent));
    let named = roles.chain(ladder);
    let unknown = named.filter(|(_, agent)| !known.contains(*agent));
    let one = |(who, agent): (String, &String)| Unknown {
        message: format!("{who} names `{agent}`, which is no agent"),
        hint: match prd::nearest(agent, known.iter().map(String::as_str)) {
            Some(near) => format!("did you mean `{near}`?"),
            None => "give it a table: [agents.NAME] with a command".to_owned(),
        },
    };
    unknown.map(one).collect()
}

/// A check whose program is not there fails on every commit, unless `setup` brings it.
fn check_finding(
    check: &CheckSettings,
    project: &Path,
    has_setup: bool,
    inside: Option<&Inside>,
) -> Finding {
    let (name, command) = (&check.name, &check.command);
    let found = format!("{name}: `{command}`");
    let Some(program) = checks::program_of(command) else {
        return Finding::well("check", found);
    };
    let is_there = match inside.and_then(|inside| inside.has(&program)) {
        // What cannot be looked into is told of the agents already.
        Some(presence) => presence != Presence::Missing,
        None if program.contains('/') => runs(&project.join(&program)),
        None => find_program(&program).is_some(),
    };
    if is_there {
        return Finding::well("check", found);
    }
    let missing = format!("{found}, and there is no program `{program}`");
    if has_setup && name != "setup" {
        let remedy = "see that `setup` installs it where the command finds it";
        return Finding::warning("check", missing, remedy);
    }
    Finding::bad(
        "check",
        missing,
        format!("install it, or name another command: [checks] {name} = \"...\""),
    )
}

fn git() -> Finding {
    match workspace::git_version() {
        Ok(version) => judged(version),
        Err(error) => Finding::bad(
            "git",
            home::words_of(&error),
            "install git and see that it is on the PATH",
        ),
    }
}

/// Whether a loop could start from a folder.
pub(crate) fn repository(project: &Path) -> Finding {
    match workspace::look_at_project(project, None) {
        Ok(view) => match workspace::check_content(&view.root, &view.head) {
            Ok(_) => Finding::well(
                "repository",
                format!("{} at {}", view.root.display(), &view.head.as_str()[..12]),
            ),
            Err(error) => Finding::bad(
                "repository",
                home::words_of(&error),
                error
                    .remedy()
                    .unwrap_or_else(|| "see that git works in the project".to_owned()),
            ),
        },
        Err(error) => Finding::bad(
            "repository",
            home::words_of(&error),
            "run this in a git repository with at least one commit, or name one with --project",
        ),
    }
}

/// A git that lacks an option of ours fails in the middle of a loop.
fn judged(version: String) -> Finding {
    let mut numbers = version
        .split(['.', ' '])
        .map(|part| part.parse::<u32>().ok());
    let found = numbers.next().flatten().zip(numbers.next().flatten());
    match found {
        Some(found) if found < GIT_MIN => Finding::bad(
            "git",
            format!("{version} is too old"),
            format!("install git {}.{} or newer", GIT_MIN.0, GIT_MIN.1),
        ),
        Some(_) => Finding::well("git", version),
        None => Finding::warning(
            "git",
            format!("`{version}` is no version that is understood"),
            format!("see that it is {}.{} or newer", GIT_MIN.0, GIT_MIN.1),
        ),
    }
}

/// How the files of jailed runs can be made here, by a trial.
pub(crate) fn trees(home: &Home) -> Finding {
    let tried = home::our_program().map_err(|error| error.to_string());
    let tried = tried.and_then(|program| sandbox::try_layers(&program, home.root()));
    match tried {
        Ok(()) => Finding::well("trees", "jailed runs share their files in layers"),
        Err(why) => Finding::well(
            "trees",
            format!("every run gets a copy of its files; layers cannot be mounted here: {why}"),
        ),
    }
}

fn state_folder(home: &Home) -> Vec<Finding> {
    let root = home.root();
    let journal = match journal::Journal::open(root) {
        Ok(_) => Finding::well("state", root.display().to_string()),
        Err(error) => Finding::bad(
            "state",
            home::words_of(&error),
            "see that the folder is yours, or set LOOPWRIGHT_HOME to another one",
        ),
    };
    let space = match rustix::fs::statvfs(root) {
        Ok(stat) => {
            let free = stat.f_bavail.saturating_mul(stat.f_frsize);
            let found = format!("{} MiB free", free / (1024 * 1024));
            if free < FREE_BYTES_MIN {
                Finding::bad("disk", found, "make room: loops wait when the disk is full")
            } else {
                Finding::well("disk", found)
            }
        }
        Err(error) => Finding::bad(
            "disk",
            home::words_of(&error),
            "see that the state folder can be reached",
        ),
    };
    vec![journal, space]
}

/// Waits end by the clock. One that was set back would make every wait longer than it was told.
///
/// `start` does not ask: a record from the future would keep everybody from starting until then.
pub(crate) fn clock(home: &Home) -> Finding {
    let now_ms = home::now_ms();
    let now = home::utc(now_ms);
    let newest_ms = newest_record_ms(home.root()).unwrap_or_default();
    if newest_ms > now_ms.saturating_add(CLOCK_DRIFT_MS_MAX) {
        let found = format!(
            "{now}, and the journal's newest record is of {}",
            home::utc(newest_ms)
        );
        return Finding::bad("clock", found, "set the clock: waits end by it");
    }
    Finding::well("clock", now)
}

fn newest_record_ms(root: &Path) -> Option<i64> {
    let journal = journal::Journal::open(root).ok()?;
    let loops = journal.loops().ok()?;
    let newest = loops.iter().rev().take(LOOPS_LOOKED_AT).filter_map(|row| {
        home::load(&journal, &row.loop_id)
            .ok()
            .map(|loaded| loaded.state.last_at_ms())
    });
    newest.max()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_git_is_judged_by_its_version() {
        for (version, expected) in [
            ("2.47.3", "ok   git: 2.47.3\n"),
            ("2.36.0 (Apple Git-1)", "ok   git: 2.36.0 (Apple Git-1)\n"),
            (
                "2.35.9",
                "bad  git: 2.35.9 is too old\n     install git 2.36 or newer\n",
            ),
            (
                "1.99.windows.1",
                "bad  git: 1.99.windows.1 is too old\n     install git 2.36 or newer\n",
            ),
            (
                "next",
                "warning git: `next` is no version that is understood\n     see that it is 2.36 or newer\n",
            ),
        ] {
            assert_eq!(judged(version.to_owned()).text(), expected);
        }
    }

    #[test]
    fn a_check_whose_program_is_missing_is_found() {
        let project = tempfile::tempdir().expect("a folder");
        let check = |name: &str, command: &str| CheckSettings {
            name: name.to_owned(),
            command: command.to_owned(),
        };
        for (name, command, has_setup, expected) in [
            ("test", "sh test.sh", false, "ok"),
            ("test", "CI=1 no-such-runner --all", false, "bad"),
            ("test", "no-such-runner --all", true, "warning"),
            ("setup", "no-such-installer", true, "bad"),
            ("test", "./gone.sh", false, "bad"),
            ("test", "cd sub && ./gone.sh", false, "ok"),
            ("test", "$RUNNER all", false, "ok"),
        ] {
            let found = check_finding(&check(name, command), project.path(), has_setup, None);
            assert_eq!(found.text().split(' ').next(), Some(expected), "{command}");
        }
    }
}
