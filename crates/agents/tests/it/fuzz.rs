//! Recorded streams, damaged at random: nothing panics, and memory stays bounded.
//!
//! `LOOPWRIGHT_FUZZ_SEED` replays one seed; without it the seed is fixed, so that every run tries
//! the same inputs.

use agents::{Ended, Exit, Kind, Parser, RunSummary, find_reset};

use testkit::{Random, number};

use crate::replay::{cases, clock, kind};

const FIXED_SEED: u64 = 2026;
const ROUNDS: u64 = 3000;

fn seeds() -> Vec<(Kind, Vec<u8>)> {
    let mut paths: Vec<_> = std::fs::read_dir(cases())
        .unwrap()
        .map(|entry| entry.unwrap().path())
        .collect();
    paths.sort();
    let streams = paths.into_iter().filter(|path| {
        path.extension()
            .is_some_and(|extension| extension == "jsonl")
    });
    let named = streams.map(|path| (path.file_name().unwrap().to_str().unwrap().to_owned(), path));
    named
        .map(|(name, path)| (kind(&name), std::fs::read(path).unwrap()))
        .collect()
}

/// Fragments that often break parsers.
const PIECES: [&[u8]; 14] = [
    b"\n",
    b"\r\n",
    b"\0",
    b"\xff\xfe",
    b"{",
    b"}",
    b"\"",
    b"\\ud83d",
    b"null",
    b"-1",
    b"1e999",
    b"99999999999999999999",
    b"[[[[[[[[[[",
    b"\xe2\x80\x99",
];

fn damage(random: &mut Random, bytes: &mut Vec<u8>) {
    let at = random.below(bytes.len() + 1);
    match random.below(6) {
        0 => bytes.truncate(at),
        1 if at < bytes.len() => bytes[at] = random.draw().to_le_bytes()[0],
        2 => {
            let end = (at + random.below(200)).min(bytes.len());
            bytes.drain(at..end);
        }
        3 => {
            let end = (at + random.below(400)).min(bytes.len());
            let copy = bytes[at..end].to_vec();
            let to = random.below(bytes.len() + 1);
            bytes.splice(to..to, copy);
        }
        _ => {
            let piece = *random.pick(&PIECES);
            bytes.splice(at..at, piece.iter().copied());
        }
    }
}

fn exit(random: &mut Random) -> Exit {
    let ended = match random.below(6) {
        0 => Ended::WallTimeout,
        4 => Ended::WentRound,
        1 => Ended::IdleTimeout,
        2 => Ended::Stopped,
        3 => Ended::CannotStart {
            why: "no".to_owned(),
        },
        _ => Ended::Itself,
    };
    let code = [
        None,
        Some(0),
        Some(1),
        Some(-1),
        Some(144),
        Some(255),
        Some(i32::MAX),
        Some(i32::MIN),
    ][random.below(8)];
    Exit {
        ended,
        code,
        signal: None,
        stderr_tail: "429 try again at 9:26 PM".to_owned(),
    }
}

fn assert_bounded(summary: &RunSummary) {
    const SHOWN_BYTES: usize = 2000;
    assert!(
        summary
            .message
            .as_ref()
            .is_none_or(|text| text.len() < SHOWN_BYTES)
    );
    assert!(
        summary
            .strange_line
            .as_ref()
            .is_none_or(|text| text.len() < SHOWN_BYTES)
    );
    assert!(
        summary
            .answer
            .as_ref()
            .is_none_or(|text| text.len() <= 1024 * 1024)
    );
    assert!(summary.tool_calls.len() <= 200);
    assert!(format!("{:?}", summary.outcome).len() < 2 * SHOWN_BYTES);
}

#[test]
fn damaged_streams_neither_panic_nor_grow() {
    let seed = number("LOOPWRIGHT_FUZZ_SEED", FIXED_SEED);
    let streams = seeds();
    for round in 0..ROUNDS {
        let mut random = Random::new(seed.wrapping_add(round));
        let (kind, stream) = &streams[random.below(streams.len())];
        let mut bytes = stream.clone();
        for _ in 0..=random.below(8) {
            damage(&mut random, &mut bytes);
        }
        // Some streams are given to the parser of another CLI.
        let kind = if random.below(8) == 0 {
            Kind::ALL[random.below(Kind::ALL.len())]
        } else {
            *kind
        };
        let mut parser = Parser::new(kind);
        let mut rest = &bytes[..];
        while !rest.is_empty() {
            let (chunk, after) = rest.split_at((1 + random.below(5000)).min(rest.len()));
            parser.push(chunk);
            rest = after;
        }
        assert_bounded(&parser.finish(&exit(&mut random), &clock()));
    }
}

/// The lines of a stream in any order, some twice, some missing: no CLI promises an order.
#[test]
fn shuffled_streams_neither_panic_nor_grow() {
    for (index, (kind, stream)) in seeds().iter().enumerate() {
        let mut random = Random::new(FIXED_SEED.wrapping_add(index as u64));
        let lines: Vec<&[u8]> = stream.split_inclusive(|&byte| byte == b'\n').collect();
        for _ in 0..20 {
            let mut parser = Parser::new(*kind);
            for _ in 0..lines.len() {
                parser.push(lines[random.below(lines.len())]);
            }
            assert_bounded(&parser.finish(&exit(&mut random), &clock()));
        }
    }
}

#[test]
fn any_text_may_be_asked_for_a_reset() {
    let words = [
        "resets",
        "try again",
        "retry-after",
        "at",
        "in",
        "9:26",
        "pm",
        "(utc)",
        "(",
        ")",
        "Nov",
        "29th",
        "2026",
        "-",
        ":",
        "T",
        "99999999999999999999",
        "3h",
        ".",
        "é",
        "+",
        "Z",
        "Sun",
        ",",
        "\u{202f}",
        "İ",
        "|",
        "1794790000",
        "(Europe/Oslo",
    ];
    let mut random = Random::new(FIXED_SEED);
    for _ in 0..50_000 {
        let n_words = random.below(12);
        let text: String = (0..n_words)
            .map(|_| {
                words[random.below(words.len())].to_owned()
                    + if random.below(2) == 0 { " " } else { "" }
            })
            .collect();
        find_reset(&text, &clock());
    }
}

/// A hundred megabytes in one line, and ten thousand events: the parser keeps little of them.
#[test]
fn a_flood_is_survived() {
    let chunk = vec![b'x'; 4_000_000];
    for kind in [Kind::Codex, Kind::Command] {
        let mut parser = Parser::new(kind);
        for _ in 0..25 {
            parser.push(&chunk);
        }
        assert!(format!("{parser:?}").len() < 16_000_000, "{kind:?}");
        assert_bounded(&parser.finish(&Exit::with_code(0), &clock()));
    }
    let mut parser = Parser::new(Kind::Codex);
    for n in 0..10_000 {
        let item = format!(
            "{{\"type\":\"command_execution\",\"command\":\"{}\"}}",
            "c".repeat(1000)
        );
        parser.push(format!("{{\"type\":\"item.started\",\"item\":{item}}}\n").as_bytes());
        parser.push(format!("{{\"type\":\"unheard.of.{n}\"}}\n").as_bytes());
    }
    assert!(format!("{parser:?}").len() < 500_000);
    let summary = parser.finish(&Exit::with_code(0), &clock());
    assert_bounded(&summary);
    assert_eq!(
        (summary.n_tool_calls, summary.n_unknown_events),
        (10_000, 10_000)
    );
}
