//! Product code that asks whether a test or a check runs.

use super::debug_builds;
use super::signs::{Found, Sign, first, has, has_any};
use super::source::{Line, Source};
use crate::lex::Language;

/// Names that only a test run sets or knows, wherever they stand.
const NAMES: [Sign; 30] = [
    ("PYTEST_*", "asks for pytest's variables"),
    ("NODE_TEST_CONTEXT", "asks whether node tests it"),
    ("JEST_WORKER_ID", "asks whether jest tests it"),
    ("VITEST", "asks whether vitest tests it"),
    ("VITEST_*", "asks whether vitest tests it"),
    ("__vitest*", "asks whether vitest tests it"),
    ("__jest*", "asks whether jest tests it"),
    ("NEXTEST", "asks whether nextest tests it"),
    ("NEXTEST_*", "asks whether nextest tests it"),
    ("RUST_TEST_*", "asks for variables of Rust's tests"),
    ("LOOPWRIGHT", "asks whether it is checked"),
    ("LOOPWRIGHT_*", "asks whether it is checked"),
    ("HARNESS_ACTIVE", "asks whether a harness runs it"),
    ("BATS_*", "asks whether bats tests it"),
    ("TAP_*", "asks for variables of TAP"),
    ("MOCHA_*", "asks whether mocha tests it"),
    ("PLAYWRIGHT_TEST*", "asks whether playwright tests it"),
    ("npm_lifecycle_event", "asks which npm script runs it"),
    ("npm_lifecycle_script", "asks which npm script runs it"),
    ("import.meta.vitest", "asks whether vitest tests it"),
    ("cfg!(test)", "asks whether it was built for tests"),
    ("cfg(not(test))", "is built otherwise for tests"),
    ("/proc/self/cmdline", "looks at its own command line"),
    ("/proc/self/environ", "looks at its own environment"),
    ("/proc/self/stat", "looks at its own process"),
    ("/proc/$PPID*", "looks at the process that started it"),
    ("$PPID", "looks at the process that started it"),
    ("junit*", "knows of test reports"),
    ("JUNIT*", "knows of test reports"),
    ("__CARGO_TEST*", "asks whether cargo tests it"),
];
/// Calls that look at who calls.
const CALLS: [Sign; 24] = [
    ("inspect.stack", "looks at its callers"),
    ("inspect.currentframe", "looks at its callers"),
    ("inspect.getouterframes", "looks at its callers"),
    ("sys._getframe", "looks at its callers"),
    ("sys._current_frames", "looks at its callers"),
    ("traceback.extract_stack", "looks at its callers"),
    ("traceback.format_stack", "looks at its callers"),
    ("traceback.walk_stack", "looks at its callers"),
    ("Error().stack", "looks at its callers"),
    ("Error(\"\").stack", "looks at its callers"),
    ("Error.prepareStackTrace", "looks at its callers"),
    ("arguments.callee", "looks at its callers"),
    ("runtime.Caller", "looks at its callers"),
    ("runtime.Callers", "looks at its callers"),
    ("caller_locations", "looks at its callers"),
    ("os.getppid", "looks at the process that started it"),
    ("process.ppid", "looks at the process that started it"),
    ("parent_id()", "looks at the process that started it"),
    ("psutil.Process", "looks at processes"),
    ("testing.Testing", "asks whether it is tested"),
    ("flag.Lookup(\"test.*", "asks whether it is tested"),
    ("defined?(RSpec", "asks whether it is tested"),
    ("defined?(Minitest", "asks whether it is tested"),
    ("Deno.mainModule", "asks what runs it"),
];
/// Ways to read the environment.
const ENVIRONMENT: [&str; 14] = [
    "environ*",
    "getenv",
    "process.env*",
    "import.meta.env*",
    "Bun.env",
    "Deno.env",
    "env::var",
    "env::var_os",
    "env::vars",
    "var(",
    "var_os(",
    "os.Getenv",
    "os.LookupEnv",
    "ENV[",
];
/// Ways to go through all of it.
const WALKS: [&str; 12] = [
    "keys(process.env)",
    "entries(process.env)",
    "values(process.env)",
    "stringify(process.env)",
    "Deno.env.toObject(*",
    "in os.environ)",
    "os.environ.keys()",
    "os.environ.items()",
    "os.environ.values()",
    "env::vars()",
    "env::vars_os()",
    "os.Environ()",
];
/// Variables that only a build server or a test run sets.
const VARIABLES: [&str; 17] = [
    "CI",
    "GITHUB_ACTIONS",
    "GITLAB_CI",
    "CONTINUOUS_INTEGRATION",
    "CIRCLECI",
    "TRAVIS",
    "BUILDKITE",
    "JENKINS_URL",
    "TEAMCITY_VERSION",
    "TEST",
    "TESTS",
    "TESTING",
    "IS_TEST",
    "TEST_MODE",
    "UNDER_TEST",
    "UNIT_TEST",
    "TAP",
];
const RUNNERS: [&str; 12] = [
    "pytest",
    "_pytest",
    "py.test",
    "unittest",
    "nose",
    "jest",
    "vitest",
    "mocha",
    "nextest",
    "--test",
    "bats",
    "node:test",
];
const ARGUMENTS: [&str; 9] = [
    "sys.argv",
    "sys.orig_argv",
    "process.argv",
    "process.execArgv",
    "process.argv0",
    "env::args",
    "args_os",
    "os.Args",
    "ARGV",
];
/// Ways to search in something, as opposed to asking for a subcommand.
const SEARCHES: [&str; 14] = [
    " in ",
    "includes(",
    "some(",
    "any(",
    "[0]",
    "argv0",
    "execArgv",
    "endsWith(",
    "endswith(",
    "contains(",
    "indexOf(",
    "match(",
    "nth(0)",
    "HasSuffix(",
];

