//! Product code that ends its process, or takes over what the process prints.

use super::signs::{Found, Sign, first, has, has_any, position, sets_member};
use super::source::{Line, Source};
use crate::lex::Language;
use crate::text::indent;

const ENDS: &str = "ends its process";
const OUTPUT: &str = "takes over the output";

/// In every language.
const ANYWHERE: [Sign; 23] = [
    ("os._exit(", ENDS),
    ("import _exit", ENDS),
    ("os.abort(", ENDS),
    ("os.kill(", "ends processes"),
    ("os.killpg(", "ends processes"),
    ("process::abort(", ENDS),
    ("libc::exit(", ENDS),
    ("libc::_exit(", ENDS),
    ("libc::kill(", "ends processes"),
    ("syscall.Kill(", "ends processes"),
    ("exit!", ENDS),
    ("atexit.register", "acts when the process ends"),
    ("at_exit", "acts when the process ends"),
    ("os.dup2(", OUTPUT),
    ("libc::dup2(", OUTPUT),
    ("from_raw_fd(1)", OUTPUT),
    ("os.close(1)", OUTPUT),
    ("os.write(1,", OUTPUT),
    ("os.fdopen(1", OUTPUT),
    ("writeSync(1,", OUTPUT),
    ("sys.__stdout__", OUTPUT),
    ("signal.SIGALRM", "takes over signals"),
    ("signal.SIGCHLD", "takes over signals"),
];
/// Names that mean something else outside of node.
const SCRIPT: [Sign; 3] = [
    ("process.abort(", ENDS),
    ("process.kill(", "ends processes"),
    ("process.reallyExit", ENDS),
];
const FILES: [Sign; 4] = [
    ("/dev/stdout", OUTPUT),
    ("/dev/fd/1", OUTPUT),
    ("/proc/self/fd/*", OUTPUT),
    ("/dev/tty", OUTPUT),
];

pub(super) fn look(source: &Source<'_>, index: usize) -> Found {
    let line = &source.lines[index];
    if source.language == Language::Shell {
        return in_shell(line);
    }
    let in_script = || match source.language {
        Language::Script => first(&line.bare, &SCRIPT),
        _ => None,
    };
    first(&line.bare, &ANYWHERE)
        .or_else(in_script)
        .or_else(|| line.texts.iter().find_map(|text| first(text, &FILES)))
        .or_else(|| exits(source, index))
        .or_else(|| sets_output(line))
        .or_else(|| forges(line))
}

/// Calls that end the process with a code.
const EXITS: [&str; 8] = [
    "sys.exit(",
    "raise SystemExit",
    "process.exit(",
    "process::exit(",
    "os.Exit(",
    "System.exit(",
    "exit(",
    "quit(",
];

/// An exit that may claim success, in code that others call.
fn exits(source: &Source<'_>, index: usize) -> Found {
    let bare = source.lines[index].bare.as_str();
    let (call, at) = EXITS
        .iter()
        .find_map(|call| Some((*call, position(bare, call)?)))?;
    if !call.contains(['.', ':']) && call.ends_with('(') {
        // `exit(` of somebody else: `loop.exit(`, `def exit(`, `fn exit(`.
        let before = bare[..at].chars().next_back();
        let is_own = before.is_some_and(|c| c == '.' || c == ' ' || c == ':');
        if is_own || source.language == Language::Script || source.language == Language::Rust {
            return None;
        }
    }
    let argument = bare[at + call.len()..].trim_start_matches(['(', '-']);
    let digits: String = argument
        .chars()
        .take_while(char::is_ascii_alphanumeric)
        .collect();
    let is_failure = digits.parse::<u32>().is_ok_and(|code| code != 0)
        && argument[digits.len()..].starts_with(')');
    let is_message = argument.starts_with("\"\"") && source.language == Language::Python;
    if is_failure || is_message || is_program(source) || is_in_main(source, index) {
        return None;
    }
    Some(ENDS)
}

/// Says whether a file is a program and not a library.
fn is_program(source: &Source<'_>) -> bool {
    let stem = source.file_name().split('.').next().unwrap_or("");
    let is_named = [
        "main", "__main__", "cli", "bin", "manage", "setup", "server", "build",
    ]
    .contains(&stem)
        || source
            .path
            .split('/')
            .any(|part| ["bin", "scripts", "cmd"].contains(&part));
    let starts = source
        .lines
        .first()
        .is_some_and(|line| line.raw.starts_with("#!"));
    is_named
        || starts
        || source.lines.iter().any(|line| {
            has_any(
                &line.bare,
                &[
                    "require.main===module",
                    "import.meta.main",
                    "process.argv[1]",
                ],
            )
        })
}

