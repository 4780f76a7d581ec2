//! Makes a test command's output readable test by test, without changing what is tested.
//!
//! The environment is the gentlest way and reaches through Makefiles and scripts; arguments are
//! added only where it is certain whom they reach. Where neither is safe the command stays as it is
//! and its output is sniffed.

use serde::{Deserialize, Serialize};

use crate::results::Format;
use crate::runner::{Reached, Runner, direct, package_script, runners, unwrapped};
use crate::shell::{Line, parse, quote};
use crate::tree::Tree;

/// A command that can be read.
#[derive(Serialize, Deserialize, Clone, Debug, PartialEq, Eq)]
pub struct Instrumented {
    /// What to run.
    pub command: String,
    /// Variables to set.
    pub env: Vec<(String, String)>,
    /// How to read what it says.
    pub format: Format,
    /// Where the report will be, if one is asked for. It may be missing after a crash.
    pub report: Option<String>,
}

/// Makes a project's own test command readable. `report_path` is a file that may be written.
pub fn instrument(command: &str, tree: &dyn Tree, report_path: &str) -> Instrumented {
    instrument_some(command, tree, report_path, &[])
}

/// The same for the tests of some files, where the runner can be told; else for all. Which tests are
/// heard then tells which were run.
pub fn instrument_some(
    command: &str,
    tree: &dyn Tree,
    report_path: &str,
    files: &[String],
) -> Instrumented {
    let command = &without_fail_fast(command);
    let plan = Plan {
        command,
        report_path,
        stops_early: stops_early(command, tree),
        files: plain_names(files),
    };
    let line = parse(command);
    let found = runners(&line, tree);
    match found.as_slice() {
        [(index, reached)] => plan.one(&line, *index, reached),
        [] | [..] => plan.untouched(Format::Sniff),
    }
}

/// A command without the options that make a runner stop at the first red test: what comes behind it
/// would never be heard.
fn without_fail_fast(command: &str) -> String {
    const OPTIONS: [&str; 5] = ["-x", "--exitfirst", "--failfast", "--bail", "--fail-fast"];
    let line = parse(command);
    let mut out = command.to_owned();
    for call in line.calls.iter().rev() {
        let words = unwrapped(&call.words);
        let is_runner = direct(&words).is_some() || words.contains(&"unittest");
        for (word, end) in call.words.iter().zip(&call.ends).rev() {
            let is_option = OPTIONS.contains(&word.as_str())
                || word.starts_with("--bail=")
                || word.starts_with("--maxfail=");
            let start = end.checked_sub(word.len());
            if let Some(start) =
                start.filter(|start| is_runner && is_option && out[*start..*end] == **word)
            {
                out.replace_range(start..*end, "");
            }
        }
    }
    out
}

/// The names of files without their folders, which runners find them by wherever they are started. None
/// where one of them would mean something else to a runner or a shell.
fn plain_names(files: &[String]) -> Vec<&str> {
    let names: Vec<&str> = files
        .iter()
        .map(|file| file.rsplit('/').next().unwrap_or(file))
        .collect();
    let is_plain = |name: &&str| {
        let is_safe = |letter: char| letter.is_ascii_alphanumeric() || "._-".contains(letter);
        !name.starts_with('-') && name.chars().all(is_safe) && !name.is_empty()
    };
    if names.iter().all(is_plain) {
        names
    } else {
        Vec::new()
    }
}

/// Says whether the project's files tell a runner to stop at the first red test. Only then it is told
/// otherwise, since old runners do not know the option.
fn stops_early(command: &str, tree: &dyn Tree) -> bool {
    const WORDS: [&str; 5] = ["bail", "maxfail", "exitfirst", " -x", "'-x"];
    let is_config = |name: &String| {
        ["package.json", "pyproject.toml", "setup.cfg", "tox.ini"].contains(&name.as_str())
            || ["pytest", ".pytest", "vitest", "vite.", "jest", ".mocharc"]
                .iter()
                .any(|start| name.starts_with(start))
    };
    let texts = tree
        .list("")
        .into_iter()
        .filter(is_config)
        .filter_map(|name| tree.read(&name));
    let mut texts = texts.chain([command.to_owned()]);
    texts.any(|text| WORDS.iter().any(|word| text.contains(word)))
}

