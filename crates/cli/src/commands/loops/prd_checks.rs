//! The commands and rules that a PRD names for every story: which of them are checks.
//!
//! People write both under the same keys: `npm test`, and "all tests pass". A command that we know
//! becomes a check. Everything else is a rule, and goes into the prompts as it is written.

use prd::Check;

use crate::commands::programs::find_program;

/// What a PRD names for every story.
#[derive(Debug, Default, PartialEq, Eq)]
pub(super) struct PrdChecks {
    /// Checks by name, each with its command.
    pub(super) commands: Vec<(String, String)>,
    /// Sentences that hold for every story.
    pub(super) rules: Vec<String>,
}

/// Programs that a check is known to begin with. What is not here is not run: a sentence may begin
/// with any word, and `[checks]` takes any command.
const PROGRAMS: &[&str] = &[
    "bash",
    "biome",
    "black",
    "bun",
    "bundle",
    "cargo",
    "cd",
    "cmake",
    "composer",
    "ctest",
    "deno",
    "dotnet",
    "eslint",
    "flake8",
    "flutter",
    "go",
    "gradle",
    "jest",
    "just",
    "make",
    "mix",
    "mvn",
    "mypy",
    "node",
    "npm",
    "npx",
    "nx",
    "phpunit",
    "pip",
    "pnpm",
    "poetry",
    "pre-commit",
    "prettier",
    "pyright",
    "pytest",
    "python",
    "python3",
    "rake",
    "rspec",
    "ruff",
    "sh",
    "swift",
    "task",
    "tox",
    "tsc",
    "turbo",
    "uv",
    "uvx",
    "vitest",
    "xcodebuild",
    "yarn",
    "zig",
];

/// Words that stand in sentences about commands and in no command.
const PROSE: &[&str] = &[
    "and", "are", "be", "fail", "fails", "is", "must", "no", "pass", "passes", "passing", "should",
    "succeed", "succeeds", "sure", "that", "the", "when", "without", "zero",
];

/// The order in which checks run; others come before the tests.
const ORDER: [&str; 5] = ["setup", "typecheck", "build", "format", "lint"];

/// Sorts out what is a check and what is a rule. Several commands of one kind become one.
pub(super) fn sort_out(checks: &[Check]) -> PrdChecks {
    let mut sorted = PrdChecks::default();
    for Check { name, text } in checks {
        let is_check = match name {
            Some(_) => is_named_command(text),
            None => is_command(text),
        };
        if !is_check {
            sorted.rules.push(match name {
                Some(name) => format!("{name}: {text}"),
                None => text.clone(),
            });
            continue;
        }
        let kind = kind_of(name.as_deref(), text);
        match sorted.commands.iter_mut().find(|(known, _)| *known == kind) {
            Some((_, command)) if command.split(" && ").any(|part| part == text) => {}
            Some((_, command)) => *command = format!("{command} && {text}"),
            None => sorted.commands.push((kind, text.clone())),
        }
    }
    sorted.commands.sort_by_key(|(name, _)| place_of(name));
    sorted
}

/// Whether a check is of a kind that we know by its name.
pub(super) fn is_known_kind(name: &str) -> bool {
    place_of(name) != ORDER.len()
}

/// Where a check stands among the others.
pub(super) fn place_of(name: &str) -> usize {
    let others = ORDER.len();
    match name {
        "test" => others + 1,
        _ => ORDER
            .iter()
            .position(|known| *known == name)
            .unwrap_or(others),
    }
}

/// Commands of the shell itself.
const BUILTINS: [&str; 6] = ["!", "[", "echo", "false", "test", "true"];

/// Whether a text is a command that can be run as it is.
pub(super) fn is_command(text: &str) -> bool {
    is_command_of(text, |program| PROGRAMS.contains(&program))
}

/// The same for what stands under a name such as `test_command`: there it may be any program.
fn is_named_command(text: &str) -> bool {
    is_command_of(text, |program| {
        PROGRAMS.contains(&program)
            || BUILTINS.contains(&program)
            || find_program(program).is_some()
    })
}

