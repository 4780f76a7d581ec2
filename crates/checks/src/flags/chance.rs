//! Product code that decides by the time or by chance.
//!
//! Only decisions count. A time stamp in a log, a duration, a random pick or an id is ordinary.

use super::signs::{Found, has, has_any, parts};
use super::source::Source;
use crate::lex::{Kind, Language};

/// How many lines after a time was taken a decision about it is looked for.
const TIME_LINES: usize = 12;
const DICE_LINES: usize = 3;

const NOW: [&str; 23] = [
    "Date.now()",
    "new Date()",
    "Temporal.Now",
    "datetime.now(*",
    "datetime.utcnow(*",
    "datetime.today(*",
    "date.today(*",
    "time.time()",
    "time.time_ns()",
    "time.localtime(*",
    "time.gmtime(*",
    "time.strftime(*",
    "SystemTime::now()",
    "Utc::now()",
    "Local::now()",
    "Instant::now()",
    "time.Now()",
    "Time.now",
    "Date.today",
    "process.uptime()",
    "performance.now()",
    "OffsetDateTime::now_utc()",
    "Timestamp::now()",
];
const DICE: [&str; 29] = [
    "process.pid",
    "os.getpid()",
    "process::id()",
    "random.random(*",
    "random.randint(*",
    "random.randrange(*",
    "random.choice(*",
    "random.getrandbits(*",
    "random.uniform(*",
    "randint(",
    "randrange(",
    "os.urandom(*",
    "uuid.uuid4(*",
    "uuid4()",
    "secrets.*",
    "Math.random()",
    "randomBytes(",
    "randomInt(",
    "randomUUID(",
    "getRandomValues(",
    "rand::random*",
    "thread_rng()",
    "rand::rng()",
    "fastrand::*",
    "getrandom(",
    "rand.Intn(",
    "rand.Float64(",
    "rand.Int(",
    "SecureRandom",
];

/// What a test takes from the clock, from chance or from its surroundings beyond the lists above. It is
/// nothing that a judge should see; such a test must only be red more often before it is believed.
const SHAKY: [&str; 46] = [
    "RandomState",
    "DefaultHasher",
    "SipHasher*",
    "hash_one(",
    "BuildHasher",
    "random.*",
    "numpy.random*",
    "np.random*",
    "faker*",
    "Faker*",
    "uuid.*",
    "uuid1(",
    "uuid4(",
    "Uuid::*",
    "uuidv4(",
    "nanoid(",
    "ulid(",
    "getpid(",
    "getppid(",
    "process.pid",
    "process::id()",
    "os.times(",
    "monotonic(",
    "monotonic_ns(",
    "perf_counter(",
    "perf_counter_ns(",
    "process_time(",
    "time.clock(",
    "time.ctime(",
    "datetime.datetime.*",
    "hrtime*",
    "Date(",
    "elapsed()",
    "st_mtime*",
    "st_ctime*",
    "st_atime*",
    "getmtime(",
    "getctime(",
    "getatime(",
    "mtime*",
    "ctimeMs",
    "birthtime*",
    "modified()",
    "ModTime()",
    "PYTHONHASHSEED",
    "tempnam(",
];
/// The same in texts: programs and devices that tests ask.
const SHAKY_WORDS: [&str; 8] = [
    "/dev/urandom",
    "/dev/random",
    "/proc/uptime",
    "$RANDOM",
    "SRANDOM",
    "EPOCHSECONDS",
    "EPOCHREALTIME",
    "uuidgen",
];
/// Programs that tell the time, where a text is nothing else or begins with it.
const SHAKY_PROGRAMS: [&str; 3] = ["date", "shuf", "uptime"];
/// Ways to walk through a map whose order differs from run to run.
const WALKS: [&str; 6] = [
    ".iter()",
    ".keys()",
    ".values()",
    ".drain()",
    ".into_iter()",
    ".into_keys()",
];

/// Says whether a test takes anything from the clock, from chance or from its surroundings, whether or
/// not it is seen to decide by that. A language that is not known is searched for words alone.
pub(super) fn takes_chance(source: &Source<'_>) -> bool {
    let is_shell = source.language == Language::Shell;
    let bare = |needles: &[&str]| {
        let mut lines = source.lines.iter();
        lines.any(|line| has_any(&line.bare, needles))
    };
    let is_map = source.language == Language::Rust && bare(&["HashMap", "HashSet"]);
    let has_text = |index: usize| {
        let pieces = source.pieces(index).iter();
        let mut texts = pieces.filter(|token| token.kind == Kind::Text);
        texts.any(|token| has_shaky_word(token.content()))
    };
    bare(&NOW)
        || bare(&DICE)
        || bare(&SHAKY)
        || (is_map && bare(&WALKS))
        || (0..source.lines.len()).any(has_text)
        || (is_shell && source.lines.iter().any(|line| is_shaky_shell(&line.code)))
}

fn has_shaky_word(text: &str) -> bool {
    let program = text.split_whitespace().next().unwrap_or("");
    let program = program.rsplit('/').next().unwrap_or(program);
    SHAKY_PROGRAMS.contains(&program) || SHAKY_WORDS.iter().any(|word| text.contains(word))
}