struct Plan<'a> {
    command: &'a str,
    report_path: &'a str,
    stops_early: bool,
    /// The files to run, by their bare names; none where everything is run.
    files: Vec<&'a str>,
}

impl Plan<'_> {
    fn untouched(&self, format: Format) -> Instrumented {
        Instrumented {
            command: self.command.to_owned(),
            env: Vec::new(),
            format,
            report: None,
        }
    }

    fn one(&self, line: &Line, index: usize, reached: &Reached) -> Instrumented {
        let runner = reached.runner();
        match runner {
            Runner::Pytest | Runner::Tox => self.pytest(runner),
            Runner::Node => self.node(),
            Runner::Nextest => self
                .with_arguments(line, index, reached)
                .unwrap_or_else(|| Self::nextest(self.command)),
            Runner::Cargo
            | Runner::Go
            | Runner::Vitest
            | Runner::Jest
            | Runner::Mocha
            | Runner::Bun => self
                .with_arguments(line, index, reached)
                .unwrap_or_else(|| self.untouched(format_of(runner))),
        }
    }

    /// pytest takes arguments from the environment, through whatever calls it. The older family of
    /// reports names files; a file that cannot be collected must not keep the others from running.
    fn pytest(&self, runner: Runner) -> Instrumented {
        let some = if self.files.is_empty() {
            String::new()
        } else {
            format!("-k {} ", quote(&self.files.join(" or ")))
        };
        let options = format!(
            "{some}{}--junitxml={} -o junit_family=xunit1 --continue-on-collection-errors",
            if self.stops_early { "--maxfail=0 " } else { "" },
            quote(self.report_path)
        );
        let mut env = vec![("PYTEST_ADDOPTS".to_owned(), options)];
        if runner == Runner::Tox {
            env.push((
                "TOX_OVERRIDE".to_owned(),
                "testenv.pass_env+=PYTEST_ADDOPTS".to_owned(),
            ));
            env.push((
                "TOX_TESTENV_PASSENV".to_owned(),
                "PYTEST_ADDOPTS".to_owned(),
            ));
        }
        let report = Some(self.report_path.to_owned());
        Instrumented {
            command: self.command.to_owned(),
            env,
            format: Format::Pytest,
            report,
        }
    }

    /// A report file cannot be asked for by `NODE_OPTIONS`: the runner's children would write to it
    /// too.
    fn node(&self) -> Instrumented {
        let mut plan = self.untouched(Format::Sniff);
        if !self.command.contains("--test-reporter") && !self.command.contains("NODE_OPTIONS") {
            plan.env
                .push(("NODE_OPTIONS".to_owned(), "--test-reporter=tap".to_owned()));
        }
        plan
    }

    fn nextest(command: &str) -> Instrumented {
        let env = [
            ("NEXTEST_STATUS_LEVEL", "all"),
            ("NEXTEST_HIDE_PROGRESS_BAR", "1"),
        ];
        let env = env
            .map(|(name, value)| (name.to_owned(), value.to_owned()))
            .to_vec();
        Instrumented {
            command: command.to_owned(),
            env,
            format: Format::Nextest,
            report: None,
        }
    }

    /// Adds arguments, where it is certain that they reach the runner.
    fn with_arguments(&self, line: &Line, index: usize, reached: &Reached) -> Option<Instrumented> {
        let call = line.calls.get(index)?;
        if !line.is_plain
            || self.command.contains("--reporter")
            || self.command.contains("--outputFile")
        {
            return None;
        }
        let mut arguments = arguments_of(reached.runner(), self.report_path);
        arguments.splice(0..0, self.stop_late(reached.runner()));
        if matches!(reached.runner(), Runner::Vitest | Runner::Jest) {
            arguments.extend(self.files.iter().map(|name| (*name).to_owned()));
        }
        let words = unwrapped(&call.words);
        let at = match reached {
            Reached::Within(_)
            | Reached::ByScript {
                takes_arguments: false,
                ..
            } => return None,
            Reached::ByScript {
                takes_arguments: true,
                ..
            } => {
                // Arguments of a script stand at the end, and npm wants them behind two dashes.
                let needs_dashes = words.first() == Some(&"npm") && !words.contains(&"--");
                package_script(&words)?;
                let dashes = if needs_dashes {
                    vec!["--".to_owned()]
                } else {
                    Vec::new()
                };
                return Some(self.built(
                    reached.runner(),
                    *call.ends.last()?,
                    &[dashes, arguments].concat(),
                ));
            }
            Reached::Directly(runner) => insertion(*runner, &call.words, &call.ends)?,
        };
        let new: Vec<String> = arguments
            .into_iter()
            .filter(|word| !call.words.contains(word))
            .collect();
        Some(self.built(reached.runner(), at, &new))
    }

    /// What tells a runner to go on behind a red test.
    fn stop_late(&self, runner: Runner) -> Option<String> {
        let option = match runner {
            Runner::Vitest | Runner::Jest => "--bail=0",
            Runner::Mocha => "--no-bail",
            Runner::Cargo
            | Runner::Nextest
            | Runner::Go
            | Runner::Pytest
            | Runner::Tox
            | Runner::Node
            | Runner::Bun => return None,
        };
        self.stops_early.then(|| option.to_owned())
    }

    fn built(&self, runner: Runner, at: usize, arguments: &[String]) -> Instrumented {
        let added: String = arguments
            .iter()
            .map(|word| format!(" {}", quote(word)))
            .collect();
        let (before, after) = self.command.split_at(at);
        let command = format!("{before}{added}{after}");
        if runner == Runner::Nextest {
            return Self::nextest(&command);
        }
        let has_report = arguments
            .iter()
            .any(|word| word.ends_with(self.report_path));
        let report = has_report.then(|| self.report_path.to_owned());
        Instrumented {
            command,
            env: Vec::new(),
            format: format_of(runner),
            report,
        }
    }
}

