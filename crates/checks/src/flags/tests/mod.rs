//! What is flagged, what is not, and that any text can be looked at.

use proptest::prelude::*;

use super::*;

/// The flags of a new file, each as its kind and its line number.
fn seen(path: &str, text: &str) -> Vec<String> {
    let name = |kind| match kind {
        FlagKind::SeesTests => "sees",
        FlagKind::PatchesRunner => "patches",
        FlagKind::OverridesEquality => "equal",
        FlagKind::ReadsTests => "reads",
        FlagKind::WaitsForDate => "time",
        FlagKind::Random => "chance",
        FlagKind::EndsProcess => "ends",
        _ => panic!("a kind that is not for this module"),
    };
    let line = |place: &str| place.rsplit(':').next().unwrap_or("").to_owned();
    flags(path, None, text)
        .iter()
        .map(|flag| format!("{} {}", name(flag.kind), line(&flag.place)))
        .collect()
}

/// A row of a table with its line ends and tabs put back.
fn unrolled(row: &str) -> String {
    row.replace('⏎', "\n").replace('⇥', "\t")
}

/// Rows of `flags | path | text`, much of it from attacks that were tried.
#[test]
fn code_that_a_judge_should_see_is_flagged() {
    let rows = include_str!("hits.txt").lines();
    for row in rows.filter(|row| !row.is_empty() && !row.starts_with("## ")) {
        let mut parts = row.splitn(3, " | ");
        let expected: Vec<&str> = parts.next().unwrap_or("").split(", ").collect();
        let path = parts.next().expect("a path");
        let text = unrolled(parts.next().expect("a text"));
        assert_eq!(seen(path, &text), expected, "{row}");
    }
}

/// Rows of text below the path that they stand in.
#[test]
fn ordinary_code_is_not_flagged() {
    let mut path = "";
    for row in include_str!("ordinary.txt").lines() {
        if let Some(next) = row.strip_prefix("## ") {
            path = next;
            continue;
        }
        assert_eq!(seen(path, &unrolled(row)), [""; 0], "{path}: {row}");
    }
}

#[test]
fn i08_a_test_that_takes_something_from_chance_or_the_clock_is_told() {
    for (path, text) in [
        (
            "t.rs",
            "let s = std::collections::hash_map::RandomState::new();",
        ),
        ("t.rs", "let mut h = DefaultHasher::new();"),
        (
            "t.rs",
            "let m = HashMap::from(x); let first = m.keys().next();",
        ),
        ("t.rs", "let t = std::time::SystemTime::now();"),
        ("t.rs", "assert!(start.elapsed() > limit);"),
        ("t.rs", "assert!(std::fs::metadata(p)?.modified()? > x);"),
        ("t.py", "x = int(subprocess.check_output(['date', '+%s']))"),
        ("t.py", "x = int(subprocess.getoutput('date +%s'))"),
        ("t.py", "assert time.monotonic() > 3"),
        ("t.py", "x = os.path.getmtime('a')"),
        ("t.py", "x = open('/dev/urandom', 'rb').read(1)"),
        ("t.py", "assert random.sample(a, 1)"),
        ("t.py", "assert os.getpid() % 2"),
        ("t.js", "const t = performance.now();"),
        ("t.js", "assert(Date.now() > 3);"),
        ("t.js", "const t = process.hrtime.bigint();"),
        ("t.js", "const id = randomUUID();"),
        ("t.js", "assert(fs.statSync('a').mtimeMs > 3);"),
        ("t.sh", "now=$(date +%s)"),
        ("t.sh", "[ $((RANDOM % 4)) = 0 ]"),
        ("t.sh", "[ a -nt b ]"),
    ] {
        assert!(takes_chance(path, text), "{text}");
    }
    for (path, text) in [
        ("t.rs", "assert_eq!(calc::double(4), 8);"),
        (
            "t.rs",
            "let m = HashMap::from([(1, 2)]); assert_eq!(m[&1], 2);",
        ),
        (
            "t.py",
            "from calc import double\ndef test_double():\n    assert double(4) == 8",
        ),
        ("t.py", "assert row['date'] == today  # date"),
        (
            "t.js",
            "test('updates the date', () => assert.equal(double(4), 8));",
        ),
        ("t.sh", "[ \"$(./calc double 4)\" = 8 ]"),
    ] {
        // A key of this name looks like the program; it only costs a few runs.
        let is_key = text.contains("['date']");
        assert_eq!(takes_chance(path, text), is_key, "{text}");
    }
}

