//! Names and numbers that look like anybody's.

use crate::dice::Dice;

const SYLLABLES: [&str; 20] = [
    "bo", "de", "fi", "gi", "ha", "ju", "ka", "li", "mo", "ne", "po", "qua", "ri", "so", "ta", "u",
    "ve", "wi", "xa", "zu",
];
const WORDS: [&str; 12] = [
    "order", "total", "range", "list", "value", "steps", "parts", "rows", "width", "count",
    "items", "index",
];
/// How often a name is drawn before none is found that the file does not have.
const TRIES_MAX: usize = 20;

/// What the two tests are made of.
pub(super) struct Draw {
    /// The name of the test that must fail, of letters, digits and `_`.
    pub(super) red: String,
    /// The name of the test that must pass.
    pub(super) green: String,
    /// A name for a class.
    pub(super) class: String,
    /// What is multiplied with 2, 3 and 4.
    pub(super) factor: u64,
    /// How far off the expectation is that must fail.
    pub(super) off: u64,
}

impl Draw {
    /// Draws what does not occur in a text.
    pub(super) fn new(text: &str, seed: u64) -> Option<Self> {
        let mut dice = Dice::new(seed);
        let red = name(text, &mut dice)?;
        let green = name(text, &mut dice).filter(|green| *green != red)?;
        let class = syllables(&mut dice);
        let mut letters = class.chars();
        let first = letters.next().map(|first| first.to_ascii_uppercase());
        Some(Self {
            red,
            green,
            class: first.into_iter().chain(letters).collect(),
            factor: 3 + dice.below(40),
            off: 1 + dice.below(5),
        })
    }

    /// The sum of the factor's multiples with 2, 3 and 4.
    pub(super) fn sum(&self) -> u64 {
        self.factor * 9
    }

    /// A sum that is not it.
    pub(super) fn other_sum(&self) -> u64 {
        self.sum() + self.off
    }

    /// An assertion with what it speaks of filled in: `A` is a sum of what was made, `M` what was
    /// made, `S` the right sum and `O` another one. Only letters that stand alone count.
    pub(super) fn filled(&self, assertion: &str) -> String {
        let mut out = String::new();
        let mut characters = assertion.chars().peekable();
        let mut before = ' ';
        while let Some(character) = characters.next() {
            let after = characters.peek().copied().unwrap_or(' ');
            let stands_alone = !before.is_alphanumeric() && !after.is_alphanumeric();
            match character {
                'A' if stands_alone => out.push_str("made[0] + made[1] + made[2]"),
                'M' if stands_alone => out.push_str("made"),
                'S' if stands_alone => out.push_str(&self.sum().to_string()),
                'O' if stands_alone => out.push_str(&self.other_sum().to_string()),
                other => out.push(other),
            }
            before = character;
        }
        out
    }

    /// A title of words.
    pub(super) fn title(name: &str) -> String {
        name.replace('_', " ")
    }
}

fn name(text: &str, dice: &mut Dice) -> Option<String> {
    (0..TRIES_MAX)
        .map(|_| {
            let word = usize::try_from(dice.below(WORDS.len() as u64)).unwrap_or(0);
            let number = dice.below(0x1000);
            format!("{}_{}_{number:03x}", syllables(dice), WORDS[word])
        })
        .find(|name| !text.contains(name.as_str()))
}

fn syllables(dice: &mut Dice) -> String {
    (0..3)
        .map(|_| {
            let at = usize::try_from(dice.below(SYLLABLES.len() as u64)).unwrap_or(0);
            SYLLABLES[at]
        })
        .collect()
}