fn is_command_of(text: &str, is_program: impl Fn(&str) -> bool) -> bool {
    const COMMAND_CHARS_MAX: usize = 400;
    let is_one_line = !text.contains(['\n', '\r']) && text.chars().count() <= COMMAND_CHARS_MAX;
    // `CI=1 npm test` begins with a setting.
    let mut words = text
        .split_whitespace()
        .skip_while(|word| word.contains('=') && !word.starts_with(['-', '=']));
    let Some(program) = words.next() else {
        return false;
    };
    let is_path = program.contains('/') && !program.contains("://") && !program.ends_with('/');
    let is_known = is_path || is_program(program);
    let speaks = words.any(|word| {
        let word = word.trim_matches(|letter: char| !letter.is_alphanumeric());
        PROSE.contains(&word.to_lowercase().as_str())
    });
    // `npm run lint (if there is one)` has a remark in it.
    let has_remark = text.contains(" (");
    is_one_line
        && is_known
        && !speaks
        && !has_remark
        && !never_ends(text)
        && !text.trim_end().ends_with('.')
}

/// Whether a command starts a server or a watcher, which would run until its time is up.
fn never_ends(command: &str) -> bool {
    let mut words = command.split_whitespace();
    words.any(|word| matches!(word, "dev" | "serve" | "start" | "watch" | "--watch"))
}

/// What kind of check a command is: by its name, else by its words.
fn kind_of(name: Option<&str>, command: &str) -> String {
    let named = name.map(|name| {
        name.chars()
            .filter(char::is_ascii_alphanumeric)
            .collect::<String>()
            .to_ascii_lowercase()
    });
    let by_name = named.as_deref().and_then(known_kind);
    let words = || {
        let scripts = scripts_of(command).flat_map(words_of_name);
        let words = command.split([' ', ':', '/', '-']).map(str::to_owned);
        words.chain(scripts)
    };
    // Whatever else a command does, one that runs tests is measured test by test.
    let kinds = || words().filter_map(|word| known_kind(&word));
    let by_words = || kinds().find(|kind| *kind == "test").or(kinds().next());
    let kind = by_name.or_else(by_words);
    match (kind, named) {
        (Some(kind), _) => kind.to_owned(),
        (None, Some(name)) if !name.is_empty() => name,
        (None, _) => "check".to_owned(),
    }
}

/// Programs that run the script which is named after them.
const INTERPRETERS: [&str; 9] = [
    "bash", "bun", "deno", "node", "perl", "python", "python3", "ruby", "sh",
];

/// The names of the scripts that a command runs, without their folders: `run-tests.sh`.
fn scripts_of(command: &str) -> impl Iterator<Item = &str> {
    let parts = command.split(['&', '|', ';']);
    parts.filter_map(|part| {
        let mut words = part
            .split_whitespace()
            .filter(|word| !word.contains('=') && !word.starts_with('-'));
        let program = words.next()?;
        let script = if INTERPRETERS.contains(&program) {
            words.next()?
        } else {
            program
        };
        script.rsplit('/').next()
    })
}

/// The words of a file's name, in small letters: `runTests.sh` has `run`, `tests` and `sh`.
fn words_of_name(name: &str) -> Vec<String> {
    let mut spaced = String::new();
    let mut was_small = false;
    for letter in name.chars() {
        if was_small && letter.is_uppercase() {
            spaced.push(' ');
        }
        was_small = letter.is_lowercase();
        spaced.push(letter);
    }
    spaced
        .split(|letter: char| !letter.is_alphanumeric())
        .map(str::to_lowercase)
        .collect()
}