pub(super) fn look(source: &Source<'_>, index: usize) -> Found {
    let line = &source.lines[index];
    first(&line.code, &NAMES)
        .or_else(|| first(&line.bare, &CALLS))
        .or_else(|| environment(source, line))
        .or_else(|| whole_environment(line))
        .or_else(|| loaded(line))
        .or_else(|| arguments(line))
        .or_else(|| in_rust(source, index))
        .or_else(|| in_script(source, line))
        .or_else(|| in_shell(source, line))
        .or_else(|| debug_builds::look(source, index))
}

fn environment(source: &Source<'_>, line: &Line<'_>) -> Found {
    let code = line.code.as_str();
    let is_test = line
        .texts
        .iter()
        .any(|text| ["test", "testing", "tests"].contains(&text.to_lowercase().trim()));
    let names_mode = ["_ENV", "env.MODE", "ENVIRONMENT"]
        .iter()
        .any(|name| code.contains(name));
    if names_mode && (is_test || (source.language == Language::Shell && shell_compares(code))) {
        return Some("asks whether its environment is that of tests");
    }
    let is_read = has_any(code, &ENVIRONMENT);
    let is_shell = source.language == Language::Shell;
    let is_build_script = source.file_name() == "build.rs";
    let names = |name: &str| {
        line.texts.iter().any(|text| text == name)
            || (is_read && has(&line.bare, &format!("env.{name}")))
            || (is_shell && (has(code, &format!("${name}")) || has(code, &format!("${{{name}*"))))
    };
    if (is_read || is_shell) && VARIABLES.iter().any(|name| names(name)) {
        return Some("asks for a variable of build servers or tests");
    }
    let names_cargo = line.texts.iter().any(|text| text.starts_with("CARGO_"));
    let is_built_in = code.contains("env!(");
    if is_read && names_cargo && !is_built_in && !is_build_script {
        return Some("asks for cargo's variables while it runs");
    }
    None
}

/// All variables at once, and questions to which one of them is enough of an answer. Whoever collects
/// those of a prefix, as settings are read, asks none.
fn whole_environment(line: &Line<'_>) -> Found {
    let bare = line.bare.as_str();
    let is_walked = has_any(bare, &WALKS);
    let is_asked = has_any(bare, &["some(", "every(", "any(", "all("]);
    (is_walked && is_asked).then_some("searches all variables of its environment")
}

fn shell_compares(code: &str) -> bool {
    let words = [
        "=test",
        "= test",
        "= \"test\"",
        "=\"test\"",
        "== test",
        "= 'test'",
    ];
    words.iter().any(|word| code.contains(word))
}

fn loaded(line: &Line<'_>) -> Found {
    let asks = has_any(
        &line.bare,
        &["sys.modules", "find_spec(", "find_loader(", "require.cache"],
    );
    let names = line.texts.iter().any(|text| {
        RUNNERS.contains(&text.as_str()) || text.starts_with("_pytest.") || text == "conftest"
    });
    (asks && names).then_some("asks whether a runner is loaded")
}

