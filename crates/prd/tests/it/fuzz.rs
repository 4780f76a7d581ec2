//! Mutates real and hand-made PRDs for a given time and checks what must hold for every input: no
//! panic; marking changes one state; a PRD without errors has the same meaning in its canonical
//! form.
//!
//! `LOOPWRIGHT_FUZZ_SECS` sets the time (CI: 60), `LOOPWRIGHT_FUZZ_SEED` the seed: a number replays
//! a run, `clock` takes a new one each time, as `cargo xtask soak` does. Without it the seed is
//! fixed, so that CI tries the same inputs.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::Path;
use std::time::{Duration, Instant, SystemTime};

use prd::{GraphFormat, Input, Mark, Options, graph, mark, order, read};
use testkit::Random;

use crate::support::{assert_reads_as_marked, drawn, real_files};

const FIXED_SEED: u64 = 20_261_115;

const NAMES: &[&str] = &[
    "prd.json",
    "prd.json",
    "prd.yaml",
    "prd.yaml",
    "ticket.md",
    "plan.md",
    "openspec/tasks.md",
    "issues.jsonl",
    "prd",
];

/// Fragments that mean something to the reader.
const WORDS: &[&str] = &[
    "{",
    "}",
    "[",
    "]",
    ",",
    ":",
    "\"",
    "'",
    "\\",
    "\n",
    "\r\n",
    "\t",
    "  ",
    "- ",
    "---\n",
    "# ",
    "//",
    "/*",
    "*/",
    "```",
    "&a ",
    "*a",
    "<<: *a",
    "|",
    ">",
    "? ",
    "!!str ",
    "%",
    "\u{FEFF}",
    "\u{0}",
    "\u{1b}",
    "é",
    "\u{202e}",
    "\\u0041",
    "\\ud800",
    "\\x",
    "1e999",
    "-1",
    "007",
    "null",
    "true",
    "false",
    "True",
    "None",
    "yes",
    "\"passes\": false",
    "\"status\": \"done\"",
    "\"id\": \"a\"",
    "\"depends_on\": [\"a\"]",
    "\"blocks\": \"b\"",
    "passes: false\n",
    "status: pending\n",
    "id: a\n",
    "stories:\n",
    "nodes:\n",
    "edges:\n",
    "\"stories\": [",
    "\"phases\": [",
    "\"tasks\": [",
    "\"acceptance_criteria\": [",
    "\"priority\": \"high\"",
    "\"title\": \"T\"",
    "\"tool\": \"codex\"",
    "\"prd\": {",
    "- [ ] ",
    "- [x] ",
    "* [X] T001 ",
    "  - [-] ",
    "1. [~] ",
    "- [ ] 1.1 ",
    "## 1. ",
    "### US-001: ",
    "### [ ] P0-1 ✅",
    "### User Story 1 - ",
    "**Dependencies:** T001-T003",
    "(depends on #1)",
    "**Status:** pending",
    "> Blocks: US-002",
    "- [PENDING] ",
    "| Task | Status |\n|---|---|\n| a | done |\n",
    "<!--",
    "-->",
    "````",
    "~~~",
    "===\n",
    "## Done\n",
    "（",
    "：",
    "依赖",
    "\u{FE0F}",
    "{\"master\":{\"tasks\":[",
    "\"number\": 3, \"body\": \"- [ ] a\"",
    "{\"id\":\"b-1\",\"title\":\"T\",\"dependencies\":[{\"depends_on_id\":\"a\",\"type\":\"blocks\"}]}\n",
];

fn seeds() -> Vec<Vec<u8>> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/cases");
    let entries = [folder.clone(), folder.join("plans/files")]
        .into_iter()
        .flat_map(|folder| {
            let entries = std::fs::read_dir(folder).expect("cases");
            entries.map(|entry| entry.expect("a case").path())
        });
    let mut texts: Vec<Vec<u8>> = entries
        .filter(|path| path.is_file() && path.extension().is_some_and(|ending| ending != "snap"))
        .map(|path| std::fs::read(path).expect("a readable case"))
        .collect();
    texts.sort();
    let small = |(_, bytes): (String, Vec<u8>)| (bytes.len() < 8_000).then_some(bytes);
    texts.extend(
        real_files()
            .unwrap_or_default()
            .into_iter()
            .filter_map(small),
    );
    texts
}

