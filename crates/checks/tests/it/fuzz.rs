//! Damaged recordings: no input may make a reader panic or leave its bounds. A failure prints its seed.

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
        let format = if dice.below(4) == 0 { FORMATS[dice.below(FORMATS.len())] } else { format };
        let output = damage(output, &mut dice);
        let report = report.map(|text| damage(text, &mut dice));
        let results = read_results(format, &output, report.as_deref());
        sniff(&output);
        for occurrence in results.tests.values().flatten() {
            let message = occurrence.message.as_deref().unwrap_or("");
            assert!(message.len() <= MESSAGE_BYTES_MAX, "seed {seed}, {name}");
        }
        assert!(results.tests.keys().all(|test| test.len() <= 500), "seed {seed}, {name}");
        assert!(results.build_failure.unwrap_or_default().len() <= EXCERPT_BYTES_MAX, "seed {seed}, {name}");
    }
}
