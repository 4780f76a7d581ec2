//! The PRD reader beside plain `serde_json::Value` parsing of the same text, at three sizes.

use std::fmt::Write as _;
use std::hint::black_box;
use std::time::{Duration, Instant};

use prd::{Input, Mark, Options};

use crate::talk::say;

const SIZES: [usize; 3] = [1_000, 10_000, 100_000];
const ROUNDS: usize = 7;

pub(crate) fn run() {
    say(
        "stories      bytes   serde_json   read (ratio)        order     mark      per story: read   order    mark",
    );
    for stories in SIZES {
        let text = generated(stories);
        let peer = best(|| {
            drop(black_box(serde_json::from_str::<serde_json::Value>(
                black_box(&text),
            )));
        });
        let read = || {
            prd::read(
                Input::File {
                    name: "prd.json".to_owned(),
                    bytes: text.clone().into_bytes(),
                },
                &Options::default(),
            )
        };
        let ours = best(|| drop(black_box(read())));
        let reading = read();
        let Some(prd) = &reading.prd else {
            return say("the generated PRD has no stories");
        };
        assert_eq!(
            (prd.stories.len(), reading.has_errors()),
            (stories, false),
            "the generated PRD is sound"
        );
        let order = best(|| drop(black_box(prd::order(prd))));
        let middle = format!("US-{:06}", stories / 2);
        let mark = best(|| {
            drop(black_box(prd::mark(
                &reading,
                &middle,
                Mark::Passed,
                &Options::default(),
            )));
        });
        let each = |time: Duration| format!("{:>5.2} µs", micros(time) / as_float(stories));
        say(&format!(
            "{stories:>7} {:>10}   {:>7.1} ms   {:>7.1} ms ({:.2}×)   {:>7.2} ms {:>7.1} ms           {} {} {}",
            text.len(),
            micros(peer) / 1000.0,
            micros(ours) / 1000.0,
            micros(ours) / micros(peer),
            micros(order) / 1000.0,
            micros(mark) / 1000.0,
            each(ours),
            each(order),
            each(mark),
        ));
    }
    say(&format!(
        "best of {ROUNDS} rounds each; read = parse, normalise and validate; mark = read twice more to prove the change"
    ));
}

/// The fastest of several rounds: what the code needs when nothing else disturbs it.
fn best(mut action: impl FnMut()) -> Duration {
    let round = |_| {
        let start = Instant::now();
        action();
        start.elapsed()
    };
    (0..ROUNDS).map(round).min().unwrap_or_default()
}

fn micros(time: Duration) -> f64 {
    time.as_secs_f64() * 1e6
}

#[expect(
    clippy::cast_precision_loss,
    reason = "story counts are far below 2^52"
)]
fn as_float(number: usize) -> f64 {
    number as f64
}

/// A PRD of the commonest wild shape, each story depending on the one before.
fn generated(stories: usize) -> String {
    let mut text = String::from(
        "{\n  \"project\": \"Generated\",\n  \"branchName\": \"ralph/generated\",\n  \"userStories\": [\n",
    );
    for number in 0..stories {
        let on = number
            .checked_sub(1)
            .map(|before| format!("\"US-{before:06}\""))
            .unwrap_or_default();
        let comma = if number + 1 == stories { "" } else { "," };
        // Writing to a String cannot fail.
        let _ = writeln!(
            text,
            "    {{\n      \"id\": \"US-{number:06}\",\n      \"title\": \"Story number {number}\",\n      \"description\": \"As a user I want number {number} to work.\",\n      \"acceptanceCriteria\": [\"It works\", \"Typecheck passes\"],\n      \"priority\": {},\n      \"passes\": false,\n      \"dependsOn\": [{on}],\n      \"notes\": \"\"\n    }}{comma}",
            number % 7
        );
    }
    text + "  ]\n}\n"
}