fn known_kind(word: &str) -> Option<&'static str> {
    match word {
        "test" | "tests" | "testing" | "unittest" | "unittests" | "spec" | "pytest" | "vitest"
        | "jest" | "rspec" | "phpunit" | "ctest" | "testcommand" => Some("test"),
        "lint" | "linter" | "linting" | "eslint" | "clippy" | "ruff" | "flake8" | "lintcommand" => {
            Some("lint")
        }
        "typecheck" | "typechecking" | "types" | "type" | "tsc" | "mypy" | "pyright"
        | "typecheckcommand" => Some("typecheck"),
        "build" | "compile" | "buildcommand" => Some("build"),
        "format" | "fmt" | "prettier" | "black" => Some("format"),
        "setup" | "install" | "bootstrap" => Some("setup"),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_command_is_told_from_a_sentence() {
        for (text, expected) in [
            ("npm test", true),
            ("npm --workspace apps/desktop run test", true),
            (
                "cargo clippy --manifest-path a/Cargo.toml -- -D warnings",
                true,
            ),
            ("CI=1 pnpm build", true),
            ("cd app && npm test", true),
            ("./run-tests.sh all", true),
            ("scripts/check.sh", true),
            ("npx vitest run", true),
            ("tsc --build passes with zero errors", false),
            ("pnpm build passes without errors (bytecode too)", false),
            ("All tests pass", false),
            ("make sure that the tests pass", false),
            ("test coverage above 80%", false),
            ("frobnicate", false),
            ("npm test.", false),
            ("npm run lint (si existe)", false),
            ("npm run dev", false),
            ("npx vitest --watch", false),
            ("https://example.com/tests", false),
            ("npm test\nrm -rf /", false),
            ("", false),
        ] {
            assert_eq!(is_command(text), expected, "{text}");
        }
    }

    #[test]
    fn under_a_name_any_program_is_a_command() {
        for (text, expected) in [
            ("echo ran", true),
            ("true", true),
            ("git diff --exit-code", true),
            ("all tests pass", false),
            ("no-such-program-anywhere --all", false),
        ] {
            assert_eq!(is_named_command(text), expected, "{text}");
        }
        assert!(!is_command("echo ran"), "without one it may be a sentence");
    }

    #[test]
    fn a_script_is_of_the_kind_that_its_name_says() {
        for (command, expected) in [
            ("./run-tests.sh", "test"),
            ("./run_tests.sh all", "test"),
            ("./test.sh", "test"),
            ("sh scripts/runTests.sh", "test"),
            ("CI=1 bash -e ci/unit-test.bash", "test"),
            ("cd app && python3 -u test_all.py", "test"),
            ("npm run lint && ./tests.sh", "test"),
            ("make test", "test"),
            ("npm test", "test"),
            ("./lint.sh", "lint"),
            ("./verify.sh", "check"),
            ("./latest.sh", "check"),
            ("./contest.py", "check"),
            ("npx eslint jest.config.js", "lint"),
            ("python3 tools/build.py", "build"),
        ] {
            assert_eq!(kind_of(None, command), expected, "{command}");
        }
    }

    #[test]
    fn commands_become_checks_by_kind_and_sentences_become_rules() {
        let check = |name: Option<&str>, text: &str| Check {
            name: name.map(str::to_owned),
            text: text.to_owned(),
        };
        let sorted = sort_out(&[
            check(None, "npm --workspace apps/desktop run test"),
            check(None, "cargo test --manifest-path apps/Cargo.toml"),
            check(None, "cargo clippy -- -D warnings"),
            check(None, "npm run web:build"),
            check(Some("typeCheck"), "npx tsc --noEmit"),
            check(None, "npm run check-types && npm run test:unit"),
            check(Some("verify"), "./verify.sh"),
            check(Some("test"), "cargo test --manifest-path apps/Cargo.toml"),
            check(Some("everyStory"), "tsc --build passes with zero errors"),
        ]);
        let commands: Vec<String> = sorted
            .commands
            .iter()
            .map(|(name, command)| format!("{name}: {command}"))
            .collect();
        assert_eq!(
            commands,
            [
                "typecheck: npx tsc --noEmit",
                "build: npm run web:build",
                "lint: cargo clippy -- -D warnings",
                "verify: ./verify.sh",
                "test: npm --workspace apps/desktop run test && cargo test --manifest-path apps/Cargo.toml && npm run check-types && npm run test:unit",
            ]
        );
        assert_eq!(
            sorted.rules,
            ["everyStory: tsc --build passes with zero errors"]
        );
    }
}