/// Changes the bytes in one place.
fn mutate(bytes: &mut Vec<u8>, texts: &[Vec<u8>], random: &mut Random) {
    let at = random.below(bytes.len() + 1);
    let length = random.below(40).min(bytes.len() - at);
    match random.below(7) {
        0 => drop(bytes.drain(at..at + length)),
        1 => {
            let copy = bytes[at..at + length].to_vec();
            let to = random.below(bytes.len() + 1);
            bytes.splice(to..to, copy);
        }
        2 if at < bytes.len() => bytes[at] = (random.draw() & 0xFF) as u8,
        3 => {
            let other = random.pick(texts);
            let from = random.below(other.len());
            let piece = other[from..(from + random.below(200)).min(other.len())].to_vec();
            bytes.splice(at..at + length, piece);
        }
        4 => bytes.truncate(at),
        _ => {
            let word = random.pick(WORDS).bytes();
            bytes.splice(at..at, word);
        }
    }
}

/// Checks everything that must hold for any bytes. Says whether there were stories.
fn examine(name: &str, bytes: &[u8], random: &mut Random) -> bool {
    let options = Options::default();
    let reading = read(
        Input::File {
            name: name.to_owned(),
            bytes: bytes.to_vec(),
        },
        &options,
    );
    let _ = drawn(&reading);
    for change in &reading.changes {
        let _ = change.describe(&reading.sources);
    }
    let Some(prd) = &reading.prd else {
        return false;
    };
    let sorted = order(prd);
    assert_eq!(
        sorted.runs.len() + sorted.held.len() + sorted.set_aside.len() + sorted.passed.len(),
        prd.stories.len()
    );
    let _ = graph(prd, GraphFormat::Dot) + &graph(prd, GraphFormat::Mermaid);
    if !reading.has_errors() {
        crate::canonical::assert_says_the_same("fuzz", prd);
    }
    let story = random.pick(&prd.stories);
    let state = *random.pick(&[Mark::Passed, Mark::Skipped, Mark::Open]);
    if let Ok(marked) = mark(&reading, story.id.as_str(), state, &options) {
        assert_reads_as_marked(&reading, &marked, &story.id, state);
    }
    true
}

#[test]
fn fuzz_mutated_prds() {
    let number = |name: &str| {
        std::env::var(name)
            .ok()
            .and_then(|value| value.parse::<u64>().ok())
    };
    let clock = || {
        SystemTime::now()
            .duration_since(SystemTime::UNIX_EPOCH)
            .map_or(0, |time| time.as_secs())
    };
    let by_clock = std::env::var("LOOPWRIGHT_FUZZ_SEED").is_ok_and(|value| value == "clock");
    let seed = number("LOOPWRIGHT_FUZZ_SEED")
        .unwrap_or_else(|| if by_clock { clock() } else { FIXED_SEED });
    let time = Duration::from_secs(number("LOOPWRIGHT_FUZZ_SECS").unwrap_or(2));
    println!("fuzz: seed {seed}, {} s", time.as_secs());
    let texts = seeds();
    let start = Instant::now();
    let (mut inputs, mut with_stories) = (0_u64, 0_u64);
    while start.elapsed() < time {
        let mut random = Random::new(seed.wrapping_add(inputs));
        let mut bytes = random.pick(&texts).clone();
        for _ in 0..=random.below(6) {
            mutate(&mut bytes, &texts, &mut random);
        }
        let name = *random.pick(NAMES);
        match catch_unwind(AssertUnwindSafe(|| examine(name, &bytes, &mut random))) {
            Ok(stories) => with_stories += u64::from(stories),
            Err(_) => {
                let kept = Path::new(env!("CARGO_TARGET_TMPDIR"))
                    .join(format!("fuzz-{}-{name}", seed.wrapping_add(inputs)));
                std::fs::write(&kept, &bytes).expect("kept");
                panic!(
                    "replay with LOOPWRIGHT_FUZZ_SEED={}; the input is {}",
                    seed.wrapping_add(inputs),
                    kept.display()
                );
            }
        }
        inputs += 1;
    }
    println!("fuzz: {inputs} inputs, {with_stories} of them with stories");
    assert!(
        inputs > 0 && with_stories > 0,
        "the time was too short to try anything"
    );
}
