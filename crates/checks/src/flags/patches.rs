//! Product code that reaches into a runner, an assertion library or what they stand on.

use super::signs::{Found, Sign, calls_on, first, has, has_any, sets_member};
use super::source::{Line, Source};
use crate::lex::Language;

const RUNNER: &str = "uses a test runner or an assertion library";
const GLOBALS: &str = "changes what every program stands on";
const LOADING: &str = "takes part in how modules are loaded";

/// In every language.
const ANYWHERE: [Sign; 6] = [
    ("LD_PRELOAD", LOADING),
    ("DYLD_INSERT_LIBRARIES", LOADING),
    ("NODE_OPTIONS", LOADING),
    ("PYTHONSTARTUP", LOADING),
    ("sitecustomize", LOADING),
    ("RUSTC_WRAPPER", LOADING),
];
const PYTHON: [Sign; 21] = [
    ("pytest.*", RUNNER),
    ("_pytest*", RUNNER),
    ("def pytest_*", RUNNER),
    ("unittest.*", RUNNER),
    ("TestReport", RUNNER),
    ("__builtins__", GLOBALS),
    ("sys.excepthook", "takes over how errors end"),
    ("threading.excepthook", "takes over how errors end"),
    ("sys.unraisablehook", "takes over how errors end"),
    ("sys.displayhook", "takes over what is shown"),
    ("sys.settrace", "watches all code that runs"),
    ("sys.setprofile", "watches all code that runs"),
    ("sys.addaudithook", "watches all code that runs"),
    ("threading.settrace", "watches all code that runs"),
    ("sys.meta_path", LOADING),
    ("sys.path_hooks", LOADING),
    ("MetaPathFinder", LOADING),
    ("spec_from_loader", LOADING),
    ("gc.get_objects", "looks for the objects of others"),
    ("gc.get_referrers", "looks for the objects of others"),
    ("ctypes.pythonapi", GLOBALS),
];
const SCRIPT: [Sign; 9] = [
    ("Assertion.prototype", RUNNER),
    ("expect.extend(", RUNNER),
    ("Module._load", LOADING),
    ("Module._resolveFilename", LOADING),
    ("Module._extensions", LOADING),
    ("require.extensions", LOADING),
    ("require.cache", LOADING),
    ("registerHooks(", LOADING),
    ("module.register(", LOADING),
];
const RUST: [Sign; 8] = [
    ("extern crate test", RUNNER),
    ("custom_test_frameworks", RUNNER),
    ("test_runner(", RUNNER),
    ("link_section", "runs before the program"),
    (".init_array", "runs before the program"),
    ("#[ctor", "runs before the program"),
    ("ctor::ctor", "runs before the program"),
    ("libtest_mimic", RUNNER),
];
/// Macros that tests rely on.
const MACROS: [&str; 18] = [
    "assert",
    "assert_eq",
    "assert_ne",
    "assert_matches",
    "debug_assert",
    "debug_assert_eq",
    "debug_assert_ne",
    "panic",
    "print",
    "println",
    "eprint",
    "eprintln",
    "unreachable",
    "unimplemented",
    "matches",
    "vec",
    "format",
    "write",
];
/// Packages that only tests need.
const PACKAGES: [&str; 19] = [
    "node:test",
    "node:assert",
    "node:assert/strict",
    "assert",
    "assert/strict",
    "vitest",
    "chai",
    "@jest/globals",
    "jest",
    "expect",
    "mocha",
    "ava",
    "tap",
    "tape",
    "sinon",
    "uvu",
    "bun:test",
    "@vitest/expect",
    "node:test/reporters",
];
const BUILT_IN: [&str; 15] = [
    "Object", "Array", "Function", "String", "Number", "Boolean", "Promise", "Error", "Map", "Set",
    "RegExp", "Date", "Symbol", "Reflect", "JSON",
];
const TEST_GLOBALS: [&str; 11] = [
    "expect",
    "test",
    "it",
    "describe",
    "assert",
    "beforeEach",
    "afterEach",
    "beforeAll",
    "afterAll",
    "jest",
    "vi",
];

pub(super) fn look(source: &Source<'_>, index: usize) -> Found {
    let line = &source.lines[index];
    let found = first(&line.code, &ANYWHERE);
    found.or_else(|| match source.language {
        Language::Python => in_python(line),
        Language::Script => in_script(line),
        Language::Rust => in_rust(source, line),
        Language::Shell => in_shell(line),
        Language::Ruby | Language::Braces => elsewhere(line),
    })
}

/// Says whether a line puts a module's name together, which nobody does whose name may be seen.
fn computes_a_name(bare: &str, loads: &[&str]) -> bool {
    const MADE: [&str; 9] = [
        ".join(",
        ".reverse(",
        "reversed(",
        "[::-1]",
        "fromCharCode(",
        "atob(",
        "b64decode(",
        "chr(",
        "Buffer.from(",
    ];
    has_any(bare, loads) && MADE.iter().any(|made| bare.contains(made))
}

const COMPUTED: &str = "loads a module by a name that it puts together";