/// Says whether a line stands in a function that is the program's own, or below `__main__`.
fn is_in_main(source: &Source<'_>, index: usize) -> bool {
    let bare = source.lines[index].bare.as_str();
    if has_any(bare, &["main()", "main(*", "__main__"]) {
        return true;
    }
    let mut depth = indent(source.lines[index].raw);
    for line in source.lines[..index].iter().rev() {
        let own = indent(line.raw);
        if line.code.is_empty() || own >= depth {
            continue;
        }
        depth = own;
        if line.code.contains("__main__") {
            return true;
        }
        let code = line.code.as_str();
        let is_function = has_any(code, &["def", "fn", "function", "func"]) || code.contains("=>");
        let names = [
            "main", "cli", "usage", "die", "fail", "exit", "error", "command",
        ];
        if is_function {
            let name = code.split('(').next().unwrap_or(code).to_lowercase();
            return names.iter().any(|known| name.contains(known));
        }
        if depth == 0 {
            break;
        }
    }
    false
}

fn sets_output(line: &Line<'_>) -> Found {
    let bare = line.bare.as_str();
    let sets = |name: &str| {
        position(bare, name).is_some_and(|at| {
            let rest = &bare[at + name.len()..];
            rest.starts_with('=') && !rest.starts_with("==")
        })
    };
    let is_set = [
        "sys.stdout",
        "sys.stderr",
        "process.stdout.write",
        "process.stderr.write",
        "process.exit",
        "os.Stdout",
        "$stdout",
    ]
    .iter()
    .any(|name| sets(name));
    if is_set || sets_member(bare, "console") {
        return Some(OUTPUT);
    }
    let handles = has_any(bare, &["process.on(", "process.once("]);
    let ordinary = [
        "SIGINT", "SIGTERM", "SIGHUP", "SIGPIPE", "SIGQUIT", "SIGUSR1", "SIGUSR2", "SIGWINCH",
    ];
    let is_signal = line
        .texts
        .iter()
        .any(|text| text.starts_with("SIG") && !ordinary.contains(&text.as_str()));
    (handles && is_signal).then_some("takes over signals")
}

const PRINTS: [&str; 12] = [
    "print",
    "println!*",
    "print!*",
    "console.log",
    "write",
    "write_all",
    "writeln!*",
    "puts",
    "echo",
    "printf",
    "info",
    "Println",
];

/// Text that a reader of results takes for a runner's.
fn forges(line: &Line<'_>) -> Found {
    let prints = has_any(&line.bare, &PRINTS) || line.bare.contains("stdout");
    let forged = line
        .texts
        .iter()
        .flat_map(|text| text.split("\\n"))
        .any(|text| is_verdict(text, prints));
    forged.then_some("looks like the output of a test runner")
}

fn is_verdict(text: &str, is_printed: bool) -> bool {
    let text = text.trim_start_matches("\\r").trim_end();
    let certain = text.starts_with("test result: ")
        || text.starts_with("TAP version ")
        || text.contains("<testsuite")
        || text.starts_with("--- PASS:")
        || (text.starts_with("test ") && text.ends_with(" ... ok"))
        || (text.starts_with('=') && text.contains(" passed"));
    let rest = text.strip_prefix("not ").unwrap_or(text);
    let numbered = rest.strip_prefix("ok ").is_some_and(|rest| {
        rest.starts_with(|c: char| c.is_ascii_digit() || c == '$' || c == '{' || c == '%')
    });
    let plan = text.strip_prefix("1..").is_some_and(|n| {
        !n.is_empty() && n.chars().all(|c| c.is_ascii_digit() || "${}".contains(c))
    });
    let counts = |start: &str| {
        text.strip_prefix(start)
            .is_some_and(|rest| rest.starts_with(|c: char| c.is_ascii_digit() || "${".contains(c)))
    };
    let likely = numbered
        || plan
        || counts("# pass ")
        || counts("# fail ")
        || text.starts_with("PASS ")
        || text.starts_with("Tests: ")
        || text.starts_with("Test Files ");
    certain || (is_printed && likely)
}

fn in_shell(line: &Line<'_>) -> Found {
    let code = line.code.as_str();
    let is_trap = has(code, "trap") && has_any(code, &["EXIT", "ERR", "DEBUG", "0"]);
    if is_trap && has(code.split_once("trap").map_or("", |(_, rest)| rest), "exit") {
        return Some("acts when the process ends");
    }
    let kills = has_any(code, &["pkill", "killall"])
        || (has(code, "kill")
            && (code.contains("PPID") || code.contains("-9 $$") || code.contains("kill $$")));
    if kills {
        return Some("ends processes");
    }
    let printed = code.split(['"', '\'', ';', '`', '(']).map(|part| {
        let part = part.trim();
        let part = part.strip_prefix("echo ").unwrap_or(part);
        part.strip_prefix("printf ").unwrap_or(part)
    });
    let prints = has_any(code, &["echo", "printf", "cat"]);
    let forged = printed
        .flat_map(|text| text.split("\\n"))
        .any(|text| is_verdict(text, prints));
    forged.then_some("looks like the output of a test runner")
}