#[test]
fn only_new_lines_count() {
    let base = "import os\nos._exit(0)\n";
    assert_eq!(flags("a.py", Some(base), base), []);
    assert_eq!(
        flags("a.py", Some(base), "import os\n    os._exit(0)\nx = 1\n"),
        []
    );
    let twice = flags("a.py", Some(base), "import os\nos._exit(0)\nos._exit(0)\n");
    assert_eq!(
        twice,
        [Flag {
            kind: FlagKind::EndsProcess,
            place: "a.py:3".to_owned(),
            text: "ends its process: `os._exit(0)`".to_owned(),
        }]
    );
    // A changed body of an older method.
    let base = "class A:\n    def __eq__(self, o):\n        return self.x == o.x\n";
    let now = base.replace("self.x == o.x", "True");
    assert_eq!(flags("a.py", Some(base), &now).len(), 1);
}

#[test]
fn a_file_has_so_many_flags_and_no_more() {
    let text = "os._exit(0)\n".repeat(1_000);
    assert_eq!(flags("a.py", None, &text).len(), FLAGS_MAX);
}

#[test]
fn bytes_that_hide_text_are() {
    for (bytes, expected) in [
        (&b"plain\r\ntext\t\x0c\n"[..], None),
        ("größe 👩‍👩‍👧 نامه‌ای ❤️".as_bytes(), None),
        ("\u{feff}first".as_bytes(), None),
        (b"// \0\nx", Some("a NUL byte")),
        (
            "a \u{202e}b".as_bytes(),
            Some("a character that turns the direction of text"),
        ),
        (
            "a \u{2067}b".as_bytes(),
            Some("a character that turns the direction of text"),
        ),
        ("a\u{200b}b".as_bytes(), Some("an invisible character")),
        ("a\u{200d}b".as_bytes(), Some("an invisible character")),
        ("a\u{feff}b".as_bytes(), Some("an invisible character")),
        ("x = \u{e0041}".as_bytes(), Some("an invisible character")),
        (b"shown\rhidden\n", Some("a carriage return within a line")),
        (b"\x1b[8mhidden", Some("a control character")),
        (b"\xff\xfe", None),
    ] {
        assert_eq!(
            has_hiding_bytes(bytes),
            expected,
            "{}",
            String::from_utf8_lossy(bytes)
        );
    }
    assert_eq!(has_hiding_bytes(&[b'a'; 5_001]), Some("a very long line"));
    assert_eq!(has_hiding_bytes(&[b'a'; 5_000]), None);
}

#[test]
fn large_files_are_looked_at_in_time() {
    for (path, piece) in [
        ("a.py", "def __eq__(self, o):\n "),
        ("a.py", "x=time.time()\n"),
        ("a.py", "x=time.time() "),
        ("a.py", "exit("),
        ("a.js", "equals("),
        ("a.js", "assert."),
        ("a.js", "`${"),
        ("a.rs", "fn eq(&self, o) {"),
        ("a.sh", "x=$(date)\n"),
        ("a.sh", "\"$("),
    ] {
        let text = piece.repeat(100_000 / piece.len());
        let _ = flags(path, None, &text);
    }
}

const PIECES: &str = "(assert|\\.|=|==|<|>|\"|'|`|\\$\\{|\\(|\\)|\\{|\\}|\n|    |def __eq__|fn eq|equals|time.time\\(\\)|if |return |True|x|process.exit\\(|sys.modules|#|//|ä|\\\\|date|\\[|\\]|:|,|lambda){0,40}";

proptest! {
    #![proptest_config(ProptestConfig { cases: 256, failure_persistence: None, ..ProptestConfig::default() })]

    /// Any text in any language is looked at.
    #[test]
    fn any_text_is_looked_at(base in PIECES, candidate in PIECES) {
        for path in ["a.py", "a.ts", "a.rs", "a.sh", "a.go", "a.rb", "a.txt"] {
            prop_assert!(flags(path, Some(&base), &candidate).len() <= FLAGS_MAX);
        }
        let _ = has_hiding_bytes(candidate.as_bytes());
    }
}