fn in_python(line: &Line<'_>) -> Found {
    let bare = line.bare.as_str();
    let loads = ["sys.modules*", "__import__(", "import_module("];
    if computes_a_name(bare, &loads) {
        return Some(COMPUTED);
    }
    let is_import = bare.starts_with("import ") || bare.starts_with("from ");
    let runners = ["pytest", "_pytest", "unittest", "nose", "hypothesis"];
    let is_called = has_any(bare, &["__import__(", "import_module("])
        && line
            .texts
            .iter()
            .any(|text| runners.contains(&text.as_str()));
    let imported = bare.split(" import ").next().unwrap_or(bare);
    if is_called || (is_import && has_any(imported, &runners)) {
        return Some(RUNNER);
    }
    if let Some(says) = first(bare, &PYTHON) {
        return Some(says);
    }
    let owners = [
        "builtins",
        "pytest",
        "unittest",
        "TestCase",
        "TestReport",
        "AssertionError",
    ];
    if owners.iter().any(|owner| sets_member(bare, owner)) || calls_on(bare, &["setattr("], &owners)
    {
        return Some("changes a runner or what every program stands on");
    }
    let sets_module = sets_member(bare, "sys.modules");
    sets_module.then_some(LOADING)
}

fn in_script(line: &Line<'_>) -> Found {
    let bare = line.bare.as_str();
    if computes_a_name(bare, &["require(", "import("]) {
        return Some(COMPUTED);
    }
    let is_loaded = has_any(
        bare,
        &["from \"\"", "require(\"\")", "import(\"\")", "import \"\""],
    );
    if is_loaded
        && line
            .texts
            .iter()
            .any(|text| PACKAGES.contains(&text.as_str()))
    {
        return Some(RUNNER);
    }
    if let Some(says) = first(bare, &SCRIPT) {
        return Some(says);
    }
    let changes = [
        "Object.defineProperty(",
        "Object.assign(",
        "Reflect.set(",
        "Object.setPrototypeOf(",
    ];
    let prototypes = BUILT_IN.map(|name| format!("{name}.prototype"));
    let prototypes: Vec<&str> = prototypes.iter().map(String::as_str).collect();
    let shared = [
        "assert",
        "expect",
        "chai",
        "globalThis",
        "global",
        "process",
        "console",
        "require",
    ];
    if shared[..3].iter().any(|owner| sets_member(bare, owner))
        || calls_on(bare, &changes, &shared[..3])
    {
        return Some("changes an assertion library");
    }
    let sets_global = ["globalThis", "global", "window"].iter().any(|owner| {
        TEST_GLOBALS.iter().any(|name| {
            let member = format!("{owner}.{name}");
            has(bare, &format!("{member}=")) && !has(bare, &format!("{member}=="))
        })
    });
    if sets_global {
        return Some("changes a test runner");
    }
    if BUILT_IN.iter().any(|owner| sets_member(bare, owner))
        || calls_on(bare, &changes, &prototypes)
        || calls_on(bare, &["new Proxy("], &shared)
    {
        return Some(GLOBALS);
    }
    exits(line)
}

/// What decides how the process ends, as opposed to a command line program that failed.
fn exits(line: &Line<'_>) -> Found {
    let bare = line.bare.as_str();
    if has(bare, "process.exitCode=0") {
        return Some("sets the exit code to success");
    }
    let listens = has_any(
        bare,
        &[
            "process.on(",
            "process.once(",
            "process.addListener(",
            "process.prependListener(",
        ],
    );
    let events = [
        "exit",
        "beforeExit",
        "uncaughtException",
        "unhandledRejection",
    ];
    let ends = line
        .texts
        .iter()
        .any(|text| events.contains(&text.as_str()));
    (listens && ends).then_some("takes part in how the process ends")
}

fn in_rust(source: &Source<'_>, line: &Line<'_>) -> Found {
    let bare = line.bare.as_str();
    let defines = MACROS
        .iter()
        .any(|name| has(bare, &format!("macro_rules!{name}")));
    let defines = defines
        || MACROS[..10]
            .iter()
            .any(|name| has(bare, &format!(" as {name}")));
    if defines {
        return Some("defines a macro that tests rely on");
    }
    let is_use = bare.starts_with("use ") || bare.starts_with("pub use ");
    let takes = is_use && !bare.contains("std::") && has_any(bare, &MACROS[..4]);
    if takes {
        return Some(RUNNER);
    }
    let is_program = source.file_name() == "main.rs" || source.path.contains("/bin/");
    if !is_program && has_any(bare, &["panic::set_hook", "set_hook(", "take_hook("]) {
        return Some("takes over how panics end");
    }
    first(&line.code, &RUST)
}

/// Commands that tests rely on.
const COMMANDS: [&str; 14] = [
    "test", "exit", "echo", "printf", "diff", "cmp", "grep", "true", "false", "set", "trap", "cd",
    "git", "command",
];

fn in_shell(line: &Line<'_>) -> Found {
    let code = line.code.as_str();
    let defines = COMMANDS.iter().any(|name| {
        code.starts_with(&format!("{name}()"))
            || code.starts_with(&format!("{name} ()"))
            || code.starts_with(&format!("function {name} "))
            || has(code, &format!("alias {name}="))
    });
    (defines || code.starts_with("enable -n")).then_some("redefines a command that tests rely on")
}

fn elsewhere(line: &Line<'_>) -> Found {
    let signs = [
        ("Minitest", RUNNER),
        ("RSpec", RUNNER),
        ("org.junit*", "uses a test runner or an assertion library"),
    ];
    first(&line.code, &signs)
}
