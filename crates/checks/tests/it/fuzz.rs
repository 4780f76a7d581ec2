//! Damaged recordings: no input may make a reader panic or leave its bounds. A failure prints its
//! seed.

use checks::results::{Format, read_results, sniff};
use checks::{EXCERPT_BYTES_MAX, MESSAGE_BYTES_MAX};

use crate::recorded::RECORDINGS;

const FORMATS: [Format; 13] = [
    Format::Cargo,
    Format::Nextest,
    Format::GoJson,
    Format::Pytest,
    Format::JunitXml,
    Format::Tap,
    Format::NodeSpec,
    Format::Vitest,
    Format::Jest,
    Format::Bun,
    Format::Mocha,
    Format::ExitCode,
    Format::Sniff,
];

/// A small generator of numbers (`xorshift`), so that a seed replays.
pub(crate) struct Dice(u64);

impl Dice {
    pub(crate) fn new(seed: u64) -> Self {
        Self(seed.wrapping_mul(0x9E37_79B9_7F4A_7C15) | 1)
    }

    pub(crate) fn below(&mut self, limit: usize) -> usize {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        usize::try_from(self.0 % limit.max(1) as u64).unwrap_or(0)
    }
}

const PIECES: [&str; 18] = [
    "\n",
    "<",
    ">",
    "\"",
    "&#x110000;",
    "]]>",
    "<testcase name=\"",
    "ok 1 - ",
    "    ",
    "\u{1b}[",
    "é",
    "\r",
    " ... ",
    "::",
    "{",
    "(",
    "---",
    "failures:\n",
];

pub(crate) fn damage(text: &str, dice: &mut Dice) -> String {
    let mut characters: Vec<char> = text.chars().collect();
    for _ in 0..=dice.below(8) {
        let at = dice.below(characters.len() + 1);
        match dice.below(4) {
            0 => characters.truncate(at),
            1 => {
                let until = (at + dice.below(40)).min(characters.len());
                characters.drain(at..until);
            }
            2 => {
                let piece = PIECES[dice.below(PIECES.len())];
                characters.splice(at..at, piece.chars());
            }
            _ => {
                let until = (at + dice.below(80)).min(characters.len());
                let copy: Vec<char> = characters[at..until].to_vec();
                let to = dice.below(characters.len() + 1);
                characters.splice(to..to, copy);
            }
        }
    }
    characters.into_iter().collect()
}

#[test]
fn damaged_outputs_are_read_within_bounds() {
    for seed in 0..4_000_u64 {
        let mut dice = Dice::new(seed);
        let (name, format, output, report) = RECORDINGS[dice.below(RECORDINGS.len())];
        let format = if dice.below(4) == 0 {
            FORMATS[dice.below(FORMATS.len())]
        } else {
            format
        };
        let output = damage(output, &mut dice);
        let report = report.map(|text| damage(text, &mut dice));
        let results = read_results(format, &output, report.as_deref());
        sniff(&output);
        for occurrence in results.tests.values().flatten() {
            let message = occurrence.message.as_deref().unwrap_or("");
            assert!(message.len() <= MESSAGE_BYTES_MAX, "seed {seed}, {name}");
        }
        assert!(
            results.tests.keys().all(|test| test.len() <= 500),
            "seed {seed}, {name}"
        );
        assert!(
            results.build_failure.unwrap_or_default().len() <= EXCERPT_BYTES_MAX,
            "seed {seed}, {name}"
        );
    }
}

/// Files of projects, hostile ones too, and commands, in any combination.
#[test]
fn damaged_projects_and_commands_are_looked_at_without_harm() {
    use checks::MapTree;
    use checks::rules::{
        Changed, Suspicion, TestPaths, reads_source_text, shadows, with_new_dependencies,
    };
    let files = [
        (
            "package.json",
            r#"{"scripts": {"test": "npm run unit && vitest", "unit": "npm test"}, "jest": {"a": [1]}}"#,
        ),
        (
            "Cargo.toml",
            "[package]\nname = \"a\"\n[[test]]\nname = \"b\"\n[lints]\nx = \"\"\"\n[a]\"\"\"\n",
        ),
        (
            "pyproject.toml",
            "[tool.pytest.ini_options]\naddopts = [\n\"-q\",\n]\n",
        ),
        ("setup.cfg", "[tool:pytest]\na = 1\n[x]\n"),
        (
            "Makefile",
            "all: test\ntest: all\n\tmake test; sh run.sh 'x\n",
        ),
        (
            "run.sh",
            "#!/bin/sh\nsh run.sh\ncd .. && ./run.sh | grep x src/a.rs\n",
        ),
    ];
    let commands = [
        "npm test -- -x",
        "make -C x test",
        "sh run.sh",
        "cargo test -- --a",
        "timeout",
        "env A=1",
        "cd",
        "just",
    ];
    for seed in 0..400_u64 {
        let mut dice = Dice::new(seed);
        let tree: MapTree = files
            .iter()
            .map(|(path, text)| (*path, damage(text, &mut dice)))
            .collect();
        let command = damage(commands[dice.below(commands.len())], &mut dice);
        checks::instrument::instrument(&command, &tree, "/r/x y");
        let proposal = checks::detect::propose(&tree);
        let tests = TestPaths::of(&proposal.ecosystems, &[]);
        let suspicion = Suspicion::of(&[&command], &tree, &tests);
        for (path, text) in files {
            let path = damage(path, &mut dice);
            let candidate = damage(text, &mut dice);
            suspicion.class(&Changed {
                path: &path,
                was_there: dice.below(2) == 0,
                is_irregular: false,
                leads_to: None,
            });
            TestPaths::of(&proposal.ecosystems, std::slice::from_ref(&path)).is_test(&path);
            shadows(&[&command], &tree, std::slice::from_ref(&path));
            reads_source_text(&path, &candidate, &|_| true);
        }
        for (path, text) in files {
            with_new_dependencies(path, text, &damage(text, &mut dice));
        }
    }
}