/// How a runner's output is read, with or without a report.
fn format_of(runner: Runner) -> Format {
    match runner {
        Runner::Cargo => Format::Cargo,
        Runner::Nextest => Format::Nextest,
        Runner::Go => Format::GoJson,
        Runner::Pytest | Runner::Tox => Format::Pytest,
        Runner::Vitest => Format::Vitest,
        Runner::Jest => Format::Jest,
        Runner::Mocha => Format::Mocha,
        Runner::Bun => Format::Bun,
        Runner::Node => Format::Sniff,
    }
}

fn arguments_of(runner: Runner, report_path: &str) -> Vec<String> {
    match runner {
        Runner::Cargo | Runner::Nextest => vec!["--no-fail-fast".to_owned()],
        Runner::Go => vec!["-json".to_owned()],
        Runner::Vitest => vec![
            "--reporter=default".to_owned(),
            "--reporter=junit".to_owned(),
            format!("--outputFile.junit={report_path}"),
        ],
        Runner::Jest => vec!["--json".to_owned(), format!("--outputFile={report_path}")],
        Runner::Mocha => {
            vec![
                "--reporter=json".to_owned(),
                format!("--reporter-option=output={report_path}"),
            ]
        }
        Runner::Bun => vec![
            "--reporter=junit".to_owned(),
            format!("--reporter-outfile={report_path}"),
        ],
        Runner::Pytest | Runner::Tox | Runner::Node => Vec::new(),
    }
}

/// Where arguments go, in bytes; `None` where there is no safe place.
fn insertion(runner: Runner, words: &[String], ends: &[usize]) -> Option<usize> {
    let position = |wanted: &str| words.iter().position(|word| word == wanted);
    match runner {
        Runner::Go => ends.get(position("test")?).copied(),
        Runner::Cargo | Runner::Nextest => {
            let has_policy = words
                .iter()
                .any(|word| word.contains("fail-fast") || word.starts_with("--max-fail"));
            let before = position("--").map_or(words.len(), |at| at);
            if has_policy {
                None
            } else {
                ends.get(before.checked_sub(1)?).copied()
            }
        }
        Runner::Vitest | Runner::Jest | Runner::Mocha | Runner::Bun => {
            if position("--").is_some() {
                None
            } else {
                ends.last().copied()
            }
        }
        Runner::Pytest | Runner::Tox | Runner::Node => None,
    }
}