fn arguments(line: &Line<'_>) -> Found {
    if !has_any(&line.bare, &ARGUMENTS) {
        return None;
    }
    let runner = line
        .texts
        .iter()
        .any(|text| RUNNERS.iter().any(|runner| has(text, runner)));
    let is_searched = SEARCHES.iter().any(|search| line.bare.contains(search));
    let test = line.texts.iter().any(|text| text.contains("test"));
    (runner || (test && is_searched)).then_some("looks for tests on its command line")
}

/// Words that say that a value decides something.
const DECIDES: [&str; 9] = [
    "==",
    "!=",
    "contains(",
    "starts_with(",
    "ends_with(",
    "is_some",
    "if ",
    "match ",
    "matches!",
];

const ITEMS: [&str; 12] = [
    "pub",
    "fn ",
    "use ",
    "mod ",
    "impl",
    "struct ",
    "const ",
    "static ",
    "type ",
    "enum ",
    "trait ",
    "macro_rules",
];

fn in_rust(source: &Source<'_>, index: usize) -> Found {
    if source.language != Language::Rust {
        return None;
    }
    let bare = source.lines[index].bare.as_str();
    if bare.contains("#[cfg(test)]") || bare.contains("#[cfg(any(test") {
        // Items for tests are left out before, and a field or an arm changes nothing by itself.
        let next = source.lines[index + 1..]
            .iter()
            .find(|line| !line.code.is_empty());
        let is_harmless = next.is_some_and(|line| {
            let code = line.code.as_str();
            let is_item = ITEMS.iter().any(|word| code.starts_with(word));
            is_item || code.ends_with(',') || code.contains("=>") || code.starts_with("#[")
        });
        let stands_alone = bare.ends_with(']');
        return (!stands_alone || !is_harmless).then_some("is built otherwise for tests");
    }
    let asks = [
        ("current_exe(", "looks at the program that it runs in"),
        (
            "thread::current().name()",
            "looks at the name of its thread",
        ),
        ("current().name()", "looks at the name of its thread"),
        ("Backtrace::*", "looks at its callers"),
    ];
    let says = first(bare, &asks)?;
    let end = source.lines.len().min(index + 3);
    let near = &source.lines[index..end];
    let decides = near
        .iter()
        .any(|line| DECIDES.iter().any(|word| line.bare.contains(word)));
    decides.then_some(says)
}

fn in_script(source: &Source<'_>, line: &Line<'_>) -> Found {
    if source.language != Language::Script {
        return None;
    }
    let bare = line.bare.as_str();
    let globals = [
        "jest",
        "vi",
        "describe",
        "expect",
        "beforeEach",
        "afterEach",
        "vitest",
    ];
    let asks = globals.iter().any(|name| {
        has(bare, &format!("typeof {name}"))
            || has(bare, &format!("globalThis.{name}"))
            || has(bare, &format!("global.{name}"))
            || (bare.contains(" in global") && line.texts.iter().any(|text| text == name))
    });
    if asks {
        return Some("asks whether a runner is loaded");
    }
    // In the constructor of an error it only leaves the constructor out.
    let is_own = bare.contains("captureStackTrace(this");
    (bare.contains("captureStackTrace(") && !is_own).then_some("looks at its callers")
}

fn in_shell(source: &Source<'_>, line: &Line<'_>) -> Found {
    if source.language != Language::Shell {
        return None;
    }
    let code = line.code.as_str();
    let commands = code
        .split([';', '|', '&', '(', '`'])
        .map(str::trim)
        .map(|command| command.trim_start_matches("if ").trim_start_matches("! "));
    let mut looks = commands.filter(|command| {
        ["ps ", "pgrep ", "pstree", "caller ", "lsof "]
            .iter()
            .any(|program| command.starts_with(program))
            || *command == "ps"
            || *command == "caller"
    });
    if looks.next().is_some() {
        return Some("looks at processes or callers");
    }
    let names_itself = ["$0", "${0", "BASH_SOURCE"]
        .iter()
        .any(|name| code.contains(name));
    (names_itself && code.contains("test") && !code.starts_with("test "))
        .then_some("asks by which name it was called")
}