fn is_shaky_shell(code: &str) -> bool {
    let words = code.split(|c: char| !c.is_alphanumeric() && c != '_' && c != '-');
    let mut words = words.filter(|word| !word.is_empty());
    words.any(|word| SHAKY_PROGRAMS.contains(&word) || ["RANDOM", "SECONDS"].contains(&word))
        || SHAKY_WORDS.iter().any(|word| code.contains(word))
        || code.contains("stat -c")
        || code.contains("$$")
        || code.contains(" -nt ")
        || code.contains(" -ot ")
}

pub(super) fn look_at_time(source: &Source<'_>, index: usize) -> Found {
    if source.language == Language::Shell {
        let code = &source.lines[index].code;
        let is_now = [
            "$(date",
            "`date",
            "$EPOCHSECONDS",
            "${EPOCHSECONDS",
            "$(printf '%(",
        ]
        .iter()
        .any(|now| code.contains(now));
        return (is_now && shell_decides(source, index, TIME_LINES))
            .then_some("decides by the time");
    }
    let decides = decides(source, index, &NOW, TIME_LINES);
    (decides || names_year(source, index)).then_some("decides by the time")
}

const WAITS: [&str; 5] = ["setTimeout(", "setInterval(", "sleep(", "delay(", "wait("];

pub(super) fn look_at_dice(source: &Source<'_>, index: usize) -> Found {
    if source.language == Language::Shell {
        let code = &source.lines[index].code;
        let is_dice = has(code, "RANDOM") || code.contains("/dev/urandom") || has(code, "shuf");
        return (is_dice && shell_decides(source, index, DICE_LINES))
            .then_some("decides by chance");
    }
    // Where hashes of texts differ from run to run.
    let is_hash = source.language == Language::Python
        && decides(source, index, &["hash("], DICE_LINES)
        && !source.lines[index].bare.contains(".hash(");
    // Whoever waits by chance is late by chance.
    let bare = &source.lines[index].bare;
    if has_any(bare, &DICE) && has_any(bare, &WAITS) {
        return Some("waits by chance");
    }
    let is_chance =
        is_hash || decides(source, index, &DICE, DICE_LINES) || decides_by_address(source, index);
    is_chance.then_some("decides by chance")
}

/// Says whether a line decides by the number of an address, which is another one in each run. Whether
/// two addresses are the same is no chance.
fn decides_by_address(source: &Source<'_>, index: usize) -> bool {
    const POINTERS: [&str; 4] = ["as * const", "as * mut", "as_ptr()", "as_mut_ptr()"];
    let is_number = |text: &str| {
        (has(text, "as usize") || has(text, "as u64")) && has_any(text, &POINTERS)
            || has(text, "expose_provenance()")
    };
    let mut parts = parts(source, index).into_iter();
    source.language == Language::Rust && parts.any(|part| part.decides && is_number(&part.text))
}

/// Says whether a line takes such a value and decides by it, at once or by its name a little later.
fn decides(source: &Source<'_>, index: usize, values: &[&str], n_lines: usize) -> bool {
    let taken: Vec<_> = parts(source, index)
        .into_iter()
        .filter(|part| has_any(&part.text, values))
        .collect();
    if taken.iter().any(|part| part.decides) {
        return true;
    }
    let names: Vec<&str> = taken.iter().filter_map(|part| part.name).collect();
    let end = source.lines.len().min(index + 1 + n_lines);
    !names.is_empty()
        && (index + 1..end).any(|later| {
            let code = &source.lines[later].bare;
            names.iter().any(|name| has(code, name))
                && parts(source, later)
                    .iter()
                    .any(|part| part.decides && names.iter().any(|name| has(&part.text, name)))
        })
}

/// Says whether a time stands beside a year of these days.
fn names_year(source: &Source<'_>, index: usize) -> bool {
    let bare = &source.lines[index].bare;
    if !has_any(bare, &NOW) {
        return false;
    }
    let end = source.lines.len().min(index + 3);
    (index..end).any(|near| {
        source.pieces(near).iter().any(|token| {
            token.kind == Kind::Number
                && token
                    .text
                    .parse::<u32>()
                    .is_ok_and(|year| (2024..=2040).contains(&year))
        })
    })
}

const SHELL_TESTS: [&str; 10] = [
    " -lt ", " -gt ", " -le ", " -ge ", " -eq ", " -ne ", " = ", " == ", " != ", " < ",
];

fn shell_decides(source: &Source<'_>, index: usize, n_lines: usize) -> bool {
    let asks = |code: &str| {
        let is_test = code.contains('[') || has(code, "test") || code.contains("((");
        let compares = SHELL_TESTS.iter().any(|mark| code.contains(mark))
            || code.contains(" > ") && code.contains("((")
            || code.contains('%')
                && code.contains("((")
                && (code.contains("&&") || has(code, "if"));
        (is_test && compares) || code.trim_start().starts_with("case ")
    };
    let code = source.lines[index].code.as_str();
    if asks(code) {
        return true;
    }
    let Some((name, _)) = code.split_once('=') else {
        return false;
    };
    let name = name.rsplit([' ', ';']).next().unwrap_or("");
    let is_name = !name.is_empty() && name.chars().all(|c| c.is_alphanumeric() || c == '_');
    let end = source.lines.len().min(index + 1 + n_lines);
    is_name
        && source.lines[index + 1..end]
            .iter()
            .any(|line| has(&line.code, name) && asks(&line.code))
}
